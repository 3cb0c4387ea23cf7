//! Elements by index, and their adjoint: sums by index.

use super::rows::{repeated, rows};
use crate::cuda::library::args::index::{Axes, Divisor};
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::axes::{WIDE, countable};
use crate::cuda::library::constants::gather::BLOCK;
use crate::cuda::library::constants::scatter::{
    CHAIN, EACH, FEW, HEAVY, NONE, PILE, ROW, STRIP, SUMS, THREADS, WARPS,
};
use crate::cuda::library::constants::sort::{BITS, DIGITS, FEW_TILES, TILE};
use crate::cuda::library::many::{self, TAKEN};
use crate::cuda::library::{Launch, Plan, Pointer, copy, launch};
use crate::same_sums;
use mg_device::{DType, Error, ErrorKind, Layout, MAX_RANK, Result, Shape, collapse};
use smallvec::{SmallVec, smallvec};

fn checked(op: &'static str, axis: usize, x: &Layout, index: &Layout, same_along_axis: bool) -> Result<()> {
    if axis >= x.rank() {
        return Err(Error::new(op, ErrorKind::Axis { axis: axis as i64, rank: x.rank() }));
    }
    let fits = x.rank() == index.rank()
        && (0..x.rank()).all(|d| x.shape()[d] == index.shape()[d] || d == axis && !same_along_axis);
    if fits {
        return Ok(());
    }
    let text = format!("an index of shape {} does not fit a tensor of shape {}", index.shape(), x.shape());
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// `out[…, j, …] = x[…, index[…, j, …], …]` along `axis`; elements have `size` bytes (1, 2, 4 or 8). `x` is
/// [`Pointer::Input`]`(0)`, the index (i64) [`Pointer::Input`]`(1)`; the result is dense and has the index's shape.
/// `align` is what the addresses of `x` and the result are multiples of, in bytes.
///
/// An index out of range reads zero, and is told at [`Pointer::Fault`]; negative ones count from the end, if it `wraps`.
///
/// # Errors
///
/// [`ErrorKind::Axis`] or [`ErrorKind::Shape`] where the operands do not fit.
pub fn gather(
    size: usize,
    x: &Layout,
    index: &Layout,
    axis: usize,
    align: usize,
    wraps: bool,
) -> Result<Plan> {
    checked("gather", axis, x, index, false)?;
    let shape = *index.shape();
    if shape.contains(&0) {
        return Ok(Plan::default());
    }
    let (first, row) = rows(&shape, axis, index, x);
    // The widest unit that rows consist of, wherever they begin.
    let strides = &x.strides()[..first];
    let fits = |each: usize| {
        align.is_multiple_of(each * size)
            && row.is_multiple_of(each)
            && strides.iter().all(|s| s.unsigned_abs().is_multiple_of(each))
    };
    let each = [16, 8, 4, 2].into_iter().find(|&each| each * size <= 16 && fits(each)).unwrap_or(1);
    let mut around = [index.padded_strides(), x.padded_strides()];
    around[1].iter_mut().for_each(|s| *s /= each as isize);
    let along = around[1][axis];
    around[1][axis] = 0;
    around.iter_mut().for_each(|s| s[first..].fill(0));
    let sizes = collapse(&Shape::of(&shape[..first]), &mut around);
    if sizes.rank() > TAKEN {
        let plan = gather(size, &many::around(x, axis), &many::around(index, axis), 1, align, wraps)?;
        return many::of_dense(&[(size, x, align), (8, index, 8)], plan);
    }
    let count = shape.numel() / each;
    let (sizes, around) = countable("gather", sizes.dims(), around)?;
    let args = args::gather::Gather {
        out: OUTPUT,
        x: input(0),
        index: input(1),
        fault: FAULT,
        count: count as u64,
        limit: x.shape()[axis] as i64,
        axis_stride: along as i64,
        row: Divisor::by(row / each),
        wide: (count >= WIDE).into(),
        wraps: wraps.into(),
        axes: Axes::of(&sizes, [&around[0], &around[1]], count >= WIDE),
    };
    let name = format!("gather_b{}", size * each * 8);
    Ok(Plan {
        launches: smallvec![launch("gather", &name, count.div_ceil(BLOCK), &args)?],
        ..Plan::default()
    })
}

/// Where an index that is out of range is told.
const FAULT: Address = Some((Pointer::Fault, 0));
/// What lies in the workspace begins at multiples of so many bytes.
const LINE: usize = 256;
/// Positions of long rows up to which they are linked, and those of a target that has many are looked for among all.
const MOST_CHAINED: usize = 1 << 15;
/// Steps of a warp up to which every target looks through all indices that may name it.
const LOOK: usize = 1 << 18;

/// Zeros of `size` positions along `axis`, with `x[…, j, …]` added at `index[…, j, …]` in the order of j; both of one
/// shape, `x` [`Pointer::Input`]`(0)`, the index (i64) [`Pointer::Input`]`(1)`; the result is dense. Half types are
/// added in f32 and rounded once, bool is added as u8 is. The same bits every time, and the CPU's.
///
/// An index out of range adds nothing, and is told at [`Pointer::Fault`].
///
/// # Errors
///
/// [`ErrorKind::Axis`] or [`ErrorKind::Shape`] where the operands do not fit.
pub fn scatter_add(dtype: DType, x: &Layout, index: &Layout, axis: usize, size: usize) -> Result<Plan> {
    checked("scatter_add", axis, x, index, true)?;
    let shape = *x.shape();
    let target = shape.with(axis, size);
    if target.contains(&0) {
        return Ok(Plan::default());
    }
    let bytes = dtype.size();
    if shape.contains(&0) {
        return copy::fill(bytes, target.numel(), 0);
    }
    let kind = match same_sums(dtype) {
        DType::Bool => "u8",
        other => other.name(),
    };
    if matches!(kind, "i64" | "i32")
        && let Some(plan) = added(kind, x, index, axis, size)?
    {
        return Ok(plan);
    }
    let (first, row, column) = repeated(&shape, axis, index, x);
    if first > TAKEN {
        let plan = scatter_add(dtype, &many::around(x, axis), &many::around(index, axis), 1, size)?;
        return many::of_dense(&[(bytes, x, bytes), (8, index, 8)], plan);
    }
    let (count, length) = (target.numel(), shape[axis]);
    let positions: usize = shape[..first].iter().product();
    let targets = count / row;
    let steps = if row >= ROW {
        targets * row.div_ceil(ROW) * length.div_ceil(32)
    } else {
        count.saturating_mul(length) / 32
    };
    let sorts = steps > LOOK && targets < u32::MAX as usize && positions < WIDE;
    let mut sorted = Sorted::new(positions, targets);
    // Several times as many positions as there are on average can be linked to each target. Where there are far more targets than
    // positions, heads of their own take longer than a sort.
    let few = positions <= targets.saturating_mul(FEW / 8);
    let chains = sorts && row >= ROW && positions <= MOST_CHAINED && positions <= targets * (CHAIN / 8);
    let way = match (row, targets > positions.saturating_mul(8)) {
        _ if chains => Some(Linking::Links),
        _ if !sorts || row >= ROW || !few => None,
        (1, true) if kind == "f32" => Some(Linking::Owned),
        (_, true) => None,
        (1, false) => Some(Linking::Pairs),
        (_, false) => Some(Linking::Links),
    };
    // From so many positions on a target is left to blocks, and so many of them there are at most.
    let (left_from, parts) = match (chains, row >= ROW) {
        (true, _) => (CHAIN + 1, row.div_ceil(32)),
        (false, true) => (HEAVY, row.div_ceil(32)),
        (false, false) => (PILE, row),
    };
    let left = positions / left_from;
    // Which these are stands behind heads where none are sorted: zeros at first, as those are.
    let named = if chains { 1 + 2 * left } else { 0 };
    let linked = way.map(|way| sorted.link(way, targets + named, bytes));
    let heavy = match linked.filter(|_| chains) {
        Some(linked) => linked.crowded + LINE + targets * 4,
        None => sorted.leave(left),
    };
    let (keys, at, bound) = match chains {
        true => sorted.list(positions + left * NONE),
        false => (sorted.last.0, sorted.last.1, positions),
    };
    let wide = count.max(positions * row) >= WIDE;
    let without = |layout: &Layout| {
        let mut strides: SmallVec<[isize; MAX_RANK]> = layout.strides()[..first].into();
        strides[axis] = 0;
        strides
    };
    let args = args::scatter::Scatter {
        out: OUTPUT,
        x: input(0),
        index: input(1),
        fault: FAULT,
        keys: sorts.then_some((Pointer::Workspace, keys as u64)),
        positions: sorts.then_some((Pointer::Workspace, at as u64)),
        heads: linked.map(|linked| linked.heads()),
        next: linked.map(|linked| (Pointer::Workspace, linked.next as u64)),
        crowded: linked.map(|linked| (Pointer::Workspace, linked.crowded as u64)),
        heavy: sorts.then_some((Pointer::Workspace, heavy as u64)),
        count: count as u64,
        sorted: bound as u64,
        limit: size as i64,
        x_stride: x.strides()[axis] as i64,
        index_stride: index.strides()[axis] as i64,
        x_column: column as i64,
        length: length as u32,
        wide: wide.into(),
        row: Divisor::by(row),
        axis: axis as u32,
        targets: Axes::of(&target[..first], [&without(index), &without(x)], wide),
        places: Axes::of(&shape[..first], [&index.strides()[..first], &x.strides()[..first]], wide),
    };
    let (name, blocks) = match (sorts, row >= ROW) {
        (true, true) if chains => ("chains", (targets * row.div_ceil(STRIP)).div_ceil(WARPS)),
        (true, true) => ("strips", (targets * row.div_ceil(STRIP)).div_ceil(WARPS)),
        // Where they may have nothing to do, there are few of them.
        (true, false) => ("segments", sorted.blocks((positions * row).div_ceil(THREADS))),
        (false, true) => ("rows", (targets * row.div_ceil(ROW)).div_ceil(WARPS)),
        (false, false) => ("scan", count.div_ceil(THREADS)),
    };
    let last = launch("scatter_add", &format!("scatter_{name}_{kind}"), blocks, &args)?;
    if !sorts {
        return Ok(Plan { launches: smallvec![last], ..Plan::default() });
    }
    let places = Positions { shape: &shape, first, index, axis, size };
    let mut launches = SmallVec::new();
    if let Some(linked) = linked {
        launches.extend(linked.launches(&places, positions, (kind, x), count)?);
        let adds = match linked.way {
            // What is last follows them itself.
            Linking::Links if chains => None,
            Linking::Links => Some(("lists", THREADS)),
            Linking::Pairs => Some(("paired", EACH)),
            Linking::Owned => None,
        };
        if let Some((adds, each)) = adds {
            let name = format!("scatter_{adds}_{kind}");
            launches.push(launch("scatter_add", &name, count.div_ceil(each), &args)?);
        }
    }
    if !chains {
        launches.extend(sorted.launches(&places)?);
    }
    if name == "segments" && linked.is_none() {
        // What nothing is added to.
        launches.extend(copy::fill(bytes, count, 0)?.launches);
    }
    launches.push(last);
    if left > 0 {
        if chains {
            launches.push(launch("scatter_add", "scatter_look", left.min(TURNS), &args)?);
        }
        let name = if row >= ROW { "heavy" } else { "piles" };
        let blocks = (left * parts).min(LEFT_BLOCKS);
        launches.push(launch("scatter_add", &format!("scatter_{name}_{kind}"), blocks, &args)?);
    }
    Ok(Plan { launches, workspace: sorted.bytes, ..Plan::default() })
}

/// Blocks that take turns at what many positions go to.
const LEFT_BLOCKS: usize = 1 << 10;
/// Blocks that take turns at what is seldom wanted.
const TURNS: usize = 1 << 10;

/// Blocks that add few sums, each to its own.
const FEW_BLOCKS: usize = 1 << 10;

/// As [`scatter_add`] where no position of the result has more than one element, of floats. `None` for more axes than a kernel takes.
///
/// # Errors
///
/// As [`scatter_add`].
pub fn placed(dtype: DType, x: &Layout, index: &Layout, axis: usize, size: usize) -> Result<Option<Plan>> {
    checked("scatter_add", axis, x, index, true)?;
    let target = x.shape().with(axis, size);
    if !dtype.is_float() || target.contains(&0) || x.shape().contains(&0) {
        return Ok(None);
    }
    let Some(args) = addition(x, index, axis, size) else { return Ok(None) };
    // Where there are as many elements as positions, each of these is written.
    let mut plan = match x.shape().numel() == target.numel() {
        true => Plan::default(),
        false => copy::fill(dtype.size(), target.numel(), 0)?,
    };
    let blocks = x.shape().numel().div_ceil(EACH);
    plan.launches.push(launch("scatter_add", &format!("scatter_once_{dtype}"), blocks, &args)?);
    Ok(Some(plan))
}

/// What a kernel is told that adds elements, each by itself. `None` for more axes than it takes.
fn addition(x: &Layout, index: &Layout, axis: usize, size: usize) -> Option<args::scatter::Add> {
    let shape = *x.shape();
    let target = shape.with(axis, size);
    let dense = Layout::contiguous(target);
    let mut around = [index.padded_strides(), x.padded_strides(), dense.padded_strides()];
    let stride = around[2][axis];
    around[2][axis] = 0;
    let sizes = collapse(&shape, &mut around);
    if sizes.rank() > TAKEN || sizes.iter().any(|&n| n > u32::MAX as usize) {
        return None;
    }
    let (count, sums) = (shape.numel(), target.numel());
    let wide = count >= WIDE;
    Some(args::scatter::Add {
        out: OUTPUT,
        x: input(0),
        index: input(1),
        fault: FAULT,
        count: count as u64,
        limit: size as i64,
        stride: stride as i64,
        sums: sums as u64,
        places: Axes::of(&sizes, [&around[0], &around[1], &around[2]], wide),
    })
}

/// As [`scatter_add`] of integers that atomics add: their order does not matter. `None` for more axes than a kernel takes.
fn added(kind: &str, x: &Layout, index: &Layout, axis: usize, size: usize) -> Result<Option<Plan>> {
    const OP: &str = "scatter_add";
    let Some(args) = addition(x, index, axis, size) else { return Ok(None) };
    let (count, sums) = (x.shape().numel(), x.shape().with(axis, size).numel());
    // A block begins with zeros of its own, and adds all that it has to the result.
    let (name, blocks) = match sums <= SUMS && count >= 8 * sums.max(EACH) {
        true => ("few", count.div_ceil(EACH).min(FEW_BLOCKS)),
        false => ("add", count.div_ceil(THREADS)),
    };
    let mut plan = copy::fill(if kind == "i64" { 8 } else { 4 }, sums, 0)?;
    plan.launches.push(launch(OP, &format!("scatter_{name}_{kind}"), blocks, &args)?);
    Ok(Some(plan))
}

/// What is added where: an index, seen by the rows of elements that share one.
struct Positions<'a> {
    shape: &'a Shape,
    /// Axes before the elements of a row.
    first: usize,
    index: &'a Layout,
    axis: usize,
    /// Of the result along the axis.
    size: usize,
}

