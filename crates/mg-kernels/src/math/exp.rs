//! The exponential function, and its argument reduction for those built on it.

use std::f64::consts::{LN_2, LOG2_E};

use super::{MAGIC_DOUBLE, MAGIC_SINGLE, fraction_bits, horner, lit};
use crate::lane::{BitLane, FloatLane, Format};

/// eˣ, within 0.90 ulp in single and 0.87 in double precision; overflows and underflows where the exact result rounds
/// so.
#[inline(always)]
pub fn exp<L: FloatLane>(x: L) -> L {
    let low = lit(x, -104.0, -746.0);
    let high = lit(x, 89.0, 710.0);
    x.vanishing(low, |x| {
        let reduced = Reduced::new(x.between(low, high), 2);
        reduced.times_power(reduced.power())
    })
}

/// x up to which [`exp_below`] is eˣ.
pub const EXP_BELOW: f64 = 64.0;

/// As [`exp`], bit by bit, for `x` up to [`EXP_BELOW`], by fewer instructions: 2ⁿ⁺³³ does not leave the format's normal
/// numbers, and 2⁻³³ rounds what does.
#[inline(always)]
pub fn exp_below<L: FloatLane>(x: L) -> L {
    Reduced::by(x.at_least(lit(x, -104.0, -746.0)), None, small_magic(x)).small_power()
}

/// e to the power `x` + `x_tail`, as [`exp_below`], where x is no less than −104 (single) or −746 (double) and the tail small against 1.
#[inline(always)]
pub(super) fn exp_of_sum_below<L: FloatLane>(x: L, x_tail: L) -> L {
    Reduced::by(x, Some(x_tail), small_magic(x)).small_power()
}

/// What [`Reduced::small_power`] wants in `count`: more than one bias. In double precision n goes down to −1076.
#[inline(always)]
fn small_magic<L: FloatLane>(x: L) -> L {
    lit(x, MAGIC_SINGLE + 127.0 + 33.0, MAGIC_DOUBLE + 1023.0 + 65.0)
}

/// eˣ = (1 + [`Reduced::sum`])·2ⁿ with |sum| < 0.42, by Cody and Waite, "Software Manual for the Elementary
/// Functions", 1980.
#[derive(Clone, Copy)]
pub(super) struct Reduced<L: FloatLane> {
    /// The reduced argument r = x − n·ln 2.
    base: L,
    /// What `base` misses by its rounding.
    base_tail: L,
    /// r².
    square: L,
    /// (eʳ − 1 − r)/r².
    series: L,
    /// −n.
    minus: L,
    /// n plus a multiple of the exponent bias in the low bits, high above it zeros up to the exponent field's width.
    count: L::Bits,
}

impl<L: FloatLane> Reduced<L> {
    /// Reduces `x`, whose exponential the caller has made sure not to leave the range of the scaling it uses: with
    /// `biases` 1 [`Reduced::scale`], with 2 [`Reduced::times_power`].
    #[inline(always)]
    pub fn new(x: L, biases: u32) -> Self {
        Reduced::by(x, None, magic(x, biases))
    }

    /// Reduces `x` and its tail. What `magic` is more than the format's own is added to n in `count`: even, so that what lies between two
    /// numbers goes to the same.
    #[inline(always)]
    fn by(x: L, tail: Option<L>, magic: L) -> Self {
        let (n, high, count) = reduce(x, magic);
        let low = lit(x, LN2_LOW_SINGLE, LN2_LOW_DOUBLE);
        let (base, base_tail) = match tail {
            Some(tail) => {
                let rest = n.fma(low, tail);
                let base = high.add(rest);
                (base, high.sub(base).add(rest))
            }
            None => {
                let base = n.fma(low, high);
                (base, n.fma(low, high.sub(base)))
            }
        };
        Reduced { base, base_tail, square: base.mul(base), series: series(base), minus: n, count }
    }

    /// eʳ.
    #[inline(always)]
    pub fn power(self) -> L {
        let one = self.base.lit(1.0);
        self.base.fma(self.base.fma(self.series, one), one)
    }

    /// eʳ − 1.
    #[inline(always)]
    pub fn sum(self) -> L {
        self.square.fma(self.series, self.base)
    }

    /// What [`Reduced::sum`] misses by its rounding and by that of its argument.
    #[inline(always)]
    pub fn whole_sum_tail(self) -> L {
        self.square.fma(self.series, self.base.sub(self.sum())).add(self.base_tail)
    }

    /// 2ⁿ⁻¹.
    #[inline(always)]
    pub fn half_scale(self) -> L {
        L::from_bits(self.count.sub(self.count.lit(1)).shl(fraction_bits(self.base)))
    }

    /// 2 to the power n and what was added to it beyond the exponent's bias.
    #[inline(always)]
    pub fn scale(self) -> L {
        L::from_bits(self.count.shl(fraction_bits(self.base)))
    }

    /// ½eᵃ for `a` from 0 on, which overflows later than eᵃ.
    #[inline(always)]
    pub fn half_of(a: L) -> L {
        let most = lit(a, 100.0, 720.0);
        let reduced = Reduced::new(L::select(most.lt(a), most, a), 2);
        let (power, one) = (reduced.power(), a.lit(1.0));
        power.scaled(reduced.minus.neg().sub(one), || {
            by_halves(power, reduced.count.sub(reduced.count.lit(1)))
        })
    }

