//! What becomes of a table when its rows are used: options of embeddings.

use pyo3::prelude::*;

use crate::error::build;
use crate::tensor::PyTensor;

/// The indices as they are now, where their memory is somebody else's, who may write other ones into it.
fn as_now(py: Python<'_>, indices: &PyTensor) -> PyResult<mg_autograd::Tensor> {
    if !indices.is_borrowed() {
        return Ok(indices.t.clone());
    }
    let copy = build(py, || Ok(mg_autograd::Tensor::from_node(indices.t.node().copy())))?;
    Ok(PyTensor::result(py, copy, true)?.t)
}

/// Scales the rows of a table that integers name down to a norm, in the table.
#[pyfunction]
pub fn _embedding_renorm(
    py: Python<'_>,
    table: &Bound<'_, PyTensor>,
    indices: &Bound<'_, PyTensor>,
    max_norm: f64,
    norm_type: f64,
) -> PyResult<()> {
    let (table, at) = (table.get(), as_now(py, indices.get())?);
    table.write_by(py, || table.t.embedding_renorm_(&at, max_norm, norm_type))
}

/// A table whose rows have their gradients divided by how often integers name them.
#[pyfunction]
pub fn _scale_grad_by_freq(
    py: Python<'_>,
    table: &Bound<'_, PyTensor>,
    indices: &Bound<'_, PyTensor>,
) -> PyResult<PyTensor> {
    let (table, indices) = (table.get(), indices.get());
    let scaled = build(py, || table.t.scale_grad_by_freq(&indices.t))?;
    PyTensor::result(py, scaled, table.is_borrowed() || indices.is_borrowed())
}
