//! Sorting of words: a key in the high bits, and in the low ones what goes with it.
//!
//! Short lines are sorted digit by digit from the lowest one ("LSD": Knuth, "The Art of Computer Programming" 3, 5.2.5), and only by the
//! leading digits that tell nearly all words apart: the few that these leave together are sorted by themselves. Long lines are first divided
//! by their highest digit, so that each part lies in a cache. Digits count from the least key to the largest, so that few bits are looked
//! at where keys are close to each other. Where a processor sorts words many at a time ([`super::quick`]), it does so with what lies in a cache.

use crate::cpu::library::{Shared, scratch};
use crate::cpu::loops::{Isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};

/// Lengths up to which words are compared.
const COMPARED: usize = 96;
/// Lengths up to which digits are counted from the lowest one: words and their copy lie in the second-level cache.
const CACHED: usize = 1 << 15;
/// Bits of a digit within the cache, and of one that divides a long line.
const DIGIT: u32 = 8;
const LONG_DIGIT: u32 = 11;
/// Elements of a part that one thread sorts alone.
const PART: usize = 1 << 18;

/// What is sorted.
pub(super) trait Word: Copy + Ord + Send + Sync {
    /// Bits of a word.
    const BITS: u32;
    /// A key, and in the lower half what goes with it.
    fn join(key: u64, with: u64) -> Self;
    /// What goes with the key.
    fn with(self) -> u64;
    /// The key of a word that is one, or of one that [`Word::join`] made.
    fn key(self, joined: bool) -> u64;
    /// The bits from `shift` of the difference to `base`, masked.
    fn digit(self, base: Self, shift: u32, mask: usize) -> usize;
    /// The highest bit in which the difference to `base` has a one; 0 where there is none.
    fn width(self, base: Self) -> u32;
    /// The word without its bits below `low`.
    fn cleared(self, low: u32) -> Self;
    /// Sorts all words in full where this processor sorts many such at a time; whether it does. `spare` is as long.
    fn sort_many(words: &mut [Self], spare: &mut [Self]) -> bool;
}

/// Whether this processor sorts words of no more than 64 bits many at a time.
pub(super) fn sorts_many() -> bool {
    cfg!(target_arch = "x86_64") && isa() == Isa::Avx512
}

macro_rules! words {
    ($($T:ty, $many:expr;)*) => {$(
        impl Word for $T {
            const BITS: u32 = <$T>::BITS;
            #[inline(always)]
            fn join(key: u64, with: u64) -> $T {
                (key as $T) << (<$T>::BITS / 2) | with as $T
            }
            #[inline(always)]
            fn with(self) -> u64 {
                (self & (<$T>::MAX >> (<$T>::BITS / 2))) as u64
            }
            #[inline(always)]
            fn key(self, joined: bool) -> u64 {
                if joined { (self >> (<$T>::BITS / 2)) as u64 } else { self as u64 }
            }
            #[inline(always)]
            fn digit(self, base: $T, shift: u32, mask: usize) -> usize {
                (self.wrapping_sub(base) >> shift) as usize & mask
            }
            #[inline(always)]
            fn width(self, base: $T) -> u32 {
                <$T>::BITS - (self - base).leading_zeros()
            }
            #[inline(always)]
            fn cleared(self, low: u32) -> $T {
                self >> low << low
            }
            fn sort_many(words: &mut [$T], spare: &mut [$T]) -> bool {
                $many(words, spare)
            }
        }
    )*};
}
words! {
    u32, many32;
    u64, many64;
    u128, |_: &mut [u128], _: &mut [u128]| false;
}

macro_rules! many {
    ($name:ident, $T:ty, $sort:ident) => {
        fn $name(words: &mut [$T], spare: &mut [$T]) -> bool {
            #[cfg(target_arch = "x86_64")]
            if sorts_many() {
                let n = words.len();
                // SAFETY: the processor has what is asked for.
                unsafe { super::quick::$sort(words, &mut spare[..n]) };
                return true;
            }
            let _ = (words, spare);
            false
        }
    };
}
many!(many32, u32, sort32);
many!(many64, u64, sort64);

