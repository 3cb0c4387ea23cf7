//! Metrics: what is told of predictions over many batches, added up on the device.
//!
//! [`Metric::update`] reads nothing on the host; what was added up is a tensor, and so is what [`Metric::compute`]
//! makes of it.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::metrics::{Accuracy, Metric};
//!
//! let mut accuracy = Accuracy::new(1)?;
//! let scores = Tensor::from_slice(&[0.1f32, 0.9, 0.8, 0.2]).reshape(&[2, 2])?;
//! accuracy.update(&scores, Some(&Tensor::from_slice(&[1i64, 1])))?;
//! assert_eq!(accuracy.compute()?.item::<f32>()?, 0.5);
//! # Ok::<(), mg_device::Error>(())
//! ```

mod classes;
mod numbers;
mod ranks;

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};

pub use classes::{Accuracy, Average, ConfusionMatrix, F1Score, Normalize, Precision, Recall};
pub use numbers::{Mean, MeanAbsoluteError, MeanSquaredError, Perplexity, R2Score};
pub use ranks::Auroc;

/// What is told of predictions.
pub trait Metric: Send {
    /// Adds a batch. Which metrics take a target, and of what shape, their constructors say.
    ///
    /// # Errors
    ///
    /// Shapes and dtypes that do not fit; what computing the sums fails with, labels out of range among it.
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()>;

    /// The metric of all batches so far. Where there was none, it is no number.
    ///
    /// # Errors
    ///
    /// Too little memory.
    fn compute(&self) -> Result<Tensor>;

    /// Begins anew.
    ///
    /// # Errors
    ///
    /// Too little memory.
    fn reset(&mut self) -> Result<()>;
}

/// Sums on the device of the first batch, in memory of their own: what `jit` records adds to the same ones.
#[derive(Debug, Default)]
struct Sums {
    held: Vec<Tensor>,
}

impl Sums {
    /// Adds a number, or a tensor, to each sum. The first call says how many there are, of what shapes and dtypes.
    fn add(&mut self, parts: &[Tensor]) -> Result<()> {
        let _guard = no_grad();
        if self.held.is_empty() {
            let zeros = parts.iter().map(|part| {
                let zeros = part.zeros_like().copy();
                zeros.realize()?;
                Ok(zeros)
            });
            self.held = zeros.collect::<Result<_>>()?;
        }
        for (held, part) in self.held.iter().zip(parts) {
            held.assign(held.try_add(part.to(held.device())?)?)?;
        }
        Tensor::realize_all(&self.held)
    }

    /// The sums, or zeros without axes where nothing was added.
    fn all<const N: usize>(&self) -> [Tensor; N] {
        std::array::from_fn(|i| self.held.get(i).map_or_else(|| Tensor::scalar(0.0f64), Tensor::clone))
    }

    /// Writes zeros, where recordings look for them.
    fn reset(&self) -> Result<()> {
        let _guard = no_grad();
        for held in &self.held {
            held.assign(held.zeros_like())?;
        }
        Tensor::realize_all(&self.held)
    }
}

fn misfit<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Shape(text)))
}

/// The target of a metric that needs one.
fn wanted<'a>(op: &'static str, target: Option<&'a Tensor>) -> Result<&'a Tensor> {
    target.ok_or_else(|| {
        Error::new(op, ErrorKind::Value("takes predictions and targets, got no targets".into()))
    })
}

/// A quotient of sums, as a tensor of f32 without axes.
fn ratio(over: &Tensor, under: &Tensor) -> Result<Tensor> {
    Ok(over.to_dtype(DType::F64).try_div(under.to_dtype(DType::F64))?.to_dtype(DType::F32))
}

/// How many elements there are, as a tensor.
fn count(n: usize, device: Device) -> Result<Tensor> {
    Tensor::scalar(n as i64).to(device)
}

/// A metric by name, with its options by name: for bindings to other languages. `None` where there is no such metric.
///
/// # Errors
///
/// Options that do not fit.
pub fn metric(kind: &str, number: i64, word: &str) -> Option<Result<Box<dyn Metric>>> {
    fn boxed<M: Metric + 'static>(made: Result<M>) -> Result<Box<dyn Metric>> {
        made.map(|m| Box::new(m) as Box<dyn Metric>)
    }
    Some(match kind {
        "Accuracy" => boxed(Accuracy::new(number)),
        "ConfusionMatrix" => boxed(Normalize::named(word).and_then(|n| ConfusionMatrix::new(number, n))),
        "Precision" => boxed(Average::named(word).and_then(|a| Precision::new(number, a))),
        "Recall" => boxed(Average::named(word).and_then(|a| Recall::new(number, a))),
        "F1Score" => boxed(Average::named(word).and_then(|a| F1Score::new(number, a))),
        "AUROC" => boxed(Ok(Auroc::new())),
        "Mean" => boxed(Ok(Mean::new())),
        "MeanSquaredError" => boxed(Ok(MeanSquaredError::new())),
        "MeanAbsoluteError" => boxed(Ok(MeanAbsoluteError::new())),
        "R2Score" => boxed(Ok(R2Score::new())),
        "Perplexity" => boxed(Ok(Perplexity::new(number))),
        _ => return None,
    })
}
