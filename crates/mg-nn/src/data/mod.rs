//! Data to train on: MNIST from IDX files, digits that the program draws itself, and shuffled batches of indices.
//!
//! - [`idx`] reads the IDX format of MNIST and its descendants; [`Mnist`] is the four files of such a data set, checked
//!   against each other.
//! - [`digits`] draws a data set like MNIST, for machines without the files and without a network.
//! - [`text`] makes numbers of texts: by bytes, by characters, by byte pairs.
//! - [`Batches`] says which samples make up which batch of which epoch.

pub mod digits;
pub mod idx;
mod loader;
mod mnist;
mod random;
pub mod text;

pub use idx::Idx;
pub use loader::{Batches, Epoch};
pub use mnist::Mnist;
