//! What is composed of rows and reductions, in numerically safe form. The scheduler makes one pass of each.

use crate::caller::public;
use crate::checks::{Found, known_indices};
use crate::creation::with_default_device;
use crate::ops::or_panic;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::{Node, cell_bits_of_int};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use std::panic::Location;

/// The axes as a mask; no axes means all.
pub(crate) fn mask(node: &Node, axes: &[isize]) -> Result<u8> {
    let rank = node.shape().rank();
    if axes.is_empty() {
        return Ok(((1u16 << rank) - 1) as u8);
    }
    let mut mask = 0u8;
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

pub(crate) fn axis_mask(node: &Node, axis: isize) -> Result<u8> {
    Ok(1 << normalize_axis(axis, node.shape().rank().max(1))?)
}

/// A float node: integers become f32.
fn float(t: &Tensor) -> Node {
    let node = t.node();
    let dtype = if node.dtype().is_float() { node.dtype() } else { DType::default_float() };
    node.cast(dtype)
}

/// The shape that a reduction over the axes of a mask leaves.
pub(crate) fn kept(shape: &Shape, mask: u8, keepdim: bool) -> Shape {
    let sizes = (0..shape.rank()).filter(|&d| keepdim || mask >> d & 1 == 0);
    let sizes: Vec<usize> = sizes.map(|d| if mask >> d & 1 == 1 { 1 } else { shape[d] }).collect();
    Shape::of(&sizes)
}

/// How many elements each result of a reduction is of.
pub(crate) fn count(shape: &Shape, mask: u8) -> usize {
    (0..shape.rank()).filter(|&d| mask >> d & 1 == 1).map(|d| shape[d]).product()
}

macro_rules! reductions {
    ($($(#[doc = $doc:literal])+ $all:ident $some:ident $kind:ident;)*) => {
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
                    or_panic(self.$some(&[], false))
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
    sum sum_dim Sum;
    /// The product.
    prod prod_dim Prod;
    /// The largest element; NaN if any is. Equal ones share the gradient.
    max max_dim Max;
    /// The smallest element; NaN if any is. Equal ones share the gradient.
    min min_dim Min;
}

impl Tensor {
    /// The index of the first largest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmax(&self, axis: Option<isize>) -> Result<Tensor> {
        public("argmax", || self.arg(ReduceKind::ArgMax, axis))
    }

    /// The index of the first smallest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmin(&self, axis: Option<isize>) -> Result<Tensor> {
        public("argmin", || self.arg(ReduceKind::ArgMin, axis))
    }

    fn arg(&self, kind: ReduceKind, axis: Option<isize>) -> Result<Tensor> {
        let node = self.node();
        let mask = match axis {
            Some(axis) => axis_mask(&node, axis)?,
            None => mask(&node, &[])?,
        };
        Ok(Tensor::from_node(node.reduce(kind, mask, false)?))
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
    /// Never, but the mean of nothing is NaN.
    #[track_caller]
    pub fn mean(&self) -> Tensor {
        or_panic(self.mean_dim(&[], false))
    }

    /// The mean over some axes (all, if none is named); of integers, in f32.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn mean_dim(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        public("mean", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            Ok(Tensor::from_node(mean(&node, mask, keepdim)?))
        })
    }

    /// The variance of all elements with Bessel's correction.
    #[track_caller]
    pub fn var(&self) -> Tensor {
        or_panic(self.var_dim(&[], 1, false))
    }

    /// The variance over some axes (all, if none is named): squares of deviations from the mean over count − `correction`
    /// (over 0, where `correction` is larger: ∞, or NaN where nothing varies).
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn var_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        public("var", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            let variance = variance(&wide(&node), mask, correction as f64, keepdim)?;
            Ok(Tensor::from_node(variance.cast(node.dtype())))
        })
    }

    /// The square root of [`Tensor::var_dim`]; its gradient is 0 where nothing varies.
    ///
    /// # Errors
    ///
    /// As [`Tensor::var_dim`].
    #[track_caller]
    pub fn std_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        public("std", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            // What does not vary has the gradient 0, not 0 · ∞.
            let deviation = flat_at_zero(&variance(&wide(&node), mask, correction as f64, keepdim)?, |v| {
                v.map(Row::Sqrt)
            });
            Ok(Tensor::from_node(deviation.cast(node.dtype())))
        })
    }

    /// The norm over some axes (all, if none is named): the `p`-th root of the sum of `p`-th powers of magnitudes. With `p`
    /// infinite, the largest magnitude; −∞, the smallest; 0, how many are not zero. The gradient of a norm that is 0 is 0.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice; a `p` that is no number; with an infinite `p`, no elements.
    #[track_caller]
    pub fn norm(&self, p: f64, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        public("norm", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            Ok(Tensor::from_node(norm_of(&node, p, mask, keepdim)?))
        })
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

    /// `eˣ / Σ eˣ` along an axis.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Result<Tensor> {
        public("softmax", || {
            let node = float(self);
            let mask = axis_mask(&node, axis)?;
            if node.shape().numel() == 0 {
                return Ok(Tensor::from_node(node));
            }
            let e = node.sub(&largest(&node, mask)?).map(Row::Exp);
            // One division a row: its rounding costs at most one ulp, a division an element would cost a third of the time.
            let scale = node.lit(1.0).div(&e.reduce(ReduceKind::Sum, mask, true)?);
            Ok(Tensor::from_node(e.mul(&scale)))
        })
    }

    /// `log softmax` along an axis, without overflow.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Result<Tensor> {
        public("log_softmax", || {
            let node = float(self);
            let mask = axis_mask(&node, axis)?;
            if node.shape().numel() == 0 {
                return Ok(Tensor::from_node(node));
            }
            let shifted = node.sub(&largest(&node, mask)?);
            let sum = shifted.map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
            Ok(Tensor::from_node(shifted.sub(&sum.map(Row::Log))))
        })
    }

    /// `1 / x`, of integers in f32. Its gradient takes the result alone.
    #[track_caller]
    pub fn reciprocal(&self) -> Tensor {
        let _at = mg_graph::at(Location::caller());
        let x = float(self);
        Tensor::from_node(x.lit(1.0).div(&x))
    }

    /// Normalised over the last axes (as many as `weight` has), then scaled and shifted (Ba, Kiros, Hinton, 2016).
    ///
    /// # Errors
    ///
    /// Weight or bias of another shape than the last axes.
    #[track_caller]
    pub fn layer_norm(
        &self,
        normalized: &[usize],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        public("layer_norm", || {
            let own = float(self);
            let x = wide(&own);
            let rank = x.shape().rank();
            if normalized.is_empty() || !x.shape().ends_with(normalized) {
                let text =
                    format!("normalises over {normalized:?}, which are not the last sizes of {}", x.shape());
                return Err(Error::new("layer_norm", ErrorKind::Shape(text)));
            }
            let mask = (rank - normalized.len()..rank).fold(0u8, |m, d| m | 1 << d);
            let centred = x.sub(&mean(&x, mask, true)?);
            let variance = mean(&centred.map(Row::Square), mask, true)?;
            let scale = x.lit(1.0).div(&variance.add(&x.lit(eps)).map(Row::Sqrt));
            let mut y = centred.mul(&scale);
            for (name, t, row) in [("weight", weight, Row::Mul), ("bias", bias, Row::Add)] {
                if let Some(t) = t {
                    let t = t.node();
                    if **t.shape() != *normalized {
                        let text = format!("{name} of shape {} for {normalized:?}", t.shape());
                        return Err(Error::new("layer_norm", ErrorKind::Shape(text)));
                    }
                    y = Node::map(row, &[&y, &t.cast(x.dtype())])?;
                }
            }
            Ok(Tensor::from_node(y.cast(own.dtype())))
        })
    }

    /// The mean cross entropy of logits `[n, classes]` and labels `[n]` (integers); see
    /// [`Tensor::cross_entropy_with`] for other shapes, and for targets that are probabilities.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit. A label out of range is found when the value is computed.
    #[track_caller]
    pub fn cross_entropy(&self, target: &Tensor) -> Result<Tensor> {
        public("cross_entropy", || Ok(self.cross_entropy_each(target)?.mean()))
    }

    /// The cross entropy of each sample; see [`Tensor::cross_entropy`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::cross_entropy`].
    #[track_caller]
    pub fn cross_entropy_each(&self, target: &Tensor) -> Result<Tensor> {
        public("cross_entropy", || Ok(self.cross_entropy_with(target, &CrossEntropy::default())?.each))
    }

    /// The cross entropy of logits `[classes]`, `[n, classes]` or `[n, classes, …]`, for each sample, with all that PyTorch
    /// takes: the target is labels (integers, in the logits' shape without the classes) or probabilities (floats, in the
    /// logits' shape).
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a smoothing outside [0, 1], probabilities beside a label to ignore. A label out of range is
    /// found when the value is computed.
    #[track_caller]
    pub fn cross_entropy_with(&self, target: &Tensor, options: &CrossEntropy<'_>) -> Result<Terms> {
        public("cross_entropy", || cross_entropy(&float(self), &target.node(), options))
    }

    /// The mean of squared differences.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn mse_loss(&self, target: &Tensor) -> Result<Tensor> {
        public("mse_loss", || Ok(self.try_sub(target)?.square().mean()))
    }

    /// Zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014).
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1).
    #[track_caller]
    pub fn dropout(&self, p: f64) -> Result<Tensor> {
        public("dropout", || {
            if !(0.0..1.0).contains(&p) {
                let text = format!("takes a probability in [0, 1), got {p}");
                return Err(Error::new("dropout", ErrorKind::Value(text)));
            }
            let x = float(self);
            let random = with_default_device(self.device(), || Tensor::rand(x.shape(), DType::F32))??;
            let keep = random.ge(p).node();
            Ok(Tensor::from_node(keep.choose(&x.scale(1.0 / (1.0 - p)), &x.lit(0.0))))
        })
    }
}

