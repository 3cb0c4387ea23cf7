//! Memory that library kernels need for the time of a call, kept by each thread.

use crate::cpu::memory::missing;
use mg_device::{Buffer, DType, Device};
use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

const ALIGN: usize = 64;
/// Larger blocks come from the allocator of tensors, which has huge pages, and go back to it after use.
const KEEP: usize = 1 << 20;

struct Block {
    ptr: NonNull<u8>,
    bytes: usize,
}

impl Block {
    const EMPTY: Block = Block { ptr: NonNull::dangling(), bytes: 0 };

    fn new(bytes: usize) -> Block {
        let bytes = bytes.next_multiple_of(4096);
        let Ok(layout) = Layout::from_size_align(bytes, ALIGN) else { missing(bytes) };
        // SAFETY: the size is not zero.
        match NonNull::new(unsafe { alloc(layout) }) {
            Some(ptr) => Block { ptr, bytes },
            None => missing(bytes),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.bytes > 0 {
            // SAFETY: allocated by `new` with this layout, which was valid then.
            unsafe { dealloc(self.ptr.as_ptr(), Layout::from_size_align_unchecked(self.bytes, ALIGN)) };
        }
    }
}

/// How far apart lines of so many elements are laid out: by an odd number of cache lines, so that they do not compete for few sets of a cache.
pub(crate) fn apart<T>(elements: usize) -> usize {
    let line = (ALIGN / size_of::<T>()).max(1);
    elements.next_multiple_of(line) | line
}

/// What a block is for. Calls within calls take different slots; the same slot taken twice is a fresh block.
#[derive(Clone, Copy)]
pub(crate) enum Slot {
    /// Operands rearranged for the kernels, read by all threads.
    Packed,
    /// A strip of an operand, read by the thread that has rearranged it.
    Strip,
    /// A panel of results.
    Panel,
    /// Sums in a wider type than the result's.
    Sums,
    /// Windows of a convolution, laid out beside each other.
    Windows,
    /// Results for those windows, before they go where they belong.
    Shares,
}

const SLOTS: usize = Slot::Shares as usize + 1;

thread_local! {
    static BLOCKS: [Cell<Block>; SLOTS] = const { [const { Cell::new(Block::EMPTY) }; SLOTS] };
}

/// What a call was lent.
enum Lent {
    /// A slot's block, which goes back there.
    Kept(Slot, Block),
    /// Memory of its own.
    Large(Buffer),
}

impl Lent {
    #[inline(never)]
    fn new(slot: Slot, bytes: usize) -> Lent {
        if bytes > KEEP {
            return Lent::Large(block(bytes));
        }
        let mut block = BLOCKS.with(|b| b[slot as usize].replace(Block::EMPTY));
        if block.bytes < bytes {
            drop(block);
            block = Block::new(bytes);
        }
        Lent::Kept(slot, block)
    }

    fn start(&self) -> *mut u8 {
        match self {
            Lent::Kept(_, block) => block.ptr.as_ptr(),
            Lent::Large(buffer) => buffer.as_mut_ptr(),
        }
    }
}

impl Drop for Lent {
    #[inline(never)]
    fn drop(&mut self) {
        if let Lent::Kept(slot, block) = self {
            let block = std::mem::replace(block, Block::EMPTY);
            BLOCKS.with(|b| b[*slot as usize].set(block));
        }
    }
}

/// Memory that is not initialised, from the allocator of tensors: what was given back is taken again, and the system is not asked for new pages.
/// Where there is not as much, the launch is left.
pub(crate) fn block(bytes: usize) -> Buffer {
    match Buffer::uninit(Device::cpu(), DType::U8, bytes) {
        Ok(buffer) => buffer,
        Err(_) => missing(bytes),
    }
}

/// Calls `f` with memory for `len` values, aligned to a cache line and not initialised; null for none.
///
/// There is one such function for each caller, so that nothing but the call stands here, and that once.
pub(crate) fn with<T, R>(slot: Slot, len: usize, f: impl FnOnce(*mut T) -> R) -> R {
    // What cannot be counted cannot be allocated either.
    let bytes = len.saturating_mul(size_of::<T>()).min(isize::MAX as usize / 2);
    let lent = (len > 0).then(|| Lent::new(slot, bytes));
    f(lent.as_ref().map_or(std::ptr::null_mut(), |lent| lent.start().cast()))
}
