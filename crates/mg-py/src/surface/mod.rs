//! Operations that are declared in the engine, as methods and functions: their names, arguments, defaults and words are read
//! from [`mg_autograd::surface`], so that one that is added there is here.

mod read;
mod seats;
mod words;

use read::Read;
pub use seats::_old_reduction;
use seats::{Objects, Seated, bits_of, equation_of, has, left_number};
use words::{body, example, key, of_method, written};

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use mg_autograd::Tensor;
use mg_autograd::surface::{
    Answer, Arg, COUNT, Given, Kind, Manner, Operation, Param, Place, Returns, call_in_place, operations,
};
use mg_device::{DType, Shape};
use pyo3::exceptions::{PyRuntimeError, PyUserWarning, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

use crate::error::{build, compute, not_in_handler};
use crate::format::{check_format, in_format};
use crate::tensor::PyTensor;
use crate::{arith, dlpack, size};

/// What is made of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It is answered.
    Plain,
    /// It is written into the tensor, which is answered.
    InPlace,
}

type Fast = ffi::PyCFunctionFastWithKeywords;

/// The operation of a number, and the names of its several results as a class.
fn known(number: usize) -> Option<&'static Operation> {
    static ALL: OnceLock<Vec<&'static Operation>> = OnceLock::new();
    ALL.get_or_init(|| operations().collect()).get(number).copied()
}

/// What Python calls: nothing but the number of an operation.
///
/// # Safety
///
/// As CPython calls `METH_FASTCALL | METH_KEYWORDS`: with the interpreter's lock, an instance or null, and as many arguments as
/// it says.
unsafe extern "C" fn enter<const NUMBER: usize, const IN_PLACE: bool>(
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    given: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    let form = if IN_PLACE { Form::InPlace } else { Form::Plain };
    // SAFETY: this function's contract.
    unsafe { entered(NUMBER, form, slf, args, given, names) }
}

/// What all of them do: one function, of which there is not a copy for each operation.
///
/// # Safety
///
/// As [`enter`].
#[inline(never)]
unsafe fn entered(
    number: usize,
    form: Form,
    slf: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    given: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython holds its lock while it calls.
    let py = unsafe { Python::assume_attached() };
    let result = catch_unwind(AssertUnwindSafe(|| {
        let borrowed = |object: *mut ffi::PyObject| {
            // SAFETY: a live object that the caller holds until this call returns.
            unsafe { Borrowed::from_ptr(py, object) }
        };
        let mut all: SmallVec<[Borrowed<'_, '_, PyAny>; 8]> = SmallVec::new();
        // A function belongs to no object.
        if !slf.is_null() {
            all.push(borrowed(slf));
        }
        let first = all.len();
        let names = if names.is_null() { None } else { Some(borrowed(names).cast::<PyTuple>()?) };
        let by_name = names.as_ref().map_or(0, |n| n.len());
        // SAFETY: `args` has the positional arguments and those by name, one after the other.
        (0..given as usize + by_name).for_each(|i| all.push(borrowed(unsafe { *args.add(i) })));
        let positional = first + given as usize;
        let operation = known(number).ok_or_else(|| PyRuntimeError::new_err("no such operation"))?;
        let names = names.as_deref();
        let (positional, by_name) = all.split_at(positional);
        call(py, number, operation, form, Arguments { is_function: first == 0, positional, names, by_name })
    }));
    match result {
        Ok(Ok(object)) => object.into_ptr(),
        Ok(Err(error)) => {
            error.restore(py);
            std::ptr::null_mut()
        }
        Err(_) => {
            PyRuntimeError::new_err("internal error while the arguments of an operation were read")
                .restore(py);
            std::ptr::null_mut()
        }
    }
}

/// The arguments of a call, by position and by name.
#[derive(Clone, Copy)]
struct Arguments<'a, 'py> {
    /// It is called as a function, and not as a method.
    is_function: bool,
    positional: &'a [Borrowed<'a, 'py, PyAny>],
    names: Option<&'a Bound<'py, PyTuple>>,
    by_name: &'a [Borrowed<'a, 'py, PyAny>],
}

