//! What is composed of rows and reductions, in numerically safe form. The scheduler makes one pass of each.

use crate::caller::public;
use crate::gradient::no_grad;
use crate::ops::or_panic;
use crate::surface::Order;
use crate::tensor::Tensor;
use mg_device::{AxisSet, DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules, is_compared};

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

macro_rules! reductions {
    ($($(#[doc = $doc:literal])+ $all:ident $try_all:ident $some:ident $kind:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                /// Of all elements.
                ///
                /// # Panics
                ///
                /// max and min of no elements.
                #[track_caller]
                pub fn $all(&self) -> Tensor {
                    or_panic(self.$try_all())
                }

                #[doc = concat!("As [`Tensor::", stringify!($all), "`].")]
                ///
                /// # Errors
                ///
                /// max and min of no elements.
                #[track_caller]
                pub fn $try_all(&self) -> Result<Tensor> {
                    self.$some(&[], false)
                }

                $(#[doc = $doc])+
                /// Over some axes (all, if none is named).
                ///
                /// # Errors
                ///
                /// An axis out of range or named twice; max and min of no elements.
                #[track_caller]
                pub fn $some(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
                    let node = self.node();
                    public(stringify!($all), || {
                        let mask = mask(&node, axes)?;
                        Ok(Tensor::from_node(node.reduce(ReduceKind::$kind, mask, keepdim)?))
                    })
                }
            )*
        }
    };
}
reductions! {
    /// The sum. Floats are added in f32 or f64 blocks and those in f64; integers become i64.
    sum try_sum sum_dim Sum;
    /// The product.
    prod try_prod prod_dim Prod;
    /// The largest element; NaN if any is. Equal ones share the gradient.
    max try_max max_dim Max;
    /// The smallest element; NaN if any is. Equal ones share the gradient.
    min try_min min_dim Min;
}

impl Tensor {
    /// The index of the first largest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmax(&self, axis: Option<isize>) -> Result<Tensor> {
        self.try_argmax_over(axis, false)
    }

    /// The index of the first smallest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmin(&self, axis: Option<isize>) -> Result<Tensor> {
        self.try_argmin_over(axis, false)
    }

    /// The largest elements along one axis, and their indices (i64): of equal ones the first, and the gradient goes to it
    /// alone. NaN is larger than every number.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn max_with_indices(&self, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
        public("max", || self.extreme(ReduceKind::Max, axis, keepdim))
    }

    /// The smallest elements along one axis, and their indices (i64): of equal ones the first, and the gradient goes to it
    /// alone. NaN is smaller than every number.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn min_with_indices(&self, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
        public("min", || self.extreme(ReduceKind::Min, axis, keepdim))
    }

    fn extreme(&self, kind: ReduceKind, axis: isize, keepdim: bool) -> Result<(Tensor, Tensor)> {
        let node = self.node();
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

    /// The mean of all elements; of integers, in f32.
    ///
    /// # Panics
    ///
    /// Where memory or a device fails. The mean of nothing is NaN.
    #[track_caller]
    pub fn mean(&self) -> Tensor {
        or_panic(self.try_mean())
    }

    /// As [`Tensor::mean`].
    ///
    /// # Errors
    ///
    /// Memory; a device that fails.
    #[track_caller]
    pub fn try_mean(&self) -> Result<Tensor> {
        self.mean_dim(&[], false)
    }

    /// The mean over some axes (all, if none is named); of integers, in f32.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn mean_dim(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.try_mean_over(axes, keepdim, None)
    }

    /// The variance of all elements with Bessel's correction.
    #[track_caller]
    pub fn var(&self) -> Tensor {
        or_panic(self.try_var())
    }

    /// As [`Tensor::var`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::var_dim`].
    #[track_caller]
    pub fn try_var(&self) -> Result<Tensor> {
        self.var_dim(&[], 1, false)
    }

    /// The variance over some axes (all, if none is named): squares of deviations from the mean over count − `correction`
    /// (over 0, where `correction` is larger: ∞, or NaN where nothing varies).
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn var_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        self.try_var_over(axes, None, keepdim, Some(correction as f64))
    }

    /// The square root of [`Tensor::var_dim`]; its gradient is 0 where nothing varies.
    ///
    /// # Errors
    ///
    /// As [`Tensor::var_dim`].
    #[track_caller]
    pub fn std_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        self.try_std_over(axes, None, keepdim, Some(correction as f64))
    }

    /// The norm over some axes (all, if none is named): the `p`-th root of the sum of `p`-th powers of magnitudes. With `p`
    /// infinite, the largest magnitude; −∞, the smallest; 0, how many are not zero. The gradient of a norm that is 0 is 0.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; a `p` that is no number; with an infinite `p`, no elements.
    #[track_caller]
    pub fn norm(&self, p: f64, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.try_norm_over(Order::Number(p), axes, keepdim, None)
    }

    /// `log Σ eˣ` over some axes, without overflow.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn logsumexp(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        self.try_logsumexp_over(axes, keepdim)
    }
}

/// The norm over the axes of a mask; see [`Tensor::norm`].
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

/// A sum over the axes of a mask, divided by `n`. Half types are added and divided in f32, and rounded once.
pub(crate) fn sum_over(node: &Node, mask: AxisSet, keepdim: bool, n: f64) -> Result<Node> {
    let sum = wide(node).reduce(ReduceKind::Sum, mask, keepdim)?;
    Ok(sum.div(&sum.lit(n)).cast(node.dtype()))
}

/// The mean over the axes of a mask.
pub(crate) fn mean(node: &Node, mask: AxisSet, keepdim: bool) -> Result<Node> {
    sum_over(node, mask, keepdim, count(node.shape(), mask) as f64)
}

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
    sum_over(&centred.map(Row::Square), mask, keepdim, freedom)
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

pub(crate) fn shifted_exp_sum(node: &Node, mask: AxisSet) -> Result<(Node, Node)> {
    let max = peak(node, mask)?;
    let sum = node.sub(&max).map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
    Ok((max, sum))
}
