//! Operations that are declared in the engine, as methods and functions: their names, arguments, defaults and words are read
//! from [`mg_autograd::surface`], so that one that is added there is here.

use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use mg_autograd::Tensor;
use mg_autograd::surface::{
    Answer, Arg, COUNT, Given, Kind, Operation, Param, Place, Returns, Sections, call_in_place, operations,
};
use mg_device::{DType, Shape};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;

use crate::arith::other;
use crate::error::{build, compute, not_in_handler, said_by};
use crate::format::{PyLayout, PyMemoryFormat};
use crate::random::PyGenerator;
use crate::tensor::{Other, PyTensor};
use crate::{arith, device, dlpack, dtype, nested, size};

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
        call(py, number, operation, form, &all[..positional], names, &all[positional..])
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

/// The arguments that are given, put where the operation's description has them.
struct Seats<'a, 'py> {
    operation: &'static Operation,
    seats: SmallVec<[Option<Borrowed<'a, 'py, PyAny>>; 8]>,
}

impl<'a, 'py> Seats<'a, 'py> {
    /// Number of seats before the first parameter: the tensor itself.
    fn first(&self) -> usize {
        usize::from(self.operation.has_receiver)
    }

    fn complain(&self, text: &str) -> PyErr {
        PyTypeError::new_err(format!("{}() {text}", self.operation.name))
    }

    /// The seat that a name stands for: PyTorch's, and NumPy's where there is one.
    fn named(&self, name: &str) -> Option<usize> {
        let find = |wanted: &str| self.operation.params.iter().position(|p| p.name == wanted);
        if self.operation.has_receiver
            && (matches!(name, "input" | "self")
                || matches!(name, "x" | "y" | "a" | "A" | "tensor" | "theta" | "log_probs")
                    && find(name).is_none()
                || name == "indices" && self.operation.name == "unravel_index")
        {
            return Some(0);
        }
        let synonym = match name {
            "axis" | "axes" => Some("dim"),
            "dim" => Some("dims"),
            "keepdims" => Some("keepdim"),
            "shape" | "sizes" => Some("size"),
            "size" => Some("shape"),
            "value" => Some("src"),
            "split_size_or_sections" => Some("split_size"),
            "indices" | "sections" => Some("indices_or_sections"),
            "a_min" => Some("min"),
            "a_max" => Some("max"),
            "ddof" => Some("correction"),
            "b" => Some("other"),
            "other" => Some("tensor"),
            "from" => Some("from_"),
            // PyTorch's functions at its top say `train`, those of `nn.functional` `training`.
            "train" => Some("training"),
            _ => None,
        };
        let found = find(name).or_else(|| synonym.and_then(find));
        let found = found.or_else(|| (name == "axis" || name == "axes").then(|| find("dims")).flatten());
        // Sizes that mathematics writes as capitals: `N`, `M`.
        let found = found.or_else(|| find(&name.to_ascii_lowercase()).filter(|_| name.len() == 1));
        found.map(|at| at + self.first())
    }

    fn sit(&mut self, at: usize, object: Borrowed<'a, 'py, PyAny>) -> PyResult<()> {
        if self.seats[at].replace(object).is_some() {
            let name =
                if at < self.first() { "input" } else { self.operation.params[at - self.first()].name };
            return Err(self.complain(&format!("got multiple values for argument '{name}'")));
        }
        Ok(())
    }
}

/// How losses were told of their reduction before it had a name.
#[derive(Default)]
struct OldReduction {
    size_average: Option<bool>,
    reduce: Option<bool>,
}

impl OldReduction {
    /// Whether this is one of the two arguments: then it is kept.
    fn reads(
        &mut self,
        operation: &Operation,
        name: &str,
        object: Borrowed<'_, '_, PyAny>,
    ) -> PyResult<bool> {
        let seat = match name {
            "size_average" => &mut self.size_average,
            "reduce" => &mut self.reduce,
            _ => return Ok(false),
        };
        if !operation.params.iter().any(|p| p.name == "reduction") {
            return Ok(false);
        }
        *seat = if object.is_none() { None } else { Some(object.is_truthy()?) };
        Ok(true)
    }

