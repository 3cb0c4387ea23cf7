//! A perceptron learns to read handwritten digits.
//!
//! ```text
//! cargo run --release --example mnist
//! cargo run --release --example mnist -- --load checkpoints/mnist.safetensors
//! ```
//!
//! Trains on MNIST, which it downloads once; without a network, on digits that it draws itself. `--help` lists the options.

mod download;
mod terminal;

use std::cell::RefCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use micrograd_rs::default_device;
use micrograd_rs::nn::data::{Batches, Idx, Mnist, digits};
use micrograd_rs::nn::optim::{CosineAnnealingLR, Scheduler};
use micrograd_rs::prelude::*;
use terminal::{Colours, Progress, Sample, interrupted};

const USAGE: &str = "\
A perceptron learns to read handwritten digits.

usage: cargo run --release --example mnist -- [options]

  --data DIR      the files of MNIST; else $MNIST_DIR, else data/mnist, to which they are downloaded;
                  where they cannot be had, digits that are drawn here
  --epochs N      how often every image is seen (5)
  --batch N       images a step (128)
  --lr X          the learning rate at first (0.001)
  --seed N        of everything that is random (1337)
  --save FILE     the checkpoint, written after each epoch (checkpoints/mnist.safetensors)
  --load FILE     trains nothing, and shows what this checkpoint makes of the test images
  --device NAME   cpu, cuda or cuda:N (else $MG_DEVICE, else cuda where there is one, else cpu)
";

/// Where the files are put when there are none.
const DOWNLOADS: &str = "data/mnist";
/// The loss is read once in so many steps: that waits for it.
const LOSS_EVERY: usize = 20;
/// Images that are classified at once.
const TEST_BATCH: usize = 1000;

/// What ends the program before its work is done.
enum Stop {
    /// Something failed: what, in one line.
    Failed(String),
    /// Ctrl-C.
    Interrupted,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        // Which line of this program asked for it is of no use to whoever runs it.
        Stop::Failed(error.kind().to_string())
    }
}

type Outcome<T> = std::result::Result<T, Stop>;

