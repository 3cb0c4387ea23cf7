//! The CPU loops of the op table: one vectorised loop for each row, dtype and instruction set.
//!
//! Bodies are `#[inline(always)]`; each loop is instantiated inside functions compiled for AVX-512, for AVX2 with
//! FMA, and for the build's baseline, and the processor decides once which of them a launch calls.

use crate::cell::{Cell, by_cell};
use crate::lane::{FloatLane, IntLane, Lane, Truth};
use crate::math;
use crate::rows::{self, Compare2, Float1, Float2, Integer2, Logic1, Logic2, Numeric1, Numeric2, Row};
use mg_device::DType;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use std::sync::OnceLock;

/// A loop over `n` elements: `dst[i] = f(a[i], b[i], c[i])`. Operands that the row lacks are ignored.
///
/// Safety: `dst` is valid for `n` writes and overlaps no operand; each operand the row has is valid for `n` reads; all
/// have the dtype the loop was chosen for.
pub type MapFn = unsafe fn(dst: *mut u8, a: *const u8, b: *const u8, c: *const u8, n: usize);

/// The instruction sets that loops are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isa {
    /// What the build was made for.
    Baseline,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ and VL.
    Avx512,
}

/// The widest instruction set of this processor.
pub fn isa() -> Isa {
    static ISA: OnceLock<Isa> = OnceLock::new();
    *ISA.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx2 && avx512 {
                return Isa::Avx512;
            }
            if avx2 {
                return Isa::Avx2;
            }
        }
        Isa::Baseline
    })
}

