//! Programs on CUDA: the kernel's text is written when a plan is made, assembled when it is first launched, and found
//! again by its text.

use super::assembled::{Loaded, shared};
use super::body::Check;
use super::capability::{AMPERE, HOPPER, LEAST, half_of_shared};
use super::emit::{Emitted, Followup, MOST_SCRATCH, SCRATCH, Target, emit, widest};
use super::map::{LIST_BYTES, LIST_HEADER};
use super::params::{Field, Params};
use super::splice::{Spliced, splice};
use crate::args::{Args, InputArg};
use crate::frame::{Form, Frame, Free};
use crate::program::{Class, Over, Program, Source};
use mg_device::cuda::{Gpu, Guarded, Kernel, Origin};
use mg_device::{Device, Error, Result};
use smallvec::SmallVec;
use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

/// A kernel's text, and the kernel once it was launched.
struct Variant {
    /// All but the text.
    emitted: Emitted,
    text: Arc<str>,
    kernel: Loaded,
    then: Option<Box<CudaProgram>>,
}

/// A program made ready for CUDA: independent of addresses, constants and offsets.
pub struct CudaProgram {
    device: Device,
    capability: u32,
    half: u32,
    elements: usize,
    elementwise: bool,
    /// For operands and outputs, what their addresses must be multiples of for accesses of whole runs.
    input_alignment: Vec<usize>,
    output_alignment: Vec<usize>,
    program: Program,
    scratch: u32,
    /// With accesses of whole runs, and without; as an entry of a list.
    variants: [OnceLock<Result<Variant>>; 3],
}

impl CudaProgram {
    /// Writes the program's kernel for a device, in instructions that every GPU has.
    ///
    /// # Errors
    ///
    /// An internal error, of a program that no scheduler makes.
    pub fn new(program: &Program, device: Device) -> Result<CudaProgram> {
        CudaProgram::of_capability(program, device, (0, 0))
    }

