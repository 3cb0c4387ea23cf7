//! CUDA devices through the driver alone: contexts, streams, memory, modules and launches.
//!
//! Every call goes through a table of entry points that is filled once (`api`), after `probe` has found a driver, and
//! result codes stay plain numbers: nothing panics, whatever library answers to the name of libcuda. A device has one
//! context (its primary one, shared with other libraries of the process), one stream, on which everything that the engine
//! does on that device happens in order, and one caching allocator. Because of that one stream, memory that is given back
//! can be handed out again at once: the next writer comes after the last reader. Copies of page-locked memory alone have a
//! stream of their own, and memory that is told when it is free (`pinned`).

mod api;
mod assemble;
mod behind;
mod collect;
mod fault;
mod gpu;
mod graph;
mod memory;
pub mod nvrtc;
mod order;
mod pinned;
mod probe;
mod tensor_map;
mod transfer;

pub(crate) use gpu::existing;
pub(crate) use pinned::{Arrived, Pinned};
pub(crate) use probe::probe;

pub use assemble::noting;
pub use behind::Behind;
pub use collect::{Ended, Launches, Mark};
pub use fault::{Guarded, Origin};
pub use gpu::{Gpu, Kernel, Looked, on_look};
pub use graph::{Graph, KernelNode};
pub use tensor_map::{Elements, Moved, TENSOR_MAP_BYTES, TensorMap, WindowMap};
