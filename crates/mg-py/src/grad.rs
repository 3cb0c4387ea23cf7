//! Gradients.

use mg_autograd::{Backward, Tensor};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::error::compute;
use crate::tensor::PyTensor;

fn how(retain_graph: Option<bool>, create_graph: bool) -> Backward {
    Backward { retain_graph: retain_graph.unwrap_or(create_graph), create_graph }
}

#[pymethods]
impl PyTensor {
    /// Adds the gradient of this tensor to the `grad` of every leaf that it depends on. A tensor of more than one element
    /// needs a seed `gradient` of its shape. The graph is let go unless it is to be retained.
    #[pyo3(signature = (gradient=None, retain_graph=None, create_graph=false))]
    fn backward(
        &self,
        py: Python<'_>,
        gradient: Option<&Bound<'_, PyTensor>>,
        retain_graph: Option<bool>,
        create_graph: bool,
    ) -> PyResult<()> {
        let seed = gradient.map(|g| &g.get().t);
        compute(py, || self.t.backward_with(seed, how(retain_graph, create_graph)))
    }
}

/// A tensor, or several in a list or tuple.
fn several<'py>(obj: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyTensor>>> {
    if let Ok(one) = obj.cast::<PyTensor>() {
        return Ok(vec![one.clone()]);
    }
    obj.try_iter()?.map(|t| Ok(t?.cast_into::<PyTensor>()?)).collect()
}

/// The gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors on the way. Nothing is
/// accumulated. An input that the outputs do not depend on is an error, or None with `allow_unused`.
#[pyfunction]
#[pyo3(signature = (outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=false, allow_unused=false))]
pub fn grad<'py>(
    py: Python<'py>,
    outputs: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyAny>,
    grad_outputs: Option<&Bound<'py, PyAny>>,
    retain_graph: Option<bool>,
    create_graph: bool,
    allow_unused: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let (outputs, inputs) = (several(outputs)?, several(inputs)?);
    let seeds: Vec<Option<Tensor>> = match grad_outputs.filter(|g| !g.is_none()) {
        None => vec![],
        Some(one) if one.is_instance_of::<PyTensor>() => vec![Some(one.cast::<PyTensor>()?.get().t.clone())],
        Some(all) => {
            let each = |seed: Bound<'py, PyAny>| -> PyResult<Option<Tensor>> {
                if seed.is_none() { Ok(None) } else { Ok(Some(seed.cast::<PyTensor>()?.get().t.clone())) }
            };
            all.try_iter()?.map(|s| each(s?)).collect::<PyResult<_>>()?
        }
    };
    if !seeds.is_empty() && seeds.len() != outputs.len() {
        let text = format!("{} seed gradients for {} outputs", seeds.len(), outputs.len());
        return Err(PyValueError::new_err(text));
    }
    let of: Vec<&Tensor> = outputs.iter().map(|t| &t.get().t).collect();
    let by: Vec<&Tensor> = inputs.iter().map(|t| &t.get().t).collect();
    let seeds: Vec<Option<&Tensor>> = seeds.iter().map(Option::as_ref).collect();
    let found = compute(py, || mg_autograd::grad(&of, &by, &seeds, how(retain_graph, create_graph)))?;
    if let Some(i) = found.iter().position(Option::is_none).filter(|_| !allow_unused) {
        let text =
            format!("the outputs do not depend on input {i}; pass allow_unused=True to get None for it");
        return Err(PyRuntimeError::new_err(text));
    }
    let all = found.into_iter().map(|g| g.map(|g| Bound::new(py, PyTensor::from(g))).transpose());
    PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
}

/// Whether operations record what gradients need.
#[pyfunction]
pub fn is_grad_enabled() -> bool {
    mg_autograd::is_grad_enabled()
}

/// Switches the recording on or off for this thread; answers with what it was.
#[pyfunction]
pub fn _set_grad_enabled(on: bool) -> bool {
    mg_graph::set_tracking(on)
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
#[pyfunction]
#[pyo3(signature = (*tensors))]
pub fn realize(py: Python<'_>, tensors: &Bound<'_, PyTuple>) -> PyResult<()> {
    let mut all: Vec<Bound<'_, PyTensor>> = vec![];
    collect(tensors.as_any(), &mut all)?;
    let of: Vec<&Tensor> = all.iter().map(|t| &t.get().t).collect();
    compute(py, || Tensor::realize_all(of))
}
