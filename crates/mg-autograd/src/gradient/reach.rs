//! Where a walk goes.

use super::behind::{self, End};
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
    oldest: u64,
    /// Nodes that were let go, of which is known that nothing wanted lies behind them.
    ended: Sequences,
}

impl Way {
    /// Whether a node that was let go, and no longer knows its sources, may have been computed from something that is wanted.
    pub(super) fn may_go_on(&self, node: &Node) -> bool {
        may_go_on(node, self.oldest) && !self.ended.contains(&node.sequence())
    }

    /// What else leads to what is wanted of this way, from results that were made since.
    pub(super) fn also(&self, seeds: &[(Node, Node)], wanted: impl Fn(&Node) -> bool) -> Sequences {
        leading(seeds, wanted, |_| true, self.oldest).nodes
    }
}

fn may_go_on(node: &Node, oldest: u64) -> bool {
    node.is_released() && oldest < node.sequence()
}

/// What a node leads on to.
pub(super) fn sources_of(node: &Node) -> Sources {
    match node.tag() {
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
    }
}

/// The way to what is wanted, of which nothing has a sequence below `oldest`. `is_end` says of what a node led to that was let go whether it is wanted.
pub(super) fn leading(
    seeds: &[(Node, Node)],
    wanted: impl Fn(&Node) -> bool,
    is_end: impl Fn(End) -> bool,
    oldest: u64,
) -> Way {
    let mut ended = Sequences::default();
    let mut met: BTreeMap<u64, (Sources, bool)> = BTreeMap::new();
    let mut stack: Vec<Node> = seeds.iter().map(|(node, _)| node.clone()).collect();
    while let Some(node) = stack.pop() {
        if met.contains_key(&node.sequence()) {
            continue;
        }
        let sources = sources_of(&node);
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
        let mut may_lead = wanted(&node);
        if !has_history && may_go_on(&node, oldest) {
            // As long as it knows its sources they say where it leads.
            if !sources.is_empty() || !behind::may_lead(&node, &is_end, oldest) {
                ended.insert(node.sequence());
            } else {
                may_lead = true;
            }
        }
        met.insert(node.sequence(), (sources, may_lead));
    }
    let mut nodes = Sequences::default();
    // Sources are older than what is computed from them.
    for (sequence, (sources, is_wanted)) in met {
        let goes_on = sources.iter().any(|s| nodes.contains(&s.sequence()));
        if goes_on {
            ended.remove(&sequence);
        }
        if is_wanted || goes_on {
            nodes.insert(sequence);
        }
    }
    Way { nodes, oldest, ended }
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
