//! Convolutions on the CPU: those of many channels are [tiles](blocked), those of few outputs a group and few places [direct]. Of the others, windows
//! of some outputs at a time are laid out beside each other, in the nearest caches, and multiplied as matrices.

use super::{ConvKind, Geometry, blocked, direct, edges};
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::{Shared, fill_zero};
use crate::cpu::memory;
use crate::cpu::pool::parallel;
use crate::lane::FloatLane;
use crate::library::matmul::cpu::matmul;
use crate::library::matmul::cpu::micro::Compute;
use mg_device::{DType, Float, Layout, Shape, bf16, f16};
use std::ops::Range;

/// Elements of the windows that are laid out at a time.
const TILE: usize = 1 << 16;
/// Outputs below which a weight would be gone through for too few of them.
const LEAST: usize = 64;
/// Channels of a result from which tiles have them side by side.
const NARROW: usize = 5;
/// Elements of a line, of inputs or outputs, above which it would be too much at a time for them: lines are not cut.
const LONG_LINE: usize = 1 << 12;
/// Of how many lines beside each other tiles meet one at the least: they leave room for those between.
const APART: usize = 4;
/// Elements of which images are a multiple whose channels compete for few sets of a cache, and so many channels that they are laid out therefore.
const COMPETING: usize = 1 << 10;
const MANY: usize = 64;
/// Multiplications from which threads share the work.
const PARALLEL: usize = 1 << 19;
/// Parts in which a weight's gradient is summed, whatever the number of threads.
const PARTS: usize = 8;

/// A number that convolutions are computed in.
pub(super) trait Entry: FloatLane + Compute {
    const DTYPE: DType;
    const ZERO: Self;
    const NAN: Self;
    fn is_finite(self) -> bool;
}
macro_rules! entry {
    ($($T:ty: $D:ident;)*) => {$(
        impl Entry for $T {
            const DTYPE: DType = DType::$D;
            const ZERO: $T = 0.0;
            const NAN: $T = <$T>::NAN;
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$T>::is_finite(self)
            }
        }
    )*};
}
entry! {
    f32: F32;
    f64: F64;
}

/// Computes a convolution or one of its gradients: of `a` and `b`, into `out`, all dense.
///
/// # Safety
///
/// The addresses are valid for what the geometry says, from any thread, for the time of the call.
pub(super) unsafe fn conv(
    kind: ConvKind,
    g: &Geometry,
    dtype: DType,
    a: *const u8,
    b: *const u8,
    out: *mut u8,
) {
    // Half types are multiplied and added in f32, and rounded once.
    macro_rules! widened {
        ($T:ty) => {{
            let sizes = [ConvKind::Input, ConvKind::Weight, ConvKind::Forward].map(|kind| elements(kind, g));
            let [x, w, y] = sizes;
            let (na, nb, n) = match kind {
                ConvKind::Forward => (x, w, y),
                ConvKind::Input => (y, w, x),
                ConvKind::Weight => (x, y, w),
            };
            // SAFETY: this function's contract.
            unsafe {
                let wide = |from: *const u8, n: usize| -> Vec<f32> {
                    memory::collected((0..n).map(|i| (*from.cast::<$T>().add(i)).to_f32()))
                };
                let (a, b, mut sums) = (wide(a, na), wide(b, nb), memory::filled(n, 0.0f32));
                run::<f32>(kind, g, a.as_ptr(), b.as_ptr(), sums.as_mut_ptr());
                for (i, sum) in sums.into_iter().enumerate() {
                    out.cast::<$T>().add(i).write(<$T>::from_f32(sum));
                }
            }
        }};
    }
    match dtype.float() {
        // SAFETY: this function's contract.
        Some(Float::F32) => unsafe { run::<f32>(kind, g, a.cast(), b.cast(), out.cast()) },
        // SAFETY: this function's contract.
        Some(Float::F64) => unsafe { run::<f64>(kind, g, a.cast(), b.cast(), out.cast()) },
        Some(Float::F16) => widened!(f16),
        Some(Float::BF16) => widened!(bf16),
        // `Conv::result` takes floats alone.
        None => {}
    }
}

