//! Functions of functions: derivatives in both modes, of any order, and batches. `torch.func` in PyTorch.
//!
//! They take a function of tensors and compose: each calls it once, and rewrites what it has recorded. Tensors that the function knows from
//! elsewhere are constants to these derivatives; a `backward` around them still reaches those.
//!
//! ```
//! use mg_autograd::{Tensor, func};
//!
//! // Per-example gradients of a loss.
//! let weight = Tensor::from_slice(&[1.0f64, -2.0]);
//! let batch = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 4.0], &[2, 2])?;
//! let loss = |x: &[Tensor]| Ok(vec![(&x[0] * &x[1]).sum().square()]);
//! let one = |x: &[Tensor]| func::grad(loss, &[&x[0], &x[1]], &[0]);
//! let each = func::vmap(one, &[None, Some(0)], &[&weight, &batch], Default::default())?;
//! assert_eq!(each[0].to_vec::<f64>()?, [-6.0, -12.0, -30.0, -40.0]);
//! # Ok::<(), mg_device::Error>(())
//! ```

use crate::gradient::Backward;
use crate::tensor::Tensor;
pub use crate::transform::{Level, Randomness, Traced, is_tracing};
use mg_device::{Error, ErrorKind, Result};

/// A number, which is what a gradient is of.
fn number(op: &'static str, results: &[Tensor]) -> Result<Tensor> {
    match results {
        [one] if one.numel() == 1 => Ok(one.clone()),
        [one] => {
            let text = format!("takes a function whose result is one number, got shape {}", one.shape());
            Err(Error::new(op, ErrorKind::Shape(text)))
        }
        several => {
            let text = format!("takes a function with one result, got {}", several.len());
            Err(Error::new(op, ErrorKind::Value(text)))
        }
    }
}

/// Some of the inputs, put back among all of them.
fn among(inputs: &[&Tensor], at: &[usize], inside: Vec<Tensor>) -> Vec<Tensor> {
    let mut all: Vec<Tensor> = inputs.iter().map(|&t| t.clone()).collect();
    at.iter().zip(inside).for_each(|(&i, t)| all[i] = t);
    all
}

