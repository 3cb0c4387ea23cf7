//! Launches of `kernels/surprise.cu`, between those of products.
//!
//! Scores lie turned, a line for each word: lines of a block's rows are aligned whatever the number of words is, for the product that makes them and for the
//! two that read what flows back.

use super::{Sizes, Spread, Surprise, SurpriseKind, dtype_of_sums};
use crate::cuda::library::args::{Address, surprise::Surprise as Args};
use crate::cuda::library::constants::surprise::{AHEAD, THREADS, WARPS};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, launch};
use crate::frame::internal;
use crate::library::matmul::{Epilogue, Problem, cuda as matmul};
use crate::library::{Described, Target};
use mg_device::{DType, Error, ErrorKind, Layout, Result, Shape};
use std::ops::Range;

const OP: &str = "linear_cross_entropy";
/// Rows of a large block are a multiple of this: tiles of products are so wide.
const MANY: usize = 256;
/// Blocks that keep a device busy.
const BUSY: usize = 1056;
/// Chunks of words whose sums are joined, at most.
const MOST_CHUNKS: usize = 512;
/// Of few words a row has as many bytes besides its scores, about.
const BESIDES: usize = 64;
/// Bytes of the part of a weight's gradient that is added where products do not add by themselves.
const PART: usize = 32 << 20;

/// What an address that lies so many bytes behind one that is aligned is a multiple of, up to 16.
fn align(of: usize, offset: usize) -> usize {
    if offset == 0 { of.min(16) } else { of.min(1 << offset.trailing_zeros().min(4)) }
}

/// Parts of the workspace, one after the other.
#[derive(Default)]
struct Room(usize);

impl Room {
    fn take(&mut self, bytes: usize) -> u64 {
        let at = self.0.next_multiple_of(256);
        self.0 = at + bytes;
        at as u64
    }
}

/// What all blocks of rows have in common.
struct Planned<'a> {
    surprise: &'a Surprise,
    s: &'a Sizes,
    operands: &'a [Described],
    target: Target,
    /// Where the scores of a block lie in the workspace, and what else there is.
    scores: u64,
    states: [u64; 3],
    weights: u64,
    stats: u64,
    bias_parts: u64,
    bias_sums: u64,
    part: u64,
    /// From here on products have what they need.
    free: usize,
    launches: Vec<KernelLaunch>,
    workspace: usize,
}

/// How the rows of a block are divided.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Division {
    /// Neighbouring rows of a thread.
    each: usize,
    segments: usize,
    /// Words of a chunk.
    chunk: usize,
    chunks: usize,
}

impl Division {
    fn new(dtype: DType, rows: usize, words: usize, capability: u32) -> Division {
        let several = 16 / dtype.size();
        let takes = rows.is_multiple_of(several) && (capability >= 80 || !dtype.is_half());
        let each = if takes { several } else { 1 };
        let segments = rows.div_ceil(32 * each);
        let least = WARPS * AHEAD;
        let chunks = BUSY.div_ceil(segments).min(MOST_CHUNKS).min(words.div_ceil(least)).max(1);
        let chunk = words.div_ceil(chunks).next_multiple_of(least);
        Division { each, segments, chunk, chunks: words.div_ceil(chunk) }
    }
}

/// The blocks of rows: what is left of the last one where lines of it would not be aligned is one by itself.
fn blocks(s: &Sizes) -> Vec<Range<usize>> {
    let several = 16 / s.dtype.size();
    let many = s.block((s.words * s.dtype.size()).max(BESIDES), MANY, s.room());
    let mut all = vec![];
    for from in (0..s.rows).step_by(many) {
        let rows = many.min(s.rows - from);
        let aligned = rows / several * several;
        if aligned > 0 {
            all.push(from..from + aligned);
        }
        if rows > aligned {
            all.push(from + aligned..from + rows);
        }
    }
    all
}

