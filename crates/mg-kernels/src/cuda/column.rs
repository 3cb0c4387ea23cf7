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

struct Column<'a> {
    body: Body<'a>,
    stage: &'a Columns,
    tid: Op,
    /// The thread's row among those of the block.
    ty: Op,
    /// Its run within the stripe.
    tx: Op,
    /// The block's place.
    at: Place,
    /// The thread's run among those of a row, its first column, and whether there is one.
    group: Op,
    column: Op,
    p: Option<Op>,
    /// Added to a row's position within its batch.
    first_row: Op,
    reduced: Vec<(usize, Val, Reduction, Vec<Acc>)>,
    /// Once threads of the block have joined what they have: which column of its run is the thread's, and which part of the chunks.
    own: Op,
    part: Op,
    /// By value, its elements at the thread's run, where they are the same in all rows and kept in registers.
    held: Vec<Option<Vec<Op>>>,
    /// Values that are computed for each row.
    needed: Vec<bool>,
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

/// A column of a reduction, which a thread has of all rows that its block read.
struct Joined {
    value: usize,
    reduction: Reduction,
    acc: Acc,
}

/// Where the chunks' partial results lie in the scratch memory: the first values of all runs side by side, then the second ones, so that
/// neighbours read what lies together.
struct Partials {
    /// The thread's first value of the first chunk.
    base: Op,
    /// Bytes of the values that all columns have in one place.
    row_bytes: Op,
    /// Values of a column.
    words: usize,
    /// Where the values of each reduction begin.
    firsts: Vec<usize>,
}

impl Partials {
    /// Where a chunk's begin.
    fn chunk(&self, chunk: Op) -> Op {
        let row = op2(Kind::R, "mul.lo.u32", chunk, imm(self.words as i64));
        op3(Kind::D, "mad.lo.s64", wide(row), self.row_bytes, self.base)
    }

    /// The value at a place among those of a chunk.
    fn word(&self, chunk: Op, word: usize) -> Op {
        if word == 0 {
            return chunk;
        }
        op3(Kind::D, "mad.lo.s64", self.row_bytes, imm64(word as i64), chunk)
    }

    /// What a chunk has left of a reduction; the neutral element where there is no such chunk.
    fn load(&self, chunk: Op, first: usize, reduction: Reduction, like: Acc, inside: Op) -> Acc {
        let value = reg(like.value.0);
        assign(value, reduction.neutral());
        ins!("@{inside} ld.global.cg.{} {value}, [{}]", bits_of(value.0), self.word(chunk, first));
        let index = like.index.map(|_| {
            let index = ptx::copy(imm64(-1));
            ins!("@{inside} ld.global.cg.b64 {index}, [{}]", self.word(chunk, first + 1));
            index
        });
        Acc { value, index }
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
    let needed = stage.needed.clone();
    let held = vec![None; program.values.len()];
    let own = op2(Kind::R, "and.b32", ty, imm(vector as i64 - 1));
    let part = op2(Kind::R, "shr.u32", ty, imm(vector.trailing_zeros() as i64));
    let at = place_of;
    let mut this = Column {
        body,
        stage,
        tid,
        ty,
        tx,
        at,
        group,
        column,
        p,
        first_row,
        reduced,
        own,
        part,
        held,
        needed,
    };
    this.hold()?;
    this.walk(batch_rows)?;
    let shared = stage.shared();
    let mut joined = this.join();
    let is_first = op2(Kind::P, "setp.eq.s32", this.part, imm(0));
    let writes = this.p.map_or(is_first, |p| op2(Kind::P, "and.pred", p, is_first));
    if stage.chunks > 1 {
        this.join_chunks(&mut joined, [is_first, writes], shared, scratch);
    }
    this.results(&joined, writes)?;
    let Column { body, .. } = this;
    debug_assert!(body.checks.iter().all(|c| matches!(c, Check::Index(_) | Check::Divisor)));
    Ok(finish(body, shared + 16, stage.grid(), stage.threads as u32))
}

impl Column<'_> {
    /// Computes what is the same in all rows, once.
    fn hold(&mut self) -> Result<()> {
        if !self.stage.held.contains(&true) {
            return Ok(());
        }
        let first = if self.body.wide { imm64(0) } else { imm(0) };
        let row = self.body.at_row(first, None);
        let runs = [self.body.run(self.column, self.p, 0)];
        let before = &self.stage.before;
        self.body.load_full(before, &[row], &runs)?;
        for (v, &is_before) in before.iter().enumerate() {
            if is_before && !matches!(self.body.program.values[v].inst, Inst::Input(_)) {
                self.body.full_value(v, &runs)?;
            }
        }
        for (v, held) in self.held.iter_mut().enumerate() {
            *held = self.stage.held[v].then(|| self.body.full[v].clone());
        }
        Ok(())
    }

