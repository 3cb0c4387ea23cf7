//! Functions of functions: batches, both modes, levels within each other, recomputing.

use mg_autograd::func::{self, Randomness};
use mg_autograd::{Backward, Tensor, checkpoint, grad};
use mg_device::{DType, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn numbers(shape: &[usize]) -> Result<Tensor> {
    let n: usize = shape.iter().product();
    Tensor::from_vec(
        (0..n).map(|i| 0.3 + ((i + 1) as f64 * 0.618_033_988_7) % 1.0).collect::<Vec<f64>>(),
        shape,
    )
}

fn close(a: &Tensor, b: &Tensor) -> Result<()> {
    assert_eq!(a.shape(), b.shape());
    for (x, y) in a.to_vec::<f64>()?.iter().zip(b.to_vec::<f64>()?) {
        assert!((x - y).abs() <= 1e-9 * (1.0 + y.abs()), "{x} is not {y}");
    }
    Ok(())
}

/// Rows, views, reductions, products and a scan.
fn f(x: &[Tensor]) -> Result<Vec<Tensor>> {
    let t = x[0].try_t()?;
    let product = x[0].try_matmul(&t)?;
    let sums = x[0].try_cumsum(1, None)?.try_sum_dim(&[0], false)?;
    Ok(vec![product.sin().sum(), &sums.exp() * &x[0].select(0, 1)?])
}

#[test]
fn a_batch_is_a_loop() -> Result<()> {
    let batch = numbers(&[4, 2, 3])?;
    let all = func::vmap(f, &[Some(0)], &[&batch], Randomness::Error)?;
    for i in 0..4 {
        let one = f(&[batch.select(0, i)?])?;
        for (all, one) in all.iter().zip(&one) {
            close(&all.select(0, i)?, one)?;
        }
    }
    // What is the same for all is repeated.
    let same = func::vmap(|_| Ok(vec![numbers(&[2])?]), &[Some(1)], &[&batch], Randomness::Error)?;
    assert_eq!(same[0].shape().dims(), [2, 2]);
    assert!(func::vmap(|x| Ok(x.to_vec()), &[None], &[&batch], Randomness::Error).is_err());
    assert!(func::vmap(|x| Ok(x.to_vec()), &[Some(3)], &[&batch], Randomness::Error).is_err());
    let read = func::vmap(|x| x[0].to_vec::<f64>().map(|_| vec![]), &[Some(0)], &[&batch], Randomness::Error);
    assert!(read.is_err_and(|error| error.to_string().contains("vmap")));
    Ok(())
}

/// What is cut off from its history is cut off in a batch, too.
#[test]
fn batches_have_the_histories_of_examples() -> Result<()> {
    let batch = numbers(&[4, 3])?;
    let f = |x: &[Tensor]| Ok(vec![(&x[0].detach() * &x[0]).sum()]);
    let all = |x: &[Tensor]| Ok(vec![func::vmap(f, &[Some(0)], &[&x[0]], Randomness::Error)?[0].sum()]);
    close(&func::grad(all, &[&batch], &[0])?[0], &batch)?;
    let (_, tangents) = func::jvp(all, &[&batch], &[&batch.ones_like()])?;
    close(&tangents[0], &batch.sum())
}

/// Extreme eigenvalues, blocks and other shapes: the names that Python has.
#[test]
fn a_few_of_linear_algebra() -> Result<()> {
    let a = Tensor::from_vec(vec![4.0f64, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0], &[3, 3])?;
    let (values, vectors) = a.eigh("L");
    let (largest, x) = Tensor::lobpcg(&a, None, None, None, None, None, None, None, None, None);
    close(&largest, &values.narrow(0, 2, 1)?)?;
    assert!((x.try_t()?.matmul(&vectors.narrow(1, 2, 1)?).item::<f64>()?.abs() - 1.0).abs() < 1e-9);
    let (factors, pivots) = a.ldl_factor(false);
    let b = numbers(&[3, 2])?;
    close(&a.matmul(&factors.ldl_solve(&pivots, &b, false)), &b)?;
    let singular = Tensor::zeros(&[2, 2], DType::F64)?;
    assert!(singular.try_ldl_factor(false).is_err_and(|error| error.to_string().contains("D[1,1] is zero")));
    assert_eq!(singular.ldl_factor_ex(false, false).2.item::<i32>()?, 1);
    let line = Tensor::from_vec((0..6i64).collect::<Vec<_>>(), &[6])?;
    let front = line.narrow(0, 0, 2)?;
    line.resize_(&[2, 2])?;
    assert_eq!((line.shape().dims(), line.to_vec::<i64>()?), (&[2, 2][..], vec![0, 1, 2, 3]));
    // The memory is the same, until there is not enough of it.
    line.assign(line.full_like(7.0)?)?;
    assert_eq!(front.to_vec::<i64>()?, [7, 7]);
    line.resize_as_(&b)?;
    assert_eq!((line.shape().dims(), line.to_vec::<i64>()?), (&[3, 2][..], vec![7, 7, 7, 7, 4, 5]));
    line.resize_(&[8])?;
    line.assign(line.ones_like())?;
    assert_eq!(front.to_vec::<i64>()?, [7, 7]);
    Ok(())
}

#[test]
fn modes_agree() -> Result<()> {
    let x = numbers(&[2, 3])?;
    let (rows, columns) = (func::jacrev(f, &[&x])?, func::jacfwd(f, &[&x])?);
    for (row, column) in rows.iter().zip(&columns) {
        close(&row[0], &column[0])?;
    }
    let number =
        |x: &[Tensor]| Ok(vec![f(x)?.iter().fold(Tensor::scalar(0.0f64), |sum, y| &sum + &y.square().sum())]);
    let hessian = func::hessian(number, &[&x])?;
    let twice = func::jacrev(|x| func::grad(number, &[&x[0]], &[0]), &[&x])?;
    close(&hessian[0][0], &twice[0][0])?;
    let product = func::hvp(number, &[&x], &[&numbers(&[2, 3])?])?;
    let wanted = (&hessian[0][0] * &numbers(&[2, 3])?).try_sum_dim(&[2, 3], false)?;
    close(&product[0], &wanted)
}

#[test]
fn the_outside_is_reached() -> Result<()> {
    let w = numbers(&[3])?.requires_grad_(true)?;
    let x = numbers(&[3])?;
    let inner = func::grad(|x| Ok(vec![(&x[0].square() * &w).sum()]), &[&x], &[0])?;
    inner[0].sum().backward()?;
    close(&w.grad().unwrap_or_else(|| x.clone()), &(&x * 2.0))?;
    let alone = func::grad(|x| Ok(vec![x[0].square().sum()]), &[&x], &[0])?;
    assert!(!alone[0].requires_grad());
    Ok(())
}

/// What a function of examples writes to its own is written to the batch, once its results are made.
#[test]
fn examples_that_are_written_to_are_the_batch() -> Result<()> {
    let (batch, other) = (numbers(&[2, 3])?, numbers(&[3])?);
    let before = batch.copy();
    let write = |x: &[Tensor]| {
        x[0].assign(&x[0] * &x[1])?;
        Ok(vec![x[0].sum()])
    };
    let sums = func::vmap(write, &[Some(0), None], &[&batch, &other], Randomness::Error)?;
    close(&batch, &(&before * &other))?;
    close(&sums[0], &(&before * &other).sum_dim(&[1], false))?;
    let turned = before.t().copy();
    func::vmap(write, &[Some(1), None], &[&turned, &other], Randomness::Error)?;
    close(&turned, &(&before * &other).t())?;
    Ok(())
}

#[test]
fn memory_from_outside_is_not_written() -> Result<()> {
    let (outside, batch) = (Tensor::zeros(&[3], DType::F64)?, numbers(&[2, 3])?);
    let write = |x: &[Tensor]| {
        outside.assign(&x[0] * 2.0)?;
        Ok(x.to_vec())
    };
    assert!(func::vmap(write, &[Some(0)], &[&batch], Randomness::Error).is_err());
    assert_eq!(outside.to_vec::<f64>()?, [0.0; 3]);
    Ok(())
}

#[test]
fn what_is_computed_again() -> Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let (x, w) = (numbers(&[3])?.requires_grad_(true)?, numbers(&[3])?.requires_grad_(true)?);
    let (inside, weight, counted) = (x.clone(), w.clone(), calls.clone());
    let part = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(vec![(&inside * &weight).sin()])
    };
    let y = checkpoint(part, true)?.remove(0);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    let found = grad(&[&y.sum()], &[&x, &w], &[], Backward::default())?;
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let plain = (&x * &w).sin().sum();
    let wanted = grad(&[&plain], &[&x, &w], &[], Backward::default())?;
    for (found, wanted) in found.iter().zip(&wanted) {
        let (Some(found), Some(wanted)) = (found, wanted) else { unreachable!("both are used") };
        close(found, wanted)?;
    }
    Ok(())
}
