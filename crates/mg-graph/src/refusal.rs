//! Plans that do all or nothing on a CUDA device. What a check refuses there is known to the host only when it waits, long after
//! all was launched. So the device asks: after the last launch with checks a word is set whose bits say which of them have
//! refused something; launches that overwrite memory of before, and depend on those, look at it first; and what was replaced by something in other memory is
//! copied there from where it was.

use crate::node::{Value, WeakNode};
use mg_device::cuda::{Gpu, Origin, on_look};
use mg_device::{Device, Error, ErrorKind, Result};
use mg_kernels::cuda::{Restored, gather_refusals, restore_refused};
use mg_kernels::library::lies_innermost;
use std::collections::HashSet;
use std::ops::Range;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// What a run of plans knows of the checks of its launches.
pub(crate) struct Refusal {
    /// Somebody is there whose memory must stay as it was.
    pub(crate) matters: bool,
    /// All that is replaced stays as it was, whichever check refuses something; else what depends on that.
    whole: bool,
    /// Where checks say what they find, and their bits.
    places: Vec<(u64, u64)>,
    /// All of those so far.
    noted: Vec<(u64, u64)>,
    /// The device whose word says which checks so far have refused something.
    gathered: Option<Device>,
}

/// What a [`Refusal`] has launches ask.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    matters: bool,
    whole: bool,
    gathered: Option<Device>,
}

/// What is replaced, by what, and the bits of the checks that may refuse it.
pub(crate) struct Pair<'a> {
    pub(crate) old: &'a Value,
    pub(crate) new: &'a Value,
    pub(crate) depends: u64,
}

/// Whose launch it is.
fn origin() -> Origin {
    Origin { name: "realize", line: Location::caller() }
}

/// The addresses of a device's word.
fn flag(gpu: &Gpu) -> Range<u64> {
    gpu.refusal()..gpu.refusal() + 8
}

fn span(value: &Value) -> Range<u64> {
    let from = value.buffer.address() + (value.layout.offset() * value.buffer.dtype().size()) as u64;
    from..from + (value.layout.numel() * value.buffer.dtype().size()) as u64
}

impl Refusal {
    pub(crate) fn new(matters: bool, whole: bool) -> Refusal {
        Refusal { matters, whole, places: vec![], noted: vec![], gathered: None }
    }

    /// Whether checks were made that the device's word tells of.
    pub(crate) fn is_gathered(&self) -> bool {
        self.gathered.is_some()
    }

    /// What launches of a plan ask before they overwrite something, for all that was launched before the plan.
    pub(crate) fn asked(&self) -> Asked {
        Asked { matters: self.matters, whole: self.whole, gathered: self.gathered }
    }

    /// The device with the word that a launch looks at which overwrites memory of before, and its bits; nothing where no check
    /// was made on which that depends.
    pub(crate) fn gate(&self, device: Device, depends: u64) -> Result<Option<(&'static Gpu, u64)>> {
        self.gate_from(self.gathered, device, depends)
    }

    /// The same of a launch that comes when the checks before it, of one device, have been gathered.
    pub(crate) fn gate_then(
        &self,
        checks: Option<Device>,
        device: Device,
        depends: u64,
    ) -> Result<Option<(&'static Gpu, u64)>> {
        self.gate_from(checks.filter(|_| self.matters).or(self.gathered), device, depends)
    }

    fn gate_from(
        &self,
        gathered: Option<Device>,
        device: Device,
        depends: u64,
    ) -> Result<Option<(&'static Gpu, u64)>> {
        let bits = if self.whole { u64::MAX } else { depends };
        match gathered {
            Some(gathered) if gathered == device && bits != 0 => Ok(Some((Gpu::of(device)?, bits))),
            Some(_) | None => Ok(None),
        }
    }

    /// Notes where the checks of a launch that was just made say what they find.
    pub(crate) fn note(&mut self, device: Device, bit: u64) -> Result<()> {
        let places = Gpu::of(device)?.noted_guards();
        self.places.extend(places.iter().map(|&place| (place, bit)));
        self.noted.extend(places.into_iter().map(|place| (place, bit)));
        Ok(())
    }

    /// Has the word set by what the launches so far have refused.
    pub(crate) fn gather(&mut self, device: Device) -> Result<()> {
        let places = std::mem::take(&mut self.places);
        if !self.matters {
            return Ok(());
        }
        let gpu = Gpu::of(device)?;
        gpu.bind()?;
        if gpu.is_collecting() {
            gpu.collects_work(vec![], vec![flag(gpu)]);
        }
        gather_refusals(gpu, &places, self.gathered == Some(device), origin())?;
        self.gathered = Some(device);
        Ok(())
    }

