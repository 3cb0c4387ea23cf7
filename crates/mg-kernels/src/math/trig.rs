//! Sine, cosine and tangent.

use std::f64::consts::FRAC_PI_2;

use super::{MAGIC_DOUBLE, MAGIC_SINGLE, bits, fraction_bits, horner, lit, sign_bit};
use crate::lane::{BitLane, FloatLane, Format};

/// sin x, the angle in radians, for every finite x; NaN for an infinite one. It errs by at most 0.99 ulp in single and
/// 0.86 in double precision.
#[inline(always)]
pub fn sin<L: FloatLane>(x: L) -> L {
    let turned = Quadrant::of(x.abs());
    let sign = turned.count.shl(bits(x) - 2).xor(x.to_bits());
    unless_tiny(x, turned.sine_or_cosine(turned.count, sign))
}

/// cos x, the angle in radians, for every finite x; NaN for an infinite one. It errs by at most 0.94 ulp in single and
/// 0.88 in double precision.
#[inline(always)]
pub fn cos<L: FloatLane>(x: L) -> L {
    let turned = Quadrant::of(x.abs());
    let next = turned.count.add(turned.count.lit(1));
    turned.sine_or_cosine(next, next.shl(bits(x) - 2))
}

/// tan x, the angle in radians, for every finite x; NaN for an infinite one. It errs by at most 2.20 ulp in single and
/// 1.10 in double precision.
#[inline(always)]
pub fn tan<L: FloatLane>(x: L) -> L {
    let turned = Quadrant::of(x.abs());
    let result = match x.format() {
        Format::Single => turned.tangent_single(),
        Format::Double => turned.tangent(),
    };
    unless_tiny(x, L::from_bits(result.to_bits().xor(x.to_bits().and(sign_bit(x)))))
}

/// cos 2πv and sin 2πv for v in [0, 1): a quarter of the turn and the rest of it are exact.
#[inline(always)]
pub(super) fn of_turn<L: FloatLane>(v: L) -> [L; 2] {
    let (one, four) = (v.lit(1.0), v.lit(4.0));
    let magic = lit(v, MAGIC_SINGLE, MAGIC_DOUBLE);
    let shifted = v.fma(four, magic);
    let count = shifted.to_bits();
    let r = v.fma(four, magic.sub(shifted)).mul(v.lit(FRAC_PI_2));
    let square = r.mul(r);
    let (sine_series, cosine_series) = match v.format() {
        Format::Single => (horner(square, SINE_SINGLE), horner(square, COSINE_SINGLE)),
        Format::Double => (horner(square, SINE_DOUBLE), horner(square, COSINE_DOUBLE)),
    };
    let sine = r.mul(square).fma(sine_series, r);
    let cosine = square.fma(square.fma(cosine_series, v.lit(-0.5)), one);
    let even = count.and(count.lit(1)).eq(count.lit(0));
    let turned =
        |size: L, by: L::Bits| L::from_bits(size.to_bits().xor(by.shl(bits(v) - 2).and(sign_bit(v))));
    [
        turned(L::select(even, cosine, sine), count.add(count.lit(1))),
        turned(L::select(even, sine, cosine), count),
    ]
}

/// `result`, or `x` where that rounds to it, and the products of the reduction leave the format: those of double precision.
#[inline(always)]
fn unless_tiny<L: FloatLane>(x: L, result: L) -> L {
    match x.format() {
        Format::Single => result,
        Format::Double => L::select(x.abs().lt(x.lit(7.450580596923828e-9)), x, result),
    }
}

/// An angle as a number of right angles and a rest of at most half of one.
#[derive(Clone, Copy)]
struct Quadrant<L: FloatLane> {
    /// The number of right angles, in the low two bits.
    count: L::Bits,
    /// The rest in radians,
    rest: L,
    /// and its rounding error.
    rest_tail: L,
}

impl<L: FloatLane> Quadrant<L> {
    /// Reduces `x` ≥ 0 by the method of Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM
    /// Newsletter 18, 1983: x·2/π is formed modulo 4 from those digits of 2/π only that decide it. In place of their
    /// integers there are floating-point products on fixed grids, so that all sums but the last are exact.
    ///
    /// In single precision that is done from 2²⁰ on only, and below it what W. J. Cody and W. Waite do, "Software Manual for the
    /// Elementary Functions", 1980.
    #[inline(always)]
    fn of(x: L) -> Self {
        match x.format() {
            Format::Single => {
                let near = x.lt(x.lit(1048576.0));
                let [shifted, rest, rest_tail] = L::seldom(L::not(near), Self::near_single(x), |_| {
                    let (x, digits) = window_single(x);
                    Self::from_window(x, digits)
                });
                Quadrant { count: shifted.to_bits(), rest, rest_tail }
            }
            Format::Double => {
                let (x, digits) = window_double(x);
                let [shifted, rest, rest_tail] = Self::from_window(x, digits);
                Quadrant { count: shifted.to_bits(), rest, rest_tail }
            }
        }
    }

