//! The Gaussian error linear unit and its derivative.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2};

use super::{MAGIC_SINGLE, erf, exp, fraction_bits, horner};
use crate::lane::{BitLane, FloatLane, Format};

/// 1/√(2π).
const DENSITY: f64 = 0.3989422804014327;

/// x·Φ(x), Φ the normal distribution. In single precision within 1.3 ulp where x is not negative; below within 3.5·10⁻⁸, and within 2⁻⁹ of the result or 10⁻³⁷. In
/// double precision as [`erf`] gives it. −0 at −∞.
///
/// max(x, 0) − |x|·Φ(−|x|). The logarithm of Φ is so close to a parabola that one polynomial is enough for all x, and where its exponential no
/// longer counts beside 1 it may err by more.
#[inline(always)]
pub fn gelu<L: FloatLane>(x: L) -> L {
    match x.format() {
        Format::Single => {
            let b = minus_magnitude(x);
            b.fma(half_power(b.mul(horner(b, LOGARITHM))), x.at_least(x.lit(-0.0)))
        }
        Format::Double => x.at_least(x.lit(-40.0)).mul(distribution(x)),
    }
}

/// Φ(x) + x·φ(x), the derivative of [`gelu`], φ being that of Φ. In single precision within 1.6 ulp where x is not negative; below within
/// 6.5·10⁻⁸, and from −3 down within 2⁻⁷ of the result. In double precision as [`erf`] and [`exp`] give it.
///
/// Left of 0 it is what `gelu` has of Φ, times a factor that is 0 where the derivative is; right of it, 1 less the other side.
#[inline(always)]
pub fn gelu_slope<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    match x.format() {
        Format::Single => {
            let b = minus_magnitude(x);
            let power = half_power(b.mul(horner(b, SLOPE_LOGARITHM)));
            let left = power.mul(b.fma(x.lit(INVERSE_ROOT), one));
            L::select(x.lt(x.lit(0.0)), left, one.sub(left))
        }
        Format::Double => {
            let x = x.between(x.lit(-40.0), x.lit(40.0));
            let density = exp(x.mul(x).mul(x.lit(-0.5))).mul(x.lit(DENSITY));
            x.fma(density, distribution(x))
        }
    }
}

/// Φ(x) by the error function.
#[inline(always)]
fn distribution<L: FloatLane>(x: L) -> L {
    let half = x.lit(0.5);
    erf(x.mul(x.lit(FRAC_1_SQRT_2))).fma(half, half)
}

/// −|x|, or −13.2, from where on [`half_power`] of either polynomial is 0.
#[inline(always)]
fn minus_magnitude<L: FloatLane>(x: L) -> L {
    x.abs().neg().at_least(x.lit(-13.2))
}

/// ½·2ʸ for y up to 1; 0 from −126 down.
#[inline(always)]
fn half_power<L: FloatLane>(y: L) -> L {
    let y = y.at_least(y.lit(-126.0));
    // n − 1 stands in the low bits of the sum. Added to the exponent of 1, −127 leaves zeros.
    let magic = y.lit(MAGIC_SINGLE - 1.0);
    let shifted = y.add(magic);
    let r = y.sub(shifted.sub(magic));
    let power = horner(r, POWER);
    L::from_bits(shifted.to_bits().shl(fraction_bits(y)).add(power.to_bits()))
}

/// (log₂ Φ(b) + 1)/b in b on [−13.2, 0], so that Φ errs by at most 2⁻²⁸ or 2⁻¹⁰ of itself.
const LOGARITHM: [f64; 12] = [
    -3.86978e-11,
    -2.63447e-09,
    -7.7057116e-08,
    -1.2672988e-06,
    -1.28393085e-05,
    -8.130021e-05,
    -0.0002862139,
    -2.2832464e-06,
    0.0069522527,
    0.052448355,
    -0.45921782,
    1.1511046,
];

/// The zero of gelu's derivative is at b = −0.75179; 1 over its magnitude.
const INVERSE_ROOT: f64 = 1.330156;

/// (log₂((Φ(b) + b·φ(b))/(1 + b/0.75179…)) + 1)/b on [−13.2, 0], so that Φ(b) + b·φ(b) errs by at most 2⁻²⁵ or 2⁻⁷
/// of itself.
const SLOPE_LOGARITHM: [f64; 10] = [
    2.6918563e-09,
    1.5766011e-07,
    3.9557335e-06,
    5.6407476e-05,
    0.0005155657,
    0.0032631345,
    0.015223461,
    0.055131227,
    -0.560584,
    0.38319933,
];

/// 2ʳ on [−½, ½], with relative error 2⁻²⁸.
const POWER: [f64; 7] = [0.00015326463, 0.0013390806, 0.009618506, 0.0555036, 0.24022648, LN_2, 1.0];
