//! The tiles that products are divided into, and a model of what each takes: which one, and how many blocks share one.

use crate::cuda::library::TICKETS;

/// A tile, and its times on an H200 in microseconds. Measured on one round of blocks each for aligned operands, for up to four
/// blocks a multiprocessor; those of operands of any strides, and of more blocks, are scaled from what whole products took.
pub(super) struct Tile {
    /// As the kernels' names have it.
    pub(super) name: &'static str,
    pub(super) m: usize,
    pub(super) n: usize,
    /// Depth of a stage, of all groups of threads.
    pub(super) k: usize,
    /// Bytes of dynamic shared memory.
    pub(super) shared: u32,
    /// Which operands there is a kernel for: neighbours of a along k or m, of b along k or n, x where they are not aligned; "any"
    /// takes all.
    pub(super) forms: &'static [&'static str],
    /// What a launch takes at least.
    pub(super) once: f64,
    /// What a depth of 1024 takes where each multiprocessor has 1, 2, … blocks at a time; no more than these fit.
    pub(super) depth: &'static [f64],
    pub(super) join: &'static Join,
    /// By the instructions of capability 9.0 alone (`kernels/matmul_wgmma.cu`): blocks take tile after tile, and the copy
    /// engine brings the operands.
    pub(super) hopper: bool,
}

/// Measured: what it takes to join the sums of blocks that share a tile, in microseconds.
pub(super) struct Join {
    once: f64,
    /// More for each of the blocks.
    each: f64,
    /// For a byte that is written and read again.
    byte: f64,
    /// For a byte that the last block of a tile reads alone.
    alone: f64,
    /// Tickets of a tile.
    tickets: usize,
}

/// Multiprocessors of the device that was measured. Plans do not ask which device they are for, so that results
/// do not depend on it.
pub(super) const MULTIPROCESSORS: usize = 132;

/// No more than this is kept of the sums of blocks that share a tile.
const MAX_PARTIALS: usize = 64 << 20;

const fn tile(size: [usize; 3], shared: u32, once: f64, depth: &'static [f64]) -> Tile {
    let [m, n, k] = size;
    let name = match (m, n) {
        (256, 128) => "256x128",
        (128, 256) => "128x256",
        (128, 128) => "128x128",
        (128, 64) => "128x64",
        (32, 64) => "32x64",
        (32, 32) => "32x32",
        (64, 64) => "64x64",
        _ => panic!("a tile without a kernel"),
    };
    let forms = &["kn", "kk", "mn", "mk"];
    Tile { name, m, n, k, shared, forms, once, depth, join: &JOIN, hopper: false }
}

/// 128 rows by `n`, for capability 9.0; lines of a stage are 128 bytes of k.
const fn hopper(
    name: &'static str,
    n: usize,
    k: usize,
    stages: u32,
    once: f64,
    depth: &'static [f64],
) -> Tile {
    // Stages begin at multiples of 1024 bytes; besides them a block has 4096 bytes for each warp that multiplies, and two
    // barriers a stage.
    let shared = 1024 + stages * (128 * (128 + n as u32) + 16) + 8 * 4096;
    let forms = &["kn", "kk", "mn", "mk"];
    Tile { name, m: 128, n, k, shared, forms, once, depth, join: &JOIN_HOPPER, hopper: true }
}

/// As [`hopper`], of `m` rows by 128: what the result turned has.
const fn turned(name: &'static str, m: usize, stages: u32, once: f64, depth: &'static [f64]) -> Tile {
    let tile = hopper(name, m, 32, stages, once, depth);
    Tile { m, n: 128, ..tile }
}

/// As [`hopper`], of f32 by thirds (`kernels/thirds.cuh`): a ring of stages for those of the second operand too, 64 bytes a line.
const fn thirds(name: &'static str, n: usize, stages: [u32; 2], once: f64, depth: &'static [f64]) -> Tile {
    let [raw, ready] = stages;
    let tile = hopper(name, n, 32, raw, once, depth);
    Tile { shared: tile.shared + ready * (3 * 64 * n as u32 + 16), ..tile }
}

const fn only(forms: &'static [&'static str], tile: Tile) -> Tile {
    Tile { forms, ..tile }
}

