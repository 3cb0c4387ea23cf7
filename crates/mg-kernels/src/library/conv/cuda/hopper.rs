//! Launches of `kernels/conv_wgmma.cu`, for capability 9.0 alone: the copy engine gathers windows of images whose channels are
//! innermost, the tensor cores multiply.

use super::super::{ConvKind, Geometry};
use super::{Problem, product};
use crate::cuda::library::args::Args;
use crate::cuda::library::{Launch, Plan, Pointer, copy, find};
use crate::library::matmul::Precision;
use mg_device::cuda::{Elements, Moved, TensorMap, WindowMap};
use mg_device::{DType, Layout, Result, Shape};

/// Multiprocessors of the device that plans are made for, whatever the device is.
const MULTIPROCESSORS: usize = 132;
/// Channels below which most of a stage's 128 bytes would be zeros.
const FEWEST_CHANNELS: usize = 16;
/// Multiplications and additions below which layouts cost more than they save.
const FEWEST_FLOPS: usize = 1 << 18;
/// No more than this is copied.
const MOST: usize = 2 << 30;

/// A tile: rows, columns, stages. `kernels/variants.txt` has the same.
#[derive(Clone, Copy)]
struct Tile {
    m: usize,
    n: usize,
    stages: usize,
}

const fn tile(m: usize, n: usize, stages: usize) -> Tile {
    Tile { m, n, stages }
}

/// On tensor cores (`kernels/conv_wgmma.cu`).
const TENSOR_CORES: &[Tile] = &[tile(128, 256, 4), tile(128, 192, 5), tile(128, 128, 6), tile(64, 256, 5)];
/// In f32 throughout (`kernels/conv_simt.cu`), windows and the gradient by the weight.
const F32: &[Tile] = &[tile(128, 256, 4), tile(64, 256, 5), tile(32, 256, 6)];
const F32_WEIGHT: &[Tile] = &[tile(128, 256, 4), tile(64, 288, 5), tile(64, 128, 6), tile(32, 288, 5)];

impl Tile {
    /// Cycles of a stage: of the multiplications, or of its way from the second-level cache.
    fn stage(self, tensor_cores: bool) -> f64 {
        let multiplied = (self.m * self.n) as f64 / if tensor_cores { 32.0 } else { 4.0 };
        let brought = ((self.m + self.n) * 128) as f64 / BYTES_A_CYCLE;
        // Narrow tiles read more of shared memory for a multiplication.
        let read = if tensor_cores { 0.0 } else { (256 * self.m + 32 * self.n * 8) as f64 / 32.0 * 1.25 };
        multiplied.max(brought).max(read)
    }

    /// Dynamic shared memory of a block: stages from a multiple of 1024 on, two barriers for each, and what lies between.
    fn shared(self, slices: usize) -> usize {
        1024 + self.stages * (128 * (self.m + self.n) + 16) + slices
    }

    fn name(self) -> String {
        format!("{}x{}", self.m, self.n)
    }

    /// Columns of a group of four warps.
    fn wide(self) -> usize {
        if self.m == 64 { self.n / 2 } else { self.n }
    }
}

/// Bytes that a multiprocessor gets from the second-level cache in a cycle where all ask for them.
const BYTES_A_CYCLE: f64 = 44.0;
/// Cycles to store a tile of 128 by 256.
const STORE: f64 = 2600.0;

/// A window over images with channels innermost, one after the other, whose places give the places of a result.
struct Gathered {
    /// Lines and columns of the images.
    size: [usize; 2],
    /// Where the first window begins.
    low: [isize; 2],
    /// From one window to the next.
    step: [usize; 2],
    /// Windows.
    places: [usize; 2],
    /// Elements of a window.
    taps: [usize; 2],
    /// From one to the next.
    apart: [usize; 2],
    /// The element of the weight that the first is multiplied with, and from one to the next.
    first: [usize; 2],
    along: [isize; 2],
    /// Where the first place lies in the result, and the next ones.
    to: [usize; 2],
    to_step: [usize; 2],
    /// Lines and columns of the result.
    to_size: [usize; 2],
}

