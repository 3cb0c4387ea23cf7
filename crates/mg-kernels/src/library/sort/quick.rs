//! Sorting words many at a time, on processors with AVX-512: quicksort, whose parts are divided by compressed stores, down to a few vectors,
//! which a bitonic network sorts (Batcher, "Sorting networks and their applications", 1968; Bramas, "A novel hybrid quicksort algorithm
//! vectorized using AVX-512", 2017). Words that are the same are the same words: nothing tells in which order they stand.

use std::arch::x86_64::*;

/// Vectors that a network sorts.
const VECTORS: usize = 8;

/// A vector of words.
trait Vector: Copy {
    type Word: Copy + Ord;
    const LANES: usize;
    /// No word is larger.
    const MOST: Self::Word;

    /// Of the first `n` words from `p`, and the largest word behind them.
    unsafe fn load(p: *const Self::Word, n: usize) -> Self;
    /// Writes the first `n` words.
    unsafe fn store(self, p: *mut Self::Word, n: usize);
    unsafe fn all(word: Self::Word) -> Self;
    /// Which are less than another's; which are no larger.
    unsafe fn less(self, other: Self) -> u32;
    unsafe fn at_most(self, other: Self) -> u32;
    /// Those of a mask, at the front.
    unsafe fn compressed(self, mask: u32) -> Self;
    unsafe fn sorted_with(self, other: Self) -> (Self, Self);
    /// The smaller of each word and that at distance `1 << by` in the other half of its block, the larger in the lanes of a mask.
    unsafe fn exchanged(self, by: u32, larger: u32) -> Self;
}

macro_rules! vector {
    ($Name:ident, $Word:ty, $lanes:expr, $Mask:ty, $set:ident, $load:ident, $store:ident, $less:ident, $at_most:ident, $compress:ident, $min:ident, $max:ident, $blend:ident, $permute:ident) => {
        #[derive(Clone, Copy)]
        struct $Name(__m512i);

        impl $Name {
            /// Each lane's neighbour at a distance of a power of two.
            const ACROSS: [[$Word; $lanes]; 4] = {
                let mut across = [[0; $lanes]; 4];
                let mut i = 0;
                while i < 4 * $lanes {
                    across[i / $lanes][i % $lanes] = ((i % $lanes) ^ (1 << (i / $lanes))) as $Word;
                    i += 1;
                }
                across
            };
        }

        // The processor has AVX-512 F, and pointers are valid for the words.
        impl Vector for $Name {
            type Word = $Word;
            const LANES: usize = $lanes;
            const MOST: $Word = <$Word>::MAX;

            #[inline(always)]
            unsafe fn load(p: *const $Word, n: usize) -> Self {
                // SAFETY: see above.
                unsafe { $Name($load($set(-1), first(n) as $Mask, p.cast())) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $Word, n: usize) {
                // SAFETY: see above.
                unsafe { $store(p.cast(), first(n) as $Mask, self.0) }
            }
            #[inline(always)]
            unsafe fn all(word: $Word) -> Self {
                // SAFETY: see above.
                unsafe { $Name($set(word as _)) }
            }
            #[inline(always)]
            unsafe fn less(self, other: Self) -> u32 {
                // SAFETY: see above.
                unsafe { $less(self.0, other.0).into() }
            }
            #[inline(always)]
            unsafe fn at_most(self, other: Self) -> u32 {
                // SAFETY: see above.
                unsafe { $at_most(self.0, other.0).into() }
            }
            #[inline(always)]
            unsafe fn compressed(self, mask: u32) -> Self {
                // SAFETY: see above.
                unsafe { $Name($compress(mask as $Mask, self.0)) }
            }
            #[inline(always)]
            unsafe fn sorted_with(self, other: Self) -> (Self, Self) {
                // SAFETY: see above.
                unsafe { ($Name($min(self.0, other.0)), $Name($max(self.0, other.0))) }
            }
            #[inline(always)]
            unsafe fn exchanged(self, by: u32, larger: u32) -> Self {
                // SAFETY: see above.
                unsafe {
                    let across = _mm512_loadu_si512(Self::ACROSS[by as usize].as_ptr().cast());
                    let (less, more) = self.sorted_with($Name($permute(across, self.0)));
                    $Name($blend(larger as $Mask, less.0, more.0))
                }
            }
        }
    };
}
vector!(
    Words32,
    u32,
    16,
    __mmask16,
    _mm512_set1_epi32,
    _mm512_mask_loadu_epi32,
    _mm512_mask_storeu_epi32,
    _mm512_cmplt_epu32_mask,
    _mm512_cmple_epu32_mask,
    _mm512_maskz_compress_epi32,
    _mm512_min_epu32,
    _mm512_max_epu32,
    _mm512_mask_blend_epi32,
    _mm512_permutexvar_epi32
);
vector!(
    Words64,
    u64,
    8,
    __mmask8,
    _mm512_set1_epi64,
    _mm512_mask_loadu_epi64,
    _mm512_mask_storeu_epi64,
    _mm512_cmplt_epu64_mask,
    _mm512_cmple_epu64_mask,
    _mm512_maskz_compress_epi64,
    _mm512_min_epu64,
    _mm512_max_epu64,
    _mm512_mask_blend_epi64,
    _mm512_permutexvar_epi64
);

/// The lowest `n` bits.
#[inline(always)]
fn first(n: usize) -> u32 {
    ((1u64 << n) - 1) as u32
}

/// Sorts words; `spare` is as long.
///
/// # Safety
///
/// The processor has AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
pub(super) unsafe fn sort32(words: &mut [u32], spare: &mut [u32]) {
    // SAFETY: this function's contract; both are as long.
    unsafe { sort::<Words32>(words.as_mut_ptr(), spare.as_mut_ptr(), words.len()) }
}

/// As [`sort32`].
///
/// # Safety
///
/// See there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi2,popcnt")]
pub(super) unsafe fn sort64(words: &mut [u64], spare: &mut [u64]) {
    // SAFETY: this function's contract; both are as long.
    unsafe { sort::<Words64>(words.as_mut_ptr(), spare.as_mut_ptr(), words.len()) }
}

/// Words that are still in no order.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    len: usize,
    /// Whether they lie in the spare memory.
    is_spare: bool,
    /// How often they may be divided still.
    left: u32,
}