impl Positions<'_> {
    /// The distance along the axis between rows of the result, and the strides of all positions: of the index, and of rows without the axis.
    fn strides(&self) -> (i64, (&[isize], SmallVec<[isize; MAX_RANK]>)) {
        let &Positions { shape, first, index, axis, size } = self;
        let rows = Layout::contiguous(Shape::of(&shape.with(axis, size)[..first]));
        let mut strides: SmallVec<[isize; MAX_RANK]> = rows.strides().into();
        let stride = std::mem::replace(&mut strides[axis], 0);
        (stride as i64, (&index.strides()[..first], strides))
    }
}

/// How positions are linked to their targets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Linking {
    /// By numbers alone, for rows of several elements.
    Links,
    /// With the values of single elements beside them.
    Pairs,
    /// So too, with heads in the result itself: where targets are many, and most of them zeros.
    Owned,
}

/// Where positions that are linked to their targets lie in the workspace.
#[derive(Clone, Copy)]
struct Linked {
    way: Linking,
    /// Whether a target has more than are linked; behind it heads, and all up to `next` begins as zeros.
    crowded: usize,
    next: usize,
}

impl Linked {
    fn heads(&self) -> (Pointer, u64) {
        match self.way {
            Linking::Links | Linking::Pairs => (Pointer::Workspace, (self.crowded + LINE) as u64),
            Linking::Owned => (Pointer::Output(0), 0),
        }
    }

