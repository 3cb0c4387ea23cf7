//! Filling a tile from strided, broadcast or generated operands.

use super::library::backwards;
use super::loops::{by_isa, isa};

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
        self.stretches(outer_dims, inner, start, n, |at, offset, column, len| {
            run(at, offset + column as isize * stride, len);
        });
    }

    /// Calls `run(position, offset, column, length)` for each stretch within the `n` positions from `start` of the dimensions after
    /// the outer ones, which have `inner` positions: from `column` on, where they begin at an offset.
    #[inline]
    fn stretches(
        &self,
        outer_dims: &[usize],
        inner: usize,
        start: usize,
        n: usize,
        mut run: impl FnMut(usize, isize, usize, usize),
    ) {
        if n == 0 {
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
            run(at, offset, column, len);
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
    if let ([outer @ .., times, inner], [.., 0, _]) = (&walk.dims[..], &walk.strides[..]) {
        // The same elements, several times.
        walk.stretches(outer, times * inner, start, n, |at, offset, column, len| {
            let (first, once) = (column % inner, len.min(*inner));
            let ahead = once.min(inner - first);
            // SAFETY: `at + len ≤ n`, and the offsets are those of the walk; what is copied again was written.
            unsafe {
                let (dst, src) = (dst.add(at), src.offset(offset));
                strided(dst, src.offset(first as isize * stride), stride, ahead);
                strided(dst.add(ahead), src, stride, once - ahead);
                let mut done = once;
                while done < len {
                    let more = done.min(len - done);
                    std::ptr::copy_nonoverlapping(dst, dst.add(done), more);
                    done += more;
                }
            }
        });
        return;
    }
    walk.runs(start, n, |at, offset, len| {
        // SAFETY: `at + len ≤ n`, and the offsets are those of the walk.
        unsafe { strided(dst.add(at), src.offset(offset), stride, len) };
    });
}

/// Elements of a stride to places one after the other.
///
/// Safety: `src` is valid for `len` elements of the stride, `dst` for as many.
#[inline(always)]
unsafe fn strided<T: Copy>(dst: *mut T, src: *const T, stride: isize, len: usize) {
    // SAFETY: this function's contract.
    unsafe {
        match stride {
            1 if len <= SHORT => copy_few(dst, src, len),
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
}

/// Elements that are copied without a call, which would take longer than they do.
const SHORT: usize = 16;

/// Copies at most [`SHORT`] elements: two pieces of one size, which overlap where the number is between sizes.
///
/// Safety: both are valid for `len` elements.
#[inline(always)]
unsafe fn copy_few<T: Copy>(dst: *mut T, src: *const T, len: usize) {
    #[inline(always)]
    unsafe fn ends<T: Copy, const N: usize>(dst: *mut T, src: *const T, len: usize) {
        // SAFETY: the caller has at least `N` elements.
        unsafe {
            let (from, to) = (src.cast::<[T; N]>(), dst.cast::<[T; N]>());
            let (first, last) = (*from, *src.add(len - N).cast::<[T; N]>());
            *to = first;
            *dst.add(len - N).cast::<[T; N]>() = last;
        }
    }
    // SAFETY: this function's contract.
    unsafe {
        match len {
            0 => {}
            1 => *dst = *src,
            2..4 => ends::<T, 2>(dst, src, len),
            4..8 => ends::<T, 4>(dst, src, len),
            _ => ends::<T, 8>(dst, src, len),
        }
    }
}

/// Writes the offsets themselves, plus `base`, as i64.
///
/// # Safety
///
/// `dst` is valid for `n` i64.
pub unsafe fn ramp(dst: *mut u8, base: i64, walk: &Walk, start: usize, n: usize) {
    let dst = dst.cast::<i64>();
    let stride = walk.inner_stride() as i64;
    let line = line();
    walk.runs(start, n, |at, offset, len| {
        // SAFETY: `at + len ≤ n`; the processor has the instructions.
        unsafe { line(dst.add(at), base + offset as i64, stride, len) };
    });
}

/// Writes `first`, and numbers that follow it at a distance.
type LineFn = unsafe fn(dst: *mut i64, first: i64, stride: i64, n: usize);

fn line() -> LineFn {
    by_isa!(isa(), LineFn, fn<>(dst: *mut i64, first: i64, stride: i64, n: usize) {
        let dst = std::slice::from_raw_parts_mut(dst, n);
        // Products of so many bits take longer than sums.
        if stride == 1 {
            dst.iter_mut().enumerate().for_each(|(i, out)| *out = first.wrapping_add(i as i64));
        } else {
            dst.iter_mut().enumerate().for_each(|(i, out)| *out = first.wrapping_add(stride.wrapping_mul(i as i64)));
        }
    }, [])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_from_where_the_walk_says() {
        let source: Vec<u64> = (0..4096).map(|i| i * 31 + 7).collect();
        let walks: [(&[usize], &[isize]); 9] = [
            (&[7, 3], &[20, 1]),
            (&[5, 19], &[40, 1]),
            (&[3, 40], &[50, -1]),
            // What is repeated: rows, parts of rows, numbers, nothing but one row.
            (&[6, 5, 3], &[3, 0, 1]),
            (&[4, 7, 1], &[2, 0, 1]),
            (&[3, 4, 20], &[100, 0, 2]),
            (&[2, 3, 4, 6], &[90, 30, 0, 1]),
            (&[9, 8], &[0, 1]),
            (&[5, 6], &[0, 0]),
        ];
        for (dims, strides) in walks {
            let walk = Walk { dims: dims.to_vec(), strides: strides.to_vec() };
            let count: usize = dims.iter().product();
            for (start, n) in (0..count).flat_map(|start| (0..=count - start).map(move |n| (start, n))) {
                let base = 200;
                let mut got = vec![0; n];
                // SAFETY: no walk leaves the source.
                unsafe {
                    gather(got.as_mut_ptr().cast(), source[base..].as_ptr().cast(), 8, &walk, start, n)
                };
                let want: Vec<u64> =
                    (start..start + n).map(|at| source[(base as isize + walk.offset(at)) as usize]).collect();
                assert_eq!(got, want, "{dims:?} {strides:?} {start} {n}");
            }
        }
    }
}
