//! Running a plan: memory, and one walk over its launches.

use crate::cpu::Cpu;
use crate::cuda::Cuda;
use crate::engine::{Collected, Garbage};
use crate::node::{Inner, Value, WeakNode};
use crate::packed::{Of, Packed, Sight, Users};
use crate::plan::{Bindings, Launch, Loc, Output, Place, Plan, Slot};
use crate::precision::matmul_precision;
use crate::profile;
use crate::refusal::{Pair, Refusal, is_machines};
use crate::run::{Executor, Failures, Memory, Run, with_offset};
use mg_device::cuda::{Gpu, Mark};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Layout, Result};
use mg_kernels::cpu::memory::or_missing;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The device's state, if it collects launches.
fn collecting(device: Device) -> Option<&'static Gpu> {
    if device.is_cpu() {
        return None;
    }
    Gpu::of(device).ok().filter(|gpu| gpu.is_collecting())
}

/// Memory of one run of a plan: temporary, and for results.
#[derive(Default)]
pub(crate) struct Room {
    arenas: SmallVec<[Buffer; 1]>,
    /// By slot.
    results: Vec<Option<Buffer>>,
}

impl Room {
    /// Arenas alone: memory for results is asked for when the plan begins.
    pub(crate) fn of(arenas: &[Buffer]) -> Room {
        Room { arenas: arenas.iter().cloned().collect(), results: vec![] }
    }
}

/// By slot: what is memory of its own, and no part of an arena or of what another value had.
type Buffers = SmallVec<[Option<Buffer>; 8]>;

fn owned(buffer: Buffer) -> (*mut u8, Option<Buffer>) {
    (buffer.as_mut_ptr(), Some(buffer))
}

/// A node that is written to a tensor, which may be refused.
struct PendingWrite {
    node: usize,
    slot: usize,
    old: Old,
    depends: u64,
}

/// What a tensor holds before it is written to.
enum Old {
    Known(Value),
    /// What the same plan computes for this node.
    Computed(usize),
}

impl PendingWrite {
    /// Whether it lies in this memory.
    fn lay_in(&self, buffer: &Buffer) -> bool {
        match &self.old {
            Old::Known(old) => old.buffer.ptr_eq(buffer),
            Old::Computed(_) => false,
        }
    }
}

/// Where a run of plans finds its memory: where one before it did, as far as that is free.
#[derive(Default)]
pub(crate) struct MemoryPlaces {
    before: Vec<u64>,
    now: Vec<u64>,
    /// What the plan under way has found where it was, in the order in which it asks.
    there: VecDeque<Option<Buffer>>,
}

/// Memory for so many elements.
type Ask = (Device, DType, usize);

impl MemoryPlaces {
    /// As a run before, which found these.
    pub(crate) fn as_before(before: Vec<u64>) -> MemoryPlaces {
        let now = Vec::with_capacity(before.len());
        MemoryPlaces { before, now, there: VecDeque::new() }
    }

    /// Takes all that is free of what a plan asks for, where it was: whatever is not, and is taken elsewhere, is not to take the place of
    /// something else.
    fn take_back(&mut self, asks: impl Iterator<Item = Ask>) {
        let before = self.before.get(self.now.len()..).unwrap_or(&[]);
        let there = before
            .iter()
            .zip(asks)
            .map(|(&at, (device, dtype, len))| Buffer::uninit_at(device, dtype, len, at));
        self.there = there.collect();
    }

    /// The next of what the plan asks for.
    fn find(&mut self, (device, dtype, len): Ask) -> Result<Buffer> {
        let buffer = match self.there.pop_front().flatten() {
            Some(there) => there,
            None => Buffer::uninit(device, dtype, len)?,
        };
        self.now.push(buffer.address());
        Ok(buffer)
    }

    /// What was found.
    pub(crate) fn found(self) -> Vec<u64> {
        self.now
    }
}

/// How a plan is run.
pub(crate) struct Manner<'a> {
    pub(crate) room: Option<Room>,
    pub(crate) whole: Whole,
    /// Slots that do not take over the memory that was planned for them.
    pub(crate) foreign: &'a [usize],
    pub(crate) refusal: &'a mut Refusal,
    pub(crate) places: &'a mut MemoryPlaces,
    /// Where launches are collected, what they were made as the last time.
    pub(crate) again: Option<Again<'a>>,
}

