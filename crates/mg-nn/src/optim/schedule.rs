//! Schedules: how the learning rate goes on from epoch to epoch.

use mg_device::{Error, ErrorKind, Result};

use super::Optimizer;

/// A learning rate for every epoch (or step, or whatever is counted).
///
/// As PyTorch's, schedules go on from the rate that the optimiser has: what else acts on it, another schedule or a rate set
/// by hand, is multiplied on.
pub trait Schedule {
    /// The learning rate of `epoch`, counted from 0, of an optimiser that began with `base` and that nothing else acts on.
    fn lr(&self, base: f64, epoch: u64) -> f64;

    /// The learning rate of `epoch` where that of the epoch before ended as `now`. A schedule that does not say how it goes on
    /// starts from `base` in every epoch.
    fn next(&self, now: f64, base: f64, epoch: u64) -> f64 {
        let _ = now;
        self.lr(base, epoch)
    }

    /// The learning rate where the schedule begins, in epoch 0 or, where training is resumed, in another.
    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        self.next(now, base, epoch)
    }
}

/// Sets an optimiser's learning rates, each group's from its own base, by a [`Schedule`].
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::optim::{Optimizer, SGD, Scheduler, StepLR};
///
/// let w = Tensor::from_slice(&[0.0f32]).requires_grad_(true)?;
/// let mut sgd = SGD::new(vec![w], 0.1)?;
/// let mut scheduler = Scheduler::new(&mut sgd, StepLR::new(3, 0.1)?)?;
/// for epoch in 0..4 {
///     assert!((sgd.lr() - if epoch < 3 { 0.1 } else { 0.01 }).abs() < 1e-12);
///     scheduler.step(&mut sgd)?;
/// }
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler<S> {
    schedule: S,
    bases: Vec<f64>,
    epoch: u64,
}

impl<S: Schedule> Scheduler<S> {
    /// At epoch 0, whose learning rate the optimiser gets. The schedule's base is [`Optimizer::initial_lr_of`] the group.
    ///
    /// # Errors
    ///
    /// A learning rate that the optimiser does not take.
    #[track_caller]
    pub fn new(optimizer: &mut dyn Optimizer, schedule: S) -> Result<Scheduler<S>> {
        let mut bases = Vec::with_capacity(optimizer.groups());
        for group in 0..optimizer.groups() {
            let base = optimizer.initial_lr_of(group);
            optimizer.set_lr_of(group, schedule.start(optimizer.lr_of(group), base, 0))?;
            bases.push(base);
        }
        Ok(Scheduler { schedule, bases, epoch: 0 })
    }

    /// Goes on to the next epoch, from the rate that the optimiser has.
    ///
    /// # Errors
    ///
    /// As [`Scheduler::new`].
    #[track_caller]
    pub fn step(&mut self, optimizer: &mut dyn Optimizer) -> Result<()> {
        let epoch = self.epoch + 1;
        for (group, &base) in self.bases.iter().enumerate() {
            optimizer.set_lr_of(group, self.schedule.next(optimizer.lr_of(group), base, epoch))?;
        }
        self.epoch = epoch;
        Ok(())
    }

    /// Goes to an epoch, where training that is resumed left off: the optimiser gets the rate that it has there if nothing else
    /// acts on it.
    ///
    /// # Errors
    ///
    /// As [`Scheduler::new`].
    #[track_caller]
    pub fn set_epoch(&mut self, optimizer: &mut dyn Optimizer, epoch: u64) -> Result<()> {
        for (group, &base) in self.bases.iter().enumerate() {
            optimizer.set_lr_of(group, self.schedule.lr(base, epoch))?;
        }
        self.epoch = epoch;
        Ok(())
    }

    /// The epoch.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

#[track_caller]
pub(super) fn at_least_1(op: &'static str, what: &str, n: u64) -> Result<u64> {
    if n == 0 {
        return Err(Error::new(op, ErrorKind::Value(format!("takes {what} of at least 1, got 0"))));
    }
    Ok(n)
}

#[track_caller]
pub(super) fn factor(op: &'static str, name: &str, value: f64) -> Result<f64> {
    super::at_least_0(op, name, value)?;
    Ok(value)
}

/// Times `gamma` every `step_size` epochs.
#[derive(Clone, Copy, Debug)]
pub struct StepLR {
    step_size: u64,
    gamma: f64,
}

impl StepLR {
    /// PyTorch's default gamma is 0.1.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a `step_size` of 0, a gamma below 0 or not finite.
    #[track_caller]
    pub fn new(step_size: u64, gamma: f64) -> Result<StepLR> {
        Ok(StepLR {
            step_size: at_least_1("StepLR", "a step size", step_size)?,
            gamma: factor("StepLR", "a gamma", gamma)?,
        })
    }
}

impl Schedule for StepLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        base * self.gamma.powf((epoch / self.step_size) as f64)
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        let is_due = epoch > 0 && epoch.is_multiple_of(self.step_size);
        if is_due { now * self.gamma } else { now }
    }
}

