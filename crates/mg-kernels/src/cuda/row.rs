//! Kernels over rows: a few threads, a warp or a block a row. A row that fits in registers is read once, however many
//! stages its reductions make; a longer one is walked once a stage.

use super::body::{Body, RowAt, Run, wide};
use super::emit::{Emitted, Followup, finish};
use super::params::Field;
use super::ptx::{self, Kind, Op, assign, bits_of, imm, imm64, ins, label, op2, op3, place, reg, special};
use super::reduce::{Acc, Reduction, SHARED, across_block, across_cluster, meet_cluster, shared_address};
use super::stage::{ColumnSum, Rows, Step, Walks, size_of_register};
use super::totals::{Block, Total, finish_totals, start_totals};
use super::values::store;
use crate::frame::{Frame, internal};
use crate::program::{Class, Inst, Operand, Over, Program, Source, Val, Value};
use crate::walks::Walk;
use mg_device::{DType, MAX_RANK, Result};

/// A reduction over the rows of a chunk, for each of the columns that a thread holds.
struct Columns {
    sum: ColumnSum,
    /// In registers.
    accs: Vec<Acc>,
    /// Where they are in shared memory, if registers are short: the address of the thread's first four.
    shared: Option<Op>,
}

struct RowEmitter<'a> {
    body: Body<'a>,
    stage: &'a Rows,
    tid: Op,
    /// The thread's place in its row.
    lane: Op,
    columns_out: Vec<Columns>,
    totals: Vec<Total>,
    shared: u32,
    /// Shared memory with which the rows that a block works on at a time are joined.
    slots_shared: u32,
    /// Whether the row is not the first of its chunk.
    is_later: Option<Op>,
    /// The position of the row after it, and whether there is one that the same threads work on.
    next: Option<(Op, Op)>,
}

pub(crate) fn emit(program: &Program, frame: &Frame, stage: &Rows, aligned: bool) -> Result<Emitted> {
    let mut body = Body::new(program, frame, stage.vector, aligned);
    body.uniforms()?;
    let tid = special("%tid.x");
    let cta = special("%ctaid.x");
    let totals = start_totals(&body);
    let columns_out = start_columns(stage, tid);
    if aligned && stage.kept_bytes > 0 {
        let first = reg(Kind::R);
        ins!("mov.u32 {first}, kept");
        let place = |&at: &u32| (op2(Kind::R, "add.s32", first, imm(at.into())), false);
        body.kept = stage.kept.iter().map(|at| at.as_ref().map(place)).collect();
    }
    let lane = match (stage.slots, stage.cluster) {
        (1, 1) => tid,
        (1, _) => op3(Kind::R, "mad.lo.u32", special("%cluster_ctarank"), imm(stage.threads.into()), tid),
        _ => op2(Kind::R, "and.b32", tid, imm(stage.threads as i64 - 1)),
    };
    let mut row = RowEmitter {
        body,
        stage,
        tid,
        lane,
        columns_out,
        totals,
        shared: 0,
        slots_shared: 0,
        is_later: None,
        next: None,
    };
    row.chunk(cta)?;
    let RowEmitter { mut body, columns_out, totals, shared, slots_shared, .. } = row;
    let mut total_shared = (shared + totals.len() as u32 * SHARED + 16).max(slots_shared);
    if let Some([_, end]) = stage.in_shared {
        total_shared = total_shared.max(end);
    }
    if !totals.is_empty() && stage.threads > 32 {
        ins!("bar.sync 0");
    }
    let blocks = stage.blocks as u32;
    finish_totals(&mut body, totals, blocks, &Block { threads: stage.block, shared, tid, cta })?;
    let mut emitted = finish(body, total_shared, [blocks, 1, 1], stage.block);
    if stage.kept_bytes > 0 {
        let limit = ".minnctapersm 2\n{";
        emitted.text = emitted.text.replacen('{', limit, 1);
        if aligned {
            let memory = ".extern .shared .align 16 .b8 kept[];\n.visible .entry";
            emitted.text = emitted.text.replacen(".visible .entry", memory, 1);
            emitted.shared = stage.kept_bytes;
        }
    }
    if !columns_out.is_empty() && stage.block <= Rows::AT_A_TIME / 2 {
        // Registers for several rows at a time on a multiprocessor: while one waits at a barrier, the others work.
        let limit = format!(".minnctapersm {}\n{{", stage.at_once());
        emitted.text = emitted.text.replacen('{', &limit, 1);
    }
    if stage.cluster > 1 {
        let together = format!(".reqnctapercluster {}, 1, 1\n{{", stage.cluster);
        emitted.text = emitted.text.replacen('{', &together, 1);
    }
    if !columns_out.is_empty() {
        emitted.then = Some(follow_up(program, frame, stage));
    }
    Ok(emitted)
}

