//! Whole steps: a chain, alone and with its gradients, at all sizes, and a perceptron's training.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/mlp.rs"]
mod mlp;

use criterion::Criterion;
use group::{Size, compare, curve, of_two};
use inputs::{labels, uniform};
use mg_autograd::Tensor;
use mg_device::Result;
use mlp::{Rule, Trainer, WIDTHS};

/// `((a b + a).relu()²).sum()`
fn chain(a: &Tensor, b: &Tensor) -> Tensor {
    (a * b + a).relu().powf(2.0).sum()
}

fn chains(criterion: &mut Criterion) -> Result<()> {
    let sizes = || [Size::of(16)].into_iter().chain(curve());
    of_two(criterion, "chain", sizes(), |a, b| Ok(chain(a, b)))?;
    let leaf = |seed, n| uniform(seed, &[n], -1.0, 1.0)?.requires_grad_(true);
    compare(
        criterion,
        "chain with gradients",
        sizes(),
        |n| Ok((leaf(1, n)?, leaf(2, n)?)),
        |(a, b)| {
            a.zero_grad();
            b.zero_grad();
            let loss = chain(a, b);
            loss.backward()?;
            Tensor::realize_all([Some(loss), a.grad(), b.grad()].iter().flatten())
        },
    )
}

fn training(criterion: &mut Criterion) -> Result<()> {
    for rule in [Rule::Sgd, Rule::Adam] {
        let sizes = [32, 128, 1024, 8192].map(|n| Size { on_cpu: n <= 1024, ..Size::of(n) });
        let make = |batch| {
            let (x, y) = (uniform(1, &[batch, WIDTHS[0]], 0.0, 1.0)?, labels(2, batch, WIDTHS[3] as u64)?);
            Ok((Trainer::new(rule)?, x, y))
        };
        compare(criterion, &format!("perceptron with {rule:?}"), sizes, make, |(trainer, x, y)| {
            trainer.step(x, y).map(drop)
        })?;
    }
    Ok(())
}

fn main() -> Result<()> {
    group::run(&[chains, training])
}
