//! Losses: how far outputs are from what they should be.

use super::distance::{apart, at_least};
use super::surprise::Asked;
use super::{all_axes, axis_mask, float, meet, set_aside, signed};
use crate::checks::{Found, known_indices, valid};
use crate::ops::Operand;
use crate::parts::{largest, mean, wide};
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape, Valid};
use mg_graph::{Node, cell_bits_of_int, form};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;
use std::f64::consts::{PI, TAU};

/// What becomes of the losses of the single samples or elements.
#[derive(Clone, Copy)]
pub(super) enum Reduction {
    Mean,
    Sum,
    None,
}

impl Reduction {
    pub(super) fn of(op: &'static str, name: &str) -> Result<Reduction> {
        Ok(match name {
            "mean" => Reduction::Mean,
            "sum" => Reduction::Sum,
            "none" => Reduction::None,
            other => {
                let text = format!("a reduction is \"mean\", \"sum\" or \"none\", got {other:?}");
                return Err(Error::new(op, ErrorKind::Value(text)));
            }
        })
    }
}

/// All losses reduced.
fn reduced(op: &'static str, each: Node, reduction: &str) -> Result<Tensor> {
    Ok(Tensor::from_node(match Reduction::of(op, reduction)? {
        Reduction::Mean => mean(&each, all_axes(&each), false)?,
        Reduction::Sum => sum(&each)?,
        Reduction::None => each,
    }))
}

/// All losses reduced, their mean being weighted.
fn reduced_by(op: &'static str, each: Node, weight: Option<Node>, reduction: &str) -> Result<Tensor> {
    match (Reduction::of(op, reduction)?, weight) {
        (Reduction::Mean, Some(weight)) => Ok(Tensor::from_node(sum(&each)?.div(&sum(&weight)?))),
        (Reduction::Mean | Reduction::Sum | Reduction::None, _) => reduced(op, each, reduction),
    }
}

fn sum(node: &Node) -> Result<Node> {
    node.reduce(ReduceKind::Sum, all_axes(node), false)
}