/// Calls an operation.
fn call<'py>(
    py: Python<'py>,
    number: usize,
    operation: &'static Operation,
    form: Form,
    arguments: Arguments<'_, 'py>,
) -> PyResult<Bound<'py, PyAny>> {
    // An operation on one tensor and nothing else has nothing to sort.
    if let ([tensor], [], true, [], Form::Plain) =
        (arguments.positional, arguments.by_name, operation.has_receiver, operation.params, form)
        && let Ok(tensor) = tensor.cast::<PyTensor>()
    {
        let tensor = tensor.get();
        let answer = called(py, operation, &Given { args: &[Arg::Tensor(&tensor.t)] })?;
        return answered(py, number, operation, answer, tensor.is_borrowed());
    }
    if let Some(answer) = told_otherwise(py, number, operation, form, arguments)? {
        return Ok(answer);
    }
    let Seated { seats, form, old, pins, format, items } = Seated::of(py, operation, form, arguments)?;
    not_in_handler()?;
    let left = if form == Form::Plain { left_number(&seats)? } else { None };
    let mut read = Read { borrowed: false, huge: false };
    let mut args = seats.read(py, &mut read, left.as_ref(), items.as_deref())?;
    let Read { borrowed, huge } = read;
    if let Some(at) = operation.params.iter().position(|p| p.name == "reduction")
        && let Some(reduction) = old.means()
    {
        args[seats.first() + at] = Arg::Text(reduction);
    }
    if form == Form::Plain
        && let [Arg::Tensor(t), Arg::Operand(other), ..] = &args[..]
        && let Some(always) = arith::beyond(t, other, huge, operation.name)
    {
        let answer = build(py, || arith::always_so(t, always))?;
        return answered(py, number, operation, Answer::Tensor(answer), borrowed);
    }
    if huge && !matches!(&args[0], Arg::Tensor(t) if t.dtype().is_float()) {
        let text = format!("{}: an integer beyond 2**63 does not fit the tensor's dtype", operation.name);
        return Err(PyValueError::new_err(text));
    }
    // An empty list of axes is none of them here, and all of them where sums are asked for.
    if let [Arg::Tensor(t), Arg::Ints(axes), ..] = &args[..]
        && axes.is_empty()
        && has(operation, Manner::NoAxes)
    {
        let answer = build(py, || {
            let holds = t.try_ne(0i64)?;
            Ok(if t.dtype() == DType::U8 { holds.to_dtype(DType::U8) } else { holds })
        })?;
        return answered(py, number, operation, Answer::Tensor(answer), borrowed);
    }
    if operation.warns {
        unlike_sizes(py, &args)?;
    }
    let given = Given { args: &args };
    if form == Form::InPlace
        && let Some(written) = &seats.seats[0]
    {
        written.cast::<PyTensor>()?.get().write_by(py, || call_in_place(operation, &given))?;
        let written: &Bound<'_, PyAny> = written;
        return Ok(written.clone());
    }
    let answer = match called(py, operation, &given)? {
        Answer::Tensor(t) if format.is_some() => {
            let rank = build(py, || Ok(t.rank()))?;
            check_format(format, rank)?;
            Answer::Tensor(build(py, || in_format(t, format, None))?)
        }
        answer => answer,
    };
    let answer = match answer {
        Answer::Tensor(t) if pins => Answer::Tensor(PyTensor::pinned(py, &t)?),
        answer => answer,
    };
    // What answers with the tensor that it was given answers with that object.
    if let (Answer::Tensor(t), Some(Some(object))) = (&answer, seats.seats.first())
        && object.cast::<PyTensor>().is_ok_and(|first| first.get().t.is(t))
    {
        let itself: &Bound<'_, PyAny> = object;
        return Ok(itself.clone());
    }
    answered(py, number, operation, answer, borrowed)
}

