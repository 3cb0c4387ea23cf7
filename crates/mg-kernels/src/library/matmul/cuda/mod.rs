//! Matrix products: which kernel, which tile, how many blocks share one.
//!
//! Everything is decided from shapes, strides, dtypes and the GPU's table of measured tiles: on GPUs of one name the same product
//! is added up in the same order every time.

mod adding;
mod measured;
mod model;
mod relaid;
pub(crate) mod scaled;
mod tables;
mod tiles;
mod together;

pub(crate) use adding::adding;
pub use measured::{Measured, Row, known};
pub use tables::{Features, Tiles};
pub use tiles::{Kind, Tile};
pub use together::{MOST, alike, together, together_with};

use super::Merged;
use crate::cuda::capability::{self, AMPERE};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::matmul_any::{BARE, BOXES, MAX_BATCH_RANK, VECTOR};
use crate::cuda::library::many;
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, Prebuilt, find};
use crate::frame::internal;
use crate::same_sums;
use mg_device::cuda::{Elements, Moved};
use mg_device::{DType, Error, ErrorKind, Float, Layout, MAX_RANK, Result, Shape};
use model::{Division, Timed};
use smallvec::{SmallVec, smallvec};
use std::array::from_fn;

/// How f32 products are computed: `set_float32_matmul_precision` of PyTorch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// As in f32: every bit of the operands counts. Large products of capability 9.0 are by thirds (`kernels/thirds.cuh`), others in f32
    /// throughout.
    #[default]
    Highest,
    /// On tensor cores: operands rounded to tf32 (10 bits of fraction), sums in f32.
    High,
}

/// A product whose kernel has code of the engine's own at its mark, before the store. For products of f32, f16 and bf16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epilogue {
    /// Whether the product is stored too, as [`Pointer::Output`]`(0)`.
    pub stores: bool,
}

/// A product to plan.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Of both operands.
    pub dtype: DType,
    /// For f32.
    pub precision: Precision,
    /// The device's compute capability: 75, 80, 86, 90, … . Below 80 the slow kernel for every strides serves all.
    pub capability: u32,
    /// What the addresses of `a` and `b` are multiples of, in bytes. 16 lets rows be read 16 bytes at a time.
    pub align: [usize; 2],
    /// `None` where the product is stored and nothing else is done.
    pub epilogue: Option<Epilogue>,
    /// What the address of the result is a multiple of, in bytes.
    pub align_out: usize,
    /// What tiles take on the device.
    pub tiles: &'static Tiles,
    merged: Merged,
}

impl Problem {
    /// The product of `a`, `[.., m, k]`, and `b`, `[.., k, n]`, whose leading axes have equal sizes (an operand that
    /// repeats along one has a stride of 0 there). The result is dense and row-major, `[.., m, n]`. For a device of
    /// capability 80, tiles of no GPU in particular, addresses aligned to 16 bytes, exact, without an epilogue: set the fields for anything else.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] where the shapes do not fit.
    pub fn new(dtype: DType, a: &Layout, b: &Layout) -> Result<Problem> {
        let rank = a.rank();
        let fits = rank >= 2
            && b.rank() == rank
            && a.shape()[..rank - 2] == b.shape()[..rank - 2]
            && a.shape()[rank - 1] == b.shape()[rank - 2];
        if !fits {
            let text = format!("shapes {} and {} cannot be multiplied", a.shape(), b.shape());
            return Err(Error::new("matmul", ErrorKind::Shape(text)));
        }
        Ok(Problem {
            dtype,
            precision: Precision::default(),
            capability: 80,
            align: [16; 2],
            align_out: 16,
            epilogue: None,
            tiles: Tiles::unnamed(),
            merged: Merged::new(a, b),
        })
    }

    /// The number of matrices that are multiplied each by itself; rows of one `b` count as one matrix.
    pub fn batch(&self) -> usize {
        self.merged.batch.numel()
    }

