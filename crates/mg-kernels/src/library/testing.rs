//! For the tests of the rooms: arrays of numbers, and the CPU half of a kernel on them.

use super::{Kernel, Operand, Shaped};
use crate::finding::Finding;
use mg_device::{DType, Element, ErrorKind, Layout, Shape, with_number};

/// Numbers as a dtype holds them, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Array {
    pub shape: Shape,
    pub dtype: DType,
    pub values: Vec<f64>,
}

impl Array {
    /// The values, rounded to the dtype.
    pub fn new(dtype: DType, sizes: &[usize], values: impl IntoIterator<Item = f64>) -> Array {
        let shape = Shape::of(sizes);
        let round = |v: f64| with_number!(dtype, T => T::from_f64(v).to_f64());
        let values: Vec<f64> = values.into_iter().map(round).collect();
        assert_eq!(shape.numel(), values.len());
        Array { shape, dtype, values }
    }

    /// Indices.
    pub fn indices(sizes: &[usize], values: impl IntoIterator<Item = i64>) -> Array {
        Array::new(DType::I64, sizes, values.into_iter().map(|i| i as f64))
    }

    /// Numbers between −4 and 4 that look random, of integers whole ones and none below 0 where there is no sign.
    pub fn some(dtype: DType, sizes: &[usize], seed: u64) -> Array {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let values: Vec<f64> = (0..sizes.iter().product())
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let v = (state >> 40) as f64 / f64::from(1 << 21) - 4.0;
                if dtype.is_signed() { v } else { v.abs() }
            })
            .collect();
        let whole = |v: f64| if dtype.is_bool() { f64::from(v > 2.0) } else { v };
        Array::new(dtype, sizes, values.into_iter().map(whole))
    }

    pub fn shaped(&self) -> Shaped {
        Shaped { shape: self.shape, dtype: self.dtype }
    }

    /// The element at a position of each axis.
    pub fn at(&self, place: &[usize]) -> f64 {
        assert_eq!(place.len(), self.shape.rank());
        self.values[place.iter().zip(self.shape.iter()).fold(0, |at, (&i, &n)| at * n + i)]
    }

    /// The values, behind so many elements that are none of them.
    fn memory(&self, before: usize) -> Vec<u64> {
        let mut memory = vec![UNTOUCHED; before + self.values.len() + 1];
        let start = memory.as_mut_ptr();
        for (i, &v) in self.values.iter().enumerate() {
            // SAFETY: no element is wider than a word, and there are as many words.
            with_number!(self.dtype, T => unsafe { start.cast::<T>().add(before + i).write(T::from_f64(v)) });
        }
        memory
    }
}

/// What lies in memory before a kernel writes to it.
const UNTOUCHED: u64 = 0xa5a5_a5a5_a5a5_a5a5;

/// Where operands begin in their memory: they may be parts of something.
const BEFORE: usize = 3;

/// What the kernel's CPU half makes of dense operands. It writes to nothing behind its result.
pub(super) fn computed(kernel: &impl Kernel, operands: &[&Array]) -> Result<Array, Finding> {
    let dense: Vec<_> = operands.iter().map(|a| (*a, Layout::contiguous(a.shape))).collect();
    computed_of(kernel, &dense)
}

/// The same of operands that lie in these arrays' memory in any way.
pub(super) fn computed_of(kernel: &impl Kernel, operands: &[(&Array, Layout)]) -> Result<Array, Finding> {
    let shaped = |(a, layout): &(&Array, Layout)| Shaped { shape: *layout.shape(), dtype: a.dtype };
    let result = kernel.result(&operands.iter().map(shaped).collect::<Vec<_>>()).unwrap();
    let memory: Vec<Vec<u64>> = operands.iter().map(|(a, _)| a.memory(BEFORE)).collect();
    let with_memory = operands.iter().zip(&memory);
    let operands: Vec<Operand> = with_memory
        .map(|((a, layout), memory)| Operand {
            base: memory.as_ptr().cast(),
            layout: Layout::new(*layout.shape(), layout.strides(), layout.offset() + BEFORE).unwrap(),
            dtype: a.dtype,
        })
        .collect();
    let count = result.shape.numel();
    let words = (count * result.dtype.size()).div_ceil(8);
    let mut out = vec![UNTOUCHED; words + 2];
    // SAFETY: operands and result are as large as their shapes say.
    unsafe { kernel.cpu(&operands, out.as_mut_ptr().cast(), &result)? };
    assert_eq!(out[words..], [UNTOUCHED; 2], "it wrote behind its result");
    let start = out.as_ptr();
    // SAFETY: as above; truth values are read as bytes.
    let element = |i| with_number!(result.dtype, T => unsafe { start.cast::<T>().add(i).read().to_f64() });
    Ok(Array { shape: result.shape, dtype: result.dtype, values: (0..count).map(element).collect() })
}

/// What the kernel says of operands that it does not take.
pub(super) fn refused(kernel: &impl Kernel, operands: &[&Array]) -> ErrorKind {
    let shaped: Vec<Shaped> = operands.iter().map(|a| a.shaped()).collect();
    kernel.result(&shaped).unwrap_err().kind().clone()
}

/// That both have the same elements, NaN included, within a share of their size (and of 1).
pub(super) fn assert_close(got: &[f64], want: &[f64], within: f64) {
    assert_eq!(got.len(), want.len());
    for (i, (&g, &w)) in got.iter().zip(want).enumerate() {
        let near = (g - w).abs() <= within * w.abs().max(1.0);
        assert!(near || g == w || g.is_nan() && w.is_nan(), "element {i}: {g}, not {w}");
    }
}

/// Every position of a shape, in row-major order.
pub(super) fn places(sizes: &[usize]) -> Vec<Vec<usize>> {
    let count: usize = sizes.iter().product();
    let place = |mut i: usize| {
        let mut place = vec![0; sizes.len()];
        for (at, &n) in place.iter_mut().zip(sizes).rev() {
            (*at, i) = (i % n, i / n);
        }
        place
    };
    (0..count).map(place).collect()
}
