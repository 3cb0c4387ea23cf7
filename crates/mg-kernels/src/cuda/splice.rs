//! Epilogues of matrix products and convolutions: a program's instructions, spliced into the text of a prebuilt kernel at its marks.
//!
//! A mark is a comment that names the registers of four neighbouring elements of the product, the matrix of the batch, the
//! row and the first column; or of such fours of several rows, one after the other, and before them how far these rows are apart.
//! The program is written there as a block with registers of its own; its parameters follow the kernel's.
//!
//! A program may have a sum over the product's columns as well: see [`Sum`].

use super::body::{Body, Check, RowAt, Run, wide};
use super::emit::Followup;
use super::library::Prebuilt;
use super::params::{Field, Params};
use super::ptx::{self, Kind, Op, imm, imm64, ins, op2, op3, reg, special};
use super::values::round;
use crate::frame::{Form, Frame, Free, Walked, internal};
use crate::program::{Build, Class, Inst, Over, Program, ReduceKind, Val};
use mg_device::{DType, Result};
use std::fmt::Write;
use std::ops::Range;

/// How a mark begins, and one of several rows.
const MARK: &str = "// mg.epilogue ";
const ROWS_MARK: &str = "// mg.epilogues ";
/// Where sums over columns begin, and where a thread has all it adds up.
const SUMS_MARK: &str = "// mg.sums";
const SUMMED_MARK: &str = "// mg.summed ";
/// The registers in which a thread adds up its columns, from mark to mark.
const SUMS: &str = "%columns";
/// Elements of a row that a mark names.
const WIDTH: usize = 4;
/// Fours of operands that are read before the first is used: as many as there are registers for beside the sums.
const AHEAD: usize = 8;

/// A kernel with an epilogue.
pub(crate) struct Spliced {
    pub(crate) text: String,
    /// The parameters after the kernel's own.
    pub(crate) params: Params,
    pub(crate) checks: Vec<Check>,
    /// What joins the sums over columns that it leaves: a matrix of f32 in the workspace, whose columns a program adds up.
    pub(crate) then: Option<Followup>,
    /// Bytes of workspace up to the end of that matrix.
    pub(crate) workspace: usize,
}

/// A sum over the product's columns (a bias's gradient): each thread adds up in registers what it has of its columns in a tile, lanes with
/// the same ones join theirs, and what is left is a row for some of the product's rows, in the workspace.
struct Sum {
    /// What is added up, and the sum.
    of: Val,
    value: Val,
    outputs: Vec<u16>,
}

impl Sum {
    /// The program with a copy of what it adds up in place of the sum, and the sum; `None` where it reduces something else.
    fn taken(program: &Program, columns: usize) -> Option<(Program, Option<Sum>)> {
        let is_reduction = |&v: &Val| matches!(program.values[usize::from(v)].inst, Inst::Reduce(..));
        let mut reductions = (0..program.values.len() as Val).filter(is_reduction);
        let Some(value) = reductions.next() else { return Some((program.clone(), None)) };
        let Inst::Reduce(ReduceKind::Sum, Over::Outer, of) = program.values[usize::from(value)].inst else {
            return None;
        };
        let is_read = (0..program.values.len()).any(|v| program.args(v as Val).any(|a| a == value));
        let narrow = matches!(program.values[usize::from(of)].dtype, DType::F32 | DType::F16 | DType::BF16);
        let is_whole =
            program.batch == 0 && program.rows_and_columns().1 == columns && columns.is_multiple_of(WIDTH);
        if is_read || !narrow || !is_whole || reductions.next().is_some() {
            return None;
        }
        let outputs = (0..program.outputs.len()).filter(|&o| program.outputs[o].0 == value).map(|o| o as u16);
        let sum = Sum { of, value, outputs: outputs.collect() };
        let mut program = Program { outer: 0, ..program.clone() };
        program.values[usize::from(value)].inst = Inst::Cast(of);
        Some((program, Some(sum)))
    }

