//! Choosing by conditions: elements of one tensor or another, and the positions of what is not zero.

use mg_autograd::Tensor;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTuple};

use crate::arith::{named, other};
use crate::error::{build, compute, type_name};
use crate::format::nowhere;
use crate::tensor::PyTensor;

/// The condition of `where`.
fn tensor_of<'a, 'py>(condition: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyTensor>> {
    condition.cast::<PyTensor>().map_err(|_| {
        let kind = type_name(condition);
        PyTypeError::new_err(format!("where(): the condition must be a tensor of truth values, not {kind}"))
    })
}

/// The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis.
///
/// Arguments:
///     input: any shape and dtype
///     out: None: results are answered, not written elsewhere
///     as_tuple: whether the answer is a tuple of a tensor for each axis; else it is one, int64, `[count, axes]`
///
/// Errors: TypeError for an `out`.
///
/// >>> x = mg.tensor([[0, 5], [7, 0]])
/// >>> mg.nonzero(x)
/// tensor([[0, 1],
///         [1, 0]])
/// >>> mg.nonzero(x, as_tuple=True)
/// (tensor([0, 1]), tensor([1, 0]))
#[pyfunction]
#[pyo3(signature = (input, *, out=None, as_tuple=false))]
pub fn nonzero<'py>(
    input: &Bound<'py, PyTensor>,
    out: Option<&Bound<'py, PyAny>>,
    as_tuple: bool,
) -> PyResult<Bound<'py, PyAny>> {
    input.get().nonzero(input.py(), out, as_tuple)
}

#[pymethods]
impl PyTensor {
    /// The positions of what is not zero: a row each. With `as_tuple`, a tensor for each axis.
    ///
    /// Arguments:
    ///     out: None: results are answered, not written elsewhere
    ///     as_tuple: whether the answer is a tuple of a tensor for each axis; else it is one, int64, `[count, axes]`
    ///
    /// Errors: TypeError for an `out`.
    ///
    /// >>> x = mg.tensor([[0, 5], [7, 0]])
    /// >>> x.nonzero()
    /// tensor([[0, 1],
    ///         [1, 0]])
    /// >>> x.nonzero(as_tuple=True)
    /// (tensor([0, 1]), tensor([1, 0]))
    #[pyo3(signature = (*, out=None, as_tuple=false))]
    fn nonzero<'py>(
        &self,
        py: Python<'py>,
        out: Option<&Bound<'py, PyAny>>,
        as_tuple: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        nowhere("nonzero", out)?;
        if !as_tuple {
            let t = compute(py, || self.t.nonzero())?;
            return Ok(Bound::new(py, PyTensor::from(t))?.into_any());
        }
        let all = compute(py, || self.t.nonzero_along_axes())?.into_iter();
        let all = all.map(|t| Bound::new(py, PyTensor::from(t)));
        Ok(PyTuple::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any())
    }

    /// `self` where the condition holds, else `other`.
    ///
    /// Arguments:
    ///     condition: truth values, of a shape that broadcasts with that of `self`
    ///     other: what stands where the condition does not hold: a number, or a tensor whose shape broadcasts
    ///
    /// Errors: TypeError for a condition of other than truth values; ValueError for shapes that do not broadcast.
    ///
    /// >>> x = mg.tensor([-1.0, 2.0])
    /// >>> x.where(x > 0, 0.0)
    /// tensor([0., 2.])
    fn r#where(
        &self,
        py: Python<'_>,
        condition: &Bound<'_, PyAny>,
        other: &Bound<'_, PyAny>,
    ) -> PyResult<PyTensor> {
        let condition = &tensor_of(condition)?.get().t;
        self.binary(py, named("where", self::other(other))?, |t, b| Tensor::where_(condition, t, b))
    }
}

/// `input` where the condition holds, else `other`; with the condition alone, the positions where it does.
///
/// Arguments:
///     condition: truth values; they and both others broadcast
///     input: what stands where the condition holds: a number, or a tensor whose shape broadcasts; None, with `other`, asks for positions
///     other: what stands where it does not: a number, or a tensor whose shape broadcasts
///     out: None: results are answered, not written elsewhere
///
/// Errors: TypeError for a condition of other than truth values, and for an `out`; ValueError for shapes that do not broadcast.
///
/// >>> x = mg.tensor([-1.0, 2.0])
/// >>> mg.where(x > 0, x, 0.0)
/// tensor([0., 2.])
/// >>> mg.where(x > 0)
/// (tensor([1]),)
#[pyfunction]
#[pyo3(signature = (condition, input=None, other=None, *, out=None))]
pub fn r#where<'py>(
    py: Python<'py>,
    condition: &Bound<'py, PyAny>,
    input: Option<&Bound<'py, PyAny>>,
    other: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    nowhere("where", out)?;
    let condition = tensor_of(condition)?;
    let this = condition.get();
    match (input, other) {
        (None, None) => condition.call_method("nonzero", (), Some(&[("as_tuple", true)].into_py_dict(py)?)),
        (Some(a), Some(b)) => {
            let (a, b) = (named("where", self::other(a))?, named("where", self::other(b))?);
            let borrowed = this.borrowed || a.borrowed || b.borrowed;
            let t = build(py, || Tensor::where_(&this.t, a.operand, b.operand))?;
            Ok(Bound::new(py, PyTensor::result(py, t, borrowed)?)?.into_any())
        }
        _ => Err(PyTypeError::new_err("where(): takes a condition alone, or with two tensors or numbers")),
    }
}
