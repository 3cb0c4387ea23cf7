//! Kernels over columns: a block takes a stripe of columns and a chunk of rows; the last block of a stripe joins the
//! chunks.

use super::body::{Body, Check, RowAt, Run, wide};
use super::emit::{Emitted, finish};
use super::params::Field;
use super::ptx::{
    self, Kind, Op, assign, bits_of, imm, imm64, ins, label, op1, op2, op3, place, reg, special,
};
use super::reduce::{Acc, Reduction, shared_address};
use super::stage::Columns;
use super::totals::{Wrote, leave_unless_last};
use super::values::store;
use crate::frame::{Frame, internal};
use crate::program::{Class, Inst, Program, Val};
use mg_device::Result;

/// Chunks whose results a thread reads at a time, at most, and the numbers that it reads of them, at most.
const JOINED: (usize, usize) = (8, 96);
/// Shared memory that a block may have without asking for it, less what tickets take.
const SHARED: usize = (48 << 10) - 16;

struct Column<'a> {
    body: Body<'a>,
    stage: &'a Columns,
    tid: Op,
    ty: Op,
    /// The block's place.
    at: Place,
    /// The thread's run among those of a row, its first column, and whether there is one.
    group: Op,
    column: Op,
    p: Option<Op>,
    /// Added to a row's position within its batch.
    first_row: Op,
    reduced: Vec<(usize, Val, Reduction, Vec<Acc>)>,
}

/// Which of them a block has.
#[derive(Clone, Copy)]
struct Place {
    stripe: Op,
    chunk: Op,
    batch: Op,
}

impl Place {
    fn new(body: &mut Body, stage: &Columns) -> Place {
        if stage.three {
            let [stripe, chunk, batch] = ["%ctaid.x", "%ctaid.y", "%ctaid.z"].map(special);
            return Place { stripe, chunk, batch };
        }
        let cta = special("%ctaid.x");
        let split = |body: &mut Body, a: Op, n: usize| {
            let n = body.params.word(n as u32);
            let q = op2(Kind::R, "div.u32", a, n);
            let back = op2(Kind::R, "mul.lo.u32", q, n);
            (q, op2(Kind::R, "sub.u32", a, back))
        };
        let (rest, stripe) = split(body, cta, stage.stripes);
        let (batch, chunk) = split(body, rest, stage.chunks);
        Place { stripe, chunk, batch }
    }
}

/// Where the chunks' partial results lie in the scratch memory: the first values of all runs side by side, then the second ones, so that
/// neighbours read what lies together.
struct Partials {
    base: Op,
    /// Bytes of the values that all runs have in one place.
    row_bytes: Op,
    /// The thread's run.
    group: Op,
    /// Values of a run.
    words: usize,
    /// Bytes of a value.
    slot: usize,
    /// Bytes from one value of a thread to its next.
    step: usize,
    /// Where the values of each reduction begin; behind them, where these are.
    firsts: Vec<usize>,
}

impl Partials {
    fn new(of: &Column, base: Op, row_bytes: Op) -> Partials {
        let reduced = &of.stage.reduced;
        Partials {
            base,
            row_bytes,
            group: of.group,
            words: Columns::words(reduced),
            slot: of.stage.slot,
            step: of.stage.groups * of.stage.slot,
            firsts: (0..reduced.len()).map(|r| Columns::words(&reduced[..r])).collect(),
        }
    }

    /// The thread's values at a place among those of a chunk.
    fn address(&self, chunk: Op, word: usize) -> Op {
        let row = op2(Kind::R, "mul.lo.u32", chunk, imm(self.words as i64));
        let row = op2(Kind::R, "add.u32", row, imm(word as i64));
        let at = op3(Kind::D, "mad.lo.s64", wide(row), self.row_bytes, self.base);
        op3(Kind::D, "mad.lo.s64", wide(self.group), imm64(self.slot as i64), at)
    }

