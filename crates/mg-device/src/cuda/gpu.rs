//! A CUDA device at work: its context, stream, allocator, modules and launches.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::api::{Address, Api, Handle, api};
use super::assemble;
use super::behind;
use super::collect::Collected;
use super::fault::{Guarded, Origin, SLOTS, Slot, Watch, this_thread};
use super::graph::KernelNode;
use super::memory::GpuMemory;
use super::pinned::{Arrivals, Arrived};
use super::probe::{probe, version_text};
use super::transfer::Staging;
use crate::allocator::Pool;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

/// Devices that a process can use.
const MOST: usize = 64;
/// Bytes of the scratch memory: counters, what kernels keep partial results in ([`Gpu::SCRATCH_BYTES`]), and a flag.
const SCRATCH: usize = 32 << 20;
/// Bytes at the end of the scratch memory that hold the flag of [`Gpu::refusal`].
const FLAG: usize = 256;

static GPUS: [OnceLock<Result<&'static Gpu>>; MOST] = [const { OnceLock::new() }; MOST];
static FORKED: AtomicBool = AtomicBool::new(false);

/// A CUDA device in use.
pub struct Gpu {
    pub(super) api: &'static Api,
    device: Device,
    /// The driver's number of it.
    pub(super) handle: c_int,
    pub(super) context: Handle,
    pub(super) stream: Handle,
    pub(crate) pool: Pool<GpuMemory>,
    capability: (u32, u32),
    multiprocessors: u32,
    clock: u32,
    total: usize,
    scratch: Address,
    slots: *const Slot,
    slots_on_device: Address,
    pub(super) synchronous: bool,
    pub(super) watch: Mutex<Watch>,
    /// Whether launches are collected rather than started.
    pub(super) collects: AtomicBool,
    /// What launches take as their second parameter; see [`Gpu::set_gate`].
    gate: AtomicU64,
    /// The bits of the word there that the launches look at.
    gate_bits: AtomicU64,
    pub(super) collected: Mutex<Collected>,
    pub(super) staging: Mutex<Staging>,
    pub(super) arrivals: Mutex<Arrivals>,
    /// What copies arrived in, given back since the last one: whoever drops it does not wait for one that is under way.
    pub(super) returned: Mutex<Vec<Arrived>>,
    /// Ordinals of devices whose memory was looked for a direct way to.
    pub(super) reached: Mutex<Vec<usize>>,
}

// SAFETY: contexts, streams and modules may be used from any thread; the slots are read by volatile loads.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

/// A kernel that is ready to be launched.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Kernel {
    pub(super) function: Handle,
}

// SAFETY: functions of a module that is never unloaded may be launched from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// The device's state, if it was ever used.
pub(crate) fn existing(device: Device) -> Option<&'static Gpu> {
    if is_forked() {
        return None;
    }
    GPUS.get(device.ordinal())?.get()?.as_ref().ok().copied()
}

/// Whether this is a child made by `fork`, where the driver does not work.
pub(super) fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// An error in a child made by `fork`.
#[track_caller]
fn not_forked(device: Device) -> Result<()> {
    if !is_forked() {
        return Ok(());
    }
    let text = format!(
        "{device} cannot be used in a child made by fork(), where the CUDA driver does not work: start the child with \
         \"spawn\""
    );
    Err(Error::new("device", ErrorKind::Device(text)))
}

/// Asks to be told in children of this process: the driver does not work there.
fn watch_forks() {
    #[cfg(unix)]
    {
        static ONCE: OnceLock<()> = OnceLock::new();
        unsafe extern "C" {
            fn pthread_atfork(
                prepare: Option<extern "C" fn()>,
                parent: Option<extern "C" fn()>,
                child: Option<extern "C" fn()>,
            ) -> c_int;
        }
        extern "C" fn child() {
            FORKED.store(true, Ordering::Relaxed);
        }
        ONCE.get_or_init(|| {
            // SAFETY: the handler only stores to an atomic, which is allowed after a fork. If there is no memory for the
            // handler, children get the driver's own errors.
            unsafe { pthread_atfork(None, None, Some(child)) };
        });
    }
}

