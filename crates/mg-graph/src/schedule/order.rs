//! The order of launches.

use super::group::{Groups, Split};
use crate::engine::internal;
use crate::hash::Table;
use mg_device::Result;
use std::collections::BTreeSet;

/// Launches in an order that respects who waits for whom; of those that are ready, the one that was asked for first.
pub(super) fn in_order(groups: &Groups) -> Result<Vec<usize>> {
    let ids: Vec<usize> = (0..groups.list.len()).filter(|&i| groups.list[i].is_some()).collect();
    let mut waiting: Table<usize, usize> = Table::default();
    let mut readers: Table<usize, Vec<usize>> = Table::default();
    let mut ready: BTreeSet<((bool, usize), usize)> = BTreeSet::new();
    let mut read: BTreeSet<usize> = BTreeSet::new();
    for &id in &ids {
        read.extend(groups.waits_for(id));
    }
    // Elementwise work that nothing waits for goes last, side by side: an optimiser's updates are one launch.
    let first = |id: usize| {
        let group = groups.list[id].as_ref();
        let sink = group.is_some_and(|g| !g.is_kernel && g.split == Split::None) && !read.contains(&id);
        (sink, group.and_then(|g| g.members.first()).map_or(0, |m| m.node))
    };
    for &id in &ids {
        let deps = groups.waits_for(id);
        for &d in &deps {
            readers.entry(d).or_default().push(id);
        }
        if deps.is_empty() {
            ready.insert((first(id), id));
        }
        waiting.insert(id, deps.len());
    }
    let mut order = vec![];
    while let Some((_, id)) = ready.pop_first() {
        order.push(id);
        for &r in readers.get(&id).into_iter().flatten() {
            if let Some(n) = waiting.get_mut(&r) {
                *n -= 1;
                if *n == 0 {
                    ready.insert((first(r), r));
                }
            }
        }
    }
    if order.len() != ids.len() {
        return Err(internal("launches that wait for each other"));
    }
    Ok(order)
}
