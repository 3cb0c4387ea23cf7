//! Facts about the perceptron of scalar values.

use std::f64::consts::{PI, TAU};

use mg_autograd::scalar::{Span, Value};
use mg_device::{Device, ErrorKind};
use mg_nn::scalar::{Layer, MLP, Neuron};

#[test]
fn parameters_are_counted_as_in_micrograd() {
    for (nin, nouts, count) in [(2, &[16, 16, 1][..], 337), (3, &[4, 4, 1], 41), (3, &[1, 1], 6), (3, &[], 0)]
    {
        let model = MLP::new(nin, nouts, 0);
        assert_eq!(model.parameters().len(), count);
        assert_eq!(
            model.forward(vec![Value::new(1.0); nin]).unwrap().len(),
            nouts.last().copied().unwrap_or(nin)
        );
    }
}

#[test]
fn everything_prints_as_in_micrograd() {
    assert_eq!(Neuron::new(2, true, 0).to_string(), "ReLUNeuron(2)");
    assert_eq!(Neuron::new(3, false, 0).to_string(), "LinearNeuron(3)");
    assert_eq!(Layer::new(2, 2, true, 0).to_string(), "Layer of [ReLUNeuron(2), ReLUNeuron(2)]");
    assert_eq!(
        MLP::new(3, &[2, 1], 0).to_string(),
        "MLP of [Layer of [ReLUNeuron(3), ReLUNeuron(3)], Layer of [LinearNeuron(2)]]"
    );
}

#[test]
fn weights_are_uniform_and_biases_zero() {
    let neuron = Neuron::new(10_000, true, 3);
    let weights: Vec<f64> = neuron.weights().iter().map(Value::data).collect();
    assert!(weights.iter().all(|w| (-1.0..1.0).contains(w)));
    let mean = weights.iter().sum::<f64>() / 1e4;
    let square = weights.iter().map(|w| w * w).sum::<f64>() / 1e4;
    // Four standard errors: 1/√(3·10⁴) of the mean, √(4/45)/10² of the square.
    assert!(mean.abs() < 0.024 && (square - 1.0 / 3.0).abs() < 0.012, "{mean} {square}");
    assert_eq!(neuron.bias().data(), 0.0);
}

#[test]
fn a_seed_decides_the_weights() {
    let numbers = |seed| MLP::new(2, &[3, 1], seed).parameters().iter().map(Value::data).collect::<Vec<_>>();
    assert_eq!(numbers(1), numbers(1));
    assert_ne!(numbers(1), numbers(2));
}

#[test]
fn a_neuron_computes_what_it_says() {
    let neuron = Neuron::new(2, true, 0);
    for (p, x) in neuron.parameters().iter().zip([0.5, -2.0, 0.25]) {
        p.set_data(x);
    }
    let y = neuron.forward([3.0, 0.5]).unwrap();
    assert_eq!((y.data(), y.op().as_ref(), neuron.nonlin()), (0.75, "ReLU", true));
    y.backward();
    let grads: Vec<f64> = neuron.parameters().iter().map(Value::grad).collect();
    assert_eq!(grads, [3.0, 0.5, 1.0]);
    assert_eq!(neuron.forward([0.0, 0.5]).unwrap().data(), 0.0);
    neuron.zero_grad();
    assert!(neuron.parameters().iter().all(|p| p.grad() == 0.0));
}

#[test]
fn a_perceptron_is_its_formula() {
    let model = MLP::new(2, &[3, 1], 5);
    let x = [Value::new(0.3), Value::new(-0.7)];
    let y = &model.forward(&x[..]).unwrap()[0];

    let sum =
        |n: &Neuron, x: &[Value]| n.weights().iter().zip(x).fold(n.bias().clone(), |sum, (w, x)| sum + w * x);
    let [hidden, last] = model.layers() else { panic!("two layers") };
    let h: Vec<Value> = hidden.neurons().iter().map(|n| sum(n, &x).relu()).collect();
    let plain = sum(&last.neurons()[0], &h);
    assert_eq!(y.data(), plain.data());

    let all: Vec<Value> = model.parameters().into_iter().chain(x).collect();
    let grads = |y: &Value| {
        all.iter().for_each(Value::zero_grad);
        y.backward();
        all.iter().map(Value::grad).collect::<Vec<_>>()
    };
    assert_eq!(grads(y), grads(&plain));
}

#[test]
fn a_wrong_number_of_inputs_is_an_error() {
    let wrong = ErrorKind::Shape("takes 2 inputs, one for each weight; got 3".into());
    let errors = [
        ("neuron", Neuron::new(2, true, 0).forward([1.0; 3]).unwrap_err()),
        ("layer", Layer::new(2, 2, true, 0).forward([1.0; 3]).unwrap_err()),
        ("layer", MLP::new(2, &[4, 1], 0).forward([1.0; 3]).unwrap_err()),
    ];
    for (op, error) in errors {
        assert_eq!((error.op(), error.kind()), (op, &wrong));
        assert!(error.location().file().ends_with("scalar.rs"));
    }
    // One input less has a weight to be taken for a bias: still an error.
    assert!(Neuron::new(2, true, 0).forward([1.0]).is_err());
}

