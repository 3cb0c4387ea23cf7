//! DLPack, both ways: memory handed from library to library in a capsule. Structures and rules are those of `dlpack.h` 1.1
//! and of the Python specification at <https://dmlc.github.io/dlpack/latest/python_spec.html>.

use std::ffi::{CStr, c_void};

use mg_autograd::Tensor;
use mg_device::cuda::Gpu;
use mg_device::{Buffer, DType, Device, Exported, Layout, MAX_RANK, Shape};
use mg_graph::{Node, Value};
use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::error::{build, compute, exception, unfit};
use crate::tensor::PyTensor;

/// kDLCPU.
const HOST: i32 = 1;
/// kDLCUDA.
const CUDA: i32 = 2;
/// kDLCUDAHost: the host's memory, pinned.
const PINNED: i32 = 3;
const VERSION: (u32, u32) = (1, 1);

#[repr(C)]
#[derive(Clone, Copy)]
struct DLDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// Before version 1.
#[repr(C)]
struct Managed {
    tensor: DLTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DLTensor,
}

const OLD: &CStr = c"dltensor";
const OLD_USED: &CStr = c"used_dltensor";
const NEW: &CStr = c"dltensor_versioned";
const NEW_USED: &CStr = c"used_dltensor_versioned";

fn dl_type(dtype: DType) -> DLDataType {
    DLDataType { code: dtype.dlpack_code(), bits: 8 * dtype.size() as u8, lanes: 1 }
}

fn from_dl_type(t: DLDataType) -> Option<DType> {
    DType::ALL.into_iter().find(|&d| {
        let own = dl_type(d);
        (own.code, own.bits, own.lanes) == (t.code, t.bits, t.lanes)
    })
}

fn placed(device: Device) -> DLDevice {
    match device.is_cpu() {
        true => DLDevice { kind: HOST, id: 0 },
        false => DLDevice { kind: CUDA, id: device.ordinal() as i32 },
    }
}

/// What an exported capsule keeps alive.
struct Export<T> {
    managed: T,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    _value: Value,
    /// Who has the capsule sees what is written to the tensor, and the other way round.
    _exported: Option<Exported>,
}

/// # Safety
///
/// `context` is from `Box::into_raw` of an `Export<T>`, and is given up.
unsafe fn free<T>(context: *mut c_void) {
    // SAFETY: this function's contract. Any thread may drop a value, whether it holds Python's lock or not: objects of
    // Python's that its memory lies in are let go by a `Keeper`.
    let export = unsafe { Box::from_raw(context.cast::<Export<T>>()) };
    let device = export._value.buffer.device();
    if device.is_cuda()
        && let Ok(gpu) = Gpu::of(device)
    {
        // Consumers let go of memory when they have asked for the last work on it, on streams of their own; what comes next
        // in the memory comes on ours.
        gpu.quiesce();
    }
}

unsafe extern "C" fn delete_managed(managed: *mut Managed) {
    // SAFETY: the consumer calls this once, with what the capsule held.
    unsafe { free::<Managed>((*managed).context) }
}

unsafe extern "C" fn delete_versioned(managed: *mut Versioned) {
    // SAFETY: as above.
    unsafe { free::<Versioned>((*managed).context) }
}

/// The capsule's own destructor: nobody took what it holds.
unsafe extern "C" fn drop_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls this once, with a capsule that `capsule` below made; consumers rename those they empty.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, OLD.as_ptr()) != 0 {
            delete_managed(ffi::PyCapsule_GetPointer(capsule, OLD.as_ptr()).cast());
        } else if ffi::PyCapsule_IsValid(capsule, NEW.as_ptr()) != 0 {
            delete_versioned(ffi::PyCapsule_GetPointer(capsule, NEW.as_ptr()).cast());
        }
    }
}

fn fill(value: &Value, shape: &mut [i64; MAX_RANK], strides: &mut [i64; MAX_RANK]) -> DLTensor {
    for (axis, (&n, &stride)) in value.layout.shape().iter().zip(value.layout.strides()).enumerate() {
        (shape[axis], strides[axis]) = (n as i64, stride as i64);
    }
    let dtype = value.buffer.dtype();
    DLTensor {
        data: value.buffer.as_mut_ptr().wrapping_add(value.layout.offset() * dtype.size()).cast(),
        device: placed(value.buffer.device()),
        ndim: value.layout.rank() as i32,
        dtype: dl_type(dtype),
        shape: shape.as_mut_ptr(),
        strides: strides.as_mut_ptr(),
        byte_offset: 0,
    }
}