/// The number of elements of what a kernel computes.
fn elements(kind: ConvKind, g: &Geometry) -> usize {
    match kind {
        ConvKind::Forward => g.batch * g.groups * g.o * g.outputs(),
        ConvKind::Input => g.batch * g.groups * g.c * g.inputs(),
        ConvKind::Weight => g.groups * g.o * g.depth(),
    }
}

unsafe fn run<T: Entry>(kind: ConvKind, g: &Geometry, a: *const T, b: *const T, out: *mut T) {
    if elements(kind, g) == 0 {
        return;
    }
    if g.batch * g.groups * g.outputs() * g.o * g.depth() == 0 {
        let n = elements(kind, g);
        // SAFETY: the output has so many elements.
        return unsafe { fill_zero(out.cast(), n * size_of::<T>()) };
    }
    // SAFETY: this function's contract.
    unsafe {
        let of = |from: *const T, kind| std::slice::from_raw_parts(from, elements(kind, g));
        let result = || std::slice::from_raw_parts_mut(out, elements(kind, g));
        match kind {
            ConvKind::Forward => {
                forward(g, a, b, out);
                edges::outputs(g, of(b, ConvKind::Weight), result());
            }
            ConvKind::Input => {
                input(g, a, b, out);
                if adds_zeros::<T>(g) && edges::odd(of(b, ConvKind::Weight), result(), true) {
                    input_of_columns(g, a, b, out);
                }
            }
            ConvKind::Weight => {
                weight(g, a, b, out);
                edges::weight(g, of(b, ConvKind::Forward), result());
            }
        }
    }
}

/// Outputs whose windows are laid out at a time, and how many such tiles there are.
fn tiles(g: &Geometry) -> (usize, usize) {
    let each = (TILE / g.depth()).clamp(LEAST, 4096).min(g.outputs());
    (each, g.outputs().div_ceil(each))
}

pub(super) fn shared(tasks: usize, work: usize, task: &(dyn Fn(usize) + Sync)) {
    if work < PARALLEL { (0..tasks).for_each(task) } else { parallel(tasks, task) }
}

/// `a · b` of dense or transposed matrices, densely.
unsafe fn product<T: Entry>(
    a: *const T,
    la: [usize; 2],
    sa: [isize; 2],
    b: *const T,
    lb: [usize; 2],
    sb: [isize; 2],
    out: *mut T,
) {
    let layout = |sizes: [usize; 2], strides: [isize; 2]| Layout::new(Shape::of(&sizes), &strides, 0);
    let la = layout(la, sa).expect("a matrix in memory has a layout");
    let lb = layout(lb, sb).expect("a matrix in memory has a layout");
    // SAFETY: the callers' matrices.
    unsafe { matmul(T::DTYPE, a.cast(), &la, b.cast(), &lb, Some(out.cast()), None) };
}

/// Where windows are laid out: `[rows, width]`, the windows of some outputs from column `from` on.
#[derive(Clone, Copy)]
struct Laid<T> {
    to: *mut T,
    width: usize,
    from: usize,
}

/// The windows of some outputs of one image over some channels of a group, a row for each place of the kernel in each channel; zeros
/// where the kernel hangs over.
unsafe fn windows<T: Entry>(
    g: &Geometry,
    x: *const T,
    channels: Range<usize>,
    positions: Range<usize>,
    laid: Laid<T>,
) {
    let to = laid.to.wrapping_add(laid.from);
    // SAFETY: `each` names elements of the image, and there is room for all windows.
    unsafe {
        each(g, channels, positions, |row, segment| match segment {
            Segment::Outside(from, len) => {
                for i in 0..len {
                    to.add(row * laid.width + from + i).write(T::ZERO);
                }
            }
            Segment::Inside(from, len, at, step) => {
                let to = to.add(row * laid.width + from);
                if step == 1 {
                    line(x.add(at), to, len);
                } else {
                    for i in 0..len {
                        to.add(i).write(*x.add(at + i * step));
                    }
                }
            }
        });
    }
}

