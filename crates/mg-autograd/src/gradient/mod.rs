//! Reverse mode: one walk over the graph, from results to leaves, that answers with more graph.

mod reach;
mod saved;
mod walk;

pub(crate) use reach::Reach;
use reach::leading;
use saved::not_saved;
pub(crate) use walk::{Passed, walk};

use crate::caller::named;
use crate::function::Call;
use crate::hooks::{Pass, Watch};
use crate::rules;
use crate::tensor::memory::{Changing, apart, locked, may_be_borrowed, settle, untracked};
use crate::tensor::{Cell, Tensor};
use crate::transform::batch::{leaked, leaks};
use mg_device::{Error, ErrorKind, Result, Shape};
use mg_graph::{Kernel, Map, Node, Op, Tag};
use mg_kernels::{Algebra, ReduceKind, Row};
use smallvec::SmallVec;
use std::sync::Mutex;

/// While it lives, operations on this thread record nothing for gradients.
#[must_use = "gradients are recorded again when this is dropped"]
pub struct NoGrad(bool);

impl Drop for NoGrad {
    fn drop(&mut self) {
        mg_graph::set_tracking(self.0);
    }
}

impl NoGrad {
    /// Restores this when it is dropped.
    pub(crate) fn of(before: bool) -> NoGrad {
        NoGrad(before)
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

/// Results and the gradients that a walk starts from.
type Seeds = SmallVec<[(Node, Node); 2]>;

/// The seed gradients, checked.
#[track_caller]
fn seeds(op: &'static str, roots: &[&Tensor], given: &[Option<&Tensor>]) -> Result<Seeds> {
    let mut out = Seeds::new();
    for (i, root) in roots.iter().enumerate() {
        let node = root.node();
        if let Some(Err(error)) = node.value() {
            error.report();
            return Err(error.clone());
        }
        if !node.is_tracked() {
            let text = "the result does not depend on anything that requires a gradient";
            return Err(Error::new(op, ErrorKind::Gradient(text.into())));
        }
        let seed = match given.get(i).copied().flatten() {
            Some(seed) => {
                let seed = seed.node();
                // As in PyTorch, numbers are taken as the result's.
                let seed = if seed.dtype() == node.dtype() { seed } else { seed.cast(node.dtype()) };
                if seed.shape() != node.shape() || seed.device() != node.device() {
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

/// Whether a node is a leaf's: the walk ends there.
pub(crate) fn is_leaf(node: &Node) -> bool {
    matches!(node.tag(), Some(Tag::Owner(_)))
}

/// The leaf whose node it is, unless that was dropped.
pub(crate) fn leaf_of(node: &Node) -> Option<Tensor> {
    match node.tag()? {
        Tag::Owner(owner) => owner.upgrade()?.downcast::<Cell>().ok().map(Tensor),
        Tag::History(_) | Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_) => None,
    }
}

/// The node that graphs have of a tensor whose numbers were changed since, and nothing else.
pub(crate) fn as_computed(node: Node) -> Node {
    match node.tag() {
        Some(Tag::History(history)) => history.clone(),
        Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_))
        | None => node,
    }
}

/// Whether the gradient of a node reads no value: not its own, nor its sources'.
fn reads_nothing(node: &Node) -> bool {
    match node.tag() {
        None | Some(Tag::Owner(_) | Tag::Replayed(_)) => {}
        Some(Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..) | Tag::Call(_)) => return false,
    }
    match node.op() {
        Op::View(_) | Op::Map(Map::Copy { .. } | Map::Cast | Map::Row(Row::Add | Row::Sub | Row::Neg)) => {
            true
        }
        // What is divided or multiplied by is a number of the program, no value.
        Op::Map(Map::Row(Row::Mul | Row::Div)) => {
            node.sources().iter().filter(|source| source.literal().is_none()).count() == 1
        }
        Op::Reduce(kind, _) => *kind == ReduceKind::Sum,
        Op::Kernel(Kernel::Concat { .. } | Kernel::Write { .. } | Kernel::Transfer) => true,
        Op::Source(_) | Op::Map(_) | Op::Kernel(Kernel::Library(_)) => false,
    }
}

impl Backward {
    /// Lets the graph go, unless it is kept. As in PyTorch, what has saved no value may be walked again; but not on the way to what is let
    /// go: that would be refused there, and until then keep values that nobody wants.
    fn release(self, passed: &Passed) {
        if self.retain_graph || self.create_graph {
            return;
        }
        // Sources come after what was made of them: those that are let go are so by the time that is asked. (Where the walk did not go they may be there.)
        let is_gone = |s: &Node| s.is_tracked() && !is_leaf(s) && s.is_released();
        for node in passed.iter().rev() {
            if reads_nothing(node) && !node.sources().iter().any(is_gone) {
                continue;
            }
            node.release();
            // What is kept for another walk may keep the node.
            if let Some(watch) = Watch::of(node) {
                watch.clear();
            }
            if let Some(call) = Call::of(node) {
                call.release();
            }
        }
    }
}

/// The gradients of nodes, given nodes that depend on them and the gradients of these: `None` where there is none.
pub(crate) fn pulled(pairs: &[(Node, Node)], wanted: &[Node], how: Backward) -> Result<Vec<Option<Node>>> {
    let is_wanted = |node: &Node| wanted.iter().any(|w| w.is(node));
    let on_the_way = leading(pairs, is_wanted, wanted.iter().map(Node::sequence).min().unwrap_or(0));
    let mut found: Vec<Option<Node>> = vec![None; wanted.len()];
    let (reach, pass) = (Reach::Only(&on_the_way), Pass::begin());
    let passed = walk(pairs.iter().cloned(), how.create_graph, reach, is_wanted, |node, gradient| {
        let gradient = gradient.expand(*node.shape())?;
        let at = wanted.iter().enumerate().filter(|(_, w)| w.is(node));
        at.for_each(|(i, _)| found[i] = Some(gradient.clone()));
        Ok(())
    })?;
    how.release(&passed);
    pass.end()?;
    Ok(found)
}

/// Taken by whoever adds to a gradient: what is added by one thread must not be lost to another. Leaves share a few locks.
static ADDING: [Mutex<()>; 16] = [const { Mutex::new(()) }; 16];

/// Refuses a gradient that cannot be added to one in place: the leaf's data has another shape since.
fn fits_into(gradient: &Node, old: &Node) -> Result<()> {
    if Shape::broadcast(gradient.shape(), old.shape()) == Some(*old.shape()) {
        return Ok(());
    }
    let text = format!(
        "a gradient of shape {} cannot be added to a grad of shape {}: the tensor's data has another shape since (set grad \
         to None)",
        gradient.shape(),
        old.shape()
    );
    Err(Error::new("backward", ErrorKind::Shape(text)))
}

/// Adds to a leaf's gradient, in place, as everybody who has read it is to see. A result that keeps its gradient is given the sum, and who has read
/// the old one keeps that, as in PyTorch.
pub(crate) fn accumulate(leaf: &Tensor, gradient: Node, create_graph: bool) -> Result<()> {
    // What stands for many examples is the gradient of nothing outside of them.
    if leaks(&gradient, &leaf.current()) {
        return Err(leaked());
    }
    // A gradient that is somebody else's memory is what is in that now.
    let gradient = if may_be_borrowed(&gradient) { gradient.copy() } else { gradient };
    // What is added in place has no history; a gradient that had one, since a program has computed with it, keeps that.
    let _restore = NoGrad(mg_graph::set_tracking(create_graph));
    // It may be a node of the graph as it is; it has that one's history only where gradients have any.
    let gradient = if gradient.is_tracked() && !create_graph { untracked(&gradient) } else { gradient };
    let turn = locked(&ADDING[leaf.id() / 64 % ADDING.len()]);
    let changing = Changing::begin();
    let before = leaf.grad_unread();
    let kept = match before {
        Some(before) if !create_graph && leaf.keeps_grad() => {
            let old = before.node();
            fits_into(&gradient, &old)?;
            // Only the sum is wanted from now on. A leaf whose data has another dtype since has the gradient that it had.
            old.set_optional(false);
            let gradient =
                if gradient.dtype() == old.dtype() { gradient } else { gradient.cast(old.dtype()) };
            let sum = rules::add(&old, &gradient);
            sum.set_optional(true);
            before.write(sum)?;
            before
        }
        before => {
            let sum = before.map(|before| rules::add(&before.node(), &gradient));
            // As its leaf lies: what can be viewed of the one can be viewed of the other, and an optimiser reads both in one order.
            let grad = Tensor::unread(sum.unwrap_or(gradient).lying_as(&leaf.current()));
            if !create_graph {
                grad.current().set_optional(true);
            }
            leaf.put_grad(Some(grad.clone()));
            grad
        }
    };
    drop(changing);
    drop(turn);
    // This may compute what has waited long, and drop whatever that frees: not under a lock.
    let node = kept.current();
    node.keep_as_gradient();
    node.announce();
    settle(&node);
    Ok(())
}

/// Gives a leaf that had no gradient the one that a replayed step has computed. Another thread may have given it one meanwhile.
pub(crate) fn put_or_accumulate(leaf: &Tensor, gradient: Node) -> Result<()> {
    {
        let _turn = locked(&ADDING[leaf.id() / 64 % ADDING.len()]);
        if leaf.grad_now().is_none() {
            leaf.put_grad(Some(Tensor::unread(gradient)));
            return Ok(());
        }
    }
    accumulate(leaf, gradient, false)
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
        backward(&[self], &[seed], None, how)
    }
}

/// Adds the gradient of the sum of `roots` to the `grad` of every leaf that they depend on, or of `inputs` alone where these are given:
/// they may be any tensors on the way. `seeds_given` are the gradients of the roots, which those of one element can do without.
///
/// # Errors
///
/// As [`Tensor::backward_with`]; an input that requires no gradient.
#[track_caller]
pub fn backward(
    roots: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    inputs: Option<&[&Tensor]>,
    how: Backward,
) -> Result<()> {
    let began = mg_graph::next_sequence();
    if let Some(inputs) = inputs {
        let found = gradients("backward", roots, inputs, seeds_given, how)?;
        // A result that keeps its gradient has it from the walk.
        let of = |(t, gradient): (&Tensor, Option<Node>)| match t.retains_grad() {
            true => None,
            false => Some((t.clone(), gradient?)),
        };
        let found = inputs.iter().copied().zip(found).filter_map(of).collect();
        put(found, how, began).map_err(named("backward"))?;
        // A result that was asked for keeps its gradient from now on.
        return inputs.iter().filter(|t| !t.keeps_grad()).try_for_each(|t| t.retain_grad());
    }
    let seeds = seeds("backward", roots, seeds_given)?;
    // What fails on the way has added to no gradient.
    let (mut found, pass) = (Found::new(), Pass::begin());
    let walked = walk(seeds, how.create_graph, Reach::All, is_leaf, |node, gradient| {
        // A leaf that was made a constant since wants no gradient any more.
        let Some(leaf) = leaf_of(node).filter(Tensor::keeps_grad) else { return Ok(()) };
        // One that was written to meanwhile is met once for each of its values.
        let before = leaf.leaf_watch().and_then(|_| found.iter_mut().find(|(other, _)| other.is(&leaf)));
        match before {
            Some((_, sum)) => *sum = rules::add(sum, &gradient),
            None => found.push((leaf, gradient.expand(*node.shape())?)),
        }
        Ok(())
    });
    how.release(&walked.map_err(named("backward"))?);
    for (leaf, gradient) in &mut found {
        let whole = seen_by_hooks(leaf, gradient.clone(), how).map_err(named("backward"))?;
        *gradient = not_saved(whole, began);
    }
    end(pass, how).map_err(named("backward"))?;
    put(found, how, began).map_err(named("backward"))
}

/// Leaves and their gradients.
type Found = SmallVec<[(Tensor, Node); 16]>;

/// Has hooks of several tensors be told what a pass has found.
fn end(pass: Pass, how: Backward) -> Result<()> {
    let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
    pass.end()
}

/// The gradient that a leaf's hooks have made of one.
fn seen_by_hooks(leaf: &Tensor, gradient: Node, how: Backward) -> Result<Node> {
    let Some(watch) = leaf.leaf_watch() else { return Ok(gradient) };
    let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
    watch.seen_by_leaf(gradient)
}

/// Computes the gradients that are to be added to, where steps go by that compute something else: else what they are made of would be kept
/// of each step, and planned anew with each, as no two of such graphs are alike.
fn compute_what_was_left(found: &[(Tensor, Option<Node>)]) {
    // Runs that are recorded agree only where they compute the same.
    if mg_graph::is_recording() {
        return;
    }
    let before: SmallVec<[Node; 16]> =
        found.iter().filter_map(|(leaf, _)| Some(leaf.grad_unread()?.node())).collect();
    let left: SmallVec<[&Node; 16]> = before.iter().filter(|node| node.was_left_out()).collect();
    // A failure stays with the gradient.
    let _ = mg_graph::realize_quietly(&left);
}

/// The gradient that is to be added to a leaf's, as the hooks of its accumulation have it, if there is to be one.
fn before(leaf: &Tensor, gradient: Node, how: Backward, began: u64) -> Result<Option<Node>> {
    let begins = leaf.leaf_watch().filter(|watch| watch.begins() && leaf.keeps_grad());
    let Some(watch) = begins else { return Ok(Some(gradient)) };
    let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
    Ok(watch.before_leaf(gradient)?.map(|gradient| not_saved(gradient, began)))
}

/// Adds gradients to those of tensors. What fails in hooks that are called before has added to none.
fn put(found: Found, how: Backward, began: u64) -> Result<()> {
    let ready = found.into_iter().map(|(leaf, gradient)| {
        let gradient = before(&leaf, gradient, how, began)?;
        Ok((leaf, gradient))
    });
    let found = ready.collect::<Result<SmallVec<[(Tensor, Option<Node>); 16]>>>()?;
    compute_what_was_left(&found);
    for (leaf, gradient) in found {
        let waits = leaf.leaf_watch().is_some_and(|watch| watch.waits());
        let told = gradient.clone().filter(|_| waits);
        if let Some(gradient) = gradient {
            accumulate(&leaf, gradient, how.create_graph)?;
        }
        if let Some(watch) = leaf.leaf_watch() {
            let _restore = NoGrad(mg_graph::set_tracking(how.create_graph));
            watch.added(&leaf, told)?;
        }
    }
    Ok(())
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
    let found = gradients("grad", outputs, inputs, seeds_given, how)?;
    // A gradient may be somebody's node as it is; it has that one's history only where gradients have any.
    let of = |node: Node| match node.is_tracked() && !how.create_graph {
        true => Tensor::from_node(apart(&node)),
        false => Tensor::from_node(node),
    };
    Ok(found.into_iter().map(|node| node.map(of)).collect())
}

#[track_caller]
fn gradients(
    op: &'static str,
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    seeds_given: &[Option<&Tensor>],
    how: Backward,
) -> Result<Vec<Option<Node>>> {
    let began = mg_graph::next_sequence();
    let seeds = seeds(op, outputs, seeds_given)?;
    if let Some(i) = inputs.iter().position(|t| !t.requires_grad()) {
        return Err(Error::new(op, ErrorKind::Gradient(format!("input {i} does not require a gradient"))));
    }
    // A leaf is the same whatever was written to it since; anything else is the node that it was computed as.
    let wanted: Vec<(Node, Option<&Tensor>)> =
        inputs.iter().map(|&t| (as_computed(t.node()), t.keeps_grad().then_some(t))).collect();
    let is = |(wanted, leaf): &(Node, Option<&Tensor>), node: &Node| {
        wanted.is(node) || leaf.is_some_and(|leaf| leaf_of(node).is_some_and(|owner| owner.is(leaf)))
    };
    // A leaf may have been a node of any age.
    let oldest = wanted.iter().map(|(node, leaf)| if leaf.is_some() { 0 } else { node.sequence() }).min();
    let on_the_way = leading(&seeds, |node| wanted.iter().any(|w| is(w, node)), oldest.unwrap_or(0));
    let (mut found, pass): (Vec<Option<Node>>, Pass) = (vec![None; wanted.len()], Pass::begin());
    let walked = walk(
        seeds,
        how.create_graph,
        Reach::Only(&on_the_way),
        |node| wanted.iter().any(|w| is(w, node)),
        |node, gradient| {
            let gradient = gradient.expand(*node.shape())?;
            for (slot, _) in found.iter_mut().zip(&wanted).filter(|(_, w)| is(w, node)) {
                // A leaf that was changed in place meanwhile is met once for each of its values.
                let sum = slot.take().map(|before| rules::add(&before, &gradient));
                *slot = Some(sum.unwrap_or_else(|| gradient.clone()));
            }
            Ok(())
        },
    );
    how.release(&walked.map_err(named(op))?);
    for (slot, (_, leaf)) in found.iter_mut().zip(&wanted) {
        if let (Some(gradient), Some(leaf)) = (&mut *slot, leaf) {
            *slot = Some(seen_by_hooks(leaf, gradient.clone(), how).map_err(named(op))?);
        }
        *slot = slot.take().map(|gradient| not_saved(gradient, began));
    }
    end(pass, how).map_err(named(op))?;
    Ok(found)
}
