//! Modules: what they compute, what they name, what they save.
#![allow(clippy::approx_constant, clippy::excessive_precision)] // numbers as PyTorch prints them

use mg_autograd::{Generator, Tensor, draw_from, no_grad};
use mg_device::{DType, Device, ErrorKind, Result};
use mg_nn::init::{self, Fan, Nonlinearity};
use mg_nn::*;

fn tensor(data: &[f32], shape: &[usize]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

fn vec(t: &Tensor) -> Vec<f32> {
    t.to_vec().unwrap()
}

fn close(t: &Tensor, want: &[f32]) {
    let got = vec(t);
    let fits = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 1e-6 + 1e-5 * w.abs());
    assert!(got.len() == want.len() && fits, "got {got:?}, want {want:?}");
}

fn names(model: &dyn Module) -> Vec<String> {
    model.named_parameters().into_iter().map(|(name, _)| name).collect()
}

fn set(t: &Tensor, data: &[f32]) {
    let _guard = no_grad();
    t.assign(Tensor::from_vec(data.to_vec(), &t.shape()).unwrap()).unwrap();
}

#[test]
fn linear_multiplies_by_its_weight_and_adds_its_bias() {
    let layer = Linear::new(3, 2).unwrap();
    set(&layer.weight, &[0.1, 0.2, 0.3, -0.4, 0.5, -0.6]);
    set(layer.bias.as_ref().unwrap(), &[0.01, -0.02]);
    let x: Vec<f32> = (0..24).map(|i| i as f32 / 10.0).collect();
    close(&layer.forward(&tensor(&x[..3], &[3])).unwrap(), &[0.09, -0.09]);
    close(&layer.forward(&tensor(&x[..6], &[2, 3])).unwrap(), &[0.09, -0.09, 0.27, -0.24]);
    let y = layer.forward(&tensor(&x, &[2, 4, 3])).unwrap();
    assert_eq!(*y.shape(), [2, 4, 2]);
    close(&y.sum(), &[0.84]);
    y.sum().backward().unwrap();
    close(&layer.bias.as_ref().unwrap().grad().unwrap(), &[8.0, 8.0]);
    close(&layer.weight.grad().unwrap(), &[8.4, 9.2, 10.0, 8.4, 9.2, 10.0]);

    let e = layer.forward(&tensor(&x, &[3, 8])).map(drop).unwrap_err();
    assert!(e.to_string().starts_with("linear: takes […, 3], got [3, 8] ("), "{e}");
    assert!(e.location().file().ends_with("tests/module.rs"), "{e}");
    let e = mg_nn::optim::Adam::new(vec![], 0.1).map(drop).unwrap_err();
    assert!(e.location().file().ends_with("tests/module.rs"), "{e}");
    assert!(layer.forward(&Tensor::scalar(1.0f32)).is_err());

    let plain = Linear::with_options(3, 2, LinearOptions { bias: false, dtype: DType::F64 }).unwrap();
    assert_eq!(names(&plain), ["weight"]);
    assert_eq!(plain.weight.dtype(), DType::F64);
}

#[test]
fn linear_starts_as_pytorchs() {
    mg_autograd::manual_seed(7);
    let layer = Linear::new(100, 300).unwrap();
    let weight = vec(&layer.weight);
    let bound = 0.1;
    assert!(weight.iter().all(|w| w.abs() <= bound));
    // A uniform distribution on ±a has variance a²/3.
    let variance = weight.iter().map(|w| w * w).sum::<f32>() / weight.len() as f32;
    assert!((variance * 300.0 - 1.0).abs() < 0.05, "{variance}");
    let bias = vec(layer.bias.as_ref().unwrap());
    assert!(bias.iter().all(|b| b.abs() <= bound) && bias.iter().any(|b| b.abs() > 0.09));
    mg_autograd::manual_seed(7);
    assert_eq!(vec(&Linear::new(100, 300).unwrap().weight), weight);
}

