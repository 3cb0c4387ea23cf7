//! Products of a matrix and a vector, or a few: every number of the matrix is read once, so what counts is that memory is read in order.

use super::Output;
use super::blocked::Matrices;
use super::entry::Entry;
use super::micro::{Compute, Line};
use crate::cpu::library::Shared;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::pool::parallel;
use std::mem::MaybeUninit;
use std::ops::Range;

/// The most vectors that a matrix is multiplied with line by line: with more, tiles lose less.
const FEW: usize = 4;
/// Multiplications of a task.
const TASK: usize = 1 << 18;
/// Values of a line that are converted at a time.
const PIECE: usize = 512;
/// Values that stay near while one vector after the other is multiplied with them: a share of the second-level cache.
const NEAR: usize = 1 << 15;
/// Lines that are read beside each other.
const BESIDE: usize = 4;

/// How the lines of the matrix lie in the result.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Each line with a vector gives a number.
    Dots,
    /// All lines together, each times a number, give the result.
    Sums,
}

/// A matrix of `lines` by `len`, and a few vectors.
pub(super) struct Lines<T> {
    form: Form,
    lines: usize,
    len: usize,
    a: *const T,
    /// From one line to the next, and from one of a line's numbers to the next: 1 for those that are added up as they lie.
    a_line: isize,
    a_step: isize,
    x: *const T,
    /// From one of a vector's numbers to the next, and from one vector to the next.
    x_step: isize,
    x_vector: isize,
    vectors: usize,
    /// Of the result, in the same way.
    y_step: usize,
    y_vector: usize,
}

impl<T: Entry> Lines<T> {
    /// A product as one of lines, where that is the faster way.
    pub(super) fn of(p: &Matrices<T>) -> Option<Lines<T>> {
        let (transposed, row) = (p.transposed(), p.n);
        let rows = || Lines::dots_of(p, [row, 1]);
        let columns = || Lines::dots_of(&transposed, [1, row]);
        // Where both are few, the longer one gives the lines.
        let dots = if p.m >= p.n { rows().or_else(columns) } else { columns().or_else(rows) };
        dots.or_else(|| Lines::sums_of(p, 1, 1)).or_else(|| Lines::sums_of(&transposed, FEW, row))
    }

    /// The fewest numbers of a line: fewer take longer to add up than to multiply.
    fn least() -> usize {
        2 * T::Acc::kernels().lanes
    }

    /// Rows of `a` with the few columns of `b`; the result's steps are from row to row and from column to column. Rows with gaps, or of one number
    /// many times, are added up in the order of those without, whatever copies them or does not. (A matrix that lies column by column is another matter:
    /// it is read in that order.)
    fn dots_of(p: &Matrices<T>, [y_step, y_vector]: [usize; 2]) -> Option<Lines<T>> {
        let by_columns = p.m > 1 && p.a_row == 1 && p.a_k.unsigned_abs() >= p.m;
        (p.n <= FEW && !by_columns && p.k >= Lines::<T>::least()).then_some(Lines {
            form: Form::Dots,
            lines: p.m,
            len: p.k,
            a: p.a,
            a_line: p.a_row,
            a_step: p.a_k,
            x: p.b,
            x_step: p.b_k,
            x_vector: p.b_column,
            vectors: p.n,
            y_step,
            y_vector,
        })
    }

    /// Columns of `a`, each times a number of each of the few columns of `b`, of which each gives contiguous numbers, that far from one another.
    fn sums_of(p: &Matrices<T>, few: usize, apart: usize) -> Option<Lines<T>> {
        (p.n <= few && p.a_row == 1 && p.m >= Lines::<T>::least()).then_some(Lines {
            form: Form::Sums,
            lines: p.k,
            len: p.m,
            a: p.a,
            a_line: p.a_k,
            a_step: 1,
            x: p.b,
            x_step: p.b_k,
            x_vector: p.b_column,
            vectors: p.n,
            y_step: 1,
            // A result that is one vector is passed on as soon as a part of it is there.
            y_vector: if p.n == 1 { 1 } else { apart },
        })
    }

