//! Strided copies: what makes a view dense, writes through a view, puts tensors side by side.

use super::Shared;
use super::transpose::transpose;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::{num_threads, parallel};
use crate::cpu::stream::{STREAM, finish, stream, streams};
use mg_device::{Layout, MAX_RANK, collapse};

/// Bytes from which a copy is divided among threads.
const PARALLEL: usize = 1 << 20;
/// Bytes that one task copies.
const TASK: usize = 1 << 18;

/// Sets bytes to zero.
///
/// # Safety
///
/// `dst` is valid for `bytes` writes.
pub unsafe fn fill_zero(dst: *mut u8, bytes: usize) {
    let dst = Shared(dst);
    in_parts(bytes, 1, bytes, &|from, to| {
        // SAFETY: by this function's contract; parts are disjoint.
        unsafe { std::ptr::write_bytes(dst.get().add(from), 0, to - from) };
    });
}

/// Calls `run` with parts of `0..n`, on all threads where there are enough bytes; parts begin at multiples of `unit`.
fn in_parts(n: usize, unit: usize, bytes: usize, run: &(dyn Fn(usize, usize) + Sync)) {
    if bytes < PARALLEL || num_threads() == 1 {
        return run(0, n);
    }
    let part = n.div_ceil(bytes.div_ceil(TASK)).max(1).next_multiple_of(unit);
    parallel(n.div_ceil(part), &|i| run(i * part, ((i + 1) * part).min(n)));
}

/// Copies elements of `size` bytes (1, 2, 4 or 8) from one layout to another of the same shape. Both pointers are the
/// buffers' starts; strides may be negative, the source's 0.
///
/// # Safety
///
/// The source is valid for reads at all offsets of its layout, the destination for writes at all of its own, which are
/// distinct; they do not overlap.
pub unsafe fn copy_strided(size: usize, src: *const u8, lsrc: &Layout, dst: *mut u8, ldst: &Layout) {
    let mut strides = [ldst.padded_strides(), lsrc.padded_strides()];
    let shape = collapse(ldst.shape(), &mut strides);
    if shape.contains(&0) {
        return;
    }
    let rank = shape.rank();
    let (dst, src) =
        (Shared(dst.wrapping_add(ldst.offset() * size)), Shared(src.wrapping_add(lsrc.offset() * size)));
    let bytes = shape.numel() * size;
    if rank == 0 {
        // SAFETY: one element each.
        return unsafe { std::ptr::copy_nonoverlapping(src.get(), dst.get(), size) };
    }
    if rank == 1 && strides == [one(), one()] {
        let streams = bytes >= STREAM && streams();
        return in_parts(shape[0], 1, bytes, &|from, to| {
            // SAFETY: by this function's contract; parts are disjoint.
            unsafe {
                let (src, dst) = (src.get().add(from * size), dst.get().add(from * size));
                if streams {
                    stream(dst, src, (to - from) * size);
                    finish();
                } else {
                    std::ptr::copy_nonoverlapping(src, dst, (to - from) * size);
                }
            }
        });
    }
    let nearest =
        |s: &[isize; MAX_RANK]| (0..rank).filter(|&d| s[d] != 0).min_by_key(|&d| s[d].unsigned_abs());
    let inner = nearest(&strides[0]).unwrap_or(rank - 1);
    let from = nearest(&strides[1]).unwrap_or(inner);
    let plane = from != inner && strides[0][inner] == 1 && matches!(strides[1][from], 1 | -1);
    // The dimensions that are walked around the innermost run (or plane), outermost first.
    let outer: Vec<usize> = (0..rank).filter(|&d| d != inner && !(plane && d == from)).collect();
    let offsets = |mut position: usize| {
        let mut at = [0isize; 2];
        for &d in outer.iter().rev() {
            let i = (position % shape[d]) as isize;
            position /= shape[d];
            at[0] += i * strides[0][d];
            at[1] += i * strides[1][d];
        }
        (at[0] * size as isize, at[1] * size as isize)
    };
    let around: usize = outer.iter().map(|&d| shape[d]).product();
    if plane && strides[1][inner] == 0 && strides[1][from] == 1 {
        // Each element, several times beside each other.
        let (rows, columns) = (shape[from], shape[inner]);
        return in_parts(around * rows, 1, bytes, &|first, last| {
            let mut at = first;
            while at < last {
                let (row, n) = (at % rows, (rows - at % rows).min(last - at));
                let (at_dst, at_src) = offsets(at / rows);
                // SAFETY: rows of the plane at these offsets; rows are disjoint.
                unsafe {
                    let dst = dst.get().offset(at_dst + row as isize * strides[0][from] * size as isize);
                    let src = src.get().offset(at_src).add(row * size);
                    match size {
                        1 => repeat::<u8>(dst, strides[0][from], src, n, columns),
                        2 => repeat::<u16>(dst, strides[0][from], src, n, columns),
                        4 => repeat::<u32>(dst, strides[0][from], src, n, columns),
                        _ => repeat::<u64>(dst, strides[0][from], src, n, columns),
                    }
                }
                at += n;
            }
        });
    }
    if plane {
        // Blocks of both sides stay in cache: a side's lines are touched by neighbouring rows.
        let (rows, columns) = (shape[from], shape[inner]);
        let (src_row, dst_row) = (strides[1][inner], strides[0][from]);
        let across = columns.div_ceil(BLOCK);
        in_parts(around * across, 1, bytes, &|first, last| {
            for task in first..last {
                let (at_dst, at_src) = offsets(task / across);
                let column = task % across * BLOCK;
                let width = BLOCK.min(columns - column);
                for row in (0..rows).step_by(BLOCK) {
                    let height = BLOCK.min(rows - row);
                    // From the row that lies first in the source.
                    let (row, step, dst_row) = match strides[1][from] {
                        -1 => (row + height - 1, -1, -dst_row),
                        _ => (row, 1, dst_row),
                    };
                    // SAFETY: a block of the plane at these offsets; blocks are disjoint.
                    unsafe {
                        let s = src
                            .get()
                            .offset(at_src)
                            .offset((column as isize * src_row + step * row as isize) * size as isize);
                        let d = dst
                            .get()
                            .offset(at_dst)
                            .offset((row as isize * strides[0][from] + column as isize) * size as isize);
                        transpose(size, d, dst_row, s, src_row, width, height);
                    }
                }
            }
        });
        return;
    }
    let n = shape[inner];
    let (step_dst, step_src) = (strides[0][inner], strides[1][inner]);
    let streams = bytes >= STREAM && n * size >= LONG && (step_dst, step_src) == (1, 1) && streams();
    // Runs that follow each other along one dimension.
    let (side, apart) = outer.last().map_or((1, [0, 0]), |&d| (shape[d], [strides[0][d], strides[1][d]]));
    in_parts(around, 1, bytes, &|first, last| {
        let mut position = first;
        while position < last {
            let count = (side - position % side).min(last - position);
            let (at_dst, at_src) = offsets(position);
            // SAFETY: runs of the innermost dimension at these offsets.
            unsafe {
                let (dst, src) = (dst.get().offset(at_dst), src.get().offset(at_src));
                if streams {
                    for i in 0..count as isize {
                        let [by_dst, by_src] = apart.map(|by| i * by * size as isize);
                        stream(dst.offset(by_dst), src.offset(by_src), n * size);
                    }
                } else {
                    runs(size, dst, src, [count, n], [apart, [step_dst, step_src]]);
                }
            }
            position += count;
        }
        if streams {
            finish();
        }
    });
}