    /// The rows of the chunk, several at a time. What is left at its end is as many again, of which some are not there: one by one, each of them
    /// would wait for memory.
    fn walk(&mut self, batch_rows: Op) -> Result<()> {
        let each = self.body.params.word(self.stage.chunk_rows as u32);
        let from = op2(Kind::R, "mul.lo.u32", self.at.chunk, each);
        let end = op2(Kind::R, "add.u32", from, each);
        let end = op2(Kind::R, "min.u32", end, batch_rows);
        let at = ptx::copy(op2(Kind::R, "add.u32", from, self.ty));
        let (step, down) = (self.stage.at_a_time, self.stage.down);
        let (again, rest, done) = (label(), label(), label());
        place(again);
        let last = op2(Kind::R, "add.u32", at, imm(((step - 1) * down) as i64));
        let over = op2(Kind::P, "setp.ge.u32", last, end);
        ins!("@{over} bra L{rest}");
        self.rows(at, None)?;
        let next = op2(Kind::R, "add.u32", at, imm((step * down) as i64));
        assign(at, next);
        ins!("bra L{again}");
        place(rest);
        let none = op2(Kind::P, "setp.ge.u32", at, end);
        ins!("@{none} bra L{done}");
        self.rows(at, Some(end))?;
        place(done);
        Ok(())
    }

    /// Leaves what the block has in the scratch memory, and goes on in the last block of the stripe to do so, with what all have.
    fn join_chunks(&mut self, joined: &mut [Joined], [is_first, writes]: [Op; 2], shared: u32, scratch: u32) {
        let Place { stripe, chunk, batch } = self.at;
        let (slot, reduced) = (self.stage.slot, &self.stage.reduced);
        let base = self.body.params.field(Field::Scratch(scratch));
        let row_bytes = self.body.params.long((self.body.frame.columns * slot) as i64);
        let groups = self.body.params.word(self.stage.groups as u32);
        let all = self.body.params.word(self.stage.chunks as u32);
        let column = op3(Kind::R, "mad.lo.u32", self.own, groups, self.group);
        let partials = Partials {
            base: op3(Kind::D, "mad.wide.u32", column, imm(slot as i64), base),
            row_bytes,
            words: Columns::words(reduced),
            firsts: (0..reduced.len()).map(|r| Columns::words(&reduced[..r])).collect(),
        };
        let mine = partials.chunk(op3(Kind::R, "mad.lo.u32", batch, all, chunk));
        for (Joined { acc, .. }, &first) in joined.iter().zip(&partials.firsts) {
            let at = partials.word(mine, first);
            ins!("@{writes} st.global.{} [{at}], {}", bits_of(acc.value.0), acc.value);
            if let Some(index) = acc.index {
                ins!("@{writes} st.global.b64 [{}], {index}", partials.word(mine, first + 1));
            }
        }
        let tickets = self.body.params.field(Field::Tickets);
        let per_batch = self.body.params.word(self.stage.stripes as u32);
        let which = op3(Kind::R, "mad.lo.u32", batch, per_batch, stripe);
        // The first counter is that of full reductions.
        let ticket = op3(Kind::D, "mad.wide.u32", which, imm(4), tickets);
        let ticket = op2(Kind::D, "add.s64", ticket, imm64(4));
        let last = op2(Kind::R, "sub.u32", all, imm(1));
        let draws = op2(Kind::P, "setp.eq.s32", self.tid, imm(0));
        leave_unless_last(ticket, last, draws, shared, Wrote::Many);
        let first = op2(Kind::R, "mul.lo.u32", batch, all);
        self.take(&partials, [first, all], joined);
        self.join_parts(joined, is_first);
    }

