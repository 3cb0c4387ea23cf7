//! Memory that a run of a plan takes at once: where each temporary value lies in it.

use crate::plan::{Loc, Plan};
use mg_device::Device;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Gives temporary values their offsets in the plan's arena: first fit over the launches during which each lives.
pub(super) fn place_temporaries(plan: &mut Plan) {
    let mut life: Vec<Option<(usize, usize)>> = vec![None; plan.slots.len()];
    for (at, launch) in plan.launches.iter().enumerate() {
        let read = launch.inputs().filter_map(|b| match b.loc {
            Loc::Slot(slot) => Some(slot),
            Loc::Node(_) | Loc::Stored(_) | Loc::Product => None,
        });
        for slot in launch.outputs().chain(read) {
            life[slot] = Some(life[slot].map_or((at, at), |(from, _)| (from, at)));
        }
    }
    let mut order: Vec<(usize, usize, usize)> = life
        .iter()
        .enumerate()
        .filter_map(|(slot, life)| life.map(|(from, until)| (from, slot, until)))
        .collect();
    order.sort_unstable();
    let mut spaces: Vec<(Device, Space)> = vec![];
    for (from, slot, until) in order {
        let slot = &mut plan.slots[slot];
        if slot.leaves || slot.donor.is_some() {
            continue;
        }
        let bytes = (slot.len * slot.dtype.size()).next_multiple_of(256).max(256);
        let known = spaces.iter().position(|(device, _)| *device == slot.device);
        let at = known.unwrap_or_else(|| {
            spaces.push((slot.device, Space::default()));
            spaces.len() - 1
        });
        let space = &mut spaces[at].1;
        space.give_back(from);
        slot.offset = space.take(bytes, until);
        space.size = space.size.max(slot.offset.saturating_add(bytes));
    }
    plan.arenas.extend(spaces.into_iter().map(|(device, space)| (device, space.size)));
}

/// The memory of an arena while it is given out.
struct Space {
    /// Where each stretch that nobody has begins and ends; the last one has no end.
    free: BTreeMap<usize, usize>,
    /// What is given out: until which launch, where it begins and ends. The one that ends first is on top.
    given: BinaryHeap<Reverse<(usize, usize, usize)>>,
    size: usize,
}

impl Default for Space {
    fn default() -> Space {
        Space { free: BTreeMap::from([(0, usize::MAX)]), given: BinaryHeap::new(), size: 0 }
    }
}

impl Space {
    /// The first place for so many bytes. Past the largest size there can be, it is refused when it is asked for.
    fn take(&mut self, bytes: usize, until: usize) -> usize {
        let fits = |(&start, &end): (&usize, &usize)| (end - start >= bytes).then_some((start, end));
        let Some((start, end)) = self.free.iter().find_map(fits) else {
            return self.free.last_key_value().map_or(usize::MAX, |(&start, _)| start);
        };
        self.free.remove(&start);
        if start + bytes < end {
            self.free.insert(start + bytes, end);
        }
        self.given.push(Reverse((until, start, start + bytes)));
        start
    }

    /// Takes back what lived until before a launch.
    fn give_back(&mut self, launch: usize) {
        while let Some(&Reverse((until, mut start, mut end))) = self.given.peek()
            && until < launch
        {
            self.given.pop();
            if let Some((&before, &stop)) = self.free.range(..start).next_back()
                && stop == start
            {
                self.free.remove(&before);
                start = before;
            }
            if let Some(stop) = self.free.remove(&end) {
                end = stop;
            }
            self.free.insert(start, end);
        }
    }
}
