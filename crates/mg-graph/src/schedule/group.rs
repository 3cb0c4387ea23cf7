//! Which anchors share a program.

use super::Graph;
use super::path::{Path, PlaceId, Reads};
use super::sorted::Sorted;
use crate::engine::Root;
use crate::op::Op;
use mg_device::{AxisSet, Layout, Result};
use mg_kernels::ReduceKind;
use mg_kernels::program::{MAX_INPUTS, MAX_VALUES};
use smallvec::SmallVec;
use std::cell::RefCell;

/// Sizes of a space's dimensions, without those of size 1.
pub(crate) type Space = SmallVec<[usize; 8]>;

/// How a program's space is divided by its reductions; masks have a bit for each dimension of the space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Split {
    /// No reduction.
    None,
    /// Reductions over these dimensions, whose results the program may use.
    Inner(AxisSet),
    /// Reductions over these dimensions, for results that leave the program.
    Outer(AxisSet),
    /// Reductions over these dimensions and, leaving the program, over all others.
    Both(AxisSet),
    /// Full reductions.
    All,
}

/// How an anchor's own space lies in its program's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) enum Embed {
    /// It is the program's.
    Same,
    /// It is that of the rows.
    Rows,
    /// It is a single element, computed from full reductions at the end.
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) node: usize,
    pub(crate) embed: Embed,
    pub(super) reads: Vec<(usize, Path)>,
}

/// Anchors that one launch computes.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) space: Space,
    pub(crate) split: Split,
    pub(crate) members: Vec<Member>,
    /// A library kernel's launch.
    pub(crate) is_kernel: bool,
    /// Elementwise work applied before a matrix product's results are stored.
    pub(crate) epilogue: Option<Box<Group>>,
    /// Elementwise nodes computed here, each at every place where it is met.
    pub(super) values: Sorted<(usize, PlaceId)>,
    pub(super) inputs: Sorted<usize>,
}

/// Groups that a search for a path between two others looks at.
const SEARCH: usize = 256;

pub(crate) struct Groups {
    pub(crate) list: Vec<Option<Group>>,
    /// The group of each node that is an anchor.
    pub(crate) of: Vec<Option<usize>>,
    /// Groups that read each node.
    pub(super) readers: Vec<Vec<usize>>,
    /// Memory of searches, of which there are many.
    met: RefCell<MetGroups>,
}

/// Which groups a search has met: those with its stamp.
#[derive(Default)]
struct MetGroups {
    stamps: Vec<usize>,
    stamp: usize,
    count: usize,
}

impl MetGroups {
    /// Begins a search among so many groups.
    fn forget(&mut self, groups: usize) {
        self.stamps.resize(groups, 0);
        self.stamp += 1;
        self.count = 0;
    }

    fn has(&self, group: usize) -> bool {
        self.stamps[group] == self.stamp
    }

    /// Whether a group is met for the first time.
    fn is_new(&mut self, group: usize) -> bool {
        let before = std::mem::replace(&mut self.stamps[group], self.stamp);
        self.count += usize::from(before != self.stamp);
        before != self.stamp
    }
}

/// The dimensions of a shape that are not 1.
pub(crate) fn squeeze(shape: &[usize]) -> Space {
    shape.iter().copied().filter(|&n| n != 1).collect()
}

/// Strides over the squeezed shape.
pub(crate) fn squeezed_strides(layout: &Layout) -> SmallVec<[isize; 8]> {
    layout.shape().iter().zip(layout.strides()).filter(|&(&n, _)| n != 1).map(|(_, &s)| s).collect()
}

pub(super) fn dense_strides(space: &[usize]) -> SmallVec<[isize; 8]> {
    let mut strides: SmallVec<[isize; 8]> = smallvec::smallvec![0; space.len()];
    let mut stride = 1isize;
    for d in (0..space.len()).rev() {
        strides[d] = stride;
        stride = stride.saturating_mul(space[d].max(1) as isize);
    }
    strides
}

