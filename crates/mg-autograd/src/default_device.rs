//! The device of tensors that are made without naming one.

use mg_device::{Device, Error, Result};
use std::cell::Cell;
use std::sync::{PoisonError, RwLock};

/// The default device, once it was asked for.
static DEFAULT_DEVICE: RwLock<Option<Device>> = RwLock::new(None);

/// Makes this the device of tensors that are made without naming one, of data too: `torch.set_default_device`. It is the
/// CPU unless `MG_DEVICE` says otherwise.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn set_default_device(device: Device) -> Result<()> {
    device.check()?;
    *DEFAULT_DEVICE.write().unwrap_or_else(PoisonError::into_inner) = Some(device);
    Ok(())
}

thread_local! {
    static HERE: Cell<Option<Device>> = const { Cell::new(None) };
}

/// Runs `f` with another default device on this thread: tensors that it makes are made there, not made here and moved.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn with_default_device<R>(device: Device, f: impl FnOnce() -> R) -> Result<R> {
    struct Restore(Option<Device>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HERE.set(self.0);
        }
    }
    device.check()?;
    let _restore = Restore(HERE.replace(Some(device)));
    Ok(f())
}

/// Makes another device the default of this thread from now on, or none of its own; answers with the one before. As
/// [`with_default_device`], for those who cannot give a function.
///
/// # Errors
///
/// A device that is not there.
#[track_caller]
pub fn set_default_device_here(device: Option<Device>) -> Result<Option<Device>> {
    if let Some(device) = device {
        device.check()?;
    }
    Ok(HERE.replace(device))
}

/// The device of tensors that are made without naming one; see [`set_default_device`] and [`with_default_device`].
pub fn default_device() -> Device {
    if let Some(here) = HERE.get() {
        return here;
    }
    let known = *DEFAULT_DEVICE.read().unwrap_or_else(PoisonError::into_inner);
    known.unwrap_or_else(|| {
        // A device that is not there stays the default: whoever uses it is told.
        let named =
            match std::env::var("MG_DEVICE").ok().filter(|name| !name.is_empty()).map(|name| name.parse()) {
                Some(Ok(device)) => device,
                Some(Err(error)) => {
                    // Nobody is there to take an error, and on another device than was asked for everything looks right.
                    let error: Error = error;
                    eprintln!("MG_DEVICE: {}; the CPU is used", error.kind());
                    Device::cpu()
                }
                None => Device::cpu(),
            };
        *DEFAULT_DEVICE.write().unwrap_or_else(PoisonError::into_inner) = Some(named);
        named
    })
}