fn capsule<'py>(
    py: Python<'py>,
    (value, exported): (Value, Option<Exported>),
    versioned: bool,
    copied: bool,
) -> PyResult<Bound<'py, PyAny>> {
    // The arrays must stay where they are: they are filled in their box.
    let (shape, strides) = ([0; MAX_RANK], [0; MAX_RANK]);
    let (pointer, name) = if versioned {
        // SAFETY: null pointers, zeros and no function are values of every field.
        let managed: Versioned = unsafe { std::mem::zeroed() };
        let mut export = Box::new(Export { managed, shape, strides, _value: value, _exported: exported });
        let Export { managed, shape, strides, _value, .. } = &mut *export;
        managed.tensor = fill(_value, shape, strides);
        (managed.major, managed.minor) = VERSION;
        managed.deleter = Some(delete_versioned);
        // IS_COPIED, where it was asked for.
        managed.flags = if copied { 2 } else { 0 };
        let raw = Box::into_raw(export);
        // SAFETY: just made.
        unsafe {
            (*raw).managed.context = raw.cast();
            ((&raw mut (*raw).managed).cast::<c_void>(), NEW)
        }
    } else {
        // SAFETY: as above.
        let managed: Managed = unsafe { std::mem::zeroed() };
        let mut export = Box::new(Export { managed, shape, strides, _value: value, _exported: exported });
        let Export { managed, shape, strides, _value, .. } = &mut *export;
        managed.tensor = fill(_value, shape, strides);
        managed.deleter = Some(delete_managed);
        let raw = Box::into_raw(export);
        // SAFETY: just made.
        unsafe {
            (*raw).managed.context = raw.cast();
            ((&raw mut (*raw).managed).cast::<c_void>(), OLD)
        }
    };
    // SAFETY: the pointer is not null, the name lives for ever; without a capsule the box is freed again.
    unsafe {
        let made = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(drop_capsule));
        if made.is_null() {
            if versioned { delete_versioned(pointer.cast()) } else { delete_managed(pointer.cast()) }
        }
        Bound::from_owned_ptr_or_err(py, made)
    }
}

#[pymethods]
impl PyTensor {
    /// A capsule for `from_dlpack` of other libraries, on the tensor's own memory unless a copy is asked for. On the host what is
    /// written to either is seen by the other, unless the tensor requires a gradient; otherwise do not write there. On a CUDA device the consumer's `stream` (None and 1: the legacy default stream) waits for the tensor's work,
    /// unless it is -1. A tensor on such a device is copied to the host where `dl_device` asks for it there.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<&Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let device = crate::error::build(py, || Ok(self.t.device()))?;
        let DLDevice { kind, id } = placed(device);
        let to_host = match dl_device {
            None => false,
            Some(wanted) if wanted == (kind, id) => false,
            Some((HOST, _)) if device.is_cpu() => false,
            Some((HOST, _)) if copy != Some(false) => true,
            Some((kind, id)) => {
                let text = format!(
                    "the tensor is on {device}, and is exported from there or as a copy on the host; got device {id} of kind {kind}"
                );
                return Err(PyBufferError::new_err(text));
            }
        };
        // 0 is what the runtime calls its default stream; -1 asks for no order.
        let stream = match stream.filter(|s| !s.is_none()) {
            Some(stream) if device.is_cuda() => stream.extract::<i64>().map_err(|_| {
                PyTypeError::new_err("stream takes an integer: -1, 1, 2 or the address of a CUDA stream")
            })?,
            _ => 1,
        };
        let mut copied = to_host || copy == Some(true);
        let (mut value, mut exported) = match (to_host, copied) {
            (true, _) => (compute(py, || self.t.to(Device::cpu())?.value())?, None),
            (false, true) => (compute(py, || self.t.copy().value())?, None),
            (false, false) => self.export(py)?,
        };
        // Not every consumer takes memory that runs backwards: PyTorch does not.
        let is_backwards = |value: &Value| value.layout.strides().iter().any(|&stride| stride < 0);
        if is_backwards(&value) {
            if copy == Some(false) {
                let text =
                    "the elements run backwards, which consumers do not take: it is exported as a copy only";
                return Err(PyBufferError::new_err(text));
            }
            copied = true;
            exported = None;
            value = compute(py, || Tensor::from_node(Node::from_value(value)).copy().value())?;
        }
        let device = value.buffer.device();
        if device.is_cuda() && stream != -1 {
            // SAFETY: the protocol has the caller name a stream of this device, which frameworks keep in the primary context.
            compute(py, || unsafe { Gpu::of(device)?.hand_over(stream.max(1) as u64) })?;
        }
        capsule(py, (value, exported), max_version.is_some_and(|(major, _)| major >= 1), copied)
    }

    /// The kind of the device and its number, as DLPack counts them.
    fn __dlpack_device__(&self, py: Python<'_>) -> PyResult<(i32, i32)> {
        let DLDevice { kind, id } = placed(crate::error::build(py, || Ok(self.t.device()))?);
        Ok((kind, id))
    }
}

