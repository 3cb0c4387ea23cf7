//! Stores that do not go through the caches: for outputs so large that they would be evicted before anybody reads them.
//! They save the read of each line that an ordinary store begins with.

use super::loops::{Isa, isa};

/// Bytes of an output from which it is streamed. Below, the next launch is likely to find it in cache.
pub(crate) const STREAM: usize = 4 << 20;

/// Whether this processor streams.
pub(crate) fn streams() -> bool {
    cfg!(target_arch = "x86_64") && isa() != Isa::Baseline
}

/// Copies `bytes` past the caches where both ends are aligned for it. [`finish`] must follow before other threads read.
///
/// Safety: both pointers are valid for `bytes` and do not overlap; the processor [`streams`].
pub(in crate::cpu) unsafe fn stream(dst: *mut u8, src: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if (dst as usize).is_multiple_of(64) {
        let lines = bytes & !63;
        // SAFETY: this function's contract; the instructions are there.
        return unsafe {
            if isa() == Isa::Avx512 {
                stream_avx512(dst, src, lines)
            } else {
                stream_avx2(dst, src, lines)
            }
            std::ptr::copy_nonoverlapping(src.add(lines), dst.add(lines), bytes - lines);
        };
    }
    // SAFETY: this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn stream_avx2(dst: *mut u8, src: *const u8, bytes: usize) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    for at in (0..bytes).step_by(32) {
        // SAFETY: `at + 32 ≤ bytes`, and `dst` is aligned to 32 bytes.
        unsafe {
            let v = _mm256_loadu_si256(src.add(at).cast::<__m256i>());
            _mm256_stream_si256(dst.add(at).cast::<__m256i>(), v);
        }
    }
}

/// Whole lines: stores of half a line each have to meet in a buffer first.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn stream_avx512(dst: *mut u8, src: *const u8, bytes: usize) {
    use std::arch::x86_64::{__m512i, _mm512_loadu_si512, _mm512_stream_si512};
    for at in (0..bytes).step_by(64) {
        // SAFETY: `at + 64 ≤ bytes`, and `dst` is aligned to 64 bytes.
        unsafe {
            let v = _mm512_loadu_si512(src.add(at).cast::<__m512i>());
            _mm512_stream_si512(dst.add(at).cast::<__m512i>(), v);
        }
    }
}

/// As [`stream`], of a few lines or halves of lines whose other halves follow soon. It becomes part of what calls it, which is compiled for
/// AVX2 where the processor has it.
///
/// Safety: as there.
#[inline(always)]
pub(crate) unsafe fn stream_inline(dst: *mut u8, src: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if (dst as usize).is_multiple_of(32) && bytes.is_multiple_of(32) {
        use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
        for at in (0..bytes).step_by(32) {
            // SAFETY: `at + 32 ≤ bytes`, and `dst` is aligned to 32 bytes.
            unsafe {
                let v = _mm256_loadu_si256(src.add(at).cast::<__m256i>());
                _mm256_stream_si256(dst.add(at).cast::<__m256i>(), v);
            }
        }
        return;
    }
    // SAFETY: this function's contract.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
}

/// Asks for bytes that will be read soon, if there are any.
#[inline(always)]
pub(crate) fn fetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and what is asked for need not be there.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(from.wrapping_add(at).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// Makes streamed stores visible to other threads.
pub(crate) fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}