#[inline(always)]
unsafe fn sort<V: Vector>(words: *mut V::Word, spare: *mut V::Word, n: usize) {
    // The larger of two parts waits: there are no more than halvings of the length.
    let mut waiting = [Part { start: 0, len: 0, is_spare: false, left: 0 }; 64];
    let mut count = 0;
    let mut part = Part { start: 0, len: n, is_spare: false, left: 2 * n.max(1).ilog2() };
    loop {
        // SAFETY: parts lie within the words, and in memory as long.
        unsafe {
            let to = words.add(part.start);
            let (from, other) = match part.is_spare {
                false => (to, spare.add(part.start)),
                true => (spare.add(part.start), to),
            };
            if part.len <= VECTORS * V::LANES {
                few::<V>(from, to, part.len);
            } else if part.left == 0 {
                // Pivots that divide badly time and again.
                if part.is_spare {
                    std::ptr::copy_nonoverlapping(from, to, part.len);
                }
                std::slice::from_raw_parts_mut(to, part.len).sort_unstable();
            } else {
                let pivot = pivot::<V>(from, part.len);
                let all = V::all(pivot);
                let below = divide::<V, false>(from, other, part.len, all);
                // Where nothing is less than the pivot, those that are equal to it are done.
                let (below, are_equal) = match below {
                    0 => (divide::<V, true>(from, other, part.len, all), true),
                    below => (below, false),
                };
                let next = Part { is_spare: !part.is_spare, left: part.left - 1, ..part };
                let mut low = Part { len: below, ..next };
                let mut high = Part { start: part.start + below, len: part.len - below, ..next };
                if are_equal {
                    if !part.is_spare {
                        std::ptr::copy_nonoverlapping(other, to, below);
                    }
                    low.len = 0;
                }
                if low.len > high.len {
                    std::mem::swap(&mut low, &mut high);
                }
                if high.len > 0 && low.len > 0 {
                    waiting[count] = high;
                    count += 1;
                    part = low;
                    continue;
                }
                if high.len > 0 {
                    part = high;
                    continue;
                }
            }
        }
        if count == 0 {
            return;
        }
        count -= 1;
        part = waiting[count];
    }
}

