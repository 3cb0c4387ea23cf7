//! Parameters that are computed, pruned, or without a shape at first; numbers are those of PyTorch 2.15.
#![allow(clippy::approx_constant, clippy::excessive_precision)] // numbers as PyTorch prints them

mod common;

use common::{close, filled, names, waves};
use mg_autograd::{Generator, Tensor, draw_from, jit, no_grad};
use mg_device::{DType, Result};
use mg_nn::optim::{Adam, Optimizer, SGD};
use mg_nn::utils::parametrizations::{SpectralNormOptions, spectral_norm, weight_norm};
use mg_nn::utils::parametrize::Parametrized;
use mg_nn::utils::prune;
use mg_nn::*;

/// Draws of this thread alone.
fn seed(seed: u64) {
    let generator = Generator::new();
    generator.manual_seed(seed);
    draw_from(Some(generator));
}

#[test]
fn weights_are_lengths_and_directions() -> Result<()> {
    let x = waves(&[2, 3], 0.3);
    for (dim, shape, lengths, directions) in [
        (
            Some(0),
            &[2, 1][..],
            &[2.341783, 0.908104][..],
            [3.642126, 1.039519, -0.679564, 0.379507, 1.129325, 2.012367],
        ),
        (
            Some(1),
            &[1, 3],
            &[0.981436, 2.000251, 1.296961],
            [3.642126, 0.052953, 0.796931, 0.0, -0.101835, 2.238805],
        ),
        (None, &[], &[2.376722], [3.642126, 1.61167, 0.195647, -0.704411, 0.708686, 2.45284]),
    ] {
        let layer = weight_norm(filled(Linear::new(3, 2)?), "weight", dim)?;
        assert_eq!(
            names(&layer),
            ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
        );
        let [(_, length), (_, direction)] = layer.originals() else { panic!("two") };
        assert_eq!(&length.shape()[..], shape);
        {
            let _guard = no_grad();
            length.assign(length.try_mul(2.0)?)?;
        }
        let y = layer.forward(&x)?;
        (&y * &y).sum().backward()?;
        close(&y, &[0.992984, 0.402496, -0.132643, 0.141925]);
        close(&length.grad().unwrap(), lengths);
        close(&direction.grad().unwrap(), &directions);
        // A plain layer again, which computes the same and is trained.
        let plain = layer.remove()?;
        close(&plain.forward(&x)?, &[0.992984, 0.402496, -0.132643, 0.141925]);
        assert_eq!(names(&plain), ["weight", "bias"]);
        assert!(plain.weight.is_leaf() && plain.weight.requires_grad());
    }
    Ok(())
}

#[test]
fn the_largest_stretch_is_one() -> Result<()> {
    let x = waves(&[2, 3], 0.3);
    let layer = spectral_norm(filled(Linear::new(3, 2)?), "weight", &SpectralNormOptions::default())?;
    let mut state = layer.state();
    let known: Vec<&String> = state.tensors.keys().collect();
    assert_eq!(
        known,
        [
            "bias",
            "parametrizations.weight.0._u",
            "parametrizations.weight.0._v",
            "parametrizations.weight.original"
        ]
    );
    for (name, vector) in [("_u", &[0.6f32, 0.8][..]), ("_v", &[0.0, 0.6, -0.8])] {
        state.tensors.insert(format!("parametrizations.weight.0.{name}"), Tensor::from_slice(vector));
    }
    layer.load_state(&state)?;
    // Two calls, each with vectors of its own, are differentiated as one.
    let (y, twice) = (layer.forward(&x)?, layer.forward(&x.try_mul(2.0)?)?);
    ((&y * &y).sum() + (&twice * &twice).sum()).backward()?;
    close(&y, &[0.829709, 0.300364, -0.167285, 0.069571]);
    let buffers = layer.named_buffers();
    close(&buffers[0].1, &[-0.7633, 0.646044]);
    close(&buffers[1].1, &[0.480881, -0.237404, -0.844034]);
    let (_, original) = &layer.originals()[0];
    close(&original.grad().unwrap(), &[27.908863, 11.203471, -4.607461, 1.148592, 13.879399, 23.712545]);
    layer.eval();
    close(&layer.forward(&x)?, &[0.796244, 0.279431, -0.174385, 0.054741]);
    close(&layer.named_buffers()[0].1, &[-0.7633, 0.646044]);
    let transposed =
        spectral_norm(ConvTranspose2d::new(2, 3, [2, 2])?, "weight", &SpectralNormOptions::default())?;
    assert_eq!(*transposed.named_buffers()[0].1.shape(), [3]);
    Ok(())
}

