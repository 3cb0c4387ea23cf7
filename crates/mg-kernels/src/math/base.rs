//! Powers and logarithms of base 2 and 10.

// Coefficients of polynomials are what was fitted, also where they come near a constant.
#![allow(clippy::approx_constant)]

use super::log::{DOUBLE, LEAST, SINGLE, by_parts};
use super::{MAGIC_DOUBLE, MAGIC_SINGLE, fraction_bits, horner, lit};
use crate::lane::{BitLane, FloatLane, Format};

/// 2ˣ, within 0.80 ulp in single and 0.85 in double precision; exact where x is whole.
#[inline(always)]
pub fn exp2<L: FloatLane>(x: L) -> L {
    let low = lit(x, -151.0, -1076.0);
    let high = lit(x, 129.0, 1025.0);
    let y = L::select(x.lt(low), low, x);
    let y = L::select(high.lt(y), high, y);
    let magic = lit(x, MAGIC_SINGLE + 254.0, MAGIC_DOUBLE + 2046.0);
    let shifted = y.add(magic);
    let r = y.sub(shifted.sub(magic));
    let series = match x.format() {
        Format::Single => horner(r, EXP2_SINGLE),
        Format::Double => horner(r, EXP2_DOUBLE),
    };
    // n plus twice the exponent's bias, as two halves: the result may lie outside the normal numbers.
    let count = shifted.to_bits();
    let half = count.shr(1);
    let places = fraction_bits(x);
    let (first, second) = (L::from_bits(half.shl(places)), L::from_bits(count.sub(half).shl(places)));
    r.fma(series, x.lit(1.0)).mul(first).mul(second)
}

/// log₂ x, within 1.40 ulp in single and 1.10 in double precision; exact for powers of two.
#[inline(always)]
pub fn log2<L: FloatLane>(x: L) -> L {
    // The significand in [√½, √2): of n and the logarithm of that the larger is at least ½ after all.
    by_parts(x, (0x3f35_04f3, 0x3fe6_a09e_667f_3bcd), |n, significand| {
        let f = significand.sub(x.lit(1.0));
        let series = match x.format() {
            Format::Single => horner(f, LOG2_SINGLE),
            Format::Double => horner(f, LOG2_DOUBLE),
        };
        f.fma(x.lit(std::f64::consts::LOG2_E), f.mul(f).mul(series)).add(n)
    })
}

/// log₁₀ x, within 0.90 ulp in single and 0.80 in double precision; exact for powers of ten.
#[inline(always)]
pub fn log10<L: FloatLane>(x: L) -> L {
    // With x = 2ⁿ·(1 + f): n·`short` + n·`rest` + ln(1 + f)·`per_ln`, where n·`short` is exact.
    let per_ln = (lit(x, 0.4342945, std::f64::consts::LOG10_E), lit(x, -1.010305e-8, 1.098319650216765e-17));
    let (short, rest) =
        (lit(x, 0.301025390625, 0.30102999566383914), lit(x, 4.605038981195214e-6, 1.42050232272661e-13));
    by_parts(x, LEAST, |n, significand| {
        let f = significand.sub(x.lit(1.0));
        let series = match x.format() {
            Format::Single => horner(f, SINGLE),
            Format::Double => horner(f, DOUBLE),
        };
        let bend = f.mul(f).mul(f.fma(series, x.lit(-0.5)));
        let product = f.mul(per_ln.0);
        let product_tail = f.fma(per_ln.0, product.neg());
        let small = bend.fma(per_ln.0, f.fma(per_ln.1, product_tail));
        let whole = n.mul(short);
        let sum = whole.add(product);
        sum.add(whole.sub(sum).add(product).add(n.fma(rest, small)))
    })
}

/// (log₂(1 + f) − f·log₂ e)/f² on [√½ − 1, √2 − 1], with relative errors 2⁻²⁶ and 2⁻⁵⁸ of the logarithm.
const LOG2_SINGLE: [f64; 9] = [
    -0.116860084,
    0.18611291,
    -0.18826367,
    0.20450681,
    -0.23994954,
    0.28857732,
    -0.3606826,
    0.48089805,
    -0.7213475,
];
const LOG2_DOUBLE: [f64; 21] = [
    -0.03768153743724388,
    0.08462407975586105,
    -0.08973436140775796,
    0.0768949074576837,
    -0.07686003074805306,
    0.08420030052978324,
    -0.09047821780329754,
    0.09627009535930157,
    -0.10303310384118901,
    0.1109703015784641,
    -0.1202250997361592,
    0.1311543415841374,
    -0.1442694949953431,
    0.16029944335113724,
    -0.18033688020434072,
    0.20609929162498095,
    -0.24044917348080302,
    0.2885390081774033,
    -0.3606737602222452,
    0.48089834696298844,
    -0.7213475204444817,
];

/// (2ʳ − 1)/r on [−½, ½], with relative errors 2⁻³² and 2⁻⁶⁸.
const EXP2_SINGLE: [f64; 7] =
    [1.5297324e-05, 0.00015461445, 0.0013333502, 0.009618057, 0.05550411, 0.2402265, 0.6931472];
const EXP2_DOUBLE: [f64; 13] = [
    1.3716962392737587e-12,
    2.5733568308756892e-11,
    4.4455303091051067e-10,
    7.054894386348348e-09,
    1.0178086021185474e-07,
    1.3215486815999978e-06,
    1.5252733804051129e-05,
    0.00015403530393362755,
    0.0013333558146428445,
    0.009618129107628484,
    0.05550410866482158,
    0.24022650695910072,
    0.6931471805599453,
];
