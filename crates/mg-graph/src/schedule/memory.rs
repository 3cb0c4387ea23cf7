//! The order of launches, and where their values lie.

use super::Graph;
use super::emit::{Emitted, emit};
use super::group::{Groups, Split, kind_of};
use super::path::Path;
use super::store::Alias;
use super::together;
use crate::engine::{Root, internal};
use crate::hash::Table;
use crate::kernel::Kernel;
use crate::op::Op;
use crate::plan::{
    Action, Bind, Call, Check, Coded, Copies, KernelArg, Launch, Loc, Output, Part, Place, Plan,
    ProgramLaunch, Slot,
};
use mg_device::{Buffer, Device, Layout, Result, Shape};
use mg_kernels::{Class, Source};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Puts launches in order, compiles their programs and plans memory.
pub(crate) fn assemble(graph: &Graph, groups: Groups, aliases: Vec<Alias>) -> Result<Plan> {
    let order = together::put(graph, &groups, in_order(&groups)?);
    // When each stored node is read for the last time, by position in the order.
    let mut last_read: Table<usize, usize> = Table::default();
    for (at, &id) in order.iter().enumerate() {
        for &input in groups.inputs(id).iter() {
            last_read.insert(input, at);
        }
    }
    let mut plan = Plan { key: graph.collected.words.clone(), ..Plan::default() };
    let mut slot_of: Table<usize, usize> = Table::default();
    let aliased: Vec<usize> = aliases.iter().map(|a| a.base).collect();
    // What may turn out to have no value, because a check refuses what it is computed from.
    let mut fallible = Fallible::default();
    for (at, &id) in order.iter().enumerate() {
        let Some(group) = &groups.list[id] else { continue };
        // Of more launches than there are bits some share one.
        let bit = 1u64 << (at % 64);
        let leaves = |node: usize| {
            is_wanted(graph, node) || aliased.contains(&node) || groups.is_read_beside(node, id)
        };
        let launch = if group.is_kernel {
            let node = group.members[0].node;
            let epilogue = match &group.epilogue {
                Some(epilogue) => {
                    // The product still reads its operands when the first panel's epilogue writes.
                    let operands = graph.sources[node].iter().map(|&s| graph.strip(s, &mut Path::new()));
                    let read_otherwise: Vec<usize> = operands.chain(aliased.iter().copied()).collect();
                    let emitted = emit(graph, epilogue, Some(node), leaves)?;
                    let kept = Kept { last_read: &last_read, at, read_otherwise: &read_otherwise };
                    fallible.add(node, fallible.all(&groups.inputs(id)));
                    Some(program(
                        graph,
                        emitted,
                        kept,
                        Some(node),
                        bit,
                        &mut fallible,
                        &mut slot_of,
                        &mut plan,
                    )?)
                }
                None => None,
            };
            let raw = epilogue.is_none() || leaves(node);
            let Op::Kernel(kernel) = &graph.nodes[node].op else {
                return Err(internal("a kernel that is none"));
            };
            let own = if kernel.is_checked() { bit } else { 0 };
            fallible.add(node, own | fallible.all(&groups.inputs(id)));
            let mut in_place = false;
            // On CUDA the epilogue may become a launch of its own.
            let output = if raw || graph.nodes[node].device.is_cuda() {
                let kept = Kept { last_read: &last_read, at, read_otherwise: &aliased };
                let over = overwritten(graph, node, kernel, &kept, &slot_of, &leaves);
                in_place = over.is_some();
                Some(match over {
                    Some(Loc::Stored(base)) => {
                        // Nobody reads the base again: what is written to it is all that lies there from now on.
                        let slot = slot_of[&base];
                        slot_of.insert(node, slot);
                        plan.slots[slot].shape = graph.nodes[node].shape;
                        slot
                    }
                    Some(Loc::Node(base)) => slot(graph, node, Some(base), &mut slot_of, &mut plan)?,
                    Some(Loc::Slot(_) | Loc::Product) | None => {
                        slot(graph, node, None, &mut slot_of, &mut plan)?
                    }
                })
            } else {
                None
            };
            let mut args = vec![];
            for &s in &graph.sources[node] {
                args.push(operand(graph, s)?);
            }
            Launch {
                action: action(graph, node, kernel, Planned { args, output, raw, in_place, epilogue })?,
                node,
                name: kernel.name(),
                device: graph.nodes[node].device,
                shape: graph.nodes[node].shape,
                dtype: graph.nodes[node].dtype,
                prepared: Default::default(),
                bit,
                fuses: true.into(),
            }
        } else {
            let emitted = emit(graph, group, None, leaves)?;
            let last = group.members.last().map_or(0, |m| m.node);
            let action = match copy_of(graph, &emitted)? {
                Some(from) => {
                    let output = slot(graph, last, None, &mut slot_of, &mut plan)?;
                    let to = Layout::contiguous(*from.layout.shape());
                    Action::Copies(Copies {
                        parts: vec![Part { from, to }],
                        zeros: false,
                        in_place: false,
                        output,
                    })
                }
                None => {
                    let kept = Kept { last_read: &last_read, at, read_otherwise: &aliased };
                    Action::Program(program(
                        graph,
                        emitted,
                        kept,
                        None,
                        bit,
                        &mut fallible,
                        &mut slot_of,
                        &mut plan,
                    )?)
                }
            };
            Launch {
                name: graph.nodes[last].op.name(),
                device: graph.nodes[last].device,
                shape: graph.nodes[last].shape,
                dtype: graph.nodes[last].dtype,
                node: last,
                prepared: Default::default(),
                bit,
                fuses: true.into(),
                action,
            }
        };
        plan.launches.push(launch);
    }
    resolve(&mut plan, &slot_of)?;
    for (&node, &slot) in &slot_of {
        plan.slots[slot].depends |= fallible.of(node);
    }
    list_independent(&mut plan);
    together::join(&mut plan);
    plan.checks_until = plan.launches.iter().rposition(Launch::is_checked).map_or(0, |at| at + 1);
    guard(&mut plan);
    let overwrites = |l: &Launch| l.outputs().any(|s| plan.slots[s].donor.is_some());
    plan.overwrites_from = plan.launches.iter().position(overwrites).unwrap_or(usize::MAX);
    // What leaves the plan.
    for (&node, &slot) in &slot_of {
        if is_wanted(graph, node) && !graph.known[node] {
            plan.slots[slot].leaves = true;
            plan.results.push(Output { node, slot: Place::Slot(slot), layout: None });
        }
    }
    for alias in aliases {
        let layout = graph.layout_of(alias.base);
        let end = graph.follow(layout, &alias.path).map_err(|_| internal("a view that is no layout"))?;
        let place = match slot_of.get(&alias.base) {
            Some(&slot) => {
                plan.slots[slot].leaves = true;
                Place::Slot(slot)
            }
            None => Place::Node(alias.base),
        };
        let delta = end.offset() as isize - layout.offset() as isize;
        plan.results.push(Output { node: alias.node, slot: place, layout: Some((end, delta)) });
    }
    plan.results.sort_by_key(|r| r.node);
    place_temporaries(&mut plan);
    Ok(plan)
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
        &Kernel::Library(kernel) => Action::Kernel(Call { kernel, args, output, raw, in_place, epilogue }),
        Kernel::Transfer => {
            let from = args.pop().ok_or_else(|| internal("a transfer of nothing"))?;
            Action::Transfer { from, output: written()? }
        }
        Kernel::Write { region } => {
            let base = (args.len() > 1).then(|| args.swap_remove(1)).map(|from| Part { from, to: whole });
            let zeros = base.is_none();
            let own = args.pop().map(|from| Part { from, to: **region });
            let parts = base.into_iter().chain(own).collect();
            Action::Copies(Copies { parts, zeros, in_place, output: written()? })
        }
        Kernel::Concat { axis } => {
            let (axis, mut at, mut parts) = (usize::from(*axis), 0isize, vec![]);
            for from in args {
                let n = from.layout.shape()[axis] as isize;
                parts.push(Part { from, to: whole.slice(axis, Some(at), Some(at + n), 1)? });
                at += n;
            }
            Action::Copies(Copies { parts, zeros: false, in_place, output: written()? })
        }
    })
}

