//! The hyperbolic tangent.

use super::exp::Reduced;
use super::{lit, reciprocal, with_sign};
use crate::lane::FloatLane;

/// tanh x, within 2.00 ulp in single and 1.90 in double precision.
///
/// (1 − z)/(1 + z) with z = e^(−2|x|) = (1 + u)·2ⁿ. The numerator does not cancel, because u is known better than 1 + u.
#[inline(always)]
pub fn tanh<L: FloatLane>(x: L) -> L {
    let y = x.abs().mul(x.lit(-2.0)).at_least(lit(x, -18.1, -38.2));
    let reduced = Reduced::new(y, 1);
    let scale = reduced.scale();
    let numerator = scale.neg().fma(reduced.sum(), x.lit(1.0).sub(scale));
    // 1 + z = 2 − (1 − z).
    let two = x.lit(2.0);
    let denominator = two.sub(numerator);
    let denominator_tail = two.sub(denominator).sub(numerator);
    let r = reciprocal(denominator);
    let quotient = numerator.mul(r);
    let remainder = quotient.neg().fma(denominator, numerator);
    let remainder = quotient.neg().fma(denominator_tail, remainder);
    with_sign(remainder.fma(r, quotient), x)
}