    /// The launches that link `count` positions, and add what is owned, for a result of `sums` elements.
    fn launches(
        &self,
        positions: &Positions,
        count: usize,
        (kind, x): (&str, &Layout),
        sums: usize,
    ) -> Result<SmallVec<[Launch; 4]>> {
        const OP: &str = "scatter_add";
        let at = |offset: usize| Some((Pointer::Workspace, offset as u64));
        let there = |pointer| match pointer {
            Pointer::Output(_) => (Pointer::Workspace, self.crowded as u64),
            Pointer::Input(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
        };
        let zeros = copy::fill(4, (self.next - self.crowded) / 4, 0)?.launches;
        let mut launches: SmallVec<[Launch; 4]> =
            zeros.into_iter().map(|launch| launch.moved(there)).collect();
        let (stride, (of_index, of_rows)) = positions.strides();
        let sizes = &positions.shape[..positions.first];
        let (heads, blocks) = (Some(self.heads()), count.div_ceil(THREADS));
        if self.way == Linking::Links {
            let args = args::scatter::Links {
                index: input(1),
                heads,
                next: at(self.next),
                fault: FAULT,
                count: count as u64,
                limit: positions.size as i64,
                stride,
                places: Axes::of(sizes, [of_index, &of_rows], false),
            };
            launches.push(launch(OP, "scatter_links", blocks, &args)?);
            return Ok(launches);
        }
        let args = args::scatter::Pairs {
            index: input(1),
            x: input(0),
            heads,
            pairs: at(self.next),
            crowded: at(self.crowded),
            fault: FAULT,
            count: count as u64,
            limit: positions.size as i64,
            stride,
            places: Axes::of(sizes, [of_index, &of_rows, &x.strides()[..positions.first]], false),
        };
        if self.way == Linking::Owned {
            launches.extend(copy::fill(4, sums, 0)?.launches);
        }
        launches.push(launch(OP, &format!("scatter_pairs_{kind}"), blocks, &args)?);
        if self.way == Linking::Owned {
            launches.push(launch(OP, &format!("scatter_owned_{kind}"), count.div_ceil(EACH), &args)?);
        }
        Ok(launches)
    }
}

/// Where keys and positions lie in the workspace while they are sorted: twice each, and the counts of tiles and of all.
struct Sorted {
    count: usize,
    passes: usize,
    /// Keys and positions that a pass writes, in turns.
    kept: [(usize, usize); 2],
    counts: usize,
    totals: usize,
    bytes: usize,
    /// Where keys and positions lie in the end.
    last: (usize, usize),
    /// Where it is known whether they are wanted: always, if that is nowhere.
    wanted: Option<usize>,
    /// Where it is said which targets are left to blocks.
    heavy: usize,
}

impl Sorted {
    fn new(count: usize, targets: usize) -> Sorted {
        let list = (count * 4).next_multiple_of(256);
        // Keys up to `targets`, which stands for what is out of range, whose key is all ones.
        let passes = ((usize::BITS - targets.leading_zeros()) as usize).div_ceil(BITS);
        let kept = [(0, list), (2 * list, 3 * list)];
        let counts = 4 * list;
        let totals = counts + (DIGITS * count.div_ceil(TILE) * 4).next_multiple_of(256);
        Sorted {
            count,
            passes,
            kept,
            counts,
            totals,
            bytes: totals + DIGITS * 4,
            last: kept[passes % 2],
            wanted: None,
            heavy: 0,
        }
    }

