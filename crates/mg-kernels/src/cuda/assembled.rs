//! Kernels that the driver has assembled, found again by what they were assembled from.

use super::library::Prebuilt;
use mg_device::cuda::{Gpu, Kernel};
use mg_device::{Device, Result};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Kernels by device and by what they were assembled from.
pub(super) struct Assembled<K>(Mutex<Option<HashMap<(Device, K), Kernel>>>);

impl<K: Eq + Hash + Clone> Assembled<K> {
    pub(super) const fn new() -> Assembled<K> {
        Assembled(Mutex::new(None))
    }

    fn known(&self) -> MutexGuard<'_, Option<HashMap<(Device, K), Kernel>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The kernel of a key, assembled if it is new. Others are found, and assembled, meanwhile; of two of one key the first stays.
    pub(super) fn get_or(
        &self,
        gpu: &Gpu,
        key: K,
        assemble: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Kernel> {
        let key = (gpu.device(), key);
        if let Some(&kernel) = self.known().get_or_insert_default().get(&key) {
            return Ok(kernel);
        }
        let new = assemble()?;
        Ok(*self.known().get_or_insert_default().entry(key).or_insert(new))
    }

    /// What a kernel was assembled from.
    fn key_of(&self, gpu: &Gpu, kernel: Kernel) -> Option<K> {
        let known = self.known();
        let mut of_device = known.iter().flatten().filter(|((device, _), _)| *device == gpu.device());
        of_device.find(|(_, found)| **found == kernel).map(|((_, key), _)| key.clone())
    }
}

/// Those of texts that were written.
static WRITTEN: Assembled<Arc<str>> = Assembled::new();
/// Library kernels, by name.
static PREBUILT: Assembled<&'static str> = Assembled::new();

/// Every text that was written, once: plans of a kind share theirs.
static TEXTS: Mutex<Option<HashSet<Arc<str>>>> = Mutex::new(None);

/// The text, as others have it.
pub(super) fn shared(text: &str) -> Arc<str> {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let texts = texts.get_or_insert_default();
    if let Some(known) = texts.get(text) {
        return known.clone();
    }
    let new: Arc<str> = text.into();
    texts.insert(new.clone());
    new
}

/// The kernel of a text, assembled if it is new.
pub(super) fn kernel(gpu: &Gpu, text: &str) -> Result<Kernel> {
    named_kernel(gpu, text, "k")
}

/// As [`kernel`], by the kernel's name.
pub(super) fn named_kernel(gpu: &Gpu, text: &str, name: &str) -> Result<Kernel> {
    WRITTEN.get_or(gpu, shared(text), || {
        static LOGS: OnceLock<bool> = OnceLock::new();
        if *LOGS.get_or_init(|| std::env::var("MG_LOG").is_ok_and(|v| v.split(',').any(|w| w == "ptx"))) {
            eprintln!("{text}");
        }
        gpu.load(text, name)
    })
}

/// A library kernel, assembled if it is new.
///
/// # Errors
///
/// What the driver says of it.
pub fn prebuilt(gpu: &Gpu, kernel: &'static Prebuilt) -> Result<Kernel> {
    PREBUILT.get_or(gpu, kernel.name, || gpu.load(kernel.whole()?, kernel.name))
}

/// The text that a kernel was assembled from.
pub(super) fn text_of(gpu: &Gpu, kernel: Kernel) -> Option<Arc<str>> {
    match PREBUILT.key_of(gpu, kernel) {
        Some(name) => Prebuilt::find(name).map(|prebuilt| prebuilt.ptx().into()),
        None => WRITTEN.key_of(gpu, kernel),
    }
}
