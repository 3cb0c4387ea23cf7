//! Tensors from what Python has: numbers, nested sequences and generators, arrays, tensors, and lists of any of these.

use std::fmt::Write as _;

use mg_autograd::{Operand, Tensor};
use mg_device::{DType, MAX_RANK};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::critical_section::with_critical_section;
use pyo3::types::{
    PyBool, PyByteArray, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use crate::error::{build, compute, exception, not_in_handler, recursive, type_name};
use crate::tensor::{Other, PyTensor};
use crate::{dlpack, import};

/// A constant on the host. Without a dtype, that of PyTorch: floats become the default float, integers i64, truth values bool, and what
/// has a dtype keeps it. Where several meet in a list, they are promoted.
pub fn tensor(obj: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Tensor> {
    let py = obj.py();
    let t = match array(obj)? {
        Some(array) => array,
        None => {
            let mut builder = Builder::new(dtype);
            let mut added = builder.add(obj, 0);
            if builder.restart {
                builder = Builder { exact: true, ..Builder::new(dtype) };
                added = builder.add(obj, 0);
            }
            added?;
            builder.finish()?
        }
    };
    match dtype {
        Some(dtype) if dtype != t.dtype() => compute(py, || {
            let t = t.to_dtype(dtype);
            t.realize()?;
            Ok(t)
        }),
        _ => Ok(t),
    }
}

/// The tensor of what is an array already (copied), `None` for anything else.
pub fn array(obj: &Bound<'_, PyAny>) -> PyResult<Option<Tensor>> {
    let py = obj.py();
    if obj.is_exact_instance_of::<PyList>() || is_number(obj) || obj.is_instance_of::<PyString>() {
        return Ok(None);
    }
    if let Ok(t) = obj.cast::<PyTensor>() {
        let t = &t.get().t;
        return compute(py, || {
            let t = t.detach().copy();
            t.realize()?;
            Ok(Some(t))
        });
    }
    // SAFETY: the object is alive.
    if unsafe { ffi::PyObject_CheckBuffer(obj.as_ptr()) } == 1 {
        not_a_time(obj)?;
        let t = import::copied(obj)?;
        // A `bytearray` is a sequence of integers, as others that can be written to.
        if !obj.is_instance_of::<PyByteArray>() {
            return Ok(Some(t));
        }
        return compute(py, || {
            let t = t.to_dtype(DType::I64);
            t.realize()?;
            Ok(Some(t))
        });
    }
    if obj.is_instance_of::<PyTuple>() {
        return Ok(None);
    }
    if dlpack::is_on_cuda(obj) {
        return dlpack::imported(obj, true).map(Some);
    }
    if let Some(method) = method(obj, "__array__")? {
        // What it answers with may have an `__array__` again.
        return recursive(py, || array(&method.call0()?));
    }
    if obj.hasattr("__dlpack__")? {
        return dlpack::imported(obj, true).map(Some);
    }
    Ok(None)
}

/// NumPy's dates and times show themselves as bytes, which nobody means.
pub fn not_a_time(obj: &Bound<'_, PyAny>) -> PyResult<()> {
    let kind = match obj.getattr_opt("dtype")? {
        Some(dtype) => dtype.getattr_opt("kind")?,
        None => None,
    };
    match kind.and_then(|kind| kind.extract::<char>().ok()) {
        Some('M' | 'm') => {
            let text = "takes numbers, nested sequences of numbers, arrays and tensors, got dates or times";
            Err(PyTypeError::new_err(text))
        }
        _ => Ok(()),
    }
}

/// A method of the object; classes have methods but no objects to call them on.
fn method<'py>(obj: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if obj.is_instance_of::<pyo3::types::PyType>() { Ok(None) } else { obj.getattr_opt(name) }
}

fn is_number(obj: &Bound<'_, PyAny>) -> bool {
    obj.is_exact_instance_of::<PyFloat>()
        || obj.is_exact_instance_of::<PyInt>()
        || obj.is_exact_instance_of::<PyBool>()
}

/// A number as Python has it.
#[derive(Clone, Copy)]
enum Number {
    Bool(bool),
    Int(i64),
    /// An integer beyond i64 that u64 holds.
    Unsigned(u64),
    /// An integer beyond both, as a float.
    Huge(f64),
    Float(f64),
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Number::Bool(b) => f64::from(u8::from(b)),
            Number::Int(n) => n as f64,
            Number::Unsigned(n) => n as f64,
            Number::Huge(v) | Number::Float(v) => v,
        }
    }
}

