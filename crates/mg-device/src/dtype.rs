//! Element types: the tag that buffers carry ([`DType`]) and the Rust types behind it ([`Element`]).

use std::ffi::CStr;
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

use half::{bf16, f16};

use crate::error::{Error, ErrorKind, Result};
use crate::narrow::{F8E4M3, F8E5M2, Narrow};

/// What kind of number a dtype holds, from the one that gives way to the one that wins where two kinds meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// A truth value.
    Bool,
    /// An integer, with or without a sign.
    Integer,
    /// A floating-point number.
    Float,
}

/// The table of dtypes, a row each, by which everything else asks: `for_each_dtype!([callback] with)` is `callback!((with) rows)`.
///
/// The columns: the variant; the short name; the Rust type; names in PyTorch and NumPy, of which the first is how it is printed; the
/// category, where that of a float that is not computed with is `Narrow`; whether it has a sign; bits of the exponent of a float, else 0; what PyTorch's older classes begin with (`FloatTensor`,
/// `FloatStorage`), or ""; the code in Python's `struct`, which NumPy and the buffer protocol have too, or ""; DLPack's code of its
/// kind; the number in ONNX's `TensorProto.DataType`; what it is, in words.
#[macro_export]
macro_rules! for_each_dtype {
    ([$($callback:tt)+] $($with:tt)*) => {
        $($callback)+! {
            ($($with)*)
            F64 f64 (f64) ["float64" "double"] Float true 11 "Double" c"d" 2 11
                "IEEE 754 double precision.";
            F32 f32 (f32) ["float32" "float" "single"] Float true 8 "Float" c"f" 2 1
                "IEEE 754 single precision.";
            F16 f16 ($crate::f16) ["float16" "half"] Float true 5 "Half" c"e" 2 10
                "IEEE 754 half precision: 5 exponent bits, 10 of fraction.";
            BF16 bf16 ($crate::bf16) ["bfloat16"] Float true 8 "BFloat16" c"" 4 16
                "The upper half of an `f32`: 8 exponent bits, 7 of fraction.";
            F8E4M3 f8_e4m3 ($crate::F8E4M3) ["float8_e4m3fn"] Narrow true 4 "" c"" 10 17
                "A float of eight bits, 4 of exponent and 3 of fraction, without infinity: held and converted, not computed with.";
            F8E5M2 f8_e5m2 ($crate::F8E5M2) ["float8_e5m2"] Narrow true 5 "" c"" 12 19
                "A float of eight bits, 5 of exponent and 2 of fraction: held and converted, not computed with.";
            I64 i64 (i64) ["int64" "long"] Integer true 0 "Long" c"q" 0 7
                "Signed 64-bit integer.";
            I32 i32 (i32) ["int32" "int"] Integer true 0 "Int" c"i" 0 6
                "Signed 32-bit integer.";
            I16 i16 (i16) ["int16" "short"] Integer true 0 "Short" c"h" 0 5
                "Signed 16-bit integer.";
            I8 i8 (i8) ["int8"] Integer true 0 "Char" c"b" 0 3
                "Signed 8-bit integer.";
            U64 u64 (u64) ["uint64"] Integer false 0 "" c"Q" 1 13
                "Unsigned 64-bit integer.";
            U32 u32 (u32) ["uint32"] Integer false 0 "" c"I" 1 12
                "Unsigned 32-bit integer.";
            U16 u16 (u16) ["uint16"] Integer false 0 "" c"H" 1 4
                "Unsigned 16-bit integer.";
            U8 u8 (u8) ["uint8" "byte"] Integer false 0 "Byte" c"B" 1 2
                "Unsigned 8-bit integer.";
            Bool bool (bool) ["bool"] Bool false 0 "Bool" c"?" 6 9
                "Truth value: one byte, 0 or 1.";
        }
    };
}

