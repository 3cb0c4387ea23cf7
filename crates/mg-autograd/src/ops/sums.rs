//! Sums and differences with a multiple.

use super::operand::{Operand, kind};
use crate::caller::public;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use mg_graph::Node;
use mg_kernels::Row;

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
}

/// `alpha · other`, as it is added to `beside`.
#[track_caller]
fn scaled(op: &'static str, beside: &Tensor, other: Operand, alpha: Operand) -> Result<Operand> {
    let (other, node) = (other.look(), beside.node());
    let joint = DType::result_type([kind(&node), other.kind()]);
    let fail = |text: &str| Err(Error::new(op, ErrorKind::DType(text.into())));
    super::joint(if op == "sub" { Row::Sub } else { Row::Add }, kind(&node), other.kind())?;
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
