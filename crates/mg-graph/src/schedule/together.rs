//! Kernels that are alike and do not wait for each other, as one launch of a CUDA device: gradients of weights above all, of which each has too few tiles
//! for all multiprocessors. They are put side by side in the order of launches, before it is known what lies where, and joined in the plan.

use super::Graph;
use super::group::Groups;
use super::memory::{is_wanted, operand};
use crate::cuda::target;
use crate::hash::Table;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::plan::{Action, KernelArg, Launch, Loc, Plan};
use mg_device::cuda::Gpu;
use mg_device::{Device, Layout};
use mg_kernels::library::matmul::Precision;
use mg_kernels::library::{Described, Library, MOST_TOGETHER, Shaped};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// What kernels waiting for others may keep in memory beyond what the plan needs at its peak: a part of that, or so many bytes.
const PART: usize = 16;
const LEAST: usize = 16 << 20;

/// Where a kernel is launched, what those have in common that may be launched with it, and the operands of one that shares them.
type Alike<O> = (Device, [usize; 3], Vec<O>);

/// What a library kernel has in common with others; `of` says what its operands are.
fn alike<O>(
    device: Device,
    kernel: &Library,
    args: &[KernelArg],
    result: Shaped,
    of: impl Iterator<Item = O>,
) -> Option<Alike<O>> {
    if !device.is_cuda() {
        return None;
    }
    let target = target(Gpu::of(device).ok()?, Precision::Highest, 16).ok()?;
    // Addresses are aligned as nearly all are; where they turn out not to be, the kernels are launched one by one.
    let described = |arg: &KernelArg| Described { layout: arg.layout, dtype: arg.dtype, align: 16 };
    let operands: SmallVec<[Described; 4]> = args.iter().map(described).collect();
    let shared = of.filter(|_| kernel.shares()).collect();
    Some((device, kernel.alike(&operands, &result, target)?, shared))
}

fn alike_group(graph: &Graph, groups: &Groups, id: usize) -> Option<Alike<usize>> {
    let group = groups.list[id].as_ref().filter(|group| group.is_kernel && group.epilogue.is_none())?;
    let node = group.members[0].node;
    let inner = graph.nodes[node];
    let Op::Kernel(Kernel::Library(kernel)) = &inner.op else { return None };
    if !inner.device.is_cuda() {
        return None;
    }
    let args = graph.sources[node].iter().map(|&source| operand(graph, source).ok());
    let args: Option<Vec<KernelArg>> = args.collect();
    let result = Shaped { shape: inner.shape, dtype: inner.dtype };
    alike(inner.device, kernel, &args?, result, graph.sources[node].iter().copied())
}

fn alike_launch(launch: &Launch) -> Option<Alike<(Loc, isize, Layout)>> {
    let call = launch.call().filter(|call| call.epilogue.is_none())?;
    let result = Shaped { shape: launch.shape, dtype: launch.dtype };
    let of = call.args.iter().map(|arg| (arg.bind.loc, arg.bind.delta, arg.layout));
    alike(launch.device, &call.kernel, &call.args, result, of)
}

/// The order of launches with those side by side that are to be one: each waits for others until something reads a result, or until what they keep in
/// memory is too much.
pub(super) fn put(graph: &Graph, groups: &Groups, order: Vec<usize>) -> Vec<usize> {
    let alike: Vec<Option<Alike<usize>>> = order.iter().map(|&id| alike_group(graph, groups, id)).collect();
    if alike.iter().flatten().count() < 2 {
        return order;
    }
    let lives = Lives::of(graph, groups, &order);
    let waits = |at: usize| groups.waits_for(order[at]);
    let fits = |at: usize, waiting: &[usize]| {
        let read: BTreeSet<usize> = waiting.iter().flat_map(|&p| groups.inputs(order[p]).to_vec()).collect();
        lives.fit(at, read)
    };
    side_by_side(&order, &alike, waits, fits)
}

