//! What gradients are made of: values that were saved, and may have been written over since.

use super::leaf_of;
use crate::anomaly;
use crate::rules;
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{Kernel, Map, Node, Op, Overwritten, SourceKind, Sources};
use mg_kernels::{Algebra, Row};
use smallvec::SmallVec;

/// The value of a node that was written to, where the gradient reads it for what PyTorch saves apart: of a quotient, what is divided; of
/// kernels that say so, such as a pool, whose gradient asks where the largest elements stand.
fn computed_again(node: &Node, sources: &Sources) -> Result<Option<Node>> {
    match node.op() {
        Op::Map(Map::Row(row @ Row::Div)) => {
            let operands: SmallVec<[&Node; 2]> = sources.iter().collect();
            Ok(Some(Node::apply(*row, &operands)))
        }
        Op::Kernel(Kernel::Library(kernel)) if kernel.is_computed_again() => {
            let operands: SmallVec<[&Node; 2]> = sources.iter().collect();
            Node::library(*kernel, &operands).map(Some)
        }
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => Ok(None),
    }
}

/// The gradients of a node's sources, of which none must be made of a value that is not there any more.
pub(super) struct Shares<'a> {
    node: &'a Node,
    sources: &'a Sources,
    gradient: Node,
    /// Where the sources lie in the node, where that is said of all of them at once.
    places: rules::Places,
    /// What was overwritten of that what the gradients may read: looked for once for all sources.
    gone: SmallVec<[(&'a Node, Overwritten); 2]>,
}

impl<'a> Shares<'a> {
    pub(super) fn new(node: &'a Node, sources: &'a Sources, gradient: &'a Node) -> Shares<'a> {
        let places = rules::places(node, sources);
        let mut gone: SmallVec<[(&Node, Overwritten); 2]> = SmallVec::new();
        // Where elements lie is all that a view's gradient reads. (To ask what it is a view of would take as long as the way there.)
        if !matches!(node.op(), Op::View(_)) {
            // The node's own value is saved by the node itself.
            gone.extend(stale(node, node.sequence()).map(|found| (node, found)));
            gone.extend(sources.iter().filter_map(|s| Some((s, stale(s, node.sequence())?))));
        }
        // A gradient may be a value that was saved, a factor of something whose own gradient is 1. Where it is one that was written over
        // since, it was read rightly, unlike what a rule reads of that itself.
        let is_gone = gone.iter().any(|(n, _)| n.is(gradient));
        let gradient = if is_gone { gradient.alias() } else { gradient.clone() };
        Shares { node, sources, gradient, places, gone }
    }

    pub(super) fn of(&self, i: usize) -> Result<Option<Node>> {
        let rule = |node: &Node| rules::vjp(node, self.sources, i, &self.places, &self.gradient);
        if self.gone.is_empty() { rule(self.node) } else { fresh(self, rule) }
    }
}

/// What was written over a value after it was saved.
pub(super) fn stale(n: &Node, saved_by: u64) -> Option<Overwritten> {
    let overwritten = || n.overwritten().filter(|found| saved_by < found.since);
    let found = overwritten()?;
    let Some(leaf) = leaf_of(n) else { return Some(found) };
    // Where the writing has failed, and somebody was told of that, the leaf goes back to what it was.
    leaf.current();
    overwritten()
}

/// The error of a node whose gradient would be made of a value that was written over.
pub(super) fn changed(node: &Node, op: &str, value: &Node, found: &Overwritten) -> Error {
    anomaly::tell_stale(found.since);
    let what = format!(
        "{op} needs for its gradient a value of shape {} that was changed in place since{}",
        value.shape(),
        anomaly::saved_at(node)
    );
    let lines = format!(" (changed at {}, {op} at {})", found.line, node.location());
    let error = Error::new("backward", ErrorKind::Gradient(what));
    error.with_location(node.location()).with_aside(lines)
}

/// What a rule makes for a node of which something is gone: refused where it was made of that.
fn fresh(shares: &Shares, rule: impl Fn(&Node) -> Result<Option<Node>>) -> Result<Option<Node>> {
    let Shares { node, sources, ref gone, .. } = *shares;
    let before = mg_graph::next_sequence();
    let again = if gone.iter().any(|(n, _)| n.is(node)) { computed_again(node, sources)? } else { None };
    let share = rule(again.as_ref().unwrap_or(node))?;
    // Whatever the rule made is younger; what it made that of is what it has read.
    let mut stack: Vec<Node> = share.iter().cloned().collect();
    while let Some(made) = stack.pop() {
        let is_gone = gone.iter().find(|(n, _)| n.is(&made)).map(|&(_, found)| found);
        // A view of memory that others have, which knows nothing of what it is a view of.
        let is_gone = is_gone.or_else(|| made.written_over(node.sequence()));
        if let Some(found) = is_gone {
            return Err(changed(node, node.op().name(), &made, &found));
        }
        if made.sequence() >= before {
            match made.op() {
                // What only its own gradient reads was not read yet.
                Op::Kernel(Kernel::Library(kernel)) => {
                    stack.extend(made.sources().into_iter().take(kernel.computed_from()));
                }
                Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => {
                    stack.extend(made.sources());
                }
            }
        }
    }
    Ok(share)
}

/// A gradient that somebody may write to. One that is older than its walk, or a view of what is, is a value that the graph has saved, a factor
/// of something whose own gradient is 1: another node for it, which what is written to that value does not concern.
pub(super) fn not_saved(gradient: Node, began: u64) -> Node {
    if gradient.is_claimed() {
        return gradient;
    }
    let mut root = gradient.clone();
    while root.sequence() >= began && matches!(root.op(), Op::View(_)) {
        let Some(source) = root.sources().into_iter().next() else { return gradient };
        root = source;
    }
    match root.op() {
        _ if root.sequence() >= began => gradient,
        &Op::Source(SourceKind::Const { bits, literal }) if root.is(&gradient) => {
            Node::scalar_bits(bits, gradient.dtype(), gradient.device(), literal)
        }
        // Nothing is written to a number's memory.
        Op::Source(SourceKind::Const { .. }) => gradient,
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => gradient.alias(),
    }
}
