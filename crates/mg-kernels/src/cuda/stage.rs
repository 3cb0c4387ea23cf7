//! How a program is staged: how many threads take which part of its space, what each of them holds, what has to be known before what, and
//! where partial results lie. All of it is decided here, from shapes, strides and dtypes alone, before a line of text is written.

use super::capability::{AMPERE, HOPPER};
use super::emit::{MOST_SCRATCH, SCRATCH, weight, widest, work};
use super::ptx::Kind;
use super::reduce::{Reduction, SHARED};
use super::totals::{most_blocks, partial_bytes, reach};
use super::values::kind_of;
use crate::frame::{Form, Frame, internal};
use crate::program::{Class, Inst, Over, Program, Source, Val};
use crate::walks::{Leaving, Walk, depths, walks};
use mg_device::cuda::Gpu;
use mg_device::{DType, Result};

/// The stages of a program, by its form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Elements(Elements),
    Rows(Rows),
    Columns(Columns),
}

impl Stage {
    /// `list`: the program is one of several that a launch runs; `gpu`: the least capability of GPUs that it is for, and the bytes of shared memory
    /// for each of two blocks of a multiprocessor.
    pub(crate) fn new(program: &Program, frame: &Frame, list: bool, gpu: (u32, u32)) -> Result<Stage> {
        Ok(match frame.form {
            Form::Map => Stage::Elements(Elements::new(program, frame, list)),
            Form::Row => Stage::Rows(Rows::new(program, frame, gpu)?),
            Form::Column => Stage::Columns(Columns::new(program, frame)?),
        })
    }
}

/// How a value is reduced, if it is a reduction: what is accumulated in f64 is `wide`.
pub(crate) fn reduction(program: &Program, v: usize, wide: bool) -> Option<(Reduction, Val)> {
    match program.values[v].inst {
        Inst::Reduce(kind, _, a) => {
            Some((Reduction { kind, dtype: program.values[usize::from(a)].dtype, wide }, a))
        }
        Inst::Input(_) | Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Guard(..) => None,
    }
}

/// The program's reductions over something.
fn reductions(program: &Program, over: Over) -> impl Iterator<Item = usize> + '_ {
    (0..program.values.len())
        .filter(move |&v| matches!(program.values[v].inst, Inst::Reduce(_, o, _) if o == over))
}

/// Elements that one access reads or writes, at most: as many as 16 bytes have, so that a run does not cross from one merged dimension's
/// end into the next row of it.
fn run_of(program: &Program, frame: &Frame, last: usize) -> usize {
    let mut vector = (16 / widest(program, frame)).clamp(1, 8);
    while !last.is_multiple_of(vector) {
        vector /= 2;
    }
    vector
}

/// Elements one by one: a block takes tiles, a thread some runs of each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Elements {
    /// Elements of a run.
    pub(crate) vector: usize,
    /// Runs that a thread takes of a tile.
    pub(crate) runs: usize,
    pub(crate) threads: u32,
    /// Elements of a tile.
    pub(crate) tile: usize,
    pub(crate) tiles: usize,
    /// Tiles that a block takes.
    pub(crate) per_block: usize,
    pub(crate) blocks: u32,
    /// Positions need not be taken apart: addresses move with the tile.
    pub(crate) linear: bool,
    /// Where an operand lies densely along another dimension than the last: tiles are planes of both.
    pub(crate) plane: Option<Plane>,
    /// Outputs over elements.
    pub(crate) stores: Vec<usize>,
    /// Bytes of shared memory.
    pub(crate) shared: u32,
}

/// Tiles of two dimensions, of which a thread has a square: neighbouring runs, as many as a run has elements. What lies densely along the other dimension
/// is read by runs along that one, and turned in registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plane {
    /// The other dimension.
    pub(crate) axis: usize,
    /// Threads of a warp, and warps of a block, that stand side by side along the last dimension.
    pub(crate) lanes: usize,
    pub(crate) warps: usize,
}

impl Plane {
    /// Elements from which a program has planes.
    const LEAST: usize = 1 << 16;

    /// With as many elements in a run as both dimensions are multiples of; `None` where no operand asks for it.
    fn new(program: &Program, frame: &Frame, vector: usize) -> Option<(Plane, usize)> {
        let (&last, others) = frame.column_dims.split_last()?;
        let axis = (0..others.len()).find(|&axis| frame.inputs.iter().any(|i| i.is_turned(axis)))?;
        let mut vector = vector.min(4);
        while !others[axis].is_multiple_of(vector) {
            vector /= 2;
        }
        let heavy = weight(program, frame) * vector * vector >= 1600;
        let reduces = program.values.iter().any(|v| matches!(v.inst, Inst::Reduce(..)));
        if vector == 1 || frame.columns < Plane::LEAST || frame.is_wide() || heavy || reduces {
            return None;
        }
        let lanes = last.div_ceil(vector).next_power_of_two().min(8);
        let warps = if last > lanes * vector { 2 } else { 1 };
        Some((Plane { axis, lanes, warps }, vector))
    }

    /// Threads of a block that stand side by side along the last dimension.
    pub(crate) fn across(&self) -> usize {
        self.lanes * self.warps
    }

    /// Tiles along each of the dimensions.
    pub(crate) fn tiles(&self, dims: &[usize], vector: usize) -> Vec<usize> {
        let across = self.across();
        let down = Elements::THREADS as usize / across;
        let last = dims.len() - 1;
        let per_tile = |d: usize| match d {
            _ if d == last => across * vector,
            _ if d == self.axis => down * vector,
            _ => 1,
        };
        dims.iter().enumerate().map(|(d, n)| n.div_ceil(per_tile(d))).collect()
    }
}

impl Elements {
    pub(crate) const THREADS: u32 = 256;
    /// Threads of a block where there is much to reduce.
    const LARGE: u32 = 512;
    /// Tiles from which a block that writes takes one.
    const WRITTEN: usize = 6144;
    /// Elements from which a thread takes two runs.
    const MANY: usize = 1 << 22;