/// Memory for tickets and partial results, zero.
fn new_scratch(api: &Api, stream: Handle) -> std::result::Result<Address, (&'static str, c_uint)> {
    let mut scratch = 0;
    // SAFETY: the context is current; the size is that of what is allocated.
    let (alloc, set) = unsafe {
        let alloc = (api.mem_alloc)(&mut scratch, SCRATCH);
        (alloc, if alloc == 0 { (api.memset_d8)(scratch, 0, SCRATCH, stream) } else { 0 })
    };
    match (alloc, set) {
        (0, 0) => Ok(scratch),
        (0, code) => Err(("cuMemsetD8Async", code)),
        (code, _) => Err(("cuMemAlloc", code)),
    }
}

impl Gpu {
    /// Counters at the start of the scratch memory, zero between launches.
    pub const TICKETS: usize = 1 << 16;
    /// The size of [`Gpu::scratch`], in bytes.
    pub const SCRATCH_BYTES: usize = SCRATCH - Gpu::TICKETS * 4 - FLAG;
    /// The most shared memory that a block is given without being asked for.
    pub const PLAIN_SHARED: u32 = 48 << 10;

    /// The state of a device, made at the first call.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Device`] where the device is not there, or in a child made by `fork`; [`ErrorKind::Cuda`] where the
    /// driver refuses to open it.
    #[track_caller]
    pub fn of(device: Device) -> Result<&'static Gpu> {
        not_forked(device)?;
        match GPUS.get(device.ordinal()) {
            Some(place) if device.is_cuda() => {
                match place.get_or_init(|| Gpu::open(device)) {
                    Ok(gpu) => Ok(gpu),
                    Err(error) => Err(Error::new("device", error.kind().clone())
                        .with_location(std::panic::Location::caller())),
                }
            }
            _ => {
                device.check()?;
                Err(Error::new("device", ErrorKind::Device(format!("{device} is no CUDA device"))))
            }
        }
    }

    fn open(device: Device) -> Result<&'static Gpu> {
        device.check()?;
        let api = api().map_err(|text| Error::new("device", ErrorKind::Device(text.into())))?;
        watch_forks();
        let check = |call: &str, code: c_uint| {
            if code == 0 {
                return Ok(());
            }
            let text = format!("{device} cannot be opened: {call} answers {}", api.describe(code));
            Err(Error::new("device", ErrorKind::Cuda(text)))
        };
        let (mut handle, mut total, mut context, mut stream) = (0, 0, null_mut(), null_mut());
        let mut attributes = [0 as c_int; 4];
        // SAFETY: `device.check` has initialised the driver and found the ordinal; each call writes what it is given room
        // for.
        unsafe {
            check("cuDeviceGet", (api.device_get)(&mut handle, device.ordinal() as c_int))?;
            check("cuDeviceTotalMem", (api.device_total)(&mut total, handle))?;
            // Compute capability, major and minor; multiprocessors; the highest clock.
            for (value, attribute) in attributes.iter_mut().zip([75, 76, 16, 13]) {
                check("cuDeviceGetAttribute", (api.device_attribute)(value, attribute, handle))?;
            }
            check("cuDevicePrimaryCtxRetain", (api.primary_retain)(&mut context, handle))?;
            check("cuCtxSetCurrent", (api.set_current)(context))?;
            // Not blocking: work of others on the default stream is not waited for.
            check("cuStreamCreate", (api.stream_create)(&mut stream, 1))?;
        }
        if attributes[0] * 10 + attributes[1] < 75 {
            let text = format!(
                "{device} has compute capability {}.{}; 7.5 or later is needed",
                attributes[0], attributes[1]
            );
            return Err(Error::new("device", ErrorKind::Device(text)));
        }
        let (mut slots, mut slots_on_device) = (null_mut(), 0);
        let slot_bytes = SLOTS * size_of::<Slot>();
        let scratch = new_scratch(api, stream).map_err(|(call, code)| match check(call, code) {
            Err(error) => error,
            Ok(()) => Error::new("device", ErrorKind::Internal("a call that failed with code 0".into())),
        })?;
        // SAFETY: the context is current; sizes are those of what is allocated.
        unsafe {
            // Mapped: kernels write it, the host reads it.
            check("cuMemHostAlloc", (api.host_alloc)(&mut slots, slot_bytes, 2))?;
            slots.cast::<u8>().write_bytes(0, slot_bytes);
            check("cuMemHostGetDevicePointer", (api.host_device_pointer)(&mut slots_on_device, slots, 0))?;
        }
        let synchronous = std::env::var_os("MG_SYNC").is_some_and(|v| !v.is_empty() && v != "0");
        Ok(Box::leak(Box::new(Gpu {
            api,
            device,
            handle,
            context,
            stream,
            pool: Pool::new(GpuMemory { context, stream }, device),
            capability: (attributes[0] as u32, attributes[1] as u32),
            multiprocessors: attributes[2] as u32,
            clock: attributes[3] as u32,
            total,
            scratch,
            slots: slots.cast(),
            slots_on_device,
            synchronous,
            watch: Mutex::default(),
            collects: AtomicBool::new(false),
            gate: AtomicU64::new(0),
            gate_bits: AtomicU64::new(0),
            collected: Mutex::new(Collected::new(scratch, attributes[2] as u32)),
            staging: Mutex::default(),
            arrivals: Mutex::default(),
            returned: Mutex::default(),
            reached: Mutex::default(),
        })))
    }

    /// The device.
    pub fn device(&self) -> Device {
        self.device
    }

    /// Compute capability, major and minor.
    pub fn capability(&self) -> (u32, u32) {
        self.capability
    }

    /// The number of multiprocessors.
    pub fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    /// The highest clock that the multiprocessors run at, in kHz.
    pub fn clock(&self) -> u32 {
        self.clock
    }

    /// The device's memory, in bytes.
    pub fn total_memory(&self) -> usize {
        self.total
    }

    /// Counters that are zero between launches: kernels draw tickets from them and leave them as they were. Launches that
    /// follow one another share them.
    pub fn tickets(&self) -> u64 {
        if self.is_collecting() {
            self.collected().scratch(|| new_scratch(self.api, self.stream).ok())
        } else {
            self.scratch
        }
    }

    /// Memory for what blocks of one launch leave for its last block; arbitrary before, and free for the next launch.
    pub fn scratch(&self) -> u64 {
        self.tickets() + (Gpu::TICKETS * 4) as u64
    }

    /// The size of [`Gpu::scratch`], in bytes.
    pub fn scratch_bytes(&self) -> usize {
        Gpu::SCRATCH_BYTES
    }

    /// A word (u64) on the device whose bits say which checks of the work under way have refused something. One work has it at
    /// a time: the engine's launches do not interleave.
    pub fn refusal(&self) -> u64 {
        self.scratch + (SCRATCH - FLAG) as u64
    }

    /// From now on launches are given the address of a word and some of its bits as their second parameter, which kernels take
    /// that look at it before they begin; with no bits, kernels have one parameter only.
    pub fn set_gate(&self, address: u64, bits: u64) {
        self.gate.store(address, Ordering::Relaxed);
        self.gate_bits.store(bits, Ordering::Relaxed);
    }

    /// What [`Gpu::set_gate`] was told.
    #[inline]
    pub fn gate(&self) -> [u64; 2] {
        [self.gate.load(Ordering::Relaxed), self.gate_bits.load(Ordering::Relaxed)]
    }

    /// Whether launches look at a gate.
    #[inline]
    pub fn is_gated(&self) -> bool {
        self.gate_bits.load(Ordering::Relaxed) != 0
    }

    /// Makes this the device that the calling thread's driver calls mean. Launches need it; it may be called again at no
    /// great cost.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`], of a device that was lost; [`ErrorKind::Device`] in a child made by `fork`.
    #[track_caller]
    pub fn bind(&self) -> Result<()> {
        not_forked(self.device)?;
        // SAFETY: the context lives as long as the process.
        self.check("cuCtxSetCurrent", unsafe { (self.api.set_current)(self.context) })
    }

    pub(super) fn watch(&self) -> MutexGuard<'_, Watch> {
        // What is behind the lock is whole between any two of its methods.
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error for a code that is not 0; it names the launches before.
    #[inline]
    #[track_caller]
    pub(super) fn check(&self, call: &str, code: c_uint) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.failed(call, code)) }
    }

    #[cold]
    #[track_caller]
    fn failed(&self, call: &str, code: c_uint) -> Error {
        let text =
            format!("{call} on {} answers {}{}", self.device, self.api.describe(code), self.watch().story());
        Error::new("cuda", ErrorKind::Cuda(text))
    }

    /// Loads PTX and answers with one of its kernels. The driver keeps what it assembled on disk; nothing is unloaded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`] with the driver's log: PTX that is newer than the driver (the text names the driver needed),
    /// or that does not assemble.
    #[track_caller]
    pub fn load(&self, ptx: &str, kernel: &str) -> Result<Kernel> {
        let module = self.load_module(ptx)?;
        self.kernel(module, kernel)
    }

    /// Loads PTX; answers with a module for [`Gpu::kernel`]. It is assembled at the driver's own level of optimisation, or
    /// at the level N (0 to 4) that a line `// mg.level N` among the comments at its beginning names.
    ///
    /// # Errors
    ///
    /// As [`Gpu::load`].
    #[track_caller]
    pub fn load_module(&self, ptx: &str) -> Result<Module> {
        self.bind()?;
        behind::settle(self.device, ptx);
        if let Some(module) = assemble::take(self.device, ptx) {
            return Ok(module);
        }
        assemble::note(ptx)?;
        let (source, level) = assemble::source(ptx)?;
        let mut log = vec![0u8; 8192];
        // CU_JIT_ERROR_LOG_BUFFER and its size.
        let mut options = [5 as c_uint, 6, assemble::LEVEL];
        let mut module = null_mut();
        let mut load = || {
            // The driver writes there, too.
            let mut values = [
                log.as_mut_ptr().cast::<c_void>(),
                std::ptr::without_provenance_mut(log.len() - 1),
                std::ptr::without_provenance_mut(level.unwrap_or(0)),
            ];
            // SAFETY: the text ends with 0; options and values are as the driver defines them, and the log has that size.
            unsafe {
                (self.api.module_load)(
                    &mut module,
                    source.as_ptr().cast(),
                    if level.is_some() { 3 } else { 2 },
                    options.as_mut_ptr(),
                    values.as_mut_ptr(),
                )
            }
        };
        let code = match load() {
            // CUDA_ERROR_OUT_OF_MEMORY: a kernel that comes late may find that the cache has all there is.
            2 => {
                self.pool.empty_cache();
                load()
            }
            code => code,
        };
        if code != 0 {
            let end = log.iter().position(|&b| b == 0).unwrap_or(0);
            let log = String::from_utf8_lossy(&log[..end]);
            let version = ptx.lines().find_map(|l| l.strip_prefix(".version ")).unwrap_or("unknown").trim();
            // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            let mut text =
                format!("a kernel could not be loaded on {}: {}", self.device, self.api.describe(code));
            if code == 222 {
                let got = probe().map_or_else(|_| "unknown".into(), |driver| version_text(driver.version));
                text += &format!(
                    ": PTX {version} needs {}, and this driver is of CUDA {got}",
                    driver_for(version)
                );
            }
            if !log.trim().is_empty() {
                text += &format!("\n{}", log.trim());
            }
            return Err(Error::new("load", ErrorKind::Cuda(text)));
        }
        Ok(Module(module))
    }

    /// Loads machine code, a file that NVIDIA's assembler has written ("cubin"), and answers with its kernel; `None` where the driver does not take it, as
    /// one does that is older than what wrote it. Nothing is assembled, so that this takes a tenth of a millisecond.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`] where there is no kernel of that name.
    #[track_caller]
    pub fn load_code(&self, code: &[u8], kernel: &str) -> Result<Option<Kernel>> {
        self.bind()?;
        // The driver reads as far as the file says of itself.
        if !is_whole(code) {
            return Ok(None);
        }
        let mut module = null_mut();
        // SAFETY: the file is whole; there are no options.
        let answer =
            unsafe { (self.api.module_load)(&mut module, code.as_ptr().cast(), 0, null_mut(), null_mut()) };
        match answer {
            0 => self.kernel(Module(module), kernel).map(Some),
            _ => Ok(None),
        }
    }

    /// A kernel of a module.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`] where the module has none of that name.
    #[track_caller]
    pub fn kernel(&self, module: Module, name: &str) -> Result<Kernel> {
        let c_name = CString::new(name).map_err(|_| {
            Error::new("load", ErrorKind::Internal("a kernel's name with a zero byte in it".into()))
        })?;
        let mut function = null_mut();
        // SAFETY: the module is never unloaded, the name ends with 0.
        let code = unsafe { (self.api.module_function)(&mut function, module.0, c_name.as_ptr()) };
        if code != 0 {
            let text = format!("there is no kernel {name}: {}", self.api.describe(code));
            return Err(Error::new("load", ErrorKind::Cuda(text)));
        }
        Ok(Kernel { function })
    }

    /// Launches a kernel; the context must be current ([`Gpu::bind`]). The kernel has one parameter, a structure, and
    /// `args` are its bytes; where a gate is set ([`Gpu::set_gate`]), it has that as another.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`] where the driver refuses the launch, or an earlier one failed. Under `MG_SYNC=1` also what
    /// this launch itself fails with.
    ///
    /// # Safety
    ///
    /// `args` are what the kernel takes, and as many bytes; what it reads and writes by them is memory of this device that
    /// may be read and written by work in the stream's order.
    #[inline]
    pub unsafe fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[u8],
        origin: Origin,
    ) -> Result<()> {
        if self.collects.load(Ordering::Relaxed) {
            // Another thread may have started what was collected, and is done with it when the lock is free.
            let mut collected = self.collected();
            if self.collects.load(Ordering::Relaxed) {
                self.watch().launched(origin);
                let (args, after) = (args.into(), Box::default());
                let gate = self.gate();
                collected.push(KernelNode { kernel, grid, block, shared, args, gate, after });
                return Ok(());
            }
        }
        // SAFETY: this function's contract.
        unsafe { self.start(kernel, grid, block, shared, args, self.gate(), origin) }
    }

    /// [`Gpu::launch`], whether launches are collected or not.
    #[inline]
    #[expect(clippy::too_many_arguments)]
    pub(super) unsafe fn start(
        &self,
        kernel: Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: &[u8],
        gate: [u64; 2],
        origin: Origin,
    ) -> Result<()> {
        // The kernel's parameter, and the gate where it has one; drivers read as many as the kernel takes. (Told as a buffer of all parameters, it would lie where the buffer begins, whatever
        // alignment the kernel asks for.)
        let mut params: [*mut c_void; 2] =
            [args.as_ptr().cast_mut().cast(), (&raw const gate).cast_mut().cast()];
        let [gx, gy, gz] = grid;
        let [bx, by, bz] = block;
        self.watch().launched(origin);
        if shared > Gpu::PLAIN_SHARED {
            self.allow_shared(kernel, shared).map_err(|e| e.with_location(origin.line))?;
        }
        // SAFETY: the driver reads the parameters that the kernel has; the rest is this function's contract.
        let code = unsafe {
            (self.api.launch)(
                kernel.function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shared,
                self.stream,
                params.as_mut_ptr(),
                null_mut(),
            )
        };
        if code != 0 {
            return Err(self.failed("cuLaunchKernel", code).with_op(origin.name).with_location(origin.line));
        }
        if self.synchronous {
            self.synchronize().map_err(|e| match e.kind() {
                ErrorKind::Cuda(_) => e.with_op(origin.name).with_location(origin.line),
                _ => e,
            })?;
        }
        Ok(())
    }

    #[cold]
    pub(super) fn allow_shared(&self, kernel: Kernel, bytes: u32) -> Result<()> {
        // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        // SAFETY: the function lives as long as the process.
        let code = unsafe { (self.api.function_set)(kernel.function, 8, bytes as c_int) };
        self.check("cuFuncSetAttribute", code)?;
        // CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, in percent: left to the driver, it may be room for one block where two would fit.
        // SAFETY: as above.
        let code = unsafe { (self.api.function_set)(kernel.function, 9, 100) };
        self.check("cuFuncSetAttribute", code)
    }

    /// Waits until all work on the device is done.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`] of a launch that failed, with the last launches' lines; [`ErrorKind::Index`] of an index that a
    /// kernel launched by this thread found out of range, at the line of its operation.
    #[track_caller]
    pub fn synchronize(&self) -> Result<()> {
        self.wait().map_err(|e| e.with_op("synchronize"))?;
        self.look()
    }

    /// Waits until all work is done. What kernels found out is left to [`Gpu::synchronize`].
    ///
    /// # Errors
    ///
    /// What the driver answers with.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        self.start_collected()?;
        self.bind()?;
        // SAFETY: the stream lives as long as the process.
        self.check("cuStreamSynchronize", unsafe { (self.api.stream_synchronize)(self.stream) })
    }

    /// The stream on which the engine works, as other libraries of the process take it.
    pub fn stream(&self) -> u64 {
        self.stream.addr() as u64
    }

    /// Makes another library's stream wait for all work so far. `1` is the driver's legacy stream, `2` the calling thread's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Cuda`].
    ///
    /// # Safety
    ///
    /// `stream` is a stream of this device's primary context.
    #[track_caller]
    pub unsafe fn hand_over(&self, stream: u64) -> Result<()> {
        self.start_collected()?;
        self.bind()?;
        let mut event = null_mut();
        // SAFETY: an event is made, without timing, recorded on this device's stream, and waited for by the caller's. What was
        // asked of an event is done although it is destroyed.
        unsafe {
            self.check("cuEventCreate", (self.api.event_create)(&mut event, 2))?;
            let recorded = self.check("cuEventRecord", (self.api.event_record)(event, self.stream));
            let stream = std::ptr::without_provenance_mut(stream as usize);
            let wait = || (self.api.stream_wait_event)(stream, event, 0);
            let waited = recorded.and_then(|()| self.check("cuStreamWaitEvent", wait()));
            (self.api.event_destroy)(event);
            waited.map_err(|e| e.with_op("hand_over"))
        }
    }

    /// Waits for all work on the device, other libraries' of this process too. Finds nothing out: a fault is told to who
    /// waits for the work.
    pub fn quiesce(&self) {
        if self.start_collected().and_then(|()| self.bind()).is_ok() {
            // SAFETY: the context is current.
            unsafe { (self.api.context_synchronize)() };
        }
    }

    /// What kernels that this thread launched found out of range, once they have been waited for.
    pub(super) fn look(&self) -> Result<()> {
        self.look_at(this_thread(), false)
    }

    fn look_at(&self, mine: u64, all: bool) -> Result<()> {
        let mut watch = self.watch();
        if watch.pending.is_empty() && !watch.has_found() {
            return Ok(());
        }
        // Checks of other threads may be of kernels that were not waited for.
        let pending = std::mem::take(&mut watch.pending);
        let mut looked = vec![];
        for (slot, guarded, thread) in pending {
            if thread != mine && !all {
                watch.pending.push_back((slot, guarded, thread));
                continue;
            }
            // SAFETY: the slot is one of the mapped ones, whose writers are done.
            let found = unsafe {
                let slot = self.slots.add(slot).cast_mut();
                let found = (&raw const (*slot).found).read_volatile() != 0;
                let index = (&raw const (*slot).index).read_volatile();
                if found {
                    (&raw mut (*slot).found).write_volatile(0);
                }
                found.then_some(index)
            };
            watch.free.push(slot);
            let error = found.map(|index| guarded.error(index));
            if let Some(error) = &error {
                watch.keep(thread, error.clone());
            }
            looked.push((self.slots_on_device + (slot * size_of::<Slot>()) as u64, error));
        }
        let mine = watch.take(mine);
        drop(watch);
        if let Some(told) = LOOKED.get() {
            told(self.device, &looked);
        }
        mine.map_or(Ok(()), Err)
    }

    /// A place for a kernel to say what it found out of range: an i64 for the index, and after it a u64 that it sets to 1.
    /// The next synchronisation makes an error of it.
    ///
    /// # Errors
    ///
    /// Where too many checks are under way they are waited for, and this answers what they found.
    #[track_caller]
    pub fn guard(&self, guarded: Guarded) -> Result<u64> {
        let slot = loop {
            if let Some(slot) = self.watch().free.pop() {
                break slot;
            }
            self.synchronize()?;
            // Those of threads that never look: their launches are over by now.
            self.look_at(0, true)?;
        };
        let mut watch = self.watch();
        watch.pending.push_back((slot, guarded, this_thread()));
        let place = self.slots_on_device + (slot * size_of::<Slot>()) as u64;
        if watch.noted.len() < SLOTS {
            watch.noted.push(place);
        }
        Ok(place)
    }

    /// Forgets the places that [`Gpu::guard`] has answered with so far, and makes room for as many as this, so that none of
    /// them has to wait for what was launched before.
    ///
    /// # Errors
    ///
    /// Where too many checks are under way they are waited for, and this answers what they found.
    #[track_caller]
    pub fn note_guards(&self, n: usize) -> Result<()> {
        if self.watch().free.len() < n.min(SLOTS) {
            self.synchronize()?;
            self.look_at(0, true)?;
        }
        self.watch().noted.clear();
        Ok(())
    }

    /// The places that [`Gpu::guard`] has answered with since this or [`Gpu::note_guards`] was called.
    pub fn noted_guards(&self) -> Vec<u64> {
        std::mem::take(&mut self.watch().noted)
    }
}

