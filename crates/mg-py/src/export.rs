//! What Python gets of a tensor's elements: numbers, lists, NumPy's arrays, buffers.

use std::ffi::{CStr, c_int, c_void};

use mg_autograd::Tensor;
use mg_device::{Category, DType, Device, Element, Exported, MAX_RANK, with_element};
use mg_graph::Value;
use pyo3::exceptions::{PyBufferError, PyImportError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList};

use crate::attributes::{attributes_of, give};
use crate::dtype::optional_dtype;
use crate::error::{build, compute, exception, imported, not_in_handler, type_name, unfit};
use crate::format::{PyMemoryFormat, lying};
use crate::tensor::PyTensor;

/// The element at an offset that the value's layout reaches, as Python's number. Python may have no memory for it.
pub fn number<'py>(py: Python<'py>, value: &Value, at: usize) -> PyResult<Bound<'py, PyAny>> {
    let dtype = value.buffer.dtype();
    let ptr = value.buffer.as_ptr().wrapping_add(at * dtype.size());
    // SAFETY: the callers walk the layout, which lies within the buffer, on the host; the value is computed, so its memory
    // is initialised, and not written while it is held. Python's functions answer with a new reference, or with an error that they have set.
    unsafe {
        let made = match dtype.category() {
            Category::Float => {
                let v = with_element!(dtype, T => ptr.cast::<T>().read_unaligned().to_f64());
                ffi::PyFloat_FromDouble(v)
            }
            Category::Integer if dtype == DType::U64 => {
                ffi::PyLong_FromUnsignedLongLong(ptr.cast::<u64>().read_unaligned())
            }
            Category::Integer => {
                let v = with_element!(dtype, T => ptr.cast::<T>().read_unaligned().to_i64());
                ffi::PyLong_FromLongLong(v)
            }
            Category::Bool => return Ok(PyBool::new(py, ptr.read() != 0).to_owned().into_any()),
        };
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Bytes of Python's, which may have no memory for them.
pub fn to_bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |to| {
        to.copy_from_slice(bytes);
        Ok(())
    })
}

fn nested<'py>(py: Python<'py>, value: &Value, axis: usize, at: isize) -> PyResult<Bound<'py, PyAny>> {
    if axis == value.layout.rank() {
        return number(py, value, at as usize);
    }
    let (n, stride) = (value.layout.shape()[axis], value.layout.strides()[axis]);
    // SAFETY: a new list, or an error that was set.
    let list = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyList_New(0))?.cast_into::<PyList>()? };
    for i in 0..n {
        list.append(nested(py, value, axis + 1, at + i as isize * stride)?)?;
    }
    Ok(list.into_any())
}

impl PyTensor {
    /// The computed value, in memory that whoever gets it shares; see [`Tensor::export`].
    pub fn export(&self, py: Python<'_>) -> PyResult<(Value, Option<Exported>)> {
        compute(py, || self.t.export())
    }

    /// The only element.
    pub fn only<'py>(&self, py: Python<'py>, op: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.host_value(py)?;
        if value.layout.numel() != 1 {
            let text = format!("{op} takes a tensor of one element, got shape {}", value.layout.shape());
            return Err(unfit(py, text));
        }
        number(py, &value, value.layout.offset())
    }

    fn numpy_array<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyAny>> {
        let numpy = slf.py().import("numpy").map_err(|cause| {
            // What is no failure of the import (Ctrl-C) goes on.
            if !cause.is_instance_of::<PyImportError>(slf.py()) {
                return cause;
            }
            let error =
                PyImportError::new_err("NumPy is needed for this, and is not installed: pip install numpy");
            error.set_cause(slf.py(), Some(cause));
            error
        })?;
        let t = &slf.get().t;
        let (dtype, device) = build(slf.py(), || Ok((t.dtype(), t.device())))?;
        if !device.is_cpu() {
            let text =
                format!("NumPy reads the host's memory, and the tensor is on {device}: t.cpu().numpy()");
            return Err(PyTypeError::new_err(text));
        }
        if dtype.struct_code().is_none() {
            let bits = if dtype.is_narrow() { ", or t.view(uint8).numpy() for its codes" } else { "" };
            let text = format!("NumPy has no {}; convert first: t.float().numpy(){bits}", dtype.long_name());
            return Err(PyTypeError::new_err(text));
        }
        numpy.call_method1("asarray", (pyo3::types::PyMemoryView::from(slf.as_any())?,))
    }
}

