//! A tour in five minutes: tensors, views, gradients, what runs, and a network that learns.
//!
//! ```text
//! cargo run --release --example tour
//! ```

use micrograd_rs::nn::optim::{CosineAnnealingLR, Scheduler};
use micrograd_rs::prelude::*;

fn main() -> Result<()> {
    tensors()?;
    views()?;
    gradients()?;
    launches()?;
    training()
}

fn title(text: &str) {
    println!("\n── {text} ──\n");
}

fn tensors() -> Result<()> {
    title("Tensors broadcast, as in NumPy and PyTorch");
    let a = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], &[1, 3])?;
    let b = Tensor::from_vec(vec![4.0f32, 5.0], &[2, 1])?;
    println!("{a} + {b} =\n{}", &a + &b);
    // What cannot be is told at the line that asks for it; the operators panic, their `try_` twins answer.
    let mistake = a.try_matmul(&a).map(drop).unwrap_err();
    println!("{mistake}");
    Ok(())
}

fn views() -> Result<()> {
    title("Views share memory, and writing goes through them");
    let m = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    let column = m.t().select(0, 1)?;
    column.assign(0.0)?;
    println!("{m}");
    println!("every second column, backwards:\n{}", m.slice(1, None, None, -2)?);
    Ok(())
}

fn gradients() -> Result<()> {
    title("Gradients, and gradients of gradients");
    let x = Tensor::from_slice(&[1.5f32, 2.0, -3.0]).requires_grad_(true)?;
    x.powf(3.0).sum().backward()?;
    println!("x       = {}", x.detach());
    if let Some(gradient) = x.grad() {
        println!("dx³/dx  = {gradient}");
    }
    let how = Backward { create_graph: true, ..Backward::default() };
    if let [Some(first)] = &grad(&[&x.powf(3.0).sum()], &[&x], &[], how)?[..]
        && let [Some(second)] = &grad(&[&first.sum()], &[&x], &[], Backward::default())?[..]
    {
        println!("d²x³/dx² = {second}");
    }
    Ok(())
}

fn launches() -> Result<()> {
    title("Nothing runs until a value is needed; then as little as can be");
    let a = Tensor::rand(&[1000, 1000], DType::F32)?.requires_grad_(true)?;
    let b = Tensor::rand(&[1000, 1000], DType::F32)?.requires_grad_(true)?;
    Tensor::realize_all([&a, &b])?;
    let y = (&a * &b + &a).relu().powf(2.0).sum();
    y.backward()?;
    if let (Some(da), Some(db)) = (a.grad(), b.grad()) {
        println!("{}", explain(&[&y, &da, &db])?);
    }
    println!("{y}");
    Ok(())
}

fn training() -> Result<()> {
    title("A network learns where it is inside a ring");
    manual_seed(7);
    let points = Tensor::uniform(&[512, 2], -1.5, 1.5, DType::F32)?;
    let radius = points.square().sum_dim(&[1], true).sqrt();
    let inside = (radius - 0.9).abs().lt(0.35).to_dtype(DType::F32);
    Tensor::realize_all([&points, &inside])?;

    let model = sequential![Linear::new(2, 32)?, Tanh, Linear::new(32, 32)?, Tanh, Linear::new(32, 1)?];
    println!("{}", model.describe());
    let mut adam = Adam::new(model.parameters(), 0.02)?;
    let mut schedule = Scheduler::new(&mut adam, CosineAnnealingLR::new(400, 0.0)?)?;
    for step in 0..=400 {
        let loss = BCEWithLogitsLoss::default().forward(&model.forward(&points)?, &inside)?;
        adam.zero_grad();
        loss.backward()?;
        adam.step()?;
        schedule.step(&mut adam)?;
        if step % 100 == 0 {
            println!("step {step:>3}  loss {:.4}", loss.item::<f32>()?);
        }
    }

    // What was learnt goes through a file, into a model that knew nothing.
    let path = std::env::temp_dir().join(format!("tour-{}.safetensors", std::process::id()));
    model.state().save(&path)?;
    let copy = sequential![Linear::new(2, 32)?, Tanh, Linear::new(32, 32)?, Tanh, Linear::new(32, 1)?];
    copy.load_state(&State::load(&path)?)?;
    // A file left behind in the temporary folder is no reason to stop.
    let _ = std::fs::remove_file(&path);
    draw(&copy)
}

/// Where the model says "inside", as a picture.
fn draw(model: &dyn Module) -> Result<()> {
    let _guard = no_grad();
    const ROWS: usize = 16;
    const COLUMNS: usize = 2 * ROWS;
    let axis = |n: usize| (Tensor::arange(n).to_dtype(DType::F32) + 0.5) * (3.0 / n as f64) - 1.5;
    let x = axis(COLUMNS).unsqueeze(0)?.expand(&[ROWS as isize, COLUMNS as isize])?;
    let y = axis(ROWS).unsqueeze(1)?.expand(&[ROWS as isize, COLUMNS as isize])?;
    let grid = Tensor::stack(&[&x, &y], 2)?.reshape(&[-1, 2])?;
    let levels = model.forward(&grid)?.sigmoid().to_vec::<f32>()?;
    for row in levels.chunks(COLUMNS) {
        let line: String = row.iter().map(|p| [' ', '░', '▒', '▓', '█'][(p * 4.99) as usize]).collect();
        println!("  {line}");
    }
    Ok(())
}
