//! From a program to steps: which loops run over a tile, on which addresses, in which order.

use super::convert::{cast_loop, load_loop, round_loop, store_loop};
use super::gather::Walk;
use super::loops::{cell_size, isa, map_loop};
use super::reduce::{ColumnReducer, Reducer};
use super::stream::{STREAM, streams};
use crate::program::{Class, Inst, Over, Program, Source, Val};
use mg_device::{DType, Error, ErrorKind, MAX_RANK, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

mod registers;
mod steps;

pub use steps::Compiled;
pub(in crate::cpu) use steps::{CELL, ColumnOut, In, Len, Mode, Out, Phase, Reg, Step, TotalOut, Uniform};

/// Elements in a tile; a multiple of the reductions' block.
pub const TILE: usize = 1024;
/// The longest row whose values are all kept while its stages run; longer rows are walked once a stage.
pub const RESIDENT: usize = 4096;

/// Elements of a space from which making a loop of its own pays.
static FUSE_FROM: AtomicUsize = AtomicUsize::new(1 << 12);

/// Sets the number of elements from which elementwise steps are made one loop of machine code, for programs compiled from
/// here on: 0 for all, `usize::MAX` for none. Results are the same bits either way.
pub fn set_fuse_from(elements: usize) {
    FUSE_FROM.store(elements, Ordering::Relaxed);
}

impl Compiled {
    /// Compiles a program. `donated[i]` is the output that takes over the memory of operand `i`, element by element, if
    /// one does.
    pub fn new(program: &Program, donated: &[Option<usize>]) -> Result<Compiled> {
        Compiler::new(program, donated)?.compile()
    }
}

fn internal(message: &str) -> Error {
    Error::new("compile", ErrorKind::Internal(message.into()))
}

struct Compiler<'a> {
    program: &'a Program,
    classes: Vec<Class>,
    out: Compiled,
    donated: &'a [Option<usize>],
    /// Virtual registers: size in bytes, whether it lives for the whole task.
    virtuals: Vec<(Reg, usize, bool)>,
    /// Registers of values, by value: over elements, over rows, uniform, rows expanded to elements.
    full: Vec<Option<Reg>>,
    row: Vec<Option<Reg>>,
    uniform: Vec<Option<Reg>>,
    expanded: Vec<Option<Reg>>,
    capacity: usize,
    row_capacity: usize,
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, donated: &'a [Option<usize>]) -> Result<Self> {
        let rank = program.space.len();
        if rank > MAX_RANK {
            return Err(internal("a space of more than 16 dimensions"));
        }
        let classes = program.classes();
        let has = |over| program.reduces(over);
        let flat = program.reduces_elements(&classes);
        if flat && (has(Over::Inner) || has(Over::Outer)) {
            return Err(internal("a full reduction beside one over rows or columns"));
        }
        let split = program.batch + program.outer;
        let (batches, rows, columns) = if flat {
            (1, 1, program.space.iter().product())
        } else {
            let (rows, columns) = program.rows_and_columns();
            (program.space[..program.batch].iter().product::<usize>(), rows, columns)
        };
        let pure = !has(Over::Inner) && !has(Over::Outer) && !flat;
        // Dimensions are merged within rows and within columns, for all operands at once.
        let group = |from, to| program.collapsed(from, to);
        let mut out = Compiled {
            mode: if flat { Mode::Flat } else { Mode::Rows },
            batches,
            rows,
            columns,
            tile_rows: 1,
            tile_columns: 0,
            splits_columns: !has(Over::Inner),
            inputs: vec![],
            outputs: vec![],
            uniforms: vec![],
            phases: vec![],
            reducers: vec![],
            fused: vec![],
            columns_out: vec![],
            totals: vec![],
            last: vec![],
            cells: 0,
            slots: vec![],
            regs: 0,
            arena: 0,
            weight: program.values.len() + 1,
            hoists: false,
            n_consts: 0,
        };
        let ((row_dims, row_strides), (column_dims, column_strides)) = if flat {
            ((vec![], vec![[0; MAX_RANK]; program.inputs.len()]), group(0, rank))
        } else if pure {
            // No reduction fixes the division: the last merged dimension becomes the columns.
            let (mut dims, strides) = group(0, rank);
            let last = dims.pop();
            let at = dims.len();
            out.rows = dims.iter().product();
            out.columns = last.unwrap_or(1);
            let columns = strides
                .iter()
                .map(|s| {
                    let mut c = [0; MAX_RANK];
                    c[0] = s[at];
                    c
                })
                .collect();
            ((dims, strides), (last.into_iter().collect(), columns))
        } else {
            (group(0, split), group(split, rank))
        };
        let columns = out.columns;
        let resident = has(Over::Inner) && columns <= RESIDENT;
        if resident || columns <= TILE {
            out.tile_columns = columns;
            out.tile_rows = (TILE / columns.max(1)).clamp(1, out.rows.max(1));
        } else {
            out.tile_columns = TILE;
        }
        let capacity = (out.tile_rows * out.tile_columns).max(out.tile_rows).max(1);
        let row_capacity = out.tile_rows;
        let mut this = Compiler {
            program,
            full: vec![None; program.values.len()],
            row: vec![None; program.values.len()],
            uniform: vec![None; program.values.len()],
            expanded: vec![None; program.values.len()],
            classes,
            out,
            donated,
            virtuals: vec![],
            capacity,
            row_capacity,
        };
        for (i, operand) in program.inputs.iter().enumerate() {
            let walk = |dims: &[usize], strides: &[isize; MAX_RANK]| Walk {
                dims: dims.to_vec(),
                strides: strides[..dims.len()].to_vec(),
            };
            let outer = walk(&row_dims, &row_strides[i]);
            let inner = walk(&column_dims, &column_strides[i]);
            let mut all = outer.clone();
            all.dims.extend(&inner.dims);
            all.strides.extend(&inner.strides);
            let moves = |w: &Walk| w.dims.iter().zip(&w.strides).any(|(&n, &s)| n != 1 && s != 0);
            // In an empty space an operand need not have a single element: it is never read.
            let class = if this.out.rows * this.out.columns == 0 {
                Class::Uniform
            } else if moves(&inner) {
                Class::Full
            } else if moves(&outer) {
                Class::Row
            } else {
                Class::Uniform
            };
            let dense = |w: &Walk| w.dims.is_empty() || (w.dims.len() == 1 && w.strides[0] == 1);
            let in_memory = operand.source == Source::Buffer && load_loop(operand.dtype, isa()).is_none();
            let in_place = in_memory
                && this.outlives_reads(i)
                && match class {
                    Class::Full => {
                        dense(&inner)
                            && (this.out.tile_rows == 1
                                || row_dims.is_empty()
                                || (row_dims.len() == 1 && outer.strides[0] == columns as isize))
                    }
                    Class::Row => dense(&outer),
                    _ => false,
                };
            let direct = in_place.then(|| this.reg());
            let turned = match (&inner.strides[..], outer.strides.last()) {
                (&[along], Some(&down @ (1 | -1)))
                    if class == Class::Full
                        && operand.source == Source::Buffer
                        && along.unsigned_abs() * operand.dtype.size() >= 64
                        && (16..=1 << 14).contains(&columns)
                        && outer.dims.last().is_some_and(|&n| n >= 8) =>
                {
                    Some(down)
                }
                _ => None,
            };
            this.out.inputs.push(In {
                source: operand.source,
                dtype: operand.dtype,
                class,
                outer,
                all,
                turned,
                direct,
            });
        }
        // The division into rows may be another than the program's, where no reduction fixes it.
        this.classes = program.classes_by(|i| this.out.inputs[i as usize].class);
        Ok(this)
    }

    /// The output that takes over an operand's memory.
    fn donated_to(&self, input: usize) -> Option<usize> {
        self.donated.get(input).copied().flatten()
    }

    /// Whether an operand can be read in place: its memory stays as it is until its last reader, at the earliest,
    /// overwrites it.
    fn outlives_reads(&self, input: usize) -> bool {
        let Some(output) = self.donated_to(input) else { return true };
        let writer = self.program.outputs[output].0 as usize;
        // Values that are read from the operand's place: itself, and checks of it.
        let mut here: Vec<bool> = Vec::with_capacity(self.program.values.len());
        for (v, value) in self.program.values.iter().enumerate() {
            let is_later = v > writer && self.program.args(v as Val).any(|a| here[a as usize]);
            here.push(match value.inst {
                Inst::Input(i) => i as usize == input,
                Inst::Guard(a, _) => here[a as usize],
                _ if is_later => return false,
                _ => false,
            });
        }
        !self.program.outputs.iter().any(|&(v, _)| here[v as usize])
    }

    /// A new position in the table of addresses.
    fn reg(&mut self) -> Reg {
        self.out.regs += 1;
        (self.out.regs - 1) as Reg
    }

    /// A new register in the arena.
    fn slot(&mut self, dtype: DType, len: Len, pinned: bool) -> Reg {
        let n = if len == Len::Full { self.capacity } else { self.row_capacity };
        let reg = self.reg();
        self.virtuals.push((reg, n * cell_size(dtype), pinned));
        reg
    }

    fn dtype(&self, v: Val) -> DType {
        self.program.values[v as usize].dtype
    }

    fn compile(mut self) -> Result<Compiled> {
        let n_consts = self.program.values.iter().filter_map(|v| match v.inst {
            Inst::Const(i) | Inst::Guard(_, i) => Some(i as usize + 1),
            _ => None,
        });
        self.out.n_consts = n_consts.max().unwrap_or(0);
        for &(v, class) in &self.program.outputs {
            let dtype = self.dtype(v);
            let at_end = self.classes[v as usize] >= Class::Column || self.is_scalar_at_end(v, class);
            let reg = (!at_end).then(|| self.reg());
            self.out.outputs.push(Out { dtype, class, reg, cell: None });
        }
        let multi = self.out.tile_columns < self.out.columns && self.program.reduces(Over::Inner);
        if multi {
            self.phases_of_long_rows()?;
        } else {
            let mut phase = Phase::default();
            // Donated operands are read before any output of the tile is written.
            for v in 0..self.program.values.len() {
                if matches!(self.program.values[v].inst, Inst::Input(i) if self.donated_to(i as usize).is_some())
                {
                    self.value(v as Val, &mut phase.steps)?;
                }
            }
            for v in 0..self.program.values.len() {
                self.value(v as Val, &mut phase.steps)?;
            }
            for o in 0..self.program.outputs.len() {
                self.store(o, &mut phase.steps)?;
            }
            self.out.phases.push(phase);
        }
        self.finish_totals()?;
        self.fuse();
        self.assign_slots();
        Ok(self.out)
    }

    /// Whether an output beside full reductions is computed from no elements at all.
    fn is_scalar_at_end(&self, v: Val, class: Class) -> bool {
        class == Class::Total && self.classes[v as usize] == Class::Uniform
    }

    /// Rows too long to stay: a phase for each depth of reductions. Values over elements are computed anew in each
    /// phase that needs them; values over rows stay.
    fn phases_of_long_rows(&mut self) -> Result<()> {
        let n = self.program.values.len();
        let mut available = vec![0usize; n];
        for v in 0..n {
            let from_args = self.program.args(v as Val).map(|a| available[a as usize]).max().unwrap_or(0);
            let inner = matches!(self.program.values[v].inst, Inst::Reduce(_, Over::Inner, _));
            available[v] = from_args + inner as usize;
        }
        let depth = available.iter().copied().max().unwrap_or(0);
        for p in 0..=depth {
            let mut phase = Phase::default();
            self.full.fill(None);
            self.expanded.fill(None);
            // What this phase must bring about.
            let mut needed = vec![false; n];
            let mut targets = vec![];
            for v in 0..n {
                let value = self.program.values[v];
                let is_full = self.classes[v] == Class::Full;
                match value.inst {
                    Inst::Reduce(_, over, a) if available[a as usize] == p && over != Over::All => {
                        targets.push((v, a))
                    }
                    Inst::Guard(..) if is_full && available[v] == p => needed[v] = true,
                    _ => {}
                }
                if is_full && available[v] == p && self.program.outputs.iter().any(|&(o, _)| o as usize == v)
                {
                    needed[v] = true;
                }
            }
            for &(_, a) in &targets {
                needed[a as usize] = true;
            }
            for v in (0..n).rev() {
                if needed[v] && self.classes[v] == Class::Full {
                    for a in self.program.args(v as Val) {
                        needed[a as usize] = true;
                    }
                }
            }
            for v in 0..n {
                match self.classes[v] {
                    Class::Row
                        if available[v] == p && !matches!(self.program.values[v].inst, Inst::Reduce(..)) =>
                    {
                        self.value(v as Val, &mut phase.rows)?;
                    }
                    Class::Uniform if p == 0 => self.value(v as Val, &mut phase.rows)?,
                    _ => {}
                }
                if matches!(self.program.values[v].inst, Inst::Reduce(_, Over::All, a) if available[a as usize] == p)
                {
                    self.value(v as Val, &mut phase.rows)?;
                }
            }
            // Donated operands first, as everywhere.
            for (v, _) in needed.iter().enumerate().filter(|n| *n.1) {
                if matches!(self.program.values[v].inst, Inst::Input(i) if self.donated_to(i as usize).is_some())
                {
                    self.value(v as Val, &mut phase.steps)?;
                }
            }
            for (v, _) in needed.iter().enumerate().filter(|n| *n.1) {
                if self.classes[v] == Class::Full {
                    self.value(v as Val, &mut phase.steps)?;
                }
            }
            for (v, a) in targets {
                let Inst::Reduce(kind, over, _) = self.program.values[v].inst else { continue };
                let src = self.operand(a, Len::Full, &mut phase.steps)?;
                if over == Over::Outer {
                    self.column(v as Val, src, &mut phase.steps)?;
                    continue;
                }
                let dtype = self.dtype(v as Val);
                let reducer = self.out.reducers.len() as u16;
                self.out.reducers.push(Reducer::new(kind, self.dtype(a), isa()));
                let dst = self.slot(dtype, Len::Row, true);
                phase.reducers.push(reducer);
                phase.steps.push(Step::Accumulate { reducer, src });
                phase.finish.push(Step::Finish { reducer, dst });
                self.row[v] = Some(dst);
            }
            for o in 0..self.program.outputs.len() {
                let (v, class) = self.program.outputs[o];
                let own = self.classes[v as usize];
                if available[v as usize] == p
                    && own < Class::Column
                    && !(own == Class::Row && class == Class::Row)
                {
                    self.store(o, &mut phase.steps)?;
                }
            }
            self.out.phases.push(phase);
        }
        // Row results go out when the last phase is done.
        let mut last = vec![];
        for o in 0..self.program.outputs.len() {
            let (v, class) = self.program.outputs[o];
            if self.classes[v as usize] == Class::Row && class == Class::Row {
                self.store(o, &mut last)?;
            }
        }
        if let Some(phase) = self.out.phases.last_mut() {
            phase.finish.extend(last);
        }
        Ok(())
    }

    /// The register of a value for a step over elements or rows.
    fn operand(&mut self, v: Val, len: Len, steps: &mut Vec<Step>) -> Result<Reg> {
        let i = v as usize;
        let found = match (self.classes[i], len) {
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
            _ => None,
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

    /// Emits the steps that compute a value.
    fn value(&mut self, v: Val, steps: &mut Vec<Step>) -> Result<()> {
        let i = v as usize;
        let value = self.program.values[i];
        let class = self.classes[i];
        if class >= Class::Column {
            return self.late(v, steps);
        }
        let known = match class {
            Class::Uniform => self.uniform[i],
            Class::Row => self.row[i],
            _ => self.full[i],
        };
        if known.is_some() {
            return Ok(());
        }
        let len = if class == Class::Row { Len::Row } else { Len::Full };
        let reg = match value.inst {
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
                let dtype = self.dtype(a);
                let src = self.operand(a, len, steps)?;
                let step = Step::Guard { src, bound, dtype, len, value: v };
                if class == Class::Uniform {
                    self.out.uniforms.push(Uniform::Step(step));
                } else {
                    steps.push(step);
                }
                src
            }
            Inst::Map(row, args) => {
                let n = row.arity();
                let of = self.dtype(args[n - 1]);
                let f = map_loop(row, of, isa())
                    .ok_or_else(|| internal("a dtype that the operation does not take"))?;
                let mut regs = [0; 3];
                for (reg, &a) in regs.iter_mut().zip(&args[..n]) {
                    *reg = self.operand(a, len, steps)?;
                }
                if row.refuses_zero(of) {
                    self.push(Step::NonZero { src: regs[1], dtype: of, len, value: v }, class, steps);
                }
                let dst = self.target(v, class, len);
                self.push(Step::Map { f, dst, args: regs, len, row: Some((row, of)) }, class, steps);
                self.round(value.dtype, dst, class, len, steps);
                dst
            }
            Inst::Cast(a) => {
                let src = self.operand(a, len, steps)?;
                let f = cast_loop(self.dtype(a), value.dtype, isa());
                let dst = self.target(v, class, len);
                self.push(Step::Map { f, dst, args: [src; 3], len, row: None }, class, steps);
                self.round(value.dtype, dst, class, len, steps);
                dst
            }
        };
        match class {
            Class::Uniform => self.uniform[i] = Some(reg),
            Class::Row => self.row[i] = Some(reg),
            _ => self.full[i] = Some(reg),
        }
        Ok(())
    }

    fn target(&mut self, v: Val, class: Class, len: Len) -> Reg {
        let long_row = class == Class::Row && self.out.tile_columns < self.out.columns;
        match self.direct_output(v, len) {
            Some(reg) if class != Class::Uniform && !long_row => reg,
            _ => self.slot(self.dtype(v), len, class == Class::Uniform || long_row),
        }
    }

    fn push(&mut self, step: Step, class: Class, steps: &mut Vec<Step>) {
        if class == Class::Uniform {
            self.out.uniforms.push(Uniform::Step(step));
        } else {
            steps.push(step);
        }
    }

    fn round(&mut self, dtype: DType, dst: Reg, class: Class, len: Len, steps: &mut Vec<Step>) {
        if let Some(f) = round_loop(dtype, isa()) {
            self.push(Step::Round { f, dst, len }, class, steps);
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
            && operand.class == Class::Full
            && operand.outer.dims.iter().zip(&operand.outer.strides).all(|(&n, &s)| n == 1 || s == 0);
        if same_rows {
            let dst = self.slot(dtype, Len::Full, true);
            let tmp = if convert.is_some() { self.slot(dtype, Len::Full, true) } else { dst };
            self.out.hoists = true;
            self.out.uniforms.push(Uniform::Columns { input, dst, tmp, convert });
            return dst;
        }
        let pinned = len == Len::Row && self.out.tile_columns < self.out.columns;
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

    /// Values that are known at the end: columns and totals start here, what is computed from totals waits.
    fn late(&mut self, v: Val, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(kind, over, a) = self.program.values[v as usize].inst else { return Ok(()) };
        if over == Over::Outer {
            let src = self.operand(a, Len::Full, steps)?;
            return self.column(v, src, steps);
        }
        let kept = self.out.mode == Mode::Rows;
        let src = self.operand(a, if kept { Len::Row } else { Len::Full }, steps)?;
        let total = self.out.totals.len() as u16;
        let reducer = Reducer::new(kind, self.dtype(a), isa());
        self.out.totals.push(TotalOut { reducer, kept, cell: v });
        steps.push(if kept { Step::Keep { total, src } } else { Step::Total { total, src } });
        Ok(())
    }

    fn column(&mut self, v: Val, src: Reg, steps: &mut Vec<Step>) -> Result<()> {
        let Inst::Reduce(kind, _, a) = self.program.values[v as usize].inst else { return Ok(()) };
        let reducer = ColumnReducer::new(kind, self.dtype(a), isa())
            .ok_or_else(|| internal("an index reduction over outer dimensions"))?;
        let outputs = (0..self.program.outputs.len())
            .filter(|&o| self.program.outputs[o].0 == v)
            .map(|o| o as u16)
            .collect();
        steps.push(Step::Column { column: self.out.columns_out.len() as u16, src });
        self.out.columns_out.push(ColumnOut { reducer, outputs });
        Ok(())
    }

    /// Writes an output that its value was not computed into.
    fn store(&mut self, o: usize, steps: &mut Vec<Step>) -> Result<()> {
        let (v, class) = self.program.outputs[o];
        if self.classes[v as usize] >= Class::Column {
            return Ok(());
        }
        let Some(dst) = self.out.outputs[o].reg else { return Ok(()) };
        let len = if class == Class::Full { Len::Full } else { Len::Row };
        if !matches!(class, Class::Full | Class::Row) && (self.out.rows, self.out.columns) != (1, 1) {
            return Err(internal("an output narrower than a row"));
        }
        let src = self.operand(v, len, steps)?;
        if src == dst {
            return Ok(());
        }
        let dtype = self.dtype(v);
        match store_loop(dtype, isa()) {
            Some(f) => steps.push(Step::Map { f, dst, args: [src; 3], len, row: None }),
            None if self.streams(o) => steps.push(Step::Stream { dst, src, dtype }),
            None => steps.push(Step::Copy { dst, src, size: dtype.size() as u8, len }),
        }
        Ok(())
    }

    /// What is computed from totals, over single cells; each value has the cell of its own number.
    fn finish_totals(&mut self) -> Result<()> {
        let n = self.program.values.len();
        let mut wanted = vec![false; n];
        for (o, &(v, _)) in self.program.outputs.iter().enumerate() {
            let (_, class) = self.program.outputs[o];
            if self.is_scalar_at_end(v, class) {
                self.out.outputs[o].cell = Some(v);
                let src = self.uniform[v as usize].ok_or_else(|| internal("a scalar that is none"))?;
                let size = cell_size(self.dtype(v)) as u8;
                self.out.last.push(Step::Copy { dst: v, src, size, len: Len::Row });
                self.out.cells = n;
            } else if self.classes[v as usize] == Class::Total {
                wanted[v as usize] = true;
                self.out.outputs[o].cell = Some(v);
            }
        }
        if !wanted.contains(&true) {
            return Ok(());
        }
        self.out.cells = n;
        for v in (0..n).rev() {
            if wanted[v] && !matches!(self.program.values[v].inst, Inst::Reduce(..)) {
                for a in self.program.args(v as Val) {
                    wanted[a as usize] = true;
                }
            }
        }
        for (v, _) in wanted.iter().enumerate().filter(|w| *w.1) {
            let value = self.program.values[v];
            if self.classes[v] != Class::Total {
                continue;
            }
            for a in self.program.args(v as Val) {
                let class = self.classes[a as usize];
                if !matches!(value.inst, Inst::Reduce(..)) && class != Class::Total {
                    // A uniform operand: its register's first element, copied to its cell.
                    let src =
                        self.uniform[a as usize].ok_or_else(|| internal("a total of what is no scalar"))?;
                    let size = cell_size(self.dtype(a)) as u8;
                    self.out.last.push(Step::Copy { dst: a, src, size, len: Len::Row });
                }
            }
            let dst = v as Reg;
            match value.inst {
                Inst::Map(row, args) => {
                    let of = self.dtype(args[row.arity() - 1]);
                    let f = map_loop(row, of, isa())
                        .ok_or_else(|| internal("a dtype that the operation does not take"))?;
                    if row.refuses_zero(of) {
                        let (src, value) = (args[1], v as Val);
                        self.out.last.push(Step::NonZero { src, dtype: of, len: Len::Row, value });
                    }
                    self.out.last.push(Step::Map { f, dst, args, len: Len::Row, row: None });
                }
                Inst::Cast(a) => {
                    let f = cast_loop(self.dtype(a), value.dtype, isa());
                    self.out.last.push(Step::Map { f, dst, args: [a; 3], len: Len::Row, row: None });
                }
                Inst::Guard(a, bound) => {
                    let dtype = self.dtype(a);
                    self.out.last.push(Step::Guard { src: a, bound, dtype, len: Len::Row, value: v as Val });
                    // The cell of an argument is read as this value's own.
                    self.out.last.push(Step::Copy {
                        dst: CELL | dst,
                        src: a,
                        size: cell_size(dtype) as u8,
                        len: Len::Row,
                    });
                    continue;
                }
                _ => continue,
            }
            if let Some(f) = round_loop(value.dtype, isa()) {
                self.out.last.push(Step::Round { f, dst, len: Len::Row });
            }
        }
        Ok(())
    }
}
