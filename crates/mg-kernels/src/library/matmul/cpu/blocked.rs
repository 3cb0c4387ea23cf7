//! Products of matrices, cut into tasks and tiles.

use super::Output;
use super::entry::Entry;
use super::micro::{Compute, Kernels, Link, Tile};
use super::pack::{self, GROUP};
use crate::cpu::library::Shared;
use crate::cpu::library::scratch::{self, Slot};
use crate::cpu::library::transpose::transpose;
use crate::cpu::pool::{parallel, part};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps along `k` between visits of the result: a strip of `b` that long fits beside the rest in the nearest caches.
const DEPTH: usize = 512;
/// Values that a task packs.
const PACK: usize = 1 << 14;
/// Slivers up to which `b` is read in place: gone through once for all, and again for so few, it is no faster for having been copied.
const FEW: usize = 20;
/// The same where rows of `b` are a multiple of [`APART`] elements apart, and compete for few sets of a cache.
const FEWER: usize = 3;
const APART: isize = 1024;
/// Elements of `b` up to which a task packs what it reads: of larger ones, of which nobody may have memory, all is asked for at once.
const NEAR: usize = 1 << 28;
/// Slivers that are never divided among tasks.
const TALL: usize = 6;

/// Two matrices, their strides in elements.
#[derive(Clone, Copy)]
pub(super) struct Matrices<T> {
    pub m: usize,
    pub n: usize,
    pub k: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_k: isize,
    pub b: *const T,
    pub b_k: isize,
    pub b_column: isize,
}

impl<T> Matrices<T> {
    /// The transposed product: `cᵀ = bᵀ · aᵀ`.
    pub(super) fn transposed(&self) -> Matrices<T> {
        Matrices {
            m: self.n,
            n: self.m,
            k: self.k,
            a: self.b,
            a_row: self.b_column,
            a_k: self.b_k,
            b: self.a,
            b_k: self.a_k,
            b_column: self.a_row,
        }
    }
}

/// A product without terms.
///
/// Safety: as [`matmul`](super::matmul).
pub(super) unsafe fn zeros<T: Entry>(m: usize, n: usize, output: Output<'_, T>) {
    let zero = |panel: *mut T| {
        // SAFETY: the panel has room for the rows; zero bytes are the zero of every type.
        unsafe { std::ptr::write_bytes(panel, 0, m * n) };
        output.finish(panel, 0..m * n);
    };
    match output.raw.is_null() {
        true => scratch::with(Slot::Panel, m * n, zero),
        // SAFETY: the matrix lies there.
        false => zero(unsafe { output.raw.add(output.start) }),
    }
}