macro_rules! dtypes {
    (() $($Name:ident $short:ident ($T:ty) [$name:literal $($alias:literal)*] $category:ident $signed:literal $exponent:literal
        $legacy:literal $code:literal $dlpack:literal $onnx:literal $doc:literal;)*) => {
        /// The type of a tensor's elements.
        ///
        /// # Examples
        ///
        /// ```
        /// use mg_device::DType;
        ///
        /// assert_eq!("bfloat16".parse::<DType>()?, DType::BF16);
        /// assert_eq!(DType::promote(DType::F16, DType::I64), DType::F16);
        /// assert_eq!(DType::F32.size(), 4);
        /// # Ok::<(), mg_device::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum DType {
            $(#[doc = $doc] $Name,)*
        }

        impl DType {
            /// Every dtype.
            pub const ALL: [DType; [$($name),*].len()] = [$(DType::$Name),*];

            /// Bytes an element takes.
            #[inline]
            #[must_use]
            pub const fn size(self) -> usize {
                match self {
                    $(DType::$Name => size_of::<$T>(),)*
                }
            }

            /// The short name: "f32", "bf16", "i64", "bool", …
            #[inline]
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(DType::$Name => stringify!($short),)*
                }
            }

            /// The name in PyTorch, NumPy and Python: "float32", "bfloat16", "int64", "bool", …
            #[inline]
            #[must_use]
            pub const fn long_name(self) -> &'static str {
                match self {
                    $(DType::$Name => $name,)*
                }
            }

            /// All names that PyTorch and NumPy have for it: "float32", "float", "single".
            #[must_use]
            pub const fn names(self) -> &'static [&'static str] {
                match self {
                    $(DType::$Name => &[$name $(, $alias)*],)*
                }
            }

            /// Truth value, integer or floating point.
            #[inline]
            #[must_use]
            pub const fn category(self) -> Category {
                match self {
                    $(DType::$Name => of_category!($category { Category::Float } { Category::Float } { Category::Integer } { Category::Bool }),)*
                }
            }

            /// Whether it holds numbers below zero.
            #[inline]
            #[must_use]
            pub const fn is_signed(self) -> bool {
                match self {
                    $(DType::$Name => $signed,)*
                }
            }

            /// Bits of a float's exponent; what they and the sign leave is its fraction. 0 for what is no float.
            #[must_use]
            pub const fn exponent_bits(self) -> u32 {
                match self {
                    $(DType::$Name => $exponent,)*
                }
            }

            /// What the classes begin with that PyTorch once had for each dtype: "Float" of `FloatTensor` and `FloatStorage`. `None`
            /// for those that never had one.
            #[must_use]
            pub const fn legacy_name(self) -> Option<&'static str> {
                let name = match self {
                    $(DType::$Name => $legacy,)*
                };
                if name.is_empty() { None } else { Some(name) }
            }

            /// The code in Python's module `struct` and in the buffer protocol; `None` where these have no such type, nor has NumPy.
            #[must_use]
            pub const fn struct_code(self) -> Option<&'static CStr> {
                let code = match self {
                    $(DType::$Name => $code,)*
                };
                if code.is_empty() { None } else { Some(code) }
            }

            /// DLPack's `DLDataTypeCode`, which tells the type together with its size.
            #[must_use]
            pub const fn dlpack_code(self) -> u8 {
                match self {
                    $(DType::$Name => $dlpack,)*
                }
            }

            /// The number in `TensorProto.DataType` of ONNX.
            #[must_use]
            pub const fn onnx_number(self) -> i32 {
                match self {
                    $(DType::$Name => $onnx,)*
                }
            }

            /// Which floating-point type it is; `None` for integers, `bool`, and for floats that are [not computed with](DType::is_narrow).
            #[inline]
            #[must_use]
            pub const fn float(self) -> Option<Float> {
                match self {
                    $(DType::$Name => of_category!($category { Some(Float::$Name) } { None } { None } { None }),)*
                }
            }

            /// How a float of eight bits lies; `None` for other dtypes.
            #[inline]
            #[must_use]
            pub const fn narrow(self) -> Option<Narrow> {
                match self {
                    $(DType::$Name => of_category!($category { None } { Some(<$T>::LAYOUT) } { None } { None }),)*
                }
            }

            /// The dtype of a name, short or long.
            #[allow(unreachable_patterns, reason = "the short name of bool is its long one")]
            fn named(name: &str) -> Option<DType> {
                match name {
                    $(stringify!($short) | $name $(| $alias)* => Some(DType::$Name),)*
                    _ => None,
                }
            }
        }

        $(of_category!($category {} {} { integer!($T, $Name); } {});)*
    };
}

