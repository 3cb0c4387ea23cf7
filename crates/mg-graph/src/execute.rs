//! Running a plan on the CPU: memory, arguments, launches, and what fails with what.

use crate::engine::{Collected, Garbage};
use crate::kernel::Kernel;
use crate::node::{Inner, Value};
use crate::op::SourceKind;
use crate::plan::{
    Action, Bind, Bindings, Code, ConstBind, KernelArg, Launch, Loc, Output, Place, Plan, ProgramLaunch, Slot,
};
use crate::refusal::{Pair, Refusal, is_machines};
use mg_device::cuda::Gpu;
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Layout, Result};
use mg_kernels::cpu::library as routines;
use mg_kernels::cpu::run::{Args, InputArg, OutOfRange, Refusals, ZERO_DIVISOR, join_refusals};
use mg_kernels::library::{self, Library, Shaped};
use mg_kernels::{Inst, Val};
use smallvec::SmallVec;
use std::ops::Range;

/// The memory of one run of a plan.
pub(crate) struct Memory<'a, B> {
    pub(crate) graph: &'a B,
    pub(crate) slots: SmallVec<[*mut u8; 16]>,
    planned: &'a [Slot],
}

impl<B: Bindings> Memory<'_, B> {
    fn value(&self, node: usize) -> Option<&Value> {
        self.graph.value(node)
    }

    fn input(&self, bind: &Bind, dtype: DType) -> InputArg {
        let mut arg = InputArg { ptr: std::ptr::null(), base: bind.delta as i64 as u64, seed: 0 };
        match bind.loc {
            Loc::Slot(slot) => {
                arg.ptr = self.slots[slot].wrapping_offset(bind.delta * dtype.size() as isize).cast_const();
            }
            Loc::Node(node) => match self.graph.argument(node) {
                Some(SourceKind::Random { seed, counter }) => {
                    arg.seed = seed;
                    arg.base = arg.base.wrapping_add(counter);
                }
                Some(SourceKind::Ramp) => {}
                _ => {
                    if let Some(value) = self.value(node) {
                        let offset = value.layout.offset() as isize + bind.delta;
                        arg.ptr = value.buffer.as_ptr().wrapping_offset(offset * dtype.size() as isize);
                    }
                }
            },
            Loc::Stored(_) | Loc::Product => {}
        }
        arg
    }

    /// The device of an operand.
    pub(crate) fn device_of(&self, arg: &KernelArg) -> Device {
        match arg.bind.loc {
            Loc::Slot(slot) => self.planned[slot].device,
            Loc::Node(node) => self.value(node).map_or(Device::cpu(), |v| v.buffer.device()),
            _ => Device::cpu(),
        }
    }

    /// The addresses of what lies at a place; nothing where it is no memory.
    fn span(&self, loc: Loc) -> Option<Range<u64>> {
        let (start, bytes) = match loc {
            Loc::Slot(slot) => {
                let planned = &self.planned[slot];
                (self.slots[slot].addr(), planned.len * planned.dtype.size())
            }
            Loc::Node(node) => {
                let buffer = &self.value(node)?.buffer;
                (buffer.as_ptr().addr(), buffer.bytes())
            }
            Loc::Stored(_) | Loc::Product => return None,
        };
        Some(start as u64..(start + bytes) as u64)
    }

    /// The buffer's start, and the layout with the offset of this run.
    pub(crate) fn operand(&self, arg: &KernelArg) -> (*const u8, Layout) {
        let (base, offset) = match arg.bind.loc {
            Loc::Slot(slot) => (self.slots[slot].cast_const(), 0),
            Loc::Node(node) => self
                .value(node)
                .map_or((std::ptr::null(), 0), |v| (v.buffer.as_ptr(), v.layout.offset() as isize)),
            _ => (std::ptr::null(), 0),
        };
        (base, with_offset(&arg.layout, offset + arg.bind.delta))
    }
}

/// The device's state, if it collects launches.
fn collecting(device: Device) -> Option<&'static Gpu> {
    if device.is_cpu() {
        return None;
    }
    Gpu::of(device).ok().filter(|gpu| gpu.is_collecting())
}

