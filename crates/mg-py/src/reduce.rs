//! Reductions whose forms are several operations: `max` and `min`. NumPy's `axis` and `keepdims` are taken beside `dim` and
//! `keepdim`.

use mg_autograd::Tensor;
use mg_device::Result;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use smallvec::SmallVec;

use crate::arith::other;
use crate::error::{build, type_name};
use crate::format::OUT;
use crate::size::dims;
use crate::tensor::PyTensor;

type Any<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// No axes of an empty list are all axes, as in PyTorch.
fn over(dim: Any<'_, '_>, axis: Any<'_, '_>) -> PyResult<Vec<isize>> {
    Ok(dims(dim, axis)?.unwrap_or_default())
}

/// `values` and `indices`, as PyTorch's `max(dim)` answers.
fn pair<'py>(
    py: Python<'py>,
    which: Extreme,
    values: PyTensor,
    indices: PyTensor,
) -> PyResult<Bound<'py, PyAny>> {
    which.class.import(py, "micrograd_rs._size", which.name)?.call1((values, indices))
}

/// What `max` and `min` are called with: at most two arguments by position, the second of which is `keepdim`.
struct Asked<'a, 'py> {
    dim: Any<'a, 'py>,
    /// Another tensor, element by element.
    other: Any<'a, 'py>,
    keepdim: bool,
}

impl<'a, 'py> Asked<'a, 'py> {
    /// A tensor alone by position is another one, as what is called `other`; beside a `keepdim`, and as `dim`, it is the number of an axis.
    fn of(
        which: Extreme,
        place: &'a [Bound<'py, PyAny>],
        by_name: [Any<'a, 'py>; 4],
    ) -> PyResult<Asked<'a, 'py>> {
        let refused = |text: String| Err(PyTypeError::new_err(format!("{}() {text}", which.name)));
        let [dim, keepdim, keepdims, other] = by_name.map(|argument| argument.filter(|a| !a.is_none()));
        let (first, second) = match place {
            [] => (None, None),
            [first] => (Some(first).filter(|o| !o.is_none()), None),
            [first, second] => (Some(first).filter(|o| !o.is_none()), Some(second)),
            more => {
                return refused(format!(
                    "takes from 0 to 2 positional arguments but {} were given",
                    more.len()
                ));
            }
        };
        if first.is_some() && dim.is_some() {
            return refused("got multiple values for argument 'dim'".into());
        }
        if second.is_some() && keepdim.is_some() {
            return refused("got multiple values for argument 'keepdim'".into());
        }
        let keepdim = second.or(keepdim);
        let says = keepdim.or(keepdims);
        if other.is_some_and(|other| !other.is_instance_of::<PyTensor>()) {
            return Err(PyTypeError::new_err("other is a tensor"));
        }
        let is_other = says.is_none() && first.is_some_and(|first| first.is_instance_of::<PyTensor>());
        let (dim, own) = if is_other { (None, first) } else { (first.or(dim), None) };
        if other.is_some() && (dim.is_some() || own.is_some()) {
            return Err(PyTypeError::new_err("takes an axis or another tensor"));
        }
        let flag = |name, switch: Any<'_, '_>| switch.map_or(Ok(false), |s| flag(s, which.name, name));
        let keepdim = match keepdims {
            Some(_) => flag("keepdims", keepdims)?,
            None => flag("keepdim", keepdim)?,
        };
        Ok(Asked { dim, other: own.or(other), keepdim })
    }
}

