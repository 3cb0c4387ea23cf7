//! Values that several programs would compute again from more memory than they take themselves.
//!
//! Computing an elementwise value where it is read costs nothing as long as one program reads it, or what it is
//! computed from is no larger than it. Down a chain of residual sums both are untrue: the sum after layer `n` is read by
//! the next norm, by that norm's gradient and by every later sum, and each of them would read the `n` branches again, so
//! that a network's traffic would grow as the square of its depth. Such a value is stored by one of the programs that
//! compute it, and the others read it.

use super::Graph;
use super::group::{Group, Groups, Split, squeeze};
use super::path::Path;
use crate::op::Op;
use std::collections::HashMap;

/// Bytes that storing a value has to save: what a GPU moves while it starts a launch, should the value get one of its own.
const WORTH_ON_GPU: isize = 4 << 20;
/// As above, of a CPU, where a launch is nearly nothing and small values lie in caches.
const WORTH_ON_CPU: isize = 1 << 20;

/// The elementwise values that are to be stored beside those that are.
pub(crate) fn worth_storing(graph: &Graph, groups: &Groups) -> Vec<usize> {
    let mut shared = Shared::new(graph, groups);
    for v in 0..graph.nodes.len() {
        if shared.could_pay(v) {
            let Some(home) = shared.home(v) else { continue };
            if shared.gain(v, home) >= shared.worth(v) {
                shared.homes.insert(v, home);
            }
        }
    }
    // What pays by itself may not pay any more where the values above it are stored too.
    let mut stored: Vec<usize> = shared.homes.keys().copied().collect();
    stored.sort_unstable();
    for &v in stored.iter().rev() {
        if let Some(home) = shared.homes.remove(&v)
            && shared.gain(v, home) >= shared.worth(v)
        {
            shared.homes.insert(v, home);
        }
    }
    stored.retain(|v| shared.homes.contains_key(v));
    stored
}

struct Shared<'a, 'g> {
    graph: &'a Graph<'g>,
    groups: &'a Groups,
    /// The groups that compute each value.
    computed_by: HashMap<usize, Vec<usize>>,
    /// Values that are to be stored, and the group that does it.
    homes: HashMap<usize, usize>,
    /// The walk that last met each node.
    met: Vec<u32>,
    walk: u32,
}

/// What a walk down from a value or a program finds.
#[derive(Default)]
struct Found {
    /// Bytes read from memory.
    bytes: isize,
    /// Whether the value was met that the walk passes by.
    met: bool,
}

impl<'a, 'g> Shared<'a, 'g> {
    fn new(graph: &'a Graph<'g>, groups: &'a Groups) -> Self {
        let mut computed_by: HashMap<usize, Vec<usize>> = HashMap::new();
        for (id, group) in groups.list.iter().enumerate() {
            for &(node, _) in group.iter().flat_map(|g| programs(g)).flat_map(|g| &g.values) {
                let by = computed_by.entry(node).or_default();
                if by.last() != Some(&id) {
                    by.push(id);
                }
            }
        }
        let met = vec![0; graph.nodes.len()];
        Shared { graph, groups, computed_by, homes: HashMap::new(), met, walk: 0 }
    }

    fn bytes(&self, v: usize) -> isize {
        let node = self.graph.nodes[v];
        (node.shape.numel() * node.dtype.size()) as isize
    }

    fn worth(&self, v: usize) -> isize {
        if self.graph.nodes[v].device.is_cuda() { WORTH_ON_GPU } else { WORTH_ON_CPU }
    }

    /// Whether the most that storing `v` can save is enough: each further program that computes it reads it instead of all
    /// that lies below.
    fn could_pay(&mut self, v: usize) -> bool {
        if !self.graph.is_inlined(v) || !matches!(self.graph.nodes[v].op, Op::Map(_)) {
            return false;
        }
        let further = self.computed_by.get(&v).map_or(0, |by| by.len() as isize - 1);
        if further < 1 {
            return false;
        }
        let (own, worth) = (self.bytes(v), self.worth(v));
        let below = self.below(v);
        further * (below - own) - own >= worth
    }

    /// A program that computes `v` in the order in which it would lie in memory, and so can store it.
    fn home(&self, v: usize) -> Option<usize> {
        let space = squeeze(&self.graph.nodes[v].shape);
        let stores = |g: &Group| {
            g.space == space
                && g.values.contains(&(v, 0))
                && match g.split {
                    Split::All | Split::None => true,
                    split => split.keeps_order(space.len()),
                }
        };
        let by = self.computed_by.get(&v)?;
        by.iter().copied().find(|&id| self.groups.list[id].iter().flat_map(|g| programs(g)).any(stores))
    }

    /// Bytes that storing `v` saves, beyond those of writing it.
    fn gain(&mut self, v: usize, home: usize) -> isize {
        let own = self.bytes(v);
        let mut gain = -own;
        for id in self.computed_by.get(&v).cloned().unwrap_or_default() {
            if id != home {
                let without = self.read_by(id, Some(v));
                if without.met {
                    gain += self.read_by(id, None).bytes - without.bytes - own;
                }
            }
        }
        gain
    }

    /// Bytes that `v` is computed from.
    fn below(&mut self, v: usize) -> isize {
        self.walk += 1;
        let mut stack: Vec<usize> = self.graph.sources[v].to_vec();
        self.down(&mut stack, None, None).bytes
    }

    /// What a group reads, where `passed` is not computed.
    fn read_by(&mut self, id: usize, passed: Option<usize>) -> Found {
        self.walk += 1;
        let mut stack = vec![];
        for group in self.groups.list[id].iter().flat_map(|g| programs(g)) {
            for member in &group.members {
                stack.extend(self.graph.starts(member.node).into_iter().map(|(start, _)| start));
            }
        }
        // What the group stores for others it computes, whoever reads it.
        self.down(&mut stack, passed, Some(id))
    }

    fn down(&mut self, stack: &mut Vec<usize>, passed: Option<usize>, group: Option<usize>) -> Found {
        let graph = self.graph;
        let mut found = Found::default();
        while let Some(read) = stack.pop() {
            let i = graph.strip(read, &mut Path::new());
            if std::mem::replace(&mut self.met[i], self.walk) == self.walk {
                continue;
            }
            let is_stored = match self.homes.get(&i) {
                Some(&home) => Some(home) != group,
                None => !graph.is_inlined(i),
            };
            if passed == Some(i) {
                found.met = true;
            } else if !is_stored {
                stack.extend(&graph.sources[i]);
            } else if !graph.argument[i] {
                let seen = graph.nodes[read].shape.numel() * graph.nodes[i].dtype.size();
                found.bytes += self.bytes(i).min(seen as isize);
            }
        }
        found
    }
}

/// The programs of a launch: a group, and what it does before it stores.
fn programs(group: &Group) -> impl Iterator<Item = &Group> {
    std::iter::once(group).chain(group.epilogue.as_deref())
}
