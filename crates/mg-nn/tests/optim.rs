//! Optimisers against PyTorch's numbers, and learning rates against their formulas.
#![allow(clippy::excessive_precision)] // numbers as PyTorch prints them

use mg_autograd::Tensor;
use mg_device::{ErrorKind, Result};
use mg_nn::State;
use mg_nn::optim::*;

fn leaf(data: &[f32]) -> Tensor {
    Tensor::from_slice(data).requires_grad_(true).unwrap()
}

fn close(got: &[f32], want: &[f32]) {
    assert_eq!(got.len(), want.len());
    let fits = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-6 + 1e-5 * w.abs());
    assert!(fits, "got {got:?}, want {want:?}");
}

/// Five steps from [1, −2, 0.5] down Σ (gₖ p + 0.1 p²), whose gradients change from step to step.
fn five_steps(make: impl Fn(Vec<Tensor>) -> Result<Box<dyn Optimizer>>) -> Vec<f32> {
    let p = leaf(&[1.0, -2.0, 0.5]);
    let mut optimizer = make(vec![p.clone()]).unwrap();
    for i in 0..5 {
        let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
        let g = Tensor::from_slice(&[0.5 * (i + 1) as f32, -0.25, 0.125 * sign]);
        optimizer.zero_grad();
        (&p * &g + p.square() * 0.1).sum().backward().unwrap();
        optimizer.step().unwrap();
    }
    p.to_vec().unwrap()
}

fn sgd(options: SGDOptions) -> Vec<f32> {
    five_steps(|p| Ok(Box::new(SGD::with_options(p, options)?)))
}

#[test]
fn sgd_steps_as_pytorchs() {
    let options = SGDOptions { lr: 0.1, ..Default::default() };
    let heavy = SGDOptions { momentum: 0.9, ..options };
    close(&sgd(options), &[0.17362316, -1.6877426, 0.43994069]);
    close(&sgd(heavy), &[-0.7858659, -1.1852785, 0.34649786]);
    close(&sgd(SGDOptions { dampening: 0.5, ..heavy }), &[-0.045750655, -1.4552405, 0.37692034]);
    close(&sgd(SGDOptions { nesterov: true, ..heavy }), &[-1.3695018, -0.99219459, 0.30955151]);
    close(&sgd(SGDOptions { weight_decay: 0.01, ..heavy }), &[-0.79530668, -1.1622179, 0.34067503]);
    close(&sgd(SGDOptions { maximize: true, ..options }), &[1.8743833, -2.3382626, 0.56506068]);
}

#[test]
fn adam_steps_as_pytorchs() {
    let adam = |options| five_steps(|p| Ok(Box::new(Adam::with_options(p, options)?)));
    let adamw = |options| five_steps(|p| Ok(Box::new(AdamW::with_options(p, options)?)));
    let options = AdamOptions { lr: 0.1, ..Default::default() };
    close(&adam(options), &[0.50845939, -1.5016167, 0.17449714]);
    let other = AdamOptions { weight_decay: 0.1, betas: (0.8, 0.9), eps: 1e-3, ..options };
    close(&adam(other), &[0.50438529, -1.5026877, 0.13769402]);
    close(&adam(AdamOptions { maximize: true, ..options }), &[1.4903048, -2.5010917, 0.89803314]);
    let decayed = AdamWOptions { lr: 0.1, weight_decay: 0.3, amsgrad: true, ..Default::default() };
    close(&adamw(decayed), &[0.39577669, -1.2492942, 0.13204791]);
    close(&five_steps(|p| Ok(Box::new(AdamW::new(p, 0.1)?))), &[0.5044502, -1.492671, 0.17297369]);
}

#[test]
fn amsgrad_remembers_the_largest_square() {
    let run = |amsgrad| {
        let p = leaf(&[1.0]);
        let options = AdamOptions { lr: 0.1, betas: (0.9, 0.5), amsgrad, ..Default::default() };
        let mut adam = Adam::with_options(vec![p.clone()], options).unwrap();
        for g in [10.0f32, 0.1, 0.1, 0.1, -0.1] {
            p.set_grad(Some(&Tensor::from_slice(&[g]))).unwrap();
            adam.step().unwrap();
        }
        p.to_vec::<f32>().unwrap()
    };
    close(&run(true), &[0.74797791]);
    close(&run(false), &[0.56002527]);
}

