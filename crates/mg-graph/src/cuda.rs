//! Launches on CUDA devices, and transfers between devices.

use crate::execute::Memory;
use crate::kernel::Kernel;
use crate::plan::{self, Action, Bindings, KernelArg, Launch, ProgramLaunch};
use mg_device::cuda::{Gpu, Guarded, Origin};
use mg_device::{Buffer, DType, Device, Error, ErrorKind, Layout, Result};
use mg_kernels::Inst;
use mg_kernels::cpu::run::{Args, InputArg};
use mg_kernels::cuda::library::{self, Pointer, copy, matmul};
use mg_kernels::cuda::{Check, CudaEpilogue, CudaList, behind_gate};
use mg_kernels::library::{Described, Shaped, Target};
use smallvec::SmallVec;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};

/// Where a node comes from.
fn origin_of<B: Bindings>(graph: &B, node: usize, name: &'static str) -> plan::Origin {
    let unknown = || plan::Origin { op: name, axis: 0, line: std::panic::Location::caller() };
    graph.origin(node).unwrap_or_else(unknown)
}

impl Launch {
    pub(crate) fn origin<B: Bindings>(&self, graph: &B) -> Origin {
        Origin { name: self.name, line: origin_of(graph, self.node, self.name).line }
    }

    /// Runs the launch on its device, or starts it: what fails later is told by the next synchronisation.
    pub(crate) fn on_device<B: Bindings>(&self, memory: &Memory<B>) -> Result<()> {
        match &self.action {
            Action::Program(p) => self.program(Gpu::of(self.device)?, p, memory, None),
            Action::List(list) => {
                let gpu = Gpu::of(self.device)?;
                let mut together = CudaList::default();
                for p in list {
                    let code = p.code.on_cuda()?;
                    p.with_args(memory, |args, _| {
                        // SAFETY: as for a program; those of a list do not wait for each other.
                        unsafe {
                            together.push(code, gpu, args, self.origin(memory.graph), &|c, n| {
                                self.guard(memory.graph, p, c, n)
                            })
                        }
                    })?;
                }
                // SAFETY: as above.
                unsafe { together.launch(gpu, self.origin(memory.graph)) }
            }
            Action::Copy { from, output } => self.strided_copy(
                memory.graph,
                Gpu::of(self.device)?,
                memory.operand(from),
                memory.slots[*output],
            ),
            Action::Kernel { kernel, args, output, raw, in_place: _, epilogue } => {
                let operands: SmallVec<[(*const u8, Layout); 3]> =
                    args.iter().map(|a| memory.operand(a)).collect();
                let out = output.map(|slot| memory.slots[slot]).ok_or_else(|| self.lost())?;
                if *kernel == Kernel::Transfer {
                    let from = args.first().ok_or_else(|| self.lost())?;
                    return self.transfer(&operands[0], memory.device_of(from), out);
                }
                let gpu = Gpu::of(self.device)?;
                let Some(p) = epilogue else {
                    return self.library(memory.graph, gpu, kernel, &operands, out);
                };
                if self.fuses.load(Ordering::Relaxed) {
                    let mut fused = false;
                    p.with_args(memory, |args, product| {
                        let after = After { program: p, args, product, raw: *raw };
                        fused = self.with_epilogue(memory.graph, gpu, &operands, out, after)?;
                        Result::Ok(())
                    })?;
                    if fused {
                        return Ok(());
                    }
                    self.fuses.store(false, Ordering::Relaxed);
                }
                self.library(memory.graph, gpu, kernel, &operands, out)?;
                self.program(gpu, p, memory, Some(out))
            }
        }
    }

    /// A kernel's operands, as they were planned.
    fn kernel_args(&self) -> &[KernelArg] {
        match &self.action {
            Action::Kernel { args, .. } => args,
            Action::Program(_) | Action::List(_) | Action::Copy { .. } => &[],
        }
    }

    /// The check of a library kernel's indices.
    fn index_guard<B: Bindings>(&self, graph: &B) -> Guarded {
        let (axis, size) = match &self.action {
            Action::Kernel { kernel: Kernel::Gather { axis, .. }, args, .. } => {
                let shape = args.first().map(|a| *a.layout.shape());
                (*axis as usize, shape.map_or(0, |s| s[*axis as usize]))
            }
            Action::Kernel { kernel: Kernel::ScatterAdd { axis, .. }, .. } => {
                (*axis as usize, self.shape[*axis as usize])
            }
            Action::Kernel { kernel: Kernel::Library(library), args, .. } => {
                let shaped = |a: &KernelArg| Shaped { shape: *a.layout.shape(), dtype: a.dtype };
                let operands: SmallVec<[Shaped; 4]> = args.iter().map(shaped).collect();
                library.indexed(&operands, &Shaped { shape: self.shape, dtype: self.dtype })
            }
            _ => (0, 0),
        };
        let origin = origin_of(graph, self.node, self.name);
        Guarded { op: origin.op, line: origin.line, axis, size: size as i64 }
    }

