//! Launches on CUDA devices, and transfers between devices.

use crate::plan::{self, Bindings, Call, Copies, KernelArg, Launch, ProgramLaunch};
use crate::prepared::{Made, Prepared, PreparedPlan, Situation};
use crate::run::{Executor, Memory, Run};
use mg_device::cuda::{Gpu, Guarded, Origin};
use mg_device::{Checked, DType, Error, ErrorKind, Layout, Result};
use mg_kernels::Inst;
use mg_kernels::args::{Args, InputArg};
use mg_kernels::cuda::library::{KernelPlan, copy};
use mg_kernels::cuda::{Check, CudaEpilogue, CudaList};
use mg_kernels::finding::{Checks, IndexBound};
use mg_kernels::library::matmul::{Epilogue, Precision, Tiles};
use mg_kernels::library::{Alike, Described, Shaped, Target, lies_innermost};
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};

/// The executor of CUDA devices: launches are started, and what fails later is told by the next synchronisation.
pub(crate) struct Cuda;

impl<B: Bindings> Executor<B> for Cuda {
    fn program(&self, launch: &Launch, p: &ProgramLaunch, run: &mut Run<B>) -> Result<()> {
        launch.program(Gpu::of(launch.device)?, p, run.memory, None)
    }

    fn list(&self, launch: &Launch, list: &[ProgramLaunch], run: &mut Run<B>) -> Result<()> {
        let (gpu, graph) = (Gpu::of(launch.device)?, run.memory.graph);
        let mut together = CudaList::default();
        for p in list {
            let code = p.coded.code.on_cuda()?;
            p.with_args(run.memory, |args, _| {
                let guard = |check, size| launch.guard(graph, p, check, size);
                // SAFETY: as for a program; those of a list do not wait for each other.
                unsafe { together.push(code, gpu, args, launch.origin(graph), &guard) }
            })?;
        }
        // SAFETY: as above.
        unsafe { together.launch(gpu, launch.origin(graph)) }
    }

    fn copies(&self, launch: &Launch, copies: &Copies, run: &mut Run<B>) -> Result<()> {
        let gpu = Gpu::of(launch.device)?;
        let (prepared, inputs, out) = launch.copying(gpu, copies, run.memory)?;
        prepared.run(gpu, &inputs, &[out], launch, run.memory.graph, None)
    }

    fn transfer(&self, launch: &Launch, from: &KernelArg, output: usize, run: &mut Run<B>) -> Result<()> {
        let (source, (base, layout)) = (run.memory.device_of(from), run.memory.operand(from));
        if !layout.is_contiguous() {
            return Err(launch.lost());
        }
        let size = launch.dtype.size();
        let from = base.wrapping_add(layout.offset() * size);
        let (n, out) = (layout.numel() * size, run.memory.slots[output]);
        // SAFETY: the operand lies densely on its device, the output has room for as many bytes on its own; the host's
        // memory is this plan's until the copy returns.
        unsafe {
            match (source.is_cpu(), launch.device.is_cpu()) {
                (true, true) => out.copy_from_nonoverlapping(from, n),
                (true, false) => {
                    Gpu::of(launch.device)?.write(address(out), std::slice::from_raw_parts(from, n))?;
                }
                (false, true) => {
                    Gpu::of(source)?.read(address(from), std::slice::from_raw_parts_mut(out, n))?;
                }
                (false, false) => {
                    Gpu::of(launch.device)?.copy_from(address(out), Gpu::of(source)?, address(from), n)?;
                }
            }
        }
        Ok(())
    }

    fn kernel(&self, launch: &Launch, call: &Call, run: &mut Run<B>) -> Result<()> {
        let (gpu, memory) = (Gpu::of(launch.device)?, run.memory);
        let at = launch.placed(call, memory)?;
        let go = |prepared: &Prepared, after: Option<&After>| {
            prepared.run(gpu, &at.inputs, &[address(at.out)], launch, memory.graph, after)
        };
        if let Some(p) = call.epilogue.as_ref().filter(|_| launch.fuses.load(Ordering::Relaxed)) {
            let go_fused = |prepared: &Prepared, after: &After| match prepared.meanwhile(gpu) {
                None => go(prepared, Some(after)),
                Some(product) => {
                    product.run(gpu, &at.inputs, &[address(at.out)], launch, memory.graph)?;
                    launch.program(gpu, p, memory, Some(at.out))
                }
            };
            if launch.fused(gpu, call, p, &at, memory, go_fused)? {
                return Ok(());
            }
            launch.fuses.store(false, Ordering::Relaxed);
        }
        go(&*launch.library(gpu, call, &at)?, None)?;
        call.epilogue.as_ref().map_or(Ok(()), |p| launch.program(gpu, p, memory, Some(at.out)))
    }

