//! Sums of exponentials without overflow: the largest is taken off before.

use crate::gradient::no_grad;
use mg_device::{AxisSet, Result};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};

/// The largest along the axes of a mask, without a gradient of its own: shifting by it changes no value. Where it is
/// infinite, the difference to it is NaN, and with it the softmax, as everywhere.
pub(crate) fn largest(node: &Node, mask: AxisSet) -> Result<Node> {
    let _guard = no_grad();
    node.reduce(ReduceKind::Max, mask, true)
}

/// As [`largest`], and finite: the logarithm of a sum that is 0 or ∞ is what it is, not ∞ − ∞.
fn peak(node: &Node, mask: AxisSet) -> Result<Node> {
    let max = largest(node, mask)?;
    let finite = max.map(Row::Abs).lt(&max.lit(f64::INFINITY));
    Ok(finite.choose(&max, &max.lit(0.0)))
}

/// What the elements along the axes of a mask are taken off by, and the sum of the exponentials of what is left.
pub(crate) fn shifted_exp_sum(node: &Node, mask: AxisSet) -> Result<(Node, Node)> {
    let max = peak(node, mask)?;
    let sum = node.sub(&max).map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
    Ok((max, sum))
}
