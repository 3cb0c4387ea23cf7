//! Conversions: between dtypes, and between memory and the cells of tiles.

use super::loops::{Isa, MapFn, by_isa};
use crate::cell::Cell;
use mg_device::DType;

#[inline(always)]
unsafe fn map<A: Copy, R>(dst: *mut u8, a: *const u8, n: usize, f: impl Fn(A) -> R) {
    // SAFETY: by the contract of `MapFn` both ranges are valid and do not overlap.
    let (dst, a) = unsafe {
        (std::slice::from_raw_parts_mut(dst.cast::<R>(), n), std::slice::from_raw_parts(a.cast::<A>(), n))
    };
    for i in 0..n {
        dst[i] = f(a[i]);
    }
}

/// The conversion of tile values from one dtype to another: floats saturate to integers, integers wrap, as casts between
/// integers do in PyTorch and NumPy. The result of a conversion to a half type, or to a float of eight bits, is in f32, not yet rounded: [`round_loop`]
/// does that.
pub fn cast_loop(from: DType, to: DType, isa: Isa) -> MapFn {
    macro_rules! to {
        ($A:ty) => {
            match to {
                DType::F32 | DType::F16 | DType::BF16 | DType::F8E4M3 | DType::F8E5M2 => {
                    cast!($A, |v| v as f32)
                }
                DType::F64 => cast!($A, |v| v as f64),
                DType::I64 => cast!($A, |v| v as i64),
                DType::I32 => cast!($A, |v| v as i32),
                DType::I16 => cast!($A, |v| v as i16 as i32),
                DType::I8 => cast!($A, |v| v as i8 as i32),
                DType::U64 => cast!($A, |v| v as u64),
                DType::U32 => cast!($A, |v| v as u32 as i64),
                DType::U16 => cast!($A, |v| v as u16 as i32),
                DType::U8 => cast!($A, |v| v as u8),
                DType::Bool => cast!($A, |v| (v != 0 as $A) as u8),
            }
        };
    }
    macro_rules! cast {
        ($A:ty, |$v:ident| $e:expr) => {
            by_isa!(isa, MapFn, fn<>(dst: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
                map(dst, a, n, |$v: $A| $e)
            }, [])
        };
    }
    let from = Cell::of(from);
    if to.is_rounded() {
        match from {
            Cell::F64 => return cast!(f64, |v| round_to_odd(v)),
            Cell::I64 => return cast!(i64, |v| round_to_odd(int_to_odd(v))),
            Cell::U64 => return cast!(u64, |v| round_to_odd(unsigned_to_odd(v))),
            Cell::I32 => return cast!(i32, |v| round_to_odd(v as f64)),
            Cell::F32 | Cell::U8 | Cell::Bool => {}
        }
    }
    match (from, to) {
        (Cell::F32, DType::F16) => return cast!(f32, |v| round_f16(v)),
        (Cell::F32, DType::BF16) => return cast!(f32, |v| round_bf16(v)),
        (Cell::F32, DType::I64) => return cast!(f32, |v| saturated_i64(v.into())),
        (Cell::F64, DType::I64) => return cast!(f64, |v| saturated_i64(v)),
        (Cell::F32, DType::I32) => return cast!(f32, |v| saturated_i32(v.into())),
        (Cell::F64, DType::I32) => return cast!(f64, |v| saturated_i32(v)),
        (Cell::F32 | Cell::F64 | Cell::I64 | Cell::I32 | Cell::U64 | Cell::U8 | Cell::Bool, _) => {}
    }
    match from {
        Cell::F32 => to!(f32),
        Cell::F64 => to!(f64),
        Cell::I64 => to!(i64),
        Cell::I32 => to!(i32),
        Cell::U64 => to!(u64),
        Cell::U8 | Cell::Bool => to!(u8),
    }
}

/// `v as i64`, in steps that vectors have.
#[inline(always)]
fn saturated_i64(v: f64) -> i64 {
    const BOUND: f64 = (1u64 << 63) as f64;
    let (below, above) = (v < -BOUND, v >= BOUND);
    let inside = if below || above || v.is_nan() { 0.0 } else { v };
    // SAFETY: it is a number within the bounds.
    let whole: i64 = unsafe { inside.to_int_unchecked() };
    let whole = if below { i64::MIN } else { whole };
    if above { i64::MAX } else { whole }
}

