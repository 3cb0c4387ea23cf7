//! Kernels for CUDA, as text and as descriptions of launches: nothing here needs a GPU or a driver.

pub mod library;
