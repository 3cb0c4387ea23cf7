//! The boundary between the library and who calls it: whatever an operation is composed of, its errors carry its own name
//! and the caller's line, and so do the nodes that it makes.

use mg_device::{Error, Result};
use std::panic::Location;

/// Runs the body of a public operation. Within other operations, the outermost one gives name and line.
#[track_caller]
pub(crate) fn public<T>(op: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let line = Location::caller();
    let _at = mg_graph::within(op, line);
    body().map_err(|error| with_context(error, op, line))
}

/// Gives an error the name of a public operation and the caller's line. Not for the failure of a node that was made
/// before: that one knows its own line.
#[track_caller]
pub(crate) fn named(op: &'static str) -> impl Fn(Error) -> Error {
    let line = Location::caller();
    move |error| with_context(error, op, line)
}

/// Apart, as every operation has these.
#[cold]
#[inline(never)]
fn with_context(error: Error, op: &'static str, line: &'static Location<'static>) -> Error {
    error.with_op(op).with_location(line)
}
