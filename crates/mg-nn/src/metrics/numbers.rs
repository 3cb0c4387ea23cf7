//! Metrics of numbers.

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Result};

use super::{Metric, Sums, count, misfit, ratio, wanted};

/// The sum, in f64.
fn total(t: &Tensor) -> Tensor {
    t.to_dtype(DType::F64).sum()
}

macro_rules! made {
    ($($Name:ident)*) => {$(
        impl $Name {
            /// Of no batch yet.
            #[must_use]
            pub fn new() -> $Name {
                $Name::default()
            }
        }
    )*};
}
made!(Mean MeanSquaredError MeanAbsoluteError R2Score);

/// The mean of numbers, of losses say. The target, where there is one, is their weights, or the weight of all of
/// them.
#[derive(Debug, Default)]
pub struct Mean {
    sums: Sums,
}

impl Metric for Mean {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        match target {
            Some(weights) => {
                let weights = weights.to(input.device())?.to_dtype(DType::F64).expand_as(input)?;
                self.sums.add(&[total(&input.to_dtype(DType::F64).try_mul(&weights)?), total(&weights)])
            }
            None => self.sums.add(&[total(input), total(&count(input.numel(), input.device())?)]),
        }
    }

    fn compute(&self) -> Result<Tensor> {
        let [sum, weight] = self.sums.all();
        ratio(&sum, &weight)
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// The difference of predictions and targets of one shape, in f64.
fn difference(op: &'static str, input: &Tensor, target: Option<&Tensor>) -> Result<(Tensor, Tensor)> {
    let target = wanted(op, target)?;
    if input.shape() != target.shape() {
        return misfit(op, format!("takes equal shapes, got {} and {}", input.shape(), target.shape()));
    }
    let target = target.to_dtype(DType::F64);
    Ok((input.to_dtype(DType::F64).try_sub(&target)?, target))
}

/// The mean of squared differences of predictions and targets.
#[derive(Debug, Default)]
pub struct MeanSquaredError {
    sums: Sums,
}

impl Metric for MeanSquaredError {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let (d, _) = difference("MeanSquaredError", input, target)?;
        self.sums.add(&[d.try_square()?.sum(), count(d.numel(), d.device())?])
    }

    fn compute(&self) -> Result<Tensor> {
        let [sum, n] = self.sums.all();
        ratio(&sum, &n)
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// The mean of how far predictions are from targets.
#[derive(Debug, Default)]
pub struct MeanAbsoluteError {
    sums: Sums,
}

impl Metric for MeanAbsoluteError {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let (d, _) = difference("MeanAbsoluteError", input, target)?;
        self.sums.add(&[d.try_abs()?.sum(), count(d.numel(), d.device())?])
    }

    fn compute(&self) -> Result<Tensor> {
        let [sum, n] = self.sums.all();
        ratio(&sum, &n)
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// The part of the targets' variance that predictions account for: `1 − Σ(y − ŷ)² / Σ(y − ȳ)²`.
#[derive(Debug, Default)]
pub struct R2Score {
    sums: Sums,
}

impl Metric for R2Score {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let (d, y) = difference("R2Score", input, target)?;
        let n = total(&count(d.numel(), d.device())?);
        self.sums.add(&[d.try_square()?.sum(), y.sum(), y.try_square()?.sum(), n])
    }

    fn compute(&self) -> Result<Tensor> {
        let [left, sum, squares, n] = self.sums.all();
        let spread = squares.try_sub(sum.try_square()?.try_div(n)?)?;
        Ok(Tensor::scalar(1.0f64).to(left.device())?.try_sub(left.try_div(spread)?)?.to_dtype(DType::F32))
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// The exponential of the mean cross-entropy of scores `[n, classes, …]` (before the softmax) and labels `[n, …]`;
/// labels of one value are left out.
#[derive(Debug)]
pub struct Perplexity {
    ignore_index: i64,
    sums: Sums,
}

impl Perplexity {
    /// That leaves out this label.
    #[must_use]
    pub fn new(ignore_index: i64) -> Perplexity {
        Perplexity { ignore_index, sums: Sums::default() }
    }
}

impl Metric for Perplexity {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let target = wanted("Perplexity", target)?;
        let loss =
            input.to_dtype(DType::F32).try_cross_entropy(target, None, self.ignore_index, "sum", 0.0)?;
        let n = target.try_ne(self.ignore_index)?.to_dtype(DType::I64).sum();
        self.sums.add(&[loss.to_dtype(DType::F64), n])
    }

    fn compute(&self) -> Result<Tensor> {
        let [loss, n] = self.sums.all();
        Ok(loss.try_div(n.to_dtype(DType::F64))?.try_exp()?.to_dtype(DType::F32))
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}
