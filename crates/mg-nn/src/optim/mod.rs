//! Optimisers, which change parameters by their gradients, and schedules of their learning rate.
//!
//! A step builds the updates of all parameters and has them computed in one plan, together with the gradients. What
//! changes from step to step (learning rate, bias corrections) are arguments of that plan, so it is made once.
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
//!
//! An optimiser is declared once: a struct of options ([`SGDOptions`], …) is the rule by which a step changes a
//! parameter and what is remembered of it, and [`ByRule`] is the optimiser that follows it, with groups of
//! parameters, state in PyTorch's layout, steps that `jit` records and steps that fail. [`LBFGS`], which asks for
//! the loss several times in a step, is by itself.

mod adagrad;
mod adam;
mod cycles;
mod group;
mod lbfgs;
mod matrix;
mod number;
mod options;
mod rule;
mod schedule;
mod sgd;
mod sign;
mod swa;
mod wolfe;

pub use adagrad::{Adadelta, AdadeltaOptions, Adagrad, AdagradOptions, RMSprop, RMSpropOptions};
pub use adam::{
    Adam, AdamOptions, AdamW, AdamWOptions, Adamax, AdamaxOptions, NAdam, NAdamOptions, RAdam, RAdamOptions,
};
pub use cycles::{
    ConstantLR, CosineAnnealingWarmRestarts, Cycle, CyclicLR, LambdaLR, MultiplicativeLR, OneCycleLR,
    PolynomialLR, ReduceLROnPlateau, SequentialLR,
};
pub use group::{OptionError, ParamGroup, step_together, step_unless};
pub use lbfgs::{LBFGS, LBFGSOptions, LineSearch};
pub use matrix::{Adafactor, AdafactorOptions, AdjustLr, Muon, MuonOptions};
pub use number::Number;
pub(crate) use options::options;
pub use options::{OptionType, OptionValue, Options};
pub use rule::{Count, Rule, Shared, Step};
pub use schedule::{
    Anneal, ChainedScheduler, CosineAnnealingLR, ExponentialLR, LinearLR, MultiStepLR, SWALR, Schedule,
    Scheduler, StepLR,
};
pub use sgd::{SGD, SGDOptions};
pub use sign::{ASGD, ASGDOptions, Lion, LionOptions, Rprop, RpropOptions};
pub use swa::{AveragedModel, Averaging};

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Float, Result};
use mg_graph::Exclusive;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::state::{IncompatibleKeys, State};
use group::Group;

/// What changes parameters by their gradients.
pub trait Optimizer {
    /// Changes every parameter that has a gradient, and computes parameters, gradients and the optimiser's own
    /// state, in one plan.
    ///
    /// # Errors
    ///
    /// Whatever computing them fails with.
    fn step(&mut self) -> Result<()>;

    /// [`Optimizer::step`], left out where a truth value without axes turns out to hold: parameters, what is
    /// remembered of them and the number of steps stay what they were. Nothing waits for the value.
    ///
    /// # Errors
    ///
    /// As [`Optimizer::step`].
    fn step_unless(&mut self, left_out: &Tensor) -> Result<()>;

    /// The parameters of all groups, in the order they were given in.
    fn parameters(&self) -> &[Tensor];

    /// How many groups of parameters there are.
    fn groups(&self) -> usize {
        1
    }

    /// The learning rate of a group.
    fn lr_of(&self, group: usize) -> f64;

    /// Sets the learning rate of a group; that alone plans nothing anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for one that is not finite, and for a group that is not there.
    fn set_lr_of(&mut self, group: usize, lr: f64) -> Result<()>;

    /// The learning rate that a group had when this was first asked for: where its schedules begin.
    fn initial_lr_of(&mut self, group: usize) -> f64;

    /// The learning rate of the first group.
    fn lr(&self) -> f64 {
        self.lr_of(0)
    }

    /// Sets the learning rate of all groups.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for one that is not finite.
    fn set_lr(&mut self, lr: f64) -> Result<()> {
        (0..self.groups()).try_for_each(|group| self.set_lr_of(group, lr))
    }

    /// The learning rate that the first group had when this was first asked for.
    fn initial_lr(&mut self) -> f64 {
        self.initial_lr_of(0)
    }

