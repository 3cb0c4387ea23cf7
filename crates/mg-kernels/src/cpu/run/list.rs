//! Programs that do not wait for each other, divided among threads as one.

use super::PARALLEL;
use crate::cpu::pool::parallel;
use crate::finding::{Refusals, join_refusals};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Positions that one task computes.
const TASK: usize = 1 << 16;

/// Calls `run` with the number of a program and a range of its positions, until all are computed of programs of so many positions each;
/// answers with what the checks of each have refused. `work` is how many values that is in all: with few, this thread does it alone.
pub fn list(
    lengths: &[usize],
    work: usize,
    run: &(dyn Fn(usize, Range<usize>) -> Result<(), Refusals> + Sync),
) -> Vec<Refusals> {
    let mut tasks: Vec<(usize, Range<usize>)> = vec![];
    for (i, &n) in lengths.iter().enumerate() {
        tasks.extend((0..n).step_by(TASK).map(|at| (i, at..(at + TASK).min(n))));
    }
    let refused: Mutex<Vec<Refusals>> = Mutex::new(vec![Refusals::new(); lengths.len()]);
    let task = |task: usize| {
        let (i, range) = &tasks[task];
        if let Err(found) = run(*i, range.clone()) {
            join_refusals(&mut refused.lock().unwrap_or_else(PoisonError::into_inner)[*i], &found);
        }
    };
    if work < PARALLEL {
        (0..tasks.len()).for_each(task);
    } else {
        parallel(tasks.len(), &task);
    }
    refused.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Refused};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_position_is_computed_once_and_the_first_finding_is_kept() {
        let lengths = [3 * TASK + 5, 0, 7];
        for work in [0, PARALLEL] {
            let computed: Vec<AtomicUsize> = lengths.iter().map(|_| AtomicUsize::new(0)).collect();
            let refused = list(&lengths, work, &|i, range: Range<usize>| {
                computed[i].fetch_add(range.len(), Ordering::Relaxed);
                // The second and the third task find something.
                match i == 0 && (TASK..3 * TASK).contains(&range.start) {
                    true => Err(vec![Refused { value: 1, found: Finding::Divisor, position: range.start }]),
                    false => Ok(()),
                }
            });
            let computed: Vec<usize> = computed.iter().map(|n| n.load(Ordering::Relaxed)).collect();
            assert_eq!(computed, lengths);
            assert_eq!(refused.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 0]);
            assert_eq!(refused[0][0].position, TASK);
        }
    }
}