    fn together(&self, launch: &Launch, all: &[Launch], run: &mut Run<B>) -> Result<()> {
        let (gpu, memory) = (Gpu::of(launch.device)?, run.memory);
        if launch.fuses.load(Ordering::Relaxed) {
            if let Some((prepared, inputs, outs)) = launch.joined(gpu, all, memory)? {
                return prepared.run(gpu, &inputs, &outs, launch, memory.graph, None);
            }
            launch.fuses.store(false, Ordering::Relaxed);
        }
        all.iter().try_for_each(|one| self.launch(one, run))
    }
}

fn address<T>(of: *const T) -> u64 {
    of.addr() as u64
}

/// What both addresses of a part of a result are multiples of, in bytes: of operand `i`, and of where it goes.
fn aligned(situation: &Situation, part: &plan::CopyPart, i: usize, size: usize) -> usize {
    let offset = part.to.offset() * size;
    situation.aligned[i].min(situation.out()).min(1 << offset.trailing_zeros().min(4))
}

/// A kernel's operands as a plan has them.
fn described(call: &Call, operands: &[(*const u8, Layout)], aligned: &[usize]) -> SmallVec<[Described; 4]> {
    let described = |(((_, layout), arg), &align): ((&(*const u8, Layout), &KernelArg), &usize)| Described {
        layout: *layout,
        dtype: arg.dtype,
        align,
    };
    operands.iter().zip(&call.args).zip(aligned).map(described).collect()
}

/// What a kernel is planned for whose result lies at an address that is a multiple of `align`.
pub(crate) fn target(gpu: &Gpu, precision: Precision, align: usize) -> Result<Target> {
    let (major, minor) = gpu.capability();
    Ok(Target { tiles: Tiles::of(gpu)?, ..Target::new(align, major * 10 + minor, precision) })
}

/// Where a node comes from.
fn origin_of<B: Bindings>(graph: &B, node: usize, name: &'static str) -> plan::Origin {
    let unknown = || {
        let line = std::panic::Location::caller();
        plan::Origin { op: name, called: name, axis: 0, line, sequence: 0 }
    };
    graph.origin(node).unwrap_or_else(unknown)
}

/// Elementwise work that a kernel does before the store.
pub(crate) struct After<'a> {
    pub(crate) program: &'a ProgramLaunch,
    pub(crate) args: &'a Args<'a>,
}

/// A kernel's operands, where they begin, and where its result does; the run's precision.
struct Placed {
    operands: SmallVec<[(*const u8, Layout); 4]>,
    inputs: SmallVec<[u64; 4]>,
    out: *mut u8,
    precision: Precision,
}

impl Launch {
    pub(crate) fn origin<B: Bindings>(&self, graph: &B) -> Origin {
        Origin { name: self.name, line: origin_of(graph, self.node, self.name).line }
    }

    /// The check that a kernel makes.
    ///
    /// # Errors
    ///
    /// An internal error, of what checks nothing.
    pub(crate) fn kernel_guard<B: Bindings>(&self, graph: &B) -> Result<Guarded> {
        let origin = origin_of(graph, self.node, self.name);
        let check = match self.call().map(|call| (call, call.kernel.checks())) {
            Some((_, Checks::Own { code, meaning })) => Checked::Kernel { code, meaning },
            Some((call, Checks::Index { axis, places })) => {
                let size = match places {
                    IndexBound::Exactly(size) => size,
                    IndexBound::Of(operand) => call.args.get(operand).map_or(0, |x| x.shaped().shape[axis]),
                };
                Checked::Index { axis: origin.axis, size }
            }
            Some((_, Checks::Nothing)) | None => return Err(self.lost()),
        };
        Ok(Guarded { op: origin.op, line: origin.line, check })
    }

    fn lost(&self) -> Error {
        Error::new(self.name, ErrorKind::Internal("a launch that its device does not know".into()))
    }

