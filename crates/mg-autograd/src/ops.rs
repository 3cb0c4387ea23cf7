//! Elementwise operations: a method and its `try_` twin for each row of the op table, and the operators.

use crate::autocast;
use crate::caller::public;
use crate::checks::has_zero;
use crate::gradient::no_grad;
use crate::parts::wide;
use crate::surface::{Answer, Given, Kind, OfIntegers, Operation, Param, Place, Returns};
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape, Standing};
use mg_graph::{LiveScalar, Node, cell_bits, cell_bits_of_int, same_device};
use mg_kernels::rows::RowClass;
use mg_kernels::{Algebra, Row, Rules};
use smallvec::smallvec;

/// What stands beside a tensor in an operation: another tensor, or a number.
#[derive(Clone)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A floating-point number: with an integer tensor, both become the default float.
    Float(f64),
    /// An integer: takes the tensor's dtype; with a bool tensor, both become i64.
    Int(i64),
    /// A truth value: takes the tensor's dtype.
    Bool(bool),
    /// A floating-point number that replays of a step read anew.
    Live(LiveScalar),
}

macro_rules! into_operand {
    ($($T:ty => |$v:ident| $e:expr;)*) => {
        $(impl From<$T> for Operand {
            fn from($v: $T) -> Operand {
                $e
            }
        })*
    };
}
into_operand! {
    Tensor => |v| Operand::Tensor(v);
    &Tensor => |v| Operand::Tensor(v.clone());
    f64 => |v| Operand::Float(v);
    f32 => |v| Operand::Float(v as f64);
    i64 => |v| Operand::Int(v);
    i32 => |v| Operand::Int(v as i64);
    bool => |v| Operand::Bool(v);
    LiveScalar => |v| Operand::Live(v);
    &Operand => |v| v.clone();
    &LiveScalar => |v| Operand::Live(v.clone());
}

/// An operand as rows take it: a node, or a number whose dtype follows the other operand's.
enum Term {
    Node(Node),
    Float(f64),
    Int(i64),
    Bool(bool),
    Live(LiveScalar),
}

impl Operand {
    /// The dtype, and how much it counts when it meets others.
    pub fn kind(&self) -> (DType, Standing) {
        self.look().kind()
    }

    /// A tensor without axes in place of a number, of the dtype in which the number meets `other`; tensors stay. What halves do not hold
    /// is rounded to theirs when it is computed: gradients (the logarithm of what is raised to a power) are of the number itself.
    #[track_caller]
    pub fn beside(self, other: &Tensor) -> Tensor {
        match self {
            Operand::Tensor(t) => t,
            number => {
                let (number, node) = (number.look(), other.node());
                let dtype = DType::result_type([number.kind(), kind(&node)]);
                let of = if dtype.is_half() { DType::F32 } else { dtype };
                Tensor::from_node(cast(number.into_node(of, node.device()), dtype))
            }
        }
    }

    /// As [`Operand::beside`], of the number on the left in an operation: where that answers with floats the number is one at once, and
    /// not one of `other`'s integers first, which it may not fit.
    #[track_caller]
    pub fn left_of(self, operation: &Operation, other: &Tensor) -> Tensor {
        match (operation.of_integers, self) {
            (_, Operand::Tensor(t)) => t,
            (OfIntegers::Doubles, number) => Tensor::from_node(number.on(DType::F64, other.device())),
            (OfIntegers::Floats, Operand::Int(number)) => Operand::Float(number as f64).beside(other),
            (OfIntegers::Floats | OfIntegers::Integers, number) => number.beside(other),
        }
    }

