//! Copies between host and device, through pinned memory, and between devices.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::api::Handle;
use super::gpu::Gpu;
use crate::error::{Error, ErrorKind, Result};

/// Bytes of one piece of pinned memory: whole elements of every dtype.
const PIECE: usize = 2 << 20;
/// Pieces: while one is copied by the device, the next is filled or emptied.
const PIECES: usize = 4;
/// Bytes from which on several threads fill pieces, which one does at a fifth of the speed that the device copies them with, and how many do.
const LARGE: usize = 64 << 20;
const FILLERS: usize = 8;
/// The pieces of each of them.
const EACH: usize = 2;

/// Pinned memory that copies go through.
#[derive(Default)]
pub(super) struct Staging {
    pieces: Vec<Piece>,
    next: usize,
}

/// What is copied through one piece: some bytes of a run, and where they go.
struct Chunk {
    run: usize,
    at: usize,
    to: u64,
    bytes: usize,
}

struct Piece {
    memory: *mut u8,
    /// Recorded when the device has copied it.
    done: Handle,
}

// SAFETY: pinned memory and events may be used from any thread.
unsafe impl Send for Piece {}
// SAFETY: as above; whoever fills a piece is alone with it, by the lock around all of them or because they were dealt out.
unsafe impl Sync for Piece {}

impl Piece {
    /// Waits until the device is done with it.
    #[track_caller]
    fn wait(&self, gpu: &Gpu) -> Result<()> {
        // SAFETY: the event is this piece's. One that was never recorded counts as done.
        gpu.check("cuEventSynchronize", unsafe { (gpu.api.event_synchronize)(self.done) })
    }

    /// Has it filled, and the device copy it; the device is not waited for.
    ///
    /// # Safety
    ///
    /// The device is done with it, and this thread is alone with it; `to` is valid for `bytes` bytes, of which there are at most as a piece
    /// has.
    #[track_caller]
    unsafe fn send(
        &self,
        gpu: &Gpu,
        to: u64,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        // SAFETY: by the contract the piece has room, nobody else reads or writes it, and the destination is valid; what a piece has is
        // initialised.
        unsafe {
            fill(std::slice::from_raw_parts_mut(self.memory, bytes))?;
            let code = (gpu.api.memcpy_to_device)(to, self.memory.cast(), bytes, gpu.stream);
            gpu.check("cuMemcpyHtoDAsync", code)?;
            gpu.check("cuEventRecord", (gpu.api.event_record)(self.done, gpu.stream))
        }
    }
}

impl Staging {
    /// Allocates at first use, as many pieces as are wanted.
    #[track_caller]
    fn ready(&mut self, gpu: &Gpu, pieces: usize) -> Result<()> {
        while self.pieces.len() < pieces {
            let (mut memory, mut done) = (null_mut::<c_void>(), null_mut());
            // SAFETY: the context is current; an address and a handle are written. No flags: the host reads it, too.
            unsafe {
                gpu.check("cuMemHostAlloc", (gpu.api.host_alloc)(&mut memory, PIECE, 0))?;
                // No timing.
                gpu.check("cuEventCreate", (gpu.api.event_create)(&mut done, 2))?;
            }
            let memory = memory.cast::<u8>();
            // SAFETY: just allocated. Whoever fills a piece has a slice of it, so it is initialised.
            unsafe { memory.write_bytes(0, PIECE) };
            self.pieces.push(Piece { memory, done });
        }
        Ok(())
    }

    /// The next piece, once the device is done with it.
    #[track_caller]
    fn take(&mut self, gpu: &Gpu) -> Result<&Piece> {
        let piece = &self.pieces[self.next];
        self.next = (self.next + 1) % PIECES;
        piece.wait(gpu)?;
        Ok(piece)
    }
}

/// `n` bytes from one place of the host to another.
unsafe fn copy_on_host(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: by the callers' contract the ranges are valid and do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from, to, n) };
}

impl Gpu {
    /// Copies from the host to the device. When this returns, `from` may change; the copy itself comes in the stream's
    /// order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    ///
    /// # Safety
    ///
    /// `to` is an address of this device's memory, valid for as many bytes.
    #[track_caller]
    pub unsafe fn write(&self, to: u64, from: &[u8]) -> Result<()> {
        let fill = |_: usize, at: usize, chunk: &mut [u8]| {
            chunk.copy_from_slice(&from[at..at + chunk.len()]);
            Ok(())
        };
        // SAFETY: this function's contract.
        unsafe { self.write_filled(&[(to, from.len())], &fill) }.map_err(|e| e.with_op("write"))
    }