    fn new(program: &Program, frame: &Frame, list: bool) -> Elements {
        let n = frame.columns;
        let linear = frame.column_dims.len() <= 1;
        let last = if linear { 0 } else { frame.column_dims.last().copied().unwrap_or(1) };
        let vector = run_of(program, frame, last);
        let much = n >= Elements::MANY && program.reduces(Over::All);
        let runs = match (vector, weight(program, frame) * vector) {
            (_, 400..) => 1,
            (1, _) => 4,
            // Measured on an H200: a copy runs at 4.3 TB/s with one run a thread, 4.1 with two or four; a sum at 4.47 with two.
            _ if list || much => 2,
            _ => 1,
        };
        let threads = if much { Elements::LARGE } else { Elements::THREADS };
        let totals = reductions(program, Over::All).count();
        let stores: Vec<usize> = (0..program.outputs.len())
            .filter(|&o| {
                let (v, class) = program.outputs[o];
                frame.classes[v as usize] <= Class::Full && class != Class::Total
            })
            .collect();
        let tile = threads as usize * vector * runs;
        let tiles = n.div_ceil(tile);
        let per_block = match (totals, stores.is_empty()) {
            (0, _) => 1,
            // One after the other until there is so much to write that blocks of one tile are faster: for the chain of the guide
            // and its gradients 70.9 µs instead of 73.6 at 2²⁴, but 543 instead of 526 at 2²⁷.
            (_, no_stores) if no_stores || tiles < Elements::WRITTEN => tiles.div_ceil(reach(threads)).max(1),
            _ => tiles.div_ceil(most_blocks(threads, totals)).max(1),
        };
        let blocks = tiles.div_ceil(per_block).max(1) as u32;
        let shared = totals as u32 * SHARED + if totals == 0 { 0 } else { 16 };
        let mut stage = Elements {
            vector,
            runs,
            threads,
            tile,
            tiles,
            per_block,
            blocks,
            linear,
            plane: None,
            stores,
            shared,
        };
        if let Some((plane, vector)) = Plane::new(program, frame, vector).filter(|_| !list) {
            stage.tiles = plane.tiles(&frame.column_dims, vector).iter().product();
            (stage.vector, stage.runs) = (vector, vector);
            stage.tile = stage.threads as usize * vector * vector;
            stage.blocks = stage.tiles as u32;
            stage.plane = Some(plane);
        }
        stage
    }
}

/// Rows, whose reductions later values may use: a few threads, a warp or a block a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rows {
    /// Threads a row.
    pub(crate) threads: u32,
    pub(crate) block: u32,
    /// Elements of a run.
    pub(crate) vector: usize,
    /// Runs that a thread takes of a row, or of a stretch of one that does not fit.
    pub(crate) runs: usize,
    /// The row is kept in registers.
    pub(crate) resident: bool,
    /// Rows that a block works on at a time.
    pub(crate) slots: usize,
    /// Rows that each of those works on, one after the other.
    pub(crate) per_slot: usize,
    pub(crate) blocks: usize,
    /// Blocks that share a row, a cluster.
    pub(crate) cluster: usize,
    /// Reductions over the rows of a block, its chunk.
    pub(crate) sums: Vec<ColumnSum>,
    /// Where in shared memory those of a chunk are kept that registers are too short for begin, in bytes, and where they end.
    pub(crate) in_shared: Option<[u32; 2]>,
    /// Bytes from one of them to the next.
    pub(crate) shared_step: u32,
    /// By operand, where in shared memory the row is kept that is walked several times, in bytes; empty where none is.
    pub(crate) kept: Vec<Option<u32>>,
    /// Bytes of all of those.
    pub(crate) kept_bytes: u32,
    pub(crate) walks: Walks,
}

/// A reduction over the rows of a chunk, for each column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ColumnSum {
    pub(crate) value: usize,
    pub(crate) reduction: Reduction,
    /// Where its partial results start in the scratch memory.
    pub(crate) at: usize,
}

/// What is done with a row, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Walks {
    /// It is read once; reductions of one step are joined together.
    Resident(Vec<Step>),
    /// It is walked once for each depth of reductions.
    Long(Vec<Walk>),
}

/// What is computed of a row in registers, between two joinings of its threads.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Step {
    /// Operands that are read now, by value.
    pub(crate) loads: Vec<bool>,
    /// Values that are computed now, in order.
    pub(crate) values: Vec<usize>,
    /// Reductions over the row that end the step.
    pub(crate) reduces: Vec<usize>,
}

impl Rows {
    /// Elements that a thread holds of a row in registers.
    const HELD: usize = 16;
    /// Threads for a row that does not fit.
    const LONG: u32 = 512;
    /// Walks from which on it pays to keep what they read: with fewer, what more blocks at a time hide is worth more (a cross entropy alone, of two walks:
    /// 1.26 ms for 1.12).
    const AGAIN: usize = 3;
    /// Threads for one that is kept in shared memory, of which two blocks have 40 registers each.
    const KEPT: u32 = 800;
    /// Elements of a row that are worth a block of their own.
    const LEAST_SHARED: usize = 1 << 14;
    /// Threads of a block whose rows are short.
    const SHORT: u32 = 128;
    /// Rows whose contributions to columns are added before they go to memory.
    const CHUNK: usize = 64;
    /// Elements of a row up to which a thread of a program that reduces columns as well has one run of each: a block waits at barriers
    /// for every row, and what hides that are other blocks, for which registers are short.
    const ONE_RUN: usize = 256;
    /// Threads that a device runs at a time where each has 64 registers: 1024 on each of 132 multiprocessors.
    pub(crate) const AT_A_TIME: u32 = 1024;
    const MULTIPROCESSORS: usize = 132;
    /// Blocks whose full reductions are joined.
    const MOST: usize = 1 << 14;
    /// Bytes of shared memory that a block has without asking.
    const MOST_SHARED: usize = Gpu::PLAIN_SHARED as usize;

