//! [`Dataset`]: samples by number, and what batches are made of them.

use std::sync::Arc;

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use super::random::SplitMix64;

/// Samples by number. Threads of a loader ask for them at the same time.
///
/// ```
/// use mg_device::Result;
/// use mg_nn::data::{DataLoader, Dataset, LoaderOptions};
///
/// struct Squares;
///
/// impl Dataset for Squares {
///     type Sample = (f32, i64);
///     fn len(&self) -> usize {
///         10
///     }
///     fn get(&self, index: usize) -> Result<(f32, i64)> {
///         Ok((index as f32, (index * index) as i64))
///     }
/// }
///
/// let loader = DataLoader::new(Squares, LoaderOptions { batch_size: 4, ..LoaderOptions::default() })?;
/// let mut sizes = vec![];
/// for batch in &loader {
///     let (x, y) = batch?;
///     assert_eq!(x.square().to_vec::<f32>()?[1] as i64, y.to_vec::<i64>()?[1]);
///     sizes.push(x.shape()[0]);
/// }
/// assert_eq!(sizes, [4, 4, 2]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub trait Dataset: Send + Sync {
    /// What one sample is.
    type Sample: Collate;

    /// The number of samples.
    fn len(&self) -> usize;

    /// The sample of this number, which is below [`Dataset::len`].
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being had.
    fn get(&self, index: usize) -> Result<Self::Sample>;

    /// Whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The samples of these numbers as one batch. One that is had faster together, as rows of a tensor are, says so here.
    ///
    /// # Errors
    ///
    /// The first sample's that cannot be had, told of its number; samples that do not make up a batch.
    fn batch(&self, indices: &[usize]) -> Result<Batch<Self>> {
        let sample =
            |&i: &usize| self.get(i).map_err(|error| error.within(format!("item {i} of the data set"), ""));
        Collate::collate(indices.iter().map(sample).collect::<Result<_>>()?)
    }
}

/// What a loader of a data set answers with.
pub type Batch<D> = <<D as Dataset>::Sample as Collate>::Batch;

impl<D: Dataset + ?Sized> Dataset for Arc<D> {
    type Sample = D::Sample;
    fn len(&self) -> usize {
        (**self).len()
    }
    fn get(&self, index: usize) -> Result<D::Sample> {
        (**self).get(index)
    }
    fn batch(&self, indices: &[usize]) -> Result<Batch<D>> {
        (**self).batch(indices)
    }
}

/// What a batch of samples is: tensors are stacked along a new first axis, numbers become a tensor of one axis, text a `Vec`, and
/// tuples, arrays and `Vec`s of these a tuple, array or `Vec` of their batches.
pub trait Collate: Sized {
    /// What samples together are.
    type Batch: Send + 'static;

    /// The batch. Its tensors have been computed: by the thread that made them, not by the loop.
    ///
    /// # Errors
    ///
    /// Samples of unlike shapes or lengths.
    fn collate(samples: Vec<Self>) -> Result<Self::Batch>;

    /// The batch with its tensors in page-locked memory ([`Tensor::pin_memory`]); as it is, where it has none.
    ///
    /// # Errors
    ///
    /// Memory.
    fn pinned(batch: Self::Batch) -> Result<Self::Batch> {
        Ok(batch)
    }
}

impl Collate for Tensor {
    type Batch = Tensor;
    fn collate(samples: Vec<Tensor>) -> Result<Tensor> {
        if let Some(batch) = Tensor::batch_of(&samples)? {
            return Ok(batch);
        }
        let batch = Tensor::stack(&samples, 0).map_err(|error| error.with_op("collate"))?;
        Tensor::realize_all([&batch])?;
        Ok(batch)
    }
    fn pinned(batch: Tensor) -> Result<Tensor> {
        // What a data set has put on a device is there already.
        if batch.device().is_cpu() { batch.pin_memory() } else { Ok(batch) }
    }
}

macro_rules! numbers {
    ($($T:ty),*) => {$(
        impl Collate for $T {
            type Batch = Tensor;
            fn collate(samples: Vec<$T>) -> Result<Tensor> {
                let n = samples.len();
                Tensor::from_vec(samples, &[n])
            }
            fn pinned(batch: Tensor) -> Result<Tensor> {
                Tensor::pinned(batch)
            }
        }
    )*};
}
numbers!(f32, f64, i8, i16, i32, i64, u8, u16, u32, u64, bool);

impl Collate for String {
    type Batch = Vec<String>;
    fn collate(samples: Vec<String>) -> Result<Vec<String>> {
        Ok(samples)
    }
}