impl Gathered {
    /// Where the last window may begin, less the image's last place.
    fn high(&self) -> [isize; 2] {
        let at = |i: usize| {
            let last = self.low[i] + ((self.places[i] - 1) * self.step[i]) as isize;
            last - (self.size[i] as isize - 1)
        };
        [at(0), at(1)]
    }

    /// Whether the copy engine counts so far.
    fn fits(&self) -> bool {
        let corner = |n: &isize| (-128..128).contains(n);
        let reach = (0..2).all(|i| self.taps[i].saturating_sub(1) * self.apart[i] < 256 && self.step[i] <= 8);
        reach && self.low.iter().chain(&self.high()).all(corner)
    }

    /// The tensor as the copy engine takes it. Places come with their columns first.
    fn map(&self, elements: Elements, channels: usize, images: usize, places: usize) -> Moved {
        let size = elements.size();
        let pixel = padded(channels, size) * size;
        let [lines, columns] = self.size;
        let [high_y, high_x] = self.high();
        Moved::Windows(WindowMap {
            elements,
            sizes: [channels, columns, lines, images].map(|n| n as u64),
            strides: [pixel, pixel * columns, pixel * columns * lines].map(|n| n as u64),
            low: [self.low[1] as i32, self.low[0] as i32],
            high: [high_x as i32, high_y as i32],
            steps: [self.step[1] as u32, self.step[0] as u32],
            neighbours: (128 / size) as u32,
            places: places as u32,
        })
    }
}

/// So many channels are apart in memory what lies next to each other in an image.
fn padded(channels: usize, size: usize) -> usize {
    channels.next_multiple_of(16 / size)
}

/// The convolution as windows over the input.
fn forward(g: &Geometry) -> Gathered {
    let last = |n: [usize; 3]| [n[1], n[2]];
    let padding = last(g.padding);
    Gathered {
        size: last(g.input),
        low: padding.map(|n| -(n as isize)),
        step: last(g.stride),
        places: last(g.output),
        taps: last(g.kernel),
        apart: last(g.dilation),
        first: [0; 2],
        along: [1; 2],
        to: [0; 2],
        to_step: [1; 2],
        to_size: last(g.output),
    }
}

/// The gradient by the input as windows over the gradient of the output: those places of the input which have the same rest by the
/// stride see the same elements of the weight.
fn backward(g: &Geometry) -> Vec<Gathered> {
    let rests = |axis: usize| 0..g.stride[axis].min(g.input[axis]);
    // One axis: where the first window begins, its elements, how far apart they are, the weight's first and from one to the next.
    let one = |axis: usize, rest: usize| {
        let [stride, padding, dilation, size] =
            [g.stride[axis], g.padding[axis], g.dilation[axis], g.kernel[axis]].map(|n| n as isize);
        let at = |tap: isize| rest as isize + padding - tap * dilation;
        let mut seen = (0..size).filter(|&tap| at(tap).rem_euclid(stride) == 0);
        let first = seen.next();
        let second = seen.next();
        let places = (g.input[axis] - rest).div_ceil(g.stride[axis]);
        match first {
            None => (0, 0, 1, 0, -1, places),
            Some(first) => {
                let by = second.map_or(size, |second| second - first);
                let count = (size - first + by - 1) / by;
                let last = first + (count - 1) * by;
                // The window's first element is the weight's last.
                (at(last).div_euclid(stride), count, (by * dilation / stride).max(1), last, -by, places)
            }
        }
    };
    let mut all = Vec::new();
    for rest_y in rests(1) {
        for rest_x in rests(2) {
            let [y, x] = [one(1, rest_y), one(2, rest_x)];
            all.push(Gathered {
                size: [g.output[1], g.output[2]],
                low: [y.0, x.0],
                step: [1; 2],
                places: [y.5, x.5],
                taps: [y.1 as usize, x.1 as usize],
                apart: [y.2 as usize, x.2 as usize],
                first: [y.3 as usize, x.3 as usize],
                along: [y.4, x.4],
                to: [rest_y, rest_x],
                to_step: [g.stride[1], g.stride[2]],
                to_size: [g.input[1], g.input[2]],
            });
        }
    }
    all
}