#[test]
fn the_first_steps_are_as_computed_by_hand() {
    let grad = |p: &Tensor, g: f32| p.set_grad(Some(&Tensor::from_slice(&[g]))).unwrap();
    let p = leaf(&[2.0]);
    let mut sgd =
        SGD::with_options(vec![p.clone()], SGDOptions { lr: 0.1, momentum: 0.5, ..Default::default() })
            .unwrap();
    grad(&p, 1.0);
    sgd.step().unwrap();
    close(&p.to_vec().unwrap(), &[1.9]);
    // The momentum is 0.5 · 1 + 0.5 = 1.
    grad(&p, 0.5);
    sgd.step().unwrap();
    close(&p.to_vec().unwrap(), &[1.8]);

    let p = leaf(&[2.0]);
    let mut adam = Adam::new(vec![p.clone()], 0.1).unwrap();
    grad(&p, 1.0);
    adam.step().unwrap();
    close(&p.to_vec().unwrap(), &[1.9]);
}

#[test]
fn a_missing_gradient_leaves_a_parameter_unchanged() {
    for make in [
        (|p| Ok(Box::new(SGD::new(p, 0.1)?) as Box<dyn Optimizer>)) as fn(_) -> Result<Box<dyn Optimizer>>,
        |p| Ok(Box::new(AdamW::new(p, 0.1)?)),
    ] {
        let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[3.0]));
        let mut optimizer = make(vec![a.clone(), b.clone()]).unwrap();
        b.sum().backward().unwrap();
        optimizer.step().unwrap();
        assert_eq!(a.to_vec::<f32>().unwrap(), [1.0, 2.0]);
        assert!(b.item::<f32>().unwrap() < 3.0);
        optimizer.zero_grad();
        assert!(b.grad().is_none());
        let before = b.item::<f32>().unwrap();
        optimizer.step().unwrap();
        assert_eq!(b.item::<f32>().unwrap(), before);
    }
}

