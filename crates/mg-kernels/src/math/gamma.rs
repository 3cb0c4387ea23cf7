//! The logarithm of the gamma function, and its derivative.

// Coefficients of polynomials are what was fitted, also where they come near a constant.
#![allow(clippy::approx_constant)]

use std::f64::consts::PI;

use super::log::log_of_fraction;
use super::{horner, lit, log, round, with_sign};
use crate::lane::{FloatLane, Format};

/// ln |Γ(x)|, within 5.50 ulp in single and 5.00 in double precision for positive x; for negative x within so much
/// of the largest of the terms that are added. ∞ at 0 and at negative whole numbers.
///
/// A polynomial about 2, to which Γ(x + 1) = x Γ(x) leads, and Stirling's series from 8.5 on; Euler's reflection below 0.
#[inline(always)]
pub fn lgamma<L: FloatLane>(x: L) -> L {
    let (zero, one, two, half) = (x.lit(0.0), x.lit(1.0), x.lit(2.0), x.lit(0.5));
    let negative = x.lt(zero);
    let a = x.abs();
    // ln |Γ(−a)| = ln(π/|sin πa|) − ln Γ(1 + a).
    let b = L::select(negative, one.add(a), a);
    // A polynomial about 2 where its argument is at most ½, of b itself or from one step below.
    let low = b.lt(x.lit(1.5));
    let at = b.sub(L::select(low, one, two));
    let near = at.fma(about_two(at), log_of_fraction(L::select(low, b, one)).neg());
    let usual = L::both(half.le(b), b.lt(x.lit(2.5)));
    let [positive] = L::seldom(L::not(usual), [near], |_| {
        let (lower, big) = (b.lt(half), x.lit(8.5).le(b));
        // Where the polynomial is taken, and the product of the steps that lead there.
        let mut at = L::select(lower, b, b.sub(two));
        let mut above = one;
        for _ in 0..6 {
            let far = half.lt(at);
            above = L::select(far, above.mul(at.add(one)), above);
            at = L::select(far, at.sub(one), at);
        }
        // Below ½ it is two steps that lead away.
        let above = L::select(lower, b.mul(b.add(one)), above);
        let ln = log(L::select(big, b, above));
        let near = at.fma(about_two(at), L::select(lower, ln.neg(), ln));
        let r = one.div(b);
        let square = r.mul(r);
        let series = match x.format() {
            Format::Single => horner(square, STIRLING_SINGLE),
            Format::Double => horner(square, STIRLING_DOUBLE),
        };
        let rest = r.fma(series, x.lit(0.4189385332046727));
        [L::select(big, b.sub(half).fma(ln.sub(one), rest), near)]
    });
    // ln π less the logarithm: a quotient might overflow.
    let [result] = L::seldom(negative, [positive], |[positive]| {
        let sine = sine_of_turns(a).0;
        // Next to 0 the sine is πa, which a denormal number need not hold.
        let tiny = a.lt(lit(x, 1e-30, 1e-290));
        let ln_pi = L::select(tiny, zero, x.lit(1.1447298858494002));
        let reflected = ln_pi.sub(log(L::select(tiny, a, sine))).sub(positive);
        // Whole numbers, so large ones among them that both terms are infinite.
        [L::select(sine.eq(zero), x.lit(f64::INFINITY), reflected)]
    });
    L::select(a.lt(x.lit(f64::INFINITY)), result, L::select(x.is_nan(), x, a))
}

/// The derivative of ln Γ(x), within 4 ulp in single and 4.00 in double precision of the largest of the terms
/// that are added. ∓∞ at ±0, NaN at negative whole numbers.
///
/// Steps up to where the asymptotic series holds; reflection below 0.
#[inline(always)]
pub fn digamma<L: FloatLane>(x: L) -> L {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let negative = x.lt(zero);
    let a = x.abs();
    let mut b = L::select(negative, one.add(a), a);
    let enough = lit(x, 6.0, 10.0);
    let mut steps = zero;
    let most = match x.format() {
        Format::Single => 6,
        Format::Double => 10,
    };
    for _ in 0..most {
        let small = b.lt(enough);
        steps = L::select(small, steps.add(one.div(b)), steps);
        b = L::select(small, b.add(one), b);
    }
    let r = one.div(b);
    let square = r.mul(r);
    let series = match x.format() {
        Format::Single => horner(square, DIGAMMA_SINGLE),
        Format::Double => horner(square, DIGAMMA_DOUBLE),
    };
    let positive = log(b).sub(r.fma(x.lit(0.5), square.mul(series))).sub(steps);
    let (sine, cosine) = sine_of_turns(a);
    let whole = sine.eq(zero);
    let reflected = positive.add(x.lit(PI).mul(cosine).div(sine));
    let reflected = L::select(whole, x.lit(f64::NAN), reflected);
    let result = L::select(negative, reflected, positive);
    let result = L::select(a.eq(x.lit(f64::INFINITY)), L::select(negative, x.lit(f64::NAN), a), result);
    let result = L::select(a.eq(zero), with_sign(x.lit(f64::INFINITY), x).neg(), result);
    L::select(x.is_nan(), x, result)
}

