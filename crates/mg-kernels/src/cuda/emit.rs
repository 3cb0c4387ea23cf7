//! From a program to the text of a kernel: what the three forms share.

use super::body::{Body, Check};
use super::frame::{Frame, internal};
use super::params::{Field, Params};
use super::ptx::{self, Kind, Op, imm, imm64, ins, label, op2, op3, place, reg};
use super::reduce::{Acc, Reduction, across_block, shared_address};
use super::stage::Stage;
use super::values::store;
use super::{column, map, row};
use crate::program::{Class, Inst, Over, Program, Source};
use mg_device::{DType, Result};
use std::fmt::Write;

/// A kernel's text with all that a launch of it needs.
pub(crate) struct Emitted {
    pub(crate) text: String,
    pub(crate) params: Params,
    pub(crate) checks: Vec<Check>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: u32,
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

/// Bytes of the scratch memory that a kernel may use; its follow-ups have as many after them.
pub(crate) const SCRATCH: usize = 12 << 20;

/// Partial results that a thread of a last block loads.
const LOADS: u32 = 4;

/// The most blocks of `threads` whose full reductions one block joins.
pub(crate) const fn reach(threads: u32) -> usize {
    (LOADS * threads) as usize
}

/// The most blocks of `threads` that may have full reductions: the last block of each group joins those of the group, and
/// the last of these joins them all.
pub(crate) fn most_blocks(threads: u32, totals: usize) -> usize {
    (reach(threads) * reach(threads)).min(SCRATCH / (17 * totals.max(1)))
}

/// The scratch memory that their partial results take.
pub(crate) fn partial_bytes(blocks: usize, threads: u32, totals: usize) -> usize {
    (blocks + blocks.div_ceil(reach(threads))) * totals * 16
}

/// Writes the kernel for a program. `aligned`: addresses allow accesses of whole runs; `list`: see [`map::emit`].
pub(crate) fn emit(program: &Program, aligned: bool, list: bool, scratch: u32) -> Result<Emitted> {
    let frame = Frame::new(program)?;
    match Stage::new(program, &frame, list)? {
        Stage::Elements(stage) => map::emit(program, &frame, &stage, aligned, list),
        Stage::Rows(stage) => row::emit(program, &frame, &stage, aligned),
        Stage::Columns(stage) => column::emit(program, &frame, &stage, aligned, scratch),
    }
}

/// The size of the largest element that is read or written for each position.
pub(crate) fn widest(program: &Program, frame: &Frame) -> usize {
    let read = frame
        .inputs
        .iter()
        .filter(|i| i.class == Class::Full && i.source == Source::Buffer)
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
    program
        .values
        .iter()
        .zip(&frame.classes)
        .filter(|(_, class)| **class == Class::Full)
        .map(|(value, _)| {
            let double = if value.dtype == DType::F64 { 3 } else { 1 };
            double
                * match value.inst {
                    Inst::Map(row, _) => row.cost(),
                    Inst::Input(i) if frame.inputs[i as usize].source == Source::Random => 80,
                    Inst::Input(_) | Inst::Const(_) | Inst::Cast(_) | Inst::Reduce(..) | Inst::Guard(..) => 1,
                }
        })
        .sum()
}

/// The kernel's text around its body.
pub(crate) fn finish(body: Body, shared: u32, grid: [u32; 3], block: u32) -> Emitted {
    let Body { params, checks, .. } = body;
    let inner = ptx::end();
    let mut text = String::with_capacity(inner.len() + 256);
    let size = params.bytes.len().max(8);
    text.push_str(".version 8.0\n.target sm_75\n.address_size 64\n");
    let _ = writeln!(text, ".visible .entry k(.param .align 8 .b8 p[{size}])\n.reqntid {block}, 1, 1\n{{");
    if shared > 0 {
        let _ = writeln!(text, "\t.shared .align 16 .b8 sm[{shared}];");
    }
    text.push_str(&inner);
    text.push_str("\tret;\n}\n");
    Emitted { text, params, checks, grid, block, then: None }
}

/// A full reduction under way.
pub(crate) struct Total {
    pub(crate) value: usize,
    pub(crate) reduction: Reduction,
    pub(crate) acc: Acc,
}

pub(crate) use super::reduce::SHARED;

/// Accumulators for the program's full reductions.
pub(crate) fn start_totals(body: &Body) -> Vec<Total> {
    (0..body.program.values.len())
        .filter(|&v| matches!(body.program.values[v].inst, Inst::Reduce(_, Over::All, _)))
        .filter_map(|v| {
            let (reduction, _) = body.reduction(v, true)?;
            Some(Total { value: v, reduction, acc: reduction.start() })
        })
        .collect()
}

/// Joins the blocks' full reductions, and computes and writes what follows from them: the block that draws the last
/// ticket does, from all partial results in order. Code after this does not run in other blocks.
pub(crate) fn finish_totals(
    body: &mut Body,
    totals: Vec<Total>,
    blocks: u32,
    block: u32,
    shared: u32,
    tid: Op,
    cta: Op,
) -> Result<()> {
    let at_end: Vec<usize> = (0..body.program.outputs.len())
        .filter(|&o| {
            let (v, class) = body.program.outputs[o];
            body.class(v) == Class::Total || class == Class::Total
        })
        .collect();
    if totals.is_empty() && at_end.is_empty() {
        return Ok(());
    }
    let first = op2(Kind::P, "setp.eq.s32", tid, imm(0));
    let n = totals.len() as i64;
    let pairs = |accs: &[Acc]| -> Vec<(Reduction, Acc)> {
        totals.iter().zip(accs).map(|(t, acc)| (t.reduction, *acc)).collect()
    };
    let own: Vec<Acc> = totals.iter().map(|t| t.acc).collect();
    let mut joined = across_block(&pairs(&own), block, shared, tid);
    if blocks > 1 {
        let scratch = body.params.field(Field::Scratch(0));
        let tickets = body.params.field(Field::Tickets);
        let count = body.params.word(blocks);
        let flag = shared + n as u32 * SHARED;
        // Leaves what the block has at a place among others, and goes on with all of it in the last block to do so. Which
        // thread adds what in which order depends on the number of blocks alone.
        let join = |joined: &[Acc], from: Op, place: Op, count: Op, ticket: Op, loads: u32| {
            let mine = op3(Kind::D, "mad.wide.u32", place, imm(n * 16), from);
            for (r, (t, acc)) in totals.iter().zip(joined).enumerate() {
                let at = op2(Kind::D, "add.s64", mine, imm64(r as i64 * 16));
                t.reduction.store_global(*acc, at, Some(first));
            }
            let last = op2(Kind::R, "sub.u32", count, imm(1));
            leave_unless_last(ticket, last, first, flag, Some(first));
            let mut loaded: Vec<Vec<Acc>> = totals.iter().map(|_| vec![]).collect();
            for u in 0..loads {
                let at = op2(Kind::R, "add.s32", tid, imm((u * block) as i64));
                let p = op2(Kind::P, "setp.lt.u32", at, count);
                let at = op3(Kind::D, "mad.wide.u32", at, imm(n * 16), from);
                for (r, t) in totals.iter().enumerate() {
                    let at = op2(Kind::D, "add.s64", at, imm64(r as i64 * 16));
                    loaded[r].push(t.reduction.load_global(at, p));
                }
            }
            let accs: Vec<Acc> =
                totals.iter().zip(loaded).filter_map(|(t, all)| t.reduction.tree(all)).collect();
            ins!("bar.sync 0");
            across_block(&pairs(&accs), block, shared, tid)
        };
        let reach = reach(block) as u32;
        if blocks <= reach {
            joined = join(&joined, scratch, cta, count, tickets, if blocks <= block { 1 } else { LOADS });
        } else {
            let groups = blocks.div_ceil(reach);
            let group = op2(Kind::R, "div.u32", cta, imm(reach as i64));
            let before = op2(Kind::R, "mul.lo.u32", group, imm(reach as i64));
            let place = op2(Kind::R, "sub.u32", cta, before);
            let left = op2(Kind::R, "sub.u32", count, before);
            let members = op2(Kind::R, "min.u32", left, imm(reach as i64));
            let from = op3(Kind::D, "mad.wide.u32", before, imm(n * 16), scratch);
            let ticket = op3(Kind::D, "mad.wide.u32", group, imm(4), tickets);
            let ticket = op2(Kind::D, "add.s64", ticket, imm64(4));
            joined = join(&joined, from, place, members, ticket, LOADS);
            let all = body.params.word(groups);
            let from = op3(Kind::D, "mad.wide.u32", count, imm(n * 16), scratch);
            joined = join(&joined, from, group, all, tickets, if groups <= block { 1 } else { LOADS });
        }
    }
    let others = label();
    let not_first = op2(Kind::P, "setp.ne.s32", tid, imm(0));
    ins!("@{not_first} bra L{others}");
    for (t, acc) in totals.iter().zip(joined) {
        let dtype = body.program.values[t.value].dtype;
        body.total[t.value] = Some(t.reduction.finish(acc, dtype)?);
    }
    body.totals()?;
    for o in at_end {
        let (v, class) = body.program.outputs[o];
        let elements = body.frame.rows * body.frame.columns;
        if class == Class::Full && elements > 1 {
            return Err(internal("a full reduction written to every element"));
        }
        let value = body.total[v as usize]
            .or(body.uniform[v as usize])
            .ok_or_else(|| internal("a result that is not known at the end"))?;
        let at = body.output(o);
        let dtype = body.dtype(v);
        if class != Class::Full || elements > 0 {
            store(dtype, at, 0, value, None);
        }
    }
    place(others);
    Ok(())
}

/// All but the block that draws the last ticket end here; what others wrote before is seen by that one.
/// `writer` is the thread that alone wrote what that one reads, which is `first`, if there is one.
pub(crate) fn leave_unless_last(ticket: Op, last: Op, first: Op, shared: u32, writer: Option<Op>) {
    let old = reg(Kind::R);
    // What was written is there before the block's ticket is drawn.
    match writer {
        Some(writer) => ins!("@{writer} membar.gl"),
        None => {
            ins!("membar.gl");
            ins!("bar.sync 0");
        }
    }
    // Back at zero after the last.
    ins!("@{first} atom.global.inc.u32 {old}, [{ticket}], {last}");
    let flag = shared_address(shared);
    ins!("@{first} st.shared.b32 [{flag}], {old}");
    ins!("bar.sync 0");
    let seen = reg(Kind::R);
    ins!("ld.shared.b32 {seen}, [{flag}]");
    let p = op2(Kind::P, "setp.ne.s32", seen, last);
    ins!("@{p} ret");
    ins!("membar.gl");
}
