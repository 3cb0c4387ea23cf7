//! Kernels that a plan's launches need for the first time, assembled side by side before the first of them.

use crate::plan::{Bindings, Plan};
use crate::run::Memory;
use mg_device::Device;
use mg_device::cuda::{Gpu, noting};
use std::sync::atomic::Ordering;

/// How often launches are asked: which text one loads may depend on another that it loads first.
const ROUNDS: usize = 3;

impl Plan {
    /// Has the driver assemble what the launches need and is not loaded yet, on all processors. What fails here fails again
    /// where it is launched, and is told there.
    pub(crate) fn assemble_ahead<B: Bindings>(&self, memory: &Memory<B>) {
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
                let texts = noting(|| {
                    for launch in self.launches.iter().filter(|launch| launch.device == gpu.device()) {
                        let _ = launch.load(gpu, memory);
                    }
                });
                // One text by itself is assembled where it is launched.
                if texts.len() < 2 {
                    break;
                }
                gpu.assemble(texts);
            }
        }
    }
}