/// Where a kernel's operand lies.
pub(super) fn operand(graph: &Graph, source: usize) -> Result<KernelArg> {
    let mut path = Path::new();
    let base = graph.strip(source, &mut path);
    let layout = graph.layout_of(base);
    let end = graph.follow(layout, &path).map_err(|_| internal("a kernel's operand that is no view"))?;
    let loc = if graph.stored[base] { Loc::Stored(base) } else { Loc::Node(base) };
    let delta = end.offset() as isize - layout.offset() as isize;
    Ok(KernelArg { bind: Bind { loc, delta }, layout: end, dtype: graph.nodes[source].dtype })
}

/// What a CUDA device refuses is not known when what follows is launched. So that a plan with checks can do nothing at all where
/// one of them refuses something, what comes before them overwrites nothing; what comes after them asks.
fn guard(plan: &mut Plan) {
    let checked = |l: &&Launch| l.device.is_cuda() && l.is_checked();
    let Some(device) = plan.launches.iter().find(checked).map(|l| l.device) else { return };
    let checks = plan.launches.iter().filter(|l| l.device == device).map(Launch::checks).sum();
    plan.guarded = Some((device, checks));
    for launch in plan.launches[..plan.checks_until].iter_mut().filter(|l| l.device.is_cuda()) {
        let outputs: Vec<usize> = launch.outputs().filter(|&s| plan.slots[s].donor.is_some()).collect();
        for slot in outputs {
            plan.slots[slot].donor = None;
            launch.leave_place(slot);
        }
    }
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

/// Whether a node's value is set when the plan has run.
pub(super) fn is_wanted(graph: &Graph, node: usize) -> bool {
    match graph.root(node) {
        Root::Required => true,
        Root::Optional => true,
        Root::No => graph.kept[node] && !graph.known[node],
    }
}

/// Launches in an order that respects who waits for whom; of those that are ready, the one that was asked for first.
fn in_order(groups: &Groups) -> Result<Vec<usize>> {
    let ids: Vec<usize> = (0..groups.list.len()).filter(|&i| groups.list[i].is_some()).collect();
    let mut waiting: Table<usize, usize> = Table::default();
    let mut readers: Table<usize, Vec<usize>> = Table::default();
    let mut ready: BTreeSet<((bool, usize), usize)> = BTreeSet::new();
    let mut read: BTreeSet<usize> = BTreeSet::new();
    for &id in &ids {
        read.extend(groups.waits_for(id));
    }
    // Elementwise work that nothing waits for goes last, side by side: an optimiser's updates are one launch.
    let first = |id: usize| {
        let group = groups.list[id].as_ref();
        let sink = group.is_some_and(|g| !g.is_kernel && g.split == Split::None) && !read.contains(&id);
        (sink, group.and_then(|g| g.members.first()).map_or(0, |m| m.node))
    };
    for &id in &ids {
        let deps = groups.waits_for(id);
        for &d in &deps {
            readers.entry(d).or_default().push(id);
        }
        if deps.is_empty() {
            ready.insert((first(id), id));
        }
        waiting.insert(id, deps.len());
    }
    let mut order = vec![];
    while let Some((_, id)) = ready.pop_first() {
        order.push(id);
        for &r in readers.get(&id).into_iter().flatten() {
            if let Some(n) = waiting.get_mut(&r) {
                *n -= 1;
                if *n == 0 {
                    ready.insert((first(r), r));
                }
            }
        }
    }
    if order.len() != ids.len() {
        return Err(internal("launches that wait for each other"));
    }
    Ok(order)
}

/// A new slot for a node's value.
fn slot(
    graph: &Graph,
    node: usize,
    donor: Option<usize>,
    slot_of: &mut Table<usize, usize>,
    plan: &mut Plan,
) -> Result<usize> {
    let inner = graph.nodes[node];
    // Beyond that, offsets in the arena would overflow.
    let bytes = inner.shape.numel().saturating_mul(inner.dtype.size());
    if bytes > isize::MAX as usize {
        return Err(Buffer::uninit(inner.device, inner.dtype, inner.shape.numel())
            .err()
            .unwrap_or_else(|| internal("memory without end")));
    }
    plan.slots.push(Slot {
        device: inner.device,
        dtype: inner.dtype,
        len: inner.shape.numel(),
        shape: inner.shape,
        donor,
        leaves: false,
        depends: 0,
        offset: 0,
    });
    slot_of.insert(node, plan.slots.len() - 1);
    Ok(plan.slots.len() - 1)
}

/// When values are read for the last time, as far as the launch at position `at` of the order can tell.
struct Kept<'a> {
    last_read: &'a Table<usize, usize>,
    at: usize,
    /// What else is read while, or after, the launch writes.
    read_otherwise: &'a [usize],
}

