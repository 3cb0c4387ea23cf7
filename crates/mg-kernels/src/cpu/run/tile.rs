//! Tiles: where a task's operands and outputs lie, and the steps over them.

use super::turned::Turned;
use super::{Args, Partial};
use crate::cell::by_cell;
use crate::cpu::compile::{Check, Compiled, Len, Reg, Step};
use crate::cpu::convert::store_loop;
use crate::cpu::loops::{by_isa, cell_size, isa};
use crate::cpu::memory;
use crate::cpu::reduce::{Acc, ColumnReducer, ROW_BLOCK};
use crate::cpu::reduce_across::Across;
use crate::cpu::stream;
use crate::finding::{Finding, Refusals, Refused, refuse};
use crate::program::{Class, Source, Val};
use mg_device::DType;
use std::ops::Range;

/// Partial sums of one column reduction within a task.
pub(super) struct ColumnSums {
    partial: Vec<u64>,
    rows: usize,
}

impl ColumnSums {
    /// For so many columns.
    fn new(reducer: &ColumnReducer, columns: usize) -> ColumnSums {
        let mut partial = memory::filled(memory::words(columns, reducer.partial_size), 0u64);
        // SAFETY: just allocated for as many.
        unsafe { reducer.clear(partial.as_mut_ptr().cast(), columns) };
        ColumnSums { partial, rows: 0 }
    }

    /// Adds the stretch `columns` of some rows.
    ///
    /// Safety: `src` has that many cells a row, and `totals` the task's columns.
    unsafe fn add(
        &mut self,
        reducer: &ColumnReducer,
        totals: &mut [f64],
        src: *const u8,
        rows: usize,
        columns: Range<usize>,
    ) {
        let bytes = columns.len() * cell_size(reducer.by_run.dtype);
        for row in 0..rows {
            // SAFETY: this function's contract.
            unsafe {
                let partial =
                    self.partial.as_mut_ptr().cast::<u8>().add(columns.start * reducer.partial_size);
                (reducer.row)(partial, src.add(row * bytes), columns.len());
            }
            if columns.end == totals.len() {
                self.rows += 1;
                if self.rows == ROW_BLOCK {
                    self.flush(reducer, totals);
                }
            }
        }
    }

    /// Joins the rows that were added since the last time into the f64 sums.
    fn flush(&mut self, reducer: &ColumnReducer, totals: &mut [f64]) {
        // SAFETY: both have a result for each of the task's columns.
        unsafe {
            reducer.flush(totals.as_mut_ptr(), self.partial.as_ptr().cast(), totals.len());
            reducer.clear(self.partial.as_mut_ptr().cast(), totals.len());
        }
        self.rows = 0;
    }
}

/// So many rows and columns from one on.
#[derive(Clone, Copy)]
struct Part {
    row: usize,
    rows: usize,
    column: usize,
    columns: usize,
}

pub(super) struct Tile<'a, 'b> {
    pub(super) program: &'a Compiled,
    pub(super) args: &'a Args<'b>,
    pub(super) ptrs: &'a mut [*mut u8],
    pub(super) accs: &'a mut [Acc],
    pub(super) turned: &'a mut [Turned],
    pub(super) across: &'a mut [Across],
    pub(super) partial: &'a mut Partial,
    pub(super) kept: &'a [usize],
    pub(super) hoisted: Vec<(Reg, usize)>,
    pub(super) column_sums: Vec<ColumnSums>,
    pub(super) first_column: usize,
    /// Where the sums of the block that is gone through begin among the task's.
    pub(super) first_block: usize,
}

impl Tile<'_, '_> {
    /// Safety: as [`Compiled::task`].
    pub(super) unsafe fn linear(&mut self, range: Range<usize>) {
        let p = self.program;
        let hoisted = std::mem::take(&mut self.hoisted);
        let places: Vec<*mut u8> = hoisted.iter().map(|&(reg, _)| self.ptrs[reg as usize]).collect();
        let mut at = range.start;
        while at < range.end {
            let (row, column) = if p.rows == 1 { (0, at) } else { (at / p.columns, at % p.columns) };
            let left = range.end - at;
            let (rows, n) = if column == 0 && left >= p.columns && p.tile_columns == p.columns {
                (p.tile_rows.min(left / p.columns), p.columns)
            } else {
                (1, p.tile_columns.min(p.columns - column).min(left))
            };
            for (&(reg, size), &place) in hoisted.iter().zip(&places) {
                self.ptrs[reg as usize] = place.wrapping_add(column * size);
            }
            // SAFETY: by this function's contract.
            unsafe {
                self.turn(row..row + rows, range.end.div_ceil(p.columns.max(1)), 0..p.columns);
                self.place(row, column);
                for phase in &p.phases {
                    self.steps(&phase.steps, row, rows, column, n);
                }
            }
            at += rows * n;
        }
    }

