//! Nodes that tensors stand for: one is one tensor's alone, and what is written to it keeps or begins a history.

use super::{is_borrowed, may_be_borrowed, settle};
use crate::gradient::no_grad;
use crate::tensor::Cell;
use mg_graph::{Node, Tag, WeakNode};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::HashSet;
use std::panic::Location;
use std::sync::Weak;

/// Nodes that are dropped when no lock is held: their memory may be somebody's who looks at the tensor when it goes.
pub(super) type Garbage = SmallVec<[Held; 2]>;

/// A node that a tensor stands for, and no other does.
pub(crate) struct Held {
    pub(super) node: Node,
    /// Somebody holds it for whom the engine computes it; not so a gradient that nobody has read.
    pub(super) counted: bool,
}

impl Held {
    pub(crate) fn new(node: Node) -> Held {
        Held::owned(own(node))
    }

    /// Of a node that was made a tensor's own.
    pub(super) fn owned(node: Node) -> Held {
        node.hold();
        Held { node, counted: true }
    }

    /// Of which nobody knows yet.
    pub(crate) fn unread(node: Node) -> Held {
        Held { node: own(node), counted: false }
    }

    /// The node, unless computing it has failed: see [`Held::current`].
    #[inline]
    pub(super) fn sound(&self) -> Option<&Node> {
        match self.node.value() {
            Some(Err(_)) => None,
            Some(Ok(_)) | None => Some(&self.node),
        }
    }

    /// The node; what it stood for before, where computing it failed and somebody was told of that.
    pub(super) fn current(&mut self, garbage: &mut Garbage) -> Node {
        while let Some(Err(error)) = self.node.value()
            && error.is_reported()
            && let Some(before) = self.node.before()
        {
            before.hold();
            before.take_back_overwrite();
            // Several writes may have failed together, of which one was told.
            let _ = mg_graph::realize_quietly(&[&before]);
            let failed = std::mem::replace(&mut self.node, before);
            garbage.push(Held { node: failed, counted: std::mem::replace(&mut self.counted, true) });
        }
        self.node.clone()
    }

    /// Computes what must not wait.
    pub(crate) fn settle(&self) {
        settle(&self.node);
    }

    /// With memory of its own, where the value is in somebody else's: an operation may answer with a view of its operand.
    #[track_caller]
    pub(crate) fn apart(self) -> Held {
        if !(self.node.reads_borrowed() && is_borrowed(&self.node)) {
            return self;
        }
        let held = Held::new(self.node.copy());
        held.settle();
        held
    }

    pub(super) fn into_node(mut self) -> Node {
        if std::mem::replace(&mut self.counted, false) {
            self.node.let_go();
        }
        self.node.clone()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.counted {
            self.node.let_go();
        }
    }
}

/// The node itself, if it is no tensor's yet; else another for the same value.
#[track_caller]
pub(super) fn own(node: Node) -> Node {
    if node.claim() {
        return node;
    }
    // Of memory that is somebody else's, one tensor is enough.
    let other = if may_be_borrowed(&node) { node.copy() } else { node.alias() };
    other.claim();
    other
}

/// A node with the same value (or failure) and no history.
#[track_caller]
pub(crate) fn untracked(node: &Node) -> Node {
    without_history(node, Node::alias)
}

/// As [`untracked`], on the same memory: what is written there is written to both.
#[track_caller]
pub(super) fn untracked_view(node: &Node) -> Node {
    without_history(node, Node::all_of)
}

#[track_caller]
fn without_history(node: &Node, other: impl Fn(&Node) -> Node) -> Node {
    match node.value() {
        Some(Ok(value)) if !mg_graph::is_recording() => Node::from_value(value.clone()),
        Some(Err(error)) => Node::failed(error.clone(), node),
        Some(Ok(_)) | None => {
            // The value is pending: another node for it that nobody walks through.
            let other = other(node);
            other.set_tracked(false);
            other
        }
    }
}

/// As [`untracked`], for another tensor: not in memory that is somebody else's.
#[track_caller]
pub(crate) fn apart(node: &Node) -> Node {
    if !is_borrowed(node) {
        return untracked(node);
    }
    let _guard = no_grad();
    node.copy()
}

/// Where a walk over the graph goes on that comes to something with this history: what graphs have of it.
pub(super) fn behind(history: &Node) -> Node {
    match history.tag() {
        Some(Tag::History(behind)) => behind.clone(),
        Some(Tag::Forgotten(_) | Tag::Owner(_) | Tag::Replayed(_) | Tag::Output(..) | Tag::Call(_))
        | None => history.clone(),
    }
}