impl Kept<'_> {
    /// Whether nobody reads the value after this launch, nor otherwise.
    fn is_last_reader(&self, node: usize) -> bool {
        self.last_read.get(&node) == Some(&self.at) && !self.read_otherwise.contains(&node)
    }
}

/// The value that a kernel's result is written over, where nobody wants that any more: one that is written to in parts keeps all
/// other elements, and they need not be copied.
fn overwritten(
    graph: &Graph,
    node: usize,
    kernel: &Kernel,
    kept: &Kept,
    slot_of: &Table<usize, usize>,
    leaves: &impl Fn(usize) -> bool,
) -> Option<Loc> {
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
    if !is_whole || is_read || !kept.is_last_reader(base) {
        return None;
    }
    if graph.stored[base] {
        let free = !leaves(base) && !is_wanted(graph, base) && slot_of.contains_key(&base);
        return free.then_some(Loc::Stored(base));
    }
    let dies = graph.known[base]
        && graph.collected.info[base].dies
        && !graph.kept[base]
        && graph.layout_of(base).is_contiguous();
    dies.then_some(Loc::Node(base))
}

/// Whether all outputs of a program are computed from the same operands of those that may have no value. Where not, the program
/// runs for some of its outputs while others are not to be touched.
fn fail_together(program: &mg_kernels::Program, is_fallible: impl Fn(usize) -> bool) -> bool {
    let mut from: Vec<u64> = Vec::with_capacity(program.values.len());
    for (v, value) in program.values.iter().enumerate() {
        from.push(match value.inst {
            mg_kernels::Inst::Input(i) if is_fallible(i as usize) => 1 << (i as u64 % 64),
            _ => program.args(v as mg_kernels::Val).fold(0, |mask, a| mask | from[a as usize]),
        });
    }
    let mut masks = program.outputs.iter().map(|&(v, _)| from[v as usize]);
    let first = masks.next().unwrap_or(0);
    masks.all(|mask| mask == first)
}