/// Where one operand is not aligned, or neither.
const fn unaligned(tile: Tile) -> Tile {
    only(&["xn", "xk", "kx", "mx", "any"], tile)
}

const fn any(tile: Tile) -> Tile {
    only(&["any"], tile)
}

/// For every GPU and every type.
pub(super) const ANY: Tile = any(tile([64, 64, 16], 0, 4.0, &[80.0, 110.0, 150.0]));

pub(super) const F32: &[Tile] = &[
    thirds("w128x128", 128, [3, 3], 4.5, &[44.0]),
    only(&["kn", "mn"], tile([256, 128, 16], 73728, 6.9, &[184.5])),
    only(&["kk", "mk"], tile([128, 256, 16], 73728, 6.9, &[195.0])),
    tile([64, 64, 16], 32768, 3.4, &[35.8, 58.2, 81.8, 104.8]),
    tile([32, 64, 64], 98304, 2.8, &[16.5, 31.5]),
    tile([32, 32, 128], 98304, 2.8, &[8.2, 17.5]),
    unaligned(tile([32, 32, 128], 98304, 2.8, &[10.5, 21.0])),
    any(tile([128, 128, 16], 49152, 5.0, &[140.0, 265.0])),
    any(tile([64, 64, 16], 32768, 3.4, &[52.0, 85.0, 120.0, 154.0])),
];

pub(super) const TF32: &[Tile] = &[
    only(&["kk", "mk"], hopper("w128x256", 256, 32, 4, 3.0, &[21.0])),
    only(&["kk", "mk"], hopper("w128x192", 192, 32, 4, 2.6, &[16.5])),
    only(&["kk", "mk"], hopper("w128x128", 128, 32, 6, 2.8, &[11.0])),
    only(&["kk", "mk"], hopper("w128x64", 64, 32, 8, 2.6, &[7.2])),
    only(&["kn"], turned("w256x128", 256, 4, 3.0, &[21.0])),
    only(&["kn"], turned("w192x128", 192, 4, 2.6, &[16.5])),
    only(&["kn"], turned("w128x128", 128, 6, 2.8, &[11.0])),
    only(&["kn"], turned("w64x128", 64, 8, 2.6, &[7.2])),
    only(&["kn"], tile([128, 256, 32], 196608, 6.0, &[39.5])),
    only(&["kk", "mk"], tile([256, 128, 32], 196608, 6.0, &[41.0])),
    tile([128, 128, 32], 98304, 5.2, &[22.5, 41.5]),
    tile([64, 64, 64], 98304, 3.4, &[9.3, 17.0]),
    tile([32, 32, 64], 65536, 2.6, &[3.3, 7.3, 11.8]),
    unaligned(tile([32, 32, 64], 65536, 2.6, &[8.0, 13.0, 20.0])),
    any(tile([128, 128, 32], 98304, 5.2, &[50.0, 92.0])),
    any(tile([64, 64, 64], 98304, 3.4, &[20.0, 38.0])),
];

pub(super) const HALF: &[Tile] = &[
    hopper("w128x256", 256, 64, 4, 3.0, &[10.6]),
    hopper("w128x192", 192, 64, 4, 2.5, &[8.2]),
    hopper("w128x128", 128, 64, 6, 2.6, &[5.6]),
    hopper("w128x64", 64, 64, 8, 2.2, &[3.6]),
    tile([128, 256, 64], 147456, 6.0, &[17.9]),
    tile([128, 128, 64], 98304, 4.3, &[9.2, 18.3]),
    tile([128, 64, 64], 73728, 3.5, &[5.9, 11.3]),
    tile([64, 64, 128], 98304, 3.2, &[4.0, 7.5]),
    tile([32, 32, 128], 65536, 2.5, &[2.0, 4.0, 6.5]),
    unaligned(tile([32, 32, 128], 65536, 2.5, &[8.0, 13.0, 20.0])),
    any(tile([128, 128, 64], 98304, 5.2, &[60.0, 110.0])),
    any(tile([64, 64, 128], 98304, 3.4, &[30.0, 50.0])),
];

