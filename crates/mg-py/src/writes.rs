//! Lines of Python that have written over what graphs have saved, for the errors that tell of it.
//!
//! Only writes to something that somebody else still has are remembered, as code objects and places in them: which line that is, and
//! its text, is looked up when an error wants it. (Lines are found by walking over a function's table of them from its beginning.)

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::error::{shown_line, there};
use mg_autograd::anomaly;
use pyo3::prelude::*;
use pyo3::{ffi, intern};

/// A write: its time in the engine, and who made it: the code, and the byte of it that is executed.
struct Write {
    since: u64,
    code: Py<PyAny>,
    at: Py<PyAny>,
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
    let (code, frame) = unsafe {
        let frame = ffi::PyEval_GetFrame();
        if frame.is_null() {
            return;
        }
        let code = Bound::from_owned_ptr_or_opt(py, ffi::PyFrame_GetCode(frame).cast());
        (code, Borrowed::from_ptr(py, frame.cast()))
    };
    let (Some(code), Ok(at)) = (code, frame.getattr(intern!(py, "f_lasti"))) else { return };
    let mut writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let oldest = if writes.len() >= MOST { writes.pop_front() } else { None };
    writes.push_back(Write { since, code: code.unbind(), at: at.unbind() });
    drop(writes);
    drop(oldest);
}

/// The line that has written over what the error at hand is about, if it is about that and the line is known. What asking for it raises that is no
/// exception of a program's (Ctrl-C) is told instead of the error.
pub fn overwriting_line() -> PyResult<Option<String>> {
    let Some(since) = anomaly::take_stale() else { return Ok(None) };
    Python::attach(|py| {
        let found = {
            let writes = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
            let found = writes.iter().rev().find(|write| write.since == since);
            found.map(|write| (write.code.clone_ref(py), write.at.clone_ref(py)))
        };
        let Some((code, at)) = found else { return Ok(None) };
        there(py, shown(py, code.bind(py), at.bind(py))).map(Option::flatten)
    })
}

/// The line of a code object's byte, as errors show it.
fn shown(py: Python<'_>, code: &Bound<'_, PyAny>, at: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let at: i32 = at.extract()?;
    let name: String = code.getattr("co_filename")?.extract()?;
    for part in code.call_method0("co_lines")?.try_iter()? {
        let (from, to, line): (i32, i32, Option<i32>) = part?.extract()?;
        if (from..to).contains(&at) {
            return line.map(|line| shown_line(py, &name, line)).transpose();
        }
    }
    Ok(None)
}
