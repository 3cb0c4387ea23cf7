//! `Device`: which processor, and whose memory.

use mg_device::Device;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple, PyType};
use std::cell::RefCell;

use crate::error::{compute, exception};

/// The host's processor ("cpu") or a CUDA device ("cuda:0"). Strings are taken wherever a device is, and compare equal.
///
/// Arguments:
///     device: a name, another device, or the number of a CUDA device
///     index: the number, where `device` does not say it
///     type: another name of `device`
///
/// Errors: ArgumentError for another name.
///
/// >>> mg.device("cuda", 1).index, mg.device("cpu") == "cpu"
/// (1, True)
#[pyclass(frozen, name = "Device", module = "micrograd_rs", from_py_object)]
#[derive(Clone, Copy)]
pub struct PyDevice(pub Device);

thread_local! {
    /// What the defaults were outside of the `with` blocks that this thread is in.
    static OUTSIDE: RefCell<Vec<Option<Device>>> = const { RefCell::new(vec![]) };
}

/// The device that an argument names; it need not be there.
pub fn device(obj: &Bound<'_, PyAny>) -> PyResult<Device> {
    if let Ok(known) = obj.cast::<PyDevice>() {
        return Ok(known.get().0);
    }
    // A number is that of a CUDA device. Truth values are none.
    if obj.is_exact_instance_of::<PyInt>()
        && let Ok(number) = obj.extract::<usize>()
    {
        return format!("cuda:{number}").parse().map_err(|e| exception(&e));
    }
    match obj.cast::<PyString>() {
        Ok(name) => name.to_str()?.parse().map_err(|e| exception(&e)),
        Err(_) => {
            let text = format!("takes a Device, \"cpu\", \"cuda\", \"cuda:N\" or N, got {}", obj.repr()?);
            Err(PyTypeError::new_err(text))
        }
    }
}

/// The device that an argument names, if any. That it can hold tensors is checked.
pub fn usable_device(obj: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Device>> {
    let Some(obj) = obj.filter(|o| !o.is_none()) else { return Ok(None) };
    let device = device(obj)?;
    check_usable(device)?;
    Ok(Some(device))
}

/// Makes this the device of tensors that are made without naming one; the CPU at first, or what MG_DEVICE says.
///
/// Arguments:
///     device: the device
///
/// Errors: RuntimeError for a device that is not there.
///
/// >>> mg.set_default_device("cpu")
/// >>> mg.zeros(2).device
/// Device('cpu')
#[pyfunction]
pub fn set_default_device(device: &Bound<'_, PyAny>) -> PyResult<()> {
    let device = self::device(device)?;
    mg_autograd::set_default_device(device).map_err(|e| exception(&e))
}

/// The device of tensors that are made without naming one.
///
/// >>> mg.get_default_device()
/// Device('cpu')
#[pyfunction]
pub fn get_default_device() -> PyDevice {
    PyDevice(mg_autograd::default_device())
}

/// How products of f32 matrices are computed on CUDA devices: "highest" (at first) with all bits of f32, "high" and "medium" on
/// tensor cores, with operands rounded to 10 bits of fraction. ValueError for anything else.
///
/// Arguments:
///     precision: "highest", "high" or "medium"
///
/// >>> mg.set_float32_matmul_precision("highest")
#[pyfunction]
pub fn set_float32_matmul_precision(precision: &str) -> PyResult<()> {
    mg_graph::set_float32_matmul_precision(precision).map_err(|e| exception(&e))
}

/// How products of f32 matrices are computed on CUDA devices: "highest" or "high", as which "medium" counts.
///
/// >>> mg.get_float32_matmul_precision()
/// 'highest'
#[pyfunction]
pub fn get_float32_matmul_precision() -> &'static str {
    mg_graph::get_float32_matmul_precision()
}

/// An error that says why, where a device cannot hold tensors.
pub fn check_usable(device: Device) -> PyResult<()> {
    if device.is_cpu() {
        return Ok(());
    }
    device.check().map_err(|e| exception(&e))
}

