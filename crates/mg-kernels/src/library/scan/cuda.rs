//! Launches of `kernels/scan.cu`.

use super::{Described, Lines, Scan, ScanKind};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::scan::{EACH, THREADS, WARP, WARPS};
use crate::cuda::library::{KernelPlan, Pointer, Prebuilt, find, launch};
use crate::library::Kernel;
use mg_device::{DType, Error, ErrorKind, Float, Result};

/// Blocks that keep a device busy.
const BUSY: usize = 1 << 10;
/// Blocks that empty a board, at the most.
const CLEARING: usize = 1 << 10;

/// Bytes of what is carried from chunk to chunk: `State` of `scan.cu`.
fn state_bytes(kind: ScanKind, dtype: DType) -> usize {
    let narrow = match dtype.float() {
        Some(Float::F16 | Float::BF16) => true,
        // Exponentials in f64 would take longer than the memory does.
        Some(Float::F32) => kind == ScanKind::LogSumExp,
        Some(Float::F64) | None => false,
    };
    let wide = if narrow { 4 } else { 8 };
    match kind {
        ScanKind::Sum | ScanKind::Prod => wide,
        ScanKind::LogSumExp | ScanKind::Linear => 2 * wide,
        // A key as wide as the element, of 32 bits at least, and a step of 32.
        ScanKind::ArgMax | ScanKind::ArgMin | ScanKind::Max | ScanKind::Min => match dtype.size() {
            8 => 16,
            _ => 8,
        },
    }
}

fn name(scan: &Scan, dtype: DType, rows: bool) -> String {
    let kind = match scan.kind {
        ScanKind::Sum => "sum",
        ScanKind::Prod => "prod",
        ScanKind::LogSumExp => "logsum",
        ScanKind::ArgMax | ScanKind::ArgMin | ScanKind::Max | ScanKind::Min => "extreme",
        ScanKind::Linear => "linear",
    };
    let dtype = if dtype == DType::Bool { "u8" } else { dtype.name() };
    format!("scan_{}_{kind}_{dtype}", if rows { "rows" } else { "columns" })
}

/// How lines are divided.
#[derive(Clone, Copy, Debug)]
struct Division {
    /// Elements of a chunk.
    chunk: usize,
    /// Chunks of a line.
    chunks: usize,
    /// Blocks of a launch over all chunks.
    blocks: usize,
    /// Whether the warps of a block share a chunk.
    together: bool,
    /// Lanes of a warp that share a line; of lines beside each other, those that a block has.
    lanes: usize,
    /// Chunks of a group, groups of a group of groups, and so on.
    group: usize,
}

impl Division {
    /// `kernel` is what runs.
    fn of(lines: &Lines, kernel: &Prebuilt) -> Result<Division> {
        let Lines { outer, length, inner } = *lines;
        let known = |name: &str| {
            kernel
                .constant(name)
                .ok_or_else(|| Error::new("scan", ErrorKind::Internal(format!("{}: no {name}", kernel.name))))
        };
        let group = known("GROUP")?;
        if inner == 1 {
            let together = length > WARP;
            let chunk = if together { WARP * WARPS } else { WARP };
            let chunks = length.div_ceil(chunk);
            let lanes = length.div_ceil(EACH).next_power_of_two().min(32);
            let blocks = if together { outer * chunks } else { outer.div_ceil(WARPS * 32 / lanes) };
            return Ok(Division { chunk, chunks, blocks, together, lanes, group });
        }
        let lanes = inner.next_power_of_two().min(32);
        let beside = outer * inner.div_ceil(lanes);
        // What a block's threads hold of a line. A block goes along whole lines where there are enough of them.
        let held = THREADS / lanes * known("DEEP")?;
        let chunk = if beside >= BUSY { length } else { held.min(length) };
        let chunks = length.div_ceil(chunk);
        Ok(Division { chunk, chunks, blocks: beside * chunks, together: false, lanes, group })
    }

    /// The kinds of groups until one has all of a line, and the sums of chunks and whole groups that a line has.
    fn told(&self) -> (usize, usize) {
        let (mut levels, mut told, mut count, mut last) = (0, 0, self.chunks, self.chunks - 1);
        loop {
            levels += 1;
            told += count;
            count /= self.group;
            last /= self.group;
            if last == 0 {
                return (levels, told);
            }
        }
    }
}

