//! The node behind a buffer: one block of memory, its reference count, and who gets it back.
//!
//! The node is counted by hand rather than by `Arc`, so that a node and its block are cached together: on the hot path a
//! buffer is made without asking the system for anything.

use std::any::Any;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;

use crate::cuda::{Arrived, Pinned};
use crate::device::Device;
use crate::dtype::DType;
use crate::writings::Writings;

/// What a buffer points to.
pub(crate) struct Storage {
    pub(crate) refs: AtomicUsize,
    pub(crate) ptr: NonNull<u8>,
    /// In elements.
    pub(crate) len: usize,
    pub(crate) dtype: DType,
    pub(crate) device: Device,
    pub(crate) owner: Owner,
    /// How often it is handed out by `Buffer::export`.
    pub(crate) exports: AtomicUsize,
    /// What was written while others had the memory, too.
    pub(crate) writings: Writings,
}

impl Storage {
    /// Memory that one buffer has, and nobody was told of.
    pub(crate) fn new(
        ptr: NonNull<u8>,
        len: usize,
        dtype: DType,
        device: Device,
        owner: Owner,
    ) -> Box<Storage> {
        let (refs, exports) = (AtomicUsize::new(1), AtomicUsize::new(0));
        Box::new(Storage { refs, ptr, len, dtype, device, owner, exports, writings: Writings::default() })
    }
}

/// Who owns the memory at `Storage::ptr`.
pub(crate) enum Owner {
    /// The allocator of the storage's device, to which it goes back.
    Pool(PoolTag),
    /// The host's page-locked memory, which goes back to who keeps it.
    Pinned(Option<Box<Pinned>>),
    /// What a copy of such memory arrived in on a device.
    Arrived(Option<Box<Arrived>>),
    /// A vector that was taken over.
    Vector { _vector: AdoptedVec },
    /// Somebody else, kept alive by this.
    Foreign { _owner: Box<dyn Any + Send + Sync> },
}

/// What the allocator knows of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolTag {
    pub(crate) class: u16,
    /// When the block was last given back, in blocks given back.
    pub(crate) stamp: u64,
}

// SAFETY: the raw pointer is to memory this owns, or that the caller of `Buffer::from_foreign` promised to be usable from
// any thread; `Foreign` owners are `Send + Sync`, vectors hold `Element`s, which are.
unsafe impl Send for Storage {}
// SAFETY: as above; a shared `Storage` is only read, but for the memory at `ptr`, whose writers are bound by the contract
// of `Buffer::as_mut_ptr`.
unsafe impl Sync for Storage {}

/// A vector of which only the allocation is known.
pub(crate) struct AdoptedVec {
    ptr: *mut u8,
    capacity: usize,
    free: unsafe fn(*mut u8, usize),
}

impl AdoptedVec {
    /// Takes over `vector`'s allocation; answers with its first element too.
    pub(crate) fn new<T: Copy + 'static>(vector: Vec<T>) -> (AdoptedVec, NonNull<u8>) {
        unsafe fn free<T>(ptr: *mut u8, capacity: usize) {
            // SAFETY: the caller passes what `new` took from a `Vec<T>`, once. No length: the elements are `Copy`.
            drop(unsafe { Vec::from_raw_parts(ptr.cast::<T>(), 0, capacity) });
        }
        let mut vector = ManuallyDrop::new(vector);
        let first = NonNull::from(vector.as_mut_slice()).cast::<u8>();
        let ptr = vector.as_mut_ptr().cast::<u8>();
        (AdoptedVec { ptr, capacity: vector.capacity(), free: free::<T> }, first)
    }
}

impl Drop for AdoptedVec {
    fn drop(&mut self) {
        // SAFETY: pointer, capacity and function come from the same vector, which nobody else frees.
        unsafe { (self.free)(self.ptr, self.capacity) }
    }
}
