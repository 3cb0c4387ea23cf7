//! The same training on the CPU and on CUDA devices, loss by loss. Where there is no device, each test says so.
//!
//! The devices differ in one thing only: elementwise arithmetic is the same bits, but sums (products of matrices, reductions)
//! add in another order. An f32 sum of n terms is off by some √n·2⁻²⁴ of its magnitude, for n in the hundreds 10⁻⁶; each step
//! adds as much to the weights' difference, and a stable training does not amplify it. Fifty steps make 5·10⁻⁵ at most, so a
//! loss may differ by 10⁻⁴ of itself. Adam divides by the gradient's own magnitude, which for weights that hardly matter is
//! made of rounding: there it is five times that.

use mg_autograd::{Tensor, jit, manual_seed, set_default_device};
use mg_device::{DType, Device};
use mg_nn::data::digits;
use mg_nn::optim::*;
use mg_nn::*;
use std::sync::{Mutex, MutexGuard};

const STEPS: usize = 50;

/// The default device and the generator are the process's, so tests take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn cuda(ordinal: usize) -> Option<Device> {
    let device = Device::cuda(ordinal).ok();
    match Device::cuda_count() {
        0 => eprintln!("skipped: no CUDA device"),
        1 if ordinal == 1 => eprintln!("skipped: one CUDA device"),
        _ => {}
    }
    device
}

type Make = fn(Vec<Tensor>) -> Box<dyn Optimizer>;

const OPTIMIZERS: [(&str, Make, f32); 4] = [
    ("SGD", |p| Box::new(SGD::new(p, 0.1).unwrap()), 1e-4),
    (
        "SGD with momentum",
        |p| {
            let options = SGDOptions { lr: 0.05, momentum: 0.9, nesterov: true, ..Default::default() };
            Box::new(SGD::with_options(p, options).unwrap())
        },
        1e-4,
    ),
    ("Adam", |p| Box::new(Adam::new(p, 1e-3).unwrap()), 5e-4),
    ("AdamW", |p| Box::new(AdamW::new(p, 1e-3).unwrap()), 5e-4),
];

/// Network and data.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// 20-64-64-10 with everything that is random or reduces rows: dropout, layer norm.
    Mixed,
    /// 784-128-10 on drawn digits.
    Digits,
}

/// The loss of each step.
fn losses(device: Device, task: Task, make: Make, replayed: bool) -> Vec<f32> {
    set_default_device(device).unwrap();
    manual_seed(42);
    let (model, x, y) = match task {
        Task::Mixed => {
            let model = sequential![
                Linear::new(20, 64).unwrap(),
                LayerNorm::new(&[64]).unwrap(),
                GELU::default(),
                Dropout::new(0.1).unwrap(),
                Linear::new(64, 64).unwrap(),
                Tanh,
                Linear::new(64, 10).unwrap()
            ];
            let x = Tensor::randn(&[128, 20], DType::F32).unwrap();
            let y = x.narrow(1, 0, 10).unwrap().argmax(Some(1), false);
            (model, x, y)
        }
        Task::Digits => {
            let model = sequential![Linear::new(784, 128).unwrap(), ReLU, Linear::new(128, 10).unwrap()];
            let (pixels, labels) = digits::draw(128, 7);
            let x = Tensor::from_vec(pixels, &[128, 784]).unwrap().to_dtype(DType::F32) / 255.0;
            (model, x, Tensor::from_vec(labels, &[128]).unwrap().to_dtype(DType::I64))
        }
    };
    Tensor::realize_all([&x, &y]).unwrap();
    for (name, parameter) in model.named_parameters() {
        assert_eq!(parameter.device(), device, "{name}");
    }
    let mut optimizer = make(model.parameters());
    let mut step = |x: &Tensor, y: &Tensor| {
        let loss = model.forward(x)?.try_cross_entropy(y, None, -100, "mean", 0.0)?;
        optimizer.zero_grad();
        loss.backward()?;
        optimizer.step()?;
        Ok(loss)
    };
    let losses = if replayed {
        let mut step = jit(|args: &[Tensor]| Ok(vec![step(&args[0], &args[1])?]));
        let losses = (0..STEPS).map(|_| step.call(&[&x, &y]).unwrap()[0].item().unwrap()).collect();
        assert!(step.is_replaying());
        losses
    } else {
        (0..STEPS).map(|_| step(&x, &y).unwrap().item().unwrap()).collect()
    };
    set_default_device(Device::cpu()).unwrap();
    losses
}

/// The largest difference of two curves, relative to the first.
fn apart(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / a.abs()).fold(0.0, f32::max)
}

