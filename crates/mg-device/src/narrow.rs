//! Floats of eight bits: [`F8E4M3`] and [`F8E5M2`] (Micikevicius et al., "FP8 formats for deep learning", 2022).

use std::cmp::Ordering;
use std::fmt;

/// How a float of eight bits lies: a sign, `fraction` bits at the end, and an exponent between them. What converts these, on whatever device, does so by
/// this table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Narrow {
    /// Bits of the fraction.
    pub fraction: u32,
    /// What is added to an exponent of zero.
    pub bias: u32,
    /// The largest number.
    pub most: f32,
    /// The code of what is larger, infinity included.
    pub beyond: u8,
    /// The least code, without its sign, that is no finite number.
    pub special: u8,
}

impl Narrow {
    /// Of [`F8E4M3`].
    pub const E4M3: Narrow = Narrow { fraction: 3, bias: 7, most: 448.0, beyond: 0x7e, special: 0x7f };
    /// Of [`F8E5M2`].
    pub const E5M2: Narrow = Narrow { fraction: 2, bias: 15, most: 57344.0, beyond: 0x7c, special: 0x7c };

    /// What a code stands for.
    #[inline]
    #[must_use]
    pub fn value(self, code: u8) -> f32 {
        let magnitude = u32::from(code & 0x7f) << (23 - self.fraction);
        // Scaled by a power of two, which also makes subnormal numbers right.
        let scaled = f32::from_bits(magnitude) * f32::from_bits((254 - self.bias) << 23);
        let special = magnitude | 0x7f80_0000;
        let bits = if code & 0x7f >= self.special { special } else { scaled.to_bits() };
        f32::from_bits(bits | u32::from(code & 0x80) << 24)
    }

    /// The code of the nearest number, ties to even. NaN stays NaN with its sign.
    #[inline]
    #[must_use]
    pub fn code(self, value: f32) -> u8 {
        let magnitude = value.abs();
        // The exponent of the number, at least that of the least normal one. Half as much again, as many places above it as a fraction
        // lacks, rounds at the right place.
        let exponent = (magnitude.to_bits() & 0x7f80_0000).clamp((128 - self.bias) << 23, 200 << 23);
        let magic = f32::from_bits(exponent + ((23 - self.fraction) << 23)) * 1.5;
        let rounded = (magnitude + magic) - magic;
        let near = (rounded * f32::from_bits(self.bias << 23)).to_bits() >> (23 - self.fraction);
        let code = if rounded > self.most { self.beyond } else { near as u8 };
        let code = if value.is_nan() { 0x7f } else { code };
        code | (value.to_bits() >> 24 & 0x80) as u8
    }
}

