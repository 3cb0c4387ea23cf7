//! PyTorch's factories: constants, unless a gradient is asked for.

// As many as PyTorch's have.
#![allow(clippy::too_many_arguments)]

use mg_autograd::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};

use crate::dtype::optional_dtype;
use crate::error::{build, not_in_handler, said_by};
use crate::format::{PyLayout, PyMemoryFormat, check_format, in_format, nowhere, without_effect};
use crate::nested;
use crate::random::PyGenerator;
use crate::size::{self, signed, sizes};
use crate::tensor::PyTensor;

type Any<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// What `make` makes, on a device; the default one unless one is named.
fn made(
    py: Python<'_>,
    device: Any<'_, '_>,
    pin_memory: Option<bool>,
    requires_grad: bool,
    make: impl FnOnce() -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    let device = crate::device::usable_device(device)?;
    made_on(py, device, pin_memory, requires_grad, make)
}

fn made_on(
    py: Python<'_>,
    device: Option<Device>,
    pin_memory: Option<bool>,
    requires_grad: bool,
    make: impl FnOnce() -> Result<Tensor> + Send,
) -> PyResult<PyTensor> {
    let t = build(py, || match device {
        Some(device) => mg_autograd::with_default_device(device, make)?,
        None => make(),
    })?;
    PyTensor::finished(py, t, None, pin_memory, requires_grad)
}

/// The shape that comes by place, or as `size=`.
fn shape(args: &Bound<'_, PyTuple>, size: Any<'_, '_>) -> PyResult<Vec<usize>> {
    match size.filter(|s| !s.is_none()) {
        None => sizes(args),
        Some(size) if args.is_empty() => crate::size::shape(size),
        Some(_) => Err(PyTypeError::new_err("a shape is given by place or as size=, not both")),
    }
}

/// A tensor of data, copied: floats are of the default dtype, integers i64, truth values bool; what has a dtype keeps it.
///
/// Arguments:
///     data: a number, nested sequences of numbers, an array or a tensor, whose values are copied
///     dtype: the dtype of the result; None is that of an array or a tensor, else bool of truth values, int64 of integers, the default float of floats
///     device: where the result is; None is where `data` is, of what is no tensor the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers, and where integers are to require a gradient; RuntimeError for a
/// device that is not there.
///
/// >>> mg.tensor([[1, 2], [3, 4]])
/// tensor([[1, 2],
///         [3, 4]])
/// >>> mg.tensor(0.5, dtype=mg.float64)
/// tensor(0.5000, dtype=micrograd_rs.float64)
#[pyfunction]
#[pyo3(signature = (data, *, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None))]
pub fn tensor(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    without_effect(layout);
    let t = nested::tensor(data, optional_dtype(dtype)?).map_err(|error| said_by(py, "tensor", error))?;
    let t = where_nobody_says(py, t, data, device)?;
    PyTensor::finished(py, t, device, pin_memory, requires_grad)
}

/// What was an array of the host's, on the default device, unless another one is named: a tensor stays where it is, and so does what lies on a GPU.
fn where_nobody_says(
    py: Python<'_>,
    t: Tensor,
    data: &Bound<'_, PyAny>,
    device: Any<'_, '_>,
) -> PyResult<Tensor> {
    if device.is_some_and(|device| !device.is_none()) || data.is_instance_of::<PyTensor>() {
        return Ok(t);
    }
    build(py, || if t.device().is_cpu() { t.to(mg_autograd::default_device()) } else { Ok(t) })
}

