//! Launches that begin only where no check has refused anything, and what puts back what others have replaced.

use super::assembled::kernel;
use mg_device::cuda::{Gpu, Origin};
use mg_device::{Error, ErrorKind, Result};

/// Places of checks that one launch looks at, one a thread.
const PLACES: usize = 64;
/// Bytes before them: where the word is, whether it keeps what it says, how many places there are.
const HEADER: usize = 16;

/// Two warps; the first joins what both have found.
const GATHER: &str = r"
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .align 8 .b8 p[1040])
.reqntid 64, 1, 1
{
	.shared .align 8 .b64 found;
	.reg .pred %p<6>;
	.reg .b32 %r<4>;
	.reg .b64 %d<8>;
	ld.param.b64 %d0, [p];
	ld.param.b32 %r0, [p+8];
	ld.param.b32 %r1, [p+12];
	mov.u32 %r2, %tid.x;
	setp.ne.s32 %p3, %r2, 0;
	mov.b64 %d6, 0;
	@!%p3 st.shared.b64 [found], %d6;
	bar.sync 0;
	mov.b64 %d1, p;
	mad.wide.u32 %d1, %r2, 16, %d1;
	setp.ge.u32 %p0, %r2, %r1;
	@%p0 bra L1;
	ld.param.b64 %d2, [%d1+16];
	ld.param.b64 %d4, [%d1+24];
	ld.volatile.global.b64 %d3, [%d2+8];
	setp.ne.s64 %p1, %d3, 0;
	mov.b64 %d7, found;
	@%p1 atom.shared.or.b64 %d5, [%d7], %d4;
L1:
	bar.sync 0;
	@%p3 ret;
	setp.ne.s32 %p4, %r0, 0;
	@%p4 ld.global.b64 %d6, [%d0];
	ld.shared.b64 %d5, [found];
	or.b64 %d6, %d6, %d5;
	st.global.b64 [%d0], %d6;
	ret;
}
";

/// Entries of a launch that puts things back, one a row of blocks.
const ENTRIES: usize = 31;
/// Blocks of an entry.
const BLOCKS: u32 = 16;

const RESTORE: &str = r"
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .align 8 .b8 p[1000])
.reqntid 256, 1, 1
{
	.reg .pred %p<3>;
	.reg .b16 %h<1>;
	.reg .b32 %r<4>;
	.reg .b64 %d<10>;
	ld.param.b64 %d0, [p];
	ld.global.b64 %d8, [%d0];
	mov.u32 %r1, %ctaid.y;
	mov.b64 %d1, p;
	mad.wide.u32 %d1, %r1, 32, %d1;
	ld.param.b64 %d9, [%d1+32];
	and.b64 %d8, %d8, %d9;
	setp.eq.s64 %p0, %d8, 0;
	@%p0 ret;
	ld.param.b64 %d2, [%d1+8];
	ld.param.b64 %d3, [%d1+16];
	ld.param.b64 %d4, [%d1+24];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r2, %r2, 256, %r3;
	cvt.u64.u32 %d5, %r2;
L1:
	setp.ge.u64 %p1, %d5, %d4;
	@%p1 ret;
	add.s64 %d6, %d2, %d5;
	add.s64 %d7, %d3, %d5;
	ld.global.u8 %h0, [%d6];
	st.global.u8 [%d7], %h0;
	add.s64 %d5, %d5, 4096;
	bra L1;
}
";

/// What a kernel does first: it ends where one of the bits is set that its second parameter names, of the word to which that
/// points.
const GATE: &str = "
{
	.reg .pred %mg_p;
	.reg .b64 %mg_d<3>;
	ld.param.b64 %mg_d0, [mg_gate];
	ld.param.b64 %mg_d1, [mg_gate+8];
	ld.global.b64 %mg_d2, [%mg_d0];
	and.b64 %mg_d2, %mg_d2, %mg_d1;
	setp.ne.s64 %mg_p, %mg_d2, 0;
	@%mg_p ret;
}
";