    fn new(program: &Program, frame: &Frame, (capability, half): (u32, u32)) -> Result<Rows> {
        let mut rows = Rows::shaped(program, frame);
        if capability >= HOPPER && !rows.resident && !program.reduces(Over::Outer) {
            rows.cluster = Rows::cluster_of(frame);
        }
        let totals = reductions(program, Over::All).count();
        rows.walks = match rows.resident {
            true => Walks::Resident(steps(program, frame)),
            false => Walks::Long(walks(program, &frame.classes, Leaving::Last)),
        };
        if capability >= AMPERE && rows.cluster == 1 && !program.reduces(Over::Outer) {
            rows.keep(program, frame, totals, half as usize);
        }
        rows.divide(program, frame, totals)?;
        rows.share(program, frame, totals);
        Ok(rows)
    }

    /// How many threads a row has, and what each of them holds.
    fn shaped(program: &Program, frame: &Frame) -> Rows {
        let columns = frame.columns.max(1);
        let vector = run_of(program, frame, *frame.column_dims.last().unwrap_or(&columns));
        let operands = frame.inputs.iter().filter(|i| i.class == Class::Full).count();
        let double = program.values.iter().any(|v| v.dtype == DType::F64);
        let is_short_of = operands > 3 || double || program.reduces(Over::Outer);
        let most = (if is_short_of { Rows::HELD / 2 } else { Rows::HELD } / vector).max(1);
        let groups = columns.div_ceil(vector);
        let (threads, block, runs, resident) = if groups <= 32 * most {
            let threads = groups.div_ceil(most.min(4)).next_power_of_two().min(32);
            (threads as u32, Rows::SHORT, groups.div_ceil(threads), true)
        } else if groups <= 1024 * most {
            let is_short = program.reduces(Over::Outer) && groups <= Rows::ONE_RUN;
            let runs = if is_short { 1 } else { groups.div_ceil(1024).max(most.min(4)) };
            let threads = groups.div_ceil(runs).next_multiple_of(32);
            (threads as u32, threads as u32, groups.div_ceil(threads), true)
        } else {
            (Rows::LONG, Rows::LONG, (8 / vector).max(1), false)
        };
        Rows {
            threads,
            block,
            vector,
            runs,
            resident,
            slots: (block / threads) as usize,
            per_slot: 1,
            blocks: 1,
            cluster: 1,
            sums: vec![],
            in_shared: None,
            shared_step: 0,
            kept: vec![],
            kept_bytes: 0,
            walks: Walks::Resident(vec![]),
        }
    }

    /// Blocks that a multiprocessor runs at a time. Threads of which several have a row each hold more of it, in 80 registers.
    pub(crate) fn at_once(&self) -> u32 {
        (if self.slots > 1 { Rows::AT_A_TIME / 4 * 3 } else { Rows::AT_A_TIME }) / self.block
    }

    /// Threads of all blocks that share a row.
    pub(crate) fn row_threads(&self) -> usize {
        self.threads as usize * self.cluster
    }

    /// Blocks that share a row that does not fit: as many as a cluster may have on every device with clusters, as long as all run at
    /// once, two on a multiprocessor, and have something to do.
    fn cluster_of(frame: &Frame) -> usize {
        let has_room = |n: &usize| {
            (1..=2 * Rows::MULTIPROCESSORS).contains(&(frame.rows * n))
                && frame.columns >= n * Rows::LEAST_SHARED
        };
        [8, 4, 2].into_iter().find(has_room).unwrap_or(1)
    }

    /// What the first walk over a row that does not fit in registers keeps in shared memory for the others, if that leaves room for another block: one
    /// reads its row while the other computes. Each thread reads what it wrote itself.
    fn keep(&mut self, program: &Program, frame: &Frame, totals: usize, half: usize) {
        let Walks::Long(walks) = &self.walks else { return };
        let is_walked_again = |i: usize| {
            let needed = |w: &&Walk| {
                let is = |v: usize| program.values[v].inst == Inst::Input(i as u16) && w.needed[v];
                (0..program.values.len()).any(is)
            };
            walks.iter().filter(needed).count() >= Rows::AGAIN
        };
        let n = self.vector;
        let mut bytes = 0;
        let kept: Vec<Option<u32>> = (0..frame.inputs.len())
            .map(|i| {
                let walked = &frame.inputs[i];
                let size = walked.dtype.size();
                let others = walked.column.iter().rev().skip(1).chain(&walked.row);
                let is_dense =
                    walked.column.last() == Some(&1) && others.clone().all(|s| s % n as isize == 0);
                let changes = walked.row.iter().any(|&s| s != 0);
                let is_kept = walked.class == Class::Full
                    && walked.source == Source::Buffer
                    && is_dense
                    && changes
                    && (n * size).is_multiple_of(4)
                    && n > 1
                    && is_walked_again(i);
                is_kept.then(|| {
                    let at = bytes;
                    bytes += (frame.columns * size).next_multiple_of(16);
                    at as u32
                })
            })
            .collect();
        let inner = reductions(program, Over::Inner).count();
        let beside = (inner + totals) * SHARED as usize + 16;
        if bytes == 0 || bytes + beside > half {
            return;
        }
        let groups = frame.columns.div_ceil(n * self.runs);
        let stretches = groups.div_ceil(Rows::KEPT as usize);
        self.threads = groups.div_ceil(stretches).next_multiple_of(32) as u32;
        self.block = self.threads;
        self.kept = kept;
        self.kept_bytes = bytes as u32;
    }

