//! Arguments, put where an operation's description has them: in PyTorch's order and under its names, those of older days and NumPy's among them.

use std::borrow::Cow;
use std::ffi::CString;

use mg_autograd::surface::{Arg, Kind, Manner, Operation, Param, Place};
use mg_autograd::{Operand, Tensor};
use mg_device::DType;
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};
use smallvec::SmallVec;

use super::read::Read;
use super::{Arguments, Form};
use crate::error::said_by;
use crate::format::{OUT, PyLayout, PyMemoryFormat};
use crate::tensor::PyTensor;
use crate::{dtype, nested, size};

/// The arguments that are given, put where the operation's description has them.
pub(super) struct Seats<'a, 'py> {
    pub(super) operation: &'static Operation,
    pub(super) seats: SmallVec<[Option<Borrowed<'a, 'py, PyAny>>; 8]>,
    /// There are arguments by name.
    is_named: bool,
}

/// What Python calls an operation: one that is there in place alone has no other name.
fn told(operation: &Operation) -> Cow<'static, str> {
    match operation.places {
        [] if operation.in_place => format!("{}_", operation.name).into(),
        _ => operation.name.into(),
    }
}

impl<'a, 'py> Seats<'a, 'py> {
    /// Number of seats before the first parameter: the tensor itself.
    pub(super) fn first(&self) -> usize {
        usize::from(self.operation.has_receiver)
    }

    /// How many arguments may be given by position.
    fn most(&self) -> usize {
        self.first() + positional_params(self.operation)
    }

    /// The name of a seat.
    fn name(&self, at: usize) -> &'static str {
        at.checked_sub(self.first()).map_or("input", |at| self.operation.params[at].name)
    }

    fn complain(&self, text: &str) -> PyErr {
        PyTypeError::new_err(format!("{}() {text}", told(self.operation)))
    }

    /// The seat that a name stands for: PyTorch's, and NumPy's where there is one.
    fn named(&self, name: &str) -> Option<usize> {
        let find = |wanted: &str| self.operation.params.iter().position(|p| p.name == wanted);
        if self.operation.has_receiver
            && (matches!(name, "input" | "self")
                || matches!(name, "x" | "y" | "a" | "A" | "tensor" | "theta" | "log_probs")
                    && find(name).is_none()
                || self.operation.manners.iter().any(|m| matches!(m, Manner::Receiver(of) if *of == name)))
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
        let own = self.operation.manners.iter().find_map(|manner| match manner {
            Manner::Named(other, own) if *other == name => Some(*own),
            _ => None,
        });
        let found = find(name).or_else(|| own.and_then(find)).or_else(|| synonym.and_then(find));
        let found = found.or_else(|| (name == "axis" || name == "axes").then(|| find("dims")).flatten());
        // Sizes that mathematics writes as capitals: `N`, `M`.
        let found = found.or_else(|| find(&name.to_ascii_lowercase()).filter(|_| name.len() == 1));
        found.map(|at| at + self.first())
    }

    fn sit(&mut self, at: usize, object: Borrowed<'a, 'py, PyAny>) -> PyResult<()> {
        if self.seats[at].replace(object).is_some() {
            let name = self.name(at);
            return Err(self.complain(&format!("got multiple values for argument '{name}'")));
        }
        Ok(())
    }

    /// Reads what sits in each seat; `left` is the tensor that stands for a number in the first one, `items` the last list by position as its items.
    pub(super) fn read<'s>(
        &'s self,
        py: Python<'py>,
        read: &mut Read,
        left: Option<&'s Tensor>,
        items: Option<&'s [Borrowed<'a, 'py, PyAny>]>,
    ) -> PyResult<SmallVec<[Arg<'s>; 8]>> {
        let Seats { operation, seats, .. } = self;
        let (first, most) = (self.first(), self.most());
        let in_name = |error: PyErr| said_by(py, &told(operation), error);
        let mut args: SmallVec<[Arg<'s>; 8]> = SmallVec::from_elem(Arg::Missing, seats.len());
        for (at, seat) in seats.iter().enumerate() {
            if let Some(items) = items.filter(|_| at + 1 == most) {
                args[at] = read.items(&operation.params[at - first], items).map_err(in_name)?;
                continue;
            }
            args[at] = match (seat, left) {
                (None, _) if at < first => return Err(self.complain("missing required argument 'input'")),
                (None, _) => match self.missing(at, &operation.params[at - first])? {
                    true => read.items(&operation.params[at - first], &[])?,
                    false => continue,
                },
                (Some(_), Some(left)) if at < first => Arg::Tensor(left),
                (Some(object), _) if at < first => read.tensor(object, "input").map_err(in_name)?,
                (Some(object), _) if has(operation, Manner::Truth(operation.params[at - first].name)) => {
                    Arg::Bool(object.is_truthy()?)
                }
                (Some(object), _) => read.one(&operation.params[at - first], object).map_err(in_name)?,
            };
        }
        Ok(args)
    }

    /// Whether what is missing is an empty list, as `x.reshape(*shape)` has it for no axes; else it is to have a default.
    fn missing(&self, at: usize, param: &Param) -> PyResult<bool> {
        if param.default.is_some() {
            return Ok(false);
        }
        let is_list = self.operation.variadic && at + 1 == self.most() && !self.is_named;
        let is_list = is_list && !has(self.operation, Manner::NeedsList);
        match is_list {
            true => Ok(true),
            false => Err(self.complain(&format!("missing required argument '{}'", param.name))),
        }
    }
}

