//! Schedules that go up and down again, that begin again, or that follow what they are told.

use std::f64::consts::PI;

use mg_device::{Error, ErrorKind, Result};

use super::schedule::{at_least_1, factor};
use super::{Optimizer, Schedule, at_least_0, checked};

/// The base times a function of the epoch.
#[derive(Clone, Copy, Debug)]
pub struct LambdaLR<F>(pub F);

impl<F: Fn(u64) -> f64> Schedule for LambdaLR<F> {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        base * (self.0)(epoch)
    }
}

/// Every epoch times what a function says of it.
#[derive(Clone, Copy, Debug)]
pub struct MultiplicativeLR<F>(pub F);

impl<F: Fn(u64) -> f64> Schedule for MultiplicativeLR<F> {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        (1..=epoch).fold(base, |now, epoch| now * (self.0)(epoch))
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        now * (self.0)(epoch)
    }

    fn start(&self, now: f64, _: f64, _: u64) -> f64 {
        now
    }
}

/// `factor` times the base until epoch `total_iters`, and the base from there on.
#[derive(Clone, Copy, Debug)]
pub struct ConstantLR {
    factor: f64,
    total_iters: u64,
}

impl ConstantLR {
    /// PyTorch's defaults are 1/3 and 5.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a factor that is not above 0 and at most 1.
    #[track_caller]
    pub fn new(factor: f64, total_iters: u64) -> Result<ConstantLR> {
        // From 0 there is no factor that leads up.
        checked("ConstantLR", "a factor", "in (0, 1]", factor, factor > 0.0 && factor <= 1.0)?;
        Ok(ConstantLR { factor, total_iters })
    }
}

impl Schedule for ConstantLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        if epoch < self.total_iters { base * self.factor } else { base }
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        match epoch {
            0 if self.total_iters == 0 => now,
            0 => now * self.factor,
            _ if epoch == self.total_iters => now * (1.0 / self.factor),
            _ => now,
        }
    }

    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        if epoch == 0 { self.next(now, base, 0) } else { now }
    }
}

/// Down to 0 at epoch `total_iters` by a power of what is left.
#[derive(Clone, Copy, Debug)]
pub struct PolynomialLR {
    total_iters: u64,
    power: f64,
}

impl PolynomialLR {
    /// PyTorch's defaults are 5 and 1.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for no iterations and a power below 0 or not finite.
    #[track_caller]
    pub fn new(total_iters: u64, power: f64) -> Result<PolynomialLR> {
        let total_iters = at_least_1("PolynomialLR", "a number of iterations", total_iters)?;
        Ok(PolynomialLR { total_iters, power: factor("PolynomialLR", "a power", power)? })
    }
}

impl Schedule for PolynomialLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let done = epoch.min(self.total_iters) as f64 / self.total_iters as f64;
        base * (1.0 - done).powf(self.power)
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        if epoch == 0 || epoch > self.total_iters {
            return now;
        }
        let left = |epoch: f64| 1.0 - epoch / self.total_iters as f64;
        now * (left(epoch as f64) / left(epoch as f64 - 1.0)).powf(self.power)
    }

    fn start(&self, now: f64, _: f64, _: u64) -> f64 {
        now
    }
}

/// Half a cosine from the base down to `eta_min`, again and again, each `t_mult` times as long as the one before: Loshchilov
/// and Hutter, "SGDR: stochastic gradient descent with warm restarts", 2017.
#[derive(Clone, Copy, Debug)]
pub struct CosineAnnealingWarmRestarts {
    t_0: u64,
    t_mult: u64,
    eta_min: f64,
}

impl CosineAnnealingWarmRestarts {
    /// PyTorch's default for `t_mult` is 1, for the minimum 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a `t_0` or `t_mult` of 0, a minimum below 0 or not finite.
    #[track_caller]
    pub fn new(t_0: u64, t_mult: u64, eta_min: f64) -> Result<CosineAnnealingWarmRestarts> {
        let op = "CosineAnnealingWarmRestarts";
        let (t_0, t_mult) = (at_least_1(op, "a T_0", t_0)?, at_least_1(op, "a T_mult", t_mult)?);
        Ok(CosineAnnealingWarmRestarts { t_0, t_mult, eta_min: factor(op, "a minimum", eta_min)? })
    }