    /// Joins what all chunks of the batch, from the `first` on, have left: of the thread's column, those of its part.
    fn take(&self, from: &Partials, [first, all]: [Op; 2], joined: &mut [Joined]) {
        for Joined { reduction, acc, .. } in joined.iter_mut() {
            *acc = reduction.start();
        }
        let parts = (self.stage.down / self.body.vector) as i64;
        let at_once = self.stage.joined as i64;
        let c = ptx::copy(self.part);
        let (again, done) = (label(), label());
        place(again);
        let over = op2(Kind::P, "setp.ge.u32", c, all);
        ins!("@{over} bra L{done}");
        // Several loads are under way at a time, of all reductions.
        let mut loaded: Vec<Vec<Acc>> = joined.iter().map(|_| vec![]).collect();
        for k in 0..at_once {
            let c = op2(Kind::R, "add.u32", c, imm(k * parts));
            let inside = op2(Kind::P, "setp.lt.u32", c, all);
            let inside = self.p.map_or(inside, |p| op2(Kind::P, "and.pred", p, inside));
            let chunk = from.chunk(op2(Kind::R, "add.u32", first, c));
            for ((loaded, &word), Joined { reduction, acc, .. }) in
                loaded.iter_mut().zip(&from.firsts).zip(joined.iter())
            {
                loaded.push(from.load(chunk, word, *reduction, *acc, inside));
            }
        }
        for (Joined { reduction, acc, .. }, loaded) in joined.iter().zip(loaded) {
            for more in loaded {
                reduction.add_to(acc, more);
            }
        }
        let next = op2(Kind::R, "add.u32", c, imm(at_once * parts));
        assign(c, next);
        ins!("bra L{again}");
        place(done);
    }

    /// Writes what columns have that leaves the program.
    fn results(&mut self, joined: &[Joined], writes: Op) -> Result<()> {
        let columns_all = self.body.params.long(self.body.frame.columns as i64);
        let column = op2(Kind::D, "add.s64", wide(self.column), wide(self.own));
        let place_of = op3(Kind::D, "mad.lo.s64", wide(self.at.batch), columns_all, column);
        for o in 0..self.body.program.outputs.len() {
            let (v, class) = self.body.program.outputs[o];
            let Some(Joined { reduction, acc, .. }) = joined.iter().find(|j| j.value == v as usize) else {
                if class == Class::Full {
                    continue;
                }
                return Err(internal("an output that is neither over columns nor over elements"));
            };
            let dtype = self.body.dtype(v);
            let base = self.body.output(o);
            let at = op3(Kind::D, "mad.lo.s64", place_of, imm64(dtype.size() as i64), base);
            store(dtype, at, 0, reduction.finish(*acc, dtype)?, Some(writes));
        }
        Ok(())
    }

