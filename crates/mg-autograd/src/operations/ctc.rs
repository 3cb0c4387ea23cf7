//! Connectionist temporal classification.

use super::loss::Reduction;
use super::{set_aside, wide};
use crate::parts::mean;
use crate::surface::Integers;
use crate::tensor::Tensor;
use mg_device::{DType, Device, Error, ErrorKind, Result, Shape};
use mg_graph::{Node, cell_bits_of_int, same_device};
use mg_kernels::library::{Ctc, CtcKind};
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

const OP: &str = "ctc_loss";

fn fail<T>(text: String) -> Result<T> {
    Err(Error::new(OP, ErrorKind::Shape(text)))
}

fn integer(like: &Node, value: i64) -> Node {
    Node::scalar_bits(cell_bits_of_int(value, DType::I64), DType::I64, like.device(), true)
}

/// `log Σ eˣ` of some numbers, of which all may be −∞.
fn log_sum(terms: &[Node]) -> Node {
    let least = terms[0].lit(f64::NEG_INFINITY);
    let top = set_aside(|| {
        let top = terms[1..].iter().fold(terms[0].clone(), |a, b| Node::apply(Row::Maximum, &[&a, b]));
        // Where all are −∞ there is nothing to subtract.
        top.eq(&least).choose(&top.lit(0.0), &top)
    });
    let powers = terms.iter().map(|x| x.sub(&top).map(Row::Exp));
    let sum = powers.reduce(|a, b| a.add(&b)).unwrap_or_else(|| top.clone());
    let nothing = sum.eq(&sum.lit(0.0));
    let log = nothing.choose(&sum.lit(1.0), &sum).map(Row::Log).add(&top);
    nothing.choose(&least, &log)
}

/// What the recursion goes along: labels with blanks between them.
struct Labels {
    /// `[n, 2 s + 1]`, i64.
    ext: Node,
    /// Where a label may follow the one before it without a blank between them.
    skips: Node,
}

impl Labels {
    fn of(targets: &Node, lengths: &Node, blank: i64) -> Result<Labels> {
        let (n, s) = (targets.shape()[0], targets.shape()[1]);
        let blank = integer(targets, blank);
        let column = blank.expand(Shape::new(&[n, 1])?)?;
        let never = Node::scalar_bits(0, DType::Bool, targets.device(), true).expand(Shape::new(&[n, 1])?)?;
        if s == 0 {
            return Ok(Labels { ext: column, skips: never });
        }
        let ramp = Node::ramp(Shape::of(&[1, s]), targets.device());
        // What lies behind a line's end stands for nothing.
        let labels = ramp.lt(&lengths.reshape(Shape::new(&[n, 1])?)?).choose(targets, &blank);
        let differ = match s {
            1 => never.clone(),
            _ => {
                let (after, before) = (labels.slice(1, 1, 1, s - 1)?, labels.slice(1, 0, 1, s - 1)?);
                Node::concat(&[&never, &Node::apply(Row::Ne, &[&after, &before])], 1)?
            }
        };
        let between = |first: &Node, each: &Node, last: &Node| {
            let three = Shape::new(&[n, s, 1])?;
            let pairs = Node::concat(
                &[&first.reshape(Shape::new(&[n, 1, 1])?)?.expand(three)?, &each.reshape(three)?],
                2,
            )?;
            Node::concat(&[&pairs.reshape(Shape::new(&[n, 2 * s])?)?, last], 1)
        };
        Ok(Labels { ext: between(&column, &labels, &column)?, skips: between(&never, &differ, &never)? })
    }
}

/// The lengths of `n` lines, of which none is larger than `most`, on a device.
fn lengths(name: &str, Integers(lengths): &Integers, n: usize, most: usize, device: Device) -> Result<Node> {
    if lengths.numel() != n || lengths.rank() > 1 || !lengths.dtype().is_int() {
        let (shape, dtype) = (lengths.shape(), lengths.dtype());
        return fail(format!("takes {n} integers as {name}, got {dtype} {shape}"));
    }
    let is_known = lengths.check_indices(OP, 0, 0, most + 1)?.is_some();
    // A length that only a device knows is asked for, as PyTorch does; a step that is recorded is told of it when it is replayed.
    if !is_known && lengths.device().is_cuda() && !mg_graph::is_recording() {
        let on_host = lengths.to(Device::cpu())?;
        on_host.realize()?;
        on_host.check_indices(OP, 0, 0, most + 1)?;
    }
    lengths.to(device)?.node().cast(DType::I64).reshape(Shape::new(&[n])?)
}

