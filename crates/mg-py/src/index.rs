//! `t[…]` and `t[…] = v`: numbers, slices, `None`, `...`, and (in `gather.rs`) indices and masks.

use mg_autograd::{Operand, Tensor};
use mg_device::{DType, Result};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};

use crate::error::build;
use crate::gather::{Pick, Picks};
use crate::nested;
use crate::tensor::PyTensor;

/// One item between the commas.
enum Item {
    Int(isize),
    Slice(Option<isize>, Option<isize>, isize),
    NewAxis,
    /// A new axis of size 1 or 0: what a plain truth value selects.
    Truth(bool),
    Rest,
    /// Integers, or truth values for as many axes as they have.
    Tensor(Tensor),
}

impl Item {
    fn read(obj: &Bound<'_, PyAny>) -> PyResult<Item> {
        if obj.is_exact_instance_of::<PyInt>() {
            return Ok(Item::Int(integer(obj)?));
        }
        if let Ok(slice) = obj.cast::<PySlice>() {
            let part = |name: &str| -> PyResult<Option<isize>> {
                let end = slice.getattr(name)?;
                if end.is_none() { Ok(None) } else { clamped(&end).map(Some) }
            };
            let step = part("step")?.unwrap_or(1);
            if step == 0 {
                return Err(pyo3::exceptions::PyValueError::new_err("a slice's step cannot be 0"));
            }
            return Ok(Item::Slice(part("start")?, part("stop")?, step));
        }
        if obj.is_none() {
            return Ok(Item::NewAxis);
        }
        if obj.is_instance_of::<PyEllipsis>() {
            return Ok(Item::Rest);
        }
        if let Ok(truth) = obj.cast::<PyBool>() {
            return Ok(Item::Truth(truth.is_true()));
        }
        if let Ok(t) = obj.cast::<PyTensor>() {
            let t = &t.get().t;
            // One integer is a position like any other; while a step is recorded, only one that the step itself made of a number.
            let looked_at = !mg_graph::is_recording() || t.is_data_of_step();
            if t.rank() == 0 && t.dtype().is_int() && looked_at {
                return Ok(Item::Int(mg_graph::unrecorded(|| integer(obj))?));
            }
            return Ok(Item::Tensor(t.clone()));
        }
        // SAFETY: the object is alive. NumPy's integers have `__index__`; so do its arrays of one.
        let has_index = unsafe { ffi::PyIndex_Check(obj.as_ptr()) } != 0;
        if has_index && !(obj.hasattr("shape")? && obj.getattr("shape")?.len()? > 0) {
            return Ok(Item::Int(integer(obj)?));
        }
        match nested::tensor(obj, None) {
            // An empty list picks nothing.
            Ok(t) if t.numel() == 0 && t.dtype().is_float() => Ok(Item::Tensor(t.to_dtype(DType::I64))),
            Ok(t) => Ok(Item::Tensor(t)),
            Err(error) if error.is_instance_of::<PyTypeError>(obj.py()) => {
                let kind = obj.get_type().name()?;
                let text = format!(
                    "takes integers, slices, None, ..., and tensors of integers or truth values, got {kind}"
                );
                let refused = PyTypeError::new_err(text);
                refused.set_cause(obj.py(), Some(error));
                Err(refused)
            }
            Err(error) => Err(error),
        }
    }

    /// How many axes it takes.
    fn axes(&self) -> usize {
        match self {
            Item::Int(_) | Item::Slice(..) => 1,
            Item::NewAxis | Item::Truth(_) | Item::Rest => 0,
            Item::Tensor(t) if t.is_bool() => t.rank(),
            Item::Tensor(_) => 1,
        }
    }
}

/// An index; one beyond any tensor's is an IndexError.
fn integer(obj: &Bound<'_, PyAny>) -> PyResult<isize> {
    // SAFETY: the objects are alive and the interpreter's lock is held.
    let n = unsafe { ffi::PyNumber_AsSsize_t(obj.as_ptr(), ffi::PyExc_IndexError) };
    if n == -1
        && let Some(error) = PyErr::take(obj.py())
    {
        return Err(error);
    }
    Ok(n)
}

