//! Page-locked memory of the host, and copies from it on a stream of their own: the device takes what comes next while it computes.
//!
//! Copies through [`Gpu::write`] are in the order of the device's work, and the host fills the pieces that they go through. What lies in
//! page-locked memory needs neither: the device reads it by itself. Two things keep that right, both of them events. Whoever writes to
//! the host's memory waits until it was read. And what a copy arrives in is memory that the device's work was done with: each
//! block of it says since when.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::api::{Handle, api};
use super::gpu::{Gpu, is_forked};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};

/// The least that is page-locked at a time.
const LEAST: usize = 4 << 10;
/// Bytes that are kept page-locked for who asks next.
const MOST_KEPT: usize = 1 << 30;
/// Blocks that are kept for what arrives next, and which part of the device's memory they may be.
const MOST_BLOCKS: usize = 32;
const PART: usize = 16;

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Page-locked memory of the host.
pub(crate) struct Pinned {
    memory: NonNull<u8>,
    bytes: usize,
    /// Whether a device may be reading it.
    is_read: AtomicBool,
    /// By device, what is recorded behind its copies.
    read: Mutex<Vec<(Device, Event)>>,
}

// SAFETY: the memory is the owner's alone, and may be used from any thread.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

/// An event of the driver's, without timing.
struct Event(Handle);

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// The device's context is current.
    #[track_caller]
    fn new(gpu: &Gpu) -> Result<Event> {
        let mut event = null_mut();
        // SAFETY: a handle is written.
        gpu.check("cuEventCreate", unsafe { (gpu.api.event_create)(&mut event, 2) })?;
        Ok(Event(event))
    }

    #[track_caller]
    fn record(&self, gpu: &Gpu, stream: Handle) -> Result<()> {
        // SAFETY: both are the device's.
        gpu.check("cuEventRecord", unsafe { (gpu.api.event_record)(self.0, stream) })
    }

    /// Has a stream wait for what was last recorded.
    #[track_caller]
    fn before(&self, gpu: &Gpu, stream: Handle) -> Result<()> {
        // SAFETY: both are the device's.
        gpu.check("cuStreamWaitEvent", unsafe { (gpu.api.stream_wait_event)(stream, self.0, 0) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(api) = api()
            && !is_forked()
        {
            // SAFETY: it was made by `new`. What was asked of it is done although it is destroyed.
            unsafe { (api.event_destroy)(self.0) };
        }
    }
}

/// What was given back.
static KEPT: Mutex<Vec<Pinned>> = Mutex::new(Vec::new());

impl Pinned {
    /// Memory for so many bytes.
    #[track_caller]
    pub(crate) fn new(bytes: usize) -> Result<Pinned> {
        let bytes = bytes.max(LEAST).checked_next_power_of_two().ok_or_else(|| no_memory(bytes))?;
        let kept = {
            let mut kept = locked(&KEPT);
            // The first of them was given back before all others.
            let found = kept.iter().position(|pinned| pinned.bytes == bytes);
            found.map(|at| kept.remove(at))
        };
        if let Some(pinned) = kept {
            // A device may be reading it: whoever writes to it first waits for that.
            return Ok(pinned);
        }
        // Any device's context does: memory is page-locked for all of them.
        let gpu = Gpu::of(Device::cuda(0)?)?;
        gpu.bind()?;
        // CUDA_ERROR_OUT_OF_MEMORY
        const FULL: u32 = 2;
        // Of all contexts.
        const PORTABLE: u32 = 1;
        let mut memory = null_mut::<c_void>();
        // SAFETY: an address is written.
        match unsafe { (gpu.api.host_alloc)(&mut memory, bytes, PORTABLE) } {
            FULL => return Err(no_memory(bytes)),
            code => gpu.check("cuMemHostAlloc", code)?,
        }
        let Some(memory) = NonNull::new(memory.cast::<u8>()) else { return Err(no_memory(bytes)) };
        // SAFETY: just allocated. What a buffer is made of is initialised.
        unsafe { memory.write_bytes(0, bytes) };
        Ok(Pinned { memory, bytes, is_read: AtomicBool::new(false), read: Mutex::default() })
    }

    /// Where it is.
    pub(crate) fn memory(&self) -> NonNull<u8> {
        self.memory
    }

    /// Waits until no device reads it: whoever writes to it does so first.
    #[inline]
    pub(crate) fn settle(&self) {
        if self.is_read.load(Ordering::Acquire) {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        if is_forked() {
            // The copies are the parent's, and read its memory.
            return;
        }
        let read = locked(&self.read);
        for (device, event) in read.iter() {
            if let Ok(gpu) = Gpu::of(*device)
                && gpu.bind().is_ok()
            {
                // A device that was lost reads no more, and tells who asks it for something next.
                // SAFETY: the event is the device's.
                unsafe { (gpu.api.event_synchronize)(event.0) };
            }
        }
        self.is_read.store(false, Ordering::Release);
    }

    /// Notes that a device reads it until its stream has come to where it is now.
    #[track_caller]
    fn note(&self, gpu: &Gpu, stream: Handle) -> Result<()> {
        let mut read = locked(&self.read);
        let at = match read.iter().position(|(device, _)| *device == gpu.device()) {
            Some(at) => at,
            None => {
                read.push((gpu.device(), Event::new(gpu)?));
                read.len() - 1
            }
        };
        // Before the record: a copy is under way even where that fails.
        self.is_read.store(true, Ordering::Release);
        read[at].1.record(gpu, stream)
    }

    /// Keeps it for who asks next.
    pub(crate) fn put(self) {
        if is_forked() {
            return;
        }
        let mut kept = locked(&KEPT);
        kept.push(self);
        while kept.iter().map(|pinned| pinned.bytes).sum::<usize>() > MOST_KEPT {
            kept.remove(0).free();
        }
    }

    fn free(self) {
        self.settle();
        if let Ok(api) = api() {
            // SAFETY: it came from the driver, and nobody has it.
            unsafe { (api.host_free)(self.memory.as_ptr().cast()) };
        }
    }
}

#[track_caller]
fn no_memory(bytes: usize) -> Error {
    Error::new("pin_memory", ErrorKind::no_host_memory(bytes))
}

/// What a copy arrived in.
pub(crate) struct Arrived {
    memory: Buffer,
    /// Behind all that the device was asked to do with it, once it was given back.
    done: Event,
}

/// Memory that copies arrive in.
#[derive(Default)]
pub(super) struct Arrivals {
    /// The stream of the copies, made by the first.
    stream: Option<Stream>,
    /// What the device's work is done with when the event beside it is; the oldest first.
    ready: Vec<Arrived>,
}

struct Stream(Handle);

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}

impl Arrivals {
    #[track_caller]
    fn stream(&mut self, gpu: &Gpu) -> Result<Handle> {
        if let Some(Stream(stream)) = self.stream {
            return Ok(stream);
        }
        let mut stream = null_mut();
        // SAFETY: the context is current; a handle is written. Not blocking: as the stream of the device's work.
        gpu.check("cuStreamCreate", unsafe { (gpu.api.stream_create)(&mut stream, 1) })?;
        self.stream = Some(Stream(stream));
        Ok(stream)
    }

    /// Memory for so many bytes, that copies may be put in once its event is over.
    #[track_caller]
    fn take(&mut self, gpu: &Gpu, bytes: usize) -> Result<Arrived> {
        let fits = |block: &Arrived| (bytes..=2 * bytes.max(LEAST)).contains(&block.memory.bytes());
        if let Some(at) = self.ready.iter().position(fits) {
            return Ok(self.ready.remove(at));
        }
        let new = || Buffer::uninit(gpu.device(), DType::U8, bytes.next_multiple_of(512));
        let memory = match new() {
            Err(error) if matches!(error.kind(), ErrorKind::OutOfMemory { .. }) && !self.ready.is_empty() => {
                self.ready.clear();
                new()?
            }
            made => made?,
        };
        let done = Event::new(gpu)?;
        // Work that was asked for before it was given out may still use it.
        done.record(gpu, gpu.stream)?;
        Ok(Arrived { memory, done })
    }

    /// Takes back what nobody has any more: whatever the device was asked to do with it was asked before now.
    #[track_caller]
    fn note(&mut self, gpu: &Gpu) -> Result<()> {
        for block in std::mem::take(&mut *locked(&gpu.returned)) {
            block.done.record(gpu, gpu.stream)?;
            self.ready.push(block);
        }
        let most = gpu.total_memory() / PART;
        while self.ready.len() > MOST_BLOCKS
            || self.ready.iter().map(|b| b.memory.bytes()).sum::<usize>() > most
        {
            // In the order of the device's work it is free, as all other memory is.
            self.ready.remove(0);
        }
        Ok(())
    }
}

impl Gpu {
    /// A copy of page-locked memory, made while the device works on other things: what is launched after this comes after it. The host does not wait,
    /// but where others have the memory too: they may write to it.
    #[track_caller]
    pub(crate) fn receive(
        &self,
        from: &Buffer,
        pinned: &Pinned,
        is_shared: bool,
    ) -> Result<(NonNull<u8>, Arrived)> {
        self.start_collected()?;
        self.bind()?;
        let mut arrivals = locked(&self.arrivals);
        let stream = arrivals.stream(self)?;
        let block = arrivals.take(self, from.bytes())?;
        block.done.before(self, stream)?;
        let to = block.memory.address();
        // SAFETY: the block has room for the bytes, and nothing else uses it; the source is written by nobody before its event is over.
        let code = unsafe { (self.api.memcpy_to_device)(to, from.as_ptr().cast(), from.bytes(), stream) };
        self.check("cuMemcpyHtoDAsync", code)?;
        pinned.note(self, stream)?;
        // The event is the block's until it is given back.
        block.done.record(self, stream)?;
        block.done.before(self, self.stream)?;
        arrivals.note(self)?;
        drop(arrivals);
        if is_shared || self.synchronous {
            pinned.settle();
        }
        let address = NonNull::new(block.memory.as_mut_ptr());
        let address = address.ok_or_else(|| Error::new("to", ErrorKind::Internal("memory at 0".into())))?;
        Ok((address, block))
    }

    /// Takes back what a copy arrived in.
    pub(crate) fn give_back(&self, block: Arrived) {
        locked(&self.returned).push(block);
    }

    /// Gives the memory that is kept for copies to the device's allocator.
    pub(crate) fn let_go_of_arrivals(&self) {
        let returned = std::mem::take(&mut *locked(&self.returned));
        let ready = std::mem::take(&mut locked(&self.arrivals).ready);
        drop((returned, ready));
    }
}
