//! What [`crate::Real`] says, by faer, whose matrices lie in column-major order.

use crate::{NoConvergence, Triangle};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::householder;
use faer::linalg::lu::partial_pivoting::factor as partial;
use faer::linalg::qr::no_pivoting::factor as reflections;
use faer::linalg::svd::{ComputeSvdVectors, svd as faer_svd, svd_scratch};
use faer::linalg::triangular_solve as solve;
use faer::traits::RealField;
use faer::{Conj, MatMut, MatRef, Par};
use std::ops::Div;

/// A side of the tiles in which a matrix is transposed: two of them lie in the first-level cache.
const TILE: usize = 32;

/// Writes the transpose of a row-major `rows × columns` matrix.
fn transpose<T: Copy>(from: &[T], rows: usize, columns: usize, to: &mut [T]) {
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for i in top..(top + TILE).min(rows) {
                for j in left..(left + TILE).min(columns) {
                    to[j * rows + i] = from[i * columns + j];
                }
            }
        }
    }
}

fn transposed<T: Copy>(from: &[T], rows: usize, columns: usize) -> Vec<T> {
    let mut to = from.to_vec();
    transpose(from, rows, columns, &mut to);
    to
}

fn with_scratch<R>(needed: StackReq, f: impl FnOnce(&mut MemStack) -> R) -> R {
    f(MemStack::new(&mut MemBuffer::new(needed)))
}

/// Up to this size a matrix is eliminated, and a triangle solved, row by row in place: what faer prepares would cost more than the work.
const SMALL: usize = 8;

pub(crate) fn lu<T: Number>(a: &mut [T], m: usize, n: usize, pivots: &mut [usize]) {
    if m.max(n) <= SMALL {
        return lu_by_rows(a, n, pivots);
    }
    let mut columns = transposed(a, m, n);
    let (mut order, mut inverse) = (vec![0usize; m], vec![0usize; m]);
    with_scratch(partial::lu_in_place_scratch::<usize, T>(m, n, Par::Seq, Default::default()), |stack| {
        let matrix = MatMut::from_column_major_slice_mut(&mut columns, m, n);
        partial::lu_in_place(matrix, &mut order, &mut inverse, Par::Seq, stack, Default::default());
    });
    let size = m.min(n);
    let zero = faer::traits::math_utils::zero();
    // NaN counts as well.
    if (0..size)
        .any(|i| magnitude(columns[i * m + i]).partial_cmp(&zero) != Some(std::cmp::Ordering::Greater))
    {
        return lu_by_rows(a, n, pivots);
    }
    transpose(&columns, n, m, a);
    // faer answers with the order of the rows; step by step it is exchanges.
    let (mut at, mut here): (Vec<usize>, Vec<usize>) = ((0..m).collect(), (0..m).collect());
    for (i, pivot) in pivots.iter_mut().enumerate() {
        // Where the row stands now that belongs here.
        let from = at[order[i]];
        *pivot = from;
        here.swap(i, from);
        (at[here[i]], at[here[from]]) = (i, from);
    }
}

/// A float whose arithmetic can be written as such.
pub(crate) trait Number: RealField + Copy + Div<Output = Self> {}
impl<T: RealField + Copy + Div<Output = T>> Number for T {}

pub(crate) fn magnitude<T: RealField + Copy>(x: T) -> T {
    if x < faer::traits::math_utils::zero() { -x } else { x }
}

