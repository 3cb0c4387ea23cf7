//! Launches of `kernels/pool_span.cu`: windows over planes of which a block has what they see in shared memory.

use super::PoolKind;
use super::cuda::{argument, name, told};
use super::geometry::{Axis, Geometry};
use crate::cuda::library::args::index::Divisor;
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::{KernelPlan, launch};
use mg_device::{DType, Result};

/// Shared memory that any GPU gives without being asked.
const MOST: usize = 48 << 10;
/// So much of a block's is elements: more blocks at a time hide each other's waits.
const SPAN: usize = 16 << 10;
/// Windows of a block, for gradients.
const WINDOWS: usize = 2048;
/// Blocks that a device runs at a time: of little work each gets less.
const AT_A_TIME: usize = 4 * 132;

/// What a block has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    /// The axes of planes: that of lines, and that along which these lie densely.
    axes: [Axis; 2],
    /// Planes of a block.
    together: usize,
    /// Lines of the result that it has of each.
    rows: usize,
    /// Blocks for each plane.
    tiles: usize,
    /// Bytes of elements that it may have.
    bytes: usize,
    /// Windows that it may have, of gradients.
    windows: usize,
    /// Bytes of its shared memory.
    shared: usize,
}

/// Whether the gradient is asked for.
fn flows_back(kind: PoolKind) -> bool {
    matches!(kind, PoolKind::MaxGrad | PoolKind::MeanGrad)
}

impl Span {
    /// For planes with up to two axes whose lines fit; else none.
    pub(super) fn of(kind: PoolKind, g: &Geometry, dtype: DType) -> Option<Span> {
        match kind {
            PoolKind::Max | PoolKind::MaxAt | PoolKind::Mean | PoolKind::MaxGrad | PoolKind::MeanGrad => {}
            PoolKind::MaxPick | PoolKind::Unfold | PoolKind::Fold => return None,
        }
        let is_one = |a: &Axis| a.input == 1 && a.output == 1 && a.kernel == 1 && a.padding == 0;
        let means = matches!(kind, PoolKind::Mean | PoolKind::MeanGrad);
        if !is_one(&g.axes[0]) || g.axes.iter().any(|a| a.adaptive || means && a.dilation > 1) {
            return None;
        }
        // What is one line is as many lines of one element, of which a block need not have all.
        let [_, y, x] = g.axes;
        let axes = if is_one(&y) { [x, y] } else { [y, x] };
        let lines = if flows_back(kind) { axes[0].input } else { axes[0].output };
        let need = |rows: usize| Need::of(kind, &axes, dtype, rows);
        let fits = |need: Need| need.bytes <= SPAN && need.windows <= WINDOWS;
        let (mut most, mut over) = (1, lines + 1);
        while most + 1 < over {
            let middle = most.midpoint(over);
            if fits(need(middle)) { most = middle } else { over = middle }
        }
        // Few lines for each of many blocks, but not so few that most of what they see is others' too.
        let enough = (g.planes * lines).div_ceil(AT_A_TIME);
        let tiles = lines.div_ceil(enough.clamp(most.div_ceil(4), most));
        let rows = lines.div_ceil(tiles);
        // Of whole planes it has what no window sees, too.
        let elements = if kind == PoolKind::MeanGrad { 0 } else { g.inputs() * dtype.size() };
        let whole = Need { bytes: elements, ..need(lines) };
        let together = match tiles {
            1 => (1..=g.planes.min(enough / lines)).rev().find(|&n| fits(whole.times(n))).unwrap_or(1),
            _ => 1,
        };
        let need = if together > 1 { whole.times(together) } else { need(rows) };
        // As elements lie to a multiple of 16 bytes in memory, so they do here.
        let bytes = (need.bytes + 16).next_multiple_of(16);
        let value = dtype.size().max(4) + if kind == PoolKind::MaxGrad { size_of::<u16>() } else { 0 };
        let shared = bytes + need.windows * value;
        let span =
            Span { axes, together, rows, tiles: lines.div_ceil(rows), bytes, windows: need.windows, shared };
        (shared <= MOST).then_some(span)
    }

    /// The side of windows that the kernel has in its text.
    fn side(&self) -> u32 {
        let [y, x] = &self.axes;
        let is = |a: &Axis, side: usize| {
            let (last, end) = ((a.output - 1) * 2, a.input + a.padding);
            let fits =
                if side == 2 { a.padding == 0 && last + side <= end } else { a.padding < side && last < end };
            a.kernel == side && a.stride == 2 && a.dilation == 1 && fits
        };
        [2, 3].into_iter().find(|&n| is(y, n) && is(x, n)).unwrap_or(0) as u32
    }

