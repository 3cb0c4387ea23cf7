//! What people build with it: modules, losses, optimisers, data and checkpoints.

pub mod scalar;
