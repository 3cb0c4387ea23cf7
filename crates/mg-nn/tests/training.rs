//! Training: that it arrives, that it repeats itself, and that a step costs no more than it should.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use mg_autograd::{Tensor, default_device, jit, manual_seed, no_grad};
use mg_device::{DType, Device, Result};
use mg_nn::data::{Batches, Mnist};
use mg_nn::optim::*;
use mg_nn::*;

/// Tests here look at counters and random numbers of the whole process, so they take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn tensor(data: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

fn step(optimizer: &mut dyn Optimizer, loss: Tensor) -> f32 {
    optimizer.zero_grad();
    loss.backward().unwrap();
    optimizer.step().unwrap();
    loss.item().unwrap()
}

#[test]
fn xor_is_learnt_by_2_4_1() {
    let _turn = alone();
    let x = tensor(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[4, 2]);
    let y = tensor(&[0.0, 1.0, 1.0, 0.0], &[4, 1]);
    for seed in 0..3 {
        manual_seed(seed);
        let model = sequential![Linear::new(2, 4).unwrap(), Tanh, Linear::new(4, 1).unwrap()];
        let mut adam = Adam::new(model.parameters(), 0.05).unwrap();
        for _ in 0..500 {
            step(&mut adam, BCEWithLogitsLoss::default().forward(&model.forward(&x).unwrap(), &y).unwrap());
        }
        let answers = model.forward(&x).unwrap().sigmoid().to_vec::<f32>().unwrap();
        let right = answers.iter().zip([0.0, 1.0, 1.0, 0.0]).all(|(a, y)| (a - y).abs() < 0.2);
        assert!(right, "seed {seed}: {answers:?}");
    }
}

#[test]
fn a_line_is_found_in_noise() {
    let _turn = alone();
    manual_seed(11);
    let x = Tensor::uniform(&[1000, 1], -1.0, 1.0, DType::F32).unwrap();
    let y = &x * 2.0 + 1.0 + Tensor::randn(&[1000, 1], DType::F32).unwrap() * 0.1;
    Tensor::realize_all([&x, &y]).unwrap();
    let line = Linear::new(1, 1).unwrap();
    let options = SGDOptions { lr: 0.1, momentum: 0.9, ..Default::default() };
    let mut sgd = SGD::with_options(line.parameters(), options).unwrap();
    for _ in 0..200 {
        step(&mut sgd, MSELoss::default().forward(&line.forward(&x).unwrap(), &y).unwrap());
    }
    let (slope, intercept) =
        (line.weight.item::<f32>().unwrap(), line.bias.as_ref().unwrap().item::<f32>().unwrap());
    assert!((slope - 2.0).abs() < 0.05 && (intercept - 1.0).abs() < 0.05, "y = {slope} x + {intercept}");
}

/// The losses of some steps of a small network with everything that is random in it.
fn losses(seed: u64, n: usize) -> Vec<f32> {
    manual_seed(seed);
    let model = sequential![
        Linear::new(8, 16).unwrap(),
        LayerNorm::new(&[16]).unwrap(),
        GELU::default(),
        Dropout::new(0.2).unwrap(),
        Linear::new(16, 3).unwrap()
    ];
    let x = Tensor::randn(&[32, 8], DType::F32).unwrap();
    x.realize().unwrap();
    let labels = x.narrow(1, 0, 3).unwrap().argmax(Some(1), false);
    let mut adam = AdamW::new(model.parameters(), 0.01).unwrap();
    (0..n)
        .map(|_| {
            step(
                &mut adam,
                model.forward(&x).unwrap().try_cross_entropy(&labels, None, -100, "mean", 0.0).unwrap(),
            )
        })
        .collect()
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let _turn = alone();
    let first = losses(42, 20);
    assert_eq!(first, losses(42, 20));
    assert_ne!(first, losses(43, 20));
    assert!(first[19] < first[0]);
}

