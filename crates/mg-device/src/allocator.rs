//! The caching allocator: memory that was used once is kept, by size class, for the next buffer of about that size.
//!
//! Memory that is resident already is several times faster to write than fresh pages, and a hit costs some tens of
//! nanoseconds. The policy ([`Pool`]) is generic over where memory comes from ([`RawMemory`]): the host here, a CUDA
//! device by the same code.
//!
//! - Sizes are rounded up to 64 bytes up to 4 KiB, and to an eighth of a power of two above: at most 12.5 % is wasted.
//! - From 1 MiB on, a request may be served by a cached block of a larger class, as long as it wastes no more than that.
//! - What is cached is bounded by the peak of what was in use, and [`CACHE_SLACK`] more; the block that has been lying
//!   longest goes first. Beyond a limit set by the user the same blocks go, and only then is memory out.

use std::alloc::Layout;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::device::Device;
use crate::dtype::DType;
use crate::error::ErrorKind;
use crate::storage::{Owner, PoolTag, Storage};

/// What the cache may hold beyond the peak of live bytes before old blocks are given back.
const CACHE_SLACK: usize = 256 << 20;
/// From here on, a cached block of a larger class may serve.
const LARGE: usize = 1 << 20;
/// The size of an x86-64 huge page: blocks from here on are aligned to it, so that the kernel can use them.
const HUGE_PAGE: usize = 2 << 20;
/// What every block is aligned to, in bytes: a cache line, and the widest vector.
pub(crate) const ALIGNMENT: usize = 64;

const SMALL_CLASSES: usize = 64;
const CLASSES: usize = SMALL_CLASSES + (62 - 12) * 8;
const LARGEST: usize = 1 << 62;

/// The allocator of the host's memory.
pub(crate) static HOST: Pool<HostMemory> = Pool::new(HostMemory, Device::cpu());

/// What an allocator holds, in bytes, and how it has served. See [`Device::memory_stats`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryStats {
    /// Held by live buffers, rounding included. Adopted vectors and foreign memory do not count.
    pub active: usize,
    /// Kept for reuse.
    pub cached: usize,
    /// The most that was active at once since the start or the last [`Device::reset_peak`].
    pub peak: usize,
    /// The most that active and cached memory may take together, if that is limited.
    pub limit: Option<usize>,
    /// Blocks handed out so far.
    pub allocations: u64,
    /// Those of them that came from the cache.
    pub hits: u64,
}

/// Where a pool's memory comes from.
pub(crate) trait RawMemory {
    /// `bytes` bytes, at least 1, aligned to [`ALIGNMENT`] and initialised (to anything).
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, Refusal>;

    /// Gives a block back.
    ///
    /// # Safety
    ///
    /// `ptr` is from [`alloc`](RawMemory::alloc) of the same memory with the same `bytes`, not given back before, and
    /// nothing uses it any more.
    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize);

    /// What is still to be had, if that is known.
    fn available(&self) -> Option<usize>;
}

/// Why there is no memory.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is all in use.
    Full,
    /// It is not to be had at all: the device was lost. What the driver says.
    Lost(String),
}

/// A cache of blocks over raw memory.
pub(crate) struct Pool<M: RawMemory> {
    memory: M,
    device: Device,
    state: Mutex<State>,
}

struct State {
    /// By class; the block that was given back last at the end.
    free: [VecDeque<Box<Storage>>; CLASSES],
    active: usize,
    cached: usize,
    peak: usize,
    limit: Option<usize>,
    allocations: u64,
    hits: u64,
    returned: u64,
}

impl<M: RawMemory> Pool<M> {
    pub(crate) const fn new(memory: M, device: Device) -> Pool<M> {
        let state = State {
            free: [const { VecDeque::new() }; CLASSES],
            active: 0,
            cached: 0,
            peak: 0,
            limit: None,
            allocations: 0,
            hits: 0,
            returned: 0,
        };
        Pool { memory, device, state: Mutex::new(state) }
    }

