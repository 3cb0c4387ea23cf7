//! Launches of `kernels/lu.cu`, `cholesky.cu`, `take_off.cu`, `triangular_block.cu` and `told.cu`: a matrix's own where it is small, panel by
//! panel where it is large. Nothing is read back between them. Those of reflections are in `qr.rs`.

use super::{Demand, Factor, FactorKind};
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::constants::{cholesky, lu, take_off, triangular_block};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, launch};
use crate::library::{Described, Shaped};
use mg_device::{DType, Error, ErrorKind, Result};

/// Columns of a panel, rows and columns of a tile.
const SIDE: usize = take_off::SIDE;
/// Rows that the threads of a block have between them, of a panel, at most: [`Panel`].
pub(super) const MOST_ROWS: usize = 8 * lu::WORKERS;
const SMALL: usize = cholesky::SMALL;
const _: () = assert!(lu::SMALL == SMALL && lu::WARPS == cholesky::WARPS && lu::SIDE == SIDE);

/// An address so many elements behind another.
pub(in crate::library) fn ahead(address: Address, elements: usize, dtype: DType) -> Address {
    address.map(|(pointer, offset)| (pointer, offset + (elements * dtype.size()) as u64))
}

/// Matrices whose answers lie one after the other.
pub(super) struct Matrices {
    op: &'static str,
    pub(super) dtype: DType,
    pub(super) count: usize,
    pub(super) m: usize,
    pub(super) n: usize,
    /// Elements of an answer.
    pub(super) line: usize,
}

pub(super) fn plan(factor: &Factor, x: &Described, result: &Shaped) -> Result<KernelPlan> {
    const OP: &str = "factor";
    let Some((lead, &[m, n])) = x.layout.shape().split_last_chunk::<2>() else {
        return Ok(KernelPlan::default());
    };
    let line = result.shape.last().copied().unwrap_or(0);
    let count: usize = lead.iter().product();
    if count == 0 {
        return Ok(KernelPlan::default());
    }
    let all = Matrices { op: OP, dtype: x.dtype, count, m, n, line };
    let mut plan = KernelPlan::default();
    let info = match factor.kind {
        FactorKind::Lu => {
            all.eliminate(&mut plan)?;
            line - 1
        }
        FactorKind::Cholesky => {
            all.cholesky(&mut plan)?;
            n * n
        }
        FactorKind::Qr { complete, vectors } => {
            super::qr::plan(&mut plan, &all, complete, vectors)?;
            line
        }
        FactorKind::Order { .. }
        | FactorKind::Ldl
        | FactorKind::Blocks
        | FactorKind::Eigh { .. }
        | FactorKind::Svd { .. } => {
            return Err(Error::new(OP, ErrorKind::Internal("this factorisation is the host's".into())));
        }
    };
    if factor.demand != Demand::Nothing {
        let args = args::told::Told {
            info: all.out(info),
            fault: Some((Pointer::Fault, 0)),
            line: line as u64,
            count: count as u64,
            wide: (x.dtype == DType::F64).into(),
            several: (!lead.is_empty()).into(),
        };
        plan.launches.push(launch(OP, "factor_told", 1, &args)?);
    }
    Ok(plan)
}

/// A panel's block: a kernel by the rows that a thread has, and how many threads there are.
struct Panel {
    rows: usize,
    workers: usize,
}

impl Panel {
    fn of(rows: usize) -> Panel {
        let each = if rows <= 4 * lu::WORKERS { 4 } else { 8 };
        Panel { rows: each, workers: rows.div_ceil(each).next_power_of_two().clamp(128, lu::WORKERS) }
    }

    /// From column to column: registers are filled, whether rows are there or not.
    fn stride(&self, rows: usize) -> usize {
        rows.next_multiple_of(self.rows * self.workers)
    }
}

impl Matrices {
    /// Elements of the first answer, from one on.
    pub(super) fn out(&self, from: usize) -> Address {
        ahead(OUTPUT, from, self.dtype)
    }

    pub(super) fn launch(
        &self,
        kernel: &str,
        blocks: usize,
        argument: &impl args::Argument,
    ) -> Result<KernelLaunch> {
        launch(self.op, &format!("factor_{kernel}_{}", self.dtype.name()), blocks, argument)
    }

    /// What is taken off the answers, from an element on; `depth` is 0 where they are only copied from the operand.
    fn take_off(&self, [row, column]: [usize; 2]) -> args::take_off::TakeOff {
        let (m, n) = (self.m - row, self.n - column);
        let (line, width, here) = (self.line as u64, self.n as u64, self.out(row * self.n + column));
        args::take_off::TakeOff {
            to: here,
            from: here,
            a: OUTPUT,
            b: OUTPUT,
            panel: None,
            told: None,
            to_batch: line,
            from_batch: line,
            a_batch: line,
            b_batch: line,
            to_row: width,
            from_row: width,
            a_row: width,
            a_column: 1,
            b_row: width,
            b_column: 1,
            panel_stride: 0,
            panel_width: 0,
            rows: m as u32,
            columns: n as u32,
            depth: 0,
            across: n.div_ceil(SIDE) as u32,
            tiles: (n.div_ceil(SIDE) * m.div_ceil(SIDE)) as u32,
            done: row as u32,
        }
    }

