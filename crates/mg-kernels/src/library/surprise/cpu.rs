//! Surprises on the CPU: products of blocks of rows, and what is done to each row of their scores.

use super::{Order, Sizes, Spread, Surprise, SurpriseKind, dtype_of_sums};
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::softmax::{Real, convert, convert_back, largest, weighed};
use crate::cpu::library::{Shared, fill_zero};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::parallel;
use crate::library::Operand;
use crate::library::matmul::cpu::matmul;
use mg_device::{DType, Float, Layout, Shape};
use std::ops::Range;

/// Bytes of scores in a block: products of fewer rows wait for memory.
const BLOCK: usize = 64 << 20;
/// Rows of a large block are a multiple of this.
const MANY: usize = 64;
/// Scores from which threads share the work, and of a task.
const PARALLEL: usize = 1 << 14;
/// Elements that are converted at a time.
const FEW: usize = 256;

/// Computes it.
///
/// # Safety
///
/// Operands and result are valid for what the sizes say, from any thread, for the time of the call.
pub(super) unsafe fn surprise(surprise: &Surprise, s: &Sizes, operands: &[Operand], out: *mut u8) {
    let (size, sums) = (s.dtype.size(), dtype_of_sums(s.dtype).size());
    // SAFETY: this function's contract.
    unsafe {
        match (surprise.kind, s.dtype) {
            (SurpriseKind::Answer, _) => {
                let from = operands[0].first().wrapping_add(s.places()[2] * size);
                std::ptr::copy_nonoverlapping(from, out, s.lines * s.rows * sums);
            }
            (SurpriseKind::Total, _) => {
                std::ptr::copy_nonoverlapping(operands[0].first(), out, operands[0].dtype.size());
            }
            (SurpriseKind::Forward | SurpriseKind::Slopes, DType::F64) => {
                Call::<f64>::new(surprise, s, operands, out).run();
            }
            (SurpriseKind::Forward | SurpriseKind::Slopes, _) => {
                Call::<f32>::new(surprise, s, operands, out).run();
            }
        }
    }
}

/// The addresses of a call; sums are of `T`.
#[derive(Clone, Copy)]
struct Call<T> {
    s: Sizes,
    spread: Spread,
    rows: *const u8,
    weight: *const u8,
    labels: *const i64,
    /// In the rows' dtype, or null.
    bias: *const u8,
    /// Of each word, or null.
    shares: *const T,
    /// What flows back, or null.
    given: *const T,
    /// Lines of the answer.
    answer: *mut T,
    /// The line of gradients, where there is one.
    line: *mut u8,
}

/// What is done to the scores of a row, which are of `T`.
struct OfRow<T> {
    scores: *mut T,
    words: usize,
    /// Of each word, or null.
    bias: *const T,
    shares: *const T,
    spread: Spread,
    label: i64,
    /// What flows back to its surprise and to its spread, if anything is asked of that.
    given: Option<[T; 2]>,
}

/// A row's surprise and spread; its scores become what flows back to them.
#[inline(always)]
unsafe fn of_row<T: Real>(row: &OfRow<T>) -> [T; 2] {
    let OfRow { scores, words, bias, shares, spread, .. } = *row;
    let share = |c: usize| match spread {
        // SAFETY: there is one for each word.
        Spread::ByShares => unsafe { *shares.add(c) },
        Spread::Nothing | Spread::Evenly => T::of(1.0),
    };
    // SAFETY: the caller's rows have so many words.
    unsafe {
        if !bias.is_null() {
            for c in 0..words {
                *scores.add(c) = (*scores.add(c)).add(*bias.add(c));
            }
        }
        let top = largest(scores, words);
        let shift = if top > T::LEAST { top } else { T::ZERO };
        // One that is not there was told of before.
        let label = usize::try_from(row.label).ok().filter(|&label| label < words);
        let own = label.map_or(T::ZERO, |label| *scores.add(label));
        let (mut below, mut weight) = (T::ZERO, T::ZERO);
        if spread != Spread::Nothing {
            for c in 0..words {
                below = below.add(share(c).mul((*scores.add(c)).sub(shift)));
                weight = weight.add(share(c));
            }
        }
        let sum = weighed(scores, words, shift);
        let log = sum.ln();
        let answer = [log.sub(own.sub(shift)), weight.mul(log).sub(below)];
        let Some([flow, evenly]) = row.given else { return answer };
        // What nothing flows back to has no slope, be its scores what they may.
        let is_none = flow == T::ZERO && evenly == T::ZERO;
        let scale = flow.add(evenly.mul(weight)).div(sum);
        for c in 0..words {
            let slope = if is_none { T::ZERO } else { (*scores.add(c)).mul(scale) };
            scores.add(c).write(slope);
        }
        if spread != Spread::Nothing && evenly != T::ZERO {
            for c in 0..words {
                *scores.add(c) = (*scores.add(c)).sub(evenly.mul(share(c)));
            }
        }
        if let Some(label) = label {
            *scores.add(label) = (*scores.add(label)).sub(flow);
        }
        answer
    }
}