    /// The launch for these planes.
    pub(super) fn plan(&self, kind: PoolKind, g: &Geometry, dtype: DType) -> Result<KernelPlan> {
        let flows_back = flows_back(kind);
        let (share, number) = told(g.share);
        let args = args::pool_span::PoolSpan {
            out: OUTPUT,
            x: if kind == PoolKind::MeanGrad { None } else { input(0) },
            g: if flows_back { input(if kind == PoolKind::MaxGrad { 2 } else { 0 }) } else { None },
            planes: g.planes as u64,
            inputs: g.inputs() as u64,
            outputs: g.outputs() as u64,
            number,
            axis: self.axes.each_ref().map(argument),
            rows: Divisor::by(self.rows),
            tiles: Divisor::by(self.tiles),
            together: self.together as u32,
            share,
            span: self.bytes as u32,
            windows: self.windows as u32,
            side: self.side(),
        };
        let blocks = g.planes.div_ceil(self.together) * self.tiles;
        let name = name(kind, dtype).replacen("pool_", "pool_span_", 1);
        let mut made = launch("pool", &name, blocks, &args)?;
        made.shared = self.shared as u32;
        let mut plan = KernelPlan::default();
        plan.launches.push(made);
        Ok(plan)
    }
}

/// What a block has to have, at most.
#[derive(Clone, Copy)]
struct Need {
    /// Of elements.
    bytes: usize,
    /// Windows of which it keeps what flows back.
    windows: usize,
}

impl Need {
    /// For so many lines of the result of one plane.
    fn of(kind: PoolKind, [y, x]: &[Axis; 2], dtype: DType, rows: usize) -> Need {
        let reach = y.dilation * (y.kernel - 1);
        let held = if flows_back(kind) { ((rows - 1 + reach) / y.stride + 1).min(y.output) } else { rows };
        let seen = (held.saturating_sub(1) * y.stride + reach + 1).min(y.input);
        Need {
            bytes: if kind == PoolKind::MeanGrad { 0 } else { seen * x.input * dtype.size() },
            windows: if flows_back(kind) { held * x.output } else { 0 },
        }
    }

    /// For so many times that.
    fn times(self, n: usize) -> Need {
        Need { bytes: n * self.bytes, windows: n * self.windows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Share;
    use std::ops::Range;

    fn axis(input: usize, kernel: usize, stride: usize, padding: usize, dilation: usize) -> Axis {
        let output = (input + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
        Axis { input, output, kernel, stride, padding, dilation, adaptive: false }
    }

    /// The lines that the windows of lines of results see, as the kernel works it out.
    fn seen(a: &Axis, windows: Range<usize>) -> usize {
        let ends = |o: usize| {
            let w = a.window(o);
            (w.first, w.first + w.count.saturating_sub(1) * a.dilation + usize::from(w.count > 0))
        };
        ends(windows.end - 1).1.saturating_sub(ends(windows.start).0)
    }

    /// Every line lies in one tile, and a block has room for all that its lines see.
    #[test]
    fn blocks_hold_what_they_see() {
        for (planes, input, kernel, stride, padding, dilation) in [
            (3, (112, 112), 3, 2, 1, 1),
            (16384, (56, 56), 2, 2, 0, 1),
            (5000, (7, 9), 3, 1, 1, 1),
            (2, (9, 300), 5, 1, 2, 1),
            (900, (8, 8), 3, 3, 1, 2),
            (4, (1, 100_000), 1, 1, 0, 1),
            (4, (33, 257), 7, 2, 3, 3),
            (700, (40, 70), 31, 1, 15, 1),
            (2, (20, 1920), 3, 2, 1, 1),
            (6000, (11, 8), 2, 4, 0, 1),
        ] {
            let axes = [
                axis(1, 1, 1, 0, 1),
                axis(input.0, kernel, stride, padding, dilation),
                axis(input.1, kernel, stride, padding, dilation),
            ];
            let g = Geometry { planes, axes, share: Share::Places };
            for kind in [PoolKind::Max, PoolKind::MaxGrad, PoolKind::Mean, PoolKind::MeanGrad] {
                for dtype in [DType::F16, DType::F32, DType::F64] {
                    let Some(span) = Span::of(kind, &g, dtype) else {
                        assert!(dilation > 1 || input.1 > 1000 || kernel > 30, "{kind:?} {g:?}");
                        continue;
                    };
                    let [y, x] = span.axes;
                    let lines = if flows_back(kind) { y.input } else { y.output };
                    assert_eq!(span.tiles, lines.div_ceil(span.rows), "{span:?}");
                    assert!(span.together == 1 || span.tiles == 1 && span.rows == lines, "{span:?}");
                    assert!(span.shared <= MOST && span.together <= planes, "{span:?}");
                    for first in (0..lines).step_by(span.rows) {
                        let end = (first + span.rows).min(lines);
                        let windows = if flows_back(kind) {
                            y.readers(first).start..y.readers(end - 1).end
                        } else {
                            first..end
                        };
                        if flows_back(kind) {
                            assert!(span.together * windows.len() * x.output <= span.windows, "{span:?}");
                        }
                        if kind != PoolKind::MeanGrad && !windows.is_empty() {
                            let lines = if span.together > 1 { y.input } else { seen(&y, windows) };
                            let bytes = span.together * lines * x.input * dtype.size();
                            // And as many as lie before the first one, to a multiple of 16.
                            assert!(bytes + 16 - dtype.size() <= span.bytes, "{span:?}: {bytes}");
                        }
                    }
                }
            }
        }
    }
}
