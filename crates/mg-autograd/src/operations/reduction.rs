//! Reductions, and what is composed of them.

use super::{float, float_as};
use crate::caller::public;
use crate::checks::valid;
use crate::ops::{Operand, or_panic};
use crate::parts::{
    axis_mask, count, flat_at_zero, kept, mask, mean, p_norm, shifted_exp_sum, variance, vector_norm, wide,
};
use crate::surface::{Order, Spacing};
use crate::tensor::Tensor;
use mg_device::{AxisSet, DType, Error, ErrorKind, Result, Valid, normalize_axis};
use mg_graph::{Node, form};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

fn refused<T>(op: &'static str, kind: ErrorKind) -> Result<T> {
    Err(Error::new(op, kind))
}

/// A reduction in a dtype that is asked for.
fn reduced(
    t: &Tensor,
    kind: ReduceKind,
    dim: &[isize],
    keepdim: bool,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let node = t.node();
    let node = dtype.map_or_else(|| node.clone(), |dtype| node.cast(dtype));
    let reduced = node.reduce(kind, mask(&node, dim)?, keepdim)?;
    Ok(Tensor::from_node(dtype.map_or_else(|| reduced.clone(), |dtype| reduced.cast(dtype))))
}

fn argument(t: &Tensor, kind: ReduceKind, dim: Option<isize>, keepdim: bool) -> Result<Tensor> {
    let node = t.node();
    if node.dtype().is_bool() {
        let op = if kind == ReduceKind::ArgMax { "argmax" } else { "argmin" };
        return Err(Error::new(op, ErrorKind::DType("takes numbers, got truth values".into())));
    }
    let mask = match dim {
        Some(dim) => axis_mask(&node, dim)?,
        None => mask(&node, &[])?,
    };
    let index = node.reduce(kind, mask, false)?;
    let all = if dim.is_some() { mask } else { !0 };
    Ok(Tensor::from_node(index.reshape(kept(node.shape(), all, keepdim))?))
}

/// How many elements are zero, or are not, over some axes.
fn counted(t: &Tensor, row: Row, dim: &[isize], keepdim: bool) -> Result<Node> {
    let node = t.node();
    let holds = Node::apply(row, &[&node, &node.lit(0.0)]).cast(DType::I64);
    holds.reduce(ReduceKind::Sum, mask(&node, dim)?, keepdim)
}

/// What `any` (where `row` is [`Row::Ne`]) and `all` answer: truth values, and of u8 numbers 0 and 1.
fn truth(t: &Tensor, row: Row, dim: &[isize], keepdim: bool) -> Result<Tensor> {
    let node = t.node();
    let holds = if node.shape().numel() == 0 {
        let count = counted(t, row, dim, keepdim)?;
        Node::apply(row, &[&count, &count.lit(0.0)])
    } else {
        // The largest, or smallest, of truth values: numbers of 32 bits, of which there may be any number.
        let holds = if t.is_bool() { node.clone() } else { Node::apply(Row::Ne, &[&node, &node.lit(0.0)]) };
        let kind = if row == Row::Ne { ReduceKind::Max } else { ReduceKind::Min };
        holds.cast(DType::I32).reduce(kind, mask(&node, dim)?, keepdim)?.cast(DType::Bool)
    };
    Ok(Tensor::from_node(if t.dtype() == DType::U8 { holds.cast(DType::U8) } else { holds }))
}

/// Bessel's correction: PyTorch's `correction`, or its older `unbiased`.
fn corrected(correction: Option<f64>, unbiased: Option<bool>) -> f64 {
    correction.unwrap_or(if unbiased == Some(false) { 0.0 } else { 1.0 })
}

/// What is of floats: as in PyTorch, nobody means the deviation of integers in the default float.
fn of_floats(op: &'static str, t: &Tensor) -> Result<Node> {
    match t.dtype().is_float() {
        true => Ok(t.node()),
        false => refused(op, ErrorKind::DType(format!("takes floats, got {}", t.dtype()))),
    }
}

/// The variance, of half types in f32.
fn spread(node: &Node, mask: AxisSet, correction: f64, keepdim: bool) -> Result<Node> {
    variance(&wide(node), mask, correction, keepdim)
}

/// The standard deviation; where nothing varies, its gradient is 0.
fn deviation(variance: &Node) -> Node {
    flat_at_zero(variance, |v| v.map(Row::Sqrt))
}

