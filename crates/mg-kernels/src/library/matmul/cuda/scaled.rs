//! Products of floats of eight bits: launches of `kernels/scaled_wgmma.cu`.

use super::tiles::Kind;
use super::{Problem, arguments};
use crate::cuda::library::args::{self, input};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, find, many};
use crate::frame::internal;
use crate::library::{Described, Scaled, Shaped, Target};
use mg_device::cuda::{Elements, Moved};
use mg_device::{DType, Layout, Result};
use smallvec::{SmallVec, smallvec};

pub(crate) fn plan(
    scaled: &Scaled,
    operands: &[Described],
    result: &Shaped,
    target: Target,
) -> Result<KernelPlan> {
    let mut plan = launched(scaled, operands, target)?;
    if target.align < 16 {
        plan = stored_apart(plan, result, target.align)?;
    }
    // The copy engine reads lines of 16 bytes, threads as much of scales and bias.
    if operands.iter().any(|x| x.align < 16 && x.layout.rank() > 0) {
        let copied: SmallVec<[_; 5]> =
            operands.iter().map(|x| (x.dtype.size(), &x.layout, x.align)).collect();
        plan = many::of_dense(&copied, plan)?;
    }
    Ok(plan)
}

/// The product of operands that are aligned.
fn launched(scaled: &Scaled, operands: &[Described], target: Target) -> Result<KernelPlan> {
    let [a, b, scale, _, bias @ ..] = operands else {
        return Err(internal("a scaled product without operands"));
    };
    let problem = Problem::new(a.dtype, &a.layout, &b.layout.transpose(0, 1)?)?;
    let (timed, [m, n, k]) = (target.tiles.first(Kind::Scaled)?, problem.sizes());
    let (tile, division) = (timed.tile, timed.divide(1, m, n, k));
    let p = arguments(&problem, tile, division)?;
    let (tiles, shared) = ((p.tiles_m * p.tiles_n) as usize * division.splits, division.splits > 1);
    let operand = |rows: usize, tile_rows: usize| {
        Moved::boxes(Elements::U8, [k, rows, 1], &[k, 16], [tile.k, tile_rows, 1])
    };
    let (size, is_short) = (scaled.result.size(), scaled.result == DType::BF16);
    let stored = if is_short { Elements::BF16 } else { Elements::F32 };
    let out = Moved::boxes(stored, [n, m, 1], &[n * size, 16], [128 / size, 16, 1]);
    let args = args::scaled_wgmma::Scaled {
        p,
        scale_a: input(2),
        scale_b: input(3),
        bias: if bias.is_empty() { None } else { input(4) },
        by_rows: (scale.layout.rank() > 0).into(),
        is_short: is_short.into(),
        wide: (a.dtype == DType::F8E5M2).into(),
        fast: scaled.fast.into(),
        a: Some(((Pointer::Input(0), 0), operand(m, tile.m))),
        b: Some(((Pointer::Input(1), 0), operand(n, tile.n))),
        out: Some(((Pointer::Output(0), 0), out)),
    };
    let multiprocessors = timed.multiprocessors;
    let blocks = if division.uneven { multiprocessors } else { tiles.min(multiprocessors) };
    let kernel = find("scaled_mm", "matmul_scaled_w128x256")?;
    let mut launch = KernelLaunch::of("scaled_mm", kernel, blocks, &args)?;
    launch.shared = tile.shared;
    let workspace = if shared { tiles * tile.m * tile.n * 4 } else { 0 };
    Ok(KernelPlan { launches: smallvec![launch], workspace, ..KernelPlan::default() })
}

/// The plan with its result in the workspace, from where it is copied to an address that the copy engine does not take.
fn stored_apart(plan: KernelPlan, result: &Shaped, align: usize) -> Result<KernelPlan> {
    let dense = Layout::contiguous(result.shape);
    let at = plan.workspace.next_multiple_of(256);
    let mut launches: smallvec::SmallVec<_> = plan
        .launches
        .into_iter()
        .map(|launch| {
            launch.moved(|pointer| match pointer {
                Pointer::Output(_) => (Pointer::Workspace, at as u64),
                Pointer::Input(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
            })
        })
        .collect();
    let copy = copy::plan(result.dtype.size(), &dense, &dense, align)?;
    launches.extend(copy.launches.into_iter().map(|launch| {
        launch.moved(|pointer| match pointer {
            Pointer::Input(_) => (Pointer::Workspace, at as u64),
            Pointer::Output(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
        })
    }));
    let workspace = at + result.shape.numel() * result.dtype.size();
    Ok(KernelPlan { launches, workspace, ..plan })
}