/// Copies a line, which is short as a rule: a call would take longer.
#[inline(always)]
unsafe fn line<T: Entry>(from: *const T, to: *mut T, len: usize) {
    const FEW: usize = 4;
    // SAFETY: the callers' elements; both are at least as long as what is copied last, which overlaps what was copied before.
    unsafe {
        if !(FEW..=256).contains(&len) {
            return std::ptr::copy_nonoverlapping(from, to, len);
        }
        let few = |at: usize| {
            let (from, to) = (from.add(at).cast::<[T; FEW]>(), to.add(at).cast::<[T; FEW]>());
            to.write_unaligned(from.read_unaligned());
        };
        for at in (0..len - FEW).step_by(FEW) {
            few(at);
        }
        few(len - FEW);
    }
}

/// Neighbouring outputs in a row of the windows: the first among those asked for, and how many.
enum Segment {
    /// The kernel hangs over the edge.
    Outside(usize, usize),
    /// It meets the image from a place on, in steps.
    Inside(usize, usize, usize, usize),
}

/// Tells of every element of some outputs' windows where in the image it lies.
#[inline(always)]
fn each(
    g: &Geometry,
    channels: Range<usize>,
    positions: Range<usize>,
    mut visit: impl FnMut(usize, Segment),
) {
    let [_, h, w] = g.input;
    let [_, oh, ow] = g.output;
    let mut row = 0;
    for channel in channels {
        for kd in 0..g.kernel[0] {
            for kh in 0..g.kernel[1] {
                for kw in 0..g.kernel[2] {
                    // Outputs along the last axis that meet the image at this place of the kernel.
                    let shift = kw * g.dilation[2];
                    let first = g.padding[2].saturating_sub(shift).div_ceil(g.stride[2]);
                    let end = match (w + g.padding[2]).checked_sub(shift + 1) {
                        Some(last) => last / g.stride[2] + 1,
                        None => 0,
                    };
                    let (first, end) = (first.min(ow), end.min(ow));
                    let mut p = positions.start;
                    while p < positions.end {
                        let (line, from) = (p / ow, p % ow);
                        let to = ow.min(from + positions.end - p);
                        let (d, y) = (line / oh, line % oh);
                        let z = (d * g.stride[0] + kd * g.dilation[0]).checked_sub(g.padding[0]);
                        let y = (y * g.stride[1] + kh * g.dilation[1]).checked_sub(g.padding[1]);
                        let at = p - positions.start;
                        match (z.filter(|&z| z < g.input[0]), y.filter(|&y| y < h)) {
                            (Some(z), Some(y)) => {
                                let (lo, hi) =
                                    (first.clamp(from, to), end.clamp(from, to).max(first.clamp(from, to)));
                                if lo > from {
                                    visit(row, Segment::Outside(at, lo - from));
                                }
                                if hi > lo {
                                    let x = lo * g.stride[2] + shift - g.padding[2];
                                    let place = ((channel * g.input[0] + z) * h + y) * w + x;
                                    visit(row, Segment::Inside(at + lo - from, hi - lo, place, g.stride[2]));
                                }
                                if to > hi {
                                    visit(row, Segment::Outside(at + hi - from, to - hi));
                                }
                            }
                            _ => visit(row, Segment::Outside(at, to - from)),
                        }
                        p += to - from;
                    }
                    row += 1;
                }
            }
        }
    }
}

/// Whether tiles are the way to go, for the convolution and both gradients.
fn is_tiled(g: &Geometry) -> bool {
    let is_short = g.input[2].max(g.output[2]).max(2 * g.padding[2]) <= LONG_LINE;
    // Lines are laid out whole. Of a kernel of one place this is different, or of little weight: see `Axis::line`.
    let is_mostly_met = g.stride[2] <= g.kernel[2] && 2 * g.output[2] * g.kernel[2] >= g.input[2];
    let is_met = g.kernel[2] == 1 || is_mostly_met;
    is_short && is_met && (0..2).all(|i| g.stride[i] <= APART * g.kernel[i])
}

/// Whether images are products of the kernel with images of `depth` channels a group as they lie: of one place, met everywhere. Vectors go along
/// images, so few of their lanes may be left over; and not many channels may compete for few sets of a cache.
fn is_pointwise<T: Entry>(g: &Geometry, depth: usize) -> bool {
    let (size, lanes) = (g.outputs(), T::kernels().lanes);
    let is_one = g.depth() == g.c && g.stride == [1; 3] && g.padding == [0; 3];
    let competes = size.is_multiple_of(COMPETING) && depth >= MANY;
    is_one && !competes && 8 * size.next_multiple_of(lanes) <= 9 * size
}

