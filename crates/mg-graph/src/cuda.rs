//! Launches on CUDA devices, and transfers between devices.

use crate::kernel::Kernel;
use crate::plan::{Action, Bindings, Launch, Memory, ProgramLaunch};
use mg_device::cuda::{Gpu, Guarded, Origin};
use mg_device::{Device, Error, ErrorKind, Layout, Result};
use mg_kernels::cpu::run::{Args, InputArg};
use mg_kernels::cuda::Check;
use smallvec::SmallVec;

impl Launch {
    fn origin(&self) -> Origin {
        Origin { name: self.name, line: self.location }
    }

    /// Runs the launch on its device, or starts it: what fails later is told by the next synchronisation.
    pub(crate) fn on_device<B: Bindings>(&self, memory: &Memory<B>) -> Result<()> {
        match &self.action {
            Action::Program(p) => self.program(Gpu::of(self.device)?, p, memory, None),
            Action::List(list) => {
                let gpu = Gpu::of(self.device)?;
                list.iter().try_for_each(|p| self.program(gpu, p, memory, None))
            }
            Action::Copy { .. } => Err(self.lost()),
            Action::Kernel { kernel, args, output, epilogue } => {
                let operands: SmallVec<[(*const u8, Layout); 3]> =
                    args.iter().map(|a| memory.operand(a)).collect();
                let out = output.map(|slot| memory.slots[slot]).ok_or_else(|| self.lost())?;
                if *kernel == Kernel::Transfer {
                    let from = args.first().ok_or_else(|| self.lost())?;
                    return self.transfer(&operands[0], memory.device_of(from), out);
                }
                let gpu = Gpu::of(self.device)?;
                self.library(gpu, kernel, &operands, out)?;
                match epilogue {
                    Some(p) => self.program(gpu, p, memory, Some(out)),
                    None => Ok(()),
                }
            }
        }
    }

    fn lost(&self) -> Error {
        Error::new(self.name, ErrorKind::Internal("a launch that its device does not know".into()))
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
        let guarded = |check: Check, size: i64| {
            let (op, line) = match (check, p.guarded) {
                (Check::Index(_), Some(g)) => (g.op, g.location),
                (Check::Index(_), None) => (self.name, self.location),
                (Check::Divisor, _) => ("div", self.location),
            };
            Guarded { op, line, axis: 0, size }
        };
        p.with_args(memory, |args, from_product| {
            if let Some(product) = product.filter(|_| !from_product.is_empty()) {
                let mut inputs: SmallVec<[InputArg; 16]> = args.inputs.into();
                for &i in from_product {
                    inputs[i].ptr = product;
                }
                let args = Args { inputs: &inputs, ..*args };
                // SAFETY: as below; the product was launched before.
                return unsafe { code.run(gpu, &args, self.origin(), &guarded) };
            }
            // SAFETY: operands and outputs are the plan's, sized by the shapes that the program was made from, and used
            // in the stream's order.
            unsafe { code.run(gpu, args, self.origin(), &guarded) }
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

    /// Runs a library kernel.
    fn library(&self, _gpu: &Gpu, _kernel: &Kernel, _operands: &[(*const u8, Layout)], _out: *mut u8) -> Result<()> {
        Err(self.lost())
    }
}
