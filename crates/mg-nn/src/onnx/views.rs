//! Views, as ONNX's operators.

use super::graph::{Attribute, Graph, Id, refuse};
use mg_autograd::Tensor;
use mg_device::{Layout, Result, Shape};
use mg_graph::View;

/// Whole numbers that the file has.
pub(super) fn positions(graph: &mut Graph, numbers: &[i64], shape: &[usize]) -> Result<Id> {
    let tensor = Tensor::from_vec(numbers.to_vec(), shape)?;
    tensor.realize()?;
    Ok(graph.value(super::graph::Made::Stored(super::graph::Stored { name: None, tensor })))
}

/// A view of an operand, of that one's shape.
pub(super) fn view(graph: &mut Graph, view: &View, x: Id, from: &Shape, to: &Shape) -> Result<Id> {
    match view {
        View::Reshape => Ok(graph.reshape(x, to)),
        View::Permute(axes) => Ok(graph.transpose(x, axes[..to.rank()].iter().map(|&a| a as usize))),
        View::Expand => {
            let sizes = graph.shape(to);
            Ok(graph.call("Expand", &[x, sizes]))
        }
        &View::Slice { axis, start, step } => {
            let len = to[axis as usize] as i64;
            let start = if len == 0 { 0 } else { start };
            let end = start + step * len;
            // Backwards, before the first one is no position: it would count from the end.
            let end = if end < 0 { i64::MIN } else { end };
            let parts = [start, end, axis.into(), step].map(|n| graph.sizes([n]));
            Ok(graph.call("Slice", &[x, parts[0], parts[1], parts[2], parts[3]]))
        }
        View::Diagonal { .. } | View::Windows { .. } => {
            let layout = Layout::contiguous(*from);
            match view.apply(&layout, to) {
                Some(layout) => reached(graph, x, from, &layout),
                None => refuse(format!("a view of {from} as {to}")),
            }
        }
        View::Region(region) => reached(graph, x, from, region),
    }
}

/// The elements that a layout reaches in what lies densely, by operators that know sizes and not places, where steps divide each other: the
/// source is seen with an axis for each step, parts of these are taken and put in order.
fn taken(graph: &mut Graph, x: Id, from: &Shape, layout: &Layout) -> Option<Id> {
    let (shape, strides) = (layout.shape(), layout.strides());
    // The axes that move, from the longest step to the shortest.
    let mut axes: Vec<usize> = (0..shape.rank()).filter(|&a| shape[a] != 1 && strides[a] != 0).collect();
    axes.sort_by_key(|&a| std::cmp::Reverse(strides[a]));
    let mut steps: Vec<usize> = vec![];
    for &axis in &axes {
        steps.push(usize::try_from(strides[axis]).ok()?);
    }
    let (mut seen, mut rest, mut before) = (vec![], layout.offset(), from.numel());
    let mut parts = vec![];
    for (&axis, &step) in axes.iter().zip(&steps) {
        let size = (before.is_multiple_of(step)).then_some(before / step)?;
        let start = rest / step;
        (start + shape[axis] <= size).then_some(())?;
        parts.push((start, shape[axis], size));
        seen.push(size);
        (rest, before) = (rest % step, step);
    }
    parts.push((rest, 1, before));
    seen.push(before);
    let mut made = graph.reshape(x, &seen);
    for (axis, &(start, len, size)) in parts.iter().enumerate() {
        if len != size {
            let [start, end, axis] = [start, start + len, axis].map(|n| graph.sizes([n as i64]));
            made = graph.call("Slice", &[made, start, end, axis]);
        }
    }
    // Those in order; what has one element is anywhere.
    let order: Vec<usize> = (0..shape.rank()).filter_map(|a| axes.iter().position(|&b| a == b)).collect();
    made = graph.transpose(made, order.into_iter().chain([axes.len()]));
    let plain: Vec<usize> = (0..shape.rank()).map(|a| if strides[a] == 0 { 1 } else { shape[a] }).collect();
    made = graph.reshape(made, &plain);
    if plain != shape.dims() {
        let all = graph.shape(shape);
        made = graph.call("Expand", &[made, all]);
    }
    Some(made)
}

/// The elements that a layout reaches in what lies densely.
fn reached(graph: &mut Graph, x: Id, from: &Shape, layout: &Layout) -> Result<Id> {
    if from.numel() > 0 && layout.numel() > 0 {
        let (values, calls) = (graph.values.len(), graph.calls.len());
        if let Some(made) = taken(graph, x, from, layout) {
            return Ok(made);
        }
        graph.values.truncate(values);
        graph.calls.truncate(calls);
    }
    let line = graph.sizes([-1]);
    let line = graph.call("Reshape", &[x, line]);
    let at: Vec<i64> = layout.offsets().map(|n| n as i64).collect();
    let at = positions(graph, &at, layout.shape())?;
    Ok(graph.call_with("Gather", &[line, at], vec![("axis", Attribute::Int(0))]))
}

/// Zeros, or what `base` has, with an operand's elements where a layout of the dense result says.
pub(super) fn write(
    graph: &mut Graph,
    (x, from): (Id, &Shape),
    base: Option<Id>,
    zero: Id,
    region: &Layout,
    to: &Shape,
) -> Result<Id> {
    if base.is_none() && from.rank() == to.rank() && to.numel() > 0 {
        let dense = Layout::contiguous(*to);
        // Where a box begins, along each axis; axes of one element may have any step.
        let (mut rest, mut starts) = (region.offset(), vec![]);
        for (axis, &step) in dense.strides().iter().enumerate() {
            let step = step.unsigned_abs().max(1);
            starts.push(rest / step);
            rest %= step;
            let plain = from[axis] <= 1 || region.strides()[axis] == dense.strides()[axis];
            if !plain || starts[axis] + from[axis] > to[axis] {
                starts.clear();
                break;
            }
        }
        if starts.len() == to.rank() && rest == 0 {
            let before = starts.iter().map(|&n| n as i64);
            let after = (0..to.rank()).map(|axis| (to[axis] - from[axis] - starts[axis]) as i64);
            let margins = graph.sizes(before.chain(after).collect::<Vec<_>>());
            return Ok(graph.call("Pad", &[x, margins, zero]));
        }
    }
    let all = graph.shape(to);
    let base = match base {
        Some(base) => base,
        None => graph.call("Expand", &[zero, all]),
    };
    let line = graph.sizes([-1]);
    let (base, x) = (graph.call("Reshape", &[base, line]), graph.call("Reshape", &[x, line]));
    let at: Vec<i64> = region.offsets().map(|n| n as i64).collect();
    let at = positions(graph, &at, &[at.len()])?;
    let written = graph.call_with("ScatterElements", &[base, at, x], vec![("axis", Attribute::Int(0))]);
    Ok(graph.call("Reshape", &[written, all]))
}
