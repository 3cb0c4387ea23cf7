//! What the CUDA halves of library kernels consist of: prebuilt PTX, and descriptions of launches.
//!
//! A kernel's [`cuda`](crate::library::Kernel::cuda) is given shapes, strides and dtypes and answers with a [`KernelPlan`]: which kernels to launch, with
//! which grids, and their arguments with room for addresses. Whoever owns a device resolves the kernels once, and for each
//! run binds the addresses and launches in order. Strides are in elements and may be 0 or negative; an operand's address is
//! that of its element at index zero.
//!
//! ```
//! use mg_device::{DType, Layout, Shape};
//! use mg_kernels::cuda::library::Pointer;
//! use mg_kernels::library::matmul::{Problem, cuda::plan};
//!
//! let a = Layout::contiguous(Shape::from([100, 784]));
//! let b = Layout::contiguous(Shape::from([784, 512]));
//! let plan = plan(&Problem::new(DType::F32, &a, &b)?)?;
//! for launch in &plan.launches {
//!     let mut memory = [0u8; mg_kernels::cuda::library::MAX_ARGS];
//!     let argument = launch.bind(&mut memory, |pointer| match pointer {
//!         Pointer::Input(0) => 0x1000,   // a
//!         Pointer::Input(_) => 0x2000,   // b
//!         Pointer::Output(_) => 0x3000,
//!         Pointer::Workspace => 0x4000, // plan.workspace bytes
//!         Pointer::Tickets => 0x5000,
//!         Pointer::Fault => 0,
//!     });
//!     assert!(!argument.is_empty() && !launch.kernel.ptx().is_empty());
//! }
//! # Ok::<(), mg_device::Error>(())
//! ```

pub(crate) mod args;
pub(crate) mod axes;
pub(crate) mod constants;
pub mod copy;
mod deltas;
pub(crate) mod many;
use mg_device::cuda::{Gpu, Moved, TENSOR_MAP_BYTES};
use mg_device::{Error, ErrorKind, Result};
use ruzstd::decoding::FrameDecoder;
use smallvec::SmallVec;
use std::sync::OnceLock;

/// The largest argument of a kernel, in bytes: what drivers before CUDA 12.1 take.
pub const MAX_ARGS: usize = 4096;
/// Counters that [`Pointer::Tickets`] has to have.
pub const TICKETS: usize = 4096;
const _: () = assert!(TICKETS <= Gpu::TICKETS);

/// A kernel that was compiled to PTX beforehand: one entry, which has the kernel's name and takes one argument by value.
#[derive(Debug)]
pub struct Prebuilt {
    /// The name of the file and of the entry.
    pub name: &'static str,
    /// Where it is, as [`deltas`] tells it.
    told: Part,
    /// How long the text is.
    bytes: usize,
    /// `None` where what is there is not what the build wrote.
    text: OnceLock<Option<String>>,
    /// Which of [`CODE`] assemblers made of it when the package was built.
    code: [usize; 2],
    facts: Facts,
}

/// A part of a pack.
#[derive(Clone, Copy, Debug)]
struct Part {
    pack: &'static Pack,
    start: usize,
    end: usize,
}

/// Machine code of a kernel, as a file that the driver loads ("cubin").
#[derive(Debug)]
struct Code {
    /// The capability that it is made for (90 is 9.0); later ones with the same first number run it too.
    capability: u32,
    part: Part,
}

/// What a launch has to know of a kernel, read from its source.
#[derive(Debug, Default)]
struct Facts {
    /// The struct that it takes.
    takes: &'static str,
    /// How long that is.
    bytes: usize,
    /// Where its numbers lie, and the bytes of each.
    fields: &'static [(u16, u8)],
    threads: u32,
    /// Numbers of the source, as this kernel has them, in the order of their names.
    constants: &'static [(&'static str, i64)],
}