/// How a product is carried out. Depends on sizes and strides only.
struct KernelPlan<T: Entry> {
    /// The operands; of the transposed product if `transposed`.
    p: Matrices<T>,
    transposed: bool,
    kernels: &'static Kernels<T::Acc>,
    /// Rows are divided into this many slivers of nearly equal height, columns into strips of equal width.
    slivers: usize,
    strips: usize,
    /// Slivers and strips are grouped into tasks.
    row_tasks: usize,
    column_tasks: usize,
    /// Where packed operands lie, or null.
    packed_a: *mut T::Acc,
    packed_b: *mut T::Acc,
    /// Whether a strip of `b` is packed by the one task that reads it, a block before it is read: it does not leave the caches in between.
    packs_near: bool,
    /// Whether `a` is packed in groups, because neighbours in memory are neighbours along `m`.
    grouped: bool,
    /// Distance between packed rows of `a`.
    a_stride: usize,
    /// Steps along `k` are taken in this many blocks.
    blocks: usize,
}
/// One product.
///
/// Safety: as [`matmul`](super::matmul), for matrices at these addresses.
pub(super) unsafe fn product<T: Entry>(given: &Matrices<T>, output: Output<'_, T>, threads: bool) {
    let kernels = T::Acc::kernels();
    let transposed = T::DIRECT && better_transposed(given, kernels.lanes);
    let p = if transposed { given.transposed() } else { *given };
    let width = kernels.columns();
    let (slivers, strips) = (p.m.div_ceil(kernels.rows), p.n.div_ceil(width));

    let pack_a = !T::DIRECT
        || (p.n >= 512 && p.m * p.k > 1 << 16)
        || (p.a_k != 1 && p.n > 2 * width && p.m * p.k > 1 << 12);
    let ragged = !p.n.is_multiple_of(kernels.lanes) && !kernels.masked;
    let (few, near) = if p.b_k % APART == 0 { (FEWER, 1 << 14) } else { (FEW, 1 << 16) };
    let pack_b = !T::DIRECT || p.b_column != 1 || ragged || (slivers > few && p.n * p.k > near);
    let grouped = p.a_row == 1 && p.a_k != 1;
    // An odd number of cache lines, so that rows do not compete for one set.
    let blocks = p.k.div_ceil(DEPTH);
    let a_stride = if grouped { p.k } else { p.k.div_ceil(blocks).next_multiple_of(16) | 16 };
    let a_len = match (pack_a, grouped) {
        (false, _) => 0,
        (true, true) => slivers * GROUP * p.k,
        (true, false) => blocks * p.m * a_stride,
    };
    let a_len = a_len.next_multiple_of(32);

    let mut plan = KernelPlan {
        p,
        transposed,
        kernels,
        slivers,
        strips,
        row_tasks: 1,
        column_tasks: 1,
        packed_a: std::ptr::null_mut(),
        packed_b: std::ptr::null_mut(),
        packs_near: false,
        grouped,
        a_stride,
        blocks,
    };
    if threads {
        plan.divide(output.after.is_some());
    }
    let all = (strips * width).saturating_mul(p.k);
    plan.packs_near = pack_b && plan.row_tasks == 1 && all <= NEAR;
    let b_len = if pack_b && !plan.packs_near { all } else { 0 };
    scratch::with(Slot::Packed, a_len + b_len, |packed: *mut T::Acc| {
        plan.packed_a = if pack_a { packed } else { std::ptr::null_mut() };
        plan.packed_b = if b_len > 0 { packed.wrapping_add(a_len) } else { std::ptr::null_mut() };
        // SAFETY: by this function's contract.
        unsafe {
            if output.after.is_none() || plan.whole_rows() {
                return plan.run(output, threads);
            }
            let finish = |raw: *mut T| {
                plan.run(Output { raw, after: None, ..output }, threads);
                let (m, n) = (given.m, given.n);
                let each = (1usize << 14).div_ceil(n);
                let whole = Shared((raw.wrapping_add(output.start), output));
                let task = |t: usize| {
                    let (whole, output) = whole.get();
                    let positions = t * each * n..m.min((t + 1) * each) * n;
                    output.finish(whole.wrapping_add(positions.start), positions);
                };
                parallel(m.div_ceil(each), &task);
            };
            match output.raw.is_null() {
                true => scratch::with(Slot::Panel, given.m * given.n, |whole: *mut T| {
                    finish(whole.wrapping_sub(output.start));
                }),
                false => finish(output.raw),
            }
        }
    })
}

/// Whether vectors should run along the rows of `a` instead of the columns of `b`.
fn better_transposed<T>(p: &Matrices<T>, lanes: usize) -> bool {
    let along_rows = p.a_row == 1 && p.a_k != 1;
    if p.b_column == 1 {
        // Few columns leave lanes idle.
        return along_rows && 2 * p.n <= lanes && p.m >= 2 * lanes;
    }
    // One of them has to be turned around: the smaller one.
    p.b_k == 1 && (along_rows || (p.a_k == 1 && 2 * p.m <= p.n))
}

impl<T: Entry> KernelPlan<T> {
    /// Whether each task computes whole rows of the result.
    fn whole_rows(&self) -> bool {
        if self.transposed { self.row_tasks == 1 } else { self.column_tasks == 1 }
    }