/// What a cross entropy takes beside logits and target.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrossEntropy<'a> {
    /// A weight for each class, `[classes]`.
    pub weight: Option<&'a Tensor>,
    /// The label of samples that do not count.
    pub ignore_index: Option<i64>,
    /// The part of each target that is spread evenly over all classes.
    pub label_smoothing: f64,
}

/// The losses of single samples, and what their sum is divided by for their mean.
pub struct Terms {
    /// The losses.
    pub each: Tensor,
    /// The sum of the weights of the samples that count; `None` where that is the number of samples.
    pub weight: Option<Tensor>,
}

impl Terms {
    /// The mean.
    #[track_caller]
    pub fn mean(&self) -> Result<Tensor> {
        match &self.weight {
            Some(weight) => self.each.sum().try_div(weight),
            None => Ok(self.each.mean()),
        }
    }
}

#[track_caller]
fn cross_entropy(x: &Node, target: &Node, options: &CrossEntropy<'_>) -> Result<Terms> {
    let fail = |kind| Err(Error::new("cross_entropy", kind));
    let shape = *x.shape();
    let rank = shape.rank();
    let smoothing = options.label_smoothing;
    if !(0.0..=1.0).contains(&smoothing) {
        return fail(ErrorKind::Value(format!("takes a label smoothing in [0, 1], got {smoothing}")));
    }
    let axis = usize::from(rank > 1);
    let by_class = target.dtype().is_float() && *target.shape() == shape;
    if rank == 0 || !by_class && *target.shape() != shape.remove(axis) {
        let text = format!(
            "takes logits [n, classes] and labels [n] (or probabilities [n, classes]), got {shape} and {}",
            target.shape()
        );
        return fail(ErrorKind::Shape(text));
    }
    if !by_class && !target.dtype().is_int() {
        return fail(ErrorKind::DType(format!("takes integer labels, got {}", target.dtype())));
    }
    let classes = shape[axis];
    if classes == 0 {
        return fail(ErrorKind::Shape(format!("no classes in shape {shape}")));
    }
    let mask = 1u8 << axis;
    // One number for each class, beside the logits.
    let along = (0..rank).fold(shape, |s, d| if d == axis { s } else { s.with(d, 1) });
    let weight = match options.weight {
        None => None,
        Some(weight) if *weight.shape() == [classes] => Some(weight.node().cast(x.dtype()).reshape(along)?),
        Some(weight) => {
            return fail(ErrorKind::Shape(format!(
                "takes a weight for each of {classes} classes, got shape {}",
                weight.shape()
            )));
        }
    };
    let weighted = |n: &Node| weight.as_ref().map_or_else(|| n.clone(), |w| n.mul(w));
    let sum = |n: &Node| n.reduce(ReduceKind::Sum, mask, true);
    let out = shape.remove(axis);
    let shifted = x.sub(&largest(x, mask)?);
    let log_sum = sum(&shifted.map(Row::Exp))?.map(Row::Log);
    let surprise = || log_sum.sub(&shifted);
    if by_class {
        if options.ignore_index.is_some() {
            let text = "ignores labels, not probabilities: there is no ignore_index for them";
            return fail(ErrorKind::Value(text.into()));
        }
        let target = target.cast(x.dtype());
        let target = match smoothing == 0.0 {
            true => target,
            false => target.scale(1.0 - smoothing).add(&target.lit(smoothing / classes as f64)),
        };
        let each = sum(&weighted(&surprise().mul(&target)))?.reshape(out)?;
        return Ok(Terms { each: Tensor::from_node(each), weight: None });
    }
    let labels = target.cast(DType::I64).reshape(shape.with(axis, 1))?;
    // A label that is known is told of here, before anything is made of it.
    let known = known_indices("cross_entropy", target, 0..classes as i64, options.ignore_index)?;
    if let Found::Outside(index) = known {
        return Err(Error::new("cross_entropy", ErrorKind::Index { index, axis, size: classes }));
    }
    let ignored = options.ignore_index.map(|ignored| {
        let ignored = Node::scalar_bits(cell_bits_of_int(ignored, DType::I64), DType::I64, x.device(), false);
        labels.eq(&ignored)
    });
    let labels = match &ignored {
        Some(ignored) => ignored.choose(&labels.lit(0.0), &labels),
        None => labels,
    };
    let labels = labels.guard(axis, classes);
    let here = Node::apply(Row::Eq, &[&Node::ramp(along, x.device()), &labels]);
    let zero = x.lit(0.0);
    let mut each = log_sum.sub(&sum(&here.choose(&shifted, &zero))?);
    let mut counts = match &weight {
        Some(w) => Some(sum(&here.choose(w, &zero))?),
        None => None,
    };
    if let Some(counts) = &counts {
        each = each.mul(counts);
    }
    if smoothing != 0.0 {
        let evenly = sum(&weighted(&surprise()))?.scale(smoothing / classes as f64);
        each = each.scale(1.0 - smoothing).add(&evenly);
    }
    if let Some(ignored) = &ignored {
        each = ignored.choose(&zero, &each);
        let count = counts.unwrap_or_else(|| x.lit(1.0));
        counts = Some(ignored.choose(&zero, &count));
    }
    let weight = match counts {
        Some(counts) => Some(Tensor::from_node(counts.reshape(out)?).sum()),
        None => None,
    };
    Ok(Terms { each: Tensor::from_node(each.reshape(out)?), weight })
}

