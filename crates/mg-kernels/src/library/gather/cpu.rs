//! Elements by index, and their adjoint: sums by index.

use super::rows::rows as together;
use crate::cpu::library::Shared;
use crate::cpu::pool::{num_threads, parallel};
use crate::cpu::run::OutOfRange;
use mg_device::{DType, Layout, MAX_RANK, Shape, bf16, f16};
use std::sync::Mutex;

/// Elements from which the work is divided among threads.
const PARALLEL: usize = 1 << 18;

/// How positions of an indexed operand are walked: rows of neighbouring elements that share an index.
struct Rows {
    /// The axes around the rows.
    shape: Shape,
    /// Elements in a row, all with one index, dense in the operand.
    row: usize,
}

fn rows(shape: &Shape, axis: usize, index: &Layout, operand: &Layout) -> Rows {
    let (first, row) = together(shape, axis, index, operand);
    Rows { shape: Shape::of(&shape[..first]), row }
}

/// The offset of a row-major position over the first axes of a layout, without the axis that is indexed.
fn offset(position: usize, shape: &Shape, layout: &Layout, without: Option<usize>) -> isize {
    let mut position = position;
    let mut at = layout.offset() as isize;
    for d in (0..shape.rank()).rev() {
        let i = (position % shape[d]) as isize;
        position /= shape[d];
        if Some(d) != without {
            at += i * layout.strides()[d];
        }
    }
    at
}

/// Positions of an index, one after the other: where they lie in it, and in the operand where the axis is at its beginning.
struct Walk<'a> {
    sizes: &'a [usize],
    steps: [&'a [isize]; 2],
    /// Along it the operand stays where it is.
    axis: usize,
    position: [usize; MAX_RANK],
    at: [isize; 2],
}

impl<'a> Walk<'a> {
    fn new(from: usize, shape: &'a Shape, layouts: [&'a Layout; 2], axis: usize) -> Walk<'a> {
        let mut position = [0; MAX_RANK];
        let mut rest = from;
        for (at, &n) in position[..shape.rank()].iter_mut().zip(shape.iter()).rev() {
            (*at, rest) = (rest % n, rest / n);
        }
        let at = [offset(from, shape, layouts[0], None), offset(from, shape, layouts[1], Some(axis))];
        Walk { sizes: shape, steps: layouts.map(Layout::strides), axis, position, at }
    }

    #[inline]
    fn next(&mut self) {
        for d in (0..self.sizes.len()).rev() {
            let n = self.sizes[d];
            let steps = [self.steps[0][d], if d == self.axis { 0 } else { self.steps[1][d] }];
            self.position[d] += 1;
            if self.position[d] < n {
                self.at = [self.at[0] + steps[0], self.at[1] + steps[1]];
                return;
            }
            self.position[d] = 0;
            let back = n as isize - 1;
            self.at = [self.at[0] - back * steps[0], self.at[1] - back * steps[1]];
        }
    }
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
pub unsafe fn gather(
    size: usize,
    x: *const u8,
    lx: &Layout,
    index: *const u8,
    lindex: &Layout,
    axis: usize,
    wraps: bool,
    out: *mut u8,
) -> Result<(), OutOfRange> {
    let shape = *lindex.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let rows = rows(&shape, axis, lindex, lx);
    let n = rows.shape.numel();
    let limit = lx.shape()[axis] as i64;
    let (x, index, out) = (Shared(x), Shared(index.cast::<i64>()), Shared(out));
    let failure = Mutex::new(None);
    let bytes = rows.row * size;
    let along = lx.strides()[axis];
    let part = |from: usize, to: usize| {
        let mut walk = Walk::new(from, &rows.shape, [lindex, lx], axis);
        for position in from..to {
            let [at_index, at] = walk.at;
            walk.next();
            // SAFETY: by this function's contract; rows of the result are disjoint.
            unsafe {
                let given = *index.get().offset(at_index);
                let i = if wraps && given < 0 { given.wrapping_add(limit) } else { given };
                if i < 0 || i >= limit {
                    if let Ok(mut failure) = failure.lock() {
                        // The first in the index's order, whichever thread is first.
                        if failure.as_ref().is_none_or(|&(at, _)| position < at) {
                            *failure = Some((position, OutOfRange { index: given, size: limit }));
                        }
                    }
                    return;
                }
                let src = x.get().offset((at + i as isize * along) * size as isize);
                let to = out.get().add(position * bytes);
                match bytes {
                    // One element: a call would take longer than the copy.
                    4 => std::ptr::copy_nonoverlapping(src.cast::<[u8; 4]>(), to.cast(), 1),
                    8 => std::ptr::copy_nonoverlapping(src.cast::<[u8; 8]>(), to.cast(), 1),
                    _ => std::ptr::copy_nonoverlapping(src, to, bytes),
                }
            }
        }
    };
    if n * rows.row < PARALLEL || num_threads() == 1 {
        part(0, n);
    } else {
        let chunk = n.div_ceil(64);
        parallel(n.div_ceil(chunk), &|t| part(t * chunk, ((t + 1) * chunk).min(n)));
    }
    failure.into_inner().unwrap_or(None).map_or(Ok(()), |(_, found)| Err(found))
}

