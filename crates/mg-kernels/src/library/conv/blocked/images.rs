//! Images of images: the convolution, and its gradient by the input.

use super::{Axis, LINKS, Line, Lot, TASKS, kinds, lots};
use crate::cpu::library::Shared;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::transpose::{transpose, transpose_past};
use crate::cpu::pool::part;
use crate::cpu::stream::{STREAM, finish, streams};
use crate::library::conv::cpu::shared;
use crate::library::conv::{Geometry, MAX_AXES};
use crate::library::matmul::cpu::micro::{Compute, Kernels, Link, Tile};
use std::ops::Range;

/// Channels of the source that are laid out side by side.
const BESIDE: usize = 32;
/// Channels of the source below which they are not, and a tile's steps go along lines instead.
const FEW: usize = 8;
/// Results of a lot, about: what they are made of stays in the second-level cache, and the kernel is gone through for many of them.
const TARGET: usize = 784;
/// Results of a lot at the least, where there would be fewer lots than tasks: a lot's sources are read by all strips of one task.
const LEAST: usize = 192;
/// Steps of a tile between visits of the result: a strip of the kernel that long, and what it is multiplied with, stay in the second-level cache.
const DEPTH: usize = 1152;
/// Channels between visits, at the most: what lies between is of as many.
const DEEPEST: usize = 256;
/// Steps of a kernel of one place from which only sources that are met are laid out: one by one, and not turned in registers.
const SPARSE: usize = 4;
/// Images of a lot at the least, where there are so many and rows of tiles are images.
const IMAGES: usize = 14;
/// Sources of a lot of images between visits, at the most, about: they are read by all strips, and should stay in the second-level cache.
const NEAR: usize = 1 << 17;

/// `y` of `x` and `w`.
///
/// # Safety
///
/// The operands have what the geometry says, none of whose sizes is 0; the result has room.
pub(in super::super) unsafe fn outputs<T: Compute>(g: &Geometry, x: *const T, w: *const T, y: *mut T) {
    let kernel = g.depth() / g.c;
    let plan = Plan::<T>::new(g, false, [g.c, g.o], [g.depth(), kernel]);
    // SAFETY: this function's contract.
    unsafe { plan.run(x, w, y) }
}

/// `x` of `y` and `w`.
///
/// # Safety
///
/// As [`outputs`].
pub(in super::super) unsafe fn gradient<T: Compute>(g: &Geometry, y: *const T, w: *const T, x: *mut T) {
    let kernel = g.depth() / g.c;
    let plan = Plan::<T>::new(g, true, [g.o, g.c], [kernel, g.depth()]);
    // SAFETY: this function's contract.
    unsafe { plan.run(y, w, x) }
}

/// What the rows of a tile are.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Rows {
    /// Neighbours of a phase along a line, whose steps go along channels.
    Line,
    /// The same, and steps go along the places of the kernel in a line: channels are few.
    Thin,
    /// The same place of several images.
    Images,
}

/// How images are made. Depends on sizes alone.
struct Plan<T: 'static> {
    batch: usize,
    groups: usize,
    /// Channels of a group of the source, and of the result.
    channels: usize,
    results: usize,
    axes: [Axis; MAX_AXES],
    /// Strides of the kernel along the result's channels and the source's.
    w_result: usize,
    w_channel: usize,
    kernels: &'static Kernels<T>,
    rows: Rows,
    line: Line,
    /// Channels of the source in a block, and blocks between visits of the result.
    beside: usize,
    deep: usize,
    lots: Vec<Lot>,
    kinds: Vec<Kind>,
    strips: usize,
    /// Whether results are so many that they go past the caches.
    streams: bool,
}

/// What all lots of a kind have in common.
struct Kind {
    places: Places,
    /// How much their sources are, laid out.
    len: usize,
    /// The sources along two axes that results meet.
    met: [Vec<usize>; 2],
    /// What is computed between visits of the results; empty where each task finds out for itself.
    visits: Vec<(Vec<Link>, Vec<Run>)>,
}

/// Where the sources of a lot lie: distances along blocks of channels, images, and the three axes.
#[derive(Clone, Copy)]
struct Places {
    first: [usize; 2],
    block: usize,
    image: usize,
    axes: [usize; MAX_AXES],
}

