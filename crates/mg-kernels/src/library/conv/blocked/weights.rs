//! The gradient by the kernel: sums over places of images, whose steps go along lines, or along images where lines are short.

use super::{Axis, LINKS, Line, Lot, TASKS, kinds, lots};
use crate::cpu::library::Shared;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::transpose::transpose;
use crate::cpu::memory;
use crate::cpu::pool::part;
use crate::library::conv::cpu::shared;
use crate::library::conv::{Geometry, MAX_AXES};
use crate::library::matmul::cpu::micro::{Compute, Kernels, Link, Tile};
use std::ops::Range;

/// Places of a lot, about: a strip of outputs, and as much of some channels, stay in the second-level cache.
const TARGET: usize = 512;
/// The same where there are so few rows to a tile that the strip should stay in the first.
const NEAR: usize = 160;
/// Places of the kernel, over channels, of a task, about.
const PLACES: usize = 1024;
/// Sums of a task, about: several strips of outputs share the inputs that are laid out.
const SUMS: usize = 3 << 14;
/// Channels of a task, at the most.
const CHANNELS: usize = 256;
/// Steps of a link below which images beside each other make longer ones.
const SHORT: usize = 12;

/// `w` of `x` and `y`.
///
/// # Safety
///
/// The operands have what the geometry says, none of whose sizes is 0; the result has room.
pub(in super::super) unsafe fn weight<T: Compute>(g: &Geometry, x: *const T, y: *const T, w: *mut T) {
    // SAFETY: this function's contract.
    unsafe { Plan::<T>::new(g).run(x, y, w) }
}

/// What the rows of a tile are, and what its steps go along.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Steps {
    /// Channels; along lines.
    Line,
    /// Places of the kernel along a line; along lines, too: channels are few.
    Thin,
    /// Channels; along images.
    Images,
}

/// How the gradient is made. Depends on sizes alone.
struct Plan<'a, T: 'static> {
    g: &'a Geometry,
    axes: [Axis; MAX_AXES],
    kernels: &'static Kernels<T>,
    steps: Steps,
    line: Line,
    lots: Vec<Lot>,
    /// Of each kind of lots, how inputs are laid out, and the steps of each place of the kernel: of none where each task finds them for itself.
    kinds: Vec<(Laid, Vec<Vec<Link>>)>,
    strips: usize,
    /// Into how many parts the channels of a group are cut, into how many the strips, and into how many the lots.
    cuts: usize,
    bundles: usize,
    parts: usize,
}

/// What a task computes: some channels of a group of inputs beside some strips of its outputs.
struct Part {
    group: usize,
    strips: Range<usize>,
    channels: Range<usize>,
}

/// How a lot's inputs are laid out: which along two axes, the number of each there, and from channel to channel.
struct Laid {
    met: [Vec<usize>; 2],
    number: [Vec<usize>; 2],
    channel: usize,
}

impl Laid {
    /// The number of a line.
    fn line(&self, z: usize, y: usize) -> usize {
        self.number[0][z] * self.met[1].len() + self.number[1][y]
    }

    /// The only stretch along the second axis, if it is one.
    fn stretch(&self) -> Option<usize> {
        let (first, last) = (self.met[1].first()?, self.met[1].last()?);
        (last - first + 1 == self.met[1].len()).then_some(*first)
    }
}

