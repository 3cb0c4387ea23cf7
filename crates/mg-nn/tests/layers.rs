//! Layers: shapes, names, numbers by hand, modes, derived modules.

use mg_autograd::Tensor;
use mg_device::{DType, Result};
use mg_nn::optim::{Optimizer, SGD};
use mg_nn::{
    Attend, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, Conv3d, ConvOptions, ConvTranspose2d,
    ConvTransposeOptions, CrossEntropyLoss, Flatten, GRU, GroupNorm, InstanceNorm2d, LSTM, MaxPool2d, Mode,
    Module, MultiheadAttention, NormOptions, PReLU, RMSNorm, RNN, ReLU, RecurrentOptions, TransformerEncoder,
    TransformerEncoderLayer, Upsample, sequential,
};

fn ramp(shape: &[usize]) -> Tensor {
    let n: usize = shape.iter().product();
    Tensor::from_vec((0..n).map(|i| (i % 17) as f32 * 0.25 - 2.0).collect::<Vec<_>>(), shape).unwrap()
}

fn names(module: &dyn Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_convolution_is_the_sum_over_its_window() {
    let options = ConvOptions { stride: [2, 1], padding: Some([1, 0]), ..ConvOptions::default() };
    let layer = Conv2d::with_options(2, 3, [3, 2], options).unwrap();
    let x = ramp(&[2, 2, 5, 4]);
    let y = layer.forward(&x).unwrap();
    assert_eq!(*y.shape(), [2, 3, 3, 3]);
    let (x, y) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    let w = layer.weight.to_vec::<f32>().unwrap();
    let bias = layer.bias.as_ref().unwrap().to_vec::<f32>().unwrap();
    for (n, o, i, j) in (0..2 * 3 * 9).map(|at| (at / 27, at / 9 % 3, at / 3 % 3, at % 3)) {
        let mut sum = f64::from(bias[o]);
        for (c, a, b) in (0..12).map(|at| (at / 6, at / 2 % 3, at % 2)) {
            let (row, column) = (2 * i + a, j + b);
            if (1..=5).contains(&row) {
                let at = ((n * 2 + c) * 5 + row - 1) * 4 + column;
                sum += f64::from(x[at]) * f64::from(w[((o * 2 + c) * 3 + a) * 2 + b]);
            }
        }
        let got = f64::from(y[((n * 3 + o) * 3 + i) * 3 + j]);
        assert!((got - sum).abs() < 1e-5, "{n} {o} {i} {j}: {got} and {sum}");
    }
}

#[test]
fn convolutions_have_pytorchs_shapes_and_words() {
    let same = ConvOptions { padding: None, groups: 2, bias: false, ..ConvOptions::default() };
    let layer = Conv1d::with_options(4, 6, [5], same).unwrap();
    assert_eq!(*layer.weight.shape(), [6, 2, 5]);
    assert_eq!(*layer.forward(&ramp(&[3, 4, 11])).unwrap().shape(), [3, 6, 11]);
    assert_eq!(
        layer.describe(),
        "Conv1d(4, 6, kernel_size=(5,), stride=(1,), padding=same, groups=2, bias=False)"
    );
    assert_eq!(
        *Conv3d::new(1, 2, [2, 2, 2]).unwrap().forward(&ramp(&[1, 3, 3, 3])).unwrap().shape(),
        [2, 2, 2, 2]
    );
    let options = ConvTransposeOptions {
        stride: [2, 2],
        padding: [1, 1],
        output_padding: [1, 1],
        ..Default::default()
    };
    let up = ConvTranspose2d::with_options(3, 2, [3, 3], options).unwrap();
    assert_eq!(*up.forward(&ramp(&[1, 3, 4, 4])).unwrap().shape(), [1, 2, 8, 8]);
    assert_eq!(names(&up), ["weight", "bias"]);
    let words =
        "ConvTranspose2d(3, 2, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), output_padding=(1, 1))";
    assert_eq!(up.describe(), words);
    let odd = Conv2d::with_options(3, 4, [1, 1], ConvOptions { groups: 2, ..Default::default() });
    assert!(odd.err().unwrap().to_string().contains("3 channels"), "groups that do not fit are refused");
}

#[test]
fn a_batch_norm_moves_its_statistics_in_training_only() {
    let norm =
        BatchNorm1d::with_options(2, NormOptions { momentum: Some(0.5), ..Default::default() }).unwrap();
    let x = Tensor::from_vec(vec![1.0f32, 10.0, 3.0, 20.0], &[2, 2]).unwrap();
    let y = norm.forward(&x).unwrap().to_vec::<f32>().unwrap();
    assert!(y.iter().zip([-1.0, -1.0, 1.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-4), "{y:?}");
    let mean = norm.running_mean().unwrap().to_vec::<f32>().unwrap();
    assert_eq!(mean, [1.0, 7.5]);
    // The variance of what was drawn from: divided by n − 1.
    assert_eq!(norm.running_var().unwrap().to_vec::<f32>().unwrap(), [1.5, 25.5]);
    norm.eval();
    let y = norm.forward(&x).unwrap().to_vec::<f32>().unwrap();
    assert!((y[0] - 0.0).abs() < 1e-6 && (y[3] - 12.5 / 25.5f32.sqrt()).abs() < 1e-4, "{y:?}");
    assert_eq!(norm.running_mean().unwrap().to_vec::<f32>().unwrap(), [1.0, 7.5]);
    let buffers: Vec<String> = norm.named_buffers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(buffers, ["running_mean", "running_var", "num_batches_tracked"]);
    assert!(norm.forward(&ramp(&[2, 2, 2, 2])).is_err());
}

/// Far from 0, and far from the others: an algorithm that takes the variance around 0, or around the first samples, loses digits there.
#[test]
fn a_batch_norm_finds_the_variance_of_numbers_whose_first_are_far_off() {
    for (samples, away, off) in
        [(2, 1e3, 0.0), (64, 1e3, 0.0), (130, 0.0, 1e3), (1000, -1e4, 0.0), (64, 0.0, -1e3)]
    {
        let at = |s: usize, c: usize| {
            let wave = ((s * 7 + c * 3) % 23) as f64 / 11.0 - 1.0;
            away + wave + if s == 0 { off } else { 0.0 }
        };
        let all = (0..samples).flat_map(|s| (0..3).map(move |c| at(s, c) as f32)).collect::<Vec<_>>();
        let options = NormOptions { momentum: Some(1.0), ..Default::default() };
        let norm = BatchNorm1d::with_options(3, options).unwrap();
        let y = norm.forward(&Tensor::from_vec(all.clone(), &[samples, 3]).unwrap()).unwrap();
        let y = y.to_vec::<f32>().unwrap();
        let seen = norm.running_var().unwrap().to_vec::<f32>().unwrap();
        for c in 0..3 {
            let column: Vec<f64> = all.iter().skip(c).step_by(3).map(|&v| f64::from(v)).collect();
            let mean = column.iter().sum::<f64>() / samples as f64;
            let square = column.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
            let variance = square / (samples as f64 - 1.0);
            assert!(
                (f64::from(seen[c]) / variance - 1.0).abs() < 1e-4,
                "{samples}, {away}, {off}: {} for {variance}",
                seen[c]
            );
            let last = (column[samples - 1] - mean) / (square / samples as f64 + 1e-5).sqrt();
            let got = f64::from(y[3 * (samples - 1) + c]);
            assert!((got - last).abs() < 2e-3, "{samples}, {away}, {off}: {got} for {last}");
        }
    }
    let same = Tensor::from_vec(vec![3.3f32; 80], &[40, 2]).unwrap();
    let norm = BatchNorm1d::new(2).unwrap();
    assert!(norm.forward(&same).unwrap().to_vec::<f32>().unwrap().iter().all(|v| v.abs() < 1e-3));
}

#[test]
fn the_mean_of_all_that_was_seen_needs_no_momentum() {
    let norm = BatchNorm1d::with_options(1, NormOptions { momentum: None, ..Default::default() }).unwrap();
    for value in [1.0f32, 2.0, 6.0] {
        norm.forward(&Tensor::from_vec(vec![value - 1.0, value + 1.0], &[2, 1]).unwrap()).unwrap();
    }
    assert!((norm.running_mean().unwrap().to_vec::<f32>().unwrap()[0] - 3.0).abs() < 1e-6);
}

#[test]
fn norms_make_mean_0_and_variance_1() {
    let x = ramp(&[2, 6, 4, 5]);
    let moments = |of: &[f32]| {
        let mean = of.iter().sum::<f32>() / of.len() as f32;
        (mean, of.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / of.len() as f32)
    };
    let grouped = GroupNorm::new(3, 6).unwrap().forward(&x).unwrap().to_vec::<f32>().unwrap();
    let each = InstanceNorm2d::new(6).unwrap().forward(&x).unwrap().to_vec::<f32>().unwrap();
    for (of, n) in [(&grouped, 40), (&each, 20)] {
        for part in of.chunks(n) {
            let (mean, variance) = moments(part);
            assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-3, "{mean} {variance}");
        }
    }
    let rms = RMSNorm::new(&[5]).unwrap().forward(&x).unwrap().to_vec::<f32>().unwrap();
    for part in rms.chunks(5) {
        assert!((part.iter().map(|v| v * v).sum::<f32>() / 5.0 - 1.0).abs() < 1e-4);
    }
}

#[test]
fn recurrent_layers_have_pytorchs_names_and_take_states() {
    let options =
        RecurrentOptions { num_layers: 2, bidirectional: true, batch_first: true, ..Default::default() };
    let lstm = LSTM::with_options(3, 4, options.clone()).unwrap();
    assert_eq!(
        names(&lstm)[..5],
        ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse"]
    );
    let second = lstm.named_parameters().into_iter().find(|(name, _)| name == "weight_ih_l1").unwrap().1;
    assert_eq!(*second.shape(), [16, 8]);
    let x = ramp(&[5, 7, 3]);
    let (y, (h, c)) = lstm.run(&x, None).unwrap();
    assert_eq!(
        (&y.shape()[..], &h.shape()[..], &c.shape()[..]),
        (&[5, 7, 8][..], &[4, 5, 4][..], &[4, 5, 4][..])
    );
    let gru = GRU::with_options(3, 4, options).unwrap();
    assert_eq!(*gru.run(&x, None).unwrap().1.shape(), [4, 5, 4]);
    assert!(lstm.run(&ramp(&[5, 7, 2]), None).is_err());

    // A sequence in two parts is the sequence.
    let rnn = RNN::new(3, 4).unwrap();
    let x = ramp(&[6, 2, 3]);
    let (whole, end) = rnn.run(&x, None).unwrap();
    let (first, state) = rnn.run(&x.narrow(0, 0, 2).unwrap(), None).unwrap();
    let (second, last) = rnn.run(&x.narrow(0, 2, 4).unwrap(), Some(&state)).unwrap();
    let parts = [first.to_vec::<f32>().unwrap(), second.to_vec::<f32>().unwrap()].concat();
    assert_eq!(whole.to_vec::<f32>().unwrap(), parts);
    assert_eq!(end.to_vec::<f32>().unwrap(), last.to_vec::<f32>().unwrap());
    let (alone, _) = rnn.run(&x.select(1, 0).unwrap(), None).unwrap();
    assert_eq!(*alone.shape(), [6, 4]);
}

#[test]
fn causal_attention_does_not_see_what_comes() {
    let attention = MultiheadAttention::new(8, 2).unwrap().batch_first();
    assert_eq!(names(&attention), ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]);
    let (x, causal) = (ramp(&[1, 5, 8]), Attend { is_causal: true, ..Attend::default() });
    let whole = attention.run(&x, &x, &x, causal).unwrap().to_vec::<f32>().unwrap();
    let part = x.narrow(1, 0, 3).unwrap();
    let part = attention.run(&part, &part, &part, causal).unwrap().to_vec::<f32>().unwrap();
    assert!(part.iter().zip(&whole).all(|(a, b)| (a - b).abs() < 1e-6));
    assert!(MultiheadAttention::new(8, 3).is_err());
}

