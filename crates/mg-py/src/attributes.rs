//! Attributes that a program gives to a tensor, as to any object of Python's.

use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::tensor::PyTensor;

impl PyTensor {
    /// The attributes that a program has given it, if there are any.
    pub fn own_attributes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDict>> {
        self.attributes.get().map(|own| own.bind(py).clone()).filter(|own| !own.is_empty())
    }

    /// Where such attributes are put.
    fn attributes_made<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes.get_or_init(|| PyDict::new(py).unbind()).bind(py).clone()
    }

    /// Gives it these attributes as well.
    pub fn take_attributes(&self, attributes: &Bound<'_, PyDict>) -> PyResult<()> {
        self.attributes_made(attributes.py()).update(attributes.as_mapping())
    }
}

/// Sets what the class itself knows, or deletes it.
fn set_of_class(
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

// An object that is held by an attribute of a tensor which it holds itself is never freed: tensors are no part of what Python's collector of
// cycles looks at, since that would cost every one of them.
#[pymethods]
impl PyTensor {
    fn __setattr__(
        slf: &Bound<'_, PyTensor>,
        name: &Bound<'_, PyString>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = slf.py();
        match set_of_class(slf, name, Some(value)) {
            Err(error)
                if error.is_instance_of::<PyAttributeError>(py) && !slf.get_type().hasattr(name)? =>
            {
                slf.get().attributes_made(py).set_item(name, value)
            }
            done => done,
        }
    }

    fn __delattr__(slf: &Bound<'_, PyTensor>, name: &Bound<'_, PyString>) -> PyResult<()> {
        match slf.get().own_attributes(slf.py()) {
            Some(own) if own.contains(name)? => own.del_item(name),
            Some(_) | None => set_of_class(slf, name, None),
        }
    }

    /// Asked for what the class does not know.
    fn __getattr__<'py>(
        slf: &Bound<'py, PyTensor>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if let Some(own) = slf.get().own_attributes(py)
            && let Some(value) = own.get_item(name)?
        {
            return Ok(value);
        }
        // SAFETY: an object and a text, both of them held here; the answer is a new reference, or null and an error.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyObject_GenericGetAttr(slf.as_ptr(), name.as_ptr())) }
    }

    /// The attributes that a program has given it.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> Bound<'py, PyDict> {
        self.attributes_made(py)
    }
}
