//! Launches of `kernels/put.cu`.

use super::Sizes;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::put::{BLOCK, THREADS};
use crate::cuda::library::{KernelPlan, Pointer, copy, launch};
use crate::library::{Described, Target};
use mg_device::{Layout, Result};

/// Indices up to which each looks through all that come after it.
const FEW: usize = 1 << 10;
/// Bytes of the word that says whether an index was refused, and what is behind it aligned.
const WORD: u64 = 256;

pub(super) fn plan(sizes: &Sizes, base: &Described, value: &Described, target: Target) -> Result<KernelPlan> {
    let Sizes { outer, n, inner, count, one } = *sizes;
    let size = base.dtype.size();
    let dense = Layout::contiguous(*base.layout.shape());
    let many = count > FEW;
    // Most places are written to: of as many random indices as there are places, two thirds are.
    let places = many && n <= count.saturating_mul(2);
    // Who has a place of the result copies the base's along, where it lies alike.
    let along = places && !target.in_place && base.layout == dense;
    let mut plan = match target.in_place || along && outer * n * inner > 0 {
        true => KernelPlan::default(),
        false => copy::plan(size, &base.layout, &dense, base.align.min(target.align))?,
    };
    if outer * n * inner * count == 0 {
        return Ok(plan);
    }
    // Neighbours as one, where they are aligned.
    let align = value.align.min(target.align).min(if along { base.align } else { usize::MAX });
    let fits = |unit: &usize| {
        unit.is_multiple_of(size) && (inner * size).is_multiple_of(*unit) && align.is_multiple_of(*unit)
    };
    let unit = if one { size } else { [16, 8, 4, 2].into_iter().find(fits).unwrap_or(size) };
    let inner = inner * size / unit;
    let chunks = if many { 1 } else { (outer * inner).div_ceil(BLOCK) };
    let args = args::put::Put {
        out: OUTPUT,
        base: along.then_some((Pointer::Input(0), 0)),
        value: input(1),
        index: input(2),
        refused: Some((Pointer::Workspace, 0)),
        last: many.then_some((Pointer::Workspace, WORD)),
        count: count as u64,
        n: n as u64,
        outer: outer as u64,
        inner: inner as u64,
        one: one.into(),
        chunks: chunks as u32,
        places: places.into(),
    };
    // Nothing is written before all indices were looked at: where one is out of range, the base stays as it is.
    let words = WORD as usize / 4 + if many { n } else { 0 };
    plan.launches.extend(copy::zeros(4, words, 0)?);
    plan.workspace = words * 4;
    plan.launches.push(launch("put", "put_last", count.div_ceil(THREADS), &args)?);
    let blocks = match (places, many) {
        (true, _) => (outer * inner * n).div_ceil(BLOCK),
        (false, true) => (outer * inner * count).div_ceil(BLOCK),
        (false, false) => count * chunks,
    };
    plan.launches.push(launch("put", &format!("put_b{}", unit * 8), blocks, &args)?);
    Ok(plan)
}
