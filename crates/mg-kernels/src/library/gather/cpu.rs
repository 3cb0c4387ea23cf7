//! Elements by index, and their adjoint: sums by index.

use super::rows::{repeated, rows as together};
use crate::cpu::library::indices::common;
use crate::cpu::library::{Shared, fill_zero, in_ranges};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};
use crate::finding::Finding;
use mg_device::{DType, Float, Layout, MAX_RANK, Shape, Width, bf16, f16};
use std::ops::Range;
use std::sync::Mutex;

/// Elements from which the work is divided among threads.
const PARALLEL: usize = 1 << 18;

/// How positions of an indexed operand are walked: rows of neighbouring elements that share an index.
struct Rows {
    /// The axes around the rows; the one that is indexed is among them.
    shape: Shape,
    /// Elements in a row, all with one index.
    row: usize,
    /// How far apart they lie in the operand: one element, or they are one.
    step: usize,
}

fn rows(shape: &Shape, axis: usize, index: &Layout, operand: &Layout) -> Rows {
    let (first, row, step) = match repeated(shape, axis, index, operand) {
        // There is nothing to be walked.
        _ if shape.contains(&0) => (shape.rank(), 1, 1),
        (first, row, step @ (0 | 1)) => (first, row, step as usize),
        // At other distances: each element by itself.
        _ => (together(shape, axis, index, operand).0, 1, 1),
    };
    Rows { shape: Shape::of(&shape[..first]), row, step }
}

