//! Launches of `kernels/scan.cu`.

use super::{Described, Lines, Scan, ScanKind};
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::launch;
use crate::cuda::library::{Plan, Pointer};
use mg_device::{DType, Error, ErrorKind, Result};

/// Elements of a line that a lane has side by side, in `scan.cu`.
const EACH: usize = 8;
/// Elements of a line that a warp has: 32 lanes, 4 times.
const WARP: usize = 32 * EACH * 4;
/// Warps of a block.
const WARPS: usize = 8;
/// Threads that keep a device busy.
const BUSY: usize = 1 << 18;
/// The least that is worth a chunk of its own, where lines lie beside each other.
const SHORTEST: usize = 64;

/// Bytes of what is carried from chunk to chunk: `State` of `scan.cu`.
fn state_bytes(kind: ScanKind, dtype: DType) -> usize {
    let narrow = match dtype {
        DType::F16 | DType::BF16 => true,
        // Exponentials in f64 would take longer than the memory does.
        DType::F32 => kind == ScanKind::LogSumExp,
        DType::F64
        | DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool => false,
    };
    let wide = if narrow { 4 } else { 8 };
    match kind {
        ScanKind::Sum | ScanKind::Prod => wide,
        ScanKind::LogSumExp | ScanKind::Linear => 2 * wide,
        // The element, and its index.
        ScanKind::ArgMax | ScanKind::ArgMin => 16,
    }
}

fn name(scan: &Scan, dtype: DType, rows: bool) -> String {
    let kind = match scan.kind {
        ScanKind::Sum => "sum",
        ScanKind::Prod => "prod",
        ScanKind::LogSumExp => "logsum",
        ScanKind::ArgMax | ScanKind::ArgMin => "extreme",
        ScanKind::Linear => "linear",
    };
    let dtype = if dtype == DType::Bool { "u8" } else { dtype.name() };
    format!("scan_{}_{kind}_{dtype}", if rows { "rows" } else { "columns" })
}

/// What a launch does.
#[derive(Clone, Copy, PartialEq)]
enum Pass {
    /// Whole lines.
    Whole,
    /// What each chunk comes to.
    Totals,
    /// What stands before each chunk, made of that.
    Starts,
    /// The chunks, from there.
    Chunks,
}

/// How lines are divided.
struct Division {
    /// Elements of a chunk.
    chunk: usize,
    /// Chunks of a line.
    chunks: usize,
    /// Blocks of a launch over all chunks.
    blocks: usize,
    /// Whether the warps of a block share a chunk.
    together: bool,
    /// Lanes of a warp that share a line.
    lanes: usize,
}

fn divide(lines: &Lines) -> Division {
    let Lines { outer, length, inner } = *lines;
    if inner == 1 {
        let together = length > WARP;
        let chunk = if together { WARP * WARPS } else { WARP };
        let chunks = length.div_ceil(chunk);
        let lanes = length.div_ceil(EACH).next_power_of_two().min(32);
        let blocks = if together { outer * chunks } else { outer.div_ceil(WARPS * 32 / lanes) };
        return Division { chunk, chunks, blocks, together, lanes };
    }
    let wanted = BUSY.div_ceil(outer * inner).min(length.div_ceil(SHORTEST)).max(1);
    let chunk = length.div_ceil(wanted);
    let chunks = length.div_ceil(chunk);
    Division { chunk, chunks, blocks: (outer * inner * chunks).div_ceil(256), together: false, lanes: 32 }
}

pub(super) fn plan(scan: &Scan, operands: &[Described], align: usize) -> Result<Plan> {
    let Some(x) = operands.first() else {
        return Err(Error::new("scan", ErrorKind::Internal("no operand".into())));
    };
    let lines = scan.lines(x.layout.shape());
    let Lines { outer, length, inner } = lines;
    if outer * length * inner == 0 {
        return Ok(Plan::default());
    }
    let Division { chunk, chunks, blocks, together, lanes } = divide(&lines);
    let pack = |size: usize| (EACH * size).min(16);
    let out = match scan.kind {
        ScanKind::ArgMax | ScanKind::ArgMin => DType::I64.size(),
        ScanKind::Sum | ScanKind::Prod | ScanKind::LogSumExp | ScanKind::Linear => x.dtype.size(),
    };
    let aligned = operands.iter().all(|o| o.align.is_multiple_of(pack(x.dtype.size())))
        && align.is_multiple_of(pack(out));
    let vector = aligned && length.is_multiple_of(EACH);
    let row_name = name(scan, x.dtype, true);
    let kernel = if inner == 1 { row_name.clone() } else { name(scan, x.dtype, false) };
    let states = (Pointer::Workspace, 0);
    let args = |pass: Pass| {
        let reads = pass != Pass::Starts;
        let mut args = Args::default();
        args.pointer(matches!(pass, Pass::Whole | Pass::Chunks).then_some((Pointer::Output(0), 0)))
            .pointer(reads.then_some((Pointer::Input(0), 0)))
            .pointer((reads && operands.len() > 1).then_some((Pointer::Input(1), 0)))
            .pointer(matches!(pass, Pass::Totals | Pass::Starts).then_some(states))
            .pointer((pass == Pass::Chunks).then_some(states))
            .u64(outer as u64)
            .u64(length as u64)
            .u64(inner as u64)
            .u64(chunk as u64)
            .u64(chunks as u64)
            .u32(scan.reverse.into())
            .u32((scan.kind == ScanKind::ArgMin).into())
            .u32(together.into())
            .u32(vector.into())
            .u32(lanes as u32)
            .u32(0);
        args
    };
    let op = "scan";
    let mut plan = Plan::default();
    if chunks == 1 {
        plan.launches.push(launch(op, &kernel, blocks, args(Pass::Whole))?);
        return Ok(plan);
    }
    plan.workspace = outer * inner * chunks * state_bytes(scan.kind, x.dtype);
    plan.launches.push(launch(op, &kernel, blocks, args(Pass::Totals))?);
    plan.launches.push(launch(op, &row_name, outer * inner, args(Pass::Starts))?);
    plan.launches.push(launch(op, &kernel, blocks, args(Pass::Chunks))?);
    Ok(plan)
}
