//! PTX made into machine code ahead of its use, many texts side by side.
//!
//! A text takes 10 to 500 ms. The driver assembles what is loaded as a module one text after the other, whatever the
//! number of threads; what is loaded as a library is assembled by the thread that asks. On an H100's host, 16 texts of
//! products and attention took 3.5 s as modules, and 0.7 s as libraries on 8 threads. (Its linker would do so too, but
//! compiles as if there was more to link: registers are no longer moved between warps, and products wait for each other.)

use super::gpu::{Gpu, Module};
use crate::{Device, Error, ErrorKind, Result};
use std::cell::RefCell;
use std::ffi::{CString, c_uint};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError};

/// Threads that assemble, at most.
const THREADS: usize = 16;
/// CU_JIT_OPTIMIZATION_LEVEL
pub(super) const LEVEL: c_uint = 7;

thread_local! {
    /// The texts that this thread would have had to load, while it asks which these are.
    static NOTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// What was assembled, until it is asked for.
static READY: Mutex<Vec<(Device, Box<str>, Module)>> = Mutex::new(vec![]);

/// A text as the driver takes it, and the level of optimisation that it asks for.
pub(super) fn source(ptx: &str) -> Result<(CString, Option<usize>)> {
    let mut comments = ptx.lines().take_while(|line| line.starts_with("//"));
    let level = comments.find_map(|line| line.strip_prefix("// mg.level ")?.parse().ok());
    let text = CString::new(ptx)
        .map_err(|_| Error::new("load", ErrorKind::Internal("PTX with a zero byte in it".into())))?;
    Ok((text, level))
}

/// The module of a text that was assembled ahead; it is given out once.
pub(super) fn take(device: Device, ptx: &str) -> Option<Module> {
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    let at = ready.iter().position(|(on, text, _)| *on == device && &**text == ptx)?;
    Some(ready.swap_remove(at).2)
}

/// In [`noting`], keeps the text and answers with an error.
pub(super) fn note(ptx: &str) -> Result<()> {
    NOTED.with_borrow_mut(|noted| match noted {
        None => Ok(()),
        Some(texts) => {
            if !texts.iter().any(|text| text == ptx) {
                texts.push(ptx.to_string());
            }
            Err(Error::new("load", ErrorKind::Internal("a text that was only noted".into())))
        }
    })
}

/// Runs `f`, in which nothing is assembled: whatever loads a new text fails, and the texts are answered. `f` must not launch.
pub fn noting(f: impl FnOnce()) -> Vec<String> {
    NOTED.set(Some(vec![]));
    f();
    NOTED.take().unwrap_or_default()
}

impl Gpu {
    /// Assembles texts side by side, for [`Gpu::load`] to find. What does not assemble is left to it, and to its error.
    pub fn assemble(&self, mut texts: Vec<String>) {
        // Long texts take longest, and are begun first (the last is taken first): what begins last is waited for.
        texts.sort_by_key(String::len);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.min(THREADS).min(texts.len());
        let texts = Mutex::new(texts);
        let work = || {
            loop {
                let Some(text) = texts.lock().unwrap_or_else(PoisonError::into_inner).pop() else { return };
                let _ = self.assemble_one(&text);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // Who cannot be begun leaves its texts to the others.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// Assembles a text, for [`Gpu::load`] to find.
    pub(super) fn assemble_one(&self, text: &str) -> Result<()> {
        let module = self.module_beside(text)?;
        let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
        ready.push((self.device(), text.into(), module));
        Ok(())
    }

    /// The module of a text, by way of a library, whose assembling holds up nobody else's.
    pub(super) fn module_beside(&self, ptx: &str) -> Result<Module> {
        self.bind()?;
        let (source, level) = source(ptx)?;
        let (mut option, mut value) = (LEVEL, std::ptr::without_provenance_mut(level.unwrap_or(0)));
        let options = level.is_some().into();
        let (mut library, mut module) = (null_mut(), null_mut());
        // SAFETY: the text ends with 0; there is one option, or none, as the driver defines it. Nothing is unloaded.
        let code = unsafe {
            let text = source.as_ptr().cast();
            (self.api.library_load)(
                &mut library,
                text,
                &mut option,
                &mut value,
                options,
                null_mut(),
                null_mut(),
                0,
            )
        };
        self.check("cuLibraryLoadData", code)?;
        // SAFETY: the library was loaded.
        self.check("cuLibraryGetModule", unsafe { (self.api.library_module)(&mut module, library) })?;
        Ok(Module(module))
    }
}
