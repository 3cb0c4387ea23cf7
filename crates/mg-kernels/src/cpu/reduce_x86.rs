//! Sums, products and extremes of floats in vector registers: the order of [`super::reduce`], written out, because compilers keep
//! its lanes in memory.

use super::loops::Isa;
use super::reduce::{Acc, BLOCK, Element, LANES, ReduceFn, better};
use crate::program::ReduceKind;
use mg_device::DType;
use std::arch::x86_64::*;

/// A register of floats. Methods are inlined into functions that have the instructions.
trait Vector: Copy {
    type Float: Element + Into<f64>;
    /// Floats in a register.
    const WIDTH: usize;
    unsafe fn splat(v: Self::Float) -> Self;
    unsafe fn load(a: *const Self::Float) -> Self;
    unsafe fn add(self, o: Self) -> Self;
    unsafe fn mul(self, o: Self) -> Self;
    /// `o` where it is larger (smaller, if not `MAX`) or a NaN, else `self`.
    unsafe fn better<const MAX: bool>(self, o: Self) -> Self;
    /// `o` where it is larger (smaller, if not `MAX`), else `self`; so a NaN of `o` is left out.
    unsafe fn beyond<const MAX: bool>(self, o: Self) -> Self;
    /// Where NaNs were met.
    type Nans: Copy;
    const NONE: Self::Nans;
    unsafe fn note_nans(nans: Self::Nans, a: Self, b: Self) -> Self::Nans;
    unsafe fn any(nans: Self::Nans) -> bool;
    /// Writes the floats out.
    unsafe fn store(self, to: *mut Self::Float);
}

macro_rules! vector {
    ($V:ty, $T:ty, $width:literal, $splat:ident $load:ident $add:ident $mul:ident $store:ident, $max:ident $min:ident, |$a:ident, $b:ident, $MAX:ident| $better:expr, $Nans:ty, $or:path, $unordered:expr, |$nans:ident| $any:expr) => {
        impl Vector for $V {
            type Float = $T;
            const WIDTH: usize = $width;
            #[inline(always)]
            unsafe fn splat(v: $T) -> Self {
                // SAFETY: the functions below that use this have the instructions.
                unsafe { $splat(v) }
            }
            #[inline(always)]
            unsafe fn load(a: *const $T) -> Self {
                // SAFETY: the caller's `a` is valid for a register's reads.
                unsafe { $load(a) }
            }
            #[inline(always)]
            unsafe fn add(self, o: Self) -> Self {
                // SAFETY: as for `splat`.
                unsafe { $add(self, o) }
            }
            #[inline(always)]
            unsafe fn mul(self, o: Self) -> Self {
                // SAFETY: as for `splat`.
                unsafe { $mul(self, o) }
            }
            #[inline(always)]
            unsafe fn better<const $MAX: bool>(self, o: Self) -> Self {
                let ($a, $b) = (self, o);
                // SAFETY: as for `splat`.
                unsafe { $better }
            }
            #[inline(always)]
            unsafe fn beyond<const MAX: bool>(self, o: Self) -> Self {
                // SAFETY: as for `splat`. Where neither is beyond the other, the instructions answer with their second operand.
                unsafe { if MAX { $max(o, self) } else { $min(o, self) } }
            }
            type Nans = $Nans;
            // SAFETY: all bits of these are zeros.
            const NONE: $Nans = unsafe { std::mem::zeroed() };
            #[inline(always)]
            unsafe fn note_nans(nans: $Nans, $a: Self, $b: Self) -> $Nans {
                // SAFETY: as for `splat`.
                unsafe { $or(nans, $unordered) }
            }
            #[inline(always)]
            #[allow(unused_unsafe)] // masks are numbers
            unsafe fn any($nans: $Nans) -> bool {
                // SAFETY: as for `splat`.
                unsafe { $any }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $T) {
                // SAFETY: the caller's `to` is valid for a register's writes.
                unsafe { $store(to, self) }
            }
        }
    };
}