#[test]
fn embedding_looks_up_rows_and_adds_their_gradients() {
    let table = Embedding::new(4, 2).unwrap();
    set(&table.weight, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let indices = Tensor::from_vec(vec![3i64, 0, 3, 1], &[2, 2]).unwrap();
    let rows = table.forward(&indices).unwrap();
    assert_eq!(*rows.shape(), [2, 2, 2]);
    assert_eq!(vec(&rows), [6.0, 7.0, 0.0, 1.0, 6.0, 7.0, 2.0, 3.0]);
    rows.sum().backward().unwrap();
    assert_eq!(vec(&table.weight.grad().unwrap()), [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 2.0, 2.0]);
    let e = table.forward(&Tensor::from_slice(&[1.0f32])).map(drop).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::DType(_)));
    // What the host has is checked at once, the rest when it is used.
    let known =
        table.forward(&Tensor::from_slice(&[0i64, 4])).and_then(|rows| rows.to_vec::<f32>()).unwrap_err();
    let pending = Tensor::from_slice(&[0i64, 3]) + 1.0;
    let beyond = table.forward(&pending.to_dtype(DType::I64)).unwrap().to_vec::<f32>().unwrap_err();
    for e in [known, beyond] {
        assert!(matches!(e.kind(), ErrorKind::Index { index: 4, size: 4, .. }), "{e}");
    }
}

#[test]
fn layer_norm_normalises_the_last_axes() {
    let norm = LayerNorm::new(&[4]).unwrap();
    let x = tensor(&[1.0, 2.0, 3.0, 4.0, -1.0, 0.0, 0.0, 1.0], &[2, 4]);
    let (a, b) = (1.341636, 1.4142);
    close(
        &norm.forward(&x).unwrap(),
        &[-a, -a / 3.0, a / 3.0, a, -b, 0.0, 0.0, b].map(|v: f32| (v * 1e5).round() / 1e5),
    );
    assert_eq!(names(&norm), ["weight", "bias"]);
    let options = LayerNormOptions::default();
    let plain = LayerNormOptions { elementwise_affine: false, ..options };
    assert!(names(&LayerNorm::with_options(&[4], plain).unwrap()).is_empty());
    let scaled = LayerNormOptions { bias: false, ..options };
    assert_eq!(names(&LayerNorm::with_options(&[4], scaled).unwrap()), ["weight"]);
    assert!(LayerNorm::new(&[]).is_err());
    assert!(LayerNorm::with_options(&[4], LayerNormOptions { eps: -1.0, ..options }).is_err());
    assert!(norm.forward(&tensor(&[0.0; 6], &[2, 3])).is_err());
}

#[test]
fn activations_are_their_functions() {
    let x = tensor(&[-2.0, -0.5, 0.0, 1.0], &[4]);
    let cases: [(&dyn Module, [f32; 4]); 9] = [
        (&ReLU, [0.0, 0.0, 0.0, 1.0]),
        (&Tanh, [-0.9640276, -0.46211717, 0.0, 0.7615942]),
        (&Sigmoid, [0.11920292, 0.37754068, 0.5, 0.7310586]),
        (&SiLU, [-0.23840584, -0.18877034, 0.0, 0.7310586]),
        (&Softplus, [0.12692805, 0.474077, 0.6931472, 1.3132616]),
        (&GELU { tanh: false }, [-0.04550028, -0.15426877, 0.0, 0.8413447]),
        (&GELU { tanh: true }, [-0.045402348, -0.15428598, 0.0, 0.841192]),
        (&LeakyReLU::default(), [-0.02, -0.005, 0.0, 1.0]),
        (&Softmax { dim: 0 }, [0.030343225, 0.1359889, 0.2242078, 0.60946]),
    ];
    for (module, want) in cases {
        let got = vec(&module.forward(&x).unwrap());
        assert!(got.iter().zip(want).all(|(g, w)| (g - w).abs() < 2e-6), "{}: {got:?}", module.describe());
        assert!(module.parameters().is_empty());
    }
    let log = LogSoftmax { dim: -1 }.forward(&x).unwrap().exp().sum();
    close(&log, &[1.0]);
    assert!(Softmax { dim: 1 }.forward(&x).is_err());
}

