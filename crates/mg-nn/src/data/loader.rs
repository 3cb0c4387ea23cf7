//! [`Batches`]: which samples make up which batch.

use std::fmt;
use std::sync::Arc;

use mg_device::{Error, ErrorKind, Result};

use super::random::SplitMix64;
use super::sampler::Sampler;

/// A division of `n` samples into batches, shuffled anew for every epoch. It deals in indices only: what they index, and
/// on which device, is the caller's.
///
/// # Examples
///
/// ```
/// use mg_nn::data::Batches;
///
/// let batches = Batches::new(10, 4, Some(1337), false)?;
/// assert_eq!(batches.len(), 3);
/// for epoch in 0..2 {
///     for indices in &batches.epoch(epoch) {
///         assert!(indices.len() == 4 || indices.len() == 2);
///     }
/// }
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct Batches {
    n: usize,
    batch: usize,
    shuffle_seed: Option<u64>,
    drop_last: bool,
    /// Whose order it is, if it is not that of a seed.
    sampler: Option<Arc<dyn Sampler>>,
}

impl fmt::Debug for Batches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Batches { n, batch, shuffle_seed, drop_last, sampler } = self;
        let mut told = f.debug_struct("Batches");
        told.field("n", n)
            .field("batch", batch)
            .field("shuffle_seed", shuffle_seed)
            .field("drop_last", drop_last);
        told.field("has_sampler", &sampler.is_some()).finish()
    }
}

/// The size of batches, which have samples.
#[track_caller]
pub(super) fn at_least_1(op: &'static str, batch: usize) -> Result<usize> {
    match batch {
        0 => {
            let text = "a batch of 0 samples: a batch takes at least 1".to_string();
            Err(Error::new(op, ErrorKind::Value(text)))
        }
        batch => Ok(batch),
    }
}

/// How many batches samples make.
pub(super) fn batches_of(n: usize, batch: usize, drop_last: bool) -> usize {
    if drop_last { n / batch } else { n.div_ceil(batch) }
}

/// The batches of one epoch, in order: iterate over a reference to it for slices of indices.
#[derive(Debug, Clone)]
pub struct Epoch {
    order: Vec<i64>,
    batch: usize,
}

impl Batches {
    /// `n` samples in batches of `batch`, in their order or, with a seed, shuffled. Where `batch` does not divide `n`, the
    /// last batch is smaller; with `drop_last` it is left out, so that all have the same shape.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for batches of 0.
    #[track_caller]
    pub fn new(n: usize, batch: usize, shuffle_seed: Option<u64>, drop_last: bool) -> Result<Batches> {
        let batch = at_least_1("Batches", batch)?;
        Ok(Batches { n, batch, shuffle_seed, drop_last, sampler: None })
    }

    /// What a sampler draws, in batches of `batch`.
    ///
    /// # Errors
    ///
    /// As [`Batches::new`].
    #[track_caller]
    pub fn of(sampler: impl Sampler + 'static, batch: usize, drop_last: bool) -> Result<Batches> {
        let batches = Batches::new(sampler.len(), batch, None, drop_last)?;
        Ok(Batches { sampler: Some(Arc::new(sampler)), ..batches })
    }

    /// The number of batches in an epoch.
    #[must_use]
    pub fn len(&self) -> usize {
        batches_of(self.n, self.batch, self.drop_last)
    }

    /// Whether an epoch has no batches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Epoch `k`. It depends on `k` and the seed alone, not on the epochs asked for before, so training that is resumed
    /// goes on as it would have. Which samples `drop_last` leaves out changes with the epoch.
    ///
    /// # Panics
    ///
    /// Where memory does not suffice for the order; see [`Batches::try_epoch`].
    #[must_use]
    #[track_caller]
    pub fn epoch(&self, k: u64) -> Epoch {
        self.try_epoch(k).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Batches::epoch`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`] where memory does not suffice for the order.
    pub fn try_epoch(&self, k: u64) -> Result<Epoch> {
        let mut order: Vec<i64> = vec![];
        order.try_reserve_exact(self.n).map_err(|_| {
            let requested = self.n.saturating_mul(size_of::<i64>());
            let kind = ErrorKind::OutOfMemory { requested, active: 0, cached: 0, limit: None, free: None };
            Error::new("Batches", kind)
        })?;
        match &self.sampler {
            Some(sampler) => order.extend(sampler.order(k).into_iter().take(self.n).map(|i| i as i64)),
            None => order.extend(0..self.n as i64),
        }
        if let Some(seed) = self.shuffle_seed {
            SplitMix64::stream(seed, k).shuffle(&mut order);
        }
        // `len` rounds up where the last batch is kept.
        order.truncate(self.len().saturating_mul(self.batch));
        Ok(Epoch { order, batch: self.batch })
    }
}

impl Epoch {
    /// The indices of all batches, one after another.
    #[must_use]
    pub fn order(&self) -> &[i64] {
        &self.order
    }

    /// The batch of this number; none behind the last.
    #[must_use]
    pub fn get(&self, number: usize) -> &[i64] {
        let start = number.saturating_mul(self.batch).min(self.order.len());
        &self.order[start..start.saturating_add(self.batch).min(self.order.len())]
    }

    /// The batches.
    pub fn iter(&self) -> std::slice::Chunks<'_, i64> {
        self.order.chunks(self.batch)
    }
}

impl<'a> IntoIterator for &'a Epoch {
    type Item = &'a [i64];
    type IntoIter = std::slice::Chunks<'a, i64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
