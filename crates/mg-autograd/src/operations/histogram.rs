//! Histograms: how often integers occur, how many elements or points lie in intervals and boxes.

use super::float;
use crate::checks::{unseen, valid};
use crate::ops::Operand;
use crate::parts::mask;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, Valid};
use mg_graph::Node;
use mg_kernels::library::Tally;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

fn refused<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// The ends of what is counted: those that are given, or the least and the largest element; `apart` of
/// them where they are the same.
fn ends(op: &'static str, x: &Node, given: Option<(f64, f64)>, apart: f64) -> Result<(Node, Node)> {
    let all = mask(x, &[])?;
    let (low, high) = match given {
        Some((low, high)) => (x.lit(low), x.lit(high)),
        None if x.shape().numel() == 0 => (x.lit(0.0), x.lit(1.0)),
        None => {
            // What is known is told of here; of the rest, the ends are looked at when they are computed.
            let is_unseen = unseen(op, x, Valid::Finite)?.is_some();
            let end = |kind| {
                let end = x.reduce(kind, all, false)?;
                if is_unseen { valid(op, &end, Valid::Finite) } else { Ok(end) }
            };
            (end(ReduceKind::Min)?, end(ReduceKind::Max)?)
        }
    };
    let (same, apart) = (low.eq(&high), low.lit(apart));
    Ok((same.choose(&low.sub(&apart), &low), same.choose(&high.add(&apart), &high)))
}

/// The number of elements in each of `bins` intervals, or the sum of their weights; what is outside of them does not count.
fn in_bins(x: &Node, low: &Node, high: &Node, bins: usize, weight: Option<&Node>) -> Result<Node> {
    let line = Shape::of(&[x.shape().numel()]);
    let x = x.reshape(line)?;
    let floats = matches!(x.dtype(), DType::F32 | DType::F64);
    // What is traced is composed: of examples side by side, and in formats that know no such kernel.
    let is_traced = x.is_traced() || low.is_traced() || high.is_traced() || mg_graph::is_recording();
    if weight.is_none() && floats && bins <= Tally::MOST && !is_traced {
        return Ok(Node::library(Tally { bins }.into(), &[&x, low, high])?.cast(x.dtype()));
    }
    let place = x.sub(low).div(&high.sub(low)).scale(bins as f64).map(Row::Floor);
    tally(&x, [low, high], &place, bins, weight)
}

/// Whether each element lies between two ends, both included.
fn inside(x: &Node, [low, high]: [&Node; 2]) -> Node {
    Node::apply(Row::And, &[&Node::apply(Row::Le, &[low, x]), &Node::apply(Row::Le, &[x, high])])
}

/// Whether it is the ends of a range: finite, and in order.
fn is_range(low: f64, high: f64) -> bool {
    low.is_finite() && high.is_finite() && low <= high
}

/// How many elements of a line that lie between two ends, both included, have each place, or the sum of their weights; what
/// would have a place beyond the last one has that.
fn tally(x: &Node, ends: [&Node; 2], place: &Node, bins: usize, weight: Option<&Node>) -> Result<Node> {
    let inside = inside(x, ends);
    let last = Node::apply(Row::Minimum, &[place, &place.lit(bins as f64 - 1.0)]);
    // What is in none has the index behind the last.
    let index = inside.choose(&last, &last.lit(bins as f64)).cast(DType::I64);
    let each = match weight {
        None => Node::scalar_bits(1, DType::I64, x.device(), true).expand(*x.shape())?,
        Some(weight) => weight.reshape(*x.shape())?,
    };
    Ok(each.scatter_add(0, &index, bins + 1)?.slice(0, 0, 1, bins)?.cast(x.dtype()))
}

/// How many elements lie in each of so many intervals of the same width, or their weights; the intervals' ends, and the width.
fn evenly(x: &Node, bins: usize, range: Option<&[f64]>, weight: Option<&Node>) -> Result<(Node, Node, Node)> {
    let range = match range {
        None => None,
        Some(&[low, high]) if is_range(low, high) => Some((low, high)),
        Some(other) => {
            let text = format!("takes two finite numbers in order as range, got {other:?}");
            return refused("histogram", ErrorKind::Value(text));
        }
    };
    let (low, high) = ends("histogram", x, range, 0.5)?;
    let counts = in_bins(x, &low, &high, bins, weight)?;
    let (edges, width) = lined_up(&low, &high, bins)?;
    Ok((counts, edges, width))
}