    /// The reduction that they stand for, where either was given: it counts more than one by name.
    fn means(&self) -> Option<&'static str> {
        if self.size_average.is_none() && self.reduce.is_none() {
            return None;
        }
        Some(match (self.reduce.unwrap_or(true), self.size_average.unwrap_or(true)) {
            (true, true) => "mean",
            (true, false) => "sum",
            (false, _) => "none",
        })
    }
}

/// The reduction that the two old switches of losses stand for, where either was given.
#[pyfunction]
pub fn _old_reduction(
    size_average: Option<Bound<'_, PyAny>>,
    reduce: Option<Bound<'_, PyAny>>,
) -> PyResult<Option<&'static str>> {
    let is_on = |switch: Option<Bound<'_, PyAny>>| switch.map(|s| s.is_truthy()).transpose();
    Ok(OldReduction { size_average: is_on(size_average)?, reduce: is_on(reduce)? }.means())
}

/// What PyTorch's losses take by position after those that ours do: the two old switches around what is told before the reduction, and
/// what is told after it.
fn old_order(operation: &'static Operation) -> impl Iterator<Item = &'static str> {
    let named = || operation.params.iter().filter(|p| p.keyword_only).map(|p| p.name);
    // It is younger than the switches.
    let is_old = operation.name != "linear_cross_entropy" && named().any(|name| name == "reduction");
    let before = named().take_while(|&name| name != "reduction");
    let from = named().skip_while(|&name| name != "reduction");
    let order = std::iter::once("size_average").chain(before).chain(std::iter::once("reduce")).chain(from);
    order.filter(move |_| is_old)
}

/// Arguments by position.
type Objects<'a, 'py> = SmallVec<[Borrowed<'a, 'py, PyAny>; 8]>;

/// The equation that lists of numbers, one behind each operand and a last one for the result, stand for, and the operands. A number is the letter
/// at its place among A to Z, a to z.
fn equation_of<'a, 'py>(
    operation: &Operation,
    given: &[Borrowed<'a, 'py, PyAny>],
) -> PyResult<(Bound<'py, PyAny>, Objects<'a, 'py>)> {
    let letters = |list: &Borrowed<'_, 'py, PyAny>| -> PyResult<String> {
        if !size::is_list(list) && list.cast::<PyTensor>().is_err() {
            let text = format!("{}() takes a list of numbers behind each operand", operation.name);
            return Err(PyTypeError::new_err(text));
        }
        let mut labels = String::new();
        for item in list.try_iter()? {
            let item = item?;
            if item.is(list.py().Ellipsis()) {
                labels.push_str("...");
                continue;
            }
            let number = size::index(&item)?;
            let letter = u8::try_from(number).ok().and_then(|n| ('A'..='Z').chain('a'..='z').nth(n.into()));
            let text = || format!("{}: an axis is a number from 0 to 51, got {number}", operation.name);
            labels.push(letter.ok_or_else(|| PyValueError::new_err(text()))?);
        }
        Ok(labels)
    };
    let (pairs, result) = given.as_chunks::<2>();
    if pairs.is_empty() {
        let text =
            format!("{}: takes an equation and operands, or operands, each before its list", operation.name);
        return Err(PyValueError::new_err(text));
    }
    let sides = pairs.iter().map(|[_, list]| letters(list)).collect::<PyResult<Vec<_>>>()?;
    let mut equation = sides.join(",");
    if let [result] = result {
        equation.push_str("->");
        equation.push_str(&letters(result)?);
    }
    let operands = pairs.iter().map(|&[operand, _]| operand).collect();
    let text = PyString::new(given[0].py(), &equation);
    Ok((text.into_any(), operands))
}

/// What stands behind the tensor, and the seat and the object of a factor.
type FactorFirst<'a, 'py> = (Objects<'a, 'py>, (usize, Borrowed<'a, 'py, PyAny>));

/// PyTorch's order of older days, `add(x, alpha, y)` and `addcmul(x, value, a, b)`: the arguments without the factor, and the factor with its seat. It
/// warns of it, as PyTorch does.
fn factor_first<'a, 'py>(
    py: Python<'py>,
    operation: &'static Operation,
    positional: &[Borrowed<'a, 'py, PyAny>],
    most: usize,
) -> PyResult<Option<FactorFirst<'a, 'py>>> {
    if positional.len() != most + 1 || !matches!(operation.name, "add" | "sub" | "addcmul" | "addcdiv") {
        return Ok(None);
    }
    let [input, factor, rest @ ..] = positional else { return Ok(None) };
    let is_number = match factor.cast::<PyTensor>() {
        Ok(tensor) => tensor.get().t.rank() == 0,
        Err(_) => nested::scalar(factor)?.is_some(),
    };
    let tensors = rest.iter().all(|other| other.cast::<PyTensor>().is_ok());
    let Some(param) = operation.params.get(most - 1).filter(|_| is_number && tensors) else {
        return Ok(None);
    };
    let text = format!("{0}: the factor comes last, and by name: {1}=", operation.name, param.name);
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &CString::new(text)?, 1)?;
    Ok(Some((std::iter::once(input).chain(rest).copied().collect(), (most, *factor))))
}