/// Of several products as one launch (`kernels/matmul_many.cu`), with the depths that all multiprocessors keep up together: measured on an H100, on
/// random numbers.
pub(super) const MANY: &[Tile] = &[
    only(&["mn"], hopper("w128x128", 128, 64, 6, 2.6, &[6.3])),
    only(&["mn"], hopper("w128x256", 256, 64, 4, 3.0, &[11.9])),
    only(&["mn"], hopper("w128x192", 192, 64, 4, 2.5, &[10.1])),
];

/// Of floats of eight bits (`kernels/scaled_wgmma.cu`): measured on an H200, on random numbers.
pub(super) const SCALED: Tile = only(&["kk"], hopper("w128x256", 256, 128, 4, 3.0, &[6.0]));

/// How blocks divide a product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Division {
    /// Blocks that share a tile, at most.
    pub(super) splits: usize,
    pub(super) k_part: usize,
    /// Parts are of unlike depth, see [`Shares`].
    pub(super) uneven: bool,
    /// Microseconds, by the table.
    pub(super) time: f64,
}

/// Fewer tiles than multiprocessors, divided so that all of these have about the same depth to compute; `Turn::share` in `kernels/matmul_wgmma.cu` says
/// which block computes what.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Shares {
    /// The depth of what the first blocks take.
    each: usize,
    /// What the busiest block computes.
    longest: usize,
    /// Parts of a tile, at most, and of all of them.
    parts: usize,
    all: usize,
}

impl Shares {
    /// For depths that are multiples of `step`; the depth of what blocks take is the one with which the busiest has the least to do. Where that is less than
    /// half of a tile's, even parts are faster: blocks at three or more places of k leave less of the operands in the second-level cache for one another
    /// (measured: 54 tiles 96 µs for 85, 18 tiles 44 for 37).
    fn new(tiles: usize, k: usize, step: usize) -> Option<Shares> {
        let least = (tiles * k.div_ceil(step)).div_ceil(MULTIPROCESSORS).max(1);
        let all = (least..=least + least / 4).filter_map(|each| Shares::of(tiles, k, step, each * step));
        all.min_by_key(|shares| shares.longest)
    }

    fn of(tiles: usize, k: usize, step: usize, each: usize) -> Option<Shares> {
        let (whole, left) = (k / each, k % each);
        if whole > 1 {
            return None;
        }
        let others = MULTIPROCESSORS.checked_sub(whole * tiles)?;
        if left == 0 {
            return Some(Shares { each, longest: each, parts: whole, all: whole * tiles });
        }
        let rounds = each / left;
        let apart = tiles.saturating_sub(rounds * others);
        if apart == 0 {
            return Some(Shares { each, longest: each, parts: whole + 1, all: (whole + 1) * tiles });
        }
        let most = others.checked_div(apart).filter(|&n| n > 0)?;
        let depth = left.div_ceil(most * step) * step;
        let slices = left.div_ceil(depth);
        let all = whole * tiles + (tiles - apart) + apart * slices;
        Some(Shares { each, longest: each.max(rounds * left + depth), parts: whole + slices, all })
    }
}

impl Tile {
    /// What so many blocks of a depth take, in full rounds and a rest.
    fn time(&self, blocks: usize, k: usize) -> f64 {
        let depth = |each: usize| self.depth[each - 1] * k as f64 / 1024.0;
        let round = MULTIPROCESSORS * self.depth.len();
        let rest = (blocks % round).div_ceil(MULTIPROCESSORS);
        let last = if rest > 0 { depth(rest) } else { 0.0 };
        let rounds = (blocks / round) as f64 * depth(self.depth.len()) + last;
        self.once + (blocks.div_ceil(round) - 1) as f64 * ROUND + rounds
    }

    /// The product in `splits` parts of k, or a few less, for each tile; `None` where so many are too many.
    pub(super) fn divided(
        &self,
        batch: usize,
        m: usize,
        n: usize,
        k: usize,
        splits: usize,
    ) -> Option<Division> {
        let tiles = batch * m.div_ceil(self.m) * n.div_ceil(self.n);
        let stages = k.div_ceil(self.k).max(1);
        let k_part = stages.div_ceil(splits) * self.k;
        let splits = k.div_ceil(k_part).max(1);
        let joined = if splits > 1 { self.joined(tiles, splits, tiles * splits)? } else { 0.0 };
        Some(Division { splits, k_part, uneven: false, time: self.time(tiles * splits, k_part) + joined })
    }

