//! Which values get memory of their own.

use super::path::{MetAtPlaces, Path};
use super::{Graph, channels};
use crate::engine::{Root, internal};
use crate::op::{Op, SourceKind};
use mg_device::{Layout, Result};
use mg_kernels::program::{MAX_INPUTS, MAX_VALUES};

/// A root that is only seen otherwise: its value is a view of another's.
pub(crate) struct Alias {
    pub(crate) node: usize,
    pub(crate) base: usize,
    pub(crate) path: Path,
}

/// Elementwise nodes that one program computes for one anchor; the rest of [`MAX_VALUES`] is for what is joined to it.
const INLINE: usize = MAX_VALUES / 2;
/// Operands that one anchor reads.
const READS: usize = MAX_INPUTS / 2;

/// Marks what is stored, and answers with the roots that are views of what is.
pub(crate) fn decide(graph: &mut Graph) -> Result<Vec<Alias>> {
    let n = graph.nodes.len();
    let mut alias_roots = vec![];
    for i in 0..n {
        if !graph.needed[i] || graph.known[i] {
            continue;
        }
        match graph.nodes[i].op {
            Op::Reduce(..) => graph.stored[i] = true,
            Op::Kernel(_) => {
                graph.stored[i] = true;
                for s in graph.sources[i].clone() {
                    let base = base_of(graph, s);
                    if !graph.known[base] {
                        graph.stored[base] = true;
                    }
                }
            }
            Op::View(_) if graph.root(i) == Root::Required => alias_roots.push(i),
            Op::View(_) => {}
            Op::Source(_) | Op::Map(_) => graph.stored[i] |= graph.root(i) == Root::Required,
        }
    }
    for &i in &alias_roots {
        let base = base_of(graph, i);
        if graph.argument[base] {
            // A broadcast scalar and its like: filled, not kept as a view of one element.
            graph.stored[i] = true;
        } else if !graph.known[base] {
            graph.stored[base] = true;
        }
    }
    bound_inlining(graph);
    let viewed: Vec<usize> = alias_roots.iter().map(|&i| base_of(graph, i)).collect();
    channels::decide(graph, &viewed)?;
    legalise(graph, &alias_roots)?;
    let mut aliases = vec![];
    for &i in &alias_roots {
        if !graph.stored[i] {
            let mut path = Path::new();
            let base = graph.strip(i, &mut path);
            aliases.push(Alias { node: i, base, path });
        }
    }
    Ok(aliases)
}

/// What the views from `i` downwards see in the end.
fn base_of(graph: &Graph, i: usize) -> usize {
    graph.strip(i, &mut Path::new())
}

/// Stores elementwise values where computing them at their reader would make its program too long.
fn bound_inlining(graph: &mut Graph) {
    let n = graph.nodes.len();
    // Upper bounds of the inlined nodes and of the reads below each node; exact counts only where they are exceeded.
    let (mut values, mut reads) = (vec![1usize; n], vec![1usize; n]);
    for i in 0..n {
        if graph.known[i] || graph.argument[i] || !graph.needed[i] {
            continue;
        }
        // A view computes nothing: a long chain of them is not to be walked again and again for an exact count.
        let own = usize::from(!matches!(graph.nodes[i].op, Op::View(_)));
        loop {
            (values[i], reads[i]) = (own, 0);
            for &s in &graph.sources[i] {
                let inlined = graph.is_inlined(s);
                values[i] += if inlined { values[s] } else { 0 };
                reads[i] += if inlined { reads[s] } else { 1 };
            }
            if values[i] <= INLINE && reads[i] <= READS {
                break;
            }
            let found = graph.reads(i, INLINE.max(READS));
            (values[i], reads[i]) = (found.inlined.len() + own, found.reads.len());
            if values[i] <= INLINE && reads[i] <= READS {
                break;
            }
            let largest = graph.sources[i]
                .iter()
                .copied()
                .filter(|&s| graph.is_inlined(base_of(graph, s)))
                .max_by_key(|&s| values[s] + reads[s]);
            let Some(largest) = largest else { break };
            let base = base_of(graph, largest);
            graph.stored[base] = true;
            (values[base], reads[base]) = (1, 1);
        }
    }
}

/// Stores what must be copied before a reshape can be a view.
fn legalise(graph: &mut Graph, alias_roots: &[usize]) -> Result<()> {
    let n = graph.nodes.len();
    // Each round stores at least one more node.
    for _ in 0..=n {
        let mut copies = vec![];
        let mut check = |graph: &Graph, layout: Layout, path: &[super::path::Elem]| {
            if let Err(view) = graph.follow(layout, path) {
                copies.push(graph.sources[view][0]);
            }
        };
        for i in 0..n {
            if !graph.stored[i] {
                continue;
            }
            if let Op::Kernel(_) = graph.nodes[i].op {
                for &s in &graph.sources[i] {
                    let mut path = Path::new();
                    let base = graph.strip(s, &mut path);
                    check(graph, graph.layout_of(base), &path);
                }
                continue;
            }
            for (read, path) in &graph.reads(i, usize::MAX).reads {
                let layout = if *read == i { graph.layout_of_original(i) } else { graph.layout_of(*read) };
                check(graph, layout, path);
            }
            check_arguments(graph, i, &mut check);
        }
        for &i in alias_roots {
            if !graph.stored[i] {
                let mut path = Path::new();
                let base = graph.strip(i, &mut path);
                check(graph, graph.layout_of(base), &path);
            }
        }
        if copies.is_empty() {
            return Ok(());
        }
        for i in copies {
            graph.stored[i] = true;
        }
    }
    Err(internal("a view that no copy makes possible"))
}

/// Ramps and random numbers are addressed as if they lay densely; their paths need the same care.
fn check_arguments(
    graph: &Graph,
    anchor: usize,
    check: &mut impl FnMut(&Graph, Layout, &[super::path::Elem]),
) {
    let mut stack: Vec<(usize, Path)> = graph.starts(anchor).into_vec();
    let mut seen = MetAtPlaces::default();
    while let Some((i, mut path)) = stack.pop() {
        let i = if graph.argument[i] { i } else { graph.strip(i, &mut path) };
        if !seen.insert(i, graph.place(i, &path)) {
            continue;
        }
        let constant =
            matches!(graph.nodes[i].op, Op::Source(SourceKind::Const { .. } | SourceKind::Live { .. }));
        if graph.argument[i] && !graph.stored[i] && !constant {
            check(graph, Layout::contiguous(graph.nodes[i].shape), &path);
        } else if graph.is_inlined(i) {
            for &s in &graph.sources[i] {
                stack.push((s, graph.below(i, s, &path)));
            }
        }
    }
}