impl<T: Real> Call<T> {
    /// Safety: as of [`surprise`].
    unsafe fn new(surprise: &Surprise, s: &Sizes, operands: &[Operand], out: *mut u8) -> Call<T> {
        let Order { bias, shares, count } = surprise.order();
        let at = |i: Option<usize>| i.map_or(std::ptr::null(), |i| operands[i].first());
        let is_slopes = surprise.kind == SurpriseKind::Slopes;
        let answer = if is_slopes { s.places()[2] * s.dtype.size() } else { 0 };
        Call {
            s: *s,
            spread: surprise.spread,
            rows: operands[0].first(),
            weight: operands[1].first(),
            labels: operands[2].first().cast(),
            bias: at(bias),
            shares: at(shares).cast(),
            given: at(is_slopes.then_some(count)).cast(),
            answer: out.wrapping_add(answer).cast(),
            line: if is_slopes { out } else { std::ptr::null_mut() },
        }
    }

    /// Safety: as of [`surprise`].
    unsafe fn run(&self) {
        let Sizes { rows, width, words, dtype, .. } = self.s;
        let (size, is_slopes) = (dtype.size(), !self.line.is_null());
        let [_, bias, ..] = self.s.places();
        let of_bias = is_slopes && self.s.biased;
        if rows == 0 && is_slopes {
            let elements = bias + if of_bias { words } else { 0 };
            // SAFETY: the line has these elements.
            unsafe { fill_zero(self.line, elements * size) };
            return;
        }
        let block = self.s.block(words * size, MANY, BLOCK);
        scratch::with(Slot::Windows, block * words * size, |scores: *mut u8| {
            scratch::with(Slot::Sums, if of_bias { words } else { 0 }, |sums: *mut T| {
                // SAFETY: there is room for a block of scores, and for a sum of each word.
                unsafe {
                    if of_bias {
                        fill_zero(sums.cast(), words * size_of::<T>());
                    }
                    for from in (0..rows).step_by(block) {
                        let at = from..rows.min(from + block);
                        self.score(&at, scores);
                        self.each_row(&at, scores);
                        if is_slopes && width > 0 {
                            self.back(&at, scores);
                        }
                        if of_bias {
                            self.add_up(at.len(), scores, sums);
                        }
                    }
                    if of_bias {
                        from_sums(dtype, sums, words, self.line.add(bias * size));
                    }
                }
            });
        });
    }

    /// The scores of some rows.
    unsafe fn score(&self, at: &Range<usize>, scores: *mut u8) {
        let Sizes { width, words, dtype, .. } = self.s;
        let own = Layout::contiguous(Shape::of(&[at.len(), width]));
        let Ok(weight) = Layout::new(Shape::of(&[width, words]), &[1, width as isize], 0) else { return };
        let rows = self.rows.wrapping_add(at.start * width * dtype.size());
        // SAFETY: the operands have these elements, and there is room for the scores.
        unsafe { matmul(dtype, rows, &own, self.weight, &weight, Some(scores), None) };
    }

    /// What each row answers with, and what flows back to its scores.
    unsafe fn each_row(&self, at: &Range<usize>, scores: *mut u8) {
        type OfRows<T> = unsafe fn(&OfRow<T>) -> [T; 2];
        let of_row: OfRows<T> =
            by_isa!(isa(), OfRows<T>, fn <U: Real>(row: &OfRow<U>) -> [U; 2] { of_row::<U>(row) }, [T]);
        let Sizes { rows, words, dtype, lines, .. } = self.s;
        let (start, count) = (at.start, at.len());
        // The bias is added in the dtype of sums.
        let bias = if self.bias.is_null() { 0 } else { words };
        scratch::with(Slot::Shares, bias, |wide_bias: *mut T| {
            if bias > 0 {
                // SAFETY: there is room for so many.
                unsafe { to_sums(dtype, self.bias, words, wide_bias) };
            }
            let shared = Shared((*self, scores, wide_bias.cast_const()));
            let half = dtype.is_half();
            let one = |i: usize, room: *mut T| {
                let (call, scores, bias) = shared.get();
                let row = start + i;
                let own = scores.wrapping_add(i * words * dtype.size());
                // SAFETY: rows are written by one task each.
                unsafe {
                    if half {
                        to_sums(dtype, own, words, room);
                    }
                    let given = (!call.given.is_null()).then(|| {
                        let spread = if lines > 1 { *call.given.add(rows + row) } else { T::ZERO };
                        [*call.given.add(row), spread]
                    });
                    let is_back = given.is_some();
                    let answer = of_row(&OfRow {
                        scores: if half { room } else { own.cast() },
                        words,
                        bias,
                        shares: call.shares,
                        spread: call.spread,
                        label: *call.labels.add(row),
                        given,
                    });
                    for (line, &value) in answer[..lines].iter().enumerate() {
                        call.answer.add(line * rows + row).write(value);
                    }
                    if half && is_back {
                        from_sums(dtype, room, words, own);
                    }
                }
            };
            let each = (PARALLEL / words).max(1);
            let task = |t: usize| {
                scratch::with(Slot::Panel, if half { words } else { 0 }, |room: *mut T| {
                    (t * each..count.min((t + 1) * each)).for_each(|i| one(i, room));
                });
            };
            let tasks = count.div_ceil(each);
            if count * words < PARALLEL { (0..tasks).for_each(task) } else { parallel(tasks, &task) }
        });
    }