/// Accumulators for the columns that a thread holds.
fn start_columns(stage: &Rows, tid: Op) -> Vec<Columns> {
    let mut columns_out = vec![];
    for (i, &sum) in stage.sums.iter().enumerate() {
        let reduction = sum.reduction;
        let is_held = stage.resident && stage.in_shared.is_none();
        let n = if is_held { stage.vector * stage.runs } else { 0 };
        let accs = (0..n).map(|_| reduction.start()).collect();
        let shared = stage.in_shared.map(|[from, _]| {
            let base = shared_address(from + i as u32 * stage.shared_step);
            let first = op3(Kind::R, "mad.lo.u32", tid, imm(16), base);
            let nothing = ptx::copy(reduction.neutral());
            for u in 0..stage.runs {
                let step = u as u32 * stage.threads * 16;
                ins!("st.shared.v4.f32 [{first}+{step}], {{{nothing}, {nothing}, {nothing}, {nothing}}}");
            }
            first
        });
        columns_out.push(Columns { sum, accs, shared });
    }
    columns_out
}

/// Four numbers from shared memory.
fn load_four(first: Op, step: u32) -> [Op; 4] {
    let four = [(); 4].map(|()| reg(Kind::F));
    let [a, b, c, d] = four;
    ins!("ld.shared.v4.f32 {{{a}, {b}, {c}, {d}}}, [{first}+{step}]");
    four
}

/// The launch that joins the chunks' partial results.
fn follow_up(program: &Program, frame: &Frame, stage: &Rows) -> Followup {
    let mut strides = [0; MAX_RANK];
    strides[0] = frame.columns as isize;
    strides[1] = 1;
    let mut join =
        Program { space: vec![stage.blocks, frame.columns], batch: 0, outer: 1, ..Program::default() };
    let (mut from, mut outputs) = (vec![], vec![]);
    for sum in &stage.sums {
        let dtype = match sum.reduction.register() {
            Kind::F => DType::F32,
            Kind::G => DType::F64,
            Kind::D if sum.reduction.dtype == DType::U64 => DType::U64,
            Kind::D => DType::I64,
            Kind::R | Kind::P | Kind::H => DType::I32,
        };
        let input = join.inputs.len() as u16;
        join.inputs.push(Operand { source: Source::Buffer, dtype, strides });
        from.push(sum.at as u32);
        let operand = join.values.len() as Val;
        join.values.push(Value { inst: Inst::Input(input), dtype });
        let inst = Inst::Reduce(sum.reduction.kind, Over::Outer, operand);
        join.values.push(Value { inst, dtype: program.values[sum.value].dtype });
        for o in (0..program.outputs.len()).filter(|&o| program.outputs[o].0 as usize == sum.value) {
            join.outputs.push((operand + 1, Class::Column));
            outputs.push(o as u16);
        }
    }
    Followup { program: join, from, outputs }
}