    /// What adds up the rows that are left, which lie in the workspace from a byte on.
    fn join(&self, program: &Program, rows: usize, columns: usize, from: u32) -> Followup {
        let mut join = Build::new(&[rows, columns], 0, 1);
        let left = join.load(DType::F32);
        let sum = join.push(
            Inst::Reduce(ReduceKind::Sum, Over::Outer, left),
            program.values[usize::from(self.value)].dtype,
        );
        self.outputs.iter().for_each(|_| join.out(sum, Class::Column));
        Followup { program: join.0, from: vec![from], outputs: self.outputs.clone() }
    }
}

/// How a program is spliced, decided before its text is written.
#[derive(Debug, PartialEq)]
struct Stage {
    /// Elements of a run: runs of four start at multiples of four within the last merged dimension, or each element goes by itself.
    width: usize,
    /// Operands that are the product's elements.
    operands: Vec<usize>,
    /// Values that are these, by value.
    product: Vec<bool>,
    /// Operands that are the same for all rows of a mark, as a bias is: they are read once for all.
    of_columns: Vec<bool>,
}

impl Stage {
    /// `None` where the program is no elementwise one over the product's space.
    fn new(
        program: &Program,
        frame: &Frame,
        operands: &[usize],
        rows: usize,
        columns: usize,
    ) -> Option<Stage> {
        let size = frame.columns;
        let reduces = program.values.iter().any(|v| matches!(v.inst, Inst::Reduce(..)));
        if frame.form != Form::Map || reduces || size == 0 || !size.is_multiple_of(rows * columns) {
            return None;
        }
        let is_product = |inst| matches!(inst, Inst::Input(i) if operands.contains(&usize::from(i)));
        let product: Vec<bool> = program.values.iter().map(|v| is_product(v.inst)).collect();
        if product.iter().zip(&frame.classes).any(|(&is, &class)| is && class != Class::Full) {
            return None;
        }
        let whole = columns.is_multiple_of(WIDTH) && frame.column_dims.last().is_none_or(|n| n % WIDTH == 0);
        let line = frame.column_dims.last().copied().unwrap_or(1);
        let of_columns = |input: &Walked| {
            let along = input.column.split_last().map_or(&[][..], |(_, others)| others);
            whole && columns.is_multiple_of(line) && along.iter().all(|&stride| stride == 0)
        };
        let of_columns = frame.inputs.iter().map(of_columns).collect();
        Some(Stage { width: if whole { WIDTH } else { 1 }, operands: operands.to_vec(), product, of_columns })
    }

    /// Whether an operand is read element by element.
    fn reads(&self, i: usize, class: Class) -> bool {
        class == Class::Full && !self.operands.contains(&i)
    }
}

