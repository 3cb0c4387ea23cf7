//! What one thread does at a time, whether it runs or is replayed.

use crate::replay::note_exclusive;
use crate::wait::locked;
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard};

/// What is done from reading several values to writing what follows from them, as a step of an optimiser: who has it is alone with them.
#[derive(Debug, Default)]
pub struct Exclusive(Mutex<()>);

impl Exclusive {
    /// Waits for all of these, in one order on all threads, and has them until the answer is let go. A step that is being recorded has them in
    /// its replays, too, from the beginning to the end. Whoever has one must not ask for it again.
    pub fn take<'a>(all: impl IntoIterator<Item = &'a Arc<Exclusive>>) -> SmallVec<[MutexGuard<'a, ()>; 2]> {
        let mut all: SmallVec<[&Arc<Exclusive>; 2]> = all.into_iter().collect();
        all.sort_by_key(|exclusive| Arc::as_ptr(exclusive));
        all.dedup_by_key(|exclusive| Arc::as_ptr(exclusive));
        all.iter().for_each(|exclusive| note_exclusive(exclusive));
        all.into_iter().map(|exclusive| locked(&exclusive.0)).collect()
    }
}
