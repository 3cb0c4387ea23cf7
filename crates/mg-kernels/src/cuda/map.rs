//! Elementwise kernels, with full reductions on the way: a block a tile; each thread takes runs of neighbouring elements.

use super::body::{Body, RowAt, Run, wide};
use super::emit::{
    Emitted, SHARED, Total, finish, finish_totals, most_blocks, reach, start_totals, weight, widest,
};
use super::frame::{Frame, internal};
use super::ptx::{self, Kind, Op, assign, imm, imm64, ins, label, op1, op2, op3, place, special};
use crate::program::{Class, Inst, Over, Program, Source};
use mg_device::Result;

const THREADS: u32 = 256;
/// Threads of a block where there is much to reduce.
const LARGE: u32 = 512;
/// Tiles from which a block that writes takes one.
const WRITTEN: usize = 6144;
/// Elements from which a thread takes two runs.
const MANY: usize = 1 << 22;

/// The parameters of the entry that a block is of, and the entry's first block.
fn entry(cta: Op) -> (Op, Op) {
    let at = ptx::reg(Kind::D);
    ins!("mov.b64 {at}, p");
    let word = |from: Op, offset: i64| {
        let d = ptx::reg(Kind::R);
        ins!("ld.param.b32 {d}, [{from}+{offset}]");
        d
    };
    let (start, distance, count) = (word(at, 0), word(at, 4), word(at, 8));
    let base = ptx::copy(op2(Kind::D, "add.s64", at, wide(start)));
    let distance = wide(distance);
    let first = ptx::copy(imm(0));
    let i = ptx::copy(imm(1));
    let (again, done) = (label(), label());
    place(again);
    let over = op2(Kind::P, "setp.ge.u32", i, count);
    ins!("@{over} bra L{done}");
    let place_of = op3(Kind::D, "mad.wide.u32", i, imm(4), at);
    let next = word(place_of, LIST_HEADER as i64);
    let before = op2(Kind::P, "setp.lt.u32", cta, next);
    ins!("@{before} bra L{done}");
    assign(first, next);
    let further = op2(Kind::D, "add.s64", base, distance);
    assign(base, further);
    let more = op2(Kind::R, "add.u32", i, imm(1));
    assign(i, more);
    ins!("bra L{again}");
    place(done);
    (base, first)
}

/// Bytes before the entries' first blocks.
pub(crate) const LIST_HEADER: usize = 12;
/// Bytes of parameters that a launch of a list has.
pub(crate) const LIST_BYTES: usize = 4080;

struct Map<'a> {
    body: Body<'a>,
    totals: Vec<Total>,
    tid: Op,
    threads: u32,
    /// Addresses of outputs over elements move with the tile.
    linear: bool,
    stores: Vec<usize>,
}

/// Writes the kernel. With `list`, blocks are divided among entries, each with parameters of its own: in front of them stand
/// where the entries start, the distance from one to the next, their number, and each one's first block.
pub(crate) fn emit(program: &Program, frame: &Frame, aligned: bool, list: bool) -> Result<Emitted> {
    let n = frame.columns;
    let linear = frame.column_dims.len() <= 1;
    let mut vector = (16 / widest(program, frame)).clamp(1, 8);
    if !linear {
        let last = frame.column_dims.last().copied().unwrap_or(1);
        while last % vector != 0 {
            vector /= 2;
        }
    }
    let heavy = weight(program, frame) * vector;
    let runs = match (vector, heavy) {
        (_, 400..) => 1,
        (1, _) => 4,
        // Measured on an H200: a copy runs at 4.3 TB/s with one run a thread, 4.1 with two or four; a sum at 4.47 with two.
        _ if list || (n >= MANY && program.reduces(Over::All)) => 2,
        _ => 1,
    };
    let threads = if n >= MANY && program.reduces(Over::All) { LARGE } else { THREADS };
    ptx::begin();
    let mut body = Body::new(program, frame, vector, aligned);
    let tid = special("%tid.x");
    let mut cta = special("%ctaid.x");
    if list {
        let (base, first) = entry(cta);
        body.params.base = Some(base);
        cta = op2(Kind::R, "sub.u32", cta, first);
    }
    body.uniforms()?;
    let totals = start_totals(&body);
    let stores: Vec<usize> = (0..program.outputs.len())
        .filter(|&o| {
            let (v, class) = program.outputs[o];
            frame.classes[v as usize] <= Class::Full && class != Class::Total
        })
        .collect();
    let tile = threads as usize * vector * runs;
    let tiles = n.div_ceil(tile);
    let per_block = match (totals.is_empty(), stores.is_empty()) {
        (true, _) => 1,
        // One after the other until there is so much to write that blocks of one tile are faster: for the chain of the guide
        // and its gradients 70.9 µs instead of 73.6 at 2²⁴, but 543 instead of 526 at 2²⁷.
        (_, no_stores) if no_stores || tiles < WRITTEN => tiles.div_ceil(reach(threads)).max(1),
        _ => tiles.div_ceil(most_blocks(threads, totals.len())).max(1),
    };
    let blocks = tiles.div_ceil(per_block).max(1) as u32;
    let count = body.params.long(n as i64);
    let mut map = Map { body, totals, tid, threads, linear, stores };
    if per_block == 1 {
        let from = op2(Kind::D, "mul.wide.u32", cta, imm(tile as i64));
        map.tile(from, count, runs)?;
    } else {
        let each = map.body.params.word(per_block as u32);
        let all = map.body.params.word(tiles as u32);
        let at = ptx::copy(op2(Kind::R, "mul.lo.u32", cta, each));
        let end = op2(Kind::R, "add.u32", at, each);
        let end = op2(Kind::R, "min.u32", end, all);
        let (again, done) = (label(), label());
        place(again);
        let p = op2(Kind::P, "setp.ge.u32", at, end);
        ins!("@{p} bra L{done}");
        let from = op2(Kind::D, "mul.wide.u32", at, imm(tile as i64));
        map.tile(from, count, runs)?;
        let next = op2(Kind::R, "add.u32", at, imm(1));
        assign(at, next);
        ins!("bra L{again}");
        place(done);
    }
    let Map { mut body, totals, .. } = map;
    let shared = (totals.len() as u32) * SHARED + if totals.is_empty() { 0 } else { 16 };
    finish_totals(&mut body, totals, blocks, threads, 0, tid, cta)?;
    let mut emitted = finish(body, shared, [blocks, 1, 1], threads);
    if list {
        let own = emitted.params.bytes.len().max(8);
        emitted.text = emitted.text.replace(&format!("p[{own}])"), &format!("p[{LIST_BYTES}])"));
    }
    Ok(emitted)
}

