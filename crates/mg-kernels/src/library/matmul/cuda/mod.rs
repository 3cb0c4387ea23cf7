//! Matrix products: which kernel, which tile, how many blocks share one.
//!
//! Everything is decided from shapes, strides and dtypes alone, by a fixed table of measured tiles: the same product
//! is added up in the same order every time.

mod relaid;

use super::Merged;
use crate::cuda::library::args::Args;
use crate::cuda::library::{Launch, Plan, Pointer, Prebuilt, TICKETS, find};
use crate::same_sums;
use mg_device::cuda::{Elements, Moved, TensorMap};
use mg_device::{DType, Error, ErrorKind, Layout, Result};
use smallvec::smallvec;

/// How f32 products are computed: `set_float32_matmul_precision` of PyTorch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Precision {
    /// In f32 throughout.
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
    merged: Merged,
}

impl Problem {
    /// The product of `a`, `[.., m, k]`, and `b`, `[.., k, n]`, whose leading axes have equal sizes (an operand that
    /// repeats along one has a stride of 0 there). The result is dense and row-major, `[.., m, n]`. For a device of
    /// capability 80, addresses aligned to 16 bytes, exact, without an epilogue: set the fields for anything else.
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

/// A tile, and its times on an H200 in microseconds. Measured on one round of blocks each for aligned operands, for up to four
/// blocks a multiprocessor; those of operands of any strides, and of more blocks, are scaled from what whole products took.
struct Tile {
    /// As the kernels' names have it.
    name: &'static str,
    m: usize,
    n: usize,
    /// Depth of a stage, of all groups of threads.
    k: usize,
    threads: u32,
    /// Bytes of dynamic shared memory.
    shared: u32,
    /// Which operands there is a kernel for: neighbours of a along k or m, of b along k or n, x where they are not aligned; "any"
    /// takes all.
    forms: &'static [&'static str],
    /// What a launch takes at least.
    once: f64,
    /// What a depth of 1024 takes where each multiprocessor has 1, 2, … blocks at a time; no more than these fit.
    depth: &'static [f64],
    join: &'static Join,
    /// By the instructions of capability 9.0 alone (`kernels/matmul_wgmma.cu`): blocks take tile after tile, and the copy
    /// engine brings the operands.
    hopper: bool,
}

/// Measured: what it takes to join the sums of blocks that share a tile, in microseconds.
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

/// Multiprocessors of the device that was measured. Plans do not ask which device they are for, so that results
/// do not depend on it.
const MULTIPROCESSORS: usize = 132;

/// Bytes of shared memory that a block can have: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
const fn most_shared(capability: u32) -> u32 {
    match capability {
        80 | 87 => 163 << 10,
        90..=119 => 227 << 10,
        _ => 99 << 10,
    }
}

/// No more than this is kept of the sums of blocks that share a tile.
const MAX_PARTIALS: usize = 64 << 20;

