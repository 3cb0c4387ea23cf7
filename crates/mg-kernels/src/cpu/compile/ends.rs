//! What is known when all tasks are done: reductions over rows, full ones, and what follows from these.

use super::stage::AtEnd;
use super::steps::{CellStep, Check, ColumnOut, Len, Mode, Reg, Step, TotalOut};
use super::{Compiler, internal};
use crate::cpu::convert::{cast_loop, round_loop};
use crate::cpu::loops::{cell_size, isa, map_loop};
use crate::cpu::reduce::{ColumnReducer, Reducer};
use crate::program::{Inst, Over, Val};
use mg_device::Result;

impl Compiler<'_> {
    /// Values that are known at the end: columns and totals start here, what is computed from totals waits.
    pub(super) fn late(&mut self, v: Val, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(kind, over, a) = self.program.values[v as usize].inst else { return Ok(()) };
        if over == Over::Outer {
            let src = self.operand(a, Len::Full, steps)?;
            return self.column(v, src, steps);
        }
        let kept = self.out.mode == Mode::Rows;
        let src = self.operand(a, if kept { Len::Row } else { Len::Full }, steps)?;
        let total = self.out.ends.totals.len() as u16;
        let reducer = Reducer::new(kind, self.dtype(a), isa());
        self.out.ends.totals.push(TotalOut { reducer, kept, cell: v });
        steps.push(if kept { Step::Keep { total, src } } else { Step::Total { total, src } });
        Ok(())
    }

    pub(super) fn column(&mut self, v: Val, src: Reg, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(kind, _, a) = self.program.values[v as usize].inst else { return Ok(()) };
        let reducer = ColumnReducer::new(kind, self.dtype(a), isa())
            .ok_or_else(|| internal("an index reduction over outer dimensions"))?;
        let outputs = (0..self.program.outputs.len())
            .filter(|&o| self.program.outputs[o].0 == v)
            .map(|o| o as u16)
            .collect();
        steps.push(Step::Column { column: self.out.ends.columns.len() as u16, src });
        self.out.ends.columns.push(ColumnOut { reducer, outputs });
        Ok(())
    }

    /// What is computed from totals, over single cells; each value has the cell of its own number.
    pub(super) fn finish_totals(&mut self) -> Result<()> {
        for &step in &self.stage.end.steps {
            match step {
                AtEnd::Take(v) => {
                    let src =
                        self.uniform[v as usize].ok_or_else(|| internal("a total of what is no scalar"))?;
                    let size = cell_size(self.dtype(v)) as u8;
                    self.out.ends.last.push(CellStep::Take { dst: v, src, size });
                }
                AtEnd::Compute(v) => self.cell(v)?,
            }
        }
        Ok(())
    }

    fn cell(&mut self, v: Val) -> Result<()> {
        let dtype = self.dtype(v);
        match self.program.values[v as usize].inst {
            Inst::Map(row, args) => {
                let of = self.program.operand_dtype(row, args);
                let f = map_loop(row, of, isa())
                    .ok_or_else(|| internal("a dtype that the operation does not take"))?;
                if row.refuses_zero(of) {
                    let (check, src) = (Check::NonZero, args[1]);
                    self.out.ends.last.push(CellStep::Check { check, src, dtype: of, value: v });
                }
                self.out.ends.last.push(CellStep::Map { f, dst: v, args });
            }
            Inst::Cast(a) => {
                let f = cast_loop(self.dtype(a), dtype, isa());
                self.out.ends.last.push(CellStep::Map { f, dst: v, args: [a; 3] });
            }
            Inst::Guard(a, bound) => {
                let dtype = self.dtype(a);
                let check = Check::Below(bound);
                self.out.ends.last.push(CellStep::Check { check, src: a, dtype, value: v });
                self.out.ends.last.push(CellStep::Copy { dst: v, src: a, size: cell_size(dtype) as u8 });
                return Ok(());
            }
            Inst::Input(_) | Inst::Const(_) | Inst::Reduce(..) => {
                return Err(internal("a total of what is no computation"));
            }
        }
        self.out.ends.last.extend(round_loop(dtype, isa()).map(|f| CellStep::Round { f, dst: v }));
        Ok(())
    }
}
