//! Optimisers, which change parameters by their gradients, and schedules of their learning rate.
//!
//! A step builds the updates of all parameters and has them computed in one plan, together with the gradients. What changes
//! from step to step (learning rate, bias corrections) are arguments of that plan, so it is made once.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::optim::{Optimizer, SGD};
//!
//! let w = Tensor::from_slice(&[2.0f32]).requires_grad_(true)?;
//! let mut sgd = SGD::new(vec![w.clone()], 0.1)?;
//! w.sum().backward()?;
//! sgd.step()?;
//! assert_eq!(w.to_vec::<f32>()?, [1.9]);
//! # Ok::<(), mg_device::Error>(())
//! ```

mod adam;
mod schedule;
mod sgd;

pub use adam::{Adam, AdamOptions, AdamW};
pub use schedule::{CosineAnnealingLR, ExponentialLR, LinearLR, MultiStepLR, Schedule, Scheduler, StepLR};
pub use sgd::{SGD, SGDOptions};

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};
use mg_graph::on_replay;
use std::sync::Arc;

use crate::state::State;

/// What changes parameters by their gradients.
pub trait Optimizer {
    /// Changes every parameter that has a gradient, and computes parameters, gradients and the optimiser's own state, in one
    /// plan.
    ///
    /// # Errors
    ///
    /// Whatever computing them fails with.
    fn step(&mut self) -> Result<()>;

    /// The parameters, in the order they were given in.
    fn parameters(&self) -> &[Tensor];

    /// The learning rate.
    fn lr(&self) -> f64;

    /// Sets the learning rate; that alone plans nothing anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for one below 0 or not finite.
    fn set_lr(&mut self, lr: f64) -> Result<()>;

    /// The learning rate that it had when this was first asked for: where its schedules begin.
    fn initial_lr(&mut self) -> f64;

    /// Removes the gradients of all parameters.
    fn zero_grad(&self) {
        self.parameters().iter().for_each(Tensor::zero_grad);
    }

    /// What the optimiser remembers of each parameter, under PyTorch's names: `0.exp_avg`, `0.step`, …. Options, the
    /// learning rate among them, are not part of it.
    fn state(&self) -> State;

    /// Remembers what [`Optimizer::state`] answered with, for parameters of the same shapes in the same order. Steps that are
    /// replayed go on from it, but for what it has no entry of: a step that was recorded with that keeps its own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for entries that such an optimiser does not have, that are incomplete or of another shape. Then
    /// nothing was changed.
    fn load_state(&mut self, state: &State) -> Result<()>;
}

/// What every optimiser checks its parameters for.
#[track_caller]
fn check_parameters(op: &'static str, parameters: &[Tensor]) -> Result<()> {
    match parameters_mistake(parameters) {
        Some(text) => Err(Error::new(op, ErrorKind::Value(text))),
        None => Ok(()),
    }
}

fn parameters_mistake(parameters: &[Tensor]) -> Option<String> {
    if parameters.is_empty() {
        return Some("takes at least one parameter, got none".into());
    }
    for (i, p) in parameters.iter().enumerate() {
        if !p.is_leaf() || !p.dtype().is_float() {
            let what = if p.is_leaf() { p.dtype().name() } else { "the result of an operation" };
            return Some(format!("takes floating-point leaves, but parameter {i} is {what}"));
        }
        if let Some(j) = parameters[..i].iter().position(|other| other.is(p)) {
            return Some(format!("parameters {j} and {i} are the same tensor"));
        }
    }
    None
}

/// `value` if `fits` says so; `takes` says what does.
#[track_caller]
fn checked(op: &'static str, name: &str, takes: &str, value: f64, fits: bool) -> Result<()> {
    if fits {
        return Ok(());
    }
    Err(Error::new(op, ErrorKind::Value(format!("takes {name} {takes}, got {value}"))))
}

/// What must be finite and at least 0: learning rate, weight decay, ….
#[track_caller]
fn at_least_0(op: &'static str, name: &str, value: f64) -> Result<()> {
    checked(op, name, "of at least 0", value, value >= 0.0 && value.is_finite())
}

/// What is remembered of one parameter: tensors of its shape by name, and the number of steps.
type Slot = (Vec<Option<Tensor>>, u64);

