//! `profile`: what launches take.

use std::collections::BTreeMap;

use mg_autograd::anomaly;
use mg_graph::{TimedLaunch, chrome_trace, profile_start, profile_stop};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::profiles;

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
            dict.set_item("line", Some(&timed.launch.line).filter(|line| !line.is_empty()))?;
            all.append(dict)?;
        }
        Ok(all)
    }

    /// The launches as `chrome://tracing` and Perfetto show them.
    fn chrome_trace(&self) -> String {
        chrome_trace(&self.0)
    }
}

/// Begins to time launches, and to remember the lines of Python that make nodes.
#[pyfunction]
pub fn _profile_start() {
    profiles(true);
    profile_start();
}

/// The lines of Python by the first sequence of the nodes that they made.
struct Lines(BTreeMap<u64, (u64, String)>);

impl Lines {
    fn remembered() -> Lines {
        let mut all = BTreeMap::new();
        for (made, line) in anomaly::lines() {
            // A call within another one that begins where that does was noted first, and stays.
            all.entry(made.start).or_insert((made.end, line));
        }
        Lines(all)
    }

    /// The innermost call that made a node.
    fn of(&self, sequence: u64) -> Option<&str> {
        // Calls within a call end before it does; there are not many that did before the one that is looked for.
        let before = self.0.range(..=sequence).rev().take(4096);
        before.map(|(_, call)| call).find(|(end, _)| sequence < *end).map(|(_, line)| line.as_str())
    }
}

/// Ends it.
#[pyfunction]
pub fn _profile_stop() -> PyProfile {
    let mut launches = profile_stop();
    let lines = Lines::remembered();
    profiles(false);
    for timed in &mut launches {
        // What the engine knows are our own lines. Of what was made before the profile began, it is the line that has it computed.
        let line = lines.of(timed.sequence).or(timed.caller.as_deref());
        timed.launch.line = line.unwrap_or_default().to_owned();
    }
    PyProfile(launches)
}
