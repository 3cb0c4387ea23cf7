//! From groups to launches: what each does, where its results lie, and whose memory they take over.

use super::Graph;
use super::checks::{Fallible, fail_together, output_depends};
use super::emit::{Emitted, emit};
use super::group::{Group, Groups, kind_of};
use super::memory::{is_wanted, operand};
use super::path::Path;
use super::store::Alias;
use crate::engine::internal;
use crate::hash::Table;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::plan::{
    Action, Bind, Call, Coded, Copies, CopyPart, KernelArg, Launch, Loc, Plan, ProgramLaunch, Slot,
};
use mg_device::{Buffer, Device, Layout, Result, Shape};
use mg_kernels::library::lies_innermost;
use mg_kernels::{Class, Inst, Over, Source};

/// A plan under construction, launch by launch.
pub(super) struct Lowering<'a> {
    graph: &'a Graph<'a>,
    groups: &'a Groups,
    /// When each stored node is read for the last time, by position in the order.
    last_read: Table<usize, usize>,
    /// What views are taken of that leave the plan.
    aliased: Vec<usize>,
    /// What may turn out to have no value, because a check refuses what it is computed from.
    pub(super) fallible: Fallible,
    /// Where each stored node lies.
    pub(super) slot_of: Table<usize, usize>,
    pub(super) plan: Plan,
}