/// The answer of a call in one of the other ways in which some operations may be called: of several tensors, each for itself; with lists of
/// numbers for an equation; with a dtype to see bits as.
fn told_otherwise<'py>(
    py: Python<'py>,
    number: usize,
    operation: &'static Operation,
    form: Form,
    arguments: Arguments<'_, 'py>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Arguments { positional, names, by_name, .. } = arguments;
    if operation.each && by_name.is_empty() {
        let items: Option<Vec<Bound<'py, PyAny>>> = match positional {
            [one] if size::is_list(one) => Some(one.try_iter()?.collect::<PyResult<_>>()?),
            [_] => None,
            several => Some(several.iter().map(|&item| item.to_owned()).collect()),
        };
        if let Some(items) = items {
            let each = items.iter().map(|item| {
                let positional = &[item.as_borrowed()];
                call(
                    py,
                    number,
                    operation,
                    form,
                    Arguments { positional, names: None, by_name: &[], ..arguments },
                )
            });
            return Ok(Some(PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)?.into_any()));
        }
    }
    // An equation may be told by lists of numbers, one behind each operand.
    if let [Param { kind: Kind::Text, .. }, Param { kind: Kind::Tensors, .. }] = operation.params
        && !operation.has_receiver
        && positional.first().is_some_and(|first| first.cast::<PyTensor>().is_ok())
    {
        let (equation, operands) = equation_of(operation, positional)?;
        let given: Objects<'_, 'py> = std::iter::once(equation.as_borrowed()).chain(operands).collect();
        return call(py, number, operation, form, Arguments { positional: &given, ..arguments }).map(Some);
    }
    if has(operation, Manner::Bits)
        && let Some((tensor, dtype)) = bits_of(positional, names, by_name)?
    {
        let seen = dlpack::seen_as(py, tensor.get(), dtype)?;
        return Ok(Some(Bound::new(py, seen)?.into_any()));
    }
    Ok(None)
}

/// Warns where a loss of differences broadcasts, as PyTorch does: a target `[n]` beside an output `[n, 1]` makes n² of them.
fn unlike_sizes(py: Python<'_>, args: &[Arg<'_>]) -> PyResult<()> {
    let [Arg::Tensor(x), Arg::Tensor(y), ..] = args else { return Ok(()) };
    // What does not broadcast is an error.
    if x.shape() == y.shape() || Shape::broadcast(&x.shape(), &y.shape()).is_none() {
        return Ok(());
    }
    let text = format!(
        "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due to \
         broadcasting. Please ensure they have the same size.",
        y.shape(),
        x.shape()
    );
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)
}

/// Calls an operation. One that answers with a value, or looks at values for its result's shape, waits for them, which other
/// threads need not do.
#[inline]
fn called(py: Python<'_>, operation: &'static Operation, given: &Given<'_, '_>) -> PyResult<Answer> {
    let waits = match operation.returns {
        Returns::Bool | Returns::Float => true,
        Returns::Tensor
        | Returns::Several
        | Returns::Asked
        | Returns::Varied
        | Returns::List
        | Returns::Int
        | Returns::Sizes => operation.reads,
    };
    match waits {
        true => compute(py, || (operation.call)(given)),
        false => build(py, || (operation.call)(given)),
    }
}

/// The answer as Python has it.
fn answered<'py>(
    py: Python<'py>,
    number: usize,
    operation: &'static Operation,
    answer: Answer,
    borrowed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let one = |t: Tensor| -> PyResult<Bound<'py, PyAny>> {
        let t = if operation.view { PyTensor::of(t, borrowed) } else { PyTensor::result(py, t, borrowed)? };
        Ok(Bound::new(py, t)?.into_any())
    };
    Ok(match answer {
        Answer::Tensor(t) => one(t)?,
        Answer::Several(tensors) => {
            let all: Vec<_> = tensors.into_iter().map(one).collect::<PyResult<_>>()?;
            match operation.answers.len() != all.len() {
                true => PyTuple::new(py, all)?.into_any(),
                false => named_answers(py, number, operation)?.call1(PyTuple::new(py, all)?)?,
            }
        }
        Answer::List(tensors) => {
            let all: Vec<_> = tensors.into_iter().map(one).collect::<PyResult<_>>()?;
            PyTuple::new(py, all)?.into_any()
        }
        Answer::Bool(b) => b.into_pyobject(py)?.to_owned().into_any(),
        Answer::Int(n) => n.into_pyobject(py)?.into_any(),
        Answer::Float(x) => x.into_pyobject(py)?.into_any(),
        Answer::Sizes(sizes) => size::size(py, sizes)?,
    })
}

