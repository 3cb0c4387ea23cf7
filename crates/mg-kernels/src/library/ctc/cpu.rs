//! The recursion on the CPU: lines on all threads, each with all its steps.

use super::{CtcKind, Sizes};
use crate::cpu::library::Shared;
use crate::cpu::pool::parallel;
use crate::lane::FloatLane;
use crate::library::Operand;
use crate::math::{exp, log};
use mg_device::Float;

/// Labels of all steps from which threads share the work.
const PARALLEL: usize = 1 << 11;

/// What is computed in.
trait Real: FloatLane + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    const LEAST: Self;
}
impl Real for f32 {
    const ZERO: f32 = 0.0;
    const LEAST: f32 = f32::NEG_INFINITY;
}
impl Real for f64 {
    const ZERO: f64 = 0.0;
    const LEAST: f64 = f64::NEG_INFINITY;
}

/// # Safety
///
/// As [`crate::library::Kernel::cpu`], of operands that have these sizes.
pub(super) unsafe fn run(kind: CtcKind, s: Sizes, operands: &[Operand], out: *mut u8) {
    let scores = if kind == CtcKind::States { 0 } else { 1 };
    match operands[scores].dtype.float() {
        // SAFETY: this function's contract.
        Some(Float::F64) => unsafe { run_as::<f64>(kind, s, operands, out.cast()) },
        // SAFETY: as above; other dtypes were refused when the node was made.
        Some(Float::F32 | Float::F16 | Float::BF16) | None => unsafe {
            run_as::<f32>(kind, s, operands, out.cast());
        },
    }
}

unsafe fn run_as<T: Real>(kind: CtcKind, s: Sizes, operands: &[Operand], out: *mut T) {
    let at = |i: usize| operands[i].first();
    let row = s.lines * s.width;
    if kind == CtcKind::End {
        let states = at(0).cast::<T>();
        // SAFETY: this function's contract: the last of the steps.
        unsafe { std::ptr::copy_nonoverlapping(states.add((s.steps - 1) * row), out, row) };
        return;
    }
    let own = usize::from(kind == CtcKind::Slopes);
    let call = Shared(Call::<T> {
        s,
        scores: at(own).cast(),
        skips: at(own + 1),
        steps: at(own + 2).cast(),
        counts: at(own + 3).cast(),
        states: if own == 0 { out } else { at(0).cast::<T>().cast_mut() },
        ends: if own == 0 { std::ptr::null() } else { at(5).cast() },
        slopes: out,
    });
    let line = |line: usize| {
        let call = call.get();
        // SAFETY: this function's contract; a line is one task's.
        unsafe { if own == 0 { call.forward(line) } else { call.backward(line) } }
    };
    if s.steps * row < PARALLEL { (0..s.lines).for_each(line) } else { parallel(s.lines, &line) }
}

/// The addresses of a call.
#[derive(Clone, Copy)]
struct Call<T> {
    s: Sizes,
    scores: *const T,
    skips: *const u8,
    steps: *const i64,
    counts: *const i64,
    states: *mut T,
    /// The gradient of what the last step has come to.
    ends: *const T,
    slopes: *mut T,
}

/// What three numbers are to the sum of their powers: the largest (0 where there is none), the powers less that, and their sum.
fn powers<T: Real>(terms: [T; 3]) -> (T, [T; 3], T) {
    let top = terms.into_iter().reduce(|a, b| if b > a || b.partial_cmp(&b).is_none() { b } else { a });
    let top = top.filter(|&top| top != T::LEAST).unwrap_or(T::ZERO);
    let powers = terms.map(|x| exp(x.sub(top)));
    (top, powers, powers[0].add(powers[1]).add(powers[2]))
}

impl<T: Real> Call<T> {
    fn at(&self, step: usize, line: usize) -> usize {
        (step * self.s.lines + line) * self.s.width
    }

    /// What may come before a label: the same, the one before, and, where it may be skipped to, the one before that.
    ///
    /// Safety: the label is one of the line's.
    unsafe fn before(&self, states: *const T, line: usize, label: usize) -> [T; 3] {
        // SAFETY: this function's contract.
        unsafe {
            let back = |by: usize| if label < by { T::LEAST } else { *states.add(label - by) };
            let skips = *self.skips.add(line * self.s.width + label) != 0;
            [back(0), back(1), if skips { back(2) } else { T::LEAST }]
        }
    }

    /// Safety: the addresses are those of a line.
    unsafe fn forward(&self, line: usize) {
        // SAFETY: this function's contract.
        unsafe {
            let (steps, count) = (*self.steps.add(line), *self.counts.add(line));
            for step in 0..self.s.steps {
                let (to, scores) =
                    (self.states.add(self.at(step, line)), self.scores.add(self.at(step, line)));
                let is_over = step as i64 >= steps;
                let from = if step == 0 {
                    std::ptr::null()
                } else {
                    self.states.add(self.at(step - 1, line)).cast_const()
                };
                for label in 0..self.s.width {
                    *to.add(label) = match (step, is_over) {
                        // What nothing but the beginning can come to: the blank, or the first label.
                        (0, false) if label as i64 <= count.min(1) => *scores.add(label),
                        (0, _) => T::LEAST,
                        (_, true) => *from.add(label),
                        (_, false) => {
                            let (top, _, sum) = powers(self.before(from, line, label));
                            let all = if sum == T::ZERO { T::LEAST } else { log(sum).add(top) };
                            all.add(*scores.add(label))
                        }
                    };
                }
            }
        }
    }

    /// Safety: the addresses are those of a line.
    unsafe fn backward(&self, line: usize) {
        // SAFETY: this function's contract.
        unsafe {
            let width = self.s.width;
            let (steps, count) = (*self.steps.add(line), *self.counts.add(line));
            let mut flow = std::slice::from_raw_parts(self.ends.add(line * width), width).to_vec();
            let mut next = vec![T::ZERO; width];
            for step in (0..self.s.steps).rev() {
                let to = std::slice::from_raw_parts_mut(self.slopes.add(self.at(step, line)), width);
                if step as i64 >= steps {
                    to.fill(T::ZERO);
                    continue;
                }
                to.copy_from_slice(&flow);
                if step == 0 {
                    let taken = usize::try_from(count.min(1) + 1).unwrap_or(0).min(width);
                    to[taken..].fill(T::ZERO);
                    continue;
                }
                next.fill(T::ZERO);
                let from = self.states.add(self.at(step - 1, line)).cast_const();
                for (label, &g) in flow.iter().enumerate() {
                    let (_, powers, sum) = powers(self.before(from, line, label));
                    // From where nothing can come, nothing flows.
                    if sum == T::ZERO {
                        continue;
                    }
                    for (back, power) in powers.into_iter().enumerate().take(label + 1) {
                        next[label - back] = next[label - back].add(g.mul(power.div(sum)));
                    }
                }
                std::mem::swap(&mut flow, &mut next);
            }
        }
    }
}
