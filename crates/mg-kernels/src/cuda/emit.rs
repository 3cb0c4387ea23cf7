//! From a program to the text of a kernel: what the three forms share.

use super::body::{Body, Check};
use super::params::Params;
use super::ptx;
use super::stage::Stage;
use super::{column, map, row};
use crate::frame::{Form, Frame, Free, Walked};
use crate::program::{Class, Inst, Program, Source};
use mg_device::cuda::Gpu;
use mg_device::{DType, Result};
use std::fmt::Write;

/// A kernel's text with all that a launch of it needs.
pub(crate) struct Emitted {
    pub(crate) text: String,
    pub(crate) params: Params,
    pub(crate) checks: Vec<Check>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: u32,
    /// Bytes of shared memory that a launch gives it.
    pub(crate) shared: u32,
    /// The launch that makes columns of what this one leaves in the scratch memory.
    pub(crate) then: Option<Followup>,
}

/// Partial results of reductions over rows, to be joined by another launch.
pub(crate) struct Followup {
    pub(crate) program: Program,
    /// Where the partial results lie in the scratch memory, by operand.
    pub(crate) from: Vec<u32>,
    /// The first launch's outputs, by output.
    pub(crate) outputs: Vec<u16>,
}

/// Bytes of the scratch memory that a kernel means to use.
pub(crate) const SCRATCH: usize = 12 << 20;
/// Bytes that it may use at most; behind them its follow-up has its own [`SCRATCH`].
pub(crate) const MOST_SCRATCH: usize = SCRATCH + SCRATCH / 4;
const _: () = assert!(MOST_SCRATCH + SCRATCH <= Gpu::SCRATCH_BYTES);

/// What a kernel is written for.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// The least capability of GPUs that run it.
    pub(crate) capability: u32,
    /// Bytes of shared memory for each of two blocks of a multiprocessor.
    pub(crate) half: u32,
    /// Addresses allow accesses of whole runs.
    pub(crate) aligned: bool,
    /// See [`map::emit`].
    pub(crate) list: bool,
    /// Where in the scratch memory there is room for partial results.
    pub(crate) scratch: u32,
}

/// Writes the kernel for a program.
pub(crate) fn emit(program: &Program, target: Target) -> Result<Emitted> {
    let Target { capability, half, aligned, list, scratch } = target;
    let frame = Frame::new(program, Free::Joined)?;
    ptx::begin_for(capability);
    match Stage::new(program, &frame, list, (capability, half))? {
        Stage::Elements(stage) => map::emit(program, &frame, &stage, aligned, list),
        Stage::Rows(stage) => row::emit(program, &frame, &stage, aligned),
        Stage::Columns(stage) => column::emit(program, &frame, &stage, aligned, scratch),
    }
}

/// The size of the largest element that is read or written for each position; but for what is read again and again, by elements where nothing
/// is reduced and by columns in each of their rows: it takes several accesses where others take one.
pub(crate) fn widest(program: &Program, frame: &Frame) -> usize {
    let repeats = |i: &Walked| match frame.form {
        Form::Map => i.column.contains(&0),
        Form::Column => i.row.iter().all(|&stride| stride == 0),
        Form::Row => false,
    };
    let read = frame
        .inputs
        .iter()
        .filter(|i| i.class == Class::Full && i.source == Source::Buffer && !repeats(i))
        .map(|i| i.dtype.size());
    let written = program
        .outputs
        .iter()
        .filter(|o| o.1 == Class::Full)
        .map(|o| program.values[o.0 as usize].dtype.size());
    read.chain(written).max().unwrap_or(4)
}

/// Instructions that the values over elements take, roughly.
pub(crate) fn weight(program: &Program, frame: &Frame) -> usize {
    let is_full = |v: &usize| frame.classes[*v] == Class::Full;
    (0..program.values.len()).filter(is_full).map(|v| work(program, frame, v)).sum()
}

/// Instructions that a value takes.
pub(crate) fn work(program: &Program, frame: &Frame, v: usize) -> usize {
    let value = &program.values[v];
    let double = if value.dtype == DType::F64 { 3 } else { 1 };
    double
        * match value.inst {
            Inst::Map(row, _) => row.cost(),
            Inst::Input(i) if matches!(frame.inputs[i as usize].source, Source::Random(_)) => 80,
            Inst::Input(_) | Inst::Const(_) | Inst::Cast(_) | Inst::Reduce(..) | Inst::Guard(..) => 1,
        }
}

/// The kernel's text around its body.
pub(crate) fn finish(body: Body, shared: u32, grid: [u32; 3], block: u32) -> Emitted {
    let Body { params, checks, .. } = body;
    let capability = ptx::capability();
    let inner = ptx::end();
    let mut text = String::with_capacity(inner.len() + 256);
    let size = params.bytes.len().max(8);
    let _ = writeln!(text, ".version 8.0\n.target sm_{capability}\n.address_size 64");
    let _ = writeln!(text, ".visible .entry k(.param .align 8 .b8 p[{size}])\n.reqntid {block}, 1, 1\n{{");
    if shared > 0 {
        let _ = writeln!(text, "\t.shared .align 16 .b8 sm[{shared}];");
    }
    text.push_str(&inner);
    text.push_str("\tret;\n}\n");
    Emitted { text, params, checks, grid, block, shared: 0, then: None }
}