/// `None` where these kernels do not take it, or another is faster.
pub(super) fn plan(problem: &Problem) -> Result<Option<Plan>> {
    let &Problem { kind, g, dtype, target, .. } = problem;
    let (elements, name) = match (dtype, target.precision) {
        (DType::F16, _) => (Elements::F16, "f16"),
        (DType::BF16, _) => (Elements::BF16, "bf16"),
        // Both operands of the gradient by the weight lie along rows and columns, as tf32 is not multiplied.
        (DType::F32, Precision::High) if kind != ConvKind::Weight => (Elements::TF32, "tf32"),
        (DType::F32, _) => (Elements::F32, "f32"),
        _ => return Ok(None),
    };
    let [m, n, k] = product(kind, g);
    let fewest = if kind == ConvKind::Input { g.o } else { g.c };
    let planes = g.input[0] == 1 && g.kernel[0] == 1 && g.padding[0] == 0;
    let windows = match kind {
        ConvKind::Forward | ConvKind::Weight => vec![forward(g)],
        ConvKind::Input => backward(g),
    };
    let takes = target.capability == 90
        && g.groups == 1
        && planes
        && fewest >= FEWEST_CHANNELS
        && 2 * m.saturating_mul(n).saturating_mul(k) >= FEWEST_FLOPS
        && [m, n, k, g.inputs(), g.outputs()].iter().all(|&n| n < 1 << 30)
        && windows.iter().all(Gathered::fits);
    if !takes {
        return Ok(None);
    }
    let mut plan = Plan::default();
    let laid = Laid { elements, name, batch: g.batch };
    let done = match kind {
        ConvKind::Weight => laid.weight(problem, &windows[0], &mut plan)?,
        ConvKind::Forward | ConvKind::Input => laid.gather(problem, &windows, &mut plan)?,
    };
    Ok(done.then_some(plan))
}

/// The tile that is done first.
fn chosen(problem: &Problem, tiles: &[Tile], time: impl Fn(Tile) -> f64) -> Tile {
    let named = |tile: &&Tile| problem.tile.is_none_or(|name| name == tile.name());
    let best = tiles.iter().filter(named).min_by(|a, b| time(**a).total_cmp(&time(**b)));
    best.copied().unwrap_or(tiles[0])
}

/// What all launches of a plan have in common.
struct Laid {
    elements: Elements,
    name: &'static str,
    batch: usize,
}

impl Laid {
    fn size(&self) -> usize {
        self.elements.size()
    }

    fn on_tensor_cores(&self) -> bool {
        self.elements != Elements::F32
    }

    /// A copy of an operand, of these sizes and strides, to the end of the workspace. `None` where it is too large.
    fn copied(
        &self,
        plan: &mut Plan,
        operand: u8,
        align: usize,
        sizes: [usize; 3],
        from: [usize; 3],
        to: [usize; 3],
    ) -> Result<Option<(Pointer, u64)>> {
        let reach = 1 + (0..3).map(|i| (sizes[i] - 1) * to[i]).sum::<usize>();
        let bytes = reach.next_multiple_of(16) * self.size();
        if plan.workspace + bytes > MOST {
            return Ok(None);
        }
        let shape = Shape::new(&sizes)?;
        let layout = |strides: [usize; 3]| Layout::new(shape, &strides.map(|n| n as isize), 0);
        let place = (Pointer::Workspace, plan.workspace as u64);
        let copying = copy::plan(self.size(), &layout(from)?, &layout(to)?, align.min(16))?;
        let before = std::mem::replace(&mut plan.workspace, 0);
        plan.then(copying, &[(Pointer::Input(operand), 0)], place);
        plan.workspace = before + bytes.next_multiple_of(256);
        Ok(Some(place))
    }

    /// Images with their channels innermost.
    fn images(
        &self,
        plan: &mut Plan,
        operand: u8,
        align: usize,
        channels: usize,
        plane: usize,
    ) -> Result<Option<(Pointer, u64)>> {
        let line = padded(channels, self.size());
        if (plane == 1 || channels == 1) && line == channels && align >= 16 {
            return Ok(Some((Pointer::Input(operand), 0)));
        }
        let sizes = [self.batch, channels, plane];
        self.copied(plan, operand, align, sizes, [channels * plane, plane, 1], [line * plane, 1, line])
    }