    /// How rows are divided among blocks, and where the partial results of chunks lie.
    fn divide(&mut self, program: &Program, frame: &Frame, totals: usize) -> Result<()> {
        let sums: Vec<(usize, Reduction)> = reductions(program, Over::Outer)
            .filter_map(|v| Some((v, reduction(program, v, false)?.0)))
            .collect();
        let bytes = |of: &(usize, Reduction)| frame.columns * size_of_register(of.1.register());
        let row_bytes: usize = sums.iter().map(bytes).sum();
        if !sums.is_empty() {
            let fits = (SCRATCH / row_bytes.max(1)).max(1);
            // As many blocks as run at once, or a multiple of that.
            let once = Rows::MULTIPROCESSORS * self.at_once() as usize;
            let wanted = frame.rows.div_ceil(Rows::CHUNK * self.slots).next_multiple_of(once).clamp(1, fits);
            self.per_slot = frame.rows.div_ceil(wanted * self.slots).max(1);
        }
        if totals > 0 {
            let most = most_blocks(self.block, totals).min(Rows::MOST);
            self.per_slot = self.per_slot.max(frame.rows.div_ceil(self.slots * most));
        }
        self.blocks = frame.rows.div_ceil(self.slots * self.per_slot).max(1) * self.cluster;
        // The full reductions' partial results come first.
        let mut at = partial_bytes(self.blocks, self.block, totals).next_multiple_of(256);
        if !sums.is_empty() && at + self.blocks * row_bytes > MOST_SCRATCH {
            return Err(internal("rows too long for a reduction over both rows and columns"));
        }
        for sum in &sums {
            self.sums.push(ColumnSum { value: sum.0, reduction: sum.1, at });
            at += self.blocks * bytes(sum);
        }
        Ok(())
    }

    /// What of the columns' sums is kept in shared memory. Registers for two rows at a time on a multiprocessor, so that one works while the
    /// other waits at a barrier, do not hold more than five values of eight elements a thread.
    fn share(&mut self, program: &Program, frame: &Frame, totals: usize) {
        let operands = frame.inputs.iter().filter(|i| i.class == Class::Full).count();
        let inner = reductions(program, Over::Inner).count();
        let from = (inner + totals) * SHARED as usize + 16;
        let step = self.threads as usize * self.vector * self.runs * 4;
        let end = from + self.sums.len() * step;
        let is_short_of = self.resident
            && self.slots == 1
            && self.vector == 4
            && operands + self.sums.len() > 5
            && end <= Rows::MOST_SHARED
            && self.sums.iter().all(|sum| sum.reduction.register() == Kind::F);
        self.in_shared = is_short_of.then_some([from as u32, end as u32]);
        self.shared_step = step as u32;
    }
}

/// Bytes of a register as it lies in memory.
pub(crate) fn size_of_register(kind: Kind) -> usize {
    match kind {
        Kind::D | Kind::G => 8,
        Kind::R | Kind::F | Kind::P | Kind::H => 4,
    }
}

/// Operands that are read when they are first needed, by value: at which depth. They are the same for all rows, so that no output has
/// their memory.
fn late(program: &Program, frame: &Frame, depths: &[usize]) -> Vec<Option<usize>> {
    let is_late = |v: usize| match program.values[v].inst {
        Inst::Input(i) => frame.rows > 1 && frame.inputs[usize::from(i)].row.iter().all(|&s| s == 0),
        Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Guard(..) | Inst::Reduce(..) => false,
    };
    let first_use = |v: usize| {
        let readers = (0..depths.len()).filter(|&r| program.args(r as Val).any(|a| a as usize == v));
        // A reduction is of the step before the one in which it is known.
        let step = |r: usize| match program.values[r].inst {
            Inst::Reduce(_, Over::Inner, _) => depths[r] - 1,
            _ => depths[r],
        };
        readers.map(step).min().unwrap_or(0)
    };
    (0..depths.len()).map(|v| is_late(v).then(|| first_use(v))).collect()
}

/// The steps of a row in registers. The first one's loads are those of what comes early; the second's of what the first needs late.
fn steps(program: &Program, frame: &Frame) -> Vec<Step> {
    let depths = depths(program);
    let late = late(program, frame, &depths);
    let last = depths.iter().copied().max().unwrap_or(0);
    let early = Step { loads: late.iter().map(Option::is_none).collect(), ..Step::default() };
    let at = |depth: usize| Step {
        loads: late.iter().map(|&l| l == Some(depth)).collect(),
        values: (0..depths.len()).filter(|&v| depths[v] == depth).collect(),
        reduces: reductions(program, Over::Inner).filter(|&v| depths[v] == depth + 1).collect(),
    };
    std::iter::once(early).chain((0..=last).map(at)).collect()
}

/// Reductions over rows: a block takes a stripe of columns and a chunk of rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Columns {
    /// Elements of a run.
    pub(crate) vector: usize,
    /// Threads of a block side by side, and one below the other.
    pub(crate) across: usize,
    pub(crate) down: usize,
    /// Runs of a row.
    pub(crate) groups: usize,
    pub(crate) stripes: usize,
    pub(crate) batches: usize,
    /// Of a batch.
    pub(crate) rows: usize,
    /// Of a chunk.
    pub(crate) chunk_rows: usize,
    pub(crate) chunks: usize,
    /// Threads of a block.
    pub(crate) threads: usize,
    /// Rows that a thread reads at a time.
    pub(crate) at_a_time: usize,
    /// Chunks of which a thread of a last block reads what they left, at a time.
    pub(crate) joined: usize,
    /// Stripes, chunks and batches are a dimension of the grid each: divisions are long.
    pub(crate) three: bool,
    /// Bytes of a number that is left for others to join.
    pub(crate) slot: usize,
    /// The reductions, and what they reduce.
    pub(crate) reduced: Vec<(usize, Val, Reduction)>,
    /// By value, whether it is the same in all rows, and kept in registers over them.
    pub(crate) held: Vec<bool>,
    /// Whether it is computed before the rows: those, and what they are computed of.
    pub(crate) before: Vec<bool>,
    /// Whether it is computed for each row.
    pub(crate) needed: Vec<bool>,
}