/// The images of `rows` channels a group that a kernel makes of those of `depth`: with strides from row to row of it, and along.
unsafe fn pointwise<T: Entry>(
    g: &Geometry,
    w: *const T,
    [rows, depth]: [usize; 2],
    [row, along]: [usize; 2],
    from: *const T,
    to: *mut T,
) {
    let size = g.outputs();
    let layout = |sizes: [usize; 2], strides: [usize; 4]| {
        let shape = Shape::of(&[g.batch, g.groups, sizes[0], sizes[1]]);
        Layout::new(shape, &strides.map(|stride| stride as isize), 0)
    };
    let weights = layout([rows, depth], [0, rows * depth, row, along]);
    let images = layout([depth, size], [g.groups * depth * size, depth * size, size, 1]);
    let weights = weights.expect("a kernel in memory has a layout");
    let images = images.expect("images in memory have a layout");
    // SAFETY: the callers' images.
    unsafe { matmul(T::DTYPE, w.cast(), &weights, from.cast(), &images, Some(to.cast()), None) };
}

unsafe fn forward<T: Entry>(g: &Geometry, x: *const T, w: *const T, y: *mut T) {
    if direct::fits(g) {
        // SAFETY: this function's contract.
        return unsafe { direct::forward(g, x, w, y) };
    }
    if is_pointwise::<T>(g, g.c) {
        // SAFETY: this function's contract.
        return unsafe { pointwise(g, w, [g.o, g.c], [g.c, 1], x, y) };
    }
    if g.o >= NARROW && is_tiled(g) {
        // SAFETY: this function's contract.
        return unsafe { blocked::outputs(g, x, w, y) };
    }
    let (depth, outputs, inputs) = (g.depth(), g.outputs(), g.inputs());
    let (size, count) = tiles(g);
    // Small images are laid out together.
    let together =
        if count == 1 { (2 * TILE / (depth * outputs)).clamp(1, 512_usize.div_ceil(outputs)) } else { 1 };
    let images = together.min(g.batch);
    let lots = g.batch.div_ceil(images);
    let at = Shared((x, w, y));
    let task = |task: usize| {
        let (x, w, y) = at.get();
        let (lot, group, tile) = (task / count / g.groups, task / count % g.groups, task % count);
        let lot = lot * images..((lot + 1) * images).min(g.batch);
        let positions = tile * size..outputs.min((tile + 1) * size);
        let each = positions.len();
        let n = lot.len() * each;
        // SAFETY: tasks write disjoint outputs; the operands have what the geometry says.
        scratch::with(Slot::Windows, depth * n, |laid: *mut T| unsafe {
            let place = |i: usize| (lot.start + i) * g.groups + group;
            for i in 0..lot.len() {
                let columns = Laid { to: laid, width: n, from: i * each };
                windows(g, x.add(place(i) * g.c * inputs), 0..g.c, positions.clone(), columns);
            }
            let w = w.add(group * g.o * depth);
            let dense = |m: usize| [m as isize, 1];
            let into = |out: *mut T| product(w, [g.o, depth], dense(depth), laid, [depth, n], dense(n), out);
            if n == outputs {
                return into(y.add(place(0) * g.o * outputs));
            }
            scratch::with(Slot::Shares, g.o * n, |out: *mut T| {
                into(out);
                for i in 0..lot.len() {
                    let y = y.add(place(i) * g.o * outputs + positions.start);
                    for o in 0..g.o {
                        line(out.add(o * n + i * each), y.add(o * outputs), each);
                    }
                }
            });
        });
    };
    let tasks = lots * g.groups * count;
    if tasks == 1 {
        // The product itself is shared.
        return task(0);
    }
    shared(tasks, g.batch * g.groups * g.o * outputs * depth, &task);
}

/// Whether a gradient by the input is computed with zeros around the results.
fn adds_zeros<T: Entry>(g: &Geometry) -> bool {
    direct::turned(g).is_some() || !is_pointwise::<T>(g, g.o) && g.c >= NARROW && is_tiled(g)
}