/// A slice's end: beyond any tensor's it is clamped.
fn clamped(obj: &Bound<'_, PyAny>) -> PyResult<isize> {
    // SAFETY: as in `integer`; without an exception type, the number is clamped.
    let n = unsafe { ffi::PyNumber_AsSsize_t(obj.as_ptr(), std::ptr::null_mut()) };
    if n == -1
        && let Some(error) = PyErr::take(obj.py())
    {
        return Err(error);
    }
    Ok(n)
}

/// What an index is of a tensor: a view, and what is picked from that.
struct Indexed {
    view: PyTensor,
    picks: Picks,
}

fn indexed(of: &PyTensor, index: &Bound<'_, PyAny>) -> PyResult<Indexed> {
    let py = index.py();
    let items: Vec<Item> = match index.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|i| Item::read(&i)).collect::<PyResult<_>>()?,
        Err(_) => vec![Item::read(index)?],
    };
    let rank = build(py, || Ok(of.t.rank()))?;
    let taken: usize = items.iter().map(Item::axes).sum();
    if taken > rank {
        return Err(PyIndexError::new_err(format!("{taken} indices for a tensor of {rank} axes")));
    }
    if items.iter().filter(|i| matches!(i, Item::Rest)).count() > 1 {
        return Err(PyIndexError::new_err("an index can have one ... only"));
    }
    let mut picks = Picks::default();
    let view = of.view(py, |t| {
        let (mut t, mut axis) = (t.clone(), 0isize);
        for item in items {
            match item {
                Item::Int(at) => t = t.select(axis, at)?,
                Item::Slice(start, end, step) => {
                    t = t.slice(axis, start, end, step)?;
                    axis += 1;
                }
                Item::NewAxis | Item::Truth(true) => {
                    t = t.unsqueeze(axis)?;
                    axis += 1;
                }
                Item::Truth(false) => {
                    t = t.unsqueeze(axis)?.slice(axis, Some(0), Some(0), 1)?;
                    axis += 1;
                }
                Item::Rest => axis += (rank - taken) as isize,
                Item::Tensor(index) => {
                    let axes = if index.is_bool() { index.rank() } else { 1 };
                    picks.0.push(Pick { axis: axis as usize, index });
                    axis += axes as isize;
                }
            }
        }
        // All of it is a view too.
        if t.is(&of.t) {
            let axes: Vec<isize> = (0..t.rank() as isize).collect();
            return t.permute(&axes);
        }
        Ok(t)
    })?;
    Ok(Indexed { view, picks })
}

/// A value that is written to something of `rank` axes: more in front, of size 1, are none.
fn without_leading_ones(value: Operand, rank: usize) -> Result<Operand> {
    let Operand::Tensor(value) = value else { return Ok(value) };
    let shape = value.shape();
    let more = shape.rank().saturating_sub(rank);
    if more == 0 || shape[..more].iter().any(|&n| n != 1) {
        return Ok(Operand::Tensor(value));
    }
    value.reshape(&crate::size::signed(&shape[more..])).map(Operand::Tensor)
}

#[pymethods]
impl PyTensor {
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
        if index.is_exact_instance_of::<PyInt>() {
            let at = integer(index)?;
            return self.view(py, |t| t.select(0, at));
        }
        let Indexed { view, picks } = indexed(self, index)?;
        if picks.0.is_empty() {
            return Ok(view);
        }
        let picked = picks.get(py, &view.t)?;
        PyTensor::result(py, picked, self.borrowed)
    }

    fn __delitem__(&self, _index: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("the elements of a tensor cannot be deleted"))
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let value = match crate::arith::operand(value)? {
            Some(other) => other.operand,
            None => Operand::Tensor(nested::tensor(value, None)?),
        };
        let Indexed { view, picks } = indexed(self, index)?;
        if picks.0.is_empty() {
            return view.write(py, |t| t.assign(without_leading_ones(value, t.rank())?));
        }
        picks.set(py, &view, value)
    }
}
