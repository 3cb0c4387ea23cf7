//! What is composed of rows and reductions: methods of tensors.

use mg_autograd::Tensor;
use pyo3::prelude::*;

use crate::arith::other;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
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
}
