//! Reductions of rows whose elements lie by columns: many rows at once, column after column, so that memory is read as it lies. Each
//! row's order is that of [`super::reduce`], and so are its bits.

use super::loops::{Isa, by_isa, cell_size};
use super::reduce::{Acc, BLOCK, Element, LANES, Reducer, better};
use crate::cell::Cell;
use crate::program::ReduceKind;
use mg_device::DType;

/// A reduction of some rows under way.
#[derive(Default)]
pub(super) struct Across {
    rows: usize,
    /// Columns that were added.
    count: usize,
    /// For each of a block's lanes an element a row.
    lanes: Vec<u64>,
    /// What there is of each row: bits and places as [`Acc`] has them.
    bits: Vec<u64>,
    places: Vec<i64>,
}

/// Adds columns, one after the other.
///
/// Safety: `a` is valid for so many columns of the state's rows, of the dtype that the function was chosen for.
pub(super) type AcrossFn = unsafe fn(state: &mut Across, a: *const u8, columns: usize);

impl Across {
    /// Begins with so many rows.
    pub(super) fn begin(&mut self, reducer: &Reducer, rows: usize) {
        (self.rows, self.count) = (rows, 0);
        let Acc { bits, index } = reducer.init();
        self.bits.clear();
        self.bits.resize(rows, bits);
        self.places.clear();
        if reducer.kind.is_arg() {
            self.places.resize(rows, index);
        } else if reducer.dtype.is_float() {
            self.lanes.resize((LANES * rows * cell_size(reducer.dtype)).div_ceil(8), 0);
        }
    }

    /// Writes each row's result to a cell.
    ///
    /// Safety: `dst` is valid for a cell of the result for each row; the reducer is that of [`Across::begin`].
    pub(super) unsafe fn finish(&mut self, reducer: &Reducer, dst: *mut u8) {
        if !self.count.is_multiple_of(BLOCK) && reducer.dtype.is_float() && !reducer.kind.is_arg() {
            // SAFETY: no column is read.
            unsafe { (reducer.across)(self, std::ptr::null(), 0) };
        }
        let size = cell_size(reducer.kind.result(reducer.dtype));
        for (row, &bits) in self.bits.iter().enumerate() {
            let index = self.places.get(row).copied().unwrap_or(-1);
            // SAFETY: this function's contract.
            unsafe { reducer.finish(&Acc { bits, index }, dst.add(row * size)) };
        }
    }
}

/// Floats by the lanes of a block and their tree. A call without columns ends the block. `START`: whether lanes begin with the block's first
/// element instead of `neutral`.
///
/// Safety: that of [`AcrossFn`].
#[inline(always)]
unsafe fn blocks<T: Element<Lane = T>, const START: bool>(
    state: &mut Across,
    a: *const u8,
    columns: usize,
    neutral: T,
    join: impl Fn(T, T) -> T + Copy,
    total: impl Fn(f64, T) -> f64,
) {
    let rows = state.rows;
    // SAFETY: there is a word for each element at least.
    let lanes = unsafe { std::slice::from_raw_parts_mut(state.lanes.as_mut_ptr().cast::<T>(), LANES * rows) };
    for column in 0..columns {
        // SAFETY: this function's contract.
        let values = unsafe { std::slice::from_raw_parts(a.cast::<T>().add(column * rows), rows) };
        let at = state.count % BLOCK;
        if at == 0 && START {
            lanes.chunks_exact_mut(rows).for_each(|lane| lane.copy_from_slice(values));
        } else if at == 0 {
            lanes.fill(neutral);
        }
        let lane = &mut lanes[at % LANES * rows..][..rows];
        for (lane, &v) in lane.iter_mut().zip(values) {
            *lane = join(*lane, v);
        }
        state.count += 1;
        if at + 1 == BLOCK {
            tree(lanes, &mut state.bits, join, &total);
        }
    }
    if columns == 0 {
        tree(lanes, &mut state.bits, join, &total);
    }
}

/// Joins a block's lanes by halves, and the block to what is there.
#[inline(always)]
fn tree<T: Element<Lane = T>>(
    lanes: &mut [T],
    bits: &mut [u64],
    join: impl Fn(T, T) -> T,
    total: impl Fn(f64, T) -> f64,
) {
    let rows = bits.len();
    let mut half = LANES / 2;
    while half > 0 {
        let (near, far) = lanes[..2 * half * rows].split_at_mut(half * rows);
        for (a, &b) in near.iter_mut().zip(&*far) {
            *a = join(*a, b);
        }
        half /= 2;
    }
    for (bits, &block) in bits.iter_mut().zip(&*lanes) {
        *bits = total(f64::from_bits(*bits), block).to_bits();
    }
}