#[test]
fn encoders_stack_layers_under_pytorchs_names() {
    let layer = || TransformerEncoderLayer::new(8, 2, 16, 0.0).map(TransformerEncoderLayer::norm_first);
    let encoder = TransformerEncoder { layers: vec![layer().unwrap(), layer().unwrap()], norm: None };
    assert_eq!(*encoder.forward(&ramp(&[2, 5, 8])).unwrap().shape(), [2, 5, 8]);
    let all = names(&encoder);
    assert!(
        all.contains(&"layers.1.self_attn.out_proj.weight".to_string())
            && all.contains(&"layers.0.norm2.bias".into())
    );
    assert_eq!(all.len(), 24);
}

/// A block of a residual network.
#[derive(Module)]
#[module(crate = mg_nn)]
struct Block {
    conv: Conv2d,
    norm: BatchNorm2d,
    #[module(buffer)]
    scale: Tensor,
    shortcut: Option<Conv2d>,
    times: usize,
    #[module(skip)]
    seen: std::cell::OnceCell<()>,
    mode: Mode,
}

// SAFETY: the cell is not used from several threads in this test.
unsafe impl Sync for Block {}

impl Block {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let mut y = self.norm.forward(&self.conv.forward(x)?)?.try_mul(&self.scale)?;
        for _ in 0..self.times {
            y = y.try_relu()?;
        }
        let _ = self.seen.set(());
        y.try_add(self.shortcut.as_ref().map_or(Ok(x.clone()), |s| s.forward(x))?)
    }
}