/// The launch that is being made.
#[derive(Clone, Copy)]
struct Turn<'a> {
    group: &'a Group,
    id: usize,
    /// Its position in the order.
    at: usize,
    bit: u64,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        graph: &'a Graph<'a>,
        groups: &'a Groups,
        order: &[usize],
        aliases: &[Alias],
    ) -> Lowering<'a> {
        let mut last_read: Table<usize, usize> = Table::default();
        for (at, &id) in order.iter().enumerate() {
            for &input in groups.inputs(id).iter() {
                last_read.insert(input, at);
            }
        }
        Lowering {
            graph,
            groups,
            last_read,
            aliased: aliases.iter().map(|a| a.base).collect(),
            fallible: Fallible::default(),
            slot_of: Table::default(),
            plan: Plan { key: graph.collected.words.clone(), ..Plan::default() },
        }
    }

    /// Appends the launch of a group, which is at this position of the order.
    pub(super) fn launch(&mut self, at: usize, id: usize) -> Result<()> {
        let Some(group) = &self.groups.list[id] else { return Ok(()) };
        // Of more launches than there are bits some share one.
        let turn = Turn { group, id, at, bit: 1u64 << (at % 64) };
        let launch = if group.is_kernel { self.kernel(turn)? } else { self.elements(turn)? };
        self.plan.launches.push(launch);
        Ok(())
    }

    /// A launch of a kernel that is no program.
    fn kernel(&mut self, turn: Turn) -> Result<Launch> {
        let graph = self.graph;
        let node = turn.group.members[0].node;
        let epilogue = match &turn.group.epilogue {
            Some(epilogue) => Some(self.epilogue(epilogue, node, turn)?),
            None => None,
        };
        let raw = epilogue.is_none() || self.leaves(node, turn);
        let Op::Kernel(kernel) = &graph.nodes[node].op else {
            return Err(internal("a kernel that is none"));
        };
        let own = if kernel.is_checked() { turn.bit } else { 0 };
        self.fallible.add(node, own | self.fallible.all(&self.groups.inputs(turn.id)));
        // On CUDA the epilogue may become a launch of its own.
        let (output, in_place) = match raw || graph.nodes[node].device.is_cuda() {
            true => self.result(node, kernel, turn)?,
            false => (None, false),
        };
        let mut args = vec![];
        for &s in &graph.sources[node] {
            args.push(operand(graph, s)?);
        }
        let action = action(graph, node, kernel, Planned { args, output, raw, in_place, epilogue })?;
        Ok(launched(graph, node, kernel.name(), action, turn.bit))
    }

    /// The elementwise work that a matrix product does before the store.
    fn epilogue(&mut self, epilogue: &Group, node: usize, turn: Turn) -> Result<ProgramLaunch> {
        let graph = self.graph;
        // The product still reads its operands when the first panel's epilogue writes.
        let operands = graph.sources[node].iter().map(|&s| graph.strip(s, &mut Path::new()));
        let operands: Vec<usize> = operands.collect();
        let emitted = emit(graph, epilogue, Some(node), |n| self.leaves(n, turn))?;
        self.fallible.add(node, self.fallible.all(&self.groups.inputs(turn.id)));
        self.program(emitted, turn, Some(node), &operands)
    }

    /// Where a kernel's result lies, and whether that is where one of its operands did.
    fn result(&mut self, node: usize, kernel: &Kernel, turn: Turn) -> Result<(Option<usize>, bool)> {
        let over = self.overwritten(node, kernel, turn);
        let slot = match over {
            Some(Loc::Stored(base)) => {
                // Nobody reads the base again: what is written to it is all that lies there from now on.
                let slot = self.slot_of[&base];
                self.slot_of.insert(node, slot);
                self.plan.slots[slot].shape = self.graph.nodes[node].shape;
                slot
            }
            Some(Loc::Node(base)) => self.slot(node, Some(base))?,
            Some(Loc::Slot(_) | Loc::Product) | None => self.slot(node, None)?,
        };
        Ok((Some(slot), over.is_some()))
    }

    /// A launch of a program, or of a copy where that is all it does.
    fn elements(&mut self, turn: Turn) -> Result<Launch> {
        let graph = self.graph;
        let emitted = emit(graph, turn.group, None, |n| self.leaves(n, turn))?;
        let last = turn.group.members.last().map_or(0, |m| m.node);
        let action = match copy_of(graph, &emitted)? {
            Some(from) => {
                let output = self.slot(last, None)?;
                let to = Layout::contiguous(*from.layout.shape());
                let parts = vec![CopyPart { from, to }];
                Action::Copies(Copies { parts, zeros: false, in_place: false, output })
            }
            None => Action::Program(self.program(emitted, turn, None, &[])?),
        };
        Ok(launched(graph, last, graph.nodes[last].op.name(), action, turn.bit))
    }

    /// What a launch does with a program. `product` is the matrix product that it is the epilogue of, `beside` what that reads while the
    /// program writes.
    fn program(
        &mut self,
        emitted: Emitted,
        turn: Turn,
        product: Option<usize>,
        beside: &[usize],
    ) -> Result<ProgramLaunch> {
        let depends: Vec<u64> = emitted.inputs.iter().map(|bind| self.depends(bind, product)).collect();
        // What is overwritten is gone, and must not be for the sake of a value that there is not.
        let may = emitted.checks.is_empty() && fail_together(&emitted.program, |i| depends[i] != 0);
        let of_outputs = output_depends(&emitted.program, |i| depends[i], &emitted.checks, turn.bit);
        for (&node, bits) in emitted.outputs.iter().zip(of_outputs) {
            self.fallible.add(node, bits);
        }
        let mut donors =
            Donors { emitted: &emitted, at: turn.at, beside, donated: vec![None; depends.len()] };
        let mut slots = vec![];
        for (output, &node) in emitted.outputs.iter().enumerate() {
            let donor = if may { self.donor(&donors, output, node) } else { None };
            if let Some(i) = donor {
                donors.donated[i] = Some(output);
            }
            let from = donor.and_then(|i| match emitted.inputs[i].loc {
                Loc::Node(source) => Some(source),
                Loc::Stored(_) | Loc::Slot(_) | Loc::Product => None,
            });
            slots.push(self.slot(node, from)?);
        }
        let donated = donors.donated;
        let Emitted { program, inputs, consts, outputs, checks, .. } = emitted;
        let device = outputs.first().map_or(Device::cpu(), |&node| self.graph.nodes[node].device);
        let coded = Coded::of(program, donated, device)?;
        Ok(ProgramLaunch { coded, inputs, consts, outputs: slots, checks })
    }

    /// The launches whose checks may refuse what an operand is computed from.
    fn depends(&self, bind: &Bind, product: Option<usize>) -> u64 {
        match bind.loc {
            Loc::Stored(node) | Loc::Node(node) => self.fallible.of(node),
            Loc::Product => product.map_or(0, |node| self.fallible.of(node)),
            Loc::Slot(_) => 0,
        }
    }

    /// The operand of a program that gives its memory to an output.
    fn donor(&self, donors: &Donors, output: usize, node: usize) -> Option<usize> {
        let Emitted { program, inputs, .. } = donors.emitted;
        let full = program.outputs.get(output).is_some_and(|o| o.1 == Class::Full);
        let may = |i: &usize| full && donors.donated[*i].is_none() && self.fits(donors, *i, node);
        let replaces = |i: &usize| match inputs[*i].loc {
            Loc::Node(source) => replaced_by(self.graph, source).map(|by| by == node),
            Loc::Stored(_) | Loc::Slot(_) | Loc::Product => None,
        };
        // A tensor's own memory first. Another's is not there to go back to, should a CUDA device refuse something.
        let on_cpu = self.graph.nodes[node].device.is_cpu();
        let own = (0..inputs.len()).find(|i| may(i) && replaces(i) == Some(true));
        let or_other = |i: &usize| may(i) && (on_cpu || replaces(i) != Some(false));
        own.or_else(|| (0..inputs.len()).find(or_other))
    }

    /// Whether an operand lies densely, has the size of an output, and is read by nobody afterwards.
    fn fits(&self, donors: &Donors, i: usize, node: usize) -> bool {
        let graph = self.graph;
        let Emitted { program, inputs, dense, .. } = donors.emitted;
        let Loc::Node(source) = inputs[i].loc else { return false };
        let (inner, donor) = (graph.nodes[node], graph.nodes[source]);
        let once = inputs.iter().filter(|b| b.loc == inputs[i].loc).count() == 1;
        let is_total = |v: &mg_kernels::Value| matches!(v.inst, Inst::Reduce(_, Over::All, _));
        dense[i]
            && once
            && kind_of(graph, node).is_none()
            && graph.collected.info[source].dies
            && !graph.kept[source]
            && donor.dtype == inner.dtype
            && donor.shape.numel() == inner.shape.numel()
            && self.is_last_reader(source, donors.at, donors.beside)
            && self.lies_as(source, node)
            && !(inner.shape.numel() == 1 && program.values.iter().any(is_total))
    }

    /// Whether a known value lies without gaps as a result will.
    fn lies_as(&self, source: usize, node: usize) -> bool {
        let layout = self.graph.layout_of(source);
        if self.graph.innermost[node] { lies_innermost(&layout) } else { layout.is_contiguous() }
    }

    /// The value that a kernel's result is written over, where nobody wants that any more: one that is written to in parts keeps all
    /// other elements, and they need not be copied.
    fn overwritten(&self, node: usize, kernel: &Kernel, turn: Turn) -> Option<Loc> {
        let graph = self.graph;
        let sources = &graph.sources[node];
        let over = match kernel {
            Kernel::Write { .. } => 1,
            Kernel::Library(library) => library.overwrites()?,
            Kernel::Concat { .. } | Kernel::Transfer => return None,
        };
        let mut path = Path::new();
        let base = graph.strip(*sources.get(over)?, &mut path);
        // All of it, in its order, whatever its shape.
        let (own, inner) = (graph.layout_of(base), graph.nodes[node]);
        let end = graph.follow(own, &path).ok()?;
        let is_whole = end.is_contiguous()
            && end.offset() == own.offset()
            && graph.nodes[base].shape.numel() == inner.shape.numel()
            && graph.nodes[base].dtype == inner.dtype;
        // What is written must not be read from under the hand that writes.
        let is_read =
            sources.iter().enumerate().any(|(i, &s)| i != over && graph.strip(s, &mut Path::new()) == base);
        if !is_whole || is_read || !self.is_last_reader(base, turn.at, &[]) {
            return None;
        }
        if graph.stored[base] {
            let free =
                !self.leaves(base, turn) && !is_wanted(graph, base) && self.slot_of.contains_key(&base);
            return free.then_some(Loc::Stored(base));
        }
        let dies = graph.known[base]
            && graph.collected.info[base].dies
            && !graph.kept[base]
            && graph.layout_of(base).is_contiguous();
        dies.then_some(Loc::Node(base))
    }

    /// Whether somebody reads a value of the launch afterwards, or has asked for it.
    fn leaves(&self, node: usize, turn: Turn) -> bool {
        is_wanted(self.graph, node)
            || self.aliased.contains(&node)
            || self.groups.is_read_beside(node, turn.id)
    }

    /// Whether nobody reads a value after the launch at a position, nor, as it does with what stands `beside`, while that writes.
    fn is_last_reader(&self, node: usize, at: usize, beside: &[usize]) -> bool {
        self.last_read.get(&node) == Some(&at) && !beside.contains(&node) && !self.aliased.contains(&node)
    }

    /// A new slot for a node's value.
    fn slot(&mut self, node: usize, donor: Option<usize>) -> Result<usize> {
        let inner = self.graph.nodes[node];
        // Beyond that, offsets in the arena would overflow.
        let bytes = inner.shape.numel().saturating_mul(inner.dtype.size());
        if bytes > isize::MAX as usize {
            return Err(Buffer::uninit(inner.device, inner.dtype, inner.shape.numel())
                .err()
                .map_or_else(|| internal("memory without end"), |error| error.with_op(inner.op.name())));
        }
        let slot = self.plan.slots.len();
        self.plan.slots.push(Slot {
            device: inner.device,
            dtype: inner.dtype,
            len: inner.shape.numel(),
            shape: inner.shape,
            donor,
            leaves: false,
            depends: 0,
            offset: 0,
        });
        self.slot_of.insert(node, slot);
        Ok(slot)
    }
}

