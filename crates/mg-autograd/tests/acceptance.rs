//! Cases whose values were computed independently of this project.

mod common;

use common::{Array, Cell, Draw, Rng, array, assert_close, f32s, leaf};
use mg_autograd::{Backward, Tensor};
use mg_device::{DType, ErrorKind, Result};
use mg_graph::Node;

const RTOL: f64 = 1e-5;
const ATOL: f64 = 1e-6;

#[track_caller]
fn close(t: &Tensor, expected: &[f64]) {
    assert_close("value", t, expected, RTOL, ATOL);
}

#[track_caller]
fn grad_close(t: &Tensor, expected: &[f64]) {
    assert_close("gradient", &t.grad().expect("a gradient"), expected, RTOL, ATOL);
}

fn f32_vec(t: &Tensor) -> Vec<f32> {
    t.to_vec::<f32>().unwrap()
}

fn labels(data: &[i64]) -> Tensor {
    Tensor::from_slice(data)
}

#[test]
fn a_matrix_and_its_views() {
    let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(x.shape(), [2, 3]);
    assert_eq!(x.value().unwrap().layout.strides(), [3, 1]);
    assert!(x.is_contiguous().unwrap());
    let t = x.transpose(0, 1).unwrap();
    assert_eq!(t.shape(), [3, 2]);
    assert_eq!(f32_vec(&t), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert!(!t.is_contiguous().unwrap());
    assert!(t.value().unwrap().buffer.ptr_eq(&x.value().unwrap().buffer), "a transpose shares its storage");
    let s = t.slice(0, Some(0), Some(3), 2).unwrap();
    assert_eq!(s.shape(), [2, 2]);
    assert_eq!(f32_vec(&s), [1.0, 4.0, 3.0, 6.0]);
    assert_eq!(f32_vec(&t.reshape(&[6]).unwrap()), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let dense = t.contiguous().unwrap();
    assert!(dense.is_contiguous().unwrap() && f32_vec(&dense) == f32_vec(&t));
    assert!(x.contiguous().unwrap().is(&x));
}

#[test]
fn gradients_of_small_expressions() {
    let x = leaf(&[2, 2], &[1.0, -2.0, 3.0, 4.0]);
    (x.relu() * &x).sum().backward().unwrap();
    grad_close(&x, &[2.0, 0.0, 6.0, 8.0]);
    let x = leaf(&[3], &[1.5, 2.0, -3.0]);
    x.powf(3.0).sum().backward().unwrap();
    grad_close(&x, &[6.75, 12.0, 27.0]);
    let (a, b) = (leaf(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), leaf(&[2, 2], &[10.0, 20.0, 30.0, 40.0]));
    ((&a + &b) * &a).sum().backward().unwrap();
    grad_close(&a, &[12.0, 24.0, 36.0, 48.0]);
    grad_close(&b, &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn gradients_flow_through_views() {
    let data = [1.0, -2.0, 3.0, 4.0, 5.0, -6.0];
    let twice = [2.0, -4.0, 6.0, 8.0, 10.0, -12.0];
    type View = fn(&Tensor) -> Result<Tensor>;
    let views: [View; 5] = [
        |x| x.transpose(0, 1),
        |x| x.reshape(&[3, 2]),
        |x| x.t().contiguous(),
        |x| Ok(x.copy()),
        |x| x.flip(&[1])?.permute(&[1, 0])?.reshape(&[6]),
    ];
    for view in views {
        let x = leaf(&[2, 3], &data);
        let v = view(&x).unwrap();
        (&v * &v).sum().backward().unwrap();
        grad_close(&x, &twice);
    }
    let x = leaf(&[2, 3], &data);
    x.slice(1, Some(1), None, 1).unwrap().square().sum().backward().unwrap();
    grad_close(&x, &[0.0, -4.0, 6.0, 0.0, 10.0, -12.0]);
    let x = leaf(&[2, 1], &[3.0, 5.0]);
    x.expand(&[2, 4]).unwrap().square().sum().backward().unwrap();
    grad_close(&x, &[24.0, 40.0]);
}

#[test]
fn walking_twice() {
    let x = leaf(&[1], &[3.0]);
    let y = x.powf(3.0).sum();
    y.backward_with(None, Backward { retain_graph: true, ..Backward::default() }).unwrap();
    grad_close(&x, &[27.0]);
    y.backward().unwrap();
    grad_close(&x, &[54.0]);
    let a = leaf(&[], &[2.0]);
    (&a * &a + &a).backward().unwrap();
    grad_close(&a, &[5.0]);
    let (a, b) = (leaf(&[], &[2.0]), leaf(&[], &[3.0]));
    (&a * &b + &a).square().backward().unwrap();
    grad_close(&a, &[64.0]);
    let a = leaf(&[], &[1.0]);
    (&a * 2.0 + &a * 3.0).backward().unwrap();
    grad_close(&a, &[5.0]);
}

#[test]
fn powers() {
    let x = leaf(&[3], &[0.0, 2.0, -3.0]);
    x.powf(0.0).sum().backward().unwrap();
    assert_eq!(f32_vec(&x.powf(0.0)), [1.0, 1.0, 1.0]);
    grad_close(&x, &[0.0, 0.0, 0.0]);
    assert_eq!(f32_vec(&x.powf(3.0)), [0.0, 8.0, -27.0]);
    assert_eq!(f32_vec(&f32s(&[2], &[-2.0, -2.0]).pow(f32s(&[2], &[3.0, -1.0]))), [-8.0, -0.5]);
    assert!(f32_vec(&f32s(&[1], &[-2.0]).powf(0.5))[0].is_nan());
    let x = leaf(&[2], &[0.0, 4.0]);
    let y = x.powf(0.5);
    assert_eq!(f32_vec(&y), [0.0, 2.0]);
    y.sum().backward().unwrap();
    assert_eq!(f32_vec(&x.grad().unwrap()), [f32::INFINITY, 0.25]);
}

#[test]
fn nan_and_infinity() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = f32s(&[4], &[nan, inf, -inf, 1.0]);
    let is_nan = |t: Tensor| f32_vec(&t).iter().map(|v| v.is_nan()).collect::<Vec<_>>();
    assert_eq!(is_nan(&x - &x), [true, true, true, false]);
    assert_eq!(is_nan(&x * 0.0), [true, true, true, false]);
    assert_eq!(is_nan(x.sqrt()), [true, false, true, false]);
    assert_eq!(is_nan(x.relu()), [true, false, false, false]);
    assert_eq!(f32_vec(&x.relu())[1..], [inf, 0.0, 1.0]);
    assert_eq!(f32_vec(&x.exp())[1..], [inf, 0.0, std::f32::consts::E]);
    assert_eq!(f32_vec(&x.tanh())[1..3], [1.0, -1.0]);
    assert_eq!(f32_vec(&x.sigmoid())[1..3], [1.0, 0.0]);
    assert_eq!(f32_vec(&f32s(&[3], &[0.0, -1.0, inf]).log())[..1], [-inf]);
    assert!(f32_vec(&f32s(&[1], &[-1.0]).log())[0].is_nan());
    assert_eq!(f32_vec(&(1.0 / &f32s(&[2], &[0.0, -0.0]))), [inf, -inf]);
    assert!(is_nan(x.max()) == [true] && is_nan(x.min()) == [true]);
    assert_eq!(x.argmax(None, false).item::<i64>().unwrap(), 0);
    assert_eq!(x.eq(&x).to_vec::<bool>().unwrap(), [false, true, true, true]);
    assert_eq!(x.ne(&x).to_vec::<bool>().unwrap(), [true, false, false, false]);
    assert_eq!(x.lt(2.0).to_vec::<bool>().unwrap(), [false, false, true, true]);
}

#[test]
fn a_sum_of_many_ones() {
    let n = 1 << 25;
    let ones = Tensor::from_vec(vec![1f32; n], &[n]).unwrap();
    assert_eq!(ones.sum().item::<f32>().unwrap(), 33_554_432.0);
    assert_eq!(Tensor::ones(&[n], DType::F32).unwrap().sum().item::<f32>().unwrap(), 33_554_432.0);
    let grid = ones.reshape(&[1 << 13, 1 << 12]).unwrap();
    assert_eq!(grid.sum_dim(&[0, 1], false).item::<f32>().unwrap(), 33_554_432.0);
    assert_eq!(ones.mean().item::<f32>().unwrap(), 1.0);
    let long = ones.reshape(&[1, -1]).unwrap();
    assert_eq!(f32_vec(&long.sum_dim(&[1], false)), [33_554_432.0]);
    assert_eq!(f32_vec(&long.t().sum_dim(&[0], false)), [33_554_432.0]);
}

#[test]
fn a_long_dot_product() {
    let n = 10_000_000;
    let mut rng = Rng(1);
    let mut draw = || (0..n).map(|_| rng.uniform(0.0, 1.0) as f32).collect::<Vec<f32>>();
    let (a, b) = (draw(), draw());
    let exact: f64 = a.iter().zip(&b).map(|(&a, &b)| a as f64 * b as f64).sum();
    let (a, b) = (Tensor::from_vec(a, &[n]).unwrap(), Tensor::from_vec(b, &[n]).unwrap());
    for (name, dot) in [("sum", (&a * &b).sum()), ("matmul", a.matmul(&b))] {
        let error = (dot.item::<f32>().unwrap() as f64 - exact).abs() / exact;
        assert!(error <= 1e-6, "{name}: relative error {error:e}");
    }
}

const SIZES: [usize; 9] = [0, 1, 31, 33, 255, 257, 1023, 1025, (1 << 20) + 1];

/// Every family of kernels at sizes around those of vectors, tiles and tasks. Values are small whole numbers, so that every
/// answer is exact.
#[test]
fn sizes_around_the_edges() {
    for n in SIZES {
        let data: Vec<f32> = (0..n).map(|i| (i * 7 % 13) as f32 - 6.0).collect();
        let at = |i: usize| (i * 7 % 13) as f32 - 6.0;
        let x = Tensor::from_vec(data.clone(), &[n]).unwrap();
        let expect = |what: &str, t: &Tensor, f: &dyn Fn(usize) -> f32, m: usize| {
            let got = f32_vec(t);
            assert_eq!(got.len(), m, "{what} of {n}");
            let wrong = got.iter().enumerate().find(|(i, v)| **v != f(*i));
            assert!(wrong.is_none(), "{what} of {n}: {wrong:?}");
        };
        expect("map", &(&x * &x + 1.0).relu(), &|i| at(i) * at(i) + 1.0, n);
        expect("reversed map", &(x.flip(&[0]).unwrap() * 2.0), &|i| 2.0 * at(n - 1 - i), n);
        expect(
            "stepped map",
            &(x.slice(0, None, None, 2).unwrap() + 1.0),
            &|i| at(2 * i) + 1.0,
            n.div_ceil(2),
        );
        let half = x.to_dtype(DType::F16) + 1.0;
        expect("half map", &half.to_dtype(DType::F32), &|i| at(i) + 1.0, n);
        let bytes = (&x + 6.0).to_dtype(DType::U8).lt(5i64).to_dtype(DType::F32);
        expect("bytes", &bytes, &|i| if at(i) + 6.0 < 5.0 { 1.0 } else { 0.0 }, n);
        let total: f64 = data.iter().map(|&v| v as f64).sum();
        assert_eq!(x.sum().to_f64_vec().unwrap(), [total], "sum of {n}");
        assert_eq!(x.to_dtype(DType::I64).sum().item::<i64>().unwrap(), total as i64);
        assert_eq!(x.to_dtype(DType::BF16).sum().dtype(), DType::BF16);
        if n > 0 {
            let best = data.iter().cloned().fold(f32::MIN, f32::max);
            assert_eq!(x.max().item::<f32>().unwrap(), best);
            let first = data.iter().position(|&v| v == best).unwrap();
            assert_eq!(x.argmax(None, false).item::<i64>().unwrap(), first as i64, "argmax of {n}");
            let square: f64 = data.iter().map(|&v| (v as f64).powi(2)).sum();
            assert_eq!(x.matmul(&x).to_f64_vec().unwrap(), [square as f32 as f64], "dot of {n}");
        }
        for (rows, columns) in [(3, n), (n, 3)] {
            let grid = Tensor::from_vec((0..3 * n).map(at).collect(), &[rows, columns]).unwrap();
            let by = |row: usize, column: usize| at(row * columns + column);
            expect(
                "sum of rows",
                &grid.sum_dim(&[1], false),
                &|r| (0..columns).map(|c| by(r, c)).sum(),
                rows,
            );
            expect(
                "sum of columns",
                &grid.sum_dim(&[0], false),
                &|c| (0..rows).map(|r| by(r, c)).sum(),
                columns,
            );
            expect("transpose", &grid.t().copy(), &|i| by(i % rows.max(1), i / rows.max(1)), 3 * n);
            if columns > 0 {
                let max = |r: usize| (0..columns).map(|c| by(r, c)).fold(f32::MIN, f32::max);
                let most: Vec<f32> = (0..rows).map(max).collect();
                let less = &grid - grid.amax(&[1], true);
                let expected = |i: usize| by(i / columns, i % columns) - most[i / columns];
                expect("rows less their maximum", &less, &expected, 3 * n);
                let soft = grid.try_softmax(Some(1), None).unwrap().sum_dim(&[1], false);
                assert_close("softmax", &soft, &vec![1.0; rows], 1e-5, 0.0);
            }
            let ones = Tensor::ones(&[columns, 2], DType::F32).unwrap();
            expect("matmul", &grid.matmul(&ones), &|i| (0..columns).map(|c| by(i / 2, c)).sum(), 2 * rows);
        }
        let index = Tensor::from_vec((0..n).map(|i| (n - 1 - i) as i64).collect(), &[n]).unwrap();
        expect("index_select", &x.index_select(0, &index).unwrap(), &|i| at(n - 1 - i), n);
        let few = Tensor::from_vec((0..n).map(|i| (i % 5) as i64).collect(), &[n]).unwrap();
        let sums = Tensor::zeros(&[5], DType::F32).unwrap().scatter_add(0, &few, &x).unwrap();
        expect("scatter_add", &sums, &|j| (0..n).filter(|i| i % 5 == j).map(at).sum(), 5);
        expect("cat", &Tensor::cat(&[&x, &x], 0).unwrap(), &|i| at(i % n.max(1)), 2 * n);
        let y = x.copy();
        y.slice(0, None, None, 2).unwrap().assign(100.0).unwrap();
        expect("write", &y, &|i| if i % 2 == 0 { 100.0 } else { at(i) }, n);
        let leaf = Tensor::from_vec(data.clone(), &[n]).unwrap().requires_grad_(true).unwrap();
        leaf.square().sum().backward().unwrap();
        expect("gradient", &leaf.grad().unwrap(), &|i| 2.0 * at(i), n);
        expect("random", &Tensor::rand(&[n], DType::F32).unwrap().lt(1.0).to_dtype(DType::F32), &|_| 1.0, n);
    }
}

/// The same bits with one thread as with many: tasks are cut by size alone.
#[test]
fn threads_change_nothing() {
    let mut rng = Rng(2);
    let x = array(&mut rng, &[1 << 20], DType::F32, Rng::moderate as Draw).tensor();
    let grid = x.reshape(&[1024, 1024]).unwrap();
    let all = || {
        [
            x.sum().to_f64_vec().unwrap(),
            grid.sum_dim(&[0], false).to_f64_vec().unwrap(),
            grid.sum_dim(&[1], false).to_f64_vec().unwrap(),
            grid.try_softmax(Some(1), None).unwrap().to_f64_vec().unwrap(),
            (&x * &x + 1.0).to_f64_vec().unwrap(),
        ]
    };
    let first = all();
    let others: Vec<_> = std::thread::scope(|s| {
        (0..4).map(|_| s.spawn(all)).collect::<Vec<_>>().into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(others.iter().all(|o| *o == first));
}

#[test]
fn broadcasting() {
    let row = f32s(&[1, 3], &[1.0, 2.0, 3.0]);
    let column = f32s(&[2, 1], &[4.0, 5.0]);
    let sum = &row + &column;
    assert_eq!(sum.shape(), [2, 3]);
    assert_eq!(f32_vec(&sum), [5.0, 6.0, 7.0, 6.0, 7.0, 8.0]);
    let (a, b) = (leaf(&[1, 2], &[1.0, 2.0]), leaf(&[2, 2, 1], &[10.0, 20.0, 30.0, 40.0]));
    let sum = &a + &b;
    assert_eq!(sum.shape(), [2, 2, 2]);
    assert_eq!(f32_vec(&sum), [11.0, 12.0, 21.0, 22.0, 31.0, 32.0, 41.0, 42.0]);
    sum.sum().backward().unwrap();
    assert_eq!(a.grad().unwrap().shape(), [1, 2]);
    assert_eq!(b.grad().unwrap().shape(), [2, 2, 1]);
    grad_close(&a, &[4.0, 4.0]);
    grad_close(&b, &[2.0; 4]);
    let (a, b) = (leaf(&[3], &[1.0, 2.0, 3.0]), leaf(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let product = &a * &b;
    assert_eq!(f32_vec(&product), [1.0, 4.0, 9.0, 4.0, 10.0, 18.0]);
    product.sum().backward().unwrap();
    grad_close(&a, &[5.0, 7.0, 9.0]);
    grad_close(&b, &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    let error = Tensor::zeros(&[2, 2], DType::F32)
        .unwrap()
        .try_add(Tensor::zeros(&[3], DType::F32).unwrap())
        .unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Shape(_)));
    assert!(error.to_string().contains("[2, 2]") && error.to_string().contains("[3]"), "{error}");
}

#[test]
fn backward_of_more_than_one_element() {
    let (x, target) = (leaf(&[2], &[1.0, 2.0]), f32s(&[2], &[2.0, 3.0]));
    let y = &x * 2.0;
    assert!(matches!(y.backward().unwrap_err().kind(), ErrorKind::Gradient(_)));
    let loss = x.try_mse_loss(&target, "mean", None).unwrap();
    assert_eq!(loss.item::<f32>().unwrap(), 1.0);
    loss.backward_with(Some(&Tensor::scalar(10f32)), Backward::default()).unwrap();
    grad_close(&x, &[-10.0, -10.0]);
}

#[test]
fn matrix_products() {
    let (a, b) = (f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), f32s(&[2, 2], &[5.0, 6.0, 7.0, 8.0]));
    assert_eq!(f32_vec(&a.matmul(&b)), [19.0, 22.0, 43.0, 50.0]);
    let v = f32s(&[2], &[1.0, 10.0]);
    assert_eq!(f32_vec(&v.matmul(&b)), [75.0, 86.0]);
    assert_eq!(f32_vec(&b.matmul(&v)), [65.0, 87.0]);
    assert_eq!(v.matmul(&v).item::<f32>().unwrap(), 101.0);
    let batch = Tensor::stack(&[&a, &b], 0).unwrap();
    assert_eq!(f32_vec(&batch.matmul(&b)), [19.0, 22.0, 43.0, 50.0, 67.0, 78.0, 91.0, 106.0]);
    assert_eq!(f32_vec(&batch.matmul(&batch)), [7.0, 10.0, 15.0, 22.0, 67.0, 78.0, 91.0, 106.0]);
    let error = f32s(&[2, 3], &[0.0; 6]).try_matmul(&f32s(&[2, 3], &[0.0; 6])).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Shape(_)) && error.to_string().matches("[2, 3]").count() == 2,
        "{error}"
    );
    let (a, b) = (leaf(&[2, 2], &[2.0, 3.0, 4.0, 5.0]), leaf(&[2, 2], &[6.0, 7.0, 8.0, 9.0]));
    let y = ((a.matmul(&b) + 10.0) * 11.0).sum();
    y.backward().unwrap();
    assert_eq!(y.item::<f32>().unwrap(), 2794.0);
    grad_close(&a, &[143.0, 187.0, 143.0, 187.0]);
    grad_close(&b, &[66.0, 66.0, 88.0, 88.0]);
}

#[test]
fn copies_of_transposes() {
    for (m, n) in [(20, 20), (128, 784)] {
        let x = Tensor::from_vec((0..m * n).map(|i| i as f32).collect(), &[m, n]).unwrap();
        let t = x.t().contiguous().unwrap();
        assert!(t.is_contiguous().unwrap());
        let expected: Vec<f32> = (0..m * n).map(|i| (i % m * n + i / m) as f32).collect();
        assert_eq!(f32_vec(&t), expected);
    }
}

#[test]
fn activations() {
    let at = |f: fn(&Tensor) -> Tensor, v: f32| {
        let x = leaf(&[1], &[v]);
        let y = f(&x);
        y.sum().backward().unwrap();
        (y.to_f64_vec().unwrap()[0], x.grad().unwrap().to_f64_vec().unwrap()[0])
    };
    assert!((at(Tensor::sigmoid, 0.0).1 - 0.25).abs() < 1e-7);
    assert!((at(Tensor::tanh, 0.0).1 - 1.0).abs() < 1e-7);
    assert!((at(|x| x.gelu("none"), 1.0).0 - 0.841345).abs() < 1e-6);
    assert!((at(Tensor::silu, 1.0).0 - 0.731059).abs() < 1e-6);
    for scale in [1.0, 1e4, -1e4] {
        let x = f32s(&[2, 3], &[1.0, 2.0, 3.0, -1.0, 0.0, 1.0]) * scale;
        for axis in [0, 1] {
            let s = x.try_softmax(Some(axis), None).unwrap();
            let sums = s.sum_dim(&[axis], false);
            assert!(f32_vec(&sums).iter().all(|v| (v - 1.0).abs() < 1e-6), "axis {axis}, scale {scale}");
        }
    }
}

#[test]
fn losses() {
    let x = leaf(&[1, 3], &[2.0, 1.0, 0.1]);
    let loss = x.try_cross_entropy(&labels(&[0]), None, -100, "mean", 0.0).unwrap();
    close(&loss, &[0.417030]);
    loss.backward().unwrap();
    grad_close(&x, &[-0.340999, 0.242433, 0.098566]);
    close(
        &f32s(&[1, 3], &[0.7, 0.2, 0.1]).try_cross_entropy(&labels(&[1]), None, -100, "mean", 0.0).unwrap(),
        &[1.267950],
    );
    let x = leaf(&[2], &[1.0, 2.0]);
    let loss = x.try_mse_loss(&f32s(&[2], &[2.0, 3.0]), "mean", None).unwrap();
    close(&loss, &[1.0]);
    loss.backward().unwrap();
    grad_close(&x, &[-1.0, -1.0]);
}

#[test]
fn reductions_have_gradients_of_the_input_s_shape() {
    type Reduce = fn(&Tensor, &[isize], bool) -> Result<Tensor>;
    let rows: [Reduce; 6] = [
        Tensor::try_sum_dim,
        Tensor::try_mean_dim,
        Tensor::try_amax,
        Tensor::try_amin,
        Tensor::try_prod_dim,
        |x, axes, keep| x.try_var_dim(axes, keep, Some(1.0)),
    ];
    for f in rows {
        for axes in [&[][..], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2], &[0, 1, 2]] {
            for keep in [false, true] {
                let x = leaf(&[2, 3, 4], &(0..24).map(|i| 0.5 + i as f32 * 0.1).collect::<Vec<_>>());
                f(&x, axes, keep).unwrap().sum().backward().unwrap();
                assert_eq!(x.grad().unwrap().shape(), [2, 3, 4]);
                assert_eq!(x.grad().unwrap().to_f64_vec().unwrap().len(), 24);
            }
        }
    }
}

/// A tensor of every dtype is what its data says, and comes back unchanged.
#[test]
fn data_goes_in_and_out() {
    let mut rng = Rng(3);
    for dtype in DType::ALL {
        let a = array(&mut rng, &[3, 5], dtype, Rng::cell as Draw);
        let back = Array::of(&a.tensor());
        let same = a.data.iter().zip(&back.data).all(|(a, b)| a == b || (a.f().is_nan() && b.f().is_nan()));
        assert!(same, "{dtype}");
    }
    assert_eq!(Tensor::arange(4).to_vec::<i64>().unwrap(), [0, 1, 2, 3]);
    let range = |start, end, step| Tensor::arange_by_int(start, end, step).unwrap().to_vec::<i64>().unwrap();
    assert_eq!(range(7, 0, -3), [7, 4, 1]);
    assert_eq!(range(0, -3, 1), [0; 0]);
    // More steps than i64 counts, and numbers that f64 does not hold.
    assert_eq!(range(i64::MIN, i64::MAX, i64::MAX), [i64::MIN, -1, i64::MAX - 1]);
    assert_eq!(range((1 << 53) + 1, (1 << 53) + 3, 1), [(1 << 53) + 1, (1 << 53) + 2]);
    for (end, step, said) in [(1, 0, "the step cannot be 0"), (i64::MAX, 1, "are too many")] {
        let refused = Tensor::arange_by_int(0, end, step).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::Value(text) if text.contains(said)), "{refused}");
    }
    assert_eq!(Tensor::eye(2, DType::U8).unwrap().to_vec::<u8>().unwrap(), [1, 0, 0, 1]);
    assert_eq!(Tensor::full(&[2], -3.0, DType::I32).unwrap().to_vec::<i32>().unwrap(), [-3, -3]);
    assert_eq!(Tensor::ones(&[2], DType::Bool).unwrap().to_vec::<bool>().unwrap(), [true, true]);
    assert_eq!(Tensor::scalar(2.5f64).item::<i64>().unwrap(), 2);
    assert_eq!(Cell::F(f64::NAN).cast(DType::I32), Cell::I(0));
    let node = Node::scalar(1.5, DType::F16, mg_device::Device::cpu(), false);
    assert_eq!(Tensor::from_node(node).to_f64_vec().unwrap(), [1.5]);
}
