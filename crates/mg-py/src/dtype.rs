//! `dtype`: what the elements are.

use mg_device::{Category, DType, Standing};
use pyo3::exceptions::{PyAttributeError, PyImportError, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyComplex, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use crate::arith::other;
use crate::error::{exception, not_in_handler};
use crate::format::why_absent;

/// The type of a tensor's elements: `micrograd_rs.float32` and its like.
///
/// Compares equal to its names ("f32", "float32"). Where one is taken, names, NumPy's dtypes and Python's `float`, `int`
/// and `bool` are taken too.
///
/// Arguments:
///     name: what it is called
///
/// Errors: DTypeError for another name.
///
/// >>> mg.dtype("float32") == mg.float32, mg.float32.itemsize, mg.float32.is_floating_point
/// (True, 4, True)
#[pyclass(frozen, name = "dtype", module = "micrograd_rs", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PyDType(pub DType);

/// Python's object of a dtype, of which there is one: `t.dtype is float32`.
pub fn object(py: Python<'_>, dtype: DType) -> PyResult<Py<PyDType>> {
    static ALL: PyOnceLock<Vec<(DType, Py<PyDType>)>> = PyOnceLock::new();
    let all = ALL.get_or_try_init(py, || {
        let each = DType::ALL.into_iter().map(|dtype| Ok((dtype, Py::new(py, PyDType(dtype))?)));
        each.collect::<PyResult<Vec<_>>>()
    })?;
    match all.iter().find(|(known, _)| *known == dtype) {
        Some((_, object)) => Ok(object.clone_ref(py)),
        None => Py::new(py, PyDType(dtype)),
    }
}

/// A name without the module's before it.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    name.strip_prefix("micrograd_rs.").unwrap_or(name)
}

/// The dtype of the class that PyTorch once had for each: `FloatTensor` and its like, on the host or `cuda.FloatTensor`.
fn older(name: &str) -> Option<DType> {
    let name = plain(name);
    let older = name.strip_prefix("cuda.").unwrap_or(name).strip_suffix("Tensor")?;
    DType::ALL.into_iter().find(|dtype| dtype.legacy_name() == Some(older))
}

/// The dtype that an argument names.
pub fn dtype(obj: &Bound<'_, PyAny>) -> PyResult<DType> {
    if let Ok(known) = obj.cast::<PyDType>() {
        return Ok(known.get().0);
    }
    if let Ok(name) = obj.cast::<PyString>() {
        let name = name.to_str()?;
        let known = older(name);
        return known.map_or_else(|| plain(name).parse().map_err(|e| exception(&e)), Ok);
    }
    let py = obj.py();
    if obj.is(py.get_type::<PyFloat>()) {
        return Ok(DType::F64);
    }
    if obj.is(py.get_type::<PyInt>()) {
        return Ok(DType::I64);
    }
    if obj.is(py.get_type::<PyBool>()) {
        return Ok(DType::Bool);
    }
    // NumPy's dtypes have a name, its scalar types are classes named as the dtypes are; torch's dtypes print as one.
    let name = if obj.cast::<PyType>().is_ok() {
        obj.getattr("__name__").ok()
    } else {
        obj.getattr("name").ok().or_else(|| Some(obj.str().ok()?.into_any()))
    };
    if let Some(Ok(name)) = name.as_ref().map(|n| n.extract::<String>())
        && let Some(found) = plain(&name).parse().ok().or_else(|| older(&name))
    {
        return Ok(found);
    }
    let known = DType::ALL.map(DType::long_name).join(", ");
    let why = match why_absent(obj)? {
        Some(why) => format!(": {why}"),
        None if obj.is(py.get_type::<PyComplex>()) => ": there are no complex numbers here".to_owned(),
        None => String::new(),
    };
    Err(PyTypeError::new_err(format!("no dtype is {}{why}; there are {known}", obj.repr()?)))
}

