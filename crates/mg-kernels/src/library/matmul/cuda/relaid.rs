//! Operands that are copied before a product, so that a faster kernel takes them: lines moved apart until they are aligned,
//! or turned until neighbours lie along the other axis.

use super::{Lines, Merged, Precision, Problem, choose, plan_by};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy};
use mg_device::{DType, Layout, Result, Shape};
use smallvec::SmallVec;

/// A copy is no larger than this, since it is memory besides. Of a first operand that is, bands of rows are copied and multiplied one after
/// the other.
const MOST: usize = 512 << 20;
/// Bytes from which lines of a copy are lengthened to multiples of 128.
const WHOLE: usize = 512;
/// Rows of a band are a multiple of this: of every tile's.
const BAND: usize = 256;
/// How many more bands than the fewest are tried: blocks of the last round may be few.
const MORE_BANDS: usize = 6;
/// A copied product has to be this much faster, by the table.
const WORTH: f64 = 0.85;
/// Measured: microseconds of a copy's launch, and for a byte that is read and written, where lines are aligned or are moved apart, and where they are turned that
/// are not aligned.
const LAUNCH: f64 = 2.5;
const BYTE: f64 = 1.0 / 3.0e6;
const BYTE_UNALIGNED: f64 = 1.0 / 1.5e6;

/// An operand's copy.
struct Copied {
    from: Layout,
    to: Layout,
    /// Of the copy, a multiple of 256.
    bytes: usize,
    /// Lines that are moved apart: how many, their length, and elements from one to the next, before and after.
    apart: Option<([usize; 2], [isize; 2])>,
    time: f64,
}

impl Copied {
    /// A copy of so many rows (of the second operand: columns), `[batch, rows, k]`, in lines of this kind. `None` where it is too large.
    fn new(problem: &Problem, operand: usize, rows: usize, wanted: Lines) -> Option<Copied> {
        let Merged { batch, k, .. } = &problem.merged;
        let ([row, along_k], across) = strides(problem, operand);
        let size = problem.dtype.size();
        let batches = if across == 0 { 1 } else { batch.numel() };
        let (length, lines_of) = if wanted == Lines::K { (*k, rows) } else { (rows, *k) };
        // Whole lines of the second-level cache, where that is not much more: boxes of parts of two take it twice the time.
        let unit = if length * size >= WHOLE { 128 } else { 16 };
        let line = length.checked_next_multiple_of(unit / size)?;
        let elements = line.checked_mul(lines_of)?.checked_mul(batches)?;
        let bytes = elements.checked_mul(size)?.checked_next_multiple_of(256).filter(|&n| n <= MOST)?;
        let shape = Shape::new(&[batches, rows, *k]).ok()?;
        let from = Layout::new(shape, &[across, row, along_k], 0).ok()?;
        let (line, all) = (line as isize, (line * lines_of) as isize);
        let strides = if wanted == Lines::K { [all, line, 1] } else { [all, 1, line] };
        let to = Layout::new(shape, &strides, 0).ok()?;
        let (step, own) = if wanted == Lines::K { (along_k, row) } else { (row, along_k) };
        let apart = (step == 1 && batches == 1).then_some(([lines_of, length], [own, line]));
        let is_fast = problem.lines()[operand].is_some() || apart.is_some();
        let byte = if is_fast { BYTE } else { BYTE_UNALIGNED };
        Some(Copied { from, to, bytes, apart, time: LAUNCH + byte * (2 * bytes) as f64 })
    }

    /// From [`Pointer::Input`]`(0)`, the first element, to [`Pointer::Output`]`(0)`; `align` is what addresses are multiples of.
    fn plan(&self, size: usize, align: usize) -> Result<KernelPlan> {
        if let Some((sizes, strides)) = self.apart
            && let Some(plan) = copy::lines(size, sizes, strides)?
        {
            return Ok(plan);
        }
        copy::plan(size, &self.from, &self.to, align)
    }
}

