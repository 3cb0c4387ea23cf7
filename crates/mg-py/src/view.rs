//! Views: the same elements in another shape, order or part; and conversions.

use mg_autograd::Tensor;
use mg_device::{DType, Device};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use crate::device::{check_usable, device};
use crate::dtype::{dtype, dtype as dtype_of};
use crate::error::build;
use crate::format::{PyMemoryFormat, lying};
use crate::tensor::PyTensor;

/// The tensor on a device and in a dtype, where these are given: itself, where it is there and has that and no copy is asked for.
fn converted(
    slf: Bound<'_, PyTensor>,
    on: Option<Device>,
    into: Option<DType>,
    copy: bool,
) -> PyResult<Bound<'_, PyTensor>> {
    let py = slf.py();
    let this = slf.get();
    let (own_device, own_dtype) = build(py, || Ok((this.t.device(), this.t.dtype())))?;
    if on.is_some_and(|d| d != own_device) {
        check_usable(on.unwrap_or(own_device))?;
    }
    let (on, into) = (on.filter(|&d| d != own_device), into.filter(|&d| d != own_dtype));
    let moved = |t: &Tensor| match on {
        Some(device) => t.to(device),
        None => Ok(t.clone()),
    };
    match into {
        // What is smaller is moved.
        Some(dtype) if dtype.size() < own_dtype.size() => {
            Bound::new(py, this.unary(py, |t| moved(&t.to_dtype(dtype)))?)
        }
        Some(dtype) => Bound::new(py, this.unary(py, |t| Ok(moved(t)?.to_dtype(dtype)))?),
        None if on.is_some() => Bound::new(py, this.unary(py, moved)?),
        None if copy => Bound::new(py, this.unary(py, |t| t.try_copy())?),
        None => Ok(slf),
    }
}

