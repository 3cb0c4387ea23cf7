//! The gradient of means: each element asks the windows that hold it.

use super::super::geometry::Axis;
use super::element::{Element, Number};
use super::joined::{divisors, elements, product};
use super::{Buffers, Job, row};

#[inline(always)]
pub(super) unsafe fn means_gradient<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let g = job.g;
    let [az, ay, ax] = &g.axes;
    let (n, width) = (ax.input, ax.output);
    let lines = az.input * ay.input;
    let reads = |axis: &Axis, o: usize, i: usize| {
        axis.adaptive
            || axis.dilation == 1
            || (i + axis.padding - o * axis.stride).is_multiple_of(axis.dilation)
    };
    let b = Buffers::<E::Wide>::of(g, memory);
    // SAFETY: the operands and the result have what the geometry says; rows are disjoint.
    unsafe {
        divisors(g, b.other);
        for row_at in job.range(task) {
            let (plane, line) = (row_at / lines, row_at % lines);
            let (z, y) = (line / ay.input, line % ay.input);
            let from = job.operands[0].cast::<E>().add(plane * g.outputs());
            (0..width).for_each(|o| b.joined.add(o).write(E::Wide::ZERO));
            for oz in az.readers(z).filter(|&o| reads(az, o, z)) {
                for oy in ay.readers(y).filter(|&o| reads(ay, o, y)) {
                    let line = row(from.add((oz * ay.output + oy) * width), width, b.wide);
                    let share = g.divisor(0, oz) * g.divisor(1, oy);
                    for o in 0..width {
                        let by = product(*b.other.add(o), share);
                        *b.joined.add(o) = (*b.joined.add(o)).plus((*line.add(o)).over(by));
                    }
                }
            }
            let out = job.out.cast::<E>().add(row_at * n);
            let to = if E::DIRECT { out.cast() } else { b.result };
            spread(ax, b.joined, to);
            if !E::DIRECT {
                E::narrow(to, out, n);
            }
        }
    }
}

/// Shares of a row of windows, given to the elements of the windows.
#[inline(always)]
pub(super) unsafe fn spread<T: Number>(axis: &Axis, from: *const T, to: *mut T) {
    // SAFETY: the caller's rows have the axis's elements.
    unsafe {
        (0..axis.input).for_each(|i| to.add(i).write(T::ZERO));
        if axis.adaptive {
            for o in 0..axis.output {
                for i in elements(axis, o) {
                    *to.add(i) = (*to.add(i)).plus(*from.add(o));
                }
            }
            return;
        }
        if axis.kernel == axis.stride && axis.dilation == 1 && axis.padding == 0 {
            let whole = (axis.input / axis.kernel).min(axis.output);
            match axis.kernel {
                2 => copies::<T, 2>(from, to, whole),
                4 => copies::<T, 4>(from, to, whole),
                k => (0..whole * k).for_each(|i| *to.add(i) = *from.add(i / k)),
            }
            for o in whole..axis.output {
                elements(axis, o).for_each(|i| *to.add(i) = *from.add(o));
            }
            return;
        }
        for place in 0..axis.kernel {
            let (outputs, first) = axis.hits(place);
            let (from, to) = (from.add(outputs.start), to.wrapping_add(first));
            match axis.stride {
                1 => (0..outputs.len()).for_each(|i| *to.add(i) = (*to.add(i)).plus(*from.add(i))),
                s => (0..outputs.len()).for_each(|i| *to.add(i * s) = (*to.add(i * s)).plus(*from.add(i))),
            }
        }
    }
}

/// Each element so many times.
#[inline(always)]
unsafe fn copies<T: Number, const TIMES: usize>(from: *const T, to: *mut T, count: usize) {
    for o in 0..count {
        for i in 0..TIMES {
            // SAFETY: the caller's rows have these elements.
            unsafe { *to.add(o * TIMES + i) = *from.add(o) };
        }
    }
}