    /// Chooses the number of tasks.
    fn divide(&mut self, by_rows: bool) {
        let tiles = self.slivers * self.strips;
        let tile = self.kernels.rows * self.kernels.columns() * self.p.k;
        let tasks = ((tiles * tile) >> 20).clamp(2, 32);
        let each = (tiles / tasks).max(1);
        if by_rows {
            let (across, along) =
                if self.transposed { (self.slivers, self.strips) } else { (self.strips, self.slivers) };
            let group = (each.div_ceil(across)).max(1);
            let count = along.div_ceil(group);
            if count >= 4 {
                if self.transposed {
                    self.column_tasks = count
                } else {
                    self.row_tasks = count
                }
                return;
            }
        }
        // Tall rather than wide: a strip of `b` is then used often while it is near. Few rows are one task's: it packs what it reads.
        let tall = ((2 * each) as f64).sqrt() as usize;
        let tall = if self.slivers <= TALL { self.slivers } else { tall.clamp(1, 16).min(self.slivers) };
        self.row_tasks = self.slivers.div_ceil(tall);
        self.column_tasks = self.strips.div_ceil((each / tall).clamp(1, 32));
    }

    /// Safety: as [`product`]; packed operands have room; `after` only for whole rows.
    unsafe fn run(&self, output: Output<'_, T>, threads: bool) {
        let (per_sliver, per_strip) = (self.kernels.rows * self.p.k, self.kernels.columns() * self.p.k);
        let count = |packed: *mut T::Acc, units: usize, each: usize| match packed.is_null() {
            true => (0, 1),
            false => {
                let group = (PACK / each).clamp(1, units);
                (units.div_ceil(group), group)
            }
        };
        let (a_tasks, a_group) = count(self.packed_a, self.slivers, per_sliver);
        let (b_tasks, b_group) = count(self.packed_b, self.strips, per_strip);
        let packs = a_tasks + b_tasks;
        let packed = AtomicUsize::new(0);
        let this = Shared((self, output));
        let task = |t: usize| {
            let (this, output) = this.get();
            // SAFETY: each task packs slivers and strips, or computes a part of the result, that no other does.
            unsafe {
                if t < packs {
                    if t < b_tasks {
                        (t * b_group..this.strips.min((t + 1) * b_group)).for_each(|s| this.pack_strip(s));
                    } else {
                        let t = t - b_tasks;
                        (t * a_group..this.slivers.min((t + 1) * a_group)).for_each(|s| this.pack_sliver(s));
                    }
                    packed.fetch_add(1, Ordering::Release);
                    return;
                }
                // Tasks begin in order, so every task waited for has begun.
                let mut looks = 0u32;
                while packed.load(Ordering::Acquire) < packs {
                    looks += 1;
                    if looks < 1 << 14 { std::hint::spin_loop() } else { std::thread::yield_now() }
                }
                this.compute(t - packs, output);
            }
        };
        let tasks = packs + self.row_tasks * self.column_tasks;
        if threads { parallel(tasks, &task) } else { (0..tasks).for_each(task) }
    }

    unsafe fn pack_sliver(&self, s: usize) {
        let p = &self.p;
        let rows = part(s, self.slivers, p.m);
        // SAFETY: the rows lie in `a`, and their place in `packed_a` is theirs alone.
        unsafe {
            let from = p.a.offset(rows.start as isize * p.a_row);
            if self.grouped {
                let to = self.packed_a.add(s * GROUP * p.k);
                pack::groups::<T>(from, p.a_k, to, rows.len(), p.m - rows.start, p.k);
            } else {
                for block in 0..self.blocks {
                    let steps = part(block, self.blocks, p.k);
                    let from = from.offset(steps.start as isize * p.a_k);
                    let to = self.packed_a.add((block * p.m + rows.start) * self.a_stride);
                    pack::rows::<T>(from, p.a_row, p.a_k, to, self.a_stride, rows.len(), steps.len());
                }
            }
        }
    }

    unsafe fn pack_strip(&self, s: usize) {
        let (p, width) = (&self.p, self.kernels.columns());
        let first = s * width;
        // SAFETY: the columns lie in `b`, and their place in `packed_b` is theirs alone.
        unsafe {
            let from = p.b.offset(first as isize * p.b_column);
            let to = self.packed_b.add(first * p.k);
            pack::strip::<T>(from, p.b_k, p.b_column, to, width, width.min(p.n - first), p.k);
        }
    }