    fn lost(&self) -> Error {
        Error::new(self.name, ErrorKind::Internal("a launch that its device does not know".into()))
    }

    /// A check of a program.
    fn guard<B: Bindings>(&self, graph: &B, p: &ProgramLaunch, check: Check, size: i64) -> Guarded {
        let checks_this = |c: &&plan::Check| match (check, p.program.values[usize::from(c.value)].inst) {
            (Check::Index(bound), Inst::Guard(_, b)) => b == bound,
            (Check::Divisor, inst) => !matches!(inst, Inst::Guard(..)),
            _ => false,
        };
        let node = p.checks.iter().find(checks_this).map_or(self.node, |c| c.node);
        let origin = origin_of(graph, node, self.name);
        Guarded { op: origin.op, line: origin.line, axis: origin.axis, size }
    }

    /// Launches a program; `product` is where an epilogue finds its matrix product.
    fn program<B: Bindings>(
        &self,
        gpu: &Gpu,
        p: &ProgramLaunch,
        memory: &Memory<B>,
        product: Option<*mut u8>,
    ) -> Result<()> {
        let code = p.code.on_cuda()?;
        let guarded = |check: Check, size: i64| self.guard(memory.graph, p, check, size);
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

    /// Copies between devices.
    fn transfer(&self, from: &(*const u8, Layout), source: Device, out: *mut u8) -> Result<()> {
        let (base, layout) = from;
        if !layout.is_contiguous() {
            return Err(self.lost());
        }
        let size = self.dtype.size();
        let from = base.wrapping_add(layout.offset() * size);
        let n = layout.numel() * size;
        let address = |p: *const u8| p.addr() as u64;
        // SAFETY: the operand lies densely on its device, the output has room for as many bytes on its own; the host's
        // memory is this plan's until the copy returns.
        unsafe {
            match (source.is_cpu(), self.device.is_cpu()) {
                (true, true) => out.copy_from_nonoverlapping(from, n),
                (true, false) => {
                    Gpu::of(self.device)?.write(address(out), std::slice::from_raw_parts(from, n))?;
                }
                (false, true) => {
                    Gpu::of(source)?.read(address(from), std::slice::from_raw_parts_mut(out, n))?;
                }
                (false, false) => {
                    Gpu::of(self.device)?.copy_from(address(out), Gpu::of(source)?, address(from), n)?;
                }
            }
        }
        Ok(())
    }

    /// Runs a matrix product whose kernel applies the epilogue before the store; answers whether there is one.
    fn with_epilogue<B: Bindings>(
        &self,
        graph: &B,
        gpu: &Gpu,
        operands: &[(*const u8, Layout)],
        out: *mut u8,
        after: After,
    ) -> Result<bool> {
        if !matches!(self.dtype, DType::F32 | DType::F16 | DType::BF16) {
            return Ok(false);
        }
        let size = self.dtype.size();
        let first =
            |(base, layout): &(*const u8, Layout)| base.addr() as u64 + (layout.offset() * size) as u64;
        let inputs: SmallVec<[u64; 4]> = operands.iter().map(first).collect();
        let out = out.addr() as u64;
        let whole = after.program.code.on_cuda()?.is_aligned(after.args);
        let aligned: Aligned = inputs
            .iter()
            .chain([&out])
            .map(alignment)
            .chain([if whole { FUSED_WHOLE } else { FUSED }])
            .collect();
        let mut place = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let precision = matmul_precision();
        let known = place.as_ref().filter(|p| p.aligned == aligned && p.precision == precision).cloned();
        let prepared = match known {
            Some(known) => known,
            None => {
                let [(_, a), (_, b)] = operands else { return Err(self.lost()) };
                let mut problem = self.problem(gpu, a, b, &aligned, precision)?;
                problem.align_out = aligned[2];
                problem.epilogue = Some(matmul::Epilogue { stores: after.raw });
                let plan = matmul::plan(&problem)?;
                let [before @ .., launch] = &plan.launches[..] else { return Ok(false) };
                let [m, n, _] = problem.sizes();
                let program = &after.program.program;
                let epilogue = CudaEpilogue::new(gpu, launch.kernel, program, after.product, [m, n], whole)?;
                let Some(epilogue) = epilogue else { return Ok(false) };
                let load = |l: &library::Launch| mg_kernels::cuda::prebuilt(gpu, l.kernel);
                let mut kernels = before.iter().map(load).collect::<Result<Vec<_>>>()?;
                kernels.push(epilogue.kernel());
                let step = Step {
                    kernels,
                    plan,
                    inputs: smallvec::smallvec![0, 1],
                    output: 0,
                    epilogue: Some(epilogue),
                };
                let made = Arc::new(Prepared { aligned, precision, steps: vec![step] });
                *place = Some(made.clone());
                made
            }
        };
        drop(place);
        for step in &prepared.steps {
            step.run(gpu, &inputs, out, self, graph, Some(&after))?;
        }
        Ok(true)
    }

    fn problem(
        &self,
        gpu: &Gpu,
        a: &Layout,
        b: &Layout,
        aligned: &Aligned,
        precision: matmul::Precision,
    ) -> Result<matmul::Problem> {
        let mut problem = matmul::Problem::new(self.dtype, a, b)?;
        let (major, minor) = gpu.capability();
        problem.capability = major * 10 + minor;
        problem.precision = precision;
        problem.align = [aligned[0], aligned[1]];
        Ok(problem)
    }

    /// Runs a library kernel.
    fn library<B: Bindings>(
        &self,
        graph: &B,
        gpu: &Gpu,
        kernel: &Kernel,
        operands: &[(*const u8, Layout)],
        out: *mut u8,
    ) -> Result<()> {
        let first = |((base, layout), arg): (&(*const u8, Layout), &KernelArg)| {
            base.addr() as u64 + (layout.offset() * arg.dtype.size()) as u64
        };
        let inputs: SmallVec<[u64; 4]> = operands.iter().zip(self.kernel_args()).map(first).collect();
        let out = out.addr() as u64;
        let aligned: Aligned = inputs.iter().chain([&out]).map(alignment).collect();
        let prepared = self.prepare(gpu, kernel, operands, aligned)?;
        prepared.run(gpu, &inputs, out, self, graph)
    }

    /// The library kernel's launches for addresses aligned like these.
    fn prepare(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        operands: &[(*const u8, Layout)],
        aligned: Aligned,
    ) -> Result<Arc<Prepared>> {
        let mut place = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let precision = matmul_precision();
        if let Some(known) = place.as_ref().filter(|p| p.aligned == aligned && p.precision == precision) {
            return Ok(known.clone());
        }
        let mut steps = vec![];
        for (plan, inputs, output) in self.library_plans(gpu, kernel, operands, &aligned, precision)? {
            let load = |l: &library::Launch| mg_kernels::cuda::prebuilt(gpu, l.kernel);
            let kernels = plan.launches.iter().map(load).collect::<Result<_>>()?;
            steps.push(Step { plan, kernels, inputs, output, epilogue: None });
        }
        let prepared = Arc::new(Prepared { aligned, precision, steps });
        *place = Some(prepared.clone());
        Ok(prepared)
    }

    /// A library kernel's plans, with the positions of their operands and where in the output they write, in bytes.
    fn library_plans(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        operands: &[(*const u8, Layout)],
        aligned: &Aligned,
        precision: matmul::Precision,
    ) -> Result<Vec<Planned>> {
        let size = self.dtype.size();
        let out_align = aligned.last().copied().unwrap_or(1);
        let all = |n: usize| (0..n).collect::<SmallVec<[usize; 2]>>();
        let dense = Layout::contiguous(self.shape);
        Ok(match (kernel, operands) {
            (Kernel::MatMul, [(_, a), (_, b)]) => {
                let mut problem = self.problem(gpu, a, b, aligned, precision)?;
                problem.align_out = out_align;
                vec![(matmul::plan(&problem)?, all(2), 0)]
            }
            (Kernel::Gather { axis, .. }, [(_, x), (_, index)]) => {
                let align = aligned[0].min(out_align);
                vec![(library::gather(size, x, index, *axis as usize, align)?, all(2), 0)]
            }
            (Kernel::ScatterAdd { axis, .. }, [(_, x), (_, index)]) => {
                let axis = *axis as usize;
                vec![(library::scatter_add(self.dtype, x, index, axis, self.shape[axis])?, all(2), 0)]
            }
            (Kernel::Write { region }, [(_, x), rest @ ..]) => {
                let mut plans = match rest.first() {
                    // All else is there already.
                    Some(_) if self.is_in_place() => vec![],
                    Some((_, base)) => {
                        let plan = copy::plan(size, base, &dense, aligned[1].min(out_align))?;
                        vec![(plan, smallvec::smallvec![1], 0)]
                    }
                    None => vec![(copy::fill(size, self.shape.numel(), 0)?, all(0), 0)],
                };
                let offset = region.offset() * size;
                let align = aligned[0].min(out_align).min(1 << offset.trailing_zeros().min(4));
                plans.push((copy::plan(size, x, region, align)?, all(1), offset));
                plans
            }
            (Kernel::Concat { axis }, _) => {
                let mut at = 0isize;
                let mut plans = vec![];
                for (i, (_, x)) in operands.iter().enumerate() {
                    let n = x.shape()[*axis as usize] as isize;
                    let part = dense.slice(*axis as usize, Some(at), Some(at + n), 1)?;
                    let offset = part.offset() * size;
                    let align = aligned[i].min(out_align).min(1 << offset.trailing_zeros().min(4));
                    plans.push((copy::plan(size, x, &part, align)?, smallvec::smallvec![i], offset));
                    at += n;
                }
                plans
            }
            (Kernel::Library(library), _) => {
                let described =
                    |(((_, layout), arg), &align): ((&(*const u8, Layout), &KernelArg), &usize)| Described {
                        layout: *layout,
                        dtype: arg.dtype,
                        align,
                    };
                let operands: SmallVec<[Described; 4]> =
                    operands.iter().zip(self.kernel_args()).zip(aligned).map(described).collect();
                if !operands.iter().all(|o| o.layout.is_contiguous()) {
                    return Err(self.lost());
                }
                let result = Shaped { shape: self.shape, dtype: self.dtype };
                let (major, minor) = gpu.capability();
                let capability = major * 10 + minor;
                let target = Target { align: out_align, capability, in_place: self.is_in_place() };
                vec![(library.cuda(&operands, &result, target)?, all(operands.len()), 0)]
            }
            _ => return Err(self.lost()),
        })
    }

    /// Runs a copy of strided elements.
    fn strided_copy<B: Bindings>(
        &self,
        graph: &B,
        gpu: &Gpu,
        from: (*const u8, Layout),
        out: *mut u8,
    ) -> Result<()> {
        let size = self.dtype.size();
        let (base, layout) = from;
        let inputs: SmallVec<[u64; 4]> =
            smallvec::smallvec![base.addr() as u64 + (layout.offset() * size) as u64];
        let out = out.addr() as u64;
        let aligned: Aligned = inputs.iter().chain([&out]).map(alignment).collect();
        let mut place = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let known = place.as_ref().filter(|p| p.aligned == aligned).cloned();
        let prepared = match known {
            Some(known) => known,
            None => {
                let to = Layout::contiguous(*layout.shape());
                let plan = copy::plan(size, &layout, &to, aligned[0].min(aligned[1]))?;
                let load = |l: &library::Launch| mg_kernels::cuda::prebuilt(gpu, l.kernel);
                let kernels = plan.launches.iter().map(load).collect::<Result<_>>()?;
                let steps =
                    vec![Step { plan, kernels, inputs: smallvec::smallvec![0], output: 0, epilogue: None }];
                let made = Arc::new(Prepared { aligned, precision: matmul_precision(), steps });
                *place = Some(made.clone());
                made
            }
        };
        drop(place);
        prepared.run(gpu, &inputs, out, self, graph)
    }
}

/// A plan, the positions of its operands, and where in the output it writes, in bytes.
type Planned = (library::Plan, SmallVec<[usize; 2]>, usize);

type Aligned = SmallVec<[usize; 4]>;

/// The bytes that an address is a multiple of, up to the widest access.
fn alignment(address: &u64) -> usize {
    1 << address.trailing_zeros().min(4)
}

/// A library kernel's launches, ready for addresses of some alignment.
pub(crate) struct Prepared {
    aligned: Aligned,
    precision: matmul::Precision,
    steps: Vec<Step>,
}

struct Step {
    plan: library::Plan,
    kernels: Vec<mg_device::cuda::Kernel>,
    inputs: SmallVec<[usize; 2]>,
    output: usize,
    /// In the last launch.
    epilogue: Option<CudaEpilogue>,
}

/// Elementwise work that a matrix product's kernel does before the store.
struct After<'a> {
    program: &'a ProgramLaunch,
    args: &'a Args<'a>,
    /// The positions of its operands that are the product.
    product: &'a [usize],
    /// The product itself is wanted too.
    raw: bool,
}