/// What can be added up by index.
trait Sum: Copy {
    /// What sums are kept in.
    type Acc: Copy + Default;
    fn add(acc: Self::Acc, v: Self) -> Self::Acc;
    fn finish(acc: Self::Acc) -> Self;
}

macro_rules! sum_in {
    ($($T:ty, $Acc:ty, |$a:ident, $v:ident| $add:expr, |$f:ident| $finish:expr;)*) => {
        $(impl Sum for $T {
            type Acc = $Acc;
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
    f32, f32, |a, v| a + v, |a| a;
    f64, f64, |a, v| a + v, |a| a;
    f16, f32, |a, v| a + v.to_f32(), |a| f16::from_f32(a);
    bf16, f32, |a, v| a + v.to_f32(), |a| bf16::from_f32(a);
    i64, i64, |a, v| a.wrapping_add(v), |a| a;
    i32, i32, |a, v| a.wrapping_add(v), |a| a;
    i16, i16, |a, v| a.wrapping_add(v), |a| a;
    u8, u8, |a, v| a.wrapping_add(v), |a| a;
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
) -> Result<(), OutOfRange> {
    macro_rules! go {
        ($T:ty) => {
            // SAFETY: this function's contract.
            unsafe { scatter_as::<$T>(x.cast(), lx, index.cast(), lindex, axis, size, out.cast()) }
        };
    }
    match dtype {
        DType::F32 => go!(f32),
        DType::F64 => go!(f64),
        DType::F16 => go!(f16),
        DType::BF16 => go!(bf16),
        DType::I64 | DType::U64 => go!(i64),
        DType::I32 | DType::U32 => go!(i32),
        DType::I16 | DType::U16 => go!(i16),
        DType::I8 | DType::U8 | DType::Bool => go!(u8),
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
) -> Result<(), OutOfRange> {
    let shape = *lx.shape();
    let target = Layout::contiguous(shape.with(axis, size));
    let mut sums: Vec<T::Acc> = vec![T::Acc::default(); target.numel()];
    let rows = rows(&shape, axis, lindex, lx);
    // Rows of one target add in order; stripes of a row's columns never share a target, so threads take stripes.
    let n = rows.shape.numel();
    let sums_at = Shared(sums.as_mut_ptr());
    let (x, index) = (Shared(x), Shared(index));
    let failure = Mutex::new(None);
    let stripe = |from: usize, to: usize| {
        for position in 0..n {
            // SAFETY: the callers' contract; stripes of the sums are disjoint.
            unsafe {
                let i = *index.get().offset(offset(position, &rows.shape, lindex, None));
                if i < 0 || i >= size as i64 {
                    if let Ok(mut failure) = failure.lock() {
                        failure.get_or_insert(OutOfRange { index: i, size: size as i64 });
                    }
                    return;
                }
                let src = x.get().offset(offset(position, &rows.shape, lx, None));
                let at =
                    offset(position, &rows.shape, &target, Some(axis)) + i as isize * target.strides()[axis];
                let dst = sums_at.get().offset(at);
                for k in from..to {
                    *dst.add(k) = T::add(*dst.add(k), *src.add(k));
                }
            }
        }
    };
    if n * rows.row < PARALLEL || rows.row < 32 || num_threads() == 1 {
        stripe(0, rows.row);
    } else {
        let width = rows.row.div_ceil(16).next_multiple_of(16);
        parallel(rows.row.div_ceil(width), &|t| stripe(t * width, ((t + 1) * width).min(rows.row)));
    }
    if let Some(found) = failure.into_inner().unwrap_or(None) {
        return Err(found);
    }
    for (i, sum) in sums.into_iter().enumerate() {
        // SAFETY: `out` has room for every element of the target.
        unsafe { *out.add(i) = T::finish(sum) };
    }
    Ok(())
}