    /// A check of a program.
    pub(crate) fn guard<B: Bindings>(
        &self,
        graph: &B,
        p: &ProgramLaunch,
        check: Check,
        size: usize,
    ) -> Guarded {
        let checks_this = |c: &&plan::Check| match (check, p.coded.program.values[usize::from(c.value)].inst)
        {
            (Check::Index(bound), Inst::Guard(_, b)) => b == bound,
            (Check::Divisor, inst) => !matches!(inst, Inst::Guard(..)),
            _ => false,
        };
        let node = p.checks.iter().find(checks_this).map_or(self.node, |c| c.node);
        let origin = origin_of(graph, node, self.name);
        let check = match check {
            Check::Index(_) => Checked::Index { axis: origin.axis, size },
            Check::Divisor => Checked::Divisor,
        };
        Guarded { op: origin.op, line: origin.line, check }
    }

    /// Launches a program; `product` is where an epilogue finds its matrix product.
    fn program<B: Bindings>(
        &self,
        gpu: &Gpu,
        p: &ProgramLaunch,
        memory: &Memory<B>,
        product: Option<*mut u8>,
    ) -> Result<()> {
        let code = p.coded.code.on_cuda()?;
        let guarded = |check: Check, size: usize| self.guard(memory.graph, p, check, size);
        p.with_args(memory, |args, from_product| {
            if let Some(product) = product.filter(|_| !from_product.is_empty()) {
                let mut inputs: SmallVec<[InputArg; 16]> = args.inputs.into();
                for &i in from_product {
                    inputs[i].ptr = product;
                }
                let args = Args { inputs: &inputs, ..*args };
                // SAFETY: as below; the product was launched before.
                return unsafe { code.run(gpu, &args, self.origin(memory.graph), &guarded) };
            }
            // SAFETY: operands and outputs are the plan's, sized by the shapes that the program was made from, and used
            // in the stream's order.
            unsafe { code.run(gpu, args, self.origin(memory.graph), &guarded) }
        })
    }

    /// The launches that compute a kernel in a situation.
    fn planned(
        &self,
        gpu: &Gpu,
        call: &Call,
        operands: &[(*const u8, Layout)],
        situation: &Situation,
        epilogue: Option<Epilogue>,
    ) -> Result<KernelPlan> {
        let described = described(call, operands, &situation.aligned);
        let (in_place, innermost) = (call.in_place, call.innermost);
        let target =
            Target { epilogue, in_place, innermost, ..target(gpu, situation.precision, situation.out())? };
        let is_dense = described.iter().all(|o| o.layout.is_contiguous());
        if !is_dense && !call.kernel.takes_any_layout() {
            let shaped: SmallVec<[Shaped; 4]> = described.iter().map(Described::shaped).collect();
            let takes = call.kernel.innermost(&shaped, target.capability).operands;
            let lies = |(i, o): (usize, &Described)| {
                o.layout.is_contiguous() || takes.get(i) == Some(&true) && lies_innermost(&o.layout)
            };
            if !described.iter().enumerate().all(lies) {
                return Err(self.lost());
            }
        }
        call.kernel.cuda(&described, &Shaped { shape: self.shape, dtype: self.dtype }, target)
    }

    fn placed<B: Bindings>(&self, call: &Call, memory: &Memory<B>) -> Result<Placed> {
        let operands: SmallVec<[(*const u8, Layout); 4]> =
            call.args.iter().map(|arg| memory.operand(arg)).collect();
        let first = |((base, layout), arg): (&(*const u8, Layout), &KernelArg)| {
            address(*base) + (layout.offset() * arg.dtype.size()) as u64
        };
        let inputs = operands.iter().zip(&call.args).map(first).collect();
        let out = call.output.map(|slot| memory.slots[slot]).ok_or_else(|| self.lost())?;
        Ok(Placed { operands, inputs, out, precision: memory.precision })
    }

    /// A kernel, ready.
    fn library(&self, gpu: &Gpu, call: &Call, at: &Placed) -> Result<Arc<Prepared>> {
        let prepared =
            self.known_or(Situation::of(&at.inputs, &[address(at.out)], at.precision, None), |situation| {
                let plan = self.planned(gpu, call, &at.operands, situation, None)?;
                Ok(Some(vec![PreparedPlan::new(gpu, plan, (0..at.operands.len()).collect(), 0)?].into()))
            })?;
        prepared.ok_or_else(|| self.lost())
    }

