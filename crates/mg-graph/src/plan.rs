//! Plans: the launches that a graph's structure stands for, with everything decided that does not depend on addresses,
//! scalars and offsets.

pub(crate) use crate::code::Code;
use crate::cuda::Prepared;
use crate::engine::{Collected, Garbage};
use crate::kernel::Kernel;
use crate::node::{Inner, Value};
use crate::op::{Op, SourceKind};
use mg_device::cuda::Gpu;
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Layout, Result, Shape};
use mg_kernels::Program;
use mg_kernels::cpu::library;
use mg_kernels::cpu::run::{Args, InputArg, OutOfRange, ZERO_DIVISOR};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Where an operand comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Loc {
    /// A known value, or an argument (ramp, random numbers), by its position in the graph.
    Node(usize),
    /// A value that this plan computes, by its position in the graph (until slots are known).
    Stored(usize),
    /// A slot of the plan.
    Slot(usize),
    /// The panel of the matrix product that the program is the epilogue of.
    Product,
}

/// An operand's source and what is added to its offset, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bind {
    pub(crate) loc: Loc,
    pub(crate) delta: isize,
}

/// Where a scalar argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ConstBind {
    Literal(u64),
    Node(usize),
}

/// An operation that checks indices, for its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarded {
    pub(crate) op: &'static str,
    pub(crate) location: &'static Location<'static>,
}

pub(crate) struct ProgramLaunch {
    pub(crate) program: Program,
    pub(crate) code: Code,
    pub(crate) inputs: Vec<Bind>,
    pub(crate) consts: Vec<ConstBind>,
    pub(crate) outputs: Vec<usize>,
    pub(crate) guarded: Option<Guarded>,
}

pub(crate) struct KernelArg {
    pub(crate) bind: Bind,
    /// Strides as planned; the offset is the planned one and is replaced at the launch.
    pub(crate) layout: Layout,
}

pub(crate) enum Action {
    Program(ProgramLaunch),
    /// Elementwise programs over spaces of their own that do not wait for each other: an optimiser's step.
    List(Vec<ProgramLaunch>),
    /// Elements laid out densely that were not.
    Copy {
        from: KernelArg,
        output: usize,
    },
    Kernel {
        kernel: Kernel,
        args: Vec<KernelArg>,
        output: Option<usize>,
        /// Somebody besides the epilogue reads the output.
        raw: bool,
        epilogue: Option<ProgramLaunch>,
    },
}

pub(crate) struct Launch {
    pub(crate) action: Action,
    /// Where its results lie.
    pub(crate) device: Device,
    pub(crate) location: &'static Location<'static>,
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) dtype: DType,
    /// A library kernel's launches on a CUDA device, once they were made.
    pub(crate) prepared: Mutex<Option<Arc<Prepared>>>,
    /// Whether its epilogue may be part of a CUDA kernel, for all that is known.
    pub(crate) fuses: AtomicBool,
}

/// Memory for a value.
pub(crate) struct Slot {
    pub(crate) device: Device,
    pub(crate) dtype: DType,
    pub(crate) len: usize,
    pub(crate) shape: Shape,
    /// The known node whose memory it takes over.
    pub(crate) donor: Option<usize>,
    /// It is a result: it gets a buffer of its own.
    pub(crate) leaves: bool,
    /// Where it lies in the arena, otherwise.
    pub(crate) offset: usize,
}

#[derive(Clone, Copy)]
pub(crate) enum Place {
    Slot(usize),
    Node(usize),
}

/// A node whose value is known after the plan.
pub(crate) struct Output {
    pub(crate) node: usize,
    pub(crate) slot: Place,
    /// For views: the planned layout, and its offset less the base's.
    pub(crate) layout: Option<(Layout, isize)>,
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) key: Vec<u64>,
    pub(crate) launches: Vec<Launch>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) results: Vec<Output>,
    /// Bytes of temporary memory, by device.
    pub(crate) arenas: SmallVec<[(Device, usize); 1]>,
}