/// What is known of a plan that is run again and again.
pub(crate) struct Again<'a> {
    pub(crate) users: &'a Users,
    pub(crate) packed: &'a mut Packed,
    pub(crate) read: Vec<Sight>,
}

/// What becomes of a plan when something in it is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// What does not depend on it is computed.
    OrParts,
    /// Nothing is overwritten: the plan has not happened.
    OrNothing,
    /// As [`Whole::OrParts`], and it cannot be interrupted: what it goes on from is gone.
    ToTheEnd,
}

impl Plan {
    /// Runs the launches and sets the results' values.
    pub(crate) fn run(&self, graph: &Collected, garbage: &mut Garbage) -> Result<()> {
        let replaced = self.replaced(graph);
        let foreign = self.foreign(graph, &replaced);
        let overwrites = self.overwrites_from < self.launches.len();
        let mut refusal = Refusal::new(overwrites || !replaced.is_empty(), false);
        // Values of results that are replaced, or replaced by another.
        let mut known: Vec<(usize, Value)> = vec![];
        let is_of =
            |r: &PendingWrite, node| r.node == node || matches!(r.old, Old::Computed(first) if first == node);
        self.execute(graph, Whole::OrParts, &foreign, &mut refusal, |result, value| {
            let inner: &Inner = graph.nodes[result.node];
            let computed = value.is_ok();
            if !computed {
                crate::node::note_failure();
            }
            if let (true, Ok(value)) = (replaced.iter().any(|r| is_of(r, result.node)), &value) {
                known.push((result.node, value.clone()));
            }
            let _ = inner.value.set(value);
            let (tracked, released) = inner.flags();
            if computed {
                // SAFETY: the engine's lock is held (a `Collected` exists), and no reference to it is kept.
                garbage.nodes.extend(unsafe { inner.settle() });
            }
            if computed && (!tracked || released) {
                // SAFETY: the engine's lock is held (a `Collected` exists), and no reference to the sources is kept.
                garbage.sources.push(unsafe { inner.cut() });
            }
        })?;
        let of = |node| known.iter().find(|k| k.0 == node).map(|k| &k.1);
        let pairs = replaced.iter().filter_map(|r| {
            let old = match &r.old {
                Old::Known(old) => old,
                Old::Computed(first) => of(*first)?,
            };
            Some(Pair { old, new: of(r.node)?, depends: r.depends })
        });
        // Errors stay with the nodes they concern; the caller looks at those it asked for.
        refusal.restore(&pairs.collect::<Vec<_>>())?;
        if let Some((device, _)) = self.guarded {
            refusal.doubt(device, self.doubtful(graph, &replaced));
        }
        Ok(())
    }

    /// The nodes that are written to tensors by a plan with checks on a CUDA device that may refuse them, and what the tensors
    /// hold before.
    fn replaced(&self, graph: &Collected) -> Vec<PendingWrite> {
        if self.guarded.is_none() {
            return vec![];
        }
        let old = |result: &Output| {
            let Place::Slot(slot) = result.slot else { return None };
            let depends = self.slots[slot].depends;
            // SAFETY: the engine's lock is held (a `Collected` exists), and no reference is kept.
            let mut before = unsafe { graph.nodes[result.node].before_unlocked() };
            while let Some(node) = before.filter(|_| depends != 0) {
                match node.0.value.get() {
                    Some(Ok(old)) => {
                        let old = Old::Known(old.clone());
                        return Some(PendingWrite { node: result.node, slot, old, depends });
                    }
                    Some(Err(_)) => return None,
                    None => {
                        // SAFETY: as above.
                        before = unsafe { node.0.before_unlocked() };
                        if before.is_none() {
                            let is_first = |r: &&Output| std::ptr::eq(graph.nodes[r.node], &*node.0);
                            let first = self.results.iter().find(is_first)?;
                            let own = match first.slot {
                                Place::Slot(slot) => self.slots[slot].depends,
                                Place::Node(_) => 0,
                            };
                            // What is refused with it is nothing to go back to.
                            let old = (depends & !own != 0).then_some(Old::Computed(first.node))?;
                            return Some(PendingWrite { node: result.node, slot, old, depends });
                        }
                    }
                }
            }
            None
        };
        self.results.iter().filter_map(old).collect()
    }

