//! Launches of `kernels/attention_wgmma.cu`: attention by the instructions of capability 9.0.

use super::cuda::{CACHED, OP, Part, Places, Planned};
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::launch;
use crate::cuda::library::{Launch, Pointer};
use mg_device::cuda::{Elements, Moved, TensorMap};
use mg_device::{DType, Result};

/// The blocks of a kernel: `kernels/variants.txt` has the same numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    /// Elements of a head, at most.
    size: usize,
    /// Groups of four warps, each with 64 rows.
    groups: usize,
    /// Rows that a block meets at a time.
    others: usize,
    /// Of these, how many times there is room for them.
    stages: usize,
    /// How many blocks' own rows there is room for: the next block's come while this one's are computed.
    owns: usize,
}

const fn tile(size: usize, [groups, others, stages, owns]: [usize; 4]) -> Tile {
    Tile { size, groups, others, stages, owns }
}

/// Without a mask in memory, and with one: the means of values, the gradients of queries, those of keys and values. Measured on an H100
/// among tiles of 128 and 192 rows, 64 and 128 others.
const TILES: [&[Tile]; 3] = [
    &[tile(64, [3, 128, 4, 2]), tile(128, [3, 128, 2, 2]), tile(256, [2, 64, 2, 1])],
    &[tile(64, [3, 64, 4, 2]), tile(128, [3, 64, 4, 1])],
    &[tile(64, [3, 64, 4, 2]), tile(128, [2, 64, 2, 2])],
];
const MASKED: [&[Tile]; 3] = [
    &[tile(64, [3, 128, 4, 2]), tile(128, [2, 128, 2, 2]), tile(256, [2, 64, 2, 1])],
    &[tile(64, [3, 64, 4, 2]), tile(128, [2, 64, 2, 2])],
    &[tile(64, [2, 64, 4, 2]), tile(128, [2, 64, 2, 2])],
];

/// Multiprocessors of the devices that these kernels are for. Blocks take one block of rows after the other.
const MULTIPROCESSORS: usize = 132;

impl Tile {
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
    /// Queries, keys, values; or, at the end of a gradient's operands, what flows back to the means, which lie densely in its line.
    fn of(planned: &Planned, i: usize) -> Read {
        let (s, lies) = (planned.s, &planned.lie[i]);
        let [batch, head, row] = lies.steps;
        let (sizes, steps) = match i {
            0 => ([s.width, s.queries, s.heads], [row, head, batch]),
            1 => ([s.width, s.keys, s.shared], [row, head, batch]),
            2 => ([s.depth, s.keys, s.shared], [row, head, batch]),
            _ => {
                let [row, head] = [s.depth, s.depth * s.queries];
                ([s.depth, s.queries, s.heads], [row, head, head * s.heads].map(|n| n as isize))
            }
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
        let strides = self.steps.map(|step| if step > 0 { step as u64 * 2 } else { 16 });
        Moved::Boxes(TensorMap {
            elements,
            sizes: [line, count, heads, batch].map(|n| n as u64).into_iter().collect(),
            strides: strides.into_iter().collect(),
            boxes: [64, rows as u32, 1, 1].into_iter().collect(),
        })
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
    // The means, which gradients read too, are a dense line.
    let (read, line): (&[usize], _) = match part {
        Part::Forward => (&[0, 1, 2], true),
        Part::Queries | Part::Keys => (&[0, 1, 2, last], planned.lie[last - 1].align >= 16),
    };
    let fit = line && target.align >= 16 && read.iter().all(|&i| Read::of(planned, i).fits(s.batch));
    if !(taken && heads && fit) {
        return None;
    }
    let tiles = if planned.mask_kind() > 0 { MASKED } else { TILES }[part as usize];
    tiles.iter().copied().find(|tile| s.width.max(s.depth) <= tile.size)
}

/// The launch of a part.
pub(super) fn launched(planned: &Planned, part: Part, tile: Tile, places: &Places) -> Result<Launch> {
    let (s, attention) = (planned.s, planned.attention);
    let elements = if planned.dtype() == DType::F16 { Elements::F16 } else { Elements::BF16 };
    let last = planned.lie.len() - 1;
    let (length, heads, met, sharing) = match part {
        Part::Forward | Part::Queries => (s.queries, s.heads, s.keys, s.heads / s.shared),
        Part::Keys => (s.keys, s.shared, s.queries, 1),
    };
    let (blocks, all) = (length.div_ceil(tile.rows()), s.batch * heads);
    // Blocks of these heads follow each other: what they read together stays in the second cache.
    let cached = CACHED / (met * (s.width + s.depth) * 2).max(1);
    let together = (cached.max(1) * sharing).min(all);
    // Where blocks differ in length, fewer than there are multiprocessors would leave these waiting for the longest.
    let uneven = attention.causal && (part == Part::Keys || together * blocks < MULTIPROCESSORS);
    let section = if uneven { all } else { together };

    let mut args = Args::default();
    args.pointer(places.sums_out)
        .pointer(places.sums)
        .pointer(places.means_out.or(places.means))
        .pointer(places.y);
    let mask = planned.lie.get(3).filter(|_| planned.mask_kind() > 0);
    args.pointer(mask.map(|lies| lies.at)).i64s(&mask.map_or([0; 3], |lies| lies.steps));
    args.u32((f64::from_bits(attention.scale) as f32).to_bits());
    for n in [s.heads, s.shared, s.queries, s.keys] {
        args.u32(n as u32);
    }
    args.u32(planned.mask_kind()).u32(attention.causal.into());
    for n in [s.width, s.depth, blocks, section, blocks * all] {
        args.u32(n as u32);
    }
    let mut operand = |i: usize, rows: usize| {
        let read = Read::of(planned, i);
        args.map(read.at, read.map(elements, s.batch, rows));
    };
    let (own, others) = match part {
        Part::Forward => ([0, 0], [1, 2]),
        Part::Queries => ([0, last], [1, 2]),
        Part::Keys => ([1, 2], [0, last]),
    };
    own.into_iter().for_each(|i| operand(i, tile.rows()));
    others.into_iter().for_each(|i| operand(i, tile.others));
    let mut result = |to: Option<(Pointer, u64)>, line: usize| {
        let tensor = TensorMap {
            elements,
            sizes: [line, length, all].map(|n| n as u64).into_iter().collect(),
            strides: [line * 2, length * line * 2].map(|n| n as u64).into_iter().collect(),
            boxes: [64, 16, 1].into_iter().collect(),
        };
        match to {
            Some(to) => args.map(to, Moved::Boxes(tensor)),
            None => args.no_map(),
        };
    };
    match part {
        Part::Forward => result(places.out, s.depth),
        Part::Queries => result(places.out, s.width),
        Part::Keys => result(places.keys, s.width),
    }
    result(places.values.filter(|_| part == Part::Keys), s.depth);

    let masked = if planned.mask_kind() > 0 { "_masked" } else { "" };
    let name = format!("attention_{}_{}_w{}{masked}", part.name(), planned.dtype().name(), tile.size);
    let mut made = launch(OP, &name, (blocks * all).min(MULTIPROCESSORS), args)?;
    made.block = [128 * (1 + tile.groups as u32), 1, 1];
    made.shared = tile.shared(part) as u32;
    Ok(made)
}