#[pymethods]
impl PyTensor {
    /// The only element as Python's number.
    ///
    /// Errors: ArgumentError for several elements, or for none.
    ///
    /// >>> mg.tensor([[2.5]]).item()
    /// 2.5
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.only(py, "item()")
    }

    /// The elements as nested lists; a number for a tensor without axes.
    ///
    /// >>> mg.tensor([[1, 2], [3, 4]]).tolist(), mg.tensor(5.0).tolist()
    /// ([[1, 2], [3, 4]], 5.0)
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.host_value(py)?;
        nested(py, &value, 0, value.layout.offset() as isize)
    }

    /// A NumPy array on the tensor's own memory: what is written to either is seen by the other. Operations on the tensor are
    /// computed before they return, while there is such an array. That of a tensor which requires a gradient is read-only, and
    /// shows the values as they are now; `t.detach().numpy()` shares. `numpy.array(t)` is a copy. With `force`, as
    /// `t.detach().cpu().numpy()`.
    ///
    /// Arguments:
    ///     force: whether what NumPy cannot read as it is (a tensor that requires a gradient, or is on a device) is copied until it can
    ///
    /// >>> x = mg.tensor([1.0, 2.0])
    /// >>> a = x.numpy()
    /// >>> a[0] = 9
    /// >>> x
    /// tensor([9., 2.])
    #[pyo3(signature = (*, force=false))]
    fn numpy<'py>(slf: &Bound<'py, PyTensor>, force: bool) -> PyResult<Bound<'py, PyAny>> {
        if !force {
            return PyTensor::numpy_array(slf);
        }
        let py = slf.py();
        let plain = slf.get().view(py, |t| t.detach().to(Device::cpu()))?;
        PyTensor::numpy_array(&Bound::new(py, plain)?)
    }

    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, PyTensor>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let array = PyTensor::numpy_array(slf)?;
        let other = match dtype.filter(|d| !d.is_none()) {
            Some(dtype) => !array.getattr("dtype")?.eq(dtype)?,
            None => false,
        };
        match (other, copy) {
            (true, Some(false)) => Err(PyValueError::new_err("another dtype cannot be had without a copy")),
            (true, _) => array.call_method1("astype", (dtype,)),
            (false, Some(true)) => array.call_method0("copy"),
            (false, _) => Ok(array),
        }
    }

    /// Fills in Python's buffer protocol.
    ///
    /// # Safety
    ///
    /// `view` is a buffer to be filled.
    unsafe fn __getbuffer__(
        slf: Bound<'_, PyTensor>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let (value, exported) = slf.get().export(slf.py())?;
        let refuse = |text: &str| Err(PyBufferError::new_err(text.to_string()));
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE && exported.is_none() {
            return refuse(
                "the memory of a tensor that requires a gradient is read-only to others; t.detach() can be written",
            );
        }
        if !value.buffer.device().is_cpu() {
            return refuse("a tensor on a CUDA device has no buffer on the host; t.cpu() has");
        }
        let dtype = value.buffer.dtype();
        let Some(format) = dtype.struct_code() else {
            let text = format!("{} has no code in the buffer protocol; t.float() has", dtype.long_name());
            return refuse(&text);
        };
        let strided = flags & ffi::PyBUF_STRIDES == ffi::PyBUF_STRIDES;
        if !strided && !value.layout.is_contiguous() {
            return refuse("the tensor is not contiguous; t.contiguous() is");
        }
        let readonly = c_int::from(exported.is_none());
        let export = Box::new(Export::new(value, exported, format));
        // SAFETY: `view` is the caller's to fill. What it points to lives in the export, which `__releasebuffer__` frees,
        // and the object that it holds a count of keeps the type alive.
        unsafe {
            (*view).buf = export.start as *mut c_void;
            (*view).len = export.len;
            (*view).itemsize = export.itemsize;
            (*view).readonly = readonly;
            (*view).ndim = export.rank as c_int;
            (*view).format = match flags & ffi::PyBUF_FORMAT == ffi::PyBUF_FORMAT {
                true => export.format.as_ptr().cast_mut(),
                false => std::ptr::null_mut(),
            };
            let with_shape = flags & ffi::PyBUF_ND == ffi::PyBUF_ND;
            (*view).shape = if with_shape { export.shape.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).strides = if strided { export.strides.as_ptr().cast_mut() } else { std::ptr::null_mut() };
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = Box::into_raw(export).cast();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }

    /// Takes a buffer back.
    ///
    /// # Safety
    ///
    /// `view` is from `__getbuffer__`.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `internal` is the box that `__getbuffer__` made for this view, which is given back once.
        drop(unsafe { Box::from_raw((*view).internal.cast::<Export>()) });
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.only(py, "float()")?.extract()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let only = self.only(py, "int()")?;
        py.get_type::<PyInt>().call1((only,))
    }

    fn __index__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // Any other error than a TypeError would keep Python from trying what else a tensor is: a buffer to `bytes`.
        let (shape, dtype) = build(py, || Ok((self.t.shape(), self.t.dtype())))?;
        if shape.numel() != 1 || dtype.is_float() {
            let text = format!(
                "only a tensor of one integer can be an index, got shape {shape} of {}",
                dtype.long_name()
            );
            return Err(PyTypeError::new_err(text));
        }
        let only = self.only(py, "an index")?;
        // A truth value is an int to Python, but __index__ must answer with a plain one.
        if only.is_instance_of::<PyBool>() { py.get_type::<PyInt>().call1((only,)) } else { Ok(only) }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let value = self.value(py)?;
        if value.layout.numel() != 1 {
            let text = format!(
                "a tensor of shape {} is neither true nor false: use t.any() or t.all(), or equal(a, b)",
                value.layout.shape()
            );
            return Err(unfit(py, text));
        }
        self.only(py, "bool()")?.is_truthy()
    }

    #[pyo3(signature = (ndigits=None))]
    fn __round__<'py>(&self, py: Python<'py>, ndigits: Option<i32>) -> PyResult<Bound<'py, PyAny>> {
        let round = py.import("builtins")?.getattr("round")?;
        round.call1((self.only(py, "round()")?, ndigits))
    }

    fn __format__<'py>(slf: &Bound<'py, PyTensor>, spec: &str) -> PyResult<Bound<'py, PyAny>> {
        not_in_handler()?;
        // A number is written as Python's are, everything else as `str` writes it.
        if spec.is_empty() && (slf.get().t.shape().rank() > 0 || slf.get().t.current_is_traced()) {
            return Ok(slf.str()?.into_any());
        }
        let py = slf.py();
        let only = slf.get().only(py, "a format")?;
        py.import("builtins")?.getattr("format")?.call1((only, spec))
    }

    /// The distance between neighbours along each axis in memory, in elements.
    ///
    /// >>> mg.zeros(2, 3).strides
    /// (3, 1)
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::size::size(py, build(py, || self.t.lie())?.strides().iter().copied())
    }

    /// The distance between neighbours along each axis in memory, in elements, or along one axis.
    ///
    /// Arguments:
    ///     dim: which axis, counted from the end if it is negative; None is all of them
    ///
    /// Errors: IndexError for an axis out of range.
    ///
    /// >>> x = mg.zeros(2, 3)
    /// >>> x.stride(), x.T.stride()
    /// ((3, 1), (1, 3))
    #[pyo3(signature = (dim=None))]
    fn stride<'py>(&self, py: Python<'py>, dim: Option<isize>) -> PyResult<Bound<'py, PyAny>> {
        let Some(dim) = dim else { return self.strides(py) };
        let layout = build(py, || self.t.lie())?;
        let axis = mg_device::normalize_axis(dim, layout.rank()).map_err(|e| exception(&e))?;
        Ok(layout.strides()[axis].into_pyobject(py)?.into_any())
    }

    /// Where the first element lies in its memory, in elements.
    ///
    /// >>> mg.arange(5)[2:].storage_offset()
    /// 2
    fn storage_offset(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(build(py, || self.t.lie())?.offset())
    }

    /// The address of the first element; the others lie from there as `stride()` says.
    ///
    /// >>> x = mg.tensor([1.0, 2.0])
    /// >>> x[1:].data_ptr() - x.data_ptr()
    /// 4
    fn data_ptr(&self, py: Python<'_>) -> PyResult<u64> {
        compute(py, || self.t.address())
    }

    /// Whether the elements lie in memory in row-major order without gaps; with `channels_last` whether they do with the axis of
    /// channels, the second one, taken as the last.
    ///
    /// Arguments:
    ///     memory_format: which order is asked for: `contiguous_format`, `channels_last` or `channels_last_3d`; None is the first
    ///
    /// >>> x = mg.zeros(2, 3)
    /// >>> x.is_contiguous(), x.T.is_contiguous()
    /// (True, False)
    #[pyo3(signature = (memory_format=None))]
    fn is_contiguous(&self, py: Python<'_>, memory_format: Option<PyMemoryFormat>) -> PyResult<bool> {
        let axes = match memory_format {
            None | Some(PyMemoryFormat::contiguous_format | PyMemoryFormat::preserve_format) => {
                return build(py, || self.t.is_contiguous());
            }
            Some(PyMemoryFormat::channels_last) => 4,
            Some(PyMemoryFormat::channels_last_3d) => 5,
        };
        build(py, || Ok(self.t.rank() == axes && self.t.is_channels_last()?))
    }

    /// The elements in memory of their own in row-major order; the tensor itself where they are already. With `channels_last` the second of
    /// four axes is innermost (of five with `channels_last_3d`); what elementwise operations make of that lies so as well, and what
    /// convolutions on CUDA do.
    ///
    /// Arguments:
    ///     memory_format: in which order: `contiguous_format`, `channels_last` or `channels_last_3d`; None is the first
    ///
    /// Errors: RuntimeError for other than four axes with `channels_last`, other than five with `channels_last_3d`.
    ///
    /// >>> x = mg.tensor([[1, 2], [3, 4]]).T
    /// >>> x.stride(), x.contiguous().stride()
    /// ((1, 2), (2, 1))
    /// >>> mg.zeros(2, 3, 4, 4).contiguous(memory_format=mg.channels_last).stride()
    /// (48, 1, 12, 3)
    #[pyo3(signature = (memory_format=None))]
    fn contiguous<'py>(
        slf: Bound<'py, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let format = memory_format.unwrap_or(PyMemoryFormat::contiguous_format);
        if format == PyMemoryFormat::preserve_format {
            return Err(PyRuntimeError::new_err(
                "contiguous() takes a format that there is, got preserve_format",
            ));
        }
        lying(slf, Some(format))
    }
}