fn cast(slf: Bound<'_, PyTensor>, dtype: DType) -> PyResult<Bound<'_, PyTensor>> {
    converted(slf, None, Some(dtype), false)
}

#[pymethods]
impl PyTensor {
    /// All axes in reverse order.
    ///
    /// >>> mg.tensor([[1, 2], [3, 4]]).T
    /// tensor([[1, 3],
    ///         [2, 4]])
    #[getter(T)]
    fn reversed_axes(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| t.T())
    }

    /// The last two axes exchanged.
    ///
    /// Errors: IndexError for one axis.
    ///
    /// >>> mg.zeros(5, 2, 3).mT.shape
    /// (5, 3, 2)
    #[getter(mT)]
    fn matrix_transposed(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| t.mT())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if build(py, || Ok(self.t.rank()))? == 0 {
            return Err(PyTypeError::new_err("a tensor without axes cannot be iterated over"));
        }
        let all = build(py, || self.t.unbind(0))?.into_iter();
        let all = all.map(|t| Bound::new(py, PyTensor::of(t, self.borrowed)));
        Ok(PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any().try_iter()?.into_any())
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reversed = self.view(py, |t| t.flip(&[0]))?;
        reversed.__iter__(py)
    }

    /// The tensor on another device, in another dtype, or both; itself where nothing changes. Takes a device, a dtype, or
    /// a tensor to be like, by place or by name.
    ///
    /// Arguments:
    ///     args: a device, a dtype, both, or another tensor
    ///     copy: whether it is a copy where nothing changes, too
    ///     kwargs: `device`, `dtype`, `other`, `memory_format` (as `contiguous` has it), and what has no effect here: `non_blocking`
    ///
    /// Errors: ArgumentError for what is no device; RuntimeError for a device that is not there; TypeError for what is neither.
    ///
    /// >>> x = mg.tensor([1, 2])
    /// >>> x.to(mg.float16)
    /// tensor([1., 2.], dtype=micrograd_rs.float16)
    /// >>> x.to("cpu") is x
    /// True
    #[pyo3(signature = (*args, copy=false, **kwargs))]
    fn to<'py>(
        slf: Bound<'py, PyTensor>,
        args: &Bound<'py, PyTuple>,
        copy: bool,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let (mut on, mut into, mut format) = (None, None, None);
        let mut take = |obj: &Bound<'py, PyAny>, key: Option<&str>| -> PyResult<()> {
            // `to(device, dtype, non_blocking, copy)` by place.
            if obj.is_instance_of::<pyo3::types::PyBool>() && key.is_none() {
                return Ok(());
            }
            if let Ok(like) = obj.cast::<PyTensor>() {
                (on, into) = (Some(like.get().t.device()), Some(like.get().t.dtype()));
                return Ok(());
            }
            // A string is the name of either; a number, which is neither, is torch's way to name a device.
            let is_device = obj.is_instance_of::<crate::device::PyDevice>()
                || obj.is_instance_of::<PyInt>()
                || obj
                    .cast::<PyString>()
                    .is_ok_and(|s| s.to_str().is_ok_and(|s| s.parse::<DType>().is_err()));
            match key {
                None if obj.is_none() => {}
                Some("device") => on = Some(device(obj)?),
                Some("dtype") => into = Some(dtype(obj)?),
                None if is_device => on = Some(device(obj)?),
                None => into = Some(dtype(obj)?),
                Some("non_blocking") => {}
                Some("memory_format") => format = Some(obj.extract()?),
                Some(key) => {
                    return Err(PyTypeError::new_err(format!("to() takes device and dtype, not {key}")));
                }
            }
            Ok(())
        };
        for arg in args {
            take(&arg, None)?;
        }
        for (key, value) in kwargs.into_iter().flatten() {
            if !value.is_none() {
                take(&value, Some(key.extract::<String>()?.as_str()))?;
            }
        }
        lying(converted(slf, on, into, copy)?, format)
    }

    /// The tensor on the host.
    ///
    /// >>> mg.tensor([1.0]).cpu().device
    /// Device('cpu')
    fn cpu(slf: Bound<'_, PyTensor>) -> PyResult<Bound<'_, PyTensor>> {
        converted(slf, Some(Device::cpu()), None, false)
    }

    /// The tensor on a CUDA device.
    ///
    /// Arguments:
    ///     device: which one, by its number or name; the current one unless it says
    ///     non_blocking: of no effect, since nobody waits for a copy
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// Errors: RuntimeError where there is no such device.
    ///
    /// >>> mg.tensor([1.0]).cuda()  # doctest: +SKIP
    #[pyo3(signature = (device=None, non_blocking=false, memory_format=None))]
    fn cuda<'py>(
        slf: Bound<'py, PyTensor>,
        device: Option<&Bound<'py, PyAny>>,
        non_blocking: bool,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let py = slf.py();
        // Copies are in the stream's order.
        let _ = non_blocking;
        let device = match device.filter(|d| !d.is_none()) {
            None => "cuda".into_pyobject(py)?.into_any(),
            Some(d) => match d.extract::<usize>() {
                Ok(ordinal) => format!("cuda:{ordinal}").into_pyobject(py)?.into_any(),
                Err(_) => d.clone(),
            },
        };
        lying(PyTensor::to(slf, &PyTuple::new(py, [device])?, false, None)?, memory_format)
    }

    /// As `to(dtype)`; without one, the dtype.
    ///
    /// >>> x = mg.tensor([1, 2])
    /// >>> x.type(), x.type(mg.float32)
    /// (micrograd_rs.int64, tensor([1., 2.]))
    ///
    /// Arguments:
    ///     dtype: the dtype
    ///     non_blocking: of no effect
    #[pyo3(signature = (dtype=None, non_blocking=false))]
    fn r#type<'py>(
        slf: Bound<'py, PyTensor>,
        dtype: Option<&Bound<'py, PyAny>>,
        non_blocking: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, _) = (slf.py(), non_blocking);
        match dtype.filter(|d| !d.is_none()) {
            None => Ok(slf.get().dtype(py)?.into_bound(py).into_any()),
            Some(d) => Ok(cast(slf, dtype_of(d)?)?.into_any()),
        }
    }

    /// As `to(float32)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1, 2]).float()
    /// tensor([1., 2.])
    #[pyo3(signature = (memory_format=None))]
    fn float(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::F32)?, memory_format)
    }

    /// As `to(float64)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.0]).double()
    /// tensor([1.], dtype=micrograd_rs.float64)
    #[pyo3(signature = (memory_format=None))]
    fn double(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::F64)?, memory_format)
    }

    /// As `to(float16)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.0, 1e6]).half()
    /// tensor([1., inf], dtype=micrograd_rs.float16)
    #[pyo3(signature = (memory_format=None))]
    fn half(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::F16)?, memory_format)
    }

    /// As `to(bfloat16)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.0, 2.0]).bfloat16()
    /// tensor([1., 2.], dtype=micrograd_rs.bfloat16)
    #[pyo3(signature = (memory_format=None))]
    fn bfloat16(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::BF16)?, memory_format)
    }

    /// As `to(int64)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.7, -1.7]).long()
    /// tensor([ 1, -1])
    #[pyo3(signature = (memory_format=None))]
    fn long(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::I64)?, memory_format)
    }

    /// As `to(int32)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.7, -1.7]).int()
    /// tensor([ 1, -1], dtype=micrograd_rs.int32)
    #[pyo3(signature = (memory_format=None))]
    fn int(slf: Bound<'_, PyTensor>, memory_format: Option<PyMemoryFormat>) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::I32)?, memory_format)
    }

    /// As `to(int16)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.7, -1.7]).short()
    /// tensor([ 1, -1], dtype=micrograd_rs.int16)
    #[pyo3(signature = (memory_format=None))]
    fn short(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::I16)?, memory_format)
    }

    /// As `to(int8)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.5, -2.0]).char()
    /// tensor([ 1, -2], dtype=micrograd_rs.int8)
    #[pyo3(signature = (memory_format=None))]
    fn char(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::I8)?, memory_format)
    }

    /// As `to(uint8)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([1.0, 255.0]).byte()
    /// tensor([  1, 255], dtype=micrograd_rs.uint8)
    #[pyo3(signature = (memory_format=None))]
    fn byte(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::U8)?, memory_format)
    }

    /// As `to(bool)`.
    ///
    /// Arguments:
    ///     memory_format: the order of its elements in memory, as `contiguous` has it; None is that which they have
    ///
    /// >>> mg.tensor([0.0, 0.5]).bool()
    /// tensor([False,  True])
    #[pyo3(signature = (memory_format=None))]
    fn bool(
        slf: Bound<'_, PyTensor>,
        memory_format: Option<PyMemoryFormat>,
    ) -> PyResult<Bound<'_, PyTensor>> {
        lying(cast(slf, DType::Bool)?, memory_format)
    }
}
