//! Data sets that are streams: samples one after another, without numbers.

use mg_device::Result;

use super::dataset::Collate;
use super::loader::at_least_1;

/// Samples one after another: what is read of a file or of a socket, of which nobody knows how many there are.
///
/// ```
/// use mg_device::Result;
/// use mg_nn::data::{IterableDataset, IterableLoader};
///
/// struct Squares(u32);
///
/// impl IterableDataset for Squares {
///     type Sample = (f32, i64);
///     fn iter(&self) -> Box<dyn Iterator<Item = Result<(f32, i64)>> + Send + '_> {
///         Box::new((0..self.0).map(|i| Ok((i as f32, i64::from(i * i)))))
///     }
/// }
///
/// let loader = IterableLoader::new(Squares(5), 2, false)?;
/// let mut sizes = vec![];
/// for batch in &loader {
///     let (x, y) = batch?;
///     assert_eq!(x.square().to_vec::<f32>()?[0] as i64, y.to_vec::<i64>()?[0]);
///     sizes.push(x.shape()[0]);
/// }
/// assert_eq!(sizes, [2, 2, 1]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub trait IterableDataset: Send + Sync {
    /// What one sample is.
    type Sample: Collate;

    /// The samples of an epoch, from the first on.
    fn iter(&self) -> Box<dyn Iterator<Item = Result<Self::Sample>> + Send + '_>;
}

/// Batches of a stream, epoch after epoch: `for batch in &loader`. Each is made when it is asked for.
pub struct IterableLoader<D> {
    dataset: D,
    batch_size: usize,
    drop_last: bool,
}

impl<D: IterableDataset> IterableLoader<D> {
    /// Batches of so many samples; the last one of an epoch may be smaller, or is left out with `drop_last`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) for batches of 0.
    #[track_caller]
    pub fn new(dataset: D, batch_size: usize, drop_last: bool) -> Result<IterableLoader<D>> {
        Ok(IterableLoader { dataset, batch_size: at_least_1("IterableLoader", batch_size)?, drop_last })
    }

    /// The data set.
    #[must_use]
    pub fn dataset(&self) -> &D {
        &self.dataset
    }

    /// The batches of an epoch, from the stream's first sample on. A sample that cannot be had is an error in the place of its batch, and the
    /// next batch begins behind it.
    pub fn iter(&self) -> Stream<'_, D> {
        Stream {
            samples: self.dataset.iter(),
            batch_size: self.batch_size,
            drop_last: self.drop_last,
            is_over: false,
        }
    }
}

impl<'a, D: IterableDataset> IntoIterator for &'a IterableLoader<D> {
    type Item = Result<<D::Sample as Collate>::Batch>;
    type IntoIter = Stream<'a, D>;

    fn into_iter(self) -> Stream<'a, D> {
        self.iter()
    }
}

/// One loop over an [`IterableLoader`].
pub struct Stream<'a, D: IterableDataset> {
    samples: Box<dyn Iterator<Item = Result<D::Sample>> + Send + 'a>,
    batch_size: usize,
    drop_last: bool,
    is_over: bool,
}

impl<D: IterableDataset> Iterator for Stream<'_, D> {
    type Item = Result<<D::Sample as Collate>::Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut samples = Vec::with_capacity(if self.is_over { 0 } else { self.batch_size.min(1024) });
        while !self.is_over && samples.len() < self.batch_size {
            match self.samples.next() {
                Some(Ok(sample)) => samples.push(sample),
                Some(Err(error)) => return Some(Err(error)),
                // It is not asked again: some begin anew then.
                None => self.is_over = true,
            }
        }
        let is_left_out = samples.is_empty() || self.drop_last && samples.len() < self.batch_size;
        (!is_left_out).then(|| Collate::collate(samples))
    }
}
