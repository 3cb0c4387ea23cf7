//! Matrix products: ranks, batches, strides, dtypes, sizes.

use crate::common::*;
use crate::derivatives::both;
use mg_autograd::Tensor;
use mg_device::DType;

/// The product by NumPy's rules, by three loops; with the sum of magnitudes, which bounds the error.
fn reference(a: &Array, b: &Array) -> (Vec<usize>, Vec<f64>, Vec<f64>) {
    let wide = |x: &Array, left: bool| match (x.shape.len(), left) {
        (1, true) => x.reshape(&[1, x.shape[0]]),
        (1, false) => x.reshape(&[x.shape[0], 1]),
        _ => x.clone(),
    };
    let (x, y) = (wide(a, true), wide(b, false));
    let (ra, rb) = (x.shape.len(), y.shape.len());
    let batch = joint(&[&x.shape[..ra - 2], &y.shape[..rb - 2]]);
    let (m, k, n) = (x.shape[ra - 2], x.shape[ra - 1], y.shape[rb - 1]);
    let with = |p: usize, q: usize| [batch.as_slice(), &[p, q]].concat();
    let (x, y) = (x.expand(&with(m, k)), y.expand(&with(k, n)));
    let (mut values, mut sizes) = (vec![], vec![]);
    for g in 0..batch.iter().product::<usize>() {
        for i in 0..m {
            for j in 0..n {
                let terms = (0..k).map(|l| x.data[(g * m + i) * k + l].f() * y.data[(g * k + l) * n + j].f());
                let (v, s) = terms.fold((0.0, 0.0), |(v, s), t| (v + t, s + t.abs()));
                values.push(v);
                sizes.push(s);
            }
        }
    }
    let mut shape = batch;
    if a.shape.len() > 1 {
        shape.push(m);
    }
    if b.shape.len() > 1 {
        shape.push(n);
    }
    (shape, values, sizes)
}

#[track_caller]
fn check(what: &str, a: &Pair, b: &Pair) {
    let (shape, values, sizes) = reference(&a.a, &b.a);
    let c = a.t.try_matmul(&b.t).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(c.shape().to_vec(), shape, "{what}");
    let dtype = DType::promote(a.a.dtype, b.a.dtype);
    assert_eq!(c.dtype(), dtype, "{what}");
    let got = c.to_f64_vec().unwrap();
    assert_eq!(got.len(), values.len(), "{what}");
    let (rounding, unit) = match dtype {
        DType::F64 => (0.0, 1e-14),
        DType::F32 => (0.0, 1e-6),
        // Accumulated in f32, rounded once.
        DType::F16 => (f64::powi(2.0, -11), 1e-6),
        DType::BF16 => (f64::powi(2.0, -8), 1e-6),
        _ => (0.0, 0.0),
    };
    for (at, ((g, v), s)) in got.iter().zip(&values).zip(&sizes).enumerate() {
        let slack = rounding * 1.001 * v.abs() + unit * s + if dtype == DType::F16 { 6e-8 } else { 0.0 };
        let expected = if dtype.is_float() { *v } else { Cell::I(*v as i128).cast(dtype).f() };
        assert!((g - expected).abs() <= slack, "{what}: element {at} is {g}, expected {expected} ± {slack}");
    }
}

fn pair(rng: &mut Rng, shape: &[usize], dtype: DType) -> Pair {
    array(rng, shape, dtype, Rng::moderate).pair()
}

const RANKS: [(&[usize], &[usize]); 14] = [
    (&[4], &[4]),
    (&[4], &[4, 3]),
    (&[2, 4], &[4]),
    (&[2, 4], &[4, 3]),
    (&[5, 2, 4], &[4, 3]),
    (&[2, 4], &[5, 4, 3]),
    (&[5, 2, 4], &[5, 4, 3]),
    (&[5, 2, 4], &[4]),
    (&[4], &[5, 4, 3]),
    (&[1, 2, 4], &[5, 4, 3]),
    (&[2, 1, 2, 4], &[3, 4, 3]),
    (&[2, 3, 2, 4], &[2, 3, 4, 1]),
    (&[2, 0], &[0, 3]),
    (&[0, 4], &[4, 3]),
];

#[test]
fn ranks_combine_as_in_numpy() {
    let mut rng = Rng(1);
    for dtype in DType::computed().filter(|d| !d.is_bool()) {
        for (a, b) in RANKS {
            let (x, y) = (pair(&mut rng, a, dtype), pair(&mut rng, b, dtype));
            check(&format!("{dtype} {a:?} @ {b:?}"), &x, &y);
        }
    }
}

#[test]
fn sizes_that_do_not_fit_the_kernels_blocks() {
    let mut rng = Rng(2);
    let sizes = [
        (1, 2, 3),
        (3, 4, 5),
        (5, 4, 3),
        (16, 16, 16),
        (64, 64, 64),
        (72, 73, 74),
        (74, 73, 72),
        (128, 128, 128),
        (784, 128, 10),
        (1, 1, 1),
        (1, 300, 1),
        (257, 1, 255),
        (1, 33, 257),
        (255, 31, 1),
        (3, 1025, 2),
    ];
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32] {
        for (m, k, n) in sizes {
            if !matches!(dtype, DType::F64 | DType::F32) && m * k * n > 500_000 {
                continue;
            }
            let (a, b) = (pair(&mut rng, &[m, k], dtype), pair(&mut rng, &[k, n], dtype));
            check(&format!("{dtype} {m}·{k}·{n}"), &a, &b);
        }
    }
}

