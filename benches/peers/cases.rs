//! The cases of `cases.py`, as users of this project write them.

use crate::inputs::{labels, uniform};
use crate::mlp::{Rule, Trainer, WIDTHS};
use crate::work::{Gradients, One, Replayed, Training, Work};
use crate::{Refusal, Result};
use mg_autograd::Tensor;
use mg_device::DType;
use mg_graph::set_float32_matmul_precision;
use mg_nn::data::{Batches, Mnist};

/// Of softmax, layer_norm and gelu; of sums over an axis and the transposed copy; of all of them where 2²⁶ elements are asked for.
const ROWS: [usize; 2] = [2048, 1024];
const TALL: [usize; 2] = [4096, 1024];
const LARGE: [usize; 2] = [16384, 4096];
const MNIST_BATCH: usize = 128;

/// A case by its name; `replay` asks for those whose step can be replayed, replayed.
pub fn prepare(name: &str, replay: bool) -> Result<Box<dyn Work>> {
    if name == "mnist_epoch" && !replay {
        return mnist_epoch();
    }
    let (name, rows, tall) = match name.strip_suffix("_2p26") {
        Some(rest) if !rest.starts_with("chain") && !rest.starts_with("add") => (rest, LARGE, LARGE),
        _ => (name, ROWS, TALL),
    };
    // Names end in a size, or in which of its variants a case is.
    let (kind, variant) = name.rsplit_once('_').unwrap_or((name, ""));
    let (kind, precision) = match kind.rsplit_once('_') {
        Some((kind, precision @ ("f32" | "tf32" | "bf16" | "f16"))) => (kind, precision),
        _ => (kind, "f32"),
    };
    set_float32_matmul_precision(if precision == "tf32" { "high" } else { "highest" })?;
    match (kind, variant) {
        ("mlp_sgd", batch) => mlp(Rule::Sgd, number(batch)?, replay),
        ("mlp_adam", batch) => mlp(Rule::Adam, number(batch)?, replay),
        _ if replay => Err(Refusal::Skip("one launch: nothing to replay".into())),
        ("matmul", n) => matmul(number(n)?, precision),
        ("add" | "small_add", size) => binary(number(size)?, |a, b| a + b),
        ("mul", size) => binary(number(size)?, |a, b| a * b),
        ("copy", size) => unary(number(size)?, -1.0, 1.0, Tensor::copy),
        ("relu", size) => unary(number(size)?, -1.0, 1.0, Tensor::relu),
        ("exp", size) => unary(number(size)?, -4.0, 4.0, Tensor::exp),
        ("tanh", size) => unary(number(size)?, -4.0, 4.0, Tensor::tanh),
        ("sigmoid", size) => unary(number(size)?, -4.0, 4.0, Tensor::sigmoid),
        ("pow25", size) => unary(number(size)?, 0.01, 4.0, |x| x.powf(2.5)),
        ("log", size) => unary(number(size)?, 0.01, 4.0, Tensor::log),
        ("sum", "axis0") => tall_of(tall, |x| x.try_sum_dim(&[0], false)),
        ("sum", "axis1") => tall_of(tall, |x| x.try_sum_dim(&[1], false)),
        ("sum", size) => unary(number(size)?, -1.0, 1.0, Tensor::sum),
        ("transpose", _) => tall_of(tall, |x| x.t().contiguous()),
        ("chain_fwd", size) => binary(number(size)?, chain),
        ("chain", size) => loss_of_two(number(size)?, chain),
        ("small_chain", size) => loss_of_two(number(size)?, |a, b| (a * b).relu().sum()),
        ("softmax", pass) => row(pass, rows, false, |inputs| inputs[0].try_softmax(Some(-1), None)),
        ("gelu", pass) => row(pass, rows, false, |inputs| inputs[0].try_gelu("none")),
        ("layernorm", pass) => row(pass, rows, true, move |inputs| match inputs {
            [x, gamma, beta] => x.try_layer_norm(&[rows[1]], Some(gamma), Some(beta), 1e-5),
            _ => Ok(inputs[0].clone()),
        }),
        _ => Err(Refusal::Skip("no such case".into())),
    }
}

