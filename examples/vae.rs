//! A variational autoencoder squeezes handwritten digits into two numbers, and draws digits from any two.
//!
//! ```text
//! cargo run --release --example vae -- [epochs [digits to draw [folder for pictures]]]
//! ```
//!
//! Kingma and Welling, "Auto-encoding variational Bayes" (2013). With a folder it writes plane.svg, where each test
//! image lies in the plane, and digits.svg, what is drawn from places all over it. It learns MNIST's files in the
//! folder $MNIST_DIR; without one, or where a number of digits to draw is above 0, digits that are drawn here (60,000).

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use micrograd_rs::default_device;
use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::nn::optim::{CosineAnnealingLR, Scheduler};
use micrograd_rs::nn::plot::{self, Curves, Image};
use micrograd_rs::prelude::*;

const BATCH: usize = 128;
const PIXELS: usize = 28 * 28;
const SEED: u64 = 1337;

#[derive(Module)]
struct Vae {
    encoder: Sequential,
    mean: Linear,
    log_variance: Linear,
    decoder: Sequential,
}

impl Vae {
    fn new(hidden: usize, latent: usize) -> Result<Vae> {
        Ok(Vae {
            encoder: sequential![Linear::new(PIXELS, hidden)?, SiLU, Linear::new(hidden, 128)?, SiLU],
            mean: Linear::new(128, latent)?,
            log_variance: Linear::new(128, latent)?,
            decoder: sequential![
                Linear::new(latent, 128)?,
                SiLU,
                Linear::new(128, hidden)?,
                SiLU,
                Linear::new(hidden, PIXELS)?
            ],
        })
    }

    fn encode(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let h = self.encoder.forward(x)?;
        Ok((self.mean.forward(&h)?, self.log_variance.forward(&h)?))
    }

    /// The evidence's lower bound, with its sign turned: nats an image.
    fn loss(&self, x: &Tensor) -> Result<Tensor> {
        let (mean, log_variance) = self.encode(x)?;
        let z = &mean + (&log_variance / 2.0).exp() * Tensor::randn(&mean.shape(), mean.dtype())?;
        let drawn = BCEWithLogitsLoss { reduction: Reduction::Sum, ..Default::default() }
            .forward(&self.decoder.forward(&z)?, x)?;
        // How far the code of an image is from the normal distribution that codes are drawn from.
        let apart = (mean.square() + log_variance.exp() - 1.0 - &log_variance).sum() * 0.5;
        Ok((drawn + apart) / x.size(0)? as f64)
    }
}

fn images(images: Idx) -> Result<Tensor> {
    let images = Tensor::from_buffer(images.data, images.shape)?.flatten(1, -1)?.to(default_device())?;
    images.realize()?;
    Ok(images)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let epochs: u64 = arguments.first().map_or(Ok(10), |text| text.parse())?;
    let drawn: usize = arguments.get(1).map_or(Ok(0), |text| text.parse())?;
    let data = Mnist::load_or_draw(None, drawn, 60_000, SEED)?;
    manual_seed(SEED);
    let (train, test) = (images(data.train_images)?, images(data.test_images)? / 255.0);
    let model = Vae::new(400, 2)?;
    let adam = RefCell::new(Adam::new(model.parameters(), 2e-3)?);
    let batches = Batches::new(train.size(0)?, BATCH, Some(SEED), true)?;
    let steps = (epochs * batches.len() as u64).max(1);
    let mut schedule = Scheduler::new(&mut *adam.borrow_mut(), CosineAnnealingLR::new(steps, 0.0)?)?;
    let mut learn = jit(|indices: &[Tensor]| {
        let loss = model.loss(&(train.index_select(0, &indices[0])? / 255.0))?;
        let mut adam = adam.borrow_mut();
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        Ok(vec![loss])
    });
    for epoch in 0..epochs {
        let (start, order) = (Instant::now(), Tensor::from_slice(batches.epoch(epoch).order()));
        let mut total = Tensor::zeros(&[], DType::F32)?;
        for step in 0..batches.len() {
            let loss = learn.call(&[&order.narrow(0, (step * BATCH) as isize, BATCH)?])?.remove(0);
            total = total + loss;
            total.realize()?;
            schedule.step(&mut *adam.borrow_mut())?;
        }
        let _guard = no_grad();
        let seen = total.item::<f32>()? / batches.len() as f32;
        let unseen = model.loss(&test)?.item::<f32>()?;
        let seconds = start.elapsed().as_secs_f64();
        println!("epoch {}: {seen:.1} nats an image, {unseen:.1} unseen, {seconds:.1} s", epoch + 1);
    }
    let _guard = no_grad();
    let means = model.encode(&test)?.0.to_vec::<f32>()?;
    let labels = Tensor::from_buffer(data.test_labels.data, data.test_labels.shape)?.to_vec::<u8>()?;
    let places = means.chunks(2).map(|p| (f64::from(p[0]), f64::from(p[1]))).zip(labels);
    let mut groups: Vec<Vec<(f64, f64)>> = vec![vec![]; 10];
    places.for_each(|(place, label)| groups[label as usize].push(place));
    println!("where the digits lie:");
    for (digit, group) in groups.iter().enumerate() {
        let middle = |of: fn(&(f64, f64)) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        println!("  {digit}: {:5.2} {:5.2}", middle(|p| p.0), middle(|p| p.1));
    }
    let Some(folder) = arguments.get(2).map(Path::new) else { return Ok(()) };
    std::fs::create_dir_all(folder)?;
    let names: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let named: Vec<(&str, Vec<(f64, f64)>)> = names
        .iter()
        .zip(groups)
        .map(|(name, group)| (name.as_str(), group.into_iter().take(200).collect()))
        .collect();
    let words = Curves { title: "Two numbers an image", ..Curves::default() };
    std::fs::write(folder.join("plane.svg"), plot::scatter(&named, words))?;
    let line = Tensor::linspace(-2.0, 2.0, 12, DType::F32)?;
    let grid = Tensor::meshgrid(&[&(&line * -1.0), &line], "ij")?;
    let codes = Tensor::stack(&[&grid[1], &grid[0]], 2)?.reshape(&[-1, 2])?;
    let pixels = model.decoder.forward(&codes)?.sigmoid().to_dtype(DType::F64).to_vec::<f64>()?;
    let all: Vec<Image> = pixels.chunks(PIXELS).map(|one| Image::of_planes(one, 1, 28, 28)).collect();
    std::fs::write(folder.join("digits.svg"), plot::images(&all, 12, 1.5))?;
    Ok(())
}
