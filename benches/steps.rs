//! Whole steps: a chain with its gradients at all sizes, and a perceptron's training.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/mlp.rs"]
mod mlp;

use criterion::{Criterion, Throughput};
use group::SIZES;
use inputs::{labels, uniform};
use mg_autograd::Tensor;
use mg_device::Result;
use mlp::{Rule, Trainer, WIDTHS};

/// `((a b + a).relu()²).sum()` with both gradients.
fn chain_step(a: &Tensor, b: &Tensor) -> Result<()> {
    a.zero_grad();
    b.zero_grad();
    let loss = (a * b + a).relu().powf(2.0).sum();
    loss.backward()?;
    Tensor::realize_all([Some(loss), a.grad(), b.grad()].iter().flatten())
}

fn chain(criterion: &mut Criterion) -> Result<()> {
    for n in [16].into_iter().chain(SIZES) {
        let leaf = |seed| uniform(seed, &[n], -1.0, 1.0)?.requires_grad_(true);
        let (a, b) = (leaf(1)?, leaf(2)?);
        chain_step(&a, &b)?;
        let mut group = criterion.benchmark_group("chain with gradients");
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(n.to_string(), |bencher| bencher.iter(|| chain_step(&a, &b)));
        group.finish();
    }
    Ok(())
}

fn training(criterion: &mut Criterion) -> Result<()> {
    for rule in [Rule::Sgd, Rule::Adam] {
        for batch in [32, 128, 1024] {
            let (x, y) = (uniform(1, &[batch, WIDTHS[0]], 0.0, 1.0)?, labels(2, batch, WIDTHS[3] as u64)?);
            let mut trainer = Trainer::new(rule)?;
            trainer.step(&x, &y)?;
            let mut group = criterion.benchmark_group(format!("perceptron with {rule:?}"));
            group.throughput(Throughput::Elements(batch as u64));
            group.bench_function(batch.to_string(), |bencher| bencher.iter(|| trainer.step(&x, &y)));
            group.finish();
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    group::run(&[chain, training])
}
