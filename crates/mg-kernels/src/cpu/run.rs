//! Launches on the CPU: tasks, tiles, steps.

use super::compile::{CELL, Compiled, Len, Reg, Step, Uniform};
use super::convert::{load_loop, store_loop};
use super::gather::{Walk, gather, ramp};
use super::loops::{by_isa, cell_size, isa};
use super::pool::{num_threads, parallel};
use super::reduce::{Acc, CHUNK, ROW_BLOCK};
use crate::philox;
use crate::program::{Class, ReduceKind, Source, Val};
use mg_device::DType;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Mutex;

/// Elements times values from which a launch is divided among threads: below it, waking one costs more than it gains.
pub const PARALLEL: usize = 1 << 18;

/// An operand of a launch.
#[derive(Clone, Copy, Debug)]
pub struct InputArg {
    /// The element at offset 0 of the operand's walk (buffers).
    pub ptr: *const u8,
    /// What is added to offsets (ramps and random numbers).
    pub base: u64,
    /// The seed (random numbers).
    pub seed: u64,
}

/// What a launch is given.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    /// The operands, in the program's order.
    pub inputs: &'a [InputArg],
    /// The scalar arguments: f64 bits for floats, i64 for integers and bool.
    pub consts: &'a [u64],
    /// Where the outputs go, in the program's order.
    pub outputs: &'a [*mut u8],
}

// SAFETY: the caller of `Compiled::run` vouches that every address may be used for the launch, from any thread; tasks
// write disjoint ranges.
unsafe impl Sync for Args<'_> {}
// SAFETY: as above.
unsafe impl Send for Args<'_> {}

/// The size that an [`OutOfRange`] names where what was found is an integer divisor of zero.
pub const ZERO_DIVISOR: i64 = -1;

/// An index outside its range, found while a launch ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutOfRange {
    /// The index.
    pub index: i64,
    /// The number of positions there are.
    pub size: i64,
}

/// What a check of a program (an [`Inst::Guard`](crate::Inst::Guard), an integer division) found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refused {
    /// The value that checks.
    pub value: Val,
    /// What it found.
    pub found: OutOfRange,
    /// The position in the space: of several findings of one check, the first is kept.
    position: usize,
}

/// What the checks of a launch found: for each that refused anything, the first that it met in the order of the space.
pub type Refusals = Vec<Refused>;

fn refuse(refusals: &mut Refusals, new: Refused) {
    match refusals.iter_mut().find(|r| r.value == new.value) {
        Some(old) if old.position <= new.position => {}
        Some(old) => *old = new,
        None => refusals.push(new),
    }
}

/// Joins findings of launches of the same program.
pub fn join_refusals(into: &mut Refusals, from: &[Refused]) {
    from.iter().for_each(|&r| refuse(into, r));
}

