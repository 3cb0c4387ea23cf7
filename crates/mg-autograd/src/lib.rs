//! Why it runs: tensors, gradients of any order, and the scalar engine.
//!
//! A [`Tensor`] is a handle on a node of the graph. Operations are the rows of the op table and what is composed of them;
//! [`Tensor::backward`] walks the graph once and answers with more graph, so that gradients have gradients and are fused like
//! anything else. [`jit()`] replays a step that repeats. [`scalar`] is micrograd itself, on a tape.
//!
//! ```
//! use mg_autograd::{Backward, Tensor, grad};
//!
//! // d²(x³)/dx² = 6x.
//! let x = Tensor::scalar(2.0f64).requires_grad_(true)?;
//! let how = Backward { create_graph: true, ..Backward::default() };
//! let first = grad(&[&x.powf(3.0)], &[&x], &[], how)?.remove(0).unwrap();
//! let second = grad(&[&first], &[&x], &[], Backward::default())?.remove(0).unwrap();
//! assert_eq!((first.item::<f64>()?, second.item::<f64>()?), (12.0, 12.0));
//! # Ok::<(), mg_device::Error>(())
//! ```

pub mod anomaly;
pub mod autocast;
mod caller;
pub mod check;
mod checkpoint;
mod checks;
mod creation;
mod default_device;
pub mod display;
mod explain;
pub mod func;
pub mod function;
mod gathered;
mod generator;
mod gradient;
mod history;
mod hooks;
mod index;
mod jit;
pub mod kernel;
mod operations;
mod ops;
mod parts;
mod picks;
mod ranked;
mod rules;
pub mod scalar;
pub mod surface;
mod tensor;
mod transform;

pub use anomaly::set_detect_anomaly;
pub use autocast::{AutocastGuard, AutocastState, autocast, autocast_state, set_autocast_state};
pub use check::{gradcheck, gradgradcheck};
pub use checkpoint::{Recompute, checkpoint};
pub use default_device::{default_device, set_default_device, set_default_device_here, with_default_device};
pub use explain::explain;
pub use func::grads_of_batch;
pub use function::apply;
pub use generator::{Generator, draw_from, manual_seed};
pub use gradient::{Backward, NoGrad, backward, enable_grad, grad, is_grad_enabled, no_grad};
pub use history::History;
pub use hooks::{
    AfterHook, Gradients, Hook, HookHandle, MultiHook, MultiMode, NodeHook, NodePreHook,
    register_multi_grad_hook,
};
pub use jit::{Jit, jit, refuse_replay};
pub use mg_device::Result;
pub use mg_macros::kernel;
pub use operations::{Padding, ScaledMm};
pub use ops::Operand;
pub use picks::{Index, Selection};
pub use ranked::Ranked;
pub use tensor::{Sharing, Tensor, in_place};