macro_rules! narrow {
    ($(#[doc = $doc:literal])+ $Name:ident, $how:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $Name(u8);

        impl $Name {
            /// How it lies.
            pub const LAYOUT: Narrow = Narrow::$how;

            /// The number of these bits.
            #[inline]
            #[must_use]
            pub const fn from_bits(bits: u8) -> $Name {
                $Name(bits)
            }

            /// Its bits.
            #[inline]
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// Its value.
            #[must_use]
            pub fn to_f32(self) -> f32 {
                Narrow::$how.value(self.0)
            }

            /// The nearest number, ties to even; what is said of numbers beyond the largest holds of infinity, too. NaN stays NaN with its
            /// sign.
            #[must_use]
            pub fn from_f32(value: f32) -> $Name {
                $Name(Narrow::$how.code(value))
            }

            /// Whether it is no number.
            #[must_use]
            pub fn is_nan(self) -> bool {
                self.to_f32().is_nan()
            }
        }

        impl PartialEq for $Name {
            fn eq(&self, other: &$Name) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $Name {
            fn partial_cmp(&self, other: &$Name) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $Name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    };
}

narrow! {
    /// 4 bits of exponent, 3 of fraction, no infinity: numbers up to 448, and NaN where all bits but the sign are 1.
    ///
    /// What is larger, infinity included, becomes 448 with its sign, as in PyTorch 2.15 and as GPUs convert it. (PyTorch before made NaN of it.)
    ///
    /// ```
    /// use mg_device::F8E4M3;
    ///
    /// assert_eq!(F8E4M3::from_f32(3.3).to_f32(), 3.25);
    /// assert_eq!(F8E4M3::from_f32(1e6).to_f32(), 448.0);
    /// assert!(F8E4M3::from_bits(0xff).is_nan());
    /// ```
    F8E4M3, E4M3
}

narrow! {
    /// 5 bits of exponent, 2 of fraction: the upper half of an f16, with its infinity and NaN; numbers up to 57344.
    ///
    /// ```
    /// use mg_device::F8E5M2;
    ///
    /// assert_eq!(F8E5M2::from_f32(3.3).to_f32(), 3.5);
    /// assert_eq!(F8E5M2::from_f32(1e6).to_f32(), f32::INFINITY);
    /// assert!(F8E5M2::from_bits(0x7d).is_nan());
    /// ```
    F8E5M2, E5M2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a code stands for, by the formula of the paper.
    fn value(code: u8, fraction: i32, bias: i32) -> f64 {
        let (exponent, rest) = (i32::from(code & 0x7f) >> fraction, i32::from(code) & ((1 << fraction) - 1));
        let least = f64::from(rest) / f64::from(1 << fraction);
        let magnitude = match exponent {
            0 => least * 2f64.powi(1 - bias),
            _ => (1.0 + least) * 2f64.powi(exponent - bias),
        };
        if code & 0x80 == 0 { magnitude } else { -magnitude }
    }

    #[test]
    fn every_code_is_what_the_paper_says_and_comes_back() {
        for code in 0..=u8::MAX {
            let (a, b) = (F8E4M3::from_bits(code), F8E5M2::from_bits(code));
            assert_eq!(a.is_nan(), code & 0x7f == 0x7f);
            assert_eq!(b.is_nan(), code & 0x7f > 0x7c);
            assert_eq!((a.is_nan(), b.is_nan()), (a.to_f32().is_nan(), b.to_f32().is_nan()));
            assert_eq!((a == a, b == b), (!a.is_nan(), !b.is_nan()));
            let sign = code & 0x80 != 0;
            assert_eq!((a.to_f32().is_sign_negative(), b.to_f32().is_sign_negative()), (sign, sign));
            if a.is_nan() {
                assert_eq!(F8E4M3::from_f32(a.to_f32()).to_bits(), code);
            } else {
                assert_eq!(f64::from(a.to_f32()).to_bits(), value(code, 3, 7).to_bits(), "{code:#x}");
                assert_eq!(F8E4M3::from_f32(a.to_f32()).to_bits(), code);
            }
            if b.is_nan() {
                assert_eq!(F8E5M2::from_f32(b.to_f32()).to_bits(), code | 0x7f);
            } else {
                let want = if code & 0x7f == 0x7c {
                    f64::INFINITY.copysign(value(code, 2, 15))
                } else {
                    value(code, 2, 15)
                };
                assert_eq!(f64::from(b.to_f32()).to_bits(), want.to_bits(), "{code:#x}");
                assert_eq!(F8E5M2::from_f32(b.to_f32()).to_bits(), code);
            }
        }
    }

    /// Around every number and every middle of two: the nearest, and of two as near the even one.
    #[test]
    fn rounding_is_to_nearest_even() {
        for code in 0..0x7e {
            let (a, b) = (F8E4M3::from_bits(code).to_f32(), F8E4M3::from_bits(code + 1).to_f32());
            check(|v| F8E4M3::from_f32(v).to_bits(), code, a, b);
        }
        for code in 0..0x7b {
            let (a, b) = (F8E5M2::from_bits(code).to_f32(), F8E5M2::from_bits(code + 1).to_f32());
            check(|v| F8E5M2::from_f32(v).to_bits(), code, a, b);
        }
        fn check(of: impl Fn(f32) -> u8, code: u8, a: f32, b: f32) {
            let middle = f32::midpoint(a, b);
            let even = code + (code & 1);
            for (v, want) in
                [(a, code), (middle.next_down(), code), (middle, even), (middle.next_up(), code + 1)]
            {
                assert_eq!((of(v), of(-v)), (want, want | 0x80), "{v}");
            }
        }
        for v in [464.0f32, 464.1, 1e30, f32::MAX, f32::INFINITY] {
            assert_eq!((F8E4M3::from_f32(v).to_bits(), F8E4M3::from_f32(-v).to_bits()), (0x7e, 0xfe));
        }
        assert_eq!(F8E5M2::from_f32(61440f32.next_down()).to_bits(), 0x7b);
        for v in [61440.0f32, 1e30, f32::MAX, f32::INFINITY] {
            assert_eq!((F8E5M2::from_f32(v).to_bits(), F8E5M2::from_f32(-v).to_bits()), (0x7c, 0xfc));
        }
        assert_eq!(F8E4M3::from_f32(-f32::NAN).to_bits(), 0xff);
    }
}
