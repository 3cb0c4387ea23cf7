//! Elementary functions, written once against [`FloatLane`].
//!
//! Each is a straight line of IEEE operations: no branch, no table, no call, so the compiler vectorises a loop over
//! it and an instruction-writing lane emits it, with equal bits. A function picks its coefficients by
//! [`FloatLane::format`]. The polynomials are minimax polynomials with coefficients rounded to the format, found by
//! the method of Brisebarre and Chevillard, "Efficient polynomial L∞-approximations", ARITH 18, 2007.
//!
//! Bounds are stated on each function in units in the last place (ulp) of the exact result: in single precision as
//! the largest error over all 2³² arguments, in double precision as the largest seen over four million random and
//! special ones. The tests of this crate repeat both.
//!
//! The general scheme of argument reduction, polynomial and reconstruction, and of arithmetic in unevaluated sums of
//! two numbers, is that of Muller, "Elementary Functions: Algorithms and Implementation", 3rd edition, 2016.

mod arc;
mod base;
mod bessel;
mod erf;
mod erfc;
mod exp;
mod expm1;
mod gamma;
mod gelu;
mod hyperbolic;
mod log;
mod normal;
mod pow;
mod sigmoid;
mod sign;
mod softplus;
mod tanh;
mod trig;
mod whole;

pub use arc::{acos, asin, atan, atan2};
pub use base::{exp2, log2, log10};
pub use bessel::{i0e, i1e};
pub use erf::erf;
pub use erfc::{erfc, erfcx, erfinv, ndtri};
pub use exp::{EXP_BELOW, exp, exp_below};
pub use expm1::{expm1, log1p};
pub use gamma::{digamma, lgamma};
pub use gelu::{gelu, gelu_slope};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh};
pub use log::{entr, log};
pub use normal::normal_pair;
pub use pow::pow;
pub use sigmoid::sigmoid;
pub use sign::{copysign, nextafter};
pub use softplus::softplus;
pub use tanh::tanh;
pub use trig::{cos, sin, tan};
pub use whole::{ceil, floor, fmod, fmod_of_one_digit, has_one_digit, int_pow, round, trunc};

use crate::lane::{BitLane, FloatLane, Format};

/// `c[0]·xᴺ⁻¹ + … + c[N−1]` by Horner's rule.
#[inline(always)]
fn horner<L: FloatLane, const N: usize>(x: L, c: [f64; N]) -> L {
    let mut sum = x.lit(c[0]);
    for &next in &c[1..] {
        sum = sum.fma(x, x.lit(next));
    }
    sum
}

/// `single` or `double`, by the format of `x`.
#[inline(always)]
fn lit<L: FloatLane>(x: L, single: f64, double: f64) -> L {
    match x.format() {
        Format::Single => x.lit(single),
        Format::Double => x.lit(double),
    }
}

/// Bits of the format.
#[inline(always)]
fn bits<L: FloatLane>(x: L) -> u32 {
    match x.format() {
        Format::Single => 32,
        Format::Double => 64,
    }
}

/// Bits of the significand that are stored.
#[inline(always)]
fn fraction_bits<L: FloatLane>(x: L) -> u32 {
    match x.format() {
        Format::Single => 23,
        Format::Double => 52,
    }
}

/// 1.5·2ᵖ, p the number of stored bits: added to a small number it rounds that number to an integer, which then
/// stands in the low bits of the sum (taking it from there is four times faster than a saturating conversion).
const MAGIC_SINGLE: f64 = 12582912.0;
const MAGIC_DOUBLE: f64 = 6755399441055744.0;

/// The sign bit alone.
#[inline(always)]
fn sign_bit<L: FloatLane>(x: L) -> L::Bits {
    x.to_bits().lit(match x.format() {
        Format::Single => i64::from(i32::MIN),
        Format::Double => i64::MIN,
    })
}

/// `|magnitude|` with the sign of `sign`; `magnitude` must not be negative.
#[inline(always)]
fn with_sign<L: FloatLane>(magnitude: L, sign: L) -> L {
    L::from_bits(magnitude.to_bits().or(sign.to_bits().and(sign_bit(sign))))
}

/// The reciprocal of `d` in [1, 2] to about 2⁻²⁰ (single) or 2⁻³⁸ (double): a minimax cubic and one step of Newton
/// and Raphson, two in double. A few multiplications cost less than the divider where the quotient is corrected
/// by its remainder anyway.
#[inline(always)]
fn reciprocal<L: FloatLane>(d: L) -> L {
    let one = d.lit(1.0);
    let r = horner(d, RECIPROCAL);
    let r = r.fma(r.neg().fma(d, one), r);
    match d.format() {
        Format::Single => r,
        Format::Double => r.fma(r.neg().fma(d, one), r),
    }
}
/// 1/d·(1 − T₄(2d − 3)/577): Chebyshev's polynomial makes the relative error level, 1/577.
const RECIPROCAL: [f64; 4] = [-0.2218370883882149, 1.3310225303292895, -2.9393414211438476, 2.82842287694974];