/// What a run of a plan is given: the graph that it was found for, or what a recording says.
pub(crate) trait Bindings {
    /// The known value of the node at a position.
    fn value(&self, node: usize) -> Option<&Value>;
    /// The scalar, ramp or random numbers at a position.
    fn argument(&self, node: usize) -> Option<SourceKind>;
}

impl Bindings for Collected<'_> {
    #[inline]
    fn value(&self, node: usize) -> Option<&Value> {
        self.nodes[node].value.get().and_then(|v| v.as_ref().ok())
    }

    #[inline]
    fn argument(&self, node: usize) -> Option<SourceKind> {
        match &self.nodes[node].op {
            Op::Source(kind) if self.nodes[node].value.get().is_none() => Some(kind.clone()),
            _ => None,
        }
    }
}

/// The memory of one run of a plan.
pub(crate) struct Memory<'a, B> {
    graph: &'a B,
    pub(crate) slots: SmallVec<[*mut u8; 16]>,
    devices: SmallVec<[Device; 16]>,
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
            Loc::Slot(slot) => self.devices[slot],
            Loc::Node(node) => self.value(node).map_or(Device::cpu(), |v| v.buffer.device()),
            _ => Device::cpu(),
        }
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

/// A layout with another offset.
fn with_offset(layout: &Layout, offset: isize) -> Layout {
    if layout.offset() as isize == offset {
        return *layout;
    }
    Layout::new(*layout.shape(), layout.strides(), offset.max(0) as usize).unwrap_or(*layout)
}

/// The value of each of a plan's results, or why there is none.
pub(crate) type Results = SmallVec<[Result<Value>; 4]>;

impl Plan {
    /// Runs the launches and sets the results' values.
    pub(crate) fn run(&self, graph: &Collected, garbage: &mut Garbage) -> Result<()> {
        let values = self.execute(graph)?;
        for (result, value) in self.results.iter().zip(values) {
            let inner: &Inner = graph.nodes[result.node];
            let computed = value.is_ok();
            let _ = inner.value.set(value);
            let (tracked, released) = inner.flags();
            if computed && (!tracked || released) {
                // SAFETY: the engine's lock is held (a `Collected` exists), and no reference to the sources is kept.
                garbage.sources.push(unsafe { inner.cut() });
            }
        }
        // Errors stay with the nodes they concern; the caller looks at those it asked for.
        Ok(())
    }

    /// Whether it copies between devices.
    pub(crate) fn transfers(&self) -> bool {
        let is_transfer = |l: &Launch| matches!(l.action, Action::Kernel { kernel: Kernel::Transfer, .. });
        self.launches.iter().any(is_transfer)
    }