fn all_of(rank: usize) -> AxisSet {
    ((1u32 << rank) - 1) as AxisSet
}

/// Which axes of the squeezed space a reduction runs over, and how that divides it.
fn split_of(graph: &Graph, node: usize) -> (Space, Split, AxisSet) {
    let Op::Reduce(kind, axes) = graph.nodes[node].op else {
        return (squeeze(&graph.nodes[node].shape), Split::None, 0);
    };
    let shape = &graph.nodes[graph.sources[node][0]].shape;
    let mut mask: AxisSet = 0;
    let mut d = 0;
    for (axis, &n) in shape.iter().enumerate() {
        if n != 1 {
            mask |= ((axes >> axis) & 1) << d;
            d += 1;
        }
    }
    let space = squeeze(shape);
    let all = all_of(d);
    let last_kept = d > 0 && mask >> (d - 1) & 1 == 0;
    let is_cuda = graph.nodes[node].device.is_cuda();
    let by_columns = match last_kept {
        true => !kind.is_arg() || is_cuda,
        false => is_cuda && (graph.across[node] || lies_across(graph, node, &space, mask)),
    };
    let split = if mask == all {
        Split::All
    } else if mask != 0 && by_columns {
        Split::Outer(mask)
    } else {
        // Also for a reduction over axes of size 1 only: rows of one element.
        Split::Inner(mask)
    };
    (space, split, mask)
}

/// Kept neighbours from which it pays to read an operand along them.
const ACROSS: usize = 8;

/// Whether a reduction's operand is a known value whose neighbours in memory are kept apart, though its last axis is reduced: read row by
/// row, each element would be another line of memory.
fn lies_across(graph: &Graph, node: usize, space: &Space, mask: AxisSet) -> bool {
    let mut path = Path::new();
    let base = graph.strip(graph.sources[node][0], &mut path);
    if !graph.known[base] {
        return false;
    }
    let Ok(layout) = graph.follow(graph.layout_of(base), &path) else { return false };
    let strides = squeezed_strides(&layout);
    let is_near = |d: usize| strides[d] == 1 && mask >> d & 1 == 0 && space[d] >= ACROSS;
    strides.len() == space.len()
        && strides.last().is_some_and(|last| last.unsigned_abs() != 1)
        && (0..strides.len()).any(is_near)
}

impl Split {
    pub(super) fn join(self, other: Split, rank: usize) -> Option<Split> {
        use Split::*;
        let all = all_of(rank);
        Some(match (self, other) {
            (None, s) | (s, None) => s,
            (a, b) if a == b => a,
            (Inner(i), Outer(o)) | (Outer(o), Inner(i)) if i & o == 0 && i | o == all => Both(i),
            (Both(i), Inner(j)) | (Inner(j), Both(i)) if i == j => Both(i),
            (Both(i), Outer(o)) | (Outer(o), Both(i)) if i & o == 0 && i | o == all => Both(i),
            (Inner(_) | Outer(_) | Both(_) | All, Inner(_) | Outer(_) | Both(_) | All) => {
                return Option::None;
            }
        })
    }

    /// The program's dimensions: their order, and how many are batch, outer and inner.
    pub(crate) fn order(self, rank: usize) -> (SmallVec<[usize; 8]>, [usize; 3]) {
        let pick = |mask: AxisSet| (0..rank).filter(move |&d| mask >> d & 1 == 1);
        let all = all_of(rank);
        match self {
            Split::None | Split::All => ((0..rank).collect(), [0, 0, rank]),
            Split::Inner(i) | Split::Both(i) => {
                let rows = pick(all & !i).count();
                (pick(all & !i).chain(pick(i)).collect(), [0, rows, rank - rows])
            }
            Split::Outer(o) => {
                // The kept dimensions after the last reduced one are the columns; those before are the batch.
                let last = (0..rank).rev().find(|&d| o >> d & 1 == 1).map_or(0, |d| d + 1);
                // Where the last one is reduced too, the operand lies otherwise: all that is kept are columns.
                if last == rank {
                    let kept = pick(all & !o).count();
                    return (pick(o).chain(pick(all & !o)).collect(), [0, rank - kept, kept]);
                }
                let batch: SmallVec<[usize; 8]> = pick(all & !o).filter(|&d| d < last).collect();
                let n_batch = batch.len();
                let order = batch.into_iter().chain(pick(o)).chain(last..rank).collect();
                (order, [n_batch, pick(o).count(), rank - last])
            }
        }
    }