/// Learning rate, step count and random numbers are arguments of a plan: after the first steps nothing is planned.
#[test]
fn steps_find_their_plan() {
    let _turn = alone();
    type Make = fn(Vec<Tensor>) -> Box<dyn Optimizer>;
    let optimizers: [(&str, Make); 3] = [
        ("SGD", |p| Box::new(SGD::new(p, 0.1).unwrap())),
        ("SGD with momentum", |p| {
            let options =
                SGDOptions { momentum: 0.9, nesterov: true, weight_decay: 0.01, ..Default::default() };
            Box::new(SGD::with_options(p, options).unwrap())
        }),
        ("Adam", |p| Box::new(Adam::new(p, 0.01).unwrap())),
    ];
    for (name, make) in optimizers {
        manual_seed(1);
        let model = sequential![
            Linear::new(20, 30).unwrap(),
            ReLU,
            Dropout::new(0.1).unwrap(),
            Linear::new(30, 5).unwrap()
        ];
        let data = Tensor::randn(&[640, 20], DType::F32).unwrap();
        data.realize().unwrap();
        let labels = Tensor::from_vec((0..640).map(|i| i % 5).collect::<Vec<i64>>(), &[640]).unwrap();
        let mut optimizer = make(model.parameters());
        let mut scheduler = Scheduler::new(&mut *optimizer, ExponentialLR::new(0.95).unwrap()).unwrap();
        let mut made = 0;
        for i in 0..20 {
            let order: Vec<i64> = (0..640).map(|j| (j * 7 + i) % 640).collect();
            let index = Tensor::from_slice(&order).narrow(0, 32 * i as isize, 32).unwrap();
            let (x, y) = (data.index_select(0, &index).unwrap(), labels.index_select(0, &index).unwrap());
            let loss = model.forward(&x).unwrap().try_cross_entropy(&y, None, -100, "mean", 0.0).unwrap();
            optimizer.zero_grad();
            loss.backward().unwrap();
            optimizer.step().unwrap();
            assert!(!loss.node().is_pending(), "{name}: the loss is computed with the step");
            scheduler.step(&mut *optimizer).unwrap();
            let now = mg_graph::plan_stats().made;
            assert!(i < 3 || now == made, "{name}: step {i} made {} plans", now - made);
            made = now;
        }
    }
}

/// Gradients that are added to by each step, and read by nobody, are computed as steps go by; a step takes no plan of its own.
#[test]
fn gradients_that_pile_up_are_computed() {
    let _turn = alone();
    manual_seed(4);
    let model = sequential![Linear::new(6, 8).unwrap(), Tanh, Linear::new(8, 1).unwrap()];
    let x = Tensor::randn(&[4, 6], DType::F32).unwrap();
    let step = || {
        let loss = model.forward(&x).unwrap().square().mean();
        loss.backward().unwrap();
        loss.item::<f32>().unwrap();
    };
    step();
    let once: Vec<Vec<f64>> =
        model.parameters().iter().map(|p| p.grad().unwrap().to_f64_vec().unwrap()).collect();
    let mut made = 0;
    for i in 0..20 {
        step();
        let now = mg_graph::plan_stats().made;
        assert!(i < 3 || now == made, "step {i} made {} plans", now - made);
        made = now;
    }
    for (p, once) in model.parameters().iter().zip(once) {
        let whole = p.grad().unwrap().to_f64_vec().unwrap();
        let close = whole.iter().zip(&once).all(|(sum, one)| (sum - 21.0 * one).abs() < 1e-4);
        assert!(close, "{whole:?}, {once:?}");
    }
}

/// Resident memory in bytes, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split_whitespace().nth(1)?.parse::<usize>().ok()? * 4096)
}

/// 10,000 steps leave nothing behind: neither tensors nor graph.
#[test]
fn memory_stays_flat() {
    let _turn = alone();
    manual_seed(2);
    let model = sequential![Linear::new(16, 32).unwrap(), Tanh, Linear::new(32, 4).unwrap()];
    let data = Tensor::randn(&[256, 16], DType::F32).unwrap();
    let labels = Tensor::from_vec((0..256).map(|i| i % 4).collect::<Vec<i64>>(), &[256]).unwrap();
    Tensor::realize_all([&data, &labels]).unwrap();
    let mut adam = Adam::new(model.parameters(), 1e-3).unwrap();
    let mut figures = vec![];
    for i in 0..10_000 {
        let at = i % 8 * 32;
        let (x, y) = (data.narrow(0, at as isize, 32).unwrap(), labels.narrow(0, at as isize, 32).unwrap());
        let loss = model.forward(&x).unwrap().try_cross_entropy(&y, None, -100, "mean", 0.0).unwrap();
        adam.zero_grad();
        loss.backward().unwrap();
        adam.step().unwrap();
        drop(loss);
        if i % 1000 == 999 {
            figures.push((Device::cpu().memory_stats().active, resident()));
        }
    }
    let (first, last) = (figures[0], figures[9]);
    assert_eq!(first.0, last.0, "bytes in live buffers: {figures:?}");
    if let (Some(a), Some(b)) = (first.1, last.1) {
        assert!(b < a + (2 << 20), "resident bytes: {figures:?}");
    }
}

