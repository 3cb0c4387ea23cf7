//! Samplers: in what order samples are taken.

use mg_device::{Error, ErrorKind, Result};

use super::loader::{at_least_1, batches_of};
use super::random::SplitMix64;

/// Numbers of samples in an order, anew for every epoch: for [`DataLoader::with_sampler`](super::DataLoader::with_sampler).
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::data::{DataLoader, LoaderOptions, TensorDataset, WeightedRandomSampler};
///
/// // Class 1 is rare, and drawn as often as class 0.
/// let labels = [0i64, 0, 0, 0, 0, 0, 0, 1];
/// let weights: Vec<f64> = labels.iter().map(|&y| if y == 1 { 7.0 } else { 1.0 }).collect();
/// let data = TensorDataset::new([Tensor::from_slice(&labels)])?;
/// let sampler = WeightedRandomSampler::new(&weights, 1000, true, 3)?;
/// let loader = DataLoader::with_sampler(data, sampler, LoaderOptions { batch_size: 100, ..Default::default() })?;
/// let mut rare = 0;
/// for batch in &loader {
///     let [y] = batch?;
///     rare += y.to_vec::<i64>()?.iter().sum::<i64>();
/// }
/// assert!((400..600).contains(&rare));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub trait Sampler: Send + Sync {
    /// How many numbers an epoch has.
    fn len(&self) -> usize;

    /// The numbers of an epoch, in their order. They follow from the sampler and the epoch's number alone, so that training which is resumed
    /// goes on as it would have.
    fn order(&self, epoch: u64) -> Vec<usize>;

    /// Whether an epoch has none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn wrong(op: &'static str, text: String) -> Error {
    Error::new(op, ErrorKind::Value(text))
}

/// One after another.
#[derive(Clone, Copy, Debug)]
pub struct SequentialSampler(pub usize);

impl Sampler for SequentialSampler {
    fn len(&self) -> usize {
        self.0
    }
    fn order(&self, _: u64) -> Vec<usize> {
        (0..self.0).collect()
    }
}

/// Of `n` samples so many in a random order; with `replacement`, each drawn from all.
///
/// ```
/// use mg_nn::data::{RandomSampler, Sampler};
///
/// let sampler = RandomSampler::new(10, 1337)?;
/// let mut order = sampler.order(0);
/// assert_ne!(order, sampler.order(1));
/// order.sort_unstable();
/// assert_eq!(order, (0..10).collect::<Vec<_>>());
/// assert_eq!(RandomSampler { replacement: true, num_samples: 25, ..sampler }.order(0).len(), 25);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RandomSampler {
    /// How many samples there are.
    pub n: usize,
    /// Each is drawn from all, so that some come several times: no.
    pub replacement: bool,
    /// How many are drawn: as many as there are. More without replacement are all of them several times.
    pub num_samples: usize,
    /// What the order follows from, with the epoch.
    pub seed: u64,
}

impl RandomSampler {
    /// All samples once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for no samples.
    #[track_caller]
    pub fn new(n: usize, seed: u64) -> Result<RandomSampler> {
        if n == 0 {
            return Err(wrong("RandomSampler", "there are no samples to draw from".into()));
        }
        Ok(RandomSampler { n, replacement: false, num_samples: n, seed })
    }
}

impl Sampler for RandomSampler {
    fn len(&self) -> usize {
        if self.n == 0 { 0 } else { self.num_samples }
    }

    fn order(&self, epoch: u64) -> Vec<usize> {
        let mut random = SplitMix64::stream(self.seed, epoch);
        let wanted = self.len();
        if self.replacement {
            return (0..wanted).map(|_| random.below(self.n as u64) as usize).collect();
        }
        let mut order = Vec::with_capacity(wanted);
        while order.len() < wanted {
            let mut all: Vec<usize> = (0..self.n).collect();
            random.shuffle(&mut all);
            all.truncate(wanted - order.len());
            order.extend(all);
        }
        order
    }
}

/// Some samples in a random order.
#[derive(Clone, Debug)]
pub struct SubsetRandomSampler {
    /// Their numbers.
    pub indices: Vec<usize>,
    /// What the order follows from, with the epoch.
    pub seed: u64,
}

impl Sampler for SubsetRandomSampler {
    fn len(&self) -> usize {
        self.indices.len()
    }
    fn order(&self, epoch: u64) -> Vec<usize> {
        let mut order = self.indices.clone();
        SplitMix64::stream(self.seed, epoch).shuffle(&mut order);
        order
    }
}