    /// The operand divided by a tensor. A number is one even beside halves, which do not hold every number: it is multiplied with the
    /// reciprocal, as in PyTorch.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn divided_by(self, divisor: &Tensor) -> Result<Tensor> {
        match self {
            Operand::Tensor(t) => t.try_div(divisor),
            number => reflected(Row::Div, number.look(), divisor),
        }
    }

    /// The operand as a node of a dtype: a number without axes, on a device.
    #[track_caller]
    pub(crate) fn on(self, dtype: DType, device: Device) -> Node {
        self.look().into_node(dtype, device)
    }

    /// Refuses a number that a dtype of integers does not hold, as what is written into a tensor of it. As in PyTorch a float loses what is
    /// behind the point, and negative integers are counted from the end of unsigned ones.
    pub(crate) fn check_fits(&self, op: &'static str, dtype: DType) -> Result<()> {
        let Some((least, largest)) = dtype.int_range() else { return Ok(()) };
        let (fits, text) = match *self {
            Operand::Tensor(_) | Operand::Bool(_) | Operand::Live(_) => return Ok(()),
            Operand::Int(v) => {
                let least = if least == 0 { -largest } else { least };
                ((least..=largest).contains(&v.into()), v.to_string())
            }
            // Beyond 2^53 neighbouring floats are more than 1 apart: the largest of 64 bits is its neighbour above.
            Operand::Float(v) => {
                let beyond = if dtype == DType::U64 { f64::INFINITY } else { (largest + 1) as f64 };
                let holds = v >= least as f64 && v < beyond && v <= u64::MAX as f64;
                (holds, format!("{v:?}"))
            }
        };
        if fits {
            return Ok(());
        }
        let text = format!("the value {text} cannot be converted to {dtype} without overflow");
        Err(Error::new(op, ErrorKind::Value(text)))
    }

    fn look(&self) -> Term {
        match self {
            Operand::Tensor(t) => Term::Node(t.node()),
            Operand::Float(v) => Term::Float(*v),
            Operand::Int(v) => Term::Int(*v),
            Operand::Bool(v) => Term::Bool(*v),
            Operand::Live(v) => Term::Live(v.clone()),
        }
    }
}

impl Term {
    fn kind(&self) -> (DType, Standing) {
        match self {
            Term::Node(n) => kind(n),
            Term::Float(_) | Term::Live(_) => (DType::default_float(), Standing::Number),
            Term::Int(_) => (DType::I64, Standing::Number),
            Term::Bool(_) => (DType::Bool, Standing::Number),
        }
    }

    #[track_caller]
    fn into_node(self, dtype: DType, device: Device) -> Node {
        match self {
            Term::Node(n) => cast(n, dtype),
            Term::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, device, false),
            Term::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, device, false),
            Term::Bool(v) => Node::scalar_bits(cell_bits_of_int(v.into(), dtype), dtype, device, false),
            Term::Live(v) => Node::live(&v, dtype, device),
        }
    }
}

/// The dtype in which a row takes its second operand, the first being of `dtype`: a number (or a tensor without axes) that halves are
/// multiplied with or divided by is not rounded to theirs before, as in PyTorch.
fn second(row: Row, term: &Term, dtype: DType) -> DType {
    let is_number = match term {
        Term::Node(node) => node.shape().rank() == 0 && node.dtype() != dtype,
        Term::Float(_) | Term::Int(_) | Term::Bool(_) | Term::Live(_) => true,
    };
    if is_number && dtype.is_half() && row.keeps_single() { DType::F32 } else { dtype }
}

/// A node's dtype, and how much it counts when it meets others.
pub(crate) fn kind(node: &Node) -> (DType, Standing) {
    let standing = if node.shape().rank() == 0 { Standing::Scalar } else { Standing::Dimensioned };
    (node.dtype(), standing)
}

#[track_caller]
fn cast(node: Node, dtype: DType) -> Node {
    if node.dtype() == dtype { node } else { node.cast(dtype) }
}

/// The row that does for truth values what `row` does for numbers.
fn of_truth_values(row: Row) -> Result<Row> {
    let fail = |op, text: &str| Err(Error::new(op, ErrorKind::DType(text.into())));
    match row {
        Row::Add | Row::Maximum => Ok(Row::Or),
        Row::Mul | Row::Minimum => Ok(Row::And),
        Row::Pow => fail("pow", "truth values have no powers; convert to an integer or a float first"),
        Row::BitAnd => Ok(Row::And),
        Row::BitOr => Ok(Row::Or),
        Row::BitXor => Ok(Row::Xor),
        Row::Shl | Row::Shr => fail(row.name(), "truth values are not shifted; convert to an integer first"),
        // Taken as the numbers 0 and 1.
        Row::Sub | Row::Div | Row::Neg | Row::Abs | Row::Sign => Ok(row),
        Row::Square | Row::Relu | Row::Gate | Row::IntPow => Ok(row),
        row => match row.class() {
            RowClass::Float | RowClass::Compare | RowClass::Logic | RowClass::Select => Ok(row),
            RowClass::Numeric | RowClass::Integer => {
                let text = "a row of numbers that does not say what it does for truth values";
                Err(Error::new(row.name(), ErrorKind::Internal(text.into())))
            }
        },
    }
}