/// As [`put`]: `waits` tells the launches that one at a position of the order waits for, `fits` whether there is room for those at other positions to wait
/// at a position.
fn side_by_side<K: PartialEq>(
    order: &[usize],
    alike: &[Option<K>],
    waits: impl Fn(usize) -> Vec<usize>,
    fits: impl Fn(usize, &[usize]) -> bool,
) -> Vec<usize> {
    let mut open: Vec<(&K, Vec<usize>)> = vec![];
    // Positions, and the position before which they are launched.
    let mut closed: Vec<(usize, Vec<usize>)> = vec![];
    for (at, key) in alike.iter().enumerate() {
        if !open.is_empty() {
            let waits = waits(at);
            let all: Vec<usize> = open.iter().flat_map(|(_, waiting)| waiting.iter().copied()).collect();
            let full = !fits(at, &all);
            let ends = |waiting: &[usize]| full || waiting.iter().any(|&p| waits.contains(&order[p]));
            closed.extend(open.extract_if(.., |(_, waiting)| ends(waiting)).map(|(_, all)| (at, all)));
        }
        let Some(key) = key else { continue };
        let known = open.iter().position(|(other, _)| *other == key);
        let place = known.unwrap_or_else(|| {
            open.push((key, vec![]));
            open.len() - 1
        });
        open[place].1.push(at);
        if open[place].1.len() == MOST_TOGETHER {
            closed.push((at + 1, open.swap_remove(place).1));
        }
    }
    closed.extend(open.into_iter().map(|(_, waiting)| (order.len(), waiting)));
    // One by itself stays where it was.
    closed.retain(|(_, waiting)| waiting.len() > 1);
    let moved: BTreeSet<usize> = closed.iter().flat_map(|(_, waiting)| waiting.iter().copied()).collect();
    let mut out = Vec::with_capacity(order.len());
    let mut closed = closed.into_iter().peekable();
    for at in 0..=order.len() {
        while let Some((_, waiting)) = closed.next_if(|(before, _)| *before == at) {
            out.extend(waiting.iter().map(|&p| order[p]));
        }
        out.extend(order.get(at).filter(|_| !moved.contains(&at)));
    }
    out
}

/// What lies in memory for a time, in an order of launches.
struct Lives {
    /// By node: until which position, and its bytes.
    until: Table<usize, (usize, usize)>,
    /// Bytes at each position.
    live: Vec<usize>,
    most: usize,
}

impl Lives {
    fn of(graph: &Graph, groups: &Groups, order: &[usize]) -> Lives {
        let mut position: Table<usize, usize> = Table::default();
        let mut last_read: Table<usize, usize> = Table::default();
        for (at, &id) in order.iter().enumerate() {
            position.insert(id, at);
            last_read.extend(groups.inputs(id).iter().map(|&input| (input, at)));
        }
        let mut until: Table<usize, (usize, usize)> = Table::default();
        let (mut more, mut less) = (vec![0usize; order.len()], vec![0usize; order.len() + 1]);
        for (node, of) in groups.of.iter().enumerate() {
            let (Some(&from), Some(&last)) = (of.and_then(|id| position.get(&id)), last_read.get(&node))
            else {
                continue;
            };
            if is_wanted(graph, node) {
                continue;
            }
            let inner = graph.nodes[node];
            let bytes = inner.shape.numel().saturating_mul(inner.dtype.size());
            until.insert(node, (last, bytes));
            more[from] = more[from].saturating_add(bytes);
            less[last.max(from) + 1] = less[last.max(from) + 1].saturating_add(bytes);
        }
        let mut now = 0usize;
        let live: Vec<usize> = more
            .iter()
            .zip(&less)
            .map(|(more, less)| {
                now = now.saturating_sub(*less).saturating_add(*more);
                now
            })
            .collect();
        let most = live.iter().copied().max().unwrap_or(0);
        Lives { until, live, most }
    }

    /// Whether there is room at a position for these to be there still.
    fn fit(&self, at: usize, nodes: impl IntoIterator<Item = usize>) -> bool {
        let held = |node| self.until.get(&node).filter(|(last, _)| *last < at).map_or(0, |(_, bytes)| *bytes);
        let held = nodes.into_iter().map(held).fold(0, usize::saturating_add);
        let room = self.most.saturating_add((self.most / PART).max(LEAST));
        self.live.get(at).copied().unwrap_or(0).saturating_add(held) <= room
    }
}

/// Makes one launch of neighbours that are alike.
pub(super) fn join(plan: &mut Plan) {
    join_by(plan, alike_launch);
}

