//! The types of a product's operands, and the types it is computed in.

use super::micro::Compute;
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

/// A type of operands and results.
pub(crate) trait Entry: Copy + Send + Sync + 'static {
    /// The type that products of it are computed in.
    type Acc: Compute;
    /// Whether that is the same type, so that kernels can read operands and write results in place.
    const DIRECT: bool;

    /// Converts `n` values, `stride` apart, to neighbours.
    ///
    /// Safety: `from` is valid for these reads, `to` for `n` writes.
    unsafe fn widen(from: *const Self, stride: isize, to: *mut Self::Acc, n: usize);

    /// Rounds `n` neighbours.
    ///
    /// Safety: `from` is valid for `n` reads, `to` for `n` writes.
    unsafe fn narrow(from: *const Self::Acc, to: *mut Self, n: usize);
}

#[inline(always)]
unsafe fn widen_each<T: Copy, A>(from: *const T, stride: isize, to: *mut A, n: usize, f: impl Fn(T) -> A) {
    for i in 0..n {
        // SAFETY: by the contract of `Entry::widen`.
        unsafe { *to.add(i) = f(*from.offset(i as isize * stride)) };
    }
}

#[inline(always)]
unsafe fn narrow_each<T, A: Copy>(from: *const A, to: *mut T, n: usize, f: impl Fn(A) -> T) {
    for i in 0..n {
        // SAFETY: by the contract of `Entry::narrow`.
        unsafe { *to.add(i) = f(*from.add(i)) };
    }
}

macro_rules! direct {
    ($($T:ty)*) => {$(
        impl Entry for $T {
            type Acc = $T;
            const DIRECT: bool = true;
            #[inline(always)]
            unsafe fn widen(from: *const $T, stride: isize, to: *mut $T, n: usize) {
                // SAFETY: by this function's contract.
                unsafe {
                    match stride {
                        1 => std::ptr::copy_nonoverlapping(from, to, n),
                        _ => widen_each(from, stride, to, n, |x| x),
                    }
                }
            }
            #[inline(always)]
            unsafe fn narrow(from: *const $T, to: *mut $T, n: usize) {
                // SAFETY: by this function's contract.
                unsafe { std::ptr::copy_nonoverlapping(from, to, n) }
            }
        }
    )*};
}
direct!(f32 f64 i64 i32);

macro_rules! converted {
    ($T:ty, $Acc:ty, |$x:ident| $widen:expr, |$y:ident| $narrow:expr) => {
        impl Entry for $T {
            type Acc = $Acc;
            const DIRECT: bool = false;
            #[inline(always)]
            unsafe fn widen(from: *const $T, stride: isize, to: *mut $Acc, n: usize) {
                // SAFETY: by this function's contract.
                unsafe {
                    match stride {
                        1 => widen_each(from, 1, to, n, |$x| $widen),
                        _ => widen_each(from, stride, to, n, |$x| $widen),
                    }
                }
            }
            #[inline(always)]
            unsafe fn narrow(from: *const $Acc, to: *mut $T, n: usize) {
                // SAFETY: by this function's contract.
                unsafe { narrow_each(from, to, n, |$y| $narrow) }
            }
        }
    };
}
// Modulo 2⁸ after is modulo 2⁸ all along, with a sign or without.
converted!(i16, i32, |x| x as i32, |y| y as i16);
converted!(u8, i32, |x| x as i32, |y| y as u8);
converted!(bf16, f32, |x| f32::from_bits((x.to_bits() as u32) << 16), |y| bf16::from_bits(round_bf16(y)));

/// To nearest, ties to even; NaN stays NaN. Branch-free, so that loops over it are vectorised.
#[inline(always)]
fn round_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    (if bits & 0x7fff_ffff > 0x7f80_0000 { bits >> 16 | 0x40 } else { rounded }) as u16
}

/// A truth value; the count of pairs that are both true becomes whether there is one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Bool(u8);
converted!(Bool, i64, |x| (x.0 != 0) as i64, |y| Bool((y != 0) as u8));

impl Entry for f16 {
    type Acc = f32;
    const DIRECT: bool = false;
    #[inline]
    unsafe fn widen(from: *const f16, stride: isize, to: *mut f32, n: usize) {
        // SAFETY: by this function's contract.
        unsafe {
            if stride != 1 {
                return widen_each(from, stride, to, n, f16::to_f32);
            }
            // The crate asks the processor for its conversion instructions.
            let (from, to) = (std::slice::from_raw_parts(from, n), std::slice::from_raw_parts_mut(to, n));
            from.convert_to_f32_slice(to)
        }
    }
    #[inline]
    unsafe fn narrow(from: *const f32, to: *mut f16, n: usize) {
        // SAFETY: by this function's contract.
        unsafe {
            let (from, to) = (std::slice::from_raw_parts(from, n), std::slice::from_raw_parts_mut(to, n));
            to.convert_from_f32_slice(from)
        }
    }
}