#[test]
fn flatten_joins_axes() {
    let x = Tensor::zeros(&[2, 3, 4, 5], DType::F32).unwrap();
    assert_eq!(*Flatten::default().forward(&x).unwrap().shape(), [2, 60]);
    let middle = Flatten { start_dim: 1, end_dim: 2 };
    assert_eq!(*middle.forward(&x).unwrap().shape(), [2, 12, 5]);
    assert!(Flatten { start_dim: 2, end_dim: 1 }.forward(&x).is_err());
    assert!(Flatten::default().forward(&Tensor::from_slice(&[1.0f32])).is_err());
}

#[test]
fn dropout_drops_in_training_only() {
    mg_autograd::manual_seed(3);
    let model = sequential![Dropout::new(0.25).unwrap(), Lambda(|x: &Tensor| Ok(x.clone()))];
    let x = Tensor::ones(&[10_000], DType::F32).unwrap();
    let y = vec(&model.forward(&x).unwrap());
    let dropped = y.iter().filter(|&&v| v == 0.0).count();
    // Four standard deviations of the binomial distribution are 173.
    assert!(dropped.abs_diff(2500) < 173, "{dropped}");
    assert!(y.iter().all(|&v| v == 0.0 || (v - 4.0 / 3.0).abs() < 1e-6));
    assert_ne!(vec(&model.forward(&x).unwrap()), y);
    model.eval();
    assert_eq!(vec(&model.forward(&x).unwrap()), [1.0; 10_000]);
    model.train(true);
    assert!(vec(&model.forward(&x).unwrap()).contains(&0.0));
    for p in [-0.1, 1.5, f64::NAN] {
        assert!(matches!(Dropout::new(p).unwrap_err().kind(), ErrorKind::Value(_)));
    }
    assert_eq!(vec(&Dropout::new(0.0).unwrap().forward(&x).unwrap()), [1.0; 10_000]);
}

/// A user's module: children, a list of them, one that may be missing, a parameter and a buffer of its own.
struct Net {
    layers: Vec<Linear>,
    norm: Option<LayerNorm>,
    scale: Tensor,
    count: Tensor,
}

impl Net {
    fn new() -> Net {
        Net {
            layers: (0..2).map(|_| Linear::new(3, 3).unwrap()).collect(),
            norm: None,
            scale: Tensor::from_slice(&[2.0f32]).requires_grad_(true).unwrap(),
            count: Tensor::from_slice(&[5i64]),
        }
    }
}

impl Module for Net {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.layers.iter().try_fold(x.clone(), |x, layer| layer.forward(&x))?;
        y.try_mul(&self.scale)
    }
    fn visit<'a>(&'a self, v: &mut Visitor<'a>) {
        self.layers.register("layers", v);
        self.norm.register("norm", v);
        v.param("scale", &self.scale);
        v.buffer("count", &self.count);
    }
}

#[test]
fn a_users_module_registers_its_children() {
    let model = sequential![Net::new(), ReLU, Linear::new(3, 1).unwrap()];
    let want = [
        "0.layers.0.weight",
        "0.layers.0.bias",
        "0.layers.1.weight",
        "0.layers.1.bias",
        "0.scale",
        "2.weight",
        "2.bias",
    ];
    assert_eq!(names(&model), want);
    assert_eq!(model.parameters().len(), 7);
    assert_eq!(model.named_buffers()[0].0, "0.count");
    let children: Vec<String> = model.children().into_iter().map(|(name, _)| name).collect();
    assert_eq!(children, ["0", "1", "2"]);
    assert_eq!(model.children()[0].1.children().len(), 2);
    let text = "Sequential(\n  (0): Net(\n    (layers.0): Linear(in_features=3, out_features=3, bias=true)\n    \
                (layers.1): Linear(in_features=3, out_features=3, bias=true)\n  )\n  (1): ReLU()\n  \
                (2): Linear(in_features=3, out_features=1, bias=true)\n)";
    assert_eq!(model.describe(), text);

    let y = model.forward(&tensor(&[1.0; 6], &[2, 3])).unwrap();
    y.sum().backward().unwrap();
    assert!(model.parameters().iter().all(|p| p.grad().is_some()));
    model.zero_grad();
    assert!(model.parameters().iter().all(|p| p.grad().is_none()));
}

