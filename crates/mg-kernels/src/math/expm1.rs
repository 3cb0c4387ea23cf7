//! eˣ − 1 and ln(1 + x), which keep their digits next to zero.

use super::exp::Reduced;
use super::log::{ln_of_one_and, times_ln2};
use super::{MAGIC_DOUBLE, MAGIC_SINGLE, fraction_bits, lit};
use crate::lane::{BitLane, FloatLane, Format};

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

/// ln(1 + x), within 1.05 ulp in single and 1.00 in double precision. −1 gives −∞, what is below it NaN.
#[inline(always)]
pub fn log1p<L: FloatLane>(x: L) -> L {
    let inside = || L::both(x.lit(-1.0).lt(x), x.lt(x.lit(f64::INFINITY)));
    let result = L::usually(inside, || log1p_inside(x), || x.lit(1.0).add(x).logarithm(log1p_inside(x)));
    let tiny = lit(x, 2.9802322387695312e-8, 5.551115123125783e-17);
    L::select(x.abs().lt(tiny), x, result)
}

/// ln(1 + x) for finite x above −1; a zero may lose its sign.
///
/// The logarithm of 1 + x = 2ᵏ·(1 + f) as in [`log`](super::log()), with k from the rounded sum: f is (2⁻ᵏ − 1) + 2⁻ᵏ·x, of which both terms
/// are exact, and the sum too but for k = 1.
#[inline(always)]
pub(super) fn log1p_inside<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    let bits = one.add(x).to_bits();
    let (least, field) = match x.format() {
        Format::Single => (0x3f2a_aaab, -1 << 23),
        Format::Double => (0x3fe5_5555_5555_5555, -1 << 52),
    };
    let distance = bits.sub(bits.lit(least));
    let power = distance.and(bits.lit(field));
    let part = L::from_bits(x.to_bits().sub(power));
    // From 2²⁻ᵏ, which is a normal number where 2⁻ᵏ need not be.
    let less = L::from_bits(x.lit(4.0).to_bits().sub(power)).fma(x.lit(0.25), one.neg());
    let f = part.add(less);
    let lost = part.sub(f.sub(less));
    let magic = lit(x, MAGIC_SINGLE, MAGIC_DOUBLE);
    let n = L::from_bits(distance.sar(fraction_bits(x)).add(magic.to_bits())).sub(magic);
    // What was lost over 1 + f.
    times_ln2(n, ln_of_one_and(f, f.neg().fma(lost, lost)).add(f))
}
