//! [`DataLoader`]: batches of a data set, made ahead of time by threads.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use mg_autograd::with_default_device;
use mg_device::{Error, ErrorKind, Result};

use super::dataset::{Batch, Collate, Dataset};
use super::loader::{Batches, Epoch};
use super::sampler::Sampler;
use crate::state::State;

/// How batches are made, with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoaderOptions {
    /// Samples in a batch: 1.
    pub batch_size: usize,
    /// With a seed, samples are shuffled, anew for every epoch; without one they come in their order: none.
    pub shuffle: Option<u64>,
    /// A last batch that would be smaller is left out: no.
    pub drop_last: bool,
    /// Threads that make batches while the loop computes: 0, which makes each when it is asked for.
    pub num_workers: usize,
    /// Batches for each of them that are made ahead: 2.
    pub prefetch_factor: usize,
    /// Batches are put in page-locked memory by the thread that makes them ([`Tensor::pin_memory`](mg_autograd::Tensor::pin_memory)), from where a
    /// device takes them while it computes; of no effect without one: no.
    pub pin_memory: bool,
}

impl Default for LoaderOptions {
    fn default() -> LoaderOptions {
        LoaderOptions {
            batch_size: 1,
            shuffle: None,
            drop_last: false,
            num_workers: 0,
            prefetch_factor: 2,
            pin_memory: false,
        }
    }
}

/// Where a loader is.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    epoch: u64,
    /// Batches of the epoch that the loop was given.
    given: usize,
    /// The next loop goes on here rather than with the epoch behind it.
    is_resumed: bool,
    /// Which loop it is that says where.
    turn: u64,
}

