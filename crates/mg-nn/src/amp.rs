//! Gradients in half precision: losses are scaled up, so that small gradients do not vanish, and gradients back down.
//!
//! Which operation runs in which dtype is [`mod@mg_autograd::autocast`]'s.

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Device, Error, ErrorKind, Result};
use mg_graph::LiveScalar;

use crate::optim::{Optimizer, options};

const NAME: &str = "GradScaler";

options! {
    /// How a [`GradScaler`] goes on, with PyTorch's defaults.
    ScalerOptions {
        /// The scale at first: 65536.
        init_scale: f64 = 65536.0,
        /// What it is multiplied by after so many good steps: 2.
        growth_factor: f64 = 2.0,
        /// What it is multiplied by after a step that was left out: 0.5.
        backoff_factor: f64 = 0.5,
        /// How many good steps: 2000.
        growth_interval: i64 = 2000,
    }
}

impl ScalerOptions {
    fn live(&self) -> [f64; 3] {
        [self.growth_factor, self.backoff_factor, self.growth_interval as f64]
    }
}

/// Scales losses, and leaves out steps whose gradients are not finite: Micikevicius et al., "Mixed precision
/// training", 2018, with a scale that grows while all goes well and shrinks where it does not.
///
/// Scale, counter and what was found are tensors on the device. Nothing is read on the host: a step is left out by
/// choosing, in the optimiser's own plan.
///
/// ```
/// use mg_autograd::{Tensor, autocast};
/// use mg_device::{DType, Device};
/// use mg_nn::amp::{GradScaler, ScalerOptions};
/// use mg_nn::optim::{Optimizer, SGD};
///
/// let w = Tensor::from_slice(&[2.0f32]).requires_grad_(true)?;
/// let mut sgd = SGD::new(vec![w.clone()], 0.25)?;
/// let options = ScalerOptions { init_scale: 1024.0, ..ScalerOptions::default() };
/// let scaler = GradScaler::new(options, Device::cpu())?;
/// let loss = autocast(DType::F16, || w.matmul(&Tensor::from_slice(&[3.0f32])))?;
/// scaler.scale(&loss.to_dtype(DType::F32))?.backward()?;
/// scaler.step(&mut sgd)?;
/// assert_eq!(w.to_vec::<f32>()?, [1.25]);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Debug)]
pub struct GradScaler {
    options: ScalerOptions,
    /// Both factors and the interval, as steps that `jit` has recorded read them.
    live: [LiveScalar; 3],
    scale: Tensor,
    growth_tracker: Tensor,
}

/// A number without axes in memory of its own.
fn own(value: f64, dtype: DType, device: Device) -> Result<Tensor> {
    let t = Tensor::scalar(value).to_dtype(dtype).to(device)?.copy();
    t.realize()?;
    Ok(t)
}

impl GradScaler {
    /// A scaler whose state is on a device.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for a growth factor of 1 or less and a backoff factor of 1 or more; too little memory.
    pub fn new(options: ScalerOptions, device: Device) -> Result<GradScaler> {
        let fail = |text: String| Err(Error::new(NAME, ErrorKind::Value(text)));
        if options.growth_factor.is_nan() || options.growth_factor <= 1.0 {
            return fail(format!("takes a growth factor above 1, got {}", options.growth_factor));
        }
        if options.backoff_factor.is_nan() || options.backoff_factor >= 1.0 {
            return fail(format!("takes a backoff factor below 1, got {}", options.backoff_factor));
        }
        let scale = own(options.init_scale, DType::F32, device)?;
        let growth_tracker = own(0.0, DType::I32, device)?;
        Ok(GradScaler { options, live: options.live().map(LiveScalar::new), scale, growth_tracker })
    }

    /// How it goes on.
    #[must_use]
    pub fn options(&self) -> ScalerOptions {
        self.options
    }

    /// Has it go on otherwise, in steps that `jit` has recorded too.
    pub fn set_options(&mut self, options: ScalerOptions) {
        self.options = options;
        self.live.iter().zip(options.live()).for_each(|(live, now)| live.set(now));
    }

    /// The scale, f32 without axes.
    #[must_use]
    pub fn get_scale(&self) -> &Tensor {
        &self.scale
    }

    /// How many good steps there were since the scale last changed, i32 without axes.
    #[must_use]
    pub fn growth_tracker(&self) -> &Tensor {
        &self.growth_tracker
    }

