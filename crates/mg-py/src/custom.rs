//! Functions with gradients of their own, and hooks: what the engine calls in Python while it walks.

use std::sync::{Arc, Mutex, PoisonError};

use mg_autograd::function::{Begun, Marks, Rule, Saved, Way};
use mg_autograd::{Gradients, History, HookHandle, MultiMode, Tensor, register_multi_grad_hook};
use mg_device::Result;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyTupleMethods, PyType, PyWeakrefMethods, PyWeakrefReference};

use crate::error::{build, told_by_python, type_name};
use crate::tensor::PyTensor;

/// A call of an `autograd.Function` that has begun.
#[pyclass(frozen, name = "_Begun", module = "micrograd_rs")]
pub struct PyBegun(Mutex<Option<Begun>>);

/// What a call has saved.
#[pyclass(frozen, name = "_Saved", module = "micrograd_rs")]
pub struct PySaved(Arc<Saved>);

#[pymethods]
impl PySaved {
    /// The tensors.
    fn tensors(&self, py: Python<'_>) -> PyResult<Vec<Option<PyTensor>>> {
        let all = build(py, || self.0.tensors())?;
        Ok(all.into_iter().map(|t| t.map(PyTensor::from)).collect())
    }
}

/// The gradient of a call: Python's function of what was saved and of the gradients of the results.
struct PyRule {
    name: String,
    function: Py<PyAny>,
    /// Python's function of what was saved and of the tangents of the inputs, where there is one.
    forward: Option<Py<PyAny>>,
    /// Whether it computes the results again.
    again: bool,
}

/// A tensor, or nothing.
fn maybe(obj: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Tensor>> {
    if obj.is_none() {
        return Ok(None);
    }
    match obj.cast::<PyTensor>() {
        Ok(tensor) => Ok(Some(tensor.get().t.clone())),
        Err(_) => {
            let kind = type_name(obj);
            Err(PyTypeError::new_err(format!("{name}: a gradient is a tensor or None, not {kind}")))
        }
    }
}

/// Tensors and None as a tuple of Python's.
fn tuple<'py>(py: Python<'py>, tensors: &[Option<Tensor>]) -> PyResult<Bound<'py, PyTuple>> {
    let each = tensors.iter().map(|t| t.clone().map(PyTensor::from).into_pyobject(py));
    PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)
}

impl Rule for PyRule {
    fn name(&self) -> &str {
        &self.name
    }

    fn jvp(&self, saved: &Arc<Saved>, tangents: &[Option<Tensor>]) -> Result<Option<Vec<Option<Tensor>>>> {
        let Some(forward) = &self.forward else { return Ok(None) };
        told_by_python(|py| {
            let answer = forward.bind(py).call1((PySaved(saved.clone()), tuple(py, tangents)?))?;
            let all = answer.try_iter()?.map(|t| maybe(&t?, &self.name)).collect::<PyResult<Vec<_>>>()?;
            Ok(Some(all))
        })
    }

    fn backward(&self, saved: &Arc<Saved>, gradients: &[Option<Tensor>]) -> Result<Way> {
        told_by_python(|py| {
            let answer = self.function.bind(py).call1((PySaved(saved.clone()), tuple(py, gradients)?))?;
            let all = answer.try_iter()?.map(|g| maybe(&g?, &self.name)).collect::<PyResult<Vec<_>>>()?;
            match self.again {
                false => Ok(Way::Inputs(all)),
                true => match all.into_iter().collect::<Option<Vec<_>>>() {
                    Some(all) => Ok(Way::Again(all)),
                    None => Err(PyRuntimeError::new_err(format!("{}: a result is gone", self.name))),
                },
            }
        })
    }
}

#[pymethods]
impl PyBegun {
    /// Begins a call with these inputs, as they are now.
    #[new]
    fn new(py: Python<'_>, inputs: Vec<Bound<'_, PyTensor>>) -> PyResult<PyBegun> {
        let inputs: Vec<&Tensor> = inputs.iter().map(|t| &t.get().t).collect();
        Ok(PyBegun(Mutex::new(Some(build(py, || Ok(Begun::with(&inputs)))?))))
    }