    /// Has room for so many targets that are left to blocks: how many there are, and two words for each.
    fn leave(&mut self, most: usize) -> usize {
        self.heavy = self.bytes.next_multiple_of(256);
        self.bytes = self.heavy + (1 + 2 * most) * 4;
        self.heavy
    }

    /// Has room for so many keys and positions that are not sorted: where they lie, and how many they are.
    fn list(&mut self, most: usize) -> (usize, usize, usize) {
        let keys = self.bytes.next_multiple_of(LINE);
        let positions = keys + (most * 4).next_multiple_of(LINE);
        self.bytes = positions + most * 4;
        (keys, positions, most)
    }

    /// Blocks of a launch that would have so many: where it may have nothing to do they are few, and take turns.
    fn blocks(&self, all: usize) -> usize {
        if self.wanted.is_some() { all.min(TURNS) } else { all }
    }

    /// Has positions linked first, and sorts only where those of a target are too many for that; elements have so many bytes.
    fn link(&mut self, way: Linking, targets: usize, bytes: usize) -> Linked {
        let crowded = self.bytes.next_multiple_of(LINE);
        let (heads, each) = match way {
            Linking::Links => (targets, 4),
            Linking::Pairs => (targets, 2 * bytes.max(4)),
            Linking::Owned => (0, 2 * bytes.max(4)),
        };
        let next = crowded + LINE + (heads * 4).next_multiple_of(LINE);
        self.bytes = next + (self.count * each).next_multiple_of(LINE);
        self.wanted = Some(crowded);
        Linked { way, crowded, next }
    }