#[test]
fn parameters_inside_of_models_are_computed_too() -> Result<()> {
    let model = sequential![Linear::new(3, 4)?, BatchNorm1d::new(4)?, Linear::new(4, 2)?];
    let model = weight_norm(weight_norm(model, "0.weight", Some(0))?, "2.bias", None)?;
    assert_eq!(
        names(&model),
        [
            "0.bias",
            "1.weight",
            "1.bias",
            "2.weight",
            "0.parametrizations.weight.original0",
            "0.parametrizations.weight.original1",
            "2.parametrizations.bias.original0",
            "2.parametrizations.bias.original1"
        ]
    );
    let state = model.state();
    assert!(state.tensors.contains_key("1.running_mean") && !state.tensors.contains_key("0.weight"));
    let x = waves(&[5, 3], 0.3);
    model.eval();
    let before = model.forward(&x)?.to_vec::<f32>()?;
    let (length, scaled) =
        ("0.parametrizations.weight.original0", &state.tensors["0.parametrizations.weight.original0"]);
    let mut other = state.clone();
    other.tensors.insert(length.into(), scaled.try_mul(3.0)?);
    model.load_state(&other)?;
    assert_ne!(model.forward(&x)?.to_vec::<f32>()?, before);
    model.load_state(&state)?;
    assert_eq!(model.forward(&x)?.to_vec::<f32>()?, before);
    let e = weight_norm(Linear::new(2, 2)?, "wieght", Some(0)).map(drop).unwrap_err();
    assert!(e.to_string().contains("got \"wieght\"; there are weight, bias"), "{e}");
    assert!(weight_norm(Linear::new(2, 2)?, "weight", Some(2)).is_err());
    let none = SpectralNormOptions { n_power_iterations: 0, ..Default::default() };
    assert!(spectral_norm(Linear::new(2, 2)?, "weight", &none).is_err());
    Ok(())
}

/// Training with computed weights: the same to the last bit with a step that is replayed.
#[test]
fn computed_weights_are_trained_and_replayed() -> Result<()> {
    let run = |replays: bool, calls: usize| -> Result<(Vec<f32>, bool)> {
        seed(5);
        let model = sequential![
            weight_norm(Linear::new(3, 8)?, "weight", Some(0))?,
            Tanh,
            spectral_norm(Linear::new(8, 1)?, "weight", &SpectralNormOptions::default())?
        ];
        let adam = std::cell::RefCell::new(Adam::new(model.parameters(), 0.02)?);
        let once = |args: &[Tensor]| {
            let mut loss = Tensor::scalar(0.0f32);
            for _ in 0..calls {
                let y = model.forward(&args[0])?.try_sub(&args[1])?;
                loss = loss.try_add((&y * &y).mean())?;
            }
            let mut adam = adam.borrow_mut();
            adam.zero_grad();
            loss.backward()?;
            adam.step()?;
            Ok(vec![loss])
        };
        let mut replayed = jit(once);
        let (mut losses, x) = (vec![], waves(&[6, 3], 0.3));
        let y = waves(&[6, 1], 1.3).try_mul(0.2)?;
        for _ in 0..60 {
            let loss = if replays { replayed.call(&[&x, &y])? } else { once(&[x.clone(), y.clone()])? };
            losses.push(loss[0].item::<f32>()?);
        }
        Ok((losses, replayed.is_replaying()))
    };
    let (plain, _) = run(false, 1)?;
    assert!(plain[59] < plain[0] / 3.0, "{plain:?}");
    let (replayed, is_replaying) = run(true, 1)?;
    assert_eq!(plain, replayed);
    assert!(is_replaying);
    // Two calls in a step.
    let ((plain, _), (replayed, is_replaying)) = (run(false, 2)?, run(true, 2)?);
    assert_eq!(plain, replayed);
    assert!(is_replaying);
    Ok(())
}

