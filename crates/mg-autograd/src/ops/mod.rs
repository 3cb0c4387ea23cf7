//! Elementwise operations: the dtype in which the operands of a row meet, and the row that takes them there.

mod bounds;
mod division;
mod operand;
mod operators;
mod power;
mod rounding;
mod rows;
mod sums;

pub(crate) use bounds::clamped;
pub(crate) use division::{floor_divide, remainder};
pub use operand::Operand;
pub(crate) use operand::kind;
pub(crate) use power::power;
pub(crate) use rows::ROWS;

use crate::autocast;
use crate::tensor::Tensor;
use bounds::int_bound;
use mg_device::{DType, Error, ErrorKind, Result, Standing};
use mg_graph::Node;
use mg_kernels::rows::RowClass;
use mg_kernels::{Algebra, Row, Rules};
use operand::{Term, cast};
use rounding::is_rounding;
use smallvec::smallvec;

/// The dtype in which a row takes its second operand, the first being of `dtype`: a number (or a tensor without axes) that halves are
/// multiplied with or divided by is not rounded to theirs before, as in PyTorch.
fn second(row: Row, term: &Term, dtype: DType) -> DType {
    let is_number = match term {
        Term::Node(node) => node.shape().rank() == 0 && node.dtype() != dtype,
        Term::Float(_) | Term::Int(_) | Term::Bool(_) | Term::Live(_) => true,
    };
    if is_number && dtype.is_half() && row.keeps_single() { DType::F32 } else { dtype }
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
    if a.0 == b.0 { Ok(a.0) } else { DType::met(row.name(), [a, b]) }
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
    let whole = is_rounding(row);
    match node.dtype() {
        DType::Bool if row == Row::Neg => {
            let text = "truth values are not negated; `~` turns them over";
            return Err(Error::new("neg", ErrorKind::DType(text.into())));
        }
        DType::Bool if whole => {
            let text = "truth values are not rounded; convert to an integer or a float first";
            return Err(Error::new(row.name(), ErrorKind::DType(text.into())));
        }
        DType::Bool if row == Row::Abs => {
            let text = "takes numbers, got truth values";
            return Err(Error::new("abs", ErrorKind::DType(text.into())));
        }
        // What it is already.
        DType::Bool if row == Row::Sign => return Ok(Tensor::from_node(node.alias())),
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

impl Tensor {
    fn look(&self) -> Term {
        Term::Node(self.node())
    }

    /// `a` where the condition (bool) holds, else `b`. Bytes (u8) are truth values, as in PyTorch.
    ///
    /// # Errors
    ///
    /// A condition of another dtype, shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn where_(condition: &Tensor, a: impl Into<Operand>, b: impl Into<Operand>) -> Result<Tensor> {
        let (a, b, condition) = (a.into().look(), b.into().look(), condition.node());
        let condition = if condition.dtype() == DType::U8 { cast(condition, DType::Bool) } else { condition };
        if !condition.dtype().is_bool() {
            let text = format!("takes a condition of truth values, got {}", condition.dtype());
            return Err(Error::new("where", ErrorKind::DType(text)));
        }
        let dtype = DType::met("where", [a.kind(), b.kind()])?;
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
