//! Filters multiplied with windows: the convolution, and the gradient by the input.

use super::super::super::{ConvKind, Geometry};
use super::super::Problem;
use super::{Gathered, Images, Laid, MULTIPROCESSORS, TENSOR_CORES, Tile, chosen, padded, places, thirds};
use crate::cuda::library::args::conv_tiles::Conv;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, launch};
use crate::library::Target;
use crate::library::matmul::Epilogue;
use mg_device::Result;
use mg_device::cuda::Moved;

/// Rests by a window's steps that are put together.
const MOST_RESTS: usize = 16;
/// Cycles to store a tile of 128 by 256.
const STORE: f64 = 2600.0;
/// In f32.
const F32: &[Tile] = &[thirds(128, 128, 3), places(64, 192, 4), places(32, 256, 4)];

/// The weight as rows of what is added up.
#[derive(Clone, Copy)]
struct Rows {
    /// Filters, and channels that are added up.
    count: usize,
    depth: usize,
    /// How far apart they are in the weight, and taps.
    row: usize,
    channel: usize,
    tap: usize,
}

impl Rows {
    /// For the forward convolution, or the gradient by the input, whose filters are the channels of the input. The weight's own channels may be innermost.
    fn of(kind: ConvKind, g: &Geometry, innermost: bool) -> Rows {
        let volume = g.kernel[1] * g.kernel[2];
        let (filter, channel, tap) =
            if innermost { (g.c * volume, 1, g.c) } else { (g.c * volume, volume, 1) };
        match kind {
            ConvKind::Input => Rows { count: g.c, depth: g.o, row: channel, channel: filter, tap },
            ConvKind::Forward | ConvKind::Weight => {
                Rows { count: g.o, depth: g.c, row: filter, channel, tap }
            }
        }
    }
}

/// The weight's rows as they lie for the copy engine.
struct Filters {
    place: (Pointer, u64),
    rows: Rows,
    /// Elements from one row to the next, and from one tap, or line of taps.
    line: usize,
    apart: usize,
    /// Taps, or lines of them.
    count: usize,
    /// From one line of taps to the next.
    tap_line: isize,
}

/// A product of windows, by what decides its tile.
#[derive(Clone, Copy)]
struct Work {
    rows: usize,
    places: usize,
    /// Of a tile.
    stages: usize,
}

impl Work {
    fn blocks(self, tile: Tile) -> usize {
        self.rows.div_ceil(tile.m) * self.places.div_ceil(tile.n)
    }

    /// Cycles, of all multiprocessors together.
    fn time(self, tile: Tile) -> f64 {
        let store = STORE * (tile.m * tile.n) as f64 / 32768.0;
        let turns = self.blocks(tile).div_ceil(MULTIPROCESSORS);
        turns as f64 * (self.stages as f64 * tile.stage() + store)
    }
}

/// Whether each rest by the windows' steps has a result of its own before they are put together.
fn weaves(problem: &Problem, windows: &[Gathered]) -> bool {
    let steps = problem.g.stride[1] * problem.g.stride[2];
    problem.kind == ConvKind::Input && windows.len() == steps && steps > 1 && steps <= MOST_RESTS
}

impl Laid {
    /// The forward convolution, or the gradient by the input.
    pub(super) fn gather(
        &self,
        problem: &Problem,
        windows: &[Gathered],
        plan: &mut KernelPlan,
    ) -> Result<bool> {
        let &Problem { kind, g, align, innermost, target, .. } = problem;
        let rows = Rows::of(kind, g, innermost[1]);
        let lines = if let [window] = windows { self.lines(window, rows.depth) } else { None };
        let operand = (0, align[0], innermost[0]);
        let Some(images) = self.images(plan, operand, rows.depth, &windows[0], lines)? else {
            return Ok(false);
        };
        let neighbours = lines.map(|spread| (spread, images.neighbours));
        let Some(filters) = self.filters(problem, rows, &windows[0], neighbours, plan)? else {
            return Ok(false);
        };
        if !target.innermost
            && weaves(problem, windows)
            && self.elements_of(rows, windows[0].to_size) < 1 << 31
        {
            return self.woven(problem, windows, &filters, &images, plan);
        }
        let epilogue = target.epilogue.filter(|_| self.is_marked(problem, windows));
        if epilogue.is_some() {
            let places = windows[0].places[0] * windows[0].places[1];
            plan.matrix =
                if target.innermost { [self.batch * places, rows.count] } else { [rows.count, places] };
        }
        for window in windows {
            let window = if lines.is_some() { &images.window } else { window };
            let images = Images { window: window.clone(), ..images };
            let out = (Pointer::Output(0), 0);
            plan.launches.push(self.multiplied(problem, &filters, &images, out, target.align, epilogue)?);
        }
        Ok(true)
    }