/// "2p24" is 2²⁴, "1e6" a million.
fn number(text: &str) -> Result<usize> {
    let number = match (text.split_once('p'), text.split_once('e')) {
        (Some(("2", power)), _) => power.parse().ok().and_then(|power| 1usize.checked_shl(power)),
        (_, Some((digit, power))) => {
            let power = power.parse().ok().and_then(|power| 10usize.checked_pow(power));
            digit.parse::<usize>().ok().zip(power).and_then(|(digit, power)| digit.checked_mul(power))
        }
        _ => text.parse().ok(),
    };
    number.ok_or_else(|| Refusal::Skip(format!("no size '{text}'")))
}

fn chain(a: &Tensor, b: &Tensor) -> Tensor {
    (a * b + a).relu().powf(2.0).sum()
}

fn unary(n: usize, low: f64, high: f64, f: impl Fn(&Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let x = uniform(1, &[n], low, high)?;
    Ok(Box::new(One(move || Ok(f(&x)))))
}

fn binary(n: usize, f: impl Fn(&Tensor, &Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let (a, b) = (uniform(1, &[n], -1.0, 1.0)?, uniform(2, &[n], -1.0, 1.0)?);
    Ok(Box::new(One(move || Ok(f(&a, &b)))))
}

fn tall_of(
    shape: [usize; 2],
    f: impl Fn(&Tensor) -> mg_device::Result<Tensor> + 'static,
) -> Result<Box<dyn Work>> {
    let x = uniform(1, &shape, -1.0, 1.0)?;
    Ok(Box::new(One(move || f(&x))))
}

fn matmul(n: usize, precision: &str) -> Result<Box<dyn Work>> {
    let dtype = match precision {
        "bf16" => DType::BF16,
        "f16" => DType::F16,
        _ => DType::F32,
    };
    let matrix = |seed| Ok::<_, Refusal>(uniform(seed, &[n, n], -1.0, 1.0)?.to_dtype(dtype));
    let (a, b) = (matrix(1)?, matrix(2)?);
    Tensor::realize_all([&a, &b])?;
    Ok(Box::new(One(move || a.try_matmul(&b))))
}

fn loss_of_two(n: usize, f: impl Fn(&Tensor, &Tensor) -> Tensor + 'static) -> Result<Box<dyn Work>> {
    let leaf = |seed| uniform(seed, &[n], -1.0, 1.0)?.requires_grad_(true);
    let leaves = vec![leaf(1)?, leaf(2)?];
    Ok(Box::new(Gradients {
        leaves,
        upstream: None,
        forward: move |l: &[Tensor]| Ok(f(&l[0], &l[1])),
        keep: false,
    }))
}

fn row(
    pass: &str,
    shape: [usize; 2],
    affine: bool,
    f: impl Fn(&[Tensor]) -> mg_device::Result<Tensor> + 'static,
) -> Result<Box<dyn Work>> {
    let mut inputs = vec![uniform(1, &shape, -1.0, 1.0)?];
    if affine {
        inputs.extend([uniform(2, &shape[1..], -1.0, 1.0)?, uniform(3, &shape[1..], -1.0, 1.0)?]);
    }
    if pass == "fwd" {
        return Ok(Box::new(One(move || f(&inputs))));
    }
    let leaves = inputs.into_iter().map(|t| t.requires_grad_(true)).collect::<mg_device::Result<_>>()?;
    let upstream = Some(uniform(4, &shape, -1.0, 1.0)?);
    Ok(Box::new(Gradients { leaves, upstream, forward: f, keep: pass == "fby" }))
}

fn mlp(rule: Rule, batch: usize, replay: bool) -> Result<Box<dyn Work>> {
    let x = uniform(1, &[batch, WIDTHS[0]], 0.0, 1.0)?;
    let y = labels(2, batch, WIDTHS[3] as u64)?;
    if replay {
        return Ok(Box::new(Replayed {
            make: Box::new(move || Trainer::new(rule)),
            call: |trainer, inputs| trainer.step(&inputs[0], &inputs[1]),
            restore: Trainer::restore,
            inputs: [x, y],
            step: None,
        }));
    }
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
