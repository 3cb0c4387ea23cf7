//! Counting by intervals on the CPU: each task has counts of its own.

use crate::cpu::library::Shared;
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};
use crate::lane::Lane;
use crate::library::Operand;
use mg_device::Float;

/// Elements that are worth a task.
const TASK: usize = 1 << 16;

/// Counts the elements of intervals.
///
/// # Safety
///
/// Operands lie densely and are valid for their shapes, both ends have an element; there is room for `bins` counts.
pub(super) unsafe fn tally(bins: usize, x: &Operand, low: &Operand, high: &Operand, out: *mut i64) {
    // SAFETY: this function's contract; the dtype is the elements'.
    let counts = unsafe {
        match x.dtype.float() {
            Some(Float::F64) => run::<f64>(bins, x, low, high, |place| place as usize),
            // f32: other dtypes were refused when the node was made.
            Some(Float::F32 | Float::F16 | Float::BF16) | None => {
                run::<f32>(bins, x, low, high, |place| place as usize)
            }
        }
    };
    // SAFETY: this function's contract.
    unsafe { std::slice::from_raw_parts_mut(out, bins) }.copy_from_slice(&counts);
}

/// As [`tally`]; `whole` cuts a number that is not negative, and saturates.
unsafe fn run<T: Lane + PartialOrd + Sync>(
    bins: usize,
    x: &Operand,
    low: &Operand,
    high: &Operand,
    whole: impl Fn(T) -> usize + Sync,
) -> Vec<i64> {
    let count = x.layout.shape().numel();
    // SAFETY: see above.
    let (x, low, high) = unsafe {
        (
            std::slice::from_raw_parts(x.first().cast::<T>(), count),
            *low.first().cast::<T>(),
            *high.first().cast::<T>(),
        )
    };
    let (width, all) = (high.sub(low), low.lit(bins as f64));
    let tally = |part: &[T], counts: &mut [i64]| {
        for &x in part.iter().filter(|&&x| low <= x && x <= high) {
            let place = whole(x.sub(low).div(width).mul(all));
            counts[place.min(bins - 1)] += 1;
        }
    };
    let tasks = count.div_ceil(TASK).min(4 * num_threads()).max(1);
    let mut counts = memory::collected((0..tasks).map(|_| memory::filled(bins, 0i64)));
    let at = Shared(counts.as_mut_ptr());
    let task = |task: usize| {
        let part = &x[count * task / tasks..count * (task + 1) / tasks];
        // SAFETY: each task has counts of its own.
        tally(part, unsafe { &mut *at.get().add(task) });
    };
    match tasks {
        1 => task(0),
        _ => parallel(tasks, &task),
    }
    let mut sums = memory::filled(bins, 0);
    for counts in &counts {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums
}
