//! Long training leaves memory as it was.

use mg_autograd::{Tensor, default_device, jit, manual_seed};
use mg_device::{DType, MemoryStats, Result};
use mg_nn::optim::{Optimizer, SGD, SGDOptions};
use mg_nn::*;

/// Steps after which plans, caches and the allocator hold what they are going to hold.
const SETTLED: usize = 1_000;
/// Steps between two looks at the loss.
const LOOK: usize = 1_000;
/// What the process may take more of by the end: the C library's arenas settle late.
const SLACK: usize = 4 << 20;

/// Memory of this process; 0 where the system does not tell.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok()).unwrap_or(0) * 1024
}

fn held(stats: MemoryStats) -> usize {
    stats.active + stats.cached
}

/// `MG_STEPS` steps of the perceptron 784-512-256-10, 100,000 on a GPU and 10,000 on the CPU unless it says otherwise.
fn train(replayed: bool) -> Result<()> {
    let device = default_device();
    let asked = std::env::var("MG_STEPS").ok().and_then(|steps| steps.parse().ok());
    let steps = asked.unwrap_or(if device.is_cpu() { 10_000 } else { 100_000 });
    let batch = if device.is_cpu() { 32 } else { 128 };
    manual_seed(1);
    let model =
        sequential![Linear::new(784, 512)?, ReLU, Linear::new(512, 256)?, ReLU, Linear::new(256, 10)?];
    // Not Adam: of a batch that stays the same the gradients vanish, and then its steps are noise over next to nothing.
    let momentum = SGDOptions { lr: 0.01, momentum: 0.9, ..Default::default() };
    let mut sgd = SGD::with_options(model.parameters(), momentum)?;
    let x = Tensor::rand(&[batch, 784], DType::F32)?;
    let y = Tensor::from_slice(&(0..batch as i64).map(|i| i % 10).collect::<Vec<_>>());
    let mut plain = move |x: &Tensor, y: &Tensor| -> Result<Tensor> {
        let loss = model.forward(x)?.try_cross_entropy(y, None, -100, "mean", 0.0)?;
        sgd.zero_grad();
        loss.backward()?;
        sgd.step()?;
        Ok(loss)
    };
    let mut step: Box<dyn FnMut() -> Result<Tensor>> = if replayed {
        let mut step = jit(move |inputs: &[Tensor]| Ok(vec![plain(&inputs[0], &inputs[1])?]));
        Box::new(move || Ok(step.call(&[&x, &y])?.remove(0)))
    } else {
        Box::new(move || plain(&x, &y))
    };
    let first = step()?.item::<f32>()?;
    let (mut last, mut before) = (first, None);
    for i in 1..=steps {
        let loss = step()?;
        if i % LOOK == 0 || i == steps {
            last = loss.item::<f32>()?;
            assert!(last.is_finite(), "step {i}: the loss is {last}");
        }
        drop(loss);
        if i == SETTLED.min(steps / 2) {
            device.synchronize()?;
            before = Some((device.memory_stats(), resident()));
        }
    }
    device.synchronize()?;
    let (stats, process) = (device.memory_stats(), resident());
    let Some((settled, process_settled)) = before else { panic!("{steps} steps are too few") };
    println!(
        "{device}{}: {steps} steps of {batch}, loss {first:.3} to {last:.1e}; active {} B, then {} B; active and cached {} B, then {} B; \
         process {process_settled} B, then {process} B",
        if replayed { ", replayed" } else { "" },
        settled.active,
        stats.active,
        held(settled),
        held(stats),
    );
    assert!(last < first / 10.0, "the loss went from {first} to {last}");
    assert!(stats.active <= settled.active, "active: {} B, then {} B", settled.active, stats.active);
    assert!(held(stats) <= held(settled), "active and cached: {} B, then {} B", held(settled), held(stats));
    assert!(process <= process_settled + SLACK, "the process: {process_settled} B, then {process} B");
    Ok(())
}

#[test]
#[ignore = "takes half a minute; cargo test --release -p mg-nn --test sustained -- --ignored --nocapture"]
fn memory_stays_flat() -> Result<()> {
    train(false)?;
    train(true)
}