impl<T: Compute> Plan<'_, T> {
    fn new(g: &Geometry) -> Plan<'_, T> {
        let axes = Axis::all(g, false);
        let kernels = T::kernels();
        let is_flat = g.depth() == g.c && g.padding == [0; 3];
        let steps = if g.c < g.kernel[2] {
            Steps::Thin
        } else if !is_flat && g.output[2] < SHORT && g.batch >= 2 * g.output[2] {
            Steps::Images
        } else {
            Steps::Line
        };
        let rows = if steps == Steps::Thin { g.kernel[2] } else { g.c };
        let target = if rows < kernels.rows / 2 { NEAR } else { TARGET };
        let images = if steps == Steps::Images { 2 * SHORT } else { 1 };
        let (places, strips) = (g.depth() / g.c, g.o.div_ceil(kernels.columns()));
        let most = (PLACES / places).clamp(kernels.rows.min(g.c), CHANNELS);
        let cuts = g.c.div_ceil(most);
        let mut lots = lots(g.batch, &axes, target, images, 1);
        let kinds = kinds(&mut lots);
        let bundles = strips.div_ceil((SUMS / (g.c.div_ceil(cuts) * places * kernels.columns())).max(1));
        let parts = TASKS.div_ceil(g.groups * bundles * cuts).min(lots.len());
        let line = axes[2].line(steps == Steps::Thin, 1);
        let mut plan =
            Plan { g, axes, kernels, steps, line, lots, kinds: Vec::new(), strips, cuts, bundles, parts };
        let is_kept = kinds.iter().map(|lot| plan.most_links(lot)).sum::<usize>() <= LINKS;
        let of_kind = |lot: &Lot| {
            let laid = plan.laid(lot);
            let links = if is_kept { plan.all_links(lot, &laid) } else { Vec::new() };
            (laid, links)
        };
        plan.kinds = kinds.iter().map(of_kind).collect();
        plan
    }

    /// Links of a lot, at the most.
    fn most_links(&self, lot: &Lot) -> usize {
        let lines = lot.along[0].len() * lot.along[1].len();
        let each = if self.steps == Steps::Images { self.axes[2].result } else { lot.images.len() };
        lines * each * (self.g.depth() / self.g.c)
    }

    /// The steps of each place of the kernel.
    fn all_links(&self, lot: &Lot, laid: &Laid) -> Vec<Vec<Link>> {
        let [_, ky, kx] = self.g.kernel;
        let at = |place: usize| [place / kx / ky, place / kx % ky, place % kx];
        (0..self.g.depth() / self.g.c).map(|place| self.links(lot, laid, at(place))).collect()
    }

    /// Columns of a strip whose sums are written: all that its vectors have.
    fn columns(&self, strip: usize) -> usize {
        self.kernels.written(self.g.o - strip * self.kernels.columns())
    }

    fn part(&self, i: usize) -> Part {
        let (group, bundle) = (i / self.cuts / self.bundles, i / self.cuts % self.bundles);
        Part {
            group,
            strips: part(bundle, self.bundles, self.strips),
            channels: part(i % self.cuts, self.cuts, self.g.c),
        }
    }

    /// Numbers of a task's sums over a strip: its channels' places of the kernel, each beside all of the strip.
    fn sums(&self, channels: usize) -> usize {
        channels * (self.g.depth() / self.g.c) * self.kernels.columns()
    }

    fn laid(&self, lot: &Lot) -> Laid {
        let is_met = [0, 1].map(|i| self.axes[i].is_met(lot.along[i].clone()));
        let met = [0, 1].map(|i| (0..self.axes[i].source).filter(|&at| is_met[i][at]).collect::<Vec<_>>());
        let number = [0, 1].map(|i| {
            let mut number = memory::filled(self.axes[i].source, 0);
            met[i].iter().enumerate().for_each(|(n, &at)| number[at] = n);
            number
        });
        let len = lot.images.len() * met[0].len() * met[1].len() * self.line.len;
        Laid { met, number, channel: scratch::apart::<T>(len) }
    }

    /// Lays out a task's inputs of a lot, channel after channel.
    unsafe fn pack_inputs(&self, x: *const T, lot: &Lot, task: &Part, laid: &Laid, to: *mut T) {
        let (g, line) = (self.g, self.line);
        let [_, h, w] = g.input;
        let there = line.inside(w);
        let is_whole = there == (0..w) && line.len == w && line.every == 1;
        let (images, lines) = (lot.images.len(), laid.met[0].len() * laid.met[1].len());
        let stretch = laid.stretch().filter(|_| is_whole);
        for (i, c) in task.channels.clone().enumerate() {
            // SAFETY: that of `weight`; there is room.
            unsafe {
                let to = to.add(i * laid.channel);
                let at = |n: usize| x.add(((n * g.groups + task.group) * g.c + c) * g.inputs());
                if let (Steps::Images, Some(y)) = (self.steps, stretch) {
                    let apart = (g.groups * g.c * g.inputs()) as isize;
                    for &z in &laid.met[0] {
                        let from = at(lot.images.start).add((z * h + y) * w);
                        let (to, size) = (to.add(laid.line(z, y) * w * images), size_of::<T>());
                        let len = laid.met[1].len() * w;
                        transpose(size, to.cast(), images as isize, from.cast(), apart, images, len);
                    }
                    continue;
                }
                for (n, image) in lot.images.clone().enumerate() {
                    for &z in &laid.met[0] {
                        let from = at(image).add(z * h * w);
                        if let (Steps::Line | Steps::Thin, Some(y)) = (self.steps, stretch) {
                            let to = to.add((n * lines + laid.line(z, y)) * w);
                            std::ptr::copy_nonoverlapping(from.add(y * w), to, laid.met[1].len() * w);
                            continue;
                        }
                        for &y in &laid.met[1] {
                            let (from, line) = (from.add(y * w), laid.line(z, y));
                            if self.steps == Steps::Images {
                                let to = to.add(line * self.line.len * images + n);
                                self.copy(from, there.clone(), to, images);
                            } else {
                                let to = to.add((n * lines + line) * self.line.len);
                                self.copy(from, there.clone(), to, 1);
                            }
                        }
                    }
                }
            }
        }
    }

    /// A line of inputs, with zeros around it, as it is laid out.
    #[inline(always)]
    unsafe fn copy(&self, from: *const T, there: Range<usize>, to: *mut T, apart: usize) {
        let line = self.line;
        // SAFETY: that of `pack_inputs`.
        unsafe {
            for i in (0..there.start).chain(there.end..line.len) {
                to.add(i * apart).write(T::default());
            }
            let from = from.offset((there.start * line.every) as isize + line.first);
            let to = to.add(there.start * apart);
            if line.every == 1 && apart == 1 {
                return std::ptr::copy_nonoverlapping(from, to, there.len());
            }
            for i in 0..there.len() {
                to.add(i * apart).write(*from.add(i * line.every));
            }
        }
    }

    /// Lays out a strip of a lot's outputs: all its channels side by side.
    unsafe fn pack_outputs(&self, y: *const T, lot: &Lot, group: usize, strip: usize, to: *mut T) {
        let (g, width, positions) = (self.g, self.kernels.columns(), lot.positions(&self.axes));
        let (first, images) = (strip * width, lot.images.len());
        let columns = width.min(g.o - first);
        // SAFETY: that of `weight`; there is room.
        unsafe {
            if columns < width {
                std::ptr::write_bytes(to, 0, images * positions * width);
            }
            for (i, n) in lot.images.clone().enumerate() {
                let from = y.add(((n * g.groups + group) * g.o + first) * g.outputs());
                let from = from.add(lot.start(&self.axes));
                let (to, apart) = match self.steps {
                    Steps::Images => (to.add(i * width), images * width),
                    Steps::Line | Steps::Thin => (to.add(i * positions * width), width),
                };
                let (size, outputs) = (size_of::<T>(), g.outputs() as isize);
                transpose(size, to.cast(), apart as isize, from.cast(), outputs, columns, positions);
            }
        }
    }

    /// The steps that a place of the kernel takes through a lot; a place of the first two axes where all along the third are rows.
    fn links(&self, lot: &Lot, laid: &Laid, place: [usize; MAX_AXES]) -> Vec<Link> {
        let [az, ay, ax] = &self.axes;
        let (width, positions, images) =
            (self.kernels.columns(), lot.positions(&self.axes), lot.images.len());
        let is_thin = self.steps == Steps::Thin;
        // The outputs of a line that meet an input, and where the first does.
        let met = |x: usize| ax.source(x, place[2]).is_some();
        let there = match (is_thin, (0..ax.result).find(|&x| met(x))) {
            (true, _) => 0..ax.result,
            (false, Some(first)) => first..(first..ax.result).rfind(|&x| met(x)).map_or(first, |x| x + 1),
            (false, None) => 0..0,
        };
        let base = ax.base(0, place[2]).unwrap_or_default() + (there.start * ax.step()) as isize;
        let (base, step) = (self.line.place(base), ax.step() / self.line.every);
        let mut links: Vec<Link> = Vec::new();
        // Where one goes on where the last one ended, they are one.
        let (a_k, b_k) = self.step();
        let mut push = |link: Link| match links.last_mut() {
            Some(last)
                if last.a + last.k as isize * a_k == link.a && last.b + last.k as isize * b_k == link.b =>
            {
                last.k += link.k;
            }
            _ => links.push(link),
        };
        let lots = if self.steps == Steps::Images { 1 } else { images };
        for n in 0..lots {
            if there.is_empty() {
                break;
            }
            let mut result = n * positions;
            for z in lot.along[0].clone() {
                for y in lot.along[1].clone() {
                    let start = result;
                    result += ax.result;
                    let (Some(z), Some(y)) = (az.source(z, place[0]), ay.source(y, place[1])) else {
                        continue;
                    };
                    let line = n * laid.met[0].len() * laid.met[1].len() + laid.line(z, y);
                    let line = (line * self.line.len) as isize + base;
                    if self.steps != Steps::Images {
                        let b = ((start + there.start) * width) as isize;
                        push(Link { a: line, b, k: there.len() });
                        continue;
                    }
                    for (i, x) in there.clone().enumerate() {
                        let a = (line + (i * step) as isize) * images as isize;
                        push(Link { a, b: ((start + x) * images * width) as isize, k: images });
                    }
                }
            }
        }
        links
    }

    /// From step to step, in the inputs and in the outputs.
    fn step(&self) -> (isize, isize) {
        let a = match self.steps {
            Steps::Images => 1,
            Steps::Line | Steps::Thin => self.axes[2].step() / self.line.every,
        };
        (a as isize, self.kernels.columns() as isize)
    }

    /// The sums of a task over some lots: channel after channel, place after place, all of the strip side by side.
    unsafe fn compute(&self, x: *const T, y: *const T, task: &Part, lots: &[Lot], sums: *mut T) {
        let (width, channels) = (self.kernels.columns(), task.channels.len());
        for (i, lot) in lots.iter().enumerate() {
            let (laid, kept) = &self.kinds[lot.kind];
            let made;
            let links = if kept.is_empty() {
                made = self.all_links(lot, laid);
                &made
            } else {
                kept
            };
            let strip = lot.images.len() * lot.positions(&self.axes) * width;
            // SAFETY: that of `weight`.
            scratch::with(Slot::Windows, strip + channels * laid.channel, |to: *mut T| unsafe {
                let inputs = to.add(strip);
                self.pack_inputs(x, lot, task, laid, inputs);
                for (beside, strip) in task.strips.clone().enumerate() {
                    self.pack_outputs(y, lot, task.group, strip, to);
                    let sums = sums.add(beside * self.sums(channels));
                    self.strip([laid.channel, strip, channels], links, [inputs, to], sums, i > 0);
                }
            });
        }
    }

    /// The sums of a lot for some channels, so far apart, and a strip.
    unsafe fn strip(
        &self,
        [apart, strip, channels]: [usize; 3],
        links: &[Vec<Link>],
        [a, b]: [*mut T; 2],
        sums: *mut T,
        add: bool,
    ) {
        let (width, kernel, kx) = (self.kernels.columns(), links.len(), self.g.kernel[2]);
        let is_thin = self.steps == Steps::Thin;
        for (place, links) in links.iter().enumerate().step_by(if is_thin { kx } else { 1 }) {
            // SAFETY: that of `weight`.
            unsafe {
                let sums = sums.add(place * width);
                if !is_thin {
                    self.tiles(strip, links, channels, [a, b], apart, sums, kernel * width, add);
                    continue;
                }
                for c in 0..channels {
                    let (a, sums) = (a.add(c * apart), sums.add(c * kernel * width));
                    self.tiles(strip, links, kx, [a, b], self.g.dilation[2], sums, width, add);
                }
            }
        }
    }

    /// Sums of `rows` rows that take these steps.
    #[allow(clippy::too_many_arguments)]
    unsafe fn tiles(
        &self,
        strip: usize,
        links: &[Link],
        rows: usize,
        [a, b]: [*mut T; 2],
        a_row: usize,
        c: *mut T,
        c_row: usize,
        add: bool,
    ) {
        let kernels = self.kernels;
        let columns = self.columns(strip);
        let slivers = rows.div_ceil(kernels.rows);
        let (a_k, b_k) = self.step();
        for sliver in 0..slivers {
            let rows = part(sliver, slivers, rows);
            let tile = Tile {
                links,
                a: a.wrapping_add(rows.start * a_row).cast_const(),
                a_row: a_row as isize,
                a_k,
                b: b.cast_const(),
                b_k,
                c: c.wrapping_add(rows.start * c_row),
                c_row: c_row as isize,
                columns,
                add,
                ahead: b.cast_const(),
                ahead_k: 0,
            };
            // SAFETY: the links name what is laid out; the sums are the task's own.
            unsafe { kernels.of(rows.len(), columns)(&tile) };
        }
    }

    /// Brings a task's sums to where they belong.
    unsafe fn flush(&self, task: &Part, sums: *const T, w: *mut T) {
        let (width, depth) = (self.kernels.columns(), self.g.depth());
        let places = depth / self.g.c;
        let (rows, size) = (task.channels.len() * places, size_of::<T>());
        for (beside, strip) in task.strips.clone().enumerate() {
            let columns = width.min(self.g.o - strip * width);
            let first = (task.group * self.g.o + strip * width) * depth + task.channels.start * places;
            // SAFETY: the weight has these elements, which are the task's own.
            unsafe {
                let (to, from) = (w.add(first), sums.add(beside * rows * width));
                transpose(size, to.cast(), depth as isize, from.cast(), width as isize, rows, columns);
            }
        }
    }

    /// Safety: that of [`weight`].
    unsafe fn run(&self, x: *const T, y: *const T, w: *mut T) {
        let g = self.g;
        let work = g.batch * g.groups * g.o * g.outputs() * g.depth();
        let tasks = g.groups * self.bundles * self.cuts;
        let each = self.sums(g.c.div_ceil(self.cuts)) * self.strips.div_ceil(self.bundles);
        let kept = if self.parts > 1 { tasks * self.parts * each } else { 0 };
        scratch::with(Slot::Sums, kept, |all: *mut T| {
            let at = Shared((x, y, w, all));
            let task = |i: usize| {
                let (x, y, w, all) = at.get();
                let lots = &self.lots[part(i / tasks, self.parts, self.lots.len())];
                let task = self.part(i % tasks);
                // SAFETY: this function's contract; tasks have sums, or parts of the weight, of their own.
                unsafe {
                    if self.parts > 1 {
                        return self.compute(x, y, &task, lots, all.add(i * each));
                    }
                    scratch::with(Slot::Shares, each, |sums: *mut T| {
                        self.compute(x, y, &task, lots, sums);
                        self.flush(&task, sums, w);
                    });
                }
            };
            shared(tasks * self.parts, work, &task);
            if self.parts == 1 {
                return;
            }
            let gather = |i: usize| {
                let (_, _, w, all) = at.get();
                let task = self.part(i);
                let (width, len) = (self.kernels.columns(), self.sums(task.channels.len()));
                // SAFETY: the sums are there, and the task's own.
                unsafe {
                    let to = all.add(i * each);
                    for part in 1..self.parts {
                        let from = all.add((part * tasks + i) * each);
                        for (beside, strip) in task.strips.clone().enumerate() {
                            // Vectors behind the last channel of a strip were never written.
                            let columns = self.columns(strip);
                            let (apart, n) = if columns == width { (len, len) } else { (width, columns) };
                            for at in (beside * len..(beside + 1) * len).step_by(apart) {
                                let from = std::slice::from_raw_parts(from.add(at), n);
                                let to = std::slice::from_raw_parts_mut(to.add(at), n);
                                to.iter_mut().zip(from).for_each(|(to, &v)| *to = to.plus(v));
                            }
                        }
                    }
                    self.flush(&task, to, w);
                }
            };
            shared(tasks, work, &gather);
        });
    }
}