/// One of four, for a float, a float that is not computed with, an integer, a truth value.
macro_rules! of_category {
    (Float { $($float:tt)* } $narrow:tt $integer:tt $bool:tt) => { $($float)* };
    (Narrow $float:tt { $($narrow:tt)* } $integer:tt $bool:tt) => { $($narrow)* };
    (Integer $float:tt $narrow:tt { $($integer:tt)* } $bool:tt) => { $($integer)* };
    (Bool $float:tt $narrow:tt $integer:tt { $($bool:tt)* }) => { $($bool)* };
}

/// Evaluates an expression for the Rust type of a dtype: `with_element!(dtype, T => size_of::<T>())`.
#[macro_export]
macro_rules! with_element {
    ((@$of:ident $dtype:expr, $T:ident => $e:expr)
        $($Name:ident $short:ident $Type:tt $names:tt $category:ident $signed:literal $exponent:literal
            $legacy:literal $code:literal $dlpack:literal $onnx:literal $doc:literal;)*) => {
        match $dtype {
            $($crate::DType::$Name => $crate::with_element!(@$of $category $Type $T $e),)*
        }
    };
    (@element $category:ident ($Type:ty) $T:ident $e:expr) => {{
        type $T = $Type;
        $e
    }};
    (@number Bool $Type:tt $T:ident $e:expr) => { $crate::with_element!(@element Bool (u8) $T $e) };
    (@number $category:ident $Type:tt $T:ident $e:expr) => { $crate::with_element!(@element $category $Type $T $e) };
    (@computed Narrow $Type:tt $T:ident $e:expr) => { None };
    (@computed $category:ident $Type:tt $T:ident $e:expr) => { Some($crate::with_element!(@number $category $Type $T $e)) };
    (@integer Integer $Type:tt $T:ident $e:expr) => { Some($crate::with_element!(@element Integer $Type $T $e)) };
    (@integer $category:ident $Type:tt $T:ident $e:expr) => { None };
    ($dtype:expr, $T:ident => $e:expr) => {
        $crate::for_each_dtype!([$crate::with_element] @element $dtype, $T => $e)
    };
}

/// As [`with_element!`], with truth values as the bytes that they are.
#[macro_export]
macro_rules! with_number {
    ($dtype:expr, $T:ident => $e:expr) => {
        $crate::for_each_dtype!([$crate::with_element] @number $dtype, $T => $e)
    };
}

/// As [`with_number!`], as `Some`; `None` for floats that are not computed with.
#[macro_export]
macro_rules! with_computed {
    ($dtype:expr, $T:ident => $e:expr) => {
        $crate::for_each_dtype!([$crate::with_element] @computed $dtype, $T => $e)
    };
}

/// As [`with_element!`] for integers, as `Some`; `None` for floats and truth values.
#[macro_export]
macro_rules! with_integer {
    ($dtype:expr, $T:ident => $e:expr) => {
        $crate::for_each_dtype!([$crate::with_element] @integer $dtype, $T => $e)
    };
}

// Kernels that move elements by their size know of these, and take what is none of the first three for the last.
const _: () = {
    let mut i = 0;
    while i < DType::ALL.len() {
        assert!(matches!(DType::ALL[i].size(), 1 | 2 | 4 | 8));
        i += 1;
    }
};

/// The floating-point dtypes that are computed with, for what takes these alone, or does with all others the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Float {
    /// See [`DType::F64`].
    F64,
    /// See [`DType::F32`].
    F32,
    /// See [`DType::F16`].
    F16,
    /// See [`DType::BF16`].
    BF16,
}

/// How many bits an element has, for what works on bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// 8.
    W8,
    /// 16.
    W16,
    /// 32.
    W32,
    /// 64.
    W64,
}

static DEFAULT_FLOAT: AtomicU8 = AtomicU8::new(DType::F32 as u8);

impl DType {
    /// Every dtype that is computed with: all but floats of eight bits.
    pub fn computed() -> impl DoubleEndedIterator<Item = DType> + Clone {
        DType::ALL.into_iter().filter(|dtype| !dtype.is_narrow())
    }