    unsafe fn compute(&self, task: usize, output: Output<'_, T>) {
        let p = &self.p;
        let slivers = part(task / self.column_tasks, self.row_tasks, self.slivers);
        let strips = part(task % self.column_tasks, self.column_tasks, self.strips);
        let width = self.kernels.columns();
        let rows = part(slivers.start, self.slivers, p.m).start..part(slivers.end - 1, self.slivers, p.m).end;
        let columns = strips.start * width..p.n.min(strips.end * width);
        // In the result, where the product may lie transposed.
        let (result_rows, result_n) =
            if self.transposed { (columns.clone(), p.m) } else { (rows.clone(), p.n) };
        let positions = result_rows.start * result_n..result_rows.end * result_n;

        let longest = if self.packs_near { p.k.div_ceil(self.blocks) } else { 0 };
        scratch::with(Slot::Strip, longest * width, |near: *mut T::Acc| {
            let fill = |panel: *mut T| {
                // `panel` is the address of the result's position 0, whether or not that exists.
                // SAFETY: by the contract of `run`.
                unsafe {
                    if T::DIRECT {
                        let (c_row, c_column) = if self.transposed { (1, result_n) } else { (result_n, 1) };
                        self.tiles(slivers.clone(), strips.clone(), panel.cast(), c_row, c_column, near);
                    } else {
                        let len = columns.len();
                        scratch::with(Slot::Sums, rows.len() * len, |sums: *mut T::Acc| {
                            let origin = sums.wrapping_sub(rows.start * len + columns.start);
                            self.tiles(slivers.clone(), strips.clone(), origin, len, 1, near);
                            for i in rows.clone() {
                                let to = panel.wrapping_add(i * result_n + columns.start);
                                T::narrow(sums.add((i - rows.start) * len), to, len);
                            }
                        });
                    }
                }
                output.finish(panel.wrapping_add(positions.start), positions.clone());
            };
            match output.raw.is_null() {
                true => scratch::with(Slot::Panel, positions.len(), |panel: *mut T| {
                    fill(panel.wrapping_sub(positions.start));
                }),
                false => fill(output.raw.wrapping_add(output.start)),
            }
        });
    }

