//! Data to train on: files, what a sample is, and batches of samples, shuffled and made ahead of time.
//!
//! - [`DataLoader`] makes batches of a [`Dataset`], on threads if told so: of [`TensorDataset`], of one of your own, of a [`Subset`] or a
//!   [`random_split`] of one, of several ([`ConcatDataset`]), of what a function makes of its samples ([`MapDataset`]).
//! - A [`Sampler`] says which samples an epoch has and in what order: [`RandomSampler`], [`WeightedRandomSampler`], one of your own.
//! - [`IterableLoader`] makes batches of a stream ([`IterableDataset`]).
//! - [`Table`] reads CSV, `ImageFolder` and `read_image` (feature `images`) PNG and JPEG, [`text`] makes numbers of texts: by bytes, by characters, by byte pairs.
//! - [`idx`] reads the IDX format of MNIST and its descendants; [`Mnist`] is the four files of such a data set, checked
//!   against each other.
//! - [`digits`] draws a data set like MNIST, for machines without the files and without a network.
//! - [`Batches`] says which samples make up which batch of which epoch, for data that is indexed where it lies.

mod csv;
mod dataloader;
mod dataset;
pub mod digits;
pub mod idx;
#[cfg(feature = "images")]
mod images;
mod loader;
mod mnist;
pub(crate) mod random;
mod read;
mod sampler;
mod streams;
pub mod text;

pub use csv::{CsvOptions, Table};
pub use dataloader::{DataLoader, LoaderOptions, Loop};
pub use dataset::{Batch, Collate, ConcatDataset, Dataset, MapDataset, Subset, TensorDataset, random_split};
pub use idx::Idx;
#[cfg(feature = "images")]
pub use images::{ImageFolder, ImageMode, decode_image, read_image};
pub use loader::{Batches, Epoch};
pub use mnist::Mnist;
pub use sampler::{
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
pub use streams::{IterableDataset, IterableLoader, Stream};