    /// Whether one launch computes all of the result, and fours of neighbours are stored at a time.
    fn is_marked(&self, problem: &Problem, windows: &[Gathered]) -> bool {
        let Target { innermost, align, .. } = problem.target;
        let fours = innermost || windows[0].stored_together(self.size(), align) >= 4;
        fours && super::is_whole(windows)
    }

    /// Elements of a result of so many places.
    fn elements_of(&self, rows: Rows, places: [usize; 2]) -> usize {
        self.batch * rows.count * places[0] * places[1]
    }

    /// The weight by taps, or by lines of taps, with what is added up innermost. Of lines it is said how many channels apart their taps lie,
    /// and how many elements they have.
    fn filters(
        &self,
        problem: &Problem,
        rows: Rows,
        window: &Gathered,
        lines: Option<(usize, usize)>,
        plan: &mut KernelPlan,
    ) -> Result<Option<Filters>> {
        let (size, weight) = (self.size(), (1, problem.align[1]));
        let [_, taps_y, taps_x] = problem.g.kernel;
        let [row, channel, tap] = [rows.row, rows.channel, rows.tap].map(|n| n as isize);
        let Some((spread, neighbours)) = lines else {
            let (length, count, tap_line) = (padded(rows.depth, size), taps_y * taps_x, taps_x as isize);
            let made = |place, line, apart| Filters { place, rows, line, apart, count, tap_line };
            if rows.channel == 1 && length == rows.depth && weight.1 >= 16 {
                // From the only tap there is no next one, and yet a distance that the copy engine takes.
                let apart = if count == 1 { rows.row } else { rows.tap };
                return Ok(Some(made((Pointer::Input(1), 0), rows.row, apart)));
            }
            // Filters' rows of one tap after those of another; of a gradient by the input a row's taps one after the other, since the copy
            // is a transposition then, of lines that are read and written as a whole (measured: 108 µs for 124, 512 by 512 by 3 by 3).
            let (line, apart) = if rows.channel > rows.row {
                (count * length, length)
            } else {
                (length, rows.count * length)
            };
            let Some(place) = self.room(plan, count * rows.count * length) else { return Ok(None) };
            let axes = [(rows.count, row, line), (count, tap, apart), (rows.depth, channel, 1)];
            self.copied(plan, weight, (0, 0), &axes, place)?;
            return Ok(Some(made(place, line, apart)));
        };
        let length = padded(neighbours, size);
        let elements = taps_y * rows.count * length;
        let Some(place) = self.room(plan, elements) else { return Ok(None) };
        if spread != rows.depth {
            self.zeros(plan, elements, place)?;
        }
        let axes = [
            (taps_y, taps_x as isize * tap, rows.count * length),
            (rows.count, row, length),
            (window.taps[1], window.along[1] * tap, spread),
            (rows.depth, channel, 1),
        ];
        self.copied(plan, weight, (window.first[1] * rows.tap, 0), &axes, place)?;
        Ok(Some(Filters {
            place,
            rows,
            line: length,
            apart: rows.count * length,
            count: taps_y,
            tap_line: 1,
        }))
    }

