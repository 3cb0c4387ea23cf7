//! Which steps become one loop, and where registers lie.

use super::{CellStep, Compiler, FUSE_FROM, In, Len, Reg, Step, TILE, Virtual};
use crate::cpu::jit;
use crate::program::Class;
use std::sync::atomic::Ordering;

impl Compiler<'_> {
    /// Makes loops of runs of elementwise steps, where the space is large enough to be worth it.
    pub(super) fn fuse(&mut self) {
        if !jit::is_available() || self.out.rows * self.out.columns < FUSE_FROM.load(Ordering::Relaxed) {
            return;
        }
        let mut phases = std::mem::take(&mut self.out.phases);
        // Outputs are read by others; what is read beside the steps over elements stays as it is.
        let mut kept: Vec<Reg> = self.out.outputs.iter().filter_map(|o| o.reg).collect();
        for phase in &phases {
            kept.extend(phase.rows.iter().chain(&phase.finish).flat_map(registers));
        }
        kept.extend(self.out.ends.last.iter().filter_map(|step| match *step {
            CellStep::Take { src, .. } => Some(src),
            CellStep::Map { .. }
            | CellStep::Round { .. }
            | CellStep::Copy { .. }
            | CellStep::Check { .. } => None,
        }));
        kept.extend(self.virtuals.iter().filter(|v| v.pinned).map(|v| v.reg));
        for at in 0..phases.len() {
            let (before, rest) = phases.split_at_mut(at);
            let Some((phase, after)) = rest.split_first_mut() else { continue };
            let others: Vec<Reg> =
                before.iter().chain(&*after).flat_map(|p| &p.steps).flat_map(registers).collect();
            let steps = phase.steps.clone();
            let by_rows = !self.out.across;
            jit::fuse(&mut phase.steps, &mut self.out.fused, by_rows, |reg, from| {
                kept.contains(&reg)
                    || others.contains(&reg)
                    || steps[from..].iter().flat_map(registers).any(|r| r == reg)
            });
        }
        self.out.phases = phases;
    }

    /// Registers by their first and last use, as positions of steps.
    fn uses(&self) -> (Vec<usize>, Vec<usize>) {
        let mut last_use = vec![0usize; self.out.registers.count];
        let mut first_use = vec![usize::MAX; self.out.registers.count];
        let mut at = 0;
        let fused = &self.out.fused;
        let mut touch = |step: &Step, at: usize| {
            let regs: &[Reg] = match step {
                Step::Fused { index } => &fused[*index as usize].regs,
                _ => &registers(step),
            };
            for &reg in regs {
                last_use[reg as usize] = at;
                first_use[reg as usize] = first_use[reg as usize].min(at);
            }
        };
        for phase in &self.out.phases {
            for step in phase.rows.iter().chain(&phase.steps).chain(&phase.finish) {
                touch(step, at);
                at += 1;
            }
        }
        (first_use, last_use)
    }

    /// Makes tiles larger where little of a tile's size is kept: operands and outputs are used where they lie, and much of what a tile
    /// costs is to begin it. What is computed, and in which order, stays.
    pub(super) fn widen(&mut self) {
        if self.out.across {
            return;
        }
        let (first_use, _) = self.uses();
        let is_full = |step: &&Step| match step {
            Step::Map { len, .. } | Step::Round { len, .. } | Step::Copy { len, .. } => *len == Len::Full,
            Step::Gather { len, .. } | Step::Check { len, .. } => *len == Len::Full,
            Step::Finish { .. } | Step::Keep { .. } => false,
            Step::Fused { .. }
            | Step::Expand { .. }
            | Step::Stream { .. }
            | Step::Rows { .. }
            | Step::Accumulate { .. }
            | Step::Column { .. }
            | Step::Total { .. } => true,
        };
        let full = || self.out.phases.iter().flat_map(|p| p.steps.iter()).filter(is_full);
        let reads = |reg: Reg| {
            full().any(|step| match step {
                Step::Fused { index } => self.out.fused[*index as usize].regs.contains(&reg),
                step => registers(step).contains(&reg),
            })
        };
        let pinned = self.virtuals.iter().filter(|v| v.len == Len::Full && v.pinned);
        // What is the same for all tiles of a task is filled in once, for a whole tile, unless rows alone read it.
        if self.out.registers.hoists || pinned.clone().any(|v| reads(v.reg)) {
            return;
        }
        self.out.registers.uniform_rows = true;
        let slots = self.virtuals.iter().filter(|v| v.len == Len::Full && !v.pinned);
        let kept: usize = slots.filter(|v| first_use[v.reg as usize] != usize::MAX).map(|v| v.cell).sum();
        let steps = self.out.phases.iter().map(|p| p.steps.iter().filter(is_full).count()).max().unwrap_or(0);
        // What one step leaves for the next stays in the first-level cache.
        let most = if steps > 1 { TILE * 4 } else { TILE * 16 };
        let fits = (1usize << 14).checked_div(kept).unwrap_or(most);
        let tile = if fits < TILE { TILE } else { 1 << fits.ilog2() }.min(most);
        if self.stage.is_cut() {
            self.out.tile_columns = self.out.tile_columns.max(tile.min(self.out.columns));
            return;
        }
        let rows = (tile / self.out.columns.max(1)).min(self.out.rows);
        let follow = |input: &In| {
            let is_dense = match (&input.outer.dims[..], &input.outer.strides[..]) {
                ([], _) => true,
                ([_], &[stride]) => stride == self.out.columns as isize,
                _ => false,
            };
            input.direct.is_none() || input.class != Class::Full || is_dense
        };
        if rows > self.out.tile_rows && self.out.inputs.iter().all(follow) {
            self.out.tile_rows = rows;
        }
    }

    /// Gives registers their places in the arena; a place is used again after its register's last use.
    pub(super) fn assign_slots(&mut self) {
        let (first_use, last_use) = self.uses();
        let rows = self.out.tile_rows;
        let full = (rows * self.out.tile_columns).max(rows).max(1);
        let by_row = |v: &Virtual| v.len == Len::Row || v.pinned && self.out.registers.uniform_rows;
        let bytes_of = |v: &Virtual| v.cell * if by_row(v) { rows } else { full };
        let round = |bytes: usize| bytes.max(1).next_multiple_of(64);
        // Values that a loop keeps in registers have no place.
        let is_used = |v: &&Virtual| v.pinned || first_use[v.reg as usize] != usize::MAX;
        let mut order: Vec<_> = self.virtuals.iter().filter(is_used).copied().collect();
        order.sort_by_key(|v| (!v.pinned, first_use[v.reg as usize]));
        let mut free: Vec<(usize, usize)> = vec![]; // offset, bytes
        let mut live: Vec<(usize, usize, usize)> = vec![]; // last use, offset, bytes
        let mut top = 0;
        for v in order {
            let Virtual { reg, pinned, .. } = v;
            let bytes = round(bytes_of(&v));
            let from = first_use[reg as usize];
            if !pinned {
                live.retain(|&(until, offset, size)| {
                    let dies = until < from;
                    if dies {
                        free.push((offset, size));
                    }
                    !dies
                });
            }
            let offset = match free.iter().position(|&(_, size)| size == bytes) {
                Some(i) if !pinned => free.swap_remove(i).0,
                _ => {
                    top += bytes;
                    top - bytes
                }
            };
            if !pinned {
                live.push((last_use[reg as usize], offset, bytes));
            }
            self.out.registers.slots.push((reg, offset));
        }
        self.out.registers.arena = top;
    }
}

/// The registers that a step reads and writes.
fn registers(step: &Step) -> [Reg; 4] {
    match *step {
        Step::Map { dst, args: [a, b, c], .. } => [dst, a, b, c],
        // Made when nobody asks any more.
        Step::Fused { .. } => [Reg::MAX; 4],
        Step::Round { dst, .. } | Step::Gather { dst, .. } | Step::Finish { dst, .. } => [dst; 4],
        Step::Expand { dst, src, .. }
        | Step::Copy { dst, src, .. }
        | Step::Stream { dst, src, .. }
        | Step::Rows { dst, src, .. } => [dst, src, src, src],
        Step::Accumulate { src, .. }
        | Step::Column { src, .. }
        | Step::Total { src, .. }
        | Step::Keep { src, .. }
        | Step::Check { src, .. } => [src; 4],
    }
}
