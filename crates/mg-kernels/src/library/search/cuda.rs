//! The launch of `kernels/search.cu`.

use super::{Lines, Search};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::search::{KEPT, THREADS};
use crate::cuda::library::{KernelPlan, launch};
use crate::library::Described;
use crate::library::sort::{bits, turn};
use mg_device::{Error, ErrorKind, Result};

/// Blocks that take turns where each keeps a line.
const TURNS: usize = 1 << 10;
/// Values of each thread from which that is worth the line's way to shared memory.
const EACH: usize = 4;

pub(super) fn plan(search: &Search, operands: &[Described]) -> Result<KernelPlan> {
    let op = "searchsorted";
    let [sorted, values] = operands else {
        return Err(Error::new(op, ErrorKind::Internal("takes two operands".into())));
    };
    let lines = Lines::of(sorted.layout.shape(), values.layout.shape());
    let mut plan = KernelPlan::default();
    if lines.count == 0 {
        return Ok(plan);
    }
    // Keys have 32 bits at least.
    let keeps = lines.count == lines.values
        && (1..=KEPT / sorted.dtype.size().max(4)).contains(&lines.length)
        && lines.count >= EACH * TURNS * THREADS;
    let args = args::search::Search {
        out: OUTPUT,
        sorted: input(0),
        values: input(1),
        length: lines.length as u64,
        each: lines.values as u64,
        count: lines.count as u64,
        right: search.right.into(),
        turn: turn(sorted.dtype, false),
        keeps: keeps.into(),
    };
    let name = format!("search_{}", bits(sorted.dtype));
    let blocks = if keeps { TURNS } else { lines.count.div_ceil(THREADS) };
    plan.launches.push(launch(op, &name, blocks, &args)?);
    Ok(plan)
}
