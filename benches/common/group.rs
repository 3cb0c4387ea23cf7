//! Criterion, set up to be quick: all benches together take minutes.

// Each bench takes what it needs.
#![allow(dead_code)]

use crate::inputs::uniform;
use criterion::{Criterion, Throughput};
use mg_autograd::Tensor;
use mg_device::Result;
use std::time::Duration;

/// From what one call's overhead decides to what memory decides.
pub const SIZES: [usize; 4] = [1_000, 30_000, 1_000_000, 1 << 24];

/// Runs the groups of a bench with the arguments that `cargo bench` passes on.
pub fn run(groups: &[fn(&mut Criterion) -> Result<()>]) -> Result<()> {
    let quick = Criterion::default()
        .sample_size(10)
        .nresamples(1_000)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200));
    let mut criterion = quick.configure_from_args();
    for group in groups {
        group(&mut criterion)?;
    }
    criterion.final_summary();
    Ok(())
}

/// Times `f` and the computing of its result; `elements` are what it reads.
pub fn time(
    criterion: &mut Criterion,
    name: &str,
    size: &str,
    elements: usize,
    f: impl Fn() -> Result<Tensor>,
) -> Result<()> {
    // Before it is timed, so that a mistake is told as such.
    f()?.realize()?;
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(elements as u64));
    group.bench_function(size, |bencher| bencher.iter(|| f().and_then(|y| y.realize().cloned())));
    group.finish();
    Ok(())
}

/// Times a function of one vector at each of [`SIZES`].
pub fn of_one(
    criterion: &mut Criterion,
    name: &str,
    (low, high): (f64, f64),
    f: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    for n in SIZES {
        let x = uniform(1, &[n], low, high)?;
        time(criterion, name, &n.to_string(), n, || f(&x))?;
    }
    Ok(())
}

/// Times a function of a matrix with 1000 or fewer columns, at about each of [`SIZES`].
pub fn of_matrix(criterion: &mut Criterion, name: &str, f: impl Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    for n in SIZES {
        let columns = if n < 100_000 { 100 } else { 1000 };
        let x = uniform(1, &[n / columns, columns], -1.0, 1.0)?;
        time(criterion, name, &format!("{}x{columns}", n / columns), x.numel(), || f(&x))?;
    }
    Ok(())
}