    /// The gradients that a check on the device may refuse, and which stand for nothing then.
    fn doubtful(&self, graph: &Collected, replaced: &[PendingWrite]) -> Vec<(WeakNode, u64)> {
        let of = |result: &Output| {
            let Place::Slot(slot) = result.slot else { return None };
            let (depends, inner) = (self.slots[slot].depends, graph.nodes[result.node]);
            let stays = depends == 0 || replaced.iter().any(|r| r.node == result.node);
            if stays { None } else { Some((inner.kept_gradient()?.clone(), depends)) }
        };
        self.results.iter().filter_map(of).collect()
    }

    /// The slots that would take over memory of what another result replaces: if that is to be there again, they must not.
    fn foreign(&self, graph: &Collected, replaced: &[PendingWrite]) -> Vec<usize> {
        let is_foreign = |(slot, donor): &(usize, usize)| {
            let Some(donor) = graph.value(*donor) else { return false };
            let of = replaced.iter().find(|r| r.lay_in(&donor.buffer));
            of.is_some_and(|r| r.slot != *slot)
        };
        let donors = self.slots.iter().enumerate().filter_map(|(i, slot)| Some((i, slot.donor?)));
        donors.filter(is_foreign).map(|(slot, _)| slot).collect()
    }

    /// Runs the launches, and tells `sink` the value of each result, or why there is none. Slots that are `foreign` do not take
    /// over the memory that was planned for them.
    pub(crate) fn execute<B: Bindings + Sync>(
        &self,
        graph: &B,
        whole: Whole,
        foreign: &[usize],
        refusal: &mut Refusal,
        sink: impl FnMut(&Output, Result<Value>),
    ) -> Result<()> {
        let (room, places) = (None, &mut MemoryPlaces::default());
        self.execute_in(Manner { room, whole, foreign, refusal, places, again: None }, graph, sink)
    }

    /// Memory that is missing is told of the operation that would have written to it, by the name that a person called it by where `called`
    /// knows that of its node.
    #[cold]
    fn told_of_slot(
        &self,
        slot: usize,
        error: Error,
        called: impl Fn(usize) -> Option<&'static str>,
    ) -> Error {
        let writer = self.launches.iter().find(|launch| launch.outputs().any(|output| output == slot));
        match (error.kind(), writer) {
            (ErrorKind::OutOfMemory { .. }, Some(launch)) => {
                error.with_op(called(launch.node).unwrap_or(launch.name))
            }
            _ => error,
        }
    }

    /// As [`Plan::told_of_slot`], of the largest value that lies in a device's arena.
    #[cold]
    pub(crate) fn told_of_arena(
        &self,
        device: Device,
        error: Error,
        called: impl Fn(usize) -> Option<&'static str>,
    ) -> Error {
        let lies_there = |slot: &Slot| slot.device == device && !slot.leaves && slot.donor.is_none();
        let within = self.slots.iter().enumerate().filter(|(_, slot)| lies_there(slot));
        let largest = within.max_by_key(|(_, slot)| slot.len.saturating_mul(slot.dtype.size()));
        largest.map_or(error.clone(), |(at, _)| self.told_of_slot(at, error, called))
    }

    /// Memory for one run, with these arenas.
    pub(crate) fn room(&self, arenas: &[Buffer]) -> Result<Room> {
        let own = |slot: &Slot| match slot.donor.is_none() && slot.leaves {
            true => Buffer::uninit(slot.device, slot.dtype, slot.len).map(Some),
            false => Ok(None),
        };
        let asked = |(at, slot)| own(slot).map_err(|error| self.told_of_slot(at, error, |_| None));
        let results = self.slots.iter().enumerate().map(asked).collect::<Result<_>>()?;
        Ok(Room { results, ..Room::of(arenas) })
    }

