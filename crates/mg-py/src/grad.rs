//! Gradients.

use mg_autograd::{Backward, Tensor};
use mg_nn::utils;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::error::{build, compute};
use crate::tensor::PyTensor;

fn how(retain_graph: Option<bool>, create_graph: bool) -> Backward {
    Backward { retain_graph: retain_graph.unwrap_or(create_graph), create_graph }
}

fn tensors(given: &[Bound<'_, PyTensor>]) -> Vec<Tensor> {
    given.iter().map(|t| t.get().t.clone()).collect()
}

/// The norm of all tensors as one vector.
#[pyfunction]
pub fn _total_norm(py: Python<'_>, given: Vec<Bound<'_, PyTensor>>, norm_type: f64) -> PyResult<PyTensor> {
    let given = tensors(&given);
    build(py, || utils::get_total_norm(&given, norm_type)).map(PyTensor::from)
}

/// Scales the gradients of parameters, whose norm is known, so that it becomes no more than `max_norm`.
#[pyfunction]
pub fn _clip_grads_with_norm(
    py: Python<'_>,
    parameters: Vec<Bound<'_, PyTensor>>,
    max_norm: f64,
    total_norm: &Bound<'_, PyTensor>,
) -> PyResult<()> {
    let (parameters, norm) = (tensors(&parameters), &total_norm.get().t);
    build(py, || utils::clip_grads_with_norm_(&parameters, max_norm, norm))
}

/// Bounds the elements of the gradients of parameters.
#[pyfunction]
pub fn _clip_grad_value(
    py: Python<'_>,
    parameters: Vec<Bound<'_, PyTensor>>,
    clip_value: f64,
) -> PyResult<()> {
    let parameters = tensors(&parameters);
    build(py, || utils::clip_grad_value_(&parameters, clip_value))
}

#[pymethods]
impl PyTensor {
    /// Adds the gradient of this tensor to the `grad` of every leaf that it depends on, or of `inputs` alone. A tensor of more
    /// than one element needs a seed `gradient` of its shape. The graph is let go unless it is to be retained.
    ///
    /// Arguments:
    ///     gradient: what is passed on, of the tensor's shape; 1 for a tensor of one element
    ///     retain_graph: whether the graph stays, so that it can be gone through again
    ///     create_graph: whether the gradients can be differentiated
    ///     inputs: the leaves that get a gradient, by themselves all
    ///
    /// Errors: RuntimeError for what depends on nothing that requires a gradient, for several elements without `gradient`, and where the graph
    /// was let go; ArgumentError for a `gradient` of another shape.
    ///
    /// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> (x * x).sum().backward()
    /// >>> x.grad
    /// tensor([2., 4.])
    #[pyo3(signature = (gradient=None, retain_graph=None, create_graph=false, inputs=None))]
    fn backward(
        &self,
        py: Python<'_>,
        gradient: Option<&Bound<'_, PyTensor>>,
        retain_graph: Option<bool>,
        create_graph: bool,
        inputs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let seed = gradient.map(|g| &g.get().t);
        let inputs = inputs.map(leaves).transpose()?;
        let inputs: Option<Vec<&Tensor>> =
            inputs.as_ref().map(|all| all.iter().map(|t| &t.get().t).collect());
        let how = how(retain_graph, create_graph);
        compute(py, || mg_autograd::backward(&[&self.t], &[seed], inputs.as_deref(), how))
    }
}

/// The tensors whose gradients alone are added to: at least one.
fn leaves<'py>(inputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyTensor>>> {
    let all = several(inputs)?;
    match all.is_empty() {
        true => Err(PyRuntimeError::new_err("backward: takes at least one input, or None for all leaves")),
        false => Ok(all),
    }
}