impl Planned<'_> {
    fn size(&self) -> usize {
        self.s.dtype.size()
    }

    /// A product of two matrices, each at an address; sums of blocks that share a tile go behind all else.
    fn product(
        &mut self,
        [a, b]: [(&Layout, (Pointer, u64)); 2],
        out: (Pointer, u64),
        adds: bool,
    ) -> Result<()> {
        let of = |(pointer, offset): (Pointer, u64)| {
            let own = match pointer {
                Pointer::Input(i) => self.operands[usize::from(i)].align,
                Pointer::Output(_) => self.target.align,
                Pointer::Workspace | Pointer::Tickets | Pointer::Fault => 16,
            };
            align(own, offset as usize)
        };
        let mut problem = Problem::new(self.s.dtype, a.0, b.0)?;
        problem.capability = self.target.capability;
        problem.tiles = self.target.tiles;
        problem.precision = self.target.precision;
        problem.align = [of(a.1), of(b.1)];
        problem.align_out = of(out);
        problem.epilogue = adds.then_some(Epilogue { stores: false });
        let mut plan = matmul::plan(&problem)?;
        if adds && let Some(last) = plan.launches.pop() {
            let [m, n, _] = problem.sizes();
            plan.launches.push(matmul::adding(last, self.s.dtype, [m, n], of(out) == 16)?);
        }
        self.workspace = self.workspace.max(self.free + plan.workspace);
        let free = self.free as u64;
        self.launches.extend(plan.launches.into_iter().map(|launch| {
            launch.moved(|pointer| match pointer {
                Pointer::Input(0) => a.1,
                Pointer::Input(_) => b.1,
                Pointer::Output(_) => out,
                Pointer::Workspace => (Pointer::Workspace, free),
                Pointer::Tickets | Pointer::Fault => (pointer, 0),
            })
        }));
        Ok(())
    }

    fn args(&self, rows: &Range<usize>, d: Division) -> Args {
        let (s, order) = (self.s, self.surprise.order());
        let sums = dtype_of_sums(s.dtype).size();
        let input = |i: usize, elements: usize, size: usize| -> Address {
            Some((Pointer::Input(i as u8), (elements * size) as u64))
        };
        let work = |at: u64| -> Address { Some((Pointer::Workspace, at)) };
        let is_slopes = self.surprise.kind == SurpriseKind::Slopes;
        let [_, bias, answer, _] = s.places();
        let out = if is_slopes { answer * self.size() } else { 0 };
        let adds_bias = is_slopes && s.biased;
        let is_last = rows.end == s.rows;
        let [tops, sums_at, spreads] = self.states;
        Args {
            scores: work(self.scores),
            bias: order.bias.and_then(|i| input(i, 0, 0)),
            weight: order.shares.and_then(|i| input(i, 0, 0)),
            labels: input(2, rows.start, DType::I64.size()),
            tops: work(tops),
            sums: work(sums_at),
            spreads: work(spreads),
            weights: work(self.weights),
            stats: work(self.stats),
            given: if is_slopes { input(order.count, rows.start, sums) } else { None },
            out: Some((Pointer::Output(0), (out + rows.start * sums) as u64)),
            bias_parts: if adds_bias { work(self.bias_parts) } else { None },
            bias_sums: work(self.bias_sums),
            bias_out: (adds_bias && is_last).then_some((Pointer::Output(0), (bias * self.size()) as u64)),
            all: s.rows as u64,
            rows: rows.len() as u32,
            words: s.words as u32,
            segments: d.segments as u32,
            chunk: d.chunk as u32,
            chunks: d.chunks as u32,
            spread: self.surprise.spread as u32,
            first: (rows.start == 0).into(),
        }
    }

    fn launch(&mut self, name: &str, blocks: usize, args: &Args) -> Result<()> {
        self.launches.push(launch(OP, name, blocks, args)?);
        Ok(())
    }

    fn block(&mut self, rows: &Range<usize>) -> Result<()> {
        let (s, size) = (*self.s, self.size());
        let Sizes { width, words, dtype, .. } = s;
        let n = rows.len();
        let signed = |n: usize| n as isize;
        let own = (Pointer::Input(0), (rows.start * width * size) as u64);
        let (weight, scores) = ((Pointer::Input(1), 0), (Pointer::Workspace, self.scores));
        let dense = |a: usize, b: usize| Layout::contiguous(Shape::of(&[a, b]));
        let turned = |a: usize, b: usize| Layout::new(Shape::of(&[a, b]), &[1, signed(a)], 0);
        self.product([(&dense(words, width), weight), (&turned(width, n)?, own)], scores, false)?;
        let d = Division::new(dtype, n, words, self.target.capability);
        let args = self.args(rows, d);
        let name = |part: &str| match d.each {
            1 => format!("surprise_{part}_{}", dtype.name()),
            each => format!("surprise_{part}_{}_x{each}", dtype.name()),
        };
        self.launch(&name("sum"), d.segments * d.chunks, &args)?;
        self.launch(&format!("surprise_join_{}", dtype.name()), n.div_ceil(32), &args)?;
        if self.surprise.kind != SurpriseKind::Slopes {
            return Ok(());
        }
        self.launch(&name("slope"), d.segments * d.chunks, &args)?;
        if s.biased {
            let blocks = words.div_ceil(THREADS);
            self.launch(&format!("surprise_bias_{}", dtype.name()), blocks, &args)?;
        }
        if width == 0 {
            return Ok(());
        }
        let [of_rows, ..] = s.places();
        let back = (Pointer::Output(0), ((of_rows + rows.start * width) * size) as u64);
        self.product([(&turned(n, words)?, scores), (&dense(words, width), weight)], back, false)?;
        let (is_first, to) = (rows.start == 0, (Pointer::Output(0), 0));
        if is_first || dtype != DType::F64 {
            let operands = [(&dense(words, n), scores), (&dense(n, width), own)];
            return self.product(operands, to, !is_first);
        }
        // Products of f64 do nothing besides.
        let each = (PART / (width * size)).max(1);
        for from in (0..words).step_by(each) {
            let count = each.min(words - from);
            let of = (Pointer::Workspace, self.scores + (from * n * size) as u64);
            let part = (Pointer::Workspace, self.part);
            self.product([(&dense(count, n), of), (&dense(n, width), own)], part, false)?;
            let elements = count * width;
            let args = Args {
                out: Some((Pointer::Output(0), (from * width * size) as u64)),
                bias_sums: Some(part),
                all: elements as u64,
                ..self.args(rows, d)
            };
            self.launch("surprise_add_f64", elements.div_ceil(THREADS).min(BUSY), &args)?;
        }
        Ok(())
    }
}