/// The samples' entries of one place after another: batches of the places.
fn columns<T: Collate>(rows: impl Iterator<Item = Vec<T>>) -> Result<Vec<T::Batch>> {
    let mut columns: Vec<Vec<T>> = vec![];
    for (i, row) in rows.enumerate() {
        if i == 0 {
            columns.resize_with(row.len(), Vec::new);
        }
        if row.len() != columns.len() {
            let text = format!(
                "samples of {} and {} entries in one batch: all have to have as many",
                columns.len(),
                row.len()
            );
            return Err(Error::new("collate", ErrorKind::Shape(text)));
        }
        columns.iter_mut().zip(row).for_each(|(column, entry)| column.push(entry));
    }
    columns.into_iter().map(T::collate).collect()
}

impl<T: Collate> Collate for Vec<T> {
    type Batch = Vec<T::Batch>;
    fn collate(samples: Vec<Vec<T>>) -> Result<Vec<T::Batch>> {
        columns(samples.into_iter())
    }
    fn pinned(batch: Vec<T::Batch>) -> Result<Vec<T::Batch>> {
        batch.into_iter().map(T::pinned).collect()
    }
}

impl<T: Collate, const N: usize> Collate for [T; N] {
    type Batch = [T::Batch; N];
    fn collate(samples: Vec<[T; N]>) -> Result<[T::Batch; N]> {
        let none = samples.is_empty();
        let made = columns(samples.into_iter().map(Vec::from))?;
        made.try_into().map_err(|made: Vec<_>| {
            let text =
                if none { "a batch of no samples".into() } else { format!("{} columns of {N}", made.len()) };
            Error::new("collate", ErrorKind::Value(text))
        })
    }
    fn pinned(batch: [T::Batch; N]) -> Result<[T::Batch; N]> {
        let made = batch.into_iter().map(T::pinned).collect::<Result<Vec<_>>>()?;
        made.try_into().map_err(|made: Vec<_>| {
            Error::new("pin_memory", ErrorKind::Internal(format!("{} columns of {N}", made.len())))
        })
    }
}

macro_rules! tuples {
    ($(($($T:ident $t:ident),+);)*) => {$(
        impl<$($T: Collate),+> Collate for ($($T,)+) {
            type Batch = ($($T::Batch,)+);
            fn collate(samples: Vec<Self>) -> Result<Self::Batch> {
                $(let mut $t = Vec::with_capacity(samples.len());)+
                for sample in samples {
                    #[allow(non_snake_case)]
                    let ($($T,)+) = sample;
                    $($t.push($T);)+
                }
                Ok(($($T::collate($t)?,)+))
            }
            fn pinned(batch: Self::Batch) -> Result<Self::Batch> {
                let ($($t,)+) = batch;
                Ok(($($T::pinned($t)?,)+))
            }
        }
    )*};
}
tuples! {
    (A a);
    (A a, B b);
    (A a, B b, C c);
    (A a, B b, C c, D d);
}

/// Tensors with a row for every sample, from which a batch is gathered in one operation, on the device where they are.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::data::{DataLoader, LoaderOptions, TensorDataset};
///
/// let (x, y) = (Tensor::arange(12).reshape(&[6, 2])?, Tensor::arange(6));
/// let options = LoaderOptions { batch_size: 4, ..LoaderOptions::default() };
/// for batch in &DataLoader::new(TensorDataset::new([x, y])?, options)? {
///     let [x, y] = batch?;
///     assert_eq!(x.shape()[0], y.shape()[0]);
/// }
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct TensorDataset<const N: usize> {
    tensors: [Tensor; N],
    rows: usize,
}

impl<const N: usize> TensorDataset<N> {
    /// Of tensors with as many rows.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Shape`] for tensors without axes, no tensors, and unlike numbers of rows.
    #[track_caller]
    pub fn new(tensors: [Tensor; N]) -> Result<TensorDataset<N>> {
        let rows: Vec<Option<usize>> = tensors.iter().map(|t| t.shape().first().copied()).collect();
        match rows.first() {
            Some(&Some(n)) if rows.iter().all(|&rows| rows == Some(n)) => {
                Ok(TensorDataset { tensors, rows: n })
            }
            _ => {
                let shapes: Vec<String> = tensors.iter().map(|t| t.shape().to_string()).collect();
                let text = format!("takes tensors of as many rows, got shapes [{}]", shapes.join(", "));
                Err(Error::new("TensorDataset", ErrorKind::Shape(text)))
            }
        }
    }
}

impl<const N: usize> Dataset for TensorDataset<N> {
    type Sample = [Tensor; N];

    fn len(&self) -> usize {
        self.rows
    }

    fn get(&self, index: usize) -> Result<[Tensor; N]> {
        let rows = self.tensors.iter().map(|t| t.select(0, index as isize)).collect::<Result<Vec<_>>>()?;
        of_as_many("TensorDataset", rows)
    }

