//! What is done to bits: signs, neighbours.

use super::sign_bit;
use crate::lane::{BitLane, FloatLane};

/// |a| with the sign of b, zeros and NaN included.
#[inline(always)]
pub fn copysign<L: FloatLane>(a: L, b: L) -> L {
    L::from_bits(a.abs().to_bits().or(b.to_bits().and(sign_bit(b))))
}

/// The next number of the format after a towards b, as C's `nextafter`.
#[inline(always)]
pub fn nextafter<L: FloatLane>(a: L, b: L) -> L {
    let zero = a.lit(0.0);
    let bits = a.to_bits();
    let one = bits.lit(1);
    // Away from zero the bits grow by one, towards it they fall by one.
    let away = L::either(L::both(a.lt(b), zero.lt(a)), L::both(b.lt(a), a.lt(zero)));
    let stepped = L::from_bits(L::Bits::select(away, bits.add(one), bits.sub(one)));
    let least = L::from_bits(one.or(b.to_bits().and(sign_bit(b))));
    let result = L::select(a.eq(zero), least, stepped);
    let result = L::select(a.eq(b), b, result);
    L::select(L::either(a.is_nan(), b.is_nan()), a.lit(f64::NAN), result)
}
