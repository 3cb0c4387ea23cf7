//! Strided copies, and what kernels that are no programs have in common.

mod copy;
pub mod indices;
pub(crate) mod scratch;
pub(crate) mod softmax;
pub(crate) mod transpose;

pub(in crate::cpu) use copy::backwards;
pub use copy::{copy_strided, fill_zero};

use super::pool::{num_threads, parallel};
use std::ops::Range;

/// Addresses that tasks on several threads use.
#[derive(Clone, Copy)]
pub(crate) struct Shared<T>(pub(crate) T);

// SAFETY: the callers of the kernels vouch that their addresses may be used from any thread for the call, and tasks
// write disjoint ranges.
unsafe impl<T> Sync for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Send for Shared<T> {}

impl<T: Copy> Shared<T> {
    /// The addresses. A method, so that closures capture the whole.
    pub(crate) fn get(&self) -> T {
        self.0
    }
}

/// Calls `run` with parts of `0..n`, up to 64 of them, on all threads where there is `much` to do.
pub(crate) fn in_ranges(n: usize, much: bool, run: &(dyn Fn(Range<usize>) + Sync)) {
    if !much || num_threads() == 1 {
        return run(0..n);
    }
    let chunk = n.div_ceil(64);
    parallel(n.div_ceil(chunk), &|task| run(task * chunk..((task + 1) * chunk).min(n)));
}

/// Multiplications from which threads share work on several matrices.
#[cfg(feature = "linalg")]
const PARALLEL: usize = 1 << 15;
/// Multiplications of a task: small matrices are done many at a time.
#[cfg(feature = "linalg")]
const TASK: usize = 1 << 13;

/// Calls `one` with every number below `count`, each of which takes so many multiplications, on all threads where that is worth it.
#[cfg(feature = "linalg")]
pub(crate) fn each_of(count: usize, work: usize, one: &(dyn Fn(usize) + Sync)) {
    if count < 2 || count * work < PARALLEL {
        return (0..count).for_each(one);
    }
    let together = (TASK / work.max(1)).max(1);
    parallel(count.div_ceil(together), &|task| {
        (task * together..count.min((task + 1) * together)).for_each(one);
    });
}