    /// Rows, columns and depth of each of them.
    pub fn sizes(&self) -> [usize; 3] {
        [self.merged.m, self.merged.n, self.merged.k]
    }

    /// How `a` and `b` lie.
    fn lines(&self) -> [Option<Lines>; 2] {
        let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &self.merged;
        let (size, rank) = (self.dtype.size(), batch.rank());
        [
            Lines::of(size, self.align[0], [*m, *k], *a_strides, &a_batch[..rank]),
            Lines::of(size, self.align[1], [*n, *k], [b_strides[1], b_strides[0]], &b_batch[..rank]),
        ]
    }
}

/// Which neighbours of an operand lie side by side so that 16 bytes can be read at once: along k, or along its m or n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lines {
    K,
    Mn,
}

impl Lines {
    /// `None` where neither is aligned.
    fn of(
        size: usize,
        align: usize,
        [mn, k]: [usize; 2],
        [mn_stride, k_stride]: [isize; 2],
        batch: &[isize],
    ) -> Option<Lines> {
        let aligned = |stride: isize| stride.unsigned_abs().wrapping_mul(size).is_multiple_of(16);
        let sides = align.is_multiple_of(16) && batch.iter().all(|&s| aligned(s));
        let along = |n: usize, stride: isize, lines: usize, between: isize| {
            sides && (stride == 1 || n == 1) && (lines == 1 || aligned(between))
        };
        if along(k, k_stride, mn, mn_stride) {
            Some(Lines::K)
        } else if along(mn, mn_stride, k, k_stride) {
            Some(Lines::Mn)
        } else {
            None
        }
    }
}

/// The launches of a product, which is the last: copies of operands come before it, where faster kernels take those. None
/// where the result is empty. Operands are [`Pointer::Input`]`(0)` and `(1)`.
///
/// # Errors
///
/// [`ErrorKind::DType`] for an epilogue of integers or f64; [`ErrorKind::Shape`] where a size is 2³¹ or more.
pub fn plan(problem: &Problem) -> Result<KernelPlan> {
    if problem.merged.batch.rank() > MAX_BATCH_RANK {
        return of_dense(problem);
    }
    if let Some(plan) = relaid::plan(problem)? {
        return Ok(plan);
    }
    match plan_by(problem, |_| true, None)? {
        Some(plan) => Ok(plan),
        None => Err(Error::new("matmul", ErrorKind::Internal("no kernel takes the product".into()))),
    }
}

/// The product of operands with more axes of a batch than a kernel takes: both are copied first.
fn of_dense(problem: &Problem) -> Result<KernelPlan> {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let layout = |rows: usize, columns: usize, own: &[isize; 2], around: &[isize; MAX_RANK]| {
        let sizes: SmallVec<[usize; MAX_RANK]> = batch.iter().copied().chain([rows, columns]).collect();
        let strides: SmallVec<[isize; MAX_RANK]> =
            around[..batch.rank()].iter().chain(own).copied().collect();
        // Where the first element lies does not count: strides may be negative.
        let reach = |(&n, &s): (&usize, &isize)| n.saturating_sub(1).saturating_mul(s.unsigned_abs());
        let offset = sizes.iter().zip(&strides).filter(|(_, s)| **s < 0).map(reach).sum();
        Layout::new(Shape::new(&sizes)?, &strides, offset)
    };
    let a = layout(*m, *k, a_strides, a_batch)?;
    let b = layout(*k, *n, b_strides, b_batch)?;
    let count = batch.numel();
    let dense = |rows, columns| Layout::contiguous(Shape::from([count, rows, columns]));
    let mut copied = problem.clone();
    copied.merged = Merged::new(&dense(*m, *k), &dense(*k, *n));
    copied.align = [16; 2];
    let size = problem.dtype.size();
    many::of_dense(&[(size, &a, problem.align[0]), (size, &b, problem.align[1])], plan(&copied)?)
}

