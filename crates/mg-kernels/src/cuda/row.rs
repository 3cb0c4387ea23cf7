//! Kernels over rows: a few threads, a warp or a block a row. A row that fits in registers is read once, however many
//! stages its reductions make; a longer one is walked once a stage.

use super::body::{Body, RowAt, Run, wide};
use super::emit::{
    Emitted, Followup, SCRATCH, SHARED, Total, finish, finish_totals, most_blocks, partial_bytes,
    start_totals, widest,
};
use super::frame::{Frame, internal};
use super::params::Field;
use super::ptx::{self, Kind, Op, assign, bits_of, imm, imm64, ins, label, op2, op3, place, reg, special};
use super::reduce::{Acc, Reduction, across_block, shared_address};
use super::values::store;
use crate::program::{Class, Inst, Operand, Over, Program, Source, Val, Value};
use mg_device::{DType, MAX_RANK, Result};

/// Elements that a thread holds of a row in registers.
const HELD: usize = 16;
/// Threads for a row that does not fit.
const LONG: u32 = 512;
/// Threads of a block whose rows are short.
const SHORT: u32 = 128;
/// Rows whose contributions to columns are added before they go to memory.
const CHUNK: usize = 64;
/// Chunks of rows that are enough for any device.
const CHUNKS: usize = 256;

/// Blocks whose full reductions are joined.
const MOST: usize = 1 << 14;

/// Bytes of shared memory that a block has without asking.
const MOST_SHARED: usize = 48 << 10;

/// How rows are given to threads.
struct Shape {
    /// Threads a row.
    threads: u32,
    block: u32,
    vector: usize,
    runs: usize,
    /// The row is kept in registers.
    resident: bool,
}

fn shape(program: &Program, frame: &Frame) -> Shape {
    let columns = frame.columns.max(1);
    let mut vector = (16 / widest(program, frame)).clamp(1, 8);
    // A run does not cross from one merged dimension's end into the next row of it.
    while !frame.column_dims.last().unwrap_or(&columns).is_multiple_of(vector) {
        vector /= 2;
    }
    let operands = frame.inputs.iter().filter(|i| i.class == Class::Full).count();
    let double = program.values.iter().any(|v| v.dtype == DType::F64);
    let columns_out = program.reduces(Over::Outer);
    let held = if operands > 3 || double || columns_out { HELD / 2 } else { HELD };
    let most = (held / vector).max(1);
    let groups = columns.div_ceil(vector);
    if groups <= 32 * most {
        let threads = groups.div_ceil(most.min(4)).next_power_of_two().min(32);
        let runs = groups.div_ceil(threads);
        return Shape { threads: threads as u32, block: SHORT, vector, runs, resident: true };
    }
    if groups <= 1024 * most {
        let runs = groups.div_ceil(1024).max(most.min(4));
        let threads = groups.div_ceil(runs).next_multiple_of(32);
        let runs = groups.div_ceil(threads);
        return Shape { threads: threads as u32, block: threads as u32, vector, runs, resident: true };
    }
    let runs = (8 / vector).max(1);
    Shape { threads: LONG, block: LONG, vector, runs, resident: false }
}

/// A reduction over the rows of a chunk, for each of the columns that a thread holds.
struct Columns {
    value: usize,
    reduction: Reduction,
    accs: Vec<Acc>,
    /// Where they are in shared memory, if registers are short: the address of the thread's first four.
    shared: Option<Op>,
    /// Where its partial results start in the scratch memory.
    at: usize,
}

struct Rows<'a> {
    body: Body<'a>,
    shape: Shape,
    tid: Op,
    /// The thread's place in its row.
    lane: Op,
    columns_out: Vec<Columns>,
    totals: Vec<Total>,
    shared: u32,
    /// Whether the row is not the first of its chunk.
    is_later: Option<Op>,
    /// The position of the row after it, and whether there is one that the same threads work on.
    next: Option<(Op, Op)>,
}

