//! Launches of `kernels/put.cu`.

use super::Sizes;
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::{self, launch};
use crate::cuda::library::{Plan, Pointer};
use crate::library::{Described, Target};
use mg_device::{Layout, Result};

/// Units of a block.
const BLOCK: usize = 1024;

pub(super) fn plan(sizes: &Sizes, base: &Described, value: &Described, target: Target) -> Result<Plan> {
    let Sizes { outer, n, inner, count, one } = *sizes;
    let size = base.dtype.size();
    let mut plan = match target.in_place {
        true => Plan::default(),
        false => {
            let dense = Layout::contiguous(*base.layout.shape());
            copy::plan(size, &base.layout, &dense, base.align.min(target.align))?
        }
    };
    if outer * n * inner * count == 0 {
        return Ok(plan);
    }
    // Neighbours as one, where they are aligned.
    let align = value.align.min(target.align);
    let fits = |unit: &usize| {
        unit.is_multiple_of(size) && (inner * size).is_multiple_of(*unit) && align.is_multiple_of(*unit)
    };
    let unit = if one { size } else { [16, 8, 4, 2].into_iter().find(fits).unwrap_or(size) };
    let inner = inner * size / unit;
    let chunks = (outer * inner).div_ceil(BLOCK);
    let mut args = Args::default();
    args.pointer(Some((Pointer::Output(0), 0)))
        .pointer(Some((Pointer::Input(1), 0)))
        .pointer(Some((Pointer::Input(2), 0)))
        .u64(count as u64)
        .u64(n as u64)
        .u64(outer as u64)
        .u64(inner as u64)
        .u32(one.into())
        .u32(chunks as u32);
    plan.launches.push(launch("put", &format!("put_b{}", unit * 8), count * chunks, args)?);
    Ok(plan)
}