unsafe fn input<T: Entry>(g: &Geometry, y: *const T, w: *const T, x: *mut T) {
    if let Some(turned) = direct::turned(g) {
        // SAFETY: this function's contract.
        return unsafe {
            let w = std::slice::from_raw_parts(w, g.groups * g.o * g.depth());
            let w = direct::turned_weight(g, w);
            direct::forward(&turned, y, w.as_ptr(), x);
        };
    }
    if is_pointwise::<T>(g, g.o) {
        // SAFETY: this function's contract.
        return unsafe { pointwise(g, w, [g.c, g.o], [1, g.c], y, x) };
    }
    if g.c >= NARROW && is_tiled(g) {
        // SAFETY: this function's contract.
        return unsafe { blocked::gradient(g, y, w, x) };
    }
    // SAFETY: this function's contract.
    unsafe { input_of_columns(g, y, w, x) }
}

/// As [`input`], without zeros: what each result gives to its window.
unsafe fn input_of_columns<T: Entry>(g: &Geometry, y: *const T, w: *const T, x: *mut T) {
    let (depth, outputs, inputs) = (g.depth(), g.outputs(), g.inputs());
    let (size, count) = tiles(g);
    let at = Shared((y, w, x));
    let task = |image: usize| {
        let (y, w, x) = at.get();
        let group = image % g.groups;
        // SAFETY: tasks write disjoint images; the operands have what the geometry says.
        unsafe {
            let (y, w) = (y.add(image * g.o * outputs), w.add(group * g.o * depth));
            let x = x.add(image * g.c * inputs);
            fill_zero(x.cast(), g.c * inputs * size_of::<T>());
            for tile in 0..count {
                let positions = tile * size..outputs.min((tile + 1) * size);
                let n = positions.len();
                scratch::with(Slot::Windows, depth * n, |shares: *mut T| {
                    // wᵀ · y of these outputs.
                    let (across, along) = ([1, depth as isize], [outputs as isize, 1]);
                    product(w, [depth, g.o], across, y.add(positions.start), [g.o, n], along, shares);
                    each(g, 0..g.c, positions, |row, segment| {
                        if let Segment::Inside(from, len, place, step) = segment {
                            let shares = std::slice::from_raw_parts(shares.add(row * n + from), len);
                            if step == 1 {
                                let to = std::slice::from_raw_parts_mut(x.add(place), len);
                                to.iter_mut().zip(shares).for_each(|(to, &share)| *to = to.plus(share));
                                return;
                            }
                            for (i, &share) in shares.iter().enumerate() {
                                let to = x.add(place + i * step);
                                to.write((*to).plus(share));
                            }
                        }
                    });
                });
            }
        }
    };
    shared(g.batch * g.groups, g.batch * g.groups * g.o * outputs * depth, &task);
}

unsafe fn weight<T: Entry>(g: &Geometry, x: *const T, y: *const T, w: *mut T) {
    let (depth, outputs, inputs) = (g.depth(), g.outputs(), g.inputs());
    let (size, count) = tiles(g);
    let is_direct = direct::fits(g);
    if !is_direct && g.o >= NARROW && is_tiled(g) {
        // SAFETY: this function's contract.
        return unsafe { blocked::weight(g, x, y, w) };
    }
    if !is_direct && size < outputs && g.c >= CHANNELS {
        // SAFETY: this function's contract.
        return unsafe { weight_of_many(g, x, y, w) };
    }
    // The images are summed in parts that do not depend on the number of threads.
    let parts = PARTS.min(g.batch);
    let len = g.o * depth;
    let mut sums = memory::filled(parts * g.groups * len, T::ZERO);
    let at = Shared((x, y, sums.as_mut_ptr()));
    let task = |task: usize| {
        let (x, y, sums) = at.get();
        let (part, group) = (task / g.groups, task % g.groups);
        // SAFETY: each task has a sum of its own; the operands have what the geometry says.
        scratch::with(Slot::Shares, len, |one: *mut T| unsafe {
            let sum = std::slice::from_raw_parts_mut(sums.add(task * len), len);
            if is_direct {
                let images = part * g.batch / parts..(part + 1) * g.batch / parts;
                return direct::weight(g, group, images, x, y, sum);
            }
            for n in part * g.batch / parts..(part + 1) * g.batch / parts {
                let image = n * g.groups + group;
                for tile in 0..count {
                    let positions = tile * size..outputs.min((tile + 1) * size);
                    let n = positions.len();
                    scratch::with(Slot::Windows, depth * n, |laid: *mut T| {
                        let columns = Laid { to: laid, width: n, from: 0 };
                        windows(g, x.add(image * g.c * inputs), 0..g.c, positions.clone(), columns);
                        // y of these outputs · windowsᵀ.
                        let y = y.add(image * g.o * outputs + positions.start);
                        let (along, across) = ([outputs as isize, 1], [1, n as isize]);
                        product(y, [g.o, n], along, laid.cast_const(), [n, depth], across, one);
                    });
                    let one = std::slice::from_raw_parts(one, len);
                    sum.iter_mut().zip(one).for_each(|(s, &v)| *s = s.plus(v));
                }
            }
        });
    };
    shared(parts * g.groups, g.batch * g.groups * g.o * outputs * depth, &task);
    for group in 0..g.groups {
        for i in 0..len {
            let all =
                (1..parts).fold(sums[group * len + i], |s, p| s.plus(sums[(p * g.groups + group) * len + i]));
            // SAFETY: the weight has so many elements.
            unsafe { w.add(group * len + i).write(all) };
        }
    }
}