/// Elements so far, in a type that holds all of them.
enum Data {
    Bool(Vec<bool>),
    Int(Vec<i64>),
    Single(Vec<f32>),
    Double(Vec<f64>),
}

struct Builder {
    data: Data,
    /// The dtype is asked for: numbers are converted to it.
    asked: Option<DType>,
    /// What items that have a dtype were promoted to so far, and Python's numbers.
    met: Option<DType>,
    numbers: Option<DType>,
    /// Floats are kept in f64: the result may be of that.
    exact: bool,
    /// An f64 came after numbers that are rounded already: all is to be read once more.
    restart: bool,
    /// The sizes found on the way to the first number.
    shape: Vec<usize>,
    /// How deep numbers are; known from the first one (or the first empty sequence) on.
    rank: Option<usize>,
    /// Where we are: an index for each level.
    place: Vec<usize>,
}

impl Builder {
    fn new(asked: Option<DType>) -> Builder {
        let data = match asked {
            None | Some(DType::Bool) => Data::Bool(vec![]),
            Some(DType::F32) => Data::Single(vec![]),
            Some(d) if d.is_float() => Data::Double(vec![]),
            Some(_) => Data::Int(vec![]),
        };
        let (met, numbers) = (None, None);
        Builder {
            data,
            asked,
            met,
            numbers,
            exact: asked.is_none() && DType::default_float() == DType::F64,
            restart: false,
            shape: vec![],
            rank: None,
            place: vec![],
        }
    }

    fn finish(self) -> PyResult<Tensor> {
        let nothing = self.data.is_empty() && self.asked.is_none();
        let met = match (self.met, self.numbers) {
            (Some(a), Some(b)) => Some(DType::promote(a, b)),
            (a, b) => a.or(b),
        };
        let single = self.asked.is_none() && met != Some(DType::F64);
        let t = match self.data {
            // As in PyTorch, nothing is of the default float.
            _ if nothing => {
                Tensor::from_vec(Vec::<f32>::new(), &self.shape).map(|t| t.to_dtype(DType::default_float()))
            }
            Data::Bool(v) => Tensor::from_vec(v, &self.shape),
            Data::Int(v) => Tensor::from_vec(v, &self.shape),
            Data::Single(v) => Tensor::from_vec(v, &self.shape),
            Data::Double(v) if single => {
                Tensor::from_vec(v.into_iter().map(|v| v as f32).collect(), &self.shape)
            }
            Data::Double(v) => Tensor::from_vec(v, &self.shape),
        };
        let t = t.map_err(|e| exception(&e))?;
        match met.filter(|&dtype| self.asked.is_none() && dtype != t.dtype()) {
            // Every element is of that dtype already.
            Some(dtype) => Ok(t.to_dtype(dtype)),
            None => Ok(t),
        }
    }

    fn add(&mut self, obj: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Some(number) = number(obj, &self.place)? {
            self.leaf(depth, "a number")?;
            // NumPy's float64 is a float of Python too.
            match number {
                Number::Float(_) if !obj.is_exact_instance_of::<PyFloat>() && obj.hasattr("dtype")? => {
                    self.meet(DType::F64)?;
                }
                _ => self.count(number),
            }
            return self.push(number);
        }
        if let Some(block) = array(obj)? {
            // As in PyTorch, a tensor of one element that stands in a sequence is that number.
            let is_number = depth > 0 && block.numel() == 1 && obj.is_instance_of::<PyTensor>();
            let block = if is_number { block.reshape(&[]).map_err(|e| exception(&e))? } else { block };
            return self.block(&block, depth);
        }
        if let Ok(list) = obj.cast_exact::<PyList>() {
            return self.list(list, depth);
        }
        if self.refused(obj) {
            return Err(self.type_error(obj));
        }
        match obj.try_iter() {
            Ok(items) => {
                if !obj.is_instance_of::<PyTuple>() {
                    // What can be read but once is kept as it is.
                    self.keep_exact()?;
                }
                let items = items.collect::<PyResult<Vec<_>>>()?;
                self.list(&PyList::new(obj.py(), items)?, depth)
            }
            Err(_) => match obj.extract::<f64>() {
                Ok(v) => {
                    self.leaf(depth, "a number")?;
                    self.count(Number::Float(v));
                    self.push(Number::Float(v))
                }
                Err(_) => Err(self.type_error(obj)),
            },
        }
    }

