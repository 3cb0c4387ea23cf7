//! Kernels that a plan's launches need for the first time, assembled side by side before the first of them.

use crate::plan::{Bindings, Launch, Plan};
use crate::refusal::Refusal;
use crate::run::Memory;
use mg_device::cuda::{Gpu, noting};
use mg_device::{Buffer, Device};
use mg_kernels::cuda::load_gates;
use std::sync::atomic::Ordering;

/// How often launches are asked: which text one loads may depend on another that it loads first.
const ROUNDS: usize = 3;

impl Plan {
    /// Has the driver assemble what the launches need and is not loaded yet, on all processors. What fails here fails again
    /// where it is launched, and is told there.
    pub(crate) fn assemble_ahead<B: Bindings>(
        &self,
        memory: &Memory<B>,
        buffers: &[Option<Buffer>],
        refusal: &Refusal,
    ) {
        if self.assembled.load(Ordering::Relaxed) {
            return;
        }
        self.assembled.store(true, Ordering::Relaxed);
        let mut devices: Vec<Device> = vec![];
        for launch in &self.launches {
            if launch.device.is_cuda() && !devices.contains(&launch.device) {
                devices.push(launch.device);
            }
        }
        for gpu in devices.into_iter().filter_map(|device| Gpu::of(device).ok()) {
            for _ in 0..ROUNDS {
                let texts = noting(|| self.load_all(gpu, memory, buffers, refusal));
                // One text by itself is assembled where it is launched.
                if texts.len() < 2 {
                    break;
                }
                gpu.assemble(texts);
            }
        }
    }

    /// Asks for the kernels of all launches on a device, in the form in which each will be launched.
    fn load_all<B: Bindings>(
        &self,
        gpu: &Gpu,
        memory: &Memory<B>,
        buffers: &[Option<Buffer>],
        refusal: &Refusal,
    ) {
        let mut gates = false;
        for (at, launch) in self.launches.iter().enumerate().filter(|(_, l)| l.device == gpu.device()) {
            let checks = self.guarded.filter(|_| at >= self.checks_until).map(|(device, _)| device);
            let depends = self.overwritten(launch, buffers);
            let gate = depends.and_then(|depends| refusal.gate_then(checks, launch.device, depends).ok()?);
            if let Some((gpu, bits)) = gate {
                gates = true;
                gpu.set_gate(gpu.refusal(), bits);
            }
            let _ = launch.load(gpu, memory);
            if gate.is_some() {
                gpu.set_gate(0, 0);
            }
        }
        if gates {
            let _ = load_gates(gpu);
        }
    }

    /// The bits of the checks on which what a launch writes over memory of before depends; nothing where it writes over none.
    pub(crate) fn overwritten(&self, launch: &Launch, buffers: &[Option<Buffer>]) -> Option<u64> {
        let is_overwritten = |&slot: &usize| self.slots[slot].donor.is_some() && buffers[slot].is_none();
        let depends = launch.outputs().filter(is_overwritten).map(|slot| self.slots[slot].depends);
        depends.reduce(|a, b| a | b)
    }
}
