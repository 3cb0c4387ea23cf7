//! Normalisation.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::current_of;
use crate::module::{Mode, Module, Visitor, told};
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

impl LayerNorm {
    /// Over axes of these sizes, with weight and bias in f32 and 10⁻⁵ added to the variance.
    ///
    /// # Errors
    ///
    /// No axes or more than 16; memory.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> Result<LayerNorm> {
        LayerNorm::with_options(normalized_shape, 1e-5, true, DType::F32)
    }

    /// With what is added to the variance, with weight and bias (in a floating-point dtype) or without.
    ///
    /// # Errors
    ///
    /// `eps` below 0 or NaN, a dtype that is not floating point; as [`LayerNorm::new`].
    #[track_caller]
    pub fn with_options(
        normalized_shape: &[usize],
        eps: f64,
        affine: bool,
        dtype: DType,
    ) -> Result<LayerNorm> {
        let fail = |kind| Err(Error::new("LayerNorm", kind));
        if normalized_shape.is_empty() {
            return fail(ErrorKind::Shape("takes the sizes of at least one axis".into()));
        }
        if eps.is_nan() || eps < 0.0 {
            return fail(ErrorKind::Value(format!("takes an eps of at least 0, got {eps}")));
        }
        let part = |value| {
            if affine { init::constant_parameter(normalized_shape, value, dtype).map(Some) } else { Ok(None) }
        };
        Ok(LayerNorm {
            weight: part(1.0)?,
            bias: part(0.0)?,
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

impl RMSNorm {
    /// Over axes of these sizes, with a weight in f32; what is added to the mean square is the distance of 1 to the next number of the input's dtype.
    ///
    /// # Errors
    ///
    /// No axes or more than 16; memory.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> Result<RMSNorm> {
        RMSNorm::with_options(normalized_shape, None, true, DType::F32)
    }

    /// With what is added to the mean square, with a weight (in a floating-point dtype) or without.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`RMSNorm::new`].
    #[track_caller]
    pub fn with_options(
        normalized_shape: &[usize],
        eps: Option<f64>,
        affine: bool,
        dtype: DType,
    ) -> Result<RMSNorm> {
        if normalized_shape.is_empty() {
            let text = "takes the sizes of at least one axis".into();
            return Err(Error::new("RMSNorm", ErrorKind::Shape(text)));
        }
        let weight =
            if affine { Some(init::constant_parameter(normalized_shape, 1.0, dtype)?) } else { None };
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

impl GroupNorm {
    /// With weight and bias in f32 and 10⁻⁵ added to the variance.
    ///
    /// # Errors
    ///
    /// Channels that do not fall into the groups; memory.
    #[track_caller]
    pub fn new(num_groups: usize, num_channels: usize) -> Result<GroupNorm> {
        GroupNorm::with_options(num_groups, num_channels, 1e-5, true, DType::F32)
    }

    /// With what is added to the variance, with weight and bias (in a floating-point dtype) or without.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`GroupNorm::new`].
    #[track_caller]
    pub fn with_options(
        num_groups: usize,
        num_channels: usize,
        eps: f64,
        affine: bool,
        dtype: DType,
    ) -> Result<GroupNorm> {
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

/// How a norm by channel works, with PyTorch's defaults for batches.
#[derive(Clone, Debug, PartialEq)]
pub struct NormOptions {
    /// Added to the variance: 10⁻⁵.
    pub eps: f64,
    /// How far running statistics move towards those of an input: 0.1. `None` keeps the mean of all that was seen.
    pub momentum: Option<f64>,
    /// With weight and bias.
    pub affine: bool,
    /// With running statistics, which stand for an input's own where the module is used rather than trained.
    pub track_running_stats: bool,
    /// Of parameters and statistics: f32.
    pub dtype: DType,
}

impl Default for NormOptions {
    fn default() -> NormOptions {
        NormOptions {
            eps: 1e-5,
            momentum: Some(0.1),
            affine: true,
            track_running_stats: true,
            dtype: DType::F32,
        }
    }
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
    InstanceNorm1d 1 [3], NormOptions { affine: false, track_running_stats: false, ..NormOptions::default() },
        |x, own, mean, var, training, momentum|
        x.try_instance_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of each sample `[n, channels, height, width]`: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", 2016. Without weight, bias
    /// and running statistics unless they are asked for.
    InstanceNorm2d 1 [4], NormOptions { affine: false, track_running_stats: false, ..NormOptions::default() },
        |x, own, mean, var, training, momentum|
        x.try_instance_norm(mean, var, current_of(&own.weight)?.as_deref(), current_of(&own.bias)?.as_deref(), training, momentum, own.options.eps);
    /// Normalises each channel of each sample `[n, channels, depth, height, width]`: Ulyanov, Vedaldi and Lempitsky, "Instance normalization", 2016. Without weight, bias
    /// and running statistics unless they are asked for.
    InstanceNorm3d 1 [5], NormOptions { affine: false, track_running_stats: false, ..NormOptions::default() },
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
