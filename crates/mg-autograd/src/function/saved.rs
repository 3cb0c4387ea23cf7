//! What a call keeps for its gradient.

use super::result_of;
use crate::tensor::Tensor;
use crate::tensor::memory::{locked, untracked};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Node, WeakNode};
use std::sync::{Mutex, OnceLock};

/// Tensors that a call has kept for its gradient.
pub struct Saved {
    entries: Mutex<Option<Vec<Entry>>>,
    /// The call's node, which keeps this.
    call: OnceLock<WeakNode>,
}

#[derive(Clone)]
pub(super) enum Entry {
    None,
    /// A tensor, and the node that it stood for.
    Tensor(Tensor, Node),
    /// A result: its value without history, which would lead back to here.
    Result(Node, usize),
}

impl Entry {
    pub(super) fn of(
        tensor: Option<&Tensor>,
        results: &[Tensor],
        as_it_came: impl Fn(&Tensor) -> bool,
    ) -> Entry {
        let Some(tensor) = tensor else { return Entry::None };
        match results.iter().position(|t| t.is(tensor)) {
            Some(at) if !as_it_came(tensor) => Entry::Result(untracked(&tensor.node()), at),
            _ => Entry::Tensor(tensor.clone(), tensor.node()),
        }
    }
}

impl Saved {
    pub(super) fn new(entries: Vec<Entry>) -> Saved {
        Saved { entries: Mutex::new(Some(entries)), call: OnceLock::new() }
    }

    pub(super) fn belongs_to(&self, call: &Node) {
        let _ = self.call.set(call.downgrade());
    }

    /// The nodes of the tensors.
    pub(super) fn nodes(&self) -> Vec<Node> {
        let of = |entry: &Entry| match entry {
            Entry::Tensor(_, node) | Entry::Result(node, _) => Some(node.clone()),
            Entry::None => None,
        };
        locked(&self.entries).iter().flatten().filter_map(of).collect()
    }

    pub(super) fn release(&self) {
        let entries = locked(&self.entries).take();
        drop(entries);
    }

    /// The tensors, with their histories.
    ///
    /// # Errors
    ///
    /// One that was changed in place since; a graph that was let go.
    pub fn tensors(&self) -> Result<Vec<Option<Tensor>>> {
        let error = |text: String| Error::new("saved_tensors", ErrorKind::Gradient(text));
        let Some(entries) = locked(&self.entries).clone() else {
            return Err(error(
                "the graph was let go after an earlier backward; pass retain_graph=True to that one".into(),
            ));
        };
        let mut out = Vec::with_capacity(entries.len());
        for entry in entries {
            out.push(match entry {
                Entry::None => None,
                Entry::Tensor(tensor, node) => match (tensor.current().is(&node), node.overwritten()) {
                    (true, _) => Some(tensor),
                    (false, None) => Some(Tensor::from_node(node)),
                    (false, Some(found)) => {
                        crate::anomaly::tell_stale(found.since);
                        let text =
                            format!("a saved tensor of shape {} was changed in place since", node.shape());
                        return Err(error(text).with_aside(format!(" (changed at {})", found.line)));
                    }
                },
                Entry::Result(value, at) => match self.call.get().and_then(WeakNode::upgrade) {
                    Some(call) => Some(Tensor::from_node(result_of(&call, at, &value))),
                    None => Some(Tensor::from_node(untracked(&value))),
                },
            });
        }
        Ok(out)
    }
}
