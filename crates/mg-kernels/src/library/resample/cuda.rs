//! The launch of `kernels/resample.cu`.

use super::Resample;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::axes::WIDE;
use crate::cuda::library::constants::resample::THREADS;
use crate::cuda::library::{KernelPlan, launch};
use crate::library::{Described, Shaped};
use mg_device::{Error, ErrorKind, Result};
use std::array::from_fn;

/// So many threads are enough for any GPU: of more elements each has several planes, [`LEAST`] to [`MOST`] of them.
const ENOUGH: usize = 1 << 19;
const LEAST: usize = 8;
const MOST: usize = 16;

pub(super) fn plan(kernel: Resample, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    const OP: &str = "resample";
    let Some(x) = operands.first() else {
        return Err(Error::new(OP, ErrorKind::Internal("a kernel without its operands".into())));
    };
    let ([lead @ .., height, width], [.., rows, columns]) = (&x.layout.shape()[..], &result.shape[..]) else {
        return Err(Error::new(OP, ErrorKind::Internal("planes without two axes".into())));
    };
    let (planes, positions) = (lead.iter().product::<usize>(), rows * columns);
    if planes * positions == 0 {
        return Ok(KernelPlan::default());
    }
    let each = (result.shape.numel() / ENOUGH).next_multiple_of(LEAST).clamp(LEAST, MOST);
    let across = positions.div_ceil(THREADS);
    let blocks = across.saturating_mul(planes.div_ceil(each));
    if positions >= WIDE || height * width >= WIDE || blocks >= WIDE {
        let text = format!("{} has more elements than a launch takes", result.shape);
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let taps = usize::from(kernel.taps);
    let pointer = |axis: usize, group: usize, t: usize| match t < taps {
        true => input((kernel.lines(axis).start + group * taps + t) as u8),
        false => None,
    };
    let args = args::resample::Resample {
        out: OUTPUT,
        x: input(0),
        rows: from_fn(|t| pointer(0, 0, t)),
        by_rows: from_fn(|t| pointer(0, 1, t)),
        columns: from_fn(|t| pointer(1, 0, t)),
        by_columns: from_fn(|t| pointer(1, 1, t)),
        planes: planes as u64,
        height: *height as u32,
        width: *width as u32,
        positions: positions as u32,
        each: each as u32,
        taps: kernel.taps.into(),
        last_first: kernel.last_first.into(),
        across: Divisor::by(across),
        line: Divisor::by(*columns),
    };
    let mut plan = KernelPlan::default();
    plan.launches.push(launch(OP, &format!("resample_{}", result.dtype.name()), blocks, &args)?);
    Ok(plan)
}
