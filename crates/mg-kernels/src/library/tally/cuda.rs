//! Launches of `kernels/tally.cu`.

use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::tally::{CHUNK, WARPS, WORDS};
use crate::cuda::library::{KernelPlan, copy, launch};
use crate::library::Described;
use mg_device::{Error, ErrorKind, Result};

/// Blocks that take turns.
const TURNS: usize = 1 << 10;

pub(super) fn plan(bins: usize, operands: &[Described]) -> Result<KernelPlan> {
    let op = "histc";
    let Some(x) = operands.first() else {
        return Err(Error::new(op, ErrorKind::Internal("no operands".into())));
    };
    let count = x.layout.shape().numel();
    let mut plan = copy::fill(8, bins, 0)?;
    if count == 0 {
        return Ok(plan);
    }
    let args = args::tally::Tally {
        out: OUTPUT,
        x: input(0),
        low: input(1),
        high: input(2),
        count: count as u64,
        bins: bins as u32,
        copies: (WORDS / bins).clamp(1, WARPS) as u32,
    };
    let blocks = count.div_ceil(CHUNK).min(TURNS);
    plan.launches.push(launch(op, &format!("tally_{}", x.dtype), blocks, &args)?);
    Ok(plan)
}
