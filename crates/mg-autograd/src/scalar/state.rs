//! Graphs as plain data: for pickling, copying and drawing.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use mg_device::{Device, Error, ErrorKind, Result};

use super::op::{Form, Op};
use super::span::Span;
use super::tape::{self, Operand};
use super::{Value, backward};

/// A graph of values as plain data, to be written to a file and read back.
///
/// # Examples
///
/// ```
/// use mg_autograd::scalar::{GraphState, Value};
///
/// let x = Value::new(3.0);
/// let y = x.pow(2.0) + &x;
/// let state = GraphState::of([&x, &y]);
/// let [x2, y2] = state.build()?.try_into().unwrap();
/// y2.backward();
/// assert_eq!((x.grad(), x2.grad()), (0.0, 7.0));
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphState {
    /// The nodes, each behind its operands.
    pub nodes: Vec<NodeState>,
    /// Positions in `nodes` of the values that the state was taken of.
    pub roots: Vec<usize>,
}

/// One value of a [`GraphState`].
#[derive(Debug, Clone, PartialEq)]
pub struct NodeState {
    /// The number.
    pub data: f64,
    /// The gradient.
    pub grad: f64,
    /// The operation: "" for a leaf, "+", "-", "*", "/", "**", "neg", "ReLU", "exp", "log", "tanh", "sigmoid", "to",
    /// "w·x+b" (see [`Span::affine`]).
    pub op: Cow<'static, str>,
    /// Positions of the operands that are values. For "w·x+b" the weights, the bias if there is one, then the inputs.
    pub parents: Vec<usize>,
    /// The operand that is a plain number.
    pub number: Option<(Side, f64)>,
    /// The device label.
    pub device: Device,
    /// The name shown in drawings.
    pub label: Option<String>,
}

/// On which side of an operator an operand stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// As 2 in `2 - x`.
    Left,
    /// As 2 in `x - 2`.
    Right,
}

impl GraphState {
    /// The state of these values and of all that they were computed from. What they share stays shared.
    #[must_use]
    pub fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> GraphState {
        let roots: Vec<&Value> = values.into_iter().collect();
        let trace = backward::trace(roots.iter().copied());
        let position: HashMap<usize, usize> = trace.iter().enumerate().map(|(i, v)| (v.id(), i)).collect();
        let nodes = trace.iter().map(|v| NodeState::of(v, |p| position[&p.id()])).collect();
        GraphState { nodes, roots: roots.iter().map(|v| position[&v.id()]).collect() }
    }

    /// The state of these values alone, each behind its operands, and beside it the other values that they were computed
    /// from. Positions count from the first of those: [`GraphState::build_on`] takes others in their place.
    ///
    /// ```
    /// use mg_autograd::scalar::{GraphState, Value};
    ///
    /// let x = Value::new(3.0);
    /// let y = &x * &x;
    /// let (state, outside) = GraphState::part(&[y.clone()]);
    /// assert!(outside[0].is(&x));
    /// let other = Value::new(5.0);
    /// state.build_on(vec![other.clone()])?[0].backward();
    /// assert_eq!((x.grad(), other.grad()), (0.0, 10.0));
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    #[must_use]
    pub fn part(values: &[Value]) -> (GraphState, Vec<Value>) {
        let own: HashMap<usize, usize> = values.iter().enumerate().map(|(i, v)| (v.id(), i)).collect();
        let (mut outside, mut beside) = (Vec::new(), HashMap::new());
        for v in values {
            v.for_each_operand(|p| {
                if !own.contains_key(&p.id()) {
                    beside.entry(p.id()).or_insert_with(|| {
                        outside.push(p.clone());
                        outside.len() - 1
                    });
                }
            });
        }
        let before = outside.len();
        let place = |p: &Value| own.get(&p.id()).map_or_else(|| beside[&p.id()], |i| before + i);
        let nodes = values.iter().map(|v| NodeState::of(v, place)).collect();
        (GraphState { nodes, roots: (before..before + values.len()).collect() }, outside)
    }

    /// New values in this state; returns the roots.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`] for an operation that does not exist, operands that do not fit it or do not come before it,
    /// and roots that are not there; [`ErrorKind::UnlikeDevices`] for operands on unlike devices.
    pub fn build(&self) -> Result<Vec<Value>> {
        self.build_on(Vec::new())
    }

    /// As [`GraphState::build`], for a state that goes on from values which are there: they stand before its nodes, and
    /// positions count from the first of them.
    ///
    /// # Errors
    ///
    /// As [`GraphState::build`].
    pub fn build_on(&self, mut values: Vec<Value>) -> Result<Vec<Value>> {
        values.reserve(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            let value = node.build(&values).map_err(|why| match why {
                Refusal::Format(why) => format_error(format!("node {i} (op {:?}): {why}", node.op)),
                Refusal::Error(e) => e,
            })?;
            value.set_data(node.data);
            value.set_grad(node.grad);
            if let Some(label) = &node.label {
                value.set_label(label);
            }
            values.push(value);
        }
        let root = |&i: &usize| {
            let n = values.len();
            values.get(i).cloned().ok_or_else(|| format_error(format!("root {i} is not one of {n} nodes")))
        };
        self.roots.iter().map(root).collect()
    }
}