/// The dtype in which the operands of a row meet.
fn joint(row: Row, a: (DType, Standing), b: (DType, Standing)) -> Result<DType> {
    if row == Row::Sub && (a.0.is_bool() || b.0.is_bool()) {
        let text = "truth values are not subtracted; `^` says where they differ, `~` turns them over";
        return Err(Error::new("sub", ErrorKind::DType(text.into())));
    }
    Ok(if a.0 == b.0 { a.0 } else { DType::result_type([a, b]) })
}

/// The row for operands of a joint dtype, and the dtype in which it takes them.
fn taken(row: Row, joint: DType) -> Result<(Row, DType)> {
    let row = if joint.is_bool() { of_truth_values(row)? } else { row };
    Ok(match row {
        // True division, as in Python.
        Row::Div if !joint.is_float() => (row, DType::default_float()),
        Row::Pow if joint.is_int() => (Row::IntPow, joint),
        _ if row.class() == RowClass::Integer && joint.is_float() => {
            return Err(Error::new(row.name(), ErrorKind::DType(format!("takes integers, got {joint}"))));
        }
        _ => (row, row.operand(joint)),
    })
}

/// A bound for integers: `None` where it excludes none of them.
fn int_bound(row: Row, bound: i64, dtype: DType) -> Result<Option<i64>> {
    let Some((least, largest)) = dtype.int_range() else { return Ok(Some(bound)) };
    let wide = i128::from(bound);
    let (excludes_none, excludes_all) = match row {
        Row::Maximum => (wide < least, wide > largest),
        Row::Minimum => (wide > largest, wide < least),
        // No other row is a bound.
        _ => return Ok(Some(bound)),
    };
    if excludes_all {
        let text = format!("the bound {bound} is beyond every {dtype} ({least} to {largest})");
        return Err(Error::new(row.name(), ErrorKind::Value(text)));
    }
    Ok(if excludes_none { None } else { Some(bound) })
}

/// Ends in a panic with the error's text, at the caller's line: what the operators and plain methods do.
#[track_caller]
pub(crate) fn or_panic<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

#[track_caller]
fn unary(row: Row, a: &Tensor) -> Result<Tensor> {
    if autocast::is_on() {
        let ([a], _aside) = autocast::taken(row.name(), [a])?;
        return unary(row, &a);
    }
    let node = a.node();
    let whole = matches!(row, Row::Floor | Row::Ceil | Row::Round | Row::Trunc);
    match node.dtype() {
        DType::Bool if row == Row::Neg => {
            let text = "truth values are not negated; `~` turns them over";
            return Err(Error::new("neg", ErrorKind::DType(text.into())));
        }
        DType::Bool if whole => {
            let text = "truth values are not rounded; convert to an integer or a float first";
            return Err(Error::new(row.name(), ErrorKind::DType(text.into())));
        }
        // What it is already.
        DType::Bool if matches!(row, Row::Sign | Row::Abs) => return Ok(Tensor::from_node(node.alias())),
        dtype if whole && dtype.is_int() => return Ok(Tensor::from_node(node.alias())),
        _ => {}
    }
    let dtype = row.operand(node.dtype());
    Ok(Tensor::from_node(Node::map_of(row, smallvec![cast(node, dtype)])?))
}

#[track_caller]
fn binary(row: Row, a: &Tensor, b: Term) -> Result<Tensor> {
    if let (true, Term::Node(other)) = (autocast::is_on(), &b) {
        let ([a, b], _aside) = autocast::taken(row.name(), [a, &Tensor::from_node(other.clone())])?;
        return binary(row, &a, Term::Node(b.node()));
    }
    let a = a.node();
    let joint = joint(row, kind(&a), b.kind())?;
    if let (Row::Maximum | Row::Minimum, Term::Int(bound)) = (row, &b)
        && int_bound(row, *bound, joint)?.is_none()
    {
        return Ok(Tensor::from_node(cast(a, joint).alias()));
    }
    let (row, dtype) = taken(row, joint)?;
    let of = second(row, &b, dtype);
    let b = b.into_node(of, a.device());
    Ok(Tensor::from_node(Node::map_of(row, smallvec![cast(a, dtype), b])?))
}

