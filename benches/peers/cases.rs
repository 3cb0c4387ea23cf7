//! The cases of `cases.py`, as users of this project write them.

use crate::inputs::{labels, uniform};
use crate::mlp::{Rule, Trainer, WIDTHS};
use crate::work::{Gradients, One, Training, Work};
use crate::{Refusal, Result};
use mg_autograd::Tensor;
use mg_device::DType;
use mg_nn::data::{Batches, Mnist};

/// In the order of `cases.py`.
#[rustfmt::skip]
pub const NAMES: [&str; 40] = [
    "copy_2e6", "copy_2p24", "add_2e6", "add_2p24", "mul_2e6", "relu_2e6", "exp_2e6", "tanh_2e6", "pow25_2e6", "log_2e6",
    "sigmoid_2e6", "sum_2e6", "sum_2p24", "chain_1e4", "chain_1e6", "chain_2p24", "small_add_16", "small_chain_16",
    "matmul_64", "matmul_128", "matmul_256", "matmul_512", "matmul_1024", "matmul_2048", "softmax_fwd", "softmax_fb",
    "layernorm_fwd", "layernorm_fb", "gelu_fwd", "gelu_fb", "mlp_sgd_32", "mlp_sgd_128", "mlp_sgd_1024", "mlp_adam_32",
    "mlp_adam_128", "mlp_adam_1024", "sum_axis0", "sum_axis1", "transpose_copy", "mnist_epoch",
];

/// Of softmax, layer_norm and gelu.
const ROWS: usize = 2048;
const COLUMNS: usize = 1024;
/// Of sums over an axis and the transposed copy.
const TALL: [usize; 2] = [4096, 1024];
const MNIST_BATCH: usize = 128;

/// A case by its name.
pub fn prepare(name: &str) -> Result<Box<dyn Work>> {
    if !NAMES.contains(&name) {
        return Err(Refusal::Skip("no such case".into()));
    }
    if name == "mnist_epoch" {
        return mnist_epoch();
    }
    // Names end in a size, or in which of its variants a case is.
    let (kind, variant) = name.rsplit_once('_').unwrap_or((name, ""));
    match (kind, variant) {
        ("mlp_sgd", batch) => mlp(Rule::Sgd, number(batch)?),
        ("mlp_adam", batch) => mlp(Rule::Adam, number(batch)?),
        ("matmul", n) => matmul(number(n)?),
        ("add" | "small_add", size) => binary(number(size)?, |a, b| a + b),
        ("mul", size) => binary(number(size)?, |a, b| a * b),
        ("copy", size) => unary(number(size)?, -1.0, 1.0, Tensor::copy),
        ("relu", size) => unary(number(size)?, -1.0, 1.0, Tensor::relu),
        ("exp", size) => unary(number(size)?, -4.0, 4.0, Tensor::exp),
        ("tanh", size) => unary(number(size)?, -4.0, 4.0, Tensor::tanh),
        ("sigmoid", size) => unary(number(size)?, -4.0, 4.0, Tensor::sigmoid),
        ("pow25", size) => unary(number(size)?, 0.01, 4.0, |x| x.powf(2.5)),
        ("log", size) => unary(number(size)?, 0.01, 4.0, Tensor::log),
        ("sum", "axis0") => tall(|x| x.sum_dim(&[0], false)),
        ("sum", "axis1") => tall(|x| x.sum_dim(&[1], false)),
        ("sum", size) => unary(number(size)?, -1.0, 1.0, Tensor::sum),
        ("transpose", _) => tall(|x| x.t().contiguous()),
        ("chain", size) => loss_of_two(number(size)?, |a, b| (a * b + a).relu().powf(2.0).sum()),
        ("small_chain", size) => loss_of_two(number(size)?, |a, b| (a * b).relu().sum()),
        ("softmax", pass) => row(pass, false, |inputs| inputs[0].softmax(-1)),
        ("gelu", pass) => row(pass, false, |inputs| Ok(inputs[0].gelu())),
        ("layernorm", pass) => row(pass, true, |inputs| match inputs {
            [x, gamma, beta] => x.layer_norm(&[COLUMNS], Some(gamma), Some(beta), 1e-5),
            _ => Ok(inputs[0].clone()),
        }),
        _ => Err(Refusal::Skip("no such case".into())),
    }
}