    /// Safety: as [`Compiled::task`].
    pub(super) unsafe fn block(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let p = self.program;
        self.first_column = columns.start;
        let before = self.partial.columns.len();
        for (c, out) in p.ends.columns.iter().enumerate() {
            let none = f64::from_bits(out.reducer.by_run.init().bits);
            self.partial.columns.push(memory::filled(columns.len(), none));
            // What is left of an earlier block was joined to its sums.
            if c == self.column_sums.len() {
                self.column_sums.push(ColumnSums::new(&out.reducer, columns.len()));
            }
        }
        self.first_block = before;
        let whole = p.tile_columns >= columns.len() && columns.len() == p.columns;
        let mut row = rows.start;
        while row < rows.end {
            let n_rows = if whole { p.tile_rows.min(rows.end - row) } else { 1 };
            // SAFETY: by this function's contract.
            unsafe { self.turn(row..row + n_rows, rows.end, columns.clone()) };
            for phase in &p.phases {
                for &r in &phase.reducers {
                    self.accs[r as usize] = p.reducers[r as usize].init();
                }
                // SAFETY: by this function's contract.
                unsafe {
                    self.place(row, 0);
                    self.steps(&phase.rows, row, n_rows, 0, 0);
                    if whole {
                        self.steps(&phase.steps, row, n_rows, 0, p.columns);
                    } else {
                        let mut column = columns.start;
                        while column < columns.end {
                            let n = p.tile_columns.min(columns.end - column);
                            self.place(row, column);
                            self.steps(&phase.steps, row, 1, column, n);
                            column += n;
                        }
                    }
                    self.steps(&phase.finish, row, n_rows, 0, 0);
                }
            }
            row += n_rows;
        }
        let sums = self.column_sums.iter_mut().zip(&mut self.partial.columns[before..]);
        for (out, (sums, totals)) in p.ends.columns.iter().zip(sums) {
            sums.flush(&out.reducer, totals);
        }
    }

    /// Rows side by side, column after column.
    ///
    /// Safety: as [`Compiled::task`].
    pub(super) unsafe fn block_across(&mut self, rows: Range<usize>) {
        let p = self.program;
        for row in rows.clone().step_by(p.tile_rows) {
            let n_rows = p.tile_rows.min(rows.end - row);
            for phase in &p.phases {
                for &r in &phase.reducers {
                    self.across[r as usize].begin(&p.reducers[r as usize], n_rows);
                }
                // SAFETY: by this function's contract.
                unsafe {
                    self.place(row, 0);
                    self.steps(&phase.rows, row, n_rows, 0, 0);
                    for column in (0..p.columns).step_by(p.tile_columns) {
                        let n = p.tile_columns.min(p.columns - column);
                        self.steps(&phase.steps, row, n_rows, column, n);
                    }
                    self.steps(&phase.finish, row, n_rows, 0, 0);
                }
            }
        }
    }

    /// Brings in rows of operands that lie by columns, and some after them, up to row `end`.
    ///
    /// Safety: as [`Compiled::task`].
    #[inline]
    unsafe fn turn(&mut self, rows: Range<usize>, end: usize, columns: Range<usize>) {
        for turned in self.turned.iter_mut().filter(|t| t.is_used()) {
            let (input, arg) = (&self.program.inputs[turned.input()], &self.args.inputs[turned.input()]);
            // SAFETY: the operand is valid at all offsets of its walk, by this function's contract.
            unsafe { turned.bring(input, arg.ptr, self.program.columns, rows.clone(), end, columns.clone()) };
        }
    }

    /// Sets the addresses of operands and outputs that are used in place.
    #[inline]
    unsafe fn place(&mut self, row: usize, column: usize) {
        let p = self.program;
        for (input, arg) in p.inputs.iter().zip(self.args.inputs) {
            if let Some(reg) = input.direct {
                let at = match input.class {
                    Class::Full => input.outer.offset(row) + column as isize,
                    Class::Uniform | Class::Row | Class::Column | Class::Total => input.outer.offset(row),
                };
                self.ptrs[reg as usize] =
                    arg.ptr.wrapping_offset(at * input.dtype.size() as isize).cast_mut();
            }
        }
        for (output, &ptr) in p.outputs.iter().zip(self.args.outputs) {
            if let Some(reg) = output.reg {
                let at = if output.class == Class::Full { row * p.columns + column } else { row };
                self.ptrs[reg as usize] = ptr.wrapping_add(at * output.dtype.size());
            }
        }
    }