    /// As [`Plan::execute`], in memory of some manner.
    pub(crate) fn execute_in<B: Bindings + Sync>(
        &self,
        manner: Manner,
        graph: &B,
        mut sink: impl FnMut(&Output, Result<Value>),
    ) -> Result<()> {
        let Manner { room, whole, foreign, refusal, places, again } = manner;
        let (memory, arenas, buffers) = self.memory(graph, room, foreign, places)?;
        // Whoever collects launches holds their results; a reference more would have them copied where a plan overwrites them.
        for buffer in &arenas {
            if let Some(gpu) = collecting(buffer.device()) {
                gpu.keep(buffer);
            }
        }
        if let Some((device, checks)) = self.guarded {
            Gpu::of(device)?.note_guards(2 * checks)?;
        }
        self.assemble_ahead(&memory, &buffers, refusal);
        let (failures, bound) = (Failures::default(), Device::cpu());
        let mut walk =
            Walk { plan: self, memory: &memory, buffers: &buffers, whole, refusal, failures, bound };
        match again {
            Some(again) => walk.all_again(again)?,
            None => walk.all()?,
        }
        let Walk { refusal, failures, .. } = walk;
        if let Some((device, _)) = self.guarded.filter(|_| self.checks_until >= self.launches.len()) {
            refusal.gather(device)?;
        }
        for result in &self.results {
            sink(result, self.result(result, &memory, &buffers, &failures));
        }
        Ok(())
    }

    /// Where everything lies in a run: the addresses of slots, the arenas, and by slot what is memory of its own.
    #[inline]
    fn memory<'a, B: Bindings>(
        &'a self,
        graph: &'a B,
        room: Option<Room>,
        foreign: &[usize],
        places: &mut MemoryPlaces,
    ) -> Result<(Memory<'a, B>, SmallVec<[Buffer; 1]>, Buffers)> {
        let slots = SmallVec::with_capacity(self.slots.len());
        let mut memory = Memory { graph, slots, planned: &self.slots, precision: matmul_precision() };
        let is_given = room.is_some();
        let called = |node| graph.origin(node).map(|origin| origin.called);
        let Room { mut arenas, mut results } = room.unwrap_or_default();
        let has_donor = |slot: &Slot| slot.donor.is_some_and(|donor| graph.value(donor).is_some());
        if !is_given {
            let own = self.slots.iter().filter(|slot| slot.leaves && !has_donor(slot));
            let own = own.map(|slot| (slot.device, slot.dtype, slot.len));
            places
                .take_back(self.arenas.iter().map(|&(device, bytes)| (device, DType::U8, bytes)).chain(own));
            for &(device, bytes) in &self.arenas {
                let arena = places.find((device, DType::U8, bytes));
                arenas.push(arena.map_err(|error| self.told_of_arena(device, error, called))?);
            }
        }
        let mut buffers: Buffers = SmallVec::with_capacity(self.slots.len());
        for (i, slot) in self.slots.iter().enumerate() {
            let (address, buffer) = match slot.donor.and_then(|d| memory.value(d)) {
                Some(value) if foreign.contains(&i) => owned(self.instead(i, value)?),
                Some(value) => {
                    let at = value.layout.offset() * slot.dtype.size();
                    (value.buffer.as_mut_ptr().wrapping_add(at), None)
                }
                None if slot.leaves => owned(match results.get_mut(i).and_then(Option::take) {
                    Some(given) => given,
                    None => places
                        .find((slot.device, slot.dtype, slot.len))
                        .map_err(|error| self.told_of_slot(i, error, called))?,
                }),
                None => {
                    let arena = arenas.iter().find(|a| a.device() == slot.device);
                    let base = arena.map_or(std::ptr::null_mut(), |a| a.as_mut_ptr());
                    (base.wrapping_add(slot.offset), None)
                }
            };
            memory.slots.push(address);
            buffers.push(buffer);
        }
        Ok((memory, arenas, buffers))
    }

    /// Memory for a slot in place of that which it would have taken over, with what lies there if that is a part of the result.
    fn instead(&self, slot: usize, donor: &Value) -> Result<Buffer> {
        let planned = &self.slots[slot];
        let buffer = Buffer::uninit(planned.device, planned.dtype, planned.len)
            .map_err(|error| self.told_of_slot(slot, error, |_| None))?;
        if self.launches.iter().any(|l| l.is_in_place() && l.outputs().any(|s| s == slot)) {
            let gpu = Gpu::of(planned.device)?;
            let size = planned.dtype.size();
            let from = donor.buffer.address() + (donor.layout.offset() * size) as u64;
            // SAFETY: the donor lies densely, and is of as many elements as the slot; both live until the copy was asked for.
            unsafe { gpu.copy_from(buffer.address(), gpu, from, planned.len * size)? };
        }
        Ok(buffer)
    }

    fn result<B: Bindings>(
        &self,
        result: &Output,
        memory: &Memory<B>,
        buffers: &[Option<Buffer>],
        failures: &Failures,
    ) -> Result<Value> {
        let lost = || Error::new("realize", ErrorKind::Internal("a result without memory".into()));
        let value = match result.slot {
            Place::Slot(slot) => {
                if let Some(error) = failures.of(slot) {
                    return Err(error.clone());
                }
                let planned = &self.slots[slot];
                match (planned.donor.and_then(|d| memory.value(d)), &buffers[slot]) {
                    (_, Some(buffer)) => {
                        Value { buffer: buffer.clone(), layout: Layout::contiguous(planned.shape) }
                    }
                    (Some(donor), None) => Value {
                        buffer: donor.buffer.clone(),
                        layout: with_offset(
                            &Layout::contiguous(planned.shape),
                            donor.layout.offset() as isize,
                        ),
                    },
                    (None, None) => return Err(lost()),
                }
            }
            Place::Node(node) => memory.value(node).ok_or_else(lost)?.clone(),
        };
        Ok(match &result.layout {
            Some((layout, delta)) => {
                let offset = value.layout.offset() as isize + delta;
                Value { layout: with_offset(layout, offset), ..value }
            }
            None => value,
        })
    }
}