/// A layout with another offset.
fn with_offset(layout: &Layout, offset: isize) -> Layout {
    if layout.offset() as isize == offset {
        return *layout;
    }
    Layout::new(*layout.shape(), layout.strides(), offset.max(0) as usize).unwrap_or(*layout)
}

/// Why slots have no value. Nearly always empty.
#[derive(Default)]
struct Failures(Vec<(usize, Error)>);

impl Failures {
    fn of(&self, slot: usize) -> Option<&Error> {
        self.0.iter().find(|f| f.0 == slot).map(|f| &f.1)
    }

    fn at(&self, bind: &Bind) -> Option<Error> {
        match bind.loc {
            Loc::Slot(slot) => self.of(slot).cloned(),
            _ => None,
        }
    }

    fn add(&mut self, slot: usize, error: Error) {
        if self.of(slot).is_none() {
            self.0.push((slot, error));
        }
    }
}

/// Values of a program that are wrong, and why.
type Bad = Vec<(Val, Error)>;

/// The error of a check that refused something.
fn refused<B: Bindings>(graph: &B, node: usize, found: OutOfRange) -> Error {
    let Some(origin) = graph.origin(node) else {
        return Error::new("realize", ErrorKind::Internal("a check of unknown origin".into()));
    };
    if let Some(text) = library::factor::refusal(&found) {
        return Error::new(origin.op, ErrorKind::Singular(text)).with_location(origin.line);
    }
    let kind = match found.size {
        ZERO_DIVISOR => ErrorKind::Value("an integer is divided by zero".into()),
        size => ErrorKind::Index { index: found.index, axis: origin.axis, size: size.max(0) as usize },
    };
    Error::new(origin.op, kind).with_location(origin.line)
}

/// Memory of one run of a plan: temporary, and for results.
#[derive(Default)]
pub(crate) struct Room {
    arenas: SmallVec<[Buffer; 1]>,
    /// By slot.
    results: Vec<Option<Buffer>>,
}

/// A node that is written to a tensor, which may be refused.
struct Replaced {
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

impl Replaced {
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
pub(crate) struct Places {
    before: Vec<u64>,
    now: Vec<u64>,
}

impl Places {
    /// As a run before, which found these.
    pub(crate) fn as_before(before: Vec<u64>) -> Places {
        let now = Vec::with_capacity(before.len());
        Places { before, now }
    }

    fn find(&mut self, ask: impl FnOnce(u64) -> Result<Buffer>) -> Result<Buffer> {
        let buffer = ask(self.before.get(self.now.len()).copied().unwrap_or(0))?;
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
    pub(crate) places: &'a mut Places,
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
            |r: &Replaced, node| r.node == node || matches!(r.old, Old::Computed(first) if first == node);
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
        refusal.restore(&pairs.collect::<Vec<_>>())
    }

