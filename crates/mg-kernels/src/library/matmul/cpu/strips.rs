//! A matrix that many products are by, as the tiles read it.

use super::blocked::{BUFFER, lines};
use super::entry::Entry;
use super::micro::{Compute, Link, Tile};
use super::pack;
use crate::cpu::library::scratch;
use crate::cpu::pool::part;
use mg_device::Buffer;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The right operand of products: strips of as many columns as a tile has, one after the other, the last with zeros.
pub(crate) struct Strips<T> {
    memory: Buffer,
    k: usize,
    n: usize,
    of: PhantomData<T>,
}

impl<T: Entry<Acc = T> + Compute> Strips<T> {
    /// Of a matrix of `k` rows and `n` columns, which lie as far apart as the strides say.
    ///
    /// # Safety
    ///
    /// It is there.
    pub(crate) unsafe fn of(b: *const T, [k, n]: [usize; 2], [row, column]: [usize; 2]) -> Strips<T> {
        let width = T::kernels().columns();
        let memory = scratch::block(k * n.next_multiple_of(width) * size_of::<T>());
        for first in (0..n).step_by(width) {
            // SAFETY: this function's contract; the strip has so many rows and columns.
            unsafe {
                let (from, to) = (b.add(first * column), memory.as_mut_ptr().cast::<T>().add(first * k));
                pack::strip(from, row as isize, column as isize, to, width, width.min(n - first), k);
            }
        }
        Strips { memory, k, n, of: PhantomData }
    }

    /// `c = a · b`, or that and what is in `c`, of so many rows of `a`, which lie `a_row` apart, those of `c` `c_row`.
    ///
    /// # Safety
    ///
    /// They are there, and nobody else writes to `c`.
    pub(crate) unsafe fn product(
        &self,
        rows: usize,
        a: *const T,
        a_row: usize,
        c: *mut T,
        c_row: usize,
        add: bool,
    ) {
        let kernels = T::kernels();
        let width = kernels.columns();
        let link = [Link { a: 0, b: 0, k: self.k }];
        let slivers = rows.div_ceil(kernels.rows);
        for first in (0..self.n).step_by(width) {
            let columns = width.min(self.n - first);
            let b = self.memory.as_mut_ptr().cast::<T>().wrapping_add(first * self.k).cast_const();
            for sliver in (0..slivers).map(|i| part(i, slivers, rows)) {
                let to = c.wrapping_add(sliver.start * c_row + first);
                let mut tile = Tile {
                    links: &link,
                    a: a.wrapping_add(sliver.start * a_row),
                    a_row: a_row as isize,
                    a_k: 1,
                    b,
                    b_k: width as isize,
                    c: to,
                    c_row: c_row as isize,
                    columns,
                    add,
                    ahead: b,
                    ahead_k: 0,
                };
                let kernel = kernels.of(sliver.len(), columns);
                // SAFETY: this function's contract; a strip has as many columns as a tile.
                unsafe {
                    if kernels.masked || columns == kernels.written(columns) {
                        kernel(&tile);
                        continue;
                    }
                    // Whole vectors are written: of the last one elsewhere.
                    let mut buffer = MaybeUninit::<[T; BUFFER]>::uninit();
                    tile.c = buffer.as_mut_ptr().cast();
                    tile.c_row = width as isize;
                    tile.columns = kernels.written(columns);
                    tile.add = false;
                    kernel(&tile);
                    lines(tile.c, width, to, c_row, sliver.len(), columns, add);
                }
            }
        }
    }
}
