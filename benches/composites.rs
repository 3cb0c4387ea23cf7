//! What is composed of elementwise operations and reductions, forward and with its gradients.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{compare, curve, few, of_matrix, of_one};
use inputs::{labels, uniform};
use mg_autograd::{Tensor, grad};
use mg_device::Result;

/// Scores of ten classes for `n` numbers in all, and the right ones.
fn scores(n: usize) -> Result<(Tensor, Tensor)> {
    Ok((uniform(1, &[n / 10, 10], -1.0, 1.0)?, labels(2, n / 10, 10)?))
}

fn forward(criterion: &mut Criterion) -> Result<()> {
    of_matrix(criterion, "softmax", curve(), |x| x.try_softmax(Some(-1), None))?;
    of_matrix(criterion, "layer_norm", few(), |x| x.try_layer_norm(&[x.size(1)?], None, None, 1e-5))?;
    of_one(criterion, "gelu", few(), (-1.0, 1.0), |x| x.try_gelu("none"))?;
    compare(criterion, "cross_entropy", few(), scores, |(x, y)| {
        x.try_cross_entropy(y, None, -100, "mean", 0.0)?.realize().map(drop)
    })
}

/// The gradient of `f` at `x`, for ones from above.
fn gradient(x: &Tensor, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let x = x.detach().requires_grad_(true)?;
    let y = f(&x)?;
    let ones = y.ones_like();
    let gradients = grad(&[&y], &[&x], &[Some(&ones)], Default::default())?;
    Ok(gradients.into_iter().flatten().next().unwrap_or(x))
}

fn backward(criterion: &mut Criterion) -> Result<()> {
    of_matrix(criterion, "softmax gradient", few(), |x| {
        gradient(x, |x| x.try_softmax(Some(-1), None)?.try_square())
    })?;
    of_matrix(criterion, "layer_norm gradient", few(), |x| {
        gradient(x, |x| x.try_layer_norm(&[x.size(1)?], None, None, 1e-5)?.try_square())
    })?;
    of_one(criterion, "gelu gradient", few(), (-1.0, 1.0), |x| gradient(x, |x| x.try_gelu("none")))?;
    compare(criterion, "cross_entropy gradient", few(), scores, |(x, y)| {
        gradient(x, |x| x.try_cross_entropy(y, None, -100, "mean", 0.0))?.realize().map(drop)
    })
}

fn main() -> Result<()> {
    group::run(&[forward, backward])
}
