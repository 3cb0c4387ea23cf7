//! `Tensor`: the handle that Python holds, and what it tells about itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use mg_autograd::{Operand, Tensor};
use mg_device::cuda::Gpu;
use mg_device::{DType, Device, Result};
use mg_graph::Value;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyTuple, PyWeakrefMethods, PyWeakrefReference};

use crate::custom::PyHistory;
use crate::device::{PyDevice, usable_device};
use crate::dtype::{PyDType, optional_dtype};
use crate::error::{build, compute, said_by};
use crate::{nested, size};

/// A tensor: N-dimensional, of one dtype, on one device, computed when its value is needed.
///
/// `Tensor(data)` makes a leaf of the default dtype that requires a gradient, of numbers, nested sequences, generators, arrays or tensors;
/// two whole numbers or more, alone, are the sizes of zeros that do not; `tensor(data)` and the other factories make constants with PyTorch's dtypes. Operations record what they are; the work
/// is done when a value is looked at, in as few passes over memory as possible.
///
/// Arguments:
///     data: what is in it
///     shape: the shape that the elements are put into, by itself that of `data`
///     requires_grad: whether it is a leaf whose gradient is kept; True by itself, unless there are sizes alone
///     sizes: the other sizes, where there are sizes alone
///
/// Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers.
///
/// >>> x = mg.Tensor([[1.0, 2.0], [3.0, 4.0]])
/// >>> y = (x @ x).relu().sum()
/// >>> y.backward()
/// >>> x.grad
/// tensor([[ 7., 11.],
///         [ 9., 13.]])
#[pyclass(frozen, mapping, weakref, dict, name = "Tensor", module = "micrograd_rs")]
pub struct PyTensor {
    pub t: Tensor,
    /// Its memory is somebody else's, who may write it: what reads it is computed at once, while other threads run.
    pub borrowed: bool,
    /// Python's object of the gradient, while somebody has it: `t.grad is t.grad`.
    grad: Mutex<Option<GradObject>>,
    /// What it is the gradient of, as far as Python knows that.
    gradient_of: Mutex<Option<Py<PyWeakrefReference>>>,
    /// A program has given it attributes.
    pub(crate) has_attributes: AtomicBool,
}

impl From<Tensor> for PyTensor {
    #[inline]
    fn from(t: Tensor) -> PyTensor {
        PyTensor::of(t, false)
    }
}

/// Python's object of a gradient.
struct GradObject {
    object: Py<PyWeakrefReference>,
    /// The object itself, where a program has given it attributes: they stay with the gradient.
    kept: Option<Py<PyTensor>>,
}

/// What stands beside a tensor in an operation.
pub struct Other {
    pub operand: Operand,
    pub borrowed: bool,
    /// It was an integer beyond i64: a float beside floats, and nothing beside integers.
    pub huge: bool,
}

impl From<Operand> for Other {
    #[inline]
    fn from(operand: Operand) -> Other {
        Other { operand, borrowed: false, huge: false }
    }
}

/// Waits until nobody of this process works on the device; at once for the CPU.
fn settled(device: Device) -> Result<()> {
    if device.is_cuda() {
        Gpu::of(device)?.quiesce();
    }
    Ok(())
}

impl PyTensor {
    /// A tensor; `borrowed` says whether its memory is somebody else's.
    #[inline]
    pub fn of(t: Tensor, borrowed: bool) -> PyTensor {
        let (grad, gradient_of) = (Mutex::new(None), Mutex::new(None));
        PyTensor { t, borrowed, grad, gradient_of, has_attributes: AtomicBool::new(false) }
    }

    /// A tensor whose memory is somebody else's.
    pub fn borrowed(t: Tensor) -> PyTensor {
        PyTensor::of(t, true)
    }

