//! How tensors look: as text, and in notebooks.

use std::fmt::Write as _;

use pyo3::prelude::*;

use crate::error::compute;
use crate::tensor::PyTensor;

/// Beyond so many rows or columns, a notebook's table leaves out the middle.
const SHOWN: usize = 12;

/// The positions shown of `n`; `None` stands for those left out.
fn positions(n: usize) -> Vec<Option<usize>> {
    if n <= SHOWN {
        return (0..n).map(Some).collect();
    }
    let half = SHOWN / 2;
    (0..half).map(Some).chain([None]).chain((n - half..n).map(Some)).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[pymethods]
impl PyTensor {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        compute(py, || {
            if !self.t.current_is_traced() {
                self.t.realize()?;
            }
            Ok(self.t.text(|dtype| format!("micrograd_rs.{}", dtype.long_name())))
        })
    }

    /// A table of the elements for notebooks; tensors of more than two axes as text.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let shape = compute(py, || {
            self.t.realize()?;
            Ok(self.t.shape())
        })?;
        let gradient = if self.t.requires_grad() { ", requires grad" } else { "" };
        let title = format!("Tensor {shape} {} on {}{gradient}", self.t.dtype(), self.t.device());
        let mut html = format!("<div><small>{}</small>", escape(&title));
        if shape.rank() > 2 || shape.numel() == 0 {
            let _ = write!(html, "<pre>{}</pre></div>", escape(&self.__repr__(py)?));
            return Ok(html);
        }
        let (rows, columns) = match *shape.dims() {
            [rows, columns] => (rows, columns),
            [columns] => (1, columns),
            _ => (1, 1),
        };
        let value = self.host_value(py)?;
        html.push_str("<table>");
        for row in positions(rows) {
            html.push_str("<tr>");
            for column in positions(columns) {
                let text = match (row, column) {
                    (Some(row), Some(column)) => {
                        let at = value.layout.linear_offset(row * columns + column);
                        cell(&crate::export::number(py, &value, at))?
                    }
                    _ => "…".to_string(),
                };
                let _ = write!(html, "<td>{}</td>", escape(&text));
            }
            html.push_str("</tr>");
        }
        html.push_str("</table></div>");
        Ok(html)
    }
}

/// A number in a table: floats with four digits.
fn cell(number: &Bound<'_, PyAny>) -> PyResult<String> {
    match number.cast::<pyo3::types::PyFloat>() {
        Ok(float) => float.call_method1("__format__", (".4g",))?.extract(),
        Err(_) => number.str()?.extract(),
    }
}