#[test]
fn a_step_computes_parameters_and_gradients() {
    let p = leaf(&[1.0, 2.0]);
    let mut adam = Adam::new(vec![p.clone()], 0.1).unwrap();
    p.square().sum().backward().unwrap();
    adam.step().unwrap();
    assert!(!p.node().is_pending());
    assert!(!p.grad().unwrap().node().is_pending());
    assert_eq!(p.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert!(p.is_leaf() && p.requires_grad());
}

#[test]
fn bad_options_are_errors() {
    let kind = |result: Result<()>| result.unwrap_err().kind().clone();
    let p = || vec![leaf(&[1.0])];
    let sgd = |options| kind(SGD::with_options(p(), options).map(drop));
    let adam = |options| kind(Adam::with_options(p(), options).map(drop));
    let (s, a) = (SGDOptions::default(), AdamOptions::default());
    for (got, want) in [
        (sgd(SGDOptions { lr: -0.1, ..s }), "takes a learning rate of at least 0, got -0.1"),
        (sgd(SGDOptions { lr: f64::NAN, ..s }), "takes a learning rate of at least 0, got NaN"),
        (sgd(SGDOptions { momentum: -1.0, ..s }), "takes a momentum of at least 0, got -1"),
        (
            sgd(SGDOptions { nesterov: true, ..s }),
            "Nesterov's momentum takes a momentum above 0 and no dampening",
        ),
        (adam(AdamOptions { betas: (1.0, 0.9), ..a }), "takes betas in [0, 1), got 1"),
        (adam(AdamOptions { betas: (0.9, -0.1), ..a }), "takes betas in [0, 1), got -0.1"),
        (adam(AdamOptions { eps: -1.0, ..a }), "takes an eps of at least 0, got -1"),
        (adam(AdamOptions { weight_decay: -1.0, ..a }), "takes a weight decay of at least 0, got -1"),
        (kind(SGD::new(vec![], 0.1).map(drop)), "takes at least one parameter, got none"),
    ] {
        assert_eq!(got, ErrorKind::Value(want.into()));
    }
    let p = leaf(&[1.0]);
    let twice = SGD::new(vec![p.clone(), p.clone()], 0.1).map(drop).unwrap_err();
    assert!(twice.to_string().contains("parameters 0 and 1 are the same tensor"), "{twice}");
    let result = AdamW::new(vec![p.clone(), &p * 2.0], 0.1).map(drop).unwrap_err();
    assert!(result.to_string().contains("parameter 1 is the result of an operation"), "{result}");
    let mut sgd = SGD::new(vec![p], 0.1).unwrap();
    assert!(sgd.set_lr(f64::INFINITY).is_err());
    assert_eq!(sgd.lr(), 0.1);
}

/// Training that is stopped, saved to a file, loaded and gone on with ends where it would have ended.
#[test]
fn an_optimisers_state_goes_through_a_file() {
    type Make = fn(Vec<Tensor>) -> Result<Box<dyn Optimizer>>;
    let adam: Make = |p| Ok(Box::new(Adam::new(p, 0.1)?));
    let amsgrad: Make =
        |p| Ok(Box::new(Adam::with_options(p, AdamOptions { amsgrad: true, ..Default::default() })?));
    let sgd: Make =
        |p| Ok(Box::new(SGD::with_options(p, SGDOptions { momentum: 0.9, ..Default::default() })?));
    for (i, make) in [adam, amsgrad, sgd].into_iter().enumerate() {
        let path = std::env::temp_dir().join(format!("optim-{}-{i}.safetensors", std::process::id()));
        let step = |p: &Tensor, optimizer: &mut dyn Optimizer, n: usize| {
            for _ in 0..n {
                optimizer.zero_grad();
                (p.square() + p).sum().backward().unwrap();
                optimizer.step().unwrap();
            }
        };
        let (p, idle) = (leaf(&[1.0, -3.0]), leaf(&[1.0]));
        let mut optimizer = make(vec![p.clone(), idle.clone()]).unwrap();
        step(&p, &mut *optimizer, 3);
        let mut state = State::default().with("optimizer", optimizer.state());
        state.tensors.insert("p".into(), p.detach());
        state.save(&path).unwrap();
        step(&p, &mut *optimizer, 3);

        let state = State::load(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let other = leaf(&state.tensors["p"].to_vec::<f32>().unwrap());
        let mut again = make(vec![other.clone(), idle]).unwrap();
        again.load_state(&state.part("optimizer")).unwrap();
        step(&other, &mut *again, 3);
        assert_eq!(p.to_vec::<f32>().unwrap(), other.to_vec::<f32>().unwrap());
    }
}

#[test]
fn the_state_of_another_optimiser_is_an_error() {
    let p = leaf(&[1.0, 2.0]);
    let mut adam = Adam::new(vec![p.clone()], 0.1).unwrap();
    p.sum().backward().unwrap();
    adam.step().unwrap();
    let state = adam.state();
    assert_eq!(state.tensors.keys().collect::<Vec<_>>(), ["0.exp_avg", "0.exp_avg_sq", "0.step"]);

    let told = |o: &mut dyn Optimizer, state: &State, text: &str| {
        let before = o.state();
        let e = o.load_state(state).unwrap_err().to_string();
        assert!(e.contains(&format!("the state of another optimiser; {text}")), "{e}");
        let now = o.state();
        assert!(before.tensors.keys().eq(now.tensors.keys()));
        for (t, now) in before.tensors.values().zip(now.tensors.values()) {
            assert_eq!(t.to_f64_vec().unwrap(), now.to_f64_vec().unwrap());
        }
    };
    let mut other = Adam::new(vec![leaf(&[1.0])], 0.1).unwrap();
    let both = "0.exp_avg (takes [1], got [2]), 0.exp_avg_sq (takes [1], got [2])";
    told(&mut other, &state, &format!("of another shape: {both} ("));
    let mut sgd = SGD::new(vec![p.clone()], 0.1).unwrap();
    told(&mut sgd, &state, "unexpected: 0.exp_avg, 0.exp_avg_sq, 0.step (");
    let mut partial = state.clone();
    partial.tensors.remove("0.exp_avg_sq");
    partial.tensors.remove("0.step");
    partial.tensors.insert("0.exp_avg".into(), Tensor::from_slice(&[7.0f32, 7.0]));
    told(&mut adam, &partial, "missing: 0.exp_avg_sq, 0.step (");

    // Of several groups none takes what fits it, and what does not is named by its number in all.
    let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[3.0]));
    let mut adam = Adam::new(vec![a.clone()], 0.1).unwrap();
    adam.add_param_group(vec![b.clone()], AdamOptions::default()).unwrap();
    (a.sum() + b.sum()).backward().unwrap();
    adam.step().unwrap();
    let mut state = adam.state();
    state.tensors.insert("0.exp_avg".into(), Tensor::from_slice(&[7.0f32, 7.0]));
    state.tensors.insert("1.exp_avg".into(), Tensor::from_slice(&[7.0f32, 7.0]));
    state.tensors.insert("1.step".into(), Tensor::from_slice(&[7.0f32, 7.0]));
    state.tensors.insert("2.step".into(), Tensor::scalar(1.0f32));
    state.tensors.insert("0.more".into(), Tensor::scalar(1.0f32));
    state.tensors.remove("1.exp_avg_sq");
    let text = "missing: 1.exp_avg_sq; unexpected: 2.step, 0.more; \
                of another shape: 1.exp_avg (takes [1], got [2]), 1.step (takes [], got [2]) (";
    told(&mut adam, &state, text);
}

