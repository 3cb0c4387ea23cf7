//! What the tests share: a model of tensors that computes nothing cleverly, random numbers, layouts, tolerances.
//!
//! An [`Array`] holds its elements one by one in row-major order; a [`Pair`] is a tensor with the array that it should
//! equal, and applies views to both.
#![allow(dead_code)] // each test binary uses its part

use mg_autograd::Tensor;
use mg_device::{
    DType, Device, Element, F8E4M3, F8E5M2, Result, Shape, bf16, f16, with_element, with_integer,
};

/// An element, exactly: floats of every width, integers of every width, truth values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    F(f64),
    I(i128),
    B(bool),
}

impl Cell {
    pub fn f(self) -> f64 {
        match self {
            Cell::F(v) => v,
            Cell::I(v) => v as f64,
            Cell::B(v) => v as u8 as f64,
        }
    }

    pub fn i(self) -> i128 {
        match self {
            Cell::F(v) => v as i128,
            Cell::I(v) => v,
            Cell::B(v) => v as i128,
        }
    }

    pub fn b(self) -> bool {
        match self {
            Cell::F(v) => v != 0.0,
            Cell::I(v) => v != 0,
            Cell::B(v) => v,
        }
    }

    /// The conversion to a dtype: floats round once, float to integer saturates and NaN gives 0, integers wrap.
    pub fn cast(self, to: DType) -> Cell {
        match to {
            DType::F64 => Cell::F(self.f()),
            DType::F32 => Cell::F(match self {
                Cell::I(v) => v as f32 as f64,
                _ => self.f() as f32 as f64,
            }),
            DType::F16 | DType::BF16 => match (self, to) {
                (Cell::I(v), DType::F16) => Cell::F(rounded(v, 11, 65_504.0)),
                (Cell::I(v), _) => Cell::F(rounded(v, 8, f64::MAX)),
                (_, DType::F16) => Cell::F(<f16 as Element>::from_f64(self.f()).to_f64()),
                _ => Cell::F(<bf16 as Element>::from_f64(self.f()).to_f64()),
            },
            DType::F8E4M3 => Cell::F(match self {
                // Integers that are no doubles are far beyond the largest.
                Cell::I(v) => F8E4M3::from_f64(rounded(v, 53, f64::MAX)).to_f64(),
                _ => F8E4M3::from_f64(self.f()).to_f64(),
            }),
            DType::F8E5M2 => Cell::F(match self {
                Cell::I(v) => rounded(v, 3, 57344.0),
                _ => F8E5M2::from_f64(self.f()).to_f64(),
            }),
            d if d.is_int() => {
                let (least, largest) = d.int_range().unwrap();
                Cell::I(match self {
                    Cell::F(v) => (v as i128).clamp(least, largest),
                    _ => (self.i() - least).rem_euclid(largest - least + 1) + least,
                })
            }
            _ => Cell::B(self.b()),
        }
    }
}

/// The float with so many bits that is nearest to an integer, ties to even: in integers, where nothing rounds by itself.
pub fn rounded(v: i128, bits: u32, largest: f64) -> f64 {
    let magnitude = v.unsigned_abs();
    let unit = 1u128 << (128 - magnitude.leading_zeros()).saturating_sub(bits);
    let (whole, rest) = (magnitude / unit, magnitude % unit);
    let up = 2 * rest > unit || (2 * rest == unit && whole % 2 == 1);
    let nearest = ((whole + up as u128) * unit) as f64;
    let finite = if nearest > largest { f64::INFINITY } else { nearest };
    if v < 0 { -finite } else { finite }
}

/// A dense row-major array of a dtype.
#[derive(Clone, Debug)]
pub struct Array {
    pub shape: Vec<usize>,
    pub data: Vec<Cell>,
    pub dtype: DType,
}

impl Array {
    pub fn new(shape: &[usize], dtype: DType, data: Vec<Cell>) -> Array {
        assert_eq!(shape.iter().product::<usize>(), data.len());
        Array { shape: shape.to_vec(), data: data.into_iter().map(|c| c.cast(dtype)).collect(), dtype }
    }

    pub fn tensor(&self) -> Tensor {
        fn make<T: Element>(shape: &[usize], values: impl Iterator<Item = T>) -> Tensor {
            Tensor::from_vec(values.collect(), shape).unwrap()
        }
        let cells = self.data.iter();
        let integers = with_integer!(self.dtype, T => {
            make(&self.shape, cells.clone().map(|c| T::try_from(c.i()).unwrap_or_else(|e| panic!("{c:?}: {e}"))))
        });
        match integers {
            Some(made) => made,
            None if self.dtype.is_bool() => make(&self.shape, cells.map(|c| c.b())),
            None => with_element!(self.dtype, T => make(&self.shape, cells.map(|c| T::from_f64(c.f())))),
        }
    }