/// A copy of so many elements that lie behind one another, from so many bytes behind an operand's beginning on.
fn copied(size: usize, count: usize, from: usize, align: usize) -> Result<KernelPlan> {
    let dense = Layout::contiguous(Shape::of(&[count]));
    let mut plan = copy::plan(size, &dense, &dense, align)?;
    let of = |pointer| match pointer {
        Pointer::Input(_) => (pointer, from as u64),
        Pointer::Output(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
    };
    plan.launches = plan.launches.into_iter().map(|launch| launch.moved(of)).collect();
    Ok(plan)
}

pub(super) fn plan(
    surprise: &Surprise,
    s: &Sizes,
    operands: &[Described],
    target: Target,
) -> Result<KernelPlan> {
    let (size, sums) = (s.dtype.size(), dtype_of_sums(s.dtype).size());
    let [_, bias, answer, _] = s.places();
    match surprise.kind {
        SurpriseKind::Answer => {
            let from = answer * size;
            let align = align(operands[0].align.min(target.align), from);
            return copied(sums, s.lines * s.rows, from, align);
        }
        SurpriseKind::Total => {
            return copied(operands[0].dtype.size(), 1, 0, operands[0].align.min(target.align));
        }
        SurpriseKind::Slopes if s.rows == 0 => {
            // The rows have none, and nothing flows back to the others.
            return copy::fill(size, bias + if s.biased { s.words } else { 0 }, 0);
        }
        SurpriseKind::Forward | SurpriseKind::Slopes => {}
    }
    if [s.rows, s.width, s.words].iter().any(|&n| i32::try_from(n).is_err()) {
        let text = format!("{} rows of {}, {} words: sizes have to be below 2^31", s.rows, s.width, s.words);
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let blocks = blocks(s);
    let Some(many) = blocks.iter().map(ExactSizeIterator::len).max() else {
        return Ok(KernelPlan::default());
    };
    let divisions =
        || blocks.iter().map(|b| (b.len(), Division::new(s.dtype, b.len(), s.words, target.capability)));
    let most = |of: &dyn Fn((usize, Division)) -> usize| divisions().map(of).max().unwrap_or(0);
    let is_slopes = surprise.kind == SurpriseKind::Slopes;
    let mut room = Room::default();
    let scores = room.take(many * s.words * size);
    let states = most(&|(n, d)| n * d.chunks) * sums;
    let is_spread = surprise.spread != Spread::Nothing;
    let states = [states, states, if is_spread { states } else { 0 }].map(|bytes| room.take(bytes));
    let weights = room.take(if is_spread { most(&|(_, d)| d.chunks) * sums } else { 0 });
    let stats = room.take(if is_slopes { 4 * many * sums } else { 0 });
    let adds_bias = is_slopes && s.biased;
    let bias_parts = room.take(if adds_bias { most(&|(_, d)| d.segments) * s.words * sums } else { 0 });
    let bias_sums = room.take(if adds_bias { s.words * sums } else { 0 });
    let adds = is_slopes && s.dtype == DType::F64 && blocks.len() > 1;
    let part =
        room.take(if adds { (PART / (s.width * size).max(1)).clamp(1, s.words) * s.width * size } else { 0 });
    let free = room.take(0) as usize;
    let mut planned = Planned {
        surprise,
        s,
        operands,
        target,
        scores,
        states,
        weights,
        stats,
        bias_parts,
        bias_sums,
        part,
        free,
        launches: vec![],
        workspace: free,
    };
    for rows in &blocks {
        planned.block(rows)?;
    }
    if planned.launches.is_empty() {
        return Err(internal("rows without launches"));
    }
    let Planned { launches, workspace, .. } = planned;
    Ok(KernelPlan { launches: launches.into(), workspace, ..KernelPlan::default() })
}