/// As [`plan`] with a tile of this name ("64x64", as the kernels' names have it), for measurements; `splits` is how many
/// blocks share a tile, where it is not left to the model. `None` where there is no such tile for the operands.
///
/// # Errors
///
/// As [`plan`].
pub fn plan_with(problem: &Problem, tile: &str, splits: Option<usize>) -> Result<Option<KernelPlan>> {
    plan_by(problem, |name| name == tile, splits)
}

fn plan_by(
    problem: &Problem,
    takes: impl Fn(&str) -> bool,
    splits: Option<usize>,
) -> Result<Option<KernelPlan>> {
    let Merged { ref batch, m, n, k, .. } = problem.merged;
    let count = batch.numel();
    if m == 0 || n == 0 || count == 0 {
        return Ok(Some(KernelPlan::default()));
    }
    let fits = |size: usize| i32::try_from(size).is_ok();
    if !(fits(m) && fits(n) && fits(k)) {
        let text = format!("a product of {m} by {n} by {k}: sizes have to be below 2^31");
        return Err(Error::new("matmul", ErrorKind::Shape(text)));
    }
    let Some((kernel, tile, division)) = choose(problem, takes, splits)? else { return Ok(None) };
    let (tiles_m, tiles_n) = (m.div_ceil(tile.m), n.div_ceil(tile.n));
    let (splits, multiprocessors) = (division.splits, problem.tiles.multiprocessors());
    let blocks = if division.uneven { multiprocessors } else { tiles_m * tiles_n * splits * count };
    if !fits(blocks) {
        let text = format!("{count} products of {m} by {n}: {blocks} tiles, at most 2^31 - 1 are taken");
        return Err(Error::new("matmul", ErrorKind::Shape(text)));
    }
    let p = arguments(problem, tile, division)?;
    let mut launch = if tile.hopper {
        // Those that the device has room for at a time; each takes tile after tile.
        KernelLaunch::of("matmul", kernel, blocks.min(multiprocessors), &with_maps(problem, tile, p)?)?
    } else {
        KernelLaunch::of("matmul", kernel, blocks, &p)?
    };
    launch.shared = tile.shared;
    let workspace = if splits > 1 { tiles_m * tiles_n * count * splits * tile.m * tile.n * 4 } else { 0 };
    Ok(Some(KernelPlan { launches: smallvec![launch], workspace, ..KernelPlan::default() }))
}

