//! The threads of the CPU executor.
//!
//! A launch lasts microseconds, so waking a sleeping thread for each would cost as much as it gains: workers spin for a
//! moment after a job before they sleep, and the calling thread works too. Which thread takes which task is left to
//! chance; nothing that is computed depends on it.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// How long a worker looks for the next job before it sleeps.
const SPIN: Duration = Duration::from_micros(60);
/// Set in [`Shared::state`] while workers may join the job.
const OPEN: u64 = 1 << 31;
/// One job later.
const EPOCH: u64 = 1 << 32;
/// The workers inside the job.
const ACTIVE: u64 = OPEN - 1;

#[derive(Clone, Copy)]
struct Job {
    run: *const (dyn Fn(usize) + Sync),
    tasks: usize,
}

struct Shared {
    /// Epoch of the job (high half), whether it is open, how many workers are inside.
    state: AtomicU64,
    next: AtomicUsize,
    job: UnsafeCell<Option<Job>>,
    /// What a task of the job was left with; the job's caller goes on with it.
    left: Mutex<Option<Box<dyn Any + Send>>>,
    sleepers: Mutex<usize>,
    wake: Condvar,
}

// SAFETY: `job` is written only while the job is closed and no worker is inside (`state`), and read only by workers that
// joined an open job; the closure it points to is `Sync` and outlives the job because `Pool::run` waits for them.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

struct Pool {
    shared: Arc<Shared>,
    /// Held while a job runs; a second caller computes alone meanwhile.
    submit: Mutex<()>,
    workers: usize,
    process: u32,
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

fn default_threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    *DEFAULT.get_or_init(|| {
        let asked =
            std::env::var("MG_NUM_THREADS").ok().and_then(|v| v.parse::<usize>().ok()).filter(|&n| n > 0);
        asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
    })
}

static THREADS: AtomicUsize = AtomicUsize::new(0);
static POOL: RwLock<Option<Arc<Pool>>> = RwLock::new(None);

/// The number of threads that a launch may use, the calling one included: the number of processors, or
/// `MG_NUM_THREADS`, or what [`set_num_threads`] said.
pub fn num_threads() -> usize {
    match THREADS.load(Ordering::Relaxed) {
        0 => default_threads(),
        n => n,
    }
}

/// Sets the number of threads that a launch may use, at least 1. Results do not depend on it.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.clamp(1, 1024), Ordering::Relaxed);
}

fn pool(workers: usize) -> Option<Arc<Pool>> {
    let process = std::process::id();
    let fits = |p: &Arc<Pool>| p.workers == workers && p.process == process;
    if let Some(found) = POOL.read().ok()?.as_ref().filter(|p| fits(p)) {
        return Some(found.clone());
    }
    let mut slot = POOL.write().ok()?;
    if let Some(found) = slot.as_ref().filter(|p| fits(p)) {
        return Some(found.clone());
    }
    // A forked child has none of its parent's threads: it leaks the parent's pool and builds its own.
    if let Some(old) = slot.take()
        && old.process != process
    {
        std::mem::forget(old);
    }
    let made = Arc::new(Pool::new(workers, process));
    *slot = Some(made.clone());
    Some(made)
}

/// Part `i` of `parts` nearly equal parts of `n`.
pub(crate) fn part(i: usize, parts: usize, n: usize) -> std::ops::Range<usize> {
    i * n / parts..(i + 1) * n / parts
}

/// Calls `run` with every number below `tasks`, on all threads, and returns when all calls have returned.
pub fn parallel(tasks: usize, run: &(dyn Fn(usize) + Sync)) {
    let workers = num_threads().min(tasks).saturating_sub(1);
    let alone = workers == 0 || INSIDE.get();
    if !alone
        && let Some(pool) = pool(num_threads() - 1)
        && let Ok(held) = pool.submit.try_lock()
    {
        let left = pool.run(tasks, run);
        drop(held);
        return left.map_or((), |payload| resume_unwind(payload));
    }
    for task in 0..tasks {
        run(task);
    }
}

