//! Products of floats of eight bits: launches of `kernels/scaled_wgmma.cu`.

use super::tiles::{MULTIPROCESSORS, SCALED, SCALED_FAST, Tile};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::scaled_wgmma::{OF_BF16, OF_F16, OF_F32};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, find, many};
use crate::frame::internal;
use crate::library::{Described, Scaled, Shaped, Target};
use mg_device::cuda::{Elements, Moved};
use mg_device::{DType, Layout, Result};
use smallvec::smallvec;

pub(crate) fn plan(
    scaled: &Scaled,
    operands: &[Described],
    result: &Shaped,
    target: Target,
) -> Result<KernelPlan> {
    let [a, b, scale, ..] = operands else { return Err(internal("a scaled product without operands")) };
    let (&[m, k], &[n, _]) = (a.layout.shape().dims(), b.layout.shape().dims()) else {
        return Err(internal("a scaled product of what is no matrix"));
    };
    let capability = (target.capability / 10, target.capability % 10);
    if !scaled.is_taken([a.dtype, b.dtype], [m, n, k], capability) {
        return Err(internal("a scaled product without a kernel"));
    }
    let by_rows = scale.layout.rank() > 0;
    let mut plan = launched(scaled, [a.dtype, b.dtype], [m, n, k], by_rows, operands.len() > 4)?;
    if target.align < 16 {
        plan = stored_apart(plan, result, target.align)?;
    }
    // The copy engine reads lines of 16 bytes, threads scales and bias two by two.
    if operands[..2].iter().any(|x| x.align < 16) || operands[2..].iter().any(|x| x.align < 8) {
        let copied: Vec<_> = operands.iter().map(|x| (x.dtype.size(), &x.layout, x.align)).collect();
        plan = many::of_dense(&copied, plan)?;
    }
    Ok(plan)
}

/// The product of operands that are aligned.
fn launched(
    scaled: &Scaled,
    dtypes: [DType; 2],
    [m, n, k]: [usize; 3],
    by_rows: bool,
    has_bias: bool,
) -> Result<KernelPlan> {
    let fast = scaled.fast && dtypes == [DType::F8E4M3; 2];
    let tiles = SCALED.iter().chain(if fast { SCALED_FAST } else { &[] });
    let divided = tiles.map(|tile| (tile, tile.divide(1, m, n, k)));
    let Some((tile, division)) = divided.min_by(|(_, a), (_, b)| a.time.total_cmp(&b.time)) else {
        return Err(internal("no tiles of scaled products"));
    };
    let (tiles_m, tiles_n) = (m.div_ceil(tile.m), n.div_ceil(tile.n));
    let (splits, shared) = (division.splits, division.splits > 1);
    let blocks = if division.uneven { MULTIPROCESSORS } else { tiles_m * tiles_n * splits };
    let (result, stored) = match scaled.result {
        DType::F16 => (OF_F16, Elements::F16),
        DType::BF16 => (OF_BF16, Elements::BF16),
        _ => (OF_F32, Elements::F32),
    };
    let p = args::matmul::MatMul {
        a: input(0),
        b: input(1),
        out: OUTPUT,
        partials: shared.then_some((Pointer::Workspace, 0)),
        tickets: shared.then_some((Pointer::Tickets, 0)),
        a_row: k as i64,
        a_k: 1,
        b_k: 1,
        b_col: k as i64,
        a_batch: Default::default(),
        b_batch: Default::default(),
        batch_shape: [1; 6],
        batch_rank: 0,
        m: m as u32,
        n: n as u32,
        k: k as u32,
        tiles_m: tiles_m as u32,
        tiles_n: tiles_n as u32,
        splits: splits as u32,
        k_part: division.k_part as u32,
        flags: 0,
        uneven: division.uneven.into(),
    };
    let operand = |rows: usize, tile_rows: usize| {
        Moved::boxes(Elements::U8, [k, rows, 1], &[k, 16], [tile.k, tile_rows, 1])
    };
    let size = scaled.result.size();
    let out = Moved::boxes(stored, [n, m, 1], &[n * size, 16], [128 / size, 16, 1]);
    let args = args::scaled_wgmma::Scaled {
        p,
        scale_a: input(2),
        scale_b: input(3),
        bias: if has_bias { input(4) } else { None },
        by_rows: by_rows.into(),
        result: result as u32,
        a: Some(((Pointer::Input(0), 0), operand(m, tile.m))),
        b: Some(((Pointer::Input(1), 0), operand(n, tile.n))),
        out: Some(((Pointer::Output(0), 0), out)),
    };
    let name = kernel_name(dtypes, tile);
    let mut launch =
        KernelLaunch::of("scaled_mm", find("scaled_mm", &name)?, blocks.min(MULTIPROCESSORS), &args)?;
    launch.shared = tile.shared;
    let workspace = if shared { tiles_m * tiles_n * splits * tile.m * tile.n * 4 } else { 0 };
    Ok(KernelPlan { launches: smallvec![launch], workspace, matrix: [m, n], ..KernelPlan::default() })
}

fn kernel_name(dtypes: [DType; 2], tile: &Tile) -> String {
    let a = if dtypes[0] == DType::F8E5M2 { "e5m2" } else { "e4m3" };
    format!("scaled_{a}_e4m3_{}", tile.name)
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
