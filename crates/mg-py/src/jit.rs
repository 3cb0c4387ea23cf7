//! `jit` and `explain`: steps that are recorded and replayed, and what a line becomes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use mg_autograd::{Jit, Tensor};
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::Explanation;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error::{compute, in_python};
use crate::tensor::PyTensor;

/// An argument of the function: a tensor by its number, or something that stays the same.
enum Argument {
    Tensor(usize),
    Fixed(Py<PyAny>),
}

/// How the function's answer is made of tensors.
enum Answer {
    Tensor(usize),
    Tuple(Vec<Answer>),
    List(Vec<Answer>),
    Dict(Vec<(Py<PyAny>, Answer)>),
    Fixed(Py<PyAny>),
}

/// A call under way: what the engine's side needs to call Python, and what it brings back.
struct Call {
    function: Py<PyAny>,
    args: Vec<Argument>,
    kwargs: Vec<(Py<PyAny>, Argument)>,
    raised: Option<PyErr>,
    answer: Option<Answer>,
}

type Slot = Arc<Mutex<Option<Call>>>;
type Step = Box<dyn FnMut(&[Tensor]) -> Result<Vec<Tensor>> + Send>;
type Key = Vec<(Shape, DType, Device)>;

/// The recordings for one set of fixed arguments.
struct Recorded {
    jit: Jit<Step>,
    slot: Slot,
    answers: HashMap<Key, Answer>,
}

// A function that is recorded when it is called, and replayed once two calls launched the same; see `jit`. This is no
// documentation: `__doc__` is the function's own.
#[pyclass(frozen, weakref, name = "Jit", module = "micrograd_rs")]
pub struct PyJit {
    function: Py<PyAny>,
    /// Which recording belongs to which fixed arguments.
    known: Py<PyDict>,
    recorded: Mutex<Vec<Recorded>>,
}

/// Makes a replayed function. Tensors among its arguments may change from call to call; anything else must be hashable,
/// and is recorded anew for each value. It may read and update tensors that it knows from elsewhere (parameters,
/// optimisers' state), and answers with tensors, alone or in lists, tuples and dictionaries.
#[pyfunction]
pub fn jit(py: Python<'_>, function: Py<PyAny>) -> PyResult<PyJit> {
    if !function.bind(py).is_callable() {
        return Err(PyTypeError::new_err("jit takes a function"));
    }
    Ok(PyJit { function, known: PyDict::new(py).unbind(), recorded: Mutex::new(vec![]) })
}

fn locked(slot: &Slot) -> std::sync::MutexGuard<'_, Option<Call>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes an answer apart; its tensors are appended to `tensors`.
fn take_apart(obj: &Bound<'_, PyAny>, tensors: &mut Vec<Tensor>) -> PyResult<Answer> {
    if let Ok(t) = obj.cast::<PyTensor>() {
        tensors.push(t.get().t.clone());
        return Ok(Answer::Tensor(tensors.len() - 1));
    }
    if let Ok(tuple) = obj.cast_exact::<PyTuple>() {
        return Ok(Answer::Tuple(tuple.iter().map(|o| take_apart(&o, tensors)).collect::<PyResult<_>>()?));
    }
    if let Ok(list) = obj.cast_exact::<PyList>() {
        return Ok(Answer::List(list.iter().map(|o| take_apart(&o, tensors)).collect::<PyResult<_>>()?));
    }
    if let Ok(dict) = obj.cast_exact::<PyDict>() {
        let items = dict.iter().map(|(k, v)| Ok((k.unbind(), take_apart(&v, tensors)?)));
        return Ok(Answer::Dict(items.collect::<PyResult<_>>()?));
    }
    Ok(Answer::Fixed(obj.clone().unbind()))
}

impl Answer {
    fn put_together<'py>(&self, py: Python<'py>, tensors: &[Tensor]) -> PyResult<Bound<'py, PyAny>> {
        let all = |parts: &[Answer]| {
            parts.iter().map(|p| p.put_together(py, tensors)).collect::<PyResult<Vec<_>>>()
        };
        Ok(match self {
            Answer::Tensor(i) => match tensors.get(*i) {
                Some(t) => Bound::new(py, PyTensor::from(t.clone()))?.into_any(),
                None => return Err(PyRuntimeError::new_err("jit: an answer of fewer tensors than recorded")),
            },
            Answer::Tuple(parts) => PyTuple::new(py, all(parts)?)?.into_any(),
            Answer::List(parts) => PyList::new(py, all(parts)?)?.into_any(),
            Answer::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, part) in items {
                    dict.set_item(key, part.put_together(py, tensors)?)?;
                }
                dict.into_any()
            }
            Answer::Fixed(obj) => obj.clone_ref(py).into_bound(py),
        })
    }
}

/// What the engine calls to record: Python's function, with these tensors.
fn step(slot: Slot) -> Step {
    Box::new(move |tensors: &[Tensor]| {
        let called = in_python(|py| -> PyResult<Vec<Tensor>> {
            let Some((function, args, kwargs)) = arguments(py, &slot, tensors)? else {
                return Err(PyRuntimeError::new_err("jit: recorded outside of a call"));
            };
            let result = function.call(args, Some(&kwargs))?;
            let mut out = vec![];
            let answer = take_apart(&result, &mut out)?;
            if let Some(call) = &mut *locked(&slot) {
                call.answer = Some(answer);
            }
            Ok(out)
        });
        called.map_err(|raised| {
            if let Some(call) = &mut *locked(&slot) {
                call.raised = Some(raised);
            }
            Error::new("jit", ErrorKind::Cancelled)
        })
    })
}