/// A module that reads its parameter by itself.
#[derive(Module)]
#[module(crate = mg_nn)]
struct Scale {
    scale: Tensor,
}

impl Scale {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_mul(&self.scale)
    }
}

#[test]
fn a_computed_parameter_is_read_in_a_call_alone() -> Result<()> {
    let x = waves(&[2, 3], 0.3);
    let layer = prune::l1_unstructured(Linear::new(3, 2)?, "weight", 2)?;
    // What is one tensor stays the one that an optimiser has.
    let plain = Linear::new(3, 2)?;
    let weight = plain.weight.clone();
    let normed = spectral_norm(plain, "weight", &SpectralNormOptions::default())?;
    assert!(normed.originals()[0].1.is(&weight));
    // Elsewhere the parameter is not to be had.
    let tied = Linear { weight, bias: None };
    let e = tied.forward(&x).map(drop).unwrap_err();
    assert!(e.to_string().contains("is read outside of one"), "{e}");
    let e = normed.module().forward(&x).map(drop).unwrap_err();
    assert!(e.to_string().contains("is read outside of one"), "{e}");
    normed.forward(&x)?;
    layer.forward(&x)?;
    // Afterwards it is.
    let plain = normed.remove()?;
    assert_eq!(tied.forward(&x)?.shape(), plain.forward(&x)?.shape());
    let scale = Tensor::ones(&[3], DType::F32)?.requires_grad_(true)?;
    let e = weight_norm(Scale { scale }, "scale", None)?.forward(&x).map(drop).unwrap_err();
    assert!(
        e.to_string().contains("\"scale\" is computed for each call, and the module does not read it"),
        "{e}"
    );
    // Threads have calls of their own.
    let layer = std::sync::Arc::new(weight_norm(Linear::new(3, 2)?, "weight", Some(0))?);
    let want = layer.forward(&x)?.to_vec::<f32>()?;
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (layer, x) = (layer.clone(), x.clone());
            std::thread::spawn(move || layer.forward(&x).and_then(|y| y.to_vec::<f32>()))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap()?, want);
    }
    Ok(())
}

/// A module that computes itself again in the walk.
struct Twice(std::sync::Arc<Linear>);

impl Module for Twice {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (layer, x) = (self.0.clone(), x.clone());
        Ok(mg_autograd::checkpoint(move || Ok(vec![layer.forward(&x)?]), false)?.remove(0))
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        self.0.visit(visitor);
    }
}

#[test]
fn what_is_computed_again_outside_of_a_call_is_told_so() -> Result<()> {
    let x = waves(&[2, 3], 0.3);
    let inside = weight_norm(Twice(Linear::new(3, 2)?.into()), "weight", Some(0))?;
    let e = inside.forward(&x)?.sum().backward().unwrap_err();
    assert!(e.to_string().contains("is read outside of one"), "{e}");
    let around = std::sync::Arc::new(weight_norm(Linear::new(3, 2)?, "weight", Some(0))?);
    let layer = around.clone();
    mg_autograd::checkpoint(move || Ok(vec![layer.forward(&x)?]), false)?.remove(0).sum().backward()?;
    assert!(around.originals()[0].1.grad().is_some());
    Ok(())
}