    /// The gradients of some rows, and what they add to the weight's.
    unsafe fn back(&self, at: &Range<usize>, scores: *mut u8) {
        let Sizes { width, words, dtype, .. } = self.s;
        let (n, size) = (at.len(), dtype.size());
        let [of_rows, ..] = self.s.places();
        let dense = |a: usize, b: usize| Layout::contiguous(Shape::of(&[a, b]));
        let Ok(turned) = Layout::new(Shape::of(&[words, n]), &[1, words as isize], 0) else { return };
        let rows = self.rows.wrapping_add(at.start * width * size);
        let line = Shared(self.line);
        let add = |panel: *const u8, positions: Range<usize>| {
            let first = positions.start * size;
            // SAFETY: each panel is added once, and by one thread.
            unsafe {
                add::<T>(dtype, line.get().add(first), panel.wrapping_add(first), positions.len());
            }
        };
        // SAFETY: the operands have these elements, and the line the gradients'.
        unsafe {
            let to = self.line.add((of_rows + at.start * width) * size);
            matmul(dtype, scores, &dense(n, words), self.weight, &dense(words, width), Some(to), None);
            match at.start {
                0 => matmul(dtype, scores, &turned, rows, &dense(n, width), Some(self.line), None),
                _ => matmul(dtype, scores, &turned, rows, &dense(n, width), None, Some(&add)),
            }
        }
    }

    /// Adds what flows back to the scores of each word.
    unsafe fn add_up(&self, n: usize, scores: *const u8, sums: *mut T) {
        let Sizes { words, dtype, .. } = self.s;
        scratch::with(Slot::Panel, words, |row: *mut T| {
            for i in 0..n {
                // SAFETY: there are so many rows, and room for one.
                unsafe {
                    to_sums(dtype, scores.add(i * words * dtype.size()), words, row);
                    for c in 0..words {
                        *sums.add(c) = (*sums.add(c)).add(*row.add(c));
                    }
                }
            }
        });
    }
}

/// Elements in the dtype of sums.
unsafe fn to_sums<T: Real>(dtype: DType, from: *const u8, n: usize, to: *mut T) {
    // SAFETY: the caller's addresses are valid for `n`; sums of half types are of f32, others of the dtype itself.
    unsafe {
        match dtype.float() {
            Some(Float::F16 | Float::BF16) => convert(dtype, from, n, to.cast()),
            Some(Float::F32 | Float::F64) | None => std::ptr::copy_nonoverlapping(from.cast(), to, n),
        }
    }
}

/// And back.
unsafe fn from_sums<T: Real>(dtype: DType, from: *const T, n: usize, to: *mut u8) {
    // SAFETY: as of `to_sums`.
    unsafe {
        match dtype.float() {
            Some(Float::F16 | Float::BF16) => convert_back(dtype, from.cast(), n, to),
            Some(Float::F32 | Float::F64) | None => std::ptr::copy_nonoverlapping(from, to.cast(), n),
        }
    }
}

/// Adds to elements, in the dtype of sums.
unsafe fn add<T: Real>(dtype: DType, to: *mut u8, more: *const u8, n: usize) {
    let size = dtype.size();
    let mut few = [[T::ZERO; FEW]; 2];
    for from in (0..n).step_by(FEW) {
        let count = FEW.min(n - from);
        // SAFETY: the caller's addresses are valid for `n`.
        unsafe {
            let [sums, others] = &mut few;
            let at = to.add(from * size);
            to_sums(dtype, at, count, sums.as_mut_ptr());
            to_sums(dtype, more.wrapping_add(from * size), count, others.as_mut_ptr());
            for (sum, &other) in sums.iter_mut().zip(others.iter()) {
                *sum = sum.add(other);
            }
            from_sums(dtype, sums.as_ptr(), count, at);
        }
    }
}
