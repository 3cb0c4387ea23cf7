//! Compositions and kernels: values where the host has a short way to them, derivatives of both orders.

use crate::common::*;
use crate::derivatives::{TIGHT, both};
use mg_autograd::{Backward, Tensor, grad, gradcheck, manual_seed};
use mg_device::{DType, Result};

fn leaf(rng: &mut Rng, shape: &[usize]) -> Tensor {
    rng.leaf(shape, -1.5, 1.5)
}

/// Away from kinks at 0.
fn away(rng: &mut Rng, shape: &[usize]) -> Tensor {
    let n = shape.iter().product();
    let data =
        (0..n).map(|i| if i % 2 == 0 { rng.uniform(0.3, 1.5) } else { rng.uniform(-1.5, -0.3) }).collect();
    Tensor::from_vec(data, shape).unwrap().requires_grad_(true).unwrap()
}

fn i64s(shape: &[usize], data: &[i64]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

#[test]
fn activations() {
    let mut rng = Rng(1);
    let rows: [(&str, fn(&Tensor) -> Tensor); 6] = [
        ("gelu", |x| x.gelu("none")),
        ("gelu of tanh", |x| x.gelu("tanh")),
        ("silu", Tensor::silu),
        ("softplus", |x: &Tensor| x.softplus(1.0, 20.0)),
        ("leaky_relu", |x| x.leaky_relu(0.1)),
        ("square of tanh", |x| x.tanh().square()),
    ];
    for (name, f) in rows {
        let x = [away(&mut rng, &[3, 5])];
        both(name, |x| Ok(f(&x[0])), &x);
        both(&format!("{name} of a transpose"), |x| Ok(f(&x[0].t())), &x);
    }
    let x = f32s(&[7], &[-1e4, -20.0, -1.0, 0.0, 1.0, 20.0, 1e4]);
    let of = |f: fn(f64) -> f64| x.to_f64_vec().unwrap().into_iter().map(f).collect::<Vec<_>>();
    assert_close(
        "softplus",
        &x.softplus(1.0, 20.0),
        &of(|v| v.max(0.0) + (-v.abs()).exp().ln_1p()),
        1e-6,
        0.0,
    );
    assert_close("silu", &x.silu(), &of(|v| v / (1.0 + (-v).exp())), 1e-6, 0.0);
    assert_close("leaky_relu", &x.leaky_relu(0.1), &of(|v| if v < 0.0 { 0.1 * v } else { v }), 1e-6, 0.0);
    let one = f32s(&[1], &[1.0]);
    assert_close("gelu(1)", &one.gelu("none"), &[0.841_344_746_1], 1e-6, 0.0);
    assert_close("gelu_tanh(1)", &one.gelu("tanh"), &[0.841_191_990_6], 1e-6, 0.0);
}

/// Every exponent, both signs: the value within 2 ulp of what float64 gives, the gradient too, which is the sigmoid.
#[test]
fn softplus_keeps_its_digits_everywhere() {
    let values: Vec<f32> =
        (0..=u32::MAX).step_by(20_011).map(f32::from_bits).filter(|v| v.is_finite()).collect();
    let wide = |f: fn(f64) -> f64| {
        Array::new(&[values.len()], DType::F32, values.iter().map(|&v| Cell::F(f(v as f64))).collect())
    };
    let x = Tensor::from_slice(&values).requires_grad_(true).unwrap();
    let y = x.softplus(1.0, 20.0);
    assert_ulps("softplus", &y, &wide(|v| v.max(0.0) + (-v.abs()).exp().ln_1p()), 2);
    y.sum().backward().unwrap();
    let sigmoid = |v: f64| if v < 0.0 { v.exp() / (1.0 + v.exp()) } else { 1.0 / (1.0 + (-v).exp()) };
    let gradient = x.grad().unwrap();
    assert_ulps("the gradient of softplus", &gradient, &wide(sigmoid), 2);
    assert_eq!(gradient.to_vec::<f32>().unwrap(), x.sigmoid().to_vec::<f32>().unwrap());
}

#[test]
fn softmax_along_each_axis() {
    let mut rng = Rng(2);
    let x = [leaf(&mut rng, &[2, 3, 4])];
    for axis in [0, 1, 2, -1] {
        both(&format!("softmax {axis}"), |x| x[0].try_softmax(Some(axis), None), &x);
        both(&format!("log_softmax {axis}"), |x| x[0].try_log_softmax(Some(axis), None), &x);
        for (scale, shift) in [(1.0, 0.0), (1e4, 0.0), (1.0, 1e4), (1.0, -1e4)] {
            let t = &(&x[0].detach() * scale) + shift;
            let sums = t
                .try_softmax(Some(axis), None)
                .unwrap()
                .try_sum_dim(&[axis], false)
                .unwrap()
                .to_f64_vec()
                .unwrap();
            assert!(
                sums.iter().all(|s| (s - 1.0).abs() < 1e-12),
                "softmax along {axis} of {scale}·x + {shift}"
            );
            let logs = t.try_log_softmax(Some(axis), None).unwrap();
            assert_close(
                "log_softmax",
                &logs.exp(),
                &t.try_softmax(Some(axis), None).unwrap().to_f64_vec().unwrap(),
                1e-9,
                1e-300,
            );
        }
    }
    let t = f32s(&[2, 2], &[1e4, -1e4, -1e4, -1e4]);
    assert_eq!(t.try_softmax(Some(1), None).unwrap().to_vec::<f32>().unwrap(), [1.0, 0.0, 0.5, 0.5]);
    assert_eq!(t.try_log_softmax(Some(1), None).unwrap().to_vec::<f32>().unwrap()[..2], [0.0, -2e4]);
    let infinite = f32s(&[3], &[f32::NEG_INFINITY, 0.0, 0.0]);
    assert_eq!(infinite.try_softmax(Some(0), None).unwrap().to_vec::<f32>().unwrap(), [0.0, 0.5, 0.5]);
    // As PyTorch: nothing is certain beside what is infinite, or where nothing is possible.
    for row in [[f32::INFINITY, 1.0, 2.0], [f32::NEG_INFINITY; 3]] {
        let row = f32s(&[1, 3], &row);
        let label = Tensor::from_slice(&[1i64]);
        for t in [
            row.try_softmax(Some(1), None),
            row.try_log_softmax(Some(1), None),
            row.try_cross_entropy(&label, None, -100, "mean", 0.0),
        ] {
            let values = t.unwrap().to_vec::<f32>().unwrap();
            assert!(values.iter().all(|v| v.is_nan()), "{values:?}");
        }
    }
}

#[test]
fn log_of_sums_of_exponentials() {
    let mut rng = Rng(3);
    let x = [leaf(&mut rng, &[2, 3, 4])];
    for axes in [&[][..], &[0], &[1], &[2], &[0, 2], &[1, -1]] {
        for keepdim in [false, true] {
            both(&format!("logsumexp {axes:?}"), |x| x[0].try_logsumexp(axes, keepdim), &x);
        }
    }
    let t = f32s(&[2], &[1e4, 1e4]);
    assert_close("logsumexp", &t.logsumexp(&[], false), &[1e4 + 2f64.ln()], 1e-6, 0.0);
    let empty = f32s(&[2], &[f32::NEG_INFINITY; 2]);
    assert_eq!(empty.logsumexp(&[], false).item::<f32>().unwrap(), f32::NEG_INFINITY);
}

#[test]
fn normalisation() {
    let mut rng = Rng(4);
    let x = [leaf(&mut rng, &[3, 2, 4]), leaf(&mut rng, &[4]), leaf(&mut rng, &[4])];
    both("layer_norm", |x| x[0].try_layer_norm(&[4], Some(&x[1]), Some(&x[2]), 1e-5), &x);
    both("layer_norm without weights", |x| x[0].try_layer_norm(&[4], None, None, 1e-5), &x[..1]);
    let x = [leaf(&mut rng, &[3, 2, 4]), leaf(&mut rng, &[2, 4]), leaf(&mut rng, &[2, 4])];
    both("layer_norm over two axes", |x| x[0].try_layer_norm(&[2, 4], Some(&x[1]), Some(&x[2]), 1e-5), &x);
    let y = x[0].try_layer_norm(&[2, 4], None, None, 0.0).unwrap();
    assert_close("mean", &y.mean_dim(&[1, 2], false), &[0.0; 3], 0.0, 1e-12);
    assert_close("variance", &y.var_dim(&[1, 2], false, Some(0.0)), &[1.0; 3], 1e-12, 0.0);
}

#[test]
fn losses() {
    let mut rng = Rng(5);
    let labels = i64s(&[4], &[2, 0, 1, 2]);
    let x = [leaf(&mut rng, &[4, 3])];
    both("cross_entropy", |x| x[0].try_cross_entropy(&labels, None, -100, "mean", 0.0), &x);
    both("cross_entropy of each row", |x| x[0].try_cross_entropy(&labels, None, -100, "none", 0.0), &x);
    both(
        "cross_entropy of a transpose",
        |x| x[0].t().narrow(0, 0, 3)?.try_cross_entropy(&i64s(&[3], &[3, 1, 0]), None, -100, "mean", 0.0),
        &x,
    );
    let narrow = labels.to_dtype(DType::I32);
    let (a, b) = (
        x[0].try_cross_entropy(&labels, None, -100, "mean", 0.0).unwrap(),
        x[0].try_cross_entropy(&narrow, None, -100, "mean", 0.0).unwrap(),
    );
    assert_eq!(a.item::<f64>().unwrap(), b.item::<f64>().unwrap());
    let big = f32s(&[1, 2], &[1e4, -1e4]);
    assert_eq!(
        big.try_cross_entropy(&i64s(&[1], &[1]), None, -100, "mean", 0.0).unwrap().item::<f32>().unwrap(),
        2e4
    );
    let x = [leaf(&mut rng, &[2, 3]), leaf(&mut rng, &[2, 3])];
    both("mse_loss", |x| x[0].try_mse_loss(&x[1], "mean", None), &x);
}

#[test]
fn reductions() {
    let mut rng = Rng(6);
    let x = [leaf(&mut rng, &[2, 3, 4])];
    type Reduce = fn(&Tensor, &[isize], bool) -> Result<Tensor>;
    let rows: [(&str, Reduce); 8] = [
        ("sum", Tensor::try_sum_dim),
        ("prod", Tensor::try_prod_dim),
        ("max", Tensor::try_amax),
        ("min", Tensor::try_amin),
        ("mean", Tensor::try_mean_dim),
        ("var", |x, axes, keep| x.try_var_dim(axes, keep, Some(1.0))),
        ("var of the population", |x, axes, keep| x.try_var_dim(axes, keep, Some(0.0))),
        ("std", |x, axes, keep| x.try_std_dim(axes, keep, Some(1.0))),
    ];
    for (name, f) in rows {
        for axes in [&[][..], &[0], &[1], &[-1], &[0, 2], &[0, 1]] {
            for keepdim in [false, true] {
                both(&format!("{name} over {axes:?}"), |x| f(&x[0], axes, keepdim), &x);
            }
            let turned = |x: &[Tensor]| f(&x[0].permute(&[2, 0, 1])?.square(), axes, false);
            both(&format!("{name} over {axes:?} of a permutation"), turned, &x);
        }
    }
}

/// The gradient of a product is the product of the others, also where one or two elements are zero.
#[test]
fn products_with_zeros() {
    let gradient = |v: &[f64]| {
        let x = Tensor::from_slice(v).requires_grad_(true).unwrap();
        x.prod().backward().unwrap();
        x.grad().unwrap().to_f64_vec().unwrap()
    };
    assert_eq!(gradient(&[2.0, 3.0, 4.0]), [12.0, 8.0, 6.0]);
    assert_eq!(gradient(&[2.0, 0.0, 4.0]), [0.0, 8.0, 0.0]);
    assert_eq!(gradient(&[0.0, 3.0, 0.0]), [0.0, 0.0, 0.0]);
    let x = rows_with_zeros();
    gradcheck(|x| x[0].try_prod_dim(&[1], false), &x, TIGHT).unwrap();
}

fn rows_with_zeros() -> [Tensor; 1] {
    let rows = Tensor::from_vec(vec![1.0, 0.0, 3.0, 0.0, 0.0, 2.0, 1.5, 2.5, 0.5f64], &[3, 3]).unwrap();
    [rows.requires_grad_(true).unwrap()]
}

/// ∂²(xyz)/∂x∂y = z, also at y = 0.
#[test]
fn second_derivatives_of_products_with_zeros() {
    let x = rows_with_zeros();
    both("prod over the rows", |x| x[0].try_prod_dim(&[1], false), &x);
    both("prod over the columns", |x| x[0].try_prod_dim(&[0], true), &x);
    both("prod of all", |x| x[0].try_prod_dim(&[], false), &x);
    both("prod of a transpose", |x| x[0].t().try_prod_dim(&[0], false), &x);
    let mut rng = Rng(15);
    for n in 0..10 {
        let mut values = rng.vec(2 * n * 3, 0.5, 1.5);
        values.iter_mut().step_by(4).for_each(|v| *v = 0.0);
        let x = [Tensor::from_vec(values, &[2, n, 3]).unwrap().requires_grad_(true).unwrap()];
        both(&format!("prod of {n} with zeros"), |x| x[0].try_prod_dim(&[1], false), &x);
        both(&format!("prod over two axes, one of {n}"), |x| x[0].try_prod_dim(&[0, 1], true), &x);
        both(&format!("prod over the ends, {n} between"), |x| x[0].try_prod_dim(&[0, -1], false), &x);
    }
}

/// Of x₀x₁x₂x₃ at zeros only, all derivatives vanish but the fourth, ∂⁴/∂x₀∂x₁∂x₂∂x₃ = 1.
#[test]
fn derivatives_of_a_product_of_zeros_to_the_fourth_order() {
    let x = Tensor::from_slice(&[0.0f64; 4]).requires_grad_(true).unwrap();
    let mut y = x.prod();
    for order in 0..4 {
        let how = Backward { create_graph: true, ..Backward::default() };
        let gradient = grad(&[&y], &[&x], &[], how).unwrap().remove(0).unwrap();
        let mut expected = [0.0; 4];
        expected[order] = if order == 3 { 1.0 } else { 0.0 };
        assert_eq!(gradient.to_f64_vec().unwrap(), expected, "order {}", order + 1);
        y = gradient.select(0, order as isize).unwrap();
    }
}

/// Whether it will be differentiated or not, the gradient is the same.
#[test]
fn gradients_of_products_agree() {
    let mut rng = Rng(16);
    for n in [1, 2, 7, 64, 100, 1023] {
        let mut values = rng.vec(3 * n, 0.9, 1.1);
        values[0] = 0.0;
        let x = Tensor::from_vec(values, &[3, n]).unwrap().requires_grad_(true).unwrap();
        for axes in [&[0isize][..], &[1], &[]] {
            let y = x.prod_dim(axes, false).sum();
            let gradient = |create_graph| {
                let how = Backward { create_graph, retain_graph: true };
                grad(&[&y], &[&x], &[], how).unwrap().remove(0).unwrap()
            };
            let expected = gradient(false).to_f64_vec().unwrap();
            assert_close(&format!("prod of {n} over {axes:?}"), &gradient(true), &expected, 1e-12, 0.0);
        }
    }
}

#[test]
fn views() {
    let mut rng = Rng(7);
    let x = [leaf(&mut rng, &[3, 4, 2])];
    type View = fn(&Tensor) -> Result<Tensor>;
    let rows: [(&str, View); 18] = [
        ("reshape", |x| x.reshape(&[6, -1])),
        ("flatten", |x| x.flatten(1, -1)),
        ("permute", |x| x.permute(&[2, 0, 1])),
        ("transpose", |x| x.transpose(0, 2)),
        ("slice", |x| x.slice(1, Some(1), Some(3), 1)),
        ("slice by 2", |x| x.slice(1, None, None, 2)),
        ("slice backwards", |x| x.slice(1, Some(-1), None, -2)),
        ("narrow", |x| x.narrow(0, 1, 2)),
        ("select", |x| x.select(1, -2)),
        ("flip", |x| x.flip(&[1])),
        ("expand", |x| x.unsqueeze(1)?.expand(&[3, 5, 4, 2])),
        ("expand in front", |x| x.expand(&[2, 3, 4, 2])),
        ("unsqueeze", |x| x.unsqueeze(-1)),
        ("squeeze", |x| x.unsqueeze(0)?.squeeze(None)),
        ("copy", |x| Ok(x.copy())),
        ("reshape of a permutation", |x| x.permute(&[1, 0, 2])?.reshape(&[8, 3])),
        ("view of a view of a view", |x| {
            x.flip(&[0])?.transpose(1, 2)?.narrow(2, 1, 3)?.reshape(&[-1])?.slice(0, None, None, 2)
        }),
        ("twice the same part", |x| x.narrow(1, 0, 3)?.try_mul(x.narrow(1, 1, 3)?)),
    ];
    for (name, f) in rows {
        // Squares, so that the second derivative is not 0.
        both(name, |x| Ok(f(&x[0])?.square()), &x);
        both(&format!("{name} of what is computed"), |x| Ok(f(&x[0].exp())?.square()), &x);
    }
}

#[test]
fn joining() {
    let mut rng = Rng(8);
    let x = [leaf(&mut rng, &[2, 3]), leaf(&mut rng, &[2, 1]), leaf(&mut rng, &[2, 2])];
    both("cat", |x| Ok(Tensor::cat(&[&x[0], &x[1], &x[2]], 1)?.square()), &x);
    both("cat of one twice", |x| Ok(Tensor::cat(&[&x[0], &x[0]], 0)?.square()), &x[..1]);
    let x = [leaf(&mut rng, &[2, 3]), leaf(&mut rng, &[2, 3])];
    for axis in [0, 1, 2, -1] {
        both(&format!("stack {axis}"), |x| Ok(Tensor::stack(&[&x[0], &x[1]], axis)?.square()), &x);
    }
    let a = Array::new(&[2, 3], DType::I64, (0..6).map(Cell::I).collect()).pair();
    let joined = Tensor::cat(&[&a.t.flip(&[1]).unwrap(), &a.t.narrow(1, 1, 2).unwrap()], 1).unwrap();
    assert_eq!(joined.to_vec::<i64>().unwrap(), [2, 1, 0, 1, 2, 5, 4, 3, 4, 5]);
    assert_eq!(Tensor::stack(&[&a.t, &a.t], 1).unwrap().shape(), [2, 2, 3]);
}

#[test]
fn joining_takes_every_dtype_and_layout() {
    let mut rng = Rng(9);
    for dtype in DType::ALL {
        let parts = layouts(&mut rng, dtype, Rng::cell);
        for axis in 0..3 {
            let tensors: Vec<&Tensor> = parts.iter().map(|(_, p)| &p.t).collect();
            let joined = Array::of(&Tensor::cat(&tensors, axis as isize).unwrap());
            let mut shape = vec![3, 4, 5];
            shape[axis] *= parts.len();
            assert_eq!(joined.shape, shape);
            for (k, (name, p)) in parts.iter().enumerate() {
                let n = p.a.shape[axis];
                let part = joined.slice(axis, k * n, 1, n);
                let same = part
                    .data
                    .iter()
                    .zip(&p.a.data)
                    .all(|(a, b)| a == b || (a.f().is_nan() && b.f().is_nan()));
                assert!(same, "cat of {dtype} along {axis}: {name}");
            }
        }
    }
}

#[test]
fn gathering_and_scattering() {
    let mut rng = Rng(10);
    let x = [leaf(&mut rng, &[4, 3])];
    let rows = i64s(&[5], &[3, 0, 3, 1, 3]);
    both("index_select 0", |x| Ok(x[0].index_select(0, &rows)?.square()), &x);
    both("index_select 1", |x| Ok(x[0].index_select(1, &i64s(&[2], &[2, 2]))?.square()), &x);
    both("index_select of none", |x| x[0].index_select(0, &i64s(&[0], &[])), &x);
    let index = i64s(&[2, 3], &[0, 3, 1, 0, 0, 2]);
    both("gather 0", |x| Ok(x[0].gather(0, &index)?.square()), &x);
    let index = i64s(&[4, 2], &[0, 2, 1, 1, 2, 0, 0, 0]);
    both("gather 1", |x| Ok(x[0].gather(1, &index)?.square()), &x);
    both("gather of a transpose", |x| Ok(x[0].t().gather(0, &index.t())?.square()), &x);
    let x = [leaf(&mut rng, &[4, 3]), leaf(&mut rng, &[6, 3])];
    let index = Tensor::from_vec((0..18).map(|i| (i * 7 % 4) as i64).collect(), &[6, 3]).unwrap();
    both("scatter_add 0", |x| Ok(x[0].scatter_add(0, &index, &x[1])?.square()), &x);
    let x = [leaf(&mut rng, &[3, 4]), leaf(&mut rng, &[3, 6])];
    both("scatter_add 1", |x| Ok(x[0].scatter_add(1, &index.t(), &x[1])?.square()), &x);
}

#[test]
fn gathering_takes_every_dtype_and_layout() {
    let mut rng = Rng(11);
    for dtype in DType::ALL {
        for (name, p) in layouts(&mut rng, dtype, Rng::cell) {
            for axis in 0..3 {
                let n = p.a.shape[axis];
                let mut shape = p.a.shape.clone();
                shape[axis] = 7;
                let index = Array::new(
                    &shape,
                    DType::I64,
                    (0..shape.iter().product()).map(|_| Cell::I(rng.below(n) as i128)).collect(),
                );
                let expected = Array {
                    shape: shape.clone(),
                    dtype,
                    data: indices(&shape)
                        .iter()
                        .map(|i| {
                            let mut from = i.clone();
                            from[axis] = index.at(i).i() as usize;
                            p.a.at(&from)
                        })
                        .collect(),
                };
                let got = p.t.gather(axis as isize, &index.tensor()).unwrap();
                assert_ulps(&format!("gather {dtype} {name} {axis}"), &got, &expected, 0);
                // An index that lies otherwise.
                let turned = index.clone().pair().permute(&[2, 0, 1]).pending().permute(&[1, 2, 0]);
                let got = p.t.gather(axis as isize, &turned.t).unwrap();
                assert_ulps(&format!("gather {dtype} {name} {axis}, index permuted"), &got, &expected, 0);
            }
        }
    }
}

#[test]
fn scattering_adds_in_every_dtype() {
    let mut rng = Rng(12);
    for dtype in DType::computed().filter(|d| !d.is_bool()) {
        for (name, p) in layouts(&mut rng, dtype, Rng::moderate) {
            for axis in 0..3 {
                let mut shape = p.a.shape.clone();
                shape[axis] = 6;
                let base = array(&mut rng, &shape, dtype, Rng::moderate);
                let index = array(&mut rng, &p.a.shape, DType::I64, |rng, _| Cell::I(rng.below(6) as i128));
                let mut sums: Vec<f64> = vec![0.0; base.numel()];
                for (i, at) in indices(&p.a.shape).iter().zip(&index.data) {
                    let mut to = i.clone();
                    to[axis] = at.i() as usize;
                    let flat = to.iter().zip(&shape).fold(0, |f, (&i, &n)| f * n + i);
                    sums[flat] += p.a.at(i).f();
                }
                let got = base.tensor().scatter_add(axis as isize, &index.tensor(), &p.t).unwrap();
                assert_eq!(got.dtype(), dtype);
                let expected: Vec<f64> = sums
                    .iter()
                    .zip(&base.data)
                    .map(|(s, b)| {
                        if dtype.is_float() { s + b.f() } else { Cell::I(*s as i128 + b.i()).cast(dtype).f() }
                    })
                    .collect();
                let slack = match dtype {
                    DType::F64 => 1e-13,
                    DType::F32 => 1e-5,
                    DType::F16 => 2e-2,
                    DType::BF16 => 1.5e-1,
                    _ => 0.0,
                };
                assert_close(
                    &format!("scatter_add {dtype} {name} {axis}"),
                    &got,
                    &expected,
                    slack / 4.0,
                    slack,
                );
            }
        }
    }
}

#[test]
fn choosing_and_clamping() {
    let mut rng = Rng(13);
    let x = [away(&mut rng, &[3, 4]), away(&mut rng, &[4])];
    let condition = array(&mut rng, &[3, 1], DType::Bool, Rng::cell).tensor();
    both("where", |x| Ok(Tensor::where_(&condition, &x[0], &x[1])?.square()), &x);
    both("where with a number", |x| Ok(Tensor::where_(&condition, &x[0], 2.0)?.square()), &x[..1]);
    both("where of a comparison", |x| Tensor::where_(&x[0].lt(0.0), x[0].exp(), x[0].square()), &x[..1]);
    both("clamp", |x| Ok(x[0].clamp(Some((-1.0).into()), Some(0.9.into())).square()), &x[..1]);
    both("clamp below", |x| Ok(x[0].clamp(Some((-0.1).into()), None).square()), &x[..1]);
    let t = f32s(&[4], &[-2.0, 0.5, 3.0, f32::NAN])
        .clamp(Some((-1.0).into()), Some(1.0.into()))
        .to_vec::<f32>()
        .unwrap();
    assert_eq!(t[..3], [-1.0, 0.5, 1.0]);
    assert!(t[3].is_nan());
}

#[test]
fn dropout_with_a_seed() {
    let mut rng = Rng(14);
    let x = [leaf(&mut rng, &[4, 5])];
    let f = |x: &[Tensor]| {
        manual_seed(7);
        Ok(x[0].try_dropout(0.4, true)?.square())
    };
    // The generator is one for the process: other tests draw too, so the seed and the draw must not be torn apart.
    let _alone = GENERATOR.lock().unwrap_or_else(|e| e.into_inner());
    both("dropout", f, &x);
    manual_seed(3);
    let ones = Tensor::ones(&[100_000], DType::F32).unwrap();
    let kept = ones.try_dropout(0.25, true).unwrap().to_vec::<f32>().unwrap();
    assert!(kept.iter().all(|&v| v == 0.0 || (v - 1.0 / 0.75).abs() < 1e-6), "survivors are scaled");
    let n = kept.iter().filter(|&&v| v != 0.0).count();
    assert!((74_000..76_000).contains(&n), "{n} of 100000 survived");
    assert_eq!(ones.try_dropout(0.0, true).unwrap().to_vec::<f32>().unwrap(), vec![1.0; 100_000]);
}

/// Held by tests that seed the generator.
static GENERATOR: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn random_numbers_repeat_with_the_seed() {
    let _alone = GENERATOR.lock().unwrap_or_else(|e| e.into_inner());
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        let draw = || {
            manual_seed(11);
            let (u, n) = (Tensor::rand(&[1000], dtype).unwrap(), Tensor::randn(&[1000], dtype).unwrap());
            [u.to_f64_vec().unwrap(), n.to_f64_vec().unwrap()]
        };
        let [u, n] = draw();
        assert_eq!([u.clone(), n.clone()], draw(), "{dtype}");
        assert!(u.iter().all(|v| (0.0..1.0).contains(v)), "{dtype}");
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        assert!((mean(&u) - 0.5).abs() < 0.05, "{dtype}");
        let variance = mean(&n.iter().map(|v| v * v).collect::<Vec<_>>());
        assert!(mean(&n).abs() < 0.15 && (variance - 1.0).abs() < 0.2, "{dtype}");
    }
    manual_seed(1);
    let (a, b) = (Tensor::rand(&[50], DType::F32).unwrap(), Tensor::rand(&[50], DType::F32).unwrap());
    // The order of computing is not the order of drawing.
    let late = (b.to_f64_vec().unwrap(), a.to_f64_vec().unwrap());
    manual_seed(1);
    let (a, b) = (Tensor::rand(&[50], DType::F32).unwrap(), Tensor::rand(&[50], DType::F32).unwrap());
    let early = (a.to_f64_vec().unwrap(), b.to_f64_vec().unwrap());
    assert_eq!((late.1, late.0), early);
    let fused = (&a * 2.0 + 1.0).to_vec::<f32>().unwrap();
    let apart: Vec<f32> = a.to_vec::<f32>().unwrap().into_iter().map(|v| v * 2.0 + 1.0).collect();
    assert_eq!(fused, apart);
}
