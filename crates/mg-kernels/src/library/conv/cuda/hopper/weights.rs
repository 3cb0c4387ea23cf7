//! The gradient by the weight: blocks share tiles, and what they leave is added in the order of places.

use super::super::super::ConvKind;
use super::super::Problem;
use super::slab::Slab;
use super::{
    By, Gathered, Laid, Lies, MULTIPROCESSORS, NOTHING, TENSOR_CORES, Tile, chosen, held, padded, room,
    thirds, threads, tile,
};
use crate::cuda::library::args::conv_tiles::Conv;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT};
use crate::cuda::library::{KernelPlan, Pointer, launch};
use mg_device::Result;
use mg_device::cuda::{Elements, Moved};

/// In f32.
const F32_WEIGHT: &[Tile] = &[
    thirds(128, 128, 3),
    thirds(64, 288, 2),
    thirds(64, 256, 2),
    thirds(64, 128, 4),
    threads(288, 5),
    threads(96, 8),
];
/// In tf32, of windows of more than one element (`kernels/conv_held.cu`).
const TF32_WEIGHT: &[Tile] = &[held(256, 4), held(128, 6), held(64, 8)];

/// The gradient by the weight of windows of one element.
const POINTS: &[Tile] = &[tile(128, 256, 4), tile(128, 128, 6), tile(64, 256, 5)];
const F32_POINTS: &[Tile] = &[thirds(128, 128, 3), thirds(64, 256, 2), thirds(64, 128, 4)];

/// Whether the gradient by the weight is one of windows of one element, and of planes whose places lie as they are multiplied.
pub(super) fn points(problem: &Problem) -> bool {
    let &Problem { kind, g, dtype, ref align, .. } = problem;
    kind == ConvKind::Weight
        && (g.kernel, g.stride, g.padding) == ([1; 3], [1; 3], [0; 3])
        && problem.innermost == [false; 2]
        && align.iter().all(|&n| n >= 16)
        && (g.outputs() * dtype.size()).is_multiple_of(16)
}

/// How blocks divide the stages of the gradient by the weight.
pub(super) struct Parts {
    pub(super) tile: Tile,
    /// Columns of a group of four warps.
    pub(super) wide: usize,
    /// Whether a tile has all taps of its channels.
    pub(super) whole: bool,
    pub(super) tiles: [usize; 2],
    /// Stages of a tile, and of a block.
    pub(super) steps: usize,
    pub(super) share: usize,
    /// Whether a block's are all of one tile, and blocks of one part of all tiles follow each other.
    pub(super) together: bool,
    pub(super) blocks: usize,
    /// Cycles of all.
    pub(super) time: f64,
    /// Tiles of sums that are left, and where in the workspace.
    pub(super) slots: usize,
    pub(super) at: u64,
}

impl Parts {
    /// Makes room for the sums. `None` where that is too much.
    pub(super) fn room(&mut self, plan: &mut KernelPlan) -> Option<(Pointer, u64)> {
        let place = room(plan, (self.slots * self.tile.m).checked_mul(self.tile.n * 4)?)?;
        self.at = place.1;
        Some(place)
    }

    /// Makes room for the sums, and goes on with the argument. `None` where that is too much.
    fn begin(&mut self, plan: &mut KernelPlan, args: Conv) -> Option<Conv> {
        let place = self.room(plan)?;
        Some(Conv {
            out: OUTPUT,
            parts: Some(place),
            tiles_m: self.tiles[0] as u32,
            tiles_n: self.tiles[1] as u32,
            steps: self.steps as u32,
            share: self.share as u32,
            together: self.together.into(),
            ..args
        })
    }
}

/// The result's gradient as the copy engine takes it: where it lies, elements from one line to the next, and lines.
pub(super) struct Gradient {
    pub(super) place: (Pointer, u64),
    pub(super) line: usize,
    lines: Moved,
}

/// How many threads share the parts of a sum (`kernels/conv_add.cu`), 8 at most: each has about as many as it reads at a time.
fn ways(parts: usize) -> usize {
    match parts {
        0..=16 => 1,
        17..=32 => 2,
        33..=64 => 4,
        _ => 8,
    }
}

/// Cycles that it takes to write a sum and read it again, by all multiprocessors together.
pub(super) const LEFT: f64 = 4.0 / 2000.0;

