//! What kernels that take the softmax of rows have in common.

use crate::lane::FloatLane;
use crate::math;
use half::slice::HalfFloatSliceExt;
use mg_device::{DType, Float, bf16, f16};

/// Sums that are added side by side.
const LANES: usize = 16;

/// What is computed in.
pub(crate) trait Real: FloatLane + Send + Sync + PartialOrd + 'static {
    const DTYPE: DType;
    const ZERO: Self;
    const LEAST: Self;
    const MOST: Self;
    fn of(x: f64) -> Self;
    fn ln(self) -> Self;
}
macro_rules! real {
    ($($T:ty: $D:ident;)*) => {$(
        impl Real for $T {
            const DTYPE: DType = DType::$D;
            const ZERO: $T = 0.0;
            const LEAST: $T = <$T>::NEG_INFINITY;
            const MOST: $T = <$T>::INFINITY;
            fn of(x: f64) -> $T {
                x as $T
            }
            fn ln(self) -> $T {
                <$T>::ln(self)
            }
        }
    )*};
}
real! {
    f32: F32;
    f64: F64;
}

/// The largest of a row; NaN is passed over.
#[inline(always)]
pub(crate) unsafe fn largest<T: Real>(row: *const T, n: usize) -> T {
    let pick = |a: T, b: T| if b > a { b } else { a };
    let mut lanes = [T::LEAST; LANES];
    let whole = n / LANES * LANES;
    // SAFETY: the caller's row has `n` elements.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            for (j, lane) in lanes.iter_mut().enumerate() {
                *lane = pick(*lane, *row.add(i + j));
            }
        }
        for i in whole..n {
            lanes[0] = pick(lanes[0], *row.add(i));
        }
    }
    lanes.into_iter().fold(T::LEAST, pick)
}

/// `eˣ⁻ᵐ` of a row, in place, and their sum.
#[inline(always)]
pub(crate) unsafe fn weighed<T: Real>(row: *mut T, n: usize, top: T) -> T {
    let mut lanes = [T::ZERO; LANES];
    let whole = n / LANES * LANES;
    // SAFETY: the caller's row has `n` elements.
    unsafe {
        for i in (0..whole).step_by(LANES) {
            for (j, lane) in lanes.iter_mut().enumerate() {
                let e = math::exp((*row.add(i + j)).sub(top));
                *row.add(i + j) = e;
                *lane = lane.add(e);
            }
        }
        for i in whole..n {
            let e = math::exp((*row.add(i)).sub(top));
            *row.add(i) = e;
            lanes[0] = lanes[0].add(e);
        }
    }
    lanes.into_iter().fold(T::ZERO, |a, b| a.add(b))
}

/// Half types as f32.
pub(crate) unsafe fn convert(dtype: DType, from: *const u8, n: usize, to: *mut f32) {
    // SAFETY: the caller's addresses are valid for `n`.
    unsafe {
        let to = std::slice::from_raw_parts_mut(to, n);
        match dtype.float() {
            Some(Float::F16) => std::slice::from_raw_parts(from.cast::<f16>(), n).convert_to_f32_slice(to),
            Some(Float::BF16) => std::slice::from_raw_parts(from.cast::<bf16>(), n).convert_to_f32_slice(to),
            Some(Float::F32 | Float::F64) | None => unreachable!("the callers have half types"),
        }
    }
}

/// f32 as half types.
pub(crate) unsafe fn convert_back(dtype: DType, from: *const f32, n: usize, to: *mut u8) {
    // SAFETY: the caller's addresses are valid for `n`.
    unsafe {
        let from = std::slice::from_raw_parts(from, n);
        match dtype.float() {
            Some(Float::F16) => {
                std::slice::from_raw_parts_mut(to.cast::<f16>(), n).convert_from_f32_slice(from);
            }
            Some(Float::BF16) => {
                std::slice::from_raw_parts_mut(to.cast::<bf16>(), n).convert_from_f32_slice(from);
            }
            Some(Float::F32 | Float::F64) | None => unreachable!("the callers have half types"),
        }
    }
}