/// The number of the CUDA device that an exporter's memory is on.
fn cuda_ordinal(export: &Bound<'_, PyAny>) -> Option<i32> {
    let device = export.getattr_opt("__dlpack_device__").ok()??.call0().ok()?;
    let (kind, id) = device.extract::<(i32, i32)>().ok()?;
    (kind == CUDA).then_some(id)
}

/// Whether an object's memory is on a CUDA device, where no `__array__` reads it.
pub fn is_on_cuda(obj: &Bound<'_, PyAny>) -> bool {
    !obj.is_instance_of::<pyo3::types::PyType>() && cuda_ordinal(obj).is_some()
}

/// The CUDA device that an exporter's memory is on, opened.
fn cuda_of(export: &Bound<'_, PyAny>) -> PyResult<Option<&'static Gpu>> {
    let Some(id) = cuda_ordinal(export) else { return Ok(None) };
    let open = || Gpu::of(Device::cuda(usize::try_from(id).unwrap_or(usize::MAX))?);
    compute(export.py(), open).map(Some)
}

/// Memory of another library, given back when the last tensor on it goes.
struct Foreign {
    managed: *mut c_void,
    versioned: bool,
}

// SAFETY: the specification lets consumers call the deleter from any thread; the pointer is used for nothing else.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Drop for Foreign {
    fn drop(&mut self) {
        // SAFETY: taken from a capsule that was renamed, so nobody else calls the deleter.
        unsafe {
            if self.versioned {
                let managed = self.managed.cast::<Versioned>();
                if let Some(delete) = (*managed).deleter {
                    delete(managed);
                }
            } else {
                let managed = self.managed.cast::<Managed>();
                if let Some(delete) = (*managed).deleter {
                    delete(managed);
                }
            }
        }
    }
}

/// The tensor that a capsule, or an object with `__dlpack__`, holds; on its memory, or on a copy.
pub fn imported(obj: &Bound<'_, PyAny>, copy: bool) -> PyResult<Tensor> {
    let py = obj.py();
    // SAFETY: the object is alive.
    let is_capsule = |o: &Bound<'_, PyAny>| unsafe {
        ffi::PyCapsule_IsValid(o.as_ptr(), OLD.as_ptr()) != 0
            || ffi::PyCapsule_IsValid(o.as_ptr(), NEW.as_ptr()) != 0
    };
    let mut is_ordered = false;
    let capsule = if is_capsule(obj) || obj.is_instance_of::<PyCapsule>() {
        obj.clone()
    } else {
        let export = obj.getattr("__dlpack__")?;
        let options = PyDict::new(py);
        if let Some(gpu) = cuda_of(obj)? {
            // The exporter makes our stream wait for its own.
            options.set_item("stream", gpu.stream())?;
            is_ordered = true;
        }
        let old = options.copy()?;
        options.set_item("max_version", VERSION)?;
        match export.call(PyTuple::empty(py), Some(&options)) {
            // Exporters from before version 1 take no such option.
            Err(e) if e.is_instance_of::<PyTypeError>(py) => export.call(PyTuple::empty(py), Some(&old))?,
            other => other?,
        }
    };
    if !is_capsule(&capsule) {
        return Err(PyTypeError::new_err(
            "takes a capsule of DLPack that was not used before, or what has __dlpack__ and answers with one",
        ));
    }
    // SAFETY: the capsule is valid under one of the names; it is renamed as the specification asks of who takes what it
    // holds, and what it points to is the exporter's structure of that name.
    let (foreign, tensor) = unsafe {
        let versioned = ffi::PyCapsule_IsValid(capsule.as_ptr(), NEW.as_ptr()) != 0;
        let (name, used) = if versioned { (NEW, NEW_USED) } else { (OLD, OLD_USED) };
        let managed = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr());
        if versioned && (*managed.cast::<Versioned>()).major > VERSION.0 {
            let major = (*managed.cast::<Versioned>()).major;
            return Err(PyBufferError::new_err(format!(
                "DLPack of version {major}; versions up to 1 are known"
            )));
        }
        if ffi::PyCapsule_SetName(capsule.as_ptr(), used.as_ptr()) != 0 {
            return Err(PyErr::fetch(py));
        }
        let foreign = Foreign { managed, versioned };
        let tensor = match versioned {
            true => std::ptr::read(&raw const (*managed.cast::<Versioned>()).tensor),
            false => std::ptr::read(&raw const (*managed.cast::<Managed>()).tensor),
        };
        (foreign, tensor)
    };
    let shared = on_foreign(foreign, &tensor)?;
    let is_bool = from_dl_type(tensor.dtype) == Some(DType::Bool);
    if shared.device().is_cuda() && !is_ordered {
        // A capsule alone does not say on which stream its memory is written.
        compute(py, || {
            Gpu::of(shared.device())?.quiesce();
            Ok(())
        })?;
    }
    if !copy {
        return if is_bool { truths(py, &shared) } else { Ok(shared) };
    }
    compute(py, || {
        let own = if is_bool { shared.try_ne(0i64)? } else { shared.copy() };
        own.realize()?;
        Ok(own)
    })
}

