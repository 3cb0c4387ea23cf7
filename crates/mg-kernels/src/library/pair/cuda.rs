//! Launches of `kernels/pair.cu`.

use super::PairKind;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::pair::THREADS;
use crate::cuda::library::{KernelPlan, launch};
use crate::library::Shaped;
use mg_device::Result;

pub(super) fn plan(kind: PairKind, result: &Shaped) -> Result<KernelPlan> {
    let n = result.shape.numel();
    if n == 0 {
        return Ok(KernelPlan::default());
    }
    let args = args::pair::Pair { out: OUTPUT, a: input(0), b: input(1), n: n as u64 };
    let name = match kind {
        PairKind::Gcd => "pair_gcd_i64".to_string(),
        PairKind::Lower => format!("pair_lower_{}", result.dtype.name()),
        PairKind::Upper => format!("pair_upper_{}", result.dtype.name()),
    };
    let mut plan = KernelPlan::default();
    plan.launches.push(launch("pair", &name, n.div_ceil(THREADS), &args)?);
    Ok(plan)
}