/// Marks, among alignments, launches with an epilogue.
const FUSED: usize = 1 << 8;
const FUSED_WHOLE: usize = 1 << 9;

impl Prepared {
    fn run<B: Bindings>(
        &self,
        gpu: &Gpu,
        inputs: &[u64],
        out: u64,
        launch: &Launch,
        graph: &B,
    ) -> Result<()> {
        for step in &self.steps {
            step.run(gpu, inputs, out + step.output as u64, launch, graph, None)?;
        }
        Ok(())
    }
}

impl Step {
    fn run<B: Bindings>(
        &self,
        gpu: &Gpu,
        inputs: &[u64],
        out: u64,
        launch: &Launch,
        graph: &B,
        after: Option<&After>,
    ) -> Result<()> {
        // Larger than what all launches share: given back at once, to be used again in the stream's order.
        let own = if self.plan.workspace > gpu.scratch_bytes() {
            let own = Buffer::uninit(gpu.device(), DType::U8, self.plan.workspace)?;
            if gpu.is_collecting() {
                gpu.keep(&own);
            }
            Some(own)
        } else {
            None
        };
        // Scratch memory is asked for where it is used alone: launches that share it wait for one another.
        let workspace = match &own {
            Some(own) => own.address(),
            None if self.plan.workspace > 0 => gpu.scratch(),
            None => 0,
        };
        let asks =
            self.plan.launches.iter().flat_map(library::Launch::pointers).any(|p| p.1 == Pointer::Fault);
        let fault = if asks { gpu.guard(launch.index_guard(graph))? } else { 0 };
        let address = |pointer| match pointer {
            Pointer::Input(i) => {
                self.inputs.get(usize::from(i)).and_then(|&i| inputs.get(i)).copied().unwrap_or(0)
            }
            Pointer::Output(_) => out,
            Pointer::Workspace => workspace,
            Pointer::Tickets => gpu.tickets(),
            Pointer::Fault => fault,
        };
        let last = self.plan.launches.len().saturating_sub(1);
        for (i, (step, &kernel)) in self.plan.launches.iter().zip(&self.kernels).enumerate() {
            let mut memory = [0u8; library::MAX_ARGS];
            let args = step.bind(&mut memory, address);
            for map in step.maps() {
                let encoded = gpu.tensor_map(&map.tensor, address(map.pointer) + map.offset)?;
                library::Launch::set_map(args, map, &encoded);
            }
            let args = &*args;
            let mut packed: SmallVec<[u8; 1024]> = SmallVec::new();
            let args = match (&self.epilogue, after) {
                (Some(epilogue), Some(after)) if i == last => {
                    packed.extend_from_slice(args);
                    let guard = |check, size| launch.guard(graph, after.program, check, size);
                    epilogue.pack(gpu, after.args, &guard, &mut packed)?;
                    &packed
                }
                _ => args,
            };
            let kernel = behind_gate(gpu, kernel)?;
            // SAFETY: the description's arguments are its kernel's; operands and output are the plan's, and lie as it was
            // told.
            unsafe { gpu.launch(kernel, step.grid, step.block, step.shared, args, launch.origin(graph))? };
        }
        Ok(())
    }
}

