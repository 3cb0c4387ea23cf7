//! Sorting on the CPU. The order of elements with their positions is one only, so that the same operands give the same result whatever
//! the number of threads is.

use super::keys::Element;
use super::select;
use super::words::{Word, sort as sort_words, sort_long, with_spare};
use super::{Sort, SortKind};
use crate::cpu::library::{Shared, scratch};
use crate::cpu::pool::{num_threads, parallel};
use crate::library::{Operand, Shaped};
use mg_device::{Float, Width, bf16, f16};
use std::ops::Range;

/// Length from which a line is sorted by all threads, where there are fewer lines than these.
const LONG: usize = 1 << 17;
/// Elements that are worth a task.
const TASK: usize = 1 << 14;

/// Lines of a dense operand, side by side.
pub(super) struct Lines<E> {
    x: *const E,
    pub(super) count: usize,
    pub(super) length: usize,
    /// The bits of a key that are turned over: all where the largest elements come first, and that of the sign where integers have one.
    turn: u64,
}

// SAFETY: the operand is valid from any thread, and read only.
unsafe impl<E> Sync for Lines<E> {}

impl<E: Element> Lines<E> {
    /// The elements of a line.
    pub(super) fn line(&self, row: usize) -> &[E] {
        match self.length {
            0 => &[],
            // SAFETY: the operand has `count` lines of this length.
            n => unsafe { std::slice::from_raw_parts(self.x.add(row * n), n) },
        }
    }

    /// The key of an element in the order that is asked for.
    #[inline(always)]
    pub(super) fn key(&self, x: E) -> u64 {
        x.key() ^ self.turn
    }

    /// The words of a line: keys, and with each its position. One function for all that asks, as what goes through long lines is compiled
    /// for each function that it is given.
    pub(super) fn words<W: Word>(&self, row: usize) -> impl Fn(usize) -> W + Sync {
        let x = self.line(row);
        move |i| W::join(self.key(x[i]), i as u64)
    }

    /// Says of a block of a line's elements whether any comes no later than a word.
    fn near<W: Word>(&self, row: usize) -> impl Fn(Range<usize>, W) -> bool + Sync {
        let (x, turn, near) = (Shared(self.line(row).as_ptr()), self.turn, select::near_of::<E>());
        // SAFETY: the block lies within the line; the processor has the instructions.
        move |block, limit| unsafe { near(x.get().add(block.start), block.len(), turn, limit.key(true)) }
    }

    /// The element of a key.
    #[inline(always)]
    fn of(&self, key: u64) -> E {
        E::of(key ^ self.turn)
    }

    /// Gives zeros of a line in order, which are equal and have one key, the signs that they had, one after the other.
    fn zeros_as_they_were(&self, row: usize, sorted: &mut [E]) {
        let zero = (1u64 << (E::BITS - 1)) ^ self.turn;
        let first = sorted.partition_point(|&v| self.key(v) < zero);
        if !sorted.get(first).is_some_and(|v| v.is_zero()) {
            return;
        }
        let zeros = self.line(row).iter().filter(|v| v.is_zero());
        sorted[first..].iter_mut().zip(zeros).for_each(|(to, &from)| *to = from);
    }

    /// Whether all threads are to work on one line at a time.
    pub(super) fn are_long(&self) -> bool {
        self.length >= LONG && self.count < 2 * num_threads()
    }

    /// Calls `f` with each line's number, on all threads.
    pub(super) fn each(&self, f: &(dyn Fn(usize) + Sync)) {
        let lines = TASK.div_ceil(self.length.max(1));
        if num_threads() == 1 || lines >= self.count {
            return (0..self.count).for_each(f);
        }
        parallel(self.count.div_ceil(lines), &|task| {
            (task * lines..((task + 1) * lines).min(self.count)).for_each(f);
        });
    }
}

/// Computes a sort.
///
/// # Safety
///
/// Operand and output lie densely, as the shapes say, and are valid from any thread for the time of the call.
pub(super) unsafe fn sort(sort: &Sort, operands: &[Operand], out: *mut u8, result: &Shaped) {
    let Some(x) = operands.first() else { return };
    macro_rules! go {
        ($T:ty) => {
            // SAFETY: this function's contract; the element has the dtype's bits.
            unsafe { run::<$T>(sort, x, out, result) }
        };
    }
    match (x.dtype.float(), x.dtype.width()) {
        (Some(Float::F64), _) => go!(f64),
        (Some(Float::F32), _) => go!(f32),
        (Some(Float::F16), _) => go!(f16),
        (Some(Float::BF16), _) => go!(bf16),
        // Integers with a sign are those without one, in another order (`Lines::turn`): what sorts them is not compiled twice.
        (None, Width::W64) => go!(u64),
        (None, Width::W32) => go!(u32),
        (None, Width::W16) => go!(u16),
        (None, Width::W8) => go!(u8),
    }
}

/// An expression for the words in which positions of so long a line go with the keys, in as few bits as they take. What elements alone
/// decide is a constant, so that nothing is compiled for words that they never have.
macro_rules! with_positions {
    ($E:ty, $length:expr, $W:ident => $e:expr) => {
        if const { <$E>::BITS > 32 } {
            with_positions!(u128, $W => $e)
        } else if const { <$E>::BITS <= 16 } && $length as u64 <= 0x1_0000 {
            with_positions!(u32, $W => $e)
        } else if $length as u64 <= 0x1_0000_0000 {
            with_positions!(u64, $W => $e)
        } else {
            with_positions!(u128, $W => $e)
        }
    };
    ($Word:ty, $W:ident => $e:expr) => {{
        type $W = $Word;
        $e
    }};
}

