//! Positions of what is not zero: a tensor, or one for each axis.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::compute;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis.
    #[pyo3(signature = (*, as_tuple=false))]
    fn nonzero<'py>(&self, py: Python<'py>, as_tuple: bool) -> PyResult<Bound<'py, PyAny>> {
        if !as_tuple {
            let t = compute(py, || self.t.nonzero())?;
            return Ok(Bound::new(py, PyTensor::from(t))?.into_any());
        }
        let all = compute(py, || self.t.nonzero_along_axes())?.into_iter();
        let all = all.map(|t| Bound::new(py, PyTensor::from(t)));
        Ok(PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }
}
