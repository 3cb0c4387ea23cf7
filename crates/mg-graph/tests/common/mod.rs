//! What the tests of the graph share: data in, bits out.
#![allow(dead_code)] // Each test takes what it needs.

use mg_device::{Buffer, DType, Device, Element, Layout, Shape};
use mg_graph::{Node, Value, realize};
use mg_kernels::{ReduceKind, Row};
use std::sync::{Mutex, MutexGuard};

/// The engine's counters, its plans and the memory limit belong to the process: tests that look at them take turns.
pub fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A dense node over a copy of `values`.
#[track_caller]
pub fn data<T: Element>(values: &[T], dims: &[usize]) -> Node {
    let shape = Shape::of(dims);
    assert_eq!(shape.numel(), values.len());
    let buffer = Buffer::from_slice(values).unwrap();
    Node::from_value(Value { buffer, layout: Layout::contiguous(shape) })
}

/// `n` different f32 numbers, dense.
#[track_caller]
pub fn floats(dims: &[usize], seed: u64) -> Node {
    let mut rng = Rng::new(seed);
    let values: Vec<f32> = (0..dims.iter().product()).map(|_| rng.unit() as f32 * 4.0 - 2.0).collect();
    data(&values, dims)
}

/// A row of the op table; shapes and dtypes fit.
#[track_caller]
pub fn map(row: Row, args: &[&Node]) -> Node {
    Node::map(row, args).unwrap()
}

#[track_caller]
pub fn add(a: &Node, b: &Node) -> Node {
    map(Row::Add, &[a, b])
}

#[track_caller]
pub fn mul(a: &Node, b: &Node) -> Node {
    map(Row::Mul, &[a, b])
}

/// A reduction that keeps its axes as size 1.
#[track_caller]
pub fn reduce(a: &Node, kind: ReduceKind, axes: u16) -> Node {
    a.reduce(kind, axes, true).unwrap()
}

/// A scalar that is an argument of launches.
#[track_caller]
pub fn scalar(value: f64) -> Node {
    Node::scalar(value, DType::F32, Device::cpu(), false)
}

/// The value of a node, computed now if it is not known.
#[track_caller]
pub fn value(node: &Node) -> Value {
    realize(&[node]).unwrap();
    node.value().unwrap().clone().unwrap()
}

/// The elements of an f32 node in row-major order.
#[track_caller]
pub fn f32s(node: &Node) -> Vec<f32> {
    assert_eq!(node.dtype(), DType::F32);
    cells(&value(node)).into_iter().map(|bits| f32::from_bits(bits as u32)).collect()
}

/// The elements of an i64 node in row-major order.
#[track_caller]
pub fn i64s(node: &Node) -> Vec<i64> {
    assert_eq!(node.dtype(), DType::I64);
    cells(&value(node)).into_iter().map(|bits| bits as i64).collect()
}

/// Asserts that two lists are the same, and says where they are not.
#[track_caller]
pub fn assert_same<T: PartialEq + std::fmt::Debug>(got: &[T], want: &[T], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}: lengths");
    let wrong: Vec<usize> = (0..got.len()).filter(|&i| got[i] != want[i]).collect();
    if let Some(&i) = wrong.first() {
        panic!("{what}: {} of {} differ; at {i}: {:?}, not {:?}", wrong.len(), got.len(), got[i], want[i]);
    }
}

/// A value's buffer in the host's memory.
pub fn on_host(value: &Value) -> Buffer {
    value.buffer.read(0, value.buffer.len()).unwrap()
}

/// The bits of each element in row-major order; all NaNs of a dtype are the same.
pub fn cells(value: &Value) -> Vec<u64> {
    let (buffer, layout) = (on_host(value), &value.layout);
    assert!(
        layout.extent().is_none_or(|(_, last)| last < buffer.len()),
        "{layout:?} beyond {} elements",
        buffer.len()
    );
    macro_rules! read {
        ($T:ty) => {{
            let at = buffer.as_ptr().cast::<$T>();
            // SAFETY: the layout lies within the buffer, which is asserted above, and the bytes of any element are
            // valid as an unsigned integer of its size.
            layout.offsets().map(|o| canonical(unsafe { at.add(o).read() } as u64, buffer.dtype())).collect()
        }};
    }
    match buffer.dtype().size() {
        1 => read!(u8),
        2 => read!(u16),
        4 => read!(u32),
        _ => read!(u64),
    }
}

fn canonical(bits: u64, dtype: DType) -> u64 {
    let nan = match dtype {
        DType::F64 => f64::from_bits(bits).is_nan(),
        DType::F32 => f32::from_bits(bits as u32).is_nan(),
        DType::F16 => mg_device::f16::from_bits(bits as u16).is_nan(),
        DType::BF16 => mg_device::bf16::from_bits(bits as u16).is_nan(),
        _ => false,
    };
    if nan { u64::MAX } else { bits }
}

/// A buffer of `dtype` with these cells.
pub fn buffer_of(cells: &[u64], dtype: DType) -> Buffer {
    let buffer = Buffer::uninit(Device::cpu(), dtype, cells.len()).unwrap();
    let size = dtype.size();
    for (i, cell) in cells.iter().enumerate() {
        // SAFETY: the buffer is new and holds as many elements of this size; the machine is little-endian, as all that
        // the CPU executor is built for.
        unsafe {
            buffer.as_mut_ptr().add(i * size).copy_from_nonoverlapping(cell.to_le_bytes().as_ptr(), size)
        };
    }
    buffer
}

/// A small generator of random numbers (SplitMix64; Steele, Lea, Flood, 2014).
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed.wrapping_mul(0xD129_0F3A_4A5B_6C77) ^ 0x5851_F42D_4C95_7F2D)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of the choices.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
