//! Why it runs: tensors, gradients of any order, and the scalar engine.

pub mod scalar;