/// How losses were told of their reduction before it had a name.
#[derive(Default)]
pub(super) struct OldReduction {
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
    pub(super) fn means(&self) -> Option<&'static str> {
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
    let is_young = has(operation, Manner::WithoutSwitches);
    let is_old = !is_young && named().any(|name| name == "reduction");
    let before = named().take_while(|&name| name != "reduction");
    let from = named().skip_while(|&name| name != "reduction");
    let order = std::iter::once("size_average").chain(before).chain(std::iter::once("reduce")).chain(from);
    order.filter(move |_| is_old)
}

/// Arguments by position.
pub(super) type Objects<'a, 'py> = SmallVec<[Borrowed<'a, 'py, PyAny>; 8]>;

/// The equation that lists of numbers, one behind each operand and a last one for the result, stand for, and the operands. A number is the letter
/// at its place among A to Z, a to z.
pub(super) fn equation_of<'a, 'py>(
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
    if positional.len() != most + 1 || !has(operation, Manner::FactorFirst) {
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

/// What PyTorch's own modules tell `softmax` and its like of where they were called.
const DEPTH: Manner = Manner::Ignores("_stacklevel");

/// The arguments of `softmax` and its like without a number in the dtype's place: PyTorch's own modules tell these functions there how deep
/// in the stack they were called.
fn without_depth<'a, 'py>(
    operation: &'static Operation,
    positional: &[Borrowed<'a, 'py, PyAny>],
) -> Option<Objects<'a, 'py>> {
    let [input, dim, depth, rest @ ..] = positional else { return None };
    let is_told = has(operation, DEPTH) && depth.is_exact_instance_of::<PyInt>();
    is_told.then(|| [input, dim].into_iter().chain(rest).copied().collect())
}

/// What `view` is to see the bits of and as what, where it is given a dtype.
pub(super) fn bits_of<'a, 'py>(
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

/// The arguments in their seats, and what they say beside.
pub(super) struct Seated<'a, 'py> {
    pub(super) seats: Seats<'a, 'py>,
    /// Arguments may say that the result is to be written into the tensor.
    pub(super) form: Form,
    pub(super) old: OldReduction,
    /// The result is to be in page-locked memory.
    pub(super) pins: bool,
    /// How the result is to lie in memory.
    pub(super) format: Option<PyMemoryFormat>,
    /// The last list by position, where that is given as its items.
    pub(super) items: Option<Objects<'a, 'py>>,
}

impl<'a, 'py> Seated<'a, 'py> {
    /// Puts arguments where they belong.
    pub(super) fn of(
        py: Python<'py>,
        operation: &'static Operation,
        form: Form,
        arguments: Arguments<'a, 'py>,
    ) -> PyResult<Seated<'a, 'py>> {
        let count = usize::from(operation.has_receiver) + operation.params.len();
        let is_named = !arguments.by_name.is_empty();
        let seats = Seats { operation, seats: SmallVec::from_elem(None, count), is_named };
        let mut seated =
            Seated { seats, form, old: OldReduction::default(), pins: false, format: None, items: None };
        seated.by_position(py, arguments)?;
        seated.by_name(arguments)?;
        let itself = operation.manners.iter().find_map(|manner| match manner {
            Manner::Itself(name) => operation.params.iter().position(|p| p.name == *name),
            _ => None,
        });
        if let Some(at) = itself
            && operation.has_receiver
            && seated.seats.seats[0].is_none()
        {
            seated.seats.seats[0] = seated.seats.seats[at + 1].take();
        }
        Ok(seated)
    }

    fn by_position(&mut self, py: Python<'py>, arguments: Arguments<'a, 'py>) -> PyResult<()> {
        let positional = arguments.positional;
        let operation = self.seats.operation;
        let most = self.seats.most();
        let told = without_depth(operation, positional);
        let positional = told.as_deref().unwrap_or(positional);
        let reordered = factor_first(py, operation, positional, most)?;
        let positional = match &reordered {
            Some((rest, (at, factor))) => {
                self.seats.sit(*at, *factor)?;
                &rest[..]
            }
            None => positional,
        };
        // The last list by position may be given as its items.
        let spread = operation.variadic && most > 0 && positional.len() >= most && {
            let last = most - 1;
            positional.len() > most || positional.get(last).is_some_and(|o| !size::is_list(o) && !o.is_none())
        };
        let alone = match spread {
            true => most - 1,
            false => self.without_what_follows(positional, most)?,
        };
        if spread && positional.len() > most && arguments.is_function && has(operation, Manner::Listed) {
            let text = format!("takes '{}' as one list", self.seats.name(most - 1));
            return Err(self.seats.complain(&text));
        }
        if spread {
            self.items = Some(positional[alone..].iter().copied().collect());
        }
        if alone > most {
            let text = format!("takes {most} positional arguments but {} were given", positional.len());
            return Err(self.seats.complain(&text));
        }
        let first = self.seats.first();
        if let Some(at) = self.alone(&arguments, alone)? {
            self.seats.sit(at, positional[first])?;
            return positional[..first].iter().enumerate().try_for_each(|(at, &own)| self.seats.sit(at, own));
        }
        for (at, &object) in positional[..alone].iter().enumerate() {
            // `x.std(False)`: a truth value alone is no axis, but whether Bessel's correction is wanted.
            let unbiased = at == first && alone == first + 1 && object.is_exact_instance_of::<PyBool>();
            let unbiased = unbiased && operation.params.get(1).is_some_and(|p| p.name == "unbiased");
            self.seats.sit(at + usize::from(unbiased), object)?;
        }
        Ok(())
    }

    /// The seat of what is given alone, where that is not the first one: `x.random_(5)` is told of the end.
    fn alone(&self, arguments: &Arguments<'a, 'py>, given: usize) -> PyResult<Option<usize>> {
        let mut manners = self.seats.operation.manners.iter();
        let name = manners.find_map(|manner| match manner {
            Manner::Alone(name) => Some(*name),
            _ => None,
        });
        let Some(at) = name.filter(|_| given == self.seats.first() + 1).and_then(|n| self.seats.named(n))
        else {
            return Ok(None);
        };
        for name in arguments.names.iter().flat_map(|names| names.iter()) {
            if self.seats.named(name.cast::<PyString>()?.to_str()?) == Some(at) {
                return Ok(None);
            }
        }
        Ok(Some(at))
    }

    /// Takes what PyTorch's functions take by position behind what has a seat by position. Answers with how many arguments are before that.
    fn without_what_follows(
        &mut self,
        positional: &[Borrowed<'a, 'py, PyAny>],
        most: usize,
    ) -> PyResult<usize> {
        let operation = self.seats.operation;
        if positional.len() <= most {
            return Ok(positional.len());
        }
        if let [.., last] = positional
            && positional.len() == most + 1
        {
            let is_switch = last.is_exact_instance_of::<PyBool>();
            // Those of `nn.functional` end with whether the result is written into the tensor.
            let writes = operation.places.contains(&Place::Nn) || has(operation, Manner::WritesLast);
            if is_switch && operation.in_place && writes {
                self.writes_if(*last)?;
                return Ok(most);
            }
            // Which of several kernels is taken is nothing to choose here.
            let ignores = |manner: &Manner| matches!(manner, Manner::IgnoresLast(_));
            if is_switch && operation.manners.iter().any(ignores) {
                return Ok(most);
            }
            let place = operation.manners.iter().find_map(|manner| {
                let Manner::Last(name) = manner else { return None };
                self.seats.named(name)
            });
            if let Some(at) = place {
                self.seats.sit(at, *last)?;
                return Ok(most);
            }
        }
        // Losses went on with what has to be named now.
        let mut names = old_order(operation).peekable();
        if names.peek().is_none() {
            return Ok(positional.len());
        }
        for &object in &positional[most..] {
            let Some(name) = names.next() else {
                let text = format!("got {} positional arguments, too many", positional.len());
                return Err(self.seats.complain(&text));
            };
            if !self.old.reads(operation, name, object)?
                && let Some(at) = self.seats.named(name)
            {
                self.seats.sit(at, object)?;
            }
        }
        Ok(most)
    }

    fn by_name(&mut self, arguments: Arguments<'a, 'py>) -> PyResult<()> {
        let operation = self.seats.operation;
        for (i, &object) in arguments.by_name.iter().enumerate() {
            let Some(name) = arguments.names.map(|n| n.get_item(i)).transpose()? else { break };
            let name = name.cast::<PyString>()?.to_str()?;
            // PyTorch's functions of `nn.functional` take their twin's name as a switch.
            if name == "inplace" && operation.in_place {
                self.writes_if(object)?;
                continue;
            }
            if self.old.reads(operation, name, object)? {
                continue;
            }
            if name == "pin_memory" && makes(operation) {
                self.pins = !object.is_none() && object.extract()?;
                continue;
            }
            if name == "memory_format"
                && (makes(operation) || has(operation, Manner::Lies))
                && let Ok(format) = object.extract()
            {
                self.format = format;
                continue;
            }
            let Some(at) = self.seats.named(name) else {
                if without_effect(operation, name, object)? {
                    continue;
                }
                let text = match name {
                    "out" => OUT.to_owned(),
                    _ => format!("got an unexpected keyword argument '{name}'"),
                };
                return Err(self.seats.complain(&text));
            };
            let own = self.seats.name(at);
            if self.seats.seats[at].is_some() && own != name {
                let text = format!("takes '{own}' and '{name}' for the same: give one of them");
                return Err(self.seats.complain(&text));
            }
            self.seats.sit(at, object)?;
        }
        Ok(())
    }

    /// Writes the result into the tensor, if that is so.
    fn writes_if(&mut self, switch: Borrowed<'a, 'py, PyAny>) -> PyResult<()> {
        if switch.is_truthy()? {
            self.form = Form::InPlace;
        }
        Ok(())
    }
}

/// Whether an operation may be called in one of its other ways.
pub(super) fn has(operation: &Operation, manner: Manner) -> bool {
    operation.manners.contains(&manner)
}

/// Whether it is a factory.
fn makes(operation: &Operation) -> bool {
    operation.params.iter().any(|p| p.name == "requires_grad") || has(operation, Manner::Makes)
}

/// Whether no result depends on an argument: `layout`, which PyTorch's factories take, or what is declared so.
fn without_effect(operation: &Operation, name: &str, object: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
    let makes = makes(operation);
    let ignores = operation
        .manners
        .iter()
        .any(|manner| matches!(manner, Manner::Ignores(of) | Manner::IgnoresLast(of) if *of == name));
    Ok(match name {
        "memory_format" if ignores => object.is_none() || object.extract::<PyMemoryFormat>().is_ok(),
        "layout" if makes => object.extract::<Option<PyLayout>>().map(|_| true)?,
        // Which of several kernels is taken; gradients are dense.
        "cudnn_enable" | "cudnn_enabled" | "sparse_grad" => ignores && object.extract::<bool>().is_ok(),
        // NumPy's functions of the same names name these.
        "out" | "dtype" => object.is_none(),
        _ => ignores,
    })
}

/// The tensor that a number in a tensor's place stands for, beside that on the other side: `pow(2, x)`.
pub(super) fn left_number(seats: &Seats<'_, '_>) -> PyResult<Option<Tensor>> {
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
    // NumPy's numbers are some, too.
    let Some(number) = crate::arith::operand(object)?.filter(|o| !matches!(o.operand, Operand::Tensor(_)))
    else {
        return Ok(None);
    };
    // PyTorch's arithmetic takes two numbers: it answers with a tensor without axes.
    if beside.is_none() && has(seats.operation, Manner::TwoNumbers) {
        return Ok(Some(nested::tensor_like(object)?.t));
    }
    let Some(beside) = beside else { return Ok(None) };
    let beside = &beside.get().t;
    // A quotient that is rounded is of integers where both are.
    let is_rounded = seats.operation.params.iter().zip(&seats.seats[1..]).any(|(param, seat)| {
        param.name == "rounding_mode" && seat.as_ref().is_some_and(|mode| !mode.is_none())
    });
    Ok(Some(match is_rounded {
        true => number.operand.beside(beside),
        false => number.operand.left_of(seats.operation, beside),
    }))
}
