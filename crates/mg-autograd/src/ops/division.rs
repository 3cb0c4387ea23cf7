//! Division with a whole quotient, and what remains of it.

use super::operand::{Operand, Term};
use super::{binary, or_panic, second};
use crate::caller::public;
use crate::checks::has_zero;
use crate::parts::wide;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, same_device};
use mg_kernels::{Algebra, Row, Rules};

#[allow(clippy::should_implement_trait)]
impl Tensor {
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

    mg_macros::twins!(fmod(other));
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
pub(super) fn divided(a: &Tensor, b: Operand, rounding: Option<&str>) -> Result<Tensor> {
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
        let Division { a, b, dtype } = Division::in_dtype(op, a, b, dtype)?;
        Ok(Division { a: wide(&a), b: wide(&b), dtype })
    }

    /// Of which the quotient is wanted: halves that are divided by a number are divided in f32, and the quotient is rounded once.
    fn of(op: &'static str, a: Term, b: Term) -> Result<Division> {
        let of = second(Row::Div, &b, DType::result_type([a.kind(), b.kind()]));
        Division::in_dtype(op, a, b, of)
    }

    fn in_dtype(op: &'static str, a: Term, b: Term, of: DType) -> Result<Division> {
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
        let (a, b) = (a.into_node(of, device), b.into_node(of, device));
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
