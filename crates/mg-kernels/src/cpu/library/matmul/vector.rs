//! Products of a matrix and a vector.
use super::Output;
use super::blocked::{self, Matrices};
use super::entry::Entry;
/// x
pub(super) unsafe fn product<T: Entry>(given: &Matrices<T>, output: Output<'_, T>, threads: bool) {
    unsafe { blocked::product(given, output, threads) }
}
