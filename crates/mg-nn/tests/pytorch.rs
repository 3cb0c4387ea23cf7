//! Layers and losses against what PyTorch 2.15 computes of the same weights and inputs.
#![allow(clippy::approx_constant, clippy::excessive_precision)] // numbers as PyTorch prints them

mod common;

use common::{filled, names, waves};
use mg_autograd::Tensor;
use mg_device::{ErrorKind, Result};
use mg_nn::*;

#[track_caller]
fn close(got: Result<Tensor>, want: &[f32]) {
    common::close(&got.unwrap(), want);
}

fn labels(values: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(values.to_vec(), shape).unwrap()
}

#[test]
fn cells_make_one_step() {
    let (x, h, c) = (waves(&[2, 3], 0.3), waves(&[2, 2], 0.9), waves(&[2, 2], 1.1));
    let rnn = filled(RNNCell::new(3, 2).unwrap());
    assert_eq!(names(&rnn), ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]);
    close(rnn.run(&x, Some(&h)), &[0.622477, 0.658458, 0.895788, 0.775636]);
    let (next, cell) = filled(LSTMCell::new(3, 2).unwrap()).run(&x, Some((&h, &c))).unwrap();
    close(Ok(next), &[-0.148179, -0.210922, -0.056964, -0.278929]);
    close(Ok(cell), &[-0.186931, -0.243564, -0.101729, -0.448947]);
    let gru = filled(GRUCell::new(3, 2).unwrap());
    assert_eq!((gru.describe(), &gru.weight_hh.shape()[..]), ("GRUCell(3, 2)".to_string(), &[6, 2][..]));
    close(gru.forward(&x), &[0.032275, -0.306955, -0.047596, -0.338265]);
    let e = sequential![gru].forward(&waves(&[2, 4], 1.0)).map(drop).unwrap_err();
    assert!(matches!(e.kind(), ErrorKind::Shape(_)), "{e}");
    let options = RecurrentOptions { relu: true, ..RecurrentOptions::default() };
    let rnn = filled(mg_nn::RNN::with_options(3, 2, options).unwrap());
    close(rnn.forward(&waves(&[2, 1, 3], 0.3)), &[1.470179, 1.100494, 0.0, 0.515424]);
}

