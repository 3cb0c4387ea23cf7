//! Optimisers and schedules, which Python's classes in `optim` hold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Alone, Exclusive};
use mg_nn::optim::{
    ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, Cycle, CyclicLR, ExponentialLR, KINDS, LBFGS,
    LBFGSOptions, LinearLR, MultiStepLR, OneCycleLR, OptionError, OptionValue, Options, ParamGroup,
    PolynomialLR, Schedule, StepLR, defaults, param_group, remembered, step_unless,
};
use mg_nn::{IncompatibleKeys, State};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString, PyTuple};

use crate::error::{compute, exception, in_python, not_in_handler};
use crate::files::{named, tensors_of};
use crate::tensor::PyTensor;

/// What an optimiser does by one thread at a time: steps, replayed ones too, loads, saves, and changes of its options.
#[pyclass(frozen, name = "_Alone", module = "micrograd_rs")]
pub struct PyAlone(Arc<Exclusive>);

#[pymethods]
impl PyAlone {
    #[new]
    fn new() -> PyAlone {
        PyAlone(Arc::default())
    }

    /// Calls a function while no other thread does anything of it; what this thread does within is a part of that.
    fn run<'py>(&self, py: Python<'py>, function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (function, mut answer) = (function.clone().unbind(), None);
        compute(py, || {
            let _alone = Exclusive::take([&self.0]);
            answer = Some(in_python(|py| function.bind(py).call0().map(Bound::unbind)));
            Ok(())
        })?;
        // It was called, or there is an error.
        answer.unwrap_or_else(|| Ok(py.None())).map(|answer| answer.into_bound(py))
    }
}

/// A group of parameters of an optimiser of `mg-nn`.
#[pyclass(frozen, name = "_Optimizer", module = "micrograd_rs")]
pub struct PyOptimizer {
    /// Had before the group is, by everybody: who has it calls the group again and again.
    exclusive: Arc<Exclusive>,
    group: Mutex<Box<dyn ParamGroup>>,
    fields: &'static [&'static str],
    changed: Arc<AtomicU64>,
}

/// What one thread has. The lock goes before others may come: whoever does finds it free.
struct Held<'a, T> {
    of: MutexGuard<'a, T>,
    _alone: Alone<'a>,
}

/// A state of tensors by name.
fn state_of(tensors: &Bound<'_, PyDict>) -> PyResult<State> {
    Ok(State { tensors: tensors_of(tensors)?, metadata: BTreeMap::new() })
}

/// What is missing, unexpected, and of another shape.
type Incompatible = (Vec<String>, Vec<String>, Vec<String>);

fn incompatible(keys: IncompatibleKeys) -> Incompatible {
    (keys.missing, keys.unexpected, keys.misshapen)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn handles(parameters: Vec<Bound<'_, PyTensor>>) -> Vec<Tensor> {
    parameters.iter().map(|p| p.get().t.clone()).collect()
}

/// An option's value. Numbers of other types (NumPy's, tensors of one element) are read as numbers.
fn value(name: &str, given: &Bound<'_, PyAny>) -> PyResult<OptionValue> {
    if given.is_none() {
        return Ok(OptionValue::None);
    }
    if let Ok(b) = given.cast::<PyBool>() {
        return Ok(OptionValue::Bool(b.is_true()));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(OptionValue::Text(text.to_str()?.to_owned()));
    }
    if given.is_instance_of::<PyTuple>() || given.is_instance_of::<PyList>() {
        let items = given.try_iter()?.map(|item| value(name, &item?));
        return Ok(OptionValue::List(items.collect::<PyResult<_>>()?));
    }
    if let Ok(n) = given.cast::<PyInt>()
        && let Ok(n) = n.extract()
    {
        return Ok(OptionValue::Int(n));
    }
    if given.cast::<PyTensor>().is_ok() {
        // It may be another number in the next step.
        mg_graph::needs_values();
    }
    given.extract().map(OptionValue::Float).map_err(|e| PyTypeError::new_err(format!("option {name:?}: {e}")))
}

/// An option's value as Python's.
pub fn given<'py>(py: Python<'py>, value: &OptionValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        OptionValue::None => py.None().into_bound(py),
        OptionValue::Bool(b) => PyBool::new(py, *b).to_owned().into_any(),
        OptionValue::Int(n) => n.into_pyobject(py)?.into_any(),
        OptionValue::Float(x) => x.into_pyobject(py)?.into_any(),
        OptionValue::Text(text) => text.into_pyobject(py)?.into_any(),
        OptionValue::List(items) => {
            let items = items.iter().map(|item| given(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
    })
}

/// A group's options; others may stand in the dictionary beside them.
fn options(
    fields: impl IntoIterator<Item = &'static str>,
    from: &Bound<'_, PyDict>,
) -> PyResult<Vec<(&'static str, OptionValue)>> {
    let read = |name: &'static str| {
        let Some(item) = from.get_item(name)? else { return Err(PyKeyError::new_err(name)) };
        Ok((name, value(name, &item)?))
    };
    fields.into_iter().map(read).collect()
}

