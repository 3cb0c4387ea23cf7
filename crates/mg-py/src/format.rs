//! `memory_format` and `layout`: how elements lie in memory, which is always the same here.

use pyo3::prelude::*;

/// The order of elements in memory that a program asks for. What is taken with one of them has no effect: results lie densely in
/// row-major order, and kernels read whatever order there is.
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
#[pyclass(frozen, eq, hash, name = "layout", module = "micrograd_rs", from_py_object)]
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

/// What factories take beside what matters here: the only layout, memory that is pinned, which ours need not be, and its order.
pub fn without_effect(layout: Option<PyLayout>, pin_memory: Option<bool>, format: Option<PyMemoryFormat>) {
    let (_, _, _) = (layout, pin_memory, format);
}
