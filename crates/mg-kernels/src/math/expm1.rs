//! eˣ − 1 and ln(1 + x), which keep their digits next to zero.

use super::exp::Reduced;
use super::log::{
    DOUBLE, LN2_REST_DOUBLE, LN2_REST_SINGLE, LN2_SHORT_DOUBLE, LN2_SHORT_SINGLE, SINGLE, split,
};
use super::{horner, lit};
use crate::lane::{FloatLane, Format};

/// eˣ − 1, within 0.95 ulp in single and 1.00 in double precision.
///
/// With eˣ = (1 + s)·2ⁿ it is 2·((2ⁿ⁻¹ − ½) + 2ⁿ⁻¹·s), of which only the last sum is rounded.
#[inline(always)]
pub fn expm1<L: FloatLane>(x: L) -> L {
    // Below this the result rounds to −1, above it to infinity.
    let low = lit(x, -18.0, -38.0);
    let high = lit(x, 89.0, 710.0);
    let y = L::select(x.lt(low), low, x);
    let y = L::select(high.lt(y), high, y);
    let reduced = Reduced::new(y, 1);
    let half = reduced.half_scale();
    let whole = half.sub(x.lit(0.5));
    let whole_tail = half.sub(whole).sub(x.lit(0.5));
    let rest = half.mul(reduced.sum());
    let sum = whole.add(rest);
    let tail = whole.sub(sum).add(rest).add(half.fma(reduced.whole_sum_tail(), whole_tail));
    let result = sum.add(tail).mul(x.lit(2.0));
    // Where x² is nothing beside x, denormal numbers among them.
    let tiny = lit(x, 2.9802322387695312e-8, 5.551115123125783e-17);
    L::select(x.abs().lt(tiny), x, result)
}

/// ln(1 + x), within 0.85 ulp in single and 0.85 in double precision. −1 gives −∞, what is below it NaN.
///
/// The logarithm of u = 1 + x as in [`log`](super::log()), and what u lost by its rounding over u.
#[inline(always)]
pub fn log1p<L: FloatLane>(x: L) -> L {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    let u = one.add(x);
    // Whichever of the summands is the larger.
    let large = one.lt(x.abs());
    let (first, second) = (L::select(large, x, one), L::select(large, one, x));
    let lost = first.sub(u).add(second).div(u);
    let (n, significand) = split(u, 0x3f2a_aaab, 0x3fe5_5555_5555_5555);
    let f = significand.sub(one);
    let series = match x.format() {
        Format::Single => horner(f, SINGLE),
        Format::Double => horner(f, DOUBLE),
    };
    let whole = n.mul(lit(x, LN2_SHORT_SINGLE, LN2_SHORT_DOUBLE));
    let sum = whole.add(f);
    let tail = n.fma(lit(x, LN2_REST_SINGLE, LN2_REST_DOUBLE), whole.sub(sum).add(f)).add(lost);
    let result = sum.add(f.mul(f).fma(f.fma(series, x.lit(-0.5)), tail));
    let result = L::select(x.lt(infinity), result, x);
    let result = L::select(u.eq(zero), infinity.neg(), result);
    let result = L::select(u.lt(zero), x.lit(f64::NAN), result);
    let tiny = lit(x, 2.9802322387695312e-8, 5.551115123125783e-17);
    L::select(x.abs().lt(tiny), x, result)
}