    /// Runs the launches.
    pub(crate) fn execute<B: Bindings + Sync>(&self, graph: &B) -> Result<Results> {
        let mut memory = Memory {
            graph,
            slots: SmallVec::with_capacity(self.slots.len()),
            devices: self.slots.iter().map(|s| s.device).collect(),
        };
        let mut arenas: SmallVec<[Buffer; 1]> = SmallVec::new();
        for &(device, bytes) in &self.arenas {
            arenas.push(Buffer::uninit(device, DType::U8, bytes)?);
        }
        let mut buffers: SmallVec<[Option<Buffer>; 8]> = SmallVec::with_capacity(self.slots.len());
        for slot in &self.slots {
            if let Some(value) = slot.donor.and_then(|d| memory.value(d)) {
                let at = value.layout.offset() * slot.dtype.size();
                memory.slots.push(value.buffer.as_mut_ptr().wrapping_add(at));
                buffers.push(None);
            } else if slot.leaves {
                let buffer = Buffer::uninit(slot.device, slot.dtype, slot.len)?;
                memory.slots.push(buffer.as_mut_ptr());
                buffers.push(Some(buffer));
            } else {
                let arena = arenas.iter().find(|a| a.device() == slot.device);
                let base = arena.map_or(std::ptr::null_mut(), |a| a.as_mut_ptr());
                memory.slots.push(base.wrapping_add(slot.offset));
                buffers.push(None);
            }
        }
        for buffer in arenas.iter().chain(buffers.iter().flatten()) {
            if let Some(gpu) = collecting(buffer.device()) {
                gpu.keep(buffer);
            }
        }
        let mut failed: Option<(Vec<bool>, Error)> = None;
        let mut bound = Device::cpu();
        for (at, launch) in self.launches.iter().enumerate() {
            if at > 0 && failed.is_none() && crate::interrupt::is_asked() {
                let error = Error::new("realize", ErrorKind::Cancelled);
                if self.slots.iter().all(|s| s.donor.is_none()) {
                    // Nothing was overwritten: all stays pending, and can be asked for again.
                    return Err(error);
                }
                let mut broken = vec![false; self.slots.len()];
                self.launches[at..].iter().flat_map(Launch::outputs).for_each(|s| broken[s] = true);
                failed = Some((broken, error));
                break;
            }
            if let Some((broken, _)) = &mut failed {
                let reads_broken = launch.inputs().any(|b| matches!(b.loc, Loc::Slot(s) if broken[s]));
                if reads_broken {
                    launch.outputs().for_each(|s| broken[s] = true);
                    continue;
                }
            }
            let ready = if launch.device.is_cuda() && launch.device != bound {
                bound = launch.device;
                Gpu::of(bound).and_then(Gpu::bind)
            } else {
                Ok(())
            };
            let result = ready.and_then(|()| launch.run(&memory));
            if matches!(launch.action, Action::Kernel { kernel: Kernel::Transfer, .. }) {
                // It has bound the device that it read.
                bound = Device::cpu();
            }
            if let Err(error) = result {
                let (broken, _) = failed.get_or_insert_with(|| (vec![false; self.slots.len()], error));
                launch.outputs().for_each(|s| broken[s] = true);
            }
        }
        let mut values = Results::with_capacity(self.results.len());
        for result in &self.results {
            values.push(self.result(result, &memory, &buffers, failed.as_ref()));
        }
        Ok(values)
    }

