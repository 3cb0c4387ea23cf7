//! A network that has learnt the digits 0 to 4 learns 5 to 9 from a few of each.
//!
//! ```text
//! cargo run --release --example finetune -- [images of each new digit [digits to draw [file]]]
//! ```
//!
//! The first network is saved. A second one takes its weights but for the last layer, which is for other classes, and learns on: the new layer in large
//! steps, the others in small ones. Beside it a third one learns the same few images from nothing. Learns MNIST of the folder $MNIST_DIR; without
//! one, or where a number of digits to draw is above 0, digits that are drawn here (6000). The file is known.safetensors in the current folder.

use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::prelude::*;

/// What is seen in an image, and which of five digits that is.
#[derive(Module)]
struct Reader {
    features: Sequential,
    head: Linear,
}

impl Reader {
    fn new() -> Result<Reader> {
        let features = sequential![
            Conv2d::new(1, 16, [3, 3])?,
            ReLU,
            MaxPool2d::new([2, 2]),
            Conv2d::new(16, 32, [3, 3])?,
            ReLU,
            MaxPool2d::new([2, 2]),
            Flatten::default(),
            Linear::new(32 * 5 * 5, 64)?,
            ReLU,
        ];
        Ok(Reader { features, head: Linear::new(64, 5)? })
    }

    fn forward(&self, images: &Tensor) -> Result<Tensor> {
        self.head.forward(&self.features.forward(images)?)
    }

    /// In steps of 0.002 for the last layer, and of `rate` for those before it.
    fn learn(&self, (x, y): &(Tensor, Tensor), epochs: u64, rate: f64) -> Result<()> {
        let mut adam = Adam::new(self.head.parameters(), 2e-3)?;
        adam.add_param_group(
            self.features.parameters(),
            optim::AdamOptions { lr: rate, ..Default::default() },
        )?;
        let size = y.numel().min(64);
        for epoch in 0..epochs {
            let batches = Batches::new(y.numel(), size, Some(epoch), false)?;
            let order = Tensor::from_slice(batches.epoch(0).order());
            for at in (0..y.numel()).step_by(size) {
                let indices = order.narrow(0, at as isize, size.min(y.numel() - at))?;
                let scores = self.forward(&x.index_select(0, &indices)?)?;
                let loss = CrossEntropyLoss::default().forward(&scores, &y.index_select(0, &indices)?)?;
                adam.zero_grad();
                loss.backward()?;
                adam.step()?;
            }
        }
        Ok(())
    }

    /// The share of images that it reads right, in percent.
    fn right(&self, (x, y): &(Tensor, Tensor)) -> Result<f64> {
        let _guard = no_grad();
        let mut right = 0;
        for at in (0..y.numel()).step_by(500) {
            let n = 500.min(y.numel() - at);
            let found = self.forward(&x.narrow(0, at as isize, n)?)?.argmax(Some(1), false);
            right += found.eq(&y.narrow(0, at as isize, n)?).sum().item::<i64>()?;
        }
        Ok(100.0 * right as f64 / y.numel() as f64)
    }
}

/// The five digits from `first` on, as numbers from 0 to 1, and which of the five they are; so many of each, if that is said.
fn five(images: &Tensor, labels: &Tensor, first: u8, each: Option<usize>) -> Result<(Tensor, Tensor)> {
    let all = labels.to_vec::<u8>()?;
    let mut chosen: Vec<i64> = vec![];
    let mut counts = [0; 5];
    for (at, &label) in all.iter().enumerate().filter(|(_, label)| (first..first + 5).contains(label)) {
        let count = &mut counts[usize::from(label - first)];
        if each.is_none_or(|each| *count < each) {
            *count += 1;
            chosen.push(at as i64);
        }
    }
    let chosen = Tensor::from_slice(&chosen);
    let x = images.index_select(0, &chosen)?.unsqueeze(1)? / 255.0;
    let y = labels.index_select(0, &chosen)?.to_dtype(DType::I64) - i64::from(first);
    Tensor::realize_all([&x, &y])?;
    Ok((x, y))
}

fn tensor(idx: Idx) -> Result<Tensor> {
    Tensor::from_buffer(idx.data, idx.shape)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (each, drawn) = (number(0, 10)?, number(1, 0)?);
    let path = arguments.get(2).map_or("known.safetensors", String::as_str);
    let data = Mnist::load_or_draw(None, drawn, 6000, 0)?;
    manual_seed(0);
    let (images, labels) = (tensor(data.train_images)?, tensor(data.train_labels)?);
    let (test_images, test_labels) = (tensor(data.test_images)?, tensor(data.test_labels)?);
    let known = Reader::new()?;
    known.learn(&five(&images, &labels, 0, None)?, 1, 2e-3)?;
    let right = known.right(&five(&test_images, &test_labels, 0, None)?)?;
    println!("0 to 4, of all images: {right:.2}% right");
    known.state().save(path)?;

    let taught = Reader::new()?;
    taught.features.load_state(&State::load(path)?.part("features"))?;
    let (few, unseen) = (five(&images, &labels, 5, Some(each))?, five(&test_images, &test_labels, 5, None)?);
    taught.learn(&few, 100, 5e-4)?;
    let count = few.1.numel();
    println!("5 to 9, of {count} images and what was known: {:.2}% right", taught.right(&unseen)?);
    let fresh = Reader::new()?;
    fresh.learn(&few, 100, 2e-3)?;
    println!("5 to 9, of {count} images alone: {:.2}% right", fresh.right(&unseen)?);
    Ok(())
}