unsafe fn run<E: Element>(sort: &Sort, x: &Operand, out: *mut u8, result: &Shaped) {
    let shape = x.layout.shape();
    let Some(&length) = shape.last() else { return };
    let results = result.shape.last().copied().unwrap_or(0);
    if result.shape.numel() == 0 || length == 0 {
        return;
    }
    let sign = if x.dtype.is_int() && x.dtype.is_signed() { 1 << (E::BITS - 1) } else { 0 };
    let turn = sign ^ if sort.descending { u64::MAX >> (64 - E::BITS) } else { 0 };
    let lines = Lines { x: x.first().cast::<E>(), count: shape.numel() / length, length, turn };
    // SAFETY: this function's contract; the dtypes are the result's.
    unsafe {
        let indices = Shared(out.cast::<i64>());
        match sort.kind {
            SortKind::Values if results == length => match const { E::BITS <= 32 } {
                true => values::<E, u32>(&lines, Shared(out.cast())),
                false => values::<E, u64>(&lines, Shared(out.cast())),
            },
            SortKind::Values | SortKind::Indices => {
                with_positions!(E, length, W => first::<E, W>(sort, &lines, results, out))
            }
            kind @ (SortKind::Nth | SortKind::Median | SortKind::NanMedian | SortKind::Mode) => {
                with_positions!(E, length, W => select::each::<E, W>(kind, sort.count, &lines, indices))
            }
        }
    }
}

/// All elements of each line in order.
///
/// # Safety
///
/// There is room for them, which nobody else uses.
unsafe fn values<E: Element, W: Word>(lines: &Lines<E>, out: Shared<*mut E>) {
    let n = lines.length;
    let low = W::BITS / 2;
    // A word is a key alone: it is made as if it were what goes with one.
    let word = |x: E| W::join(lines.key(x) >> low, lines.key(x) & (u64::MAX >> (64 - low)));
    let row_done = |row: usize| {
        // SAFETY: lines are disjoint, and have been written.
        let to = unsafe { std::slice::from_raw_parts_mut(out.get().add(row * n), n) };
        lines.zeros_as_they_were(row, to);
    };
    if lines.are_long() {
        for row in 0..lines.count {
            let x = lines.line(row);
            sort_long(n, &|i| word(x[i]), 0, &|from, words| {
                for (i, w) in words.iter().enumerate() {
                    // SAFETY: there is room for the line.
                    unsafe { out.get().add(row * n + from + i).write(lines.of(w.key(false))) };
                }
            });
            row_done(row);
        }
        return;
    }
    lines.each(&|row| {
        with_words(
            lines.line(row),
            |_, x| word(x),
            |words| {
                with_spare(n, |spare| sort_words(words, spare, 0));
                for (i, w) in words.iter().enumerate() {
                    // SAFETY: there is room for the line.
                    unsafe { out.get().add(row * n + i).write(lines.of(w.key(false))) };
                }
            },
        );
        row_done(row);
    });
}

/// Calls `f` with a line's words.
pub(super) fn with_words<E: Copy, W: Word, R>(
    line: &[E],
    word: impl Fn(usize, E) -> W,
    f: impl FnOnce(&mut [W]) -> R,
) -> R {
    scratch::with(scratch::Slot::Packed, line.len(), |words: *mut W| {
        if line.is_empty() {
            return f(&mut []);
        }
        for (i, &x) in line.iter().enumerate() {
            // SAFETY: there is room for as many words.
            unsafe { words.add(i).write(word(i, x)) };
        }
        // SAFETY: written above.
        f(unsafe { std::slice::from_raw_parts_mut(words, line.len()) })
    })
}

/// The first elements of each line in order, or their positions.
///
/// # Safety
///
/// There is room for them, which nobody else uses.
unsafe fn first<E: Element, W: Word>(sort: &Sort, lines: &Lines<E>, results: usize, out: *mut u8) {
    let n = lines.length;
    let low = W::BITS / 2;
    let out = Shared(out);
    let write = |row: usize, from: usize, words: &[W]| {
        let x = lines.line(row);
        let words = &words[..words.len().min(results.saturating_sub(from))];
        let start = row * results + from;
        // SAFETY: there is room for the results; lines and parts of lines are disjoint.
        unsafe {
            match sort.kind {
                SortKind::Values => {
                    let to = out.get().cast::<E>().add(start);
                    words.iter().enumerate().for_each(|(i, w)| to.add(i).write(x[w.with() as usize]));
                }
                SortKind::Indices
                | SortKind::Nth
                | SortKind::Median
                | SortKind::NanMedian
                | SortKind::Mode => {
                    let to = out.get().cast::<i64>().add(start);
                    words.iter().enumerate().for_each(|(i, w)| to.add(i).write(w.with() as i64));
                }
            }
        }
    };
    if lines.are_long() {
        for row in 0..lines.count {
            let load = lines.words::<W>(row);
            match select::few(n, results) {
                true => write(row, 0, &select::smallest_long(n, results, &load, &lines.near(row))),
                false => sort_long(n, &load, low, &|from, words| write(row, from, words)),
            }
        }
        return;
    }
    lines.each(&|row| {
        if select::few(n, results) {
            return write(row, 0, &select::smallest(0..n, results, &lines.words::<W>(row), &lines.near(row)));
        }
        with_words(
            lines.line(row),
            |i, x| W::join(lines.key(x), i as u64),
            |words| {
                let words = match results < n {
                    true => {
                        words.select_nth_unstable(results - 1);
                        &mut words[..results]
                    }
                    false => words,
                };
                // What was selected is in no order: of equal keys the positions decide, too.
                let low = if results < n { 0 } else { low };
                with_spare(words.len(), |spare| sort_words(words, spare, low));
                write(row, 0, words);
            },
        );
    });
}