/// Compiles `$body` (a call of an `#[inline(always)]` generic) for each instruction set and answers with the right one. What is `narrow`
/// is not compiled for the widest: large bodies that wait for memory, as pooling's.
macro_rules! by_isa {
    (narrow $isa:expr, $fn_type:ty, fn <$($G:ident : $Bound:path),*> ($($arg:ident : $T:ty),*) $(-> $R:ty)? $body:block, [$($Actual:ty),*]) => {{
        $crate::cpu::loops::by_isa!(@each fn <$($G: $Bound),*> ($($arg: $T),*) $(-> $R)? $body);
        let f: $fn_type = match $isa {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::loops::Isa::Avx512 | $crate::cpu::loops::Isa::Avx2 => avx2::<$($Actual),*>,
            _ => baseline::<$($Actual),*>,
        };
        f
    }};
    (@each fn <$($G:ident : $Bound:path),*> ($($arg:ident : $T:ty),*) $(-> $R:ty)? $body:block) => {
        #[inline(always)]
        unsafe fn inner<$($G: $Bound),*>($($arg: $T),*) $(-> $R)? {
            // SAFETY: the caller keeps the contract of the function type.
            unsafe { $body }
        }
        unsafe fn baseline<$($G: $Bound),*>($($arg: $T),*) $(-> $R)? {
            // SAFETY: as above.
            unsafe { inner::<$($G),*>($($arg),*) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt")]
        unsafe fn avx2<$($G: $Bound),*>($($arg: $T),*) $(-> $R)? {
            // SAFETY: as above.
            unsafe { inner::<$($G),*>($($arg),*) }
        }
    };
    ($isa:expr, $fn_type:ty, fn <$($G:ident : $Bound:path),*> ($($arg:ident : $T:ty),*) $(-> $R:ty)? $body:block, [$($Actual:ty),*]) => {{
        $crate::cpu::loops::by_isa!(@each fn <$($G: $Bound),*> ($($arg: $T),*) $(-> $R)? $body);
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn avx512<$($G: $Bound),*>($($arg: $T),*) $(-> $R)? {
            // SAFETY: as above.
            unsafe { inner::<$($G),*>($($arg),*) }
        }
        let f: $fn_type = match $isa {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::loops::Isa::Avx512 => avx512::<$($Actual),*>,
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::loops::Isa::Avx2 => avx2::<$($Actual),*>,
            _ => baseline::<$($Actual),*>,
        };
        f
    }};
}
pub(crate) use by_isa;

// Bodies are reached through these traits, not through closures: calls of closures are not always inlined, and a large
// body left outside its loop would be compiled without the instruction set.

/// A unary body for one type.
trait Unary<T> {
    fn at(a: T) -> T;
}

/// A binary body for one type of operands.
trait Binary<T, R> {
    fn at(a: T, b: T) -> R;
}

struct Numeric<Name>(std::marker::PhantomData<Name>);
struct Float<Name>(std::marker::PhantomData<Name>);
struct Integer<Name>(std::marker::PhantomData<Name>);
struct Compare<Name>(std::marker::PhantomData<Name>);

impl<T: Lane, Name: Numeric1> Unary<T> for Numeric<Name> {
    #[inline(always)]
    fn at(a: T) -> T {
        Name::apply(a)
    }
}
impl<T: FloatLane, Name: Float1> Unary<T> for Float<Name> {
    #[inline(always)]
    fn at(a: T) -> T {
        Name::apply(a)
    }
}
impl<T: Lane, Name: Numeric2> Binary<T, T> for Numeric<Name> {
    #[inline(always)]
    fn at(a: T, b: T) -> T {
        Name::apply(a, b)
    }
}
impl<T: FloatLane, Name: Float2> Binary<T, T> for Float<Name> {
    #[inline(always)]
    fn at(a: T, b: T) -> T {
        Name::apply(a, b)
    }
}
impl<T: IntLane, Name: Integer2> Binary<T, T> for Integer<Name> {
    #[inline(always)]
    fn at(a: T, b: T) -> T {
        Name::apply(a, b)
    }
}
impl<T: MaskLane, Name: Compare2> Binary<T, u8> for Compare<Name> {
    #[inline(always)]
    fn at(a: T, b: T) -> u8 {
        Name::apply(a, b) as u8
    }
}

/// `dst[i] = f(a[i])` over slices that do not overlap, which is what lets the compiler vectorise without a check.
#[inline(always)]
unsafe fn unary<T: Copy, F: Unary<T>>(dst: *mut u8, a: *const u8, n: usize) {
    // SAFETY: by the contract of `MapFn` both ranges are valid and do not overlap.
    let (dst, a) = unsafe {
        (std::slice::from_raw_parts_mut(dst.cast::<T>(), n), std::slice::from_raw_parts(a.cast::<T>(), n))
    };
    for i in 0..n {
        dst[i] = F::at(a[i]);
    }
}

/// `dst[i] = f(a[i], b[i])`, as [`unary`].
#[inline(always)]
unsafe fn binary<T: Copy, R, F: Binary<T, R>>(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: by the contract of `MapFn` the ranges are valid and `dst` overlaps neither.
    let (dst, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(dst.cast::<R>(), n),
            std::slice::from_raw_parts(a.cast::<T>(), n),
            std::slice::from_raw_parts(b.cast::<T>(), n),
        )
    };
    for i in 0..n {
        dst[i] = F::at(a[i], b[i]);
    }
}

macro_rules! numeric {
    ($dtype:expr, $T:ident => $e:expr) => {
        by_cell!($dtype, $T => $e, F32 f32, F64 f64, I64 i64, I32 i32, U64 u64, U8 u8)
    };
}

macro_rules! float {
    ($dtype:expr, $T:ident => $e:expr) => {
        by_cell!($dtype, $T => $e, F32 f32, F64 f64)
    };
}

macro_rules! integer {
    ($dtype:expr, $T:ident => $e:expr) => {
        by_cell!($dtype, $T => $e, I64 i64, I32 i32, U64 u64, U8 u8)
    };
}

macro_rules! row_loop {
    (Numeric, $Name:ident, ($a:ident), $dtype:expr, $isa:expr) => {
        numeric!($dtype, T => by_isa!($isa, MapFn, fn<T: Lane>(dst: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
            unary::<T, Numeric<rows::$Name>>(dst, a, n)
        }, [T]))
    };
    (Numeric, $Name:ident, ($a:ident $b:ident), $dtype:expr, $isa:expr) => {
        numeric!($dtype, T => by_isa!($isa, MapFn, fn<T: Lane>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
            binary::<T, T, Numeric<rows::$Name>>(dst, a, b, n)
        }, [T]))
    };
    (Float, $Name:ident, ($a:ident), $dtype:expr, $isa:expr) => {
        float!($dtype, T => by_isa!($isa, MapFn, fn<T: FloatLane>(dst: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
            unary::<T, Float<rows::$Name>>(dst, a, n)
        }, [T]))
    };
    (Float, $Name:ident, ($a:ident $b:ident), $dtype:expr, $isa:expr) => {
        float!($dtype, T => by_isa!($isa, MapFn, fn<T: FloatLane>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
            binary::<T, T, Float<rows::$Name>>(dst, a, b, n)
        }, [T]))
    };
    (Integer, $Name:ident, ($a:ident $b:ident), $dtype:expr, $isa:expr) => {
        integer!($dtype, T => by_isa!($isa, MapFn, fn<T: IntLane>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
            binary::<T, T, Integer<rows::$Name>>(dst, a, b, n)
        }, [T]))
    };
    (Compare, $Name:ident, ($a:ident $b:ident), $dtype:expr, $isa:expr) => {{
        // A bool compares as the byte 0 or 1 that it is.
        let dtype = if $dtype == DType::Bool { DType::U8 } else { $dtype };
        numeric!(dtype, T => by_isa!($isa, MapFn, fn<T: MaskLane>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
            binary::<T, u8, Compare<rows::$Name>>(dst, a, b, n)
        }, [T]))
    }};
    (Logic, $Name:ident, ($a:ident), $dtype:expr, $isa:expr) => {
        Some(by_isa!($isa, MapFn, fn<>(dst: *mut u8, a: *const u8, _b: *const u8, _c: *const u8, n: usize) {
            unary::<Byte, Logic<rows::$Name>>(dst, a, n)
        }, []))
    };
    (Logic, $Name:ident, ($a:ident $b:ident), $dtype:expr, $isa:expr) => {
        Some(by_isa!($isa, MapFn, fn<>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
            binary::<Byte, Byte, Logic<rows::$Name>>(dst, a, b, n)
        }, []))
    };
    (Select, $Name:ident, ($c:ident $a:ident $b:ident), $dtype:expr, $isa:expr) => {
        match cell_size($dtype) {
            1 => Some(by_isa!($isa, MapFn, fn<>(dst: *mut u8, c: *const u8, a: *const u8, b: *const u8, n: usize) { select::<u8>(dst, c, a, b, n) }, [])),
            4 => Some(by_isa!($isa, MapFn, fn<>(dst: *mut u8, c: *const u8, a: *const u8, b: *const u8, n: usize) { select::<u32>(dst, c, a, b, n) }, [])),
            _ => Some(by_isa!($isa, MapFn, fn<>(dst: *mut u8, c: *const u8, a: *const u8, b: *const u8, n: usize) { select::<u64>(dst, c, a, b, n) }, [])),
        }
    };
}

