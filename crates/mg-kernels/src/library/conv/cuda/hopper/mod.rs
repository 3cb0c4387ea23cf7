//! Launches of `kernels/conv_wgmma.cu`, for capability 9.0 alone: the copy engine gathers windows of images whose channels are
//! innermost, the tensor cores multiply.

mod slab;
mod weights;
mod windows;

use super::super::{ConvKind, Geometry};
use super::{Problem, product};
use crate::cuda::library::args::conv_tiles::Conv;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, input};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, launch};
use crate::library::matmul::Precision;
use mg_device::cuda::{Elements, Moved, WindowMap};
use mg_device::{DType, Layout, Result, Shape};

/// Multiprocessors of the device that plans are made for, whatever the device is.
const MULTIPROCESSORS: usize = 132;
/// Of a stage's 128 bytes, so many times those that count may be zeros.
const MOST_ZEROS: usize = 11;
/// Multiplications and additions below which layouts cost more than they save.
const FEWEST_FLOPS: usize = 1 << 18;
/// No more than this is copied.
const MOST: usize = 2 << 30;
/// Windows of a gradient by the input, one for each place between two steps; what has more is left to other kernels.
const MOST_WINDOWS: usize = 1 << 10;

/// What multiplies.
#[derive(Clone, Copy)]
enum By {
    TensorCores,
    /// Tensor cores too, tf32 of which threads hold the columns (`kernels/conv_held.cu`).
    Held,
    /// Tensor cores too, f32 by thirds (`kernels/thirds.cuh`), of which there are so many stages besides.
    Thirds(usize),
    /// So too, and places are the instruction's rows, so that filters may be few.
    Places(usize),
    /// Threads, in f32 throughout (`kernels/conv_simt.cu`).
    Threads,
}

/// A tile: filters, places (of the gradient by the weight: channels of taps), stages. `kernels/variants.txt` has the same.
#[derive(Clone, Copy)]
struct Tile {
    m: usize,
    n: usize,
    stages: usize,
    by: By,
}

const fn tile(m: usize, n: usize, stages: usize) -> Tile {
    Tile { m, n, stages, by: By::TensorCores }
}

const fn held(m: usize, stages: usize) -> Tile {
    Tile { m, n: 128, stages, by: By::Held }
}

const fn thirds(m: usize, n: usize, stages: usize) -> Tile {
    Tile { m, n, stages, by: By::Thirds(stages) }
}

const fn places(m: usize, n: usize, stages: usize) -> Tile {
    Tile { m, n, stages, by: By::Places(stages) }
}

const fn threads(n: usize, stages: usize) -> Tile {
    Tile { m: 32, n, stages, by: By::Threads }
}

/// On tensor cores (`kernels/conv_wgmma.cu`).
const TENSOR_CORES: &[Tile] = &[tile(128, 256, 4), tile(128, 192, 5), tile(128, 128, 6), tile(64, 256, 5)];

impl Tile {
    /// Cycles of a stage: of the multiplications, or of its way from the second-level cache.
    fn stage(self) -> f64 {
        let area = (self.m * self.n) as f64;
        let brought = ((self.m + self.n) * 128) as f64 / BYTES_A_CYCLE;
        let multiplied = match self.by {
            By::TensorCores | By::Held => area / 32.0,
            // Six products of half the time, at six tenths of the speed that tensor cores have.
            By::Thirds(_) | By::Places(_) => area / 6.5,
            // Narrow tiles read more of shared memory for a multiplication.
            By::Threads => (area / 4.0).max((256 * self.m + 32 * self.n * 8) as f64 / 32.0 * 1.25),
        };
        multiplied.max(brought)
    }