/// The fastest kernel that takes the operands as they lie, of the tiles that `takes` knows by name.
fn choose(
    problem: &Problem,
    takes: impl Fn(&str) -> bool,
    splits: Option<usize>,
) -> Result<Option<(&'static Prebuilt, &'static Tile, Division)>> {
    let Merged { ref batch, m, n, k, .. } = problem.merged;
    let count = batch.numel();
    let kind = match (problem.dtype.float(), problem.precision) {
        (Some(Float::F32), Precision::Highest) => Some(Kind::F32),
        (Some(Float::F32), Precision::High) => Some(Kind::Tf32),
        (Some(Float::F16), _) => Some(Kind::F16),
        (Some(Float::BF16), _) => Some(Kind::Bf16),
        (Some(Float::F64) | None, _) => None,
    };
    let tiles = kind.map_or(&[][..], |kind| problem.tiles.kind(kind));
    let form = match problem.lines() {
        [Some(Lines::K), Some(Lines::Mn)] => "kn",
        [Some(Lines::K), Some(Lines::K)] => "kk",
        [Some(Lines::Mn), Some(Lines::Mn)] => "mn",
        [Some(Lines::Mn), Some(Lines::K)] => "mk",
        [None, Some(Lines::Mn)] => "xn",
        [None, Some(Lines::K)] => "xk",
        [Some(Lines::K), None] => "kx",
        [Some(Lines::Mn), None] => "mx",
        [None, None] => "any",
    };
    let divide = |tile: &Timed| match splits {
        Some(splits) => tile.divided(count, m, n, k, splits),
        None => Some(tile.divide(count, m, n, k)),
    };
    // Where only one operand is not aligned, tiles without a kernel for that take both as they would such a one.
    let has_form = |timed: &Timed| {
        timed.form == form || timed.form == "any" && form.contains('x') && !timed.tile.forms.contains(&form)
    };
    let fits = |kind: Kind, tile: &Tile| {
        kind.runs(tile, problem.capability) && (!tile.hopper || takes_maps(problem))
    };
    let mut best: Option<(Kind, &Timed, Division)> = None;
    for (kind, timed) in kind.into_iter().flat_map(|kind| tiles.iter().map(move |timed| (kind, timed))) {
        if !has_form(timed) || !takes(timed.tile.name) || !fits(kind, timed.tile) {
            continue;
        }
        let Some(division) = divide(timed) else { continue };
        if best.as_ref().is_none_or(|(_, _, found)| division.time < found.time) {
            best = Some((kind, timed, division));
        }
    }
    if let Some((kind, Timed { tile, form, .. }, division)) = best {
        let name = format!("matmul_{}_{}_{form}", kind.name(), tile.name);
        return Ok(Some((find("matmul", &name)?, tile, division)));
    }
    let any = problem.tiles.first(Kind::Any)?;
    if !takes(any.tile.name) || kind.is_some() && problem.capability >= AMPERE {
        return Ok(None);
    }
    let Some(mut division) = divide(any) else { return Ok(None) };
    if !matches!(problem.dtype, DType::F32 | DType::F16 | DType::BF16) {
        division = Division { splits: 1, k_part: k.next_multiple_of(any.tile.k), uneven: false, ..division };
    }
    let name = format!("matmul_{}_any", same_sums(problem.dtype).name());
    Ok(Some((find("matmul", &name)?, any.tile, division)))
}

fn arguments(problem: &Problem, tile: &Tile, division: Division) -> Result<args::matmul::MatMul> {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let dtype = problem.dtype;
    if problem.epilogue.is_some() && !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        let text = format!("products of {dtype} take no epilogue");
        return Err(Error::new("matmul", ErrorKind::DType(text)));
    }
    let mut flags = 0;
    if n.is_multiple_of(4) && problem.align_out.is_multiple_of(16) {
        flags |= VECTOR as u32;
    }
    if problem.epilogue.is_none() {
        flags |= BARE as u32;
        if tile.hopper && stores_boxes(problem) {
            flags |= BOXES as u32;
        }
    }
    let stores = problem.epilogue.is_none_or(|epilogue| epilogue.stores);
    let shared = division.splits > 1;

    let strides = |of: &[isize]| from_fn::<i64, MAX_BATCH_RANK, _>(|axis| of[axis] as i64);
    Ok(args::matmul::MatMul {
        a: input(0),
        b: input(1),
        out: OUTPUT.filter(|_| stores),
        partials: shared.then_some((Pointer::Workspace, 0)),
        tickets: shared.then_some((Pointer::Tickets, 0)),
        a_row: a_strides[0] as i64,
        a_k: a_strides[1] as i64,
        b_k: b_strides[0] as i64,
        b_col: b_strides[1] as i64,
        a_batch: strides(&a_batch[..]),
        b_batch: strides(&b_batch[..]),
        batch_shape: from_fn(|axis| batch.get(axis).map_or(1, |&size| size as u32)),
        batch_rank: batch.rank() as u32,
        m: *m as u32,
        n: *n as u32,
        k: *k as u32,
        tiles_m: m.div_ceil(tile.m) as u32,
        tiles_n: n.div_ceil(tile.n) as u32,
        splits: division.splits as u32,
        k_part: division.k_part as u32,
        flags,
        uneven: division.uneven.into(),
    })
}

