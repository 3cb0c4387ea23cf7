//! Launches of `kernels/sort.cu`: lines that fit a block in one, longer ones in one for each digit behind one that counts all digits.

use super::{Sort, SortKind};
use crate::cuda::library::args::{self, Address, OUTPUT, input};
use crate::cuda::library::constants::nth::{CHOOSE, COUNT, COUNTS, FIND, PART, TALLY};
use crate::cuda::library::constants::sort::{
    BITS, DIGITS, FEW, LINE, MEDIAN, MODE, NAN_MEDIAN, NTH, SWEPT, TILE,
};
use crate::cuda::library::{KernelLaunch, KernelPlan, Pointer, copy, launch};
use crate::library::{Described, Shaped};
use mg_device::{DType, Error, ErrorKind, Result, Width};
use smallvec::{SmallVec, smallvec};

/// Keys and positions between two passes, by bytes of the workspace.
#[derive(Clone, Copy)]
struct Kept {
    keys: usize,
    at: usize,
}

/// Parts of the workspace, one after the other.
struct Workspace(usize);

impl Workspace {
    fn part(&mut self, bytes: usize) -> usize {
        let start = self.0;
        self.0 = start + bytes.next_multiple_of(256);
        start
    }

    fn kept(&mut self, count: usize, key: usize, at: usize) -> Kept {
        Kept { keys: self.part(count * key), at: self.part(count * at) }
    }
}

/// What does not change from launch to launch.
struct Problem<'a> {
    sort: &'a Sort,
    x: &'a Described,
    rows: usize,
    length: usize,
    together: usize,
    passes: usize,
    /// Where passes write in turns.
    kept: [Option<Kept>; 2],
    tally: Option<Tally>,
    /// Whether what keys differ in is found.
    spreads: bool,
    /// Where positions and elements in order go.
    results: [Address; 2],
}

/// How long lines are sorted: how they are divided, and where their digits are counted, all zeros at first.
#[derive(Clone, Copy)]
pub(in crate::library) struct Tally {
    rows: usize,
    length: usize,
    passes: usize,
    /// Tiles of a line.
    pub(in crate::library) tiles: usize,
    /// Elements of a line of which a block counts the digits.
    pub(in crate::library) counted: usize,
    start: usize,
    spread: usize,
    begun: usize,
    told: usize,
    /// The first byte behind what is counted.
    pub(in crate::library) end: usize,
}

impl Tally {
    /// Of `rows` lines of elements of a dtype, each of so many, from a byte of the workspace on.
    pub(in crate::library) fn new(
        start: usize,
        [rows, length]: [usize; 2],
        dtype: DType,
        passes: usize,
    ) -> Tally {
        // Blocks that count are as many as run at a time, but each has enough to be worth one.
        const AT_A_TIME: usize = 4 * 132;
        let counted = (rows * length / AT_A_TIME).max(1 << 14).next_multiple_of(1 << 12).min(length);
        let tiles = length.div_ceil(SWEPT / dtype.size().max(4));
        let spread = start + (rows * passes * DIGITS * size_of::<u32>()).next_multiple_of(256);
        let begun = spread + size_of::<u64>();
        let told = (begun + passes * size_of::<u32>()).next_multiple_of(256);
        let end = told + rows * tiles * DIGITS * size_of::<u64>();
        Tally { rows, length, passes, tiles, counted, start, spread, begun, told, end }
    }

    /// Where a sort finds it: totals, how many tiles were begun, what they say, what keys differ in.
    pub(in crate::library) fn addresses(&self) -> [Address; 4] {
        [self.start, self.begun, self.told, self.spread].map(|at| Some((Pointer::Workspace, at as u64)))
    }

    /// The launches that sort: by a kernel that counts digits and one that sweeps tiles, of whose passes these are the arguments.
    pub(in crate::library) fn launches(
        &self,
        op: &'static str,
        [count, sweep]: [&str; 2],
        args: impl Fn(usize) -> args::sort::Order,
    ) -> Result<SmallVec<[KernelLaunch; 8]>> {
        let mut launches: SmallVec<_> = copy::zeros(8, (self.end - self.start) / 8, self.start)?.collect();
        launches.push(launch(op, count, self.rows * self.length.div_ceil(self.counted), &args(0))?);
        for pass in 0..self.passes {
            launches.push(launch(op, sweep, self.rows * self.tiles, &args(pass))?);
        }
        Ok(launches)
    }
}