/// 0: exact; 1: tf32.
static PRECISION: AtomicU8 = AtomicU8::new(0);

fn matmul_precision() -> matmul::Precision {
    if PRECISION.load(Ordering::Relaxed) == 0 { matmul::Precision::Highest } else { matmul::Precision::High }
}

/// How products of f32 matrices are computed on CUDA devices, as PyTorch's function of this name has it: "highest" (the
/// default) in f32 throughout, "high" and "medium" on tensor cores, with operands rounded to 10 bits of fraction.
///
/// # Errors
///
/// Another name.
#[track_caller]
pub fn set_float32_matmul_precision(precision: &str) -> Result<()> {
    let code = match precision {
        "highest" => 0,
        "high" | "medium" => 1,
        _ => {
            let text = format!("{precision:?} is not a precision: \"highest\", \"high\" and \"medium\" are");
            return Err(Error::new("set_float32_matmul_precision", ErrorKind::Value(text)));
        }
    };
    PRECISION.store(code, Ordering::Relaxed);
    Ok(())
}

/// What [`set_float32_matmul_precision`] was told: "highest" or "high", as which "medium" counts.
pub fn get_float32_matmul_precision() -> &'static str {
    if PRECISION.load(Ordering::Relaxed) == 0 { "highest" } else { "high" }
}