fn bits(losses: &[f32]) -> Vec<u32> {
    losses.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn losses_are_the_cpus_step_by_step() {
    let _turn = alone();
    let gpu = cuda(0);
    for task in [Task::Mixed, Task::Digits] {
        for (name, make, tolerance) in OPTIMIZERS {
            let host = losses(Device::cpu(), task, make, false);
            assert!(host[STEPS - 1] < 0.9 * host[0], "{name} learns nothing: {host:?}");
            let Some(gpu) = gpu else { continue };
            let there = losses(gpu, task, make, false);
            let apart = apart(&host, &there);
            println!("{task:?}, {name}: {} to {}, apart {apart:.1e}", host[0], host[STEPS - 1]);
            assert!(apart <= tolerance, "{task:?}, {name}: {apart:e} apart\n{host:?}\n{there:?}");
        }
    }
}

/// The same numbers for the same seed, run after run, replayed or not; on every device.
#[test]
fn the_same_seed_gives_the_same_bits() {
    let _turn = alone();
    for device in [Some(Device::cpu()), cuda(0)].into_iter().flatten() {
        for (name, make, _) in OPTIMIZERS {
            let first = bits(&losses(device, Task::Mixed, make, false));
            assert_eq!(first, bits(&losses(device, Task::Mixed, make, false)), "{name} on {device}, again");
            assert_eq!(first, bits(&losses(device, Task::Mixed, make, true)), "{name} on {device}, replayed");
        }
        let first = bits(&losses(device, Task::Digits, OPTIMIZERS[2].1, false));
        assert_eq!(first, bits(&losses(device, Task::Digits, OPTIMIZERS[2].1, true)), "digits on {device}");
    }
}

#[test]
fn the_second_device_gives_the_bits_of_the_first() {
    let _turn = alone();
    let (Some(first), Some(second)) = (cuda(0), cuda(1)) else { return };
    for (name, make, _) in OPTIMIZERS {
        let want = bits(&losses(first, Task::Mixed, make, false));
        assert_eq!(want, bits(&losses(second, Task::Mixed, make, false)), "{name}");
        assert_eq!(want, bits(&losses(second, Task::Mixed, make, true)), "{name}, replayed");
    }
    assert!(second.memory_stats().peak > 0);
}

/// A module that was made on the host trains where it is moved, as one that was made there.
#[test]
fn modules_move() {
    let _turn = alone();
    for device in [Some(Device::cpu()), cuda(0), cuda(1)].into_iter().flatten() {
        let trained = |moved: bool| {
            set_default_device(if moved { Device::cpu() } else { device }).unwrap();
            manual_seed(9);
            let net = sequential![
                Linear::new(6, 8).unwrap(),
                LayerNorm::new(&[8]).unwrap(),
                Linear::new(8, 1).unwrap()
            ];
            set_default_device(Device::cpu()).unwrap();
            // The optimiser has the tensors that are moved.
            let mut adam = Adam::new(net.parameters(), 0.01).unwrap();
            if moved {
                let (first, view) = (&net.parameters()[0], net.parameters()[0].t());
                let was = view.to_vec::<f32>().unwrap();
                net.to(device).unwrap();
                assert_eq!((first.device(), view.device()), (device, device));
                assert_eq!(view.to_vec::<f32>().unwrap(), was);
                assert!(first.is_leaf() && first.requires_grad());
            }
            let x = Tensor::from_vec((0..60).map(|i| (i as f32 * 0.7).sin()).collect(), &[10, 6]).unwrap();
            let x = x.to(device).unwrap();
            let losses: Vec<f32> = (0..10)
                .map(|_| {
                    let loss = net.forward(&x).unwrap().square().mean();
                    adam.zero_grad();
                    loss.backward().unwrap();
                    adam.step().unwrap();
                    loss.item().unwrap()
                })
                .collect();
            net.to(Device::cpu()).unwrap();
            for (name, p) in net.named_parameters() {
                assert_eq!(
                    (p.device(), p.grad().unwrap().device()),
                    (Device::cpu(), Device::cpu()),
                    "{name}"
                );
            }
            losses
        };
        let (made, moved) = (trained(false), trained(true));
        assert!(made[9] < made[0]);
        assert_eq!(bits(&made), bits(&moved), "{device}");
    }
    let x = Tensor::from_slice(&[1f32, 2.0]);
    let error = x.reshape(&[2, 1]).unwrap().move_to(Device::cpu()).unwrap_err();
    assert!(error.to_string().contains("move_to: a view lies where"), "{error}");
    assert!(x.move_to("cuda:99".parse().unwrap()).is_err() && x.device() == Device::cpu());
}

/// A checkpoint of one device is read on another.
#[test]
fn state_moves_between_devices() {
    let _turn = alone();
    let Some(gpu) = cuda(0) else { return };
    let made = |device, seed| {
        set_default_device(device).unwrap();
        manual_seed(seed);
        let model = sequential![Linear::new(4, 8).unwrap(), Tanh, Linear::new(8, 2).unwrap()];
        set_default_device(Device::cpu()).unwrap();
        model
    };
    let (there, here) = (made(gpu, 1), made(Device::cpu(), 2));
    let path = std::env::temp_dir().join(format!("mg-nn-cuda-{}.safetensors", std::process::id()));
    there.state().save(&path).unwrap();
    here.load_state(&State::load(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    for ((name, a), (_, b)) in there.named_parameters().iter().zip(here.named_parameters()) {
        assert_eq!((a.device(), b.device()), (gpu, Device::cpu()));
        assert_eq!(a.to_vec::<f32>().unwrap(), b.to_vec::<f32>().unwrap(), "{name}");
    }
    let other = made(gpu, 3);
    other.load_state(&here.state()).unwrap();
    for (a, b) in other.parameters().iter().zip(here.parameters()) {
        assert_eq!((a.device(), a.to_vec::<f32>().unwrap()), (gpu, b.to_vec::<f32>().unwrap()));
    }
}
