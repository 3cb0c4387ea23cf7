//! The complementary error function, as it is and scaled, and the inverse of the error function.

use super::exp::{exp_of_sum, exp_of_sum_below};
use super::log::log_of_fraction;
use super::{horner, lit, log, with_sign};
use crate::lane::{FloatLane, Format};

/// e^(x²)·erfc x for x from 0 to 2⁵³: a polynomial in (x − k)/(x + k) over 1 + 2x, after Shepherd and Laframboise, "Chebyshev
/// approximation of (1 + 2x) exp(x²) erfc x in 0 ≤ x < ∞", Math. Comp. 36, 1981.
#[inline(always)]
fn scaled<L: FloatLane>(b: L) -> L {
    let (one, k) = (b.lit(1.0), lit(b, 2.0, 4.0));
    let q = b.sub(k).quotient(b.add(k));
    let series = match b.format() {
        Format::Single => horner(q, ERFCX_SINGLE),
        Format::Double => horner(q, ERFCX_DOUBLE),
    };
    series.quotient(b.fma(b.lit(2.0), one))
}

/// The same for x from 0 to 10.1 in single precision, by one reciprocal: a polynomial in 1/(x + 1) over x + 1, which is so flat that what the
/// reciprocal lacks is not multiplied.
#[inline(always)]
fn scaled_near<L: FloatLane>(b: L) -> L {
    let one = b.lit(1.0);
    match b.format() {
        Format::Single => {
            let inverse = one.quotient(b.add(one));
            let series = horner(inverse.sub(b.lit(NEAR_MIDDLE)), NEAR_SINGLE);
            inverse.mul(inverse.sub(one).fma(series, one))
        }
        Format::Double => scaled(b),
    }
}

/// 1 − erf x, within 4.70 ulp in single and 4.80 in double precision where the result is a normal number.
#[inline(always)]
pub fn erfc<L: FloatLane>(x: L) -> L {
    let a = x.abs();
    // From here on it rounds to 0.
    let most = lit(x, 10.1, 27.3);
    let a = L::select(most.lt(a), most, a);
    let square = a.mul(a);
    let lost = a.fma(a, square.neg());
    let result = exp_of_sum_below(square.neg(), lost.neg()).mul(scaled_near(a));
    L::select(x.lt(x.lit(0.0)), x.lit(2.0).sub(result), result)
}

/// e^(x²)·erfc x, within 4.00 ulp in single and 5.00 in double precision.
#[inline(always)]
pub fn erfcx<L: FloatLane>(x: L) -> L {
    let a = x.abs();
    // Beyond this 1/(x·√π) is as good, and nothing overflows.
    let most = lit(x, 1.6777216e7, 9007199254740992.0);
    let distant = most.lt(a);
    let [right] =
        L::seldom(distant, [scaled(L::select(distant, most, a))], |_| [x.lit(0.5641895835477563).div(a)]);
    // On the left there is an exponential to it, for which threads wait that have none.
    let [result] = L::seldom(L::not(x.lit(0.0).le(x)), [right], |[right]| {
        let most = lit(x, 12.0, 36.0);
        let b = L::select(a.lt(most), a, most);
        let square = b.mul(b);
        let lost = b.fma(b, square.neg());
        let power = exp_of_sum(square, lost);
        [L::select(x.is_nan(), x, power.add(power).sub(right))]
    });
    result
}

/// The number whose error function is x, within 3.10 ulp in single and 3.00 in double precision; ±1 gives ±∞, what
/// is beyond NaN.
///
/// x times polynomials in w = −ln(1 − x²) and in its root, after Giles, "Approximating the erfinv function", GPU Computing
/// Gems, 2011.
#[inline(always)]
pub fn erfinv<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    let a = x.abs();
    let w = log_of_fraction(one.sub(a).mul(one.add(a))).neg();
    let factor = match x.format() {
        Format::Single => {
            let near = horner(w.sub(x.lit(2.5)), INV_NEAR_SINGLE);
            let [factor] =
                L::seldom(x.lit(5.0).le(w), [near], |_| [horner(w.sqrt().sub(x.lit(3.2)), INV_FAR_SINGLE)]);
            factor
        }
        Format::Double => {
            let near = horner(w.sub(x.lit(3.125)), INV_NEAR_DOUBLE);
            let [factor] = L::seldom(x.lit(6.25).le(w), [near], |_| {
                let root = w.sqrt();
                [L::select(
                    w.lt(x.lit(16.0)),
                    horner(root.sub(x.lit(3.25)), INV_MID_DOUBLE),
                    horner(root.sub(x.lit(5.05)), INV_FAR_DOUBLE),
                )]
            });
            factor
        }
    };
    let result = L::select(a.eq(one), with_sign(x.lit(f64::INFINITY), x), factor.mul(x));
    L::select(one.lt(a), x.lit(f64::NAN), result)
}