    /// What it takes to join so many parts of each tile, and of all of them; `None` where so many are too many.
    fn joined(&self, tiles: usize, parts: usize, all: usize) -> Option<f64> {
        let (join, bytes) = (self.join, self.m * self.n * 4);
        if tiles * join.tickets > TICKETS || tiles * parts * bytes > MAX_PARTIALS {
            return None;
        }
        let read = join.byte * (2 * all * bytes) as f64 + join.alone * (parts * bytes) as f64;
        Some(join.once + join.each * parts as f64 + read)
    }

    /// The product in parts of unlike depth; `None` where there are as many tiles as multiprocessors, or the kernel cannot.
    pub(super) fn shared_out(&self, batch: usize, m: usize, n: usize, k: usize) -> Option<Division> {
        let tiles = m.div_ceil(self.m) * n.div_ceil(self.n);
        if !self.hopper || batch != 1 || tiles >= MULTIPROCESSORS || k == 0 {
            return None;
        }
        self.shared(tiles, k)
    }

    /// So many tiles of a depth in parts of unlike depth.
    fn shared(&self, tiles: usize, k: usize) -> Option<Division> {
        let Shares { each, longest, parts, all } = Shares::new(tiles, k, self.k)?;
        if parts < 2 {
            return None;
        }
        let joined = self.joined(tiles, parts, all)?;
        let time = self.once + self.depth.last()? * longest as f64 / 1024.0 + joined;
        Some(Division { splits: parts, k_part: each, uneven: true, time })
    }

    /// So many tiles of several products, all of one depth: rounds in which each block takes a whole tile, and how the rest is divided.
    pub(super) fn together(&self, tiles: usize, k: usize) -> (usize, Division) {
        let whole = self.k * k.div_ceil(self.k).max(1);
        let unparted = Division { splits: 1, k_part: whole, uneven: false, time: self.time(tiles, k) };
        let (rounds, rest) = (tiles / MULTIPROCESSORS, tiles % MULTIPROCESSORS);
        if rest == 0 {
            return (0, unparted);
        }
        let depth = |k: usize| self.depth.last().map_or(f64::INFINITY, |depth| depth * k as f64 / 1024.0);
        let slower = if rounds > 0 { CUT_LAST } else { CUT };
        let mut best = (0, unparted);
        let mut better = |division: Division| {
            let time = rounds as f64 * depth(k) + slower * division.time;
            if time < best.1.time * 0.97 {
                best = (rounds, Division { time, ..division });
            }
        };
        let even = (2..=MULTIPROCESSORS / rest).map_while(|parts| {
            let k_part = k.div_ceil(self.k).div_ceil(parts) * self.k;
            let splits = k.div_ceil(k_part);
            let joined = self.joined(rest, splits, rest * splits)?;
            Some(Division { splits, k_part, uneven: false, time: self.once + depth(k_part) + joined })
        });
        even.filter(|division| division.splits > 1).for_each(&mut better);
        self.shared(rest, k).into_iter().for_each(better);
        best
    }

    /// The number of blocks for each tile that finishes first.
    pub(super) fn divide(&self, batch: usize, m: usize, n: usize, k: usize) -> Division {
        let stages = k.div_ceil(self.k).max(1);
        let mut best = Division { splits: 1, k_part: stages * self.k, uneven: false, time: f64::INFINITY };
        for splits in 1..=stages.min(MAX_SPLITS) {
            match self.divided(batch, m, n, k, splits) {
                // A little is not worth the memory.
                Some(division) if division.time < best.time * 0.97 => best = division,
                Some(_) => {}
                None => break,
            }
        }
        match self.shared_out(batch, m, n, k) {
            Some(division) if division.time < best.time * 0.97 => division,
            Some(_) | None => best,
        }
    }
}

