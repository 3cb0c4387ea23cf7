//! Memory that a launch takes for its own time. How much that is follows from what people ask for, and it may be more than there is. Kernels
//! are deep and run by many threads, so a launch that lacks memory is left at once, for where it was asked for: [`or_missing`].

use mg_device::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What a launch is left with: so many bytes are not to be had.
struct Missing {
    bytes: usize,
}

/// Leaves the launch that needs so many bytes, without a word: it is no mistake of ours that a hook for panics should tell.
#[cold]
pub(crate) fn missing(bytes: usize) -> ! {
    resume_unwind(Box::new(Missing { bytes }))
}

/// Runs launches, and says what they lacked. What they have written is undefined then.
///
/// # Errors
///
/// [`ErrorKind::OutOfMemory`].
pub fn or_missing<R>(launches: impl FnOnce() -> R) -> Result<R, ErrorKind> {
    // What a launch leaves behind is memory that it would have written, and scratch that the next one sizes anew.
    catch_unwind(AssertUnwindSafe(launches)).map_err(|payload| match payload.downcast::<Missing>() {
        Ok(missing) => ErrorKind::no_host_memory(missing.bytes),
        Err(other) => resume_unwind(other),
    })
}

/// Room for so many elements.
pub(crate) fn room<T>(n: usize) -> Vec<T> {
    let mut all = vec![];
    reserve(&mut all, n);
    all
}

/// So many elements.
pub(crate) fn filled<T: Clone>(n: usize, value: T) -> Vec<T> {
    let mut all = vec![];
    fit(&mut all, n, value);
    all
}

/// What an iterator gives that knows how much that is.
pub(crate) fn collected<T>(from: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut all = room(from.len());
    all.extend(from);
    all
}

/// Makes it so many elements, new ones with this value.
pub(crate) fn fit<T: Clone>(all: &mut Vec<T>, n: usize, value: T) {
    reserve(all, n.saturating_sub(all.len()));
    all.resize(n, value);
}

/// Words that hold so many elements of a size.
pub(crate) fn words(n: usize, size: usize) -> usize {
    n.saturating_mul(size).div_ceil(size_of::<u64>())
}

fn reserve<T>(all: &mut Vec<T>, more: usize) {
    if all.try_reserve_exact(more).is_err() {
        missing(more.saturating_mul(size_of::<T>()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::pool::parallel;

    fn lacks(f: impl Fn()) -> bool {
        matches!(or_missing(f), Err(ErrorKind::OutOfMemory { .. }))
    }

    #[test]
    fn a_launch_is_left_where_memory_is_missing() {
        assert!(lacks(|| drop(filled(usize::MAX / 2, 0u64))));
        assert!(lacks(|| drop(room::<u8>(usize::MAX / 2 + 1))));
        assert_eq!(or_missing(|| filled(3, 7)), Ok(vec![7, 7, 7]));
    }

    #[test]
    fn threads_leave_with_it_and_stay() {
        for _ in 0..50 {
            assert!(lacks(|| parallel(64, &|i| drop(filled(if i == 40 { usize::MAX / 2 } else { i }, 0u8)))));
        }
        let count = std::sync::atomic::AtomicUsize::new(0);
        let run = || {
            parallel(64, &|_| {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })
        };
        assert_eq!(or_missing(run), Ok(()));
        assert_eq!(count.into_inner(), 64);
    }

    #[test]
    #[should_panic = "another reason"]
    fn other_panics_go_on() {
        let _ = or_missing(|| parallel(64, &|i| assert!(i != 30, "another reason")));
    }
}