/// `number ∘ tensor`.
#[track_caller]
fn reflected(row: Row, a: Term, b: &Tensor) -> Result<Tensor> {
    if autocast::is_on() && row == Row::Div {
        // A number times the reciprocal, as PyTorch has it.
        let ([b], _aside) = autocast::taken("reciprocal", [b])?;
        return reflected(row, a, &b);
    }
    let b = b.node();
    let (row, dtype) = taken(row, joint(row, a.kind(), kind(&b))?)?;
    let of = second(row, &a, dtype);
    let (a, b) = (a.into_node(of, b.device()), cast(b, dtype));
    if row == Row::Div && of != dtype {
        // PyTorch has it so for every dtype; the number may be one that halves do not hold, the quotient need not.
        let reciprocal = b.lit(1.0).div(&b);
        return Ok(Tensor::from_node(Node::map_of(Row::Mul, smallvec![reciprocal, a])?));
    }
    Ok(Tensor::from_node(Node::map_of(row, smallvec![a, b])?))
}

/// `other ∘ tensor`.
#[track_caller]
pub(crate) fn apply_reflected(row: Row, other: Operand, tensor: &Tensor) -> Result<Tensor> {
    match other {
        Operand::Tensor(t) => binary(row, &t, Term::Node(tensor.node())),
        number => reflected(row, number.look(), tensor),
    }
}

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

#[allow(clippy::should_implement_trait)]
impl Tensor {
    /// `self + alpha · other`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::try_add`]; an `alpha` that is a float where the result is not, or a tensor with axes or a gradient.
    #[track_caller]
    pub fn add_scaled(&self, other: impl Into<Operand>, alpha: impl Into<Operand>) -> Result<Tensor> {
        public("add", || self.try_add(scaled("add", self, other.into(), alpha.into())?))
    }

    /// `self − alpha · other`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::add_scaled`].
    #[track_caller]
    pub fn sub_scaled(&self, other: impl Into<Operand>, alpha: impl Into<Operand>) -> Result<Tensor> {
        public("sub", || self.try_sub(scaled("sub", self, other.into(), alpha.into())?))
    }

    /// The remainder of `self / other` with the sign of `self`, exact: C's `fmod`.
    ///
    /// # Panics
    ///
    /// Where [`Tensor::try_fmod`] answers with an error.
    #[track_caller]
    pub fn fmod(&self, other: impl Into<Operand>) -> Tensor {
        or_panic(self.try_fmod(other))
    }

    /// As [`Tensor::fmod`].
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
    /// value is computed.
    #[track_caller]
    pub fn try_fmod(&self, other: impl Into<Operand>) -> Result<Tensor> {
        public("fmod", || {
            Ok(Tensor::from_node(Division::remaining("fmod", self.look(), other.into().look())?.cut_off()))
        })
    }

    fn look(&self) -> Term {
        Term::Node(self.node())
    }

    /// `self` to the power of a number.
    ///
    /// # Panics
    ///
    /// As [`Tensor::pow`].
    #[track_caller]
    pub fn powf(&self, exponent: f64) -> Tensor {
        self.pow(exponent)
    }

    /// `a` where the condition (bool) holds, else `b`.
    ///
    /// # Errors
    ///
    /// A condition that is not bool, shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn where_(condition: &Tensor, a: impl Into<Operand>, b: impl Into<Operand>) -> Result<Tensor> {
        let (a, b, condition) = (a.into().look(), b.into().look(), condition.node());
        if !condition.dtype().is_bool() {
            let text = format!("takes a condition of truth values, got {}", condition.dtype());
            return Err(Error::new("where", ErrorKind::DType(text)));
        }
        let dtype = DType::result_type([a.kind(), b.kind()]);
        for number in [&a, &b] {
            if let (Term::Int(v), Some((_, largest))) = (number, dtype.int_range())
                && (i128::from(*v) > largest || i128::from(*v) < -largest - 1)
            {
                let text = format!("{v} does not fit {dtype}");
                return Err(Error::new("where", ErrorKind::Value(text)));
            }
        }
        let (a, b) = (a.into_node(dtype, condition.device()), b.into_node(dtype, condition.device()));
        Ok(Tensor::from_node(Node::map(Row::Where, &[&condition, &a, &b])?))
    }

    /// Conversion to another dtype. Floats to integers truncate and saturate, NaN gives 0.
    #[track_caller]
    pub fn to_dtype(&self, dtype: DType) -> Tensor {
        let node = self.node();
        if node.dtype() == dtype {
            return self.clone();
        }
        Tensor::from_node(node.cast(dtype))
    }
}