/// For each output of a program, the launches whose checks may refuse what it is computed from; its own have this bit.
fn output_depends(
    program: &mg_kernels::Program,
    input: impl Fn(usize) -> u64,
    checks: &[Check],
    bit: u64,
) -> Vec<u64> {
    let mut from: Vec<u64> = Vec::with_capacity(program.values.len());
    for (v, value) in program.values.iter().enumerate() {
        let own = if checks.iter().any(|c| usize::from(c.value) == v) { bit } else { 0 };
        from.push(match value.inst {
            mg_kernels::Inst::Input(i) => own | input(i as usize),
            _ => program.args(v as mg_kernels::Val).fold(own, |bits, a| bits | from[a as usize]),
        });
    }
    program.outputs.iter().map(|&(v, _)| from[v as usize]).collect()
}

/// Nodes that may turn out to have no value, and the launches, by their bits, whose checks may refuse what they are computed
/// from.
#[derive(Default)]
struct Fallible(Table<usize, u64>);

impl Fallible {
    fn of(&self, node: usize) -> u64 {
        self.0.get(&node).copied().unwrap_or(0)
    }

    fn all(&self, nodes: &[usize]) -> u64 {
        nodes.iter().fold(0, |bits, &node| bits | self.of(node))
    }

    fn add(&mut self, node: usize, bits: u64) {
        if bits != 0 {
            *self.0.entry(node).or_default() |= bits;
        }
    }
}