    /// The elements of a tensor, exactly.
    pub fn of(t: &Tensor) -> Array {
        let data = match t.dtype() {
            DType::I64 => t.to_vec::<i64>().unwrap().into_iter().map(|v| Cell::I(v.into())).collect(),
            DType::U64 => t.to_vec::<u64>().unwrap().into_iter().map(|v| Cell::I(v.into())).collect(),
            DType::Bool => t.to_vec::<bool>().unwrap().into_iter().map(Cell::B).collect(),
            d if d.is_float() => t.to_f64_vec().unwrap().into_iter().map(Cell::F).collect(),
            _ => t.to_f64_vec().unwrap().into_iter().map(|v| Cell::I(v as i128)).collect(),
        };
        Array { shape: t.shape().to_vec(), data, dtype: t.dtype() }
    }

    pub fn pair(self) -> Pair {
        let t = self.tensor();
        let twin = (!t.device().is_cpu()).then(|| t.to(Device::cpu()).unwrap().realize().unwrap().clone());
        Pair { t, twin, a: self }
    }

    pub fn numel(&self) -> usize {
        self.data.len()
    }

    pub fn at(&self, index: &[usize]) -> Cell {
        let flat = index.iter().zip(&self.shape).fold(0, |at, (&i, &n)| at * n + i);
        self.data[flat]
    }

    /// The array of a shape whose element at each index is where `from` says in this one.
    pub fn pick(&self, shape: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Array {
        let data = indices(shape).iter().map(|i| self.at(&from(i))).collect();
        Array { shape: shape.to_vec(), data, dtype: self.dtype }
    }

    pub fn cast(&self, to: DType) -> Array {
        Array { shape: self.shape.clone(), data: self.data.iter().map(|c| c.cast(to)).collect(), dtype: to }
    }

    pub fn permute(&self, axes: &[usize]) -> Array {
        let shape: Vec<usize> = axes.iter().map(|&a| self.shape[a]).collect();
        self.pick(&shape, |i| {
            let mut from = vec![0; i.len()];
            axes.iter().zip(i).for_each(|(&a, &i)| from[a] = i);
            from
        })
    }

    /// `len` positions along an axis from `start` by `step`.
    pub fn slice(&self, axis: usize, start: usize, step: isize, len: usize) -> Array {
        let mut shape = self.shape.clone();
        shape[axis] = len;
        self.pick(&shape, |i| {
            let mut from = i.to_vec();
            from[axis] = (start as isize + i[axis] as isize * step) as usize;
            from
        })
    }

    pub fn expand(&self, shape: &[usize]) -> Array {
        let lead = shape.len() - self.shape.len();
        self.pick(shape, |i| {
            i[lead..].iter().zip(&self.shape).map(|(&i, &n)| if n == 1 { 0 } else { i }).collect()
        })
    }

    pub fn reshape(&self, shape: &[usize]) -> Array {
        Array { shape: shape.to_vec(), data: self.data.clone(), dtype: self.dtype }
    }
}

/// All indices of a shape in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let n: usize = shape.iter().product();
    (0..n)
        .map(|mut at| {
            let mut index = vec![0; shape.len()];
            for (i, &n) in index.iter_mut().zip(shape).rev() {
                *i = at % n;
                at /= n;
            }
            index
        })
        .collect()
}

/// A tensor and what it should be. On another device than the CPU it has a twin there, for results that are to be the same
/// bits.
#[derive(Clone)]
pub struct Pair {
    pub t: Tensor,
    pub twin: Option<Tensor>,
    pub a: Array,
}

impl Pair {
    fn view(&self, a: Array, view: impl Fn(&Tensor) -> Result<Tensor>) -> Pair {
        Pair { t: view(&self.t).unwrap(), twin: self.twin.as_ref().map(|t| view(t).unwrap()), a }
    }

    pub fn permute(&self, axes: &[usize]) -> Pair {
        let signed: Vec<isize> = axes.iter().map(|&a| a as isize).collect();
        self.view(self.a.permute(axes), |t| t.permute(&signed))
    }

    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Pair {
        self.view(self.a.slice(axis, start, 1, len), |t| t.narrow(axis as isize, start as isize, len))
    }

    /// Every `step`-th position from `start`.
    pub fn step(&self, axis: usize, start: usize, step: usize) -> Pair {
        let len = self.a.shape[axis].saturating_sub(start).div_ceil(step);
        self.view(self.a.slice(axis, start, step as isize, len), |t| {
            t.slice(axis as isize, Some(start as isize), None, step as isize)
        })
    }