/// A word near the middle: of a few that are spread over all.
#[inline(always)]
unsafe fn pivot<V: Vector>(words: *const V::Word, n: usize) -> V::Word {
    let mut some = [V::MOST; 16];
    for (i, word) in some[..V::LANES].iter_mut().enumerate() {
        // SAFETY: less than `n`.
        *word = unsafe { *words.add((2 * i + 1) * (n / (2 * V::LANES))) };
    }
    // SAFETY: there are as many.
    unsafe {
        few::<V>(some.as_ptr(), some.as_mut_ptr(), V::LANES);
    }
    some[V::LANES / 2]
}

/// Writes those of `n` words that are less than a pivot (or `EQUAL` to it) to the front of `to` and the others behind them, and answers with how
/// many are in front.
#[inline(always)]
unsafe fn divide<V: Vector, const EQUAL: bool>(
    from: *const V::Word,
    to: *mut V::Word,
    n: usize,
    pivot: V,
) -> usize {
    let (mut front, mut end, mut at) = (0, n, 0);
    // SAFETY: as many words are written at either end as were read.
    unsafe {
        let mut next = |some: usize| {
            let words = V::load(from.add(at), some);
            let mask = if EQUAL { words.at_most(pivot) } else { words.less(pivot) } & first(some);
            let own = mask.count_ones() as usize;
            words.compressed(mask).store(to.add(front), own);
            front += own;
            end -= some - own;
            words.compressed(first(some) & !mask).store(to.add(end), some - own);
            at += some;
        };
        for _ in 0..n / V::LANES {
            next(V::LANES);
        }
        next(n % V::LANES);
    }
    front
}

/// Sorts what a network sorts.
#[inline(always)]
unsafe fn few<V: Vector>(from: *const V::Word, to: *mut V::Word, n: usize) {
    // SAFETY: the caller's.
    unsafe {
        match n.div_ceil(V::LANES) {
            0 => {}
            1 => network::<V, 1>(from, to, n),
            2 => network::<V, 2>(from, to, n),
            3..=4 => network::<V, 4>(from, to, n),
            _ => network::<V, VECTORS>(from, to, n),
        }
    }
}

/// A bitonic network over vectors, of which the last ones are filled up with the largest word.
#[inline(always)]
unsafe fn network<V: Vector, const N: usize>(from: *const V::Word, to: *mut V::Word, n: usize) {
    let lanes = V::LANES.ilog2();
    // SAFETY: the caller's; what lies beyond the words is not touched.
    unsafe {
        let mut v = [V::all(V::MOST); N];
        for (i, v) in v.iter_mut().enumerate() {
            let at = (i * V::LANES).min(n);
            *v = V::load(from.add(at), V::LANES.min(n - at));
        }
        for block in 1..=lanes + N.ilog2() {
            for by in (0..block).rev() {
                if by >= lanes {
                    let across = 1 << (by - lanes);
                    for i in 0..N {
                        if i & across == 0 {
                            let (less, more) = v[i].sorted_with(v[i | across]);
                            let is_falling = (i * V::LANES) >> block & 1 == 1;
                            (v[i], v[i | across]) = if is_falling { (more, less) } else { (less, more) };
                        }
                    }
                } else {
                    let larger = larger(V::LANES, block, by);
                    for (i, v) in v.iter_mut().enumerate() {
                        let is_falling = (i * V::LANES) >> block & 1 == 1;
                        *v = v.exchanged(by, if is_falling { !larger } else { larger });
                    }
                }
            }
        }
        for (i, v) in v.iter().enumerate() {
            let at = (i * V::LANES).min(n);
            v.store(to.add(at), V::LANES.min(n - at));
        }
    }
}

/// The lanes of the first vector that get the larger one of two words: the upper ones, or the lower ones in a block that falls.
#[inline(always)]
fn larger(lanes: usize, block: u32, by: u32) -> u32 {
    /// The lanes whose number has a bit.
    const HAVE: [u32; 5] = [0xaaaa, 0xcccc, 0xf0f0, 0xff00, 0];
    let falls = if 1 << block < lanes { HAVE[block as usize] } else { 0 };
    HAVE[by as usize] ^ falls
}
