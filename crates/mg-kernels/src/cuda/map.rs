//! Elementwise kernels, with full reductions on the way: a block a tile; each thread takes runs of neighbouring elements.

use super::body::{Body, RowAt, Run, wide};
use super::emit::{Emitted, finish};
use super::lanes::{Pred, select};
use super::ptx::{self, Kind, Op, assign, copy, imm, imm64, ins, label, op1, op2, op3, place, special};
use super::reduce::{Acc, Reduction};
use super::stage::{Elements, Plane};
use super::totals::{Block, Total, finish_totals, start_totals};
use crate::frame::{Frame, internal};
use crate::program::{Class, Inst, Program, ReduceKind, Source};
use mg_device::Result;

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
    // By halves: a block of the last of a hundred entries would read that many words one after the other.
    let first = ptx::copy(imm(0));
    let (low, high) = (ptx::copy(imm(0)), ptx::copy(count));
    let (again, upper, done) = (label(), label(), label());
    place(again);
    let between = op2(Kind::R, "sub.u32", high, low);
    let found = op2(Kind::P, "setp.le.u32", between, imm(1));
    ins!("@{found} bra L{done}");
    let both = op2(Kind::R, "add.u32", low, high);
    let middle = op2(Kind::R, "shr.u32", both, imm(1));
    let place_of = op3(Kind::D, "mad.wide.u32", middle, imm(4), at);
    let begins = word(place_of, LIST_HEADER as i64);
    let is_later = op2(Kind::P, "setp.ge.u32", cta, begins);
    ins!("@{is_later} bra L{upper}");
    assign(high, middle);
    ins!("bra L{again}");
    place(upper);
    assign(low, middle);
    assign(first, begins);
    ins!("bra L{again}");
    place(done);
    let base = op2(Kind::D, "add.s64", at, wide(start));
    (op3(Kind::D, "mad.wide.u32", low, distance, base), first)
}

/// Bytes before the entries' first blocks.
pub(crate) const LIST_HEADER: usize = 12;
/// Bytes of parameters that a launch of a list has.
pub(crate) const LIST_BYTES: usize = 4080;

struct Map<'a> {
    body: Body<'a>,
    stage: &'a Elements,
    totals: Vec<Total>,
    /// Of each total, what is known of it where its place is found afterwards.
    best: Vec<Option<Best>>,
    tid: Op,
}

/// The best that a thread has seen of what an index reduction looks for, and the tile where it saw it first (−1: none).
#[derive(Clone, Copy)]
struct Best {
    /// What reduces to the value alone.
    extreme: Reduction,
    value: Op,
    tile: Op,
}

/// What is done with elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    /// All that there is to do; of some index reductions the best alone, which is in this tile.
    All(Option<Op>),
    /// The place of one total's best is found.
    Place(usize),
}

/// Writes the kernel. With `list`, blocks are divided among entries, each with parameters of its own: in front of them stand
/// where the entries start, the distance from one to the next, their number, and each one's first block.
pub(crate) fn emit(
    program: &Program,
    frame: &Frame,
    stage: &Elements,
    aligned: bool,
    list: bool,
) -> Result<Emitted> {
    let &Elements { tile, tiles, per_block, blocks, threads, .. } = stage;
    let mut body = Body::new(program, frame, stage.vector, aligned);
    let tid = special("%tid.x");
    let mut cta = special("%ctaid.x");
    if list {
        let (base, first) = entry(cta);
        body.params.base = Some(base);
        cta = op2(Kind::R, "sub.u32", cta, first);
    }
    body.uniforms()?;
    let totals = start_totals(&body);
    let count = body.params.long(frame.columns as i64);
    // Of many elements few are the best so far, but in a warp there is nearly always one. So a thread keeps in mind in which tile it saw the
    // best, and looks at that once more in the end. What is stored may have taken the elements' memory.
    let found_later = per_block > 1 && stage.stores.is_empty();
    let best = |t: &Total| Some(Best::start(t.reduction.extreme().filter(|_| found_later)?));
    let best = totals.iter().map(best).collect();
    let mut map = Map { body, stage, totals, best, tid };
    if let Some(plane) = stage.plane {
        map.plane(plane, cta)?;
    } else if per_block == 1 {
        let from = op2(Kind::D, "mul.wide.u32", cta, imm(tile as i64));
        map.tile(from, count, Pass::All(None))?;
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
        map.tile(from, count, Pass::All(Some(at)))?;
        let next = op2(Kind::R, "add.u32", at, imm(1));
        assign(at, next);
        ins!("bra L{again}");
        place(done);
        for (t, best) in map.best.clone().into_iter().enumerate() {
            let Some(Best { tile: at, .. }) = best else { continue };
            let none = label();
            let p = op2(Kind::P, "setp.lt.s32", at, imm(0));
            ins!("@{p} bra L{none}");
            let from = op2(Kind::D, "mul.wide.u32", at, imm(tile as i64));
            map.tile(from, count, Pass::Place(t))?;
            place(none);
        }
    }
    let Map { mut body, totals, .. } = map;
    finish_totals(&mut body, totals, blocks, &Block { threads, shared: 0, tid, cta })?;
    let mut emitted = finish(body, stage.shared, [blocks, 1, 1], threads);
    if list {
        let own = emitted.params.bytes.len().max(8);
        emitted.text = emitted.text.replace(&format!("p[{own}])"), &format!("p[{LIST_BYTES}])"));
    }
    Ok(emitted)
}

