//! The driver's entry points, looked up once; result codes are plain numbers.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null;
use std::sync::OnceLock;

use cudarc::driver::sys;

use super::probe::{code_text, probe};

/// A handle of the driver: a context, a stream, a module, …
pub(crate) type Handle = *mut c_void;
/// An address in a device's memory.
pub(crate) type Address = u64;

macro_rules! table {
    ($($name:ident: $symbol:literal ($($arg:ty),*);)*) => {
        /// Entry points of the driver; signatures are those of `cuda.h`, with enums as the integers they are.
        pub(crate) struct Api { $(pub(crate) $name: unsafe extern "C" fn($($arg),*) -> c_uint),* }

        impl Api {
            fn load() -> Result<Api, String> {
                probe().map_err(str::to_string)?;
                // SAFETY: `probe` found the library, so this does not panic.
                let lib = unsafe { sys::culib() };
                Ok(Api { $($name: {
                    // SAFETY: the symbol has the signature that `cuda.h` gives it.
                    let found = unsafe { lib.get::<unsafe extern "C" fn($($arg),*) -> c_uint>($symbol.to_bytes_with_nul()) };
                    match found {
                        Ok(f) => *f,
                        Err(_) => return Err(format!("the CUDA driver lacks {}", $symbol.to_string_lossy())),
                    }
                }),* })
            }
        }
    };
}

table! {
    error_name: c"cuGetErrorName" (c_uint, *mut *const c_char);
    device_get: c"cuDeviceGet" (*mut c_int, c_int);
    device_attribute: c"cuDeviceGetAttribute" (*mut c_int, c_uint, c_int);
    device_total: c"cuDeviceTotalMem_v2" (*mut usize, c_int);
    can_access_peer: c"cuDeviceCanAccessPeer" (*mut c_int, c_int, c_int);
    primary_retain: c"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    enable_peer: c"cuCtxEnablePeerAccess" (Handle, c_uint);
    set_current: c"cuCtxSetCurrent" (Handle);
    context_synchronize: c"cuCtxSynchronize" ();
    stream_create: c"cuStreamCreate" (*mut Handle, c_uint);
    stream_synchronize: c"cuStreamSynchronize" (Handle);
    stream_wait_event: c"cuStreamWaitEvent" (Handle, Handle, c_uint);
    event_create: c"cuEventCreate" (*mut Handle, c_uint);
    event_destroy: c"cuEventDestroy_v2" (Handle);
    event_record: c"cuEventRecord" (Handle, Handle);
    event_synchronize: c"cuEventSynchronize" (Handle);
    mem_info: c"cuMemGetInfo_v2" (*mut usize, *mut usize);
    mem_alloc: c"cuMemAlloc_v2" (*mut Address, usize);
    mem_free: c"cuMemFree_v2" (Address);
    host_alloc: c"cuMemHostAlloc" (*mut *mut c_void, usize, c_uint);
    host_free: c"cuMemFreeHost" (*mut c_void);
    host_device_pointer: c"cuMemHostGetDevicePointer_v2" (*mut Address, *mut c_void, c_uint);
    memset_d8: c"cuMemsetD8Async" (Address, u8, usize, Handle);
    memcpy_to_device: c"cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Handle);
    memcpy_to_host: c"cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Handle);
    memcpy_on_device: c"cuMemcpyDtoDAsync_v2" (Address, Address, usize, Handle);
    memcpy_peer: c"cuMemcpyPeerAsync" (Address, Handle, Address, Handle, usize, Handle);
    module_load: c"cuModuleLoadDataEx" (*mut Handle, *const c_void, c_uint, *mut c_uint, *mut *mut c_void);
    library_load: c"cuLibraryLoadData" (
        *mut Handle, *const c_void, *mut c_uint, *mut *mut c_void, c_uint, *mut c_uint, *mut *mut c_void, c_uint
    );
    library_module: c"cuLibraryGetModule" (*mut Handle, Handle);
    module_function: c"cuModuleGetFunction" (*mut Handle, Handle, *const c_char);
    tensor_map_encode: c"cuTensorMapEncodeTiled" (
        *mut c_void, c_uint, c_uint, Address, *const u64, *const u64, *const u32, *const u32, c_uint, c_uint,
        c_uint, c_uint
    );
    tensor_map_encode_windows: c"cuTensorMapEncodeIm2col" (
        *mut c_void, c_uint, c_uint, Address, *const u64, *const u64, *const c_int, *const c_int, c_uint, c_uint,
        *const u32, c_uint, c_uint, c_uint, c_uint
    );
    function_set: c"cuFuncSetAttribute" (Handle, c_uint, c_int);
    launch: c"cuLaunchKernel" (
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void, *mut *mut c_void
    );
    graph_create: c"cuGraphCreate" (*mut Handle, c_uint);
    graph_destroy: c"cuGraphDestroy" (Handle);
    graph_add_kernel: c"cuGraphAddKernelNode_v2" (*mut Handle, Handle, *const Handle, usize, *const c_void);
    graph_instantiate: c"cuGraphInstantiateWithFlags" (*mut Handle, Handle, u64);
    graph_exec_set_kernel: c"cuGraphExecKernelNodeSetParams_v2" (Handle, Handle, *const c_void);
    graph_exec_destroy: c"cuGraphExecDestroy" (Handle);
    graph_launch: c"cuGraphLaunch" (Handle, Handle);
}

/// The table; where there is no usable driver, a sentence that says why.
pub(crate) fn api() -> Result<&'static Api, &'static str> {
    static API: OnceLock<Result<Api, String>> = OnceLock::new();
    API.get_or_init(Api::load).as_ref().map_err(String::as_str)
}

impl Api {
    /// A result code as the driver names it.
    pub(crate) fn describe(&self, code: c_uint) -> String {
        let mut name: *const c_char = null();
        // SAFETY: a pointer to a constant string is written, or null for codes that the driver does not know.
        if unsafe { (self.error_name)(code, &mut name) } != 0 || name.is_null() {
            return code_text(code);
        }
        // SAFETY: the driver's strings end with 0 and live as long as the library.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        format!("{name} ({code})")
    }
}
