//! `Lane`: what the body of a row is written against.
//!
//! A body is one generic Rust function. Instantiated with `f32`, `f64` or an integer type inside a loop it is the CPU
//! kernel (the compiler vectorises the loop); instantiated with a register type whose methods write instructions it
//! is the GPU kernel. Both perform the same IEEE operations in the same order, so the results are equal bit by bit.
//! For that reason a body never branches on a value (it selects), and fuses a multiply with an add only where it
//! says [`FloatLane::fma`].

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A number in flight: arithmetic, comparison, selection.
///
/// Integers wrap; floating-point operations round to nearest even and keep denormals. Division is exact (correctly
/// rounded) for floats and truncates for integers, where the executor has refused a zero divisor before.
pub trait Lane: Copy {
    /// The result of a comparison, consumed by [`Lane::select`].
    type Mask: Copy;

    /// The constant `value` in the context of `self`, rounded to this lane's type.
    fn lit(self, value: f64) -> Self;
    /// `self + o`.
    fn add(self, o: Self) -> Self;
    /// `self − o`.
    fn sub(self, o: Self) -> Self;
    /// `self · o`.
    fn mul(self, o: Self) -> Self;
    /// `self / o`.
    fn div(self, o: Self) -> Self;
    /// `−self`.
    fn neg(self) -> Self;
    /// `|self|`.
    fn abs(self) -> Self;
    /// `self < o`; false when either is NaN.
    fn lt(self, o: Self) -> Self::Mask;
    /// `self ≤ o`; false when either is NaN.
    fn le(self, o: Self) -> Self::Mask;
    /// `self = o`; false when either is NaN.
    fn eq(self, o: Self) -> Self::Mask;
    /// `a` where the mask holds, else `b`. Both are computed.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// Both masks hold.
    fn both(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Either mask holds.
    fn either(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The mask does not hold.
    fn not(a: Self::Mask) -> Self::Mask;
    /// `self` is a NaN (never, for integers).
    fn is_nan(self) -> Self::Mask;
}

/// The two formats that floating-point bodies are written for. Half types compute in [`Format::Single`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// IEEE binary32.
    Single,
    /// IEEE binary64.
    Double,
}

/// A floating-point [`Lane`], with its bits.
pub trait FloatLane: Lane {
    /// The signed integer lane of the same width.
    type Bits: BitLane<Mask = Self::Mask>;