#[test]
fn the_state_of_another_lbfgs_is_an_error() {
    let p = leaf(&[1.0, 2.0]);
    let mut lbfgs = LBFGS::with_options(vec![p.clone()], LBFGSOptions::default()).unwrap();
    lbfgs
        .step(&mut || {
            p.zero_grad();
            let loss = p.powf(4.0).sum();
            loss.backward()?;
            Ok(loss)
        })
        .unwrap();
    let mut state = lbfgs.state();
    lbfgs.load_state(&state).unwrap();
    state.tensors.remove("0.d");
    state.tensors.remove("0.ro.0");
    state.tensors.insert("0.t".into(), Tensor::from_slice(&[7.0f32, 7.0]));
    state.tensors.insert("0.old_dirs.0".into(), Tensor::scalar(1.0f32));
    state.tensors.insert("1.d".into(), Tensor::scalar(1.0f32));
    let (before, change) = (lbfgs.state(), lbfgs.last_change());
    let e = lbfgs.load_state(&state).unwrap_err().to_string();
    let text = "missing: 0.d, 0.ro.0; unexpected: 1.d; of another shape: 0.old_dirs.0 (takes [2], got []), 0.t (takes [], got [2])";
    assert!(e.contains(text), "{e}");
    assert!(before.tensors.keys().eq(lbfgs.state().tensors.keys()) && lbfgs.last_change() == change);
}

/// The learning rates of epochs 0, 1, … of a schedule that starts from 0.1.
fn rates(schedule: impl Schedule, n: usize) -> Vec<f64> {
    let mut sgd = SGD::new(vec![leaf(&[0.0])], 0.1).unwrap();
    let mut scheduler = Scheduler::new(&mut sgd, schedule).unwrap();
    (0..n)
        .map(|_| {
            let lr = sgd.lr();
            scheduler.step(&mut sgd).unwrap();
            lr
        })
        .collect()
}

fn near(got: &[f64], want: &[f64]) {
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-12),
        "got {got:?}, want {want:?}"
    );
}

#[test]
fn schedules_are_pytorchs() {
    near(&rates(StepLR::new(3, 0.1).unwrap(), 7), &[0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.001]);
    near(&rates(ExponentialLR::new(0.9).unwrap(), 3), &[0.1, 0.09, 0.081]);
    let multi = rates(MultiStepLR::new(&[3, 7], 0.1).unwrap(), 9);
    near(&multi, &[0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.001, 0.001]);
    let warm = rates(LinearLR::new(0.1, 1.0, 10).unwrap(), 13);
    let want: Vec<f64> = (0..13).map(|i| 0.01 + 0.009 * i.min(10) as f64).collect();
    near(&warm, &want);
    let cosine = rates(CosineAnnealingLR::new(10, 0.01).unwrap(), 21);
    near(&[cosine[0], cosine[5], cosine[10], cosine[20]], &[0.1, 0.055, 0.01, 0.1]);
    assert!(cosine.iter().all(|&lr| lr >= cosine[10]));
}

#[test]
fn a_schedule_goes_on_where_it_left_off() {
    let mut sgd = SGD::new(vec![leaf(&[0.0])], 0.1).unwrap();
    let mut scheduler = Scheduler::new(&mut sgd, ExponentialLR::new(0.5).unwrap()).unwrap();
    scheduler.set_epoch(&mut sgd, 3).unwrap();
    near(&[sgd.lr()], &[0.0125]);
    scheduler.step(&mut sgd).unwrap();
    assert_eq!(scheduler.epoch(), 4);
    near(&[sgd.lr()], &[0.00625]);
}