/// Elimination row by row, of small matrices and of those of less than full rank, which faer divides by 0 at: as LAPACK's, that goes on
/// where a column has nothing to be exchanged.
fn lu_by_rows<T: Number>(a: &mut [T], n: usize, pivots: &mut [usize]) {
    let m = a.len() / n;
    let zero: T = faer::traits::math_utils::zero();
    for (step, pivot) in pivots.iter_mut().enumerate() {
        let mut largest = step;
        for i in step + 1..m {
            if magnitude(a[i * n + step]) > magnitude(a[largest * n + step]) {
                largest = i;
            }
        }
        *pivot = largest;
        if a[largest * n + step] == zero {
            continue;
        }
        if largest != step {
            for j in 0..n {
                a.swap(step * n + j, largest * n + j);
            }
        }
        let (above, below) = a.split_at_mut((step + 1) * n);
        let row = &above[step * n..];
        for line in below.chunks_exact_mut(n) {
            let factor = line[step] / row[step];
            line[step] = factor;
            for (x, &y) in line[step + 1..].iter_mut().zip(&row[step + 1..]) {
                *x -= factor * y;
            }
        }
    }
}

pub(crate) fn cholesky<T: RealField + Copy>(a: &mut [T], n: usize) -> Result<(), usize> {
    let mut columns = transposed(a, n, n);
    let result =
        with_scratch(llt::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()), |stack| {
            let matrix = MatMut::from_column_major_slice_mut(&mut columns, n, n);
            llt::cholesky_in_place(matrix, Default::default(), Par::Seq, stack, Default::default())
        });
    transpose(&columns, n, n, a);
    for i in 0..n {
        a[i * n + i + 1..(i + 1) * n].fill(faer::traits::math_utils::zero());
    }
    match result {
        Ok(_) => Ok(()),
        Err(llt::LltError::NonPositivePivot { index }) => Err(index + 1),
    }
}

pub(crate) fn qr<T: RealField + Copy>(a: &[T], m: usize, n: usize, q: &mut [T], r: &mut [T]) {
    let size = m.min(n);
    let zero = faer::traits::math_utils::zero::<T>();
    if size == 0 {
        // Nothing is reflected.
        r.fill(zero);
        q.fill(zero);
        q.iter_mut().step_by(m + 1).for_each(|x| *x = faer::traits::math_utils::one());
        return;
    }
    let rows = r.len() / n;
    let mut columns = transposed(a, m, n);
    let block = reflections::recommended_block_size::<T>(m, n);
    let mut factors = vec![zero; block * size];
    let need = reflections::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default());
    with_scratch(need, |stack| {
        let matrix = MatMut::from_column_major_slice_mut(&mut columns, m, n);
        let factors = MatMut::from_column_major_slice_mut(&mut factors, block, size);
        reflections::qr_in_place(matrix, factors, Par::Seq, stack, Default::default());
    });
    for i in 0..rows {
        for j in 0..n {
            r[i * n + j] = if i <= j && i < size { columns[j * m + i] } else { zero };
        }
    }
    if q.is_empty() {
        return;
    }
    let width = q.len() / m;
    let mut basis = vec![zero; m * width];
    basis.iter_mut().step_by(m + 1).for_each(|x| *x = faer::traits::math_utils::one());
    let need =
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, width);
    with_scratch(need, |stack| {
        householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
            MatRef::from_column_major_slice(&columns, m, n).subcols(0, size),
            MatRef::from_column_major_slice(&factors, block, size),
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut basis, m, width),
            Par::Seq,
            stack,
        );
    });
    transpose(&basis, width, m, q);
}

pub(crate) fn eigh<T: RealField + Copy>(
    a: &[T],
    n: usize,
    values: &mut [T],
    v: &mut [T],
) -> Result<(), NoConvergence> {
    let wanted = if v.is_empty() { ComputeEigenvectors::No } else { ComputeEigenvectors::Yes };
    let mut vectors = v.to_vec();
    let need = self_adjoint_evd_scratch::<T>(n, wanted, Par::Seq, Default::default());
    let result = with_scratch(need, |stack| {
        self_adjoint_evd(
            MatRef::from_row_major_slice(a, n, n),
            DiagMut::from_slice_mut(values),
            (!vectors.is_empty()).then(|| MatMut::from_column_major_slice_mut(&mut vectors, n, n)),
            Par::Seq,
            stack,
            Default::default(),
        )
    });
    if !v.is_empty() {
        transpose(&vectors, n, n, v);
    }
    result.map_err(|_| NoConvergence)
}