#[test]
fn decoders_attend_to_a_memory() {
    let (target, memory) = (waves(&[1, 3, 4], 0.3), waves(&[1, 2, 4], 0.9));
    let causal = Attend { is_causal: true, ..Attend::default() };
    let layer = filled(TransformerDecoderLayer::new(4, 2, 6, 0.0).unwrap());
    close(
        layer.run(&target, &memory, causal, Attend::default()),
        &[
            -0.323605, 0.040339, -0.805256, -0.103517, -0.321721, 0.026463, -0.809328, -0.094957, -0.347871,
            0.036679, -0.721258, -0.118134,
        ],
    );
    let options = TransformerOptions {
        d_model: 4,
        num_heads: 2,
        num_encoder_layers: 1,
        num_decoder_layers: 1,
        dim_feedforward: 6,
        dropout: 0.0,
        norm_first: true,
    };
    let model = filled(Transformer::new(options).unwrap());
    let all = Attend::default();
    close(
        model.run(&memory, &target, all, all, all),
        &[
            0.119897, 0.341474, -0.933102, -0.43449, 0.132301, 0.348951, -1.018521, -0.554435, 0.119799,
            0.30787, -0.9829, -0.350494,
        ],
    );
    assert_eq!(
        names(&model),
        [
            "encoder.layers.0.self_attn.in_proj_weight",
            "encoder.layers.0.self_attn.in_proj_bias",
            "encoder.layers.0.self_attn.out_proj.weight",
            "encoder.layers.0.self_attn.out_proj.bias",
            "encoder.layers.0.linear1.weight",
            "encoder.layers.0.linear1.bias",
            "encoder.layers.0.linear2.weight",
            "encoder.layers.0.linear2.bias",
            "encoder.layers.0.norm1.weight",
            "encoder.layers.0.norm1.bias",
            "encoder.layers.0.norm2.weight",
            "encoder.layers.0.norm2.bias",
            "encoder.norm.weight",
            "encoder.norm.bias",
            "decoder.layers.0.self_attn.in_proj_weight",
            "decoder.layers.0.self_attn.in_proj_bias",
            "decoder.layers.0.self_attn.out_proj.weight",
            "decoder.layers.0.self_attn.out_proj.bias",
            "decoder.layers.0.multihead_attn.in_proj_weight",
            "decoder.layers.0.multihead_attn.in_proj_bias",
            "decoder.layers.0.multihead_attn.out_proj.weight",
            "decoder.layers.0.multihead_attn.out_proj.bias",
            "decoder.layers.0.linear1.weight",
            "decoder.layers.0.linear1.bias",
            "decoder.layers.0.linear2.weight",
            "decoder.layers.0.linear2.bias",
            "decoder.layers.0.norm1.weight",
            "decoder.layers.0.norm1.bias",
            "decoder.layers.0.norm2.weight",
            "decoder.layers.0.norm2.bias",
            "decoder.layers.0.norm3.weight",
            "decoder.layers.0.norm3.bias",
            "decoder.norm.weight",
            "decoder.norm.bias",
        ]
    );
    model.decoder.layers[0].multihead_attn.out_proj.weight.to_vec::<f32>().unwrap();
    let e = model.run(&memory, &waves(&[1, 3, 5], 0.3), all, all, all).map(drop).unwrap_err();
    assert!(e.to_string().starts_with("decoder.layers.0.norm1: "), "{e}");
    assert!(model.forward(&target).is_err());
    let layer = filled(TransformerEncoderLayer::new(4, 2, 6, 0.0).unwrap().gelu());
    close(
        layer.forward(&target),
        &[
            -1.171531, -0.624566, -0.173928, -0.190815, -1.093, -0.705771, -0.171423, -0.192508, -1.147832,
            -0.643698, -0.157758, -0.061976,
        ],
    );
}

