//! The guard before the CUDA driver: everything that can be wrong with it becomes a value, once, and nothing panics.
//!
//! cudarc loads `libcuda` when first used and panics where there is none, or where an entry point is missing, even while
//! it formats an error. So nothing of it is called before [`probe`] has found the library and its devices. The probe asks
//! for the library first, then looks up each entry point by itself, and keeps result codes as plain numbers: a code that
//! the bindings do not know must not become a value of their enum.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::OnceLock;

use cudarc::driver::sys;

/// The oldest driver that loads our PTX: CUDA 12.0, in the encoding of `cuDriverGetVersion`.
const OLDEST_DRIVER: c_int = 12000;

/// A driver that works, with at least one device.
#[derive(Debug)]
pub(crate) struct Driver {
    /// The CUDA that it is of, in the encoding of `cuDriverGetVersion`.
    pub(super) version: c_int,
    /// The names of the devices, by ordinal.
    pub(crate) devices: Vec<String>,
}

/// What this machine has; where it has no usable device, a sentence that says why.
pub(crate) fn probe() -> Result<&'static Driver, &'static str> {
    static PROBE: OnceLock<Result<Driver, String>> = OnceLock::new();
    PROBE.get_or_init(look).as_ref().map_err(String::as_str)
}

fn look() -> Result<Driver, String> {
    // SAFETY: loads the driver's library if there is one, which runs its initialisers; NVIDIA's may run at any time and
    // on any thread.
    if !unsafe { sys::is_culib_present() } {
        return Err("the CUDA driver's library (libcuda.so.1, nvcuda.dll) is not on this machine".into());
    }
    type Init = unsafe extern "C" fn(c_uint) -> c_uint;
    type Get = unsafe extern "C" fn(*mut c_int) -> c_uint;
    type GetDevice = unsafe extern "C" fn(*mut c_int, c_int) -> c_uint;
    type GetName = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_uint;

    // SAFETY: the library is present, so this does not panic. The signatures are those of cuda.h, with CUresult and
    // CUdevice as the integers they are.
    let found = unsafe {
        let lib = sys::culib();
        (
            lib.get::<Init>(b"cuInit\0").map(|f| *f),
            lib.get::<Get>(b"cuDriverGetVersion\0").map(|f| *f),
            lib.get::<Get>(b"cuDeviceGetCount\0").map(|f| *f),
            lib.get::<GetDevice>(b"cuDeviceGet\0").map(|f| *f),
            lib.get::<GetName>(b"cuDeviceGetName\0").map(|f| *f),
        )
    };
    let (Ok(init), Ok(version), Ok(count), Ok(device), Ok(name)) = found else {
        return Err("the CUDA driver's library lacks cuInit or its like: it is not a driver".into());
    };

    let mut driver = 0;
    // SAFETY: cuDriverGetVersion may be called before cuInit, and writes one int.
    check("cuDriverGetVersion", unsafe { version(&mut driver) })?;
    if driver < OLDEST_DRIVER {
        return Err(format!(
            "the driver is too old: it is for CUDA {}, and {} or later is needed",
            version_text(driver),
            version_text(OLDEST_DRIVER)
        ));
    }
    // SAFETY: 0 is the one value the driver takes.
    check("cuInit", unsafe { init(0) })?;
    let mut devices = 0;
    // SAFETY: the driver is initialised; one int is written.
    check("cuDeviceGetCount", unsafe { count(&mut devices) })?;
    if devices <= 0 {
        return Err("the CUDA driver works, but has no device".into());
    }
    let mut names = Vec::new();
    for ordinal in 0..devices {
        let mut handle = 0;
        // SAFETY: the driver is initialised and the ordinal below the count; one int is written.
        check("cuDeviceGet", unsafe { device(&mut handle, ordinal) })?;
        let mut text = [0u8; 256];
        // SAFETY: `text` holds as many bytes as is said, one more than the driver may use.
        check("cuDeviceGetName", unsafe { name(text.as_mut_ptr().cast(), text.len() as c_int - 1, handle) })?;
        let end = text.iter().position(|&b| b == 0).unwrap_or(text.len());
        names.push(String::from_utf8_lossy(&text[..end]).into_owned());
    }
    Ok(Driver { version: driver, devices: names })
}

fn check(call: &str, code: c_uint) -> Result<(), String> {
    if code == 0 {
        return Ok(());
    }
    Err(match code {
        100 => "the CUDA driver finds no device (CUDA_ERROR_NO_DEVICE)".to_string(),
        _ => format!("{call} answers {}", code_text(code)),
    })
}

/// The name of a result code of the driver, for those that a machine's set-up can cause.
pub(super) fn code_text(code: c_uint) -> String {
    let name = match code {
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY: libcuda is the toolkit's stub, not a driver",
        35 => "CUDA_ERROR_INSUFFICIENT_DRIVER: the driver is too old",
        46 => {
            "CUDA_ERROR_DEVICE_UNAVAILABLE: another process holds the device, or is not permitted to share it"
        }
        101 => "CUDA_ERROR_INVALID_DEVICE",
        304 => "CUDA_ERROR_OPERATING_SYSTEM",
        801 => "CUDA_ERROR_NOT_SUPPORTED",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY: the fabric manager is not running",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: kernel module and library are of different versions",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => return format!("error code {code}"),
    };
    format!("error code {code}, {name}")
}

pub(super) fn version_text(v: c_int) -> String {
    format!("{}.{}", v / 1000, v % 1000 / 10)
}