/// The number below which the normal distribution has the part p, within 4.00 ulp in single and 4.00 in double
/// precision; NaN outside [0, 1].
///
/// √2·erfinv(2p − 1), by the same polynomials in w = −ln(4p(1 − p)) and by one in 1/√w far into the tails.
#[inline(always)]
pub fn ndtri<L: FloatLane>(p: L) -> L {
    let (zero, one) = (p.lit(0.0), p.lit(1.0));
    let w = log(p.mul(p.lit(4.0)).mul(one.sub(p))).neg();
    let root = w.sqrt();
    let inverse = one.div(root);
    let factor = match p.format() {
        Format::Single => {
            let tail = root.mul(horner(inverse.sub(p.lit(0.1675)), TAIL_SINGLE));
            let far = L::select(w.lt(p.lit(17.0)), horner(root.sub(p.lit(3.2)), INV_FAR_SINGLE), tail);
            L::select(w.lt(p.lit(5.0)), horner(w.sub(p.lit(2.5)), INV_NEAR_SINGLE), far)
        }
        Format::Double => {
            let tail = root.mul(horner(inverse.sub(p.lit(0.1)), TAIL_DOUBLE));
            let far = L::select(w.lt(p.lit(36.0)), horner(root.sub(p.lit(5.05)), INV_FAR_DOUBLE), tail);
            let far = L::select(w.lt(p.lit(16.0)), horner(root.sub(p.lit(3.25)), INV_MID_DOUBLE), far);
            L::select(w.lt(p.lit(6.25)), horner(w.sub(p.lit(3.125)), INV_NEAR_DOUBLE), far)
        }
    };
    let middle = p.sub(p.lit(0.5)).mul(p.lit(2.8284271247461903)).mul(factor);
    let result = L::select(p.eq(zero), p.lit(f64::NEG_INFINITY), middle);
    let result = L::select(p.eq(one), p.lit(f64::INFINITY), result);
    L::select(L::either(p.lt(zero), one.lt(p)), p.lit(f64::NAN), result)
}

