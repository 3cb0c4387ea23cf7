//! Parameters that are computed of others: `torch.nn.utils.parametrize`.
//!
//! A [`Parametrized`] module is one whose parameter is computed anew for each call. Its state has what the parameter is computed of, under
//! PyTorch's names (`parametrizations.weight.original`), in the parameter's place.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_device::Result;
//! use mg_nn::utils::parametrize::{Parametrization, register_parametrization};
//! use mg_nn::{Linear, Module};
//!
//! /// Weights that are the same in both directions.
//! struct Symmetric;
//!
//! impl Parametrization for Symmetric {
//!     fn value(&self, originals: &[Tensor], _training: bool) -> Result<Tensor> {
//!         let upper = originals[0].triu(0)?;
//!         upper.try_add(originals[0].triu(1)?.try_t()?)
//!     }
//! }
//!
//! let layer = register_parametrization(Linear::new(3, 3)?, "weight", Symmetric)?;
//! let names: Vec<String> = layer.named_parameters().into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["bias", "parametrizations.weight.original"]);
//! let weight = &layer.module()?.weight;
//! assert_eq!(weight.to_vec::<f32>()?, weight.try_t()?.to_vec::<f32>()?);
//! # Ok::<(), mg_device::Error>(())
//! ```

use std::sync::{Mutex, PoisonError};

use mg_autograd::{Tensor, no_grad, with_default_device};
use mg_device::{Error, ErrorKind, Result};

use crate::init;
use crate::module::{Mode, Module, Visitor};

/// How a parameter is computed, and of what.
pub trait Parametrization: Send + Sync {
    /// The parameter, of what it is computed of; `training` says whether the module is being trained.
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    fn value(&self, originals: &[Tensor], training: bool) -> Result<Tensor>;

    /// What a value is computed of: the reverse of [`Parametrization::value`]. The value itself, unless it says otherwise.
    ///
    /// # Errors
    ///
    /// Values that it has none for.
    #[track_caller]
    fn originals(&self, value: &Tensor) -> Result<Vec<Tensor>> {
        Ok(vec![value.clone()])
    }

    /// What is saved besides and not trained, by name.
    fn buffers(&self) -> Vec<(&'static str, &Tensor)> {
        vec![]
    }

    /// In words, for [`Module::describe`].
    fn describe(&self) -> String {
        let path = std::any::type_name::<Self>();
        let path = path.split('<').next().unwrap_or(path);
        format!("{}()", path.rsplit("::").next().unwrap_or(path))
    }
}

/// A module one of whose parameters is computed for each call. Optimisers are made after it: what they were given of the module before is no
/// parameter any more.
///
/// Calls of one module in several threads are made one after the other. A step under `jit` that calls it more than once is run as usual.
pub struct Parametrized<M> {
    module: M,
    /// The parameter's path in the module.
    path: String,
    /// The parameter: what the module computes with.
    target: Tensor,
    /// By the names that they have in the state.
    originals: Vec<(String, Tensor)>,
    buffers: Vec<String>,
    how: Box<dyn Parametrization>,
    mode: Mode,
    turn: Mutex<()>,
}

/// Makes a parameter of a module one that is computed. `name` may be a path: `"0.weight"`. Its value is what it was, as far as there are
/// originals for it. What is shared with the parameter shares what is computed.
///
/// # Errors
///
/// A name that no parameter has; a parametrization that answers with another shape, dtype or device than the parameter's.
#[track_caller]
pub fn register_parametrization<M: Module>(
    module: M,
    name: &str,
    how: impl Parametrization + 'static,
) -> Result<Parametrized<M>> {
    let (around, own) = name.rsplit_once('.').unwrap_or(("", name));
    let under = |rest: String| if around.is_empty() { rest } else { format!("{around}.{rest}") };
    let list = under(format!("parametrizations.{own}"));
    let names = |i: usize, n: usize| match n {
        1 => format!("{list}.original"),
        _ => format!("{list}.original{i}"),
    };
    Parametrized::new(module, name, names, |buffer| format!("{list}.0.{buffer}"), how)
}

