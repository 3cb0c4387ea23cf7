//! Normalisation to mean 0 and variance 1, or to length 1.

use super::{float, set_aside, wide};
use crate::parts::{count, mean};
use crate::tensor::memory::untracked;
use crate::tensor::{Tensor, in_place};
use mg_device::{AxisSet, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

/// A parameter for each of `sizes`, laid along the axes of a shape where those are.
fn parameter(
    op: &'static str,
    name: &str,
    t: Option<&Tensor>,
    sizes: &[usize],
    along: Shape,
    like: &Node,
) -> Result<Option<Node>> {
    let Some(t) = t else { return Ok(None) };
    let node = t.node();
    if **node.shape() != *sizes {
        let text = format!("{name} of shape {} for {sizes:?}", node.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(Some(node.cast(like.dtype()).reshape(along)?))
}

/// `y · weight + bias`.
fn affine(y: Node, weight: Option<Node>, bias: Option<Node>) -> Node {
    let y = weight.map_or(y.clone(), |w| y.mul(&w));
    bias.map_or(y.clone(), |b| y.add(&b))
}

/// The last axes, whose sizes these are.
fn last_axes(op: &'static str, x: &Node, sizes: &[usize]) -> Result<AxisSet> {
    let rank = x.shape().rank();
    if sizes.is_empty() || !x.shape().ends_with(sizes) {
        let text = format!("normalises over {sizes:?}, which are not the last sizes of {}", x.shape());
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok((rank - sizes.len()..rank).fold(0, |m, d| m | 1 << d))
}

/// Mean and variance, each with the axes that it is taken over.
struct Moments {
    centred: Node,
    /// The same numbers, around a mean that stands still, and how far the mean is from there: 0, with the mean's derivatives.
    around: Node,
    away: Node,
    mean: Node,
    /// As the gradient goes through it; where the mean overflows it is NaN.
    variance: Node,
    /// The same number, without what its gradient needs.
    moment: Node,
}

impl Moments {
    fn of(x: &Node, mask: AxisSet) -> Result<Moments> {
        let mean = mean(x, mask, true)?;
        let centred = x.sub(&mean);
        // The variance is the second moment around any place, less the square of how far the mean is from there. Around one that is the
        // mean and stands still that square is 0, and so is its slope: gradients need no sum to find out that the mean's share of the variance's
        // is nothing. Its second derivative is what is missing from the moment's.
        let held = untracked(&mean);
        let (around, away) = (x.sub(&held), mean.sub(&held));
        let moment = crate::parts::mean(&around.map(Row::Square), mask, true)?;
        let variance = moment.sub(&away.map(Row::Square));
        Ok(Moments { centred, around, away, mean, variance, moment })
    }

    fn normalized(&self, eps: f64) -> Node {
        scaled(&self.centred, &self.variance, eps)
    }

    /// `normalized · weight + bias`, of parameters that have the moments' axes: one factor and one summand for each mean. All sums
    /// that gradients take over elements are then two, of the result's gradient and of its product with `around`; whatever parameters and moments get is
    /// made of those.
    fn affine(&self, weight: Option<Node>, bias: Option<Node>, eps: f64) -> Node {
        let of = &self.variance;
        let root = of.add(&of.lit(eps)).map(Row::Sqrt);
        let factor = weight.unwrap_or_else(|| of.lit(1.0)).div(&root);
        let moved = self.away.mul(&factor);
        let summand = bias.map_or_else(|| moved.map(Row::Neg), |b| b.sub(&moved));
        self.around.mul(&factor).add(&summand)
    }
}

/// `x / √(square + eps)`.
fn scaled(x: &Node, square: &Node, eps: f64) -> Node {
    x.mul(&x.lit(1.0).div(&square.add(&x.lit(eps)).map(Row::Sqrt)))
}

/// Running statistics, and how they follow what is seen.
struct Running<'a> {
    mean: Option<&'a Tensor>,
    variance: Option<&'a Tensor>,
    momentum: f64,
}

impl Running<'_> {
    /// Moves them towards what was seen, `n` numbers at a time: their variance with Bessel's correction.
    fn follow(&self, mean: &Node, variance: &Node, n: usize) -> Result<()> {
        let corrected = || variance.scale(n as f64 / (n as f64 - 1.0));
        for (kept, seen) in [(self.mean, mean.clone()), (self.variance, corrected())] {
            let Some(kept) = kept else { continue };
            set_aside(|| {
                let old = kept.node();
                let seen = seen.reshape(*old.shape())?.cast(old.dtype());
                let new = old.scale(1.0 - self.momentum).add(&seen.scale(self.momentum));
                in_place(|| kept.assign(Tensor::from_node(new)))
            })?;
        }
        Ok(())
    }

    fn check(&self, op: &'static str, channels: usize) -> Result<()> {
        for (name, t) in [("running_mean", self.mean), ("running_var", self.variance)] {
            if let Some(t) = t
                && *t.shape() != [channels]
            {
                let text = format!("{name} of shape {} for {channels} channels", t.shape());
                return Err(Error::new(op, ErrorKind::Shape(text)));
            }
        }
        Ok(())
    }

    /// Both, along axis 1 of a shape.
    fn both(&self, op: &'static str, along: Shape, like: &Node) -> Result<(Node, Node)> {
        let (Some(mean), Some(variance)) = (self.mean, self.variance) else {
            let text = "takes running_mean and running_var where the input's own are not used";
            return Err(Error::new(op, ErrorKind::Value(text.into())));
        };
        let lie = |t: &Tensor| t.node().cast(like.dtype()).reshape(along);
        Ok((lie(mean)?, lie(variance)?))
    }
}

/// The shape with 1 everywhere but at axis 1.
fn along_channels(shape: &Shape) -> Shape {
    (0..shape.rank()).fold(*shape, |s, d| if d == 1 { s } else { s.with(d, 1) })
}

fn channels(op: &'static str, shape: &Shape, least: usize) -> Result<usize> {
    if shape.rank() < least {
        let text =
            format!("takes at least {least} axes, of which the second is the channels, got shape {shape}");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    Ok(shape[1])
}

/// Too few numbers to tell how they vary.
fn alone(op: &'static str, shape: &Shape) -> Error {
    let text = format!("takes more than one value for each channel in training, got shape {shape}");
    Error::new(op, ErrorKind::Value(text))
}

/// What mean and variance of a channel are taken over.
#[derive(Clone, Copy)]
enum Together {
    /// All samples.
    Batch,
    /// Each sample alone.
    Instance,
}

impl Together {
    /// The axes that are not reduced: the channels, and before them the samples where each stands alone.
    fn kept(self) -> AxisSet {
        match self {
            Together::Batch => 1 << 1,
            Together::Instance => 1 << 1 | 1,
        }
    }

    /// The axes that there are at least.
    fn least(self) -> usize {
        match self {
            Together::Batch => 2,
            Together::Instance => 3,
        }
    }
}

/// Normalised by channel, by what is seen (`own`) or by what was.
#[allow(clippy::too_many_arguments)]
fn by_channel(
    op: &'static str,
    input: &Tensor,
    together: Together,
    running: Running<'_>,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    own: bool,
    eps: f64,
) -> Result<Tensor> {
    let input = float(input);
    let shape = *input.shape();
    let n = channels(op, &shape, together.least())?;
    let x = wide(&input);
    let along = along_channels(&shape);
    running.check(op, n)?;
    let weight = parameter(op, "weight", weight, &[n], along, &x)?;
    let bias = parameter(op, "bias", bias, &[n], along, &x)?;
    let y = if own {
        let mask = super::all_axes(&x) & !together.kept();
        let values = count(&shape, mask);
        if values == 1 {
            return Err(alone(op, &shape));
        }
        let moments = Moments::of(&x, mask)?;
        if values > 0 && shape[0] > 0 {
            let (seen, spread) = match together {
                Together::Batch => (moments.mean.clone(), moments.moment.clone()),
                Together::Instance => {
                    set_aside(|| Ok((mean(&moments.mean, 1, true)?, mean(&moments.moment, 1, true)?)))?
                }
            };
            running.follow(&seen, &spread, values)?;
        }
        moments.affine(weight, bias, eps)
    } else {
        let (mean, variance) = running.both(op, along, &x)?;
        affine(scaled(&x.sub(&mean), &variance, eps), weight, bias)
    };
    Ok(Tensor::from_node(y.cast(input.dtype())))
}

#[operations(NORMALIZATIONS)]
impl Tensor {
    /// The norm of order `pow` over all axes but `dim`, which stay with size 1; over all, without axes, where `dim` is -1.
    ///
    /// # Errors
    ///
    /// An axis that is not there.
    #[surface(function, manners(Receiver("v")))]
    pub fn norm_except_dim(&self, #[default(2)] pow: i64, #[default(0)] dim: i64) -> Result<Tensor> {
        if dim == -1 {
            return self.try_vector_norm(pow as f64, &[], false, None);
        }
        let axis = normalize_axis(dim as isize, self.rank())?;
        let others: Vec<isize> = (0..self.rank()).filter(|&a| a != axis).map(|a| a as isize).collect();
        if others.is_empty() {
            return self.try_abs();
        }
        self.try_vector_norm(pow as f64, &others, true, None)
    }

    /// Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted (Ba, Kiros and Hinton, 2016).
    /// Integers become the default float.
    ///
    /// # Errors
    ///
    /// Sizes that are not the last ones; weight or bias of another shape.
    #[surface(function, nn, manners(IgnoresLast("cudnn_enable")))]
    pub fn layer_norm(
        &self,
        normalized_shape: &[usize],
        #[default(None)] weight: Option<&Tensor>,
        #[default(None)] bias: Option<&Tensor>,
        #[default(1e-5)] eps: f64,
    ) -> Result<Tensor> {
        let input = float(self);
        let mask = last_axes("layer_norm", &input, normalized_shape)?;
        let x = wide(&input);
        let sizes = Shape::new(normalized_shape)?;
        let weight = parameter("layer_norm", "weight", weight, normalized_shape, sizes, &x)?;
        let bias = parameter("layer_norm", "bias", bias, normalized_shape, sizes, &x)?;
        let y = affine(Moments::of(&x, mask)?.normalized(eps), weight, bias);
        Ok(Tensor::from_node(y.cast(input.dtype())))
    }

    /// Divided by the root of the mean square over the last axes, whose sizes are `normalized_shape`, then scaled (Zhang and
    /// Sennrich, 2019). `eps`, which is added to the mean square, is the distance of 1 to the next number of the dtype that is computed in
    /// (f32 for half types) where it is not given. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Sizes that are not the last ones; a weight of another shape.
    #[surface(function, nn)]
    pub fn rms_norm(
        &self,
        normalized_shape: &[usize],
        #[default(None)] weight: Option<&Tensor>,
        #[default(None)] eps: Option<f64>,
    ) -> Result<Tensor> {
        let input = float(self);
        let mask = last_axes("rms_norm", &input, normalized_shape)?;
        let x = wide(&input);
        let sizes = Shape::new(normalized_shape)?;
        let weight = parameter("rms_norm", "weight", weight, normalized_shape, sizes, &x)?;
        let square = mean(&x.map(Row::Square), mask, true)?;
        let y = affine(scaled(&x, &square, eps.unwrap_or(x.dtype().epsilon())), weight, None);
        Ok(Tensor::from_node(y.cast(input.dtype())))
    }

    /// Normalised over groups of channels (axis 1) and all that lies behind them, then scaled and shifted by channel (Wu and He,
    /// 2018). Integers become the default float.
    ///
    /// # Errors
    ///
    /// Fewer than two axes; no channels, or channels without elements; channels that do not part into `num_groups`; weight or bias
    /// that are not one number for each channel.
    #[surface(function, nn, manners(IgnoresLast("cudnn_enabled")))]
    pub fn group_norm(
        &self,
        num_groups: usize,
        #[default(None)] weight: Option<&Tensor>,
        #[default(None)] bias: Option<&Tensor>,
        #[default(1e-5)] eps: f64,
    ) -> Result<Tensor> {
        let input = float(self);
        let shape = *input.shape();
        let n = channels("group_norm", &shape, 2)?;
        if num_groups == 0 || n % num_groups != 0 {
            let text = format!("{n} channels do not part into {num_groups} groups");
            return Err(Error::new("group_norm", ErrorKind::Shape(text)));
        }
        // Of no batch there is nothing to normalise; of no channels or places there is no mean.
        if shape[1..].contains(&0) {
            let text = format!("takes channels with elements, got shape {shape}");
            return Err(Error::new("group_norm", ErrorKind::Shape(text)));
        }
        let x = wide(&input);
        let along = along_channels(&shape);
        let weight = parameter("group_norm", "weight", weight, &[n], along, &x)?;
        let bias = parameter("group_norm", "bias", bias, &[n], along, &x)?;
        let inner = n / num_groups * shape[2..].iter().product::<usize>();
        let grouped = x.reshape(Shape::of(&[shape[0], num_groups, inner]))?;
        let y = Moments::of(&grouped, 1 << 2)?.normalized(eps).reshape(shape)?;
        Ok(Tensor::from_node(affine(y, weight, bias).cast(input.dtype())))
    }

    /// Normalised by channel (axis 1), then scaled and shifted (Ioffe and Szegedy, 2015): in training by mean and variance of the
    /// input over all other axes, which `running_mean` and `running_var`, where given, are moved towards by `momentum`; else by those
    /// two. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Fewer than two axes; in training, one value for each channel; else, no running mean or variance; what is not one number for
    /// each channel.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn batch_norm(
        &self,
        running_mean: Option<&Tensor>,
        running_var: Option<&Tensor>,
        #[default(None)] weight: Option<&Tensor>,
        #[default(None)] bias: Option<&Tensor>,
        #[default(false)] training: bool,
        #[default(0.1)] momentum: f64,
        #[default(1e-5)] eps: f64,
    ) -> Result<Tensor> {
        let running = Running { mean: running_mean, variance: running_var, momentum };
        by_channel("batch_norm", self, Together::Batch, running, weight, bias, training, eps)
    }

    /// Normalised by sample and channel over all axes behind those two, then scaled and shifted by channel (Ulyanov, Vedaldi and
    /// Lempitsky, 2016). With `use_input_stats` by the input's own mean and variance, towards whose means over samples `running_mean`
    /// and `running_var`, where given, are moved by `momentum`; else by those two. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Fewer than three axes; one value for each channel; without the input's own statistics, no running mean or variance; what is not one
    /// number for each channel.
    #[surface(nn)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn instance_norm(
        &self,
        #[default(None)] running_mean: Option<&Tensor>,
        #[default(None)] running_var: Option<&Tensor>,
        #[default(None)] weight: Option<&Tensor>,
        #[default(None)] bias: Option<&Tensor>,
        #[default(true)] use_input_stats: bool,
        #[default(0.1)] momentum: f64,
        #[default(1e-5)] eps: f64,
    ) -> Result<Tensor> {
        let running = Running { mean: running_mean, variance: running_var, momentum };
        by_channel("instance_norm", self, Together::Instance, running, weight, bias, use_input_stats, eps)
    }

    /// Divided by `(k + alpha · m)` to the power `beta`, where `m` is the mean of squares over `size` neighbouring channels (axis 1),
    /// those beyond the ends taken for 0 (Krizhevsky, Sutskever and Hinton, 2012). Integers become the default float.
    ///
    /// # Errors
    ///
    /// Fewer than three axes; a `size` of 0.
    #[surface(nn)]
    pub fn local_response_norm(
        &self,
        size: usize,
        #[default(1e-4)] alpha: f64,
        #[default(0.75)] beta: f64,
        #[default(1.0)] k: f64,
    ) -> Result<Tensor> {
        let op = "local_response_norm";
        let x = float(self);
        let shape = *x.shape();
        let n = channels(op, &shape, 3)?;
        if size == 0 {
            return Err(Error::new(op, ErrorKind::Value("takes a size of at least 1, got 0".into())));
        }
        if shape.numel() == 0 {
            return Ok(Tensor::from_node(x));
        }
        let square = x.map(Row::Square);
        let (before, after) = ((size / 2).min(n), ((size - 1) / 2).min(n));
        let zeros = |m: usize| square.lit(0.0).expand(shape.with(1, m));
        let ends = [zeros(before)?, square.clone(), zeros(after)?];
        let wide = Node::concat(&ends.iter().filter(|e| e.shape()[1] > 0).collect::<Vec<_>>(), 1)?;
        let mut sum = wide.slice(1, 0, 1, n)?;
        for at in 1..=before + after {
            sum = sum.add(&wide.slice(1, at, 1, n)?);
        }
        let divisor = sum.scale(alpha / size as f64).add(&sum.lit(k));
        Ok(Tensor::from_node(x.div(&Node::apply(Row::Pow, &[&divisor, &divisor.lit(beta)]))))
    }
}