/// Times `gamma` at each of some epochs.
#[derive(Clone, Debug)]
pub struct MultiStepLR {
    milestones: Vec<u64>,
    gamma: f64,
}

impl MultiStepLR {
    /// Milestones in any order; one that is named twice counts twice.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a gamma below 0 or not finite.
    #[track_caller]
    pub fn new(milestones: &[u64], gamma: f64) -> Result<MultiStepLR> {
        Ok(MultiStepLR { milestones: milestones.to_vec(), gamma: factor("MultiStepLR", "a gamma", gamma)? })
    }
}

impl Schedule for MultiStepLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let passed = self.milestones.iter().filter(|&&m| m <= epoch).count();
        base * self.gamma.powf(passed as f64)
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        match self.milestones.iter().filter(|&&m| m == epoch).count() {
            0 => now,
            times => now * self.gamma.powf(times as f64),
        }
    }
}

/// Times `gamma` every epoch.
#[derive(Clone, Copy, Debug)]
pub struct ExponentialLR {
    gamma: f64,
}

impl ExponentialLR {
    /// With this factor.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a gamma below 0 or not finite.
    #[track_caller]
    pub fn new(gamma: f64) -> Result<ExponentialLR> {
        Ok(ExponentialLR { gamma: factor("ExponentialLR", "a gamma", gamma)? })
    }
}

impl Schedule for ExponentialLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        base * self.gamma.powf(epoch as f64)
    }

    fn next(&self, now: f64, _: f64, _: u64) -> f64 {
        now * self.gamma
    }

    fn start(&self, now: f64, _: f64, _: u64) -> f64 {
        now
    }
}

/// Half a cosine from the base down to `eta_min` at epoch `t_max`, then up again: Loshchilov and Hutter, "SGDR: stochastic
/// gradient descent with warm restarts", 2017.
#[derive(Clone, Copy, Debug)]
pub struct CosineAnnealingLR {
    t_max: u64,
    eta_min: f64,
}

impl CosineAnnealingLR {
    /// PyTorch's default minimum is 0.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a `t_max` of 0, a minimum below 0 or not finite.
    #[track_caller]
    pub fn new(t_max: u64, eta_min: f64) -> Result<CosineAnnealingLR> {
        let t_max = at_least_1("CosineAnnealingLR", "a T_max", t_max)?;
        Ok(CosineAnnealingLR { t_max, eta_min: factor("CosineAnnealingLR", "a minimum", eta_min)? })
    }
}

impl Schedule for CosineAnnealingLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let angle = std::f64::consts::PI * (epoch as f64 / self.t_max as f64);
        self.eta_min + (base - self.eta_min) * (1.0 + angle.cos()) / 2.0
    }

    fn next(&self, now: f64, base: f64, epoch: u64) -> f64 {
        let turn = std::f64::consts::PI / self.t_max as f64;
        // From the bottom there is no factor that leads up again.
        let t_max = i128::from(self.t_max);
        if (i128::from(epoch) - 1 - t_max).rem_euclid(2 * t_max) == 0 {
            return now + (base - self.eta_min) * (1.0 - turn.cos()) / 2.0;
        }
        let height = |epoch: f64| 1.0 + (std::f64::consts::PI * epoch / self.t_max as f64).cos();
        height(epoch as f64) / height(epoch as f64 - 1.0) * (now - self.eta_min) + self.eta_min
    }

    fn start(&self, now: f64, _: f64, _: u64) -> f64 {
        now
    }
}

/// Linearly from `start_factor` times the base to `end_factor` times it in `total_iters`, then constant: a warm-up.
#[derive(Clone, Copy, Debug)]
#[doc(alias = "warmup")]
pub struct LinearLR {
    start_factor: f64,
    end_factor: f64,
    total_iters: u64,
}

impl LinearLR {
    /// PyTorch's defaults are 1/3, 1 and 5.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for factors below 0 or not finite, a start factor of 0, no iterations.
    #[track_caller]
    pub fn new(start_factor: f64, end_factor: f64, total_iters: u64) -> Result<LinearLR> {
        // From 0 there is no factor that leads up.
        super::checked("LinearLR", "a start factor", "above 0", start_factor, start_factor != 0.0)?;
        Ok(LinearLR {
            start_factor: factor("LinearLR", "a start factor", start_factor)?,
            end_factor: factor("LinearLR", "an end factor", end_factor)?,
            total_iters: at_least_1("LinearLR", "a number of iterations", total_iters)?,
        })
    }
}