// The first counter is that of full reductions.
const _: () = assert!(Columns::TICKETS < Gpu::TICKETS);

impl Columns {
    const THREADS: usize = 256;
    /// Of few stripes: a multiprocessor has one block then, so that half as many chunks are left for a last one to join.
    const LARGE: usize = 512;
    /// As many stripes are few.
    const FEW: usize = 2;
    /// Runs that a thread has under way where memory is all that it waits for, and rows of these at most.
    const UNDER_WAY: (usize, usize) = (12, 8);
    /// Rows that a thread reads at a time where it computes much of them.
    const HEAVY: usize = 4;
    /// Instructions for each element from which that is so.
    const MUCH: usize = 16;
    /// Chunks that a thread of a last block joins at a time, and numbers that it reads of them at most.
    const JOINED: ([usize; 3], usize) = ([4, 9, 17], 36);
    /// Shared memory that a block may have without asking for it, less what tickets take.
    const SHARED: usize = Gpu::PLAIN_SHARED as usize - 16;
    /// Bytes of a line of memory.
    const LINE: usize = 128;
    /// As many stripes as that are enough.
    const STRIPES: usize = 8;
    /// Registers of 32 bits that a thread has for what is the same in all rows.
    const HELD: usize = 32;
    /// Stripes that have a counter each.
    const TICKETS: usize = 1 << 15;

    fn new(program: &Program, frame: &Frame) -> Result<Columns> {
        let columns = frame.columns;
        let vector = run_of(program, frame, *frame.column_dims.last().unwrap_or(&1));
        let groups = columns.max(1) / vector;
        // Of few columns each stripe is as narrow as lines of memory are: the last block of a stripe has to join what all have left.
        let sizes = frame.inputs.iter().filter(|i| i.class == Class::Full && i.source == Source::Buffer);
        let run_bytes = vector * sizes.map(|i| i.dtype.size()).min().unwrap_or(1);
        let mut across = groups.next_power_of_two().min(32);
        while across * run_bytes > Columns::LINE && groups.div_ceil(across) < Columns::STRIPES {
            across /= 2;
        }
        let stripes = groups.div_ceil(across);
        let batches = frame.batches;
        let rows = frame.rows / batches.max(1);
        let reduced: Vec<(usize, Val, Reduction)> = reductions(program, Over::Outer)
            .filter_map(|v| reduction(program, v, true).map(|(reduction, a)| (v, a, reduction)))
            .collect();
        let is_wide =
            |of: &(usize, Val, Reduction)| of.2.kind.is_arg() || size_of_register(of.2.register()) > 4;
        let slot = if reduced.iter().any(is_wide) { 8 } else { 4 };
        let per_chunk = (batches * Columns::words(&reduced) * columns * slot).max(1);
        let [held, before, needed] = Columns::held(program, frame, vector);
        let of_rows = |v: usize| needed[v] && frame.classes[v] == Class::Full;
        let computed =
            (0..needed.len()).filter(|&v| of_rows(v)).map(|v| work(program, frame, v)).sum::<usize>();
        let is_read = |v: &usize| of_rows(*v) && matches!(program.values[*v].inst, Inst::Input(_));
        let operands = (0..needed.len()).filter(is_read).count();
        let is_heavy = computed > Columns::MUCH;
        let is_alone = stripes * batches == 1;
        let (threads, at_a_time, once) = if is_heavy {
            // One block that has to join what all others have left takes longer than half as many blocks do.
            let of_multiprocessor = if is_alone { 2 } else { 4 };
            (Columns::THREADS, Columns::HEAVY, of_multiprocessor)
        } else {
            let (under_way, most) = Columns::UNDER_WAY;
            let at_a_time = (under_way / operands.max(1)).clamp(2, most);
            let tiles = rows.div_ceil(Columns::THREADS / across * at_a_time);
            let is_few =
                stripes * batches <= Columns::FEW && stripes * batches * tiles > Rows::MULTIPROCESSORS;
            if is_few { (Columns::LARGE, at_a_time, 1) } else { (Columns::THREADS, at_a_time, 2) }
        };
        let down = threads / across;
        let most = rows.div_ceil(down * at_a_time).max(1);
        let mut chunks = (once * Rows::MULTIPROCESSORS / (stripes * batches).max(1)).clamp(1, most);
        chunks = chunks.min((SCRATCH / per_chunk).max(1));
        if stripes * batches > Columns::TICKETS {
            chunks = 1;
        }
        // A thread of the block has as many rows as another, but at the end.
        let chunk_rows = rows.div_ceil(chunks).max(1).next_multiple_of(down);
        let chunks = rows.div_ceil(chunk_rows).max(1);
        if stripes * batches * chunks >= 1 << 31 || rows >= 1 << 31 {
            return Err(internal("too many columns for one launch"));
        }
        let three = chunks.max(batches) < 1 << 16;
        let (steps, numbers) = Columns::JOINED;
        let left = chunks.div_ceil(down / vector);
        let joined = steps.into_iter().find(|&n| n >= left).unwrap_or(steps[2]);
        let joined = joined.min(numbers / Columns::words(&reduced).max(1)).max(1);
        Ok(Columns {
            vector,
            across,
            down,
            groups,
            stripes,
            batches,
            rows,
            chunk_rows,
            chunks,
            threads,
            at_a_time,
            joined,
            three,
            slot,
            reduced,
            held,
            before,
            needed,
        })
    }