/// As [`dtype`], where there is one.
pub fn optional_dtype(obj: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DType>> {
    obj.filter(|o| !o.is_none()).map(dtype).transpose()
}

/// The dtype in which two dtypes meet.
///
/// Arguments:
///     type1: a dtype
///     type2: another one
///
/// Errors: TypeError for what are no dtypes; DTypeError for one of eight bits and another, which meet in none.
///
/// >>> mg.promote_types(mg.int64, mg.float16), mg.promote_types(mg.uint8, mg.int8)
/// (micrograd_rs.float16, micrograd_rs.int16)
#[pyfunction]
pub fn promote_types(type1: &Bound<'_, PyAny>, type2: &Bound<'_, PyAny>) -> PyResult<Py<PyDType>> {
    let both = [dtype(type1)?, dtype(type2)?].map(|dtype| (dtype, Standing::Dimensioned));
    object(type1.py(), DType::met("promote_types", both).map_err(|e| exception(&e))?)
}

/// The dtype of the result of an operation on two tensors or numbers.
///
/// Arguments:
///     tensor1: a tensor or a number
///     tensor2: another one
///
/// Errors: TypeError for dtypes; DTypeError for tensors of which one has floats of eight bits, and the other none of these.
///
/// >>> mg.result_type(mg.tensor([1, 2]), 0.5), mg.result_type(mg.tensor([1.0], dtype=mg.float16), 0.5)
/// (micrograd_rs.float32, micrograd_rs.float16)
#[pyfunction]
#[pyo3(signature = (*place, **named), text_signature = "(tensor1, tensor2)")]
pub fn result_type(place: &Bound<'_, PyTuple>, named: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyDType>> {
    not_in_handler()?;
    // PyTorch has a name for a tensor and a number on either side.
    let named = named.map_or(Ok(vec![]), |named| {
        let names = [["tensor1", "tensor", "scalar1"], ["tensor2", "other", "scalar2"]];
        let first_is_number = named.contains("scalar")?;
        let seat = |name: &str| match name {
            "scalar" => Some(0),
            "tensor" if first_is_number => Some(1),
            _ => names.iter().position(|all| all.contains(&name)),
        };
        let at = |name: &Bound<'_, PyAny>| -> PyResult<usize> {
            let text = format!("result_type() got an unexpected keyword argument {}", name.repr()?);
            seat(name.cast::<PyString>()?.to_str()?).ok_or_else(|| PyTypeError::new_err(text))
        };
        named.iter().map(|(name, value)| Ok((at(&name)?, value))).collect::<PyResult<Vec<_>>>()
    })?;
    let mut given: [Option<Bound<'_, PyAny>>; 2] = [None, None];
    for (at, value) in place.iter().enumerate().chain(named) {
        let is_free = given.get(at).is_some_and(Option::is_none);
        if !is_free {
            return Err(PyTypeError::new_err("result_type() takes two tensors or numbers, each once"));
        }
        given[at] = Some(value);
    }
    let [Some(tensor1), Some(tensor2)] = &given else {
        return Err(PyTypeError::new_err("result_type() takes two tensors or numbers"));
    };
    for given in [tensor1, tensor2] {
        let why = why_absent(given)?;
        if given.cast::<PyDType>().is_ok() || why.is_some() {
            let why = why.map_or(String::new(), |why| format!(", and {why}"));
            let text = format!(
                "result_type(): takes tensors and numbers, got the dtype {}: promote_types(a, b) is of dtypes{why}",
                given.repr()?
            );
            return Err(PyTypeError::new_err(text));
        }
    }
    let kinds = [other(tensor1)?.operand.kind(), other(tensor2)?.operand.kind()];
    object(place.py(), DType::met("result_type", kinds).map_err(|e| exception(&e))?)
}

/// Whether a conversion stays within what an operation may do to its result: no floats to integers, nothing to truth values.
///
/// Arguments:
///     from_: the dtype of the result
///     to: the dtype that it is written into
///
/// Errors: TypeError for what are no dtypes.
///
/// >>> mg.can_cast(mg.int64, mg.float32), mg.can_cast(mg.float32, mg.int64)
/// (True, False)
#[pyfunction]
pub fn can_cast(from_: &Bound<'_, PyAny>, to: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (from, to) = (dtype(from_)?, dtype(to)?);
    Ok((!from.is_float() || to.is_float()) && (from.is_bool() || !to.is_bool()))
}

/// Makes this the dtype of floating-point numbers that nobody gave one; float32 at first.
///
/// Arguments:
///     d: a floating-point dtype
///
/// Errors: DTypeError for integers.
///
/// >>> mg.set_default_dtype(mg.float64)
/// >>> mg.tensor([1.0]).dtype
/// micrograd_rs.float64
/// >>> mg.set_default_dtype(mg.float32)
#[pyfunction]
pub fn set_default_dtype(d: &Bound<'_, PyAny>) -> PyResult<()> {
    DType::set_default_float(dtype(d)?).map_err(|e| exception(&e))
}

/// The dtype of floating-point numbers that nobody gave one.
///
/// >>> mg.get_default_dtype()
/// micrograd_rs.float32
#[pyfunction]
pub fn get_default_dtype(py: Python<'_>) -> PyResult<Py<PyDType>> {
    object(py, DType::default_float())
}

#[pymethods]
impl PyDType {
    #[new]
    fn new(name: &Bound<'_, PyAny>) -> PyResult<PyDType> {
        dtype(name).map(PyDType)
    }

    /// The short name: "f32".
    #[getter]
    fn short_name(&self) -> &'static str {
        self.0.name()
    }

    /// The name that PyTorch and NumPy use: "float32".
    #[getter]
    fn name(&self) -> &'static str {
        self.0.long_name()
    }

    /// Bytes an element takes.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// Whether it is a floating-point type.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_float()
    }

    /// Whether it is a type of complex numbers: none is.
    #[getter]
    fn is_complex(&self) -> bool {
        false
    }

    /// The dtype of its real parts: itself.
    #[pyo3(name = "to_real")]
    fn of_real_parts(&self, py: Python<'_>) -> PyResult<Py<PyDType>> {
        object(py, self.0)
    }

    /// The name of the dtype of complex numbers of such parts, of which there are no tensors: `complex64` of float32. RuntimeError where there is none.
    #[pyo3(name = "to_complex")]
    fn of_complex_numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = match self.0 {
            DType::F64 => "complex128",
            DType::F32 => "complex64",
            DType::F16 => "complex32",
            other => {
                let text = format!(
                    "no complex dtype is of {}; there is one of float16, float32 and float64",
                    other.long_name()
                );
                return Err(PyRuntimeError::new_err(text));
            }
        };
        py.import("micrograd_rs")?.getattr(name)
    }

    /// Whether it holds numbers below zero.
    #[getter]
    fn is_signed(&self) -> bool {
        self.0.is_signed()
    }

    /// All names of it: "float32", "float", "single".
    #[getter]
    fn _names(&self) -> Vec<&'static str> {
        self.0.names().to_vec()
    }

    /// What the array API calls its kind.
    #[getter]
    fn _kind(&self) -> &'static str {
        match self.0.category() {
            Category::Float => "real floating",
            Category::Integer if self.0.is_signed() => "signed integer",
            Category::Integer => "unsigned integer",
            Category::Bool => "bool",
        }
    }

    /// Bits of a float's exponent, else 0.
    #[getter]
    fn _exponent_bits(&self) -> u32 {
        self.0.exponent_bits()
    }

    /// "Float" of `FloatTensor` and `FloatStorage`.
    #[getter]
    fn _legacy(&self) -> Option<&'static str> {
        self.0.legacy_name()
    }

    /// The code in `struct`.
    #[getter]
    fn _code(&self) -> Option<&'static str> {
        self.0.struct_code()?.to_str().ok()
    }

    /// NumPy's name of it, with the order of bytes: "<f4".
    #[getter]
    fn _numpy(&self) -> Option<String> {
        self.0.numpy_name()
    }

    /// NumPy's dtype of it, by which NumPy takes it for one: `numpy.zeros(2, dtype=float32)`.
    #[getter(dtype)]
    fn numpy_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Some(name) = self.0.numpy_name() else {
            return Err(PyAttributeError::new_err(format!("NumPy has no dtype {}", self.0.long_name())));
        };
        let numpy = py.import("numpy").map_err(|cause| match cause.is_instance_of::<PyImportError>(py) {
            true => PyAttributeError::new_err("NumPy is not installed"),
            false => cause,
        })?;
        numpy.getattr("dtype")?.call1((name,))
    }

    fn __repr__(&self) -> String {
        format!("micrograd_rs.{}", self.0.long_name())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        match other.cast::<PyDType>() {
            Ok(other) => other.get().0 == self.0,
            Err(_) => !other.is_none() && dtype(other).is_ok_and(|d| d == self.0),
        }
    }

    fn __hash__(&self) -> u64 {
        self.0 as u64
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (&'static str,)) {
        (py.get_type::<PyDType>(), (self.0.name(),))
    }
}