/// The arguments of `softmax` and its like without a number in the dtype's place: PyTorch's own modules tell these functions there how deep
/// in the stack they were called.
fn without_depth<'a, 'py>(
    operation: &'static Operation,
    positional: &[Borrowed<'a, 'py, PyAny>],
) -> Option<Objects<'a, 'py>> {
    let [input, dim, depth, rest @ ..] = positional else { return None };
    let is_told = matches!(operation.name, "softmax" | "log_softmax" | "softmin")
        && depth.is_exact_instance_of::<PyInt>();
    is_told.then(|| [input, dim].into_iter().chain(rest).copied().collect())
}

/// What `view` is to see the bits of and as what, where it is given a dtype.
fn bits_of<'a, 'py>(
    positional: &[Borrowed<'a, 'py, PyAny>],
    names: Option<&Bound<'py, PyTuple>>,
    by_name: &[Borrowed<'a, 'py, PyAny>],
) -> PyResult<Option<(Borrowed<'a, 'py, PyTensor>, DType)>> {
    let (tensor, dtype) = match (positional, by_name) {
        (&[tensor, dtype], []) if dtype.cast::<dtype::PyDType>().is_ok() => (tensor, dtype),
        (&[tensor], &[dtype]) => match names.map(|names| names.get_item(0)).transpose()? {
            Some(name) if name.eq("dtype")? => (tensor, dtype),
            Some(_) | None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some((tensor.cast::<PyTensor>()?, dtype::dtype(&dtype)?)))
}

/// How many arguments may be given by position.
fn positional_params(operation: &Operation) -> usize {
    operation.params.iter().take_while(|p| !p.keyword_only).count()
}

#[allow(clippy::too_many_arguments)]
fn call<'py>(
    py: Python<'py>,
    number: usize,
    operation: &'static Operation,
    form: Form,
    positional: &[Borrowed<'_, 'py, PyAny>],
    names: Option<&Bound<'py, PyTuple>>,
    by_name: &[Borrowed<'_, 'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let first = usize::from(operation.has_receiver);
    let count = first + operation.params.len();
    // An operation on one tensor and nothing else has nothing to sort.
    if let ([tensor], [], 1, 1, Form::Plain) = (positional, by_name, first, count, form)
        && let Ok(tensor) = tensor.cast::<PyTensor>()
    {
        let tensor = tensor.get();
        let answer = called(py, operation, &Given { args: &[Arg::Tensor(&tensor.t)] })?;
        return answered(py, number, operation, answer, tensor.is_borrowed());
    }
    if operation.each && by_name.is_empty() {
        let items: Option<Vec<Bound<'py, PyAny>>> = match positional {
            [one] if size::is_list(one) => Some(one.try_iter()?.collect::<PyResult<_>>()?),
            [_] => None,
            several => Some(several.iter().map(|&item| item.to_owned()).collect()),
        };
        if let Some(items) = items {
            let each =
                items.iter().map(|item| call(py, number, operation, form, &[item.as_borrowed()], None, &[]));
            return Ok(PyTuple::new(py, each.collect::<PyResult<Vec<_>>>()?)?.into_any());
        }
    }
    // An equation may be told by lists of numbers, one behind each operand.
    if let [Param { kind: Kind::Text, .. }, Param { kind: Kind::Tensors, .. }] = operation.params
        && first == 0
        && positional.first().is_some_and(|first| first.cast::<PyTensor>().is_ok())
    {
        let (equation, operands) = equation_of(operation, positional)?;
        let given: Objects<'_, 'py> = std::iter::once(equation.as_borrowed()).chain(operands).collect();
        return call(py, number, operation, form, &given, names, by_name);
    }
    if operation.name == "view"
        && let Some((tensor, dtype)) = bits_of(positional, names, by_name)?
    {
        let seen = dlpack::seen_as(py, tensor.get(), dtype)?;
        return Ok(Bound::new(py, seen)?.into_any());
    }
    let mut seats = Seats { operation, seats: SmallVec::from_elem(None, count) };
    let (mut form, mut old) = (form, OldReduction::default());
    let most = first + positional_params(operation);
    let told = without_depth(operation, positional);
    let positional = told.as_deref().unwrap_or(positional);
    let reordered = factor_first(py, operation, positional, most)?;
    let (positional, factor) = match &reordered {
        Some((rest, factor)) => (&rest[..], Some(*factor)),
        None => (positional, None),
    };
    // The last list by position may be given as its items.
    let spread = operation.variadic && most > 0 && positional.len() >= most && {
        let last = most - 1;
        positional.len() > most || positional.get(last).is_some_and(|o| !size::is_list(o) && !o.is_none())
    };
    let mut alone = if spread { most - 1 } else { positional.len() };
    // PyTorch's functions of `nn.functional` end with whether the result is written into the tensor.
    if alone == most + 1
        && operation.in_place
        && (operation.places.contains(&Place::Nn) || operation.name == "relu")
        && let Some(last) = positional.last().filter(|last| last.is_exact_instance_of::<PyBool>())
    {
        form = if last.is_truthy()? { Form::InPlace } else { form };
        alone = most;
    }
    // Which of several kernels is taken, the last argument of PyTorch's functions at its top, is nothing to choose here.
    if alone == most + 1
        && matches!(operation.name, "layer_norm" | "group_norm")
        && positional[most].is_exact_instance_of::<PyBool>()
    {
        alone = most;
    }
    // Whether matrices are symmetric has no name in PyTorch's older order.
    let mut symmetric = None;
    if alone == most + 1 && matches!(operation.name, "pinv" | "matrix_rank") {
        symmetric = positional.last().copied();
        alone = most;
    }
    // Losses went on with what has to be named now.
    if alone > most && old_order(operation).next().is_some() {
        let mut names = old_order(operation);
        for &object in &positional[most..] {
            let Some(name) = names.next() else {
                return Err(
                    seats.complain(&format!("got {} positional arguments, too many", positional.len()))
                );
            };
            if !old.reads(operation, name, object)?
                && let Some(at) = seats.named(name)
            {
                seats.sit(at, object)?;
            }
        }
        alone = most;
    }
    if alone > most {
        let text = format!("takes {most} positional arguments but {} were given", positional.len());
        return Err(seats.complain(&text));
    }
    for (at, &object) in positional[..alone].iter().enumerate() {
        // `x.std(False)`: a truth value alone is no axis, but whether Bessel's correction is wanted.
        let unbiased = at == first && alone == first + 1 && object.is_exact_instance_of::<PyBool>();
        let unbiased = unbiased && operation.params.get(1).is_some_and(|p| p.name == "unbiased");
        seats.sit(at + usize::from(unbiased), object)?;
    }
    if let Some((at, object)) = factor {
        seats.sit(at, object)?;
    }
    if let Some(object) = symmetric
        && let Some(at) = seats.named("hermitian")
    {
        seats.sit(at, object)?;
    }
    for (i, &object) in by_name.iter().enumerate() {
        let Some(name) = names.map(|n| n.get_item(i)).transpose()? else { break };
        let name = name.cast::<PyString>()?.to_str()?;
        // PyTorch's functions of `nn.functional` take their twin's name as a switch.
        if name == "inplace" && operation.in_place {
            form = if object.is_truthy()? { Form::InPlace } else { form };
            continue;
        }
        if old.reads(operation, name, object)? {
            continue;
        }
        let Some(at) = seats.named(name) else {
            if without_effect(operation, name, object)? {
                continue;
            }
            return Err(seats.complain(&format!("got an unexpected keyword argument '{name}'")));
        };
        let own = at.checked_sub(first).map_or("input", |at| operation.params[at].name);
        if seats.seats[at].is_some() && own != name {
            return Err(seats.complain(&format!("takes '{own}' and '{name}' for the same: give one of them")));
        }
        seats.sit(at, object)?;
    }
    not_in_handler()?;
    let left = if form == Form::Plain { left_number(&seats)? } else { None };
    let mut read = Read { borrowed: false, huge: false };
    let mut args: SmallVec<[Arg<'_>; 8]> = SmallVec::from_elem(Arg::Missing, count);
    for at in 0..count {
        if spread && at == most - 1 {
            let items = read.items(&operation.params[at - first], &positional[alone..]);
            args[at] = items.map_err(|error| said_by(py, operation.name, error))?;
            continue;
        }
        let Some(object) = &seats.seats[at] else {
            if at < first {
                return Err(seats.complain("missing required argument 'input'"));
            }
            let param = &operation.params[at - first];
            // No items are an empty list, as `x.reshape(*shape)` has them for no axes.
            if operation.variadic && at == most - 1 && by_name.is_empty() && param.default.is_none() {
                args[at] = read.items(param, &[])?;
                continue;
            }
            if param.default.is_none() {
                return Err(seats.complain(&format!("missing required argument '{}'", param.name)));
            }
            continue;
        };
        args[at] = match (at < first, &left) {
            (true, Some(left)) => Arg::Tensor(left),
            (true, None) => {
                read.tensor(object, "input").map_err(|error| said_by(py, operation.name, error))?
            }
            (false, _) => {
                let read = read.one(&operation.params[at - first], object);
                read.map_err(|error| said_by(py, operation.name, error))?
            }
        };
    }
    let Read { borrowed, huge } = read;
    if let Some(at) = operation.params.iter().position(|p| p.name == "reduction")
        && let Some(reduction) = old.means()
    {
        args[first + at] = Arg::Text(reduction);
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
        && matches!(operation.name, "any" | "all")
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
    let answer = called(py, operation, &given)?;
    // What answers with the tensor that it was given answers with that object.
    if let (Answer::Tensor(t), Some(Some(object))) = (&answer, seats.seats.first())
        && object.cast::<PyTensor>().is_ok_and(|first| first.get().t.is(t))
    {
        let itself: &Bound<'_, PyAny> = object;
        return Ok(itself.clone());
    }
    answered(py, number, operation, answer, borrowed)
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

/// Whether an argument says how memory is to lie, which no result depends on: PyTorch's factories and copies take some.
fn without_effect(operation: &Operation, name: &str, object: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    let makes = operation.params.iter().any(|p| p.name == "requires_grad")
        || matches!(operation.name, "tril_indices" | "triu_indices");
    Ok(match name {
        "memory_format" if makes || operation.name == "clone" => {
            object.is_none() || object.extract::<PyMemoryFormat>().is_ok()
        }
        "layout" if makes => object.is_none() || object.extract::<PyLayout>().is_ok(),
        "pin_memory" if makes => object.is_none() || object.extract::<bool>().is_ok(),
        // Which of several kernels is taken.
        "cudnn_enable" => operation.name == "layer_norm" && object.extract::<bool>().is_ok(),
        "cudnn_enabled" => operation.name == "group_norm" && object.extract::<bool>().is_ok(),
        // Gradients are dense.
        "sparse_grad" => operation.name == "gather" && object.extract::<bool>().is_ok(),
        // NumPy's functions of the same names name these.
        "out" | "dtype" => object.is_none(),
        // What PyTorch's own modules tell these functions of where they were called.
        "_stacklevel" => matches!(operation.name, "softmax" | "log_softmax" | "softmin"),
        _ => false,
    })
}

/// The tensor that a number in a tensor's place stands for, beside that on the other side: `pow(2, x)`.
fn left_number(seats: &Seats<'_, '_>) -> PyResult<Option<Tensor>> {
    let (Some(Some(object)), true) = (seats.seats.first(), seats.operation.has_receiver) else {
        return Ok(None);
    };
    if object.cast::<PyTensor>().is_ok() {
        return Ok(None);
    }
    let others = seats.operation.params.iter().zip(&seats.seats[1..]);
    let mut tensors = others.filter_map(|(param, seat)| match (param.kind, seat) {
        (Kind::Operand, Some(object)) => object.cast::<PyTensor>().ok(),
        _ => None,
    });
    let beside = tensors.next();
    let Some(number) = nested::scalar(object)? else { return Ok(None) };
    // PyTorch's arithmetic takes two numbers: it answers with a tensor without axes.
    if beside.is_none() && matches!(seats.operation.name, "add" | "sub" | "mul" | "div" | "floor_divide") {
        return Ok(Some(nested::tensor_like(object)?.t));
    }
    let Some(beside) = beside else { return Ok(None) };
    Ok(Some(number.operand.left_of(seats.operation, &beside.get().t)))
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

/// Reads arguments by their kinds.
struct Read {
    /// Whether the memory of one of the tensors is somebody else's.
    borrowed: bool,
    /// Whether one of the numbers is an integer beyond 64 bits.
    huge: bool,
}

impl Read {
    fn unlike(param: &str, wanted: &str, object: &Bound<'_, PyAny>) -> PyErr {
        let got = object.get_type().name().map_or("an object".to_string(), |n| n.to_string());
        PyTypeError::new_err(format!("argument '{param}' must be {wanted}, not {got}"))
    }

    fn tensor<'a>(&mut self, object: &'a Borrowed<'_, '_, PyAny>, name: &str) -> PyResult<Arg<'a>> {
        let Ok(tensor) = object.cast::<PyTensor>() else {
            return Err(Self::unlike(name, "a tensor", object));
        };
        self.borrowed |= tensor.get().is_borrowed();
        Ok(Arg::Tensor(&tensor.get().t))
    }

    /// A tensor, or what can be made one: a number, a NumPy array.
    fn tensor_like(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
        let PyTensor { t, borrowed, .. } = nested::tensor_like(object)?;
        self.borrowed |= borrowed;
        Ok(t)
    }

    fn one<'a>(&mut self, param: &Param, object: &'a Borrowed<'_, '_, PyAny>) -> PyResult<Arg<'a>> {
        if object.is_none() && (param.takes_none || param.default == Some("None")) {
            return Ok(Arg::None);
        }
        let unlike = |wanted: &str| Self::unlike(param.name, wanted, object);
        // What is of the right kind and too large says so itself.
        let not = |error: PyErr, wanted: &str| match error.is_instance_of::<PyTypeError>(object.py()) {
            true => unlike(wanted),
            false => error,
        };
        Ok(match param.kind {
            Kind::Tensor => self.tensor(object, param.name)?,
            Kind::Tensors => {
                // Each part of a tensor is a tensor: more of them than anybody means would take all memory.
                let parts = object.cast::<PyTensor>().ok().and_then(|t| t.get().t.shape().first().copied());
                if let Some(parts) = parts.filter(|&n| n > 1 << 20) {
                    let text = format!(
                        "argument '{}' is a tensor of {parts} parts: takes a list of tensors",
                        param.name
                    );
                    return Err(PyValueError::new_err(text));
                }
                let items = object.try_iter().map_err(|_| unlike("a sequence of tensors"))?;
                Arg::Tensors(items.map(|item| self.tensor_like(&item?)).collect::<PyResult<_>>()?)
            }
            Kind::Operand => {
                let Other { operand, borrowed, huge } = other(object)?;
                self.borrowed |= borrowed;
                self.huge |= huge;
                Arg::Operand(operand)
            }
            Kind::Float => Arg::Float(object.extract().map_err(|_| unlike("a number"))?),
            Kind::Int => Arg::Int(size::index(object).map_err(|e| not(e, "an integer"))? as i64),
            Kind::Size => {
                let n = size::index(object).map_err(|e| not(e, "an integer"))?;
                let n = usize::try_from(n).map_err(|_| {
                    PyValueError::new_err(format!("argument '{}' cannot be negative, got {n}", param.name))
                })?;
                Arg::Size(n)
            }
            Kind::Order => match object.cast::<PyString>() {
                Ok(_) => {
                    let text: &'a Bound<'_, PyAny> = object;
                    Arg::Text(text.cast::<PyString>()?.to_str()?)
                }
                Err(_) => Arg::Float(object.extract().map_err(|_| unlike("a number or a string"))?),
            },
            Kind::Pairing => match size::is_list(object) {
                true => {
                    let both = object.try_iter()?.map(|side| integers(&side?)).collect::<PyResult<Vec<_>>>();
                    match <[_; 2]>::try_from(both.map_err(|_| unlike("an integer or two lists of axes"))?) {
                        Ok([a, b]) => Arg::Pair(a, b),
                        Err(_) => return Err(unlike("an integer or two lists of axes")),
                    }
                }
                false => {
                    let n = size::index(object).map_err(|_| unlike("an integer or two lists of axes"))?;
                    Arg::Size(usize::try_from(n).map_err(|_| {
                        PyValueError::new_err(format!(
                            "argument '{}' cannot be negative, got {n}",
                            param.name
                        ))
                    })?)
                }
            },
            Kind::Integers if object.cast::<PyTensor>().is_ok() => self.tensor(object, param.name)?,
            Kind::Integers => {
                let all = integers(object).map_err(|e| not(e, "a tensor or integers"))?;
                let all: Vec<i64> = all.into_iter().map(|n| n as i64).collect();
                let count = all.len();
                let made = Tensor::from_vec(all, &[count]).map_err(|e| crate::error::exception(&e))?;
                Arg::Tensors(vec![made])
            }
            Kind::Generator => match object.cast::<PyGenerator>() {
                Ok(generator) => Arg::Generator(&generator.get().0),
                Err(_) => return Err(unlike("a Generator")),
            },
            Kind::Ints => Arg::Ints(integers(object).map_err(|e| not(e, "an integer or several"))?),
            Kind::Sizes => Arg::Sizes(size::shape(object)?.into()),
            Kind::OpenSizes if size::is_list(object) => {
                let each = |item: PyResult<Bound<'_, PyAny>>| match item? {
                    item if item.is_none() => Ok(None),
                    item => Ok(size::shape(&item)?.first().copied()),
                };
                Arg::OpenSizes(object.try_iter()?.map(each).collect::<PyResult<_>>()?)
            }
            Kind::OpenSizes if object.is_none() => Arg::OpenSizes(SmallVec::from_iter([None])),
            Kind::OpenSizes => Arg::OpenSizes(size::shape(object)?.into_iter().map(Some).collect()),
            Kind::Sections => {
                // A tensor stands for the numbers in it, PyTorch's third way to say where parts end.
                let listed = match object.cast::<PyTensor>() {
                    Ok(tensor) => Some(tensor.call_method0("tolist")?),
                    Err(_) => None,
                };
                let given: &Bound<'_, PyAny> = listed.as_ref().unwrap_or(object);
                let all = integers(given).map_err(|e| not(e, "an integer or several"))?;
                Arg::Sections(match size::is_list(given) {
                    true => Sections::List(all),
                    false => Sections::Number(all[0]),
                })
            }
            Kind::Padding if object.is_instance_of::<PyString>() => {
                let text: &'a Bound<'_, PyAny> = object;
                Arg::Text(text.cast::<PyString>()?.to_str()?)
            }
            Kind::Padding => Arg::Sizes(size::shape(object)?.into()),
            Kind::Floats => Arg::Floats(floats(object).map_err(|_| unlike("a number or several"))?),
            Kind::Spacing => {
                let has_axes = |item: PyResult<Bound<'_, PyAny>>| {
                    item.is_ok_and(|item| item.cast::<PyTensor>().is_ok_and(|t| t.get().t.rank() > 0))
                };
                let wanted = "a number or several, or a tensor of one axis for each axis";
                match size::is_list(object) && object.try_iter()?.any(has_axes) {
                    true => {
                        let points = object.try_iter()?.map(|item| match item?.cast::<PyTensor>() {
                            Ok(points) => Ok(points.get().t.clone()),
                            Err(_) => Err(unlike(wanted)),
                        });
                        Arg::Tensors(points.collect::<PyResult<_>>()?)
                    }
                    false => Arg::Floats(floats(object).map_err(|_| unlike(wanted))?),
                }
            }
            Kind::Bool => Arg::Bool(object.extract().map_err(|_| unlike("True or False"))?),
            Kind::Text => {
                let text: &'a Bound<'_, PyAny> = object;
                Arg::Text(text.cast::<PyString>().map_err(|_| unlike("a string"))?.to_str()?)
            }
            Kind::DType => Arg::DType(dtype::dtype(object)?),
            Kind::Device => match device::usable_device(Some(object))? {
                Some(device) => Arg::Device(device),
                None => Arg::None,
            },
        })
    }

    /// A list that is given as its items.
    fn items<'a>(&mut self, param: &Param, items: &'a [Borrowed<'_, '_, PyAny>]) -> PyResult<Arg<'a>> {
        if param.kind == Kind::Tensors {
            let tensors = items.iter().map(|item| self.tensor_like(item));
            return Ok(Arg::Tensors(tensors.collect::<PyResult<_>>()?));
        }
        if param.kind != Kind::Sizes {
            return Ok(Arg::Ints(items.iter().map(|item| axis(item)).collect::<PyResult<_>>()?));
        }
        let ints: PyResult<SmallVec<[isize; 8]>> = items.iter().map(|item| size::index(item)).collect();
        let ints = ints?;
        let sizes: Option<SmallVec<[usize; 8]>> = ints.iter().map(|&n| usize::try_from(n).ok()).collect();
        let fail = || PyValueError::new_err(format!("sizes cannot be negative, got {:?}", ints.as_slice()));
        Ok(Arg::Sizes(sizes.ok_or_else(fail)?))
    }
}

