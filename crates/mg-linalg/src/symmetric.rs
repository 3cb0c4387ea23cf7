//! `A = P L D Lᵀ Pᵀ` of symmetric matrices, by diagonal pivoting: steps, exchanges and what is left in place are those of LAPACK's `sytf2`.
//!
//! Bunch and Kaufman, "Some stable methods for calculating inertia and solving symmetric linear systems" (1977).

use crate::dense::{Number, magnitude};
use faer::traits::math_utils::{is_nan, one, zero};

/// How much larger than what is left on the diagonal another element may be: (1 + √17)/8.
const ALPHA: f64 = 0.640_388_203_202_208;

/// Where the largest magnitude is, the first of equal ones.
fn largest<T: Number>(elements: impl Iterator<Item = (usize, T)>) -> (usize, T) {
    elements.fold((0, zero()), |best, (at, x)| if magnitude(x) > best.1 { (at, magnitude(x)) } else { best })
}

pub(crate) fn ldl<T: Number>(a: &mut [T], n: usize, pivots: &mut [isize]) -> Option<usize> {
    let alpha = T::from_f64_impl(ALPHA);
    let mut singular = None;
    for i in 0..n {
        a[i * n + i + 1..(i + 1) * n].fill(zero());
    }
    let mut k = 0;
    while k < n {
        let (own, (row, below)) = (magnitude(a[k * n + k]), largest((k + 1..n).map(|i| (i, a[i * n + k]))));
        let some = own > zero() || below > zero();
        if !some || is_nan(&own) {
            singular = singular.or(Some(k + 1));
            pivots[k] = k as isize + 1;
            k += 1;
            continue;
        }
        let (mut with, mut size) = (k, 1);
        if own < alpha * below {
            let beside = largest((k..row).map(|j| (j, a[row * n + j]))).1;
            let under = largest((row + 1..n).map(|i| (i, a[i * n + row]))).1;
            let most = if under > beside { under } else { beside };
            if own < alpha * below * (below / most) {
                with = row;
                if magnitude(a[row * n + row]) < alpha * most {
                    size = 2;
                }
            }
        }
        exchange(a, n, k, size, with);
        match size {
            1 => eliminate(a, n, k),
            _ => eliminate_pair(a, n, k),
        }
        match size {
            1 => pivots[k] = with as isize + 1,
            _ => pivots[k..k + 2].fill(-(with as isize + 1)),
        }
        k += size;
    }
    singular
}

/// Exchanges the last row and column of a step with another one, from the step on.
fn exchange<T: Number>(a: &mut [T], n: usize, k: usize, size: usize, with: usize) {
    let last = k + size - 1;
    if with == last {
        return;
    }
    for i in with + 1..n {
        a.swap(i * n + last, i * n + with);
    }
    for j in last + 1..with {
        a.swap(j * n + last, with * n + j);
    }
    a.swap(last * n + last, with * n + with);
    if size == 2 {
        a.swap((k + 1) * n + k, with * n + k);
    }
}

/// Takes a column's product with itself off what is right of it, row by row.
fn eliminate<T: Number>(a: &mut [T], n: usize, k: usize) {
    let inverse = one::<T>() / a[k * n + k];
    let column: Vec<T> = (k + 1..n).map(|i| a[i * n + k]).collect();
    let factors: Vec<T> = column.iter().map(|&x| inverse * x).collect();
    for (at, &x) in column.iter().enumerate() {
        let row = (k + 1 + at) * n;
        for (left, &factor) in a[row + k + 1..][..=at].iter_mut().zip(&factors) {
            *left -= x * factor;
        }
        a[row + k] = x * inverse;
    }
}

fn eliminate_pair<T: Number>(a: &mut [T], n: usize, k: usize) {
    let between = a[(k + 1) * n + k];
    let (first, second) = (a[(k + 1) * n + k + 1] / between, a[k * n + k] / between);
    let scale: T = one::<T>() / (first * second - one::<T>()) / between;
    let columns: Vec<(T, T)> = (k + 2..n).map(|i| (a[i * n + k], a[i * n + k + 1])).collect();
    let factor = |&(x, y): &(T, T)| (scale * (first * x - y), scale * (second * y - x));
    let factors: Vec<(T, T)> = columns.iter().map(factor).collect();
    for (at, &(x, y)) in columns.iter().enumerate() {
        let row = (k + 2 + at) * n;
        for (left, &(u, v)) in a[row + k + 2..][..=at].iter_mut().zip(&factors) {
            *left = *left - x * u - y * v;
        }
        (a[row + k], a[row + k + 1]) = factors[at];
    }
}

/// Of what [`ldl`] has left: `L`'s rows as they are once all exchanges are done, with ones on its diagonal, and the inverse of `D`: its
/// diagonal, and what stands below that. Answers with the rows that each step exchanged, or the first pivot that cannot be one.
pub(crate) fn blocks<T: Number>(
    ld: &[T],
    n: usize,
    pivots: &[Option<isize>],
    l: &mut [T],
    [diagonal, below]: [&mut [T]; 2],
) -> Result<Vec<usize>, usize> {
    l.copy_from_slice(ld);
    below.fill(zero());
    let mut exchanged: Vec<usize> = (0..n).collect();
    let mut k = 0;
    while k < n {
        let pivot = pivots[k].ok_or(k)?;
        let size = if pivot < 0 { 2 } else { 1 };
        let (last, with) = (k + size - 1, pivot.unsigned_abs().wrapping_sub(1));
        if last >= n || with >= n || with < last || pivots[last] != Some(pivot) {
            return Err(k);
        }
        exchanged[last] = with;
        for j in 0..k {
            l.swap(last * n + j, with * n + j);
        }
        match size {
            1 => diagonal[k] = one::<T>() / ld[k * n + k],
            _ => {
                let between = ld[last * n + k];
                let (first, second) = (ld[k * n + k] / between, ld[last * n + last] / between);
                let scale: T = one::<T>() / (first * second - one::<T>()) / between;
                (diagonal[k], diagonal[last], below[k]) =
                    (second * scale, first * scale, zero::<T>() - scale);
                l[last * n + k] = zero();
            }
        }
        k += size;
    }
    for i in 0..n {
        l[i * n + i] = one();
        l[i * n + i + 1..(i + 1) * n].fill(zero());
    }
    Ok(exchanged)
}
