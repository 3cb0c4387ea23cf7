//! Full reductions: which blocks join whose partial results, and the text that does.

use super::body::Body;
use super::emit::SCRATCH;
use super::params::Field;
use super::ptx::{Kind, Op, imm, imm64, ins, label, op2, op3, place, reg};
use super::reduce::{Acc, Reduction, SHARED, across_block, shared_address};
use super::values::store;
use crate::frame::internal;
use crate::program::{Class, Inst, Over};
use mg_device::Result;

/// Partial results that a thread of a last block loads.
const LOADS: u32 = 4;
/// Bytes of one.
const PARTIAL: usize = 16;

/// The most blocks of `threads` whose full reductions one block joins.
pub(crate) const fn reach(threads: u32) -> usize {
    (LOADS * threads) as usize
}

/// The most blocks of `threads` that may have full reductions: the last block of each group joins those of the group, and
/// the last of these joins them all.
pub(crate) fn most_blocks(threads: u32, totals: usize) -> usize {
    (reach(threads) * reach(threads)).min(SCRATCH / ((PARTIAL + 1) * totals.max(1)))
}

/// The scratch memory that their partial results take.
pub(crate) fn partial_bytes(blocks: usize, threads: u32, totals: usize) -> usize {
    (blocks + blocks.div_ceil(reach(threads))) * totals * PARTIAL
}

/// Who joins the partial results of blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Joins {
    /// There is one block.
    None,
    /// The last of all blocks; each of its threads loads so many.
    Once { loads: u32 },
    /// The last of each group, `LOADS` a thread, and the last of those so many.
    Twice { group: u32, groups: u32, loads: u32 },
}

impl Joins {
    pub(crate) fn new(blocks: u32, threads: u32) -> Joins {
        let loads = |results: u32| if results <= threads { 1 } else { LOADS };
        let reach = reach(threads) as u32;
        match blocks {
            0 | 1 => Joins::None,
            _ if blocks <= reach => Joins::Once { loads: loads(blocks) },
            _ => {
                let groups = blocks.div_ceil(reach);
                Joins::Twice { group: reach, groups, loads: loads(groups) }
            }
        }
    }
}

/// A full reduction under way.
pub(crate) struct Total {
    pub(crate) value: usize,
    pub(crate) reduction: Reduction,
    pub(crate) acc: Acc,
}

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

/// The threads and the shared memory with which blocks join what they have.
pub(crate) struct Block {
    pub(crate) threads: u32,
    /// Where in shared memory there is room for a block's accumulators.
    pub(crate) shared: u32,
    pub(crate) tid: Op,
    pub(crate) cta: Op,
}

/// Joins the blocks' full reductions, and computes and writes what follows from them: the block that draws the last
/// ticket does, from all partial results in order. Code after this does not run in other blocks.
pub(crate) fn finish_totals(body: &mut Body, totals: Vec<Total>, blocks: u32, block: &Block) -> Result<()> {
    let at_end: Vec<usize> = (0..body.program.outputs.len())
        .filter(|&o| {
            let (v, class) = body.program.outputs[o];
            body.class(v) == Class::Total || class == Class::Total
        })
        .collect();
    if totals.is_empty() && at_end.is_empty() {
        return Ok(());
    }
    let joined = join_blocks(body, &totals, blocks, block);
    let others = label();
    let not_first = op2(Kind::P, "setp.ne.s32", block.tid, imm(0));
    ins!("@{not_first} bra L{others}");
    for (t, acc) in totals.iter().zip(joined) {
        let dtype = body.program.values[t.value].dtype;
        body.total[t.value] = Some(t.reduction.finish(acc, dtype)?);
    }
    body.totals()?;
    at_end.into_iter().try_for_each(|o| write_result(body, o))?;
    place(others);
    Ok(())
}

/// Writes a result that is known at the end.
fn write_result(body: &mut Body, o: usize) -> Result<()> {
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
    Ok(())
}

/// What all blocks have, in the last of them.
fn join_blocks(body: &mut Body, totals: &[Total], blocks: u32, block: &Block) -> Vec<Acc> {
    let first = op2(Kind::P, "setp.eq.s32", block.tid, imm(0));
    let own: Vec<Acc> = totals.iter().map(|t| t.acc).collect();
    let joined = across_block(&pairs(totals, &own), block.threads, block.shared, block.tid);
    let joins = Joins::new(blocks, block.threads);
    if joins == Joins::None {
        return joined;
    }
    let scratch = body.params.field(Field::Scratch(0));
    let tickets = body.params.field(Field::Tickets);
    let count = body.params.word(blocks);
    let bytes = (totals.len() * PARTIAL) as i64;
    match joins {
        Joins::None => joined,
        Joins::Once { loads } => {
            let all = Among { from: scratch, place: block.cta, count, ticket: tickets, loads };
            all.join(totals, &joined, first, block)
        }
        Joins::Twice { group: size, groups, loads } => {
            let size = imm(size.into());
            let group = op2(Kind::R, "div.u32", block.cta, size);
            let before = op2(Kind::R, "mul.lo.u32", group, size);
            let place = op2(Kind::R, "sub.u32", block.cta, before);
            let left = op2(Kind::R, "sub.u32", count, before);
            let members = op2(Kind::R, "min.u32", left, size);
            let from = op3(Kind::D, "mad.wide.u32", before, imm(bytes), scratch);
            let ticket = op3(Kind::D, "mad.wide.u32", group, imm(4), tickets);
            let ticket = op2(Kind::D, "add.s64", ticket, imm64(4));
            let own = Among { from, place, count: members, ticket, loads: LOADS };
            let joined = own.join(totals, &joined, first, block);
            let all = body.params.word(groups);
            let from = op3(Kind::D, "mad.wide.u32", count, imm(bytes), scratch);
            Among { from, place: group, count: all, ticket: tickets, loads }
                .join(totals, &joined, first, block)
        }
    }
}