    /// Whether it is a floating-point type.
    #[inline]
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self.category(), Category::Float)
    }

    /// How many bits an element has.
    #[inline]
    #[must_use]
    pub const fn width(self) -> Width {
        match self.size() {
            1 => Width::W8,
            2 => Width::W16,
            4 => Width::W32,
            // There are no others: see the assertion above.
            _ => Width::W64,
        }
    }

    /// NumPy's name of the type and its byte order: "<f4", "|u1"; `None` where NumPy has no such type.
    #[must_use]
    pub fn numpy_name(self) -> Option<String> {
        self.struct_code()?;
        let kind = match self.category() {
            Category::Float => 'f',
            Category::Integer if self.is_signed() => 'i',
            Category::Integer => 'u',
            Category::Bool => 'b',
        };
        let order = if self.size() == 1 { '|' } else { '<' };
        Some(format!("{order}{kind}{}", self.size()))
    }

    /// Whether it is an integer type; `bool` is not.
    #[inline]
    #[must_use]
    pub const fn is_int(self) -> bool {
        matches!(self.category(), Category::Integer)
    }

    /// Whether it is the truth value.
    #[inline]
    #[must_use]
    pub const fn is_bool(self) -> bool {
        matches!(self, DType::Bool)
    }

    /// Whether it is a floating-point type of 16 bits.
    #[inline]
    #[must_use]
    pub const fn is_half(self) -> bool {
        self.is_float() && self.size() == 2
    }

    /// Whether it is a float of eight bits. These are held, moved, compared for equality and converted; what computes takes another
    /// float.
    #[inline]
    #[must_use]
    pub const fn is_narrow(self) -> bool {
        self.narrow().is_some()
    }

    /// Whether it is a float with fewer bits than an f32 has: what was computed in f32 is rounded to it.
    #[inline]
    #[must_use]
    pub const fn is_rounded(self) -> bool {
        self.is_float() && self.size() < 4
    }

    /// The distance from 1 to the next larger number that it holds: 2 to the power of minus the bits of a float's fraction, and 1 of
    /// integers.
    #[inline]
    #[must_use]
    pub const fn epsilon(self) -> f64 {
        if !self.is_float() {
            return 1.0;
        }
        let fraction = 8 * self.size() as u64 - 1 - self.exponent_bits() as u64;
        // An f64 without a fraction, whose exponent is held with 1023 added.
        f64::from_bits((1023 - fraction) << 52)
    }

    /// The dtype in which tensors of dtypes `a` and `b` meet, as in PyTorch's promotion of two tensors with dimensions:
    /// a float beats an integer beats `bool` whatever their widths; within a kind the wider wins; f16 with bf16 is f32. An
    /// integer with a sign and one without meet in the narrowest with a sign that holds both. Where PyTorch has no answer
    /// (unsigned integers above 8 bits), NumPy's holds: u64 with a signed integer is f64.
    ///
    /// A float of eight bits meets nothing but itself. Beside another dtype it stays what it is, so that what computes refuses it; what only
    /// moves elements asks [`DType::met`].
    #[must_use]
    pub const fn promote(a: DType, b: DType) -> DType {
        if a.is_narrow() || b.is_narrow() {
            return if a.is_narrow() { a } else { b };
        }
        let (kind, other) = (a.category() as u8, b.category() as u8);
        if kind != other {
            return if kind > other { a } else { b };
        }
        let (wide, narrow) = if a.size() >= b.size() { (a, b) } else { (b, a) };
        if wide.is_half() {
            return if a as u8 == b as u8 { a } else { DType::F32 };
        }
        let same = wide.is_signed() == narrow.is_signed();
        if same || wide.is_signed() && wide.size() > narrow.size() {
            return wide;
        }
        match wide.size() {
            1 => DType::I16,
            2 => DType::I32,
            4 => DType::I64,
            _ => DType::F64,
        }
    }

    /// The dtype in which operands meet, as PyTorch's `result_type` has it. Operands of one [`Standing`] are promoted; what
    /// stands lower then only counts if its category (bool, integer, float) is higher. Without operands, the default float.
    ///
    /// ```
    /// use mg_device::{DType, Standing};
    ///
    /// let halves = (DType::F16, Standing::Dimensioned);
    /// assert_eq!(DType::result_type([halves, (DType::F64, Standing::Scalar)]), DType::F16);
    /// let bytes = (DType::U8, Standing::Dimensioned);
    /// assert_eq!(DType::result_type([bytes, (DType::F64, Standing::Scalar)]), DType::F64);
    /// assert_eq!(DType::result_type([bytes, (DType::I64, Standing::Number)]), DType::U8);
    /// ```
    #[must_use]
    pub fn result_type(operands: impl IntoIterator<Item = (DType, Standing)>) -> DType {
        let mut met = [None; 3];
        for (dtype, standing) in operands {
            let slot: &mut Option<DType> = &mut met[standing as usize];
            *slot = Some(slot.map_or(dtype, |before| DType::promote(before, dtype)));
        }
        let above = |low: DType, high: DType| if low.category() > high.category() { low } else { high };
        met.into_iter().flatten().reduce(above).unwrap_or_else(DType::default_float)
    }

    /// As [`DType::result_type`], for what does not refuse floats of eight bits by itself.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] where such a float is to meet a tensor of another dtype: as in PyTorch there is none in which they meet.
    ///
    /// ```
    /// use mg_device::{DType, Standing};
    ///
    /// let narrow = (DType::F8E5M2, Standing::Dimensioned);
    /// assert_eq!(DType::met("where", [narrow, (DType::F32, Standing::Number)])?, DType::F8E5M2);
    /// assert!(DType::met("where", [narrow, (DType::F32, Standing::Dimensioned)]).is_err());
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    #[track_caller]
    pub fn met(
        op: &'static str,
        operands: impl IntoIterator<Item = (DType, Standing)> + Clone,
    ) -> Result<DType> {
        let dtype = DType::result_type(operands.clone());
        let unlike =
            operands.into_iter().find(|&(other, standing)| other != dtype && standing != Standing::Number);
        match unlike {
            Some((other, _)) if dtype.is_narrow() || other.is_narrow() => {
                let text = format!(
                    "{other} and {dtype} do not meet in a dtype; convert one of them, as in `x.to_dtype(DType::F32)`"
                );
                Err(Error::new(op, ErrorKind::DType(text)))
            }
            Some(_) | None => Ok(dtype),
        }
    }

    /// The error of what computes, given a float of eight bits: what it got, and what it takes.
    #[track_caller]
    pub fn not_computed(self, op: &'static str) -> Error {
        let text = format!(
            "does not compute in {self}: floats of eight bits are held, moved, compared for equality and converted; convert to f16, bf16, f32 or \
             f64 first, or multiply by `scaled_mm`"
        );
        Error::new(op, ErrorKind::DType(text))
    }

    /// The dtype of floating-point numbers that nobody gave one: f32, unless [`DType::set_default_float`] said otherwise.
    #[must_use]
    pub fn default_float() -> DType {
        let tag = DEFAULT_FLOAT.load(Ordering::Relaxed);
        // Asked for each number that meets a tensor.
        if tag == DType::F32 as u8 {
            return DType::F32;
        }
        DType::ALL.into_iter().find(|d| *d as u8 == tag).unwrap_or(DType::F32)
    }

    /// Makes this the dtype of floating-point numbers that nobody gave one: of tensors that are made without naming a dtype, and
    /// of what integers become where they meet such numbers, or what takes floats. `torch.set_default_dtype`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] for a dtype that is not floating point, or not computed with.
    #[track_caller]
    pub fn set_default_float(dtype: DType) -> Result<()> {
        if dtype.float().is_none() {
            let text = format!("takes a floating-point dtype that is computed with, got {dtype}");
            return Err(Error::new("set_default_dtype", ErrorKind::DType(text)));
        }
        DEFAULT_FLOAT.store(dtype as u8, Ordering::Relaxed);
        Ok(())
    }

    /// The least and the largest value of an integer dtype; `None` for floats and `bool`.
    #[must_use]
    pub const fn int_range(self) -> Option<(i128, i128)> {
        if !self.is_int() {
            return None;
        }
        let bits = 8 * self.size() as u32;
        Some(if self.is_signed() {
            (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
        } else {
            (0, (1 << bits) - 1)
        })
    }
}

