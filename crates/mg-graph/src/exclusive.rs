//! What one thread does at a time, whether it runs or is replayed.

use crate::replay::note_exclusive;
use crate::wait::locked;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard};

/// What is done from reading several values to writing what follows from them, as a step of an optimiser: who has it is alone with them.
#[derive(Debug, Default)]
pub struct Exclusive(Mutex<()>);

thread_local! {
    /// The addresses of those that this thread has.
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(vec![]) };
}

/// Has what is exclusive until it is let go.
pub struct Alone<'a>(SmallVec<[(usize, MutexGuard<'a, ()>); 2]>);

impl Exclusive {
    /// Waits for all of these, in one order on all threads, and has them until the answer is let go; what this thread has already it keeps. A step that
    /// is being recorded has them in its replays, too, from the beginning to the end. Who has some and asks for others does not keep that order, and
    /// must know that nobody waits the other way round.
    pub fn take<'a>(all: impl IntoIterator<Item = &'a Arc<Exclusive>>) -> Alone<'a> {
        let mut all: SmallVec<[&Arc<Exclusive>; 2]> = all.into_iter().collect();
        all.sort_by_key(|exclusive| Arc::as_ptr(exclusive));
        let mut alone = Alone(SmallVec::new());
        for exclusive in all {
            note_exclusive(exclusive);
            let at = Arc::as_ptr(exclusive).addr();
            if HELD.with_borrow(|held| held.contains(&at)) {
                continue;
            }
            alone.0.push((at, locked(&exclusive.0)));
            HELD.with_borrow_mut(|held| held.push(at));
        }
        alone
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| held.retain(|at| !self.0.iter().any(|(taken, _)| taken == at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_it_may_ask_again_and_others_wait() {
        let (one, two) = (Arc::new(Exclusive::default()), Arc::new(Exclusive::default()));
        let both = Exclusive::take([&two, &one, &two]);
        drop(Exclusive::take([&one]));
        let is_free = |exclusive: &Arc<Exclusive>| {
            std::thread::scope(|scope| {
                scope.spawn(|| exclusive.0.try_lock().is_ok()).join().expect("a thread that asks")
            })
        };
        assert!(!is_free(&one) && !is_free(&two));
        drop(both);
        assert!(is_free(&one) && is_free(&two));
    }
}
