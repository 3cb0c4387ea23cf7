//! What is pooled, and how two elements of a window become one.

use half::slice::HalfFloatSliceExt;
use mg_device::{bf16, f16};

/// What is computed with.
pub(super) trait Number: Copy + Send + Sync + PartialOrd {
    const ZERO: Self;
    const LEAST: Self;
    fn plus(self, o: Self) -> Self;
    fn times(self, o: Self) -> Self;
    fn over(self, o: Self) -> Self;
    fn of(n: i64) -> Self;
}
macro_rules! numbers {
    ($($T:ty: $least:expr, |$a:ident, $b:ident| $plus:expr, $times:expr, $over:expr;)*) => {$(
        impl Number for $T {
            const ZERO: $T = 0 as $T;
            const LEAST: $T = $least;
            #[inline(always)]
            fn plus(self, o: $T) -> $T {
                let ($a, $b) = (self, o);
                $plus
            }
            #[inline(always)]
            fn times(self, o: $T) -> $T {
                let ($a, $b) = (self, o);
                $times
            }
            #[inline(always)]
            fn over(self, o: $T) -> $T {
                let ($a, $b) = (self, o);
                $over
            }
            #[inline(always)]
            fn of(n: i64) -> $T {
                n as $T
            }
        }
    )*};
}
numbers! {
    f32: f32::NEG_INFINITY, |a, b| a + b, a * b, a / b;
    f64: f64::NEG_INFINITY, |a, b| a + b, a * b, a / b;
    // Rounded towards 0, as PyTorch does.
    i64: i64::MIN, |a, b| a.wrapping_add(b), a.wrapping_mul(b), a.checked_div(b).unwrap_or(0);
}

/// What lies in memory.
pub(super) trait Element: Copy + Send + Sync + 'static {
    type Wide: Number;
    /// Whether it is computed with as it is.
    const DIRECT: bool;
    /// Safety: both are valid for `n`.
    unsafe fn widen(from: *const Self, to: *mut Self::Wide, n: usize);
    /// Safety: both are valid for `n`.
    unsafe fn narrow(from: *const Self::Wide, to: *mut Self, n: usize);
}
macro_rules! direct {
    ($($T:ty)*) => {$(
        impl Element for $T {
            type Wide = $T;
            const DIRECT: bool = true;
            #[inline(always)]
            unsafe fn widen(from: *const $T, to: *mut $T, n: usize) {
                // SAFETY: this function's contract.
                unsafe { std::ptr::copy_nonoverlapping(from, to, n) }
            }
            #[inline(always)]
            unsafe fn narrow(from: *const $T, to: *mut $T, n: usize) {
                // SAFETY: this function's contract.
                unsafe { std::ptr::copy_nonoverlapping(from, to, n) }
            }
        }
    )*};
}
direct!(f32 f64 i64);
macro_rules! half {
    ($($T:ty)*) => {$(
        impl Element for $T {
            type Wide = f32;
            const DIRECT: bool = false;
            #[inline(always)]
            unsafe fn widen(from: *const $T, to: *mut f32, n: usize) {
                // SAFETY: this function's contract.
                unsafe {
                    std::slice::from_raw_parts(from, n).convert_to_f32_slice(std::slice::from_raw_parts_mut(to, n));
                }
            }
            #[inline(always)]
            unsafe fn narrow(from: *const f32, to: *mut $T, n: usize) {
                // SAFETY: this function's contract.
                unsafe {
                    std::slice::from_raw_parts_mut(to, n).convert_from_f32_slice(std::slice::from_raw_parts(from, n));
                }
            }
        }
    )*};
}
half!(f16 bf16);

/// How two elements of a window become one.
pub(super) trait Join {
    fn none<T: Number>() -> T;
    fn join<T: Number>(a: T, b: T) -> T;
}
pub(super) struct Largest;
impl Join for Largest {
    #[inline(always)]
    fn none<T: Number>() -> T {
        T::LEAST
    }
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn join<T: Number>(a: T, b: T) -> T {
        // A NaN is not equal to itself.
        if b > a || b != b { b } else { a }
    }
}
pub(super) struct Sum;
impl Join for Sum {
    #[inline(always)]
    fn none<T: Number>() -> T {
        T::ZERO
    }
    #[inline(always)]
    fn join<T: Number>(a: T, b: T) -> T {
        a.plus(b)
    }
}