    /// How far a cycle is at an epoch, which may lie between two of them, and how long it is.
    #[must_use]
    pub fn cycle(&self, epoch: f64) -> (f64, f64) {
        let (mut left, mut length) = (epoch, self.t_0 as f64);
        if self.t_mult == 1 {
            return (left % length, length);
        }
        while left >= length && length.is_finite() {
            left -= length;
            length *= self.t_mult as f64;
        }
        (left, length)
    }

    /// The learning rate at an epoch, which may lie between two of them.
    #[must_use]
    pub fn at(&self, base: f64, epoch: f64) -> f64 {
        let (done, length) = self.cycle(epoch);
        CosineAnnealingWarmRestarts::within(base, self.eta_min, done, length)
    }

    /// The learning rate so far within a cycle of this length.
    #[must_use]
    pub fn within(base: f64, eta_min: f64, done: f64, length: f64) -> f64 {
        eta_min + (base - eta_min) * (1.0 + (PI * done / length).cos()) / 2.0
    }
}

impl Schedule for CosineAnnealingWarmRestarts {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        self.at(base, epoch as f64)
    }
}

/// Up from the base to a largest rate and down again, over and over: Smith, "Cyclical learning rates for training neural
/// networks", 2017.
#[derive(Clone, Copy, Debug)]
pub struct CyclicLR {
    max_lr: f64,
    step_size_up: u64,
    step_size_down: u64,
    shape: Cycle,
}

/// How high the cycles of a [`CyclicLR`] go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cycle {
    /// Always up to the largest rate.
    Triangular,
    /// Half as high each time.
    Triangular2,
    /// Times this number every epoch.
    ExpRange(f64),
}

impl CyclicLR {
    /// PyTorch's default for the steps up is 2000, and as many down.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for no steps, a rate or a number below 0 or not finite.
    #[track_caller]
    pub fn new(max_lr: f64, step_size_up: u64, step_size_down: u64, shape: Cycle) -> Result<CyclicLR> {
        at_least_0("CyclicLR", "a largest rate", max_lr)?;
        if let Cycle::ExpRange(gamma) = shape {
            factor("CyclicLR", "a gamma", gamma)?;
        }
        let step_size_up = at_least_1("CyclicLR", "a number of steps up", step_size_up)?;
        Ok(CyclicLR { max_lr, step_size_up, step_size_down, shape })
    }

    /// The cycle that an epoch is in, counted from 1, and how far up it is: from 0 to 1.
    #[must_use]
    pub fn phase(&self, epoch: u64) -> (u64, f64) {
        let length = self.step_size_up.saturating_add(self.step_size_down);
        let (cycle, done) = (1 + epoch / length, epoch % length);
        let up = if done <= self.step_size_up {
            done as f64 / self.step_size_up as f64
        } else {
            (length - done) as f64 / self.step_size_down as f64
        };
        (cycle, up)
    }
}

impl Schedule for CyclicLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let (cycle, up) = self.phase(epoch);
        let scale = match self.shape {
            Cycle::Triangular => 1.0,
            Cycle::Triangular2 => 0.5f64.powf(cycle as f64 - 1.0),
            Cycle::ExpRange(gamma) => gamma.powf(epoch as f64),
        };
        base + (self.max_lr - base) * up * scale
    }
}

/// Once up to a largest rate and then down to far below the first one: Smith and Topin, "Super-convergence: very fast training
/// of neural networks using large learning rates", 2018. The base has no part in it.
#[derive(Clone, Copy, Debug)]
pub struct OneCycleLR {
    max_lr: f64,
    total_steps: u64,
    /// PyTorch's default is 0.3: the part of the steps that goes up.
    pub pct_start: f64,
    /// PyTorch's default is 25: how many times the first rate the largest is.
    pub div_factor: f64,
    /// PyTorch's default is 10⁴: how many times the last rate the first is.
    pub final_div_factor: f64,
    /// Straight lines in place of cosines.
    pub linear: bool,
    /// As long down to the first rate as up, and only then to the last.
    pub three_phase: bool,
}

