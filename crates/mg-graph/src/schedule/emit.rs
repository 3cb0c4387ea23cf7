//! Writing a group down as a program.

use super::Graph;
use super::group::{Embed, Group, Member, Split, is_total, kind_of, over, read_strides};
use super::path::{Path, PlaceId};
use crate::engine::internal;
use crate::hash::Table;
use crate::op::{Map, Op, SourceKind};
use crate::plan::{Bind, Check, ConstBind, Loc};
use mg_device::{DType, Layout, MAX_RANK, Result};
use mg_kernels::{Class, Inst, Operand, Over, Program, Source, Val, Value};

/// A group as a program, with what its launch binds.
pub(crate) struct Emitted {
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Bind>,
    pub(crate) consts: Vec<ConstBind>,
    /// The node of each output.
    pub(crate) outputs: Vec<usize>,
    /// Its values that check something, with the nodes that they stand for.
    pub(crate) checks: Vec<Check>,
    /// For each operand, whether its elements lie exactly as a dense output's do.
    pub(crate) dense: Vec<bool>,
}

struct Emitter<'a> {
    graph: &'a Graph<'a>,
    group: &'a Group,
    order: smallvec::SmallVec<[usize; 8]>,
    out: Emitted,
    memo: Table<(usize, PlaceId, Embed), Val>,
    values: Table<Value, Val>,
    binds: Table<(Loc, isize, Operand), u16>,
    consts: Table<ConstBind, u16>,
    /// Values of members, by node.
    members: Table<usize, Val>,
    /// A matrix product whose results the program reads as they are made.
    product: Option<usize>,
}

/// Writes a group's program. `product` is the matrix product that it is the epilogue of; `leaves` says which members
/// somebody reads afterwards.
pub(crate) fn emit(
    graph: &Graph,
    group: &Group,
    product: Option<usize>,
    leaves: impl Fn(usize) -> bool,
) -> Result<Emitted> {
    let (order, [batch, outer, _]) = group.order(graph);
    let program = Program {
        space: order.iter().map(|&d| group.space[d]).collect(),
        batch,
        outer,
        ..Program::default()
    };
    let out =
        Emitted { program, inputs: vec![], consts: vec![], outputs: vec![], checks: vec![], dense: vec![] };
    let mut emitter = Emitter {
        graph,
        group,
        order,
        out,
        memo: Table::default(),
        values: Table::default(),
        binds: Table::default(),
        consts: Table::default(),
        members: Table::default(),
        product,
    };
    for member in &group.members {
        let v = emitter.member(member)?;
        emitter.members.insert(member.node, v);
    }
    for member in group.members.iter().filter(|m| leaves(m.node)) {
        let v = emitter.members[&member.node];
        let class = if is_total(graph, member) {
            Class::Total
        } else if kind_of(graph, member.node).is_some() {
            if over(graph, member) == Over::Inner { Class::Row } else { Class::Column }
        } else if member.embed == Embed::Rows {
            Class::Row
        } else {
            Class::Full
        };
        emitter.out.program.outputs.push((v, class));
        emitter.out.outputs.push(member.node);
    }
    Ok(emitter.out)
}

