//! Looking at indices before anything is done by them, many at a time.

use crate::cpu::loops::{by_isa, isa};
use mg_device::Element;
use std::ops::Range;

/// What some indices have in common: the highest bit of the first is set where one lies outside of `valid`, that of the second where one is
/// negative. Indices, and the ends of the range, are further than 2⁶² from none of each other.
pub fn common<T: Element>(all: &[T], valid: &Range<i64>) -> [i64; 2] {
    type Common<T> = unsafe fn(all: *const T, n: usize, least: i64, last: i64) -> [i64; 2];
    let f = by_isa!(narrow isa(), Common<T>, fn<T: Element>(all: *const T, n: usize, least: i64, last: i64) -> [i64; 2] {
        std::slice::from_raw_parts(all, n).iter().fold([0, 0], |[outside, signs], index| {
            let index = index.to_i64();
            [outside | index.wrapping_sub(least) | last.wrapping_sub(index), signs | index]
        })
    }, [T]);
    // SAFETY: the processor has the instructions, and a slice its elements.
    unsafe { f(all.as_ptr(), all.len(), valid.start, valid.end.wrapping_sub(1)) }
}