    /// Ends it with these results: what the caller is to see of them. `function` is the gradient, `forward` gives the tangents, of what was
    /// saved for them.
    #[allow(clippy::too_many_arguments)]
    #[pyo3(signature = (results, saved, non_differentiable, dirty, keeps_none, name, function, forward=None, saved_forward=None))]
    fn end<'py>(
        &self,
        py: Python<'py>,
        results: Vec<Bound<'py, PyTensor>>,
        saved: Vec<Option<Bound<'py, PyTensor>>>,
        non_differentiable: Vec<Bound<'py, PyTensor>>,
        dirty: Vec<Bound<'py, PyTensor>>,
        keeps_none: bool,
        name: String,
        function: Py<PyAny>,
        forward: Option<Py<PyAny>>,
        saved_forward: Option<Vec<Option<Bound<'py, PyTensor>>>>,
    ) -> PyResult<Vec<Bound<'py, PyTensor>>> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let begun = begun.ok_or_else(|| PyRuntimeError::new_err("a call ends once"))?;
        let all =
            |tensors: &[Bound<'py, PyTensor>]| tensors.iter().map(|t| t.get().t.clone()).collect::<Vec<_>>();
        let kept = |tensors: Vec<Option<Bound<'py, PyTensor>>>| {
            tensors.iter().map(|t| t.as_ref().map(|t| t.get().t.clone())).collect()
        };
        let marks = Marks {
            saved: kept(saved),
            saved_forward: saved_forward.map(kept),
            non_differentiable: all(&non_differentiable),
            dirty: all(&dirty),
            keeps_none,
        };
        let of = all(&results);
        let rule = Arc::new(PyRule { name, function, forward, again: false });
        let answers = build(py, || begun.end(&of, marks, rule))?;
        let same = answers.into_iter().zip(results);
        same.map(|(answer, result)| match answer.is(&result.get().t) {
            true => Ok(result),
            false => Bound::new(py, PyTensor::of(answer, result.get().borrowed)),
        })
        .collect()
    }
}

/// What computed a tensor: an operation as a walk over the graph meets it.
///
/// >>> x = mg.tensor([1.0], requires_grad=True)
/// >>> node = (x * 2).grad_fn
/// >>> node.name(), isinstance(node, mg.autograd.graph.Node)
/// ('MulBackward0', True)
#[pyclass(frozen, subclass, name = "GradNode", module = "micrograd_rs")]
pub struct PyHistory(pub History);

impl PyHistory {
    /// Python's object of it, whose class has the operation's name, as in PyTorch.
    pub fn object(py: Python<'_>, history: History) -> PyResult<Bound<'_, PyAny>> {
        static CLASSES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
        let classes = CLASSES.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
        let name = history.name();
        let class = match classes.get_item(&name)? {
            Some(class) => class,
            None => {
                let members = PyDict::new(py);
                members.set_item("__module__", "micrograd_rs")?;
                members.set_item("__slots__", PyTuple::empty(py))?;
                let bases = (py.get_type::<PyHistory>(),);
                let class = py.get_type::<PyType>().call1((&name, bases, members))?;
                // Another thread may have made it meanwhile.
                classes.call_method1(intern!(py, "setdefault"), (&name, class))?
            }
        };
        class.call1((PyHistory(history),))
    }
}

#[pymethods]
impl PyHistory {
    #[new]
    fn new(node: &Bound<'_, PyHistory>) -> PyHistory {
        PyHistory(node.get().0.clone())
    }

    /// The operation's name: `MulBackward0`, `AccumulateGrad` for a leaf.
    fn name(&self) -> String {
        self.0.name()
    }

