//! Launches of `kernels/sort.cu`: lines that fit a block in one, longer ones in three for each digit.

use super::{Sort, SortKind};
use crate::cuda::library::args::{self, OUTPUT, input};
use crate::cuda::library::constants::nth::{CHOOSE, COUNT, COUNTS, FIND, PART, TALLY};
use crate::cuda::library::constants::sort::{
    BITS, DIGITS, FEW, FEW_TILES, LINE, MEDIAN, MODE, NAN_MEDIAN, NTH, TILE,
};
use crate::cuda::library::{KernelPlan, Pointer, copy, launch};
use crate::library::{Described, Shaped};
use mg_device::{DType, Error, ErrorKind, Result, Width};
use smallvec::smallvec;

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

    fn kept(&mut self, count: usize, key: usize) -> Kept {
        Kept { keys: self.part(count * key), at: self.part(count * size_of::<u32>()) }
    }
}

/// What does not change from launch to launch.
struct Problem<'a> {
    sort: &'a Sort,
    x: &'a Described,
    rows: usize,
    length: usize,
    tiles: usize,
    together: usize,
    passes: usize,
    /// Where passes write in turns.
    kept: [Option<Kept>; 2],
    counts: Option<usize>,
    totals: Option<usize>,
    spread: Option<usize>,
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
        let values = self.sort.kind == SortKind::Values;
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
            indices: OUTPUT.filter(|_| !values),
            values: OUTPUT.filter(|_| values),
            counts: kept(self.counts),
            totals: kept(self.totals),
            rows: self.rows as u64,
            length: self.length as u64,
            count: self.sort.count as u64,
            tiles: self.tiles as u64,
            turn: turn(self.x.dtype, self.sort.descending),
            nan: largest,
            spread: kept(self.spread),
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

pub(super) fn plan(sort: &Sort, operands: &[Described], result: &Shaped) -> Result<KernelPlan> {
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
    let tiles = length.div_ceil(TILE);
    let which = match sort.kind {
        SortKind::Nth => Some(0),
        SortKind::Median => Some(1),
        SortKind::NanMedian => Some(2),
        SortKind::Indices | SortKind::Values | SortKind::Mode => None,
    };
    if let Some(which) = which.filter(|_| tiles > 1) {
        return picked(sort, x, rows, length, which);
    }
    // Lines that are long enough for a block, but not for several.
    let few = match sort.kind {
        SortKind::Indices => (1..=FEW.min(length / 8)).contains(&sort.count),
        SortKind::Nth | SortKind::Median | SortKind::NanMedian => true,
        SortKind::Values | SortKind::Mode => false,
    };
    let selects = few && tiles == 1 && length > TILE / 4;
    let together = (TILE / length).clamp(1, DIGITS);
    let passes = if tiles == 1 { 1 } else { 8 * x.dtype.size() / BITS };
    let mut workspace = Workspace(0);
    let (kept, counts, totals, spread) = ([None; 2], None, None, None);
    let mut problem =
        Problem { sort, x, rows, length, tiles, together, passes, kept, counts, totals, spread };
    if selects {
        let launches = smallvec![launch(op, &name("select"), rows, &problem.args(0))?];
        return Ok(KernelPlan { launches, ..KernelPlan::default() });
    }
    // What one pass writes the next one reads, while that writes the other. The last one writes the result, if nothing is picked of it.
    let written = passes - usize::from(!problem.picks());
    problem.kept = [0, 1].map(|number| (number < written).then(|| workspace.kept(total, key)));
    let mut plan = KernelPlan::default();
    if tiles == 1 {
        plan.launches.push(launch(op, &name("block"), rows.div_ceil(together), &problem.args(0))?);
    } else {
        problem.counts = Some(workspace.part(rows * DIGITS * tiles * size_of::<u32>()));
        // Of few tiles, who moves one adds up the counts.
        problem.totals = (tiles > FEW_TILES).then(|| workspace.part(rows * DIGITS * size_of::<u32>()));
        // Small integers differ in few digits.
        if !x.dtype.is_float() && passes >= 4 {
            let spread = workspace.part(size_of::<u64>());
            let there = |pointer| match pointer {
                Pointer::Output(_) => (Pointer::Workspace, spread as u64),
                Pointer::Input(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
            };
            let zeros = copy::fill(8, 1, 0)?;
            plan.launches.extend(zeros.launches.into_iter().map(|launch| launch.moved(there)));
            problem.spread = Some(spread);
        }
        for pass in 0..passes {
            let args = problem.args(pass);
            plan.launches.push(launch(op, &name("count"), rows * tiles, &args)?);
            if tiles > FEW_TILES {
                plan.launches.push(launch(op, "order_sum", rows * DIGITS, &args)?);
            }
            plan.launches.push(launch(op, &name("move"), rows * tiles, &args)?);
        }
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
    let zeros = copy::fill(4, rows * COUNTS, 0)?;
    let there = |pointer| match pointer {
        Pointer::Output(_) => (Pointer::Workspace, counts as u64),
        Pointer::Input(_) | Pointer::Workspace | Pointer::Tickets | Pointer::Fault => (pointer, 0),
    };
    let mut plan = KernelPlan { workspace: workspace.0, ..KernelPlan::default() };
    plan.launches.extend(zeros.launches.into_iter().map(|launch| launch.moved(there)));
    for shift in (0..8 * x.dtype.size()).step_by(8).rev() {
        plan.launches.push(launched(COUNT, shift, rows * parts)?);
        plan.launches.push(launched(CHOOSE, shift, rows)?);
    }
    plan.launches.push(launched(TALLY, 0, rows * parts)?);
    plan.launches.push(launched(FIND, 0, rows)?);
    Ok(plan)
}