impl Laid {
    /// The gradient by the weight.
    pub(super) fn weight(&self, problem: &Problem, window: &Gathered, plan: &mut KernelPlan) -> Result<bool> {
        let &Problem { g, align, innermost, .. } = problem;
        let (cores, each) = (self.on_tensor_cores(), self.each());
        let lines = self.lines(window, g.c);
        let operand = (0, align[0], innermost[0]);
        let Some(images) = self.images(plan, operand, g.c, window, lines)? else { return Ok(false) };
        let window = &images.window;
        let places = self.batch * g.outputs();
        let steps = places.div_ceil(each);
        let chunks = images.neighbours.div_ceil(each);
        let taps = window.taps[0] * window.taps[1];
        let is_tf32 = self.elements == Elements::TF32;
        let tiles = match (is_tf32, cores) {
            (true, _) => TF32_WEIGHT,
            (false, true) => TENSOR_CORES,
            (false, false) => F32_WEIGHT,
        };
        let Some(mut parts) = self.parts(problem, tiles, taps * chunks * each, steps) else {
            return Ok(false);
        };
        let tile = parts.tile;
        let gradient = match is_tf32 {
            true => self.by_places(problem, tile, plan)?,
            false => self.by_filters(problem, window, plan)?,
        };
        let Some(gradient) = gradient else { return Ok(false) };
        if lines.is_none()
            && cores
            && !is_tf32
            && let Some(slab) = Slab::new(problem, window, self.batch, parts.time)
        {
            return self.slabs(problem, slab, &images, &gradient, plan);
        }
        let Some(begun) = parts.begin(plan, self.windows(&images)) else { return Ok(false) };
        let args = Conv {
            m: g.o as u32,
            n: places as u32,
            chunks: chunks as u32,
            taps: taps as u32,
            taps_wide: window.taps[1] as u32,
            places: Divisor::by(g.outputs()),
            wide: Divisor::by(window.places[1]),
            own_a: Some(gradient.place),
            a_line: gradient.line as u64,
            a: Some((gradient.place, gradient.lines)),
            b: Some((images.place, self.map(&images, each))),
            ..begun
        };
        plan.launches.push(self.launch("weight", tile, parts.blocks, tile.shared(false), &args)?);
        // Of neighbours, so many are one place's, and one tap's.
        let along = if lines.is_some() { g.kernel[2] } else { 1 };
        self.added(problem, &parts, plan, [taps, chunks, images.neighbours, images.channels, along])?;
        Ok(true)
    }

    /// The result's gradient with filters innermost, a line for each place.
    fn by_filters(
        &self,
        problem: &Problem,
        window: &Gathered,
        plan: &mut KernelPlan,
    ) -> Result<Option<Gradient>> {
        let &Problem { g, align, innermost, .. } = problem;
        let (size, each) = (self.size(), self.each());
        let of_output = Gathered { size: window.places, ..window.clone() };
        let gradient = self.images(plan, (1, align[1], innermost[1]), g.o, &of_output, None)?;
        let (places, line) = (self.batch * g.outputs(), padded(g.o, size));
        let rows = Moved::boxes(
            self.elements,
            [g.o, places, 1],
            &[line * size, places * line * size],
            [each, each, 1],
        );
        Ok(gradient.map(|gradient| Gradient { place: gradient.place, line, lines: rows }))
    }

    /// The same with the places of all images innermost, one after the other, a line for each filter.
    fn by_places(&self, problem: &Problem, tile: Tile, plan: &mut KernelPlan) -> Result<Option<Gradient>> {
        let &Problem { g, align, innermost, .. } = problem;
        let size = self.size();
        let (plane, places) = (g.outputs(), self.batch * g.outputs());
        let line = padded(places, size);
        let lies = Lies::of(g.o, plane, innermost[1]);
        let Some(place) = self.room(plan, g.o * line) else { return Ok(None) };
        let axes = [
            (g.o, lies.channel as isize, line),
            (self.batch, lies.image as isize, plane),
            (plane, lies.place as isize, 1),
        ];
        self.copied(plan, (1, align[1]), (0, 0), &axes, place)?;
        let rows = Moved::boxes(
            self.elements,
            [places, g.o, 1],
            &[line * size, g.o * line * size],
            [self.each(), tile.m, 1],
        );
        Ok(Some(Gradient { place, line, lines: rows }))
    }