/// What an operand is, when dtypes meet: how much its dtype counts, from little to much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Standing {
    /// A number: a float is f32, an integer i64, a truth value bool.
    Number,
    /// A tensor without axes.
    Scalar,
    /// A tensor with axes.
    Dimensioned,
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Takes the short names and those of PyTorch and NumPy: "f32", "float32", "float", "half", "long", "uint8", …
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] for a name that is none of these.
    #[track_caller]
    fn from_str(name: &str) -> Result<DType> {
        DType::named(name).ok_or_else(|| {
            let known = DType::ALL.map(DType::name).join(", ");
            let text = format!("no dtype is called {name:?}; there are {known}, also by PyTorch's names");
            Error::new("dtype", ErrorKind::DType(text))
        })
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that a tensor can hold. Sealed: exactly one for each [`DType`].
pub trait Element: Copy + Send + Sync + Default + fmt::Debug + PartialEq + sealed::Sealed + 'static {
    /// The tag of this type.
    const DTYPE: DType;

    /// The value as a double. Exact, but for integers beyond 2⁵³, which round to nearest; `bool` gives 0 or 1.
    fn to_f64(self) -> f64;

    /// The value as a signed integer. Floats truncate towards zero and saturate, NaN gives 0; a u64 beyond an i64 saturates.
    fn to_i64(self) -> i64;

    /// The nearest value of this type. Floats round to nearest even, and overflow to infinity; integers truncate
    /// towards zero and saturate, NaN gives 0; `bool` is true for everything but zero, NaN included, as in PyTorch.
    fn from_f64(value: f64) -> Self;

    /// The nearest value of this type, rounded once where [`Element::from_f64`] of the integer would round twice.
    fn from_i64(value: i64) -> Self;
}

