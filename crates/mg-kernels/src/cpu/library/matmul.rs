//! Matrix products.

use crate::cpu::pool::parallel;
use half::{bf16, f16};
use mg_device::{DType, Layout, MAX_RANK, Shape, merge_dims};
use std::ops::Range;

/// What is called for each finished panel of rows: the address such that position `p` of the result lies `p` elements
/// from it, and the positions of the panel.
pub type After<'a> = &'a (dyn Fn(*const u8, Range<usize>) + Sync);

/// Multiplications from which a product is divided among threads.
const PARALLEL: usize = 1 << 16;

#[derive(Clone, Copy)]
struct Problem {
    batch: Shape,
    a_batch: [isize; MAX_RANK],
    b_batch: [isize; MAX_RANK],
    m: usize,
    n: usize,
    k: usize,
    a_strides: (isize, isize),
    b_strides: (isize, isize),
}

impl Problem {
    fn new(la: &Layout, lb: &Layout) -> Problem {
        let rank = la.rank();
        let (sa, sb) = (la.strides(), lb.strides());
        let (k, n) = (la.shape()[rank - 1], lb.shape()[rank - 1]);
        let lead = Shape::of(&la.shape().dims()[..rank - 1]);
        let mut b_lead = lb.padded_strides();
        b_lead[rank - 2] = 0;
        let (shape, [mut a_batch, mut b_batch]) = merge_dims(&lead, [&sa[..rank - 1], &b_lead[..rank - 1]]);
        let last = shape.rank().wrapping_sub(1);
        let (batch, m, a_row) = match shape.rank() {
            0 => (Shape::scalar(), 1, 0),
            _ if b_batch[last] == 0 => (Shape::of(&shape.dims()[..last]), shape[last], a_batch[last]),
            _ => (shape, 1, 0),
        };
        a_batch[batch.rank()..].fill(0);
        b_batch[batch.rank()..].fill(0);
        Problem {
            batch,
            a_batch,
            b_batch,
            m,
            n,
            k,
            a_strides: (a_row, sa[rank - 1]),
            b_strides: (sb[rank - 2], sb[rank - 1]),
        }
    }

    fn batch_offsets(&self, mut index: usize) -> (isize, isize) {
        let (mut a, mut b) = (0, 0);
        for axis in (0..self.batch.rank()).rev() {
            let i = (index % self.batch[axis]) as isize;
            index /= self.batch[axis];
            a += i * self.a_batch[axis];
            b += i * self.b_batch[axis];
        }
        (a, b)
    }
}

#[derive(Clone, Copy)]
struct Shared<T>(T);
// SAFETY: the caller of `matmul` vouches that the addresses may be used from any thread for the call; tasks write
// disjoint panels.
unsafe impl<T> Sync for Shared<T> {}

/// The matrix product of `a`, `[.., m, k]`, and `b`, `[.., k, n]`, whose leading axes have equal sizes (an operand that
/// repeats along one has a stride of 0 there). All have `dtype`; strides are arbitrary.
///
/// The result, dense and row-major `[.., m, n]`, is written to `raw`. `after` is called for each panel of whole rows,
/// once, on the thread that computed it: with the address such that position `p` of the result lies `p` elements from
/// it, and the panel's positions. Without `raw` panels live only as long as that call. Half types accumulate in f32
/// and round once; integers wrap; `k = 0` gives zeros. Results do not depend on the number of threads.
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
    if la.rank() < 2 || lb.rank() != la.rank() {
        return;
    }
    let size = dtype.size();
    let problem = Problem::new(la, lb);
    let a = a.wrapping_add(la.offset() * size);
    let b = b.wrapping_add(lb.offset() * size);
    // SAFETY: by this function's contract.
    unsafe {
        match dtype {
            DType::F32 => run::<f32>(&problem, a, b, raw, after),
            DType::F64 => run::<f64>(&problem, a, b, raw, after),
            DType::F16 => run::<f16>(&problem, a, b, raw, after),
            DType::BF16 => run::<bf16>(&problem, a, b, raw, after),
            DType::I64 => run::<i64>(&problem, a, b, raw, after),
            DType::I32 => run::<i32>(&problem, a, b, raw, after),
            DType::U8 | DType::Bool => run::<u8>(&problem, a, b, raw, after),
        }
    }
}

trait Entry: Copy {
    /// `c[i, j] = Σ a[i, p] b[p, j]` for a dense `c`.
    unsafe fn product(c: *mut Self, a: *const Self, b: *const Self, m: usize, problem: &Problem);
}

