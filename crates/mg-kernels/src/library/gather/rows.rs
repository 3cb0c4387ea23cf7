//! What indexed kernels of all devices ask of layouts.

use mg_device::{Layout, Shape};

/// Elements that share an index and lie side by side in the operand: trailing axes after `axis` along which the index
/// repeats and the operand is dense. How many axes are before them, and their number.
pub(crate) fn rows(shape: &Shape, axis: usize, index: &Layout, operand: &Layout) -> (usize, usize) {
    let (mut first, mut row) = (shape.rank(), 1usize);
    while first > axis + 1 {
        let d = first - 1;
        let same = index.strides()[d] == 0 || shape[d] == 1;
        let dense = operand.strides()[d] == row as isize || shape[d] == 1;
        if !(same && dense) {
            break;
        }
        row *= shape[d];
        first = d;
    }
    (first, row)
}
