//! Kernels of the user's own, in Rust.

use mg_autograd::kernel::{S, Truth};
use mg_autograd::{Backward, Operand, Result, Tensor, grad, gradcheck, gradgradcheck, kernel};
use mg_device::DType;

/// `x` times the sigmoid of `beta · x`.
#[kernel(crate = mg_autograd)]
fn swish(x: S, beta: S) -> S {
    x / (1.0 + (-beta * x).exp())
}

#[kernel(crate = mg_autograd)]
fn branches(x: S, y: S) -> S {
    if x < 0 {
        return (-x).sqrt() * y;
    }
    let mut z = x * 3;
    if x > 2 && y > 0.0 {
        z = x.log() + y;
        if y > 4 {
            z += 1;
        } else {
            let t = z * z;
            z = t;
        }
    } else if !(y == 0) {
        z *= z;
    }
    z - y.abs()
}

#[kernel(crate = mg_autograd)]
fn escape(cr: S, ci: S, steps: usize) -> S {
    let (mut zr, mut zi, mut n) = (S::from(0.0), S::from(0.0), S::from(0));
    let mut inside = Truth::from(true);
    for _ in 0..steps {
        inside = inside && zr * zr + zi * zi <= 4.0;
        if inside {
            (zr, zi) = (zr * zr - zi * zi + cr, 2 * zr * zi + ci);
            n += 1;
        }
    }
    n
}

#[kernel(crate = mg_autograd)]
fn sorted(x: S, y: S) -> (S, S) {
    if x < y { (x, y) } else { (y, x) }
}

#[kernel(crate = mg_autograd)]
fn power(x: S, n: usize, negative: bool) -> S {
    let mut y = S::from(1);
    for i in 0..n {
        if i > 100 {
            break;
        }
        y *= x;
    }
    if negative { -y } else { y }
}

#[kernel(crate = mg_autograd)]
fn outer(x: S) -> S {
    let (low, high) = sorted::scalar(x, S::from(1.0));
    low * high + power::scalar(x, 3, false)
}

#[kernel(crate = mg_autograd, gradient = slope)]
fn staircase(x: S) -> S {
    x.floor()
}

#[kernel(crate = mg_autograd)]
fn slope(_x: S) -> S {
    S::from(1.0)
}

#[kernel(crate = mg_autograd)]
fn doubled_staircase(x: S) -> S {
    staircase::scalar(x) * 2
}

#[kernel(crate = mg_autograd)]
fn wrong(x: S) -> S {
    let mut n = 0;
    if x > 0 {
        n = 1;
    }
    x * n
}

#[kernel(crate = mg_autograd)]
fn bits(x: S) -> S {
    x.bitwise_and(1)
}

const X: [f64; 7] = [-3.0, -0.5, 0.0, 0.5, 1.0, 2.5, 7.0];
const Y: [f64; 7] = [1.0, -2.0, 0.0, 3.0, 1.0, 5.0, 0.25];

fn reference(x: f64, y: f64) -> f64 {
    if x < 0.0 {
        return (-x).sqrt() * y;
    }
    let mut z = x * 3.0;
    if x > 2.0 && y > 0.0 {
        z = x.ln() + y;
        if y > 4.0 {
            z += 1.0;
        } else {
            z *= z;
        }
    } else if y != 0.0 {
        z *= z;
    }
    z - y.abs()
}

#[test]
fn values_are_those_of_the_function() -> Result<()> {
    let (x, y) = (Tensor::from_slice(&X), Tensor::from_slice(&Y));
    let got = branches(&x, &y).to_vec::<f64>()?;
    for i in 0..X.len() {
        let expected = reference(X[i], Y[i]);
        assert!((got[i] - expected).abs() < 1e-14, "{} {} {} {expected}", X[i], Y[i], got[i]);
    }
    let got = swish(&x, 2.0).to_vec::<f64>()?;
    assert!(X.iter().zip(got).all(|(x, got)| (got - x / (1.0 + (-2.0 * x).exp())).abs() < 1e-15));
    Ok(())
}