/// The axis, of at least one: a tensor without axes is taken to have one.
fn axis_of(op: &'static str, t: &Tensor, dim: isize) -> Result<usize> {
    let rank = t.rank();
    if rank == 0 {
        return refused(op, ErrorKind::Shape("takes a tensor with at least one axis".into()));
    }
    normalize_axis(dim, rank)
}

/// Neighbours along an axis: all but the first, and all but the last.
fn neighbours(t: &Tensor, axis: usize) -> Result<(Tensor, Tensor)> {
    let axis = axis as isize;
    Ok((t.slice(axis, Some(1), None, 1)?, t.slice(axis, None, Some(-1), 1)?))
}

/// Tensors of the dtype in which they meet, one after the other.
fn joined(parts: &[&Tensor], axis: usize) -> Result<Tensor> {
    let dtype = parts.iter().map(|t| t.dtype()).reduce(DType::promote).unwrap_or(DType::F32);
    let parts: Vec<Tensor> = parts.iter().map(|t| t.to_dtype(dtype)).collect();
    Tensor::cat(&parts.iter().collect::<Vec<_>>(), axis as isize)
}

/// What lies under each two neighbours along an axis, less a common factor; the axis, and the factor.
fn strips(
    op: &'static str,
    t: &Tensor,
    x: Option<&Tensor>,
    dx: Option<f64>,
    dim: isize,
) -> Result<(Tensor, isize, f64)> {
    let axis = axis_of(op, t, dim)?;
    if t.dtype() == DType::Bool {
        return refused(op, ErrorKind::DType("takes numbers, got truth values".into()));
    }
    // Sums of two bytes are none.
    let t = if t.dtype().is_float() { t.clone() } else { t.to_dtype(DType::I64) };
    let t = &t;
    let (after, before) = neighbours(t, axis)?;
    let heights = after.try_add(&before)?;
    let x = match (x, dx) {
        (Some(_), Some(_)) => {
            return refused(op, ErrorKind::Value("takes points or their distance, not both".into()));
        }
        (None, dx) => return Ok((heights, axis as isize, dx.unwrap_or(1.0) / 2.0)),
        (Some(x), None) => x,
    };
    // Points have the axis of the values; of fewer axes, they are the last ones.
    let (shape, own) = (t.shape(), x.shape());
    let mut sizes = vec![1; shape.rank().saturating_sub(own.rank())];
    match own.rank() {
        1 => {
            sizes = vec![1; shape.rank()];
            sizes[axis] = own[0] as isize;
        }
        _ => sizes.extend(own.iter().map(|&n| n as isize)),
    }
    let at = axis + sizes.len() - shape.rank();
    let (points, values) = (sizes[at], shape[axis]);
    // One point for all has no widths; nothing is left of one value or two then, as in PyTorch.
    if points != values as isize && (own.rank() == 1 || points != 1 || values > 2) {
        let text = format!("{points} points for {values} values along axis {axis}");
        return refused(op, ErrorKind::Shape(text));
    }
    let widths = x.reshape(&sizes)?.try_diff(1, at as isize, None, None)?;
    Ok((heights.try_mul(&widths)?, axis as isize, 0.5))
}

/// The slopes along an axis of n positions, `h` from each other.
fn even_slope(x: &Tensor, axis: usize, n: usize, h: f64, edge_order: usize) -> Result<Tensor> {
    let at = |from: usize, len: usize| x.narrow(axis as isize, from as isize, len);
    // What an end has of its own value and of the next ones.
    let weights: &[f64] = if edge_order == 1 { &[-1.0, 1.0] } else { &[-1.5, 2.0, -0.5] };
    let end = |from: usize, backwards: bool| -> Result<Tensor> {
        let mut sum: Option<Tensor> = None;
        for (i, weight) in weights.iter().enumerate() {
            let place = if backwards { from - i } else { from + i };
            let term = at(place, 1)?.try_mul(if backwards { -weight } else { *weight })?;
            sum = Some(sum.map_or_else(|| Ok(term.clone()), |s| s.try_add(&term))?);
        }
        sum.map_or_else(|| at(from, 1), Ok)?.try_div(h)
    };
    let (first, last) = (end(0, false)?, end(n - 1, true)?);
    let inside = at(2, n.max(2) - 2)?.try_sub(at(0, n.max(2) - 2)?)?.try_div(2.0 * h)?;
    Tensor::cat(&[&first, &inside, &last], axis as isize)
}

