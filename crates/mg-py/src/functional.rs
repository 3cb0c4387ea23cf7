//! What is composed of rows and reductions: methods of tensors.

use mg_autograd::Tensor;
use pyo3::prelude::*;

use crate::arith::other;
use crate::error::build;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
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

    /// The elements on a diagonal of the last two axes (above the main one, if it is positive) and below it; 0 elsewhere.
    #[pyo3(signature = (diagonal=0))]
    fn tril(&self, py: Python<'_>, diagonal: i64) -> PyResult<PyTensor> {
        self.unary(py, |t| t.tril(diagonal))
    }

    /// The elements on a diagonal of the last two axes (above the main one, if it is positive) and above it; 0 elsewhere.
    #[pyo3(signature = (diagonal=0))]
    fn triu(&self, py: Python<'_>, diagonal: i64) -> PyResult<PyTensor> {
        self.unary(py, |t| t.triu(diagonal))
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
}
