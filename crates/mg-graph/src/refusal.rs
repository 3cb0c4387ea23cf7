//! Plans that do all or nothing on a CUDA device. What a check refuses there is known to the host only when it waits, long after
//! all was launched. So the device asks: after the last launch with checks a flag is set to whether one of them has refused
//! something; launches that overwrite memory of before look at it first; and what was replaced by something in other memory is
//! copied there from where it was.

use crate::node::Value;
use mg_device::cuda::{Gpu, Origin};
use mg_device::{Device, Error, ErrorKind, Result};
use mg_kernels::cuda::{Restored, gather_refusals, restore_refused};
use std::ops::Range;
use std::panic::Location;

/// What a run of plans knows of the checks of its launches.
pub(crate) struct Refusal {
    /// Somebody is there whose memory must stay as it was.
    pub(crate) matters: bool,
    /// The device whose flag says whether a check so far has refused something.
    gathered: Option<Device>,
}

/// Whose launch it is.
fn origin() -> Origin {
    Origin { name: "realize", line: Location::caller() }
}

/// The addresses of a device's flag.
fn flag(gpu: &Gpu) -> Range<u64> {
    gpu.refusal()..gpu.refusal() + 4
}

fn span(value: &Value) -> Range<u64> {
    let from = value.buffer.address() + (value.layout.offset() * value.buffer.dtype().size()) as u64;
    from..from + (value.layout.numel() * value.buffer.dtype().size()) as u64
}

impl Refusal {
    pub(crate) fn new(matters: bool) -> Refusal {
        Refusal { matters, gathered: None }
    }

    /// Whether checks were made that the flag tells of.
    pub(crate) fn is_gathered(&self) -> bool {
        self.gathered.is_some()
    }

    /// The device with the flag that a launch looks at which overwrites memory of before on this device; nothing where no check was made.
    pub(crate) fn gate(&self, device: Device) -> Result<Option<&'static Gpu>> {
        match self.gathered {
            Some(gathered) if gathered == device => Gpu::of(device).map(Some),
            Some(_) | None => Ok(None),
        }
    }

    /// Has the flag set by what the launches so far have refused.
    pub(crate) fn gather(&mut self, device: Device) -> Result<()> {
        let gpu = Gpu::of(device)?;
        let places = gpu.noted_guards();
        if !self.matters {
            return Ok(());
        }
        gpu.bind()?;
        if gpu.is_collecting() {
            gpu.collects_work(vec![], vec![flag(gpu)]);
        }
        gather_refusals(gpu, &places, self.gathered == Some(device), origin())?;
        self.gathered = Some(device);
        Ok(())
    }

    /// What a launch with checks reads besides its operands: whoever sets the flag waits for it.
    pub(crate) fn of_checks(gpu: &Gpu) -> Range<u64> {
        flag(gpu)
    }

    /// Has these values replaced by what was there before where something was refused: `(old, new)`, of the same elements.
    pub(crate) fn restore(&self, replaced: &[(&Value, &Value)]) -> Result<()> {
        let Some(device) = self.gathered else { return Ok(()) };
        let here = |value: &Value| value.buffer.device() == device && value.layout.is_contiguous();
        let fits = |(old, new): &&(&Value, &Value)| {
            here(old)
                && here(new)
                && old.buffer.dtype() == new.buffer.dtype()
                && old.layout.numel() == new.layout.numel()
                // What was taken over is as it was, or is another tensor's, which comes first.
                && !replaced.iter().any(|(old, _)| old.buffer.ptr_eq(&new.buffer))
        };
        let all: Vec<_> = replaced.iter().filter(fits).collect();
        if all.is_empty() {
            return Ok(());
        }
        let gpu = Gpu::of(device)?;
        gpu.bind()?;
        if gpu.is_collecting() {
            let olds = all.iter().map(|(old, _)| span(old)).chain([flag(gpu)]).collect();
            gpu.collects_work(olds, all.iter().map(|(_, new)| span(new)).collect());
        }
        let entry = |(old, new): &&(&Value, &Value)| -> Restored {
            let from = span(old);
            (from.start, span(new).start, (from.end - from.start) as usize)
        };
        let entries: Vec<Restored> = all.iter().map(entry).collect();
        // SAFETY: both lie densely on this device and have as many bytes; whoever calls keeps them alive until they were
        // launched, and their memory is used in the stream's order.
        unsafe { restore_refused(gpu, &entries, origin()) }
    }
}

/// An error of a machine, not of what a person asked for.
pub(crate) fn is_machines(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::OutOfMemory { .. } | ErrorKind::Cuda(_) | ErrorKind::Device(_))
}
