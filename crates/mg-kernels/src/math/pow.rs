//! Powers.

use super::exp::exp_of_sum;
use super::log::{LN2_REST_DOUBLE, LN2_REST_SINGLE, LN2_SHORT_DOUBLE, LN2_SHORT_SINGLE, split};
use super::{bits, horner, lit, sign_bit};
use crate::lane::{BitLane, FloatLane, Format};

/// xʸ, with the special cases of C's `pow` (ISO/IEC 9899:2018, F.10.4.4): 1 where y = 0 or x = 1 even if the other
/// is NaN, NaN where x < 0 and y is no integer, signed zeros and infinities by the parity of y.
///
/// Where the result is a normal number it errs by at most 0.98 ulp in single and 0.99 ulp in double precision (the
/// largest seen over some 10⁹ and 10⁷ arguments, most of them chosen near the worst), little enough before the last
/// rounding that whole squares, cubes and their like come out exact.
///
/// e^(y·ln|x|) with the logarithm and the product as sums of two numbers, after Tang, "Table-driven implementation of
/// the logarithm function in IEEE floating-point arithmetic", ACM TOMS 16, 1990, with so short a table (four entries)
/// that it is held in selections. What is asked of y is asked where x is no positive number, or the power nears the ends of the
/// format: seldom.
#[inline(always)]
pub fn pow<L: FloatLane>(x: L, y: L) -> L {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    // Even the least logarithm, half an ulp, times this overflows or underflows the exponential.
    let most = lit(y, 1099511627776.0, 1180591620717411303424.0);
    let value = y.between(most.neg(), most);
    let magnitude = x.abs();
    let (ln, ln_tail) = log_sum(magnitude);
    let power = value.mul(ln);
    let power_tail = value.fma(ln, power.neg());
    let power_tail = value.fma(ln_tail, power_tail);
    let result = exp_of_sum(power, power_tail);
    // Beyond these the scaling above is void; overflow and underflow inside them are its own.
    let limit = lit(x, 160.0, 1300.0);
    let usual = L::both(L::both(zero.lt(x), x.lt(infinity)), power.abs().lt(limit));
    let [result] = L::seldom(L::not(usual), [result], |[result]| {
        let exponent = Exponent::new(y, value);
        let result = L::select(limit.lt(power), infinity, result);
        let result = L::select(power.lt(limit.neg()), zero, result);
        // An infinite or NaN x, and a negative one under a fraction, make NaN of it.
        let sign_mask = x.to_bits().sar(bits(x) - 1);
        let poison = L::from_bits(magnitude.to_bits().or(sign_mask.and(exponent.fraction)));
        let result = poison.fma(zero, result);
        // Zero and infinity are the numbers that doubling leaves alone.
        let doubled = magnitude.fma(x.lit(2.0), exponent.unordered);
        let limit_case = L::from_bits(magnitude.to_bits().xor(exponent.reciprocal));
        let result = L::select(doubled.eq(magnitude), limit_case, result);
        let result = L::from_bits(result.to_bits().or(x.to_bits().and(exponent.odd)));
        [L::select(L::either(x.eq(one), exponent.zero), one, result)]
    });
    result
}

/// What [`pow`] asks of y.
struct Exponent<L: FloatLane> {
    /// y is zero.
    zero: L::Mask,
    /// The sign bit where y is an odd integer.
    odd: L::Bits,
    /// All bits where y is not an integer.
    fraction: L::Bits,
    /// The bits of infinity, which turn zero and infinity into each other, where y is negative.
    reciprocal: L::Bits,
    /// NaN where y is NaN, else zero.
    unordered: L,
}

impl<L: FloatLane> Exponent<L> {
    /// Of y, and of what it comes to where no product with a logarithm overflows.
    #[inline(always)]
    fn new(y: L, value: L) -> Self {
        let zero = y.lit(0.0);
        let none = y.to_bits().lit(0);
        // The distance from the nearest even number; from 2ᵖ⁺¹ on all are even.
        let even = lit(y, 16777216.0, 9007199254740992.0);
        let magnitude = y.abs();
        let magnitude = L::select(even.lt(magnitude), even, magnitude);
        let rounder = lit(y, 8388608.0, 4503599627370496.0);
        let nearest = magnitude.fma(y.lit(0.5), rounder).sub(rounder);
        let distance = nearest.fma(y.lit(-2.0), magnitude).abs();
        let odd = distance.eq(y.lit(1.0));
        let integer = L::either(odd, distance.eq(zero));
        Exponent {
            zero: y.eq(zero),
            odd: L::Bits::select(odd, sign_bit(y), none),
            fraction: L::Bits::select(integer, none, none.lit(-1)),
            reciprocal: L::Bits::select(y.lt(zero), y.lit(f64::INFINITY).to_bits(), none),
            unordered: value.mul(zero),
        }
    }
}