/// A tensor as it is; a NumPy array by its own memory, as by `from_numpy`, where dtype and device are the array's; anything else as by `tensor`.
///
/// Arguments:
///     data: a tensor, an array, or what `tensor` takes
///     dtype: the dtype of the result; None is that of `data`, as `tensor` has it
///     device: where the result is; None is where `data` is, of what is no tensor the default device
///
/// Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers; RuntimeError for a device that is not there.
///
/// >>> x = mg.tensor([1.0, 2.0])
/// >>> mg.as_tensor(x) is x
/// True
/// >>> mg.as_tensor([1, 2], dtype=mg.float32)
/// tensor([1., 2.])
#[pyfunction]
#[pyo3(signature = (data, dtype=None, device=None))]
pub fn as_tensor<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTensor>> {
    let wanted = optional_dtype(dtype)?;
    let there = crate::device::usable_device(device)?;
    not_in_handler()?;
    match data.cast::<PyTensor>() {
        Ok(t)
            if wanted.is_none_or(|d| d == t.get().t.dtype())
                && there.is_none_or(|d| d == t.get().t.device()) =>
        {
            Ok(t.clone())
        }
        _ => {
            let on_host = there.unwrap_or_else(mg_autograd::default_device).is_cpu();
            // What cannot be shared, or is no array of numbers at all, is copied, or told of there.
            if on_host
                && data.hasattr("__array_interface__")?
                && let Ok(Some(t)) = crate::import::shared(data)
                && wanted.is_none_or(|d| d == t.dtype())
            {
                return Bound::new(py, PyTensor::borrowed(t));
            }
            let t = nested::tensor(data, wanted).map_err(|error| said_by(py, "as_tensor", error))?;
            let t = where_nobody_says(py, t, data, device)?;
            Bound::new(py, PyTensor::finished(py, t, device, None, false)?)
        }
    }
}

macro_rules! filled {
    ($($(#[doc = $doc:literal])+ $name:ident |$shape:ident, $dtype:ident| $make:expr;)*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        #[pyo3(signature = (
            *shape, size=None, out=None, dtype=None, device=None, requires_grad=false,
            layout=None, pin_memory=None, memory_format=None
        ))]
        pub fn $name(
            py: Python<'_>,
            shape: &Bound<'_, PyTuple>,
            size: Option<&Bound<'_, PyAny>>,
            out: Option<&Bound<'_, PyAny>>,
            dtype: Option<&Bound<'_, PyAny>>,
            device: Option<&Bound<'_, PyAny>>,
            requires_grad: bool,
            layout: Option<PyLayout>,
            pin_memory: Option<bool>,
            memory_format: Option<PyMemoryFormat>,
        ) -> PyResult<PyTensor> {
            nowhere(stringify!($name), out)?;
            without_effect(layout);
            let $shape = self::shape(shape, size).map_err(|e| said_by(py, stringify!($name), e))?;
            check_format(memory_format, $shape.len())?;
            let $dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
            made(py, device, pin_memory, requires_grad, || in_format($make?, memory_format, None))
        }
    )*};
}
filled! {
    /// Zeros, of the default dtype unless asked otherwise.
    ///
    /// Arguments:
    ///     shape: the sizes, one after the other or in one list
    ///     size: the same, by name; None where `shape` is given
    ///     out: None: results are answered, not written elsewhere
    ///     dtype: the dtype of the result; None is the default float, float32 unless `set_default_dtype` says otherwise
    ///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost
    ///
    /// Errors: ValueError for a size below 0, and for more than 16 axes; TypeError for what are no integers, and for an `out`; RuntimeError for a device that is
    /// not there.
    ///
    /// >>> mg.zeros(2, 3)
    /// tensor([[0., 0., 0.],
    ///         [0., 0., 0.]])
    /// >>> mg.zeros(2, dtype=mg.int64)
    /// tensor([0, 0])
    zeros |shape, dtype| Tensor::zeros(&shape, dtype);
    /// Ones, of the default dtype unless asked otherwise.
    ///
    /// Arguments:
    ///     shape: the sizes, one after the other or in one list
    ///     size: the same, by name; None where `shape` is given
    ///     out: None: results are answered, not written elsewhere
    ///     dtype: the dtype of the result; None is the default float, float32 unless `set_default_dtype` says otherwise
    ///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost
    ///
    /// Errors: ValueError for a size below 0, and for more than 16 axes; TypeError for what are no integers, and for an `out`; RuntimeError for a device that is
    /// not there.
    ///
    /// >>> mg.ones(2, 3)
    /// tensor([[1., 1., 1.],
    ///         [1., 1., 1.]])
    ones |shape, dtype| Tensor::ones(&shape, dtype);
    /// As `zeros`: there is no memory that nobody wrote.
    ///
    /// Arguments:
    ///     shape: the sizes, one after the other or in one list
    ///     size: the same, by name; None where `shape` is given
    ///     out: None: results are answered, not written elsewhere
    ///     dtype: the dtype of the result; None is the default float, float32 unless `set_default_dtype` says otherwise
    ///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost
    ///
    /// Errors: ValueError for a size below 0, and for more than 16 axes; TypeError for what are no integers, and for an `out`; RuntimeError for a device that is
    /// not there.
    ///
    /// >>> mg.empty(2, 3).shape
    /// (2, 3)
    empty |shape, dtype| Tensor::zeros(&shape, dtype);
}