/// Adds the gradients of the sum of `tensors` to the `grad` of every leaf that they depend on, or of `inputs` alone: as if `backward`
/// was called of each, in one walk. `grad_tensors` are their gradients, which tensors of one element can do without.
///
/// Arguments:
///     tensors: what the gradients are of: a tensor, or a list of them
///     grad_tensors: their gradients, one each, of their shapes; None where a tensor has one element
///     retain_graph: whether the graph stays, so that it can be gone through again
///     create_graph: whether the gradients can be differentiated
///     grad_variables: an older name of `grad_tensors`
///     inputs: the leaves that get a gradient; None is all
///
/// Errors: RuntimeError for what depends on nothing that requires a gradient, for several elements without a gradient, and where the graph was let go;
/// ValueError for a gradient of another shape.
///
/// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
/// >>> mg.autograd.backward([(x * x).sum(), x.sum()])
/// >>> x.grad
/// tensor([3., 5.])
#[pyfunction]
#[pyo3(signature = (tensors, grad_tensors=None, retain_graph=None, create_graph=false, grad_variables=None, inputs=None))]
pub fn backward(
    py: Python<'_>,
    tensors: &Bound<'_, PyAny>,
    grad_tensors: Option<&Bound<'_, PyAny>>,
    retain_graph: Option<bool>,
    create_graph: bool,
    grad_variables: Option<&Bound<'_, PyAny>>,
    inputs: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let roots = several(tensors)?;
    let seeds = seeds(grad_tensors.or(grad_variables), roots.len())?;
    let inputs = inputs.map(leaves).transpose()?;
    let inputs: Option<Vec<&Tensor>> = inputs.as_ref().map(|all| all.iter().map(|t| &t.get().t).collect());
    let of: Vec<&Tensor> = roots.iter().map(|t| &t.get().t).collect();
    let seeds: Vec<Option<&Tensor>> = seeds.iter().map(Option::as_ref).collect();
    compute(py, || mg_autograd::backward(&of, &seeds, inputs.as_deref(), how(retain_graph, create_graph)))
}

/// Seed gradients as they are given for so many outputs: one tensor, or one (or None) for each.
fn seeds(given: Option<&Bound<'_, PyAny>>, outputs: usize) -> PyResult<Vec<Option<Tensor>>> {
    let seeds: Vec<Option<Tensor>> = match given.filter(|g| !g.is_none()) {
        None => vec![],
        Some(one) if one.is_instance_of::<PyTensor>() => vec![Some(one.cast::<PyTensor>()?.get().t.clone())],
        Some(all) => {
            let each = |seed: Bound<'_, PyAny>| -> PyResult<Option<Tensor>> {
                if seed.is_none() { Ok(None) } else { Ok(Some(seed.cast::<PyTensor>()?.get().t.clone())) }
            };
            all.try_iter()?.map(|s| each(s?)).collect::<PyResult<_>>()?
        }
    };
    if !seeds.is_empty() && seeds.len() != outputs {
        let text = format!("{} seed gradients for {outputs} outputs", seeds.len());
        return Err(PyValueError::new_err(text));
    }
    Ok(seeds)
}

/// A tensor, or several in a list or tuple.
fn several<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyTensor>>> {
    if let Ok(one) = obj.cast::<PyTensor>() {
        return Ok(vec![one.clone()]);
    }
    obj.try_iter()?.map(|t| Ok(t?.cast_into::<PyTensor>()?)).collect()
}

/// The gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors on the way. Nothing is
/// accumulated. An input that the outputs do not depend on is an error, None with `allow_unused`, or zeros with
/// `materialize_grads`. `only_inputs` is always so. With `is_grads_batched` the first axis of each of `grad_outputs` counts gradients, and so does that of the answers:
/// as if the function was called for each of them, in one walk.
///
/// Arguments:
///     retain_graph: whether the graph stays, so that it can be gone through again
///     create_graph: whether the gradients can be differentiated
///
/// Errors: RuntimeError for an input that the outputs do not depend on, unless `allow_unused` or `materialize_grads`, and where the graph was let go.
///
/// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
/// >>> (g,) = mg.autograd.grad((x**3).sum(), x, create_graph=True)
/// >>> g.tolist()
/// [3.0, 12.0]
/// >>> mg.autograd.grad(g.sum(), x)
/// (tensor([ 6., 12.]),)
#[pyfunction]
#[pyo3(signature = (outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=false, only_inputs=true,
    allow_unused=None, is_grads_batched=false, materialize_grads=false))]
