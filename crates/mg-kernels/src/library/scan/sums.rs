//! Running sums of f32, several chunks at a time: a register has one element of each chunk. The additions are those of `cpu.rs`, in its
//! order, and so are the bits.

#[cfg(any(target_arch = "x86_64", test))]
use super::cpu::{CHUNK, CHUNKS};
use crate::cpu::loops::{Isa, isa};

/// A block of chunks, one after the other on the way along a line, which goes down where it is `reverse`.
pub(super) struct Block<'a> {
    /// The first element on the way.
    pub(super) x: *const f32,
    /// Where its sum goes, if sums are written.
    pub(super) out: Option<*mut f32>,
    pub(super) reverse: bool,
    /// What is before the piece, and what the piece comes to up to here.
    pub(super) start: f64,
    pub(super) all: &'a mut f64,
}

/// Adds up a block, if there are instructions for it.
///
/// # Safety
///
/// The block's elements are there, and nobody else writes its sums.
pub(super) unsafe fn block(block: Block) -> bool {
    match isa() {
        Isa::Baseline => false,
        Isa::Avx2 | Isa::Avx512 => {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the instructions are there; this function's contract.
            unsafe {
                if block.reverse { wide::block::<true>(block) } else { wide::block::<false>(block) }
            };
            cfg!(target_arch = "x86_64")
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use super::{Block, CHUNK, CHUNKS};
    use std::arch::x86_64::*;
    use std::array::from_fn;

    const _: () = assert!(CHUNKS == 8 && CHUNK.is_multiple_of(8));

    /// Eight elements of eight chunks, exchanged.
    ///
    /// # Safety
    ///
    /// There is AVX2. What calls this is compiled for it, and this with it.
    #[inline(always)]
    unsafe fn transposed(r: [__m256; 8]) -> [__m256; 8] {
        // SAFETY: this function's contract.
        unsafe {
            let low = |i: usize| _mm256_unpacklo_ps(r[i], r[i + 1]);
            let high = |i: usize| _mm256_unpackhi_ps(r[i], r[i + 1]);
            let pairs = [low(0), high(0), low(2), high(2), low(4), high(4), low(6), high(6)];
            let low = |i: usize| _mm256_shuffle_ps::<0x44>(pairs[i], pairs[i + 2]);
            let high = |i: usize| _mm256_shuffle_ps::<0xee>(pairs[i], pairs[i + 2]);
            let fours = [low(0), high(0), low(1), high(1), low(4), high(4), low(5), high(5)];
            let low = |i: usize| _mm256_permute2f128_ps::<0x20>(fours[i], fours[i + 4]);
            let high = |i: usize| _mm256_permute2f128_ps::<0x31>(fours[i], fours[i + 4]);
            [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
        }
    }

    /// Sums of chunks, and an element more of each.
    ///
    /// # Safety
    ///
    /// As [`transposed`].
    #[inline(always)]
    unsafe fn plus(sums: [__m256d; 2], x: __m256) -> [__m256d; 2] {
        // SAFETY: this function's contract.
        unsafe {
            [
                _mm256_add_pd(sums[0], _mm256_cvtps_pd(_mm256_castps256_ps128(x))),
                _mm256_add_pd(sums[1], _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(x))),
            ]
        }
    }

    /// # Safety
    ///
    /// As the outer one's.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn block<const REVERSE: bool>(block: Block) {
        let Block { x, out, start, all, .. } = block;
        // Where eight elements of a chunk begin in memory, from the block's first on the way.
        let place = |chunk: usize, i: usize| {
            let at = (chunk * CHUNK + i) as isize;
            if REVERSE { -at - 7 } else { at }
        };
        // The next `k` on the way is an element of this number.
        let on_way = |k: usize| if REVERSE { 7 - k } else { k };
        // SAFETY: this function's contract.
        let rows = |i: usize| from_fn(|chunk| unsafe { _mm256_loadu_ps(x.offset(place(chunk, i))) });
        // SAFETY: as above, and arrays have as many elements as are read from and written to them.
        unsafe {
            let mut sums = [_mm256_setzero_pd(); 2];
            for i in (0..CHUNK).step_by(8) {
                let elements = transposed(rows(i));
                for k in 0..8 {
                    sums = plus(sums, elements[on_way(k)]);
                }
            }
            let mut totals = [0f64; CHUNKS];
            _mm256_storeu_pd(totals.as_mut_ptr(), sums[0]);
            _mm256_storeu_pd(totals.as_mut_ptr().add(4), sums[1]);
            let now: [f64; CHUNKS] = totals.map(|total| {
                let now = start + *all;
                *all += total;
                now
            });
            let Some(out) = out else { return };
            let mut sums = [_mm256_loadu_pd(now.as_ptr()), _mm256_loadu_pd(now.as_ptr().add(4))];
            for i in (0..CHUNK).step_by(8) {
                let elements = transposed(rows(i));
                let mut results = [_mm256_setzero_ps(); 8];
                for k in 0..8 {
                    let k = on_way(k);
                    sums = plus(sums, elements[k]);
                    results[k] = _mm256_set_m128(_mm256_cvtpd_ps(sums[1]), _mm256_cvtpd_ps(sums[0]));
                }
                for (chunk, result) in transposed(results).into_iter().enumerate() {
                    _mm256_storeu_ps(out.offset(place(chunk, i)), result);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The block as it is added up without instructions of its own.
    fn plainly(x: &[f32], start: f64, all: &mut f64) -> Vec<f32> {
        let mut out = vec![];
        for chunk in x.chunks(CHUNK) {
            let mut now = start + *all;
            *all += chunk.iter().fold(0.0, |sum, &x| sum + f64::from(x));
            for &x in chunk {
                now += f64::from(x);
                out.push(now as f32);
            }
        }
        out
    }

    #[test]
    fn a_block_has_the_bits_of_additions_one_by_one() {
        let n = CHUNKS * CHUNK;
        let number = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let mut x: Vec<f32> = (0..n).map(|i| number(i) as f32 * 1.1e-7 - 0.9).collect();
        (x[5], x[700], x[1999]) = (-0.0, 1e30, -1e30);
        for reverse in [false, true] {
            for (start, before) in [(0.0, 0.0), (0.3, -17.25)] {
                let mut out = vec![f32::NAN; n];
                let (mut all, mut sum) = (before, before);
                let first = if reverse { n - 1 } else { 0 };
                let (from, to) = (&raw const x[first], &raw mut out[first]);
                // SAFETY: the block is all of both.
                let ran = unsafe { block(Block { x: from, out: Some(to), reverse, start, all: &mut all }) };
                if !ran {
                    return;
                }
                // SAFETY: as above.
                unsafe { block(Block { x: from, out: None, reverse, start, all: &mut sum }) };
                let mut wanted_all = before;
                let mut on_way = x.clone();
                if reverse {
                    on_way.reverse();
                    out.reverse();
                }
                let wanted = plainly(&on_way, start, &mut wanted_all);
                assert_eq!((all.to_bits(), sum.to_bits()), (wanted_all.to_bits(), wanted_all.to_bits()));
                assert!(out.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
    }
}
