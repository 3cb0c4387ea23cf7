//! What parameters are at first: those of the layers, and the initialisers.

use mg_device::{DType, Error, ErrorKind, Result};
use mg_nn::init::{Fan, Nonlinearity};
use mg_nn::{
    Embedding, EmbeddingOptions, LayerNorm, LayerNormOptions, Linear, LinearOptions, layer_defaults,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dtype::optional_dtype;
use crate::error::{compute, exception};
use crate::optim::given;
use crate::random::PyGenerator;
use crate::size;
use crate::tensor::PyTensor;

type Parameters = (Option<PyTensor>, Option<PyTensor>);

/// The first weight and bias of a linear layer.
#[pyfunction]
pub fn _linear_parameters(
    py: Python<'_>,
    #[pyo3(from_py_with = size::count)] in_features: usize,
    #[pyo3(from_py_with = size::count)] out_features: usize,
    bias: bool,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Parameters> {
    let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
    let layer =
        compute(py, || Linear::with_options(in_features, out_features, LinearOptions { bias, dtype }))?;
    Ok((Some(layer.weight.into()), layer.bias.map(PyTensor::from)))
}

/// The first table of an embedding.
#[pyfunction]
pub fn _embedding_parameters(
    py: Python<'_>,
    #[pyo3(from_py_with = size::count)] num_embeddings: usize,
    #[pyo3(from_py_with = size::count)] embedding_dim: usize,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyTensor> {
    let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
    let options = EmbeddingOptions { dtype, ..Default::default() };
    let layer = compute(py, || Embedding::with_options(num_embeddings, embedding_dim, options))?;
    Ok(layer.weight.into())
}

/// The first weight and bias of a layer normalisation.
#[pyfunction]
pub fn _layer_norm_parameters(
    py: Python<'_>,
    normalized_shape: Vec<usize>,
    eps: f64,
    affine: bool,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Parameters> {
    let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
    let options = LayerNormOptions { eps, elementwise_affine: affine, dtype, ..Default::default() };
    let layer = compute(py, || LayerNorm::with_options(&normalized_shape, options))?;
    Ok((layer.weight.map(PyTensor::from), layer.bias.map(PyTensor::from)))
}

/// The options of a layer, with their defaults.
#[pyfunction]
pub fn _layer_defaults<'py>(py: Python<'py>, layer: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let all = layer_defaults(layer)
        .ok_or_else(|| PyValueError::new_err(format!("there are no options of a layer {layer:?}")))?;
    for (name, value) in all {
        dict.set_item(name, given(py, &value)?)?;
    }
    Ok(dict)
}

fn nonlinearity(name: &str, slope: f64) -> Result<Nonlinearity> {
    Ok(match name {
        "linear" | "conv1d" | "conv2d" | "conv3d" | "conv_transpose1d" | "conv_transpose2d"
        | "conv_transpose3d" => Nonlinearity::Linear,
        "sigmoid" => Nonlinearity::Sigmoid,
        "tanh" => Nonlinearity::Tanh,
        "relu" => Nonlinearity::Relu,
        "leaky_relu" => Nonlinearity::LeakyRelu(slope),
        "selu" => Nonlinearity::Selu,
        other => {
            let text = format!(
                "a nonlinearity is \"linear\", \"sigmoid\", \"tanh\", \"relu\", \"leaky_relu\", \"selu\" or the name of a convolution, got {other:?}"
            );
            return Err(Error::new("init", ErrorKind::Value(text)));
        }
    })
}

fn fan(mode: &str) -> Result<Fan> {
    match mode.to_ascii_lowercase().as_str() {
        "fan_in" => Ok(Fan::In),
        "fan_out" => Ok(Fan::Out),
        _ => {
            let text = format!("a mode is \"fan_in\" or \"fan_out\", got {mode:?}");
            Err(Error::new("init", ErrorKind::Value(text)))
        }
    }
}

/// The recommended factor for weights before a nonlinearity.
///
/// Arguments:
///     nonlinearity: "linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu" or the name of a convolution
///     param: the slope below 0 of "leaky_relu", by itself 0.01
///
/// >>> mg.nn.init.calculate_gain("relu"), mg.nn.init.calculate_gain("tanh")
/// (1.4142135623730951, 1.6666666666666667)
#[pyfunction]
#[pyo3(signature = (nonlinearity, param=None))]
pub fn calculate_gain(nonlinearity: &str, param: Option<f64>) -> PyResult<f64> {
    Ok(self::nonlinearity(nonlinearity, param.unwrap_or(0.01)).map_err(|e| exception(&e))?.gain())
}

/// A number below 0 is two tokens.
const MINUS_2: f64 = -2.0;

// Those whose second name is a generator take it last. A default is one token, which Python's `help` shows as it is.
macro_rules! initialisers {
    ($($(#[doc = $doc:literal])+ $name:ident($($arg:ident: $T:ty $(= $default:tt)?),*) |$t:ident $(, $from:ident)?| $fill:expr;)*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        #[pyo3(signature = (tensor, $($arg $(= $default)?,)* $($from = None)?))]
        pub fn $name<'py>(
            py: Python<'py>,
            tensor: Bound<'py, PyTensor>,
            $($arg: $T,)*
            $($from: Option<&PyGenerator>,)?
        ) -> PyResult<Bound<'py, PyTensor>> {
            let $t = &tensor.get().t;
            $(let $from = $from.map(|generator| &generator.0);)?
            compute(py, || $fill)?;
            Ok(tensor)
        }
    )*};
}
initialisers! {
    /// Uniform on [a, b).
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///     a, b: the bounds
    ///
    /// >>> w = mg.nn.init.uniform_(mg.empty(100), -1, 1)
    /// >>> bool(((-1 <= w) & (w < 1)).all())
    /// True
    uniform_(a: f64 = 0.0, b: f64 = 1.0) |t, generator| mg_nn::init::uniform_(t, a, b, generator);
    /// Normal with this mean and standard deviation.
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///     mean, std: the mean and the deviation
    ///
    /// >>> mg.nn.init.normal_(mg.empty(2), mean=3.0, std=0.0)
    /// tensor([3., 3.])
    normal_(mean: f64 = 0.0, std: f64 = 1.0) |t, generator| mg_nn::init::normal_(t, mean, std, generator);
    /// The same value everywhere.
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///     val: the value
    ///
    /// >>> mg.nn.init.constant_(mg.empty(2), 0.5)
    /// tensor([0.5000, 0.5000])
    constant_(val: f64 = 0.0) |t| mg_nn::init::constant_(t, val);
    /// Ones on the diagonal of a matrix, zeros beside it.
    ///
    /// Arguments:
    ///     tensor: the matrix, which is answered
    ///
    /// >>> mg.nn.init.eye_(mg.empty(2, 3))
    /// tensor([[1., 0., 0.],
    ///         [0., 1., 0.]])
    eye_() |t| mg_nn::init::eye_(t);
    /// What keeps the channels of a convolution as they are, within each group: Zagoruyko and Komodakis, 2017.
    ///
    /// Arguments:
    ///     tensor: the kernels, of three to five axes, which are answered
    ///     groups: how many groups
    ///
    /// >>> w = mg.nn.init.dirac_(mg.empty(1, 1, 3))
    /// >>> mg.conv1d(mg.tensor([[[1.0, 2.0, 3.0]]]), w, padding=1)
    /// tensor([[[1., 2., 3.]]])
    dirac_(groups: usize = 1) |t| mg_nn::init::dirac_(t, groups);
    /// Normal with this mean and standard deviation, within [a, b]: what lies beyond is not drawn.
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///     mean, std: the mean and the deviation
    ///     a, b: the bounds
    ///
    /// >>> w = mg.nn.init.trunc_normal_(mg.empty(100), a=-1, b=1)
    /// >>> bool((w.abs() <= 1).all())
    /// True
    trunc_normal_(mean: f64 = 0.0, std: f64 = 1.0, a: f64 = MINUS_2, b: f64 = 2.0) |t, generator|
        mg_nn::init::trunc_normal_(t, mean, std, a, b, generator);
    /// Orthonormal rows or columns, whichever are fewer, times `gain`: Saxe, McClelland and Ganguli, 2013.
    ///
    /// Arguments:
    ///     tensor: the weight, of two axes or more, which is answered
    ///     gain: the factor
    ///
    /// >>> w = mg.nn.init.orthogonal_(mg.empty(3, 5))
    /// >>> mg.allclose(w @ w.T, mg.eye(3), atol=1e-5)
    /// True
    orthogonal_(gain: f64 = 1.0) |t, generator| mg_nn::init::orthogonal_(t, gain, generator);
    /// Normal with this standard deviation, with a part `sparsity` of each column set to 0: Martens, 2010.
    ///
    /// Arguments:
    ///     tensor: the matrix, which is answered
    ///     sparsity: which part of each column is 0
    ///     std: the deviation
    ///
    /// >>> w = mg.nn.init.sparse_(mg.empty(10, 4), sparsity=0.3)
    /// >>> (w == 0).sum(0)
    /// tensor([3, 3, 3, 3])
    sparse_(sparsity: f64, std: f64 = 0.01) |t, generator| mg_nn::init::sparse_(t, sparsity, std, generator);
    /// Zeros.
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///
    /// >>> mg.nn.init.zeros_(mg.empty(2))
    /// tensor([0., 0.])
    zeros_() |t| mg_nn::init::constant_(t, 0.0);
    /// Ones.
    ///
    /// Arguments:
    ///     tensor: the tensor, which is answered
    ///
    /// >>> mg.nn.init.ones_(mg.empty(2))
    /// tensor([1., 1.])
    ones_() |t| mg_nn::init::constant_(t, 1.0);
    /// Uniform, scaled by fan-in and fan-out: Glorot and Bengio, 2010.
    ///
    /// On ±`gain` √(6 / (fan-in + fan-out)).
    ///
    /// Arguments:
    ///     tensor: the weight, of two axes or more, which is answered
    ///     gain: the factor; see `calculate_gain`
    ///
    /// >>> w = mg.nn.init.xavier_uniform_(mg.empty(3, 5), gain=mg.nn.init.calculate_gain("relu"))
    /// >>> bool((w.abs() <= 2**0.5 * (6 / 8) ** 0.5).all())
    /// True
    xavier_uniform_(gain: f64 = 1.0) |t, generator| mg_nn::init::xavier_uniform_(t, gain, generator);
    /// Normal, scaled by fan-in and fan-out: Glorot and Bengio, 2010.
    ///
    /// Of the deviation `gain` √(2 / (fan-in + fan-out)).
    ///
    /// Arguments:
    ///     tensor: the weight, of two axes or more, which is answered
    ///     gain: the factor; see `calculate_gain`
    ///
    /// >>> w = mg.nn.init.xavier_normal_(mg.empty(100, 100))
    /// >>> abs(w.std().item() - 0.1) < 0.01
    /// True
    xavier_normal_(gain: f64 = 1.0) |t, generator| mg_nn::init::xavier_normal_(t, gain, generator);
    /// Uniform, scaled by one of the fans: He et al., 2015.
    ///
    /// On ±√3 times `kaiming_normal_`'s deviation.
    ///
    /// Arguments:
    ///     tensor: the weight, of two axes or more, which is answered
    ///     a: the slope below 0, of "leaky_relu"
    ///     mode: which fan: "fan_in" or "fan_out"
    ///     nonlinearity: what comes behind it, as `calculate_gain` has it
    ///
    /// >>> w = mg.nn.init.kaiming_uniform_(mg.empty(3, 6), nonlinearity="relu")
    /// >>> bool((w.abs() <= 1).all())
    /// True
    kaiming_uniform_(a: f64 = 0.0, mode: &str = "fan_in", nonlinearity: &str = "leaky_relu") |t, generator|
        mg_nn::init::kaiming_uniform_(t, fan(mode)?, self::nonlinearity(nonlinearity, a)?, generator);
    /// Normal, scaled by one of the fans: He et al., 2015.
    ///
    /// Of the deviation gain / √fan.
    ///
    /// Arguments:
    ///     tensor: the weight, of two axes or more, which is answered
    ///     a: the slope below 0, of "leaky_relu"
    ///     mode: which fan: "fan_in" or "fan_out"
    ///     nonlinearity: what comes behind it, as `calculate_gain` has it
    ///
    /// >>> w = mg.nn.init.kaiming_normal_(mg.empty(100, 200), nonlinearity="relu")
    /// >>> abs(w.std().item() - 0.1) < 0.01
    /// True
    kaiming_normal_(a: f64 = 0.0, mode: &str = "fan_in", nonlinearity: &str = "leaky_relu") |t, generator|
        mg_nn::init::kaiming_normal_(t, fan(mode)?, self::nonlinearity(nonlinearity, a)?, generator);
}