/// Lines that lie one after the other, beside each other: the longest one says how wide.
fn beside_each_other(labels: &Node, counts: &Node) -> Result<Node> {
    let (n, all) = (counts.shape()[0], labels.shape().numel());
    let longest = match n {
        0 => 0,
        _ => Tensor::from_node(counts.reduce(ReduceKind::Max, 1, false)?).item::<i64>()?,
    };
    let longest = usize::try_from(longest).unwrap_or(0).min(all);
    let ends = Tensor::from_node(counts.clone()).try_cumsum(0, None)?.node();
    let begin = ends.sub(counts).reshape(Shape::new(&[n, 1])?)?;
    let ramp = Node::ramp(Shape::of(&[1, longest]), counts.device());
    let last = integer(&ramp, all.max(1) as i64 - 1);
    let at = Node::apply(Row::Minimum, &[&begin.add(&ramp), &last]);
    let at = at.reshape(Shape::new(&[n * longest])?)?;
    labels.gather(0, &at)?.reshape(Shape::new(&[n, longest])?)
}

#[operations(CTC)]
impl Tensor {
    /// The negative logarithm of the probability that a line of labels comes out where repeated labels and then blanks are taken away (Graves et al.,
    /// 2006): of `log_probs` `[t, n, classes]` (or `[t, classes]`), lines `targets` `[n, s]`, or one after the other in one axis, of which the first
    /// `target_lengths` count, and `input_lengths` steps. `blank` is the class that stands for none. What is impossible is infinite, or with
    /// `zero_infinity` 0. `reduction` is "mean" (of losses divided by their lines' lengths), "sum" or "none".
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; no floats, or labels and lengths that are no integers; a length or label out of range, where it is known; another
    /// reduction; unlike devices.
    #[surface(nn, reads)]
    #[allow(clippy::too_many_arguments)] // PyTorch's
    pub fn ctc_loss(
        &self,
        targets: &Tensor,
        input_lengths: Integers,
        target_lengths: Integers,
        #[default(0)] blank: i64,
        #[default("mean")] reduction: &str,
        #[default(false)] zero_infinity: bool,
    ) -> Result<Tensor> {
        let reduction = Reduction::of(OP, reduction)?;
        if !self.dtype().is_float() || !targets.dtype().is_int() {
            let text = format!("takes floats and integers, got {} and {}", self.dtype(), targets.dtype());
            return Err(Error::new(OP, ErrorKind::DType(text)));
        }
        let given = self.node();
        let alone = given.shape().rank() == 2;
        if !alone && given.shape().rank() != 3 {
            return fail(format!("takes log_probs [t, n, classes], got shape {}", given.shape()));
        }
        let probs = if alone { given.reshape(given.shape().insert(1, 1))? } else { given.clone() };
        let [t, n, classes] = [probs.shape()[0], probs.shape()[1], probs.shape()[2]];
        if !(0..classes as i64).contains(&blank) {
            let text = format!("a blank of {blank} is not among {classes} classes");
            return Err(Error::new(OP, ErrorKind::Value(text)));
        }
        let labels = targets.node().cast(DType::I64);
        same_device(OP, &[&probs, &labels])?;
        let steps = lengths("input_lengths", &input_lengths, n, t, self.device())?;
        let counts = |most| lengths("target_lengths", &target_lengths, n, most, self.device());
        let all = labels.shape().numel();
        let (lines, counts) = match (labels.shape().rank(), alone) {
            (2, false) if labels.shape()[0] != n => {
                return fail(format!("takes {n} lines of targets, got shape {}", labels.shape()));
            }
            (2, false) => {
                let counts = counts(labels.shape()[1])?;
                (labels, counts)
            }
            (1, true) => {
                let counts = counts(all)?;
                (labels.reshape(Shape::new(&[1, all])?)?, counts)
            }
            (1, false) => {
                let counts = counts(all)?;
                (beside_each_other(&labels, &counts)?, counts)
            }
            _ => return fail(format!("takes targets [n, s] or [all], got shape {}", targets.shape())),
        };
        let losses = losses(&wide(&probs), &steps, &lines, &counts, blank)?;
        let infinite = losses.eq(&losses.lit(f64::INFINITY));
        let losses = if zero_infinity { infinite.choose(&losses.lit(0.0), &losses) } else { losses };
        let answer = match reduction {
            Reduction::None if alone => losses.reshape(Shape::scalar())?,
            Reduction::None => losses,
            Reduction::Sum => losses.reduce(ReduceKind::Sum, 1, false)?,
            Reduction::Mean => {
                let divisor = counts.cast(losses.dtype());
                let divisor = Node::apply(Row::Maximum, &[&divisor, &divisor.lit(1.0)]);
                mean(&losses.div(&divisor), 1, false)?
            }
        };
        Ok(Tensor::from_node(answer.cast(given.dtype())))
    }
}