    /// A block of at least `bytes` bytes, with one reference, for `len` elements of `dtype`.
    #[inline]
    pub(crate) fn take(&self, bytes: usize, dtype: DType, len: usize) -> Result<Box<Storage>, ErrorKind> {
        let mut state = self.lock();
        let storage = match state.find(bytes) {
            Some(storage) => storage,
            None => self.miss(&mut state, bytes)?,
        };
        Ok(Self::given(state, storage, dtype, len))
    }

    /// The same at an address, if a block lies there that was given back and is of a size to serve.
    #[inline]
    pub(crate) fn take_at(&self, bytes: usize, dtype: DType, len: usize, at: usize) -> Option<Box<Storage>> {
        let mut state = self.lock();
        let storage = state.find_at(bytes, at)?;
        Some(Self::given(state, storage, dtype, len))
    }

    #[inline]
    fn given(
        mut state: MutexGuard<State>,
        mut storage: Box<Storage>,
        dtype: DType,
        len: usize,
    ) -> Box<Storage> {
        state.allocations += 1;
        state.peak = state.peak.max(state.active);
        drop(state);
        storage.dtype = dtype;
        storage.len = len;
        *storage.refs.get_mut() = 1;
        storage
    }

    /// Takes back what [`take`](Pool::take) gave.
    #[inline]
    pub(crate) fn put(&self, mut storage: Box<Storage>) {
        let Owner::Pool(tag) = &mut storage.owner else { return };
        let class = usize::from(tag.class);
        let mut state = self.lock();
        state.returned += 1;
        tag.stamp = state.returned;
        state.active -= class_size(class);
        state.cached += class_size(class);
        state.free[class].push_back(storage);
        if state.limit.is_some_and(|limit| state.active + state.cached > limit) {
            let limit = state.limit.unwrap_or(usize::MAX);
            self.shrink(&mut state, |s| s.active + s.cached > limit);
        }
    }

    pub(crate) fn stats(&self) -> MemoryStats {
        let s = self.lock();
        MemoryStats {
            active: s.active,
            cached: s.cached,
            peak: s.peak,
            limit: s.limit,
            allocations: s.allocations,
            hits: s.hits,
        }
    }

    pub(crate) fn set_limit(&self, limit: Option<usize>) {
        let mut state = self.lock();
        state.limit = limit;
        self.shrink(&mut state, |s| s.active + s.cached > limit.unwrap_or(usize::MAX));
    }

    pub(crate) fn empty_cache(&self) {
        self.shrink(&mut self.lock(), |_| true);
    }

    pub(crate) fn reset_peak(&self) {
        let mut state = self.lock();
        state.peak = state.active;
    }

    /// A fresh block, for which room is made first.
    #[cold]
    fn miss(&self, state: &mut State, bytes: usize) -> Result<Box<Storage>, ErrorKind> {
        let cached = state.cached;
        let out = |state: &State, memory: &M| ErrorKind::OutOfMemory {
            requested: bytes,
            active: state.active,
            cached,
            limit: state.limit,
            free: memory.available(),
        };
        let Some(class) = class_of(bytes) else { return Err(out(state, &self.memory)) };
        let size = class_size(class);
        let limit = state.limit.unwrap_or(usize::MAX);
        let bound = state.peak.saturating_add(CACHE_SLACK);
        self.shrink(state, |s| {
            s.cached > bound || s.active.saturating_add(s.cached).saturating_add(size) > limit
        });
        if state.active.saturating_add(size) > limit {
            return Err(out(state, &self.memory));
        }
        let ptr = match self.memory.alloc(size) {
            Err(Refusal::Full) => {
                self.shrink(state, |_| true);
                self.memory.alloc(size)
            }
            other => other,
        };
        let ptr = ptr.map_err(|refusal| match refusal {
            Refusal::Full => out(state, &self.memory),
            Refusal::Lost(text) => ErrorKind::Cuda(format!("{text} on {}", self.device)),
        })?;
        state.active += size;
        Ok(Storage::new(
            ptr,
            0,
            DType::U8,
            self.device,
            Owner::Pool(PoolTag { class: class as u16, stamp: 0 }),
        ))
    }

