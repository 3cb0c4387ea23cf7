//! Transposing a block of a matrix that fits in cache, in registers where the processor has a way.

use crate::cpu::loops::{Isa, isa};

/// As [`transpose`], whole lines of `dst` past the caches where the processor can store one at once: rows a power of two apart compete for few
/// places there, and a line would have left before it is whole. `finish` of [`stream`](crate::cpu::stream) follows.
///
/// Safety: that of [`transpose`].
pub(crate) unsafe fn transpose_past(
    size: usize,
    dst: *mut u8,
    dst_row: isize,
    src: *const u8,
    src_row: isize,
    rows: usize,
    columns: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if isa() == Isa::Avx512 && (dst as usize).is_multiple_of(64) && (dst_row * size as isize) % 64 == 0 {
        let (whole, rest) = (rows * size / 64 * 64 / size, rows * size % 64 / size);
        // SAFETY: by this function's contract; the lines begin where lines of memory do.
        return unsafe {
            match size {
                4 => x86::words_avx512::<true>(dst.cast(), dst_row, src.cast(), src_row, whole, columns),
                8 => x86::doubles_avx512::<true>(dst.cast(), dst_row, src.cast(), src_row, whole, columns),
                _ => return transpose(size, dst, dst_row, src, src_row, rows, columns),
            }
            if rest > 0 {
                let src = src.offset(whole as isize * src_row * size as isize);
                transpose(size, dst.add(whole * size), dst_row, src, src_row, rest, columns);
            }
        };
    }
    // SAFETY: this function's contract.
    unsafe { transpose(size, dst, dst_row, src, src_row, rows, columns) }
}

/// `dst[j · dst_row + i] = src[i · src_row + j]` for `i < rows`, `j < columns`. Strides are in elements.
///
/// Safety: `src` and `dst` are valid for these positions and do not overlap; `size` is 1, 2, 4 or 8.
pub(crate) unsafe fn transpose(
    size: usize,
    dst: *mut u8,
    dst_row: isize,
    src: *const u8,
    src_row: isize,
    rows: usize,
    columns: usize,
) {
    // SAFETY: by this function's contract; the instruction set is that of the processor.
    unsafe {
        match (size, isa()) {
            #[cfg(target_arch = "x86_64")]
            (4, Isa::Avx512) => {
                x86::words_avx512::<false>(dst.cast(), dst_row, src.cast(), src_row, rows, columns)
            }
            #[cfg(target_arch = "x86_64")]
            (8, Isa::Avx512) => {
                x86::doubles_avx512::<false>(dst.cast(), dst_row, src.cast(), src_row, rows, columns)
            }
            #[cfg(target_arch = "x86_64")]
            (4, Isa::Avx2) => x86::words_avx2(dst.cast(), dst_row, src.cast(), src_row, rows, columns),
            (1, _) => plain::<u8, 16>(dst.cast(), dst_row, src.cast(), src_row, rows, columns),
            (2, _) => plain::<u16, 16>(dst.cast(), dst_row, src.cast(), src_row, rows, columns),
            (4, _) => plain::<u32, 8>(dst.cast(), dst_row, src.cast(), src_row, rows, columns),
            _ => plain::<u64, 8>(dst.cast(), dst_row, src.cast(), src_row, rows, columns),
        }
    }
}

