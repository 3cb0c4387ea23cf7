//! Normalisation.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::current_of;
use crate::module::{Mode, Module, Visitor, told};
use crate::options::{ByName, layer_options};
use crate::{fields, init};

/// Normalises over the last axes to mean 0 and variance 1, then scales and shifts: Ba, Kiros and Hinton, "Layer
/// normalization", 2016.
pub struct LayerNorm {
    /// Of the shape normalised over; 1 at first.
    pub weight: Option<Tensor>,
    /// Of the shape normalised over; 0 at first.
    pub bias: Option<Tensor>,
    normalized_shape: Vec<usize>,
    eps: f64,
}

layer_options! {
    /// How a [`LayerNorm`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    LayerNormOptions {
        /// Added to the variance: 10⁻⁵.
        eps: f64 = 1e-5,
        /// With weight and bias: yes.
        elementwise_affine: bool = true,
        /// With a bias, where there is a weight: yes.
        bias: bool = true,
    }
}

impl LayerNorm {
    /// Over axes of these sizes, with weight and bias in f32 and 10⁻⁵ added to the variance.
    ///
    /// # Errors
    ///
    /// No axes or more than 16; memory.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> Result<LayerNorm> {
        LayerNorm::with_options(normalized_shape, LayerNormOptions::default())
    }

    /// With options.
    ///
    /// # Errors
    ///
    /// `eps` below 0 or NaN, a dtype that is not floating point; as [`LayerNorm::new`].
    #[track_caller]
    pub fn with_options(normalized_shape: &[usize], options: LayerNormOptions) -> Result<LayerNorm> {
        let LayerNormOptions { eps, elementwise_affine, bias, dtype } = options;
        let fail = |kind| Err(Error::new("LayerNorm", kind));
        if normalized_shape.is_empty() {
            return fail(ErrorKind::Shape("takes the sizes of at least one axis".into()));
        }
        if eps.is_nan() || eps < 0.0 {
            return fail(ErrorKind::Value(format!("takes an eps of at least 0, got {eps}")));
        }
        let part = |value, is_there: bool| {
            is_there.then(|| init::constant_parameter(normalized_shape, value, dtype)).transpose()
        };
        Ok(LayerNorm {
            weight: part(1.0, elementwise_affine)?,
            bias: part(0.0, elementwise_affine && bias)?,
            normalized_shape: normalized_shape.to_vec(),
            eps,
        })
    }
}

impl Module for LayerNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (current_of(&self.weight)?, current_of(&self.bias)?);
        told(self, x.try_layer_norm(&self.normalized_shape, weight.as_deref(), bias.as_deref(), self.eps))
    }
    fields!(weight, bias);

    fn describe(&self) -> String {
        let affine = self.weight.is_some();
        format!("LayerNorm({:?}, eps={:e}, elementwise_affine={affine})", self.normalized_shape, self.eps)
    }
}

/// Divides by the root of the mean square over the last axes, then scales: Zhang and Sennrich, "Root mean square layer normalization", 2019.
pub struct RMSNorm {
    /// Of the shape normalised over; 1 at first.
    pub weight: Option<Tensor>,
    normalized_shape: Vec<usize>,
    eps: Option<f64>,
}

layer_options! {
    /// How an [`RMSNorm`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    RMSNormOptions {
        /// Added to the mean square. None, as at first: the distance of 1 to the next number of the input's dtype.
        eps: Option<f64> = None,
        /// With a weight: yes.
        elementwise_affine: bool = true,
    }
}

impl RMSNorm {
    /// Over axes of these sizes, with a weight in f32; what is added to the mean square is the distance of 1 to the next number of the input's dtype.
    ///
    /// # Errors
    ///
    /// No axes or more than 16; memory.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> Result<RMSNorm> {
        RMSNorm::with_options(normalized_shape, RMSNormOptions::default())
    }

    /// With options.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`RMSNorm::new`].
    #[track_caller]
    pub fn with_options(normalized_shape: &[usize], options: RMSNormOptions) -> Result<RMSNorm> {
        let RMSNormOptions { eps, elementwise_affine, dtype } = options;
        if normalized_shape.is_empty() {
            let text = "takes the sizes of at least one axis".into();
            return Err(Error::new("RMSNorm", ErrorKind::Shape(text)));
        }
        let weight =
            elementwise_affine.then(|| init::constant_parameter(normalized_shape, 1.0, dtype)).transpose()?;
        Ok(RMSNorm { weight, normalized_shape: normalized_shape.to_vec(), eps })
    }
}

