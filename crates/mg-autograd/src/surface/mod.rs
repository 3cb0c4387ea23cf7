//! The public surface as a value: what operations there are, what they take, and how each is called by its description.
//!
//! An operation is declared once, as a function in an `impl Tensor` block under `#[operations]`; see [`mg_macros`]. The
//! methods of [`Tensor`] come from that, and the [`Operation`]s below, which other languages and tests read.

mod arguments;

use crate::caller::public;
use crate::ops::Operand;
use crate::parts::without_slope;
use crate::tensor::memory::may_be_borrowed;
use crate::tensor::{Tensor, in_place};
use mg_device::{Error, ErrorKind, Result};
use mg_kernels::Row;

pub use arguments::{
    Answer, Arg, FromArg, Given, Integers, Kind, Order, Pairing, Returned, Returns, Sections, Spacing, Varied,
};

/// Where Python has an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A method of tensors.
    Method,
    /// A function of the package.
    Function,
    /// A function of `nn.functional`.
    Nn,
    /// A function of `linalg`.
    Linalg,
    /// A function of `special`.
    Special,
    /// A function of `signal.windows`.
    Windows,
}

/// An argument of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Whether it may be nothing at all.
    pub takes_none: bool,
    /// Its default as Python writes it, where it has one.
    pub default: Option<&'static str>,
    /// Whether it is given by name only.
    pub keyword_only: bool,
}

/// What an operation that works element by element makes of integers, of which truth values count as some.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OfIntegers {
    /// Integers, or truth values.
    Integers,
    /// Floats of the default dtype: a number on its left is one at once, and not first an integer of the other operand's dtype,
    /// which it may not fit.
    Floats,
    /// As `Floats`, in f64.
    Doubles,
}

