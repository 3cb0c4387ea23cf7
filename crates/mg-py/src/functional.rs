//! What is composed of rows and reductions: methods of tensors, and functions where PyTorch has functions only.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use mg_nn::{BCEWithLogitsLoss, CrossEntropyLoss, Embedding, Linear, MSELoss, Module, NLLLoss, Reduction};
use pyo3::prelude::*;

use crate::arith::other;
use crate::dtype::optional_dtype;
use crate::error::build;
use crate::size::one_dim;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// `eˣ / Σ eˣ` along an axis.
    #[pyo3(signature = (dim=None, *, dtype=None, axis=None))]
    fn softmax(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        axis: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensor> {
        let (dim, dtype) = (one_dim(dim, axis)?.unwrap_or(-1), optional_dtype(dtype)?);
        self.unary(py, |t| t.to_dtype(dtype.unwrap_or(t.dtype())).softmax(dim))
    }

    /// `log softmax` along an axis, without overflow.
    #[pyo3(signature = (dim=None, *, dtype=None, axis=None))]
    fn log_softmax(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        axis: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensor> {
        let (dim, dtype) = (one_dim(dim, axis)?.unwrap_or(-1), optional_dtype(dtype)?);
        self.unary(py, |t| t.to_dtype(dtype.unwrap_or(t.dtype())).log_softmax(dim))
    }

    /// Values no smaller than `min` and no larger than `max` (numbers or tensors), where given; NaN stays. The gradient
    /// passes between bounds that are numbers, and is 0 at them.
    #[pyo3(signature = (min=None, max=None))]
    fn clamp(
        &self,
        py: Python<'_>,
        min: Option<&Bound<'_, PyAny>>,
        max: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensor> {
        let bound = |b: Option<&Bound<'_, PyAny>>| b.filter(|b| !b.is_none()).map(other).transpose();
        let (min, max) = (bound(min)?, bound(max)?);
        let borrowed = [&min, &max].into_iter().flatten().any(|b| b.borrowed) || self.borrowed;
        let t = build(py, || self.t.try_clamp(min.map(|b| b.operand), max.map(|b| b.operand)))?;
        PyTensor::result(py, t, borrowed)
    }

    /// As `clamp`.
    #[pyo3(signature = (min=None, max=None))]
    fn clip(
        &self,
        py: Python<'_>,
        min: Option<&Bound<'_, PyAny>>,
        max: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTensor> {
        self.clamp(py, min, max)
    }

    /// `self` where the condition holds, else `other`.
    fn r#where(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyTensor>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<PyTensor> {
        let condition = &condition.get().t;
        self.binary(py, self::other(other)?, |t, b| Tensor::where_(condition, t, b))
    }

    /// What is left of a number without its whole part; its sign stays.
    fn frac(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| t.frac())
    }

    /// Whether elements are no numbers.
    fn isnan(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| t.try_ne(t))
    }

    /// Whether elements are infinite.
    fn isinf(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| t.try_abs()?.try_eq(f64::INFINITY))
    }

    /// Whether elements are neither infinite nor no numbers.
    fn isfinite(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| t.try_abs()?.try_lt(f64::INFINITY))
    }

    /// `1 / x`.
    fn reciprocal(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.reciprocal()))
    }

    /// `1 / √x`.
    fn rsqrt(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.try_sqrt()?.reciprocal()))
    }

    /// Zeros with probability `p`, and the survivors scaled by 1/(1 − p).
    #[pyo3(signature = (p=0.5, training=true))]
    fn dropout(&self, py: Python<'_>, p: f64, training: bool) -> PyResult<PyTensor> {
        self.unary(py, |t| {
            // Checked in any mode.
            let module = mg_nn::Dropout::new(p)?;
            module.train(training);
            module.forward(t)
        })
    }
}

fn reduction(name: &str) -> Result<Reduction> {
    Ok(match name {
        "mean" => Reduction::Mean,
        "sum" => Reduction::Sum,
        "none" => Reduction::None,
        other => {
            let text = format!("a reduction is \"mean\", \"sum\" or \"none\", got {other:?}");
            return Err(Error::new("loss", ErrorKind::Value(text)));
        }
    })
}

