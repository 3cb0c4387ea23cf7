//! Matrix products: square ones, those of a layer's forward and backward pass, and products with a vector. Throughput is in
//! multiply-adds.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::{Size, compare};
use inputs::uniform;
use mg_device::Result;

fn square(criterion: &mut Criterion) -> Result<()> {
    let sizes = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
    let sizes = sizes.map(|n| Size { work: n * n * n, on_cpu: n <= 2048, ..Size::of(n) });
    let make = |n| Ok((uniform(1, &[n, n], -1.0, 1.0)?, uniform(2, &[n, n], -1.0, 1.0)?));
    compare(criterion, "matmul", sizes, make, |(a, b)| a.try_matmul(&*b)?.realize().map(drop))
}

/// `x (batch, in)` and a weight `(out, in)`, as the layers of the perceptron have them.
fn layer(criterion: &mut Criterion) -> Result<()> {
    const LAYERS: [(usize, usize, usize); 4] =
        [(32, 784, 512), (128, 784, 512), (128, 512, 256), (128, 256, 10)];
    let sizes = || {
        LAYERS.into_iter().enumerate().map(|(n, (batch, fan_in, fan_out))| {
            let label = format!("{batch}x{fan_in}x{fan_out}");
            Size { n, label, work: batch * fan_in * fan_out, on_cpu: true }
        })
    };
    let make = |n: usize| {
        let (batch, fan_in, fan_out) = LAYERS[n];
        let x = uniform(1, &[batch, fan_in], -1.0, 1.0)?;
        let weight = uniform(2, &[fan_out, fan_in], -1.0, 1.0)?;
        let bias = uniform(3, &[fan_out], -1.0, 1.0)?;
        let gradient = uniform(4, &[batch, fan_out], -1.0, 1.0)?;
        Ok([x, weight, bias, gradient])
    };
    compare(criterion, "layer forward", sizes(), make, |[x, weight, bias, _]| {
        x.try_matmul(&weight.t())?.try_add(&*bias)?.relu().realize().map(drop)
    })?;
    compare(criterion, "layer's gradient of x", sizes(), make, |[_, weight, _, gradient]| {
        gradient.try_matmul(&*weight)?.realize().map(drop)
    })?;
    compare(criterion, "layer's gradient of weight", sizes(), make, |[x, _, _, gradient]| {
        gradient.t().try_matmul(&*x)?.realize().map(drop)
    })
}

fn vector(criterion: &mut Criterion) -> Result<()> {
    let sizes = [64, 512, 4096].map(|n| Size { work: n * n, ..Size::of(n) });
    let make = |n| Ok((uniform(1, &[n, n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?));
    compare(criterion, "matrix times vector", sizes, make, |(a, x)| a.try_matmul(&*x)?.realize().map(drop))
}

fn main() -> Result<()> {
    group::run(&[square, layer, vector])
}
