//! Launches on the CPU: tasks, tiles, steps.

use super::compile::{CellStep, Compiled, Reg, Uniform};
use super::convert::load_loop;
use super::gather::{Walk, gather, ramp};
use super::loops::{cell_size, isa};
use super::memory;
use super::pool::{num_threads, parallel};
use super::reduce::{Acc, CHUNK, ROW_BLOCK};
use super::reduce_across::Across;
use crate::args::Args;
use crate::finding::{Refusals, join_refusals};
use crate::program::{Class, Source, Val};
pub use list::list;
use mg_device::DType;
use random::random;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Mutex;
use tile::{Tile, fill, note, refused, store_cell};
use turned::Turned;

mod list;
mod random;
mod tile;
mod turned;

/// Elements times values from which a launch is divided among threads: below it, waking one costs more than it gains.
pub const PARALLEL: usize = 1 << 18;

/// Tasks that are run between joining what they leave.
const WAVE: usize = 1 << 14;

#[derive(Default)]
struct Scratch {
    /// Memory for row values that are reduced when a launch ends.
    kept: Vec<Vec<u64>>,
    arena: Vec<u64>,
    /// Rows of operands that lie by columns.
    turned: Vec<Turned>,
    ptrs: Vec<*mut u8>,
    accs: Vec<Acc>,
    /// Reductions of rows that lie by columns.
    across: Vec<Across>,
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
    /// Batches of so many rows, whole and one after the other.
    Batches(Range<usize>, usize),
}

