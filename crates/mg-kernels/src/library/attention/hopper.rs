//! Launches of `kernels/attention_wgmma.cu`: attention by the instructions of capability 9.0.

use super::cuda::{CACHED, OP, Part, Places, Planned};
use super::{Attention, Heads, Sizes};
use crate::cuda::library::args::attention_wgmma::Flash;
use crate::cuda::library::constants::attention_wgmma::EIGHT;
use crate::cuda::library::{KernelLaunch, Pointer, Prebuilt};
use crate::library::Thin;
use crate::library::matmul::Precision;
use mg_device::cuda::{Elements, Moved};
use mg_device::{DType, Float, Result};

/// Elements of a head that there are kernels for, at most.
const SIZES: [usize; 4] = [64, 128, 192, 256];

/// Behind the names of kernels that leave weights out.
const THIN: &str = "_dropout";

/// Rows that a block meets, up to which another form is faster, where there is one: at all, and where a row meets half of them on average. Of heads of 64,
/// and for gradients of queries, it is blocks of 64 rows, two to four a multiprocessor: they wait for memory side by side, and no group of warps has rows beyond
/// the last; longer ones read what they meet too often. Of means and heads of 128 it is blocks of 128 rows for 192.
fn short(part: Part, size: usize) -> [usize; 2] {
    match (part, size) {
        (Part::Forward, 64) => [512, 1024],
        (Part::Forward, _) => [256, 256],
        (Part::Queries, 128) => [512, 512],
        (Part::Queries | Part::Keys, _) => [256, 512],
    }
}

/// What products are made of: elements as the copy engine brings and takes them, their bytes, and the name that kernels have of it.
#[derive(Clone, Copy)]
struct Products {
    read: Elements,
    written: Elements,
    bytes: usize,
    name: &'static str,
}

impl Products {
    /// Of a dtype, where there are such kernels.
    fn of(dtype: DType, precision: Precision) -> Option<Products> {
        let half = |elements, name| Some(Products { read: elements, written: elements, bytes: 2, name });
        match dtype.float()? {
            Float::F16 => half(Elements::F16, "f16"),
            Float::BF16 => half(Elements::BF16, "bf16"),
            // The copy engine rounds what it brings.
            Float::F32 if precision == Precision::High => {
                Some(Products { read: Elements::TF32, written: Elements::F32, bytes: 4, name: "tf32" })
            }
            Float::F32 | Float::F64 => None,
        }
    }

    /// Elements of a line of 128 bytes, as boxes have them.
    fn line(self) -> usize {
        128 / self.bytes
    }

    /// As tensor cores take lines of four bytes an element along what is summed over alone, tiles are turned where they lie. Blocks of 64 rows, two or three
    /// a multiprocessor, are all that there is then: the one computes while the other turns.
    fn are_turned(self) -> bool {
        self.bytes == 4
    }
}

/// Multiprocessors of the devices that these kernels are for. Blocks take one block of rows after the other.
const MULTIPROCESSORS: usize = 132;

/// A kernel, and what its source counts with.
pub(super) struct Tile {
    kernel: &'static Prebuilt,
    size: usize,
    products: Products,
    /// Rows that a block has itself.
    rows: usize,
    /// Rows that a block meets at a time.
    others: usize,
    /// Of these, how many times there is room for them.
    stages: usize,
    /// How many blocks' own rows there is room for: the next block's come while this one's are computed.
    owns: usize,
    /// Blocks of a multiprocessor.
    each: usize,
    /// Bytes that groups of warps hand each other weights in.
    handed: usize,
}

impl Tile {
    /// `what` is behind the kernel's name: nothing, a mask, weights that are left out.
    fn of(part: Part, products: Products, size: usize, what: &str, is_short: bool) -> Option<Tile> {
        let form = if is_short { "s" } else { "w" };
        let kernel =
            Prebuilt::find(&format!("attention_{}_{}_{form}{size}{what}", part.name(), products.name))?;
        let number = |name| kernel.constant(name);
        let (rows, others, handed) = (number("ROWS")?, number("OTHERS")?, number("BYTES_HANDED")?);
        let (stages, owns, each) = (number("STAGES")?, number("OWNS")?, number("EACH")?);
        Some(Tile { kernel, size, products, rows, others, stages, owns, each, handed })
    }