    /// The forward convolution, or the gradient by the input.
    fn gather(&self, problem: &Problem, windows: &[Gathered], plan: &mut Plan) -> Result<bool> {
        let &Problem { kind, g, align, target, .. } = problem;
        let volume = g.kernel[1] * g.kernel[2];
        let plane = windows[0].size.iter().product();
        // Filters by taps, with the channels that are added up innermost.
        let (rows, depth, from) = match kind {
            ConvKind::Input => (g.c, g.o, [1, volume, g.c * volume]),
            ConvKind::Forward | ConvKind::Weight => (g.o, g.c, [1, g.c * volume, volume]),
        };
        let line = padded(depth, self.size());
        let Some(images) = self.images(plan, 0, align[0], depth, plane)? else { return Ok(false) };
        let sizes = [volume, rows, depth];
        let Some(filters) = self.copied(plan, 1, align[1], sizes, from, [rows * line, line, 1])? else {
            return Ok(false);
        };
        let (size, cores) = (self.size(), self.on_tensor_cores());
        let step = 128 / size;
        for window in windows {
            let count = self.batch * window.places[0] * window.places[1];
            let taps = window.taps[0] * window.taps[1];
            let stages = taps * depth.div_ceil(step);
            let blocks = |tile: Tile| rows.div_ceil(tile.m) * count.div_ceil(tile.n);
            let time = |tile: Tile| {
                let store = STORE * (tile.m * tile.n) as f64 / 32768.0;
                blocks(tile).div_ceil(MULTIPROCESSORS) as f64 * (stages as f64 * tile.stage(cores) + store)
            };
            let tile = chosen(problem, if cores { TENSOR_CORES } else { F32 }, time);
            let mut args = Args::default();
            let whole = window.to_step == [1, 1];
            let each = window.places[0] * window.places[1];
            // Places that can be stored at a time: they are neighbours, of one image, and aligned.
            let vector = [16 / size, 4]
                .into_iter()
                .find(|&v| whole && each.is_multiple_of(v) && target.align.is_multiple_of(v * size));
            args.pointer(Some((Pointer::Output(0), 0))).pointer(None);
            let [tap_line, tap_step] = [g.kernel[2] as isize, 1];
            let first = window.first[0] as isize * tap_line + window.first[1] as isize;
            let to_plane = window.to_size[0] * window.to_size[1];
            for number in [
                rows,
                count,
                rows.div_ceil(tile.m),
                count.div_ceil(tile.n),
                depth.div_ceil(step),
                taps,
                window.taps[1],
                0,
                0,
            ] {
                args.u32(number as u32);
            }
            args.u32(window.low[0] as u32).u32(window.low[1] as u32);
            args.u32(window.step[0] as u32).u32(window.step[1] as u32);
            args.u32(window.apart[0] as u32).u32(window.apart[1] as u32);
            args.u32(first as u32);
            args.u32((window.along[0] * tap_line) as u32).u32((window.along[1] * tap_step) as u32);
            args.u32(vector.unwrap_or(1) as u32);
            args.u32((window.to[0] * window.to_size[1] + window.to[1]) as u32);
            args.u32((window.to_step[0] * window.to_size[1]) as u32);
            args.u32(if whole { 0 } else { window.to_step[1] } as u32);
            args.u64(to_plane as u64).u64((to_plane * rows) as u64);
            args.divisor(each).divisor(window.places[1]);
            let weights = Moved::Boxes(TensorMap {
                elements: self.elements,
                sizes: [depth, rows, volume].map(|n| n as u64),
                strides: [line * size, rows * line * size].map(|n| n as u64),
                boxes: [step as u32, tile.m as u32, 1],
            });
            args.map(filters, weights);
            args.map(images, window.map(self.elements, depth, self.batch, tile.n));
            let grid = blocks(tile).min(MULTIPROCESSORS);
            plan.launches.push(self.launch("gather", tile, grid, tile.shared(if cores { 8 * 2048 } else { 0 }), args)?);
        }
        Ok(true)
    }

