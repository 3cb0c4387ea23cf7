//! What people build with it: modules, losses, optimisers, data and checkpoints.

pub mod checkpoint;
pub mod data;
pub mod scalar;