/// The losses of `n` lines, by the forward recursion over steps.
fn losses(probs: &Node, steps: &Node, lines: &Node, counts: &Node, blank: i64) -> Result<Node> {
    let [t, n, _] = [probs.shape()[0], probs.shape()[1], probs.shape()[2]];
    let labels = Labels::of(lines, counts, blank)?;
    let width = labels.ext.shape()[1];
    let scores = match t {
        0 => probs.lit(0.0).expand(Shape::new(&[0, n, width])?)?,
        _ => {
            let at = labels.ext.reshape(Shape::new(&[1, n, width])?)?.expand(Shape::new(&[t, n, width])?)?;
            probs.gather(2, &at)?
        }
    };
    let operands = [&scores, &labels.skips, steps, counts];
    let state = if is_one_kernel(&operands) { recursion(&operands)? } else { by_steps(&operands)? };
    let column = |v: &Node| v.reshape(Shape::new(&[n, 1])?);
    let (steps, counts) = (column(steps)?, column(counts)?);
    let least = probs.lit(f64::NEG_INFINITY);
    let end = counts.scale(2.0);
    let before = Node::apply(Row::Maximum, &[&end.sub(&integer(&end, 1)), &integer(&end, 0)]);
    let empty = counts.eq(&integer(&counts, 0));
    let whole = state.gather(1, &end)?;
    let ended = empty.choose(&least, &state.gather(1, &before)?);
    let loss = log_sum(&[whole, ended]).neg();
    // Without a step nothing comes out.
    let none = steps.eq(&integer(&steps, 0));
    let of_none = empty.choose(&loss.lit(0.0), &loss.lit(f64::INFINITY));
    none.choose(&of_none, &loss).reshape(Shape::new(&[n])?)
}

/// Whether there is a kernel for all steps. What stands for many examples, or for what is not known yet, is made of operations.
fn is_one_kernel(operands: &[&Node; 4]) -> bool {
    operands[0].device().is_cpu()
        && operands[0].shape().numel() > 0
        && !operands.iter().any(|node| node.is_traced())
}

/// As [`by_steps`], by one kernel.
fn recursion(operands: &[&Node; 4]) -> Result<Node> {
    let states = set_aside(|| Node::library(Ctc { kind: CtcKind::States }.into(), operands))?;
    let [scores, skips, steps, counts] = operands;
    Node::library(Ctc { kind: CtcKind::End }.into(), &[&states, scores, skips, steps, counts])
}

/// What the last step has come to, `[n, width]`, of scores `[t, n, width]`, where labels may be skipped to, and how many steps and labels
/// each line has.
fn by_steps(&[scores, skips, steps, counts]: &[&Node; 4]) -> Result<Node> {
    let [t, n, width] = [scores.shape()[0], scores.shape()[1], scores.shape()[2]];
    let column = |v: &Node| v.reshape(Shape::new(&[n, 1])?);
    let (steps, counts) = (column(steps)?, column(counts)?);
    let ramp = Node::ramp(Shape::of(&[1, width]), scores.device());
    let least = scores.lit(f64::NEG_INFINITY);
    let shape = Shape::new(&[n, width])?;
    // What nothing but the beginning can come to: the blank, or the first label.
    let first = Node::apply(Row::Le, &[&ramp, &Node::apply(Row::Minimum, &[&counts, &integer(&ramp, 1)])]);
    let mut state = least.expand(shape)?;
    let margin = least.expand(Shape::new(&[n, 2])?)?;
    for step in 0..t {
        let score = scores.slice(0, step, 1, 1)?.reshape(shape)?;
        let next = match step {
            0 => first.choose(&score, &least),
            _ => {
                let padded = Node::concat(&[&margin, &state], 1)?;
                let two = skips.choose(&padded.slice(1, 0, 1, width)?, &least);
                let one = padded.slice(1, 1, 1, width)?;
                log_sum(&[state.clone(), one, two]).add(&score)
            }
        };
        // Lines whose steps are over keep what they have.
        state = integer(&steps, step as i64).lt(&steps).choose(&next, &state);
    }
    Ok(state)
}

/// What the kernel of the recursion has made, made of operations, which have derivatives of any order.
pub(super) fn of_operations(ctc: Ctc, sources: &[Node]) -> Result<Option<Node>> {
    match (ctc.kind, sources) {
        (CtcKind::End, [_, scores, skips, steps, counts]) => {
            by_steps(&[scores, skips, steps, counts]).map(Some)
        }
        (CtcKind::End | CtcKind::States | CtcKind::Slopes, _) => Ok(None),
    }
}
