//! Where largest elements stand, and what flows back to them.

use super::super::PoolKind;
use super::super::geometry::{Axis, Geometry};
use super::element::{Element, Largest, Number};
use super::joined::{elements, join, place};
use super::{Buffers, Job, outer, parts, row};
use crate::cpu::loops::{by_isa, isa};

/// What finds where the largest elements of a row of windows stand in their plane: of equal ones the first, of NaNs the last. It is given them, where
/// windows are not adaptive, a buffer, and where to write.
type Find<E> = unsafe fn(
    &Geometry,
    *const E,
    [usize; 2],
    *const <E as Element>::Wide,
    *mut <E as Element>::Wide,
    *mut u32,
);

/// [`found`] for this processor.
fn find<E: Element>() -> Find<E> {
    by_isa!(narrow isa(), Find<E>, fn <E: Element>(
        g: &Geometry, plane: *const E, at: [usize; 2], largest: *const E::Wide, wide: *mut E::Wide, to: *mut u32
    ) {
        found(g, plane, at, largest, wide, to)
    }, [E])
}

#[inline(always)]
#[allow(clippy::eq_op)]
unsafe fn found<E: Element>(
    g: &Geometry,
    plane: *const E,
    [oz, oy]: [usize; 2],
    largest: *const E::Wide,
    wide: *mut E::Wide,
    at: *mut u32,
) {
    let [az, ay, ax] = &g.axes;
    let (n, width) = (ax.input, ax.output);
    // SAFETY: the caller's plane has the geometry's elements, its rows those of windows.
    unsafe {
        // Of a window that holds nothing but the least number, its first element.
        let begin =
            (az.window(oz).first.min(az.input - 1) * ay.input + ay.window(oy).first.min(ay.input - 1)) * n;
        for o in 0..width {
            at.add(o).write((begin + ax.window(o).first.min(n - 1)) as u32);
        }
        if ax.adaptive {
            (0..width).for_each(|o| wide.add(o).write(E::Wide::LEAST));
            for z in elements(az, oz) {
                for y in elements(ay, oy) {
                    let base = (z * ay.input + y) * n;
                    for o in 0..width {
                        for x in elements(ax, o) {
                            let mut v = E::Wide::ZERO;
                            E::widen(plane.add(base + x), &mut v, 1);
                            if v > *wide.add(o) || v != v {
                                wide.add(o).write(v);
                                at.add(o).write((base + x) as u32);
                            }
                        }
                    }
                }
            }
            return;
        }
        // Backwards, so that the first one stays.
        for z in elements(az, oz).rev() {
            for y in elements(ay, oy).rev() {
                let base = (z * ay.input + y) * n;
                let line = row(plane.add(base), n, wide);
                for place in (0..ax.kernel).rev() {
                    let (outputs, first) = ax.hits(place);
                    let count = outputs.len();
                    let (line, largest, at) =
                        (line.wrapping_add(first), largest.add(outputs.start), at.add(outputs.start));
                    let begin = (base + first) as u32;
                    match ax.stride {
                        1 => equal::<E::Wide, 1>(line, largest, at, begin, count),
                        2 => equal::<E::Wide, 2>(line, largest, at, begin, count),
                        3 => equal::<E::Wide, 3>(line, largest, at, begin, count),
                        s => {
                            for i in 0..count {
                                if *line.add(i * s) == *largest.add(i) {
                                    at.add(i).write(begin + (i * s) as u32);
                                }
                            }
                        }
                    }
                }
            }
        }
        let nan = (0..width).fold(false, |any, o| any | (*largest.add(o) != *largest.add(o)));
        if !nan {
            return;
        }
        for o in (0..width).filter(|&o| *largest.add(o) != *largest.add(o)) {
            for z in elements(az, oz) {
                for y in elements(ay, oy) {
                    for x in elements(ax, o) {
                        let i = (z * ay.input + y) * n + x;
                        let mut v = E::Wide::ZERO;
                        E::widen(plane.add(i), &mut v, 1);
                        if v != v {
                            at.add(o).write(i as u32);
                        }
                    }
                }
            }
        }
    }
}

/// Notes the places of elements that are equal to the largest.
#[inline(always)]
unsafe fn equal<T: Number, const S: usize>(
    line: *const T,
    largest: *const T,
    at: *mut u32,
    begin: u32,
    count: usize,
) {
    for i in 0..count {
        // SAFETY: the caller's rows have so many elements.
        unsafe {
            let found = *line.add(i * S) == *largest.add(i);
            *at.add(i) = if found { begin + (i * S) as u32 } else { *at.add(i) };
        }
    }
}

/// Calls `f` with each row of windows of a task, their plane, and where their largest elements stand in it.
unsafe fn each_row<E: Element>(
    job: &Job<'_>,
    task: usize,
    memory: *mut u64,
    mut f: impl FnMut(usize, usize, &[u32]),
) {
    let (join, find) = (join::<E, Largest>(), find::<E>());
    let b = Buffers::<E::Wide>::of(job.g, memory);
    for row in job.range(task) {
        let (plane, place) = place(job.g, row);
        // SAFETY: the operands and the buffers have what the geometry says.
        let at = unsafe {
            let x = job.operands[0].cast::<E>().add(plane * job.g.inputs());
            join(job.g, x, place, &b);
            find(job.g, x, place, b.result, b.wide, b.at);
            std::slice::from_raw_parts(b.at, job.g.axes[2].output)
        };
        f(row, plane, at);
    }
}