/// Splices a program into a kernel. `product` are the positions of the operands that are the product's elements; the product
/// is of `rows` rows of `columns`, for each of its batch; what is left of sums over columns lies in the workspace from byte `free` on. `None` where the
/// kernel has no marks, or the program is no elementwise one over the product's space with at most one sum over its columns.
pub(crate) fn splice(
    kernel: &Prebuilt,
    program: &Program,
    product: &[usize],
    [rows, columns]: [usize; 2],
    aligned: bool,
    free: usize,
) -> Result<Option<Spliced>> {
    let Some((program, sum)) = Sum::taken(program, columns) else { return Ok(None) };
    let program = &program;
    let frame = Frame::new(program, Free::Joined)?;
    let Some(stage) = Stage::new(program, &frame, product, rows, columns) else { return Ok(None) };
    let Some(shape) = MarkShape::of(kernel) else { return Ok(None) };
    let (mut leaves, mut then, mut workspace) = (None, None, 0);
    if let Some(sum) = &sum {
        let Some(left) = Left::of(kernel) else { return Ok(None) };
        let is_full = frame.classes[usize::from(sum.of)] == Class::Full;
        let groups = rows.div_ceil(left.rows) * left.per_tile;
        let of_all = groups * (frame.columns / (rows * columns));
        let end = of_all.checked_mul(4 * columns).and_then(|bytes| bytes.checked_add(free));
        let (Ok(from), Some(end)) = (u32::try_from(free), end) else { return Ok(None) };
        if !is_full || stage.width != WIDTH {
            return Ok(None);
        }
        leaves = Some((left, groups, from));
        then = Some(sum.join(program, of_all, columns, from));
        workspace = end;
    }
    // Bytes of the kernel's own parameters.
    let Some((own, entry)) = parameters(kernel) else { return Ok(None) };
    ptx::begin_for(capability(kernel));
    let mut body = Body::new(program, &frame, stage.width, aligned);
    let first = own.next_multiple_of(8);
    body.params.bytes.resize(first, 0);
    body.params.name = Some(entry);
    let mark = Mark::read(&mut body, shape, [rows, columns]);
    body.uniforms()?;
    let reads = frame.inputs.iter().enumerate().filter(|(i, input)| stage.reads(*i, input.class));
    let (once, each): (Vec<_>, Vec<_>) = reads.partition(|(i, _)| stage.of_columns[*i]);
    // Elements by themselves have an address and a condition each, for which there are no registers besides.
    let ahead = if stage.width == WIDTH { AHEAD.saturating_sub(once.len()) } else { 1 };
    let at_once = (ahead / each.len().max(1)).clamp(1, shape.rows);
    for first in (0..shape.rows).step_by(at_once) {
        let of = first..shape.rows.min(first + at_once);
        let runs = mark.runs(&mut body, &stage, of.clone());
        elements(&mut body, &stage, &mark.elements[of.start * WIDTH..of.end * WIDTH], &runs, sum.as_ref())?;
    }
    let block = ptx::end();
    let mut blocks = Blocks { at_mark: block, at_end: None };
    if let Some((left, groups, from)) = leaves {
        ptx::begin_for(capability(kernel));
        left.store(&mut body, groups, columns, from);
        blocks.at_end = Some(ptx::end());
    }
    let Body { mut params, checks, .. } = body;
    let total = params.bytes.len();
    let text = replace(kernel, own, total, &blocks)?;
    params.bytes.drain(..first);
    for field in &mut params.fields {
        field.0 -= first as u16;
    }
    Ok(Some(Spliced { text, params, checks, then, workspace }))
}

/// What a kernel leaves of sums over columns, as the mark behind them says.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Left {
    /// Rows of a tile.
    rows: usize,
    /// Rows that are left of each tile.
    per_tile: usize,
    /// The bits of a lane's number by which those are apart that have the same columns of one of these.
    lanes: u32,
}

impl Left {
    fn of(kernel: &Prebuilt) -> Option<Left> {
        let mut names = kernel
            .ptx()
            .lines()
            .find_map(|line| line.trim_start().strip_prefix(SUMMED_MARK))?
            .split_whitespace();
        let (rows, per_tile) = (names.next()?.parse().ok()?, names.next()?.parse().ok()?);
        Some(Left { rows, per_tile, lanes: names.next()?.parse().ok()? })
    }

    /// Joins what lanes have of the same columns, and stores it, `groups` rows for each matrix of the batch.
    fn store(self, body: &mut Body, groups: usize, columns: usize, from: u32) {
        let [batch, group, column] = ["@B@", "@R@", "@C@"].map(word);
        let sums: Vec<Op> = (0..WIDTH)
            .map(|j| {
                let mut sum = reg(Kind::F);
                ins!("mov.f32 {sum}, {SUMS}{j}");
                for bit in (0..5).map(|bit| 1u32 << bit).filter(|bit| self.lanes & bit != 0) {
                    let other = reg(Kind::F);
                    ins!("shfl.sync.bfly.b32 {other}, {sum}, {bit}, 31, -1");
                    sum = op2(Kind::F, "add.rn.f32", sum, other);
                }
                sum
            })
            .collect();
        let [n_groups, n_columns] = [groups, columns].map(|n| body.params.word(n as u32));
        let others = op2(Kind::R, "and.b32", special("%laneid"), imm(self.lanes.into()));
        let is_first = op2(Kind::P, "setp.eq.s32", others, imm(0));
        let is_there = op2(Kind::P, "setp.lt.u32", column, n_columns);
        let stores = op2(Kind::P, "and.pred", is_first, is_there);
        let row = op3(Kind::R, "mad.lo.u32", batch, n_groups, group);
        let at = op2(Kind::D, "mul.wide.u32", row, n_columns);
        let at = op2(Kind::D, "add.s64", at, wide(column));
        let base = body.params.field(Field::Scratch(from));
        let at = op3(Kind::D, "mad.lo.s64", at, imm64(4), base);
        let [a, b, c, d] = [sums[0], sums[1], sums[2], sums[3]];
        ins!("@{stores} st.global.v4.f32 [{at}], {{{a}, {b}, {c}, {d}}}");
    }
}