#[derive(Default)]
struct Scratch {
    /// Memory for row values that are reduced when a launch ends.
    kept: Vec<Vec<u64>>,
    arena: Vec<u64>,
    ptrs: Vec<*mut u8>,
    accs: Vec<Acc>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// A part of the space that one task walks.
#[derive(Clone, Debug)]
enum Part {
    /// Positions in row-major order; no reduction depends on where rows begin.
    Linear(Range<usize>),
    /// Rows by columns.
    Block(Range<usize>, Range<usize>),
}

/// What a task leaves for the end of the launch.
#[derive(Default)]
struct Partial {
    totals: SmallVec<[Acc; 2]>,
    /// For each column reduction, f64 (or i64) accumulators for the task's columns.
    columns: Vec<Vec<f64>>,
    refusals: Refusals,
}

impl Compiled {
    /// Runs the program.
    ///
    /// # Errors
    ///
    /// What the checks refused. Everything is computed all the same: only what depends on a check that refused is
    /// undefined.
    ///
    /// # Safety
    ///
    /// `args` has the program's numbers of operands, constants and outputs; each operand's address is valid for reads
    /// at all offsets of its walk, each output's for as many writes as its class has elements; an output overlaps
    /// nothing but a donated operand of the same layout.
    pub unsafe fn run(&self, args: &Args) -> Result<(), Refusals> {
        debug_assert!(args.inputs.len() == self.inputs.len() && args.consts.len() >= self.n_consts);
        debug_assert_eq!(args.outputs.len(), self.outputs.len());
        let elements = self.rows * self.columns;
        // Memory of an earlier launch: fresh pages would cost more than the work.
        let mut spare = SCRATCH.with_borrow_mut(|s| std::mem::take(&mut s.kept));
        let mut kept: SmallVec<[Vec<u64>; 1]> = self
            .totals
            .iter()
            .map(|t| {
                let mut memory = if t.kept { spare.pop().unwrap_or_default() } else { vec![] };
                if t.kept {
                    memory.resize((self.rows * cell_size(t.reducer.dtype)).div_ceil(8), 0);
                }
                memory
            })
            .collect();
        let kept_at: SmallVec<[usize; 1]> = kept.iter_mut().map(|k| k.as_mut_ptr() as usize).collect();
        let mut refusals = Refusals::new();
        let mut totals = if self.columns_out.is_empty() {
            self.run_tasks(args, elements, &kept_at, &mut refusals)
        } else {
            self.run_columns(args, &kept_at, &mut refusals);
            self.totals.iter().map(|t| t.reducer.init()).collect()
        };
        for ((out, total), kept) in self.totals.iter().zip(&mut totals).zip(&kept) {
            if out.kept {
                *total = out.reducer.init();
                let size = cell_size(out.reducer.dtype);
                for from in (0..self.rows).step_by(CHUNK) {
                    let mut acc = out.reducer.init();
                    let n = CHUNK.min(self.rows - from);
                    // SAFETY: `kept` has a cell for each row.
                    unsafe {
                        (out.reducer.run)(
                            &mut acc,
                            kept.as_ptr().cast::<u8>().add(from * size),
                            n,
                            from as i64,
                        )
                    };
                    out.reducer.combine(total, &acc);
                }
            }
        }
        if self.cells > 0 {
            // SAFETY: the caller's contract.
            unsafe { self.write_totals(args, &totals, &mut refusals) };
        }
        spare.extend(kept);
        SCRATCH.with_borrow_mut(|s| s.kept = spare);
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Programs without reductions over outer dimensions: runs the tasks, and answers with the full reductions.
    fn run_tasks(
        &self,
        args: &Args,
        elements: usize,
        kept_at: &[usize],
        refusals: &mut Refusals,
    ) -> SmallVec<[Acc; 2]> {
        let rows_are_whole = !self.splits_columns;
        let unit = if rows_are_whole {
            (CHUNK / self.columns.max(1)).max(1).next_multiple_of(self.tile_rows)
        } else {
            CHUNK
        };
        let extent = if rows_are_whole { self.rows } else { elements };
        let tasks = extent.div_ceil(unit).max(1);
        let part = |task: usize| {
            let range = task * unit..((task + 1) * unit).min(extent);
            if rows_are_whole { Part::Block(range, 0..self.columns) } else { Part::Linear(range) }
        };
        let mut totals;
        if tasks == 1 || elements * self.weight < PARALLEL || num_threads() == 1 {
            totals = self.totals.iter().map(|t| t.reducer.init()).collect::<SmallVec<[Acc; 2]>>();
            for task in 0..tasks {
                let mut partial = Partial::default();
                // SAFETY: the caller's contract; this task's part is its own.
                unsafe { self.task(args, part(task), &mut partial, kept_at) };
                join_refusals(refusals, &partial.refusals);
                for ((total, acc), out) in totals.iter_mut().zip(&partial.totals).zip(&self.totals) {
                    out.reducer.combine(total, acc);
                }
            }
        } else {
            let partials: Vec<Mutex<Partial>> = (0..tasks).map(|_| Mutex::default()).collect();
            parallel(tasks, &|task| {
                let mut partial = Partial::default();
                // SAFETY: as above.
                unsafe { self.task(args, part(task), &mut partial, kept_at) };
                if let Ok(mut slot) = partials[task].lock() {
                    *slot = partial;
                }
            });
            totals = self.totals.iter().map(|t| t.reducer.init()).collect::<SmallVec<[Acc; 2]>>();
            for partial in partials {
                let Ok(partial) = partial.into_inner() else { continue };
                join_refusals(refusals, &partial.refusals);
                for ((total, acc), out) in totals.iter_mut().zip(&partial.totals).zip(&self.totals) {
                    out.reducer.combine(total, acc);
                }
            }
        }
        totals
    }

    /// Runs a program without reductions over the positions `range` only, on this thread.
    ///
    /// # Safety
    ///
    /// As [`Compiled::run`], for those positions.
    pub unsafe fn run_range(&self, args: &Args, range: Range<usize>) -> Result<(), Refusals> {
        debug_assert!(self.is_elementwise());
        let mut partial = Partial::default();
        // SAFETY: the caller's contract.
        unsafe { self.task(args, Part::Linear(range), &mut partial, &[]) };
        if partial.refusals.is_empty() { Ok(()) } else { Err(partial.refusals) }
    }

    /// Programs with reductions over outer dimensions: chunks of rows, whose number depends on sizes only, by columns.
    fn run_columns(&self, args: &Args, kept_at: &[usize], refusals: &mut Refusals) {
        let rows = self.rows / self.batches.max(1);
        let chunk = row_chunk(rows, self.columns);
        let chunks = rows.div_ceil(chunk).max(1);
        let width =
            if self.splits_columns { (CHUNK / 4).min(self.columns.max(1)) } else { self.columns.max(1) };
        let stripes = self.columns.div_ceil(width).max(1);
        let tasks = self.batches * chunks * stripes;
        let partials: Vec<Mutex<Partial>> = (0..tasks).map(|_| Mutex::default()).collect();
        let run = |task: usize| {
            let (batch, chunk_at, stripe) =
                (task / stripes / chunks, task / stripes % chunks, task % stripes);
            let first = batch * rows;
            let block = first + chunk_at * chunk..first + ((chunk_at + 1) * chunk).min(rows);
            let columns = stripe * width..((stripe + 1) * width).min(self.columns);
            let mut partial = Partial::default();
            // SAFETY: the contract of `run`; this task's block is its own.
            unsafe { self.task(args, Part::Block(block, columns), &mut partial, kept_at) };
            if let Ok(mut slot) = partials[task].lock() {
                *slot = partial;
            }
        };
        if tasks == 1 || self.rows * self.columns * self.weight < PARALLEL {
            (0..tasks).for_each(run);
        } else {
            parallel(tasks, &run);
        }
        let mut partials: Vec<Partial> =
            partials.into_iter().map(|p| p.into_inner().unwrap_or_default()).collect();
        partials.iter().for_each(|p| join_refusals(refusals, &p.refusals));
        for (c, out) in self.columns_out.iter().enumerate() {
            for batch in 0..self.batches {
                for stripe in 0..stripes {
                    let first = batch * chunks * stripes + stripe;
                    let mut sums = std::mem::take(&mut partials[first].columns[c]);
                    for k in 1..chunks {
                        let next = &partials[first + k * stripes].columns[c];
                        for (a, b) in sums.iter_mut().zip(next) {
                            let mut acc = Acc { bits: a.to_bits(), index: -1 };
                            out.reducer.by_run.combine(&mut acc, &Acc { bits: b.to_bits(), index: -1 });
                            *a = f64::from_bits(acc.bits);
                        }
                    }
                    for &o in &out.outputs {
                        let output = &self.outputs[o as usize];
                        let at = batch * self.columns + stripe * width;
                        // SAFETY: outputs over columns have `batches × columns` elements.
                        unsafe {
                            let mut dst = args.outputs[o as usize].add(at * output.dtype.size());
                            for sum in &sums {
                                let mut cell = [0u64; 1];
                                let cell = cell.as_mut_ptr().cast::<u8>();
                                out.reducer.by_run.finish(&Acc { bits: sum.to_bits(), index: -1 }, cell);
                                store_cell(output.dtype, cell, dst);
                                dst = dst.add(output.dtype.size());
                            }
                        }
                    }
                }
            }
        }
    }

    /// Finishes totals in cells, computes what follows from them, and writes those that are outputs.
    unsafe fn write_totals(&self, args: &Args, totals: &[Acc], refusals: &mut Refusals) {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut cells: SmallVec<[u64; 32]> = smallvec::smallvec![0; self.cells];
            let base = cells.as_mut_ptr();
            let mut ptrs = std::mem::take(&mut scratch.ptrs);
            self.place_slots(&mut scratch.arena, &mut ptrs);
            // SAFETY: cells and registers are this launch's own.
            unsafe {
                // What is wrong with uniforms, the tasks have found.
                self.uniforms(args, &ptrs, 1, &mut Refusals::new());
                for (out, acc) in self.totals.iter().zip(totals) {
                    out.reducer.finish(acc, base.add(out.cell as usize).cast());
                }
                let cell = |reg: Reg| base.add(reg as usize).cast::<u8>();
                for step in &self.last {
                    match *step {
                        Step::Map { f, dst, args: [a, b, c], .. } => {
                            f(cell(dst), cell(a), cell(b), cell(c), 1)
                        }
                        Step::Round { f, dst, .. } => f(cell(dst), 1),
                        Step::Copy { dst, src, size, .. } if dst & CELL != 0 => {
                            std::ptr::copy_nonoverlapping(cell(src), cell(dst & !CELL), size as usize)
                        }
                        Step::Copy { dst, src, size, .. } => {
                            std::ptr::copy_nonoverlapping(ptrs[src as usize], cell(dst), size as usize)
                        }
                        Step::Guard { src, bound, dtype, value, .. } => {
                            let bound = args.consts[bound as usize] as i64;
                            let found = guard(cell(src), dtype, bound, 1);
                            note(refusals, value, found, usize::MAX);
                        }
                        Step::NonZero { src, dtype, value, .. } => {
                            note(refusals, value, non_zero(cell(src), dtype, 1), usize::MAX);
                        }
                        _ => {}
                    }
                }
                for (output, &dst) in self.outputs.iter().zip(args.outputs) {
                    if let Some(at) = output.cell {
                        let n = if output.class == Class::Full { self.rows * self.columns } else { 1 };
                        for i in 0..n {
                            store_cell(output.dtype, cell(at), dst.add(i * output.dtype.size()));
                        }
                    }
                }
            }
            scratch.ptrs = ptrs;
        });
    }