    /// Computes the tiles of some slivers and strips into `c`, the address of the product's row 0, column 0. `near` has room for what it packs.
    unsafe fn tiles(
        &self,
        slivers: std::ops::Range<usize>,
        strips: std::ops::Range<usize>,
        c: *mut T::Acc,
        c_row: usize,
        c_column: usize,
        near: *mut T::Acc,
    ) {
        let (p, kernels) = (&self.p, self.kernels);
        let width = kernels.columns();
        for block in 0..self.blocks {
            let steps = part(block, self.blocks, p.k);
            let at = steps.start as isize;
            for strip in strips.clone() {
                let first = strip * width;
                let columns = width.min(p.n - first);
                let from = p.b.wrapping_offset(at * p.b_k + first as isize * p.b_column);
                let lies = from.cast::<T::Acc>();
                let (b, b_k) = if self.packs_near {
                    // SAFETY: the block's columns lie in `b`; nobody else writes this room.
                    unsafe {
                        pack::strip::<T>(from, p.b_k, p.b_column, near, width, columns, steps.len());
                    }
                    (near.cast_const(), width as isize)
                } else if self.packed_b.is_null() {
                    (lies, p.b_k)
                } else {
                    (
                        self.packed_b.wrapping_add(first * p.k + steps.start * width).cast_const(),
                        width as isize,
                    )
                };
                let in_place = c_column == 1 && (kernels.masked || columns == kernels.written(columns));
                for sliver in slivers.clone() {
                    let rows = part(sliver, self.slivers, p.m);
                    let (a, a_row, a_k) = if self.packed_a.is_null() {
                        let a = p.a.cast::<T::Acc>();
                        (a.wrapping_offset(rows.start as isize * p.a_row + at * p.a_k), p.a_row, p.a_k)
                    } else if self.grouped {
                        let a = self.packed_a.wrapping_add((sliver * p.k + steps.start) * GROUP);
                        (a.cast_const(), 1, GROUP as isize)
                    } else {
                        let a = self.packed_a.wrapping_add((block * p.m + rows.start) * self.a_stride);
                        (a.cast_const(), self.a_stride as isize, 1)
                    };
                    let c = c.wrapping_add(rows.start * c_row + first * c_column);
                    let add = block > 0;
                    // The next strip, a part of it beside each tile.
                    let beside = sliver - slivers.start;
                    let spread = slivers.len().div_ceil(100).max(1);
                    let (ahead, ahead_k) = if strip + 1 == strips.end {
                        (b, 0)
                    } else if self.packed_b.is_null() {
                        // A line of memory of each step, and beside the next tile the other one; what lies otherwise is packed near, and not asked for.
                        match T::DIRECT && p.b_column == 1 {
                            true => (lies.wrapping_add(width + beside % 2 * kernels.lanes), p.b_k),
                            false => (b, 0),
                        }
                    } else if beside < spread {
                        let step = width.div_ceil(spread);
                        (b.wrapping_add(p.k * width + beside * steps.len() * step), step as isize)
                    } else {
                        (b, 0)
                    };
                    let mut tile = Tile {
                        links: &[Link { a: 0, b: 0, k: steps.len() }],
                        a,
                        a_row,
                        a_k,
                        b,
                        b_k,
                        c,
                        c_row: c_row as isize,
                        columns,
                        add,
                        ahead,
                        ahead_k,
                    };
                    let kernel = kernels.of(rows.len(), columns);
                    // SAFETY: the tile lies in the operands and in the part of the result that is this task's.
                    unsafe {
                        if in_place {
                            kernel(&tile);
                        } else {
                            let mut buffer = MaybeUninit::<[T::Acc; BUFFER]>::uninit();
                            tile.c = buffer.as_mut_ptr().cast();
                            tile.c_row = width as isize;
                            tile.add = false;
                            kernel(&tile);
                            flush(tile.c, width, c, c_row, c_column, rows.len(), columns, add);
                        }
                    }
                }
            }
        }
    }
}

/// Room for any tile.
pub(super) const BUFFER: usize = 16 * 32;

/// Moves a tile from a buffer with rows `width` apart to where it belongs.
#[allow(clippy::too_many_arguments)]
unsafe fn flush<A: Compute>(
    from: *const A,
    width: usize,
    c: *mut A,
    c_row: usize,
    c_column: usize,
    rows: usize,
    columns: usize,
    add: bool,
) {
    // SAFETY: by the contract of `tiles`.
    unsafe {
        if c_column == 1 {
            return lines(from, width, c, c_row, rows, columns, add);
        }
        if !add {
            return transpose(
                size_of::<A>(),
                c.cast(),
                c_column as isize,
                from.cast(),
                width as isize,
                rows,
                columns,
            );
        }
        let mut turned = MaybeUninit::<[A; BUFFER]>::uninit();
        let to = turned.as_mut_ptr().cast::<A>();
        transpose(size_of::<A>(), to.cast(), GROUP as isize, from.cast(), width as isize, rows, columns);
        lines(to, GROUP, c, c_column, columns, rows, true);
    }
}

/// Copies lines, or adds them to what is there.
///
/// Safety: they are there.
#[inline(always)]
pub(super) unsafe fn lines<A: Compute>(
    from: *const A,
    from_row: usize,
    to: *mut A,
    to_row: usize,
    rows: usize,
    len: usize,
    add: bool,
) {
    for i in 0..rows {
        // SAFETY: by the contract of `tiles`.
        unsafe {
            let (from, to) = (from.add(i * from_row), to.add(i * to_row));
            if add {
                for j in 0..len {
                    *to.add(j) = (*to.add(j)).plus(*from.add(j));
                }
            } else {
                std::ptr::copy_nonoverlapping(from, to, len);
            }
        }
    }
}