    /// Kernels that are alike as one, ready, and the addresses of all their operands and of their results; `None` where they are better launched one by one.
    #[allow(clippy::type_complexity)]
    fn joined<B: Bindings>(
        &self,
        gpu: &Gpu,
        all: &[Launch],
        memory: &Memory<B>,
    ) -> Result<Option<(Arc<Prepared>, Vec<u64>, SmallVec<[u64; 8]>)>> {
        let mut placed: SmallVec<[(&Launch, &Call, Placed); 8]> = SmallVec::new();
        for launch in all {
            let Some(call) = launch.call() else { return Ok(None) };
            placed.push((launch, call, launch.placed(call, memory)?));
        }
        let inputs: Vec<u64> = placed.iter().flat_map(|(_, _, at)| at.inputs.iter().copied()).collect();
        let outs: SmallVec<[u64; 8]> = placed.iter().map(|(_, _, at)| address(at.out)).collect();
        let prepared = self.known_or(Situation::of(&inputs, &outs, memory.precision, None), |situation| {
            let (aligned, aligned_outs) = situation.aligned.split_at(inputs.len());
            let mut from = 0;
            let mut operands: Vec<SmallVec<[Described; 4]>> = vec![];
            for (_, call, at) in &placed {
                operands.push(described(call, &at.operands, &aligned[from..]));
                from += at.operands.len();
            }
            let Some(kernel) = placed.first().map(|(_, call, _)| call.kernel) else { return Ok(None) };
            let mut each = vec![];
            for (((launch, call, _), operands), &align) in placed.iter().zip(&operands).zip(aligned_outs) {
                let result = Shaped { shape: launch.shape, dtype: launch.dtype };
                let target = target(gpu, situation.precision, align)?;
                each.push(Alike { kernel: call.kernel, operands, result, target });
            }
            let Some(plan) = kernel.together(&each)? else { return Ok(None) };
            Ok(Some(vec![PreparedPlan::new(gpu, plan, (0..inputs.len()).collect(), 0)?].into()))
        })?;
        Ok(prepared.map(|prepared| (prepared, inputs, outs)))
    }

    /// Copies, ready, and their addresses: those of the operands, and that of the result.
    fn copying<B: Bindings>(
        &self,
        gpu: &Gpu,
        copies: &Copies,
        memory: &Memory<B>,
    ) -> Result<(Arc<Prepared>, SmallVec<[u64; 4]>, u64)> {
        let operands: SmallVec<[(*const u8, Layout); 4]> =
            copies.parts.iter().map(|part| memory.operand(&part.from)).collect();
        let first = |((base, layout), part): (&(*const u8, Layout), &plan::CopyPart)| {
            address(*base) + (layout.offset() * part.from.dtype.size()) as u64
        };
        let inputs: SmallVec<[u64; 4]> = operands.iter().zip(&copies.parts).map(first).collect();
        let out = address(memory.slots[copies.output]);
        let prepared =
            self.known_or(Situation::of(&inputs, &[out], memory.precision, None), |situation| {
                let (size, mut steps) = (self.dtype.size(), vec![]);
                if copies.zeros {
                    steps.push(PreparedPlan::new(
                        gpu,
                        copy::fill(size, self.shape.numel(), 0)?,
                        smallvec![],
                        0,
                    )?);
                }
                let there = copies.parts.len() - copies.parts().len();
                // Parts that are all of the result do not overlap.
                let elements: usize = copies.parts.iter().map(|part| part.to.numel()).sum();
                if elements == self.shape.numel() && !copies.zeros {
                    let numbered = copies.parts.iter().enumerate().skip(there);
                    let parts: Vec<copy::Part> = numbered
                        .map(|(i, part)| (&operands[i].1, &part.to, aligned(situation, part, i, size)))
                        .collect();
                    if let Some(plan) = copy::together(size, &parts)? {
                        let inputs = (there..copies.parts.len()).collect();
                        return Ok(Some(vec![PreparedPlan::new(gpu, plan, inputs, 0)?].into()));
                    }
                }
                for (i, part) in copies.parts.iter().enumerate().skip(there) {
                    let plan = copy::plan(size, &operands[i].1, &part.to, aligned(situation, part, i, size))?;
                    steps.push(PreparedPlan::new(gpu, plan, smallvec![i], part.to.offset() * size)?);
                }
                Ok(Some(steps.into()))
            })?;
        Ok((prepared.ok_or_else(|| self.lost())?, inputs, out))
    }

