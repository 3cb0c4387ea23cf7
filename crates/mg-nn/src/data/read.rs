//! What readers of files have in common: a file's bytes, and errors that name it.

use std::fs;
use std::path::Path;

use mg_device::{Error, ErrorKind, Result};

/// What a reader makes of a file, or what is wrong with that, before it is known on whose line.
pub(super) type Read<T> = std::result::Result<T, ErrorKind>;

/// A file's name, as errors tell it, and its bytes.
pub(super) fn contents(path: &Path) -> Read<(String, Vec<u8>)> {
    let name = path.display().to_string();
    match fs::read(path) {
        Ok(bytes) => Ok((name, bytes)),
        Err(e) => Err(ErrorKind::Io(format!("cannot read {name}: {e}"))),
    }
}

/// What was read, or the error of an operation on its caller's line.
#[track_caller]
pub(super) fn told<T>(op: &'static str, read: Read<T>) -> Result<T> {
    match read {
        Ok(made) => Ok(made),
        Err(kind) => Err(Error::new(op, kind)),
    }
}