/// The files of MNIST: in `MNIST_DIR`, or `shared/data/mnist` beside the checkout.
fn mnist() -> Option<Mnist> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/mnist");
    let dir = std::env::var_os("MNIST_DIR").map_or(beside, PathBuf::from);
    let files = dir.is_dir().then(|| Mnist::load(&dir).unwrap());
    if files.is_none() {
        println!("skipped: no MNIST files");
    }
    files
}

#[test]
fn mnist_is_learnt_in_1000_steps() {
    let _turn = alone();
    let Some(mnist) = mnist() else { return };
    manual_seed(1337);
    let pixels = |idx: data::Idx| {
        let images = Tensor::from_buffer(idx.data, idx.shape).unwrap();
        images.to(default_device()).unwrap().flatten(1, -1).unwrap()
    };
    let (images, labels) = (
        pixels(mnist.train_images),
        Tensor::from_buffer(mnist.train_labels.data, mnist.train_labels.shape)
            .and_then(|labels| labels.to(default_device()))
            .unwrap(),
    );
    let model = sequential![Linear::new(784, 128).unwrap(), ReLU, Linear::new(128, 10).unwrap()];
    let mut adam = Adam::new(model.parameters(), 1e-3).unwrap();
    let batches = Batches::new(60_000, 128, Some(1), true).unwrap();
    let mut steps = 0;
    for epoch in 0.. {
        let order = batches.epoch(epoch);
        let order = Tensor::from_slice(order.order());
        for i in 0..batches.len().min(1000 - steps) {
            let index = order.narrow(0, 128 * i as isize, 128).unwrap();
            let x = images.index_select(0, &index).unwrap().to_dtype(DType::F32) / 255.0;
            let loss = model
                .forward(&x)
                .unwrap()
                .try_cross_entropy(&labels.index_select(0, &index).unwrap(), None, -100, "mean", 0.0)
                .unwrap();
            adam.zero_grad();
            loss.backward().unwrap();
            adam.step().unwrap();
            steps += 1;
        }
        if steps == 1000 {
            break;
        }
    }
    let _guard = no_grad();
    let x = pixels(mnist.test_images).to_dtype(DType::F32) / 255.0;
    let y = Tensor::from_buffer(mnist.test_labels.data, mnist.test_labels.shape)
        .and_then(|labels| labels.to(default_device()))
        .unwrap();
    let right = model.forward(&x).unwrap().argmax(Some(1), false).eq(&y).sum().item::<i64>().unwrap();
    assert!(right > 9500, "{right} of 10000");
}

/// A replayed step is the step: with a learning rate that a schedule changes and what Adam counts, to the last bit.
#[test]
fn replayed_training_is_training() {
    let _turn = alone();
    type Make = fn(Vec<Tensor>) -> Result<Box<dyn Optimizer>>;
    let optimizers: [Make; 4] = [
        |p| Ok(Box::new(SGD::new(p, 0.1)?)),
        |p| Ok(Box::new(SGD::with_options(p, SGDOptions { lr: 0.1, momentum: 0.9, ..Default::default() })?)),
        |p| Ok(Box::new(Adam::new(p, 0.01)?)),
        |p| Ok(Box::new(AdamW::new(p, 0.01)?)),
    ];
    // Losses, parameters and the optimiser's state after some steps.
    let run = |make: Make, replays: bool| -> Result<Vec<Vec<f64>>> {
        manual_seed(7);
        let model = sequential![Linear::new(5, 8)?, Tanh, Linear::new(8, 3)?];
        let mut optimizer = make(model.parameters())?;
        let mut schedule = Scheduler::new(&mut *optimizer, CosineAnnealingLR::new(20, 0.0)?)?;
        let optimizer = std::cell::RefCell::new(optimizer);
        let once = |args: &[Tensor]| {
            let loss = model.forward(&args[0])?.try_cross_entropy(&args[1], None, -100, "mean", 0.0)?;
            let mut optimizer = optimizer.borrow_mut();
            optimizer.zero_grad();
            loss.backward()?;
            optimizer.step()?;
            Ok(vec![loss])
        };
        let mut replayed = jit(once);
        let mut seen = vec![vec![]];
        for i in 0..20 {
            let x = Tensor::rand(&[4, 5], DType::F32)?;
            let y = Tensor::from_slice(&[0i64, 1, 2, i % 3]);
            let loss = if replays { replayed.call(&[&x, &y])? } else { once(&[x, y])? };
            seen[0].push(loss[0].item::<f64>()?);
            schedule.step(&mut **optimizer.borrow_mut())?;
        }
        assert_eq!(replayed.is_replaying(), replays);
        let state = optimizer.borrow().state();
        for t in model.parameters().iter().chain(state.tensors.values()) {
            seen.push(t.to_dtype(DType::F64).to_vec::<f64>()?);
        }
        Ok(seen)
    };
    for (i, make) in optimizers.into_iter().enumerate() {
        assert_eq!(run(make, false).unwrap(), run(make, true).unwrap(), "optimiser {i}");
    }
}

