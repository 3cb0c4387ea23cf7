//! Values between Python processes: pickling and copying of graphs.
//!
//! Values are handles, and pickle knows objects: to keep whole what several values share, nodes are pickled by [`Graph`]s,
//! and no two that live at a time hold the same node. A pickler remembers the graphs it has met, so a value that comes later
//! finds its node in one of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mg_autograd::scalar::{GraphState, NodeState, Side, Value};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyWeakrefMethods, PyWeakrefReference};

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

/// Nodes that are pickled together, each behind its operands.
#[pyclass(frozen, weakref, name = "_Graph", module = "micrograd_rs._micrograd_rs")]
pub struct Graph {
    nodes: Vec<Value>,
    serial: u64,
}

/// Where a node is.
struct Place {
    graph: Py<PyWeakrefReference>,
    serial: u64,
    i: usize,
}

static SERIAL: AtomicU64 = AtomicU64::new(0);

/// By the nodes' ids. A node lives as long as the graph that it is in, so its id is its own.
static GRAPHS: Mutex<Option<HashMap<usize, Place>>> = Mutex::new(None);

/// Held while a graph is made.
static MAKING: Mutex<()> = Mutex::new(());

fn graphs() -> MutexGuard<'static, Option<HashMap<usize, Place>>> {
    GRAPHS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Graph {
    fn drop(&mut self) {
        let mut gone = Vec::new();
        if let Some(graphs) = graphs().as_mut() {
            for v in &self.nodes {
                if let Entry::Occupied(entry) = graphs.entry(v.id())
                    && entry.get().serial == self.serial
                {
                    gone.push(entry.remove());
                }
            }
        }
        // Let go of after the lock.
        drop(gone);
    }
}

/// The graph that a node is in, and its place there; a new graph, with all that the node was computed from and that is in no
/// other one, where there is none.
fn graph_of<'py>(py: Python<'py>, value: &Value) -> PyResult<(Bound<'py, Graph>, usize)> {
    let place = |value: &Value| -> Option<(Bound<'py, Graph>, usize)> {
        let (graph, i) = {
            let graphs = graphs();
            let place = graphs.as_ref()?.get(&value.id())?;
            (place.graph.clone_ref(py), place.i)
        };
        Some((graph.bind(py).upgrade_as::<Graph>().ok()??, i))
    };
    if let Some(known) = place(value) {
        return Ok(known);
    }
    // One thread at a time: two that make a graph of the same nodes would each have their own.
    let _alone = mg_graph::locked(&MAKING);
    if let Some(known) = place(value) {
        return Ok(known);
    }
    let nodes = value.trace_until(|v| place(v).is_some());
    let ids: Vec<usize> = nodes.iter().map(Value::id).collect();
    let last = ids.len().saturating_sub(1);
    let graph = Bound::new(py, Graph::holding(nodes))?;
    let (reference, serial) = (PyWeakrefReference::new(graph.as_any())?.unbind(), graph.get().serial);
    let place = |(i, id)| (id, Place { graph: reference.clone_ref(py), serial, i });
    let places: Vec<(usize, Place)> = ids.into_iter().enumerate().map(place).collect();
    let before: Vec<Place> = {
        let mut graphs = graphs();
        let all = graphs.get_or_insert_default();
        places.into_iter().filter_map(|(id, place)| all.insert(id, place)).collect()
    };
    // Let go of after the lock, as what is dropped with a graph is.
    drop(before);
    Ok((graph, last))
}

#[pymethods]
impl Graph {
    /// A graph as it was pickled: where in other graphs the values are that it goes on from, and its own nodes.
    #[new]
    fn new(outside: Vec<(Bound<'_, Graph>, usize)>, nodes: Vec<Node>) -> PyResult<Graph> {
        let outside = outside.iter().map(|(graph, i)| graph.get().value(*i)).collect::<PyResult<Vec<_>>>()?;
        let nodes = nodes.into_iter().map(from_python).collect::<PyResult<Vec<_>>>()?;
        let roots = (outside.len()..outside.len() + nodes.len()).collect();
        GraphState { nodes, roots }.build_on(outside).map(Graph::holding).map_err(|e| exception(&e))
    }

    fn __reduce__<'py>(slf: Bound<'py, Graph>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (state, outside) = GraphState::part(&slf.get().nodes);
        let outside = outside.iter().map(|v| graph_of(py, v)).collect::<PyResult<Vec<_>>>()?;
        let nodes: Vec<Node> = state.nodes.into_iter().map(to_python).collect();
        (slf.get_type(), (outside, nodes)).into_pyobject(py)
    }
}

impl Graph {
    fn holding(nodes: Vec<Value>) -> Graph {
        Graph { nodes, serial: SERIAL.fetch_add(1, Ordering::Relaxed) }
    }

    fn value(&self, i: usize) -> PyResult<Value> {
        let missing = || PyIndexError::new_err(format!("value {i} of a graph of {}", self.nodes.len()));
        self.nodes.get(i).cloned().ok_or_else(missing)
    }
}

/// A value of a graph that was pickled.
#[pyfunction]
pub fn _rebuild_value(graph: &Bound<'_, Graph>, i: usize) -> PyResult<PyValue> {
    graph.get().value(i).map(PyValue)
}

/// What one `deepcopy` has copied so far: nodes by their ids, with their copies. They are held, so that ids stay theirs.
#[pyclass(frozen)]
struct Copies(Mutex<HashMap<usize, (Value, Value)>>);

/// Copies of values and of all that they were computed from. What they share with each other, and with what was copied with
/// the same memo before, stays shared.
pub fn copied(memo: &Bound<'_, PyDict>, values: &[Value]) -> PyResult<Vec<Value>> {
    // The memo is keyed by what objects are; nodes are no objects, so they have an entry of their own in it.
    let key = "micrograd_rs.Value";
    let copies = match memo.get_item(key)? {
        Some(copies) => copies.cast_into::<Copies>()?,
        None => {
            let copies = Bound::new(memo.py(), Copies(Mutex::default()))?;
            memo.set_item(key, &copies)?;
            copies
        }
    };
    let mut copies = copies.get().0.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = || PyValueError::new_err("a copy of a graph lacks a value");
    let mut made = Vec::with_capacity(values.len());
    for value in values {
        let nodes = value.trace_until(|v| copies.contains_key(&v.id()));
        let (state, outside) = GraphState::part(&nodes);
        let outside = outside.iter().map(|v| copies.get(&v.id()).map(|(_, copy)| copy.clone()));
        let outside = outside.collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        let built = state.build_on(outside).map_err(|e| exception(&e))?;
        copies.extend(nodes.into_iter().zip(built).map(|(old, new)| (old.id(), (old, new))));
        made.push(copies.get(&value.id()).map(|(_, copy)| copy.clone()).ok_or_else(missing)?);
    }
    Ok(made)
}

#[pymethods]
impl PyValue {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let rebuild = py.import("micrograd_rs._micrograd_rs")?.getattr("_rebuild_value")?;
        (rebuild, graph_of(py, &self.0)?).into_pyobject(py)
    }

    /// A copy of the whole graph that the value was computed from. What several values of one `deepcopy` share stays
    /// shared.
    fn __deepcopy__(&self, memo: &Bound<'_, PyDict>) -> PyResult<PyValue> {
        let mut copies = copied(memo, std::slice::from_ref(&self.0))?;
        Ok(PyValue(copies.swap_remove(0)))
    }

    fn __copy__(slf: Bound<'_, PyValue>) -> Bound<'_, PyValue> {
        slf
    }
}