pub(super) fn plan(scan: &Scan, operands: &[Described], align: usize) -> Result<KernelPlan> {
    let Some(x) = operands.first() else {
        return Err(Error::new("scan", ErrorKind::Internal("no operand".into())));
    };
    let lines = scan.lines(x.layout.shape());
    let Lines { outer, length, inner } = lines;
    if outer * length * inner == 0 {
        return Ok(KernelPlan::default());
    }
    let op = "scan";
    let told_by_place = matches!(scan.kind.indices(), ScanKind::ArgMax | ScanKind::ArgMin);
    if told_by_place && length >= u32::MAX as usize {
        let text = format!("takes lines of less than {} elements on CUDA, got {length}", u32::MAX);
        return Err(Error::new(scan.name(), ErrorKind::Shape(text)));
    }
    let kernel = name(scan, x.dtype, inner == 1);
    let division = Division::of(&lines, find(op, &kernel)?)?;
    let (levels, told) = division.told();
    let Division { chunk, chunks, blocks, together, lanes, .. } = division;
    let pack = |size: usize| (EACH * size).min(16);
    let out = match scan.kind {
        ScanKind::ArgMax | ScanKind::ArgMin => DType::I64.size(),
        ScanKind::Sum
        | ScanKind::Prod
        | ScanKind::LogSumExp
        | ScanKind::Max
        | ScanKind::Min
        | ScanKind::Linear => x.dtype.size(),
    };
    let aligned = operands.iter().all(|o| o.align.is_multiple_of(pack(x.dtype.size())))
        && align.is_multiple_of(pack(out));
    let vector = aligned && length.is_multiple_of(EACH);
    // Each four bytes of a state are half of a word.
    let words = match chunks {
        1 => 0,
        _ => outer * inner * told * (state_bytes(scan.kind, x.dtype) / 4),
    };
    let board = (words > 0).then_some((Pointer::Workspace, 0));
    let args = |x, a| args::scan::Scan {
        out: OUTPUT,
        x,
        a,
        board,
        words: words as u64,
        outer: outer as u64,
        length: length as u64,
        inner: inner as u64,
        chunk: chunk as u64,
        chunks: chunks as u64,
        told: told as u64,
        levels: levels as u32,
        reverse: scan.reverse.into(),
        smallest: (scan.kind.indices() == ScanKind::ArgMin).into(),
        values: matches!(scan.kind, ScanKind::Max | ScanKind::Min).into(),
        together: together.into(),
        vector: vector.into(),
        lanes: lanes as u32,
    };
    let mut plan = KernelPlan { workspace: words * 8, ..KernelPlan::default() };
    if words > 0 {
        let clearing = words.div_ceil(THREADS).min(CLEARING);
        plan.launches.push(launch(op, &kernel, clearing, &args(None, None))?);
    }
    let factors = input(1).filter(|_| operands.len() > 1);
    plan.launches.push(launch(op, &kernel, blocks, &args(input(0), factors))?);
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of a line as `scan.cu` finds them: by level, where they begin and how many there are.
    fn levels(division: &Division) -> Vec<(usize, usize)> {
        let (mut begin, mut count) = (0, division.chunks);
        (0..division.told().0)
            .map(|_| {
                let level = (begin, count);
                begin += count;
                count /= division.group;
                level
            })
            .collect()
    }

    #[test]
    fn what_stands_before_a_chunk_is_told_once_by_chunks_before_it() {
        for group in [8, 32] {
            for chunks in [1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 1023, 1024, 1025, 5000, 33_000] {
                let division =
                    Division { chunk: 1, chunks, blocks: chunks, together: true, lanes: 32, group };
                let levels = levels(&division);
                assert!(levels.last().is_some_and(|(begin, count)| begin + count == division.told().1));
                for chunk in (0..chunks).rev().take(2000).chain(0..chunks.min(2000)) {
                    // From the largest groups to the chunk's own.
                    let mut known = 0;
                    for (level, (_, count)) in levels.iter().enumerate().rev() {
                        let size = group.pow(level as u32);
                        let at = chunk / size;
                        for one in at - at % group..at {
                            assert!(one < *count, "{chunks} {chunk} {level}");
                            assert_eq!(one * size, known, "{chunks} {chunk} {level}");
                            known += size;
                        }
                    }
                    assert_eq!(known, chunk, "{chunks}");
                }
            }
        }
    }

    #[test]
    fn chunks_cover_lines_and_boards_have_their_sums() {
        let shapes: [&[usize]; 9] = [
            &[1],
            &[8192],
            &[8193],
            &[1 << 26],
            &[3, 70_001],
            &[8192, 8192],
            &[5, 3],
            &[1 << 20, 7],
            &[2, 300, 33],
        ];
        for shape in shapes {
            for axis in 0..shape.len() {
                for dtype in [DType::F32, DType::F16, DType::F64, DType::I64] {
                    let scan = Scan { kind: ScanKind::Sum, axis: axis as u8, reverse: false };
                    let lines = scan.lines(&mg_device::Shape::of(shape));
                    let kernel = Prebuilt::find(&name(&scan, dtype, lines.inner == 1)).unwrap();
                    let division = Division::of(&lines, kernel).unwrap();
                    let Division { chunk, chunks, blocks, lanes, .. } = division;
                    assert!(
                        chunk * chunks >= lines.length && chunk * (chunks - 1) < lines.length,
                        "{shape:?}"
                    );
                    if lines.inner > 1 {
                        assert_eq!(blocks, lines.outer * lines.inner.div_ceil(lanes) * chunks);
                        // A chunk whose sum others wait for is in registers.
                        let held = THREADS / lanes * kernel.constant("DEEP").unwrap();
                        assert!(chunks == 1 || chunk <= held);
                        // Each of the preceding of a group is another part's.
                        assert!(THREADS / lanes >= division.group);
                    }
                }
            }
        }
    }

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