pub(crate) fn emit(program: &Program, frame: &Frame, aligned: bool) -> Result<Emitted> {
    let shape = shape(program, frame);
    let slots = (shape.block / shape.threads) as usize;
    ptx::begin();
    let mut body = Body::new(program, frame, shape.vector, aligned);
    body.uniforms()?;
    let tid = special("%tid.x");
    let cta = special("%ctaid.x");
    let reductions: Vec<usize> = (0..program.values.len())
        .filter(|&v| matches!(program.values[v].inst, Inst::Reduce(_, Over::Outer, _)))
        .collect();
    // Rows a slot, and how many slots there are in all.
    let mut per_slot = 1;
    let row_bytes: usize = reductions
        .iter()
        .filter_map(|&v| body.reduction(v, false))
        .map(|(r, _)| frame.columns * size_of_register(r.register()))
        .sum();
    if !reductions.is_empty() {
        let fits = (SCRATCH / row_bytes.max(1)).max(1);
        let wanted = frame.rows.div_ceil(CHUNK).max(frame.rows.min(CHUNKS)).min(fits).max(1);
        per_slot = frame.rows.div_ceil(wanted.next_multiple_of(slots)).max(1);
    }
    let totals = start_totals(&body);
    if !totals.is_empty() {
        let most = most_blocks(shape.block, totals.len()).min(MOST);
        per_slot = per_slot.max(frame.rows.div_ceil(slots * most));
    }
    let blocks = frame.rows.div_ceil(slots * per_slot).max(1);
    let chunks = blocks * slots;
    // The full reductions' partial results come first.
    let mut at = partial_bytes(blocks, shape.block, totals.len()).next_multiple_of(256);
    if !reductions.is_empty() && at + chunks * row_bytes > SCRATCH + SCRATCH / 4 {
        return Err(internal("rows too long for a reduction over both rows and columns"));
    }
    // Registers for two rows at a time on a multiprocessor, so that one works while the other waits at a barrier, do not
    // hold more than five values of eight elements a thread.
    let operands = frame.inputs.iter().filter(|i| i.class == Class::Full).count();
    let inner = program.values.iter().filter(|v| matches!(v.inst, Inst::Reduce(_, Over::Inner, _))).count();
    let mut shared_end = (inner + totals.len()) * SHARED as usize + 16;
    let row_shared = shape.threads as usize * shape.vector * shape.runs * 4;
    let in_shared = shape.resident
        && slots == 1
        && shape.vector == 4
        && operands + reductions.len() > 5
        && shared_end + reductions.len() * row_shared <= MOST_SHARED
        && reductions.iter().all(|&v| body.reduction(v, false).is_some_and(|(r, _)| r.register() == Kind::F));
    let mut columns_out = vec![];
    for v in reductions {
        let (reduction, _) = body.reduction(v, false).ok_or_else(|| internal("no reduction"))?;
        let n = if shape.resident && !in_shared { shape.vector * shape.runs } else { 0 };
        let accs = (0..n).map(|_| reduction.start()).collect();
        let shared = in_shared.then(|| {
            let base = shared_address(shared_end as u32);
            shared_end += row_shared;
            let first = op3(Kind::R, "mad.lo.u32", tid, imm(16), base);
            let nothing = ptx::copy(reduction.neutral());
            for u in 0..shape.runs {
                let step = u as u32 * shape.threads * 16;
                ins!("st.shared.v4.f32 [{first}+{step}], {{{nothing}, {nothing}, {nothing}, {nothing}}}");
            }
            first
        });
        columns_out.push(Columns { value: v, reduction, accs, shared, at });
        at += chunks * frame.columns * size_of_register(reduction.register());
    }
    let lane = if slots > 1 { op2(Kind::R, "and.b32", tid, imm(shape.threads as i64 - 1)) } else { tid };
    let mut rows =
        Rows { body, shape, tid, lane, columns_out, totals, shared: 0, is_later: None, next: None };
    // The row.
    let shift = rows.shape.threads.trailing_zeros() as i64;
    let slot = if slots > 1 { op2(Kind::R, "shr.u32", tid, imm(shift)) } else { imm(0) };
    let chunk = op3(Kind::R, "mad.lo.u32", cta, imm(slots as i64), slot);
    let n_rows = rows.body.params.long(frame.rows as i64);
    if per_slot == 1 && rows.columns_out.is_empty() {
        let index = match u32::try_from(frame.rows) {
            Ok(_) => wide(chunk),
            Err(_) => op3(Kind::D, "mad.wide.u32", cta, imm(slots as i64), wide(slot)),
        };
        rows.row(index, n_rows, slots > 1)?;
    } else {
        let each = rows.body.params.word(per_slot as u32);
        let first = op2(Kind::D, "mul.wide.u32", chunk, each);
        let index = ptx::copy(first);
        let left = ptx::copy(each);
        let (again, done) = (label(), label());
        place(again);
        let p = op2(Kind::P, "setp.eq.s32", left, imm(0));
        ins!("@{p} bra L{done}");
        rows.is_later = Some(op2(Kind::P, "setp.ne.s32", left, each));
        let next = op2(Kind::D, "add.s64", index, imm64(1));
        if rows.shape.resident {
            let more = op2(Kind::P, "setp.ne.s32", left, imm(1));
            let inside = op2(Kind::P, "setp.lt.u64", next, n_rows);
            rows.next = Some((next, op2(Kind::P, "and.pred", more, inside)));
        }
        rows.row(index, n_rows, true)?;
        assign(index, next);
        let fewer = op2(Kind::R, "sub.s32", left, imm(1));
        assign(left, fewer);
        if rows.shape.threads > 32 {
            ins!("bar.sync 0");
        }
        ins!("bra L{again}");
        place(done);
        rows.store_columns(chunk)?;
    }
    let Rows { mut body, shape, columns_out, totals, shared, .. } = rows;
    let mut total_shared = shared + totals.len() as u32 * SHARED + 16;
    if in_shared {
        total_shared = total_shared.max(shared_end as u32);
    }
    if !totals.is_empty() && shape.threads > 32 {
        ins!("bar.sync 0");
    }
    finish_totals(&mut body, totals, blocks as u32, shape.block, shared, tid, cta)?;
    let mut emitted = finish(body, total_shared, [blocks as u32, 1, 1], shape.block);
    if !columns_out.is_empty() && (256..=512).contains(&shape.block) {
        // Registers for two rows at a time on a multiprocessor: while one waits at a barrier, the other works.
        let limit = format!(".minnctapersm {}\n{{", 1024 / shape.block);
        emitted.text = emitted.text.replacen('{', &limit, 1);
    }
    if !columns_out.is_empty() {
        emitted.then = Some(follow_up(program, frame, &columns_out, chunks));
    }
    Ok(emitted)
}

