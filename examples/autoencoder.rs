//! An autoencoder squeezes handwritten digits into two numbers, and draws each again from these.
//!
//! ```text
//! cargo run --release --example autoencoder -- [epochs [digits to draw [folder for pictures]]]
//! ```
//!
//! Hinton and Salakhutdinov, "Reducing the dimensionality of data with neural networks" (2006). With a folder it writes plane.svg, where each test
//! image lies in the plane, and again.svg, images and what was drawn of them. It learns MNIST's files in the folder
//! $MNIST_DIR; without one, or where a number of digits to draw is above 0, digits that are drawn here (60,000).

use std::cell::RefCell;
use std::path::Path;
use std::time::Instant;

use micrograd_rs::default_device;
use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::nn::optim::{OneCycleLR, Scheduler};
use micrograd_rs::nn::plot::{self, Curves, Image};
use micrograd_rs::nn::summary;
use micrograd_rs::prelude::*;

const BATCH: usize = 128;
const PIXELS: usize = 28 * 28;
const SEED: u64 = 1337;

#[derive(Module)]
struct Autoencoder {
    encoder: Sequential,
    decoder: Sequential,
}

impl Autoencoder {
    fn new(hidden: usize, code: usize) -> Result<Autoencoder> {
        Ok(Autoencoder {
            encoder: sequential![
                Linear::new(PIXELS, hidden)?,
                SiLU,
                Linear::new(hidden, 64)?,
                SiLU,
                Linear::new(64, code)?
            ],
            decoder: sequential![
                Linear::new(code, 64)?,
                SiLU,
                Linear::new(64, hidden)?,
                SiLU,
                Linear::new(hidden, PIXELS)?,
                Sigmoid
            ],
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.decoder.forward(&self.encoder.forward(x)?)
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
    let model = Autoencoder::new(256, 2)?;
    println!("{}", summary(&model.encoder, &test.narrow(0, 0, 1)?)?);
    let adam = RefCell::new(AdamW::new(model.parameters(), 4e-3)?);
    let batches = Batches::new(train.size(0)?, BATCH, Some(SEED), true)?;
    let steps = (epochs * batches.len() as u64).max(1);
    let mut schedule = Scheduler::new(&mut *adam.borrow_mut(), OneCycleLR::new(4e-3, steps + 1)?)?;
    let mut learn = jit(|indices: &[Tensor]| {
        let x = train.index_select(0, &indices[0])? / 255.0;
        let loss = MSELoss::default().forward(&model.forward(&x)?, &x)?;
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
        let unseen = MSELoss::default().forward(&model.forward(&test)?, &test)?.item::<f32>()?;
        let seconds = start.elapsed().as_secs_f64();
        println!("epoch {}: squared error {seen:.4}, {unseen:.4} unseen, {seconds:.1} s", epoch + 1);
    }
    let _guard = no_grad();
    let codes = model.encoder.forward(&test)?.to_vec::<f32>()?;
    let labels = Tensor::from_buffer(data.test_labels.data, data.test_labels.shape)?.to_vec::<u8>()?;
    let mut groups: Vec<Vec<(f64, f64)>> = vec![vec![]; 10];
    for (place, label) in codes.chunks(2).zip(labels) {
        groups[usize::from(label)].push((f64::from(place[0]), f64::from(place[1])));
    }
    println!("where the digits lie:");
    for (digit, group) in groups.iter().enumerate() {
        let middle = |of: fn(&(f64, f64)) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        println!("  {digit}: {:7.2} {:7.2}", middle(|p| p.0), middle(|p| p.1));
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
    let shown = test.narrow(0, 0, 10)?;
    let both = Tensor::cat(&[&shown, &model.forward(&shown)?], 0)?.to_dtype(DType::F64).to_vec::<f64>()?;
    let all: Vec<Image> = both.chunks(PIXELS).map(|one| Image::of_planes(one, 1, 28, 28)).collect();
    std::fs::write(folder.join("again.svg"), plot::images(&all, 10, 1.5))?;
    Ok(())
}