impl Problem<'_> {
    fn picks(&self) -> bool {
        match self.sort.kind {
            SortKind::Indices | SortKind::Values => false,
            SortKind::Nth | SortKind::Median | SortKind::NanMedian | SortKind::Mode => true,
        }
    }

    /// The argument of a pass; of what comes behind all of them, as if it were one more.
    fn args(&self, pass: usize) -> args::sort::Order {
        let kept = |at: Option<usize>| at.map(|at| (Pointer::Workspace, at as u64));
        let [indices, values] = self.results;
        let [totals, begun, told, spread] = self.tally.map_or([None; 4], |tally| tally.addresses());
        let largest = u64::MAX >> (64 - 8 * self.x.dtype.size());
        let which = match self.sort.kind {
            SortKind::Indices | SortKind::Values => LINE,
            SortKind::Nth => NTH,
            SortKind::Median => MEDIAN,
            SortKind::NanMedian => NAN_MEDIAN,
            SortKind::Mode => MODE,
        };
        args::sort::Order {
            x: input(0),
            keys: self.kept.map(|k| kept(k.map(|k| k.keys))),
            at: self.kept.map(|k| kept(k.map(|k| k.at))),
            indices,
            values,
            totals,
            begun,
            told,
            rows: self.rows as u64,
            length: self.length as u64,
            count: self.sort.count as u64,
            tiles: self.tally.map_or(1, |tally| tally.tiles) as u64,
            counted: self.tally.map_or(self.length, |tally| tally.counted) as u64,
            turn: turn(self.x.dtype, self.sort.descending),
            nan: largest,
            spread: spread.filter(|_| self.spreads),
            pass: pass as u32,
            passes: self.passes as u32,
            keeps: self.picks().into(),
            together: self.together as u32,
            which: which as u32,
            floats: self.x.dtype.is_float().into(),
            wanted: None,
        }
    }
}

/// The bits of a key that are turned: all for descending order, and the sign of signed integers.
pub(in crate::library) fn turn(dtype: DType, descending: bool) -> u64 {
    let width = 8 * dtype.size();
    let all = if descending { u64::MAX >> (64 - width) } else { 0 };
    if dtype.is_int() && dtype.is_signed() { all ^ 1 << (width - 1) } else { all }
}

/// What a kernel of a dtype is called: floats by name, all others by their size.
pub(in crate::library) fn bits(dtype: DType) -> &'static str {
    match dtype.width() {
        _ if dtype.is_float() => dtype.name(),
        Width::W64 => "b64",
        Width::W32 => "b32",
        Width::W16 => "b16",
        Width::W8 => "b8",
    }
}

/// Whether lines do not fit a block.
pub(super) fn is_long(x: &Described) -> bool {
    x.layout.shape().last().is_some_and(|&length| length > TILE)
}

pub(super) fn plan(sort: &Sort, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
    let values = sort.kind == SortKind::Values;
    planned(sort, operands, result, [OUTPUT.filter(|_| !values), OUTPUT.filter(|_| values)])
}

/// Both elements in order and their positions, of long lines: `values` is the number of the output where elements go.
pub(super) fn both(
    sort: &Sort,
    operands: &[Described],
    result: &Shaped,
    values: usize,
) -> Result<KernelPlan> {
    planned(
        sort,
        operands,
        result,
        [1 - values, values].map(|number| Some((Pointer::Output(number as u8), 0))),
    )
}

