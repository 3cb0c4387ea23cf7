//! Means, and variances in as few passes as they take.

use super::axes::count;
use super::dtypes::wide;
use crate::gradient::no_grad;
use mg_device::{AxisSet, Result};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};

/// A sum over the axes of a mask, divided by `n`. Half types are added and divided in f32, and rounded once.
fn divided_sum(node: &Node, mask: AxisSet, keepdim: bool, n: f64) -> Result<Node> {
    let sum = wide(node).reduce(ReduceKind::Sum, mask, keepdim)?;
    Ok(sum.div(&sum.lit(n)).cast(node.dtype()))
}

/// The mean over the axes of a mask.
pub(crate) fn mean(node: &Node, mask: AxisSet, keepdim: bool) -> Result<Node> {
    divided_sum(node, mask, keepdim, count(node.shape(), mask) as f64)
}

/// The variance over the axes of a mask: in two passes, or in one over much that is no row, whose mean nobody can wait for.
pub(crate) fn variance(node: &Node, mask: AxisSet, correction: f64, keepdim: bool) -> Result<Node> {
    let freedom = (count(node.shape(), mask) as f64 - correction).max(0.0);
    if let Some(near) = near_mean(node, mask)? {
        let n = count(node.shape(), mask) as f64;
        let less = node.sub(&near);
        let squares = less.map(Row::Square).reduce(ReduceKind::Sum, mask, keepdim)?;
        let sum = less.reduce(ReduceKind::Sum, mask, keepdim)?;
        let spread = squares.sub(&sum.mul(&sum.div(&sum.lit(n))));
        // Where nothing varies a rounded difference may be below 0.
        let some = spread.lt(&spread.lit(0.0)).choose(&spread.lit(0.0), &spread);
        return Ok(some.div(&some.lit(freedom)));
    }
    let centred = node.sub(&mean(node, mask, true)?);
    divided_sum(&centred.map(Row::Square), mask, keepdim, freedom)
}

/// Elements over which a variance takes a second pass to read them again.
const MUCH: usize = 1 << 20;
/// One of so many elements is looked at for what is near a mean.
const LOOK: usize = 64;

/// A number near the mean over the axes of a mask (which keep size 1), without a gradient: the mean of the first of them, where they are much
/// and the axes are the first ones. With n elements of variance v it differs from the mean by no more than √(64 v), whatever they are, so
/// that the squares of what is left of them have 6 bits less at the worst. Where all are the same it is that.
fn near_mean(node: &Node, mask: AxisSet) -> Result<Option<Node>> {
    let shape = *node.shape();
    let over = |axis: usize| mask >> axis & 1 == 1;
    let axes = (0..shape.rank()).take_while(|&axis| over(axis)).count();
    let is_first = (axes..shape.rank()).all(|axis| !over(axis) || shape[axis] == 1);
    let n = count(&shape, mask);
    if !is_first || axes == 0 || shape.numel() < MUCH || n < LOOK * LOOK {
        return Ok(None);
    }
    let _guard = no_grad();
    // The first axis that is long enough to be cut: those before it are looked at at their first place.
    let mut part = node.clone();
    let mut left = n / LOOK;
    for axis in (0..axes).rev() {
        let kept = left.clamp(1, shape[axis]);
        part = part.slice(axis, 0, 1, kept)?;
        left /= kept;
    }
    let reduce = |kind| part.reduce(kind, mask, true);
    let looked = count(part.shape(), mask) as f64;
    let sum = reduce(ReduceKind::Sum)?;
    let mean = sum.div(&sum.lit(looked));
    let at_least = Node::apply(Row::Maximum, &[&mean, &reduce(ReduceKind::Min)?]);
    Ok(Some(Node::apply(Row::Minimum, &[&at_least, &reduce(ReduceKind::Max)?])))
}
