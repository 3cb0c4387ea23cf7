//! Where replayed steps find what they read and change, and how they have it to themselves meanwhile.

use super::line::{Line, returned};
use super::node::{Held, make_leaf, own};
use super::{MemoryId, State, is_borrowed, locked};
use crate::tensor::{Cell, Tensor};
use mg_device::Layout;
use mg_graph::Node;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// A place where state is kept that a replayed step reads and changes.
#[derive(Clone)]
pub(crate) enum Place {
    /// A tensor, as far as it is no part of another.
    Tensor(Weak<Cell>),
    /// A memory that only views are known of.
    Line(Weak<Line>),
    /// The gradient of a tensor.
    Grad(Weak<Cell>),
}

/// The same, while it is used.
pub(crate) enum Kept {
    Tensor(Tensor),
    Line(Arc<Line>),
}

impl Place {
    pub(crate) fn of(tensor: &Tensor) -> Place {
        Place::Tensor(Arc::downgrade(&tensor.0))
    }

    pub(crate) fn find(&self) -> Option<Kept> {
        match self {
            Place::Tensor(cell) => Some(Kept::Tensor(Tensor(cell.upgrade()?))),
            Place::Line(line) => Some(Kept::Line(line.upgrade()?)),
            Place::Grad(cell) => locked(&cell.upgrade()?.grad).clone().map(Kept::Tensor),
        }
    }

    pub(crate) fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Tensor(a), Place::Tensor(b)) | (Place::Grad(a), Place::Grad(b)) => a.ptr_eq(b),
            (Place::Line(a), Place::Line(b)) => a.ptr_eq(b),
            (Place::Tensor(_) | Place::Grad(_) | Place::Line(_), _) => false,
        }
    }
}

impl Kept {
    /// All of the memory, with one history, that a tensor is or is a part of.
    pub(crate) fn all_of(tensor: &Tensor) -> Kept {
        match tensor.line_of_view() {
            Some(line) => Kept::Line(line),
            None => Kept::Tensor(tensor.clone()),
        }
    }

    pub(crate) fn is(&self, other: &Kept) -> bool {
        match (self, other) {
            (Kept::Tensor(a), Kept::Tensor(b)) => a.is(b),
            (Kept::Line(a), Kept::Line(b)) => Arc::ptr_eq(a, b),
            (Kept::Tensor(_) | Kept::Line(_), _) => false,
        }
    }

    /// Puts another node with the same value in place of the one that is there: another history.
    pub(crate) fn remade(&self, make: impl FnOnce(&Node) -> Node) {
        let shared = self.line().and_then(|line| locked(&line.state).shared.clone());
        let Some(old) = self.lend() else { return };
        let node = own(make(&old));
        if let Some(shared) = shared {
            locked(&shared.storage.state).given.add(&node);
        }
        self.put_back(node, None);
    }

    pub(crate) fn node(&self) -> Node {
        match self {
            Kept::Tensor(tensor) => tensor.current(),
            Kept::Line(line) => line.node(),
        }
    }

    pub(crate) fn memory_id(&self) -> MemoryId {
        match self {
            Kept::Tensor(tensor) => tensor.memory_id(),
            Kept::Line(line) => MemoryId::Shared(line.memory.id),
        }
    }

    /// The part of it that a layout among its elements reaches.
    pub(crate) fn part(&self, layout: Layout) -> Tensor {
        match self {
            Kept::Tensor(tensor) => tensor.part(layout),
            Kept::Line(line) => Tensor::of_part(line.clone(), layout, (None, None), mg_graph::line(), None),
        }
    }

    fn line(&self) -> Option<Arc<Line>> {
        match self {
            Kept::Line(line) => Some(line.clone()),
            Kept::Tensor(tensor) => match &*tensor.state() {
                State::Whole(line) => Some(line.clone()),
                State::Alone(_) | State::Part(_) => None,
            },
        }
    }

    /// Whether a step can have its value and put another in its place: all of a memory, which no other line sees.
    pub(crate) fn can_be_lent(&self) -> bool {
        let is_alone = match self.line() {
            Some(line) => !line.is_shared(),
            None => matches!(self, Kept::Tensor(tensor) if tensor.layout().is_none()),
        };
        is_alone && !is_borrowed(&self.node())
    }

    /// Whether a step has it now.
    pub(crate) fn is_lent(&self) -> bool {
        match self.line() {
            Some(line) => locked(&line.state).whole.is_none(),
            None => match self {
                Kept::Tensor(tensor) => matches!(&*locked(&tensor.0.state), State::Alone(None)),
                Kept::Line(_) => false,
            },
        }
    }

    /// Takes the node away: whoever asks for it waits until [`Kept::put_back`].
    pub(crate) fn lend(&self) -> Option<Node> {
        let taken = match self.line() {
            Some(line) => line.lock().whole.take(),
            None => match self {
                Kept::Tensor(tensor) => match &mut *tensor.state() {
                    State::Alone(held) => held.take(),
                    State::Whole(_) | State::Part(_) => None,
                },
                Kept::Line(_) => None,
            },
        };
        taken.map(Held::into_node)
    }

    /// Puts a node in place of the one that was lent: that one, or another that was written by a line.
    pub(crate) fn put_back(&self, node: Node, instead_of: Option<(&Node, &'static Location<'static>)>) {
        let leaf = match self {
            Kept::Tensor(tensor) if tensor.keeps_grad() => Arc::downgrade(&tensor.0),
            Kept::Tensor(_) => Weak::new(),
            Kept::Line(line) => locked(&line.state).leaf.clone(),
        };
        let mut node = node;
        if let Some((old, line)) = instead_of {
            node = own(node);
            if leaf.strong_count() > 0 {
                make_leaf(&node, &leaf);
            }
            node.note_written();
            // Nobody will ask what nobody else has.
            if !old.is_alone() {
                old.overwrite(line, mg_graph::next_sequence());
            }
        }
        if instead_of.is_some() {
            match self {
                Kept::Tensor(tensor) => tensor.count_write(),
                Kept::Line(line) => drop(line.memory.writes.fetch_add(1, Ordering::Relaxed)),
            }
        }
        let mut held = Some(Held::owned(node));
        // Not by way of those who wait for what is lent.
        let line = match self {
            Kept::Line(line) => Some(line.clone()),
            Kept::Tensor(tensor) => match &mut *locked(&tensor.0.state) {
                State::Alone(slot) => {
                    *slot = held.take();
                    None
                }
                State::Whole(line) => Some(line.clone()),
                State::Part(_) => None,
            },
        };
        if let (Some(line), Some(held)) = (line, held) {
            let mut state = locked(&line.state);
            if let Some((_, at)) = instead_of {
                state.given.overwrite(at, mg_graph::next_sequence());
            }
            state.whole = Some(held);
        }
        returned();
    }
}
