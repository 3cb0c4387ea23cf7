//! Weighted sums of elements by index, stretch by stretch.

use super::Blend;
use crate::cpu::library::Shared;
use crate::cpu::pool::{num_threads, parallel};
use crate::library::Operand;
use crate::library::gather::cpu::stretches;
use std::array::from_fn;
use std::ops::{Add, Mul};

/// Elements from which the work is divided among threads.
const PARALLEL: usize = 1 << 16;
/// Indices, weights and what counts of all taps, and `x`.
const LAYOUTS: usize = 3 * Blend::MOST + 1;

/// A tap along a stretch: where its operands begin, and how far apart they follow.
struct Tap<T> {
    index: (*const i64, isize),
    weight: (*const T, isize),
    inside: Option<(*const u8, isize)>,
}

/// Adds a tap to `n` sums, or begins them.
///
/// # Safety
///
/// All of these are there, but where an index is out of range.
#[inline(always)]
unsafe fn add<T>(
    n: usize,
    (x, by, along, limit): (*const T, isize, isize, u64),
    tap: &Tap<T>,
    begins: bool,
    out: *mut T,
) where
    T: Copy + Default + Add<Output = T> + Mul<Output = T>,
{
    // SAFETY: this function's contract.
    unsafe {
        let counts = |j: isize| tap.inside.is_none_or(|(inside, by)| *inside.offset(j * by) != 0);
        let read = |j: isize| {
            let index = *tap.index.0.offset(j * tap.index.1);
            let there = (index as u64) < limit && counts(j);
            if there { *x.offset(j * by + index as isize * along) } else { T::default() }
        };
        let keep = |j: usize, part: T| {
            let sum = out.add(j);
            sum.write(if begins { part } else { *sum + part });
        };
        let first = *tap.index.0;
        if tap.index.1 == 0 && tap.weight.1 == 0 && by == 1 && tap.inside.is_none() && (first as u64) < limit
        {
            // A row that has one index.
            let (row, weight) = (x.offset(first as isize * along), *tap.weight.0);
            (0..n).for_each(|j| keep(j, *row.add(j) * weight));
        } else {
            (0..n).for_each(|j| keep(j, read(j as isize) * *tap.weight.0.offset(j as isize * tap.weight.1)));
        }
    }
}

/// # Safety
///
/// As [`Kernel::cpu`](crate::library::Kernel::cpu) of a kernel whose elements are `T`.
pub(super) unsafe fn blend<T>(kernel: &Blend, operands: &[Operand], out: *mut T)
where
    T: Copy + Default + Add<Output = T> + Mul<Output = T>,
{
    let (axis, taps) = (usize::from(kernel.axis), usize::from(kernel.taps));
    let [x, behind @ ..] = operands else { return };
    let shape = *behind[0].layout.shape();
    let count = shape.numel();
    if count == 0 {
        return;
    }
    // `x` comes last; what is not there is walked as it is.
    let layouts: [_; LAYOUTS] =
        from_fn(|k| behind.get(k).filter(|_| k + 1 < LAYOUTS).map_or(&x.layout, |o| &o.layout));
    let bases: [_; LAYOUTS] =
        from_fn(|k| Shared(behind.get(k).filter(|_| k + 1 < LAYOUTS).map_or(x.base, |o| o.base)));
    let (along, limit, out) = (x.layout.strides()[axis], x.layout.shape()[axis] as u64, Shared(out));
    let part = |from: usize, to: usize| {
        stretches(&shape, layouts, axis, from..to, |position, n, at, by| {
            // SAFETY: by this function's contract; stretches of the result are disjoint.
            unsafe {
                let source = bases[LAYOUTS - 1].get().cast::<T>().offset(at[LAYOUTS - 1]);
                for t in 0..taps {
                    let (i, w, m) = (t, taps + t, 2 * taps + t);
                    let tap = Tap {
                        index: (bases[i].get().cast::<i64>().offset(at[i]), by[i]),
                        weight: (bases[w].get().cast::<T>().offset(at[w]), by[w]),
                        inside: kernel.asks.then(|| (bases[m].get().offset(at[m]), by[m])),
                    };
                    add(n, (source, by[LAYOUTS - 1], along, limit), &tap, t == 0, out.get().add(position));
                }
            }
            true
        });
    };
    if count < PARALLEL || num_threads() == 1 {
        part(0, count);
    } else {
        let chunk = count.div_ceil(64);
        parallel(count.div_ceil(chunk), &|t| part(t * chunk, ((t + 1) * chunk).min(count)));
    }
}
