//! Reverse mode: one walk over the graph, from results to leaves, that answers with more graph.

use crate::caller::named;
use crate::rules;
use crate::tensor::{Cell, Tensor};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, Op, Sources};
use mg_kernels::Algebra;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// While it lives, operations on this thread record nothing for gradients.
#[must_use = "gradients are recorded again when this is dropped"]
pub struct NoGrad(bool);

impl Drop for NoGrad {
    fn drop(&mut self) {
        mg_graph::set_tracking(self.0);
    }
}

/// Switches the recording of gradients off on this thread, until the guard is dropped.
pub fn no_grad() -> NoGrad {
    NoGrad(mg_graph::set_tracking(false))
}

/// Switches the recording of gradients on on this thread, until the guard is dropped.
pub fn enable_grad() -> NoGrad {
    NoGrad(mg_graph::set_tracking(true))
}

/// Whether operations on this thread record what gradients need.
pub fn is_grad_enabled() -> bool {
    mg_graph::is_tracking()
}

/// How to walk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backward {
    /// Keep the graph, so that it can be walked again.
    pub retain_graph: bool,
    /// Record the gradients' own computation, for gradients of gradients. Keeps the graph.
    pub create_graph: bool,
}

/// Nodes whose gradient is not complete yet, by sequence: the youngest is complete, since all that reads it is younger.
type Front = BTreeMap<u64, (Node, Node)>;

/// Adds to a node's gradient.
fn add(front: &mut Front, node: &Node, gradient: Node) {
    match front.entry(node.sequence()) {
        Entry::Occupied(mut slot) => {
            let sum = rules::add(&slot.get().1, &gradient);
            slot.get_mut().1 = sum;
        }
        Entry::Vacant(slot) => {
            slot.insert((node.clone(), gradient));
        }
    }
}

/// Results and the gradients that a walk starts from.
type Seeds = SmallVec<[(Node, Node); 2]>;

/// The seed gradients, checked.
#[track_caller]
fn seeds(op: &'static str, roots: &[&Tensor], given: &[Option<&Tensor>]) -> Result<Seeds> {
    let mut out = Seeds::new();
    for (i, root) in roots.iter().enumerate() {
        let node = root.node();
        if let Some(Err(error)) = node.value() {
            return Err(error.clone());
        }
        if !node.is_tracked() {
            let text = "the result does not depend on anything that requires a gradient";
            return Err(Error::new(op, ErrorKind::Gradient(text.into())));
        }
        let seed = match given.get(i).copied().flatten() {
            Some(seed) => {
                let seed = seed.node();
                if seed.shape() != node.shape()
                    || seed.dtype() != node.dtype()
                    || seed.device() != node.device()
                {
                    let text = format!(
                        "a seed gradient {} {} for a result {} {}",
                        seed.dtype(),
                        seed.shape(),
                        node.dtype(),
                        node.shape()
                    );
                    return Err(Error::new(op, ErrorKind::Shape(text)));
                }
                seed
            }
            None if node.shape().numel() == 1 => node.lit(1.0),
            None => {
                let text = format!("a result of shape {} needs a seed gradient of that shape", node.shape());
                return Err(Error::new(op, ErrorKind::Gradient(text)));
            }
        };
        out.push((node, seed));
    }
    Ok(out)
}

fn cell_of(node: &Node) -> Option<std::sync::Arc<Cell>> {
    node.tag()?.upgrade()?.downcast::<Cell>().ok()
}

