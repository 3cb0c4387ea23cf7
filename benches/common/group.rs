//! Criterion, set up to be quick: all benches together take minutes. Every group has the CPU and, where there is one, the CUDA
//! device side by side.

// Each bench takes what it needs.
#![allow(dead_code)]

use crate::inputs::uniform;
use criterion::{BenchmarkId, Criterion, Throughput};
use mg_autograd::{Tensor, set_default_device};
use mg_device::{Device, Result};
use std::time::{Duration, Instant};

/// A size that a group is timed at.
pub struct Size {
    /// What the inputs are made of.
    pub n: usize,
    /// What the report calls it: a number, where the report is to draw a line through all of them.
    pub label: String,
    /// Elements that a call reads, or what else its throughput is counted in.
    pub work: usize,
    /// Whether the CPU is timed too; what takes it seconds, or more memory than people have, is the GPU's alone.
    pub on_cpu: bool,
}

impl Size {
    /// A number of elements.
    pub fn of(n: usize) -> Size {
        Size { n, label: n.to_string(), work: n, on_cpu: n <= LARGEST_ON_CPU }
    }
}

/// From what one call's overhead decides to what memory decides.
const CURVE: [usize; 7] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 1 << 26, 1 << 28];
const FEW: [usize; 4] = [1_000, 30_000, 1_000_000, 1 << 24];
const LARGEST_ON_CPU: usize = 1 << 26;

/// The sizes of a curve, 10³ to 2²⁸.
pub fn curve() -> impl Iterator<Item = Size> {
    CURVE.into_iter().map(Size::of)
}

/// Fewer of them, to 2²⁴.
pub fn few() -> impl Iterator<Item = Size> {
    FEW.into_iter().map(Size::of)
}

/// Runs the groups of a bench with the arguments that `cargo bench` passes on.
pub fn run(groups: &[fn(&mut Criterion) -> Result<()>]) -> Result<()> {
    // Criterion advises against 1000 resamples and fewer, in a line above every run.
    let quick = Criterion::default()
        .sample_size(10)
        .nresamples(1_001)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200));
    let mut criterion = quick.configure_from_args();
    if let Err(why) = Device::cuda(0) {
        println!("skipped: no CUDA device ({})", why.kind());
    }
    for group in groups {
        group(&mut criterion)?;
    }
    criterion.final_summary();
    Ok(())
}

/// The name that a device has in reports, and the device.
fn devices() -> impl Iterator<Item = (&'static str, Device)> {
    let cuda = Device::cuda(0).ok().map(|device| ("cuda", device));
    [("cpu", Device::cpu())].into_iter().chain(cuda)
}

/// Times `call` of what `make` gives, at each size, on each device. Calls are amortised: criterion asks for a number of them,
/// they follow one another as in a user's loop, and the device is waited for once at their end.
pub fn compare<I>(
    criterion: &mut Criterion,
    name: &str,
    sizes: impl IntoIterator<Item = Size>,
    make: impl Fn(usize) -> Result<I>,
    call: impl Fn(&mut I) -> Result<()>,
) -> Result<()> {
    let mut group = criterion.benchmark_group(name);
    let mut failed = None;
    for size in sizes {
        for (device_name, device) in devices() {
            if device.is_cpu() && !size.on_cpu {
                continue;
            }
            group.throughput(Throughput::Elements(size.work as u64));
            set_default_device(device)?;
            // Made when the first round asks for it: a filter leaves most of them out.
            let mut inputs = None;
            group.bench_function(BenchmarkId::new(device_name, &size.label), |bencher| {
                bencher.iter_custom(|calls| {
                    let timed = timed(&mut inputs, || make(size.n), &call, device, calls);
                    timed.unwrap_or_else(|error| {
                        failed.get_or_insert(error);
                        // Criterion asks for more until some time has passed.
                        Duration::from_secs(1)
                    })
                })
            });
            drop(inputs);
            device.empty_cache();
        }
    }
    set_default_device(Device::cpu())?;
    group.finish();
    failed.map_or(Ok(()), Err)
}

fn timed<I>(
    inputs: &mut Option<I>,
    make: impl FnOnce() -> Result<I>,
    call: impl Fn(&mut I) -> Result<()>,
    device: Device,
    calls: u64,
) -> Result<Duration> {
    if inputs.is_none() {
        let mut made = make()?;
        // The first call plans and assembles.
        call(&mut made)?;
        *inputs = Some(made);
    }
    let Some(inputs) = inputs else { return Ok(Duration::ZERO) };
    device.synchronize()?;
    let start = Instant::now();
    for _ in 0..calls {
        call(inputs)?;
    }
    device.synchronize()?;
    Ok(start.elapsed())
}

/// Times a function of one vector, and the computing of its result.
pub fn of_one(
    criterion: &mut Criterion,
    name: &str,
    sizes: impl IntoIterator<Item = Size>,
    (low, high): (f64, f64),
    f: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    compare(
        criterion,
        name,
        sizes,
        |n| uniform(1, &[n], low, high),
        |x| f(x).and_then(|y| y.realize().map(drop)),
    )
}

/// Times a function of two vectors, and the computing of its result.
pub fn of_two(
    criterion: &mut Criterion,
    name: &str,
    sizes: impl IntoIterator<Item = Size>,
    f: impl Fn(&Tensor, &Tensor) -> Result<Tensor>,
) -> Result<()> {
    let make = |n| Ok((uniform(1, &[n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?));
    compare(criterion, name, sizes, make, |(a, b)| f(a, b).and_then(|y| y.realize().map(drop)))
}

/// Times a function of a matrix with about so many elements.
pub fn of_matrix(
    criterion: &mut Criterion,
    name: &str,
    sizes: impl IntoIterator<Item = Size>,
    f: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<()> {
    let columns = |n| match n {
        ..100_000 => 100,
        100_000..0x100_0000 => 1000,
        _ => 4096,
    };
    let make = |n| uniform(1, &[n / columns(n), columns(n)], -1.0, 1.0);
    compare(criterion, name, sizes, make, |x| f(x).and_then(|y| y.realize().map(drop)))
}