/// Of an operand's rows (of the second one: columns) and along k, and of the batch.
fn strides(problem: &Problem, operand: usize) -> ([isize; 2], isize) {
    let Merged { a_strides, b_strides, a_batch, b_batch, .. } = &problem.merged;
    match operand {
        0 => (*a_strides, a_batch[0]),
        _ => ([b_strides[1], b_strides[0]], b_batch[0]),
    }
}

/// A product of copies, in one band or several.
struct Relaid {
    /// Rows of a band, but for the last.
    rows: usize,
    /// Of a band, and of the last.
    products: [Problem; 2],
    copies: [[Option<Copied>; 2]; 2],
    time: f64,
}

/// The copies and the product, where that is faster than the product of the operands as they lie.
pub(super) fn plan(problem: &Problem) -> Result<Option<KernelPlan>> {
    let tensor_cores = matches!(problem.dtype, DType::F32 | DType::F16 | DType::BF16);
    let Merged { m, n, k, ref batch, .. } = problem.merged;
    let sizes = [m, n, k, batch.numel()];
    let fits = sizes.iter().all(|&n| n > 0 && i32::try_from(n).is_ok());
    if !tensor_cores || problem.capability < 80 || !fits || batch.rank() > 1 {
        return Ok(None);
    }
    let mut best: Option<Relaid> = None;
    for [a, b] in wanted(problem) {
        let fewest = bands(problem, a);
        for count in fewest..=if fewest > 1 { fewest + MORE_BANDS } else { fewest } {
            let Some(found) = relaid(problem, [a, b], count)? else { continue };
            if best.as_ref().is_none_or(|best| found.time < best.time) {
                best = Some(found);
            }
        }
    }
    match best {
        Some(best) if best.time < time(problem)? * WORTH => best.plan(problem),
        Some(_) | None => Ok(None),
    }
}

/// By the table.
fn time(problem: &Problem) -> Result<f64> {
    Ok(choose(problem, |_| true, None)?.map_or(f64::INFINITY, |chosen| chosen.2.time))
}

/// How operands would better lie: each as it does if it is aligned. Lines of tf32 may be turned, of either operand or both.
fn wanted(problem: &Problem) -> Vec<[Lines; 2]> {
    let turned =
        problem.dtype == DType::F32 && problem.precision == Precision::High && problem.capability == 90;
    let one = |operand: usize| match (problem.lines()[operand], strides(problem, operand).0) {
        (Some(lines), _) => lines,
        (None, [1, along_k]) if along_k != 1 => Lines::Mn,
        (None, _) => Lines::K,
    };
    let own = [one(0), one(1)];
    if !turned {
        return vec![own];
    }
    let mut all = vec![[Lines::K, Lines::K], [Lines::Mn, Lines::K], [Lines::K, Lines::Mn]];
    // Of those that take as long, the one for which less is turned.
    all.sort_by_key(|wanted| (0..2).filter(|&operand| wanted[operand] != own[operand]).count());
    all
}

/// The fewest bands of rows in which copies of the first operand are not too large: more than one for a single product by capability 9.0 alone,
/// of which nothing but the store follows.
fn bands(problem: &Problem, wanted: Lines) -> usize {
    let Merged { batch, m, k, .. } = &problem.merged;
    let is_alone = batch.rank() == 0 && problem.epilogue.is_none() && problem.capability == 90;
    if !is_alone || problem.lines()[0] == Some(wanted) {
        return 1;
    }
    let bytes = m.saturating_mul(k.saturating_mul(problem.dtype.size()));
    bytes.div_ceil(MOST)
}