    /// eˣ where `count` was made by [`small_magic`]: one product is exact, and the next rounds what leaves the normal numbers.
    #[inline(always)]
    fn small_power(self) -> L {
        let power = self.power();
        power.scaled(self.minus.neg(), || {
            power.mul(self.scale()).mul(lit(power, 2f64.powi(-33), 2f64.powi(-65)))
        })
    }

    /// `x`·2ⁿ: n may lie outside the exponents of the format.
    #[inline(always)]
    pub fn times_power(self, x: L) -> L {
        x.scaled(self.minus.neg(), || by_halves(x, self.count))
    }
}

/// What makes a whole number of what it is added to, and adds so many of the exponent's biases to its bits.
#[inline(always)]
fn magic<L: FloatLane>(x: L, biases: u32) -> L {
    lit(x, MAGIC_SINGLE + 127.0 * f64::from(biases), MAGIC_DOUBLE + 1023.0 * f64::from(biases))
}

/// −n, `x` − n·ln 2 but for the low part of ln 2, and the bits that n and what `magic` adds stand in.
#[inline(always)]
fn reduce<L: FloatLane>(x: L, magic: L) -> (L, L, L::Bits) {
    let shifted = x.fma(x.lit(LOG2_E), magic);
    let n = magic.sub(shifted);
    (n, n.fma(x.lit(LN_2), x), shifted.to_bits())
}

/// (eʳ − 1 − r)/r².
#[inline(always)]
fn series<L: FloatLane>(r: L) -> L {
    match r.format() {
        Format::Single => horner(r, SINGLE),
        Format::Double => horner(r, DOUBLE),
    }
}

/// `x`·2ⁿ by two factors, where `count` ends in n plus twice the exponent bias.
#[inline(always)]
fn by_halves<L: FloatLane>(x: L, count: L::Bits) -> L {
    let (half, places) = (count.shr(1), fraction_bits(x));
    x.mul(L::from_bits(half.shl(places))).mul(L::from_bits(count.sub(half).shl(places)))
}

/// e to the power `x` + `x_tail` for |`x`| below 170 (single) or 1400 (double) and a tail that is small against 1;
/// before its last rounding it errs by 0.3 ulp.
#[inline(always)]
pub(super) fn exp_of_sum<L: FloatLane>(x: L, x_tail: L) -> L {
    let reduced = Reduced::by(x, Some(x_tail), magic(x, 2));
    let tail = reduced.square.fma(reduced.series, reduced.base_tail);
    reduced.times_power(x.lit(1.0).add(reduced.base.add(tail)))
}

/// What ln 2 is more than its rounding to the format.
const LN2_LOW_SINGLE: f64 = -1.9046542e-9;
const LN2_LOW_DOUBLE: f64 = 2.3190468138462996e-17;

/// (eʳ − 1 − r)/r² on [−ln 2/2, ln 2/2], with relative error 2⁻²⁸ of eʳ.
const SINGLE: [f64; 5] = [0.0013782465, 0.00836867, 0.041668963, 0.16666521, 0.4999999];
/// The same, with relative error 2⁻⁵⁷.
const DOUBLE: [f64; 10] = [
    2.5004489677448574e-08,
    2.7630444483237444e-07,
    2.7557572292830053e-06,
    2.480149248278168e-05,
    0.00019841269522464795,
    0.0013888888944313677,
    0.008333333333487052,
    0.04166666666652705,
    0.16666666666666424,
    0.5000000000000011,
];

#[cfg(test)]
mod tests {
    use super::{EXP_BELOW, exp, exp_below};

    #[test]
    fn what_vanishes_is_what_the_least_argument_gives() {
        for x in [-104.0f32, -104.00001, -1e9, f32::MIN, f32::NEG_INFINITY] {
            assert_eq!((exp(x).to_bits(), exp_below(x).to_bits()), (0, 0), "{x:e}");
        }
        for x in [-746.0f64, -746.000001, -1e9, f64::MIN, f64::NEG_INFINITY] {
            assert_eq!((exp(x).to_bits(), exp_below(x).to_bits()), (0, 0), "{x:e}");
        }
        assert_eq!((exp(-103.9f32).to_bits(), exp(-745.1f64).to_bits()), (1, 1));
    }

    #[test]
    fn below_the_bound_both_ways_give_the_same_bits() {
        let same = |x: f32| assert_eq!(exp_below(x).to_bits(), exp(x).to_bits(), "{x:e}");
        let bound = (EXP_BELOW as f32).to_bits();
        // Every 97th number up to the bound, and those beside it; below zero down to the least.
        (0..bound).step_by(97).chain(bound - 100..=bound).for_each(|bits| same(f32::from_bits(bits)));
        let least = f32::NEG_INFINITY.to_bits();
        ((-0.0f32).to_bits()..least)
            .step_by(197)
            .chain(least - 100..=least)
            .for_each(|bits| same(f32::from_bits(bits)));
        // What is not a normal number.
        ((-87.0f32).to_bits()..(-105.0f32).to_bits()).for_each(|bits| same(f32::from_bits(bits)));
        assert!(exp_below(f32::NAN).is_nan() && exp(f32::NAN).is_nan());
        for x in (0..=2_000_000).map(|i| f64::from(i).mul_add(4.1e-4, -756.0)) {
            assert_eq!(exp_below(x).to_bits(), exp(x).to_bits(), "{x:e}");
        }
    }
}