#[test]
fn pruning_looks_at_what_is_left() -> Result<()> {
    let ones = |t: &Tensor| t.to_vec::<f32>().unwrap();
    let conv = prune::ln_structured(filled(Conv2d::new(2, 3, [2, 2])?), "weight", 1, 2.0, 0)?;
    assert_eq!(names(&conv), ["bias", "weight_orig"]);
    assert_eq!(conv.named_buffers()[0].0, "weight_mask");
    let mask = ones(conv.mask());
    assert_eq!(mask.chunks(8).map(|row| row.iter().sum::<f32>()).collect::<Vec<_>>(), [8.0, 0.0, 8.0]);
    conv.l1_unstructured(0.3)?;
    let want =
        [0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1].map(|n: i32| n as f32);
    assert_eq!(ones(conv.mask()), want);
    conv.ln_structured(0.5, f64::INFINITY, 1)?;
    let want =
        [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 1].map(|n: i32| n as f32);
    assert_eq!(ones(conv.mask()), want);
    // Pruned weights stay zero, and get no gradient.
    let mut sgd = SGD::new(conv.parameters(), 0.1)?;
    conv.forward(&waves(&[1, 2, 3, 3], 0.3))?.sum().backward()?;
    sgd.step()?;
    let plain = conv.remove()?;
    let weight = plain.weight.to_vec::<f32>()?;
    assert!(weight.iter().zip(want).all(|(w, kept)| (*w != 0.0) == (kept != 0.0)), "{weight:?}");
    assert_eq!(names(&plain), ["weight", "bias"]);

    seed(1);
    let linear = prune::random_unstructured(Linear::new(10, 10)?, "weight", 0.25)?;
    assert_eq!(ones(linear.mask()).iter().sum::<f32>(), 75.0);
    linear.random_unstructured(0.2)?;
    assert_eq!(ones(linear.mask()).iter().sum::<f32>(), 60.0);
    linear.random_structured(3, 1)?;
    let columns = linear.mask().sum_dim(&[0], false).to_vec::<f32>()?;
    assert!(columns.iter().filter(|&&n| n == 0.0).count() >= 3);
    let custom = Tensor::from_slice(&[true, false]);
    let bias = prune::custom_from_mask(Linear::new(3, 2)?, "bias", &custom)?;
    assert_eq!(ones(bias.mask()), [1.0, 0.0]);
    assert_eq!(bias.parameter()?.to_vec::<f32>()?[1], 0.0);
    for (e, text) in [
        (linear.l1_unstructured(1.5), "takes an amount in [0, 1], or a number of them, got 1.5"),
        (linear.l1_unstructured(f64::NAN), "got NaN"),
        (linear.l1_unstructured(61), "at most the"),
        (bias.ln_structured(1, 2.0, 0), "takes a parameter of two axes or more, got shape [2]"),
        (linear.ln_structured(1, 2.0, 2), "axis 2"),
        (bias.custom_from_mask(&Tensor::from_slice(&[1.0f32])), "takes a mask of shape [2], got [1]"),
        (prune::l1_unstructured(Linear::new(2, 2)?, "w", 1).map(drop), "got \"w\"; there are weight, bias"),
    ] {
        let e = e.unwrap_err().to_string();
        assert!(e.contains(text), "{e}");
    }
    let both = [filled(Linear::new(3, 2)?), filled(Linear::new(3, 2)?)];
    {
        let _guard = no_grad();
        both[1].weight.assign(both[1].weight.try_mul(2.0)?)?;
    }
    let [a, b] = both.map(|layer| prune::l1_unstructured(layer, "weight", 1).unwrap());
    prune::global_unstructured(&[&a, &b], prune::PruningMethod::L1Unstructured, 0.5)?;
    assert_eq!((ones(a.mask()).iter().sum::<f32>(), ones(b.mask()).iter().sum::<f32>()), (2.0, 3.0));
    prune::global_unstructured(&[&a, &b], prune::PruningMethod::RandomUnstructured, 4)?;
    assert_eq!(ones(a.mask()).iter().chain(&ones(b.mask())).sum::<f32>(), 1.0);
    assert!(prune::global_unstructured(&[&a, &b], prune::PruningMethod::RandomUnstructured, 2).is_err());
    // A state of a pruned layer is PyTorch's.
    let again = prune::Pruned::new(Linear::new(10, 10)?, "weight")?;
    again.load_state(&linear.state())?;
    assert_eq!(ones(again.mask()), ones(linear.mask()));
    Ok(())
}