/// The least word without its low bits, and how many bits it takes to count from there to the largest one.
fn range<W: Word>(words: impl Iterator<Item = W>, low: u32) -> Option<(W, W)> {
    let mut words = words.map(|w| w.cleared(low));
    let first = words.next()?;
    Some(words.fold((first, first), |(least, most), w| (least.min(w), most.max(w))))
}

/// Sorts words; those that agree in all bits from `low` are in order already. `spare` is as long.
pub(super) fn sort<W: Word>(words: &mut [W], spare: &mut [W], low: u32) {
    let n = words.len();
    // What agrees from `low` is in order below it, too.
    if W::sort_many(words, spare) {
        return;
    }
    if n <= COMPARED {
        return words.sort_unstable();
    }
    let Some((base, most)) = range(words.iter().copied(), low) else { return };
    let bits = most.width(base).max(low);
    if bits == low {
        return;
    }
    if n > CACHED {
        return divide(words, spare, base, bits, low);
    }
    // The digits that tell nearly all words apart, at least for evenly spread ones.
    let wanted = (n.ilog2() + DIGIT).next_multiple_of(DIGIT);
    let from = bits.saturating_sub(wanted).max(low);
    by_digits(words, spare, base, from, bits);
    if from == low {
        return;
    }
    // What these leave together.
    let mut start = 0;
    while start < n {
        let head = words[start].digit(base, from, usize::MAX);
        let same = words[start + 1..].iter().take_while(|w| w.digit(base, from, usize::MAX) == head).count();
        let end = start + 1 + same;
        if same > 0 {
            sort(&mut words[start..end], &mut spare[start..end], low);
        }
        start = end;
    }
}