/// Rows that are computed alike, for one image or several.
struct Run {
    links: Range<usize>,
    rows: usize,
    /// The first row's position in the lot.
    result: usize,
}

impl<T: Compute> Plan<T> {
    fn new(g: &Geometry, is_back: bool, channels: [usize; 2], strides: [usize; 2]) -> Plan<T> {
        let axes = Axis::all(g, is_back);
        let kernels = T::kernels();
        let rows = if channels[0] < FEW && g.kernel[2] > 1 {
            Rows::Thin
        } else if axes.map(|axis| axis.result).iter().product::<usize>() <= TARGET
            && images_pay(&axes[2], g.batch, kernels.rows)
        {
            Rows::Images
        } else {
            Rows::Line
        };
        let places: usize = g.kernel.iter().product();
        let beside = if rows == Rows::Thin { 1 } else { BESIDE.min(channels[0]) };
        let deep = (DEPTH / (places * beside)).clamp(1, DEEPEST.div_ceil(beside));
        let (images, cuts) = match rows {
            Rows::Images => {
                let each = axes.iter().map(|axis| axis.source).product::<usize>();
                (IMAGES, IMAGES.min(g.batch) * each * channels[0].min(deep * beside) / NEAR)
            }
            Rows::Line | Rows::Thin => (1, 1),
        };
        let all = g.batch * axes.iter().map(|axis| axis.result).product::<usize>();
        let mut lots = lots(g.batch, &axes, (all / TASKS).clamp(LEAST, TARGET), images, cuts);
        let kinds = kinds(&mut lots);
        let mut plan = Plan {
            batch: g.batch,
            groups: g.groups,
            channels: channels[0],
            results: channels[1],
            axes,
            w_result: strides[0],
            w_channel: strides[1],
            kernels,
            rows,
            line: axes[2].line(rows != Rows::Images, SPARSE),
            beside,
            deep,
            lots,
            kinds: Vec::new(),
            strips: channels[1].div_ceil(kernels.columns()),
            streams: all * g.groups * channels[1] * size_of::<T>() >= STREAM && streams(),
        };
        let is_kept = kinds.iter().map(|lot| plan.most_links(lot)).sum::<usize>() <= LINKS;
        plan.kinds = kinds.iter().map(|lot| plan.kind(lot, is_kept)).collect();
        plan
    }

    /// Links of a lot, at the most.
    fn most_links(&self, lot: &Lot) -> usize {
        let (ax, lines) = (&self.axes[2], lot.along[0].len() * lot.along[1].len());
        let runs = if self.rows == Rows::Images { ax.result } else { ax.phases().min(ax.result) };
        let each = if self.rows == Rows::Thin { self.kernel() / ax.kernel } else { self.kernel() };
        lines * runs * each * self.blocks()
    }

    /// How often results are visited.
    fn visits(&self) -> usize {
        self.blocks().div_ceil(self.deep)
    }

    /// What is computed at one of these visits.
    fn visit(&self, lot: &Lot, places: &Places, i: usize) -> (Vec<Link>, Vec<Run>) {
        self.runs(lot, places, part(i, self.visits(), self.blocks()))
    }

    fn blocks(&self) -> usize {
        self.channels.div_ceil(self.beside)
    }

    /// Places of the kernel.
    fn kernel(&self) -> usize {
        self.axes.iter().map(|axis| axis.kernel).product()
    }

    /// Channels of a block.
    fn channels_of(&self, block: usize) -> Range<usize> {
        block * self.beside..self.channels.min((block + 1) * self.beside)
    }

    /// Numbers of the kernel as it is laid out for a strip of results.
    fn strip(&self) -> usize {
        self.channels * self.kernel() * self.kernels.columns()
    }

    fn sources(&self) -> usize {
        self.axes.iter().map(|axis| axis.source).product()
    }

    fn all_results(&self) -> usize {
        self.axes.iter().map(|axis| axis.result).product()
    }