/// The slopes along an axis of n positions that lie at `points`: those of the parabola through a position and its neighbours, or at the ends with
/// `edge_order` 1 of the line.
fn slope_at(x: &Tensor, axis: usize, n: usize, points: &Tensor, edge_order: usize) -> Result<Tensor> {
    if points.rank() != 1 || points.numel() != n {
        let text = format!("points of shape {} for {n} positions along axis {axis}", points.shape());
        return refused("gradient", ErrorKind::Shape(text));
    }
    let points = Tensor::from_node(float(points));
    let rank = x.rank();
    let along: Vec<isize> = (0..rank).map(|d| if d == axis { -1 } else { 1 }).collect();
    let at = |from: usize, len: usize| x.narrow(axis as isize, from as isize, len);
    // Distances of neighbours, and the slopes of the lines through them.
    let part = |t: &Tensor, d: isize, from: usize, len: usize| t.narrow(d, from as isize, len);
    let gaps = part(&points, 0, 1, n - 1)?.try_sub(part(&points, 0, 0, n - 1)?)?.reshape(&along)?;
    let lines = at(1, n - 1)?.try_sub(at(0, n - 1)?)?.try_div(&gaps)?;
    let axis = axis as isize;
    let line = |from: usize, len: usize| part(&lines, axis, from, len);
    let gap = |from: usize, len: usize| part(&gaps, axis, from, len);
    // A parabola's slope at an end goes on from the first line's as that does from the second's.
    let end = |own: usize, next: usize| -> Result<Tensor> {
        let (line, other) = (line(own, 1)?, line(next, 1)?);
        if edge_order == 1 {
            return Ok(line);
        }
        let (gap, both) = (gap(own, 1)?, gap(own, 1)?.try_add(gap(next, 1)?)?);
        line.try_add(line.try_sub(&other)?.try_mul(gap.try_div(&both)?)?)
    };
    let (first, last) = (end(0, 1.min(n - 2))?, end(n - 2, n.max(3) - 3)?);
    let (before, behind) = (gap(0, n - 2)?, gap(1, n - 2)?);
    let weighed = line(0, n - 2)?.try_mul(&behind)?.try_add(line(1, n - 2)?.try_mul(&before)?)?;
    let inside = weighed.try_div(before.try_add(&behind)?)?;
    Tensor::cat(&[&first, &inside, &last], axis)
}

/// The largest or the smallest elements along one axis, and their indices.
fn extreme(t: &Tensor, kind: ReduceKind, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
    let node = t.node();
    let mask = axis_mask(&node, axis)?;
    let arg = if kind == ReduceKind::Max { ReduceKind::ArgMax } else { ReduceKind::ArgMin };
    let index = node.reduce(arg, mask, true)?;
    let tracked = node.is_tracked() && mg_graph::is_tracking() && node.shape().rank() > 0;
    let value = match tracked {
        true => node.gather(mask.trailing_zeros() as usize, &index)?,
        false => node.reduce(kind, mask, true)?,
    };
    let shape = kept(node.shape(), mask, keepdim);
    Ok((Tensor::from_node(value.reshape(shape)?), Tensor::from_node(index.reshape(shape)?)))
}

// Python's `max` and `min` have forms of several operations, and are written by hand there.
impl Tensor {
    /// The largest elements along one axis, and their indices (i64): of equal ones the first, and the gradient goes to it
    /// alone. NaN is larger than every number.
    ///
    /// # Panics
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn max_with_indices(&self, axis: isize, keepdim: bool) -> (Tensor, Tensor) {
        or_panic(self.try_max_with_indices(axis, keepdim))
    }

    /// As [`Tensor::max_with_indices`].
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn try_max_with_indices(&self, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
        public("max", || {
            form("max.MaxBackward0");
            extreme(self, ReduceKind::Max, axis, keepdim)
        })
    }

    /// The smallest elements along one axis, and their indices (i64): of equal ones the first, and the gradient goes to it
    /// alone. NaN is smaller than every number.
    ///
    /// # Panics
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn min_with_indices(&self, axis: isize, keepdim: bool) -> (Tensor, Tensor) {
        or_panic(self.try_min_with_indices(axis, keepdim))
    }

    /// As [`Tensor::min_with_indices`].
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn try_min_with_indices(&self, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
        public("min", || {
            form("min.MinBackward0");
            extreme(self, ReduceKind::Min, axis, keepdim)
        })
    }
}