    pub(super) fn keeps_order(self, rank: usize) -> bool {
        self.order(rank).0.iter().enumerate().all(|(i, &d)| i == d)
    }

    /// The sizes of the dimensions that rows are counted by.
    fn rows(self, space: &Space) -> Option<Space> {
        match self {
            Split::Inner(i) | Split::Both(i) => {
                Some((0..space.len()).filter(|&d| i >> d & 1 == 0).map(|d| space[d]).collect())
            }
            Split::None | Split::Outer(_) | Split::All => None,
        }
    }
}

/// Strides over a program's space, from strides over a member's own.
pub(crate) fn embed_strides(
    own: &[isize],
    embed: Embed,
    split: Split,
    rank: usize,
) -> Option<SmallVec<[isize; 8]>> {
    match embed {
        Embed::Same if own.len() == rank => Some(own.iter().copied().collect()),
        Embed::End if own.is_empty() => Some(smallvec::smallvec![0; rank]),
        Embed::Rows => {
            let (Split::Inner(mask) | Split::Both(mask)) = split else { return None };
            let mut own = own.iter();
            let mut strides: SmallVec<[isize; 8]> = smallvec::smallvec![0; rank];
            for (d, stride) in strides.iter_mut().enumerate() {
                if mask >> d & 1 == 0 {
                    *stride = *own.next()?;
                }
            }
            own.next().is_none().then_some(strides)
        }
        Embed::Same | Embed::End => None,
    }
}

/// The dimensions of a value, without those of size 1, in the order in which it lies in the memory that it has in this plan.
pub(super) fn lies(graph: &Graph, node: usize) -> SmallVec<[usize; 8]> {
    let shape = &graph.nodes[node].shape;
    let mut order: SmallVec<[usize; 8]> = (0..squeeze(shape).len()).collect();
    if graph.innermost[node] && shape[1] > 1 {
        let channels = order.remove(usize::from(shape[0] != 1));
        order.push(channels);
    }
    order
}

impl Group {
    /// The program's dimensions, as [`Split::order`] has them: without reductions, in the order in which its values lie.
    pub(crate) fn order(&self, graph: &Graph) -> (SmallVec<[usize; 8]>, [usize; 3]) {
        let order = self.split.order(self.space.len());
        match self.split {
            Split::None | Split::All => {
                let turned = self.members.iter().find(|m| m.embed == Embed::Same && graph.innermost[m.node]);
                turned.map_or(order.clone(), |member| (lies(graph, member.node), order.1))
            }
            Split::Inner(_) | Split::Outer(_) | Split::Both(_) => order,
        }
    }
}

impl Groups {
    /// The strides over its group's space at which a member's dense value is met; `None` for results that leave the
    /// program.
    pub(crate) fn home(&self, graph: &Graph, group: &Group, member: &Member) -> Option<SmallVec<[isize; 8]>> {
        let rank = group.space.len();
        if let Op::Reduce(..) = graph.nodes[member.node].op {
            if graph.known[member.node] {
                return None;
            }
            let (_, split, mask) = split_of(graph, member.node);
            if member.embed != Embed::Same || !matches!(split, Split::Inner(_)) {
                return None;
            }
            let kept: Space = (0..rank).filter(|&d| mask >> d & 1 == 0).map(|d| group.space[d]).collect();
            let mut dense = dense_strides(&kept).into_iter();
            return Some(
                (0..rank).map(|d| if mask >> d & 1 == 0 { dense.next().unwrap_or(0) } else { 0 }).collect(),
            );
        }
        match member.embed {
            Embed::Same => Some(dense_strides(&group.space)),
            Embed::Rows => {
                let rows = group.split.rows(&group.space)?;
                embed_strides(&dense_strides(&rows), Embed::Rows, group.split, rank)
            }
            Embed::End => None,
        }
    }
}