    /// For `x` below 2²⁰: x − n·π/2 with π/2 as a sum of three numbers. The first product and difference are exact: both are
    /// multiples of 2⁻²³ (below 1, of 2⁻²⁴), and the difference is less than 1. The second product is smaller than 2⁻⁵, and its last place
    /// finer than that grid, so that what its sum with the first loses is found by two subtractions, whichever is the larger.
    #[inline(always)]
    fn near_single(x: L) -> [L; 3] {
        let magic = x.lit(MAGIC_SINGLE);
        let shifted = x.fma(x.lit(std::f64::consts::FRAC_2_PI), magic);
        let minus = magic.sub(shifted);
        let first = minus.fma(x.lit(FRAC_PI_2), x);
        let half_pi_low = x.lit(-4.371139e-8);
        let second = minus.mul(half_pi_low);
        let second_tail = minus.fma(half_pi_low, second.neg());
        let rest = first.add(second);
        let rest_tail = second.sub(rest.sub(first)).add(second_tail);
        [shifted, rest, minus.fma(x.lit(-1.7151245e-15), rest_tail)]
    }

    /// With p the precision, `digits[0]` is even and from 0 to 2ᵖ, and each following digit is at most half the grid of
    /// the one before and on a grid that is 2¹⁻ᵖ times as fine; the last one has p places. With 2ᵗ ≤ `x` < 2ᵗ⁺¹, t is at
    /// most 18 for four digits in single and 52 for five in double precision. A number whose low bits are those of [`Self::count`], the
    /// rest and its error.
    #[inline(always)]
    fn from_window<const N: usize>(x: L, digits: [L; N]) -> [L; 3] {
        // Multiples of four drop out.
        let four = lit(x, MAGIC_SINGLE * 4.0, MAGIC_DOUBLE * 4.0);
        let product = x.mul(digits[0]);
        let mut error = x.fma(digits[0], product.neg());
        let mut first = product.sub(product.add(four).sub(four));
        // Each next product is split at a place so chosen that it and the error of the one before have an exact sum.
        let exponent = x.to_bits().and(x.lit(f64::INFINITY).to_bits());
        let mut rounder = L::from_bits(exponent).mul(x.lit(6.0));
        let place = lit(x, 1.1920928955078125e-7, 2.220446049250313e-16);
        let mut sums = [first; N];
        for i in 1..N - 1 {
            let product = x.fma(digits[i], rounder).sub(rounder);
            sums[i] = error.add(product);
            error = x.fma(digits[i], product.neg());
            rounder = rounder.mul(place);
        }
        if N > 4 {
            // Here t reaches as far as p, so that multiples of sixteen are left.
            let sixteen = lit(x, MAGIC_SINGLE * 16.0, MAGIC_DOUBLE * 16.0);
            first = first.sub(first.add(sixteen).sub(sixteen));
            sums[1] = sums[1].sub(sums[1].add(sixteen).sub(sixteen));
        }
        let magic = lit(x, MAGIC_SINGLE, MAGIC_DOUBLE);
        let shifted = first.add(sums[1]).add(sums[2]).add(magic);
        // Each head is a multiple of the last place of what is added to it: subtraction finds the rounding error.
        let mut turns = first.sub(shifted.sub(magic));
        let mut tail = x.fma(digits[N - 1], error);
        for &next in &sums[1..N - 1] {
            let sum = turns.add(next);
            tail = tail.add(turns.sub(sum).add(next));
            turns = sum;
        }
        // From right angles to radians.
        let high = x.lit(FRAC_PI_2);
        let low = lit(x, -4.371139e-8, 6.123233995736766e-17);
        let correction = tail.fma(high, turns.mul(low));
        let rest = turns.fma(high, correction);
        let rest_tail = turns.fma(high, rest.neg()).add(correction);
        [shifted, rest, rest_tail]
    }

    /// The tangent of the angle: that of the rest by one polynomial, or −1 over it.
    #[inline(always)]
    fn tangent_single(self) -> L {
        let (r, one) = (self.rest, self.rest.lit(1.0));
        let square = r.mul(r);
        let rest = square.mul(horner(square, TANGENT_SINGLE)).fma(r, self.rest_tail);
        // The slope of the tangent is what a small angle's tail is multiplied by, near enough.
        let tangent = r.add(self.rest_tail.fma(square, rest));
        let even = self.count.and(self.count.lit(1)).eq(self.count.lit(0));
        L::select(even, tangent, one.quotient(tangent).neg())
    }