fn failed<T>(text: impl Display) -> Outcome<T> {
    Err(Stop::Failed(text.to_string()))
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stop::Interrupted) => ExitCode::from(130),
        Err(Stop::Failed(text)) => {
            eprintln!("mnist: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Outcome<()> {
    let Some(options) = Options::parse(std::env::args().skip(1))? else {
        print!("{USAGE}");
        return Ok(());
    };
    let named = std::env::var_os("MG_DEVICE").is_some_and(|name| !name.is_empty());
    set_default_device(match options.device {
        Some(device) => device,
        None if named => default_device(),
        None => Device::cuda(0).unwrap_or_default(),
    })?;
    let (mnist, source) = images(options.data.as_deref(), options.seed)?;
    terminal::watch_interrupts().or_else(|e| failed(format!("Ctrl-C cannot be watched: {e}")))?;
    manual_seed(options.seed);
    let train = Set::new(mnist.train_images, mnist.train_labels)?;
    let test = Set::new(mnist.test_images, mnist.test_labels)?;
    println!("{source}: {} images to train on, {} to test on", train.len(), test.len());
    let model = perceptron(train.pixels)?;
    match &options.load {
        Some(path) => {
            model
                .load_state(&State::load(path)?)
                .map_err(|e| Stop::Failed(format!("{}: {}", path.display(), e.kind())))?;
            println!(
                "{}: {:.2} % of the test images right",
                path.display(),
                100.0 * accuracy(&model, &test)?
            );
            show(&model, &test)
        }
        None => learn(&model, &train, &test, &options),
    }
}

/// 784-512-256-10 on images of 28×28.
fn perceptron(pixels: usize) -> Outcome<Sequential> {
    Ok(sequential![Linear::new(pixels, 512)?, ReLU, Linear::new(512, 256)?, ReLU, Linear::new(256, 10)?])
}

fn learn(model: &Sequential, train: &Set, test: &Set, options: &Options) -> Outcome<()> {
    let adam = RefCell::new(Adam::new(model.parameters(), options.lr)?);
    let batches = Batches::new(train.len(), options.batch, Some(options.seed), false)?;
    let epochs = options.epochs;
    // Half a cosine down to 0 over the whole training: what is learnt last is not shaken any more.
    let steps = epochs.saturating_mul(batches.len()).max(1) as u64;
    let mut schedule = Scheduler::new(&mut *adam.borrow_mut(), CosineAnnealingLR::new(steps, 0.0)?)?;
    // Recorded once and replayed from then on; it takes the indices of the images.
    let mut learn = jit(|indices: &[Tensor]| {
        let (x, y) = train.batch(&indices[0])?;
        let loss = CrossEntropyLoss::default().forward(&model.forward(&x)?, &y)?;
        let mut adam = adam.borrow_mut();
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        Ok(vec![loss])
    });
    for epoch in 1..=epochs {
        let start = Instant::now();
        let mut progress = Progress::new(format!("epoch {epoch}/{epochs}"), batches.len());
        // The order of the whole epoch is one tensor; a batch is a piece of it.
        let order = Tensor::from_slice(batches.epoch(epoch as u64 - 1).order());
        for step in 0..batches.len() {
            if interrupted() {
                progress.stop();
                if epoch > 1 {
                    println!("interrupted; {} is as epoch {} left it", options.save.display(), epoch - 1);
                }
                return Err(Stop::Interrupted);
            }
            let at = step * options.batch;
            let n = options.batch.min(train.len() - at);
            let loss = learn.call(&[&order.narrow(0, at as isize, n)?])?;
            schedule.step(&mut *adam.borrow_mut())?;
            if step % LOSS_EVERY == LOSS_EVERY - 1 || step + 1 == batches.len() {
                progress.update(step + 1, at + n, loss[0].item()?);
            }
        }
        let right = accuracy(model, test)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("epoch {epoch}/{epochs} {:.2} % of the test images right, {seconds:.2} s", 100.0 * right);
        save(model, &options.save, epoch, right)?;
    }
    println!("\nsaved to {0}; see what it reads with --load {0}", options.save.display());
    Ok(())
}

/// Writes a checkpoint in one step, so that there is always a whole one.
fn save(model: &Sequential, path: &Path, epoch: usize, accuracy: f64) -> Outcome<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        std::fs::create_dir_all(dir).or_else(|e| failed(format!("cannot make {}: {e}", dir.display())))?;
    }
    let mut state = model.state();
    state.metadata.insert("epoch".into(), epoch.to_string());
    state.metadata.insert("test accuracy".into(), accuracy.to_string());
    Ok(state.save(path)?)
}

/// The share of a set's images that the model reads right.
fn accuracy(model: &Sequential, set: &Set) -> Outcome<f64> {
    let _guard = no_grad();
    let indices = Tensor::arange(set.len());
    let mut right = 0;
    for at in (0..set.len()).step_by(TEST_BATCH) {
        if interrupted() {
            return Err(Stop::Interrupted);
        }
        let (x, y) = set.batch(&indices.narrow(0, at as isize, TEST_BATCH.min(set.len() - at))?)?;
        right += model.forward(&x)?.argmax(Some(1), false).eq(&y).sum().item::<i64>()?;
    }
    Ok(right as f64 / set.len() as f64)
}

/// Draws some test images with what the model makes of them, up to half of them misread.
fn show(model: &Sequential, test: &Set) -> Outcome<()> {
    let _guard = no_grad();
    let n = test.len().min(TEST_BATCH);
    let (x, y) = test.batch(&Tensor::arange(n))?;
    let odds = model.forward(&x)?.try_softmax(Some(1), None)?;
    let predictions = odds.argmax(Some(1), false).to_vec::<i64>()?;
    let probabilities = odds.amax(&[1], false).to_vec::<f32>()?;
    let (labels, pixels) = (y.to_vec::<u8>()?, test.images.narrow(0, 0, n)?.to_vec::<u8>()?);
    let all = pixels.chunks(test.pixels).zip(labels).zip(predictions).zip(probabilities);
    let all = all.map(|(((pixels, label), prediction), probability)| Sample {
        pixels,
        label,
        prediction: prediction as u8,
        probability,
    });
    let (wrong, right): (Vec<Sample>, Vec<Sample>) = all.partition(|s| s.label != s.prediction);
    let (columns, some) = (terminal::columns(), 4);
    let shown: Vec<Sample> = wrong.into_iter().take(some / 2).chain(right).take(some).collect();
    println!("\n{}", terminal::samples(&shown, columns, Colours::of_stdout()));
    Ok(())
}

