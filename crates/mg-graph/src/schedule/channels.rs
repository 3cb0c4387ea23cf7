//! Which temporary values lie with their channels innermost.
//!
//! Convolutions on some CUDA devices multiply lines of channels: images whose channels are neighbours are taken as they lie, and others are copied first, by
//! each convolution and each gradient anew. People have images in planes (`[n, c, h, w]`, row-major), and their tensors stay so. But what a plan computes
//! for itself lies as it is read: values that such kernels read have their channels innermost, and so do those of the same shape that these are computed from.
//! What leaves the plan lies as its tensor says, in planes or with its channels innermost ([`Node::lies_innermost`](crate::Node::lies_innermost)).

use super::Graph;
use super::path::{Path, Reads};
use crate::build::taken_innermost;
use crate::engine::Root;
use crate::kernel::Kernel;
use crate::op::Op;
use mg_device::{Layout, Result};
use mg_kernels::library::{Innermost, Library, Shaped, innermost_layout};
use smallvec::SmallVec;

/// Decides for all values that get memory; `viewed` are those that views are taken of which leave the plan.
pub(super) fn decide(graph: &mut Graph, viewed: &[usize]) -> Result<()> {
    let n = graph.nodes.len();
    let kernels: Vec<Innermost> = (0..n)
        .map(|i| library(graph, i).map_or(Ok(Innermost::default()), |k| takes(graph, i, k)))
        .collect::<Result<_>>()?;
    let (mut wanted, mut refused) = (vec![false; n], vec![false; n]);
    #[cfg(test)]
    let forced = forced::store(graph, &mut wanted);
    #[cfg(not(test))]
    let forced = false;
    let mut told: Vec<bool> = (0..n).map(|i| is_told_so(graph, i) && leaves(graph, i)).collect();
    for &base in viewed {
        told[base] |= is_told_so(graph, base);
    }
    let is_asked = kernels.iter().any(|kernel| kernel.operands.contains(&true));
    if !forced && !is_asked && !told.contains(&true) {
        return Ok(());
    }
    for &base in viewed {
        refused[base] = true;
    }
    // Who reads a value comes after it.
    for i in (0..n).rev().filter(|&i| graph.stored[i]) {
        wanted[i] |= told[i];
        graph.innermost[i] = wanted[i] && (told[i] || !refused[i]) && may(graph, i, &kernels[i], told[i]);
        if let (Op::Kernel(kernel), false) = (&graph.nodes[i].op, graph.known[i]) {
            for (at, &source) in graph.sources[i].iter().enumerate() {
                let mut path = Path::new();
                let base = graph.strip(source, &mut path);
                let takes_so = path.is_empty() && kernels[i].operands.get(at).is_some_and(|&takes| takes);
                wanted[base] |= takes_so;
                refused[base] |= !(takes_so || takes_any(kernel) && is_reached(graph, base, &path));
            }
            continue;
        }
        for (base, path) in &reads_of(graph, i).reads {
            refused[*base] |= !is_reached(graph, *base, path);
            wanted[*base] |= graph.innermost[i] && is_same(graph, *base, path, i);
        }
    }
    // Sums of which channels are kept have these in their columns.
    let keeps = |i: usize| matches!(graph.nodes[i].op, Op::Reduce(_, axes) if axes & 0b11 == 1);
    let reduced: Vec<usize> = (0..n).filter(|&i| graph.stored[i] && !graph.known[i] && keeps(i)).collect();
    for i in reduced {
        let operand = graph.sources[i][0];
        let is_read_so =
            |(base, path): &(usize, Path)| graph.innermost[*base] && is_same(graph, *base, path, operand);
        graph.across[i] = reads_of(graph, i).reads.iter().any(is_read_so);
    }
    Ok(())
}

fn reads_of(graph: &Graph, i: usize) -> Reads {
    graph.reads(i, usize::MAX)
}

