//! ResNet-18 for images of 32 × 32, under torchvision's names: trained here, or with weights from elsewhere.
//!
//! ```text
//! cargo run --release --example resnet -- [epochs [digits to draw [width [file to save]]]]
//! cargo run --release --example resnet -- --weights resnet18.safetensors
//! ```
//!
//! He et al., "Deep residual learning for image recognition" (2015). It learns MNIST's digits of the folder $MNIST_DIR, set into images of 32 × 32 in
//! three colours; without one, or where a number of digits to draw is above 0, digits that are drawn here (2000). The width of the first layers is 64.

use std::cell::RefCell;
use std::time::Instant;

use micrograd_rs::nn::data::{Batches, Idx, Mnist};
use micrograd_rs::nn::optim::{OneCycleLR, SGDOptions, Scheduler};
use micrograd_rs::nn::{AdaptiveAvgPool2d, summary};
use micrograd_rs::prelude::*;
use micrograd_rs::{ErrorKind, default_device};

const BATCH: usize = 64;
const SEED: u64 = 1337;

fn convolution(from: usize, to: usize, kernel: usize, stride: usize) -> Result<Conv2d> {
    let padding = Some([kernel / 2; 2]);
    let options = ConvOptions { stride: [stride; 2], padding, bias: false, ..ConvOptions::default() };
    Conv2d::with_options(from, to, [kernel; 2], options)
}

/// Two convolutions, and the input added to what they make of it.
#[derive(Module)]
struct BasicBlock {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    conv2: Conv2d,
    bn2: BatchNorm2d,
    downsample: Option<Sequential>,
}