    /// The operand instead of the answers, of which nothing is known yet.
    fn begin(&self) -> args::take_off::TakeOff {
        args::take_off::TakeOff {
            from: input(0),
            from_batch: (self.m * self.n) as u64,
            ..self.take_off([0, 0])
        }
    }

    fn push(&self, plan: &mut KernelPlan, product: &args::take_off::TakeOff) -> Result<()> {
        plan.launches.push(self.launch("take_off", product.tiles as usize * self.count, product)?);
        Ok(())
    }

    /// A lower triangle of answers, on whose diagonal there are ones, from a place of the diagonal on, for right sides that are columns.
    fn triangle(&self, first: usize, rows: usize, k: usize) -> args::triangular_block::Block {
        let line = self.line as u64;
        args::triangular_block::Block {
            out: OUTPUT,
            a: self.out(first * (self.n + 1)),
            from: OUTPUT,
            told: None,
            a_batch: line,
            from_batch: line,
            out_batch: line,
            a_row: self.n as u64,
            down: self.n as u64,
            right: 1,
            rows: rows as u32,
            k: k as u32,
            tiles: k.div_ceil(triangular_block::COLUMNS) as u32,
            upper: 0,
            unit: 1,
            transposed: 0,
        }
    }

    fn cholesky(&self, plan: &mut KernelPlan) -> Result<()> {
        let (n, line) = (self.n, self.line as u64);
        if n <= SMALL {
            let args = args::cholesky::Cholesky {
                out: OUTPUT,
                from: input(0),
                line,
                count: self.count as u64,
                n: n as u32,
            };
            plan.launches.push(self.launch("cholesky", self.count.div_ceil(cholesky::WARPS), &args)?);
            return Ok(());
        }
        let told = self.out(n * n);
        self.push(plan, &args::take_off::TakeOff { told, ..self.begin() })?;
        for done in (SIDE..n).step_by(SIDE) {
            // The rows below the tile that was factored last are right sides.
            let (first, below) = (done - SIDE, self.out(done * n + done - SIDE));
            let solve = self.triangle(first, SIDE, n - done);
            let solve = args::triangular_block::Block {
                out: below,
                from: below,
                told,
                down: 1,
                right: n as u64,
                unit: 0,
                ..solve
            };
            plan.launches.push(self.launch("triangle", solve.tiles as usize * self.count, &solve)?);
            let product = args::take_off::TakeOff {
                told,
                a: below,
                b: below,
                b_row: 1,
                b_column: n as u64,
                depth: SIDE as u32,
                ..self.take_off([done, done])
            };
            self.push(plan, &product)?;
        }
        Ok(())
    }

    fn eliminate(&self, plan: &mut KernelPlan) -> Result<()> {
        let Matrices { count, m, n, line, dtype, .. } = *self;
        let steps = m.min(n);
        let stride = Panel::of(m).stride(m);
        let panels = count * stride * SIDE * dtype.size();
        let of = |first: usize, width: usize, tiles: usize| args::lu::Lu {
            out: OUTPUT,
            from: input(0),
            panels: Some((Pointer::Workspace, 0)),
            homes: Some((Pointer::Workspace, panels as u64)),
            line: line as u64,
            count: count as u64,
            stride: stride as u64,
            m: m as u32,
            n: n as u32,
            first: first as u32,
            width: width as u32,
            tiles: tiles as u32,
        };
        if m.max(n) <= SMALL {
            let blocks = count.div_ceil(lu::WARPS);
            plan.launches.push(self.launch("lu_small", blocks, &of(0, 0, 0))?);
            return Ok(());
        }
        plan.workspace = panels + count * stride * 4;
        // The columns of the panel that begins at one go to its own memory.
        let to_panel = |product: args::take_off::TakeOff, first: usize| args::take_off::TakeOff {
            panel: Some((Pointer::Workspace, 0)),
            panel_stride: stride as u64,
            panel_width: steps.saturating_sub(first).min(SIDE) as u32,
            ..product
        };
        self.push(plan, &to_panel(self.begin(), 0))?;
        for first in (0..steps).step_by(SIDE) {
            let (width, rows) = ((steps - first).min(SIDE), m - first);
            let Panel { rows: each, workers } = Panel::of(rows);
            let mut panel = self.launch(&format!("lu_panel{each}"), count, &of(first, width, 1))?;
            panel.block = [workers as u32, 1, 1];
            plan.launches.push(panel);
            let tiles = 1 + rows.div_ceil(SIDE) + (n - width).div_ceil(lu::COLUMNS);
            plan.launches.push(self.launch("lu_exchange", tiles * count, &of(first, width, tiles))?);
            let next = first + width;
            if next < n {
                let right = self.out(first * n + next);
                let solve = self.triangle(first, width, n - next);
                let solve = args::triangular_block::Block { out: right, from: right, ..solve };
                plan.launches.push(self.launch("triangle", solve.tiles as usize * count, &solve)?);
            }
            if next < m && next < n {
                let product = args::take_off::TakeOff {
                    a: self.out(next * n + first),
                    b: self.out(first * n + next),
                    depth: width as u32,
                    ..self.take_off([next, next])
                };
                self.push(plan, &to_panel(product, next))?;
            }
        }
        plan.launches.push(self.launch("lu_end", count, &of(0, 0, 1))?);
        Ok(())
    }
}