impl PyTensor {
    /// `max` and `min`: of all elements; of each pair with another tensor; along an axis, with indices; over several axes, and for NumPy's
    /// function, without.
    fn extreme<'py>(
        &self,
        py: Python<'py>,
        asked: Asked<'_, 'py>,
        axis: Any<'_, 'py>,
        out: Out,
        which: Extreme,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Asked { dim, other: second, keepdim } = asked;
        if out == Out::Somewhere {
            return Err(PyTypeError::new_err(format!("{}() {OUT}", which.name)));
        }
        if let Some(second) = second {
            let other = other(second)?;
            return Ok(Bound::new(py, self.binary(py, other, which.pairwise)?)?.into_any());
        }
        let axes = over(dim, axis)?;
        // NumPy's function knows of no indices.
        let axis = axis.filter(|_| out == Out::Left);
        match dim.filter(|d| !d.is_none()).or(axis).and_then(|d| d.extract::<isize>().ok()) {
            Some(dim) => {
                let (values, indices) = build(py, || (which.along)(&self.t, dim, keepdim))?;
                let result = |t| PyTensor::result(py, t, self.borrowed);
                pair(py, which, result(values)?, result(indices)?)
            }
            None => {
                let values = self.unary(py, |t| match axes.is_empty() && !keepdim {
                    true => (which.all)(t),
                    false => (which.over)(t, &axes, keepdim),
                })?;
                Ok(Bound::new(py, values)?.into_any())
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Extreme {
    name: &'static str,
    /// The class of values and indices.
    class: &'static PyOnceLock<Py<PyType>>,
    all: fn(&Tensor) -> Result<Tensor>,
    over: fn(&Tensor, &[isize], bool) -> Result<Tensor>,
    along: fn(&Tensor, isize, bool) -> Result<(Tensor, Tensor)>,
    pairwise: fn(&Tensor, mg_autograd::Operand) -> Result<Tensor>,
}

const MAX: Extreme = Extreme {
    name: "max",
    class: {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        &CLASS
    },
    all: Tensor::try_max,
    over: Tensor::try_amax,
    along: Tensor::try_max_with_indices,
    pairwise: |a, b| a.try_maximum(b),
};
const MIN: Extreme = Extreme {
    name: "min",
    class: {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        &CLASS
    },
    all: Tensor::try_min,
    over: Tensor::try_amin,
    along: Tensor::try_min_with_indices,
    pairwise: |a, b| a.try_minimum(b),
};

/// Where the answer is to go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Out {
    /// Nothing is said of it.
    Left,
    /// To no place: NumPy's functions say so where they call a tensor's method.
    Nowhere,
    /// Into a tensor, which is refused.
    Somewhere,
}

impl FromPyObject<'_, '_> for Out {
    type Error = PyErr;

    fn extract(out: Borrowed<'_, '_, PyAny>) -> PyResult<Out> {
        Ok(if out.is_none() { Out::Nowhere } else { Out::Somewhere })
    }
}

/// A switch.
fn flag(obj: &Bound<'_, PyAny>, of: &str, name: &str) -> PyResult<bool> {
    obj.extract().map_err(|_: PyErr| {
        let got = type_name(obj);
        PyTypeError::new_err(format!("{of}(): argument '{name}' must be True or False, not {got}"))
    })
}

/// The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
/// indices; over several axes, the values.
///
/// Arguments:
///     input: any shape and dtype
///     dim: along which axis, counted from the end if it is negative: the answer is a pair of values and indices (int64, of equal ones the first); over
///         which axes, as a list: the answer has the values alone; or, by place, another tensor. None is of all elements
///     keepdim: whether an axis that is reduced stays in the result, with size 1
///     axis: `dim`, by NumPy's name; None is for `dim` to say
///     keepdims: `keepdim`, by NumPy's name; None is for `keepdim` to say
///     out: None: results are answered, not written elsewhere
///     other: another tensor, whose shape broadcasts; None is none
///
/// Errors: ValueError where there are no elements (an `EmptyError`, which is an IndexError, too), and for shapes that do not broadcast; IndexError for an
/// axis out of range; TypeError for both an axis and another tensor, and for an `out`.
///
/// >>> x = mg.tensor([[1, 7], [3, 2]])
/// >>> mg.max(x)
/// tensor(7)
/// >>> mg.max(x, dim=1)
/// max(values=tensor([7, 3]), indices=tensor([1, 0]))
/// >>> mg.max(x, mg.tensor(3))
/// tensor([[3, 7],
///         [3, 3]])
#[pyfunction]
#[pyo3(signature = (input, *place, dim=None, keepdim=None, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "(input, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
#[allow(clippy::too_many_arguments)]
pub fn max<'py>(
    input: &Bound<'py, PyTensor>,
    place: &Bound<'py, PyTuple>,
    dim: Option<&Bound<'py, PyAny>>,
    keepdim: Option<&Bound<'py, PyAny>>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: Option<&Bound<'py, PyAny>>,
    out: Out,
    other: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    input.get().max(input.py(), place, dim, keepdim, axis, keepdims, out, other)
}

/// The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
/// indices; over several axes, the values.
///
/// Arguments:
///     input: any shape and dtype
///     dim: along which axis, counted from the end if it is negative: the answer is a pair of values and indices (int64, of equal ones the first); over
///         which axes, as a list: the answer has the values alone; or, by place, another tensor. None is of all elements
///     keepdim: whether an axis that is reduced stays in the result, with size 1
///     axis: `dim`, by NumPy's name; None is for `dim` to say
///     keepdims: `keepdim`, by NumPy's name; None is for `keepdim` to say
///     out: None: results are answered, not written elsewhere
///     other: another tensor, whose shape broadcasts; None is none
///
/// Errors: ValueError where there are no elements (an `EmptyError`, which is an IndexError, too), and for shapes that do not broadcast; IndexError for an
/// axis out of range; TypeError for both an axis and another tensor, and for an `out`.
///
/// >>> x = mg.tensor([[1, 7], [3, 2]])
/// >>> mg.min(x)
/// tensor(1)
/// >>> mg.min(x, dim=1)
/// min(values=tensor([1, 2]), indices=tensor([0, 1]))
/// >>> mg.min(x, mg.tensor(3))
/// tensor([[1, 3],
///         [3, 2]])
#[pyfunction]
#[pyo3(signature = (input, *place, dim=None, keepdim=None, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "(input, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
#[allow(clippy::too_many_arguments)]
pub fn min<'py>(
    input: &Bound<'py, PyTensor>,
    place: &Bound<'py, PyTuple>,
    dim: Option<&Bound<'py, PyAny>>,
    keepdim: Option<&Bound<'py, PyAny>>,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: Option<&Bound<'py, PyAny>>,
    out: Out,
    other: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    input.get().min(input.py(), place, dim, keepdim, axis, keepdims, out, other)
}

