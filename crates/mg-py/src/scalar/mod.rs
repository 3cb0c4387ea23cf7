//! micrograd in Python: `Value` and its perceptron.

pub mod mlp;
pub mod state;
pub mod value;
