//! Sums of what comes back, place by place.

use super::Unblend;
use crate::cpu::library::{Shared, in_ranges};
use crate::library::Operand;
use std::ops::{Add, Mul};

/// Elements from which the work is divided among threads.
const PARALLEL: usize = 1 << 16;

/// # Safety
///
/// As [`Kernel::cpu`](crate::library::Kernel::cpu) of a kernel whose elements are `T`.
pub(super) unsafe fn unblend<T>(kernel: &Unblend, operands: &[Operand], out: *mut T)
where
    T: Copy + Default + Sync + Add<Output = T> + Mul<Output = T>,
{
    let (axis, taps, size) = (usize::from(kernel.axis), usize::from(kernel.taps), kernel.size);
    let [g, behind @ ..] = operands else { return };
    let shape = g.layout.shape();
    let (along, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let lines: usize = shape[..axis].iter().product();
    if lines * size * inner == 0 {
        return;
    }
    // SAFETY: operands lie densely, and have as many elements as their shapes say.
    let (indices, weights) = unsafe {
        let index = |t: usize| std::slice::from_raw_parts(behind[t].first().cast::<i64>(), along);
        let weight = |t: usize| std::slice::from_raw_parts(behind[taps + t].first().cast::<T>(), along);
        ((0..taps).map(index).collect::<Vec<_>>(), (0..taps).map(weight).collect::<Vec<_>>())
    };
    // Of each place the positions and weights that name it, in order.
    let mut begins = vec![0; size + 1];
    let named = |t: usize, j: usize| usize::try_from(indices[t][j]).ok().filter(|&place| place < size);
    let all = || (0..along).flat_map(|j| (0..taps).map(move |t| (t, j)));
    all().filter_map(|(t, j)| named(t, j)).for_each(|place| begins[place + 1] += 1);
    for place in 0..size {
        begins[place + 1] += begins[place];
    }
    let mut parts = vec![(0, T::default()); begins[size]];
    let mut next = begins.clone();
    for (t, j) in all() {
        if let Some(place) = named(t, j) {
            parts[next[place]] = (j, weights[t][j]);
            next[place] += 1;
        }
    }
    let (base, out) = (Shared(g.first()), Shared(out));
    let rows = lines * size;
    in_ranges(rows, rows * inner >= PARALLEL, &|rows| {
        for row in rows {
            let (line, place) = (row / size, row % size);
            // SAFETY: rows are disjoint parts of the result, and positions are of the line.
            let (sums, from) = unsafe {
                let from = base.get().cast::<T>().add(line * along * inner);
                (std::slice::from_raw_parts_mut(out.get().add(row * inner), inner), from)
            };
            sums.fill(T::default());
            for &(j, weight) in &parts[begins[place]..begins[place + 1]] {
                // SAFETY: as above.
                let own = unsafe { std::slice::from_raw_parts(from.add(j * inner), inner) };
                sums.iter_mut().zip(own).for_each(|(sum, &g)| *sum = *sum + g * weight);
            }
        }
    });
}