/// The norm over the axes of a mask; half types in f32, and rounded once. Where the norm is 0, its gradient is.
pub(crate) fn norm_of(node: &Node, p: f64, mask: u8, keepdim: bool) -> Result<Node> {
    let (own, node) = (node.dtype(), &wide(node));
    let sum = |n: Node| n.reduce(ReduceKind::Sum, mask, keepdim);
    let power = |n: &Node, p: f64| Node::apply(Row::Pow, &[n, &n.lit(p)]);
    if p.is_nan() {
        return Err(Error::new("norm", ErrorKind::Value("takes a number as p, got NaN".into())));
    }
    let norm = if p == 2.0 {
        flat_at_zero(&sum(node.map(Row::Square))?, |s| s.map(Row::Sqrt))
    } else if p == 1.0 {
        sum(node.map(Row::Abs))?
    } else if p == 0.0 {
        sum(Node::apply(Row::Ne, &[node, &node.lit(0.0)]).cast(node.dtype()))?
    } else if p.is_infinite() {
        let kind = if p > 0.0 { ReduceKind::Max } else { ReduceKind::Min };
        node.map(Row::Abs).reduce(kind, mask, keepdim)?
    } else {
        let magnitudes = node.map(Row::Abs);
        // The slope of a power below 1 is infinite at 0.
        let powers = match p < 1.0 && p > 0.0 {
            true => flat_at_zero(&magnitudes, |m| power(m, p)),
            false => power(&magnitudes, p),
        };
        flat_at_zero(&sum(powers)?, |s| power(s, 1.0 / p))
    };
    Ok(norm.cast(own))
}