#[operations(REDUCTIONS)]
impl Tensor {
    /// The sum of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
    /// converted to before. Floats are added in blocks of f32 or f64, and the blocks' sums in f64.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, name = "sum", plain = "sum", keywords_from = "dtype")]
    pub fn sum_dim(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[python]
        #[default(None)]
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        if !dim.is_empty() {
            form("sum.SumBackward1");
        }
        reduced(self, ReduceKind::Sum, dim, keepdim, dtype)
    }

    /// The product of all elements, or over some axes. Integers and truth values become i64; `dtype` is what the elements are
    /// converted to before.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, name = "prod", plain = "prod", keywords_from = "dtype")]
    pub fn prod_dim(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[python]
        #[default(None)]
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        if !dim.is_empty() {
            form("prod.ProdBackward1");
        }
        reduced(self, ReduceKind::Prod, dim, keepdim, dtype)
    }

    /// The mean of all elements, or over some axes; of integers, in the default float unless `dtype` says otherwise.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice, a `dtype` of integers.
    #[surface(method, function, name = "mean", plain = "mean", keywords_from = "dtype")]
    pub fn mean_dim(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[python]
        #[default(None)]
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        if !dim.is_empty() {
            form("mean.MeanBackward1");
        }
        let node = float_as("mean", self, dtype)?;
        Ok(Tensor::from_node(mean(&node, mask(&node, dim)?, keepdim)?))
    }

    /// The sum of what is not NaN, of all elements or over some axes.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, keywords_from = "dtype")]
    pub fn nansum(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let node = self.node();
        let numbers = match node.dtype().is_float() {
            true => Tensor::from_node(node.eq(&node).choose(&node, &node.lit(0.0))),
            false => self.clone(),
        };
        reduced(&numbers, ReduceKind::Sum, dim, keepdim, dtype)
    }

    /// The mean of what is not NaN, of all elements or over some axes; of integers, in the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice, a `dtype` of integers.
    #[surface(method, function, keywords_from = "dtype")]
    pub fn nanmean(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let node = float_as("nanmean", self, dtype)?;
        let wide = wide(&node);
        let (mask, is_number) = (mask(&wide, dim)?, wide.eq(&wide));
        let sum = is_number.choose(&wide, &wide.lit(0.0)).reduce(ReduceKind::Sum, mask, keepdim)?;
        let count = is_number.cast(DType::I64).reduce(ReduceKind::Sum, mask, keepdim)?;
        Ok(Tensor::from_node(sum.div(&count.cast(wide.dtype())).cast(node.dtype())))
    }

    /// The largest element, or the largest over some axes; NaN if any is. Equal ones share the gradient.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; no elements.
    #[surface(method, function, plain = "max")]
    pub fn amax(&self, #[default(&[])] dim: &[isize], #[default(false)] keepdim: bool) -> Result<Tensor> {
        reduced(self, ReduceKind::Max, dim, keepdim, None)
    }

    /// The smallest element, or the smallest over some axes; NaN if any is. Equal ones share the gradient.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; no elements.
    #[surface(method, function, plain = "min")]
    pub fn amin(&self, #[default(&[])] dim: &[isize], #[default(false)] keepdim: bool) -> Result<Tensor> {
        reduced(self, ReduceKind::Min, dim, keepdim, None)
    }

    /// The smallest and the largest element, of all or along an axis. Equal ones share the gradient.
    ///
    /// # Errors
    ///
    /// An axis out of range; no elements.
    #[surface(method, function, keywords_from = "dim", answers("min", "max"))]
    pub fn aminmax(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
    ) -> Result<(Tensor, Tensor)> {
        let dim = dim.as_slice();
        let least = reduced(self, ReduceKind::Min, dim, keepdim, None)?;
        Ok((least, reduced(self, ReduceKind::Max, dim, keepdim, None)?))
    }

    /// The index (i64) of the first largest element along an axis, or of the flattened tensor.
    ///
    /// # Errors
    ///
    /// Truth values; an axis out of range; no elements.
    pub fn argmax(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
    ) -> Result<Tensor> {
        argument(self, ReduceKind::ArgMax, dim, keepdim)
    }