    /// Gives cached blocks back to the system, those first that have been lying longest, while `more` says so.
    fn shrink(&self, state: &mut State, more: impl Fn(&State) -> bool) {
        while state.cached > 0 && more(state) {
            let oldest = (0..CLASSES)
                .filter_map(|class| match state.free[class].front()?.owner {
                    Owner::Pool(tag) => Some((tag.stamp, class)),
                    _ => None,
                })
                .min();
            let Some((_, class)) = oldest else { return };
            let Some(storage) = state.free[class].pop_front() else { return };
            let size = class_size(class);
            state.cached -= size;
            // SAFETY: the block came from this memory with the size of its class, and a cached block has no user.
            unsafe { self.memory.free(storage.ptr, size) };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way through a change, so a poisoned lock guards a sound state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: RawMemory> Drop for Pool<M> {
    fn drop(&mut self) {
        self.empty_cache();
    }
}

impl State {
    /// A cached block that holds `bytes`, counted as active from here on.
    #[inline]
    fn find(&mut self, bytes: usize) -> Option<Box<Storage>> {
        let class = classes_for(bytes).find(|&class| !self.free[class].is_empty())?;
        let storage = self.free[class].pop_back()?;
        Some(self.hit(storage, class))
    }

    /// The same, of the block at an address.
    fn find_at(&mut self, bytes: usize, at: usize) -> Option<Box<Storage>> {
        classes_for(bytes).find_map(|class| {
            let free = &mut self.free[class];
            let found = (0..free.len()).rev().take(NEAR).find(|&i| free[i].ptr.addr().get() == at)?;
            let storage = free.remove(found)?;
            Some(self.hit(storage, class))
        })
    }

    #[inline]
    fn hit(&mut self, storage: Box<Storage>, class: usize) -> Box<Storage> {
        self.cached -= class_size(class);
        self.active += class_size(class);
        self.hits += 1;
        storage
    }
}

/// Blocks of a class among which one at an address is looked for: those that were given back last.
const NEAR: usize = 256;

/// The classes whose blocks may serve `bytes`, that with the least waste first.
#[inline]
fn classes_for(bytes: usize) -> impl Iterator<Item = usize> {
    let first = class_of(bytes);
    let larger = first.filter(|_| bytes >= LARGE).map_or(CLASSES, |class| class + 1);
    let larger = (larger..CLASSES).take_while(move |&class| bytes >= class_size(class) / 8 * 7);
    first.into_iter().chain(larger)
}

/// The class whose blocks hold `bytes` with the least waste; `None` for sizes no machine has.
#[inline]
fn class_of(bytes: usize) -> Option<usize> {
    if bytes <= 4096 {
        return Some(bytes.saturating_sub(1) / 64);
    }
    if bytes > LARGEST {
        return None;
    }
    let last = bytes - 1;
    let octave = last.ilog2() as usize;
    let eighth = (last >> (octave - 3)) & 7;
    Some(SMALL_CLASSES + (octave - 12) * 8 + eighth)
}

/// The size of the blocks of a class, in bytes.
#[inline]
fn class_size(class: usize) -> usize {
    if class < SMALL_CLASSES {
        return (class + 1) * 64;
    }
    let (octave, eighth) = ((class - SMALL_CLASSES) / 8 + 12, (class - SMALL_CLASSES) % 8);
    (9 + eighth) << (octave - 3)
}

/// The host's memory, by way of the program's global allocator.
pub(crate) struct HostMemory;

impl HostMemory {
    /// What is asked of the global allocator for a block, and what the block is to be aligned to. Asking for the alignment
    /// itself would make the allocator write zeros; without it, large blocks come as untouched zero pages.
    fn request(bytes: usize) -> Option<(Layout, usize)> {
        let align = if bytes >= HUGE_PAGE { HUGE_PAGE } else { ALIGNMENT };
        let total = bytes.checked_add(align)?.checked_add(size_of::<usize>())?;
        Some((Layout::from_size_align(total, align_of::<usize>()).ok()?, align))
    }
}

impl RawMemory for HostMemory {
    fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, Refusal> {
        let (layout, align) = HostMemory::request(bytes).ok_or(Refusal::Full)?;
        // SAFETY: the layout has a size above 0.
        let base = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or(Refusal::Full)?;
        let word = size_of::<usize>();
        let shift = word + (base.as_ptr() as usize + word).wrapping_neg() % align;
        // SAFETY: `shift` is at most a word and an alignment less one, for which there is room before the `bytes`.
        let block = unsafe { base.add(shift) };
        // SAFETY: the word before the block lies in the allocation, and is aligned since block and word are.
        unsafe { block.cast::<usize>().sub(1).write(shift) };
        if bytes >= HUGE_PAGE {
            advise_huge_pages(block, bytes);
        }
        Ok(block)
    }

    unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) {
        let Some((layout, _)) = HostMemory::request(bytes) else { return };
        // SAFETY: `alloc` wrote the shift there, and gave the block out with this layout; the caller ends its use.
        unsafe {
            let shift = ptr.cast::<usize>().sub(1).read();
            std::alloc::dealloc(ptr.sub(shift).as_ptr(), layout);
        }
    }

    fn available(&self) -> Option<usize> {
        let info = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok()?.checked_mul(1024)
    }
}

impl ErrorKind {
    /// So many bytes of the host's memory are not to be had, for what is no buffer.
    #[must_use]
    pub fn no_host_memory(requested: usize) -> ErrorKind {
        let MemoryStats { active, cached, limit, .. } = HOST.stats();
        ErrorKind::OutOfMemory { requested, active, cached, limit, free: HostMemory.available() }
    }
}

/// Asks for huge pages: a first touch then costs one fault for 2 MiB, not 512.
#[cfg(target_os = "linux")]
fn advise_huge_pages(block: NonNull<u8>, bytes: usize) {
    use std::ffi::{c_int, c_void};
    const MADV_HUGEPAGE: c_int = 14;
    unsafe extern "C" {
        fn madvise(addr: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    // SAFETY: the range lies in one allocation and starts at a page; the advice changes no contents. A kernel without huge
    // pages refuses, which changes nothing.
    unsafe { madvise(block.as_ptr().cast(), bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages(_block: NonNull<u8>, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Host memory that counts, and can run out.
    #[derive(Default)]
    struct Counted {
        held: AtomicUsize,
        calls: AtomicUsize,
        most: Option<usize>,
    }

    impl RawMemory for &Counted {
        fn alloc(&self, bytes: usize) -> Result<NonNull<u8>, Refusal> {
            self.calls.fetch_add(1, Ordering::SeqCst);
            if self.most.is_some_and(|most| self.held.load(Ordering::SeqCst) + bytes > most) {
                return Err(Refusal::Full);
            }
            self.held.fetch_add(bytes, Ordering::SeqCst);
            HostMemory.alloc(bytes)
        }

        unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize) {
            self.held.fetch_sub(bytes, Ordering::SeqCst);
            // SAFETY: as the caller promises.
            unsafe { HostMemory.free(ptr, bytes) }
        }

        fn available(&self) -> Option<usize> {
            Some(77)
        }
    }

    fn take(pool: &Pool<&Counted>, bytes: usize) -> Result<Box<Storage>, ErrorKind> {
        pool.take(bytes, DType::U8, bytes)
    }

    #[test]
    fn a_class_holds_its_sizes_and_wastes_an_eighth_at_most() {
        let mut last = 0;
        for class in 0..CLASSES {
            let size = class_size(class);
            assert!(size > last, "classes grow");
            assert_eq!(class_of(size), Some(class));
            assert_eq!(class_of(last + 1), Some(class));
            assert!(size <= 4096 || size - last - 1 < size / 8, "{size} for {}", last + 1);
            assert_eq!(size % ALIGNMENT, 0);
            last = size;
        }
        assert_eq!(last, LARGEST);
        assert_eq!(class_of(0), Some(0));
        assert_eq!(class_of(LARGEST + 1), None);
        assert_eq!(class_of(usize::MAX), None);
    }

    #[test]
    fn memory_goes_back_when_the_pool_does() {
        let memory = Counted::default();
        let pool = Pool::new(&memory, Device::cpu());
        for bytes in [0, 1, 100, 5000, 3 << 20] {
            let block = take(&pool, bytes).unwrap();
            pool.put(block);
        }
        assert!(memory.held.load(Ordering::SeqCst) > 3 << 20);
        drop(pool);
        assert_eq!(memory.held.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn a_large_block_serves_a_little_less() {
        let memory = Counted::default();
        let pool = Pool::new(&memory, Device::cpu());
        let block = take(&pool, 8 << 20).unwrap();
        let at = block.ptr;
        pool.put(block);
        // 7 MiB is seven eighths of it; a byte less would waste too much.
        let block = take(&pool, 7 << 20).unwrap();
        assert_eq!(block.ptr, at);
        pool.put(block);
        let other = take(&pool, (7 << 20) - 1).unwrap();
        assert_ne!(other.ptr, at);
        pool.put(other);
        // Small sizes are served from their own class only.
        let small = take(&pool, 512).unwrap();
        pool.put(small);
        let hits = pool.stats().hits;
        let smaller = take(&pool, 448).unwrap();
        assert_eq!(pool.stats().hits, hits);
        pool.put(smaller);
    }

    #[test]
    fn the_block_used_last_is_reused_first() {
        let memory = Counted::default();
        let pool = Pool::new(&memory, Device::cpu());
        let (a, b) = (take(&pool, 100).unwrap(), take(&pool, 100).unwrap());
        let (first, second) = (a.ptr, b.ptr);
        pool.put(a);
        pool.put(b);
        let (c, d) = (take(&pool, 100).unwrap(), take(&pool, 100).unwrap());
        assert_eq!((c.ptr, d.ptr), (second, first));
        pool.put(c);
        pool.put(d);
        assert_eq!(memory.calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn when_the_system_has_none_the_cache_is_given_back_and_it_is_asked_again() {
        let memory = Counted { most: Some(10 << 20), ..Counted::default() };
        let pool = Pool::new(&memory, Device::cpu());
        let block = take(&pool, 6 << 20).unwrap();
        pool.put(block);
        let block = take(&pool, 8 << 20).unwrap();
        assert_eq!(memory.held.load(Ordering::SeqCst), 8 << 20);
        let small = take(&pool, 1 << 20).unwrap();
        pool.put(small);
        let error = take(&pool, 4 << 20).err();
        let want = ErrorKind::OutOfMemory {
            requested: 4 << 20,
            active: 8 << 20,
            cached: 1 << 20,
            limit: None,
            free: Some(77),
        };
        assert_eq!(error, Some(want));
        pool.put(block);
        assert_eq!((pool.stats().active, pool.stats().cached), (0, 8 << 20));
    }

    #[test]
    fn the_limit_evicts_what_lay_longest() {
        let memory = Counted::default();
        let pool = Pool::new(&memory, Device::cpu());
        let blocks: Vec<_> = [1 << 20, 2 << 20, 3 << 20].map(|b| take(&pool, b).unwrap()).into();
        blocks.into_iter().for_each(|b| pool.put(b));
        pool.set_limit(Some(6 << 20));
        assert_eq!(pool.stats().cached, 6 << 20);
        let block = take(&pool, 1 << 19).unwrap();
        assert_eq!(pool.stats().cached, 5 << 20, "the block of 1 MiB went");
        pool.set_limit(Some(4 << 20));
        assert_eq!(pool.stats().cached, 3 << 20, "then that of 2 MiB");
        pool.set_limit(Some(0));
        assert_eq!((pool.stats().cached, pool.stats().active), (0, 1 << 19));
        assert!(take(&pool, 1).is_err());
        pool.put(block);
        assert_eq!(pool.stats().cached, 0, "nothing is kept beyond the limit");
        assert_eq!(memory.held.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn sizes_that_never_return_do_not_pile_up() {
        let memory = Counted::default();
        let pool = Pool::new(&memory, Device::cpu());
        for class in (0..CLASSES).filter(|&c| (8 << 20..96 << 20).contains(&class_size(c))) {
            let block = take(&pool, class_size(class)).unwrap();
            pool.put(block);
        }
        let most = memory.held.load(Ordering::SeqCst);
        assert!(most <= 2 * (96 << 20) + CACHE_SLACK, "{most}");
        assert!(most >= CACHE_SLACK / 2, "and yet there is a cache");
    }
}