    /// Bytes of shared memory, as the kernel divides it: rows, turned ones with what is between eight chunks, numbers, weights, turns, barriers, and what alignment
    /// to 1024 takes.
    fn shared(&self, part: Part) -> usize {
        let own = if part == Part::Forward { 1 } else { 2 };
        let numbers = if part == Part::Keys { 2 * self.others * 4 + 16 } else { 0 };
        let line = self.size * self.products.bytes;
        let turned = self.others / 4 * (self.size / 8 * EIGHT);
        let place = if self.products.are_turned() { turned } else { self.others * line };
        let stage = 2 * place + numbers + 4 * 8;
        1024 + self.owns * (own * self.rows * line + 16 + 3 * 8) + self.stages * stage + self.handed
    }
}

/// An operand as the copy engine is to read it.
#[derive(Clone, Copy)]
struct Read {
    at: (Pointer, u64),
    /// Elements of a row, rows, heads.
    sizes: [usize; 3],
    /// From one row, head, batch to the next, in elements.
    steps: [isize; 3],
    align: usize,
}

impl Read {
    /// Queries, keys, values; or, at the end of a gradient's operands, what flows back to the means.
    fn of(planned: &Planned, i: usize) -> Read {
        let (s, lies) = (planned.s, &planned.lie[i]);
        let [batch, head, row] = lies.steps;
        let (sizes, steps) = match i {
            0 => ([s.width, s.queries, s.heads], [row, head, batch]),
            1 => ([s.width, s.keys, s.shared], [row, head, batch]),
            2 => ([s.depth, s.keys, s.shared], [row, head, batch]),
            _ => ([s.depth, s.queries, s.heads], [row, head, batch]),
        };
        Read { at: lies.at, sizes, steps, align: lies.align }
    }

    /// Whether the copy engine takes it: rows apart by multiples of 16 bytes, none of them shared.
    fn fits(&self, products: Products, batch: usize) -> bool {
        let [_, rows, heads] = self.sizes;
        let each = 16 / products.bytes as isize;
        let apart = |(&step, n): (&isize, usize)| step % each == 0 && (step > 0 || step == 0 && n <= 1);
        self.align >= 16 && self.steps.iter().zip([rows, heads, batch]).all(apart)
    }

    fn map(&self, products: Products, batch: usize, rows: usize) -> Moved {
        let [line, count, heads] = self.sizes;
        // An axis of one position has no step that matters, but the driver asks for a multiple of 16.
        let strides = self.steps.map(|step| if step > 0 { step as usize * products.bytes } else { 16 });
        Moved::boxes(products.read, [line, count, heads, batch], &strides, [products.line(), rows, 1, 1])
    }
}

/// What products of such operands are made of, and the size of the heads of the kernels that take them, where some do.
fn taken(
    attention: &Attention,
    s: &Sizes,
    dtype: DType,
    capability: u32,
    precision: Precision,
) -> Option<(Products, usize)> {
    let products = Products::of(dtype, precision)?;
    // By positive factors the largest score stays the largest, and what is left out is.
    let scale = f64::from_bits(attention.scale) as f32;
    let taken = capability == 90 && scale >= f32::MIN_POSITIVE && scale.is_finite() && s.keys > 0;
    let heads = [s.width, s.depth].iter().all(|&n| n > 0 && n.is_multiple_of(16 / products.bytes));
    let size = SIZES.into_iter().find(|&size| s.width.max(s.depth) <= size)?;
    (taken && heads).then_some((products, size))
}

/// Whether there are kernels that leave weights out, of operands of these sizes: of half types.
pub(super) fn thins(attention: &Attention, s: &Sizes, dtype: DType, capability: u32) -> bool {
    let Some((products, size)) = taken(attention, s, dtype, capability, Precision::Highest) else {
        return false;
    };
    let parts = [Part::Forward, Part::Queries, Part::Keys];
    parts.into_iter().all(|part| Tile::of(part, products, size, THIN, false).is_some())
}