    /// Hands over a kernel, ready, that does the elementwise work that follows before the store; answers whether there is one.
    fn fused<B: Bindings>(
        &self,
        gpu: &Gpu,
        call: &Call,
        p: &ProgramLaunch,
        at: &Placed,
        memory: &Memory<B>,
        f: impl FnOnce(&Prepared, &After) -> Result<()>,
    ) -> Result<bool> {
        if !matches!(self.dtype, DType::F32 | DType::F16 | DType::BF16) {
            return Ok(false);
        }
        p.with_args(memory, |args, product| {
            let whole = p.coded.code.on_cuda()?.is_aligned(args);
            let situation = Situation::of(&at.inputs, &[address(at.out)], at.precision, Some(whole));
            let prepared = self.known_or(situation, |situation| {
                let epilogue = Epilogue { stores: call.raw };
                let plan = self.planned(gpu, call, &at.operands, situation, Some(epilogue))?;
                let Some(last) = plan.launches.last() else { return Ok(None) };
                let (program, matrix, workspace) = (&p.coded.program, plan.matrix, plan.workspace);
                let epilogue =
                    CudaEpilogue::new(gpu, last.kernel, program, product, matrix, whole, workspace)?;
                let Some(epilogue) = epilogue else { return Ok(None) };
                let inputs: SmallVec<[usize; 2]> = (0..at.operands.len()).collect();
                let meanwhile = match self.can_wait(gpu, call, &epilogue, memory) {
                    true => {
                        let stores = Some(Epilogue { stores: true });
                        let plan = self.planned(gpu, call, &at.operands, situation, stores)?;
                        PreparedPlan::there(gpu, plan, inputs.clone())
                    }
                    false => None,
                };
                let steps = vec![PreparedPlan::fused(gpu, plan, inputs, epilogue)?];
                Ok(Some(Made { steps, meanwhile }))
            })?;
            let Some(prepared) = prepared else { return Ok(false) };
            f(&prepared, &After { program: p, args })?;
            Ok(true)
        })
    }

    /// Whether an epilogue's program can be launched by itself behind its kernel, for the same results, until there is a kernel of both.
    fn can_wait<B: Bindings>(
        &self,
        gpu: &Gpu,
        call: &Call,
        epilogue: &CudaEpilogue,
        memory: &Memory<B>,
    ) -> bool {
        static ASKED: OnceLock<bool> = OnceLock::new();
        let is_its_own = |slot: usize| memory.planned[slot].donor.is_none();
        *ASKED.get_or_init(|| std::env::var("MG_MEANWHILE").map_or(true, |v| v != "0"))
            && !epilogue.kernel().is_there(gpu, gpu.is_gated())
            && !epilogue.sums()
            && call.output.is_some_and(is_its_own)
    }

    /// Whether it was launched in another form than the one that it will have.
    pub(crate) fn waits(&self) -> bool {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        prepared.as_ref().is_some_and(|prepared| prepared.waits())
    }

    /// Has the launch's kernels loaded, and launches nothing.
    pub(crate) fn load<B: Bindings>(&self, gpu: &Gpu, memory: &Memory<B>) -> Result<()> {
        match &self.action {
            plan::Action::Program(p) => load_program(gpu, p, memory, false),
            plan::Action::List(list) => {
                let all: Vec<_> = list.iter().map(|p| load_program(gpu, p, memory, true)).collect();
                all.into_iter().collect()
            }
            plan::Action::Copies(copies) => self.copying(gpu, copies, memory)?.0.load(gpu),
            plan::Action::Transfer { .. } => Ok(()),
            plan::Action::Kernel(call) => {
                let at = self.placed(call, memory)?;
                if let Some(p) = call.epilogue.as_ref().filter(|_| self.fuses.load(Ordering::Relaxed))
                    && self.fused(gpu, call, p, &at, memory, |prepared, _| match prepared.meanwhile(gpu) {
                        None => prepared.load(gpu),
                        Some(product) => product.load(gpu).and(load_program(gpu, p, memory, false)),
                    })?
                {
                    return Ok(());
                }
                let product = self.library(gpu, call, &at).and_then(|prepared| prepared.load(gpu));
                product.and(call.epilogue.as_ref().map_or(Ok(()), |p| load_program(gpu, p, memory, false)))
            }
            plan::Action::Together(all) => {
                if self.fuses.load(Ordering::Relaxed)
                    && let Some((prepared, ..)) = self.joined(gpu, all, memory)?
                {
                    return prepared.load(gpu);
                }
                let all: Vec<_> = all.iter().map(|one| one.load(gpu, memory)).collect();
                all.into_iter().collect()
            }
        }
    }
}

fn load_program<B: Bindings>(gpu: &Gpu, p: &ProgramLaunch, memory: &Memory<B>, listed: bool) -> Result<()> {
    let code = p.coded.code.on_cuda()?;
    p.with_args(memory, |args, _| code.load(gpu, args, listed))
}
