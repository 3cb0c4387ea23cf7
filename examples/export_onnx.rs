//! A network learns to read digits and leaves as an ONNX file, for other programs to run.
//!
//! ```text
//! cargo run --release --example export_onnx -- [steps [file]]
//! python examples/export_onnx.py --check digits.onnx
//! ```
//!
//! Learns MNIST of the folder $MNIST_DIR, else 6000 digits that are drawn here. Beside the file it writes what the network makes of some images
//! (`digits.npz`); the program in Python asks onnxruntime for the same.

use std::path::PathBuf;

use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::nn::{npz, onnx};
use micrograd_rs::prelude::*;

const BATCH: usize = 64;

fn network() -> Result<Sequential> {
    Ok(sequential![
        Conv2d::new(1, 16, [3, 3])?,
        BatchNorm2d::new(16)?,
        ReLU,
        MaxPool2d::new([2, 2]),
        Conv2d::new(16, 32, [3, 3])?,
        BatchNorm2d::new(32)?,
        ReLU,
        MaxPool2d::new([2, 2]),
        Flatten::default(),
        Linear::new(32 * 5 * 5, 10)?,
    ])
}

fn tensor(idx: Idx) -> Result<Tensor> {
    Tensor::from_buffer(idx.data, idx.shape)
}

/// Bytes as numbers from 0 to 1, in one colour.
fn numbers(images: &Tensor) -> Result<Tensor> {
    Ok(images.unsqueeze(1)? / 255.0)
}

fn learn(model: &Sequential, images: &Tensor, labels: &Tensor, steps: usize) -> Result<()> {
    let mut adam = Adam::new(model.parameters(), 2e-3)?;
    let batches = Batches::new(labels.numel(), BATCH, Some(0), true)?;
    for step in 0..steps {
        let (epoch, at) = (step / batches.len(), step % batches.len());
        let order = Tensor::from_slice(batches.epoch(epoch as u64).order());
        let indices = order.narrow(0, (at * BATCH) as isize, BATCH)?;
        let scores = model.forward(&numbers(&images.index_select(0, &indices)?)?)?;
        let loss = CrossEntropyLoss::default().forward(&scores, &labels.index_select(0, &indices)?)?;
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let steps: usize = arguments.next().map_or(Ok(200), |text| text.parse())?;
    let path = PathBuf::from(arguments.next().unwrap_or("digits.onnx".into()));
    let data = Mnist::load_or_draw(None, 0, 6000, 0)?;
    manual_seed(0);
    let model = network()?;
    learn(&model, &tensor(data.train_images)?, &tensor(data.train_labels)?, steps)?;
    model.eval();

    let _guard = no_grad();
    let images = numbers(&tensor(data.test_images)?.narrow(0, 0, 100)?)?;
    let labels = tensor(data.test_labels)?.narrow(0, 0, 100)?;
    let scores = model.forward(&images)?;
    let right = scores.argmax(Some(1), false).eq(&labels).sum().item::<i64>()?;
    println!("{right} of 100 unseen digits right");
    // The batch may be of any size; the network is called with one image.
    let options = onnx::Options {
        input_names: vec!["image".into()],
        output_names: vec!["scores".into()],
        dynamic_axes: vec![(0, 0, "batch".into())],
    };
    let file = onnx::export(&model, &[&images.narrow(0, 0, 1)?], &options)?;
    std::fs::write(&path, &file)?;
    npz::savez(path.with_extension("npz"), [("images", &images), ("scores", &scores)])?;
    println!("{}: {} bytes", path.display(), file.len());
    Ok(())
}
