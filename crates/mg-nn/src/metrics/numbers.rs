//! Metrics of numbers.

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Result};

use super::{Metric, Sums, count, misfit, ratio, wanted};

/// The sum, in f64.
fn total(t: &Tensor) -> Tensor {
    t.to_dtype(DType::F64).sum()
}

/// Metrics that are sums and what is made of them: what a batch adds to each, and the answer.
macro_rules! sums {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident: |$input:ident, $target:ident| $parts:expr, |[$($sum:ident),+]| $answer:expr;
    )*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Default)]
        pub struct $Name {
            sums: Sums,
        }

        impl $Name {
            /// Of no batch yet.
            #[must_use]
            pub fn new() -> $Name {
                $Name::default()
            }
        }

        impl Metric for $Name {
            fn update(&mut self, $input: &Tensor, $target: Option<&Tensor>) -> Result<()> {
                let _guard = no_grad();
                self.sums.add(&$parts)
            }

            fn compute(&self) -> Result<Tensor> {
                let [$($sum),+] = self.sums.all();
                $answer
            }

            fn reset(&mut self) -> Result<()> {
                self.sums.reset()
            }
        }
    )*};
}
sums! {
    /// The mean of numbers, of losses say. The target, where there is one, is their weights, or the weight of all of
    /// them.
    Mean: |input, target| weighted(input, target)?, |[sum, weight]| ratio(&sum, &weight);
    /// The mean of squared differences of predictions and targets.
    MeanSquaredError: |input, target| {
        let (d, _) = difference("MeanSquaredError", input, target)?;
        [d.try_square()?.sum(), count(d.numel(), d.device())?]
    }, |[sum, n]| ratio(&sum, &n);
    /// The mean of how far predictions are from targets.
    MeanAbsoluteError: |input, target| {
        let (d, _) = difference("MeanAbsoluteError", input, target)?;
        [d.try_abs()?.sum(), count(d.numel(), d.device())?]
    }, |[sum, n]| ratio(&sum, &n);
    /// The part of the targets' variance that predictions account for: `1 − Σ(y − ŷ)² / Σ(y − ȳ)²`.
    R2Score: |input, target| {
        let (d, y) = difference("R2Score", input, target)?;
        let n = total(&count(d.numel(), d.device())?);
        [d.try_square()?.sum(), y.sum(), y.try_square()?.sum(), n]
    }, |[left, sum, squares, n]| {
        let spread = squares.try_sub(sum.try_square()?.try_div(n)?)?;
        Ok(Tensor::scalar(1.0f64).to(left.device())?.try_sub(left.try_div(spread)?)?.to_dtype(DType::F32))
    };
}

/// The sum of numbers times their weights, and that of the weights.
fn weighted(input: &Tensor, weights: Option<&Tensor>) -> Result<[Tensor; 2]> {
    let Some(weights) = weights else {
        return Ok([total(input), total(&count(input.numel(), input.device())?)]);
    };
    let weights = weights.to(input.device())?.to_dtype(DType::F64).expand_as(input)?;
    Ok([total(&input.to_dtype(DType::F64).try_mul(&weights)?), total(&weights)])
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
