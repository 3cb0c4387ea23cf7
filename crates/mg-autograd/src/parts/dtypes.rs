//! In what dtype it is computed, where that is another than the operand's.

use mg_device::DType;
use mg_graph::Node;
use mg_kernels::{Algebra, Row, is_compared};

/// A node in f32, if it is of a half type: squares and their sums go beyond f16 where the result does not, and small differences
/// are lost. The result is rounded once.
pub(crate) fn wide(node: &Node) -> Node {
    if node.dtype().is_half() { node.cast(DType::F32) } else { node.clone() }
}

/// Elements in the same order, of a dtype that kernels compare: integers of other dtypes become i32 or i64.
pub(crate) fn comparable(node: &Node) -> Node {
    let dtype = node.dtype();
    if is_compared(dtype) {
        return node.clone();
    }
    // The narrowest of those that are compared and hold every number of the dtype.
    let holds = |wide: DType| DType::promote(wide, dtype) == wide;
    match [DType::I32, DType::I64].into_iter().find(|&wide| holds(wide)) {
        Some(wide) => node.cast(wide),
        // u64: with the highest bit turned over, the order is that of numbers with a sign.
        None => {
            let highest = Node::scalar_bits(1 << 63, dtype, node.device(), false);
            Node::apply(Row::BitXor, &[node, &highest]).cast(DType::I64)
        }
    }
}

/// Elements of a dtype as [`comparable`] has made them something else of.
pub(crate) fn restored(node: &Node, dtype: DType) -> Node {
    let node = node.cast(dtype);
    match dtype {
        DType::U64 => {
            Node::apply(Row::BitXor, &[&node, &Node::scalar_bits(1 << 63, dtype, node.device(), false)])
        }
        _ => node,
    }
}