    fn place_slots(&self, arena: &mut Vec<u64>, ptrs: &mut Vec<*mut u8>) {
        // One cache line more, to align the start.
        let words = self.arena / 8 + 8;
        if arena.len() < words {
            arena.resize(words, 0);
        }
        let base = arena.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(64));
        ptrs.clear();
        ptrs.resize(self.regs, std::ptr::null_mut());
        for &(reg, offset) in &self.slots {
            ptrs[reg as usize] = base.wrapping_add(offset);
        }
    }

    /// What is computed once a task, for tiles of up to `n` elements.
    ///
    /// Safety: registers are placed, and have room for `n` elements; the contract of `run`.
    unsafe fn uniforms(&self, args: &Args, ptrs: &[*mut u8], n: usize, refusals: &mut Refusals) {
        // In an empty space no operand has an element to load, and nothing will ask for one.
        let is_empty = self.is_empty();
        for uniform in &self.uniforms {
            // SAFETY: by this function's contract.
            unsafe {
                match *uniform {
                    Uniform::Const { index, dst, size } => {
                        // The executor's caller has converted the constant to the cell's bits.
                        fill(ptrs[dst as usize], args.consts[index as usize], size, n);
                    }
                    Uniform::Load { .. } | Uniform::Columns { .. } if is_empty => {}
                    Uniform::Load { input, dst, size } => {
                        let mut cell = [0u64; 1];
                        let cell_at = cell.as_mut_ptr().cast::<u8>();
                        self.elements(args, input, cell_at, &Walk::default(), 0, 1, true);
                        fill(ptrs[dst as usize], cell[0], size, n);
                    }
                    Uniform::Columns { input, dst, tmp, convert } => {
                        let walk = &self.inputs[input as usize].all;
                        let n = n.min(self.tile_rows * self.columns).min(walk.dims.iter().product());
                        self.elements(args, input, ptrs[tmp as usize], walk, 0, n, false);
                        if let Some(f) = convert {
                            let tmp = ptrs[tmp as usize].cast_const();
                            f(ptrs[dst as usize], tmp, tmp, tmp, n);
                        }
                    }
                    Uniform::Step(step) => match step {
                        Step::Map { f, dst, args: [a, b, c], .. } => {
                            f(ptrs[dst as usize], ptrs[a as usize], ptrs[b as usize], ptrs[c as usize], n)
                        }
                        Step::Round { f, dst, .. } => f(ptrs[dst as usize], n),
                        Step::NonZero { src, dtype, value, .. } if !is_empty => {
                            note(refusals, value, non_zero(ptrs[src as usize], dtype, 1), 0);
                        }
                        Step::Guard { src, bound, dtype, value, .. } if !is_empty => {
                            let bound = args.consts[bound as usize] as i64;
                            note(refusals, value, guard(ptrs[src as usize], dtype, bound, n.min(1)), 0);
                        }
                        _ => {}
                    },
                }
            }
        }
    }

    /// Elements `start..start + n` of an operand's walk, as they stand in memory (`wide`: as a tile holds them).
    ///
    /// Safety: the contract of `run`; `dst` has room.
    #[allow(clippy::too_many_arguments)]
    unsafe fn elements(
        &self,
        args: &Args,
        input: u16,
        dst: *mut u8,
        walk: &Walk,
        start: usize,
        n: usize,
        wide: bool,
    ) {
        let operand = &self.inputs[input as usize];
        let arg = &args.inputs[input as usize];
        // SAFETY: by this function's contract.
        unsafe {
            match operand.source {
                Source::Index => ramp(dst, arg.base as i64, walk, start, n),
                Source::Random => random(dst, operand.dtype, arg, walk, start, n),
                Source::Buffer => match load_loop(operand.dtype, isa()).filter(|_| wide) {
                    Some(f) => {
                        let mut half = [0u64; 1];
                        let half = half.as_mut_ptr().cast::<u8>();
                        gather(half, arg.ptr, operand.dtype.size(), walk, start, n.min(1));
                        f(dst, half, half, half, n.min(1));
                    }
                    None => gather(dst, arg.ptr, operand.dtype.size(), walk, start, n),
                },
            }
        }
    }

    /// Walks a part of the space.
    ///
    /// Safety: the contract of `run`; nobody else writes this part.
    unsafe fn task(&self, args: &Args, part: Part, partial: &mut Partial, kept: &[usize]) {
        SCRATCH.with_borrow_mut(|scratch| {
            let mut ptrs = std::mem::take(&mut scratch.ptrs);
            let mut accs = std::mem::take(&mut scratch.accs);
            self.place_slots(&mut scratch.arena, &mut ptrs);
            accs.clear();
            accs.extend(self.reducers.iter().map(|r| r.init()));
            partial.totals.extend(self.totals.iter().map(|t| t.reducer.init()));
            let size = match &part {
                Part::Linear(range) => range.len(),
                Part::Block(rows, columns) => rows.len() * columns.len().max(1),
            };
            let capacity = (self.tile_rows * self.tile_columns).max(self.tile_rows).max(1);
            let filled = if self.hoists { capacity } else { size.clamp(1, capacity) };
            // SAFETY: registers have room for `capacity` elements.
            unsafe { self.uniforms(args, &ptrs, filled, &mut partial.refusals) };
            let hoisted = if self.hoists { self.hoisted() } else { vec![] };
            let mut tile = Tile {
                program: self,
                args,
                ptrs: &mut ptrs,
                accs: &mut accs,
                partial,
                kept,
                hoisted,
                column_sums: vec![],
                first_column: 0,
            };
            // SAFETY: the caller's contract.
            unsafe {
                match part {
                    Part::Linear(range) => tile.linear(range),
                    Part::Block(rows, columns) => tile.block(rows, columns),
                }
            }
            super::stream::finish();
            scratch.ptrs = ptrs;
            scratch.accs = accs;
        })
    }

    /// Registers that hold the same columns for every row, with their places: a tile that starts within a row shifts them.
    fn hoisted(&self) -> Vec<(Reg, usize)> {
        self.uniforms
            .iter()
            .filter_map(|u| match *u {
                Uniform::Columns { input, dst, .. } => {
                    Some((dst, cell_size(self.inputs[input as usize].dtype)))
                }
                _ => None,
            })
            .collect()
    }
}

