//! Kernels that are not programs: matrix products, gathers, scatters, strided copies.

pub mod matmul;

pub use matmul::matmul;