/// The class of an operation's several results: a tuple whose fields have names.
fn named_answers<'py>(
    py: Python<'py>,
    number: usize,
    operation: &'static Operation,
) -> PyResult<Bound<'py, PyAny>> {
    static CLASSES: OnceLock<Vec<OnceLock<Py<PyAny>>>> = OnceLock::new();
    let classes = CLASSES.get_or_init(|| (0..COUNT).map(|_| OnceLock::new()).collect());
    if let Some(class) = classes[number].get() {
        return Ok(class.bind(py).clone());
    }
    let class = py.import("micrograd_rs._size")?.getattr("answers")?;
    let class = class.call1((operation.name, operation.answers.to_vec()))?;
    Ok(classes[number].get_or_init(|| class.unbind()).bind(py).clone())
}

/// The signature as Python writes it, without the name; `receiver` is what the tensor is called.
fn signature(operation: &Operation, receiver: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    if operation.has_receiver {
        parts.push(receiver.into());
    }
    // A list that may be given as its items is written as these, behind which all is by keyword.
    let is_spread = operation.variadic && !(receiver == "input" && has(operation, Manner::Listed));
    let last = operation.params.iter().rposition(|param| !param.keyword_only);
    let mut by_keyword = false;
    for (i, param) in operation.params.iter().enumerate() {
        if param.keyword_only && !by_keyword {
            by_keyword = true;
            parts.push("*".into());
        }
        parts.push(match param.default {
            Some(default) => format!("{}={default}", param.name),
            None if is_spread && last == Some(i) => {
                by_keyword = true;
                format!("*{}", param.name)
            }
            None => param.name.to_string(),
        });
    }
    format!("({})", parts.join(", "))
}

/// A definition that lives as long as the process, as CPython wants it; `words` are the form's, as a function or as a method.
fn definition(
    number: usize,
    operation: &Operation,
    words: &str,
    name: &str,
    form: Form,
    receiver: &str,
) -> *mut ffi::PyMethodDef {
    let mut text = format!("{name}{}\n--\n\n{words}", signature(operation, receiver));
    let function = match form {
        Form::Plain => PLAIN[number],
        Form::InPlace => IN_PLACE[number],
    };
    let writes = form == Form::InPlace && !operation.places.is_empty();
    example(&mut text, operation, name, receiver == "$self", writes);
    let text_of = |s: &str| CString::new(s).unwrap_or_default().into_raw() as *const _;
    let definition = ffi::PyMethodDef {
        ml_name: text_of(name),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: text_of(&text),
    };
    Box::into_raw(Box::new(definition))
}

/// What the extension calls a function of a place; `None` for methods.
fn prefix(place: Place) -> Option<&'static str> {
    match place {
        Place::Method => None,
        Place::Function => Some(""),
        Place::Nn => Some("_nn_"),
        Place::Linalg => Some("_linalg_"),
        Place::Special => Some("_special_"),
        Place::Windows => Some("_windows_"),
    }
}

