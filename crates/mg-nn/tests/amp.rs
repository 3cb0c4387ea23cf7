//! Mixed precision from Rust: regions, the scaler, and what it leaves out.

use mg_autograd::{Tensor, autocast, is_grad_enabled, jit};
use mg_device::{DType, Device, Result};
use mg_nn::amp::{GradScaler, ScalerOptions};
use mg_nn::optim::{Adam, Optimizer};

fn weight() -> Result<Tensor> {
    Tensor::from_slice(&[0.5f32, 0.25, 1.0, -1.0]).reshape(&[2, 2])?.copy().requires_grad_(true)
}

#[test]
fn a_region_ends_where_its_function_does() -> Result<()> {
    let w = weight()?;
    let (inside, nested) =
        autocast(DType::BF16, || (w.matmul(&w).dtype(), autocast(DType::F16, || w.matmul(&w).dtype())))?;
    assert_eq!((inside, nested?), (DType::BF16, DType::F16));
    assert_eq!(w.matmul(&w).dtype(), DType::F32);
    assert!(autocast(DType::F64, || ()).is_err());
    assert!(is_grad_enabled());
    Ok(())
}

#[test]
fn a_recorded_step_is_of_its_region() -> Result<()> {
    let w = weight()?;
    let mut product = jit(move |x: &[Tensor]| Ok(vec![x[0].matmul(&w)]));
    let x = weight()?.detach();
    for _ in 0..4 {
        assert_eq!(product.call(&[&x])?[0].dtype(), DType::F32);
        let lower = autocast(DType::BF16, || product.call(&[&x]))??;
        assert_eq!(lower[0].dtype(), DType::BF16);
    }
    Ok(())
}

#[test]
fn a_step_that_is_left_out_is_not_counted() -> Result<()> {
    let w = weight()?;
    let mut adam = Adam::new(vec![w.clone()], 0.1)?;
    let options = ScalerOptions { init_scale: 8.0, growth_interval: 2, ..ScalerOptions::default() };
    let scaler = GradScaler::new(options, Device::cpu())?;
    let mut scales = vec![];
    for factor in [1.0, f64::INFINITY, 1.0, 1.0] {
        adam.zero_grad();
        let before = w.to_vec::<f32>()?;
        scaler.scale(&(w.sum() * factor))?.backward()?;
        scaler.step(&mut adam)?;
        assert_eq!(before == w.to_vec::<f32>()?, factor.is_infinite());
        scales.push(scaler.get_scale().item::<f32>()?);
    }
    assert_eq!(scales, [8.0, 4.0, 4.0, 8.0]);
    assert_eq!(adam.state().tensors["0.step"].item::<f32>()?, 3.0);
    Ok(())
}