    /// What a chunk has left for accumulators; the neutral element where there is no such chunk.
    fn load(&self, chunk: Op, word: usize, reduction: Reduction, accs: &[Acc], inside: Op) -> Vec<Acc> {
        let at = self.address(chunk, word);
        let indices = reduction.kind.is_arg().then(|| self.address(chunk, word + 1));
        let one = |(i, acc): (usize, &Acc)| {
            let value = reg(acc.value.0);
            assign(value, reduction.neutral());
            ins!("@{inside} ld.global.cg.{} {value}, [{at}+{}]", bits_of(value.0), i * self.step);
            let index = indices.map(|at| {
                let index = ptx::copy(imm64(-1));
                ins!("@{inside} ld.global.cg.b64 {index}, [{at}+{}]", i * self.step);
                index
            });
            Acc { value, index }
        };
        accs.iter().enumerate().map(one).collect()
    }
}

pub(crate) fn emit(
    program: &Program,
    frame: &Frame,
    stage: &Columns,
    aligned: bool,
    scratch: u32,
) -> Result<Emitted> {
    let &Columns { vector, across, groups, .. } = stage;
    let mut body = Body::new(program, frame, vector, aligned);
    body.uniforms()?;
    let start = |&(v, a, reduction): &(usize, Val, Reduction)| {
        (v, a, reduction, (0..vector).map(|_| reduction.start()).collect::<Vec<_>>())
    };
    let reduced = stage.reduced.iter().map(start).collect();
    let tid = special("%tid.x");
    let place_of = Place::new(&mut body, stage);
    let tx = op2(Kind::R, "and.b32", tid, imm(across as i64 - 1));
    let ty = op2(Kind::R, "shr.u32", tid, imm(across.trailing_zeros() as i64));
    let group = op3(Kind::R, "mad.lo.u32", place_of.stripe, imm(across as i64), tx);
    let all_groups = body.params.word(if frame.columns == 0 { 0 } else { groups as u32 });
    let p = (!groups.is_multiple_of(across) || frame.columns == 0)
        .then(|| op2(Kind::P, "setp.lt.u32", group, all_groups));
    let column = if body.wide {
        op2(Kind::D, "mul.wide.u32", group, imm(vector as i64))
    } else {
        op2(Kind::R, "mul.lo.u32", group, imm(vector as i64))
    };
    let batch_rows = body.params.word(stage.rows as u32);
    let first_row = op2(Kind::D, "mul.wide.u32", place_of.batch, batch_rows);
    let mut this = Column { body, stage, tid, ty, at: place_of, group, column, p, first_row, reduced };
    this.walk(batch_rows)?;
    let shared = this.join()?;
    let is_first = op2(Kind::P, "setp.eq.s32", this.ty, imm(0));
    let writes = this.p.map_or(is_first, |p| op2(Kind::P, "and.pred", p, is_first));
    if stage.chunks > 1 {
        this.join_chunks(writes, shared, scratch)?;
    }
    this.results(writes)?;
    let Column { body, .. } = this;
    debug_assert!(body.checks.iter().all(|c| matches!(c, Check::Index(_) | Check::Divisor)));
    Ok(finish(body, shared + 16, stage.grid(), Columns::THREADS as u32))
}

