//! Launches of `kernels/attention.cu` and `kernels/attention_mma.cu`, and the choice among these and `hopper`'s.

use super::{Attention, AttentionKind, Heads, Sizes, Span, hopper, wide};
use crate::cuda::library::args::{self, Address};
use crate::cuda::library::copy::{self, fill};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, TICKETS, launch};
use crate::library::matmul::Precision;
use crate::library::{Described, Target, Thin};
use mg_device::{DType, Error, ErrorKind, Float, Layout, Result};
use smallvec::SmallVec;

pub(super) const OP: &str = "attention";
/// Without tensor cores: columns of a result that a block has, in blocks.
const CHUNKS: usize = 2;
/// Queries of a block that sums products of rows.
const WARPS: usize = 8;
/// On tensor cores: threads of a block, and stages of what it walks over.
const THREADS: usize = 128;
const STAGES: usize = 2;
/// Bytes of keys and values (or of what asks for them) that stay in the second cache while blocks of several heads take turns.
pub(super) const CACHED: usize = 16 << 20;

/// Where the launches' addresses come from.
#[derive(Default)]
pub(super) struct Places {
    pub(super) out: Address,
    pub(super) keys: Address,
    pub(super) values: Address,
    pub(super) sums_out: Address,
    pub(super) means_out: Address,
    pub(super) y: Address,
    pub(super) g: Address,
    pub(super) sums: Address,
    pub(super) means: Address,
    pub(super) parts: Address,
}

/// A part of the work, with a kernel of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Means of values.
    Forward,
    /// Gradients of queries.
    Queries,
    /// Gradients of keys and values.
    Keys,
}

impl Part {
    pub(super) fn name(self) -> &'static str {
        match self {
            Part::Forward => "forward",
            Part::Queries => "dq",
            Part::Keys => "dkv",
        }
    }
}

/// A block's rows, the rows that it walks over at a time, and its columns of the result.
type Tile = [usize; 3];

/// Tiles of `attention_mma.cu` for heads of at most so many elements, as `kernels/variants.txt` has them: of the means, of the gradients of
/// queries, of those of keys and values.
type Tiles = [(usize, [Tile; 3])];

const HALVES: &Tiles = &[
    (32, [[64, 64, 32], [64, 64, 32], [64, 64, 32]]),
    (64, [[64, 64, 64], [64, 64, 64], [64, 64, 64]]),
    (96, [[128, 64, 96], [64, 64, 96], [64, 64, 96]]),
    (128, [[128, 64, 128], [128, 32, 128], [64, 64, 128]]),
    (256, [[64, 32, 256], [64, 16, 256], [64, 16, 128]]),
];
const TF32: &Tiles = &[
    (32, [[128, 64, 32], [64, 64, 32], [64, 32, 32]]),
    (64, [[128, 64, 64], [64, 32, 64], [64, 32, 64]]),
    (96, [[64, 32, 96], [64, 32, 96], [64, 16, 96]]),
    (128, [[64, 32, 128], [64, 16, 128], [64, 16, 128]]),
];

/// Rows of a block of `attention_few.cu`, and for heads of at most so many elements its warps, the keys of each of these, and stages.
const FEW: usize = 16;
const FEW_TILES: [(usize, [usize; 3]); 5] =
    [(32, [4, 16, 3]), (64, [4, 16, 3]), (96, [4, 16, 3]), (128, [4, 16, 2]), (256, [2, 16, 2])];
/// Blocks that keep a device busy.
const BUSY: usize = 2 * 132;
/// Stages below which a part of the keys is not worth a block of its own.
const SHORTEST: usize = 4;