    /// Which format this lane computes in; constant for a type, so a `match` on it costs nothing on the CPU.
    fn format(self) -> Format;
    /// `self · b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// The correctly rounded square root.
    fn sqrt(self) -> Self;
    /// `self / o` where nothing comes near the ends of the format: `o` and the quotient between 2⁻¹⁰⁰ and 2¹²⁵ in single precision
    /// and `self` above 2⁻¹⁰⁰, or zero. Elsewhere an executor may answer with anything.
    #[inline(always)]
    fn quotient(self, o: Self) -> Self {
        self.div(o)
    }
    /// The square root of a number that does not come near the ends of the format: zero, or above 2⁻¹⁰⁰ in single precision; NaN of what is
    /// below zero. Elsewhere an executor may answer with anything.
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
    /// `low` below it, `high` above it, NaN for NaN; neither bound is zero.
    #[inline(always)]
    fn between(self, low: Self, high: Self) -> Self {
        let x = Self::select(self.lt(low), low, self);
        Self::select(high.lt(x), high, x)
    }
    /// `low` below it, NaN for NaN; the bound is not +0.
    #[inline(always)]
    fn at_least(self, low: Self) -> Self {
        Self::select(self.lt(low), low, self)
    }
    /// What `f` makes of `self`, where it makes +0 of `low` and of all that is below it. A processor takes some hundred cycles for a product that
    /// leaves the normal numbers, so one does not ask `f` there: softmax of scores that a mask has made −∞ is full of such.
    #[inline(always)]
    fn vanishing(self, _low: Self, f: impl FnOnce(Self) -> Self) -> Self {
        f(self)
    }
    /// The bit pattern as a signed integer.
    fn to_bits(self) -> Self::Bits;
    /// The number with this bit pattern.
    fn from_bits(bits: Self::Bits) -> Self;
    /// `self · 2ⁿ`, rounded once, for a whole n: what `by_bits` makes, unless there is an instruction for it.
    #[inline(always)]
    fn scaled(self, _n: Self, by_bits: impl FnOnce() -> Self) -> Self {
        by_bits()
    }
    /// `inside` where `self` is positive and finite, and elsewhere what its logarithm is: −∞ of zero, NaN of what is below, itself of
    /// ∞ and NaN.
    #[inline(always)]
    fn logarithm(self, inside: Self) -> Self {
        logarithm_by_selects(self, inside)
    }
    /// What `any` makes, by the shorter way of `fast` where the mask holds for all that are computed at once: there both make the same. Only
    /// who computes many at once asks.
    #[inline(always)]
    fn usually(
        _mask: impl FnOnce() -> Self::Mask,
        _fast: impl FnOnce() -> Self,
        any: impl FnOnce() -> Self,
    ) -> Self {
        any()
    }
    /// `values`, or what `other` makes of them where the mask holds, which is seldom: who computes one number at a time jumps over
    /// it. It computes what it would without the mask, so that the result is the same whoever does both.
    #[inline(always)]
    fn seldom<const N: usize>(
        mask: Self::Mask,
        values: [Self; N],
        other: impl FnOnce([Self; N]) -> [Self; N],
    ) -> [Self; N] {
        let (mut made, others) = (values, other(values));
        for (made, other) in made.iter_mut().zip(others) {
            *made = Self::select(mask, other, *made);
        }
        made
    }
}

/// [`FloatLane::logarithm`], where there is no other way.
#[inline(always)]
pub(crate) fn logarithm_by_selects<L: FloatLane>(x: L, inside: L) -> L {
    let (zero, infinity) = (x.lit(0.0), x.lit(f64::INFINITY));
    let result = L::select(x.lt(infinity), inside, x);
    let result = L::select(x.eq(zero), infinity.neg(), result);
    L::select(x.lt(zero), x.lit(f64::NAN), result)
}

/// An integer [`Lane`] with its bits: what dtypes of integers are, in two's complement (u64 and u8: without a sign).
pub trait IntLane: Lane {
    /// How many bits there are.
    const BITS: u32;
    /// Bitwise and.
    fn and(self, o: Self) -> Self;
    /// Bitwise or.
    fn or(self, o: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, o: Self) -> Self;
    /// Shift left; 0 where `o` is negative or at least [`IntLane::BITS`].
    fn shl(self, o: Self) -> Self;
    /// Shift right, filling with the sign, if there is one; nothing but that where `o` is negative or at least
    /// [`IntLane::BITS`].
    fn shr(self, o: Self) -> Self;
}

/// A truth value in flight, as the bodies of rows of logic see it.
pub trait Truth:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
}

/// An integer lane for bit patterns: two's complement, wrapping.
pub trait BitLane: Copy {
    /// The result of a comparison.
    type Mask: Copy;
    /// A constant.
    fn lit(self, value: i64) -> Self;
    /// Wrapping `self + o`.
    fn add(self, o: Self) -> Self;
    /// Wrapping `self − o`.
    fn sub(self, o: Self) -> Self;
    /// Wrapping `self · o`, the low half.
    fn mul(self, o: Self) -> Self;
    /// Bitwise and.
    fn and(self, o: Self) -> Self;
    /// Bitwise or.
    fn or(self, o: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, o: Self) -> Self;
    /// Shift left by a constant smaller than the width.
    fn shl(self, by: u32) -> Self;
    /// Shift right by a constant, filling with the sign.
    fn sar(self, by: u32) -> Self;
    /// Shift right by a constant, filling with zeros.
    fn shr(self, by: u32) -> Self;
    /// Signed `self < o`.
    fn lt(self, o: Self) -> Self::Mask;
    /// `self = o`.
    fn eq(self, o: Self) -> Self::Mask;
    /// `a` where the mask holds, else `b`.
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
}

macro_rules! mask_methods {
    () => {
        type Mask = bool;
        #[inline(always)]
        fn select(mask: bool, a: Self, b: Self) -> Self {
            if mask { a } else { b }
        }
        #[inline(always)]
        fn both(a: bool, b: bool) -> bool {
            a & b
        }
        #[inline(always)]
        fn either(a: bool, b: bool) -> bool {
            a | b
        }
        #[inline(always)]
        fn not(a: bool) -> bool {
            !a
        }
        #[inline(always)]
        fn lt(self, o: Self) -> bool {
            self < o
        }
        #[inline(always)]
        fn le(self, o: Self) -> bool {
            self <= o
        }
        #[inline(always)]
        fn eq(self, o: Self) -> bool {
            self == o
        }
    };
}