impl Column<'_> {
    /// The rows of the chunk: several at a time, then one by one.
    fn walk(&mut self, batch_rows: Op) -> Result<()> {
        let each = self.body.params.word(self.stage.chunk_rows as u32);
        let from = op2(Kind::R, "mul.lo.u32", self.at.chunk, each);
        let end = op2(Kind::R, "add.u32", from, each);
        let end = op2(Kind::R, "min.u32", end, batch_rows);
        let at = ptx::copy(op2(Kind::R, "add.u32", from, self.ty));
        for step in [self.stage.at_a_time, 1] {
            let (again, done) = (label(), label());
            place(again);
            let last = op2(Kind::R, "add.u32", at, imm(((step - 1) * self.stage.down) as i64));
            let over = op2(Kind::P, "setp.ge.u32", last, end);
            ins!("@{over} bra L{done}");
            self.rows(at, step)?;
            let next = op2(Kind::R, "add.u32", at, imm((step * self.stage.down) as i64));
            assign(at, next);
            ins!("bra L{again}");
            place(done);
        }
        Ok(())
    }

    /// Leaves what the block has in the scratch memory, and goes on in the last block of the stripe to do so, with what all have.
    fn join_chunks(&mut self, writes: Op, shared: u32, scratch: u32) -> Result<()> {
        let Place { stripe, chunk, batch } = self.at;
        let base = self.body.params.field(Field::Scratch(scratch));
        let row_bytes = self.body.params.long((self.body.frame.columns * self.stage.slot) as i64);
        let all = self.body.params.word(self.stage.chunks as u32);
        let mine = op3(Kind::R, "mad.lo.u32", batch, all, chunk);
        let first = op2(Kind::R, "mul.lo.u32", batch, all);
        let partials = Partials::new(self, base, row_bytes);
        self.leave(&partials, mine, writes);
        let tickets = self.body.params.field(Field::Tickets);
        let per_batch = self.body.params.word(self.stage.stripes as u32);
        let which = op3(Kind::R, "mad.lo.u32", batch, per_batch, stripe);
        // The first counter is that of full reductions.
        let ticket = op3(Kind::D, "mad.wide.u32", which, imm(4), tickets);
        let ticket = op2(Kind::D, "add.s64", ticket, imm64(4));
        let last = op2(Kind::R, "sub.u32", all, imm(1));
        let is_first = op2(Kind::P, "setp.eq.s32", self.tid, imm(0));
        leave_unless_last(ticket, last, is_first, shared, Wrote::Those(writes));
        self.take(&partials, [first, all]);
        self.join().map(|_| ())
    }

    /// Writes the partial results of the block's chunk.
    fn leave(&self, to: &Partials, chunk: Op, writes: Op) {
        for ((_, _, _, accs), &first) in self.reduced.iter().zip(&to.firsts) {
            let at = to.address(chunk, first);
            for (i, acc) in accs.iter().enumerate() {
                ins!("@{writes} st.global.{} [{at}+{}], {}", bits_of(acc.value.0), i * to.step, acc.value);
            }
            if accs.iter().any(|acc| acc.index.is_some()) {
                let at = to.address(chunk, first + 1);
                for (i, index) in accs.iter().enumerate().filter_map(|(i, acc)| Some((i, acc.index?))) {
                    ins!("@{writes} st.global.b64 [{at}+{}], {index}", i * to.step);
                }
            }
        }
    }

    /// Joins what all chunks of the batch, from the `first` on, have left.
    fn take(&self, from: &Partials, [first, all]: [Op; 2]) {
        for (_, _, reduction, accs) in &self.reduced {
            for acc in accs {
                assign(acc.value, reduction.neutral());
                if let Some(index) = acc.index {
                    assign(index, imm64(-1));
                }
            }
        }
        // Several loads are under way at a time, of all reductions.
        let numbers = from.words * self.body.vector;
        let joined = (JOINED.1 / numbers.max(1)).clamp(1, JOINED.0);
        let c = ptx::copy(self.ty);
        let (again, done) = (label(), label());
        place(again);
        let over = op2(Kind::P, "setp.ge.u32", c, all);
        ins!("@{over} bra L{done}");
        let mut loaded = vec![vec![]; self.reduced.len()];
        for k in 0..joined {
            let c = op2(Kind::R, "add.u32", c, imm((k * self.stage.down) as i64));
            let inside = op2(Kind::P, "setp.lt.u32", c, all);
            let inside = self.p.map_or(inside, |p| op2(Kind::P, "and.pred", p, inside));
            let chunk = op2(Kind::R, "add.u32", first, c);
            for ((loaded, &word), (_, _, reduction, accs)) in
                loaded.iter_mut().zip(&from.firsts).zip(&self.reduced)
            {
                loaded.extend(from.load(chunk, word, *reduction, accs, inside));
            }
        }
        for ((_, _, reduction, accs), loaded) in self.reduced.iter().zip(loaded) {
            for (acc, more) in accs.iter().cycle().zip(loaded) {
                reduction.add_to(acc, more);
            }
        }
        let next = op2(Kind::R, "add.u32", c, imm((joined * self.stage.down) as i64));
        assign(c, next);
        ins!("bra L{again}");
        place(done);
    }

    /// Writes what columns have that leaves the program.
    fn results(&mut self, writes: Op) -> Result<()> {
        let columns_all = self.body.params.long(self.body.frame.columns as i64);
        let place_of = op3(Kind::D, "mad.lo.s64", wide(self.at.batch), columns_all, wide(self.column));
        for o in 0..self.body.program.outputs.len() {
            let (v, class) = self.body.program.outputs[o];
            let Some((_, _, reduction, accs)) = self.reduced.iter().find(|r| r.0 == v as usize) else {
                if class == Class::Full {
                    continue;
                }
                return Err(internal("an output that is neither over columns nor over elements"));
            };
            let dtype = self.body.dtype(v);
            let base = self.body.output(o);
            let size = dtype.size() as i64;
            let at = op3(Kind::D, "mad.lo.s64", place_of, imm64(size), base);
            for (i, acc) in accs.iter().enumerate() {
                let value = reduction.finish(*acc, dtype)?;
                store(dtype, at, i as i64 * size, value, Some(writes));
            }
        }
        Ok(())
    }

    /// `step` rows of the batch: `at`, and those that lie `down` apart.
    fn rows(&mut self, at: Op, step: usize) -> Result<()> {
        let mut rows: Vec<RowAt> = vec![];
        let mut runs: Vec<Run> = vec![];
        let mut places: Vec<Op> = vec![];
        for k in 0..step {
            let within =
                if k == 0 { at } else { op2(Kind::R, "add.u32", at, imm((k * self.stage.down) as i64)) };
            places.push(within);
            let index = op2(Kind::D, "add.s64", wide(within), self.first_row);
            let position = if self.body.wide { index } else { op1(Kind::R, "cvt.u32.u64", index) };
            let mut row = self.body.at_row(position, None);
            row.index = index;
            rows.push(row);
            if k == 0 {
                runs.push(self.body.run(self.column, self.p, 0));
            } else {
                let coords = runs[0].coords.clone();
                runs.push(Run { column: self.column, coords, p: self.p, row: k });
            }
        }
        let body = &mut self.body;
        let n = body.program.values.len();
        body.load_full(&vec![true; n], &rows, &runs)?;
        for v in 0..n {
            match (body.program.values[v].inst, body.frame.classes[v]) {
                (Inst::Reduce(..), _) => {}
                (_, Class::Row) => body.row_value(v, &rows)?,
                (Inst::Input(_), _) => {}
                (_, Class::Full) => body.full_value(v, &runs)?,
                // Known before the rows, or when they are done.
                (_, Class::Uniform | Class::Column | Class::Total) => {}
            }
        }
        for (_, a, reduction, accs) in &self.reduced {
            let narrow = Reduction { wide: false, ..*reduction };
            let mut partials = body.partials(narrow, *a, &runs, step)?;
            if narrow.kind.is_arg() {
                // Where in the column, not where in the row.
                for (row, &within) in partials.iter_mut().zip(&places) {
                    let index = wide(within);
                    for acc in row {
                        let value = Acc { index: Some(index), ..*acc };
                        *acc = narrow.masked(value, self.p);
                    }
                }
            }
            for (i, acc) in accs.iter().enumerate() {
                let column: Vec<Acc> = partials.iter().map(|row| row[i]).collect();
                if let Some(sum) = narrow.tree(column) {
                    reduction.add_to(acc, sum);
                }
            }
        }
        for o in 0..body.program.outputs.len() {
            let (v, class) = body.program.outputs[o];
            if class == Class::Full && body.class(v) <= Class::Full {
                let mut bases = vec![];
                for row in &rows {
                    bases.push(body.output_row(o, row.index));
                }
                body.store_full(o, &runs, &bases)?;
            }
        }
        Ok(())
    }

    /// Joins what the block's threads have of each column, by a tree over shared memory; threads of the first row get the
    /// result. Answers with the bytes of shared memory used.
    fn join(&mut self) -> Result<u32> {
        if self.stage.down == 1 {
            return Ok(0);
        }
        // As many reductions at a time as there is room for.
        let bytes = |reduced: &[(usize, Val, Reduction, Vec<Acc>)]| {
            let words = reduced.iter().map(|r| r.2.words()).sum::<usize>();
            Columns::THREADS * self.body.vector * words * self.stage.slot
        };
        let (mut most, mut at) = (0, 0);
        while at < self.reduced.len() {
            let fits = |&end: &usize| bytes(&self.reduced[at..end]) <= SHARED;
            let end = (at + 1..=self.reduced.len()).rev().find(fits).unwrap_or(at + 1);
            most = most.max(bytes(&self.reduced[at..end]));
            self.join_some(&self.reduced[at..end]);
            at = end;
        }
        Ok(most as u32)
    }

    /// Joins those.
    fn join_some(&self, reduced: &[(usize, Val, Reduction, Vec<Acc>)]) {
        let slot = self.stage.slot;
        // The threads' first values side by side, then their second ones: neighbours meet no bank twice. Behind all values, where these are.
        let mine = op3(Kind::R, "mad.lo.u32", self.tid, imm(slot as i64), shared_address(0));
        let mut values = vec![];
        let mut at = 0;
        for (_, _, reduction, accs) in reduced {
            for acc in accs {
                values.push((*reduction, *acc, at));
                at += Columns::THREADS * slot * reduction.words();
            }
        }
        let behind = Columns::THREADS * slot;
        let half = ptx::copy(imm(self.stage.down as i64 / 2));
        let again = label();
        place(again);
        ins!(".pragma \"nounroll\"");
        // Who has a partner below stores, who has one above adds.
        let twice = op2(Kind::R, "add.u32", half, half);
        let gives = op2(Kind::P, "setp.ge.u32", self.ty, half);
        let still = op2(Kind::P, "setp.lt.u32", self.ty, twice);
        let gives = op2(Kind::P, "and.pred", gives, still);
        for (_, acc, at) in &values {
            ins!("@{gives} st.shared.{} [{mine}+{at}], {}", bits_of(acc.value.0), acc.value);
            if let Some(index) = acc.index {
                ins!("@{gives} st.shared.b64 [{mine}+{}], {index}", at + behind);
            }
        }
        ins!("bar.sync 0");
        let takes = op2(Kind::P, "setp.lt.u32", self.ty, half);
        let theirs = op3(Kind::R, "mad.lo.u32", half, imm((self.stage.across * slot) as i64), mine);
        let mut others = vec![];
        for (reduction, acc, at) in &values {
            let other = reg(acc.value.0);
            assign(other, reduction.neutral());
            ins!("@{takes} ld.shared.{} {other}, [{theirs}+{at}]", bits_of(other.0));
            let index = acc.index.map(|_| {
                let index = ptx::copy(imm64(-1));
                ins!("@{takes} ld.shared.b64 {index}, [{theirs}+{}]", at + behind);
                index
            });
            others.push(Acc { value: other, index });
        }
        for ((reduction, acc, _), other) in values.iter().zip(others) {
            reduction.add_to(acc, other);
        }
        ins!("bar.sync 0");
        let less = op2(Kind::R, "shr.u32", half, imm(1));
        assign(half, less);
        let more = op2(Kind::P, "setp.ne.s32", half, imm(0));
        ins!("@{more} bra L{again}");
    }
}
