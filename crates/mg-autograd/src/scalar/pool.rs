//! Free memory of the tape: chains of free things that each thread keeps, and a depot that whole chains move through, after
//! Bonwick and Adams, "Magazines and Vmem" (USENIX 2001). The depot's lock is tried, never waited for.

use std::cell::Cell;
use std::ptr;
use std::sync::Mutex;

/// A chain this long moves to the depot as a whole.
const FULL: u32 = 128;

/// Free things, linked through themselves.
pub(super) struct Chain<T> {
    head: *mut T,
    len: u32,
}

impl<T> Clone for Chain<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Chain<T> {}

// SAFETY: what is on a chain is dead memory that the chain alone refers to.
unsafe impl<T> Send for Chain<T> {}

impl<T> Chain<T> {
    const EMPTY: Chain<T> = Chain { head: ptr::null_mut(), len: 0 };
}

/// Full chains, for any thread.
pub(super) type Depot<T> = Mutex<Vec<Chain<T>>>;

/// What can be linked into a [`Chain`].
pub(super) trait Linked: Sized + 'static {
    /// Where the link to the next thing is.
    ///
    /// # Safety
    ///
    /// `this` is dead memory that nobody else refers to.
    unsafe fn link(this: *mut Self) -> *mut *mut Self;

    fn depot() -> &'static Depot<Self>;
}

/// A thread's free things: the chain in use, and one spare so that neither a run of frees nor of uses goes to the depot.
pub(super) struct Cache<T> {
    active: Cell<Chain<T>>,
    spare: Cell<Chain<T>>,
}

impl<T: Linked> Cache<T> {
    pub(super) const fn new() -> Cache<T> {
        Cache { active: Cell::new(Chain::EMPTY), spare: Cell::new(Chain::EMPTY) }
    }

    /// # Safety
    ///
    /// `item` is dead memory that nobody else refers to.
    #[inline(always)]
    pub(super) unsafe fn put(&self, item: *mut T) {
        let mut chain = self.active.get();
        if chain.len >= FULL {
            let spare = self.spare.replace(chain);
            if spare.len > 0 {
                give(spare);
            }
            chain = Chain::EMPTY;
        }
        // SAFETY: the caller gives the item up, so its link is ours to write.
        unsafe { *T::link(item) = chain.head };
        self.active.set(Chain { head: item, len: chain.len + 1 });
    }

    #[inline(always)]
    pub(super) fn take(&self) -> Option<*mut T> {
        let mut chain = self.active.get();
        if chain.len == 0 {
            chain = self.spare.replace(Chain::EMPTY);
            if chain.len == 0 {
                chain = take::<T>()?;
            }
        }
        // SAFETY: what is on the chain is dead memory that the chain alone refers to.
        let next = unsafe { *T::link(chain.head) };
        self.active.set(Chain { head: next, len: chain.len - 1 });
        Some(chain.head)
    }

    /// Moves all to the depot.
    pub(super) fn give_all(&self) {
        for chain in [self.active.replace(Chain::EMPTY), self.spare.replace(Chain::EMPTY)] {
            if chain.len > 0 {
                give(chain);
            }
        }
    }
}

#[cold]
fn give<T: Linked>(chain: Chain<T>) {
    // In a forked child another thread's lock may stay held for ever, so nobody waits here without end. To give up leaks
    // the chain, half a megabyte for pages.
    for _ in 0..10_000 {
        if let Ok(mut depot) = T::depot().try_lock() {
            depot.push(chain);
            return;
        }
        std::thread::yield_now();
    }
}

#[cold]
fn take<T: Linked>() -> Option<Chain<T>> {
    T::depot().try_lock().ok()?.pop()
}