/// The PTX of a kernel as it is launched where a gate is set: that is its second parameter.
pub fn gated_ptx(text: &str) -> Option<String> {
    let entry = text.find(".entry ")? + ".entry ".len();
    let params = entry + text[entry..].find(')')?;
    let body = params + text[params..].find('{')? + 1;
    let parts =
        [&text[..params], ", .param .align 8 .b8 mg_gate[16]", &text[params..body], GATE, &text[body..]];
    Some(parts.concat())
}

/// The same, of what has to be a kernel.
pub(super) fn behind_gate(text: &str) -> Result<String> {
    let none = || Error::new("load", ErrorKind::Internal("a text without a kernel".into()));
    gated_ptx(text).ok_or_else(none)
}

/// The kernels of this file.
pub fn gate_ptx() -> [&'static str; 2] {
    [GATHER, RESTORE]
}

/// Has the kernels of this file loaded.
///
/// # Errors
///
/// What the driver says of them.
pub fn load_gates(gpu: &Gpu) -> Result<()> {
    let all = gate_ptx().map(|text| kernel(gpu, text));
    all.into_iter().try_for_each(|kernel| kernel.map(|_| ()))
}

/// Sets the bits of the device's word ([`Gpu::refusal`]) whose checks, by their places, have refused something; one that `keeps`
/// has the bits besides that it had.
///
/// # Errors
///
/// As [`Gpu::launch`].
pub fn gather_refusals(gpu: &Gpu, places: &[(u64, u64)], keeps: bool, origin: Origin) -> Result<()> {
    let gather = kernel(gpu, GATHER)?;
    let mut chunks = places.chunks(PLACES);
    let first = chunks.next().unwrap_or_default();
    for (i, chunk) in std::iter::once(first).chain(chunks).enumerate() {
        let mut args = [0u8; HEADER + 16 * PLACES];
        args[..8].copy_from_slice(&gpu.refusal().to_ne_bytes());
        args[8..12].copy_from_slice(&u32::from(keeps || i > 0).to_ne_bytes());
        args[12..16].copy_from_slice(&(chunk.len() as u32).to_ne_bytes());
        for ((place, bits), entry) in chunk.iter().zip(args[HEADER..].chunks_exact_mut(16)) {
            entry[..8].copy_from_slice(&place.to_ne_bytes());
            entry[8..].copy_from_slice(&bits.to_ne_bytes());
        }
        // SAFETY: the parameters are those of the text; the word and the places live as long as the device.
        unsafe { gpu.launch(gather, [1, 1, 1], [PLACES as u32, 1, 1], 0, &args, origin)? };
    }
    Ok(())
}

/// Memory that gets another's content where one of some checks has refused something.
#[derive(Clone, Copy, Debug)]
pub struct Restored {
    /// The address of what is there again.
    pub from: u64,
    /// Where.
    pub to: u64,
    /// How much.
    pub bytes: usize,
    /// The bits of the checks.
    pub bits: u64,
}

/// Copies these where their bits of the device's word ([`Gpu::refusal`]) are set.
///
/// # Errors
///
/// As [`Gpu::launch`].
///
/// # Safety
///
/// They are memory of the device, of as many bytes, that may be read and written by work in the stream's order.
pub unsafe fn restore_refused(gpu: &Gpu, all: &[Restored], origin: Origin) -> Result<()> {
    let restore = kernel(gpu, RESTORE)?;
    for chunk in all.chunks(ENTRIES) {
        let mut args = [0u8; 8 + 32 * ENTRIES];
        args[..8].copy_from_slice(&gpu.refusal().to_ne_bytes());
        for (of, entry) in chunk.iter().zip(args[8..].chunks_exact_mut(32)) {
            for (word, value) in entry.chunks_exact_mut(8).zip([of.from, of.to, of.bytes as u64, of.bits]) {
                word.copy_from_slice(&value.to_ne_bytes());
            }
        }
        // SAFETY: the parameters are those of the text; the rest is this function's contract.
        unsafe { gpu.launch(restore, [BLOCKS, chunk.len() as u32, 1], [256, 1, 1], 0, &args, origin)? };
    }
    Ok(())
}