impl Emitter<'_> {
    fn member(&mut self, member: &Member) -> Result<Val> {
        let graph = self.graph;
        let node = member.node;
        let starts = graph.starts(node);
        if let Some(kind) = kind_of(graph, node) {
            let arg = self.expression(starts[0].0, starts[0].1.clone(), member.embed, None)?;
            let inst = Inst::Reduce(kind, over(graph, member), arg);
            return self.push(Value { inst, dtype: graph.nodes[node].dtype });
        }
        match graph.nodes[node].op {
            Op::Map(map) if !graph.known[node] => {
                let mut args = smallvec::SmallVec::<[Val; 3]>::new();
                for (s, path) in starts {
                    args.push(self.expression(s, path, member.embed, None)?);
                }
                self.map(node, map, &args)
            }
            // A copy: of a view, of what is known, of an argument.
            Op::Map(_) | Op::Source(_) | Op::View(_) | Op::Reduce(..) | Op::Kernel(_) => {
                self.expression(starts[0].0, starts[0].1.clone(), member.embed, Some(node))
            }
        }
    }

    /// The value of `node` as it is met through `path`. `itself` is the anchor that is being computed: where it is also
    /// what is read, the original is meant.
    fn expression(
        &mut self,
        node: usize,
        mut path: Path,
        embed: Embed,
        itself: Option<usize>,
    ) -> Result<Val> {
        let graph = self.graph;
        let node = if itself == Some(node) { node } else { graph.strip(node, &mut path) };
        let path = &path;
        let key = (node, graph.place(node, path), embed);
        if let Some(&v) = self.memo.get(&key) {
            return Ok(v);
        }
        let inner = graph.nodes[node];
        let stored = graph.stored[node] && itself != Some(node);
        let v = if stored && self.members.contains_key(&node) {
            self.members[&node]
        } else if stored {
            let loc = if self.product == Some(node) { Loc::Product } else { Loc::Stored(node) };
            self.input(loc, Source::Buffer, inner.dtype, graph.stored_layout(node), path, embed)?
        } else if graph.known[node] {
            let layout = graph.layout_of_original(node);
            self.input(Loc::Node(node), Source::Buffer, inner.dtype, layout, path, embed)?
        } else {
            match &inner.op {
                Op::Source(kind @ (SourceKind::Const { .. } | SourceKind::Live { .. })) => {
                    let bind = match kind {
                        SourceKind::Const { bits, literal: true } => ConstBind::Literal(*bits),
                        SourceKind::Const { .. }
                        | SourceKind::Live { .. }
                        | SourceKind::Data
                        | SourceKind::Ramp
                        | SourceKind::Random { .. } => ConstBind::Node(node),
                    };
                    let c = self.constant(bind);
                    self.push(Value { inst: Inst::Const(c), dtype: inner.dtype })?
                }
                Op::Source(SourceKind::Data) => return Err(internal("data that has no value")),
                Op::Source(kind @ (SourceKind::Ramp | SourceKind::Random { .. })) => {
                    let source = match kind {
                        SourceKind::Random { law, .. } => Source::Random(*law),
                        SourceKind::Ramp
                        | SourceKind::Data
                        | SourceKind::Const { .. }
                        | SourceKind::Live { .. } => Source::Index,
                    };
                    self.input(
                        Loc::Node(node),
                        source,
                        inner.dtype,
                        Layout::contiguous(inner.shape),
                        path,
                        embed,
                    )?
                }
                Op::Map(map) => {
                    let mut args = smallvec::SmallVec::<[Val; 3]>::new();
                    for &s in &graph.sources[node] {
                        let below = graph.below(node, s, path);
                        args.push(self.expression(s, below, embed, None)?);
                    }
                    self.map(node, *map, &args)?
                }
                _ => return Err(internal(format!("{} has no memory to be read from", inner.op.name()))),
            }
        };
        self.memo.insert(key, v);
        Ok(v)
    }

    fn map(&mut self, node: usize, map: Map, args: &[Val]) -> Result<Val> {
        let inner = self.graph.nodes[node];
        let mut checks = matches!(map, Map::Guard { .. });
        let inst = match map {
            Map::Row(row) => {
                checks = row.refuses_zero(inner.dtype);
                let mut operands = [args[0]; 3];
                operands[..args.len()].copy_from_slice(args);
                Inst::Map(row, operands)
            }
            Map::Cast => Inst::Cast(args[0]),
            Map::Copy { .. } => return Ok(args[0]),
            Map::Guard { size, .. } => {
                let c = self.constant(ConstBind::Literal(size as u64));
                Inst::Guard(args[0], c)
            }
        };
        let value = self.push(Value { inst, dtype: inner.dtype })?;
        if checks && self.out.checks.iter().all(|c| c.value != value) {
            self.out.checks.push(Check { value, node });
        }
        Ok(value)
    }

    fn push(&mut self, value: Value) -> Result<Val> {
        if let Some(&v) = self.values.get(&value) {
            return Ok(v);
        }
        let v = Val::try_from(self.out.program.values.len())
            .map_err(|_| internal("a program of too many values"))?;
        self.out.program.values.push(value);
        self.values.insert(value, v);
        Ok(v)
    }

    fn constant(&mut self, bind: ConstBind) -> u16 {
        let next = self.out.consts.len() as u16;
        let c = *self.consts.entry(bind).or_insert(next);
        if c == next {
            self.out.consts.push(bind);
        }
        c
    }

    fn input(
        &mut self,
        loc: Loc,
        source: Source,
        dtype: DType,
        layout: Layout,
        path: &Path,
        embed: Embed,
    ) -> Result<Val> {
        let rank = self.group.space.len();
        let (natural, offset) = read_strides(self.graph, layout, path, embed, self.group.split, rank)
            .ok_or_else(|| internal("a read that its program's space does not reach"))?;
        let mut strides = [0isize; MAX_RANK];
        for (i, &d) in self.order.iter().enumerate() {
            strides[i] = natural[d];
        }
        let operand = Operand { source, dtype, strides };
        let delta = offset as isize - layout.offset() as isize;
        let next = self.out.inputs.len() as u16;
        let index = *self.binds.entry((loc, delta, operand)).or_insert(next);
        if index == next {
            self.out.inputs.push(Bind { loc, delta });
            self.out.program.inputs.push(operand);
            let mut stride = 1isize;
            let mut dense = source == Source::Buffer && matches!(self.group.split, Split::None | Split::All);
            for d in (0..rank).rev() {
                dense &= self.out.program.space[d] == 1 || strides[d] == stride;
                stride *= self.out.program.space[d] as isize;
            }
            self.out.dense.push(dense && delta == 0);
        }
        self.push(Value { inst: Inst::Input(index), dtype })
    }
}