/// Rows of a reduction over outer dimensions that one task adds: by sizes alone.
fn row_chunk(rows: usize, columns: usize) -> usize {
    if rows * columns <= CHUNK { rows.max(1) } else { rows.div_ceil(8).next_multiple_of(ROW_BLOCK) }
}

/// Partial sums of one column reduction within a task.
struct ColumnSums {
    partial: Vec<u64>,
    rows: usize,
}

struct Tile<'a, 'b> {
    program: &'a Compiled,
    args: &'a Args<'b>,
    ptrs: &'a mut [*mut u8],
    accs: &'a mut [Acc],
    partial: &'a mut Partial,
    kept: &'a [usize],
    hoisted: Vec<(Reg, usize)>,
    column_sums: Vec<ColumnSums>,
    first_column: usize,
}

impl Tile<'_, '_> {
    /// Safety: as [`Compiled::task`].
    unsafe fn linear(&mut self, range: Range<usize>) {
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
                self.place(row, column);
                for phase in &p.phases {
                    self.steps(&phase.steps, row, rows, column, n);
                }
            }
            at += rows * n;
        }
    }

    /// Safety: as [`Compiled::task`].
    unsafe fn block(&mut self, rows: Range<usize>, columns: Range<usize>) {
        let p = self.program;
        self.first_column = columns.start;
        for out in &p.columns_out {
            self.partial.columns.push(vec![f64::from_bits(out.reducer.by_run.init().bits); columns.len()]);
            let mut partial = vec![0u64; (columns.len() * out.reducer.partial_size).div_ceil(8)];
            // SAFETY: just allocated for as many.
            unsafe { out.reducer.clear(partial.as_mut_ptr().cast(), columns.len()) };
            self.column_sums.push(ColumnSums { partial, rows: 0 });
        }
        let whole = p.tile_columns >= columns.len() && columns.len() == p.columns;
        let mut row = rows.start;
        while row < rows.end {
            let n_rows = if whole { p.tile_rows.min(rows.end - row) } else { 1 };
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
        for c in 0..self.column_sums.len() {
            self.flush(c);
        }
    }

    /// Joins the rows that were added since the last time into the f64 sums.
    fn flush(&mut self, c: usize) {
        let reducer = &self.program.columns_out[c].reducer;
        let sums = &mut self.column_sums[c];
        let totals = &mut self.partial.columns[c];
        // SAFETY: both have a result for each of the task's columns.
        unsafe {
            reducer.flush(totals.as_mut_ptr(), sums.partial.as_ptr().cast(), totals.len());
            reducer.clear(sums.partial.as_mut_ptr().cast(), totals.len());
        }
        sums.rows = 0;
    }

    /// Sets the addresses of operands and outputs that are used in place.
    #[inline]
    unsafe fn place(&mut self, row: usize, column: usize) {
        let p = self.program;
        for (input, arg) in p.inputs.iter().zip(self.args.inputs) {
            if let Some(reg) = input.direct {
                let at = match input.class {
                    Class::Full => input.outer.offset(row) + column as isize,
                    _ => input.outer.offset(row),
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
                        let walks = &p.inputs[input as usize];
                        match len {
                            Len::Full => p.elements(
                                self.args,
                                input,
                                at(dst),
                                &walks.all,
                                row * p.columns + column,
                                full,
                                false,
                            ),
                            Len::Row => p.elements(self.args, input, at(dst), &walks.outer, row, rows, false),
                        }
                    }
                    Step::Fused { index } => p.fused[index as usize].run(ptrs, rows, columns),
                    Step::Expand { dst, src, dtype } => {
                        expand(at(dst), at(src), cell_size(dtype) as u8, rows, columns)
                    }
                    Step::Copy { dst, src, size, len } => std::ptr::copy_nonoverlapping(
                        at(src).cast_const(),
                        at(dst),
                        len_of(len) * size as usize,
                    ),
                    Step::Stream { dst, src, dtype } => {
                        super::stream::stream(at(dst), at(src), full * dtype.size())
                    }
                    Step::Rows { reducer, dst, src } => {
                        let reducer = &p.reducers[reducer as usize];
                        let size = cell_size(reducer.dtype);
                        let result = cell_size(reducer.kind.result(reducer.dtype));
                        for r in 0..rows {
                            let mut acc = reducer.init();
                            if columns > 0 {
                                (reducer.run)(&mut acc, at(src).add(r * columns * size), columns, 0);
                            }
                            reducer.finish(&acc, at(dst).add(r * result));
                        }
                    }
                    Step::Accumulate { reducer, src } => {
                        let f = p.reducers[reducer as usize].run;
                        f(&mut self.accs[reducer as usize], at(src), columns, column as i64);
                    }
                    Step::Finish { reducer, dst } => {
                        p.reducers[reducer as usize].finish(&self.accs[reducer as usize], at(dst));
                    }
                    Step::Column { column: c, src } => {
                        let reducer = &p.columns_out[c as usize].reducer;
                        let size = cell_size(reducer.by_run.dtype);
                        for r in 0..rows {
                            let sums = &mut self.column_sums[c as usize];
                            let partial = sums.partial.as_mut_ptr().cast::<u8>();
                            let partial = partial.add((column - self.first_column) * reducer.partial_size);
                            (reducer.row)(partial, at(src).add(r * columns * size), columns);
                            if column + columns == self.first_column + self.partial.columns[c as usize].len()
                            {
                                sums.rows += 1;
                                if sums.rows == ROW_BLOCK {
                                    // `flush`, written out: `self` is borrowed.
                                    let totals = &mut self.partial.columns[c as usize];
                                    reducer.flush(
                                        totals.as_mut_ptr(),
                                        sums.partial.as_ptr().cast(),
                                        totals.len(),
                                    );
                                    reducer.clear(sums.partial.as_mut_ptr().cast(), totals.len());
                                    sums.rows = 0;
                                }
                            }
                        }
                    }
                    Step::Total { total, src } => {
                        let out = &p.totals[total as usize];
                        let base = row * p.columns + column;
                        (out.reducer.run)(
                            &mut self.partial.totals[total as usize],
                            at(src),
                            full,
                            base as i64,
                        );
                    }
                    Step::Keep { total, src } => {
                        let size = cell_size(p.totals[total as usize].reducer.dtype);
                        let dst = self.kept[total as usize] as *mut u8;
                        std::ptr::copy_nonoverlapping(at(src).cast_const(), dst.add(row * size), rows * size);
                    }
                    Step::NonZero { src, dtype, len, value } => {
                        let found = non_zero(at(src), dtype, len_of(len));
                        note(&mut self.partial.refusals, value, found, row * p.columns + column);
                    }
                    Step::Guard { src, bound, dtype, len, value } => {
                        let bound = self.args.consts[bound as usize] as i64;
                        let found = guard(at(src), dtype, bound, len_of(len));
                        note(&mut self.partial.refusals, value, found, row * p.columns + column);
                    }
                }
            }
        }
    }
}

