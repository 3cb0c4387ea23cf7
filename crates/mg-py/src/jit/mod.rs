//! `jit`: steps that are recorded and replayed.

mod answer;
mod around;
mod call;
mod code;
mod key;
mod known;
mod same;
mod sort;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::jit::around::Surroundings;
use crate::jit::call::Calling;
use crate::jit::known::All;
use crate::jit::sort::Sorts;

/// Calls without a look at what surrounds the function, at first and at most, where that takes longer than a call.
const REST: (u32, u32) = (16, 256);
pub const UNSEEN: &str =
    "code of the program's raises something where it is looked at what the step is given or knows";

// A function that is recorded when it is called, and replayed once two calls launched the same; see `jit`. This is no
// documentation: `__doc__` is the function's own.
#[pyclass(frozen, weakref, name = "Jit", module = "micrograd_rs")]
pub struct PyJit {
    pub function: Py<PyAny>,
    pub sorts: Sorts,
    /// What it reads of values makes it run as usual, and is no error.
    pub may_read: bool,
    recorded: Mutex<All>,
}

/// Makes a replayed function: a call that does the same work as two calls before it is replayed, without a graph or a plan
/// being made. It answers what the function would have: shapes, dtypes, devices and layouts of tensors among its arguments (in
/// lists, tuples, dictionaries and dataclasses too) are looked at in each call, which of them are the same or share memory,
/// numbers, strings and other objects by type and value or identity, modes and numbers of modules, the numbers that the function
/// knows from around it, and whether gradients are recorded. Where something differs the function runs as usual and is recorded
/// for that case too. It may read and update tensors that it knows from elsewhere (parameters, optimisers' state), and answers
/// with tensors, alone or in lists, tuples and dictionaries. A function that changes Python's objects around it (a counter, a list, a learning rate) is
/// called each time: leave that to the loop that calls it. What it prints is printed when it is not replayed, and `reason` says why it is not.
///
/// Arguments:
///     function: what is recorded
///     may_read: whether a call that reads a tensor's value runs as usual, each time; else to read one is an error
///
/// Errors: TypeError for what cannot be called. A call raises ValueError where the function reads a value and `may_read` is false.
#[pyfunction]
#[pyo3(signature = (function, *, may_read=false))]
pub fn jit(py: Python<'_>, function: Py<PyAny>, may_read: bool) -> PyResult<PyJit> {
    if !function.bind(py).is_callable() {
        return Err(PyTypeError::new_err("jit takes a function"));
    }
    let (sorts, recorded) = (Sorts::default(), Mutex::default());
    Ok(PyJit { function, sorts, may_read, recorded })
}

/// Whether a step is being recorded on this thread, in which values may not be read.
#[pyfunction]
pub fn _is_recording() -> bool {
    mg_graph::is_recording()
}

/// Says that the step that is being recorded, if one is, looks at what an optimiser remembers, which it may change.
#[pyfunction]
pub fn _looks_at_state() {
    mg_autograd::refuse_replay("it looks at an optimiser's state");
}

/// Says that the step that is being recorded, if one is, needs values on the host: it may read, and is called each time.
#[pyfunction]
pub fn _needs_values() {
    mg_graph::needs_values();
}

impl PyJit {
    /// What is recorded; held for moments only, and never while Python runs.
    pub fn lock(&self) -> MutexGuard<'_, All> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PyJit {
    /// Notes that it could not be looked at what the function is given or knows. What is no exception of a program's (Ctrl-C) goes on.
    pub fn unseen(&self, py: Python<'_>, error: PyErr) -> PyResult<()> {
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let mut all = self.lock();
        (all.last_was_replayed, all.reason) = (false, Some(UNSEEN.to_owned()));
        Ok(())
    }

    /// Calls the function as it is, and knows how long that takes.
    fn measured<T>(&self, plainly: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let answer = plainly();
        self.lock().took = began.elapsed();
        answer
    }