#[test]
fn schedules_multiply() {
    let mut sgd = SGD::new(vec![leaf(&[0.0])], 0.1).unwrap();
    let mut warm = Scheduler::new(&mut sgd, LinearLR::new(0.5, 1.0, 2).unwrap()).unwrap();
    let mut decay = Scheduler::new(&mut sgd, ExponentialLR::new(0.9).unwrap()).unwrap();
    near(&[sgd.lr(), sgd.initial_lr()], &[0.05, 0.1]);
    let both = |sgd: &mut SGD, warm: &mut Scheduler<LinearLR>, decay: &mut Scheduler<ExponentialLR>| {
        warm.step(sgd).unwrap();
        decay.step(sgd).unwrap();
        sgd.lr()
    };
    near(&[both(&mut sgd, &mut warm, &mut decay)], &[0.075 * 0.9]);
    near(&[both(&mut sgd, &mut warm, &mut decay)], &[0.1 * 0.81]);
    // A rate that is set by hand is gone on from.
    sgd.set_lr(1.0).unwrap();
    near(&[both(&mut sgd, &mut warm, &mut decay)], &[0.9]);
}

/// In any schedule, the rate that follows from epoch to epoch is the rate of the epoch.
#[test]
fn steps_of_schedules_meet_their_closed_forms() {
    fn meets(schedule: impl Schedule) {
        let mut now = schedule.start(0.3, 0.3, 0);
        near(&[now], &[schedule.lr(0.3, 0)]);
        for epoch in 1..50 {
            now = schedule.next(now, 0.3, epoch);
            near(&[now], &[schedule.lr(0.3, epoch)]);
        }
    }
    meets(StepLR::new(3, 0.5).unwrap());
    meets(MultiStepLR::new(&[3, 7, 7, 20], 0.5).unwrap());
    meets(ExponentialLR::new(0.97).unwrap());
    meets(LinearLR::new(0.1, 0.8, 10).unwrap());
    for t_max in [1, 2, 7, 100] {
        meets(CosineAnnealingLR::new(t_max, 0.01).unwrap());
    }
    // One's own, which says nothing of how it goes on.
    struct Inverse;
    impl Schedule for Inverse {
        fn lr(&self, base: f64, epoch: u64) -> f64 {
            base / (1.0 + epoch as f64)
        }
    }
    meets(Inverse);
}

#[test]
fn the_options_of_a_group_are_read_and_changed() {
    let (a, b) = (leaf(&[1.0]), leaf(&[1.0]));
    let mut sgd = SGD::new(vec![a.clone()], 0.1).unwrap();
    sgd.add_param_group(vec![b.clone()], SGDOptions { lr: 0.2, ..Default::default() }).unwrap();
    let rates = |sgd: &SGD| [0, 1, 2].map(|group| sgd.options_of(group).map(|of| of.lr));
    assert_eq!(rates(&sgd), [Some(0.1), Some(0.2), None]);
    sgd.set_options_of(1, SGDOptions { lr: 0.5, ..Default::default() }).unwrap();
    assert_eq!(rates(&sgd), [Some(0.1), Some(0.5), None]);
    (a.sum() + b.sum()).backward().unwrap();
    sgd.step().unwrap();
    close(&[a.item().unwrap(), b.item().unwrap()], &[0.9, 0.5]);
    let wrong = SGDOptions { momentum: -1.0, ..Default::default() };
    assert!(matches!(sgd.set_options_of(1, wrong).unwrap_err().kind(), ErrorKind::Value(_)));
    let missing = sgd.set_options_of(2, SGDOptions::default()).unwrap_err();
    assert!(missing.to_string().contains("there is no group 2"), "{missing}");
    assert_eq!(rates(&sgd), [Some(0.1), Some(0.5), None]);
}

