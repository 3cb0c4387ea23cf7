//! Which axes a reduction is over, and what it leaves.

use mg_device::{AxisSet, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;

/// The mask of all axes.
pub(crate) fn all_axes(node: &Node) -> AxisSet {
    ((1u32 << node.shape().rank()) - 1) as AxisSet
}

/// The axes as a mask; no axes means all.
pub(crate) fn mask(node: &Node, axes: &[isize]) -> Result<AxisSet> {
    if axes.is_empty() {
        return Ok(all_axes(node));
    }
    let rank = node.shape().rank();
    let mut mask: AxisSet = 0;
    for &axis in axes {
        // A tensor without axes takes the axis 0, and there is nothing along it.
        let axis = normalize_axis(axis, rank.max(1))?;
        if mask >> axis & 1 == 1 {
            return Err(Error::new(
                "axis",
                ErrorKind::Value(format!("axis {axis} is named twice in {axes:?}")),
            ));
        }
        mask |= 1 << axis;
    }
    Ok(if rank == 0 { 0 } else { mask })
}

/// The mask of one axis; a tensor without axes takes the axis 0.
pub(crate) fn axis_mask(node: &Node, axis: isize) -> Result<AxisSet> {
    Ok(1 << normalize_axis(axis, node.shape().rank().max(1))?)
}

/// The shape that a reduction over the axes of a mask leaves.
pub(crate) fn kept(shape: &Shape, mask: AxisSet, keepdim: bool) -> Shape {
    let sizes = (0..shape.rank()).filter(|&d| keepdim || mask >> d & 1 == 0);
    let sizes: Vec<usize> = sizes.map(|d| if mask >> d & 1 == 1 { 1 } else { shape[d] }).collect();
    Shape::of(&sizes)
}

/// How many elements each result of a reduction is of.
pub(crate) fn count(shape: &Shape, mask: AxisSet) -> usize {
    (0..shape.rank()).filter(|&d| mask >> d & 1 == 1).map(|d| shape[d]).product()
}