    /// A loss, or another result, times the scale.
    ///
    /// # Errors
    ///
    /// A device that cannot be used.
    pub fn scale(&self, output: &Tensor) -> Result<Tensor> {
        output.try_mul(self.scale.to(output.device())?)
    }

    /// A place for what [`GradScaler::unscale`] finds in the gradients of an optimiser: a truth value without axes.
    ///
    /// # Errors
    ///
    /// Too little memory.
    pub fn finding(&self) -> Result<Tensor> {
        own(0.0, DType::Bool, self.scale.device())
    }

    /// Divides gradients by the scale, and notes in `found` whether one of their elements, as it was, is not finite.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::DType`] for gradients of f16: parameters are f32, and what runs in f16 is converted by
    /// `autocast`.
    pub fn unscale(&self, parameters: &[Tensor], found: &Tensor) -> Result<()> {
        let _guard = no_grad();
        let inverse = self.scale.to_dtype(DType::F64).try_reciprocal()?.to_dtype(DType::F32);
        let mut sums: Vec<Tensor> = vec![];
        for p in parameters {
            let Some(grad) = p.grad() else { continue };
            if grad.dtype() == DType::F16 {
                let text = "cannot unscale gradients of float16: keep the parameters in float32";
                return Err(Error::new(NAME, ErrorKind::DType(text.into())));
            }
            // Zero where all are finite, no number otherwise: one sum for each gradient.
            sums.push(grad.try_mul(0.0)?.sum().to_dtype(DType::F32).to(found.device())?);
            grad.assign(grad.try_mul(inverse.to(grad.device())?)?)?;
        }
        let total = sums.into_iter().map(Ok).reduce(|a, b| a?.try_add(b?)).transpose()?;
        found.assign(match total {
            Some(total) => total.try_ne(0.0)?,
            None => found.zeros_like(),
        })
    }

    /// The next scale: smaller where one of the steps since was left out, larger after so many good ones.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] where nothing was looked for.
    pub fn update(&self, found: &[&Tensor]) -> Result<()> {
        let _guard = no_grad();
        let device = self.scale.device();
        let mut any: Option<Tensor> = None;
        for found in found {
            let found = found.to(device)?;
            any = Some(match any {
                Some(any) => any.try_maximum(found)?,
                None => found,
            });
        }
        let Some(any) = any else {
            let text = "update() before a step: there were no gradients to look at since the last one";
            return Err(Error::new(NAME, ErrorKind::Value(text.into())));
        };
        let [growth_factor, backoff_factor, growth_interval] = &self.live;
        let (scale, next) = (&self.scale, self.growth_tracker.try_add(1i64)?);
        let due = next.to_dtype(DType::F64).try_eq(growth_interval)?;
        let grown = scale.try_mul(growth_factor)?;
        let grown = Tensor::where_(&grown.try_isfinite()?, &grown, scale)?;
        let good = Tensor::where_(&due, &grown, scale)?;
        let count = Tensor::where_(&due.try_maximum(&any)?, 0i64, &next)?;
        let new = Tensor::where_(&any, scale.try_mul(backoff_factor)?, &good)?;
        self.growth_tracker.assign(count.to_dtype(DType::I32))?;
        self.scale.assign(new)?;
        Tensor::realize_all(&[self.scale.clone(), self.growth_tracker.clone()])
    }

    /// All of it for one optimiser: gradients are unscaled, the step is made or left out, and the scale goes on.
    /// With norms to clip or several optimisers: [`GradScaler::unscale`], [`Optimizer::step_unless`],
    /// [`GradScaler::update`].
    ///
    /// # Errors
    ///
    /// Those of the step.
    pub fn step(&self, optimizer: &mut impl Optimizer) -> Result<()> {
        let found = self.finding()?;
        self.unscale(optimizer.parameters(), &found)?;
        optimizer.step_unless(&found)?;
        self.update(&[&found])
    }

    /// Sets the scale.
    ///
    /// # Errors
    ///
    /// Another shape, a device that cannot be used.
    pub fn set_scale(&self, scale: &Tensor) -> Result<()> {
        let _guard = no_grad();
        let scale = scale.reshape(&[])?.to_dtype(DType::F32).to(self.scale.device())?;
        self.scale.assign(scale.snapshot())
    }

    /// Sets the number of good steps since the scale last changed.
    ///
    /// # Errors
    ///
    /// Too little memory.
    pub fn set_growth_tracker(&self, steps: i64) -> Result<()> {
        let _guard = no_grad();
        self.growth_tracker.assign(own(steps as f64, DType::I32, self.scale.device())?)
    }
}