    /// Results of windows of their own for each rest by the steps, and what puts them together.
    fn woven(
        &self,
        problem: &Problem,
        windows: &[Gathered],
        filters: &Filters,
        images: &Images,
        plan: &mut KernelPlan,
    ) -> Result<bool> {
        let &Problem { g, target, .. } = problem;
        let (size, total) = (self.size(), self.elements_of(filters.rows, windows[0].to_size));
        let from = (Pointer::Workspace, plan.workspace as u64);
        // Where each rest's result begins; of windows without elements there is none.
        let mut first = [u64::MAX; MOST_RESTS];
        for (window, first) in windows.iter().zip(&mut first) {
            if window.taps.contains(&0) {
                continue;
            }
            let elements = self.elements_of(filters.rows, window.places);
            let Some(place) = self.room(plan, elements) else { return Ok(false) };
            *first = (place.1 - from.1) / size as u64;
            let window = Gathered { to: [0; 2], to_step: [1; 2], to_size: window.places, ..window.clone() };
            let images = Images { window, ..*images };
            plan.launches.push(self.multiplied(problem, filters, &images, place, 16, None)?);
        }
        let args = args::conv_weave::Weave {
            out: OUTPUT,
            from: Some(from),
            count: total as u32,
            vector: target.align.is_multiple_of(16).into(),
            first,
            high: Divisor::by(g.input[1]),
            wide: Divisor::by(g.input[2]),
            down: Divisor::by(g.stride[1]),
            right: Divisor::by(g.stride[2]),
        };
        let name = format!("conv_weave_b{}", 8 * size);
        plan.launches.push(launch("conv", &name, total.div_ceil(256 * 16 / size), &args)?);
        Ok(true)
    }

    /// The product of filters with the images' windows, to a place of some alignment, or to elementwise work.
    fn multiplied(
        &self,
        problem: &Problem,
        filters: &Filters,
        images: &Images,
        out: (Pointer, u64),
        align: usize,
        epilogue: Option<Epilogue>,
    ) -> Result<KernelLaunch> {
        let (size, cores, window) = (self.size(), self.on_tensor_cores(), &images.window);
        let (rows, of_image) = (filters.rows.count, window.places[0] * window.places[1]);
        let places = self.batch * of_image;
        let taps = window.taps[0] * window.taps[1];
        let chunks = images.neighbours.div_ceil(self.each());
        let work = Work { rows, places, stages: taps * chunks };
        let innermost = problem.target.innermost;
        let tiles = if cores { TENSOR_CORES } else { F32 };
        let tile = chosen(problem, tiles, |tile| work.time(tile));
        let weights = Moved::boxes(
            self.elements,
            [images.neighbours, rows, filters.count],
            &[filters.line * size, filters.apart * size],
            [self.each(), tile.m, 1],
        );
        let first = window.first[0] as isize * filters.tap_line + window.first[1] as isize;
        let to_plane = window.to_size[0] * window.to_size[1];
        let args = Conv {
            out: Some(out).filter(|_| epilogue.is_none_or(|epilogue| epilogue.stores)),
            m: rows as u32,
            n: places as u32,
            tiles_m: rows.div_ceil(tile.m) as u32,
            tiles_n: places.div_ceil(tile.n) as u32,
            chunks: chunks as u32,
            taps: taps as u32,
            taps_wide: window.taps[1] as u32,
            tap_first: first as i32,
            tap_down: (window.along[0] * filters.tap_line) as i32,
            tap_right: window.along[1] as i32,
            vector: if epilogue.is_some() { 0 } else { window.stored_together(size, align) as u32 },
            out_first: (window.to[0] * window.to_size[1] + window.to[1]) as u32,
            out_down: (window.to_step[0] * window.to_size[1]) as u32,
            out_right: if window.is_whole() { 0 } else { window.to_step[1] } as u32,
            each: if innermost { rows as u32 } else { 1 },
            plane: if innermost { 1 } else { to_plane as u64 },
            image: (to_plane * rows) as u64,
            places: Divisor::by(of_image),
            wide: Divisor::by(window.places[1]),
            own_a: Some(filters.place),
            a_line: filters.line as u64,
            a_tap: filters.apart as u64,
            a: Some((filters.place, weights)),
            b: Some((images.place, self.map(images, tile.n))),
            ..self.windows(images)
        };
        let shared = tile.shared(true);
        self.launch("gather", tile, work.blocks(tile).min(MULTIPROCESSORS), shared, &args)
    }
}
