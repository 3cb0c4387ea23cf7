//! The hyperbolic sine and cosine, and the inverse hyperbolic functions.

use super::exp::Reduced;
use super::expm1::log1p_inside;
use super::{horner, lit, with_sign};
use crate::lane::{FloatLane, Format};

/// sinh x, within 1.70 ulp in single and 1.70 in double precision.
#[inline(always)]
pub fn sinh<L: FloatLane>(x: L) -> L {
    let a = x.abs();
    let one = x.lit(1.0);
    let near = a.lt(one);
    let small = L::select(near, x, one);
    let square = small.mul(small);
    let series = match x.format() {
        Format::Single => horner(square, SINH_SINGLE),
        Format::Double => horner(square, SINH_DOUBLE),
    };
    let small = square.mul(series).fma(small, small);
    let (half, other) = halves(a);
    L::select(near, small, with_sign(half.sub(other), x))
}

/// cosh x, within 1.40 ulp in single and 1.40 in double precision.
#[inline(always)]
pub fn cosh<L: FloatLane>(x: L) -> L {
    let (half, other) = halves(x.abs());
    half.add(other)
}

/// ½eᵃ and ½e⁻ᵃ for a ≥ 0.
#[inline(always)]
fn halves<L: FloatLane>(a: L) -> (L, L) {
    let half = Reduced::half_of(a);
    // Beyond this the other is nothing beside it.
    let most = lit(a, 1152921504606846976.0, 1.3407807929942597e154);
    (half, a.lit(0.25).quotient(L::select(most.lt(half), most, half)))
}

/// arsinh x, within 1.70 ulp in single and 1.70 in double precision.
#[inline(always)]
pub fn asinh<L: FloatLane>(x: L) -> L {
    let a = x.abs();
    let one = x.lit(1.0);
    // From here on it is ln 2a, and the square might overflow.
    let large = lit(x, 1073741824.0, 1152921504606846976.0).lt(a);
    let b = L::select(large, one, a);
    let square = b.mul(b);
    let more = b.add(square.quotient(one.add(one.add(square).root())));
    let result = log1p_inside(L::select(large, a, more));
    let result = L::select(large, result.add(x.lit(std::f64::consts::LN_2)), result);
    // What is so small is its own result, the sign of zero included, and what is infinite.
    let tiny = lit(x, 2.9802322387695312e-8, 5.551115123125783e-17);
    let inside = L::both(tiny.lt(a), a.lt(x.lit(f64::INFINITY)));
    L::select(inside, with_sign(result.abs(), x), x)
}

/// arcosh x, within 2.20 ulp in single and 1.90 in double precision; NaN below 1.
#[inline(always)]
pub fn acosh<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    let large = lit(x, 1073741824.0, 1152921504606846976.0).lt(x);
    let more = L::select(large, one, x).sub(one);
    let root = more.fma(more, more.add(more)).root();
    let result = log1p_inside(L::select(large, x, more.add(root)));
    let result = L::select(large, result.add(x.lit(std::f64::consts::LN_2)), result);
    let result = L::select(x.lt(x.lit(f64::INFINITY)), result, x);
    L::select(x.lt(one), x.lit(f64::NAN), result)
}

/// artanh x, within 2.20 ulp in single and 1.90 in double precision; ±1 gives ±∞, what is beyond NaN.
#[inline(always)]
pub fn atanh<L: FloatLane>(x: L) -> L {
    let a = x.abs();
    let one = x.lit(1.0);
    let result = log1p_inside(a.add(a).quotient(one.sub(a))).mul(x.lit(0.5));
    let edge = L::select(a.eq(one), x.lit(f64::INFINITY), x.lit(f64::NAN));
    let result = with_sign(L::select(a.lt(one), result.abs(), edge), x);
    let tiny = lit(x, 2.9802322387695312e-8, 5.551115123125783e-17);
    L::select(a.lt(tiny), x, result)
}

/// (sinh t − t)/t³ in t² for |t| ≤ 1, with errors 2⁻³² and 2⁻⁷¹.
const SINH_SINGLE: [f64; 4] = [2.8062802e-06, 0.00019838102, 0.008333339, 0.16666667];
const SINH_DOUBLE: [f64; 8] = [
    2.8445264169895285e-15,
    7.646625361656657e-13,
    1.6059048396350562e-10,
    2.505210836405804e-08,
    2.755731922404034e-06,
    0.00019841269841269773,
    0.008333333333333333,
    0.16666666666666666,
];
