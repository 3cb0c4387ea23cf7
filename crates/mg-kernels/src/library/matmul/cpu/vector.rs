//! Products of a matrix and a vector.

use super::Output;
use super::blocked::{self, Matrices};
use super::entry::Entry;

/// One product, by the same blocks as any other.
///
/// Safety: as [`blocked::product`].
pub(super) unsafe fn product<T: Entry>(given: &Matrices<T>, output: Output<'_, T>, threads: bool) {
    // SAFETY: this function's contract.
    unsafe { blocked::product(given, output, threads) }
}