#[pymethods]
impl PyTensor {
    /// The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over several axes, the values.
    ///
    /// Arguments:
    ///     dim: along which axis, counted from the end if it is negative: the answer is a pair of values and indices (int64, of equal ones the first); over
    ///         which axes, as a list: the answer has the values alone; or, by place, another tensor. None is of all elements
    ///     keepdim: whether an axis that is reduced stays in the result, with size 1
    ///     axis: `dim`, by NumPy's name; None is for `dim` to say
    ///     keepdims: `keepdim`, by NumPy's name; None is for `keepdim` to say
    ///     out: None: results are answered, not written elsewhere
    ///     other: another tensor, whose shape broadcasts; None is none
    ///
    /// Errors: ValueError where there are no elements (an `EmptyError`, which is an IndexError, too), and for shapes that do not broadcast; IndexError for an
    /// axis out of range; TypeError for both an axis and another tensor, and for an `out`.
    ///
    /// >>> x = mg.tensor([[1, 7], [3, 2]])
    /// >>> x.max()
    /// tensor(7)
    /// >>> x.max(dim=1)
    /// max(values=tensor([7, 3]), indices=tensor([1, 0]))
    /// >>> x.max(mg.tensor(3))
    /// tensor([[3, 7],
    ///         [3, 3]])
    #[pyo3(signature = (*place, dim=None, keepdim=None, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "($self, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
    #[allow(clippy::too_many_arguments)]
    fn max<'py>(
        &self,
        py: Python<'py>,
        place: &Bound<'py, PyTuple>,
        dim: Option<&Bound<'py, PyAny>>,
        keepdim: Option<&Bound<'py, PyAny>>,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<&Bound<'py, PyAny>>,
        out: Out,
        other: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place: SmallVec<[_; 2]> = place.iter().collect();
        let asked = Asked::of(MAX, &place, [dim, keepdim, keepdims, other])?;
        self.extreme(py, asked, axis, out, MAX)
    }

    /// The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over several axes, the values.
    ///
    /// Arguments:
    ///     dim: along which axis, counted from the end if it is negative: the answer is a pair of values and indices (int64, of equal ones the first); over
    ///         which axes, as a list: the answer has the values alone; or, by place, another tensor. None is of all elements
    ///     keepdim: whether an axis that is reduced stays in the result, with size 1
    ///     axis: `dim`, by NumPy's name; None is for `dim` to say
    ///     keepdims: `keepdim`, by NumPy's name; None is for `keepdim` to say
    ///     out: None: results are answered, not written elsewhere
    ///     other: another tensor, whose shape broadcasts; None is none
    ///
    /// Errors: ValueError where there are no elements (an `EmptyError`, which is an IndexError, too), and for shapes that do not broadcast; IndexError for an
    /// axis out of range; TypeError for both an axis and another tensor, and for an `out`.
    ///
    /// >>> x = mg.tensor([[1, 7], [3, 2]])
    /// >>> x.min()
    /// tensor(1)
    /// >>> x.min(dim=1)
    /// min(values=tensor([1, 2]), indices=tensor([0, 1]))
    /// >>> x.min(mg.tensor(3))
    /// tensor([[1, 3],
    ///         [3, 2]])
    #[pyo3(signature = (*place, dim=None, keepdim=None, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "($self, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
    #[allow(clippy::too_many_arguments)]
    fn min<'py>(
        &self,
        py: Python<'py>,
        place: &Bound<'py, PyTuple>,
        dim: Option<&Bound<'py, PyAny>>,
        keepdim: Option<&Bound<'py, PyAny>>,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<&Bound<'py, PyAny>>,
        out: Out,
        other: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let place: SmallVec<[_; 2]> = place.iter().collect();
        let asked = Asked::of(MIN, &place, [dim, keepdim, keepdims, other])?;
        self.extreme(py, asked, axis, out, MIN)
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(value) = crate::arith::operand(value)? else {
            return Err(PyTypeError::new_err("only numbers and tensors can be in a tensor"));
        };
        let hits = self.binary(py, value, |t, v| t.try_eq(v)?.try_any(&[], false))?;
        hits.only(py, "in")?.is_truthy()
    }
}