/// What options do not fit as an exception.
fn unfit(error: OptionError) -> PyErr {
    match error {
        OptionError::Type(text) => PyTypeError::new_err(text),
        OptionError::Unfit(error) => exception(&error),
    }
}

fn no_optimiser(kind: &str) -> PyErr {
    PyValueError::new_err(format!("there is no optimiser {kind:?}"))
}

/// The options of an optimiser of a kind, with their defaults.
#[pyfunction]
pub fn _optimizer_defaults<'py>(py: Python<'py>, kind: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in defaults(kind).ok_or_else(|| no_optimiser(kind))? {
        dict.set_item(name, given(py, &value)?)?;
    }
    Ok(dict)
}

/// What optimisers may remember of a parameter, by their kinds.
#[pyfunction]
pub fn _optimizer_memory() -> BTreeMap<&'static str, Vec<&'static str>> {
    KINDS.into_iter().filter_map(|kind| Some((kind, remembered(kind)?))).collect()
}

/// Whether two objects of Python are one tensor.
#[pyfunction]
pub fn _is_same(a: &Bound<'_, PyTensor>, b: &Bound<'_, PyTensor>) -> bool {
    a.get().t.id() == b.get().t.id()
}

#[pymethods]
impl PyOptimizer {
    /// A group of an optimiser of a kind (SGD, Adam, …) with options by name, which does what it does when `alone` is nobody else's.
    #[new]
    fn new(
        kind: &str,
        parameters: Vec<Bound<'_, PyTensor>>,
        from: &Bound<'_, PyDict>,
        alone: &Bound<'_, PyAlone>,
    ) -> PyResult<PyOptimizer> {
        not_in_handler()?;
        let known = defaults(kind).ok_or_else(|| no_optimiser(kind))?;
        let options = options(known.iter().map(|(name, _)| *name), from)?;
        let made = param_group(kind, handles(parameters), &options).ok_or_else(|| no_optimiser(kind))?;
        let mut group = made.map_err(unfit)?;
        let exclusive = alone.get().0.clone();
        group.share(exclusive.clone());
        let (fields, changed) = (group.fields(), group.last_change());
        Ok(PyOptimizer { exclusive, fields, changed, group: Mutex::new(group) })
    }

    /// Changes the options for steps to come, replayed ones too.
    fn set_options(&self, py: Python<'_>, from: &Bound<'_, PyDict>) -> PyResult<()> {
        // Read without the lock: what reads them may run Python.
        let options = options(self.fields.iter().copied(), from)?;
        compute(py, || Ok(self.held().of.set_by_name(&options)))?.map_err(unfit)
    }

    /// Changes every parameter that has a gradient, of several groups in one plan.
    /// Where `left_out` turns out to hold, all stays what it was.
    #[staticmethod]
    #[pyo3(signature = (groups, left_out=None))]
    fn step(
        py: Python<'_>,
        groups: Vec<Bound<'_, PyOptimizer>>,
        left_out: Option<&Bound<'_, PyTensor>>,
    ) -> PyResult<()> {
        let left_out = left_out.map(|t| &t.get().t);
        let mut groups: Vec<&PyOptimizer> = groups.iter().map(Bound::get).collect();
        // In one order on all threads, and each once.
        groups.sort_by_key(|group| std::ptr::from_ref(*group));
        groups.dedup_by_key(|group| std::ptr::from_ref(*group));
        compute(py, || {
            let _alone = Exclusive::take(groups.iter().map(|group| &group.exclusive));
            let mut held: Vec<_> = groups.iter().map(|group| lock(&group.group)).collect();
            let mut together: Vec<&mut dyn ParamGroup> = Vec::with_capacity(held.len());
            for group in &mut held {
                together.push(&mut ***group);
            }
            step_unless(&mut together, left_out)
        })
    }

