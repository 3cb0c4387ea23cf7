//! What people build with it: modules, losses, optimisers, data and checkpoints.
//!
//! A [`Module`] is a part of a network: layers with parameters ([`Linear`], [`Embedding`], [`LayerNorm`]), functions between
//! them ([`ReLU`], [`Dropout`], …), [`Sequential`]s of these, and structs of your own. [`init`] says what parameters are at
//! first, a loss ([`CrossEntropyLoss`], …) how far outputs are from what they should be, an [`optim::Optimizer`] makes that
//! less. [`State`] is what a model is at a moment, and [`checkpoint`] the file that holds it. [`data`] is what to train on;
//! [`scalar`] is micrograd's perceptron.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::optim::{Adam, Optimizer};
//! use mg_nn::{Linear, MSELoss, Module, Tanh, sequential};
//!
//! mg_autograd::manual_seed(1);
//! let x = Tensor::from_vec(vec![0.0f32, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[4, 2])?;
//! let xor = Tensor::from_vec(vec![0.0f32, 1.0, 1.0, 0.0], &[4, 1])?;
//! let model = sequential![Linear::new(2, 8)?, Tanh, Linear::new(8, 1)?];
//! let mut adam = Adam::new(model.parameters(), 0.05)?;
//! for _ in 0..200 {
//!     let loss = MSELoss::default().forward(&model.forward(&x)?, &xor)?;
//!     adam.zero_grad();
//!     loss.backward()?;
//!     adam.step()?;
//! }
//! let answers = model.forward(&x)?.to_vec::<f32>()?;
//! assert!(answers.iter().zip([0.0, 1.0, 1.0, 0.0]).all(|(a, y)| (a - y).abs() < 0.1));
//! # Ok::<(), mg_device::Error>(())
//! ```

mod activation;
pub mod amp;
pub mod checkpoint;
mod container;
pub mod data;
mod dropout;
pub mod init;
mod linear;
mod loss;
mod module;
pub mod optim;
pub mod scalar;
mod state;

pub use activation::{
    Flatten, GELU, Lambda, LeakyReLU, LogSoftmax, ReLU, SiLU, Sigmoid, Softmax, Softplus, Tanh,
};
pub use container::Sequential;
pub use dropout::Dropout;
pub use linear::{Embedding, LayerNorm, Linear};
pub use loss::{BCEWithLogitsLoss, CrossEntropyLoss, MSELoss, NLLLoss, Reduction};
pub use module::{Mode, Module, Register, Visitor};
pub use state::State;