/// The ends of so many intervals of the same width, and the width.
fn lined_up(low: &Node, high: &Node, bins: usize) -> Result<(Node, Node)> {
    let width = high.sub(low).scale(1.0 / bins as f64);
    let at = Node::ramp(Shape::new(&[bins + 1])?, low.device()).cast(low.dtype());
    // From the nearer end, so that both ends are exact.
    let up = low.add(&at.mul(&width));
    let down = high.sub(&at.lit(bins as f64).sub(&at).mul(&width));
    Ok((at.lt(&at.lit(bins as f64 / 2.0)).choose(&up, &down), width))
}

/// How many elements lie between neighbours among `edges`, or their weights; what equals the last one is in the last interval.
fn between(x: &Node, edges: &Node, weight: Option<&Node>) -> Result<Node> {
    let x = x.reshape(Shape::of(&[x.shape().numel()]))?;
    let ([low, high], place) = placed(&x, edges)?;
    tally(&x, [&low, &high], &place, edges.shape()[0] - 1, weight)
}

/// The first and the last edge, and between which of them the elements of a line lie: the number of the edge before each.
fn placed(x: &Node, edges: &Node) -> Result<([Node; 2], Node)> {
    let ends = [edges.slice(0, 0, 1, 1)?, edges.slice(0, edges.shape()[0] - 1, 1, 1)?];
    let (sorted, values) = (Tensor::from_node(edges.clone()), Tensor::from_node(x.clone()));
    let behind = Tensor::try_searchsorted(&sorted, values, false, true, None, None)?.node();
    Ok((ends, behind.sub(&behind.lit(1.0))))
}

/// From each edge to the next.
fn widths_of(edges: &Node) -> Result<Node> {
    let n = edges.shape()[0];
    Ok(edges.slice(0, 1, 1, n - 1)?.sub(&edges.slice(0, 0, 1, n - 1)?))
}

/// The boxes' edges along an axis on which points have the coordinates `x`: `bins` intervals of one width, within `range` or
/// from the least coordinate to the largest.
fn even_edges(x: &Node, bins: usize, range: Option<(f64, f64)>) -> Result<Node> {
    let (low, high) = ends("histogramdd", x, range, 0.5)?;
    Ok(lined_up(&low, &high, bins)?.0)
}

/// A least and a largest coordinate for each of `n` axes; none, if no range is given.
fn ranges(n: usize, given: Option<&[f64]>) -> Result<Vec<(f64, f64)>> {
    let Some(given) = given else { return Ok(vec![]) };
    let ranges: Vec<(f64, f64)> = given.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    if given.len() != 2 * n || !ranges.iter().all(|&(low, high)| is_range(low, high)) {
        let text = format!("takes two finite numbers in order for each of {n} axes as range, got {given:?}");
        return refused("histogramdd", ErrorKind::Value(text));
    }
    Ok(ranges)
}

/// Edges that are given, each a tensor of one axis.
fn given_edges(x: &Node, edges: &[Tensor], range: Option<&[f64]>) -> Result<Vec<Node>> {
    if range.is_some() {
        return refused("histogramdd", ErrorKind::Value("takes no range beside edges".into()));
    }
    let is_unfit = |edges: &&Tensor| edges.rank() != 1 || edges.numel() < 2 || edges.dtype() != x.dtype();
    if let Some(unfit) = edges.iter().find(is_unfit) {
        let text =
            format!("takes edges {} [n], two or more, got {} {}", x.dtype(), unfit.dtype(), unfit.shape());
        return refused("histogramdd", ErrorKind::Shape(text));
    }
    Ok(edges.iter().map(|edges| edges.detach().node()).collect())
}

/// The number of the box that each coordinate lies in along an axis, and whether it lies in one.
fn boxed(x: &Node, edges: &Node) -> Result<(Node, Node)> {
    let ([low, high], place) = placed(x, edges)?;
    // A point on the last edge is in the last box; what is in none has any number that there is.
    let place = Node::apply(Row::Minimum, &[&place, &place.lit(edges.shape()[0] as f64 - 2.0)]);
    Ok((Node::apply(Row::Maximum, &[&place, &place.lit(0.0)]), inside(x, [&low, &high])))
}