/// An axis. A truth value in its place stands for something else.
fn axis(item: &Bound<'_, PyAny>) -> PyResult<isize> {
    match item.is_instance_of::<PyBool>() {
        true => Err(PyTypeError::new_err("a truth value is no axis")),
        false => size::index(item),
    }
}

fn integers(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[isize; 8]>> {
    if size::is_list(object) {
        return object.try_iter()?.map(|item| axis(&item?)).collect();
    }
    Ok(SmallVec::from_elem(axis(object)?, 1))
}

fn floats(object: &Bound<'_, PyAny>) -> PyResult<SmallVec<[f64; 8]>> {
    if size::is_list(object) {
        return object.try_iter()?.map(|item| item?.extract()).collect();
    }
    Ok(SmallVec::from_elem(object.extract()?, 1))
}

/// The signature as Python writes it, without the name; `receiver` is what the tensor is called.
fn signature(operation: &Operation, receiver: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    if operation.has_receiver {
        parts.push(receiver.into());
    }
    let mut by_keyword = false;
    for param in operation.params {
        if param.keyword_only && !by_keyword {
            by_keyword = true;
            parts.push("*".into());
        }
        parts.push(match param.default {
            Some(default) => format!("{}={default}", param.name),
            None => param.name.to_string(),
        });
    }
    format!("({})", parts.join(", "))
}

/// An operation's documentation for who reads Python: links to Rust's methods are their names.
fn words_of(operation: &Operation) -> String {
    operation.documentation.replace("[`Tensor::", "`").replace("[`", "`").replace("`]", "`")
}

/// A definition that lives as long as the process, as CPython wants it.
fn definition(
    number: usize,
    operation: &Operation,
    name: &str,
    form: Form,
    receiver: &str,
) -> *mut ffi::PyMethodDef {
    let (function, words) = match form {
        Form::Plain => (PLAIN[number], words_of(operation)),
        Form::InPlace => {
            let words = match (operation.places.is_empty(), operation.view) {
                (true, _) => words_of(operation),
                (false, false) => {
                    format!("`{}`, written into the tensor, which is answered.", operation.name)
                }
                (false, true) => format!("`{}` of the tensor itself, which is answered.", operation.name),
            };
            (IN_PLACE[number], words)
        }
    };
    let text = |s: String| CString::new(s.replace('\0', "")).unwrap_or_default().into_raw() as *const _;
    let definition = ffi::PyMethodDef {
        ml_name: text(name.to_string()),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: function },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: text(format!("{name}{}\n--\n\n{words}", signature(operation, receiver))),
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
        let named = plain.flat_map(|name| {
            let written = operation.in_place.then(|| (format!("{name}_"), Form::InPlace));
            std::iter::once((name.to_string(), Form::Plain)).chain(written)
        });
        for (name, form) in named {
            if is_method || form == Form::InPlace {
                let definition = definition(number, operation, &name, form, "$self");
                // SAFETY: the class is a type, the definition lives for ever.
                let method = unsafe {
                    Bound::from_owned_ptr_or_err(py, ffi::PyDescr_NewMethod(class.as_type_ptr(), definition))?
                };
                class.setattr(name.as_str(), method)?;
            }
            if prefixes.is_empty() {
                continue;
            }
            let definition = definition(number, operation, &name, form, "input");
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
/// whether the last list may be given as its items, names of answers, documentation.
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
        entry.set_item("answers", operation.answers.to_vec())?;
        entry.set_item("documentation", words_of(operation))?;
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