macro_rules! by_crate {
    ($T:ty) => {
        impl Entry for $T {
            unsafe fn product(c: *mut Self, a: *const Self, b: *const Self, m: usize, p: &Problem) {
                let ((ars, acs), (brs, bcs)) = (p.a_strides, p.b_strides);
                // SAFETY: by the contract of `matmul`.
                unsafe {
                    gemm::gemm(
                        m,
                        p.n,
                        p.k,
                        c,
                        1,
                        p.n as isize,
                        false,
                        a,
                        acs,
                        ars,
                        b,
                        bcs,
                        brs,
                        0.0,
                        1.0,
                        false,
                        false,
                        false,
                        gemm::Parallelism::None,
                    )
                }
            }
        }
    };
}
by_crate!(f32);
by_crate!(f64);

macro_rules! by_loop {
    ($T:ty, $Acc:ty, |$x:ident| $widen:expr, |$p:ident, $q:ident, $r:ident| $add:expr, |$y:ident| $narrow:expr) => {
        impl Entry for $T {
            unsafe fn product(c: *mut Self, a: *const Self, b: *const Self, m: usize, p: &Problem) {
                let ((ars, acs), (brs, bcs)) = (p.a_strides, p.b_strides);
                let widen = |$x: $T| -> $Acc { $widen };
                for i in 0..m {
                    for j in 0..p.n {
                        let mut $r: $Acc = Default::default();
                        for l in 0..p.k as isize {
                            // SAFETY: by the contract of `matmul`.
                            let ($p, $q) = unsafe {
                                (
                                    widen(*a.offset(i as isize * ars + l * acs)),
                                    widen(*b.offset(l * brs + j as isize * bcs)),
                                )
                            };
                            $r = $add;
                        }
                        let $y = $r;
                        // SAFETY: as above.
                        unsafe { *c.add(i * p.n + j) = $narrow };
                    }
                }
            }
        }
    };
}
by_loop!(i64, i64, |x| x, |a, b, s| s.wrapping_add(a.wrapping_mul(b)), |y| y);
by_loop!(i32, i32, |x| x, |a, b, s| s.wrapping_add(a.wrapping_mul(b)), |y| y);
by_loop!(u8, u8, |x| x, |a, b, s| s.wrapping_add(a.wrapping_mul(b)), |y| y);
by_loop!(f16, f32, |x| x.to_f32(), |a, b, s| a.mul_add(b, s), |y| f16::from_f32(y));
by_loop!(bf16, f32, |x| x.to_f32(), |a, b, s| a.mul_add(b, s), |y| bf16::from_f32(y));

unsafe fn run<T: Entry>(
    problem: &Problem,
    a: *const u8,
    b: *const u8,
    raw: Option<*mut u8>,
    after: Option<After<'_>>,
) {
    let Problem { m, n, k, .. } = *problem;
    let batch = problem.batch.numel();
    if batch == 0 || m == 0 || n == 0 {
        return;
    }
    let rows = if m * n * k < PARALLEL { m } else { m.div_ceil(4).clamp(16, 256).min(m) };
    let panels = m.div_ceil(rows);
    let operands = Shared((a.cast::<T>(), b.cast::<T>(), raw.map(|p| p.cast::<T>())));
    let task = |t: usize| {
        let operands = &operands;
        let (a, b, raw) = operands.0;
        let (at_a, at_b) = problem.batch_offsets(t / panels);
        let first = t % panels * rows;
        let len = rows.min(m - first);
        let start = (t / panels * m + first) * n;
        let mut scratch = Vec::new();
        // SAFETY: the panel's part of `raw` is this task's alone; a scratch panel has room for `len` rows.
        unsafe {
            let a = a.offset(at_a + first as isize * problem.a_strides.0);
            let c = match raw {
                Some(raw) => raw.add(start),
                None => {
                    scratch.reserve(len * n);
                    scratch.as_mut_ptr()
                }
            };
            if k == 0 {
                c.write_bytes(0, len * n);
            } else {
                T::product(c, a, b.offset(at_b), len, problem);
            }
            if let Some(after) = after {
                after(c.wrapping_sub(start).cast_const().cast(), start..start + len * n);
            }
        }
    };
    if batch * m * n * k < PARALLEL {
        (0..batch * panels).for_each(task);
    } else {
        parallel(batch * panels, &task);
    }
}