/// The rows that a mark names fours of, and how far they are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MarkShape {
    rows: usize,
    apart: usize,
}

impl MarkShape {
    /// That of a kernel's marks, if it has any.
    fn of(kernel: &Prebuilt) -> Option<MarkShape> {
        let marks = |begin: &'static str| {
            kernel
                .ptx()
                .lines()
                .find_map(move |line| Some(line.trim_start().strip_prefix(begin)?.split_whitespace()))
        };
        match marks(ROWS_MARK) {
            Some(mut names) => {
                let apart = names.next()?.parse().ok()?;
                Some(MarkShape { rows: names.count().checked_sub(3)? / WIDTH, apart })
            }
            None => marks(MARK).map(|_| MarkShape { rows: 1, apart: 0 }),
        }
    }
}

/// A word that a mark names, by its placeholder.
fn word(name: &str) -> Op {
    let d = reg(Kind::R);
    ins!("mov.b32 {d}, {name}");
    d
}

/// What a mark names, by placeholders until the marks are met.
struct Mark {
    shape: MarkShape,
    /// Of one row after the other.
    elements: Vec<Op>,
    batch: Op,
    row: Op,
    column: Op,
    /// The product's rows and columns.
    sizes: [Op; 2],
}

impl Mark {
    fn read(body: &mut Body, shape: MarkShape, sizes: [usize; 2]) -> Mark {
        let elements = (0..shape.rows * WIDTH)
            .map(|j| {
                let d = reg(Kind::F);
                ins!("mov.f32 {d}, @V{j}@");
                d
            })
            .collect();
        let [batch, row, column] = ["@B@", "@R@", "@C@"].map(word);
        let sizes = sizes.map(|n| body.params.word(n as u32));
        Mark { shape, elements, batch, row, column, sizes }
    }

    /// Where the fours of elements of some of the rows lie: each one run, or four of which those beyond the row are not there. The first
    /// row is there, others may not be.
    fn runs(&self, body: &mut Body, stage: &Stage, of: Range<usize>) -> Vec<Run> {
        let [n_rows, n_columns] = self.sizes;
        let mut runs = vec![];
        for i in of {
            let row = match i {
                0 => self.row,
                _ => op2(Kind::R, "add.u32", self.row, imm((i * self.shape.apart) as i64)),
            };
            let is_there = (i > 0).then(|| op2(Kind::P, "setp.lt.u32", row, n_rows));
            let line = if body.wide {
                let line = op2(Kind::D, "mul.wide.u32", self.batch, n_rows);
                let line = op2(Kind::D, "add.s64", line, wide(row));
                op3(Kind::D, "mad.lo.s64", line, wide(n_columns), wide(self.column))
            } else {
                let line = op3(Kind::R, "mad.lo.u32", self.batch, n_rows, row);
                op3(Kind::R, "mad.lo.u32", line, n_columns, self.column)
            };
            runs.push(body.run(line, is_there, 0));
            for j in 1..(WIDTH / stage.width) as i64 {
                let c = op2(Kind::R, "add.u32", self.column, imm(j));
                let p = op2(Kind::P, "setp.lt.u32", c, n_columns);
                let p = is_there.map_or(p, |is_there| op2(Kind::P, "and.pred", p, is_there));
                let at = if body.wide {
                    op2(Kind::D, "add.s64", line, ptx::imm64(j))
                } else {
                    op2(Kind::R, "add.u32", line, imm(j))
                };
                runs.push(body.run(at, Some(p), 0));
            }
        }
        runs
    }
}

