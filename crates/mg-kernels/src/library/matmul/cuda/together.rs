//! Several products as one launch: those of one depth that wait for nothing of each other. Each by itself has too few tiles for all multiprocessors, or a
//! last round of few.

use super::model::{Division, Timed};
use super::tiles::{Kind, Tile};
use super::{Lines, Problem, Tiles, choose, maps, stores_boxes, takes_maps};
use crate::cuda::library::args::{self, Mapped};
use crate::cuda::library::constants::matmul_many;
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, find};
use mg_device::{DType, Result};
use smallvec::smallvec;
use std::array::from_fn;

/// So many products at most.
pub const MOST: usize = matmul_many::MANY;
/// From this depth on: what is less deep is over before it was worth waiting for others.
const DEEP: usize = 1024;
/// Tiles of 128 by 128 for each multiprocessor, of a product that leaves little of the device without work by itself.
const LARGE: usize = 4;

/// What products have in common that may be one launch; `None` where this one is better launched by itself, or there is no kernel.
pub fn alike(problem: &Problem) -> Option<[usize; 2]> {
    let [m, n, k] = problem.sizes();
    let half = matches!(problem.dtype, DType::F16 | DType::BF16);
    let tiles = m.div_ceil(128).saturating_mul(n.div_ceil(128));
    let fits = half
        && problem.lines() == [Some(Lines::Mn), Some(Lines::Mn)]
        && problem.epilogue.is_none()
        && problem.merged.batch.rank() == 0
        && takes_maps(problem)
        && stores_boxes(problem)
        && [m, n, k].iter().all(|&size| i32::try_from(size).is_ok())
        && k >= DEEP
        && (1..=LARGE * problem.tiles.multiprocessors()).contains(&tiles);
    fits.then_some([problem.dtype as usize, k])
}

/// How much slower the same tile is by the kernel of several products than by that of one.
fn slower(tiles: &Tiles) -> f64 {
    let of = |kind: Kind| {
        let mut all = tiles.kind(kind).iter();
        all.find(|timed| timed.tile.name == "w128x128" && timed.form == "mn").map(Timed::depth)
    };
    match (of(Kind::Many), of(Kind::Bf16)) {
        (Some(many), Some(one)) => many / one,
        (Some(_) | None, _) => 1.0,
    }
}

/// The launch of products that are [`alike`]. The operands of product `i` are [`Pointer::Input`]`(2 i)` and `(2 i + 1)`, its result is
/// [`Pointer::Output`]`(i)`. `None` where they are not alike, or sooner computed one by one.
///
/// # Errors
///
/// Sizes that no launch can take.
pub fn together(problems: &[Problem]) -> Result<Option<KernelPlan>> {
    together_by(problems, None)
}

/// As [`together`] with a tile of this name ("w128x128"), whatever else would be faster: for measurements.
///
/// # Errors
///
/// As [`together`].
pub fn together_with(problems: &[Problem], tile: &str) -> Result<Option<KernelPlan>> {
    together_by(problems, Some(tile))
}

fn together_by(problems: &[Problem], wanted: Option<&str>) -> Result<Option<KernelPlan>> {
    let Some(first) = problems.first().filter(|_| (2..=MOST).contains(&problems.len())) else {
        return Ok(None);
    };
    let common = alike(first);
    if common.is_none() || problems.iter().any(|problem| alike(problem) != common) {
        return Ok(None);
    }
    let [_, _, k] = first.sizes();
    let tiles_of = |tile: &Tile, problem: &Problem| {
        let [m, n, _] = problem.sizes();
        [m.div_ceil(tile.m), n.div_ceil(tile.n)]
    };
    let divided = |timed: &'static Timed| {
        let tiles: usize =
            problems.iter().map(|problem| tiles_of(timed.tile, problem).iter().product::<usize>()).sum();
        let (rounds, division) = timed.together(tiles, k);
        (timed.tile, tiles, rounds, division)
    };
    let takes = |timed: &&Timed| wanted.is_none_or(|name| timed.tile.name == name);
    let all = first.tiles.kind(Kind::Many).iter().filter(takes).map(divided);
    let Some((tile, tiles, rounds, division)) = all.min_by(|a, b| a.3.time.total_cmp(&b.3.time)) else {
        return Ok(None);
    };
    let multiprocessors = first.tiles.multiprocessors();
    let mut alone = 0.0;
    for problem in problems {
        alone += choose(problem, |_| true, None)?.map_or(f64::INFINITY, |chosen| chosen.2.time);
    }
    if wanted.is_none() && division.time >= slower(first.tiles) * alone {
        return Ok(None);
    }
    let Division { splits, k_part, uneven, .. } = division;
    let kernel = find("matmul", &format!("matmul_many_{}_{}_mn", first.dtype.name(), tile.name))?;
    let of = |i: usize| problems.get(i).map_or([0; 2], |problem| tiles_of(tile, problem).map(|n| n as u32));
    let mut first_tile = 0;
    let mut maps_of: [[Mapped; MOST]; 3] = Default::default();
    for (i, problem) in problems.iter().enumerate() {
        let [a, b, out] = maps(problem, tile)?;
        let input = |operand: usize| (Pointer::Input((2 * i + operand) as u8), 0);
        maps_of[0][i] = Some((input(0), a));
        maps_of[1][i] = Some((input(1), b));
        maps_of[2][i] = Some(((Pointer::Output(i as u8), 0), out));
    }
    let [a, b, out] = maps_of;
    let shared = splits > 1;
    let argument = args::matmul_many::Several {
        partials: shared.then_some((Pointer::Workspace, 0)),
        tickets: shared.then_some((Pointer::Tickets, 0)),
        k: k as u32,
        count: problems.len() as u32,
        tiles: tiles as u32,
        whole: rounds as u32,
        splits: splits as u32,
        k_part: k_part as u32,
        uneven: uneven.into(),
        tiles_m: from_fn(|i| of(i)[0]),
        tiles_n: from_fn(|i| of(i)[1]),
        first: from_fn(|i| {
            let at = first_tile;
            first_tile += of(i).iter().product::<u32>();
            at
        }),
        a,
        b,
        out,
    };
    let rest = tiles - rounds * multiprocessors;
    let blocks = if rounds > 0 || uneven { multiprocessors } else { multiprocessors.min(tiles * splits) };
    let mut launch = KernelLaunch::of("matmul", kernel, blocks, &argument)?;
    launch.shared = tile.shared;
    let workspace = if shared { rest * splits * tile.m * tile.n * 4 } else { 0 };
    Ok(Some(KernelPlan { launches: smallvec![launch], workspace, ..KernelPlan::default() }))
}
