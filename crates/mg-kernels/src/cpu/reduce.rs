//! Reductions over runs of elements.
//!
//! The order of additions is a function of sizes alone, so a result does not depend on the number of threads, on the
//! instruction set, or on what a sum was fused with: floats are added in blocks of [`BLOCK`] elements by a tree over
//! [`LANES`] lanes, blocks one after the other in f64. (Pairwise summation bounds the error within a block, f64 across
//! them; Higham, "The accuracy of floating point summation", 1993.)

use super::loops::{Isa, by_isa, cell_size};
use super::reduce_across::{AcrossFn, across_loop};
use crate::cell::Cell;
use crate::program::ReduceKind;
use mg_device::{DType, Float};

/// Elements that are added by one tree.
pub const BLOCK: usize = 512;
/// Independent accumulators within a block.
pub const LANES: usize = 64;
/// Elements of a full reduction that one task takes; a multiple of [`BLOCK`].
pub const CHUNK: usize = 1 << 16;
/// Rows of a reduction over outer dimensions that are added before the sum goes to f64.
pub const ROW_BLOCK: usize = 64;

/// A reduction under way: f64 bits for floats, i64 for integers (of u64 an i64 in the same order, where order counts), and
/// the index for arg reductions.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Acc {
    /// The value so far.
    pub bits: u64,
    /// Where it was found.
    pub index: i64,
}

/// Adds `n` elements, the first of which has the index `base`, to an accumulator.
///
/// Safety: `a` is valid for `n` reads of the dtype that the function was chosen for.
pub type ReduceFn = unsafe fn(acc: &mut Acc, a: *const u8, n: usize, base: i64);

/// The functions of one reduction of one dtype.
#[derive(Clone, Copy)]
pub struct Reducer {
    /// What is reduced.
    pub kind: ReduceKind,
    /// The dtype of the elements.
    pub dtype: DType,
    /// Adds a run of elements.
    pub run: ReduceFn,
    /// Adds columns of many rows: to each row as `run` would, bit by bit.
    pub(super) across: AcrossFn,
    /// Reduces rows of at most [`SHORT_ROW`] elements, where there is such a loop: as `run` would, bit by bit.
    short_rows: Option<RowsFn>,
}

/// The longest rows that are reduced side by side.
pub const SHORT_ROW: usize = 16;

/// Reduces rows of at most [`SHORT_ROW`] elements, and at least one, each to a cell.
///
/// Safety: `src` is valid for reads of all rows, `dst` for a cell a row.
type RowsFn = unsafe fn(dst: *mut u8, src: *const u8, rows: usize, columns: usize);

impl Reducer {
    /// The reducer for elements of `dtype`.
    pub fn new(kind: ReduceKind, dtype: DType, isa: Isa) -> Reducer {
        let across = across_loop(kind, dtype, isa);
        let short_rows = rows_loop(kind, dtype, isa);
        Reducer { kind, dtype, run: reduce_loop(kind, dtype, isa), across, short_rows }
    }

    /// Reduces whole rows, each to a cell.
    ///
    /// # Safety
    ///
    /// `src` is valid for reads of all rows' cells, `dst` for a cell of the result a row.
    pub unsafe fn rows(&self, dst: *mut u8, src: *const u8, rows: usize, columns: usize) {
        // SAFETY: this function's contract.
        unsafe {
            if let Some(short) = self.short_rows.filter(|_| (1..=SHORT_ROW).contains(&columns)) {
                return short(dst, src, rows, columns);
            }
            let size = cell_size(self.dtype);
            let result = cell_size(self.kind.result(self.dtype));
            for row in 0..rows {
                let mut acc = self.init();
                if columns > 0 {
                    (self.run)(&mut acc, src.add(row * columns * size), columns, 0);
                }
                self.finish(&acc, dst.add(row * result));
            }
        }
    }

