//! The inverse functions of sine, cosine and tangent.

use super::{horner, lit, with_sign};
use crate::lane::{BitLane, FloatLane, Format};

/// arctan x, within 1.60 ulp in single and 1.30 in double precision.
///
/// One polynomial on [0, 1], and π/2 less the arc of 1/|x| beyond.
#[inline(always)]
pub fn atan<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    // Beyond this the result rounds to π/2.
    let most = x.lit(1152921504606846976.0);
    let a = x.abs();
    let a = L::select(most.lt(a), most, a);
    let steep = one.lt(a);
    let arc = arc_of_tangent(L::select(steep, one.quotient(a), a));
    with_sign(L::select(steep, half_pi_less(arc), arc), x)
}

/// The angle of the point (x, y) with the first axis, from −π to π, within 2.00 ulp in single and 2.00 in double
/// precision, with the special cases of C's `atan2` (ISO/IEC 9899:2018, F.10.1.4).
#[inline(always)]
pub fn atan2<L: FloatLane>(y: L, x: L) -> L {
    let (zero, one, infinity) = (x.lit(0.0), x.lit(1.0), x.lit(f64::INFINITY));
    let (a, b) = (x.abs(), y.abs());
    let steep = a.lt(b);
    let (low, high) = (L::select(steep, a, b), L::select(steep, b, a));
    // Of infinities and zeros only their order matters.
    let endless = high.eq(infinity);
    let low = L::select(endless, L::select(low.eq(infinity), one, zero), low);
    let high = L::select(L::either(endless, high.eq(zero)), one, high);
    // Away from where the reciprocal and the remainder leave the format, which they do by the larger one.
    let large = lit(x, 1.0633823966279327e37, 1.1235582092889474e307).lt(high);
    let small = high.lt(lit(x, 2.8823037615171174e17, 4.149515568880993e180));
    let up = lit(x, 1.8446744073709552e19, 1.6069380442589903e60);
    let by = L::select(large, x.lit(0.0625), L::select(small, up, one));
    let (low, high) = (low.mul(by), high.mul(by));
    let inverse = one.quotient(high);
    let slope = low.mul(inverse);
    let slope = slope.neg().fma(high, low).fma(inverse, slope);
    let arc = arc_of_tangent(slope);
    let arc = L::select(steep, half_pi_less(arc), arc);
    let bits = x.to_bits();
    let behind = bits.lt(bits.lit(0));
    let result = L::select(behind, pi_less(arc), arc);
    let result = L::select(L::either(x.is_nan(), y.is_nan()), x.add(y), result);
    with_sign(result.abs(), y)
}

/// arcsin x, within 1.90 ulp in single and 1.80 in double precision; NaN outside [−1, 1].
#[inline(always)]
pub fn asin<L: FloatLane>(x: L) -> L {
    let (far, arc) = arc_of_sine(x);
    with_sign(L::select(far, half_pi_less(arc.add(arc)), arc).abs(), x)
}

/// arccos x, within 1.10 ulp in single and 1.10 in double precision; NaN outside [−1, 1].
#[inline(always)]
pub fn acos<L: FloatLane>(x: L) -> L {
    let (far, arc) = arc_of_sine(x);
    let negative = x.lt(x.lit(0.0));
    // π/2 − arcsin x; 2·arcsin √((1 − x)/2); π − 2·arcsin √((1 + x)/2).
    let near = half_pi_less(L::select(negative, arc.neg(), arc));
    let double = arc.add(arc);
    L::select(far, L::select(negative, pi_less(double), double), near)
}

/// π/2 − `arc`, rounded once: π/2 is the product of two numbers.
#[inline(always)]
fn half_pi_less<L: FloatLane>(arc: L) -> L {
    let (one, other) = (lit(arc, 0.9589267, 0.9261119386855196), lit(arc, 1.6380776, 1.6961192931217497));
    one.fma(other, arc.neg())
}

/// π − `arc`, rounded once.
#[inline(always)]
fn pi_less<L: FloatLane>(arc: L) -> L {
    let (one, other) = (lit(arc, 1.9178534, 1.852223877371039), lit(arc, 1.6380776, 1.6961192931217497));
    one.fma(other, arc.neg())
}

/// The arc whose tangent is `t`, from 0 to 1.
#[inline(always)]
fn arc_of_tangent<L: FloatLane>(t: L) -> L {
    let square = t.mul(t);
    let series = match t.format() {
        Format::Single => horner(square, ATAN_SINGLE),
        Format::Double => horner(square, ATAN_DOUBLE),
    };
    square.mul(series).fma(t, t)
}

/// Whether |x| is more than ½; the arc of the sine |x|, or where it is more of √((1 − |x|)/2), half of what the arc of x lacks to π/2.
#[inline(always)]
fn arc_of_sine<L: FloatLane>(x: L) -> (L::Mask, L) {
    let half = x.lit(0.5);
    let a = x.abs();
    let far = half.lt(a);
    let less = half.neg().fma(a, half);
    let square = L::select(far, less, a.mul(a));
    let arc = L::select(far, less.root(), a);
    let series = match x.format() {
        Format::Single => horner(square, ASIN_SINGLE),
        Format::Double => horner(square, ASIN_DOUBLE),
    };
    (far, square.mul(series).fma(arc, arc))
}

/// (arctan t − t)/t³ in t² for t from 0 to 1, with errors 2⁻²⁶ and 2⁻⁵⁷ of arctan t.
const ATAN_SINGLE: [f64; 9] = [
    -0.002476516,
    0.013860541,
    -0.03643303,
    0.06296261,
    -0.086774774,
    0.11038583,
    -0.1427907,
    0.19999751,
    -0.3333333,
];
const ATAN_DOUBLE: [f64; 21] = [
    -1.2088404172441197e-05,
    0.0001393460218344292,
    -0.0007628466230276944,
    0.0026527894283751123,
    -0.00663066882986759,
    0.012829124470066034,
    -0.020310411531405833,
    0.027620860101173112,
    -0.03377945593106907,
    0.03873840930576679,
    -0.04308466536877657,
    0.04752148126165863,
    -0.0526126780415398,
    0.05882072710734638,
    -0.06666635726456883,
    0.07692305240372528,
    -0.09090908958430526,
    0.1111111110658512,
    -0.14285714285627468,
    0.19999999999999243,
    -0.3333333333333333,
];
/// (arcsin t − t)/t³ in t² for |t| ≤ ½, with errors 2⁻²⁷ and 2⁻⁵⁹.
const ASIN_SINGLE: [f64; 6] = [0.033690847, 0.017149238, 0.031100662, 0.044599403, 0.07500094, 0.16666666];
const ASIN_DOUBLE: [f64; 14] = [
    0.02961201126495512,
    -0.01924167174674304,
    0.019554513336123378,
    0.0030448799094556773,
    0.009319560794767446,
    0.009621842970100282,
    0.011566459612121669,
    0.01396378001220357,
    0.017352816540325496,
    0.02237215744350722,
    0.03038194447553234,
    0.044642857142551895,
    0.07500000000000118,
    0.16666666666666666,
];
