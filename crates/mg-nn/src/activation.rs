//! Functions as modules, to stand between layers: no parameters.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::current;
use crate::module::{Mode, Module, told};
use crate::{fields, init};

macro_rules! activations {
    ($($(#[doc = $doc:literal])+ $Name:ident |$x:ident| $y:expr;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $Name;

        impl Module for $Name {
            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                $y
            }
            fields!();
        }
    )*};
}
activations! {
    /// `max(x, 0)`.
    ReLU |x| x.try_relu();
    /// The hyperbolic tangent.
    Tanh |x| x.try_tanh();
    /// `1/(1 + e⁻ˣ)`.
    Sigmoid |x| x.try_sigmoid();
    /// `x σ(x)`.
    SiLU |x| x.try_silu();
    /// `log(1 + eˣ)`.
    Softplus |x| x.try_softplus(1.0, 20.0);
    /// The input itself.
    Identity |x| Ok(x.clone());
    /// `min(max(x, 0), 6)`.
    ReLU6 |x| x.try_relu6();
    /// Self-normalising: Klambauer et al., 2017.
    SELU |x| x.try_selu();
    /// `x tanh(log(1 + eˣ))`: Misra, 2019.
    Mish |x| x.try_mish();
    /// `x / (1 + |x|)`.
    Softsign |x| x.try_softsign();
    /// `x − tanh x`.
    Tanhshrink |x| x.try_tanhshrink();
    /// `x · min(max(x + 3, 0), 6) / 6`: Howard et al., 2019.
    Hardswish |x| x.try_hardswish();
    /// `min(max(x + 3, 0), 6) / 6`.
    Hardsigmoid |x| x.try_hardsigmoid();
    /// `log σ(x)`.
    LogSigmoid |x| x.try_logsigmoid();
}

macro_rules! told {
    ($($(#[doc = $doc:literal])+ $Name:ident { $($(#[doc = $of:literal])+ $field:ident = $default:expr),+ } |$own:ident, $x:ident| $y:expr;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug)]
        pub struct $Name {
            $($(#[doc = $of])+ pub $field: f64,)+
        }

        impl Default for $Name {
            fn default() -> $Name {
                $Name { $($field: $default),+ }
            }
        }

        impl Module for $Name {
            fn forward(&self, $x: &Tensor) -> Result<Tensor> {
                let $own = self;
                $y
            }
            fields!();

            fn describe(&self) -> String {
                let told = [$(format!("{}={}", stringify!($field), self.$field)),+];
                format!("{}({})", stringify!($Name), told.join(", "))
            }
        }
    )*};
}
told! {
    /// `x`, or `α (eˣ − 1)` where negative: Clevert, Unterthiner and Hochreiter, 2015.
    ELU {
        /// `α`: 1.
        alpha = 1.0
    } |own, x| x.try_elu(own.alpha);
    /// `max(x, 0) + min(α (e^(x/α) − 1), 0)`: Barron, 2017.
    CELU {
        /// `α`: 1.
        alpha = 1.0
    } |own, x| x.try_celu(own.alpha);
    /// The nearest number between two.
    Hardtanh {
        /// The smallest: −1.
        min_val = -1.0,
        /// The largest: 1.
        max_val = 1.0
    } |own, x| x.try_hardtanh(own.min_val, own.max_val);
    /// `x`, or 0 where it is small.
    Hardshrink {
        /// What is no larger is small: 0.5.
        lambd = 0.5
    } |own, x| x.try_hardshrink(own.lambd);
    /// `x` nearer to 0 by `lambd`, or 0 where it is small.
    Softshrink {
        /// What is no larger is small: 0.5.
        lambd = 0.5
    } |own, x| x.try_softshrink(own.lambd);
}

/// `a · σ(b)` of the halves of an axis: Dauphin et al., 2016.
#[derive(Clone, Copy, Debug)]
pub struct GLU {
    /// The axis; negative ones count from the end.
    pub dim: isize,
}

impl Default for GLU {
    /// The last one.
    fn default() -> GLU {
        GLU { dim: -1 }
    }
}

impl Module for GLU {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_glu(self.dim)
    }
    fields!();

    fn describe(&self) -> String {
        format!("GLU(dim={})", self.dim)
    }
}

/// `x`, or `w x` where negative, with a slope that is learned: He et al., 2015.
pub struct PReLU {
    /// One slope, or one for each channel (axis 1); 0.25 at first.
    pub weight: Tensor,
}

impl PReLU {
    /// With so many slopes, in f32.
    ///
    /// # Errors
    ///
    /// Memory.
    #[track_caller]
    pub fn new(num_parameters: usize) -> Result<PReLU> {
        Ok(PReLU { weight: init::constant_parameter(&[num_parameters], 0.25, DType::F32)? })
    }
}

impl Module for PReLU {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        told(self, x.try_prelu(current(&self.weight)?.as_ref()))
    }
    fields!(weight);

    fn describe(&self) -> String {
        format!("PReLU(num_parameters={})", self.weight.shape()[0])
    }
}

/// Gaussian error linear unit: Hendrycks and Gimpel, 2016.
#[derive(Clone, Copy, Debug, Default)]
pub struct GELU {
    /// By the hyperbolic tangent (PyTorch's `approximate="tanh"`) rather than the error function.
    pub tanh: bool,
}

impl Module for GELU {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_gelu(if self.tanh { "tanh" } else { "none" })
    }
    fields!();

    fn describe(&self) -> String {
        format!("GELU(approximate='{}')", if self.tanh { "tanh" } else { "none" })
    }
}