#[test]
fn loops_are_unrolled() -> Result<()> {
    let (re, im) = (
        Tensor::from_slice(&[-2.0f32, -0.5, 0.0, 0.5, 1.0]),
        Tensor::from_slice(&[0.0f32, 1.0]).reshape(&[2, 1])?,
    );
    let got = escape(&re, &im, 20);
    assert_eq!((got.dtype(), got.shape().to_vec()), (DType::I64, vec![2, 5]));
    let expected = |cr: f32, ci: f32| {
        let (mut zr, mut zi, mut n) = (0.0f32, 0.0f32, 0);
        for _ in 0..20 {
            if zr * zr + zi * zi > 4.0 {
                break;
            }
            (zr, zi) = (zr * zr - zi * zi + cr, 2.0 * zr * zi + ci);
            n += 1;
        }
        n
    };
    let all: Vec<i64> =
        [0.0, 1.0].iter().flat_map(|&ci| [-2.0, -0.5, 0.0, 0.5, 1.0].map(|cr| expected(cr, ci))).collect();
    assert_eq!(got.to_vec::<i64>()?, all);
    assert_eq!(power(&re, 3, false).to_vec::<f32>()?, [-8.0, -0.125, 0.0, 0.125, 1.0]);
    assert_eq!(power(&re, 2, true).to_vec::<f32>()?, [-4.0, -0.25, 0.0, -0.25, -1.0]);
    Ok(())
}

#[test]
fn gradients_of_both_orders() -> Result<()> {
    let (x, y) = (Tensor::from_slice(&X), Tensor::from_slice(&Y));
    let (x, y) = (x.try_add(0.1)?.requires_grad_(true)?, y.try_add(0.05)?.requires_grad_(true)?);
    let inputs = [x, y];
    for f in [
        |t: &[Tensor]| try_branches(&t[0], &t[1]),
        |t: &[Tensor]| try_swish(&t[0], &t[1]),
        |t: &[Tensor]| try_outer(&t[0]),
    ] {
        gradcheck(f, &inputs, Default::default())?;
        gradgradcheck(f, &inputs, Default::default())?;
    }
    Ok(())
}

#[test]
fn what_is_not_taken_has_no_gradient() -> Result<()> {
    let x = Tensor::from_slice(&[-1.0f64, 0.0, 4.0]).requires_grad_(true)?;
    let y = branches(&x, 0.5);
    let g = grad(&[&y.sum()], &[&x], &[], Backward::default())?.remove(0);
    let g = g.map(|g| g.to_vec::<f64>()).transpose()?.unwrap_or_default();
    assert_eq!(g, [-0.25, 0.0, 2.0 * (4.0f64.ln() + 0.5) * 0.25]);
    Ok(())
}

#[test]
fn several_results_and_other_kernels() -> Result<()> {
    let (low, high) = sorted(Tensor::from_slice(&[1.0f32, 5.0]), 3);
    assert_eq!((low.to_vec::<f32>()?, high.to_vec::<f32>()?), (vec![1.0, 3.0], vec![3.0, 5.0]));
    assert_eq!(outer(Tensor::from_slice(&[2.0f32])).to_vec::<f32>()?, [10.0]);
    Ok(())
}

#[test]
fn a_gradient_of_ones_own() -> Result<()> {
    let x = Tensor::from_slice(&[0.5f32, 1.5]).requires_grad_(true)?;
    let y = doubled_staircase(&x).try_mul(staircase(&x))?.sum();
    y.backward()?;
    assert_eq!(x.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![0.0, 4.0]));
    Ok(())
}

#[test]
fn what_is_wrong_is_told() {
    let x = Tensor::from_slice(&[1.0f32]);
    let text = |r: Result<Tensor>| r.map_or_else(|e| e.to_string(), |_| String::new());
    assert!(text(try_wrong(&x)).contains("wrong: a number of Rust is 1 in one branch and 0 in the other"));
    assert!(text(try_bits(&x)).starts_with("bits: bitwise_and: takes integers, got f32"));
    let other = Tensor::from_slice(&[1.0f32, 2.0, 3.0]);
    assert!(
        text(try_swish(x.try_add(Tensor::from_slice(&[1.0f32, 2.0])).unwrap_or(x), &other))
            .contains("cannot be broadcast")
    );
}

#[test]
fn one_pass() -> Result<()> {
    let x = Tensor::from_slice(&[1.0f32; 100]);
    let y = swish(&x.try_mul(2.0)?, Operand::from(1.5)).try_add(1.0)?;
    let plan = mg_graph::explain(&[&y.node()])?.to_string();
    assert!(plan.starts_with("1 launch,"), "{plan}");
    Ok(())
}