#[test]
fn tables_and_pairs() {
    let (x, y) = (waves(&[2, 3], 0.3), waves(&[2, 3], 0.5));
    close(
        filled(Bilinear::new(3, 2, 2, true).unwrap()).run(&x, &waves(&[2, 2], 0.9)),
        &[1.402807, -0.353533, 0.072847, 0.48351],
    );
    let bags = filled(EmbeddingBag::new(4, 2, BagMode::Max).unwrap());
    let offsets = labels(&[0, 3], &[2]);
    close(bags.run(&labels(&[1, 2, 3, 0], &[4]), Some(&offsets), None), &[0.492725, 0.431605, 0.0, 0.322109]);
    close(CosineSimilarity::default().run(&x, &y), &[0.987715, -0.249725]);
    close(PairwiseDistance::default().run(&x, &y), &[0.29545, 1.292173]);

    let padded = |row| {
        Embedding::with_options(3, 2, EmbeddingOptions { padding_idx: Some(row), ..Default::default() })
    };
    let table = padded(-1).unwrap();
    let rows = table.forward(&labels(&[2, 0], &[2])).unwrap();
    assert_eq!(rows.to_vec::<f32>().unwrap()[..2], [0.0, 0.0]);
    rows.sum().backward().unwrap();
    assert_eq!(table.weight.grad().unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(matches!(padded(3).map(drop).unwrap_err().kind(), ErrorKind::Index { .. }));

    let options = EmbeddingOptions {
        max_norm: Some(0.25),
        norm_type: 1.0,
        scale_grad_by_freq: true,
        ..Default::default()
    };
    let table = filled(Embedding::with_options(3, 2, options).unwrap());
    let before = table.weight.to_vec::<f32>().unwrap();
    table.forward(&labels(&[2, 0, 2], &[3])).unwrap().sum().backward().unwrap();
    let after = table.weight.to_vec::<f32>().unwrap();
    let length = |row: &[f32]| row[0].abs() + row[1].abs();
    assert!(
        [&after[..2], &after[4..]].iter().all(|row| (length(row) - 0.25).abs() < 1e-6),
        "{before:?} became {after:?}"
    );
    assert_eq!(after[2..4], before[2..4]);
    assert_eq!(table.weight.grad().unwrap().to_vec::<f32>().unwrap(), [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(table.describe(), "Embedding(3, 2, max_norm=0.25, norm_type=1.0, scale_grad_by_freq=True)");
    let refused = table.forward(&labels(&[3], &[1])).map(drop).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Index { .. }), "{refused}");
}

#[test]
fn layers_of_images() {
    let x = waves(&[1, 4, 2, 2], 0.3);
    close(
        LocalResponseNorm { alpha: 1.0, ..LocalResponseNorm::new(3) }.forward(&x),
        &[
            0.786639, 0.782035, 0.70056, 0.537551, 0.2598, 0.050234, -0.161915, -0.365404, -0.545931,
            -0.68427, -0.759442, -0.757201, -0.678899, -0.549915, -0.379533, -0.169266,
        ],
    );
    close(
        ChannelShuffle(2).forward(&x),
        &[
            1.0, 0.955337, 0.825336, 0.62161, -0.737394, -0.904072, -0.989992, -0.98748, 0.362358, 0.070737,
            -0.227202, -0.504846, -0.896758, -0.725932, -0.490261, -0.210796,
        ],
    );
    close(
        Softmax2d.forward(&x),
        &[
            0.539209, 0.569871, 0.561751, 0.510399, 0.284992, 0.235288, 0.19608, 0.165461, 0.094889,
            0.088766, 0.091444, 0.102115, 0.080911, 0.106075, 0.150726, 0.222024,
        ],
    );
    assert!(Softmax2d.forward(&waves(&[2, 3], 0.3)).is_err());
    close(LPPool2d::new(2.0, [2, 2]).forward(&x), &[1.726339, 0.66543, 1.82107, 1.271198]);
    close(LPPool2d::new(f64::INFINITY, [2, 2]).forward(&x), &[1.0, 0.504846, 0.989992, 0.896758]);
    close(LPPool2d::new(f64::NEG_INFINITY, [2, 2]).forward(&x), &[0.62161, 0.070737, 0.737394, 0.210796]);
    assert!(LPPool2d::new(0.0, [2, 2]).forward(&x).is_err());
    let image = waves(&[1, 1, 2, 4], 0.3);
    let (largest, places) = image.try_max_pool2d_with_indices(&[2, 2], &[], &[0], &[1], false).unwrap();
    close(
        MaxUnpool2d::new([2, 2]).run(&largest, &places, None),
        &[1.0, 0.0, 0.825336, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
    let columns = Unfold::new([2, 2]).forward(&waves(&[1, 1, 3, 3], 0.3)).unwrap();
    close(
        Ok(columns.clone()),
        &[
            1.0, 0.955337, 0.62161, 0.362358, 0.955337, 0.825336, 0.362358, 0.070737, 0.62161, 0.362358,
            -0.227202, -0.504846, 0.362358, 0.070737, -0.504846, -0.737394,
        ],
    );
    close(
        Fold::new([3, 3], [2, 2]).forward(&columns),
        &[1.0, 1.910673, 0.825336, 1.24322, 1.449431, 0.141474, -0.227202, -1.009692, -0.737394],
    );
    let line = waves(&[1, 1, 3], 0.3);
    let bent = Pad::circular(&[1, 1]).forward(&line).unwrap().to_vec::<f32>().unwrap();
    assert_eq!((bent[0], bent[4]), (bent[3], bent[1]));
    assert_eq!(Pad::constant(&[1, 0], 7.0).forward(&line).unwrap().to_vec::<f32>().unwrap()[0], 7.0);
}

#[test]
fn functions() {
    let x = waves(&[2, 3], 0.3);
    close(Softmin { dim: 1 }.forward(&x), &[0.308974, 0.323086, 0.36794, 0.248094, 0.32152, 0.430385]);
    close(
        Threshold { threshold: 0.1, value: 20.0 }.forward(&x),
        &[1.0, 0.955337, 0.825336, 0.62161, 0.362358, 20.0],
    );
    let rrelu = RReLU::default();
    let drawn = rrelu.forward(&x.try_neg().unwrap()).unwrap().to_vec::<f32>().unwrap();
    let slopes: Vec<f32> = drawn.iter().zip(x.to_vec::<f32>().unwrap()).map(|(y, x)| y / -x).collect();
    assert!(slopes.iter().all(|s| (0.125..=0.3334).contains(s)) && slopes[0] != slopes[1], "{slopes:?}");
    rrelu.eval();
    close(rrelu.forward(&x), &[1.0, 0.955337, 0.825336, 0.62161, 0.362358, 0.070737]);
    assert!(RReLU::new(0.5, 0.1).is_err());
    let drop = FeatureAlphaDropout::new(0.5).unwrap();
    drop.eval();
    close(drop.forward(&x), &x.to_vec::<f32>().unwrap());
}

#[test]
fn losses_are_pytorchs() {
    let (x, y) = (waves(&[2, 3], 0.3), waves(&[2, 3], 0.5));
    let (p, q) = (x.try_sigmoid().unwrap(), y.try_softmax(Some(-1), None).unwrap());
    let (s, log) = (y.try_sign().unwrap(), x.try_log_softmax(Some(-1), None).unwrap());
    let weight = || Some(Tensor::from_slice(&[1.0f32, 2.0, 3.0]));
    close(L1Loss::default().forward(&x, &y), &[0.427341]);
    close(SmoothL1Loss { beta: 0.5, ..Default::default() }.forward(&x, &y), &[0.256425]);
    close(HuberLoss { delta: 0.3, ..Default::default() }.forward(&x, &y), &[0.094837]);
    close(BCELoss::default().forward(&p, &q), &[0.847273]);
    close(BCEWithLogitsLoss { pos_weight: weight(), ..Default::default() }.forward(&x, &q), &[0.968507]);
    close(KLDivLoss { batch_mean: true, ..Default::default() }.forward(&log, &q), &[0.007971]);
    close(PoissonNLLLoss::default().forward(&x, &q), &[1.767007]);
    close(GaussianNLLLoss { full: true, ..Default::default() }.forward(&x, &y, &p), &[0.958053]);
    close(HingeEmbeddingLoss::default().forward(&x, &s), &[0.828198]);
    close(MarginRankingLoss { margin: 0.2, ..Default::default() }.forward(&x, &y, &s), &[0.395439]);
    close(
        CosineEmbeddingLoss { margin: 0.1, ..Default::default() }.forward(&x, &y, &labels(&[1, -1], &[2])),
        &[0.006142],
    );
    let opposite = y.try_neg().unwrap();
    close(TripletMarginLoss { swap: true, ..Default::default() }.forward(&x, &y, &opposite), &[0.642169]);
    close(SoftMarginLoss::default().forward(&x, &s), &[0.50862]);
    close(MultiMarginLoss { p: 2, ..Default::default() }.forward(&x, &labels(&[2, 0], &[2])), &[0.56786]);
    close(MultiLabelMarginLoss::default().forward(&x, &labels(&[1, 0, -1, 2, -1, 0], &[2, 3])), &[0.756305]);
    let zero_one = s.try_add(1.0).unwrap().try_div(2.0).unwrap();
    close(MultiLabelSoftMarginLoss::default().forward(&x, &zero_one), &[0.50862]);
    let loss = NLLLoss { weight: weight(), ignore_index: Some(1), ..Default::default() };
    close(loss.forward(&log, &labels(&[2, 1], &[2])), &[1.202875]);
    let time = waves(&[4, 1, 3], 0.3).try_log_softmax(Some(-1), None).unwrap();
    let (targets, lengths) = (labels(&[1, 2], &[1, 2]), labels(&[4], &[1]));
    close(CTCLoss::default().forward(&time, &targets, &lengths, &labels(&[2], &[1])), &[0.848653]);
    assert!(MSELoss { reduction: Reduction::None }.forward(&x, &y).unwrap().shape()[..] == [2, 3]);
}

#[test]
fn losses_of_very_many_classes() {
    let options =
        AdaptiveLogSoftmaxOptions { div_value: 2.0, head_bias: true, ..AdaptiveLogSoftmaxOptions::default() };
    let layer = filled(AdaptiveLogSoftmaxWithLoss::with_options(4, 7, &[2, 4], options).unwrap());
    let tails = ["tail.0.0.weight", "tail.0.1.weight", "tail.1.0.weight", "tail.1.1.weight"];
    assert_eq!(names(&layer), [&["head.weight", "head.bias"], &tails[..]].concat());
    let x = waves(&[3, 4], 0.3).requires_grad_(true).unwrap();
    let (output, loss) = layer.run(&x, &labels(&[0, 6, 3], &[3])).unwrap();
    close(Ok(output), &[-1.112341, -1.771661, -2.952749]);
    close(Ok(loss.clone()), &[1.945584]);
    close(
        layer.log_prob(&x),
        &[
            -1.112341, -2.579583, -2.275712, -1.802092, -1.928425, -2.308112, -2.490083, -2.265758,
            -1.382889, -2.618989, -2.548833, -1.843992, -1.795095, -1.771661, -3.149681, -0.812396,
            -2.529971, -2.952749, -2.436736, -2.021613, -1.822657,
        ],
    );
    assert_eq!(layer.predict(&x).unwrap().to_vec::<i64>().unwrap(), [0, 1, 1]);
    loss.backward().unwrap();
    close(
        Ok(x.grad().unwrap()),
        &[
            0.022749, -0.05832, -0.11196, -0.112944, -0.060732, -0.000324, 0.060236, 0.092466, 0.131202,
            -0.044738, -0.199637, -0.260644,
        ],
    );
    let (output, _) = layer.run(&x.select(0, 1).unwrap(), &labels(&[6], &[])).unwrap();
    close(Ok(output), &[-1.771661]);
    for (target, shape) in [(vec![0, 7, 3], vec![3]), (vec![0, 1], vec![2]), (vec![0, 1, 2], vec![3, 1])] {
        assert!(layer.run(&x, &labels(&target, &shape)).is_err());
    }
    for cutoffs in [&[][..], &[0, 2], &[3, 3], &[7]] {
        let refused = AdaptiveLogSoftmaxWithLoss::new(4, 7, cutoffs).map(drop).unwrap_err();
        assert!(refused.to_string().contains("takes cutoffs that ascend"), "{refused}");
    }
}

#[test]
fn distances_of_ones_own() {
    let (x, y) = (waves(&[2, 3], 0.3), waves(&[2, 3], 0.5));
    let opposite = y.try_neg().unwrap();
    let l1 = |a: &Tensor, b: &Tensor| a.try_sub(b)?.try_abs()?.try_sum_dim(&[-1], false);
    let loss =
        TripletMarginWithDistanceLoss { margin: 0.5, swap: true, ..TripletMarginWithDistanceLoss::new(l1) };
    close(loss.forward(&x, &y, &opposite), &[0.612358]);
    let all = TripletMarginWithDistanceLoss { reduction: Reduction::None, ..Default::default() };
    close(all.forward(&x, &y, &opposite), &[0.0, 1.284338]);
    let refused = TripletMarginWithDistanceLoss { margin: 0.0, ..Default::default() };
    assert!(refused.forward(&x, &y, &opposite).is_err());
}

#[test]
fn windows_that_begin_at_random() {
    let x = waves(&[2, 3, 8, 8], 0.3);
    let (sizes, part) =
        (FractionalMaxPool2d::new([2, 2], [5, 4]), FractionalMaxPool2d::with_ratio([2, 2], [0.5, 0.5]));
    assert_eq!(sizes.forward(&x).unwrap().shape()[..], [2, 3, 5, 4]);
    assert_eq!(part.forward(&x).unwrap().shape()[..], [2, 3, 4, 4]);
    assert_eq!(part.describe(), "FractionalMaxPool2d(kernel_size=[2, 2], output_ratio=[0.5, 0.5])");
    let drawn = || mg_autograd::manual_seed(3);
    drawn();
    let got = sizes.forward(&x).unwrap().to_vec::<f32>().unwrap();
    drawn();
    let want = x.try_fractional_max_pool2d(&[2, 2], Some(&[5, 4]), None, None).unwrap();
    assert_eq!(got, want.to_vec::<f32>().unwrap());
    let solid = FractionalMaxPool3d::new([2, 2, 2], [1, 2, 3]);
    assert_eq!(solid.forward(&waves(&[1, 2, 4, 4, 4], 0.3)).unwrap().shape()[..], [1, 2, 1, 2, 3]);
    assert!(solid.forward(&waves(&[8, 8], 0.3)).is_err());
}

#[test]
fn modules_by_name_are_named_by_their_keys() {
    #[derive(Module)]
    #[module(crate = mg_nn)]
    struct Heads {
        heads: std::collections::BTreeMap<String, Linear>,
    }
    impl Heads {
        fn forward(&self, x: &Tensor) -> Result<Tensor> {
            self.heads["b"].forward(x)
        }
    }
    let heads = ["b", "a"].map(|name| (name.to_string(), Linear::new(2, 3).unwrap())).into();
    let model = Heads { heads };
    assert_eq!(names(&model), ["heads.a.weight", "heads.a.bias", "heads.b.weight", "heads.b.bias"]);
    assert_eq!(*model.forward(&waves(&[1, 2], 1.0)).unwrap().shape(), [1, 3]);
}

#[test]
fn packed_sequences_are_pytorchs() {
    use mg_nn::utils::rnn::{PackOptions, PadOptions, pack_padded_sequence, pad_packed_sequence};
    let options = PackOptions { batch_first: true, enforce_sorted: false };
    let packed = pack_padded_sequence(&waves(&[3, 4, 3], 0.3), &[2, 4, 1], &options).unwrap();
    assert_eq!(packed.batch_sizes, [3, 2, 1, 1]);
    assert_eq!(packed.sorted_indices.as_deref(), Some(&[1, 0, 2][..]));
    let (h, c) = (waves(&[2, 3, 2], 0.9), waves(&[2, 3, 2], 1.1));
    let both = RecurrentOptions { bidirectional: true, ..RecurrentOptions::default() };
    let lstm = filled(LSTM::with_options(3, 2, both.clone()).unwrap());
    let (output, (state, cell)) = lstm.run_packed(&packed, Some((&h, &c))).unwrap();
    close(
        Ok(output.data.clone()),
        &[
            -0.22835, 0.070016, 0.083457, 0.254898, -0.148179, -0.210922, -0.226003, 0.117601, -0.120903,
            0.028589, 0.194309, 0.335109, -0.396854, -0.035572, 0.01741, 0.020462, -0.162628, -0.257799,
            0.174722, 0.169778, -0.314395, -0.303196, -0.252487, -0.100315, -0.12094, -0.434644, -0.514684,
            -0.178346,
        ],
    );
    close(
        Ok(state),
        &[
            -0.162628, -0.257799, -0.12094, -0.434644, -0.120903, 0.028589, -0.226003, 0.117601, 0.083457,
            0.254898, 0.194309, 0.335109,
        ],
    );
    close(
        Ok(cell),
        &[
            -0.268313, -0.368407, -0.165765, -0.688071, -0.200392, 0.043945, -0.262757, 0.357175, 0.159581,
            0.342269, 0.319433, 0.681273,
        ],
    );
    let options =
        PadOptions { batch_first: true, padding_value: -1.0, total_length: Some(5), ..PadOptions::default() };
    let (padded, lengths) = pad_packed_sequence(&output, &options).unwrap();
    assert_eq!((&padded.shape()[..], &lengths[..]), (&[3, 5, 4][..], &[2, 4, 1][..]));
    let sums = [0, 1, 2].map(|i| padded.select(0, i).unwrap().sum().item::<f32>().unwrap());
    close(Ok(Tensor::from_slice(&sums)), &[-12.543431, -6.433539, -15.562897]);

    let gru = filled(GRU::with_options(3, 2, both).unwrap());
    let (output, state) = gru.run_packed(&packed, Some(&h)).unwrap();
    close(output.data.narrow(0, 6, 1), &[-0.007028, -0.638562, 0.652842, 0.067564]);
    close(
        Ok(state),
        &[
            0.017948, -0.397174, -0.007028, -0.638562, -0.353612, -0.417973, 0.593068, 0.326314, 0.14515,
            -0.142542, -0.029787, 0.024784,
        ],
    );
    let options = RecurrentOptions { relu: true, ..RecurrentOptions::default() };
    let rnn = filled(mg_nn::RNN::with_options(3, 2, options).unwrap());
    close(
        rnn.run_packed(&packed, None).map(|(_, end)| end),
        &[0.0, 0.515424, 0.711994, 0.801007, 0.894032, 0.964797],
    );
    // Gradients reach what was packed.
    let x = waves(&[2, 3, 3], 0.3).requires_grad_(true).unwrap();
    let packed =
        pack_padded_sequence(&x, &[3, 1], &PackOptions { batch_first: true, enforce_sorted: true }).unwrap();
    rnn.run_packed(&packed, None).unwrap().0.data.sum().backward().unwrap();
    let grad = x.grad().unwrap();
    assert!(
        grad.select(0, 1)
            .unwrap()
            .narrow(0, 1, 2)
            .unwrap()
            .to_vec::<f32>()
            .unwrap()
            .iter()
            .all(|&g| g == 0.0)
    );
    assert!(grad.abs().sum().item::<f32>().unwrap() > 0.1);
    // What does not fit is told by the layer.
    let e = lstm.run_packed(&packed, Some((&h, &c))).map(drop).unwrap_err();
    assert!(e.to_string().contains("takes states [2, 2, size], got [2, 3, 2]"), "{e}");
}

/// A step that packs and pads is replayed: nothing is read to know the order.
#[test]
fn packed_steps_are_replayed() {
    use mg_nn::utils::rnn::{PackOptions, PadOptions, pack_padded_sequence, pad_packed_sequence};
    let gru = filled(GRU::new(3, 2).unwrap());
    let options = PackOptions { batch_first: true, enforce_sorted: false };
    let step = |args: &[Tensor]| {
        let packed = pack_padded_sequence(&args[0], &[2, 4, 1], &options)?;
        let (output, state) = gru.run_packed(&packed, None)?;
        let (padded, lengths) = pad_packed_sequence(&output, &PadOptions::default())?;
        assert_eq!(lengths, [2, 4, 1]);
        let loss = padded.sum().try_add(state.sum())?;
        loss.backward()?;
        Ok(vec![loss])
    };
    let mut replayed = mg_autograd::jit(step);
    for i in 0..6 {
        let x = waves(&[3, 4, 3], 0.3 + f64::from(i));
        let want = step(std::slice::from_ref(&x)).unwrap()[0].item::<f32>().unwrap();
        let got = replayed.call(&[&x]).unwrap()[0].item::<f32>().unwrap();
        assert_eq!(want, got);
    }
    assert!(replayed.is_replaying(), "{:?}", replayed.reason());
}

#[test]
fn sequences_that_do_not_fit_are_refused() {
    use mg_nn::utils::rnn::*;
    let (x, plain) = (waves(&[4, 3], 0.3), PackOptions::default());
    for (e, text) in [
        (pack_padded_sequence(&x, &[4, 2], &plain).map(drop), "takes 3 lengths for shape [4, 3], got 2"),
        (
            pack_padded_sequence(&x, &[5, 2, 1], &plain).map(drop),
            "lengths above 0 and up to 4, got [5, 2, 1]",
        ),
        (pack_padded_sequence(&x, &[4, 2, 0], &plain).map(drop), "lengths above 0 and up to 4"),
        (pack_padded_sequence(&x, &[1, 2, 3], &plain).map(drop), "takes lengths that descend, got [1, 2, 3]"),
        (pack_padded_sequence(&x.narrow(1, 0, 0).unwrap(), &[], &plain).map(drop), "at least one sequence"),
        (pad_sequence(&[], &PadOptions::default()).map(drop), "at least one sequence, got none"),
        (
            pad_sequence(&[x.clone(), waves(&[4], 0.3)], &PadOptions::default()).map(drop),
            "got [4, 3] and [4]",
        ),
        (unpad_sequence(&x, &[4], true).map(drop), "takes 4 lengths for shape [4, 3], got 1"),
    ] {
        let e = e.unwrap_err().to_string();
        assert!(e.contains(text), "{e}");
    }
    let packed = pack_padded_sequence(&x, &[4, 2, 1], &plain).unwrap();
    let short = PadOptions { total_length: Some(3), ..PadOptions::default() };
    let e = pad_packed_sequence(&packed, &short).map(drop).unwrap_err();
    assert!(e.to_string().contains("takes a total_length of at least 4, got 3"), "{e}");
    let wrong = PackedSequence { batch_sizes: vec![3, 4], ..packed.clone() };
    assert!(pad_packed_sequence(&wrong, &PadOptions::default()).is_err());
    for order in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3]] {
        let wrong = PackedSequence { sorted_indices: Some(order), ..packed.clone() };
        let e = pad_packed_sequence(&wrong, &PadOptions::default()).map(drop).unwrap_err();
        assert!(e.to_string().contains("takes sorted_indices that are each of 0 to 3"), "{e}");
        assert!(mg_nn::RNN::new(1, 2).unwrap().run_packed(&wrong, None).is_err());
    }
    let back = unpack_sequence(&packed).unwrap();
    assert_eq!(back.iter().map(|t| t.shape()[0]).collect::<Vec<_>>(), [4, 2, 1]);
    assert_eq!(
        back[1].to_vec::<f32>().unwrap(),
        x.narrow(0, 0, 2).unwrap().select(1, 1).unwrap().to_vec::<f32>().unwrap()
    );
}

#[test]
fn lstms_project_their_states() {
    let options = RecurrentOptions { num_layers: 2, proj_size: 2, ..RecurrentOptions::default() };
    let lstm = filled(LSTM::with_options(3, 4, options.clone()).unwrap());
    assert_eq!(lstm.describe(), "LSTM(3, 4, proj_size=2, num_layers=2)");
    assert_eq!(names(&lstm)[4], "weight_hr_l0");
    let (output, (state, cell)) = lstm.run(&waves(&[2, 1, 3], 0.3), None).unwrap();
    close(Ok(output), &[0.033354, 0.005489, 0.038096, 0.016691]);
    assert_eq!(*state.shape(), [2, 1, 2]);
    close(Ok(cell), &[-0.665644, -0.216774, -0.026093, -0.523546, 0.549114, 0.350113, -0.00782, -0.262085]);
    assert!(GRU::with_options(3, 4, options).is_err());
}
