//! A program as its device runs it.

use crate::engine::internal;
use mg_device::cuda::Gpu;
use mg_device::{Device, Result};
use mg_kernels::Program;
use mg_kernels::cpu::compile::Compiled;
use mg_kernels::cuda::CudaProgram;

/// A compiled program.
pub(crate) enum Code {
    Cpu(Box<Compiled>),
    Cuda(Box<CudaProgram>),
}

impl Code {
    /// Compiles a program; `donated[i]` is the output that takes over the memory of operand `i`, if one does.
    pub(crate) fn new(program: &Program, donated: &[Option<usize>], device: Device) -> Result<Code> {
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