    /// Which values are kept in registers over all rows, which are computed before them, and which for each row.
    fn held(program: &Program, frame: &Frame, vector: usize) -> [Vec<bool>; 3] {
        let n = program.values.len();
        let is_full = |v: usize| frame.classes[v] == Class::Full;
        let mut same = vec![false; n];
        for v in 0..n {
            same[v] = is_full(v)
                && match program.values[v].inst {
                    Inst::Input(i) => frame.inputs[usize::from(i)].row.iter().all(|&s| s == 0),
                    Inst::Map(..) | Inst::Cast(_) | Inst::Guard(..) => program.args(v as Val).all(|a| {
                        let a = usize::from(a);
                        same[a] || frame.classes[a] == Class::Uniform
                    }),
                    Inst::Const(_) | Inst::Reduce(..) => false,
                };
        }
        let leaves = |v: usize| program.outputs.iter().any(|o| usize::from(o.0) == v && o.1 == Class::Full);
        let is_read = |v: usize| {
            let reads = |r: usize| !same[r] && program.args(r as Val).any(|a| usize::from(a) == v);
            leaves(v) || (0..n).any(reads)
        };
        let ends: Vec<usize> = (0..n).filter(|&v| same[v] && is_read(v)).collect();
        // What is computed before what is only read again.
        let is_read_only = |v: &usize| matches!(program.values[*v].inst, Inst::Input(_));
        let (loaded, computed): (Vec<usize>, Vec<usize>) = ends.into_iter().partition(is_read_only);
        let mut held = vec![false; n];
        let mut room = Columns::HELD;
        for v in computed.into_iter().chain(loaded) {
            let registers = vector * size_of_register(kind_of(program.values[v].dtype)) / 4;
            if registers <= room {
                room -= registers;
                held[v] = true;
            }
        }
        let mut before = held.clone();
        let mut needed: Vec<bool> =
            (0..n).map(|v| matches!(program.values[v].inst, Inst::Reduce(..)) || leaves(v)).collect();
        for v in (0..n).rev() {
            let of_row = needed[v] && !held[v];
            needed[v] = of_row;
            for a in program.args(v as Val) {
                needed[usize::from(a)] |= of_row;
                before[usize::from(a)] |= before[v];
            }
        }
        for (v, before) in before.iter_mut().enumerate() {
            *before &= is_full(v);
        }
        [held, before, needed]
    }

    /// Words that the partial results of a column take: a value each, and of an index reduction where it is.
    pub(crate) fn words(reduced: &[(usize, Val, Reduction)]) -> usize {
        reduced.iter().map(|r| r.2.words()).sum()
    }

    /// Bytes of shared memory in which a block joins reductions: warps' values of all of its columns, or its threads' of one each, which is no
    /// more.
    fn bytes(&self, reduced: &[(usize, Val, Reduction)]) -> usize {
        let warps = self.threads / 32;
        let values = (warps * self.across * self.vector).max(self.threads);
        values * Columns::words(reduced) * self.slot
    }

    /// Which reductions are joined at a time: as many as there is room for.
    pub(crate) fn rounds(&self) -> Vec<std::ops::Range<usize>> {
        let (mut rounds, mut at) = (vec![], 0);
        while at < self.reduced.len() {
            let fits = |&end: &usize| self.bytes(&self.reduced[at..end]) <= Columns::SHARED;
            let end = (at + 1..=self.reduced.len()).rev().find(fits).unwrap_or(at + 1);
            rounds.push(at..end);
            at = end;
        }
        rounds
    }

    /// Bytes of shared memory that those take.
    pub(crate) fn shared(&self) -> u32 {
        let most = self.rounds().into_iter().map(|range| self.bytes(&self.reduced[range])).max();
        most.unwrap_or(0) as u32
    }

    pub(crate) fn grid(&self) -> [u32; 3] {
        match self.three {
            true => [self.stripes as u32, self.chunks as u32, self.batches as u32],
            false => [(self.stripes * self.batches * self.chunks) as u32, 1, 1],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::capability::LEAST;
    use super::*;
    use crate::frame::Free;
    use crate::program::{Operand, ReduceKind, Value};
    use crate::rows::Row;
    use mg_device::MAX_RANK;

    /// A program over `rows × columns` (of which `outer` dimensions are reduced by [`Over::Outer`]), with a dense operand.
    fn program(rows: usize, columns: usize, outer: usize) -> Program {
        let mut strides = [0; MAX_RANK];
        (strides[0], strides[1]) = (columns as isize, 1);
        let input = Operand { source: Source::Buffer, dtype: DType::F32, strides };
        let mut program =
            Program { space: vec![rows, columns], outer, inputs: vec![input], ..Program::default() };
        push(&mut program, Inst::Input(0));
        program
    }

    fn push(program: &mut Program, inst: Inst) -> Val {
        program.values.push(Value { inst, dtype: DType::F32 });
        (program.values.len() - 1) as Val
    }

    fn staged(program: &Program) -> Stage {
        Stage::new(program, &Frame::new(program, Free::Joined).unwrap(), false, (HOPPER, 113 << 10)).unwrap()
    }

    /// `x − max(x)` over rows, squared and added up over rows: two reductions of which one waits for the other.
    fn softmax_like(rows: usize, columns: usize) -> Program {
        let mut p = program(rows, columns, 1);
        let most = push(&mut p, Inst::Reduce(ReduceKind::Max, Over::Inner, 0));
        let less = push(&mut p, Inst::Map(Row::Sub, [0, most, 0]));
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, less));
        let out = push(&mut p, Inst::Map(Row::Div, [less, sum, 0]));
        p.outputs.push((out, Class::Full));
        p
    }

    #[test]
    fn every_element_is_one_threads() {
        for n in [1, 3, 4, 255, 1024, 1025, 1 << 20, (1 << 22) + 5] {
            let mut p = program(1, n, 0);
            let square = push(&mut p, Inst::Map(Row::Square, [0; 3]));
            p.outputs.push((square, Class::Full));
            let Stage::Elements(s) = staged(&p) else { panic!("{n} elements are no map") };
            assert_eq!(s.tile, s.threads as usize * s.vector * s.runs);
            assert!(s.blocks as usize * s.per_block * s.tile >= n, "{n}: {s:?}");
            assert!(
                (s.blocks as usize - 1) * s.per_block * s.tile < n,
                "{n}: a block has nothing to do: {s:?}"
            );
            assert_eq!((s.per_block, s.shared, s.stores.len()), (1, 0, 1));
        }
    }