    /// What it was computed of, as far as gradients flow there, and which result of that. Empty once the graph was let go.
    #[getter]
    fn next_functions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let all = build(py, || Ok(self.0.next()))?;
        let each = all.into_iter().map(|next| match next {
            Some((node, at)) => Ok((Some(PyHistory::object(py, node)?), at)),
            None => Ok((None, 0)),
        });
        PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)
    }

    /// The leaf that it stands for.
    #[getter]
    fn variable(&self) -> PyResult<PyTensor> {
        match self.0.leaf() {
            Some(leaf) => Ok(leaf.into()),
            None => Err(PyAttributeError::new_err(format!("{} has no variable", self.0.name()))),
        }
    }

    /// Calls `fn(grad_outputs)` with the gradients of the operation's results before those of its inputs are computed; a tuple that it answers
    /// with takes their place. `remove()` of the answer takes the hook away.
    #[pyo3(signature = (r#fn))]
    fn register_prehook(&self, py: Python<'_>, r#fn: Bound<'_, PyAny>) -> PyResult<PyHandle> {
        callable(&r#fn)?;
        let hook = r#fn.unbind();
        let called = move |gradients: &Gradients| {
            told_by_python(|py| several(&hook.bind(py).call1((tuple(py, gradients)?,))?))
        };
        build(py, || self.0.register_prehook(Arc::new(called))).map(PyHandle)
    }

    /// Calls `fn(grad_inputs, grad_outputs)` with the gradients of what the operation was computed of, in the order of `next_functions`, and of its
    /// results; a tuple that it answers with takes the inputs' place. `remove()` of the answer takes the hook away.
    ///
    /// Arguments:
    ///     fn: a function of two tuples of gradients, which answers with a tuple that takes the first one's place, or with None
    #[pyo3(signature = (r#fn))]
    fn register_hook(&self, py: Python<'_>, r#fn: Bound<'_, PyAny>) -> PyResult<PyHandle> {
        callable(&r#fn)?;
        let hook = r#fn.unbind();
        let called = move |inputs: &Gradients, outputs: &Gradients| {
            told_by_python(|py| several(&hook.bind(py).call1((tuple(py, inputs)?, tuple(py, outputs)?))?))
        };
        build(py, || self.0.register_hook(Arc::new(called))).map(PyHandle)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyHistory>().is_ok_and(|other| other.get().0.id() == self.0.id())
    }

    fn __hash__(&self) -> u64 {
        self.0.id()
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.0.name())
    }
}

/// What a hook of an operation answers with: a tuple of gradients, or one of one, or nothing.
fn several(answer: &Bound<'_, PyAny>) -> PyResult<Option<Vec<Option<Tensor>>>> {
    if answer.is_none() {
        return Ok(None);
    }
    if answer.cast::<PyTensor>().is_ok() {
        return Ok(Some(vec![maybe(answer, "a hook")?]));
    }
    answer.try_iter()?.map(|g| maybe(&g?, "a hook")).collect::<PyResult<Vec<_>>>().map(Some)
}

/// Calls `fn` once in each pass backwards with the gradients of these tensors that there are, or, in the mode for any, with the first.
#[pyfunction]
pub fn _multi_grad_hook(
    py: Python<'_>,
    tensors: Vec<Bound<'_, PyTensor>>,
    hook: Bound<'_, PyAny>,
    any: bool,
) -> PyResult<PyHandle> {
    callable(&hook)?;
    let hook = hook.unbind();
    let called = move |gradients: &Gradients| {
        told_by_python(|py| {
            let given = tuple(py, gradients)?;
            let hook = hook.bind(py);
            match any {
                true => hook.call1((given.get_item(0)?,)),
                false => hook.call1((given.to_list(),)),
            }
            .map(drop)
        })
    };
    let tensors: Vec<&Tensor> = tensors.iter().map(|t| &t.get().t).collect();
    let mode = if any { MultiMode::Any } else { MultiMode::All };
    build(py, || register_multi_grad_hook(&tensors, Arc::new(called), mode)).map(PyHandle)
}

