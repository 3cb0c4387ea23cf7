//! Norms of any order, whose gradients are right at 0 and at infinity.

use super::axes::count;
use super::dtypes::wide;
use super::slopes::{flat_at_zero, without_slope};
use mg_device::{AxisSet, Error, ErrorKind, Result};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};

/// The norm over the axes of a mask; see `Tensor::norm`.
pub(crate) fn p_norm(node: &Node, p: f64, mask: AxisSet, keepdim: bool) -> Result<Node> {
    let sum = |n: Node| n.reduce(ReduceKind::Sum, mask, keepdim);
    let power = |n: &Node, p: f64| Node::apply(Row::Pow, &[n, &n.lit(p)]);
    Ok(if p.is_nan() {
        return Err(Error::new("norm", ErrorKind::Value("takes a number as p, got NaN".into())));
    } else if p == 2.0 {
        flat_at_zero(&sum(node.map(Row::Square))?, |s| s.map(Row::Sqrt))
    } else if p == 1.0 {
        sum(node.map(Row::Abs))?
    } else if p == 0.0 {
        let counted = Node::apply(Row::Ne, &[node, &node.lit(0.0)]).cast(node.dtype());
        sum(without_slope(&counted, node))?
    } else if p.is_infinite() {
        let kind = if p > 0.0 { ReduceKind::Max } else { ReduceKind::Min };
        node.map(Row::Abs).reduce(kind, mask, keepdim)?
    } else {
        let magnitudes = node.map(Row::Abs);
        // The slope of a power below 1 is infinite at 0.
        let powers = if p < 0.0 {
            // That of a negative one is infinite there, and nothing depends on it.
            let is_zero = magnitudes.eq(&magnitudes.lit(0.0));
            let safe = is_zero.choose(&magnitudes.lit(1.0), &magnitudes);
            is_zero.choose(&magnitudes.lit(f64::INFINITY), &power(&safe, p))
        } else if p < 1.0 {
            flat_at_zero(&magnitudes, |m| power(m, p))
        } else {
            power(&magnitudes, p)
        };
        // The root of a negative order is infinite at 0.
        match p > 0.0 {
            true => flat_at_zero(&sum(powers)?, |s| power(s, 1.0 / p)),
            false => power(&sum(powers)?, 1.0 / p),
        }
    })
}

/// [`p_norm`], of half types in f32, rounded once.
pub(crate) fn norm_of(node: &Node, p: f64, mask: AxisSet, keepdim: bool) -> Result<Node> {
    Ok(p_norm(&wide(node), p, mask, keepdim)?.cast(node.dtype()))
}

/// As [`norm_of`], where nothing has no norm of a negative order, as there is no least of no magnitudes.
pub(crate) fn vector_norm(
    op: &'static str,
    node: &Node,
    p: f64,
    mask: AxisSet,
    keepdim: bool,
) -> Result<Node> {
    if p < 0.0 && count(node.shape(), mask) == 0 {
        let text = format!("the norm of order {p} of no elements, in shape {}", node.shape());
        return Err(Error::new(op, ErrorKind::Value(text)));
    }
    norm_of(node, p, mask, keepdim)
}
