//! Epilogues of matrix products: a program's instructions, spliced into the text of a prebuilt kernel at its marks.
//!
//! A mark is a comment that names the registers of four neighbouring elements of the product, the matrix of the batch, the
//! row and the first column; or of such fours of several rows, one after the other, and before them how far these rows are apart.
//! The program is written there as a block with registers of its own; its parameters follow the kernel's.

use super::body::{Body, Check, RowAt, Run, wide};
use super::library::Prebuilt;
use super::params::Params;
use super::ptx::{self, Kind, Op, imm, ins, op2, op3, reg};
use super::values::round;
use crate::frame::{Form, Frame, Free, Walked, internal};
use crate::program::{Class, Inst, Program};
use mg_device::Result;
use std::fmt::Write;
use std::ops::Range;

/// How a mark begins, and one of several rows.
const MARK: &str = "// mg.epilogue ";
const ROWS_MARK: &str = "// mg.epilogues ";
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
/// is of `rows` rows of `columns`, for each of its batch. `None` where the kernel has no marks, or the program is no
/// elementwise one over the product's space.
pub(crate) fn splice(
    kernel: &Prebuilt,
    program: &Program,
    product: &[usize],
    rows: usize,
    columns: usize,
    aligned: bool,
) -> Result<Option<Spliced>> {
    let frame = Frame::new(program, Free::Joined)?;
    let Some(stage) = Stage::new(program, &frame, product, rows, columns) else { return Ok(None) };
    let Some(shape) = MarkShape::of(kernel) else { return Ok(None) };
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
        elements(&mut body, &stage, &mark.elements[of.start * WIDTH..of.end * WIDTH], &runs)?;
    }
    let Body { mut params, checks, .. } = body;
    let block = ptx::end();
    let total = params.bytes.len();
    let text = replace(kernel, own, total, &block)?;
    params.bytes.drain(..first);
    for field in &mut params.fields {
        field.0 -= first as u16;
    }
    Ok(Some(Spliced { text, params, checks }))
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
        let word = |name: &str| {
            let d = reg(Kind::R);
            ins!("mov.b32 {d}, {name}");
            d
        };
        let (batch, row, column) = (word("@B@"), word("@R@"), word("@C@"));
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
fn elements(body: &mut Body, stage: &Stage, elements: &[Op], runs: &[Run]) -> Result<()> {
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
        } else if !matches!(program.values[v].inst, Inst::Input(_)) && frame.classes[v] == Class::Full {
            body.full_value(v, runs)?;
        }
    }
    for (o, &(v, class)) in program.outputs.iter().enumerate() {
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

/// The kernel's text with the block at each mark, and room for all parameters.
fn replace(kernel: &Prebuilt, own: usize, total: usize, block: &str) -> Result<String> {
    let mut text = String::with_capacity(kernel.ptx().len() + 4 * block.len());
    let mut sized = false;
    for line in kernel.ptx().lines() {
        let line = line.trim_start();
        let rows = line.strip_prefix(ROWS_MARK).and_then(|names| Some(names.trim_start().split_once(' ')?.1));
        if let Some(names) = rows.or_else(|| line.strip_prefix(MARK)) {
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
        } else if !sized && line.contains(&format!("[{own}]")) && line.starts_with(".param") {
            text.push_str(&line.replace(&format!("[{own}]"), &format!("[{total}]")));
            text.push('\n');
            sized = true;
        } else {
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