    /// The gradient by the weight.
    fn weight(&self, problem: &Problem, window: &Gathered, plan: &mut Plan) -> Result<bool> {
        let &Problem { g, align, .. } = problem;
        let Some(images) = self.images(plan, 0, align[0], g.c, g.inputs())? else { return Ok(false) };
        let Some(gradient) = self.images(plan, 1, align[1], g.o, g.outputs())? else { return Ok(false) };
        let (size, cores) = (self.size(), self.on_tensor_cores());
        let step = 128 / size;
        let count = self.batch * g.outputs();
        let steps = count.div_ceil(step);
        let chunks = g.c.div_ceil(step);
        let taps = window.taps[0] * window.taps[1];
        let tiles = |tile: Tile| [g.o.div_ceil(tile.m), (taps * chunks * step).div_ceil(tile.n)];
        let stages = |tile: Tile| tiles(tile)[0] * tiles(tile)[1] * steps;
        // Each block has at least so many stages that it is worth to leave its sums.
        let share = |tile: Tile| stages(tile).div_ceil(MULTIPROCESSORS).max(8.min(steps));
        let time = |tile: Tile| {
            let left = (tiles(tile)[0] * tiles(tile)[1] + MULTIPROCESSORS) * tile.m * tile.n;
            share(tile) as f64 * tile.stage(cores) + left as f64 * LEFT
        };
        let tile = chosen(problem, if cores { TENSOR_CORES } else { F32_WEIGHT }, time);
        let ([tiles_m, tiles_n], share) = (tiles(tile), share(tile));
        if stages(tile) >= 1 << 30 {
            return Ok(false);
        }
        let blocks = stages(tile).div_ceil(share);
        let parts = (Pointer::Workspace, plan.workspace as u64);
        plan.workspace += (blocks + tiles_m * tiles_n) * tile.m * tile.n * 4;

        let mut args = Args::default();
        args.pointer(Some((Pointer::Output(0), 0))).pointer(Some(parts));
        for number in [g.o, count, tiles_m, tiles_n, chunks, taps, window.taps[1], steps, share] {
            args.u32(number as u32);
        }
        args.u32(window.low[0] as u32).u32(window.low[1] as u32);
        args.u32(window.step[0] as u32).u32(window.step[1] as u32);
        args.u32(window.apart[0] as u32).u32(window.apart[1] as u32);
        for _ in 0..7 {
            args.u32(0);
        }
        args.u64(0).u64(0).divisor(g.outputs()).divisor(window.places[1]);
        let line = padded(g.o, size);
        let rows = Moved::Boxes(TensorMap {
            elements: self.elements,
            sizes: [g.o, count, 1].map(|n| n as u64),
            strides: [line * size, count * line * size].map(|n| n as u64),
            boxes: [step as u32, step as u32, 1],
        });
        args.map(gradient, rows);
        args.map(images, window.map(self.elements, g.c, self.batch, step));
        plan.launches.push(self.launch("weight", tile, blocks, tile.shared(0), args)?);

        let mut args = Args::default();
        args.pointer(Some((Pointer::Output(0), 0))).pointer(Some(parts));
        let tiles = tiles_m * tiles_n;
        for number in
            [g.o, g.c, taps, chunks, tiles_m, tiles, tile.m, tile.n, tile.wide(), steps, share, 0]
        {
            args.u32(number as u32);
        }
        let threads = tiles * tile.m * tile.n / 4;
        plan.launches.push(copy::launch("conv", &format!("conv_add_{}", self.name), threads.div_ceil(256), args)?);
        Ok(true)
    }

    fn launch(&self, kind: &str, tile: Tile, grid: usize, shared: usize, args: Args) -> Result<Launch> {
        let (args, pointers, maps) = args.finish();
        Ok(Launch {
            kernel: find("conv", &format!("conv_{kind}_{}_w{}", self.name, tile.name()))?,
            grid: [grid as u32, 1, 1],
            block: [384, 1, 1],
            shared: shared as u32,
            args,
            pointers,
            maps,
        })
    }
}

/// Cycles that it takes to write a sum and read it again, by all multiprocessors together.
const LEFT: f64 = 4.0 / 2000.0;
