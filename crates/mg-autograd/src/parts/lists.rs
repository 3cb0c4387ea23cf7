//! Lists on the host, as long as tensors are: there may be no memory for them.

use mg_device::{Error, ErrorKind, Result};

/// Room for so many.
#[track_caller]
pub(crate) fn room<T>(op: &'static str, n: usize) -> Result<Vec<T>> {
    let mut all = vec![];
    match all.try_reserve_exact(n) {
        Ok(()) => Ok(all),
        Err(_) => Err(Error::new(op, ErrorKind::no_host_memory(n.saturating_mul(size_of::<T>())))),
    }
}

/// So many of one value.
#[track_caller]
pub(crate) fn filled<T: Clone>(op: &'static str, n: usize, value: T) -> Result<Vec<T>> {
    let mut all = room(op, n)?;
    all.resize(n, value);
    Ok(all)
}