pub(crate) fn svd<T: RealField + Copy>(
    a: &[T],
    m: usize,
    n: usize,
    u: &mut [T],
    values: &mut [T],
    vt: &mut [T],
) -> Result<(), NoConvergence> {
    let size = m.min(n);
    if size == 0 {
        // What is asked for is the identity.
        let identity = |q: &mut [T], n: usize| {
            q.fill(faer::traits::math_utils::zero());
            q.iter_mut().step_by(n + 1).for_each(|x| *x = faer::traits::math_utils::one());
        };
        identity(u, m);
        identity(vt, n);
        return Ok(());
    }
    let (wide_u, wide_v) = (u.len() / m, vt.len() / n);
    let wanted = match (u.is_empty() && vt.is_empty(), wide_u == size && wide_v == size) {
        (true, _) => ComputeSvdVectors::No,
        (false, true) => ComputeSvdVectors::Thin,
        (false, false) => ComputeSvdVectors::Full,
    };
    let is_wanted = wanted != ComputeSvdVectors::No;
    let mut left = u.to_vec();
    let columns = transposed(a, m, n);
    let result =
        with_scratch(svd_scratch::<T>(m, n, wanted, wanted, Par::Seq, Default::default()), |stack| {
            faer_svd(
                MatRef::from_column_major_slice(&columns, m, n),
                DiagMut::from_slice_mut(values),
                is_wanted.then(|| MatMut::from_column_major_slice_mut(&mut left, m, wide_u)),
                // The columns of V are the rows of its transpose.
                is_wanted.then(|| MatMut::from_column_major_slice_mut(vt, n, wide_v)),
                Par::Seq,
                stack,
                Default::default(),
            )
        });
    if is_wanted {
        transpose(&left, wide_u, m, u);
    }
    result.map_err(|_| NoConvergence)
}

pub(crate) fn triangular<T: Number>(a: &[T], n: usize, triangle: Triangle, b: &mut [T], k: usize) {
    if n <= SMALL && k <= SMALL {
        return triangular_by_rows(a, n, triangle, b, k);
    }
    let matrix = MatRef::from_row_major_slice(a, n, n);
    let (matrix, upper) = match triangle.transposed {
        false => (matrix, triangle.upper),
        true => (matrix.transpose(), !triangle.upper),
    };
    let rhs = MatMut::from_row_major_slice_mut(b, n, k);
    match (upper, triangle.unit) {
        (false, false) => solve::solve_lower_triangular_in_place(matrix, rhs, Par::Seq),
        (false, true) => solve::solve_unit_lower_triangular_in_place(matrix, rhs, Par::Seq),
        (true, false) => solve::solve_upper_triangular_in_place(matrix, rhs, Par::Seq),
        (true, true) => solve::solve_unit_upper_triangular_in_place(matrix, rhs, Par::Seq),
    }
}

/// A triangular system, row by row.
fn triangular_by_rows<T: Number>(a: &[T], n: usize, triangle: Triangle, b: &mut [T], k: usize) {
    let (down, right) = if triangle.transposed { (1, n) } else { (n, 1) };
    let from_below = triangle.upper != triangle.transposed;
    for step in 0..n {
        let i = if from_below { n - 1 - step } else { step };
        // The rows that are known lie on one side of this one.
        let (above, rest) = b.split_at_mut(i * k);
        let (row, below) = rest.split_at_mut(k);
        let (known, first) = if from_below { (&*below, i + 1) } else { (&*above, 0) };
        for (j, known) in known.chunks_exact(k).enumerate() {
            let factor = a[i * down + (first + j) * right];
            for (x, &y) in row.iter_mut().zip(known) {
                *x -= factor * y;
            }
        }
        if !triangle.unit {
            let pivot = a[i * (n + 1)];
            for x in row {
                *x /= pivot;
            }
        }
    }
}