impl OneCycleLR {
    /// With PyTorch's defaults.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for no steps and a rate below 0 or not finite.
    #[track_caller]
    pub fn new(max_lr: f64, total_steps: u64) -> Result<OneCycleLR> {
        at_least_0("OneCycleLR", "a largest rate", max_lr)?;
        Ok(OneCycleLR {
            max_lr,
            total_steps: at_least_1("OneCycleLR", "a number of steps", total_steps)?,
            pct_start: 0.3,
            div_factor: 25.0,
            final_div_factor: 1e4,
            linear: false,
            three_phase: false,
        })
    }

    /// The phase that a step is in, counted from 0, and how far its value is from where the phase begins: from 0 to 1.
    #[must_use]
    pub fn phase(&self, step: u64) -> (u64, f64) {
        let (total, up) = (self.total_steps as f64, self.pct_start * self.total_steps as f64 - 1.0);
        let ends = [up, 2.0 * self.pct_start * total - 2.0, total - 1.0];
        let ends = if self.three_phase { &ends[..] } else { &[up, total - 1.0] };
        let at = step as f64;
        let i = ends.iter().position(|&end| at <= end).unwrap_or(ends.len() - 1);
        let from = if i == 0 { 0.0 } else { ends[i - 1] };
        let done = (at - from) / (ends[i] - from);
        (i as u64, if self.linear { done } else { (1.0 - (PI * done).cos()) / 2.0 })
    }
}

impl Schedule for OneCycleLR {
    fn lr(&self, _: f64, epoch: u64) -> f64 {
        let first = self.max_lr / self.div_factor;
        let last = first / self.final_div_factor;
        let (phase, done) = self.phase(epoch);
        let (from, to) = match (phase, self.three_phase) {
            (0, _) => (first, self.max_lr),
            (1, true) => (self.max_lr, first),
            (_, true) => (first, last),
            (_, false) => (self.max_lr, last),
        };
        // The step after the last one is past the end, where a line would go on below 0.
        (from + (to - from) * done).max(0.0)
    }
}

/// Times a factor whenever what is told has not become better for some epochs.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::optim::{Optimizer, ReduceLROnPlateau, SGD};
///
/// let w = Tensor::from_slice(&[0.0f32]).requires_grad_(true)?;
/// let mut sgd = SGD::new(vec![w], 0.1)?;
/// let mut plateau = ReduceLROnPlateau { patience: 1, ..Default::default() };
/// for loss in [1.0, 0.5, 0.5, 0.5] {
///     plateau.step(&mut sgd, loss)?;
/// }
/// assert!((sgd.lr() - 0.01).abs() < 1e-12);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ReduceLROnPlateau {
    /// More is better: an accuracy rather than a loss. No.
    pub is_max: bool,
    /// 0.1.
    pub factor: f64,
    /// How many epochs may be no better: 10.
    pub patience: u64,
    /// By how much better is better: 0.0001.
    pub threshold: f64,
    /// Of the best so far, or absolutely: of the best.
    pub is_relative: bool,
    /// How many epochs do not count after the rate was changed: 0.
    pub cooldown: u64,
    /// The smallest rate: 0.
    pub min_lr: f64,
    /// The smallest change of a rate that is made: 10⁻⁸.
    pub eps: f64,
    /// The best so far.
    pub best: Option<f64>,
    /// For how many epochs nothing was better.
    pub num_bad_epochs: u64,
    /// How many epochs do not count any more.
    pub cooldown_counter: u64,
}

impl Default for ReduceLROnPlateau {
    fn default() -> ReduceLROnPlateau {
        ReduceLROnPlateau {
            is_max: false,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            is_relative: true,
            cooldown: 0,
            min_lr: 0.0,
            eps: 1e-8,
            best: None,
            num_bad_epochs: 0,
            cooldown_counter: 0,
        }
    }
}

