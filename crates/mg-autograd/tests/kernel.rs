//! Kernels of the user's own, in Rust.

use mg_autograd::kernel::{Builder, Part, S, Truth};
use mg_autograd::{Backward, Operand, Result, Tensor, grad, gradcheck, gradgradcheck, kernel};
use mg_device::DType;
use std::sync::Arc;

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

/// A literal's type is not known when a method is called of what it is added to.
#[kernel(crate = mg_autograd)]
fn bent(x: S) -> S {
    if x > 1 {
        return 1.0 + (x - 1.0 + 1).log() * (x * 0.0 + 2.0).sqrt();
    }
    x
}

#[test]
fn methods_follow_arithmetic_with_literals() -> Result<()> {
    let got = bent(Tensor::from_slice(&X)).to_vec::<f64>()?;
    let expected = |x: f64| if x > 1.0 { 1.0 + x.ln() * 2f64.sqrt() } else { x };
    assert!(X.iter().zip(got).all(|(&x, got)| (got - expected(x)).abs() < 1e-14));
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

/// A kernel says whether its gradient is its own, and takes one that fits it only.
#[test]
fn kernels_with_a_gradient_of_their_own_say_so() -> Result<()> {
    let negated = |arguments: usize| {
        let mut f = Builder::new("negated", arguments);
        let x = f.argument(0)?;
        let y = f.call("neg", &[Part::Value(x)])?;
        f.end(&[y])
    };
    assert!(!negated(1)?.has_gradient());
    let own = Arc::new(negated(1)?.with_gradient(Arc::new(negated(2)?))?);
    assert!(own.has_gradient());
    let x = Tensor::from_slice(&[2.0f32]).requires_grad_(true)?;
    own.call(&[(&x).into()])?[0].sum().backward()?;
    // Of the argument and of the gradient of the result, the first one negated.
    assert_eq!(x.grad().map(|g| g.to_vec::<f32>()).transpose()?, Some(vec![-2.0]));
    assert!(negated(1)?.with_gradient(Arc::new(negated(3)?)).is_err());
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
    let explained = || -> Result<String> {
        let y = swish(&x.try_mul(2.0)?, Operand::from(1.5)).try_add(1.0)?;
        Ok(y.explain()?.to_string())
    };
    let mut plan = explained()?;
    // What is held is computed once much else was: tests beside this one may have done so between the two lines.
    for _ in 0..100 {
        if !plan.starts_with("0 launches") {
            break;
        }
        plan = explained()?;
    }
    assert!(plan.starts_with("1 launch,"), "{plan}");
    Ok(())
}

/// Elements of lists, and fields of tuples, which branches assign to.
#[kernel(crate = mg_autograd)]
fn elements(x: S, y: S) -> (S, S, S) {
    let mut pair = [x, y];
    let mut list = vec![x, y];
    let mut nested = (x, (y, x));
    if x > 0 {
        pair[0] = y * 2;
        list[1] += 1;
        nested.1.0 = x - y;
    } else if y > 0 {
        [pair[1], pair[0]] = [x, y];
    }
    (pair[0] + 10 * pair[1], list[0] + 10 * list[1], nested.0 + 10 * nested.1.0)
}

/// Names of patterns, which are not those that stand around the branch.
#[kernel(crate = mg_autograd)]
fn patterns(x: S, n: usize) -> S {
    let (mut k, mut z, mut w) = (x, x, S::from(0));
    if x > 0 {
        for k in 0..n {
            z += k as i64;
        }
        k = z + 1;
        let double = |z: S| z * 2;
        w = double(k) + double(k) - k * 2;
        match Some(n) {
            Some(z) if z > 100 => {}
            Some(_) | None => z = w,
        }
        if let Some(w) = Some(n) {
            k += w;
        }
        w -= 1;
        let z = z;
        k += z;
    }
    k + 100 * z + 10000 * w
}

/// What Rust knows is asked for only where it decides.
#[kernel(crate = mg_autograd)]
fn known(x: S, weights: Vec<f64>) -> S {
    let mut y = S::from(0.0);
    for i in 0..4usize {
        if i < weights.len() && weights[i] > 0.0 {
            y += weights[i] * x;
        }
        if i >= weights.len() || weights[i] < 0.0 && x > 0 {
            y += 1;
        }
    }
    y
}

#[kernel(crate = mg_autograd)]
fn guarded(a: S, b: S) -> S {
    let mut q = S::from(0);
    if b != 0 && a.floor_divide(b) > 1 {
        q = a % b;
    }
    if b == 0 || a.remainder(b) == 0 { q } else { q + a.floor_divide(b) }
}

#[test]
fn elements_are_assigned_to_where_the_branch_is_taken() -> Result<()> {
    for x in X {
        for y in Y {
            let (mut pair, mut list, mut nested) = ([x, y], vec![x, y], (x, (y, x)));
            if x > 0.0 {
                pair[0] = y * 2.0;
                list[1] += 1.0;
                nested.1.0 = x - y;
            } else if y > 0.0 {
                pair = [y, x];
            }
            let wanted = [pair[0] + 10.0 * pair[1], list[0] + 10.0 * list[1], nested.0 + 10.0 * nested.1.0];
            let (a, b, c) = elements(x, y);
            assert_eq!([a.item::<f64>()?, b.item()?, c.item()?], wanted, "{x} {y}");
        }
    }
    Ok(())
}

#[test]
fn names_of_patterns_are_their_own() -> Result<()> {
    for x in X {
        let n = 3;
        let (mut k, mut z, mut w) = (x, x, 0.0);
        if x > 0.0 {
            z += 3.0;
            k = z + 1.0;
            w = k * 2.0;
            z = w;
            k += n as f64;
            w -= 1.0;
            k += z;
        }
        let got = patterns(x, n).item::<f64>()?;
        assert_eq!(got, k + 100.0 * z + 10000.0 * w, "{x}");
    }
    Ok(())
}

#[test]
fn connectives_ask_for_what_decides() -> Result<()> {
    let x = Tensor::from_slice(&[2.0f32, -2.0]);
    assert_eq!(known(&x, vec![1.0, -1.0]).to_vec::<f32>()?, [5.0, 0.0]);
    let (a, b) = (Tensor::from_slice(&[7i32, 8, 9, 5, 6]), Tensor::from_slice(&[2i32, 0, 9, 3, 4]));
    assert_eq!(guarded(&a, &b).to_vec::<i32>()?, [4, 0, 0, 1, 1]);
    Ok(())
}