enum Refusal {
    Format(String),
    Error(Error),
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        Refusal::Error(e)
    }
}

fn format_error(text: String) -> Error {
    Error::new("graph state", ErrorKind::Format(text))
}

impl NodeState {
    /// The state of one value. `position` says where each of its operands stands.
    fn of(value: &Value, mut position: impl FnMut(&Value) -> usize) -> NodeState {
        let mut parents = Vec::new();
        value.for_each_operand(|p| parents.push(position(p)));
        let side = if value.node().form == Form::NumberLeft { Side::Left } else { Side::Right };
        NodeState {
            data: value.data(),
            grad: value.grad(),
            op: value.node().op.stem().into(),
            parents,
            number: value.number().map(|number| (side, number)),
            device: value.device(),
            label: value.label(),
        }
    }

    fn build(&self, values: &[Value]) -> std::result::Result<Value, Refusal> {
        let refuse = |why: String| Err(Refusal::Format(why));
        let Some(op) = Op::ALL.into_iter().find(|op| op.stem() == self.op) else {
            return refuse("there is no such operation".into());
        };
        if let Some(p) = self.parents.iter().find(|&&p| p >= values.len()) {
            return refuse(format!("operand {p} does not come before it"));
        }
        let parent = |i: usize| &values[self.parents[i]];
        let count = self.parents.len();
        Ok(match (op, self.number) {
            (Op::Leaf, None) if count == 0 => Value::with_device(self.data, self.device)?,
            (Op::To, None) if count == 1 => {
                let (from, to) = (parent(0).device(), self.device);
                if from == to {
                    return refuse(format!("goes from {from} to {to}"));
                }
                parent(0).to(to)?
            }
            (op, None) if op.is_unary() && count == 1 => push(op, Form::Unary, parent(0), None, None),
            (op, None) if op.is_binary() && count == 2 => {
                let (x, y) = (parent(0), parent(1));
                if x.device() != y.device() {
                    return Err(super::unlike_devices("graph state", x, y).into());
                }
                push(op, Form::Both, x, Some(y), None)
            }
            (op, Some((side, number))) if op.is_binary() && count == 1 => {
                let form = if side == Side::Left { Form::NumberLeft } else { Form::NumberRight };
                push(op, form, parent(0), None, Some(number))
            }
            (Op::Affine, None) if count > 0 => {
                let (weights, inputs) = self.parents.split_at(count.div_ceil(2));
                let span = |of: &[usize]| of.iter().map(|&p| values[p].clone()).collect::<Span>();
                span(weights).affine(&span(inputs))?
            }
            _ => {
                let number = if self.number.is_some() { " and a number" } else { "" };
                return refuse(format!("does not take {count} values{number}"));
            }
        })
    }
}

/// A node whose data the caller sets.
fn push(op: Op, form: Form, x: &Value, y: Option<&Value>, number: Option<f64>) -> Value {
    let newest = y.map_or(0, Value::seq).max(x.seq());
    let a = Operand { node: x.clone().into_raw().as_ptr() };
    let b = match (y, number) {
        (Some(y), _) => Operand { node: y.clone().into_raw().as_ptr() },
        (None, Some(number)) => Operand { number },
        (None, None) => Operand { none: () },
    };
    // SAFETY: the callers give what the form asks for, and nodes come with a count each.
    Value(unsafe { tape::push(op, form, x.node().device, 0.0, (a, b), newest) })
}

impl Value {
    /// The part of [`Value::trace`] that is new to somebody: what `known` holds of is left out, with all that only it was
    /// computed from.
    #[must_use]
    pub fn trace_until(&self, mut known: impl FnMut(&Value) -> bool) -> Vec<Value> {
        // Each with whether its operands were asked for already; a value is met as often as it is used.
        let mut open = vec![(self.clone(), false)];
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some((value, is_behind_operands)) = open.pop() {
            if is_behind_operands {
                found.push(value);
                continue;
            }
            if !seen.insert(value.id()) || known(&value) {
                continue;
            }
            open.push((value.clone(), true));
            let first = open.len();
            value.for_each_operand(|p| open.push((p.clone(), false)));
            open[first..].reverse();
        }
        found
    }

    /// A copy of the whole graph that this value was computed from: the same numbers, gradients and names in new nodes,
    /// sharing what was shared. (A [`Clone`] is another handle on the same node.)
    #[must_use]
    pub fn deep_clone(&self) -> Value {
        match GraphState::of([self]).build() {
            Ok(mut roots) => roots.swap_remove(0),
            // A graph that exists is well formed.
            Err(e) => super::panic_with(&e),
        }
    }
}
