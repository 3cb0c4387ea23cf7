//! Elementwise operations: a method and its `try_` twin for each row of the op table, and the operators.

use crate::caller::public;
use crate::tensor::Tensor;
use mg_device::{DType, Result};
use mg_graph::{LiveScalar, Node, cell_bits, cell_bits_of_int};
use mg_kernels::Row;
use smallvec::smallvec;

/// What stands beside a tensor in an operation: another tensor, or a number.
#[derive(Clone)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A floating-point number: with an integer tensor, both become f32.
    Float(f64),
    /// An integer: takes the tensor's dtype.
    Int(i64),
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
    LiveScalar => |v| Operand::Live(v);
    &LiveScalar => |v| Operand::Live(v.clone());
}

/// An operand whose tensor, if it is one, has been looked at.
enum Beside {
    Node(Node),
    Float(f64),
    Int(i64),
    Live(LiveScalar),
}

impl Operand {
    fn look(&self) -> Beside {
        match self {
            Operand::Tensor(t) => Beside::Node(t.node()),
            Operand::Float(v) => Beside::Float(*v),
            Operand::Int(v) => Beside::Int(*v),
            Operand::Live(v) => Beside::Live(v.clone()),
        }
    }
}

impl Beside {
    /// The joint dtype of it and a tensor of `other`.
    fn joint(&self, other: DType) -> DType {
        match self {
            Beside::Node(n) => DType::promote(n.dtype(), other),
            Beside::Float(_) | Beside::Live(_) if !other.is_float() => DType::F32,
            Beside::Int(_) if other.is_bool() => DType::I64,
            _ => other,
        }
    }

    #[track_caller]
    fn into_node(self, dtype: DType, beside: &Node) -> Node {
        match self {
            Beside::Node(n) => cast(n, dtype),
            Beside::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, beside.device(), false),
            Beside::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, beside.device(), false),
            Beside::Live(v) => Node::live(&v, dtype, beside.device()),
        }
    }
}

#[track_caller]
fn cast(node: Node, dtype: DType) -> Node {
    if node.dtype() == dtype { node } else { node.cast(dtype) }
}

/// The dtype in which a row takes operands of a joint dtype.
fn taken(row: Row, joint: DType) -> DType {
    match row {
        // True division, as in Python.
        Row::Div if !joint.is_float() => DType::F32,
        _ => row.operand(joint),
    }
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
    let node = a.node();
    let dtype = row.operand(node.dtype());
    Ok(Tensor::from_node(Node::map_of(row, smallvec![cast(node, dtype)])?))
}

#[track_caller]
fn binary(row: Row, a: &Tensor, b: Beside) -> Result<Tensor> {
    let a = a.node();
    let dtype = taken(row, b.joint(a.dtype()));
    let b = b.into_node(dtype, &a);
    Ok(Tensor::from_node(Node::map_of(row, smallvec![cast(a, dtype), b])?))
}

/// `number ∘ tensor`.
#[track_caller]
fn reflected(row: Row, a: Beside, b: &Tensor) -> Result<Tensor> {
    let b = b.node();
    let dtype = taken(row, a.joint(b.dtype()));
    let a = a.into_node(dtype, &b);
    Ok(Tensor::from_node(Node::map_of(row, smallvec![a, cast(b, dtype)])?))
}

/// `other ∘ tensor`.
#[track_caller]
fn turned(row: Row, other: Operand, tensor: &Tensor) -> Result<Tensor> {
    match other {
        Operand::Tensor(t) => binary(row, &t, Beside::Node(tensor.node())),
        number => reflected(row, number.look(), tensor),
    }
}