/// A hook that was registered: `remove()` takes it away again, and so does the end of a `with` block.
#[pyclass(frozen, weakref, name = "RemovableHandle", module = "micrograd_rs")]
pub struct PyHandle(HookHandle);

#[pymethods]
impl PyHandle {
    /// Takes the hook away. Again does nothing.
    fn remove(&self) {
        self.0.remove();
    }

    /// The hook's number.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    fn __enter__(slf: Bound<'_, PyHandle>) -> Bound<'_, PyHandle> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.0.remove();
    }
}

fn callable(hook: &Bound<'_, PyAny>) -> PyResult<()> {
    match hook.is_callable() {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!("a hook is a function, not {}", type_name(hook)))),
    }
}

#[pymethods]
impl PyTensor {
    /// Calls `hook` with the gradient of this tensor each time it is computed; a tensor that it answers with takes the gradient's
    /// place. Of the result of an operation, it is the gradient of the value that the tensor has now. `remove()` of the answer takes
    /// the hook away.
    ///
    /// Arguments:
    ///     hook: a function of the gradient, which answers with a tensor of its shape that takes its place, or with None
    ///
    /// Errors: RuntimeError for what requires no gradient.
    ///
    /// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> handle = x.register_hook(lambda gradient: gradient * 10)
    /// >>> x.sum().backward()
    /// >>> x.grad
    /// tensor([10., 10.])
    /// >>> handle.remove()
    fn register_hook(&self, py: Python<'_>, hook: Bound<'_, PyAny>) -> PyResult<PyHandle> {
        callable(&hook)?;
        let hook = hook.unbind();
        let called = move |gradient: &Tensor| {
            told_by_python(|py| maybe(&hook.bind(py).call1((PyTensor::from(gradient.clone()),))?, "a hook"))
        };
        build(py, || self.t.register_hook(Arc::new(called))).map(PyHandle)
    }

    /// Calls `hook` with this tensor, a leaf, each time `backward` has added to its gradient. `remove()` of the answer takes the hook
    /// away.
    ///
    /// Arguments:
    ///     hook: a function of this tensor, whose answer does not matter
    ///
    /// Errors: RuntimeError for what is no leaf, or requires no gradient.
    ///
    /// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> handle = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
    /// >>> x.sum().backward()
    /// tensor([1., 1.])
    fn register_post_accumulate_grad_hook(
        slf: &Bound<'_, PyTensor>,
        hook: Bound<'_, PyAny>,
    ) -> PyResult<PyHandle> {
        callable(&hook)?;
        let py = slf.py();
        let (hook, known) = (hook.unbind(), PyWeakrefReference::new(slf.as_any())?.unbind());
        let called = move |leaf: &Tensor| {
            told_by_python(|py| {
                // The tensor as Python knows it, which may be what somebody looks it up by.
                let object = match known.bind(py).upgrade() {
                    Some(object) => object,
                    None => Bound::new(py, PyTensor::from(leaf.clone()))?.into_any(),
                };
                hook.bind(py).call1((object,)).map(|_| ())
            })
        };
        let t = &slf.get().t;
        build(py, || t.register_post_accumulate_grad_hook(Arc::new(called))).map(PyHandle)
    }

    /// Keeps the gradient of this tensor in `grad` though it is the result of an operation.
    ///
    /// Errors: RuntimeError for what requires no gradient.
    ///
    /// >>> x = mg.tensor([3.0], requires_grad=True)
    /// >>> y = x * 2
    /// >>> y.retain_grad()
    /// >>> y.square().backward()
    /// >>> y.grad
    /// tensor([12.])
    fn retain_grad(&self, py: Python<'_>) -> PyResult<()> {
        build(py, || self.t.retain_grad())
    }

    /// Whether it is the result of an operation whose gradient is kept.
    ///
    /// >>> y = mg.tensor([3.0], requires_grad=True) * 2
    /// >>> y.retain_grad()
    /// >>> y.retains_grad
    /// True
    #[getter]
    fn retains_grad(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.retains_grad()))
    }
}