/// What computes a part.
#[derive(Clone, Copy)]
enum Way {
    /// `attention.cu`, with blocks of so many rows.
    Plain(usize),
    /// `attention_mma.cu`: the dtype of the products, and heads of up to so many elements.
    TensorCores(&'static str, usize, Tile),
}

/// The choice, by what is known when a plan is made.
fn way(part: Part, s: &Sizes, dtype: DType, target: Target) -> Way {
    let size = s.width.max(s.depth);
    let tiles = match dtype.float().filter(|_| target.capability >= 80) {
        Some(Float::F16 | Float::BF16) => HALVES,
        Some(Float::F32) if target.precision == Precision::High => TF32,
        Some(Float::F32 | Float::F64) | None => &[],
    };
    let name = if dtype == DType::F32 { "tf32" } else { dtype.name() };
    match tiles.iter().find(|(most, _)| size <= *most) {
        Some((most, tiles)) => Way::TensorCores(name, *most, tiles[part as usize]),
        None => plain(dtype),
    }
}

fn plain(dtype: DType) -> Way {
    Way::Plain(if dtype == DType::F64 { 32 } else { 64 })
}

/// An operand as the kernels read it: its elements lie side by side along the last axis, the rest as far apart as the steps say.
#[derive(Clone, Copy)]
pub(super) struct Lies {
    pub(super) at: (Pointer, u64),
    pub(super) steps: [isize; 3],
    /// What the address is a multiple of, in bytes, up to 16.
    pub(super) align: usize,
}

/// All that a plan is made of.
pub(super) struct Planned<'a> {
    pub(super) attention: &'a Attention,
    pub(super) s: &'a Sizes,
    pub(super) operands: &'a [Described],
    pub(super) lie: SmallVec<[Lies; 9]>,
    pub(super) target: Target,
}

/// Where operands lie, and the launches that copy those whose elements do not lie side by side along a row; they go to the workspace,
/// from its end on.
fn lying(operands: &[Described], plan: &mut KernelPlan) -> Result<SmallVec<[Lies; 9]>> {
    let lies = |(i, operand): (usize, &Described)| {
        let (shape, strides) = (operand.layout.shape(), operand.layout.strides());
        // Steps of an axis with one position are nobody's; masks are read there by all.
        let steps = |strides: &[isize]| {
            let step = |axis: usize| if shape[axis] <= 1 { 0 } else { strides[axis] };
            if shape.rank() == 4 { [step(0), step(1), step(2)] } else { [0; 3] }
        };
        let side_by_side = shape.rank() == 4 && (shape[3] <= 1 || strides[3] == 1);
        if operand.layout.is_contiguous() || side_by_side {
            return Ok(Lies {
                at: (Pointer::Input(i as u8), 0),
                steps: steps(strides),
                align: operand.align,
            });
        }
        let (size, begin) = (operand.dtype.size(), plan.workspace.next_multiple_of(256));
        let dense = Layout::contiguous(*shape);
        let mut copy = copy::plan(size, &operand.layout, &dense, operand.align)?;
        for (_, pointer, offset) in copy.launches.iter_mut().flat_map(|launch| &mut launch.pointers) {
            match pointer {
                Pointer::Input(_) => *pointer = Pointer::Input(i as u8),
                Pointer::Output(_) => (*pointer, *offset) = (Pointer::Workspace, *offset + begin as u64),
                Pointer::Workspace | Pointer::Tickets | Pointer::Fault => {}
            }
        }
        plan.launches.append(&mut copy.launches);
        plan.workspace = begin + shape.numel() * size;
        Ok(Lies { at: (Pointer::Workspace, begin as u64), steps: steps(dense.strides()), align: 16 })
    };
    operands.iter().enumerate().map(lies).collect()
}