    /// Removes the gradients of all parameters.
    fn zero_grad(&self) {
        self.parameters().iter().for_each(Tensor::zero_grad);
    }

    /// What the optimiser remembers of each parameter, under PyTorch's names: `0.exp_avg`, `0.step`, …. Options, the
    /// learning rate among them, are not part of it.
    fn state(&self) -> State;

    /// Remembers what [`Optimizer::state`] answered with, for parameters of the same shapes in the same order.
    /// Steps that are replayed go on from it.
    ///
    /// # Errors
    ///
    /// Entries that such an optimiser does not have, that are missing beside others, or of another shape:
    /// [`ErrorKind::Value`] that lists them all. Then nothing was changed.
    fn load_state(&mut self, state: &State) -> Result<()>;
}

/// An optimiser that follows a [`Rule`]: [`SGD`], [`Adam`], ….
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::optim::{AdamW, AdamWOptions, Optimizer};
///
/// let [w, b] = [Tensor::from_slice(&[2.0f32]), Tensor::from_slice(&[1.0f32])];
/// let (w, b) = (w.requires_grad_(true)?, b.requires_grad_(true)?);
/// let mut adamw = AdamW::new(vec![w.clone()], 0.1)?;
/// adamw.add_param_group(vec![b.clone()], AdamWOptions { weight_decay: 0.0, lr: 0.1, ..Default::default() })?;
/// (w * 2.0 + &b).sum().backward()?;
/// adamw.step()?;
/// assert!((b.item::<f32>()? - 0.9).abs() < 1e-6);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct ByRule<R> {
    groups: Vec<Group<R>>,
    parameters: Vec<Tensor>,
}

impl<R: Rule> ByRule<R> {
    /// What a step of all groups has for itself.
    fn exclusives(&self) -> Vec<Arc<Exclusive>> {
        self.groups.iter().map(ParamGroup::exclusive).collect()
    }

    /// With this learning rate and the default of every other option.
    ///
    /// # Errors
    ///
    /// As [`ByRule::with_options`].
    #[track_caller]
    pub fn new(parameters: Vec<Tensor>, lr: f64) -> Result<ByRule<R>> {
        ByRule::with_options(parameters, R::default().with_lr(lr))
    }

    /// With these options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for options out of their range or not finite, no parameters, one twice, and what is no
    /// floating-point leaf.
    #[track_caller]
    pub fn with_options(parameters: Vec<Tensor>, options: R) -> Result<ByRule<R>> {
        let group = Group::new(parameters, options)?;
        Ok(ByRule { parameters: group.parameters().to_vec(), groups: vec![group] })
    }

    /// Adds parameters with options of their own.
    ///
    /// # Errors
    ///
    /// As [`ByRule::with_options`]; a parameter that is there already.
    #[track_caller]
    pub fn add_param_group(&mut self, parameters: Vec<Tensor>, options: R) -> Result<()> {
        let all = [&self.parameters[..], &parameters].concat();
        check_parameters(R::NAME, &all)?;
        self.groups.push(Group::new(parameters, options)?);
        self.parameters = all;
        Ok(())
    }

    /// The options of the first group, with the learning rate that it has now.
    #[must_use]
    pub fn options(&self) -> R {
        self.groups[0].options()
    }

    /// Changes the options of the first group for steps to come. Replayed steps read the learning rate, and what schedules
    /// change beside it (momentum, betas), anew; with other options they are recorded anew.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for options that [`ByRule::with_options`] does not take.
    #[track_caller]
    pub fn set_options(&mut self, options: R) -> Result<()> {
        self.groups[0].set_options(options)
    }

    /// The options of a group, if it is there.
    #[must_use]
    pub fn options_of(&self, group: usize) -> Option<R> {
        self.groups.get(group).map(Group::options)
    }

    /// Changes the options of a group for steps to come.
    ///
    /// # Errors
    ///
    /// As [`ByRule::set_options`]; a group that is not there.
    #[track_caller]
    pub fn set_options_of(&mut self, group: usize, options: R) -> Result<()> {
        self.group(group)?.set_options(options)
    }

    fn together(&mut self) -> Vec<&mut dyn ParamGroup> {
        self.groups.iter_mut().map(|group| group as &mut dyn ParamGroup).collect()
    }

