//! Launches of `kernels/thin.cu`.

use super::Thin;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::thin::{EACH, THREADS};
use crate::cuda::library::{KernelPlan, launch};
use crate::library::{Described, Shaped};
use mg_device::Result;

/// Blocks that take turns.
const TURNS: usize = 1 << 14;

pub(super) fn plan(thin: &Thin, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    let mut plan = KernelPlan::default();
    if result.shape.numel() == 0 || operands.is_empty() {
        return Ok(plan);
    }
    let eighths = thin.columns.div_ceil(EACH);
    let count = result.shape.numel() / thin.columns * eighths;
    let args = args::thin::Thin {
        out: OUTPUT,
        seeds: input(0),
        count: count as u64,
        first: thin.first as u32,
        rows: thin.rows as u32,
        columns: thin.columns as u32,
        eighths: eighths as u32,
        left_out: thin.left_out,
    };
    plan.launches.push(launch(
        "scaled_dot_product_attention",
        "thin",
        count.div_ceil(THREADS).min(TURNS),
        &args,
    )?);
    Ok(plan)
}
