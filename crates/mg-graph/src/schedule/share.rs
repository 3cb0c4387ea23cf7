//! Values that are cheaper to store than to compute again.
//!
//! Computing an elementwise value where it is read costs nothing as long as one program reads it, or what it is
//! computed from is no larger than it. Down a chain of residual sums both are untrue: the sum after layer `n` is read by
//! the next norm, by that norm's gradient and by every later sum, and each of them would read the `n` branches again, so
//! that a network's traffic would grow as the square of its depth. Such a value is stored by one of the programs that
//! compute it, and the others read it.
//!
//! Likewise what is computed for each channel of a batch of images, a root and some quotients, would be computed for each
//! pixel by a program over all of them. (Not by one over rows, which computes a row's values once.)

use super::Graph;
use super::group::{Embed, Group, Groups, Split, squeeze};
use super::path::Path;
use crate::hash::Table;
use crate::op::{Map, Op, SourceKind};
use mg_kernels::Law;

/// Bytes that storing a value has to save: what a GPU moves while it starts a launch, should the value get one of its own.
const WORTH_ON_GPU: isize = 4 << 20;
/// As above, of a CPU, where a launch is nearly nothing and small values lie in caches.
const WORTH_ON_CPU: isize = 1 << 20;
/// Instructions that storing a value has to save, likewise.
const WORK_ON_GPU: usize = 1 << 26;
/// As above, of a CPU.
const WORK_ON_CPU: usize = 1 << 22;
/// Instructions for an element that are hidden behind the memory that a program reads and writes.
const HIDDEN: usize = 8;
/// Instructions that a random number takes: ten rounds of Philox, and of a normal one a logarithm, a root and a cosine.
const UNIFORM: usize = 32;
const NORMAL: usize = 100;
/// How many elements read a value that is computed for each of them; and one that random numbers are drawn for, which takes more than most.
const READERS: usize = 16;
const READERS_OF_DRAWN: usize = 4;
/// Programs that draw random numbers again, from which on they are stored. Dropout's mask, which a step and its gradient draw, takes no memory.
const DRAWN_AGAIN: usize = 3;

/// The elementwise values that are to be stored beside those that are.
pub(crate) fn worth_storing(graph: &Graph, groups: &Groups) -> Vec<usize> {
    let mut shared = Shared::new(graph, groups);
    let repeated = shared.repeated();
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
    stored.extend(repeated);
    stored.extend(shared.drawn_again());
    stored
}

