//! What checks may refuse: which values there may turn out not to be, and what is not overwritten for their sake.

use crate::hash::Table;
use crate::plan::{Check, Launch, Plan};
use mg_kernels::{Inst, Program, Val};

/// What a CUDA device refuses is not known when what follows is launched. So that a plan with checks can do nothing at all where
/// one of them refuses something, what comes before them overwrites nothing; what comes after them asks.
pub(super) fn guard(plan: &mut Plan) {
    let checked = |l: &&Launch| l.device.is_cuda() && l.is_checked();
    let Some(device) = plan.launches.iter().find(checked).map(|l| l.device) else { return };
    let checks = plan.launches.iter().filter(|l| l.device == device).map(Launch::checks).sum();
    plan.guarded = Some((device, checks));
    for launch in plan.launches[..plan.checks_until].iter_mut().filter(|l| l.device.is_cuda()) {
        let outputs: Vec<usize> = launch.outputs().filter(|&s| plan.slots[s].donor.is_some()).collect();
        for slot in outputs {
            plan.slots[slot].donor = None;
            launch.leave_place(slot);
        }
    }
}

/// Whether all outputs of a program are computed from the same operands of those that may have no value. Where not, the program
/// runs for some of its outputs while others are not to be touched.
pub(super) fn fail_together(program: &Program, is_fallible: impl Fn(usize) -> bool) -> bool {
    let mut from: Vec<u64> = Vec::with_capacity(program.values.len());
    for (v, value) in program.values.iter().enumerate() {
        from.push(match value.inst {
            Inst::Input(i) => u64::from(is_fallible(i as usize)) << (i as u64 % 64),
            Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Reduce(..) | Inst::Guard(..) => {
                program.args(v as Val).fold(0, |mask, a| mask | from[a as usize])
            }
        });
    }
    let mut masks = program.outputs.iter().map(|&(v, _)| from[v as usize]);
    let first = masks.next().unwrap_or(0);
    masks.all(|mask| mask == first)
}

/// For each output of a program, the launches whose checks may refuse what it is computed from; its own have this bit.
pub(super) fn output_depends(
    program: &Program,
    input: impl Fn(usize) -> u64,
    checks: &[Check],
    bit: u64,
) -> Vec<u64> {
    let mut from: Vec<u64> = Vec::with_capacity(program.values.len());
    for (v, value) in program.values.iter().enumerate() {
        let own = if checks.iter().any(|c| usize::from(c.value) == v) { bit } else { 0 };
        from.push(match value.inst {
            Inst::Input(i) => own | input(i as usize),
            Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Reduce(..) | Inst::Guard(..) => {
                program.args(v as Val).fold(own, |bits, a| bits | from[a as usize])
            }
        });
    }
    program.outputs.iter().map(|&(v, _)| from[v as usize]).collect()
}

/// Nodes that may turn out to have no value, and the launches, by their bits, whose checks may refuse what they are computed
/// from.
#[derive(Default)]
pub(super) struct Fallible(Table<usize, u64>);

impl Fallible {
    pub(super) fn of(&self, node: usize) -> u64 {
        self.0.get(&node).copied().unwrap_or(0)
    }

    pub(super) fn all(&self, nodes: &[usize]) -> u64 {
        nodes.iter().fold(0, |bits, &node| bits | self.of(node))
    }

    pub(super) fn add(&mut self, node: usize, bits: u64) {
        if bits != 0 {
            *self.0.entry(node).or_default() |= bits;
        }
    }
}