    /// Lays out a strip of the kernel: channel by channel of a block for each of its places, block after block.
    unsafe fn pack_strip(&self, w: *const T, strip: usize, to: *mut T) {
        let (width, kernel, size) = (self.kernels.columns(), self.kernel(), size_of::<T>());
        let first = strip * width;
        let columns = width.min(self.results - first);
        // SAFETY: the strip lies in the kernel, and there is room for it.
        unsafe {
            if columns < width {
                std::ptr::write_bytes(to, 0, self.strip());
            }
            let w = w.add(first * self.w_result);
            for block in 0..self.blocks() {
                let channels = self.channels_of(block);
                let (w, to) =
                    (w.add(channels.start * self.w_channel), to.add(channels.start * kernel * width));
                let width = width as isize;
                if kernel == 1 && self.w_channel == 1 {
                    let w_result = self.w_result as isize;
                    transpose(size, to.cast(), width, w.cast(), w_result, columns, channels.len());
                    continue;
                }
                for c in 0..channels.len() {
                    let (w, to) = (w.add(c * self.w_channel), to.add(c * width as usize));
                    if kernel == 1 && self.w_result == 1 {
                        std::ptr::copy_nonoverlapping(w, to, columns);
                        continue;
                    }
                    let mut apart = channels.len() as isize * width;
                    let mut to = to;
                    if self.axes[0].is_back {
                        to = to.offset((kernel - 1) as isize * apart);
                        apart = -apart;
                    }
                    transpose(size, to.cast(), apart, w.cast(), self.w_result as isize, columns, kernel);
                }
            }
        }
    }

    fn kind(&self, lot: &Lot, is_kept: bool) -> Kind {
        let sources = [0, 1].map(|i| self.axes[i].sources(lot.along[i].clone()));
        let met = [0, 1].map(|i| {
            let is_met = self.axes[i].is_met(lot.along[i].clone());
            sources[i].clone().filter(|&at| is_met[at]).collect::<Vec<_>>()
        });
        let ([z, y], x) = (&sources, self.beside);
        let line = self.line.len * x;
        // An odd number of cache lines, so that images do not compete for one set.
        let odd = 64 / size_of::<T>();
        let image = (z.len() * y.len() * line).next_multiple_of(odd) | odd;
        let block = lot.images.len() * image;
        let places = Places { first: [z.start, y.start], block, image, axes: [y.len() * line, line, x] };
        let visits = if is_kept { self.visits() } else { 0 };
        let visits = (0..visits).map(|i| self.visit(lot, &places, i)).collect();
        Kind { places, len: self.blocks() * block, met, visits }
    }

    /// Lays out a block of channels of a lot's sources.
    unsafe fn pack(&self, x: *const T, group: usize, lot: &Lot, block: usize, to: *mut T) {
        let Kind { places, met: [zs, ys], .. } = &self.kinds[lot.kind];
        let (channels, sources) = (self.channels_of(block), self.sources());
        let [_, h, w] = self.axes.map(|axis| axis.source);
        let there = self.line.inside(w);
        let is_whole = there == (0..w) && self.line.len == w && self.line.every == 1;
        let (first, last) = (places.first[1], ys.last().map_or(0, |last| last + 1));
        // SAFETY: the sources lie in the images, and there is room for them.
        unsafe {
            let to = to.add(block * places.block);
            for (i, n) in lot.images.clone().enumerate() {
                let x = x.add(((n * self.groups + group) * self.channels + channels.start) * sources);
                for &z in zs {
                    let to = to.add(i * places.image + (z - places.first[0]) * places.axes[0]);
                    let x = x.add(z * h * w);
                    if is_whole && last - first.min(last) == ys.len() {
                        self.turn(x.add(first * w), channels.len(), (last - first) * w, to, places.axes[2]);
                        continue;
                    }
                    for &y in ys {
                        let to = to.add((y - first) * places.axes[1]);
                        self.pack_line(x.add(y * w), channels.len(), there.clone(), to, places.axes[2]);
                    }
                }
            }
        }
    }

    /// Neighbours of each channel beside those of the others.
    #[inline(always)]
    unsafe fn turn(&self, x: *const T, channels: usize, len: usize, to: *mut T, apart: usize) {
        // SAFETY: that of `pack`.
        unsafe {
            if channels == 1 && apart == 1 {
                return std::ptr::copy_nonoverlapping(x, to, len);
            }
            let sources = self.sources() as isize;
            transpose(size_of::<T>(), to.cast(), apart as isize, x.cast(), sources, channels, len);
        }
    }

