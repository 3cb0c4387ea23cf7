//! Programs on CUDA: the kernel's text is written when a plan is made, assembled when it is first launched, and found
//! again by its text.

use super::body::Check;
use super::emit::{Emitted, SCRATCH, emit, widest};
use super::frame::{Form, Frame};
use super::params::Field;
use crate::cpu::run::Args;
use crate::program::{Class, Over, Program, Source};
use mg_device::cuda::{Gpu, Guarded, Kernel, Origin};
use mg_device::{Device, Result};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Assembled kernels, by device and text.
static KERNELS: Mutex<Option<HashMap<(Device, String), Kernel>>> = Mutex::new(None);

/// The kernel of a text, assembled if it is new.
fn kernel(gpu: &Gpu, text: &str) -> Result<Kernel> {
    let mut guard = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    let kernels = guard.get_or_insert_default();
    let key = (gpu.device(), text.to_string());
    if let Some(&kernel) = kernels.get(&key) {
        return Ok(kernel);
    }
    let kernel = gpu.load(text, "k")?;
    kernels.insert(key, kernel);
    Ok(kernel)
}

/// A library kernel, assembled if it is new.
///
/// # Errors
///
/// What the driver says of it.
pub fn prebuilt(gpu: &Gpu, kernel: &'static super::library::Prebuilt) -> Result<Kernel> {
    static KNOWN: Mutex<Vec<(Device, &'static str, Kernel)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|k| k.0 == gpu.device() && k.1 == kernel.name) {
        return Ok(found.2);
    }
    let loaded = gpu.load(kernel.ptx, kernel.name)?;
    known.push((gpu.device(), kernel.name, loaded));
    Ok(loaded)
}

/// A kernel's text, and the kernel once it was launched.
struct Variant {
    emitted: Emitted,
    kernel: OnceLock<Kernel>,
    then: Vec<CudaProgram>,
}

/// A program made ready for CUDA: independent of addresses, constants and offsets.
pub struct CudaProgram {
    device: Device,
    elements: usize,
    elementwise: bool,
    /// For operands and outputs, what their addresses must be multiples of for accesses of whole runs.
    input_alignment: Vec<usize>,
    output_alignment: Vec<usize>,
    program: Program,
    scratch: u32,
    /// With accesses of whole runs, and without.
    variants: [OnceLock<Result<Variant>>; 2],
}

impl CudaProgram {
    /// Writes the program's kernel for a device.
    ///
    /// # Errors
    ///
    /// An internal error, of a program that no scheduler makes.
    pub fn new(program: &Program, device: Device) -> Result<CudaProgram> {
        let this = CudaProgram::at(program, device, 0)?;
        this.variant(true)?;
        Ok(this)
    }

    fn at(program: &Program, device: Device, scratch: u32) -> Result<CudaProgram> {
        let frame = Frame::new(program)?;
        let vector = (16 / widest(program, &frame)).clamp(1, 8);
        let align = |size: usize| (size * vector).min(16);
        let input_alignment = frame
            .inputs
            .iter()
            .map(|i| {
                let whole = i.class == Class::Full && i.source == Source::Buffer && i.column.last() == Some(&1);
                if whole { align(i.dtype.size()) } else { 1 }
            })
            .collect();
        let output_alignment = program
            .outputs
            .iter()
            .map(|&(v, class)| {
                if class == Class::Full { align(program.values[v as usize].dtype.size()) } else { 1 }
            })
            .collect();
        Ok(CudaProgram {
            device,
            elements: frame.rows * frame.columns,
            elementwise: frame.form == Form::Map && !program.reduces(Over::All),
            input_alignment,
            output_alignment,
            program: program.clone(),
            scratch,
            variants: Default::default(),
        })
    }

    /// The number of positions of its space.
    pub fn len(&self) -> usize {
        self.elements
    }

    /// Whether its space has no positions.
    pub fn is_empty(&self) -> bool {
        self.elements == 0
    }

    /// Whether it reduces nothing.
    pub fn is_elementwise(&self) -> bool {
        self.elementwise
    }

