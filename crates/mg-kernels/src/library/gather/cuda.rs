//! Elements by index, and their adjoint: sums by index.

use super::rows::{repeated, rows};
use super::way::{Extent, Linking, Way};
use crate::cuda::library::args::index::{Axes, Divisor};
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::axes::{WIDE, countable};
use crate::cuda::library::constants::gather::BLOCK;
use crate::cuda::library::constants::scatter::{EACH, NONE, ROW, STRIP, SUMS, THREADS, WARPS};
use crate::cuda::library::constants::sort::BITS;
use crate::cuda::library::many::{self, TAKEN};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, launch};
use crate::library::sort::Tally;
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
) -> Result<KernelPlan> {
    checked("gather", axis, x, index, false)?;
    let shape = *index.shape();
    if shape.contains(&0) {
        return Ok(KernelPlan::default());
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
    Ok(KernelPlan {
        launches: smallvec![launch("gather", &name, count.div_ceil(BLOCK), &args)?],
        ..KernelPlan::default()
    })
}

/// Where an index that is out of range is told.
const FAULT: Address = Some((Pointer::Fault, 0));
/// What lies in the workspace begins at multiples of so many bytes.
const LINE: usize = 256;
/// Zeros of `size` positions along `axis`, with `x[…, j, …]` added at `index[…, j, …]` in the order of j; both of one
/// shape, `x` [`Pointer::Input`]`(0)`, the index (i64) [`Pointer::Input`]`(1)`; the result is dense. Half types are
/// added in f32 and rounded once, bool is added as u8 is. The same bits every time, and the CPU's.
///
/// An index out of range adds nothing, and is told at [`Pointer::Fault`].
///
/// # Errors
///
/// [`ErrorKind::Axis`] or [`ErrorKind::Shape`] where the operands do not fit.
pub fn scatter_add(dtype: DType, x: &Layout, index: &Layout, axis: usize, size: usize) -> Result<KernelPlan> {
    checked("scatter_add", axis, x, index, true)?;
    let shape = *x.shape();
    let target = shape.with(axis, size);
    if target.contains(&0) {
        return Ok(KernelPlan::default());
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
    let extent = Extent {
        positions: shape[..first].iter().product(),
        targets: target.numel() / row,
        row,
        length: shape[axis],
    };
    let positions = Positions { shape: &shape, first, index, axis, size };
    let sums = Sums { positions, extent, x, column, kind, bytes };
    let way = Way::of(&extent, kind == "f32");
    let room = way.left_from().map(|from| Room::of(way, &extent, from, bytes));
    let args = sums.argument(room.as_ref());
    match &room {
        None => {
            Ok(KernelPlan { launches: smallvec![sums.added(way, None, &args)?], ..KernelPlan::default() })
        }
        Some(room) => Ok(KernelPlan {
            launches: sums.launches(way, room, &args)?,
            workspace: room.sorted.bytes,
            ..KernelPlan::default()
        }),
    }
}

/// Sums in the order of what is added.
struct Sums<'a> {
    positions: Positions<'a>,
    extent: Extent,
    x: &'a Layout,
    /// How far apart the elements of a row of `x` are.
    column: isize,
    /// What kernels call the dtype, and an element's bytes.
    kind: &'static str,
    bytes: usize,
}

impl Sums<'_> {
    /// What kernels are told of the sums, and of what is where in the workspace, if anything is.
    fn argument(&self, room: Option<&Room>) -> args::scatter::Scatter {
        let &Sums { ref positions, ref extent, x, .. } = self;
        let &Positions { shape, first, index, axis, size } = positions;
        let target = shape.with(axis, size);
        let wide = extent.is_wide();
        let without = |layout: &Layout| {
            let mut strides: SmallVec<[isize; MAX_RANK]> = layout.strides()[..first].into();
            strides[axis] = 0;
            strides
        };
        let at = |offset: usize| (Pointer::Workspace, offset as u64);
        let linked = room.and_then(|room| room.linked);
        args::scatter::Scatter {
            out: OUTPUT,
            x: input(0),
            index: input(1),
            fault: FAULT,
            keys: room.map(|room| at(room.listed.keys)),
            positions: room.map(|room| at(room.listed.positions)),
            heads: linked.map(|linked| linked.heads()),
            next: linked.map(|linked| at(linked.next)),
            crowded: linked.map(|linked| at(linked.crowded)),
            heavy: room.map(|room| at(room.heavy)),
            count: extent.sums() as u64,
            sorted: room.map_or(extent.positions, |room| room.listed.count) as u64,
            limit: size as i64,
            x_stride: x.strides()[axis] as i64,
            index_stride: index.strides()[axis] as i64,
            x_column: self.column as i64,
            length: extent.length as u32,
            wide: wide.into(),
            row: Divisor::by(extent.row),
            axis: axis as u32,
            targets: Axes::of(&target[..first], [&without(index), &without(x)], wide),
            places: Axes::of(&shape[..first], [&index.strides()[..first], &x.strides()[..first]], wide),
        }
    }

    /// The launch that the way is named after.
    fn added(&self, way: Way, room: Option<&Room>, args: &args::scatter::Scatter) -> Result<KernelLaunch> {
        let &Extent { positions, targets, row, .. } = &self.extent;
        let strips = (targets * row.div_ceil(STRIP)).div_ceil(WARPS);
        let (name, blocks) = match way {
            Way::Scan => ("scan", self.extent.sums().div_ceil(THREADS)),
            Way::Rows => ("rows", (targets * row.div_ceil(ROW)).div_ceil(WARPS)),
            Way::Chains => ("chains", strips),
            Way::Strips => ("strips", strips),
            Way::Segments(_) => {
                let all = (positions * row).div_ceil(THREADS);
                ("segments", room.map_or(all, |room| room.sorted.blocks(all)))
            }
        };
        self.launch(name, blocks, args)
    }

    /// All launches where positions are brought to their targets first: those that do, those that add, and those that add what is left.
    fn launches(
        &self,
        way: Way,
        room: &Room,
        args: &args::scatter::Scatter,
    ) -> Result<SmallVec<[KernelLaunch; 2]>> {
        let sums = self.extent.sums();
        let mut launches = SmallVec::new();
        if let Some(linked) = &room.linked {
            launches.extend(linked.launches(
                &self.positions,
                self.extent.positions,
                (self.kind, self.x),
                sums,
            )?);
        }
        match way {
            Way::Segments(Some(Linking::Links)) => {
                launches.push(self.launch("lists", sums.div_ceil(THREADS), args)?);
            }
            Way::Segments(Some(Linking::Pairs)) => {
                launches.push(self.launch("paired", sums.div_ceil(EACH), args)?);
            }
            // What is owned was added when it was linked, and the last of the launches follows chains itself.
            Way::Segments(Some(Linking::Owned) | None)
            | Way::Scan
            | Way::Rows
            | Way::Chains
            | Way::Strips => {}
        }
        if way != Way::Chains {
            launches.extend(room.sorted.launches(&self.positions)?);
        }
        if way == Way::Segments(None) {
            // What nothing is added to.
            launches.extend(copy::fill(self.bytes, sums, 0)?.launches);
        }
        launches.push(self.added(way, Some(room), args)?);
        launches.extend(self.left(way, room.left, args)?);
        Ok(launches)
    }

    /// The launches of blocks for so many targets at most as are left to them.
    fn left(
        &self,
        way: Way,
        left: usize,
        args: &args::scatter::Scatter,
    ) -> Result<SmallVec<[KernelLaunch; 2]>> {
        let row = self.extent.row;
        let mut launches = SmallVec::new();
        if left == 0 {
            return Ok(launches);
        }
        if way == Way::Chains {
            launches.push(launch("scatter_add", "scatter_look", left.min(TURNS), args)?);
        }
        let (name, parts) = if self.extent.is_long() { ("heavy", row.div_ceil(32)) } else { ("piles", row) };
        launches.push(self.launch(name, (left * parts).min(LEFT_BLOCKS), args)?);
        Ok(launches)
    }

    /// A kernel of the dtype.
    fn launch(&self, name: &str, blocks: usize, args: &args::scatter::Scatter) -> Result<KernelLaunch> {
        launch("scatter_add", &format!("scatter_{name}_{}", self.kind), blocks, args)
    }
}

