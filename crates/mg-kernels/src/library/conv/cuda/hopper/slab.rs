//! The gradient by the weight of windows of three by three, one place from the next, in halves: `kernels/conv_slab.cu`.

use super::super::Problem;
use super::weights::{Gradient, LEFT, Parts};
use super::{BYTES_A_CYCLE, Gathered, Images, Laid, MULTIPROCESSORS, tile};
use crate::cuda::library::args;
use crate::cuda::library::{KernelPlan, launch};
use mg_device::Result;
use mg_device::cuda::Moved;

/// Filters of a block, and as many channels, of which it has all taps.
const SIDE: usize = 64;
const TAPS: usize = 9;
/// Places of a line of a stage, and of a slab's.
const PLACES: [usize; 2] = [8, 10];
/// Stages that a block has at least, and at most.
const STAGES: [usize; 2] = [3, 8];
/// Bytes of a block's shared memory, but for where its stages begin.
const SHARED: usize = 227 * 1024 - 1024;
/// Cycles of two lines of places, and of a stage besides.
const PAIR: f64 = 288.0;
const BESIDES: f64 = 48.0;
/// Where each tap is gathered by itself, a stage takes so many times what `Tile::stage` says (1.5 to 1.8 on an H200); that of a slab does take what is said here.
const GATHERED: f64 = 1.5;

/// How images are divided into stages, and stages into blocks.
pub(super) struct Slab {
    /// Of a stage: so many lines of eight places of so many images.
    rows: usize,
    images: usize,
    /// Stages of images, down and to the right.
    down: usize,
    right: usize,
    parts: Parts,
}

/// Bytes in shared memory of a stage's places, and of its slab: so many lines of so many images.
fn room([rows, images]: [usize; 2]) -> [usize; 2] {
    let [line, of_slab] = PLACES.map(|places| places * 128);
    [rows * line, (rows + 2) * of_slab].map(|bytes| (images * bytes).next_multiple_of(1024))
}

impl Slab {
    /// One that has so many lines of so many images a stage. `None` where its stages are too large.
    fn of(
        batch: usize,
        [high, wide]: [usize; 2],
        tiles: [usize; 2],
        [rows, images]: [usize; 2],
    ) -> Option<Slab> {
        let bytes = room([rows, images]).iter().sum::<usize>();
        // With two barriers each.
        let stages = (SHARED / (bytes + 16)).min(STAGES[1]);
        if stages < STAGES[0] {
            return None;
        }
        let (down, right) = (high.div_ceil(rows), wide.div_ceil(PLACES[0]));
        let steps = batch.div_ceil(images) * down * right;
        let count = tiles[0] * tiles[1];
        let share = steps.div_ceil((MULTIPROCESSORS / count).max(1)).max(4.min(steps));
        let blocks = count * steps.div_ceil(share);
        let stage = ((rows * images / 2) as f64 * PAIR).max(bytes as f64 / BYTES_A_CYCLE) + BESIDES;
        let turns = (blocks.div_ceil(MULTIPROCESSORS) * share) as f64;
        let parts = Parts {
            tile: tile(SIDE, SIDE * TAPS, stages),
            wide: SIDE * 3,
            whole: true,
            tiles,
            steps,
            share,
            together: true,
            blocks,
            time: turns * stage + (blocks * SIDE * SIDE * TAPS) as f64 * LEFT,
            slots: blocks,
            at: 0,
        };
        Some(Slab { rows, images, down, right, parts })
    }

    /// The division that is done first. `None` where the windows are others, or tiles (of which the best takes so many cycles) are faster.
    pub(super) fn new(problem: &Problem, window: &Gathered, batch: usize, tiles_take: f64) -> Option<Slab> {
        let g = problem.g;
        let is_slab = (window.taps, window.step, window.apart) == ([3; 2], [1; 2], [1; 2]);
        if !is_slab || problem.tile.is_some_and(|name| name != "slab") {
            return None;
        }
        let tiles = [g.o, g.c].map(|n| n.div_ceil(SIDE));
        let of = |rows: usize| {
            let counts = (1..=16 / rows).filter(move |images| (rows * images).is_multiple_of(2));
            counts.filter_map(move |images| Slab::of(batch, window.places, tiles, [rows, images]))
        };
        let best = (1..=16).flat_map(of).min_by(|a, b| a.parts.time.total_cmp(&b.parts.time))?;
        let is_named = problem.tile.is_some();
        let Parts { blocks, time, .. } = best.parts;
        (blocks < 1 << 30 && (is_named || time < GATHERED * tiles_take)).then_some(best)
    }
}

impl Laid {
    /// The gradient by the weight by slabs of images.
    pub(super) fn slabs(
        &self,
        problem: &Problem,
        slab: Slab,
        images: &Images,
        gradient: &Gradient,
        plan: &mut KernelPlan,
    ) -> Result<bool> {
        let (g, size, window) = (problem.g, self.size(), &images.window);
        let ([high, wide], [size_y, size_x]) = (window.places, window.size);
        let lies = |strides: [usize; 3]| strides.map(|n| n * size);
        let [a_strides, b_strides] =
            [lies([1, wide, high * wide].map(|n| n * gradient.line)), lies(images.strides)];
        let boxes = |places, rows| [SIDE, places, rows, slab.images];
        let [in_a, in_b] = [boxes(PLACES[0], slab.rows), boxes(PLACES[1], slab.rows + 2)];
        let a = Moved::boxes(self.elements, [g.o, wide, high, self.batch], &a_strides, in_a);
        let b =
            Moved::boxes(self.elements, [images.neighbours, size_x, size_y, self.batch], &b_strides, in_b);
        let [room_a, room_b] = room([slab.rows, slab.images]);
        let mut parts = slab.parts;
        let stages = parts.tile.stages;
        let Some(place) = parts.room(plan) else { return Ok(false) };
        let overhangs = !wide.is_multiple_of(PLACES[0]) || !high.is_multiple_of(slab.rows);
        let args = args::conv_slab::Slab {
            parts: Some(place),
            m: g.o as u32,
            depth: g.c as u32,
            tiles_m: parts.tiles[0] as u32,
            tiles: (parts.tiles[0] * parts.tiles[1]) as u32,
            steps: parts.steps as u32,
            share: parts.share as u32,
            rows: slab.rows as u32,
            images: slab.images as u32,
            down: slab.down as u32,
            right: slab.right as u32,
            stages: stages as u32,
            room_a: room_a as u32,
            room_b: room_b as u32,
            batch: self.batch as u32,
            high: high as u32,
            wide: wide as u32,
            low_y: window.low[0] as i32,
            low_x: window.low[1] as i32,
            size_y: size_y as i32,
            size_x: size_x as i32,
            overhangs: overhangs.into(),
            own_a: Some(gradient.place),
            own_b: Some(images.place),
            a_line: gradient.line as u64,
            b_place: images.strides[0] as u64,
            b_line: images.strides[1] as u64,
            b_image: images.strides[2] as u64,
            a: Some((gradient.place, a)),
            b: Some((images.place, b)),
        };
        let mut made = launch("conv", &format!("conv_slab_{}", self.name), parts.blocks, &args)?;
        made.shared = (1024 + stages * (room_a + room_b + 16)) as u32;
        plan.launches.push(made);
        let chunks = g.c.div_ceil(self.each());
        self.added(problem, &parts, plan, [TAPS, chunks, images.neighbours, images.channels, 1])?;
        Ok(true)
    }
}