pub(super) unsafe fn positions<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let write = |row: usize, _: usize, at: &[u32]| {
        // SAFETY: the result has a number for each window; rows are disjoint.
        unsafe {
            let out = job.out.cast::<i64>().add(row * at.len());
            at.iter().enumerate().for_each(|(o, &at)| out.add(o).write(at.into()));
        }
    };
    // SAFETY: this function's contract.
    unsafe { each_row::<E>(job, task, memory, write) }
}

pub(super) unsafe fn picked<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let write = |row: usize, plane: usize, at: &[u32]| {
        // SAFETY: the operands and the result have what the geometry says; rows are disjoint.
        unsafe {
            let from = job.operands[1].cast::<E>().add(plane * job.g.inputs());
            let out = job.out.cast::<E>().add(row * at.len());
            at.iter().enumerate().for_each(|(o, &at)| out.add(o).write(*from.add(at as usize)));
        }
    };
    // SAFETY: this function's contract.
    unsafe { each_row::<E>(job, task, memory, write) }
}

/// Whether windows are two by two, side by side, and none hangs over: each element then belongs to one window at most.
fn is_in_fours(g: &Geometry) -> bool {
    let side_by_side = |axis: &Axis, size: usize| {
        !axis.adaptive
            && (axis.kernel, axis.stride, axis.padding) == (size, size, 0)
            && (axis.dilation == 1 || size == 1)
            && size * axis.output <= axis.input
    };
    let [az, ay, ax] = &g.axes;
    side_by_side(az, 1) && side_by_side(ay, 2) && side_by_side(ax, 2)
}

/// What flows back to two lines of elements from the windows of two by two over them: to the first that is the largest. Without a jump,
/// so that it is done for many windows at once. Answers with whether there was a NaN, and then nothing is right.
#[inline(always)]
#[allow(clippy::eq_op)]
unsafe fn fours<T: Number>(
    [upper, lower]: [*const T; 2],
    largest: *const T,
    shares: *const T,
    [to_upper, to_lower]: [*mut T; 2],
    width: usize,
) -> bool {
    let mut nan = false;
    for o in 0..width {
        // SAFETY: the caller's lines have two elements for each window.
        unsafe {
            let (y, share) = (*largest.add(o), T::ZERO.plus(*shares.add(o)));
            let (a, b) = (*upper.add(2 * o) == y, *upper.add(2 * o + 1) == y);
            let (c, d) = (*lower.add(2 * o) == y, *lower.add(2 * o + 1) == y);
            let to = |here: bool| if here { share } else { T::ZERO };
            to_upper.add(2 * o).write(to(a | !(b | c | d)));
            to_upper.add(2 * o + 1).write(to(b & !a));
            to_lower.add(2 * o).write(to(c & !(a | b)));
            to_lower.add(2 * o + 1).write(to(d & !(a | b | c)));
            nan |= y != y;
        }
    }
    nan
}

#[inline(always)]
pub(super) unsafe fn largest_gradient<E: Element>(job: &Job<'_>, task: usize, memory: *mut u64) {
    let g = job.g;
    let parts = parts(PoolKind::MaxGrad, g);
    let along = outer(g);
    let (axis, oh, width) = (&g.axes[along], g.axes[1].output, g.axes[2].output);
    let inner = g.inputs() / axis.input;
    let (b, find) = (Buffers::<E::Wide>::of(g, memory), find::<E>());
    let in_fours = parts == 1 && is_in_fours(g);
    for part in job.range(task) {
        let (plane, part) = (part / parts, part % parts);
        let (from, to) = (part * axis.input / parts, (part + 1) * axis.input / parts);
        let (begin, len) = (from * inner, (to - from) * inner);
        let read = axis.readers(from).start..axis.readers(to - 1).end;
        let (depths, lines) = if along == 0 { (read, 0..oh) } else { (0..g.axes[0].output, read) };
        // SAFETY: the operands and the result have what the geometry says; parts of planes are disjoint.
        unsafe {
            let x = job.operands[0].cast::<E>().add(plane * g.inputs());
            let out = job.out.cast::<E>().add(plane * g.inputs() + begin);
            let sums = if E::DIRECT { out.cast::<E::Wide>() } else { b.sums };
            for i in 0..len {
                sums.add(i).write(E::Wide::ZERO);
            }
            for oz in depths {
                for oy in lines.clone() {
                    let windows = plane * g.outputs() + (oz * oh + oy) * width;
                    let y = row(job.operands[1].cast::<E>().add(windows), width, b.result);
                    let shares = row(job.operands[2].cast::<E>().add(windows), width, b.other);
                    if in_fours {
                        let n = g.axes[2].input;
                        let line = (oz * g.axes[1].input + 2 * oy) * n;
                        let lines = [row(x.add(line), n, b.wide), row(x.add(line + n), n, b.joined)];
                        let to = sums.add(line);
                        if !fours(lines, y, shares, [to, to.add(n)], width) {
                            continue;
                        }
                        (0..2 * n).for_each(|i| to.add(i).write(E::Wide::ZERO));
                    }
                    find(g, x, [oz, oy], y, b.wide, b.at);
                    for o in 0..width {
                        // What lies in another part is that one's.
                        let i = (*b.at.add(o) as usize).wrapping_sub(begin);
                        if i < len {
                            *sums.add(i) = (*sums.add(i)).plus(*shares.add(o));
                        }
                    }
                }
            }
            if !E::DIRECT {
                E::narrow(sums, out, len);
            }
        }
    }
}