/// The strides over a program's space of a read of `node` by `path` from a member.
pub(crate) fn read_strides(
    graph: &Graph,
    layout: Layout,
    path: &Path,
    embed: Embed,
    split: Split,
    rank: usize,
) -> Option<(SmallVec<[isize; 8]>, usize)> {
    let at = graph.follow(layout, path).ok()?;
    Some((embed_strides(&squeezed_strides(&at), embed, split, rank)?, at.offset()))
}

/// Whether a program holds what both compute and read. Constants, casts and expansions are not counted, hence the room that is left.
fn have_room(a: &Group, b: &Group) -> bool {
    let inputs = a.inputs.len() + b.inputs.beside(&a.inputs).count();
    let values = a.values.len() + b.values.beside(&a.values).count();
    let members = a.members.iter().chain(&b.members);
    let own = members.filter(|m| a.inputs.has(m.node) || b.inputs.has(m.node)).count();
    values <= MAX_VALUES * 3 / 4 && inputs - own + a.members.len() + b.members.len() <= MAX_INPUTS
}

/// Divides the anchors into launches.
pub(crate) fn form(graph: &mut Graph) -> Result<Groups> {
    let n = graph.nodes.len();
    let mut groups =
        Groups { list: vec![], of: vec![None; n], readers: vec![vec![]; n], met: RefCell::default() };
    for i in 0..n {
        if graph.stored[i] {
            let id = groups.add(graph, i);
            groups.settle(graph, id);
        }
    }
    for i in 0..n {
        if graph.root(i) == Root::Optional && !graph.needed[i] && !graph.known[i] {
            groups.try_optional(graph, i);
        }
    }
    groups.attach_epilogues(graph)?;
    Ok(groups)
}

impl Groups {
    /// A new group of one anchor.
    pub(super) fn add(&mut self, graph: &Graph, node: usize) -> usize {
        let Reads { reads, inlined } = graph.reads(node, usize::MAX);
        let is_kernel = !graph.known[node] && matches!(graph.nodes[node].op, Op::Kernel(_));
        let (space, split, _) = if graph.known[node] {
            (squeeze(&graph.nodes[node].shape), Split::None, 0)
        } else {
            split_of(graph, node)
        };
        let id = self.list.len();
        let values = inlined.into_iter().chain([(node, 0)]).collect();
        let inputs: Sorted<usize> = reads.iter().map(|r| r.0).collect();
        for &i in inputs.iter() {
            self.readers[i].push(id);
        }
        let members = vec![Member { node, embed: Embed::Same, reads }];
        self.list.push(Some(Group { space, split, members, is_kernel, epilogue: None, values, inputs }));
        self.of[node] = Some(id);
        id
    }

