//! Operands that lie by columns where a program goes by rows: some rows are brought in together, so that each line of memory
//! that is fetched is used as a whole. (Fetched for one element at a time, lines whose distance is a power of two drive each other out
//! of the cache before the next row comes to them.)

use crate::cpu::compile::In;
use crate::cpu::library::transpose::transpose;
use crate::cpu::memory;
use std::ops::Range;

/// Elements that are brought in together, about.
const BAND: usize = 1 << 15;
/// Bytes of a cache line, and of a row from which it is long.
const LINE: usize = 64;
const LONG: usize = 1 << 10;

/// Rows of one operand.
#[derive(Default)]
pub(super) struct Turned {
    /// Which operand it is, if it is one.
    input: Option<usize>,
    rows: Range<usize>,
    first_column: usize,
    width: usize,
    /// From row to row: of long ones an odd number of cache lines, so that they do not compete for one set.
    apart: usize,
    memory: Vec<u64>,
}

/// Sets them up for a task of a program with these operands.
pub(super) fn begin(all: &mut Vec<Turned>, inputs: &[In]) {
    all.iter_mut().for_each(|t| t.input = None);
    let turned = inputs.iter().enumerate().filter(|(_, input)| input.turned.is_some());
    for (at, (input, _)) in turned.enumerate() {
        if at == all.len() {
            all.push(Turned::default());
        }
        (all[at].input, all[at].rows) = (Some(input), 0..0);
    }
}

impl Turned {
    pub(super) fn is_used(&self) -> bool {
        self.input.is_some()
    }

    pub(super) fn input(&self) -> usize {
        self.input.unwrap_or(usize::MAX)
    }

    /// Copies what was brought in of some rows, one after the other: of several, all columns.
    ///
    /// # Safety
    ///
    /// It was brought in, and `dst` has room for it.
    pub(super) unsafe fn copy(&self, rows: Range<usize>, columns: Range<usize>, size: usize, dst: *mut u8) {
        let place = (rows.start - self.rows.start) * self.apart + columns.start - self.first_column;
        let (src, bytes) =
            (self.memory.as_ptr().cast::<u8>().wrapping_add(place * size), columns.len() * size);
        // SAFETY: this function's contract.
        unsafe {
            if self.apart == columns.len() {
                return std::ptr::copy_nonoverlapping(src, dst, rows.len() * bytes);
            }
            for i in 0..rows.len() {
                std::ptr::copy_nonoverlapping(src.add(i * self.apart * size), dst.add(i * bytes), bytes);
            }
        }
    }

    /// Brings in `rows`, if they are not there, and more up to row `end`, from operand `input` whose walk starts at `src`.
    ///
    /// # Safety
    ///
    /// The operand is valid for reads at all offsets of its walk.
    pub(super) unsafe fn bring(
        &mut self,
        input: &In,
        src: *const u8,
        all_columns: usize,
        rows: Range<usize>,
        end: usize,
        columns: Range<usize>,
    ) {
        let same = self.first_column == columns.start && self.width == columns.len();
        if same && self.rows.start <= rows.start && rows.end <= self.rows.end {
            return;
        }
        let (width, size) = (columns.len(), input.dtype.size());
        let more = (BAND / width.max(1)).clamp(16, 64);
        self.rows = rows.start..(rows.start + more).min(end).max(rows.end);
        let line = LINE / size;
        let apart = if width * size < LONG { width } else { width.next_multiple_of(line) | line };
        (self.first_column, self.width, self.apart) = (columns.start, width, apart);
        memory::fit(&mut self.memory, memory::words(self.rows.len() * apart, size), 0);
        let (down, along) = (input.turned.unwrap_or(1), input.all.inner_stride());
        let offset = |row: usize| input.all.offset(row * all_columns + columns.start);
        let dst = self.memory.as_mut_ptr().cast::<u8>();
        let mut row = self.rows.start;
        while row < self.rows.end {
            let first = offset(row);
            let mut n = 1;
            while row + n < self.rows.end && offset(row + n) == first + down * n as isize {
                n += 1;
            }
            // Written from the row that lies first in memory.
            let (at, step, from) = match down {
                -1 => (row + n - 1, -(apart as isize), first - (n as isize - 1)),
                _ => (row, apart as isize, first),
            };
            // SAFETY: the rows are within the walk, and `dst` has room for them.
            unsafe {
                let dst = dst.add((at - self.rows.start) * apart * size);
                transpose(size, dst, step, src.offset(from * size as isize), along, width, n);
            }
            row += n;
        }
    }
}
