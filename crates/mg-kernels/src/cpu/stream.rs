//! Stores that do not go through the caches: for outputs so large that they would be evicted before anybody reads them.
//! They save the read of each line that an ordinary store begins with.

/// Bytes of an output from which it is streamed. Below, the next launch is likely to find it in cache.
pub(super) const STREAM: usize = 4 << 20;

/// Whether this processor streams.
pub(super) fn streams() -> bool {
    cfg!(target_arch = "x86_64") && super::loops::isa() != super::loops::Isa::Baseline
}

/// Copies `bytes` past the caches where both ends are aligned for it. [`finish`] must follow before other threads read.
///
/// Safety: both pointers are valid for `bytes` and do not overlap; the processor [`streams`].
pub(super) unsafe fn stream(dst: *mut u8, src: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if (dst as usize).is_multiple_of(32) && bytes.is_multiple_of(32) {
        // SAFETY: this function's contract; AVX2 is there.
        return unsafe { stream_avx2(dst, src, bytes) };
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

/// Makes streamed stores visible to other threads.
pub(super) fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}
