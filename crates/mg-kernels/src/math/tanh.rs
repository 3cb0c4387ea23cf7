//! The hyperbolic tangent.

use super::exp::Reduced;
use super::{lit, reciprocal, with_sign};
use crate::lane::FloatLane;

/// tanh x, within 0.85 ulp in single and 0.97 in double precision.
///
/// (1 − z)/(1 + z) with z = e^(−2|x|) = (1 + u)·2ⁿ. Numerator and denominator are carried as sums of two numbers;
/// the numerator does not cancel, because u is known better than 1 + u.
#[inline(always)]
pub fn tanh<L: FloatLane>(x: L) -> L {
    let least = lit(x, -18.1, -38.2);
    let y = x.abs().mul(x.lit(-2.0));
    let reduced = Reduced::new(L::select(y.lt(least), least, y), 1);
    let scale = reduced.scale();
    let sum = reduced.sum().mul(scale);
    // Sums whose first term is the larger one: subtraction finds what their rounding loses.
    let less = x.lit(1.0).sub(scale);
    let numerator = less.sub(sum);
    let numerator_tail = scale.neg().fma(reduced.sum_tail(), less.sub(numerator).sub(sum));
    // 1 + z = (1 − 2ⁿ) + 2·2ⁿ + 2ⁿu: where 1 − 2ⁿ was rounded, numerator and denominator err alike.
    let denominator = x.lit(2.0).sub(numerator);
    let denominator_tail = scale.fma(x.lit(2.0), less.sub(denominator)).add(sum);
    let r = reciprocal(denominator);
    let quotient = numerator.mul(r);
    let remainder = quotient.neg().fma(denominator, numerator).add(numerator_tail);
    let remainder = quotient.neg().fma(denominator_tail, remainder);
    with_sign(remainder.fma(r, quotient), x)
}
