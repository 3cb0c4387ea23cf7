//! Strided copies: what makes a view dense, writes through a view, puts tensors side by side.

use super::Shared;
use super::transpose::{transpose, transpose_past};
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::pool::{num_threads, parallel};
use crate::cpu::stream::{STREAM, finish, stream, streams};
use mg_device::{Layout, MAX_RANK, Shape, collapse};
use smallvec::SmallVec;

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
    let (dst, src) = (dst.wrapping_add(ldst.offset() * size), src.wrapping_add(lsrc.offset() * size));
    // SAFETY: this function's contract, of what is walked in each way.
    unsafe {
        match shape.rank() {
            0 => std::ptr::copy_nonoverlapping(src, dst, size),
            1 if strides == [one(), one()] => dense(dst, src, shape.numel() * size),
            _ => Walk::new(size, shape, strides, dst, src).run(),
        }
    }
}

/// Copies bytes that lie side by side on both sides.
///
/// Safety: both pointers are valid for them.
unsafe fn dense(dst: *mut u8, src: *const u8, bytes: usize) {
    let streams = bytes >= STREAM && streams();
    let (dst, src) = (Shared(dst), Shared(src));
    in_parts(bytes, WIDEST, bytes, &|from, to| {
        // SAFETY: by this function's contract; parts are disjoint.
        unsafe {
            let (src, dst) = (src.get().add(from), dst.get().add(from));
            if streams {
                stream(dst, src, to - from);
                finish();
            } else {
                std::ptr::copy_nonoverlapping(src, dst, to - from);
            }
        }
    });
}

/// Bytes of the widest element.
const WIDEST: usize = 8;

/// A copy, by the dimensions that it walks along. What follows of pointers holds by the contract of [`copy_strided`].
struct Walk {
    /// Bytes of an element.
    size: usize,
    shape: Shape,
    /// The destination's strides and the source's.
    strides: [[isize; MAX_RANK]; 2],
    dst: Shared<*mut u8>,
    src: Shared<*const u8>,
    /// The dimension along which elements of the destination are nearest to each other, and that of the source.
    inner: usize,
    from: usize,
    /// Whether these two are walked together, in blocks.
    is_plane: bool,
    /// The dimensions that are walked around the innermost run (or plane), outermost first.
    outer: SmallVec<[usize; 8]>,
}

impl Walk {
    fn new(size: usize, shape: Shape, strides: [[isize; MAX_RANK]; 2], dst: *mut u8, src: *const u8) -> Walk {
        let rank = shape.rank();
        let nearest =
            |s: &[isize; MAX_RANK]| (0..rank).filter(|&d| s[d] != 0).min_by_key(|&d| s[d].unsigned_abs());
        let inner = nearest(&strides[0]).unwrap_or(rank - 1);
        let from = nearest(&strides[1]).unwrap_or(inner);
        let is_plane = from != inner && strides[0][inner] == 1 && matches!(strides[1][from], 1 | -1);
        let outer = (0..rank).filter(|&d| d != inner && !(is_plane && d == from)).collect();
        Walk { size, shape, strides, dst: Shared(dst), src: Shared(src), inner, from, is_plane, outer }
    }

    fn bytes(&self) -> usize {
        self.shape.numel() * self.size
    }

    /// How many innermost runs (or planes) there are.
    fn around(&self) -> usize {
        self.outer.iter().map(|&d| self.shape[d]).product()
    }

    /// Where a run (or plane) begins.
    ///
    /// Safety: there is one with this number.
    unsafe fn at(&self, mut number: usize) -> (*mut u8, *const u8) {
        let mut at = [0isize; 2];
        for &d in self.outer.iter().rev() {
            let i = (number % self.shape[d]) as isize;
            number /= self.shape[d];
            at[0] += i * self.strides[0][d];
            at[1] += i * self.strides[1][d];
        }
        let [dst, src] = at.map(|at| at * self.size as isize);
        // SAFETY: an element of the layout.
        unsafe { (self.dst.get().offset(dst), self.src.get().offset(src)) }
    }

