//! The inverse functions of sine, cosine and tangent.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::{horner, lit, with_sign};
use crate::lane::{BitLane, FloatLane, Format, Lane};

/// arctan x, within 0.75 ulp in single and 0.75 in double precision.
#[inline(always)]
pub fn atan<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    // Beyond this the result rounds to π/2.
    let most = x.lit(1152921504606846976.0);
    let a = x.abs();
    let a = L::select(most.lt(a), most, a);
    let steep = one.lt(a);
    let angle = Angle::of(L::select(steep, one, a), L::select(steep, a, one));
    let zero = x.lit(0.0);
    let (quarter, eighth) = (half_pi(x), quarter_pi(x));
    let base = pick(angle.diagonal, eighth, pick::<L>(steep, quarter, (zero, zero)));
    with_sign(angle.beside(base, steep), x)
}

/// The angle of the point (x, y) with the first axis, from −π to π, within 0.75 ulp in single and 0.75 in double
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
    // Away from where sums overflow and remainders vanish, which do so by the smaller one.
    let large = lit(x, 1.0633823966279327e37, 1.1235582092889474e307).lt(high);
    let small = high.lt(lit(x, 2.8823037615171174e17, 4.149515568880993e180));
    let up = lit(x, 1.8446744073709552e19, 1.6069380442589903e60);
    let by = L::select(large, x.lit(0.0625), L::select(small, up, one));
    let angle = Angle::of(low.mul(by), high.mul(by));
    let bits = x.to_bits();
    let behind = bits.lt(bits.lit(0));
    let (whole, quarter, eighth) = (pi(x), half_pi(x), quarter_pi(x));
    let three_eighths = (lit(x, 2.3561945, 2.356194490192345), lit(x, -5.9624403e-9, 9.184850993605148e-17));
    let diagonal = pick::<L>(behind, three_eighths, eighth);
    let axis = pick::<L>(steep, quarter, pick::<L>(behind, whole, (zero, zero)));
    let base = pick(angle.diagonal, diagonal, axis);
    // From the second axis to the first in front, and from the first one behind.
    let back = L::both(L::either(steep, behind), L::not(L::both(steep, behind)));
    let result = angle.beside(base, back);
    let result = L::select(L::either(x.is_nan(), y.is_nan()), x.add(y), result);
    with_sign(result.abs(), y)
}

/// arcsin x, within 0.65 ulp in single and 0.65 in double precision; NaN outside [−1, 1].
#[inline(always)]
pub fn asin<L: FloatLane>(x: L) -> L {
    let two = x.lit(2.0);
    let sine = Sine::of(x);
    // π/2 − 2·arcsin √((1 − |x|)/2).
    let (high, low) = half_pi(x);
    let minus = sine.arc.mul(two).neg();
    let minus_tail = sine.tail.mul(two).neg();
    let sum = high.add(minus);
    let far = sum.add(high.sub(sum).add(minus).add(low.add(minus_tail)));
    let result = L::select(sine.far, far, sine.arc.add(sine.tail));
    L::select(x.is_nan(), x, with_sign(result.abs(), x))
}

/// arccos x, within 0.65 ulp in single and 0.65 in double precision; NaN outside [−1, 1].
#[inline(always)]
pub fn acos<L: FloatLane>(x: L) -> L {
    let (zero, one, two) = (x.lit(0.0), x.lit(1.0), x.lit(2.0));
    let sine = Sine::of(x);
    let negative = x.lt(zero);
    // π/2 − arcsin x; 2·arcsin √((1 − x)/2); π − 2·arcsin √((1 + x)/2).
    let base = pick(sine.far, pick::<L>(negative, pi(x), (zero, zero)), half_pi(x));
    let forward = L::either(L::both(sine.far, L::not(negative)), L::both(L::not(sine.far), negative));
    let factor = L::select(sine.far, two, one);
    let factor = L::select(forward, factor, factor.neg());
    let (part, part_tail) = (sine.arc.mul(factor), sine.tail.mul(factor));
    let sum = base.0.add(part);
    let result = sum.add(base.0.sub(sum).add(part).add(base.1.add(part_tail)));
    L::select(x.is_nan(), x, result)
}

/// A constant as a sum of two numbers.
type Pair<L> = (L, L);

fn pi<L: FloatLane>(x: L) -> Pair<L> {
    (x.lit(PI), lit(x, -8.742278e-8, 1.2246467991473532e-16))
}

fn half_pi<L: FloatLane>(x: L) -> Pair<L> {
    (x.lit(FRAC_PI_2), lit(x, -4.371139e-8, 6.123233995736766e-17))
}