    fn list(&mut self, list: &Bound<'_, PyList>, depth: usize) -> PyResult<()> {
        let n = list.len();
        self.open(depth, n)?;
        self.place.push(0);
        let next = depth + 1;
        let mut i = 0;
        while i < n {
            if self.rank == Some(next) {
                i = self.floats(list, i, n);
                if i >= n {
                    break;
                }
            }
            self.place[depth] = i;
            // The list may have been changed by code that its own items ran.
            let item = list.get_item(i)?;
            self.add(&item, next)?;
            i += 1;
        }
        self.place.pop();
        Ok(())
    }

    /// Counts a number of Python's.
    fn count(&mut self, number: Number) {
        let dtype = match number {
            Number::Bool(_) => DType::Bool,
            Number::Int(_) | Number::Unsigned(_) | Number::Huge(_) => DType::I64,
            Number::Float(_) => DType::default_float(),
        };
        self.numbers = Some(self.numbers.map_or(dtype, |before| DType::promote(before, dtype)));
    }

    /// Counts items that have a dtype.
    fn meet(&mut self, dtype: DType) -> PyResult<()> {
        self.met = Some(self.met.map_or(dtype, |before| DType::promote(before, dtype)));
        if self.met == Some(DType::F64) { self.keep_exact() } else { Ok(()) }
    }

    /// From here on floats are f64, those before too.
    fn keep_exact(&mut self) -> PyResult<()> {
        if self.asked.is_some() || self.exact {
            return Ok(());
        }
        if let Data::Single(v) = &self.data {
            if self.numbers.is_some_and(DType::is_float) && !v.is_empty() {
                self.restart = true;
                return Err(PyValueError::new_err("read once more"));
            }
            // They came from narrow dtypes.
            self.data = Data::Double(v.iter().map(|&x| f64::from(x)).collect());
        }
        self.exact = true;
        Ok(())
    }

    /// Takes items `i..` as long as they are plain floats; answers where that ends. Most long lists are just that.
    fn floats(&mut self, list: &Bound<'_, PyList>, mut i: usize, n: usize) -> usize {
        let (left, first) = (n - i, i);
        let mut each = |f: &mut dyn FnMut(f64)| {
            while i < n {
                // SAFETY: the list is alive; the item is borrowed from it, and nothing here runs code that could
                // change the list before the item's number is read.
                unsafe {
                    let item = ffi::PyList_GetItem(list.as_ptr(), i as ffi::Py_ssize_t);
                    if item.is_null() {
                        ffi::PyErr_Clear();
                        break;
                    }
                    if ffi::PyFloat_CheckExact(item) == 0 {
                        break;
                    }
                    f(ffi::PyFloat_AsDouble(item));
                }
                i += 1;
            }
        };
        // Where there is no interpreter's lock, the list's own keeps other threads from changing it.
        with_critical_section(list, || match &mut self.data {
            Data::Single(v) => {
                v.reserve(left);
                each(&mut |x| v.push(x as f32));
            }
            Data::Double(v) => {
                v.reserve(left);
                each(&mut |x| v.push(x));
            }
            _ => {}
        });
        if i > first {
            self.count(Number::Float(0.0));
        }
        i
    }

    /// A sequence of `n` items begins at this depth.
    fn open(&mut self, depth: usize, n: usize) -> PyResult<()> {
        if depth >= MAX_RANK {
            return Err(PyValueError::new_err(format!(
                "the data{} is nested deeper than {MAX_RANK} axes",
                self.at()
            )));
        }
        match self.rank {
            Some(rank) if depth >= rank => {
                Err(self.ragged(&format!("a sequence of length {n}"), &self.first(rank, "a number")))
            }
            _ if depth == self.shape.len() => {
                self.shape.push(n);
                if n == 0 {
                    self.rank = Some(depth + 1);
                }
                Ok(())
            }
            _ if self.shape[depth] != n => {
                let first = self.first(depth, &format!("length {}", self.shape[depth]));
                Err(self.ragged(&format!("length {n}"), &first))
            }
            _ => Ok(()),
        }
    }

    /// A number (or what else stands at the end) is at this depth.
    fn leaf(&mut self, depth: usize, what: &str) -> PyResult<()> {
        match self.rank {
            Some(rank) if rank == depth => Ok(()),
            None if self.shape.len() == depth => {
                self.rank = Some(depth);
                Ok(())
            }
            _ => {
                let first = self.first(depth, &format!("length {}", self.shape[depth]));
                Err(self.ragged(what, &first))
            }
        }
    }

