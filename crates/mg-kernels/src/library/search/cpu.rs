//! Binary search on the CPU.

use super::{Lines, Search};
use crate::cpu::library::Shared;
use crate::cpu::loops::{Isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::{num_threads, parallel};
use crate::library::Operand;
use crate::library::sort::Element;
use mg_device::with_computed;
use std::array::from_fn;

/// Values that are looked for beside each other.
const LANES: usize = 32;
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
    let done = with_computed!(sorted.dtype, T => go!(T));
    done.unwrap_or_else(|| unreachable!("not put in order: see `Library::result`"));
}

unsafe fn run<E: Element>(right: bool, sorted: &Operand, values: &Operand, out: Shared<*mut i64>) {
    let lines = Lines::of(sorted.layout.shape(), values.layout.shape());
    let (line, value) = (Shared(sorted.first().cast::<E>()), Shared(values.first().cast::<E>()));
    // Of lines with more values than elements the keys are made once.
    let has_keys = isa() == Isa::Avx512 && (LANES..=lines.values).contains(&lines.length);
    let count = if has_keys { lines.count.div_ceil(lines.values) * lines.length } else { 0 };
    // SAFETY: this function's contract.
    let keys = memory::collected((0..count).map(|i| unsafe { (*line.get().add(i)).key() }));
    let task = |task: usize| {
        let mut i = task * TASK;
        let end = (i + TASK).min(lines.count);
        while i < end {
            let (start, last) =
                (i / lines.values * lines.length, end.min((i / lines.values + 1) * lines.values));
            // SAFETY: this function's contract: values and places are there, of one line.
            unsafe {
                let (values, out) = (value.get().add(i), out.get().add(i));
                match keys.get(start..start + lines.length) {
                    #[cfg(target_arch = "x86_64")]
                    Some(keys) if has_keys => beside(right, keys, values, last - i, out),
                    _ => one_by_one(right, line.get().add(start), lines.length, values, last - i, out),
                }
            }
            i = last;
        }
    };
    let tasks = lines.count.div_ceil(TASK);
    match tasks < 2 || num_threads() == 1 {
        true => (0..tasks).for_each(task),
        false => parallel(tasks, &task),
    }
}

/// The places of `n` values in a line.
///
/// # Safety
///
/// They are there, and so is room for the places.
unsafe fn one_by_one<E: Element>(
    right: bool,
    line: *const E,
    length: usize,
    values: *const E,
    n: usize,
    out: *mut i64,
) {
    for i in 0..n {
        let (mut low, mut left) = (0, length);
        // SAFETY: this function's contract; what is looked at is between the line's ends.
        unsafe {
            let key = (*values.add(i)).key();
            while left > 0 {
                let half = left / 2;
                let at = (*line.add(low + half)).key();
                let before = if right { at <= key } else { at < key };
                low = if before { low + half + 1 } else { low };
                left = if before { left - half - 1 } else { half };
            }
            out.add(i).write(low as i64);
        }
    }
}

/// The same of a line of keys, some values beside each other: all of them take steps of one length.
///
/// # Safety
///
/// As [`one_by_one`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn beside<E: Element>(right: bool, line: &[u64], values: *const E, n: usize, out: *mut i64) {
    for first in (0..n).step_by(LANES) {
        let count = LANES.min(n - first);
        // SAFETY: this function's contract. Behind the last value it is looked at again.
        let keys: [u64; LANES] = from_fn(|i| unsafe { (*values.add(first + i.min(count - 1))).key() });
        let mut low = [0usize; LANES];
        let mut left = line.len();
        while left > 0 {
            // The first half is left behind where its last element is before the value; of one element, that one.
            let half = left.div_ceil(2);
            for i in 0..LANES {
                // SAFETY: no place is further on than `line.len() - left`.
                let at = unsafe { *line.get_unchecked(low[i] + half - 1) };
                let before = if right { at <= keys[i] } else { at < keys[i] };
                low[i] += if before { half } else { 0 };
            }
            left -= half;
        }
        for (i, low) in low[..count].iter().enumerate() {
            // SAFETY: this function's contract.
            unsafe { out.add(first + i).write(*low as i64) };
        }
    }
}
