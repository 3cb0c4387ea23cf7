//! Optimisers and schedules, which Python's classes in `optim` hold.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mg_autograd::Tensor;
use mg_device::Result;
use mg_nn::State;
use mg_nn::optim::{
    Adam, AdamOptions, AdamW, CosineAnnealingLR, ExponentialLR, LinearLR, MultiStepLR, Optimizer, SGD,
    SGDOptions, Schedule, StepLR,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{compute, exception};
use crate::files::{named, tensors_of};
use crate::tensor::PyTensor;

/// An optimiser of `mg-nn`.
#[pyclass(frozen, name = "_Optimizer", module = "micrograd_rs")]
pub struct PyOptimizer(Mutex<Box<dyn Optimizer + Send>>);

impl PyOptimizer {
    fn lock(&self) -> MutexGuard<'_, Box<dyn Optimizer + Send>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn handles(parameters: Vec<Bound<'_, PyTensor>>) -> Vec<Tensor> {
    parameters.iter().map(|p| p.get().t.clone()).collect()
}

#[pymethods]
impl PyOptimizer {
    #[staticmethod]
    fn sgd(
        parameters: Vec<Bound<'_, PyTensor>>,
        lr: f64,
        momentum: f64,
        dampening: f64,
        weight_decay: f64,
        nesterov: bool,
        maximize: bool,
    ) -> PyResult<PyOptimizer> {
        let options = SGDOptions { lr, momentum, dampening, weight_decay, nesterov, maximize };
        let made = SGD::with_options(handles(parameters), options).map_err(|e| exception(&e))?;
        Ok(PyOptimizer(Mutex::new(Box::new(made))))
    }

    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn adam(
        parameters: Vec<Bound<'_, PyTensor>>,
        lr: f64,
        betas: (f64, f64),
        eps: f64,
        weight_decay: f64,
        amsgrad: bool,
        maximize: bool,
        decoupled: bool,
    ) -> PyResult<PyOptimizer> {
        let options = AdamOptions { lr, betas, eps, weight_decay, amsgrad, maximize };
        let parameters = handles(parameters);
        let made: Result<Box<dyn Optimizer + Send>> = if decoupled {
            AdamW::with_options(parameters, options).map(|o| Box::new(o) as _)
        } else {
            Adam::with_options(parameters, options).map(|o| Box::new(o) as _)
        };
        Ok(PyOptimizer(Mutex::new(made.map_err(|e| exception(&e))?)))
    }

    /// Changes every parameter that has a gradient.
    fn step(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || self.lock().step())
    }

    /// Removes the gradients of all parameters.
    fn zero_grad(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || {
            self.lock().zero_grad();
            Ok(())
        })
    }

    /// The learning rate.
    #[getter]
    fn lr(&self, py: Python<'_>) -> PyResult<f64> {
        compute(py, || Ok(self.lock().lr()))
    }

    #[setter]
    fn set_lr(&self, py: Python<'_>, lr: f64) -> PyResult<()> {
        compute(py, || self.lock().set_lr(lr))
    }

    /// What it remembers of each parameter.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = compute(py, || Ok(self.lock().state()))?;
        named(py, state.tensors)
    }

    fn load_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = State { tensors: tensors_of(state)?, metadata: BTreeMap::new() };
        compute(py, || self.lock().load_state(&state))
    }
}

/// A schedule of `mg-nn`: the learning rate as a function of the epoch.
#[pyclass(frozen, name = "_Schedule", module = "micrograd_rs")]
pub struct PySchedule(Box<dyn Schedule + Send + Sync>);

fn schedule<S: Schedule + Send + Sync + 'static>(made: Result<S>) -> PyResult<PySchedule> {
    Ok(PySchedule(Box::new(made.map_err(|e| exception(&e))?)))
}

#[pymethods]
impl PySchedule {
    #[staticmethod]
    fn step(step_size: u64, gamma: f64) -> PyResult<PySchedule> {
        schedule(StepLR::new(step_size, gamma))
    }

    #[staticmethod]
    fn multi_step(milestones: Vec<u64>, gamma: f64) -> PyResult<PySchedule> {
        schedule(MultiStepLR::new(&milestones, gamma))
    }

    #[staticmethod]
    fn exponential(gamma: f64) -> PyResult<PySchedule> {
        schedule(ExponentialLR::new(gamma))
    }

    #[staticmethod]
    fn cosine(t_max: u64, eta_min: f64) -> PyResult<PySchedule> {
        schedule(CosineAnnealingLR::new(t_max, eta_min))
    }

    #[staticmethod]
    fn linear(start_factor: f64, end_factor: f64, total_iters: u64) -> PyResult<PySchedule> {
        schedule(LinearLR::new(start_factor, end_factor, total_iters))
    }

    /// The learning rate of an epoch, counted from 0.
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        self.0.lr(base, epoch)
    }
}