/// The operands of a program whose memory its outputs may take over.
struct Donors<'a> {
    emitted: &'a Emitted,
    /// The launch's position in the order.
    at: usize,
    /// What else is read while the program writes.
    beside: &'a [usize],
    /// For each operand, the output that has its memory.
    donated: Vec<Option<usize>>,
}

/// A launch that stands for a node.
fn launched(graph: &Graph, node: usize, name: &'static str, action: Action, bit: u64) -> Launch {
    Launch {
        action,
        node,
        name,
        device: graph.nodes[node].device,
        shape: graph.nodes[node].shape,
        dtype: graph.nodes[node].dtype,
        prepared: Default::default(),
        bit,
        fuses: true.into(),
    }
}

/// What is planned of a kernel's launch.
struct Planned {
    args: Vec<KernelArg>,
    output: Option<usize>,
    raw: bool,
    in_place: bool,
    epilogue: Option<ProgramLaunch>,
}

/// What a kernel's launch does: what only moves elements is copies of parts.
fn action(graph: &Graph, node: usize, kernel: &Kernel, planned: Planned) -> Result<Action> {
    let Planned { mut args, output, raw, in_place, epilogue } = planned;
    let whole = Layout::contiguous(graph.nodes[node].shape);
    let written = || output.ok_or_else(|| internal("a copy that goes nowhere"));
    Ok(match kernel {
        &Kernel::Library(kernel) => {
            let innermost = graph.innermost[node];
            Action::Kernel(Call { kernel, args, output, raw, in_place, innermost, epilogue })
        }
        Kernel::Transfer => {
            let from = args.pop().ok_or_else(|| internal("a transfer of nothing"))?;
            Action::Transfer { from, output: written()? }
        }
        Kernel::Write { region } => {
            let base = (args.len() > 1).then(|| args.swap_remove(1)).map(|from| CopyPart { from, to: whole });
            let zeros = base.is_none();
            let own = args.pop().map(|from| CopyPart { from, to: **region });
            let parts = base.into_iter().chain(own).collect();
            Action::Copies(Copies { parts, zeros, in_place, output: written()? })
        }
        Kernel::Concat { axis } => {
            let (axis, mut at, mut parts) = (usize::from(*axis), 0isize, vec![]);
            for from in args {
                let n = from.layout.shape()[axis] as isize;
                parts.push(CopyPart { from, to: whole.slice(axis, Some(at), Some(at + n), 1)? });
                at += n;
            }
            Action::Copies(Copies { parts, zeros: false, in_place, output: written()? })
        }
    })
}