    /// Dynamic shared memory of a block: stages from a multiple of 1024 on, two barriers for each, where sums are turned into rows, and
    /// stages of thirds.
    fn shared(self, is_gathered: bool) -> usize {
        // Of thirds, stages and lines of each.
        let ((ready, lines), slices) = match self.by {
            By::TensorCores | By::Held => ((0, 0), 8 * 2048),
            By::Thirds(ready) => ((ready, self.n), 8 * 2048),
            // Four warps have 64 places.
            By::Places(ready) => ((ready, self.m), self.n / 16 * 2048),
            By::Threads => ((0, 0), 0),
        };
        let stages = self.stages * (128 * (self.m + self.n) + 16);
        1024 + stages + ready * (3 * 64 * lines + 16) + if is_gathered { slices } else { 0 }
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

/// A window over images with channels innermost, one after the other, whose places give the places of a result.
#[derive(Clone)]
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

    /// Whether its places are all of the result, one after the other.
    fn is_whole(&self) -> bool {
        self.to_step == [1, 1]
    }

    /// Places whose results can be stored at a time, elements of so many bytes: they are neighbours, of one image, and aligned.
    fn stored_together(&self, size: usize, align: usize) -> usize {
        let of_image = self.places[0] * self.places[1];
        let fits = |&v: &usize| of_image.is_multiple_of(v) && align.is_multiple_of(v * size);
        [16 / size, 4].into_iter().find(|v| self.is_whole() && fits(v)).unwrap_or(1)
    }

    /// Whether the copy engine counts so far.
    fn fits(&self) -> bool {
        let corner = |n: &isize| (-128..128).contains(n);
        let reach = (0..2).all(|i| self.taps[i].saturating_sub(1) * self.apart[i] < 256 && self.step[i] <= 8);
        reach && self.low.iter().chain(&self.high()).all(corner)
    }

    /// As one that has a whole line of a window's elements as its neighbours: `None` where they are not side by side.
    fn by_lines(&self) -> Option<Gathered> {
        let one = self.apart[1] == 1 || self.taps[1] == 1;
        (one && self.taps[1] > 0).then(|| Gathered {
            size: [self.size[0], self.places[1]],
            low: [self.low[0], 0],
            step: [self.step[0], 1],
            taps: [self.taps[0], 1],
            apart: [self.apart[0], 1],
            first: [self.first[0], 0],
            along: [self.along[0], 1],
            ..*self
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
    if rests(1).len().saturating_mul(rests(2).len()) > MOST_WINDOWS {
        return all;
    }
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

/// Whether it is for these kernels, or for products of matrices, wherever channels lie.
pub(super) fn takes_innermost(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> bool {
    let elements = match dtype {
        DType::F16 => Elements::F16,
        DType::BF16 => Elements::BF16,
        DType::F32 => Elements::F32,
        _ => return false,
    };
    let laid = Laid { elements, name: "", batch: g.batch };
    let windows = seen(kind, g);
    laid.fill(&windows, kind, g) && takes(kind, g, &windows, capability)
}

/// Whether one launch computes all of the result and has a mark for elementwise work, which names four neighbours.
pub(super) fn takes_epilogue(
    kind: ConvKind,
    g: &Geometry,
    dtype: DType,
    capability: u32,
    innermost: bool,
) -> bool {
    let windows = seen(kind, g);
    let channels = if kind == ConvKind::Input { g.c } else { g.o };
    let places: usize = windows.iter().take(1).flat_map(|window| window.places).product();
    let fours = match innermost {
        true => (channels * dtype.size()).is_multiple_of(16),
        false => places.is_multiple_of(4),
    };
    fours && is_whole(&windows) && takes_innermost(kind, g, dtype, capability)
}

/// Whether one launch computes all of the result.
fn is_whole(windows: &[Gathered]) -> bool {
    matches!(windows, [window] if window.is_whole())
}

/// The windows that a convolution multiplies.
fn seen(kind: ConvKind, g: &Geometry) -> Vec<Gathered> {
    match kind {
        ConvKind::Forward | ConvKind::Weight => vec![forward(g)],
        ConvKind::Input => backward(g),
    }
}

/// Whether these kernels take it, if stages have enough that counts.
fn takes(kind: ConvKind, g: &Geometry, windows: &[Gathered], capability: u32) -> bool {
    let [m, n, k] = product(kind, g);
    let planes = g.input[0] == 1 && g.kernel[0] == 1 && g.padding[0] == 0;
    capability == 90
        && g.groups == 1
        && planes
        && 2 * m.saturating_mul(n).saturating_mul(k) >= FEWEST_FLOPS
        && [m, n, k, g.inputs(), g.outputs()].iter().all(|&n| n < 1 << 30)
        && !windows.is_empty()
        && windows.iter().all(Gathered::fits)
}

/// `None` where these kernels do not take it, or another is faster.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let &Problem { kind, g, dtype, target, .. } = problem;
    let (elements, name) = match (dtype, target.precision) {
        (DType::F16, _) => (Elements::F16, "f16"),
        (DType::BF16, _) => (Elements::BF16, "bf16"),
        (DType::F32, Precision::High) => (Elements::TF32, "tf32"),
        (DType::F32, _) => (Elements::F32, "f32"),
        _ => return Ok(None),
    };
    let windows = seen(kind, g);
    let laid = Laid { elements, name, batch: g.batch };
    // Places' channels are stored 16 bytes at a time.
    let stores = |channels: usize| target.align >= 16 && (channels * dtype.size()).is_multiple_of(16);
    let channels = if kind == ConvKind::Input { g.c } else { g.o };
    if target.innermost && !stores(channels) {
        return Ok(None);
    }
    let is_points = weights::points(problem);
    if !takes(kind, g, &windows, target.capability) || !is_points && !laid.fill(&windows, kind, g) {
        return Ok(None);
    }
    let mut plan = KernelPlan::default();
    let done = match kind {
        ConvKind::Weight if is_points => laid.points(problem, &mut plan)?,
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

/// Images with neighbours innermost, as they lie for the copy engine.
struct Images {
    place: (Pointer, u64),
    window: Gathered,
    /// Elements that are neighbours, and how many of these are one place's channels, with those that fill them up.
    neighbours: usize,
    channels: usize,
    /// Elements from one place to the next, from one line, from one image.
    strides: [usize; 3],
}

/// An argument of which nothing is said yet.
const NOTHING: Conv = Conv {
    out: None,
    parts: None,
    m: 0,
    n: 0,
    tiles_m: 0,
    tiles_n: 0,
    chunks: 0,
    taps: 0,
    taps_wide: 0,
    steps: 0,
    share: 0,
    together: 0,
    low_y: 0,
    low_x: 0,
    stride_y: 0,
    stride_x: 0,
    apart_y: 0,
    apart_x: 0,
    tap_first: 0,
    tap_down: 0,
    tap_right: 0,
    vector: 0,
    out_first: 0,
    out_down: 0,
    out_right: 0,
    each: 1,
    plane: 0,
    image: 0,
    places: Divisor::ONE,
    wide: Divisor::ONE,
    own_a: None,
    own_b: None,
    a_line: 0,
    a_tap: 0,
    b_place: 0,
    b_line: 0,
    b_image: 0,
    depth: 0,
    size_x: 0,
    size_y: 0,
    a: None,
    b: None,
};

/// Bytes at the end of the workspace. `None` where that is too much.
fn room(plan: &mut KernelPlan, bytes: usize) -> Option<(Pointer, u64)> {
    let place = (Pointer::Workspace, plan.workspace as u64);
    let bytes = bytes.checked_next_multiple_of(256)?;
    plan.workspace = plan.workspace.checked_add(bytes).filter(|&all| all <= MOST)?;
    Some(place)
}

/// How images lie whose places are neighbours, or whose channels are: elements from one image to the next, from one channel, from one place.
#[derive(Clone, Copy)]
struct Lies {
    image: usize,
    channel: usize,
    place: usize,
}

impl Lies {
    fn of(channels: usize, plane: usize, innermost: bool) -> Lies {
        let (channel, place) = if innermost { (1, channels) } else { (plane, 1) };
        Lies { image: channels * plane, channel, place }
    }
}

/// An axis of a copy: how many elements, and how far apart they are before and after.
type Axis = (usize, isize, usize);

impl Laid {
    fn size(&self) -> usize {
        self.elements.size()
    }

    fn on_tensor_cores(&self) -> bool {
        self.elements != Elements::F32
    }

    /// Neighbours of one place that are brought at a time.
    fn each(&self) -> usize {
        128 / self.size()
    }

    /// Room at the end of the workspace. `None` where that is too much.
    fn room(&self, plan: &mut KernelPlan, elements: usize) -> Option<(Pointer, u64)> {
        room(plan, elements.checked_mul(self.size())?)
    }

    /// A copy of an operand, from an element on, to an element of some room.
    fn copied(
        &self,
        plan: &mut KernelPlan,
        (operand, align): (u8, usize),
        (from, to): (usize, usize),
        axes: &[Axis],
        (pointer, place): (Pointer, u64),
    ) -> Result<()> {
        let sizes: Vec<usize> = axes.iter().map(|a| a.0).collect();
        let shape = Shape::new(&sizes)?;
        // An offset that keeps strides below zero within what a layout takes: only strides count.
        let behind: isize = axes.iter().map(|&(n, stride, _)| (n as isize - 1) * stride.min(0)).sum();
        let before: Vec<isize> = axes.iter().map(|a| a.1).collect();
        let after: Vec<isize> = axes.iter().map(|a| a.2 as isize).collect();
        let size = self.size();
        let alike = |at: usize| if (at * size).is_multiple_of(16) { align.min(16) } else { size };
        let copying = copy::plan(
            size,
            &Layout::new(shape, &before, behind.unsigned_abs())?,
            &Layout::new(shape, &after, 0)?,
            alike(from).min(alike(to)),
        )?;
        let workspace = std::mem::replace(&mut plan.workspace, 0);
        let [from, to] = [from, to].map(|at| (at * size) as u64);
        plan.then(copying, &[(Pointer::Input(operand), from)], (pointer, place + to));
        plan.workspace = workspace;
        Ok(())
    }

    /// A copy of an operand with its channels innermost, to some room: so many images (or filters) of channels of places, how far
    /// apart they are, and where they go. Lines are written as a whole.
    fn spread(
        &self,
        plan: &mut KernelPlan,
        (operand, align): (u8, usize),
        [images, channels, places]: [usize; 3],
        lies: Lies,
        [to_image, to_place]: [usize; 2],
        place: (Pointer, u64),
    ) -> Result<()> {
        let size = self.size();
        let aligned = align >= 16 && (places * size).is_multiple_of(16);
        if channels == 1 || places == 1 || lies.place != 1 || (aligned && places >= 64) {
            let axes = [
                (images, lies.image as isize, to_image),
                (channels, lies.channel as isize, 1),
                (places, lies.place as isize, to_place),
            ];
            return self.copied(plan, (operand, align), (0, 0), &axes, place);
        }
        let tiles_p = places.div_ceil(64);
        let tiles_c = channels.div_ceil(self.each());
        let args = args::conv_spread::Spread {
            out: Some(place),
            from: input(operand),
            from_image: lies.image as u64,
            from_channel: lies.channel as u64,
            to_image: to_image as u64,
            to_place: to_place as u64,
            channels: channels as u32,
            line: padded(channels, size) as u32,
            places: places as u32,
            tiles_p: tiles_p as u32,
            tiles_c: tiles_c as u32,
            wide: Divisor::by(places.div_ceil(tiles_p)),
        };
        let name = format!("conv_spread_b{}", 8 * size);
        plan.launches.push(launch("conv", &name, images * tiles_c * tiles_p, &args)?);
        Ok(())
    }

    /// Zeros in some room.
    fn zeros(&self, plan: &mut KernelPlan, elements: usize, place: (Pointer, u64)) -> Result<()> {
        plan.launches.extend(copy::fill(self.size(), elements, 0)?.launches.into_iter().map(|launch| {
            launch.moved(|pointer| match pointer {
                Pointer::Output(_) => place,
                other => (other, 0),
            })
        }));
        Ok(())
    }

    /// Stages of 128 bytes of neighbours for all elements of a window.
    fn stages(&self, window: &Gathered, neighbours: usize) -> usize {
        window.taps[0] * window.taps[1] * neighbours.div_ceil(self.each())
    }

    /// How many channels apart places lie whose lines are neighbours, so that each begins at a multiple of 16 bytes.
    fn apart(&self, channels: usize, step: usize) -> usize {
        let mut spread = channels;
        while !(spread * step * self.size()).is_multiple_of(16) {
            spread += 1;
        }
        spread
    }

    /// Whether whole lines of a window are to be neighbours: how many channels apart places lie then.
    fn lines(&self, window: &Gathered, channels: usize) -> Option<usize> {
        let lines = window.by_lines()?;
        let spread = self.apart(channels, window.step[1]);
        let fewer = self.stages(&lines, window.taps[1] * spread) * 5 < self.stages(window, channels) * 4;
        (fewer && window.taps[1] > 1).then_some(spread)
    }

    /// Whether stages have enough that counts.
    fn fills(&self, window: &Gathered, channels: usize, alone: bool) -> bool {
        let lines = if alone { self.lines(window, channels) } else { None };
        let stages = match lines.and_then(|spread| Some((spread, window.by_lines()?))) {
            Some((spread, lines)) => self.stages(&lines, window.taps[1] * spread),
            None => self.stages(window, channels),
        };
        let count = window.taps[0] * window.taps[1] * channels;
        stages * self.each() <= (1 + MOST_ZEROS) * count || count == 0
    }

    /// Whether the stages of all windows do.
    fn fill(&self, windows: &[Gathered], kind: ConvKind, g: &Geometry) -> bool {
        let channels = if kind == ConvKind::Input { g.o } else { g.c };
        windows.iter().all(|window| self.fills(window, channels, windows.len() == 1))
    }

    /// An operand's images with channels innermost.
    fn images(
        &self,
        plan: &mut KernelPlan,
        operand: (u8, usize, bool),
        channels: usize,
        window: &Gathered,
        lines: Option<usize>,
    ) -> Result<Option<Images>> {
        let [high, wide] = window.size;
        let plane = high * wide;
        let (operand, innermost) = ((operand.0, operand.1), operand.2);
        let lies = Lies::of(channels, plane, innermost);
        if let (Some(spread), Some(window_by_lines)) = (lines, window.by_lines()) {
            // Lines have zeros before and after them, as far as windows reach.
            let reach = (window.places[1] - 1) * window.step[1] + window.taps[1];
            let mut line = reach * spread;
            while !(line * self.size()).is_multiple_of(16) {
                line += 1;
            }
            let elements = self.batch * high * line;
            let Some(place) = self.room(plan, elements) else { return Ok(None) };
            let from = window.low[1].max(0) as usize;
            let to = (-window.low[1]).max(0) as usize;
            let count = wide.saturating_sub(from).min(reach.saturating_sub(to));
            if spread != channels || line != reach * spread || count != reach {
                self.zeros(plan, elements, place)?;
            }
            let axes = [
                (self.batch, lies.image as isize, high * line),
                (high, (wide * lies.place) as isize, line),
                (count, lies.place as isize, spread),
                (channels, lies.channel as isize, 1),
            ];
            if count > 0 {
                self.copied(plan, operand, (from * lies.place, to * spread), &axes, place)?;
            }
            return Ok(Some(Images {
                place,
                neighbours: window.taps[1] * spread,
                channels: spread,
                strides: [window.step[1] * spread, line, high * line],
                window: window_by_lines,
            }));
        }
        let line = padded(channels, self.size());
        let strides = [line, wide * line, plane * line];
        let as_it_lies = (plane == 1 || channels == 1 || innermost) && line == channels && operand.1 >= 16;
        let place = if as_it_lies {
            (Pointer::Input(operand.0), 0)
        } else {
            let Some(place) = self.room(plan, self.batch * plane * line) else { return Ok(None) };
            let sizes = [self.batch, channels, plane];
            self.spread(plan, operand, sizes, lies, [plane * line, line], place)?;
            place
        };
        Ok(Some(Images { place, window: window.clone(), neighbours: channels, channels: line, strides }))
    }

    /// The images as the copy engine takes them, so many places at a time. Of places, columns come first.
    fn map(&self, images: &Images, places: usize) -> Moved {
        let window = &images.window;
        let [lines, columns] = window.size;
        let [high_y, high_x] = window.high();
        Moved::Windows(WindowMap {
            elements: self.elements,
            sizes: [images.neighbours, columns, lines, self.batch].map(|n| n as u64),
            strides: images.strides.map(|n| (n * self.size()) as u64),
            low: [window.low[1] as i32, window.low[0] as i32],
            high: [high_x as i32, high_y as i32],
            steps: [window.step[1] as u32, window.step[0] as u32],
            neighbours: self.each() as u32,
            places: places as u32,
        })
    }

    /// The argument of a product of images' windows: where they begin, and how they go on.
    fn windows(&self, images: &Images) -> Conv {
        let (window, [place, line, image]) = (&images.window, images.strides.map(|n| n as u64));
        Conv {
            own_b: Some(images.place),
            b_place: place,
            b_line: line,
            b_image: image,
            depth: images.neighbours as u32,
            size_x: window.size[1] as i32,
            size_y: window.size[0] as i32,
            low_y: window.low[0] as i32,
            low_x: window.low[1] as i32,
            stride_y: window.step[0] as u32,
            stride_x: window.step[1] as u32,
            apart_y: window.apart[0] as u32,
            apart_x: window.apart[1] as u32,
            ..NOTHING
        }
    }

    fn launch(
        &self,
        kind: &str,
        tile: Tile,
        grid: usize,
        shared: usize,
        args: &Conv,
    ) -> Result<KernelLaunch> {
        let name = format!("conv_{kind}_{}_w{}", self.name, tile.name());
        let mut made = launch("conv", &name, grid, args)?;
        made.shared = shared as u32;
        Ok(made)
    }
}