/// Stretches of positions along the innermost axis, one after the other, within a range of positions in row-major order: `run(position,
/// length, offsets, steps)` is given where the first lies in each layout and how far apart the others follow, until it answers with
/// `false`. In the last layout, positions stay where they are along `axis`.
#[inline(always)]
pub(in crate::library) fn stretches<const N: usize>(
    shape: &Shape,
    layouts: [&Layout; N],
    axis: usize,
    range: Range<usize>,
    mut run: impl FnMut(usize, usize, [isize; N], [isize; N]) -> bool,
) {
    let Some(inner) = shape.rank().checked_sub(1).filter(|_| !range.is_empty()) else { return };
    let step = |k: usize, d: usize| if k + 1 == N && d == axis { 0 } else { layouts[k].strides()[d] };
    let mut index = [0usize; MAX_RANK];
    let mut rest = range.start;
    for d in (0..=inner).rev() {
        (index[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    let mut at: [isize; N] = std::array::from_fn(|k| {
        layouts[k].offset() as isize + (0..=inner).map(|d| index[d] as isize * step(k, d)).sum::<isize>()
    });
    let by: [isize; N] = std::array::from_fn(|k| step(k, inner));
    let mut position = range.start;
    while position < range.end {
        let n = (shape[inner] - index[inner]).min(range.end - position);
        if !run(position, n, at, by) {
            return;
        }
        position += n;
        for (at, by) in at.iter_mut().zip(by) {
            *at -= index[inner] as isize * by;
        }
        index[inner] = 0;
        for d in (0..inner).rev() {
            index[d] += 1;
            let ends = index[d] == shape[d];
            for (k, at) in at.iter_mut().enumerate() {
                *at += if ends { 1 - shape[d] as isize } else { 1 } * step(k, d);
            }
            if !ends {
                break;
            }
            index[d] = 0;
        }
    }
}

/// A position that, if it `wraps`, may count from the end.
#[inline(always)]
fn wrapped(given: i64, limit: u64, wraps: bool) -> i64 {
    if wraps && given < 0 { given.wrapping_add(limit as i64) } else { given }
}

/// What is picked along a stretch: `out[j] = x[j · by + index[j · by_index] · along]`. Answers with the first index that is not below
/// `limit`, and its position; negative ones count from the end, if it `wraps`.
///
/// # Safety
///
/// All of these are there, but where an index is out of range.
#[inline(always)]
unsafe fn pick<T: Copy>(
    n: usize,
    (x, by, along): (*const T, isize, isize),
    (index, by_index): (*const i64, isize),
    (limit, wraps): (u64, bool),
    out: *mut T,
) -> Option<(usize, i64)> {
    for j in 0..n {
        // SAFETY: this function's contract. A row of small elements need not lie at a multiple of its size.
        unsafe {
            let given = *index.offset(j as isize * by_index);
            let i = wrapped(given, limit, wraps);
            if i as u64 >= limit {
                return Some((j, given));
            }
            out.add(j).write_unaligned(x.offset(j as isize * by + i as isize * along).read_unaligned());
        }
    }
    None
}

/// `out[…, j, …] = x[…, index[…, j, …], …]` along `axis`; `out` is dense and has the index's shape, elements have
/// `size` bytes (1, 2, 4 or 8). Pointers are the buffers' starts. Negative indices count from the end, if it `wraps`.
///
/// # Errors
///
/// The first index that is out of range (in memory order of the result, where one thread works).
///
/// # Safety
///
/// `x` and `index` (i64) are valid for reads at all offsets of their layouts, `out` for writes of all elements; axes other
/// than `axis` agree.
#[allow(clippy::too_many_arguments)] // an operand is an address and a layout
pub unsafe fn gather(
    size: usize,
    x: *const u8,
    lx: &Layout,
    index: *const u8,
    lindex: &Layout,
    axis: usize,
    wraps: bool,
    out: *mut u8,
) -> Result<(), Finding> {
    let shape = *lindex.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let (first, row) = together(&shape, axis, lindex, lx);
    let shape = Shape::of(&shape[..first]);
    let n = shape.numel();
    let limit = lx.shape()[axis];
    let (x, index, out) = (Shared(x), Shared(index.cast::<i64>()), Shared(out));
    let failure = Mutex::new(None);
    let bytes = row * size;
    let along = lx.strides()[axis];
    in_ranges(n, n * row >= PARALLEL, &|range| {
        stretches(&shape, [lindex, lx], axis, range, |position, n, [at_index, at], [by_index, by]| {
            // SAFETY: by this function's contract; rows of the result are disjoint.
            let found = unsafe {
                let index = (index.get().offset(at_index), by_index);
                let src = x.get().offset(at * size as isize);
                let to = out.get().add(position * bytes);
                macro_rules! cells {
                    ($T:ty) => {
                        pick::<$T>(n, (src.cast(), by, along), index, (limit as u64, wraps), to.cast())
                    };
                }
                match (row, size) {
                    (1, 1) => cells!(u8),
                    (1, 2) => cells!(u16),
                    (1, 4) => cells!(u32),
                    (1, _) => cells!(u64),
                    _ => (0..n).find_map(|j| {
                        let given = *index.0.offset(j as isize * by_index);
                        let i = wrapped(given, limit as u64, wraps);
                        if i as u64 >= limit as u64 {
                            return Some((j, given));
                        }
                        let src = src.offset((j as isize * by + i as isize * along) * size as isize);
                        std::ptr::copy_nonoverlapping(src, to.add(j * bytes), bytes);
                        None
                    }),
                }
            };
            if let Some((j, index)) = found
                && let Ok(mut failure) = failure.lock()
            {
                // The first in the index's order, whichever thread is first.
                let at = position + j;
                if failure.as_ref().is_none_or(|&(first, _)| at < first) {
                    *failure = Some((at, Finding::Index { index, size: limit }));
                }
            }
            found.is_none()
        });
    });
    failure.into_inner().unwrap_or(None).map_or(Ok(()), |(_, found)| Err(found))
}

/// Indices that are checked together.
const BLOCK: usize = 512;

/// What can be added up by index.
trait Sum: Copy {
    /// What sums are kept in.
    type Acc: Copy + Default;
    /// Whether that is the type itself, so that sums are made where they are to be.
    const IN_PLACE: bool;
    /// Whether sums are the same in whatever order they are made, in place.
    const ANY_ORDER: bool;
    fn add(acc: Self::Acc, v: Self) -> Self::Acc;
    fn finish(acc: Self::Acc) -> Self;
}

macro_rules! sum_in {
    ($($T:ty, $Acc:ty, $in_place:literal, $any_order:literal, |$a:ident, $v:ident| $add:expr, |$f:ident| $finish:expr;)*) => {
        $(impl Sum for $T {
            type Acc = $Acc;
            const IN_PLACE: bool = $in_place;
            const ANY_ORDER: bool = $any_order;
            #[inline(always)]
            fn add($a: $Acc, $v: $T) -> $Acc {
                $add
            }
            #[inline(always)]
            fn finish($f: $Acc) -> $T {
                $finish
            }
        })*
    };
}
sum_in! {
    f32, f32, true, false, |a, v| a + v, |a| a;
    f64, f64, true, false, |a, v| a + v, |a| a;
    f16, f32, false, false, |a, v| a + v.to_f32(), |a| f16::from_f32(a);
    bf16, f32, false, false, |a, v| a + v.to_f32(), |a| bf16::from_f32(a);
    i64, i64, true, true, |a, v| a.wrapping_add(v), |a| a;
    i32, i32, true, true, |a, v| a.wrapping_add(v), |a| a;
    i16, i16, true, true, |a, v| a.wrapping_add(v), |a| a;
    u8, u8, true, true, |a, v| a.wrapping_add(v), |a| a;
}

/// Zeros of `size` positions along `axis`, with `x[…, j, …]` added at `index[…, j, …]` in order of j; `out` is dense.
/// Half types are added in f32 and rounded once; integers wrap, bool is added as u8 is. Pointers are the buffers' starts.
///
/// # Errors
///
/// An index that is out of range.
///
/// # Safety
///
/// As [`gather`]; `x` and `index` have one shape.
#[allow(clippy::too_many_arguments)]
pub unsafe fn scatter_add(
    dtype: DType,
    x: *const u8,
    lx: &Layout,
    index: *const u8,
    lindex: &Layout,
    axis: usize,
    size: usize,
    out: *mut u8,
) -> Result<(), Finding> {
    macro_rules! go {
        ($T:ty) => {
            // SAFETY: this function's contract.
            unsafe { scatter_as::<$T>(x.cast(), lx, index.cast(), lindex, axis, size, out.cast()) }
        };
    }
    match (dtype.float(), dtype.width()) {
        (Some(Float::F32), _) => go!(f32),
        (Some(Float::F64), _) => go!(f64),
        (Some(Float::F16), _) => go!(f16),
        (Some(Float::BF16), _) => go!(bf16),
        // Sums of integers have the same bits with a sign or without.
        (None, Width::W64) => go!(i64),
        (None, Width::W32) => go!(i32),
        (None, Width::W16) => go!(i16),
        (None, Width::W8) => go!(u8),
    }
}

unsafe fn scatter_as<T: Sum>(
    x: *const T,
    lx: &Layout,
    index: *const i64,
    lindex: &Layout,
    axis: usize,
    size: usize,
    out: *mut T,
) -> Result<(), Finding> {
    let shape = *lx.shape();
    let target = Layout::contiguous(shape.with(axis, size));
    let total = target.numel();
    let mut wide: Vec<T::Acc> = if T::IN_PLACE { vec![] } else { memory::filled(total, T::Acc::default()) };
    let sums = Shared(if T::IN_PLACE { out.cast::<T::Acc>() } else { wide.as_mut_ptr() });
    if T::IN_PLACE {
        // SAFETY: `out` has room for every element of the target; all bits of a zero are zeros.
        unsafe { fill_zero(out.cast(), total * size_of::<T>()) };
    }
    let Rows { shape: around, row, step } = rows(&shape, axis, lindex, lx);
    let n = around.numel();
    let (x, index) = (Shared(x), Shared(index));
    let failure = Mutex::new(None);
    let along = target.strides()[axis];
    let (add, threads) = (row_of::<T>(), num_threads());
    // Rows of one target add in order: threads take stripes of a row's columns, or some of the places. Where the order is none, some of the rows.
    let some = |columns: Range<usize>,
                places: Range<usize>,
                rows: Range<usize>,
                sums: Shared<*mut T::Acc>| {
        let layouts = [lindex, lx, &target];
        stretches(&around, layouts, axis, rows, |_, n, [at_index, at_x, at], [by_index, by_x, by]| {
            // SAFETY: the callers' contract; stripes of the sums are disjoint.
            unsafe {
                let (index, x) = (index.get().offset(at_index), x.get().offset(at_x));
                let sums = sums.get().offset(at);
                for first in (0..n).step_by(BLOCK) {
                    let block = first as isize..n.min(first + BLOCK) as isize;
                    if let Some(found) = outside(index, by_index, block.clone(), size) {
                        if let Ok(mut failure) = failure.lock() {
                            failure.get_or_insert(Finding::Index { index: found, size });
                        }
                        return false;
                    }
                    let all_places = places.len() == size;
                    for j in block {
                        let i = *index.offset(j * by_index);
                        if !all_places && !places.contains(&(i as usize)) {
                            continue;
                        }
                        let (dst, src) = (sums.offset(j * by + i as isize * along), x.offset(j * by_x));
                        if row == 1 {
                            *dst = T::add(*dst, *src);
                        } else {
                            add(dst.add(columns.start), src.add(columns.start * step), step, columns.len());
                        }
                    }
                }
            }
            true
        });
    };
    let stripe = |columns: Range<usize>, places: Range<usize>| some(columns, places, 0..n, sums);
    match (row, n * row < PARALLEL || threads == 1) {
        (_, true) => stripe(0..row, 0..size),
        (1, _) if T::ANY_ORDER && total.saturating_mul(2 * threads) <= n => {
            let own = (0..threads).map(|_| memory::filled(total, T::Acc::default()));
            let mut own: Vec<Vec<T::Acc>> = memory::collected(own);
            let of = Shared(own.as_mut_ptr());
            parallel(threads, &|t| {
                // SAFETY: each thread has sums of its own.
                let own = unsafe { &mut *of.get().add(t) };
                some(0..1, 0..size, n * t / threads..n * (t + 1) / threads, Shared(own.as_mut_ptr()));
            });
            for own in &own {
                // SAFETY: both are as many sums; those that are made in place are of the type itself.
                unsafe { add(sums.get(), own.as_ptr().cast(), 1, total) };
            }
        }
        (..32, _) => parallel(threads, &|t| stripe(0..row, size * t / threads..size * (t + 1) / threads)),
        _ => {
            let width = row.div_ceil(16).next_multiple_of(16);
            parallel(row.div_ceil(width), &|t| stripe(t * width..((t + 1) * width).min(row), 0..size));
        }
    }
    if let Some(found) = failure.into_inner().unwrap_or(None) {
        return Err(found);
    }
    for (i, sum) in wide.into_iter().enumerate() {
        // SAFETY: `out` has room for every element of the target.
        unsafe { *out.add(i) = T::finish(sum) };
    }
    Ok(())
}

/// The first index of a block that is none of `size` positions.
///
/// # Safety
///
/// The block's indices are there.
#[inline(always)]
unsafe fn outside(index: *const i64, by: isize, block: Range<isize>, size: usize) -> Option<i64> {
    let last = size as i64 - 1;
    // SAFETY: this function's contract.
    let below = unsafe {
        match by {
            1 => {
                let some = std::slice::from_raw_parts(index.offset(block.start), block.len());
                common(some, &(0..size as i64))[0]
            }
            _ => block.clone().fold(0, |outside, j| {
                let i = *index.offset(j * by);
                outside | i | last.wrapping_sub(i)
            }),
        }
    };
    if below >= 0 {
        return None;
    }
    // SAFETY: as above.
    block.map(|j| unsafe { *index.offset(j * by) }).find(|i| !(0..=last).contains(i))
}

/// Adds a row, whose elements lie `step` (0 or 1) apart, to sums.
type AddRow<T> = unsafe fn(sums: *mut <T as Sum>::Acc, x: *const T, step: usize, n: usize);

fn row_of<T: Sum>() -> AddRow<T> {
    by_isa!(narrow isa(), AddRow<T>, fn<T: Sum>(sums: *mut <T as Sum>::Acc, x: *const T, step: usize, n: usize) {
        let sums = std::slice::from_raw_parts_mut(sums, n);
        if step == 0 {
            let x = *x;
            sums.iter_mut().for_each(|sum| *sum = T::add(*sum, x));
        } else {
            let x = std::slice::from_raw_parts(x, n);
            sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum = T::add(*sum, x));
        }
    }, [T])
}
