//! Matrix products.
//!
//! The scheme is that of Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): tiles in
//! registers, strips of `b` that stay in the first-level cache, panels of `a` in the second. Operands are rearranged
//! only where the kernels cannot read them fast in place.

pub mod blocked;
pub(crate) mod entry;
pub(crate) mod micro;
mod pack;
pub(crate) mod strips;
mod vector;

use super::Merged;
use crate::cpu::library::Shared;
use crate::cpu::pool::parallel;
use crate::library::After;
use blocked::Matrices;
use entry::{Bool, Entry};
use half::{bf16, f16};
use mg_device::{DType, Float, Layout, Width};
use std::ops::Range;
use vector::Lines;

/// Multiplications from which a product is divided among threads.
const PARALLEL: usize = 1 << 19;
/// Multiplications from which the matrices of a batch are each divided among threads.
const LARGE: usize = 1 << 25;

/// The matrix product of `a`, `[.., m, k]`, and `b`, `[.., k, n]`, whose leading axes have equal sizes (an operand that
/// repeats along one has a stride of 0 there). All have `dtype`; strides are arbitrary.
///
/// The result, dense and row-major `[.., m, n]`, is written to `raw`. `after` is called for each panel of whole rows,
/// once, as a rule on the thread that computed it: with the address such that position `p` of the result lies `p`
/// elements from it, and the panel's positions. Without `raw` panels live only as long as that call. Half types
/// accumulate in f32 and round once; integers wrap; bool is "any pair is true"; `k = 0` gives zeros. Results do not
/// depend on the number of threads.
///
/// # Safety
///
/// `a` and `b` are the starts of buffers that are valid for reads at every offset of their layouts (the layouts'
/// offsets are added here), `raw` is valid for writes of the whole result and overlaps neither; all of them from any
/// thread. The layouts have rank 2 or more, equal leading sizes, and one `k`.
pub unsafe fn matmul(
    dtype: DType,
    a: *const u8,
    la: &Layout,
    b: *const u8,
    lb: &Layout,
    raw: Option<*mut u8>,
    after: Option<After<'_>>,
) {
    debug_assert!(la.rank() >= 2 && lb.rank() == la.rank(), "{la:?} and {lb:?}");
    if la.rank() < 2 || lb.rank() != la.rank() || (raw.is_none() && after.is_none()) {
        return;
    }
    let size = dtype.size();
    let problem = Merged::new(la, lb);
    let a = a.wrapping_add(la.offset() * size);
    let b = b.wrapping_add(lb.offset() * size);
    // SAFETY: by this function's contract.
    unsafe {
        match (dtype.float(), dtype.width()) {
            (Some(Float::F32), _) => run::<f32>(&problem, a, b, raw, after),
            (Some(Float::F64), _) => run::<f64>(&problem, a, b, raw, after),
            (Some(Float::F16), _) => run::<f16>(&problem, a, b, raw, after),
            (Some(Float::BF16), _) => run::<bf16>(&problem, a, b, raw, after),
            (None, _) if dtype.is_bool() => run::<Bool>(&problem, a, b, raw, after),
            // Sums and products of integers have the same bits with a sign or without.
            (None, Width::W64) => run::<i64>(&problem, a, b, raw, after),
            (None, Width::W32) => run::<i32>(&problem, a, b, raw, after),
            (None, Width::W16) => run::<i16>(&problem, a, b, raw, after),
            (None, Width::W8) => run::<u8>(&problem, a, b, raw, after),
        }
    }
}

/// Where a matrix of results goes.
#[derive(Clone, Copy)]
struct Output<'a, T> {
    /// The whole result, or null.
    raw: *mut T,
    /// The position of the matrix in it.
    start: usize,
    after: Option<After<'a>>,
}

impl<T> Output<'_, T> {
    /// Passes rows on, which lie at `panel`.
    fn finish(&self, panel: *const T, positions: Range<usize>) {
        if let Some(after) = self.after {
            let (start, end) = (self.start + positions.start, self.start + positions.end);
            after(panel.wrapping_sub(start).cast(), start..end);
        }
    }
}

unsafe fn run<T: Entry>(
    problem: &Merged,
    a: *const u8,
    b: *const u8,
    raw: Option<*mut u8>,
    after: Option<After<'_>>,
) {
    let Merged { m, n, k, .. } = *problem;
    let batch = problem.batch.numel();
    if batch == 0 || m == 0 || n == 0 {
        return;
    }
    let operands =
        Shared((a.cast::<T>(), b.cast::<T>(), raw.map_or(std::ptr::null_mut(), |p| p.cast::<T>())));
    let one = |index: usize, threads: bool| {
        let (a, b, raw) = operands.get();
        let (at_a, at_b) = problem.offsets(index);
        let [a_row, a_k] = problem.a_strides;
        let [b_k, b_column] = problem.b_strides;
        let (a, b) = (a.wrapping_offset(at_a), b.wrapping_offset(at_b));
        let matrices = Matrices { m, n, k, a, a_row, a_k, b, b_k, b_column };
        let output = Output { raw, start: index * m * n, after };
        // SAFETY: by the contract of `matmul`.
        unsafe {
            if k == 0 {
                blocked::zeros(m, n, output)
            } else if let Some(lines) = Lines::of(&matrices) {
                lines.run(output, threads)
            } else {
                blocked::product(&matrices, output, threads)
            }
        }
    };
    let work = m * n * k.max(1);
    if work >= LARGE || batch == 1 {
        return (0..batch).for_each(|index| one(index, work >= PARALLEL));
    }
    // Several small matrices make a task.
    let each = (PARALLEL / 2 / work).max(1);
    let task = |t: usize| (t * each..batch.min((t + 1) * each)).for_each(|index| one(index, false));
    let tasks = batch.div_ceil(each);
    if work.saturating_mul(batch) < PARALLEL { (0..tasks).for_each(task) } else { parallel(tasks, &task) }
}
