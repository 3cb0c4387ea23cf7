//! Regression by L-BFGS: five numbers of a damped oscillation, from 200 noisy measurements.
//!
//! ```text
//! cargo run --release --example lbfgs
//! ```

use std::cell::Cell;

use micrograd_rs::nn::optim::{LBFGS, LBFGSOptions, LineSearch};
use micrograd_rs::prelude::*;

const NAMES: [&str; 5] = ["amplitude", "decay", "frequency", "phase", "level"];
const TRUE: [f64; 5] = [2.0, 0.3, 3.0, 0.5, 1.0];
const NOISE: f64 = 0.1;

fn oscillation(t: &Tensor, p: &Tensor) -> Result<Tensor> {
    let p = p.unbind(0)?;
    Ok(&p[0] * (&p[1] * t * -1.0).exp() * (&p[2] * t + &p[3]).cos() + &p[4])
}

fn main() -> Result<()> {
    manual_seed(0);
    let t = Tensor::linspace(0.0, 8.0, 200, DType::F64)?;
    let y = oscillation(&t, &Tensor::from_slice(&TRUE))? + Tensor::randn(&[200], DType::F64)? * NOISE;
    let calls = Cell::new(0);
    let loss_of = |p: &Tensor| -> Result<Tensor> {
        calls.set(calls.get() + 1);
        Ok((oscillation(&t, p)? - &y).square().mean())
    };

    let start = [1.0f64, 0.1, 2.7, 0.0, 0.0];
    let p = Tensor::from_slice(&start).requires_grad_(true)?;
    let line_search_fn = Some(LineSearch::StrongWolfe);
    let options = LBFGSOptions { line_search_fn, tolerance_change: 1e-14, ..Default::default() };
    let mut lbfgs = LBFGS::with_options(vec![p.clone()], options)?;
    for step in 1..=3 {
        let loss = lbfgs.step(&mut || {
            p.zero_grad();
            let loss = loss_of(&p)?;
            loss.backward()?;
            Ok(loss)
        })?;
        println!("step {step}: loss {:.6} before, {} gradients so far", loss.item::<f64>()?, calls.get());
    }
    let found = p.to_vec::<f64>()?;
    for ((name, found), was) in NAMES.iter().zip(&found).zip(TRUE) {
        println!("{name:>9}: {found:7.4}, and it was {was}");
    }
    assert!(found.iter().zip(TRUE).all(|(found, was)| (found - was).abs() < 0.1));

    let best = loss_of(&p.detach())?.item::<f64>()?;
    calls.set(0);
    let q = Tensor::from_slice(&start).requires_grad_(true)?;
    let mut adam = Adam::new(vec![q.clone()], 0.02)?;
    while calls.get() < 5000 {
        let loss = loss_of(&q)?;
        if loss.item::<f64>()? < best * (1.0 + 1e-6) {
            break;
        }
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
    }
    println!("the same loss, {best:.6}, takes Adam {} gradients", calls.get());
    Ok(())
}
