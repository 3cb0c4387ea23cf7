//! Windows whose elements are joined: largest ones and means.

use super::super::MAX_AXES;
use super::super::geometry::{Axis, Geometry};
use super::element::{Element, Join, Largest, Number, Sum};
use super::{Buffers, Job, row};
use crate::cpu::loops::{by_isa, isa};

/// The elements of a window along an axis, one by one.
#[inline(always)]
pub(super) fn elements(axis: &Axis, output: usize) -> impl DoubleEndedIterator<Item = usize> {
    let window = axis.window(output);
    let step = if axis.adaptive { 1 } else { axis.dilation };
    (0..window.count).map(move |j| window.first + j * step)
}

/// Windows over a joined row, `K` places that are `S` apart and side by side.
#[inline(always)]
pub(super) unsafe fn side_by_side<T: Number, J: Join, const K: usize, const S: usize>(
    axis: &Axis,
    from: *const T,
    to: *mut T,
) {
    let start = axis.padding.div_ceil(S).min(axis.output);
    let end = match (axis.input + axis.padding).checked_sub(K) {
        Some(last) => (last / S + 1).clamp(start, axis.output),
        None => start,
    };
    // SAFETY: the windows of these outputs lie on the row.
    unsafe {
        let first = from.wrapping_add(start * S).wrapping_sub(axis.padding);
        let to_first = to.add(start);
        for i in 0..end - start {
            let at = first.add(i * S);
            let mut v = *at;
            for k in 1..K {
                v = J::join(v, *at.add(k));
            }
            *to_first.add(i) = v;
        }
        for o in (0..start).chain(end..axis.output) {
            let all = elements(axis, o).fold(J::none(), |v, i| J::join(v, *from.add(i)));
            to.add(o).write(all);
        }
    }
}

/// Windows over a joined row.
#[inline(always)]
pub(super) unsafe fn across<T: Number, J: Join>(axis: &Axis, from: *const T, to: *mut T) {
    // SAFETY: the caller's rows have the axis's elements.
    unsafe {
        match (axis.adaptive, axis.dilation, axis.kernel, axis.stride) {
            (false, 1, 2, 2) => side_by_side::<T, J, 2, 2>(axis, from, to),
            (false, 1, 3, 2) => side_by_side::<T, J, 3, 2>(axis, from, to),
            (false, 1, 3, 1) => side_by_side::<T, J, 3, 1>(axis, from, to),
            (false, 1, 2, 1) => side_by_side::<T, J, 2, 1>(axis, from, to),
            (false, 1, 3, 3) => side_by_side::<T, J, 3, 3>(axis, from, to),
            (false, 1, 4, 4) => side_by_side::<T, J, 4, 4>(axis, from, to),
            (false, _, _, stride) => {
                for o in 0..axis.output {
                    to.add(o).write(J::none());
                }
                for place in 0..axis.kernel {
                    let (outputs, first) = axis.hits(place);
                    let (from, to) = (from.wrapping_add(first), to.add(outputs.start));
                    if stride == 1 {
                        for i in 0..outputs.len() {
                            *to.add(i) = J::join(*to.add(i), *from.add(i));
                        }
                    } else {
                        for i in 0..outputs.len() {
                            *to.add(i) = J::join(*to.add(i), *from.add(i * stride));
                        }
                    }
                }
            }
            (true, ..) => {
                for o in 0..axis.output {
                    let all = elements(axis, o).fold(J::none(), |v, i| J::join(v, *from.add(i)));
                    to.add(o).write(all);
                }
            }
        }
    }
}

/// What joins the elements of each window of a row: into `b.result`.
pub(super) type Joined<E> = unsafe fn(&Geometry, *const E, [usize; 2], &Buffers<<E as Element>::Wide>);