    #[track_caller]
    fn group(&mut self, group: usize) -> Result<&mut Group<R>> {
        let n = self.groups.len();
        let text = || format!("there is no group {group} of parameters among {n}");
        self.groups.get_mut(group).ok_or_else(|| Error::new(R::NAME, ErrorKind::Value(text())))
    }
}

impl<R: Rule> Optimizer for ByRule<R> {
    fn step(&mut self) -> Result<()> {
        step_together(&mut self.together())
    }

    fn step_unless(&mut self, left_out: &Tensor) -> Result<()> {
        step_unless(&mut self.together(), Some(left_out))
    }

    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn lr_of(&self, group: usize) -> f64 {
        self.groups.get(group).map_or(f64::NAN, |group| group.options().lr())
    }

    fn set_lr_of(&mut self, group: usize, lr: f64) -> Result<()> {
        self.group(group)?.set_lr(lr)
    }

    fn initial_lr_of(&mut self, group: usize) -> f64 {
        self.groups.get_mut(group).map_or(f64::NAN, Group::initial_lr)
    }

    fn state(&self) -> State {
        let exclusives = self.exclusives();
        let _alone = Exclusive::take(&exclusives);
        let mut state = State::default();
        let mut before = 0;
        for group in &self.groups {
            state.tensors.extend(group.save(before, Tensor::snapshot).tensors);
            before += group.parameters().len();
        }
        state
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        // A step of another thread comes before all groups or behind them.
        let exclusives = self.exclusives();
        let _alone = Exclusive::take(&exclusives);
        let mut parts: Vec<State> = self.groups.iter().map(|_| State::default()).collect();
        let ends: Vec<usize> = (0..self.groups.len())
            .scan(0, |n, i| {
                *n += self.groups[i].parameters().len();
                Some(*n)
            })
            .collect();
        let begins = |group: usize| ends[group] - self.groups[group].parameters().len();
        let mut keys = IncompatibleKeys::default();
        for (key, t) in &state.tensors {
            let place = key.split_once('.').and_then(|(i, name)| {
                let i = i.parse::<usize>().ok()?;
                let group = ends.iter().position(|&end| i < end)?;
                Some((group, i - begins(group), name))
            });
            let Some((group, i, name)) = place else {
                keys.unexpected.push(key.clone());
                continue;
            };
            parts[group].tensors.insert(format!("{i}.{name}"), t.clone());
        }
        // Nothing is changed where one of them does not fit.
        for (i, (group, part)) in self.groups.iter().zip(&parts).enumerate() {
            load_slots(&group.options(), group.parameters(), part, Whose::Others, begins(i), &mut keys)?;
        }
        keys.check(R::NAME, "optimiser")?;
        self.groups.iter_mut().zip(&parts).try_for_each(|(group, part)| group.load(part, Whose::Others))
    }
}

macro_rules! by_name {
    ($kind:expr, $f:ident($($argument:expr),*)) => {
        match $kind {
            "SGD" => $f::<SGDOptions>($($argument),*),
            "Adam" => $f::<AdamOptions>($($argument),*),
            "AdamW" => $f::<AdamWOptions>($($argument),*),
            "Adamax" => $f::<AdamaxOptions>($($argument),*),
            "NAdam" => $f::<NAdamOptions>($($argument),*),
            "RAdam" => $f::<RAdamOptions>($($argument),*),
            "RMSprop" => $f::<RMSpropOptions>($($argument),*),
            "Adagrad" => $f::<AdagradOptions>($($argument),*),
            "Adadelta" => $f::<AdadeltaOptions>($($argument),*),
            "Rprop" => $f::<RpropOptions>($($argument),*),
            "ASGD" => $f::<ASGDOptions>($($argument),*),
            "Lion" => $f::<LionOptions>($($argument),*),
            "Adafactor" => $f::<AdafactorOptions>($($argument),*),
            "Muon" => $f::<MuonOptions>($($argument),*),
            _ => return None,
        }
    };
}