fn planned(
    sort: &Sort,
    operands: &[Described],
    result: &Shaped,
    results: [Address; 2],
) -> Result<KernelPlan> {
    let op = "sort";
    let Some(x) = operands.first() else {
        return Err(Error::new(op, ErrorKind::Internal("no operand".into())));
    };
    let shape = x.layout.shape();
    let length = shape.last().copied().unwrap_or(0);
    if result.shape.numel() == 0 || length == 0 {
        return Ok(KernelPlan::default());
    }
    if u32::try_from(length).is_err() {
        let text = format!("lines of {length} elements on a CUDA device, at most 2^32 - 1 are taken");
        return Err(Error::new(op, ErrorKind::Shape(text)));
    }
    let total = shape.numel();
    let rows = total / length;
    let (key, wide) = if x.dtype.size() == 8 { (8, "b64") } else { (4, "b32") };
    let bits = bits(x.dtype);
    let name = |what: &str| format!("order_{what}_{bits}");
    let is_long = is_long(x);
    let which = match sort.kind {
        SortKind::Nth => Some(0),
        SortKind::Median => Some(1),
        SortKind::NanMedian => Some(2),
        SortKind::Indices | SortKind::Values | SortKind::Mode => None,
    };
    if let Some(which) = which.filter(|_| is_long) {
        return picked(sort, x, rows, length, which);
    }
    // Lines that are long enough for a block, but not for several.
    let few = match sort.kind {
        SortKind::Indices => (1..=FEW.min(length / 8)).contains(&sort.count),
        SortKind::Nth | SortKind::Median | SortKind::NanMedian => true,
        SortKind::Values | SortKind::Mode => false,
    };
    let selects = few && !is_long && length > TILE / 4;
    let together = (TILE / length).clamp(1, DIGITS);
    let passes = if is_long { 8 * x.dtype.size() / BITS } else { 1 };
    // Small integers differ in few digits.
    let spreads = is_long && !x.dtype.is_float() && passes >= 4;
    let (kept, tally) = ([None; 2], None);
    let mut problem = Problem { sort, x, rows, length, together, passes, kept, tally, spreads, results };
    let mut workspace = Workspace(0);
    if selects {
        let launches = smallvec![launch(op, &name("select"), rows, &problem.args(0))?];
        return Ok(KernelPlan { launches, ..KernelPlan::default() });
    }
    // What one pass writes the next one reads, while that writes the other. The last one writes the result, if nothing is picked of it.
    let written = passes - usize::from(!problem.picks());
    // Elements that are sorted alone have no positions, and are kept as they are.
    let alone = is_long && results[0].is_none();
    let (key, at) = if alone { (x.dtype.size(), 0) } else { (key, size_of::<u32>()) };
    problem.kept = [0, 1].map(|number| (number < written).then(|| workspace.kept(total, key, at)));
    let mut plan = KernelPlan::default();
    if is_long {
        let tally = Tally::new(workspace.0, [rows, length], x.dtype, passes);
        workspace.0 = tally.end;
        problem.tally = Some(tally);
        let sweep = name(if alone { "alone" } else { "sweep" });
        plan.launches.extend(tally.launches(op, [&name("count"), &sweep], |pass| problem.args(pass))?);
    } else {
        plan.launches.push(launch(op, &name("block"), rows.div_ceil(together), &problem.args(0))?);
    }
    if problem.picks() {
        plan.launches.push(launch(op, &format!("order_pick_{wide}"), rows, &problem.args(passes))?);
    }
    plan.workspace = workspace.0;
    Ok(plan)
}

/// One position of each line that does not fit a block: found without sorting it.
fn picked(sort: &Sort, x: &Described, rows: usize, length: usize, which: u32) -> Result<KernelPlan> {
    let op = "sort";
    let parts = length.div_ceil(PART);
    let mut workspace = Workspace(0);
    let counts = workspace.part(rows * COUNTS * 4);
    let state = workspace.part(rows * 16);
    let tallies = workspace.part(rows * parts * 4);
    let at = |offset: usize| Some((Pointer::Workspace, offset as u64));
    let name = format!("nth_{}", bits(x.dtype));
    let launched = |step: usize, shift: usize, blocks: usize| {
        let args = args::nth::Nth {
            out: OUTPUT,
            x: input(0),
            counts: at(counts),
            state: at(state),
            tallies: at(tallies),
            length: length as u64,
            parts: parts as u64,
            nth: sort.count as u64,
            turn: turn(x.dtype, sort.descending),
            nan: u64::MAX >> (64 - 8 * x.dtype.size()),
            step: step as u32,
            shift: shift as u32,
            which,
            floats: x.dtype.is_float().into(),
        };
        launch(op, &name, blocks, &args)
    };
    // What was chosen leaves zeros behind.
    let mut plan = KernelPlan { workspace: workspace.0, ..KernelPlan::default() };
    plan.launches.extend(copy::zeros(4, rows * COUNTS, counts)?);
    for shift in (0..8 * x.dtype.size()).step_by(8).rev() {
        plan.launches.push(launched(COUNT, shift, rows * parts)?);
        plan.launches.push(launched(CHOOSE, shift, rows)?);
    }
    plan.launches.push(launched(TALLY, 0, rows * parts)?);
    plan.launches.push(launched(FIND, 0, rows)?);
    Ok(plan)
}