#[operations(HISTOGRAMS)]
impl Tensor {
    /// How often each integer occurs, from 0 to the largest one (at least `minlength` of them): i64. With `weights`, the sum of
    /// the weights of its occurrences: f32 of f32, else f64. The values are looked at, since the shape depends on them.
    ///
    /// # Errors
    ///
    /// What is no line of integers, a negative one; weights of another shape.
    pub fn bincount(
        &self,
        #[default(None)] weights: Option<&Tensor>,
        #[default(0)] minlength: usize,
    ) -> Result<Tensor> {
        if self.rank() != 1 || !self.dtype().is_int() {
            let text = format!("takes one axis of integers, got {} {}", self.dtype(), self.shape());
            return refused("bincount", ErrorKind::Value(text));
        }
        if let Some(weights) = weights.filter(|w| w.shape() != self.shape()) {
            let text = format!("weights of shape {} for {}", weights.shape(), self.shape());
            return refused("bincount", ErrorKind::Shape(text));
        }
        let index = self.to_dtype(DType::I64);
        if self.numel() == 0 {
            // Nothing is counted, of whatever weight.
            return Tensor::full_on(&[minlength], 0.0, DType::I64, self.device());
        }
        let (least, most) = index.try_aminmax(None, false)?;
        Tensor::realize_all([&least, &most])?;
        let (least, most) = (least.item::<i64>()?, most.item::<i64>()?);
        if least < 0 {
            return refused("bincount", ErrorKind::Value(format!("a negative integer, {least}")));
        }
        let bins = Shape::new(&[usize::try_from(most).unwrap_or(usize::MAX).saturating_add(1)])?[0];
        let values = match weights {
            None => index.ones_like(),
            Some(w) if w.dtype() == DType::F32 => w.clone(),
            Some(w) => w.to_dtype(DType::F64),
        };
        let added = values.detach().node().scatter_add(0, &index.node(), bins.max(minlength))?;
        Ok(Tensor::from_node(added))
    }

    /// How many elements lie in each of `bins` intervals of the same width from `min` to `max`, both included; from the least
    /// element to the largest, if these are the same. What lies outside does not count. Integers become the default float.
    ///
    /// # Errors
    ///
    /// No bins; bounds that are not finite or in the wrong order, elements that are not finite where they are the bounds.
    pub fn histc(
        &self,
        #[default(100)] bins: usize,
        #[default(0.0)] min: f64,
        #[default(0.0)] max: f64,
    ) -> Result<Tensor> {
        if bins == 0 || !(min.is_finite() && max.is_finite() && min <= max) {
            let text = format!("{bins} bins from {min} to {max}");
            return refused("histc", ErrorKind::Value(text));
        }
        let x = float(&self.detach());
        let (low, high) = ends("histc", &x, (min < max).then_some((min, max)), 1.0)?;
        Ok(Tensor::from_node(in_bins(&x, &low, &high, bins, None)?))
    }

    /// How many elements lie in each of `bins` intervals of the same width, and the intervals' ends, one more. They go from
    /// `range[0]` to `range[1]`, both included, or from the least element to the largest. A tensor as `bins` (one axis, ascending) is
    /// these ends itself. With `weight`, of the tensor's shape, the
    /// sums of the elements' weights; with `density`, divided by their sum and the width, so that the integral is 1. Integers become
    /// the default float.
    ///
    /// # Errors
    ///
    /// No bins; a range of other than two numbers that are finite and in order, or beside ends; ends of other than one axis, or of
    /// another dtype; weights of another shape.
    #[surface(method, function, answers("hist", "bin_edges"), keywords_from = "range")]
    pub fn histogram(
        &self,
        #[default(Operand::Int(100))] bins: Operand,
        #[default(None)] range: Option<&[f64]>,
        #[default(None)] weight: Option<&Tensor>,
        #[default(false)] density: bool,
    ) -> Result<(Tensor, Tensor)> {
        if let Some(weight) = weight.filter(|w| w.shape() != self.shape()) {
            let text = format!("weights of shape {} for {}", weight.shape(), self.shape());
            return refused("histogram", ErrorKind::Shape(text));
        }
        let x = float(&self.detach());
        let weight = weight.map(|w| w.detach().node().cast(x.dtype()));
        let (counts, edges, widths) = match &bins {
            Operand::Tensor(edges) => {
                if range.is_some() || edges.rank() != 1 || edges.numel() < 2 || edges.dtype() != x.dtype() {
                    let text =
                        format!("takes ends {} [n] of its own dtype and no range beside them", x.dtype());
                    return refused("histogram", ErrorKind::Shape(text));
                }
                let edges = edges.detach().node();
                let counts = between(&x, &edges, weight.as_ref())?;
                let widths = widths_of(&edges)?;
                (counts, edges, widths)
            }
            Operand::Int(n @ 1..) => evenly(&x, *n as usize, range, weight.as_ref())?,
            Operand::Int(_) | Operand::Float(_) | Operand::Bool(_) | Operand::Live(_) => {
                let text = "takes a bin at least, or a tensor of ends".into();
                return refused("histogram", ErrorKind::Value(text));
            }
        };
        let counts = match density {
            true => counts.div(&counts.reduce(ReduceKind::Sum, 1, true)?.mul(&widths)),
            false => counts,
        };
        Ok((Tensor::from_node(counts), Tensor::from_node(edges)))
    }

