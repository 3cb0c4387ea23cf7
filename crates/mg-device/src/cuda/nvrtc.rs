//! CUDA C to PTX, by NVIDIA's compiler library where it is found.
//!
//! The library is no part of a driver: it comes with the toolkit, or with a Python package. Nothing else of the engine needs it.

use crate::error::{Error, ErrorKind, Result};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::ManuallyDrop;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::ptr::null_mut;
use std::thread::{Builder, scope};

type Program = *mut std::ffi::c_void;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Text = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
type Count = unsafe extern "C" fn(*mut c_int) -> c_int;

/// Bytes of stack for the compiler, which calls itself as deep as a text is nested: 1.8 MiB for templates of depth 200, 10 MiB for 3,000
/// parentheses (of NVRTC 13.0). What is not used of it takes no memory.
const STACK: usize = 16 << 20;

/// The names of the library, newest first.
const NAMES: [&str; 7] = [
    "libnvrtc.so.13",
    "libnvrtc.so.12",
    "libnvrtc.so.11.2",
    "libnvrtc.so",
    "nvrtc64_130_0.dll",
    "nvrtc64_120_0.dll",
    "nvrtc64_112_0.dll",
];

/// Where the library is looked for, in order.
fn candidates(folders: &[PathBuf]) -> Vec<PathBuf> {
    let named = std::env::var_os("MG_NVRTC").map(PathBuf::from);
    if let Some(named) = named {
        return vec![named];
    }
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]);
    let inside = toolkits.flat_map(|root| [root.join("lib64"), root.join("lib"), root.join("bin")]);
    let all = folders.iter().cloned().chain(inside);
    let in_folders = all.flat_map(|folder| NAMES.map(|name| folder.join(name))).filter(|path| path.exists());
    // And where the system looks.
    in_folders.chain(NAMES.map(PathBuf::from)).collect()
}

fn fail(text: String) -> Error {
    Error::new("nvrtc", ErrorKind::Cuda(text))
}

/// The library. It stays: threads that were in it may have something of its own that is let go of when they end.
fn library(folders: &[PathBuf]) -> Result<ManuallyDrop<Library>> {
    let all = candidates(folders);
    for path in &all {
        // SAFETY: NVIDIA's library, whose initialisers may run at any time and on any thread.
        if let Ok(found) = unsafe { Library::new(path) }
            && works(&found)
        {
            return Ok(ManuallyDrop::new(found));
        }
    }
    let looked: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
    Err(fail(format!(
        "CUDA C is compiled by NVRTC, which is not on this machine; looked for {}. It comes with the CUDA toolkit and with the Python \
         package nvidia-cuda-nvrtc-cu12; MG_NVRTC names the file. PTX text needs no compiler",
        looked.join(", ")
    )))
}

/// Whether a library tells its version: another thing of this name does not.
fn works(library: &Library) -> bool {
    // SAFETY: the signature is that of nvrtc.h; it writes two numbers.
    unsafe {
        let version = library.get::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(b"nvrtcVersion\0");
        version.is_ok_and(|version| version(&mut 0, &mut 0) == 0)
    }
}

/// A program of the library, which is given back.
struct Held<'a> {
    program: Program,
    destroy: libloading::Symbol<'a, Destroy>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was made by this library, and is given back once.
        unsafe { (self.destroy)(&mut self.program) };
    }
}

/// What the library says of a program: its log, or its PTX.
///
/// # Safety
///
/// `size` and `text` are the library's functions of one thing, and the program is live.
unsafe fn said(program: Program, size: &Size, text: &Text) -> Option<String> {
    let mut bytes = 0usize;
    // SAFETY: this function's contract.
    if unsafe { size(program, &mut bytes) } != 0 || bytes == 0 {
        return None;
    }
    let mut read = vec![0u8; bytes];
    // SAFETY: this function's contract; there is room for as many bytes as the library asked for.
    if unsafe { text(program, read.as_mut_ptr().cast()) } != 0 {
        return None;
    }
    let read = CStr::from_bytes_until_nul(&read).ok()?;
    Some(read.to_string_lossy().into_owned())
}

