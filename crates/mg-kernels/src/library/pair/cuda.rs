//! Launches of `kernels/pair.cu`.

use super::PairKind;
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::launch;
use crate::cuda::library::{Plan, Pointer};
use crate::library::Shaped;
use mg_device::Result;

/// Threads of a block, each with one element.
const THREADS: usize = 256;

pub(super) fn plan(kind: PairKind, result: &Shaped) -> Result<Plan> {
    let n = result.shape.numel();
    if n == 0 {
        return Ok(Plan::default());
    }
    let mut args = Args::default();
    args.pointer(Some((Pointer::Output(0), 0)))
        .pointer(Some((Pointer::Input(0), 0)))
        .pointer(Some((Pointer::Input(1), 0)))
        .u64(n as u64);
    let name = match kind {
        PairKind::Gcd => "pair_gcd_i64".to_string(),
        PairKind::Lower => format!("pair_lower_{}", result.dtype.name()),
        PairKind::Upper => format!("pair_upper_{}", result.dtype.name()),
    };
    let mut plan = Plan::default();
    plan.launches.push(launch("pair", &name, n.div_ceil(THREADS), args)?);
    Ok(plan)
}
