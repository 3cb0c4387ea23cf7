//! Convolutions with few outputs a group on the CPU, depthwise ones above all: as a product, laying out the windows would take longer than what
//! is done with them. A few lines of the input are laid out once instead, with the zeros around them and so that the steps of the kernel find
//! neighbours, and each output adds up its places of the kernel in their order.

use super::Geometry;
use crate::cpu::library::Shared;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::loops::{Isa, by_isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::parallel;
use crate::lane::FloatLane;

/// Outputs of a group, at the most.
const FEW: usize = 4;
/// Places of the kernel over all channels of a group, at the most.
const DEEP: usize = 128;
/// Outputs of a line that are computed together.
const WIDTH: usize = 32;
/// Elements of the lines that are laid out at a time, about.
const BAND: usize = 1 << 14;
/// Multiplications of a task, about.
const TASK: usize = 1 << 17;

/// Whether this is the way to go.
pub(super) fn fits(g: &Geometry) -> bool {
    // Elsewhere a product and a sum in one are no instruction.
    let fuses = !cfg!(target_arch = "x86_64") || isa() != Isa::Baseline;
    fuses && g.o <= FEW && g.depth() <= DEEP
}

/// The convolution that the gradient by the input is, if it is one: of `y`, with the kernel the other way round.
pub(super) fn turned(g: &Geometry) -> Option<Geometry> {
    let mut padding = [0; 3];
    for (axis, padding) in padding.iter_mut().enumerate() {
        let spread = (g.kernel[axis] - 1) * g.dilation[axis];
        *padding = spread.checked_sub(g.padding[axis])?;
        // Where steps are longer than one, or the last inputs are not reached, it is something else.
        if g.stride[axis] != 1 || g.output[axis] + 2 * *padding != g.input[axis] + spread {
            return None;
        }
    }
    let turned = Geometry { c: g.o, o: g.c, input: g.output, output: g.input, padding, ..*g };
    fits(&turned).then_some(turned)
}

/// The kernel of [`turned`].
pub(super) fn turned_weight<T: Copy>(g: &Geometry, w: &[T]) -> Vec<T> {
    let kernel: usize = g.kernel.iter().product();
    let mut out = memory::room(w.len());
    for group in w.chunks_exact(g.o * g.c * kernel) {
        for c in 0..g.c {
            for o in 0..g.o {
                out.extend(group[(o * g.c + c) * kernel..][..kernel].iter().rev());
            }
        }
    }
    out
}

/// How lines are laid out: of each channel and place of the kernel in depth `rows` lines, each as one stretch for each step of the kernel.
#[derive(Clone, Copy)]
struct Lines {
    /// Output lines that they serve.
    band: usize,
    rows: usize,
    /// Elements of a stretch.
    stretch: usize,
}

impl Lines {
    fn of(g: &Geometry) -> Lines {
        let spread = |axis: usize| (g.kernel[axis] - 1) * g.dilation[axis];
        let stretch = g.output[2].next_multiple_of(WIDTH) + spread(2) / g.stride[2] + 1;
        let line = g.c * g.kernel[0] * g.stride[2] * stretch;
        let more = (BAND / line.max(1)).saturating_sub(spread(1)) / g.stride[1];
        let band = more.clamp(1, g.output[1]);
        Lines { band, rows: (band - 1) * g.stride[1] + spread(1) + 1, stretch }
    }

    fn line(&self, g: &Geometry) -> usize {
        g.stride[2] * self.stretch
    }

    fn len(&self, g: &Geometry) -> usize {
        g.c * g.kernel[0] * self.rows * self.line(g)
    }

    /// Where each place of the kernel finds what it is multiplied with, from an output's line on.
    fn places(&self, g: &Geometry) -> Vec<usize> {
        let [_, kh, kw] = g.kernel;
        (0..g.depth())
            .map(|at| {
                let (plane, y, x) = (at / (kh * kw), at / kw % kh, at % kw * g.dilation[2]);
                (plane * self.rows + y * g.dilation[1]) * self.line(g)
                    + x % g.stride[2] * self.stretch
                    + x / g.stride[2]
            })
            .collect()
    }

    /// Lays out what outputs of depth `z` need, from line `first` on.
    ///
    /// # Safety
    ///
    /// `x` has the group's channels, `to` room for all lines.
    #[inline(always)]
    unsafe fn lay<T: FloatLane>(
        &self,
        g: &Geometry,
        x: *const T,
        z: usize,
        first: usize,
        to: *mut T,
        zero: T,
    ) {
        let [d, h, w] = g.input;
        let line = self.line(g);
        for row in 0..g.c * g.kernel[0] * self.rows {
            let (plane, y) = (row / self.rows, first * g.stride[1] + row % self.rows);
            let (channel, kd) = (plane / g.kernel[0], plane % g.kernel[0]);
            let z = (z * g.stride[0] + kd * g.dilation[0]).checked_sub(g.padding[0]).filter(|&z| z < d);
            let y = y.checked_sub(g.padding[1]).filter(|&y| y < h);
            // SAFETY: the line is this function's own to write.
            let to = unsafe { std::slice::from_raw_parts_mut(to.add(row * line), line) };
            let (Some(z), Some(y)) = (z, y) else {
                to.fill(zero);
                continue;
            };
            // SAFETY: a line of the image.
            let from = unsafe { std::slice::from_raw_parts(x.add(((channel * d + z) * h + y) * w), w) };
            for (phase, to) in to.chunks_exact_mut(self.stretch).enumerate() {
                // The first place of the stretch that lies in the image.
                let before = g.padding[2].saturating_sub(phase).div_ceil(g.stride[2]).min(to.len());
                let at = before * g.stride[2] + phase - g.padding[2].min(before * g.stride[2] + phase);
                let there = w.saturating_sub(at).div_ceil(g.stride[2]).min(to.len() - before);
                let (left, rest) = to.split_at_mut(before);
                let (inside, right) = rest.split_at_mut(there);
                left.fill(zero);
                right.fill(zero);
                match g.stride[2] {
                    1 => inside.copy_from_slice(&from[at..at + there]),
                    step => inside
                        .iter_mut()
                        .zip(from[at.min(w)..].iter().step_by(step))
                        .for_each(|(to, &v)| *to = v),
                }
            }
        }
    }
}

/// Adds up the places of the kernel for `N` outputs of a line.
#[inline(always)]
unsafe fn sums<T: FloatLane, const N: usize>(from: *const T, places: &[usize], w: &[T], zero: T) -> [T; N] {
    let mut sums = [zero; N];
    for (&place, &w) in places.iter().zip(w) {
        // SAFETY: the caller's lines reach so far.
        let x = unsafe { &*from.add(place).cast::<[T; N]>() };
        for (sum, &x) in sums.iter_mut().zip(x) {
            *sum = w.fma(x, *sum);
        }
    }
    sums
}

/// What a task is given.
struct Call<'a, T> {
    g: &'a Geometry,
    lines: Lines,
    places: &'a [usize],
    x: *const T,
    /// What is laid out is multiplied with this: the kernel, or for its gradient that of the result.
    with: *const T,
    /// The result, or for a gradient lanes.
    to: *mut T,
}

