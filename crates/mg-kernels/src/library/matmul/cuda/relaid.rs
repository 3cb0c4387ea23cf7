//! Operands that are copied before a product, so that a faster kernel takes them: lines moved apart until they are aligned,
//! or turned until neighbours lie along k.

use super::{Lines, Merged, Precision, Problem, choose, plan_by};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy};
use mg_device::{DType, Layout, Result, Shape};
use smallvec::SmallVec;

/// No more than this is copied: it takes as much memory again.
const MOST: usize = 512 << 20;
/// A copied product has to be this much faster, by the table.
const WORTH: f64 = 0.85;
/// Measured: microseconds of a copy's launch, and for a byte that is read and written, where lines are aligned and where
/// they are not.
const LAUNCH: f64 = 2.5;
const BYTE: f64 = 1.0 / 3.0e6;
const BYTE_UNALIGNED: f64 = 1.0 / 1.5e6;

/// An operand's copy.
struct Copied {
    from: Layout,
    to: Layout,
    /// Of the copy, a multiple of 256.
    bytes: usize,
    time: f64,
}

/// The copies and the product, where that is faster than the product of the operands as they lie.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let tensor_cores = matches!(problem.dtype, DType::F32 | DType::F16 | DType::BF16);
    let Merged { m, n, k, ref batch, .. } = problem.merged;
    let sizes = [m, n, k, batch.numel()];
    if !tensor_cores || problem.capability < 80 || sizes.iter().any(|&n| n == 0 || i32::try_from(n).is_err())
    {
        return Ok(None);
    }
    let Some((relaid, copies)) = relaid(problem) else { return Ok(None) };
    let time = |problem: &Problem| Ok(choose(problem, |_| true, None)?.map_or(f64::INFINITY, |c| c.2.time));
    let copying: f64 = copies.iter().flatten().map(|copied| copied.time).sum();
    if time(&relaid)? + copying >= time(problem)? * WORTH {
        return Ok(None);
    }
    let Some(mut product) = plan_by(&relaid, |_| true, None)? else { return Ok(None) };
    let mut launches: SmallVec<[KernelLaunch; 2]> = SmallVec::new();
    let mut places = [None; 2];
    let mut at = 0;
    for (i, copied) in copies.iter().enumerate() {
        let Some(copied) = copied else { continue };
        let moved = |pointer| match pointer {
            Pointer::Input(_) => (Pointer::Input(i as u8), 0),
            _ => (Pointer::Workspace, at as u64),
        };
        let plan = copy::plan(problem.dtype.size(), &copied.from, &copied.to, problem.align[i].min(16))?;
        launches.extend(plan.launches.into_iter().map(|launch| launch.moved(moved)));
        places[i] = Some(at as u64);
        at += copied.bytes;
    }
    let moved = |pointer| match pointer {
        Pointer::Input(i) => match places.get(usize::from(i)).copied().flatten() {
            Some(place) => (Pointer::Workspace, place),
            None => (pointer, 0),
        },
        Pointer::Workspace => (pointer, at as u64),
        Pointer::Output(_) | Pointer::Tickets | Pointer::Fault => (pointer, 0),
    };
    launches.extend(product.launches.drain(..).map(|launch| launch.moved(moved)));
    Ok(Some(KernelPlan { launches, workspace: at + product.workspace, ..KernelPlan::default() }))
}

/// The product of operands as they would better lie. `None` where they lie so, or cannot be copied.
fn relaid(problem: &Problem) -> Option<(Problem, [Option<Copied>; 2])> {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    if batch.rank() > 1 {
        return None;
    }
    let count = batch.numel();
    let turned =
        problem.dtype == DType::F32 && problem.precision == Precision::High && problem.capability == 90;
    let [lines_a, lines_b] = problem.lines();
    let one = |lines: Option<Lines>, rows: usize, [row, along_k]: [isize; 2], across: isize| {
        let wanted = match lines {
            _ if turned => Lines::K,
            Some(lines) => lines,
            None if row == 1 && along_k != 1 => Lines::Mn,
            None => Lines::K,
        };
        if lines == Some(wanted) {
            return Some(None);
        }
        let size = problem.dtype.size();
        let batches = if across == 0 { 1 } else { count };
        let (length, lines_of) = if wanted == Lines::K { (*k, rows) } else { (rows, *k) };
        let line = length.checked_next_multiple_of(16 / size)?;
        let elements = line.checked_mul(lines_of)?.checked_mul(batches)?;
        let bytes = elements.checked_mul(size)?.checked_next_multiple_of(256).filter(|&n| n <= MOST)?;
        let shape = Shape::new(&[batches, rows, *k]).ok()?;
        let from = Layout::new(shape, &[across, row, along_k], 0).ok()?;
        let (line, all) = (line as isize, (line * lines_of) as isize);
        let strides = if wanted == Lines::K { [all, line, 1] } else { [all, 1, line] };
        let to = Layout::new(shape, &strides, 0).ok()?;
        let byte = if lines.is_some() { BYTE } else { BYTE_UNALIGNED };
        Some(Some(Copied { from, to, bytes, time: LAUNCH + byte * (2 * bytes) as f64 }))
    };
    let a = one(lines_a, *m, *a_strides, a_batch[0])?;
    let b = one(lines_b, *n, [b_strides[1], b_strides[0]], b_batch[0])?;
    if a.is_none() && b.is_none() {
        return None;
    }
    let mut relaid = problem.clone();
    let across = |strides: &[isize], before: isize| if before == 0 { 0 } else { strides[0] };
    if let Some(copied) = &a {
        let strides = copied.to.strides();
        relaid.merged.a_strides = [strides[1], strides[2]];
        relaid.merged.a_batch[0] = across(strides, a_batch[0]);
        relaid.align[0] = 16;
    }
    if let Some(copied) = &b {
        let strides = copied.to.strides();
        relaid.merged.b_strides = [strides[2], strides[1]];
        relaid.merged.b_batch[0] = across(strides, b_batch[0]);
        relaid.align[1] = 16;
    }
    Some((relaid, [a, b]))
}
