//! Lines of Python that have written over what graphs have saved, for the errors that tell of it.
//!
//! Only writes to something that somebody else still has are remembered, as code objects and line numbers: no text is made before an
//! error wants it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use mg_autograd::anomaly;
use pyo3::ffi;
use pyo3::prelude::*;

/// A write: its time in the engine, and who made it.
struct Write {
    since: u64,
    code: Py<PyAny>,
    line: i32,
}

static WRITES: Mutex<VecDeque<Write>> = Mutex::new(VecDeque::new());
/// How many are remembered.
const MOST: usize = 4096;

/// Remembers the line that calls, if the call has written over something that somebody has.
#[inline]
pub fn remember(py: Python<'_>) {
    if mg_graph::has_overwritten() {
        remember_line(py);
    }
}

#[cold]
fn remember_line(py: Python<'_>) {
    let since = mg_graph::take_overwritten();
    // SAFETY: the interpreter's lock is held. The frame is borrowed from the interpreter, which runs it, and may be null; its code is
    // a new reference, or null.
    let (code, line) = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return;
        }
        let code = Bound::from_owned_ptr_or_opt(py, ffi::PyFrame_GetCode(frame).cast());
        (code, ffi::PyFrame_GetLineNumber(frame))
    };
    let Some(code) = code else { return };
    let mut writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let oldest = if writes.len() >= MOST { writes.pop_front() } else { None };
    writes.push_back(Write { since, code: code.unbind(), line });
    drop(writes);
    drop(oldest);
}

/// The line that has written over what the error at hand is about, if it is about that and the line is known.
pub fn told() -> Option<String> {
    let since = anomaly::take_stale()?;
    Python::attach(|py| {
        let (code, line) = {
            let writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
            let found = writes.iter().rev().find(|write| write.since == since)?;
            (found.code.clone_ref(py), found.line)
        };
        let name: String = code.bind(py).getattr("co_filename").ok()?.extract().ok()?;
        crate::error::shown_line(py, &name, line).ok()
    })
}