vector!(__m512, f32, 16, _mm512_set1_ps _mm512_loadu_ps _mm512_add_ps _mm512_mul_ps _mm512_storeu_ps, _mm512_max_ps _mm512_min_ps, |a, b, MAX| {
    let wins =
        if MAX { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(b, a) } else { _mm512_cmp_ps_mask::<_CMP_LT_OQ>(b, a) };
    _mm512_mask_blend_ps(wins | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(b, b), a, b)
}, __mmask16, std::ops::BitOr::bitor, _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b), |nans| nans != 0);
vector!(__m512d, f64, 8, _mm512_set1_pd _mm512_loadu_pd _mm512_add_pd _mm512_mul_pd _mm512_storeu_pd, _mm512_max_pd _mm512_min_pd, |a, b, MAX| {
    let wins =
        if MAX { _mm512_cmp_pd_mask::<_CMP_GT_OQ>(b, a) } else { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(b, a) };
    _mm512_mask_blend_pd(wins | _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(b, b), a, b)
}, __mmask8, std::ops::BitOr::bitor, _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, b), |nans| nans != 0);
vector!(__m256, f32, 8, _mm256_set1_ps _mm256_loadu_ps _mm256_add_ps _mm256_mul_ps _mm256_storeu_ps, _mm256_max_ps _mm256_min_ps, |a, b, MAX| {
    let wins = if MAX { _mm256_cmp_ps::<_CMP_GT_OQ>(b, a) } else { _mm256_cmp_ps::<_CMP_LT_OQ>(b, a) };
    _mm256_blendv_ps(a, b, _mm256_or_ps(wins, _mm256_cmp_ps::<_CMP_UNORD_Q>(b, b)))
}, __m256, _mm256_or_ps, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b), |nans| _mm256_movemask_ps(nans) != 0);
vector!(__m256d, f64, 4, _mm256_set1_pd _mm256_loadu_pd _mm256_add_pd _mm256_mul_pd _mm256_storeu_pd, _mm256_max_pd _mm256_min_pd, |a, b, MAX| {
    let wins = if MAX { _mm256_cmp_pd::<_CMP_GT_OQ>(b, a) } else { _mm256_cmp_pd::<_CMP_LT_OQ>(b, a) };
    _mm256_blendv_pd(a, b, _mm256_or_pd(wins, _mm256_cmp_pd::<_CMP_UNORD_Q>(b, b)))
}, __m256d, _mm256_or_pd, _mm256_cmp_pd::<_CMP_UNORD_Q>(a, b), |nans| _mm256_movemask_pd(nans) != 0);

/// Joins at most [`BLOCK`] floats: by lanes, then by halves. `R` registers hold the lanes.
///
/// Safety: `a` is valid for `n` reads; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn fold<V: Vector, const R: usize>(
    a: *const V::Float,
    n: usize,
    neutral: V::Float,
    join: impl Fn(V, V) -> V,
    join_one: impl Fn(V::Float, V::Float) -> V::Float,
) -> V::Float {
    const { assert!(R * V::WIDTH == LANES) };
    // SAFETY: this function's contract; `rest` and `few` have room for what is loaded and stored.
    unsafe {
        let mut lanes = [V::splat(neutral); R];
        let mut at = 0;
        while at + LANES <= n {
            for (r, lane) in lanes.iter_mut().enumerate() {
                *lane = join(*lane, V::load(a.add(at + r * V::WIDTH)));
            }
            at += LANES;
        }
        if at < n {
            // Joined with the neutral value, a lane stays what it is.
            let mut rest = [neutral; LANES];
            std::ptr::copy_nonoverlapping(a.add(at), rest.as_mut_ptr(), n - at);
            for (r, lane) in lanes.iter_mut().enumerate() {
                *lane = join(*lane, V::load(rest.as_ptr().add(r * V::WIDTH)));
            }
        }
        let mut half = R / 2;
        while half > 0 {
            for r in 0..half {
                lanes[r] = join(lanes[r], lanes[r + half]);
            }
            half /= 2;
        }
        let mut few = [neutral; 16];
        lanes[0].store(few.as_mut_ptr());
        let mut half = V::WIDTH / 2;
        while half > 0 {
            for j in 0..half {
                few[j] = join_one(few[j], few[j + half]);
            }
            half /= 2;
        }
        few[0]
    }
}