/// Where in the workspace is what brings positions to their targets.
struct Room {
    sorted: Sorted,
    linked: Option<Linked>,
    /// The list that sums are taken from in the end.
    listed: List,
    /// Where it is said which targets are left to blocks, and how many these are at most.
    heavy: usize,
    left: usize,
}

impl Room {
    /// For elements of so many bytes, and targets that are left to blocks from so many positions on.
    fn of(way: Way, extent: &Extent, left_from: usize, bytes: usize) -> Room {
        let &Extent { positions, targets, .. } = extent;
        let left = positions / left_from;
        let mut sorted = Sorted::new(positions, targets);
        let Some(linking) = way.linking() else {
            let heavy = sorted.leave(left);
            return Room { linked: None, listed: sorted.last(), heavy, left, sorted };
        };
        if way == Way::Chains {
            // Which targets are left stands behind the heads where none are sorted: zeros at first, as those are.
            let linked = sorted.link(linking, targets + 1 + 2 * left, bytes);
            let heavy = linked.crowded + LINE + targets * 4;
            let listed = sorted.list(positions + left * NONE);
            return Room { linked: Some(linked), listed, heavy, left, sorted };
        }
        let linked = sorted.link(linking, targets, bytes);
        let heavy = sorted.leave(left);
        Room { linked: Some(linked), listed: sorted.last(), heavy, left, sorted }
    }
}

