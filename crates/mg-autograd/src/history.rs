//! The graph as a walk sees it: what computed a tensor, and what that was computed of.

use crate::function::Call;
use crate::gradient::leaf_of;
use crate::tensor::Tensor;
use mg_graph::{Node, Tag};

/// What a walk comes to: an operation that a tensor was computed by, or a leaf.
#[derive(Clone)]
pub struct History(Node);

impl History {
    fn of(node: &Node) -> (History, usize) {
        match node.tag() {
            Some(Tag::History(behind)) => History::of(behind),
            Some(Tag::Output(call, at)) => (History(call.clone()), *at),
            Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Call(_) | Tag::Replayed(_)) | None => {
                (History(node.clone()), 0)
            }
        }
    }

    /// The name of what computed a node.
    pub(crate) fn name_of(node: &Node) -> String {
        History(node.clone()).name()
    }

    /// The operation's name as PyTorch makes one of it: `MulBackward0`; `AccumulateGrad` for a leaf; the name of a function with a gradient
    /// of its own.
    pub fn name(&self) -> String {
        if let Some(call) = Call::of(&self.0) {
            return call.name().to_string();
        }
        if let Some(Tag::Owner(_)) = self.0.tag() {
            return "AccumulateGrad".into();
        }
        let mut name = String::new();
        for word in self.0.op().name().split('_') {
            let mut letters = word.chars();
            name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        name + "Backward0"
    }

    /// What it was computed of, as far as gradients flow there, and which result of that; `None` for constants. Nothing, once the graph
    /// was let go.
    pub fn next(&self) -> Vec<Option<(History, usize)>> {
        if let Some(Tag::Owner(_)) = self.0.tag() {
            return vec![];
        }
        let mut all: Vec<_> =
            self.0.sources().iter().map(|s| s.is_tracked().then(|| History::of(s))).collect();
        if let Some(Tag::Forgotten(behind)) = self.0.tag() {
            all.push(Some(History::of(behind)));
        }
        all
    }

    /// Whether it stands for a leaf.
    pub(crate) fn is_leaf(&self) -> bool {
        matches!(self.0.tag(), Some(Tag::Owner(_)))
    }

    pub(crate) fn node(&self) -> &Node {
        &self.0
    }

    /// The leaf, if it is one that is still there.
    pub fn leaf(&self) -> Option<Tensor> {
        leaf_of(&self.0)
    }

    /// A number that is another one for another operation.
    pub fn id(&self) -> u64 {
        self.0.sequence()
    }
}

impl Tensor {
    /// The operation that computed it, where it requires a gradient and is no leaf.
    pub fn grad_fn(&self) -> Option<History> {
        let is_asked = self.requires_grad();
        let node = self.current();
        (is_asked && !self.keeps_grad()).then(|| History::of(&node).0)
    }
}