/// A tensor to a power; see [`Tensor::pow`].
#[track_caller]
pub(crate) fn power(base: &Tensor, exponent: Operand) -> Result<Tensor> {
    let own = base.dtype();
    let whole = match exponent {
        Operand::Int(n) => Some(n),
        Operand::Bool(b) if own.is_bool() => {
            // To the power True it stays; to the power False it is 1.
            return if b { Ok(Tensor::from_node(base.node().alias())) } else { Ok(base.ones_like()) };
        }
        Operand::Bool(b) => Some(b.into()),
        Operand::Float(v) if own.is_float() && v == v.trunc() && v.abs() < 4.0 => Some(v as i64),
        Operand::Tensor(_) | Operand::Float(_) | Operand::Live(_) => None,
    };
    match whole {
        // Another tensor of the same value: writing to one does not change the other.
        Some(1) => return Ok(Tensor::from_node(cast(base.node(), Row::Square.operand(own)).alias())),
        // 1 whatever the base is, and its gradient 0.
        Some(0) if own.is_float() => {
            let (node, ones) = (base.node(), base.ones_like());
            if node.is_tracked() && mg_graph::is_tracking() {
                return Ok(Tensor::from_node(crate::parts::without_slope(&ones.node(), &node)));
            }
            return Ok(ones);
        }
        Some(2) => return base.try_square(),
        Some(3) => return base.try_square()?.try_mul(base),
        Some(-1) if own.is_float() => return reflected(Row::Div, Term::Float(1.0), base),
        Some(n) if !own.is_float() => return integer_power(base, n),
        _ => {}
    }
    if matches!(exponent, Operand::Float(0.5)) {
        return base.try_sqrt();
    }
    binary(Row::Pow, base, exponent.look())
}

/// The remainder with the sign of the divisor.
#[track_caller]
pub(crate) fn remainder(a: &Tensor, b: Operand) -> Result<Tensor> {
    Ok(Tensor::from_node(Division::remaining("remainder", a.look(), b.look())?.remainder()))
}

/// The quotient's largest whole number that is no larger.
#[track_caller]
pub(crate) fn floor_divide(op: &'static str, a: &Tensor, b: Operand) -> Result<Tensor> {
    Ok(Tensor::from_node(Division::of(op, a.look(), b.look())?.quotient()))
}

/// The quotient, true or rounded: `"trunc"` towards zero, `"floor"` down.
#[track_caller]
fn divided(a: &Tensor, b: Operand, rounding: Option<&str>) -> Result<Tensor> {
    match rounding {
        None => binary(Row::Div, a, b.look()),
        Some("floor") => floor_divide("div", a, b),
        Some("trunc") => Ok(Tensor::from_node(Division::of("div", a.look(), b.look())?.cut())),
        Some(other) => {
            let text = format!("rounding_mode is None, \"trunc\" or \"floor\", got {other:?}");
            Err(Error::new("div", ErrorKind::Value(text)))
        }
    }
}

/// Rounded to so many decimals; to tens, hundreds, … where they are negative, of integers too.
#[track_caller]
fn rounded(a: &Tensor, decimals: i64) -> Result<Tensor> {
    let dtype = a.dtype();
    if decimals < 0 && dtype.is_int() && !dtype.is_bool() {
        return whole_tens(a, decimals.unsigned_abs());
    }
    if decimals == 0 || !dtype.is_float() {
        return unary(Row::Round, a);
    }
    let own = a.node();
    let scale = 10f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let half = matches!(own.dtype(), DType::F16 | DType::BF16);
    let x = if half { own.cast(DType::F32) } else { own.clone() };
    let scale = x.lit(scale);
    let y = match decimals > 0 {
        true => x.mul(&scale).map(Row::Round).div(&scale),
        false => x.div(&scale).map(Row::Round).mul(&scale),
    };
    Ok(Tensor::from_node(y.cast(own.dtype())))
}