/// Kernels that differ little, one after the other, as the build compressed them.
#[derive(Debug)]
struct Pack {
    compressed: &'static [u8],
    /// How long they are together.
    bytes: usize,
    /// `None` where what is there is not what the build wrote.
    unpacked: OnceLock<Option<Vec<u8>>>,
}

include!(concat!(env!("OUT_DIR"), "/prebuilt.rs"));

impl Pack {
    const fn new(compressed: &'static [u8], bytes: usize) -> Pack {
        Pack { compressed, bytes, unpacked: OnceLock::new() }
    }

    fn unpacked(&self) -> Option<&[u8]> {
        let unpacked = self.unpacked.get_or_init(|| {
            let mut unpacked = vec![0; self.bytes];
            let bytes = FrameDecoder::new().decode_all(self.compressed, &mut unpacked).ok()?;
            (bytes == self.bytes).then_some(unpacked)
        });
        unpacked.as_deref()
    }
}

impl Code {
    /// Whether GPUs of this capability run it.
    fn runs_on(&self, capability: u32) -> bool {
        self.capability / 10 == capability / 10 && self.capability <= capability
    }
}

impl Part {
    const fn new(pack: &'static Pack, start: usize, end: usize) -> Part {
        Part { pack, start, end }
    }

    fn bytes(&self) -> Option<&'static [u8]> {
        self.pack.unpacked()?.get(self.start..self.end)
    }
}

impl Prebuilt {
    const fn new(name: &'static str, told: Part, bytes: usize, code: [usize; 2], facts: Facts) -> Prebuilt {
        Prebuilt { name, told, bytes, text: OnceLock::new(), code, facts }
    }

