//! [`Buffer`]: untyped memory on a device, tagged with a dtype and shared by reference count.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{Ordering, fence};

use crate::allocator::{ALIGNMENT, HOST};
use crate::cuda::{Gpu, Pinned};
use crate::device::Device;
use crate::dtype::{DType, Element};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{AdoptedVec, Owner, Storage};
use crate::writings::Writing;

/// Memory for a number of elements of one dtype, on one device. Cloning shares it; the last clone gives it back to the
/// device's caching allocator.
///
/// # Threads
///
/// A buffer may be sent and shared freely. Reading and writing through [`as_ptr`](Buffer::as_ptr) and
/// [`as_mut_ptr`](Buffer::as_mut_ptr) is `unsafe`, and under this contract: whoever writes (an executor) owns the range
/// it writes until it is done, which means that no other thread touches that range and that no slice from
/// [`as_slice`](Buffer::as_slice) is alive. The buffer itself does no synchronisation.
///
/// # Examples
///
/// ```
/// use mg_device::{Buffer, DType};
///
/// let b = Buffer::from_vec(vec![1.0f32, 2.0, 3.0]);
/// assert_eq!((b.dtype(), b.len(), b.bytes()), (DType::F32, 3, 12));
/// assert_eq!(b.as_slice::<f32>()?, [1.0, 2.0, 3.0]);
/// assert!(b.as_slice::<i32>().is_err());
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Buffer {
    storage: NonNull<Storage>,
}