    /// The index (i64) of the first smallest element along an axis, or of the flattened tensor.
    ///
    /// # Errors
    ///
    /// Truth values; an axis out of range; no elements.
    pub fn argmin(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(false)] keepdim: bool,
    ) -> Result<Tensor> {
        argument(self, ReduceKind::ArgMin, dim, keepdim)
    }

    /// Whether any element is not zero, of all or over some axes: a truth value, and of u8 a u8.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, manners(NoAxes))]
    pub fn any(&self, #[default(&[])] dim: &[isize], #[default(false)] keepdim: bool) -> Result<Tensor> {
        truth(self, Row::Ne, dim, keepdim)
    }

    /// Whether no element is zero, of all or over some axes: a truth value, and of u8 a u8.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, manners(NoAxes))]
    pub fn all(&self, #[default(&[])] dim: &[isize], #[default(false)] keepdim: bool) -> Result<Tensor> {
        truth(self, Row::Eq, dim, keepdim)
    }

    /// How many elements are not zero (i64), of all or over some axes.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    pub fn count_nonzero(&self, #[default(&[])] dim: &[isize]) -> Result<Tensor> {
        Ok(Tensor::from_node(counted(self, Row::Ne, dim, false)?))
    }

    /// The variance of all elements, or over some axes: squares of deviations from the mean, over their count less
    /// `correction`, which is 1 (Bessel's) unless `unbiased` is false. Over 0, where the correction is larger.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; an axis out of range or named twice.
    #[surface(method, function, name = "var", plain = "var", keywords_from = "correction")]
    pub fn var_dim(
        &self,
        #[default(&[])] dim: &[isize],
        #[python]
        #[default(None)]
        unbiased: Option<bool>,
        #[default(false)] keepdim: bool,
        #[default(None)] correction: Option<f64>,
    ) -> Result<Tensor> {
        let node = of_floats("var", self)?;
        let variance = spread(&node, mask(&node, dim)?, corrected(correction, unbiased), keepdim)?;
        Ok(Tensor::from_node(variance.cast(node.dtype())))
    }

    /// The standard deviation, the square root of the variance, of all elements or over some axes; see `var`. Its gradient is 0
    /// where nothing varies.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; an axis out of range or named twice.
    #[surface(method, function, name = "std", plain = "std", keywords_from = "correction")]
    pub fn std_dim(
        &self,
        #[default(&[])] dim: &[isize],
        #[python]
        #[default(None)]
        unbiased: Option<bool>,
        #[default(false)] keepdim: bool,
        #[default(None)] correction: Option<f64>,
    ) -> Result<Tensor> {
        let node = of_floats("std", self)?;
        let variance = spread(&node, mask(&node, dim)?, corrected(correction, unbiased), keepdim)?;
        Ok(Tensor::from_node(deviation(&variance).cast(node.dtype())))
    }

    /// The variance (see `var`) and the mean, of all elements or over some axes.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; an axis out of range or named twice.
    #[surface(function, keywords_from = "correction")]
    pub fn var_mean(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(None)] unbiased: Option<bool>,
        #[default(false)] keepdim: bool,
        #[default(None)] correction: Option<f64>,
    ) -> Result<(Tensor, Tensor)> {
        let node = of_floats("var_mean", self)?;
        let mask = mask(&node, dim)?;
        let variance = spread(&node, mask, corrected(correction, unbiased), keepdim)?.cast(node.dtype());
        Ok((Tensor::from_node(variance), Tensor::from_node(mean(&node, mask, keepdim)?)))
    }

    /// The standard deviation (see `std`) and the mean, of all elements or over some axes.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; an axis out of range or named twice.
    #[surface(function, keywords_from = "correction")]
    pub fn std_mean(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(None)] unbiased: Option<bool>,
        #[default(false)] keepdim: bool,
        #[default(None)] correction: Option<f64>,
    ) -> Result<(Tensor, Tensor)> {
        let node = of_floats("std_mean", self)?;
        let mask = mask(&node, dim)?;
        let variance = spread(&node, mask, corrected(correction, unbiased), keepdim)?;
        let deviation = deviation(&variance).cast(node.dtype());
        Ok((Tensor::from_node(deviation), Tensor::from_node(mean(&node, mask, keepdim)?)))
    }

    /// `log Σ eˣ` over some axes (all, if none is named), without overflow. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[surface(method, function, special)]
    pub fn logsumexp(
        &self,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
    ) -> Result<Tensor> {
        let node = float(self);
        let mask = mask(&node, dim)?;
        if count(node.shape(), mask) == 0 {
            // The logarithm of 0.
            return Ok(Tensor::from_node(node.reduce(ReduceKind::Sum, mask, keepdim)?.map(Row::Log)));
        }
        let (max, sum) = shifted_exp_sum(&node, mask)?;
        Ok(Tensor::from_node(sum.map(Row::Log).add(&max).reshape(kept(node.shape(), mask, keepdim))?))
    }

    /// The norm of all elements as one vector, or over some axes: the `p`-th root of the sum of `p`-th powers of magnitudes
    /// (2 for `"fro"`); `"nuc"` is the sum of singular values of matrices. With `p` infinite the largest magnitude, −∞ the smallest, 0 how many are not zero. The gradient of a
    /// norm that is 0 is 0. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; a `p` that is NaN or another word; with an infinite or negative `p`, no elements.
    pub fn norm(
        &self,
        #[default(Order::Word("fro"))] p: Order<'_>,
        #[default(&[])] dim: &[isize],
        #[default(false)] keepdim: bool,
        #[python]
        #[default(None)]
        dtype: Option<DType>,
    ) -> Result<Tensor> {
        let p = match p {
            Order::Number(p) => p,
            Order::Word("fro") => 2.0,
            Order::Word("nuc") => {
                let axes = if dim.is_empty() && self.rank() == 2 { &[0, 1] } else { dim };
                if axes.len() != 2 {
                    let text = format!("takes two axes for \"nuc\", got {axes:?} of shape {}", self.shape());
                    return refused("norm", ErrorKind::Shape(text));
                }
                return self.try_matrix_norm(Order::Word("nuc"), axes, keepdim, dtype);
            }
            Order::Word(other) => {
                let text = format!("takes a number, \"fro\" or \"nuc\" as p, got {other:?}");
                return refused("norm", ErrorKind::Value(text));
            }
        };
        let node = float_as("norm", self, dtype)?;
        Ok(Tensor::from_node(vector_norm("norm", &node, p, mask(&node, dim)?, keepdim)?))
    }

    /// The `p`-norm of the difference to another tensor, which is broadcast.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; a `p` that is NaN.
    pub fn dist(&self, other: &Tensor, #[default(2.0)] p: f64) -> Result<Tensor> {
        let apart = float(&self.try_sub(other)?);
        Ok(Tensor::from_node(vector_norm("dist", &apart, p, mask(&apart, &[])?, false)?))
    }

    /// The parts along an axis, those whose `p`-norm is larger than `maxnorm` scaled down to it.
    ///
    /// # Errors
    ///
    /// Fewer than two axes, an axis out of range, a `p` that is not positive, a negative `maxnorm`.
    #[surface(method, function, in_place)]
    pub fn renorm(&self, p: f64, dim: isize, maxnorm: f64) -> Result<Tensor> {
        let node = float(self);
        let rank = node.shape().rank();
        if rank < 2 {
            return refused(
                "renorm",
                ErrorKind::Shape(format!("takes two axes or more, got {}", node.shape())),
            );
        }
        if p.is_nan() || p <= 0.0 || maxnorm.is_nan() || maxnorm < 0.0 {
            let text =
                format!("takes a positive p and a maxnorm that is not negative, got {p} and {maxnorm}");
            return refused("renorm", ErrorKind::Value(text));
        }
        let others = mask(&node, &[])? & !axis_mask(&node, dim)?;
        // Norms of halves may be beyond what halves hold.
        let wide = wide(&node);
        let norm = p_norm(&wide, p, others, true)?;
        let (limit, one) = (norm.lit(maxnorm), norm.lit(1.0));
        let is_long = limit.lt(&norm);
        let factor = limit.div(&is_long.choose(&norm.add(&norm.lit(1e-7)), &one));
        Ok(Tensor::from_node(wide.mul(&is_long.choose(&factor, &one)).cast(node.dtype())))
    }

    /// Differences of neighbours along an axis, taken `n` times; of truth values, whether they differ. `prepend` and `append`
    /// are put before and after the elements first, unless `n` is 0.
    ///
    /// # Errors
    ///
    /// A tensor without axes, an axis out of range; what is put beside it and does not fit.
    pub fn diff(
        &self,
        #[default(1)] n: usize,
        #[default(-1)] dim: isize,
        #[default(None)] prepend: Option<&Tensor>,
        #[default(None)] append: Option<&Tensor>,
    ) -> Result<Tensor> {
        let axis = axis_of("diff", self, dim)?;
        if n == 0 {
            return Ok(self.copy());
        }
        let parts: Vec<&Tensor> = prepend.into_iter().chain([self]).chain(append).collect();
        let mut t = if parts.len() > 1 { joined(&parts, axis)? } else { self.clone() };
        if t.shape()[axis] == 0 {
            return Ok(t);
        }
        for _ in 0..n {
            let (after, before) = neighbours(&t, axis)?;
            t = if t.is_bool() { after.try_ne(&before)? } else { after.try_sub(&before)? };
            if t.shape()[axis] == 0 {
                break;
            }
        }
        Ok(t)
    }

    /// The integral along an axis by the trapezoidal rule: of values at the points `x` (one axis, or a shape that broadcasts
    /// with the tensor's), or at points that are `dx` apart.
    ///
    /// # Errors
    ///
    /// A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.
    #[surface(function, alias = "trapz", keywords_from = "dx")]
    pub fn trapezoid(
        &self,
        #[default(None)] x: Option<&Tensor>,
        #[default(None)] dx: Option<f64>,
        #[default(-1)] dim: isize,
    ) -> Result<Tensor> {
        let axis = axis_of("trapezoid", self, dim)?;
        if self.shape()[axis] == 0 {
            return self.detach().try_sum_dim(&[axis as isize], false).map(|t| t.to_dtype(self.dtype()));
        }
        let (areas, axis, factor) = strips("trapezoid", self, x, dx, dim)?;
        areas.try_sum_dim(&[axis], false)?.try_mul(factor)
    }

    /// The integral up to each point but the first along an axis by the trapezoidal rule; see `trapezoid`.
    ///
    /// # Errors
    ///
    /// A tensor without axes, an axis out of range, truth values; points that do not fit the values, or both `x` and `dx`.
    #[surface(function, keywords_from = "dx")]
    pub fn cumulative_trapezoid(
        &self,
        #[default(None)] x: Option<&Tensor>,
        #[default(None)] dx: Option<f64>,
        #[default(-1)] dim: isize,
    ) -> Result<Tensor> {
        let (areas, axis, factor) = strips("cumulative_trapezoid", self, x, dx, dim)?;
        areas.try_cumsum(axis, None)?.try_mul(factor)
    }

    /// The covariance matrix of variables, which are rows, by observations, which are columns; of one row, the variance. Each
    /// observation counts `fweights` times (integers), and with `aweights`; both have one axis. Integers become the default float.
    ///
    /// # Errors
    ///
    /// More than two axes; weights of another number than the observations', that are no integers or floats, negative, or not finite.
    #[surface(method, function, keywords_from = "correction")]
    pub fn cov(
        &self,
        #[default(1)] correction: i64,
        #[default(None)] fweights: Option<&Tensor>,
        #[default(None)] aweights: Option<&Tensor>,
    ) -> Result<Tensor> {
        let shape = self.shape();
        if shape.rank() > 2 {
            return refused("cov", ErrorKind::Shape(format!("takes a matrix of observations, got {shape}")));
        }
        let x = Tensor::from_node(float(self));
        let x = match aweights.filter(|w| w.dtype().is_float()) {
            Some(weights) => x.to_dtype(DType::promote(x.dtype(), weights.dtype())),
            None => x,
        };
        let x = if shape.rank() < 2 { x.reshape(&[1, -1])? } else { x };
        let observations = x.shape()[1];
        for (name, weights, floats) in [("fweights", fweights, false), ("aweights", aweights, true)] {
            let Some(weights) = weights else { continue };
            if *weights.shape() != [observations] {
                let text = format!("{name} of shape {} for {observations} observations", weights.shape());
                return refused("cov", ErrorKind::Shape(text));
            }
            if weights.dtype().is_float() != floats {
                let wanted = if floats { "floats" } else { "integers" };
                let text = format!("{name} are {wanted}, got {}", weights.dtype());
                return refused("cov", ErrorKind::DType(text));
            }
        }
        let checked = |weights: Option<&Tensor>| -> Result<Option<Tensor>> {
            let checked = weights.map(|w| valid("cov", &w.node(), Valid::Weight)).transpose()?;
            Ok(checked.map(Tensor::from_node))
        };
        let (fweights, aweights) = (checked(fweights)?, checked(aweights)?);
        let (fweights, aweights) = (fweights.as_ref(), aweights.as_ref());
        let to = |t: &Tensor| t.to_dtype(x.dtype());
        let weights = match (fweights, aweights) {
            (Some(f), Some(a)) => Some(to(f).try_mul(to(a))?),
            (Some(one), None) | (None, Some(one)) => Some(to(one)),
            (None, None) => None,
        };
        let rows = &[1];
        let (centre, norm) = match &weights {
            None => (x.try_mean_dim(rows, true)?, None),
            Some(w) => {
                let sum = w.sum();
                let centre = x.try_mul(w)?.try_sum_dim(rows, true)?.try_div(&sum)?;
                let less = match aweights {
                    Some(a) if correction != 0 => {
                        let squares = w.try_mul(to(a))?.sum();
                        squares.try_mul(correction as f64)?.try_div(&sum)?
                    }
                    _ => Operand::Float(correction as f64).beside(&sum),
                };
                (centre, Some(sum.try_sub(less)?))
            }
        };
        let apart = x.try_sub(centre)?;
        let weighed = weights.map_or_else(|| Ok(apart.clone()), |w| apart.try_mul(w))?;
        let products = apart.try_matmul(&weighed.transpose(0, 1)?)?;
        let cov = match norm {
            None => products.try_div((observations as f64 - correction as f64).max(0.0))?,
            Some(norm) => products.try_div(norm.try_relu()?)?,
        };
        cov.squeeze(None)
    }

    /// The matrix of correlation coefficients of variables, which are rows, by observations, which are columns. Integers become
    /// the default float.
    ///
    /// # Errors
    ///
    /// More than two axes.
    pub fn corrcoef(&self) -> Result<Tensor> {
        let cov = self.try_cov(1, None, None)?;
        if cov.rank() == 0 {
            return cov.try_div(&cov);
        }
        let deviation = cov.diagonal(0, 0, 1)?.try_sqrt()?;
        let ratio = cov.try_div(deviation.unsqueeze(1)?)?.try_div(deviation)?;
        ratio.try_clamp(Some(Operand::Float(-1.0)), Some(Operand::Float(1.0)))
    }

    /// The slopes along axes (all, if none is named) by differences of neighbours, a tensor for each: central ones inside, at the
    /// ends those of `edge_order` 1 or 2. `spacing` is the distance of points (1), a number for all axes or a list of one for each; or where they lie,
    /// a tensor of one axis for each.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice, or with too few positions; another order; a list of other than a distance for each axis;
    /// other than a point for each position.
    #[surface(function, keywords_from = "spacing")]
    pub fn gradient(
        &self,
        #[default(None)] spacing: Option<Spacing<'_>>,
        #[default(&[])] dim: &[isize],
        #[default(1)] edge_order: usize,
    ) -> Result<Vec<Tensor>> {
        let spacing = spacing.unwrap_or(Spacing::Alike(1.0));
        let x = Tensor::from_node(float(self));
        let shape = x.shape();
        let named = mask(&x.node(), dim)?;
        let axes: Vec<usize> = match dim.is_empty() {
            true => (0..shape.rank()).filter(|d| named >> d & 1 == 1).collect(),
            false => dim.iter().map(|&d| normalize_axis(d, shape.rank().max(1))).collect::<Result<_>>()?,
        };
        let told = match spacing {
            Spacing::Alike(_) => axes.len(),
            Spacing::Even(distances) => distances.len(),
            Spacing::At(points) => points.len(),
        };
        if !matches!(edge_order, 1 | 2) || told != axes.len() {
            let text = format!("edge order {edge_order}, {told} distances for {} axes", axes.len());
            return refused("gradient", ErrorKind::Value(text));
        }
        let slope = |(i, &axis): (usize, &usize)| -> Result<Tensor> {
            let n = shape.get(axis).copied().unwrap_or(0);
            if n <= edge_order {
                let text = format!("{n} positions along axis {axis} of {shape} for edge order {edge_order}");
                return refused("gradient", ErrorKind::Shape(text));
            }
            match spacing {
                Spacing::Alike(h) => even_slope(&x, axis, n, h, edge_order),
                Spacing::Even(distances) => even_slope(&x, axis, n, distances[i], edge_order),
                Spacing::At(points) => slope_at(&x, axis, n, &points[i], edge_order),
            }
        };
        axes.iter().enumerate().map(slope).collect()
    }
}
