//! Filling a tile from strided, broadcast or generated operands.

use super::library::backwards;

/// A walk over a group of dimensions in row-major order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    /// Sizes, outermost first.
    pub dims: Vec<usize>,
    /// Strides in elements, one a dimension.
    pub strides: Vec<isize>,
}

impl Walk {
    /// The offset of the element at a linear position.
    #[inline]
    pub fn offset(&self, mut linear: usize) -> isize {
        match (self.dims.len(), self.strides.first()) {
            (1, Some(stride)) => return linear as isize * stride,
            (0, _) => return 0,
            _ => {}
        }
        let mut offset = 0;
        for (&n, &stride) in self.dims.iter().zip(&self.strides).rev() {
            offset += (linear % n) as isize * stride;
            linear /= n;
        }
        offset
    }

    /// Calls `run(position, offset, length)` for each stretch of the innermost dimension within the `n` positions from
    /// `start`; offsets are those of the stretch's first element, its others follow by the innermost stride.
    #[inline]
    pub fn runs(&self, start: usize, n: usize, mut run: impl FnMut(usize, isize, usize)) {
        if n == 0 {
            return;
        }
        let Some((&inner, outer_dims)) = self.dims.split_last() else {
            for at in 0..n {
                run(at, 0, 1);
            }
            return;
        };
        let stride = self.strides[outer_dims.len()];
        if outer_dims.is_empty() {
            run(0, start as isize * stride, n);
            return;
        }
        let mut index = [0usize; mg_device::MAX_RANK * 2];
        let rank = outer_dims.len();
        let (mut row, mut column) = (start / inner, start % inner);
        let mut offset = 0isize;
        for d in (0..rank).rev() {
            index[d] = row % outer_dims[d];
            row /= outer_dims[d];
            offset += index[d] as isize * self.strides[d];
        }
        let mut at = 0;
        while at < n {
            let len = (inner - column).min(n - at);
            run(at, offset + column as isize * stride, len);
            at += len;
            column = 0;
            for d in (0..rank).rev() {
                index[d] += 1;
                offset += self.strides[d];
                if index[d] < outer_dims[d] {
                    break;
                }
                offset -= index[d] as isize * self.strides[d];
                index[d] = 0;
            }
        }
    }

    /// The innermost stride (1 where there is no dimension).
    pub fn inner_stride(&self) -> isize {
        self.strides.last().copied().unwrap_or(1)
    }
}

/// Copies `n` elements of `size` bytes from the positions of a walk that starts at `start`.
///
/// # Safety
///
/// `src` (the element at offset 0) is valid for every offset of the walk; `dst` for `n` elements.
pub unsafe fn gather(dst: *mut u8, src: *const u8, size: usize, walk: &Walk, start: usize, n: usize) {
    // SAFETY: by this function's contract.
    unsafe {
        match size {
            1 => gather_as::<u8>(dst, src, walk, start, n),
            2 => gather_as::<u16>(dst, src, walk, start, n),
            4 => gather_as::<u32>(dst, src, walk, start, n),
            _ => gather_as::<u64>(dst, src, walk, start, n),
        }
    }
}

#[inline]
unsafe fn gather_as<T: Copy>(dst: *mut u8, src: *const u8, walk: &Walk, start: usize, n: usize) {
    let (dst, src) = (dst.cast::<T>(), src.cast::<T>());
    let stride = walk.inner_stride();
    walk.runs(start, n, |at, offset, len| {
        // SAFETY: `at + len ≤ n`, and the offsets are those of the walk.
        unsafe {
            let (dst, src) = (dst.add(at), src.offset(offset));
            match stride {
                1 => std::ptr::copy_nonoverlapping(src, dst, len),
                0 => std::slice::from_raw_parts_mut(dst, len).fill(*src),
                -1 if len >= 16 => backwards::<T>()(dst, src, len),
                _ => {
                    for i in 0..len {
                        *dst.add(i) = *src.offset(i as isize * stride);
                    }
                }
            }
        }
    });
}

/// Writes the offsets themselves, plus `base`, as i64.
///
/// # Safety
///
/// `dst` is valid for `n` i64.
pub unsafe fn ramp(dst: *mut u8, base: i64, walk: &Walk, start: usize, n: usize) {
    let dst = dst.cast::<i64>();
    let stride = walk.inner_stride() as i64;
    walk.runs(start, n, |at, offset, len| {
        for i in 0..len {
            // SAFETY: `at + len ≤ n`.
            unsafe { *dst.add(at + i) = base + offset as i64 + i as i64 * stride };
        }
    });
}