/// Losses weighted by numbers of the input's shape.
fn weighed(op: &'static str, each: &Node, input: &Tensor, weight: Option<&Tensor>) -> Result<Option<Node>> {
    let Some(weight) = weight else { return Ok(None) };
    if weight.shape() != input.shape() {
        let text = format!("takes a weight of the input's shape {}, got {}", input.shape(), weight.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(Some(weight.node().cast(each.dtype())))
}

fn times(each: Node, weight: &Option<Node>) -> Node {
    weight.as_ref().map_or(each.clone(), |w| each.mul(w))
}

/// Two operands as floats of the dtype in which they meet once they are of one shape: one without axes does not give way.
fn level(op: &'static str, input: &Tensor, target: &Tensor) -> Result<(Node, Node)> {
    let (x, y) = meet(op, input, target)?;
    let dtype = DType::promote(input.dtype(), target.dtype());
    if !dtype.is_float() || dtype == x.dtype() {
        return Ok((x, y));
    }
    Ok((input.node().cast(dtype), target.node().cast(dtype)))
}

/// A row of the differences to the target, each weighted, whose mean is a weighted one.
fn differing(
    op: &'static str,
    input: &Tensor,
    target: &Tensor,
    row: Row,
    reduction: &str,
    weight: Option<&Tensor>,
) -> Result<Tensor> {
    let (x, y) = level(op, input, target)?;
    let each = x.sub(&y).map(row);
    let weight = weighed(op, &each, input, weight)?;
    reduced_by(op, times(each, &weight), weight, reduction)
}

/// Refuses unlike shapes.
fn alike(op: &'static str, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.shape() == b.shape() {
        return Ok(());
    }
    let text = format!("takes one shape, got {} and {}", a.shape(), b.shape());
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// A weight that broadcasts to losses.
fn broadcast(op: &'static str, weight: &Tensor, each: &Node) -> Result<Node> {
    let node = weight.node();
    if Shape::broadcast(node.shape(), each.shape()) != Some(*each.shape()) {
        let text = format!("weights of shape {} do not broadcast to {}", node.shape(), each.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(node.cast(each.dtype()))
}

/// Differences `d` beyond `bound` grow as `bound · |d|`, below it as `½d²`.
fn rounded(d: &Node, bound: f64) -> Node {
    // Unlike `abs` of a slope at 0, where the second derivative is 1.
    let d = &d.lt(&d.lit(0.0)).choose(&d.neg(), d);
    let bound = d.lit(bound);
    // Of what is no number, it is itself: its slope is none.
    let inner = Node::apply(Row::Le, &[&bound, d]).choose(&bound, d);
    inner.mul(&d.sub(&inner.scale(0.5)))
}

/// Labels as positions along the axis of the classes.
pub(super) struct Labels {
    /// i64, with that axis of size 1; what is ignored is 0.
    pub(super) at: Node,
    /// Where the label is the one to ignore, if it may be among them.
    pub(super) ignored: Option<Node>,
}

impl Labels {
    /// Of logits of a shape on a device. Checked as far as they are known; the rest when it is computed.
    pub(super) fn of(
        op: &'static str,
        target: &Node,
        logits: Shape,
        device: Device,
        axis: usize,
        ignore: Option<i64>,
    ) -> Result<Labels> {
        let classes = logits[axis];
        let fail = |kind| Err(Error::new(op, kind));
        if !target.dtype().is_int() {
            return fail(ErrorKind::DType(format!("takes integer labels, got {}", target.dtype())));
        }
        if target.device() != device {
            let text = format!("labels on {} for numbers on {device}", target.device());
            return fail(ErrorKind::UnlikeDevices(text));
        }
        // A label that is known is told of here, before anything is made of it.
        let may_ignore = match known_indices(op, target, 0..classes as i64, ignore)? {
            Found::Outside(index) => {
                return fail(ErrorKind::Index { index, axis, size: classes });
            }
            Found::Inside { excepted, .. } => excepted || mg_graph::is_recording(),
            Found::Unknown => true,
        };
        let at = target.cast(DType::I64).reshape(logits.with(axis, 1))?;
        let ignored = ignore.filter(|_| may_ignore).map(|ignore| {
            let bits = cell_bits_of_int(ignore, DType::I64);
            at.eq(&Node::scalar_bits(bits, DType::I64, at.device(), false))
        });
        let at = ignored.as_ref().map_or(at.clone(), |ignored| ignored.choose(&at.lit(0.0), &at));
        Ok(Labels { at: at.guard(axis, classes), ignored })
    }

    /// All losses reduced, without those whose label is ignored, in a shape without the axis of the classes; `counts` is how much each counts, where
    /// not all count alike.
    pub(super) fn reduced(
        &self,
        op: &'static str,
        each: Node,
        counts: Option<Node>,
        reduction: &str,
        shape: Shape,
    ) -> Result<Tensor> {
        let each = self.counted(each).reshape(shape)?;
        let (Reduction::Mean, Some(counts)) = (Reduction::of(op, reduction)?, counts) else {
            return reduced(op, each, reduction);
        };
        let total = sum(&self.counted(counts).reshape(shape)?)?;
        let Some(_) = self.ignored else { return Ok(Tensor::from_node(sum(&each)?.div(&total))) };
        // Where nothing counts the mean is no number, but nothing changes it either.
        let none = total.eq(&total.lit(0.0));
        let mean = sum(&each)?.div(&none.choose(&total.lit(1.0), &total));
        Ok(Tensor::from_node(none.choose(&mean.lit(f64::NAN), &mean)))
    }

    /// 0 where the label is ignored.
    fn counted(&self, each: Node) -> Node {
        self.ignored.as_ref().map_or(each.clone(), |ignored| ignored.choose(&each.lit(0.0), &each))
    }
}

/// A weight for each class.
fn by_class(op: &'static str, weight: Option<&Tensor>, x: &Node, classes: usize) -> Result<Option<Node>> {
    let Some(weight) = weight else { return Ok(None) };
    if *weight.shape() != [classes] {
        let text = format!("takes a weight for each of {classes} classes, got shape {}", weight.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(Some(weight.node().cast(x.dtype())))
}

/// Where the classes are, of an input `[classes]`, `[n, classes]` or `[n, classes, …]` and a target without them.
fn class_axis(op: &'static str, x: &Node, target: &Node) -> Result<usize> {
    let (shape, rank) = (x.shape(), x.shape().rank());
    let axis = usize::from(rank > 1);
    if rank == 0 || *target.shape() != shape.remove(axis) {
        let text = format!("takes [n, classes] and labels [n], got {shape} and {}", target.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(axis)
}

/// `[n, classes]` of a matrix or a vector.
fn rows(op: &'static str, x: &Node) -> Result<Node> {
    match *x.shape().dims() {
        [n] => x.reshape(Shape::of(&[1, n])),
        [_, _] => Ok(x.clone()),
        _ => Err(Error::new(op, ErrorKind::Shape(format!("takes [n, classes], got {}", x.shape())))),
    }
}

/// What is above 0, and 0 elsewhere, where nothing changes with it; NaN stays, and has no slope either.
fn not_negative(x: &Node) -> Node {
    let zero = x.lit(0.0);
    let least = if x.is_tracked() && mg_graph::is_tracking() { &untracked(x) } else { x };
    zero.lt(x).choose(x, &Node::apply(Row::Maximum, &[least, &zero]))
}

/// Whether the elements of a target are a number.
fn is(target: &Node, value: f64) -> Node {
    target.eq(&target.lit(value))
}

#[operations(LOSSES)]
impl Tensor {
    /// Squared differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much, and the
    /// mean is a weighted one.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction", warns)]
    pub fn mse_loss(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
        #[default(None)] weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        differing("mse_loss", self, target, Row::Square, reduction, weight)
    }

    /// Magnitudes of differences. Shapes broadcast, integers become the default float. With a `weight` of the input's shape each counts that much,
    /// and the mean is a weighted one.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction", warns)]
    pub fn l1_loss(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
        #[default(None)] weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        differing("l1_loss", self, target, Row::Abs, reduction, weight)
    }

    /// Differences `d` below `beta` as `½d²/beta`, others as `d − ½beta` (Girshick, 2015). Shapes broadcast, integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; a `beta` below 0; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction", warns)]
    pub fn smooth_l1_loss(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
        #[default(1.0)] beta: f64,
    ) -> Result<Tensor> {
        if beta.is_nan() || beta < 0.0 {
            let text = format!("takes a beta of at least 0, got {beta}");
            return Err(Error::new("smooth_l1_loss", ErrorKind::Value(text)));
        }
        let (x, y) = level("smooth_l1_loss", self, target)?;
        let d = wide(&x).sub(&wide(&y));
        let each = if beta == 0.0 { d.map(Row::Abs) } else { rounded(&d, beta).scale(1.0 / beta) };
        reduced("smooth_l1_loss", each.cast(x.dtype()), reduction)
    }

    /// Differences `d` below `delta` as `½d²`, others as `delta (d − ½delta)` (Huber, 1964). Shapes broadcast, integers become the default float.
    /// With a `weight` of the input's shape each counts that much.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; a `delta` that is not above 0; another reduction than "mean", "sum" and "none".
    #[surface(nn, warns)]
    pub fn huber_loss(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
        #[default(1.0)] delta: f64,
        #[default(None)] weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        if delta.is_nan() || delta <= 0.0 {
            let text = format!("takes a delta above 0, got {delta}");
            return Err(Error::new("huber_loss", ErrorKind::Value(text)));
        }
        let (x, y) = meet("huber_loss", self, target)?;
        let each = rounded(&x.sub(&y), delta);
        let weight = weighed("huber_loss", &each, self, weight)?;
        reduced("huber_loss", times(each, &weight).cast(float(self).dtype()), reduction)
    }

    /// The negative log likelihood of integer labels under log probabilities `[classes]`, `[n, classes]` or `[n, classes, …]`; the labels
    /// have that shape without the classes. With a `weight` for each class, samples count as much as their label's, and the mean is a
    /// weighted one; samples with the label `ignore_index` do not count. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is
    /// found when the value is computed, if not before.
    #[surface(nn, keywords_from = "ignore_index")]
    pub fn nll_loss(
        &self,
        target: &Tensor,
        #[default(None)] weight: Option<&Tensor>,
        #[default(-100)] ignore_index: i64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "nll_loss";
        let (x, target) = (float(self), target.node());
        let axis = class_axis(op, &x, &target)?;
        if x.shape().rank() > 2 {
            form("nll_loss.NllLoss2DBackward0");
        }
        let labels = Labels::of(op, &target, *x.shape(), x.device(), axis, Some(ignore_index))?;
        let weight = by_class(op, weight, &x, x.shape()[axis])?;
        let each = x.gather(axis, &labels.at)?.neg();
        let counts = match weight {
            Some(weight) => {
                let flat = labels.at.reshape(Shape::of(&[labels.at.shape().numel()]))?;
                Some(weight.gather(0, &flat)?.reshape(*labels.at.shape())?)
            }
            None if labels.ignored.is_some() => Some(x.lit(1.0).expand(*labels.at.shape())?),
            None => None,
        };
        labels.reduced(op, times(each, &counts), counts, reduction, *target.shape())
    }

    /// The cross entropy, in nats, of logits `[classes]`, `[n, classes]` or `[n, classes, …]` and a target: integer labels in
    /// the logits' shape without the classes, or probabilities in the logits' shape. With a `weight` for each class, samples count as
    /// much as their label's, and the mean is a weighted one; samples with the label `ignore_index` do not count; `label_smoothing` is
    /// the part of each target that is spread evenly over all classes. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, a smoothing outside [0, 1], probabilities beside a label to ignore; another reduction than "mean", "sum"
    /// and "none". A label out of range is found when the value is computed, if not before.
    #[surface(nn, keywords_from = "ignore_index")]
    pub fn cross_entropy(
        &self,
        target: &Tensor,
        #[default(None)] weight: Option<&Tensor>,
        #[default(-100)] ignore_index: i64,
        #[default("mean")] reduction: &str,
        #[default(0.0)] label_smoothing: f64,
    ) -> Result<Tensor> {
        let op = "cross_entropy";
        let fail = |kind| Err(Error::new(op, kind));
        let (x, target) = (float(self), target.node());
        if !(0.0..=1.0).contains(&label_smoothing) {
            let text = format!("takes a label smoothing in [0, 1], got {label_smoothing}");
            return fail(ErrorKind::Value(text));
        }
        let (shape, rank) = (*x.shape(), x.shape().rank());
        let axis = usize::from(rank > 1);
        let are_probabilities = target.dtype().is_float() && *target.shape() == shape;
        match (are_probabilities, reduction) {
            (true, "mean") => form("cross_entropy.DivBackward1"),
            (true, _) => form("cross_entropy.NegBackward0"),
            (false, _) if rank > 2 => form("cross_entropy.NllLoss2DBackward0"),
            (false, _) => {}
        }
        if rank == 0 || !are_probabilities && *target.shape() != shape.remove(axis) {
            let text = format!(
                "takes logits [n, classes] and labels [n] (or probabilities [n, classes]), got {shape} and {}",
                target.shape()
            );
            return fail(ErrorKind::Shape(text));
        }
        let classes = shape[axis];
        if classes == 0 {
            return fail(ErrorKind::Shape(format!("no classes in shape {shape}")));
        }
        let mask = 1 << axis;
        // One number for each class, beside the logits.
        let along = (0..rank).fold(shape, |s, d| if d == axis { s } else { s.with(d, 1) });
        let weight_dtype = weight.map(Tensor::dtype).filter(|dtype| dtype.is_float());
        let weight = by_class(op, weight, &x, classes)?.map(|w| w.reshape(along)).transpose()?;
        let sum = |n: &Node| n.reduce(ReduceKind::Sum, mask, true);
        let out = shape.remove(axis);
        let shifted = x.sub(&largest(&x, mask)?);
        let log_sum = sum(&shifted.map(Row::Exp))?.map(Row::Log);
        let surprise = || log_sum.sub(&shifted);
        if are_probabilities {
            if ignore_index >= 0 {
                let text = "ignores labels, not probabilities: there is no ignore_index for them";
                return fail(ErrorKind::Value(text.into()));
            }
            // The dtype in which all of them meet; the logarithms are taken in the logits' own.
            let dtype = DType::promote(x.dtype(), target.dtype());
            let dtype = weight_dtype.map_or(dtype, |w| DType::promote(dtype, w));
            let (target, weight) = (target.cast(dtype), weight.map(|w| w.cast(dtype)));
            let target = match label_smoothing == 0.0 {
                true => target,
                false => {
                    target.scale(1.0 - label_smoothing).add(&target.lit(label_smoothing / classes as f64))
                }
            };
            let each = sum(&times(surprise().cast(dtype).mul(&target), &weight))?.reshape(out)?;
            return reduced(op, each, reduction);
        }
        let labels = Labels::of(op, &target, *x.shape(), x.device(), axis, Some(ignore_index))?;
        let here = Node::apply(Row::Eq, &[&Node::ramp(along, x.device()), &labels.at]);
        let zero = x.lit(0.0);
        let mut each = log_sum.sub(&sum(&here.choose(&shifted, &zero))?);
        let counts = weight.as_ref().map(|w| sum(&here.choose(w, &zero))).transpose()?;
        each = times(each, &counts);
        if label_smoothing != 0.0 {
            let evenly = sum(&times(surprise(), &weight))?.scale(label_smoothing / classes as f64);
            each = each.scale(1.0 - label_smoothing).add(&evenly);
        }
        let counts = match (counts, &labels.ignored) {
            (None, Some(_)) => Some(x.lit(1.0)),
            (counts, _) => counts,
        };
        labels.reduced(op, each, counts, reduction, out)
    }

    /// The cross entropy (see there) of the classes' scores that a linear map makes of `[…, in]`, with a weight `[classes, …, in]` and
    /// a bias `[classes, …]`: of `[n, classes, …]`, where the weight's axes between are the further ones. Without an `ignore_index`, −100
    /// is the label that does not count. Of `[n, in]` scores never all lie in memory where there are many: they are computed some rows at a
    /// time, in 256 MiB, and up to 512 where the weight has as many; of a mean or a sum that may be differentiated the gradients are
    /// computed beside them. That of a weight of a half type is rounded after each block of rows.
    ///
    /// # Errors
    ///
    /// Those of `linear` and `cross_entropy`.
    #[surface(nn, keywords_from = "linear_bias", manners(WithoutSwitches))]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn linear_cross_entropy(
        &self,
        linear_weight: &Tensor,
        target: &Tensor,
        #[default(None)] linear_bias: Option<&Tensor>,
        #[default(None)] weight: Option<&Tensor>,
        #[default("mean")] reduction: &str,
        #[default(None)] ignore_index: Option<i64>,
        #[default(0.0)] label_smoothing: f64,
    ) -> Result<Tensor> {
        let (own, sizes) = (self.shape(), linear_weight.shape());
        let (Some((&inputs, outputs)), Some((_, lead))) = (sizes.split_last(), own.split_last()) else {
            let text = format!("takes […, in] and a weight [classes, …, in], got {own} and {sizes}");
            return Err(Error::new("linear_cross_entropy", ErrorKind::Shape(text)));
        };
        if let Some(bias) = linear_bias.filter(|b| *b.shape() != *outputs) {
            let text = format!("takes a bias of shape {outputs:?}, got {}", bias.shape());
            return Err(Error::new("linear_cross_entropy", ErrorKind::Shape(text)));
        }
        let flat = linear_weight.reshape(&[outputs.iter().product::<usize>() as isize, inputs as isize])?;
        let bias = linear_bias.map(|b| b.reshape(&[-1])).transpose()?;
        let ignored = ignore_index.unwrap_or(-100);
        if outputs.len() == 1 {
            let asked = Asked {
                rows: self,
                weight: &flat,
                bias: bias.as_ref(),
                target,
                counts: weight,
                reduction,
                ignored,
                smoothing: label_smoothing,
            };
            if let Some(loss) = asked.by_kernel("linear_cross_entropy")? {
                return Ok(loss);
            }
        }
        let scores = self.try_linear(&flat, bias.as_ref())?;
        let shape = Shape::new(&[lead, outputs].concat())?;
        let scores = scores.reshape(&signed(&shape))?;
        scores.try_cross_entropy(target, weight, ignored, reduction, label_smoothing)
    }

    /// The cross entropy of probabilities and targets, `−y log x − (1 − y) log(1 − x)`, whose logarithms are taken for at least −100;
    /// `weight` broadcasts to them.
    ///
    /// # Errors
    ///
    /// Shapes that differ, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none"; numbers
    /// outside of [0, 1], as labels that are out of range: what is not known yet is found when the loss is computed.
    #[surface(nn, keywords_from = "reduction")]
    pub fn binary_cross_entropy(
        &self,
        target: &Tensor,
        #[default(None)] weight: Option<&Tensor>,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "binary_cross_entropy";
        alike(op, self, target)?;
        let (x, y) = meet(op, self, target)?;
        let (x, y) = (valid(op, &x, Valid::Probability)?, valid(op, &y, Valid::Probability)?);
        let log = |n: &Node| {
            // Not the logarithm of 0, whose gradient is no number.
            let none = n.eq(&n.lit(0.0));
            let log = none.choose(&n.lit(1.0), n).map(Row::Log);
            none.choose(&n.lit(-100.0), &at_least(&log, -100.0))
        };
        // At 0 and 1 the slope is (x − y) / max(x (1 − x), 10⁻¹²), as PyTorch has it: steep where the answer is wrong, none where it is right.
        const LEAST: f64 = 1e-12;
        let dtype = x.dtype();
        let (x, y) = (wide(&x), wide(&y));
        let own = untracked(&x);
        let at_end = own.mul(&own.lit(1.0).sub(&own)).lt(&own.lit(LEAST));
        let inside = at_end.choose(&own, &x);
        let (x_not, y_not) = (inside.lit(1.0).sub(&inside), y.lit(1.0).sub(&y));
        let mut each = y.mul(&log(&inside)).add(&y_not.mul(&log(&x_not))).neg();
        if x.is_tracked() && mg_graph::is_tracking() {
            let slope = own.sub(&untracked(&y)).scale(1.0 / LEAST);
            each = each.add(&at_end.choose(&x.sub(&own).mul(&slope), &x.lit(0.0)));
        }
        if y.is_tracked() && mg_graph::is_tracking() {
            // The slope by the target is that of the logarithms, which end nowhere: infinite at 0 and 1, as that of a root is at 0.
            let (none, one) = (own.lit(0.0), own.lit(1.0));
            let (at_0, at_1) = (own.eq(&none), own.eq(&one));
            let nothing = y.sub(&untracked(&y));
            let root = |at: &Node| at.choose(&at.choose(&nothing, &one).map(Row::Sqrt), &none);
            each = each.add(&root(&at_0)).sub(&root(&at_1));
        }
        let each = each.cast(dtype);
        let weight = weight.map(|w| broadcast(op, w, &each)).transpose()?;
        reduced(op, times(each, &weight), reduction)
    }

    /// The cross entropy of logits and probabilities of one shape, `−y log σ(x) − (1 − y) log(1 − σ(x))`, without overflow. `weight`
    /// broadcasts to them; `pos_weight` broadcasts to them too, and is what the first term counts.
    ///
    /// # Errors
    ///
    /// Shapes that differ, unlike devices, weights that do not broadcast; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn binary_cross_entropy_with_logits(
        &self,
        target: &Tensor,
        #[default(None)] weight: Option<&Tensor>,
        #[default("mean")] reduction: &str,
        #[default(None)] pos_weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        let op = "binary_cross_entropy_with_logits";
        alike(op, self, target)?;
        let (x, y) = meet(op, self, target)?;
        let (zero, one) = (x.lit(0.0), x.lit(1.0));
        // log(1 + e^−|x|), and the linear parts: at 0 all as on one side of it, where their derivatives of every order are those of the sum.
        let is_below = x.lt(&zero);
        let bend = is_below.choose(&x, &x.neg()).map(Row::Softplus);
        let above = is_below.choose(&zero, &x);
        let each = match pos_weight {
            None => above.sub(&x.mul(&y)).add(&bend),
            Some(weight) => {
                let yes = y.mul(&broadcast(op, weight, &x)?);
                let no = one.sub(&y);
                let below = is_below.choose(&x.neg(), &zero);
                yes.add(&no).mul(&bend).add(&yes.mul(&below)).add(&no.mul(&above))
            }
        };
        let weight = weight.map(|w| broadcast(op, w, &each)).transpose()?;
        reduced(op, times(each, &weight), reduction)
    }

    /// The divergence of Kullback and Leibler of a target from log probabilities, by elements: `y (log y − x)`, 0 where `y` is. With
    /// `log_target` the target is of logarithms, too. The reduction "batchmean" divides the sum by the size of the first axis.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "batchmean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn kl_div(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
        #[default(false)] log_target: bool,
    ) -> Result<Tensor> {
        let op = "kl_div";
        let (x, y) = meet(op, self, target)?;
        let each = if log_target {
            y.map(Row::Exp).mul(&y.sub(&x))
        } else {
            let none = y.eq(&y.lit(0.0));
            let entropy = y.mul(&none.choose(&y.lit(1.0), &y).map(Row::Log));
            none.choose(&y.lit(0.0), &entropy).sub(&y.mul(&x))
        };
        if reduction == "batchmean" {
            let n = self.shape().first().copied().unwrap_or(1);
            let sum = sum(&each)?;
            return Ok(Tensor::from_node(sum.div(&sum.lit(n as f64))));
        }
        reduced(op, each, reduction)
    }

    /// The negative log likelihood of counts under Poisson distributions of rate `eˣ`, or with `log_input` false of rate `x`, to whose
    /// logarithm's operand `eps` is added: `eˣ − y x`. With `full`, Stirling's approximation of `log y!` is added where `y > 1`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "eps")]
    pub fn poisson_nll_loss(
        &self,
        target: &Tensor,
        #[default(true)] log_input: bool,
        #[default(false)] full: bool,
        #[default(1e-8)] eps: f64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "poisson_nll_loss";
        let (x, y) = meet(op, self, target)?;
        // The rate of an integer is of the default float at least, unless it is a number beside floats.
        let is_number = self.rank() == 0 && target.rank() > 0 && target.dtype().is_float();
        let dtype = match self.dtype().is_float() || is_number {
            true => x.dtype(),
            false => DType::promote(DType::default_float(), x.dtype()),
        };
        let (x, y) = (x.cast(dtype), y.cast(dtype));
        // What is a function of the input alone is of its dtype.
        let own = float(self);
        let mut each = match log_input {
            true => own.map(Row::Exp).cast(dtype).sub(&y.mul(&x)),
            false => x.sub(&y.mul(&own.add(&own.lit(eps)).map(Row::Log).cast(dtype))),
        };
        if full {
            let many = y.lit(1.0).lt(&y);
            let n = many.choose(&y, &y.lit(1.0));
            let stirling = n.mul(&n.map(Row::Log)).sub(&n).add(&n.scale(TAU).map(Row::Log).scale(0.5));
            each = each.add(&many.choose(&stirling, &y.lit(0.0)));
        }
        reduced(op, each, reduction)
    }

    /// The negative log likelihood of targets under normal distributions of mean `x` and variance `var`, which is taken for at least
    /// `eps` (its gradient is as if it were not): `½(log var + (x − y)² / var)`, with `full` and ½ log 2π. `var` is a number, or has the
    /// input's shape, that without the last axis, or that with one axis of size 1.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike devices; a `var` below 0: what is not known yet is found when the value is computed; another reduction
    /// than "mean", "sum" and "none".
    #[surface(nn, manners(Truth("full")))]
    pub fn gaussian_nll_loss(
        &self,
        target: &Tensor,
        var: Operand,
        #[default(false)] full: bool,
        #[default(1e-6)] eps: f64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "gaussian_nll_loss";
        let (x, y) = meet(op, self, target)?;
        let fail = |kind| Err(Error::new(op, kind));
        match &var {
            Operand::Float(v) if *v < 0.0 => {
                return fail(ErrorKind::Value(format!("takes a var of at least 0, got {v}")));
            }
            Operand::Int(v) if *v < 0 => {
                return fail(ErrorKind::Value(format!("takes a var of at least 0, got {v}")));
            }
            Operand::Tensor(_)
            | Operand::Float(_)
            | Operand::Int(_)
            | Operand::Bool(_)
            | Operand::Live(_) => {}
        }
        let is_number = !matches!(var, Operand::Tensor(_));
        let var = var.beside(self).node().cast(x.dtype());
        let (own, its) = (*self.node().shape(), *var.shape());
        let differing = || (0..own.rank()).filter(|&d| own[d] != its[d]);
        let var = if is_number || its == own {
            var
        } else if own.rank() > 0 && own.remove(own.rank() - 1) == its {
            var.reshape(its.insert(its.rank(), 1))?
        } else if own.rank() == its.rank() && differing().count() == 1 && differing().all(|d| its[d] == 1) {
            var
        } else {
            return fail(ErrorKind::Shape(format!("var of shape {its} for an input of shape {own}")));
        };
        let var = if is_number { var } else { valid(op, &var, Valid::Variance)? };
        // What is missing to `eps` is added without a gradient of its own.
        let missing = set_aside(|| at_least(&var.lit(eps).sub(&var), 0.0));
        let var = var.add(&missing);
        let each = var.map(Row::Log).add(&x.sub(&y).map(Row::Square).div(&var)).scale(0.5);
        let each = if full { each.add(&each.lit(0.5 * (2.0 * PI).ln())) } else { each };
        reduced(op, each, reduction)
    }

    /// `x` where the target is 1, and what `x` is below `margin` where it is −1. Shapes broadcast, integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn hinge_embedding_loss(
        &self,
        target: &Tensor,
        #[default(1.0)] margin: f64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "hinge_embedding_loss";
        let (x, y) = meet(op, self, target)?;
        let zero = x.lit(0.0);
        let below = not_negative(&x.lit(margin).sub(&x));
        let each = is(&y, 1.0).choose(&zero, &below).add(&is(&y, -1.0).choose(&zero, &x));
        reduced(op, each.cast(float(self).dtype()), reduction)
    }

    /// How much is missing for `target · (input1 − input2)` to be `margin`, where something is. Shapes broadcast, integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, or of unlike numbers of axes; unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn margin_ranking_loss(
        input1: &Tensor,
        input2: &Tensor,
        target: &Tensor,
        #[default(0.0)] margin: f64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "margin_ranking_loss";
        if input1.rank() != input2.rank() || input1.rank() != target.rank() {
            let text = format!(
                "takes tensors of as many axes, got {}, {} and {}",
                input1.shape(),
                input2.shape(),
                target.shape()
            );
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        let (a, b) = meet(op, input1, input2)?;
        let apart = Tensor::from_node(a.sub(&b));
        let (apart, y) = meet(op, &apart, target)?;
        let missing = y.neg().mul(&apart);
        reduced(op, not_negative(&missing.add(&missing.lit(margin))), reduction)
    }

    /// `1 − cos(input1, input2)` where the target is 1, and what the cosine is above `margin` where it is −1. The vectors lie along the
    /// last axis of `[n, size]` or `[size]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn cosine_embedding_loss(
        input1: &Tensor,
        input2: &Tensor,
        target: &Tensor,
        #[default(0.0)] margin: f64,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "cosine_embedding_loss";
        let rank = target.rank();
        if rank > 1 || input1.rank() != rank + 1 || input2.rank() != rank + 1 {
            let text = format!(
                "takes [n, size], [n, size] and [n], or [size], [size] and [], got {}, {} and {}",
                input1.shape(),
                input2.shape(),
                target.shape()
            );
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        let (a, b) = meet(op, input1, input2)?;
        let shape = Shape::broadcast(a.shape(), b.shape()).unwrap_or(*a.shape());
        let (a, b) = (a.expand(shape)?, b.expand(shape)?);
        let mask = axis_mask(&a, -1)?;
        let sum = |n: Node| n.reduce(ReduceKind::Sum, mask, false);
        let square = |n: &Node| -> Result<Node> {
            let square = sum(n.map(Row::Square))?;
            Ok(square.add(&square.lit(1e-12)))
        };
        let cosine = sum(a.mul(&b))?.div(&square(&a)?.mul(&square(&b)?).map(Row::Sqrt));
        let (cosine, y) = meet(op, &Tensor::from_node(cosine), target)?;
        let (zero, one) = (cosine.lit(0.0), cosine.lit(1.0));
        let above = not_negative(&cosine.sub(&cosine.lit(margin)));
        let each = is(&y, 1.0).choose(&one.sub(&cosine), &zero).add(&is(&y, -1.0).choose(&above, &zero));
        reduced(op, each, reduction)
    }

    /// How much nearer than `margin` beyond the distance to `positive` the distance of `anchor` to `negative` is; distances are
    /// `p`-norms of differences along the last axis, to which `eps` is added. With `swap`, the distance of `positive` to `negative` is
    /// taken where it is smaller (Balntas et al., 2016).
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn triplet_margin_loss(
        anchor: &Tensor,
        positive: &Tensor,
        negative: &Tensor,
        #[default(1.0)] margin: f64,
        #[default(2.0)] p: f64,
        #[default(1e-6)] eps: f64,
        #[default(false)] swap: bool,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "triplet_margin_loss";
        if margin.is_nan() || margin <= 0.0 {
            return Err(Error::new(op, ErrorKind::Value(format!("takes a margin above 0, got {margin}"))));
        }
        let distance = |a: &Tensor, b: &Tensor| -> Result<Tensor> {
            let (a, b) = meet(op, a, b)?;
            Ok(Tensor::from_node(apart(&a, &b, p, eps, false)?))
        };
        let near = distance(anchor, positive)?;
        let mut far = distance(anchor, negative)?;
        if swap {
            far = far.try_minimum(distance(positive, negative)?)?;
        }
        let (near, far) = meet(op, &near, &far)?;
        let excess = near.sub(&far);
        reduced(op, not_negative(&excess.add(&excess.lit(margin))), reduction)
    }

    /// `log(1 + exp(−y x))`, without overflow. Shapes broadcast, integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn soft_margin_loss(&self, target: &Tensor, #[default("mean")] reduction: &str) -> Result<Tensor> {
        let (x, y) = meet("soft_margin_loss", self, target)?;
        if Shape::broadcast(x.shape(), y.shape()) != Some(*x.shape()) {
            let text = format!("a target of shape {} for an input of shape {}", y.shape(), x.shape());
            return Err(Error::new("soft_margin_loss", ErrorKind::Shape(text)));
        }
        let each = y.mul(&x).neg().map(Row::Softplus);
        reduced("soft_margin_loss", each.cast(float(self).dtype()), reduction)
    }

    /// For labels `[n]` of scores `[n, classes]` (or `[]` of `[classes]`): the mean over classes of what each other score is above the
    /// label's less `margin`, to the power `p` and times the label's `weight`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, labels that are not integers; another `p` than 1 and 2; another reduction than "mean", "sum" and "none".
    /// A label out of range is found when the value is computed, if not before.
    #[surface(nn, keywords_from = "reduction")]
    pub fn multi_margin_loss(
        &self,
        target: &Tensor,
        #[default(1)] p: i64,
        #[default(1.0)] margin: f64,
        #[default(None)] weight: Option<&Tensor>,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "multi_margin_loss";
        if p != 1 && p != 2 {
            return Err(Error::new(op, ErrorKind::Value(format!("takes 1 or 2 as p, got {p}"))));
        }
        let (x, target) = (float(self), target.node());
        let out = *target.shape();
        // One number is of one class.
        let x = if x.shape().rank() == 0 { x.reshape(Shape::of(&[1]))? } else { x };
        // As is a line of labels of one, of one sample.
        let single = x.shape().rank() == 1 && *out == [1];
        let axis =
            class_axis(op, &x, &if single { target.reshape(Shape::scalar())? } else { target.clone() })?;
        let classes = x.shape()[axis];
        if x.shape().rank() > 2 || classes == 0 {
            let text = format!("takes [n, classes] and labels [n], got {} and {out}", x.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        }
        let x = rows(op, &x)?;
        let n = x.shape()[0];
        let target = target.reshape(Shape::of(&[n]))?;
        let labels = Labels::of(op, &target, *x.shape(), x.device(), 1, None)?;
        let own = x.gather(1, &labels.at)?;
        let above = x.sub(&own);
        let above = at_least(&above.add(&above.lit(margin)), 0.0);
        let above = if p == 2 { above.map(Row::Square) } else { above };
        let here = Node::apply(Row::Eq, &[&Node::ramp(Shape::of(&[1, classes]), x.device()), &labels.at]);
        let each = here.choose(&x.lit(0.0), &above).reduce(ReduceKind::Sum, 1 << 1, false)?;
        let each = match by_class(op, weight, &x, classes)? {
            Some(weight) => each.mul(&weight.gather(0, &labels.at.reshape(Shape::of(&[n]))?)?),
            None => each,
        };
        reduced(op, each.div(&each.lit(classes as f64)).reshape(out)?, reduction)
    }

    /// For targets `[n, classes]` (or `[classes]`), rows of labels up to the first −1: the sum over a row's labels and all classes that
    /// are none of them of what the class's score is above the label's less 1, divided by the number of classes. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that differ, labels that are not integers; another reduction than "mean", "sum" and "none". A label out of range is found
    /// when the value is computed.
    #[surface(nn, keywords_from = "reduction")]
    pub fn multilabel_margin_loss(
        &self,
        target: &Tensor,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "multilabel_margin_loss";
        alike(op, self, target)?;
        if !target.dtype().is_int() {
            return Err(Error::new(
                op,
                ErrorKind::DType(format!("takes integer labels, got {}", target.dtype())),
            ));
        }
        let (single, x) = (self.rank() <= 1, float(self));
        // One number is of one class.
        let of_one =
            |node: Node| if node.shape().rank() == 0 { node.reshape(Shape::of(&[1])) } else { Ok(node) };
        let (x, target) = (of_one(x)?, of_one(target.node())?);
        if x.shape().numel() == 0 {
            let out = Shape::of(if single { &[] } else { &x.shape()[..1] });
            return reduced(
                op,
                x.reduce(ReduceKind::Sum, axis_mask(&x, -1)?, false)?.reshape(out)?,
                reduction,
            );
        }
        let (x, labels) = (rows(op, &x)?, rows(op, &target)?.cast(DType::I64));
        let (n, classes) = (x.shape()[0], x.shape()[1]);
        let ramp = Node::ramp(Shape::of(&[1, classes]), x.device());
        let ends = labels.lt(&labels.lit(0.0)).cast(DType::I64);
        let any = ends.reduce(ReduceKind::Max, 1 << 1, true)?;
        let first = ends.reduce(ReduceKind::ArgMax, 1 << 1, true)?;
        let counts = Node::apply(Row::Or, &[&is(&any, 0.0), &ramp.lt(&first)]);
        let at = counts.choose(&labels, &labels.lit(0.0)).guard(1, classes);
        // Whether a class is among the labels.
        let named = counts.cast(DType::I64).scatter_add(1, &at, classes)?;
        let named = named.lit(0.0).lt(&named);
        let own = x.gather(1, &at)?.reshape(Shape::of(&[n, classes, 1]))?;
        let above = x.reshape(Shape::of(&[n, 1, classes]))?.sub(&own);
        let above = at_least(&above.add(&above.lit(1.0)), 0.0);
        let pairs = Node::apply(
            Row::And,
            &[
                &counts.reshape(Shape::of(&[n, classes, 1]))?,
                &named.reshape(Shape::of(&[n, 1, classes]))?.map(Row::Not),
            ],
        );
        let each = pairs.choose(&above, &above.lit(0.0)).reduce(ReduceKind::Sum, 0b110, false)?;
        let each = each.div(&each.lit(classes as f64));
        let each = if single { each.reshape(Shape::scalar())? } else { each };
        reduced(op, each, reduction)
    }

    /// The mean over classes, the last axis of the input, of the cross entropies of logits and targets; see `binary_cross_entropy_with_logits`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices, a weight that does not broadcast; another reduction than "mean", "sum" and "none".
    #[surface(nn, keywords_from = "reduction")]
    pub fn multilabel_soft_margin_loss(
        &self,
        target: &Tensor,
        #[default(None)] weight: Option<&Tensor>,
        #[default("mean")] reduction: &str,
    ) -> Result<Tensor> {
        let op = "multilabel_soft_margin_loss";
        let (x, y) = meet(op, self, target)?;
        let Some(axis) = self.rank().checked_sub(1) else {
            return Err(Error::new(
                op,
                ErrorKind::Shape("takes classes along the last axis, got a scalar".into()),
            ));
        };
        let (missed, raised) = (x.neg().map(Row::Softplus), x.map(Row::Softplus));
        let each = y.mul(&missed).add(&y.lit(1.0).sub(&y).mul(&raised));
        let weight = weight.map(|w| broadcast(op, w, &each)).transpose()?;
        let each = times(each, &weight);
        // Where shapes broadcast it is the input that tells the axis and how many classes there are.
        let total = each.reduce(ReduceKind::Sum, 1 << axis, false)?;
        reduced(op, total.div(&total.lit(self.shape()[axis] as f64)), reduction)
    }
}