/// ln `x` as a sum of two numbers, with relative error 2⁻³² (single) or 2⁻⁶⁴ (double), for positive finite `x`.
#[inline(always)]
fn log_sum<L: FloatLane>(x: L) -> (L, L) {
    let (n, significand) = split(x, (0x3f4c_cccd, 0x3fe9_9999_9999_999a));
    // Times one of four short factors the significand is so near 1 that the difference is exact, and nearest where
    // a logarithm next to zero asks for the most accuracy.
    let below = significand.lt(x.lit(0.9411764705882353));
    let above = x.lit(1.0666666666666667).le(significand);
    let far = x.lit(1.28).le(significand);
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let pick = |a: L, b: L, c: L, d: L| L::select(far, d, L::select(above, c, L::select(below, a, b)));
    let f = significand.fma(pick(x.lit(1.125), one, x.lit(0.875), x.lit(0.6875)), one.neg());
    let log_high = pick(
        lit(x, -0.1177825927734375, -0.11778303565643),
        zero,
        lit(x, 0.1335296630859375, 0.13353139262449076),
        lit(x, 0.37469482421875, 0.3746934494413381),
    );
    let log_low = pick(
        lit(x, -4.4288294e-07, 4.654729747598445e-14),
        zero,
        lit(x, 1.7295386e-06, 3.1859736349078334e-14),
        lit(x, -1.3747773e-06, 7.260466149925637e-14),
    );
    // Both parts of n·ln 2 are short, so that the larger sum is exact.
    let whole = n.fma(lit(x, LN2_SHORT_SINGLE, LN2_SHORT_DOUBLE), log_high);
    let whole_tail = n.fma(lit(x, LN2_REST_SINGLE, LN2_REST_DOUBLE), log_low);

    // f − f/2·(1 + rest)·f, where only `rest` errs.
    let (rest, rest_tail) = match x.format() {
        Format::Single => {
            let series = horner(f, SINGLE);
            let rest = f.mul(series);
            (rest, f.fma(series, rest.neg()))
        }
        Format::Double => {
            let third = x.lit(-0.6666666666666666);
            let series = f.mul(horner(f, DOUBLE));
            let factor = third.add(series);
            let factor_tail = third.sub(factor).add(series).add(x.lit(-3.700743415417188e-17));
            let rest = f.mul(factor);
            (rest, f.fma(factor_tail, f.fma(factor, rest.neg())))
        }
    };
    let half = f.mul(x.lit(-0.5));
    let slope = half.fma(rest, half);
    let slope_tail = half.fma(rest_tail, half.fma(rest, half.sub(slope)));
    let fraction = slope.fma(f, f);
    let fraction_tail = slope_tail.fma(f, slope.fma(f, f.sub(fraction)));
    let sum = whole.add(fraction);
    (sum, whole.sub(sum).add(fraction).add(fraction_tail.add(whole_tail)))
}

/// −2·(ln(1 + f) − f + f²/2)/f³ on [−0.12, 0.12], with relative error 2⁻³⁴ of the logarithm.
const SINGLE: [f64; 6] = [0.25622436, -0.29209667, 0.33327308, -0.3999447, 0.5000002, -0.6666668];
/// −2·(ln(1 + f) − f + f²/2 − f³/3)/f⁴ on [−0.12, 0.12], with relative error 2⁻⁷¹ of the logarithm.
const DOUBLE: [f64; 14] = [
    -0.12456701531792234,
    0.13196310994193683,
    -0.13314968638419078,
    0.142682068140007,
    -0.1538487317152945,
    0.1666689744303999,
    -0.181818161254317,
    0.19999998291378823,
    -0.2222222223144809,
    0.2500000000700419,
    -0.2857142857140735,
    0.33333333333318926,
    -0.4000000000000002,
    0.5000000000000001,
];