    /// What it remembers of each parameter.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = compute(py, || Ok(self.held().of.state()))?;
        named(py, state.tensors)
    }

    fn load_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = state_of(state)?;
        compute(py, || self.held().of.load_state(&state))
    }

    /// As `load_state`, where the tensors are its own from now on: steps write to them.
    fn put_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = state_of(state)?;
        compute(py, || self.held().of.put_state(&state))
    }

    /// What `load_state` would miss, not know, and have otherwise, of parameters that are counted from `before`.
    fn incompatible_keys(
        &self,
        py: Python<'_>,
        state: &Bound<'_, PyDict>,
        before: usize,
    ) -> PyResult<Incompatible> {
        let state = state_of(state)?;
        let keys = compute(py, || self.held().of.incompatible_keys(&state, before))?;
        Ok(incompatible(keys))
    }

    /// Raises what `set_options` would.
    fn check_options(&self, py: Python<'_>, from: &Bound<'_, PyDict>) -> PyResult<()> {
        let options = options(self.fields.iter().copied(), from)?;
        compute(py, || Ok(self.held().of.check_by_name(&options)))?.map_err(unfit)
    }

    /// The last change of what it remembers: another number after each step and each load, which no other has.
    fn last_change(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }
}

impl PyOptimizer {
    /// The group, for this thread alone.
    fn held(&self) -> Held<'_, Box<dyn ParamGroup>> {
        let alone = Exclusive::take([&self.exclusive]);
        Held { of: lock(&self.group), _alone: alone }
    }
}

fn lbfgs_options(from: &Bound<'_, PyDict>) -> PyResult<LBFGSOptions> {
    let mut known = LBFGSOptions::default();
    for (name, value) in options(LBFGSOptions::FIELDS.iter().copied(), from)? {
        known
            .set(name, &value)
            .map_err(|takes| PyTypeError::new_err(format!("option {name:?} takes {takes}")))?;
    }
    Ok(known)
}

/// L-BFGS of `mg-nn`.
#[pyclass(frozen, name = "_LBFGS", module = "micrograd_rs")]
pub struct PyLBFGS(Arc<Exclusive>, Mutex<LBFGS>);

#[pymethods]
impl PyLBFGS {
    #[new]
    fn new(
        parameters: Vec<Bound<'_, PyTensor>>,
        from: &Bound<'_, PyDict>,
        alone: &Bound<'_, PyAlone>,
    ) -> PyResult<PyLBFGS> {
        not_in_handler()?;
        let made = LBFGS::with_options(handles(parameters), lbfgs_options(from)?);
        let mut lbfgs = made.map_err(|e| exception(&e))?;
        let exclusive = alone.get().0.clone();
        lbfgs.share(exclusive.clone());
        Ok(PyLBFGS(exclusive, Mutex::new(lbfgs)))
    }

    fn set_options(&self, py: Python<'_>, from: &Bound<'_, PyDict>) -> PyResult<()> {
        let options = lbfgs_options(from)?;
        compute(py, || self.held()?.of.set_options(options))
    }

