//! From a program to steps: which loops run over a tile, on which addresses, in which order.

use super::convert::load_loop;
use super::gather::Walk;
use super::loops::{cell_size, isa};
use super::reduce::Reducer;
use crate::program::{Class, Inst, Over, Program, Source, Val};
use mg_device::{DType, Error, ErrorKind, Result};
use stage::{Pass, Stage};
use std::sync::atomic::{AtomicUsize, Ordering};

mod ends;
mod registers;
mod stage;
mod steps;
mod values;

pub use steps::Compiled;
pub(in crate::cpu) use steps::{CellStep, Check, In, Len, Mode, Out, Phase, Reg, Step, Uniform};
use steps::{Ends, Registers};

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
        let stage = Stage::new(program, donated)?;
        Compiler::new(program, &stage, donated).compile()
    }
}

fn internal(message: &str) -> Error {
    Error::new("compile", ErrorKind::Internal(message.into()))
}

/// A register that is no operand or output.
#[derive(Clone, Copy)]
struct Virtual {
    reg: Reg,
    len: Len,
    /// Bytes of an element.
    cell: usize,
    /// Whether it lives for the whole task.
    pinned: bool,
}

/// Translates stages to steps: which loops, on which registers.
struct Compiler<'a> {
    program: &'a Program,
    stage: &'a Stage,
    out: Compiled,
    donated: &'a [Option<usize>],
    virtuals: Vec<Virtual>,
    /// Registers of values, by value: over elements, over rows, uniform, rows expanded to elements.
    full: Vec<Option<Reg>>,
    row: Vec<Option<Reg>>,
    uniform: Vec<Option<Reg>>,
    expanded: Vec<Option<Reg>>,
}

impl<'a> Compiler<'a> {
    fn new(program: &'a Program, stage: &'a Stage, donated: &'a [Option<usize>]) -> Self {
        let frame = &stage.frame;
        let n_consts = program.values.iter().filter_map(|v| match v.inst {
            Inst::Const(i) | Inst::Guard(_, i) => Some(usize::from(i) + 1),
            Inst::Input(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Reduce(..) => None,
        });
        let out = Compiled {
            mode: if frame.reduces_elements { Mode::Flat } else { Mode::Rows },
            batches: frame.batches,
            rows: frame.rows,
            columns: frame.columns,
            tile_rows: stage.tile_rows,
            tile_columns: stage.tile_columns,
            across: stage.across,
            splits_columns: !program.reduces(Over::Inner),
            inputs: vec![],
            outputs: vec![],
            uniforms: vec![],
            phases: vec![],
            reducers: vec![],
            fused: vec![],
            ends: Ends {
                cells: if stage.end.is_empty() { 0 } else { program.values.len() },
                ..Ends::default()
            },
            registers: Registers::default(),
            weight: program.values.len() + 1,
            n_consts: n_consts.max().unwrap_or(0),
        };
        let unknown = vec![None; program.values.len()];
        let mut this = Compiler {
            program,
            stage,
            out,
            donated,
            virtuals: vec![],
            full: unknown.clone(),
            row: unknown.clone(),
            uniform: unknown.clone(),
            expanded: unknown,
        };
        this.operands();
        this.results();
        this
    }

    /// Where operands lie.
    fn operands(&mut self) {
        let frame = &self.stage.frame;
        for (operand, &in_place) in frame.inputs.iter().zip(&self.stage.in_place) {
            let outer = Walk { dims: frame.row_dims.clone(), strides: operand.row.clone() };
            let mut all = outer.clone();
            all.dims.extend(&frame.column_dims);
            all.strides.extend(&operand.column);
            // A tile computes with some dtypes as others, which are in registers.
            let in_place = in_place && load_loop(operand.dtype, isa()).is_none();
            let direct = in_place.then(|| self.reg());
            let (source, dtype, class) = (operand.source, operand.dtype, operand.class);
            let turned = match (&operand.column[..], operand.row.last()) {
                (&[along], Some(&down @ (1 | -1)))
                    if class == Class::Full
                        && !self.stage.across
                        && source == Source::Buffer
                        && along.unsigned_abs() * dtype.size() >= 64
                        && (16..=1 << 14).contains(&frame.columns)
                        && frame.row_dims.last().is_some_and(|&n| n >= 8) =>
                {
                    Some(down)
                }
                _ => None,
            };
            let across = (self.stage.across && class == Class::Full).then(|| Walk {
                dims: [&frame.column_dims[..], &frame.row_dims].concat(),
                strides: [&operand.column[..], &operand.row].concat(),
            });
            self.out.inputs.push(In { source, dtype, class, outer, all, turned, across, direct });
        }
    }

    /// Where results go.
    fn results(&mut self) {
        for (&(v, class), &cell) in self.program.outputs.iter().zip(&self.stage.end.cells) {
            let at_end = cell.is_some() || self.class(v) >= Class::Column;
            let reg = (!at_end).then(|| self.reg());
            self.out.outputs.push(Out { dtype: self.dtype(v), class, reg, cell });
        }
    }

    fn compile(mut self) -> Result<Compiled> {
        for (at, pass) in self.stage.passes.iter().enumerate() {
            let mut phase = self.pass(pass)?;
            if at + 1 == self.stage.passes.len() {
                for &o in &self.stage.row_results {
                    self.store(o, &mut phase.finish)?;
                }
            }
            self.out.phases.push(phase);
        }
        self.finish_totals()?;
        self.fuse();
        self.widen();
        self.assign_slots();
        Ok(self.out)
    }

    /// A walk over the rows of a tile.
    fn pass(&mut self, pass: &Pass) -> Result<Phase> {
        // What an earlier walk knew of elements was of the row's last stretch.
        self.full.fill(None);
        self.expanded.fill(None);
        let mut phase = Phase::default();
        for &v in &pass.rows {
            self.value(v, &mut phase.rows)?;
        }
        for &v in &pass.elements {
            self.value(v, &mut phase.steps)?;
        }
        for &(v, a) in &pass.targets {
            let Inst::Reduce(kind, over, _) = self.program.values[v as usize].inst else { continue };
            let src = self.operand(a, Len::Full, &mut phase.steps)?;
            if over == Over::Outer {
                self.column(v, src, &mut phase.steps)?;
                continue;
            }
            let reducer = self.out.reducers.len() as u16;
            self.out.reducers.push(Reducer::new(kind, self.dtype(a), isa()));
            let dst = self.slot(self.dtype(v), Len::Row, true);
            phase.reducers.push(reducer);
            phase.steps.push(Step::Accumulate { reducer, src });
            phase.finish.push(Step::Finish { reducer, dst });
            self.row[v as usize] = Some(dst);
        }
        for &o in &pass.stores {
            self.store(o, &mut phase.steps)?;
        }
        Ok(phase)
    }

    /// A new position in the table of addresses.
    fn reg(&mut self) -> Reg {
        self.out.registers.count += 1;
        (self.out.registers.count - 1) as Reg
    }

    /// A new register in the arena.
    fn slot(&mut self, dtype: DType, len: Len, pinned: bool) -> Reg {
        let reg = self.reg();
        self.virtuals.push(Virtual { reg, len, cell: cell_size(dtype), pinned });
        reg
    }

    fn dtype(&self, v: Val) -> DType {
        self.program.values[v as usize].dtype
    }

    fn class(&self, v: Val) -> Class {
        self.stage.frame.classes[v as usize]
    }
}