/// Works on some images of some groups, with room for lines.
type Task<T> = unsafe fn(call: &Call<T>, pairs: std::ops::Range<usize>, laid: *mut T, zero: T);

/// Outputs of an image and a group.
///
/// # Safety
///
/// That of [`forward`].
#[inline(always)]
unsafe fn outputs<T: FloatLane>(call: &Call<T>, pairs: std::ops::Range<usize>, laid: *mut T, zero: T) {
    let Call { g, lines, places, x, with: w, to: y } = *call;
    let [od, oh, ow] = g.output;
    let (depth, line) = (g.depth(), lines.line(g));
    for pair in pairs {
        // SAFETY: this function's contract.
        unsafe {
            let x = x.add(pair * g.c * g.inputs());
            let w = std::slice::from_raw_parts(w.add(pair % g.groups * g.o * depth), g.o * depth);
            for z in 0..od {
                for first in (0..oh).step_by(lines.band) {
                    lines.lay(g, x, z, first, laid, zero);
                    for o in 0..g.o {
                        let w = &w[o * depth..][..depth];
                        for row in 0..lines.band.min(oh - first) {
                            let from = laid.add(row * g.stride[1] * line).cast_const();
                            let to = y.add(((pair * g.o + o) * od + z) * oh * ow + (first + row) * ow);
                            for at in (0..ow).step_by(WIDTH) {
                                let left = (ow - at).min(WIDTH);
                                let (from, to) = (from.add(at), to.add(at));
                                if left <= WIDTH / 2 {
                                    let sums = sums::<T, { WIDTH / 2 }>(from, places, w, zero);
                                    std::ptr::copy_nonoverlapping(sums.as_ptr(), to, left);
                                } else {
                                    let sums = sums::<T, WIDTH>(from, places, w, zero);
                                    std::ptr::copy_nonoverlapping(sums.as_ptr(), to, left);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// `y` of `x` and `w`.
///
/// # Safety
///
/// The operands have what the geometry says, which has outputs and [`fits`]; so has the result room.
pub(super) unsafe fn forward<T: FloatLane + Send + Sync + Default + 'static>(
    g: &Geometry,
    x: *const T,
    w: *const T,
    y: *mut T,
) {
    let task = by_isa!(isa(), Task<T>, fn<T: FloatLane>(call: &Call<T>, pairs: std::ops::Range<usize>, laid: *mut T, zero: T) {
        outputs::<T>(call, pairs, laid, zero)
    }, [T]);
    let lines = Lines::of(g);
    let places = lines.places(g);
    let pairs = g.batch * g.groups;
    let each = (TASK / (g.o * g.outputs() * g.depth())).max(1);
    let at = Shared((x, w, y));
    let run = |lot: usize| {
        let (x, w, y) = at.get();
        let call = Call { g, lines, places: &places, x, with: w, to: y };
        scratch::with(Slot::Windows, lines.len(g), |laid: *mut T| {
            // SAFETY: this function's contract; tasks write disjoint images.
            unsafe { task(&call, lot * each..pairs.min((lot + 1) * each), laid, T::default()) };
        });
    };
    match pairs.div_ceil(each) {
        1 => run(0),
        lots => parallel(lots, &run),
    }
}

/// Adds the gradient by a group's kernel over one image to lanes: `WIDTH` for each place.
///
/// # Safety
///
/// That of [`weight`]; `laid` has room for the lines, the result for lanes of all places.
#[inline(always)]
unsafe fn shares<T: FloatLane>(call: &Call<T>, pairs: std::ops::Range<usize>, laid: *mut T, zero: T) {
    let Call { g, lines, places, x, with: y, to: lanes } = *call;
    let [od, oh, ow] = g.output;
    let (depth, line) = (g.depth(), lines.line(g));
    for pair in pairs {
        // SAFETY: this function's contract.
        unsafe {
            let x = x.add(pair * g.c * g.inputs());
            for z in 0..od {
                for first in (0..oh).step_by(lines.band) {
                    lines.lay(g, x, z, first, laid, zero);
                    for o in 0..g.o {
                        for row in 0..lines.band.min(oh - first) {
                            let from = laid.add(row * g.stride[1] * line).cast_const();
                            let y = y.add(((pair * g.o + o) * od + z) * oh * ow + (first + row) * ow);
                            for at in (0..ow).step_by(WIDTH) {
                                let left = (ow - at).min(WIDTH);
                                let y = std::slice::from_raw_parts(y.add(at), left);
                                for (t, &place) in places.iter().enumerate() {
                                    let x = &*from.add(at + place).cast::<[T; WIDTH]>();
                                    let sums = &mut *lanes.add((o * depth + t) * WIDTH).cast::<[T; WIDTH]>();
                                    if let Ok(y) = <&[T; WIDTH]>::try_from(y) {
                                        for i in 0..WIDTH {
                                            sums[i] = y[i].fma(x[i], sums[i]);
                                        }
                                        continue;
                                    }
                                    // What lies beyond the last output may be no number.
                                    for ((sum, &x), &y) in sums.iter_mut().zip(x).zip(y) {
                                        *sum = y.fma(x, *sum);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The gradient of a group's kernel over the images `images`: `sum[t]` of so many places.
///
/// # Safety
///
/// The operands have what the geometry says, which has outputs and [`fits`].
pub(super) unsafe fn weight<T: FloatLane + Default + 'static>(
    g: &Geometry,
    group: usize,
    images: std::ops::Range<usize>,
    x: *const T,
    y: *const T,
    sum: &mut [T],
) {
    let task = by_isa!(isa(), Task<T>, fn<T: FloatLane>(call: &Call<T>, pairs: std::ops::Range<usize>, laid: *mut T, zero: T) {
        shares::<T>(call, pairs, laid, zero)
    }, [T]);
    let lines = Lines::of(g);
    let places = lines.places(g);
    let mut lanes = memory::filled(sum.len().saturating_mul(WIDTH), T::default());
    scratch::with(Slot::Windows, lines.len(g), |laid: *mut T| {
        for image in images {
            let call = Call { g, lines, places: &places, x, with: y, to: lanes.as_mut_ptr() };
            let pair = image * g.groups + group;
            // SAFETY: this function's contract.
            unsafe { task(&call, pair..pair + 1, laid, T::default()) };
        }
    });
    for (sum, lanes) in sum.iter_mut().zip(lanes.chunks_exact_mut(WIDTH)) {
        let mut half = WIDTH / 2;
        while half > 0 {
            for i in 0..half {
                lanes[i] = lanes[i].add(lanes[i + half]);
            }
            half /= 2;
        }
        *sum = lanes[0];
    }
}
