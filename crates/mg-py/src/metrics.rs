//! What the classes of `metrics` hold.

use std::sync::{Mutex, PoisonError};

use mg_nn::metrics::{Metric, metric};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{compute, exception};
use crate::tensor::PyTensor;

/// A metric of `mg-nn`.
#[pyclass(frozen, name = "_Metric", module = "micrograd_rs")]
pub struct PyMetric(Mutex<Box<dyn Metric>>);

#[pymethods]
impl PyMetric {
    /// A metric by name; a number and a word are its options.
    #[new]
    fn new(kind: &str, number: i64, word: &str) -> PyResult<PyMetric> {
        let made = metric(kind, number, word)
            .ok_or_else(|| PyValueError::new_err(format!("there is no metric {kind:?}")))?;
        Ok(PyMetric(Mutex::new(made.map_err(|e| exception(&e))?)))
    }

    /// Adds a batch.
    #[pyo3(signature = (input, target=None))]
    fn update(
        &self,
        py: Python<'_>,
        input: &Bound<'_, PyTensor>,
        target: Option<&Bound<'_, PyTensor>>,
    ) -> PyResult<()> {
        let (input, target) = (&input.get().t, target.map(|t| &t.get().t));
        compute(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).update(input, target))
    }

    /// The metric of all batches so far.
    fn compute(&self, py: Python<'_>) -> PyResult<PyTensor> {
        compute(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).compute()).map(PyTensor::from)
    }

    /// Begins anew.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).reset())
    }
}