    /// How many points, the last axis of the tensor `[…, n]`, lie in each of the boxes that edges along `n` axes make: the boxes' counts
    /// `[bins…]`, and then the edges along each axis. They are `edges`, a tensor of one axis for each; or `bins` says how many boxes of one width there
    /// are along each axis, between the least and the largest coordinate or within `range` (two numbers for each axis). A point on the last
    /// edge is in the last box; one outside is in none. `weight` `[…]` is what a point counts; with `density` the sum of the
    /// boxes, each by its volume, is 1.
    ///
    /// # Errors
    ///
    /// A tensor without axes or of integers; other than one number of bins, or tensor of two or more edges of the tensor's dtype, for each of `n`
    /// axes; no bins; a range of other than two finite numbers in order for each axis, or beside edges; weights of another shape.
    // Python gives bins and edges by one argument, and the answer names.
    #[surface(function, name = "_histogramdd")]
    pub fn histogramdd(
        &self,
        #[default(&[])] bins: &[usize],
        #[default(None)] edges: Option<&[Tensor]>,
        #[default(None)] range: Option<&[f64]>,
        #[default(None)] weight: Option<&Tensor>,
        #[default(false)] density: bool,
    ) -> Result<Vec<Tensor>> {
        let (x, shape) = (self.detach().node(), self.shape());
        let Some((&n, points)) = shape.split_last().filter(|_| self.dtype().is_float()) else {
            let text = format!("takes points […, n] of floating-point numbers, got {} {shape}", self.dtype());
            return refused("histogramdd", ErrorKind::Shape(text));
        };
        let given = edges.map_or(bins.len(), <[Tensor]>::len);
        if given != n {
            let text = format!("takes as many bins as there are axes, {n}, got {given}");
            return refused("histogramdd", ErrorKind::Shape(text));
        }
        if let Some(weight) = weight.filter(|w| *w.shape() != *points) {
            let text =
                format!("takes a weight for each point {}, got {}", Shape::new(points)?, weight.shape());
            return refused("histogramdd", ErrorKind::Shape(text));
        }
        let count = Shape::new(points)?.numel();
        let x = x.reshape(Shape::new(&[count, n])?)?;
        let column = |axis: usize| x.slice(1, axis, 1, 1)?.reshape(Shape::of(&[count]));
        let along: Vec<Node> = match edges {
            Some(edges) => given_edges(&x, edges, range)?,
            None => {
                let ranges = ranges(n, range)?;
                let even = |(axis, &bins): (usize, &usize)| {
                    even_edges(&column(axis)?, bins, ranges.get(axis).copied())
                };
                if bins.contains(&0) {
                    return refused(
                        "histogramdd",
                        ErrorKind::Value("takes a bin at least along each axis".into()),
                    );
                }
                bins.iter().enumerate().map(even).collect::<Result<_>>()?
            }
        };
        let sizes: Vec<usize> = along.iter().map(|edges| edges.shape()[0] - 1).collect();
        let boxes = Shape::new(&sizes)?;
        let line = Shape::of(&[count]);
        let mut at = Node::scalar_bits(0, DType::I64, x.device(), true).expand(line)?;
        let mut inside = Node::scalar(1.0, DType::Bool, x.device(), true).expand(line)?;
        for (axis, edges) in along.iter().enumerate() {
            let (place, holds) = boxed(&column(axis)?, edges)?;
            at = at.mul(&at.lit(sizes[axis] as f64)).add(&place);
            inside = Node::apply(Row::And, &[&inside, &holds]);
        }
        let each = match weight {
            Some(weight) => weight.detach().node().cast(x.dtype()).reshape(line)?,
            None => x.lit(1.0).expand(line)?,
        };
        let each = inside.choose(&each, &each.lit(0.0));
        let mut counts = each.scatter_add(0, &at, boxes.numel())?.reshape(boxes)?;
        if density {
            counts = counts.div(&counts.reduce(ReduceKind::Sum, mask(&counts, &[])?, false)?);
            for (axis, edges) in along.iter().enumerate() {
                let ones = Shape::new(&vec![1; n])?;
                counts = counts.div(&widths_of(edges)?.reshape(ones.with(axis, sizes[axis]))?);
            }
        }
        Ok(std::iter::once(counts).chain(along).map(Tensor::from_node).collect())
    }
}
