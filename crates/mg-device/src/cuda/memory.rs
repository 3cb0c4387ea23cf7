//! A device's memory, as the caching allocator sees it.

use std::ptr::NonNull;

use super::api::{Handle, api};
use crate::allocator::RawMemory;

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
    fn alloc(&self, bytes: usize) -> Option<NonNull<u8>> {
        let api = api().ok()?;
        let mut address = 0;
        // SAFETY: the context is the device's; an address is written where there is memory.
        let code = unsafe {
            (api.set_current)(self.context);
            (api.mem_alloc)(&mut address, bytes)
        };
        // An address of the device's memory, which the host never follows.
        NonNull::new(std::ptr::without_provenance_mut(if code == 0 { address as usize } else { 0 }))
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
