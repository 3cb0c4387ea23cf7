//! Launches of `kernels/attention_wgmma.cu`: attention by the instructions of capability 9.0.

use super::Heads;
use super::cuda::{CACHED, OP, Part, Places, Planned};
use crate::cuda::library::args::attention_wgmma::Flash;
use crate::cuda::library::{Launch, Pointer, Prebuilt};
use mg_device::cuda::{Elements, Moved};
use mg_device::{DType, Result};

/// Elements of a head that there are kernels for, at most: means of values, gradients of queries, those of keys and values. Their tiles
/// (`kernels/variants.txt`) were measured on an H100 among such of 128 and 192 rows, and 64 and 128 that they meet at a time.
const SIZES: [&[usize]; 3] = [&[64, 128, 256], &[64, 128], &[64, 128]];

/// Rows that a block meets, up to which blocks of 64 rows, three a multiprocessor, are faster than one of 128 or 192, where there are both: they wait for
/// memory side by side, and no group of warps has rows beyond the last. Longer ones read what they meet too often.
const SHORT: usize = 256;
/// The same where a row meets half of them on average.
const SHORT_CAUSAL: usize = 512;

/// Multiprocessors of the devices that these kernels are for. Blocks take one block of rows after the other.
const MULTIPROCESSORS: usize = 132;

/// A kernel, and what its source counts with.
pub(super) struct Tile {
    kernel: &'static Prebuilt,
    size: usize,
    /// Groups of four warps, each with 64 rows.
    groups: usize,
    /// Rows that a block meets at a time.
    others: usize,
    /// Of these, how many times there is room for them.
    stages: usize,
    /// How many blocks' own rows there is room for: the next block's come while this one's are computed.
    owns: usize,
    /// Blocks of a multiprocessor.
    each: usize,
}

impl Tile {
    fn of(part: Part, dtype: DType, size: usize, is_masked: bool, is_short: bool) -> Option<Tile> {
        let (form, masked) = (if is_short { "s" } else { "w" }, if is_masked { "_masked" } else { "" });
        let kernel =
            Prebuilt::find(&format!("attention_{}_{}_{form}{size}{masked}", part.name(), dtype.name()))?;
        let number = |name| kernel.constant(name);
        let (groups, others) = (number("GROUPS")?, number("OTHERS")?);
        let (stages, owns, each) = (number("STAGES")?, number("OWNS")?, number("EACH")?);
        Some(Tile { kernel, size, groups, others, stages, owns, each })
    }

    fn rows(&self) -> usize {
        64 * self.groups
    }

