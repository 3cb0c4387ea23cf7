//! Launches of `kernels/put.cu`.

use super::Sizes;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::put::BLOCK;
use crate::cuda::library::{Plan, copy, launch};
use crate::library::{Described, Target};
use mg_device::{Layout, Result};

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
    let args = args::put::Put {
        out: OUTPUT,
        value: input(1),
        index: input(2),
        count: count as u64,
        n: n as u64,
        outer: outer as u64,
        inner: inner as u64,
        one: one.into(),
        chunks: chunks as u32,
    };
    plan.launches.push(launch("put", &format!("put_b{}", unit * 8), count * chunks, &args)?);
    Ok(plan)
}
