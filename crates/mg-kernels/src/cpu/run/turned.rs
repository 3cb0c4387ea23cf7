//! Operands that lie by columns where a program goes by rows: some rows are brought in together, so that each line of memory
//! that is fetched is used as a whole. (Fetched for one element at a time, lines whose distance is a power of two drive each other out
//! of the cache before the next row comes to them.)

use crate::cpu::compile::In;
use crate::cpu::library::transpose::transpose;
use crate::cpu::memory;
use std::ops::Range;

/// Elements that are brought in together, about.
const BAND: usize = 1 << 15;

/// Rows of one operand.
#[derive(Default)]
pub(super) struct Turned {
    /// Which operand it is, if it is one.
    input: Option<usize>,
    rows: Range<usize>,
    first_column: usize,
    width: usize,
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

    /// Where a position is that was brought in.
    pub(super) fn at(&self, row: usize, column: usize, size: usize) -> *const u8 {
        let place = (row - self.rows.start) * self.width + column - self.first_column;
        self.memory.as_ptr().cast::<u8>().wrapping_add(place * size)
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
        (self.first_column, self.width) = (columns.start, width);
        memory::fit(&mut self.memory, memory::words(self.rows.len() * width, size), 0);
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
                -1 => (row + n - 1, -(width as isize), first - (n as isize - 1)),
                _ => (row, width as isize, first),
            };
            // SAFETY: the rows are within the walk, and `dst` has room for them.
            unsafe {
                let dst = dst.add((at - self.rows.start) * width * size);
                transpose(size, dst, step, src.offset(from * size as isize), along, width, n);
            }
            row += n;
        }
    }
}