/// The library kernel that a value is computed by.
fn library<'a>(graph: &Graph<'a>, i: usize) -> Option<&'a Library> {
    match &graph.nodes[i].op {
        Op::Kernel(Kernel::Library(kernel)) if graph.stored[i] && !graph.known[i] => Some(kernel),
        Op::Kernel(_) | Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Reduce(..) => None,
    }
}

/// What a kernel takes so, on its device.
fn takes(graph: &Graph, i: usize, kernel: &Library) -> Result<Innermost> {
    let shaped = |&s: &usize| Shaped { shape: graph.nodes[s].shape, dtype: graph.nodes[s].dtype };
    let operands: SmallVec<[Shaped; 4]> = graph.sources[i].iter().map(shaped).collect();
    taken_innermost(kernel, &operands, graph.nodes[i].device)
}

/// Whether a value that the plan computes is to lie so where it leaves it, by itself or seen by views.
fn is_told_so(graph: &Graph, i: usize) -> bool {
    graph.stored[i] && !graph.known[i] && graph.nodes[i].is_to_lie_innermost()
}

/// Whether somebody has it after the plan.
fn leaves(graph: &Graph, i: usize) -> bool {
    graph.kept[i] || graph.root(i) != Root::No
}

/// Whether a value may lie so: it is this plan's own, or is told to leave it so, and is written by what can.
fn may(graph: &Graph, i: usize, kernel: &Innermost, told: bool) -> bool {
    let node = graph.nodes[i];
    let shape = &node.shape;
    let writes = match node.op {
        Op::Map(_) => true,
        Op::Kernel(_) => kernel.result,
        Op::Source(_) | Op::View(_) | Op::Reduce(..) => false,
    };
    let is_own = !graph.known[i] && (told || !leaves(graph, i));
    writes && is_own && shape.rank() > 2 && shape[1] > 1 && shape[2..].iter().product::<usize>() > 1
}

/// Whether what it reads may lie in any way that strides tell of.
fn takes_any(kernel: &Kernel) -> bool {
    match kernel {
        Kernel::Library(kernel) => kernel.takes_any_layout(),
        Kernel::Concat { .. } | Kernel::Write { .. } => true,
        Kernel::Transfer => false,
    }
}

/// Whether a value with its channels innermost can be seen by a path without a copy.
fn is_reached(graph: &Graph, base: usize, path: &Path) -> bool {
    path.is_empty()
        || innermost_layout(&graph.nodes[base].shape)
            .is_ok_and(|layout: Layout| graph.follow(layout, path).is_ok())
}

/// Whether all elements of a value are read where they are, for a value of the same shape.
fn is_same(graph: &Graph, base: usize, path: &Path, of: usize) -> bool {
    let whole = Layout::contiguous(graph.nodes[base].shape);
    // A view may show what it is taken of.
    let shows_it = || graph.follow(whole, path).is_ok_and(|seen| seen == whole);
    graph.nodes[base].shape == graph.nodes[of].shape && (path.is_empty() || shows_it())
}

/// What tests of programs on the CPU have to find out: values that lie so though no kernel asks for it.
#[cfg(test)]
pub(super) mod forced {
    use super::Graph;
    use crate::op::Op;
    use std::cell::Cell;

    thread_local! {
        static SEED: Cell<u64> = const { Cell::new(0) };
    }

    /// Plans made by `make` store some elementwise values more, of which some have their channels innermost.
    pub(crate) fn with<R>(seed: u64, make: impl FnOnce() -> R) -> R {
        SEED.set(seed);
        let made = make();
        SEED.set(0);
        made
    }

    pub(super) fn store(graph: &mut Graph, wanted: &mut [bool]) -> bool {
        let mut seed = SEED.get();
        if seed == 0 {
            return false;
        }
        for (i, wanted) in wanted.iter_mut().enumerate() {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let is_map = matches!(graph.nodes[i].op, Op::Map(_)) && graph.needed[i] && !graph.known[i];
            graph.stored[i] |= is_map && seed >> 62 == 0;
            *wanted = seed >> 60 & 1 == 0;
        }
        true
    }
}
