//! A model of what products take by each tile: which one, and how many blocks share one.

use super::measured::Row;
use super::tiles::Tile;
use crate::cuda::library::TICKETS;

/// A tile for operands of a form, and what it takes on a GPU.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) tile: &'static Tile,
    pub(super) form: &'static str,
    /// What a launch takes at least, in microseconds.
    once: f64,
    /// What a depth of 1024 takes where each multiprocessor has 1, 2, … blocks at a time; no more than these fit.
    depth: Box<[f64]>,
    /// The GPU's.
    pub(super) multiprocessors: usize,
}

/// Measured on an H200: what it takes to join the sums of blocks that share a tile, in microseconds.
struct Join {
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

/// No more than this is kept of the sums of blocks that share a tile.
const MAX_PARTIALS: usize = 64 << 20;
/// Measured: how much slower tiles of several products in parts are than whole ones, since blocks at several places of k leave less of the operands in
/// the second-level cache for one another: behind rounds of whole tiles, and without any.
const CUT_LAST: f64 = 1.15;
const CUT: f64 = 1.3;
/// Measured: what each round of blocks after the first begins and ends with, in microseconds.
pub(super) const ROUND: f64 = 1.2;
/// Blocks that may share a tile.
const MAX_SPLITS: usize = 32;
/// The sums are added by all threads of the last block together.
const JOIN: Join = Join { once: 1.5, each: 0.15, byte: 1.0 / 3.5e6, alone: 1.0 / 6.0e4, tickets: 1 };
/// Each warp has its own part, and does not wait for the others.
const JOIN_HOPPER: Join = Join { once: 0.7, each: 0.0, byte: 1.0 / 7.0e6, alone: 1.0 / 1.1e5, tickets: 8 };

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
    /// For `blocks` blocks, and depths that are multiples of `step`; the depth of what blocks take is the one with which the busiest has the least to do. Where that is less than
    /// half of a tile's, even parts are faster: blocks at three or more places of k leave less of the operands in the second-level cache for one another
    /// (measured: 54 tiles 96 µs for 85, 18 tiles 44 for 37).
    fn new(blocks: usize, tiles: usize, k: usize, step: usize) -> Option<Shares> {
        let least = (tiles * k.div_ceil(step)).div_ceil(blocks).max(1);
        let all =
            (least..=least + least / 4).filter_map(|each| Shares::of(blocks, tiles, k, step, each * step));
        all.min_by_key(|shares| shares.longest)
    }

