//! Values over elements and rows: which loops compute them, on which registers.

use super::steps::{Check, Len, Reg, Step, Uniform};
use super::{Compiler, internal};
use crate::cell::Cell;
use crate::cpu::convert::{cast_loop, load_loop, narrow_loop, round_loop, store_loop};
use crate::cpu::loops::{MapFn, cell_size, isa, map_loop};
use crate::cpu::reduce::Reducer;
use crate::cpu::stream::{STREAM, streams};
use crate::program::{Class, Inst, Val};
use crate::rows::Row;
use mg_device::{DType, Result};

impl Compiler<'_> {
    /// The register of a value for a step over elements or rows.
    pub(super) fn operand(&mut self, v: Val, len: Len, steps: &mut Vec<Step>) -> Result<Reg> {
        let i = v as usize;
        let found = match (self.class(v), len) {
            (Class::Uniform, _) => self.uniform[i],
            (Class::Row, Len::Row) => self.row[i],
            (Class::Full, Len::Full) => self.full[i],
            (Class::Row, Len::Full) => {
                if self.expanded[i].is_none() {
                    let src = self.row[i].ok_or_else(|| internal("a row value used before it is known"))?;
                    let dtype = self.dtype(v);
                    let dst = self.slot(dtype, Len::Full, false);
                    steps.push(Step::Expand { dst, src, dtype });
                    self.expanded[i] = Some(dst);
                }
                self.expanded[i]
            }
            (Class::Full, Len::Row) | (Class::Column | Class::Total, _) => None,
        };
        found.ok_or_else(|| internal("a value used before it is known"))
    }

    /// An output over elements that `v` can be computed into directly.
    fn direct_output(&self, v: Val, len: Len) -> Option<Reg> {
        let class = if len == Len::Full { Class::Full } else { Class::Row };
        if store_loop(self.dtype(v), isa()).is_some() {
            return None;
        }
        let at = self.program.outputs.iter().position(|&(o, c)| o == v && c == class)?;
        if self.streams(at) {
            return None;
        }
        self.out.outputs[at].reg
    }

    /// Whether an output is so large that it is stored past the caches. One that takes over an operand's memory is not:
    /// its lines are in the cache already.
    fn streams(&self, output: usize) -> bool {
        let (v, class) = self.program.outputs[output];
        let bytes = self.out.rows * self.out.columns * self.dtype(v).size();
        class == Class::Full && bytes >= STREAM && self.donated.iter().all(Option::is_none) && streams()
    }

    /// Emits the steps that compute a value, unless it is known.
    pub(super) fn value(&mut self, v: Val, steps: &mut Vec<Step>) -> Result<()> {
        let i = v as usize;
        let class = self.class(v);
        let (known, len) = match class {
            Class::Uniform => (self.uniform[i], Len::Full),
            Class::Row => (self.row[i], Len::Row),
            Class::Full => (self.full[i], Len::Full),
            Class::Column | Class::Total => return self.late(v, steps),
        };
        if known.is_some() || self.narrowed(v).is_some() {
            return Ok(());
        }
        let reg = Some(self.computed(v, class, len, steps)?);
        match class {
            Class::Uniform => self.uniform[i] = reg,
            Class::Row => self.row[i] = reg,
            Class::Full => self.full[i] = reg,
            Class::Column | Class::Total => {}
        }
        Ok(())
    }

    fn computed(&mut self, v: Val, class: Class, len: Len, steps: &mut Vec<Step>) -> Result<Reg> {
        let value = self.program.values[v as usize];
        Ok(match value.inst {
            Inst::Const(index) => {
                let dst = self.slot(value.dtype, Len::Full, true);
                let size = cell_size(value.dtype) as u8;
                self.out.uniforms.push(Uniform::Const { index, dst, size });
                dst
            }
            Inst::Input(input) => self.load(input, value.dtype, class, len, steps),
            Inst::Reduce(kind, _, a) => {
                let src = self.operand(a, Len::Full, steps)?;
                let reducer = self.out.reducers.len() as u16;
                self.out.reducers.push(Reducer::new(kind, self.dtype(a), isa()));
                let dst = match self.direct_output(v, Len::Row) {
                    Some(reg) => reg,
                    None => self.slot(value.dtype, Len::Row, false),
                };
                steps.push(Step::Rows { reducer, dst, src });
                dst
            }
            Inst::Guard(a, bound) => {
                let src = self.operand(a, len, steps)?;
                self.check(Check::Below(bound), v, src, self.dtype(a), steps);
                src
            }
            Inst::Map(row, args) => {
                let n = row.arity();
                let of = self.program.operand_dtype(row, args);
                let f = map_loop(row, of, isa())
                    .ok_or_else(|| internal("a dtype that the operation does not take"))?;
                let mut regs = [0; 3];
                for (reg, &a) in regs.iter_mut().zip(&args[..n]) {
                    *reg = self.operand(a, len, steps)?;
                }
                if row.refuses_zero(of) {
                    self.check(Check::NonZero, v, regs[1], of, steps);
                }
                self.map(v, f, regs, Some((row, of)), steps)
            }
            Inst::Cast(a) => {
                let src = self.operand(a, len, steps)?;
                let f = cast_loop(self.dtype(a), value.dtype, isa());
                if value.dtype.is_half() && Cell::of(self.dtype(a)) == Cell::F32 && class != Class::Uniform {
                    // Rounded already.
                    let dst = self.target(v, class, len);
                    steps.push(Step::Map { f, dst, args: [src; 3], len, row: None });
                    return Ok(dst);
                }
                self.map(v, f, [src; 3], None, steps)
            }
        })
    }

    /// Where a value is computed into.
    fn target(&mut self, v: Val, class: Class, len: Len) -> Reg {
        let long_row = class == Class::Row && self.stage.is_cut();
        match self.direct_output(v, len) {
            Some(reg) if class != Class::Uniform && !long_row => reg,
            _ => self.slot(self.dtype(v), len, class == Class::Uniform || long_row),
        }
    }

    /// A loop that computes `v`, once a task if it is the same everywhere, and rounding where its dtype has fewer bits than a cell.
    fn map(
        &mut self,
        v: Val,
        f: MapFn,
        args: [Reg; 3],
        row: Option<(Row, DType)>,
        steps: &mut Vec<Step>,
    ) -> Reg {
        let (class, dtype) = (self.class(v), self.dtype(v));
        let len = if class == Class::Row { Len::Row } else { Len::Full };
        let dst = self.target(v, class, len);
        let round = round_loop(dtype, isa());
        if class == Class::Uniform {
            self.out.uniforms.push(Uniform::Map { f, dst, args });
            self.out.uniforms.extend(round.map(|f| Uniform::Round { f, dst }));
        } else {
            steps.push(Step::Map { f, dst, args, len, row });
            steps.extend(round.map(|f| Step::Round { f, dst, len }));
        }
        dst
    }

    /// What `value` refuses in a register.
    fn check(&mut self, check: Check, value: Val, src: Reg, dtype: DType, steps: &mut Vec<Step>) {
        match self.class(value) {
            Class::Uniform => self.out.uniforms.push(Uniform::Check { check, src, dtype, value }),
            Class::Row => steps.push(Step::Check { check, src, dtype, len: Len::Row, value }),
            Class::Full | Class::Column | Class::Total => {
                steps.push(Step::Check { check, src, dtype, len: Len::Full, value })
            }
        }
    }

    fn load(&mut self, input: u16, dtype: DType, class: Class, len: Len, steps: &mut Vec<Step>) -> Reg {
        let operand = &self.out.inputs[input as usize];
        if let Some(reg) = operand.direct {
            return reg;
        }
        let convert = load_loop(dtype, isa());
        let size = cell_size(dtype) as u8;
        if class == Class::Uniform {
            let dst = self.slot(dtype, Len::Full, true);
            self.out.uniforms.push(Uniform::Load { input, dst, size });
            return dst;
        }
        let same_rows = self.out.tile_rows > 1
            && !self.out.across
            && operand.class == Class::Full
            && operand.outer.dims.iter().zip(&operand.outer.strides).all(|(&n, &s)| n == 1 || s == 0);
        if same_rows {
            let dst = self.slot(dtype, Len::Full, true);
            let tmp = if convert.is_some() { self.slot(dtype, Len::Full, true) } else { dst };
            self.out.registers.hoists = true;
            self.out.uniforms.push(Uniform::Columns { input, dst, tmp, convert });
            return dst;
        }
        let pinned = len == Len::Row && self.stage.is_cut();
        let dst = self.slot(dtype, len, pinned);
        if let Some(f) = convert {
            let tmp = self.slot(dtype, len, false);
            steps.push(Step::Gather { input, dst: tmp, len });
            steps.push(Step::Map { f, dst, args: [tmp; 3], len, row: None });
        } else {
            steps.push(Step::Gather { input, dst, len });
        }
        dst
    }

    /// What a value is a conversion of, where it is one from f32 to a float of fewer bits that nobody wants but one output: it is converted on the
    /// way there.
    fn narrowed(&self, v: Val) -> Option<Val> {
        let value = self.program.values[v as usize];
        let Inst::Cast(a) = value.inst else { return None };
        let wanted = |other: Val| self.program.args(other).any(|a| a == v);
        let outputs = self.program.outputs.iter().filter(|o| o.0 == v);
        let is_alone = value.dtype.is_rounded()
            && self.dtype(a) == DType::F32
            && (self.class(v), self.class(a)) == (Class::Full, Class::Full)
            && outputs.clone().count() == 1
            && outputs.clone().all(|o| o.1 == Class::Full)
            && !(0..self.program.values.len()).any(|other| wanted(other as Val));
        is_alone.then_some(a)
    }

    /// Writes an output that its value was not computed into.
    pub(super) fn store(&mut self, o: usize, steps: &mut Vec<Step>) -> Result<()> {
        let (v, class) = self.program.outputs[o];
        if self.class(v) >= Class::Column {
            return Ok(());
        }
        let Some(dst) = self.out.outputs[o].reg else { return Ok(()) };
        let len = if class == Class::Full { Len::Full } else { Len::Row };
        if !matches!(class, Class::Full | Class::Row) && (self.out.rows, self.out.columns) != (1, 1) {
            return Err(internal("an output narrower than a row"));
        }
        let dtype = self.dtype(v);
        if let (Some(a), Some(f)) = (self.narrowed(v), narrow_loop(dtype, isa())) {
            let src = self.operand(a, len, steps)?;
            steps.push(Step::Map { f, dst, args: [src; 3], len, row: None });
            return Ok(());
        }
        let src = self.operand(v, len, steps)?;
        if src == dst {
            return Ok(());
        }
        match store_loop(dtype, isa()) {
            Some(f) => steps.push(Step::Map { f, dst, args: [src; 3], len, row: None }),
            None if self.streams(o) => steps.push(Step::Stream { dst, src, dtype }),
            None => steps.push(Step::Copy { dst, src, size: dtype.size() as u8, len }),
        }
        Ok(())
    }
}
