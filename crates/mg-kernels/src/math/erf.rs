//! The error function.

use super::exp::Reduced;
use super::{horner, lit, with_sign};
use crate::lane::{FloatLane, Format};

/// erf x = 2/√π·∫₀ˣ e^(−t²) dt, within 1.00 ulp in single and 0.98 in double precision.
///
/// An odd polynomial on [−1, 1]; outside it 1 − e^q with a polynomial q for ln(1 − erf |x|), as in W. J. Cody,
/// "Rational Chebyshev approximations for the error function", Math. Comp. 23, 1969, but with the exponent whole.
#[inline(always)]
pub fn erf<L: FloatLane>(x: L) -> L {
    let one = x.lit(1.0);
    let magnitude = x.abs();
    let near = near(magnitude);
    // From here on the result rounds to 1.
    let most = lit(x, 3.95, 5.95);
    let distance = L::select(most.lt(magnitude), most, magnitude).sub(one);
    let exponent = match x.format() {
        Format::Single => horner(distance, FAR_SINGLE),
        Format::Double => horner(distance, FAR_DOUBLE),
    };
    let reduced = Reduced::new(exponent, 1);
    let far = reduced.power().neg().fma(reduced.scale(), one);
    with_sign(L::select(magnitude.lt(one), near, far), x)
}

/// erf x on [−1, 1].
#[inline(always)]
pub(super) fn near<L: FloatLane>(x: L) -> L {
    let square = x.mul(x);
    let series = match x.format() {
        Format::Single => horner(square, NEAR_SINGLE),
        Format::Double => horner(square, NEAR_DOUBLE),
    };
    x.fma(series, x)
}

/// erf x/x − 1 in x² on [0, 1], with relative error 2⁻²⁹ of erf x.
const NEAR_SINGLE: [f64; 7] =
    [7.840602e-05, -0.00080064306, 0.0051879375, -0.026853638, 0.112835824, -0.37612626, 0.12837917];
/// The same, with relative error 2⁻⁵⁶.
const NEAR_DOUBLE: [f64; 13] = [
    6.66462617300064e-11,
    -1.1819093858972465e-09,
    1.4783701044745698e-08,
    -1.6370235817241855e-07,
    1.6463051328776667e-06,
    -1.4925736429836304e-05,
    0.0001205533769894204,
    -0.0008548327187686033,
    0.00522397762906739,
    -0.02686617064561731,
    0.11283791670958736,
    -0.37612638903183876,
    0.1283791670955126,
];

/// ln(1 − erf x) in x − 1 on [1, 4], so that 1 − erf x errs by at most 2⁻²⁶.
const FAR_SINGLE: [f64; 7] =
    [0.0001867767, -0.0018312138, 0.009898582, -0.041505948, -0.8431167, -2.638967, -1.8496056];
/// The same on [1, 5.95], to 2⁻⁵⁸.
const FAR_DOUBLE: [f64; 19] = [
    1.0688123539202691e-12,
    -2.953141863162139e-11,
    3.7604678220987446e-10,
    -2.9149370685887867e-09,
    1.5133697289504166e-08,
    -5.272476740716144e-08,
    9.909775988663542e-08,
    1.4027573825293273e-07,
    -2.056509162465157e-06,
    9.605834395156418e-06,
    -2.7156969545236222e-05,
    2.627677627563671e-05,
    0.00023732288612177295,
    -0.001977902671537064,
    0.010033825391998175,
    -0.0415610980436477,
    -0.8431072563585718,
    -2.638967514234791,
    -1.8496055099332482,
];