    /// The launches after which the keys of all positions lie sorted in their last place.
    fn launches(&self, positions: &Positions) -> Result<SmallVec<[Launch; 2]>> {
        const OP: &str = "scatter_add";
        let at = |offset: usize| Some((Pointer::Workspace, offset as u64));
        let wanted = self.wanted.and_then(at);
        let (stride, (of_index, of_rows)) = positions.strides();
        let places = Axes::of(&positions.shape[..positions.first], [of_index, &of_rows], false);
        let args = args::scatter::Keys {
            index: input(1),
            keys: at(self.kept[0].0),
            fault: FAULT,
            count: self.count as u64,
            limit: positions.size as i64,
            stride,
            crowded: wanted,
            heavy: at(self.heavy),
            places,
        };
        let mut launches = SmallVec::new();
        launches.push(launch(OP, "scatter_keys", self.blocks(self.count.div_ceil(THREADS)), &args)?);
        let tiles = self.count.div_ceil(TILE);
        for pass in 0..self.passes {
            // The first pass reads what is there, as elements.
            let [there, other] = self.kept;
            let args = args::sort::Order {
                x: at(there.0),
                keys: [at(other.0), at(there.0)],
                at: [at(other.1), at(there.1)],
                indices: None,
                values: None,
                counts: at(self.counts),
                totals: at(self.totals).filter(|_| tiles > FEW_TILES),
                rows: 1,
                length: self.count as u64,
                count: self.count as u64,
                tiles: tiles as u64,
                turn: 0,
                nan: u64::MAX,
                spread: None,
                pass: pass as u32,
                passes: self.passes as u32,
                keeps: 1,
                together: 1,
                which: 0,
                floats: 0,
                wanted,
            };
            launches.push(launch(OP, "order_count_b32", tiles, &args)?);
            if tiles > FEW_TILES {
                launches.push(launch(OP, "order_sum", DIGITS, &args)?);
            }
            launches.push(launch(OP, "order_move_b32", tiles, &args)?);
        }
        Ok(launches)
    }
}