/// Measured: how much slower tiles of several products in parts are than whole ones, since blocks at several places of k leave less of the operands in
/// the second-level cache for one another: behind rounds of whole tiles, and without any.
const CUT_LAST: f64 = 1.15;
const CUT: f64 = 1.3;
/// Measured: what each round of blocks after the first begins and ends with, in microseconds.
const ROUND: f64 = 1.2;
/// Blocks that may share a tile.
const MAX_SPLITS: usize = 32;
/// The sums are added by all threads of the last block together.
const JOIN: Join = Join { once: 1.5, each: 0.15, byte: 1.0 / 3.5e6, alone: 1.0 / 6.0e4, tickets: 1 };
/// Each warp has its own part, and does not wait for the others.
const JOIN_HOPPER: Join = Join { once: 0.7, each: 0.0, byte: 1.0 / 7.0e6, alone: 1.0 / 1.1e5, tickets: 8 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::library::Prebuilt;

    /// Each tile of a table with a kernel that it stands for.
    fn kernels(kind: &str, tiles: &'static [Tile]) -> Vec<(&'static Tile, &'static Prebuilt)> {
        let of = |tile: &'static Tile| {
            tile.forms.iter().map(move |form| {
                let name = format!("matmul_{kind}_{}_{form}", tile.name);
                (tile, Prebuilt::find(&name).unwrap_or_else(|| panic!("no kernel {name}")))
            })
        };
        // Where one operand is not aligned, small tiles alone have kernels.
        tiles.iter().flat_map(of).collect()
    }

    /// What each block computes, as `Turn::share` has it: tile, depths, and how many parts the tile has.
    fn turns(
        tiles: usize,
        k: usize,
        step: usize,
        each: usize,
    ) -> Vec<(usize, usize, std::ops::Range<usize>, usize)> {
        let (whole, left) = (k / each, k % each);
        let others = MULTIPROCESSORS - whole * tiles;
        let rounds = each.checked_div(left).unwrap_or(0);
        let apart = if left > 0 { tiles.saturating_sub(rounds * others) } else { 0 };
        let (mut slices, mut depth) = (usize::from(left > 0), left);
        if let Some(parts) = others.checked_div(apart) {
            depth = left.div_ceil(parts * step) * step;
            slices = left.div_ceil(depth);
        }
        let mut out = vec![];
        for block in 0..MULTIPROCESSORS {
            let (split, id) = (block / tiles, block % tiles);
            if split < whole {
                let parts = whole + if id < tiles - apart { usize::from(left > 0) } else { slices };
                out.push((block, id, split * each..(split + 1) * each, parts));
                continue;
            }
            let mine = block - whole * tiles;
            for round in 0..rounds {
                let id = mine + round * others;
                if id < tiles {
                    out.push((block, id, whole * each..k, whole + 1));
                }
            }
            if let (Some(id), true) = (mine.checked_div(slices), apart > 0) {
                let from = whole * each + mine % slices * depth;
                if id < apart {
                    out.push((block, tiles - apart + id, from..(from + depth).min(k), whole + slices));
                }
            }
        }
        out
    }

    #[test]
    fn unlike_parts_cover_each_tile_once() {
        for tiles in [1, 2, 18, 24, 36, 54, 65, 66, 67, 72, 96, 131] {
            for k in [64, 640, 1000, 4096, 16384, 16392] {
                let Some(s) = Shares::new(tiles, k, 64) else { continue };
                let turns = turns(tiles, k, 64, s.each);
                assert_eq!(turns.len(), s.all, "{tiles} tiles, {k}: {s:?}");
                for tile in 0..tiles {
                    let mut of: Vec<_> = turns.iter().filter(|t| t.1 == tile).collect();
                    of.sort_by_key(|t| t.2.start);
                    assert!(
                        of.iter().all(|t| t.3 == of.len() && !t.2.is_empty()),
                        "{tiles} tiles, {k}: {of:?}"
                    );
                    let ends = of.iter().map(|t| t.2.end);
                    let starts = of.iter().map(|t| t.2.start).skip(1).chain([k]);
                    assert!(of[0].2.start == 0 && ends.eq(starts), "{tiles} tiles, {k}: {of:?}");
                    assert!(of.len() <= s.parts);
                }
                let depth = |block| turns.iter().filter(|t| t.0 == block).map(|t| t.2.len()).sum::<usize>();
                let longest = (0..MULTIPROCESSORS).map(depth).max();
                assert!(longest.is_some_and(|n| n <= s.longest), "{tiles} tiles, {k}: {s:?}");
            }
        }
        // The gradient of a weight of 3072 by 768 over 16384 rows: 82 % of what one even division leaves.
        let s = Shares::new(72, 16384, 64).unwrap();
        assert_eq!((s.each, s.longest, s.parts), (8960, 8960, 6));
    }

    #[test]
    fn tiles_of_several_products_are_whole_in_rounds_and_shared_out_behind_them() {
        for tile in MANY {
            for tiles in (1..300).chain([396, 432, 528, 1000]) {
                for k in [1024, 1030, 4096, 16384] {
                    let (rounds, division) = tile.together(tiles, k);
                    let Division { splits, k_part, uneven, time } = division;
                    let what = format!("{tiles} tiles of {}, {k}: {rounds}, {division:?}", tile.name);
                    let rest = tiles - rounds * MULTIPROCESSORS;
                    assert!(rest > 0 && time <= tile.time(tiles, k), "{what}");
                    if uneven {
                        assert!(rest < MULTIPROCESSORS && splits > 1, "{what}");
                        let turns = turns(rest, k, tile.k, k_part);
                        assert!(turns.iter().all(|turn| turn.3 <= splits), "{what}");
                        let all: usize = turns.iter().map(|turn| turn.2.len()).sum();
                        assert_eq!(all, rest * k, "{what}");
                    } else {
                        assert!(splits * k_part >= k && (splits - 1) * k_part < k, "{what}");
                        // Parts are one round of blocks.
                        assert!(splits == 1 || rest * splits <= MULTIPROCESSORS, "{what}");
                        assert!(rounds == 0 || splits > 1, "{what}");
                    }
                    assert!(rest * tile.join.tickets <= TICKETS || splits == 1, "{what}");
                }
            }
        }
        // Two layers of a network: a round of whole tiles, and a rest that all blocks share.
        let (rounds, division) = MANY[0].together(216, 16384);
        assert_eq!((rounds, division.splits, division.k_part, division.uneven), (1, 2, 10944, true));
    }

    #[test]
    fn tiles_are_those_of_their_kernels() {
        let tables = [("f32", 4, F32), ("tf32", 4, TF32), ("f16", 2, HALF), ("bf16", 2, HALF)];
        for (kind, bytes, tiles) in tables.into_iter().chain([("many_f16", 2, MANY), ("many_bf16", 2, MANY)])
        {
            for (tile, kernel) in kernels(kind, tiles) {
                let number =
                    |name| kernel.constant(name).unwrap_or_else(|| panic!("{}: no {name}", kernel.name));
                let (m, n) = (number("BM"), number("BN"));
                assert_eq!((tile.m, tile.n), (m, n), "{}", kernel.name);
                let (stages, groups) = (number("STAGES"), number("GROUPS"));
                let shared = if tile.hopper {
                    assert_eq!(tile.k * bytes, 128, "{}", kernel.name);
                    // Warps that make thirds, and stages of these, if any.
                    let splitters = kernel.constant("SPLITTERS").unwrap_or(0);
                    let ready = kernel.constant("READY").map_or(0, |ready| ready * (3 * 64 * n + 16));
                    assert_eq!(kernel.threads() as usize, 128 * (1 + groups) + 32 * splitters);
                    // Stages begin at multiples of 1024 bytes; two barriers a stage.
                    1024 + stages * (number("STAGE") + 16) + ready + number("WARPS") * number("SLICE")
                } else {
                    assert_eq!(tile.k, number("BK") * groups, "{}", kernel.name);
                    assert_eq!(kernel.threads() as usize, number("THREADS") * groups);
                    // The stages' memory is the sums' afterwards: a slice of each group, lines 8 longer.
                    let stored = groups * number("SLICE") * (n + 8) * 4;
                    (groups * stages * (m + n) * number("BK") * bytes).max(stored)
                };
                assert_eq!(tile.shared as usize, shared, "{}", kernel.name);
            }
        }
        let any = Prebuilt::find("matmul_f32_any").unwrap();
        let number = |name| any.constant(name);
        assert_eq!([number("BM"), number("BN"), number("BK")], [Some(ANY.m), Some(ANY.n), Some(ANY.k)]);
        assert_eq!(ANY.shared, 0);
    }
}
