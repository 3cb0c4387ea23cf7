//! The body of a kernel: a program's values over the elements that a thread holds.

use super::capability::AMPERE;
use super::lanes::{F32, Pred, select};
use super::params::{Field, Params};
use super::ptx::{
    Kind, Op, Opnd, assign, capability, copy, imm, imm64, ins, label, op1, op2, op3, place, reg,
};
use super::random;
use super::reduce::{Acc, Reduction};
use super::stage::reduction;
use super::values::{
    apply, cast, from_cell, kind_of, load, load_and_keep, load_kept, load_vector, round, store_vector,
};
use crate::frame::{Frame, Walked, internal};
use crate::lane::Lane;
use crate::math;
use crate::program::{Class, Inst, Over, Program, ReduceKind, Source, Val};
use crate::rows::Row;
use mg_device::{DType, Result};
use smallvec::SmallVec;

/// Neighbouring elements of a row, of which a thread holds all.
pub(crate) struct Run {
    /// The first one's position within the row.
    pub(crate) column: Op,
    /// Its coordinates over the merged column dimensions.
    pub(crate) coords: Vec<Op>,
    /// Whether there are such elements; always, where there is no predicate.
    pub(crate) p: Option<Op>,
    /// The row that they are of, among those that the thread works on at a time.
    pub(crate) row: usize,
}

/// A row that a thread works on.
#[derive(Clone)]
pub(crate) struct RowAt {
    /// Its position among all rows.
    pub(crate) index: Op,
    /// Whether there is such a row.
    pub(crate) p: Option<Op>,
    /// For each operand, the address of its first element (or its offset, for ramps and random numbers).
    pub(crate) bases: Vec<Option<Op>>,
}

/// Checks that a kernel makes; each launch gives it a place to say what it found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// An index below the scalar argument.
    Index(u16),
    /// A divisor that is not zero.
    Divisor,
}

pub(crate) struct Body<'a> {
    pub(crate) program: &'a Program,
    pub(crate) frame: &'a Frame,
    pub(crate) params: Params,
    pub(crate) checks: Vec<Check>,
    /// Elements of a run.
    pub(crate) vector: usize,
    /// Whether addresses are aligned for accesses of whole runs.
    pub(crate) aligned: bool,
    /// By operand, where in shared memory its row is kept, if it is, and whether it is there already.
    pub(crate) kept: Vec<Option<(Op, bool)>>,
    /// The dimension along which runs are neighbours, as many as a run has elements, if they are.
    pub(crate) turned: Option<usize>,
    pub(crate) wide: bool,
    pub(crate) uniform: Vec<Option<Op>>,
    /// By value, for each row at a time.
    pub(crate) row: Vec<Vec<Op>>,
    /// By value, for each element of each run.
    pub(crate) full: Vec<Vec<Op>>,
    pub(crate) total: Vec<Option<Op>>,
}