/// Four numbers from shared memory.
fn load_four(first: Op, step: u32) -> [Op; 4] {
    let four = [(); 4].map(|()| reg(Kind::F));
    let [a, b, c, d] = four;
    ins!("ld.shared.v4.f32 {{{a}, {b}, {c}, {d}}}, [{first}+{step}]");
    four
}

pub(crate) fn size_of_register(kind: Kind) -> usize {
    if matches!(kind, Kind::D | Kind::G) { 8 } else { 4 }
}

/// The launch that joins the chunks' partial results.
fn follow_up(program: &Program, frame: &Frame, columns_out: &[Columns], chunks: usize) -> Followup {
    let mut strides = [0; MAX_RANK];
    strides[0] = frame.columns as isize;
    strides[1] = 1;
    let mut join = Program { space: vec![chunks, frame.columns], batch: 0, outer: 1, ..Program::default() };
    let (mut from, mut outputs) = (vec![], vec![]);
    for columns in columns_out {
        let dtype = match columns.reduction.register() {
            Kind::F => DType::F32,
            Kind::G => DType::F64,
            Kind::D if columns.reduction.dtype == DType::U64 => DType::U64,
            Kind::D => DType::I64,
            _ => DType::I32,
        };
        let input = join.inputs.len() as u16;
        join.inputs.push(Operand { source: Source::Buffer, dtype, strides });
        from.push(columns.at as u32);
        let operand = join.values.len() as Val;
        join.values.push(Value { inst: Inst::Input(input), dtype });
        let inst = Inst::Reduce(columns.reduction.kind, Over::Outer, operand);
        join.values.push(Value { inst, dtype: program.values[columns.value].dtype });
        for o in (0..program.outputs.len()).filter(|&o| program.outputs[o].0 as usize == columns.value) {
            join.outputs.push((operand + 1, Class::Column));
            outputs.push(o as u16);
        }
    }
    Followup { program: join, from, outputs }
}

