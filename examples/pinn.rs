//! A network that solves the heat equation: u_t = 0.1 u_xx, with u(0, x) = sin πx and ends that are kept at 0.
//!
//! ```text
//! cargo run --release --example pinn -- [steps]
//! ```
//!
//! Raissi et al., "Physics-informed neural networks" (2019). There is no data: the loss is how far the network is
//! from the equation at random points, by its own derivatives, and how far from the values at the border. The
//! gradient of that loss differentiates the second derivatives once more.

use std::cell::RefCell;
use std::f64::consts::PI;

use micrograd_rs::nn::optim::{CosineAnnealingLR, Scheduler};
use micrograd_rs::prelude::*;

const DIFFUSION: f64 = 0.1;
/// How much the border counts: where it is off, so is everything inside.
const BORDER: f64 = 20.0;

fn exact(t: &Tensor, x: &Tensor) -> Tensor {
    (t * (-DIFFUSION * PI * PI)).exp() * (x * PI).sin()
}

/// u(t, x).
fn u(model: &Sequential, t: &Tensor, x: &Tensor) -> Result<Tensor> {
    model.forward(&Tensor::cat(&[t, x], 1)?)
}

/// u_t − 0.1 u_xx, which is 0 where the equation holds.
fn residual(model: &Sequential, t: &Tensor, x: &Tensor) -> Result<Tensor> {
    let again = || Backward { create_graph: true, ..Backward::default() };
    let (t, x) = (t.detach().requires_grad_(true)?, x.detach().requires_grad_(true)?);
    let first = grad(&[&u(model, &t, &x)?.sum()], &[&t, &x], &[], again())?;
    let [Some(u_t), Some(u_x)] = &first[..] else { unreachable!("u depends on t and x") };
    let second = grad(&[&u_x.sum()], &[&x], &[], again())?;
    let [Some(u_xx)] = &second[..] else { unreachable!("u_x depends on x") };
    Ok(u_t - u_xx * DIFFUSION)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let steps: u64 = std::env::args().nth(1).map_or(Ok(3000), |text| text.parse())?;
    manual_seed(0);
    let model = sequential![Linear::new(2, 64)?, Tanh, Linear::new(64, 64)?, Tanh, Linear::new(64, 1)?];
    let adam = RefCell::new(Adam::new(model.parameters(), 1e-2)?);
    let mut schedule = Scheduler::new(&mut *adam.borrow_mut(), CosineAnnealingLR::new(steps.max(1), 0.0)?)?;
    let mut learn = jit(|_: &[Tensor]| {
        let inside =
            residual(&model, &Tensor::rand(&[512, 1], DType::F32)?, &Tensor::rand(&[512, 1], DType::F32)?)?;
        let (t, x) = (Tensor::rand(&[128, 1], DType::F32)?, Tensor::rand(&[128, 1], DType::F32)?);
        let zero = Tensor::zeros(&[128, 1], DType::F32)?;
        let at_first = u(&model, &zero, &x)? - exact(&zero, &x);
        let (left, right) = (u(&model, &t, &zero)?, u(&model, &t, &(&zero + 1.0))?);
        let border = at_first.square().mean() + left.square().mean() + right.square().mean();
        let loss = inside.square().mean() + border * BORDER;
        let mut adam = adam.borrow_mut();
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        Ok(vec![loss])
    });
    // 51 × 51 places, to compare with what is known.
    let line = Tensor::linspace(0.0, 1.0, 51, DType::F32)?;
    let grid = Tensor::meshgrid(&[&line, &line], "ij")?;
    let (t, x) = (grid[0].reshape(&[-1, 1])?, grid[1].reshape(&[-1, 1])?);
    for step in 1..=steps {
        let loss = learn.call(&[])?.remove(0);
        schedule.step(&mut *adam.borrow_mut())?;
        if step % (steps / 5).max(1) == 0 {
            let _guard = no_grad();
            let off = (u(&model, &t, &x)? - exact(&t, &x)).abs().max().item::<f32>()?;
            println!(
                "step {step}: loss {:.1e}, at most {off:.4} from the exact solution",
                loss.item::<f32>()?
            );
        }
    }
    Ok(())
}