impl Schedule for LinearLR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let done = epoch.min(self.total_iters) as f64 / self.total_iters as f64;
        base * (self.start_factor + (self.end_factor - self.start_factor) * done)
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        if epoch == 0 {
            return now * self.start_factor;
        }
        if epoch > self.total_iters {
            return now;
        }
        let rise = self.end_factor - self.start_factor;
        now * (1.0 + rise / (self.total_iters as f64 * self.start_factor + (epoch - 1) as f64 * rise))
    }

    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        if epoch == 0 { self.next(now, base, 0) } else { now }
    }
}

/// How [`SWALR`] goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anneal {
    /// Along half a cosine.
    Cos,
    /// Along a line.
    Linear,
}

/// From the rate to `swa_lr` in `anneal_epochs`, then constant.
///
/// ```
/// use mg_nn::optim::{Anneal, SWALR, Schedule};
///
/// let schedule = SWALR::new(0.05, 4, Anneal::Linear)?;
/// assert!((schedule.lr(0.1, 2) - 0.075).abs() < 1e-12);
/// assert!((schedule.lr(0.1, 9) - 0.05).abs() < 1e-12);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SWALR {
    swa_lr: f64,
    anneal_epochs: u64,
    anneal: Anneal,
}

impl SWALR {
    /// PyTorch's defaults are 10 epochs along a cosine.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a rate below 0 or not finite.
    #[track_caller]
    pub fn new(swa_lr: f64, anneal_epochs: u64, anneal: Anneal) -> Result<SWALR> {
        Ok(SWALR { swa_lr: factor("SWALR", "a rate", swa_lr)?, anneal_epochs, anneal })
    }

    /// How far an epoch is: from 0 to 1.
    fn done(&self, epoch: f64) -> f64 {
        let t = (epoch / self.anneal_epochs.max(1) as f64).clamp(0.0, 1.0);
        match self.anneal {
            Anneal::Linear => t,
            Anneal::Cos => (1.0 - (std::f64::consts::PI * t).cos()) / 2.0,
        }
    }

    /// Without epochs it is there at once.
    fn counted(&self, epoch: u64) -> f64 {
        if self.anneal_epochs == 0 { epoch.max(1) as f64 } else { epoch as f64 }
    }
}

impl Schedule for SWALR {
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        let done = self.done(self.counted(epoch));
        self.swa_lr * done + base * (1.0 - done)
    }

    fn next(&self, now: f64, _: f64, epoch: u64) -> f64 {
        let epoch = self.counted(epoch);
        let (before, done) = (self.done(epoch - 1.0), self.done(epoch));
        let start = match before == 1.0 {
            true => self.swa_lr,
            false => (now - before * self.swa_lr) / (1.0 - before),
        };
        self.swa_lr * done + start * (1.0 - done)
    }
}

/// Several schedules that act together: each goes on from the rate that the one before it makes.
///
/// ```
/// use mg_nn::optim::{ChainedScheduler, ConstantLR, ExponentialLR, Schedule};
///
/// let warm = ConstantLR::new(0.1, 2)?;
/// let both = ChainedScheduler::new(vec![Box::new(warm), Box::new(ExponentialLR::new(0.5)?)])?;
/// let rates: Vec<f64> = (0..4).map(|epoch| both.lr(1.0, epoch)).collect();
/// assert!(rates.iter().zip([0.1, 0.05, 0.25, 0.125]).all(|(a, b)| (a - b).abs() < 1e-12));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct ChainedScheduler(Vec<Box<dyn Schedule + Send + Sync>>);

impl ChainedScheduler {
    /// These, in this order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for none.
    #[track_caller]
    pub fn new(schedules: Vec<Box<dyn Schedule + Send + Sync>>) -> Result<ChainedScheduler> {
        if schedules.is_empty() {
            let text = "takes at least one schedule".to_string();
            return Err(Error::new("ChainedScheduler", ErrorKind::Value(text)));
        }
        Ok(ChainedScheduler(schedules))
    }
}

impl Schedule for ChainedScheduler {
    /// There is no short way: the rates of the epochs before are gone through.
    fn lr(&self, base: f64, epoch: u64) -> f64 {
        (1..=epoch).fold(self.start(base, base, 0), |now, epoch| self.next(now, base, epoch))
    }

    fn next(&self, now: f64, base: f64, epoch: u64) -> f64 {
        self.0.iter().fold(now, |now, schedule| schedule.next(now, base, epoch))
    }

    fn start(&self, now: f64, base: f64, epoch: u64) -> f64 {
        self.0.iter().fold(now, |now, schedule| schedule.start(now, base, epoch))
    }
}