impl RowEmitter<'_> {
    /// The rows that the threads have, one after the other.
    fn chunk(&mut self, cta: Op) -> Result<()> {
        let &Rows { threads, slots, per_slot, .. } = self.stage;
        let shift = threads.trailing_zeros() as i64;
        let slot = if slots > 1 { op2(Kind::R, "shr.u32", self.tid, imm(shift)) } else { imm(0) };
        let n_rows = self.body.params.long(self.body.frame.rows as i64);
        if self.stage.cluster > 1 {
            let row = op2(Kind::R, "shr.u32", cta, imm(self.stage.cluster.trailing_zeros().into()));
            return self.row(wide(row), n_rows, false);
        }
        if per_slot == 1 && self.columns_out.is_empty() {
            let index = match u32::try_from(self.body.frame.rows) {
                Ok(_) => wide(op3(Kind::R, "mad.lo.u32", cta, imm(slots as i64), slot)),
                Err(_) => op3(Kind::D, "mad.wide.u32", cta, imm(slots as i64), wide(slot)),
            };
            return self.row(index, n_rows, slots > 1);
        }
        let each = self.body.params.word(per_slot as u32);
        // Rows that a block works on at a time lie beside each other.
        let rows = self.body.params.word((slots * per_slot) as u32);
        let first = op3(Kind::D, "mad.wide.u32", cta, rows, wide(slot));
        let index = ptx::copy(first);
        let left = ptx::copy(each);
        let (again, done) = (label(), label());
        place(again);
        let p = op2(Kind::P, "setp.eq.s32", left, imm(0));
        ins!("@{p} bra L{done}");
        self.is_later = Some(op2(Kind::P, "setp.ne.s32", left, each));
        let next = op2(Kind::D, "add.s64", index, imm64(slots as i64));
        if self.stage.resident {
            let more = op2(Kind::P, "setp.ne.s32", left, imm(1));
            let inside = op2(Kind::P, "setp.lt.u64", next, n_rows);
            self.next = Some((next, op2(Kind::P, "and.pred", more, inside)));
        }
        self.row(index, n_rows, true)?;
        assign(index, next);
        let fewer = op2(Kind::R, "sub.s32", left, imm(1));
        assign(left, fewer);
        if threads > 32 {
            ins!("bar.sync 0");
        }
        ins!("bra L{again}");
        place(done);
        self.join_slots(slot);
        self.store_columns(cta, slot)
    }

    /// One row, by the threads that have it.
    fn row(&mut self, index: Op, count: Op, may_miss: bool) -> Result<()> {
        let p = may_miss.then(|| op2(Kind::P, "setp.lt.u64", index, count));
        let position = if self.body.wide { index } else { ptx::op1(Kind::R, "cvt.u32.u64", index) };
        let row = self.body.at_row(position, p);
        let rows = [row];
        self.shared = 0;
        match &self.stage.walks {
            Walks::Resident(steps) => self.resident(&rows, steps)?,
            Walks::Long(walks) => self.long(&rows, walks)?,
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
        let &Rows { vector, runs, .. } = self.stage;
        let threads = self.stage.row_threads();
        let columns = self.body.frame.columns;
        let exact = self.stage.resident && threads * vector * runs == columns;
        let limit = (!exact).then(|| self.body.params.long(columns as i64));
        (0..runs)
            .map(|u| {
                let lane = op3(
                    Kind::R,
                    "mad.lo.u32",
                    self.lane,
                    imm(vector as i64),
                    imm((u * threads * vector) as i64),
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
        let threads = self.stage.threads;
        if threads <= 32 {
            return all.iter().map(|(r, acc)| r.across_warp(*acc, threads)).collect();
        }
        let shared = self.shared;
        self.shared += SHARED * all.len() as u32;
        let joined = across_block(all, threads, shared, self.tid);
        if self.stage.cluster == 1 || all.is_empty() {
            return joined;
        }
        let of_blocks = self.shared;
        self.shared += 16 * all.len() as u32;
        let pairs: Vec<(Reduction, Acc)> = all.iter().map(|a| a.0).zip(joined).collect();
        across_cluster(&pairs, self.stage.cluster, of_blocks, self.tid)
    }

    /// Rows that stay in registers: step by step, reductions of one step together.
    fn resident(&mut self, rows: &[RowAt], steps: &[Step]) -> Result<()> {
        let program = self.body.program;
        let runs = self.runs(None, rows);
        for (i, step) in steps.iter().enumerate() {
            self.body.load_full(&step.loads, rows, &runs)?;
            if let (0, Some((next, p))) = (i, self.next) {
                // While this row waits for its reductions, the next one comes closer.
                let position = if self.body.wide { next } else { ptx::op1(Kind::R, "cvt.u32.u64", next) };
                let row = self.body.at_row(position, Some(p));
                self.body.prefetch(&row, &runs);
            }
            for &v in &step.values {
                match (program.values[v].inst, self.body.frame.classes[v]) {
                    (Inst::Reduce(_, Over::Outer, a), _) => self.add_columns(v, a, &runs)?,
                    (Inst::Reduce(..), _) => {}
                    (_, Class::Row) => self.body.row_value(v, rows)?,
                    (Inst::Input(_), _) => {}
                    (_, Class::Full) => self.body.full_value(v, &runs)?,
                    // Known before the rows, or when they are done.
                    (_, Class::Uniform | Class::Column | Class::Total) => {}
                }
            }
            // What is written is no longer held.
            self.store(rows, &runs, |v| step.values.contains(&usize::from(v)))?;
            let mut reduced = vec![];
            for &v in &step.reduces {
                let (reduction, a) = self.body.reduction(v, false).ok_or_else(|| internal("no reduction"))?;
                reduced.push((v, (reduction, self.body.partial(reduction, a, &runs)?)));
            }
            let joined = self.join(&reduced.iter().map(|r| r.1).collect::<Vec<_>>());
            for ((v, (reduction, _)), acc) in reduced.into_iter().zip(joined) {
                self.body.row[v] = vec![reduction.finish(acc, program.values[v].dtype)?];
            }
        }
        Ok(())
    }

    /// Writes the outputs over elements whose values `when` picks.
    fn store(&mut self, rows: &[RowAt], runs: &[Run], when: impl Fn(Val) -> bool) -> Result<()> {
        for o in 0..self.body.program.outputs.len() {
            let (v, class) = self.body.program.outputs[o];
            if class == Class::Full && self.body.class(v) <= Class::Full && when(v) {
                let base = self.body.output_row(o, rows[0].index);
                self.body.store_full(o, runs, &[base])?;
            }
        }
        Ok(())
    }

    /// Rows that do not fit, walk by walk.
    fn long(&mut self, rows: &[RowAt], walks: &[Walk]) -> Result<()> {
        for walk in walks {
            for &v in &walk.row_values {
                self.body.row_value(v, rows)?;
            }
            if !walk.is_idle {
                self.walk(rows, walk)?;
            }
        }
        if self.stage.cluster > 1 {
            // No block goes while others read its shared memory.
            meet_cluster();
        }
        Ok(())
    }

    fn walk(&mut self, rows: &[RowAt], walk: &Walk) -> Result<()> {
        let program = self.body.program;
        let of_row = |v: usize| matches!(program.values[v].inst, Inst::Reduce(_, Over::Inner, _));
        let accs: Vec<Option<(Reduction, Acc)>> = walk
            .targets
            .iter()
            .map(|&(v, _)| self.body.reduction(v, true).filter(|_| of_row(v)).map(|(r, _)| (r, r.start())))
            .collect();
        let step = self.stage.row_threads() * self.stage.vector * self.stage.runs;
        let at = ptx::copy(imm64(0));
        let end = self.body.params.long(self.body.frame.columns as i64);
        let (again, done) = (label(), label());
        place(again);
        let p = op2(Kind::P, "setp.ge.s64", at, end);
        ins!("@{p} bra L{done}");
        let runs = self.runs(Some(at), rows);
        self.body.full.iter_mut().for_each(Vec::clear);
        self.body.load_full(&walk.needed, rows, &runs)?;
        for (v, value) in program.values.iter().enumerate() {
            if let (Inst::Input(i), true) = (value.inst, walk.needed[v]) {
                // From now on it is read from where it was kept.
                if let Some((_, is_there)) = &mut self.body.kept[usize::from(i)] {
                    *is_there = true;
                }
            }
        }
        for (v, &is_needed) in walk.needed.iter().enumerate() {
            let is_op = !matches!(program.values[v].inst, Inst::Input(_) | Inst::Reduce(..));
            if is_needed && is_op && self.body.frame.classes[v] == Class::Full {
                self.body.full_value(v, &runs)?;
            }
        }
        for (&(v, a), acc) in walk.targets.iter().zip(&accs) {
            match acc {
                Some((reduction, acc)) => {
                    // Neighbours in their own precision: what goes on in f64 is converted by an eighth of the rate of additions.
                    let narrow = Reduction { wide: false, ..*reduction };
                    let sum = self.body.partial(narrow, a, &runs)?;
                    reduction.add_to(acc, sum);
                }
                None => self.add_columns(v, a, &runs)?,
            }
        }
        if walk.is_last {
            self.store(rows, &runs, |_| true)?;
        }
        let next = op2(Kind::D, "add.s64", at, imm64(step as i64));
        assign(at, next);
        ins!("bra L{again}");
        place(done);
        let joined = self.join(&accs.iter().filter_map(|a| *a).collect::<Vec<_>>());
        let known = walk.targets.iter().zip(accs).filter_map(|(t, acc)| acc.map(|(r, _)| (t.0, r)));
        for ((v, reduction), acc) in known.zip(joined) {
            self.body.row[v] = vec![reduction.finish(acc, program.values[v].dtype)?];
        }
        Ok(())
    }

    /// Adds a row's elements to the columns: in registers, or in memory where the row does not fit.
    fn add_columns(&mut self, v: usize, a: Val, runs: &[Run]) -> Result<()> {
        let Some(c) = self.columns_out.iter().position(|c| c.sum.value == v) else {
            return Err(internal("a reduction over rows that was not planned"));
        };
        let reduction = self.columns_out[c].sum.reduction;
        let partials = self.body.partials(reduction, a, runs, 1)?.remove(0);
        if let Some(first) = self.columns_out[c].shared {
            for (u, more) in partials.chunks(4).enumerate() {
                let step = u as u32 * self.stage.threads * 16;
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
        if self.stage.resident {
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
        let size = size_of_register(columns.sum.reduction.register());
        let base = self.body.params.field(Field::Scratch(columns.sum.at as u32));
        let row = self.body.params.long((self.body.frame.columns * size) as i64);
        op3(Kind::D, "mad.lo.s64", wide(chunk), row, base)
    }

    /// Joins what the rows that a block works on at a time have of each column, by a tree over shared memory; the first row's threads
    /// get the result.
    fn join_slots(&mut self, slot: Op) {
        let &Rows { slots, threads, block, .. } = self.stage;
        if slots == 1 || !self.stage.resident {
            return;
        }
        let elements = self.stage.vector * self.stage.runs;
        let mine = op3(Kind::R, "mad.lo.u32", self.tid, imm(8), shared_address(0));
        let at = |e: usize| e * 8 * block as usize;
        self.slots_shared = at(elements) as u32;
        for c in &self.columns_out {
            let reduction = c.sum.reduction;
            let half = ptx::copy(imm(slots as i64 / 2));
            let again = label();
            place(again);
            ins!(".pragma \"nounroll\"");
            // Who has a partner below stores, who has one above adds.
            let twice = op2(Kind::R, "add.u32", half, half);
            let gives = op2(Kind::P, "setp.ge.u32", slot, half);
            let still = op2(Kind::P, "setp.lt.u32", slot, twice);
            let gives = op2(Kind::P, "and.pred", gives, still);
            ins!("bar.sync 0");
            for (e, acc) in c.accs.iter().enumerate() {
                ins!("@{gives} st.shared.{} [{mine}+{}], {}", bits_of(acc.value.0), at(e), acc.value);
            }
            ins!("bar.sync 0");
            let takes = op2(Kind::P, "setp.lt.u32", slot, half);
            let theirs = op3(Kind::R, "mad.lo.u32", half, imm(8 * i64::from(threads)), mine);
            for (e, acc) in c.accs.iter().enumerate() {
                let other = reg(acc.value.0);
                assign(other, reduction.neutral());
                ins!("@{takes} ld.shared.{} {other}, [{theirs}+{}]", bits_of(other.0), at(e));
                reduction.add_to(acc, Acc { value: other, index: None });
            }
            let less = op2(Kind::R, "shr.u32", half, imm(1));
            assign(half, less);
            let more = op2(Kind::P, "setp.ne.s32", half, imm(0));
            ins!("@{more} bra L{again}");
        }
        if !self.totals.is_empty() {
            ins!("bar.sync 0");
        }
    }

    /// Writes the partial results that were kept in registers.
    fn store_columns(&mut self, chunk: Op, slot: Op) -> Result<()> {
        if !self.stage.resident {
            return Ok(());
        }
        let writes = (self.stage.slots > 1).then(|| op2(Kind::P, "setp.eq.s32", slot, imm(0)));
        let always = RowAt { index: imm(0), p: writes, bases: vec![] };
        for c in 0..self.columns_out.len() {
            let base = self.partial_row(c, chunk);
            let runs = self.runs(None, std::slice::from_ref(&always));
            let columns = &self.columns_out[c];
            let kind = columns.sum.reduction.register();
            let size = size_of_register(kind) as i64;
            for (u, run) in runs.iter().enumerate() {
                let at = op3(Kind::D, "mad.lo.s64", wide(run.column), imm64(size), base);
                let values: Vec<Op> = match columns.shared {
                    Some(first) => load_four(first, u as u32 * self.stage.threads * 16).to_vec(),
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
