//! Launches of `kernels/unblend.cu`.

use super::Unblend;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, input};
use crate::cuda::library::axes::WIDE;
use crate::cuda::library::constants::unblend::{LINES, THREADS};
use crate::cuda::library::{KernelPlan, Pointer, launch};
use crate::library::{Described, Shaped};
use mg_device::{DType, Error, ErrorKind, Result};
use std::array::from_fn;

pub(super) fn plan(kernel: &Unblend, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    const OP: &str = "unblend";
    let Some(g) = operands.first() else {
        return Err(Error::new(OP, ErrorKind::Internal("a kernel without its operands".into())));
    };
    let (axis, taps, size) = (usize::from(kernel.axis), usize::from(kernel.taps), kernel.size);
    let shape = g.layout.shape();
    let (along, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
    let lines: usize = shape[..axis].iter().product();
    if result.shape.numel() == 0 {
        return Ok(KernelPlan::default());
    }
    // Neighbours of 16 bytes are a thread's, where all lie so.
    let (dtype, bytes) = (result.dtype.name(), result.dtype.size());
    let together = if result.dtype == DType::F64 { 2 } else { 4 };
    let unit = if inner.is_multiple_of(together) && g.align.is_multiple_of(16) { together } else { 1 };
    let name = if unit == 1 { format!("unblend_{dtype}") } else { format!("unblend_{dtype}_x{unit}") };
    let per_line = size * (inner / unit);
    let own = if unit == 1 { LINES } else { 1 };
    if per_line >= WIDE || along > u32::MAX as usize {
        let text = format!("{} has more elements along its last axes than a launch takes", result.shape);
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let end = (size * size_of::<u32>()).next_multiple_of(256);
    let pointer = |group: usize, t: usize| if t < taps { input((1 + group * taps + t) as u8) } else { None };
    let args = |line: usize, lines: usize| args::unblend::Unblend {
        out: Some((Pointer::Output(0), (line * size * inner * bytes) as u64)),
        g: Some((Pointer::Input(0), (line * along * inner * bytes) as u64)),
        index: from_fn(|t| pointer(0, t)),
        weight: from_fn(|t| pointer(1, t)),
        first: Some((Pointer::Workspace, 0)),
        end: Some((Pointer::Workspace, end as u64)),
        count: (lines.div_ceil(own) * per_line) as u64,
        inner: Divisor::by(inner / unit),
        size: Divisor::by(size),
        lines: lines as u32,
        along: along as u32,
        taps: taps as u32,
    };
    let mut plan = KernelPlan { workspace: 2 * end, ..KernelPlan::default() };
    plan.launches.push(launch(OP, "unblend_find", (32 * size).div_ceil(THREADS), &args(0, 0))?);
    // As many lines at a time as a launch has positions for.
    let most = (WIDE - 1) / per_line * own;
    for line in (0..lines).step_by(most) {
        let args = args(line, most.min(lines - line));
        plan.launches.push(launch(OP, &name, (args.count as usize).div_ceil(THREADS), &args)?);
    }
    Ok(plan)
}