    /// The kernel's PTX.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::new`].
    pub fn ptx(&self, aligned: bool) -> Result<&str> {
        Ok(&self.variant(aligned)?.emitted.text)
    }

    fn variant(&self, aligned: bool) -> Result<&Variant> {
        let made = self.variants[usize::from(!aligned)].get_or_init(|| {
            let emitted = emit(&self.program, aligned, self.scratch)?;
            let then = emitted
                .then
                .iter()
                .map(|f| CudaProgram::at(&f.program, self.device, SCRATCH as u32))
                .collect::<Result<_>>()?;
            Ok(Variant { emitted, kernel: OnceLock::new(), then })
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// Launches the program. `guarded` describes a check of indices (or of divisors) whose failure the next
    /// synchronisation reports.
    ///
    /// # Errors
    ///
    /// What assembling and launching fail with.
    ///
    /// # Safety
    ///
    /// As [`crate::cpu::compile::Compiled::run`], of addresses of the device's memory, in its stream's order.
    pub unsafe fn run(
        &self,
        gpu: &Gpu,
        args: &Args,
        origin: Origin,
        guarded: &dyn Fn(Check, i64) -> Guarded,
    ) -> Result<()> {
        let whole = |ptr: usize, align: usize| ptr % align == 0;
        let aligned = args.inputs.iter().zip(&self.input_alignment).all(|(i, &a)| whole(i.ptr.addr(), a))
            && args.outputs.iter().zip(&self.output_alignment).all(|(o, &a)| whole(o.addr(), a));
        let variant = self.variant(aligned)?;
        if self.elements == 0 && self.elementwise {
            return Ok(());
        }
        let emitted = &variant.emitted;
        let kernel = match variant.kernel.get() {
            Some(kernel) => *kernel,
            None => *variant.kernel.get_or_init_with(|| kernel(gpu, &emitted.text))?,
        };
        let mut packed: SmallVec<[u8; 1024]> = SmallVec::from_slice(&emitted.params.bytes);
        for &(at, field) in &emitted.params.fields {
            let value = match field {
                Field::Input(i) => args.inputs[usize::from(i)].ptr.addr() as u64,
                Field::Base(i) => args.inputs[usize::from(i)].base,
                Field::Seed(i) => args.inputs[usize::from(i)].seed,
                Field::Const(i) => args.consts[usize::from(i)],
                Field::Output(o) => args.outputs[usize::from(o)].addr() as u64,
                Field::Tickets => gpu.tickets(),
                Field::Scratch(from) => gpu.scratch() + u64::from(from),
                Field::Check(c) => {
                    let check = emitted.checks[usize::from(c)];
                    let size = match check {
                        Check::Index(bound) => args.consts[usize::from(bound)] as i64,
                        Check::Divisor => -1,
                    };
                    gpu.guard(guarded(check, size))?
                }
            };
            let at = usize::from(at);
            packed[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        }
        // SAFETY: the parameters are those that the text declares; their addresses are the caller's.
        unsafe { gpu.launch(kernel, emitted.grid, [emitted.block, 1, 1], 0, &packed, origin)? };
        for (followup, program) in emitted.then.iter().zip(&variant.then) {
            let from = std::ptr::without_provenance((gpu.scratch() + u64::from(followup.from)) as usize);
            let input = crate::cpu::run::InputArg { ptr: from, base: 0, seed: 0 };
            let output = args.outputs[usize::from(followup.output)];
            let args = Args { inputs: &[input], consts: &[], outputs: &[output] };
            // SAFETY: the partial results lie in the scratch memory, the output is the caller's.
            unsafe { program.run(gpu, &args, origin, guarded)? };
        }
        Ok(())
    }
}

/// `OnceLock::get_or_try_init`, which is not stable.
trait GetOrInitWith<T> {
    fn get_or_init_with(&self, f: impl FnOnce() -> Result<T>) -> Result<&T>;
}

impl<T> GetOrInitWith<T> for OnceLock<T> {
    fn get_or_init_with(&self, f: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(known) = self.get() {
            return Ok(known);
        }
        let value = f()?;
        Ok(self.get_or_init(|| value))
    }
}
