//! What tests against PyTorch's numbers have in common.

use mg_autograd::{Tensor, no_grad};
use mg_nn::Module;

/// `cos(k i)` of each element's number.
pub fn waves(shape: &[usize], k: f64) -> Tensor {
    let n: usize = shape.iter().product();
    Tensor::from_vec((0..n).map(|i| (i as f64 * k).cos() as f32).collect(), shape).unwrap()
}

/// Gives all parameters, one after the other, halves of sines.
pub fn filled<M: Module>(module: M) -> M {
    let (_guard, mut k) = (no_grad(), 0);
    for (_, p) in module.named_parameters() {
        let drawn = (k..k + p.numel()).map(|i| ((i as f64 * 0.7).sin() * 0.5) as f32).collect();
        p.assign(Tensor::from_vec(drawn, &p.shape()).unwrap()).unwrap();
        k += p.numel();
    }
    module
}

/// To what `f32` keeps of what PyTorch printed.
#[track_caller]
pub fn close(got: &Tensor, want: &[f32]) {
    let got = got.to_vec::<f32>().unwrap();
    let fits = got.iter().zip(want).all(|(g, w)| (g - w).abs() <= 3e-5 + 1e-5 * w.abs());
    assert!(got.len() == want.len() && fits, "got {got:?}, want {want:?}");
}

/// Of parameters, in their order.
pub fn names(module: &dyn Module) -> Vec<String> {
    module.named_parameters().into_iter().map(|(name, _)| name).collect()
}