/// Batches of a data set, epoch after epoch: `for batch in &loader`.
///
/// What is in a batch follows from the seed, the epoch and the batch's number, and not from the number of threads. A loop that is
/// left early is over: the next one begins the next epoch, unless [`DataLoader::load_state`] says to go on.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::data::{DataLoader, LoaderOptions, TensorDataset};
///
/// let options = LoaderOptions { batch_size: 2, shuffle: Some(7), num_workers: 2, ..LoaderOptions::default() };
/// let loader = || DataLoader::new(TensorDataset::new([Tensor::arange(10)])?, options);
/// let (first, second) = (loader()?, loader()?);
/// let mut batches = first.iter();
/// batches.next();
/// // In the middle of an epoch, and in another program: the same batches follow.
/// second.load_state(&first.state())?;
/// for (a, b) in batches.zip(&second) {
///     assert_eq!(a?[0].to_vec::<i64>()?, b?[0].to_vec::<i64>()?);
/// }
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct DataLoader<D> {
    dataset: Arc<D>,
    options: LoaderOptions,
    batches: Batches,
    position: Arc<Mutex<Position>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refuse<T>(text: String) -> std::result::Result<T, ErrorKind> {
    Err(ErrorKind::Value(text))
}

impl<D: Dataset + 'static> DataLoader<D> {
    /// A loader at its first epoch.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for batches of 0 samples, and for threads that make nothing ahead.
    #[track_caller]
    pub fn new(dataset: D, options: LoaderOptions) -> Result<DataLoader<D>> {
        let LoaderOptions { batch_size, shuffle, drop_last, .. } = options;
        let batches = Batches::new(dataset.len(), batch_size, shuffle, drop_last);
        DataLoader::of(dataset, batches, options)
    }

    /// A loader of what a sampler draws, at its first epoch.
    ///
    /// # Errors
    ///
    /// As [`DataLoader::new`]; [`ErrorKind::Value`] for `shuffle` as well. A number that the data set does not have is an error of its batch.
    #[track_caller]
    pub fn with_sampler(
        dataset: D,
        sampler: impl Sampler + 'static,
        options: LoaderOptions,
    ) -> Result<DataLoader<D>> {
        if options.shuffle.is_some() {
            let text = "takes a sampler or shuffle, which say the order each, got both".to_string();
            return Err(Error::new("DataLoader", ErrorKind::Value(text)));
        }
        DataLoader::of(dataset, Batches::of(sampler, options.batch_size, options.drop_last), options)
    }

    #[track_caller]
    fn of(dataset: D, batches: Result<Batches>, options: LoaderOptions) -> Result<DataLoader<D>> {
        if options.num_workers > 0 && options.prefetch_factor == 0 {
            let text = "takes a prefetch_factor of at least 1 where there are workers, got 0".to_string();
            return Err(Error::new("DataLoader", ErrorKind::Value(text)));
        }
        let batches = match batches {
            Ok(batches) => batches,
            Err(error) => return Err(error.with_op("DataLoader")),
        };
        Ok(DataLoader { dataset: Arc::new(dataset), options, batches, position: Arc::default() })
    }

    /// The data set.
    #[must_use]
    pub fn dataset(&self) -> &D {
        &self.dataset
    }

    /// The number of batches in an epoch.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether an epoch has no batches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// The batches of the next epoch, or what is left of one that was loaded.
    ///
    /// # Panics
    ///
    /// Where memory does not suffice for an epoch's order, or the system has no more threads; see [`DataLoader::try_iter`].
    #[track_caller]
    pub fn iter(&self) -> Loop<D> {
        self.try_iter().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`DataLoader::iter`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfMemory`] where memory does not suffice for an epoch's order, [`ErrorKind::Io`] where the system has no more threads,
    /// [`ErrorKind::Device`] where the default device is not there.
    #[track_caller]
    pub fn try_iter(&self) -> Result<Loop<D>> {
        let (epoch, start, turn) = {
            let mut position = locked(&self.position);
            if position.given > 0 && !position.is_resumed {
                (position.epoch, position.given) = (position.epoch + 1, 0);
            }
            (position.is_resumed, position.turn) = (false, position.turn + 1);
            (position.epoch, position.given, position.turn)
        };
        let order = Arc::new(self.batches.try_epoch(epoch)?);
        let mut made = Loop {
            work: Arc::new(Work {
                dataset: self.dataset.clone(),
                order,
                end: self.len(),
                pins: self.options.pin_memory,
            }),
            given: start,
            ahead: None,
            position: self.position.clone(),
            turn,
        };
        let workers = self.options.num_workers.min(self.len().saturating_sub(start));
        if workers > 0 {
            let most = workers * self.options.prefetch_factor;
            let ahead = Arc::new(Ahead {
                jobs: Mutex::new(Jobs { next: start, given: start, made: BTreeMap::new(), is_over: false }),
                most,
                changed: Condvar::new(),
            });
            // Where the loop's thread would make tensors.
            let device = mg_autograd::default_device();
            device.check()?;
            let mut threads = Threads { ahead: ahead.clone(), handles: vec![] };
            for i in 0..workers {
                let (work, ahead) = (made.work.clone(), ahead.clone());
                let thread = thread::Builder::new().name(format!("DataLoader worker {i}"));
                match thread.spawn(move || with_default_device(device, || ahead.serve(&work))) {
                    Ok(handle) => threads.handles.push(handle),
                    Err(e) => {
                        let text = format!("cannot start worker {i}: {e}");
                        return Err(Error::new("DataLoader", ErrorKind::Io(text)));
                    }
                }
            }
            made.ahead = Some(threads);
        }
        Ok(made)
    }

    /// Where the last loop is: its epoch, how many batches it was given, and the seed. For a checkpoint, between two batches or after
    /// a loop.
    #[must_use]
    pub fn state(&self) -> State {
        let Position { mut epoch, mut given, .. } = *locked(&self.position);
        if given >= self.len() && given > 0 {
            (epoch, given) = (epoch + 1, 0);
        }
        let mut state = State::default();
        let mut tell = |name: &str, value: u64| state.metadata.insert(name.to_string(), value.to_string());
        tell("epoch", epoch);
        tell("batches", given as u64);
        tell("samples", self.dataset.len() as u64);
        if let Some(seed) = self.options.shuffle {
            tell("seed", seed);
        }
        state
    }

    /// Has the next loop go on where a state was taken, of a loader of the same data set, with the same size of batches. What was
    /// given before is not made again.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a state that lacks something, of another number of samples or another seed. Then nothing was changed.
    #[track_caller]
    pub fn load_state(&self, state: &State) -> Result<()> {
        let read = |name: &str| match state.metadata.get(name).map(|text| text.parse::<u64>()) {
            Some(Ok(number)) => Ok(number),
            Some(Err(_)) => refuse(format!(
                "the state of a loader has a number as {name}, not {:?}",
                state.metadata[name]
            )),
            None => refuse(format!("the state of a loader has {name} too")),
        };
        let checked = || {
            let (samples, seed) = (self.dataset.len() as u64, self.options.shuffle);
            if read("samples")? != samples {
                return refuse(format!(
                    "the state is of {} samples, the data set has {samples}",
                    read("samples")?
                ));
            }
            let other = state.metadata.get("seed").map(|_| read("seed")).transpose()?;
            if other != seed {
                let told = |seed: Option<u64>| {
                    seed.map_or("not shuffled".into(), |seed| format!("shuffled by {seed}"))
                };
                return refuse(format!(
                    "the state is of batches {}, here they are {}",
                    told(other),
                    told(seed)
                ));
            }
            let given = read("batches")?;
            if given > self.len() as u64 {
                return refuse(format!("the state is behind batch {given} of {}", self.len()));
            }
            Ok((read("epoch")?, given as usize))
        };
        match checked() {
            Ok((epoch, given)) => {
                let mut position = locked(&self.position);
                *position = Position { epoch, given, is_resumed: true, turn: position.turn + 1 };
                Ok(())
            }
            Err(kind) => Err(Error::new("load_state", kind)),
        }
    }
}

impl<D: Dataset + 'static> IntoIterator for &DataLoader<D> {
    type Item = Result<Batch<D>>;
    type IntoIter = Loop<D>;

    #[track_caller]
    fn into_iter(self) -> Loop<D> {
        self.iter()
    }
}

/// What there is to do in an epoch.
struct Work<D> {
    dataset: Arc<D>,
    order: Arc<Epoch>,
    /// The number of batches.
    end: usize,
    /// Whether they are to be in page-locked memory.
    pins: bool,
}

impl<D: Dataset> Work<D> {
    /// The batch of this number.
    fn make(&self, number: usize) -> Result<Batch<D>> {
        let indices: Vec<usize> = self.order.get(number).iter().map(|&i| i as usize).collect();
        // A sampler may draw what is not there.
        let size = self.dataset.len();
        match indices.iter().find(|&&i| i >= size) {
            Some(&i) => Err(Error::new("DataLoader", ErrorKind::Index { index: i as i64, axis: 0, size })),
            None if self.pins => D::Sample::pinned(self.dataset.batch(&indices)?),
            None => self.dataset.batch(&indices),
        }
    }
}

/// What a thread has made: a batch, an error, or a panic.
type Made<B> = thread::Result<Result<B>>;

struct Jobs<B> {
    /// The number of the next batch that nobody makes yet.
    next: usize,
    /// Batches that the loop was given.
    given: usize,
    made: BTreeMap<usize, Made<B>>,
    is_over: bool,
}

/// Batches that are made ahead of the loop.
struct Ahead<B> {
    jobs: Mutex<Jobs<B>>,
    /// How many may be there that the loop was not given.
    most: usize,
    changed: Condvar,
}

impl<B: Send + 'static> Ahead<B> {
    /// A thread's work, until there is no more or the loop is over.
    fn serve<D: Dataset>(&self, work: &Work<D>)
    where
        D::Sample: Collate<Batch = B>,
    {
        loop {
            let number = {
                let mut jobs = locked(&self.jobs);
                while !jobs.is_over && jobs.next < work.end && jobs.next >= jobs.given + self.most {
                    jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                }
                if jobs.is_over || jobs.next >= work.end {
                    return;
                }
                jobs.next += 1;
                jobs.next - 1
            };
            // A panic is the loop's, as it would be without threads.
            let made = catch_unwind(AssertUnwindSafe(|| work.make(number)));
            locked(&self.jobs).made.insert(number, made);
            self.changed.notify_all();
        }
    }

    /// The batch of this number, when it is there.
    fn take(&self, number: usize) -> Made<B> {
        let mut jobs = locked(&self.jobs);
        loop {
            if let Some(made) = jobs.made.remove(&number) {
                jobs.given = number + 1;
                self.changed.notify_all();
                return made;
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Threads that end with the loop.
struct Threads<B: Send + 'static> {
    ahead: Arc<Ahead<B>>,
    handles: Vec<JoinHandle<Result<()>>>,
}

impl<B: Send + 'static> Drop for Threads<B> {
    fn drop(&mut self) {
        locked(&self.ahead.jobs).is_over = true;
        self.ahead.changed.notify_all();
        for handle in self.handles.drain(..) {
            // A thread's panic was told with its batch.
            let _ = handle.join();
        }
    }
}

/// One loop over a [`DataLoader`]: batches in order. A batch that fails is an error, and the next one follows it.
pub struct Loop<D: Dataset> {
    work: Arc<Work<D>>,
    given: usize,
    ahead: Option<Threads<Batch<D>>>,
    position: Arc<Mutex<Position>>,
    turn: u64,
}

impl<D: Dataset> Iterator for Loop<D> {
    type Item = Result<Batch<D>>;

    fn next(&mut self) -> Option<Result<Batch<D>>> {
        if self.given >= self.work.end {
            self.ahead = None;
            return None;
        }
        let number = self.given;
        self.given += 1;
        {
            let mut position = locked(&self.position);
            if position.turn == self.turn {
                position.given = self.given;
            }
        }
        match &self.ahead {
            None => Some(self.work.make(number)),
            Some(threads) => match threads.ahead.take(number) {
                Ok(made) => Some(made),
                Err(panic) => resume_unwind(panic),
            },
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.work.end - self.given;
        (left, Some(left))
    }
}

impl<D: Dataset> ExactSizeIterator for Loop<D> {}