/// Bytes, as they lie, as truth values: which they must be, 0 or 1.
fn truths(py: Python<'_>, bytes: &Tensor) -> PyResult<Tensor> {
    let (others, value) = compute(py, || {
        let others = bytes.try_ne(0i64)?.try_ne(bytes)?;
        Ok((others.to_dtype(DType::I64).sum().item::<i64>()?, bytes.value()?))
    })?;
    if others > 0 {
        let text = format!(
            "{others} of the bytes are no truth values: 0 or 1; with copy=True, what is not 0 is True"
        );
        return Err(PyValueError::new_err(text));
    }
    let (device, start, len) = (value.buffer.device(), value.buffer.as_mut_ptr(), value.buffer.len());
    // SAFETY: the memory of the buffer, which the owner keeps; all of its bytes that the layout reaches are truth values.
    let buffer =
        unsafe { Buffer::from_foreign_on(device, start, len, DType::Bool, Box::new(value.buffer.clone())) };
    Ok(Tensor::on(Value { buffer, layout: value.layout }))
}

/// The bits of a tensor's elements as elements of another dtype of the same size, on the same memory.
pub fn seen_as(py: Python<'_>, tensor: &PyTensor, dtype: DType) -> PyResult<PyTensor> {
    let (own, device, shape) = build(py, || Ok((tensor.t.dtype(), tensor.t.device(), tensor.t.shape())))?;
    if own == dtype {
        return tensor.view(py, |t| t.view(&crate::size::signed(&shape)));
    }
    if own.size() != dtype.size() {
        let text = format!(
            "view: the bits of {} (of {} bytes) as {} (of {}): takes a dtype of the same size",
            own.long_name(),
            own.size(),
            dtype.long_name(),
            dtype.size()
        );
        return Err(unfit(py, text));
    }
    if device.is_cuda() {
        let text = "view: bits are seen as another dtype on the host; bring the tensor there by cpu()";
        return Err(unfit(py, text.into()));
    }
    let detached = PyTensor::of(build(py, || Ok(tensor.t.detach()))?, tensor.is_borrowed());
    let (Value { buffer, layout }, exported) = detached.export(py)?;
    let (start, len) = (buffer.as_mut_ptr(), buffer.len());
    let seen = if dtype.is_bool() { DType::U8 } else { dtype };
    let owner = Box::new((buffer, exported));
    // SAFETY: the memory of the buffer, which the owner keeps, of elements of the same size; any bits are elements of a dtype that is not of truth values.
    let buffer = unsafe { Buffer::from_foreign_on(device, start, len, seen, owner) };
    let seen = Tensor::on(Value { buffer, layout });
    Ok(PyTensor::borrowed(if dtype.is_bool() { truths(py, &seen)? } else { seen }))
}