impl Module for RMSNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        told(self, x.try_rms_norm(&self.normalized_shape, current_of(&self.weight)?.as_deref(), self.eps))
    }
    fields!(weight);

    fn describe(&self) -> String {
        let (eps, affine) = (self.eps.map_or("None".into(), |eps| format!("{eps:e}")), self.weight.is_some());
        format!("RMSNorm({:?}, eps={eps}, elementwise_affine={affine})", self.normalized_shape)
    }
}

/// Normalises groups of channels (axis 1) with all that lies behind them, then scales and shifts by channel: Wu and He, "Group normalization", 2018.
pub struct GroupNorm {
    /// `[num_channels]`; 1 at first.
    pub weight: Option<Tensor>,
    /// `[num_channels]`; 0 at first.
    pub bias: Option<Tensor>,
    num_groups: usize,
    num_channels: usize,
    eps: f64,
}

layer_options! {
    /// How a [`GroupNorm`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    GroupNormOptions {
        /// Added to the variance: 10⁻⁵.
        eps: f64 = 1e-5,
        /// With weight and bias: yes.
        affine: bool = true,
    }
}

impl GroupNorm {
    /// With weight and bias in f32 and 10⁻⁵ added to the variance.
    ///
    /// # Errors
    ///
    /// Channels that do not fall into the groups; memory.
    #[track_caller]
    pub fn new(num_groups: usize, num_channels: usize) -> Result<GroupNorm> {
        GroupNorm::with_options(num_groups, num_channels, GroupNormOptions::default())
    }

    /// With options.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`GroupNorm::new`].
    #[track_caller]
    pub fn with_options(
        num_groups: usize,
        num_channels: usize,
        options: GroupNormOptions,
    ) -> Result<GroupNorm> {
        let GroupNormOptions { eps, affine, dtype } = options;
        if num_groups == 0 || !num_channels.is_multiple_of(num_groups) {
            let text = format!("{num_channels} channels do not fall into {num_groups} groups");
            return Err(Error::new("GroupNorm", ErrorKind::Value(text)));
        }
        let part = |value| {
            if affine { init::constant_parameter(&[num_channels], value, dtype).map(Some) } else { Ok(None) }
        };
        Ok(GroupNorm { weight: part(1.0)?, bias: part(0.0)?, num_groups, num_channels, eps })
    }
}

impl Module for GroupNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (current_of(&self.weight)?, current_of(&self.bias)?);
        told(self, x.try_group_norm(self.num_groups, weight.as_deref(), bias.as_deref(), self.eps))
    }
    fields!(weight, bias);

    fn describe(&self) -> String {
        let affine = self.weight.is_some();
        format!("GroupNorm({}, {}, eps={:e}, affine={affine})", self.num_groups, self.num_channels, self.eps)
    }
}

layer_options! {
    /// How a norm by channel works, with PyTorch's defaults for batches. Its dtype is that of the statistics too.
    #[derive(Clone, Debug, PartialEq)]
    NormOptions {
        /// Added to the variance: 10⁻⁵.
        eps: f64 = 1e-5,
        /// How far running statistics move towards those of an input: 0.1. `None` keeps the mean of all that was seen.
        momentum: Option<f64> = Some(0.1),
        /// With weight and bias.
        affine: bool = true,
        /// With running statistics, which stand for an input's own where the module is used rather than trained.
        track_running_stats: bool = true,
    }
}

impl NormOptions {
    /// PyTorch's defaults for norms of each sample: neither weight and bias nor statistics.
    pub(crate) fn of_instances() -> NormOptions {
        NormOptions { affine: false, track_running_stats: false, ..NormOptions::default() }
    }
}

