//! Averages of weights: stochastic weight averaging (Izmailov et al., "Averaging weights leads to wider optima and better generalization", 2018) and
//! exponential moving averages.

use std::f64::consts::PI;

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Error, ErrorKind, Result};

use super::schedule::factor;
use super::{Schedule, checked};
use crate::module::{Module, Visitor};

/// How weights are averaged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Averaging {
    /// The mean of all.
    Mean,
    /// An exponential moving average, of which this much goes on each time.
    Ema(f64),
}

/// A model whose parameters are averages of those of another one, which is trained.
///
/// ```
/// use mg_nn::optim::{AveragedModel, Averaging};
/// use mg_nn::{Linear, Module};
///
/// let net = || Linear::new(2, 1);
/// let model = net()?;
/// let average = AveragedModel::new(&model, net()?, Averaging::Ema(0.9))?;
/// average.update_parameters(&model)?;
/// // … a step of training, …
/// mg_nn::init::constant_(&model.weight, 1.0)?;
/// let before = average.module.weight.to_vec::<f32>()?;
/// average.update_parameters(&model)?;
/// let now = average.module.weight.to_vec::<f32>()?;
/// assert!((now[0] - (0.9 * before[0] + 0.1)).abs() < 1e-6);
/// // In a state its names are those of PyTorch's.
/// assert_eq!(average.state().tensors.keys().next().unwrap(), "module.bias");
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct AveragedModel<M> {
    /// The averages.
    pub module: M,
    /// How many were averaged: an i64, counted where it lies, so that steps which average can be recorded.
    pub n_averaged: Tensor,
    averaging: Averaging,
    use_buffers: bool,
}

impl<M: Module> AveragedModel<M> {
    /// Of a model, in another one of its kind, which gets its parameters and buffers.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a model of another kind, and a decay that is not in [0, 1].
    #[track_caller]
    pub fn new(model: &impl Module, copy: M, averaging: Averaging) -> Result<AveragedModel<M>> {
        if let Averaging::Ema(decay) = averaging {
            checked("AveragedModel", "a decay", "in [0, 1]", decay, (0.0..=1.0).contains(&decay))?;
        }
        copy.load_state(&model.state()).map_err(|error| error.with_op("AveragedModel"))?;
        let n_averaged = Tensor::full(&[], 0.0, DType::I64)?.copy();
        n_averaged.realize()?;
        Ok(AveragedModel { module: copy, n_averaged, averaging, use_buffers: false })
    }

    /// Whether buffers are averaged as well; at first they are not, and are the last ones.
    #[must_use]
    pub fn use_buffers(mut self, on: bool) -> AveragedModel<M> {
        self.use_buffers = on;
        self
    }

    /// Averages a model's parameters in. The first ones are taken as they are.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a model of another kind; whatever computing them fails with.
    #[track_caller]
    pub fn update_parameters(&self, model: &impl Module) -> Result<()> {
        let _guard = no_grad();
        let (own, given) = (self.module.named_parameters(), model.named_parameters());
        let (buffers, last) = (self.module.named_buffers(), model.named_buffers());
        let names = |all: &[(String, Tensor)]| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        if names(&own) != names(&given) || names(&buffers) != names(&last) {
            let text = "takes a model of the kind that it is an average of, with the same names".to_string();
            return Err(Error::new("update_parameters", ErrorKind::Value(text)));
        }
        // Whether it is the first time is the device's to know: reading it would wait for the device.
        let is_first = self.n_averaged.try_eq(0i64)?;
        let average = |a: &Tensor, b: &Tensor| -> Result<Tensor> {
            // Half of them hold no count beyond 256 or 2048.
            let dtype = if a.dtype().is_half() { DType::F32 } else { a.dtype() };
            let (now, b) = (a.to_dtype(dtype), b.detach().to(a.device())?.to_dtype(dtype));
            let change = b.try_sub(&now)?;
            let change = match self.averaging {
                Averaging::Ema(decay) => change.try_mul(1.0 - decay)?,
                Averaging::Mean => {
                    let n = self.n_averaged.to(a.device())?.try_add(1i64)?.to_dtype(dtype);
                    change.try_div(&n)?
                }
            };
            let average = Tensor::where_(&is_first.to(a.device())?, &b, &now.try_add(&change)?)?;
            Ok(average.to_dtype(a.dtype()))
        };
        let mut written = vec![&self.n_averaged];
        for ((_, a), (_, b)) in own.iter().zip(&given) {
            a.assign(average(a, b)?)?;
            written.push(a);
        }
        for ((_, a), (_, b)) in buffers.iter().zip(&last) {
            match self.use_buffers && a.dtype().is_float() {
                true => a.assign(average(a, b)?)?,
                false => a.assign(b.detach().to(a.device())?)?,
            }
            written.push(a);
        }
        self.n_averaged.assign(self.n_averaged.try_add(1i64)?)?;
        Tensor::realize_all(written)
    }
}

impl<M: Module> Module for AveragedModel<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.module.forward(input)
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.buffer("n_averaged", &self.n_averaged);
        visitor.child("module", &self.module);
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
            Anneal::Cos => (1.0 - (PI * t).cos()) / 2.0,
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