/// A tensor on foreign memory; of truth values, its bytes.
fn on_foreign(foreign: Foreign, dl: &DLTensor) -> PyResult<Tensor> {
    let device = match dl.device.kind {
        HOST | PINNED => Device::cpu(),
        CUDA => {
            Device::cuda(usize::try_from(dl.device.id).unwrap_or(usize::MAX)).map_err(|e| exception(&e))?
        }
        kind => {
            let text = format!("the memory is on a device of kind {kind}; bring it to the host first");
            return Err(PyBufferError::new_err(text));
        }
    };
    if device.is_cuda() {
        // Opened, for waiting when the memory is given back.
        Gpu::of(device).map_err(|e| exception(&e))?;
    }
    let Some(dtype) = from_dl_type(dl.dtype) else {
        let DLDataType { code, bits, lanes } = dl.dtype;
        let text = format!("no dtype has DLPack's code {code} with {bits} bits and {lanes} lanes");
        return Err(PyTypeError::new_err(text));
    };
    // Others may take other bytes than 0 and 1 for truth values.
    let dtype = if dtype.is_bool() { DType::U8 } else { dtype };
    let rank = usize::try_from(dl.ndim).unwrap_or(0);
    if rank > MAX_RANK {
        return Err(PyValueError::new_err(format!("{rank} axes; a tensor has at most {MAX_RANK}")));
    }
    let list = |ptr: *const i64| -> Option<&[i64]> {
        // SAFETY: as the specification has it, an array of `ndim` numbers, which the exporter keeps.
        (!ptr.is_null() && rank > 0).then(|| unsafe { std::slice::from_raw_parts(ptr, rank) })
    };
    let sizes: Vec<usize> = list(dl.shape).unwrap_or(&[]).iter().map(|&n| n.max(0) as usize).collect();
    let shape = Shape::new(&sizes).map_err(|e| exception(&e))?;
    let strides: Vec<isize> = match list(dl.strides) {
        Some(strides) => strides.iter().map(|&s| s as isize).collect(),
        None => Layout::contiguous(shape).strides().to_vec(),
    };
    let reach = |sign: isize| -> usize {
        let along = strides.iter().zip(&sizes).filter(|(s, n)| s.signum() == sign && **n > 0);
        along.map(|(s, n)| s.unsigned_abs() * (n - 1)).sum()
    };
    let empty = shape.numel() == 0;
    let (before, after) = if empty { (0, 0) } else { (reach(-1), reach(1)) };
    let len = if empty { 0 } else { before + after + 1 };
    let first = dl.data.cast::<u8>().wrapping_add(dl.byte_offset as usize);
    if len > 0 && (first.is_null() || first.align_offset(dtype.size()) != 0) {
        return Err(PyBufferError::new_err("the memory is not aligned to its elements"));
    }
    let start = first.wrapping_sub(before * dtype.size());
    // SAFETY: the exporter vouches for the elements that shape and strides reach, until the deleter is called; the owner
    // calls it.
    let buffer = unsafe { Buffer::from_foreign_on(device, start, len, dtype, Box::new(foreign)) };
    let layout = if empty { Ok(Layout::contiguous(shape)) } else { Layout::new(shape, &strides, before) };
    let layout = layout.map_err(|e| exception(&e))?;
    Ok(Tensor::on(Value { buffer, layout }))
}

/// A tensor of what another library exports by DLPack, on the device where it is: a copy, unless `copy=False` asks for its
/// memory.
///
/// Arguments:
///     ext_tensor: what has `__dlpack__`, or a capsule
///     device: where the result is; None is where `ext_tensor` is
///     copy: whether the memory is copied: True and None do, False shares it
///
/// Errors: AttributeError for what exports nothing.
///
/// >>> import numpy
/// >>> mg.from_dlpack(numpy.arange(3))
/// tensor([0, 1, 2])
#[pyfunction]
#[pyo3(signature = (ext_tensor, *, device=None, copy=None))]
pub fn from_dlpack(
    ext_tensor: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    copy: Option<bool>,
) -> PyResult<PyTensor> {
    let device = crate::device::usable_device(device)?;
    let copy = copy.unwrap_or(true);
    let t = imported(ext_tensor, copy)?;
    match device.filter(|&device| device != t.device()) {
        // On another device it is a copy.
        Some(device) => compute(ext_tensor.py(), || {
            let t = t.to(device)?;
            t.realize()?;
            Ok(t.into())
        }),
        None => Ok(if copy { t.into() } else { PyTensor::borrowed(t) }),
    }
}
