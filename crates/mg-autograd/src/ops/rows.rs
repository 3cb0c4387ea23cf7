//! A method and its `try_` twin for each row of the op table, and the rows as operations of the public surface.

use super::division::divided;
use super::operand::Operand;
use super::rounding::rounded;
use super::{binary, or_panic, unary};
use crate::caller::public;
use crate::surface::{Answer, Given, Kind, OfIntegers, Operation, Param, Place, Returns};
use crate::tensor::Tensor;
use mg_device::Result;
use mg_kernels::Row;
use mg_kernels::rows::RowClass;

macro_rules! method {
    // `gate` is the gradient of relu; `where` takes its condition first: both stand apart.
    ([$($doc:literal)+] Gate $($rest:tt)*) => {};
    ([$($doc:literal)+] Where $($rest:tt)*) => {};
    // Declared with its steepness, and with the word for how it is approximated: see the activations.
    ([$($doc:literal)+] Softplus $($rest:tt)*) => {};
    ([$($doc:literal)+] Gelu $($rest:tt)*) => {};
    ([$($doc:literal)+] GeluSlope $($rest:tt)*) => {};
    // Special cases of the exponent: see `powf`; of integers: see `fmod`.
    ([$($doc:literal)+] Pow $($rest:tt)*) => {};
    ([$($doc:literal)+] IntPow $($rest:tt)*) => {};
    ([$($doc:literal)+] Fmod $($rest:tt)*) => {};
    // Declared by itself: half types have other neighbours.
    ([$($doc:literal)+] NextAfter $($rest:tt)*) => {};
    ([$($doc:literal)+] $Name:ident $method:ident $try_method:ident ($a:ident)) => {
        $(#[doc = $doc])+
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #[track_caller]
        pub fn $method(&self) -> Tensor {
            or_panic(self.$try_method())
        }

        $(#[doc = $doc])+
        ///
        /// # Errors
        ///
        /// A dtype that the operation does not take.
        #[track_caller]
        pub fn $try_method(&self) -> Result<Tensor> {
            unary(Row::$Name, self)
        }
    };
    ([$($doc:literal)+] $Name:ident $method:ident $try_method:ident ($a:ident $b:ident)) => {
        $(#[doc = $doc])+
        /// Shapes broadcast, dtypes are promoted as PyTorch does.
        ///
        /// # Panics
        ///
        /// Where its `try_` twin answers with an error.
        #[track_caller]
        pub fn $method(&self, other: impl Into<Operand>) -> Tensor {
            or_panic(self.$try_method(other))
        }

        $(#[doc = $doc])+
        /// Shapes broadcast, dtypes are promoted as PyTorch does.
        ///
        /// # Errors
        ///
        /// Shapes that do not broadcast, unlike devices, dtypes that the operation does not take.
        #[track_caller]
        pub fn $try_method(&self, other: impl Into<Operand>) -> Result<Tensor> {
            binary(Row::$Name, self, other.into().look())
        }
    };
}

macro_rules! methods {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// Elementwise operations: the rows of the op table.
        #[allow(clippy::should_implement_trait)]
        impl Tensor {
            $(method!([$($doc)+] $Name $method $try_method ($($arg)+));)*
        }
    };
}
mg_kernels::for_each_row!(methods);

macro_rules! described {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// The rows of the op table as operations of the public surface.
        pub(crate) const ROWS: &[Operation] = &[$(Operation {
            name: $name,
            aliases: other_names(Row::$Name),
            documentation: concat!($($doc, "\n"),+),
            places: places(Row::$Name),
            has_receiver: true,
            params: operands(Row::$Name),
            in_place: is_public(Row::$Name) && !matches!(Row::$Name, Row::Entr | Row::Erfcx | Row::Ndtri | Row::I0e | Row::I1e),
            view: false,
            variadic: false,
            each: false,
            reads: false,
            row: Some(Row::$Name),
            of_integers: of_integers(Row::$Name),
            compares: matches!(Row::$Name.class(), RowClass::Compare),
            divides: matches!(Row::$Name, Row::Fmod),
            warns: false,
            answers: &[],
            returns: Returns::Tensor,
            call: |args| called($name, Row::$Name, args),
        }),*];
    };
}
mg_kernels::for_each_row!(described);

/// Calls a row with the arguments of its description.
fn called(name: &'static str, row: Row, args: &Given<'_, '_>) -> Result<Answer> {
    let tensor: &Tensor = args.take(0)?;
    let answer = public(name, || match row {
        Row::Round => rounded(tensor, args.given(1)?.unwrap_or(0)),
        row if row.arity() == 1 => unary(row, tensor),
        Row::Div => divided(tensor, args.take(1)?, args.given::<Option<_>>(2)?.flatten()),
        Row::Add => match args.given::<Option<Operand>>(2)?.flatten() {
            None => tensor.try_add(args.take::<Operand>(1)?),
            Some(alpha) => tensor.add_scaled(args.take::<Operand>(1)?, alpha),
        },
        Row::Sub => match args.given::<Option<Operand>>(2)?.flatten() {
            None => tensor.try_sub(args.take::<Operand>(1)?),
            Some(alpha) => tensor.sub_scaled(args.take::<Operand>(1)?, alpha),
        },
        row => tensor.of_row(row, args.take(1)?),
    });
    answer.map(Answer::Tensor)
}

/// Whether a row is an operation as it is: `gate` and `gelu_slope` are of gradients, `where` takes its condition first, exponents have special
/// cases, `softplus` and `gelu` are declared.
const fn is_public(row: Row) -> bool {
    !matches!(
        row,
        Row::Gate
            | Row::GeluSlope
            | Row::Where
            | Row::Pow
            | Row::IntPow
            | Row::NextAfter
            | Row::Softplus
            | Row::Gelu
    )
}

/// What a row's operation makes of integers.
const fn of_integers(row: Row) -> OfIntegers {
    match (row, row.class()) {
        (Row::Div, _) => OfIntegers::Floats,
        // Integers are whole already, and have remainders that are. (Of floats the op table says more than of its class.)
        (Row::Floor | Row::Ceil | Row::Round | Row::Trunc | Row::Fmod, _) => OfIntegers::Integers,
        (_, RowClass::Float) => OfIntegers::Floats,
        (
            _,
            RowClass::Numeric | RowClass::Integer | RowClass::Compare | RowClass::Logic | RowClass::Select,
        ) => OfIntegers::Integers,
    }
}

/// Where Python has a row.
const fn places(row: Row) -> &'static [Place] {
    match row {
        row if !is_public(row) => &[],
        Row::Entr | Row::Erfcx | Row::Ndtri | Row::I0e | Row::I1e => &[Place::Special],
        Row::Erf
        | Row::Erfc
        | Row::Erfinv
        | Row::Expm1
        | Row::Log1p
        | Row::Exp2
        | Row::Digamma
        | Row::Round => &[Place::Method, Place::Function, Place::Special],
        _ => &[Place::Method, Place::Function],
    }
}

const fn operands(row: Row) -> &'static [Param] {
    const fn param(name: &'static str, kind: Kind, default: Option<&'static str>) -> Param {
        Param { name, kind, takes_none: false, default, keyword_only: default.is_some() }
    }
    const OTHER: Param = param("other", Kind::Operand, None);
    match row {
        Row::Round => const { &[param("decimals", Kind::Int, Some("0"))] },
        Row::Add | Row::Sub => const { &[OTHER, param("alpha", Kind::Operand, Some("1"))] },
        Row::Div => const { &[OTHER, param("rounding_mode", Kind::Text, Some("None"))] },
        row if row.arity() == 1 => &[],
        _ => const { &[OTHER] },
    }
}

/// What PyTorch and the array API standard call a row besides.
const fn other_names(row: Row) -> &'static [&'static str] {
    match row {
        Row::Abs => &["absolute"],
        Row::Neg => &["negative"],
        Row::Sign => &["sgn"],
        Row::Sub => &["subtract"],
        Row::Mul => &["multiply"],
        Row::Div => &["divide", "true_divide"],
        Row::Trunc => &["fix"],
        Row::Asin => &["arcsin"],
        Row::Acos => &["arccos"],
        Row::Atan => &["arctan"],
        Row::Atan2 => &["arctan2"],
        Row::Asinh => &["arcsinh"],
        Row::Acosh => &["arccosh"],
        Row::Atanh => &["arctanh"],
        Row::Lt => &["less"],
        Row::Le => &["less_equal"],
        Row::Ne => &["not_equal"],
        _ => &[],
    }
}

impl Tensor {
    /// A binary row of this tensor and an operand, as its method does it.
    #[track_caller]
    fn of_row(&self, row: Row, other: Operand) -> Result<Tensor> {
        match row {
            Row::Fmod => self.try_fmod(other),
            row => binary(row, self, other.look()),
        }
    }
}