/// The walk. Leaves (nodes with a tag) are not passed; `arrive` is told the gradient of each node that `wanted` names.
fn walk(
    seeds: Seeds,
    how: Backward,
    wanted: impl Fn(&Node) -> bool,
    mut arrive: impl FnMut(&Node, Node),
) -> Result<()> {
    let retain = how.retain_graph || how.create_graph;
    let was = mg_graph::set_tracking(how.create_graph);
    let _restore = NoGrad(was);
    let mut front = Front::new();
    let mut visited: SmallVec<[Node; 32]> = SmallVec::new();
    for (node, seed) in seeds {
        add(&mut front, &node, seed);
    }
    while let Some((_, (node, gradient))) = front.pop_last() {
        if wanted(&node) {
            arrive(&node, gradient.expand(*node.shape())?);
        }
        if node.tag().is_some() {
            continue;
        }
        if node.is_released() {
            let text = "the graph was let go after an earlier backward; pass retain_graph=True to that one to walk it again";
            return Err(Error::new("backward", ErrorKind::Gradient(text.into())));
        }
        let _at = mg_graph::at(node.location());
        let sources: Sources = node.sources();
        // What is zero by structure is zero below, and nothing is computed for it.
        let is_zero = gradient.literal() == Some(0.0);
        for (i, source) in sources.iter().enumerate() {
            // A source that occurs twice is met twice, each time with its own share.
            if !source.is_tracked() {
                continue;
            }
            let share = if is_zero { None } else { rules::vjp(&node, &sources, i, &gradient)? };
            add(&mut front, source, share.unwrap_or_else(|| source.lit(0.0)));
        }
        if !retain && !matches!(node.op(), Op::Source(_)) {
            visited.push(node);
        }
    }
    visited.iter().for_each(Node::release);
    Ok(())
}

impl Tensor {
    /// Adds the gradient of this tensor (of one element) to the `grad` of every leaf that it depends on.
    ///
    /// The graph is let go; see [`Tensor::backward_with`] to keep it.
    ///
    /// # Errors
    ///
    /// More than one element, nothing that requires a gradient, a graph that was let go before.
    #[track_caller]
    pub fn backward(&self) -> Result<()> {
        self.backward_with(None, Backward::default())
    }

    /// As [`Tensor::backward`], from a seed gradient of this tensor's shape.
    ///
    /// # Errors
    ///
    /// As [`Tensor::backward`], and a seed of another shape, dtype or device.
    #[track_caller]
    pub fn backward_with(&self, seed: Option<&Tensor>, how: Backward) -> Result<()> {
        let seeds = seeds("backward", &[self], &[seed])?;
        let walked = walk(
            seeds,
            how,
            |node| node.tag().is_some(),
            |node, gradient| {
                // The parameter may have been dropped, or stand for another value by now.
                if let Some(cell) = cell_of(node) {
                    crate::jit::note_change(&cell);
                    let mut slot = Tensor::grad_slot(&cell);
                    let sum = match slot.take() {
                        Some(old) => {
                            // Only the sum is wanted from now on.
                            old.set_optional(false);
                            rules::add(&old, &gradient)
                        }
                        None => gradient,
                    };
                    if !how.create_graph {
                        sum.set_optional(true);
                    }
                    *slot = Some(sum.clone());
                    drop(slot);
                    // This may compute what has waited long, and drop whatever that frees: not under a lock.
                    sum.announce();
                }
            },
        );
        walked.map_err(named("backward"))
    }
}

/// The gradients of the sum of `outputs` with respect to `inputs`, which may be any tensors on the way; `None` for those
/// that the outputs do not depend on. Nothing is accumulated.
///
/// # Errors
///
/// As [`Tensor::backward_with`].
#[track_caller]
pub fn grad(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    how: Backward,
) -> Result<Vec<Option<Tensor>>> {
    let seeds = seeds("grad", outputs, seeds_given)?;
    let wanted: Vec<Node> = inputs.iter().map(|t| t.node()).collect();
    let mut found: Vec<Option<Node>> = vec![None; wanted.len()];
    let walked = walk(
        seeds,
        how,
        |node| wanted.iter().any(|w| w.is(node)),
        |node, gradient| {
            for (slot, wanted) in found.iter_mut().zip(&wanted) {
                if wanted.is(node) {
                    *slot = Some(gradient.clone());
                }
            }
        },
    );
    walked.map_err(named("grad"))?;
    Ok(found.into_iter().map(|n| n.map(Tensor::from_node)).collect())
}