#[test]
fn either_side_lies_anyhow() {
    let mut rng = Rng(3);
    for dtype in [DType::F64, DType::F32, DType::BF16, DType::I32] {
        let mut sides = |m: usize, n: usize| -> Vec<(&'static str, Pair)> {
            let rng = &mut rng;
            vec![
                ("dense", pair(rng, &[m, n], dtype)),
                ("transposed", pair(rng, &[n, m], dtype).permute(&[1, 0])),
                (
                    "leading dimension larger",
                    pair(rng, &[m + 3, n + 7], dtype).narrow(0, 2, m).narrow(1, 5, n),
                ),
                (
                    "transposed slice",
                    pair(rng, &[n + 4, m + 2], dtype).narrow(0, 1, n).narrow(1, 1, m).permute(&[1, 0]),
                ),
                ("both strides", pair(rng, &[2 * m, 3 * n], dtype).step(0, 1, 2).step(1, 2, 3)),
                ("reversed", pair(rng, &[m, n], dtype).flip(0).flip(1)),
                ("one row", pair(rng, &[1, n], dtype).expand(&[m, n])),
                ("one column", pair(rng, &[m, 1], dtype).expand(&[m, n])),
                ("one number", pair(rng, &[], dtype).expand(&[m, n])),
                ("pending", pair(rng, &[m, n], dtype).pending()),
                ("pending, transposed", pair(rng, &[n, m], dtype).pending().permute(&[1, 0])),
            ]
        };
        let (left, right) = (sides(17, 20), sides(20, 9));
        for (l, a) in &left {
            for (r, b) in &right {
                check(&format!("{dtype} {l} @ {r}"), a, b);
            }
        }
    }
}

#[test]
fn batches_lie_anyhow() {
    let mut rng = Rng(4);
    let a = pair(&mut rng, &[6, 4, 5, 3], DType::F64).permute(&[2, 0, 3, 1]).narrow(1, 1, 4).flip(0);
    let b = pair(&mut rng, &[4, 4, 2], DType::F64).step(0, 0, 1).flip(2);
    check("permuted batches", &a, &b);
    let c = pair(&mut rng, &[1, 4, 2], DType::F64).expand(&[4, 4, 2]);
    check("a broadcast batch", &a, &c);
}

#[test]
fn dtypes_are_promoted() {
    let mut rng = Rng(5);
    for (a, b) in [
        (DType::F32, DType::F64),
        (DType::I64, DType::F32),
        (DType::F16, DType::BF16),
        (DType::U8, DType::I32),
    ] {
        let (x, y) = (pair(&mut rng, &[3, 4], a), pair(&mut rng, &[4, 2], b));
        check(&format!("{a} @ {b}"), &x, &y);
    }
}

#[test]
fn elementwise_work_after_a_product_is_the_same_as_apart() {
    let mut rng = Rng(6);
    for (m, k, n) in [(5, 7, 3), (64, 32, 48), (130, 65, 70)] {
        let a = pair(&mut rng, &[m, k], DType::F32).t;
        let b = pair(&mut rng, &[k, n], DType::F32).t;
        let (bias, column) = (pair(&mut rng, &[n], DType::F32).t, pair(&mut rng, &[m, 1], DType::F32).t);
        let fused = ((&a.matmul(&b) + &bias).relu() * &column).tanh();
        let product = a.matmul(&b);
        product.realize().unwrap();
        let apart = ((&product + &bias).relu() * &column).tanh();
        assert_eq!(fused.to_vec::<f32>().unwrap(), apart.to_vec::<f32>().unwrap(), "{m}·{k}·{n}");
        // The product is wanted too, and something that sees it otherwise.
        let product = a.matmul(&b);
        let gelu = product.gelu("tanh");
        let sum = product.t().sum_dim(&[0], false);
        Tensor::realize_all([&gelu, &product, &sum]).unwrap();
        assert_eq!(product.gelu("tanh").to_vec::<f32>().unwrap(), gelu.to_vec::<f32>().unwrap());
        let again = product.t().sum_dim(&[0], false);
        assert_close("sum", &sum, &again.to_f64_vec().unwrap(), 1e-5, 1e-5);
    }
}

#[test]
fn products_have_derivatives_of_both_orders() {
    let mut rng = Rng(7);
    for (a, b) in RANKS.into_iter().filter(|(a, _)| !a.contains(&0)) {
        let x = [rng.leaf(a, -1.0, 1.0), rng.leaf(b, -1.0, 1.0)];
        both(&format!("{a:?} @ {b:?}"), |x| x[0].try_matmul(&x[1]), &x);
    }
    let x = [rng.leaf(&[4, 4], -1.0, 1.0)];
    both("a square", |x| x[0].try_matmul(&x[0]), &x);
    both("a matrix by its transpose", |x| x[0].try_matmul(&x[0].t()), &x);
}
