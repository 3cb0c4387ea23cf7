//! `memory_format` and `layout`: how elements lie in memory.

use mg_autograd::Tensor;
use mg_device::Result;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

use crate::error::{build, type_name};
use crate::tensor::PyTensor;

/// The order of elements in memory that a program asks for. `contiguous_format` is row-major order, `channels_last` has the second of four axes
/// innermost, `channels_last_3d` that of five, `preserve_format` is that of the operand.
///
/// >>> mg.zeros(1, 2, 3, 3).contiguous(memory_format=mg.channels_last).stride()
/// (18, 1, 6, 2)
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

/// Refuses a format for images or volumes, of what has other axes.
pub fn check_format(format: Option<PyMemoryFormat>, rank: usize) -> PyResult<()> {
    let (name, axes) = match format {
        Some(PyMemoryFormat::channels_last) => ("channels_last", 4),
        Some(PyMemoryFormat::channels_last_3d) => ("channels_last_3d", 5),
        Some(PyMemoryFormat::contiguous_format | PyMemoryFormat::preserve_format) | None => return Ok(()),
    };
    match rank == axes {
        true => Ok(()),
        false => Err(PyRuntimeError::new_err(format!("{name} is an order of {axes} axes, got {rank}"))),
    }
}

/// The elements in a format, copied where they do not lie so already; where none is asked for, in that of the tensor that they are to be like.
pub fn in_format(t: Tensor, format: Option<PyMemoryFormat>, like: Option<&Tensor>) -> Result<Tensor> {
    match format {
        Some(PyMemoryFormat::contiguous_format) => t.contiguous(),
        Some(PyMemoryFormat::channels_last | PyMemoryFormat::channels_last_3d) => t.channels_last(),
        Some(PyMemoryFormat::preserve_format) | None => match like {
            Some(like) if like.is_turned_to_channels()? => t.channels_last(),
            Some(_) | None => Ok(t),
        },
    }
}

/// As [`in_format`], of what is the tensor itself where its elements lie so already.
pub fn lying(t: Bound<'_, PyTensor>, format: Option<PyMemoryFormat>) -> PyResult<Bound<'_, PyTensor>> {
    let py = t.py();
    let own = &t.get().t;
    let (rank, is_so) = build(py, || {
        let is_so = match format {
            Some(PyMemoryFormat::preserve_format) | None => true,
            Some(PyMemoryFormat::contiguous_format) => own.is_contiguous()?,
            Some(PyMemoryFormat::channels_last | PyMemoryFormat::channels_last_3d) => {
                own.is_channels_last()?
            }
        };
        Ok((own.rank(), is_so))
    })?;
    check_format(format, rank)?;
    if is_so { Ok(t) } else { Bound::new(py, t.get().unary(py, |t| in_format(t.clone(), format, None))?) }
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

/// What factories take beside what matters here: the only layout that there is.
pub fn without_effect(layout: Option<PyLayout>) {
    let _ = layout;
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
