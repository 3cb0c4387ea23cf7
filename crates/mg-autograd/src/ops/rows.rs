//! A method and its `try_` twin for each row of the op table, and the rows as operations of the public surface.

use super::division::divided;
use super::operand::Operand;
use super::rounding::{is_rounding, rounded};
use super::{binary, or_panic, unary};
use crate::caller::public;
use crate::surface::{Answer, Given, Kind, Manner, OfIntegers, Operation, Param, Place, Returns};
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
    // PyTorch has these in its room of special functions alone, where nothing is written in place.
    ([$($doc:literal)+] Entr $($rest:tt)*) => { plain!([$($doc)+] Entr $($rest)*); };
    ([$($doc:literal)+] Erfcx $($rest:tt)*) => { plain!([$($doc)+] Erfcx $($rest)*); };
    ([$($doc:literal)+] Ndtri $($rest:tt)*) => { plain!([$($doc)+] Ndtri $($rest)*); };
    ([$($doc:literal)+] I0e $($rest:tt)*) => { plain!([$($doc)+] I0e $($rest)*); };
    ([$($doc:literal)+] I1e $($rest:tt)*) => { plain!([$($doc)+] I1e $($rest)*); };
    ([$($doc:literal)+] $Name:ident $method:ident $try_method:ident ($a:ident)) => {
        plain!([$($doc)+] $Name $method $try_method ($a));
        mg_macros::twins!($method());
    };
    ([$($doc:literal)+] $Name:ident $method:ident $try_method:ident ($a:ident $b:ident)) => {
        plain!([$($doc)+] $Name $method $try_method ($a $b));
        mg_macros::twins!($method(other));
    };
}

macro_rules! plain {
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

macro_rules! also_called {
    ($($Name:ident $method:ident $operand:tt: $($other:ident)+;)*) => {
        /// What PyTorch and the array API standard call a row besides.
        const fn aliases(row: Row) -> &'static [&'static str] {
            match row {
                $(Row::$Name => &[$(stringify!($other)),+],)*
                _ => &[],
            }
        }

        /// Rows of the op table by their other names.
        impl Tensor {
            $($(mg_macros::twins!($other = $method $operand);)+)*
        }
    };
}
also_called! {
    Abs abs(): absolute;
    Neg neg(): negative;
    Sign sign(): sgn;
    Sub sub(other): subtract;
    Mul mul(other): multiply;
    Div div(other): divide true_divide;
    Trunc trunc(): fix;
    Asin asin(): arcsin;
    Acos acos(): arccos;
    Atan atan(): arctan;
    Atan2 atan2(other): arctan2;
    Asinh asinh(): arcsinh;
    Acosh acosh(): arccosh;
    Atanh atanh(): arctanh;
    Lt lt(other): less;
    Le le(other): less_equal;
    Ne ne(other): not_equal;
}