/// The options of a norm by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    Some(match layer {
        "LayerNorm" => LayerNormOptions::default().by_name(),
        "RMSNorm" => RMSNormOptions::default().by_name(),
        "GroupNorm" => GroupNormOptions::default().by_name(),
        "BatchNorm1d" | "BatchNorm2d" | "BatchNorm3d" => NormOptions::default().by_name(),
        "InstanceNorm1d" | "InstanceNorm2d" | "InstanceNorm3d" => NormOptions::of_instances().by_name(),
        _ => return None,
    })
}

/// What norms by channel keep.
pub(crate) struct ByChannel {
    pub(crate) weight: Option<Tensor>,
    pub(crate) bias: Option<Tensor>,
    pub(crate) running_mean: Option<Tensor>,
    pub(crate) running_var: Option<Tensor>,
    num_batches_tracked: Option<Tensor>,
    num_features: usize,
    options: NormOptions,
    mode: Mode,
}

impl ByChannel {
    #[track_caller]
    fn new(num_features: usize, options: NormOptions) -> Result<ByChannel> {
        let (NormOptions { affine, track_running_stats, dtype, .. }, shape) = (&options, [num_features]);
        let part = |value| {
            if *affine { init::constant_parameter(&shape, value, *dtype).map(Some) } else { Ok(None) }
        };
        let kept = |made: Result<Tensor>| -> Result<Option<Tensor>> {
            let made = made?.copy();
            made.realize()?;
            Ok(track_running_stats.then_some(made))
        };
        Ok(ByChannel {
            weight: part(1.0)?,
            bias: part(0.0)?,
            running_mean: kept(Tensor::zeros(&shape, *dtype))?,
            running_var: kept(Tensor::ones(&shape, *dtype))?,
            num_batches_tracked: kept(Tensor::zeros(&[], DType::I64))?,
            num_features,
            options,
            mode: Mode::default(),
        })
    }

    /// What statistics move by, and whether an input's own count.
    #[track_caller]
    fn step(&self) -> Result<(f64, bool)> {
        let training = self.mode.is_training();
        let mut momentum = self.options.momentum.unwrap_or(0.0);
        if let (true, Some(count)) = (training, &self.num_batches_tracked) {
            count.assign(count.try_add(1i64)?)?;
            if self.options.momentum.is_none() {
                // The mean of all that was seen; the only number that a norm reads.
                mg_graph::needs_values();
                momentum = 1.0 / count.item::<i64>()?.max(1) as f64;
            }
        }
        Ok((momentum, training || self.running_mean.is_none()))
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        for (name, parameter) in [("weight", &self.weight), ("bias", &self.bias)] {
            parameter.iter().for_each(|p| visitor.param(name, p));
        }
        for (name, buffer) in [
            ("running_mean", &self.running_mean),
            ("running_var", &self.running_var),
            ("num_batches_tracked", &self.num_batches_tracked),
        ] {
            buffer.iter().for_each(|b| visitor.buffer(name, b));
        }
        visitor.mode(&self.mode);
    }

    pub(crate) fn describe(&self, name: &str) -> String {
        let NormOptions { eps, momentum, affine, track_running_stats, .. } = &self.options;
        let momentum = momentum.map_or("None".into(), |m| m.to_string());
        format!(
            "{name}({}, eps={eps:e}, momentum={momentum}, affine={affine}, track_running_stats={track_running_stats})",
            self.weight.as_ref().or(self.running_mean.as_ref()).map_or(self.num_features, Tensor::numel)
        )
    }
}