/// `f` of what is not negative, but where that is 0: there the value and all gradients are 0.
pub(crate) fn flat_at_zero(x: &Node, f: impl FnOnce(&Node) -> Node) -> Node {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let is_zero = x.eq(&zero);
    is_zero.choose(&zero, &f(&is_zero.choose(&one, x)))
}

/// A sum over the axes of a mask, divided by `n`. Half types are added and divided in f32, and rounded once.
fn sum_over(node: &Node, mask: u8, keepdim: bool, n: f64) -> Result<Node> {
    let half = matches!(node.dtype(), DType::F16 | DType::BF16);
    let wide = if half { node.cast(DType::F32) } else { node.clone() };
    let sum = wide.reduce(ReduceKind::Sum, mask, keepdim)?;
    Ok(sum.div(&sum.lit(n)).cast(node.dtype()))
}

/// The mean over the axes of a mask.
pub(crate) fn mean(node: &Node, mask: u8, keepdim: bool) -> Result<Node> {
    sum_over(node, mask, keepdim, count(node.shape(), mask) as f64)
}

/// A node in f32, if it is of a half type: squares and their sums go beyond f16 where the result does not, and small differences
/// are lost. The result is rounded once.
pub(crate) fn wide(node: &Node) -> Node {
    match node.dtype() {
        DType::F16 | DType::BF16 => node.cast(DType::F32),
        DType::F64 | DType::F32 | DType::I64 | DType::I32 | DType::U8 | DType::Bool => node.clone(),
    }
}