type Arguments<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>, Bound<'py, PyDict>);

fn arguments<'py>(py: Python<'py>, slot: &Slot, tensors: &[Tensor]) -> PyResult<Option<Arguments<'py>>> {
    let guard = locked(slot);
    let Some(call) = &*guard else { return Ok(None) };
    let one = |argument: &Argument| -> PyResult<Bound<'py, PyAny>> {
        Ok(match argument {
            Argument::Tensor(i) => Bound::new(py, PyTensor::from(tensors[*i].clone()))?.into_any(),
            Argument::Fixed(obj) => obj.clone_ref(py).into_bound(py),
        })
    };
    let args = PyTuple::new(py, call.args.iter().map(one).collect::<PyResult<Vec<_>>>()?)?;
    let kwargs = PyDict::new(py);
    for (key, argument) in &call.kwargs {
        kwargs.set_item(key, one(argument)?)?;
    }
    Ok(Some((call.function.clone_ref(py).into_bound(py), args, kwargs)))
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
        let mut tensors: Vec<Tensor> = vec![];
        // The fixed arguments, and where they stand: a tensor is told from them by its place alone.
        let fixed = PyList::empty(py);
        let mut take = |obj: Bound<'py, PyAny>, place: Bound<'py, PyAny>| -> PyResult<Argument> {
            if let Ok(t) = obj.cast::<PyTensor>() {
                tensors.push(t.get().t.clone());
                return Ok(Argument::Tensor(tensors.len() - 1));
            }
            fixed.append((place, obj.get_type(), &obj))?;
            Ok(Argument::Fixed(obj.unbind()))
        };
        let mut positional = vec![];
        for (i, arg) in args.iter().enumerate() {
            positional.push(take(arg, i.into_pyobject(py)?.into_any())?);
        }
        let mut by_name = vec![];
        for (key, value) in kwargs.into_iter().flatten() {
            by_name.push((key.clone().unbind(), take(value, key)?));
        }
        fixed.append(args.len())?;
        let key = fixed.to_tuple();
        let mut recorded = match self.recorded.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err("a jit function is called while it runs"));
            }
        };
        let known = self.known.bind(py);
        let at = match known.get_item(&key)? {
            Some(at) => at.extract::<usize>()?,
            None => {
                let slot = Slot::default();
                let jit = mg_autograd::jit(step(slot.clone()));
                recorded.push(Recorded { jit, slot, answers: HashMap::new() });
                known.set_item(&key, recorded.len() - 1)?;
                recorded.len() - 1
            }
        };
        let Recorded { jit, slot, answers } = &mut recorded[at];
        *locked(slot) = Some(Call {
            function: self.function.clone_ref(py),
            args: positional,
            kwargs: by_name,
            raised: None,
            answer: None,
        });
        let shapes: Key = tensors.iter().map(|t| (t.shape(), t.dtype(), t.device())).collect();
        let handles: Vec<&Tensor> = tensors.iter().collect();
        let result = compute(py, || jit.call(&handles));
        let call = locked(slot).take();
        let (raised, answer) = call.map_or((None, None), |c| (c.raised, c.answer));
        if let Some(raised) = raised {
            return Err(raised);
        }
        let out = result?;
        if let Some(answer) = answer {
            answers.insert(shapes.clone(), answer);
        }
        match answers.get(&shapes) {
            Some(answer) => answer.put_together(py, &out),
            None => Err(PyRuntimeError::new_err("jit: replayed without having been recorded")),
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
        self.recorded.try_lock().is_ok_and(|all| all.iter().any(|r| r.jit.is_replaying()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jit({})", self.function.bind(py).repr()?))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        visit.call(&self.function)?;
        visit.call(&self.known)
    }
}

/// The launches that computing some tensors would take; `print` shows them.
#[pyclass(frozen, name = "Explanation", module = "micrograd_rs")]
pub struct PyExplanation(Explanation);

#[pymethods]
impl PyExplanation {
    /// The launches in order: what each is, its shape and operations, bytes read and written.
    #[getter]
    fn launches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for launch in &self.0.launches {
            let dict = PyDict::new(py);
            dict.set_item("kind", &launch.kind)?;
            dict.set_item("shape", crate::size::size(py, launch.shape.iter().copied())?)?;
            dict.set_item("operations", &launch.operations)?;
            dict.set_item("bytes_read", launch.bytes_read)?;
            dict.set_item("bytes_written", launch.bytes_written)?;
            dict.set_item("flops", launch.flops)?;
            dict.set_item("after", &launch.after)?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// Bytes of temporary memory.
    #[getter]
    fn temporary_bytes(&self) -> usize {
        self.0.temporary_bytes
    }

    /// The launches as a Graphviz drawing.
    fn dot(&self) -> String {
        self.0.to_dot()
    }

    fn __len__(&self) -> usize {
        self.0.launches.len()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// The launches that computing these tensors would take; none where their values are known. Nothing is computed.
#[pyfunction]
#[pyo3(signature = (*tensors))]
pub fn explain(py: Python<'_>, tensors: Vec<Bound<'_, PyTensor>>) -> PyResult<PyExplanation> {
    let all: Vec<&Tensor> = tensors.iter().map(|t| &t.get().t).collect();
    compute(py, || {
        let nodes: Vec<_> = all.iter().map(|t| t.node()).collect();
        let mut explanation = mg_graph::explain(&nodes.iter().collect::<Vec<_>>())?;
        // They are our own lines, not the user's.
        explanation.launches.iter_mut().for_each(|launch| launch.line.clear());
        Ok(explanation)
    })
    .map(PyExplanation)
}