fn number(text: &str) -> Result<usize> {
    match text {
        "1e4" => Ok(10_000),
        "1e6" => Ok(1_000_000),
        "2e6" => Ok(2_000_000),
        "2p24" => Ok(1 << 24),
        _ => text.parse().map_err(|_| Refusal::Skip(format!("no size '{text}'"))),
    }
}

fn unary(n: usize, low: f64, high: f64, f: impl Fn(&Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let x = uniform(1, &[n], low, high)?;
    Ok(Box::new(One(move || Ok(f(&x)))))
}

fn binary(n: usize, f: impl Fn(&Tensor, &Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let (a, b) = (uniform(1, &[n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?);
    Ok(Box::new(One(move || Ok(f(&a, &b)))))
}

fn tall(f: impl Fn(&Tensor) -> mg_device::Result<Tensor> + 'static) -> Result<Box<dyn Work>> {
    let x = uniform(1, &TALL, -1.0, 1.0)?;
    Ok(Box::new(One(move || f(&x))))
}

fn matmul(n: usize) -> Result<Box<dyn Work>> {
    let (a, b) = (uniform(1, &[n, n], -1.0, 1.0)?, uniform(2, &[n, n], -1.0, 1.0)?);
    Ok(Box::new(One(move || a.try_matmul(&b))))
}

fn loss_of_two(n: usize, f: impl Fn(&Tensor, &Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let leaf = |seed| uniform(seed, &[n], -1.0, 1.0)?.requires_grad_(true);
    let leaves = vec![leaf(1)?, leaf(2)?];
    Ok(Box::new(Gradients { leaves, upstream: None, forward: move |l: &[Tensor]| Ok(f(&l[0], &l[1])) }))
}

fn row(
    pass: &str,
    affine: bool,
    f: impl Fn(&[Tensor]) -> mg_device::Result<Tensor> + 'static,
) -> Result<Box<dyn Work>> {
    let mut inputs = vec![uniform(1, &[ROWS, COLUMNS], -1.0, 1.0)?];
    if affine {
        inputs.extend([uniform(2, &[COLUMNS], -1.0, 1.0)?, uniform(3, &[COLUMNS], -1.0, 1.0)?]);
    }
    if pass == "fwd" {
        return Ok(Box::new(One(move || f(&inputs))));
    }
    let leaves = inputs.into_iter().map(|t| t.requires_grad_(true)).collect::<mg_device::Result<_>>()?;
    let upstream = Some(uniform(4, &[ROWS, COLUMNS], -1.0, 1.0)?);
    Ok(Box::new(Gradients { leaves, upstream, forward: f }))
}

fn mlp(rule: Rule, batch: usize) -> Result<Box<dyn Work>> {
    let x = uniform(1, &[batch, WIDTHS[0]], 0.0, 1.0)?;
    let y = labels(2, batch, WIDTHS[3] as u64)?;
    Ok(Box::new(Training {
        state: Trainer::new(rule)?,
        reset: Trainer::reset,
        call: move |trainer: &mut Trainer| trainer.step(&x, &y),
        comparable: true,
    }))
}

fn mnist_epoch() -> Result<Box<dyn Work>> {
    let Some(folder) = std::env::var_os("MNIST_DIR") else {
        return Err(Refusal::Skip("MNIST_DIR is not set".into()));
    };
    let mnist = Mnist::load(folder).map_err(|error| Refusal::Skip(format!("no MNIST: {error}")))?;
    let (images, labels) = (mnist.train_images, mnist.train_labels);
    let n = images.shape[0];
    let images = Tensor::from_buffer(images.data, images.shape)?.reshape(&[n as isize, -1])?;
    let images = images.to_dtype(DType::F32) / 255.0;
    let labels = Tensor::from_buffer(labels.data, labels.shape)?.to_dtype(DType::I64);
    Tensor::realize_all([&images, &labels])?;
    let batches = Batches::new(n, MNIST_BATCH, Some(1), false)?;
    let mut epochs = 0;
    let call = move |trainer: &mut Trainer| {
        let mut loss = None;
        for batch in &batches.epoch(epochs) {
            let index = Tensor::from_slice(batch);
            loss = Some(trainer.step(&images.index_select(0, &index)?, &labels.index_select(0, &index)?)?);
        }
        epochs += 1;
        loss.ok_or_else(|| {
            mg_device::Error::new("mnist_epoch", mg_device::ErrorKind::Value("no images".into()))
        })
    };
    Ok(Box::new(Training {
        state: Trainer::new(Rule::Adam)?,
        reset: Trainer::reset,
        call,
        comparable: false,
    }))
}
