//! What a call of a kernel means: each step on tensors, and what dtype its numbers have.
//!
//! Numbers of the text are weak, and so is what is computed of them alone (a choice between two numbers, a counter): they take the
//! dtype of what they meet, as a number beside a tensor does. As long as they meet nothing, floats have the dtype that the
//! kernel's arguments are promoted to, so that a float64 call computes in float64 throughout.

use super::{Constant, Kernel, Part, Sort, Step, plain, sort_of};
use crate::default_device::default_device;
use crate::ops::{Operand, kind};
use crate::surface::{Answer, Arg, Given, Kind, OfIntegers, Operation};
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape, Standing};
use mg_graph::Node;
use mg_kernels::Row;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The value of a step.
#[derive(Clone)]
enum Val {
    /// A number.
    Number(Operand),
    /// What was computed of numbers: its dtype counts no more than theirs.
    Weak(Tensor),
    /// What has a dtype of its own.
    Tensor(Tensor),
}

type Kinds = SmallVec<[(DType, Standing); 3]>;

struct Run {
    name: &'static str,
    /// The dtype of floats that have met nothing.
    float: DType,
    device: Device,
}

/// Runs a kernel: see [`Kernel::call`].
pub(super) fn run(kernel: &Kernel, args: &[Operand]) -> Result<Vec<Tensor>> {
    let met = DType::result_type(args.iter().map(Operand::kind));
    let float = if met.is_float() { met } else { DType::default_float() };
    let (mut shape, mut device) = (Shape::of(&[]), None);
    for arg in args {
        if let Operand::Tensor(t) = arg {
            let own = t.shape();
            device = device.or(Some(t.device()));
            shape = Shape::broadcast(&shape, &own).ok_or_else(|| {
                let shapes: Vec<String> = args
                    .iter()
                    .filter_map(
                        |a| if let Operand::Tensor(t) = a { Some(t.shape().to_string()) } else { None },
                    )
                    .collect();
                Error::new(
                    kernel.name,
                    ErrorKind::Shape(format!("shapes {} cannot be broadcast", shapes.join(" and "))),
                )
            })?;
        }
    }
    let run = Run { name: kernel.name, float, device: device.unwrap_or_else(default_device) };
    let mut values: Vec<Val> = Vec::with_capacity(kernel.steps.len());
    for step in &kernel.steps {
        let value = run.step(step, args, &values)?;
        values.push(value);
    }
    let result = |&at: &usize| -> Result<Tensor> {
        let (node, is_argument) =
            (run.whole(&values[at]).node(), matches!(kernel.steps[at], Step::Argument(_)));
        // A result is a tensor of its own, of the shape that the arguments have together.
        Ok(match *node.shape() == shape {
            true if is_argument => Tensor::from_node(node.alias()),
            true => Tensor::from_node(node),
            false => Tensor::from_node(node.expand(shape)?),
        })
    };
    kernel.results.iter().map(result).collect()
}

impl Run {
    fn internal(&self, text: &str) -> Error {
        Error::new(self.name, ErrorKind::Internal(text.into()))
    }

    fn step(&self, step: &Step, args: &[Operand], values: &[Val]) -> Result<Val> {
        Ok(match step {
            Step::Argument(at) => match &args[*at] {
                Operand::Tensor(t) => Val::Tensor(t.clone()),
                number => Val::Number(number.clone()),
            },
            Step::Constant(constant) => {
                Val::Number(number(constant).ok_or_else(|| self.internal("a word is no number"))?)
            }
            Step::Call(operation, parts) => self.call(operation, parts, values)?,
            &Step::Select([c, yes, no]) => self.select(&values[c], &values[yes], &values[no])?,
            &Step::Within([c, value]) => self.within(&values[c], &values[value])?,
            &Step::Shield([c, value]) => self.shield(&values[c], &values[value])?,
            &Step::As(sort, value) => self.cast(sort, &values[value]),
            Step::Kernel(kernel, of, result) => {
                let of: Vec<Operand> = of.iter().map(|&at| self.operand(&values[at])).collect();
                Val::Tensor(Arc::clone(kernel).called(&of)?.swap_remove(*result))
            }
        })
    }

    /// The dtype of a sort among numbers that have met nothing.
    fn own(&self, sort: Sort) -> DType {
        if sort == Sort::Float { self.float } else { plain(sort) }
    }

    /// A value as an operand of whatever comes.
    fn operand(&self, value: &Val) -> Operand {
        match value {
            Val::Number(number) => number.clone(),
            Val::Weak(t) | Val::Tensor(t) => Operand::Tensor(t.clone()),
        }
    }

    /// A value as a tensor, with the dtype that numbers have which have met nothing.
    fn whole(&self, value: &Val) -> Tensor {
        match value {
            Val::Weak(t) | Val::Tensor(t) => t.clone(),
            Val::Number(number) => {
                let dtype = self.own(sort_of(number.kind().0));
                Tensor::from_node(number.clone().on(dtype, self.device))
            }
        }
    }