#[test]
fn a_perceptron_moves_to_a_device() {
    let device: Device = "cuda:0".parse().unwrap();
    let mut model = MLP::new(2, &[2, 1], 0);
    let before: Vec<f64> = model.parameters().iter().map(Value::data).collect();
    model.to(device).unwrap();
    assert!(model.parameters().iter().zip(before).all(|(p, x)| p.device() == device && p.data() == x));
    let here = Span::from([1.0, 2.0]);
    assert!(matches!(model.forward(&here).unwrap_err().kind(), ErrorKind::UnlikeDevices(_)));
    let there: Span = here.iter().map(|x| x.to(device).unwrap()).collect();
    assert_eq!(model.forward(&there).unwrap()[0].device(), device);
}

/// scikit-learn's `make_moons(n, noise=noise)`: two half circles, and normal noise (Box and Muller). Labels are −1 and 1.
fn moons(n: usize, noise: f64, seed: u64) -> Vec<([f64; 2], f64)> {
    let mut state = seed;
    let mut uniform = || {
        // Any generator will do: xorshift64*.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let half = n / 2;
    (0..n)
        .map(|i| {
            let angle = PI * (i % half) as f64 / (half - 1) as f64;
            let ([x, y], label) = if i < half {
                ([angle.cos(), angle.sin()], -1.0)
            } else {
                ([1.0 - angle.cos(), 0.5 - angle.sin()], 1.0)
            };
            let radius = noise * (-2.0 * (1.0 - uniform()).ln()).sqrt();
            let turn = TAU * uniform();
            ([x + radius * turn.cos(), y + radius * turn.sin()], label)
        })
        .collect()
}

/// The loss of micrograd's demonstration, and how many points are on the right side: the mean of max(0, 1 − yᵢ·scoreᵢ),
/// and 10⁻⁴ times the sum of the parameters' squares.
fn loss(model: &MLP, data: &[(Span, f64)]) -> (Value, usize) {
    let mut right = 0;
    let mut losses = Vec::with_capacity(data.len());
    for (x, y) in data {
        let score = model.forward(x).unwrap().swap_remove(0);
        right += usize::from((score > 0.0) == (*y > 0.0));
        losses.push((1.0 - score * *y).relu());
    }
    let squares: Value = model.parameters().iter().map(|p| p * p).sum();
    (losses.into_iter().sum::<Value>() / data.len() as f64 + squares * 1e-4, right)
}

fn step(model: &MLP, data: &[(Span, f64)], k: usize) -> usize {
    let (loss, right) = loss(model, data);
    model.zero_grad();
    loss.backward();
    let rate = 1.0 - 0.9 * k as f64 / 100.0;
    for p in model.parameters() {
        p.set_data(p.data() - rate * p.grad());
    }
    right
}

#[test]
fn two_moons_are_told_apart_within_a_hundred_steps() {
    for seed in [1, 2, 3, 1337, 2024] {
        let data: Vec<(Span, f64)> = moons(100, 0.1, seed).into_iter().map(|(x, y)| (x.into(), y)).collect();
        let model = MLP::new(2, &[16, 16, 1], seed);
        let best = (0..100).map(|k| step(&model, &data, k)).max();
        assert_eq!(best, Some(100), "seed {seed}");
        assert_eq!(loss(&model, &data).1, 100, "seed {seed}, after the last step");
    }
}

/// `cargo test --release -p mg-nn --test scalar -- --ignored --nocapture speed`
#[test]
#[ignore = "prints a time; run it in release mode on a quiet machine"]
fn speed() {
    let data: Vec<(Span, f64)> = moons(100, 0.1, 1).into_iter().map(|(x, y)| (x.into(), y)).collect();
    let model = MLP::new(2, &[16, 16, 1], 1);
    let mut times: Vec<f64> = (0..500)
        .map(|k| {
            let start = std::time::Instant::now();
            step(&model, &data, k % 100);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("a step of two moons: median {:.3} ms, best {:.3} ms", times[250], times[0]);
    println!("nodes: {}", loss(&model, &data).0.trace().len());
}

#[test]
fn parts_stand_on_other_parameters() {
    let net = MLP::new(2, &[3, 1], 7);
    let others: Vec<Value> = net.parameters().iter().map(|p| Value::new(2.0 * p.data())).collect();
    let other = net.with_parameters(&others).unwrap();
    assert!(other.parameters().iter().zip(&others).all(|(a, b)| a.is(b)));
    assert_eq!(other.to_string(), net.to_string());
    other.forward([1.0, -1.0]).unwrap()[0].backward();
    assert!(others.iter().any(|p| p.grad() != 0.0) && net.parameters().iter().all(|p| p.grad() == 0.0));
    for few in [&others[1..], &[]] {
        let e = net.with_parameters(few).unwrap_err();
        assert!(e.to_string().contains("takes 13 parameters"), "{e}");
    }
    assert!(net.layers()[0].with_parameters(&others).is_err());
    assert!(net.layers()[0].neurons()[0].with_parameters(&others[..2]).is_err());
}
