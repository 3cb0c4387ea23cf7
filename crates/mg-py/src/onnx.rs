//! Exports to ONNX: the steps of `mg_nn::onnx`, with models of Python.

use std::sync::{Mutex, PoisonError};

use mg_autograd::Tensor;
use mg_nn::onnx::{Exporter, Options};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{build, compute};
use crate::tensor::PyTensor;

/// An export: as long as there are stand-ins, the model is called with them.
#[pyclass(frozen, name = "_Exporter", module = "micrograd_rs")]
pub struct PyExporter(Mutex<Option<Exporter>>);

impl PyExporter {
    fn take(&self) -> PyResult<Exporter> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(|| PyRuntimeError::new_err("onnx.export: it has ended"))
    }

    fn put(&self, exporter: Exporter) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(exporter);
    }
}

#[pymethods]
impl PyExporter {
    /// Begins, with examples of inputs, tensors with the names that the file has for them, names of inputs and results, and open sizes: an
    /// input, its axis and the size's name.
    #[new]
    fn new(
        py: Python<'_>,
        inputs: Vec<Bound<'_, PyTensor>>,
        named: Vec<(String, Bound<'_, PyTensor>)>,
        input_names: Vec<String>,
        output_names: Vec<String>,
        dynamic_axes: Vec<(usize, usize, String)>,
    ) -> PyResult<PyExporter> {
        let inputs: Vec<&Tensor> = inputs.iter().map(|t| &t.get().t).collect();
        let named: Vec<(String, Tensor)> =
            named.into_iter().map(|(name, t)| (name, t.get().t.clone())).collect();
        let options = Options { input_names, output_names, dynamic_axes };
        let exporter = compute(py, || Exporter::new(&inputs, &named, &options))?;
        Ok(PyExporter(Mutex::new(Some(exporter))))
    }

    /// Stand-ins that the model is to be called with next, or None when it was called with all.
    fn begin(&self) -> PyResult<Option<Vec<PyTensor>>> {
        let mut exporter = self.take()?;
        let inside = exporter.begin();
        self.put(exporter);
        Ok(inside.map(|all| all.into_iter().map(PyTensor::from).collect()))
    }

    /// What the model has made of the stand-ins.
    fn end(&self, py: Python<'_>, results: Vec<Bound<'_, PyTensor>>) -> PyResult<()> {
        let results: Vec<Tensor> = results.iter().map(|t| t.get().t.clone()).collect();
        let mut exporter = self.take()?;
        build(py, || exporter.end(&results))?;
        self.put(exporter);
        Ok(())
    }

    /// The bytes of the file.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let exporter = self.take()?;
        let bytes = compute(py, || exporter.finish())?;
        crate::export::to_bytes(py, &bytes)
    }
}