    unsafe fn run(&self) {
        // SAFETY: this function's contract.
        unsafe {
            match (self.is_plane, self.strides[1][self.inner], self.strides[1][self.from]) {
                (true, 0, 1) => self.beside(),
                (true, _, _) => self.turned(),
                (false, _, _) => self.along(),
            }
        }
    }

    /// Each element of a row, several times beside each other.
    unsafe fn beside(&self) {
        let (rows, columns, size) = (self.shape[self.from], self.shape[self.inner], self.size);
        let apart = self.strides[0][self.from];
        in_parts(self.around() * rows, 1, self.bytes(), &|first, last| {
            let mut at = first;
            while at < last {
                let (row, n) = (at % rows, (rows - at % rows).min(last - at));
                // SAFETY: rows of a plane; rows are disjoint.
                unsafe {
                    let (dst, src) = self.at(at / rows);
                    let (dst, src) = (dst.offset(row as isize * apart * size as isize), src.add(row * size));
                    match size {
                        1 => repeat::<u8>(dst, apart, src, n, columns),
                        2 => repeat::<u16>(dst, apart, src, n, columns),
                        4 => repeat::<u32>(dst, apart, src, n, columns),
                        _ => repeat::<u64>(dst, apart, src, n, columns),
                    }
                }
                at += n;
            }
        });
    }

    /// Planes whose rows are the other side's columns, by blocks of which both sides stay in cache: a side's lines are touched by
    /// neighbouring rows.
    unsafe fn turned(&self) {
        let (rows, columns, size) = (self.shape[self.from], self.shape[self.inner], self.size as isize);
        let (src_row, dst_row) = (self.strides[1][self.inner], self.strides[0][self.from]);
        let backwards = self.strides[1][self.from] == -1;
        let across = columns.div_ceil(BLOCK);
        let streams = self.bytes() >= STREAM && streams();
        let turn = if streams { transpose_past } else { transpose };
        in_parts(self.around() * across, 1, self.bytes(), &|first, last| {
            for task in first..last {
                // SAFETY: there is such a plane.
                let (dst, src) = unsafe { self.at(task / across) };
                let column = task % across * BLOCK;
                let width = BLOCK.min(columns - column);
                for row in (0..rows).step_by(BLOCK) {
                    let height = BLOCK.min(rows - row);
                    // From the row that lies first in the source.
                    let (row, step, each) =
                        if backwards { (row + height - 1, -1, -dst_row) } else { (row, 1, dst_row) };
                    let (column, row) = (column as isize, row as isize);
                    // SAFETY: a block of a plane; blocks are disjoint.
                    unsafe {
                        let src = src.offset((column * src_row + step * row) * size);
                        let dst = dst.offset((row * dst_row + column) * size);
                        turn(self.size, dst, each, src, src_row, width, height);
                    }
                }
            }
            if streams {
                finish();
            }
        });
    }

    /// Runs along the innermost dimension.
    unsafe fn along(&self) {
        let (n, size) = (self.shape[self.inner], self.size);
        let steps = self.strides.map(|strides| strides[self.inner]);
        let streams = self.bytes() >= STREAM && n * size >= LONG && steps == [1, 1] && streams();
        // Runs that follow each other along one dimension.
        let last = self.outer.last();
        let (side, apart) = last.map_or((1, [0, 0]), |&d| (self.shape[d], self.strides.map(|s| s[d])));
        in_parts(self.around(), 1, self.bytes(), &|first, last| {
            let mut position = first;
            while position < last {
                let count = (side - position % side).min(last - position);
                // SAFETY: runs of the innermost dimension.
                unsafe {
                    let (dst, src) = self.at(position);
                    if streams {
                        for i in 0..count as isize {
                            let [by_dst, by_src] = apart.map(|by| i * by * size as isize);
                            stream(dst.offset(by_dst), src.offset(by_src), n * size);
                        }
                    } else {
                        runs(size, dst, src, [count, n], [apart, steps]);
                    }
                }
                position += count;
            }
            if streams {
                finish();
            }
        });
    }
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