/// A group of parameters for an optimiser by name, with options by name: for bindings to other languages. None
/// where there is no such optimiser.
///
/// # Errors
///
/// As [`ByRule::with_options`], and values that are no such options.
pub fn param_group(
    kind: &str,
    parameters: Vec<Tensor>,
    options: &[(&str, OptionValue)],
) -> Option<std::result::Result<Box<dyn ParamGroup>, OptionError>> {
    fn made<R: Rule>(
        parameters: Vec<Tensor>,
        options: &[(&str, OptionValue)],
    ) -> std::result::Result<Box<dyn ParamGroup>, OptionError> {
        Ok(Box::new(Group::new(parameters, group::named(R::default(), options)?)?))
    }
    Some(by_name!(kind, made(parameters, options)))
}

/// The options of an optimiser by name, with their defaults. None where there is no such optimiser.
#[must_use]
pub fn defaults(kind: &str) -> Option<Vec<(&'static str, OptionValue)>> {
    fn of<R: Rule>() -> Vec<(&'static str, OptionValue)> {
        by_name(&R::default())
    }
    Some(by_name!(kind, of()))
}

/// All options by name.
pub fn by_name<O: Options>(options: &O) -> Vec<(&'static str, OptionValue)> {
    O::FIELDS.iter().filter_map(|&name| Some((name, options.get(name)?))).collect()
}

/// The optimisers there are by name.
pub const KINDS: [&str; 15] = [
    "SGD",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "RAdam",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Rprop",
    "ASGD",
    "Lion",
    "Adafactor",
    "Muon",
    "LBFGS",
];

/// What an optimiser by name may remember of a parameter, under PyTorch's names. None where there is no such optimiser.
#[must_use]
pub fn remembered(kind: &str) -> Option<Vec<&'static str>> {
    fn of<R: Rule>() -> Vec<&'static str> {
        let counted = R::COUNTS.then_some("step");
        counted.into_iter().chain(R::MEMORY.iter().chain(R::KEPT).copied()).collect()
    }
    if kind == LBFGS::NAME {
        return Some(LBFGS::MEMORY.to_vec());
    }
    Some(by_name!(kind, of()))
}

