//! `memory_format` and `layout`: how elements lie in memory, which is always the same here.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::type_name;

/// The order of elements in memory that a program asks for. What is taken with one of them has no effect: results lie densely in
/// row-major order, and kernels read whatever order there is.
///
/// >>> mg.zeros(1, 2, 3, 3).contiguous(memory_format=mg.channels_last).stride()
/// (18, 9, 3, 1)
#[pyclass(frozen, eq, hash, name = "memory_format", module = "micrograd_rs", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types)]
pub enum PyMemoryFormat {
    contiguous_format,
    preserve_format,
    channels_last,
    channels_last_3d,
}

#[pymethods]
impl PyMemoryFormat {
    fn __repr__(&self) -> String {
        format!("micrograd_rs.{}", self.name())
    }

    fn __reduce__(&self) -> &'static str {
        self.name()
    }
}

impl PyMemoryFormat {
    pub fn name(self) -> &'static str {
        match self {
            PyMemoryFormat::contiguous_format => "contiguous_format",
            PyMemoryFormat::preserve_format => "preserve_format",
            PyMemoryFormat::channels_last => "channels_last",
            PyMemoryFormat::channels_last_3d => "channels_last_3d",
        }
    }
}

/// How a tensor is stored: elements at strides, which is the only way here.
///
/// >>> mg.zeros(2).layout is mg.strided
/// True
#[pyclass(frozen, eq, hash, name = "layout", module = "micrograd_rs")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[allow(non_camel_case_types)]
pub enum PyLayout {
    strided,
}

#[pymethods]
impl PyLayout {
    fn __repr__(&self) -> &'static str {
        match self {
            PyLayout::strided => "micrograd_rs.strided",
        }
    }

    fn __reduce__(&self) -> &'static str {
        match self {
            PyLayout::strided => "strided",
        }
    }
}

impl FromPyObject<'_, '_> for PyLayout {
    type Error = PyErr;

    fn extract(layout: Borrowed<'_, '_, PyAny>) -> PyResult<PyLayout> {
        if let Ok(known) = layout.cast::<PyLayout>() {
            return Ok(*known.get());
        }
        let text = match why_absent(&layout)? {
            Some(why) => format!("layout={}: {why}; micrograd_rs.strided is what there is", layout.repr()?),
            None => format!("layout takes micrograd_rs.strided, got {}", type_name(&layout)),
        };
        Err(PyTypeError::new_err(text))
    }
}

/// Why there is no dtype or layout of a name that programs compare with; `None` for anything else.
pub fn why_absent(obj: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    match obj.get_type().module()?.to_cow()?.as_ref() {
        "micrograd_rs._absent" => obj.getattr("_why")?.extract().map(Some),
        _ => Ok(None),
    }
}

/// What factories take beside what matters here: the only layout, and the order of memory.
pub fn without_effect(layout: Option<PyLayout>, format: Option<PyMemoryFormat>) {
    let (_, _) = (layout, format);
}

/// What is said to a tensor where a result is to go: results are tensors of their own.
pub const OUT: &str = "takes out=None: results are new tensors, and y.copy_(x) writes x into y";

/// Refuses a tensor that a result is to go to.
pub fn nowhere(name: &str, out: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    match out.is_none_or(|out| out.is_none()) {
        true => Ok(()),
        false => Err(PyTypeError::new_err(format!("{name}() {OUT}"))),
    }
}