fn quarter_pi<L: FloatLane>(x: L) -> Pair<L> {
    (x.lit(FRAC_PI_4), lit(x, -2.1855694e-8, 3.061616997868383e-17))
}

#[inline(always)]
fn pick<L: Lane>(mask: L::Mask, a: Pair<L>, b: Pair<L>) -> Pair<L> {
    (L::select(mask, a.0, b.0), L::select(mask, a.1, b.1))
}

/// The angle whose tangent is a quotient, less π/4 where that is nearer than 0.
struct Angle<L: Lane> {
    /// Whether π/4 is to be added.
    diagonal: L::Mask,
    /// The angle's tangent,
    part: L,
    /// and what it lacks to the angle itself.
    tail: L,
}

impl<L: FloatLane> Angle<L> {
    /// Of 0 ≤ `low` ≤ `high`, both so that their sum does not overflow.
    #[inline(always)]
    fn of(low: L, high: L) -> Self {
        let zero = low.lit(0.0);
        let diagonal = high.mul(low.lit(0.41421356237309503)).lt(low);
        // tan(a − π/4) = (tan a − 1)/(tan a + 1).
        let less = low.sub(high);
        let more = high.add(low);
        let numerator = L::select(diagonal, less, low);
        let numerator_tail = L::select(diagonal, low.sub(less.add(high)), zero);
        let denominator = L::select(diagonal, more, high);
        let denominator_tail = L::select(diagonal, low.sub(more.sub(high)), zero);
        // The quotient need not be rounded correctly: what it lacks is in the remainder.
        let inverse = low.lit(1.0).quotient(denominator);
        let part = numerator.mul(inverse);
        let rest = part.neg().fma(denominator, numerator).add(numerator_tail);
        let rest = part.neg().fma(denominator_tail, rest).mul(inverse);
        let square = part.mul(part);
        // The slope of the arc.
        let rest = square.neg().fma(rest, rest);
        let series = match low.format() {
            Format::Single => horner(square, ATAN_SINGLE),
            Format::Double => horner(square, ATAN_DOUBLE),
        };
        Angle { diagonal, part, tail: square.mul(series).fma(part, rest) }
    }

    /// `base` and the angle, or where `back` holds `base` less the angle.
    #[inline(always)]
    fn beside(self, base: Pair<L>, back: L::Mask) -> L {
        let part = L::select(back, self.part.neg(), self.part);
        let tail = L::select(back, self.tail.neg(), self.tail);
        let sum = base.0.add(part);
        sum.add(base.0.sub(sum).add(part).add(base.1.add(tail)))
    }
}

/// The arc of a sine of at most ½: of |x| or, where that is more, of √((1 − |x|)/2).
struct Sine<L: Lane> {
    /// Whether |x| is more than ½.
    far: L::Mask,
    /// The sine,
    arc: L,
    /// and what it lacks to its arc.
    tail: L,
}

impl<L: FloatLane> Sine<L> {
    #[inline(always)]
    fn of(x: L) -> Self {
        let half = x.lit(0.5);
        let a = x.abs();
        let far = half.lt(a);
        let square = L::select(far, half.mul(x.lit(1.0).sub(a)), a.mul(a));
        let root = square.sqrt();
        // What the root lost by its rounding.
        let lost = root.neg().fma(root, square).quotient(root.add(root));
        let lost = L::select(L::both(far, L::not(root.eq(x.lit(0.0)))), lost, x.lit(0.0));
        let arc = L::select(far, root, a);
        let series = match x.format() {
            Format::Single => horner(square, ASIN_SINGLE),
            Format::Double => horner(square, ASIN_DOUBLE),
        };
        Sine { far, arc, tail: square.mul(series).fma(arc, lost) }
    }
}

/// (arctan t − t)/t³ in t² for |t| ≤ √2 − 1, with errors 2⁻³⁰ and 2⁻⁶⁴.
const ATAN_SINGLE: [f64; 6] = [0.05048055, -0.08624644, 0.11071361, -0.1428415, 0.19999978, -0.33333334];
const ATAN_DOUBLE: [f64; 13] = [
    -0.013917695219310572,
    0.03063517636855608,
    -0.041044134902075015,
    0.0471938939438005,
    -0.052580406718134826,
    0.058819251621305094,
    -0.06666642013802823,
    0.07692306735718386,
    -0.09090909067001965,
    0.11111111110754596,
    -0.14285714285711518,
    0.19999999999999993,
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
