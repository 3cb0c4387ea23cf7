//! Values between Python processes: pickling and copying of graphs.

use std::borrow::Cow;

use mg_autograd::scalar::{GraphState, NodeState, Side, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::error::exception;
use crate::scalar::value::PyValue;

/// A node as Python pickles it: data, gradient, operation, operands, number (with whether it stands left), device, label.
type Node = (f64, f64, String, Vec<usize>, Option<(bool, f64)>, String, Option<String>);

fn to_python(node: NodeState) -> Node {
    let number = node.number.map(|(side, n)| (side == Side::Left, n));
    (node.data, node.grad, node.op.into_owned(), node.parents, number, node.device.to_string(), node.label)
}

fn from_python((data, grad, op, parents, number, device, label): Node) -> PyResult<NodeState> {
    let number = number.map(|(left, n)| (if left { Side::Left } else { Side::Right }, n));
    let device = device.parse().map_err(|e| exception(&e))?;
    Ok(NodeState { data, grad, op: Cow::Owned(op), parents, number, device, label })
}

/// The value whose graph was pickled.
#[pyfunction]
pub fn _rebuild_value(nodes: Vec<Node>) -> PyResult<PyValue> {
    let nodes = nodes.into_iter().map(from_python).collect::<PyResult<Vec<_>>>()?;
    let Some(root) = nodes.len().checked_sub(1) else {
        return Err(PyValueError::new_err("a graph without values"));
    };
    let mut built = GraphState { nodes, roots: vec![root] }.build().map_err(|e| exception(&e))?;
    Ok(PyValue(built.swap_remove(0)))
}

#[pymethods]
impl PyValue {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.import("micrograd_rs._micrograd_rs")?.getattr("_rebuild_value")?;
        let nodes: Vec<Node> = GraphState::of([&self.0]).nodes.into_iter().map(to_python).collect();
        PyTuple::new(py, [rebuild, PyTuple::new(py, [nodes])?.into_any()])
    }

    /// A copy of the whole graph that the value was computed from. What several values of one `deepcopy` share stays
    /// shared, if the one that depends on the others comes first.
    fn __deepcopy__(&self, py: Python<'_>, memo: &Bound<'_, PyDict>) -> PyResult<PyValue> {
        // The memo is keyed by what objects are; nodes are no objects, so they have a dictionary of their own in it.
        let key = "micrograd_rs.Value";
        let copies = match memo.get_item(key)? {
            Some(copies) => copies.cast_into::<PyDict>()?,
            None => {
                let copies = PyDict::new(py);
                memo.set_item(key, &copies)?;
                copies
            }
        };
        if let Some(copy) = copies.get_item(self.0.id())? {
            return Ok(PyValue(copy.cast::<PyValue>()?.get().0.clone()));
        }
        let trace: Vec<Value> = self.0.trace();
        let built = GraphState::of(trace.iter()).build().map_err(|e| exception(&e))?;
        for (old, new) in trace.iter().zip(&built) {
            copies.set_item(old.id(), PyValue(new.clone()).into_pyobject(py)?)?;
        }
        match built.last() {
            Some(copy) => Ok(PyValue(copy.clone())),
            None => Err(PyValueError::new_err("a graph without values")),
        }
    }

    fn __copy__(slf: Bound<'_, PyValue>) -> Bound<'_, PyValue> {
        slf
    }
}
