//! Attention against a softmax over all keys in f64, and its gradients against differences.

use super::{Attention, AttentionKind, Span, Thin};
use crate::library::testing::{Array, assert_close, computed, refused};
use mg_device::{DType, ErrorKind};

const SCALE: f64 = 0.4;

fn attention(kind: AttentionKind, span: Span, masked: bool) -> Attention {
    Attention { kind, span, masked, ranges: None, left_out: 0, scale: SCALE.to_bits() }
}

/// The means `[b, l, h, v]`, heads side by side, and the logarithms of the sums `[b, h, l]`.
fn naive(q: &Array, k: &Array, v: &Array, mask: Option<&Array>, span: Span) -> (Vec<f64>, Vec<f64>) {
    naive_thinned([q, k, v], mask, span, |_, _, _| 1.0)
}

/// The same of weights that are multiplied by something: of a head of all, a query and a key.
fn naive_thinned(
    [q, k, v]: [&Array; 3],
    mask: Option<&Array>,
    span: Span,
    times: impl Fn(usize, usize, usize) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let ([batch, heads, queries, width], [_, shared, keys, _]) = (sizes(q), sizes(k));
    let depth = sizes(v)[3];
    let mut means = vec![0.0; batch * queries * heads * depth];
    let mut sums = vec![];
    for (b, h, l) in
        (0..batch).flat_map(|b| (0..heads).flat_map(move |h| (0..queries).map(move |l| (b, h, l))))
    {
        let of = h / (heads / shared);
        let score = |s: usize| -> f64 {
            let product: f64 = (0..width).map(|e| q.at(&[b, h, l, e]) * k.at(&[b, of, s, e])).sum();
            let added = match mask {
                _ if !span.keys(l, keys).contains(&s) => f64::NEG_INFINITY,
                Some(m) if m.dtype.is_bool() => m.at(&[0, 0, l, s]).ln(),
                Some(m) => m.at(&[0, 0, l, s]),
                None => 0.0,
            };
            SCALE * product + added
        };
        let weights: Vec<f64> = (0..keys).map(|s| score(s).exp()).collect();
        let sum: f64 = weights.iter().sum();
        // A query that takes no key: nothing is 0, and what a gradient subtracts leaves no weight.
        sums.push(if sum == 0.0 { f64::INFINITY } else { sum.ln() });
        for d in 0..depth {
            let mean: f64 =
                (0..keys).map(|s| weights[s] * times(b * heads + h, l, s) * v.at(&[b, of, s, d])).sum();
            means[((b * queries + l) * heads + h) * depth + d] = if sum == 0.0 { 0.0 } else { mean / sum };
        }
    }
    (means, sums)
}

fn sizes(a: &Array) -> [usize; 4] {
    a.shape.dims().try_into().unwrap()
}

/// Queries, keys, values: four heads of queries on two of keys.
fn operands(dtype: DType, queries: usize, keys: usize) -> [Array; 3] {
    [
        Array::some(dtype, &[2, 4, queries, 3], 1),
        Array::some(dtype, &[2, 2, keys, 3], 2),
        Array::some(dtype, &[2, 2, keys, 5], 3),
    ]
}

/// No mask, one of truth values in which each query has its first key, one of numbers.
fn masks(dtype: DType, queries: usize, keys: usize) -> [Option<Array>; 3] {
    let mut truth = Array::some(DType::Bool, &[1, 1, queries, keys], 4);
    truth.values.iter_mut().step_by(keys).for_each(|first| *first = 1.0);
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    [None, Some(truth), Some(Array::some(wide, &[1, 1, queries, keys], 5))]
}

/// Bounds of keys for so many queries and keys: none, the own position, the lower right corner, windows on it, one without its query's own position,
/// one that leaves queries without keys.
fn spans(queries: usize, keys: usize) -> [Span; 7] {
    let corner = keys as i64 - queries as i64;
    let of = |behind: Option<i64>, ahead: Option<i64>| Span::new(behind, ahead).unwrap();
    [
        Span::ALL,
        Span::CAUSAL,
        of(None, Some(corner)),
        of(Some(3 - corner), Some(corner)),
        of(Some(40 - corner), Some(corner + 9)),
        of(Some(-2), Some(6)),
        of(Some(2), Some(-1)),
    ]
}

