//! Two networks against each other: one draws handwritten digits from noise, the other tells them from real ones.
//!
//! ```text
//! cargo run --release --example dcgan -- [epochs [digits to draw [width [folder for pictures]]]]
//! ```
//!
//! Radford et al., "Unsupervised representation learning with deep convolutional generative adversarial networks" (2015). With a folder it writes
//! what is drawn from the same 64 noises after each epoch. It learns MNIST's files in the folder $MNIST_DIR; without
//! one, or where a number of digits to draw is above 0, digits that are drawn here (60,000).

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use micrograd_rs::default_device;
use micrograd_rs::nn::data::{Batches, Mnist};
use micrograd_rs::nn::optim::AdamOptions;
use micrograd_rs::nn::plot::{self, Image};
use micrograd_rs::nn::{ConvTranspose2d, ConvTransposeOptions, init};
use micrograd_rs::prelude::*;

const BATCH: usize = 64;
const NOISE: usize = 64;
const SEED: u64 = 1337;

fn up(from: usize, to: usize, kernel: usize, step: usize, bias: bool) -> Result<ConvTranspose2d> {
    let padding = [(kernel - step) / 2 * (step - 1); 2];
    let options = ConvTransposeOptions { stride: [step; 2], padding, bias, ..Default::default() };
    ConvTranspose2d::with_options(from, to, [kernel; 2], options)
}

fn down(from: usize, to: usize, bias: bool) -> Result<Conv2d> {
    let options = ConvOptions { stride: [2; 2], padding: Some([1; 2]), bias, ..ConvOptions::default() };
    Conv2d::with_options(from, to, [4; 2], options)
}

/// From `[n, 64, 1, 1]` to images `[n, 1, 28, 28]` from −1 to 1.
fn generator(width: usize) -> Result<Sequential> {
    Ok(sequential![
        up(NOISE, 4 * width, 7, 1, false)?,
        BatchNorm2d::new(4 * width)?,
        ReLU,
        up(4 * width, 2 * width, 4, 2, false)?,
        BatchNorm2d::new(2 * width)?,
        ReLU,
        up(2 * width, 1, 4, 2, true)?,
        Tanh,
    ])
}

/// From images to one number: above 0 for what seems real.
fn discriminator(width: usize) -> Result<Sequential> {
    Ok(sequential![
        down(1, width, true)?,
        LeakyReLU { negative_slope: 0.2 },
        down(width, 2 * width, false)?,
        BatchNorm2d::new(2 * width)?,
        LeakyReLU { negative_slope: 0.2 },
        Conv2d::with_options(2 * width, 1, [7; 2], ConvOptions::default())?,
        Flatten { start_dim: 0, end_dim: -1 },
    ])
}

/// Weights of convolutions as in the paper.
fn start(net: &Sequential) -> Result<()> {
    let weights = net.parameters().into_iter().filter(|p| p.rank() == 4);
    weights.into_iter().try_for_each(|weight| init::normal_(&weight, 0.0, 0.02, None))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (epochs, drawn, width) = (number(0, 5)? as u64, number(1, 0)?, number(2, 32)?);
    let data = Mnist::load_or_draw(None, drawn, 60_000, SEED)?;
    manual_seed(SEED);
    let real = Tensor::from_buffer(data.train_images.data, data.train_images.shape)?.unsqueeze(1)?;
    let real = real.to(default_device())?;
    real.realize()?;
    let (draws, judges) = (generator(width)?, discriminator(width)?);
    start(&draws)?;
    start(&judges)?;
    let options = AdamOptions { lr: 2e-4, betas: (0.5, 0.999), ..Default::default() };
    let adam = |net: &Sequential| Adam::with_options(net.parameters(), options);
    let (drawer, judge) = (RefCell::new(adam(&draws)?), RefCell::new(adam(&judges)?));
    let mut learn = jit(|indices: &[Tensor]| {
        let images = real.index_select(0, &indices[0])? / 127.5 - 1.0;
        let made = draws.forward(&Tensor::randn(&[BATCH, NOISE, 1, 1], DType::F32)?)?;
        let (seems_real, seems_drawn) = (judges.forward(&images)?, judges.forward(&made.detach())?);
        // A little less than certain that what is real is real: Salimans et al. (2016).
        let of_judge = BCEWithLogitsLoss::default().forward(&seems_real, &seems_real.full_like(0.9)?)?;
        let of_judge = of_judge + seems_drawn.softplus(1.0, 20.0).mean();
        let (mut drawer, mut judge) = (drawer.borrow_mut(), judge.borrow_mut());
        judge.zero_grad();
        of_judge.backward()?;
        judge.step()?;
        // Gradients reach the judge here too, and are forgotten with the next step.
        let of_drawer = (judges.forward(&made)? * -1.0).softplus(1.0, 20.0).mean();
        drawer.zero_grad();
        of_drawer.backward()?;
        drawer.step()?;
        let right =
            seems_real.gt(0.0).to_dtype(DType::F32).mean() + seems_drawn.lt(0.0).to_dtype(DType::F32).mean();
        Ok(vec![of_drawer, of_judge, right / 2.0])
    });
    let batches = Batches::new(real.size(0)?, BATCH, Some(SEED), true)?;
    let noise = Tensor::randn(&[64, NOISE, 1, 1], DType::F32)?;
    for epoch in 0..epochs {
        let (begun, order) = (Instant::now(), Tensor::from_slice(batches.epoch(epoch).order()));
        let mut sums = Tensor::zeros(&[3], DType::F32)?;
        for step in 0..batches.len() {
            let told = learn.call(&[&order.narrow(0, (step * BATCH) as isize, BATCH)?])?;
            sums = sums + Tensor::stack(&told.iter().collect::<Vec<_>>(), 0)?;
            sums.realize()?;
        }
        let means = (sums / batches.len() as f64).to_vec::<f32>()?;
        let ms = begun.elapsed().as_secs_f64() * 1e3 / batches.len().max(1) as f64;
        println!(
            "epoch {}: the drawer's loss {:.3}, the judge's {:.3}, which is right {:.0}% of the time; {ms:.1} ms a step",
            epoch + 1,
            means[0],
            means[1],
            means[2] * 100.0
        );
        if let Some(folder) = arguments.get(3).map(Path::new) {
            std::fs::create_dir_all(folder)?;
            draws.eval();
            let _guard = no_grad();
            let pixels = (draws.forward(&noise)? / 2.0 + 0.5).to_dtype(DType::F64).to_vec::<f64>()?;
            draws.train(true);
            let all: Vec<Image> =
                pixels.chunks(28 * 28).map(|one| Image::of_planes(one, 1, 28, 28)).collect();
            std::fs::write(folder.join(format!("epoch-{}.svg", epoch + 1)), plot::images(&all, 16, 1.5))?;
        }
    }
    Ok(())
}
