//! What is done to gradients and parameters as a whole: `torch.nn.utils`.

pub mod parametrizations;
pub mod parametrize;
pub mod prune;
pub mod rnn;

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Error, ErrorKind, Result};

/// The norm of all tensors as one vector: of order 2, or another (infinity is the largest magnitude). Nothing is read: it is part of a
/// step's plan. Of no tensors, 0.
///
/// # Errors
///
/// Tensors that are not of floats; unlike devices, of which none can be used.
#[track_caller]
pub fn get_total_norm(tensors: &[Tensor], norm_type: f64) -> Result<Tensor> {
    let Some(first) = tensors.first() else { return Tensor::zeros(&[], DType::default_float()) };
    let _guard = no_grad();
    let norm = |t: &Tensor| t.try_vector_norm(norm_type, &[], false, None)?.to(first.device());
    let norms = tensors.iter().map(norm).collect::<Result<Vec<Tensor>>>()?;
    Tensor::stack(&norms.iter().collect::<Vec<_>>(), 0)?.try_vector_norm(norm_type, &[], false, None)
}

/// Scales the gradients of all parameters, in place, so that their norm as one vector is no more than `max_norm`; answers with what it
/// was. Parameters without a gradient do not count. Nothing is read: it is part of the step's plan, under `jit` too.
///
/// Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks" (2013).
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{Linear, Module, utils};
///
/// let layer = Linear::new(3, 1)?;
/// let x = Tensor::from_vec(vec![30.0f32, 40.0, 0.0], &[1, 3])?;
/// layer.forward(&x)?.sum().backward()?;
/// let was = utils::clip_grad_norm_(&layer.parameters(), 1.0, 2.0)?.item::<f32>()?;
/// assert!((was - 50.01).abs() < 1e-2);
/// let grads: Vec<Tensor> = layer.parameters().iter().filter_map(Tensor::grad).collect();
/// assert!((utils::get_total_norm(&grads, 2.0)?.item::<f32>()? - 1.0).abs() < 1e-4);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// As [`get_total_norm`].
#[track_caller]
pub fn clip_grad_norm_(parameters: &[Tensor], max_norm: f64, norm_type: f64) -> Result<Tensor> {
    let grads: Vec<Tensor> = parameters.iter().filter_map(Tensor::grad).collect();
    let total = get_total_norm(&grads, norm_type)?;
    clip_grads_with_norm_(parameters, max_norm, &total)?;
    Ok(total)
}

/// As [`clip_grad_norm_`], of gradients whose norm is known: scales them, in place, so that it becomes no more than `max_norm`.
///
/// # Errors
///
/// Devices that cannot be used; memory.
#[track_caller]
pub fn clip_grads_with_norm_(parameters: &[Tensor], max_norm: f64, total_norm: &Tensor) -> Result<()> {
    let _guard = no_grad();
    let factor = Tensor::full(&[], max_norm, DType::F64)?.to_dtype(total_norm.dtype());
    let factor = factor.to(total_norm.device())?.try_div(&total_norm.try_add(1e-6)?)?.try_minimum(1.0)?;
    for grad in parameters.iter().filter_map(Tensor::grad) {
        grad.assign(grad.try_mul(factor.to(grad.device())?.to_dtype(grad.dtype()))?)?;
    }
    Ok(())
}

/// Bounds the elements of the gradients of all parameters to ±`clip_value`, in place. As in PyTorch a bound below 0 is what all of them
/// become, and one that is no number makes them NaN.
///
/// # Errors
///
/// Memory.
#[track_caller]
pub fn clip_grad_value_(parameters: &[Tensor], clip_value: f64) -> Result<()> {
    let _guard = no_grad();
    for grad in parameters.iter().filter_map(Tensor::grad) {
        grad.assign(grad.try_maximum(-clip_value)?.try_minimum(clip_value)?)?;
    }
    Ok(())
}

/// All parameters in one line, in order.
///
/// # Errors
///
/// No parameters; unlike dtypes or devices.
#[track_caller]
pub fn parameters_to_vector(parameters: &[Tensor]) -> Result<Tensor> {
    let lines = parameters.iter().map(|p| p.reshape(&[-1])).collect::<Result<Vec<Tensor>>>()?;
    Tensor::cat(&lines.iter().collect::<Vec<_>>(), 0)
}

/// Writes a line, as [`parameters_to_vector`] makes it, into parameters.
///
/// # Errors
///
/// Another number of elements than the parameters have; then nothing is written.
#[track_caller]
pub fn vector_to_parameters(vector: &Tensor, parameters: &[Tensor]) -> Result<()> {
    let count: usize = parameters.iter().map(Tensor::numel).sum();
    if *vector.shape() != [count] {
        let text = format!("takes a line of {count} numbers, got shape {}", vector.shape());
        return Err(Error::new("vector_to_parameters", ErrorKind::Shape(text)));
    }
    let _guard = no_grad();
    let mut at = 0;
    for p in parameters {
        let sizes: Vec<isize> = p.shape().iter().map(|&n| n as isize).collect();
        p.assign(vector.narrow(0, at as isize, p.numel())?.reshape(&sizes)?.to(p.device())?)?;
        at += p.numel();
    }
    Ok(())
}
