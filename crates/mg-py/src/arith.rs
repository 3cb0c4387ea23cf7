//! Operators, and what stands on their other side.

// What `#[pymethods]` writes for functions that come out of a macro carries our spans, and so our lints.
#![allow(unsafe_op_in_unsafe_fn)]

use mg_autograd::surface::written_with;
use mg_autograd::{Operand, Tensor};
use mg_device::{DType, Error, ErrorKind, Result};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyComplex;

use crate::error::{not_in_handler, said_by, type_name};
use crate::tensor::{Other, PyTensor};
use crate::{import, nested};

/// The operand that an object is, `None` for what operators leave to the other side.
#[inline]
pub fn operand(obj: &Bound<'_, PyAny>) -> PyResult<Option<Other>> {
    if let Ok(t) = obj.cast_exact::<PyTensor>() {
        let t = t.get();
        return Ok(Some(Other { operand: Operand::Tensor(t.t.clone()), borrowed: t.borrowed, huge: false }));
    }
    if let Some(number) = nested::scalar(obj)? {
        return Ok(Some(number));
    }
    numpy_operand(obj)
}

/// NumPy's scalars count as numbers, its arrays as tensors.
#[cold]
fn numpy_operand(obj: &Bound<'_, PyAny>) -> PyResult<Option<Other>> {
    if !obj.hasattr("__array_interface__")? {
        return Ok(None);
    }
    nested::not_a_time(obj)?;
    let t = import::copied(obj)?;
    if t.rank() == 0
        && let Some(number) = nested::scalar(&obj.call_method0("item")?)?
    {
        return Ok(Some(number));
    }
    Ok(Some(Operand::Tensor(t).into()))
}

/// The operand that an argument is.
pub fn other(obj: &Bound<'_, PyAny>) -> PyResult<Other> {
    operand(obj)?.ok_or_else(|| {
        let kind = type_name(obj);
        let why = match obj.is_instance_of::<PyComplex>() {
            true => ": there are no complex numbers here",
            false => "",
        };
        PyTypeError::new_err(format!("takes tensors, numbers and NumPy arrays, got {kind}{why}"))
    })
}

/// What is wrong with an operand, said by a method.
pub fn named(method: &str, other: PyResult<Other>) -> PyResult<Other> {
    other.map_err(|error| Python::attach(|py| said_by(py, method, error)))
}

/// `number ∘ tensor` and `tensor ∘ tensor` alike.
fn reflected(a: Operand, b: &Tensor, f: impl FnOnce(&Tensor, &Tensor) -> Result<Tensor>) -> Result<Tensor> {
    f(&a.beside(b), b)
}

/// A number divided by a tensor: as a float, whatever the tensor is of.
fn divided(a: Operand, b: &Tensor) -> Result<Tensor> {
    let a = match a {
        Operand::Int(n) => Operand::Float(n as f64),
        other => other,
    };
    // As PyTorch has it, a number times the reciprocal, which has a dtype of its own in mixed precision.
    let ([b], _aside) = mg_autograd::autocast::taken("reciprocal", [b])?;
    a.divided_by(&b)
}

fn matmul(a: &Tensor, b: Operand) -> Result<Tensor> {
    match b {
        Operand::Tensor(b) => a.try_matmul(&b),
        _ => Err(Error::new("matmul", ErrorKind::DType("takes tensors on both sides, got a number".into()))),
    }
}

