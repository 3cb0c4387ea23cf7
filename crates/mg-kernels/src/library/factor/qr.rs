//! Launches of `kernels/qr.cu` and `reflect.cu`: a panel of reflections after the other, each made by a block and applied to what is right of it by
//! many. `Q` is put together from the last panel to the first, so that what is still the identity's is never read.

use super::cuda::{Matrices, ahead};
use crate::cuda::library::args::{self, Address, input};
use crate::cuda::library::constants::reflect;
use crate::cuda::library::{KernelPlan, Pointer, find};
use mg_device::Result;

/// Lanes of a warp: neighbouring rows of a column.
const LANES: usize = 32;
/// Rows that a lane has, by kernel: what fits is found first.
const EACH: [usize; 3] = [8, 32, 64];
/// Rows of a panel that a block's threads have in registers, at most.
pub(super) const MOST_ROWS: usize = LANES * EACH[EACH.len() - 1];
/// Rows of a block that reflects, at least, where several have the same columns; and how many blocks there are to be.
const SHARE: usize = 256;
const BLOCKS: usize = 1024;

/// Columns that are reflected.
struct Columns {
    from: Address,
    /// Where the rows go to whose reflections these are, and where the others.
    to: [Address; 2],
    /// Elements from matrix to matrix, of each of the three.
    batch: [usize; 3],
    /// Elements from row to row.
    row: usize,
    columns: usize,
    /// Rows and columns of the identity, or 0.
    unknown: usize,
}

/// Reflections of matrices, in memory of their own: `v`, `t`, parts of products, and what is left of the matrices.
struct Reflections<'a> {
    all: &'a Matrices,
    k: usize,
    stride: usize,
    /// Rows of R.
    rows: usize,
    /// Elements before each of the four.
    from: [usize; 4],
}

/// Blocks of so many rows and columns of each matrix: from left to right, from top to bottom, and the rows of each.
fn blocks(count: usize, rows: usize, columns: usize) -> [usize; 3] {
    let tiles = columns.div_ceil(reflect::COLUMNS);
    let shares = (BLOCKS / (count * tiles)).min(rows / SHARE).max(1);
    let share = rows.div_ceil(shares).next_multiple_of(LANES);
    [tiles, rows.div_ceil(share), share]
}

pub(super) fn plan(plan: &mut KernelPlan, all: &Matrices, complete: bool, vectors: bool) -> Result<()> {
    let Matrices { m, n, count, dtype, .. } = *all;
    let k = m.min(n);
    let (rows, stride) = (if complete { m } else { k }, m.next_multiple_of(LANES));
    let lengths = [k * stride * count, k * reflect::WIDE * count, BLOCKS * reflect::WIDE * reflect::COLUMNS];
    let from = [0, lengths[0], lengths[0] + lengths[1], lengths.iter().sum()];
    let made = Reflections { all, k, stride, rows, from };
    let mut panels = vec![];
    let mut first = 0;
    while first < k {
        let width = made.panel(plan, first)?;
        panels.push((first, width));
        let next = first + width;
        if next < n {
            // What is right of the panel: its rows are R's.
            let (here, line) = (first * n + next, m * n);
            let left = made.work(here);
            let beside = Columns {
                from: if first == 0 { ahead(input(0), here, dtype) } else { left },
                to: [made.r(here), left],
                batch: [line, all.line, line],
                row: n,
                columns: n - next,
                unknown: 0,
            };
            made.reflect(plan, [first, width], &beside)?;
        }
        first = next;
    }
    // Where one panel is all there is, nothing is left of the matrices.
    let left = if panels.first().is_some_and(|&(_, width)| width < n) { count * m * n } else { 0 };
    plan.workspace = (from[3] + left) * dtype.size();
    if vectors {
        for (at, &(first, width)) in panels.iter().enumerate().rev() {
            let q = all.out(first * (rows + 1));
            let unknown = if at + 1 == panels.len() { m } else { width };
            let columns = Columns {
                from: q,
                to: [q; 2],
                batch: [all.line; 3],
                row: rows,
                columns: rows - first,
                unknown,
            };
            made.reflect(plan, [first, width], &columns)?;
        }
    }
    Ok(())
}

impl Reflections<'_> {
    fn own(&self, which: usize, at: usize) -> Address {
        ahead(Some((Pointer::Workspace, 0)), self.from[which] + at, self.all.dtype)
    }

    fn work(&self, at: usize) -> Address {
        self.own(3, at)
    }

    /// An element of the first answer's R.
    fn r(&self, at: usize) -> Address {
        self.all.out(self.all.line - self.rows * self.all.n + at)
    }

    /// Makes reflections from a column on: of how many.
    fn panel(&self, plan: &mut KernelPlan, first: usize) -> Result<usize> {
        let Matrices { m, n, count, dtype, line, .. } = *self.all;
        let each = EACH.into_iter().find(|each| LANES * each >= m - first).unwrap_or(EACH[2]);
        let name = format!("qr_panel{each}");
        let most = find("qr", &format!("factor_{name}_{}", dtype.name()))?.constant("WARPS").unwrap_or(1);
        let width = most.min(self.k - first);
        let args = args::qr::Qr {
            from: if first == 0 { input(0) } else { self.work(0) },
            r: self.r(0),
            v: self.own(0, 0),
            t: self.own(1, 0),
            line: line as u64,
            stride: self.stride as u64,
            m: m as u32,
            n: n as u32,
            k: self.k as u32,
            first: first as u32,
            width: width as u32,
            rows: self.rows as u32,
        };
        let mut launch = self.all.launch(&name, count, &args)?;
        // A warp a column.
        launch.block = [(LANES * width) as u32, 1, 1];
        plan.launches.push(launch);
        Ok(width)
    }

    /// Reflects columns by the reflections of a panel.
    fn reflect(&self, plan: &mut KernelPlan, [first, width]: [usize; 2], columns: &Columns) -> Result<()> {
        let (count, rows) = (self.all.count, self.all.m - first);
        let [tiles, shares, share] = blocks(count, rows, columns.columns);
        let batch = columns.batch.map(|elements| elements as u64);
        let of = |adds: bool, reflects: bool| args::reflect::Reflect {
            from: columns.from,
            top: columns.to[0],
            to: columns.to[1],
            v: self.own(0, first * self.stride),
            t: self.own(1, first * reflect::WIDE),
            parts: self.own(2, 0),
            from_batch: batch[0],
            top_batch: batch[1],
            to_batch: batch[2],
            v_batch: (self.k * self.stride) as u64,
            t_batch: (self.k * reflect::WIDE) as u64,
            row: columns.row as u64,
            stride: self.stride as u64,
            rows: rows as u32,
            columns: columns.columns as u32,
            width: width as u32,
            unknown: columns.unknown as u32,
            tiles: tiles as u32,
            shares: shares as u32,
            share: share as u32,
            adds: adds.into(),
            reflects: reflects.into(),
        };
        let launches = if shares == 1 { &[(true, true)][..] } else { &[(true, false), (false, true)] };
        for &(adds, reflects) in launches {
            let args = of(adds, reflects);
            plan.launches.push(self.all.launch("reflect", tiles * shares * count, &args)?);
        }
        Ok(())
    }
}
