//! Objects of Python's that memory lies in, as the engine keeps them: whoever lets go of the memory last lets go of them, with the interpreter's
//! lock or without it.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::ffi;
use pyo3::prelude::*;

/// Keeps an object alive. What PyO3 believes of the interpreter's lock does not matter to it: another library that was called with the lock may
/// have let it go before it calls the deleter of what it has from us.
pub struct Keeper(ManuallyDrop<Py<PyAny>>);

impl Keeper {
    pub fn new(object: Py<PyAny>) -> Keeper {
        Keeper(ManuallyDrop::new(object))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // SAFETY: asked of any thread at any time.
        if unsafe { ffi::Py_IsInitialized() } == 0 {
            // The interpreter goes, and its objects with it.
            return;
        }
        // SAFETY: taken once, here.
        let object = unsafe { ManuallyDrop::take(&mut self.0) };
        if is_attached() {
            // SAFETY: the thread holds the interpreter's lock, and gives back the reference that it had.
            unsafe { ffi::Py_DECREF(object.into_ptr()) };
            return;
        }
        // Not by taking the lock: who has it may wait for one of the engine's, which this thread may hold.
        left().push(object);
        if !IS_ASKED.swap(true, Ordering::SeqCst) {
            // SAFETY: needs no lock; the function lives for ever.
            let full = unsafe { ffi::Py_AddPendingCall(Some(let_go_of_left), std::ptr::null_mut()) } != 0;
            if full {
                // The next one asks again.
                IS_ASKED.store(false, Ordering::SeqCst);
            }
        }
    }
}

/// What was let go by threads without the interpreter's lock.
static LEFT: Mutex<Vec<Py<PyAny>>> = Mutex::new(Vec::new());
/// Whether the main thread was asked to let go of it.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

fn left() -> MutexGuard<'static, Vec<Py<PyAny>>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called by the main thread between what else it does, with the lock.
extern "C" fn let_go_of_left(_: *mut c_void) -> c_int {
    IS_ASKED.store(false, Ordering::SeqCst);
    let all = std::mem::take(&mut *left());
    for object in all {
        // SAFETY: the thread holds the interpreter's lock; the reference was the keeper's.
        unsafe { ffi::Py_DECREF(object.into_ptr()) };
    }
    0
}

/// Lets go of what threads without the lock have left: after what was computed without it, when the memory is to be given back.
#[inline]
pub fn let_go(_: Python<'_>) {
    if IS_ASKED.load(Ordering::Relaxed) {
        let_go_of_left(std::ptr::null_mut());
    }
}

/// Whether this thread holds the interpreter's lock, as far as Python itself says so; where it does not say, it does not.
fn is_attached() -> bool {
    // SAFETY: answers any thread, while the interpreter lives. What Python says by the other function where there are several interpreters is
    // that every thread has the lock; this one has no dictionary without it.
    python_says() && unsafe { !ffi::PyThreadState_GetDict().is_null() }
}

#[cfg(unix)]
fn python_says() -> bool {
    use std::sync::OnceLock;
    type Check = unsafe extern "C" fn() -> c_int;
    static CHECK: OnceLock<Option<Check>> = OnceLock::new();
    // Every CPython has it, but it is no part of the stable interface, which the wheel is linked with.
    let check = CHECK.get_or_init(|| {
        // SAFETY: a name that ends with 0.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"PyGILState_Check".as_ptr()) };
        // SAFETY: null is none, and what Python has of that name is of this type.
        unsafe { std::mem::transmute::<*mut c_void, Option<Check>>(found) }
    });
    // SAFETY: answers any thread.
    check.is_some_and(|check| unsafe { check() } != 0)
}

#[cfg(not(unix))]
fn python_says() -> bool {
    false
}