/// What an exported buffer points to.
struct Export {
    /// Keeps the memory, which the engine does not use again meanwhile.
    _value: Value,
    /// Who has the buffer sees what is written to the tensor, and the other way round.
    _exported: Option<Exported>,
    start: *const u8,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    rank: usize,
    format: &'static CStr,
    shape: [ffi::Py_ssize_t; MAX_RANK],
    strides: [ffi::Py_ssize_t; MAX_RANK],
}

impl Export {
    fn new(value: Value, exported: Option<Exported>, format: &'static CStr) -> Export {
        let size = value.buffer.dtype().size();
        let (mut shape, mut strides) = ([0; MAX_RANK], [0; MAX_RANK]);
        for (axis, (&n, &stride)) in value.layout.shape().iter().zip(value.layout.strides()).enumerate() {
            (shape[axis], strides[axis]) = (n as isize, stride * size as isize);
        }
        Export {
            start: value.buffer.as_ptr().wrapping_add(value.layout.offset() * size),
            len: (value.layout.numel() * size) as isize,
            itemsize: size as isize,
            rank: value.layout.rank(),
            format,
            shape,
            strides,
            _value: value,
            _exported: exported,
        }
    }
}

/// A tensor on a NumPy array's own memory: what is written to the array is seen by operations that come later. Arrays that
/// cannot be used as they are (unaligned, of types that tensors do not have) are copied.
///
/// Arguments:
///     array: the array
///
/// Errors: TypeError for what is no array, or one of other than numbers.
///
/// >>> import numpy
/// >>> a = numpy.zeros(2, dtype="float32")
/// >>> x = mg.from_numpy(a)
/// >>> a[0] = 9
/// >>> x
/// tensor([9., 0.])
#[pyfunction]
pub fn from_numpy(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    if !array.hasattr("__array_interface__")? {
        let text = format!("from_numpy takes a NumPy array, got {}", type_name(array));
        return Err(PyTypeError::new_err(text));
    }
    if let Some(t) = crate::import::shared(array)? {
        return Ok(PyTensor::borrowed(t));
    }
    let t = crate::import::copied(array)?;
    compute(py, || t.realize().map(|_| ()))?;
    Ok(t.into())
}

