//! Why it runs: tensors, gradients of any order, and the scalar engine.

mod creation;
mod functional;
mod gradient;
mod index;
mod ops;
mod rules;
pub mod scalar;
mod tensor;

pub use creation::manual_seed;
pub use gradient::{Backward, NoGrad, enable_grad, grad, is_grad_enabled, no_grad};
pub use ops::Operand;
pub use tensor::Tensor;