    unsafe fn pack_line(&self, x: *const T, channels: usize, there: Range<usize>, to: *mut T, apart: usize) {
        let (line, sources) = (self.line, self.sources());
        // SAFETY: that of `pack`.
        unsafe {
            if self.rows != Rows::Images {
                // Neighbours without a gap.
                std::ptr::write_bytes(to, 0, there.start * apart);
                std::ptr::write_bytes(to.add(there.end * apart), 0, (line.len - there.end) * apart);
            }
            let first = (there.start * line.every) as isize + line.first;
            let (x, to) = (x.offset(first), to.add(there.start * apart));
            if line.every == 1 {
                return self.turn(x, channels, there.len(), to, apart);
            }
            for i in 0..there.len() {
                for c in 0..channels {
                    to.add(i * apart + c).write(*x.add(c * sources + i * line.every));
                }
            }
        }
    }

    /// Which steps the lot's rows take over some blocks of channels.
    fn runs(&self, lot: &Lot, places: &Places, blocks: Range<usize>) -> (Vec<Link>, Vec<Run>) {
        let [az, ay, ax] = &self.axes;
        let (mut links, mut runs) = (Vec::<Link>::new(), Vec::new());
        let (a_k, b_k) = self.step();
        let mut result = 0;
        for z in lot.along[0].clone() {
            for y in lot.along[1].clone() {
                let mut run = |rows: usize, result: usize, steps: &[(usize, isize, usize)]| {
                    let start = links.len();
                    // Where one goes on where the last one ended, they are one: neighbours along a line lie so.
                    let mut push = |link: Link| match links[start..].last_mut() {
                        Some(last)
                            if last.a + last.k as isize * a_k == link.a
                                && last.b + last.k as isize * b_k == link.b =>
                        {
                            last.k += link.k;
                        }
                        _ => links.push(link),
                    };
                    for block in blocks.clone() {
                        let channels = self.channels_of(block);
                        for (kz, sz) in az.met(z) {
                            for (ky, sy) in ay.met(y) {
                                let at = block * places.block
                                    + (sz - places.first[0]) * places.axes[0]
                                    + (sy - places.first[1]) * places.axes[1];
                                let kernel = (kz * ay.kernel + ky) * ax.kernel;
                                for &(kx, x, k) in steps {
                                    let place =
                                        channels.start * self.kernel() + (kernel + kx) * channels.len();
                                    push(Link {
                                        a: at as isize + x * places.axes[2] as isize,
                                        b: (place * self.kernels.columns()) as isize,
                                        k: if self.rows == Rows::Thin { k } else { channels.len() },
                                    });
                                }
                            }
                        }
                    }
                    runs.push(Run { links: start..links.len(), rows, result });
                };
                match self.rows {
                    Rows::Images => {
                        for x in 0..ax.result {
                            let steps: Vec<_> =
                                ax.met(x).map(|(k, at)| (k, self.line.place(at as isize), 0)).collect();
                            run(lot.images.len(), result + x, &steps);
                        }
                    }
                    Rows::Line | Rows::Thin => {
                        for phase in 0..ax.phases().min(ax.result) {
                            run(ax.count(phase), result + phase, &self.steps(phase));
                        }
                    }
                }
                result += ax.result;
            }
        }
        (links, runs)
    }

    /// The places of a line that a phase meets: of the kernel, in the line, and how many at once.
    fn steps(&self, phase: usize) -> Vec<(usize, isize, usize)> {
        let ax = &self.axes[2];
        let met = (0..ax.kernel).filter_map(|i| Some((i, ax.base(phase, ax.place(i))?)));
        let reaches = |base: isize| {
            let last = base + (ax.step() * (ax.count(phase) - 1)) as isize;
            last >= 0 && base < ax.source as isize
        };
        if self.rows == Rows::Thin {
            let met: Vec<_> = met.collect();
            let first = met.first().map(|&(k, base)| (k, self.line.place(base), met.len()));
            return first.into_iter().collect();
        }
        met.filter(|&(_, base)| reaches(base)).map(|(k, base)| (k, self.line.place(base), 1)).collect()
    }

