//! Rearranging operands into what the kernels read fast.

use super::entry::Entry;
use crate::cpu::library::transpose::transpose;

/// Rows of `a` are packed in groups of this many where they lie next to each other.
pub(super) const GROUP: usize = 16;

/// Writes `rows` rows of `k` numbers one after the other, `to_row` apart.
///
/// Safety: `from` is valid for reads at these strides, `to` for `rows · to_row` writes.
pub(super) unsafe fn rows<T: Entry>(
    from: *const T,
    row: isize,
    step: isize,
    to: *mut T::Acc,
    to_row: usize,
    rows: usize,
    k: usize,
) {
    for i in 0..rows {
        // SAFETY: by this function's contract.
        unsafe { T::widen(from.offset(i as isize * row), step, to.add(i * to_row), k) };
    }
}

/// Writes `k` groups of [`GROUP`] neighbouring rows, of which `rows` are wanted and `there` may be read.
///
/// Safety: `from` is valid for reads of `there` neighbours at each of `k` steps, `to` for `k · GROUP` writes.
pub(super) unsafe fn groups<T: Entry>(
    from: *const T,
    step: isize,
    to: *mut T::Acc,
    rows: usize,
    there: usize,
    k: usize,
) {
    for p in 0..k {
        // SAFETY: by this function's contract.
        unsafe {
            let (from, to) = (from.offset(p as isize * step), to.add(p * GROUP));
            // A constant length is two instructions.
            if there >= GROUP {
                T::widen(from, 1, to, GROUP);
            } else {
                T::widen(from, 1, to, rows);
            }
        }
    }
}

/// Writes `k` rows of a strip of `b`, `width` apart, of which `columns` are there.
///
/// Safety: `from` is valid for reads at these strides, `to` for `k · width` writes; `columns <= width <= 32`.
pub(super) unsafe fn strip<T: Entry>(
    from: *const T,
    step: isize,
    column: isize,
    to: *mut T::Acc,
    width: usize,
    columns: usize,
    k: usize,
) {
    let size = size_of::<T::Acc>();
    // SAFETY: by this function's contract.
    unsafe {
        if columns < width {
            std::ptr::write_bytes(to, 0, k * width);
        }
        match (step, column) {
            (_, 1) => match columns {
                32 => copy_rows::<T, 32>(from, step, to, width, k),
                16 => copy_rows::<T, 16>(from, step, to, width, k),
                8 => copy_rows::<T, 8>(from, step, to, width, k),
                _ => {
                    for p in 0..k {
                        T::widen(from.offset(p as isize * step), 1, to.add(p * width), columns);
                    }
                }
            },
            (1, _) if T::DIRECT => {
                transpose(size, to.cast(), width as isize, from.cast(), column, columns, k);
            }
            (1, _) => {
                const CHUNK: usize = 64;
                let mut buffer = [T::Acc::default(); 32 * CHUNK];
                for p in (0..k).step_by(CHUNK) {
                    let len = CHUNK.min(k - p);
                    rows::<T>(from.add(p), column, 1, buffer.as_mut_ptr(), CHUNK, columns, len);
                    let to = to.add(p * width);
                    transpose(
                        size,
                        to.cast(),
                        width as isize,
                        buffer.as_ptr().cast(),
                        CHUNK as isize,
                        columns,
                        len,
                    );
                }
            }
            _ => {
                for p in 0..k {
                    T::widen(from.offset(p as isize * step), column, to.add(p * width), columns);
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn copy_rows<T: Entry, const N: usize>(
    from: *const T,
    step: isize,
    to: *mut T::Acc,
    width: usize,
    k: usize,
) {
    for p in 0..k {
        // SAFETY: by the contract of `strip`.
        unsafe { T::widen(from.offset(p as isize * step), 1, to.add(p * width), N) };
    }
}