macro_rules! method {
    // `gate` is the gradient of relu; `where` takes its condition first: both stand apart.
    ([$($doc:literal)+] Gate $($rest:tt)*) => {};
    ([$($doc:literal)+] Where $($rest:tt)*) => {};
    // Special cases of the exponent: see `powf`.
    ([$($doc:literal)+] Pow $($rest:tt)*) => {};
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

#[allow(clippy::should_implement_trait)]
impl Tensor {
    /// `self > other`.
    ///
    /// # Panics
    ///
    /// As [`Tensor::lt`].
    #[track_caller]
    pub fn gt(&self, other: impl Into<Operand>) -> Tensor {
        or_panic(public("gt", || turned(Row::Lt, other.into(), self)))
    }

    /// `self ≥ other`.
    ///
    /// # Panics
    ///
    /// As [`Tensor::le`].
    #[track_caller]
    pub fn ge(&self, other: impl Into<Operand>) -> Tensor {
        or_panic(public("ge", || turned(Row::Le, other.into(), self)))
    }

    /// `self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
    ///
    /// # Panics
    ///
    /// Where [`Tensor::try_pow`] answers with an error.
    #[track_caller]
    pub fn pow(&self, exponent: impl Into<Operand>) -> Tensor {
        or_panic(self.try_pow(exponent))
    }

    /// As [`Tensor::pow`].
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; a negative whole exponent of an integer tensor.
    #[track_caller]
    pub fn try_pow(&self, exponent: impl Into<Operand>) -> Result<Tensor> {
        let exponent = exponent.into();
        let whole = match exponent {
            Operand::Int(n) => Some(n),
            Operand::Float(v) if self.dtype().is_float() && v == v.trunc() && v.abs() < 4.0 => Some(v as i64),
            _ => None,
        };
        match whole {
            // Another tensor of the same value: writing to one does not change the other.
            Some(1) => return Ok(Tensor::from_node(cast(self.node(), Row::Square.operand(self.dtype())))),
            Some(2) => return self.try_square(),
            Some(3) => return self.try_square()?.try_mul(self),
            Some(-1) if self.dtype().is_float() => return reflected(Row::Div, Beside::Float(1.0), self),
            Some(n) if !self.dtype().is_float() => return integer_power(self, n),
            _ => {}
        }
        if matches!(exponent, Operand::Float(0.5)) {
            return self.try_sqrt();
        }
        binary(Row::Pow, self, exponent.look())
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
        let dtype = match (&a, &b) {
            (Beside::Node(x), b) => b.joint(x.dtype()),
            (a, Beside::Node(y)) => a.joint(y.dtype()),
            (Beside::Int(_), Beside::Int(_)) => DType::I64,
            _ => DType::F32,
        };
        let (a, b) = (a.into_node(dtype, &condition), b.into_node(dtype, &condition));
        Ok(Tensor::from_node(Node::map(Row::Where, &[&condition, &a, &b])?))
    }

    /// Values no smaller than `min` and no larger than `max`, where given; NaN stays.
    #[track_caller]
    pub fn clamp(&self, min: Option<f64>, max: Option<f64>) -> Tensor {
        let mut out = self.clone();
        if let Some(min) = min {
            out = out.maximum(min);
        }
        if let Some(max) = max {
            out = out.minimum(max);
        }
        out
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

    /// A copy of the value in its own memory; gradients flow through it.
    #[track_caller]
    pub fn copy(&self) -> Tensor {
        Tensor::from_node(self.node().copy())
    }
}

/// A whole power of integers, by squaring.
#[track_caller]
fn integer_power(base: &Tensor, exponent: i64) -> Result<Tensor> {
    if exponent < 0 {
        let text = format!("integers to a negative power ({exponent}); convert to float first");
        return Err(mg_device::Error::new("pow", mg_device::ErrorKind::Value(text)));
    }
    let mut square = base.clone();
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
        None => base.try_mul(0i64)?.try_add(1i64),
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
                or_panic(reflected(Row::$Row, Beside::Float(self), other))
            }
        }
        impl std::ops::$Trait<Tensor> for f64 {
            type Output = Tensor;
            #[track_caller]
            fn $op(self, other: Tensor) -> Tensor {
                or_panic(reflected(Row::$Row, Beside::Float(self), &other))
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