/// Numbers drawn by weights, which need not add up to 1.
#[derive(Clone, Debug)]
pub struct WeightedRandomSampler {
    weights: Vec<f64>,
    num_samples: usize,
    replacement: bool,
    seed: u64,
}

impl WeightedRandomSampler {
    /// Of as many samples as there are weights, `num_samples`; without `replacement` each at most once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for weights below 0, not finite or all 0, no samples, and more without replacement than have a weight.
    #[track_caller]
    pub fn new(
        weights: &[f64],
        num_samples: usize,
        replacement: bool,
        seed: u64,
    ) -> Result<WeightedRandomSampler> {
        let op = "WeightedRandomSampler";
        if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let text = format!("takes weights of at least 0, weight {i} is {}", weights[i]);
            return Err(wrong(op, text));
        }
        let drawn = weights.iter().filter(|w| **w > 0.0).count();
        if num_samples == 0 || drawn == 0 {
            let text = format!("takes at least 1 sample and 1 weight above 0, got {num_samples} and {drawn}");
            return Err(wrong(op, text));
        }
        if !replacement && num_samples > drawn {
            return Err(wrong(op, format!("cannot draw {num_samples} of {drawn} without replacement")));
        }
        Ok(WeightedRandomSampler { weights: weights.to_vec(), num_samples, replacement, seed })
    }
}

impl Sampler for WeightedRandomSampler {
    fn len(&self) -> usize {
        self.num_samples
    }

    fn order(&self, epoch: u64) -> Vec<usize> {
        let mut random = SplitMix64::stream(self.seed, epoch);
        // Uniform in [0, 1).
        let mut unit = || (random.wide() + 1.0) / 2.0;
        if self.replacement {
            // Weights whose sum is beyond what there is are parts of as much.
            let is_finite = self.weights.iter().sum::<f64>().is_finite();
            let scale = if is_finite { 1.0 } else { 0.5 / self.weights.len() as f64 };
            let mut sum = 0.0;
            let sums: Vec<f64> = self
                .weights
                .iter()
                .map(|w| {
                    sum += w * scale;
                    sum
                })
                .collect();
            // What rounds up to the whole sum is the last that has a weight.
            let last = self.weights.iter().rposition(|w| *w > 0.0).unwrap_or(0);
            let draw = |_| {
                let at = unit() * sum;
                sums.partition_point(|s| *s <= at).min(last)
            };
            return (0..self.num_samples).map(draw).collect();
        }
        // The largest of u^(1/w): Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006.
        let keyed = self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0);
        let mut keyed: Vec<(f64, usize)> = keyed.map(|(i, w)| ((1.0 - unit()).ln() / w, i)).collect();
        keyed.sort_by(|a, b| b.0.total_cmp(&a.0));
        keyed.into_iter().take(self.num_samples).map(|(_, i)| i).collect()
    }
}

/// Lists of `batch_size` numbers of another sampler: what a loader makes of one.
///
/// ```
/// use mg_nn::data::{BatchSampler, SequentialSampler};
///
/// let batches = BatchSampler::new(SequentialSampler(5), 2, false)?;
/// assert_eq!(batches.batches(0), [vec![0, 1], vec![2, 3], vec![4]]);
/// assert_eq!(batches.len(), 3);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BatchSampler<S> {
    sampler: S,
    batch_size: usize,
    drop_last: bool,
}

impl<S: Sampler> BatchSampler<S> {
    /// The last list may be shorter, or is left out with `drop_last`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for batches of 0.
    #[track_caller]
    pub fn new(sampler: S, batch_size: usize, drop_last: bool) -> Result<BatchSampler<S>> {
        Ok(BatchSampler { sampler, batch_size: at_least_1("BatchSampler", batch_size)?, drop_last })
    }

    /// The number of lists in an epoch.
    #[must_use]
    pub fn len(&self) -> usize {
        batches_of(self.sampler.len(), self.batch_size, self.drop_last)
    }

    /// Whether an epoch has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The lists of an epoch.
    #[must_use]
    pub fn batches(&self, epoch: u64) -> Vec<Vec<usize>> {
        let order = self.sampler.order(epoch);
        order.chunks(self.batch_size).take(self.len()).map(<[usize]>::to_vec).collect()
    }
}
