//! Launches of `kernels/conv.cu`: all sizes, all dtypes, every capability.

use super::super::{ConvKind, Geometry};
use super::product;
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::{KernelPlan, Pointer, launch};
use mg_device::{DType, Error, ErrorKind, Result};

/// A block's sums: rows and columns.
const TILE: [usize; 2] = [64, 128];
/// Of few rows.
const FEW: [usize; 2] = [16, 256];
/// The inner axis of a block at a time, at most.
const STEP: usize = 32;
/// Blocks that keep a device busy.
const BUSY: usize = 2 * 132;
/// Steps below which a part of the inner axis is not worth a block of its own.
const SHORTEST: usize = 8;
/// Threads of a block.
const THREADS: usize = 256;

/// The kernel's name, and its tile.
fn kernel(kind: ConvKind, dtype: DType, capability: u32, rows: usize) -> (String, [usize; 2]) {
    let word = match kind {
        ConvKind::Forward => "forward",
        ConvKind::Input => "input",
        ConvKind::Weight => "weight",
    };
    let tensor_cores = capability >= 80 && matches!(dtype, DType::F16 | DType::BF16);
    // Of the others what is gathered is most of the time, and of the gradient by the weight columns are few.
    let few = match (kind, dtype) {
        (ConvKind::Forward | ConvKind::Input, DType::F32) => rows <= FEW[0],
        (ConvKind::Forward, _) => tensor_cores && rows <= FEW[0],
        (ConvKind::Input | ConvKind::Weight, _) => false,
    };
    let tile = if few { FEW } else { TILE };
    let (few, cores) = (if few { "few_" } else { "" }, if tensor_cores { "_mma" } else { "" });
    (format!("conv_{few}{word}_{}{cores}", dtype.name()), tile)
}

pub(super) fn plan(kind: ConvKind, g: &Geometry, dtype: DType, capability: u32) -> Result<KernelPlan> {
    const OP: &str = "conv";
    let [m, n, k] = product(kind, g);
    let count = g.groups * m * n;
    let most = [n, m, g.inputs(), g.outputs(), g.c * g.o * g.depth()].into_iter().max().unwrap_or(0);
    if most >= 1 << 31 || (kind != ConvKind::Weight && k >= 1 << 31) {
        let text = format!("{most} positions are more than a launch counts: at most 2^31 - 1 are taken");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let (kernel, tile) = kernel(kind, dtype, capability, m);
    let tiles = [m.div_ceil(tile[0]), n.div_ceil(tile[1])];
    let blocks = tiles[0] * tiles[1] * g.groups;
    // A weight's gradient has few elements and a long sum for each.
    let splits = match kind {
        ConvKind::Weight => BUSY.div_ceil(blocks).min(k.div_ceil(STEP * SHORTEST)).max(1),
        ConvKind::Forward | ConvKind::Input => 1,
    };
    let chunk = k.div_ceil(splits).next_multiple_of(STEP);
    let splits = k.div_ceil(chunk);
    let sum = if dtype == DType::F64 { 8 } else { 4 };
    let partial = (splits > 1).then_some((Pointer::Workspace, 0));
    let volume = g.kernel.iter().product::<usize>();
    let args = |reads: bool| args::conv::Conv {
        out: OUTPUT,
        x: input(0).filter(|_| reads),
        w: input(1).filter(|_| reads),
        partial,
        batch: g.batch as u32,
        groups: g.groups as u32,
        c: g.c as u32,
        o: g.o as u32,
        depth: g.depth() as u32,
        volume: volume as u32,
        m: m as u32,
        n: n as u32,
        k: k as u64,
        inputs: g.inputs() as u64,
        outputs: g.outputs() as u64,
        splits: splits as u32,
        tiles_m: tiles[0] as u32,
        tiles_n: tiles[1] as u32,
        chunk: chunk as u64,
        r#in: g.input.map(Divisor::by),
        kernel: g.kernel.map(Divisor::by),
        result: g.output.map(Divisor::by),
        stride: g.stride.map(Divisor::by),
        padding: g.padding.map(|n| n as i32),
        dilation: g.dilation.map(|n| n as i32),
    };
    let mut plan = KernelPlan::default();
    plan.launches.push(launch(OP, &kernel, blocks * splits, &args(true))?);
    if splits > 1 {
        plan.workspace = splits * count * sum;
        plan.launches.push(launch(OP, &kernel, count.div_ceil(THREADS), &args(false))?);
    }
    Ok(plan)
}
