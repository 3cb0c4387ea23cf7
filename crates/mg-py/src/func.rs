//! Derivatives and batches of Python's functions: what is rewritten of what they have recorded.

use std::sync::{Mutex, PoisonError};

use mg_autograd::func::{Level, Randomness, Traced};
use mg_autograd::{Recompute, Tensor};
use mg_device::Result;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::error::{build, compute, told_by_python};
use crate::tensor::PyTensor;

fn all<'a>(tensors: &'a [Bound<'_, PyTensor>]) -> Vec<&'a Tensor> {
    tensors.iter().map(|t| &t.get().t).collect()
}

fn answers(tensors: Vec<Tensor>) -> Vec<PyTensor> {
    tensors.into_iter().map(PyTensor::from).collect()
}

/// Tensors of rows, and kernels that ran once for each example.
type Rows = (Vec<Vec<PyTensor>>, Vec<&'static str>);

/// A function that is differentiated: its inputs, and derivatives of its results.
#[pyclass(frozen, name = "_Level", module = "micrograd_rs")]
pub struct PyLevel {
    level: Level,
    inputs: Vec<Tensor>,
}

/// Tensors of Python's.
type Tensors<'py> = Vec<Bound<'py, PyTensor>>;

impl PyLevel {
    /// What a walk computes of results and of what it is given for each.
    fn walk<R: Send>(
        &self,
        py: Python<'_>,
        results: &[Bound<'_, PyTensor>],
        given: &[Bound<'_, PyTensor>],
        walk: impl Fn(&[&Tensor], &[&Tensor]) -> Result<R> + Send + Sync,
    ) -> PyResult<R> {
        let (results, given) = (all(results), all(given));
        compute(py, || walk(&results, &given))
    }
}

#[pymethods]
impl PyLevel {
    #[new]
    fn new(py: Python<'_>, name: &str, inputs: Vec<Bound<'_, PyTensor>>) -> PyResult<PyLevel> {
        let op = match name {
            "grad" => "grad",
            "vjp" => "vjp",
            "jvp" => "jvp",
            "jacrev" => "jacrev",
            "jacfwd" => "jacfwd",
            "make_dual" => "make_dual",
            _ => "func",
        };
        let inputs = all(&inputs);
        let (level, inputs) = build(py, || Level::begin(op, &inputs))?;
        Ok(PyLevel { level, inputs })
    }

    /// Several as one, of results that were computed of the inputs of all.
    #[staticmethod]
    fn joined(levels: Vec<Bound<'_, PyLevel>>) -> PyLevel {
        let inputs = levels.iter().flat_map(|level| level.get().inputs.iter().cloned()).collect();
        let levels: Vec<&Level> = levels.iter().map(|level| &level.get().level).collect();
        PyLevel { level: Level::joined("unpack_dual", &levels), inputs }
    }

    /// The inputs that the function is to be called with.
    fn inputs(&self) -> Vec<PyTensor> {
        answers(self.inputs.clone())
    }

    /// The function has been called.
    fn outside(&self) {
        self.level.outside();
    }

    /// Results as the outside has them.
    fn results(&self, py: Python<'_>, results: Vec<Bound<'_, PyTensor>>) -> PyResult<Vec<PyTensor>> {
        let results = all(&results);
        build(py, || Ok(self.level.results(&results))).map(answers)
    }

    /// Gradients of the inputs, given those of results.
    fn vjp(
        &self,
        py: Python<'_>,
        results: Tensors<'_>,
        given: Tensors<'_>,
        last: bool,
    ) -> PyResult<Vec<PyTensor>> {
        self.walk(py, &results, &given, |results, given| self.level.vjp(results, given, last)).map(answers)
    }

    /// Tangents of results, given those of the inputs.
    fn jvp(
        &self,
        py: Python<'_>,
        results: Tensors<'_>,
        given: Tensors<'_>,
        last: bool,
    ) -> PyResult<Vec<PyTensor>> {
        self.walk(py, &results, &given, |results, given| self.level.jvp(results, given, last)).map(answers)
    }

    /// As `jvp`; None where a result was not computed of the inputs.
    fn tangents(
        &self,
        py: Python<'_>,
        results: Tensors<'_>,
        given: Tensors<'_>,
        last: bool,
    ) -> PyResult<Vec<Option<PyTensor>>> {
        let found =
            self.walk(py, &results, &given, |results, given| self.level.tangents(results, given, last))?;
        Ok(found.into_iter().map(|tangent| tangent.map(PyTensor::from)).collect())
    }

    /// The derivatives of each result with respect to each input, by gradients.
    #[pyo3(signature = (results, chunk=None))]
    fn rows(
        &self,
        py: Python<'_>,
        results: Vec<Bound<'_, PyTensor>>,
        chunk: Option<usize>,
    ) -> PyResult<Rows> {
        let results = all(&results);
        let (rows, loops) = compute(py, || self.level.rows(&results, chunk))?;
        Ok((rows.into_iter().map(answers).collect(), loops))
    }

    /// As `rows`, by tangents.
    #[pyo3(signature = (results, chunk=None))]
    fn columns(
        &self,
        py: Python<'_>,
        results: Vec<Bound<'_, PyTensor>>,
        chunk: Option<usize>,
    ) -> PyResult<Rows> {
        let results = all(&results);
        let (rows, loops) = compute(py, || self.level.columns(&results, chunk))?;
        Ok((rows.into_iter().map(answers).collect(), loops))
    }
}

/// A function that is called with stand-ins for many examples.
#[pyclass(frozen, name = "_Traced", module = "micrograd_rs")]
pub struct PyTraced {
    traced: Mutex<Option<Traced>>,
    inside: Vec<Tensor>,
}

impl PyTraced {
    fn with<T>(&self, f: impl FnOnce(&mut Traced) -> PyResult<T>) -> PyResult<T> {
        let traced = self.traced.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut traced) = traced else {
            return Err(PyRuntimeError::new_err("vmap: the function has ended"));
        };
        let answer = f(&mut traced);
        *self.traced.lock().unwrap_or_else(PoisonError::into_inner) = Some(traced);
        answer
    }
}

#[pymethods]
impl PyTraced {
    /// Begins, with stand-ins for tensors whose examples lie along these axes.
    #[new]
    fn new(py: Python<'_>, tensors: Vec<Bound<'_, PyTensor>>, axes: Vec<usize>) -> PyResult<PyTraced> {
        let tensors = all(&tensors);
        let of: Vec<(&Tensor, Option<usize>)> = tensors.into_iter().zip(axes.into_iter().map(Some)).collect();
        let (traced, inside) = build(py, || Traced::begin(&of))?;
        Ok(PyTraced { traced: Mutex::new(Some(traced)), inside })
    }

    /// The stand-ins.
    fn inside(&self) -> Vec<PyTensor> {
        answers(self.inside.clone())
    }

    /// The positions of stand-ins that the function has written to.
    fn written(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.with(|traced| build(py, || Ok(traced.written(&self.inside))))
    }

    /// Results for a batch, with the examples in front, and kernels that ran once for each example.
    fn batched(
        &self,
        py: Python<'_>,
        results: Vec<Bound<'_, PyTensor>>,
        given: Vec<Bound<'_, PyTensor>>,
        size: usize,
        randomness: &str,
    ) -> PyResult<(Vec<PyTensor>, Vec<&'static str>)> {
        let borrowed = given.iter().any(|t| t.get().is_borrowed());
        let (results, given) = (all(&results), all(&given));
        self.with(|traced| {
            let made = compute(py, || {
                let randomness = Randomness::named(randomness)?;
                let (made, loops) = traced.batched(&results, &given, size, randomness)?;
                let of =
                    made.into_iter().zip(&results).map(|(made, result)| traced.in_front(made, result, size));
                Ok((of.collect::<Result<Vec<Tensor>>>()?, loops))
            });
            let (made, loops) = made?;
            let made =
                made.into_iter().map(|t| PyTensor::result(py, t, borrowed)).collect::<PyResult<_>>()?;
            Ok((made, loops))
        })
    }

    /// A stand-in for what has been made of examples already, along its first axis: it is given behind the others.
    fn more(&self, py: Python<'_>, made: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let made = &made.get().t;
        self.with(|traced| build(py, || traced.more(made))).map(PyTensor::from)
    }

    /// Whether a result differs from example to example.
    fn differs(&self, py: Python<'_>, result: &Bound<'_, PyTensor>) -> PyResult<bool> {
        let result = &result.get().t;
        self.with(|traced| build(py, || Ok(traced.differs(result))))
    }

    /// The function has ended.
    fn end(&self) {
        let traced = self.traced.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(traced);
    }
}

/// A function of Python's that is called again when a walk comes by.
struct PyRecompute(Py<PyAny>);

impl Recompute for PyRecompute {
    fn call(&self) -> Result<Vec<Tensor>> {
        told_by_python(|py| {
            let answer: Vec<Bound<'_, PyTensor>> = self.0.bind(py).call0()?.extract()?;
            Ok(answer.iter().map(|t| t.get().t.clone()).collect())
        })
    }
}

/// Calls a function, which answers with tensors, and keeps nothing of what it computes on the way: those tensors are the results.
#[pyfunction]
pub fn _checkpoint(py: Python<'_>, function: Py<PyAny>, keeps_random: bool) -> PyResult<()> {
    compute(py, || mg_autograd::checkpoint(PyRecompute(function), keeps_random).map(drop))
}

/// Whether a function is being called with what stands for many examples, or for a model's inputs: there may be no values.
#[pyfunction]
pub fn _is_tracing() -> bool {
    mg_autograd::func::is_tracing()
}

/// Looks for NaN from now on, or no longer.
#[pyfunction]
pub fn _set_detect_anomaly(on: bool, check_nan: bool) {
    mg_autograd::set_detect_anomaly(on, check_nan);
}

/// Whether NaN is looked for, and whether gradients are looked at.
#[pyfunction]
pub fn _anomaly_mode() -> (bool, bool) {
    (mg_autograd::anomaly::is_on(), mg_autograd::anomaly::checks_nan())
}
