//! A program as its device runs it.

use crate::engine::internal;
use crate::hash::{Table, WordHasher};
use mg_device::cuda::Gpu;
use mg_device::{Device, Result};
use mg_kernels::Program;
use mg_kernels::cpu::compile::Compiled;
use mg_kernels::cuda::CudaProgram;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A program, and what its device runs for it. Programs that are alike share one: the steps of a recurrent network do, and plans for
/// sequences of several lengths.
pub(crate) struct Coded {
    pub(crate) program: Program,
    pub(crate) code: Code,
    donated: Vec<Option<usize>>,
    device: Device,
}

/// Those that plans hold, by hashes; and some that none holds any more.
#[derive(Default)]
struct KnownPrograms {
    of: Table<u64, Vec<Weak<Coded>>>,
    count: usize,
    /// How many there may be until those that nobody holds are looked for.
    most: usize,
}

static KNOWN: Mutex<Option<KnownPrograms>> = Mutex::new(None);

/// Programs from which on it is looked for those that nobody holds.
const FEW: usize = 256;

impl Coded {
    /// The program as it was compiled before, or compiled now; `donated[i]` is the output that takes over the memory of operand `i`, if one does.
    pub(crate) fn of(program: Program, donated: Vec<Option<usize>>, device: Device) -> Result<Arc<Coded>> {
        let mut hasher = WordHasher::default();
        (&program, &donated, device).hash(&mut hasher);
        let hash = hasher.finish();
        let is = |coded: &Arc<Coded>| {
            coded.program == program && coded.donated == donated && coded.device == device
        };
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.get_or_insert_default();
        let found = known.of.get(&hash).and_then(|all| all.iter().filter_map(Weak::upgrade).find(is));
        if let Some(found) = found {
            return Ok(found);
        }
        let code = Code::new(&program, &donated, device)?;
        let new = Arc::new(Coded { program, code, donated, device });
        if known.count >= known.most.max(FEW) {
            known.of.retain(|_, all| {
                all.retain(|coded| coded.strong_count() > 0);
                !all.is_empty()
            });
            known.count = known.of.values().map(Vec::len).sum();
            known.most = 2 * known.count;
        }
        known.count += 1;
        known.of.entry(hash).or_default().push(Arc::downgrade(&new));
        Ok(new)
    }
}

/// A compiled program.
pub(crate) enum Code {
    Cpu(Box<Compiled>),
    Cuda(Box<CudaProgram>),
}

impl Code {
    fn new(program: &Program, donated: &[Option<usize>], device: Device) -> Result<Code> {
        Ok(if device.is_cuda() {
            Code::Cuda(Box::new(CudaProgram::of_capability(program, device, Gpu::of(device)?.capability())?))
        } else {
            Code::Cpu(Box::new(Compiled::new(program, donated)?))
        })
    }

    /// Whether it reduces nothing.
    pub(crate) fn is_elementwise(&self) -> bool {
        match self {
            Code::Cpu(c) => c.is_elementwise(),
            Code::Cuda(c) => c.is_elementwise(),
        }
    }

    /// The number of positions of its space.
    pub(crate) fn len(&self) -> usize {
        match self {
            Code::Cpu(c) => c.len(),
            Code::Cuda(c) => c.len(),
        }
    }

    pub(crate) fn on_cpu(&self) -> Result<&Compiled> {
        match self {
            Code::Cpu(c) => Ok(c),
            Code::Cuda(_) => Err(internal("a CUDA program among the CPU's")),
        }
    }

    pub(crate) fn on_cuda(&self) -> Result<&CudaProgram> {
        match self {
            Code::Cuda(c) => Ok(c),
            Code::Cpu(_) => Err(internal("a CPU program among CUDA's")),
        }
    }
}
