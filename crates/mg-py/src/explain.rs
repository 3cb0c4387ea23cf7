//! `explain`: what a line becomes.

use mg_autograd::Tensor;
use mg_graph::Explanation;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::compute;
use crate::tensor::PyTensor;

/// The launches that computing some tensors would take; `print` shows them.
///
/// >>> plan = mg.explain((mg.ones(3) * 2 + 1).sum())
/// >>> len(plan)
/// 1
#[pyclass(frozen, name = "Explanation", module = "micrograd_rs")]
pub struct PyExplanation(Explanation);

#[pymethods]
impl PyExplanation {
    /// The launches in order: what each is, its shape and operations, bytes read and written.
    #[getter]
    fn launches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for launch in &self.0.launches {
            let dict = PyDict::new(py);
            dict.set_item("kind", &launch.kind)?;
            dict.set_item("shape", crate::size::size(py, launch.shape.iter().copied())?)?;
            dict.set_item("operations", &launch.operations)?;
            dict.set_item("bytes_read", launch.bytes_read)?;
            dict.set_item("bytes_written", launch.bytes_written)?;
            dict.set_item("flops", launch.flops)?;
            dict.set_item("after", &launch.after)?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// Bytes of temporary memory.
    #[getter]
    fn temporary_bytes(&self) -> usize {
        self.0.temporary_bytes
    }

    /// The launches as a Graphviz drawing.
    fn dot(&self) -> String {
        self.0.to_dot()
    }

    /// The launches as an SVG picture: a box for each, with lines from those that it waits for.
    fn svg(&self) -> String {
        self.0.to_svg()
    }

    /// What a notebook shows: the picture.
    fn _repr_html_(&self) -> String {
        self.0.to_svg()
    }

    fn __len__(&self) -> usize {
        self.0.launches.len()
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// The launches that computing these tensors would take; none where their values are known. Nothing is computed.
#[pyfunction]
#[pyo3(signature = (*tensors))]
pub fn explain(py: Python<'_>, tensors: Vec<Bound<'_, PyTensor>>) -> PyResult<PyExplanation> {
    let all: Vec<&Tensor> = tensors.iter().map(|t| &t.get().t).collect();
    compute(py, || {
        let mut explanation = mg_autograd::explain(&all)?;
        // They are our own lines, not the user's.
        explanation.launches.iter_mut().for_each(|launch| launch.line.clear());
        Ok(explanation)
    })
    .map(PyExplanation)
}