/// A step that updates twice counts twice, each time before what it computes.
#[test]
fn two_updates_in_a_replayed_step_are_two() {
    let _turn = alone();
    let run = |replays: bool| -> Result<Vec<f32>> {
        let w = Tensor::from_slice(&[1.0f32, -2.0, 3.0]).requires_grad_(true)?;
        let mut adam = Adam::new(vec![w.clone()], 0.1)?;
        let kept = w.clone();
        let mut once = move |args: &[Tensor]| {
            for x in args {
                adam.zero_grad();
                (&kept * x).try_square()?.sum().backward()?;
                adam.step()?;
            }
            Ok(vec![])
        };
        let x = [Tensor::from_slice(&[1.0f32, 2.0, 3.0]), Tensor::from_slice(&[3.0f32, 1.0, 0.5])];
        if replays {
            let mut replayed = jit(once);
            for _ in 0..10 {
                replayed.call(&[&x[0], &x[1]])?;
            }
            assert!(replayed.is_replaying());
        } else {
            for _ in 0..10 {
                once(&x)?;
            }
        }
        w.to_vec()
    };
    assert_eq!(run(false).unwrap(), run(true).unwrap());
}

/// A replayed step goes on from an optimiser's state that was loaded since.
#[test]
fn a_loaded_state_is_where_a_replayed_step_goes_on_from() {
    let _turn = alone();
    type Make = fn(Vec<Tensor>) -> Result<Box<dyn Optimizer>>;
    let optimizers: [Make; 2] = [
        |p| Ok(Box::new(SGD::with_options(p, SGDOptions { lr: 0.1, momentum: 0.9, ..Default::default() })?)),
        |p| Ok(Box::new(Adam::new(p, 0.1)?)),
    ];
    let run = |make: Make, replays: bool| -> Result<Vec<f32>> {
        let w = Tensor::from_slice(&[1.0f32, -2.0, 3.0]).requires_grad_(true)?;
        let optimizer = std::cell::RefCell::new(make(vec![w.clone()])?);
        let once = |args: &[Tensor]| {
            let mut optimizer = optimizer.borrow_mut();
            optimizer.zero_grad();
            (&w * &args[0]).try_square()?.sum().backward()?;
            optimizer.step()?;
            Ok(vec![])
        };
        let mut replayed = jit(once);
        let x = Tensor::from_slice(&[1.0f32, 0.2, 0.3]);
        let mut early = None;
        for i in 0..20 {
            if replays {
                replayed.call(&[&x])?
            } else {
                once(std::slice::from_ref(&x))?
            };
            if i == 2 {
                let state = optimizer.borrow().state();
                let tensors = state.tensors.into_iter().map(|(k, t)| {
                    let own = t.copy();
                    own.realize()?;
                    Ok((k, own))
                });
                early = Some(State { tensors: tensors.collect::<Result<_>>()?, ..State::default() });
            }
            if let Some(state) = early.as_ref().filter(|_| i == 15) {
                optimizer.borrow_mut().load_state(state)?;
            }
        }
        assert_eq!(replayed.is_replaying(), replays);
        w.to_vec()
    };
    for (i, make) in optimizers.into_iter().enumerate() {
        assert_eq!(run(make, false).unwrap(), run(make, true).unwrap(), "optimiser {i}");
    }
}
