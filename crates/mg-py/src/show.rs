//! How tensors look: as text, and in notebooks.

use std::fmt::Write as _;

use mg_autograd::display::{PrintOptions, print_options, set_print_options};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
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

/// Whether a program made a module's parameter of this very tensor: `nn.Parameter(t)`.
fn is_parameter(tensor: &Bound<'_, PyTensor>) -> PyResult<bool> {
    let modules = tensor.py().import("sys")?.getattr("modules")?;
    let known = modules.call_method1("get", ("micrograd_rs.nn.parameter",))?;
    // Who has not imported it has no parameters.
    if known.is_none() { Ok(false) } else { known.getattr("is_marked")?.call1((tensor,))?.is_truthy() }
}

impl PyTensor {
    /// As Python shows it.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        compute(py, || {
            if !self.t.current_is_traced() {
                self.t.realize()?;
            }
            Ok(self.t.text(|dtype| format!("micrograd_rs.{}", dtype.long_name())))
        })
    }
}

#[pymethods]
impl PyTensor {
    fn __repr__(slf: &Bound<'_, PyTensor>) -> PyResult<String> {
        let text = slf.get().text(slf.py())?;
        Ok(if is_parameter(slf)? { format!("Parameter containing:\n{text}") } else { text })
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
            let _ = write!(html, "<pre>{}</pre></div>", escape(&self.text(py)?));
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
                        cell(&crate::export::number(py, &value, at)?)?
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

/// Says how tensors are printed: digits, when and how much of long axes is left out, characters of a line, and whether numbers have
/// an exponent (None: where their sizes ask for it). The rest is as it is by itself.
///
/// Arguments:
///     precision: how many digits there are behind the point
///     threshold: of how many elements on the middle is left out
///     edgeitems: how many are shown at each end then
///     linewidth: how many characters a line has
///     profile: "default", "short" or "full", which set the others
///     sci_mode: whether numbers have an exponent
///
/// Errors: ValueError for another profile.
///
/// >>> mg.set_printoptions(precision=2)
/// >>> mg.tensor([1 / 3])
/// tensor([0.33])
/// >>> mg.set_printoptions(profile="default")
#[pyfunction]
#[pyo3(signature = (precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None))]
pub fn set_printoptions(
    precision: Option<usize>,
    threshold: Option<f64>,
    edgeitems: Option<usize>,
    linewidth: Option<usize>,
    profile: Option<&str>,
    sci_mode: Option<bool>,
) -> PyResult<()> {
    let usual = PrintOptions::default();
    let mut options = match profile {
        None => PrintOptions { scientific: None, ..print_options() },
        Some("default") => usual,
        Some("short") => PrintOptions { precision: 2, edge_items: 2, ..usual },
        Some("full") => PrintOptions { threshold: usize::MAX, ..usual },
        Some(other) => {
            let text = format!("a profile is \"default\", \"short\" or \"full\", got {other:?}");
            return Err(PyValueError::new_err(text));
        }
    };
    options.precision = precision.unwrap_or(options.precision);
    // Infinity stands for all.
    options.threshold = threshold.map_or(options.threshold, |t| t as usize);
    options.edge_items = edgeitems.unwrap_or(options.edge_items);
    options.width = linewidth.unwrap_or(options.width);
    options.scientific = sci_mode.or(options.scientific);
    set_print_options(options);
    Ok(())
}

/// How many threads a launch on the host may use.
///
/// >>> mg.get_num_threads() >= 1
/// True
#[pyfunction]
pub fn get_num_threads() -> usize {
    mg_kernels::cpu::pool::num_threads()
}

/// Sets how many threads a launch on the host may use. Results do not depend on it.
///
/// Arguments:
///     num: how many, at least 1
///
/// Errors: RuntimeError for a number below 1.
///
/// >>> mg.set_num_threads(mg.get_num_threads())
#[pyfunction]
pub fn set_num_threads(num: usize) -> PyResult<()> {
    if num == 0 {
        return Err(PyRuntimeError::new_err("takes a positive number of threads, got 0"));
    }
    mg_kernels::cpu::pool::set_num_threads(num);
    Ok(())
}