#[test]
fn lazy_layers_take_the_first_inputs_sizes() -> Result<()> {
    let net = || -> Result<Sequential> {
        Ok(sequential![
            LazyConv2d::with_options(6, [3, 3], ConvOptions { groups: 2, ..ConvOptions::default() })?,
            LazyBatchNorm2d::new()?,
            LazyConvTranspose2d::new(3, [2, 2])?,
            Flatten::default(),
            LazyLinear::new(5)?
        ])
    };
    let model = net()?;
    assert_eq!(
        model.describe().lines().nth(1),
        Some("  (0): LazyConv2d(0, 6, kernel_size=(3, 3), stride=(1, 1), groups=2)")
    );
    // An optimiser may have them before.
    let mut adam = Adam::new(model.parameters(), 0.1)?;
    assert!(!model.state().tensors.contains_key("0.weight"));
    let x = waves(&[2, 4, 5, 5], 0.3);
    let e = model.forward(&waves(&[4, 5], 0.3)).map(drop).unwrap_err();
    assert!(e.to_string().contains("takes 3 or 4 axes, got shape [4, 5]"), "{e}");
    let e = model.forward(&waves(&[3, 5, 5], 0.3)).map(drop).unwrap_err();
    assert!(
        e.to_string().contains("3 channels do not fall into 2 groups") || e.to_string().contains("groups"),
        "{e}"
    );
    assert_eq!(*model.forward(&x)?.shape(), [2, 5]);
    let text = model.describe();
    assert!(text.contains("(0): Conv2d(4, 6, kernel_size=(3, 3), stride=(1, 1), groups=2)"), "{text}");
    assert!(text.contains("(1): BatchNorm2d(6, eps=1e-5") && text.contains("ConvTranspose2d(6, 3"), "{text}");
    assert!(text.contains("Linear(in_features=48, out_features=5, bias=true)"), "{text}");
    let before = model.parameters()[0].to_vec::<f32>()?;
    model.forward(&x)?.sum().backward()?;
    adam.step()?;
    assert_ne!(model.parameters()[0].to_vec::<f32>()?, before);

    // A state gives shapes too.
    let state = model.state();
    let other = net()?;
    other.load_state(&state)?;
    model.eval();
    other.eval();
    assert_eq!(other.forward(&x)?.to_vec::<f32>()?, model.forward(&x)?.to_vec::<f32>()?);
    assert!(other.parameters()[0].is_leaf() && other.parameters()[0].requires_grad());
    let e = LazyLinear::new(4)?.load_state(&Linear::new(3, 5)?.state()).unwrap_err();
    assert!(e.to_string().contains("weight (takes [4, any], got [5, 3])"), "{e}");

    // It is drawn as the layer that it becomes.
    seed(3);
    let lazy = LazyLinear::new(2)?;
    lazy.forward(&waves(&[1, 3], 0.3))?;
    seed(3);
    assert_eq!(lazy.layer().unwrap().weight.to_vec::<f32>()?, Linear::new(3, 2)?.weight.to_vec::<f32>()?);
    assert!(LazyLinear::with_options(2, LinearOptions { dtype: DType::I64, ..Default::default() }).is_err());
    assert!(LazyLinear::new(2)?.forward(&Tensor::scalar(1.0f32)).is_err());
    let e = weight_norm(LazyLinear::new(2)?, "weight", Some(0)).map(drop).unwrap_err();
    assert!(e.to_string().contains("has no shape yet"), "{e}");
    let half =
        LazyBatchNorm1d::with_options(NormOptions { track_running_stats: false, ..Default::default() })?;
    assert_eq!(*half.forward(&waves(&[4, 3], 0.3))?.shape(), [4, 3]);
    assert!(half.layer().is_some() && LazyInstanceNorm1d::new()?.layer().is_some());
    Ok(())
}

#[allow(
    dead_code,
    reason = "that a module with computed parameters can be shared is seen when it is compiled"
)]
fn is_module(module: Parametrized<Linear>) -> Box<dyn Module> {
    Box::new(module)
}