/// Whoever is told of checks that were looked at: by the place where each says what it finds, the error of what it has found.
pub type Looked = fn(Device, &[(u64, Option<Error>)]);

static LOOKED: OnceLock<Looked> = OnceLock::new();

/// Has somebody told of checks that are looked at from now on. The first who asks is.
pub fn on_look(told: Looked) {
    LOOKED.get_or_init(|| told);
}

/// Whether a file of machine code has all that its beginning tells of: its table of sections is the last thing in it, or a table of segments.
fn is_whole(code: &[u8]) -> bool {
    let number = |at: usize, bytes: usize| {
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(code.get(at..at + bytes)?);
        Some(u64::from_le_bytes(all))
    };
    // Of an ELF file of 64 bits: where a table is, how long an entry is, how many there are.
    let ends = |(at, each, count)| number(at, 8)?.checked_add(number(each, 2)? * number(count, 2)?);
    let tables = [(0x20, 0x36, 0x38), (0x28, 0x3a, 0x3c)];
    code.starts_with(b"\x7fELF\x02")
        && tables.into_iter().all(|table| ends(table).is_some_and(|end| end <= code.len() as u64))
}

/// Loaded PTX.
#[derive(Clone, Copy, Debug)]
pub struct Module(pub(super) Handle);

// SAFETY: modules are never unloaded, and may be used from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// The driver that a version of PTX needs.
fn driver_for(version: &str) -> &'static str {
    match version {
        "8.0" => "a driver of CUDA 12.0 (525) or later",
        "8.1" | "8.2" => "a driver of CUDA 12.2 (535) or later",
        "8.3" | "8.4" => "a driver of CUDA 12.4 (550) or later",
        "8.5" | "8.6" | "8.7" | "8.8" => "a driver of CUDA 12.9 (575) or later",
        _ => "a later driver",
    }
}