/// What a number's dtype is without its width. Arrays, which PyTorch does not take for numbers, keep theirs.
fn dtype_of_number(obj: &Bound<'_, PyAny>, own: DType) -> Option<DType> {
    let is_tensor = obj.is_instance_of::<PyTensor>();
    if !is_tensor && obj.hasattr("__setitem__").unwrap_or(true) {
        return None;
    }
    match own {
        // Truth values of NumPy are none of Python's, and are read as floats.
        DType::Bool if is_tensor || obj.is_instance_of::<PyBool>() => None,
        DType::Bool => Some(DType::default_float()),
        _ if own.is_float() => Some(DType::default_float()),
        _ => Some(DType::I64),
    }
}

/// What a tensor is to be filled with, as a tensor of one element.
fn one_value(
    py: Python<'_>,
    operation: &str,
    value: &Bound<'_, PyAny>,
    dtype: Option<DType>,
) -> PyResult<Tensor> {
    let value = nested::tensor(value, dtype).map_err(|error| said_by(py, operation, error))?;
    if value.numel() == 1 {
        return Ok(value);
    }
    let text =
        format!("{operation}(): takes a number or a tensor of one element, got shape {}", value.shape());
    Err(crate::error::unfit(py, text))
}

/// The same value everywhere; of the dtype of that number unless asked otherwise: the default float, i64, or bool. NumPy's numbers and tensors of one
/// are numbers, too.
///
/// Arguments:
///     size: the sizes, as one list
///     fill_value: the number that stands everywhere
///     out: None: results are answered, not written elsewhere
///     dtype: the dtype of the result; None is that of the number: bool, int64, or the default float
///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: TypeError for what is no number, for sizes that are no integers, and for an `out`; ValueError for a size below 0, and for more than 16 axes;
/// RuntimeError for a device that is not there.
///
/// >>> mg.full((2, 2), 7), mg.full((2,), 0.5)
/// (tensor([[7, 7],
///         [7, 7]]), tensor([0.5000, 0.5000]))
#[pyfunction]
#[pyo3(signature = (
    size, fill_value, *, out=None, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None
))]
pub fn full(
    py: Python<'_>,
    size: &Bound<'_, PyAny>,
    fill_value: &Bound<'_, PyAny>,
    out: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    nowhere("full", out)?;
    without_effect(layout);
    let told = |error| said_by(py, "full", error);
    let shape = signed(&crate::size::shape(size).map_err(told)?);
    let wanted = optional_dtype(dtype)?;
    let value = one_value(py, "full", fill_value, wanted)?;
    let value = match wanted.or_else(|| dtype_of_number(fill_value, value.dtype())) {
        Some(dtype) if dtype != value.dtype() => value.to_dtype(dtype),
        Some(_) | None => value,
    };
    let there = crate::device::usable_device(device)?;
    let t = build(py, || {
        let value = value.reshape(&[])?;
        // The number goes there, not as many as there will be.
        let value = there.map_or_else(|| Ok(value.clone()), |device| value.to(device))?;
        Ok(value.expand(&shape)?.copy())
    })?;
    PyTensor::finished(py, t, None, pin_memory, requires_grad)
}

