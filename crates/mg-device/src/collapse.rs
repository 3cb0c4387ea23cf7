//! Merging neighbouring axes, for every operand of a kernel at once: fewer, longer loops over the same elements.

use crate::shape::{MAX_RANK, Shape};

/// Drops the axes of size 1 of `shape` and merges neighbouring axes wherever every operand's strides allow it, that is
/// where `stride[i] == stride[i + 1] * shape[i + 1]`. Each `strides[k]`, zeros beyond the rank, is changed in place to
/// the strides of operand `k` over the shape that is returned; its row-major sequence of offsets stays the same.
///
/// What is contiguous for all operands comes back with rank 1, a single element with rank 0, an empty space as `[0]`.
///
/// # Examples
///
/// ```
/// use mg_device::{Layout, Shape, collapse};
///
/// let shape = Shape::from([4, 1, 2, 3]);
/// let dense = Layout::contiguous(shape);
/// let row = Layout::contiguous(Shape::from([2, 3])).expand(&shape)?;
/// let mut strides = [dense.padded_strides(), row.padded_strides()];
/// assert_eq!(collapse(&shape, &mut strides), Shape::from([4, 6]));
/// assert_eq!((&strides[0][..2], &strides[1][..2]), (&[6, 1][..], &[0, 1][..]));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub fn collapse(shape: &Shape, strides: &mut [[isize; MAX_RANK]]) -> Shape {
    if shape.contains(&0) {
        strides.fill([0; MAX_RANK]);
        return Shape::from([0]);
    }
    let mut dims = [0usize; MAX_RANK];
    let mut rank = 0;
    for (axis, &n) in shape.iter().enumerate() {
        if n == 1 {
            continue;
        }
        let merges = rank > 0 && strides.iter().all(|s| s[rank - 1] == s[axis].wrapping_mul(n as isize));
        if merges {
            rank -= 1;
            dims[rank] = dims[rank].saturating_mul(n);
        } else {
            dims[rank] = n;
        }
        // `rank <= axis`, so nothing still to be read is overwritten.
        for s in strides.iter_mut() {
            s[rank] = s[axis];
        }
        rank += 1;
    }
    for s in strides.iter_mut() {
        s[rank..].fill(0);
    }
    Shape::of(&dims[..rank])
}

/// [`collapse`] for operands whose strides are slices, one stride an axis: answers with the merged shape and, for each
/// operand, its strides over that, zeros beyond the rank.
///
/// # Panics
///
/// Where an operand has more than [`MAX_RANK`] strides.
#[must_use]
pub fn merge_dims<const N: usize>(shape: &Shape, strides: [&[isize]; N]) -> (Shape, [[isize; MAX_RANK]; N]) {
    let mut merged = [[0; MAX_RANK]; N];
    for (out, &from) in merged.iter_mut().zip(&strides) {
        out[..from.len()].copy_from_slice(from);
    }
    (collapse(shape, &mut merged), merged)
}
