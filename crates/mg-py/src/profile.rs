//! `profile`: what launches take.

use mg_graph::{TimedLaunch, chrome_trace, profile_start, profile_stop};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Launches that were timed.
#[pyclass(frozen, name = "_Profile", module = "micrograd_rs")]
pub struct PyProfile(Vec<TimedLaunch>);

#[pymethods]
impl PyProfile {
    /// The launches in order: times in seconds.
    #[getter]
    fn launches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for timed in &self.0 {
            let dict = PyDict::new(py);
            dict.set_item("operation", timed.operation)?;
            dict.set_item("kind", &timed.launch.kind)?;
            dict.set_item("device", timed.device.to_string())?;
            dict.set_item("start", timed.start.as_secs_f64())?;
            dict.set_item("duration", timed.duration.as_secs_f64())?;
            dict.set_item("shape", crate::size::size(py, timed.launch.shape.iter().copied())?)?;
            dict.set_item("operations", &timed.launch.operations)?;
            dict.set_item("bytes_read", timed.launch.bytes_read)?;
            dict.set_item("bytes_written", timed.launch.bytes_written)?;
            dict.set_item("flops", timed.launch.flops)?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// The launches as `chrome://tracing` and Perfetto show them.
    fn chrome_trace(&self) -> String {
        chrome_trace(&self.0)
    }
}

/// Begins to time launches.
#[pyfunction]
pub fn _profile_start() {
    profile_start();
}

/// Ends it.
#[pyfunction]
pub fn _profile_stop() -> PyProfile {
    let mut launches = profile_stop();
    // They are our own lines, not the user's.
    launches.iter_mut().for_each(|timed| timed.launch.line.clear());
    PyProfile(launches)
}
