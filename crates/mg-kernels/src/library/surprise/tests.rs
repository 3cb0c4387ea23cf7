//! Surprises against a softmax of all scores in f64, and their gradients against slopes.

use super::{SCORES, Sizes, Spread, Surprise, SurpriseKind};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

const SPREADS: [Spread; 3] = [Spread::Nothing, Spread::Evenly, Spread::ByShares];

fn surprise(kind: SurpriseKind, biased: bool, spread: Spread) -> Surprise {
    Surprise { kind, biased, spread }
}

/// Rows, a weight, labels, a bias and shares.
fn operands(dtype: DType, [rows, width, words]: [usize; 3]) -> [Array; 5] {
    let sums = super::dtype_of_sums(dtype);
    let labels = (0..rows).map(|i| ((i * 7 + 3) % words) as i64);
    [
        Array::some(dtype, &[rows, width], 1),
        Array::some(dtype, &[words, width], 2),
        Array::indices(&[rows], labels),
        Array::some(dtype, &[words], 3),
        Array::some(sums, &[words], 4),
    ]
}

/// Those that a kernel takes.
fn taken<'a>(of: &Surprise, all: &'a [Array; 5]) -> Vec<&'a Array> {
    let [x, w, labels, bias, shares] = all;
    let mut operands = vec![x, w, labels];
    operands.extend(of.biased.then_some(bias));
    operands.extend((of.spread == Spread::ByShares).then_some(shares));
    operands
}

/// The surprises of the labels, then those of all words.
fn naive(of: &Surprise, [x, w, labels, bias, shares]: &[Array; 5]) -> Vec<f64> {
    let ([rows, width], words) = ([x.shape[0], x.shape[1]], w.shape[0]);
    let mut lines = [vec![], vec![]];
    for i in 0..rows {
        let score = |c: usize| -> f64 {
            let product: f64 = (0..width).map(|k| x.at(&[i, k]) * w.at(&[c, k])).sum();
            product + if of.biased { bias.values[c] } else { 0.0 }
        };
        let log = (0..words).map(|c| score(c).exp()).sum::<f64>().ln();
        lines[0].push(log - score(labels.values[i] as usize));
        let share = |c: usize| if of.spread == Spread::ByShares { shares.values[c] } else { 1.0 };
        lines[1].push((0..words).map(|c| share(c) * (log - score(c))).sum());
    }
    lines.into_iter().take(of.lines()).flatten().collect()
}

#[test]
fn surprises_are_those_of_a_softmax() {
    let dtypes = [(DType::F64, 1e-11), (DType::F32, 1e-4), (DType::F16, 3e-2), (DType::BF16, 3e-1)];
    for (dtype, within) in dtypes {
        for sizes in [[1, 1, 1], [5, 3, 17], [70, 9, 130], [3, 0, 5], [0, 4, 5], [130, 2, 1000]] {
            for (biased, spread) in [false, true].into_iter().flat_map(|b| SPREADS.map(|s| (b, s))) {
                let all = operands(dtype, sizes);
                let forward = surprise(SurpriseKind::Forward, biased, spread);
                let got = computed(&forward, &taken(&forward, &all)).unwrap();
                // Sums of many words are of as many roundings.
                let words = sizes[2] as f64;
                let by = if spread == Spread::Nothing { 1.0 } else { words };
                assert_close(&got.values, &naive(&forward, &all), within * by);
            }
        }
    }
}

