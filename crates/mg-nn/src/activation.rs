//! Functions as modules, to stand between layers: no parameters.

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::fields;
use crate::module::Module;

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