macro_rules! element {
    ($($ty:ty, $dtype:ident, |$s:ident| $to:expr, $to_int:expr, |$v:ident| $from:expr, |$i:ident| $from_int:expr;)*) => {$(
        impl sealed::Sealed for $ty {}
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            #[inline]
            fn to_f64(self) -> f64 {
                let $s = self;
                $to
            }
            #[inline]
            fn to_i64(self) -> i64 {
                let $s = self;
                $to_int
            }
            #[inline]
            fn from_f64($v: f64) -> Self {
                $from
            }
            #[inline]
            fn from_i64($i: i64) -> Self {
                $from_int
            }
        }
    )*};
}

element! {
    f64, F64, |s| s, s as i64, |v| v, |i| i as f64;
    f32, F32, |s| f64::from(s), s as i64, |v| v as f32, |i| i as f32;
    f16, F16, |s| s.to_f64(), s.to_f64() as i64, |v| f16::from_f32(round_to_odd(v)), |i| f16::from_f32(int_to_odd(i));
    bf16, BF16, |s| s.to_f64(), s.to_f64() as i64, |v| bf16::from_f32(round_to_odd(v)), |i| bf16::from_f32(int_to_odd(i));
    F8E4M3, F8E4M3, |s| s.to_f32().into(), s.to_f32() as i64, |v| F8E4M3::from_f32(round_to_odd(v)), |i| F8E4M3::from_f32(int_to_odd(i));
    F8E5M2, F8E5M2, |s| s.to_f32().into(), s.to_f32() as i64, |v| F8E5M2::from_f32(round_to_odd(v)), |i| F8E5M2::from_f32(int_to_odd(i));
    bool, Bool, |s| f64::from(u8::from(s)), s.into(), |v| v != 0.0, |i| i != 0;
}

macro_rules! integer {
    ($T:ty, $Name:ident) => {
        element! {
            $T, $Name, |s| s as f64, i64::try_from(s).unwrap_or(i64::MAX), |v| v as $T,
                |i| <$T>::try_from(i).unwrap_or(if i < 0 { <$T>::MIN } else { <$T>::MAX });
        }
    };
}

for_each_dtype!([dtypes]);