    /// How long the vectors are.
    fn along(&self) -> usize {
        match self.form {
            Form::Dots => self.len,
            Form::Sums => self.lines,
        }
    }

    /// How many numbers each vector gives.
    fn across(&self) -> usize {
        match self.form {
            Form::Dots => self.lines,
            Form::Sums => self.len,
        }
    }

    /// Computes the product.
    ///
    /// Safety: as [`matmul`](super::matmul), for matrices at these addresses.
    pub(super) unsafe fn run(&self, output: Output<'_, T>, threads: bool) {
        let (along, numbers) = (self.along(), self.vectors * self.along());
        let is_there = T::DIRECT && self.x_step == 1;
        scratch::with(Slot::Packed, if is_there { 0 } else { numbers }, |packed: *mut T::Acc| {
            let (mut x, mut x_vector) = (self.x.cast::<T::Acc>(), self.x_vector);
            if !is_there {
                for v in 0..self.vectors {
                    // SAFETY: the vectors lie there, and there is room for them.
                    unsafe {
                        let from = self.x.offset(v as isize * self.x_vector);
                        T::widen(from, self.x_step, packed.add(v * along), along);
                    }
                }
                (x, x_vector) = (packed, along as isize);
            }
            let whole = self.across() * self.vectors;
            let fill = |raw: *mut T| {
                // SAFETY: by this function's contract.
                unsafe { self.fill(x, x_vector, raw, output, threads) }
            };
            match output.raw.is_null() {
                true => scratch::with(Slot::Panel, whole, fill),
                // SAFETY: the matrix lies there.
                false => fill(unsafe { output.raw.add(output.start) }),
            }
        })
    }

    /// Writes the result to `y`, and passes it on.
    unsafe fn fill(
        &self,
        x: *const T::Acc,
        x_vector: isize,
        y: *mut T,
        output: Output<'_, T>,
        threads: bool,
    ) {
        let across = self.across();
        // Columns of a line in whole cache lines, lines in groups that are read beside each other.
        let grain = if self.form == Form::Sums { 64 } else { BESIDE };
        let each = (TASK / (self.along() * self.vectors).max(1)).max(1).next_multiple_of(grain);
        let each = if threads { each } else { across };
        // Rows of the result are passed on whole.
        let by_rows = self.y_vector == 1;
        let this = Shared((self, x, y, output));
        let task = |t: usize| {
            let (this, x, y, output) = this.get();
            let part = t * each..across.min((t + 1) * each);
            // SAFETY: each task computes a part of the result that no other does.
            unsafe { this.part(x, x_vector, y, part.clone()) };
            if by_rows {
                let positions = part.start * this.vectors..part.end * this.vectors;
                output.finish(y.wrapping_add(positions.start), positions);
            }
        };
        let tasks = across.div_ceil(each);
        if tasks > 1 {
            parallel(tasks, &task)
        } else {
            task(0)
        }
        if !by_rows {
            output.finish(y, 0..across * self.vectors);
        }
    }

    /// A part of what each vector gives.
    unsafe fn part(&self, x: *const T::Acc, x_vector: isize, y: *mut T, part: Range<usize>) {
        // SAFETY: by the contract of `run`; the memory of sums has room for the part.
        unsafe {
            if T::DIRECT {
                let y = y.cast::<T::Acc>().wrapping_add(part.start * self.y_step);
                return self.add_up(x, x_vector, y, [self.y_step, self.y_vector], part);
            }
            let n = part.len();
            scratch::with(Slot::Sums, n * self.vectors, |sums: *mut T::Acc| {
                self.add_up(x, x_vector, sums, [1, n], part.clone());
                for v in 0..self.vectors {
                    let (from, to) = (sums.add(v * n), y.add(part.start * self.y_step + v * self.y_vector));
                    match self.y_step {
                        1 => T::narrow(from, to, n),
                        step => (0..n).for_each(|i| T::narrow(from.add(i), to.add(i * step), 1)),
                    }
                }
            })
        }
    }