/// Images and what they show. They stay bytes; a batch becomes numbers when it is used.
struct Set {
    /// u8 [n, pixels].
    images: Tensor,
    /// u8 [n].
    labels: Tensor,
    pixels: usize,
}

impl Set {
    fn new(images: Idx, labels: Idx) -> Outcome<Set> {
        // Once, to where the work is done.
        let device = default_device();
        let images = Tensor::from_buffer(images.data, images.shape)?.flatten(1, -1)?.to(device)?;
        let labels = Tensor::from_buffer(labels.data, labels.shape)?.to(device)?;
        Tensor::realize_all([&images, &labels])?;
        let pixels = images.size(1)?;
        if labels.numel() == 0 {
            return failed("there are no images in the files");
        }
        Ok(Set { images, labels, pixels })
    }

    fn len(&self) -> usize {
        self.labels.numel()
    }

    /// The images at these indices, f32 in [0, 1], and their labels.
    fn batch(&self, indices: &Tensor) -> Result<(Tensor, Tensor)> {
        let images = self.images.index_select(0, indices)?.try_div(255.0)?;
        Ok((images, self.labels.index_select(0, indices)?))
    }
}

/// The files of MNIST from wherever they are, or a set like it; and what to call it.
fn images(data: Option<&Path>, seed: u64) -> Outcome<(Mnist, &'static str)> {
    let variable = std::env::var_os("MNIST_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    if let Some(dir) = data.map(Path::to_path_buf).or(variable) {
        return Ok((Mnist::load(dir)?, "MNIST"));
    }
    match download::fetch(Path::new(DOWNLOADS)) {
        Ok(_) => Ok((Mnist::load(DOWNLOADS)?, "MNIST")),
        Err(why) => {
            eprintln!("{why}");
            eprintln!(
                "training on digits that this program draws itself; --data DIR takes the files of MNIST"
            );
            Ok((digits::mnist(60_000, 10_000, seed), "drawn digits"))
        }
    }
}

struct Options {
    data: Option<PathBuf>,
    epochs: usize,
    batch: usize,
    lr: f64,
    seed: u64,
    save: PathBuf,
    load: Option<PathBuf>,
    device: Option<Device>,
}

impl Options {
    /// `None` where the usage is asked for.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Outcome<Option<Options>> {
        let mut options = Options {
            data: None,
            epochs: 5,
            batch: 128,
            lr: 1e-3,
            seed: 1337,
            save: "checkpoints/mnist.safetensors".into(),
            load: None,
            device: None,
        };
        while let Some(name) = arguments.next() {
            if name == "--help" || name == "-h" {
                return Ok(None);
            }
            const NAMES: [&str; 8] =
                ["--data", "--epochs", "--batch", "--lr", "--seed", "--save", "--load", "--device"];
            if !NAMES.contains(&name.as_str()) {
                return failed(format!("unknown option {name}; --help lists them all"));
            }
            let Some(value) = arguments.next() else {
                return failed(format!("{name} takes a value; --help tells which"));
            };
            match name.as_str() {
                "--data" => options.data = Some(value.into()),
                "--epochs" => options.epochs = number(&name, &value)?,
                "--batch" => options.batch = number(&name, &value)?,
                "--lr" => options.lr = number(&name, &value)?,
                "--seed" => options.seed = number(&name, &value)?,
                "--save" => options.save = value.into(),
                "--load" => options.load = Some(value.into()),
                _ => options.device = Some(value.parse()?),
            }
        }
        if !(options.lr >= 0.0 && options.lr.is_finite()) {
            return failed(format!("--lr takes a number of at least 0, got {}", options.lr));
        }
        for (name, n) in [("--batch", options.batch), ("--epochs", options.epochs)] {
            if n == 0 {
                return failed(format!("{name} takes a number of at least 1, got 0"));
            }
        }
        Ok(Some(options))
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Outcome<T> {
    text.parse().or_else(|_| failed(format!("{name} takes a number, got {text:?}")))
}