/// What a task leaves for the end of the launch.
#[derive(Default)]
struct Partial {
    totals: SmallVec<[Acc; 2]>,
    /// For each block, and in it for each column reduction, f64 (or i64) accumulators for the task's columns.
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
        let has_elements = |class| matches!(class, Class::Full | Class::Column);
        if self.columns == 0 && self.ends.cells == 0 && self.outputs.iter().all(|o| has_elements(o.class)) {
            // As many rows as there may be, of which nothing is.
            return Ok(());
        }
        let elements = self.rows * self.columns;
        // Memory of an earlier launch: fresh pages would cost more than the work.
        let mut spare = SCRATCH.with_borrow_mut(|s| std::mem::take(&mut s.kept));
        let mut kept: SmallVec<[Vec<u64>; 1]> = self
            .ends
            .totals
            .iter()
            .map(|t| {
                let mut kept = if t.kept { spare.pop().unwrap_or_default() } else { vec![] };
                if t.kept {
                    memory::fit(&mut kept, memory::words(self.rows, cell_size(t.reducer.dtype)), 0);
                }
                kept
            })
            .collect();
        let kept_at: SmallVec<[usize; 1]> = kept.iter_mut().map(|k| k.as_mut_ptr() as usize).collect();
        let mut refusals = Refusals::new();
        let mut totals = if self.ends.columns.is_empty() {
            self.run_tasks(args, elements, &kept_at, &mut refusals)
        } else {
            self.run_columns(args, &kept_at, &mut refusals);
            self.ends.totals.iter().map(|t| t.reducer.init()).collect()
        };
        for ((out, total), kept) in self.ends.totals.iter().zip(&mut totals).zip(&kept) {
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
        if self.ends.cells > 0 {
            // SAFETY: the caller's contract.
            unsafe { self.write_totals(args, &totals, &mut refusals) };
        }
        // A reduction that keeps nothing has no memory to hand on.
        spare.extend(kept.into_iter().filter(|memory| memory.capacity() > 0));
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
            totals = self.ends.totals.iter().map(|t| t.reducer.init()).collect::<SmallVec<[Acc; 2]>>();
            for task in 0..tasks {
                let mut partial = Partial::default();
                // SAFETY: the caller's contract; this task's part is its own.
                unsafe { self.task(args, part(task), &mut partial, kept_at) };
                join_refusals(refusals, &partial.refusals);
                for ((total, acc), out) in totals.iter_mut().zip(&partial.totals).zip(&self.ends.totals) {
                    out.reducer.combine(total, acc);
                }
            }
        } else {
            totals = self.ends.totals.iter().map(|t| t.reducer.init()).collect::<SmallVec<[Acc; 2]>>();
            // A broadcast space can have any number of tasks; what they leave is joined before it takes much memory.
            for first in (0..tasks).step_by(WAVE) {
                let wave = WAVE.min(tasks - first);
                let partials: Vec<Mutex<Partial>> = (0..wave).map(|_| Mutex::default()).collect();
                parallel(wave, &|i| {
                    let mut partial = Partial::default();
                    // SAFETY: as above.
                    unsafe { self.task(args, part(first + i), &mut partial, kept_at) };
                    if let Ok(mut slot) = partials[i].lock() {
                        *slot = partial;
                    }
                });
                for partial in partials {
                    let Ok(partial) = partial.into_inner() else { continue };
                    join_refusals(refusals, &partial.refusals);
                    for ((total, acc), out) in totals.iter_mut().zip(&partial.totals).zip(&self.ends.totals) {
                        out.reducer.combine(total, acc);
                    }
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
        // Batches of few elements are one task together.
        let group = if chunks * stripes == 1 { (CHUNK / (rows * self.columns).max(1)).max(1) } else { 1 };
        let tasks = self.batches.div_ceil(group) * chunks * stripes;
        let partials: Vec<Mutex<Partial>> = memory::collected((0..tasks).map(|_| Mutex::default()));
        let run = |task: usize| {
            let (batch, chunk_at, stripe) =
                (task / stripes / chunks, task / stripes % chunks, task % stripes);
            let first = batch * rows;
            let block = first + chunk_at * chunk..first + ((chunk_at + 1) * chunk).min(rows);
            let columns = stripe * width..((stripe + 1) * width).min(self.columns);
            let part = match group {
                1 => Part::Block(block, columns),
                _ => Part::Batches(task * group..((task + 1) * group).min(self.batches), rows),
            };
            let mut partial = Partial::default();
            // SAFETY: the contract of `run`; this task's block is its own.
            unsafe { self.task(args, part, &mut partial, kept_at) };
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
            memory::collected(partials.into_iter().map(|p| p.into_inner().unwrap_or_default()));
        partials.iter().for_each(|p| join_refusals(refusals, &p.refusals));
        for (c, out) in self.ends.columns.iter().enumerate() {
            for batch in 0..self.batches {
                for stripe in 0..stripes {
                    let first = batch / group * chunks * stripes + stripe;
                    let block = batch % group * self.ends.columns.len() + c;
                    let mut sums = std::mem::take(&mut partials[first].columns[block]);
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
                            if out.reducer.by_run.dtype.is_float() && output.dtype == DType::F32 {
                                let dst = std::slice::from_raw_parts_mut(dst.cast::<f32>(), sums.len());
                                dst.iter_mut().zip(&sums).for_each(|(out, &sum)| *out = sum as f32);
                                continue;
                            }
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
            let mut cells: SmallVec<[u64; 32]> = smallvec::smallvec![0; self.ends.cells];
            let base = cells.as_mut_ptr();
            let mut ptrs = std::mem::take(&mut scratch.ptrs);
            self.place_slots(&mut scratch.arena, &mut ptrs);
            // SAFETY: cells and registers are this launch's own.
            unsafe {
                // What is wrong with uniforms, the tasks have found.
                self.uniforms(args, &ptrs, 1, &mut Refusals::new());
                for (out, acc) in self.ends.totals.iter().zip(totals) {
                    out.reducer.finish(acc, base.add(out.cell as usize).cast());
                }
                let cell = |v: Val| base.add(v as usize).cast::<u8>();
                for step in &self.ends.last {
                    match *step {
                        CellStep::Map { f, dst, args: [a, b, c] } => {
                            f(cell(dst), cell(a), cell(b), cell(c), 1)
                        }
                        CellStep::Round { f, dst } => f(cell(dst), 1),
                        CellStep::Copy { dst, src, size } => {
                            std::ptr::copy_nonoverlapping(cell(src), cell(dst), size as usize)
                        }
                        CellStep::Take { dst, src, size } => {
                            std::ptr::copy_nonoverlapping(ptrs[src as usize], cell(dst), size as usize)
                        }
                        CellStep::Check { check, src, dtype, value } => {
                            let found = refused(args, check, cell(src), dtype, 1);
                            note(refusals, value, found, usize::MAX);
                        }
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
        let words = self.registers.arena / 8 + 8;
        if arena.len() < words {
            arena.resize(words, 0);
        }
        let base = arena.as_mut_ptr().cast::<u8>();
        let base = base.wrapping_add(base.align_offset(64));
        ptrs.clear();
        ptrs.resize(self.registers.count, std::ptr::null_mut());
        for &(reg, offset) in &self.registers.slots {
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
                    Uniform::Map { f, dst, args: [a, b, c] } => {
                        f(ptrs[dst as usize], ptrs[a as usize], ptrs[b as usize], ptrs[c as usize], n)
                    }
                    Uniform::Round { f, dst } => f(ptrs[dst as usize], n),
                    Uniform::Check { .. } if is_empty => {}
                    Uniform::Check { check, src, dtype, value } => {
                        note(refusals, value, refused(args, check, ptrs[src as usize], dtype, 1), 0);
                    }
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
                Source::Random(law) => random(law, dst, operand.dtype, arg, walk, start, n),
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
            let mut turned = std::mem::take(&mut scratch.turned);
            let mut across = std::mem::take(&mut scratch.across);
            if self.across && across.len() < self.reducers.len() {
                across.resize_with(self.reducers.len(), Across::default);
            }
            turned::begin(&mut turned, &self.inputs);
            self.place_slots(&mut scratch.arena, &mut ptrs);
            accs.clear();
            accs.extend(self.reducers.iter().map(|r| r.init()));
            partial.totals.extend(self.ends.totals.iter().map(|t| t.reducer.init()));
            let size = match &part {
                Part::Linear(range) => range.len(),
                Part::Block(rows, columns) => rows.len() * columns.len().max(1),
                Part::Batches(_, rows) => rows * self.columns,
            };
            let capacity = (self.tile_rows * self.tile_columns).max(self.tile_rows).max(1);
            let filled = match (self.registers.uniform_rows, self.registers.hoists) {
                (true, _) => self.tile_rows.max(1),
                (false, true) => capacity,
                (false, false) => size.clamp(1, capacity),
            };
            // SAFETY: registers have room for `capacity` elements.
            unsafe { self.uniforms(args, &ptrs, filled, &mut partial.refusals) };
            let hoisted = if self.registers.hoists { self.hoisted() } else { vec![] };
            let mut tile = Tile {
                program: self,
                args,
                ptrs: &mut ptrs,
                accs: &mut accs,
                turned: &mut turned,
                across: &mut across,
                partial,
                kept,
                hoisted,
                column_sums: vec![],
                first_column: 0,
                first_block: 0,
            };
            // SAFETY: the caller's contract.
            unsafe {
                match part {
                    Part::Linear(range) => tile.linear(range),
                    Part::Block(rows, _) if self.across => tile.block_across(rows),
                    Part::Block(rows, columns) => tile.block(rows, columns),
                    Part::Batches(batches, rows) => {
                        for batch in batches {
                            tile.block(batch * rows..(batch + 1) * rows, 0..self.columns);
                        }
                    }
                }
            }
            super::stream::finish();
            scratch.ptrs = ptrs;
            scratch.accs = accs;
            scratch.turned = turned;
            scratch.across = across;
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
                Uniform::Const { .. }
                | Uniform::Load { .. }
                | Uniform::Map { .. }
                | Uniform::Round { .. }
                | Uniform::Check { .. } => None,
            })
            .collect()
    }
}

/// Rows of a reduction over outer dimensions that one task adds: by sizes alone.
fn row_chunk(rows: usize, columns: usize) -> usize {
    if rows * columns <= CHUNK { rows.max(1) } else { rows.div_ceil(8).next_multiple_of(ROW_BLOCK) }
}
