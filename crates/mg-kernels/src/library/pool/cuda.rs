//! Launches of `kernels/pool.cu` and `kernels/pool_tile.cu`.

use super::geometry::{Axis, Geometry};
use super::{PoolKind, Share};
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT};
use crate::cuda::library::constants::pool::THREADS;
use crate::cuda::library::constants::pool_tile::WINDOWS;
use crate::cuda::library::copy::fill;
use crate::cuda::library::{KernelPlan, launch};
use mg_device::{DType, Error, ErrorKind, Result};

/// Numbers that 32-bit division does not do.
const WIDE: usize = 1 << 31;

fn name(kind: PoolKind, dtype: DType) -> String {
    let of = |kind: &str| format!("pool_{kind}_{}", dtype.name());
    match kind {
        PoolKind::Max => of("max"),
        PoolKind::MaxAt => of("at"),
        PoolKind::MaxGrad => of("maxgrad"),
        PoolKind::MaxPick => of("pick"),
        PoolKind::Mean => of("mean"),
        PoolKind::MeanGrad => of("meangrad"),
        PoolKind::Unfold => format!("pool_unfold_b{}", 8 * dtype.size()),
        PoolKind::Fold => of("fold"),
    }
}

pub(super) fn plan(
    kind: PoolKind,
    g: &Geometry,
    dtype: DType,
    operands: usize,
    count: usize,
) -> Result<KernelPlan> {
    const OP: &str = "pool";
    let spread = matches!(kind, PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold);
    if count == 0 {
        return Ok(KernelPlan::default());
    }
    if spread && g.outputs() == 0 {
        return fill(dtype.size(), count, 0);
    }
    let part = match kind {
        PoolKind::MaxGrad | PoolKind::MeanGrad | PoolKind::Fold => g.inputs(),
        PoolKind::Unfold => g.places() * g.outputs(),
        PoolKind::Max | PoolKind::MaxAt | PoolKind::MaxPick | PoolKind::Mean => g.outputs(),
    };
    let reach = |a: &Axis| a.output * a.stride + a.kernel * a.dilation + a.input + 2 * a.padding;
    let most = g.axes.iter().map(reach).max().unwrap_or(0).max(part);
    if most >= WIDE {
        let text = format!("{most} positions are more than a launch counts: at most 2^31 - 1 are taken");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let wide = count >= WIDE || g.axes.iter().any(|a| a.adaptive && (a.input + 1) * (a.output + 1) >= WIDE);
    if kind == PoolKind::MaxGrad
        && !wide
        && let Some(tiles) = Tiles::of(g)
    {
        let mut plan = KernelPlan::default();
        plan.launches.push(launch(
            OP,
            &name(kind, dtype).replace("grad", "tile"),
            tiles.blocks,
            &tiles.args(g),
        )?);
        return Ok(plan);
    }
    let input = |i: u8| (usize::from(i) < operands).then(|| args::input(i)).flatten();
    let (share, number) = match g.share {
        Share::Places => (0, 1),
        Share::Elements => (1, 1),
        Share::Number(n) => (2, n),
    };
    // Of a share of an axis it is the least that is certain.
    let elements = |a: &Axis| if a.adaptive { a.input / a.output.max(1) } else { a.kernel };
    let together = kind == PoolKind::Mean && g.axes.iter().map(elements).product::<usize>() >= LARGE;
    let planes = count.div_ceil(part);
    let each = if together { 1 } else { (count / AT_ONCE).clamp(1, PLANES) };
    let groups = planes.div_ceil(each);
    let args = args::pool::Pool {
        out: OUTPUT,
        a: input(0),
        b: input(1),
        c: input(2),
        count: (part * groups) as u64,
        planes: planes as u64,
        inputs: g.inputs() as u64,
        outputs: g.outputs() as u64,
        places: g.places() as u64,
        number,
        part: Divisor::by(part),
        axis: g.axes.each_ref().map(argument),
        share,
        adaptive: g.axes[0].adaptive.into(),
        wide: wide.into(),
        together: together.into(),
        each: each as u32,
    };
    let mut plan = KernelPlan::default();
    let threads = if together { count * 32 } else { part * groups };
    plan.launches.push(launch(OP, &name(kind, dtype), threads.div_ceil(THREADS), &args)?);
    Ok(plan)
}

fn argument(a: &Axis) -> args::pool::Axis {
    args::pool::Axis {
        r#in: Divisor::by(a.input),
        out: Divisor::by(a.output),
        kernel: Divisor::by(a.kernel),
        stride: Divisor::by(a.stride),
        dilation: Divisor::by(a.dilation),
        padding: a.padding as i32,
    }
}

/// Planes of a thread, at most.
const PLANES: usize = 4;
/// Threads that a device runs at once, twice: with fewer a thread has fewer planes.
const AT_ONCE: usize = 1 << 19;
/// Elements of a window from which a warp adds them up.
const LARGE: usize = 64;
/// Inputs that a block works on: eight for each thread.
const TILE: usize = 2048;
/// Planes of fewer inputs leave most of a block idle.
const LEAST: usize = 64;

/// How planes are divided among blocks that look once for the largest element of each window.
#[derive(Debug, PartialEq)]
struct Tiles {
    /// Inputs of a tile, by axes.
    inputs: [usize; 2],
    /// Windows that may hold one of them.
    windows: [usize; 2],
    /// Tiles of a plane.
    count: [usize; 2],
    blocks: usize,
}

impl Tiles {
    /// For planes with two axes and windows that do not adapt; else none.
    fn of(g: &Geometry) -> Option<Tiles> {
        let [depth, axes @ ..] = &g.axes;
        let is_flat = depth.input == 1 && depth.output == 1 && depth.kernel == 1 && depth.padding == 0;
        if !is_flat || axes.iter().any(|a| a.adaptive) || g.inputs() < LEAST {
            return None;
        }
        let held = |a: &Axis, inputs: usize| {
            ((inputs - 1 + a.dilation * (a.kernel - 1)) / a.stride + 1).min(a.output)
        };
        // Equal parts, the last one perhaps smaller.
        let part = |whole: usize, most: usize| whole.div_ceil(whole.div_ceil(most));
        let [y, x] = axes;
        let mut most = 64;
        let mut across = part(x.input, most);
        while held(x, across) > WINDOWS / 8 && most > 1 {
            most /= 2;
            across = part(x.input, most);
        }
        let mut down = part(y.input, (TILE / across).max(1));
        while held(y, down) * held(x, across) > WINDOWS {
            if down == 1 {
                return None;
            }
            down = down.div_ceil(2);
        }
        let count = [y.input.div_ceil(down), x.input.div_ceil(across)];
        let blocks = g.planes.checked_mul(count[0] * count[1]).filter(|&n| n < WIDE)?;
        Some(Tiles { inputs: [down, across], windows: [held(y, down), held(x, across)], count, blocks })
    }

    fn args(&self, g: &Geometry) -> args::pool_tile::PoolTiles {
        let [_, y, x] = &g.axes;
        args::pool_tile::PoolTiles {
            out: OUTPUT,
            x: args::input(0),
            g: args::input(2),
            inputs: g.inputs() as u64,
            outputs: g.outputs() as u64,
            axis: [argument(y), argument(x)],
            tile: self.inputs.map(Divisor::by),
            window: self.windows.map(Divisor::by),
            tiles: self.count.map(Divisor::by),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(input: usize, kernel: usize, stride: usize, padding: usize, dilation: usize) -> Axis {
        let output = (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
        Axis { input, output, kernel, stride, padding, dilation, adaptive: false }
    }

    /// Every input lies in one tile, and a tile has room for all windows that reach into it.
    #[test]
    fn tiles_cover_planes_and_hold_their_windows() {
        for (input, kernel, stride, padding, dilation) in [
            ((112, 112), 3, 2, 1, 1),
            ((24, 24), 2, 2, 0, 1),
            ((9, 300), 5, 1, 2, 1),
            ((8, 8), 3, 3, 1, 2),
            ((1000, 1), 1, 1, 0, 1),
            ((33, 257), 7, 2, 3, 3),
            ((40, 70), 31, 1, 15, 1),
        ] {
            let whole = axis(1, 1, 1, 0, 1);
            let g = |x: usize| {
                if x > dilation * (kernel - 1) || padding > 0 {
                    (kernel, stride, padding, dilation)
                } else {
                    (1, 1, 0, 1)
                }
            };
            let at = |x: usize| {
                let (k, s, p, d) = g(x);
                axis(x, k, s, p, d)
            };
            let geometry =
                Geometry { planes: 3, axes: [whole, at(input.0), at(input.1)], share: Share::Places };
            let tiles = Tiles::of(&geometry).unwrap();
            assert!(tiles.windows[0] * tiles.windows[1] <= WINDOWS, "{tiles:?}");
            for d in 0..2 {
                let a = &geometry.axes[d + 1];
                assert_eq!(tiles.count[d], a.input.div_ceil(tiles.inputs[d]));
                for first in (0..a.input).step_by(tiles.inputs[d]) {
                    let last = (first + tiles.inputs[d]).min(a.input) - 1;
                    let held = a.readers(last).end - a.readers(first).start;
                    assert!(held <= tiles.windows[d], "{a:?}: {held} of {tiles:?}");
                }
            }
            assert_eq!(tiles.blocks, 3 * tiles.count[0] * tiles.count[1]);
        }
    }
}
