//! A device's memory, as the caching allocator sees it.

use std::ptr::NonNull;

use super::api::{Handle, api};
use crate::allocator::{RawMemory, Refusal};
use crate::error::ErrorKind;

/// Memory of one device, from the driver.
pub(crate) struct GpuMemory {
    pub(super) context: Handle,
    pub(super) stream: Handle,
}

// SAFETY: contexts and streams may be used from any thread.
unsafe impl Send for GpuMemory {}
// SAFETY: as above.
unsafe impl Sync for GpuMemory {}

impl RawMemory for GpuMemory {
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, Refusal> {
        // CUDA_ERROR_OUT_OF_MEMORY
        const FULL: u32 = 2;
        let api = api().map_err(|why| Refusal::Lost(ErrorKind::Device(why.into())))?;
        let mut address = 0;
        // SAFETY: the context is the device's; an address is written where there is memory.
        let (call, code) = unsafe {
            match (api.set_current)(self.context) {
                0 => ("cuMemAlloc", (api.mem_alloc)(&mut address, bytes)),
                code => ("cuCtxSetCurrent", code),
            }
        };
        match code {
            // An address of the device's memory, which the host never follows.
            0 => NonNull::new(std::ptr::without_provenance_mut(address as usize)).ok_or(Refusal::Full),
            FULL => Err(Refusal::Full),
            code => Err(Refusal::Lost(ErrorKind::Cuda(format!("{call} answers {}", api.describe(code))))),
        }
    }

    unsafe fn free(&self, ptr: NonNull<u8>, _bytes: usize) {
        let Ok(api) = api() else { return };
        // A failure here is one of the device or of the driver at the process's end: whoever launches next is told.
        // SAFETY: the block came from `alloc`; what still used it on the stream is waited for.
        unsafe {
            (api.set_current)(self.context);
            (api.stream_synchronize)(self.stream);
            (api.mem_free)(ptr.as_ptr().addr() as u64);
        }
    }

    fn available(&self) -> Option<usize> {
        let api = api().ok()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: two sizes are written.
        let code = unsafe {
            (api.set_current)(self.context);
            (api.mem_info)(&mut free, &mut total)
        };
        (code == 0).then_some(free)
    }
}