#[test]
fn a_shared_parameter_is_listed_once_and_saved_under_each_name() {
    struct Tied {
        embedding: Embedding,
        head: Linear,
    }
    impl Module for Tied {
        fn forward(&self, x: &Tensor) -> Result<Tensor> {
            self.head.forward(&self.embedding.forward(x)?)
        }
        fields!(embedding, head);
    }
    let embedding = Embedding::new(5, 3).unwrap();
    let head = Linear { weight: embedding.weight.clone(), bias: None };
    let model = Tied { embedding, head };
    assert_eq!(names(&model), ["embedding.weight"]);
    assert_eq!(model.state().tensors.len(), 2);
    let logits = model.forward(&Tensor::from_slice(&[1i64])).unwrap();
    assert_eq!(*logits.shape(), [1, 5]);
}

#[test]
fn a_state_is_what_the_model_was() {
    let model = Net::new();
    let state = model.state();
    let keys: Vec<&str> = state.tensors.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["count", "layers.0.bias", "layers.0.weight", "layers.1.bias", "layers.1.weight", "scale"]
    );
    set(&model.scale, &[7.0]);
    set(&model.layers[0].weight, &[0.0; 9]);
    assert_eq!(vec(&state.tensors["scale"]), [2.0]);
    model.load_state(&state).unwrap();
    assert_eq!(vec(&model.scale), [2.0]);
    assert_ne!(vec(&model.layers[0].weight), [0.0; 9]);
    assert!(model.scale.is_leaf() && model.scale.requires_grad());
}

/// Two models that take one state, and the state itself, stay apart.
#[test]
fn models_that_load_one_state_stay_apart() {
    let (a, b) = (Linear::new(2, 1).unwrap(), Linear::new(2, 1).unwrap());
    let state = a.state();
    b.load_state(&state).unwrap();
    a.load_state(&state).unwrap();
    let x = tensor(&[1.0, 2.0], &[1, 2]);
    b.forward(&x).unwrap().sum().backward().unwrap();
    assert!(a.weight.grad().is_none());
    assert_eq!(vec(&b.weight.grad().unwrap()), [1.0, 2.0]);
    assert!(!state.tensors["weight"].requires_grad());
    set(&a.weight, &[5.0, 5.0]);
    assert_ne!(vec(&b.weight), [5.0, 5.0]);
    assert_ne!(vec(&state.tensors["weight"]), [5.0, 5.0]);
}

#[test]
fn a_checkpoint_of_another_model_is_one_error_that_names_everything() {
    let model = sequential![Linear::new(4, 3).unwrap(), ReLU, Linear::new(3, 2).unwrap()];
    let other = sequential![Linear::new(4, 5).unwrap(), Linear::new(5, 2).unwrap()];
    let before = vec(&model.parameters()[0]);
    let e = model.load_state(&other.state()).unwrap_err();
    let text = "load_state: the state of another model; missing: 2.weight, 2.bias; unexpected: 1.bias, 1.weight; \
                of another shape: 0.weight (takes [3, 4], got [5, 4]), 0.bias (takes [3], got [5]) (";
    assert!(e.to_string().starts_with(text), "{e}");
    assert!(matches!(e.kind(), ErrorKind::Value(_)));
    assert_eq!(vec(&model.parameters()[0]), before);
    // What is there is enough where that is asked for, unless it has another shape.
    let e = model.load_state_with(&other.state(), false).unwrap_err();
    assert!(e.to_string().starts_with(text), "{e}");
    assert_eq!(vec(&model.parameters()[0]), before);
    let mut part = State::default().with("2", other.state().part("1")).with("more", model.state());
    part.tensors.remove("2.weight");
    let found = model.load_state_with(&part, false).unwrap();
    assert_eq!(found.missing, ["0.weight", "0.bias", "2.weight"]);
    assert_eq!(found.unexpected, ["more.0.bias", "more.0.weight", "more.2.bias", "more.2.weight"]);
    assert_eq!(vec(&model.parameters()[3]), vec(&part.tensors["2.bias"]));
    assert_eq!(vec(&model.parameters()[0]), before);
}