/// Safety: as [`fold`].
#[inline(always)]
unsafe fn sum<V: Vector, const R: usize>(acc: &mut Acc, a: *const u8, n: usize)
where
    V::Float: std::ops::Add<Output = V::Float> + Default,
{
    let a = a.cast::<V::Float>();
    let mut total = f64::from_bits(acc.bits);
    for at in (0..n).step_by(BLOCK) {
        // SAFETY: this function's contract.
        let block = unsafe {
            fold::<V, R>(a.add(at), BLOCK.min(n - at), V::Float::default(), |x, y| x.add(y), |x, y| x + y)
        };
        total += block.into();
    }
    acc.bits = total.to_bits();
}

/// Safety: as [`fold`].
#[inline(always)]
unsafe fn prod<V: Vector, const R: usize>(acc: &mut Acc, a: *const u8, n: usize)
where
    V::Float: std::ops::Mul<Output = V::Float> + From<f32>,
{
    let a = a.cast::<V::Float>();
    let mut total = f64::from_bits(acc.bits);
    for at in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - at);
        // SAFETY: this function's contract.
        let block = unsafe { fold::<V, R>(a.add(at), len, 1.0.into(), |x, y| x.mul(y), |x, y| x * y) };
        total *= block.into();
    }
    acc.bits = total.to_bits();
}

/// The extreme of at most [`BLOCK`] floats, at least one.
///
/// Safety: as [`fold`].
#[inline(always)]
unsafe fn extreme_of<V: Vector, const R: usize, const MAX: bool>(a: *const V::Float, n: usize) -> V::Float {
    // SAFETY: this function's contract.
    unsafe {
        if n == BLOCK
            && let Some(found) = extreme_of_numbers::<V, R, MAX>(a)
        {
            return found;
        }
        fold::<V, R>(a, n, *a, |x, y| x.better::<MAX>(y), |x, y| if better(MAX, y, x) { y } else { x })
    }
}

/// The extreme of [`BLOCK`] floats, if none is a NaN: of equal zeros the one that [`fold`] would find.
///
/// Safety: as [`fold`].
#[inline(always)]
unsafe fn extreme_of_numbers<V: Vector, const R: usize, const MAX: bool>(
    a: *const V::Float,
) -> Option<V::Float> {
    // SAFETY: this function's contract: `a` is valid for a block, and a block is some times all lanes.
    unsafe {
        let mut lanes = [V::splat(*a); R];
        let mut nans = V::NONE;
        let mut at = 0;
        while at < BLOCK {
            let mut r = 0;
            while r < R {
                let (x, y) = (V::load(a.add(at + r * V::WIDTH)), V::load(a.add(at + (r + 1) * V::WIDTH)));
                lanes[r] = lanes[r].beyond::<MAX>(x);
                lanes[r + 1] = lanes[r + 1].beyond::<MAX>(y);
                nans = V::note_nans(nans, x, y);
                r += 2;
            }
            at += LANES;
        }
        if V::any(nans) {
            return None;
        }
        // Written out: a closure that is not inlined would be compiled without the instructions.
        let mut half = R / 2;
        while half > 0 {
            for r in 0..half {
                lanes[r] = lanes[r].beyond::<MAX>(lanes[r + half]);
            }
            half /= 2;
        }
        let mut few = [*a; 16];
        lanes[0].store(few.as_mut_ptr());
        let mut half = V::WIDTH / 2;
        while half > 0 {
            for j in 0..half {
                few[j] = if better(MAX, few[j + half], few[j]) { few[j + half] } else { few[j] };
            }
            half /= 2;
        }
        Some(few[0])
    }
}

