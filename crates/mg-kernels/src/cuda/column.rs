//! Kernels over columns: a block takes a stripe of columns and a chunk of rows; the last block of a stripe joins the
//! chunks.

use super::body::{Body, Check, RowAt, Run, wide};
use super::emit::{Emitted, SCRATCH, finish, leave_unless_last, widest};
use super::frame::{Frame, internal};
use super::params::Field;
use super::ptx::{
    self, Kind, Op, assign, bits_of, imm, imm64, ins, label, op1, op2, op3, place, reg, special,
};
use super::reduce::{Acc, Reduction, shared_address};
use super::values::store;
use crate::program::{Class, Inst, Over, Program, Val};
use mg_device::Result;

const THREADS: usize = 256;
/// Rows that a thread reads at a time.
const AT_A_TIME: usize = 4;
/// Chunks whose results a thread reads at a time.
const JOINED: usize = 4;
/// Blocks that are enough for any device.
const BLOCKS: usize = 768;
/// Stripes that have a counter each.
const TICKETS: usize = 1 << 15;

struct Columns<'a> {
    body: Body<'a>,
    across: usize,
    down: usize,
    tid: Op,
    ty: Op,
    /// The first column of the thread's run, and whether there is one.
    column: Op,
    p: Option<Op>,
    /// Added to a row's position within its batch.
    first_row: Op,
    reduced: Vec<(usize, Val, Reduction, Vec<Acc>)>,
}

