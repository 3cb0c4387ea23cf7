//! The softplus function, a relu whose derivative is the logistic function.

use super::exp::exp_below;
use super::horner;
use crate::lane::{FloatLane, Format};

/// ln(1 + eˣ), within 1.90 ulp in single and 1.80 in double precision, with denormal results where they are due.
///
/// With z = e^(−|x|) it is max(x, 0) + ln(1 + z), and z is in [0, 1], where one polynomial serves.
#[inline(always)]
pub fn softplus<L: FloatLane>(x: L) -> L {
    let zero = x.lit(0.0);
    let z = exp_below(x.abs().neg());
    let series = match x.format() {
        Format::Single => horner(z, SINGLE),
        Format::Double => horner(z, DOUBLE),
    };
    L::select(x.le(zero), zero, x).add(z.mul(z).fma(series, z))
}

/// (ln(1 + z) − z)/z² on [0, 1], with relative errors 2⁻²⁷ and 2⁻⁶⁴ of the logarithm.
const SINGLE: [f64; 10] = [
    0.0029965751,
    -0.018076146,
    0.05101657,
    -0.09316428,
    0.13141188,
    -0.16404194,
    0.19964811,
    -0.24997637,
    0.33333278,
    -0.5,
];
const DOUBLE: [f64; 24] = [
    7.052635161481294e-06,
    -9.134168171545493e-05,
    0.0005640470468749561,
    -0.0022182922947159675,
    0.006272452869646514,
    -0.013681798652825353,
    0.024201568316087836,
    -0.03618900077712484,
    0.04754268081630876,
    -0.05695417747434363,
    0.06439005510887204,
    -0.07065590302619552,
    0.0767085311258836,
    -0.08328518232057247,
    0.0909004843800691,
    -0.09999879751017936,
    0.11111098292058887,
    -0.12499998990410174,
    0.14285714229529992,
    -0.1666666666459546,
    0.1999999999995428,
    -0.24999999999999495,
    0.3333333333333333,
    -0.5,
];
