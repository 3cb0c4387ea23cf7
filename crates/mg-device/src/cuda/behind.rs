//! PTX that is assembled while other work goes on.
//!
//! A driver takes up to a second for one text. Who can do without its kernel for as long, with others that take longer to run, has it assembled here,
//! asks now and then whether it is there, and loads it then ([`Gpu::load`]).
//!
//! When the process ends, what has not begun is let go of, and what has is waited for: the driver's assembler is not to be taken apart while a thread
//! is in it.

use super::gpu::{Gpu, is_forked};
use crate::{Device, Result};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;

/// Threads that assemble, at most; and at most half of the processors: what goes on meanwhile has the others.
const THREADS: usize = 8;
/// Bytes of their stacks: as many as a process's first thread has.
const STACK: usize = 8 << 20;

/// The least that the assembler is asked for.
const NOTHING: &str = "\
.version 8.0
.target sm_75
.address_size 64
.visible .entry k() { ret; }
";

/// A text that is assembled, or waits for it.
#[derive(Debug, Default)]
pub struct Behind(AtomicBool);

impl Behind {
    /// Whether nobody waits who loads it: it was assembled, or whoever loads it is told why it was not.
    pub fn is_over(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

struct Job {
    gpu: &'static Gpu,
    text: Arc<str>,
    told: Arc<Behind>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Job>,
    /// What a thread is in the middle of.
    running: Vec<(Device, Arc<str>)>,
    /// Threads that will look for another text.
    working: usize,
    /// Those, and others that have not ended when that was last looked at.
    threads: Vec<JoinHandle<()>>,
    /// The process ends.
    is_closed: bool,
}

static QUEUE: Mutex<Option<Queue>> = Mutex::new(None);
/// Told when a text is over.
static OVER: Condvar = Condvar::new();

fn queue() -> MutexGuard<'static, Option<Queue>> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the waiting for a text that a thread assembles right now, and takes one from the queue that none has begun: who asks will do that.
pub(super) fn settle(device: Device, text: &str) {
    let is_this = |on: Device, other: &str| on == device && other == text;
    let mut queue = queue();
    while let Some(all) = &mut *queue {
        if let Some(at) = all.waiting.iter().position(|job| is_this(job.gpu.device(), &job.text)) {
            all.waiting.remove(at).into_iter().for_each(|job| job.told.0.store(true, Ordering::Release));
        }
        if !all.running.iter().any(|(on, other)| is_this(*on, other)) {
            return;
        }
        queue = OVER.wait(queue).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Gpu {
    /// Has a text assembled behind what goes on.
    pub fn assemble_behind(&self, text: Arc<str>) -> Arc<Behind> {
        static BEGUN: Once = Once::new();
        // The driver brings its assembler with the first text; of what both do when the process ends, the later one's is done first.
        BEGUN.call_once(|| {
            let _ = self.module_beside(NOTHING);
            // SAFETY: the handler is a function without arguments that does not unwind. Where there is no room for it, the process ends without.
            unsafe { atexit(close) };
        });
        let told = Arc::new(Behind::default());
        let Ok(gpu) = Gpu::of(self.device()) else {
            told.0.store(true, Ordering::Release);
            return told;
        };
        let mut queue = queue();
        let all = queue.get_or_insert_default();
        all.waiting.push_back(Job { gpu, text, told: told.clone() });
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        all.threads.retain(|thread| !thread.is_finished());
        if all.working < (processors / 2).clamp(1, THREADS) && !all.is_closed {
            let thread = std::thread::Builder::new().name("mg-assembler".into()).stack_size(STACK);
            if let Ok(thread) = thread.spawn(work) {
                all.working += 1;
                all.threads.push(thread);
            }
        }
        // With nobody to assemble it, and at the process's end, who needs a text loads it.
        if all.working == 0 || all.is_closed {
            let_go(all);
        }
        told
    }
}

/// Lets go of what has not begun.
fn let_go(queue: &mut Queue) {
    queue.waiting.drain(..).for_each(|job| job.told.0.store(true, Ordering::Release));
}

/// A text that this thread has begun; over when dropped.
struct Begun(Job);

impl Drop for Begun {
    fn drop(&mut self) {
        let Job { gpu, text, told } = &self.0;
        if let Some(all) = &mut *queue() {
            all.running.retain(|(on, other)| !(*on == gpu.device() && Arc::ptr_eq(other, text)));
        }
        told.0.store(true, Ordering::Release);
        OVER.notify_all();
    }
}

fn work() {
    while let Some(Begun(job)) = &next() {
        // What fails fails again where it is loaded, and is told there.
        let _: Result<()> = job.gpu.assemble_one(&job.text);
    }
}

/// The next text; without one, this thread ends.
fn next() -> Option<Begun> {
    let mut queue = queue();
    let all = queue.as_mut()?;
    let Some(job) = all.waiting.pop_front() else {
        all.working -= 1;
        return None;
    };
    all.running.push((job.gpu.device(), job.text.clone()));
    Some(Begun(job))
}

unsafe extern "C" {
    /// C, 7.22.4.2.
    fn atexit(handler: extern "C" fn()) -> c_int;
}

/// What a process does when it ends.
extern "C" fn close() {
    // A child has none of the threads.
    if is_forked() {
        return;
    }
    let threads = queue().as_mut().map(|all| {
        all.is_closed = true;
        let_go(all);
        std::mem::take(&mut all.threads)
    });
    // A thread that has ended has left what the driver keeps for threads too.
    threads.into_iter().flatten().for_each(|thread| drop(thread.join()));
}