/// The product of operands as they are wanted, in so many bands. `None` where they lie so, or cannot be copied.
fn relaid(problem: &Problem, wanted: [Lines; 2], bands: usize) -> Result<Option<Relaid>> {
    let m = problem.merged.m;
    let rows = if bands > 1 { m.div_ceil(bands).next_multiple_of(BAND) } else { m };
    let lines = problem.lines();
    let of = |rows: usize| {
        let mut copies = [None, None];
        let mut product = problem.clone();
        product.merged.m = rows;
        for operand in 0..2 {
            if lines[operand] == Some(wanted[operand]) {
                continue;
            }
            let count = if operand == 0 { rows } else { problem.merged.n };
            let copied = Copied::new(problem, operand, count, wanted[operand])?;
            let own = copied.to.strides();
            let across = if strides(problem, operand).1 == 0 { 0 } else { own[0] };
            let Merged { a_strides, b_strides, a_batch, b_batch, .. } = &mut product.merged;
            match operand {
                0 => (*a_strides, a_batch[0]) = ([own[1], own[2]], across),
                _ => (*b_strides, b_batch[0]) = ([own[2], own[1]], across),
            }
            product.align[operand] = 16;
            copies[operand] = Some(copied);
        }
        copies.iter().any(Option::is_some).then_some((product, copies))
    };
    let whole = m / rows;
    let (Some((product, copies)), Some((last, copies_last))) = (of(rows), of(m - (m - 1) / rows * rows))
    else {
        return Ok(None);
    };
    let copying = |copies: &[Option<Copied>; 2], operand: usize| {
        copies[operand].as_ref().map_or(0.0, |copied| copied.time)
    };
    let mut all = copying(&copies, 1) + whole as f64 * (copying(&copies, 0) + time(&product)?);
    if whole * rows < m {
        all += copying(&copies_last, 0) + time(&last)?;
    }
    Ok(Some(Relaid { rows, products: [product, last], copies: [copies, copies_last], time: all }))
}

impl Relaid {
    fn plan(&self, problem: &Problem) -> Result<Option<KernelPlan>> {
        let Merged { m, n, .. } = problem.merged;
        let size = problem.dtype.size();
        let bytes = |operand: usize| self.copies[0][operand].as_ref().map_or(0, |copied| copied.bytes);
        // Behind the first operand's copy, or a band's, the second one's, and behind both what blocks share.
        let starts = [0, bytes(0)];
        let behind = bytes(0) + bytes(1);
        let mut launches: SmallVec<[KernelLaunch; 2]> = SmallVec::new();
        let mut workspace = 0;
        for first in (0..m).step_by(self.rows) {
            let which = usize::from(m - first < self.rows);
            let Some(mut product) = plan_by(&self.products[which], |_| true, None)? else { return Ok(None) };
            for (operand, start) in starts.into_iter().enumerate() {
                let Some(copied) = self.copies[which][operand].as_ref() else { continue };
                if operand == 1 && first > 0 {
                    continue;
                }
                let ([row, _], _) = strides(problem, operand);
                let from = if operand == 0 { first as isize * row * size as isize } else { 0 };
                let align = problem.align[operand].min(16);
                let align = if from.unsigned_abs().is_multiple_of(align) { align } else { size };
                let moved = |pointer| match pointer {
                    Pointer::Input(_) => (Pointer::Input(operand as u8), from as u64),
                    _ => (Pointer::Workspace, start as u64),
                };
                let plan = copied.plan(size, align)?;
                launches.extend(plan.launches.into_iter().map(|launch| launch.moved(moved)));
            }
            let moved = |pointer| match pointer {
                Pointer::Input(i) => match self.copies[0].get(usize::from(i)) {
                    Some(Some(_)) => (Pointer::Workspace, starts[usize::from(i)] as u64),
                    Some(None) | None => (pointer, 0),
                },
                Pointer::Workspace => (pointer, behind as u64),
                Pointer::Output(_) => (pointer, (first * n * size) as u64),
                Pointer::Tickets | Pointer::Fault => (pointer, 0),
            };
            workspace = workspace.max(behind + product.workspace);
            launches.extend(product.launches.drain(..).map(|launch| launch.moved(moved)));
        }
        Ok(Some(KernelPlan { launches, workspace, ..KernelPlan::default() }))
    }
}