/// `eye`'s argument, which it is told of by name.
fn rows_of_eye(obj: &Bound<'_, PyAny>) -> PyResult<usize> {
    size::count(obj).map_err(|error| said_by(obj.py(), "eye", error))
}

/// As [`rows_of_eye`].
fn columns_of_eye(obj: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    size::optional_count(obj).map_err(|error| said_by(obj.py(), "eye", error))
}

/// The identity matrix, or its first `m` columns.
///
/// Arguments:
///     n: how many rows there are
///     m: how many columns there are; None is as many as rows
///     out: None: results are answered, not written elsewhere
///     dtype: the dtype of the result; None is the default float
///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: ValueError for a number below 0; TypeError for what is no integer; RuntimeError for a device that is not there.
///
/// >>> mg.eye(2, 3)
/// tensor([[1., 0., 0.],
///         [0., 1., 0.]])
#[pyfunction]
#[pyo3(signature = (
    n, m=None, *, out=None, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None
))]
pub fn eye(
    py: Python<'_>,
    #[pyo3(from_py_with = rows_of_eye)] n: usize,
    #[pyo3(from_py_with = columns_of_eye)] m: Option<usize>,
    out: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    nowhere("eye", out)?;
    without_effect(layout);
    let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
    made(py, device, pin_memory, requires_grad, || {
        let (rows, columns) = (Tensor::arange(n).unsqueeze(1)?, Tensor::arange(m.unwrap_or(n)));
        Ok(rows.try_eq(&columns)?.to_dtype(dtype))
    })
}

/// `start`, `start + step`, … before `end`: i64 if all three are integers, else the default dtype.
///
/// Arguments:
///     start: the first number; where one number is given that is `end`, and this 0
///     end: before which number it ends
///     step: what one number and the next differ by; None is 1
///     out: None: results are answered, not written elsewhere
///     dtype: the dtype of the result; None is int64 where all three are integers, else the default float
///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: ValueError for a step of 0, and for one that leads away from the end; RuntimeError for a device that is not there.
///
/// >>> mg.arange(4)
/// tensor([0, 1, 2, 3])
/// >>> mg.arange(1, 2, 0.25)
/// tensor([1.0000, 1.2500, 1.5000, 1.7500])
#[pyfunction]
#[pyo3(signature = (
    start=None, end=None, step=None, *, out=None, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None
))]
pub fn arange(
    py: Python<'_>,
    start: Option<&Bound<'_, PyAny>>,
    end: Option<&Bound<'_, PyAny>>,
    step: Option<&Bound<'_, PyAny>>,
    out: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    nowhere("arange", out)?;
    without_effect(layout);
    let wanted = optional_dtype(dtype)?;
    // One bound alone is the end, by either name.
    let (start, end) = match (start, end) {
        (Some(start), Some(end)) => (Some(start), end),
        (Some(end), None) | (None, Some(end)) => (None, end),
        (None, None) => return Err(PyTypeError::new_err("arange() missing required argument 'end'")),
    };
    let whole = |o: Any<'_, '_>| o.is_none_or(|o| o.extract::<i64>().is_ok());
    if whole(start) && whole(Some(end)) && whole(step) {
        let int = |o: &Bound<'_, PyAny>| o.extract::<i64>();
        let (from, to) = (start.map_or(Ok(0), int)?, int(end)?);
        let by = step.map_or(Ok(1), int)?;
        let dtype = wanted.unwrap_or(DType::I64);
        made(py, device, pin_memory, requires_grad, || {
            upwards(to >= from, to == from, by > 0, by == 0)?;
            Ok(Tensor::arange_by_int(from, to, by)?.to_dtype(dtype))
        })
    } else {
        let float = |o: &Bound<'_, PyAny>| o.extract::<f64>().map_err(|error| said_by(py, "arange", error));
        let (from, to) = (start.map_or(Ok(0.0), float)?, float(end)?);
        let by = step.map_or(Ok(1.0), float)?;
        let dtype = wanted.unwrap_or_else(DType::default_float);
        made(py, device, pin_memory, requires_grad, || {
            // What is no number is told of where numbers are counted.
            let is_number = !(from.is_nan() || to.is_nan() || by.is_nan());
            if is_number {
                upwards(to >= from, to == from, by > 0.0, by == 0.0)?;
            }
            Tensor::arange_by(from, to, by, dtype)
        })
    }
}

