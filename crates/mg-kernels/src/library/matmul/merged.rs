//! What products of all devices ask of layouts.

use mg_device::{Layout, MAX_RANK, Shape, merge_dims};

/// A product with its leading axes merged as far as they can be.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub(crate) batch: Shape,
    pub(crate) a_batch: [isize; MAX_RANK],
    pub(crate) b_batch: [isize; MAX_RANK],
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
    pub(crate) a_strides: [isize; 2],
    pub(crate) b_strides: [isize; 2],
}

impl Merged {
    /// Rows along which `b` repeats are rows of one matrix, whatever axis they came from: results stay in order.
    pub(crate) fn new(la: &Layout, lb: &Layout) -> Merged {
        let rank = la.rank();
        let (sa, sb) = (la.strides(), lb.strides());
        let (k, n) = (la.shape()[rank - 1], lb.shape()[rank - 1]);
        let (a_strides, b_strides) = ([sa[rank - 2], sa[rank - 1]], [sb[rank - 2], sb[rank - 1]]);
        if rank == 2 {
            let (batch, none) = (Shape::scalar(), [0; MAX_RANK]);
            let m = la.shape()[0];
            return Merged { batch, a_batch: none, b_batch: none, m, n, k, a_strides, b_strides };
        }
        let rows = Shape::of(&la.shape().dims()[..rank - 1]);
        let mut b_rows = lb.padded_strides();
        b_rows[rank - 2] = 0;
        let (shape, [mut a_batch, mut b_batch]) = merge_dims(&rows, [&sa[..rank - 1], &b_rows[..rank - 1]]);
        let lead = shape.rank().wrapping_sub(1);
        let (batch, m, a_row) = match shape.rank() {
            0 => (Shape::scalar(), 1, 0),
            _ if b_batch[lead] == 0 => (Shape::of(&shape.dims()[..lead]), shape[lead], a_batch[lead]),
            _ => (shape, 1, 0),
        };
        a_batch[batch.rank()..].fill(0);
        b_batch[batch.rank()..].fill(0);
        Merged { batch, a_batch, b_batch, m, n, k, a_strides: [a_row, a_strides[1]], b_strides }
    }

    /// Where the matrices of one index of the batch begin.
    pub(crate) fn offsets(&self, mut index: usize) -> (isize, isize) {
        let (mut a, mut b) = (0, 0);
        for axis in (0..self.batch.rank()).rev() {
            let i = (index % self.batch[axis]) as isize;
            index /= self.batch[axis];
            a += i * self.a_batch[axis];
            b += i * self.b_batch[axis];
        }
        (a, b)
    }
}