// SAFETY: the storage is `Send + Sync`, and its count is atomic.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Memory for `len` elements, aligned to 64 bytes. The contents are arbitrary: write them before they are read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`]; [`ErrorKind::Device`] and [`ErrorKind::Cuda`] where the device cannot be used.
    #[inline]
    #[track_caller]
    pub fn uninit(device: Device, dtype: DType, len: usize) -> Result<Buffer> {
        let bytes = len.saturating_mul(dtype.size());
        let taken = if device.is_cpu() {
            HOST.take(bytes, dtype, len)
        } else {
            Gpu::of(device).map_err(|e| e.with_op("allocate"))?.pool.take(bytes, dtype, len)
        };
        match taken {
            Ok(storage) => Ok(Buffer::from_storage(storage)),
            Err(kind) => Err(Error::new("allocate", kind)),
        }
    }

    /// As [`Buffer::uninit`], at an address where memory was given back, if it is there still: work that repeats finds all as it was.
    #[inline]
    pub fn uninit_at(device: Device, dtype: DType, len: usize, at: u64) -> Option<Buffer> {
        let bytes = len.saturating_mul(dtype.size());
        let at = at as usize;
        let taken = if device.is_cpu() {
            HOST.take_at(bytes, dtype, len, at)
        } else {
            Gpu::of(device).ok()?.pool.take_at(bytes, dtype, len, at)
        };
        taken.map(Buffer::from_storage)
    }

    /// Memory for `len` elements that are all zero (`false` for `bool`).
    ///
    /// # Errors
    ///
    /// As [`Buffer::uninit`].
    #[track_caller]
    pub fn zeroed(device: Device, dtype: DType, len: usize) -> Result<Buffer> {
        let buffer = Buffer::uninit(device, dtype, len)?;
        if device.is_cpu() {
            // SAFETY: the buffer is on the host, new, and holds that many bytes.
            unsafe { buffer.as_mut_ptr().write_bytes(0, buffer.bytes()) };
        } else {
            // SAFETY: the buffer is on that device, new, and holds that many bytes.
            unsafe { Gpu::of(device)?.fill(buffer.address(), 0, buffer.bytes())? };
        }
        Ok(buffer)
    }

    /// New buffers on a device, of a dtype and a length each, with bytes that `fill` puts in memory: it is told which buffer, from which
    /// of its bytes on, and where to put as many as there is room for, whole elements. Large buffers of a CUDA device are filled chunk by
    /// chunk, by several threads at once, in page-locked memory that the device copies meanwhile: what comes from a file is read straight
    /// to where the device takes it.
    ///
    /// # Errors
    ///
    /// As [`Buffer::uninit`]; the first that `fill` answers with.
    ///
    /// # Examples
    ///
    /// ```
    /// use mg_device::{Buffer, DType, Device};
    ///
    /// let fill = |which: usize, at: usize, bytes: &mut [u8]| {
    ///     (at..).zip(bytes).for_each(|(i, byte)| *byte = (100 * which + i) as u8);
    ///     Ok(())
    /// };
    /// let made = Buffer::filled(Device::cpu(), &[(DType::U8, 3), (DType::U8, 2)], &fill)?;
    /// assert_eq!(made[0].as_slice::<u8>()?, [0, 1, 2]);
    /// assert_eq!(made[1].as_slice::<u8>()?, [100, 101]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    #[track_caller]
    pub fn filled<F>(device: Device, parts: &[(DType, usize)], fill: &F) -> Result<Vec<Buffer>>
    where
        F: Fn(usize, usize, &mut [u8]) -> Result<()> + Sync,
    {
        let new = |&(dtype, len): &(DType, usize)| Buffer::uninit(device, dtype, len);
        let made: Vec<Buffer> = parts.iter().map(new).collect::<Result<_>>()?;
        if device.is_cuda() {
            let runs: Vec<(u64, usize)> = made.iter().map(|b| (b.address(), b.bytes())).collect();
            // SAFETY: the buffers are new, on that device, and hold as many bytes.
            unsafe { Gpu::of(device)?.write_filled(&runs, fill)? };
            return Ok(made);
        }
        for (which, buffer) in made.iter().enumerate().filter(|(_, buffer)| !buffer.is_empty()) {
            // SAFETY: the buffer is new, so nobody else reads or writes it, on the host, and its bytes are initialised, to anything.
            let bytes = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.bytes()) };
            fill(which, 0, bytes)?;
        }
        Ok(made)
    }

    /// A copy of `values` in the host's memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`].
    #[track_caller]
    pub fn from_slice<T: Element>(values: &[T]) -> Result<Buffer> {
        let buffer = Buffer::uninit(Device::cpu(), T::DTYPE, values.len())?;
        // SAFETY: the buffer is new, so it overlaps nothing, and holds as many elements; an `Element` is plain bytes.
        unsafe { buffer.as_mut_ptr().cast::<T>().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
        Ok(buffer)
    }

    /// Page-locked memory of the host for `len` elements, which devices copy by themselves ([`Buffer::to_device`]). The contents are
    /// arbitrary. It is kept for who asks next when it is given back, and is none of what [`Device::memory_stats`](crate::Device::memory_stats) counts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] where there is no CUDA device; [`ErrorKind::OutOfMemory`], [`ErrorKind::Cuda`].
    #[track_caller]
    pub fn pinned(dtype: DType, len: usize) -> Result<Buffer> {
        let bytes = len.checked_mul(dtype.size());
        let bytes = bytes.ok_or_else(|| Error::new("pin_memory", ErrorKind::no_host_memory(usize::MAX)))?;
        let pinned = Pinned::new(bytes)?;
        Ok(Buffer::from_storage(Storage::new(
            pinned.memory(),
            len,
            dtype,
            Device::cpu(),
            Owner::Pinned(Some(Box::new(pinned))),
        )))
    }

    /// Whether it is page-locked memory, by [`Buffer::pinned`].
    #[inline]
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        matches!(self.storage().owner, Owner::Pinned(_))
    }

    /// A copy on another device (or the same). Copies to the host wait for the device's work; others come in its order, but for those of
    /// page-locked memory ([`Buffer::pinned`]): a device makes them while it works, and before what it is asked to do from now on.
    ///
    /// # Errors
    ///
    /// As [`Buffer::uninit`]; what the device's work failed with.
    #[track_caller]
    pub fn to_device(&self, device: Device) -> Result<Buffer> {
        if let (Owner::Pinned(Some(pinned)), true) =
            (&self.storage().owner, device.is_cuda() && self.bytes() > 0)
        {
            let is_shared = self.storage().exports.load(Ordering::Acquire) != 0;
            let received = Gpu::of(device)?.receive(self, pinned, is_shared);
            let (ptr, block) = received.map_err(|e| e.with_op("to"))?;
            return Ok(Buffer::from_storage(Storage::new(
                ptr,
                self.len(),
                self.dtype(),
                device,
                Owner::Arrived(Some(Box::new(block))),
            )));
        }
        let copy = Buffer::uninit(device, self.dtype(), self.len())?;
        let n = self.bytes();
        // SAFETY: the copy is new, on its device, and as large; this buffer holds `n` bytes on its own.
        unsafe {
            match (self.device().is_cpu(), device.is_cpu()) {
                (true, true) => self.as_ptr().copy_to_nonoverlapping(copy.as_mut_ptr(), n),
                (true, false) => {
                    Gpu::of(device)?.write(copy.address(), std::slice::from_raw_parts(self.as_ptr(), n))?;
                }
                (false, true) => {
                    let to = std::slice::from_raw_parts_mut(copy.as_mut_ptr(), n);
                    Gpu::of(self.device())?.read(self.address(), to)?;
                }
                (false, false) if self.device() == device => {
                    Gpu::of(device)?.copy(copy.address(), self.address(), n)?;
                }
                (false, false) => {
                    Gpu::of(device)?.copy_from(copy.address(), Gpu::of(self.device())?, self.address(), n)?;
                }
            }
        }
        Ok(copy)
    }

    /// Elements `start..start + len` in the host's memory: this buffer's clone where it is there already and whole, a copy
    /// otherwise. Waits for the device's work.
    ///
    /// # Errors
    ///
    /// A range beyond the buffer; as [`Buffer::to_device`].
    #[track_caller]
    pub fn read(&self, start: usize, len: usize) -> Result<Buffer> {
        if start.checked_add(len).is_none_or(|end| end > self.len()) {
            let text =
                format!("elements {start} to {} of a buffer of {}", start.saturating_add(len), self.len());
            return Err(Error::new("read", ErrorKind::Value(text)));
        }
        if self.device().is_cpu() && len == self.len() {
            return Ok(self.clone());
        }
        let copy = Buffer::uninit(Device::cpu(), self.dtype(), len)?;
        let (at, n) = (start * self.dtype().size(), copy.bytes());
        // SAFETY: the copy is new and holds `n` bytes; the range was checked to lie in this buffer.
        unsafe {
            if self.device().is_cpu() {
                self.as_ptr().add(at).copy_to_nonoverlapping(copy.as_mut_ptr(), n);
            } else {
                let to = std::slice::from_raw_parts_mut(copy.as_mut_ptr(), n);
                Gpu::of(self.device())?.read(self.address() + at as u64, to)?;
            }
        }
        Ok(copy)
    }

    /// Takes over the vector's memory, without a copy. It is aligned as the vector was, which may be to the element only,
    /// and is freed, not cached, at the end.
    #[must_use]
    pub fn from_vec<T: Element>(values: Vec<T>) -> Buffer {
        let len = values.len();
        let (vector, ptr) = AdoptedVec::new(values);
        Buffer::from_storage(Storage::new(
            ptr,
            len,
            T::DTYPE,
            Device::cpu(),
            Owner::Vector { _vector: vector },
        ))
    }

    /// Host memory that somebody else owns, without a copy. `owner` is dropped with the last clone of the buffer, on
    /// whatever thread that is.
    ///
    /// # Safety
    ///
    /// Until `owner` is dropped, `ptr` points to `len` initialised elements of `dtype` (`bool`s are 0 or 1), aligned to the
    /// element, that may be read from any thread and that nobody writes while the engine reads them; and that may be
    /// written wherever the engine is told to write to this buffer. With `len` 0, `ptr` may be anything.
    #[must_use]
    pub unsafe fn from_foreign(
        ptr: *mut u8,
        len: usize,
        dtype: DType,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Buffer {
        // SAFETY: this function's contract.
        unsafe { Buffer::from_foreign_on(Device::cpu(), ptr, len, dtype, owner) }
    }

    /// As [`Buffer::from_foreign`], of memory on a device. `owner` is dropped when the device's work on it is done.
    ///
    /// # Safety
    ///
    /// As [`Buffer::from_foreign`]: `ptr` is an address of that device's memory, and what others do with it comes before or
    /// after, in the order of the device's stream, what the engine does.
    #[must_use]
    pub unsafe fn from_foreign_on(
        device: Device,
        ptr: *mut u8,
        len: usize,
        dtype: DType,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Buffer {
        let ptr = if len == 0 { None } else { NonNull::new(ptr) };
        Buffer::from_storage(Storage::new(
            ptr.unwrap_or(nowhere()),
            len,
            dtype,
            device,
            Owner::Foreign { _owner: owner },
        ))
    }

    /// The dtype of the elements.
    #[inline]
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.storage().dtype
    }

    /// The number of elements.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.storage().len
    }

    /// Whether there are no elements.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size of all elements together, in bytes.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.len() * self.dtype().size()
    }

    /// Where the memory is.
    #[inline]
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage().device
    }

    /// The first byte; an address of the device's memory. Never null, and not to be read where the buffer is empty.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> *const u8 {
        self.storage().ptr.as_ptr()
    }

    /// The first byte, for writing under the contract of [`Buffer`].
    #[inline]
    #[must_use]
    pub fn as_mut_ptr(&self) -> *mut u8 {
        let storage = self.storage();
        if let Owner::Pinned(Some(pinned)) = &storage.owner {
            // A device may be copying what lies there.
            pinned.settle();
        }
        storage.ptr.as_ptr()
    }

    /// The first byte's address, as a number: how kernels on a device are told of it.
    #[inline]
    #[must_use]
    pub fn address(&self) -> u64 {
        self.storage().ptr.addr().get() as u64
    }

    /// Whether the memory is somebody else's, by [`Buffer::from_foreign`], or handed out, by [`Buffer::export`]: others read and
    /// write it at any time.
    #[inline]
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        let storage = self.storage();
        matches!(storage.owner, Owner::Foreign { .. }) || storage.exports.load(Ordering::Acquire) != 0
    }

    /// Hands the memory out: until what this answers with is dropped, somebody else reads and writes it too, as agreed.
    #[must_use = "the memory is nobody else's again when this is dropped"]
    pub fn export(&self) -> Exported {
        self.storage().exports.fetch_add(1, Ordering::Relaxed);
        if let Owner::Pinned(Some(pinned)) = &self.storage().owner {
            pinned.settle();
        }
        Exported(self.clone())
    }

    /// Notes that bytes were written while others have the memory, too: who has read them before asks [`Buffer::written_after`].
    pub fn note_written(&self, bytes: Range<usize>, writing: Writing) {
        self.storage().writings.note(bytes, writing);
    }

    /// The last writing that was noted after a time of some of these bytes, which are not looked for where there is none at all.
    #[inline]
    #[must_use]
    pub fn written_after(&self, time: u64, bytes: impl FnOnce() -> Option<Range<usize>>) -> Option<Writing> {
        self.storage().writings.after(time, bytes)
    }

    /// How many clones there are, this one included. If it is 1, nobody else can come to hold the memory.
    #[inline]
    #[must_use]
    pub fn ref_count(&self) -> usize {
        // Acquire, so that who finds 1 and overwrites comes after all that the other clones did.
        self.storage().refs.load(Ordering::Acquire)
    }

    /// Whether both are clones of one buffer.
    #[inline]
    #[must_use]
    pub fn ptr_eq(&self, other: &Buffer) -> bool {
        self.storage == other.storage
    }

    /// The elements.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] where `T` is not the buffer's dtype, [`ErrorKind::Device`] where the buffer is not on the host,
    /// [`ErrorKind::Value`] where a `bool` is neither 0 nor 1, which only memory never written can hold.
    #[track_caller]
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        if self.dtype() != T::DTYPE {
            let text = format!("the buffer holds {}, not {}", self.dtype(), T::DTYPE);
            return Err(Error::new("as_slice", ErrorKind::DType(text)));
        }
        if !self.device().is_cpu() {
            let text = format!("the buffer is on {}, not on the host", self.device());
            return Err(Error::new("as_slice", ErrorKind::Device(text)));
        }
        if T::DTYPE == DType::Bool {
            // SAFETY: any byte is a u8, and all of the buffer's bytes are initialised.
            let bytes = unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len()) };
            if bytes.iter().any(|&b| b > 1) {
                let text = "the buffer holds bytes that are not truth values".to_string();
                return Err(Error::new("as_slice", ErrorKind::Value(text)));
            }
        }
        // SAFETY: the memory is the host's, holds `len` initialised elements of T (allocators hand out initialised memory,
        // and any bits are a value of every element type but bool, checked above), is aligned to them, lives as long as
        // `self`, and is not written meanwhile by the contract of `Buffer`.
        Ok(unsafe { std::slice::from_raw_parts(self.as_ptr().cast::<T>(), self.len()) })
    }

    #[inline]
    fn from_storage(storage: Box<Storage>) -> Buffer {
        // SAFETY: a box is never null.
        Buffer { storage: unsafe { NonNull::new_unchecked(Box::into_raw(storage)) } }
    }

    #[inline]
    fn storage(&self) -> &Storage {
        // SAFETY: the storage lives while the count that this buffer holds is not given up, which only `drop` does.
        unsafe { self.storage.as_ref() }
    }
}