    /// An array stands where a sequence could.
    fn block(&mut self, block: &Tensor, depth: usize) -> PyResult<()> {
        not_in_handler()?;
        let shape = block.shape();
        for (i, &n) in shape.iter().enumerate() {
            self.open(depth + i, n)?;
        }
        self.meet(block.dtype())?;
        if shape.numel() == 0 {
            return Ok(());
        }
        self.leaf(depth + shape.rank(), "a number")?;
        let values = |e| exception(&e);
        match block.dtype() {
            DType::I64 => {
                block.to_vec::<i64>().map_err(values)?.into_iter().try_for_each(|n| self.push(Number::Int(n)))
            }
            DType::Bool => block
                .to_vec::<bool>()
                .map_err(values)?
                .into_iter()
                .try_for_each(|b| self.push(Number::Bool(b))),
            DType::U64 => {
                let all = block.to_vec::<u64>().map_err(values)?;
                all.into_iter()
                    .try_for_each(|n| self.push(i64::try_from(n).map_or(Number::Unsigned(n), Number::Int)))
            }
            d if d.is_int() => {
                let all = block.to_f64_vec().map_err(values)?;
                all.into_iter().try_for_each(|v| self.push(Number::Int(v as i64)))
            }
            _ => {
                block.to_f64_vec().map_err(values)?.into_iter().try_for_each(|v| self.push(Number::Float(v)))
            }
        }
    }