/// What is remembered of a parameter, where the parameter was put on another device or into another dtype meanwhile.
fn follow(remembered: &mut Tensor, p: &Tensor) -> Result<()> {
    if remembered.dtype() != p.dtype() || remembered.device() != p.device() {
        *remembered = remembered.to_dtype(p.dtype()).to(p.device())?.snapshot();
    }
    Ok(())
}

/// Whether `jit` holds a step, in which all options but the learning rate are constants. A recording keeps what it calls at
/// each replay.
#[derive(Default)]
struct Recorded(Arc<()>);

impl Recorded {
    /// Called by each step.
    fn note(&self) {
        let held = self.0.clone();
        on_replay(move || {
            let _ = &held;
        });
    }

    fn is_recorded(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Refuses what a recorded step would not heed; `fits` says whether it changes nothing but the learning rate.
    #[track_caller]
    fn check(&self, op: &'static str, fits: bool) -> Result<()> {
        if fits || !self.is_recorded() {
            return Ok(());
        }
        let text = "a step that jit has recorded heeds a change of the learning rate only; change other options before, or \
                    make another optimiser and another step";
        Err(Error::new(op, ErrorKind::Value(text.into())))
    }
}

fn save_slots<'a>(
    names: &[&str],
    slots: impl Iterator<Item = (Vec<Option<&'a Tensor>>, Option<Tensor>)>,
) -> State {
    let mut state = State::default();
    for (i, (tensors, steps)) in slots.enumerate() {
        for (name, t) in names.iter().zip(tensors) {
            if let Some(t) = t {
                state.tensors.insert(format!("{i}.{name}"), t.snapshot());
            }
        }
        if let Some(steps) = steps {
            state.tensors.insert(format!("{i}.step"), steps);
        }
    }
    state
}

/// The slots of a state. Those of a parameter's tensors named in `required` are there wherever it has steps.
#[track_caller]
fn load_slots(
    op: &'static str,
    names: &[&str],
    required: &[&str],
    parameters: &[Tensor],
    state: &State,
) -> Result<Vec<Slot>> {
    let fail = |text: String| {
        Err(Error::new(op, ErrorKind::Value(format!("the state of another optimiser: {text}"))))
    };
    let mut slots: Vec<Slot> = parameters.iter().map(|_| (vec![None; names.len()], 0)).collect();
    for (key, t) in &state.tensors {
        let place = key.split_once('.').and_then(|(i, name)| {
            let i = i.parse::<usize>().ok().filter(|&i| i < parameters.len())?;
            Some((i, name, names.iter().position(|n| *n == name)))
        });
        match place {
            Some((i, "step", _)) => {
                let steps: i64 = t.to_dtype(DType::I64).item()?;
                slots[i].1 = u64::try_from(steps).unwrap_or(0);
            }
            Some((i, _, Some(at))) => {
                let p = &parameters[i];
                if t.shape() != p.shape() {
                    return fail(format!("{key:?} has shape {}, its parameter {}", t.shape(), p.shape()));
                }
                // Written through from now on, and the state is somebody else's.
                slots[i].0[at] = Some(t.to_dtype(p.dtype()).to(p.device())?.snapshot());
            }
            _ => return fail(format!("{key:?} is unexpected")),
        }
    }
    for (i, (tensors, steps)) in slots.iter().enumerate() {
        for (name, t) in names.iter().zip(tensors) {
            if required.contains(name) && t.is_some() != (*steps > 0) {
                return fail(format!("{i}.{name} and {i}.step go together"));
            }
        }
    }
    Ok(slots)
}

/// Zeros like `p` in memory of their own, so that the first step reads them as every later one.
#[track_caller]
fn zeros_like(p: &Tensor) -> Result<Tensor> {
    let zeros = p.zeros_like().copy();
    zeros.realize()?;
    Ok(zeros)
}

/// A running mean whose smallest values are 0: what is below about 10⁻²⁹ in f32, which moves no parameter. Where gradients
/// are 0 it would decay to subnormal numbers, stay there, since 0.9 of the smallest one rounds to itself, and make each
/// product with it a hundred times slower.
#[track_caller]
fn settled(mean: Tensor) -> Result<Tensor> {
    // What is lost in the sum lies below half of its last digit.
    let c = match mean.dtype() {
        DType::F64 => f64::powi(2.0, -900),
        DType::F32 => f64::powi(2.0, -72),
        DType::BF16 => f64::powi(2.0, -88),
        // Held as f32, whose numbers these are all normal.
        _ => return Ok(mean),
    };
    mean.try_add(c)?.try_sub(c)
}