impl<'a> Body<'a> {
    pub(crate) fn new(program: &'a Program, frame: &'a Frame, vector: usize, aligned: bool) -> Body<'a> {
        let n = program.values.len();
        Body {
            program,
            frame,
            params: Params::default(),
            checks: vec![],
            vector,
            aligned,
            kept: vec![None; frame.inputs.len()],
            turned: None,
            wide: frame.is_wide(),
            uniform: vec![None; n],
            row: vec![vec![]; n],
            full: vec![vec![]; n],
            total: vec![None; n],
        }
    }

    pub(crate) fn dtype(&self, v: Val) -> DType {
        self.program.values[v as usize].dtype
    }

    pub(crate) fn class(&self, v: Val) -> Class {
        self.frame.classes[v as usize]
    }

    /// How a value is reduced, if it is a reduction.
    pub(crate) fn reduction(&self, v: usize, wide: bool) -> Option<(Reduction, Val)> {
        reduction(self.program, v, wide)
    }

    /// The address (or the offset, of ramps and random numbers) of an operand's element at row 0, column 0.
    pub(crate) fn origin(&mut self, input: usize) -> Op {
        match self.frame.inputs[input].source {
            Source::Buffer => self.params.field(Field::Input(input as u16)),
            Source::Index | Source::Random(_) => self.params.field(Field::Base(input as u16)),
        }
    }

    /// `base + Σ coords·strides`: in bytes for memory, in elements for ramps and random numbers.
    fn advance(&mut self, mut base: Op, coords: &[Op], strides: &[isize], walked: &Walked) -> Op {
        let size = if walked.source == Source::Buffer { walked.dtype.size() as isize } else { 1 };
        for (&c, &stride) in coords.iter().zip(strides) {
            if stride == 0 {
                continue;
            }
            let bytes = (stride * size) as i64;
            base = if self.wide {
                let c = wide(c);
                let stride = if stride == 1 { imm64(bytes) } else { self.params.long(bytes) };
                op3(Kind::D, "mad.lo.s64", c, stride, base)
            } else {
                let stride = if stride == 1 { imm(bytes) } else { self.params.word(bytes as u32) };
                op3(Kind::D, "mad.wide.s32", c, stride, base)
            };
        }
        base
    }

    /// Coordinates of a position over merged dimensions.
    pub(crate) fn coords(&mut self, position: Op, dims: &[usize]) -> Vec<Op> {
        let mut out = vec![];
        let mut rest = position;
        for &n in dims.iter().skip(1).rev() {
            if n == 1 {
                out.push(imm(0));
                continue;
            }
            let (quotient, remainder) = if self.wide {
                let divisor = self.params.long(n as i64);
                let q = op2(Kind::D, "div.u64", rest, divisor);
                let back = op2(Kind::D, "mul.lo.s64", q, divisor);
                (q, op2(Kind::D, "sub.s64", rest, back))
            } else {
                // By multiplication (Granlund and Montgomery, "Division by invariant integers using multiplication",
                // 1994), for positions below 2³¹.
                let bits = usize::BITS - (n.max(2) - 1).leading_zeros();
                let factor = ((1u128 << (31 + bits)).div_ceil(n as u128)) as u32;
                let (factor, shift) = (self.params.word(factor), self.params.word(bits - 1));
                let divisor = self.params.word(n as u32);
                let high = op2(Kind::R, "mul.hi.u32", rest, factor);
                let q = op2(Kind::R, "shr.u32", high, shift);
                let back = op2(Kind::R, "mul.lo.s32", q, divisor);
                (q, op2(Kind::R, "sub.s32", rest, back))
            };
            out.push(remainder);
            rest = quotient;
        }
        if !dims.is_empty() {
            out.push(rest);
        }
        out.reverse();
        out
    }

    /// A row to work on; `needed` says which operands it is walked for.
    pub(crate) fn at_row(&mut self, index: Op, p: Option<Op>) -> RowAt {
        let frame = self.frame;
        let coords = self.coords(index, &frame.row_dims);
        let bases = (0..frame.inputs.len())
            .map(|i| {
                let walked = &frame.inputs[i];
                if walked.class == Class::Uniform {
                    return None;
                }
                let origin = self.origin(i);
                Some(self.advance(origin, &coords, &walked.row, walked))
            })
            .collect();
        RowAt { index, p, bases }
    }

    /// A run to work on.
    pub(crate) fn run(&mut self, column: Op, p: Option<Op>, row: usize) -> Run {
        let dims = &self.frame.column_dims;
        let coords = if dims.len() > 1 { self.coords(column, dims) } else { vec![column] };
        Run { column, coords, p, row }
    }

    /// Loads the element of an operand without strides, for ramps and random numbers too.
    fn element(&mut self, input: usize, at: Op, p: Option<Op>) -> Op {
        let (source, dtype) = (self.frame.inputs[input].source, self.frame.inputs[input].dtype);
        match source {
            Source::Buffer => load(dtype, at, 0, p),
            Source::Index => at,
            Source::Random(law) => {
                let seed = self.params.field(Field::Seed(input as u16));
                random::one(law, dtype, seed, at)
            }
        }
    }

    /// The elements of an operand at a run.
    fn elements(&mut self, input: usize, run: &Run, base: Op) -> Vec<Op> {
        let frame = self.frame;
        let walked = &frame.inputs[input];
        let n = self.vector;
        let last = walked.column.last().copied().unwrap_or(0);
        if let Some((first, is_there)) = self.kept[input] {
            let column =
                if run.column.0 == Kind::D { op1(Kind::R, "cvt.u32.u64", run.column) } else { run.column };
            let place = op3(Kind::R, "mad.lo.u32", column, imm(walked.dtype.size() as i64), first);
            if is_there {
                return load_kept(walked.dtype, place, n, run.p);
            }
            let at = self.advance(base, &run.coords, &walked.column, walked);
            return load_and_keep(walked.dtype, at, place, n, run.p);
        }
        let at = self.advance(base, &run.coords, &walked.column, walked);
        if last == 0 {
            let one = self.element(input, at, run.p);
            return vec![one; n];
        }
        if n == 1 {
            return vec![self.element(input, at, run.p)];
        }
        if walked.source == Source::Buffer && last == 1 {
            return self.neighbours(walked, walked.column.len() - 1, at, run.p);
        }
        if let (Source::Random(law), 1) = (walked.source, last) {
            let seed = self.params.field(Field::Seed(input as u16));
            return random::some(law, walked.dtype, seed, at, n);
        }
        let size = if walked.source == Source::Buffer { walked.dtype.size() as i64 } else { 1 };
        let step = if last == 1 { imm64(size) } else { self.params.long(last as i64 * size) };
        let mut at = at;
        (0..n)
            .map(|i| {
                if i > 0 {
                    at = op2(Kind::D, "add.s64", at, step);
                }
                self.element(input, at, run.p)
            })
            .collect()
    }

    /// Has the second-level cache fetch the row after the one under way, at the same runs.
    pub(crate) fn prefetch(&mut self, row: &RowAt, runs: &[Run]) {
        let frame = self.frame;
        for (input, walked) in frame.inputs.iter().enumerate() {
            let changes = walked.row.iter().any(|&s| s != 0);
            let dense = walked.column.last() == Some(&1);
            let (Some(base), Source::Buffer) = (row.bases[input], walked.source) else { continue };
            if walked.class != Class::Full || !changes || !dense {
                continue;
            }
            for run in runs {
                let at = self.advance(base, &run.coords, &walked.column, walked);
                let p = match (row.p, run.p) {
                    (Some(a), Some(b)) => Some(op2(Kind::P, "and.pred", a, b)),
                    (a, b) => a.or(b),
                };
                let guard = p.map_or(String::new(), |p| format!("@{p} "));
                ins!("{guard}prefetch.global.L2 [{at}]");
            }
        }
    }

    /// The elements of a run along the dimension where an operand lies densely, by one access where that is aligned.
    fn neighbours(&self, walked: &Walked, dense: usize, at: Op, p: Option<Op>) -> Vec<Op> {
        let (n, size) = (self.vector, walked.dtype.size() as i64);
        // Whether every run starts at a multiple of a run's length from the operand's address.
        let others = walked.column.iter().enumerate().filter(|&(d, _)| d != dense).map(|(_, s)| s);
        if self.aligned && others.chain(&walked.row).all(|s| s % n as isize == 0) {
            return load_vector(walked.dtype, at, 0, n, p);
        }
        (0..n as i64).map(|i| load(walked.dtype, at, i * size, p)).collect()
    }

    /// Values that are the same for all elements.
    pub(crate) fn uniforms(&mut self) -> Result<()> {
        for v in 0..self.program.values.len() {
            if self.frame.classes[v] != Class::Uniform {
                continue;
            }
            let value = self.program.values[v];
            let op = match value.inst {
                Inst::Input(_) if self.frame.is_empty() => zero_of(value.dtype),
                Inst::Input(i) => {
                    let at = self.origin(i as usize);
                    self.element(i as usize, at, None)
                }
                _ => self.instruction(v, None, |this, a| {
                    this.uniform[a as usize].ok_or_else(|| internal("an operand that is not known yet"))
                })?,
            };
            self.uniform[v] = Some(op);
        }
        Ok(())
    }

    /// One instruction for one element. `operand` finds the operands.
    pub(crate) fn instruction(
        &mut self,
        v: usize,
        p: Option<Op>,
        operand: impl Fn(&Self, Val) -> Result<Op>,
    ) -> Result<Op> {
        let value = self.program.values[v];
        match value.inst {
            Inst::Const(i) => {
                let cell = self.params.field(Field::Const(i));
                Ok(from_cell(value.dtype, cell))
            }
            Inst::Map(row, args) => {
                let n = row.arity();
                let of = self.program.operand_dtype(row, args);
                let mut ops: SmallVec<[Op; 3]> = SmallVec::new();
                for &a in &args[..n] {
                    ops.push(operand(self, a)?);
                }
                if row.refuses_zero(of) {
                    self.check_divisor(ops[1], of, p);
                }
                let result = apply(row, of, &ops)
                    .ok_or_else(|| internal("a dtype that the operation does not take"))?;
                Ok(round(value.dtype, result))
            }
            Inst::Cast(a) => {
                let op = operand(self, a)?;
                Ok(round(value.dtype, cast(self.dtype(a), value.dtype, op)))
            }
            Inst::Guard(a, bound) => {
                let op = operand(self, a)?;
                self.check_index(op, self.dtype(a), bound, p);
                Ok(op)
            }
            Inst::Input(_) | Inst::Reduce(..) => Err(internal("no instruction on single elements")),
        }
    }

    fn place_of(&mut self, check: Check) -> Op {
        let known = self.checks.iter().position(|&c| c == check);
        let at = known.unwrap_or_else(|| {
            self.checks.push(check);
            self.checks.len() - 1
        });
        self.params.field(Field::Check(at as u16))
    }

    fn report(&mut self, check: Check, bad: Op, index: Op, p: Option<Op>) {
        if self.frame.is_empty() {
            return;
        }
        let place = self.place_of(check);
        let bad = p.map_or(bad, |p| op2(Kind::P, "and.pred", bad, p));
        let one = copy(imm64(1));
        ins!("@{bad} st.global.b64 [{place}], {index}");
        ins!("@{bad} st.global.b64 [{place}+8], {one}");
    }

    fn check_index(&mut self, a: Op, dtype: DType, bound: u16, p: Option<Op>) {
        let index = cast(dtype, DType::I64, a);
        let size = self.params.field(Field::Const(bound));
        // As an unsigned number a negative index is beyond any size.
        let bad = op2(Kind::P, "setp.ge.u64", index, size);
        self.report(Check::Index(bound), bad, index, p);
    }

    fn check_divisor(&mut self, a: Op, dtype: DType, p: Option<Op>) {
        let number = cast(dtype, DType::I64, a);
        let bad = op2(Kind::P, "setp.eq.s64", number, imm64(0));
        self.report(Check::Divisor, bad, number, p);
    }

    /// An operand of an instruction on a row.
    pub(crate) fn row_operand(&self, a: Val, r: usize) -> Result<Op> {
        let a = a as usize;
        self.uniform[a]
            .or_else(|| self.row[a].get(r).copied())
            .ok_or_else(|| internal("a row value that is not known yet"))
    }

    /// A value over rows (no reduction).
    pub(crate) fn row_value(&mut self, v: usize, rows: &[RowAt]) -> Result<()> {
        let mut out = vec![];
        for (r, row) in rows.iter().enumerate() {
            out.push(match self.program.values[v].inst {
                Inst::Input(i) => {
                    let at =
                        row.bases[i as usize].ok_or_else(|| internal("an operand without an address"))?;
                    self.element(i as usize, at, row.p)
                }
                _ => self.instruction(v, row.p, |this, a| this.row_operand(a, r))?,
            });
        }
        self.row[v] = out;
        Ok(())
    }

    /// Loads the operands among the needed values.
    pub(crate) fn load_full(&mut self, needed: &[bool], rows: &[RowAt], runs: &[Run]) -> Result<()> {
        for (v, &needed) in needed.iter().enumerate() {
            let Inst::Input(i) = self.program.values[v].inst else { continue };
            if !needed || self.frame.classes[v] != Class::Full {
                continue;
            }
            let base = |run: &Run| {
                rows[run.row].bases[i as usize].ok_or_else(|| internal("an operand without an address"))
            };
            if let (Some(axis), [run, ..]) = (self.turned, runs)
                && self.frame.inputs[i as usize].is_turned(axis)
            {
                self.full[v] = self.turned_elements(i as usize, axis, run, base(run)?);
                continue;
            }
            let mut out = Vec::with_capacity(runs.len() * self.vector);
            for run in runs {
                out.extend(self.elements(i as usize, run, base(run)?));
            }
            self.full[v] = out;
        }
        Ok(())
    }

    /// The elements of an operand at neighbouring runs, of which this one is the first: read by runs along the dimension where they are neighbours.
    fn turned_elements(&mut self, input: usize, axis: usize, run: &Run, base: Op) -> Vec<Op> {
        let frame = self.frame;
        let walked = &frame.inputs[input];
        let n = self.vector;
        let last = walked.column.last().copied().unwrap_or(0);
        let step = self.params.long(last as i64 * walked.dtype.size() as i64);
        let mut at = self.advance(base, &run.coords, &walked.column, walked);
        let mut lines: Vec<Vec<Op>> = Vec::with_capacity(n);
        for line in 0..n {
            if line > 0 {
                at = op2(Kind::D, "add.s64", at, step);
            }
            lines.push(self.neighbours(walked, axis, at, run.p));
        }
        (0..n * n).map(|e| lines[e % n][e / n]).collect()
    }

    /// An operand of an instruction on elements: element `e` of run `run`.
    pub(crate) fn full_operand(&self, a: Val, e: usize, row: usize) -> Result<Op> {
        let i = a as usize;
        let found = match self.frame.classes[i] {
            Class::Uniform => self.uniform[i],
            Class::Row => self.row[i].get(row).copied(),
            Class::Full | Class::Column | Class::Total => self.full[i].get(e).copied(),
        };
        found.ok_or_else(|| internal("a value that is not known yet"))
    }

    /// A value over elements (no operand, no reduction).
    pub(crate) fn full_value(&mut self, v: usize, runs: &[Run]) -> Result<()> {
        let mut out = Vec::with_capacity(runs.len() * self.vector);
        for (u, run) in runs.iter().enumerate() {
            if let Some(hits) = self.hits(v, u, run.row) {
                out.extend(hits);
                continue;
            }
            if let Some(powers) = self.powers(v, u, run.row) {
                out.extend(powers);
                continue;
            }
            for i in 0..self.vector {
                let e = u * self.vector + i;
                // Of the same operands as the element before it: its value.
                if i > 0 && self.is_repeated(v, e, run.row) {
                    out.push(out[e - 1]);
                    continue;
                }
                out.push(self.instruction(v, run.p, |this, a| this.full_operand(a, e, run.row))?);
            }
        }
        self.full[v] = out;
        Ok(())
    }

    /// Which elements of a run are at the position that a number names, if the value is that: one difference of 64 bits for all of them,
    /// and a comparison of 32 for each.
    fn hits(&self, v: usize, u: usize, row: usize) -> Option<Vec<Op>> {
        let Inst::Map(Row::Eq, [a, b, _]) = self.program.values[v].inst else { return None };
        let is_position = |a: Val| match self.program.values[usize::from(a)].inst {
            Inst::Input(i) => {
                let walked = &self.frame.inputs[usize::from(i)];
                let counts = walked.class == Class::Full && walked.column.last() == Some(&1);
                counts && walked.source == Source::Index && walked.dtype == DType::I64
            }
            Inst::Const(_) | Inst::Map(..) | Inst::Cast(_) | Inst::Guard(..) | Inst::Reduce(..) => false,
        };
        let (positions, number) = if is_position(b) { (b, a) } else { (a, b) };
        let n = self.vector;
        let known = |a: Val, i: usize| self.full_operand(a, u * n + i, row).ok();
        let number_of = |i: usize| known(number, i);
        let same = (1..n).all(|i| number_of(i).is_some() && number_of(i) == number_of(0));
        if n == 1 || !is_position(positions) || !same {
            return None;
        }
        let distance = op2(Kind::D, "sub.s64", number_of(0)?, known(positions, 0)?);
        let within = op2(Kind::P, "setp.lt.u64", distance, imm64(n as i64));
        let distance = select(Pred(within), op1(Kind::R, "cvt.u32.u64", distance), imm(-1));
        Some((0..n).map(|i| op2(Kind::P, "setp.eq.s32", distance, imm(i as i64))).collect())
    }

    /// Whether a value is no number above 0: an element less the greatest of its row, as in a softmax.
    fn is_never_above_zero(&self, v: Val) -> bool {
        let value = |v: Val| self.program.values[usize::from(v)];
        // As it was before it was widened, which keeps what is greater.
        let narrow = |mut v: Val| {
            while let Inst::Cast(from) = value(v).inst {
                let (wide, dtype) = (value(v).dtype, value(from).dtype);
                if !(wide.is_float() && dtype.is_float() && dtype.size() < wide.size()) {
                    break;
                }
                v = from;
            }
            v
        };
        let Inst::Map(Row::Sub, [x, greatest, _]) = value(v).inst else { return false };
        match value(narrow(greatest)).inst {
            Inst::Reduce(ReduceKind::Max, Over::Inner, of) => narrow(of) == narrow(x),
            Inst::Input(_)
            | Inst::Const(_)
            | Inst::Map(..)
            | Inst::Cast(_)
            | Inst::Guard(..)
            | Inst::Reduce(..) => false,
        }
    }

    /// The exponentials of a run, if the value is that: where none of them is large, by fewer instructions.
    fn powers(&self, v: usize, u: usize, row: usize) -> Option<Vec<Op>> {
        let Inst::Map(Row::Exp, [a, ..]) = self.program.values[v].inst else { return None };
        let dtype = self.program.values[v].dtype;
        let n = self.vector;
        let never_large = self.is_never_above_zero(a);
        if n < 4 && !never_large || kind_of(dtype) != Kind::F || capability() < AMPERE {
            return None;
        }
        let x: Vec<Op> =
            (u * n..(u + 1) * n).map(|e| self.full_operand(a, e, row).ok()).collect::<Option<_>>()?;
        if n > 1 && x.windows(2).all(|x| x[0] == x[1]) {
            return None;
        }
        let fast = |x: Op| round(dtype, math::exp_below(F32(x)).0);
        if never_large {
            return Some(x.into_iter().map(fast).collect());
        }
        let largest = x.iter().copied().reduce(|x, y| op2(Kind::F, "max.NaN.f32", x, y))?;
        let bound = F32(largest).lit(math::EXP_BELOW);
        let below = op2(Kind::P, "setp.le.f32", largest, bound.0);
        let out: Vec<Op> = x.iter().map(|_| reg(Kind::F)).collect();
        let (far, done) = (label(), label());
        ins!("@!{below} bra L{far}");
        for (&d, &x) in out.iter().zip(&x) {
            assign(d, fast(x));
        }
        ins!("bra L{done}");
        place(far);
        for (&d, &x) in out.iter().zip(&x) {
            assign(d, round(dtype, math::exp(F32(x)).0));
        }
        place(done);
        Some(out)
    }

    /// Whether the operands of a value at element `e` are those at the element before it. (Random numbers are operands.)
    fn is_repeated(&self, v: usize, e: usize, row: usize) -> bool {
        let same = |a: Val| {
            let [before, here] = [e - 1, e].map(|e| self.full_operand(a, e, row).ok());
            before.is_some() && before == here
        };
        self.program.args(v as Val).all(same)
    }

    /// The elements of a value as partial results of a reduction, those of each row for itself.
    pub(crate) fn partials(
        &self,
        reduction: Reduction,
        a: Val,
        runs: &[Run],
        rows: usize,
    ) -> Result<Vec<Vec<Acc>>> {
        let mut out = vec![vec![]; rows];
        for (u, run) in runs.iter().enumerate() {
            for i in 0..self.vector {
                let value = self.full_operand(a, u * self.vector + i, run.row)?;
                let acc = reduction.element(value, self.index_of(reduction, run, i));
                out[run.row].push(reduction.masked(acc, run.p));
            }
        }
        Ok(out)
    }

    /// The elements of a value as one partial result of a reduction: those of each run by a tree, and runs by one.
    pub(crate) fn partial(&self, reduction: Reduction, a: Val, runs: &[Run]) -> Result<Acc> {
        let mut of_runs = vec![];
        for (u, run) in runs.iter().enumerate() {
            let mut elements = vec![];
            for i in 0..self.vector {
                let value = self.full_operand(a, u * self.vector + i, run.row)?;
                elements.push(reduction.element(value, self.index_of(reduction, run, i)));
            }
            // A run is there as a whole, or not at all.
            let sum = reduction.tree_in_order(elements).ok_or_else(|| internal("a run of nothing"))?;
            of_runs.push(reduction.masked(sum, run.p));
        }
        let all = if runs.iter().all(|run| run.p.is_none()) {
            reduction.tree_in_order(of_runs)
        } else {
            reduction.tree(of_runs)
        };
        all.ok_or_else(|| internal("a row of nothing"))
    }

    /// Where an element of a run is, for index reductions.
    fn index_of(&self, reduction: Reduction, run: &Run, i: usize) -> Option<Op> {
        reduction.kind.is_arg().then(|| {
            let at = wide(run.column);
            if i == 0 { at } else { op2(Kind::D, "add.s64", at, imm64(i as i64)) }
        })
    }

    /// The address of an output's first element.
    pub(crate) fn output(&mut self, o: usize) -> Op {
        self.params.field(Field::Output(o as u16))
    }

    /// Writes an output over elements.
    pub(crate) fn store_full(&mut self, o: usize, runs: &[Run], bases: &[Op]) -> Result<()> {
        let (v, _) = self.program.outputs[o];
        let dtype = self.dtype(v);
        let size = dtype.size() as i64;
        for (u, run) in runs.iter().enumerate() {
            let values: Vec<Op> = (0..self.vector)
                .map(|i| self.full_operand(v, u * self.vector + i, run.row))
                .collect::<Result<_>>()?;
            let at = if run.column.0 == Kind::D {
                op3(Kind::D, "mad.lo.s64", run.column, imm64(size), bases[run.row])
            } else {
                op3(Kind::D, "mad.wide.u32", run.column, imm(size), bases[run.row])
            };
            if self.aligned {
                store_vector(dtype, at, 0, &values, run.p);
            } else {
                for (i, &value) in values.iter().enumerate() {
                    super::values::store(dtype, at, i as i64 * size, value, run.p);
                }
            }
        }
        Ok(())
    }

    /// Where an output's row starts.
    pub(crate) fn output_row(&mut self, o: usize, row: Op) -> Op {
        let (v, class) = self.program.outputs[o];
        let size = self.dtype(v).size();
        let base = self.output(o);
        let step = if class == Class::Full { self.frame.columns * size } else { size };
        let row = wide(row);
        let step = if class == Class::Full { self.params.long(step as i64) } else { imm64(step as i64) };
        op3(Kind::D, "mad.lo.s64", row, step, base)
    }

    /// Values computed from full reductions, once those are known.
    pub(crate) fn totals(&mut self) -> Result<()> {
        for v in 0..self.program.values.len() {
            if self.frame.classes[v] != Class::Total
                || matches!(self.program.values[v].inst, Inst::Reduce(..))
            {
                continue;
            }
            let op = self.instruction(v, None, |this, a| {
                let a = a as usize;
                this.total[a].or(this.uniform[a]).ok_or_else(|| internal("a total that is not known yet"))
            })?;
            self.total[v] = Some(op);
        }
        Ok(())
    }
}

/// A position as a 64-bit number.
pub(crate) fn wide(a: Op) -> Op {
    match a {
        Op(Kind::D, _) => a,
        Op(_, Opnd::Imm(n)) => imm64(n as u32 as i64),
        _ => op1(Kind::D, "cvt.u64.u32", a),
    }
}

/// Zero, where there is nothing to read.
fn zero_of(dtype: DType) -> Op {
    match kind_of(dtype) {
        Kind::P => {
            let d = reg(Kind::P);
            ins!("setp.ne.s32 {d}, 0, 0");
            d
        }
        kind @ (Kind::R | Kind::D | Kind::F | Kind::G | Kind::H) => copy(Op(kind, Opnd::Imm(0))),
    }
}
