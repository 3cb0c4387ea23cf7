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
    uniform_(a: f64 = 0.0, b: f64 = 1.0) |t, generator| mg_nn::init::uniform_(t, a, b, generator);
    /// Normal with this mean and standard deviation.
    normal_(mean: f64 = 0.0, std: f64 = 1.0) |t, generator| mg_nn::init::normal_(t, mean, std, generator);
    /// The same value everywhere.
    constant_(val: f64 = 0.0) |t| mg_nn::init::constant_(t, val);
    /// Ones on the diagonal of a matrix, zeros beside it.
    eye_() |t| mg_nn::init::eye_(t);
    /// What keeps the channels of a convolution as they are, within each group: Zagoruyko and Komodakis, 2017.
    dirac_(groups: usize = 1) |t| mg_nn::init::dirac_(t, groups);
    /// Normal with this mean and standard deviation, within [a, b]: what lies beyond is not drawn.
    trunc_normal_(mean: f64 = 0.0, std: f64 = 1.0, a: f64 = MINUS_2, b: f64 = 2.0) |t, generator|
        mg_nn::init::trunc_normal_(t, mean, std, a, b, generator);
    /// Orthonormal rows or columns, whichever are fewer, times `gain`: Saxe, McClelland and Ganguli, 2013.
    orthogonal_(gain: f64 = 1.0) |t, generator| mg_nn::init::orthogonal_(t, gain, generator);
    /// Normal with this standard deviation, with a part `sparsity` of each column set to 0: Martens, 2010.
    sparse_(sparsity: f64, std: f64 = 0.01) |t, generator| mg_nn::init::sparse_(t, sparsity, std, generator);
    /// Zeros.
    zeros_() |t| mg_nn::init::constant_(t, 0.0);
    /// Ones.
    ones_() |t| mg_nn::init::constant_(t, 1.0);
    /// Uniform, scaled by fan-in and fan-out: Glorot and Bengio, 2010.
    xavier_uniform_(gain: f64 = 1.0) |t, generator| mg_nn::init::xavier_uniform_(t, gain, generator);
    /// Normal, scaled by fan-in and fan-out: Glorot and Bengio, 2010.
    xavier_normal_(gain: f64 = 1.0) |t, generator| mg_nn::init::xavier_normal_(t, gain, generator);
    /// Uniform, scaled by one of the fans: He et al., 2015.
    kaiming_uniform_(a: f64 = 0.0, mode: &str = "fan_in", nonlinearity: &str = "leaky_relu") |t, generator|
        mg_nn::init::kaiming_uniform_(t, fan(mode)?, self::nonlinearity(nonlinearity, a)?, generator);
    /// Normal, scaled by one of the fans: He et al., 2015.
    kaiming_normal_(a: f64 = 0.0, mode: &str = "fan_in", nonlinearity: &str = "leaky_relu") |t, generator|
        mg_nn::init::kaiming_normal_(t, fan(mode)?, self::nonlinearity(nonlinearity, a)?, generator);
}
