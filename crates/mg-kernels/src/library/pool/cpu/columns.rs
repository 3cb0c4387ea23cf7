//! Windows as columns, and columns summed.

use super::super::geometry::{Axis, Geometry};
use super::element::{Element, Number};
use super::{Buffers, Job, row};
use crate::cpu::library::fill_zero;
use std::ops::Range;

/// Calls `f` for each place of the windows and each row of outputs: with where the row of the result begins, the outputs in it that are inside,
/// and where the first of them lies in the plane; none, where the whole row hangs over.
#[inline(always)]
pub(super) fn hits(g: &Geometry, mut f: impl FnMut(usize, Range<usize>, usize)) {
    let [az, ay, ax] = &g.axes;
    let inside = |axis: &Axis, o: usize, place: usize| {
        (o * axis.stride + place * axis.dilation).checked_sub(axis.padding).filter(|&i| i < axis.input)
    };
    let mut at = 0;
    for place in 0..g.places() {
        let (kx, line) = (place % ax.kernel, place / ax.kernel);
        let (ky, kz) = (line % ay.kernel, line / ay.kernel);
        let (outputs, first) = ax.hits(kx);
        for row in 0..az.output * ay.output {
            let (z, y) = (inside(az, row / ay.output, kz), inside(ay, row % ay.output, ky));
            let (outputs, first) = match (z, y) {
                (Some(z), Some(y)) => (outputs.clone(), (z * ay.input + y) * ax.input + first),
                _ => (0..0, 0),
            };
            f(at, outputs, first);
            at += ax.output;
        }
    }
}

pub(super) unsafe fn unfold<E: Copy>(job: &Job<'_>, task: usize, _: *mut u64) {
    let g = job.g;
    let (width, stride) = (g.axes[2].output, g.axes[2].stride);
    for plane in job.range(task) {
        let from = job.operands[0].cast::<E>().wrapping_add(plane * g.inputs());
        let out = job.out.cast::<E>().wrapping_add(plane * g.places() * g.outputs());
        // SAFETY: the operand and the result have what the geometry says; planes are disjoint.
        hits(g, |at, inside, first| unsafe {
            let to = out.add(at);
            fill_zero(to.cast(), inside.start * size_of::<E>());
            fill_zero(to.add(inside.end).cast(), (width - inside.end) * size_of::<E>());
            let (from, to) = (from.wrapping_add(first), to.add(inside.start));
            if stride == 1 {
                std::ptr::copy_nonoverlapping(from, to, inside.len());
            } else {
                for i in 0..inside.len() {
                    to.add(i).write(*from.add(i * stride));
                }
            }
        });
    }
}

#[inline(always)]
pub(super) unsafe fn fold<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let g = job.g;
    let (width, stride, len) = (g.axes[2].output, g.axes[2].stride, g.inputs());
    let b = Buffers::<E::Wide>::of(g, memory);
    for plane in job.range(task) {
        let from = job.operands[0].cast::<E>().wrapping_add(plane * g.places() * g.outputs());
        let out = job.out.cast::<E>().wrapping_add(plane * len);
        let sums = if E::DIRECT { out.cast::<E::Wide>() } else { b.sums };
        // SAFETY: the operand and the result have what the geometry says; planes are disjoint.
        unsafe {
            for i in 0..len {
                sums.add(i).write(E::Wide::ZERO);
            }
            hits(g, |at, inside, first| {
                let line = row(from.add(at), width, b.wide).add(inside.start);
                let to = sums.wrapping_add(first);
                if stride == 1 {
                    for i in 0..inside.len() {
                        *to.add(i) = (*to.add(i)).plus(*line.add(i));
                    }
                } else {
                    for i in 0..inside.len() {
                        *to.add(i * stride) = (*to.add(i * stride)).plus(*line.add(i));
                    }
                }
            });
            if !E::DIRECT {
                E::narrow(sums, out, len);
            }
        }
    }
}
