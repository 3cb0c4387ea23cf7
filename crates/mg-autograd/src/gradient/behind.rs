//! Where nodes led that were let go: their sources, and the memory of these, are gone, but a walk that asks for something else need not be refused
//! for their sake.

use super::reach::{Sequences, sources_of};
use super::{Passed, owner};
use crate::tensor::Tensor;
use mg_graph::{Node, Tag, WordHasher};
use std::any::Any;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// How many walks know of each other at most, each of what was let go before it. Where more follow each other, of what lies behind is known which
/// leaves it leads to: a chain of any length is neither kept nor dropped by recursion.
const DEEPEST: usize = 256;

/// Of all that a walk has let go: what led to what, by sequence.
pub(super) struct LetGo {
    /// Nodes in order, and where what each led to stands in `to`.
    nodes: Vec<(u64, Range<u32>)>,
    to: Vec<u64>,
    /// What lies behind those that the walk has not passed.
    rims: HashMap<u64, Rim, BuildHasherDefault<WordHasher>>,
    depth: usize,
}

/// What lies behind a node that a walk has not passed.
enum Rim {
    Leaf(Weak<dyn Any + Send + Sync>),
    LetGo(Arc<LetGo>),
    /// These leaves, and results of which nothing is known but that they are older.
    Far(Vec<Weak<dyn Any + Send + Sync>>),
    /// Nothing is known: it may be anything that is older.
    Unknown,
}

/// What a node that was let go has led to.
pub(super) enum End<'a> {
    Node(u64),
    Leaf(&'a Tensor),
    /// Results that are older than this sequence.
    Older(u64),
}

fn known_of(node: &Node) -> Option<Arc<LetGo>> {
    node.behind()?.clone().downcast().ok()
}

impl LetGo {
    /// Of what a walk has passed, youngest first.
    pub(super) fn of(passed: &Passed) -> LetGo {
        let mut let_go =
            LetGo { nodes: Vec::with_capacity(passed.len()), to: vec![], rims: HashMap::default(), depth: 0 };
        let mut rim: Vec<Node> = vec![];
        for node in passed {
            let sources = sources_of(node);
            let_go.note(node, &sources);
            rim.extend(sources);
        }
        let mut passed: Sequences = passed.iter().map(Node::sequence).collect();
        while let Some(node) = rim.pop() {
            if !passed.insert(node.sequence()) {
                continue;
            }
            match node.tag() {
                Some(Tag::Owner(leaf)) => drop(let_go.rims.insert(node.sequence(), Rim::Leaf(leaf.clone()))),
                // It leads to what it was, which may have been passed.
                Some(Tag::History(_) | Tag::Output(..)) => {
                    let sources = sources_of(&node);
                    let_go.note(&node, &sources);
                    rim.extend(sources);
                }
                Some(Tag::Forgotten(_) | Tag::Replayed(_) | Tag::Call(_)) | None => let_go.end_at(&node),
            }
        }
        let_go.nodes.sort_unstable_by_key(|(sequence, _)| *sequence);
        let_go
    }

    /// What a node led to, if that is known here.
    fn behind(&self, sequence: u64) -> Option<&[u64]> {
        let at = self.nodes.binary_search_by_key(&sequence, |(of, _)| *of).ok()?;
        let Range { start, end } = &self.nodes[at].1;
        Some(&self.to[*start as usize..*end as usize])
    }

    fn note(&mut self, node: &Node, sources: &[Node]) {
        let is_known = match node.tag() {
            // A replay's answer finds what it was made of when that is asked for.
            Some(Tag::Replayed(_)) => false,
            Some(Tag::History(_) | Tag::Output(..)) => true,
            // Another walk may have let it go meanwhile. (The sources were asked for before.)
            Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Call(_)) | None => !node.is_released(),
        };
        if !is_known {
            return self.end_at(node);
        }
        let start = self.to.len() as u32;
        self.to.extend(sources.iter().map(Node::sequence));
        self.nodes.push((node.sequence(), start..self.to.len() as u32));
    }

    /// Nothing more is known of a node than what another walk does.
    fn end_at(&mut self, node: &Node) {
        let rim = match known_of(node) {
            Some(other) if other.depth >= DEEPEST => {
                far(&other, node.sequence()).map_or(Rim::Unknown, Rim::Far)
            }
            Some(other) => {
                self.depth = self.depth.max(other.depth + 1);
                Rim::LetGo(other)
            }
            None => Rim::Unknown,
        };
        self.rims.insert(node.sequence(), rim);
    }
}

/// Where a way through what was let go comes to.
enum Met<'a> {
    Node(u64),
    Leaf(&'a Weak<dyn Any + Send + Sync>),
    Older(u64),
    Unknown(u64),
}

/// Tells of all that a node led to which was let go, until `stops` answers that it has enough; answers with whether it did.
fn visit(known: &LetGo, of: u64, oldest: u64, mut stops: impl FnMut(Met) -> bool) -> bool {
    let Some(first) = known.behind(of) else { return stops(Met::Unknown(of)) };
    let mut stack: Vec<(&LetGo, u64)> = first.iter().map(|sequence| (known, *sequence)).collect();
    let mut met = Sequences::default();
    while let Some((at, sequence)) = stack.pop() {
        if sequence < oldest || !met.insert(sequence) {
            continue;
        }
        if stops(Met::Node(sequence)) {
            return true;
        }
        let (at, behind) = match at.rims.get(&sequence) {
            Some(Rim::Leaf(leaf)) => {
                if stops(Met::Leaf(leaf)) {
                    return true;
                }
                continue;
            }
            Some(Rim::Far(leaves)) => {
                if stops(Met::Older(sequence)) || leaves.iter().any(|leaf| stops(Met::Leaf(leaf))) {
                    return true;
                }
                continue;
            }
            Some(Rim::LetGo(other)) => (&**other, other.behind(sequence)),
            Some(Rim::Unknown) => (at, None),
            None => (at, at.behind(sequence)),
        };
        match behind {
            Some(behind) => stack.extend(behind.iter().map(|sequence| (at, *sequence))),
            None if stops(Met::Unknown(sequence)) => return true,
            None => {}
        }
    }
    false
}

/// The leaves that a node led to and that are still there, if all are known.
fn far(known: &LetGo, of: u64) -> Option<Vec<Weak<dyn Any + Send + Sync>>> {
    let mut leaves = HashMap::new();
    let is_unknown = visit(known, of, 0, |met| {
        if let Met::Leaf(leaf) = met
            && leaf.strong_count() > 0
        {
            leaves.insert(leaf.as_ptr().addr(), leaf.clone());
        }
        matches!(met, Met::Unknown(_))
    });
    (!is_unknown).then(|| leaves.into_values().collect())
}

/// Whether a node that was let go may have been computed from something that is wanted, of which nothing has a sequence below `oldest`.
pub(super) fn may_lead(node: &Node, is_end: impl Fn(End) -> bool, oldest: u64) -> bool {
    let Some(known) = known_of(node) else { return true };
    visit(&known, node.sequence(), oldest, |met| match met {
        Met::Node(sequence) => is_end(End::Node(sequence)),
        Met::Leaf(leaf) => owner(leaf).is_some_and(|leaf| is_end(End::Leaf(&leaf))),
        Met::Older(than) => is_end(End::Older(than)),
        Met::Unknown(sequence) => oldest < sequence,
    })
}