    fn push(&mut self, number: Number) -> PyResult<()> {
        if self.asked.is_none() {
            self.widen(number);
        }
        match &mut self.data {
            Data::Bool(v) => v.push(number.as_f64() != 0.0),
            Data::Single(v) => v.push(number.as_f64() as f32),
            Data::Double(v) => v.push(number.as_f64()),
            Data::Int(v) => {
                let dtype = self.asked.unwrap_or(DType::I64);
                let whole = match number {
                    Number::Bool(b) => Some(i128::from(b)),
                    Number::Int(n) => Some(n.into()),
                    Number::Unsigned(n) => Some(n.into()),
                    Number::Float(x) if x.is_finite() && x.abs() < 1.9e19 => Some(x as i128),
                    Number::Float(_) | Number::Huge(_) => None,
                };
                let (least, largest) = dtype.int_range().unwrap_or((i64::MIN.into(), i64::MAX.into()));
                let fits = |n: &i128| match number {
                    // As in PyTorch, negative integers are counted from the end of unsigned ones, and floats are not.
                    Number::Bool(_) | Number::Int(_) | Number::Unsigned(_) if least == 0 => {
                        (-largest..=largest).contains(n)
                    }
                    Number::Float(x) if x < least as f64 => false,
                    Number::Bool(_)
                    | Number::Int(_)
                    | Number::Unsigned(_)
                    | Number::Huge(_)
                    | Number::Float(_) => (least..=largest).contains(n),
                };
                match whole.filter(fits) {
                    // Of a u64 the bits, which the conversion to the dtype keeps.
                    Some(n) => v.push(n as i64),
                    None => {
                        let text = match number {
                            Number::Int(n) => n.to_string(),
                            Number::Unsigned(n) => n.to_string(),
                            other => other.as_f64().to_string(),
                        };
                        return Err(PyValueError::new_err(format!(
                            "{text}{} does not fit {}",
                            self.at(),
                            dtype.long_name()
                        )));
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes the elements so far of a kind that takes the number too.
    fn widen(&mut self, number: Number) {
        let first = self.data.is_empty();
        match (&mut self.data, number) {
            (Data::Bool(v), Number::Int(_) | Number::Unsigned(_) | Number::Huge(_)) => {
                self.data = Data::Int(v.iter().map(|&b| i64::from(b)).collect());
            }
            (Data::Bool(v), Number::Float(_)) => {
                // Alone, floats are f32; beside integers they are widened once, in f64.
                self.data = match first && !self.exact {
                    true => Data::Single(vec![]),
                    false => Data::Double(v.iter().map(|&b| f64::from(u8::from(b))).collect()),
                };
            }
            (Data::Int(v), Number::Float(_)) => {
                self.data = Data::Double(v.iter().map(|&n| n as f64).collect())
            }
            _ => {}
        }
    }

    fn refused(&self, obj: &Bound<'_, PyAny>) -> bool {
        obj.is_none()
            || obj.is_instance_of::<PyString>()
            || obj.is_instance_of::<PyComplex>()
            || obj.is_instance_of::<PyDict>()
            || obj.is_instance_of::<PySet>()
            || obj.is_instance_of::<PyFrozenSet>()
    }

    fn at(&self) -> String {
        at(&self.place)
    }

    /// What stood first at a depth, with its place.
    fn first(&self, depth: usize, what: &str) -> String {
        let depth = depth.min(self.place.len());
        // The first one at this depth below where we are, or the very first.
        let mut place = self.place[..depth].to_vec();
        match place.iter().rposition(|&i| i > 0) {
            Some(last) => place[last..].fill(0),
            None => place.fill(0),
        }
        if place.is_empty() { what.to_string() } else { format!("{} has {what}", path(&place)) }
    }

    fn ragged(&self, got: &str, first: &str) -> PyErr {
        let place = if self.place.is_empty() { "the data".to_string() } else { path(&self.place) };
        let got = got.strip_prefix("a ").map_or(format!("has {got}"), |kind| format!("is a {kind}"));
        let first = first.replace("has a ", "is a ");
        PyValueError::new_err(format!("ragged data: {place} {got}, but {first}"))
    }

    #[cold]
    fn type_error(&self, obj: &Bound<'_, PyAny>) -> PyErr {
        let kind = type_name(obj);
        let text = format!(
            "takes numbers, nested sequences of numbers, arrays and tensors, got {kind}{}",
            self.at()
        );
        PyTypeError::new_err(text)
    }
}

impl Data {
    fn is_empty(&self) -> bool {
        match self {
            Data::Bool(v) => v.is_empty(),
            Data::Int(v) => v.is_empty(),
            Data::Single(v) => v.is_empty(),
            Data::Double(v) => v.is_empty(),
        }
    }
}

/// The number that an object is, if it is one at a glance; NumPy's float64 is. `place` is where it stands.
fn number(obj: &Bound<'_, PyAny>, place: &[usize]) -> PyResult<Option<Number>> {
    let ptr = obj.as_ptr();
    // SAFETY: the object is alive and the interpreter's lock is held, for all calls below.
    unsafe {
        if ffi::PyFloat_CheckExact(ptr) != 0 {
            return Ok(Some(Number::Float(ffi::PyFloat_AsDouble(ptr))));
        }
        if ffi::PyBool_Check(ptr) != 0 {
            return Ok(Some(Number::Bool(ptr == ffi::Py_True())));
        }
        if ffi::PyLong_Check(ptr) != 0 {
            return integer(obj, place).map(Some);
        }
    }
    if obj.is_instance_of::<PyFloat>() {
        return Ok(Some(Number::Float(obj.extract()?)));
    }
    Ok(None)
}

fn integer(obj: &Bound<'_, PyAny>, place: &[usize]) -> PyResult<Number> {
    let mut overflow = 0;
    // SAFETY: the object is an int and alive.
    let n = unsafe { ffi::PyLong_AsLongLongAndOverflow(obj.as_ptr(), &mut overflow) };
    if overflow == 0 {
        return Ok(Number::Int(n));
    }
    if let Ok(n) = obj.extract::<u64>() {
        return Ok(Number::Unsigned(n));
    }
    match obj.extract::<f64>() {
        Ok(v) => Ok(Number::Huge(v)),
        Err(e) if e.is_instance_of::<PyOverflowError>(obj.py()) => {
            Err(PyValueError::new_err(format!("the integer{} is too large for a float", at(place))))
        }
        Err(e) => Err(e),
    }
}

/// " at [1][2]"; nothing at the top.
fn at(place: &[usize]) -> String {
    if place.is_empty() { String::new() } else { format!(" at {}", path(place)) }
}

fn path(place: &[usize]) -> String {
    place.iter().fold(String::new(), |mut out, i| {
        // Writing to a string cannot fail.
        let _ = write!(out, "[{i}]");
        out
    })
}

/// The operand that a number is beside a tensor, `None` where it is nothing that operators take.
#[inline]
pub fn scalar(obj: &Bound<'_, PyAny>) -> PyResult<Option<Other>> {
    Ok(number(obj, &[])?.map(|n| match n {
        Number::Bool(b) => Operand::Bool(b).into(),
        Number::Int(n) => Operand::Int(n).into(),
        Number::Float(v) => Operand::Float(v).into(),
        Number::Unsigned(n) => Other { huge: true, ..Operand::Float(n as f64).into() },
        Number::Huge(v) => Other { huge: true, ..Operand::Float(v).into() },
    }))
}

/// A tensor argument where numbers and arrays are taken too.
pub fn tensor_like(obj: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    match obj.cast::<PyTensor>() {
        Ok(t) => {
            let t = t.get();
            let handle = build(obj.py(), || Ok(t.t.clone()))?;
            Ok(if t.borrowed { PyTensor::borrowed(handle) } else { handle.into() })
        }
        Err(_) => tensor(obj, None).map(PyTensor::from),
    }
}