#[test]
fn options_can_be_changed_between_steps() {
    let p = leaf(&[1.0]);
    let mut sgd = SGD::new(vec![p.clone()], 0.1).unwrap();
    let step = |optimizer: &mut dyn Optimizer| {
        p.set_grad(Some(&Tensor::from_slice(&[1.0f32]))).unwrap();
        optimizer.step().unwrap();
        p.item::<f32>().unwrap()
    };
    close(&[step(&mut sgd)], &[0.9]);
    sgd.set_options(SGDOptions { momentum: 0.5, lr: 0.2, ..sgd.options() }).unwrap();
    close(&[step(&mut sgd)], &[0.7]);
    close(&[step(&mut sgd)], &[0.4]);
    assert!(sgd.set_options(SGDOptions { momentum: -1.0, ..sgd.options() }).is_err());
    assert_eq!((sgd.options().momentum, sgd.lr()), (0.5, 0.2));

    let mut adam = AdamW::new(vec![p.clone()], 0.1).unwrap();
    adam.set_options(AdamWOptions { weight_decay: 0.0, ..adam.options() }).unwrap();
    close(&[step(&mut adam)], &[0.3]);
    adam.set_options(AdamWOptions { amsgrad: true, weight_decay: 0.5, lr: 0.2, ..adam.options() }).unwrap();
    close(&[step(&mut adam)], &[0.3 * 0.9 - 0.2]);
    assert!(adam.state().tensors.contains_key("0.max_exp_avg_sq"));
    assert!(adam.set_options(AdamWOptions { eps: -1.0, ..adam.options() }).is_err());
}

#[test]
fn a_state_is_a_snapshot() {
    let p = leaf(&[1.0]);
    let mut adam = Adam::new(vec![p.clone()], 0.1).unwrap();
    let step = |adam: &mut Adam| {
        p.set_grad(Some(&Tensor::from_slice(&[1.0f32]))).unwrap();
        adam.step().unwrap();
    };
    step(&mut adam);
    let state = adam.state();
    step(&mut adam);
    close(&state.tensors["0.exp_avg"].to_vec::<f32>().unwrap(), &[0.1]);
    adam.load_state(&state).unwrap();
    step(&mut adam);
    step(&mut adam);
    close(&state.tensors["0.exp_avg"].to_vec::<f32>().unwrap(), &[0.1]);
    assert_eq!(state.tensors["0.step"].item::<f32>().unwrap(), 1.0);
}

#[test]
fn bad_schedules_are_errors() {
    for error in [
        StepLR::new(0, 0.1).map(drop),
        StepLR::new(1, -0.1).map(drop),
        ExponentialLR::new(f64::NAN).map(drop),
        MultiStepLR::new(&[1], f64::INFINITY).map(drop),
        CosineAnnealingLR::new(0, 0.0).map(drop),
        LinearLR::new(0.1, 1.0, 0).map(drop),
        LinearLR::new(0.0, 1.0, 5).map(drop),
    ] {
        assert!(matches!(error.unwrap_err().kind(), ErrorKind::Value(_)));
    }
}

/// A step of two groups has the options of each; schedules move each from its own rate.
#[test]
fn groups_have_options_of_their_own() {
    let (a, b) = (leaf(&[1.0]), leaf(&[1.0]));
    let mut sgd = SGD::new(vec![a.clone()], 0.1).unwrap();
    sgd.add_param_group(vec![b.clone()], SGDOptions { lr: 0.5, maximize: true, ..Default::default() })
        .unwrap();
    let e = sgd.add_param_group(vec![a.clone()], SGDOptions::default()).unwrap_err();
    assert!(e.to_string().contains("parameters 0 and 2 are the same tensor"), "{e}");
    let mut scheduler = Scheduler::new(&mut sgd, ConstantLR::new(0.5, 1).unwrap()).unwrap();
    let step = |sgd: &mut SGD| {
        for p in [&a, &b] {
            p.set_grad(Some(&Tensor::from_slice(&[1.0f32]))).unwrap();
        }
        sgd.step().unwrap();
        [a.item::<f32>().unwrap(), b.item::<f32>().unwrap()]
    };
    close(&step(&mut sgd), &[0.95, 1.25]);
    scheduler.step(&mut sgd).unwrap();
    close(&step(&mut sgd), &[0.85, 1.75]);
    assert_eq!((sgd.groups(), sgd.lr_of(1), sgd.parameters().len()), (2, 0.5, 2));
    assert!(sgd.set_lr_of(2, 0.1).is_err());
}

