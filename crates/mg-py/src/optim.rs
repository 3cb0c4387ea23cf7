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
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{compute, exception};
use crate::files::{named, tensors_of};
use crate::tensor::PyTensor;

/// The kinds of optimisers of `mg-nn`.
enum Kind {
    Sgd(SGD),
    Adam(Adam),
    AdamW(AdamW),
}

impl Kind {
    fn any(&mut self) -> &mut dyn Optimizer {
        match self {
            Kind::Sgd(sgd) => sgd,
            Kind::Adam(adam) => adam,
            Kind::AdamW(adamw) => adamw,
        }
    }
}

/// An optimiser of `mg-nn`.
#[pyclass(frozen, name = "_Optimizer", module = "micrograd_rs")]
pub struct PyOptimizer(Mutex<Kind>);

impl PyOptimizer {
    fn lock(&self) -> MutexGuard<'_, Kind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn handles(parameters: Vec<Bound<'_, PyTensor>>) -> Vec<Tensor> {
    parameters.iter().map(|p| p.get().t.clone()).collect()
}

/// One of a group's options; others may stand in the dictionary beside them.
fn option<'py, T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    options: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<T> {
    let Some(value) = options.get_item(name)? else { return Err(PyKeyError::new_err(name.to_owned())) };
    value.extract().map_err(|e: <T as FromPyObject<'_, 'py>>::Error| {
        let cause: PyErr = e.into();
        PyTypeError::new_err(format!("option {name:?}: {cause}"))
    })
}

fn sgd_options(options: &Bound<'_, PyDict>) -> PyResult<SGDOptions> {
    Ok(SGDOptions {
        lr: option(options, "lr")?,
        momentum: option(options, "momentum")?,
        dampening: option(options, "dampening")?,
        weight_decay: option(options, "weight_decay")?,
        nesterov: option(options, "nesterov")?,
        maximize: option(options, "maximize")?,
    })
}

fn adam_options(options: &Bound<'_, PyDict>) -> PyResult<AdamOptions> {
    let [beta1, beta2]: [f64; 2] = option(options, "betas")?;
    Ok(AdamOptions {
        lr: option(options, "lr")?,
        betas: (beta1, beta2),
        eps: option(options, "eps")?,
        weight_decay: option(options, "weight_decay")?,
        amsgrad: option(options, "amsgrad")?,
        maximize: option(options, "maximize")?,
    })
}

#[pymethods]
impl PyOptimizer {
    /// An optimiser of a kind (SGD, Adam or AdamW) with options by name.
    #[new]
    fn new(
        kind: &str,
        parameters: Vec<Bound<'_, PyTensor>>,
        options: &Bound<'_, PyDict>,
    ) -> PyResult<PyOptimizer> {
        let parameters = handles(parameters);
        let made = match kind {
            "SGD" => SGD::with_options(parameters, sgd_options(options)?).map(Kind::Sgd),
            "Adam" => Adam::with_options(parameters, adam_options(options)?).map(Kind::Adam),
            "AdamW" => AdamW::with_options(parameters, adam_options(options)?).map(Kind::AdamW),
            other => return Err(PyValueError::new_err(format!("there is no optimiser {other:?}"))),
        };
        Ok(PyOptimizer(Mutex::new(made.map_err(|e| exception(&e))?)))
    }

    /// Changes the options for steps to come, and the learning rate for recorded ones too.
    fn set_options(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> PyResult<()> {
        // Read without the lock: what reads them may run Python.
        enum Options {
            Sgd(SGDOptions),
            Adam(AdamOptions),
        }
        let is_sgd = compute(py, || Ok(matches!(&*self.lock(), Kind::Sgd(_))))?;
        let options = match is_sgd {
            true => Options::Sgd(sgd_options(options)?),
            false => Options::Adam(adam_options(options)?),
        };
        compute(py, || match (&mut *self.lock(), options) {
            (Kind::Sgd(sgd), Options::Sgd(options)) => sgd.set_options(options),
            (Kind::Adam(adam), Options::Adam(options)) => adam.set_options(options),
            (Kind::AdamW(adamw), Options::Adam(options)) => adamw.set_options(options),
            (Kind::Sgd(_), Options::Adam(_)) | (Kind::Adam(_) | Kind::AdamW(_), Options::Sgd(_)) => Ok(()),
        })
    }

    /// Whether `jit` holds a step of it.
    #[getter]
    fn is_recorded(&self, py: Python<'_>) -> PyResult<bool> {
        compute(py, || {
            Ok(match &*self.lock() {
                Kind::Sgd(sgd) => sgd.is_recorded(),
                Kind::Adam(adam) => adam.is_recorded(),
                Kind::AdamW(adamw) => adamw.is_recorded(),
            })
        })
    }

    /// Changes every parameter that has a gradient.
    fn step(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || self.lock().any().step())
    }

    /// What it remembers of each parameter.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = compute(py, || Ok(self.lock().any().state()))?;
        named(py, state.tensors)
    }

    fn load_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = State { tensors: tensors_of(state)?, metadata: BTreeMap::new() };
        compute(py, || self.lock().any().load_state(&state))
    }
}

/// A schedule of `mg-nn`: how the learning rate goes on from epoch to epoch.
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

    /// The learning rate of an epoch that nothing else acts on.
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        self.0.lr(base, epoch)
    }

    /// The learning rate of an epoch after that of the epoch before.
    fn next(&self, now: f64, base: f64, epoch: u64) -> f64 {
        self.0.next(now, base, epoch)
    }

    /// The learning rate of the epoch where the schedule begins.
    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        self.0.start(now, base, epoch)
    }
}