    /// Rows of the batch, as many as are read at a time: `at`, and those that lie `down` apart; where there is an `end`, those before it.
    fn rows(&mut self, at: Op, end: Option<Op>) -> Result<()> {
        let step = self.stage.at_a_time;
        let mut rows: Vec<RowAt> = vec![];
        let mut runs: Vec<Run> = vec![];
        let mut places: Vec<Op> = vec![];
        for k in 0..step {
            let within =
                if k == 0 { at } else { op2(Kind::R, "add.u32", at, imm((k * self.stage.down) as i64)) };
            places.push(within);
            let index = op2(Kind::D, "add.s64", wide(within), self.first_row);
            let position = if self.body.wide { index } else { op1(Kind::R, "cvt.u32.u64", index) };
            // The first one is there.
            let inside = end.filter(|_| k > 0).map(|end| op2(Kind::P, "setp.lt.u32", within, end));
            let p = match (self.p, inside) {
                (Some(p), Some(inside)) => Some(op2(Kind::P, "and.pred", p, inside)),
                (p, inside) => p.or(inside),
            };
            let mut row = self.body.at_row(position, inside);
            row.index = index;
            rows.push(row);
            if k == 0 {
                runs.push(self.body.run(self.column, p, 0));
            } else {
                let coords = runs[0].coords.clone();
                runs.push(Run { column: self.column, coords, p, row: k });
            }
        }
        let body = &mut self.body;
        let n = body.program.values.len();
        body.load_full(&self.needed, &rows, &runs)?;
        for v in 0..n {
            if let Some(held) = &self.held[v] {
                body.full[v] = held.iter().copied().cycle().take(step * held.len()).collect();
                continue;
            }
            match (body.program.values[v].inst, body.frame.classes[v]) {
                (Inst::Reduce(..), _) => {}
                (_, Class::Row) => body.row_value(v, &rows)?,
                (Inst::Input(_), _) => {}
                (_, Class::Full) if self.needed[v] => body.full_value(v, &runs)?,
                // Known before the rows, or when they are done.
                (_, Class::Full | Class::Uniform | Class::Column | Class::Total) => {}
            }
        }
        for (_, a, reduction, accs) in &self.reduced {
            let narrow = Reduction { wide: false, ..*reduction };
            let mut partials = body.partials(narrow, *a, &runs, step)?;
            if narrow.kind.is_arg() {
                // Where in the column, not where in the row.
                for ((row, &within), run) in partials.iter_mut().zip(&places).zip(&runs) {
                    let index = wide(within);
                    for acc in row {
                        let value = Acc { index: Some(index), ..*acc };
                        *acc = narrow.masked(value, run.p);
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

    /// Joins what the block's threads have of each column: those of a warp without memory, warps over shared memory. Of a run's columns each
    /// thread gets one, its own.
    fn join(&self) -> Vec<Joined> {
        let (across, slot, vector) = (self.stage.across, self.stage.slot, self.body.vector);
        for (_, _, reduction, accs) in &self.reduced {
            for acc in accs {
                let mut offset = 16;
                while offset >= across as u32 {
                    reduction.add_to(acc, reduction.of_lane(*acc, offset));
                    offset /= 2;
                }
            }
        }
        let warps = self.stage.threads / 32;
        let lane = op2(Kind::R, "and.b32", self.tid, imm(31));
        let warp = op2(Kind::R, "shr.u32", self.tid, imm(5));
        let gives = op2(Kind::P, "setp.lt.u32", lane, imm(across as i64));
        // The warps' first values side by side, then their second ones; behind all values, where these are.
        let (of_warp, of_value) = ((across * slot) as i64, (warps * across * slot) as i64);
        let behind = vector as i64 * of_value;
        let start = op3(Kind::R, "mad.lo.u32", self.tx, imm(slot as i64), shared_address(0));
        let mine = op3(Kind::R, "mad.lo.u32", warp, imm(of_warp), start);
        let theirs = op3(Kind::R, "mad.lo.u32", self.own, imm(of_value), start);
        let mut joined: Vec<Joined> = vec![];
        for range in self.stage.rounds() {
            if !joined.is_empty() {
                ins!("bar.sync 0");
            }
            let mut at = 0;
            for (_, _, reduction, accs) in &self.reduced[range.clone()] {
                for (i, acc) in accs.iter().enumerate() {
                    let at = at + i as i64 * of_value;
                    ins!("@{gives} st.shared.{} [{mine}+{at}], {}", bits_of(acc.value.0), acc.value);
                    if let Some(index) = acc.index {
                        ins!("@{gives} st.shared.b64 [{mine}+{}], {index}", at + behind);
                    }
                }
                at += behind * reduction.words() as i64;
            }
            ins!("bar.sync 0");
            at = 0;
            for (value, _, reduction, accs) in &self.reduced[range] {
                let all = (0..warps as i64)
                    .map(|w| read_shared(accs[0], theirs, [at + w * of_warp, at + w * of_warp + behind]));
                joined.extend(reduction.tree(all.collect()).map(|acc| Joined {
                    value: *value,
                    reduction: *reduction,
                    acc,
                }));
                at += behind * reduction.words() as i64;
            }
        }
        joined
    }

    /// Joins what threads with the same column have, of chunks; those of the first part get the result.
    fn join_parts(&self, joined: &mut [Joined], is_first: Op) {
        let parts = self.stage.down / self.body.vector;
        if parts == 1 {
            return;
        }
        let slot = self.stage.slot as i64;
        let of_value = self.stage.threads as i64 * slot;
        let of_part = (self.stage.across * self.body.vector) as i64 * slot;
        let mine = op3(Kind::R, "mad.lo.u32", self.tid, imm(slot), shared_address(0));
        for (r, range) in self.stage.rounds().into_iter().enumerate() {
            if r > 0 {
                ins!("bar.sync 0");
            }
            let joined = &mut joined[range];
            let mut at = 0;
            for Joined { reduction, acc, .. } in joined.iter() {
                ins!("st.shared.{} [{mine}+{at}], {}", bits_of(acc.value.0), acc.value);
                if let Some(index) = acc.index {
                    ins!("st.shared.b64 [{mine}+{}], {index}", at + of_value);
                }
                at += of_value * reduction.words() as i64;
            }
            ins!("bar.sync 0");
            at = 0;
            let over = label();
            ins!("@!{is_first} bra L{over}");
            for Joined { reduction, acc, .. } in joined.iter() {
                for part in 1..parts as i64 {
                    let at = at + part * of_part;
                    reduction.add_to(acc, read_shared(*acc, mine, [at, at + of_value]));
                }
                at += of_value * reduction.words() as i64;
            }
            place(over);
        }
    }
}

/// A partial result from shared memory: a value, and where it was found at another place.
fn read_shared(like: Acc, from: Op, [value_at, index_at]: [i64; 2]) -> Acc {
    let value = reg(like.value.0);
    ins!("ld.shared.{} {value}, [{from}+{value_at}]", bits_of(value.0));
    let index = like.index.map(|_| {
        let index = reg(Kind::D);
        ins!("ld.shared.b64 {index}, [{from}+{index_at}]");
        index
    });
    Acc { value, index }
}
