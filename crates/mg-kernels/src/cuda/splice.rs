//! Epilogues of matrix products: a program's instructions, spliced into the text of a prebuilt kernel at its marks.
//!
//! A mark is a comment that names the registers of four neighbouring elements of the product, the matrix of the batch, the
//! row and the first column. The program is written there as a block with registers of its own; its parameters follow the
//! kernel's.

use super::body::{Body, Check, RowAt, Run, wide};
use super::frame::{Form, Frame, internal};
use super::library::Prebuilt;
use super::params::Params;
use super::ptx::{self, Kind, Op, imm, ins, op1, op2, op3, reg};
use super::values::round;
use crate::program::{Class, Inst, Program};
use mg_device::Result;
use std::fmt::Write;

/// How a mark begins.
const MARK: &str = "// mg.epilogue ";
/// Elements that a mark names.
const WIDTH: usize = 4;

/// A kernel with an epilogue.
pub(crate) struct Spliced {
    pub(crate) text: String,
    /// The parameters after the kernel's own.
    pub(crate) params: Params,
    pub(crate) checks: Vec<Check>,
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
    let frame = Frame::new(program)?;
    let size = frame.columns;
    let reduces = program.values.iter().any(|v| matches!(v.inst, Inst::Reduce(..)));
    if !kernel.ptx().contains(MARK)
        || frame.form != Form::Map
        || reduces
        || size == 0
        || size % (rows * columns) != 0
    {
        return Ok(None);
    }
    // Runs of four start at multiples of four within the last merged dimension, or each element goes by itself.
    let whole = columns.is_multiple_of(WIDTH) && frame.column_dims.last().is_none_or(|n| n % WIDTH == 0);
    ptx::begin_for(capability(kernel));
    let mut body = Body::new(program, &frame, if whole { WIDTH } else { 1 }, aligned);
    // Bytes of the kernel's own parameters.
    let Some((own, entry)) = parameters(kernel) else { return Ok(None) };
    let first = own.next_multiple_of(8);
    body.params.bytes.resize(first, 0);
    body.params.name = Some(entry);
    // What the mark names, by placeholders until the marks are met.
    let elements: Vec<Op> = (0..WIDTH)
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
    body.uniforms()?;
    let (n_rows, n_columns) = (body.params.word(rows as u32), body.params.word(columns as u32));
    let line = if body.wide {
        let line = op2(Kind::D, "mul.wide.u32", batch, n_rows);
        let line = op2(Kind::D, "add.s64", line, wide(row));
        op3(Kind::D, "mad.lo.s64", line, wide(n_columns), wide(column))
    } else {
        let line = op3(Kind::R, "mad.lo.u32", batch, n_rows, row);
        op3(Kind::R, "mad.lo.u32", line, n_columns, column)
    };
    let mut runs: Vec<Run> = vec![];
    if whole {
        runs.push(body.run(line, None, 0));
    } else {
        for j in 0..WIDTH as i64 {
            let (at, p) = if j == 0 {
                (line, None)
            } else {
                let c = op2(Kind::R, "add.u32", column, imm(j));
                let p = op2(Kind::P, "setp.lt.u32", c, n_columns);
                let at = if body.wide {
                    op2(Kind::D, "add.s64", line, ptx::imm64(j))
                } else {
                    op2(Kind::R, "add.u32", line, imm(j))
                };
                (at, Some(p))
            };
            runs.push(body.run(at, p, 0));
        }
    }
    let mut bases = vec![];
    for i in 0..frame.inputs.len() {
        bases.push((frame.inputs[i].class == Class::Full && !product.contains(&i)).then(|| body.origin(i)));
    }
    let at = RowAt { index: imm(0), p: None, bases };
    let n = program.values.len();
    let is_product =
        |v: usize| matches!(program.values[v].inst, Inst::Input(i) if product.contains(&usize::from(i)));
    let needed: Vec<bool> = (0..n).map(|v| !is_product(v)).collect();
    body.load_full(&needed, std::slice::from_ref(&at), &runs)?;
    for v in 0..n {
        if is_product(v) {
            let dtype = program.values[v].dtype;
            if frame.classes[v] != Class::Full {
                return Ok(None);
            }
            body.full[v] = elements.iter().map(|&e| round(dtype, e)).collect();
        } else if !matches!(program.values[v].inst, Inst::Input(_)) && frame.classes[v] == Class::Full {
            body.full_value(v, &runs)?;
        }
    }
    for (o, &(v, class)) in program.outputs.iter().enumerate() {
        if class != Class::Full || frame.classes[v as usize] > Class::Full {
            return Err(internal("an epilogue that writes no elements"));
        }
        let base = body.output(o);
        body.store_full(o, std::slice::from_ref(&at), &runs, &[base])?;
    }
    let _ = op1;
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
        if let Some(names) = line.trim_start().strip_prefix(MARK) {
            let names: Vec<&str> = names.split_whitespace().collect();
            let [v0, v1, v2, v3, batch, row, column] = names[..] else {
                return Err(internal("a mark that names something else"));
            };
            let mut here = block.to_string();
            for (place, name) in [
                ("@V0@", v0),
                ("@V1@", v1),
                ("@V2@", v2),
                ("@V3@", v3),
                ("@B@", batch),
                ("@R@", row),
                ("@C@", column),
            ] {
                here = here.replace(place, name);
            }
            let _ = writeln!(text, "{{\n{here}}}");
        } else if !sized && line.contains(&format!("[{own}]")) && line.trim_start().starts_with(".param") {
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