const fn tile(size: [usize; 3], threads: u32, shared: u32, once: f64, depth: &'static [f64]) -> Tile {
    let [m, n, k] = size;
    let name = match (m, n) {
        (256, 128) => "256x128",
        (128, 256) => "128x256",
        (128, 128) => "128x128",
        (128, 64) => "128x64",
        (32, 64) => "32x64",
        (32, 32) => "32x32",
        _ => "64x64",
    };
    let forms = &["kn", "kk", "mn", "mk"];
    Tile { name, m, n, k, threads, shared, forms, once, depth, join: &JOIN, hopper: false }
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
    Tile { name, m: 128, n, k, threads: 384, shared, forms, once, depth, join: &JOIN_HOPPER, hopper: true }
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
const ANY: Tile = any(tile([64, 64, 16], 256, 0, 4.0, &[80.0, 110.0, 150.0]));

const F32: &[Tile] = &[
    only(&["kn", "mn"], tile([256, 128, 16], 256, 73728, 6.9, &[184.5])),
    only(&["kk", "mk"], tile([128, 256, 16], 256, 73728, 6.9, &[195.0])),
    tile([64, 64, 16], 128, 32768, 3.4, &[35.8, 58.2, 81.8, 104.8]),
    tile([32, 64, 64], 128, 98304, 2.8, &[16.5, 31.5]),
    tile([32, 32, 128], 256, 98304, 2.8, &[8.2, 17.5]),
    unaligned(tile([32, 32, 128], 256, 98304, 2.8, &[10.5, 21.0])),
    any(tile([128, 128, 16], 256, 49152, 5.0, &[140.0, 265.0])),
    any(tile([64, 64, 16], 128, 32768, 3.4, &[52.0, 85.0, 120.0, 154.0])),
];

const TF32: &[Tile] = &[
    only(&["kk"], hopper("w128x256", 256, 32, 4, 3.0, &[21.0])),
    only(&["kk"], hopper("w128x192", 192, 32, 4, 2.6, &[16.5])),
    only(&["kk"], hopper("w128x128", 128, 32, 6, 2.8, &[11.0])),
    only(&["kk"], hopper("w128x64", 64, 32, 8, 2.6, &[7.2])),
    only(&["kn"], tile([128, 256, 32], 256, 196608, 6.0, &[39.5])),
    only(&["kk", "mk"], tile([256, 128, 32], 256, 196608, 6.0, &[41.0])),
    tile([128, 128, 32], 128, 98304, 5.2, &[22.5, 41.5]),
    tile([64, 64, 64], 256, 98304, 3.4, &[9.3, 17.0]),
    tile([32, 32, 64], 128, 65536, 2.6, &[3.3, 7.3, 11.8]),
    unaligned(tile([32, 32, 64], 128, 65536, 2.6, &[8.0, 13.0, 20.0])),
    any(tile([128, 128, 32], 128, 98304, 5.2, &[50.0, 92.0])),
    any(tile([64, 64, 64], 256, 98304, 3.4, &[20.0, 38.0])),
];

const HALF: &[Tile] = &[
    hopper("w128x256", 256, 64, 4, 3.0, &[10.6]),
    hopper("w128x192", 192, 64, 4, 2.5, &[8.2]),
    hopper("w128x128", 128, 64, 6, 2.6, &[5.6]),
    hopper("w128x64", 64, 64, 8, 2.2, &[3.6]),
    tile([128, 256, 64], 256, 147456, 6.0, &[17.9]),
    tile([128, 128, 64], 128, 98304, 4.3, &[9.2, 18.3]),
    tile([128, 64, 64], 128, 73728, 3.5, &[5.9, 11.3]),
    tile([64, 64, 128], 256, 98304, 3.2, &[4.0, 7.5]),
    tile([32, 32, 128], 128, 65536, 2.5, &[2.0, 4.0, 6.5]),
    unaligned(tile([32, 32, 128], 128, 65536, 2.5, &[8.0, 13.0, 20.0])),
    any(tile([128, 128, 64], 128, 98304, 5.2, &[60.0, 110.0])),
    any(tile([64, 64, 128], 256, 98304, 3.4, &[30.0, 50.0])),
];

/// How blocks divide a product.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Division {
    splits: usize,
    k_part: usize,
    /// Microseconds, by the table.
    time: f64,
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
    fn divided(&self, batch: usize, m: usize, n: usize, k: usize, splits: usize) -> Option<Division> {
        let tiles = batch * m.div_ceil(self.m) * n.div_ceil(self.n);
        let stages = k.div_ceil(self.k).max(1);
        let k_part = stages.div_ceil(splits) * self.k;
        let splits = k.div_ceil(k_part).max(1);
        let join = self.join;
        if splits > 1
            && (tiles * join.tickets > TICKETS || tiles * splits * self.m * self.n * 4 > MAX_PARTIALS)
        {
            return None;
        }
        let bytes = (2 * tiles * splits * self.m * self.n * 4) as f64;
        let alone = (splits * self.m * self.n * 4) as f64;
        let joined = join.once + join.each * splits as f64 + join.byte * bytes + join.alone * alone;
        let joined = if splits > 1 { joined } else { 0.0 };
        Some(Division { splits, k_part, time: self.time(tiles * splits, k_part) + joined })
    }

    /// The number of blocks for each tile that finishes first.
    fn divide(&self, batch: usize, m: usize, n: usize, k: usize) -> Division {
        let stages = k.div_ceil(self.k).max(1);
        let mut best = Division { splits: 1, k_part: stages * self.k, time: f64::INFINITY };
        for splits in 1..=stages.min(MAX_SPLITS) {
            match self.divided(batch, m, n, k, splits) {
                // A little is not worth the memory.
                Some(division) if division.time < best.time * 0.97 => best = division,
                Some(_) => {}
                None => break,
            }
        }
        best
    }
}

/// Measured: what each round of blocks after the first begins and ends with, in microseconds.
const ROUND: f64 = 1.2;
/// Blocks that may share a tile.
const MAX_SPLITS: usize = 32;
/// The sums are added by all threads of the last block together.
const JOIN: Join = Join { once: 1.5, each: 0.15, byte: 1.0 / 3.5e6, alone: 1.0 / 6.0e4, tickets: 1 };
/// Each warp has its own part, and does not wait for the others.
const JOIN_HOPPER: Join = Join { once: 0.7, each: 0.0, byte: 1.0 / 7.0e6, alone: 1.0 / 1.1e5, tickets: 8 };

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
pub fn plan(problem: &Problem) -> Result<Plan> {
    if let Some(plan) = relaid::plan(problem)? {
        return Ok(plan);
    }
    match plan_by(problem, |_| true, None)? {
        Some(plan) => Ok(plan),
        None => Err(Error::new("matmul", ErrorKind::Internal("no kernel takes the product".into()))),
    }
}

