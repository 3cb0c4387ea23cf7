//! Launches of `kernels/conv_depthwise.cu`: convolutions of which each filter sees one channel, over planes.

use super::super::{ConvKind, Geometry};
use super::Problem;
use crate::cuda::library::args::conv_depthwise::Depthwise;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{OUTPUT, input};
use crate::cuda::library::{KernelPlan, Pointer, launch};
use mg_device::{DType, Result};

/// Threads of a block.
const THREADS: usize = 256;
/// Bytes of shared memory with which blocks are many on a multiprocessor.
const SHARED: usize = 44 << 10;
/// Bytes that a block may have at most.
const MOST_SHARED: usize = 96 << 10;
/// Lines of a thread, about: it reads as many more as windows reach beyond.
const RUN: usize = 16;
/// Blocks that keep a device busy.
const BUSY: usize = 2 * 132;
/// Blocks that are at work at a time: each has several tiles, one after the other.
const AT_ONCE: usize = 4 * 132;
/// Blocks among which images are divided, of the gradient by the weight.
const BUSY_PARTS: usize = 6 * 132;

/// The side of kernels up to which one text has all.
const SMALL: usize = 5;

/// Which kernel of `kernels/conv_depthwise.cu`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Gather,
    Input,
    Weight,
}

/// What is read, and what is made of it (of the gradient by the weight: the result's gradient), each lines and columns.
struct Planes {
    way: Way,
    /// The kernel's side, and its step.
    side: usize,
    step: usize,
    seen: [usize; 2],
    made: [usize; 2],
    padding: [isize; 2],
    /// Bytes of an element.
    size: usize,
}

impl Planes {
    /// Lines that blocks divide, and columns that threads divide: results, or pairs of them.
    fn units(&self, axis: usize) -> usize {
        match self.way {
            Way::Gather | Way::Weight => self.made[axis],
            // Pairs begin at an even place of the padded image.
            Way::Input => (self.made[axis] + (self.padding[axis] as usize & 1)).div_ceil(2),
        }
    }

    /// Threads beside each other.
    fn across(&self) -> usize {
        let columns = if self.size == 2 && self.way != Way::Input { 2 } else { 1 };
        self.units(1).div_ceil(columns)
    }

    /// What so many lines of as many planes take of shared memory.
    fn shared(&self, planes: usize, lines: usize) -> Shared {
        let whole = lines == self.units(0);
        let (seen, made) = match self.way {
            Way::Gather | Way::Weight => ((lines - 1) * self.step + self.side, lines),
            Way::Input => (lines + self.side.div_ceil(self.step) - 1, 2 * lines),
        };
        let seen = if whole { self.seen[0] } else { seen.min(self.seen[0]) };
        // Elements lie from any place of 16 bytes on.
        let room =
            |lines: usize, columns: usize| (planes * lines * columns * self.size + 16).next_multiple_of(16);
        let (seen, made) = (room(seen, self.seen[1]), room(made.min(self.made[0]), self.made[1]));
        match self.way {
            Way::Gather | Way::Input => {
                let weights = 2 * seen + made;
                let bytes = weights + planes * self.side * self.side * 4;
                Shared { stage: seen, made: 2 * seen, weights, bytes }
            }
            Way::Weight => {
                // Threads leave a line of their sums there as well.
                let sums = self.side.max(SMALL) * THREADS * 4;
                let stage = seen + made;
                Shared { stage, made: seen, weights: 0, bytes: (2 * stage).max(sums) }
            }
        }
    }
}

/// Bytes of shared memory: from one stage of what is read to the next, where what is made lies (of the gradient by the weight, what is read beside it), where the
/// weight lies, and together.
#[derive(Clone, Copy)]
struct Shared {
    stage: usize,
    made: usize,
    weights: usize,
    bytes: usize,
}

/// How blocks divide planes.
struct Tiling {
    /// Planes of a block, lines of each, strips of a plane.
    each: usize,
    lines: usize,
    strips: usize,
    /// Threads above each other, and lines of each.
    runs: usize,
    run: usize,
    shared: Shared,
}

impl Tiling {
    /// `None` where a line is longer than shared memory.
    fn of(planes: &Planes, count: usize) -> Option<Tiling> {
        let (all, across) = (planes.units(0), planes.across());
        let fits = |each: usize, lines: usize| planes.shared(each, lines).bytes <= SHARED;
        let mut lines = if fits(1, all) { all } else { (1..all).rev().find(|&n| fits(1, n)).unwrap_or(1) };
        let strips = all.div_ceil(lines);
        lines = all.div_ceil(strips);
        let strips = all.div_ceil(lines);
        let run = lines.div_ceil(lines.div_ceil(RUN));
        let runs = lines.div_ceil(run);
        // Of several planes a block has all lines, and each thread's are those of one.
        let most = if strips == 1 { (THREADS / (runs * across)).min(count) } else { 1 };
        let each = (1..=most).rev().find(|&n| fits(n, lines)).unwrap_or(1);
        let shared = planes.shared(each, lines);
        (shared.bytes <= MOST_SHARED).then_some(Tiling { each, lines, strips, runs, run, shared })
    }
}