#[test]
fn spans_say_which_keys_are_taken() {
    for (behind, ahead) in [(0, 0), (2, 1), (-1, 3), (5, -5), (100, 100)] {
        let span = Span::new(Some(behind), Some(ahead)).unwrap();
        for (queries, keys) in [(1, 1), (4, 7), (7, 4), (3, 0)] {
            for query in 0..queries {
                let taken = |key: usize| {
                    let apart = key as i64 - query as i64;
                    apart >= -behind && apart <= ahead
                };
                let found = span.keys(query, keys);
                assert!((0..keys).all(|key| found.contains(&key) == taken(key)), "{span:?} {query} {keys}");
                assert_eq!(span.met(query..query + 1, keys), found);
                assert!(found.len() <= span.width(keys));
                // Counted from elsewhere, they are the same.
                let (from, key) = (query / 2, found.start);
                let shifted = span.counted_from(from, key).keys(query - from, keys - key);
                assert_eq!((shifted.start + key, shifted.end + key), (found.start, found.end));
            }
            let all = span.met(0..queries, keys);
            assert!((0..queries).all(|query| span.keys(query, keys).all(|key| all.contains(&key))));
        }
    }
    assert!(Span::new(Some(2), Some(-3)).is_none());
    assert_eq!(Span::new(None, None), Some(Span::ALL));
    assert_eq!(Span::ALL.keys(5, 9), 0..9);
    assert_eq!(Span::CAUSAL.counted_from(4, 0).keys(0, 9), 0..5);
    assert_eq!([(5, 5), (5, 9), (9, 5)].map(|(q, k)| Span::CAUSAL.grows(q, k)), [true; 3]);
    assert_eq!([Span::ALL, Span::new(Some(3), Some(0)).unwrap()].map(|span| span.grows(9, 9)), [false; 2]);
}

#[test]
fn means_are_those_of_a_softmax() {
    for (dtype, within) in [(DType::F64, 1e-12), (DType::F32, 1e-5), (DType::F16, 4e-3), (DType::BF16, 3e-2)]
    {
        for (queries, keys, span) in [(1, 1), (5, 70), (33, 33), (70, 20), (70, 1100)]
            .into_iter()
            .flat_map(|(queries, keys)| spans(queries, keys).map(|span| (queries, keys, span)))
        {
            let [q, k, v] = operands(dtype, queries, keys);
            for mask in masks(dtype, queries, keys) {
                let kernel = attention(AttentionKind::Forward, span, mask.is_some());
                let mut all = vec![&q, &k, &v];
                all.extend(&mask);
                let (means, sums) = naive(&q, &k, &v, mask.as_ref(), span);
                let got = computed(&kernel, &all).unwrap();
                assert_close(&got.values[..means.len()], &means, within);
                if matches!(dtype, DType::F64 | DType::F32) {
                    assert_close(&got.values[means.len()..], &sums, within);
                }
            }
        }
    }
}

/// Words of all heads, and what a weight is multiplied by that they decide.
fn thinned(left_out: u32) -> (Array, impl Fn(usize, usize, usize) -> f64) {
    let words = Array::indices(&[2, 4, 2], (0..16).map(|i| (i * 0x1357_9bdf) & 0xffff_ffff));
    let of_heads: Vec<u32> = words.values.iter().map(|&word| word as u32).collect();
    let times = move |head: usize, query, key| {
        let words = [of_heads[2 * head], of_heads[2 * head + 1]];
        let stays = crate::library::thin::tests::number(words, query, key) >= left_out;
        if stays { Thin::times(left_out) } else { 0.0 }
    };
    (words, times)
}

#[test]
fn what_is_left_out_is_so_for_all_ways() {
    for (dtype, within) in [(DType::F64, 1e-12), (DType::F32, 1e-5), (DType::F16, 8e-3), (DType::BF16, 6e-2)]
    {
        for (queries, keys, span) in [(1, 1), (5, 70), (70, 530), (33, 1030)]
            .into_iter()
            .flat_map(|(queries, keys)| spans(queries, keys).map(|span| (queries, keys, span)))
        {
            let [q, k, v] = operands(dtype, queries, keys);
            for (mask, left_out) in masks(dtype, queries, keys).into_iter().zip([6554, 32768, 65536]) {
                let (words, times) = thinned(left_out);
                let kernel = attention(AttentionKind::Forward, span, mask.is_some());
                let mut all = vec![&q, &k, &v];
                all.extend(&mask);
                all.push(&words);
                let (means, sums) = naive_thinned([&q, &k, &v], mask.as_ref(), span, &times);
                let got = computed(&Attention { left_out, ..kernel }, &all).unwrap();
                assert_close(&got.values[..means.len()], &means, within);
                if matches!(dtype, DType::F64 | DType::F32) {
                    assert_close(&got.values[means.len()..], &sums, within);
                }
            }
        }
    }
}

