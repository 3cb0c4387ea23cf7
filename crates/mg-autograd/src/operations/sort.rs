//! Sorting, and elements by their rank.
//!
//! The kernels work along the last axis: another one is brought there and back.

use super::axis_of;
use crate::tensor::Tensor;
use mg_device::{Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::{Sort, SortKind};
use mg_macros::operations;

fn refused<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// Refuses truth values.
fn not_bool(op: &'static str, t: &Tensor) -> Result<()> {
    match t.is_bool() {
        true => refused(op, ErrorKind::DType("takes numbers, got bool".into())),
        false => Ok(()),
    }
}

/// A tensor's lines along an axis.
struct Lines {
    /// The tensor, of one axis at least.
    x: Node,
    axis: usize,
    /// The tensor's axes.
    rank: usize,
}

impl Lines {
    fn of(t: &Tensor, dim: isize) -> Result<Lines> {
        let (x, rank) = (t.node(), t.rank());
        let axis = axis_of(dim, rank)?;
        let x = if rank == 0 { x.reshape(Shape::of(&[1]))? } else { x };
        Ok(Lines { x, axis, rank })
    }

    /// Elements of a line.
    fn length(&self) -> usize {
        self.x.shape()[self.axis]
    }

    /// The tensor with the lines' axis as the last one.
    fn last(&self) -> Result<Node> {
        let mut axes: Vec<usize> = (0..self.x.shape().rank()).collect();
        axes.remove(self.axis);
        axes.push(self.axis);
        self.x.permute(&axes)
    }

    /// What was found along the last axis, where the lines' axis is; without axes where the tensor had none.
    fn back(&self, found: &Node) -> Result<Tensor> {
        let rank = self.x.shape().rank();
        if self.axis + 1 == rank {
            let shape = if self.rank == 0 { Shape::of(&[]) } else { *found.shape() };
            // Without axes there is one element, or none was asked for.
            let fits = shape.numel() == found.shape().numel();
            return Ok(Tensor::from_node(if fits { found.reshape(shape)? } else { found.clone() }));
        }
        let mut axes: Vec<usize> = (0..rank - 1).collect();
        axes.insert(self.axis, rank - 1);
        Ok(Tensor::from_node(found.permute(&axes)?.copy()))
    }

    /// The elements at positions along the last axis, and the positions.
    fn picked(&self, last: &Node, at: &Node) -> Result<(Tensor, Tensor)> {
        let values = last.gather(last.shape().rank() - 1, at)?;
        Ok((self.back(&values)?, self.back(at)?))
    }
}

/// The first `count` elements in order along an axis, and their positions.
fn in_order(t: &Tensor, dim: isize, descending: bool, count: Option<usize>) -> Result<(Tensor, Tensor)> {
    let lines = Lines::of(t, dim)?;
    let count = count.unwrap_or(lines.length());
    let last = lines.last()?;
    let at = Node::library(Sort { kind: SortKind::Indices, descending, count }.into(), &[&last])?;
    lines.picked(&last, &at)
}

#[operations(SORTS)]
impl Tensor {
    /// The elements along an axis in order, and the positions (i64) that they had. NaN is larger than every number, and equal elements
    /// keep their order, whether `stable` is asked for or not. The gradient goes back to where the elements came from.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[surface(method, function, answers("values", "indices"), keywords_from = "stable")]
    pub fn sort(
        &self,
        #[default(-1)] dim: isize,
        #[default(false)] descending: bool,
        #[default(false)] stable: bool,
    ) -> Result<(Tensor, Tensor)> {
        // The order is stable always.
        let _ = stable;
        in_order(self, dim, descending, None)
    }

    /// The positions (i64) of the elements along an axis, in the elements' order. NaN is larger than every number, and equal elements
    /// keep their order.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    pub fn argsort(
        &self,
        #[default(-1)] dim: isize,
        #[default(false)] descending: bool,
        #[default(false)] stable: bool,
    ) -> Result<Tensor> {
        let _ = stable;
        let lines = Lines::of(self, dim)?;
        let kernel = Sort { kind: SortKind::Indices, descending, count: lines.length() };
        lines.back(&Node::library(kernel.into(), &[&lines.last()?])?)
    }

    /// The elements in order along the first axis: `sort` without the positions.
    pub fn msort(&self) -> Result<Tensor> {
        let lines = Lines::of(self, 0)?;
        let kernel = Sort { kind: SortKind::Values, descending: false, count: lines.length() };
        lines.back(&Node::library(kernel.into(), &[&lines.last()?])?)
    }

    /// The `k` largest elements along an axis (or the smallest), in order, and their positions (i64): of equal ones the first. NaN is larger than
    /// every number. The result is in order whether `sorted` is asked for or not.
    ///
    /// # Errors
    ///
    /// An axis out of range; more elements than there are; truth values.
    #[surface(method, function, answers("values", "indices"))]
    pub fn topk(
        &self,
        k: usize,
        #[default(-1)] dim: isize,
        #[default(true)] largest: bool,
        #[default(true)] sorted: bool,
    ) -> Result<(Tensor, Tensor)> {
        let _ = sorted;
        not_bool("topk", self)?;
        let lines = Lines::of(self, dim)?;
        if k > lines.length() {
            let text = format!("{k} elements of {} along axis {dim}", lines.length());
            return refused("topk", ErrorKind::Value(text));
        }
        in_order(self, dim, largest, Some(k))
    }
}
