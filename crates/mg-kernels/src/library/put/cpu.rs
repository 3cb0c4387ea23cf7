//! Writing at indices on the CPU.

use super::Sizes;
use crate::cpu::library::Shared;
use crate::cpu::pool::{num_threads, parallel};
use crate::library::Operand;
use std::ops::Range;

/// Bytes from which threads share the work.
const PARALLEL: usize = 1 << 18;

/// Copies the base unless the output is that, and writes the values. Each thread has some of the places, and goes through all indices in
/// their order: of several values at one place the last stays, however many threads there are.
///
/// # Safety
///
/// Operands lie densely and are valid for their shapes; so is the output for the base's.
pub(super) unsafe fn put(sizes: &Sizes, base: &Operand, value: &Operand, index: &Operand, out: *mut u8) {
    let Sizes { outer, n, inner, count, one } = *sizes;
    let size = base.dtype.size();
    let row = inner * size;
    let total = outer * n * row;
    // SAFETY: there are `count` indices.
    let index = unsafe { std::slice::from_raw_parts(index.first().cast::<i64>(), count) };
    let from = Shared(base.first().cast_mut());
    let (values, to) = (Shared(value.first().cast_mut()), Shared(out));
    let copies = !std::ptr::eq(from.0, to.0);
    let work = outer * count * row + if copies { total } else { 0 };
    let threads = num_threads();
    // Each task looks at all indices: where rows are short, that is most of the work.
    let per_thread = if row < 64 { 1 } else { 4 };
    let tasks = if work < PARALLEL || threads == 1 { 1 } else { (per_thread * threads).min(n.max(1)) };
    let run = |task: usize| {
        let (from, values, to) = (&from, &values, &to);
        let (first, end) = (n * task / tasks, n * (task + 1) / tasks);
        for o in 0..outer {
            // SAFETY: the task's places of this part lie within both.
            let place = |at: usize| unsafe { to.0.add((o * n + at) * row) };
            if copies {
                // SAFETY: see above; the base and the output are apart.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        from.0.add((o * n + first) * row),
                        place(first),
                        (end - first) * row,
                    );
                }
            }
            // SAFETY: there are as many values as indices, of a row each, or one element; places are within the output.
            unsafe {
                let (value, to) = (values.0.add(if one { 0 } else { o * count * row }), place(0));
                match (one, row) {
                    (false, 1) => write::<u8>(index, first..end, value, to),
                    (false, 2) => write::<u16>(index, first..end, value, to),
                    (false, 4) => write::<u32>(index, first..end, value, to),
                    (false, 8) => write::<u64>(index, first..end, value, to),
                    _ => each(index, first..end, |j, at| match one {
                        true => fill(value, size, to.add(at * row), inner),
                        false => {
                            std::ptr::copy_nonoverlapping(value.add(j * row), to.add(at * row), row);
                        }
                    }),
                }
            }
        }
    };
    match tasks {
        1 => run(0),
        _ => parallel(tasks, &run),
    }
}

/// Calls `run` with the indices that name some of the places, in their order.
#[inline(always)]
fn each(index: &[i64], places: Range<usize>, mut run: impl FnMut(usize, usize)) {
    let (first, n) = (places.start as u64, places.len() as u64);
    for (j, &at) in index.iter().enumerate() {
        // What was checked is no negative number; those before the first place wrap around.
        if (at as u64).wrapping_sub(first) < n {
            run(j, at as usize);
        }
    }
}

/// Writes values of one element each: a call for each would take longer than the copy.
///
/// # Safety
///
/// There are as many values as indices, and room for one at each of the places.
unsafe fn write<T>(index: &[i64], places: Range<usize>, values: *const u8, to: *mut u8) {
    let (values, to) = (values.cast::<T>(), to.cast::<T>());
    each(index, places, |j, at| {
        // SAFETY: this function's contract. A row of small elements need not lie at a multiple of its size.
        unsafe { to.add(at).write_unaligned(values.add(j).read_unaligned()) };
    });
}

/// Writes `count` times an element of `size` bytes.
///
/// # Safety
///
/// The element is there, and room for as many.
unsafe fn fill(element: *const u8, size: usize, to: *mut u8, count: usize) {
    // SAFETY: this function's contract; elements lie at multiples of their size.
    unsafe {
        match size {
            1 => to.write_bytes(*element, count),
            2 => std::slice::from_raw_parts_mut(to.cast::<u16>(), count).fill(*element.cast()),
            4 => std::slice::from_raw_parts_mut(to.cast::<u32>(), count).fill(*element.cast()),
            _ => std::slice::from_raw_parts_mut(to.cast::<u64>(), count).fill(*element.cast()),
        }
    }
}
