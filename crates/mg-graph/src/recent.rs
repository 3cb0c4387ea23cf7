//! What was made for a key, kept as long as it is used, in two generations: what is found moves to the younger one, and the older one is let
//! go when the younger one has grown to its limits.

use crate::hash::Table;
use std::sync::Arc;

/// How many things a generation has at most, and what they weigh together.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) count: usize,
    pub(crate) weight: usize,
}

pub(crate) trait Weighed {
    fn weight(&self) -> usize;
}

pub(crate) struct Recent<T> {
    limits: Limits,
    young: Generation<T>,
    old: Generation<T>,
}

/// By hashes; keys that differ may have the same.
struct Generation<T> {
    of: Table<u64, Vec<Arc<T>>>,
    count: usize,
    weight: usize,
}

impl<T> Default for Generation<T> {
    fn default() -> Self {
        Generation { of: Table::default(), count: 0, weight: 0 }
    }
}

impl<T: Weighed> Recent<T> {
    pub(crate) fn new(limits: Limits) -> Recent<T> {
        Recent { limits, young: Generation::default(), old: Generation::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.young.count + self.old.count
    }

    pub(crate) fn clear(&mut self) {
        *self = Recent::new(self.limits);
    }

    /// What was added under a hash and is it.
    pub(crate) fn find(&mut self, hash: u64, is: impl Fn(&T) -> bool) -> Option<Arc<T>> {
        if let Some(found) = self.young.of.get(&hash).and_then(|all| all.iter().find(|kept| is(kept))) {
            return Some(found.clone());
        }
        let all = self.old.of.get_mut(&hash)?;
        let found = all.swap_remove(all.iter().position(|kept| is(kept))?);
        self.old.count -= 1;
        self.add(hash, found.clone());
        Some(found)
    }

    pub(crate) fn add(&mut self, hash: u64, new: Arc<T>) {
        let weight = new.weight();
        let Limits { count, weight: most } = self.limits;
        if self.young.count >= count || self.young.weight + weight > most {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.count += 1;
        self.young.weight += weight;
        self.young.of.entry(hash).or_default().push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Of(u64, usize);

    impl Weighed for Of {
        fn weight(&self) -> usize {
            self.1
        }
    }

    /// All under one of four hashes.
    fn look(recent: &mut Recent<Of>, n: u64, weight: usize) -> bool {
        let found = recent.find(n % 4, |kept| kept.0 == n).map(|kept| kept.0);
        if found.is_none() {
            recent.add(n % 4, Arc::new(Of(n, weight)));
        }
        found == Some(n)
    }

    #[test]
    fn what_is_used_stays_and_the_rest_is_bounded() {
        let mut recent = Recent::new(Limits { count: 10, weight: usize::MAX });
        assert!(!look(&mut recent, 0, 1));
        for n in 1..1000 {
            assert!(!look(&mut recent, n, 1));
            assert!(look(&mut recent, 0, 1), "it is asked for each time, {n}");
            assert!(recent.len() <= 20);
        }
        assert!(!look(&mut recent, 1, 1), "nobody asked for it since");
        recent.clear();
        assert_eq!(recent.len(), 0);
        assert!(!look(&mut recent, 0, 1));
    }

    #[test]
    fn what_is_heavy_makes_room_for_less() {
        let mut recent = Recent::new(Limits { count: 100, weight: 50 });
        for n in 0..100 {
            look(&mut recent, n, 20);
            assert!(recent.len() <= 4);
        }
        // What is heavier than all that is kept is kept by itself.
        assert!(!look(&mut recent, 100, 1000));
        assert!(look(&mut recent, 100, 1000));
        assert!(!look(&mut recent, 101, 20));
        assert!(look(&mut recent, 100, 1000) && look(&mut recent, 101, 20));
    }
}