impl Pool {
    fn new(workers: usize, process: u32) -> Pool {
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            next: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            left: Mutex::new(None),
            sleepers: Mutex::new(0),
            wake: Condvar::new(),
        });
        for i in 0..workers {
            let weak = Arc::downgrade(&shared);
            // A thread that cannot be had leaves its share to the others.
            let _ = std::thread::Builder::new().name(format!("mg-worker-{i}")).spawn(move || {
                INSIDE.set(true);
                let mut seen = 0;
                while let Some(shared) = weak.upgrade() {
                    shared.work(&mut seen);
                }
            });
        }
        Pool { shared, submit: Mutex::new(()), workers, process }
    }

    /// Runs a job, and answers with what its first task was left with that was left: others are not begun then.
    fn run(&self, tasks: usize, run: &(dyn Fn(usize) + Sync)) -> Option<Box<dyn Any + Send>> {
        let shared = &*self.shared;
        // SAFETY: the lifetime is erased, but the pointer is used only by workers inside this job, and this function
        // does not return (or unwind: `Close` waits too) before they have left.
        let run_erased = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync + 'static)>(
                run,
            )
        };
        // SAFETY: the job is closed and empty: `submit` is held, and the last holder waited for its workers.
        unsafe { *shared.job.get() = Some(Job { run: run_erased, tasks }) };
        shared.next.store(0, Ordering::Relaxed);
        let epoch = shared.state.load(Ordering::Relaxed) & !(EPOCH - 1);
        shared.state.store(epoch.wrapping_add(EPOCH) | OPEN, Ordering::SeqCst);
        let sleeping = shared.sleepers.lock().map(|n| *n).unwrap_or(0);
        if sleeping > 0 {
            shared.wake.notify_all();
        }
        struct Close<'a>(&'a Shared);
        impl Drop for Close<'_> {
            fn drop(&mut self) {
                self.0.next.store(usize::MAX / 2, Ordering::Relaxed);
                self.0.state.fetch_and(!OPEN, Ordering::AcqRel);
                while self.0.state.load(Ordering::Acquire) & ACTIVE != 0 {
                    std::hint::spin_loop();
                }
            }
        }
        let close = Close(shared);
        INSIDE.set(true);
        shared.tasks(tasks, run);
        INSIDE.set(false);
        drop(close);
        shared.left.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Workers hold weak references while they look for work: they see that this was the last strong one.
        self.shared.wake.notify_all();
    }
}

impl Shared {
    /// Joins the next job, or sleeps for a while. `seen` is the epoch of the last job joined.
    fn work(&self, seen: &mut u64) {
        let started = Instant::now();
        let mut looks = 0u32;
        loop {
            let state = self.state.load(Ordering::Acquire);
            let epoch = state / EPOCH;
            if state & OPEN != 0 && epoch != *seen {
                if self.state.compare_exchange(state, state + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
                {
                    *seen = epoch;
                    self.help();
                    self.state.fetch_sub(1, Ordering::Release);
                    return;
                }
                continue;
            }
            std::hint::spin_loop();
            looks += 1;
            if looks.is_multiple_of(64) && started.elapsed() > SPIN {
                break;
            }
        }
        if let Ok(mut sleepers) = self.sleepers.lock() {
            *sleepers += 1;
            let state = self.state.load(Ordering::SeqCst);
            if !(state & OPEN != 0 && state / EPOCH != *seen) {
                // Bounded, so that a dropped pool is noticed.
                if let Ok((guard, _)) = self.wake.wait_timeout(sleepers, Duration::from_secs(1)) {
                    sleepers = guard;
                } else {
                    return;
                }
            }
            *sleepers -= 1;
        }
    }

    fn help(&self) {
        // SAFETY: this worker joined an open job, so the job is set and stays until the worker has left.
        let Some(job) = (unsafe { *self.job.get() }) else { return };
        // SAFETY: as above; the closure is `Sync`.
        self.tasks(job.tasks, unsafe { &*job.run });
    }

    /// Takes tasks until there are none. One that is left half-way is the last: whoever waits for this thread must not wait for ever.
    fn tasks(&self, tasks: usize, run: &(dyn Fn(usize) + Sync)) {
        let all = || {
            loop {
                let task = self.next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks {
                    return;
                }
                run(task);
            }
        };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(all)) {
            self.next.store(usize::MAX / 2, Ordering::Relaxed);
            self.left.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_once() {
        for tasks in [0, 1, 2, 3, 100, 1000] {
            let counts: Vec<AtomicUsize> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
            parallel(tasks, &|i| {
                counts[i].fetch_add(1, Ordering::Relaxed);
            });
            assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn callers_on_many_threads_all_finish() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let sum = AtomicUsize::new(0);
                        parallel(10, &|i| {
                            sum.fetch_add(i, Ordering::Relaxed);
                        });
                        assert_eq!(sum.load(Ordering::Relaxed), 45);
                    }
                });
            }
        });
    }
}
