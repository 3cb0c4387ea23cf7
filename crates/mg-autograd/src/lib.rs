//! Why it runs: tensors, gradients of any order, and the scalar engine.

pub mod check;
mod creation;
mod display;
mod functional;
mod gradient;
mod index;
mod jit;
mod ops;
mod rules;
pub mod scalar;
mod tensor;

pub use check::{gradcheck, gradgradcheck};
pub use creation::manual_seed;
pub use gradient::{Backward, NoGrad, enable_grad, grad, is_grad_enabled, no_grad};
pub use jit::{Jit, jit};
pub use ops::Operand;
pub use tensor::Tensor;
