//! Launches of `kernels/pool.cu`.

use super::geometry::{Axis, Geometry};
use super::span::Span;
use super::{PoolKind, Share};
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT};
use crate::cuda::library::constants::pool::THREADS;
use crate::cuda::library::copy::fill;
use crate::cuda::library::{KernelPlan, launch};
use mg_device::{DType, Error, ErrorKind, Result};

/// Numbers that 32-bit division does not do.
const WIDE: usize = 1 << 31;

pub(super) fn name(kind: PoolKind, dtype: DType) -> String {
    let of = |kind: &str| format!("pool_{kind}_{}", dtype.name());
    match kind {
        PoolKind::Max => of("max"),
        PoolKind::MaxAt => of("at"),
        PoolKind::MaxGrad => of("maxgrad"),
        PoolKind::MaxPick => of("pick"),
        PoolKind::Mean => of("mean"),
        PoolKind::MeanGrad => of("meangrad"),
        PoolKind::Unfold => format!("pool_unfold_b{}", 8 * dtype.size()),
        PoolKind::Fold => of("fold"),
    }
}

pub(super) fn plan(
    kind: PoolKind,
    g: &Geometry,
    dtype: DType,
    operands: usize,
    count: usize,
) -> Result<KernelPlan> {
    const OP: &str = "pool";
    let spread = matches!(kind, PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold);
    if count == 0 {
        return Ok(KernelPlan::default());
    }
    if spread && g.outputs() == 0 {
        return fill(dtype.size(), count, 0);
    }
    let part = match kind {
        PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold => g.inputs(),
        PoolKind::Unfold => g.places() * g.outputs(),
        PoolKind::Max | PoolKind::MaxAt | PoolKind::MaxPick | PoolKind::Mean => g.outputs(),
    };
    let reach = |a: &Axis| a.output * a.stride + a.kernel * a.dilation + a.input + 2 * a.padding;
    let most = g.axes.iter().map(reach).max().unwrap_or(0).max(part);
    if most >= WIDE {
        let text = format!("{most} positions are more than a launch counts: at most 2^31 - 1 are taken");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let wide = count >= WIDE || g.axes.iter().any(|a| a.adaptive && (a.input + 1) * (a.output + 1) >= WIDE);
    if !wide && let Some(span) = Span::of(kind, g, dtype) {
        return span.plan(kind, g, dtype);
    }
    let input = |i: u8| (usize::from(i) < operands).then(|| args::input(i)).flatten();
    let (share, number) = told(g.share);
    // Of a share of an axis it is the least that is certain.
    let elements = |a: &Axis| if a.adaptive { a.input / a.output.max(1) } else { a.kernel };
    let together = kind == PoolKind::Mean && g.axes.iter().map(elements).product::<usize>() >= LARGE;
    let planes = count.div_ceil(part);
    let each = if together { 1 } else { (count / AT_ONCE).clamp(1, PLANES) };
    let groups = planes.div_ceil(each);
    let args = args::pool::Pool {
        out: OUTPUT,
        a: input(0),
        b: input(1),
        c: input(2),
        count: (part * groups) as u64,
        planes: planes as u64,
        inputs: g.inputs() as u64,
        outputs: g.outputs() as u64,
        places: g.places() as u64,
        number,
        part: Divisor::by(part),
        axis: g.axes.each_ref().map(argument),
        share,
        adaptive: g.axes[0].adaptive.into(),
        wide: wide.into(),
        together: together.into(),
        each: each as u32,
    };
    let mut plan = KernelPlan::default();
    let threads = if together { count * 32 } else { part * groups };
    plan.launches.push(launch(OP, &name(kind, dtype), threads.div_ceil(THREADS), &args)?);
    Ok(plan)
}

/// What means are divided by, as kernels are told.
pub(super) fn told(share: Share) -> (u32, i64) {
    match share {
        Share::Places => (0, 1),
        Share::Elements => (1, 1),
        Share::Number(n) => (2, n),
    }
}

pub(super) fn argument(a: &Axis) -> args::pool::Axis {
    args::pool::Axis {
        r#in: Divisor::by(a.input),
        out: Divisor::by(a.output),
        kernel: Divisor::by(a.kernel),
        stride: Divisor::by(a.stride),
        dilation: Divisor::by(a.dilation),
        padding: a.padding as i32,
    }
}

/// Planes of a thread, at most.
const PLANES: usize = 4;
/// Threads that a device runs at once, twice: with fewer a thread has fewer planes.
const AT_ONCE: usize = 1 << 19;
/// Elements of a window from which a warp adds them up.
const LARGE: usize = 64;
