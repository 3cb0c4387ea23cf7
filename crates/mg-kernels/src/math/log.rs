//! The natural logarithm, and the decomposition of its argument.

use super::{MAGIC_DOUBLE, MAGIC_SINGLE, fraction_bits, horner, lit};
use crate::lane::{BitLane, FloatLane, Format};

/// ln x, within 0.94 ulp in single and 1.00 in double precision. Zero of either sign gives −∞, a negative number NaN.
#[inline(always)]
pub fn log<L: FloatLane>(x: L) -> L {
    // The significand in [2/3, 4/3): one minus it is exact, and its logarithm never cancels against n·ln 2.
    by_parts(x, LEAST, log_of_parts)
}

/// A logarithm of `x` from what `of_parts` makes of n and the significand of a positive finite number, which is at least the number with the
/// bits `least` (single, double) and less than its double.
#[inline(always)]
pub(super) fn by_parts<L: FloatLane>(x: L, least: (i64, i64), of_parts: impl Fn(L, L) -> L) -> L {
    let normal = || L::both(smallest_normal(x).le(x), x.lt(x.lit(f64::INFINITY)));
    let fast = || {
        let (n, significand) = split_of_normal(x, least);
        of_parts(n, significand)
    };
    L::usually(normal, fast, || {
        let (n, significand) = split(x, least);
        x.logarithm(of_parts(n, significand))
    })
}

#[inline(always)]
fn smallest_normal<L: FloatLane>(x: L) -> L {
    lit(x, f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE)
}

/// The bits of 2/3, the least significand of [`log`].
pub(super) const LEAST: (i64, i64) = (0x3f2a_aaab, 0x3fe5_5555_5555_5555);

/// ln(`x`·2ⁿ), for `x` in [2/3, 4/3).
#[inline(always)]
pub(super) fn log_of_parts<L: FloatLane>(n: L, x: L) -> L {
    let f = x.sub(x.lit(1.0));
    times_ln2(n, ln_of_one_and(f, f))
}

/// n·ln 2 + `rest`, where that is at most ln 3/2 but for its sign.
#[inline(always)]
pub(super) fn times_ln2<L: FloatLane>(n: L, rest: L) -> L {
    let rest = match n.format() {
        // ln 2 is that much more than the nearest number: of what n makes of it nothing is seen.
        Format::Single => rest,
        Format::Double => n.fma(n.lit(2.3190468138462996e-17), rest),
    };
    n.fma(n.lit(std::f64::consts::LN_2), rest)
}

/// ln(1 + `f`) for f from −⅓ to ⅓, where `first` is f and what it lacks.
#[inline(always)]
pub(super) fn ln_of_one_and<L: FloatLane>(f: L, first: L) -> L {
    let series = match f.format() {
        Format::Single => horner(f, SINGLE),
        Format::Double => horner(f, DOUBLE),
    };
    f.mul(f).fma(f.fma(series, f.lit(-0.5)), first)
}

/// As [`split`] of a positive normal `x`.
#[inline(always)]
pub(super) fn split_of_normal<L: FloatLane>(x: L, (single, double): (i64, i64)) -> (L, L) {
    let magic = lit(x, MAGIC_SINGLE, MAGIC_DOUBLE);
    let bits = x.to_bits();
    let (least, field) = match x.format() {
        Format::Single => (single, -1 << 23),
        Format::Double => (double, -1 << 52),
    };
    let distance = bits.sub(bits.lit(least));
    let significand = L::from_bits(bits.sub(distance.and(bits.lit(field))));
    (L::from_bits(distance.sar(fraction_bits(x)).add(magic.to_bits())).sub(magic), significand)
}

/// ln x for normal numbers; of others it is some number.
#[inline(always)]
pub(super) fn log_of_fraction<L: FloatLane>(x: L) -> L {
    let (n, significand) = split_of_normal(x, LEAST);
    log_of_parts(n, significand)
}

/// `x` = significand·2ⁿ for positive finite `x`, with the significand at least the number with the given bits
/// (single, double) and less than its double.
#[inline(always)]
pub(super) fn split<L: FloatLane>(x: L, (single, double): (i64, i64)) -> (L, L) {
    let denormal = x.lt(smallest_normal(x));
    let normal = L::select(denormal, x.mul(lit(x, 16777216.0, 18014398509481984.0)), x);
    let magic = lit(x, MAGIC_SINGLE, MAGIC_DOUBLE);
    let magic_denormal = lit(x, MAGIC_SINGLE + 24.0, MAGIC_DOUBLE + 54.0);
    let bits = normal.to_bits();
    let (least, field) = match x.format() {
        Format::Single => (single, -1 << 23),
        Format::Double => (double, -1 << 52),
    };
    let distance = bits.sub(bits.lit(least));
    let significand = L::from_bits(bits.sub(distance.and(bits.lit(field))));
    let n = L::from_bits(distance.sar(fraction_bits(x)).add(magic.to_bits()));
    (n.sub(L::select(denormal, magic_denormal, magic)), significand)
}

/// ln 2 so short that its product with any exponent is exact, and the rest.
pub(super) const LN2_SHORT_SINGLE: f64 = 0.693145751953125;
pub(super) const LN2_REST_SINGLE: f64 = 1.4286068e-6;
pub(super) const LN2_SHORT_DOUBLE: f64 = 0.6931471805598903;
pub(super) const LN2_REST_DOUBLE: f64 = 5.497923018708371e-14;

/// (ln(1 + f) − f + f²/2)/f³ on [−1/3, 1/3], with relative error 2⁻²⁷ of the logarithm.
pub(super) const SINGLE: [f64; 8] =
    [-0.12893032, 0.13986897, -0.121839724, 0.14005306, -0.16680506, 0.20010446, -0.24999797, 0.33333215];
/// The same, with relative error 2⁻⁵⁹.
pub(super) const DOUBLE: [f64; 20] = [
    -0.08334361966245003,
    0.08495927139678584,
    -0.03839089107746044,
    0.04177617336411928,
    -0.05747025770976888,
    0.06051215911243136,
    -0.06230660114413601,
    0.0665073209975902,
    -0.07144110661663175,
    0.07693259953448144,
    -0.08333280831374267,
    0.09090872979531227,
    -0.1000000138757506,
    0.11111111953106034,
    -0.12499999978225801,
    0.142857142745029,
    -0.16666666666845348,
    0.2000000000007327,
    -0.2499999999999944,
    0.3333333333333317,
];

/// −x ln x: 0 at 0, −∞ below and at ∞; within 1.51 ulp where the logarithm is within 1.
#[inline(always)]
pub fn entr<L: FloatLane>(x: L) -> L {
    let zero = x.lit(0.0);
    // Of infinity the logarithm is only some positive number here, which is enough.
    let (n, significand) = split(x, LEAST);
    let result = x.mul(log_of_parts(n, significand)).neg();
    let result = L::select(x.eq(zero), zero, result);
    L::select(x.lt(zero), x.lit(f64::NEG_INFINITY), result)
}