impl Map<'_> {
    /// The elements from `from` on, up to a tile or the end.
    fn tile(&mut self, from: Op, count: Op, runs: usize) -> Result<()> {
        let vector = self.body.vector;
        let size = self.threads as usize * vector * runs;
        let (bases, outputs) = if self.linear {
            let mut bases = vec![];
            for i in 0..self.body.frame.inputs.len() {
                let walked = &self.body.frame.inputs[i];
                if walked.class != Class::Full {
                    bases.push(None);
                    continue;
                }
                let unit = if walked.source == Source::Buffer { walked.dtype.size() as i64 } else { 1 };
                let stride = walked.column.first().copied().unwrap_or(0) as i64;
                let origin = self.body.origin(i);
                let step = if stride == 1 { imm64(unit) } else { self.body.params.long(stride * unit) };
                bases.push(Some(op3(Kind::D, "mad.lo.s64", from, step, origin)));
            }
            let mut outputs = vec![];
            for &o in &self.stores.clone() {
                let (v, _) = self.body.program.outputs[o];
                let size = self.body.dtype(v).size() as i64;
                let base = self.body.output(o);
                outputs.push(op3(Kind::D, "mad.lo.s64", from, imm64(size), base));
            }
            (bases, outputs)
        } else {
            let mut bases = vec![];
            for i in 0..self.body.frame.inputs.len() {
                bases.push((self.body.frame.inputs[i].class == Class::Full).then(|| self.body.origin(i)));
            }
            let outputs = self.stores.clone().into_iter().map(|o| self.body.output(o)).collect();
            (bases, outputs)
        };
        let row = RowAt { index: imm(0), p: None, bases };
        let left = op2(Kind::D, "sub.s64", count, from);
        let (tail, done) = (label(), label());
        let short = op2(Kind::P, "setp.lt.s64", left, imm64(size as i64));
        ins!("@{short} bra L{tail}");
        // A whole tile.
        let first = op2(Kind::R, "mul.lo.u32", self.tid, imm(vector as i64));
        let mut at = vec![];
        for u in 0..runs {
            let offset = u * self.threads as usize * vector;
            at.push(if u == 0 { first } else { op2(Kind::R, "add.u32", first, imm(offset as i64)) });
        }
        self.elements(&row, &outputs, from, &at)?;
        ins!("bra L{done}");
        // The last elements, one by one.
        place(tail);
        let short = op1(Kind::R, "cvt.u32.u64", left);
        let i = ptx::copy(self.tid);
        let again = label();
        place(again);
        let p = op2(Kind::P, "setp.ge.s32", i, short);
        ins!("@{p} bra L{done}");
        self.body.vector = 1;
        self.elements(&row, &outputs, from, &[i])?;
        self.body.vector = vector;
        let next = op2(Kind::R, "add.u32", i, imm(self.threads as i64));
        assign(i, next);
        ins!("bra L{again}");
        place(done);
        Ok(())
    }

    /// The runs at these positions of the tile.
    fn elements(&mut self, row: &RowAt, outputs: &[Op], from: Op, at: &[Op]) -> Result<()> {
        let body = &mut self.body;
        let rows = std::slice::from_ref(row);
        let runs: Vec<Run> = at
            .iter()
            .map(|&offset| {
                if self.linear {
                    return Run { column: offset, coords: vec![offset], p: None, row: 0 };
                }
                let position = op2(Kind::D, "add.s64", from, wide(offset));
                let position = if body.wide { position } else { op1(Kind::R, "cvt.u32.u64", position) };
                body.run(position, None, 0)
            })
            .collect();
        let n = body.program.values.len();
        let needed = vec![true; n];
        // All loads come before the first use, and before any store: operands may give their memory to outputs.
        body.load_full(&needed, rows, &runs)?;
        for v in 0..n {
            let is_op = !matches!(body.program.values[v].inst, Inst::Input(_) | Inst::Reduce(..));
            if is_op && body.frame.classes[v] == Class::Full {
                body.full_value(v, &runs)?;
            }
        }
        for t in &self.totals {
            let (_, a) =
                body.reduction(t.value, true).ok_or_else(|| internal("a total that is no reduction"))?;
            let mut partials = body.partials(t.reduction, a, &runs, 1)?.remove(0);
            if self.linear && t.reduction.kind.is_arg() {
                for acc in &mut partials {
                    acc.index = acc.index.map(|i| op2(Kind::D, "add.s64", i, from));
                }
            }
            if let Some(sum) = t.reduction.tree(partials) {
                t.reduction.add_to(&t.acc, sum);
            }
        }
        for (&o, &base) in self.stores.iter().zip(outputs) {
            body.store_full(o, rows, &runs, &[base])?;
        }
        Ok(())
    }
}