#[derive(Module)]
#[module(crate = mg_nn, no_forward)]
struct Pair<M: Module> {
    first: M,
    rest: Vec<M>,
}

#[test]
fn derived_modules_are_their_fields() {
    let options = ConvOptions { padding: None, ..ConvOptions::default() };
    let block = Block {
        conv: Conv2d::with_options(2, 3, [3, 3], options).unwrap(),
        norm: BatchNorm2d::new(3).unwrap(),
        scale: Tensor::ones(&[1], DType::F32).unwrap(),
        shortcut: Some(Conv2d::new(2, 3, [1, 1]).unwrap()),
        times: 1,
        seen: Default::default(),
        mode: Mode::default(),
    };
    assert_eq!(*block.forward(&ramp(&[2, 2, 4, 4])).unwrap().shape(), [2, 3, 4, 4]);
    assert_eq!(
        names(&block),
        ["conv.weight", "conv.bias", "norm.weight", "norm.bias", "shortcut.weight", "shortcut.bias"]
    );
    let buffers: Vec<String> = block.named_buffers().into_iter().map(|(name, _)| name).collect();
    assert_eq!(buffers, ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked", "scale"]);
    assert!(block.seen.get().is_some() && block.mode.is_training());
    block.eval();
    assert!(!block.mode.is_training());

    let pair =
        Pair { first: PReLU::new(1).unwrap(), rest: vec![PReLU::new(2).unwrap(), PReLU::new(3).unwrap()] };
    assert_eq!(names(&pair), ["first.weight", "rest.0.weight", "rest.1.weight"]);
    let error = Module::forward(&pair, &ramp(&[2])).err().unwrap().to_string();
    assert!(error.contains("Pair takes something else"), "{error}");
}

#[test]
fn a_convolutional_network_learns_where_the_spot_is() {
    mg_autograd::manual_seed(3);
    let model = sequential![
        Conv2d::new(1, 8, [3, 3]).unwrap(),
        BatchNorm2d::new(8).unwrap(),
        ReLU,
        MaxPool2d::new([2, 2]),
        Flatten::default(),
        mg_nn::Linear::new(8 * 9, 4).unwrap()
    ];
    let mut images = vec![0.0f32; 64 * 64];
    let labels: Vec<i64> = (0..64).map(|i| i % 4).collect();
    for (i, label) in labels.iter().enumerate() {
        let (row, column) = (1 + 4 * (label / 2) as usize + i % 2, 1 + 4 * (label % 2) as usize + i / 2 % 2);
        images[i * 64 + row * 8 + column] = 1.0;
    }
    let x = Tensor::from_vec(images, &[64, 1, 8, 8]).unwrap();
    let target = Tensor::from_slice(&labels);
    let mut sgd = SGD::new(model.parameters(), 0.2).unwrap();
    let mut last = f32::INFINITY;
    for _ in 0..40 {
        let loss = CrossEntropyLoss::default().forward(&model.forward(&x).unwrap(), &target).unwrap();
        sgd.zero_grad();
        loss.backward().unwrap();
        sgd.step().unwrap();
        last = loss.item::<f32>().unwrap();
    }
    assert!(last < 0.05, "the loss is {last}");
    assert!(model.describe().contains("MaxPool2d(kernel_size=[2, 2]"), "{}", model.describe());
}

#[test]
fn an_image_becomes_larger() {
    let x = ramp(&[1, 1, 2, 2]);
    let y = Upsample::new(&[2.0, 2.0]).forward(&x).unwrap();
    assert_eq!(*y.shape(), [1, 1, 4, 4]);
    let (x, y) = (x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    assert_eq!((y[0], y[1], y[5], y[15]), (x[0], x[0], x[0], x[3]));
}
