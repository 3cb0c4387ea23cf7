//! Forward mode: tangents of what a function has computed, from tangents of its inputs.
//!
//! An elementwise operation's tangent is its gradient rule with the tangent in the gradient's place, as what an element becomes depends on
//! nothing but that element; views and sums are applied to tangents as they are. Kernels of the library, and calls with gradients of their
//! own that do not say what their tangents are, are differentiated twice backwards: the gradient is linear in the gradient that it is given (of
//! a function of one's own that is looked at), and the gradient of that is the tangent.

use super::{Ordered, linear};
use crate::function::{Arrived, Call, Onward};
use crate::gradient::{Backward, pulled};
use crate::operations::of_operations;
use crate::rules;
use mg_device::{AxisSet, Error, ErrorKind, Result};
use mg_graph::{Kernel, Map, Node, Op, Sources, Tag, View};
use mg_kernels::{Algebra, ReduceKind};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Tangents by the sequence of the node.
type Known = HashMap<u64, Option<Node>>;
/// The tangents of all results of a call that has a rule for them, by the sequence of the call.
type Calls = HashMap<u64, Vec<Option<Node>>>;

/// The tangents of nodes, `None` where they are zero, given those of the inputs.
pub(crate) fn tangents(outputs: &[Node], inputs: &[(Node, Node)]) -> Result<Vec<Option<Node>>> {
    let mut known: Known = inputs.iter().map(|(node, t)| (node.sequence(), Some(t.clone()))).collect();
    push(outputs, &mut known, &mut Calls::new())?;
    Ok(outputs.iter().map(|node| known.get(&node.sequence()).cloned().flatten()).collect())
}

/// Finds the tangents of nodes, and of what they are made of.
fn push(outputs: &[Node], known: &mut Known, calls: &mut Calls) -> Result<()> {
    let mut all = Ordered::new();
    let mut stack: Vec<Node> = outputs.iter().filter(|node| node.is_tracked()).cloned().collect();
    while let Some(node) = stack.pop() {
        if known.contains_key(&node.sequence()) || all.contains_key(&node.sequence()) {
            continue;
        }
        if node.is_released() && !matches!(node.tag(), Some(Tag::Owner(_))) {
            let text = "the graph was let go after an earlier backward; pass retain_graph=True to that one";
            return Err(Error::new("jvp", ErrorKind::Gradient(text.into())));
        }
        if !matches!(node.tag(), Some(Tag::Owner(_))) {
            stack.extend(super::behind(&node).into_iter().filter(Node::is_tracked));
        }
        all.insert(node.sequence(), node);
    }
    for (sequence, node) in all {
        let _at = mg_graph::at(node.location());
        let tangent = match node.tag() {
            Some(Tag::Owner(_) | Tag::Call(_)) => None,
            Some(Tag::History(other)) => known.get(&other.sequence()).cloned().flatten(),
            Some(Tag::Output(call, at)) => of_call(call, *at, known, calls)?,
            Some(Tag::Forgotten(_) | Tag::Replayed(_)) | None => match again(&node)? {
                Some(again) => {
                    push(std::slice::from_ref(&again), known, calls)?;
                    known.get(&again.sequence()).cloned().flatten()
                }
                None => of_node(&node, known)?,
            },
        };
        let tangent = tangent.map(|t| t.expand(*node.shape())).transpose()?;
        known.insert(sequence, tangent);
    }
    Ok(())
}

/// What a kernel has made whose gradient has none itself, made of operations.
fn again(node: &Node) -> Result<Option<Node>> {
    let was = mg_graph::set_tracking(true);
    let again = of_operations(node);
    mg_graph::set_tracking(was);
    again
}

fn add(sum: &mut Option<Node>, share: Node) {
    *sum = Some(match sum.take() {
        Some(before) => rules::add(&before, &share),
        None => share,
    });
}