    /// The accumulator of nothing.
    pub fn init(&self) -> Acc {
        let bits = match self.dtype.is_float() {
            true => self.kind.neutral_float().to_bits(),
            false => self.kind.neutral([0, 1, i64::MIN, i64::MAX]) as u64,
        };
        Acc { bits, index: -1 }
    }

    /// Joins the accumulator of the elements that follow.
    pub fn combine(&self, acc: &mut Acc, next: &Acc) {
        if self.dtype.is_float() {
            let (a, b) = (f64::from_bits(acc.bits), f64::from_bits(next.bits));
            match self.kind {
                ReduceKind::Sum => acc.bits = (a + b).to_bits(),
                ReduceKind::Prod => acc.bits = (a * b).to_bits(),
                ReduceKind::Max => acc.bits = if b > a || b.is_nan() { b } else { a }.to_bits(),
                ReduceKind::Min => acc.bits = if b < a || b.is_nan() { b } else { a }.to_bits(),
                ReduceKind::ArgMax => take(acc, next, !a.is_nan() && (b > a || b.is_nan())),
                ReduceKind::ArgMin => take(acc, next, !a.is_nan() && (b < a || b.is_nan())),
            }
        } else {
            let (a, b) = (acc.bits as i64, next.bits as i64);
            match self.kind {
                ReduceKind::Sum => acc.bits = a.wrapping_add(b) as u64,
                ReduceKind::Prod => acc.bits = a.wrapping_mul(b) as u64,
                ReduceKind::Max => acc.bits = a.max(b) as u64,
                ReduceKind::Min => acc.bits = a.min(b) as u64,
                ReduceKind::ArgMax => take(acc, next, b > a),
                ReduceKind::ArgMin => take(acc, next, b < a),
            }
        }
    }

    /// Writes the result into a tile cell (half types as rounded f32).
    ///
    /// # Safety
    ///
    /// `dst` is valid for a write of the result's cell.
    pub unsafe fn finish(&self, acc: &Acc, dst: *mut u8) {
        // SAFETY: by this function's contract.
        unsafe {
            if self.kind.is_arg() {
                dst.cast::<i64>().write_unaligned(acc.index.max(0));
                return;
            }
            let value = f64::from_bits(acc.bits);
            let result = self.kind.result(self.dtype);
            match Cell::of(result) {
                Cell::F64 => dst.cast::<f64>().write_unaligned(value),
                Cell::F32 => {
                    let rounded = match result.float() {
                        Some(Float::F16) => half::f16::from_f64(value).to_f32(),
                        Some(Float::BF16) => half::bf16::from_f64(value).to_f32(),
                        Some(Float::F32 | Float::F64) | None => value as f32,
                    };
                    dst.cast::<f32>().write_unaligned(rounded);
                }
                Cell::I64 => dst.cast::<i64>().write_unaligned(acc.bits as i64),
                Cell::U64 => {
                    let ordered = matches!(self.kind, ReduceKind::Max | ReduceKind::Min);
                    let v = if ordered { <u64 as Element>::of_bits(acc.bits) } else { acc.bits };
                    dst.cast::<u64>().write_unaligned(v);
                }
                Cell::I32 => {
                    let v = (acc.bits as i64).clamp(i32::MIN as i64, i32::MAX as i64);
                    dst.cast::<i32>().write_unaligned(v as i32)
                }
                Cell::U8 | Cell::Bool => dst.write((acc.bits as i64).clamp(0, 255) as u8),
            }
        }
    }
}

fn take(acc: &mut Acc, next: &Acc, wins: bool) {
    if next.index >= 0 && (wins || acc.index < 0) {
        *acc = *next;
    }
}

