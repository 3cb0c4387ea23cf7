//! Launches of `kernels/triangular.cu`.

use super::Triangular;
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::launch;
use crate::cuda::library::{Plan, Pointer};
use crate::library::{Described, Shaped};
use mg_device::{Error, ErrorKind, Result};

/// Columns of the right side that a block has.
const COLUMNS: usize = 32;

pub(super) fn plan(kernel: &Triangular, operands: &[Described], result: &Shaped) -> Result<Plan> {
    const OP: &str = "solve_triangular";
    let Some((lead, &[n, k])) = result.shape.split_last_chunk::<2>() else { return Ok(Plan::default()) };
    let count: usize = lead.iter().product();
    if count * n * k == 0 || operands.len() != 2 {
        return Ok(Plan::default());
    }
    if n >= 1 << 31 || k >= 1 << 31 {
        let text = format!("matrices of {n} by {k}: sizes have to be below 2^31");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let tiles = k.div_ceil(COLUMNS);
    let mut args = Args::default();
    args.pointer(Some((Pointer::Output(0), 0)))
        .pointer(Some((Pointer::Input(0), 0)))
        .pointer(Some((Pointer::Input(1), 0)))
        .u32(n as u32)
        .u32(k as u32)
        .u32(tiles as u32)
        .u32(kernel.upper.into())
        .u32(kernel.unit.into())
        .u32(kernel.transposed.into());
    let name = format!("triangular_{}", result.dtype.name());
    let mut plan = Plan::default();
    plan.launches.push(launch(OP, &name, tiles * count, args)?);
    Ok(plan)
}