/// `x`, or `slope · x` where negative.
#[derive(Clone, Copy, Debug)]
pub struct LeakyReLU {
    /// The slope where negative.
    pub negative_slope: f64,
}

impl Default for LeakyReLU {
    /// With slope 0.01.
    fn default() -> LeakyReLU {
        LeakyReLU { negative_slope: 0.01 }
    }
}

impl Module for LeakyReLU {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_leaky_relu(self.negative_slope)
    }
    fields!();

    fn describe(&self) -> String {
        format!("LeakyReLU(negative_slope={})", self.negative_slope)
    }
}

/// `eˣ/Σeˣ` along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Softmax {
    /// The axis; negative ones count from the end.
    pub dim: isize,
}

impl Module for Softmax {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_softmax(Some(self.dim), None)
    }
    fields!();

    fn describe(&self) -> String {
        format!("Softmax(dim={})", self.dim)
    }
}

/// `log softmax` along an axis.
#[derive(Clone, Copy, Debug)]
pub struct LogSoftmax {
    /// The axis; negative ones count from the end.
    pub dim: isize,
}

impl Module for LogSoftmax {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_log_softmax(Some(self.dim), None)
    }
    fields!();

    fn describe(&self) -> String {
        format!("LogSoftmax(dim={})", self.dim)
    }
}

/// `e⁻ˣ/Σe⁻ˣ` along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Softmin {
    /// The axis; negative ones count from the end.
    pub dim: isize,
}

impl Module for Softmin {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_softmin(Some(self.dim), None)
    }
    fields!();

    fn describe(&self) -> String {
        format!("Softmin(dim={})", self.dim)
    }
}

/// [`Softmax`] over the channels of each place, `[n, channels, height, width]` or without `n`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Softmax2d;

impl Module for Softmax2d {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        if ![3, 4].contains(&x.shape().rank()) {
            let text = format!(
                "takes [n, channels, height, width] or [channels, height, width], got shape {}",
                x.shape()
            );
            return Err(Error::new("Softmax2d", ErrorKind::Shape(text)));
        }
        x.try_softmax(Some(-3), None)
    }
    fields!();
}

/// `x`, or `value` where it is not above `threshold`.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// What counts as large.
    pub threshold: f64,
    /// What stands for the rest.
    pub value: f64,
}

impl Module for Threshold {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_threshold(self.threshold, self.value)
    }
    fields!();

    fn describe(&self) -> String {
        format!("Threshold(threshold={}, value={})", self.threshold, self.value)
    }
}

/// `x`, or `w x` where negative, with a slope that is drawn from a range in training and is its middle otherwise: Xu et al., 2015.
#[derive(Debug)]
pub struct RReLU {
    lower: f64,
    upper: f64,
    mode: Mode,
}

impl RReLU {
    /// With slopes between two.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] where the lower is above the upper.
    #[track_caller]
    pub fn new(lower: f64, upper: f64) -> Result<RReLU> {
        if lower.is_nan() || upper.is_nan() || lower > upper {
            let text = format!("takes slopes from a lower to an upper, got {lower} and {upper}");
            return Err(Error::new("RReLU", ErrorKind::Value(text)));
        }
        Ok(RReLU { lower, upper, mode: Mode::default() })
    }
}

impl Default for RReLU {
    /// With slopes between 1/8 and 1/3.
    fn default() -> RReLU {
        RReLU { lower: 1.0 / 8.0, upper: 1.0 / 3.0, mode: Mode::default() }
    }
}

impl Module for RReLU {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_rrelu(self.lower, self.upper, self.mode.is_training(), None)
    }
    fields!(mode);

    fn describe(&self) -> String {
        format!("RReLU(lower={}, upper={})", self.lower, self.upper)
    }
}

/// Some axes as one.
#[derive(Clone, Copy, Debug)]
pub struct Flatten {
    /// The first of them.
    pub start_dim: isize,
    /// The last of them.
    pub end_dim: isize,
}

impl Default for Flatten {
    /// All but the first axis, which counts the samples.
    fn default() -> Flatten {
        Flatten { start_dim: 1, end_dim: -1 }
    }
}

impl Module for Flatten {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let shape = x.shape();
        let start = mg_device::normalize_axis(self.start_dim, shape.rank())?;
        let end = mg_device::normalize_axis(self.end_dim, shape.rank())?;
        if start > end {
            let text = format!("axis {} lies behind axis {} in shape {shape}", self.start_dim, self.end_dim);
            return Err(Error::new("Flatten", ErrorKind::Value(text)));
        }
        let middle: usize = shape[start..=end].iter().product();
        let dims = shape[..start].iter().chain([&middle]).chain(&shape[end + 1..]);
        x.reshape(&dims.map(|&n| n as isize).collect::<Vec<_>>())
    }
    fields!();

    fn describe(&self) -> String {
        format!("Flatten(start_dim={}, end_dim={})", self.start_dim, self.end_dim)
    }
}

/// A function as a module.
///
/// ```
/// use mg_nn::{Lambda, Module};
///
/// let double = Lambda(|x: &mg_autograd::Tensor| x.try_mul(2.0));
/// assert_eq!(double.forward(&mg_autograd::Tensor::scalar(3.0f32))?.item::<f32>()?, 6.0);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Lambda<F>(pub F);

impl<F: Fn(&Tensor) -> Result<Tensor> + Send + Sync> Module for Lambda<F> {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.0(x)
    }
    fields!();
}