impl Planned<'_> {
    pub(super) fn dtype(&self) -> DType {
        self.operands[0].dtype
    }

    pub(super) fn mask_kind(&self) -> u32 {
        match (self.attention.masked, self.operands.get(3)) {
            (true, Some(mask)) if mask.dtype == DType::Bool => 1,
            (true, Some(_)) => 2,
            _ => 0,
        }
    }

    /// Whether the last queries take the most keys, and the first keys are taken by the most queries.
    pub(super) fn grows(&self) -> bool {
        self.attention.ranges.is_none() && self.attention.span.grows(self.s.queries, self.s.keys)
    }

    /// The words of heads, where weights are left out.
    pub(super) fn seeds(&self) -> Address {
        self.attention.words_at().and_then(|i| self.lie.get(i)).map(|lies| lies.at)
    }

    /// The ranges of a part's own rows, where there are some.
    pub(super) fn ranges(&self, part: Part) -> Address {
        let at = self.attention.ranges_at()? + usize::from(part == Part::Keys);
        self.lie.get(at).map(|lies| lies.at)
    }

    /// Which tensors have rows that are aligned: queries, keys, values, what flows back, results.
    fn flags(&self) -> u32 {
        let each = 16 / self.dtype().size();
        let (width, depth) = (self.s.width.is_multiple_of(each), self.s.depth.is_multiple_of(each));
        let aligned = |i: usize| {
            let lies = &self.lie[i];
            lies.align >= 16 && lies.steps.iter().all(|s| s.unsigned_abs().is_multiple_of(each))
        };
        let last = self.operands.len() - 1;
        let (flows, results) = match self.attention.kind {
            AttentionKind::Forward => (false, depth),
            AttentionKind::Backward => (depth && aligned(last) && aligned(last - 1), width && depth),
        };
        let all = [
            width && aligned(0),
            width && aligned(1),
            depth && aligned(2),
            flows,
            results && self.target.align >= 16,
        ];
        all.iter().enumerate().map(|(i, &yes)| u32::from(yes) << i).sum()
    }

    /// The argument: `order` has the blocks of a head, the parts of its columns, the heads, and how many of these take turns.
    fn args(&self, part: Part, places: Places, order: [usize; 4]) -> args::attention::Attention {
        let s = self.s;
        let mask_kind = self.mask_kind();
        let mask = self.lie.get(3).filter(|_| mask_kind > 0);
        let steps = |lies: &Lies| lies.steps.map(|step| step as u64);
        let within = |heads: Heads| heads.steps().map(|step| step as u64);
        let [dq, dk, dv] = s.gradients();
        let (result, flows) = match self.attention.kind {
            AttentionKind::Forward => (s.means(), [0; 3]),
            AttentionKind::Backward => (dq, self.lie.last().map_or([0; 3], steps)),
        };
        let [mask_batch, mask_head, mask_row] = mask.map_or([0; 3], steps);
        let [q, k, v] = [&self.lie[0], &self.lie[1], &self.lie[2]];
        let [blocks, chunks, all, together] = order.map(|n| n as u32);
        args::attention::Attention {
            out: places.out,
            dk: places.keys,
            dv: places.values,
            sums_out: places.sums_out,
            means_out: places.means_out,
            q: Some(q.at),
            k: Some(k.at),
            v: Some(v.at),
            mask: mask.map(|lies| lies.at),
            y: places.y,
            g: places.g,
            sums: places.sums,
            means: places.means,
            mask_batch,
            mask_head,
            mask_row,
            scale: f64::from_bits(self.attention.scale),
            heads: s.heads as u32,
            shared: s.shared as u32,
            queries: s.queries as u32,
            keys: s.keys as u32,
            width: s.width as u32,
            depth: s.depth as u32,
            mask_kind,
            last_first: self.grows().into(),
            behind: self.attention.span.bounds()[0],
            ahead: self.attention.span.bounds()[1],
            blocks,
            chunks,
            rows: s.rows() as u64,
            flags: self.flags(),
            all,
            together,
            parts: places.parts,
            tickets: places.parts.map(|_| (Pointer::Tickets, 0)),
            q_steps: steps(q),
            k_steps: steps(k),
            v_steps: steps(v),
            y_steps: within(s.means()),
            g_steps: flows,
            out_steps: within(result),
            dk_steps: within(dk),
            dv_steps: within(dv),
            left_out: self.attention.left_out,
            seeds: self.seeds(),
            ranges: self.ranges(part),
            times: Thin::times(self.attention.left_out),
        }
    }

    /// How many heads take turns in the order of blocks.
    fn together(&self, part: Part, heads: usize) -> usize {
        let s = self.s;
        if !self.grows() {
            return 1;
        }
        let rows = if part == Part::Keys { s.queries * (s.heads / s.shared.max(1)) } else { s.keys };
        let bytes = rows * (s.width + s.depth) * self.dtype().size();
        (CACHED / bytes.max(1)).clamp(1, heads.max(1))
    }

    /// Means of few queries, where several blocks have to share the keys of a head: the launch, and how many bytes of workspace they leave what
    /// they have come to in, from `begin` on.
    fn few(&self, places: Places, begin: usize) -> Result<Option<(KernelLaunch, usize)>> {
        let s = self.s;
        let (dtype, rows) = (self.dtype(), s.heads / s.shared.max(1) * s.queries);
        let size = s.width.max(s.depth);
        let tile = FEW_TILES.iter().find(|(most, _)| size <= *most);
        let Some(&(size, [warps, walk, ahead])) =
            tile.filter(|_| dtype.size() == 2 && rows <= FEW && s.depth > 0)
        else {
            return Ok(None);
        };
        let heads = s.batch * s.shared;
        let (met, stage) = (self.attention.span.met(0..s.queries, s.keys), warps * walk);
        let stages = met.end.div_ceil(stage) - met.start / stage;
        let parts = if heads > TICKETS { 1 } else { (BUSY / heads).min(stages / SHORTEST).max(1) };
        let shared = FEW * size * 2 + ahead * 2 * warps * walk * size * 2;
        let bytes = if parts > 1 { parts * s.rows() * (s.depth.next_multiple_of(4) + 2) * 4 } else { 0 };
        let places = Places { parts: (parts > 1).then_some((Pointer::Workspace, begin as u64)), ..places };
        let name = format!("attention_few_{}_mma{size}", dtype.name());
        let mut made =
            launch(OP, &name, heads * parts, &self.args(Part::Forward, places, [1, parts, heads, 1]))?;
        made.block = [32 * warps as u32, 1, 1];
        made.shared = shared as u32;
        Ok(Some((made, bytes)))
    }

    /// What computes a part that Hopper's own instructions do not. Weights are left out by `attention.cu` alone.
    fn way(&self, part: Part) -> Way {
        if self.attention.left_out > 0 {
            plain(self.dtype())
        } else {
            way(part, self.s, self.dtype(), self.target)
        }
    }

    /// Whether the gradient of queries multiplies the means by what flows back.
    fn has_means(&self) -> bool {
        hopper::tile_of(self, Part::Queries).is_some()
            || matches!(self.way(Part::Queries), Way::TensorCores(..))
    }

    fn launch(&self, part: Part, places: Places) -> Result<KernelLaunch> {
        if let Some(tile) = hopper::tile_of(self, part) {
            return hopper::launched(self, part, tile, &places);
        }
        let s = self.s;
        let (heads, length, columns) = match part {
            Part::Forward => (s.batch * s.heads, s.queries, s.depth),
            Part::Queries => (s.batch * s.heads, s.queries, s.width),
            Part::Keys => (s.batch * s.shared, s.keys, s.width.max(s.depth)),
        };
        let (name, dtype) = (part.name(), self.dtype());
        let (name, rows, columns_each, threads, shared) = match self.way(part) {
            Way::Plain(rows) => {
                let name = format!("attention_{name}_{}", dtype.name());
                (name, rows, CHUNKS * rows, rows / 4 * (rows / 4), 0)
            }
            Way::TensorCores(products, size, [own, walk, each]) => {
                let name = format!("attention_{name}_{products}_mma{size}");
                // With the rows, in f32, what each has of the softmax.
                let row = size * dtype.size();
                let (owned, stage) = match part {
                    Part::Forward => (own * row, 2 * walk * row),
                    Part::Queries => (own * (2 * row + 4), 2 * walk * row),
                    Part::Keys => (2 * own * row, 2 * walk * (row + 4)),
                };
                (name, own, each, THREADS, owned + STAGES * stage)
            }
        };
        let (blocks, chunks) = (length.div_ceil(rows), columns.div_ceil(columns_each).max(1));
        let args = self.args(part, places, [blocks, chunks, heads, self.together(part, heads)]);
        let mut made = launch(OP, &name, heads * blocks * chunks, &args)?;
        made.block = [threads as u32, 1, 1];
        made.shared = shared as u32;
        Ok(made)
    }
}

