//! Reductions, under PyTorch's names; NumPy's `axis` and `keepdims` are taken beside `dim` and `keepdim`.

use mg_autograd::Tensor;
use mg_device::{DType, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::arith::other;
use crate::dtype::optional_dtype;
use crate::error::build;
use crate::size::{dims, keep, one_dim};
use crate::tensor::PyTensor;

type Any<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// No axes of an empty list are all axes, as in PyTorch.
fn over(dim: Any<'_, '_>, axis: Any<'_, '_>) -> PyResult<Vec<isize>> {
    Ok(dims(dim, axis)?.unwrap_or_default())
}

/// `values` and `indices`, as PyTorch's `max(dim)` answers.
fn pair<'py>(py: Python<'py>, values: PyTensor, indices: PyTensor) -> PyResult<Bound<'py, PyAny>> {
    static PAIR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    PAIR.import(py, "micrograd_rs._size", "Extreme")?.call1((values, indices))
}

impl PyTensor {
    /// `max` and `min`: of all elements; of each pair with another tensor; along an axis, with indices; over NumPy's
    /// `axis` or several axes, without.
    fn extreme<'py>(
        &self,
        py: Python<'py>,
        dim: Any<'_, 'py>,
        keepdim: bool,
        axis: Any<'_, 'py>,
        which: Extreme,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Some(second) = dim.filter(|d| d.is_instance_of::<PyTensor>()) {
            let other = other(second)?;
            return Ok(Bound::new(py, self.binary(py, other, which.pairwise)?)?.into_any());
        }
        let axes = over(dim, axis)?;
        match dim.filter(|d| !d.is_none()).and_then(|d| d.extract::<isize>().ok()) {
            Some(dim) => {
                let (values, indices) = build(py, || (which.along)(&self.t, dim, keepdim))?;
                let result = |t| PyTensor::result(py, t, self.borrowed);
                pair(py, result(values)?, result(indices)?)
            }
            None => {
                let values = self.unary(py, |t| (which.over)(t, &axes, keepdim))?;
                Ok(Bound::new(py, values)?.into_any())
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Extreme {
    over: fn(&Tensor, &[isize], bool) -> Result<Tensor>,
    along: fn(&Tensor, isize, bool) -> Result<(Tensor, Tensor)>,
    pairwise: fn(&Tensor, mg_autograd::Operand) -> Result<Tensor>,
}

const MAX: Extreme =
    Extreme { over: Tensor::max_dim, along: Tensor::max_with_indices, pairwise: |a, b| a.try_maximum(b) };
const MIN: Extreme =
    Extreme { over: Tensor::min_dim, along: Tensor::min_with_indices, pairwise: |a, b| a.try_minimum(b) };

fn arg(
    t: &Tensor,
    f: fn(&Tensor, Option<isize>) -> Result<Tensor>,
    dim: Option<isize>,
    keepdim: bool,
) -> Result<Tensor> {
    let index = f(t, dim)?;
    match dim {
        Some(dim) if keepdim && t.rank() > 0 => index.unsqueeze(dim),
        None if keepdim => index.reshape(&vec![1; t.rank()]),
        _ => Ok(index),
    }
}

/// How many elements hold, over some axes.
fn count(t: &Tensor, zeros: bool, axes: &[isize], keepdim: bool) -> Result<Tensor> {
    let holds = if zeros { t.try_eq(0i64)? } else { t.try_ne(0i64)? };
    holds.to_dtype(DType::I64).sum_dim(axes, keepdim)
}

/// Bessel's correction: PyTorch's `correction`, or its older `unbiased`.
fn correction(correction: Option<usize>, unbiased: Option<bool>, ddof: Option<usize>) -> usize {
    correction.or(ddof).unwrap_or(usize::from(unbiased.unwrap_or(true)))
}

#[pymethods]
impl PyTensor {
    /// The sum of all elements, or over some axes. Integers become i64.
    #[pyo3(signature = (dim=None, keepdim=false, *, dtype=None, axis=None, keepdims=None))]
    fn sum(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        dtype: Option<&Bound<'_, PyAny>>,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let (axes, dtype) = (over(dim, axis)?, optional_dtype(dtype)?);
        self.unary(py, |t| match dtype {
            Some(dtype) => t.to_dtype(dtype).sum_dim(&axes, keep(keepdim, keepdims)),
            None => t.sum_dim(&axes, keep(keepdim, keepdims)),
        })
    }

    /// The mean of all elements, or over some axes; of integers, in f32.
    #[pyo3(signature = (dim=None, keepdim=false, *, dtype=None, axis=None, keepdims=None))]
    fn mean(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        dtype: Option<&Bound<'_, PyAny>>,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let (axes, dtype) = (over(dim, axis)?, optional_dtype(dtype)?);
        self.unary(py, |t| match dtype {
            Some(dtype) => t.to_dtype(dtype).mean_dim(&axes, keep(keepdim, keepdims)),
            None => t.mean_dim(&axes, keep(keepdim, keepdims)),
        })
    }

    /// The product of all elements, or over some axes.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn prod(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| t.prod_dim(&axes, keep(keepdim, keepdims)))
    }

    /// The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over NumPy's `axis`, or several axes, the values.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn max<'py>(
        &self,
        py: Python<'py>,
        dim: Option<&Bound<'py, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.extreme(py, dim, keep(keepdim, keepdims), axis, MAX)
    }

    /// The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over NumPy's `axis`, or several axes, the values.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn min<'py>(
        &self,
        py: Python<'py>,
        dim: Option<&Bound<'py, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.extreme(py, dim, keep(keepdim, keepdims), axis, MIN)
    }