macro_rules! losses {
    ($($(#[doc = $doc:literal])+ $name:ident $Loss:ident;)*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        #[pyo3(signature = (input, target, *, reduction="mean"))]
        pub fn $name(
            py: Python<'_>,
            input: &Bound<'_, PyTensor>,
            target: &Bound<'_, PyTensor>,
            reduction: &str,
        ) -> PyResult<PyTensor> {
            let (input, target) = (input.get(), target.get());
            let t = build(py, || {
                let loss = $Loss { reduction: self::reduction(reduction)? };
                loss.forward(&input.t, &target.t)
            })?;
            PyTensor::result(py, t, input.borrowed || target.borrowed)
        }
    )*};
}
/// Whether labels, as far as they are known, have this one among them.
fn has_label(labels: &Tensor, label: i64) -> Result<bool> {
    let node = labels.node();
    let Some(Ok(value)) = node.value() else { return Ok(false) };
    if !labels.dtype().is_int() || !value.buffer.device().is_cpu() {
        return Ok(false);
    }
    let mut places = value.layout.offsets();
    Ok(match labels.dtype() {
        DType::I64 => {
            let all = value.buffer.as_slice::<i64>()?;
            places.any(|at| all[at] == label)
        }
        DType::I32 => {
            let all = value.buffer.as_slice::<i32>()?;
            places.any(|at| i64::from(all[at]) == label)
        }
        _ => false,
    })
}

/// What PyTorch ignores where nothing else is said.
const IGNORED: i64 = -100;

/// The cross entropy, in nats, of logits `[classes]`, `[n, classes]` or `[n, classes, …]` and a target: integer labels in
/// the logits' shape without the classes, or probabilities in the logits' shape.
///
/// Samples with the label `ignore_index` do not count. Labels that are known only when the loss is computed (on a GPU, or
/// results of other operations) are searched for it where it is another than -100.
#[pyfunction]
#[pyo3(signature = (input, target, weight=None, *, ignore_index=IGNORED, reduction="mean", label_smoothing=0.0))]
pub fn cross_entropy(
    py: Python<'_>,
    input: &Bound<'_, PyTensor>,
    target: &Bound<'_, PyTensor>,
    weight: Option<&Bound<'_, PyTensor>>,
    ignore_index: i64,
    reduction: &str,
    label_smoothing: f64,
) -> PyResult<PyTensor> {
    let (input, target, weight) = (input.get(), target.get(), weight.map(Bound::get));
    let borrowed = input.borrowed || target.borrowed || weight.is_some_and(|w| w.borrowed);
    let t = build(py, || {
        let by_class = target.t.dtype().is_float();
        let ignores = match ignore_index {
            IGNORED => has_label(&target.t, IGNORED)?,
            // Probabilities have no labels: only one that could be a label is a mistake.
            _ => !by_class || ignore_index >= 0,
        };
        let loss = CrossEntropyLoss {
            reduction: self::reduction(reduction)?,
            weight: weight.map(|w| w.t.clone()),
            ignore_index: ignores.then_some(ignore_index),
            label_smoothing,
        };
        loss.forward(&input.t, &target.t)
    })?;
    PyTensor::result(py, t, borrowed)
}

losses! {
    /// The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]`.
    nll_loss NLLLoss;
    /// Squared differences.
    mse_loss MSELoss;
    /// The cross entropy of logits and probabilities of the same shape.
    binary_cross_entropy_with_logits BCEWithLogitsLoss;
}

/// `x Wᵀ + b` on the last axis, with weights `[out, in]`; with weights `[in]`, that axis goes.
#[pyfunction]
#[pyo3(signature = (input, weight, bias=None))]
pub fn linear(
    py: Python<'_>,
    input: &Bound<'_, PyTensor>,
    weight: &Bound<'_, PyTensor>,
    bias: Option<&Bound<'_, PyTensor>>,
) -> PyResult<PyTensor> {
    let (input, weight, bias) = (input.get(), weight.get(), bias.map(Bound::get));
    let t = build(py, || {
        match weight.t.rank() {
            1 => {
                let product = input.t.try_matmul(&weight.t).map_err(|e| e.with_op("linear"))?;
                return bias.map_or(Ok(product.clone()), |bias| product.try_add(&bias.t));
            }
            2 => {}
            _ => {
                let text = format!("takes a weight [out, in] or [in], got shape {}", weight.t.shape());
                return Err(Error::new("linear", ErrorKind::Shape(text)));
            }
        }
        Linear { weight: weight.t.clone(), bias: bias.map(|b| b.t.clone()) }.forward(&input.t)
    })?;
    PyTensor::result(py, t, input.borrowed)
}

/// Rows of a table `[n, dim]` by integers of any shape.
#[pyfunction]
pub fn embedding(
    py: Python<'_>,
    input: &Bound<'_, PyTensor>,
    weight: &Bound<'_, PyTensor>,
) -> PyResult<PyTensor> {
    let (input, weight) = (input.get(), weight.get());
    let t = build(py, || {
        if weight.t.rank() != 2 {
            let text = format!("takes a table [n, dim], got shape {}", weight.t.shape());
            return Err(Error::new("embedding", ErrorKind::Shape(text)));
        }
        Embedding { weight: weight.t.clone() }.forward(&input.t)
    })?;
    PyTensor::result(py, t, input.borrowed)
}

/// Normalised over the last axes, whose sizes are `normalized_shape`, then scaled and shifted.
#[pyfunction]
#[pyo3(signature = (input, normalized_shape, weight=None, bias=None, eps=1e-5))]
pub fn layer_norm(
    py: Python<'_>,
    input: &Bound<'_, PyTensor>,
    normalized_shape: &Bound<'_, PyAny>,
    weight: Option<&Bound<'_, PyTensor>>,
    bias: Option<&Bound<'_, PyTensor>>,
    eps: f64,
) -> PyResult<PyTensor> {
    let shape = crate::size::shape(normalized_shape)?;
    let (input, weight, bias) = (input.get(), weight.map(Bound::get), bias.map(Bound::get));
    let t = build(py, || input.t.layer_norm(&shape, weight.map(|w| &w.t), bias.map(|b| &b.t), eps))?;
    PyTensor::result(py, t, input.borrowed)
}