/// A lane whose masks are plain bools: every CPU lane.
trait MaskLane: Lane<Mask = bool> {}
impl<T: Lane<Mask = bool>> MaskLane for T {}

/// The same of floats.
trait SingleLane: FloatLane<Mask = bool> {}
impl<T: FloatLane<Mask = bool>> SingleLane for T {}

/// A truth value as a byte that is 0 or 1.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Byte(u8);

impl BitAnd for Byte {
    type Output = Byte;
    #[inline(always)]
    fn bitand(self, o: Byte) -> Byte {
        Byte(self.0 & o.0)
    }
}
impl BitOr for Byte {
    type Output = Byte;
    #[inline(always)]
    fn bitor(self, o: Byte) -> Byte {
        Byte(self.0 | o.0)
    }
}
impl BitXor for Byte {
    type Output = Byte;
    #[inline(always)]
    fn bitxor(self, o: Byte) -> Byte {
        Byte(self.0 ^ o.0)
    }
}
impl Not for Byte {
    type Output = Byte;
    #[inline(always)]
    fn not(self) -> Byte {
        Byte(self.0 ^ 1)
    }
}
impl Truth for Byte {}

struct Logic<B>(std::marker::PhantomData<B>);
impl<B: Logic1> Unary<Byte> for Logic<B> {
    #[inline(always)]
    fn at(a: Byte) -> Byte {
        B::apply(a)
    }
}
impl<B: Logic2> Binary<Byte, Byte> for Logic<B> {
    #[inline(always)]
    fn at(a: Byte, b: Byte) -> Byte {
        B::apply(a, b)
    }
}

/// Bits of a value, for `where`.
trait Bits: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {
    /// All bits where a byte is not 0, else none.
    fn where_not_zero(c: u8) -> Self;
}
macro_rules! bits {
    ($($T:ty)*) => {$(
        impl Bits for $T {
            #[inline(always)]
            fn where_not_zero(c: u8) -> $T {
                <$T>::from(c != 0).wrapping_neg()
            }
        }
    )*};
}
bits!(u8 u32 u64);