/// Channels from which a weight's gradient is made channel by channel where windows are long.
const CHANNELS: usize = 16;
/// Outputs, of one image or several, whose windows are laid out together then, at the most.
const LONG: usize = 1 << 10;

/// As [`weight`], of windows that are so long that few of them would be multiplied at a time: some channels of all windows instead.
unsafe fn weight_of_many<T: Entry>(g: &Geometry, x: *const T, y: *const T, w: *mut T) {
    let (depth, outputs, inputs) = (g.depth(), g.outputs(), g.inputs());
    let kernel = depth / g.c;
    let all = g.batch * outputs;
    let long = all.min(LONG);
    let each = ((TILE * 2 / long).div_ceil(kernel)).clamp(1, g.c);
    let blocks = g.c.div_ceil(each);
    let at = Shared((x, y, w));
    let task = |task: usize| {
        let (x, y, w) = at.get();
        let (group, block) = (task / blocks, task % blocks);
        let channels = block * each..((block + 1) * each).min(g.c);
        let rows = channels.len() * kernel;
        let mut sums = memory::filled(g.o * rows, T::ZERO);
        for first in (0..all).step_by(long) {
            let n = long.min(all - first);
            // SAFETY: each task has channels of its own; the operands have what the geometry says.
            unsafe {
                scratch::with(Slot::Windows, (rows + g.o) * n, |laid: *mut T| {
                    let of_y = laid.add(rows * n);
                    let mut from = 0;
                    while from < n {
                        let (image, start) = ((first + from) / outputs, (first + from) % outputs);
                        let positions = start..outputs.min(start + n - from);
                        let len = positions.len();
                        let image = image * g.groups + group;
                        let x = x.add(image * g.c * inputs);
                        let columns = Laid { to: laid, width: n, from };
                        windows(g, x, channels.clone(), positions, columns);
                        let y = y.add(image * g.o * outputs + start);
                        for o in 0..g.o {
                            line(y.add(o * outputs), of_y.add(o * n + from), len);
                        }
                        from += len;
                    }
                    scratch::with(Slot::Shares, g.o * rows, |one: *mut T| {
                        // y of these outputs · windowsᵀ.
                        let (along, across) = ([n as isize, 1], [1, n as isize]);
                        product(
                            of_y.cast_const(),
                            [g.o, n],
                            along,
                            laid.cast_const(),
                            [n, rows],
                            across,
                            one,
                        );
                        let one = std::slice::from_raw_parts(one, g.o * rows);
                        sums.iter_mut().zip(one).for_each(|(s, &v)| *s = s.plus(v));
                    });
                });
            }
        }
        for o in 0..g.o {
            // SAFETY: the weight has so many elements; these are the task's own.
            unsafe {
                let w = w.add((group * g.o + o) * depth + channels.start * kernel);
                std::ptr::copy_nonoverlapping(sums.as_ptr().add(o * rows), w, rows);
            }
        }
    };
    let tasks = g.groups * blocks;
    if tasks == 1 {
        // The product itself is shared.
        return task(0);
    }
    shared(tasks, g.batch * g.groups * g.o * outputs * depth, &task);
}
