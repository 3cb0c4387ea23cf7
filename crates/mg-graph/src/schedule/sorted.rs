//! Sets as sorted lists: of few elements, which are made once, and asked, counted and joined often.

use std::ops::Deref;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sorted<T>(Vec<T>);

impl<T> Default for Sorted<T> {
    fn default() -> Self {
        Sorted(vec![])
    }
}

impl<T: Ord + Copy> Sorted<T> {
    pub(crate) fn has(&self, element: T) -> bool {
        self.0.binary_search(&element).is_ok()
    }

    /// The elements that another set does not have.
    pub(crate) fn beside<'a>(&'a self, other: &'a Sorted<T>) -> impl Iterator<Item = T> + 'a {
        let mut rest = other.0.as_slice();
        self.0.iter().copied().filter(move |element| {
            while let Some((first, more)) = rest.split_first().filter(|(first, _)| *first <= element) {
                rest = more;
                if first == element {
                    return false;
                }
            }
            true
        })
    }

    pub(crate) fn union(&self, other: &Sorted<T>) -> Sorted<T> {
        self.0.iter().copied().chain(other.beside(self)).collect()
    }
}

impl<T: Ord> FromIterator<T> for Sorted<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut list: Vec<T> = elements.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        Sorted(list)
    }
}

impl<T> Deref for Sorted<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Sorted;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_a_set() {
        // All pairs of subsets of six numbers.
        let subset = |bits: u32| (0..6).filter(move |n| bits >> n & 1 == 1);
        for (a, b) in (0..64).flat_map(|a| (0..64).map(move |b| (a, b))) {
            let (x, y): (BTreeSet<u32>, BTreeSet<u32>) = (subset(a).collect(), subset(b).collect());
            let (s, t): (Sorted<u32>, Sorted<u32>) = (subset(a).collect(), subset(b).collect());
            assert!(s.beside(&t).eq(x.difference(&y).copied()));
            assert!(s.union(&t).iter().eq(x.union(&y)));
            assert!((0..7).all(|n| s.has(n) == x.contains(&n)));
        }
        let twice: Sorted<u32> = [3, 1, 3].into_iter().collect();
        assert_eq!(twice[..], [1, 3]);
    }
}
