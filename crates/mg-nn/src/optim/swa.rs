//! Averages of weights: stochastic weight averaging (Izmailov et al., "Averaging weights leads to wider optima and better generalization", 2018) and
//! exponential moving averages.

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Error, ErrorKind, Result};

use super::checked;
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