    /// The tangent of the angle: sine over cosine of the rest, or −cosine over sine, each as a sum of two numbers.
    #[inline(always)]
    fn tangent(self) -> L {
        let (r, one) = (self.rest, self.rest.lit(1.0));
        let square = r.mul(r);
        let (sine_series, cosine_series) = match r.format() {
            Format::Single => (horner(square, SINE_SINGLE), horner(square, COSINE_SINGLE)),
            Format::Double => (horner(square, SINE_DOUBLE), horner(square, COSINE_DOUBLE)),
        };
        let bend = r.mul(square).fma(sine_series, self.rest_tail);
        let sine = r.add(bend);
        let sine_tail = r.sub(sine).add(bend);
        let fall = r.mul(square.fma(cosine_series, r.lit(-0.5)));
        let drop = r.fma(fall, self.rest_tail.mul(r).neg());
        let cosine = one.add(drop);
        let cosine_tail = one.sub(cosine).add(drop);
        let even = self.count.and(self.count.lit(1)).eq(self.count.lit(0));
        let numerator = L::select(even, sine, cosine.neg());
        let numerator_tail = L::select(even, sine_tail, cosine_tail.neg());
        let denominator = L::select(even, cosine, sine);
        let denominator_tail = L::select(even, cosine_tail, sine_tail);
        let inverse = one.quotient(denominator);
        let quotient = numerator.mul(inverse);
        let remainder = quotient.neg().fma(denominator, numerator).add(numerator_tail);
        quotient.neg().fma(denominator_tail, remainder).fma(inverse, quotient)
    }

    /// The sine of the rest, or where `which` is odd its cosine, with its sign changed by that of `sign`.
    #[inline(always)]
    fn sine_or_cosine(self, which: L::Bits, sign: L::Bits) -> L {
        let (r, one) = (self.rest, self.rest.lit(1.0));
        let square = r.mul(r);
        let (sine_series, cosine_series) = match r.format() {
            Format::Single => (horner(square, SINE_SINGLE), horner(square, COSINE_SINGLE)),
            Format::Double => (horner(square, SINE_DOUBLE), horner(square, COSINE_DOUBLE)),
        };
        let sine = r.add(r.mul(square).fma(sine_series, self.rest_tail));
        let fall = square.fma(cosine_series, r.lit(-0.5));
        let cosine = r.fma(r.fma(fall, self.rest_tail.neg()), one);
        let even = which.and(which.lit(1)).eq(which.lit(0));
        let result = L::select(even, sine, cosine);
        L::from_bits(result.to_bits().xor(sign.and(sign_bit(r))))
    }
}

/// `x` and the digits of 2/π that matter for it, both scaled as [`Quadrant::from_window`] asks.
#[inline(always)]
fn window_single<L: FloatLane>(x: L) -> (L, [L; 4]) {
    let (_, scale, [first, second, third, fourth]) = WINDOWS[0];
    let mut all = [scale, first, second, third, fourth].map(|number| x.lit(number));
    for &(least, scale, [first, second, third, fourth]) in &WINDOWS[1..] {
        let beyond = x.lit(least).le(x);
        for (number, next) in all.iter_mut().zip([scale, first, second, third, fourth]) {
            *number = L::select(beyond, x.lit(next), *number);
        }
    }
    let [scale, digits @ ..] = all;
    (x.mul(scale), digits)
}

/// `x` and the digits of 2/π that matter for it, both scaled as [`Quadrant::from_window`] asks.
#[inline(always)]
fn window_double<L: FloatLane>(x: L) -> (L, [L; 5]) {
    let field = x.to_bits().sar(fraction_bits(x));
    // The number of digits to skip: (e − 53)/52 for x from 2ᵉ to 2ᵉ⁺¹, by a multiplication that is exact enough.
    let skip = field.sub(field.lit(1023 + 53)).mul(field.lit(1261)).sar(16);
    let zero = field.lit(0);
    let skip = L::Bits::select(skip.lt(zero), zero, skip);
    let scale = L::from_bits(field.lit(1023 - 52).sub(skip.mul(field.lit(52))).shl(fraction_bits(x)));
    let stay = |stride: i64| skip.and(skip.lit(stride)).eq(zero);
    // Plain loops: what `array::map` makes of this the compiler does not vectorise.
    let mut digits = [x; 23];
    for (digit, value) in digits.iter_mut().zip(DIGITS) {
        *digit = x.lit(value);
    }
    let digits: [L; 20] = skip_digits(digits, 16, stay(16));
    let digits: [L; 12] = skip_digits(digits, 8, stay(8));
    let digits: [L; 8] = skip_digits(digits, 4, stay(4));
    let digits: [L; 6] = skip_digits(digits, 2, stay(2));
    let [first, second, third, fourth, fifth] = skip_digits(digits, 1, stay(1));
    let borrow = first.add(x.lit(9007199254740992.0));
    let digits = [
        L::select(first.lt(x.lit(0.0)), borrow, first),
        second.mul(x.lit(2.220446049250313e-16)),
        third.mul(x.lit(4.930380657631324e-32)),
        fourth.mul(x.lit(1.0947644252537633e-47)),
        fifth.mul(x.lit(2.430865342914564e-63)),
    ];
    (x.mul(scale), digits)
}