/// Sorts by the bits from `from` to `bits` of the differences to `base`, digit by digit, stably.
fn by_digits<W: Word>(words: &mut [W], spare: &mut [W], base: W, from: u32, bits: u32) {
    const SIZE: usize = 1 << DIGIT;
    const MASK: usize = SIZE - 1;
    let digits = (bits - from).div_ceil(DIGIT) as usize;
    let mut counts = [[0u32; SIZE]; (u128::BITS / DIGIT) as usize];
    for word in words.iter() {
        for (d, counts) in counts[..digits].iter_mut().enumerate() {
            counts[word.digit(base, from + d as u32 * DIGIT, MASK)] += 1;
        }
    }
    let (mut source, mut target) = (words, spare);
    let mut swapped = false;
    for (d, counts) in counts[..digits].iter_mut().enumerate() {
        let shift = from + d as u32 * DIGIT;
        if counts[source[0].digit(base, shift, MASK)] as usize == source.len() {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        for &word in source.iter() {
            let at = &mut counts[word.digit(base, shift, MASK)];
            // SAFETY: places count up to the number of words, which is the target's length.
            unsafe { *target.get_unchecked_mut(*at as usize) = word };
            *at += 1;
        }
        std::mem::swap(&mut source, &mut target);
        swapped = !swapped;
    }
    if swapped {
        target.copy_from_slice(source);
    }
}

/// Divides words by their highest digit, and sorts the parts.
fn divide<W: Word>(words: &mut [W], spare: &mut [W], base: W, bits: u32, low: u32) {
    const SIZE: usize = 1 << DIGIT;
    let shift = bits.saturating_sub(DIGIT).max(low);
    let mut counts = [0usize; SIZE];
    for word in words.iter() {
        counts[word.digit(base, shift, SIZE - 1)] += 1;
    }
    let mut places = [0usize; SIZE];
    let mut before = 0;
    for (place, count) in places.iter_mut().zip(counts) {
        *place = before;
        before += count;
    }
    for &word in words.iter() {
        let at = &mut places[word.digit(base, shift, SIZE - 1)];
        spare[*at] = word;
        *at += 1;
    }
    for (end, count) in places.into_iter().zip(counts) {
        let part = end - count..end;
        if shift > low {
            sort(&mut spare[part.clone()], &mut words[part.clone()], low);
        }
        words[part.clone()].copy_from_slice(&spare[part]);
    }
}

/// Elements of a line that a thread goes through at a time.
pub(super) fn chunks(n: usize) -> (usize, usize) {
    let chunk = n.div_ceil(4 * num_threads()).max(1 << 14);
    (chunk, n.div_ceil(chunk))
}

/// The least and the largest of a long line's words, by all threads.
fn range_of<W: Word>(n: usize, load: &(impl Fn(usize) -> W + Sync), low: u32) -> Option<(W, W)> {
    let (chunk, count) = chunks(n);
    let mut found: Vec<Option<(W, W)>> = vec![None; count];
    let at = Shared(found.as_mut_ptr());
    parallel(count, &|c| {
        let all = range((c * chunk..((c + 1) * chunk).min(n)).map(load), low);
        // SAFETY: each task has an entry of its own.
        unsafe { at.get().add(c).write(all) };
    });
    found.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// How a long line's words are divided by their highest digit.
struct Division<W> {
    base: W,
    shift: u32,
    mask: usize,
    chunk: usize,
    /// How many words of each chunk have each digit.
    counts: Vec<Vec<usize>>,
}

impl<W: Word> Division<W> {
    /// `None` where all words agree.
    fn of(n: usize, load: &(impl Fn(usize) -> W + Sync), low: u32) -> Option<Division<W>> {
        let (base, most) = range_of(n, load, low)?;
        let bits = most.width(base).max(low);
        let digit = (bits - low).min(LONG_DIGIT);
        if digit == 0 {
            return None;
        }
        let (shift, mask) = (bits - digit, (1usize << digit) - 1);
        let (chunk, count) = chunks(n);
        let mut counts = vec![vec![0usize; mask + 1]; count];
        let at = Shared(counts.as_mut_ptr());
        parallel(count, &|c| {
            // SAFETY: each task has an entry of its own.
            let counts = unsafe { &mut *at.get().add(c) };
            for i in c * chunk..((c + 1) * chunk).min(n) {
                counts[load(i).digit(base, shift, mask)] += 1;
            }
        });
        Some(Division { base, shift, mask, chunk, counts })
    }

    fn digit(&self, word: W) -> usize {
        word.digit(self.base, self.shift, self.mask)
    }

    /// How many words have each digit.
    fn totals(&self) -> Vec<usize> {
        (0..=self.mask).map(|d| self.counts.iter().map(|c| c[d]).sum()).collect()
    }
}

/// Sorts a long line by all threads, part by part: `done` is given where each part begins, and its words in order. Words that agree
/// from bit `low` are in one part.
pub(super) fn sort_long<W: Word>(
    n: usize,
    load: &(impl Fn(usize) -> W + Sync),
    low: u32,
    done: &(dyn Fn(usize, &[W]) + Sync),
) {
    scratch::with(scratch::Slot::Packed, n, |all: *mut W| {
        let Some(mut division) = Division::of(n, load, low) else {
            let at = Shared(all);
            // SAFETY: there is room for all words.
            (0..n).for_each(|i| unsafe { at.get().add(i).write(load(i)) });
            // SAFETY: written above.
            return done(0, unsafe { std::slice::from_raw_parts(all, n) });
        };
        let totals = division.totals();
        let mut start = 0;
        for (digit, total) in totals.iter().enumerate() {
            let mut before = start;
            for counts in &mut division.counts {
                before += std::mem::replace(&mut counts[digit], before);
            }
            start += total;
        }
        let mut places = std::mem::take(&mut division.counts);
        let (at, to) = (Shared(places.as_mut_ptr()), Shared(all));
        parallel(places.len(), &|c| {
            // SAFETY: each task has an entry of its own.
            let places = unsafe { &mut *at.get().add(c) };
            for i in c * division.chunk..((c + 1) * division.chunk).min(n) {
                let word = load(i);
                let place = &mut places[division.digit(word)];
                // SAFETY: digits and chunks have places of their own, which count up to `n`.
                unsafe { to.get().add(*place).write(word) };
                *place += 1;
            }
        });
        // SAFETY: every place was written.
        let all = unsafe { std::slice::from_raw_parts_mut(all, n) };
        finish(all, &totals, if division.shift > low { Some(low) } else { None }, done);
    });
}

/// Sorts parts, those that are long by all threads, others each by one.
fn finish<W: Word>(all: &mut [W], totals: &[usize], low: Option<u32>, done: &(dyn Fn(usize, &[W]) + Sync)) {
    // Neighbours are taken together while they are short.
    let mut parts: Vec<(usize, Vec<usize>)> = vec![];
    let (mut start, mut size) = (0, 0);
    let long = PART.max(all.len() / (2 * num_threads()));
    for &total in totals.iter().filter(|&&total| total > 0) {
        if total > long
            && let Some(low) = low
        {
            let part = &all[start..start + total];
            sort_long(total, &|i| part[i], low, &|from, words| done(start + from, words));
            size = 0;
        } else {
            match parts.last_mut() {
                Some((_, ends)) if size > 0 && size + total <= CACHED => ends.push(start + total),
                _ => {
                    parts.push((start, vec![start + total]));
                    size = 0;
                }
            }
            size += total;
        }
        start += total;
    }
    let at = Shared(all.as_mut_ptr());
    parallel(parts.len(), &|p| {
        let (start, ends) = &parts[p];
        let mut from = *start;
        for &to in ends {
            // SAFETY: parts are disjoint.
            let words = unsafe { std::slice::from_raw_parts_mut(at.get().add(from), to - from) };
            if let Some(low) = low {
                with_spare(words.len(), |spare| sort(words, spare, low));
            }
            done(from, words);
            from = to;
        }
    });
}

/// Memory for words while they are sorted.
pub(super) fn with_spare<W: Word, R>(n: usize, f: impl FnOnce(&mut [W]) -> R) -> R {
    scratch::with(scratch::Slot::Panel, n, |spare: *mut W| match n {
        0 => f(&mut []),
        // SAFETY: there is room for `n` words; what is read of them was written before, and any bits are a word.
        _ => f(unsafe { std::slice::from_raw_parts_mut(spare, n) }),
    })
}

/// What several tasks found, in their order.
pub(super) fn joined<W: Word>(found: Vec<Vec<W>>) -> Vec<W> {
    let mut all = memory::room(found.iter().map(Vec::len).sum());
    found.into_iter().for_each(|part| all.extend(part));
    all
}

/// The `k`-th least word of a long line, by all threads.
pub(super) fn nth_long<W: Word>(
    n: usize,
    load: &(impl Fn(usize) -> W + Sync),
    k: usize,
    low: u32,
) -> Option<W> {
    let Some(division) = Division::of(n, load, low) else { return (k < n).then(|| load(k)) };
    let totals = division.totals();
    let mut before = 0;
    let digit = totals.iter().position(|&total| {
        before += total;
        k < before
    })?;
    let k = k - (before - totals[digit]);
    let mut found: Vec<Vec<W>> = vec![vec![]; division.counts.len()];
    let at = Shared(found.as_mut_ptr());
    parallel(division.counts.len(), &|c| {
        // SAFETY: each task has an entry of its own.
        let found = unsafe { &mut *at.get().add(c) };
        *found = memory::room(division.counts[c][digit]);
        let all = c * division.chunk..((c + 1) * division.chunk).min(n);
        found.extend(all.map(load).filter(|&w| division.digit(w) == digit));
    });
    let mut found = joined(found);
    Some(*found.select_nth_unstable(k).1)
}
