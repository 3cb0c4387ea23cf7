//! Launches of `kernels/attention.cu`.

use super::{Attention, AttentionKind, Sizes, wide};
use crate::cuda::library::args::Args;
use crate::cuda::library::copy::{fill, launch};
use crate::cuda::library::{Plan, Pointer};
use crate::library::{Shaped, Target};
use mg_device::{DType, Error, ErrorKind, Result};

/// Columns of a result that a block has, in blocks.
const CHUNKS: usize = 2;
/// Queries of a block that sums products of rows.
const WARPS: usize = 8;

/// Where the launches' addresses come from.
#[derive(Default)]
struct Places {
    out: Option<(Pointer, u64)>,
    keys: Option<(Pointer, u64)>,
    values: Option<(Pointer, u64)>,
    sums_out: Option<(Pointer, u64)>,
    means_out: Option<(Pointer, u64)>,
    y: Option<(Pointer, u64)>,
    g: Option<(Pointer, u64)>,
    sums: Option<(Pointer, u64)>,
    means: Option<(Pointer, u64)>,
}

pub(super) fn plan(attention: &Attention, s: &Sizes, operands: &[Shaped], _: Target) -> Result<Plan> {
    const OP: &str = "attention";
    let dtype = operands[0].dtype;
    let block = if dtype == DType::F64 { 32 } else { 64 };
    let threads = (block / 4 * (block / 4)) as u32;
    let (size, sum) = (dtype.size(), wide(dtype).size());
    let [_, begin, _] = attention.line(s, dtype);
    let [nq, nk, nv] = s.elements();
    let rows = s.rows();
    let mask_kind = match (attention.masked, operands.get(3)) {
        (true, Some(mask)) if mask.dtype == DType::Bool => 1,
        (true, Some(_)) => 2,
        _ => 0,
    };
    let most = [s.batch * s.heads.max(s.shared), s.queries, s.keys, s.width, s.depth].into_iter().max();
    if most.is_some_and(|n| n >= 1 << 31) {
        let text = format!("queries of {} and keys of {} are too many", operands[0].shape, operands[1].shape);
        return Err(Error::new(OP, ErrorKind::Shape(text)));
    }
    let args = |places: Places, blocks: usize, chunks: usize| {
        let mut args = Args::default();
        let input = |i: u8| Some((Pointer::Input(i), 0));
        args.pointer(places.out).pointer(places.keys).pointer(places.values);
        args.pointer(places.sums_out).pointer(places.means_out);
        args.pointer(input(0)).pointer(input(1)).pointer(input(2));
        args.pointer(if mask_kind > 0 { input(3) } else { None });
        args.pointer(places.y).pointer(places.g).pointer(places.sums).pointer(places.means);
        for step in s.mask {
            args.u64(step as u64);
        }
        args.u64(attention.scale);
        for n in [s.heads, s.shared, s.queries, s.keys, s.width, s.depth] {
            args.u32(n as u32);
        }
        args.u32(mask_kind).u32(attention.causal.into()).u32(blocks as u32).u32(chunks as u32);
        args.u64(rows as u64);
        args
    };
    let chunks = |columns: usize| columns.div_ceil(CHUNKS * block).max(1);
    let mut plan = Plan::default();
    let mut add = |part: &str, places: Places, heads: usize, length: usize, columns: usize| -> Result<()> {
        let (blocks, chunks) = (length.div_ceil(block), chunks(columns));
        let name = format!("attention_{part}_{}", dtype.name());
        let mut made = launch(OP, &name, heads * blocks * chunks, args(places, blocks, chunks))?;
        made.block = [threads, 1, 1];
        plan.launches.push(made);
        Ok(())
    };
    let output = |elements: usize| Some((Pointer::Output(0), (elements * size) as u64));
    match attention.kind {
        AttentionKind::Forward => {
            if rows > 0 {
                let places = Places { out: output(0), sums_out: output(begin), ..Places::default() };
                add("forward", places, s.batch * s.heads, s.queries, s.depth)?;
            }
            Ok(plan)
        }
        AttentionKind::Backward => {
            if rows * s.keys == 0 {
                return fill(size, nq + nk + nv, 0);
            }
            let lines = operands.len() as u8 - 2;
            let (y, g) = (Some((Pointer::Input(lines), 0)), Some((Pointer::Input(lines + 1), 0)));
            let sums = Some((Pointer::Input(lines), (begin * size) as u64));
            let means = Some((Pointer::Workspace, 0));
            let places = Places { means_out: means, y, g, ..Places::default() };
            let name = format!("attention_means_{}", dtype.name());
            let first = launch(OP, &name, rows.div_ceil(WARPS), args(places, 0, 0))?;
            let back = || Places { y, g, sums, means, ..Places::default() };
            add("dq", Places { out: output(0), ..back() }, s.batch * s.heads, s.queries, s.width)?;
            let places = Places { keys: output(nq), values: output(nq + nk), ..back() };
            add("dkv", places, s.batch * s.shared, s.keys, s.width.max(s.depth))?;
            plan.launches.insert(0, first);
            plan.workspace = rows * sum;
            Ok(plan)
        }
    }
}