    /// What a launch with checks reads besides its operands: whoever sets the word waits for it.
    pub(crate) fn of_checks(gpu: &Gpu) -> Range<u64> {
        flag(gpu)
    }

    /// Has these values replaced by what was there before where something was refused.
    pub(crate) fn restore(&self, replaced: &[Pair]) -> Result<()> {
        let Some(device) = self.gathered else { return Ok(()) };
        let lies = |value: &Value| value.layout.is_contiguous() || lies_innermost(&value.layout);
        let here = |value: &Value| value.buffer.device() == device && lies(value);
        let addresses: HashSet<u64> = replaced.iter().map(|pair| pair.old.buffer.address()).collect();
        let is_taken_over = |new: &Value| {
            let is_it = |other: &Pair| other.old.buffer.ptr_eq(&new.buffer);
            addresses.contains(&new.buffer.address()) && replaced.iter().any(is_it)
        };
        let fits = |pair: &&Pair| {
            here(pair.old)
                && here(pair.new)
                && (self.whole || pair.depends != 0)
                && pair.old.buffer.dtype() == pair.new.buffer.dtype()
                && pair.old.layout.numel() == pair.new.layout.numel()
                && pair.old.layout.is_contiguous() == pair.new.layout.is_contiguous()
                // What was taken over is as it was, or is another tensor's, which comes first.
                && !is_taken_over(pair.new)
        };
        let all: Vec<&Pair> = replaced.iter().filter(fits).collect();
        if all.is_empty() {
            return Ok(());
        }
        let gpu = Gpu::of(device)?;
        gpu.bind()?;
        if gpu.is_collecting() {
            let olds = all.iter().map(|pair| span(pair.old)).chain([flag(gpu)]).collect();
            gpu.collects_work(olds, all.iter().map(|pair| span(pair.new)).collect());
        }
        let entry = |pair: &&Pair| {
            let from = span(pair.old);
            let bits = if self.whole { u64::MAX } else { pair.depends };
            let bytes = (from.end - from.start) as usize;
            Restored { from: from.start, to: span(pair.new).start, bytes, bits }
        };
        let entries: Vec<Restored> = all.iter().map(entry).collect();
        // SAFETY: both lie densely on this device and have as many bytes; whoever calls keeps them alive until they were
        // launched, and their memory is used in the stream's order.
        unsafe { restore_refused(gpu, &entries, origin()) }
    }
}

/// Gradients that the checks of a run may refuse, of which nobody knows yet.
struct Doubt {
    device: Device,
    /// Where checks say what they find, and their bits.
    places: Vec<(u64, u64)>,
    nodes: Vec<(WeakNode, u64)>,
}

static DOUBTS: Mutex<Vec<Doubt>> = Mutex::new(vec![]);

impl Refusal {
    /// Has these gradients, each with the bits of the checks that may refuse it, answer with the error once a check is found to have
    /// refused something: there was nothing before them that they could go back to. (While the engine's lock is held, so that nobody
    /// has looked at the checks yet.)
    pub(crate) fn doubt(self, device: Device, nodes: Vec<(WeakNode, u64)>) {
        if nodes.is_empty() || self.noted.is_empty() {
            return;
        }
        on_look(settle_doubts);
        let mut doubts = DOUBTS.lock().unwrap_or_else(PoisonError::into_inner);
        doubts.push(Doubt { device, places: self.noted, nodes });
    }
}

/// What checks on a device have found.
fn settle_doubts(device: Device, looked: &[(u64, Option<Error>)]) {
    let mut refused = vec![];
    let mut doubts = DOUBTS.lock().unwrap_or_else(PoisonError::into_inner);
    for doubt in doubts.iter_mut().filter(|doubt| doubt.device == device) {
        for (place, error) in looked {
            let Some(at) = doubt.places.iter().position(|(other, _)| other == place) else { continue };
            let (_, bit) = doubt.places.swap_remove(at);
            let Some(error) = error else { continue };
            let of = doubt.nodes.iter().filter(|(_, depends)| depends & bit != 0);
            refused.extend(of.filter_map(|(node, _)| Some((node.upgrade()?, error.clone()))));
        }
    }
    doubts.retain(|doubt| !doubt.places.is_empty());
    // What goes with the nodes goes when no lock is held.
    drop(doubts);
    refused.into_iter().for_each(|(node, error)| node.refuse(error));
}

/// An error of a machine, not of what a person asked for.
pub(crate) fn is_machines(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::OutOfMemory { .. } | ErrorKind::Cuda(_) | ErrorKind::Device(_))
}