macro_rules! operators {
    ($($name:literal $forward:ident $backward:ident $in_place:ident $f:expr, $reflected:expr;)*) => {
        #[pymethods]
        impl PyTensor {
            $(
                fn $forward<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
                    let f: fn(&Tensor, Operand) -> Result<Tensor> = $f;
                    Ok(Bound::new(py, self.binary(py, other, f)?)?.into_any())
                }

                fn $backward<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
                    let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
                    let f: fn(&Tensor, Operand) -> Result<Tensor> = $reflected;
                    Ok(Bound::new(py, self.binary(py, other, f)?)?.into_any())
                }

                fn $in_place(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    let f: fn(&Tensor, Operand) -> Result<Tensor> = $f;
                    let other = named(stringify!($in_place), self::other(other))?;
                    self.write(py, |t| written_with($name, t, other.operand, f))
                }
            )*
        }
    };
}
operators! {
    "add" __add__ __radd__ __iadd__ |a, b| a.try_add(b), |b, a| reflected(a, b, |a, b| a.try_add(b));
    "sub" __sub__ __rsub__ __isub__ |a, b| a.try_sub(b), |b, a| match a {
        // Refused on either side.
        Operand::Bool(_) => b.try_sub(a),
        a => {
            let _at = mg_graph::within("sub", mg_graph::line());
            mg_graph::form("sub.RsubBackward1");
            reflected(a, b, |a, b| a.try_sub(b))
        }
    };
    "mul" __mul__ __rmul__ __imul__ |a, b| a.try_mul(b), |b, a| match a {
        Operand::Tensor(a) => a.try_mul(b),
        number => b.try_mul(number),
    };
    "div" __truediv__ __rtruediv__ __itruediv__ |a, b| a.try_div(b), |b, a| divided(a, b);
    "floor_divide" __floordiv__ __rfloordiv__ __ifloordiv__
        |a, b| a.try_floor_divide(b), |b, a| reflected(a, b, |a, b| a.try_floor_divide(b));
    "remainder" __mod__ __rmod__ __imod__ |a, b| a.try_remainder(b), |b, a| reflected(a, b, |a, b| a.try_remainder(b));
    "bitwise_left_shift" __lshift__ __rlshift__ __ilshift__
        |a, b| a.try_bitwise_left_shift(b), |b, a| reflected(a, b, |a, b| a.try_bitwise_left_shift(b));
    "bitwise_right_shift" __rshift__ __rrshift__ __irshift__
        |a, b| a.try_bitwise_right_shift(b), |b, a| reflected(a, b, |a, b| a.try_bitwise_right_shift(b));
    "bitwise_and" __and__ __rand__ __iand__ |a, b| a.try_bitwise_and(b), |b, a| b.try_bitwise_and(a);
    "bitwise_or" __or__ __ror__ __ior__ |a, b| a.try_bitwise_or(b), |b, a| b.try_bitwise_or(a);
    "bitwise_xor" __xor__ __rxor__ __ixor__ |a, b| a.try_bitwise_xor(b), |b, a| b.try_bitwise_xor(a);
}

/// A product of matrices has no form in place: `a @= b` is another tensor by the name of `a`, as in PyTorch.
#[pymethods]
impl PyTensor {
    fn __matmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
        Ok(Bound::new(py, self.binary(py, other, matmul)?)?.into_any())
    }

    fn __rmatmul__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
        let product = |b: &Tensor, a: Operand| match a {
            Operand::Tensor(a) => a.try_matmul(b),
            number => matmul(b, number),
        };
        Ok(Bound::new(py, self.binary(py, other, product)?)?.into_any())
    }
}

#[pymethods]
impl PyTensor {
    fn __pow__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = operand(other)?.filter(|_| modulo.is_none()) else {
            return Ok(py.NotImplemented().into_bound(py));
        };
        Ok(Bound::new(py, self.binary(py, other, |a, b| a.try_pow(b))?)?.into_any())
    }

    fn __rpow__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
        let r = self.binary(py, other, |b, a| {
            let _at = mg_graph::within("rpow", mg_graph::line());
            mg_graph::form("rpow.PowBackward2");
            reflected(a, b, |a, b| a.try_pow(b))
        })?;
        Ok(Bound::new(py, r)?.into_any())
    }

    fn __ipow__(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        _modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let other = named("__ipow__", self::other(other))?;
        self.write(py, |t| written_with("pow", t, other.operand, Tensor::try_pow))
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, Tensor::try_neg)
    }

    fn __pos__(slf: Bound<'_, PyTensor>) -> Bound<'_, PyTensor> {
        slf
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, Tensor::try_abs)
    }

    fn __invert__(&self, py: Python<'_>) -> PyResult<PyTensor> {
        self.unary(py, Tensor::try_bitwise_not)
    }

    fn __richcmp__<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(other) = operand(other)? else { return Ok(py.NotImplemented().into_bound(py)) };
        let word = match op {
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        };
        not_in_handler()?;
        let result = match beyond(&self.t, &other.operand, other.huge, word) {
            Some(always) => self.unary(py, |t| always_so(t, always))?,
            None => self.binary(py, other, |a, b| compare(a, b, op))?,
        };
        Ok(Bound::new(py, result)?.into_any())
    }
}

