//! Keys: unsigned integers in the order of elements.

use mg_device::{bf16, f16};

/// An element that can be ordered.
pub(in crate::library) trait Element: Copy + Send + Sync + PartialEq {
    /// Bits of its key.
    const BITS: u32;
    /// The key: equal elements (zeros of either sign, NaN of any kind) have the same one, and NaN has the largest.
    fn key(self) -> u64;
    /// An element with this key.
    fn of(key: u64) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// Whether it is a float that is zero, of which there are two.
    fn is_zero(self) -> bool;
    /// Whether it has no sign.
    fn is_positive(self) -> bool;
}

macro_rules! floats {
    ($($T:ty, $U:ty, $I:ty;)*) => {$(
        impl Element for $T {
            const BITS: u32 = <$U>::BITS;
            #[inline(always)]
            fn key(self) -> u64 {
                const SIGN: $U = 1 << (<$U>::BITS - 1);
                let bits = self.to_bits();
                let magnitude = bits & !SIGN;
                // All bits of a negative number are turned, and the sign of a positive one.
                let key = bits ^ ((bits as $I >> (<$U>::BITS - 1)) as $U | SIGN);
                let key = if magnitude == 0 { SIGN } else { key };
                let infinity = <$T>::INFINITY.to_bits();
                (if magnitude > infinity { <$U>::MAX } else { key }) as u64
            }
            #[inline(always)]
            fn of(key: u64) -> $T {
                const SIGN: $U = 1 << (<$U>::BITS - 1);
                let key = key as $U;
                let bits = if key & SIGN != 0 { key ^ SIGN } else { !key };
                if key == <$U>::MAX { <$T>::NAN } else { <$T>::from_bits(bits) }
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$T>::is_nan(self)
            }
            #[inline(always)]
            fn is_zero(self) -> bool {
                self.to_bits() << 1 == 0
            }
            #[inline(always)]
            fn is_positive(self) -> bool {
                self.to_bits() >> (<$U>::BITS - 1) == 0
            }
        }
    )*};
}
floats! {
    f32, u32, i32;
    f64, u64, i64;
    f16, u16, i16;
    bf16, u16, i16;
}

macro_rules! integers {
    ($($T:ty, $U:ty, $sign:expr;)*) => {$(
        impl Element for $T {
            const BITS: u32 = <$U>::BITS;
            #[inline(always)]
            fn key(self) -> u64 {
                (self as $U ^ $sign) as u64
            }
            #[inline(always)]
            fn of(key: u64) -> $T {
                (key as $U ^ $sign) as $T
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_zero(self) -> bool {
                false
            }
            #[inline(always)]
            fn is_positive(self) -> bool {
                true
            }
        }
    )*};
}
integers! {
    i64, u64, 1 << 63;
    i32, u32, 1 << 31;
    i16, u16, 1 << 15;
    i8, u8, 1 << 7;
    u64, u64, 0;
    u32, u32, 0;
    u16, u16, 0;
    u8, u8, 0;
}
