//! Elements by index, and their adjoint: sums by index.

use super::rows::rows;
use crate::cuda::library::args::index::{Axes, Divisor};
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::axes::{WIDE, countable};
use crate::cuda::library::constants::gather::BLOCK;
use crate::cuda::library::constants::scatter::{ITEMS, ROW, STRIP, THREADS, WARPS};
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
/// An index out of range reads zero, and is told at [`Pointer::Fault`].
///
/// # Errors
///
/// [`ErrorKind::Axis`] or [`ErrorKind::Shape`] where the operands do not fit.
pub fn gather(size: usize, x: &Layout, index: &Layout, axis: usize, align: usize) -> Result<Plan> {
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
        let plan = gather(size, &many::around(x, axis), &many::around(index, axis), 1, align)?;
        return many::of_dense([(size, x, align), (8, index, 8)], plan);
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
    let (first, row) = rows(&shape, axis, index, x);
    if first > TAKEN {
        let plan = scatter_add(dtype, &many::around(x, axis), &many::around(index, axis), 1, size)?;
        return many::of_dense([(bytes, x, bytes), (8, index, 8)], plan);
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
    let sorted = Sorted::new(positions);
    let wide = count.max(positions) >= WIDE;
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
        keys: sorts.then_some((Pointer::Workspace, 0)),
        positions: sorts.then_some((Pointer::Workspace, sorted.positions as u64)),
        count: count as u64,
        sorted: positions as u64,
        limit: size as i64,
        x_stride: x.strides()[axis] as i64,
        index_stride: index.strides()[axis] as i64,
        length: length as u32,
        wide: wide.into(),
        row: Divisor::by(row),
        axis: axis as u32,
        targets: Axes::of(&target[..first], [&without(index), &without(x)], wide),
        places: Axes::of(&shape[..first], [&index.strides()[..first], &x.strides()[..first]], wide),
    };
    let kind = match same_sums(dtype) {
        DType::Bool => "u8",
        other => other.name(),
    };
    let (name, blocks) = match (sorts, row >= ROW) {
        (true, true) => ("strips", (targets * row.div_ceil(STRIP)).div_ceil(WARPS)),
        (true, false) => ("segments", count.div_ceil(THREADS)),
        (false, true) => ("rows", (targets * row.div_ceil(ROW)).div_ceil(WARPS)),
        (false, false) => ("scan", count.div_ceil(THREADS)),
    };
    let last = launch("scatter_add", &format!("scatter_{name}_{kind}"), blocks, &args)?;
    if !sorts {
        return Ok(Plan { launches: smallvec![last], ..Plan::default() });
    }
    let mut launches = sorted.launches(&shape, first, index, axis, size, targets)?;
    launches.push(last);
    Ok(Plan { launches, workspace: sorted.bytes, ..Plan::default() })
}

/// Where keys and positions lie in the workspace while they are sorted: twice each, and the blocks' counts.
struct Sorted {
    count: usize,
    blocks: usize,
    positions: usize,
    other: usize,
    counts: usize,
    bytes: usize,
}

impl Sorted {
    fn new(count: usize) -> Sorted {
        let list = (count * 4).next_multiple_of(256);
        let blocks = count.div_ceil(ITEMS);
        let counts = 4 * list;
        Sorted { count, blocks, positions: list, other: 2 * list, counts, bytes: counts + blocks * 256 * 4 }
    }

    /// The launches after which the keys of all positions, sorted, lie at the workspace's beginning.
    fn launches(
        &self,
        shape: &Shape,
        first: usize,
        index: &Layout,
        axis: usize,
        size: usize,
        targets: usize,
    ) -> Result<SmallVec<[Launch; 2]>> {
        const OP: &str = "scatter_add";
        let at = |offset: usize| Some((Pointer::Workspace, offset as u64));
        // Keys up to `targets`, which stands for what is out of range, whose key is all ones.
        let bits = usize::BITS - targets.leading_zeros();
        let passes = bits.div_ceil(8).min(4);
        // An odd number of passes begins in the second half, so that all end in the first.
        let start = if passes % 2 == 1 { self.other } else { 0 };
        let args = args::scatter::Keys {
            index: input(1),
            keys: at(start),
            positions: at(start + self.positions),
            fault: FAULT,
            count: self.count as u64,
            limit: size as i64,
            axis: axis as u32,
            places: Axes::of(&shape[..first], [&index.strides()[..first]], false),
        };
        let mut launches = SmallVec::new();
        launches.push(launch(OP, "sort_keys", self.count.div_ceil(THREADS), &args)?);
        let mut from = start;
        for pass in 0..passes {
            let to = self.other - from;
            for (name, blocks) in
                [("sort_count", self.blocks), ("sort_offsets", 1), ("sort_move", self.blocks)]
            {
                let args = args::scatter::Sort {
                    keys: at(from),
                    positions: at(from + self.positions),
                    keys_out: at(to),
                    positions_out: at(to + self.positions),
                    counts: at(self.counts),
                    count: self.count as u64,
                    shift: pass * 8,
                    blocks: self.blocks as u32,
                };
                launches.push(launch(OP, name, blocks, &args)?);
            }
            from = to;
        }
        Ok(launches)
    }
}
