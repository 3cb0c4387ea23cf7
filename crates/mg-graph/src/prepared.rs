//! Library kernels as a CUDA device runs them: made once for addresses of some alignment, then launched.
//!
//! A kernel with elementwise work before its store is a text of its own, which the driver takes up to a second to assemble. Until it has, where the
//! kernel without that work is there, the two are launched one after the other. The results are the same bits: the plan is the same but that
//! the kernel stores what the work reads, in the dtype in which the work would have read it.

use crate::cuda::After;
use crate::plan::{Bindings, Launch};
use mg_device::cuda::Gpu;
use mg_device::{Buffer, DType, Result};
use mg_kernels::cuda::library::{self, KernelPlan, Pointer};
use mg_kernels::cuda::{CudaEpilogue, Loaded};
use mg_kernels::library::matmul::Precision;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

/// What a kernel's launches depend on besides what the plan says.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Situation {
    /// What addresses are multiples of, up to the widest access: the operands', then those of the outputs.
    pub(crate) aligned: SmallVec<[usize; 4]>,
    pub(crate) precision: Precision,
    /// Elementwise work is done before the store, and whether that reads and writes the widest units.
    pub(crate) epilogue: Option<bool>,
}

impl Situation {
    pub(crate) fn of(
        inputs: &[u64],
        outs: &[u64],
        precision: Precision,
        epilogue: Option<bool>,
    ) -> Situation {
        let alignment = |address: &u64| 1 << address.trailing_zeros().min(4);
        let aligned = inputs.iter().chain(outs).map(alignment).collect();
        Situation { aligned, precision, epilogue }
    }

    /// Of the last output.
    pub(crate) fn out(&self) -> usize {
        self.aligned.last().copied().unwrap_or(1)
    }
}

/// A kernel's launches, ready for a situation.
pub(crate) struct Prepared {
    situation: Situation,
    steps: Vec<PreparedPlan>,
    /// What is launched as long as the kernel with an epilogue is not there, and its program behind it.
    meanwhile: Option<PreparedPlan>,
    /// Whether that was launched last.
    waits: AtomicBool,
}

/// Kernels as they were made for a situation.
pub(crate) struct Made {
    pub(crate) steps: Vec<PreparedPlan>,
    pub(crate) meanwhile: Option<PreparedPlan>,
}

impl From<Vec<PreparedPlan>> for Made {
    fn from(steps: Vec<PreparedPlan>) -> Made {
        Made { steps, meanwhile: None }
    }
}

/// One plan of a kernel.
pub(crate) struct PreparedPlan {
    plan: KernelPlan,
    /// Those of its launches, but for one with an epilogue.
    kernels: Vec<Loaded>,
    /// The positions of its operands.
    inputs: SmallVec<[usize; 2]>,
    /// Where in the output it writes, in bytes.
    output: usize,
    /// In the last launch.
    epilogue: Option<CudaEpilogue>,
}

impl Launch {
    /// What was made for this situation, or is made now; `None` where that cannot be made.
    pub(crate) fn known_or(
        &self,
        situation: Situation,
        make: impl FnOnce(&Situation) -> Result<Option<Made>>,
    ) -> Result<Option<Arc<Prepared>>> {
        let mut place = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = place.as_ref().filter(|p| p.situation == situation) {
            return Ok(Some(known.clone()));
        }
        let Some(Made { steps, meanwhile }) = make(&situation)? else { return Ok(None) };
        let made = Arc::new(Prepared { situation, steps, meanwhile, waits: AtomicBool::new(false) });
        *place = Some(made.clone());
        Ok(Some(made))
    }
}

impl Prepared {
    /// Has its kernels loaded, as they are launched now.
    pub(crate) fn load(&self, gpu: &Gpu) -> Result<()> {
        let kernels = load(gpu, self.steps.iter().flat_map(|step| &step.kernels));
        let epilogues = self.steps.iter().filter_map(|step| step.epilogue.as_ref());
        // Each is asked for, whatever becomes of the others.
        epilogues.map(|epilogue| epilogue.load(gpu)).fold(kernels, Result::and)
    }

    /// What is to be launched now in its place, before its epilogue's program, which waits for nothing but that: its own kernel is being assembled.
    pub(crate) fn meanwhile(&self, gpu: &Gpu) -> Option<Meanwhile<'_>> {
        let meanwhile = self.meanwhile.as_ref()?;
        let mut epilogues = self.steps.iter().filter_map(|step| step.epilogue.as_ref());
        let waits = !epilogues.all(|epilogue| epilogue.kernel().comes(gpu));
        self.waits.store(waits, Ordering::Relaxed);
        waits.then_some(Meanwhile(meanwhile))
    }

    /// Whether something else was launched in its place the last time.
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// Launches it with these addresses.
    pub(crate) fn run<B: Bindings>(
        &self,
        gpu: &Gpu,
        inputs: &[u64],
        outs: &[u64],
        launch: &Launch,
        graph: &B,
        after: Option<&After>,
    ) -> Result<()> {
        for step in &self.steps {
            step.run(gpu, inputs, outs, launch, graph, after)?;
        }
        Ok(())
    }
}

/// A kernel that stores what an epilogue would have read. It overwrites nothing that was there before, so that it need not look at a gate: its text behind
/// one would have to be assembled too.
pub(crate) struct Meanwhile<'a>(&'a PreparedPlan);