    /// Writes runs of the device's memory, `(address, bytes)` each, with what `fill` puts in the host's memory: it is told which run, from
    /// which byte on, and where, in chunks that begin at multiples of [`PIECE`]. Where there is much, several threads call it at once. When
    /// this returns, all of it was filled in; the copies come in the stream's order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda); the first that `fill` answers with, after which some of the memory is written and some is
    /// not.
    ///
    /// # Safety
    ///
    /// The runs are this device's memory.
    #[track_caller]
    pub(crate) unsafe fn write_filled<F>(&self, runs: &[(u64, usize)], fill: &F) -> Result<()>
    where
        F: Fn(usize, usize, &mut [u8]) -> Result<()> + Sync,
    {
        let total: usize = runs.iter().map(|(_, bytes)| bytes).sum();
        if total == 0 {
            return Ok(());
        }
        self.start_collected()?;
        self.bind()?;
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        let chunks = runs.iter().enumerate().flat_map(|(run, &(to, bytes))| {
            (0..bytes).step_by(PIECE).map(move |at| Chunk {
                run,
                at,
                to: to + at as u64,
                bytes: PIECE.min(bytes - at),
            })
        });
        if total >= LARGE {
            let fillers = std::thread::available_parallelism().map_or(1, |n| n.get().min(FILLERS));
            staging.ready(self, fillers * EACH)?;
            let chunks: Vec<Chunk> = chunks.collect();
            // SAFETY: this function's contract.
            return unsafe { self.write_by_many(&chunks, fill, &staging.pieces[..fillers * EACH]) };
        }
        staging.ready(self, PIECES)?;
        for Chunk { run, at, to, bytes } in chunks {
            let piece = staging.take(self)?;
            // SAFETY: the piece is free; the destination is the caller's.
            unsafe { piece.send(self, to, bytes, |chunk| fill(run, at, chunk))? };
        }
        Ok(())
    }

    /// Each of several threads fills pieces of its own, in turns: which chunk is copied first does not matter.
    #[track_caller]
    unsafe fn write_by_many<F>(&self, chunks: &[Chunk], fill: &F, pieces: &[Piece]) -> Result<()>
    where
        F: Fn(usize, usize, &mut [u8]) -> Result<()> + Sync,
    {
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let serve = &|mine: &[Piece]| -> Result<()> {
            self.bind()?;
            for piece in mine.iter().cycle() {
                let Some(&Chunk { run, at, to, bytes }) = chunks.get(next.fetch_add(1, Ordering::Relaxed))
                else {
                    break;
                };
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                piece.wait(self)?;
                // SAFETY: the piece is free, and this thread's; the destination is the caller's.
                let sent = unsafe { piece.send(self, to, bytes, |chunk| fill(run, at, chunk)) };
                if sent.is_err() {
                    is_over.store(true, Ordering::Relaxed);
                    return sent;
                }
            }
            Ok(())
        };
        let lost = |_| Error::new("write", ErrorKind::Internal("a thread that copies panicked".into()));
        std::thread::scope(|scope| {
            let (first, others) = pieces.split_at(EACH);
            let begin = |mine| std::thread::Builder::new().spawn_scoped(scope, move || serve(mine)).ok();
            // Who cannot be begun leaves its chunks to the others.
            let others: Vec<_> = others.chunks(EACH).filter_map(begin).collect();
            let own = serve(first);
            others.into_iter().fold(own, |all, other| all.and(other.join().map_err(lost).flatten()))
        })
    }

    /// Copies from the device to the host, after all work on the device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda); [`ErrorKind::Index`](crate::ErrorKind::Index) as for [`Gpu::synchronize`].
    ///
    /// # Safety
    ///
    /// `from` is an address of this device's memory, valid for as many bytes.
    #[track_caller]
    pub unsafe fn read(&self, from: u64, to: &mut [u8]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        // SAFETY: this function's contract.
        unsafe { self.read_in_pieces(from, to) }.map_err(|e| e.with_op("read"))?;
        // All work before the copy is done, and so are its checks.
        self.look()
    }