/// Whether these kernels take the only channel that there is, of images in planes.
pub(super) fn takes_one_channel(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> bool {
    g.groups == 1 && planes(kind, g, dtype, capability).is_some()
}

/// The planes of a convolution that this kernel takes.
fn planes(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> Option<Planes> {
    let size = match dtype {
        DType::F32 => 4,
        DType::F16 | DType::BF16 => 2,
        _ => return None,
    };
    let flat = g.input[0] == 1 && g.kernel[0] == 1 && g.padding[0] == 0 && g.dilation == [1; 3];
    let [[side, wide], [step, across]] = [[g.kernel[1], g.kernel[2]], [g.stride[1], g.stride[2]]];
    let known = matches!((side, step), (3 | 5, 1 | 2) | (7, 1)) && (side, step) == (wide, across);
    if capability < 80 || g.c != 1 || !flat || !known {
        return None;
    }
    let [x, y] = [g.input, g.output].map(|n| [n[1], n[2]]);
    let padding = [g.padding[1] as isize, g.padding[2] as isize];
    let turned = padding.map(|n| side as isize - 1 - n);
    let (way, seen, made, padding) = match kind {
        ConvKind::Forward => (Way::Gather, x, y, padding),
        ConvKind::Weight => (Way::Weight, x, y, padding),
        // Several filters of a channel are added up.
        ConvKind::Input if g.o > 1 => return None,
        ConvKind::Input if step == 1 => (Way::Gather, y, x, turned),
        ConvKind::Input => (Way::Input, y, x, padding),
    };
    Some(Planes { way, side, step, seen, made, padding, size })
}

/// `None` where these kernels do not take it.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let &Problem { kind, g, dtype, innermost, target, .. } = problem;
    let in_planes = innermost == [false; 2] && !target.innermost;
    let planes = planes(kind, g, dtype, target.capability).filter(|_| in_planes);
    let Some(planes) = planes else { return Ok(None) };
    let channels = g.groups * if kind == ConvKind::Input { g.c } else { g.o };
    let is_weight = planes.way == Way::Weight;
    let count = if is_weight { channels } else { g.batch * channels };
    let most = if is_weight { count } else { count.div_ceil(BUSY) };
    let Some(tiling) = Tiling::of(&planes, most) else { return Ok(None) };
    let reach = [planes.seen, planes.made].map(|[lines, columns]| lines * columns);
    let weights = channels * planes.side * planes.side;
    let counted = [count * tiling.strips, g.batch * tiling.strips, weights, reach[0], reach[1]];
    let padded = planes.padding.iter().chain(&[0]).map(|n| n.unsigned_abs()).max().unwrap_or(0);
    if counted.into_iter().chain([padded]).any(|n| n >= 1 << 30) {
        return Ok(None);
    }
    let groups = count.div_ceil(tiling.each);
    // Of the gradient by the weight blocks divide images, else tiles of planes.
    let (units, busy) = match is_weight {
        true => (g.batch * tiling.strips, (BUSY_PARTS / groups).max(1)),
        false => (groups * tiling.strips, AT_ONCE),
    };
    let share = units.div_ceil(busy);
    let parts = units.div_ceil(share);
    let team = (tiling.runs * planes.across()).min(THREADS);
    let args = Depthwise {
        out: OUTPUT,
        x: input(0),
        w: input(1),
        parts: (is_weight && parts > 1).then_some((Pointer::Workspace, 0)),
        side: planes.side as u32,
        step: planes.step as u32,
        planes: count as u32,
        each: tiling.each as u32,
        in_h: planes.seen[0] as u32,
        in_w: planes.seen[1] as u32,
        out_h: planes.made[0] as u32,
        out_w: planes.made[1] as u32,
        lines: tiling.lines as u32,
        run: tiling.run as u32,
        pad_y: planes.padding[0] as i32,
        pad_x: planes.padding[1] as i32,
        turned: (kind == ConvKind::Input && planes.way == Way::Gather).into(),
        stage: tiling.shared.stage as u32,
        made: tiling.shared.made as u32,
        weights: tiling.shared.weights as u32,
        units: units as u32,
        share: share as u32,
        lanes: 1 << team.min(32).ilog2(),
        count: weights as u32,
        strips: Divisor::by(tiling.strips),
        runs: Divisor::by(tiling.runs),
        across: Divisor::by(planes.across()),
        channels: Divisor::by(channels),
        multiplier: Divisor::by(if kind == ConvKind::Input { 1 } else { g.o }),
    };
    let way = match planes.way {
        Way::Gather => "gather",
        Way::Input => "input",
        Way::Weight => "weight",
    };
    let large = planes.side > SMALL;
    let name = format!("conv_depthwise_{way}_{}{}", dtype.name(), if large { "_7" } else { "" });
    let mut plan = KernelPlan::default();
    let blocks = if is_weight { groups * parts } else { parts };
    let mut made = launch("conv", &name, blocks, &args)?;
    made.shared = tiling.shared.bytes as u32;
    plan.launches.push(made);
    if is_weight && parts > 1 {
        plan.workspace = parts * weights * 4;
        let adding = Depthwise { x: None, w: None, share: parts as u32, ..args };
        plan.launches.push(launch("conv", &name, weights.div_ceil(THREADS), &adding)?);
    }
    Ok(Some(plan))
}