/// Integers rounded to so many zeros at their end, those in the middle to an even one before them.
fn whole_tens(a: &Tensor, zeros: u64) -> Result<Tensor> {
    let unit = u32::try_from(zeros).ok().and_then(|zeros| 10i64.checked_pow(zeros));
    // All are nearer to 0 than to that.
    let Some(unit) = unit else { return Ok(a.zeros_like()) };
    let dtype = a.dtype();
    let wide = a.to_dtype(if dtype == DType::U64 { dtype } else { DType::I64 });
    let below = wide.try_floor_divide(unit)?;
    let twice = wide.try_sub(below.try_mul(unit)?)?.try_mul(2i64)?;
    let is_odd = below.try_remainder(2i64)?.try_ne(0i64)?;
    let is_above = twice.try_gt(unit)?.try_logical_or(twice.try_eq(unit)?.try_logical_and(is_odd)?)?;
    Ok(below.try_add(is_above)?.try_mul(unit)?.to_dtype(dtype))
}

/// Values between bounds, where they are given.
#[track_caller]
pub(crate) fn clamped(t: &Tensor, min: Option<Operand>, max: Option<Operand>) -> Result<Tensor> {
    clamp(t, min.map(|m| m.look()), max.map(|m| m.look()))
}

/// A number divided by another with a whole quotient.
struct Division {
    a: Node,
    b: Node,
    /// The result's dtype.
    dtype: DType,
}

impl Division {
    /// Of which the remainder is wanted: a number is one of the tensor's dtype. That of halves is one, too, but the quotient, by which the
    /// divisor's slope goes, would be rounded to the next whole number.
    fn remaining(op: &'static str, a: Term, b: Term) -> Result<Division> {
        let dtype = DType::result_type([a.kind(), b.kind()]);
        let Division { a, b, dtype } = Division::within(op, a, b, dtype)?;
        Ok(Division { a: wide(&a), b: wide(&b), dtype })
    }

    /// Of which the quotient is wanted: halves that are divided by a number are divided in f32, and the quotient is rounded once.
    fn of(op: &'static str, a: Term, b: Term) -> Result<Division> {
        let within = second(Row::Div, &b, DType::result_type([a.kind(), b.kind()]));
        Division::within(op, a, b, within)
    }

