//! Launches that begin only where no check has refused anything, and what puts back what others have replaced.

use super::program::{kernel, text_of};
use mg_device::cuda::{Gpu, Kernel, Origin};
use mg_device::{Device, Error, ErrorKind, Result};
use std::sync::{Mutex, PoisonError};

/// Places of checks that one launch looks at, one a thread.
const PLACES: usize = 128;
/// Bytes before them: where the flag is, whether it keeps what it says, how many places there are.
const HEADER: usize = 16;

const GATHER: &str = r"
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .align 8 .b8 p[1040])
.reqntid 128, 1, 1
{
	.reg .pred %p<5>;
	.reg .b32 %r<5>;
	.reg .b64 %d<4>;
	ld.param.b64 %d0, [p];
	ld.param.b32 %r0, [p+8];
	ld.param.b32 %r1, [p+12];
	mov.u32 %r2, %tid.x;
	mov.b64 %d1, p;
	mad.wide.u32 %d1, %r2, 8, %d1;
	mov.b64 %d3, 0;
	setp.ge.u32 %p0, %r2, %r1;
	@%p0 bra L1;
	ld.param.b64 %d2, [%d1+16];
	ld.volatile.global.b64 %d3, [%d2+8];
L1:
	setp.ne.s64 %p1, %d3, 0;
	bar.red.or.pred %p2, 0, %p1;
	setp.ne.s32 %p3, %r2, 0;
	@%p3 ret;
	mov.b32 %r3, 0;
	setp.ne.s32 %p4, %r0, 0;
	@%p4 ld.global.b32 %r3, [%d0];
	selp.b32 %r4, 1, 0, %p2;
	or.b32 %r3, %r3, %r4;
	st.global.b32 [%d0], %r3;
	ret;
}
";

/// Entries of a launch that puts things back, one a row of blocks.
const ENTRIES: usize = 42;
/// Blocks of an entry.
const BLOCKS: u32 = 16;

const RESTORE: &str = r"
.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .align 8 .b8 p[1016])
.reqntid 256, 1, 1
{
	.reg .pred %p<3>;
	.reg .b16 %h<1>;
	.reg .b32 %r<4>;
	.reg .b64 %d<9>;
	ld.param.b64 %d0, [p];
	ld.global.b32 %r0, [%d0];
	setp.eq.s32 %p0, %r0, 0;
	@%p0 ret;
	mov.u32 %r1, %ctaid.y;
	mov.b64 %d1, p;
	mad.wide.u32 %d1, %r1, 24, %d1;
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

/// What a kernel does first: it ends where the word that its second parameter points to is not zero.
const GATE: &str = "
{
	.reg .pred %mg_p;
	.reg .b32 %mg_r;
	.reg .b64 %mg_d;
	ld.param.b64 %mg_d, [mg_gate];
	ld.global.b32 %mg_r, [%mg_d];
	setp.ne.s32 %mg_p, %mg_r, 0;
	@%mg_p ret;
}
";

/// A kernel's text with the gate as its second parameter, and the kernel's name.
fn with_gate(text: &str) -> Option<(String, &str)> {
    let entry = text.find(".entry ")? + ".entry ".len();
    let name = text[entry..].split_once('(')?.0.trim();
    let params = entry + text[entry..].find(')')?;
    let body = params + text[params..].find('{')? + 1;
    let parts = [&text[..params], ", .param .b64 mg_gate", &text[params..body], GATE, &text[body..]];
    Some((parts.concat(), name))
}

/// The PTX of a kernel as it is launched where a gate is set.
pub fn gated_ptx(text: &str) -> Option<String> {
    with_gate(text).map(|(text, _)| text)
}

/// The kernels of this file.
pub fn gate_ptx() -> [&'static str; 2] {
    [GATHER, RESTORE]
}

/// The kernel as it is launched now: where a gate is set ([`Gpu::set_gate`]), the one that looks at it first.
///
/// # Errors
///
/// What assembling it fails with.
pub fn behind_gate(gpu: &Gpu, kernel: Kernel) -> Result<Kernel> {
    if gpu.gate() == 0 {
        return Ok(kernel);
    }
    static GATED: Mutex<Vec<(Device, Kernel, Kernel)>> = Mutex::new(Vec::new());
    let mut known = GATED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known.iter().find(|k| k.0 == gpu.device() && k.1 == kernel) {
        return Ok(found.2);
    }
    let lost = || Error::new("load", ErrorKind::Internal("a kernel without a text".into()));
    let text = text_of(gpu, kernel).ok_or_else(lost)?;
    let (text, name) = with_gate(&text).ok_or_else(lost)?;
    let gated = gpu.load(&text, name)?;
    known.push((gpu.device(), kernel, gated));
    Ok(gated)
}

/// Sets the device's flag ([`Gpu::refusal`]) to whether one of these checks has refused something; one that `keeps` stays set
/// where it was.
///
/// # Errors
///
/// As [`Gpu::launch`].
pub fn gather_refusals(gpu: &Gpu, places: &[u64], keeps: bool, origin: Origin) -> Result<()> {
    let gather = kernel(gpu, GATHER)?;
    let mut chunks = places.chunks(PLACES);
    let first = chunks.next().unwrap_or_default();
    for (i, chunk) in std::iter::once(first).chain(chunks).enumerate() {
        let mut args = [0u8; HEADER + 8 * PLACES];
        args[..8].copy_from_slice(&gpu.refusal().to_ne_bytes());
        args[8..12].copy_from_slice(&u32::from(keeps || i > 0).to_ne_bytes());
        args[12..16].copy_from_slice(&(chunk.len() as u32).to_ne_bytes());
        for (place, word) in chunk.iter().zip(args[HEADER..].chunks_exact_mut(8)) {
            word.copy_from_slice(&place.to_ne_bytes());
        }
        // SAFETY: the parameters are those of the text; the flag and the places live as long as the device.
        unsafe { gpu.launch(gather, [1, 1, 1], [PLACES as u32, 1, 1], 0, &args, origin)? };
    }
    Ok(())
}

/// Memory that gets another's content: from where, to where, bytes.
pub type Restored = (u64, u64, usize);

/// Copies these where the device's flag ([`Gpu::refusal`]) is set.
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
        let mut args = [0u8; 8 + 24 * ENTRIES];
        args[..8].copy_from_slice(&gpu.refusal().to_ne_bytes());
        for (&(from, to, bytes), entry) in chunk.iter().zip(args[8..].chunks_exact_mut(24)) {
            entry[..8].copy_from_slice(&from.to_ne_bytes());
            entry[8..16].copy_from_slice(&to.to_ne_bytes());
            entry[16..].copy_from_slice(&(bytes as u64).to_ne_bytes());
        }
        // SAFETY: the parameters are those of the text; the rest is this function's contract.
        unsafe { gpu.launch(restore, [BLOCKS, chunk.len() as u32, 1], [256, 1, 1], 0, &args, origin)? };
    }
    Ok(())
}
