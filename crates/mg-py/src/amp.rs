//! What `amp.GradScaler` holds.

use std::sync::{Mutex, MutexGuard};

use mg_autograd::Tensor;
use mg_nn::amp::{GradScaler, ScalerOptions};
use mg_nn::optim::by_name;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device;
use crate::error::{build, compute};
use crate::optim::given;
use crate::tensor::PyTensor;

/// The scale of losses, on a device.
#[pyclass(frozen, name = "_GradScaler", module = "micrograd_rs")]
pub struct PyGradScaler(Mutex<GradScaler>);

impl PyGradScaler {
    /// For this thread alone. Who has it may look for signals meanwhile, for which another thread that waits for it lets Python go on.
    fn held(&self) -> MutexGuard<'_, GradScaler> {
        mg_graph::locked(&self.0)
    }
}

fn options(init_scale: f64, growth_factor: f64, backoff_factor: f64, growth_interval: i64) -> ScalerOptions {
    ScalerOptions { init_scale, growth_factor, backoff_factor, growth_interval }
}

#[pymethods]
impl PyGradScaler {
    #[new]
    fn new(
        py: Python<'_>,
        device: &Bound<'_, PyAny>,
        init_scale: f64,
        growth_factor: f64,
        backoff_factor: f64,
        growth_interval: i64,
    ) -> PyResult<PyGradScaler> {
        let device = device::device(device)?;
        let options = options(init_scale, growth_factor, backoff_factor, growth_interval);
        Ok(PyGradScaler(Mutex::new(compute(py, || GradScaler::new(options, device))?)))
    }

    /// The options, with their defaults.
    #[staticmethod]
    fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in by_name(&ScalerOptions::default()) {
            dict.set_item(name, given(py, &value)?)?;
        }
        Ok(dict)
    }

    /// Has it go on otherwise.
    fn set_options(&self, growth_factor: f64, backoff_factor: f64, growth_interval: i64) {
        let mut held = self.held();
        let now = held.options();
        held.set_options(options(now.init_scale, growth_factor, backoff_factor, growth_interval));
    }

    /// The scale itself.
    #[getter]
    fn scale(&self) -> PyTensor {
        self.held().get_scale().clone().into()
    }

    /// The number of good steps since it last changed.
    #[getter]
    fn growth_tracker(&self) -> PyTensor {
        self.held().growth_tracker().clone().into()
    }

    /// A tensor times the scale.
    fn scaled(&self, py: Python<'_>, output: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let output = &output.get().t;
        build(py, || self.held().scale(output)).map(PyTensor::from)
    }

    /// A place for what is found in the gradients of an optimiser.
    fn finding(&self, py: Python<'_>) -> PyResult<PyTensor> {
        compute(py, || self.held().finding()).map(PyTensor::from)
    }

    /// Divides the gradients of parameters by the scale, and notes what is not finite.
    fn unscale(
        &self,
        py: Python<'_>,
        parameters: Vec<Bound<'_, PyTensor>>,
        found: &Bound<'_, PyTensor>,
    ) -> PyResult<()> {
        let parameters: Vec<Tensor> = parameters.iter().map(|p| p.get().t.clone()).collect();
        let found = &found.get().t;
        build(py, || self.held().unscale(&parameters, found))
    }

    /// The next scale.
    fn update(&self, py: Python<'_>, found: Vec<Bound<'_, PyTensor>>) -> PyResult<()> {
        let found: Vec<&Tensor> = found.iter().map(|t| &t.get().t).collect();
        compute(py, || self.held().update(&found))
    }

    /// Sets the scale.
    fn set_scale(&self, py: Python<'_>, scale: &Bound<'_, PyTensor>) -> PyResult<()> {
        let scale = &scale.get().t;
        compute(py, || self.held().set_scale(scale))
    }

    /// Sets the number of good steps since the scale last changed.
    fn set_growth_tracker(&self, py: Python<'_>, steps: i64) -> PyResult<()> {
        compute(py, || self.held().set_growth_tracker(steps))
    }
}