fn some<'a>(op: &'static str, inputs: &[&'a Tensor], at: &[usize]) -> Result<Vec<&'a Tensor>> {
    let one = |&i: &usize| {
        let text = || format!("argument {i} of {}", inputs.len());
        inputs.get(i).copied().ok_or_else(|| Error::new(op, ErrorKind::Value(text())))
    };
    at.iter().map(one).collect()
}

/// The gradients of a function, whose result is one number, with respect to the inputs `at` these positions, and the result.
///
/// # Errors
///
/// A result that is no number; an input that is not of floats; those of the function.
#[track_caller]
pub fn grad_and_value(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    at: &[usize],
) -> Result<(Vec<Tensor>, Tensor)> {
    let (level, inside) = Level::begin("grad", &some("grad", inputs, at)?)?;
    let result = number("grad", &f(&among(inputs, at, inside))?)?;
    level.outside();
    let gradients = level.vjp(&[&result], &[&result.ones_like()], true)?;
    let result = level.results(&[&result]).remove(0);
    Ok((gradients, result))
}

/// As [`grad_and_value`], without the value.
///
/// # Errors
///
/// As [`grad_and_value`].
#[track_caller]
pub fn grad(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    at: &[usize],
) -> Result<Vec<Tensor>> {
    grad_and_value(f, inputs, at).map(|(gradients, _)| gradients)
}

/// A function's results, and what takes gradients of them to those of the inputs.
pub struct Pullback {
    level: Level,
    results: Vec<Tensor>,
}

impl Pullback {
    /// The gradients of the inputs, given those of the results. It can be asked any number of times.
    ///
    /// # Errors
    ///
    /// Gradients that do not fit the results.
    pub fn call(&self, gradients: &[&Tensor]) -> Result<Vec<Tensor>> {
        self.level.vjp(&self.results.iter().collect::<Vec<_>>(), gradients, false)
    }
}

/// A function's results, and a function from their gradients to those of the inputs: `vᵀJ`.
///
/// ```
/// use mg_autograd::{Tensor, func};
///
/// let x = Tensor::from_slice(&[1.0f64, 2.0]);
/// let (y, pullback) = func::vjp(|x| Ok(vec![&x[0] * &x[0]]), &[&x])?;
/// assert_eq!(y[0].to_vec::<f64>()?, [1.0, 4.0]);
/// assert_eq!(pullback.call(&[&Tensor::from_slice(&[1.0f64, 10.0])])?[0].to_vec::<f64>()?, [2.0, 40.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// An input that is not of floats; those of the function.
#[track_caller]
pub fn vjp(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
) -> Result<(Vec<Tensor>, Pullback)> {
    let (level, inside) = Level::begin("vjp", inputs)?;
    let results = f(&inside)?;
    level.outside();
    let seen = level.results(&results.iter().collect::<Vec<_>>());
    Ok((seen, Pullback { level, results }))
}

/// A function's results, and how they change where the inputs change by `tangents`: `Jv`, in forward mode.
///
/// # Errors
///
/// Tangents that do not fit the inputs; an input that is not of floats; those of the function.
#[track_caller]
pub fn jvp(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    tangents: &[&Tensor],
) -> Result<(Vec<Tensor>, Vec<Tensor>)> {
    let (level, inside) = Level::begin("jvp", inputs)?;
    let results = f(&inside)?;
    level.outside();
    let results: Vec<&Tensor> = results.iter().collect();
    let changes = level.jvp(&results, tangents, true)?;
    Ok((level.results(&results), changes))
}

/// The derivatives of each result with respect to each input, of the result's shape and then the input's. By gradients: one walk for
/// all elements of a result, in a batch.
///
/// # Errors
///
/// As [`vjp`]; a result that is not of floats.
#[track_caller]
pub fn jacrev(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
) -> Result<Vec<Vec<Tensor>>> {
    let (level, inside) = Level::begin("jacrev", inputs)?;
    let results = f(&inside)?;
    level.outside();
    Ok(level.rows(&results.iter().collect::<Vec<_>>(), None)?.0)
}

/// As [`jacrev`], by tangents: better where there are more results than inputs.
///
/// # Errors
///
/// As [`jacrev`].
#[track_caller]
pub fn jacfwd(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
) -> Result<Vec<Vec<Tensor>>> {
    let (level, inside) = Level::begin("jacfwd", inputs)?;
    let results = f(&inside)?;
    level.outside();
    Ok(level.columns(&results.iter().collect::<Vec<_>>(), None)?.0)
}

/// The second derivatives of a function, whose result is one number, with respect to each pair of inputs: tangents of gradients.
///
/// ```
/// use mg_autograd::{Tensor, func};
///
/// let x = Tensor::from_slice(&[1.0f64, 2.0]);
/// let h = func::hessian(|x| Ok(vec![(&x[0] * &(&x[0] * &x[0])).sum()]), &[&x])?;
/// assert_eq!(h[0][0].to_vec::<f64>()?, [6.0, 0.0, 0.0, 12.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// As [`grad`].
#[track_caller]
pub fn hessian(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
) -> Result<Vec<Vec<Tensor>>> {
    let all: Vec<usize> = (0..inputs.len()).collect();
    jacfwd(|x| grad(f, &x.iter().collect::<Vec<_>>(), &all), inputs)
}

/// The second derivatives of a function, whose result is one number, times a vector: the tangent of the gradient, without the matrix.
///
/// # Errors
///
/// As [`grad`] and [`jvp`].
#[track_caller]
pub fn hvp(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    inputs: &[&Tensor],
    vector: &[&Tensor],
) -> Result<Vec<Tensor>> {
    let all: Vec<usize> = (0..inputs.len()).collect();
    Ok(jvp(|x| grad(f, &x.iter().collect::<Vec<_>>(), &all), inputs, vector)?.1)
}

/// As [`grad`](crate::grad), of many gradients of the outputs at once: those that are given have another first axis, which counts them, and so
/// have the answers. One walk for all of them.
///
/// # Errors
///
/// As [`grad`](crate::grad); numbers of gradients that differ, or none given.
#[track_caller]
pub fn grads_of_batch(
    outputs: &[&Tensor],
    inputs: &[&Tensor],
    seeds: &[Option<&Tensor>],
    how: Backward,
) -> Result<Vec<Option<Tensor>>> {
    let given: Vec<&Tensor> = seeds.iter().copied().flatten().collect();
    let sizes: Vec<usize> = given.iter().filter_map(|t| t.shape().first().copied()).collect();
    let (Some(&size), true) =
        (sizes.first(), sizes.len() == given.len() && sizes.windows(2).all(|w| w[0] == w[1]))
    else {
        let text = "a batch of gradients has a first axis that counts them, of one size for all outputs";
        return Err(Error::new("grad", ErrorKind::Shape(text.into())));
    };
    let shapes: Vec<(&Tensor, Option<usize>)> = given.iter().map(|&t| (t, Some(0))).collect();
    let (traced, inside) = Traced::begin(&shapes)?;
    let mut inside = inside.iter();
    let seeds: Vec<Option<&Tensor>> = seeds.iter().map(|seed| seed.and_then(|_| inside.next())).collect();
    let found = crate::grad(outputs, inputs, &seeds, how)?;
    let results: Vec<&Tensor> = found.iter().flatten().collect();
    let (made, _) = traced.batched(&results, &given, size, Randomness::Same)?;
    let mut made = made.into_iter().zip(&results).map(|(made, result)| traced.in_front(made, result, size));
    found.iter().map(|g| g.as_ref().and_then(|_| made.next()).transpose()).collect()
}

/// Applies a function of examples to batches of them: `axes` says along which axis the examples of each input lie, `None` for an input
/// that is the same for all. The results have the examples along their first axis. The function is called once; what it writes to an
/// example is written to the batch.
///
/// # Errors
///
/// Batches of different sizes, or none; an axis that is not there; a function that reads values, or draws random numbers unless
/// `randomness` says what they are; those of the function.
#[track_caller]
pub fn vmap(
    f: impl FnOnce(&[Tensor]) -> Result<Vec<Tensor>>,
    axes: &[Option<usize>],
    inputs: &[&Tensor],
    randomness: Randomness,
) -> Result<Vec<Tensor>> {
    let fail = |text: String| Err(Error::new("vmap", ErrorKind::Value(text)));
    if axes.len() != inputs.len() {
        return fail(format!("{} axes for {} inputs", axes.len(), inputs.len()));
    }
    let shapes: Vec<(&Tensor, Option<usize>)> = inputs.iter().copied().zip(axes.iter().copied()).collect();
    let (traced, inside) = Traced::begin(&shapes)?;
    let mut size = None;
    let mut given = vec![];
    for (tensor, axis) in &shapes {
        let Some(axis) = axis else { continue };
        let n = tensor.shape()[*axis];
        if size.is_some_and(|size| size != n) {
            return fail(format!("batches of {} and {n} examples", size.unwrap_or(0)));
        }
        size = Some(n);
        given.push(tensor.movedim(&[*axis as isize], &[0])?);
    }
    let Some(size) = size else { return fail("takes at least one input with an axis of examples".into()) };
    let results = f(&inside)?;
    let stand_ins: Vec<Tensor> =
        inside.iter().zip(axes).filter_map(|(t, axis)| axis.map(|_| t.clone())).collect();
    let written = traced.written(&stand_ins);
    let results: Vec<&Tensor> = results.iter().chain(written.iter().map(|&i| &stand_ins[i])).collect();
    let (made, _) = traced.batched(&results, &given.iter().collect::<Vec<_>>(), size, randomness)?;
    let made = made.into_iter().zip(&results).map(|(made, result)| traced.in_front(made, result, size));
    let mut made = made.collect::<Result<Vec<Tensor>>>()?;
    let values = made.split_off(made.len() - written.len());
    // The function is at its end: what it has written is the caller's.
    drop(traced);
    for (i, value) in written.into_iter().zip(values) {
        given[i].assign(&value)?;
    }
    Ok(made)
}
