//! The CUDA executor: programs become PTX text, assembled by the driver and kept; library kernels come prebuilt.

mod assembled;
mod body;
pub(crate) mod capability;
mod column;
mod emit;
mod gate;
mod lanes;
pub mod library;
mod map;
pub(crate) mod params;
mod program;
mod ptx;
mod random;
mod reduce;
mod row;
pub mod single;
pub(crate) mod splice;
mod stage;
mod totals;
mod values;

pub use assembled::Loaded;
pub use body::Check;
pub use gate::{Restored, gate_ptx, gated_ptx, gather_refusals, load_gates, restore_refused};
pub use program::{CudaEpilogue, CudaList, CudaProgram};