impl<M: Module> Parametrized<M> {
    /// With names for originals, by their number of so many, and for buffers.
    #[track_caller]
    pub(crate) fn new(
        module: M,
        path: &str,
        original: impl Fn(usize, usize) -> String,
        buffer: impl Fn(&str) -> String,
        how: impl Parametrization + 'static,
    ) -> Result<Parametrized<M>> {
        const OP: &str = "register_parametrization";
        let all = module.named_parameters();
        let Some((_, target)) = all.iter().find(|(name, _)| name == path) else {
            let known: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            let text = format!("takes the name of a parameter, got {path:?}; there are {}", known.join(", "));
            return Err(Error::new(OP, ErrorKind::Value(text)));
        };
        let parts = {
            let _guard = no_grad();
            let parts = how.originals(&target.detach())?;
            parts.iter().map(|part| part.detach().copy()).collect::<Vec<_>>()
        };
        let n = parts.len();
        let trained = target.requires_grad();
        let mut originals = vec![];
        for (i, part) in parts.into_iter().enumerate() {
            let part = if trained { init::parameter(part)? } else { part };
            originals.push((original(i, n), part));
        }
        let value = {
            let _guard = no_grad();
            let parts: Vec<Tensor> = originals.iter().map(|(_, t)| t.clone()).collect();
            how.value(&parts, false)?
        };
        let facts = |t: &Tensor| (t.shape(), t.dtype(), t.device());
        if facts(&value) != facts(target) {
            let [takes, got] =
                [target, &value].map(|t| format!("{} {} on {}", t.dtype(), t.shape(), t.device()));
            let text = format!("a parametrization of {path:?} answers with {takes}, got {got}");
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        }
        let buffers = how.buffers().iter().map(|(name, _)| buffer(name)).collect();
        let target = target.clone().requires_grad_(false)?;
        let made = Parametrized {
            module,
            path: path.to_owned(),
            target,
            originals,
            buffers,
            how: Box::new(how),
            mode: Mode::default(),
            turn: Mutex::new(()),
        };
        made.compute_as(false)?;
        Ok(made)
    }

    #[track_caller]
    fn value(&self, training: bool) -> Result<Tensor> {
        let parts: Vec<Tensor> = self.originals.iter().map(|(_, t)| t.clone()).collect();
        self.how.value(&parts, training)
    }

    /// Has the module have the parameter as it is now.
    #[track_caller]
    pub(crate) fn compute(&self) -> Result<()> {
        self.compute_as(self.mode.is_training())
    }

    #[track_caller]
    fn compute_as(&self, training: bool) -> Result<()> {
        let value = self.value(training)?;
        // A replay writes to the same memory each time. Elsewhere it gets other memory: what was computed of the last value may still be
        // differentiated.
        if !mg_graph::is_recording() || self.target.node().is_pending() {
            let shape = value.shape();
            let room = || Tensor::zeros(&shape, value.dtype());
            let room = with_default_device(value.device(), room)??;
            self.target.detach_()?;
            self.target.set_data(&room)?;
        }
        self.target.assign(&value)
    }

    /// The module, with its parameter as it is now: for what it does besides `forward`, and to look at.
    ///
    /// # Errors
    ///
    /// Those of computing the parameter.
    #[track_caller]
    pub fn module(&self) -> Result<&M> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.compute()?;
        Ok(&self.module)
    }

    /// The parameter as it is now, through which gradients reach what it is computed of.
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    pub fn parameter(&self) -> Result<Tensor> {
        self.value(false)
    }

    /// What the parameter is computed of, by the names in the state.
    #[must_use]
    pub fn originals(&self) -> &[(String, Tensor)] {
        &self.originals
    }

    /// The module with a parameter again, of the value that it has: `remove_parametrizations`.
    ///
    /// # Errors
    ///
    /// Those of computing it.
    #[track_caller]
    pub fn remove(self) -> Result<M> {
        let value = {
            let _guard = no_grad();
            self.value(false)?.detach().copy()
        };
        value.realize()?;
        self.target.detach_()?;
        self.target.set_data(&value)?;
        let trained = self.originals.iter().any(|(_, t)| t.requires_grad());
        self.target.clone().requires_grad_(trained)?;
        Ok(self.module)
    }
}

impl<M: Module> Module for Parametrized<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.compute()?;
        self.module.forward(input)
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.without(&self.module, &self.target, self.path.contains('.'));
        self.originals.iter().for_each(|(name, t)| visitor.param(name.as_str(), t));
        let buffers = self.how.buffers();
        self.buffers.iter().zip(buffers).for_each(|(name, (_, t))| visitor.buffer(name.as_str(), t));
        visitor.mode(&self.mode);
    }

    fn describe(&self) -> String {
        let module = self.module.describe().replace('\n', "\n  ");
        format!("Parametrized(\n  {module}\n  ({}): {}\n)", self.path, self.how.describe())
    }
}