struct Shared<'a, 'g> {
    graph: &'a Graph<'g>,
    groups: &'a Groups,
    /// The groups that compute each value.
    computed_by: Vec<Vec<usize>>,
    /// Values that are to be stored, and the group that does it.
    homes: Table<usize, usize>,
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
        let mut computed_by: Vec<Vec<usize>> = vec![vec![]; graph.nodes.len()];
        for (id, group) in groups.list.iter().enumerate() {
            for &(node, _) in group.iter().flat_map(programs).flat_map(|g| g.values.iter()) {
                let by = &mut computed_by[node];
                if by.last() != Some(&id) {
                    by.push(id);
                }
            }
        }
        let met = vec![0; graph.nodes.len()];
        Shared { graph, groups, computed_by, homes: Table::default(), met, walk: 0 }
    }

    /// Small values that programs compute for each of many elements that read them, with more work than their storing takes.
    fn repeated(&mut self) -> Vec<usize> {
        let graph = self.graph;
        // The elements for which each is computed: over all programs, and of the largest.
        let mut elements: Table<usize, [usize; 2]> = Table::default();
        for group in self.groups.list.iter().flatten().flat_map(programs) {
            if matches!(group.split, Split::Inner(_) | Split::Both(_)) {
                continue;
            }
            let space: usize = group.space.iter().product();
            let members = group.members.iter().filter(|m| m.embed == Embed::Same);
            let whole = members.flat_map(|m| graph.starts(m.node)).map(|(start, _)| start);
            let inner = group.values.iter().flat_map(|&(i, _)| {
                let is_whole = graph.nodes[i].shape.numel() == space && graph.is_inlined(i);
                graph.sources[i].iter().copied().filter(move |_| is_whole)
            });
            let mut read: Vec<usize> = whole.chain(inner).map(|s| graph.strip(s, &mut Path::new())).collect();
            read.sort_unstable();
            read.dedup();
            for v in read {
                let is_small = graph.nodes[v].shape.numel().saturating_mul(READERS_OF_DRAWN) <= space;
                if is_small && self.is_computed(v) {
                    let [all, most] = elements.entry(v).or_default();
                    (*all, *most) = (*all + space, space.max(*most));
                }
            }
        }
        let mut repeated: Vec<usize> = elements.keys().copied().collect();
        repeated.retain(|v| {
            let worth = self.worth_of_work(*v);
            let ([all, most], (work, draws)) = (elements[v], self.work(*v));
            let readers = if draws { READERS_OF_DRAWN } else { READERS };
            let is_small = graph.nodes[*v].shape.numel().saturating_mul(readers) <= most;
            is_small && work > HIDDEN && work.saturating_mul(all) >= worth
        });
        repeated.sort_unstable();
        repeated
    }

    /// Values of random numbers that several programs draw again, with more work than their storing takes; of those that the same programs read, the last.
    fn drawn_again(&mut self) -> Vec<usize> {
        let graph = self.graph;
        let mut drawn = vec![];
        for v in 0..graph.nodes.len() {
            let further = self.computed_by[v].len().saturating_sub(1);
            if further < DRAWN_AGAIN || !self.is_computed(v) {
                continue;
            }
            let worth = self.worth_of_work(v);
            let (work, draws) = self.work(v);
            let all = graph.nodes[v].shape.numel().saturating_mul(further).saturating_mul(work);
            if draws && all >= worth {
                drawn.push(v);
            }
        }
        let readers = |v: usize| graph.sources[v].iter().map(move |&s| (graph.strip(s, &mut Path::new()), v));
        let is_under: Vec<usize> = drawn
            .iter()
            .flat_map(|&v| readers(v))
            .filter(|&(under, v)| self.computed_by[under] == self.computed_by[v])
            .map(|(under, _)| under)
            .collect();
        drawn.retain(|v| !is_under.contains(v));
        drawn
    }

    /// Whether programs compute `v` where they read it.
    fn is_computed(&self, v: usize) -> bool {
        let computes = matches!(self.graph.nodes[v].op, Op::Map(Map::Row(_) | Map::Cast));
        computes && self.graph.is_inlined(v) && self.graph.needed[v]
    }

    /// Instructions that an element of `v` takes, with what is computed below it; and whether random numbers are drawn for it.
    fn work(&mut self, v: usize) -> (usize, bool) {
        self.walk += 1;
        let graph = self.graph;
        let (mut stack, mut work, mut draws) = (vec![v], 0, false);
        while let Some(read) = stack.pop() {
            let i = graph.strip(read, &mut Path::new());
            if std::mem::replace(&mut self.met[i], self.walk) == self.walk {
                continue;
            }
            match &graph.nodes[i].op {
                Op::Source(SourceKind::Random { law, .. }) if graph.argument[i] => {
                    draws = true;
                    work += match law {
                        Law::Uniform => UNIFORM,
                        Law::Normal => NORMAL,
                    };
                }
                op if graph.is_inlined(i) => {
                    if let Op::Map(Map::Row(row)) = op {
                        work += row.cost();
                    }
                    stack.extend(&graph.sources[i]);
                }
                Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => {}
            }
        }
        (work, draws)
    }

    fn bytes(&self, v: usize) -> isize {
        let node = self.graph.nodes[v];
        (node.shape.numel() * node.dtype.size()) as isize
    }

    fn worth(&self, v: usize) -> isize {
        if self.graph.nodes[v].device.is_cuda() { WORTH_ON_GPU } else { WORTH_ON_CPU }
    }

    fn worth_of_work(&self, v: usize) -> usize {
        if self.graph.nodes[v].device.is_cuda() { WORK_ON_GPU } else { WORK_ON_CPU }
    }

    /// Whether the most that storing `v` can save is enough: each further program that computes it reads it instead of all
    /// that lies below.
    fn could_pay(&mut self, v: usize) -> bool {
        if !self.graph.is_inlined(v) || !matches!(self.graph.nodes[v].op, Op::Map(_)) {
            return false;
        }
        let further = self.computed_by[v].len() as isize - 1;
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
                && g.values.has((v, 0))
                && match g.split {
                    // If it is turned, the value will be, too: what it is read for is.
                    Split::All | Split::None => true,
                    split => split.keeps_order(space.len()),
                }
        };
        self.computed_by[v]
            .iter()
            .copied()
            .find(|&id| self.groups.list[id].iter().flat_map(programs).any(stores))
    }

    /// Bytes that storing `v` saves, beyond those of writing it.
    fn gain(&mut self, v: usize, home: usize) -> isize {
        let own = self.bytes(v);
        let mut gain = -own;
        for id in self.computed_by[v].clone() {
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
        for group in self.groups.list[id].iter().flat_map(programs) {
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