    pub fn flip(&self, axis: usize) -> Pair {
        let n = self.a.shape[axis];
        self.view(self.a.slice(axis, n.saturating_sub(1), -1, n), |t| t.flip(&[axis as isize]))
    }

    pub fn expand(&self, shape: &[usize]) -> Pair {
        let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
        self.view(self.a.expand(shape), |t| t.expand(&signed))
    }

    pub fn reshape(&self, shape: &[usize]) -> Pair {
        let signed: Vec<isize> = shape.iter().map(|&n| n as isize).collect();
        self.view(self.a.reshape(shape), |t| t.reshape(&signed))
    }

    /// The same values, not computed yet: a reader fuses what makes them.
    pub fn pending(&self) -> Pair {
        self.view(self.a.clone(), |t| Ok(t.copy()))
    }
}

/// Values that are asked for together and compared one by one. Those of the same operands become one program with several
/// outputs: on a GPU, where the driver assembles each program anew, a table of some thousand values takes seconds.
#[derive(Default)]
pub struct Together(Vec<Awaited>);

struct Awaited {
    what: String,
    got: Tensor,
    /// The same on the CPU, where `got` is elsewhere.
    twin: Option<Tensor>,
    expected: Array,
    tolerance: Tolerance,
}

/// How far a number may be from the expected one: so many units in the last place, or so much.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub ulps: u64,
    pub least: f64,
}

impl From<u64> for Tolerance {
    fn from(ulps: u64) -> Tolerance {
        Tolerance { ulps, least: 0.0 }
    }
}

impl Together {
    /// Adds a value that is to be as near to the expected one, and the same bits on the CPU.
    pub fn add(
        &mut self,
        what: String,
        got: Tensor,
        twin: Option<Tensor>,
        expected: Array,
        tolerance: impl Into<Tolerance>,
    ) -> &mut Self {
        let tolerance = tolerance.into();
        self.0.push(Awaited { what, got, twin, expected, tolerance });
        self
    }

    /// Computes what was added, and compares it.
    #[track_caller]
    pub fn compare(&mut self) {
        let all = std::mem::take(&mut self.0);
        let what = || all.iter().map(|a| a.what.as_str()).collect::<Vec<_>>().join("; ");
        let compute = |tensors: Vec<&Tensor>| Tensor::realize_all(tensors);
        compute(all.iter().map(|a| &a.got).collect()).unwrap_or_else(|e| panic!("{}: {e}", what()));
        compute(all.iter().filter_map(|a| a.twin.as_ref()).collect()).unwrap();
        for a in &all {
            assert_ulps(&a.what, &a.got, &a.expected, a.tolerance);
            if let Some(twin) = &a.twin {
                assert_same_bits(&a.what, &a.got, twin);
            }
        }
    }
}