/// What a write goes back to that leaves nothing of something with this history. Writes of the same kind before it have left nothing
/// either: they are not gone through, however many there were.
fn forgotten(history: &Node) -> Node {
    let mut at = behind(history);
    while let Some(before) = left_nothing(&at) {
        at = behind(&before);
    }
    at
}

/// What was there before a write through which nothing flows, neither to what was written nor to what was there.
fn left_nothing(node: &Node) -> Option<Node> {
    match node.tag() {
        Some(Tag::Forgotten(before))
            if !node.is_released() && !node.sources().iter().any(Node::is_tracked) =>
        {
            Some(before.clone())
        }
        Some(
            Tag::Forgotten(_)
            | Tag::History(_)
            | Tag::Owner(_)
            | Tag::Replayed(_)
            | Tag::Output(..)
            | Tag::Call(_),
        )
        | None => None,
    }
}

/// A node with the value of `value`, through which gradients flow to `history`.
#[track_caller]
pub(super) fn grafted(value: &Node, history: &Node) -> Node {
    graft(untracked(value), history)
}

/// A node of which nobody knows yet, with gradients that flow to `history`.
pub(super) fn graft(node: Node, history: &Node) -> Node {
    node.set_tracked(true);
    node.set_tag(Tag::History(behind(history)));
    node
}

/// What is written to something with a history. Without recording gradients only the numbers change. Where nothing that is
/// written has a history of its own, the tensor keeps its, and the gradient ends there as zeros. (A leaf has no history.)
#[track_caller]
pub(super) fn with_history(value: Node, old: &Node, leaf: bool, since: u64) -> Node {
    if leaf || !old.is_tracked() {
        return value;
    }
    if !mg_graph::is_tracking() {
        return grafted(&value, old);
    }
    let node = if value.is_tracked() {
        if is_made_of(&value, old, since) {
            return value;
        }
        // Gradients flow to what was written, and as zeros to what was there.
        value.alias()
    } else {
        untracked(&value)
    };
    node.set_tracked(true);
    node.set_tag(Tag::Forgotten(forgotten(old)));
    node
}

/// Whether gradients flow through a node to what it was computed of: it is no leaf's, and its graph was not let go.
pub(crate) fn has_history(node: &Node) -> bool {
    node.is_tracked() && !matches!(node.tag(), Some(Tag::Owner(_))) && !node.is_released()
}

/// Whether an operation in place, whose nodes are no older than `since`, has made a value of what was there before.
pub(super) fn is_made_of(value: &Node, old: &Node, since: u64) -> bool {
    let mut stack: SmallVec<[Node; 8]> = SmallVec::new();
    stack.push(value.clone());
    let mut met = HashSet::new();
    while let Some(node) = stack.pop() {
        if node.is(old) {
            return true;
        }
        if node.sequence() >= since && met.insert(node.sequence()) {
            stack.extend(node.sources());
        }
    }
    false
}

/// Makes a node that of a leaf: gradients end there.
pub(super) fn make_leaf(node: &Node, leaf: &Weak<Cell>) {
    node.set_tracked(true);
    let owner: Weak<dyn Any + Send + Sync> = leaf.clone();
    node.set_tag(Tag::Owner(owner));
    // What computed the value is not walked, and must not be kept alive by it.
    node.release();
}

/// Nodes that were made of a memory since it was last written.
#[derive(Default)]
pub(super) struct Given {
    pub(super) nodes: Vec<WeakNode>,
    /// How many there may be before those that are gone are looked for.
    pub(super) bound: usize,
}

impl Given {
    pub(super) fn add(&mut self, node: &Node) {
        if self.nodes.len() >= self.bound.max(8) {
            self.nodes.retain(|weak| !weak.is_gone());
            self.bound = 2 * self.nodes.len();
        }
        self.nodes.push(node.downgrade());
    }

    pub(super) fn alive(&self) -> Vec<Node> {
        self.nodes.iter().filter_map(WeakNode::upgrade).collect()
    }

    pub(super) fn overwrite(&mut self, line: &'static Location<'static>, since: u64) {
        for node in self.nodes.drain(..).filter_map(|weak| weak.upgrade()) {
            node.overwrite(line, since);
        }
    }
}
