//! Whether what a backward pass has made is linear in the gradients that it was given. Tangents follow from it only then: elsewhere they would be those of
//! one gradient, 0, and wrong without a word.

use super::tangent::stand_in;
use super::{behind, reached};
use crate::rules;
use mg_device::Result;
use mg_graph::{Kernel, Map, Node, Op, SourceKind, Sources, Tag};
use mg_kernels::library::Library;
use mg_kernels::{ReduceKind, Row};
use std::collections::HashSet;

/// The sequences of the nodes that depend on what was given.
type Dependent = HashSet<u64>;

/// The name of the first operation that makes some nodes no linear function of what was `given`, if there is one.
pub(super) fn what_is_not(roots: &[&Node], given: &[Node]) -> Result<Option<&'static str>> {
    let mut dependent: Dependent = given.iter().map(Node::sequence).collect();
    // What was there before depends on nothing of it.
    let Some(start) = dependent.iter().min().copied() else { return Ok(None) };
    let all = reached(roots.iter().copied(), |node| node.sequence() >= start);
    for (sequence, node) in &all {
        if dependent.contains(sequence) || !behind(node).iter().any(|n| dependent.contains(&n.sequence())) {
            continue;
        }
        let sources = node.sources();
        let at: Vec<usize> =
            (0..sources.len()).filter(|&i| dependent.contains(&sources[i].sequence())).collect();
        let is_linear = match node.tag() {
            Some(Tag::Call(_)) => true,
            // Nothing of it is left.
            Some(Tag::Forgotten(_)) if at.is_empty() => continue,
            // Its history is another than its value's, which is what is looked at.
            Some(Tag::Output(..) | Tag::History(_)) => {
                !at.is_empty() && is_linear(node, &sources, &at, &dependent)?
            }
            Some(Tag::Owner(_) | Tag::Forgotten(_) | Tag::Replayed(_)) | None => {
                // What a rule has its value beside is no operand of it.
                let is_known = matches!(node.op(), Op::Kernel(Kernel::Library(Library::Known(_))));
                let cut = |&i: &usize| !(sources[i].is_tracked() || is_known && i == 0);
                !(node.is_tracked() && at.iter().any(cut)) && is_linear(node, &sources, &at, &dependent)?
            }
        };
        if !is_linear {
            return Ok(Some(node.op().name()));
        }
        dependent.insert(*sequence);
    }
    let is_cut = |root: &&&Node| !root.is_tracked() && dependent.contains(&root.sequence());
    Ok(roots.iter().find(is_cut).map(|root| root.op().name()))
}

/// Whether an operation is linear in those of its sources that depend on what was given, which are at `at`: its slope says nothing of where it is
/// taken, and nothing is added.
fn is_linear(node: &Node, sources: &Sources, at: &[usize], dependent: &Dependent) -> Result<bool> {
    Ok(match node.op() {
        Op::Map(Map::Copy { .. }) | Op::View(_) | Op::Reduce(ReduceKind::Sum, _) => true,
        Op::Map(Map::Cast) => node.dtype().is_float(),
        Op::Source(_)
        | Op::Map(Map::Guard { .. })
        | Op::Reduce(
            ReduceKind::Prod | ReduceKind::Max | ReduceKind::Min | ReduceKind::ArgMax | ReduceKind::ArgMin,
            _,
        ) => false,
        // Their slope is 1, and they jump.
        Op::Map(Map::Row(Row::Fmod | Row::NextAfter)) => false,
        Op::Map(Map::Row(row)) => {
            let mut others = usize::from(*row == Row::Where)..sources.len();
            let adds = matches!(row, Row::Add | Row::Sub | Row::Where);
            let mut is_linear = !adds || others.all(|i| at.contains(&i) || is_zero(&sources[i]));
            for &i in at {
                let given = stand_in(node)?;
                let slope = rules::elementwise(node, sources, i, &given);
                is_linear &= slope.is_some_and(|slope| !depends(&slope, &given, node, dependent));
            }
            is_linear
        }
        Op::Kernel(Kernel::Write { .. } | Kernel::Concat { .. } | Kernel::Transfer) => true,
        Op::Kernel(Kernel::Library(library)) => {
            let mut slopes = 0;
            for &i in at {
                let given = stand_in(node)?;
                // A value that is known beside what it depends on has no slope itself.
                let Some(slope) = rules::through_library(node, sources, i, library, &given)? else {
                    continue;
                };
                if depends(&slope, &given, node, dependent) {
                    return Ok(false);
                }
                slopes += 1;
            }
            slopes > 0
        }
    })
}

/// Whether a slope at `node`, made since `given` was, depends on what was given, or on `node`, which does.
fn depends(slope: &Node, given: &Node, node: &Node, dependent: &Dependent) -> bool {
    let is_old = |n: &Node| n.sequence() == node.sequence() || dependent.contains(&n.sequence());
    let made = reached([slope], |n| n.sequence() >= given.sequence());
    is_old(slope) || made.values().any(|n| behind(n).iter().any(is_old))
}

/// Whether it is a 0 that is known, seen in any way.
fn is_zero(node: &Node) -> bool {
    let mut node = node.clone();
    loop {
        let next = match node.op() {
            Op::Source(SourceKind::Const { bits, .. }) => return *bits == 0,
            Op::Map(Map::Copy { .. } | Map::Cast) | Op::View(_) => node.sources().first().cloned(),
            Op::Source(
                SourceKind::Data | SourceKind::Live { .. } | SourceKind::Ramp | SourceKind::Random { .. },
            )
            | Op::Map(Map::Row(_) | Map::Guard { .. })
            | Op::Reduce(..)
            | Op::Kernel(_) => None,
        };
        match next {
            Some(next) => node = next,
            None => return false,
        }
    }
}