    fn kinds<'v>(values: impl IntoIterator<Item = &'v Val>) -> Kinds {
        values
            .into_iter()
            .filter_map(|v| if let Val::Tensor(t) = v { Some(kind(&t.node())) } else { None })
            .collect()
    }

    /// How much a value counts for the dtype of what it meets.
    fn standing(value: &Val) -> (DType, Standing) {
        match value {
            Val::Number(number) => number.kind(),
            Val::Weak(t) => (plain(sort_of(t.dtype())), Standing::Number),
            Val::Tensor(t) => kind(&t.node()),
        }
    }

    /// What a weak tensor is beside values that have dtypes of their own.
    fn beside(&self, t: &Tensor, kinds: &Kinds) -> Tensor {
        let own = (plain(sort_of(t.dtype())), Standing::Number);
        let dtype = DType::result_type(kinds.iter().copied().chain([own]));
        Tensor::from_node(t.node().cast(dtype))
    }

    fn call(&self, operation: &'static Operation, parts: &[Part], values: &[Val]) -> Result<Val> {
        let given: SmallVec<[&Val; 3]> = parts
            .iter()
            .filter_map(|p| if let Part::Value(at) = p { Some(&values[*at]) } else { None })
            .collect();
        let kinds = Run::kinds(given.iter().copied());
        let is_weak = kinds.is_empty();
        // Of numbers alone, with a float among them or to be: integers become floats here, and not in the default dtype.
        let is_float = |part: &Part| match part {
            Part::Value(at) => Run::standing(&values[*at]).0.is_float(),
            Part::Constant(constant) => matches!(constant, Constant::Float(_)),
        };
        let as_float =
            is_weak && (operation.of_integers != OfIntegers::Integers || parts.iter().any(is_float));
        let first = given.iter().find_map(|v| if let Val::Tensor(t) = v { Some(t) } else { None });
        let tensor = |value: &Val| -> Tensor {
            match (value, first) {
                (Val::Tensor(t), _) => t.clone(),
                (Val::Weak(t), Some(_)) => self.beside(t, &kinds),
                (Val::Number(number), Some(first)) => number.clone().left_of(operation, first),
                (value, None) => {
                    let t = self.whole(value);
                    if as_float && t.dtype().is_int() {
                        Tensor::from_node(t.node().cast(self.float))
                    } else {
                        t
                    }
                }
            }
        };
        let operand = |value: &Val| match value {
            Val::Number(number) if !is_weak => number.clone(),
            value => Operand::Tensor(tensor(value)),
        };
        // Tensors that arguments borrow.
        let lent: SmallVec<[Option<Tensor>; 4]> = parts
            .iter()
            .enumerate()
            .map(|(i, part)| {
                let takes_tensor = i == 0 || operation.params[i - 1].kind == Kind::Tensor;
                match part {
                    Part::Value(at) if takes_tensor => Some(tensor(&values[*at])),
                    Part::Constant(constant) if takes_tensor => {
                        number(constant).map(|n| tensor(&Val::Number(n)))
                    }
                    Part::Value(_) | Part::Constant(_) => None,
                }
            })
            .collect();
        let mut given: SmallVec<[Arg<'_>; 6]> = SmallVec::new();
        for (part, lent) in parts.iter().zip(&lent) {
            let kind = given.len().checked_sub(1).map(|at| operation.params[at].kind);
            given.push(match (part, lent) {
                (_, Some(t)) => Arg::Tensor(t),
                (Part::Value(at), None) => Arg::Operand(operand(&values[*at])),
                (Part::Constant(constant), None) => match (constant, kind) {
                    (Constant::Missing, _) => Arg::Missing,
                    (Constant::Text(text), _) => Arg::Text(text),
                    (constant, Some(Kind::Operand)) => {
                        Arg::Operand(number(constant).ok_or_else(|| self.internal("a word is no number"))?)
                    }
                    (Constant::Float(x), _) => Arg::Float(*x),
                    (Constant::Int(n), Some(Kind::Float)) => Arg::Float(*n as f64),
                    (Constant::Int(n), _) => Arg::Int(*n),
                    (Constant::Bool(b), _) => Arg::Bool(*b),
                },
            });
        }
        given.resize(1 + operation.params.len(), Arg::Missing);
        let called = (operation.call)(&Given { args: &given });
        let answer = match called.map_err(|error| with_context(operation.name, error))? {
            Answer::Tensor(t) => t,
            _ => return Err(self.internal("an operation of a kernel answers with a tensor")),
        };
        Ok(if is_weak && !answer.dtype().is_bool() { Val::Weak(answer) } else { Val::Tensor(answer) })
    }

    /// The condition as truth values; a number where it is known.
    fn truth(&self, value: &Val) -> std::result::Result<Node, bool> {
        match value {
            Val::Number(Operand::Bool(b)) => Err(*b),
            Val::Number(Operand::Int(n)) => Err(*n != 0),
            Val::Number(Operand::Float(x)) => Err(*x != 0.0),
            value => {
                let node = self.whole(value).node();
                Ok(if node.dtype().is_bool() { node } else { node.cast(DType::Bool) })
            }
        }
    }

    fn select(&self, condition: &Val, yes: &Val, no: &Val) -> Result<Val> {
        let condition = match self.truth(condition) {
            Ok(condition) => condition,
            Err(known) => return Ok(if known { yes } else { no }.clone()),
        };
        let kinds = Run::kinds([yes, no]);
        let met = DType::result_type([Run::standing(yes), Run::standing(no)]);
        let dtype = if kinds.is_empty() { self.own(sort_of(met)) } else { met };
        let node = |value: &Val| match value {
            Val::Number(number) => number.clone().on(dtype, self.device),
            Val::Weak(t) | Val::Tensor(t) => t.node().cast(dtype),
        };
        let chosen = Tensor::from_node(Node::map_of(Row::Where, smallvec![condition, node(yes), node(no)])?);
        Ok(if kinds.is_empty() && !dtype.is_bool() { Val::Weak(chosen) } else { Val::Tensor(chosen) })
    }

    fn within(&self, condition: &Val, value: &Val) -> Result<Val> {
        let (Val::Tensor(t) | Val::Weak(t)) = value else { return Ok(value.clone()) };
        if !t.requires_grad() || !mg_graph::is_tracking() {
            return Ok(value.clone());
        }
        let Ok(condition) = self.truth(condition) else { return Ok(value.clone()) };
        let node = t.node();
        // The same number on both sides: what differs is where the gradient goes.
        let without = untracked(&node);
        let read = Tensor::from_node(Node::map_of(Row::Where, smallvec![condition, node, without])?);
        Ok(match value {
            Val::Weak(_) => Val::Weak(read),
            Val::Tensor(_) | Val::Number(_) => Val::Tensor(read),
        })
    }

    fn shield(&self, condition: &Val, value: &Val) -> Result<Val> {
        let one = match (sort_of(Run::standing(value).0), value) {
            (Sort::Float, _) | (_, Val::Number(Operand::Int(1..) | Operand::Bool(true))) => {
                return Ok(value.clone());
            }
            (Sort::Int, _) => Operand::Int(1),
            (Sort::Bool, _) => Operand::Bool(true),
        };
        self.select(condition, value, &Val::Number(one))
    }

    fn cast(&self, sort: Sort, value: &Val) -> Val {
        let of = match value {
            Val::Number(Operand::Float(x)) if sort == Sort::Int => {
                return Val::Number(Operand::Int(*x as i64));
            }
            Val::Number(Operand::Int(n)) if sort == Sort::Float => {
                return Val::Number(Operand::Float(*n as f64));
            }
            Val::Number(Operand::Bool(b)) if sort == Sort::Int => {
                return Val::Number(Operand::Int(i64::from(*b)));
            }
            Val::Number(Operand::Bool(b)) if sort == Sort::Float => {
                return Val::Number(Operand::Float(f64::from(u8::from(*b))));
            }
            Val::Number(Operand::Float(x)) if sort == Sort::Bool => {
                return Val::Number(Operand::Bool(*x != 0.0));
            }
            Val::Number(Operand::Int(n)) if sort == Sort::Bool => return Val::Number(Operand::Bool(*n != 0)),
            value => self.whole(value),
        };
        if sort_of(of.dtype()) == sort {
            return value.clone();
        }
        let cast = Tensor::from_node(of.node().cast(self.own(sort)));
        match (value, sort) {
            (Val::Tensor(_), _) | (_, Sort::Bool) => Val::Tensor(cast),
            (Val::Weak(_) | Val::Number(_), _) => Val::Weak(cast),
        }
    }
}

/// What is wrong with an operation, under its own name: the kernel's stands before it.
fn with_context(operation: &str, error: Error) -> Error {
    let kind = match error.kind() {
        ErrorKind::Shape(text) => ErrorKind::Shape(format!("{operation}: {text}")),
        ErrorKind::DType(text) => ErrorKind::DType(format!("{operation}: {text}")),
        ErrorKind::Value(text) => ErrorKind::Value(format!("{operation}: {text}")),
        _ => return error,
    };
    Error::new("kernel", kind)
}

/// A number as an operand.
fn number(constant: &Constant) -> Option<Operand> {
    match constant {
        Constant::Float(x) => Some(Operand::Float(*x)),
        Constant::Int(n) => Some(Operand::Int(*n)),
        Constant::Bool(b) => Some(Operand::Bool(*b)),
        Constant::Text(_) | Constant::Missing => None,
    }
}