    /// Brings an operand's elements to a register that has room for them.
    ///
    /// Safety: as [`Compiled::task`].
    #[inline]
    unsafe fn gather(&self, input: u16, dst: *mut u8, len: Len, part: Part) {
        let p = self.program;
        let Part { row, rows, column, columns } = part;
        let walks = &p.inputs[usize::from(input)];
        let turned = self.turned.iter().find(|t| t.is_used() && t.input() == usize::from(input));
        // SAFETY: the operand is valid at all offsets of its walks, by this function's contract.
        unsafe {
            match (len, turned) {
                (Len::Full, _) if p.across => {
                    let Some(walk) = &walks.across else { return };
                    let size = match walks.source {
                        Source::Buffer | Source::Random(_) => walks.dtype.size(),
                        Source::Index => size_of::<i64>(),
                    };
                    for c in 0..columns {
                        let dst = dst.add(c * rows * size);
                        p.elements(self.args, input, dst, walk, (column + c) * p.rows + row, rows, false);
                    }
                }
                (Len::Full, Some(turned)) => {
                    let size = walks.dtype.size();
                    turned.copy(row..row + rows, column..column + columns, size, dst);
                }
                (Len::Full, None) => {
                    let start = row * p.columns + column;
                    p.elements(self.args, input, dst, &walks.all, start, rows * columns, false);
                }
                (Len::Row, _) => p.elements(self.args, input, dst, &walks.outer, row, rows, false),
            }
        }
    }

    /// Runs steps over `rows` rows from `row` and `columns` columns from `column`.
    ///
    /// Safety: as [`Compiled::task`]; more than one row only where `columns` are all there are.
    unsafe fn steps(&mut self, steps: &[Step], row: usize, rows: usize, column: usize, columns: usize) {
        let p = self.program;
        let full = rows * columns;
        let ptrs = &*self.ptrs;
        let at = |reg: Reg| ptrs[reg as usize];
        let len_of = |len| if len == Len::Full { full } else { rows };
        for step in steps {
            // SAFETY: registers have room for a tile; operands and outputs were placed for this one.
            unsafe {
                match *step {
                    Step::Map { f, dst, args: [a, b, c], len, .. } => {
                        f(at(dst), at(a), at(b), at(c), len_of(len))
                    }
                    Step::Round { f, dst, len } => f(at(dst), len_of(len)),
                    Step::Gather { input, dst, len } => {
                        self.gather(input, at(dst), len, Part { row, rows, column, columns });
                    }
                    Step::Fused { index } => p.fused[index as usize].run(ptrs, rows, columns),
                    Step::Expand { dst, src, dtype } => {
                        let expand = if p.across { expand_across } else { expand };
                        expand(at(dst), at(src), cell_size(dtype) as u8, rows, columns);
                    }
                    Step::Copy { dst, src, size, len } => std::ptr::copy_nonoverlapping(
                        at(src).cast_const(),
                        at(dst),
                        len_of(len) * size as usize,
                    ),
                    Step::Stream { dst, src, dtype } => stream::stream(at(dst), at(src), full * dtype.size()),
                    Step::Rows { reducer, dst, src } => {
                        p.reducers[reducer as usize].rows(at(dst), at(src), rows, columns);
                    }
                    Step::Accumulate { reducer, src } if p.across => {
                        let add = p.reducers[reducer as usize].across;
                        add(&mut self.across[reducer as usize], at(src), columns);
                    }
                    Step::Accumulate { reducer, src } => {
                        let f = p.reducers[reducer as usize].run;
                        f(&mut self.accs[reducer as usize], at(src), columns, column as i64);
                    }
                    Step::Finish { reducer, dst } if p.across => {
                        self.across[reducer as usize].finish(&p.reducers[reducer as usize], at(dst));
                    }
                    Step::Finish { reducer, dst } => {
                        p.reducers[reducer as usize].finish(&self.accs[reducer as usize], at(dst));
                    }
                    Step::Column { column: c, src } => {
                        let c = usize::from(c);
                        let from = column - self.first_column;
                        let sums = &mut self.column_sums[c];
                        let totals = &mut self.partial.columns[self.first_block + c];
                        sums.add(&p.ends.columns[c].reducer, totals, at(src), rows, from..from + columns);
                    }
                    Step::Total { total, src } => {
                        let out = &p.ends.totals[total as usize];
                        let base = row * p.columns + column;
                        (out.reducer.run)(
                            &mut self.partial.totals[total as usize],
                            at(src),
                            full,
                            base as i64,
                        );
                    }
                    Step::Keep { total, src } => {
                        let size = cell_size(p.ends.totals[total as usize].reducer.dtype);
                        let dst = self.kept[total as usize] as *mut u8;
                        std::ptr::copy_nonoverlapping(at(src).cast_const(), dst.add(row * size), rows * size);
                    }
                    Step::Check { check, src, dtype, len, value } => {
                        let found = refused(self.args, check, at(src), dtype, len_of(len));
                        note(&mut self.partial.refusals, value, found, row * p.columns + column);
                    }
                }
            }
        }
    }
}