/// The tile by which a part is computed, where the copy engine takes the operands as they lie.
pub(super) fn tile_of(planned: &Planned, part: Part) -> Option<Tile> {
    let (s, target) = (planned.s, planned.target);
    let (products, size) = taken(planned.attention, s, planned.dtype(), target.capability, target.precision)?;
    let last = planned.lie.len() - 1;
    // Gradients read the means too, all of them.
    let (read, line): (&[usize], _) = match part {
        Part::Forward => (&[0, 1, 2], true),
        Part::Queries | Part::Keys => (&[0, 1, 2, last], planned.lie[last - 1].align >= 16),
    };
    let fit =
        line && target.align >= 16 && read.iter().all(|&i| Read::of(planned, i).fits(products, s.batch));
    if !fit {
        return None;
    }
    let met = match (part, planned.attention.ranges) {
        (Part::Keys, None) => planned.attention.span.width(s.queries),
        (Part::Forward | Part::Queries, None) => planned.attention.span.width(s.keys),
        (Part::Keys, Some([_, queries])) => s.queries.min(queries as usize),
        (Part::Forward | Part::Queries, Some([keys, _])) => s.keys.min(keys as usize),
    };
    let is_short = met <= short(part, size)[usize::from(planned.grows())] || products.are_turned();
    let what = match (planned.attention.left_out > 0, planned.mask_kind() > 0) {
        (true, _) => THIN,
        (false, true) => "_masked",
        (false, false) => "",
    };
    let of = |is_short| Tile::of(part, products, size, what, is_short);
    is_short.then(|| of(true)).flatten().or_else(|| of(false))
}

/// Rows that a block meets, up to which it waits for memory most of its time and blocks differ little in length; and how many heads follow each other then: so
/// blocks that bring what their head's others find in the cache run beside these, and memory is asked for as much all the time.
const FEW: usize = 256;
const SIDE_BY_SIDE: usize = 4;

/// Where blocks differ in length: heads whose blocks follow each other, the longest first. Those of `together` share the second cache; but with fewer than two
/// rounds of blocks in a section the next one's longest would begin where everyone's time ends, and a last section of a few heads would be all ends.
fn section(together: usize, blocks: usize, all: usize, resident: usize) -> usize {
    let least = together.max((2 * resident).div_ceil(blocks)).min(all);
    let last_lacks = |&section: &usize| all.next_multiple_of(section) - all;
    (least..=(2 * least).min(all)).min_by_key(last_lacks).unwrap_or(all)
}