/// Refuses a step that leads away from the end.
fn upwards(is_above: bool, is_same: bool, goes_up: bool, stays: bool) -> Result<()> {
    if stays || is_same || is_above == goes_up {
        return Ok(());
    }
    let text = "the step leads away from the end: takes a positive step upwards and a negative one downwards";
    Err(Error::new("arange", ErrorKind::Value(text.into())))
}

/// `linspace`'s arguments, which it is told of by name.
fn end_of_linspace(obj: &Bound<'_, PyAny>) -> PyResult<f64> {
    obj.extract().map_err(|error| said_by(obj.py(), "linspace", error))
}

/// As [`end_of_linspace`].
fn steps_of_linspace(obj: &Bound<'_, PyAny>) -> PyResult<usize> {
    size::count(obj).map_err(|error| said_by(obj.py(), "linspace", error))
}

/// `steps` numbers from `start` to `end`, both included.
///
/// Arguments:
///     start: the first number
///     end: the last number
///     steps: how many numbers there are
///     out: None: results are answered, not written elsewhere
///     dtype: the dtype of the result; None is the default float
///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: ValueError for a number of steps below 0; RuntimeError for a device that is not there.
///
/// >>> mg.linspace(0, 1, 5)
/// tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
#[pyfunction]
#[pyo3(signature = (
    start, end, steps, *, out=None, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None
))]
pub fn linspace(
    py: Python<'_>,
    #[pyo3(from_py_with = end_of_linspace)] start: f64,
    #[pyo3(from_py_with = end_of_linspace)] end: f64,
    #[pyo3(from_py_with = steps_of_linspace)] steps: usize,
    out: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    nowhere("linspace", out)?;
    without_effect(layout);
    let dtype = optional_dtype(dtype)?.unwrap_or_else(DType::default_float);
    made(py, device, pin_memory, requires_grad, || Tensor::linspace(start, end, steps, dtype))
}