/// Bytes of a run from which it is streamed, where the whole is.
const LONG: usize = 1 << 10;

/// Elements on a side of the blocks that are transposed.
const BLOCK: usize = 64;

fn one() -> [isize; MAX_RANK] {
    let mut strides = [0; MAX_RANK];
    strides[0] = 1;
    strides
}

/// Copies `count` runs of `n` elements. Of runs, and of elements in a run, it is given how far apart they lie in the destination and in the
/// source.
///
/// Safety: both pointers are valid for these elements.
unsafe fn runs(
    size: usize,
    dst: *mut u8,
    src: *const u8,
    [count, n]: [usize; 2],
    [apart, steps]: [[isize; 2]; 2],
) {
    // SAFETY: by this function's contract.
    unsafe {
        match size {
            1 => runs_as::<u8>(dst.cast(), src.cast(), [count, n], [apart, steps]),
            2 => runs_as::<u16>(dst.cast(), src.cast(), [count, n], [apart, steps]),
            4 => runs_as::<u32>(dst.cast(), src.cast(), [count, n], [apart, steps]),
            _ => runs_as::<u64>(dst.cast(), src.cast(), [count, n], [apart, steps]),
        }
    }
}

/// Writes each of `n` elements `times` times, to rows that lie `step` elements apart.
///
/// Safety: the elements are there, and room for all.
unsafe fn repeat<T: Copy>(dst: *mut u8, step: isize, src: *const u8, n: usize, times: usize) {
    let (dst, src) = (dst.cast::<T>(), src.cast::<T>());
    for i in 0..n {
        // SAFETY: this function's contract.
        unsafe { std::slice::from_raw_parts_mut(dst.offset(i as isize * step), times).fill(*src.add(i)) };
    }
}

/// Copies elements in the other order: the first to be copied is the last of the source.
pub(in crate::cpu) type Backwards<T> = unsafe fn(dst: *mut T, src: *const T, n: usize);

pub(in crate::cpu) fn backwards<T: Copy>() -> Backwards<T> {
    by_isa!(narrow isa(), Backwards<T>, fn<T: Copy>(dst: *mut T, src: *const T, n: usize) {
        let dst = std::slice::from_raw_parts_mut(dst, n);
        let src = std::slice::from_raw_parts(src.wrapping_sub(n.saturating_sub(1)), n);
        dst.iter_mut().zip(src.iter().rev()).for_each(|(dst, &src)| *dst = src);
    }, [T])
}

/// Elements of a run that are copied one by one: calls would take longer.
const FEW: usize = 8;

/// Safety: that of [`runs`].
unsafe fn runs_as<T: Copy>(
    dst: *mut T,
    src: *const T,
    [count, n]: [usize; 2],
    [apart, [step_dst, step_src]]: [[isize; 2]; 2],
) {
    let turn = backwards::<T>();
    for i in 0..count as isize {
        // SAFETY: this function's contract.
        unsafe {
            let (dst, src) = (dst.offset(i * apart[0]), src.offset(i * apart[1]));
            match (step_dst, step_src) {
                (1, 1) if n > FEW => std::ptr::copy_nonoverlapping(src, dst, n),
                (1, 0) if n > FEW => std::slice::from_raw_parts_mut(dst, n).fill(*src),
                (1, -1) if n > FEW => turn(dst, src, n),
                _ => {
                    for i in 0..n as isize {
                        *dst.offset(i * step_dst) = *src.offset(i * step_src);
                    }
                }
            }
        }
    }
}
