//! The softplus function, a relu whose derivative is the logistic function.

use super::exp::exp_of_minus_magnitude;
use super::log::{DOUBLE, LN2_REST_DOUBLE, LN2_REST_SINGLE, LN2_SHORT_DOUBLE, LN2_SHORT_SINGLE, SINGLE};
use super::{horner, lit, reciprocal};
use crate::lane::{FloatLane, Format};

/// ln(1 + eˣ), within 1.14 ulp in single and 1.13 in double precision, with denormal results where they are due.
///
/// With z = e^(−|x|) it is max(x, 0) + ln(1 + z). What 1 + z loses by its rounding goes into the logarithm's tail, so
/// that small z keep all their digits.
#[inline(always)]
pub fn softplus<L: FloatLane>(x: L) -> L {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let (z, z_tail) = exp_of_minus_magnitude(x);
    let u = one.add(z);
    let lost = one.sub(u).add(z).add(z_tail);
    // lost/u = lost − lost·(u − 1)/u: all of it where u is 1.
    let lost = lost.mul(one.sub(u)).fma(reciprocal(u), lost);
    // From here on the natural logarithm of u in [1, 2], as in `log`.
    let upper = lit(x, FOUR_THIRDS_SINGLE, FOUR_THIRDS_DOUBLE).le(u);
    let f = L::select(upper, u.mul(x.lit(0.5)), u).sub(one);
    let series = match x.format() {
        Format::Single => horner(f, SINGLE),
        Format::Double => horner(f, DOUBLE),
    };
    let whole = L::select(upper, lit(x, LN2_SHORT_SINGLE, LN2_SHORT_DOUBLE), zero);
    let rest = L::select(upper, lit(x, LN2_REST_SINGLE, LN2_REST_DOUBLE), zero);
    let sum = whole.add(f);
    let tail = whole.sub(sum).add(f).add(rest).add(lost);
    let small = f.mul(f).fma(f.fma(series, x.lit(-0.5)), tail);
    L::select(x.le(zero), zero, x).add(sum.add(small))
}

const FOUR_THIRDS_SINGLE: f64 = 1.3333334;
const FOUR_THIRDS_DOUBLE: f64 = 1.3333333333333335;