/// Whether the copy engine of capability 9.0 takes the operands, whose lines are aligned to 16 bytes.
fn takes_maps(problem: &Problem) -> bool {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let size = problem.dtype.size() as isize;
    let bytes = |stride: isize| stride.checked_mul(size).filter(|n| (0..1 << 40).contains(n));
    // Lines that do not overlap.
    let dense = |rows: usize, [row, along_k]: [isize; 2], lines: Option<Lines>| {
        let (length, count, between) = match lines {
            Some(Lines::K) => (*k, rows, row),
            Some(Lines::Mn) => (rows, *k, along_k),
            None => return false,
        };
        count == 1 || bytes(between).is_some_and(|n| n >= length as isize * size)
    };
    let [a, b] = problem.lines();
    let batches = || a_batch.iter().chain(b_batch).all(|&stride| bytes(stride).is_some());
    problem.capability == 90
        && *k > 0
        && batch.rank() <= 1
        && batches()
        && dense(*m, *a_strides, a)
        && dense(*n, [b_strides[1], b_strides[0]], b)
}

/// The argument with the operands and the result as the copy engine takes them.
fn with_maps(problem: &Problem, tile: &Tile, p: args::matmul::MatMul) -> Result<args::matmul_wgmma::Wgmma> {
    let [a, b, out] = maps(problem, tile)?;
    let stores = problem.epilogue.is_none() && stores_boxes(problem);
    Ok(args::matmul_wgmma::Wgmma {
        p,
        a: Some(((Pointer::Input(0), 0), a)),
        b: Some(((Pointer::Input(1), 0), b)),
        out: stores.then_some(((Pointer::Output(0), 0), out)),
    })
}

/// The operands and the result as the copy engine takes them.
fn maps(problem: &Problem, tile: &Tile) -> Result<[Moved; 3]> {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let size = problem.dtype.size();
    let (elements, stored) = match problem.dtype.float() {
        Some(Float::F16) => (Elements::F16, Elements::F16),
        Some(Float::BF16) => (Elements::BF16, Elements::BF16),
        Some(Float::F32) if problem.precision == Precision::Highest => (Elements::F32, Elements::F32),
        Some(Float::F32) => (Elements::TF32, Elements::F32),
        Some(Float::F64) | None => return Err(internal("a dtype without tiles of this kind")),
    };
    // A dimension of one has no stride that matters, but the driver asks for a multiple of 16.
    let bytes = |count: usize, stride: isize| if count > 1 { stride as usize * size } else { 16 };
    let operand = |rows: usize, tile_rows: usize, [row, along_k]: [isize; 2], along_batch, lines| {
        let batches = if along_batch == 0 { 1 } else { batch.numel() };
        let (sizes, line, boxes) = match lines {
            Some(Lines::Mn) => ([rows, *k, batches], bytes(*k, along_k), [128 / size, tile.k, 1]),
            Some(Lines::K) | None => ([*k, rows, batches], bytes(rows, row), [tile.k, tile_rows, 1]),
        };
        Moved::boxes(elements, sizes, &[line, bytes(batches, along_batch)], boxes)
    };
    // One axis of a batch at most; those that are not there have strides of 0.
    let [lines_a, lines_b] = problem.lines();
    // Rows that are stored at a time: of what the threads hold every second eight, of a result that is turned as many as columns.
    let stored_rows = match (elements, lines_a, lines_b) {
        (Elements::TF32, Some(Lines::Mn), _) => 8,
        (Elements::TF32, _, Some(Lines::Mn)) => 32,
        _ => 16,
    };
    let across = [b_strides[1], b_strides[0]];
    Ok([
        operand(*m, tile.m, *a_strides, a_batch[0], lines_a),
        operand(*n, tile.n, across, b_batch[0], lines_b),
        Moved::boxes(
            stored,
            [*n, *m, batch.numel()],
            &[n * size, m * n * size],
            [128 / size, stored_rows, 1],
        ),
    ])
}

/// Whether the copy engine can store the result.
fn stores_boxes(problem: &Problem) -> bool {
    let line = problem.merged.n.wrapping_mul(problem.dtype.size());
    line.is_multiple_of(16) && problem.align_out.is_multiple_of(16)
}