    /// The gradient by the weight of windows of one element, of operands as they lie.
    pub(super) fn points(&self, problem: &Problem, plan: &mut KernelPlan) -> Result<bool> {
        let g = problem.g;
        let (size, cores, each) = (self.size(), self.on_tensor_cores(), self.each());
        let stages = g.outputs().div_ceil(each);
        let tiles = if cores { POINTS } else { F32_POINTS };
        let Some(mut parts) = self.parts(problem, tiles, g.c, self.batch * stages) else { return Ok(false) };
        let tile = parts.tile;
        let planes = |count: usize, rows: usize| {
            Moved::boxes(
                self.elements,
                [g.outputs(), count, self.batch],
                &[g.outputs() * size, g.outputs() * count * size],
                [each, rows, 1],
            )
        };
        let chunks = g.c.div_ceil(each);
        let Some(begun) = parts.begin(plan, NOTHING) else { return Ok(false) };
        let args = Conv {
            m: g.o as u32,
            n: g.outputs() as u32,
            chunks: chunks as u32,
            taps: 1,
            taps_wide: 1,
            places: Divisor::by(stages),
            own_a: Some((Pointer::Input(1), 0)),
            own_b: Some((Pointer::Input(0), 0)),
            a_line: g.outputs() as u64,
            a_tap: (g.outputs() * g.o) as u64,
            b_line: g.outputs() as u64,
            b_image: (g.outputs() * g.c) as u64,
            depth: g.c as u32,
            a: Some(((Pointer::Input(1), 0), planes(g.o, tile.m))),
            b: Some(((Pointer::Input(0), 0), planes(g.c, tile.n))),
            ..begun
        };
        plan.launches.push(self.launch("point", tile, parts.blocks, tile.shared(false), &args)?);
        self.added(problem, &parts, plan, [1, chunks, g.c, g.c, 1])?;
        Ok(true)
    }

    /// How blocks divide the tiles of so many columns. `None` where there are too many.
    fn parts(&self, problem: &Problem, tiles_of: &[Tile], columns: usize, steps: usize) -> Option<Parts> {
        let of = |tile: Tile| {
            let tiles = [problem.g.o.div_ceil(tile.m), columns.div_ceil(tile.n)];
            let count = tiles[0] * tiles[1];
            // Where there are blocks for all tiles, those that read the same places do so at the same time; else each has as much
            // as the others, of one tile or of several.
            let together = count * 3 <= MULTIPROCESSORS;
            let share = match together {
                true => steps.div_ceil(MULTIPROCESSORS / count),
                false => (count * steps).div_ceil(MULTIPROCESSORS),
            };
            // At least so many stages that it is worth to leave their sums.
            let share = share.max(8.min(steps));
            let (blocks, slots) = match together {
                true => (count * steps.div_ceil(share), count * steps.div_ceil(share)),
                false => ((count * steps).div_ceil(share), count + (count * steps).div_ceil(share)),
            };
            let time = share as f64 * tile.stage() + (slots * tile.m * tile.n) as f64 * LEFT;
            let (wide, whole) = (tile.wide(), false);
            Parts { tile, wide, whole, tiles, steps, share, together, blocks, time, slots, at: 0 }
        };
        let parts = of(chosen(problem, tiles_of, |tile| of(tile).time));
        (parts.tiles[0] * parts.tiles[1] * steps < 1 << 30).then_some(parts)
    }

    /// Adds the sums of the parts.
    pub(super) fn added(
        &self,
        problem: &Problem,
        parts: &Parts,
        plan: &mut KernelPlan,
        numbers: [usize; 5],
    ) -> Result<()> {
        let (g, tile) = (problem.g, parts.tile);
        let [taps, chunks, neighbours, inner, along] = numbers;
        let tiles = parts.tiles[0] * parts.tiles[1];
        let volume = g.kernel[1] * g.kernel[2];
        let ways = ways(parts.steps.div_ceil(parts.share));
        let args = args::conv_add::Add {
            out: OUTPUT,
            parts: Some((Pointer::Workspace, parts.at)),
            m: g.o as u32,
            channels: g.c as u32,
            taps: taps as u32,
            chunks: chunks as u32,
            tiles_m: parts.tiles[0] as u32,
            tiles: tiles as u32,
            rows: tile.m as u32,
            columns: tile.n as u32,
            wide: parts.wide as u32,
            steps: parts.steps as u32,
            share: parts.share as u32,
            together: parts.together.into(),
            ways: ways as u32,
            whole: parts.whole.into(),
            neighbours: neighbours as u32,
            inner: inner as u32,
            row: (g.c * volume) as u32,
            channel: volume as u32,
            along: along as u32,
        };
        let threads = tiles * tile.m * tile.n / 4 * ways;
        // How sums lie.
        let of = match tile.by {
            By::TensorCores => self.name,
            By::Held | By::Thirds(_) | By::Places(_) | By::Threads => problem.dtype.name(),
        };
        let name = format!("conv_add_{of}");
        plan.launches.push(launch("conv", &name, threads.div_ceil(256), &args)?);
        Ok(())
    }
}