    /// From step to step, in what is laid out and in the kernel.
    fn step(&self) -> (isize, isize) {
        let ax = &self.axes[2];
        let (a, b) = match self.rows {
            Rows::Line | Rows::Images => (1, 1),
            Rows::Thin if !ax.is_back => (ax.dilation, 1),
            Rows::Thin => {
                let (mut a, mut b) = (ax.stride, ax.dilation);
                while b > 0 {
                    (a, b) = (b, a % b);
                }
                (ax.dilation / a, ax.stride / a)
            }
        };
        (a as isize, (b * self.kernels.columns()) as isize)
    }

    /// Computes a strip of a lot's results over some blocks of channels: `acc` has all the strip's channels of a position side by side, position
    /// after position, image after image.
    #[allow(clippy::too_many_arguments)]
    unsafe fn compute(
        &self,
        lot: &Lot,
        links: &[Link],
        runs: &[Run],
        strip: usize,
        x: *const T,
        w: *const T,
        acc: *mut T,
        add: bool,
    ) {
        let places = &self.kinds[lot.kind].places;
        let kernels = self.kernels;
        let (width, positions) = (kernels.columns(), lot.positions(&self.axes));
        let columns = kernels.written(self.results - strip * width);
        let [ax_step, ax_phases] = [self.axes[2].step() / self.line.every, self.axes[2].phases()];
        // From row to row, and from image to image.
        let (images, a_row, c_row) = match self.rows {
            Rows::Images => (1, places.image, positions * width),
            Rows::Line | Rows::Thin => (lot.images.len(), ax_step.max(1) * places.axes[2], ax_phases * width),
        };
        let (a_k, b_k) = self.step();
        for run in runs {
            let slivers = run.rows.div_ceil(kernels.rows);
            for n in 0..images {
                for sliver in 0..slivers {
                    let rows = part(sliver, slivers, run.rows);
                    let c = n * positions * width + run.result * width + rows.start * c_row;
                    let tile = Tile {
                        links: &links[run.links.clone()],
                        a: x.wrapping_add(n * places.image + rows.start * a_row),
                        a_row: a_row as isize,
                        a_k,
                        b: w,
                        b_k,
                        c: acc.wrapping_add(c),
                        c_row: c_row as isize,
                        columns,
                        add,
                        ahead: w,
                        ahead_k: 0,
                    };
                    // SAFETY: the links name sources and places of the kernel; the rows are the task's own.
                    unsafe { kernels.of(rows.len(), columns)(&tile) };
                }
            }
        }
    }

    /// Brings a strip of a lot's results to where they belong.
    unsafe fn flush(&self, lot: &Lot, group: usize, strip: usize, acc: *const T, y: *mut T) {
        let (width, positions, all) = (self.kernels.columns(), lot.positions(&self.axes), self.all_results());
        let columns = width.min(self.results - strip * width);
        for (i, n) in lot.images.clone().enumerate() {
            let channel = (n * self.groups + group) * self.results + strip * width;
            // SAFETY: that of `run`.
            unsafe {
                let to = y.add(channel * all + lot.start(&self.axes));
                let from = acc.add(i * positions * width);
                let size = size_of::<T>();
                let turn = if self.streams { transpose_past } else { transpose };
                turn(size, to.cast(), all as isize, from.cast(), width as isize, positions, columns);
            }
        }
    }

    /// Some strips of a lot, whose sources are laid out at `x`.
    unsafe fn lot(&self, lot: &Lot, group: usize, strips: Range<usize>, x: *const T, w: *const T, y: *mut T) {
        let (kind, visits) = (&self.kinds[lot.kind], self.visits());
        let each = lot.images.len() * lot.positions(&self.axes) * self.kernels.columns();
        let kept = if visits > 1 { strips.len() } else { 1 };
        scratch::with(Slot::Shares, kept * each, |acc: *mut T| {
            for visit in 0..visits {
                let made;
                let (links, runs) = match kind.visits.get(visit) {
                    Some(kept) => kept,
                    None => {
                        made = self.visit(lot, &kind.places, visit);
                        &made
                    }
                };
                for strip in strips.clone() {
                    // SAFETY: this function's contract.
                    unsafe {
                        let acc = if visits > 1 { acc.add((strip - strips.start) * each) } else { acc };
                        let w = w.add((group * self.strips + strip) * self.strip());
                        self.compute(lot, links, runs, strip, x, w, acc, visit > 0);
                        if visit + 1 == visits {
                            self.flush(lot, group, strip, acc, y);
                        }
                    }
                }
            }
        });
        if self.streams {
            finish();
        }
    }