#[expect(clippy::too_many_arguments)]
fn program(
    graph: &Graph,
    emitted: Emitted,
    kept: Kept,
    product: Option<usize>,
    bit: u64,
    fallible: &mut Fallible,
    slot_of: &mut Table<usize, usize>,
    plan: &mut Plan,
) -> Result<ProgramLaunch> {
    let Emitted { program, inputs, consts, outputs, checks, dense } = emitted;
    let mut donated: Vec<Option<usize>> = vec![None; inputs.len()];
    let has_total = program
        .values
        .iter()
        .any(|v| matches!(v.inst, mg_kernels::Inst::Reduce(_, mg_kernels::Over::All, _)));
    let depends = |i: usize| match inputs[i].loc {
        Loc::Stored(node) | Loc::Node(node) => fallible.of(node),
        Loc::Product => product.map_or(0, |node| fallible.of(node)),
        Loc::Slot(_) => 0,
    };
    // What is overwritten is gone, and must not be for the sake of a value that there is not.
    let may_overwrite = checks.is_empty() && fail_together(&program, |i| depends(i) != 0);
    for (&node, bits) in outputs.iter().zip(output_depends(&program, depends, &checks, bit)) {
        fallible.add(node, bits);
    }
    let mut slots = vec![];
    for &node in &outputs {
        // A dense operand that nobody reads afterwards gives its memory to an output of the same size.
        let inner = graph.nodes[node];
        let fits = |i: usize| {
            let Loc::Node(source) = inputs[i].loc else { return false };
            let donor = graph.nodes[source];
            let once = inputs.iter().filter(|b| b.loc == inputs[i].loc).count() == 1;
            may_overwrite
                && dense[i]
                && once
                && kind_of(graph, node).is_none()
                && graph.collected.info[source].dies
                && !graph.kept[source]
                && donor.dtype == inner.dtype
                && donor.shape.numel() == inner.shape.numel()
                && kept.is_last_reader(source)
                && graph.layout_of(source).is_contiguous()
                && !(inner.shape.numel() == 1 && has_total)
        };
        let full = program.outputs.get(slots.len()).is_some_and(|o| o.1 == Class::Full);
        let may = |i: &usize| full && donated[*i].is_none() && fits(*i);
        let replaces = |i: &usize| match inputs[*i].loc {
            Loc::Node(source) => replaced_by(graph, source).map(|by| by == node),
            Loc::Stored(_) | Loc::Slot(_) | Loc::Product => None,
        };
        // A tensor's own memory first. Another's is not there to go back to, should a CUDA device refuse something.
        let own = (0..inputs.len()).find(|i| may(i) && replaces(i) == Some(true));
        let or_other = |i: &usize| may(i) && (inner.device.is_cpu() || replaces(i) != Some(false));
        let donor = own.or_else(|| (0..inputs.len()).find(or_other));
        if let Some(i) = donor {
            donated[i] = Some(slots.len());
        }
        let from = donor.and_then(|i| match inputs[i].loc {
            Loc::Node(source) => Some(source),
            Loc::Stored(_) | Loc::Slot(_) | Loc::Product => None,
        });
        slots.push(slot(graph, node, from, slot_of, plan)?);
    }
    let device = outputs.first().map_or(Device::cpu(), |&node| graph.nodes[node].device);
    let coded = Coded::of(program, donated, device)?;
    Ok(ProgramLaunch { coded, inputs, consts, outputs: slots, checks })
}

/// The node that a tensor will stand for which stands for a known one now.
fn replaced_by(graph: &Graph, known: usize) -> Option<usize> {
    let last = *graph.successors().get(&std::ptr::from_ref(graph.nodes[known]).addr())?;
    // It may be a view of what is computed.
    Some(graph.strip(last, &mut Path::new()))
}

/// Makes one launch of neighbouring elementwise programs that do not wait for each other.
fn list_independent(plan: &mut Plan) {
    let mut launches: Vec<Launch> = vec![];
    for launch in std::mem::take(&mut plan.launches) {
        let joins = launches.last().is_some_and(|last| {
            let elementwise = |l: &Launch| {
                matches!(l.action, Action::Program(_) | Action::List(_))
                    && l.programs().iter().all(|p| p.coded.code.is_elementwise())
            };
            let waits =
                launch.inputs().any(|b| matches!(b.loc, Loc::Slot(s) if last.outputs().any(|o| o == s)));
            // A donated operand that the other program reads would be overwritten under its hands.
            let donated = |l: &Launch, other: &Launch| {
                l.outputs()
                    .filter_map(|s| plan.slots[s].donor)
                    .any(|d| other.inputs().any(|b| b.loc == Loc::Node(d)))
            };
            // What one check refuses is not to keep others from being written.
            let (bits, others) = (launch.depends(&plan.slots), last.depends(&plan.slots));
            let together = launch.device.is_cpu() || bits == others || bits & others != 0;
            elementwise(last)
                && together
                && elementwise(&launch)
                && last.device == launch.device
                && !waits
                && !donated(last, &launch)
                && !donated(&launch, last)
        });
        match (launches.last_mut(), launch.action) {
            (Some(last), Action::Program(p)) if joins => {
                last.bit |= launch.bit;
                match &mut last.action {
                    Action::List(list) => list.push(p),
                    action => {
                        let empty = Action::List(vec![]);
                        if let Action::Program(first) = std::mem::replace(action, empty) {
                            *action = Action::List(vec![first, p]);
                        }
                    }
                }
            }
            (_, action) => launches.push(Launch { action, ..launch }),
        }
    }
    plan.launches = launches;
}

