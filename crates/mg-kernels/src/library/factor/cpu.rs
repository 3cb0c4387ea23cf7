//! Factorisations on the CPU: matrices of a batch on all threads, each by one.

use super::{Code, Factor, FactorKind};
use crate::cpu::library::{Shared, each_of};
use crate::cpu::memory;
use crate::finding::Finding;
use crate::library::Operand;
use mg_device::{Float, Shape};
use mg_linalg::Real;
use smallvec::{SmallVec, smallvec};
use std::sync::{Mutex, PoisonError};

/// # Safety
///
/// As [`crate::library::Kernel::cpu`].
pub(super) unsafe fn factor(factor: &Factor, operands: &[Operand], out: *mut u8) -> Result<(), Finding> {
    let [x] = operands else { return Ok(()) };
    match x.dtype.float() {
        // SAFETY: this function's contract.
        Some(Float::F64) => unsafe { batch::<f64>(factor, x, out.cast()) },
        // SAFETY: as above; other dtypes were refused when the node was made.
        Some(Float::F32 | Float::F16 | Float::BF16) | None => unsafe { batch::<f32>(factor, x, out.cast()) },
    }
}

/// # Safety
///
/// As [`factor`], with operands of this type.
unsafe fn batch<T: Real>(factor: &Factor, x: &Operand, out: *mut T) -> Result<(), Finding> {
    let shape = x.layout.shape();
    let Some((lead, &[m, n])) = shape.split_last_chunk::<2>() else { return Ok(()) };
    let count: usize = lead.iter().product();
    let parts = factor.parts(m, n);
    let lengths: SmallVec<[usize; 6]> = parts.iter().map(Shape::numel).collect();
    let length: usize = lengths.iter().sum();
    let first: Mutex<Option<(usize, Finding)>> = Mutex::default();
    let places = Shared((x.first().cast::<T>(), out));
    let one = |i: usize| {
        let (from, to) = places.get();
        // SAFETY: this function's contract: the operand has `count` matrices, the output as many lines, each one task's.
        let (a, line) = unsafe {
            (
                std::slice::from_raw_parts(from.add(i * m * n), m * n),
                std::slice::from_raw_parts_mut(to.add(i * length), length),
            )
        };
        let Some((code, at)) = matrix(factor, a, [m, n], line, &lengths) else { return };
        let place = if lead.is_empty() { 0 } else { (i as i64 + 1) << 32 };
        let found = Finding::Kernel { code: code as i64, found: place | at as i64 };
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        if first.as_ref().is_none_or(|(other, _)| i < *other) {
            *first = Some((i, found));
        }
    };
    each_of(count, m * n * m.min(n), &one);
    match first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, found)) => Err(found),
        None => Ok(()),
    }
}

/// The order of rows after exchanges, step by step, and its inverse.
fn orders<T: Real>(exchanged: impl Iterator<Item = usize>, order: &mut [T], inverse: &mut [T]) {
    let mut rows: SmallVec<[usize; 16]> = (0..order.len()).collect();
    for (i, with) in exchanged.enumerate() {
        rows.swap(i, with);
    }
    for (i, &row) in rows.iter().enumerate() {
        order[i] = T::of(row);
        inverse[row] = T::of(i);
    }
}

/// A matrix whose largest element's square would be too large, or too small, for the dtype, times a power of two; and what takes that
/// back.
fn scaled<T: Real>(a: &[T]) -> (Option<Vec<T>>, T) {
    let largest = a.iter().fold(T::of(0), |most, x| if x.magnitude() > most { x.magnitude() } else { most });
    let factor = largest.to_one();
    let square = largest.times(largest);
    if largest.is_zero() || square.times(square).is_finite() && !square.times(square).is_zero() {
        return (None, T::of(1));
    }
    (Some(memory::collected(a.iter().map(|x| x.times(factor)))), factor.to_one())
}