/// The variance over the axes of a mask, in two passes.
pub(crate) fn variance(node: &Node, mask: u8, correction: f64, keepdim: bool) -> Result<Node> {
    let centred = node.sub(&mean(node, mask, true)?);
    let freedom = (count(node.shape(), mask) as f64 - correction).max(0.0);
    sum_over(&centred.map(Row::Square), mask, keepdim, freedom)
}

/// The largest along the axes of a mask, without a gradient of its own: shifting by it changes no value. Where it is
/// infinite, the difference to it is NaN, and with it the softmax, as everywhere.
fn largest(node: &Node, mask: u8) -> Result<Node> {
    let was = mg_graph::set_tracking(false);
    let largest = node.reduce(ReduceKind::Max, mask, true);
    mg_graph::set_tracking(was);
    largest
}

/// As [`largest`], and finite: the logarithm of a sum that is 0 or ∞ is what it is, not ∞ − ∞.
fn peak(node: &Node, mask: u8) -> Result<Node> {
    let max = largest(node, mask)?;
    let finite = max.map(Row::Abs).lt(&max.lit(f64::INFINITY));
    Ok(finite.choose(&max, &max.lit(0.0)))
}

pub(crate) fn shifted_exp_sum(node: &Node, mask: u8) -> Result<(Node, Node)> {
    let max = peak(node, mask)?;
    let sum = node.sub(&max).map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
    Ok((max, sum))
}