macro_rules! float_lane {
    ($float:ty, $bits:ty, $format:expr) => {
        impl Lane for $float {
            mask_methods!();
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self + o
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self - o
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self * o
            }
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                self / o
            }
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::from_bits(self.to_bits() & !(1 << (<$bits>::BITS - 1)))
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
        impl FloatLane for $float {
            type Bits = $bits;
            #[inline(always)]
            fn format(self) -> Format {
                $format
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            #[inline(always)]
            fn vanishing(self, low: Self, f: impl FnOnce(Self) -> Self) -> Self {
                nothing_below(self, low, f)
            }
            #[inline(always)]
            fn to_bits(self) -> $bits {
                <$float>::to_bits(self) as $bits
            }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                <$float>::from_bits(bits as _)
            }
        }
    };
}

/// [`FloatLane::vanishing`] of who computes on a processor.
#[inline(always)]
pub(crate) fn nothing_below<L: FloatLane>(x: L, low: L, f: impl FnOnce(L) -> L) -> L {
    let (is_below, zero) = (x.lt(low), x.lit(0.0));
    L::select(is_below, zero, f(L::select(is_below, zero, x)))
}

float_lane!(f32, i32, Format::Single);
float_lane!(f64, i64, Format::Double);

macro_rules! int_lane {
    ($int:ty) => {
        impl Lane for $int {
            mask_methods!();
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                value as $int
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                // A zero divisor is refused by the executor (`Row::refuses_zero`) before this loop runs.
                if o == 0 { 0 } else { self.wrapping_div(o) }
            }
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            #[allow(unused_comparisons)] // one macro for signed and unsigned
            fn abs(self) -> Self {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    };
}
int_lane!(i32);
int_lane!(i64);
int_lane!(u64);
int_lane!(u8);

macro_rules! whole_lane {
    ($int:ty, $unsigned:ty) => {
        impl IntLane for $int {
            const BITS: u32 = <$int>::BITS;
            #[inline(always)]
            fn and(self, o: Self) -> Self {
                self & o
            }
            #[inline(always)]
            fn or(self, o: Self) -> Self {
                self | o
            }
            #[inline(always)]
            fn xor(self, o: Self) -> Self {
                self ^ o
            }
            #[inline(always)]
            fn shl(self, o: Self) -> Self {
                let beyond = o as $unsigned >= <$int>::BITS as $unsigned;
                if beyond { 0 } else { self.wrapping_shl(o as u32) }
            }
            #[inline(always)]
            #[allow(unused_comparisons)] // one macro for signed and unsigned
            fn shr(self, o: Self) -> Self {
                let beyond = o as $unsigned >= <$int>::BITS as $unsigned;
                let sign = if self < 0 { !0 } else { 0 };
                if beyond { sign } else { self.wrapping_shr(o as u32) }
            }
        }
    };
}
whole_lane!(i32, u32);
whole_lane!(i64, u64);
whole_lane!(u64, u64);
whole_lane!(u8, u8);

macro_rules! bit_lane {
    ($int:ty, $unsigned:ty) => {
        impl BitLane for $int {
            type Mask = bool;
            #[inline(always)]
            fn lit(self, value: i64) -> Self {
                value as $int
            }
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            #[inline(always)]
            fn and(self, o: Self) -> Self {
                self & o
            }
            #[inline(always)]
            fn or(self, o: Self) -> Self {
                self | o
            }
            #[inline(always)]
            fn xor(self, o: Self) -> Self {
                self ^ o
            }
            #[inline(always)]
            fn shl(self, by: u32) -> Self {
                self << by
            }
            #[inline(always)]
            fn sar(self, by: u32) -> Self {
                self >> by
            }
            #[inline(always)]
            fn shr(self, by: u32) -> Self {
                ((self as $unsigned) >> by) as $int
            }
            #[inline(always)]
            fn lt(self, o: Self) -> bool {
                self < o
            }
            #[inline(always)]
            fn eq(self, o: Self) -> bool {
                self == o
            }
            #[inline(always)]
            fn select(mask: bool, a: Self, b: Self) -> Self {
                if mask { a } else { b }
            }
        }
    };
}
bit_lane!(i32, u32);
bit_lane!(i64, u64);
