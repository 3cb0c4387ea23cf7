//! Derivatives and batches as rewriting: a function is called once, with stand-ins, and what it has recorded is a graph of five kinds of
//! node, each of which has a rule for tangents and one for a batch of examples. What is composed of such nodes needs none of its own.

pub(crate) mod batch;
pub(crate) mod level;
mod linear;
pub(crate) mod rules;
pub(crate) mod tangent;

pub use batch::{Randomness, Traced, is_tracing};
pub use level::Level;

use mg_device::{Error, ErrorKind, Result, Shape};
use mg_graph::{Node, Sources, Tag};
use std::collections::{BTreeMap, HashSet};

/// Nodes by their sequence: what comes first is not made of what comes later.
pub(crate) type Ordered = BTreeMap<u64, Node>;

/// What a node is made of, for its value and for walks.
pub(crate) fn behind(node: &Node) -> Sources {
    let mut all = node.sources();
    match node.tag() {
        Some(Tag::History(other) | Tag::Forgotten(other) | Tag::Output(other, _)) => all.push(other.clone()),
        Some(Tag::Owner(_) | Tag::Call(_) | Tag::Replayed(_)) | None => {}
    }
    all
}

/// The nodes that some are made of, as far as `goes_on` says, and those.
pub(crate) fn reached<'a>(
    roots: impl IntoIterator<Item = &'a Node>,
    goes_on: impl Fn(&Node) -> bool,
) -> Ordered {
    let mut found = Ordered::new();
    let mut stack: Vec<Node> = roots.into_iter().cloned().collect();
    while let Some(node) = stack.pop() {
        if found.contains_key(&node.sequence()) || !goes_on(&node) {
            continue;
        }
        stack.extend(behind(&node));
        found.insert(node.sequence(), node);
    }
    found
}

/// Whether gradients flow from some nodes to what was there before the sequence `start`: what a function that began there knows from
/// outside. (Leaves that were made since count as well.)
pub(crate) fn depends<'a>(roots: impl IntoIterator<Item = &'a Node>, start: u64) -> bool {
    let mut met = HashSet::new();
    let mut stack: Vec<Node> = roots.into_iter().filter(|n| n.is_tracked()).cloned().collect();
    while let Some(node) = stack.pop() {
        if !met.insert(node.sequence()) {
            continue;
        }
        if node.sequence() < start || matches!(node.tag(), Some(Tag::Owner(_))) {
            return true;
        }
        stack.extend(behind(&node).into_iter().filter(Node::is_tracked));
    }
    false
}

/// Says that nobody walks over the nodes made since `start` that some nodes are made of: they are computed as if no gradient had been
/// recorded.
pub(crate) fn forget<'a>(roots: impl IntoIterator<Item = &'a Node>, start: u64) {
    for node in reached(roots, |node| node.is_tracked() && node.sequence() >= start).values() {
        node.set_tracked(false);
    }
}

/// A shape with another axis before all others.
pub(crate) fn led(size: usize, shape: &Shape) -> Result<Shape> {
    let mut dims = vec![size];
    dims.extend(shape.iter().copied());
    Shape::new(&dims).map_err(|_| {
        let text =
            format!("a batch of {size} of shape {shape} has more axes, or elements, than a tensor can have");
        Error::new("vmap", ErrorKind::Shape(text))
    })
}