    #[test]
    fn where_an_operand_is_turned_every_element_is_one_threads_of_a_plane() {
        for (dims, strides, plane) in [
            (&[512, 1024][..], &[1, 512][..], Some((0, 4))),
            (&[512, 1022], &[1, 512], Some((0, 2))),
            (&[3, 4096, 16], &[65536, 1, 4096], Some((1, 4))),
            (&[64, 3, 512], &[1, 32768, 64], Some((0, 4))),
            // Nothing is turned; runs are of one element; there is little to do.
            (&[512, 1024], &[2048, 1], None),
            (&[512, 1024], &[1, 0], None),
            (&[513, 1023], &[1, 513], None),
            (&[64, 64], &[1, 64], None),
        ] {
            let mut p = program(1, 1, 0);
            p.space = dims.to_vec();
            p.inputs[0].strides[..dims.len()].copy_from_slice(strides);
            let square = push(&mut p, Inst::Map(Row::Square, [0; 3]));
            p.outputs.push((square, Class::Full));
            let Stage::Elements(s) = staged(&p) else { panic!("{dims:?} are no map") };
            assert_eq!(s.plane.map(|plane| (plane.axis, s.vector)), plane, "{dims:?}");
            let Some(plane) = s.plane else { continue };
            let (across, last) = (plane.across() * s.vector, dims.len() - 1);
            let down = s.threads as usize / plane.across() * s.vector;
            assert_eq!((s.tile, s.runs), (across * down, s.vector));
            for (d, tiles) in plane.tiles(dims, s.vector).into_iter().enumerate() {
                let each = if d == last {
                    across
                } else if d == plane.axis {
                    down
                } else {
                    1
                };
                assert!(tiles * each >= dims[d] && (tiles - 1) * each < dims[d], "{dims:?}: {s:?}");
            }
        }
    }

