//! What stands beside a tensor in an operation, and the dtype in which it does.

use super::reflected;
use crate::surface::{OfIntegers, Operation};
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result, Standing};
use mg_graph::{LiveScalar, Node, cell_bits, cell_bits_of_int};
use mg_kernels::Row;

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
pub(super) enum Term {
    Node(Node),
    Float(f64),
    Int(i64),
    Bool(bool),
    Live(LiveScalar),
}

impl Operand {
    /// Whether it is a number, and 0: what it is multiplied with does not count then.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Operand::Int(0) | Operand::Float(0.0) | Operand::Bool(false))
    }

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

    pub(super) fn look(&self) -> Term {
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
    pub(super) fn kind(&self) -> (DType, Standing) {
        match self {
            Term::Node(n) => kind(n),
            Term::Float(_) | Term::Live(_) => (DType::default_float(), Standing::Number),
            Term::Int(_) => (DType::I64, Standing::Number),
            Term::Bool(_) => (DType::Bool, Standing::Number),
        }
    }

    #[track_caller]
    pub(super) fn into_node(self, dtype: DType, device: Device) -> Node {
        match self {
            Term::Node(n) => cast(n, dtype),
            Term::Float(v) => Node::scalar_bits(cell_bits(v, dtype), dtype, device, false),
            Term::Int(v) => Node::scalar_bits(cell_bits_of_int(v, dtype), dtype, device, false),
            Term::Bool(v) => Node::scalar_bits(cell_bits_of_int(v.into(), dtype), dtype, device, false),
            Term::Live(v) => Node::live(&v, dtype, device),
        }
    }
}

/// A node's dtype, and how much it counts when it meets others.
pub(crate) fn kind(node: &Node) -> (DType, Standing) {
    let standing = if node.shape().rank() == 0 { Standing::Scalar } else { Standing::Dimensioned };
    (node.dtype(), standing)
}

#[track_caller]
pub(super) fn cast(node: Node, dtype: DType) -> Node {
    if node.dtype() == dtype { node } else { node.cast(dtype) }
}