/// Keeps what a check found in the tile that starts at `position`.
#[inline]
pub(super) fn note(refusals: &mut Refusals, value: Val, found: Option<Finding>, position: usize) {
    if let Some(found) = found {
        refuse(refusals, Refused { value, found, position });
    }
}

/// Fills `n` cells of `size` bytes with the low bytes of `bits`.
pub(super) unsafe fn fill(dst: *mut u8, bits: u64, size: u8, n: usize) {
    // SAFETY: the caller's register has room for `n` cells.
    unsafe {
        match size {
            1 => std::slice::from_raw_parts_mut(dst, n).fill(bits as u8),
            4 => std::slice::from_raw_parts_mut(dst.cast::<u32>(), n).fill(bits as u32),
            _ => std::slice::from_raw_parts_mut(dst.cast::<u64>(), n).fill(bits),
        }
    }
}

/// As [`expand`], where the elements of a column lie side by side.
unsafe fn expand_across(dst: *mut u8, src: *const u8, size: u8, rows: usize, columns: usize) {
    let bytes = rows * usize::from(size);
    for c in 0..columns {
        // SAFETY: the registers have room for the tile's rows and elements.
        unsafe { std::ptr::copy_nonoverlapping(src, dst.add(c * bytes), bytes) };
    }
}

/// Puts the element of each row beside itself, once for each column.
pub(super) unsafe fn expand(dst: *mut u8, src: *const u8, size: u8, rows: usize, columns: usize) {
    type ExpandFn = unsafe fn(dst: *mut u8, src: *const u8, rows: usize, columns: usize);
    #[inline(always)]
    unsafe fn each<T: Copy>(dst: *mut u8, src: *const u8, rows: usize, columns: usize) {
        // SAFETY: the registers have room for the tile's rows and elements.
        unsafe {
            let (dst, src) = (dst.cast::<T>(), src.cast::<T>());
            for r in 0..rows {
                let value = *src.add(r);
                for v in std::slice::from_raw_parts_mut(dst.add(r * columns), columns) {
                    *v = value;
                }
            }
        }
    }
    macro_rules! as_type {
        ($T:ty) => {
            by_isa!(isa(), ExpandFn, fn<>(dst: *mut u8, src: *const u8, rows: usize, columns: usize) {
                each::<$T>(dst, src, rows, columns)
            }, [])
        };
    }
    let f = match size {
        1 => as_type!(u8),
        4 => as_type!(u32),
        _ => as_type!(u64),
    };
    // SAFETY: this function's contract.
    unsafe { f(dst, src, rows, columns) };
}

/// A cell to memory.
pub(super) unsafe fn store_cell(dtype: DType, cell: *const u8, dst: *mut u8) {
    // SAFETY: the caller's `dst` has room for an element, and the cell holds one.
    unsafe {
        match store_loop(dtype, isa()) {
            Some(f) => f(dst, cell, cell, cell, 1),
            None => std::ptr::copy_nonoverlapping(cell, dst, dtype.size()),
        }
    }
}

/// What a check finds among the first `n` elements of a register, or of a cell.
pub(super) unsafe fn refused(
    args: &Args,
    check: Check,
    src: *const u8,
    dtype: DType,
    n: usize,
) -> Option<Finding> {
    // SAFETY: the caller's register holds `n` elements of this dtype.
    unsafe {
        match check {
            Check::Below(bound) => guard(src, dtype, args.consts[bound as usize] as i64, n),
            Check::NonZero => non_zero(src, dtype, n),
        }
    }
}

unsafe fn guard(src: *const u8, dtype: DType, size: i64, n: usize) -> Option<Finding> {
    macro_rules! scan {
        ($T:ty) => {{
            // SAFETY: the register holds `n` elements of this dtype.
            let values = unsafe { std::slice::from_raw_parts(src.cast::<$T>(), n) };
            values.iter().map(|&v| v as i64).find(|&v| v < 0 || v >= size)
        }};
    }
    let index = by_cell!(dtype, T => scan!(T), I64 i64, I32 i32, U64 u64, U8 u8, Bool u8).flatten()?;
    Some(Finding::Index { index, size: size as usize })
}

/// Finds a zero.
unsafe fn non_zero(src: *const u8, dtype: DType, n: usize) -> Option<Finding> {
    macro_rules! scan {
        ($T:ty) => {
            // SAFETY: the register holds `n` elements of this dtype. All are looked at, many at a time.
            unsafe { std::slice::from_raw_parts(src.cast::<$T>(), n) }
                .iter()
                .fold(false, |z, &v| z | (v == 0))
        };
    }
    let found = by_cell!(dtype, T => scan!(T), I64 i64, I32 i32, U64 u64, U8 u8, Bool u8)?;
    found.then_some(Finding::Divisor)
}
