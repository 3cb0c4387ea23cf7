//! Mixed precision.

use mg_autograd::autocast::{
    DeviceKind, Way, autocast_state, clear_autocast_cache as clear, listed, set_autocast_state,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::dtype::{PyDType, dtype};
use crate::error::exception;

/// The kind of device that PyTorch's word stands for.
pub fn kind(device_type: &str) -> PyResult<DeviceKind> {
    match device_type {
        "cpu" => Ok(DeviceKind::Cpu),
        "cuda" => Ok(DeviceKind::Cuda),
        other => Err(PyRuntimeError::new_err(format!("autocast is for \"cpu\" and \"cuda\", got {other:?}"))),
    }
}

/// Whether operations on this type of device run in mixed precision.
///
/// Arguments:
///     device_type: "cpu" or "cuda"
///
/// >>> with mg.autocast("cpu"):
/// ...     mg.is_autocast_enabled("cpu")
/// True
#[pyfunction]
#[pyo3(signature = (device_type="cuda"))]
pub fn is_autocast_enabled(device_type: &str) -> PyResult<bool> {
    Ok(autocast_state().is_enabled(kind(device_type)?))
}

/// The dtype that products on this type of device run in, within autocast.
///
/// Arguments:
///     device_type: "cpu" or "cuda"
///
/// Errors: RuntimeError for another type of device.
///
/// >>> mg.get_autocast_dtype("cpu"), mg.get_autocast_dtype("cuda")
/// (micrograd_rs.bfloat16, micrograd_rs.float16)
#[pyfunction]
pub fn get_autocast_dtype(device_type: &str) -> PyResult<PyDType> {
    Ok(PyDType(autocast_state().dtype(kind(device_type)?)))
}

/// Switches mixed precision on or off for operations on this type of device, on this thread.
///
/// Arguments:
///     device_type: "cpu" or "cuda"
///     enabled: whether it is on
///
/// >>> mg.set_autocast_enabled("cpu", False)
#[pyfunction]
pub fn set_autocast_enabled(device_type: &str, enabled: bool) -> PyResult<()> {
    let (state, kind) = (autocast_state(), kind(device_type)?);
    let state = state.with(kind, enabled, state.dtype(kind)).map_err(|e| exception(&e))?;
    set_autocast_state(state);
    Ok(())
}

/// Sets the dtype that products on this type of device run in, within autocast, on this thread.
///
/// Arguments:
///     device_type: "cpu" or "cuda"
///     dtype: float16, bfloat16 or float32
///
/// >>> mg.set_autocast_dtype("cpu", mg.bfloat16)
#[pyfunction]
pub fn set_autocast_dtype(device_type: &str, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
    let (state, kind) = (autocast_state(), kind(device_type)?);
    let to = self::dtype(dtype)?;
    let state = state.with(kind, state.is_enabled(kind), to).map_err(|e| exception(&e))?;
    set_autocast_state(state);
    Ok(())
}

/// Whether a parameter is converted once in a region of mixed precision.
///
/// >>> mg.is_autocast_cache_enabled()
/// True
#[pyfunction]
pub fn is_autocast_cache_enabled() -> bool {
    autocast_state().caches()
}

/// Has a parameter be converted once in a region of mixed precision, or each time that it is used.
///
/// Arguments:
///     enabled: whether it is converted once
///
/// >>> mg.set_autocast_cache_enabled(True)
#[pyfunction]
pub fn set_autocast_cache_enabled(enabled: bool) {
    set_autocast_state(autocast_state().with_cache(enabled));
}

/// Forgets the parameters that were converted.
///
/// >>> mg.clear_autocast_cache()
#[pyfunction]
pub fn clear_autocast_cache() {
    clear();
}

/// The names on the lists of a type of device, and what is said of each.
#[pyfunction]
pub fn _autocast_lists(device_type: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    let word = |way| match way {
        Way::Own => "own",
        Way::Lower => "lower",
        Way::LowerOfSeveral => "lower of several",
        Way::Single => "float32",
        Way::Widest => "widest",
        Way::Parts => "parts",
        Way::Refused => "refused",
    };
    Ok(listed(kind(device_type)? == DeviceKind::Cuda).map(|(name, way)| (name, word(way))).collect())
}
