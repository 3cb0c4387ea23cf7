//! Kernels that the driver has assembled, found again by what they were assembled from.

use super::gate::behind_gate;
use super::library::Prebuilt;
use mg_device::cuda::{Behind, Gpu, Kernel};
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

    /// Whether there is one of a key.
    fn has(&self, gpu: &Gpu, key: K) -> bool {
        self.known().as_ref().is_some_and(|known| known.contains_key(&(gpu.device(), key)))
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
}

/// Those of texts that were written, as they are and behind a gate.
static WRITTEN: Assembled<(Arc<str>, bool)> = Assembled::new();
/// Library kernels, by name, likewise.
static PREBUILT: Assembled<(&'static str, bool)> = Assembled::new();

/// By device and by text, as it is or behind a gate.
type Begun = HashMap<(Device, Arc<str>, bool), Arc<Behind>>;

/// Written texts that are assembled behind what goes on.
static BEHIND: Mutex<Option<Begun>> = Mutex::new(None);

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
    written(gpu, &shared(text), "k", false)
}

fn written(gpu: &Gpu, text: &Arc<str>, name: &str, gated: bool) -> Result<Kernel> {
    WRITTEN.get_or(gpu, (text.clone(), gated), || {
        static LOGS: OnceLock<bool> = OnceLock::new();
        if *LOGS.get_or_init(|| std::env::var("MG_LOG").is_ok_and(|v| v.split(',').any(|w| w == "ptx"))) {
            eprintln!("{text}");
        }
        load(gpu, text, name, gated)
    })
}

fn load(gpu: &Gpu, text: &str, name: &str, gated: bool) -> Result<Kernel> {
    match gated {
        false => gpu.load(text, name),
        true => gpu.load(&behind_gate(text)?, name),
    }
}

/// As machine code, where the package has it and the driver takes it. There is none behind a gate, which is another text.
fn as_code(gpu: &Gpu, kernel: &Prebuilt, gated: bool) -> Result<Option<Kernel>> {
    let (major, minor) = gpu.capability();
    let code = if gated { None } else { kernel.code(10 * major + minor)? };
    code.map_or(Ok(None), |code| gpu.load_code(code, kernel.name))
}

fn prebuilt(gpu: &Gpu, kernel: &Prebuilt, gated: bool) -> Result<Kernel> {
    as_code(gpu, kernel, gated)?.map_or_else(|| load(gpu, kernel.whole()?, kernel.name, gated), Ok)
}

/// A text that is assembled behind what goes on; one of those who ask for it begins that.
fn behind(gpu: &Gpu, text: &Arc<str>, gated: bool) -> Result<Arc<Behind>> {
    let key = (gpu.device(), text.clone(), gated);
    let mut all = BEHIND.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(known) = all.get(&key) {
        return Ok(known.clone());
    }
    let whole = if gated { behind_gate(text)?.into() } else { text.clone() };
    let new = gpu.assemble_behind(whole);
    all.insert(key, new.clone());
    Ok(new)
}

/// A kernel of one device, assembled in the form in which it is launched, when it is: as it is, or behind a gate ([`Gpu::set_gate`]).
pub struct Loaded {
    text: Text,
    /// As it is; behind a gate.
    forms: [OnceLock<Kernel>; 2],
    /// Each form's assembling behind what goes on, where somebody asked for that.
    behind: [OnceLock<Arc<Behind>>; 2],
}

enum Text {
    /// A library kernel.
    Prebuilt(&'static Prebuilt),
    /// One that was written, and the kernel's name.
    Written(Arc<str>, &'static str),
}

impl Loaded {
    /// A library kernel.
    pub fn prebuilt(kernel: &'static Prebuilt) -> Loaded {
        Loaded { text: Text::Prebuilt(kernel), forms: Default::default(), behind: Default::default() }
    }

    pub(super) fn written(text: Arc<str>, name: &'static str) -> Loaded {
        Loaded { text: Text::Written(text, name), forms: Default::default(), behind: Default::default() }
    }

    /// Whether nothing has to be assembled for it to be launched in a form: as it is, or behind a gate.
    pub fn is_there(&self, gpu: &Gpu, gated: bool) -> bool {
        if self.forms[usize::from(gated)].get().is_some() {
            return true;
        }
        match &self.text {
            Text::Prebuilt(kernel) => {
                // Whether the driver takes machine code is known when it has.
                let keep = |new| PREBUILT.get_or(gpu, (kernel.name, gated), || Ok(new)).is_ok();
                PREBUILT.has(gpu, (kernel.name, gated))
                    || as_code(gpu, kernel, gated).is_ok_and(|code| code.is_some_and(keep))
            }
            Text::Written(text, _) => WRITTEN.has(gpu, (text.clone(), gated)),
        }
    }

    /// Has it assembled behind what goes on, as it is launched now, where it is not there; answers whether it is, or [`Loaded::kernel`] tells why it is not.
    pub fn comes(&self, gpu: &Gpu) -> bool {
        let gated = gpu.is_gated();
        let place = &self.behind[usize::from(gated)];
        if let Some(behind) = place.get() {
            return behind.is_over();
        }
        let Text::Written(text, _) = &self.text else { return true };
        if self.is_there(gpu, gated) {
            return true;
        }
        match behind(gpu, text, gated) {
            Ok(new) => place.get_or_init(|| new).is_over(),
            Err(_) => true,
        }
    }

    /// The kernel as it is launched now.
    ///
    /// # Errors
    ///
    /// What the driver says of it.
    pub fn kernel(&self, gpu: &Gpu) -> Result<Kernel> {
        let gated = gpu.is_gated();
        let form = &self.forms[usize::from(gated)];
        if let Some(known) = form.get() {
            return Ok(*known);
        }
        let new = match &self.text {
            Text::Prebuilt(kernel) => {
                PREBUILT.get_or(gpu, (kernel.name, gated), || prebuilt(gpu, kernel, gated))
            }
            Text::Written(text, name) => written(gpu, text, name, gated),
        };
        new.map(|new| *form.get_or_init(|| new))
    }
}