/// `v as i32`, likewise.
#[inline(always)]
fn saturated_i32(v: f64) -> i32 {
    let (least, most) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let inside = if v > least { v } else { least };
    let inside = if inside < most { inside } else { most };
    let inside = if v.is_nan() { 0.0 } else { inside };
    // SAFETY: it is a number within the bounds.
    unsafe { inside.to_int_unchecked() }
}

/// The f32 beside `v` whose last bit is odd, unless `v` is an f32: rounding that once more gives what rounding `v` would. It is what
/// mg-device's `dtype.rs` has for one number, where the source is named, without a branch.
#[inline(always)]
fn round_to_odd(v: f64) -> f32 {
    let nearest = v as f32;
    let bits = nearest.to_bits();
    let wide = nearest as f64;
    let toward_zero = bits.wrapping_sub((wide.abs() > v.abs()) as u32);
    let odd = toward_zero | (wide != v) as u32;
    f32::from_bits(if v.is_nan() { bits } else { odd })
}

/// The f64 beside `v` that is odd in units of 2¹¹, unless `v` is an f64: see [`round_to_odd`].
#[inline(always)]
fn int_to_odd(v: i64) -> f64 {
    // Below 2⁵³ every integer is an f64; above, a multiple of 2¹¹ is one.
    let lost = v & 0x7ff;
    let odd = (v - lost) | (((lost != 0) as i64) << 11);
    let exact = v.unsigned_abs() < 1 << 53;
    (if exact { v } else { odd }) as f64
}

/// As [`int_to_odd`], of an integer without a sign.
#[inline(always)]
fn unsigned_to_odd(v: u64) -> f64 {
    let lost = v & 0x7ff;
    let odd = (v - lost) | (((lost != 0) as u64) << 11);
    (if v < 1 << 53 { v } else { odd }) as f64
}

/// Brings cells in place to a dtype that is narrower: f32 to a half type, integers to fewer bits.
pub type RoundFn = unsafe fn(dst: *mut u8, n: usize);

/// What brings the result of an instruction to a dtype that is narrower than its cell: half types are rounded, integers
/// wrapped; `None` for the others.
pub fn round_loop(dtype: DType, isa: Isa) -> Option<RoundFn> {
    #[inline(always)]
    unsafe fn each<T: Copy>(dst: *mut u8, n: usize, f: impl Fn(T) -> T) {
        // SAFETY: by the contract of `RoundFn`, `dst` is valid for `n` cells.
        for v in unsafe { std::slice::from_raw_parts_mut(dst.cast::<T>(), n) } {
            *v = f(*v);
        }
    }
    macro_rules! each {
        ($f:expr) => {
            Some(by_isa!(isa, RoundFn, fn<>(dst: *mut u8, n: usize) { each(dst, n, $f) }, []))
        };
    }
    match dtype {
        DType::F16 => each!(round_f16),
        DType::BF16 => each!(round_bf16),
        DType::F8E4M3 => Some(narrow::round_e4m3),
        DType::F8E5M2 => Some(narrow::round_e5m2),
        DType::I16 => each!(|v: i32| v as i16 as i32),
        DType::I8 => each!(|v: i32| v as i8 as i32),
        DType::U16 => each!(|v: i32| v as u16 as i32),
        DType::U32 => each!(|v: i64| v as u32 as i64),
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::U64 | DType::U8 | DType::Bool => None,
    }
}

/// Nearest f16, ties to even, as f32. Adding and subtracting a power of two 13 bits above the number's own (10 bits
/// above the last place of a denormal) rounds at the right place.
#[inline(always)]
pub(crate) fn round_f16(v: f32) -> f32 {
    let magnitude = v.abs();
    // The exponent of the number, at least that of the smallest normal f16 (2⁻¹⁴).
    let exponent = (magnitude.to_bits() & 0x7f80_0000).clamp(113 << 23, 200 << 23);
    let magic = f32::from_bits(exponent.wrapping_add(13 << 23)) * 1.5;
    let rounded = (magnitude + magic) - magic;
    let finite = if rounded >= 65520.0 { f32::INFINITY } else { rounded };
    let result = if magnitude < f32::INFINITY { finite } else { magnitude };
    f32::from_bits(result.to_bits() | (v.to_bits() & 0x8000_0000))
}

/// Nearest bf16, ties to even, as f32.
#[inline(always)]
pub(crate) fn round_bf16(v: f32) -> f32 {
    let bits = v.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) & 0xffff_0000;
    let nan = (bits | 0x0040_0000) & 0xffff_0000;
    f32::from_bits(if v.is_nan() { nan } else { rounded })
}

