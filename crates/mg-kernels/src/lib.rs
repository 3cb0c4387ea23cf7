//! What runs: the op table, programs and their executors, library kernels.
pub mod lane;
pub mod math;
pub use lane::{BitLane, FloatLane, Format, Lane};
