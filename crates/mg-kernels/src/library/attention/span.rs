//! Which keys a query takes by where both stand.

use std::ops::Range;

/// The keys that a query takes by its position: query `q` those from `q - behind` to `q + ahead`. One pair of bounds says all of what has a name: every
/// key, those up to a query's own position, those up to the lower right corner, and windows.
///
/// ```
/// use mg_kernels::library::Span;
///
/// // The last of two queries takes all of three keys, the one before it all but the last.
/// let lower_right = Span::new(None, Some(1)).ok_or("no key at all")?;
/// assert_eq!([0, 1].map(|query| lower_right.keys(query, 3)), [0..2, 0..3]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Span {
    behind: i32,
    ahead: i32,
}

impl Span {
    /// A bound beyond all positions: no sequence is that long.
    pub const FAR: i32 = 1 << 29;
    /// All keys.
    pub const ALL: Span = Span { behind: Self::FAR, ahead: Self::FAR };
    /// Those up to a query's own position.
    pub const CAUSAL: Span = Span { behind: Self::FAR, ahead: 0 };

    /// From so many before a query's position to so many after it, without a bound where there is no number; either may be negative. None where no query
    /// could take any key.
    #[must_use]
    pub fn new(behind: Option<i64>, ahead: Option<i64>) -> Option<Span> {
        let far = i64::from(Self::FAR);
        let [behind, ahead] = [behind, ahead].map(|bound| bound.unwrap_or(far).clamp(-far, far) as i32);
        (behind + ahead >= 0).then_some(Span { behind, ahead })
    }

    /// So many before a query's position, and so many after it.
    #[must_use]
    pub fn bounds(self) -> [i32; 2] {
        [self.behind, self.ahead]
    }

    /// Those of the two bounds by which any of so many queries leaves out any of so many keys.
    #[must_use]
    pub fn limits(self, queries: usize, keys: usize) -> [Option<i64>; 2] {
        let limit = |bound: i32, of: usize| Some(i64::from(bound)).filter(|&bound| bound < of as i64 - 1);
        [limit(self.behind, queries), limit(self.ahead, keys)]
    }

    /// What a query takes of so many keys.
    #[must_use]
    pub fn keys(self, query: usize, keys: usize) -> Range<usize> {
        self.met(query..query + 1, keys)
    }

    /// What any of some queries takes of so many keys.
    #[must_use]
    pub fn met(self, queries: Range<usize>, keys: usize) -> Range<usize> {
        let (first, last) =
            (queries.start as i64 - i64::from(self.behind), queries.end as i64 + i64::from(self.ahead));
        let end = last.clamp(0, keys as i64) as usize;
        (first.max(0) as usize).min(end)..end
    }

    /// The same keys, where positions are counted from a query and a key on.
    #[must_use]
    pub fn counted_from(self, query: usize, key: usize) -> Span {
        let by = key as i64 - query as i64;
        let moved = |bound: i32, by: i64| match bound {
            Self::FAR => Self::FAR,
            bound => (i64::from(bound) + by).clamp(-i64::from(Self::FAR), i64::from(Self::FAR)) as i32,
        };
        Span { behind: moved(self.behind, by), ahead: moved(self.ahead, -by) }
    }

    /// Whether there is no bound.
    #[must_use]
    pub fn is_all(self) -> bool {
        self == Self::ALL
    }

    /// Whether all of so many queries begin at the first key, and the last ones take the most.
    #[must_use]
    pub fn grows(self, queries: usize, keys: usize) -> bool {
        matches!(self.limits(queries, keys), [None, Some(_)])
    }

    /// How many keys a query takes at most, where there are so many.
    pub(super) fn width(self, keys: usize) -> usize {
        keys.min((self.behind + self.ahead) as usize + 1)
    }
}