/// Blocks of `N` by `N`, through an array the compiler can keep near.
#[inline(always)]
unsafe fn plain<T: Copy, const N: usize>(
    dst: *mut T,
    dst_row: isize,
    src: *const T,
    src_row: isize,
    rows: usize,
    columns: usize,
) {
    for i0 in (0..rows).step_by(N) {
        let height = N.min(rows - i0);
        for j0 in (0..columns).step_by(N) {
            let width = N.min(columns - j0);
            // SAFETY: the block lies within the matrix.
            unsafe {
                let src = src.offset(i0 as isize * src_row).add(j0);
                let dst = dst.offset(j0 as isize * dst_row).add(i0);
                if height == N && width == N {
                    for j in 0..N {
                        for i in 0..N {
                            *dst.offset(j as isize * dst_row).add(i) =
                                *src.offset(i as isize * src_row).add(j);
                        }
                    }
                } else {
                    for j in 0..width {
                        for i in 0..height {
                            *dst.offset(j as isize * dst_row).add(i) =
                                *src.offset(i as isize * src_row).add(j);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::plain;
    use std::arch::x86_64::*;

    /// 16 by 16 words in 16 registers; rows and columns that are not there are masked away. `PAST`: past the caches, of rows that are a multiple of
    /// 16 and lines that begin where lines of memory do.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn words_avx512<const PAST: bool>(
        dst: *mut f32,
        dst_row: isize,
        src: *const f32,
        src_row: isize,
        rows: usize,
        columns: usize,
    ) {
        for i0 in (0..rows).step_by(16) {
            let height = (rows - i0).min(16);
            let store = ((1u32 << height) - 1) as u16;
            for j0 in (0..columns).step_by(16) {
                let width = (columns - j0).min(16);
                let load = ((1u32 << width) - 1) as u16;
                let mut r = [_mm512_setzero_ps(); 16];
                // SAFETY: rows below `height`, columns below `width` (the mask) lie within the matrix.
                unsafe {
                    let src = src.offset(i0 as isize * src_row).add(j0);
                    for (i, r) in r.iter_mut().enumerate() {
                        if i < height {
                            *r = _mm512_maskz_loadu_ps(load, src.offset(i as isize * src_row));
                        }
                    }
                }
                let r = sixteen(r);
                // SAFETY: as above, with rows and columns exchanged.
                unsafe {
                    let dst = dst.offset(j0 as isize * dst_row).add(i0);
                    for (j, r) in r.into_iter().enumerate() {
                        if j < width {
                            let to = dst.offset(j as isize * dst_row);
                            if PAST {
                                _mm512_stream_ps(to, r);
                            } else {
                                _mm512_mask_storeu_ps(to, store, r);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Within each 128-bit lane a 4 by 4 transposition, then the lanes.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn sixteen(r: [__m512; 16]) -> [__m512; 16] {
        let mut t = [_mm512_setzero_ps(); 16];
        for q in 0..4 {
            let (a, b, c, d) = (r[4 * q], r[4 * q + 1], r[4 * q + 2], r[4 * q + 3]);
            let (ab0, ab1) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let (cd0, cd1) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            let pair = |x, y| (_mm512_castps_pd(x), _mm512_castps_pd(y));
            let ((x0, y0), (x1, y1)) = (pair(ab0, cd0), pair(ab1, cd1));
            t[4 * q] = _mm512_castpd_ps(_mm512_unpacklo_pd(x0, y0));
            t[4 * q + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(x0, y0));
            t[4 * q + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(x1, y1));
            t[4 * q + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(x1, y1));
        }
        // t[4q + s], lane l: rows 4q..4q+4 of column 4l + s.
        let mut out = [_mm512_setzero_ps(); 16];
        for s in 0..4 {
            let (a, b, c, d) = (t[s], t[4 + s], t[8 + s], t[12 + s]);
            let (ab_even, ab_odd) = (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0xdd>(a, b));
            let (cd_even, cd_odd) = (_mm512_shuffle_f32x4::<0x88>(c, d), _mm512_shuffle_f32x4::<0xdd>(c, d));
            out[s] = _mm512_shuffle_f32x4::<0x88>(ab_even, cd_even);
            out[8 + s] = _mm512_shuffle_f32x4::<0xdd>(ab_even, cd_even);
            out[4 + s] = _mm512_shuffle_f32x4::<0x88>(ab_odd, cd_odd);
            out[12 + s] = _mm512_shuffle_f32x4::<0xdd>(ab_odd, cd_odd);
        }
        out
    }

    /// 8 by 8 doubles in 8 registers, likewise.
    #[target_feature(enable = "avx512f")]
    pub(crate) unsafe fn doubles_avx512<const PAST: bool>(
        dst: *mut f64,
        dst_row: isize,
        src: *const f64,
        src_row: isize,
        rows: usize,
        columns: usize,
    ) {
        for i0 in (0..rows).step_by(8) {
            let height = (rows - i0).min(8);
            let store = ((1u32 << height) - 1) as u8;
            for j0 in (0..columns).step_by(8) {
                let width = (columns - j0).min(8);
                let load = ((1u32 << width) - 1) as u8;
                let mut r = [_mm512_setzero_pd(); 8];
                // SAFETY: rows below `height`, columns below `width` (the mask) lie within the matrix.
                unsafe {
                    let src = src.offset(i0 as isize * src_row).add(j0);
                    for (i, r) in r.iter_mut().enumerate() {
                        if i < height {
                            *r = _mm512_maskz_loadu_pd(load, src.offset(i as isize * src_row));
                        }
                    }
                }
                let mut t = [_mm512_setzero_pd(); 8];
                for q in 0..4 {
                    t[q] = _mm512_unpacklo_pd(r[2 * q], r[2 * q + 1]);
                    t[4 + q] = _mm512_unpackhi_pd(r[2 * q], r[2 * q + 1]);
                }
                // t[4s + q], lane l: rows 2q, 2q+1 of column 2l + s.
                let mut out = [_mm512_setzero_pd(); 8];
                for s in 0..2 {
                    let (a, b, c, d) = (t[4 * s], t[4 * s + 1], t[4 * s + 2], t[4 * s + 3]);
                    let (ab_even, ab_odd) =
                        (_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b));
                    let (cd_even, cd_odd) =
                        (_mm512_shuffle_f64x2::<0x88>(c, d), _mm512_shuffle_f64x2::<0xdd>(c, d));
                    out[s] = _mm512_shuffle_f64x2::<0x88>(ab_even, cd_even);
                    out[4 + s] = _mm512_shuffle_f64x2::<0xdd>(ab_even, cd_even);
                    out[2 + s] = _mm512_shuffle_f64x2::<0x88>(ab_odd, cd_odd);
                    out[6 + s] = _mm512_shuffle_f64x2::<0xdd>(ab_odd, cd_odd);
                }
                // SAFETY: as above, with rows and columns exchanged.
                unsafe {
                    let dst = dst.offset(j0 as isize * dst_row).add(i0);
                    for (j, r) in out.into_iter().enumerate() {
                        if j < width {
                            let to = dst.offset(j as isize * dst_row);
                            if PAST {
                                _mm512_stream_pd(to, r);
                            } else {
                                _mm512_mask_storeu_pd(to, store, r);
                            }
                        }
                    }
                }
            }
        }
    }

    /// 8 by 8 words in 8 registers; the edges one by one.
    #[target_feature(enable = "avx2")]
    pub(crate) unsafe fn words_avx2(
        dst: *mut f32,
        dst_row: isize,
        src: *const f32,
        src_row: isize,
        rows: usize,
        columns: usize,
    ) {
        let (whole_rows, whole_columns) = (rows / 8 * 8, columns / 8 * 8);
        for i0 in (0..whole_rows).step_by(8) {
            for j0 in (0..whole_columns).step_by(8) {
                let mut r = [_mm256_setzero_ps(); 8];
                // SAFETY: the block lies within the matrix.
                unsafe {
                    let src = src.offset(i0 as isize * src_row).add(j0);
                    for (i, r) in r.iter_mut().enumerate() {
                        *r = _mm256_loadu_ps(src.offset(i as isize * src_row));
                    }
                }
                let mut t = [_mm256_setzero_ps(); 8];
                for q in 0..2 {
                    let (a, b, c, d) = (r[4 * q], r[4 * q + 1], r[4 * q + 2], r[4 * q + 3]);
                    let (ab0, ab1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                    let (cd0, cd1) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                    t[4 * q] = _mm256_shuffle_ps::<0x44>(ab0, cd0);
                    t[4 * q + 1] = _mm256_shuffle_ps::<0xee>(ab0, cd0);
                    t[4 * q + 2] = _mm256_shuffle_ps::<0x44>(ab1, cd1);
                    t[4 * q + 3] = _mm256_shuffle_ps::<0xee>(ab1, cd1);
                }
                // SAFETY: as above, with rows and columns exchanged.
                unsafe {
                    let dst = dst.offset(j0 as isize * dst_row).add(i0);
                    for s in 0..4 {
                        let low = _mm256_permute2f128_ps::<0x20>(t[s], t[4 + s]);
                        let high = _mm256_permute2f128_ps::<0x31>(t[s], t[4 + s]);
                        _mm256_storeu_ps(dst.offset(s as isize * dst_row), low);
                        _mm256_storeu_ps(dst.offset((4 + s) as isize * dst_row), high);
                    }
                }
            }
        }
        // SAFETY: the strips right of and below the whole blocks lie within the matrix.
        unsafe {
            let right = columns - whole_columns;
            let dst_right = dst.offset(whole_columns as isize * dst_row);
            plain::<f32, 8>(dst_right, dst_row, src.add(whole_columns), src_row, rows, right);
            let below = rows - whole_rows;
            let src_below = src.offset(whole_rows as isize * src_row);
            plain::<f32, 8>(dst.add(whole_rows), dst_row, src_below, src_row, below, whole_columns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{transpose, transpose_past};
    use crate::cpu::stream::finish;

    /// Both of elements of a type: what is written where, and that nothing else is. Lines of `dst` begin with those of memory.
    fn check<T: Copy + Default + PartialEq + std::fmt::Debug>(element: fn(usize) -> T) {
        let [apart_src, apart_dst] = [83, 192];
        let src: Vec<T> = (0..80 * apart_src).map(element).collect();
        for (rows, columns) in [(16, 16), (64, 80), (48, 3), (21, 37), (1, 80), (80, 1), (79, 66)] {
            for (past, begin) in [(true, 0), (true, 1), (false, 0)] {
                let size = size_of::<T>();
                let mut dst = vec![T::default(); 81 * apart_dst + 64];
                let whole = dst.as_ptr().align_offset(64) + begin;
                let turn = if past { transpose_past } else { transpose };
                // SAFETY: there are so many rows and columns of both.
                unsafe {
                    let to = dst.as_mut_ptr().add(whole);
                    let (apart_dst, apart_src) = (apart_dst as isize, apart_src as isize);
                    turn(size, to.cast(), apart_dst, src.as_ptr().cast(), apart_src, rows, columns);
                    finish();
                }
                let mut want = vec![T::default(); dst.len()];
                for i in 0..rows {
                    (0..columns).for_each(|j| want[whole + j * apart_dst + i] = src[i * apart_src + j]);
                }
                assert!(dst == want, "{rows} × {columns} of {size} bytes, past the caches: {past}, {begin}");
            }
        }
    }

    #[test]
    fn rows_are_columns() {
        check(|i| (i + 1) as u8);
        check(|i| (i + 1) as u16);
        check(|i| (i + 1) as u32);
        check(|i| (i + 1) as u64);
    }
}
