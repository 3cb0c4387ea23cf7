//! Elements by their rank on the CPU, without sorting all.

use super::SortKind;
use super::cpu::{Lines, with_words};
use super::keys::Element;
use super::words::{Word, chunks, joined, nth_long, sort, sort_long, with_spare};
use crate::cpu::library::Shared;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::parallel;
use std::ops::Range;
use std::sync::Mutex;

/// Elements that are looked at together, whether any is small enough.
const BLOCK: usize = 32;

/// Whether `count` elements of `n` are so few that candidates are kept while the line is gone through.
pub(super) fn few(n: usize, count: usize) -> bool {
    count < n && count <= n / 16
}

/// Whether any of some elements has a key of at most `most`, once turned.
type Near<E> = unsafe fn(x: *const E, n: usize, turn: u64, most: u64) -> bool;

/// The loop for it: all are looked at, many at a time.
pub(super) fn near_of<E: Element>() -> Near<E> {
    by_isa!(narrow isa(), Near<E>, fn<E: Element>(x: *const E, n: usize, turn: u64, most: u64) -> bool {
        let x = std::slice::from_raw_parts(x, n);
        match E::BITS <= 32 {
            true => x.iter().fold(false, |any, x| any | ((x.key() ^ turn) as u32 <= most as u32)),
            false => x.iter().fold(false, |any, x| any | (x.key() ^ turn <= most)),
        }
    }, [E])
}

/// The `count` smallest words of a range, in order: those that are smaller than the `count`-th of what was seen are kept, and thinned
/// out from time to time.
///
/// `near(block, limit)` is false where it can tell that none of a block of words is smaller than the limit.
pub(super) fn smallest<W: Word>(
    range: Range<usize>,
    count: usize,
    load: &impl Fn(usize) -> W,
    near: &impl Fn(Range<usize>, W) -> bool,
) -> Vec<W> {
    if count == 0 {
        return vec![];
    }
    let room = count.saturating_mul(2).max(count.saturating_add(8 * BLOCK));
    let mut kept: Vec<W> = memory::room(room.saturating_add(BLOCK));
    let first = range.start + room.min(range.len());
    kept.extend((range.start..first).map(load));
    let thin = |kept: &mut Vec<W>| {
        let limit = (kept.len() > count).then(|| *kept.select_nth_unstable(count - 1).1);
        kept.truncate(count);
        limit
    };
    if let Some(mut limit) = thin(&mut kept) {
        let mut at = first;
        while at < range.end {
            let end = (at + BLOCK).min(range.end);
            if near(at..end, limit) {
                kept.extend((at..end).map(load).filter(|w| *w < limit));
                if kept.len() > room {
                    limit = thin(&mut kept).unwrap_or(limit);
                }
            }
            at = end;
        }
        thin(&mut kept);
    }
    with_spare(kept.len(), |spare| sort(&mut kept, spare, 0));
    kept
}

/// The `count` smallest words of a long line, in order, by all threads.
pub(super) fn smallest_long<W: Word>(
    n: usize,
    count: usize,
    load: &(impl Fn(usize) -> W + Sync),
    near: &(impl Fn(Range<usize>, W) -> bool + Sync),
) -> Vec<W> {
    let (chunk, chunks) = chunks(n);
    let mut found: Vec<Vec<W>> = vec![vec![]; chunks];
    let at = Shared(found.as_mut_ptr());
    parallel(chunks, &|c| {
        let best = smallest(c * chunk..((c + 1) * chunk).min(n), count, load, near);
        // SAFETY: each task has an entry of its own.
        unsafe { *at.get().add(c) = best };
    });
    let found = joined(found);
    smallest(0..found.len(), count, &|i| found[i], &|block, limit| found[block].iter().any(|w| *w < limit))
}

/// One position of each line.
///
/// # Safety
///
/// There is room for them, which nobody else uses.
pub(super) unsafe fn each<E: Element, W: Word>(
    kind: SortKind,
    rank: usize,
    lines: &Lines<E>,
    out: Shared<*mut i64>,
) {
    let find = |row: usize| {
        let at = match kind {
            SortKind::Mode => mode::<E, W>(lines, row),
            SortKind::Median | SortKind::NanMedian => median::<E, W>(kind, lines, row),
            SortKind::Nth | SortKind::Indices | SortKind::Values => nth::<E, W>(lines, row, rank),
        };
        // SAFETY: each line has an entry of its own.
        unsafe { out.get().add(row).write(at as i64) };
    };
    match lines.are_long() {
        true => (0..lines.count).for_each(find),
        false => lines.each(&find),
    }
}

/// The position of the element of a rank.
fn nth<E: Element, W: Word>(lines: &Lines<E>, row: usize, rank: usize) -> usize {
    let (x, n) = (lines.line(row), lines.length);
    let word = |i: usize, x: E| W::join(lines.key(x), i as u64);
    let found = match lines.are_long() {
        true => nth_long(n, &lines.words::<W>(row), rank, W::BITS / 2),
        false => with_words(x, word, |words| (rank < n).then(|| *words.select_nth_unstable(rank).1)),
    };
    found.map_or(0, |w| w.with() as usize)
}

/// The position of the lower median.
fn median<E: Element, W: Word>(kind: SortKind, lines: &Lines<E>, row: usize) -> usize {
    let x = lines.line(row);
    let (first, numbers) = match lines.are_long() {
        false => (x.iter().position(|x| x.is_nan()), x.iter().filter(|x| !x.is_nan()).count()),
        true => {
            let (chunk, count) = chunks(x.len());
            let mut found = vec![(None, 0); count];
            let at = Shared(found.as_mut_ptr());
            parallel(count, &|c| {
                let part = &x[c * chunk..((c + 1) * chunk).min(x.len())];
                let numbers = part.iter().filter(|x| !x.is_nan()).count();
                let first = match numbers < part.len() {
                    true => part.iter().position(|x| x.is_nan()).map(|i| c * chunk + i),
                    false => None,
                };
                // SAFETY: each task has an entry of its own.
                unsafe { at.get().add(c).write((first, numbers)) };
            });
            let numbers = found.iter().map(|f| f.1).sum();
            (found.into_iter().find_map(|f| f.0), numbers)
        }
    };
    match first {
        Some(nan) if kind == SortKind::Median => nan,
        _ => nth::<E, W>(lines, row, numbers.max(1).div_ceil(2) - 1),
    }
}

/// The last position of the element that is met most often, the least of several. NaN is equal to nothing: the first one is met once.
fn mode<E: Element, W: Word>(lines: &Lines<E>, row: usize) -> usize {
    let (x, n, low) = (lines.line(row), lines.length, W::BITS / 2);
    let word = |i: usize, x: E| W::join(lines.key(x), i as u64);
    // How often, from the largest key, and where last: of the largest triple.
    let best = |words: &[W]| {
        words.chunk_by(|a, b| a.cleared(low) == b.cleared(low)).fold((0, 0, 0), |best, run| {
            let (first, last) = (run[0], run[run.len() - 1]);
            let (met, at) = match x[first.with() as usize].is_nan() {
                true => (1, first),
                false => (run.len(), last),
            };
            best.max((met, u64::MAX - at.key(true), at.with() as usize))
        })
    };
    if lines.are_long() {
        let found = Mutex::new((0, 0, 0));
        sort_long(n, &lines.words::<W>(row), low, &|_, words| {
            let part = best(words);
            // What panics elsewhere leaves a pair that is whole.
            let mut found = found.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *found = part.max(*found);
        });
        return found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).2;
    }
    with_words(x, word, |words| {
        with_spare(n, |spare| sort(words, spare, low));
        best(words).2
    })
}
