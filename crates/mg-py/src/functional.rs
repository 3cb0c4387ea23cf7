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
}