pub(crate) fn emit(program: &Program, frame: &Frame, aligned: bool, scratch: u32) -> Result<Emitted> {
    let columns = frame.columns;
    let mut vector = (16 / widest(program, frame)).clamp(1, 8);
    // A run does not cross from one merged dimension's end into the next row of it.
    while !frame.column_dims.last().unwrap_or(&1).is_multiple_of(vector) {
        vector /= 2;
    }
    let groups = columns.max(1) / vector;
    let across = groups.next_power_of_two().min(32);
    let down = THREADS / across;
    let stripes = groups.div_ceil(across);
    let batches = frame.batches;
    let rows = frame.rows / batches.max(1);
    ptx::begin();
    let mut body = Body::new(program, frame, vector, aligned);
    body.uniforms()?;
    let mut reduced = vec![];
    for v in 0..program.values.len() {
        if let Inst::Reduce(_, Over::Outer, a) = program.values[v].inst {
            let (reduction, _) = body.reduction(v, true).ok_or_else(|| internal("no reduction"))?;
            if reduction.kind.is_arg() {
                return Err(internal("an index reduction over outer dimensions"));
            }
            reduced.push((v, a, reduction, (0..vector).map(|_| reduction.start()).collect::<Vec<_>>()));
        }
    }
    let per_chunk = (batches * reduced.len() * columns * 8).max(1);
    let mut chunks = (BLOCKS / (stripes * batches).max(1)).clamp(1, rows.div_ceil(down * AT_A_TIME).max(1));
    chunks = chunks.min((SCRATCH / per_chunk).max(1));
    if stripes * batches > TICKETS {
        chunks = 1;
    }
    let chunk_rows = rows.div_ceil(chunks).max(1);
    let chunks = rows.div_ceil(chunk_rows).max(1);
    let blocks = stripes * batches * chunks;
    if blocks >= 1 << 31 || rows >= 1 << 31 {
        return Err(internal("too many columns for one launch"));
    }
    let tid = special("%tid.x");
    // A dimension of the grid each, where they fit: divisions are long.
    let (grid, [stripe, chunk, batch]) = if chunks.max(batches) < 1 << 16 {
        let grid = [stripes as u32, chunks as u32, batches as u32];
        (grid, [special("%ctaid.x"), special("%ctaid.y"), special("%ctaid.z")])
    } else {
        let cta = special("%ctaid.x");
        let split = |body: &mut Body, a: Op, n: usize| {
            let n = body.params.word(n as u32);
            let q = op2(Kind::R, "div.u32", a, n);
            let back = op2(Kind::R, "mul.lo.u32", q, n);
            (q, op2(Kind::R, "sub.u32", a, back))
        };
        let (rest, stripe) = split(&mut body, cta, stripes);
        let (batch, chunk) = split(&mut body, rest, chunks);
        ([blocks as u32, 1, 1], [stripe, chunk, batch])
    };
    let tx = op2(Kind::R, "and.b32", tid, imm(across as i64 - 1));
    let ty = op2(Kind::R, "shr.u32", tid, imm(across.trailing_zeros() as i64));
    let group = op3(Kind::R, "mad.lo.u32", stripe, imm(across as i64), tx);
    let all_groups = body.params.word(if columns == 0 { 0 } else { groups as u32 });
    let p = (!groups.is_multiple_of(across) || columns == 0)
        .then(|| op2(Kind::P, "setp.lt.u32", group, all_groups));
    let column = if body.wide {
        op2(Kind::D, "mul.wide.u32", group, imm(vector as i64))
    } else {
        op2(Kind::R, "mul.lo.u32", group, imm(vector as i64))
    };
    let batch_rows = body.params.word(rows as u32);
    let first_row = op2(Kind::D, "mul.wide.u32", batch, batch_rows);
    let each = body.params.word(chunk_rows as u32);
    let from = op2(Kind::R, "mul.lo.u32", chunk, each);
    let end = op2(Kind::R, "add.u32", from, each);
    let end = op2(Kind::R, "min.u32", end, batch_rows);
    let at = ptx::copy(op2(Kind::R, "add.u32", from, ty));
    let mut this = Columns { body, across, down, tid, ty, column, p, first_row, reduced };
    // Several rows at a time, then one by one.
    for step in [AT_A_TIME, 1] {
        let (again, done) = (label(), label());
        place(again);
        let last = op2(Kind::R, "add.u32", at, imm(((step - 1) * down) as i64));
        let over = op2(Kind::P, "setp.ge.u32", last, end);
        ins!("@{over} bra L{done}");
        this.rows(at, step)?;
        let next = op2(Kind::R, "add.u32", at, imm((step * down) as i64));
        assign(at, next);
        ins!("bra L{again}");
        place(done);
    }
    let shared = this.join()?;
    let is_first = op2(Kind::P, "setp.eq.s32", this.ty, imm(0));
    let writes = this.p.map_or(is_first, |p| op2(Kind::P, "and.pred", p, is_first));
    let n = this.reduced.len();
    if chunks > 1 {
        let base = this.body.params.field(Field::Scratch(scratch));
        let row_bytes = this.body.params.long((columns * 8) as i64);
        let all = this.body.params.word(chunks as u32);
        let block_row = op3(Kind::R, "mad.lo.u32", batch, all, chunk);
        let batch_row = op2(Kind::R, "mul.lo.u32", batch, all);
        let address = |this: &Columns, row: Op, r: usize| {
            let row = op2(Kind::R, "mul.lo.u32", row, imm(n as i64));
            let row = op2(Kind::R, "add.u32", row, imm(r as i64));
            let at = op3(Kind::D, "mad.lo.s64", wide(row), row_bytes, base);
            op3(Kind::D, "mad.lo.s64", wide(this.column), imm64(8), at)
        };
        for r in 0..n {
            let at = address(&this, block_row, r);
            for (i, acc) in this.reduced[r].3.iter().enumerate() {
                ins!("@{writes} st.global.{} [{at}+{}], {}", bits_of(acc.value.0), i * 8, acc.value);
            }
        }
        let tickets = this.body.params.field(Field::Tickets);
        let per_batch = this.body.params.word(stripes as u32);
        let which = op3(Kind::R, "mad.lo.u32", batch, per_batch, stripe);
        // The first counter is that of full reductions.
        let ticket = op3(Kind::D, "mad.wide.u32", which, imm(4), tickets);
        let ticket = op2(Kind::D, "add.s64", ticket, imm64(4));
        let last = op2(Kind::R, "sub.u32", all, imm(1));
        let first = op2(Kind::P, "setp.eq.s32", this.tid, imm(0));
        leave_unless_last(ticket, last, first, shared, None);
        for r in 0..n {
            let (_, _, reduction, accs) = &this.reduced[r];
            for acc in accs {
                assign(acc.value, reduction.neutral());
            }
            // Several loads are under way at a time.
            let c = ptx::copy(this.ty);
            let (again, done) = (label(), label());
            place(again);
            let over = op2(Kind::P, "setp.ge.u32", c, all);
            ins!("@{over} bra L{done}");
            let mut loaded = vec![];
            for k in 0..JOINED {
                let c = op2(Kind::R, "add.u32", c, imm((k * down) as i64));
                let inside = op2(Kind::P, "setp.lt.u32", c, all);
                let inside = this.p.map_or(inside, |p| op2(Kind::P, "and.pred", p, inside));
                let row = op2(Kind::R, "add.u32", batch_row, c);
                let at = address(&this, row, r);
                for (i, acc) in accs.iter().enumerate() {
                    let more = reg(acc.value.0);
                    assign(more, reduction.neutral());
                    ins!("@{inside} ld.global.cg.{} {more}, [{at}+{}]", bits_of(more.0), i * 8);
                    loaded.push((*acc, more));
                }
            }
            for (acc, more) in loaded {
                reduction.add_to(&acc, Acc { value: more, index: None });
            }
            let next = op2(Kind::R, "add.u32", c, imm((JOINED * down) as i64));
            assign(c, next);
            ins!("bra L{again}");
            place(done);
        }
        this.join()?;
    }
    let columns_all = this.body.params.long(columns as i64);
    let place_of = op3(Kind::D, "mad.lo.s64", wide(batch), columns_all, wide(this.column));
    for o in 0..program.outputs.len() {
        let (v, class) = program.outputs[o];
        let Some((_, _, reduction, accs)) = this.reduced.iter().find(|r| r.0 == v as usize) else {
            if class == Class::Full {
                continue;
            }
            return Err(internal("an output that is neither over columns nor over elements"));
        };
        let (reduction, accs) = (*reduction, accs.clone());
        let dtype = this.body.dtype(v);
        let base = this.body.output(o);
        let size = dtype.size() as i64;
        let at = op3(Kind::D, "mad.lo.s64", place_of, imm64(size), base);
        for (i, acc) in accs.iter().enumerate() {
            let value = reduction.finish(*acc, dtype)?;
            store(dtype, at, i as i64 * size, value, Some(writes));
        }
    }
    let Columns { body, .. } = this;
    debug_assert!(body.checks.iter().all(|c| matches!(c, Check::Index(_) | Check::Divisor)));
    Ok(finish(body, shared + 16, grid, THREADS as u32))
}