/// By masks, not by a choice, of which compilers make one between addresses: each element would be gathered.
#[inline(always)]
unsafe fn select<T: Bits>(dst: *mut u8, c: *const u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: by the contract of `MapFn` the ranges are valid and `dst` overlaps none of the others.
    let (dst, c, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(dst.cast::<T>(), n),
            std::slice::from_raw_parts(c, n),
            std::slice::from_raw_parts(a.cast::<T>(), n),
            std::slice::from_raw_parts(b.cast::<T>(), n),
        )
    };
    for i in 0..n {
        let mask = T::where_not_zero(c[i]);
        dst[i] = (a[i] & mask) | (b[i] & !mask);
    }
}

/// Quotients of integers, by runs: those of numbers that f64 holds, as these, which vectors are divided as. A quotient below 2⁵³ that is no
/// whole number is further from the next one than rounding brings it.
#[inline(always)]
unsafe fn divide(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: by the contract of `MapFn` the ranges are valid and `dst` overlaps neither.
    let (dst, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(dst.cast::<i64>(), n),
            std::slice::from_raw_parts(a.cast::<i64>(), n),
            std::slice::from_raw_parts(b.cast::<i64>(), n),
        )
    };
    const LIMIT: i64 = 1 << 52;
    for ((dst, a), b) in dst.chunks_mut(RUN).zip(a.chunks(RUN)).zip(b.chunks(RUN)) {
        // Bits beyond the limit, which a negative number has like one that is as far from zero.
        let (mut far, mut is_zero) = (0, false);
        for i in 0..dst.len() {
            far |= (a[i].wrapping_add(LIMIT) | b[i].wrapping_add(LIMIT)) & !(2 * LIMIT - 1);
            is_zero |= b[i] == 0;
        }
        if far == 0 && !is_zero {
            for i in 0..dst.len() {
                // SAFETY: a quotient of numbers within the limit, by one that is not zero, is within it.
                dst[i] = unsafe { (a[i] as f64 / b[i] as f64).to_int_unchecked() };
            }
        } else {
            for i in 0..dst.len() {
                dst[i] = Lane::div(a[i], b[i]);
            }
        }
    }
}

/// Elements whose quotients are looked at together.
const RUN: usize = 64;

/// Remainders, by runs of elements: where no quotient of a run has more than one digit, the others need not be gone through, and the
/// result is the same.
#[inline(always)]
unsafe fn fmod<T: FloatLane<Mask = bool>>(dst: *mut u8, a: *const u8, b: *const u8, n: usize) {
    // SAFETY: by the contract of `MapFn` the ranges are valid and `dst` overlaps neither.
    let (dst, a, b) = unsafe {
        (
            std::slice::from_raw_parts_mut(dst.cast::<T>(), n),
            std::slice::from_raw_parts(a.cast::<T>(), n),
            std::slice::from_raw_parts(b.cast::<T>(), n),
        )
    };
    for ((dst, a), b) in dst.chunks_mut(RUN).zip(a.chunks(RUN)).zip(b.chunks(RUN)) {
        let mut near = true;
        for i in 0..dst.len() {
            near &= math::has_one_digit(a[i], b[i]);
        }
        if near {
            for i in 0..dst.len() {
                dst[i] = math::fmod_of_one_digit(a[i], b[i]);
            }
        } else {
            for i in 0..dst.len() {
                dst[i] = math::fmod(a[i], b[i]);
            }
        }
    }
}

/// Bytes that a value of this dtype takes in a tile.
pub fn cell_size(dtype: DType) -> usize {
    Cell::of(dtype).size()
}

macro_rules! row_loops {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// The loop of `row` over operands of `dtype` (for `where`: the dtype of the two values); `None` where the row
        /// does not take the dtype.
        pub fn map_loop(row: Row, dtype: DType, isa: Isa) -> Option<MapFn> {
            if row == Row::Fmod {
                return float!(dtype, T => by_isa!(isa, MapFn, fn<T: SingleLane>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
                    fmod::<T>(dst, a, b, n)
                }, [T]));
            }
            if row == Row::Div && dtype == DType::I64 {
                return Some(by_isa!(isa, MapFn, fn<>(dst: *mut u8, a: *const u8, b: *const u8, _c: *const u8, n: usize) {
                    divide(dst, a, b, n)
                }, []));
            }
            match row {
                $(Row::$Name => row_loop!($class, $Name, ($($arg)+), dtype, isa)),*
            }
        }
    };
}
for_each_row!(row_loops);