impl Best {
    fn start(extreme: Reduction) -> Best {
        Best { extreme, value: copy(extreme.neutral()), tile: copy(imm(-1)) }
    }

    /// The best of some elements of a tile. A NaN is better than all numbers, and the first one stays.
    fn meet(&self, more: Acc, tile: Op) {
        let test = if self.extreme.kind == ReduceKind::Max { "gtu" } else { "ltu" };
        let number = op2(Kind::P, "setp.num.f32", self.value, self.value);
        let better = op3(Kind::P, &format!("setp.{test}.and.f32"), more.value, self.value, number);
        assign(self.value, select(Pred(better), more.value, self.value));
        assign(self.tile, select(Pred(better), tile, self.tile));
    }
}

impl Map<'_> {
    /// For each operand over elements the address of that at `from`, where the tile's are side by side; else of the first one.
    fn bases(&mut self, from: Op) -> Vec<Option<Op>> {
        let body = &mut self.body;
        let mut bases = vec![];
        for i in 0..body.frame.inputs.len() {
            let walked = &body.frame.inputs[i];
            if walked.class != Class::Full {
                bases.push(None);
                continue;
            }
            if !self.stage.linear {
                bases.push(Some(body.origin(i)));
                continue;
            }
            let unit = if walked.source == Source::Buffer { walked.dtype.size() as i64 } else { 1 };
            let stride = walked.column.first().copied().unwrap_or(0) as i64;
            let origin = body.origin(i);
            let step = if stride == 1 { imm64(unit) } else { body.params.long(stride * unit) };
            bases.push(Some(op3(Kind::D, "mad.lo.s64", from, step, origin)));
        }
        bases
    }

    /// As [`Map::bases`], of the outputs over elements.
    fn outputs(&mut self, from: Op) -> Vec<Op> {
        let (body, stage) = (&mut self.body, self.stage);
        let mut outputs = vec![];
        for &o in &stage.stores {
            let base = body.output(o);
            outputs.push(match stage.linear {
                true => {
                    let size = body.dtype(body.program.outputs[o].0).size() as i64;
                    op3(Kind::D, "mad.lo.s64", from, imm64(size), base)
                }
                false => base,
            });
        }
        outputs
    }

    /// The elements from `from` on, up to a tile or the end.
    fn tile(&mut self, from: Op, count: Op, pass: Pass) -> Result<()> {
        let &Elements { vector, runs, threads, tile: size, .. } = self.stage;
        let (bases, outputs) = (self.bases(from), self.outputs(from));
        let row = RowAt { index: imm(0), p: None, bases };
        let left = op2(Kind::D, "sub.s64", count, from);
        let first = op2(Kind::R, "mul.lo.u32", self.tid, imm(vector as i64));
        let offset = |u: usize| {
            let offset = imm((u * threads as usize * vector) as i64);
            if u == 0 { first } else { op2(Kind::R, "add.u32", first, offset) }
        };
        let at: Vec<Op> = (0..runs).map(offset).collect();
        if self.body.frame.columns.is_multiple_of(vector) {
            // A run is there as a whole, or not at all.
            let inside = |&at: &Op| (at, Some(op2(Kind::P, "setp.lt.s64", wide(at), left)));
            let at: Vec<_> = at.iter().map(inside).collect();
            return self.elements(&row, &outputs, from, &at, pass);
        }
        let (tail, done) = (label(), label());
        let short = op2(Kind::P, "setp.lt.s64", left, imm64(size as i64));
        ins!("@{short} bra L{tail}");
        // A whole tile.
        let at: Vec<_> = at.into_iter().map(|at| (at, None)).collect();
        self.elements(&row, &outputs, from, &at, pass)?;
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
        self.elements(&row, &outputs, from, &[(i, None)], pass)?;
        self.body.vector = vector;
        let next = op2(Kind::R, "add.u32", i, imm(threads as i64));
        assign(i, next);
        ins!("bra L{again}");
        place(done);
        Ok(())
    }

    /// A tile of two dimensions: a thread has neighbouring runs of it, all of them or none.
    fn plane(&mut self, plane: Plane, cta: Op) -> Result<()> {
        let vector = self.stage.vector;
        let dims = &self.body.frame.column_dims;
        let (axis, last) = (plane.axis, dims.len() - 1);
        let mut coords = self.body.coords(cta, &plane.tiles(dims, vector));
        // Lanes and warps stand side by side along the last dimension, and below each other along the other one.
        let (lane, warp) =
            (op2(Kind::R, "and.b32", self.tid, imm(31)), op2(Kind::R, "shr.u32", self.tid, imm(5)));
        let split = |at: Op, by: usize| {
            let right = op2(Kind::R, "and.b32", at, imm(by as i64 - 1));
            (op2(Kind::R, "shr.u32", at, imm(by.ilog2().into())), right)
        };
        let ((lane_down, lane_right), (warp_down, warp_right)) =
            (split(lane, plane.lanes), split(warp, plane.warps));
        let down = op3(Kind::R, "mad.lo.u32", warp_down, imm(32 / plane.lanes as i64), lane_down);
        let right = op3(Kind::R, "mad.lo.u32", warp_right, imm(plane.lanes as i64), lane_right);
        let mut inside = None;
        for (d, threads, at) in
            [(axis, self.stage.threads as usize / plane.across(), down), (last, plane.across(), right)]
        {
            let unit = op3(Kind::R, "mad.lo.u32", coords[d], imm(threads as i64), at);
            coords[d] = op2(Kind::R, "mul.lo.u32", unit, imm(vector as i64));
            let size = self.body.params.word(dims[d] as u32);
            let p = op2(Kind::P, "setp.lt.u32", coords[d], size);
            inside = Some(inside.map_or(p, |q| op2(Kind::P, "and.pred", p, q)));
        }
        // The position of the first element, and of runs below it.
        let mut position = imm(0);
        for (d, &n) in dims.iter().enumerate() {
            let size = self.body.params.word(n as u32);
            position = if d == 0 { coords[0] } else { op3(Kind::R, "mad.lo.u32", position, size, coords[d]) };
        }
        let below = dims[axis + 1..].iter().product::<usize>();
        let below = self.body.params.word(below as u32);
        let runs: Vec<Run> = (0..vector as i64)
            .map(|r| {
                let column = op3(Kind::R, "mad.lo.u32", below, imm(r), position);
                let mut coords = coords.clone();
                coords[axis] = op2(Kind::R, "add.u32", coords[axis], imm(r));
                Run { column, coords, p: inside, row: 0 }
            })
            .collect();
        let (bases, outputs) = (self.bases(imm(0)), self.outputs(imm(0)));
        let row = RowAt { index: imm(0), p: None, bases };
        self.body.turned = Some(axis);
        self.computed(&row, &runs)?;
        self.stored(&runs, &outputs)
    }

    /// The runs at these positions of the tile, where there are such.
    fn elements(
        &mut self,
        row: &RowAt,
        outputs: &[Op],
        from: Op,
        at: &[(Op, Option<Op>)],
        pass: Pass,
    ) -> Result<()> {
        let body = &mut self.body;
        let runs: Vec<Run> = at
            .iter()
            .map(|&(offset, p)| {
                if self.stage.linear {
                    return Run { column: offset, coords: vec![offset], p, row: 0 };
                }
                let position = op2(Kind::D, "add.s64", from, wide(offset));
                let position = if body.wide { position } else { op1(Kind::R, "cvt.u32.u64", position) };
                body.run(position, p, 0)
            })
            .collect();
        self.computed(row, &runs)?;
        let body = &mut self.body;
        for (i, (t, best)) in self.totals.iter().zip(&self.best).enumerate() {
            let (_, a) =
                body.reduction(t.value, true).ok_or_else(|| internal("a total that is no reduction"))?;
            match (pass, best) {
                (Pass::All(Some(tile)), Some(best)) => {
                    let values = body.partials(best.extreme, a, &runs, 1)?.remove(0);
                    if let Some(value) = best.extreme.tree(values) {
                        best.meet(value, tile);
                    }
                    continue;
                }
                (Pass::Place(one), _) if one != i => continue,
                (Pass::All(_) | Pass::Place(_), _) => {}
            }
            let mut partials = body.partials(t.reduction, a, &runs, 1)?.remove(0);
            if self.stage.linear && t.reduction.kind.is_arg() {
                for acc in &mut partials {
                    acc.index = acc.index.map(|i| op2(Kind::D, "add.s64", i, from));
                }
            }
            if let Some(sum) = t.reduction.tree(partials) {
                t.reduction.add_to(&t.acc, sum);
            }
        }
        // There is nothing to store where places are found later.
        self.stored(&runs, outputs)
    }

    /// Computes the values over elements.
    fn computed(&mut self, row: &RowAt, runs: &[Run]) -> Result<()> {
        let body = &mut self.body;
        let n = body.program.values.len();
        // All loads come before the first use, and before any store: operands may give their memory to outputs.
        body.load_full(&vec![true; n], std::slice::from_ref(row), runs)?;
        for v in 0..n {
            let is_op = !matches!(body.program.values[v].inst, Inst::Input(_) | Inst::Reduce(..));
            if is_op && body.frame.classes[v] == Class::Full {
                body.full_value(v, runs)?;
            }
        }
        Ok(())
    }

    /// Writes the outputs over elements.
    fn stored(&mut self, runs: &[Run], outputs: &[Op]) -> Result<()> {
        for (&o, &base) in self.stage.stores.iter().zip(outputs) {
            self.body.store_full(o, runs, &[base])?;
        }
        Ok(())
    }
}