    /// Whether to look at what surrounds the function has taken longer than the function takes: it is called as it is for a while.
    fn rests(&self, looked: Duration) -> bool {
        let mut all = self.lock();
        if !all.is_much || all.took.is_zero() || looked <= all.took {
            all.rest = 0;
            return false;
        }
        all.rest = (2 * all.rest).clamp(REST.0, REST.1);
        all.resting = all.rest;
        all.last_was_replayed = false;
        all.reason = Some(
            "to look at all that the function is given and knows takes longer than to call it: lists, dictionaries and the like of thousands of things"
                .to_owned(),
        );
        true
    }

    /// What surrounds the function: looked for at the first call.
    fn surroundings(&self, py: Python<'_>) -> PyResult<Arc<Surroundings>> {
        let known = self.lock().surroundings.clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = Arc::new(Surroundings::of(self.function.bind(py))?);
        let mut all = self.lock();
        let known = all.surroundings.get_or_insert_with(|| found.clone()).clone();
        // Not under the lock: another thread may have been first.
        drop(all);
        drop(found);
        Ok(known)
    }
}

#[pymethods]
impl PyJit {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let plainly = || self.function.bind(py).call(args, kwargs);
        // A part of what is being recorded.
        if mg_graph::is_recording() {
            return plainly();
        }
        let began = {
            let mut all = self.lock();
            if all.resting > 0 {
                all.resting -= 1;
                drop(all);
                return self.measured(plainly);
            }
            all.is_much.then(Instant::now)
        };
        // Who looks may run a program's code, which may raise what it likes.
        let found = self.surroundings(py).and_then(|surroundings| {
            let calling = Calling { of: self, py, args, kwargs, surroundings };
            let found = calling.find()?;
            Ok((calling, found))
        });
        let (calling, mut found) = match found {
            Ok(found) => found,
            Err(error) => return self.unseen(py, error).and_then(|()| plainly()),
        };
        let taken = found.taken.take();
        // What was seen to be as it was is as much as it was.
        self.lock().is_much = match (&found.around, &taken) {
            (None, Some(taken)) => taken.recorded.is_much,
            (Some(_), _) | (None, None) => found.is_much,
        };
        if let Some(began) = began
            && self.rests(began.elapsed())
        {
            let left = taken.and_then(|taken| self.lock().put(taken));
            drop(left);
            return self.measured(plainly);
        }
        match taken {
            Some(taken) => calling.run(&found, taken, began.is_some()),
            // Another thread uses the recording, or this one further up.
            None => plainly(),
        }
    }

    /// Bound to an object where it is a method.
    fn __get__<'py>(
        slf: Bound<'py, PyJit>,
        object: Bound<'py, PyAny>,
        _class: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if object.is_none() {
            return Ok(slf.into_any());
        }
        slf.py().import("types")?.getattr("MethodType")?.call1((slf, object))
    }

    /// A replayed function of a copy of the function: what was recorded belongs to this one.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyDict>) -> PyResult<PyJit> {
        let copy = py.import("copy")?.call_method1("deepcopy", (self.function.bind(py), memo))?;
        jit(py, copy.unbind(), self.may_read)
    }

    /// The function as it was.
    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.function.clone_ref(py)
    }

    #[getter]
    fn __name__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__name__")
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.function.bind(py).getattr("__doc__")
    }

    /// Whether some last call was replayed.
    #[getter]
    fn is_replaying(&self) -> bool {
        self.lock().last_was_replayed
    }

    /// Why the last call was not recorded so that it can be replayed, or None.
    #[getter]
    fn reason(&self) -> Option<String> {
        self.lock().reason.clone()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jit({})", self.function.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        self.sorts.traverse(&visit)?;
        // Where the collector runs the interpreter stands still; a lock that is held then is held by who is about to use it.
        if let Ok(all) = self.recorded.try_lock() {
            if let Some(surroundings) = &all.surroundings {
                surroundings.traverse(&visit)?;
            }
            for recorded in all.known.iter().filter_map(|known| known.recorded.as_ref()) {
                recorded.held.iter().try_for_each(|object| visit.call(object))?;
                let seen = recorded.seen.iter().flat_map(|(same, _)| same);
                seen.into_iter().try_for_each(|same| same.traverse(&visit))?;
            }
        }
        Ok(())
    }
}
