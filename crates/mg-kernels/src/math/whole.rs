//! Whole numbers: rounding, remainders, powers of integers. All are exact.

use super::lit;
use crate::lane::{BitLane, FloatLane, Format, IntLane};

/// From here on every number is whole.
#[inline(always)]
fn all_whole<L: FloatLane>(x: L) -> L {
    lit(x, 8388608.0, 4503599627370496.0)
}

/// A magnitude with the sign of another number.
#[inline(always)]
fn with_sign<L: FloatLane>(magnitude: L, of: L) -> L {
    let bits = of.to_bits();
    let sign = match of.format() {
        Format::Single => bits.lit(i32::MIN as i64),
        Format::Double => bits.lit(i64::MIN),
    };
    L::from_bits(magnitude.to_bits().or(bits.and(sign)))
}

/// Whether x/y is so small that [`fmod`] goes through its lowest digit alone, all numbers finite.
#[inline(always)]
pub fn has_one_digit<L: FloatLane>(x: L, y: L) -> L::Mask {
    let most = all_whole(x).mul(x.lit(0.5));
    x.abs().lt(y.abs().mul(most))
}

/// [`fmod`] where the quotient [has one digit](has_one_digit).
#[inline(always)]
pub fn fmod_of_one_digit<L: FloatLane>(x: L, y: L) -> L {
    let (r, s, big) = (x.abs(), y.abs(), all_whole(x));
    let quotient = r.div(s);
    let near = quotient.add(big).sub(big);
    let whole = L::select(quotient.lt(near), near.sub(x.lit(1.0)), near);
    let left = whole.neg().fma(s, r);
    let left = L::select(left.lt(x.lit(0.0)), left.add(s), left);
    with_sign(L::select(r.lt(s), r, left), x)
}

/// The nearest whole number, of two the even one. Zeros keep their sign, as they do in the functions below.
#[inline(always)]
pub fn round<L: FloatLane>(x: L) -> L {
    let (a, big) = (x.abs(), all_whole(x));
    // The sum has no place for a fraction, and is rounded to nearest even.
    with_sign(L::select(a.lt(big), a.add(big).sub(big), a), x)
}

/// The whole number next towards zero.
#[inline(always)]
pub fn trunc<L: FloatLane>(x: L) -> L {
    let (a, big) = (x.abs(), all_whole(x));
    let near = a.add(big).sub(big);
    let below = L::select(a.lt(near), near.sub(x.lit(1.0)), near);
    with_sign(L::select(a.lt(big), below, a), x)
}

/// The largest whole number that is no larger.
#[inline(always)]
pub fn floor<L: FloatLane>(x: L) -> L {
    let whole = trunc(x);
    L::select(x.lt(whole), whole.sub(x.lit(1.0)), whole)
}

/// The smallest whole number that is no smaller.
#[inline(always)]
pub fn ceil<L: FloatLane>(x: L) -> L {
    let whole = trunc(x);
    L::select(whole.lt(x), whole.add(x.lit(1.0)), whole)
}

/// `x · 2ⁿ` for n ≥ 0, exact or infinite, by factors that the format holds.
#[inline(always)]
fn scaled<L: FloatLane>(x: L, n: i32) -> L {
    let most = match x.format() {
        Format::Single => 127,
        Format::Double => 1023,
    };
    let (mut x, mut left) = (x, n);
    while left > 0 {
        let by = left.min(most);
        x = x.mul(x.lit(f64::powi(2.0, by)));
        left -= by;
    }
    x
}

/// The remainder of x/y with the sign of x, exact.
///
/// Long division in base 2²² (2⁵¹ in double precision): with s = |y|·2ⁿ and a remainder r < s·2²² of what came before, the
/// quotient r/s, rounded and cut, is its whole part or one more, and r − q·s is a number of the format, so that a fused
/// multiply-add gives it exactly. The digits reach from the largest number to the smallest denormal one.
#[inline(always)]
pub fn fmod<L: FloatLane>(x: L, y: L) -> L {
    let (digit, digits) = match x.format() {
        Format::Single => (22, 13),
        Format::Double => (51, 42),
    };
    let (r, y, zero, big) = (x.abs(), y.abs(), x.lit(0.0), all_whole(x));
    let step = |r: L, n: i32| {
        let s = scaled(y, n * digit);
        let quotient = r.div(s);
        let near = quotient.add(big).sub(big);
        let whole = L::select(quotient.lt(near), near.sub(x.lit(1.0)), near);
        let left = whole.neg().fma(s, r);
        let left = L::select(left.lt(zero), left.add(s), left);
        L::select(r.lt(s), r, left)
    };
    // All digits but the lowest are of quotients from 2²² (2⁵¹) on: below that every step leaves the remainder as it is.
    let [r] = L::seldom(scaled(y, digit).le(r), [r], |[r]| [(1..digits).rev().fold(r, step)]);
    let r = step(r, 0);
    with_sign(r, x)
}

/// aᵇ, wrapping; for a negative b the inverse where it is whole, else 0.
#[inline(always)]
pub fn int_pow<L: IntLane>(a: L, b: L) -> L {
    let (zero, one, minus) = (a.lit(0.0), a.lit(1.0), a.lit(-1.0));
    let is_odd = b.and(one).eq(one);
    let (mut power, mut square, mut rest) = (L::select(is_odd, a, one), a, b);
    for _ in 1..L::BITS {
        square = square.mul(square);
        rest = rest.shr(one);
        power = L::select(rest.and(one).eq(one), power.mul(square), power);
    }
    let unit = L::select(is_odd, a, one);
    let inverse = L::select(L::either(a.eq(one), a.eq(minus)), unit, zero);
    L::select(b.lt(zero), inverse, power)
}
