//! The recursion on the CPU: lines on all threads, each with all its steps.

use super::{CtcKind, Sizes};
use crate::cpu::library::Shared;
use crate::cpu::loops::{by_isa, isa};
use crate::cpu::memory;
use crate::cpu::pool::parallel;
use crate::lane::FloatLane;
use crate::library::Operand;
use crate::math::{exp, log};
use mg_device::Float;

/// Labels of all steps from which threads share the work.
const PARALLEL: usize = 1 << 11;

/// What is computed in.
trait Real: FloatLane<Mask = bool> + Send + Sync + 'static {
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
    let walk: Line<T> = match own {
        0 => {
            by_isa!(isa(), Line<T>, fn <U: Real>(call: &Call<U>, line: usize) { forward::<U>(call, line) }, [T])
        }
        _ => {
            by_isa!(isa(), Line<T>, fn <U: Real>(call: &Call<U>, line: usize) { backward::<U>(call, line) }, [T])
        }
    };
    // SAFETY: this function's contract; a line is one task's.
    let line = |line: usize| unsafe { walk(&call.get(), line) };
    if s.steps * row < PARALLEL { (0..s.lines).for_each(line) } else { parallel(s.lines, &line) }
}

type Line<T> = unsafe fn(&Call<T>, usize);

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

impl<T> Call<T> {
    fn at(&self, step: usize, line: usize) -> usize {
        (step * self.s.lines + line) * self.s.width
    }
}

/// Labels that are computed side by side.
const LANES: usize = 16;
/// How far back a label looks.
const BACK: usize = 2;

/// What a label looks back to: a step's numbers behind [`BACK`] that nothing has come to, with room for whole registers after them.
struct Before<T> {
    numbers: Vec<T>,
    /// Where the label before the last may be skipped to.
    skips: Vec<bool>,
}

/// What comes to some labels: from the same one, the one before, and, where that may be skipped to, the one before that. The largest of
/// these (0 where nothing has come there), what each is to that, and the sum of it.
struct Powers<T> {
    top: [T; LANES],
    each: [[T; LANES]; BACK + 1],
    sum: [T; LANES],
}

impl<T: Real> Before<T> {
    /// Of a line, before its first step.
    ///
    /// Safety: the addresses are those of a line.
    unsafe fn new(call: &Call<T>, line: usize) -> Before<T> {
        let width = call.s.width;
        let room = width.next_multiple_of(LANES);
        let mut skips = memory::filled(room, false);
        for (label, skips) in skips[..width].iter_mut().enumerate() {
            // SAFETY: this function's contract.
            *skips = unsafe { *call.skips.add(line * width + label) != 0 };
        }
        Before { numbers: memory::filled(BACK + room, T::LEAST), skips }
    }

    /// Takes a step's numbers.
    ///
    /// Safety: `from` has those of a line.
    #[inline(always)]
    unsafe fn take(&mut self, from: *const T, width: usize) {
        // SAFETY: this function's contract; there is room for them.
        unsafe { std::ptr::copy_nonoverlapping(from, self.numbers.as_mut_ptr().add(BACK), width) };
    }

    /// Of the labels from one on.
    #[inline(always)]
    fn powers(&self, at: usize) -> Powers<T> {
        let mut each = [[T::LEAST; LANES]; BACK + 1];
        for (back, lanes) in each.iter_mut().enumerate() {
            lanes.copy_from_slice(&self.numbers[at + BACK - back..][..LANES]);
        }
        let skips = &self.skips[at..][..LANES];
        for (x, &skips) in each[BACK].iter_mut().zip(skips) {
            *x = T::select(skips, *x, T::LEAST);
        }
        let mut top = each[0];
        for lanes in &each[1..] {
            for (top, &x) in top.iter_mut().zip(lanes) {
                // What is no number stays.
                let takes = T::either(top.lt(x), T::not(x.eq(x)));
                *top = T::select(takes, x, *top);
            }
        }
        for top in &mut top {
            *top = T::select(top.eq(T::LEAST), T::ZERO, *top);
        }
        let mut sum = [T::ZERO; LANES];
        for lanes in &mut each {
            for l in 0..LANES {
                lanes[l] = exp(lanes[l].sub(top[l]));
                sum[l] = sum[l].add(lanes[l]);
            }
        }
        Powers { top, each, sum }
    }
}

