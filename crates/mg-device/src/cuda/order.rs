//! Which launches must wait for which: those that read what another writes, or write what another uses.

use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// A launch, by its position among those that are collected.
pub(super) type Position = u32;

/// Who used some memory last.
#[derive(Clone, Default)]
struct Use {
    writer: Option<Position>,
    /// Since then.
    readers: SmallVec<[Position; 4]>,
}

/// Launches so far, and the memory that they use.
#[derive(Default)]
pub(super) struct Order {
    /// Ranges of addresses by where they start: each one's end and users. They do not overlap.
    used: BTreeMap<u64, (u64, Use)>,
    /// For each launch the launches before it, as bits.
    before: Vec<SmallVec<[u64; 2]>>,
}

fn has(bits: &[u64], position: Position) -> bool {
    bits.get(position as usize / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
}

impl Order {
    /// The launches after which one that reads and writes such memory may run, without those that others of them wait for.
    pub(super) fn after(&self, reads: &[Range<u64>], writes: &[Range<u64>]) -> Vec<Position> {
        let mut found = vec![];
        for range in reads {
            self.each(range, |used| found.extend(used.writer));
        }
        for range in writes {
            self.each(range, |used| {
                found.extend(used.writer);
                found.extend(&used.readers);
            });
        }
        self.reduced(found)
    }

    /// Without doubles, and without launches that another one of them waits for anyway. Sorted.
    pub(super) fn reduced(&self, mut found: Vec<Position>) -> Vec<Position> {
        found.sort_unstable();
        found.dedup();
        // Whoever waits for a launch comes after it.
        let mut kept: Vec<Position> = vec![];
        for &position in found.iter().rev() {
            if !kept.iter().any(|&k| has(&self.before[k as usize], position)) {
                kept.push(position);
            }
        }
        kept.reverse();
        kept
    }

    /// Adds the next launch, which waits for these.
    pub(super) fn push(&mut self, after: &[Position]) -> Position {
        let position = self.before.len();
        let mut bits = SmallVec::from_elem(0, position.div_ceil(64));
        for &a in after {
            for (bits, more) in bits.iter_mut().zip(&self.before[a as usize]) {
                *bits |= more;
            }
            bits[a as usize / 64] |= 1 << (a % 64);
        }
        self.before.push(bits);
        position as Position
    }

    /// Notes what a launch reads and writes.
    pub(super) fn uses(&mut self, position: Position, reads: &[Range<u64>], writes: &[Range<u64>]) {
        for range in reads {
            self.update(range, |used| used.readers.push(position));
        }
        for range in writes {
            self.update(range, |used| *used = Use { writer: Some(position), readers: SmallVec::new() });
        }
    }

    fn each(&self, range: &Range<u64>, mut f: impl FnMut(&Use)) {
        if range.is_empty() {
            return;
        }
        // The one before may reach in.
        let first = self.used.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let others = self.used.range(range.clone());
        first.into_iter().chain(others).for_each(|(_, (_, used))| f(used));
    }

    /// Makes `at` a boundary between ranges.
    fn split(&mut self, at: u64) {
        let Some((_, (end, used))) = self.used.range_mut(..at).next_back() else { return };
        if *end > at {
            let rest = (std::mem::replace(end, at), used.clone());
            self.used.insert(at, rest);
        }
    }

    fn update(&mut self, range: &Range<u64>, f: impl Fn(&mut Use)) {
        if range.is_empty() {
            return;
        }
        self.split(range.start);
        self.split(range.end);
        let mut gaps: SmallVec<[Range<u64>; 4]> = SmallVec::new();
        let mut at = range.start;
        for (&start, (end, used)) in self.used.range_mut(range.clone()) {
            if start > at {
                gaps.push(at..start);
            }
            at = *end;
            f(used);
        }
        if at < range.end {
            gaps.push(at..range.end);
        }
        for gap in gaps {
            let mut used = Use::default();
            f(&mut used);
            self.used.insert(gap.start, (gap.end, used));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spans() -> impl Strategy<Value = Vec<Range<u64>>> {
        prop::collection::vec((0u64..40, 0u64..12).prop_map(|(start, n)| start..start + n), 0..4)
    }

    proptest! {
        /// A launch waits, be it through others, for exactly those earlier ones that it conflicts with, and theirs.
        #[test]
        fn launches_wait_for_what_they_conflict_with(
            launches in prop::collection::vec((spans(), spans()), 0..90),
        ) {
            let mut order = Order::default();
            let mut waits: Vec<Vec<bool>> = vec![];
            let meet = |a: &[Range<u64>], b: &[Range<u64>]| {
                a.iter().any(|x| b.iter().any(|y| x.start.max(y.start) < x.end.min(y.end)))
            };
            for (n, (reads, writes)) in launches.iter().enumerate() {
                let after = order.after(reads, writes);
                let position = order.push(&after);
                prop_assert_eq!(position as usize, n);
                order.uses(position, reads, writes);
                let mut expected = vec![false; n];
                for (m, (r, w)) in launches[..n].iter().enumerate() {
                    if meet(writes, r) || meet(writes, w) || meet(reads, w) {
                        expected[m] = true;
                        (0..m).for_each(|k| expected[k] |= waits[m][k]);
                    }
                }
                for (m, &expected) in expected.iter().enumerate() {
                    prop_assert_eq!(has(&order.before[n], m as Position), expected, "{} after {}", n, m);
                }
                for (i, &a) in after.iter().enumerate() {
                    let others = after.iter().enumerate().filter(|(j, _)| *j != i);
                    prop_assert!(others.into_iter().all(|(_, &b)| !waits[b as usize].get(a as usize).is_some_and(|&w| w)));
                }
                waits.push(expected);
            }
        }
    }
}
