//! What is left out of a kernel that was written down: steps that nobody reads, and gates that stop nothing.

use super::{Kernel, Part, Step};
use mg_kernels::Row;

/// The values that a step reads.
fn read_by(step: &Step, mut each: impl FnMut(usize)) {
    match step {
        Step::Argument(_) | Step::Constant(_) => {}
        Step::Call(_, parts) => parts.iter().for_each(|part| {
            if let Part::Value(at) = part {
                each(*at);
            }
        }),
        Step::Select(of) => of.iter().copied().for_each(each),
        Step::Within(of) | Step::Shield(of) => of.iter().copied().for_each(each),
        Step::As(_, of) => each(*of),
        Step::Kernel(_, of, _) => of.iter().copied().for_each(each),
    }
}

/// Gives a step's operands other numbers.
fn renumber(step: &mut Step, to: impl Fn(usize) -> usize) {
    match step {
        Step::Argument(_) | Step::Constant(_) => {}
        Step::Call(_, parts) => parts.iter_mut().for_each(|part| {
            if let Part::Value(at) = part {
                *at = to(*at);
            }
        }),
        Step::Select(of) => of.iter_mut().for_each(|at| *at = to(*at)),
        Step::Within(of) | Step::Shield(of) => of.iter_mut().for_each(|at| *at = to(*at)),
        Step::As(_, of) => *of = to(*of),
        Step::Kernel(_, of, _) => of.iter_mut().for_each(|at| *at = to(*at)),
    }
}

/// Whether a step hands a gradient of zero on as zero, be its operands infinite or NaN.
fn keeps_zero(step: &Step) -> bool {
    match step {
        Step::Call(operation, _) => operation.keeps_zero,
        Step::Select(_) | Step::As(..) | Step::Within(_) | Step::Shield(_) => true,
        Step::Argument(_) | Step::Constant(_) | Step::Kernel(..) => false,
    }
}

/// How many steps are looked at to find out whether a gate stops anything.
const LOOKED_AT: usize = 64;

/// Takes a value directly where it is read as a branch reads it, but nothing in the branch makes something else of a gradient of zero.
pub(super) fn without_idle_gates(kernel: &mut Kernel) {
    let n = kernel.steps.len();
    let mut readers = vec![vec![]; n];
    for (at, step) in kernel.steps.iter().enumerate() {
        read_by(step, |of| readers[of].push(at));
    }
    // A branch and its other side are taken apart by one choice.
    let root = |at: usize| match &kernel.steps[at] {
        Step::Call(operation, parts) if operation.row == Some(Row::Not) => match parts[..] {
            [Part::Value(of)] => of,
            _ => at,
        },
        _ => at,
    };
    let is_idle = |gate: usize, condition: usize| {
        let (mut open, mut seen) = (vec![gate], 0);
        while let Some(at) = open.pop() {
            seen += 1;
            if seen > LOOKED_AT || kernel.results.contains(&at) {
                return false;
            }
            for &reader in &readers[at] {
                match &kernel.steps[reader] {
                    Step::Select([c, ..]) if root(*c) == root(condition) => {}
                    step if keeps_zero(step) => open.push(reader),
                    _ => return false,
                }
            }
        }
        true
    };
    let mut instead: Vec<usize> = (0..n).collect();
    for at in 0..n {
        if let Step::Within([condition, value]) = kernel.steps[at]
            && is_idle(at, condition)
        {
            instead[at] = instead[value];
        }
    }
    kernel.steps.iter_mut().for_each(|step| renumber(step, |at| instead[at]));
    kernel.results.iter_mut().for_each(|at| *at = instead[*at]);
}

/// Leaves out what no result depends on.
pub(super) fn without_unread(kernel: &mut Kernel) {
    let n = kernel.steps.len();
    let mut is_read = vec![false; n];
    kernel.results.iter().for_each(|&at| is_read[at] = true);
    for at in (0..n).rev() {
        if is_read[at] {
            read_by(&kernel.steps[at], |of| is_read[of] = true);
        }
    }
    let (mut place, mut next) = (vec![0; n], 0);
    for at in 0..n {
        place[at] = next;
        next += usize::from(is_read[at]);
    }
    let mut at = 0;
    kernel.steps.retain(|_| {
        at += 1;
        is_read[at - 1]
    });
    kernel.steps.iter_mut().for_each(|step| renumber(step, |at| place[at]));
    kernel.results.iter_mut().for_each(|at| *at = place[*at]);
}
