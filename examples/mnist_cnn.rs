//! A convolutional network learns to read handwritten digits: above 99 % of MNIST's test images after three epochs.
//!
//! ```text
//! cargo run --release --example mnist_cnn -- [epochs [digits to draw]]
//! ```
//!
//! Trains on MNIST's four files, as they are published, in the folder that $MNIST_DIR names; without it, or where a
//! number of digits to draw is above 0, on digits that are drawn here (60,000).

use std::cell::RefCell;
use std::time::Instant;

use micrograd_rs::default_device;
use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::nn::metrics::{Accuracy, Metric};
use micrograd_rs::nn::optim::{OneCycleLR, Scheduler};
use micrograd_rs::prelude::*;

const BATCH: usize = 128;
const SEED: u64 = 1337;

/// A convolution without bias: the normalisation behind it has one.
fn convolution(channels: usize, out: usize) -> Result<Conv2d> {
    Conv2d::with_options(channels, out, [3, 3], ConvOptions { bias: false, ..ConvOptions::default() })
}

/// Two convolutions, each normalised and halved by pooling, and two layers on what is left.
fn network() -> Result<Sequential> {
    Ok(sequential![
        convolution(1, 32)?,
        BatchNorm2d::new(32)?,
        ReLU,
        MaxPool2d::new([2, 2]),
        convolution(32, 64)?,
        BatchNorm2d::new(64)?,
        ReLU,
        MaxPool2d::new([2, 2]),
        Flatten::default(),
        Linear::new(64 * 5 * 5, 128)?,
        ReLU,
        Dropout::new(0.3)?,
        Linear::new(128, 10)?,
    ])
}

/// Images stay bytes, where the work is done; a batch becomes numbers when it is used.
struct Set {
    images: Tensor,
    labels: Tensor,
}

impl Set {
    fn new(images: Idx, labels: Idx) -> Result<Set> {
        let images = Tensor::from_buffer(images.data, images.shape)?.unsqueeze(1)?.to(default_device())?;
        let labels =
            Tensor::from_buffer(labels.data, labels.shape)?.to_dtype(DType::I64).to(default_device())?;
        Tensor::realize_all([&images, &labels])?;
        Ok(Set { images, labels })
    }

    fn batch(&self, indices: &Tensor) -> Result<(Tensor, Tensor)> {
        Ok((self.images.index_select(0, indices)? / 255.0, self.labels.index_select(0, indices)?))
    }
}

fn accuracy(model: &Sequential, set: &Set) -> Result<f64> {
    let _guard = no_grad();
    model.eval();
    let mut right = Accuracy::new(1)?;
    let all = Tensor::arange(set.labels.numel());
    for at in (0..set.labels.numel()).step_by(1000) {
        let (x, y) = set.batch(&all.narrow(0, at as isize, 1000.min(set.labels.numel() - at))?)?;
        right.update(&model.forward(&x)?, Some(&y))?;
    }
    model.train(true);
    Ok(f64::from(right.compute()?.item::<f32>()?))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let epochs: u64 = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let drawn: usize = arguments.next().map_or(Ok(0), |text| text.parse())?;
    let data = Mnist::load_or_draw(None, drawn, 60_000, SEED)?;
    manual_seed(SEED);
    let train = Set::new(data.train_images, data.train_labels)?;
    let test = Set::new(data.test_images, data.test_labels)?;
    let model = network()?;
    let adam = RefCell::new(Adam::new(model.parameters(), 1e-3)?);
    let batches = Batches::new(train.labels.numel(), BATCH, Some(SEED), true)?;
    let steps = epochs * batches.len() as u64;
    let mut schedule = Scheduler::new(&mut *adam.borrow_mut(), OneCycleLR::new(8e-3, steps + 1)?)?;
    let mut learn = jit(|indices: &[Tensor]| {
        let (x, y) = train.batch(&indices[0])?;
        let loss = CrossEntropyLoss::default().forward(&model.forward(&x)?, &y)?;
        let mut adam = adam.borrow_mut();
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        Ok(vec![loss])
    });
    for epoch in 0..epochs {
        let start = Instant::now();
        // The order of the whole epoch is one tensor; a batch is a piece of it.
        let order = Tensor::from_slice(batches.epoch(epoch).order());
        let mut last = None;
        for step in 0..batches.len() {
            last = learn.call(&[&order.narrow(0, (step * BATCH) as isize, BATCH)?])?.pop();
            schedule.step(&mut *adam.borrow_mut())?;
        }
        let loss = last.map_or(Ok(f32::NAN), |loss| loss.item::<f32>())?;
        let seconds = start.elapsed().as_secs_f64();
        let right = 100.0 * accuracy(&model, &test)?;
        println!(
            "epoch {}: loss {loss:.4}, {right:.2} % of the test images right, {seconds:.1} s",
            epoch + 1
        );
    }
    Ok(())
}