/// Where keys and the positions that they are of lie in the workspace, and how many they are.
struct List {
    keys: usize,
    positions: usize,
    count: usize,
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
pub fn placed(
    dtype: DType,
    x: &Layout,
    index: &Layout,
    axis: usize,
    size: usize,
) -> Result<Option<KernelPlan>> {
    checked("scatter_add", axis, x, index, true)?;
    let target = x.shape().with(axis, size);
    if !dtype.is_float() || target.contains(&0) || x.shape().contains(&0) {
        return Ok(None);
    }
    let Some(args) = addition(x, index, axis, size) else { return Ok(None) };
    // Where there are as many elements as positions, each of these is written.
    let mut plan = match x.shape().numel() == target.numel() {
        true => KernelPlan::default(),
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
fn added(kind: &str, x: &Layout, index: &Layout, axis: usize, size: usize) -> Result<Option<KernelPlan>> {
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
    ) -> Result<SmallVec<[KernelLaunch; 4]>> {
        const OP: &str = "scatter_add";
        let at = |offset: usize| Some((Pointer::Workspace, offset as u64));
        let mut launches: SmallVec<[KernelLaunch; 4]> =
            copy::zeros(4, (self.next - self.crowded) / 4, self.crowded)?.collect();
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

/// Where keys and positions lie in the workspace while they are sorted: twice each, and the counts of their digits.
struct Sorted {
    count: usize,
    passes: usize,
    /// Keys and positions that a pass writes, in turns.
    kept: [(usize, usize); 2],
    tally: Tally,
    bytes: usize,
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
        let tally = Tally::new(4 * list, [1, count], DType::I32, passes);
        Sorted { count, passes, kept, tally, bytes: tally.end, wanted: None, heavy: 0 }
    }

    /// Has room for so many targets that are left to blocks: how many there are, and two words for each.
    fn leave(&mut self, most: usize) -> usize {
        self.heavy = self.bytes.next_multiple_of(256);
        self.bytes = self.heavy + (1 + 2 * most) * 4;
        self.heavy
    }

    /// All keys and positions, when they are sorted.
    fn last(&self) -> List {
        let (keys, positions) = self.kept[self.passes % 2];
        List { keys, positions, count: self.count }
    }

    /// Has room for so many keys and positions at most that are not sorted.
    fn list(&mut self, most: usize) -> List {
        let keys = self.bytes.next_multiple_of(LINE);
        let positions = keys + (most * 4).next_multiple_of(LINE);
        self.bytes = positions + most * 4;
        List { keys, positions, count: most }
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
    fn launches(&self, positions: &Positions) -> Result<SmallVec<[KernelLaunch; 2]>> {
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
        let [totals, begun, told, _] = self.tally.addresses();
        // The first pass reads what is there, as elements.
        let [there, other] = self.kept;
        let args = |pass: usize| args::sort::Order {
            x: at(there.0),
            keys: [at(other.0), at(there.0)],
            at: [at(other.1), at(there.1)],
            indices: None,
            values: None,
            totals,
            begun,
            told,
            rows: 1,
            length: self.count as u64,
            count: self.count as u64,
            tiles: self.tally.tiles as u64,
            counted: self.tally.counted as u64,
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
        launches.extend(self.tally.launches(OP, ["order_count_b32", "order_sweep_b32"], args)?);
        Ok(launches)
    }
}
