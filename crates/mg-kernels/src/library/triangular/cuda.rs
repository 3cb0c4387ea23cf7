//! Launches of `kernels/triangular.cu`, and for large matrices of `triangular_block.cu` and `take_off.cu`.

use super::Triangular;
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::constants::triangular::SIDE;
use crate::cuda::library::constants::triangular_block::{COLUMNS, SIDE as ROWS};
use crate::cuda::library::{KernelLaunch, KernelPlan, launch};
use crate::library::factor::ahead;
use crate::library::{Described, Shaped};
use mg_device::{DType, Error, ErrorKind, Result};

const OP: &str = "solve_triangular";

pub(super) fn plan(kernel: &Triangular, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    let Some((lead, &[n, k])) = result.shape.split_last_chunk::<2>() else {
        return Ok(KernelPlan::default());
    };
    let count: usize = lead.iter().product();
    if count * n * k == 0 || operands.len() != 2 {
        return Ok(KernelPlan::default());
    }
    if n >= 1 << 31 || k >= 1 << 31 {
        let text = format!("matrices of {n} by {k}: sizes have to be below 2^31");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    if n > ROWS {
        return blocks(kernel, result, [count, n, k]);
    }
    let tiles = k.div_ceil(SIDE);
    let args = args::triangular::Triangular {
        out: OUTPUT,
        a: input(0),
        b: input(1),
        n: n as u32,
        k: k as u32,
        tiles: tiles as u32,
        upper: kernel.upper.into(),
        unit: kernel.unit.into(),
        transposed: kernel.transposed.into(),
    };
    let name = format!("triangular_{}", result.dtype.name());
    let mut plan = KernelPlan::default();
    plan.launches.push(launch(OP, &name, tiles * count, &args)?);
    Ok(plan)
}

/// Rows that are solved for before what they come to is taken off all others: products over more rows take less time each.
const MANY: usize = 4 * ROWS;

/// 64 rows after 64 rows, and what they come to taken off those that are next, and of many together off all others.
fn blocks(kernel: &Triangular, result: &Shaped, [count, n, k]: [usize; 3]) -> Result<KernelPlan> {
    let system = System { kernel, dtype: result.dtype, count, n, k };
    let mut plan = KernelPlan::default();
    for begin in (0..n).step_by(MANY) {
        let end = (begin + MANY).min(n);
        for known in (begin..end).step_by(ROWS) {
            let next = (known + ROWS).min(n);
            plan.launches.push(system.solve(known, next)?);
            if next < end {
                plan.launches.push(system.take_off(known, next, end)?);
            }
        }
        if end < n {
            plan.launches.push(system.take_off(begin, end, n)?);
        }
    }
    Ok(plan)
}

/// Equations of `count` matrices, `n` with `k` right sides each. Rows are counted in the order in which they are solved for.
struct System<'a> {
    kernel: &'a Triangular,
    dtype: DType,
    count: usize,
    n: usize,
    k: usize,
}

impl System<'_> {
    /// The rows from one up to another as they lie: the first, and how many.
    fn rows(&self, from: usize, to: usize) -> (usize, usize) {
        let backwards = self.kernel.upper != self.kernel.transposed;
        if backwards { (self.n - to, to - from) } else { (from, to - from) }
    }

    /// Right sides are the operand's until something was taken off them.
    fn sides(&self, known: usize) -> Address {
        if known == 0 { input(1) } else { OUTPUT }
    }

    /// The launch of a kernel, so many blocks for each matrix.
    fn launch(&self, kernel: &str, blocks: usize, args: &impl args::Argument) -> Result<KernelLaunch> {
        launch(OP, &format!("factor_{kernel}_{}", self.dtype.name()), blocks * self.count, args)
    }

    /// Solves for the rows from one up to another by their own triangle.
    fn solve(&self, known: usize, next: usize) -> Result<KernelLaunch> {
        let &System { kernel, dtype, n, k, .. } = self;
        let (first, rows) = self.rows(known, next);
        let (tiles, sides) = (k.div_ceil(COLUMNS), (n * k) as u64);
        let solve = args::triangular_block::Block {
            out: ahead(OUTPUT, first * k, dtype),
            a: ahead(input(0), first * (n + 1), dtype),
            from: ahead(self.sides(known), first * k, dtype),
            told: None,
            a_batch: (n * n) as u64,
            from_batch: sides,
            out_batch: sides,
            a_row: n as u64,
            down: k as u64,
            right: 1,
            rows: rows as u32,
            k: k as u32,
            tiles: tiles as u32,
            upper: kernel.upper.into(),
            unit: kernel.unit.into(),
            transposed: kernel.transposed.into(),
        };
        self.launch("triangle", tiles, &solve)
    }

    /// Takes what is known of the rows from one on, up to another, off those from there on, up to a last.
    fn take_off(&self, from: usize, to: usize, last: usize) -> Result<KernelLaunch> {
        let &System { kernel, dtype, n, k, .. } = self;
        let ((known, depth), (rest, left)) = (self.rows(from, to), self.rows(to, last));
        let (at, a_row, a_column) = match kernel.transposed {
            false => (rest * n + known, n as u64, 1),
            true => (known * n + rest, 1, n as u64),
        };
        let (across, down) = (k.div_ceil(ROWS), left.div_ceil(ROWS));
        let sides = (n * k) as u64;
        let product = args::take_off::TakeOff {
            to: ahead(OUTPUT, rest * k, dtype),
            from: ahead(self.sides(from), rest * k, dtype),
            a: ahead(input(0), at, dtype),
            b: ahead(OUTPUT, known * k, dtype),
            panel: None,
            told: None,
            to_batch: sides,
            from_batch: sides,
            a_batch: (n * n) as u64,
            b_batch: sides,
            to_row: k as u64,
            from_row: k as u64,
            a_row,
            a_column,
            b_row: k as u64,
            b_column: 1,
            panel_stride: 0,
            panel_width: 0,
            rows: left as u32,
            columns: k as u32,
            depth: depth as u32,
            across: across as u32,
            tiles: (across * down) as u32,
            done: 1,
        };
        self.launch("take_off", across * down, &product)
    }
}
