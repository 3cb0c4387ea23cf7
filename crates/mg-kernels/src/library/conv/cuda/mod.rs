//! Which kernels compute a convolution on CUDA: chosen from sizes alone, so that the same convolution is added up in the same order
//! every time.

mod depthwise;
mod direct;
mod hopper;
mod pointwise;

use super::{ConvKind, Geometry};
use crate::cuda::library::copy::{self, fill};
use crate::cuda::library::{KernelPlan, Pointer};
use crate::library::{Described, Innermost, Target};
use mg_device::{DType, Layout, Result, Shape};

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
    /// Whether the channels of each operand are innermost in memory. (Those of the result are, where the target says so.)
    innermost: [bool; 2],
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
    let innermost = [a, b].map(|operand| !operand.layout.is_contiguous());
    let problem = Problem { kind, g, dtype: a.dtype, align: [a.align, b.align], innermost, target, tile };
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
    if let Some(plan) = depthwise::plan(&problem)? {
        return Ok(plan);
    }
    if let Some(plan) = hopper::plan(&problem)? {
        return Ok(plan);
    }
    if innermost != [false; 2] || target.innermost {
        return in_planes(&problem, operands);
    }
    direct::plan(kind, g, problem.dtype, target.capability)
}

/// What a convolution takes and leaves with channels innermost.
pub(super) fn innermost(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> Innermost {
    let in_planes = depthwise::takes_one_channel(kind, g, dtype, capability);
    if in_planes || !hopper::takes_innermost(kind, g, dtype, capability) {
        return Innermost::default();
    }
    // Places whose channels are multiples of 16 bytes.
    let aligned = |channels: usize| (channels * dtype.size()).is_multiple_of(16);
    let (first, second, result) = match kind {
        // Weights, too.
        ConvKind::Forward => (g.c, g.c, Some(g.o)),
        ConvKind::Input => (g.o, g.c, Some(g.c)),
        ConvKind::Weight => (g.c, g.o, None),
    };
    Innermost { operands: [first, second].map(aligned), result: result.is_some_and(aligned) }
}

/// Whether the last launch has a mark for elementwise work, wherever operands lie, in all cases but those that are seen from addresses and precision alone.
pub(super) fn takes_epilogue(
    kind: ConvKind,
    g: &Geometry,
    dtype: DType,
    capability: u32,
    innermost: bool,
) -> bool {
    let in_planes = depthwise::takes_one_channel(kind, g, dtype, capability);
    if kind == ConvKind::Weight || in_planes || !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        return false;
    }
    pointwise::takes_epilogue(g, dtype, capability, innermost)
        || hopper::takes_epilogue(kind, g, dtype, capability, innermost)
}

/// The plan of operands that are copied first, so that places are neighbours and not channels, as those kernels have it that take everything; the result is
/// copied back.
fn in_planes(problem: &Problem, operands: &[Described]) -> Result<KernelPlan> {
    let &Problem { kind, g, dtype, target, tile, .. } = problem;
    let mut plan = KernelPlan::default();
    let mut places = [(Pointer::Input(0), 0), (Pointer::Input(1), 0)];
    let mut planes: [Described; 2] = [operands[0], operands[1]];
    let room = |plan: &mut KernelPlan, elements: usize| {
        let place = (Pointer::Workspace, plan.workspace as u64);
        plan.workspace += (elements * dtype.size()).next_multiple_of(256);
        place
    };
    for (i, operand) in operands.iter().enumerate().filter(|(_, operand)| !operand.layout.is_contiguous()) {
        let dense = Layout::contiguous(*operand.layout.shape());
        let from = Layout::new(*operand.layout.shape(), operand.layout.strides(), 0)?;
        places[i] = room(&mut plan, dense.numel());
        let copying = copy::plan(dtype.size(), &from, &dense, operand.align.min(16))?;
        plan.beside(copying, &[(Pointer::Input(i as u8), 0)], places[i]);
        planes[i] = Described { layout: dense, dtype, align: 16 };
    }
    let inner = Target { innermost: false, epilogue: None, ..target };
    if !target.innermost {
        plan.then(self::plan(kind, g, &planes, inner, tile)?, &places, (Pointer::Output(0), 0));
        return Ok(plan);
    }
    let (channels, sizes) = if kind == ConvKind::Input { (g.c, g.input) } else { (g.o, g.output) };
    let shape = Shape::new(&[g.batch, channels * g.groups, sizes.iter().product()])?;
    let result = room(&mut plan, shape.numel());
    let own = self::plan(kind, g, &planes, Target { align: 16, ..inner }, tile)?;
    plan.then(own, &places, result);
    let from = Layout::contiguous(shape).permute(&[0, 2, 1])?;
    let copying = copy::plan(dtype.size(), &from, &Layout::contiguous(*from.shape()), target.align.min(16))?;
    plan.beside(copying, &[result], (Pointer::Output(0), 0));
    Ok(plan)
}

impl KernelPlan {
    /// As `then` of a plan that needs no workspace.
    fn beside(&mut self, plan: KernelPlan, inputs: &[(Pointer, u64)], output: (Pointer, u64)) {
        debug_assert_eq!(plan.workspace, 0, "copies have no workspace");
        self.then(plan, inputs, output);
    }

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
