//! The CPU executor: tiles that stay in the first-level cache, a vectorised loop for each instruction, tiles spread
//! over threads.

pub mod compile;
pub mod convert;
pub mod gather;
mod jit;
pub mod library;
pub mod loops;
pub mod memory;
pub mod pool;
pub mod reduce;
mod reduce_across;
#[cfg(target_arch = "x86_64")]
mod reduce_x86;
pub mod run;
pub(crate) mod stream;
