//! Waiting for what another thread has.

use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};

/// Runs what waits.
type Around = fn(&mut dyn FnMut());

static AROUND: OnceLock<Around> = OnceLock::new();

/// Sets what is around every wait of the engine for another thread of the program, once and for all: a language whose threads take turns
/// gives the turn away there. Whoever is waited for may need it, to ask whether to stop ([`set_interrupt`](crate::set_interrupt)) or to
/// run a function that is being recorded. The function calls what it is given, once.
pub fn set_around_waits(around: fn(&mut dyn FnMut())) {
    // A second one would be the same program's.
    let _ = AROUND.set(around);
}

/// Waits, by `wait`, as the program wants it.
#[cold]
#[inline(never)]
pub fn waiting<T>(wait: impl FnOnce() -> T) -> T {
    let Some(around) = AROUND.get() else { return wait() };
    let (mut wait, mut found) = (Some(wait), None);
    around(&mut || found = wait.take().map(|wait| wait()));
    match (found, wait) {
        (Some(found), _) => found,
        (None, Some(wait)) => wait(),
        (None, None) => unreachable!("what was called has answered"),
    }
}

/// Takes a lock under which work is done or waited for. What is behind such locks is replaced whole, so a panic under one leaves it sound.
#[inline]
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => {
            waiting(|| mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[test]
    fn waits_are_told_of_and_others_are_not() {
        static WAITS: AtomicUsize = AtomicUsize::new(0);
        set_around_waits(|wait| {
            WAITS.fetch_add(1, Ordering::SeqCst);
            wait();
        });
        let mutex = Mutex::new(1);
        *locked(&mutex) += 1;
        assert_eq!(WAITS.load(Ordering::SeqCst), 0);
        let (held, is_held) = mpsc::channel();
        std::thread::scope(|scope| {
            let mutex = &mutex;
            scope.spawn(move || {
                let mut guard = locked(mutex);
                held.send(()).expect("the other thread waits");
                // Given back when somebody waits for it.
                while WAITS.load(Ordering::SeqCst) == 0 {
                    std::thread::yield_now();
                }
                *guard += 1;
            });
            is_held.recv().expect("the other thread has the lock");
            assert_eq!(*locked(mutex), 3);
        });
        assert_eq!(WAITS.load(Ordering::SeqCst), 1);
    }
}
