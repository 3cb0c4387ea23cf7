//! From a pending graph to launches.
//!
//! 1. [`store`] decides which values get memory (*anchors*): what was asked for, what library kernels read and write,
//!    reductions, and elementwise work that would be too long to compute where it is read. Everything else is computed
//!    where it is read. [`channels`] decides which of them lie otherwise than row by row.
//! 2. [`group`] joins anchors over the same space into programs: a reader with what it reads (rows keep the results of
//!    their reductions), and neighbours that share an operand. A matrix product takes the elementwise work that follows
//!    it as its epilogue.
//! 3. [`share`] finds what several programs compute again from more memory than it takes: it is stored, and 1 and 2 are
//!    done once more.
//! 4. [`emit`] writes each program down.
//! 5. [`memory`] makes the plan: [`order`] has the launches in order, of which [`together`] puts side by side what is one launch,
//!    [`lower`] says what each does and where its results lie, [`checks`] what nobody may overwrite before a device has refused
//!    nothing, and [`arena`] where temporary values lie.

mod arena;
mod channels;
mod checks;
mod emit;
mod epilogue;
mod group;
mod lower;
mod memory;
mod order;
mod path;
mod share;
mod sorted;
mod store;
#[cfg(test)]
mod tests;
mod together;

use crate::engine::{Collected, Root, is_argument};
use crate::hash::Table;
use crate::node::Inner;
use crate::op::Op;
use crate::plan::Plan;
use mg_device::Result;
use smallvec::SmallVec;
use std::cell::{OnceCell, RefCell};
use std::collections::hash_map::Entry;

/// The pending graph as the scheduler sees it: nodes by position, sources first.
pub(crate) struct Graph<'a> {
    pub(crate) nodes: &'a [&'a Inner],
    pub(crate) collected: &'a Collected<'a>,
    pub(crate) sources: Vec<SmallVec<[usize; 3]>>,
    /// The value is known.
    pub(crate) known: Vec<bool>,
    /// Scalars, ramps, random numbers: arguments of launches.
    pub(crate) argument: Vec<bool>,
    /// A required root is computed from it.
    pub(crate) needed: Vec<bool>,
    /// It has memory of its own in this plan.
    pub(crate) stored: Vec<bool>,
    /// Somebody can ask for its value after this plan.
    pub(crate) kept: Vec<bool>,
    /// It lies with its axis 1 innermost, in the memory that it has in this plan.
    pub(crate) innermost: Vec<bool>,
    /// A reduction of what lies so.
    pub(crate) across: Vec<bool>,
    places: RefCell<path::Places>,
    successors: OnceCell<Successors>,
}

/// By the address of a node that a tensor has stood for: the last node of the graph that the tensor will stand for.
type Successors = Table<usize, usize>;

impl<'a> Graph<'a> {
    fn new(collected: &'a Collected<'a>) -> Graph<'a> {
        let n = collected.nodes.len();
        let mut graph = Graph {
            nodes: &collected.nodes,
            collected,
            sources: (0..n).map(|i| collected.sources(i).collect()).collect(),
            known: collected.nodes.iter().map(|node| node.value.get().is_some()).collect(),
            argument: collected.nodes.iter().map(|node| is_argument(node)).collect(),
            needed: vec![false; n],
            stored: vec![false; n],
            kept: vec![false; n],
            innermost: vec![false; n],
            across: vec![false; n],
            places: RefCell::default(),
            successors: OnceCell::new(),
        };
        for i in (0..n).rev() {
            let info = collected.info[i];
            graph.needed[i] |= info.root == Root::Required;
            graph.kept[i] |= info.external;
            let realised = graph.needed[i]
                && (info.root == Root::Required
                    || matches!(graph.nodes[i].op, Op::Reduce(..) | Op::Kernel(_)));
            let keeps_sources = graph.kept[i] && (info.tracked || !realised);
            for s in graph.sources[i].clone() {
                // What only optional roots are computed from may stay pending, and reads its sources later.
                let needed = graph.needed[i];
                graph.needed[s] |= needed;
                graph.kept[s] |= keeps_sources || !needed;
            }
        }
        graph
    }

    pub(crate) fn root(&self, i: usize) -> Root {
        self.collected.info[i].root
    }

    /// What tensors will stand for, by what they stand for now or have stood for since.
    fn successors(&self) -> &Successors {
        self.successors.get_or_init(|| {
            let mut last = Successors::default();
            // The last of several that are written one after the other comes first.
            for node in (0..self.nodes.len()).rev().filter(|&n| !self.known[n]) {
                // SAFETY: the engine's lock is held (a `Collected` exists), and no reference is kept.
                let mut before = unsafe { self.nodes[node].before_unlocked() };
                while let Some(found) = before {
                    // From here on a later one was here.
                    let Entry::Vacant(place) = last.entry(std::ptr::from_ref(&*found.0).addr()) else {
                        break;
                    };
                    place.insert(node);
                    if found.0.value.get().is_some() {
                        break;
                    }
                    // SAFETY: as above.
                    before = unsafe { found.0.before_unlocked() };
                }
            }
            last
        })
    }

    /// Whether the node is computed where it is read.
    pub(crate) fn is_inlined(&self, i: usize) -> bool {
        !self.known[i] && !self.argument[i] && !self.stored[i]
    }
}

/// How often what is worth storing is looked for. What only the bounds of a program had stored may not be any more once other values
/// are, so what was worth storing beside it is not all that is: a second look finds the rest.
const SHARING: usize = 3;

/// Makes the plan for a collected graph.
pub(crate) fn plan(collected: &Collected) -> Result<Plan> {
    let mut shared: Vec<usize> = vec![];
    let mut made = grouped(collected, &shared)?;
    for _ in 0..SHARING {
        let more = share::worth_storing(&made.0, &made.2);
        if more.is_empty() {
            break;
        }
        shared.extend(more);
        made = grouped(collected, &shared)?;
    }
    let (graph, aliases, groups) = made;
    memory::assemble(&graph, groups, aliases)
}

/// The graph with what gets memory, these among it, the roots that are views, and the launches.
fn grouped<'a>(
    collected: &'a Collected,
    stored: &[usize],
) -> Result<(Graph<'a>, Vec<store::Alias>, group::Groups)> {
    let mut graph = Graph::new(collected);
    for &v in stored {
        graph.stored[v] = true;
    }
    let aliases = store::decide(&mut graph)?;
    let groups = group::form(&mut graph)?;
    Ok((graph, aliases, groups))
}