/// With t = 1/(x + 1) for x up to 10.1: (e^(x²)·erfc x/t − 1)/(t − 1) in t less the middle of where it is, with error 2⁻²⁶ of e^(x²)·erfc x.
const NEAR_MIDDLE: f64 = 0.546875;
const NEAR_SINGLE: [f64; 12] = [
    0.4214286,
    -0.46004155,
    -0.040573586,
    0.3426443,
    -0.3166819,
    0.13316074,
    0.10402646,
    -0.26229495,
    0.2147161,
    0.055416785,
    -0.36772242,
    0.27233034,
];
/// (1 + 2x)·e^(x²)·erfc x in (x − 2)/(x + 2), with error 2⁻²⁷, and in (x − 4)/(x + 4), with error 2⁻⁶¹.
const ERFCX_SINGLE: [f64; 13] = [
    -2.0108931e-05,
    6.310018e-05,
    0.00022110545,
    -0.0003571779,
    -0.0014635117,
    0.0012166655,
    0.008724295,
    -0.008018636,
    -0.054220185,
    0.1640494,
    -0.16603039,
    -0.09276376,
    1.2769784,
];
const ERFCX_DOUBLE: [f64; 27] = [
    4.335744696880128e-11,
    -1.37212432109558e-10,
    -5.47796315403793e-10,
    1.7887492189077536e-09,
    3.979908209935334e-09,
    -1.470518755238763e-08,
    -2.1917128684776733e-08,
    1.1009041560728304e-07,
    7.89343963476142e-08,
    -8.249127434964572e-07,
    2.909062968371427e-07,
    5.709201212226352e-06,
    -1.1220753452725425e-05,
    -2.4398942309069806e-05,
    0.00015062130746391778,
    -0.0001992567764579197,
    -0.0007577732195352293,
    0.005031969992810925,
    -0.01619773406595253,
    0.03716751553591141,
    -0.0663303658116485,
    0.09373283499843951,
    -0.10103906603632504,
    0.06809705425469036,
    0.015379652102620042,
    -0.1396211168405625,
    1.2329951186255526,
];
/// erfinv x/x in w − 2.5 for w from 0 to 5 and in √w − 3.2 beyond.
const INV_NEAR_SINGLE: [f64; 10] = [
    -8.931926e-09,
    2.3335968e-08,
    4.6813136e-07,
    -3.4639852e-06,
    -4.97242e-06,
    0.00021834939,
    -0.0012527264,
    -0.004177393,
    0.24664028,
    1.5014094,
];
const INV_FAR_SINGLE: [f64; 12] = [
    -2.40523e-06,
    -3.2462674e-05,
    0.0001057895,
    -3.5728845e-05,
    -0.00036354957,
    0.0010901124,
    -0.0019917602,
    0.002948228,
    -0.004294265,
    0.005973379,
    1.0046924,
    3.0336366,
];
/// The same in w − 3.125 for w from 0 to 6.25, in √w − 3.25 up to 16, in √w − 5.05 beyond.
const INV_NEAR_DOUBLE: [f64; 26] = [
    -1.9123778045391186e-23,
    -3.3795536525485224e-22,
    4.357475280244854e-21,
    1.8739434875095462e-20,
    -3.7848217521105335e-19,
    6.396664855709971e-19,
    1.5992591736199305e-17,
    -1.226305743260548e-16,
    -4.417003393665373e-17,
    6.525767922399858e-15,
    -3.998852309540432e-14,
    -8.074665167507013e-14,
    2.6303859148085384e-12,
    -1.2978692479994892e-11,
    -5.4142609576164565e-11,
    1.051223070748762e-09,
    -4.112661266924503e-09,
    -2.907039074871087e-08,
    4.234788178266526e-07,
    -1.3654691764135042e-06,
    -1.3882523394637344e-05,
    0.0001867342080200925,
    -0.0007407025341544301,
    -0.006033670871426909,
    0.2401581824255883,
    1.6536545626831027,
];
const INV_MID_DOUBLE: [f64; 22] = [
    -1.4414402902576647e-09,
    7.602734181548034e-09,
    -1.1037793186805448e-08,
    -2.069721217948336e-08,
    1.2617019273822622e-07,
    -2.4575721605517875e-07,
    -2.3768438869458365e-08,
    1.4817686493076977e-06,
    -3.987383279152877e-06,
    2.9325103785542764e-06,
    1.2465490012885596e-05,
    -4.732066388775043e-05,
    6.828703766281446e-05,
    2.4031510350318603e-05,
    -0.00035503780550499826,
    0.000953289341795833,
    -0.001688275535921936,
    0.002491442097947516,
    -0.003751208508212327,
    0.005370914553555193,
    1.0052589676941652,
    3.0838856104922208,
];
const INV_FAR_DOUBLE: [f64; 19] = [
    -1.5527088830997766e-11,
    2.940693864791367e-11,
    7.784565598162404e-11,
    -3.8905518258042764e-10,
    1.0476136563378423e-09,
    -2.627046782027114e-09,
    5.806582011050469e-09,
    -1.1211385543651926e-08,
    2.182146036883748e-08,
    -5.492983151345327e-08,
    2.0161917296344464e-07,
    -9.0708668584308e-07,
    4.1938537346034516e-06,
    -1.8374536031629366e-05,
    7.124031542384879e-05,
    -0.00020031200668804873,
    -0.00016985809149343238,
    1.0102850175977722,
    4.90042105144364,
];
/// erfinv x/(x·√w) in 1/√w − 0.1675 for √w from 4 to 10.5, and in 1/√w − 0.1 from 6 to 27.5.
const TAIL_SINGLE: [f64; 9] = [
    -144.54399,
    45.936203,
    -10.150161,
    3.2637126,
    -1.62776,
    0.94120395,
    -0.09977377,
    -0.19788587,
    0.97648734,
];
const TAIL_DOUBLE: [f64; 28] = [
    6.226232038604791e+21,
    -9.29783443009831e+20,
    -7.743620673820839e+19,
    1.5125933463954215e+19,
    6.683981372195997e+17,
    -1.5450089193706384e+17,
    -715557493793554.9,
    642175189843251.2,
    19310227693550.25,
    -4910419199952.183,
    255287118350.19315,
    -22625563841.530205,
    3616150695.1416306,
    -470785687.06564605,
    58456042.91607102,
    -7571488.278319113,
    1011617.7694495704,
    -139169.59587946438,
    19886.824607817784,
    -2984.7084161693633,
    477.8431818245021,
    -83.19563467073428,
    16.294549717922347,
    -4.203305402756374,
    1.6380160857973618,
    -0.34980850858188184,
    -0.16908702367111156,
    0.9890609132540967,
];