/// ln Γ(2 + t)/t on [−½, ½].
#[inline(always)]
fn about_two<L: FloatLane>(t: L) -> L {
    match t.format() {
        Format::Single => horner(t, GAMMA_SINGLE),
        Format::Double => horner(t, GAMMA_DOUBLE),
    }
}

/// |sin πa|, and cos πa with the sign that makes their quotient that of the tangent, for a ≥ 0.
#[inline(always)]
fn sine_of_turns<L: FloatLane>(a: L) -> (L, L) {
    let r = a.sub(round(a));
    let size = r.abs();
    let sine = |t: L| {
        let square = t.mul(t);
        t.mul(match a.format() {
            Format::Single => horner(square, SINE_PI_SINGLE),
            Format::Double => horner(square, SINE_PI_DOUBLE),
        })
    };
    let cosine = sine(a.lit(0.5).sub(size));
    (sine(size), L::select(r.lt(a.lit(0.0)), cosine.neg(), cosine))
}

/// ln Γ(2 + t)/t on [−½, ½], with errors 2⁻³² and 2⁻⁶³.
const GAMMA_SINGLE: [f64; 10] = [
    0.00011347282,
    -0.0002538171,
    0.0005065171,
    -0.00118586,
    0.0028907952,
    -0.007386174,
    0.0205808,
    -0.06735228,
    0.32246703,
    0.42278433,
];
const GAMMA_DOUBLE: [f64; 20] = [
    6.379047507619774e-08,
    -1.3412819758517287e-07,
    2.0304806751615227e-07,
    -4.303558760359961e-07,
    9.578663334114758e-07,
    -2.0449201467015115e-06,
    4.374374916915131e-06,
    -9.438458716242811e-06,
    2.050726741605779e-05,
    -4.4926351103833334e-05,
    9.945750909889392e-05,
    -0.00022315475074520367,
    0.0005096695248853096,
    -0.0011927539120010226,
    0.002890510330738737,
    -0.0073855510286681535,
    0.02058080842778457,
    -0.06735230105319814,
    0.3224670334241132,
    0.42278433509846713,
];
/// Stirling's series in 1/x², DLMF 5.11.1.
const STIRLING_SINGLE: [f64; 3] = [1.0 / 1260.0, -1.0 / 360.0, 1.0 / 12.0];
const STIRLING_DOUBLE: [f64; 10] = [
    -174611.0 / 125400.0,
    43867.0 / 244188.0,
    -3617.0 / 122400.0,
    1.0 / 156.0,
    -691.0 / 360360.0,
    1.0 / 1188.0,
    -1.0 / 1680.0,
    1.0 / 1260.0,
    -1.0 / 360.0,
    1.0 / 12.0,
];
/// The series of the derivative in 1/x², DLMF 5.11.2.
const DIGAMMA_SINGLE: [f64; 4] = [-1.0 / 240.0, 1.0 / 252.0, -1.0 / 120.0, 1.0 / 12.0];
const DIGAMMA_DOUBLE: [f64; 9] = [
    43867.0 / 14364.0,
    -3617.0 / 8160.0,
    1.0 / 12.0,
    -691.0 / 32760.0,
    1.0 / 132.0,
    -1.0 / 240.0,
    1.0 / 252.0,
    -1.0 / 120.0,
    1.0 / 12.0,
];
/// sin(πt)/t in t² on [0, ½], with errors 2⁻²⁶ and 2⁻⁶⁰.
const SINE_PI_SINGLE: [f64; 5] = [0.07765591, -0.5982904, 2.5500774, -5.1677103, 3.1415927];
const SINE_PI_DOUBLE: [f64; 9] = [
    7.697826768224191e-07,
    -2.1903497074626018e-05,
    0.0004662998161898394,
    -0.007370430505916944,
    0.0821458865731029,
    -0.5992645293189447,
    2.5501640398773007,
    -5.167712780049969,
    3.141592653589793,
];
