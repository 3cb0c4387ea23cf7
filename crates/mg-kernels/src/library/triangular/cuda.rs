//! Launches of `kernels/triangular.cu`, and for large matrices of `triangular_block.cu` and `take_off.cu`.

use super::Triangular;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::triangular::SIDE;
use crate::cuda::library::constants::triangular_block::{COLUMNS, SIDE as ROWS};
use crate::cuda::library::{Plan, launch};
use crate::library::factor::ahead;
use crate::library::{Described, Shaped};
use mg_device::{Error, ErrorKind, Result};

const OP: &str = "solve_triangular";

pub(super) fn plan(kernel: &Triangular, operands: &[Described], result: &Shaped) -> Result<Plan> {
    let Some((lead, &[n, k])) = result.shape.split_last_chunk::<2>() else { return Ok(Plan::default()) };
    let count: usize = lead.iter().product();
    if count * n * k == 0 || operands.len() != 2 {
        return Ok(Plan::default());
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
    let mut plan = Plan::default();
    plan.launches.push(launch(OP, &name, tiles * count, &args)?);
    Ok(plan)
}

/// 64 rows after 64 rows, and what they come to taken off the others.
fn blocks(kernel: &Triangular, result: &Shaped, [count, n, k]: [usize; 3]) -> Result<Plan> {
    let dtype = result.dtype;
    let name = |kernel: &str| format!("{kernel}_{}", dtype.name());
    let backwards = kernel.upper != kernel.transposed;
    let (matrix, sides) = ((n * n) as u64, (n * k) as u64);
    let mut plan = Plan::default();
    for step in 0..n.div_ceil(ROWS) {
        let first = if backwards { n.div_ceil(ROWS) - 1 - step } else { step } * ROWS;
        let rows = ROWS.min(n - first);
        // Right sides are the operand's until something was taken off them.
        let from = if step == 0 { input(1) } else { OUTPUT };
        let tiles = k.div_ceil(COLUMNS);
        let solve = args::triangular_block::Block {
            out: ahead(OUTPUT, first * k, dtype),
            a: ahead(input(0), first * (n + 1), dtype),
            from: ahead(from, first * k, dtype),
            told: None,
            a_batch: matrix,
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
        plan.launches.push(launch(OP, &name("triangular_block"), tiles * count, &solve)?);
        let (rest, left) = if backwards { (0, first) } else { (first + rows, n - first - rows) };
        if left == 0 {
            continue;
        }
        let (across, n) = (k.div_ceil(ROWS), n as u64);
        let (at, a_row, a_column) = match kernel.transposed {
            false => (rest * n as usize + first, n, 1),
            true => (first * n as usize + rest, 1, n),
        };
        let product = args::take_off::TakeOff {
            to: ahead(OUTPUT, rest * k, dtype),
            from: ahead(from, rest * k, dtype),
            a: ahead(input(0), at, dtype),
            b: ahead(OUTPUT, first * k, dtype),
            panel: None,
            told: None,
            to_batch: sides,
            from_batch: sides,
            a_batch: matrix,
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
            depth: rows as u32,
            across: across as u32,
            tiles: (across * left.div_ceil(ROWS)) as u32,
            done: 1,
        };
        plan.launches.push(launch(OP, &name("take_off"), across * left.div_ceil(ROWS) * count, &product)?);
    }
    Ok(plan)
}