/// A walk over a plan's launches.
struct Walk<'a, B> {
    plan: &'a Plan,
    memory: &'a Memory<'a, B>,
    buffers: &'a [Option<Buffer>],
    whole: Whole,
    refusal: &'a mut Refusal,
    failures: Failures,
    /// The device that this thread was bound to last; the host where that is not known.
    bound: Device,
}

impl<B: Bindings + Sync> Walk<'_, B> {
    fn all(&mut self) -> Result<()> {
        for (at, launch) in self.plan.launches.iter().enumerate() {
            self.go_on(at)?;
            self.launch(at, launch)?;
        }
        Ok(())
    }

    /// As [`Walk::all`], but for launches that are as they were.
    fn all_again(&mut self, again: Again) -> Result<()> {
        let Again { users, packed, read } = again;
        let plan = self.plan;
        let Some(gpu) = plan.launches.first().and_then(|launch| collecting(launch.device)) else {
            return self.all();
        };
        let of = Of { precision: self.memory.precision, asked: self.refusal.asked() };
        packed.look(plan, users, of, &read, &self.memory.slots, self.buffers);
        let mut at = 0;
        while let Some(launch) = plan.launches.get(at) {
            self.go_on(at)?;
            // What checks have refused is gathered before the launch that comes after all of them.
            let end = if at < plan.checks_until { plan.checks_until } else { plan.launches.len() };
            if self.failures.0.is_empty() {
                let next = packed.again(gpu, at, end.min(plan.launches.len()));
                if next > at {
                    at = next;
                    continue;
                }
            }
            let from = gpu.collected_mark();
            self.launch(at, launch)?;
            let marks = from.zip(gpu.collected_mark());
            // Places where checks tell what they find are others each time, as is memory of a launch's own; what is launched until a kernel is there is not what will be.
            let is_whole = !launch.is_checked() && self.failures.0.is_empty() && !launch.waits();
            let stays = |(from, to): &(Mark, Mark)| is_whole && !from.keeps_until(*to);
            packed.made(at, marks.filter(stays));
            at += 1;
        }
        Ok(())
    }

    /// Runs the launch at a position, and keeps what fails for the results that it would have written.
    #[inline]
    fn launch(&mut self, at: usize, launch: &Launch) -> Result<()> {
        if launch.device.is_cpu() && !launch.is_transfer() {
            let mut run = Run { memory: self.memory, failures: &mut self.failures };
            let make = || match or_missing(|| Cpu.launch(launch, &mut run)) {
                Ok(result) => result,
                Err(kind) => {
                    let called =
                        self.memory.graph.origin(launch.node).map_or(launch.name, |origin| origin.op);
                    Err(Error::new(called, kind))
                }
            };
            return match profile::timed(self.plan, self.memory.graph, launch, make) {
                Ok(()) => Ok(()),
                // What a launch overwrites may be half gone.
                Err(error) => self.failed(launch, error, at < self.plan.overwrites_from),
            };
        }
        let result = self.on_device(launch)?;
        if let Some((device, _)) = self.plan.guarded.filter(|_| launch.is_checked()) {
            self.refusal.note(device, launch.bit)?;
        }
        // A transfer has bound the device that it read.
        self.bound = if launch.is_transfer() { Device::cpu() } else { launch.device };
        match result {
            Ok(()) => Ok(()),
            Err(error) => {
                let error = self.told(launch, error);
                self.failed(launch, error, at <= self.plan.overwrites_from)
            }
        }
    }

    /// Keeps what failed for the results that it would have written. Where nothing was overwritten yet (`untouched`) and it is the
    /// machine's failure, all can stay pending, and be asked for again.
    fn failed(&mut self, launch: &Launch, error: Error, untouched: bool) -> Result<()> {
        if untouched && self.whole != Whole::ToTheEnd && is_machines(&error) {
            return Err(error);
        }
        launch.outputs().for_each(|slot| self.failures.add(slot, error.clone()));
        Ok(())
    }

    /// Stops before the launch at a position where the plan is not to go on, and has checks told what they refused once all have run.
    fn go_on(&mut self, at: usize) -> Result<()> {
        // Once something was overwritten the plan is finished. Before, all can stay pending and be asked for again.
        let can_stop = at > 0 && at <= self.plan.overwrites_from && self.whole != Whole::ToTheEnd;
        if can_stop && self.failures.0.is_empty() && crate::interrupt::is_asked() {
            return Err(Error::new("realize", ErrorKind::Cancelled));
        }
        if self.whole == Whole::OrNothing
            && at >= self.plan.checks_until
            && let Some((_, error)) = self.failures.0.first()
        {
            return Err(error.clone());
        }
        match self.plan.guarded.filter(|_| at == self.plan.checks_until) {
            Some((device, _)) => self.refusal.gather(device),
            None => Ok(()),
        }
    }

    /// Starts a launch on a CUDA device, or a transfer: how that went.
    fn on_device(&mut self, launch: &Launch) -> Result<Result<()>> {
        let gate = self.gate(launch)?;
        if let Some(gpu) = collecting(launch.device) {
            let asks = launch.is_checked() || gate.is_some();
            let reads = launch.inputs().filter_map(|b| self.memory.span(b.loc));
            let reads = reads.chain(asks.then(|| Refusal::of_checks(gpu))).collect();
            let writes = launch.outputs().filter_map(|slot| self.memory.span(Loc::Slot(slot))).collect();
            gpu.collects_work(reads, writes);
        }
        // Nothing is there to tell the results of one launch apart.
        let known = launch.inputs().find_map(|b| self.failures.at(b)).map_or(Ok(()), Err);
        let bound = self.bound;
        let bind = || match launch.device.is_cuda() && launch.device != bound {
            true => Gpu::of(launch.device).and_then(Gpu::bind),
            false => Ok(()),
        };
        if let Some((gpu, bits)) = gate {
            gpu.set_gate(gpu.refusal(), bits);
        }
        let mut run = Run { memory: self.memory, failures: &mut self.failures };
        let make = || known.and_then(|()| bind()).and_then(|()| Cuda.launch(launch, &mut run));
        let result = profile::timed(self.plan, self.memory.graph, launch, make);
        if let Some((gpu, _)) = gate {
            gpu.set_gate(0, 0);
        }
        Ok(result)
    }

    /// What a launch asks before it overwrites something.
    fn gate(&mut self, launch: &Launch) -> Result<Option<(&'static Gpu, u64)>> {
        match self.plan.overwritten(launch, self.buffers) {
            Some(depends) => self.refusal.gate(launch.device, depends),
            None => Ok(None),
        }
    }

    /// What the driver refuses, and memory that is missing, is told of the operation that asked for it.
    fn told(&self, launch: &Launch, error: Error) -> Error {
        match (error.kind(), error.op()) {
            (ErrorKind::Cuda(_) | ErrorKind::Device(_), "cuda" | "load" | "device") => {
                let origin = launch.origin(self.memory.graph);
                error.with_op(origin.name).with_location(origin.line)
            }
            // Whoever is to use less memory wants to know what of theirs asked for it, and not what that is composed of.
            (ErrorKind::OutOfMemory { .. }, "allocate") => match self.memory.graph.origin(launch.node) {
                Some(origin) => error.with_op(origin.called).with_location(origin.line),
                None => error.with_op(launch.name),
            },
            _ => error,
        }
    }
}