/// Keeps what a check found in the tile that starts at `position`.
#[inline]
fn note(refusals: &mut Refusals, value: Val, found: Option<OutOfRange>, position: usize) {
    if let Some(found) = found {
        refuse(refusals, Refused { value, found, position });
    }
}

/// Fills `n` cells of `size` bytes with the low bytes of `bits`.
unsafe fn fill(dst: *mut u8, bits: u64, size: u8, n: usize) {
    // SAFETY: the caller's register has room for `n` cells.
    unsafe {
        match size {
            1 => std::slice::from_raw_parts_mut(dst, n).fill(bits as u8),
            4 => std::slice::from_raw_parts_mut(dst.cast::<u32>(), n).fill(bits as u32),
            _ => std::slice::from_raw_parts_mut(dst.cast::<u64>(), n).fill(bits),
        }
    }
}

unsafe fn expand(dst: *mut u8, src: *const u8, size: u8, rows: usize, columns: usize) {
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
unsafe fn store_cell(dtype: DType, cell: *const u8, dst: *mut u8) {
    // SAFETY: the caller's `dst` has room for an element, and the cell holds one.
    unsafe {
        match store_loop(dtype, isa()) {
            Some(f) => f(dst, cell, cell, cell, 1),
            None => std::ptr::copy_nonoverlapping(cell, dst, dtype.size()),
        }
    }
}

unsafe fn guard(src: *const u8, dtype: DType, size: i64, n: usize) -> Option<OutOfRange> {
    macro_rules! scan {
        ($T:ty) => {{
            // SAFETY: the register holds `n` elements of this dtype.
            let values = unsafe { std::slice::from_raw_parts(src.cast::<$T>(), n) };
            values.iter().map(|&v| v as i64).find(|&v| v < 0 || v >= size)
        }};
    }
    let index = match dtype {
        DType::I64 => scan!(i64),
        DType::I32 => scan!(i32),
        _ => scan!(u8),
    }?;
    Some(OutOfRange { index, size })
}

/// Finds a zero; it is reported as an index among none.
unsafe fn non_zero(src: *const u8, dtype: DType, n: usize) -> Option<OutOfRange> {
    macro_rules! scan {
        ($T:ty) => {
            // SAFETY: the register holds `n` elements of this dtype.
            unsafe { std::slice::from_raw_parts(src.cast::<$T>(), n) }.contains(&0)
        };
    }
    let found = match dtype {
        DType::I64 => scan!(i64),
        DType::I32 => scan!(i32),
        _ => scan!(u8),
    };
    found.then_some(OutOfRange { index: 0, size: ZERO_DIVISOR })
}

unsafe fn random(dst: *mut u8, dtype: DType, arg: &InputArg, walk: &Walk, start: usize, n: usize) {
    let stride = walk.inner_stride() as i64 as u64;
    walk.runs(start, n, |at, offset, len| {
        let first = arg.base.wrapping_add(offset as i64 as u64);
        // SAFETY: `at + len ≤ n`, and the register has room for `n`.
        unsafe {
            if dtype == DType::F64 {
                for i in 0..len {
                    let position = first.wrapping_add(stride.wrapping_mul(i as u64));
                    *dst.cast::<f64>().add(at + i) = philox::uniform_f64(arg.seed, position);
                }
                return;
            }
            let dst = dst.cast::<f32>().add(at);
            let mut i = 0;
            while i < len {
                let position = first.wrapping_add(stride.wrapping_mul(i as u64));
                if stride == 1 && position.is_multiple_of(4) && i + 4 <= len {
                    let words = philox::block(arg.seed, position / 4);
                    for (k, word) in words.into_iter().enumerate() {
                        *dst.add(i + k) = (word >> 8) as f32 * (1.0 / (1u32 << 24) as f32);
                    }
                    i += 4;
                } else {
                    *dst.add(i) = philox::uniform_f32(arg.seed, position);
                    i += 1;
                }
            }
        }
    });
}

/// Whether an index reduction of this kind is possible over this many elements.
pub fn needs_elements(kind: ReduceKind) -> bool {
    !matches!(kind, ReduceKind::Sum | ReduceKind::Prod)
}