/// The program over elements of a mark.
fn elements(body: &mut Body, stage: &Stage, elements: &[Op], runs: &[Run], sum: Option<&Sum>) -> Result<()> {
    let (program, frame) = (body.program, body.frame);
    let is_read = |i: usize| stage.reads(i, frame.inputs[i].class);
    let bases = (0..frame.inputs.len()).map(|i| is_read(i).then(|| body.origin(i))).collect();
    let at = RowAt { index: imm(0), p: None, bases };
    let once = |inst| matches!(inst, Inst::Input(i) if stage.of_columns[usize::from(i)]);
    let each = |v: usize| !stage.product[v] && !once(program.values[v].inst);
    let needed: Vec<bool> = (0..program.values.len()).map(each).collect();
    body.load_full(&needed, std::slice::from_ref(&at), runs)?;
    let needed: Vec<bool> = (0..needed.len()).map(|v| !stage.product[v] && !needed[v]).collect();
    body.load_full(&needed, std::slice::from_ref(&at), &runs[..1])?;
    for v in (0..needed.len()).filter(|&v| needed[v]) {
        body.full[v] = body.full[v].repeat(runs.len());
    }
    for v in 0..program.values.len() {
        if stage.product[v] {
            let dtype = program.values[v].dtype;
            body.full[v] = elements.iter().map(|&e| round(dtype, e)).collect();
        } else if sum.is_some_and(|sum| usize::from(sum.value) == v) {
            // Not an element's.
        } else if !matches!(program.values[v].inst, Inst::Input(_)) && frame.classes[v] == Class::Full {
            body.full_value(v, runs)?;
        }
    }
    if let Some(sum) = sum {
        for (i, run) in runs.iter().enumerate() {
            let is_there = run.p.map_or(String::new(), |p| format!("@{p} "));
            for (j, x) in body.full[usize::from(sum.of)][i * WIDTH..][..WIDTH].iter().enumerate() {
                ins!("{is_there}add.rn.f32 {SUMS}{j}, {SUMS}{j}, {x}");
            }
        }
    }
    for (o, &(v, class)) in program.outputs.iter().enumerate() {
        if sum.is_some_and(|sum| sum.value == v) {
            continue;
        }
        if class != Class::Full || frame.classes[v as usize] > Class::Full {
            return Err(internal("an epilogue that writes no elements"));
        }
        let base = body.output(o);
        body.store_full(o, runs, &[base])?;
    }
    Ok(())
}

/// The lowest capability that a kernel's text is for.
fn capability(kernel: &Prebuilt) -> u32 {
    let target = kernel.ptx().lines().find_map(|line| line.trim_start().strip_prefix(".target sm_"));
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    target.and_then(digits).unwrap_or(75)
}

/// The size of a kernel's parameters and their name.
fn parameters(kernel: &Prebuilt) -> Option<(usize, String)> {
    let line = kernel.ptx().lines().find(|l| l.trim_start().starts_with(".param"))?;
    let (name, rest) = line.rsplit_once(' ')?.1.split_once('[')?;
    Some((rest.split_once(']')?.0.parse().ok()?, name.to_string()))
}

/// What is written in a kernel's text.
struct Blocks {
    /// At each mark.
    at_mark: String,
    /// Where a thread has what it adds up of its columns, if it adds up any.
    at_end: Option<String>,
}

