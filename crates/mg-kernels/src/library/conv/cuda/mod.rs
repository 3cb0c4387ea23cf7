//! Which kernels compute a convolution on CUDA: chosen from sizes alone, so that the same convolution is added up in the same order
//! every time.

mod direct;
mod hopper;
mod pointwise;

use super::{ConvKind, Geometry};
use crate::cuda::library::copy::fill;
use crate::cuda::library::{KernelPlan, Pointer};
use crate::library::{Described, Target};
use mg_device::{DType, Result};

/// The product that a kernel is: rows, columns, inner axis.
fn product(kind: ConvKind, g: &Geometry) -> [usize; 3] {
    match kind {
        ConvKind::Forward => [g.o, g.batch * g.outputs(), g.depth()],
        ConvKind::Input => [g.c, g.batch * g.inputs(), g.o * g.depth() / g.c.max(1)],
        ConvKind::Weight => [g.o, g.depth(), g.batch * g.outputs()],
    }
}

/// What is computed, of what.
struct Problem<'a> {
    kind: ConvKind,
    g: &'a Geometry,
    dtype: DType,
    /// What the addresses of the operands are multiples of, in bytes.
    align: [usize; 2],
    target: Target,
    /// The tile to take, where it is not left to the model.
    tile: Option<&'a str>,
}

pub(super) fn plan(
    kind: ConvKind,
    g: &Geometry,
    operands: &[Described],
    target: Target,
    tile: Option<&str>,
) -> Result<KernelPlan> {
    let [a, b] = operands else { return Ok(KernelPlan::default()) };
    let problem = Problem { kind, g, dtype: a.dtype, align: [a.align, b.align], target, tile };
    let [m, n, k] = product(kind, g);
    let count = g.groups * m * n;
    if count == 0 {
        return Ok(KernelPlan::default());
    }
    if k == 0 {
        return fill(problem.dtype.size(), count, 0);
    }
    if let Some(plan) = pointwise::plan(&problem)? {
        return Ok(plan);
    }
    if let Some(plan) = hopper::plan(&problem)? {
        return Ok(plan);
    }
    direct::plan(kind, g, problem.dtype, target.capability)
}

impl KernelPlan {
    /// Appends the launches of a plan that does with `inputs` what it would with its own, into `output`; its workspace comes after
    /// this one's.
    fn then(&mut self, plan: KernelPlan, inputs: &[(Pointer, u64)], output: (Pointer, u64)) {
        let after = self.workspace as u64;
        let moved = |pointer| match pointer {
            Pointer::Input(i) => inputs.get(usize::from(i)).copied().unwrap_or((pointer, 0)),
            Pointer::Output(_) => output,
            Pointer::Workspace => (pointer, after),
            Pointer::Tickets | Pointer::Fault => (pointer, 0),
        };
        self.launches.extend(plan.launches.into_iter().map(|launch| launch.moved(moved)));
        self.workspace += plan.workspace;
    }
}