fn of_node(node: &Node, known: &Known) -> Result<Option<Node>> {
    let sources = node.sources();
    let ts: SmallVec<[Option<Node>; 3]> =
        sources.iter().map(|source| known.get(&source.sequence()).cloned().flatten()).collect();
    if ts.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut sum = None;
    match node.op() {
        Op::Source(_) | Op::Map(Map::Guard { .. }) => return Ok(None),
        Op::Map(Map::Copy { .. }) => return Ok(ts[0].clone()),
        Op::Map(Map::Cast) => return Ok(ts[0].as_ref().map(|t| t.cast(node.dtype()))),
        Op::Map(Map::Row(_)) => {
            for (i, t) in ts.iter().enumerate() {
                if let Some(t) = t
                    && let Some(share) = rules::elementwise(node, &sources, i, t)
                {
                    add(&mut sum, share);
                }
            }
        }
        Op::View(view) => return ts[0].as_ref().map(|t| seen(t, view, node)).transpose(),
        Op::Reduce(kind, axes) => {
            return ts[0].as_ref().map_or(Ok(None), |t| reduced(node, &sources[0], *kind, *axes, t));
        }
        Op::Kernel(kernel) => return of_kernel(node, kernel, &sources, &ts),
    }
    Ok(sum)
}

/// A tangent, seen as a view sees what it is of.
fn seen(t: &Node, view: &View, node: &Node) -> Result<Node> {
    let shape = *node.shape();
    match view {
        View::Reshape => t.reshape(shape),
        View::Permute(axes) => {
            let axes: SmallVec<[usize; 8]> = axes[..shape.rank()].iter().map(|&a| a as usize).collect();
            t.permute(&axes)
        }
        &View::Slice { axis, start, step } => match shape[axis as usize] {
            0 => t.slice(axis as usize, 0, 1, 0),
            len => t.slice(axis as usize, start as usize, step as isize, len),
        },
        &View::Diagonal { axes: [a, b], offset } => {
            t.diagonal([a as usize, b as usize], offset, shape[shape.rank() - 1])
        }
        &View::Windows { axis, step } => {
            t.windows(axis as usize, shape[axis as usize], shape[shape.rank() - 1], step as usize)
        }
        View::Expand => t.expand(shape),
        View::Region(region) => t.region(**region),
    }
}

fn reduced(node: &Node, source: &Node, kind: ReduceKind, axes: AxisSet, t: &Node) -> Result<Option<Node>> {
    let sum = |n: Node| n.reduce(ReduceKind::Sum, axes, false)?.reshape(*node.shape()).map(Some);
    match kind {
        ReduceKind::Sum => sum(t.clone()),
        // How the result depends on each element, times what that changes by.
        ReduceKind::Max | ReduceKind::Min | ReduceKind::Prod => {
            match rules::through_reduce(node, source, kind, axes, &node.lit(1.0))? {
                Some(slope) => sum(mg_kernels::Rules::mul(&slope, t).expand(*source.shape())?),
                None => Ok(None),
            }
        }
        ReduceKind::ArgMax | ReduceKind::ArgMin => Ok(None),
    }
}