impl Rows<'_> {
    /// One row, by the threads that have it.
    fn row(&mut self, index: Op, count: Op, may_miss: bool) -> Result<()> {
        let p = may_miss.then(|| op2(Kind::P, "setp.lt.u64", index, count));
        let position = if self.body.wide { index } else { ptx::op1(Kind::R, "cvt.u32.u64", index) };
        let row = self.body.at_row(position, p);
        let rows = [row];
        self.shared = 0;
        if self.shape.resident {
            self.resident(&rows)?
        } else {
            self.long(&rows)?
        }
        // Full reductions of what rows have.
        let mine = op2(Kind::P, "setp.eq.s32", self.lane, imm(0));
        let mine = p.map_or(mine, |p| op2(Kind::P, "and.pred", mine, p));
        for t in &self.totals {
            let (reduction, a) =
                self.body.reduction(t.value, true).ok_or_else(|| internal("a total that is no reduction"))?;
            let value = self.body.row_operand(a, 0)?;
            let acc = reduction.element(value, Some(index));
            let acc = reduction.masked(reduction.widened(acc), Some(mine));
            reduction.add_to(&t.acc, acc);
        }
        // What rows have that leaves the program.
        for o in 0..self.body.program.outputs.len() {
            let (v, class) = self.body.program.outputs[o];
            if class == Class::Row && self.body.class(v) <= Class::Row {
                let at = self.body.output_row(o, index);
                let value = self.body.row_operand(v, 0)?;
                store(self.body.dtype(v), at, 0, value, Some(mine));
            }
        }
        Ok(())
    }

    /// The thread's runs of a stretch of the row that starts at `from`.
    fn runs(&mut self, from: Option<Op>, rows: &[RowAt]) -> Vec<Run> {
        let Shape { threads, vector, runs, .. } = self.shape;
        let columns = self.body.frame.columns;
        let exact = self.shape.resident && threads as usize * vector * runs == columns;
        let limit = (!exact).then(|| self.body.params.long(columns as i64));
        (0..runs)
            .map(|u| {
                let lane = op3(
                    Kind::R,
                    "mad.lo.u32",
                    self.lane,
                    imm(vector as i64),
                    imm((u * threads as usize * vector) as i64),
                );
                let column = match (from, self.body.wide) {
                    (None, false) => lane,
                    (None, true) => wide(lane),
                    (Some(from), false) => {
                        let from = ptx::op1(Kind::R, "cvt.u32.u64", from);
                        op2(Kind::R, "add.u32", lane, from)
                    }
                    (Some(from), true) => op2(Kind::D, "add.s64", wide(lane), from),
                };
                let p = limit.map(|limit| op2(Kind::P, "setp.lt.s64", wide(column), limit));
                let p = match (p, rows[0].p) {
                    (Some(a), Some(b)) => Some(op2(Kind::P, "and.pred", a, b)),
                    (a, b) => a.or(b),
                };
                self.body.run(column, p, 0)
            })
            .collect()
    }

    /// Joins what the row's threads have, several reductions at a time.
    fn join(&mut self, all: &[(Reduction, Acc)]) -> Vec<Acc> {
        let threads = self.shape.threads;
        if threads <= 32 {
            return all.iter().map(|(r, acc)| r.across_warp(*acc, threads)).collect();
        }
        let shared = self.shared;
        self.shared += SHARED * all.len() as u32;
        across_block(all, threads, shared, self.tid)
    }

    /// How many reductions over the row have to be known before a value is.
    fn depths(&self) -> Vec<usize> {
        let program = self.body.program;
        let mut depths = vec![0usize; program.values.len()];
        for v in 0..depths.len() {
            let from_args = program.args(v as Val).map(|a| depths[a as usize]).max().unwrap_or(0);
            let inner = matches!(program.values[v].inst, Inst::Reduce(_, Over::Inner, _));
            depths[v] = from_args + inner as usize;
        }
        depths
    }

    /// Rows that stay in registers: stage by stage, reductions of one stage together.
    fn resident(&mut self, rows: &[RowAt]) -> Result<()> {
        let program = self.body.program;
        let n = program.values.len();
        let depths = self.depths();
        let runs = self.runs(None, rows);
        let late = self.late(&depths);
        let early: Vec<bool> = late.iter().map(Option::is_none).collect();
        self.body.load_full(&early, rows, &runs)?;
        if let Some((next, p)) = self.next {
            // While this row waits for its reductions, the next one comes closer.
            let position = if self.body.wide { next } else { ptx::op1(Kind::R, "cvt.u32.u64", next) };
            let row = self.body.at_row(position, Some(p));
            self.body.prefetch(&row, &runs);
        }
        for stage in 0..=depths.iter().copied().max().unwrap_or(0) {
            let now: Vec<bool> = late.iter().map(|&l| l == Some(stage)).collect();
            self.body.load_full(&now, rows, &runs)?;
            let mut reduced = vec![];
            for v in (0..n).filter(|&v| depths[v] == stage) {
                match (program.values[v].inst, self.body.frame.classes[v]) {
                    (Inst::Reduce(_, Over::Outer, a), _) => self.add_columns(v, a, &runs)?,
                    (Inst::Reduce(..), _) => {}
                    (_, Class::Row) => self.body.row_value(v, rows)?,
                    (Inst::Input(_), _) => {}
                    (_, Class::Full) => self.body.full_value(v, &runs)?,
                    _ => {}
                }
            }
            // What is written is no longer held.
            self.store(rows, &runs, |v| depths[v as usize] == stage)?;
            for (v, &depth) in depths.iter().enumerate() {
                let Inst::Reduce(_, Over::Inner, a) = program.values[v].inst else { continue };
                if depth != stage + 1 {
                    continue;
                }
                let (reduction, _) = self.body.reduction(v, false).ok_or_else(|| internal("no reduction"))?;
                let partials = self.body.partials(reduction, a, &runs, 1)?.remove(0);
                let acc = reduction.tree(partials).ok_or_else(|| internal("a row of nothing"))?;
                reduced.push((v, (reduction, acc)));
            }
            let joined = self.join(&reduced.iter().map(|r| r.1).collect::<Vec<_>>());
            for ((v, (reduction, _)), acc) in reduced.into_iter().zip(joined) {
                self.body.row[v] = vec![reduction.finish(acc, program.values[v].dtype)?];
            }
        }
        Ok(())
    }

    /// Operands that are loaded when they are first needed, by value: the stage. They are the same for all rows, so that no
    /// output has their memory.
    fn late(&self, depths: &[usize]) -> Vec<Option<usize>> {
        let program = self.body.program;
        let is_late = |v: usize| match program.values[v].inst {
            Inst::Input(i) => {
                let walked = &self.body.frame.inputs[usize::from(i)];
                self.body.frame.rows > 1 && walked.row.iter().all(|&s| s == 0)
            }
            _ => false,
        };
        let first_use = |v: usize| {
            let readers = (0..depths.len()).filter(|&r| program.args(r as Val).any(|a| a as usize == v));
            // A reduction's stage is the one after it was read.
            let stage = |r: usize| match program.values[r].inst {
                Inst::Reduce(_, Over::Inner, _) => depths[r] - 1,
                _ => depths[r],
            };
            readers.map(stage).min().unwrap_or(0)
        };
        (0..depths.len()).map(|v| is_late(v).then(|| first_use(v))).collect()
    }

    /// Writes the outputs over elements whose values `when` picks.
    fn store(&mut self, rows: &[RowAt], runs: &[Run], when: impl Fn(Val) -> bool) -> Result<()> {
        for o in 0..self.body.program.outputs.len() {
            let (v, class) = self.body.program.outputs[o];
            if class == Class::Full && self.body.class(v) <= Class::Full && when(v) {
                let base = self.body.output_row(o, rows[0].index);
                self.body.store_full(o, rows, runs, &[base])?;
            }
        }
        Ok(())
    }

    /// Rows that do not fit: a walk for each depth of reductions. Values over elements are computed anew in each walk that
    /// needs them; what leaves does so in the last, when no operand is read again.
    #[allow(clippy::needless_range_loop)] // values are looked up in several lists
    fn long(&mut self, rows: &[RowAt]) -> Result<()> {
        let program = self.body.program;
        let n = program.values.len();
        let available = self.depths();
        let depth = available.iter().copied().max().unwrap_or(0);
        for phase in 0..=depth {
            let mut needed = vec![false; n];
            let mut targets = vec![];
            for v in 0..n {
                let is_full = self.body.frame.classes[v] == Class::Full;
                match program.values[v].inst {
                    Inst::Reduce(_, Over::Inner, a) if available[a as usize] == phase => targets.push((v, a)),
                    Inst::Reduce(_, Over::Outer, a) if phase == depth => targets.push((v, a)),
                    Inst::Guard(..) if is_full && available[v] == phase => needed[v] = true,
                    _ => {}
                }
            }
            if phase == depth {
                for &(v, class) in &program.outputs {
                    if class == Class::Full {
                        needed[v as usize] = true;
                    }
                }
            }
            for &(_, a) in &targets {
                needed[a as usize] = true;
            }
            for v in (0..n).rev() {
                if needed[v] && self.body.frame.classes[v] == Class::Full {
                    for a in program.args(v as Val) {
                        needed[a as usize] = true;
                    }
                }
            }
            for (v, &from) in available.iter().enumerate() {
                let is_value = !matches!(program.values[v].inst, Inst::Reduce(..));
                if is_value && self.body.frame.classes[v] == Class::Row && from == phase {
                    self.body.row_value(v, rows)?;
                }
            }
            if !needed.iter().zip(&self.body.frame.classes).any(|(n, c)| *n && *c == Class::Full)
                && targets.is_empty()
                && phase != depth
            {
                continue;
            }
            let accs: Vec<Option<(Reduction, Acc)>> = targets
                .iter()
                .map(|&(v, _)| match program.values[v].inst {
                    Inst::Reduce(_, Over::Inner, _) => {
                        self.body.reduction(v, true).map(|(r, _)| (r, r.start()))
                    }
                    _ => None,
                })
                .collect();
            let step = self.shape.threads as usize * self.shape.vector * self.shape.runs;
            let at = ptx::copy(imm64(0));
            let end = self.body.params.long(self.body.frame.columns as i64);
            let (again, done) = (label(), label());
            place(again);
            let p = op2(Kind::P, "setp.ge.s64", at, end);
            ins!("@{p} bra L{done}");
            let runs = self.runs(Some(at), rows);
            self.body.full.iter_mut().for_each(Vec::clear);
            self.body.load_full(&needed, rows, &runs)?;
            for (v, &is_needed) in needed.iter().enumerate() {
                let is_op = !matches!(program.values[v].inst, Inst::Input(_) | Inst::Reduce(..));
                if is_needed && is_op && self.body.frame.classes[v] == Class::Full {
                    self.body.full_value(v, &runs)?;
                }
            }
            for (&(v, a), acc) in targets.iter().zip(&accs) {
                match acc {
                    Some((reduction, acc)) => {
                        let partials = self.body.partials(*reduction, a, &runs, 1)?.remove(0);
                        if let Some(sum) = reduction.tree(partials) {
                            reduction.add_to(acc, sum);
                        }
                    }
                    None => self.add_columns(v, a, &runs)?,
                }
            }
            if phase == depth {
                self.store(rows, &runs, |_| true)?;
            }
            let next = op2(Kind::D, "add.s64", at, imm64(step as i64));
            assign(at, next);
            ins!("bra L{again}");
            place(done);
            let joined = self.join(&accs.iter().filter_map(|a| *a).collect::<Vec<_>>());
            let known = targets.iter().zip(accs).filter_map(|(t, acc)| acc.map(|(r, _)| (t.0, r)));
            for ((v, reduction), acc) in known.zip(joined) {
                self.body.row[v] = vec![reduction.finish(acc, program.values[v].dtype)?];
            }
        }
        Ok(())
    }

    /// Adds a row's elements to the columns: in registers, or in memory where the row does not fit.
    fn add_columns(&mut self, v: usize, a: Val, runs: &[Run]) -> Result<()> {
        let Some(c) = self.columns_out.iter().position(|c| c.value == v) else {
            return Err(internal("a reduction over rows that was not planned"));
        };
        let reduction = self.columns_out[c].reduction;
        let partials = self.body.partials(reduction, a, runs, 1)?.remove(0);
        if let Some(first) = self.columns_out[c].shared {
            for (u, more) in partials.chunks(4).enumerate() {
                let step = u as u32 * self.shape.threads * 16;
                let sums = load_four(first, step);
                let sums: Vec<Op> = sums
                    .into_iter()
                    .zip(more)
                    .map(|(value, more)| reduction.join(Acc { value, index: None }, *more).value)
                    .collect();
                if let [a, b, c, d] = sums[..] {
                    ins!("st.shared.v4.f32 [{first}+{step}], {{{a}, {b}, {c}, {d}}}");
                }
            }
            return Ok(());
        }
        if self.shape.resident {
            for (acc, more) in self.columns_out[c].accs.iter().zip(partials) {
                reduction.add_to(acc, more);
            }
            return Ok(());
        }
        // One slot a block, whose rows follow one another: the first finds nothing yet.
        let chunk = special("%ctaid.x");
        let base = self.partial_row(c, chunk);
        let size = size_of_register(reduction.register()) as i64;
        let later = self.is_later.ok_or_else(|| internal("rows without a chunk"))?;
        let columns = self.body.params.long(self.body.frame.columns as i64);
        for (u, run) in runs.iter().enumerate() {
            let inside = op2(Kind::P, "setp.lt.s64", wide(run.column), columns);
            let again = op2(Kind::P, "and.pred", inside, later);
            for i in 0..self.body.vector {
                let at = op3(Kind::D, "mad.lo.s64", wide(run.column), imm64(size), base);
                let at = op2(Kind::D, "add.s64", at, imm64(i as i64 * size));
                let old = reg(reduction.register());
                assign(old, reduction.neutral());
                ins!("@{again} ld.global.{} {old}, [{at}]", bits_of(old.0));
                let sum = reduction.join(Acc { value: old, index: None }, partials[u * self.body.vector + i]);
                ins!("@{inside} st.global.{} [{at}], {}", bits_of(old.0), sum.value);
            }
        }
        Ok(())
    }

    /// The address of a chunk's partial results.
    fn partial_row(&mut self, c: usize, chunk: Op) -> Op {
        let columns = &self.columns_out[c];
        let size = size_of_register(columns.reduction.register());
        let base = self.body.params.field(Field::Scratch(columns.at as u32));
        let row = self.body.params.long((self.body.frame.columns * size) as i64);
        op3(Kind::D, "mad.lo.s64", wide(chunk), row, base)
    }

    /// Writes the partial results that were kept in registers.
    fn store_columns(&mut self, chunk: Op) -> Result<()> {
        if !self.shape.resident {
            return Ok(());
        }
        let always = RowAt { index: imm(0), p: None, bases: vec![] };
        for c in 0..self.columns_out.len() {
            let base = self.partial_row(c, chunk);
            let runs = self.runs(None, std::slice::from_ref(&always));
            let columns = &self.columns_out[c];
            let kind = columns.reduction.register();
            let size = size_of_register(kind) as i64;
            for (u, run) in runs.iter().enumerate() {
                let at = op3(Kind::D, "mad.lo.s64", wide(run.column), imm64(size), base);
                let values: Vec<Op> = match columns.shared {
                    Some(first) => load_four(first, u as u32 * self.shape.threads * 16).to_vec(),
                    None => columns.accs[u * self.body.vector..].iter().map(|acc| acc.value).collect(),
                };
                for (i, value) in values.into_iter().take(self.body.vector).enumerate() {
                    let guard = run.p.map_or(String::new(), |p| format!("@{p} "));
                    ins!("{guard}st.global.{} [{at}+{}], {value}", bits_of(kind), i as i64 * size);
                }
            }
        }
        Ok(())
    }
}