macro_rules! by_channel {
    ($($(#[doc = $doc:literal])+ $Name:ident $count:literal $axes:expr, $options:expr, |$x:ident, $own:ident, $mean:ident, $var:ident, $training:ident, $momentum:ident| $y:expr;)*) => {$(
        $(#[doc = $doc])+
        pub struct $Name(pub(crate) ByChannel);

        impl $Name {
            /// How many axes an input has.
            pub(crate) const AXES: [usize; $count] = $axes;

            /// For this number of channels (axis 1), with PyTorch's defaults.
            ///
            /// # Errors
            ///
            /// Memory.
            #[track_caller]
            pub fn new(num_features: usize) -> Result<$Name> {
                $Name::with_options(num_features, $options)
            }

            /// With options.
            ///
            /// # Errors
            ///
            /// A dtype that is not floating point; memory.
            #[track_caller]
            pub fn with_options(num_features: usize, options: NormOptions) -> Result<$Name> {
                ByChannel::new(num_features, options).map($Name)
            }

            /// What is multiplied by, `[num_features]`.
            pub fn weight(&self) -> Option<&Tensor> {
                self.0.weight.as_ref()
            }

            /// What is added, `[num_features]`.
            pub fn bias(&self) -> Option<&Tensor> {
                self.0.bias.as_ref()
            }

            /// The running mean, `[num_features]`.
            pub fn running_mean(&self) -> Option<&Tensor> {
                self.0.running_mean.as_ref()
            }

            /// The running variance, `[num_features]`.
            pub fn running_var(&self) -> Option<&Tensor> {
                self.0.running_var.as_ref()
            }
        }

        impl Module for $Name {
            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                let $own = &self.0;
                if !$Name::AXES.contains(&$x.shape().rank()) {
                    let text = format!("takes {} axes, got shape {}", $Name::AXES.map(|n| n.to_string()).join(" or "), $x.shape());
                    return told(self, Err(Error::new(stringify!($Name), ErrorKind::Shape(text))));
                }
                let ($momentum, $training) = $own.step()?;
                let ($mean, $var) = ($own.running_mean.as_ref(), $own.running_var.as_ref());
                told(self, $y)
            }
            fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
                self.0.visit(visitor);
            }
            fn describe(&self) -> String {
                self.0.describe(stringify!($Name))
            }
        }
    )*};
}
by_channel! {
    /// Normalises each channel of a batch `[n, channels]` or `[n, channels, length]` in training by its own mean and variance, else by the running ones; then scales and shifts: Ioffe
    /// and Szegedy, "Batch normalization", 2015.
    BatchNorm1d 2 [2, 3], NormOptions::default(), |x, own, mean, var, training, momentum|
        x.try_batch_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of a batch `[n, channels, height, width]` in training by its own mean and variance, else by the running ones; then scales and shifts: Ioffe
    /// and Szegedy, "Batch normalization", 2015.
    BatchNorm2d 1 [4], NormOptions::default(), |x, own, mean, var, training, momentum|
        x.try_batch_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of a batch `[n, channels, depth, height, width]` in training by its own mean and variance, else by the running ones; then scales and shifts: Ioffe
    /// and Szegedy, "Batch normalization", 2015.
    BatchNorm3d 1 [5], NormOptions::default(), |x, own, mean, var, training, momentum|
        x.try_batch_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of each sample `[n, channels, length]`: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", 2016. Without weight, bias
    /// and running statistics unless they are asked for.
    InstanceNorm1d 1 [3], NormOptions::of_instances(),
        |x, own, mean, var, training, momentum|
        x.try_instance_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of each sample `[n, channels, height, width]`: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", 2016. Without weight, bias
    /// and running statistics unless they are asked for.
    InstanceNorm2d 1 [4], NormOptions::of_instances(),
        |x, own, mean, var, training, momentum|
        x.try_instance_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of each sample `[n, channels, depth, height, width]`: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", 2016. Without weight, bias
    /// and running statistics unless they are asked for.
    InstanceNorm3d 1 [5], NormOptions::of_instances(),
        |x, own, mean, var, training, momentum|
        x.try_instance_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
}

/// Each channel over the sum of squares of those beside it: Krizhevsky, Sutskever and Hinton, 2012.
#[derive(Clone, Copy, Debug)]
pub struct LocalResponseNorm {
    /// How many channels count, the one itself in their middle.
    pub size: usize,
    /// What the mean of squares is multiplied by: 1e−4.
    pub alpha: f64,
    /// The power: 0.75.
    pub beta: f64,
    /// What is added: 1.
    pub k: f64,
}

impl LocalResponseNorm {
    /// With PyTorch's numbers.
    pub fn new(size: usize) -> LocalResponseNorm {
        LocalResponseNorm { size, alpha: 1e-4, beta: 0.75, k: 1.0 }
    }
}

impl Module for LocalResponseNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_local_response_norm(self.size, self.alpha, self.beta, self.k)
    }
    fields!();

    fn describe(&self) -> String {
        format!("LocalResponseNorm({}, alpha={}, beta={}, k={})", self.size, self.alpha, self.beta, self.k)
    }
}