/// The operand of a program that only copies one value from memory.
fn copy_of(graph: &Graph, emitted: &Emitted) -> Result<Option<KernelArg>> {
    let program = &emitted.program;
    let ([operand], [bind], [(_, Class::Full)], 1) =
        (&program.inputs[..], &emitted.inputs[..], &program.outputs[..], program.values.len())
    else {
        return Ok(None);
    };
    if operand.source != Source::Buffer {
        return Ok(None);
    }
    // Strides may be negative: the planned offset makes them a layout, the launch's replaces it.
    let offset = match bind.loc {
        Loc::Node(node) => graph.layout_of_original(node).offset() as isize + bind.delta,
        Loc::Stored(_) | Loc::Slot(_) | Loc::Product => bind.delta,
    };
    let shape = Shape::new(&program.space)?;
    let layout = Layout::new(shape, &operand.strides[..shape.rank()], offset.max(0) as usize)?;
    Ok(Some(KernelArg { bind: *bind, layout, dtype: operand.dtype }))
}

/// The node that a tensor will stand for which stands for a known one now.
fn replaced_by(graph: &Graph, known: usize) -> Option<usize> {
    let last = *graph.successors().get(&std::ptr::from_ref(graph.nodes[known]).addr())?;
    // It may be a view of what is computed.
    Some(graph.strip(last, &mut Path::new()))
}
