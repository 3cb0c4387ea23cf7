//! Binary search on the CPU.

use super::{Lines, Search};
use crate::cpu::library::Shared;
use crate::cpu::pool::{num_threads, parallel};
use crate::library::Operand;
use crate::library::sort::Element;
use mg_device::with_number;

/// Values that are worth a task.
const TASK: usize = 1 << 12;

/// Computes a search.
///
/// # Safety
///
/// Operands and output lie densely, as the shapes say, and are valid from any thread for the time of the call.
pub(super) unsafe fn search(search: &Search, operands: &[Operand], out: *mut i64) {
    let [sorted, values] = operands else { return };
    macro_rules! go {
        ($T:ty) => {
            // SAFETY: this function's contract; the dtype is the elements'.
            unsafe { run::<$T>(search.right, sorted, values, Shared(out)) }
        };
    }
    with_number!(sorted.dtype, T => go!(T))
}

unsafe fn run<E: Element>(right: bool, sorted: &Operand, values: &Operand, out: Shared<*mut i64>) {
    let lines = Lines::of(sorted.layout.shape(), values.layout.shape());
    let (line, value) = (Shared(sorted.first().cast::<E>()), Shared(values.first().cast::<E>()));
    let task = |task: usize| {
        for i in task * TASK..((task + 1) * TASK).min(lines.count) {
            let (mut low, mut left) = (i / lines.values * lines.length, lines.length);
            // SAFETY: this function's contract: value and place are there, and what is looked at is between the line's ends.
            unsafe {
                let start = low;
                let key = (*value.get().add(i)).key();
                while left > 0 {
                    let half = left / 2;
                    let at = (*line.get().add(low + half)).key();
                    let before = if right { at <= key } else { at < key };
                    low = if before { low + half + 1 } else { low };
                    left = if before { left - half - 1 } else { half };
                }
                out.get().add(i).write((low - start) as i64);
            }
        }
    };
    let tasks = lines.count.div_ceil(TASK);
    match tasks < 2 || num_threads() == 1 {
        true => (0..tasks).for_each(task),
        false => parallel(tasks, &task),
    }
}