    /// Safety: that of [`outputs`].
    unsafe fn run(&self, x: *const T, w: *const T, y: *mut T) {
        let work =
            self.batch * self.groups * self.results * self.all_results() * self.channels * self.kernel();
        let strips = self.groups * self.strips;
        scratch::with(Slot::Packed, strips * self.strip(), |packed: *mut T| {
            let at = Shared((x, w, y, packed));
            let pack = |i: usize| {
                let (_, w, _, packed) = at.get();
                let (group, strip) = (i / self.strips, i % self.strips);
                // SAFETY: this function's contract; each task has a strip of its own.
                unsafe {
                    let w = w.add(group * self.results * self.channels * self.kernel());
                    self.pack_strip(w, strip, packed.add(i * self.strip()));
                }
            };
            shared(strips, work, &pack);
            let many = self.lots.len() * self.groups;
            if many >= TASKS {
                let task = |i: usize| {
                    let (x, _, y, packed) = at.get();
                    let (lot, group) = (&self.lots[i / self.groups], i % self.groups);
                    let len = self.kinds[lot.kind].len;
                    // SAFETY: this function's contract; each task has images, or parts of them, of its own.
                    scratch::with(Slot::Windows, len, |laid: *mut T| unsafe {
                        (0..self.blocks()).for_each(|block| self.pack(x, group, lot, block, laid));
                        self.lot(lot, group, 0..self.strips, laid, packed, y);
                    });
                };
                return shared(many, work, &task);
            }
            // SAFETY: this function's contract.
            unsafe { self.of_few(x, packed, y, work) };
        });
    }

    /// As [`run`](Plan::run), of so few lots that threads share each: the kernel is laid out at `w`.
    unsafe fn of_few(&self, x: *const T, w: *const T, y: *mut T, work: usize) {
        let many = self.lots.len() * self.groups;
        let mut len = 0;
        let starts: Vec<usize> = (0..many)
            .map(|i| {
                let start = len;
                len += self.kinds[self.lots[i / self.groups].kind].len;
                start
            })
            .collect();
        scratch::with(Slot::Windows, len, |laid: *mut T| {
            let at = Shared((x, w, y, laid));
            let pack = |i: usize| {
                let (x, _, _, laid) = at.get();
                let (i, block) = (i / self.blocks(), i % self.blocks());
                let (lot, group) = (&self.lots[i / self.groups], i % self.groups);
                // SAFETY: that of `run`; each task has a block of its own.
                unsafe { self.pack(x, group, lot, block, laid.add(starts[i])) };
            };
            shared(many * self.blocks(), work, &pack);
            let cuts = TASKS.div_ceil(many).min(self.strips);
            let task = |i: usize| {
                let (_, w, y, laid) = at.get();
                let (i, cut) = (i / cuts, i % cuts);
                let (lot, group) = (&self.lots[i / self.groups], i % self.groups);
                // SAFETY: that of `run`; each task has strips of a lot of its own.
                unsafe { self.lot(lot, group, part(cut, cuts, self.strips), laid.add(starts[i]), w, y) };
            };
            shared(many * cuts, work, &task);
        });
    }
}

/// Whether tiles go along images rather than lines: counted in steps of multipliers.
fn images_pay(axis: &Axis, batch: usize, most: usize) -> bool {
    // A tile's rows, each two vectors, and what a step takes besides.
    let cost = |rows: usize| -> usize {
        let slivers = rows.div_ceil(most);
        (0..slivers).map(|i| (2 * part(i, slivers, rows).len()).max(8) + 2).sum()
    };
    let together = batch.min(IMAGES);
    let along: usize = (0..axis.phases().min(axis.result))
        .map(|phase| {
            let met = (0..axis.kernel).filter(|&k| axis.base(phase, k).is_some()).count();
            met * cost(axis.count(phase))
        })
        .sum();
    let across: usize = (0..axis.result).map(|at| axis.met(at).count() * cost(together)).sum();
    across < along * together
}