    #[track_caller]
    unsafe fn read_in_pieces(&self, from: u64, to: &mut [u8]) -> Result<()> {
        self.start_collected()?;
        self.bind()?;
        let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
        staging.ready(self, PIECES)?;
        // The piece that is on its way while the one before it is emptied.
        let mut under_way: Option<(*mut u8, Handle, usize, usize)> = None;
        let mut at = 0;
        loop {
            let n = PIECE.min(to.len() - at);
            let next = if n > 0 {
                let Piece { memory, done } = *staging.take(self)?;
                // SAFETY: the piece has room, and nothing else uses it; the source is the caller's.
                unsafe {
                    let code = (self.api.memcpy_to_host)(memory.cast(), from + at as u64, n, self.stream);
                    self.check("cuMemcpyDtoHAsync", code)?;
                    self.check("cuEventRecord", (self.api.event_record)(done, self.stream))?;
                }
                Some((memory, done, at, n))
            } else {
                None
            };
            at += n;
            if let Some((memory, done, start, n)) = under_way.take() {
                // SAFETY: the event says when the piece is filled; the destination has room for it.
                unsafe {
                    self.check("cuEventSynchronize", (self.api.event_synchronize)(done))?;
                    copy_on_host(memory, to[start..start + n].as_mut_ptr(), n);
                }
            }
            match next {
                Some(next) => under_way = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// Sets bytes of the device's memory, in the stream's order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    ///
    /// # Safety
    ///
    /// `at` is an address of this device's memory, valid for `bytes` bytes.
    #[track_caller]
    pub unsafe fn fill(&self, at: u64, byte: u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.start_collected()?;
        self.bind()?;
        // SAFETY: by this function's contract.
        self.check("cuMemsetD8Async", unsafe { (self.api.memset_d8)(at, byte, bytes, self.stream) })
    }

    /// Copies within the device's memory, in the stream's order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    ///
    /// # Safety
    ///
    /// Both are addresses of this device's memory, valid for `bytes` bytes, and the ranges do not overlap.
    #[track_caller]
    pub unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.start_collected()?;
        self.bind()?;
        // SAFETY: by this function's contract.
        self.check("cuMemcpyDtoDAsync", unsafe { (self.api.memcpy_on_device)(to, from, bytes, self.stream) })
    }

    /// Copies from another device, peer to peer where the hardware can: after the other's work so far, and before its
    /// later work, which may overwrite what is copied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`](crate::ErrorKind::Cuda).
    ///
    /// # Safety
    ///
    /// `to` is an address of this device's memory and `from` one of the other's, valid for `bytes` bytes.
    #[track_caller]
    pub unsafe fn copy_from(&self, to: u64, other: &Gpu, from: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.start_collected()?;
        other.start_collected()?;
        self.reach(other)?;
        let order = |before: &Gpu, after: &Gpu| -> Result<()> {
            before.bind()?;
            let mut event = null_mut();
            // SAFETY: an event is made on the first device; no timing.
            before.check("cuEventCreate", unsafe { (self.api.event_create)(&mut event, 2) })?;
            // SAFETY: the event is recorded on its device's stream and waited for by the other's. What was asked of an event
            // is done although it is destroyed.
            unsafe {
                let recorded = before.check("cuEventRecord", (self.api.event_record)(event, before.stream));
                let waited = recorded.and_then(|()| {
                    after.bind()?;
                    after.check("cuStreamWaitEvent", (self.api.stream_wait_event)(after.stream, event, 0))
                });
                (self.api.event_destroy)(event);
                waited
            }
        };
        order(other, self)?;
        self.bind()?;
        // SAFETY: by this function's contract; each address is of the context beside it.
        let code =
            unsafe { (self.api.memcpy_peer)(to, self.context, from, other.context, bytes, self.stream) };
        self.check("cuMemcpyPeerAsync", code)?;
        order(self, other)
    }

    /// Opens the direct way to another device's memory, once, where the hardware has one. Without it the driver takes the
    /// host's memory between.
    fn reach(&self, other: &Gpu) -> Result<()> {
        let mut known = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&other.device().ordinal()) {
            return Ok(());
        }
        known.push(other.device().ordinal());
        // cuCtxEnablePeerAccess answers so where another library of this process was first.
        const ALREADY: u32 = 704;
        let mut can = 0;
        // SAFETY: an int is written; both contexts live as long as the process.
        unsafe {
            let code = (self.api.can_access_peer)(&mut can, self.handle, other.handle);
            self.check("cuDeviceCanAccessPeer", code)?;
            if can != 0 {
                self.bind()?;
                match (self.api.enable_peer)(other.context, 0) {
                    ALREADY => {}
                    code => self.check("cuCtxEnablePeerAccess", code)?,
                }
            }
        }
        Ok(())
    }
}