#[test]
fn a_model_goes_through_a_file() {
    let path = std::env::temp_dir().join(format!("module-{}.safetensors", std::process::id()));
    let (model, other) = (Net::new(), Net::new());
    model.state().save(&path).unwrap();
    other.load_state(&State::load(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    for ((name, a), (_, b)) in model.named_parameters().iter().zip(other.named_parameters()) {
        assert_eq!(vec(a), vec(&b), "{name}");
    }
    // A model in another dtype takes the state, converted.
    let wide = Linear::with_options(3, 3, LinearOptions { dtype: DType::F64, ..Default::default() }).unwrap();
    wide.load_state(&model.layers[0].state()).unwrap();
    assert_eq!(wide.weight.dtype(), DType::F64);
    assert_eq!(wide.weight.to_f64_vec().unwrap(), model.layers[0].weight.to_f64_vec().unwrap());
}

/// Values by PyTorch.
#[test]
fn losses_are_pytorchs() {
    let x = tensor(&[2.0, 1.0, 0.1, -1.0, 0.0, 3.0], &[2, 3]);
    let (labels, y) = (Tensor::from_slice(&[0i64, 1]), tensor(&[1.0, 0.0, 0.3, 0.5, 1.0, 0.0], &[2, 3]));
    let half = Tensor::full(&[2, 3], 0.5, DType::F32).unwrap();
    let log = x.try_log_softmax(Some(-1), None).unwrap();
    for (reduction, entropy, binary, square) in [
        (Reduction::Mean, vec![1.7414569], vec![1.1182637], vec![1.9016666]),
        (Reduction::Sum, vec![3.4829137], vec![6.7095823], vec![11.41]),
        (
            Reduction::None,
            vec![0.41702995, 3.0658839],
            vec![0.12692802, 1.3132617, 0.7143967, 0.81326175, 0.6931472, 3.0485873],
            vec![2.25, 0.25, 0.16, 2.25, 0.25, 6.25],
        ),
    ] {
        close(
            &CrossEntropyLoss { reduction, ..CrossEntropyLoss::default() }.forward(&x, &labels).unwrap(),
            &entropy,
        );
        close(&NLLLoss { reduction, ..NLLLoss::default() }.forward(&log, &labels).unwrap(), &entropy);
        close(&BCEWithLogitsLoss { reduction, ..Default::default() }.forward(&x, &y).unwrap(), &binary);
        close(&MSELoss { reduction }.forward(&x, &half).unwrap(), &square);
    }
}

#[test]
fn binary_cross_entropy_is_right_far_out_and_at_0() {
    let x = tensor(&[0.0, 30.0, -30.0, 100.0], &[4]).requires_grad_(true).unwrap();
    let y = tensor(&[0.25, 1.0, 0.0, 0.0], &[4]);
    let loss =
        BCEWithLogitsLoss { reduction: Reduction::None, ..Default::default() }.forward(&x, &y).unwrap();
    let got = vec(&loss);
    for (g, w) in got.iter().zip([std::f32::consts::LN_2, 9.3576e-14, 9.3576e-14, 100.0]) {
        assert!((g / w - 1.0).abs() < 1e-4, "{got:?}");
    }
    loss.sum().backward().unwrap();
    close(&x.grad().unwrap(), &[0.25, 0.0, 0.0, 1.0]);
}

#[test]
fn losses_refuse_what_does_not_fit() {
    let (x, labels) = (tensor(&[0.0; 6], &[2, 3]), Tensor::from_slice(&[0i64, 1]));
    let (floats, three) = (Tensor::from_slice(&[0.0f32, 1.0]), Tensor::from_slice(&[0i64, 1, 2]));
    let (entropy, nll) = (CrossEntropyLoss::default(), NLLLoss::default());
    assert!(entropy.forward(&x, &floats).is_err() && nll.forward(&x, &floats).is_err());
    assert!(entropy.forward(&x, &three).is_err() && nll.forward(&x, &three).is_err());
    assert!(entropy.forward(&labels, &labels).is_err() && nll.forward(&labels, &labels).is_err());
    assert!(BCEWithLogitsLoss::default().forward(&x, &tensor(&[0.0; 3], &[3])).is_err());
    for label in [3i64, -1] {
        // Known labels are checked at once, others when the loss is computed.
        let bad = Tensor::from_slice(&[0, label]);
        let pending = || Tensor::from_slice(&[1, label + 1]).try_sub(1i64).unwrap();
        for e in [
            entropy.forward(&x, &bad).and_then(|loss| loss.item::<f32>()).unwrap_err(),
            nll.forward(&x, &bad).and_then(|loss| loss.item::<f32>()).unwrap_err(),
            entropy.forward(&x, &pending()).unwrap().item::<f32>().unwrap_err(),
            nll.forward(&x, &pending()).unwrap().item::<f32>().unwrap_err(),
        ] {
            assert!(matches!(e.kind(), ErrorKind::Index { index, size: 3, .. } if *index == label), "{e}");
        }
    }
}

#[test]
fn initialisers_have_their_spread() {
    mg_autograd::manual_seed(5);
    let t = Tensor::zeros(&[200, 300], DType::F32).unwrap().requires_grad_(true).unwrap();
    let spread = |t: &Tensor| {
        let v = vec(t);
        let mean = v.iter().sum::<f32>() / v.len() as f32;
        let std = (v.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / v.len() as f32).sqrt();
        (mean, std, v.iter().fold(0f32, |m, x| m.max(x.abs())))
    };
    let xavier = (2f32 / 500.0).sqrt();
    let he = (2f32 / 300.0).sqrt();
    type Init = fn(&Tensor) -> Result<()>;
    let cases: [(Init, f32, bool); 7] = [
        (|t| init::uniform_(t, -1.0, 1.0, None), 1.0 / 3f32.sqrt(), true),
        (|t| init::normal_(t, 0.0, 2.0, None), 2.0, false),
        (|t| init::xavier_uniform_(t, 1.0, None), xavier, true),
        (|t| init::xavier_normal_(t, 1.0, None), xavier, false),
        (|t| init::kaiming_uniform_(t, Fan::In, Nonlinearity::Relu, None), he, true),
        (|t| init::kaiming_normal_(t, Fan::In, Nonlinearity::Relu, None), he, false),
        (|t| init::kaiming_normal_(t, Fan::Out, Nonlinearity::Linear, None), 1.0 / 200f32.sqrt(), false),
    ];
    for (i, (init, want, bounded)) in cases.into_iter().enumerate() {
        init(&t).unwrap();
        let (mean, std, largest) = spread(&t);
        assert!(
            (std / want - 1.0).abs() < 0.02 && mean.abs() < 0.02 * want,
            "case {i}: {mean} {std}, not {want}"
        );
        assert_eq!(bounded, largest <= want * 3f32.sqrt() * 1.00001, "case {i}: {largest}");
        assert!(t.is_leaf() && t.requires_grad());
    }
    init::constant_(&t, 0.5).unwrap();
    assert_eq!(spread(&t), (0.5, 0.0, 0.5));
    assert!(init::xavier_uniform_(&Tensor::zeros(&[3], DType::F32).unwrap(), 1.0, None).is_err());
    assert!(init::uniform_(&Tensor::zeros(&[3], DType::I64).unwrap(), 0.0, 1.0, None).is_err());
    assert!((Nonlinearity::LeakyRelu(5f64.sqrt()).gain() - (1.0f64 / 3.0).sqrt()).abs() < 1e-12);
}

#[test]
fn initialisers_draw_from_the_generator_that_they_are_given() {
    type Init = fn(&Tensor, Option<&Generator>) -> Result<()>;
    let cases: &[Init] = &[
        |t, g| init::uniform_(t, -1.0, 1.0, g),
        |t, g| init::normal_(t, 0.0, 2.0, g),
        |t, g| init::trunc_normal_(t, 0.0, 1.0, -2.0, 2.0, g),
        |t, g| init::xavier_uniform_(t, 1.0, g),
        |t, g| init::xavier_normal_(t, 1.0, g),
        |t, g| init::kaiming_uniform_(t, Fan::In, Nonlinearity::Relu, g),
        |t, g| init::kaiming_normal_(t, Fan::In, Nonlinearity::Relu, g),
        |t, g| init::sparse_(t, 0.4, 0.1, g),
    ];
    // A default generator of this thread's own, so that no test beside this one has a part in it.
    let before = draw_from(Some(Generator::new()));
    for (i, init) in cases.iter().enumerate() {
        let made = |generator: Option<&Generator>| {
            let t = Tensor::zeros(&[4, 3], DType::F32).unwrap();
            init(&t, generator).unwrap();
            vec(&t)
        };
        let own = Generator::new();
        own.manual_seed(7);
        Generator::global().manual_seed(1);
        let first = made(Some(&own));
        assert_eq!(Generator::global().state(), (1, 0), "case {i}");
        assert_ne!(made(Some(&own)), first, "case {i}");
        Generator::global().manual_seed(7);
        assert_eq!(made(None), first, "case {i}");
    }
    draw_from(before);
}

/// Two layers, of which the second does not take what the first answers.
#[derive(Module)]
#[module(crate = mg_nn)]
struct Block {
    linear: Linear,
    norm: LayerNorm,
}

impl Block {
    fn new(features: usize, normalised: usize) -> Block {
        Block { linear: Linear::new(features, 4).unwrap(), norm: LayerNorm::new(&[normalised]).unwrap() }
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.norm.forward(&self.linear.forward(x)?)
    }
}

#[derive(Module)]
#[module(crate = mg_nn)]
struct Encoder {
    encoder: Vec<Block>,
    scale: Tensor,
    head: Sequential,
}

impl Encoder {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut x = x.clone();
        for block in &self.encoder {
            x = block.forward(&x)?;
        }
        self.head.forward(&x)?.try_mul(&self.scale)
    }
}

#[test]
fn an_error_inside_a_model_names_the_layer_by_its_path() {
    let encoder = |last: usize, head: Sequential| {
        let scale = Tensor::ones(&[3], DType::F32).unwrap().requires_grad_(true).unwrap();
        Encoder { encoder: vec![Block::new(8, 4), Block::new(last, 4)], scale, head }
    };
    let x = tensor(&[0.5; 16], &[2, 8]);
    let told = |model: &dyn Module, x: &Tensor| model.forward(x).map(drop).unwrap_err().to_string();

    let model = encoder(6, Sequential::new());
    // Before anybody asked for its parameters, a model does not know what it is called.
    assert!(told(&model, &x).starts_with("linear: takes […, 6], got [2, 4] ("), "{}", told(&model, &x));
    model.parameters();
    assert!(
        told(&model, &x).starts_with("encoder.1.linear: takes […, 6], got [2, 4] ("),
        "{}",
        told(&model, &x)
    );
    // A part that is asked for its own names keeps those of the whole.
    model.encoder[1].parameters();
    assert!(told(&model, &x).starts_with("encoder.1.linear: takes"), "{}", told(&model, &x));
    // A part of another model is called as there.
    let part = sequential![Flatten::default(), Block::new(8, 5)];
    part.to(Device::cpu()).unwrap();
    assert!(told(&part, &x).starts_with("1.norm: "), "{}", told(&part, &x));

    // Layers without parameters are known by what is around them, and so is what a model does by itself.
    let model = encoder(
        4,
        sequential![Flatten::default(), Unflatten { dim: 1, sizes: vec![3] }, Linear::new(4, 4).unwrap()],
    );
    assert!(told(&model.head, &x).starts_with("1: unflatten: "), "{}", told(&model.head, &x));
    model.load_state(&model.state()).unwrap();
    assert!(told(&model, &x).starts_with("head.1: unflatten: "), "{}", told(&model, &x));
    let model = sequential![Tanh, encoder(4, Sequential::new())];
    model.parameters();
    assert!(told(&model, &x).starts_with("1: mul: "), "{}", told(&model, &x));

    let lstm = sequential![LSTM::new(3, 4).unwrap()];
    lstm.parameters();
    assert!(told(&lstm, &x).starts_with("0: takes [length, n, 3]"), "{}", told(&lstm, &x));
    let attention =
        TransformerEncoder { layers: vec![TransformerEncoderLayer::new(4, 2, 8, 0.0).unwrap()], norm: None };
    attention.parameters();
    let e = told(&attention, &tensor(&[0.0; 30], &[2, 3, 5]));
    assert!(e.starts_with("layers.0.self_attn: "), "{e}");
}
