//! What is composed of elementwise operations and reductions, forward and with its gradients.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{SIZES, of_matrix, of_one, time};
use inputs::{labels, uniform};
use mg_autograd::{Tensor, grad};
use mg_device::Result;

fn forward(criterion: &mut Criterion) -> Result<()> {
    of_matrix(criterion, "softmax", |x| x.softmax(-1))?;
    of_matrix(criterion, "layer_norm", |x| x.layer_norm(&[x.size(1)?], None, None, 1e-5))?;
    of_one(criterion, "gelu", (-1.0, 1.0), |x| Ok(x.gelu()))?;
    for n in SIZES {
        let rows = n / 10;
        let (x, y) = (uniform(1, &[rows, 10], -1.0, 1.0)?, labels(2, rows, 10)?);
        time(criterion, "cross_entropy", &format!("{rows}x10"), rows * 10, || x.cross_entropy(&y))?;
    }
    Ok(())
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
    of_matrix(criterion, "softmax gradient", |x| gradient(x, |x| x.softmax(-1)?.try_square()))?;
    of_matrix(criterion, "layer_norm gradient", |x| {
        gradient(x, |x| x.layer_norm(&[x.size(1)?], None, None, 1e-5)?.try_square())
    })?;
    of_one(criterion, "gelu gradient", (-1.0, 1.0), |x| gradient(x, |x| Ok(x.gelu())))?;
    for n in SIZES {
        let rows = n / 10;
        let (x, y) = (uniform(1, &[rows, 10], -1.0, 1.0)?, labels(2, rows, 10)?);
        time(criterion, "cross_entropy gradient", &format!("{rows}x10"), rows * 10, || {
            gradient(&x, |x| x.cross_entropy(&y))
        })?;
    }
    Ok(())
}

fn main() -> Result<()> {
    group::run(&[forward, backward])
}