    /// A kernel whose text is made while the program runs, and kept from then on. No other has its name.
    pub(crate) fn of_text(name: String, text: String) -> &'static Prebuilt {
        static NOTHING: Pack = Pack::new(&[], 0);
        let (name, told) = (Box::leak(name.into_boxed_str()), Part::new(&NOTHING, 0, 0));
        let kernel = Prebuilt::new(name, told, text.len(), [0, 0], Facts::default());
        kernel.text.get_or_init(|| Some(text));
        Box::leak(Box::new(kernel))
    }

    /// The text, which the driver assembles for its device. Nothing, where the package is damaged: see [`Prebuilt::whole`].
    pub fn ptx(&self) -> &str {
        self.whole().unwrap_or_default()
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Format`] where what is there is not what the build wrote.
    pub fn whole(&self) -> Result<&str> {
        let text = self.text.get_or_init(|| {
            let told = std::str::from_utf8(self.told.bytes()?).ok()?;
            deltas::decode(told, self.bytes)
        });
        text.as_deref().ok_or_else(|| self.is_damaged())
    }

    fn is_damaged(&self) -> Error {
        let text = "the package's kernels are damaged: they cannot be unpacked; install it again";
        Error::new(self.name, ErrorKind::Format(text.into()))
    }

    /// Its machine code for GPUs of this capability (90 is 9.0), if the package has it: the driver loads that in a tenth of a millisecond, where it
    /// assembles the text in 10 to 500.
    ///
    /// # Errors
    ///
    /// As [`Prebuilt::whole`].
    pub fn code(&self, capability: u32) -> Result<Option<&'static [u8]>> {
        let fit = self.codes().iter().filter(|code| code.runs_on(capability));
        let code = fit.max_by_key(|code| code.capability);
        code.map(|code| code.part.bytes().ok_or_else(|| self.is_damaged())).transpose()
    }

    fn codes(&self) -> &'static [Code] {
        let [start, end] = self.code;
        CODE.get(start..end).unwrap_or_default()
    }

    /// Bytes of its argument, as the source declares it; 0 for a kernel that was made while the program runs.
    pub fn argument(&self) -> usize {
        self.facts.bytes
    }

    /// Threads of a block, as the source asks for them; 0 likewise.
    pub fn threads(&self) -> u32 {
        self.facts.threads
    }

    /// A number that its source defines for the whole file (`constexpr int BM = V_BM;`), as this kernel has it.
    pub fn constant(&self, name: &str) -> Option<usize> {
        let at = self.facts.constants.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
        usize::try_from(self.facts.constants[at].1).ok()
    }

    /// The kernel of this name.
    pub fn find(name: &str) -> Option<&'static Prebuilt> {
        KERNELS.binary_search_by(|kernel| kernel.name.cmp(name)).ok().map(|i| &KERNELS[i])
    }
}

/// An address that a launch is given when it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pointer {
    /// An operand's element at index zero, by its position among the operation's operands.
    Input(u8),
    /// A result's first element.
    Output(u8),
    /// [`KernelPlan::workspace`] bytes that nobody else uses until the plan's last launch is done, aligned to 256 bytes.
    Workspace,
    /// [`TICKETS`] counters (u32) that are zero before each launch. Launches leave them at zero; all launches that
    /// run one after the other can share them.
    Tickets,
    /// Where an index that is out of range is told: the index (i64), then a word (u64) that is not zero once one was found.
    /// Address 0 where nobody asks.
    Fault,
}

/// A tensor that the copy engine moves boxes of, as a part of a launch's argument.
#[derive(Clone, Debug)]
pub struct Map {
    /// The byte of the argument where it goes, encoded.
    pub at: usize,
    /// Where the tensor lies.
    pub pointer: Pointer,
    /// What is added to that, in bytes.
    pub offset: u64,
    /// What it is, but for the address.
    pub tensor: Moved,
}

/// One launch.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// What runs.
    pub kernel: &'static Prebuilt,
    /// Blocks, along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block, in bytes. Above 48 KiB (49152 bytes) the function's attribute
    /// `MAX_DYNAMIC_SHARED_SIZE_BYTES` has to be raised to it first, once.
    pub shared: u32,
    pub(crate) args: SmallVec<[u8; 256]>,
    pub(crate) pointers: SmallVec<[(u16, Pointer, u64); 6]>,
    pub(crate) maps: Vec<Map>,
}

impl KernelLaunch {
    /// The kernel's argument with addresses filled in, in `memory`: what the only entry of the launch's parameter array
    /// points to. `memory` has to be aligned as a `u64` is. Where [`KernelLaunch::maps`] go it has zeros yet.
    pub fn bind<'m>(
        &self,
        memory: &'m mut [u8; MAX_ARGS],
        mut address: impl FnMut(Pointer) -> u64,
    ) -> &'m mut [u8] {
        let memory = &mut memory[..self.args.len()];
        memory.copy_from_slice(&self.args);
        for &(at, pointer, offset) in &self.pointers {
            let value = address(pointer).wrapping_add(offset);
            memory[at as usize..at as usize + 8].copy_from_slice(&value.to_ne_bytes());
        }
        memory
    }

    /// The tensor maps that the argument has to have besides the addresses, [`TENSOR_MAP_BYTES`] each:
    /// [`Gpu::tensor_map`](mg_device::cuda::Gpu::tensor_map) encodes them.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// Writes an encoded tensor map to where it goes in the argument that [`KernelLaunch::bind`] answered with.
    pub fn set_map(argument: &mut [u8], map: &Map, encoded: &[u8; TENSOR_MAP_BYTES]) {
        if let Some(place) = argument.get_mut(map.at..map.at + TENSOR_MAP_BYTES) {
            place.copy_from_slice(encoded);
        }
    }

    /// Which addresses the launch takes: the byte of the argument where each goes, and what is added to it, in bytes.
    pub fn pointers(&self) -> impl Iterator<Item = (usize, Pointer, u64)> {
        self.pointers.iter().map(|&(at, pointer, offset)| (at.into(), pointer, offset))
    }
}

impl KernelLaunch {
    /// So many blocks of a kernel, each of as many threads as its source asks for.
    pub(crate) fn of<A: args::Argument>(
        op: &'static str,
        kernel: &'static Prebuilt,
        blocks: usize,
        argument: &A,
    ) -> Result<KernelLaunch> {
        let Ok(grid) = i32::try_from(blocks) else {
            let text = format!("{blocks} blocks are needed, at most 2^31 - 1 are taken");
            return Err(Error::new(op, ErrorKind::Shape(text)));
        };
        let Facts { takes, bytes, fields, threads, .. } = kernel.facts;
        let args = args::Args::of(argument);
        let fits = takes == A::NAME && args.are(fields);
        let (args, pointers, maps) = args.finish(bytes);
        if !fits || bytes != args.len() {
            let text = format!("{} takes {takes} of {bytes} bytes, not {}", kernel.name, A::NAME);
            return Err(Error::new(op, ErrorKind::Internal(text)));
        }
        let (grid, block) = ([grid as u32, 1, 1], [threads, 1, 1]);
        Ok(KernelLaunch { kernel, grid, block, shared: 0, args, pointers, maps })
    }

    /// The launch with other addresses, and what is added to them.
    pub(crate) fn moved(mut self, to: impl Fn(Pointer) -> (Pointer, u64)) -> KernelLaunch {
        for (_, pointer, offset) in &mut self.pointers {
            let (other, more) = to(*pointer);
            (*pointer, *offset) = (other, offset.wrapping_add(more));
        }
        for Map { pointer, offset, .. } in &mut self.maps {
            let (other, more) = to(*pointer);
            (*pointer, *offset) = (other, offset.wrapping_add(more));
        }
        self
    }
}

/// Launches that compute an operation, one after the other.
#[derive(Clone, Debug, Default)]
pub struct KernelPlan {
    /// In order. None where there is nothing to compute.
    pub launches: SmallVec<[KernelLaunch; 2]>,
    /// Bytes behind [`Pointer::Workspace`].
    pub workspace: usize,
    /// Rows and columns of the matrices that the last launch computes, where an epilogue counts them.
    pub matrix: [usize; 2],
}

/// So many blocks of the kernel of this name.
pub(crate) fn launch(
    op: &'static str,
    name: &str,
    blocks: usize,
    argument: &impl args::Argument,
) -> Result<KernelLaunch> {
    KernelLaunch::of(op, find(op, name)?, blocks, argument)
}

/// The kernel of a name that a plan made.
pub(crate) fn find(op: &'static str, name: &str) -> Result<&'static Prebuilt> {
    Prebuilt::find(name).ok_or_else(|| Error::new(op, ErrorKind::Internal(format!("no kernel {name}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_pack_is_an_error() {
        static DAMAGED: Pack = Pack::new(&[0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3], 10);
        let part = Part::new(&DAMAGED, 0, 10);
        let kernel = Prebuilt::new("mg_damaged", part, 10, [0, 0], Facts::default());
        assert!(matches!(kernel.whole().unwrap_err().kind(), ErrorKind::Format(_)));
        // One that is whole, of which another text was asked for.
        let part = Part { end: usize::MAX, ..KERNELS[0].told };
        assert!(Prebuilt::new("mg_beyond", part, 1, [0, 0], Facts::default()).whole().is_err());
        assert!(KERNELS.iter().all(|kernel| kernel.whole().is_ok_and(|text| text.contains(kernel.name))));
    }

    #[test]
    fn code_runs_on_what_is_like_its_gpu() {
        let runs = |of, on| Code { capability: of, part: KERNELS[0].told }.runs_on(on);
        assert!(runs(80, 80) && runs(80, 86) && runs(80, 89) && runs(90, 90));
        assert!(!runs(86, 80) && !runs(80, 90) && !runs(90, 80) && !runs(90, 100) && !runs(80, 75));
    }

    #[test]
    fn machine_code_is_of_its_kernel() {
        for kernel in &KERNELS {
            for code in kernel.codes() {
                let bytes = kernel.code(code.capability).unwrap().unwrap();
                let is_named = bytes.windows(kernel.name.len()).any(|part| part == kernel.name.as_bytes());
                assert!(bytes.starts_with(b"\x7fELF") && is_named, "{}", kernel.name);
            }
        }
    }
}