fn of_kernel(node: &Node, kernel: &Kernel, sources: &Sources, ts: &[Option<Node>]) -> Result<Option<Node>> {
    let mut sum = None;
    // What does not change has a tangent of zeros where others beside it have one.
    let or_zeros = |i: usize| match &ts[i] {
        Some(t) => Ok(t.clone()),
        None => sources[i].lit(0.0).expand(*sources[i].shape()),
    };
    match kernel {
        Kernel::Write { region } => {
            let base = match ts.get(1) {
                Some(Some(base)) => Some(base),
                Some(None) | None => None,
            };
            sum = Some(or_zeros(0)?.write_into(base, *node.shape(), **region)?);
        }
        Kernel::Concat { axis } => {
            let parts = (0..sources.len()).map(or_zeros).collect::<Result<Vec<_>>>()?;
            sum = Some(Node::concat(&parts.iter().collect::<Vec<_>>(), *axis as usize)?);
        }
        Kernel::Transfer => {
            if let Some(t) = &ts[0] {
                sum = Some(t.to_device(node.device())?);
            }
        }
        Kernel::Library(library) if (0..ts.len()).all(|i| ts[i].is_none() || library.is_linear_in(i)) => {
            for (i, t) in ts.iter().enumerate() {
                if let Some(t) = t {
                    let mut operands: SmallVec<[&Node; 4]> = sources.iter().collect();
                    operands[i] = t;
                    add(&mut sum, Node::library(*library, &operands)?);
                }
            }
        }
        Kernel::Library(library) => {
            let was = mg_graph::set_tracking(true);
            let twice = (|| {
                let given = stand_in(node)?;
                let mut pairs = vec![];
                for (i, t) in ts.iter().enumerate() {
                    if let Some(t) = t
                        && let Some(share) = rules::through_library(node, sources, i, library, &given)?
                    {
                        pairs.push((share.expand(*sources[i].shape())?, t.clone()));
                    }
                }
                Ok::<_, Error>((given, pairs))
            })();
            mg_graph::set_tracking(was);
            let (given, pairs) = twice?;
            sum = pulled(&pairs, &[given], how())?.remove(0);
        }
    }
    Ok(sum)
}

fn how() -> Backward {
    Backward { retain_graph: true, create_graph: mg_graph::is_tracking() }
}

/// A gradient through which one can differentiate. What is made of it is linear in it, but a rule may leave out what a gradient of 0 asks for
/// nothing of: it is of ones.
pub(super) fn stand_in(like: &Node) -> Result<Node> {
    let node = like.lit(1.0).expand(*like.shape())?.alias();
    node.set_tracked(true);
    Ok(node)
}

fn of_call(call: &Node, at: usize, known: &mut Known, calls: &mut Calls) -> Result<Option<Node>> {
    let Some(of) = Call::of(call) else { return Ok(None) };
    let sources = call.sources();
    if let Some(found) = calls.get(&call.sequence()) {
        return Ok(found.get(at).cloned().flatten());
    }
    if sources.iter().all(|source| known.get(&source.sequence()).is_none_or(Option::is_none))
        && !of.is_again()
    {
        return Ok(None);
    }
    let ts: Vec<Option<Node>> =
        sources.iter().map(|source| known.get(&source.sequence()).cloned().flatten()).collect();
    if let Some(found) = of.forward(&ts)? {
        let its = found.get(at).cloned().flatten();
        calls.insert(call.sequence(), found);
        return Ok(its);
    }
    let was = mg_graph::set_tracking(true);
    let twice = (|| {
        let given = of.stand_ins()?;
        let arrived: Arrived = given.iter().cloned().enumerate().collect();
        Ok::<_, Error>((of.onward(arrived)?, given))
    })();
    mg_graph::set_tracking(was);
    match twice? {
        (Onward::Sources(shares), given) => {
            let made: Vec<&Node> = shares.iter().flatten().collect();
            if let Some(operation) = linear::what_is_not(&made, &given)? {
                let name = of.name();
                let text = format!(
                    "{name} has no jvp, and its gradient is no linear function of the one that it is given ({operation}), so that \
                     tangents do not follow from it: write its jvp"
                );
                return Err(Error::new("jvp", ErrorKind::Gradient(text)));
            }
            let mut pairs = vec![];
            for (k, share) in shares.into_iter().enumerate() {
                if let Some(Some(t)) = known.get(&sources[k].sequence())
                    && let Some(share) = share
                {
                    pairs.push((of.fitted(&share, &sources[k], of.position(k))?, t.clone()));
                }
            }
            Ok(pulled(&pairs, &[given[at].clone()], how())?.remove(0))
        }
        (Onward::Results(results), _) => {
            let results: Vec<Node> = results.into_iter().map(|(node, _)| node).collect();
            push(&results, known, calls)?;
            // Results that nothing flows to are not among them.
            Ok(results.get(at).and_then(|node| known.get(&node.sequence()).cloned().flatten()))
        }
    }
}