/// `digits` from the first on, or from the one after `stride`; none is asked for beyond the end.
#[inline(always)]
fn skip_digits<L: FloatLane, const M: usize, const N: usize>(
    digits: [L; M],
    stride: usize,
    stay: L::Mask,
) -> [L; N] {
    let mut kept = [digits[0]; N];
    for i in 0..N {
        kept[i] = if i + stride < M { L::select(stay, digits[i], digits[i + stride]) } else { digits[i] };
    }
    kept
}

/// From each argument on, starting with 0, 2⁴², 2⁶⁰, 2⁷⁸, 2⁹⁶, 2¹¹⁴: the scale 2⁻²³, 2⁻⁴¹, …, and 2/π over it modulo 2²⁴.
const WINDOWS: [(f64, f64, [f64; 4]); 6] = [
    (0.0, 1.1920928955078125e-07, [5.340354e6, -0.284559, -1.1674547e-7, -6.8324303e-15]),
    (4398046511104.0, 4.547473508864641e-13, [449692.0, 0.5318959, -1.7910793e-9, -1.2779268e-15]),
    (1.152921504606847e+18, 1.734723475976807e-18, [7.479466e6, -0.68796945, -7.484081e-8, 5.8693297e-15]),
    (3.022314549036573e+23, 6.617444900424222e-24, [1.08297e7, 0.917881, -8.041778e-8, 3.8057249e-16]),
    (7.922816251426434e+28, 2.524354896707238e-29, [1.289192e6, 0.978919, -6.6955465e-8, 4.5907623e-15]),
    (2.076918743413931e+34, 9.62964972193618e-35, [1.0742378e7, -0.2675519, -7.3302374e-8, 8.778087e-15]),
];

/// 2/π in digits of base 2⁵² from −2⁵¹ to 2⁵¹, the first one cut to an even number: 2/π is the sum of
/// `DIGITS[i]`·2^(−52 − 52i).
const DIGITS: [f64; 23] = [
    2867080569611330.0,
    -3050061775253002.0,
    -3573567179052710.0,
    -1904063956255150.0,
    -2750162388888036.0,
    -2493218947969582.0,
    3941081635791006.0,
    -4061471430546660.0,
    3116679323093028.0,
    -2826643684686614.0,
    -1751511633365020.0,
    344773503845204.0,
    -3484035455780676.0,
    -570473744172904.0,
    -2334960582926.0,
    4241414859418912.0,
    -2582306456699728.0,
    2734825899255454.0,
    1687350234217388.0,
    2229697668398344.0,
    -3483834181407066.0,
    3372613155917150.0,
    -4356951408087096.0,
];

/// (tan r − r)/r³ in r² for |r| ≤ 0.885, with relative error 2⁻²⁸ of the tangent.
const TANGENT_SINGLE: [f64; 8] =
    [0.002662731, -0.002070031, 0.0063702217, 0.0076909177, 0.022138279, 0.05393696, 0.13333488, 0.3333333];

/// (sin r − r)/r³ and (cos r − 1 + r²/2)/r⁴ in r² for |r| ≤ 0.885, with relative errors 2⁻²⁶ and 2⁻³¹ of the function.
const SINE_SINGLE: [f64; 3] = [-0.0001942733, 0.0083314385, -0.16666642];
const COSINE_SINGLE: [f64; 3] = [2.4332941e-05, -0.0013886339, 0.041666623];
/// The same for |r| ≤ 0.79, with relative errors 2⁻⁶⁵ and 2⁻⁶⁸.
const SINE_DOUBLE: [f64; 7] = [
    -7.491958361976958e-13,
    1.6056385998281622e-10,
    -2.505208698547375e-08,
    2.755731913282623e-06,
    -0.00019841269841062908,
    0.008333333333333104,
    -0.16666666666666666,
];
const COSINE_DOUBLE: [f64; 7] = [
    4.6511004681673e-14,
    -1.146813057519534e-11,
    2.0876732710236414e-09,
    -2.7557319104249173e-07,
    2.4801587301265795e-05,
    -0.0013888888888888451,
    0.041666666666666664,
];
