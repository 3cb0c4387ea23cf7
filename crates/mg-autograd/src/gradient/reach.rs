//! Where a walk goes.

use crate::jit;
use mg_graph::{Node, Sources, Tag, WordHasher};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasherDefault;

/// Sequences of nodes.
pub(super) type Sequences = HashSet<u64, BuildHasherDefault<WordHasher>>;

/// The way from a graph's results to what is wanted of it.
pub(crate) struct Way {
    /// The nodes that were computed from what is wanted, which belongs to them, by sequence.
    pub(super) nodes: Sequences,
    /// Nothing that is wanted has a sequence below this one.
    pub(super) oldest: u64,
}

/// Whether a node that was let go, and no longer knows its sources, may have been computed from something that is wanted.
pub(super) fn may_go_on(node: &Node, oldest: u64) -> bool {
    node.is_released() && oldest < node.sequence()
}

/// The way to what is wanted, of which nothing has a sequence below `oldest`.
pub(super) fn leading(seeds: &[(Node, Node)], wanted: impl Fn(&Node) -> bool, oldest: u64) -> Way {
    let mut met: BTreeMap<u64, (Sources, bool)> = BTreeMap::new();
    let mut stack: Vec<Node> = seeds.iter().map(|(node, _)| node.clone()).collect();
    while let Some(node) = stack.pop() {
        if met.contains_key(&node.sequence()) {
            continue;
        }
        let sources: Sources = match node.tag() {
            Some(Tag::Owner(_)) => Sources::new(),
            Some(Tag::History(history)) => [history.clone()].into_iter().collect(),
            Some(Tag::Forgotten(history)) => {
                let sources = node.sources().into_iter().filter(Node::is_tracked);
                sources.chain([history.clone()]).collect()
            }
            Some(Tag::Output(call, _)) => [call.clone()].into_iter().collect(),
            Some(Tag::Replayed(_) | Tag::Call(_)) | None => {
                node.sources().into_iter().filter(Node::is_tracked).collect()
            }
        };
        if mg_graph::is_recording() {
            // That something does not lead there is so of this history alone.
            sources.iter().filter(|source| source.sequence() < oldest).for_each(jit::note_passed);
            jit::note_passed(&node);
        }
        // What is older than all that is wanted is computed from none of it: a history of any length below is not looked at.
        stack.extend(sources.iter().filter(|source| oldest <= source.sequence()).cloned());
        // Where what was let go may lead on, the walk is to come there, and says so.
        let has_history =
            matches!(node.tag(), Some(Tag::Owner(_) | Tag::History(_) | Tag::Forgotten(_) | Tag::Output(..)));
        let may_lead = wanted(&node) || (!has_history && may_go_on(&node, oldest));
        met.insert(node.sequence(), (sources, may_lead));
    }
    let mut nodes = Sequences::default();
    // Sources are older than what is computed from them.
    for (sequence, (sources, is_wanted)) in met {
        if is_wanted || sources.iter().any(|s| nodes.contains(&s.sequence())) {
            nodes.insert(sequence);
        }
    }
    Way { nodes, oldest }
}

/// Where a walk goes.
#[derive(Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// To the leaves.
    All,
    /// To what is wanted.
    Only(&'a Way),
    /// Through these, to whatever they are made of.
    Within(&'a HashMap<u64, usize>),
}

impl Reach<'_> {
    /// Whether a walk goes on to a node.
    pub(super) fn leads(self, node: &Node) -> bool {
        match self {
            Reach::All | Reach::Within(_) => true,
            Reach::Only(way) => way.nodes.contains(&node.sequence()),
        }
    }
}