    /// The largest element, or the largest over some axes.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn amax(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| t.max_dim(&axes, keep(keepdim, keepdims)))
    }

    /// The smallest element, or the smallest over some axes.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn amin(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| t.min_dim(&axes, keep(keepdim, keepdims)))
    }

    /// The index of the first largest element along an axis, or of the flattened tensor.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn argmax(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let dim = one_dim(dim, axis)?;
        self.unary(py, |t| arg(t, Tensor::argmax, dim, keep(keepdim, keepdims)))
    }

    /// The index of the first smallest element along an axis, or of the flattened tensor.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn argmin(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let dim = one_dim(dim, axis)?;
        self.unary(py, |t| arg(t, Tensor::argmin, dim, keep(keepdim, keepdims)))
    }

    /// The variance of all elements, or over some axes, with Bessel's correction.
    #[pyo3(signature = (dim=None, unbiased=None, keepdim=false, *, correction=None, axis=None, keepdims=None, ddof=None))]
    #[allow(clippy::too_many_arguments)]
    fn var(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        unbiased: Option<bool>,
        keepdim: bool,
        correction: Option<usize>,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
        ddof: Option<usize>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        let correction = self::correction(correction, unbiased, ddof);
        self.unary(py, |t| t.var_dim(&axes, correction, keep(keepdim, keepdims)))
    }

    /// The standard deviation of all elements, or over some axes, with Bessel's correction.
    #[pyo3(signature = (dim=None, unbiased=None, keepdim=false, *, correction=None, axis=None, keepdims=None, ddof=None))]
    #[allow(clippy::too_many_arguments)]
    fn std(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        unbiased: Option<bool>,
        keepdim: bool,
        correction: Option<usize>,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
        ddof: Option<usize>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        let correction = self::correction(correction, unbiased, ddof);
        self.unary(py, |t| t.std_dim(&axes, correction, keep(keepdim, keepdims)))
    }

    /// `log Σ eˣ` over some axes, without overflow.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn logsumexp(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| t.logsumexp(&axes, keep(keepdim, keepdims)))
    }

    /// The Euclidean norm of all elements, or over some axes; with `p` 1, the sum of magnitudes, with infinity the largest,
    /// with 0 how many are not zero. The gradient of a norm that is 0 is 0.
    #[pyo3(signature = (p=2.0, dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn norm(
        &self,
        py: Python<'_>,
        p: f64,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let (axes, keepdim) = (over(dim, axis)?, keep(keepdim, keepdims));
        self.unary(py, |t| t.norm(p, &axes, keepdim))
    }

    /// Whether any element is not zero, of all or over some axes.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn any(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| Ok(truth(t, count(t, false, &axes, keep(keepdim, keepdims))?.try_ne(0i64)?)))
    }

    /// Whether no element is zero, of all or over some axes.
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None))]
    fn all(
        &self,
        py: Python<'_>,
        dim: Option<&Bound<'_, PyAny>>,
        keepdim: bool,
        axis: Option<&Bound<'_, PyAny>>,
        keepdims: Option<bool>,
    ) -> PyResult<PyTensor> {
        let axes = over(dim, axis)?;
        self.unary(py, |t| Ok(truth(t, count(t, true, &axes, keep(keepdim, keepdims))?.try_eq(0i64)?)))
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(value) = crate::arith::operand(value)? else {
            return Err(PyTypeError::new_err("only numbers and tensors can be in a tensor"));
        };
        let hits = self.binary(py, value, |t, v| count(&t.try_eq(v)?, false, &[], false))?;
        hits.only(py, "in")?.is_truthy()
    }
}

/// What `any` and `all` answer: truth values, and of u8 numbers 0 and 1, as in PyTorch.
fn truth(of: &Tensor, holds: Tensor) -> Tensor {
    if of.dtype() == DType::U8 { holds.to_dtype(DType::U8) } else { holds }
}