    /// Python's object of the gradient: the one that somebody has, or a new one.
    pub fn grad_object<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Option<Bound<'py, PyTensor>>> {
        let (py, of) = (slf.py(), slf.get());
        let Some(grad) = build(py, || Ok(of.t.grad()))? else { return Ok(None) };
        let is_it = |known: &Bound<'py, PyAny>| known.cast::<PyTensor>().is_ok_and(|t| t.get().t.is(&grad));
        let known = {
            let slot = of.grad.lock().unwrap_or_else(PoisonError::into_inner);
            slot.as_ref().and_then(|known| known.object.bind(py).upgrade())
        };
        if let Some(known) = known.filter(is_it) {
            return Ok(Some(known.cast_into::<PyTensor>()?));
        }
        let gradient_of = Mutex::new(Some(PyWeakrefReference::new(slf.as_any())?.unbind()));
        let made = Bound::new(py, PyTensor { gradient_of, ..PyTensor::from(grad.clone()) })?;
        let object = PyWeakrefReference::new(made.as_any())?.unbind();
        // Of threads that ask at once all are answered with the object of the first. What is let go by it goes when no lock is held.
        let (known, old) = {
            let mut slot = of.grad.lock().unwrap_or_else(PoisonError::into_inner);
            let known = slot.as_ref().and_then(|known| known.object.bind(py).upgrade());
            match known.as_ref().is_some_and(is_it) {
                true => (known, None),
                false => (known, slot.replace(GradObject { object, kept: None })),
            }
        };
        drop(old);
        match known.filter(is_it) {
            Some(known) => Ok(Some(known.cast_into::<PyTensor>()?)),
            None => Ok(Some(made)),
        }
    }

    fn remember_grad(slf: &Bound<'_, PyTensor>, grad: &Bound<'_, PyTensor>) -> PyResult<()> {
        let object = PyWeakrefReference::new(grad.as_any())?.unbind();
        let kept = grad.get().has_attributes.load(Ordering::Relaxed).then(|| grad.clone().unbind());
        let known = GradObject { object, kept };
        let old = slf.get().grad.lock().unwrap_or_else(PoisonError::into_inner).replace(known);
        let of = PyWeakrefReference::new(slf.as_any())?.unbind();
        let before = grad.get().gradient_of.lock().unwrap_or_else(PoisonError::into_inner).replace(of);
        // Objects of Python's go when no lock is held.
        drop((old, before));
        Ok(())
    }

    /// Says that a program gives the tensor attributes: as a gradient it is kept with them, as long as it is one.
    pub(crate) fn keep_with_attributes(slf: &Bound<'_, PyTensor>) {
        slf.get().has_attributes.store(true, Ordering::Relaxed);
        let of = {
            let of = slf.get().gradient_of.lock().unwrap_or_else(PoisonError::into_inner);
            of.as_ref().and_then(|of| of.bind(slf.py()).upgrade())
        };
        let Some(of) = of.and_then(|of| of.cast_into::<PyTensor>().ok()) else { return };
        // What is let go by it goes when no lock is held.
        let let_go = {
            let mut slot = of.get().grad.lock().unwrap_or_else(PoisonError::into_inner);
            slot.as_mut().map(|known| {
                let object = known.object.bind(slf.py()).upgrade();
                let is_it = object.as_ref().is_some_and(|object| object.is(slf));
                let before = is_it.then(|| known.kept.replace(slf.clone().unbind())).flatten();
                (object, before)
            })
        };
        drop(let_go);
    }

    /// Forgets Python's object of the gradient, which is none any more.
    fn forget_grad(&self) {
        let old = self.grad.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(old);
    }

    /// Whether its memory is somebody else's.
    pub fn is_borrowed(&self) -> bool {
        self.borrowed
    }

    /// The result of an operation; `borrowed` says whether it reads memory that is somebody else's.
    #[inline]
    pub fn result(py: Python<'_>, t: Tensor, borrowed: bool) -> PyResult<PyTensor> {
        // What stands for many examples is computed when they are.
        if borrowed && !t.current_is_traced() {
            compute(py, || {
                let device = t.device();
                // On a CUDA device its owner writes it on streams of its own: before this work, or after.
                settled(device)?;
                t.realize()?;
                device.synchronize()
            })?;
        }
        Ok(t.into())
    }

    /// An operation on this tensor alone.
    #[inline]
    pub fn unary(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&Tensor) -> Result<Tensor> + Send,
    ) -> PyResult<PyTensor> {
        let t = build(py, || f(&self.t))?;
        PyTensor::result(py, t, self.borrowed)
    }

    /// An operation on this tensor and another operand.
    #[inline]
    pub fn binary(
        &self,
        py: Python<'_>,
        other: Other,
        f: impl FnOnce(&Tensor, Operand) -> Result<Tensor> + Send,
    ) -> PyResult<PyTensor> {
        let borrowed = self.borrowed || other.borrowed;
        if other.huge && !self.t.dtype().is_float() {
            return Err(PyValueError::new_err(format!(
                "an integer beyond 2**63 does not fit {}",
                self.t.dtype().long_name()
            )));
        }
        let t = build(py, || f(&self.t, other.operand))?;
        PyTensor::result(py, t, borrowed)
    }

    /// A view: shares memory with this tensor, and writes to it reach it.
    #[inline]
    pub fn view(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&Tensor) -> Result<Tensor> + Send,
    ) -> PyResult<PyTensor> {
        let t = build(py, || f(&self.t))?;
        Ok(PyTensor::of(t, self.borrowed))
    }

    /// Changes the tensor in place.
    #[inline]
    pub fn write(&self, py: Python<'_>, f: impl FnOnce(&Tensor) -> Result<()> + Send) -> PyResult<()> {
        self.write_by(py, || mg_autograd::in_place(|| f(&self.t)))
    }

    /// Calls what changes the tensor in place.
    #[inline]
    pub fn write_by(&self, py: Python<'_>, write: impl FnOnce() -> Result<()> + Send) -> PyResult<()> {
        if self.borrowed { compute(py, write) } else { build(py, write) }
    }

    /// What a factory has made, in page-locked memory. A leaf stays one.
    pub fn pinned(py: Python<'_>, t: &Tensor) -> PyResult<Tensor> {
        compute(py, || {
            let pinned = t.detach().pin_memory()?;
            if t.requires_grad() { pinned.requires_grad_(true) } else { Ok(pinned) }
        })
    }

    /// A tensor from what the factories take besides their data.
    pub fn finished(
        py: Python<'_>,
        t: Tensor,
        device: Option<&Bound<'_, PyAny>>,
        pin_memory: Option<bool>,
        requires_grad: bool,
    ) -> PyResult<PyTensor> {
        let device = usable_device(device)?;
        let t = match device {
            Some(device) => build(py, || t.to(device))?,
            None => t,
        };
        let t = if pin_memory == Some(true) { PyTensor::pinned(py, &t)? } else { t };
        let t = if requires_grad { build(py, || t.requires_grad_(true))? } else { t };
        Ok(t.into())
    }

    /// The computed value in the host's memory: a copy of what lies on another device.
    pub fn host_value(&self, py: Python<'_>) -> PyResult<Value> {
        if self.borrowed {
            compute(py, || settled(self.t.device()))?;
        }
        if build(py, || Ok(self.t.device().is_cpu()))? {
            self.value(py)
        } else {
            compute(py, || self.t.host_value())
        }
    }

    /// The computed value; computing it lets other Python threads run.
    pub fn value(&self, py: Python<'_>) -> PyResult<Value> {
        let pending = build(py, || Ok(self.t.node().is_pending()))?;
        if pending { compute(py, || self.t.value()) } else { build(py, || self.t.value()) }
    }
}

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (data, shape=None, device=None, dtype=None, requires_grad=None, *sizes))]
    #[allow(clippy::too_many_arguments)] // PyTorch's sizes may come in their places.
    fn new(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        shape: Option<&Bound<'_, PyAny>>,
        device: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        requires_grad: Option<&Bound<'_, PyAny>>,
        sizes: &Bound<'_, PyTuple>,
    ) -> PyResult<PyTensor> {
        // `Tensor(2, 3)`: whole numbers alone, two or more, are sizes.
        let whole = |o: &Bound<'_, PyAny>| o.is_exact_instance_of::<PyInt>();
        if whole(data) && shape.is_some_and(whole) {
            let places = [Some(data), shape, device, dtype, requires_grad];
            let given: Vec<_> = places.into_iter().flatten().cloned().chain(sizes.iter()).collect();
            if given.iter().all(whole) {
                let shape = size::shape(PyTuple::new(py, given)?.as_any())?;
                return Ok(build(py, || Tensor::zeros(&shape, DType::default_float()))?.into());
            }
        }
        if !sizes.is_empty() {
            return Err(PyTypeError::new_err(
                "takes data and a shape, or whole numbers alone, which are sizes",
            ));
        }
        let requires_grad =
            requires_grad.filter(|o| !o.is_none()).map(|o| o.extract::<bool>()).transpose()?;
        // Before the data is read, which may be long.
        usable_device(device)?;
        let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
        let mut t = nested::tensor(data, Some(dtype)).map_err(|error| said_by(py, "Tensor", error))?;
        if let Some(shape) = shape.filter(|s| !s.is_none()) {
            let shape = size::signed(&size::shape(shape)?);
            // A leaf stands for itself, not for a view of what was read.
            t = build(py, || Ok(t.reshape(&shape)?.snapshot()))?;
        }
        PyTensor::finished(py, t, device, None, requires_grad.unwrap_or(dtype.is_float()))
    }

    /// The sizes of the axes: a tuple that also compares equal to lists.
    ///
    /// >>> x = mg.zeros(2, 3)
    /// >>> x.shape, x.shape[0]
    /// ((2, 3), 2)
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let shape = build(py, || Ok(self.t.shape()))?;
        size::size(py, shape.iter().copied())
    }

    /// The sizes of the axes, or of one.
    ///
    /// Arguments:
    ///     dim: which axis, counted from the end if it is negative; None is all of them
    ///
    /// Errors: IndexError for an axis out of range.
    ///
    /// >>> x = mg.zeros(2, 3)
    /// >>> x.size(), x.size(-1)
    /// ((2, 3), 3)
    #[pyo3(signature = (dim=None))]
    fn size<'py>(&self, py: Python<'py>, dim: Option<isize>) -> PyResult<Bound<'py, PyAny>> {
        match dim {
            None => self.shape(py),
            Some(dim) => Ok(build(py, || self.t.size(dim))?.into_pyobject(py)?.into_any()),
        }
    }

    /// The number of axes.
    ///
    /// >>> mg.zeros(2, 3).ndim
    /// 2
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        build(py, || Ok(self.t.rank()))
    }

    /// The number of axes.
    ///
    /// >>> mg.zeros(2, 3).dim()
    /// 2
    fn dim(&self, py: Python<'_>) -> PyResult<usize> {
        self.ndim(py)
    }

    /// The number of elements.
    ///
    /// >>> mg.zeros(2, 3).numel()
    /// 6
    fn numel(&self, py: Python<'_>) -> PyResult<usize> {
        build(py, || Ok(self.t.numel()))
    }

    /// The number of elements.
    ///
    /// >>> mg.zeros(2, 3).nelement()
    /// 6
    fn nelement(&self, py: Python<'_>) -> PyResult<usize> {
        self.numel(py)
    }

    /// Bytes an element takes.
    ///
    /// >>> mg.zeros(2, dtype=mg.int16).itemsize
    /// 2
    #[getter]
    fn itemsize(&self, py: Python<'_>) -> PyResult<usize> {
        build(py, || Ok(self.t.dtype().size()))
    }

    /// Bytes an element takes.
    ///
    /// >>> mg.zeros(2).element_size(), mg.zeros(2, dtype=mg.float64).element_size()
    /// (4, 8)
    fn element_size(&self, py: Python<'_>) -> PyResult<usize> {
        self.itemsize(py)
    }

    /// Bytes that all elements take.
    ///
    /// >>> mg.zeros(2, 3).nbytes
    /// 24
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        build(py, || Ok(self.t.numel() * self.t.dtype().size()))
    }

    /// The dtype.
    ///
    /// >>> mg.tensor([1, 2]).dtype, mg.tensor([1.0]).dtype
    /// (micrograd_rs.int64, micrograd_rs.float32)
    #[getter]
    pub fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        crate::dtype::object(py, build(py, || Ok(self.t.dtype()))?)
    }

    /// The device.
    ///
    /// >>> mg.zeros(2, device="cpu").device
    /// Device('cpu')
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<PyDevice> {
        build(py, || Ok(self.t.device())).map(PyDevice)
    }

    /// Whether it is on a CUDA device.
    ///
    /// >>> mg.zeros(2, device="cpu").is_cuda
    /// False
    #[getter]
    fn is_cuda(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.device().is_cuda()))
    }

    /// Whether it is on the host.
    ///
    /// >>> mg.zeros(2, device="cpu").is_cpu
    /// True
    #[getter]
    fn is_cpu(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.device().is_cpu()))
    }

    /// Whether the elements are floating-point numbers.
    ///
    /// >>> x = mg.tensor([1.0])
    /// >>> x.is_floating_point(), x.long().is_floating_point()
    /// (True, False)
    fn is_floating_point(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.dtype().is_float()))
    }

    /// Whether gradients flow to it. Can be set on leaves.
    ///
    /// Errors: DTypeError for integers; RuntimeError where the result of an operation is to be a constant.
    ///
    /// >>> x = mg.tensor([1.0])
    /// >>> x.requires_grad = True
    /// >>> (x * 2).requires_grad
    /// True
    #[getter]
    fn requires_grad(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.requires_grad()))
    }

    #[setter]
    fn set_requires_grad(&self, py: Python<'_>, on: bool) -> PyResult<()> {
        build(py, || self.t.clone().requires_grad_(on).map(|_| ()))
    }

    #[deleter]
    fn delete_requires_grad(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("requires_grad cannot be deleted; set it to True or False"))
    }

    /// Whether it is where gradients end: made by the user rather than by operations on what requires a gradient.
    ///
    /// >>> x = mg.tensor([1.0], requires_grad=True)
    /// >>> x.is_leaf, (x * 2).is_leaf
    /// (True, False)
    #[getter]
    fn is_leaf(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(self.t.is_leaf()))
    }

    /// The operation that computed it, where it requires a gradient; None for leaves and constants.
    ///
    /// >>> x = mg.tensor([3.0], requires_grad=True)
    /// >>> x.grad_fn is None, (x * 2).grad_fn is None
    /// (True, False)
    #[getter]
    fn grad_fn<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        build(py, || Ok(self.t.grad_fn()))?.map(|node| PyHistory::object(py, node)).transpose()
    }

    /// The gradient that `backward` left, or None. Can be set and deleted.
    ///
    /// >>> x = mg.tensor([3.0], requires_grad=True)
    /// >>> x.square().backward()
    /// >>> x.grad
    /// tensor([6.])
    #[getter]
    fn grad<'py>(slf: &Bound<'py, PyTensor>) -> PyResult<Option<Bound<'py, PyTensor>>> {
        PyTensor::grad_object(slf)
    }

    #[setter]
    pub fn set_grad(slf: &Bound<'_, PyTensor>, grad: Option<&Bound<'_, PyTensor>>) -> PyResult<()> {
        let Some(grad) = grad else { return slf.get().zero_grad(slf.py()) };
        let (of, other) = (slf.get(), grad.get());
        build(slf.py(), || of.t.set_grad(Some(&other.t)))?;
        PyTensor::remember_grad(slf, grad)
    }

    #[deleter]
    fn delete_grad(&self, py: Python<'_>) -> PyResult<()> {
        self.zero_grad(py)
    }

    /// The same memory without history. Setting it makes the tensor stand for the memory of another one, with its shape, dtype
    /// and device.
    ///
    /// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> x.data.requires_grad, x.data.data_ptr() == x.data_ptr()
    /// (False, True)
    #[getter]
    fn data(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.detach(py)
    }

    #[setter]
    fn set_data(&self, py: Python<'_>, value: &Bound<'_, PyTensor>) -> PyResult<()> {
        let value = &value.get().t;
        build(py, || self.t.set_data(value))
    }

    #[deleter]
    fn delete_data(&self) -> PyResult<()> {
        Err(PyRuntimeError::new_err("the data of a tensor cannot be deleted; delete the tensor"))
    }

    /// Another tensor on the same memory, cut off from what computed it: no gradient flows through it, and what is written to
    /// either is seen by the other.
    ///
    /// >>> x = mg.tensor([1.0, 2.0], requires_grad=True)
    /// >>> y = x.detach()
    /// >>> y.requires_grad, y.data_ptr() == x.data_ptr()
    /// (False, True)
    fn detach(&self, py: Python<'_>) -> PyResult<PyTensor> {
        let t = build(py, || Ok(self.t.detach()))?;
        Ok(PyTensor::of(t, self.borrowed))
    }

    /// Makes it a leaf whose gradient is kept, or a constant.
    ///
    /// Arguments:
    ///     requires_grad: True for a leaf that gradients are computed for, False for a constant
    ///
    /// Errors: TypeError for integers; RuntimeError where the result of an operation is to be a constant.
    ///
    /// >>> x = mg.zeros(2).requires_grad_()
    /// >>> x.requires_grad
    /// True
    #[pyo3(signature = (requires_grad=true))]
    fn requires_grad_<'py>(slf: Bound<'py, PyTensor>, requires_grad: bool) -> PyResult<Bound<'py, PyTensor>> {
        slf.get().set_requires_grad(slf.py(), requires_grad)?;
        Ok(slf)
    }

    /// Removes the gradient.
    ///
    /// >>> x = mg.tensor([3.0], requires_grad=True)
    /// >>> x.square().backward()
    /// >>> x.zero_grad()
    /// >>> x.grad is None
    /// True
    fn zero_grad(&self, py: Python<'_>) -> PyResult<()> {
        build(py, || {
            self.t.zero_grad();
            Ok(())
        })?;
        self.forget_grad();
        Ok(())
    }

    /// Computes the value now.
    ///
    /// >>> x = (mg.ones(2) + 1).realize()
    /// >>> x.is_realized
    /// True
    fn realize<'py>(slf: Bound<'py, PyTensor>) -> PyResult<Bound<'py, PyTensor>> {
        let t = &slf.get().t;
        compute(slf.py(), || t.realize().map(|_| ()))?;
        Ok(slf)
    }

    /// Whether the value is computed already.
    ///
    /// >>> x = mg.ones(2) + 1
    /// >>> before = x.is_realized
    /// >>> _ = x.tolist()
    /// >>> before, x.is_realized
    /// (False, True)
    #[getter]
    fn is_realized(&self, py: Python<'_>) -> PyResult<bool> {
        build(py, || Ok(!self.t.node().is_pending()))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match build(py, || Ok(self.t.shape()))?.first() {
            Some(&n) => Ok(n),
            None => Err(PyTypeError::new_err("a tensor without axes has no length")),
        }
    }

    fn __hash__(slf: &Bound<'_, PyTensor>) -> isize {
        slf.as_ptr() as isize >> 4
    }

    /// The names of the Python array API standard: `micrograd_rs.array_api`.
    #[pyo3(signature = (*, api_version=None))]
    fn __array_namespace__<'py>(
        &self,
        py: Python<'py>,
        api_version: Option<&str>,
    ) -> PyResult<Bound<'py, PyModule>> {
        match api_version {
            None | Some("2021.12" | "2022.12" | "2023.12" | "2024.12") => py.import("micrograd_rs.array_api"),
            Some(other) => {
                let text = format!("version {other:?} of the array API standard: there is 2024.12");
                Err(PyValueError::new_err(text))
            }
        }
    }

    /// The same values on another device: `to`, by the standard's name. There is one stream a device, and `stream` is to be `None`.
    ///
    /// Arguments:
    ///     device: where the result is, such as "cpu" or "cuda:0"
    ///     stream: None
    ///
    /// Errors: RuntimeError for a device that is not there; ValueError for a `stream`.
    ///
    /// >>> mg.tensor([1.0]).to_device("cpu").device
    /// Device('cpu')
    #[pyo3(signature = (device, /, *, stream=None))]
    fn to_device(
        slf: Bound<'_, PyTensor>,
        device: Bound<'_, PyAny>,
        stream: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        match stream {
            None => Ok(slf.call_method1("to", (device,))?.unbind()),
            Some(_) => Err(PyValueError::new_err("there is one stream a device: takes None")),
        }
    }

    /// Stronger than NumPy's arrays: `array + tensor` is a tensor.
    #[classattr]
    fn __array_priority__() -> i32 {
        1000
    }

    /// NumPy's functions of elements: ours where there is one, and its own of the values else. Operators of arrays beside tensors are ours.
    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, PyTensor>,
        ufunc: &Bound<'py, PyAny>,
        method: &Bound<'py, PyAny>,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let module = py.import("micrograd_rs._ufuncs")?;
        module.getattr("called")?.call1((ufunc, method, inputs, kwargs))
    }

    /// NumPy's other functions: its own, of which those that would lose a gradient are refused.
    fn __array_function__<'py>(
        slf: &Bound<'py, PyTensor>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = types;
        let module = slf.py().import("micrograd_rs._ufuncs")?;
        module.getattr("of_arrays")?.call1((func, args, kwargs))
    }
}

/// The number of elements.
///
/// Arguments:
///     input: any tensor
///
/// >>> mg.numel(mg.zeros(2, 3))
/// 6
#[pyfunction]
pub fn numel(input: &Bound<'_, PyTensor>) -> PyResult<usize> {
    input.get().numel(input.py())
}

/// Whether the elements are floating-point numbers.
///
/// Arguments:
///     input: any tensor
///
/// >>> mg.is_floating_point(mg.tensor([1.0])), mg.is_floating_point(mg.tensor([1]))
/// (True, False)
#[pyfunction]
pub fn is_floating_point(input: &Bound<'_, PyTensor>) -> PyResult<bool> {
    input.get().is_floating_point(input.py())
}