pub(super) fn join_by<K: PartialEq>(plan: &mut Plan, alike: impl Fn(&Launch) -> Option<K>) {
    let mut launches: Vec<Launch> = vec![];
    let mut before: Option<K> = None;
    for launch in std::mem::take(&mut plan.launches) {
        let key = alike(&launch);
        let joins = key.is_some()
            && key == before
            && launches.last().is_some_and(|last| {
                let waits =
                    launch.inputs().any(|b| matches!(b.loc, Loc::Slot(s) if last.outputs().any(|o| o == s)));
                // What one check refuses is not to keep others from being written.
                let together = launch.depends(&plan.slots) == last.depends(&plan.slots);
                !waits && together && last.outputs().count() < MOST_TOGETHER
            });
        before = key;
        match launches.last_mut().filter(|_| joins) {
            Some(last) => last.joined_by(launch),
            None => launches.push(launch),
        }
    }
    plan.launches = launches;
}

impl Launch {
    /// Takes in one that is alike.
    fn joined_by(&mut self, launch: Launch) {
        self.bit |= launch.bit;
        if let Action::Together(all) = &mut self.action {
            return all.push(launch);
        }
        let action = std::mem::replace(&mut self.action, Action::Together(vec![]));
        let first = Launch { action, prepared: Default::default(), fuses: true.into(), ..*self };
        self.action = Action::Together(vec![first, launch]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches in order, by what they have in common, and what each waits for. Each name is its number.
    fn put(alike: &[Option<char>], waits: &[&[usize]], fits: impl Fn(usize, &[usize]) -> bool) -> Vec<usize> {
        let order: Vec<usize> = (0..alike.len()).collect();
        side_by_side(&order, alike, |at| waits[at].to_vec(), fits)
    }

    #[test]
    fn those_that_are_alike_wait_for_each_other() {
        let alike = [Some('a'), None, Some('a'), Some('b'), None, Some('a')];
        let waits: [&[usize]; 6] = [&[]; 6];
        assert_eq!(put(&alike, &waits, |_, _| true), [1, 3, 4, 0, 2, 5]);
        // One by itself stays where it was, and so do all where there is no room.
        assert_eq!(put(&[Some('a'), None, Some('b'), None], &waits, |_, _| true), [0, 1, 2, 3]);
        assert_eq!(put(&alike, &waits, |_, _| false), [0, 1, 2, 3, 4, 5]);
        // Until there is no room any more.
        assert_eq!(put(&alike, &waits, |_, waiting| waiting.len() < 3), [1, 3, 0, 2, 4, 5]);
    }

    #[test]
    fn what_is_read_comes_before() {
        let alike = [Some('a'), Some('a'), None, Some('a'), Some('a'), None];
        assert_eq!(put(&alike, &[&[], &[], &[1], &[], &[], &[]], |_, _| true), [0, 1, 2, 5, 3, 4]);
        // A product of a product waits for it, and not with it.
        assert_eq!(put(&alike, &[&[], &[0], &[], &[1], &[], &[3]], |_, _| true), [0, 1, 2, 3, 4, 5]);
        // Those that are read end their wait, and no others.
        let alike = [Some('a'), Some('b'), Some('a'), Some('b'), None, None, Some('b')];
        let waits: [&[usize]; 7] = [&[], &[], &[], &[], &[0], &[], &[]];
        assert_eq!(put(&alike, &waits, |_, _| true), [0, 2, 4, 5, 1, 3, 6]);
    }

    #[test]
    fn no_more_than_a_launch_takes() {
        let alike = vec![Some('a'); 2 * MOST_TOGETHER + 1];
        let waits: Vec<&[usize]> = vec![&[]; alike.len()];
        assert_eq!(put(&alike, &waits, |_, _| true), (0..alike.len()).collect::<Vec<_>>());
        let mut alike = vec![Some('a'); MOST_TOGETHER];
        alike.insert(1, None);
        let waits: Vec<&[usize]> = vec![&[]; alike.len()];
        let out = put(&alike, &waits, |_, _| true);
        assert_eq!(out[..2], [1, 0]);
    }

    #[test]
    fn room_is_what_the_peak_has() {
        let (mb, mut until) = (1 << 20, Table::default());
        until.insert(7, (2, 200 * mb));
        until.insert(8, (5, 500 * mb));
        let lives =
            Lives { until, live: vec![800 * mb, 900 * mb, 500 * mb, 700 * mb, 800 * mb, 0], most: 900 * mb };
        // What lives anyway takes no room.
        assert!(lives.fit(2, [7, 8]));
        assert!(lives.fit(3, [7, 8]));
        assert!(!lives.fit(4, [7]));
        assert!(lives.fit(4, [8]));
    }
}