impl BasicBlock {
    fn new(from: usize, to: usize, stride: usize) -> Result<BasicBlock> {
        let downsample = match stride != 1 || from != to {
            true => Some(sequential![convolution(from, to, 1, stride)?, BatchNorm2d::new(to)?]),
            false => None,
        };
        Ok(BasicBlock {
            conv1: convolution(from, to, 3, stride)?,
            bn1: BatchNorm2d::new(to)?,
            conv2: convolution(to, to, 3, 1)?,
            bn2: BatchNorm2d::new(to)?,
            downsample,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let h = self.bn1.forward(&self.conv1.forward(x)?)?.relu();
        let h = self.bn2.forward(&self.conv2.forward(&h)?)?;
        let x = self.downsample.as_ref().map_or(Ok(x.clone()), |down| down.forward(x))?;
        Ok((h + x).relu())
    }
}

#[derive(Module)]
struct ResNet18 {
    conv1: Conv2d,
    bn1: BatchNorm2d,
    layer1: Sequential,
    layer2: Sequential,
    layer3: Sequential,
    layer4: Sequential,
    avgpool: AdaptiveAvgPool2d,
    fc: Linear,
}

impl ResNet18 {
    fn new(classes: usize, width: usize) -> Result<ResNet18> {
        let layer = |from: usize, to: usize, stride: usize| -> Result<Sequential> {
            Ok(sequential![BasicBlock::new(from, to, stride)?, BasicBlock::new(to, to, 1)?])
        };
        Ok(ResNet18 {
            conv1: convolution(3, width, 3, 1)?,
            bn1: BatchNorm2d::new(width)?,
            layer1: layer(width, width, 1)?,
            layer2: layer(width, 2 * width, 2)?,
            layer3: layer(2 * width, 4 * width, 2)?,
            layer4: layer(4 * width, 8 * width, 2)?,
            avgpool: AdaptiveAvgPool2d { output_size: [Some(1); 2] },
            fc: Linear::new(8 * width, classes)?,
        })
    }

    /// With the weights of a file, which says how wide it is and how many classes there are.
    fn with_weights(path: &str) -> Result<ResNet18> {
        let state = State::load(path)?;
        let size = |name: &str| match state.tensors.get(name) {
            Some(t) => t.size(0),
            None => {
                let there: Vec<&str> = state.tensors.keys().take(3).map(String::as_str).collect();
                let text = format!(
                    "{path} has no weights of a ResNet-18: {name} is not there, but {}",
                    there.join(", ")
                );
                Err(Error::new("resnet", ErrorKind::Format(text)))
            }
        };
        let model = ResNet18::new(size("fc.bias")?, size("bn1.weight")?)?;
        // Nothing is changed unless all names and shapes fit.
        model.load_state(&state)?;
        model.eval();
        Ok(model)
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = self.bn1.forward(&self.conv1.forward(x)?)?.relu();
        for layer in [&self.layer1, &self.layer2, &self.layer3, &self.layer4] {
            x = layer.forward(&x)?;
        }
        self.fc.forward(&self.avgpool.forward(&x)?.flatten(1, -1)?)
    }
}

/// Images of 28 × 28 bytes and their labels; a batch is set into images of 32 × 32 in three colours when it is used.
struct Set {
    images: Tensor,
    labels: Tensor,
}

impl Set {
    fn new(images: Idx, labels: Idx) -> Result<Set> {
        let images = Tensor::from_buffer(images.data, images.shape)?.to(default_device())?;
        let labels = Tensor::from_buffer(labels.data, labels.shape)?.to_dtype(DType::I64);
        let labels = labels.to(default_device())?;
        Tensor::realize_all([&images, &labels])?;
        Ok(Set { images, labels })
    }

    fn at(&self, indices: &Tensor) -> Result<(Tensor, Tensor)> {
        let images = self.images.index_select(0, indices)? / 255.0;
        let images =
            images.try_pad(&[2, 2, 2, 2], "constant", None)?.unsqueeze(1)?.expand(&[-1, 3, -1, -1])?;
        Ok((images, self.labels.index_select(0, indices)?))
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, path] = &arguments[..]
        && flag == "--weights"
    {
        let model = ResNet18::with_weights(path)?;
        let odds = model.forward(&Tensor::zeros(&[1, 3, 32, 32], DType::F32)?)?.softmax(Some(1), None);
        println!("a black image is a {}", odds.argmax(None, false).item::<i64>()?);
        return Ok(());
    }
    let number = |at: usize, usual: usize| arguments.get(at).map_or(Ok(usual), |text| text.parse());
    let (epochs, drawn, width) = (number(0, 1)? as u64, number(1, 0)?, number(2, 64)?);
    let data = Mnist::load_or_draw(None, drawn, 2000, SEED)?;
    manual_seed(SEED);
    let train = Set::new(data.train_images, data.train_labels)?;
    let test = Set::new(data.test_images, data.test_labels)?;
    let model = ResNet18::new(10, width)?;
    let table = summary(&model, &Tensor::zeros(&[1, 3, 32, 32], DType::F32)?)?;
    println!(
        "{} parameters, {:.0} million operations an image",
        table.rows[0].parameters,
        table.rows[0].cost.unwrap_or_default()[0] as f64 / 1e6
    );
    let options =
        SGDOptions { lr: 0.05, momentum: 0.9, nesterov: true, weight_decay: 5e-4, ..Default::default() };
    let sgd = RefCell::new(SGD::with_options(model.parameters(), options)?);
    let batches = Batches::new(train.labels.numel(), BATCH, Some(SEED), true)?;
    let steps = epochs * batches.len() as u64 + 1;
    let mut schedule = Scheduler::new(&mut *sgd.borrow_mut(), OneCycleLR::new(0.05, steps)?)?;
    let mut learn = jit(|indices: &[Tensor]| {
        let (x, y) = train.at(&indices[0])?;
        let loss = CrossEntropyLoss::default().forward(&model.forward(&x)?, &y)?;
        let mut sgd = sgd.borrow_mut();
        sgd.zero_grad();
        loss.backward()?;
        sgd.step()?;
        Ok(vec![loss])
    });
    for epoch in 0..epochs {
        let (start, order) = (Instant::now(), Tensor::from_slice(batches.epoch(epoch).order()));
        let mut last = None;
        for step in 0..batches.len() {
            last = Some(learn.call(&[&order.narrow(0, (step * BATCH) as isize, BATCH)?])?.remove(0));
            schedule.step(&mut *sgd.borrow_mut())?;
        }
        let loss = last.map_or(Ok(f32::NAN), |loss| loss.item::<f32>())?;
        let ms = start.elapsed().as_secs_f64() * 1e3 / batches.len().max(1) as f64;
        model.eval();
        let _guard = no_grad();
        let (mut right, count) = (0.0, test.labels.numel());
        for from in (0..count).step_by(250) {
            let at = Tensor::arange(count).narrow(0, from as isize, 250.min(count - from))?;
            let (x, y) = test.at(&at)?;
            right +=
                model.forward(&x)?.argmax(Some(1), false).eq(&y).to_dtype(DType::F64).sum().item::<f64>()?;
        }
        model.train(true);
        let part = 100.0 * right / count as f64;
        println!(
            "epoch {}: loss {loss:.4}, {part:.2}% of the test images right, {ms:.1} ms a step",
            epoch + 1
        );
    }
    if let Some(path) = arguments.get(3) {
        model.state().save(path)?;
    }
    Ok(())
}