/// f16 bits to f32: shift into place and scale, which also makes denormals right.
#[inline(always)]
pub(crate) fn f16_to_f32(bits: u16) -> f32 {
    let magnitude = ((bits & 0x7fff) as u32) << 13;
    let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000); // 2¹¹²
    let special = f32::from_bits(magnitude | 0x7f80_0000);
    let result = if magnitude >= 0x0f80_0000 { special } else { scaled };
    f32::from_bits(result.to_bits() | (((bits & 0x8000) as u32) << 16))
}

/// An f32 that is an f16 already, to its bits.
#[inline(always)]
pub(crate) fn f16_from_f32(v: f32) -> u16 {
    let scaled = (v.abs() * f32::from_bits(0x0780_0000)).to_bits() >> 13; // 2⁻¹¹²
    let special = if v.is_nan() { 0x7e00 } else { 0x7c00 };
    let magnitude = if v.abs() < f32::INFINITY { scaled } else { special };
    magnitude as u16 | ((v.to_bits() >> 16) & 0x8000) as u16
}

/// bf16 bits to f32.
#[inline(always)]
pub(crate) fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// An f32 that is a bf16 already, to its bits.
#[inline(always)]
pub(crate) fn bf16_from_f32(v: f32) -> u16 {
    (v.to_bits() >> 16) as u16
}

/// Floats of eight bits. Their loops are compiled once, for both: they are read and written once in a while, and not computed with.
mod narrow {
    use mg_device::Narrow;

    unsafe fn values(dst: *mut u8, a: *const u8, n: usize, how: Narrow) {
        // SAFETY: by the contract of `MapFn`.
        unsafe { super::map(dst, a, n, |code: u8| how.value(code)) }
    }

    unsafe fn codes(dst: *mut u8, a: *const u8, n: usize, how: Narrow) {
        // SAFETY: as above.
        unsafe { super::map(dst, a, n, |v: f32| how.code(v)) }
    }

    unsafe fn round(dst: *mut u8, n: usize, how: Narrow) {
        // SAFETY: by the contract of `RoundFn`, `dst` is valid for `n` cells.
        for v in unsafe { std::slice::from_raw_parts_mut(dst.cast::<f32>(), n) } {
            *v = how.value(how.code(*v));
        }
    }

    macro_rules! of {
        ($how:ident, $values:ident, $codes:ident, $round:ident) => {
            pub unsafe fn $values(dst: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
                // SAFETY: the caller keeps the contract of `MapFn`.
                unsafe { values(dst, a, n, Narrow::$how) }
            }
            pub unsafe fn $codes(dst: *mut u8, a: *const u8, _: *const u8, _: *const u8, n: usize) {
                // SAFETY: as above.
                unsafe { codes(dst, a, n, Narrow::$how) }
            }
            pub unsafe fn $round(dst: *mut u8, n: usize) {
                // SAFETY: the caller keeps the contract of `RoundFn`.
                unsafe { round(dst, n, Narrow::$how) }
            }
        };
    }
    of!(E4M3, values_e4m3, codes_e4m3, round_e4m3);
    of!(E5M2, values_e5m2, codes_e5m2, round_e5m2);
}

macro_rules! mapped {
    ($isa:expr, $f:expr) => {
        Some(
            by_isa!($isa, MapFn, fn<>(dst: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
                map(dst, a, n, $f)
            }, []),
        )
    };
}

/// From memory to a tile: what is narrower than its cell widens; `None` where memory and tile agree.
pub fn load_loop(dtype: DType, isa: Isa) -> Option<MapFn> {
    match dtype {
        DType::F16 => mapped!(isa, f16_to_f32),
        DType::BF16 => mapped!(isa, bf16_to_f32),
        DType::F8E4M3 => Some(narrow::values_e4m3),
        DType::F8E5M2 => Some(narrow::values_e5m2),
        DType::I16 => mapped!(isa, |v: i16| v as i32),
        DType::I8 => mapped!(isa, |v: i8| v as i32),
        DType::U16 => mapped!(isa, |v: u16| v as i32),
        DType::U32 => mapped!(isa, |v: u32| v as i64),
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::U64 | DType::U8 | DType::Bool => None,
    }
}

/// From f32 in a tile to a float of fewer bits in memory, rounded on the way; `None` for other dtypes.
pub fn narrow_loop(dtype: DType, isa: Isa) -> Option<MapFn> {
    match dtype {
        DType::F16 => mapped!(isa, |v: f32| f16_from_f32(round_f16(v))),
        DType::BF16 => mapped!(isa, |v: f32| bf16_from_f32(round_bf16(v))),
        DType::F8E4M3 => Some(narrow::codes_e4m3),
        DType::F8E5M2 => Some(narrow::codes_e5m2),
        DType::F64 | DType::F32 | DType::Bool => None,
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => None,
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => None,
    }
}