#[test]
fn gradients_are_slopes() {
    for (biased, spread) in [false, true].into_iter().flat_map(|b| SPREADS.map(|s| (b, s))) {
        let all = operands(DType::F64, [7, 3, 11]);
        let slopes = surprise(SurpriseKind::Slopes, biased, spread);
        let flows = Array::some(DType::F64, &[slopes.lines(), 7], 6);
        let mut given = taken(&slopes, &all);
        given.push(&flows);
        let line = computed(&slopes, &given).unwrap();
        let loss = |all: &[Array; 5]| -> f64 {
            naive(&slopes, all).iter().zip(&flows.values).map(|(y, g)| y * g).sum()
        };
        let places = [(1, 0, 33), (0, 33, 21), (3, 54, if biased { 11 } else { 0 })];
        for (which, at, count) in places {
            for i in 0..count {
                let moved = |by: f64| {
                    let mut all = all.clone();
                    all[which].values[i] += by;
                    loss(&all)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert_close(&[line.values[at + i]], &[slope], 1e-6);
            }
        }
        // What the forward pass answers with lies behind them.
        let answer = surprise(SurpriseKind::Answer, biased, spread);
        let mut known = vec![&line];
        known.extend(taken(&answer, &all));
        let forward = surprise(SurpriseKind::Forward, biased, spread);
        assert_eq!(computed(&answer, &known), computed(&forward, &taken(&forward, &all)));
    }
}

/// Blocks of few rows give what all at once give, but for the order in which a weight's gradient is added up.
#[test]
fn blocks_are_all_of_what_there_is() {
    // More than a block's bytes of scores: 300 rows of 70,000 words are 84 MB.
    for (dtype, within) in [(DType::F32, 1e-4), (DType::BF16, 5e-2)] {
        let all = operands(dtype, [if dtype == DType::F32 { 300 } else { 520 }, 2, 70_000]);
        let rows = all[0].shape[0];
        let slopes = surprise(SurpriseKind::Slopes, true, Spread::Evenly);
        let ones = vec![1.0; rows].into_iter().chain(vec![0.001; rows]);
        let flows = Array::new(DType::F32, &[2, rows], ones);
        let mut given = taken(&slopes, &all);
        given.push(&flows);
        let line = computed(&slopes, &given).unwrap();
        let [x, w, labels, bias, _] = &all;
        let (mut of_weight, mut of_bias) = (vec![0.0; 140_000], vec![0.0; 70_000]);
        for i in 0..rows {
            let (row, label) = ([x.values[2 * i], x.values[2 * i + 1]], labels.values[i] as usize);
            let score = |(w, b): (&[f64], &f64)| (row[0] * w[0] + row[1] * w[1] + b).exp();
            let powers: Vec<f64> = w.values.chunks(2).zip(&bias.values).map(score).collect();
            let share = (1.0 + 70.0) / powers.iter().sum::<f64>();
            for (c, power) in powers.iter().enumerate() {
                let slope = share * power - f64::from(u8::from(label == c)) - 0.001;
                of_bias[c] += slope;
                of_weight[2 * c] += slope * row[0];
                of_weight[2 * c + 1] += slope * row[1];
            }
        }
        assert_close(&line.values[..140_000], &of_weight, within);
        let at = 140_000 + 2 * rows;
        assert_close(&line.values[at..at + 70_000], &of_bias, within);
    }
}

/// What nothing flows back to has no slope, even where its scores are no numbers.
#[test]
fn rows_that_do_not_count_give_nothing() {
    let mut all = operands(DType::F32, [4, 3, 9]);
    all[0].values[3] = f64::NAN;
    all[0].values[7] = f64::INFINITY;
    let slopes = surprise(SurpriseKind::Slopes, true, Spread::Nothing);
    let flows = Array::new(DType::F32, &[1, 4], [1.0, 0.0, 0.0, 2.0]);
    let mut given = taken(&slopes, &all);
    given.push(&flows);
    let line = computed(&slopes, &given).unwrap();
    let rows = &line.values[27..39];
    assert!(rows[..3].iter().chain(&rows[9..]).all(|x| x.is_finite() && *x != 0.0));
    assert!(rows[3..9].iter().all(|&x| x == 0.0));
}

#[test]
fn blocks_are_bounded() {
    for (rows, words, size) in
        [(1, 1, 4), (8192, 50_257, 2), (1 << 24, 65, 2), (4096, 262_144, 4), (70, 1 << 28, 4)]
    {
        let s = Sizes { dtype: DType::F32, rows, width: 2048, words, lines: 1, biased: false };
        for many in [1, 8, 256] {
            let block = s.block(words * size, many, s.room());
            assert!(block >= 1 && (block == 1 || block * words * size <= SCORES[1]), "{block} of {s:?}");
            assert!(block <= rows.next_multiple_of(many));
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let forward = surprise(SurpriseKind::Forward, false, Spread::Nothing);
    let [x, w, labels, bias, _] = operands(DType::F32, [3, 4, 5]);
    assert!(matches!(refused(&forward, &[&x, &w]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&forward, &[&w, &x, &labels]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&forward, &[&x, &w, &labels, &bias]), ErrorKind::Shape(_)));
    let [wide, ..] = operands(DType::F64, [3, 4, 5]);
    assert!(matches!(refused(&forward, &[&wide, &w, &labels]), ErrorKind::DType(_)));
    let floats = Array::some(DType::F32, &[3], 1);
    assert!(matches!(refused(&forward, &[&x, &w, &floats]), ErrorKind::DType(_)));
    let none = Array::some(DType::F32, &[0, 4], 1);
    assert!(matches!(refused(&forward, &[&x, &none, &labels]), ErrorKind::Shape(_)));
    let slopes = surprise(SurpriseKind::Slopes, false, Spread::Evenly);
    assert!(matches!(refused(&slopes, &[&x, &w, &labels, &floats]), ErrorKind::Shape(_)));
}