impl Meanwhile<'_> {
    /// Has its kernels loaded.
    pub(crate) fn load(&self, gpu: &Gpu) -> Result<()> {
        without_gate(gpu, || load(gpu, self.0.kernels.iter()))
    }

    /// Launches it with these addresses.
    pub(crate) fn run<B: Bindings>(
        &self,
        gpu: &Gpu,
        inputs: &[u64],
        outs: &[u64],
        launch: &Launch,
        graph: &B,
    ) -> Result<()> {
        without_gate(gpu, || self.0.run(gpu, inputs, outs, launch, graph, None))
    }
}

fn without_gate<R>(gpu: &Gpu, f: impl FnOnce() -> R) -> R {
    let [address, bits] = gpu.gate();
    gpu.set_gate(0, 0);
    let result = f();
    gpu.set_gate(address, bits);
    result
}

/// The kernels of launches.
fn kernels_of(launches: &[library::KernelLaunch]) -> Vec<Loaded> {
    launches.iter().map(|launch| Loaded::prebuilt(launch.kernel)).collect()
}

/// The kernels of launches, loaded. Each of them is asked for, whatever becomes of the others.
fn loaded(gpu: &Gpu, launches: &[library::KernelLaunch]) -> Result<Vec<Loaded>> {
    let all = kernels_of(launches);
    load(gpu, all.iter())?;
    Ok(all)
}

fn load<'a>(gpu: &Gpu, all: impl Iterator<Item = &'a Loaded>) -> Result<()> {
    let results: Vec<Result<()>> = all.map(|kernel| kernel.kernel(gpu).map(|_| ())).collect();
    results.into_iter().collect()
}

impl PreparedPlan {
    /// A plan with its kernels assembled.
    pub(crate) fn new(
        gpu: &Gpu,
        plan: KernelPlan,
        inputs: SmallVec<[usize; 2]>,
        output: usize,
    ) -> Result<PreparedPlan> {
        let kernels = loaded(gpu, &plan.launches)?;
        Ok(PreparedPlan { plan, kernels, inputs, output, epilogue: None })
    }

    /// A plan with its kernels, if all are there, as they are without a gate.
    pub(crate) fn there(gpu: &Gpu, plan: KernelPlan, inputs: SmallVec<[usize; 2]>) -> Option<PreparedPlan> {
        let kernels = kernels_of(&plan.launches);
        let all = kernels.iter().all(|kernel| kernel.is_there(gpu, false));
        all.then_some(PreparedPlan { plan, kernels, inputs, output: 0, epilogue: None })
    }

    /// A plan whose last launch does elementwise work before the store.
    pub(crate) fn fused(
        gpu: &Gpu,
        mut plan: KernelPlan,
        inputs: SmallVec<[usize; 2]>,
        epilogue: CudaEpilogue,
    ) -> Result<PreparedPlan> {
        plan.workspace = plan.workspace.max(epilogue.workspace());
        let before = plan.launches.len().saturating_sub(1);
        let kernels = loaded(gpu, &plan.launches[..before])?;
        Ok(PreparedPlan { plan, kernels, inputs, output: 0, epilogue: Some(epilogue) })
    }

    /// Those of all launches.
    fn kernels(&self) -> impl Iterator<Item = &Loaded> {
        self.kernels.iter().chain(self.epilogue.as_ref().map(CudaEpilogue::kernel))
    }

    fn run<B: Bindings>(
        &self,
        gpu: &Gpu,
        inputs: &[u64],
        outs: &[u64],
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
        let asks = self
            .plan
            .launches
            .iter()
            .flat_map(library::KernelLaunch::pointers)
            .any(|p| p.1 == Pointer::Fault);
        let fault = if asks { gpu.guard(launch.kernel_guard(graph)?)? } else { 0 };
        let address = |pointer| match pointer {
            Pointer::Input(i) => {
                self.inputs.get(usize::from(i)).and_then(|&i| inputs.get(i)).copied().unwrap_or(0)
            }
            Pointer::Output(i) => outs.get(usize::from(i)).map_or(0, |out| out + self.output as u64),
            Pointer::Workspace => workspace,
            Pointer::Tickets => gpu.tickets(),
            Pointer::Fault => fault,
        };
        let last = self.plan.launches.len().saturating_sub(1);
        let behind = self.epilogue.as_ref().zip(after);
        for (i, (step, kernel)) in self.plan.launches.iter().zip(self.kernels()).enumerate() {
            let mut memory = [0u8; library::MAX_ARGS];
            let args = step.bind(&mut memory, address);
            for map in step.maps() {
                let encoded = gpu.tensor_map(&map.tensor, address(map.pointer) + map.offset)?;
                library::KernelLaunch::set_map(args, map, &encoded);
            }
            let args = &*args;
            let mut packed: SmallVec<[u8; 1024]> = SmallVec::new();
            let args = match behind {
                Some((epilogue, after)) if i == last => {
                    packed.extend_from_slice(args);
                    let guard = |check, size| launch.guard(graph, after.program, check, size);
                    epilogue.pack(gpu, after.args, &guard, workspace, &mut packed)?;
                    &packed
                }
                _ => args,
            };
            let kernel = kernel.kernel(gpu)?;
            // SAFETY: the description's arguments are its kernel's; operands and output are the plan's, and lie as it was
            // told.
            unsafe { gpu.launch(kernel, step.grid, step.block, step.shared, args, launch.origin(graph))? };
        }
        let Some((epilogue, after)) = behind else { return Ok(()) };
        let guard = |check, size| launch.guard(graph, after.program, check, size);
        // SAFETY: as above; the last launch was the epilogue's, with this workspace.
        unsafe { epilogue.go_on(gpu, after.args, launch.origin(graph), &guard, workspace) }
    }
}