/// From a tile to memory, the inverse of [`load_loop`] for rounded values.
pub fn store_loop(dtype: DType, isa: Isa) -> Option<MapFn> {
    match dtype {
        DType::F16 => mapped!(isa, f16_from_f32),
        DType::BF16 => mapped!(isa, bf16_from_f32),
        DType::F8E4M3 => Some(narrow::codes_e4m3),
        DType::F8E5M2 => Some(narrow::codes_e5m2),
        DType::I16 | DType::U16 => mapped!(isa, |v: i32| v as u16),
        DType::I8 => mapped!(isa, |v: i32| v as u8),
        DType::U32 => mapped!(isa, |v: i64| v as u32),
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::U64 | DType::U8 | DType::Bool => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::loops::isa;
    use super::*;
    use half::{bf16, f16};
    use mg_device::{F8E4M3, F8E5M2};

    #[test]
    fn floats_saturate_to_integers() {
        let edges = [
            0.0,
            -0.0,
            0.9,
            -0.9,
            1e9,
            2147483647.0,
            2147483648.0,
            2147483647.5,
            9.3e18,
            1e300,
            f64::INFINITY,
        ];
        for v in edges.into_iter().flat_map(|v| [v, -v]).chain([f64::NAN, 9223372036854774784.0]) {
            assert_eq!((saturated_i64(v), saturated_i32(v)), (v as i64, v as i32), "{v}");
        }
    }

    /// Loops over many are those of one, whatever their length.
    #[test]
    fn floats_of_eight_bits_agree_with_those_of_mg_device() {
        let of = |dtype, v| {
            if dtype == DType::F8E4M3 { F8E4M3::from_f32(v).to_bits() } else { F8E5M2::from_f32(v).to_bits() }
        };
        let value = |dtype, code| match dtype {
            DType::F8E4M3 => F8E4M3::from_bits(code).to_f32().to_bits(),
            _ => F8E5M2::from_bits(code).to_f32().to_bits(),
        };
        let halves =
            (0..=u16::MAX).flat_map(|bits| [f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32()]);
        let numbers: Vec<f32> = halves.chain((0..=u32::MAX).step_by(9973).map(f32::from_bits)).collect();
        let all: Vec<u8> = (0..=u8::MAX).collect();
        for dtype in [DType::F8E4M3, DType::F8E5M2] {
            let (mut codes, mut rounded, mut values) =
                (vec![0u8; numbers.len()], numbers.clone(), vec![0f32; 256]);
            let (from, to) = (numbers.as_ptr().cast(), codes.as_mut_ptr());
            // SAFETY: as long as they say.
            unsafe {
                store_loop(dtype, isa()).unwrap()(to, from, from, from, numbers.len());
                round_loop(dtype, isa()).unwrap()(rounded.as_mut_ptr().cast(), numbers.len());
                load_loop(dtype, isa()).unwrap()(
                    values.as_mut_ptr().cast(),
                    all.as_ptr(),
                    all.as_ptr(),
                    all.as_ptr(),
                    256,
                );
            }
            for (i, &v) in numbers.iter().enumerate() {
                assert_eq!(
                    (codes[i], rounded[i].to_bits()),
                    (of(dtype, v), value(dtype, of(dtype, v))),
                    "{dtype} {v}"
                );
            }
            for code in all.iter().copied() {
                assert_eq!(values[usize::from(code)].to_bits(), value(dtype, code), "{dtype} {code:#x}");
            }
        }
    }

    #[test]
    fn f16_round_trip_and_rounding_agree_with_half() {
        for bits in 0..=u16::MAX {
            let want = f16::from_bits(bits);
            let got = f16_to_f32(bits);
            assert!(got.to_bits() == want.to_f32().to_bits() || want.is_nan() && got.is_nan(), "{bits:#x}");
            if !want.is_nan() {
                assert_eq!(f16_from_f32(got), bits);
            }
        }
        for bits in (0..=u32::MAX).step_by(9973) {
            let v = f32::from_bits(bits);
            let (a, b) = (round_f16(v), f16::from_f32(v).to_f32());
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{v} gives {a}, not {b}");
            let (a, b) = (round_bf16(v), bf16::from_f32(v).to_f32());
            assert!(a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(), "{v} gives {a}, not {b}");
        }
    }
}