    /// Bytes of shared memory, as the kernel divides it: lines of 64 elements, numbers, barriers, and what alignment to 1024 takes.
    fn shared(&self, part: Part) -> usize {
        let own = if part == Part::Forward { 1 } else { 2 };
        let numbers = if part == Part::Keys { 2 * self.others * 4 } else { 0 };
        let line = self.size * 2;
        let stage = 2 * self.others * line + numbers + 4 * 8;
        1024 + self.owns * (own * self.rows() * line + 2 * 8) + self.stages * stage
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
    fn fits(&self, batch: usize) -> bool {
        let [_, rows, heads] = self.sizes;
        let apart = |(&step, n): (&isize, usize)| step % 8 == 0 && (step > 0 || step == 0 && n <= 1);
        self.align >= 16 && self.steps.iter().zip([rows, heads, batch]).all(apart)
    }

    fn map(&self, elements: Elements, batch: usize, rows: usize) -> Moved {
        let [line, count, heads] = self.sizes;
        // An axis of one position has no step that matters, but the driver asks for a multiple of 16.
        let strides = self.steps.map(|step| if step > 0 { step as usize * 2 } else { 16 });
        Moved::boxes(elements, [line, count, heads, batch], &strides, [64, rows, 1, 1])
    }
}

/// The tile by which a part is computed, where the copy engine takes the operands as they lie.
pub(super) fn tile_of(planned: &Planned, part: Part) -> Option<Tile> {
    let (s, target) = (planned.s, planned.target);
    let half = matches!(planned.dtype(), DType::F16 | DType::BF16);
    // By positive factors the largest score stays the largest.
    let scale = f64::from_bits(planned.attention.scale);
    let taken = half && target.capability == 90 && scale > 0.0 && scale.is_finite() && s.keys > 0;
    let heads = [s.width, s.depth].iter().all(|&n| n > 0 && n.is_multiple_of(8));
    let last = planned.lie.len() - 1;
    // Gradients read the means too, all of them.
    let (read, line): (&[usize], _) = match part {
        Part::Forward => (&[0, 1, 2], true),
        Part::Queries | Part::Keys => (&[0, 1, 2, last], planned.lie[last - 1].align >= 16),
    };
    let fit = line && target.align >= 16 && read.iter().all(|&i| Read::of(planned, i).fits(s.batch));
    if !(taken && heads && fit) {
        return None;
    }
    let size = SIZES[part as usize].iter().copied().find(|&size| s.width.max(s.depth) <= size)?;
    let met = if part == Part::Keys { s.queries } else { s.keys };
    let is_short = met <= if planned.attention.causal { SHORT_CAUSAL } else { SHORT };
    let of = |is_short| Tile::of(part, planned.dtype(), size, planned.mask_kind() > 0, is_short);
    is_short.then(|| of(true)).flatten().or_else(|| of(false))
}

/// The launch of a part.
pub(super) fn launched(planned: &Planned, part: Part, tile: Tile, places: &Places) -> Result<Launch> {
    let (s, attention) = (planned.s, planned.attention);
    let elements = if planned.dtype() == DType::F16 { Elements::F16 } else { Elements::BF16 };
    let last = planned.lie.len() - 1;
    let [dq, dk, dv] = s.gradients();
    let (length, heads, met, sharing) = match part {
        Part::Forward | Part::Queries => (s.queries, s.heads, s.keys, s.heads / s.shared),
        Part::Keys => (s.keys, s.shared, s.queries, 1),
    };
    let resident = MULTIPROCESSORS * tile.each;
    let (blocks, all) = (length.div_ceil(tile.rows()), s.batch * heads);
    // Blocks of these heads follow each other: what they read together stays in the second cache.
    let cached = CACHED / (met * (s.width + s.depth) * 2).max(1);
    let together = (cached.max(1) * sharing).min(all);
    // Where blocks differ in length, fewer than run at once would leave the others waiting for the longest.
    let long = part == Part::Keys && tile.each == 1;
    let uneven = attention.causal && (long || together * blocks < resident);
    let section = if uneven { all } else { together };

    let mapped = |i: usize, rows: usize| {
        let read = Read::of(planned, i);
        Some((read.at, read.map(elements, s.batch, rows)))
    };
    let (own, others): (&[usize], _) = match part {
        Part::Forward => (&[0], [1, 2]),
        Part::Queries => (&[0, last], [1, 2]),
        Part::Keys => (&[1, 2], [0, last]),
    };
    let result = |to: Option<(Pointer, u64)>, lies: Heads| {
        let [batch, head, row] = lies.steps().map(|step| step * 2);
        let sizes = [lies.size, lies.rows, lies.count, s.batch];
        to.map(|to| (to, Moved::boxes(elements, sizes, &[row, head, batch], [64, 16, 1, 1])))
    };
    let [y_batch, y_head, y_row] = s.means().steps().map(|step| step as u64);
    let mask = planned.lie.get(3).filter(|_| planned.mask_kind() > 0);
    let [mask_batch, mask_head, mask_row] = mask.map_or([0; 3], |lies| lies.steps.map(|n| n as u64));
    let args = Flash {
        sums_out: places.sums_out,
        sums: places.sums,
        means: places.means_out.or(places.means),
        y: places.y,
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
        queries: s.queries as u32,
        keys: s.keys as u32,
        mask_kind: planned.mask_kind(),
        causal: attention.causal.into(),
        width: s.width as u32,
        depth: s.depth as u32,
        blocks: blocks as u32,
        section: section as u32,
        turns: (blocks * all) as u32,
        own: [0, 1].map(|k| own.get(k).and_then(|&i| mapped(i, tile.rows()))),
        other: others.map(|i| mapped(i, tile.others)),
        out: match part {
            Part::Forward => [result(places.out, s.means()), None],
            Part::Queries => [result(places.out, dq), None],
            Part::Keys => [result(places.keys, dk), result(places.values, dv)],
        },
    };
    let mut made = Launch::of(OP, tile.kernel, (blocks * all).min(resident), &args)?;
    made.shared = tile.shared(part) as u32;
    Ok(made)
}