    /// Joins a new group to those that it reads or shares operands with, as long as one more can be joined.
    fn settle(&mut self, graph: &Graph, mut id: usize) {
        'again: loop {
            let Some(group) = &self.list[id] else { return };
            if group.is_kernel {
                return;
            }
            let mut candidates: Vec<usize> = vec![];
            for &input in group.inputs.iter() {
                candidates.extend(self.of[input]);
                candidates.extend(self.readers[input].iter().rev().take(8));
            }
            candidates.sort_unstable();
            candidates.dedup();
            for &other in candidates.iter().rev().take(16) {
                if other != id && self.list[other].is_some() && self.try_join(graph, other, id) {
                    id = other;
                    continue 'again;
                }
            }
            return;
        }
    }

    /// The groups that a group waits for.
    fn depends<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = usize> + 'a {
        let of_epilogue = group.epilogue.iter().flat_map(|epilogue| epilogue.inputs.iter());
        group.inputs.iter().chain(of_epilogue).filter_map(|&i| self.of[i])
    }

    /// Whether `from` waits for `to` by way of a group that is neither, as far as a short search tells: where it grows long,
    /// the answer is yes, and two programs stay two.
    pub(super) fn waits_by_another(&self, from: usize, to: usize) -> bool {
        let (Some(start), Some(end)) = (&self.list[from], &self.list[to]) else { return false };
        if !end.members.iter().any(|m| self.is_read_beside(m.node, to)) {
            return false;
        }
        let mut met = self.met.borrow_mut();
        met.forget(self.list.len());
        let mut stack: SmallVec<[usize; 32]> =
            self.depends(start).filter(|&d| d != to && d != from).collect();
        while let Some(at) = stack.pop() {
            if at == to || met.count > SEARCH {
                return true;
            }
            if at == from || !met.is_new(at) {
                continue;
            }
            if let Some(group) = &self.list[at] {
                // Most groups are met again and again.
                self.depends(group).filter(|&d| !met.has(d)).for_each(|d| stack.push(d));
            }
        }
        false
    }

    /// Makes one group of `a` and `b` if one program can compute both.
    pub(super) fn try_join(&mut self, graph: &Graph, a: usize, b: usize) -> bool {
        let Some(joined) = self.joined(graph, a, b) else { return false };
        !self.waits_by_another(a, b) && !self.waits_by_another(b, a) && self.join(a, b, joined)
    }

    /// The same of two that were parts of one, so that neither waits for the other.
    pub(super) fn try_rejoin(&mut self, graph: &Graph, a: usize, b: usize) -> bool {
        self.joined(graph, a, b).is_some_and(|joined| self.join(a, b, joined))
    }

    fn join(&mut self, a: usize, b: usize, joined: Group) -> bool {
        let (Some(of_a), Some(of_b)) = (self.list[a].take(), self.list[b].take()) else { return false };
        for member in &joined.members {
            self.of[member.node] = Some(a);
        }
        self.reads_no_more(&of_b.inputs, b);
        for input in of_b.inputs.beside(&of_a.inputs) {
            self.readers[input].push(a);
        }
        let values = of_a.values.union(&of_b.values);
        self.list[a] = Some(Group { values, inputs: of_a.inputs.union(&of_b.inputs), ..joined });
        true
    }

    /// Forgets that a group reads what it did. It is one of the last mostly, and a weight may have thousands.
    pub(super) fn reads_no_more(&mut self, inputs: &[usize], id: usize) {
        for &input in inputs {
            let readers = &mut self.readers[input];
            if let Some(at) = readers.iter().rposition(|&r| r == id) {
                readers.remove(at);
            }
        }
    }

    /// The group that two become, all but what it computes and reads, which is what they do: there is no need to know that of those that
    /// stay two.
    fn joined(&self, graph: &Graph, a: usize, b: usize) -> Option<Group> {
        let (ga, gb) = (self.list[a].as_ref()?, self.list[b].as_ref()?);
        // In an empty space only a reduction has a result, and that result has nothing to be computed from there.
        let is_empty = |g: &Group| g.space.contains(&0);
        if ga.is_kernel || gb.is_kernel || is_empty(ga) || is_empty(gb) {
            return None;
        }
        let device = |g: &Group| g.members.first().map(|m| graph.nodes[m.node].device);
        if device(ga) != device(gb) || !have_room(ga, gb) {
            return None;
        }
        // The group whose space is the program's comes first.
        let reads =
            |from: &Group, to: &Group| from.inputs.iter().any(|i| to.members.iter().any(|m| m.node == *i));
        let at_end = |end: &Group, main: &Group| {
            end.space.is_empty()
                && end.split == Split::None
                && reads(end, main)
                && end.members.iter().all(|m| {
                    m.reads.iter().all(|(i, _)| {
                        let read = main.members.iter().find(|mm| mm.node == *i);
                        read.is_none_or(|mm| is_total(graph, mm))
                    })
                })
        };
        let on_rows = |rows: &Group, main: &Group| {
            main.split.rows(&main.space).is_some_and(|r| r == rows.space)
                && matches!(rows.split, Split::None | Split::All)
                && rows.members.iter().all(|m| m.embed == Embed::Same)
                && reads(rows, main)
        };
        let (main, other, embed) = if ga.space == gb.space && !(ga.space.is_empty() && at_end(gb, ga)) {
            (ga, gb, Embed::Same)
        } else if at_end(gb, ga) {
            (ga, gb, Embed::End)
        } else if on_rows(gb, ga) {
            (ga, gb, Embed::Rows)
        } else if at_end(ga, gb) {
            (gb, ga, Embed::End)
        } else if on_rows(ga, gb) {
            (gb, ga, Embed::Rows)
        } else {
            return None;
        };
        let rank = main.space.len();
        let split = if embed == Embed::Same { main.split.join(other.split, rank)? } else { main.split };
        // Beside reductions over rows there is no room for where columns have their extremes.
        let finds = |m: &Member| {
            kind_of(graph, m.node).is_some_and(|kind| kind.is_arg())
                && matches!(split_of(graph, m.node).1, Split::Outer(_))
        };
        if matches!(split, Split::Both(_)) && main.members.iter().chain(&other.members).any(finds) {
            return None;
        }
        let mut members = main.members.clone();
        members.extend(other.members.iter().map(|m| {
            let embed = if embed == Embed::Same { m.embed } else { embed };
            Member { embed, ..m.clone() }
        }));
        members.sort_by_key(|m| m.node);
        let group = Group {
            space: main.space.clone(),
            split,
            members,
            is_kernel: false,
            epilogue: None,
            values: Sorted::default(),
            inputs: Sorted::default(),
        };
        let order = group.order(graph);
        let is_as_before =
            |g: &&Group| g.members.len() > 1 && g.split == group.split && g.order(graph) == order;
        let main = Some(main).filter(is_as_before);
        let other = Some(other).filter(is_as_before).filter(|_| embed == Embed::Same);
        self.is_sound(graph, &group, [main, other]).then_some(group)
    }

    /// Whether every read of a member by another meets the value where it is computed. Within `parts` that is known.
    fn is_sound(&self, graph: &Graph, group: &Group, parts: [Option<&Group>; 2]) -> bool {
        let rank = group.space.len();
        let order = group.order(graph).0;
        // A full reduction runs over rows' values only, where rows are reduced too.
        let has_rows = !matches!(group.split, Split::None | Split::All);
        let has = |group: &Group, node: usize| group.members.binary_search_by_key(&node, |m| m.node).is_ok();
        for member in &group.members {
            let part = parts.into_iter().flatten().find(|part| has(part, member.node));
            let is_map = graph.known[member.node] || !matches!(graph.nodes[member.node].op, Op::Reduce(..));
            // A total goes row by row, whatever is computed beside it: so it has the same bits by itself, and where an extreme lies is told by
            // its position on the way.
            let reduces = kind_of(graph, member.node).is_some();
            if part.is_none() && reduces && has_total(graph, member) && !order.iter().copied().eq(0..rank) {
                return false;
            }
            // What is stored lies as the program goes through it.
            if part.is_none() && is_map && member.embed == Embed::Same && lies(graph, member.node) != order {
                return false;
            }
            if part.is_none() && member.embed != Embed::Same && graph.innermost[member.node] {
                return false;
            }
            if part.is_none()
                && !is_map
                && has_rows
                && member.embed == Embed::Same
                && split_of(graph, member.node).1 == Split::All
            {
                return false;
            }
            for (node, path) in &member.reads {
                // From the same part, or still from outside.
                if part.is_some_and(|part| has(part, *node) || !has(group, *node)) {
                    continue;
                }
                let Some(read) = group.members.iter().find(|m| m.node == *node && m.node != member.node)
                else {
                    // From outside: reachable through the embedding at all?
                    let layout = if *node == member.node {
                        graph.layout_of_original(*node)
                    } else {
                        graph.layout_of(*node)
                    };
                    if read_strides(graph, layout, path, member.embed, group.split, rank).is_none() {
                        return false;
                    }
                    continue;
                };
                if is_total(graph, read) {
                    if member.embed == Embed::End {
                        continue;
                    }
                    return false;
                }
                if read.embed == Embed::End {
                    if member.embed == Embed::End {
                        continue;
                    }
                    return false;
                }
                let dense = Layout::contiguous(graph.nodes[*node].shape);
                let strides = read_strides(graph, dense, path, member.embed, group.split, rank);
                match (strides, self.home(graph, group, read)) {
                    (Some((strides, 0)), Some(home)) if strides == home => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Computes an optional root where that takes no launch of its own.
    fn try_optional(&mut self, graph: &mut Graph, node: usize) {
        if !matches!(graph.nodes[node].op, Op::Map(_) | Op::Reduce(..)) {
            return;
        }
        graph.stored[node] = true;
        let Reads { reads, inlined } = graph.reads(node, MAX_VALUES / 2);
        let computable = reads.iter().all(|(i, _)| graph.known[*i] || graph.stored[*i])
            && inlined.iter().all(|(i, _)| matches!(graph.nodes[*i].op, Op::Map(_)))
            && inlined.len() <= MAX_VALUES / 2
            && reads.iter().all(|(i, path)| graph.follow(graph.layout_of(*i), path).is_ok());
        if computable {
            let id = self.add(graph, node);
            self.settle(graph, id);
            if self.list[id].is_none() {
                return;
            }
            // Still alone: it would be a launch of its own.
            if let Some(group) = self.list[id].take() {
                self.reads_no_more(&group.inputs, id);
            }
            self.of[node] = None;
        }
        graph.stored[node] = false;
    }

    /// The groups that a launch waits for.
    pub(crate) fn waits_for(&self, id: usize) -> Vec<usize> {
        let Some(group) = &self.list[id] else { return vec![] };
        let mut ids: Vec<usize> = self.depends(group).filter(|&d| d != id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Whether a launch other than `id` reads a node from memory.
    pub(crate) fn is_read_beside(&self, node: usize, id: usize) -> bool {
        self.readers[node].iter().any(|&r| r != id && self.list[r].is_some())
    }

    /// The nodes that a launch reads from memory.
    pub(crate) fn inputs(&self, id: usize) -> Sorted<usize> {
        let Some(group) = &self.list[id] else { return Sorted::default() };
        match &group.epilogue {
            Some(epilogue) => group.inputs.union(&epilogue.inputs),
            None => group.inputs.clone(),
        }
    }
}

/// Whether a member reduces all of its operand.
fn has_total(graph: &Graph, member: &Member) -> bool {
    matches!(split_of(graph, member.node).1, Split::All)
}

/// Whether a member's result is one number that is known when the launch ends.
pub(crate) fn is_total(graph: &Graph, member: &Member) -> bool {
    if graph.known[member.node] || !matches!(graph.nodes[member.node].op, Op::Reduce(..)) {
        return member.embed == Embed::End;
    }
    has_total(graph, member)
}

/// How a reduction is written in a program that is divided in this way.
pub(crate) fn over(graph: &Graph, member: &Member) -> mg_kernels::Over {
    match split_of(graph, member.node).1 {
        Split::Inner(_) => mg_kernels::Over::Inner,
        Split::Outer(_) | Split::Both(_) => mg_kernels::Over::Outer,
        Split::All | Split::None => mg_kernels::Over::All,
    }
}

/// The kind of a reduction.
pub(crate) fn kind_of(graph: &Graph, node: usize) -> Option<ReduceKind> {
    match graph.nodes[node].op {
        Op::Reduce(kind, _) => (!graph.known[node]).then_some(kind),
        Op::Source(_) | Op::Map(_) | Op::View(_) | Op::Kernel(_) => None,
    }
}
