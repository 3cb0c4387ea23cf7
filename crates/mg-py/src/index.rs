//! `t[…]` and `t[…] = v`: what stands between the brackets is read here; what it selects is the engine's to say.

use mg_autograd::{Index, Operand, Selection, Tensor};
use mg_device::DType;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};
use pyo3::{ffi, intern};

use crate::error::{build, compute, not_in_handler, said_by, type_name};
use crate::nested;
use crate::tensor::PyTensor;

/// One item between the commas.
fn item(obj: &Bound<'_, PyAny>) -> PyResult<Index> {
    if obj.is_exact_instance_of::<PyInt>() {
        return Ok(Index::At(integer(obj)?));
    }
    if let Ok(slice) = obj.cast::<PySlice>() {
        let py = obj.py();
        let part = |name: &Bound<'_, PyString>| -> PyResult<Option<isize>> {
            let end = slice.getattr(name)?;
            if end.is_none() {
                return Ok(None);
            }
            let told = |error: PyErr| match error.is_instance_of::<PyTypeError>(py) {
                true => PyTypeError::new_err(format!(
                    "index: takes integers and None as a slice's ends and step, got {}",
                    type_name(&end)
                )),
                false => error,
            };
            clamped(&end).map(Some).map_err(told)
        };
        let step = part(intern!(py, "step"))?.unwrap_or(1);
        if step == 0 {
            return Err(pyo3::exceptions::PyValueError::new_err("a slice's step cannot be 0"));
        }
        return Ok(Index::Slice {
            start: part(intern!(py, "start"))?,
            end: part(intern!(py, "stop"))?,
            step,
        });
    }
    if obj.is_none() {
        return Ok(Index::NewAxis);
    }
    if obj.is_instance_of::<PyEllipsis>() {
        return Ok(Index::Rest);
    }
    if let Ok(truth) = obj.cast::<PyBool>() {
        return Ok(Index::Truth(truth.is_true()));
    }
    if let Ok(t) = obj.cast::<PyTensor>() {
        let t = &t.get().t;
        if t.dtype() == DType::U8 {
            return of_bytes(obj.py(), t);
        }
        // One integer is a position like any other; while a step is recorded, only one that the step itself made of a number.
        let looked_at = !mg_graph::is_recording() || t.is_data_of_step();
        // What differs from example to example is looked up as others are.
        let looked_at = looked_at && !t.current_is_traced();
        if t.rank() == 0 && t.dtype().is_int() && looked_at {
            return Ok(Index::At(mg_graph::unrecorded(|| integer(obj))?));
        }
        return Ok(Index::Tensor(t.clone()));
    }
    // SAFETY: the object is alive. NumPy's integers have `__index__`; so do its arrays of one.
    let has_index = unsafe { ffi::PyIndex_Check(obj.as_ptr()) } != 0;
    if has_index && !(obj.hasattr("shape")? && obj.getattr("shape")?.len()? > 0) {
        return Ok(Index::At(integer(obj)?));
    }
    if obj.is_instance_of::<PyFloat>() {
        let text = format!(
            "index: takes integers, slices, None, ..., and tensors of integers or truth values, got {obj}"
        );
        return Err(PyIndexError::new_err(text));
    }
    let is_plain = obj.is_instance_of::<PyList>() || obj.is_instance_of::<PyTuple>();
    match nested::tensor(obj, None) {
        // An empty list picks nothing.
        Ok(t) if t.numel() == 0 && t.dtype().is_float() => Ok(Index::Tensor(t.to_dtype(DType::I64))),
        Ok(t) if t.dtype() == DType::U8 => of_bytes(obj.py(), &t),
        Ok(t) if t.dtype().is_float() && is_plain => Ok(Index::Tensor(t.to_dtype(DType::I64))),
        Ok(t) => Ok(Index::Tensor(t)),
        Err(error) if error.is_instance_of::<PyTypeError>(obj.py()) => {
            let kind = type_name(obj);
            let text = format!(
                "index: takes integers, slices, None, ..., and tensors of integers or truth values, got {kind}"
            );
            let refused = PyTypeError::new_err(text);
            refused.set_cause(obj.py(), Some(error));
            Err(refused)
        }
        Err(error) => Err(error),
    }
}

/// PyTorch's masks were made of bytes once, and still are; as there, whoever comes from NumPy, where they are positions, is told.
fn of_bytes(py: Python<'_>, index: &Tensor) -> PyResult<Index> {
    if index.rank() > 0 {
        let text = c"an index of uint8 is a mask, as in PyTorch: write x[index.bool()] for that, or x[index.long()] for positions";
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)?;
    }
    Ok(Index::Tensor(index.clone()))
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

/// The items of a sequence that is no tuple and is read as one, by PyTorch's rule, which was NumPy's: it is short, and something in it is more than a
/// number.
fn as_tuple<'py>(index: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    const LONG: usize = 32;
    // SAFETY: the objects are alive.
    let is_sequence = |obj: &Bound<'_, PyAny>| unsafe { ffi::PySequence_Check(obj.as_ptr()) } != 0;
    if !index.is_exact_instance_of::<PyList>() {
        let is_list = is_sequence(index)
            && !index.is_instance_of::<PyTensor>()
            && !index.is_instance_of::<PyString>()
            // SAFETY: the object is alive.
            && unsafe { ffi::PyObject_CheckBuffer(index.as_ptr()) } == 0
            && !index.hasattr("__array__")?
            && !index.hasattr("__dlpack__")?;
        if !is_list {
            return Ok(None);
        }
    }
    if index.len().map_or(true, |n| n >= LONG) {
        return Ok(None);
    }
    let items = index.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let is_more = |obj: &Bound<'_, PyAny>| {
        obj.is_instance_of::<PyTensor>()
            || obj.is_instance_of::<PySlice>()
            || obj.is_instance_of::<PyEllipsis>()
            || obj.is_none()
            || is_sequence(obj)
    };
    if !items.iter().any(is_more) {
        return Ok(None);
    }
    let py = index.py();
    let text = c"a sequence with sequences, tensors, slices, None or ... in it is read as a tuple, an index for each axis; write x[tuple(index)] for that, \
                 or x[tensor(index)] for positions along the first axis";
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), text, 1)?;
    Ok(Some(items))
}

/// What an index selects of a tensor.
fn selection(of: &PyTensor, index: &Bound<'_, PyAny>) -> PyResult<Selection> {
    not_in_handler()?;
    let items: Vec<Index> = match index.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().map(|i| item(&i)).collect::<PyResult<_>>()?,
        Err(_) => match as_tuple(index)? {
            Some(items) => items.iter().map(item).collect::<PyResult<_>>()?,
            None => vec![item(index)?],
        },
    };
    build(index.py(), || of.t.selection(&items))
}

#[pymethods]
impl PyTensor {
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
        if index.is_exact_instance_of::<PyInt>() {
            let at = integer(index)?;
            return self.view(py, |t| t.select(0, at));
        }
        let selection = selection(self, index)?;
        let selected = match selection.reads() {
            true => compute(py, || selection.get())?,
            false => build(py, || selection.get())?,
        };
        match selection.is_view() {
            true => Ok(PyTensor::of(selected, self.borrowed)),
            false => PyTensor::result(py, selected, self.borrowed),
        }
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
            None => {
                let told = |error| said_by(py, "__setitem__", error);
                Operand::Tensor(nested::tensor(value, None).map_err(told)?)
            }
        };
        let selection = selection(self, index)?;
        match selection.is_view() && !self.borrowed {
            true => build(py, || selection.set(value)),
            false => compute(py, || selection.set(value)),
        }
    }
}