impl Columns<'_> {
    /// `step` rows of the batch: `at`, and those that lie `down` apart.
    fn rows(&mut self, at: Op, step: usize) -> Result<()> {
        let mut rows: Vec<RowAt> = vec![];
        let mut runs: Vec<Run> = vec![];
        for k in 0..step {
            let within = if k == 0 { at } else { op2(Kind::R, "add.u32", at, imm((k * self.down) as i64)) };
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
                _ => {}
            }
        }
        for (_, a, reduction, accs) in &self.reduced {
            let narrow = Reduction { wide: false, ..*reduction };
            let partials = body.partials(narrow, *a, &runs, step)?;
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
                body.store_full(o, &rows, &runs, &bases)?;
            }
        }
        Ok(())
    }

    /// Joins what the block's threads have of each column, by a tree over shared memory; threads of the first row get the
    /// result. Answers with the bytes of shared memory used.
    fn join(&mut self) -> Result<u32> {
        let vector = self.body.vector;
        if self.down == 1 {
            return Ok(0);
        }
        let base = shared_address(0);
        let mine = op3(Kind::R, "mad.lo.u32", self.tid, imm(vector as i64 * 8), base);
        for (_, _, reduction, accs) in &self.reduced {
            let half = ptx::copy(imm(self.down as i64 / 2));
            let again = label();
            place(again);
            ins!(".pragma \"nounroll\"");
            // Who has a partner below stores, who has one above adds.
            let twice = op2(Kind::R, "add.u32", half, half);
            let gives = op2(Kind::P, "setp.ge.u32", self.ty, half);
            let still = op2(Kind::P, "setp.lt.u32", self.ty, twice);
            let gives = op2(Kind::P, "and.pred", gives, still);
            for (i, acc) in accs.iter().enumerate() {
                ins!("@{gives} st.shared.{} [{mine}+{}], {}", bits_of(acc.value.0), i * 8, acc.value);
            }
            ins!("bar.sync 0");
            let takes = op2(Kind::P, "setp.lt.u32", self.ty, half);
            let theirs = op3(Kind::R, "mad.lo.u32", half, imm((self.across * vector * 8) as i64), mine);
            for (i, acc) in accs.iter().enumerate() {
                let other = reg(acc.value.0);
                assign(other, reduction.neutral());
                ins!("@{takes} ld.shared.{} {other}, [{theirs}+{}]", bits_of(other.0), i as i64 * 8);
                reduction.add_to(acc, Acc { value: other, index: None });
            }
            ins!("bar.sync 0");
            let less = op2(Kind::R, "shr.u32", half, imm(1));
            assign(half, less);
            let more = op2(Kind::P, "setp.ne.s32", half, imm(0));
            ins!("@{more} bra L{again}");
        }
        Ok((THREADS * vector * 8) as u32)
    }
}