/// Compiles CUDA C to PTX for devices of this compute capability (80, 90, …) and newer ones. `file` is what its errors call the text;
/// `folders` are looked into for the library first. It works in a thread of its own: the caller's may have no room for it, and who exceeds a
/// stack ends the process.
///
/// # Errors
///
/// [`ErrorKind::Cuda`] with what was looked for where the library is not there, and with the compiler's words where it refuses the text.
pub fn compile(
    source: &str,
    file: &str,
    capability: u32,
    options: &[String],
    folders: &[impl AsRef<Path>],
) -> Result<String> {
    let folders: Vec<PathBuf> = folders.iter().map(|f| f.as_ref().to_path_buf()).collect();
    let work = || compile_here(source, file, capability, options, &folders);
    scope(|scope| {
        let thread = Builder::new().name("mg-nvrtc".into()).stack_size(STACK).spawn_scoped(scope, work);
        let thread =
            thread.map_err(|error| fail(format!("no thread is to be had for the compiler: {error}")))?;
        thread.join().unwrap_or_else(|payload| resume_unwind(payload))
    })
}

/// As [`compile`], in this thread.
fn compile_here(
    source: &str,
    file: &str,
    capability: u32,
    options: &[String],
    folders: &[PathBuf],
) -> Result<String> {
    let library = library(folders)?;
    let text = |text: &str| CString::new(text).map_err(|_| fail("the text has a zero byte in it".into()));
    // SAFETY: the symbols have the signatures that nvrtc.h gives them, with enums as the integers they are.
    let found = unsafe {
        (
            library.get::<Create>(b"nvrtcCreateProgram\0"),
            library.get::<Compile>(b"nvrtcCompileProgram\0"),
            library.get::<Size>(b"nvrtcGetPTXSize\0"),
            library.get::<Text>(b"nvrtcGetPTX\0"),
            library.get::<Size>(b"nvrtcGetProgramLogSize\0"),
            library.get::<Text>(b"nvrtcGetProgramLog\0"),
            library.get::<Destroy>(b"nvrtcDestroyProgram\0"),
        )
    };
    let (Ok(create), Ok(compile), Ok(size), Ok(ptx), Ok(log_size), Ok(log), Ok(destroy)) = found else {
        return Err(fail("the library that was found lacks nvrtcCompileProgram or its like".into()));
    };
    let capability = capability.min(newest(&library).unwrap_or(capability));
    let (source, file) = (text(source)?, text(file)?);
    let mut all = vec![text(&format!("--gpu-architecture=compute_{capability}"))?, text("--std=c++17")?];
    for option in options {
        all.push(text(option)?);
    }
    let pointers: Vec<*const c_char> = all.iter().map(|option| option.as_ptr()).collect();
    let mut program = null_mut();
    // SAFETY: texts end with 0; there are no headers.
    let code = unsafe {
        create(&mut program, source.as_ptr(), file.as_ptr(), 0, std::ptr::null(), std::ptr::null())
    };
    if code != 0 {
        return Err(fail(format!("nvrtcCreateProgram failed with code {code}")));
    }
    let held = Held { program, destroy };
    // SAFETY: as many options as there are; they live until the call returns.
    let code = unsafe { compile(held.program, pointers.len() as c_int, pointers.as_ptr()) };
    if code != 0 {
        // SAFETY: the log's functions, of a live program.
        let words = unsafe { said(held.program, &log_size, &log) }.unwrap_or_default();
        return Err(fail(format!("CUDA C was not compiled (code {code}):\n{}", words.trim_end())));
    }
    // SAFETY: the PTX's functions, of a live program.
    let made = unsafe { said(held.program, &size, &ptx) };
    made.ok_or_else(|| fail("the compiler made no PTX".into()))
}

/// The newest capability that the library knows, where it says so.
fn newest(library: &Library) -> Option<u32> {
    // SAFETY: signatures as in nvrtc.h.
    let (count, all) = unsafe {
        (
            library.get::<Count>(b"nvrtcGetNumSupportedArchs\0").ok()?,
            library.get::<Count>(b"nvrtcGetSupportedArchs\0").ok()?,
        )
    };
    let mut n = 0;
    // SAFETY: writes one number.
    if unsafe { count(&mut n) } != 0 {
        return None;
    }
    let mut known = vec![0 as c_int; usize::try_from(n).ok()?];
    // SAFETY: there is room for as many numbers as the library said.
    if unsafe { all(known.as_mut_ptr()) } != 0 {
        return None;
    }
    known.into_iter().max().and_then(|newest| u32::try_from(newest).ok())
}