/// What reductions ask of an element.
pub(super) trait Element: Copy + PartialOrd + 'static {
    /// What lanes add in.
    type Lane: Copy;
    const ZERO: Self::Lane;
    const ONE: Self::Lane;
    /// Whether additions are exact, so that their order is nobody's business.
    const IS_EXACT: bool;
    fn widen(self) -> Self::Lane;
    /// The element among lanes that are compared.
    fn ranked(self) -> Self::Lane;
    fn add(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    fn mul(a: Self::Lane, b: Self::Lane) -> Self::Lane;
    /// Folds a block's sum or product into the accumulator.
    fn add_to(acc: &mut Acc, block: Self::Lane);
    fn mul_to(acc: &mut Acc, block: Self::Lane);
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    fn nan(self) -> bool;
}

macro_rules! float_element {
    ($T:ty, $Prod:ty) => {
        impl Element for $T {
            type Lane = $T;
            const ZERO: $T = 0.0;
            const ONE: $T = 1.0;
            const IS_EXACT: bool = false;
            #[inline(always)]
            fn widen(self) -> $T {
                self
            }
            #[inline(always)]
            fn ranked(self) -> $T {
                self
            }
            #[inline(always)]
            fn add(a: $T, b: $T) -> $T {
                a + b
            }
            #[inline(always)]
            fn mul(a: $T, b: $T) -> $T {
                a * b
            }
            #[inline(always)]
            fn add_to(acc: &mut Acc, block: $T) {
                acc.bits = (f64::from_bits(acc.bits) + block as f64).to_bits();
            }
            #[inline(always)]
            fn mul_to(acc: &mut Acc, block: $T) {
                acc.bits = (f64::from_bits(acc.bits) * block as f64).to_bits();
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                (self as f64).to_bits()
            }
            #[inline(always)]
            fn of_bits(bits: u64) -> $T {
                f64::from_bits(bits) as $T
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self != self
            }
        }
    };
}
float_element!(f32, f64);
float_element!(f64, f64);