/// `v` as an f32 whose last bit says whether anything was lost, so that rounding once more, to a half type, gives what
/// rounding `v` at once would have given (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using
/// rounding to odd", IEEE Transactions on Computers 57, 2008). What runs programs has the same without a branch, for vectors (`round_to_odd`
/// of mg-kernels' `cpu/convert.rs`) and as instructions (of `cuda/values.rs`).
fn round_to_odd(v: f64) -> f32 {
    let nearest = v as f32;
    let back = f64::from(nearest);
    if back == v || v.is_nan() || nearest.is_infinite() {
        return nearest;
    }
    let bits = nearest.to_bits();
    if bits & 1 == 1 {
        return nearest;
    }
    // The neighbour on the other side of v is odd, since neighbours differ in the last bit.
    let away_from_zero = back.abs() < v.abs();
    if bits << 1 == 0 {
        // Rounded to zero: the odd neighbour is the least denormal, with v's sign.
        return f32::from_bits(bits | 1);
    }
    f32::from_bits(if away_from_zero { bits + 1 } else { bits - 1 })
}

/// As [`round_to_odd`], of an integer. Beyond 2⁵³, where not every integer is an f64, it is made odd in units of 2¹¹ first.
fn int_to_odd(v: i64) -> f32 {
    let lost = v & 0x7ff;
    let odd = (v - lost) | (i64::from(lost != 0) << 11);
    round_to_odd(if v.unsigned_abs() < 1 << 53 { v } else { odd } as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        for d in DType::ALL {
            assert_eq!(d.to_string().parse::<DType>().unwrap(), d);
        }
        for (name, d) in [
            ("double", DType::F64),
            ("float", DType::F32),
            ("half", DType::F16),
            ("bfloat16", DType::BF16),
            ("long", DType::I64),
            ("int", DType::I32),
            ("uint8", DType::U8),
        ] {
            assert_eq!(name.parse::<DType>().unwrap(), d);
        }
        assert_eq!("float8_e4m3fn".parse::<DType>().unwrap(), DType::F8E4M3);
        let e = "float8".parse::<DType>().unwrap_err();
        assert!(matches!(e.kind(), ErrorKind::DType(_)) && e.to_string().contains("\"float8\""));
    }

    /// The rows of `torch.promote_types`, and of NumPy's where PyTorch has none.
    #[test]
    fn promotion_is_pytorchs() {
        use DType::*;
        let table = [
            (F64, [F64; 13]),
            (F32, [F64, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32, F32]),
            (F16, [F64, F32, F16, F32, F16, F16, F16, F16, F16, F16, F16, F16, F16]),
            (BF16, [F64, F32, F32, BF16, BF16, BF16, BF16, BF16, BF16, BF16, BF16, BF16, BF16]),
            (I64, [F64, F32, F16, BF16, I64, I64, I64, I64, F64, I64, I64, I64, I64]),
            (I32, [F64, F32, F16, BF16, I64, I32, I32, I32, F64, I64, I32, I32, I32]),
            (I16, [F64, F32, F16, BF16, I64, I32, I16, I16, F64, I64, I32, I16, I16]),
            (I8, [F64, F32, F16, BF16, I64, I32, I16, I8, F64, I64, I32, I16, I8]),
            (U64, [F64, F32, F16, BF16, F64, F64, F64, F64, U64, U64, U64, U64, U64]),
            (U32, [F64, F32, F16, BF16, I64, I64, I64, I64, U64, U32, U32, U32, U32]),
            (U16, [F64, F32, F16, BF16, I64, I32, I32, I32, U64, U32, U16, U16, U16]),
            (U8, [F64, F32, F16, BF16, I64, I32, I16, I16, U64, U32, U16, U8, U8]),
            (Bool, [F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool]),
        ];
        for (a, row) in table {
            for (b, want) in DType::ALL.into_iter().filter(|b| !b.is_narrow()).zip(row) {
                assert_eq!(DType::promote(a, b), want, "{a} with {b}");
            }
        }
    }

    #[test]
    fn floats_of_eight_bits_meet_themselves_and_numbers() {
        for a in [DType::F8E4M3, DType::F8E5M2] {
            assert!(a.is_float() && a.is_narrow() && a.float().is_none() && a.is_rounded() && !a.is_half());
            for b in DType::ALL {
                assert!(DType::promote(a, b).is_narrow() && DType::promote(b, a).is_narrow(), "{a} with {b}");
                for standing in [Standing::Scalar, Standing::Dimensioned] {
                    let met = DType::met("cat", [(a, Standing::Dimensioned), (b, standing)]);
                    assert_eq!(met.is_ok(), a == b, "{a} with {b}");
                }
            }
            for number in [DType::F32, DType::I64, DType::Bool] {
                let met = DType::met("eq", [(number, Standing::Number), (a, Standing::Dimensioned)]);
                assert_eq!(met.unwrap(), a);
            }
            assert!(DType::set_default_float(a).is_err());
            let text = a.not_computed("add").to_string();
            assert!(text.contains(a.name()) && text.contains("bf16"), "{text}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_rust_types() {
        for dtype in DType::ALL {
            assert_eq!(with_element!(dtype, T => (T::DTYPE, size_of::<T>())), (dtype, dtype.size()));
            assert_eq!(dtype.long_name().parse::<DType>().unwrap(), dtype);
        }
        assert_eq!(DType::I8.int_range(), Some((-128, 127)));
        assert_eq!(DType::U64.int_range(), Some((0, u64::MAX.into())));
    }

    #[test]
    fn epsilon_is_the_distance_from_1() {
        assert_eq!(DType::F64.epsilon(), f64::EPSILON);
        assert_eq!(DType::F32.epsilon(), f64::from(f32::EPSILON));
        assert_eq!(DType::F16.epsilon(), f16::EPSILON.to_f64());
        assert_eq!(DType::BF16.epsilon(), bf16::EPSILON.to_f64());
        assert_eq!((DType::F8E4M3.epsilon(), DType::F8E5M2.epsilon()), (0.125, 0.25));
        assert_eq!(DType::I32.epsilon(), 1.0);
    }

    #[test]
    fn conversion_saturates_and_nan_gives_zero() {
        assert_eq!(i32::from_f64(1e20), i32::MAX);
        assert_eq!(i64::from_f64(-1e30), i64::MIN);
        assert_eq!(u8::from_f64(-3.0), 0);
        assert_eq!(u8::from_f64(255.9), 255);
        assert_eq!(i32::from_f64(f64::NAN), 0);
        assert_eq!(i32::from_f64(-2.7), -2);
        assert!(bool::from_f64(f64::NAN) && bool::from_f64(0.1) && !bool::from_f64(-0.0));
        assert_eq!(f16::from_f64(1e6), f16::INFINITY);
    }

    /// 1 + 2⁻¹¹ is halfway between two f16; a little more must round up, though the little is lost in f32.
    #[test]
    fn half_types_round_once() {
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(<f16 as Element>::from_f64(above).to_f32(), 1.0 + 2f32.powi(-10));
        assert_eq!(<f16 as Element>::from_f64(1.0 + 2f64.powi(-11)).to_f32(), 1.0);
        let above = 1.0 + 2f64.powi(-8) + 2f64.powi(-50);
        assert_eq!(<bf16 as Element>::from_f64(above).to_f32(), 1.0 + 2f32.powi(-7));
        // Half of the least denormal f16 goes to zero, a little more to the denormal.
        assert_eq!(<f16 as Element>::from_f64(2f64.powi(-25)).to_bits(), 0);
        assert_eq!(<f16 as Element>::from_f64(2f64.powi(-25) + 2f64.powi(-70)).to_bits(), 1);
        assert_eq!(<bf16 as Element>::from_f64(-1e-300).to_bits(), 0x8000);
        // The middle of two bf16, and one more, which an f64 does not hold.
        let middle = (1i64 << 60) + (1 << 52);
        assert_eq!(<bf16 as Element>::from_i64(middle).to_f64(), 2f64.powi(60));
        assert_eq!(<bf16 as Element>::from_i64(middle + 1).to_f64(), 2f64.powi(60) + 2f64.powi(53));
        assert_eq!(<bf16 as Element>::from_i64(-middle - 1).to_f64(), -2f64.powi(60) - 2f64.powi(53));
        assert_eq!(<bf16 as Element>::from_i64(i64::MIN).to_f64(), -2f64.powi(63));
        assert_eq!(<f16 as Element>::from_i64(2049).to_f32(), 2048.0);
        assert_eq!(<f16 as Element>::from_i64(65_520), f16::INFINITY);
    }

    #[test]
    fn integers_saturate() {
        assert_eq!(i32::from_i64(i64::MIN), i32::MIN);
        assert_eq!(u8::from_i64(300), 255);
        assert_eq!(u8::from_i64(-1), 0);
        assert!(bool::from_i64(-3) && !bool::from_i64(0));
    }
}
