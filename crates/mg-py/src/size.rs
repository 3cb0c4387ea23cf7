//! Shapes, axes and sizes: how they come from Python and go there.

use mg_device::Shape;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyList, PyTuple, PyType};

use crate::error::unfit;

/// A tuple that also compares equal to lists.
pub fn size<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> PyResult<Bound<'py, PyAny>> {
    static SIZE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = SIZE.import(py, "micrograd_rs._size", "Size")?;
    class.call1((PyTuple::new(py, items)?,))
}

/// An integer argument, of whatever type that has `__index__`.
pub fn index(obj: &Bound<'_, PyAny>) -> PyResult<isize> {
    obj.extract::<isize>().map_err(|error| match error.is_instance_of::<PyOverflowError>(obj.py()) {
        true => PyOverflowError::new_err("an integer beyond 2**63 is no size, axis or position"),
        false => error,
    })
}

/// How many of something.
pub fn count(obj: &Bound<'_, PyAny>) -> PyResult<usize> {
    let n = index(obj)?;
    usize::try_from(n).map_err(|_| unfit(obj.py(), format!("takes a number that is not negative, got {n}")))
}

/// How many of something, if that is said.
pub fn optional_count(obj: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if obj.is_none() { Ok(None) } else { count(obj).map(Some) }
}

/// Some integers: `2, 3`, or `(2, 3)`, or `[2, 3]`.
pub fn integers(args: &Bound<'_, PyTuple>) -> PyResult<Vec<isize>> {
    if args.len() == 1 {
        let first = args.get_item(0)?;
        if !first.is_instance_of::<PyInt>() && is_list(&first) {
            return listed(&first);
        }
    }
    args.iter().map(|a| index(&a)).collect()
}

/// Whether it is a tuple or a list.
pub fn is_list(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_instance_of::<PyTuple>() || obj.is_instance_of::<PyList>()
}

fn listed(obj: &Bound<'_, PyAny>) -> PyResult<Vec<isize>> {
    obj.try_iter()?.map(|item| index(&item?)).collect()
}

/// The shape that `2, 3` or `(2, 3)` stand for.
pub fn sizes(args: &Bound<'_, PyTuple>) -> PyResult<Vec<usize>> {
    unsigned(integers(args)?)
}

/// The shape that an argument stands for: a number of elements, or sizes.
pub fn shape(obj: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    unsigned(if is_list(obj) { listed(obj)? } else { vec![index(obj)?] })
}

fn unsigned(sizes: Vec<isize>) -> PyResult<Vec<usize>> {
    let shape: Option<Vec<usize>> = sizes.iter().map(|&n| usize::try_from(n).ok()).collect();
    let shape =
        shape.ok_or_else(|| PyValueError::new_err(format!("sizes cannot be negative, got {sizes:?}")))?;
    Shape::new(&shape).map_err(|e| crate::error::exception(&e))?;
    Ok(shape)
}

/// Signed sizes, as views take them.
pub fn signed(sizes: &[usize]) -> Vec<isize> {
    sizes.iter().map(|&n| n as isize).collect()
}

/// The axes that `dim` (or NumPy's `axis`) names: an integer or several.
pub fn dims(dim: Option<&Bound<'_, PyAny>>, axis: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<isize>>> {
    let obj = match (dim.filter(|o| !o.is_none()), axis.filter(|o| !o.is_none())) {
        (Some(_), Some(_)) => {
            return Err(PyTypeError::new_err("dim and axis mean the same: give one of them"));
        }
        (None, None) => return Ok(None),
        (Some(obj), None) | (None, Some(obj)) => obj,
    };
    Ok(Some(if is_list(obj) { listed(obj)? } else { vec![index(obj)?] }))
}