/// Asserts that two tensors have the same elements, bit by bit; any NaN is as good as another.
#[track_caller]
pub fn assert_same_bits(what: &str, t: &Tensor, other: &Tensor) {
    let (a, b) = (Array::of(t), Array::of(other));
    assert_eq!((a.dtype, &a.shape), (b.dtype, &b.shape), "{what}");
    for (at, (x, y)) in a.data.iter().zip(&b.data).enumerate() {
        let same = match (x, y) {
            (Cell::F(x), Cell::F(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
            _ => x == y,
        };
        assert!(same, "{what}: element {at} is {x:?} on {}, {y:?} on {}", t.device(), other.device());
    }
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Uniform in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn vec(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.uniform(low, high)).collect()
    }

    /// Numbers of a dtype: mostly moderate ones, among them those where arithmetic goes wrong.
    pub fn cell(&mut self, dtype: DType) -> Cell {
        let v = match dtype {
            DType::Bool => Cell::B(self.below(2) == 1),
            d if d.is_int() => {
                let (least, largest) = d.int_range().unwrap();
                match self.below(8) {
                    0 => Cell::I([0, 1, -1, largest, least, i32::MAX.into(), i32::MIN.into()][self.below(7)]),
                    1 => Cell::I(least.saturating_add(self.next() as i128)),
                    _ => Cell::I(self.below(201) as i128 - 100),
                }
            }
            _ => match self.below(8) {
                0 => Cell::F(special(dtype)[self.below(special(dtype).len())]),
                1 => Cell::F(self.below(9) as f64 - 4.0),
                _ => Cell::F(self.uniform(-4.0, 4.0)),
            },
        };
        v.cast(dtype)
    }

    /// Numbers of a dtype without the exceptional ones: sums of them are accurate.
    pub fn moderate(&mut self, dtype: DType) -> Cell {
        match dtype {
            DType::Bool => self.cell(dtype),
            d if d.is_int() && !d.is_signed() => Cell::I(self.below(101) as i128),
            d if d.is_int() => Cell::I(self.below(201) as i128 - 100),
            _ => Cell::F(self.uniform(-2.0, 2.0)).cast(dtype),
        }
    }

    /// An f64 leaf of uniform numbers.
    pub fn leaf(&mut self, shape: &[usize], low: f64, high: f64) -> Tensor {
        let data = self.vec(shape.iter().product(), low, high);
        Tensor::from_vec(data, shape).unwrap().requires_grad_(true).unwrap()
    }
}

/// Where numbers come from: [`Rng::cell`], [`Rng::moderate`].
pub type Draw = fn(&mut Rng, DType) -> Cell;

/// An array of random numbers.
pub fn array(rng: &mut Rng, shape: &[usize], dtype: DType, draw: Draw) -> Array {
    let n = shape.iter().product();
    Array::new(shape, dtype, (0..n).map(|_| draw(rng, dtype)).collect())
}

/// Floats where arithmetic goes wrong, in a dtype: zeros, infinities, NaN, the largest, the smallest.
pub fn special(dtype: DType) -> Vec<f64> {
    let (max, min_normal, least, epsilon) = match dtype {
        DType::F64 => (f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), f64::EPSILON),
        DType::F32 => {
            (f32::MAX as f64, f32::MIN_POSITIVE as f64, f32::from_bits(1) as f64, f32::EPSILON as f64)
        }
        DType::F16 => (65504.0, f64::powi(2.0, -14), f64::powi(2.0, -24), f64::powi(2.0, -10)),
        DType::F8E4M3 => (448.0, f64::powi(2.0, -6), f64::powi(2.0, -9), 0.125),
        DType::F8E5M2 => (57344.0, f64::powi(2.0, -14), f64::powi(2.0, -16), 0.25),
        _ => (bf16::MAX.to_f64(), f64::powi(2.0, -126), f64::powi(2.0, -133), f64::powi(2.0, -7)),
    };
    let one = [
        0.0,
        1.0,
        0.5,
        2.0,
        max,
        min_normal,
        least,
        3.0 * least,
        1.0 + epsilon,
        1.0 - epsilon / 2.0,
        f64::INFINITY,
    ];
    let signed = one.iter().flat_map(|&v| [v, -v]);
    signed
        .chain([f64::NAN, 10.0, 88.5, -87.5, 1e4, 3.0, 1.0 / 3.0])
        .map(|v| Cell::F(v).cast(dtype).f())
        .collect()
}

/// One tensor of shape [3, 4, 5] in every way that it can lie in memory, or wait to be computed.
pub fn layouts(rng: &mut Rng, dtype: DType, draw: Draw) -> Vec<(&'static str, Pair)> {
    let pair = |rng: &mut Rng, shape: &[usize]| array(rng, shape, dtype, draw).pair();
    let mut out = vec![
        ("contiguous", pair(rng, &[3, 4, 5])),
        ("permuted", pair(rng, &[5, 3, 4]).permute(&[1, 2, 0])),
        ("transposed", pair(rng, &[4, 3, 5]).permute(&[1, 0, 2])),
        ("offset", pair(rng, &[5, 6, 8]).narrow(0, 1, 3).narrow(1, 2, 4).narrow(2, 2, 5)),
        ("stepped", pair(rng, &[3, 8, 11]).step(1, 1, 2).step(2, 1, 2)),
        ("reversed", pair(rng, &[3, 4, 5]).flip(0).flip(2)),
        ("broadcast inside", pair(rng, &[3, 1, 5]).expand(&[3, 4, 5])),
        ("broadcast last", pair(rng, &[3, 4, 1]).expand(&[3, 4, 5])),
        ("broadcast everywhere", pair(rng, &[]).expand(&[3, 4, 5])),
        ("reshaped", pair(rng, &[5, 12]).permute(&[1, 0]).reshape(&[3, 4, 5])),
        ("pending", pair(rng, &[3, 4, 5]).pending()),
        ("view of pending", pair(rng, &[5, 4, 3]).pending().permute(&[2, 1, 0]).flip(1)),
    ];
    for (_, p) in &mut out {
        assert_eq!(p.a.shape, [3, 4, 5]);
        assert_eq!(p.t.shape(), [3, 4, 5]);
    }
    out
}

