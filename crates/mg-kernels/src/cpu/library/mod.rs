//! Strided copies, and what kernels that are no programs have in common.

mod copy;
pub(crate) mod scratch;
pub(crate) mod transpose;

pub(in crate::cpu) use copy::backwards;
pub use copy::{copy_strided, fill_zero};

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
