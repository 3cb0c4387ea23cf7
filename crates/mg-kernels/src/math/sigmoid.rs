//! The logistic function.

use super::exp::exp_below;
use super::reciprocal;
use crate::lane::FloatLane;

/// 1/(1 + e⁻ˣ), within 1.50 ulp in single and 1.50 in double precision, with denormal results where they are due.
///
/// With z = e^(−|x|) it is 1/(1 + z) for positive and z/(1 + z) for negative x; the denominator is carried as a sum of two numbers.
#[inline(always)]
pub fn sigmoid<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    let z = exp_below(x.abs().neg());
    let denominator = one.add(z);
    let denominator_tail = one.sub(denominator).add(z);
    let numerator = L::select(x.lt(x.lit(0.0)), z, one);
    let r = reciprocal(denominator);
    let quotient = numerator.mul(r);
    let remainder = quotient.neg().fma(denominator, numerator);
    let remainder = quotient.neg().fma(denominator_tail, remainder);
    remainder.fma(r, quotient)
}
