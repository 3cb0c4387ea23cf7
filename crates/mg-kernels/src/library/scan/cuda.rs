//! Launches of `kernels/scan.cu`.

use super::{Described, Lines, Scan, ScanKind};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::scan::{EACH, THREADS, WARP, WARPS};
use crate::cuda::library::{Plan, Pointer, launch};
use mg_device::{DType, Error, ErrorKind, Result};

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
    Division { chunk, chunks, blocks: (outer * inner * chunks).div_ceil(THREADS), together: false, lanes: 32 }
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
        args::scan::Scan {
            out: OUTPUT.filter(|_| matches!(pass, Pass::Whole | Pass::Chunks)),
            x: input(0).filter(|_| reads),
            a: input(1).filter(|_| reads && operands.len() > 1),
            totals: matches!(pass, Pass::Totals | Pass::Starts).then_some(states),
            starts: (pass == Pass::Chunks).then_some(states),
            outer: outer as u64,
            length: length as u64,
            inner: inner as u64,
            chunk: chunk as u64,
            chunks: chunks as u64,
            reverse: scan.reverse.into(),
            smallest: (scan.kind == ScanKind::ArgMin).into(),
            together: together.into(),
            vector: vector.into(),
            lanes: lanes as u32,
        }
    };
    let op = "scan";
    let mut plan = Plan::default();
    if chunks == 1 {
        plan.launches.push(launch(op, &kernel, blocks, &args(Pass::Whole))?);
        return Ok(plan);
    }
    plan.workspace = outer * inner * chunks * state_bytes(scan.kind, x.dtype);
    plan.launches.push(launch(op, &kernel, blocks, &args(Pass::Totals))?);
    plan.launches.push(launch(op, &row_name, outer * inner, &args(Pass::Starts))?);
    plan.launches.push(launch(op, &kernel, blocks, &args(Pass::Chunks))?);
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::library::Prebuilt;

    #[test]
    fn what_is_carried_has_the_size_that_kernels_give_it() {
        let kinds = [ScanKind::Sum, ScanKind::Prod, ScanKind::LogSumExp, ScanKind::ArgMax, ScanKind::Linear];
        let mut seen = 0;
        for dtype in DType::ALL {
            for kind in kinds {
                let scan = Scan { kind, axis: 0, reverse: false };
                let Some(kernel) = Prebuilt::find(&name(&scan, dtype, true)) else { continue };
                // A state for each warp of a block.
                let shared: Vec<usize> = kernel
                    .ptx()
                    .lines()
                    .filter(|line| line.starts_with(".shared ") && line.contains("sums["))
                    .filter_map(|line| line.rsplit_once('[')?.1.trim_end_matches("];").parse().ok())
                    .collect();
                assert!(!shared.is_empty(), "{}", kernel.name);
                assert!(
                    shared.iter().all(|&n| n == WARPS * state_bytes(kind, dtype)),
                    "{}: {shared:?}",
                    kernel.name
                );
                seen += 1;
            }
        }
        assert!(seen >= 20, "{seen} kernels");
    }
}
