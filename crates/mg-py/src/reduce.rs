//! Reductions whose forms are several operations: `max` and `min`. NumPy's `axis` and `keepdims` are taken beside `dim` and
//! `keepdim`.

use mg_autograd::Tensor;
use mg_device::Result;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::arith::other;
use crate::error::{build, type_name};
use crate::format::OUT;
use crate::size::{dims, keep};
use crate::tensor::PyTensor;

type Any<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// No axes of an empty list are all axes, as in PyTorch.
fn over(dim: Any<'_, '_>, axis: Any<'_, '_>) -> PyResult<Vec<isize>> {
    Ok(dims(dim, axis)?.unwrap_or_default())
}

/// `values` and `indices`, as PyTorch's `max(dim)` answers.
fn pair<'py>(py: Python<'py>, values: PyTensor, indices: PyTensor) -> PyResult<Bound<'py, PyAny>> {
    static PAIR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    PAIR.import(py, "micrograd_rs._size", "Extreme")?.call1((values, indices))
}

impl PyTensor {
    /// `max` and `min`: of all elements; of each pair with another tensor; along an axis, with indices; over several axes, and for NumPy's
    /// function, without.
    fn extreme<'py>(
        &self,
        py: Python<'py>,
        dim: Any<'_, 'py>,
        keepdim: bool,
        axis: Any<'_, 'py>,
        out: Out,
        which: Extreme,
    ) -> PyResult<Bound<'py, PyAny>> {
        if out == Out::Somewhere {
            return Err(PyTypeError::new_err(format!("{}() {OUT}", which.name)));
        }
        if let Some(second) = dim.filter(|d| d.is_instance_of::<PyTensor>()) {
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
                pair(py, result(values)?, result(indices)?)
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
    all: fn(&Tensor) -> Result<Tensor>,
    over: fn(&Tensor, &[isize], bool) -> Result<Tensor>,
    along: fn(&Tensor, isize, bool) -> Result<(Tensor, Tensor)>,
    pairwise: fn(&Tensor, mg_autograd::Operand) -> Result<Tensor>,
}

const MAX: Extreme = Extreme {
    name: "max",
    all: Tensor::try_max,
    over: Tensor::try_amax,
    along: Tensor::try_max_with_indices,
    pairwise: |a, b| a.try_maximum(b),
};
const MIN: Extreme = Extreme {
    name: "min",
    all: Tensor::try_min,
    over: Tensor::try_amin,
    along: Tensor::try_min_with_indices,
    pairwise: |a, b| a.try_minimum(b),
};

/// Where the answer is to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Out {
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

/// What stands first, or `other` by its name: a tensor.
fn second<'a, 'py>(dim: Any<'a, 'py>, other: Any<'a, 'py>) -> PyResult<Any<'a, 'py>> {
    match (dim.filter(|d| !d.is_none()), other.filter(|o| !o.is_none())) {
        (dim, None) => Ok(dim),
        (None, Some(other)) if other.is_instance_of::<PyTensor>() => Ok(Some(other)),
        (None, Some(_)) => Err(PyTypeError::new_err("other is a tensor")),
        (Some(_), Some(_)) => Err(PyTypeError::new_err("takes an axis or another tensor")),
    }
}

/// A switch of `max`, which it is told of by name.
fn flag_of_max(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    flag(obj, "max")
}

/// As [`flag_of_max`].
fn flag_of_min(obj: &Bound<'_, PyAny>) -> PyResult<bool> {
    flag(obj, "min")
}

fn flag(obj: &Bound<'_, PyAny>, of: &str) -> PyResult<bool> {
    obj.extract().map_err(|_: PyErr| {
        let got = type_name(obj);
        PyTypeError::new_err(format!("{of}(): argument 'keepdim' must be True or False, not {got}"))
    })
}

#[pymethods]
impl PyTensor {
    /// The largest element; with another tensor, the larger of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over several axes, the values.
    ///
    /// Arguments:
    ///     dim: the axis, or another tensor
    ///
    /// Errors: EmptyError where there are no elements; IndexError for an axis out of range.
    ///
    /// >>> x = mg.tensor([[1, 7], [3, 2]])
    /// >>> x.max()
    /// tensor(7)
    /// >>> x.max(dim=1)
    /// (values=tensor([7, 3]), indices=tensor([1, 0]))
    /// >>> x.max(mg.tensor(3))
    /// tensor([[3, 7],
    ///         [3, 3]])
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "($self, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
    #[allow(clippy::too_many_arguments)]
    fn max<'py>(
        &self,
        py: Python<'py>,
        dim: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = flag_of_max)] keepdim: bool,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<bool>,
        out: Out,
        other: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.extreme(py, second(dim, other)?, keep(keepdim, keepdims), axis, out, MAX)
    }

    /// The smallest element; with another tensor, the smaller of each pair. Along one `dim`, PyTorch's pair of values and
    /// indices; over several axes, the values.
    ///
    /// Arguments:
    ///     dim: the axis, or another tensor
    ///
    /// Errors: EmptyError where there are no elements; IndexError for an axis out of range.
    ///
    /// >>> x = mg.tensor([[1, 7], [3, 2]])
    /// >>> x.min()
    /// tensor(1)
    /// >>> x.min(dim=1)
    /// (values=tensor([1, 2]), indices=tensor([0, 1]))
    /// >>> x.min(mg.tensor(3))
    /// tensor([[1, 3],
    ///         [3, 2]])
    #[pyo3(signature = (dim=None, keepdim=false, *, axis=None, keepdims=None, out=Out::Left, other=None), text_signature = "($self, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)")]
    #[allow(clippy::too_many_arguments)]
    fn min<'py>(
        &self,
        py: Python<'py>,
        dim: Option<&Bound<'py, PyAny>>,
        #[pyo3(from_py_with = flag_of_min)] keepdim: bool,
        axis: Option<&Bound<'py, PyAny>>,
        keepdims: Option<bool>,
        out: Out,
        other: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.extreme(py, second(dim, other)?, keep(keepdim, keepdims), axis, out, MIN)
    }

    fn __contains__(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(value) = crate::arith::operand(value)? else {
            return Err(PyTypeError::new_err("only numbers and tensors can be in a tensor"));
        };
        let hits = self.binary(py, value, |t, v| t.try_eq(v)?.try_any(&[], false))?;
        hits.only(py, "in")?.is_truthy()
    }
}