/// Shapes that are not [3, 4, 5], each in an array: sizes 0 and 1, no axes, many axes.
pub fn odd_shapes(rng: &mut Rng, dtype: DType, draw: Draw) -> Vec<(&'static str, Pair)> {
    let pair = |rng: &mut Rng, shape: &[usize]| array(rng, shape, dtype, draw).pair();
    vec![
        ("scalar", pair(rng, &[])),
        ("one element", pair(rng, &[1])),
        ("axes of size 1", pair(rng, &[1, 4, 1, 3, 1])),
        ("axes of size 1, permuted", pair(rng, &[1, 4, 1, 3]).permute(&[3, 0, 1, 2])),
        ("empty", pair(rng, &[0])),
        ("empty inside", pair(rng, &[3, 0, 2]).permute(&[2, 0, 1])),
        ("empty slice", pair(rng, &[4, 5]).narrow(1, 2, 0)),
        (
            "sixteen axes",
            pair(rng, &[2, 1, 3, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 1, 2, 1])
                .permute(&[15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7]),
        ),
        ("eight axes", pair(rng, &[2, 1, 2, 1, 2, 1, 2, 2]).permute(&[7, 6, 5, 4, 3, 2, 1, 0])),
    ]
}

/// The distance of two numbers in units in the last place of a dtype; 0 for two NaNs and for zeros of both signs.
pub fn ulps(a: f64, b: f64, dtype: DType) -> u64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0;
    }
    if a.is_nan() || b.is_nan() {
        return u64::MAX;
    }
    // Bit patterns of IEEE numbers, put in order.
    fn ordered(bits: u64, sign: u64) -> i128 {
        if bits & sign != 0 { -((bits & !sign) as i128) } else { bits as i128 }
    }
    let place = |v: f64| match dtype {
        DType::F64 => ordered(v.to_bits(), 1 << 63),
        DType::F32 => ordered((v as f32).to_bits() as u64, 1 << 31),
        DType::F16 => ordered(f16::from_f64(v).to_bits() as u64, 1 << 15),
        DType::F8E4M3 => ordered(F8E4M3::from_f64(v).to_bits() as u64, 1 << 7),
        DType::F8E5M2 => ordered(F8E5M2::from_f64(v).to_bits() as u64, 1 << 7),
        _ => ordered(bf16::from_f64(v).to_bits() as u64, 1 << 15),
    };
    (place(a) - place(b)).unsigned_abs() as u64
}

/// Asserts that a tensor equals an array: dtype, shape, and each element within so many ulps (integers exactly).
#[track_caller]
pub fn assert_ulps(what: &str, t: &Tensor, expected: &Array, tolerance: impl Into<Tolerance>) {
    let Tolerance { ulps: most, least } = tolerance.into();
    assert_eq!(t.dtype(), expected.dtype, "{what}: dtype");
    assert_eq!(t.shape().to_vec(), expected.shape, "{what}: shape");
    let got = Array::of(t);
    assert_eq!(got.shape, expected.shape, "{what}: shape of the value");
    for (at, (g, e)) in got.data.iter().zip(&expected.data).enumerate() {
        let close = match (g, e) {
            (Cell::F(g), Cell::F(e)) => ulps(*g, *e, expected.dtype) <= most || (g - e).abs() <= least,
            _ => g == e,
        };
        assert!(
            close,
            "{what}: element {at} is {g:?}, expected {e:?} (within {most} ulp of {})",
            expected.dtype
        );
    }
}

/// Asserts that numbers are within `atol + rtol · |expected|`.
#[track_caller]
pub fn assert_close(what: &str, t: &Tensor, expected: &[f64], rtol: f64, atol: f64) {
    let got = t.to_f64_vec().unwrap();
    assert_eq!(got.len(), expected.len(), "{what}: number of elements");
    for (at, (g, e)) in got.iter().zip(expected).enumerate() {
        let close = g == e || (g.is_nan() && e.is_nan()) || (g - e).abs() <= atol + rtol * e.abs();
        assert!(close, "{what}: element {at} is {g}, expected {e}");
    }
}

/// Numbers in [−1, 1), many and quickly.
pub fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// A tensor of f32 in rows.
pub fn f32s(shape: &[usize], data: &[f32]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

/// The same, as a leaf.
pub fn leaf(shape: &[usize], data: &[f32]) -> Tensor {
    f32s(shape, data).requires_grad_(true).unwrap()
}

/// The shape that all broadcast to.
pub fn joint(shapes: &[&[usize]]) -> Vec<usize> {
    shapes.iter().fold(vec![], |a, b| Shape::broadcast(&Shape::of(&a), &Shape::of(b)).unwrap().to_vec())
}