#[pymethods]
impl PyDevice {
    /// By its name ("cpu", "cuda", "cuda:1"), by kind and number, or by the number of a CUDA device.
    #[new]
    #[pyo3(signature = (device=None, index=None, *, r#type=None))]
    fn new(
        device: Option<&Bound<'_, PyAny>>,
        index: Option<usize>,
        r#type: Option<&str>,
    ) -> PyResult<PyDevice> {
        let name = match (device, r#type) {
            (None, name) => name.unwrap_or("cpu").to_owned(),
            (Some(given), None) => match given.cast::<PyString>() {
                Ok(name) => name.to_str()?.to_owned(),
                Err(_) => self::device(given)?.to_string(),
            },
            (Some(_), Some(_)) => {
                return Err(PyTypeError::new_err("takes a device once, and got a type beside it"));
            }
        };
        let name = index.map_or(name.clone(), |index| format!("{name}:{index}"));
        name.parse().map(PyDevice).map_err(|e| exception(&e))
    }

    /// The host.
    #[staticmethod]
    fn cpu() -> PyDevice {
        PyDevice(Device::cpu())
    }

    /// A CUDA device. RuntimeError that says why, where it is not there.
    #[staticmethod]
    #[pyo3(signature = (ordinal=0))]
    fn cuda(ordinal: usize) -> PyResult<PyDevice> {
        Device::cuda(ordinal).map(PyDevice).map_err(|e| exception(&e))
    }

    /// Whether there is a CUDA device to use.
    #[staticmethod]
    fn is_cuda_available() -> bool {
        Device::is_cuda_available()
    }

    /// The number of CUDA devices.
    #[staticmethod]
    fn cuda_count() -> usize {
        Device::cuda_count()
    }

    /// Whether it is the host.
    fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// Whether it is a CUDA device.
    fn is_cuda(&self) -> bool {
        self.0.is_cuda()
    }

    /// "cpu" or "cuda".
    #[getter]
    fn r#type(&self) -> &'static str {
        if self.0.is_cpu() { "cpu" } else { "cuda" }
    }

    /// The number among devices of its kind; None for the CPU.
    #[getter]
    fn index(&self) -> Option<usize> {
        self.0.is_cuda().then(|| self.0.ordinal())
    }

    /// The product's name.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }

    /// Waits until all work on the device is done, and tells what it failed with.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        compute(py, || self.0.synchronize())
    }

    /// The device's own memory in bytes; None for the CPU.
    fn total_memory(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        compute(py, || self.0.total_memory())
    }

    /// The compute capability, major and minor; None for the CPU.
    fn compute_capability(&self, py: Python<'_>) -> PyResult<Option<(u32, u32)>> {
        compute(py, || self.0.compute_capability())
    }

    /// What the allocator holds, in bytes: active, cached, peak; and how often it handed out memory, and from its cache.
    fn memory_stats(&self) -> std::collections::BTreeMap<&'static str, u64> {
        let stats = self.0.memory_stats();
        [
            ("active", stats.active as u64),
            ("cached", stats.cached as u64),
            ("peak", stats.peak as u64),
            ("allocations", stats.allocations),
            ("hits", stats.hits),
        ]
        .into()
    }

    /// Sets the peak of `memory_stats` to what is in use now.
    fn reset_peak(&self) {
        self.0.reset_peak();
    }

    /// Sets the most bytes that tensors and cache together may take; None for no limit.
    fn set_memory_limit(&self, py: Python<'_>, limit: Option<usize>) {
        py.detach(|| self.0.set_memory_limit(limit));
    }

    /// Gives the memory that is cached for reuse back to the system.
    fn empty_cache(&self, py: Python<'_>) {
        py.detach(|| self.0.empty_cache());
    }

    /// Within `with device:`, tensors that this thread makes without naming a device are made there.
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let before = mg_autograd::set_default_device_here(Some(slf.get().0)).map_err(|e| exception(&e))?;
        OUTSIDE.with_borrow_mut(|all| all.push(before));
        Ok(slf)
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, _error: &Bound<'_, PyTuple>) -> PyResult<()> {
        let before = OUTSIDE.with_borrow_mut(Vec::pop).flatten();
        mg_autograd::set_default_device_here(before).map(drop).map_err(|e| exception(&e))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("Device('{}')", self.0)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        !other.is_none() && device(other).is_ok_and(|d| d == self.0)
    }

    fn __hash__(&self) -> u64 {
        if self.0.is_cpu() { 0 } else { self.0.ordinal() as u64 + 1 }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (String,)) {
        (py.get_type::<PyDevice>(), (self.0.to_string(),))
    }
}