fn pairs(totals: &[Total], accs: &[Acc]) -> Vec<(Reduction, Acc)> {
    totals.iter().zip(accs).map(|(t, acc)| (t.reduction, *acc)).collect()
}

/// Blocks that leave partial results beside each other.
struct Among {
    from: Op,
    /// Which of them this block is.
    place: Op,
    count: Op,
    /// Where they draw tickets.
    ticket: Op,
    /// Partial results that a thread of the last one loads.
    loads: u32,
}

impl Among {
    /// Leaves what the block has at a place among others, and goes on with all of it in the last block to do so. Which
    /// thread adds what in which order depends on the number of blocks alone.
    fn join(&self, totals: &[Total], joined: &[Acc], first: Op, block: &Block) -> Vec<Acc> {
        let bytes = imm((totals.len() * PARTIAL) as i64);
        let place_of = |r: usize| imm64((r * PARTIAL) as i64);
        let mine = op3(Kind::D, "mad.wide.u32", self.place, bytes, self.from);
        for (r, (t, acc)) in totals.iter().zip(joined).enumerate() {
            let at = op2(Kind::D, "add.s64", mine, place_of(r));
            t.reduction.store_global(*acc, at, Some(first));
        }
        let last = op2(Kind::R, "sub.u32", self.count, imm(1));
        let flag = block.shared + totals.len() as u32 * SHARED;
        leave_unless_last(self.ticket, last, first, flag, Wrote::First);
        let mut loaded: Vec<Vec<Acc>> = totals.iter().map(|_| vec![]).collect();
        for u in 0..self.loads {
            let at = op2(Kind::R, "add.s32", block.tid, imm((u * block.threads) as i64));
            let p = op2(Kind::P, "setp.lt.u32", at, self.count);
            let at = op3(Kind::D, "mad.wide.u32", at, bytes, self.from);
            for (r, t) in totals.iter().enumerate() {
                let at = op2(Kind::D, "add.s64", at, place_of(r));
                loaded[r].push(t.reduction.load_global(at, p));
            }
        }
        let accs: Vec<Acc> = totals.iter().zip(loaded).filter_map(|(t, all)| t.reduction.tree(all)).collect();
        ins!("bar.sync 0");
        across_block(&pairs(totals, &accs), block.threads, block.shared, block.tid)
    }
}

/// The threads that wrote what the block with the last ticket reads.
#[derive(Clone, Copy)]
pub(crate) enum Wrote {
    /// The one that draws the block's ticket.
    First,
    /// Several.
    Many,
}

/// All but the block that draws the last ticket end here; what others wrote before is seen by that one.
pub(crate) fn leave_unless_last(ticket: Op, last: Op, first: Op, shared: u32, wrote: Wrote) {
    let old = reg(Kind::R);
    // What was written is there before the block's ticket is drawn: a fence counts for what a barrier has shown its thread, too (PTX ISA,
    // "Memory Consistency Model", causality order).
    match wrote {
        Wrote::First => {}
        Wrote::Many => ins!("bar.sync 0"),
    }
    ins!("@{first} fence.acq_rel.gpu");
    // Back at zero after the last.
    ins!("@{first} atom.global.inc.u32 {old}, [{ticket}], {last}");
    ins!("@{first} fence.acq_rel.gpu");
    let flag = shared_address(shared);
    ins!("@{first} st.shared.b32 [{flag}], {old}");
    ins!("bar.sync 0");
    let seen = reg(Kind::R);
    ins!("ld.shared.b32 {seen}, [{flag}]");
    let p = op2(Kind::P, "setp.ne.s32", seen, last);
    ins!("@{p} ret");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_partial_results_are_loaded_once_and_have_room() {
        for threads in [128, 256, 512, 1024] {
            let most = most_blocks(threads, 1) as u32;
            for blocks in [1, 2, threads, threads + 1, 4 * threads, 4 * threads + 1, 5000, most] {
                let room = match Joins::new(blocks, threads) {
                    Joins::None => {
                        assert_eq!(blocks, 1);
                        continue;
                    }
                    Joins::Once { loads } => {
                        assert!(blocks <= loads * threads);
                        blocks
                    }
                    Joins::Twice { group, groups, loads } => {
                        assert!(group <= LOADS * threads && groups <= loads * threads);
                        assert!((groups - 1) * group < blocks && groups * group >= blocks);
                        blocks + groups
                    }
                };
                let bytes = partial_bytes(blocks as usize, threads, 1);
                assert!(room as usize * PARTIAL <= bytes && bytes <= SCRATCH, "{blocks} of {threads}");
            }
        }
    }
}