/// The numbers of PyTorch 2.15, of which the Python tests compare many more.
#[test]
fn other_rules_step_as_pytorchs() {
    fn of<R: Rule>() -> Vec<f32> {
        five_steps(|p| Ok(Box::new(ByRule::<R>::new(p, 0.1)?)))
    }
    for (got, want) in [
        (of::<RMSpropOptions>(), [-2.8876734, 0.47485587, -0.19339859]),
        (of::<AdagradOptions>(), [0.60085005, -1.6828237, 0.31621307]),
        (of::<AdadeltaOptions>(), [0.99768114, -1.9983569, 0.49912649]),
        (of::<AdamaxOptions>(), [0.61001021, -1.5155977, 0.23263519]),
        (of::<NAdamOptions>(), [0.5118019, -1.6030995, 0.26673496]),
        (of::<RAdamOptions>(), [0.38771746, -1.6820158, 0.43388787]),
        (of::<RpropOptions>(), [0.25583994, -1.2558398, 0.32499999]),
        (of::<ASGDOptions>(), [0.17360252, -1.687657, 0.43991873]),
        (of::<AdafactorOptions>(), [0.35762167, -1.4782356, 0.24197507]),
    ] {
        close(&got, &want);
    }
}

#[test]
fn a_state_goes_on_in_groups() {
    let make = || {
        let (a, b) = (leaf(&[1.0, 2.0]), leaf(&[3.0]));
        let mut nadam = NAdam::new(vec![a.clone()], 0.1).unwrap();
        nadam.add_param_group(vec![b.clone()], NAdamOptions { lr: 0.5, ..Default::default() }).unwrap();
        (a, b, nadam)
    };
    let steps = |a: &Tensor, b: &Tensor, nadam: &mut NAdam| {
        for _ in 0..3 {
            nadam.zero_grad();
            (a.square().sum() + b.square().sum()).backward().unwrap();
            nadam.step().unwrap();
        }
    };
    let (a, b, mut first) = make();
    steps(&a, &b, &mut first);
    let state = first.state();
    assert_eq!(
        state.tensors.keys().collect::<Vec<_>>(),
        [
            "0.exp_avg",
            "0.exp_avg_sq",
            "0.mu_product",
            "0.step",
            "1.exp_avg",
            "1.exp_avg_sq",
            "1.mu_product",
            "1.step"
        ]
    );
    let (c, d, mut second) = make();
    no_grad_copy(&c, &a);
    no_grad_copy(&d, &b);
    second.load_state(&state).unwrap();
    steps(&a, &b, &mut first);
    steps(&c, &d, &mut second);
    assert_eq!(a.to_vec::<f32>().unwrap(), c.to_vec::<f32>().unwrap());
    assert_eq!(b.to_vec::<f32>().unwrap(), d.to_vec::<f32>().unwrap());
    let mut partial = state;
    partial.tensors.remove("1.mu_product");
    let e = second.load_state(&partial).unwrap_err().to_string();
    assert!(e.contains("missing: 1.mu_product"), "{e}");
}

fn no_grad_copy(to: &Tensor, from: &Tensor) {
    let _guard = mg_autograd::no_grad();
    to.assign(from).unwrap();
}

/// The rates of PyTorch 2.15's schedules that begin again.
#[test]
fn cycles_are_pytorchs() {
    let restarts = rates(CosineAnnealingWarmRestarts::new(2, 2, 0.0).unwrap(), 7);
    near(&restarts[..3], &[0.1, 0.05, 0.1]);
    near(&[restarts[4], restarts[6]], &[0.05, 0.1]);
    near(&rates(ConstantLR::new(0.5, 2).unwrap(), 4), &[0.05, 0.05, 0.1, 0.1]);
    near(&rates(PolynomialLR::new(4, 2.0).unwrap(), 6), &[0.1, 0.05625, 0.025, 0.00625, 0.0, 0.0]);
    near(&rates(MultiplicativeLR(|e| 1.0 / e as f64), 4), &[0.1, 0.1, 0.05, 0.05 / 3.0]);
    near(
        &rates(CyclicLR::new(0.5, 2, 2, Cycle::Triangular2).unwrap(), 7),
        &[0.1, 0.3, 0.5, 0.3, 0.1, 0.2, 0.3],
    );
    let mut one = OneCycleLR::new(1.0, 10).unwrap();
    one.linear = true;
    let one = rates(one, 10);
    near(&[one[0], one[2], one[9]], &[0.04, 1.0, 0.000004]);
    let all: Vec<Box<dyn Schedule + Send + Sync>> =
        vec![Box::new(ConstantLR::new(0.1, 5).unwrap()), Box::new(ExponentialLR::new(0.5).unwrap())];
    near(&rates(SequentialLR::new(all, &[2]).unwrap(), 5), &[0.01, 0.01, 0.1, 0.05, 0.025]);
}