/// What was pickled: the elements' bytes in row-major order, and whether the second axis is to be innermost.
#[pyfunction]
#[pyo3(signature = (bytes, shape, dtype, device, requires_grad, innermost=false))]
pub fn _rebuild(
    bytes: &[u8],
    shape: Vec<usize>,
    dtype: &Bound<'_, PyAny>,
    device: &Bound<'_, PyAny>,
    requires_grad: bool,
    innermost: bool,
) -> PyResult<PyTensor> {
    let py = dtype.py();
    let dtype = optional_dtype(Some(dtype))?.unwrap_or(DType::F32);
    let shape = mg_device::Shape::new(&shape).map_err(|e| exception(&e))?;
    if shape.numel().checked_mul(dtype.size()) != Some(bytes.len()) {
        let text = format!("{} bytes are no tensor of {} and shape {shape}", bytes.len(), dtype.long_name());
        return Err(PyValueError::new_err(text));
    }
    let buffer = mg_device::Buffer::uninit(Device::cpu(), dtype, shape.numel()).map_err(|e| exception(&e))?;
    if dtype == DType::Bool && bytes.iter().any(|&b| b > 1) {
        return Err(PyValueError::new_err("a truth value that is neither 0 nor 1"));
    }
    // SAFETY: the buffer is new and holds as many bytes; truth values are 0 or 1, all else takes any bits.
    unsafe { buffer.as_mut_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    let t = mg_autograd::Tensor::from_buffer(buffer, shape);
    let t = t.and_then(|t| if innermost { t.channels_last() } else { Ok(t) }).map_err(|e| exception(&e))?;
    PyTensor::finished(py, t, Some(device), None, requires_grad)
}

/// The value in memory of its own.
fn copied(t: &Tensor) -> mg_device::Result<Tensor> {
    let copy = t.detach().copy();
    copy.realize()?;
    Ok(copy)
}

#[pymethods]
impl PyTensor {
    fn __reduce__<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let rebuild = py.import("micrograd_rs._micrograd_rs")?.getattr("_rebuild")?;
        let device = build(py, || Ok(this.t.device()))?;
        let innermost = build(py, || this.t.is_turned_to_channels())?;
        let value = compute(py, || this.t.dense_value())?;
        let bytes = value.dense_bytes().map_err(|e| exception(&e))?;
        let bytes = to_bytes(py, bytes)?;
        let leaf = this.t.requires_grad();
        let shape: Vec<usize> = value.layout.shape().to_vec();
        let shape = pyo3::types::PyTuple::new(py, shape)?;
        let (dtype, device) = (value.buffer.dtype().name(), device.to_string());
        let arguments = match innermost {
            false => (bytes, shape, dtype, device, leaf).into_pyobject(py)?,
            true => (bytes, shape, dtype, device, leaf, true).into_pyobject(py)?,
        };
        Ok(match attributes_of(slf)? {
            Some(attributes) => (rebuild, arguments, attributes).into_pyobject(py)?.into_any(),
            None => (rebuild, arguments).into_pyobject(py)?.into_any(),
        })
    }

    /// Another tensor on the same memory, which requires a gradient if this one does.
    fn __copy__<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyTensor>> {
        let (py, this) = (slf.py(), slf.get());
        let t = &this.t;
        let copy = build(py, || t.detach().requires_grad_(t.requires_grad()))?;
        let copy = Bound::new(py, PyTensor::of(copy, this.borrowed))?;
        if let Some(attributes) = attributes_of(slf)? {
            give(&copy, &attributes)?;
        }
        Ok(copy)
    }

    /// A copy in memory of its own, with a copy of its gradient; tensors that share memory and are copied together share the
    /// copy's. Leaves and constants only: what computed a result is not copied.
    fn __deepcopy__<'py>(
        slf: &Bound<'py, PyTensor>,
        memo: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        not_in_handler()?;
        let (py, t) = (memo.py(), &slf.get().t);
        // `x.float()` and its like may answer with another object of the same tensor.
        let this = ("micrograd_rs.tensor", t.id());
        if let Some(copy) = memo.get_item(this)? {
            return Ok(copy.cast_into::<PyTensor>()?);
        }
        if !t.is_leaf() {
            let text = "only leaves can be deep-copied; use t.detach().clone() for the value of a result";
            return Err(PyRuntimeError::new_err(text));
        }
        let copy = match build(py, || t.sharing())? {
            None => compute(py, || copied(t))?,
            Some(sharing) => {
                // All of the memory is copied, once for all that see it.
                let key = ("micrograd_rs.memory", sharing.id);
                let whole = match memo.get_item(key)? {
                    Some(whole) => whole.cast_into::<PyTensor>()?,
                    None => {
                        let whole = compute(py, || copied(&sharing.whole))?;
                        let whole = Bound::new(py, PyTensor::from(whole))?;
                        memo.set_item(key, &whole)?;
                        whole
                    }
                };
                let whole = &whole.get().t;
                build(py, || Ok(whole.seen_as(&sharing)))?
            }
        };
        let copy = build(py, || copy.requires_grad_(t.requires_grad()))?;
        let copy = Bound::new(py, PyTensor::from(copy))?;
        memo.set_item(this, &copy)?;
        // What was made a parameter or a buffer is one, frozen or not; a parameter's copy begins without a gradient, as PyTorch's.
        let mut is_parameter = false;
        if let Some(known) = imported(py, "micrograd_rs.nn.parameter")? {
            let marks = known.call_method1("marks_of", (slf,))?;
            known.call_method1("mark_as", (&copy, &marks))?;
            is_parameter = marks.get_item(0)?.is_truthy()?;
        }
        if !is_parameter && let Some(grad) = PyTensor::grad_object(slf)? {
            let of = &grad.get().t;
            let detached = build(py, || Ok((!of.is_leaf()).then(|| of.detach())))?;
            let grad = match detached {
                Some(detached) => Bound::new(py, PyTensor::from(detached))?,
                None => grad,
            };
            let grad = py.import("copy")?.call_method1("deepcopy", (grad, memo))?;
            PyTensor::set_grad(&copy, Some(grad.cast::<PyTensor>()?))?;
        }
        if let Some(attributes) = attributes_of(slf)? {
            let attributes = py.import("copy")?.call_method1("deepcopy", (attributes, memo))?;
            give(&copy, attributes.cast::<PyDict>()?)?;
        }
        Ok(copy)
    }
}
