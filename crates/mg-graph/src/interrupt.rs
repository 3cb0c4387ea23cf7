//! Stopping between launches.

use std::sync::atomic::{AtomicPtr, Ordering};

static CHECK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Sets a function that is asked between launches whether to stop: realisations then end with
/// [`ErrorKind::Cancelled`](mg_device::ErrorKind::Cancelled). What was not computed stays pending, unless the plan had
/// overwritten something that it needs. The function is called under the engine's lock and must not compute tensors.
pub fn set_interrupt(check: Option<fn() -> bool>) {
    CHECK.store(check.map_or(std::ptr::null_mut(), |f| f as *mut ()), Ordering::Release);
}

pub(crate) fn is_asked() -> bool {
    let check = CHECK.load(Ordering::Acquire);
    if check.is_null() {
        return false;
    }
    // SAFETY: only `set_interrupt` stores here, and only null or a `fn() -> bool`.
    let check = unsafe { std::mem::transmute::<*mut (), fn() -> bool>(check) };
    check()
}