macro_rules! int_element {
    ($T:ty, |$v:ident| $rank:expr, |$r:ident| $of_rank:expr) => {
        impl Element for $T {
            type Lane = i64;
            const ZERO: i64 = 0;
            const ONE: i64 = 1;
            const IS_EXACT: bool = true;
            #[inline(always)]
            fn widen(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn ranked(self) -> i64 {
                let $v = self;
                $rank
            }
            #[inline(always)]
            fn add(a: i64, b: i64) -> i64 {
                a.wrapping_add(b)
            }
            #[inline(always)]
            fn mul(a: i64, b: i64) -> i64 {
                a.wrapping_mul(b)
            }
            #[inline(always)]
            fn add_to(acc: &mut Acc, block: i64) {
                acc.bits = (acc.bits as i64).wrapping_add(block) as u64;
            }
            #[inline(always)]
            fn mul_to(acc: &mut Acc, block: i64) {
                acc.bits = (acc.bits as i64).wrapping_mul(block) as u64;
            }
            #[inline(always)]
            fn bits(self) -> u64 {
                self.ranked() as u64
            }
            #[inline(always)]
            fn of_bits(bits: u64) -> $T {
                let $r = bits as i64;
                $of_rank
            }
            #[inline(always)]
            fn nan(self) -> bool {
                false
            }
        }
    };
}
int_element!(i64, |v| v, |r| r);
int_element!(i32, |v| v as i64, |r| r.clamp(i32::MIN as i64, i32::MAX as i64) as i32);
int_element!(u8, |v| v as i64, |r| r.clamp(0, 255) as u8);
// With the highest bit turned over, the order is that of numbers with a sign.
int_element!(u64, |v| (v ^ 1 << 63) as i64, |r| r as u64 ^ 1 << 63);

/// Combines at most [`BLOCK`] elements by [`LANES`] lanes and a tree that halves them. Lanes without an element hold
/// the neutral value, so folding only the lanes in use gives the same bits.
#[inline(always)]
fn fold_block<T: Element, R: Copy>(
    a: &[T],
    neutral: R,
    first: impl Fn(T) -> R,
    join: impl Fn(R, R) -> R,
) -> R {
    let mut lanes = [neutral; LANES];
    for run in a.chunks(LANES) {
        for (lane, &v) in lanes.iter_mut().zip(run) {
            *lane = join(*lane, first(v));
        }
    }
    if a.len() > 32 {
        halve::<R, 32>(&mut lanes, &join);
    }
    if a.len() > 16 {
        halve::<R, 16>(&mut lanes, &join);
    }
    halve::<R, 8>(&mut lanes, &join);
    halve::<R, 4>(&mut lanes, &join);
    halve::<R, 2>(&mut lanes, &join);
    join(lanes[0], lanes[1])
}

/// Joins each of the first `W` lanes with the one `W` further.
#[inline(always)]
fn halve<R: Copy, const W: usize>(lanes: &mut [R; LANES], join: &impl Fn(R, R) -> R) {
    for j in 0..W {
        lanes[j] = join(lanes[j], lanes[j + W]);
    }
}

#[inline(always)]
unsafe fn slice<'a, T>(a: *const u8, n: usize) -> &'a [T] {
    // SAFETY: by the contract of `ReduceFn`.
    unsafe { std::slice::from_raw_parts(a.cast::<T>(), n) }
}

#[inline(always)]
fn sum<T: Element>(acc: &mut Acc, a: &[T]) {
    if T::IS_EXACT {
        // In any order, as it suits the compiler.
        return T::add_to(acc, a.iter().fold(T::ZERO, |sum, v| T::add(sum, v.widen())));
    }
    for block in a.chunks(BLOCK) {
        T::add_to(acc, fold_block(block, T::ZERO, T::widen, T::add));
    }
}

#[inline(always)]
fn prod<T: Element>(acc: &mut Acc, a: &[T]) {
    for block in a.chunks(BLOCK) {
        T::mul_to(acc, fold_block(block, T::ONE, T::widen, T::mul));
    }
}

/// Whether `candidate` takes the place of `best`: it is larger (smaller, unless `max`), or a NaN.
#[inline(always)]
pub(super) fn better<T: Element>(max: bool, candidate: T, best: T) -> bool {
    (if max { candidate > best } else { candidate < best }) || candidate.nan()
}

#[inline(always)]
fn extreme<T: Element>(acc: &mut Acc, a: &[T], max: bool) {
    let Some(&first) = a.first() else { return };
    let better_of = |x, y| if better(max, y, x) { y } else { x };
    let best = match T::IS_EXACT {
        true => a.iter().fold(first, |x, &y| better_of(x, y)),
        false => fold_block(a, first, |v| v, better_of),
    };
    let so_far = T::of_bits(acc.bits);
    // A NaN found before stays: nothing is better than it but another NaN.
    if better(max, best, so_far) {
        acc.bits = best.bits();
    }
}

#[inline(always)]
fn arg<T: Element>(acc: &mut Acc, a: &[T], base: i64, max: bool) {
    for (b, block) in a.chunks(BLOCK).enumerate() {
        let Some(&first) = block.first() else { return };
        let best = fold_block(block, first, |v| v, |x, y| if better(max, y, x) { y } else { x });
        let so_far = T::of_bits(acc.bits);
        let wins = acc.index < 0 || (!so_far.nan() && better(max, best, so_far));
        if wins {
            let at = block.iter().position(|&v| if best.nan() { v.nan() } else { v == best });
            acc.bits = best.bits();
            acc.index = base + (b * BLOCK + at.unwrap_or(0)) as i64;
        }
    }
}

fn reduce_loop(kind: ReduceKind, dtype: DType, isa: Isa) -> ReduceFn {
    #[cfg(target_arch = "x86_64")]
    if let Some(f) = super::reduce_x86::reduce_loop(kind, dtype, isa) {
        return f;
    }
    macro_rules! kinds {
        ($T:ty) => {
            match kind {
                ReduceKind::Sum => go!($T, |acc, a, _base| sum::<$T>(acc, a)),
                ReduceKind::Prod => go!($T, |acc, a, _base| prod::<$T>(acc, a)),
                ReduceKind::Max => go!($T, |acc, a, _base| extreme::<$T>(acc, a, true)),
                ReduceKind::Min => go!($T, |acc, a, _base| extreme::<$T>(acc, a, false)),
                ReduceKind::ArgMax => go!($T, |acc, a, base| arg::<$T>(acc, a, base, true)),
                ReduceKind::ArgMin => go!($T, |acc, a, base| arg::<$T>(acc, a, base, false)),
            }
        };
    }
    macro_rules! go {
        ($T:ty, |$acc:ident, $a:ident, $base:ident| $e:expr) => {
            by_isa!(isa, ReduceFn, fn<>(acc: &mut Acc, a: *const u8, n: usize, base: i64) {{
                let ($acc, $a, $base) = (acc, slice::<$T>(a, n), base);
                $e
            }}, [])
        };
    }
    match Cell::of(dtype) {
        Cell::F32 => kinds!(f32),
        Cell::F64 => kinds!(f64),
        Cell::I64 => kinds!(i64),
        Cell::I32 => kinds!(i32),
        Cell::U64 => kinds!(u64),
        Cell::U8 | Cell::Bool => kinds!(u8),
    }
}

/// Rows that are reduced side by side.
const SIDE: usize = 16;

/// Short rows, side by side: a register holds one element of each. The order is that of [`fold_block`], whose lanes without an element
/// change nothing.
///
/// Safety: that of [`RowsFn`].
#[inline(always)]
unsafe fn short_rows<T: Copy>(
    dst: *mut u8,
    src: *const u8,
    [rows, columns]: [usize; 2],
    zero: T,
    first: impl Fn(T, T) -> T,
    join: impl Fn(T, T) -> T,
) {
    let (dst, src) = (dst.cast::<T>(), src.cast::<T>());
    let mut lanes = [[zero; SIDE]; SHORT_ROW];
    for top in (0..rows).step_by(SIDE) {
        let count = SIDE.min(rows - top);
        // SAFETY: this function's contract.
        let at = |row: usize, column: usize| unsafe { *src.add((top + row) * columns + column) };
        for (column, lane) in lanes[..columns].iter_mut().enumerate() {
            if count == SIDE {
                for (row, x) in lane.iter_mut().enumerate() {
                    *x = first(at(row, 0), at(row, column));
                }
            } else {
                for (row, x) in lane[..count].iter_mut().enumerate() {
                    *x = first(at(row, 0), at(row, column));
                }
            }
        }
        let mut left = columns;
        while left > 1 {
            let half = left.next_power_of_two() / 2;
            let (near, far) = lanes[..left].split_at_mut(half);
            for (a, b) in near.iter_mut().zip(far) {
                for (a, &b) in a.iter_mut().zip(&*b) {
                    *a = join(*a, b);
                }
            }
            left = half;
        }
        // SAFETY: this function's contract.
        let out = unsafe { std::slice::from_raw_parts_mut(dst.add(top), count) };
        out.copy_from_slice(&lanes[0][..count]);
    }
}

/// The loop for short rows of f32 and f64; what is found, and where, is looked for row by row.
fn rows_loop(kind: ReduceKind, dtype: DType, isa: Isa) -> Option<RowsFn> {
    macro_rules! kinds {
        ($T:ty) => {
            match kind {
                ReduceKind::Sum => go!($T, |_start, x| 0.0 + x, |x, y| x + y),
                ReduceKind::Prod => go!($T, |_start, x| 1.0 * x, |x, y| x * y),
                ReduceKind::Max => go!($T, |x, y| if better(true, y, x) { y } else { x }),
                ReduceKind::Min => go!($T, |x, y| if better(false, y, x) { y } else { x }),
                ReduceKind::ArgMax | ReduceKind::ArgMin => return None,
            }
        };
    }
    macro_rules! go {
        ($T:ty, |$x:ident, $y:ident| $e:expr) => { go!($T, |$x, $y| $e, |$x, $y| $e) };
        ($T:ty, |$s:ident, $v:ident| $first:expr, |$x:ident, $y:ident| $join:expr) => {
            by_isa!(isa, RowsFn, fn<>(dst: *mut u8, src: *const u8, rows: usize, columns: usize) {{
                short_rows::<$T>(dst, src, [rows, columns], 0.0, |$s, $v| $first, |$x, $y| $join)
            }}, [])
        };
    }
    // Half types are rounded once more.
    match dtype {
        DType::F32 => Some(kinds!(f32)),
        DType::F64 => Some(kinds!(f64)),
        _ => None,
    }
}

/// Adds a row of elements to per-column partial results of the same dtype: `partial[j] = partial[j] ∘ a[j]`.
///
/// Safety: both pointers are valid for `n` elements and do not overlap.
pub type ColumnFn = unsafe fn(partial: *mut u8, a: *const u8, n: usize);

/// Reductions over outer dimensions: rows are combined element by element in blocks of [`ROW_BLOCK`].
#[derive(Clone, Copy)]
pub struct ColumnReducer {
    /// The same reduction over runs: how columns are finished and chunks joined.
    pub by_run: Reducer,
    /// Combines a row into the partial results, which are f32 or f64 for floats and i64 for integers.
    pub row: ColumnFn,
    /// Bytes of one partial result.
    pub partial_size: usize,
}

impl ColumnReducer {
    /// The reducer for elements of `dtype`; `None` for arg reductions, which the scheduler gives a row program.
    pub fn new(kind: ReduceKind, dtype: DType, isa: Isa) -> Option<ColumnReducer> {
        let by_run = Reducer::new(kind, dtype, isa);
        macro_rules! kinds {
            ($T:ty) => {
                match kind {
                    ReduceKind::Sum => go!($T, |p, v| <$T>::add(p, v.widen())),
                    ReduceKind::Prod => go!($T, |p, v| <$T>::mul(p, v.widen())),
                    ReduceKind::Max => {
                        go!($T, |p, v| if better(true, v.ranked(), p) { v.ranked() } else { p })
                    }
                    ReduceKind::Min => {
                        go!($T, |p, v| if better(false, v.ranked(), p) { v.ranked() } else { p })
                    }
                    ReduceKind::ArgMax | ReduceKind::ArgMin => return None,
                }
            };
        }
        macro_rules! go {
            ($T:ty, |$p:ident, $v:ident| $e:expr) => {
                (
                    by_isa!(isa, ColumnFn, fn<>(partial: *mut u8, a: *const u8, n: usize) {{
                        let p = std::slice::from_raw_parts_mut(partial.cast::<<$T as Element>::Lane>(), n);
                        let a = std::slice::from_raw_parts(a.cast::<$T>(), n);
                        for i in 0..n {
                            let ($p, $v) = (p[i], a[i]);
                            p[i] = $e;
                        }
                    }}, []),
                    std::mem::size_of::<<$T as Element>::Lane>(),
                )
            };
        }
        let (row, partial_size) = match Cell::of(dtype) {
            Cell::F32 => kinds!(f32),
            Cell::F64 => kinds!(f64),
            Cell::I64 => kinds!(i64),
            Cell::I32 => kinds!(i32),
            Cell::U64 => kinds!(u64),
            Cell::U8 | Cell::Bool => kinds!(u8),
        };
        Some(ColumnReducer { by_run, row, partial_size })
    }

    /// Sets `n` partial results to the neutral value.
    ///
    /// # Safety
    ///
    /// `partial` is valid for `n` partial results.
    pub unsafe fn clear(&self, partial: *mut u8, n: usize) {
        let init = self.by_run.init().bits;
        // SAFETY: by this function's contract; the size tells the type.
        unsafe {
            match (self.by_run.dtype.is_float(), self.partial_size) {
                (true, 4) => {
                    std::slice::from_raw_parts_mut(partial.cast::<f32>(), n).fill(f64::from_bits(init) as f32)
                }
                _ => std::slice::from_raw_parts_mut(partial.cast::<u64>(), n).fill(init),
            }
        }
    }

    /// Joins `n` partial results into accumulators, in order.
    ///
    /// # Safety
    ///
    /// Both pointers are valid for `n` elements.
    pub unsafe fn flush(&self, totals: *mut f64, partial: *const u8, n: usize) {
        // SAFETY: by this function's contract; totals are f64 for floats and i64 bits for integers.
        unsafe {
            if self.by_run.dtype.is_float() && self.by_run.kind == ReduceKind::Sum {
                let totals = std::slice::from_raw_parts_mut(totals, n);
                if self.partial_size == 4 {
                    for (t, &p) in totals.iter_mut().zip(std::slice::from_raw_parts(partial.cast::<f32>(), n))
                    {
                        *t += p as f64;
                    }
                } else {
                    for (t, &p) in totals.iter_mut().zip(std::slice::from_raw_parts(partial.cast::<f64>(), n))
                    {
                        *t += p;
                    }
                }
                return;
            }
            for j in 0..n {
                let bits = if self.by_run.dtype.is_float() && self.partial_size == 4 {
                    (*partial.cast::<f32>().add(j) as f64).to_bits()
                } else {
                    *partial.cast::<u64>().add(j)
                };
                let mut acc = Acc { bits: *totals.cast::<u64>().add(j), index: -1 };
                self.by_run.combine(&mut acc, &Acc { bits, index: -1 });
                *totals.cast::<u64>().add(j) = acc.bits;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::loops::isa;

    /// What is found for each row by a run of its own, and for all rows.
    fn both<T: Copy>(reducer: &Reducer, values: &[T], columns: usize) -> [Vec<T>; 2] {
        let rows = values.len() / columns;
        let [mut one, mut all] = [values[..rows].to_vec(), values[..rows].to_vec()];
        // SAFETY: there are so many rows of so many elements, and a place for each row.
        unsafe {
            for row in 0..rows {
                let mut acc = reducer.init();
                (reducer.run)(&mut acc, values[row * columns..].as_ptr().cast(), columns, 0);
                reducer.finish(&acc, one[row..].as_mut_ptr().cast());
            }
            reducer.rows(all.as_mut_ptr().cast(), values.as_ptr().cast(), rows, columns);
        }
        [one, all]
    }

    #[test]
    fn short_rows_have_the_bits_of_long_ones() {
        let odd = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-40, -3.5];
        let value = |i: usize| match i * 7919 % 31 {
            j if j < odd.len() => odd[j],
            j => (j as f64 - 17.3) * 1.7f64.powi((i % 9) as i32 - 4),
        };
        for kind in [ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Max, ReduceKind::Min] {
            for isa in [Isa::Baseline, isa()] {
                for columns in 1..=SHORT_ROW + 1 {
                    // Whole groups of rows and some more.
                    let wide: Vec<f64> = (0..columns * (2 * SIDE + 5)).map(value).collect();
                    let [one, all] = both(&Reducer::new(kind, DType::F64, isa), &wide, columns);
                    let same = one
                        .iter()
                        .zip(&all)
                        .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
                    assert!(same, "{kind:?} of {columns} f64: {one:?} and {all:?}");
                    let narrow: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
                    let [one, all] = both(&Reducer::new(kind, DType::F32, isa), &narrow, columns);
                    let same = one
                        .iter()
                        .zip(&all)
                        .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
                    assert!(same, "{kind:?} of {columns} f32: {one:?} and {all:?}");
                }
            }
        }
    }
}
