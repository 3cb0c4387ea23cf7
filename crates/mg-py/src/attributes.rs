//! Attributes that a program gives to a tensor, as to any object of Python's.

use std::sync::atomic::Ordering;

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::tensor::PyTensor;

/// The attributes that a program has given a tensor, if there are any: of one that has none nothing is asked.
pub fn attributes_of<'py>(t: &Bound<'py, PyTensor>) -> PyResult<Option<Bound<'py, PyDict>>> {
    if !t.get().has_attributes.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let all = t.getattr(intern!(t.py(), "__dict__"))?.cast_into::<PyDict>()?;
    Ok(Some(all).filter(|all| !all.is_empty()))
}

/// Gives a tensor these attributes as well.
pub fn give(t: &Bound<'_, PyTensor>, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
    PyTensor::keep_with_attributes(t);
    t.getattr(intern!(t.py(), "__dict__"))?.cast::<PyDict>()?.update(attributes.as_mapping())
}

/// As objects do it: what the class knows is set there, and anything else is an attribute.
fn set(
    slf: &Bound<'_, PyTensor>,
    name: &Bound<'_, PyString>,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let value = value.map_or(std::ptr::null_mut(), Bound::as_ptr);
    // SAFETY: an object, a text and an object or none, all of them held here.
    match unsafe { ffi::PyObject_GenericSetAttr(slf.as_ptr(), name.as_ptr(), value) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(slf.py())),
    }
}

// Only setting goes by way of these: who asks for a method finds it as fast as before. An object that is held by an attribute of a tensor which
// it holds itself is never freed: tensors are no part of what Python's collector of cycles looks at, since that would cost every one of them.
#[pymethods]
impl PyTensor {
    fn __setattr__(
        slf: &Bound<'_, PyTensor>,
        name: &Bound<'_, PyString>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        // What the class says how to set is no attribute; a method may have one before it.
        let of_class = slf.get_type().getattr_opt(name)?;
        if !of_class.map_or(Ok(false), |known| known.hasattr(intern!(slf.py(), "__set__")))? {
            PyTensor::keep_with_attributes(slf);
        }
        set(slf, name, Some(value))
    }

    fn __delattr__(slf: &Bound<'_, PyTensor>, name: &Bound<'_, PyString>) -> PyResult<()> {
        set(slf, name, None)
    }

    fn __setstate__(slf: &Bound<'_, PyTensor>, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        give(slf, attributes)
    }
}

/// Has `dir(Tensor)` answer with what `listed(Tensor)` does. Python asks the class of a class for that, and PyO3's classes are all of `type`.
#[pyfunction]
pub fn _list_names_of_tensors(py: Python<'_>, listed: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = py.get_type::<PyType>();
    let members = PyDict::new(py);
    members.set_item("__module__", "micrograd_rs")?;
    members.set_item("__slots__", PyTuple::empty(py))?;
    members.set_item("__dir__", listed)?;
    let made = kind.call1(("TensorType", (&kind,), members))?.cast_into::<PyType>()?;
    let tensor = py.get_type::<PyTensor>();
    // SAFETY: a class on the heap, whose class is `type` itself, a static object that is never freed, becomes one of a class that adds nothing to
    // `type` but a method: their objects are laid out alike. The reference to it is handed over.
    unsafe { (*tensor.as_ptr()).ob_type = made.into_ptr().cast() };
    Ok(())
}