    fn of(blocks: usize, tiles: usize, k: usize, step: usize, each: usize) -> Option<Shares> {
        let (whole, left) = (k / each, k % each);
        if whole > 1 {
            return None;
        }
        let others = blocks.checked_sub(whole * tiles)?;
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

impl Timed {
    /// What a file says of a tile that is of `kind`.
    pub(super) fn new(row: &Row, multiprocessors: usize) -> Timed {
        let Row { tile, form, once, ref depth, .. } = *row;
        Timed { tile, form, once, depth: depth.as_slice().into(), multiprocessors }
    }

    /// What a depth of 1024 takes where each multiprocessor has a block.
    pub(super) fn depth(&self) -> f64 {
        self.depth.first().copied().unwrap_or(f64::INFINITY)
    }

    fn join(&self) -> &'static Join {
        if self.tile.hopper { &JOIN_HOPPER } else { &JOIN }
    }

    /// What so many blocks of a depth take, in full rounds and a rest.
    fn time(&self, blocks: usize, k: usize) -> f64 {
        let depth = |each: usize| self.depth[each - 1] * k as f64 / 1024.0;
        let round = self.multiprocessors * self.depth.len();
        let rest = (blocks % round).div_ceil(self.multiprocessors);
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
        let tiles = batch * m.div_ceil(self.tile.m) * n.div_ceil(self.tile.n);
        let stages = k.div_ceil(self.tile.k).max(1);
        let k_part = stages.div_ceil(splits) * self.tile.k;
        let splits = k.div_ceil(k_part).max(1);
        let joined = if splits > 1 { self.joined(tiles, splits, tiles * splits)? } else { 0.0 };
        Some(Division { splits, k_part, uneven: false, time: self.time(tiles * splits, k_part) + joined })
    }

    /// What it takes to join so many parts of each tile, and of all of them; `None` where so many are too many.
    fn joined(&self, tiles: usize, parts: usize, all: usize) -> Option<f64> {
        let (join, bytes) = (self.join(), self.tile.m * self.tile.n * 4);
        if tiles * join.tickets > TICKETS || tiles * parts * bytes > MAX_PARTIALS {
            return None;
        }
        let read = join.byte * (2 * all * bytes) as f64 + join.alone * (parts * bytes) as f64;
        Some(join.once + join.each * parts as f64 + read)
    }

    /// The product in parts of unlike depth; `None` where there are as many tiles as multiprocessors, or the kernel cannot.
    pub(super) fn shared_out(&self, batch: usize, m: usize, n: usize, k: usize) -> Option<Division> {
        let tiles = m.div_ceil(self.tile.m) * n.div_ceil(self.tile.n);
        if !self.tile.hopper || batch != 1 || tiles >= self.multiprocessors || k == 0 {
            return None;
        }
        self.shared(tiles, k)
    }

    /// So many tiles of a depth in parts of unlike depth.
    fn shared(&self, tiles: usize, k: usize) -> Option<Division> {
        let Shares { each, longest, parts, all } = Shares::new(self.multiprocessors, tiles, k, self.tile.k)?;
        if parts < 2 {
            return None;
        }
        let joined = self.joined(tiles, parts, all)?;
        let time = self.once + self.depth.last()? * longest as f64 / 1024.0 + joined;
        Some(Division { splits: parts, k_part: each, uneven: true, time })
    }

    /// So many tiles of several products, all of one depth: rounds in which each block takes a whole tile, and how the rest is divided.
    pub(super) fn together(&self, tiles: usize, k: usize) -> (usize, Division) {
        let whole = self.tile.k * k.div_ceil(self.tile.k).max(1);
        let unparted = Division { splits: 1, k_part: whole, uneven: false, time: self.time(tiles, k) };
        let (rounds, rest) = (tiles / self.multiprocessors, tiles % self.multiprocessors);
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
        let even = (2..=self.multiprocessors / rest).map_while(|parts| {
            let k_part = k.div_ceil(self.tile.k).div_ceil(parts) * self.tile.k;
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
        let stages = k.div_ceil(self.tile.k).max(1);
        let mut best =
            Division { splits: 1, k_part: stages * self.tile.k, uneven: false, time: f64::INFINITY };
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

#[cfg(test)]
mod tests {
    use super::super::measured::known;
    use super::super::tiles::Kind;
    use super::*;

    /// Multiprocessors of GPUs that there are, of parts of one, and of none.
    const COUNTS: [usize; 12] = [1, 2, 7, 16, 46, 68, 84, 108, 114, 128, 132, 188];

    /// Numbers that look drawn.
    struct Drawn(u64);

    impl Drawn {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % n
        }

        fn time(&mut self) -> f64 {
            // From a hundredth to a thousand.
            10f64.powf(self.below(5001) as f64 / 1000.0 - 2.0)
        }
    }

    /// What each block computes, as `Turn::share` has it: block, tile, depths, and how many parts the tile has.
    fn turns(
        blocks: usize,
        tiles: usize,
        k: usize,
        step: usize,
        each: usize,
    ) -> Vec<(usize, usize, std::ops::Range<usize>, usize)> {
        let (whole, left) = (k / each, k % each);
        let others = blocks - whole * tiles;
        let rounds = each.checked_div(left).unwrap_or(0);
        let apart = if left > 0 { tiles.saturating_sub(rounds * others) } else { 0 };
        let (mut slices, mut depth) = (usize::from(left > 0), left);
        if let Some(parts) = others.checked_div(apart) {
            depth = left.div_ceil(parts * step) * step;
            slices = left.div_ceil(depth);
        }
        let mut out = vec![];
        for block in 0..blocks {
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

    /// That parts of unlike depth are all of each tile, once.
    fn covers_once(blocks: usize, tiles: usize, k: usize, step: usize, s: &Shares) {
        let turns = turns(blocks, tiles, k, step, s.each);
        let what = format!("{blocks} blocks, {tiles} tiles, {k}: {s:?}");
        assert_eq!(turns.len(), s.all, "{what}");
        for tile in 0..tiles {
            let mut of: Vec<_> = turns.iter().filter(|t| t.1 == tile).collect();
            of.sort_by_key(|t| t.2.start);
            assert!(of.iter().all(|t| t.3 == of.len() && !t.2.is_empty()), "{what}: {of:?}");
            let ends = of.iter().map(|t| t.2.end);
            let starts = of.iter().map(|t| t.2.start).skip(1).chain([k]);
            assert!(of[0].2.start == 0 && ends.eq(starts), "{what}: {of:?}");
            assert!(of.len() <= s.parts);
        }
        let depth = |block| turns.iter().filter(|t| t.0 == block).map(|t| t.2.len()).sum::<usize>();
        assert!((0..blocks).map(depth).max().is_some_and(|n| n <= s.longest), "{what}");
    }

    #[test]
    fn unlike_parts_cover_each_tile_once() {
        for blocks in COUNTS {
            for tiles in [1, 2, 18, 24, 36, 54, 65, 66, 67, 72, 96, 131].into_iter().filter(|&n| n < blocks) {
                for k in [64, 640, 1000, 4096, 16384, 16392] {
                    let Some(s) = Shares::new(blocks, tiles, k, 64) else { continue };
                    covers_once(blocks, tiles, k, 64, &s);
                }
            }
        }
        // The gradient of a weight of 3072 by 768 over 16384 rows: 82 % of what one even division leaves.
        let s = Shares::new(132, 72, 16384, 64).unwrap();
        assert_eq!((s.each, s.longest, s.parts), (8960, 8960, 6));
    }

    /// A tile with times that no GPU would have.
    fn drawn(drawn: &mut Drawn) -> Timed {
        let all: Vec<_> = known(90).collect();
        let (_, tile, form) = all[drawn.below(all.len())];
        let depth = (0..=drawn.below(4)).map(|_| drawn.time()).collect();
        Timed { tile, form, once: drawn.time(), depth, multiprocessors: COUNTS[drawn.below(COUNTS.len())] }
    }

    #[test]
    fn whatever_a_table_says_each_tile_is_computed_once() {
        let mut random = Drawn(7);
        for _ in 0..4000 {
            let timed = drawn(&mut random);
            let mut size = |most: usize| 1 + random.below(most);
            let (batch, m, n, k) = (size(3), size(3000), size(3000), size(9000));
            let division = timed.divide(batch, m, n, k);
            let Division { splits, k_part, uneven, time } = division;
            let what = format!("{batch} of {m} by {n} by {k}, {timed:?}: {division:?}");
            let tiles = batch * m.div_ceil(timed.tile.m) * n.div_ceil(timed.tile.n);
            assert!(time.is_finite() && time > 0.0 && k_part.is_multiple_of(timed.tile.k), "{what}");
            if uneven {
                assert!(batch == 1 && timed.tile.hopper && tiles < timed.multiprocessors, "{what}");
                let shares = Shares::of(timed.multiprocessors, tiles, k, timed.tile.k, k_part).unwrap();
                assert_eq!(shares.parts, splits, "{what}");
                covers_once(timed.multiprocessors, tiles, k, timed.tile.k, &shares);
            } else {
                // Part i begins at i times `k_part`, and none is empty.
                assert!(splits * k_part >= k && (splits - 1) * k_part < k, "{what}");
            }
            assert!(splits == 1 || tiles * timed.join().tickets <= TICKETS, "{what}");
            assert!(
                splits == 1 || tiles * splits * timed.tile.m * timed.tile.n * 4 <= MAX_PARTIALS,
                "{what}"
            );
        }
    }

    #[test]
    fn tiles_of_several_products_are_whole_in_rounds_and_shared_out_behind_them() {
        let mut random = Drawn(3);
        let times = [(2.6, vec![6.3]), (2.6, vec![0.1]), (300.0, vec![2.0])];
        let drawn: Vec<_> = (0..3).map(|_| (random.time(), vec![random.time()])).collect();
        let many = known(90).filter(|(kind, ..)| *kind == Kind::Many);
        for (_, tile, form) in many {
            for (once, depth) in times.iter().chain(&drawn) {
                for multiprocessors in [7, 114, 132] {
                    let (once, depth) = (*once, depth.as_slice().into());
                    whole_in_rounds(&Timed { tile, form, once, depth, multiprocessors });
                }
            }
        }
    }

    fn whole_in_rounds(timed: &Timed) {
        let all = timed.multiprocessors;
        for tiles in (1..300).step_by(7).chain([131, 132, 216, 396, 432, 528, 1000]) {
            for k in [1024, 1030, 4096, 16384] {
                let (rounds, division) = timed.together(tiles, k);
                let Division { splits, k_part, uneven, time } = division;
                let what = format!("{tiles} tiles, {timed:?}, {k}: {rounds}, {division:?}");
                let rest = tiles - rounds * all;
                assert!(rest > 0 && time <= timed.time(tiles, k), "{what}");
                if uneven {
                    assert!(rest < all && splits > 1, "{what}");
                    let shares = Shares::of(all, rest, k, timed.tile.k, k_part).unwrap();
                    assert_eq!(shares.parts, splits, "{what}");
                    covers_once(all, rest, k, timed.tile.k, &shares);
                } else {
                    assert!(splits * k_part >= k && (splits - 1) * k_part < k, "{what}");
                    // Parts are one round of blocks.
                    assert!(splits == 1 || rest * splits <= all, "{what}");
                    assert!(rounds == 0 || splits > 1, "{what}");
                }
                assert!(rest * timed.join().tickets <= TICKETS || splits == 1, "{what}");
            }
        }
    }
}