    fn within(op: &'static str, a: Term, b: Term, within: DType) -> Result<Division> {
        let dtype = DType::result_type([a.kind(), b.kind()]);
        if dtype.is_bool() {
            let text = "truth values are not divided; convert to an integer or a float first";
            return Err(Error::new(op, ErrorKind::DType(text.into())));
        }
        let device = match (&a, &b) {
            (Term::Node(n), _) | (_, Term::Node(n)) => n.device(),
            _ => crate::default_device(),
        };
        let is_zero = match &b {
            Term::Int(n) => *n == 0,
            Term::Bool(is_one) => !is_one,
            Term::Node(n) => has_zero(n)?,
            Term::Float(_) | Term::Live(_) => false,
        };
        let (a, b) = (a.into_node(within, device), b.into_node(within, device));
        let Some(shape) = Shape::broadcast(a.shape(), b.shape()) else {
            let text = format!("shapes {} and {} cannot be broadcast together", a.shape(), b.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        };
        same_device(op, &[&a, &b])?;
        if is_zero && !dtype.is_float() && shape.numel() > 0 {
            return Err(Error::new(op, ErrorKind::Value("an integer is divided by zero".into())));
        }
        Ok(Division { a, b, dtype })
    }

    /// With the sign of `a`.
    fn fmod(&self) -> Node {
        let (a, b) = (&self.a, &self.b);
        match a.dtype().is_float() {
            true => Node::apply(Row::Fmod, &[a, b]),
            false => a.sub(&a.div(b).mul(b)),
        }
    }

    /// As [`Division::fmod`], in the result's dtype.
    fn cut_off(&self) -> Node {
        self.fmod().cast(self.dtype)
    }

    /// Whether a remainder is not zero and has another sign than `b`.
    fn differs(&self, remainder: &Node) -> Node {
        let zero = remainder.lit(0.0);
        let unlike = Node::apply(Row::Xor, &[&self.b.lt(&zero), &remainder.lt(&zero)]);
        Node::apply(Row::And, &[&Node::apply(Row::Ne, &[remainder, &zero]), &unlike])
    }

    /// With the sign of `b`.
    fn remainder(&self) -> Node {
        let remainder = self.fmod();
        self.differs(&remainder).choose(&remainder.add(&self.b), &remainder).cast(self.dtype)
    }

    /// Rounded towards zero.
    fn cut(&self) -> Node {
        let (a, b) = (&self.a, &self.b);
        let ratio = a.div(b);
        if a.dtype().is_float() { ratio.map(Row::Trunc).cast(self.dtype) } else { ratio }
    }

    fn quotient(&self) -> Node {
        let (a, b) = (&self.a, &self.b);
        let (zero, one) = (a.lit(0.0), a.lit(1.0));
        if !a.dtype().is_float() {
            let cut = a.div(b);
            let differs = self.differs(&a.sub(&cut.mul(b)));
            return differs.choose(&cut.sub(&one), &cut);
        }
        let remainder = self.fmod();
        let differs = self.differs(&remainder);
        // As Python divides: what is left over is taken off before, so that the quotient is all but whole; then it is
        // rounded to the whole number that it is next to, and a zero has the sign of a/b.
        let ratio = a.div(b);
        // Of nothing nothing is left, and GPUs take their longest way to divide it.
        let rest = a.sub(&remainder);
        let even = rest.eq(&zero).choose(&rest, &rest.eq(&zero).choose(b, &rest).div(b));
        let even = differs.choose(&even.sub(&one), &even);
        let floor = even.map(Row::Floor);
        let near = even.lit(0.5).lt(&even.sub(&floor)).choose(&floor.add(&one), &floor);
        let whole = even.eq(&zero).choose(&ratio.mul(&zero), &near);
        // Rounded once more, which changes nothing, since a quotient that is whole has no gradient.
        b.eq(&zero).choose(&ratio, &whole).map(Row::Floor).cast(self.dtype)
    }
}

#[track_caller]
fn clamp(t: &Tensor, min: Option<Term>, max: Option<Term>) -> Result<Tensor> {
    let fail = |kind| Err(Error::new("clamp", kind));
    let x = t.node();
    let bounds = [(Row::Maximum, min), (Row::Minimum, max)];
    let given = bounds.iter().filter_map(|(_, bound)| bound.as_ref());
    if given.clone().next().is_none() {
        return fail(ErrorKind::Value("takes a bound at least on one side".into()));
    }
    let by_tensor = given.clone().any(|bound| matches!(bound, Term::Node(_)));
    let dtype = DType::result_type(given.map(Term::kind).chain([kind(&x)]));
    if dtype.is_bool() && !by_tensor {
        return fail(ErrorKind::DType("truth values have no bounds; convert to an integer first".into()));
    }
    let x = cast(x, dtype);
    let mut limits = vec![];
    for (row, bound) in bounds {
        match bound {
            None => {}
            Some(Term::Int(v)) if int_bound(row, v, dtype)?.is_none() => {}
            Some(bound) => limits.push((row, bound.into_node(dtype, x.device()))),
        }
    }
    let limits: Vec<(Row, Node)> = match dtype.is_bool() {
        true => limits.into_iter().map(|(row, n)| Ok((of_truth_values(row)?, n))).collect::<Result<_>>()?,
        false => limits,
    };
    let within =
        |x: &Node| limits.iter().try_fold(x.clone(), |x, (row, bound)| Node::map(*row, &[&x, bound]));
    if limits.is_empty() {
        return Ok(Tensor::from_node(x.alias()));
    }
    if by_tensor || !x.is_tracked() || !mg_graph::is_tracking() {
        return Ok(Tensor::from_node(within(&x)?));
    }
    // Strictly between the bounds it is the value itself, elsewhere (and where there is no number) a constant.
    let inside =
        limits.iter().map(|(row, bound)| if *row == Row::Maximum { bound.lt(&x) } else { x.lt(bound) });
    let Some(inside) = inside.reduce(|a, b| Node::apply(Row::And, &[&a, &b])) else { return Ok(t.clone()) };
    let clamped = {
        let _guard = no_grad();
        within(&x)?
    };
    Ok(Tensor::from_node(inside.choose(&x, &clamped)))
}

/// `alpha · other`, as it is added to `beside`.
#[track_caller]
fn scaled(op: &'static str, beside: &Tensor, other: Operand, alpha: Operand) -> Result<Operand> {
    let (other, node) = (other.look(), beside.node());
    let joint = DType::result_type([kind(&node), other.kind()]);
    let fail = |text: &str| Err(Error::new(op, ErrorKind::DType(text.into())));
    crate::ops::joint(if op == "sub" { Row::Sub } else { Row::Add }, kind(&node), other.kind())?;
    // A tensor without axes stands for the number that it holds, wherever it lies.
    let alpha = match alpha {
        Operand::Tensor(t) if t.rank() > 0 || t.requires_grad() => {
            let text = "takes a number as alpha, or a tensor without axes and without a gradient";
            return fail(&format!("{text}, got a tensor of shape {}", t.shape()));
        }
        Operand::Tensor(t) => Operand::Tensor(t.to(node.device())?),
        number @ (Operand::Float(_) | Operand::Live(_) | Operand::Int(_) | Operand::Bool(_)) => number,
    };
    let (of, _) = alpha.kind();
    if of.is_float() && !joint.is_float() {
        return fail("takes an integer as alpha where the result is of integers, got a float");
    }
    if of.is_bool() && !joint.is_bool() {
        return fail("takes a truth value as alpha where the result is of truth values only");
    }
    alpha.check_fits(op, joint)?;
    let row = if joint.is_bool() { Row::And } else { Row::Mul };
    let (other, alpha) =
        (other.into_node(joint, node.device()), alpha.look().into_node(joint, node.device()));
    Ok(Operand::Tensor(Tensor::from_node(Node::map(row, &[&other, &alpha])?)))
}

/// A whole power of integers, by squaring.
#[track_caller]
fn integer_power(base: &Tensor, exponent: i64) -> Result<Tensor> {
    if exponent < 0 {
        let text = format!("integers to a negative power ({exponent}); convert to float first");
        return Err(Error::new("pow", ErrorKind::Value(text)));
    }
    if let Some((_, largest)) = base.dtype().int_range()
        && i128::from(exponent) > largest
    {
        let text = format!("the exponent {exponent} does not fit {}", base.dtype());
        return Err(Error::new("pow", ErrorKind::Value(text)));
    }
    let mut square = Tensor::from_node(cast(base.node(), Row::Square.operand(base.dtype())));
    let mut out: Option<Tensor> = None;
    let mut n = exponent;
    while n > 0 {
        if n & 1 == 1 {
            out = Some(match out {
                Some(o) => o.try_mul(&square)?,
                None => square.clone(),
            });
        }
        n >>= 1;
        if n > 0 {
            square = square.try_mul(&square)?;
        }
    }
    match out {
        Some(out) => Ok(out),
        None => Ok(square.ones_like()),
    }
}

macro_rules! operator {
    ($Trait:ident $op:ident $try_op:ident $Row:ident) => {
        impl<T: Into<Operand>> std::ops::$Trait<T> for &Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: T) -> Tensor {
                or_panic(self.$try_op(other))
            }
        }
        impl<T: Into<Operand>> std::ops::$Trait<T> for Tensor {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: T) -> Tensor {
                or_panic(self.$try_op(other))
            }
        }
        impl std::ops::$Trait<&Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: &Tensor) -> Tensor {
                or_panic(reflected(Row::$Row, Term::Float(self), other))
            }
        }
        impl std::ops::$Trait<Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: Tensor) -> Tensor {
                or_panic(reflected(Row::$Row, Term::Float(self), &other))
            }
        }
    };
}
operator!(Add add try_add Add);
operator!(Sub sub try_sub Sub);
operator!(Mul mul try_mul Mul);
operator!(Div div try_div Div);

impl std::ops::Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        or_panic(self.try_neg())
    }
}
impl std::ops::Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        or_panic(self.try_neg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_what_it_does_for_truth_values() {
        for &row in Row::ALL {
            let undecided = |e: &Error| matches!(e.kind(), ErrorKind::Internal(_));
            assert!(!of_truth_values(row).is_err_and(|e| undecided(&e)), "{}", row.name());
        }
    }
}