/// Factorises a matrix into a line of parts; what it is refused for, and where.
fn matrix<T: Real>(
    factor: &Factor,
    a: &[T],
    [m, n]: [usize; 2],
    line: &mut [T],
    lengths: &[usize],
) -> Option<(Code, usize)> {
    let mut rest = line;
    let mut parts: SmallVec<[&mut [T]; 6]> = SmallVec::new();
    for &length in lengths {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(length);
        parts.push(part);
        rest = after;
    }
    let is_finite = || a.iter().all(|x| x.is_finite());
    match (factor.kind, &mut parts[..]) {
        (FactorKind::Lu, [lu, pivots, order, inverse, sign, info]) => {
            lu.copy_from_slice(a);
            let mut exchanged: SmallVec<[usize; 16]> = smallvec![0; m.min(n)];
            if !a.is_empty() {
                T::lu(lu, m, n, &mut exchanged);
            }
            let mut odd = false;
            for (i, &with) in exchanged.iter().enumerate() {
                odd ^= with != i;
                pivots[i] = T::of(with + 1);
            }
            orders(exchanged.into_iter(), order, inverse);
            sign[0] = if odd { T::MINUS_ONE } else { T::of(1) };
            let zero = (0..m.min(n)).find(|&i| lu[i * n + i].is_zero()).map_or(0, |i| i + 1);
            info[0] = T::of(zero);
            factor.code().filter(|_| zero > 0).map(|code| (code, zero))
        }
        (FactorKind::Order { .. }, [order, inverse]) => {
            let rows = order.len();
            let exchanged =
                a.iter().enumerate().map(|(i, pivot)| pivot.as_count().filter(|&p| p > i && p <= rows));
            if let Some(at) = exchanged.clone().position(|pivot| pivot.is_none()) {
                return Some((Code::Row, at));
            }
            orders(exchanged.flatten().map(|pivot| pivot - 1), order, inverse);
            None
        }
        (FactorKind::Cholesky, [l, info]) => {
            l.copy_from_slice(a);
            let mut wrong = if n == 0 { 0 } else { T::cholesky(l, n).err().unwrap_or(0) };
            if wrong == 0 {
                wrong = (0..n).find(|&i| !l[i * n + i].is_finite()).map_or(0, |i| i + 1);
            }
            info[0] = T::of(wrong);
            factor.code().filter(|_| wrong > 0).map(|code| (code, wrong))
        }
        (FactorKind::Ldl, [ld, pivots, info]) => {
            ld.copy_from_slice(a);
            let mut exchanged: SmallVec<[isize; 16]> = smallvec![0; n];
            let zero = T::ldl(ld, n, &mut exchanged).unwrap_or(0);
            for (pivot, with) in pivots.iter_mut().zip(exchanged) {
                let row = T::of(with.unsigned_abs());
                *pivot = if with < 0 { row.times(T::MINUS_ONE) } else { row };
            }
            info[0] = T::of(zero);
            factor.code().filter(|_| zero > 0).map(|code| (code, zero))
        }
        (FactorKind::Blocks, [l, diagonal, below, order, inverse]) => {
            let rows = || a.chunks_exact(n.max(1));
            let ld: Vec<T> = rows().flat_map(|row| &row[..m]).copied().collect();
            let whole = |x: T| match x < T::of(0) {
                true => x.times(T::MINUS_ONE).as_count().map(|row| -(row as isize)),
                false => x.as_count().map(|row| row as isize),
            };
            let pivots: Vec<Option<isize>> = rows().map(|row| whole(row[m])).collect();
            match T::blocks(&ld, m, &pivots, l, [diagonal, below]) {
                Ok(exchanged) => {
                    orders(exchanged.into_iter(), order, inverse);
                    None
                }
                Err(at) => Some((Code::Row, at)),
            }
        }
        (FactorKind::Qr { .. }, [q, r]) => {
            T::qr(a, m, n, q, r);
            None
        }
        (FactorKind::Eigh { .. }, [values, vectors @ ..]) => {
            if !is_finite() {
                return Some((Code::NotFinite, 0));
            }
            let mut none: [T; 0] = [];
            let vectors = vectors.first_mut().map_or(&mut none[..], |v| v);
            let (near_one, back) = scaled(a);
            let result = T::eigh(near_one.as_deref().unwrap_or(a), n, values, vectors);
            values.iter_mut().for_each(|x| *x = x.times(back));
            result.err().map(|_| (Code::Eigh, 0))
        }
        (FactorKind::Svd { .. }, [values, vectors @ ..]) => {
            if !is_finite() {
                return Some((Code::NotFinite, 0));
            }
            let (near_one, back) = scaled(a);
            let a = near_one.as_deref().unwrap_or(a);
            let result = match vectors {
                [u, vt] => T::svd(a, m, n, u, values, vt),
                _ => T::svd(a, m, n, &mut [], values, &mut []),
            };
            values.iter_mut().for_each(|x| *x = x.times(back));
            result.err().map(|_| (Code::Svd, 0))
        }
        // `Factor::parts` has as many.
        (
            FactorKind::Lu
            | FactorKind::Order { .. }
            | FactorKind::Cholesky
            | FactorKind::Ldl
            | FactorKind::Blocks
            | FactorKind::Qr { .. },
            _,
        )
        | (FactorKind::Eigh { .. } | FactorKind::Svd { .. }, []) => None,
    }
}