#[test]
fn gradients_are_slopes() {
    let cases = [(3, 7), (6, 6), (7, 3)].into_iter();
    let cases = cases.flat_map(|(queries, keys)| spans(queries, keys).map(|span| (queries, keys, span)));
    for ((queries, keys, span), left_out) in
        cases.flat_map(|sizes| [0, 20000].map(|left_out| (sizes, left_out)))
    {
        let [q, k, v] = operands(DType::F64, queries, keys);
        let (words, times) = thinned(left_out);
        for mask in masks(DType::F64, queries, keys) {
            let mut all = vec![&q, &k, &v];
            all.extend(&mask);
            if left_out > 0 {
                all.push(&words);
            }
            let of = |kind| Attention { left_out, ..attention(kind, span, mask.is_some()) };
            let line = computed(&of(AttentionKind::Forward), &all).unwrap();
            let g = Array::some(DType::F64, &[2, 4, queries, 5], 6);
            all.extend([&line, &g]);
            let got = computed(&of(AttentionKind::Backward), &all).unwrap();
            let loss = |q: &Array, k: &Array, v: &Array| -> f64 {
                let (means, _) = naive_thinned([q, k, v], mask.as_ref(), span, &times);
                let at = |b, h, l, d| means[((b * queries + l) * 4 + h) * 5 + d];
                let places = crate::library::testing::places(&[2, 4, queries, 5]);
                places.iter().map(|p| at(p[0], p[1], p[2], p[3]) * g.at(p)).sum()
            };
            // Where an element's gradient lies: heads of a position side by side, of all three where there are as many keys as queries.
            let joined = queries == keys;
            let rows = [4 * 3, 2 * 3, 2 * 5];
            let place = |which: usize, p: &[usize], size: usize| match (joined, which) {
                (true, _) => {
                    (p[0] * queries + p[2]) * 28 + rows[..which].iter().sum::<usize>() + p[1] * size + p[3]
                }
                (false, 0) => (p[0] * queries + p[2]) * 12 + p[1] * 3 + p[3],
                (false, _) => {
                    2 * queries * 12
                        + (p[0] * keys + p[2]) * 16
                        + rows[1..which].iter().sum::<usize>()
                        + p[1] * size
                        + p[3]
                }
            };
            for which in 0..3 {
                let of = [&q, &k, &v][which];
                let size = sizes(of)[3];
                for (i, p) in crate::library::testing::places(&sizes(of)).iter().enumerate() {
                    let moved = |by: f64| {
                        let mut all = [q.clone(), k.clone(), v.clone()];
                        all[which].values[i] += by;
                        loss(&all[0], &all[1], &all[2])
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    assert_close(&[got.values[place(which, p, size)]], &[slope], 1e-7);
                }
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let [q, k, v] = operands(DType::F32, 3, 4);
    let forward = attention(AttentionKind::Forward, Span::ALL, false);
    assert!(matches!(refused(&forward, &[&q, &k]), ErrorKind::Shape(_)));
    assert!(matches!(refused(&forward, &[&q, &v, &k]), ErrorKind::Shape(_)));
    let [wide, ..] = operands(DType::F64, 3, 4);
    assert!(matches!(refused(&forward, &[&wide, &k, &v]), ErrorKind::DType(_)));
    let masked = attention(AttentionKind::Forward, Span::ALL, true);
    assert!(matches!(
        refused(&masked, &[&q, &k, &v, &Array::some(DType::Bool, &[1, 1, 3, 3], 1)]),
        ErrorKind::Shape(_)
    ));
    assert!(matches!(
        refused(&attention(AttentionKind::Backward, Span::ALL, false), &[&q, &k, &v]),
        ErrorKind::Shape(_)
    ));
}