    /// The nodes that are written to tensors by a plan with checks on a CUDA device that may refuse them, and what the tensors
    /// hold before.
    fn replaced(&self, graph: &Collected) -> Vec<Replaced> {
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
                        return Some(Replaced { node: result.node, slot, old, depends });
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
                            return Some(Replaced { node: result.node, slot, old, depends });
                        }
                    }
                }
            }
            None
        };
        self.results.iter().filter_map(old).collect()
    }

    /// The slots that would take over memory of what another result replaces: if that is to be there again, they must not.
    fn foreign(&self, graph: &Collected, replaced: &[Replaced]) -> Vec<usize> {
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
        let (room, places) = (None, &mut Places::default());
        self.execute_in(Manner { room, whole, foreign, refusal, places }, graph, sink)
    }

    /// Memory for one run, with these arenas.
    pub(crate) fn room(&self, arenas: &[Buffer]) -> Result<Room> {
        let own = |slot: &Slot| match slot.donor.is_none() && slot.leaves {
            true => Buffer::uninit(slot.device, slot.dtype, slot.len).map(Some),
            false => Ok(None),
        };
        let results = self.slots.iter().map(own).collect::<Result<_>>()?;
        Ok(Room { arenas: arenas.iter().cloned().collect(), results })
    }

    /// As [`Plan::execute`], in memory of some manner.
    pub(crate) fn execute_in<B: Bindings + Sync>(
        &self,
        manner: Manner,
        graph: &B,
        mut sink: impl FnMut(&Output, Result<Value>),
    ) -> Result<()> {
        let Manner { room, whole, foreign, refusal, places } = manner;
        let mut memory =
            Memory { graph, slots: SmallVec::with_capacity(self.slots.len()), planned: &self.slots };
        let is_given = room.is_some();
        let Room { mut arenas, mut results } = room.unwrap_or_default();
        if !is_given {
            for &(device, bytes) in &self.arenas {
                arenas.push(places.find(|at| Buffer::uninit_at(device, DType::U8, bytes, at))?);
            }
        }
        let mut buffers: SmallVec<[Option<Buffer>; 8]> = SmallVec::with_capacity(self.slots.len());
        for (i, slot) in self.slots.iter().enumerate() {
            if let (Some(value), true) = (slot.donor.and_then(|d| memory.value(d)), foreign.contains(&i)) {
                let buffer = self.instead(i, value)?;
                memory.slots.push(buffer.as_mut_ptr());
                buffers.push(Some(buffer));
            } else if let Some(value) = slot.donor.and_then(|d| memory.value(d)) {
                let at = value.layout.offset() * slot.dtype.size();
                memory.slots.push(value.buffer.as_mut_ptr().wrapping_add(at));
                buffers.push(None);
            } else if slot.leaves {
                let given = results.get_mut(i).and_then(Option::take);
                let buffer = match given {
                    Some(given) => given,
                    None => places.find(|at| Buffer::uninit_at(slot.device, slot.dtype, slot.len, at))?,
                };
                memory.slots.push(buffer.as_mut_ptr());
                buffers.push(Some(buffer));
            } else {
                let arena = arenas.iter().find(|a| a.device() == slot.device);
                let base = arena.map_or(std::ptr::null_mut(), |a| a.as_mut_ptr());
                memory.slots.push(base.wrapping_add(slot.offset));
                buffers.push(None);
            }
        }
        // Whoever collects launches holds their results; a reference more would have them copied where a plan overwrites them.
        for buffer in &arenas {
            if let Some(gpu) = collecting(buffer.device()) {
                gpu.keep(buffer);
            }
        }
        if let Some((device, checks)) = self.guarded {
            Gpu::of(device)?.note_guards(2 * checks)?;
        }
        let mut failures = Failures::default();
        let mut bound = Device::cpu();
        for (at, launch) in self.launches.iter().enumerate() {
            // Once something was overwritten the plan is finished. Before, all can stay pending and be asked for again.
            let can_stop = at > 0 && at <= self.overwrites_from && whole != Whole::ToTheEnd;
            if can_stop && failures.0.is_empty() && crate::interrupt::is_asked() {
                return Err(Error::new("realize", ErrorKind::Cancelled));
            }
            if whole == Whole::OrNothing
                && at >= self.checks_until
                && let Some((_, error)) = failures.0.first()
            {
                return Err(error.clone());
            }
            if let Some((device, _)) = self.guarded.filter(|_| at == self.checks_until) {
                refusal.gather(device)?;
            }
            if launch.device.is_cpu() && !launch.is_transfer() {
                launch.run(&memory, &mut failures);
                continue;
            }
            let is_overwritten = |&slot: &usize| self.slots[slot].donor.is_some() && buffers[slot].is_none();
            let gate = match launch
                .outputs()
                .filter(is_overwritten)
                .map(|s| self.slots[s].depends)
                .reduce(|a, b| a | b)
            {
                Some(depends) => refusal.gate(launch.device, depends)?,
                None => None,
            };
            if let Some(gpu) = collecting(launch.device) {
                let asks = launch.is_checked() || gate.is_some();
                let reads = launch.inputs().filter_map(|b| memory.span(b.loc));
                let reads = reads.chain(asks.then(|| Refusal::of_checks(gpu))).collect();
                let writes = launch.outputs().filter_map(|slot| memory.span(Loc::Slot(slot))).collect();
                gpu.collects_work(reads, writes);
            }
            let known = launch.inputs().find_map(|b| failures.at(b)).map_or(Ok(()), Err);
            let bind = || match launch.device.is_cuda() && launch.device != bound {
                true => Gpu::of(launch.device).and_then(Gpu::bind),
                false => Ok(()),
            };
            if let Some((gpu, bits)) = gate {
                gpu.set_gate(gpu.refusal(), bits);
            }
            let result = known.and_then(|()| bind()).and_then(|()| launch.on_device(&memory));
            if let Some((gpu, _)) = gate {
                gpu.set_gate(0, 0);
            }
            if let Some((device, _)) = self.guarded.filter(|_| launch.is_checked()) {
                refusal.note(device, launch.bit)?;
            }
            // A transfer has bound the device that it read.
            bound = if launch.is_transfer() { Device::cpu() } else { launch.device };
            if let Err(error) = result {
                // What the driver refuses is told of the operation that asked for it.
                let error = match (error.kind(), error.op()) {
                    (ErrorKind::Cuda(_) | ErrorKind::Device(_), "cuda" | "load" | "device") => {
                        let origin = launch.origin(graph);
                        error.with_op(origin.name).with_location(origin.line)
                    }
                    _ => error,
                };
                // Nothing was overwritten yet: all can stay pending, and be asked for again.
                if at <= self.overwrites_from && whole != Whole::ToTheEnd && is_machines(&error) {
                    return Err(error);
                }
                launch.outputs().for_each(|slot| failures.add(slot, error.clone()));
            }
        }
        if let Some((device, _)) = self.guarded.filter(|_| self.checks_until >= self.launches.len()) {
            refusal.gather(device)?;
        }
        for result in &self.results {
            sink(result, self.result(result, &memory, &buffers, &failures));
        }
        Ok(())
    }

    /// Memory for a slot in place of that which it would have taken over, with what lies there if that is a part of the result.
    fn instead(&self, slot: usize, donor: &Value) -> Result<Buffer> {
        let planned = &self.slots[slot];
        let buffer = Buffer::uninit(planned.device, planned.dtype, planned.len)?;
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

impl Launch {
    fn is_transfer(&self) -> bool {
        matches!(self.action, Action::Kernel { kernel: Kernel::Transfer, .. })
    }

    /// Runs the launch. What fails, or depends on what failed before, is noted with the slots that it would have written;
    /// the rest is computed.
    fn run<B: Bindings + Sync>(&self, memory: &Memory<B>, failures: &mut Failures) {
        match &self.action {
            Action::Program(p) => {
                let Some(bad) = p.depends_on(failures) else { return };
                let Code::Cpu(compiled) = &p.code else { return self.is_elsewhere(failures) };
                let result = p.with_args(memory, |args, _| {
                    // SAFETY: operands and outputs are the plan's, sized by the shapes that the program was made from.
                    unsafe { compiled.run(args) }
                });
                p.note(bad, result.err(), memory.graph, failures);
            }
            Action::List(list) => self.list(list, memory, failures),
            Action::Copy { from, output } => {
                if let Some(error) = failures.at(&from.bind) {
                    return failures.add(*output, error);
                }
                let (src, layout) = memory.operand(from);
                let dense = Layout::contiguous(*layout.shape());
                // SAFETY: the operand lies as its layout says; the slot has room for as many elements.
                unsafe {
                    routines::copy_strided(self.dtype.size(), src, &layout, memory.slots[*output], &dense)
                };
            }
            Action::Kernel { kernel: Kernel::Library(library), args, output: Some(output), .. } => {
                if let Some(error) = args.iter().find_map(|a| failures.at(&a.bind)) {
                    return failures.add(*output, error);
                }
                if let Err(error) = self.library_on_cpu(library, args, memory.slots[*output], memory) {
                    failures.add(*output, error);
                }
            }
            Action::Kernel { kernel, args, output, epilogue, .. } => {
                let error = args.iter().find_map(|a| failures.at(&a.bind));
                let result = match (error, epilogue) {
                    (Some(error), _) => Err(error),
                    (None, Some(p)) if p.depends_on(failures).is_none() && output.is_none() => return,
                    (None, _) => {
                        let operands: SmallVec<[(*const u8, Layout); 3]> =
                            args.iter().map(|a| memory.operand(a)).collect();
                        let out = output.map(|slot| memory.slots[slot]);
                        self.kernel(kernel, &operands, out, epilogue.as_ref(), memory, failures)
                    }
                };
                if let Err(error) = result {
                    self.outputs().for_each(|slot| failures.add(slot, error.clone()));
                }
            }
        }
    }

    /// Runs a kernel that has a room of its own.
    fn library_on_cpu<B: Bindings>(
        &self,
        library: &Library,
        args: &[KernelArg],
        out: *mut u8,
        memory: &Memory<B>,
    ) -> Result<()> {
        let mut operands: SmallVec<[library::Operand; 4]> = SmallVec::new();
        for arg in args {
            let (base, layout) = memory.operand(arg);
            if !layout.is_contiguous() {
                let text = "a kernel's operand does not lie densely".into();
                return Err(Error::new(self.name, ErrorKind::Internal(text)));
            }
            operands.push(library::Operand { base, layout, dtype: arg.dtype });
        }
        let result = Shaped { shape: self.shape, dtype: self.dtype };
        // SAFETY: operands and output are the plan's, and lie as their layouts say.
        unsafe { library.cpu(&operands, out, &result) }
            .map_err(|found| refused(memory.graph, self.node, found))
    }

    /// The launch's programs are another device's.
    fn is_elsewhere(&self, failures: &mut Failures) {
        let error = Error::new(self.name, ErrorKind::Internal("a CUDA program among the CPU's".into()));
        self.outputs().for_each(|slot| failures.add(slot, error.clone()));
    }

    /// Runs a list of elementwise programs, divided among threads as one.
    fn list<B: Bindings + Sync>(&self, list: &[ProgramLaunch], memory: &Memory<B>, failures: &mut Failures) {
        let bad: SmallVec<[Option<Bad>; 16]> = list.iter().map(|p| p.depends_on(failures)).collect();
        let mut tasks: SmallVec<[(usize, Range<usize>); 16]> = SmallVec::new();
        for (i, p) in list.iter().enumerate().filter(|(i, _)| bad[*i].is_some()) {
            let n = p.code.len();
            tasks.extend((0..n).step_by(LIST_TASK).map(|at| (i, at..(at + LIST_TASK).min(n))));
        }
        let refused: std::sync::Mutex<Vec<(usize, Refusals)>> = std::sync::Mutex::default();
        let memory = SharedMemory(memory);
        let run = |task: usize| {
            let memory = &memory;
            let (i, range) = &tasks[task];
            let p = &list[*i];
            let Code::Cpu(compiled) = &p.code else { return };
            // SAFETY: as for a program; tasks are disjoint.
            let result = p.with_args(memory.0, |args, _| unsafe { compiled.run_range(args, range.clone()) });
            if let (Err(found), Ok(mut refused)) = (result, refused.lock()) {
                refused.push((*i, found));
            }
        };
        let work: usize = list.iter().map(|p| p.code.len() * p.program.values.len()).sum();
        if work < mg_kernels::cpu::run::PARALLEL {
            (0..tasks.len()).for_each(run);
        } else {
            mg_kernels::cpu::pool::parallel(tasks.len(), &run);
        }
        let refused = refused.into_inner().unwrap_or_default();
        for (i, (p, bad)) in list.iter().zip(bad).enumerate() {
            let mut found: Option<Refusals> = None;
            for (_, refusals) in refused.iter().filter(|r| r.0 == i) {
                join_refusals(found.get_or_insert_default(), refusals);
            }
            if let Some(bad) = bad {
                p.note(bad, found, memory.0.graph, failures);
            }
        }
    }

    fn kernel<B: Bindings>(
        &self,
        kernel: &Kernel,
        operands: &[(*const u8, Layout)],
        out: Option<*mut u8>,
        epilogue: Option<&ProgramLaunch>,
        memory: &Memory<B>,
        failures: &mut Failures,
    ) -> Result<()> {
        let size = self.dtype.size();
        let refused = |found| refused(memory.graph, self.node, found);
        let lost = || Error::new(self.name, ErrorKind::Internal("a kernel without its operands".into()));
        // SAFETY (all below): operands and output are the plan's, and lie as their layouts say.
        match kernel {
            Kernel::MatMul => {
                let [(a, la), (b, lb)] = operands else { return Err(lost()) };
                match epilogue {
                    // SAFETY: see above.
                    None => unsafe { routines::matmul(self.dtype, *a, la, *b, lb, out, None) },
                    Some(p) => {
                        let compiled = p.code.on_cpu()?;
                        let refusals: std::sync::Mutex<Refusals> = std::sync::Mutex::default();
                        p.with_args(memory, |args, product| {
                            let shared = SharedArgs(args);
                            let after = |panel: *const u8, range: Range<usize>| {
                                let shared = &shared;
                                let mut inputs: SmallVec<[InputArg; 16]> = shared.0.inputs.into();
                                for &i in product {
                                    inputs[i].ptr = panel;
                                }
                                let args = Args { inputs: &inputs, ..*shared.0 };
                                // SAFETY: the panel holds these positions of the product; the rest as for programs.
                                let result = unsafe { compiled.run_range(&args, range) };
                                if let (Err(found), Ok(mut refusals)) = (result, refusals.lock()) {
                                    join_refusals(&mut refusals, &found);
                                }
                            };
                            // SAFETY: see above.
                            unsafe { routines::matmul(self.dtype, *a, la, *b, lb, out, Some(&after)) };
                        });
                        let found = refusals.into_inner().unwrap_or_default();
                        let bad = p.bad_inputs(failures);
                        p.note(bad, (!found.is_empty()).then_some(found), memory.graph, failures);
                    }
                }
            }
            Kernel::Gather { axis, .. } => {
                let ([(x, lx), (index, lindex)], Some(out)) = (operands, out) else { return Err(lost()) };
                // SAFETY: see above.
                unsafe { routines::gather(size, *x, lx, *index, lindex, *axis as usize, out) }
                    .map_err(refused)?;
            }
            Kernel::ScatterAdd { axis, .. } => {
                let ([(x, lx), (index, lindex)], Some(out)) = (operands, out) else { return Err(lost()) };
                let n = self.shape[*axis as usize];
                // SAFETY: see above.
                unsafe { routines::scatter_add(self.dtype, *x, lx, *index, lindex, *axis as usize, n, out) }
                    .map_err(refused)?;
            }
            Kernel::Write { region } => {
                let (Some((x, lx)), Some(out)) = (operands.first(), out) else { return Err(lost()) };
                // SAFETY: see above.
                unsafe {
                    match operands.get(1) {
                        // All else is there already.
                        Some(_) if self.is_in_place() => {}
                        Some((base, lbase)) => {
                            routines::copy_strided(size, *base, lbase, out, &Layout::contiguous(self.shape));
                        }
                        None => routines::fill_zero(out, self.shape.numel() * size),
                    }
                    routines::copy_strided(size, *x, lx, out, region);
                }
            }
            Kernel::Concat { axis } => {
                let Some(out) = out else { return Err(lost()) };
                let whole = Layout::contiguous(self.shape);
                let mut at = 0isize;
                for (x, lx) in operands {
                    let n = lx.shape()[*axis as usize] as isize;
                    let part = whole.slice(*axis as usize, Some(at), Some(at + n), 1)?;
                    // SAFETY: see above.
                    unsafe { routines::copy_strided(size, *x, lx, out, &part) };
                    at += n;
                }
            }
            // Runs on the device that it comes from or goes to; or as what it is.
            Kernel::Transfer | Kernel::Library(_) => return Err(lost()),
        }
        Ok(())
    }
}

/// Positions that one task of a list computes.
const LIST_TASK: usize = 1 << 16;

/// A plan's memory, for the threads that run a list.
struct SharedMemory<'a, 'b, B>(&'a Memory<'b, B>);
// SAFETY: the bindings are Sync; slots are addresses of memory that this run owns, of which tasks write disjoint ranges.
unsafe impl<B: Sync> Sync for SharedMemory<'_, '_, B> {}

/// A launch's arguments, for the threads that run a product's panels.
struct SharedArgs<'a, 'b>(&'a Args<'b>);
// SAFETY: `Args` may be used from any thread by its own contract.
unsafe impl Sync for SharedArgs<'_, '_> {}

impl ProgramLaunch {
    /// The operands that an earlier failure left without values.
    fn bad_inputs(&self, failures: &Failures) -> Bad {
        if failures.0.is_empty() {
            return vec![];
        }
        let values = self.program.values.iter().enumerate();
        let bad = values.filter_map(|(v, value)| match value.inst {
            Inst::Input(i) => Some((v as Val, failures.at(&self.inputs[i as usize])?)),
            _ => None,
        });
        bad.collect()
    }

    /// As [`ProgramLaunch::bad_inputs`]; `None` if that leaves nothing to compute, which is then noted.
    fn depends_on(&self, failures: &mut Failures) -> Option<Bad> {
        let bad = self.bad_inputs(failures);
        if bad.is_empty() {
            return Some(bad);
        }
        let errors = self.errors(&bad);
        if errors.iter().any(Option::is_none) {
            return Some(bad);
        }
        self.outputs
            .iter()
            .zip(errors)
            .for_each(|(&slot, e)| e.into_iter().for_each(|e| failures.add(slot, e)));
        None
    }

    /// For each output, the error of the first wrong value that it is computed from.
    fn errors(&self, bad: &Bad) -> Vec<Option<Error>> {
        let mut errors: Vec<Option<&Error>> = vec![None; self.program.values.len()];
        for v in 0..errors.len() {
            let own = bad.iter().find(|(b, _)| *b as usize == v).map(|(_, error)| error);
            errors[v] = self.program.args(v as Val).find_map(|a| errors[a as usize]).or(own);
        }
        self.program.outputs.iter().map(|&(v, _)| errors[v as usize].cloned()).collect()
    }

    /// Notes the outputs that are computed from wrong operands or from what a check refused.
    fn note<B: Bindings>(&self, mut bad: Bad, found: Option<Refusals>, graph: &B, failures: &mut Failures) {
        for refusal in found.into_iter().flatten() {
            let node = self.checks.iter().find(|c| c.value == refusal.value).map_or(usize::MAX, |c| c.node);
            bad.push((refusal.value, refused(graph, node, refusal.found)));
        }
        if bad.is_empty() {
            return;
        }
        for (&slot, error) in self.outputs.iter().zip(self.errors(&bad)) {
            error.into_iter().for_each(|error| failures.add(slot, error));
        }
    }

    /// Binds the arguments; `f` also gets the positions of the operands that are the product's panel.
    pub(crate) fn with_args<B: Bindings, R>(
        &self,
        memory: &Memory<B>,
        f: impl FnOnce(&Args, &[usize]) -> R,
    ) -> R {
        const NONE: InputArg = InputArg { ptr: std::ptr::null(), base: 0, seed: 0 };
        let (mut few, mut many);
        let inputs: &mut [InputArg] = if self.inputs.len() <= 8 {
            few = [NONE; 8];
            &mut few[..self.inputs.len()]
        } else {
            many = vec![NONE; self.inputs.len()];
            &mut many
        };
        let mut product: SmallVec<[usize; 2]> = SmallVec::new();
        for (i, (bind, operand)) in self.inputs.iter().zip(&self.program.inputs).enumerate() {
            if bind.loc == Loc::Product {
                product.push(i);
            }
            inputs[i] = memory.input(bind, operand.dtype);
        }
        let mut consts: SmallVec<[u64; 8]> = SmallVec::new();
        for c in &self.consts {
            consts.push(match *c {
                ConstBind::Literal(bits) => bits,
                ConstBind::Node(node) => match memory.graph.argument(node) {
                    Some(SourceKind::Const { bits, .. } | SourceKind::Live { bits, .. }) => bits,
                    _ => 0,
                },
            });
        }
        let mut outputs: SmallVec<[*mut u8; 8]> = SmallVec::new();
        for &slot in &self.outputs {
            outputs.push(memory.slots[slot]);
        }
        f(&Args { inputs, consts: &consts, outputs: &outputs }, &product)
    }
}
