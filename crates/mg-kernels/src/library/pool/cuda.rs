//! Launches of `kernels/pool.cu`.

use super::geometry::Geometry;
use super::{PoolKind, Share};
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT};
use crate::cuda::library::constants::pool::THREADS;
use crate::cuda::library::copy::fill;
use crate::cuda::library::{Plan, launch};
use mg_device::{DType, Error, ErrorKind, Result};

/// Numbers that 32-bit division does not do.
const WIDE: usize = 1 << 31;

fn name(kind: PoolKind, dtype: DType) -> String {
    let of = |kind: &str| {
        let dtype = if dtype == DType::Bool { "u8" } else { dtype.name() };
        format!("pool_{kind}_{dtype}")
    };
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
) -> Result<Plan> {
    const OP: &str = "pool";
    let spread = matches!(kind, PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold);
    if count == 0 {
        return Ok(Plan::default());
    }
    if spread && g.outputs() == 0 {
        return fill(dtype.size(), count, 0);
    }
    let part = match kind {
        PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold => g.inputs(),
        PoolKind::Unfold => g.places() * g.outputs(),
        PoolKind::Max | PoolKind::MaxAt | PoolKind::MaxPick | PoolKind::Mean => g.outputs(),
    };
    let reach =
        |a: &super::geometry::Axis| a.output * a.stride + a.kernel * a.dilation + a.input + 2 * a.padding;
    let most = g.axes.iter().map(reach).max().unwrap_or(0).max(part);
    if most >= WIDE {
        let text = format!("{most} positions are more than a launch counts: at most 2^31 - 1 are taken");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let wide = count >= WIDE || g.axes.iter().any(|a| a.adaptive && (a.input + 1) * (a.output + 1) >= WIDE);
    let input = |i: u8| (usize::from(i) < operands).then(|| args::input(i)).flatten();
    let (share, number) = match g.share {
        Share::Places => (0, 1),
        Share::Elements => (1, 1),
        Share::Number(n) => (2, n),
    };
    let axis = |a: &super::geometry::Axis| args::pool::Axis {
        r#in: Divisor::by(a.input),
        out: Divisor::by(a.output),
        kernel: Divisor::by(a.kernel),
        stride: Divisor::by(a.stride),
        dilation: Divisor::by(a.dilation),
        padding: a.padding as i32,
    };
    let args = args::pool::Pool {
        out: OUTPUT,
        a: input(0),
        b: input(1),
        c: input(2),
        count: count as u64,
        inputs: g.inputs() as u64,
        outputs: g.outputs() as u64,
        places: g.places() as u64,
        number,
        part: Divisor::by(part),
        axis: g.axes.each_ref().map(axis),
        share,
        adaptive: g.axes[0].adaptive.into(),
        wide: wide.into(),
    };
    let mut plan = Plan::default();
    plan.launches.push(launch(OP, &name(kind, dtype), count.div_ceil(THREADS), &args)?);
    Ok(plan)
}
