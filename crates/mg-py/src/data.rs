//! Readers of files that data sets are made of: CSV, images.

use std::path::PathBuf;

use mg_autograd::Tensor;
use mg_device::DType;
use mg_nn::data::{CsvOptions, ImageMode, Table, decode_image, read_image};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::dtype::dtype as dtype_of;
use crate::error::{build, compute};
use crate::files::at;
use crate::tensor::PyTensor;

/// A CSV file as text, to be taken as numbers, as classes or as it is.
///
/// >>> import os, tempfile
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
/// >>> _ = open(path, "w").write("x,kind\n1.5,cat\n2.5,dog\n")
/// >>> table = mg.utils.data.read_csv(path)
/// >>> table.columns, table.numbers("x")
/// (['x', 'kind'], tensor([1.5000, 2.5000]))
/// >>> table.labels("kind")
/// (tensor([0, 1]), ['cat', 'dog'])
#[pyclass(frozen, name = "Table", module = "micrograd_rs.utils.data")]
pub struct PyTable(Table);

#[pymethods]
impl PyTable {
    /// The columns' names, in order.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.columns().iter().map(String::as_str).collect()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Columns as numbers, `[rows, columns]`, or one of this name, `[rows]`; None is all of them. `dtype` is floating point or int64, and
    /// an empty field becomes `missing`. Raises `ValueError`, which names file, line and column, for what is no number.
    #[pyo3(signature = (columns=None, dtype=None, missing=None))]
    fn numbers(
        &self,
        py: Python<'_>,
        columns: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        missing: Option<f64>,
    ) -> PyResult<PyTensor> {
        let dtype = dtype.map_or(Ok(DType::F32), dtype_of)?;
        let one: Option<String> = match columns {
            Some(columns) if columns.is_instance_of::<PyString>() => Some(columns.extract()?),
            _ => None,
        };
        let names: Vec<String> = match (&one, columns) {
            (Some(one), _) => vec![one.clone()],
            (None, Some(columns)) => columns.extract()?,
            (None, None) => vec![],
        };
        if names.is_empty() && columns.is_some() {
            return Err(PyValueError::new_err("numbers: takes the names of columns, got none of them"));
        }
        let made = compute(py, || {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let numbers = self.0.numbers(&names, dtype, missing)?;
            if one.is_some() { numbers.squeeze(Some(&[1])) } else { Ok(numbers) }
        })?;
        Ok(made.into())
    }

    /// A column as classes: int64 numbers `[rows]`, and the texts that they stand for, in their order.
    fn labels(&self, py: Python<'_>, column: &str) -> PyResult<(PyTensor, Vec<String>)> {
        let (labels, classes) = compute(py, || self.0.labels(column))?;
        Ok((labels.into(), classes))
    }

    /// The texts of a column.
    fn strings(&self, py: Python<'_>, column: &str) -> PyResult<Vec<&str>> {
        build(py, || self.0.strings(column))
    }

    fn __repr__(&self) -> String {
        format!("Table of {} rows: {}", self.0.len(), self.0.columns().join(", "))
    }
}

/// Reads a CSV file as RFC 4180 has it: `delimiter` parts fields, and with `header` the first row has the columns' names (else they are
/// "0", "1", …). Raises `ValueError`, which names file and line, where a row has another number of fields, a quote is not closed, or the
/// text is no UTF-8.
///
/// Arguments:
///     path: the file
///     delimiter: what parts fields
///     header: whether the first row has names
///
/// >>> import os, tempfile
/// >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
/// >>> _ = open(path, "w").write("x,kind\n1.5,cat\n2.5,dog\n")
/// >>> table = mg.utils.data.read_csv(path)
/// >>> len(table)
/// 2
#[pyfunction]
#[pyo3(signature = (path, *, delimiter=',', header=true))]
pub fn read_csv(py: Python<'_>, path: PathBuf, delimiter: char, header: bool) -> PyResult<PyTable> {
    std::fs::File::open(&path).map_err(at(&path))?;
    compute(py, || Table::read(&path, CsvOptions { delimiter, header })).map(PyTable)
}

/// An image in a file or in bytes; which of both is the package's to tell.
#[pyfunction]
pub fn _image(py: Python<'_>, path: Option<PathBuf>, bytes: &[u8], mode: &str) -> PyResult<PyTensor> {
    let Some(mode) = ImageMode::named(mode) else {
        let text = format!("a mode is \"UNCHANGED\", \"GRAY\", \"RGB\" or \"RGB_ALPHA\", got {mode:?}");
        return Err(PyValueError::new_err(text));
    };
    if let Some(path) = &path {
        std::fs::File::open(path).map_err(at(path))?;
    }
    let made = compute(py, || match &path {
        Some(path) => read_image(path, mode),
        None => decode_image("bytes", bytes, mode),
    })?;
    Ok(made.into())
}

/// Tensors or arrays of one shape and dtype side by side along a new first axis, where that is nothing but copying (`Tensor::batch_of`). It is done
/// without the interpreter's lock, so that other threads make samples meanwhile.
#[pyfunction]
pub fn _batch(py: Python<'_>, samples: &Bound<'_, PyAny>) -> PyResult<Option<PyTensor>> {
    let samples = samples.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let tensors: Option<Vec<Tensor>> =
        samples.iter().map(|sample| Some(sample.cast::<PyTensor>().ok()?.get().t.clone())).collect();
    if let Some(tensors) = tensors {
        return Ok(compute(py, || Tensor::batch_of(&tensors))?.map(Into::into));
    }
    // Where a default device says that arrays go elsewhere, they go there one by one.
    let mut are_arrays = mg_autograd::default_device().is_cpu();
    for sample in &samples {
        are_arrays = are_arrays && sample.hasattr("__array_interface__")?;
    }
    let made = if are_arrays { crate::import::side_by_side(&samples)? } else { None };
    Ok(made.map(Into::into))
}