/// What a comparison of integers with a number says that none of them is as large as, by the operation's name: the same of all of them.
pub fn beyond(t: &Tensor, number: &Operand, huge: bool, comparison: &str) -> Option<bool> {
    let Operand::Float(v) = *number else { return None };
    let dtype = t.dtype();
    let fits = dtype.is_float() || dtype == DType::U64 && (0.0..=u64::MAX as f64).contains(&v);
    if !huge || fits {
        return None;
    }
    match comparison {
        "eq" => Some(false),
        "ne" => Some(true),
        "lt" | "le" => Some(v > 0.0),
        "gt" | "ge" => Some(v < 0.0),
        _ => None,
    }
}

/// Truth values of a tensor's shape, all of them the same.
pub fn always_so(t: &Tensor, value: bool) -> Result<Tensor> {
    let all = if value { t.try_ones_like()? } else { t.try_zeros_like()? };
    Ok(all.to_dtype(DType::Bool))
}

fn compare(a: &Tensor, b: Operand, op: CompareOp) -> Result<Tensor> {
    match op {
        CompareOp::Lt => a.try_lt(b),
        CompareOp::Le => a.try_le(b),
        CompareOp::Eq => a.try_eq(b),
        CompareOp::Ne => a.try_ne(b),
        CompareOp::Gt => a.try_gt(b),
        CompareOp::Ge => a.try_ge(b),
    }
}

/// In-place operations by PyTorch's names.
#[pymethods]
impl PyTensor {
    /// Sets every element to 0.
    ///
    /// Errors: RuntimeError for a leaf that requires a gradient, outside of `no_grad`.
    ///
    /// >>> x = mg.ones(2)
    /// >>> x.zero_()
    /// tensor([0., 0.])
    fn zero_(slf: Bound<'_, PyTensor>) -> PyResult<Bound<'_, PyTensor>> {
        slf.get().write(slf.py(), |t| {
            let _at = mg_graph::within("assign", mg_graph::line());
            mg_graph::form("assign.ZeroBackward0");
            filled(t, Operand::Int(0))
        })?;
        Ok(slf)
    }

    /// Sets every element to a number.
    ///
    /// Arguments:
    ///     value: the number, or a tensor without axes
    ///
    /// Errors: ArgumentError for a tensor with axes; RuntimeError for a leaf that requires a gradient, outside of `no_grad`.
    ///
    /// >>> mg.zeros(2, 2).fill_(7)
    /// tensor([[7., 7.],
    ///         [7., 7.]])
    fn fill_<'py>(slf: Bound<'py, PyTensor>, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTensor>> {
        let value = named("fill_", other(value))?.operand;
        slf.get().write(slf.py(), |t| {
            let _at = mg_graph::within("assign", mg_graph::line());
            mg_graph::form(match &value {
                Operand::Tensor(_) => "assign.FillBackward3",
                _ => "assign.FillBackward2",
            });
            filled(t, value).map_err(|e| e.with_op("fill_"))
        })?;
        Ok(slf)
    }

    /// Sets the elements to those of another tensor, which is broadcast and converted, and may be on another device.
    ///
    /// Arguments:
    ///     src: the other tensor
    ///     non_blocking: of no effect, since nobody waits for a copy
    ///
    /// Errors: ArgumentError for a shape that does not broadcast; RuntimeError for a leaf that requires a gradient, outside of `no_grad`.
    ///
    /// >>> x = mg.zeros(2, 2)
    /// >>> x.copy_(mg.tensor([1, 2]))
    /// tensor([[1., 2.],
    ///         [1., 2.]])
    #[pyo3(signature = (src, non_blocking=false))]
    fn copy_<'py>(
        slf: Bound<'py, PyTensor>,
        src: &Bound<'py, PyAny>,
        non_blocking: bool,
    ) -> PyResult<Bound<'py, PyTensor>> {
        // Copies are in the stream's order.
        let _ = non_blocking;
        let value = named("copy_", other(src))?.operand;
        slf.get().write(slf.py(), |t| {
            let written = match value {
                Operand::Tensor(value) => t.assign(value.to(t.device())?),
                value => t.assign(value),
            };
            written.map_err(|e| e.with_op("copy_"))
        })?;
        Ok(slf)
    }
}

/// Sets every element. What the elements were computed from does not change them any more: its gradient is 0.
fn filled(t: &Tensor, value: Operand) -> Result<()> {
    match value {
        Operand::Tensor(value) if value.rank() > 0 => {
            let text = format!("takes a number or a tensor without axes, got shape {}", value.shape());
            Err(Error::new("fill_", ErrorKind::Shape(text)))
        }
        value => t.assign(value),
    }
}