pub(super) fn plan(
    attention: &Attention,
    s: &Sizes,
    operands: &[Described],
    target: Target,
) -> Result<KernelPlan> {
    let dtype = operands[0].dtype;
    let (size, sum) = (dtype.size(), wide(dtype).size());
    let [_, begin, _] = attention.line(s, dtype);
    let [nq, nk, nv] = s.elements();
    let rows = s.rows();
    let sizes = [s.batch * s.heads.max(s.shared), s.width, s.depth];
    // Sums of two positions, and of a position and a bound, are to be i32.
    if sizes.iter().any(|&n| n >= 1 << 31) || s.queries.max(s.keys) >= Span::FAR as usize {
        let (q, k) = (operands[0].layout.shape(), operands[1].layout.shape());
        let text = format!("queries of {q} and keys of {k} are too many");
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let mut plan = KernelPlan::default();
    match attention.kind {
        AttentionKind::Forward if rows == 0 => return Ok(plan),
        AttentionKind::Forward => {}
        AttentionKind::Backward if rows * s.keys == 0 => return fill(size, nq + nk + nv, 0),
        // For what flows back to each mean.
        AttentionKind::Backward => plan.workspace = rows * sum,
    }
    let lie = lying(operands, &mut plan)?;
    let planned = Planned { attention, s, operands, lie, target };
    let output = |elements: usize| Some((Pointer::Output(0), (elements * size) as u64));
    match attention.kind {
        AttentionKind::Forward => {
            let places = || Places { out: output(0), sums_out: output(begin), ..Places::default() };
            let free = plan.workspace.next_multiple_of(256);
            let any = matches!(planned.way(Part::Forward), Way::TensorCores(..));
            let few = if any { planned.few(places(), free)? } else { None };
            let made = match few {
                Some((made, bytes)) => {
                    plan.workspace = free + bytes;
                    made
                }
                None => planned.launch(Part::Forward, places())?,
            };
            plan.launches.push(made);
        }
        AttentionKind::Backward => {
            let lines = operands.len() - 2;
            let [y, g] = [lines, lines + 1].map(|i| Some(planned.lie[i].at));
            let sums = y.map(|(pointer, offset)| (pointer, offset + (begin * size) as u64));
            let means = Some((Pointer::Workspace, 0));
            let back = || Places { y, g, sums, means, ..Places::default() };
            let means_out = if planned.has_means() {
                means
            } else {
                let places = Places { means_out: means, y, g, ..Places::default() };
                let name = format!("attention_means_{}", dtype.name());
                let args = planned.args(Part::Queries, places, [0; 4]);
                plan.launches.push(launch(OP, &name, rows.div_ceil(WARPS), &args)?);
                None
            };
            let [dq, dk, dv] = s.gradients().map(|heads| output(heads.offset()));
            plan.launches.push(planned.launch(Part::Queries, Places { out: dq, means_out, ..back() })?);
            let places = Places { keys: dk, values: dv, ..back() };
            plan.launches.push(planned.launch(Part::Keys, places)?);
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mg_device::Shape;

    /// A mask that is copied, as its keys do not lie side by side, is read by all of an axis of which it has one position.
    #[test]
    fn what_a_mask_has_one_of_is_for_all() {
        for (sizes, steps) in
            [([1, 1, 1, 1], [0, 0, 0]), ([1, 4, 65, 1], [0, 65 * 70, 70]), ([2, 1, 65, 1], [65 * 70, 0, 70])]
        {
            let whole = Shape::from([sizes[0], sizes[1], sizes[2], 70]);
            let layout = Layout::contiguous(Shape::from(sizes)).expand(&whole).unwrap();
            let mask = Described { layout, dtype: DType::Bool, align: 16 };
            let mut plan = KernelPlan::default();
            let lies = lying(&[mask], &mut plan).unwrap();
            assert_eq!(lies[0].steps, steps);
            assert_eq!((plan.launches.len(), plan.workspace), (1, whole.numel()));
        }
    }
}
