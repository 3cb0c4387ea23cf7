//! Matrix products: square ones, those of a layer's forward and backward pass, and products with a vector. Throughput is in
//! multiply-adds.

#[path = "common/group.rs"]
mod group;
#[path = "common/inputs.rs"]
mod inputs;

use criterion::Criterion;
use group::time;
use inputs::uniform;
use mg_device::Result;

fn square(criterion: &mut Criterion) -> Result<()> {
    for n in [32, 64, 128, 256, 512, 1024, 2048] {
        let (a, b) = (uniform(1, &[n, n], -1.0, 1.0)?, uniform(2, &[n, n], -1.0, 1.0)?);
        time(criterion, "matmul", &n.to_string(), n * n * n, || a.try_matmul(&b))?;
    }
    Ok(())
}

/// `x (batch, in)` and a weight `(out, in)`, as the layers of the perceptron have them.
fn layer(criterion: &mut Criterion) -> Result<()> {
    for (batch, fan_in, fan_out) in [(32, 784, 512), (128, 784, 512), (128, 512, 256), (128, 256, 10)] {
        let x = uniform(1, &[batch, fan_in], -1.0, 1.0)?;
        let weight = uniform(2, &[fan_out, fan_in], -1.0, 1.0)?;
        let bias = uniform(3, &[fan_out], -1.0, 1.0)?;
        let gradient = uniform(4, &[batch, fan_out], -1.0, 1.0)?;
        let (size, work) = (format!("{batch}x{fan_in}x{fan_out}"), batch * fan_in * fan_out);
        let forward = || Ok(x.try_matmul(&weight.t())?.try_add(&bias)?.relu());
        time(criterion, "layer forward", &size, work, forward)?;
        time(criterion, "layer's gradient of x", &size, work, || gradient.try_matmul(&weight))?;
        time(criterion, "layer's gradient of weight", &size, work, || gradient.t().try_matmul(&x))?;
    }
    Ok(())
}

fn vector(criterion: &mut Criterion) -> Result<()> {
    for n in [64, 512, 4096] {
        let (a, x) = (uniform(1, &[n, n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?);
        time(criterion, "matrix times vector", &n.to_string(), n * n, || a.try_matmul(&x))?;
    }
    Ok(())
}

fn main() -> Result<()> {
    group::run(&[square, layer, vector])
}