    unsafe fn add_up(
        &self,
        x: *const T::Acc,
        x_vector: isize,
        y: *mut T::Acc,
        strides: [usize; 2],
        part: Range<usize>,
    ) {
        // SAFETY: by the contract of `run`.
        unsafe {
            match self.form {
                Form::Dots => self.dots(x, x_vector, y, strides, part),
                Form::Sums => self.sums(x, x_vector, y, strides[1], part),
            }
        }
    }

    unsafe fn dots(
        &self,
        x: *const T::Acc,
        x_vector: isize,
        y: *mut T::Acc,
        [y_step, y_vector]: [usize; 2],
        part: Range<usize>,
    ) {
        let is_there = T::DIRECT && self.a_step == 1;
        // What is of its type already is added up in one go, however it lies.
        let piece = if T::DIRECT { self.len } else { PIECE };
        let room = if is_there { 0 } else { BESIDE.min(part.len()) * piece };
        scratch::with(Slot::Strip, room, |buffer: *mut T::Acc| {
            let kernels = &T::Acc::kernels().lines;
            let mut line = part.start;
            while line < part.end {
                let (count, kernel) = match part.end - line {
                    BESIDE.. => (BESIDE, kernels.dots_beside),
                    _ => (1, kernels.dot),
                };
                // SAFETY: the lines lie in the matrix; the buffer has room for a piece of each.
                unsafe {
                    let from = self.a.offset(line as isize * self.a_line);
                    let to = y.add((line - part.start) * y_step);
                    for at in (0..self.len).step_by(piece) {
                        let k = piece.min(self.len - at);
                        let from = from.offset(at as isize * self.a_step);
                        let (mut a, mut a_line) = (from.cast::<T::Acc>(), self.a_line);
                        if !is_there {
                            for i in 0..count {
                                let from = from.offset(i as isize * self.a_line);
                                T::widen(from, self.a_step, buffer.add(i * piece), k);
                            }
                            (a, a_line) = (buffer.cast_const(), piece as isize);
                        }
                        for v in 0..self.vectors {
                            let (x, y) = (x.offset(v as isize * x_vector).add(at), to.add(v * y_vector));
                            kernel(&Line { lines: count, len: k, a, a_line, x, y, y_step, add: at > 0 });
                        }
                    }
                }
                line += count;
            }
        })
    }

    unsafe fn sums(
        &self,
        x: *const T::Acc,
        x_vector: isize,
        y: *mut T::Acc,
        y_vector: usize,
        part: Range<usize>,
    ) {
        let kernel = T::Acc::kernels().lines.sum;
        // SAFETY: the lines from `first` on lie there, and what is written of each vector's result is the part's.
        let each = |lines: usize, len, a, a_line, first: usize, at: usize| unsafe {
            for v in 0..self.vectors {
                let x = x.offset(v as isize * x_vector).add(first);
                let y = y.add(v * y_vector + at);
                kernel(&Line { lines, len, a, a_line, x, y, y_step: 1, add: first > 0 });
            }
        };
        // SAFETY: the part of each line lies in the matrix; the buffer has room for a piece of each line.
        unsafe {
            if T::DIRECT {
                let a = self.a.cast::<T::Acc>().add(part.start);
                let near = (NEAR / part.len().max(1)).max(1).next_multiple_of(8);
                let beside = if self.vectors == 1 { self.lines } else { near };
                for first in (0..self.lines).step_by(beside) {
                    let a = a.wrapping_offset(first as isize * self.a_line);
                    each(beside.min(self.lines - first), part.len(), a, self.a_line, first, 0);
                }
                return;
            }
            let mut buffer = MaybeUninit::<[T::Acc; BESIDE * PIECE]>::uninit();
            let buffer = buffer.as_mut_ptr().cast::<T::Acc>();
            for first in (0..self.lines).step_by(BESIDE) {
                let lines = BESIDE.min(self.lines - first);
                for at in part.clone().step_by(PIECE) {
                    let len = PIECE.min(part.end - at);
                    for i in 0..lines {
                        let from = self.a.offset((first + i) as isize * self.a_line).add(at);
                        T::widen(from, 1, buffer.add(i * PIECE), len);
                    }
                    each(lines, len, buffer.cast_const(), PIECE as isize, first, at - part.start);
                }
            }
        }
    }
}