macro_rules! described {
    ($([$($doc:literal)+] $Name:ident $name:literal $method:ident $try_method:ident $class:ident ($($arg:ident)+);)*) => {
        /// The rows of the op table as operations of the public surface.
        pub(crate) const ROWS: &[Operation] = &[$(Operation {
            name: $name,
            aliases: aliases(Row::$Name),
            documentation: concat!($($doc, "\n"),+),
            places: public_of(Row::$Name).places,
            has_receiver: true,
            params: params(Row::$Name),
            // What is a method has a twin.
            in_place: matches!(public_of(Row::$Name).places, [Place::Method, ..]),
            view: false,
            variadic: false,
            each: false,
            reads: false,
            row: Some(Row::$Name),
            of_integers: of_integers(Row::$Name),
            compares: matches!(Row::$Name.class(), RowClass::Compare),
            divides: has_remainders(Row::$Name),
            warns: false,
            keeps_zero: keeps_zero(Row::$Name),
            in_kernels: true,
            manners: public_of(Row::$Name).manners,
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

/// What the public surface has of a row.
struct Public {
    /// Where Python has it: nowhere, if it is no operation as it is.
    places: &'static [Place],
    /// In what other ways it may be called.
    manners: &'static [Manner],
}

impl Public {
    const fn at(places: &'static [Place]) -> Public {
        Public { places, manners: &[] }
    }

    const fn called_by(self, manners: &'static [Manner]) -> Public {
        Public { manners, ..self }
    }
}

const fn public_of(row: Row) -> Public {
    use Place::{Function, Method, Special};
    const NOWHERE: Public = Public::at(&[]);
    const BOTH: Public = Public::at(&[Method, Function]);
    match row {
        // Of gradients alone.
        Row::Gate | Row::GeluSlope => NOWHERE,
        // What takes its condition first, has special cases of its exponent, other neighbours in half types, or options: declared.
        Row::Where | Row::Pow | Row::IntPow | Row::NextAfter | Row::Softplus | Row::Gelu => NOWHERE,
        Row::Entr | Row::Erfcx | Row::Ndtri | Row::I0e | Row::I1e => Public::at(&[Special]),
        Row::Erf
        | Row::Erfc
        | Row::Erfinv
        | Row::Expm1
        | Row::Log1p
        | Row::Exp2
        | Row::Digamma
        | Row::Round => Public::at(&[Method, Function, Special]),
        Row::Add | Row::Sub => BOTH.called_by(&[Manner::FactorFirst, Manner::TwoNumbers]),
        Row::Mul | Row::Div => BOTH.called_by(&[Manner::TwoNumbers]),
        Row::Relu => BOTH.called_by(&[Manner::WritesLast]),
        Row::Abs
        | Row::Neg
        | Row::Sign
        | Row::Trunc
        | Row::Asin
        | Row::Acos
        | Row::Atan
        | Row::Atan2
        | Row::Asinh
        | Row::Acosh
        | Row::Atanh
        | Row::Lt
        | Row::Le
        | Row::Ne
        | Row::Maximum
        | Row::Minimum
        | Row::Square
        | Row::Exp
        | Row::Log
        | Row::Sqrt
        | Row::Tanh
        | Row::Sigmoid
        | Row::Sin
        | Row::Cos
        | Row::Log2
        | Row::Log10
        | Row::Tan
        | Row::Sinh
        | Row::Cosh
        | Row::Lgamma
        | Row::Copysign
        | Row::Floor
        | Row::Ceil
        | Row::Fmod
        | Row::BitAnd
        | Row::BitOr
        | Row::BitXor
        | Row::Shl
        | Row::Shr
        | Row::Eq
        | Row::And
        | Row::Or
        | Row::Xor
        | Row::Not => BOTH,
    }
}

/// Whether a row hands a gradient of zero on as zero, be its operands infinite or NaN.
const fn keeps_zero(row: Row) -> bool {
    matches!(
        row,
        Row::Add
            | Row::Sub
            | Row::Neg
            | Row::Lt
            | Row::Le
            | Row::Eq
            | Row::Ne
            | Row::Not
            | Row::And
            | Row::Or
    )
}

/// What a row takes besides its tensor.
const fn params(row: Row) -> &'static [Param] {
    const fn param(name: &'static str, kind: Kind, default: Option<&'static str>) -> Param {
        Param { name, kind, takes_none: false, default, keyword_only: default.is_some() }
    }
    const OTHER: Param = param("other", Kind::Operand, None);
    match (row, row.arity()) {
        (Row::Round, _) => const { &[param("decimals", Kind::Int, Some("0"))] },
        (Row::Add | Row::Sub, _) => const { &[OTHER, param("alpha", Kind::Operand, Some("1"))] },
        (Row::Div, _) => const { &[OTHER, param("rounding_mode", Kind::Text, Some("None"))] },
        (Row::Where, _) | (_, 1) => &[],
        (_, 2) => const { &[OTHER] },
        _ => panic!("a row of more than two operands has a name for each"),
    }
}

/// What a row's operation makes of integers.
const fn of_integers(row: Row) -> OfIntegers {
    match row.class() {
        // True division.
        RowClass::Numeric if matches!(row, Row::Div) => OfIntegers::Floats,
        // Integers are whole already, and have remainders that are. (Of floats the op table says more than of its class.)
        RowClass::Float if is_rounding(row) || has_remainders(row) => OfIntegers::Integers,
        RowClass::Float => OfIntegers::Floats,
        RowClass::Numeric | RowClass::Integer | RowClass::Compare | RowClass::Logic | RowClass::Select => {
            OfIntegers::Integers
        }
    }
}

/// Whether a row divides integers, and so refuses some.
const fn has_remainders(row: Row) -> bool {
    matches!(row, Row::Fmod)
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