/// Turns "where this node is stored" into slots.
fn resolve(plan: &mut Plan, slot_of: &Table<usize, usize>) -> Result<()> {
    for launch in &mut plan.launches {
        for bind in launch.inputs_mut() {
            if let Loc::Stored(node) = bind.loc {
                let slot = slot_of.get(&node).ok_or_else(|| internal("a value that no launch writes"))?;
                bind.loc = Loc::Slot(*slot);
            }
        }
    }
    Ok(())
}

/// Gives temporary values their offsets in the plan's arena: first fit over the launches during which each lives.
fn place_temporaries(plan: &mut Plan) {
    let mut life: Vec<Option<(usize, usize)>> = vec![None; plan.slots.len()];
    for (at, launch) in plan.launches.iter().enumerate() {
        let read = launch.inputs().filter_map(|b| match b.loc {
            Loc::Slot(slot) => Some(slot),
            Loc::Node(_) | Loc::Stored(_) | Loc::Product => None,
        });
        for slot in launch.outputs().chain(read) {
            life[slot] = Some(life[slot].map_or((at, at), |(from, _)| (from, at)));
        }
    }
    let mut order: Vec<(usize, usize, usize)> = life
        .iter()
        .enumerate()
        .filter_map(|(slot, life)| life.map(|(from, until)| (from, slot, until)))
        .collect();
    order.sort_unstable();
    let mut spaces: Vec<(Device, Space)> = vec![];
    for (from, slot, until) in order {
        let slot = &mut plan.slots[slot];
        if slot.leaves || slot.donor.is_some() {
            continue;
        }
        let bytes = (slot.len * slot.dtype.size()).next_multiple_of(256).max(256);
        let known = spaces.iter().position(|(device, _)| *device == slot.device);
        let at = known.unwrap_or_else(|| {
            spaces.push((slot.device, Space::default()));
            spaces.len() - 1
        });
        let space = &mut spaces[at].1;
        space.give_back(from);
        slot.offset = space.take(bytes, until);
        space.size = space.size.max(slot.offset.saturating_add(bytes));
    }
    plan.arenas.extend(spaces.into_iter().map(|(device, space)| (device, space.size)));
}

/// The memory of an arena while it is given out.
struct Space {
    /// Where each stretch that nobody has begins and ends; the last one has no end.
    free: BTreeMap<usize, usize>,
    /// What is given out: until which launch, where it begins and ends. The one that ends first is on top.
    given: BinaryHeap<Reverse<(usize, usize, usize)>>,
    size: usize,
}

impl Default for Space {
    fn default() -> Space {
        Space { free: BTreeMap::from([(0, usize::MAX)]), given: BinaryHeap::new(), size: 0 }
    }
}

impl Space {
    /// The first place for so many bytes. Past the largest size there can be, it is refused when it is asked for.
    fn take(&mut self, bytes: usize, until: usize) -> usize {
        let fits = |(&start, &end): (&usize, &usize)| (end - start >= bytes).then_some((start, end));
        let Some((start, end)) = self.free.iter().find_map(fits) else {
            return self.free.last_key_value().map_or(usize::MAX, |(&start, _)| start);
        };
        self.free.remove(&start);
        if start + bytes < end {
            self.free.insert(start + bytes, end);
        }
        self.given.push(Reverse((until, start, start + bytes)));
        start
    }

    /// Takes back what lived until before a launch.
    fn give_back(&mut self, launch: usize) {
        while let Some(&Reverse((until, mut start, mut end))) = self.given.peek()
            && until < launch
        {
            self.given.pop();
            if let Some((&before, &stop)) = self.free.range(..start).next_back()
                && stop == start
            {
                self.free.remove(&before);
                start = before;
            }
            if let Some(stop) = self.free.remove(&end) {
                end = stop;
            }
            self.free.insert(start, end);
        }
    }
}