/// The kernel's text with the blocks at its marks, and room for all parameters.
fn replace(kernel: &Prebuilt, own: usize, total: usize, blocks: &Blocks) -> Result<String> {
    let mut text = String::with_capacity(kernel.ptx().len() + 4 * blocks.at_mark.len());
    let (mut sized, mut declared) = (false, blocks.at_end.is_none());
    for line in kernel.ptx().lines() {
        let line = line.trim_start();
        let rows = line.strip_prefix(ROWS_MARK).and_then(|names| Some(names.trim_start().split_once(' ')?.1));
        let summed = line.strip_prefix(SUMMED_MARK);
        let block = if summed.is_some() { blocks.at_end.as_deref() } else { Some(&blocks.at_mark[..]) };
        if let Some(names) = rows.or(summed).or_else(|| line.strip_prefix(MARK)) {
            let Some(block) = block else { continue };
            let names: Vec<&str> = names.split_whitespace().collect();
            let [elements @ .., batch, row, column] = &names[..] else {
                return Err(internal("a mark that names something else"));
            };
            let mut here = block.to_string();
            for (j, name) in elements.iter().enumerate() {
                here = here.replace(&format!("@V{j}@"), name);
            }
            for (place, name) in [("@B@", batch), ("@R@", row), ("@C@", column)] {
                here = here.replace(place, name);
            }
            let _ = writeln!(text, "{{\n{here}}}");
        } else if line == SUMS_MARK {
            for j in (0..WIDTH).filter(|_| blocks.at_end.is_some()) {
                let _ = writeln!(text, "mov.f32 {SUMS}{j}, 0f00000000;");
            }
        } else if !sized && line.contains(&format!("[{own}]")) && line.starts_with(".param") {
            text.push_str(&line.replace(&format!("[{own}]"), &format!("[{total}]")));
            text.push('\n');
            sized = true;
        } else {
            if !declared && line.starts_with(".reg") {
                let _ = writeln!(text, ".reg .f32 {SUMS}<{WIDTH}>;");
                declared = true;
            }
            text.push_str(line);
            text.push('\n');
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Operand, Over, ReduceKind, Source, Val, Value};
    use crate::rows::Row;
    use mg_device::{DType, MAX_RANK};

    fn push(program: &mut Program, inst: Inst) -> Val {
        program.values.push(Value { inst, dtype: DType::F32 });
        (program.values.len() - 1) as Val
    }

    /// The product's element, by one that lies as `strides` say (in rows of `columns`), or is the same for a column.
    fn program(rows: usize, columns: usize, strides: [isize; 2]) -> Program {
        let operand = |own: [isize; 2]| {
            let mut strides = [0; MAX_RANK];
            strides[..2].copy_from_slice(&own);
            Operand { source: Source::Buffer, dtype: DType::F32, strides }
        };
        let inputs = vec![operand([columns as isize, 1]), operand(strides)];
        let mut program = Program { space: vec![rows, columns], inputs, ..Program::default() };
        for i in 0..2 {
            push(&mut program, Inst::Input(i));
        }
        let out = push(&mut program, Inst::Map(Row::Mul, [0, 1, 0]));
        program.outputs.push((out, Class::Full));
        program
    }

    fn staged(program: &Program, rows: usize, columns: usize) -> Option<Stage> {
        Stage::new(program, &Frame::new(program, Free::Joined).unwrap(), &[0], rows, columns)
    }

    #[test]
    fn rows_of_fours_go_by_fours() {
        let bias = staged(&program(8, 12, [0, 1]), 8, 12).unwrap();
        assert_eq!((bias.width, &bias.product[..]), (4, &[true, false, false][..]));
        assert!(!bias.reads(0, Class::Full) && bias.reads(1, Class::Full) && !bias.reads(1, Class::Row));
        assert_eq!(bias.of_columns, [false, true]);
        let beside = staged(&program(8, 12, [1, 8]), 8, 12).unwrap();
        assert_eq!((beside.width, &beside.of_columns[..]), (4, &[false, false][..]));
        assert_eq!(staged(&program(8, 10, [0, 1]), 8, 10).unwrap().width, 1);
    }

    #[test]
    fn what_is_no_work_on_the_products_elements_is_not_spliced() {
        let whole = program(8, 12, [12, 1]);
        assert!(staged(&whole, 8, 12).is_some() && staged(&whole, 2, 12).is_some(), "a batch of four");
        assert!(staged(&whole, 5, 12).is_none(), "another space than the product's");
        let mut reduces = program(8, 12, [12, 1]);
        push(&mut reduces, Inst::Reduce(ReduceKind::Sum, Over::Inner, 2));
        assert!(staged(&reduces, 8, 12).is_none());
    }
}