    /// A step; the closure answers with a loss whose gradients it has computed.
    fn step<'py>(&self, py: Python<'py>, closure: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (closure, mut raised, mut first) = (closure.clone().unbind(), None, None);
        let made = compute(py, || {
            self.held()?.of.step(&mut || {
                let asked = in_python(|py| {
                    let loss = closure.bind(py).call0()?;
                    let tensor = match loss.cast::<PyTensor>() {
                        Ok(tensor) => tensor.get().t.clone(),
                        Err(_) => Tensor::scalar(loss.extract::<f64>()?),
                    };
                    first.get_or_insert(loss.unbind());
                    Ok(tensor)
                });
                asked.map_err(|error| {
                    raised = Some(error);
                    Error::new("LBFGS", ErrorKind::Value("the closure raised an exception".into()))
                })
            })
        });
        match (made, raised, first) {
            (_, Some(error), _) => Err(error),
            (Err(error), None, _) => Err(error),
            (Ok(_), None, Some(first)) => Ok(first.into_bound(py)),
            (Ok(_), None, None) => Ok(py.None().into_bound(py)),
        }
    }

    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = compute(py, || Ok(self.held()?.of.state()))?;
        named(py, state.tensors)
    }

    fn load_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let state = state_of(state)?;
        compute(py, || self.held()?.of.load_state(&state))
    }

    /// What `load_state` would miss, not know, and have otherwise.
    fn incompatible_keys(
        &self,
        py: Python<'_>,
        state: &Bound<'_, PyDict>,
        before: usize,
    ) -> PyResult<Incompatible> {
        debug_assert_eq!(before, 0, "it has one group");
        let state = state_of(state)?;
        let keys = compute(py, || Ok(self.held()?.of.incompatible_keys(&state)))?;
        Ok(incompatible(keys))
    }

    /// Raises what `set_options` would.
    fn check_options(&self, py: Python<'_>, from: &Bound<'_, PyDict>) -> PyResult<()> {
        let options = lbfgs_options(from)?;
        compute(py, || self.held()?.of.check_options(&options))
    }

    /// As `load_state`.
    fn put_state(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        self.load_state(py, state)
    }

    fn last_change(&self, py: Python<'_>) -> PyResult<u64> {
        compute(py, || Ok(self.held()?.of.last_change()))
    }
}

impl PyLBFGS {
    /// The optimiser, for this thread alone: others wait. The closure of a step may ask for something of it: an error rather than a wait for ourselves.
    fn held(&self) -> Result<Held<'_, LBFGS>> {
        let alone = Exclusive::take([&self.0]);
        let of = match self.1.try_lock() {
            Ok(lbfgs) => lbfgs,
            // A step that panicked has left it as any step leaves it.
            Err(TryLockError::Poisoned(lbfgs)) => lbfgs.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let text = "a step of this optimiser is being made".into();
                return Err(Error::new("LBFGS", ErrorKind::Value(text)));
            }
        };
        Ok(Held { of, _alone: alone })
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

    #[staticmethod]
    fn constant(factor: f64, total_iters: u64) -> PyResult<PySchedule> {
        schedule(ConstantLR::new(factor, total_iters))
    }

    #[staticmethod]
    fn polynomial(total_iters: u64, power: f64) -> PyResult<PySchedule> {
        schedule(PolynomialLR::new(total_iters, power))
    }

    /// How far its cycle a schedule with warm restarts is at an epoch, and how long the cycle is.
    #[staticmethod]
    fn restarts(t_0: u64, t_mult: u64, epoch: f64) -> PyResult<(f64, f64)> {
        let made = CosineAnnealingWarmRestarts::new(t_0, t_mult, 0.0);
        Ok(made.map_err(|e| exception(&e))?.cycle(epoch))
    }

    /// The learning rate so far within a cycle of warm restarts.
    #[staticmethod]
    fn restarted(base: f64, eta_min: f64, done: f64, length: f64) -> f64 {
        CosineAnnealingWarmRestarts::within(base, eta_min, done, length)
    }

    /// The cycle that an epoch is in, and how far up it is.
    #[staticmethod]
    fn cyclic(step_size_up: u64, step_size_down: u64, epoch: u64) -> PyResult<(u64, f64)> {
        let made = CyclicLR::new(1.0, step_size_up, step_size_down, Cycle::Triangular);
        Ok(made.map_err(|e| exception(&e))?.phase(epoch))
    }

    /// The phase of one cycle that a step is in, and how far it is.
    #[staticmethod]
    fn one_cycle(
        total_steps: u64,
        pct_start: f64,
        linear: bool,
        three_phase: bool,
        step: u64,
    ) -> PyResult<(u64, f64)> {
        let mut made = OneCycleLR::new(1.0, total_steps).map_err(|e| exception(&e))?;
        (made.pct_start, made.linear, made.three_phase) = (pct_start, linear, three_phase);
        Ok(made.phase(step))
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
