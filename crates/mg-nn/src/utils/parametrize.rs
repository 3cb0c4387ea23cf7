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
//! let weight = layer.parameter()?;
//! assert_eq!(weight.to_vec::<f32>()?, weight.try_t()?.to_vec::<f32>()?);
//! # Ok::<(), mg_device::Error>(())
//! ```

use std::sync::atomic::{AtomicBool, Ordering};

use mg_autograd::{Tensor, no_grad};
use mg_device::{Error, ErrorKind, Result};

pub use crate::current::current;
use crate::current::{Replaced, with_value};
use crate::module::{Mode, Module, Visitor, is_open};

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

/// A module one of whose parameters is computed for each call.
///
/// What is one tensor stays the tensor that it is, for optimisers that have it; what becomes several ([`weight_norm`](super::parametrizations::weight_norm)) are new ones.
/// The parameter itself is not to be had elsewhere meanwhile: a layer outside that shares it is told so when it is called.
pub struct Parametrized<M> {
    module: M,
    /// The parameter's path in the module.
    path: String,
    target: Replaced,
    /// By the names that they have in the state.
    originals: Vec<(String, Tensor)>,
    buffers: Vec<String>,
    how: Box<dyn Parametrization>,
    mode: Mode,
    /// The module has asked for the parameter.
    is_known: AtomicBool,
}

/// Makes a parameter of a module one that is computed. `name` may be a path: `"0.weight"`. Its value is what it was, as far as there are
/// originals for it.
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
        if is_open(&module, target) {
            let text = format!("{path:?} has no shape yet: call the module once, or load its state, before");
            return Err(Error::new(OP, ErrorKind::Value(text)));
        }
        let facts = |t: &Tensor| (t.shape(), t.dtype(), t.device());
        let trained = target.requires_grad();
        let now = target.detach();
        let guard = no_grad();
        let parts = how.originals(&now)?;
        let mut originals = vec![];
        let n = parts.len();
        for (i, part) in parts.into_iter().enumerate() {
            let own = if n == 1 && facts(&part) == facts(target) {
                // It stays the tensor that it is.
                if !part.is(&now) {
                    target.assign(part.copy())?;
                    target.realize()?;
                }
                target.clone()
            } else {
                let part = part.detach().copy();
                part.realize()?;
                part.requires_grad_(trained)?
            };
            originals.push((original(i, n), own));
        }
        let parts: Vec<Tensor> = originals.iter().map(|(_, t)| t.clone()).collect();
        let value = how.value(&parts, false)?;
        drop(guard);
        if facts(&value) != facts(target) {
            let [takes, got] =
                [target, &value].map(|t| format!("{} {} on {}", t.dtype(), t.shape(), t.device()));
            let text = format!("a parametrization of {path:?} answers with {takes}, got {got}");
            return Err(Error::new(OP, ErrorKind::Shape(text)));
        }
        let buffers = how.buffers().iter().map(|(name, _)| buffer(name)).collect();
        let target = Replaced::new(target.clone());
        let (path, how, mode) = (path.to_owned(), Box::new(how), Mode::default());
        Ok(Parametrized {
            module,
            path,
            target,
            originals,
            buffers,
            how,
            mode,
            is_known: AtomicBool::new(false),
        })
    }

    #[track_caller]
    fn value(&self, training: bool) -> Result<Tensor> {
        let parts: Vec<Tensor> = self.originals.iter().map(|(_, t)| t.clone()).collect();
        self.how.value(&parts, training)
    }

    /// What `f` makes of the module, in which the parameter is what it is now: for what modules do besides [`Module::forward`].
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    /// use mg_nn::LSTM;
    /// use mg_nn::utils::parametrizations::weight_norm;
    ///
    /// let lstm = weight_norm(LSTM::new(3, 4)?, "weight_hh_l0", Some(0))?;
    /// let x = Tensor::zeros(&[5, 2, 3], DType::F32)?;
    /// let (outputs, (state, _)) = lstm.call(|lstm| lstm.run(&x, None))?;
    /// assert_eq!((&outputs.shape()[..], &state.shape()[..]), (&[5, 2, 4][..], &[1, 2, 4][..]));
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of computing the parameter, and of `f`; a module that never reads it by [`current`].
    #[track_caller]
    pub fn call<T>(&self, f: impl FnOnce(&M) -> Result<T>) -> Result<T> {
        let value = self.value(self.mode.is_training())?;
        let (made, is_asked_for) = with_value(&self.target, value, || f(&self.module));
        let made = made?;
        if !is_asked_for && !self.is_known.load(Ordering::Relaxed) {
            let text = format!(
                "{:?} is computed for each call, and the module does not read it by parametrize::current",
                self.path
            );
            return Err(Error::new("parametrize", ErrorKind::Value(text)));
        }
        self.is_known.store(true, Ordering::Relaxed);
        Ok(made)
    }

    /// The module around the parameter. In the parameter's place it has what it is computed of, or nothing that counts.
    #[must_use]
    pub fn module(&self) -> &M {
        &self.module
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
        let _guard = no_grad();
        let value = self.value(false)?.detach().copy();
        // What it is computed of may have been moved since.
        self.target.0.move_to(value.device())?;
        self.target.0.assign(&value)?;
        self.target.0.realize()?;
        Ok(self.module)
    }
}

impl<M: Module> Module for Parametrized<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        self.call(|module| module.forward(input))
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.without(&self.module, &self.target.0, self.path.contains('.'));
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
