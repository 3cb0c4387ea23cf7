//! Views: the same elements in another shape, order or part; and conversions.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};

use crate::device::{check_usable, device};
use crate::dtype::dtype;
use crate::error::build;
use crate::size;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// The same elements in another shape; one size may be −1, and follows from the others.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let shape = size::integers(shape)?;
        self.view(py, |t| t.reshape(&shape))
    }

    /// As `reshape`, and always a view: an error where the elements do not lie so that there is one.
    #[pyo3(name = "view", signature = (*shape))]
    fn view_as_shape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let shape = size::integers(shape)?;
        self.view(py, |t| t.view_as_shape(&shape))
    }

    /// As `reshape`, to the shape of another tensor.
    fn view_as(&self, py: Python<'_>, other: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let other = &other.get().t;
        self.view(py, |t| t.view_as_shape(&size::signed(&other.shape())))
    }

    /// Axes `start_dim` to `end_dim` as one.
    #[pyo3(signature = (start_dim=0, end_dim=-1))]
    fn flatten(&self, py: Python<'_>, start_dim: isize, end_dim: isize) -> PyResult<PyTensor> {
        self.view(py, |t| {
            let rank = t.rank();
            if rank == 0 {
                // Taken to have one axis.
                mg_device::normalize_axis(start_dim, 1)?;
                mg_device::normalize_axis(end_dim, 1)?;
                return t.reshape(&[1]);
            }
            let axis = |dim| mg_device::normalize_axis(dim, rank);
            if axis(start_dim)? == axis(end_dim)? {
                // Flat already: the tensor itself, as in PyTorch.
                return Ok(t.clone());
            }
            mg_nn::Module::forward(&mg_nn::Flatten { start_dim, end_dim }, t)
        })
    }

    /// All elements in one axis: the same memory where they lie one after the other, else a copy.
    fn ravel(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| if t.is_contiguous()? { t.reshape(&[-1]) } else { t.copy().reshape(&[-1]) })
    }

    /// Two axes exchanged.
    fn transpose(&self, py: Python<'_>, dim0: isize, dim1: isize) -> PyResult<PyTensor> {
        self.view(py, |t| t.transpose(dim0, dim1))
    }

    /// Two axes exchanged.
    fn swapaxes(&self, py: Python<'_>, axis0: isize, axis1: isize) -> PyResult<PyTensor> {
        self.transpose(py, axis0, axis1)
    }

    /// The transpose of a matrix; vectors and scalars as they are.
    fn t(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| match t.rank() {
            0 => t.permute(&[]),
            1 => t.permute(&[0]),
            2 => t.transpose(0, 1),
            rank => Err(Error::new("t", ErrorKind::Shape(format!("takes at most two axes, got {rank}")))),
        })
    }

    /// All axes in reverse order.
    #[getter(T)]
    fn reversed_axes(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| {
            let axes: Vec<isize> = (0..t.rank() as isize).rev().collect();
            t.permute(&axes)
        })
    }

    /// The last two axes exchanged.
    #[getter(mT)]
    fn matrix_transposed(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.view(py, |t| if t.rank() == 0 { t.permute(&[]) } else { t.transpose(-2, -1) })
    }

    /// Axes in another order.
    #[pyo3(signature = (*dims))]
    fn permute(&self, py: Python<'_>, dims: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let dims = size::integers(dims)?;
        self.view(py, |t| t.permute(&dims))
    }

    /// An axis moved to another place.
    fn movedim(&self, py: Python<'_>, source: isize, destination: isize) -> PyResult<PyTensor> {
        self.view(py, |t| {
            let rank = t.rank();
            // One without axes is taken to have one, which stays where it is.
            let from = mg_device::normalize_axis(source, rank.max(1))?;
            let to = mg_device::normalize_axis(destination, rank.max(1))?;
            if rank == 0 {
                return t.permute(&[]);
            }
            let mut axes: Vec<isize> = (0..rank as isize).filter(|&a| a != from as isize).collect();
            axes.insert(to, from as isize);
            t.permute(&axes)
        })
    }

    /// Positions `start`, `start + step`, … before `end` along an axis, as Python's slices: negative ends count from the
    /// end, the step may be negative.
    #[pyo3(signature = (dim=0, start=None, end=None, step=1))]
    fn slice(
        &self,
        py: Python<'_>,
        dim: isize,
        start: Option<isize>,
        end: Option<isize>,
        step: isize,
    ) -> PyResult<PyTensor> {
        self.view(py, |t| t.slice(dim, start, end, step))
    }

    /// `length` positions along an axis from `start`.
    fn narrow(&self, py: Python<'_>, dim: isize, start: isize, length: usize) -> PyResult<PyTensor> {
        self.view(py, |t| {
            let n = t.size(dim)? as isize;
            let from = if start < 0 { start + n } else { start };
            let end = from.checked_add_unsigned(length).filter(|&end| from >= 0 && end <= n);
            let Some(end) = end else {
                let text = format!("{length} positions from {start} of an axis of size {n}");
                return Err(Error::new("narrow", ErrorKind::Value(text)));
            };
            t.slice(dim, Some(from), Some(end), 1)
        })
    }

    /// One position along an axis, which goes.
    fn select(&self, py: Python<'_>, dim: isize, index: isize) -> PyResult<PyTensor> {
        self.view(py, |t| t.select(dim, index))
    }

    /// Axes backwards.
    #[pyo3(signature = (*dims))]
    fn flip(&self, py: Python<'_>, dims: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let dims = size::integers(dims)?;
        // Each axis once: an axis that is named twice is a mistake.
        let rank = build(py, || Ok(self.t.rank()))? as isize;
        for (i, dim) in dims.iter().enumerate() {
            if dims[..i].iter().any(|before| before.rem_euclid(rank.max(1)) == dim.rem_euclid(rank.max(1))) {
                return Err(pyo3::exceptions::PyValueError::new_err(format!(
                    "flip: the axis {dim} is named twice in {dims:?}"
                )));
            }
        }
        self.view(py, |t| dims.iter().try_fold(t.clone(), |t, &dim| t.flip(dim)))
    }

    /// Broadcast to a shape; −1 keeps a size.
    #[pyo3(signature = (*sizes))]
    fn expand(&self, py: Python<'_>, sizes: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let sizes = size::integers(sizes)?;
        self.view(py, |t| t.expand(&sizes))
    }

    /// Broadcast to the shape of another tensor.
    fn expand_as(&self, py: Python<'_>, other: &Bound<'_, PyTensor>) -> PyResult<PyTensor> {
        let other = &other.get().t;
        self.view(py, |t| t.expand(&size::signed(&other.shape())))
    }

    /// Broadcast to a shape.
    #[pyo3(signature = (*shape))]
    fn broadcast_to(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        self.expand(py, shape)
    }

    /// The tensor so many times along each axis.
    #[pyo3(signature = (*repeats))]
    fn repeat(&self, py: Python<'_>, repeats: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let repeats = size::sizes(repeats)?;
        self.unary(py, |t| repeated(t, &repeats))
    }

    /// A new axis of size 1 before `dim`, which may be one past the last.
    fn unsqueeze(&self, py: Python<'_>, dim: isize) -> PyResult<PyTensor> {
        self.view(py, |t| t.unsqueeze(dim))
    }

    /// Without an axis of size 1 (others stay), or without all of them.
    #[pyo3(signature = (dim=None))]
    fn squeeze(&self, py: Python<'_>, dim: Option<isize>) -> PyResult<PyTensor> {
        self.view(py, |t| t.squeeze(dim))
    }

    /// Parts of `split_size` positions along an axis (the last may be smaller), or of the sizes in a list.
    #[pyo3(signature = (split_size, dim=0))]
    fn split<'py>(
        &self,
        py: Python<'py>,
        split_size: &Bound<'py, PyAny>,
        dim: isize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let n = build(py, || self.t.size(dim))?;
        let sizes = match split_size.extract::<usize>() {
            Ok(0) => return Err(pyo3::exceptions::PyValueError::new_err("parts of no positions")),
            Ok(each) => (0..n.div_ceil(each)).map(|i| each.min(n - i * each)).collect(),
            Err(_) => size::shape(split_size)?,
        };
        if sizes.iter().sum::<usize>() != n {
            let text = format!("parts of {sizes:?} positions do not make an axis of size {n}");
            return Err(pyo3::exceptions::PyValueError::new_err(text));
        }
        let mut start = 0isize;
        let parts = sizes.iter().map(|&size| {
            let from = start;
            start += size as isize;
            self.view(py, |t| t.slice(dim, Some(from), Some(from + size as isize), 1))
        });
        PyTuple::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// At most so many parts of equal size along an axis.
    #[pyo3(signature = (chunks, dim=0))]
    fn chunk<'py>(&self, py: Python<'py>, chunks: usize, dim: isize) -> PyResult<Bound<'py, PyTuple>> {
        let n = build(py, || self.t.size(dim))?;
        let each = n.div_ceil(chunks.max(1)).max(1);
        self.split(py, each.into_pyobject(py)?.as_any(), dim)
    }

    /// The positions along an axis, each without it.
    #[pyo3(signature = (dim=0))]
    fn unbind<'py>(&self, py: Python<'py>, dim: isize) -> PyResult<Bound<'py, PyTuple>> {
        let n = build(py, || self.t.size(dim))? as isize;
        let all = (0..n).map(|i| self.view(py, |t| t.select(dim, i)));
        PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if build(py, || Ok(self.t.rank()))? == 0 {
            return Err(PyTypeError::new_err("a tensor without axes cannot be iterated over"));
        }
        Ok(self.unbind(py, 0)?.into_any().try_iter()?.into_any())
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reversed = self.view(py, |t| t.flip(0))?;
        reversed.__iter__(py)
    }

    /// A copy in memory of its own; gradients flow through it.
    fn clone(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.copy()))
    }

    /// The tensor on another device, in another dtype, or both; itself where nothing changes. Takes a device, a dtype, or
    /// a tensor to be like, by place or by name.
    #[pyo3(signature = (*args, copy=false, **kwargs))]
    fn to<'py>(
        slf: Bound<'py, PyTensor>,
        args: &Bound<'py, PyTuple>,
        copy: bool,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let py = slf.py();
        let (mut on, mut into) = (None, None);
        let mut take = |obj: &Bound<'py, PyAny>, key: Option<&str>| -> PyResult<()> {
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
            None if copy => Bound::new(py, this.clone(py)?),
            None => Ok(slf),
        }
    }

    /// The tensor on the host.
    fn cpu(slf: Bound<'_, PyTensor>) -> PyResult<Bound<'_, PyTensor>> {
        let py = slf.py();
        PyTensor::to(slf, &PyTuple::new(py, ["cpu"])?, false, None)
    }

    /// The tensor on a CUDA device.
    #[pyo3(signature = (device=None))]
    fn cuda<'py>(
        slf: Bound<'py, PyTensor>,
        device: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTensor>> {
        let py = slf.py();
        let device = match device.filter(|d| !d.is_none()) {
            None => "cuda".into_pyobject(py)?.into_any(),
            Some(d) => match d.extract::<usize>() {
                Ok(ordinal) => format!("cuda:{ordinal}").into_pyobject(py)?.into_any(),
                Err(_) => d.clone(),
            },
        };
        PyTensor::to(slf, &PyTuple::new(py, [device])?, false, None)
    }

    /// As `to(dtype)`; without one, the dtype.
    #[pyo3(signature = (dtype=None))]
    fn r#type<'py>(
        slf: Bound<'py, PyTensor>,
        dtype: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        match dtype.filter(|d| !d.is_none()) {
            None => Ok(Bound::new(py, slf.get().dtype(py)?)?.into_any()),
            Some(d) => Ok(PyTensor::to(slf, &PyTuple::new(py, [d])?, false, None)?.into_any()),
        }
    }

    /// As `to(float32)`.
    fn float(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::F32)))
    }

    /// As `to(float64)`.
    fn double(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::F64)))
    }

    /// As `to(float16)`.
    fn half(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::F16)))
    }

    /// As `to(bfloat16)`.
    fn bfloat16(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::BF16)))
    }

    /// As `to(int64)`.
    fn long(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::I64)))
    }

    /// As `to(int32)`.
    fn int(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::I32)))
    }

    /// As `to(bool)`.
    fn bool(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, |t| Ok(t.to_dtype(DType::Bool)))
    }
}

fn repeated(t: &Tensor, repeats: &[usize]) -> Result<Tensor> {
    let shape = t.shape();
    let Some(lead) = repeats.len().checked_sub(shape.rank()) else {
        let text = format!("{repeats:?} for shape {shape}: as many numbers as axes are taken, or more");
        return Err(Error::new("repeat", ErrorKind::Shape(text)));
    };
    let mut sizes: Vec<usize> = vec![1; lead];
    sizes.extend(shape.iter());
    let mut out = t.reshape(&size::signed(&sizes))?;
    for (axis, &times) in repeats.iter().enumerate() {
        // Views with stride 0, put down once: an axis of repetitions before each axis, then merged with it.
        if times != 1 {
            let mut wide: Vec<isize> = size::signed(&out.shape());
            wide.insert(axis, times as isize);
            let mut merged = size::signed(&out.shape());
            merged[axis] *= times as isize;
            out = out.unsqueeze(axis as isize)?.expand(&wide)?.reshape(&merged)?;
        }
    }
    Ok(out.copy())
}