/// The launch of a part.
pub(super) fn launched(planned: &Planned, part: Part, tile: Tile, places: &Places) -> Result<KernelLaunch> {
    let (s, attention) = (planned.s, planned.attention);
    let products = tile.products;
    let last = planned.lie.len() - 1;
    let [dq, dk, dv] = s.gradients();
    let (length, heads, met, sharing) = match part {
        Part::Forward | Part::Queries => (s.queries, s.heads, s.keys, s.heads / s.shared),
        Part::Keys => (s.keys, s.shared, s.queries, 1),
    };
    let resident = MULTIPROCESSORS * tile.each;
    let (blocks, all) = (length.div_ceil(tile.rows), s.batch * heads);
    // Blocks of these heads follow each other: what they read together stays in the second cache.
    let cached = CACHED / (met * (s.width + s.depth) * products.bytes).max(1);
    let together = if met <= FEW { SIDE_BY_SIDE } else { cached.max(1) * sharing };
    let section = if planned.grows() && met > FEW {
        section(together, blocks, all, resident)
    } else {
        together.min(all)
    };

    let mapped = |i: usize, rows: usize| {
        let read = Read::of(planned, i);
        Some((read.at, read.map(products, s.batch, rows)))
    };
    let (own, others): (&[usize], _) = match part {
        Part::Forward => (&[0], [1, 2]),
        Part::Queries => (&[0, last], [1, 2]),
        Part::Keys => (&[1, 2], [0, last]),
    };
    let result = |to: Option<(Pointer, u64)>, lies: Heads| {
        let [batch, head, row] = lies.steps().map(|step| step * products.bytes);
        let sizes = [lies.size, lies.rows, lies.count, s.batch];
        to.map(|to| {
            (to, Moved::boxes(products.written, sizes, &[row, head, batch], [products.line(), 16, 1, 1]))
        })
    };
    // Blocks of tiles that are turned are begun wherever one ends, if they differ in length: with one or two groups at a time nothing makes up for who has the
    // longer ones.
    let alone = products.are_turned() && planned.grows();
    let launched = if alone { blocks * all } else { (blocks * all).min(resident) };
    let [y_batch, y_head, y_row] = s.means().steps().map(|step| step as u64);
    let mask = planned.lie.get(3).filter(|_| planned.mask_kind() > 0);
    let [mask_batch, mask_head, mask_row] = mask.map_or([0; 3], |lies| lies.steps.map(|n| n as u64));
    let args = Flash {
        sums_out: places.sums_out,
        sums: places.sums,
        means: places.means_out.or(places.means),
        y: places.y,
        tickets: (launched < blocks * all).then_some((Pointer::Tickets, 0)),
        mask: mask.map(|lies| lies.at),
        mask_batch,
        mask_head,
        mask_row,
        y_batch,
        y_head,
        y_row,
        scale: f64::from_bits(attention.scale) as f32,
        heads: s.heads as u32,
        shared: s.shared as u32,
        sharing: (s.heads / s.shared.max(1)) as u32,
        queries: s.queries as u32,
        keys: s.keys as u32,
        mask_kind: planned.mask_kind(),
        behind: attention.span.bounds()[0],
        ahead: attention.span.bounds()[1],
        last_first: planned.grows().into(),
        width: s.width as u32,
        depth: s.depth as u32,
        blocks: blocks as u32,
        section: section as u32,
        turns: (blocks * all) as u32,
        // None stays by what those are multiplied by that do.
        left_out: attention.left_out.min(Thin::ALL - 1),
        stays: (1.0 - f64::from(attention.left_out) / f64::from(Thin::ALL)) as f32,
        times: Thin::times(attention.left_out) as f32,
        seeds: planned.seeds(),
        ranges: planned.ranges(part),
        own: [0, 1].map(|k| own.get(k).and_then(|&i| mapped(i, tile.rows))),
        other: others.map(|i| mapped(i, tile.others)),
        out: match part {
            Part::Forward => [result(places.out, s.means()), None],
            Part::Queries => [result(places.out, dq), None],
            Part::Keys => [result(places.keys, dk), result(places.values, dv)],
        },
    };
    let mut made = KernelLaunch::of(OP, tile.kernel, launched, &args)?;
    made.shared = tile.shared(part) as u32;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever is free draws the next block: nobody is left with more than three percent above the mean, whatever the length and the count of heads.
    #[test]
    fn blocks_that_differ_in_length_end_together() {
        for (length, heads, rows, tile) in [
            (1024, 336, 192, 128),
            (4096, 84, 192, 128),
            (4096, 64, 128, 64),
            (16384, 16, 192, 128),
            (16384, 32, 192, 128),
            (4096, 32, 128, 64),
            (4096, 32, 64, 64),
            (1024, 128, 128, 64),
        ] {
            let blocks = usize::div_ceil(length, rows);
            for together in [1, 2, 5, 10, 16, 42] {
                let section = section(together, blocks, heads, MULTIPROCESSORS);
                assert!((together.min(heads)..=heads).contains(&section));
                let mut busy = [0; MULTIPROCESSORS];
                let each = section * blocks;
                for turn in 0..blocks * heads {
                    let first = turn / each * section;
                    let block = (turn % each) / section.min(heads - first);
                    let tiles = ((blocks - block) * rows).min(length).div_ceil(tile);
                    // Own rows and what is stored cost about what a tile does.
                    *busy.iter_mut().min().unwrap() += tiles + 1;
                }
                let most = busy.iter().max().unwrap() * MULTIPROCESSORS;
                let share = busy.iter().sum::<usize>() as f64 / most as f64;
                assert!(share > 0.97, "{length} {heads} {rows}: {together}, {section}: {share}");
            }
        }
    }
}