/// [`joined`] for this processor.
pub(super) fn join<E: Element, J: Join>() -> Joined<E> {
    by_isa!(narrow isa(), Joined<E>, fn <E: Element, J: Join>(g: &Geometry, plane: *const E, at: [usize; 2], b: &Buffers<E::Wide>) {
        joined::<E, J>(g, plane, at, b)
    }, [E, J])
}

/// A row of windows, each joined.
#[inline(always)]
unsafe fn joined<E: Element, J: Join>(
    g: &Geometry,
    plane: *const E,
    [oz, oy]: [usize; 2],
    b: &Buffers<E::Wide>,
) {
    let [az, ay, ax] = &g.axes;
    let n = ax.input;
    // SAFETY: the caller's plane has the geometry's elements, the buffers those of a row.
    unsafe {
        let mut so_far: *const E::Wide = std::ptr::null();
        for z in elements(az, oz) {
            for y in elements(ay, oy) {
                let line = row(plane.add((z * ay.input + y) * n), n, b.wide);
                if so_far.is_null() {
                    so_far = line;
                    if !E::DIRECT {
                        std::ptr::copy_nonoverlapping(line, b.joined, n);
                        so_far = b.joined;
                    }
                    continue;
                }
                for i in 0..n {
                    *b.joined.add(i) = J::join(*so_far.add(i), *line.add(i));
                }
                so_far = b.joined;
            }
        }
        if so_far.is_null() {
            (0..n).for_each(|i| b.joined.add(i).write(J::none()));
            so_far = b.joined;
        }
        across::<E::Wide, J>(ax, so_far, b.result);
    }
}

/// Where a row of windows is: its plane, and the outputs before the last axis.
#[inline(always)]
pub(super) fn place(g: &Geometry, row: usize) -> (usize, [usize; 2]) {
    let (oh, lines) = (g.axes[1].output, g.axes[0].output * g.axes[1].output);
    let (plane, line) = (row / lines, row % lines);
    (plane, [line / oh, line % oh])
}

pub(super) unsafe fn largest<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let g = job.g;
    let n = g.axes[2].output;
    let (b, join) = (Buffers::<E::Wide>::of(g, memory), join::<E, Largest>());
    // SAFETY: the operands and the result have what the geometry says; rows are disjoint.
    unsafe {
        for row in job.range(task) {
            let (plane, at) = place(g, row);
            join(g, job.operands[0].cast::<E>().add(plane * g.inputs()), at, &b);
            E::narrow(b.result, job.out.cast::<E>().add(row * n), n);
        }
    }
}

/// What the windows of a row are divided by along the last axis.
#[inline(always)]
pub(super) unsafe fn divisors<T: Number>(g: &Geometry, to: *mut T) {
    for o in 0..g.axes[2].output {
        // SAFETY: the caller's buffer has room for a row of outputs.
        unsafe { to.add(o).write(T::of(g.divisor(MAX_AXES - 1, o))) };
    }
}

pub(super) unsafe fn means<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let g = job.g;
    let n = g.axes[2].output;
    let (b, join) = (Buffers::<E::Wide>::of(g, memory), join::<E, Sum>());
    // SAFETY: the operands and the result have what the geometry says; rows are disjoint.
    unsafe {
        divisors(g, b.other);
        for row in job.range(task) {
            let (plane, at) = place(g, row);
            join(g, job.operands[0].cast::<E>().add(plane * g.inputs()), at, &b);
            let share = g.divisor(0, at[0]) * g.divisor(1, at[1]);
            for o in 0..n {
                // Products of small integers are exact.
                let by = product(*b.other.add(o), share);
                *b.result.add(o) = (*b.result.add(o)).over(by);
            }
            E::narrow(b.result, job.out.cast::<E>().add(row * n), n);
        }
    }
}

/// A divisor along the last axis, times what it is along the others.
#[inline(always)]
pub(super) fn product<T: Number>(by: T, times: i64) -> T {
    if times == 1 { by } else { by.times(T::of(times)) }
}