    /// As [`CudaProgram::new`], in the instructions of a compute capability (major and minor).
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::new`].
    pub fn of_capability(
        program: &Program,
        device: Device,
        (major, minor): (u32, u32),
    ) -> Result<CudaProgram> {
        let capability = [HOPPER, AMPERE].into_iter().find(|&least| major * 10 >= least).unwrap_or(LEAST);
        let half = half_of_shared(major * 10 + minor);
        let this = CudaProgram::at(program, device, (capability, half), 0)?;
        this.variant(true)?;
        Ok(this)
    }

    fn at(
        program: &Program,
        device: Device,
        (capability, half): (u32, u32),
        scratch: u32,
    ) -> Result<CudaProgram> {
        let frame = Frame::new(program, Free::Joined)?;
        let vector = (16 / widest(program, &frame)).clamp(1, 8);
        let align = |size: usize| (size * vector).min(16);
        let input_alignment = frame
            .inputs
            .iter()
            .map(|i| {
                let dense = i.column.last() == Some(&1) || (0..i.column.len()).any(|axis| i.is_turned(axis));
                let whole = i.class == Class::Full && i.source == Source::Buffer && dense;
                if whole { align(i.dtype.size()) } else { 1 }
            })
            .collect();
        let output_alignment = program
            .outputs
            .iter()
            .map(
                |&(v, class)| {
                    if class == Class::Full { align(program.values[v as usize].dtype.size()) } else { 1 }
                },
            )
            .collect();
        Ok(CudaProgram {
            device,
            capability,
            half,
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
        Ok(&self.variant(aligned)?.text)
    }

    /// The PTX of its kernel in a list; the program reduces nothing.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::new`].
    pub fn list_ptx(&self) -> Result<&str> {
        Ok(&self.made(2)?.text)
    }

    fn variant(&self, aligned: bool) -> Result<&Variant> {
        self.made(usize::from(!aligned))
    }

    fn made(&self, which: usize) -> Result<&Variant> {
        let made = self.variants[which].get_or_init(|| {
            let (capability, half, scratch) = (self.capability, self.half, self.scratch);
            let target = Target { capability, half, aligned: which != 1, list: which == 2, scratch };
            let mut emitted = emit(&self.program, target)?;
            let then = match &emitted.then {
                Some(f) => {
                    let from = MOST_SCRATCH as u32;
                    Some(Box::new(CudaProgram::at(&f.program, self.device, (capability, half), from)?))
                }
                None => None,
            };
            let text = shared(&std::mem::take(&mut emitted.text));
            Ok(Variant { emitted, kernel: Loaded::written(text.clone(), "k"), text, then })
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
        guarded: &dyn Fn(Check, usize) -> Guarded,
    ) -> Result<()> {
        // Asked for once: if another thread starts what is collected meanwhile, it is other memory afterwards.
        let scratch = OnceCell::new();
        let scratch = || *scratch.get_or_init(|| gpu.scratch());
        // SAFETY: by this function's contract.
        unsafe { self.run_in(gpu, args, origin, guarded, &scratch) }
    }

    /// As [`CudaProgram::run`], with this scratch memory.
    unsafe fn run_in(
        &self,
        gpu: &Gpu,
        args: &Args,
        origin: Origin,
        guarded: &dyn Fn(Check, usize) -> Guarded,
        scratch: &dyn Fn() -> u64,
    ) -> Result<()> {
        let variant = self.variant(self.is_aligned(args))?;
        if self.is_idle(variant) {
            return Ok(());
        }
        let emitted = &variant.emitted;
        let kernel = variant.kernel.kernel(gpu)?;
        let mut packed: SmallVec<[u8; 1024]> = SmallVec::new();
        emitted.pack(gpu, args, guarded, scratch, &mut packed)?;
        // SAFETY: the parameters are those that the text declares; their addresses are the caller's.
        unsafe { gpu.launch(kernel, emitted.grid, [emitted.block, 1, 1], emitted.shared, &packed, origin)? };
        let (Some(followup), Some(program)) = (&emitted.then, &variant.then) else { return Ok(()) };
        // SAFETY: the partial results lie in the scratch memory, the outputs are the caller's.
        unsafe { program.follow_up(followup, gpu, args, origin, guarded, scratch) }
    }

    /// Runs it, which is a followup's program, on what was left in this memory by a launch with these arguments.
    unsafe fn follow_up(
        &self,
        Followup { from, outputs, .. }: &Followup,
        gpu: &Gpu,
        of: &Args,
        origin: Origin,
        guarded: &dyn Fn(Check, usize) -> Guarded,
        left: &dyn Fn() -> u64,
    ) -> Result<()> {
        let input = |&from: &u32| InputArg {
            ptr: std::ptr::without_provenance((left() + u64::from(from)) as usize),
            base: 0,
            seed: 0,
        };
        let inputs: SmallVec<[InputArg; 4]> = from.iter().map(input).collect();
        let outputs: SmallVec<[*mut u8; 4]> = outputs.iter().map(|&o| of.outputs[usize::from(o)]).collect();
        let args = Args { inputs: &inputs, consts: &[], outputs: &outputs };
        // SAFETY: by this function's contract.
        unsafe { self.run_in(gpu, &args, origin, guarded, left) }
    }

    /// Loads its kernel, where it is a followup's program: its operands lie in the scratch memory, as far apart as it asks for.
    fn load_aligned(&self, gpu: &Gpu) -> Result<()> {
        self.variant(true)?.kernel.kernel(gpu).map(|_| ())
    }
}

impl CudaProgram {
    /// Loads the kernels that [`CudaProgram::run`] would launch, or [`CudaList::push`] where it is `listed`.
    ///
    /// # Errors
    ///
    /// What assembling fails with.
    pub fn load(&self, gpu: &Gpu, args: &Args, listed: bool) -> Result<()> {
        let entry = if listed { self.entry(args)? } else { None };
        let variant = match entry {
            Some((variant, _)) => variant,
            None => self.variant(self.is_aligned(args))?,
        };
        if self.is_idle(variant) {
            return Ok(());
        }
        let loaded = variant.kernel.kernel(gpu).map(|_| ());
        let then = variant.then.as_ref().map_or(Ok(()), |then| then.load_aligned(gpu));
        loaded.and(then)
    }

    /// Whether there is nothing to launch.
    fn is_idle(&self, variant: &Variant) -> bool {
        (self.elements == 0 && self.elementwise) || variant.emitted.grid.contains(&0)
    }

    /// As an entry of a list, and the bytes that one takes; `None` where it is launched by itself.
    fn entry(&self, args: &Args) -> Result<Option<(&Variant, usize)>> {
        if !self.elementwise || !self.is_aligned(args) {
            return Ok(None);
        }
        let variant = self.made(2)?;
        let distance = variant.emitted.params.bytes.len().next_multiple_of(8);
        Ok(fits_list(1, distance).then_some((variant, distance)))
    }

    /// Whether addresses allow accesses of whole runs.
    pub fn is_aligned(&self, args: &Args) -> bool {
        let whole = |ptr: usize, align: usize| ptr.is_multiple_of(align);
        args.inputs.iter().zip(&self.input_alignment).all(|(i, &a)| whole(i.ptr.addr(), a))
            && args.outputs.iter().zip(&self.output_alignment).all(|(o, &a)| whole(o.addr(), a))
    }
}

impl Emitted {
    fn pack(
        &self,
        gpu: &Gpu,
        args: &Args,
        guarded: &dyn Fn(Check, usize) -> Guarded,
        scratch: &dyn Fn() -> u64,
        packed: &mut SmallVec<[u8; 1024]>,
    ) -> Result<()> {
        pack(&self.params, &self.checks, gpu, args, guarded, scratch, packed)
    }
}

/// Appends the parameters, with what this launch binds.
fn pack(
    params: &Params,
    checks: &[Check],
    gpu: &Gpu,
    args: &Args,
    guarded: &dyn Fn(Check, usize) -> Guarded,
    scratch: &dyn Fn() -> u64,
    packed: &mut SmallVec<[u8; 1024]>,
) -> Result<()> {
    let start = packed.len();
    packed.extend_from_slice(&params.bytes);
    for &(at, field) in &params.fields {
        let value = match field {
            Field::Input(i) => args.inputs[usize::from(i)].ptr.addr() as u64,
            Field::Base(i) => args.inputs[usize::from(i)].base,
            Field::Seed(i) => args.inputs[usize::from(i)].seed,
            Field::Const(i) => args.consts[usize::from(i)],
            Field::Output(o) => args.outputs[usize::from(o)].addr() as u64,
            Field::Tickets => gpu.tickets(),
            Field::Scratch(from) => scratch() + u64::from(from),
            Field::Check(c) => {
                let check = checks[usize::from(c)];
                let size = match check {
                    Check::Index(bound) => args.consts[usize::from(bound)] as usize,
                    Check::Divisor => 0,
                };
                gpu.guard(guarded(check, size))?
            }
        };
        let at = start + usize::from(at);
        packed[at..at + 8].copy_from_slice(&value.to_ne_bytes());
    }
    Ok(())
}

/// A matrix product's kernel with a program as its epilogue.
pub struct CudaEpilogue {
    kernel: Loaded,
    params: Params,
    checks: Vec<Check>,
    /// What joins the sums over columns that the kernel leaves in its workspace.
    then: Option<(Followup, CudaProgram)>,
    workspace: usize,
}

impl CudaEpilogue {
    /// Splices an elementwise program, which may have a sum over the product's columns, into a library kernel, which is assembled when it is loaded; `product` are the positions of its
    /// operands that are the product's elements, of `rows` rows of `columns`, and `workspace` is how many bytes the kernel uses of that
    /// itself. `None` where the kernel takes no epilogue, or the program is none. The kernel is to store no result of its own, or one besides.
    ///
    /// # Errors
    ///
    /// An internal error, of a program that no scheduler makes.
    pub fn new(
        gpu: &Gpu,
        base: &'static super::library::Prebuilt,
        program: &Program,
        product: &[usize],
        [rows, columns]: [usize; 2],
        aligned: bool,
        workspace: usize,
    ) -> Result<Option<CudaEpilogue>> {
        // What joins the sums has its own scratch memory where this kernel has its workspace, which is used no more then.
        let free = workspace.max(SCRATCH).next_multiple_of(256);
        let Some(spliced) = splice(base, program, product, [rows, columns], aligned, free)? else {
            return Ok(None);
        };
        let kernel = Loaded::written(shared(&spliced.text), base.name);
        let Spliced { params, checks, then, workspace, .. } = spliced;
        let program = |followup: Followup| {
            let program = CudaProgram::of_capability(&followup.program, gpu.device(), gpu.capability())?;
            Ok::<_, Error>((followup, program))
        };
        let then = then.map(program).transpose()?;
        Ok(Some(CudaEpilogue { kernel, params, checks, then, workspace }))
    }

    /// The PTX that [`CudaEpilogue::new`] would load.
    ///
    /// # Errors
    ///
    /// An internal error, of a program that no scheduler makes.
    pub fn ptx(
        base: &super::library::Prebuilt,
        program: &Program,
        product: &[usize],
        matrix: [usize; 2],
        aligned: bool,
    ) -> Result<Option<String>> {
        Ok(splice(base, program, product, matrix, aligned, 0)?.map(|s| s.text))
    }

    /// The kernel.
    pub fn kernel(&self) -> &Loaded {
        &self.kernel
    }

    /// Loads all that it launches.
    ///
    /// # Errors
    ///
    /// What assembling fails with.
    pub fn load(&self, gpu: &Gpu) -> Result<()> {
        let own = self.kernel.kernel(gpu).map(|_| ());
        let then = self.then.as_ref().map_or(Ok(()), |(_, program)| program.load_aligned(gpu));
        own.and(then)
    }

    /// Whether it adds up columns, in another order than a program by itself.
    pub fn sums(&self) -> bool {
        self.then.is_some()
    }

    /// Bytes of workspace that it and the kernel use.
    pub fn workspace(&self) -> usize {
        self.workspace
    }

    /// Appends the epilogue's parameters to the kernel's own.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::run`].
    pub fn pack(
        &self,
        gpu: &Gpu,
        args: &Args,
        guarded: &dyn Fn(Check, usize) -> Guarded,
        workspace: u64,
        packed: &mut SmallVec<[u8; 1024]>,
    ) -> Result<()> {
        let end = packed.len().next_multiple_of(8);
        packed.resize(end, 0);
        pack(&self.params, &self.checks, gpu, args, guarded, &|| workspace, packed)
    }

    /// Launches what comes after the kernel, if anything does.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::run`].
    ///
    /// # Safety
    ///
    /// As [`CudaProgram::run`]; the kernel was launched with these arguments and this workspace.
    pub unsafe fn go_on(
        &self,
        gpu: &Gpu,
        args: &Args,
        origin: Origin,
        guarded: &dyn Fn(Check, usize) -> Guarded,
        workspace: u64,
    ) -> Result<()> {
        let Some((followup, program)) = &self.then else { return Ok(()) };
        // SAFETY: what the kernel left lies in the workspace, the outputs are the caller's.
        unsafe { program.follow_up(followup, gpu, args, origin, guarded, &|| workspace) }
    }
}

/// Elementwise programs that are launched together: those of one text as entries of one launch.
#[derive(Default)]
pub struct CudaList {
    groups: SmallVec<[Group; 2]>,
}

struct Group {
    kernel: Kernel,
    block: u32,
    /// Bytes of an entry.
    distance: usize,
    /// Each entry's first block, and the end of the last one's.
    first: SmallVec<[u32; 32]>,
    entries: SmallVec<[u8; 1024]>,
}

/// Whether a list has room for so many entries, of so many bytes together.
fn fits_list(entries: usize, bytes: usize) -> bool {
    (LIST_HEADER + 4 * (entries + 1)).next_multiple_of(8) + bytes <= LIST_BYTES
}

impl CudaList {
    /// Adds a program, which reduces nothing. What cannot share a launch is launched at once.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::run`].
    ///
    /// # Safety
    ///
    /// As [`CudaProgram::run`]; programs of a list do not wait for each other.
    pub unsafe fn push(
        &mut self,
        program: &CudaProgram,
        gpu: &Gpu,
        args: &Args,
        origin: Origin,
        guarded: &dyn Fn(Check, usize) -> Guarded,
    ) -> Result<()> {
        if program.elements == 0 {
            return Ok(());
        }
        let Some((variant, distance)) = program.entry(args)? else {
            // SAFETY: by this function's contract.
            return unsafe { program.run(gpu, args, origin, guarded) };
        };
        let emitted = &variant.emitted;
        let kernel = variant.kernel.kernel(gpu)?;
        let fits = |g: &Group| fits_list(g.first.len(), g.entries.len() + distance);
        let same = |g: &&mut Group| g.kernel == kernel && g.distance == distance && fits(g);
        let group = match self.groups.iter_mut().find(same) {
            Some(group) => group,
            None => {
                let first = SmallVec::from_slice(&[0]);
                let entries = SmallVec::new();
                self.groups.push(Group { kernel, block: emitted.block, distance, first, entries });
                let last = self.groups.len() - 1;
                &mut self.groups[last]
            }
        };
        emitted.pack(gpu, args, guarded, &|| gpu.scratch(), &mut group.entries)?;
        let end = group.entries.len().next_multiple_of(8);
        group.entries.resize(end, 0);
        let blocks = group.first.last().copied().unwrap_or(0) + emitted.grid[0];
        group.first.push(blocks);
        Ok(())
    }

    /// Launches what was added.
    ///
    /// # Errors
    ///
    /// As [`CudaProgram::run`].
    ///
    /// # Safety
    ///
    /// As for [`CudaList::push`].
    pub unsafe fn launch(&self, gpu: &Gpu, origin: Origin) -> Result<()> {
        for group in &self.groups {
            let Some((&blocks, first)) = group.first.split_last() else { continue };
            let kernel = group.kernel;
            let start = (LIST_HEADER + 4 * first.len()).next_multiple_of(8);
            let mut packed: SmallVec<[u8; 4096]> = SmallVec::new();
            for word in [start as u32, group.distance as u32, first.len() as u32].iter().chain(first) {
                packed.extend_from_slice(&word.to_ne_bytes());
            }
            packed.resize(start, 0);
            packed.extend_from_slice(&group.entries);
            packed.resize(LIST_BYTES, 0);
            // SAFETY: the parameters are laid out as the text reads them; addresses are the callers'.
            unsafe { gpu.launch(kernel, [blocks, 1, 1], [group.block, 1, 1], 0, &packed, origin)? };
        }
        Ok(())
    }
}