/// In what other ways PyTorch's callers may call an operation, those of older days and its own modules among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// Its tensor by this name, too.
    Receiver(&'static str),
    /// Its second name, by the first.
    Named(&'static str, &'static str),
    /// With whatever is true or not for this switch.
    Truth(&'static str),
    /// With an argument of this name, of which no result depends.
    Ignores(&'static str),
    /// As `Ignores`, and by position behind the others.
    IgnoresLast(&'static str),
    /// With this argument by position behind the others, though it has to be named.
    Last(&'static str),
    /// With the factor before what it multiplies: `add(x, alpha, y)`.
    FactorFirst,
    /// With whether the result is written into the tensor by position behind the others, as the functions of `nn.functional` that have a
    /// twin in place.
    WritesLast,
    /// Not with the two switches that were before `reduction`: it is younger.
    WithoutSwitches,
    /// As a factory: with how the result is to lie in memory.
    Makes,
    /// With how the result is to lie in memory.
    Lies,
    /// With two numbers: it answers with a tensor without axes.
    TwoNumbers,
    /// With an empty list of axes for none of them, where others mean all.
    NoAxes,
    /// With one argument by position, which is the one of this name, though others come before it.
    Alone(&'static str),
    /// As a function of this argument alone, where no tensor stands before it: that is the tensor.
    Itself(&'static str),
    /// As a function with its list as one, and not as items: they would be taken for other arguments of PyTorch's.
    Listed,
    /// Not without its list, which others that take it as items have as an empty one then.
    NeedsList,
    /// With a dtype alone, as which bits are seen.
    Bits,
}

/// An operation of the public surface.
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Other names of the same meaning.
    pub aliases: &'static [&'static str],
    /// What it computes, of what shapes and dtypes, and its errors.
    pub documentation: &'static str,
    /// Where Python has it.
    pub places: &'static [Place],
    /// Whether it is called on a tensor; functions take that first, as `input`.
    pub has_receiver: bool,
    /// What it takes besides.
    pub params: &'static [Param],
    /// Whether there is a twin with an underscore, which writes the result into the tensor.
    pub in_place: bool,
    /// Whether the result shares memory with the tensor.
    pub view: bool,
    /// Whether the last list may be given as its items.
    pub variadic: bool,
    /// Whether the function takes several tensors too, and answers with a result for each.
    pub each: bool,
    /// Whether values decide the result's shape, and are computed for that.
    pub reads: bool,
    /// The row of the op table that it is, if it is one.
    pub row: Option<Row>,
    /// What it makes of integers.
    pub of_integers: OfIntegers,
    /// Whether it answers with where a comparison of its operands holds.
    pub compares: bool,
    /// Whether it divides integers by its second operand, which may be 0 then where nobody looks.
    pub divides: bool,
    /// Whether a target of another size than the input is told of: a loss of differences broadcasts, which is hardly ever meant.
    pub warns: bool,
    /// Whether it hands a gradient of zero on as zero, be its operands infinite or NaN.
    pub keeps_zero: bool,
    /// Whether kernels may consist of it, if it works element by element: it draws no numbers, and reads no weight of each channel.
    pub in_kernels: bool,
    /// In what other ways it may be called.
    pub manners: &'static [Manner],
    /// The names of several results.
    pub answers: &'static [&'static str],
    /// What it answers with.
    pub returns: Returns,
    /// Calls it.
    pub call: fn(&Given<'_, '_>) -> Result<Answer>,
}

/// What an operation answers with, when it does not fail.
pub trait Fallible {
    /// The answer.
    type Value;
    /// What the answer is.
    const RETURNS: Returns;
}
impl<T: Returned> Fallible for Result<T> {
    type Value = T;
    const RETURNS: Returns = T::RETURNS;
}

/// Every operation that is declared: rows of the op table first.
pub fn operations() -> impl Iterator<Item = &'static Operation> {
    TABLES.iter().flat_map(|table| table.iter())
}

/// The tables, each beside its operations.
const TABLES: &[&[Operation]] = &[
    crate::ops::ROWS,
    crate::operations::ACTIVATIONS,
    crate::operations::ATTENTION,
    crate::operations::PACKED_ATTENTION,
    crate::operations::BESSEL,
    crate::operations::CONVOLUTIONS,
    crate::operations::CREATION,
    crate::operations::CTC,
    crate::operations::DIAGONALS,
    crate::operations::DISTANCES,
    crate::operations::DROPOUTS,
    crate::operations::ELEMENTWISE,
    crate::operations::FACTORIZATIONS,
    crate::operations::HEADS,
    crate::operations::HISTOGRAMS,
    crate::operations::IMAGES,
    crate::operations::INDEXING,
    crate::operations::JOINING,
    crate::operations::LAWS,
    crate::operations::LAYERS,
    crate::operations::LINEAR_ALGEBRA,
    crate::operations::LINEAR_SYSTEMS,
    crate::operations::LOBPCG,
    crate::operations::MATRIX_FUNCTIONS,
    crate::operations::LOSSES,
    crate::operations::MOVEMENT,
    crate::operations::NORMALIZATIONS,
    crate::operations::PLAIN_MOVEMENT,
    crate::operations::RECURRENT,
    crate::operations::ADAPTIVE_POOLING,
    crate::operations::POLYNOMIALS,
    crate::operations::POOLING,
    crate::operations::REDUCTIONS,
    crate::operations::ROTARY,
    crate::operations::SAMPLING,
    crate::operations::SCANS,
    crate::operations::SEARCHES,
    crate::operations::SEGMENTS,
    crate::operations::SORTS,
    crate::operations::SPECIAL,
    crate::operations::UNFOLDING,
    crate::operations::WINDOWS,
];

/// How many operations there are.
pub const COUNT: usize = {
    let (mut count, mut table) = (0, 0);
    while table < TABLES.len() {
        count += TABLES[table].len();
        table += 1;
    }
    count
};

/// Writes what an operation makes of a tensor into it. As in PyTorch, the result must fit the tensor's dtype.
///
/// Memory that others see is written where it is: what a gradient will ask for of the old numbers is a copy then.
#[track_caller]
pub fn written(tensor: &Tensor, operation: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
    writing(tensor, |old| operation(old.map_or(tensor, |old| &old.copy)))
}

/// As [`written`], of an operation by its name, with another operand, which may share the memory.
#[track_caller]
pub fn written_with(
    name: &'static str,
    tensor: &Tensor,
    other: Operand,
    operation: impl FnOnce(&Tensor, Operand) -> Result<Tensor>,
) -> Result<()> {
    public(name, || {
        writing(tensor, |old| match old {
            None => operation(tensor, other),
            Some(old) => operation(&old.copy, old.operand(other)),
        })
    })
}

/// Writes an answer into a tensor whose old numbers, or what stands for them, `operation` looks at.
#[track_caller]
fn writing(tensor: &Tensor, operation: impl FnOnce(Option<&Old<'_>>) -> Result<Tensor>) -> Result<()> {
    in_place(|| {
        // What is written keeps the tensor's dtype: nothing is to be gained by another on the way.
        let _aside = crate::autocast::aside();
        let node = tensor.node();
        let old = (mg_graph::is_tracking() && may_be_borrowed(&node))
            .then(|| Old { of: tensor, copy: Tensor::from_node(node.copy()) });
        drop(node);
        assigned(tensor, operation(old.as_ref())?)
    })
}

/// What an operation looks at instead of the memory that its answer is written into, where a gradient will ask for that.
struct Old<'a> {
    of: &'a Tensor,
    copy: Tensor,
}

impl Old<'_> {
    /// What was in another tensor, if that shares the memory; else that tensor.
    fn of(&self, other: &Tensor) -> Tensor {
        if other.is(self.of) {
            self.copy.clone()
        } else if other.memory_id() == self.of.memory_id() {
            Tensor::from_node(other.node().copy())
        } else {
            other.clone()
        }
    }

    /// As [`Old::of`], where it may be a number.
    fn operand(&self, other: Operand) -> Operand {
        match other {
            Operand::Tensor(other) => Operand::Tensor(self.of(&other)),
            number => number,
        }
    }
}

/// Writes an answer into a tensor.
#[track_caller]
fn assigned(tensor: &Tensor, new: Tensor) -> Result<()> {
    let (from, to) = (new.dtype(), tensor.dtype());
    if from.is_float() && !to.is_float() || !from.is_bool() && to.is_bool() {
        let text = format!("a result of {from} cannot be written into a tensor of {to}");
        return Err(Error::new("in place", ErrorKind::DType(text)));
    }
    tensor.assign(new)
}

/// The answer of a comparison that is written into a tensor of floats: as in PyTorch it has a history of what was compared, along
/// which zeros flow. Other answers as they are.
fn compared(operation: &Operation, answer: Tensor, tensor: &Tensor, args: &Given<'_, '_>) -> Tensor {
    if !operation.compares || !tensor.dtype().is_float() || !mg_graph::is_tracking() {
        return answer;
    }
    let others = args.args[1..].iter().filter_map(|arg| match arg {
        Arg::Tensor(other) => Some(*other),
        Arg::Operand(Operand::Tensor(other)) => Some(other),
        _ => None,
    });
    let mut value = answer.node().cast(tensor.dtype());
    for other in [tensor].into_iter().chain(others) {
        value = without_slope(&value, &other.node());
    }
    Tensor::from_node(value)
}

/// Makes a tensor the view of itself that an operation answers with: `x.t_()`.
#[track_caller]
pub fn turned(tensor: &Tensor, operation: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<()> {
    tensor.turn(operation)
}

/// Calls an operation by its description, and writes the answer into its tensor: the twin with an underscore.
///
/// # Errors
///
/// Those of the operation; an answer that does not fit the tensor; an operation that has no such twin.
#[track_caller]
pub fn call_in_place(operation: &'static Operation, args: &Given<'_, '_>) -> Result<()> {
    public(operation.name, || {
        let tensor: &Tensor = args.take(0)?;
        if operation.view && operation.in_place {
            return turned(tensor, |_| match (operation.call)(args)? {
                Answer::Tensor(view) => Ok(view),
                _ => Err(Error::new(operation.name, ErrorKind::Value("has no twin in place".into()))),
            });
        }
        writing(tensor, |old| {
            let Some(old) = old else { return answered(operation, tensor, args) };
            let held = args.args.iter().map(|arg| match arg {
                Arg::Tensor(other) => Some(old.of(other)),
                _ => None,
            });
            let held: Vec<Option<Tensor>> = held.collect();
            let all = args.args.iter().zip(&held).map(|(arg, held)| match (arg, held) {
                (_, Some(held)) => Arg::Tensor(held),
                (Arg::Operand(other), None) => Arg::Operand(old.operand(other.clone())),
                (Arg::Tensors(all), None) => Arg::Tensors(all.iter().map(|t| old.of(t)).collect()),
                (arg, None) => arg.clone(),
            });
            let all: Vec<Arg<'_>> = all.collect();
            answered(operation, &old.copy, &Given { args: &all })
        })
    })
    .map_err(|error| error.with_op(format!("{}_", operation.name)))
}

/// What an operation answers for a tensor that the answer is written into.
#[track_caller]
fn answered(operation: &Operation, tensor: &Tensor, args: &Given<'_, '_>) -> Result<Tensor> {
    match (operation.call)(args)? {
        Answer::Tensor(answer) if operation.in_place => Ok(compared(operation, answer, tensor, args)),
        _ => Err(Error::new(operation.name, ErrorKind::Value("has no twin in place".into()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::elementwise;
    use mg_device::DType;

    /// What an operation answers with for `x` and, in the place of each other tensor, `y`; `None` where it wants something else.
    fn answer(operation: &Operation, x: &Tensor, y: &Tensor) -> Option<Tensor> {
        let mut args = vec![Arg::Tensor(x)];
        for param in operation.params {
            args.push(match (param.default, param.kind) {
                (Some(_), _) => Arg::Missing,
                (None, Kind::Tensor) => Arg::Tensor(y),
                (None, Kind::Operand) => Arg::Operand(Operand::Tensor(y.clone())),
                (None, Kind::Float) => Arg::Float(1.0),
                (None, Kind::Int) => Arg::Int(1),
                (None, _) => return None,
            });
        }
        match (operation.call)(&Given { args: &args }) {
            Ok(Answer::Tensor(answer)) => Some(answer),
            Ok(_) | Err(_) => None,
        }
    }

    #[test]
    fn operations_make_of_integers_what_their_declarations_say() {
        let (x, y) = (Tensor::from_slice(&[1i64, 2]), Tensor::from_slice(&[1i64, 1]));
        let (mut looked_at, mut unlike) = (0, vec![]);
        for operation in elementwise().values() {
            let Some(answer) = answer(operation, &x, &y) else { continue };
            looked_at += 1;
            let found = match answer.dtype() {
                DType::F64 => OfIntegers::Doubles,
                dtype if dtype.is_float() => OfIntegers::Floats,
                _ => OfIntegers::Integers,
            };
            if found != operation.of_integers {
                unlike.push((operation.name, found, operation.of_integers));
            }
        }
        assert!(looked_at > 100, "{looked_at}");
        assert!(unlike.is_empty(), "(name, what it makes of integers, what is declared): {unlike:?}");
    }

    #[test]
    fn a_gradient_of_zero_stays_zero_where_that_is_declared() {
        let mut looked_at = 0;
        for operation in elementwise().values().filter(|operation| operation.keeps_zero) {
            let leaf = || Tensor::from_slice(&[f64::INFINITY, f64::NAN]).requires_grad_(true).unwrap();
            let (x, y) = (leaf(), leaf());
            let Some(answer) = answer(operation, &x, &y) else { continue };
            looked_at += 1;
            if !answer.requires_grad() {
                continue;
            }
            answer.mul(0.0).sum().backward().unwrap();
            for gradient in [x.grad(), y.grad()].into_iter().flatten() {
                assert_eq!(gradient.to_vec::<f64>().unwrap(), [0.0, 0.0], "{}", operation.name);
            }
        }
        assert!(looked_at >= 16, "{looked_at}");
    }

    #[test]
    fn operations_that_divide_integers_are_declared_to() {
        let x = Tensor::from_slice(&[1i64, 2]);
        // Not known yet: what is, is refused at the call.
        let zero = || Tensor::from_slice(&[1i64, 1]).sub(1i64);
        let dividing: Vec<&str> = elementwise()
            .values()
            .filter(|o| answer(o, &x, &zero()).is_some_and(|t| t.realize().is_err()) != o.divides)
            .map(|o| o.name)
            .collect();
        assert!(dividing.is_empty(), "declared otherwise: {dividing:?}");
    }
}