/// Memory that somebody else has as long as this lives; see [`Buffer::export`].
pub struct Exported(Buffer);

impl Drop for Exported {
    fn drop(&mut self) {
        // Release: what the other one wrote comes before what is done by those who find that nobody else has it.
        self.0.storage().exports.fetch_sub(1, Ordering::Release);
    }
}

impl Clone for Buffer {
    #[inline]
    fn clone(&self) -> Buffer {
        // Relaxed suffices, as in `Arc`: a new clone comes from one that keeps the storage alive.
        let before = self.storage().refs.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            // Only leaking clones gets here; going on would free memory in use.
            std::process::abort();
        }
        Buffer { storage: self.storage }
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        // A count of 1 is this buffer's own and cannot grow, so the last clone need not write it. Acquire, here and in
        // the fence: everything the other clones did comes before the memory is used anew.
        let refs = &self.storage().refs;
        if refs.load(Ordering::Acquire) != 1 {
            if refs.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            fence(Ordering::Acquire);
        }
        // SAFETY: the pointer is from `Box::into_raw`, and this was the last buffer with it.
        let mut storage = unsafe { Box::from_raw(self.storage.as_ptr()) };
        // In a child made by fork a device's memory is the parent's.
        let device = storage.device;
        let gpu = || crate::cuda::existing(device);
        match &mut storage.owner {
            Owner::Pool(_) if device.is_cpu() => HOST.put(storage),
            Owner::Pool(_) => {
                if let Some(gpu) = gpu() {
                    gpu.pool.put(storage);
                }
            }
            Owner::Pinned(pinned) => {
                if let Some(pinned) = pinned.take() {
                    pinned.put();
                }
            }
            Owner::Arrived(block) => {
                if let (Some(gpu), Some(block)) = (gpu(), block.take()) {
                    gpu.give_back(*block);
                }
            }
            Owner::Foreign { .. } if device.is_cuda() => {
                if let Some(gpu) = gpu() {
                    // A device that was lost works on it no more.
                    let _ = gpu.wait();
                }
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} x {} on {})", self.len(), self.dtype(), self.device())
    }
}

/// An address for no elements.
const fn nowhere() -> NonNull<u8> {
    match std::num::NonZeroUsize::new(ALIGNMENT) {
        Some(address) => NonNull::without_provenance(address),
        None => NonNull::dangling(),
    }
}