    #[test]
    fn full_reductions_leave_no_more_partial_results_than_one_block_joins() {
        for n in [1, 1 << 10, 1 << 22, 1 << 28] {
            let mut p = program(1, n, 0);
            let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::All, 0));
            p.outputs.push((sum, Class::Total));
            let Stage::Elements(s) = staged(&p) else { panic!("a sum of {n} is no map") };
            assert!(s.blocks as usize <= reach(s.threads), "{n}: {s:?}");
            assert!(s.blocks as usize * s.per_block * s.tile >= n && s.shared > 0);
        }
    }

    #[test]
    fn a_row_is_held_by_its_threads_or_walked() {
        for columns in [1, 7, 32, 100, 1000, 4096, 16384, 20_000, 1 << 17] {
            let Stage::Rows(s) = staged(&softmax_like(10, columns)) else { panic!("{columns}: no rows") };
            let held = s.threads as usize * s.vector * s.runs;
            assert_eq!(s.resident, held >= columns, "{columns}: {s:?}");
            assert!(columns.is_multiple_of(s.vector) && s.block.is_multiple_of(s.threads));
            assert!(
                s.slots == 1 || s.threads <= 32,
                "threads of one row are in one warp, or alone in a block"
            );
            assert!(s.blocks * s.slots * s.per_slot >= 10);
        }
    }

    #[test]
    fn a_few_long_rows_are_shared_by_blocks_that_all_run_at_once() {
        let shared = |p: &Program, capability| {
            let frame = Frame::new(p, Free::Joined).unwrap();
            let Stage::Rows(s) = Stage::new(p, &frame, false, (capability, 0)).unwrap() else {
                panic!("no rows")
            };
            (s.cluster, s.blocks)
        };
        for (rows, columns, cluster) in [
            (1, 1 << 20, 8),
            (33, 1 << 20, 8),
            (64, 1 << 20, 4),
            (64, 40_000, 2),
            (132, 40_000, 2),
            (133, 1 << 20, 1),
        ] {
            let p = softmax_like(rows, columns);
            assert_eq!(shared(&p, HOPPER), (cluster, cluster * rows), "{rows} rows of {columns}");
            assert_eq!(shared(&p, LEAST), (1, rows));
        }
        // A row in registers is one block's, and so are columns' sums of rows that do not fit.
        assert_eq!(shared(&softmax_like(4, 4096), HOPPER).0, 1);
        let mut p = program(4, 1 << 17, 1);
        let row = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, 0));
        let column = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, 0));
        p.outputs.extend([(row, Class::Row), (column, Class::Column)]);
        assert_eq!(shared(&p, HOPPER).0, 1);
    }

    #[test]
    fn rows_with_sums_of_columns_fill_the_device() {
        for (rows, columns) in [(1 << 16, 64), (16384, 384), (16384, 768), (16384, 4096), (1 << 18, 384)] {
            let mut p = program(rows, columns, 1);
            let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, 0));
            let column = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, 0));
            p.outputs.extend([(sum, Class::Row), (column, Class::Column)]);
            let Stage::Rows(s) = staged(&p) else { panic!("no rows") };
            let once = s.at_once() as usize * Rows::MULTIPROCESSORS;
            assert!(s.blocks * 10 >= once * 8, "{rows} rows of {columns}: {s:?}");
            assert!(s.per_slot <= Rows::CHUNK && s.blocks * columns * 4 <= SCRATCH);
        }
    }

    #[test]
    fn what_waits_for_a_reduction_comes_in_the_step_after_it() {
        let Stage::Rows(s) = staged(&softmax_like(10, 100)) else { panic!("no rows") };
        let Walks::Resident(steps) = s.walks else { panic!("a row of 100 is held") };
        let order: Vec<(&[usize], &[usize])> =
            steps.iter().map(|s| (&s.values[..], &s.reduces[..])).collect();
        assert_eq!(order, [(&[][..], &[][..]), (&[0], &[1]), (&[1, 2], &[3]), (&[3, 4], &[])]);
        assert!(steps[0].loads[0] && steps[1..].iter().all(|s| !s.loads[0]), "the row is read once");
    }

    #[test]
    fn a_long_row_is_walked_once_for_each_depth() {
        let Stage::Rows(s) = staged(&softmax_like(3, 1 << 17)) else { panic!("no rows") };
        let Walks::Long(walks) = s.walks else { panic!("such a row is not held") };
        let targets: Vec<Vec<usize>> =
            walks.iter().map(|w| w.targets.iter().map(|t| t.0).collect()).collect();
        assert_eq!(targets, [vec![1], vec![3], vec![]]);
        // The difference is computed anew for the sum and for what is written.
        assert_eq!(walks.iter().map(|w| w.needed[2]).collect::<Vec<_>>(), [false, true, true]);
        assert_eq!(walks.iter().map(|w| w.is_last).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn a_value_of_rows_that_nothing_waits_for_is_no_walk() {
        let mut p = program(3, 1 << 17, 1);
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, 0));
        let root = push(&mut p, Inst::Map(Row::Sqrt, [sum; 3]));
        p.outputs.push((root, Class::Row));
        let Stage::Rows(Rows { walks: Walks::Long(walks), .. }) = staged(&p) else { panic!("no long rows") };
        assert_eq!(walks.iter().map(|w| w.row_values.clone()).collect::<Vec<_>>(), [vec![], vec![2]]);
    }

    #[test]
    fn chunks_of_columns_fit_the_scratch_memory() {
        for (rows, columns) in [(1, 1), (1000, 3), (1 << 20, 64), (65536, 4096), (4, 1 << 22)] {
            let mut p = program(rows, columns, 1);
            let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, 0));
            p.outputs.push((sum, Class::Column));
            let Stage::Columns(s) = staged(&p) else { panic!("no columns") };
            assert!(s.chunks * s.chunk_rows >= rows && (s.chunks - 1) * s.chunk_rows < rows, "{s:?}");
            assert!(s.stripes * s.across * s.vector >= columns && s.across * s.down == s.threads);
            assert!(s.chunks == 1 || s.chunks * columns * 8 <= SCRATCH, "{s:?}");
            assert!(s.chunk_rows.is_multiple_of(s.down), "threads of a block have as many rows: {s:?}");
            assert_eq!(s.grid().iter().map(|&n| n as usize).product::<usize>(), s.stripes * s.chunks);
        }
    }

    /// An operand with an element for each column.
    fn of_columns(p: &mut Program) -> Val {
        let mut strides = [0; MAX_RANK];
        strides[1] = 1;
        p.inputs.push(Operand { source: Source::Buffer, dtype: DType::F32, strides });
        let i = p.inputs.len() as u16 - 1;
        push(p, Inst::Input(i))
    }

    #[test]
    fn what_is_the_same_in_all_rows_is_computed_before_them() {
        let mut p = program(1000, 64, 1);
        let (mean, variance) = (of_columns(&mut p), of_columns(&mut p));
        let root = push(&mut p, Inst::Map(Row::Sqrt, [variance; 3]));
        let less = push(&mut p, Inst::Map(Row::Sub, [0, mean, 0]));
        let shared = push(&mut p, Inst::Map(Row::Div, [less, root, 0]));
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, shared));
        p.outputs.push((sum, Class::Column));
        let Stage::Columns(s) = staged(&p) else { panic!("no columns") };
        let those = |of: &[bool]| (0..of.len() as Val).filter(|&v| of[usize::from(v)]).collect::<Vec<_>>();
        assert_eq!(those(&s.held), [mean, root]);
        assert_eq!(those(&s.before), [mean, variance, root]);
        assert_eq!(those(&s.needed), [0, less, shared, sum]);
    }

    #[test]
    fn what_registers_are_too_short_for_is_read_for_each_row_and_what_is_computed_comes_first() {
        let mut p = program(1000, 64, 1);
        let mut last = 0;
        let many = Columns::HELD / 4 + 1;
        for _ in 0..many {
            let operand = of_columns(&mut p);
            last = push(&mut p, Inst::Map(Row::Mul, [last, operand, 0]));
        }
        let operand = of_columns(&mut p);
        let root = push(&mut p, Inst::Map(Row::Sqrt, [operand; 3]));
        last = push(&mut p, Inst::Map(Row::Mul, [last, root, 0]));
        let sum = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, last));
        p.outputs.push((sum, Class::Column));
        let Stage::Columns(s) = staged(&p) else { panic!("no columns") };
        assert!(s.held[usize::from(root)]);
        assert_eq!(s.held.iter().filter(|&&h| h).count() * s.vector, Columns::HELD);
        for v in 0..p.values.len() {
            let is_operand = matches!(p.values[v].inst, Inst::Input(i) if i > 0) && v != usize::from(operand);
            assert!(!is_operand || s.held[v] != s.needed[v], "{v}: held, or read for each row");
        }
    }

    #[test]
    fn sums_of_rows_and_columns_at_once_have_room_beside_each_other() {
        let mut p = program(1000, 256, 1);
        let rows = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Inner, 0));
        let a = push(&mut p, Inst::Reduce(ReduceKind::Sum, Over::Outer, 0));
        let b = push(&mut p, Inst::Reduce(ReduceKind::Max, Over::Outer, 0));
        p.outputs.extend([(rows, Class::Row), (a, Class::Column), (b, Class::Column)]);
        let Stage::Rows(s) = staged(&p) else { panic!("no rows") };
        let [first, second] = s.sums[..] else { panic!("two sums: {s:?}") };
        assert!(second.at >= first.at + s.blocks * 256 * 4);
        assert!(s.blocks * s.slots * s.per_slot >= 1000);
    }
}