/// Integers, whose order is nobody's business.
///
/// Safety: that of [`AcrossFn`].
#[inline(always)]
unsafe fn exact<T: Element<Lane = i64>>(
    state: &mut Across,
    a: *const u8,
    columns: usize,
    join: impl Fn(i64, T) -> i64,
) {
    let rows = state.rows;
    for column in 0..columns {
        // SAFETY: this function's contract.
        let values = unsafe { std::slice::from_raw_parts(a.cast::<T>().add(column * rows), rows) };
        for (bits, &v) in state.bits.iter_mut().zip(values) {
            *bits = join(*bits as i64, v) as u64;
        }
    }
    state.count += columns;
}

/// The first place of each row's extreme, or of its first NaN.
///
/// Safety: that of [`AcrossFn`].
#[inline(always)]
unsafe fn places<T: Element>(state: &mut Across, a: *const u8, columns: usize, max: bool) {
    let rows = state.rows;
    for column in 0..columns {
        // SAFETY: this function's contract.
        let values = unsafe { std::slice::from_raw_parts(a.cast::<T>().add(column * rows), rows) };
        let place = state.count as i64;
        for ((bits, at), &v) in state.bits.iter_mut().zip(&mut state.places).zip(values) {
            let best = T::of_bits(*bits);
            let wins = *at < 0 || (!best.nan() && better(max, v, best));
            *bits = if wins { v.bits() } else { *bits };
            *at = if wins { place } else { *at };
        }
        state.count += 1;
    }
}

/// The loop for a reduction of elements of `dtype`.
pub(super) fn across_loop(kind: ReduceKind, dtype: DType, isa: Isa) -> AcrossFn {
    macro_rules! go {
        ($T:ty, |$state:ident, $a:ident, $n:ident| $e:expr) => {
            by_isa!(isa, AcrossFn, fn<>(state: &mut Across, a: *const u8, columns: usize) {{
                let ($state, $a, $n) = (state, a, columns);
                $e
            }}, [])
        };
    }
    macro_rules! args {
        ($T:ty, $max:literal) => {
            go!($T, |state, a, n| places::<$T>(state, a, n, $max))
        };
    }
    macro_rules! extreme {
        ($T:ty, $max:literal) => {
            go!($T, |state, a, n| blocks::<$T, true>(
                state,
                a,
                n,
                0.0,
                |x, y| if better($max, y, x) { y } else { x },
                |all, block| if better($max, f64::from(block), all) { f64::from(block) } else { all }
            ))
        };
    }
    macro_rules! floats {
        ($T:ty) => {
            match kind {
                ReduceKind::Sum => go!($T, |state, a, n| blocks::<$T, false>(
                    state,
                    a,
                    n,
                    0.0,
                    |x, y| x + y,
                    |all, block| all + f64::from(block)
                )),
                ReduceKind::Prod => go!($T, |state, a, n| blocks::<$T, false>(
                    state,
                    a,
                    n,
                    1.0,
                    |x, y| x * y,
                    |all, block| all * f64::from(block)
                )),
                ReduceKind::Max => extreme!($T, true),
                ReduceKind::Min => extreme!($T, false),
                ReduceKind::ArgMax => args!($T, true),
                ReduceKind::ArgMin => args!($T, false),
            }
        };
    }
    macro_rules! integers {
        ($T:ty) => {
            match kind {
                ReduceKind::Sum => {
                    go!($T, |state, a, n| exact::<$T>(state, a, n, |all, v| all.wrapping_add(v.widen())))
                }
                ReduceKind::Prod => {
                    go!($T, |state, a, n| exact::<$T>(state, a, n, |all, v| all.wrapping_mul(v.widen())))
                }
                ReduceKind::Max => {
                    go!($T, |state, a, n| exact::<$T>(state, a, n, |all, v| all.max(v.ranked())))
                }
                ReduceKind::Min => {
                    go!($T, |state, a, n| exact::<$T>(state, a, n, |all, v| all.min(v.ranked())))
                }
                ReduceKind::ArgMax => args!($T, true),
                ReduceKind::ArgMin => args!($T, false),
            }
        };
    }
    match Cell::of(dtype) {
        Cell::F32 => floats!(f32),
        Cell::F64 => floats!(f64),
        Cell::I64 => integers!(i64),
        Cell::I32 => integers!(i32),
        Cell::U64 => integers!(u64),
        Cell::U8 | Cell::Bool => integers!(u8),
    }
}