/// As [`plan`] with a tile of this name ("64x64", as the kernels' names have it), for measurements; `splits` is how many
/// blocks share a tile, where it is not left to the model. `None` where there is no such tile for the operands.
///
/// # Errors
///
/// As [`plan`].
pub fn plan_with(problem: &Problem, tile: &str, splits: Option<usize>) -> Result<Option<Plan>> {
    plan_by(problem, |name| name == tile, splits)
}

fn plan_by(problem: &Problem, takes: impl Fn(&str) -> bool, splits: Option<usize>) -> Result<Option<Plan>> {
    let Merged { ref batch, m, n, k, .. } = problem.merged;
    let count = batch.numel();
    if m == 0 || n == 0 || count == 0 {
        return Ok(Some(Plan::default()));
    }
    let fits = |size: usize| i32::try_from(size).is_ok();
    if !(fits(m) && fits(n) && fits(k)) {
        let text = format!("a product of {m} by {n} by {k}: sizes have to be below 2^31");
        return Err(Error::new("matmul", ErrorKind::Shape(text)));
    }
    let Some((kernel, tile, division)) = choose(problem, takes, splits)? else { return Ok(None) };
    let (tiles_m, tiles_n) = (m.div_ceil(tile.m), n.div_ceil(tile.n));
    let splits = division.splits;
    let blocks = tiles_m * tiles_n * splits * count;
    if !fits(blocks) {
        let text = format!("{count} products of {m} by {n}: {blocks} tiles, at most 2^31 - 1 are taken");
        return Err(Error::new("matmul", ErrorKind::Shape(text)));
    }
    let mut args = arguments(problem, tile, division)?;
    if tile.hopper {
        maps(problem, tile, &mut args);
    }
    let (args, pointers, maps) = args.finish();
    // Those that the device has room for at a time; each takes tile after tile.
    let grid = if tile.hopper { blocks.min(MULTIPROCESSORS) } else { blocks };
    let launch = Launch {
        kernel,
        grid: [grid as u32, 1, 1],
        block: [tile.threads, 1, 1],
        shared: tile.shared,
        args,
        pointers,
        maps,
    };
    let workspace = if splits > 1 { tiles_m * tiles_n * count * splits * tile.m * tile.n * 4 } else { 0 };
    Ok(Some(Plan { launches: smallvec![launch], workspace, ..Plan::default() }))
}