/// The number of a change of what an optimiser remembers, which no other change has.
fn next_change() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
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
    let mut known = HashMap::new();
    for (i, p) in parameters.iter().enumerate() {
        if !p.is_leaf() || !p.dtype().is_float() {
            let what = if p.is_leaf() { p.dtype().name() } else { "the result of an operation" };
            return Some(format!("takes floating-point leaves, but parameter {i} is {what}"));
        }
        if let Some(j) = known.insert(p.id(), i) {
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

/// What must be finite and at least 0: a weight decay, the learning rate that an optimiser begins with, ….
#[track_caller]
fn at_least_0(op: &'static str, name: &str, value: f64) -> Result<()> {
    checked(op, name, "of at least 0", value, value >= 0.0 && value.is_finite())
}

#[track_caller]
fn finite(op: &'static str, name: &str, value: f64) -> Result<()> {
    checked(op, name, "that is finite", value, value.is_finite())
}

/// What is remembered of one parameter: tensors of its shape by name, and the number of steps.
pub(super) type Loaded = (Vec<Option<Tensor>>, Count);

/// What is remembered of a parameter, where the parameter was put on another device or into another dtype meanwhile.
fn follow(remembered: &mut Tensor, p: &Tensor) -> Result<()> {
    if remembered.dtype() != p.dtype() || remembered.device() != p.device() {
        *remembered = remembered.to_dtype(p.dtype()).to(p.device())?.snapshot();
    }
    Ok(())
}

/// What is remembered under PyTorch's names, for parameters that are counted from `before`: tensors, and numbers as
/// tensors of f32 without axes.
fn save_slots<'a>(
    names: &[&str],
    before: usize,
    slots: impl Iterator<Item = (Vec<Option<Tensor>>, Vec<(&'a str, Tensor)>)>,
) -> State {
    let mut state = State::default();
    for (i, (tensors, numbers)) in slots.enumerate() {
        let i = before + i;
        for (name, t) in names.iter().zip(tensors) {
            if let Some(t) = t {
                state.tensors.insert(format!("{i}.{name}"), t);
            }
        }
        for (name, value) in numbers {
            state.tensors.insert(format!("{i}.{name}"), value);
        }
    }
    state
}

/// Whose the tensors of a state are.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    /// Somebody else's: they are copied.
    Others,
    /// The optimiser's from now on: steps write to them.
    Ours,
}

/// What a state says of each parameter, where it says anything. What does not fit is noted, of parameters that are counted from
/// `before`; then the answer is of no use.
#[track_caller]
fn load_slots<R: Rule>(
    options: &R,
    parameters: &[Tensor],
    state: &State,
    whose: Whose,
    before: usize,
    keys: &mut IncompatibleKeys,
) -> Result<Vec<Option<Loaded>>> {
    let mut slots: Vec<Option<Loaded>> = parameters.iter().map(|_| None).collect();
    let mut numbers: Vec<[bool; 3]> = vec![[false; 3]; parameters.len()];
    let fresh = || (vec![None; R::MEMORY.len()], Count { steps: 0, kept: options.kept() });
    for (key, t) in &state.tensors {
        let place = key.split_once('.').and_then(|(i, name)| Some((i.parse::<usize>().ok()?, name)));
        let Some((i, name)) = place.filter(|(i, _)| *i < parameters.len()) else {
            keys.unexpected.push(key.clone());
            continue;
        };
        let key = format!("{}.{name}", before + i);
        let number = (name == "step" && R::COUNTS).then_some(0);
        let number = number.or_else(|| Some(1 + R::KEPT.iter().position(|n| *n == name)?));
        if let Some(at) = number {
            numbers[i][at] = true;
            if t.numel() != 1 {
                keys.misshape(key, "[]", t.shape());
                continue;
            }
            let (value, count) =
                (t.to_dtype(DType::F64).item::<f64>()?, &mut slots[i].get_or_insert_with(fresh).1);
            match at {
                // Saturates: what is no number of steps counts as none.
                0 => count.steps = value as u64,
                at => count.kept[at - 1] = value,
            }
        } else if let Some(at) = R::MEMORY.iter().position(|n| *n == name) {
            let p = &parameters[i];
            let takes = options.shape(at, p)?;
            if t.shape() != takes {
                keys.misshape(key, takes, t.shape());
            }
            let fits = t.dtype() == p.dtype() && t.device() == p.device() && !t.requires_grad();
            let own = match whose {
                Whose::Ours if fits => t.clone(),
                // Written through from now on.
                Whose::Ours | Whose::Others => t.to_dtype(p.dtype()).to(p.device())?.snapshot(),
            };
            slots[i].get_or_insert_with(fresh).0[at] = Some(own);
        } else {
            keys.unexpected.push(key);
        }
    }
    for (i, (slot, numbers)) in slots.iter().zip(&numbers).enumerate() {
        let Some((tensors, _)) = slot.as_ref().filter(|_| R::COUNTS) else { continue };
        let is_wanting = |at: &usize| options.remembers(*at, &parameters[i]) && tensors[*at].is_none();
        let wanting = (0..R::MEMORY.len()).filter(is_wanting).map(|at| R::MEMORY[at]);
        let counted = ["step"].into_iter().chain(R::KEPT.iter().copied());
        let counted = counted.zip(numbers).filter(|(_, is_there)| !**is_there).map(|(name, _)| name);
        keys.missing.extend(wanting.chain(counted).map(|name| format!("{}.{name}", before + i)));
    }
    Ok(slots)
}

/// Zeros like `p` that will have memory of their own, so that the first step reads them as every later one.
#[track_caller]
fn zeros_like(p: &Tensor) -> Tensor {
    p.zeros_like().copy()
}

/// As [`zeros_like`], of another value.
#[track_caller]
fn full_like(p: &Tensor, value: f64) -> Result<Tensor> {
    Ok(p.zeros_like().try_add(value)?.copy())
}

/// A running mean whose smallest values are 0: what is below about 10⁻²⁹ in f32, which moves no parameter. Where
/// gradients are 0 it would decay to subnormal numbers, stay there, since 0.9 of the smallest one rounds to itself,
/// and make each product with it a hundred times slower.
#[track_caller]
fn settled(mean: Tensor) -> Result<Tensor> {
    // What is lost in the sum lies below half of its last digit.
    let c = match mean.dtype().float() {
        Some(Float::F64) => f64::powi(2.0, -900),
        Some(Float::F32) => f64::powi(2.0, -72),
        Some(Float::BF16) => f64::powi(2.0, -88),
        // Held as f32, whose numbers these are all normal.
        Some(Float::F16) => return Ok(mean),
        None => return Ok(mean),
    };
    mean.try_add(c)?.try_sub(c)
}