/// Safety: the addresses are those of a line.
#[inline(always)]
unsafe fn forward<T: Real>(call: &Call<T>, line: usize) {
    let width = call.s.width;
    // SAFETY: this function's contract.
    unsafe {
        let (steps, count) = (*call.steps.add(line), *call.counts.add(line));
        let mut before = Before::new(call, line);
        for step in 0..call.s.steps {
            let to = std::slice::from_raw_parts_mut(call.states.add(call.at(step, line)), width);
            let scores = std::slice::from_raw_parts(call.scores.add(call.at(step, line)), width);
            if step as i64 >= steps {
                match step {
                    0 => to.fill(T::LEAST),
                    _ => to.copy_from_slice(&before.numbers[BACK..][..width]),
                }
            } else if step == 0 {
                // What nothing but the beginning can come to: the blank, or the first label.
                let taken = beginning(count, width);
                to[..taken].copy_from_slice(&scores[..taken]);
                to[taken..].fill(T::LEAST);
            } else {
                for at in (0..width).step_by(LANES) {
                    let Powers { top, sum, .. } = before.powers(at);
                    let mut all = [T::ZERO; LANES];
                    for l in 0..LANES {
                        all[l] = T::select(sum[l].eq(T::ZERO), T::LEAST, log(sum[l]).add(top[l]));
                    }
                    for ((to, &score), all) in to[at..].iter_mut().zip(&scores[at..]).zip(all) {
                        *to = all.add(score);
                    }
                }
            }
            before.take(to.as_ptr(), width);
        }
    }
}

/// How many labels the first step comes to.
fn beginning(count: i64, width: usize) -> usize {
    usize::try_from(count.min(1) + 1).unwrap_or(0).min(width)
}

/// Safety: the addresses are those of a line.
#[inline(always)]
unsafe fn backward<T: Real>(call: &Call<T>, line: usize) {
    let width = call.s.width;
    // SAFETY: this function's contract.
    unsafe {
        let (steps, count) = (*call.steps.add(line), *call.counts.add(line));
        let mut before = Before::new(call, line);
        // Behind what flows before the first label, which is nothing.
        let mut flow = memory::filled(BACK + width.next_multiple_of(LANES), T::ZERO);
        let mut next = flow.clone();
        std::ptr::copy_nonoverlapping(call.ends.add(line * width), flow[BACK..].as_mut_ptr(), width);
        for step in (0..call.s.steps).rev() {
            let to = std::slice::from_raw_parts_mut(call.slopes.add(call.at(step, line)), width);
            if step as i64 >= steps {
                to.fill(T::ZERO);
                continue;
            }
            to.copy_from_slice(&flow[BACK..][..width]);
            if step == 0 {
                to[beginning(count, width)..].fill(T::ZERO);
                continue;
            }
            before.take(call.states.add(call.at(step - 1, line)), width);
            next.fill(T::ZERO);
            for at in (0..width).step_by(LANES) {
                let Powers { each, sum, .. } = before.powers(at);
                let mut share = [T::ZERO; LANES];
                for l in 0..LANES {
                    // From where nothing can come, nothing flows.
                    share[l] = T::select(sum[l].eq(T::ZERO), T::ZERO, flow[BACK + at + l].div(sum[l]));
                }
                for (back, powers) in each.iter().enumerate() {
                    let to = &mut next[at + BACK - back..][..LANES];
                    for l in 0..LANES {
                        to[l] = to[l].add(share[l].mul(powers[l]));
                    }
                }
            }
            // What lies before the first label, or behind the last, is none.
            next[..BACK].fill(T::ZERO);
            next[BACK + width..].fill(T::ZERO);
            std::mem::swap(&mut flow, &mut next);
        }
    }
}