#[allow(clippy::too_many_arguments)]
pub fn grad<'py>(
    py: Python<'py>,
    outputs: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyAny>,
    grad_outputs: Option<&Bound<'py, PyAny>>,
    retain_graph: Option<bool>,
    create_graph: bool,
    only_inputs: bool,
    allow_unused: Option<bool>,
    is_grads_batched: bool,
    materialize_grads: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    if !only_inputs {
        let text =
            "grad: only_inputs=False is gone from PyTorch too: backward() adds to the grad of all leaves";
        return Err(PyValueError::new_err(text));
    }
    if materialize_grads && allow_unused == Some(false) {
        let text = "grad: materialize_grads gives zeros for inputs that are not used: allow_unused is True or not given";
        return Err(PyValueError::new_err(text));
    }
    let (outputs, inputs) = (several(outputs)?, several(inputs)?);
    let seeds = seeds(grad_outputs, outputs.len())?;
    let of: Vec<&Tensor> = outputs.iter().map(|t| &t.get().t).collect();
    let by: Vec<&Tensor> = inputs.iter().map(|t| &t.get().t).collect();
    let seeds: Vec<Option<&Tensor>> = seeds.iter().map(Option::as_ref).collect();
    let how = how(retain_graph, create_graph);
    let mut found = match is_grads_batched {
        true => compute(py, || mg_autograd::grads_of_batch(&of, &by, &seeds, how))?,
        false => compute(py, || mg_autograd::grad(&of, &by, &seeds, how))?,
    };
    if materialize_grads {
        let zeros = found.iter_mut().zip(&by).filter(|(found, _)| found.is_none());
        zeros.for_each(|(found, input)| *found = Some(input.zeros_like()));
    }
    if let Some(i) = found.iter().position(Option::is_none).filter(|_| allow_unused != Some(true)) {
        let text =
            format!("the outputs do not depend on input {i}; pass allow_unused=True to get None for it");
        return Err(PyRuntimeError::new_err(text));
    }
    let all = found.into_iter().map(|g| g.map(|g| Bound::new(py, PyTensor::from(g))).transpose());
    PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Whether operations record what gradients need.
///
/// >>> with mg.no_grad():
/// ...     mg.is_grad_enabled()
/// False
#[pyfunction]
pub fn is_grad_enabled() -> bool {
    mg_autograd::is_grad_enabled()
}

/// The tensors of lists and tuples in each other.
fn collect<'py>(obj: &Bound<'py, PyAny>, into: &mut Vec<Bound<'py, PyTensor>>) -> PyResult<()> {
    if obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>() {
        return crate::error::recursive(obj.py(), || {
            obj.try_iter()?.try_for_each(|item| collect(&item?, into))
        });
    }
    into.push(obj.cast::<PyTensor>()?.clone());
    Ok(())
}

/// Computes several tensors, alone or in lists and tuples, together, in as few passes as they share.
///
/// Arguments:
///     tensors: one after the other, or in lists
///
/// >>> x = mg.ones(3) * 2
/// >>> y = x + 1
/// >>> mg.realize(x, y)
/// >>> x.is_realized, y.is_realized
/// (True, True)
#[pyfunction]
#[pyo3(signature = (*tensors))]
pub fn realize(py: Python<'_>, tensors: &Bound<'_, PyTuple>) -> PyResult<()> {
    let mut all: Vec<Bound<'_, PyTensor>> = vec![];
    collect(tensors.as_any(), &mut all)?;
    let of: Vec<&Tensor> = all.iter().map(|t| &t.get().t).collect();
    compute(py, || Tensor::realize_all(of))
}
