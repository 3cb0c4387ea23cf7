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

/// As [`rows`], of an operand whose elements along a row lie at any distance, the same from each to the next: that too.
pub(crate) fn repeated(
    shape: &Shape,
    axis: usize,
    index: &Layout,
    operand: &Layout,
) -> (usize, usize, isize) {
    let (mut first, mut row, mut step) = (shape.rank(), 1usize, None);
    while first > axis + 1 {
        let d = first - 1;
        if shape[d] > 1 {
            let next = *step.get_or_insert(operand.strides()[d]) * row as isize;
            if index.strides()[d] != 0 || operand.strides()[d] != next {
                break;
            }
            row *= shape[d];
        }
        first = d;
    }
    // Of an axis that ended the row nothing is known.
    (first, row, if row > 1 { step.unwrap_or(1) } else { 1 })
}