/// Random integers from `low` (0, if one bound is given) up to `high`, which is left out.
///
/// Arguments:
///     low: the least integer; where two arguments are given by place the first is `high`, and this 0
///     high: the bound, which is above all of them
///     size: the sizes, as one list
///     generator: the `Generator` that numbers are drawn from; None is the default one
///     out: None: results are answered, not written elsewhere
///     dtype: the dtype of the result; None is int64
///     device: where the result is made, such as "cpu" or "cuda:0"; None is the default device
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`; of a floating-point `dtype`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///
/// Errors: ValueError where there is no integer between the bounds, or the dtype does not hold them; RuntimeError for a device that is not there.
///
/// >>> x = mg.randint(0, 3, (100,))
/// >>> x.unique()
/// tensor([0, 1, 2])
#[pyfunction]
#[pyo3(signature = (
    low=None, high=None, size=None, *, generator=None, out=None, dtype=None, device=None, requires_grad=false,
    layout=None, pin_memory=None
))]
pub fn randint(
    py: Python<'_>,
    low: Option<i64>,
    high: Option<&Bound<'_, PyAny>>,
    size: Option<&Bound<'_, PyAny>>,
    generator: Option<&Bound<'_, PyGenerator>>,
    out: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
) -> PyResult<PyTensor> {
    nowhere("randint", out)?;
    without_effect(layout);
    let told = |error| said_by(py, "randint", error);
    // randint(high, size) and randint(low, high, size).
    let (low, high, size) = match (low, high.filter(|h| !h.is_none()), size) {
        (low, Some(high), Some(size)) => (low.unwrap_or(0), high.extract::<i64>().map_err(told)?, size),
        (Some(high), Some(size), None) | (Some(high), None, Some(size)) => (0, high, size),
        (None, _, None) | (_, None, _) => {
            return Err(PyTypeError::new_err("takes randint(high, size) or randint(low, high, size)"));
        }
    };
    let shape = crate::size::shape(size).map_err(told)?;
    let dtype = optional_dtype(dtype)?.unwrap_or(DType::I64);
    let generator = generator.map(|g| &g.get().0);
    made(py, device, pin_memory, requires_grad, || Tensor::randint(low, high, &shape, dtype, generator))
}

#[pymethods]
impl PyTensor {
    /// A tensor of data, copied, in this tensor's dtype and on its device unless others are named.
    ///
    /// Arguments:
    ///     data: a number, nested sequences of numbers, an array or a tensor, whose values are copied
    ///     dtype: the dtype of the result; None is that of `self`
    ///     device: where the result is; None is where `self` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///
    /// Errors: ValueError for sequences of unlike lengths; TypeError for what are no numbers, and where integers are to require a gradient; RuntimeError for a
    /// device that is not there.
    ///
    /// >>> mg.zeros(1, dtype=mg.float64).new_tensor([1, 2])
    /// tensor([1., 2.], dtype=micrograd_rs.float64)
    #[pyo3(signature = (data, *, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None))]
    fn new_tensor(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        dtype: Option<&Bound<'_, PyAny>>,
        device: Option<&Bound<'_, PyAny>>,
        requires_grad: bool,
        layout: Option<PyLayout>,
        pin_memory: Option<bool>,
    ) -> PyResult<PyTensor> {
        without_effect(layout);
        let (own, there) = build(py, || Ok((self.t.dtype(), self.t.device())))?;
        let t = nested::tensor(data, Some(optional_dtype(dtype)?.unwrap_or(own)));
        let t = t.map_err(|error| said_by(py, "new_tensor", error))?;
        let device = crate::device::usable_device(device)?.unwrap_or(there);
        let t = build(py, || t.to(device))?;
        PyTensor::finished(py, t, None, pin_memory, requires_grad)
    }
}

macro_rules! like {
    ($($(#[doc = $doc:literal])+ $name:ident |$shape:ident, $dtype:ident| $make:expr;)*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        #[pyo3(signature = (
            input, *, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None, memory_format=None
        ))]
        pub fn $name(
            py: Python<'_>,
            input: &Bound<'_, PyTensor>,
            dtype: Option<&Bound<'_, PyAny>>,
            device: Option<&Bound<'_, PyAny>>,
            requires_grad: bool,
            layout: Option<PyLayout>,
            pin_memory: Option<bool>,
            memory_format: Option<PyMemoryFormat>,
        ) -> PyResult<PyTensor> {
            without_effect(layout);
            let (like, wanted) = (&input.get().t, optional_dtype(dtype)?);
            let device = crate::device::usable_device(device)?;
            let (there, rank) = build(py, || Ok((like.device(), like.rank())))?;
            check_format(memory_format, rank)?;
            made_on(py, Some(device.unwrap_or(there)), pin_memory, requires_grad, || {
                let ($shape, $dtype) = (like.shape(), wanted.unwrap_or(like.dtype()));
                in_format($make?, memory_format, Some(like))
            })
        }
    )*};
}
like! {
    /// Zeros in the shape and dtype of another tensor, on its device.
    ///
    /// Arguments:
    ///     input: whose shape the result has, and whose dtype and device where no others are named
    ///     dtype: the dtype of the result; None is that of `input`
    ///     device: where the result is made; None is where `input` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
    ///
    /// Errors: RuntimeError for a device that is not there.
    ///
    /// >>> mg.zeros_like(mg.tensor([[1, 2]]))
    /// tensor([[0, 0]])
    zeros_like |shape, dtype| Tensor::zeros(&shape, dtype);
    /// Ones in the shape and dtype of another tensor, on its device.
    ///
    /// Arguments:
    ///     input: whose shape the result has, and whose dtype and device where no others are named
    ///     dtype: the dtype of the result; None is that of `input`
    ///     device: where the result is made; None is where `input` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
    ///
    /// Errors: RuntimeError for a device that is not there.
    ///
    /// >>> mg.ones_like(mg.tensor([[1, 2]]), dtype=mg.float32)
    /// tensor([[1., 1.]])
    ones_like |shape, dtype| Tensor::ones(&shape, dtype);
    /// As `zeros_like`.
    ///
    /// Arguments:
    ///     input: whose shape the result has, and whose dtype and device where no others are named
    ///     dtype: the dtype of the result; None is that of `input`
    ///     device: where the result is made; None is where `input` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
    ///
    /// Errors: RuntimeError for a device that is not there.
    ///
    /// >>> mg.empty_like(mg.tensor([[1, 2]])).dtype
    /// micrograd_rs.int64
    empty_like |shape, dtype| Tensor::zeros(&shape, dtype);
}

macro_rules! drawn_like {
    ($($(#[doc = $doc:literal])+ $name:ident $draw:path;)*) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        #[pyo3(signature = (
            input, *, generator=None, dtype=None, device=None, requires_grad=false, layout=None, pin_memory=None,
            memory_format=None
        ))]
        pub fn $name(
            py: Python<'_>,
            input: &Bound<'_, PyTensor>,
            generator: Option<&Bound<'_, PyGenerator>>,
            dtype: Option<&Bound<'_, PyAny>>,
            device: Option<&Bound<'_, PyAny>>,
            requires_grad: bool,
            layout: Option<PyLayout>,
            pin_memory: Option<bool>,
            memory_format: Option<PyMemoryFormat>,
        ) -> PyResult<PyTensor> {
            without_effect(layout);
            let (like, wanted) = (&input.get().t, optional_dtype(dtype)?);
            let (there, own, rank) = build(py, || Ok((like.device(), like.dtype(), like.rank())))?;
            check_format(memory_format, rank)?;
            let device = crate::device::usable_device(device)?.unwrap_or(there);
            let dtype = wanted.unwrap_or(own);
            let generator = generator.map(|g| &g.get().0);
            let t = build(py, || {
                let drawn = $draw(&like.shape(), generator, Some(dtype), Some(device), false)?;
                in_format(drawn, memory_format, Some(like))
            })?;
            PyTensor::finished(py, t, None, pin_memory, requires_grad)
        }
    )*};
}
drawn_like! {
    /// Uniform random numbers in the shape and dtype of another tensor, on its device.
    ///
    /// Arguments:
    ///     input: whose shape the result has, and whose dtype and device where no others are named
    ///     generator: the `Generator` that numbers are drawn from; None is the default one
    ///     dtype: the dtype of the result, floating point; None is that of `input`
    ///     device: where the result is made; None is where `input` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
    ///
    /// Errors: TypeError for integers, unless `dtype` is another; RuntimeError for a device that is not there.
    ///
    /// >>> mg.rand_like(mg.zeros(2, 3)).shape
    /// (2, 3)
    rand_like Tensor::try_rand_of;
    /// Normal random numbers in the shape and dtype of another tensor, on its device.
    ///
    /// Arguments:
    ///     input: whose shape the result has, and whose dtype and device where no others are named
    ///     generator: the `Generator` that numbers are drawn from; None is the default one
    ///     dtype: the dtype of the result, floating point; None is that of `input`
    ///     device: where the result is made; None is where `input` is
    ///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
    ///     layout: of no effect: all tensors are strided
    ///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
    ///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
    ///
    /// Errors: TypeError for integers, unless `dtype` is another; RuntimeError for a device that is not there.
    ///
    /// >>> mg.randn_like(mg.zeros(2, 3, dtype=mg.float64)).dtype
    /// micrograd_rs.float64
    randn_like Tensor::try_randn_of;
}

/// The same value everywhere, in the shape and dtype of another tensor, on its device.
///
/// Arguments:
///     input: whose shape the result has, and whose dtype and device where no others are named
///     fill_value: the number that stands everywhere; a tensor of one element is one, too
///     dtype: the dtype of the result, to which the number is converted; None is that of `input`
///     device: where the result is made; None is where `input` is
///     requires_grad: whether the result is a leaf that gradients are computed for, into its `grad`
///     layout: of no effect: all tensors are strided
///     pin_memory: whether the result lies in page-locked memory of the host (see `Tensor.pin_memory`)
///     memory_format: how the elements lie: `contiguous_format` in rows, `channels_last` with the second of four axes innermost; None is as those of `input`
///
/// Errors: TypeError for what is no number; ValueError for a tensor of several elements; RuntimeError for a device that is not there.
///
/// >>> mg.full_like(mg.tensor([1.0, 2.0]), 7)
/// tensor([7., 7.])
#[pyfunction]
#[pyo3(signature = (
    input, fill_value, *, dtype=None, device=None, requires_grad=false,
    layout=None, pin_memory=None, memory_format=None
))]
pub fn full_like(
    py: Python<'_>,
    input: &Bound<'_, PyTensor>,
    fill_value: &Bound<'_, PyAny>,
    dtype: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    requires_grad: bool,
    layout: Option<PyLayout>,
    pin_memory: Option<bool>,
    memory_format: Option<PyMemoryFormat>,
) -> PyResult<PyTensor> {
    without_effect(layout);
    let (like, wanted) = (&input.get().t, optional_dtype(dtype)?);
    let device = crate::device::usable_device(device)?;
    let (shape, of, there) = build(py, || Ok((like.shape(), like.dtype(), like.device())))?;
    check_format(memory_format, shape.len())?;
    let dtype = wanted.unwrap_or(of);
    // Checked and converted exactly, as one element.
    let value = one_value(py, "full_like", fill_value, Some(dtype))?;
    let t = build(py, || {
        let value = value.reshape(&[])?.to(device.unwrap_or(there))?;
        in_format(value.expand(&signed(&shape))?.copy(), memory_format, Some(like))
    })?;
    PyTensor::finished(py, t, None, pin_memory, requires_grad)
}

/// The shape that shapes (sequences, or sizes of one axis) broadcast to.
///
/// Arguments:
///     shapes: sequences of sizes, one after the other; a number is the size of one axis
///
/// Errors: ValueError where they do not.
///
/// >>> mg.broadcast_shapes((3, 1), (4,), (2, 1, 1))
/// (2, 3, 4)
#[pyfunction]
#[pyo3(signature = (*shapes))]
pub fn broadcast_shapes<'py>(py: Python<'py>, shapes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    let shapes = shapes.iter().map(|shape| crate::size::shape(&shape)).collect::<PyResult<Vec<_>>>();
    let shapes = shapes.map_err(|error| said_by(py, "broadcast_shapes", error))?;
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let joint = build(py, || Tensor::broadcast_shapes(&shapes))?;
    crate::size::size(py, joint.iter().copied())
}