/// Makes every operation a method of `Tensor` and a function of the extension, as its description says.
pub fn install(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let class = py.get_type::<PyTensor>();
    for (number, operation) in operations().enumerate() {
        let is_method = operation.places.contains(&Place::Method);
        let prefixes: SmallVec<[_; 4]> = operation.places.iter().filter_map(|&p| prefix(p)).collect();
        let plain = std::iter::once(operation.name).chain(operation.aliases.iter().copied());
        // Of what answers with another tensor, and of what writes into its own. What is nothing else has the words of the former.
        let plain_words = body(operation);
        let has_twin = operation.in_place && !operation.places.is_empty();
        let twin_words = if has_twin { written(operation) } else { String::new() };
        let of_form = |form| if form == Form::InPlace && has_twin { &twin_words } else { &plain_words };
        let named = plain.flat_map(|name| {
            let written = operation.in_place.then(|| (format!("{name}_"), Form::InPlace));
            std::iter::once((name.to_string(), Form::Plain)).chain(written)
        });
        for (name, form) in named {
            if is_method || form == Form::InPlace {
                let words = of_method(of_form(form));
                let definition = definition(number, operation, &words, &name, form, "$self");
                // SAFETY: the class is a type, the definition lives for ever.
                let method = unsafe {
                    Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), definition))?
                };
                class.setattr(name.as_str(), method)?;
            }
            if prefixes.is_empty() {
                continue;
            }
            let definition = definition(number, operation, of_form(form), &name, form, "input");
            // SAFETY: the definition lives for ever; no object and no module belong to the function.
            let function = unsafe {
                let function = ffi::PyCFunction_NewEx(definition, std::ptr::null_mut(), std::ptr::null_mut());
                Bound::from_owned_ptr_or_err(py, function)?
            };
            for prefix in &prefixes {
                module.add(format!("{prefix}{name}").as_str(), &function)?;
            }
        }
    }
    Ok(())
}

/// The elementwise operations that have a row in the op table: name, number of operands, documentation.
#[pyfunction]
pub fn _rows() -> Vec<(&'static str, usize, &'static str)> {
    let rows = mg_kernels::Row::ALL.iter().zip(operations());
    let public = rows.filter(|(_, operation)| operation.places.contains(&Place::Method));
    public.map(|(row, operation)| (operation.name, row.arity(), operation.documentation)).collect()
}

/// What the operations are, for whoever writes stubs and tests: name, aliases, places, whether there is a receiver, whether
/// there is a twin in place, the arguments (name, kind, default, whether it takes None, whether it is by keyword only),
/// whether the last list may be given as its items, and whether a method's alone, names of answers, the name of its words.
#[pyfunction]
pub fn _operations(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let all = PyList::empty(py);
    for operation in operations() {
        let entry = pyo3::types::PyDict::new(py);
        entry.set_item("name", operation.name)?;
        entry.set_item("aliases", operation.aliases.to_vec())?;
        let places: Vec<String> = operation.places.iter().map(|p| format!("{p:?}").to_lowercase()).collect();
        entry.set_item("places", places)?;
        entry.set_item("receiver", operation.has_receiver)?;
        entry.set_item("in_place", operation.in_place)?;
        entry.set_item("variadic", operation.variadic)?;
        // As a function it takes that list as one all the same.
        entry.set_item("listed", has(operation, Manner::Listed))?;
        entry.set_item("answers", operation.answers.to_vec())?;
        entry.set_item("words", key(operation))?;
        entry.set_item("returns", format!("{:?}", operation.returns).to_lowercase())?;
        let params = operation.params.iter().map(|p| {
            (p.name, format!("{:?}", p.kind).to_lowercase(), p.default, p.takes_none, p.keyword_only)
        });
        entry.set_item("params", params.collect::<Vec<_>>())?;
        all.append(entry)?;
    }
    Ok(all)
}

/// As many functions as there may be operations; a definition takes the one of its number.
const MOST: usize = 768;
const _: () = assert!(COUNT <= MOST, "more operations than functions that Python can call");

/// One function for each number.
const fn table<const WRITES: bool>() -> [Fast; MOST] {
    let mut table = [enter::<0, WRITES> as Fast; MOST];
    seq_macro::seq!(N in 0..768 {
        table[N] = enter::<N, WRITES>;
    });
    table
}
static PLAIN: [Fast; MOST] = table::<false>();
static IN_PLACE: [Fast; MOST] = table::<true>();
