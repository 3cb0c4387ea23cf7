//! Gradients that are other than those of what computes the value.

use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};

/// Numbers that do not change with `x` (which has their shape), with a history of it along which zeros flow, as PyTorch has it.
pub(crate) fn without_slope(value: &Node, x: &Node) -> Node {
    if !x.is_tracked() || !mg_graph::is_tracking() {
        return value.clone();
    }
    // No number is below itself, NaN neither.
    let never = Node::apply(Row::Lt, &[value, value]);
    never.choose(&x.cast(value.dtype()), value)
}

/// `f` of what is not negative, but where that is 0: there the value and all gradients are 0.
pub(crate) fn flat_at_zero(x: &Node, f: impl FnOnce(&Node) -> Node) -> Node {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let is_zero = x.eq(&zero);
    is_zero.choose(&zero, &f(&is_zero.choose(&one, x)))
}