impl ReduceLROnPlateau {
    /// Goes on to the next epoch, whose loss (or what is looked at) this is.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a factor of 1 or more.
    #[track_caller]
    pub fn step(&mut self, optimizer: &mut dyn Optimizer, metric: f64) -> Result<()> {
        if self.is_due(metric)? {
            for group in 0..optimizer.groups() {
                let lr = optimizer.lr_of(group);
                optimizer.set_lr_of(group, self.reduced(lr, self.min_lr))?;
            }
        }
        Ok(())
    }

    /// Whether rates are to be reduced after an epoch.
    ///
    /// # Errors
    ///
    /// As [`ReduceLROnPlateau::step`].
    #[track_caller]
    pub fn is_due(&mut self, metric: f64) -> Result<bool> {
        if self.factor >= 1.0 {
            let text = format!("takes a factor below 1, got {}", self.factor);
            return Err(Error::new("ReduceLROnPlateau", ErrorKind::Value(text)));
        }
        let sign = if self.is_max { 1.0 } else { -1.0 };
        let limit = self.best.map(|best| match self.is_relative {
            true => best * (1.0 + sign * self.threshold),
            false => best + sign * self.threshold,
        });
        // What is no number is no better than anything.
        if limit.map_or(!metric.is_nan(), |limit| sign * metric > sign * limit) {
            (self.best, self.num_bad_epochs) = (Some(metric), 0);
        } else {
            self.num_bad_epochs += 1;
        }
        if self.cooldown_counter > 0 {
            self.cooldown_counter -= 1;
            self.num_bad_epochs = 0;
        }
        let is_due = self.num_bad_epochs > self.patience;
        if is_due {
            (self.cooldown_counter, self.num_bad_epochs) = (self.cooldown, 0);
        }
        Ok(is_due)
    }

    /// A rate after it has been reduced.
    #[must_use]
    pub fn reduced(&self, lr: f64, min_lr: f64) -> f64 {
        let new = (lr * self.factor).max(min_lr);
        if lr - new > self.eps { new } else { lr }
    }
}

/// One schedule after another: the next one begins, at its epoch 0, at each of the milestones.
pub struct SequentialLR {
    schedules: Vec<Box<dyn Schedule + Send + Sync>>,
    milestones: Vec<u64>,
}

impl SequentialLR {
    /// Milestones between schedules, one fewer than these.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for another number of milestones, or falling ones.
    #[track_caller]
    pub fn new(schedules: Vec<Box<dyn Schedule + Send + Sync>>, milestones: &[u64]) -> Result<SequentialLR> {
        let wrong = |text: String| Err(Error::new("SequentialLR", ErrorKind::Value(text)));
        if schedules.len() != milestones.len() + 1 {
            let (n, m) = (schedules.len(), milestones.len());
            return wrong(format!("takes one milestone between two schedules, got {m} for {n}"));
        }
        if !milestones.is_sorted() {
            return wrong(format!("takes rising milestones, got {milestones:?}"));
        }
        Ok(SequentialLR { schedules, milestones: milestones.to_vec() })
    }

    /// The schedule of an epoch, and the epoch as it counts.
    fn of(&self, epoch: u64) -> (&dyn Schedule, u64) {
        let i = self.milestones.partition_point(|&m| m <= epoch);
        let from = if i == 0 { 0 } else { self.milestones[i - 1] };
        (&*self.schedules[i], epoch - from)
    }
}

impl Schedule for SequentialLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let (schedule, epoch) = self.of(epoch);
        schedule.lr(base, epoch)
    }

    fn next(&self, now: f64, base: f64, epoch: u64) -> f64 {
        match self.of(epoch) {
            (schedule, 0) => schedule.lr(base, 0),
            (schedule, epoch) => schedule.next(now, base, epoch),
        }
    }

    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        let (schedule, epoch) = self.of(epoch);
        schedule.start(now, base, epoch)
    }
}