/// Safety: as [`fold`].
#[inline(always)]
unsafe fn extreme<V: Vector, const R: usize, const MAX: bool>(acc: &mut Acc, a: *const u8, n: usize) {
    let a = a.cast::<V::Float>();
    for at in (0..n).step_by(BLOCK) {
        // SAFETY: this function's contract.
        let best: f64 = unsafe { extreme_of::<V, R, MAX>(a.add(at), BLOCK.min(n - at)) }.into();
        // A NaN found before stays: nothing is better than it but another NaN.
        if better(MAX, best, f64::from_bits(acc.bits)) {
            acc.bits = best.to_bits();
        }
    }
}

/// Safety: as [`fold`].
#[inline(always)]
unsafe fn arg<V: Vector, const R: usize, const MAX: bool>(acc: &mut Acc, a: *const u8, n: usize, base: i64) {
    let a = a.cast::<V::Float>();
    for at in (0..n).step_by(BLOCK) {
        let len = BLOCK.min(n - at);
        // SAFETY: this function's contract.
        let (best, block) =
            unsafe { (extreme_of::<V, R, MAX>(a.add(at), len), std::slice::from_raw_parts(a.add(at), len)) };
        let (wide, so_far): (f64, f64) = (best.into(), f64::from_bits(acc.bits));
        if acc.index < 0 || (!so_far.is_nan() && better(MAX, wide, so_far)) {
            let found = block.iter().position(|&v| if best.nan() { v.nan() } else { v == best });
            *acc = Acc { bits: wide.to_bits(), index: base + (at + found.unwrap_or(0)) as i64 };
        }
    }
}

/// The loop for a reduction of floats, where there is one here.
pub(super) fn reduce_loop(kind: ReduceKind, dtype: DType, isa: Isa) -> Option<ReduceFn> {
    macro_rules! of {
        ($feature:literal, $V:ty, $R:literal) => {{
            macro_rules! go {
                (|$acc:ident, $a:ident, $n:ident, $base:ident| $e:expr) => {{
                    #[target_feature(enable = $feature)]
                    unsafe fn run($acc: &mut Acc, $a: *const u8, $n: usize, $base: i64) {
                        // SAFETY: the contract of `ReduceFn`; the caller has found the instructions.
                        unsafe { $e }
                    }
                    run as ReduceFn
                }};
            }
            match kind {
                ReduceKind::Sum => go!(|acc, a, n, _base| sum::<$V, $R>(acc, a, n)),
                ReduceKind::Max => go!(|acc, a, n, _base| extreme::<$V, $R, true>(acc, a, n)),
                ReduceKind::Min => go!(|acc, a, n, _base| extreme::<$V, $R, false>(acc, a, n)),
                ReduceKind::ArgMax => go!(|acc, a, n, base| arg::<$V, $R, true>(acc, a, n, base)),
                ReduceKind::ArgMin => go!(|acc, a, n, base| arg::<$V, $R, false>(acc, a, n, base)),
                ReduceKind::Prod => go!(|acc, a, n, _base| prod::<$V, $R>(acc, a, n)),
            }
        }};
    }
    let single = dtype.size() < 8;
    Some(match isa {
        _ if !dtype.is_float() => return None,
        Isa::Avx512 if single => of!("avx512f,avx2,fma", __m512, 4),
        Isa::Avx512 => of!("avx512f,avx2,fma", __m512d, 8),
        Isa::Avx2 if single => of!("avx2,fma", __m256, 8),
        Isa::Avx2 => of!("avx2,fma", __m256d, 16),
        Isa::Baseline => return None,
    })
}