    fn result<B: Bindings>(
        &self,
        result: &Output,
        memory: &Memory<B>,
        buffers: &[Option<Buffer>],
        failed: Option<&(Vec<bool>, Error)>,
    ) -> Result<Value> {
        let lost = || Error::new("realize", ErrorKind::Internal("a result without memory".into()));
        let value = match result.slot {
            Place::Slot(slot) => {
                if let Some((_, error)) = failed.filter(|(broken, _)| broken[slot]) {
                    return Err(error.clone());
                }
                let planned = &self.slots[slot];
                match (planned.donor.and_then(|d| memory.value(d)), &buffers[slot]) {
                    (Some(donor), _) => Value {
                        buffer: donor.buffer.clone(),
                        layout: with_offset(
                            &Layout::contiguous(planned.shape),
                            donor.layout.offset() as isize,
                        ),
                    },
                    (None, Some(buffer)) => {
                        Value { buffer: buffer.clone(), layout: Layout::contiguous(planned.shape) }
                    }
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
    /// The programs of the launch: its own, those of a list, or a kernel's epilogue.
    pub(crate) fn programs(&self) -> &[ProgramLaunch] {
        match &self.action {
            Action::Program(p) => std::slice::from_ref(p),
            Action::List(list) => list,
            Action::Copy { .. } => &[],
            Action::Kernel { epilogue, .. } => epilogue.as_slice(),
        }
    }

    /// What the launch reads.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Bind> {
        let args = match &self.action {
            Action::Kernel { args, .. } => args.as_slice(),
            Action::Copy { from, .. } => std::slice::from_ref(from),
            _ => &[],
        };
        self.programs().iter().flat_map(|p| &p.inputs).chain(args.iter().map(|a| &a.bind))
    }

    /// The slots that the launch writes.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        let output = match &self.action {
            Action::Kernel { output, .. } => *output,
            Action::Copy { output, .. } => Some(*output),
            _ => None,
        };
        self.programs().iter().flat_map(|p| p.outputs.iter().copied()).chain(output)
    }

    fn out_of_range(&self, guarded: Option<Guarded>, found: OutOfRange, axis: usize) -> Error {
        let guarded = guarded.unwrap_or(Guarded { op: self.name, location: self.location });
        if found.size == ZERO_DIVISOR {
            return Error::new("div", ErrorKind::Value("an integer is divided by zero".into()))
                .with_location(self.location);
        }
        let kind = ErrorKind::Index { index: found.index, axis, size: found.size.max(0) as usize };
        Error::new(guarded.op, kind).with_location(guarded.location)
    }

    fn run<B: Bindings + Sync>(&self, memory: &Memory<B>) -> Result<()> {
        if self.device.is_cuda() || matches!(self.action, Action::Kernel { kernel: Kernel::Transfer, .. }) {
            return self.on_device(memory);
        }
        match &self.action {
            Action::Program(p) => p.with_args(memory, |args, _| {
                // SAFETY: operands and outputs are the plan's, sized by the shapes that the program was made from.
                unsafe { p.code.on_cpu()?.run(args) }.map_err(|found| self.out_of_range(p.guarded, found, 0))
            }),
            Action::List(list) => self.list(list, memory),
            Action::Copy { from, output } => {
                let (src, layout) = memory.operand(from);
                let dense = Layout::contiguous(*layout.shape());
                // SAFETY: the operand lies as its layout says; the slot has room for as many elements.
                unsafe {
                    library::copy_strided(self.dtype.size(), src, &layout, memory.slots[*output], &dense)
                };
                Ok(())
            }
            Action::Kernel { kernel, args, output, epilogue, .. } => {
                let operands: SmallVec<[(*const u8, Layout); 3]> =
                    args.iter().map(|a| memory.operand(a)).collect();
                let out = output.map(|slot| memory.slots[slot]);
                self.kernel(kernel, &operands, out, epilogue.as_ref(), memory)
            }
        }
    }

    /// Runs a list of elementwise programs, divided among threads as one.
    fn list<B: Bindings + Sync>(&self, list: &[ProgramLaunch], memory: &Memory<B>) -> Result<()> {
        let mut tasks: SmallVec<[(usize, std::ops::Range<usize>); 16]> = SmallVec::new();
        for (i, p) in list.iter().enumerate() {
            let n = p.code.len();
            tasks.extend((0..n).step_by(LIST_TASK).map(|at| (i, at..(at + LIST_TASK).min(n))));
        }
        let failure = std::sync::Mutex::new(None);
        let memory = SharedMemory(memory);
        let run = |task: usize| {
            let memory = &memory;
            let (i, range) = &tasks[task];
            let p = &list[*i];
            let result = p.with_args(memory.0, |args, _| {
                // SAFETY: as for a program; tasks are disjoint.
                unsafe { p.code.on_cpu()?.run_range(args, range.clone()) }
                    .map_err(|found| self.out_of_range(p.guarded, found, 0))
            });
            if let (Err(error), Ok(mut failure)) = (result, failure.lock()) {
                failure.get_or_insert(error);
            }
        };
        let work: usize = list.iter().map(|p| p.code.len() * p.program.values.len()).sum();
        if work < mg_kernels::cpu::run::PARALLEL {
            (0..tasks.len()).for_each(run);
        } else {
            mg_kernels::cpu::pool::parallel(tasks.len(), &run);
        }
        failure.into_inner().unwrap_or(None).map_or(Ok(()), Err)
    }

    fn kernel<B: Bindings>(
        &self,
        kernel: &Kernel,
        operands: &[(*const u8, Layout)],
        out: Option<*mut u8>,
        epilogue: Option<&ProgramLaunch>,
        memory: &Memory<B>,
    ) -> Result<()> {
        let size = self.dtype.size();
        let lost = || Error::new(self.name, ErrorKind::Internal("a kernel without its operands".into()));
        // SAFETY (all below): operands and output are the plan's, and lie as their layouts say.
        match kernel {
            Kernel::MatMul => {
                let [(a, la), (b, lb)] = operands else { return Err(lost()) };
                match epilogue {
                    // SAFETY: see above.
                    None => unsafe { library::matmul(self.dtype, *a, la, *b, lb, out, None) },
                    Some(p) => {
                        let failure = std::sync::Mutex::new(None);
                        let compiled = p.code.on_cpu()?;
                        p.with_args(memory, |args, product| {
                            let shared = SharedArgs(args);
                            let after = |panel: *const u8, range: std::ops::Range<usize>| {
                                let shared = &shared;
                                let mut inputs: SmallVec<[InputArg; 16]> = shared.0.inputs.into();
                                for &i in product {
                                    inputs[i].ptr = panel;
                                }
                                let args = Args { inputs: &inputs, ..*shared.0 };
                                // SAFETY: the panel holds these positions of the product; the rest as for programs.
                                let result = unsafe { compiled.run_range(&args, range) };
                                if let (Err(found), Ok(mut failure)) = (result, failure.lock()) {
                                    failure.get_or_insert(found);
                                }
                            };
                            // SAFETY: see above.
                            unsafe { library::matmul(self.dtype, *a, la, *b, lb, out, Some(&after)) };
                            Ok(())
                        })?;
                        if let Some(found) = failure.into_inner().unwrap_or(None) {
                            return Err(self.out_of_range(p.guarded, found, 0));
                        }
                    }
                }
            }
            Kernel::Gather { axis } => {
                let ([(x, lx), (index, lindex)], Some(out)) = (operands, out) else { return Err(lost()) };
                // SAFETY: see above.
                unsafe { library::gather(size, *x, lx, *index, lindex, *axis as usize, out) }
                    .map_err(|found| self.out_of_range(None, found, *axis as usize))?;
            }
            Kernel::ScatterAdd { axis } => {
                let ([(x, lx), (index, lindex)], Some(out)) = (operands, out) else { return Err(lost()) };
                let n = self.shape[*axis as usize];
                // SAFETY: see above.
                unsafe { library::scatter_add(self.dtype, *x, lx, *index, lindex, *axis as usize, n, out) }
                    .map_err(|found| self.out_of_range(None, found, *axis as usize))?;
            }
            Kernel::Write { region } => {
                let (Some((x, lx)), Some(out)) = (operands.first(), out) else { return Err(lost()) };
                // SAFETY: see above.
                unsafe {
                    match operands.get(1) {
                        Some((base, lbase)) => {
                            library::copy_strided(size, *base, lbase, out, &Layout::contiguous(self.shape));
                        }
                        None => library::fill_zero(out, self.shape.numel() * size),
                    }
                    library::copy_strided(size, *x, lx, out, region);
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
                    unsafe { library::copy_strided(size, *x, lx, out, &part) };
                    at += n;
                }
            }
            // Runs on the device that it comes from or goes to.
            Kernel::Transfer => return Err(lost()),
        }
        Ok(())
    }
}

/// The device's state, if it collects launches.
fn collecting(device: Device) -> Option<&'static Gpu> {
    if device.is_cpu() {
        return None;
    }
    Gpu::of(device).ok().filter(|gpu| gpu.is_collecting())
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
    /// Binds the arguments; `f` also gets the positions of the operands that are the product's panel.
    pub(crate) fn with_args<B: Bindings>(
        &self,
        memory: &Memory<B>,
        f: impl FnOnce(&Args, &[usize]) -> Result<()>,
    ) -> Result<()> {
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
                    Some(SourceKind::Const { bits, .. }) => bits,
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