    fn batch(&self, indices: &[usize]) -> Result<[Tensor; N]> {
        let rows = Tensor::from_slice(&indices.iter().map(|&i| i as i64).collect::<Vec<_>>());
        let made = self.tensors.iter().map(|t| t.index_select(0, &rows.to(t.device())?));
        let made = made.collect::<Result<Vec<_>>>()?;
        Tensor::realize_all(&made)?;
        of_as_many("TensorDataset", made)
    }
}

fn of_as_many<const N: usize>(op: &'static str, tensors: Vec<Tensor>) -> Result<[Tensor; N]> {
    let internal =
        |made: Vec<Tensor>| Error::new(op, ErrorKind::Internal(format!("{} tensors of {N}", made.len())));
    tensors.try_into().map_err(internal)
}

/// Some samples of a data set, in an order of their own.
#[derive(Clone, Debug)]
pub struct Subset<D> {
    dataset: D,
    indices: Vec<usize>,
}

impl<D: Dataset> Subset<D> {
    /// The samples of these numbers.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Index`] for a number that the data set does not have.
    #[track_caller]
    pub fn new(dataset: D, indices: Vec<usize>) -> Result<Subset<D>> {
        let size = dataset.len();
        match indices.iter().find(|&&i| i >= size) {
            None => Ok(Subset { dataset, indices }),
            Some(&i) => Err(Error::new("Subset", ErrorKind::Index { index: i as i64, axis: 0, size })),
        }
    }

    /// The numbers of its samples in the whole.
    #[must_use]
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
}

impl<D: Dataset> Dataset for Subset<D> {
    type Sample = D::Sample;
    fn len(&self) -> usize {
        self.indices.len()
    }
    fn get(&self, index: usize) -> Result<D::Sample> {
        self.dataset.get(self.indices[index])
    }
    fn batch(&self, indices: &[usize]) -> Result<Batch<D>> {
        let inner: Vec<usize> = indices.iter().map(|&i| self.indices[i]).collect();
        self.dataset.batch(&inner)
    }
}

/// Parts a data set at random: parts of these lengths, which together are all of it. The same seed parts it the same way.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::data::{Dataset, TensorDataset, random_split};
///
/// let [train, test] = random_split(TensorDataset::new([Tensor::arange(10)])?, [8, 2], 1)?;
/// assert_eq!((train.len(), test.len()), (8, 2));
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::Value`] for lengths whose sum is another than the data set's.
#[track_caller]
pub fn random_split<D: Dataset, const N: usize>(
    dataset: D,
    lengths: [usize; N],
    seed: u64,
) -> Result<[Subset<Arc<D>>; N]> {
    let n = dataset.len();
    if lengths.iter().try_fold(0usize, |sum, &length| sum.checked_add(length)) != Some(n) {
        let text = format!("takes lengths whose sum is that of the data set, {n}, got {lengths:?}");
        return Err(Error::new("random_split", ErrorKind::Value(text)));
    }
    let mut order: Vec<usize> = (0..n).collect();
    SplitMix64::stream(seed, 0).shuffle(&mut order);
    let (dataset, mut rest) = (Arc::new(dataset), order.into_iter());
    Ok(lengths
        .map(|length| Subset { dataset: dataset.clone(), indices: rest.by_ref().take(length).collect() }))
}

/// Data sets one behind the other.
#[derive(Clone, Debug)]
pub struct ConcatDataset<D>(Vec<D>);

impl<D: Dataset> ConcatDataset<D> {
    /// Of these, in order.
    pub fn new(datasets: Vec<D>) -> ConcatDataset<D> {
        ConcatDataset(datasets)
    }
}

impl<D: Dataset> Dataset for ConcatDataset<D> {
    type Sample = D::Sample;
    fn len(&self) -> usize {
        self.0.iter().map(Dataset::len).sum()
    }
    fn get(&self, index: usize) -> Result<D::Sample> {
        let mut at = index;
        for dataset in &self.0 {
            if at < dataset.len() {
                return dataset.get(at);
            }
            at -= dataset.len();
        }
        Err(Error::new("ConcatDataset", ErrorKind::Index { index: index as i64, axis: 0, size: self.len() }))
    }
}

/// A data set whose samples are what a function makes of another's.
#[derive(Clone, Debug)]
pub struct MapDataset<D, F> {
    dataset: D,
    function: F,
}

impl<D: Dataset, S: Collate, F: Fn(D::Sample) -> Result<S> + Send + Sync> MapDataset<D, F> {
    /// What the function makes of each sample, when it is asked for.
    pub fn new(dataset: D, function: F) -> MapDataset<D, F> {
        MapDataset { dataset, function }
    }
}

impl<D: Dataset, S: Collate, F: Fn(D::Sample) -> Result<S> + Send + Sync> Dataset for MapDataset<D, F> {
    type Sample = S;
    fn len(&self) -> usize {
        self.dataset.len()
    }
    fn get(&self, index: usize) -> Result<S> {
        (self.function)(self.dataset.get(index)?)
    }
}