/// The fastest kernel that takes the operands as they lie, of the tiles that `takes` knows by name.
fn choose(
    problem: &Problem,
    takes: impl Fn(&str) -> bool,
    splits: Option<usize>,
) -> Result<Option<(&'static Prebuilt, &'static Tile, Division)>> {
    let Merged { ref batch, m, n, k, .. } = problem.merged;
    let count = batch.numel();
    let (kind, tiles): (&str, &'static [Tile]) = match (problem.dtype, problem.precision) {
        (DType::F32, Precision::Highest) => ("f32", F32),
        (DType::F32, Precision::High) => ("tf32", TF32),
        (DType::F16, _) => ("f16", HALF),
        (DType::BF16, _) => ("bf16", HALF),
        _ => ("", &[]),
    };
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
    // Where only one operand is not aligned, tiles without a kernel for that take both as they would such a one.
    let divide = |tile: &Tile| match splits {
        Some(splits) => tile.divided(count, m, n, k, splits),
        None => Some(tile.divide(count, m, n, k)),
    };
    let mut best: Option<(&'static Tile, &str, Division)> = None;
    let fits = |tile: &Tile| {
        let has = if tile.hopper { takes_maps(problem) } else { problem.capability >= 80 };
        has && tile.shared <= most_shared(problem.capability)
    };
    for tile in tiles.iter().filter(|tile| fits(tile) && takes(tile.name)) {
        let form = match form {
            form if tile.forms.contains(&form) => form,
            "xn" | "xk" | "kx" | "mx" if tile.forms.contains(&"any") => "any",
            _ => continue,
        };
        let Some(division) = divide(tile) else { continue };
        if best.as_ref().is_none_or(|(_, _, found)| division.time < found.time) {
            best = Some((tile, form, division));
        }
    }
    let (name, tile, division) = match best {
        Some((tile, form, division)) => (format!("matmul_{kind}_{}_{form}", tile.name), tile, division),
        None if takes(ANY.name) && (tiles.is_empty() || problem.capability < 80) => {
            let Some(mut division) = divide(&ANY) else { return Ok(None) };
            if !matches!(problem.dtype, DType::F32 | DType::F16 | DType::BF16) {
                division = Division { splits: 1, k_part: k.next_multiple_of(ANY.k), ..division };
            }
            (format!("matmul_{}_any", same_sums(problem.dtype).name()), &ANY, division)
        }
        None => return Ok(None),
    };
    Ok(Some((find("matmul", &name)?, tile, division)))
}

/// `struct MatMul` of `kernels/matmul.cuh`.
fn arguments(problem: &Problem, tile: &Tile, division: Division) -> Result<Args> {
    const MAX_BATCH_RANK: usize = 6;
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let dtype = problem.dtype;
    if problem.epilogue.is_some() && !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        let text = format!("products of {dtype} take no epilogue");
        return Err(Error::new("matmul", ErrorKind::DType(text)));
    }
    let mut flags = 0;
    if n.is_multiple_of(4) && problem.align_out.is_multiple_of(16) {
        flags |= 1;
    }
    if problem.epilogue.is_none() && (!tile.hopper || stores_boxes(problem)) {
        flags |= 2;
    }
    let stores = problem.epilogue.is_none_or(|epilogue| epilogue.stores);
    let shared = division.splits > 1;

    let mut args = Args::default();
    args.pointer(Some((Pointer::Input(0), 0)))
        .pointer(Some((Pointer::Input(1), 0)))
        .pointer(stores.then_some((Pointer::Output(0), 0)))
        .pointer(shared.then_some((Pointer::Workspace, 0)))
        .pointer(shared.then_some((Pointer::Tickets, 0)));
    args.i64(a_strides[0]).i64(a_strides[1]).i64(b_strides[0]).i64(b_strides[1]);
    args.i64s(&a_batch[..MAX_BATCH_RANK]).i64s(&b_batch[..MAX_BATCH_RANK]);
    for axis in 0..MAX_BATCH_RANK {
        args.u32(batch.get(axis).map_or(1, |&size| size as u32));
    }
    args.u32(batch.rank() as u32).u32(*m as u32).u32(*n as u32).u32(*k as u32);
    args.u32(m.div_ceil(tile.m) as u32).u32(n.div_ceil(tile.n) as u32);
    args.u32(division.splits as u32).u32(division.k_part as u32).u32(flags).u32(0);
    Ok(args)
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

/// The operands and the result as the copy engine takes them, after the rest of the argument.
fn maps(problem: &Problem, tile: &Tile, args: &mut Args) {
    let Merged { batch, m, n, k, a_strides, b_strides, a_batch, b_batch } = &problem.merged;
    let size = problem.dtype.size();
    let (elements, stored) = match problem.dtype {
        DType::F16 => (Elements::F16, Elements::F16),
        DType::BF16 => (Elements::BF16, Elements::BF16),
        _ => (Elements::TF32, Elements::F32),
    };
    // A dimension of one has no stride that matters, but the driver asks for a multiple of 16.
    let bytes = |count: usize, stride: isize| if count > 1 { stride as u64 * size as u64 } else { 16 };
    let operand = |rows: usize, tile_rows: usize, [row, along_k]: [isize; 2], along_batch, lines| {
        let batches = if along_batch == 0 { 1 } else { batch.numel() };
        let (sizes, line, boxes) = match lines {
            Some(Lines::Mn) => ([rows, *k, batches], bytes(*k, along_k), [64, tile.k, 1]),
            Some(Lines::K) | None => ([*k, rows, batches], bytes(rows, row), [tile.k, tile_rows, 1]),
        };
        Moved::Boxes(TensorMap {
            elements,
            sizes: sizes.map(|n| n as u64),
            strides: [line, bytes(batches, along_batch)],
            boxes: boxes.map(|n| n as u32),
        })
    };
    // One axis of a batch at most; those that are not there have strides of 0.
    let [lines_a, lines_b] = problem.lines();
    let across = [b_strides[1], b_strides[0]];
    args.map((Pointer::Input(0), 0), operand(*m, tile.m, *a_strides, a_batch[0], lines_a));
    args.map((Pointer::Input(1), 0), operand(*n, tile.n, across, b_batch[0], lines_b));
    if problem.epilogue.is_none() && stores_boxes(problem) {
        let out = TensorMap {
            elements: stored,
            sizes: [*n, *m, batch.numel()].map(|n| n as u64),
            strides: [n * size, m * n * size].map(|n| n as u64),
            boxes: [(128 / size) as u32, 16, 1],
        };
        args.map((Pointer::Output(0), 0), Moved::Boxes(out));
    } else {
        args.no_map();
    }
}

/// Whether the copy engine can store the result.
fn stores_boxes(problem: &Problem) -> bool {
    let line = problem.merged.n.wrapping_mul(problem.dtype.size());
    line.is_multiple_of(16) && problem.align_out.is_multiple_of(16)
}
