//! The launch of `kernels/search.cu`.

use super::{Lines, Search};
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::launch;
use crate::cuda::library::{Plan, Pointer};
use crate::library::Described;
use crate::library::sort::{bits, turn};
use mg_device::{Error, ErrorKind, Result};

pub(super) fn plan(search: &Search, operands: &[Described]) -> Result<Plan> {
    let op = "searchsorted";
    let [sorted, values] = operands else {
        return Err(Error::new(op, ErrorKind::Internal("takes two operands".into())));
    };
    let lines = Lines::of(sorted.layout.shape(), values.layout.shape());
    let mut plan = Plan::default();
    if lines.count == 0 {
        return Ok(plan);
    }
    let mut args = Args::default();
    args.pointer(Some((Pointer::Output(0), 0)))
        .pointer(Some((Pointer::Input(0), 0)))
        .pointer(Some((Pointer::Input(1), 0)))
        .u64(lines.length as u64)
        .u64(lines.values as u64)
        .u64(lines.count as u64)
        .u64(search.right.into())
        .u64(turn(sorted.dtype, false));
    let name = format!("search_{}", bits(sorted.dtype));
    plan.launches.push(launch(op, &name, lines.count.div_ceil(256), args)?);
    Ok(plan)
}
