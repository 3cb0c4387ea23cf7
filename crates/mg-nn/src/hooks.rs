//! [`Hooked`]: a module around which functions are called.

use std::sync::{Arc, Mutex};

use mg_autograd::Tensor;
use mg_device::Result;
use mg_graph::locked;

use crate::module::{Module, Visitor};

/// Is told the input, and may answer with another one.
pub type ForwardPreHook = Arc<dyn Fn(&dyn Module, &Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Is told the input and the output, and may answer with another output.
pub type ForwardHook = Arc<dyn Fn(&dyn Module, &Tensor, &Tensor) -> Result<Option<Tensor>> + Send + Sync>;
/// Is told the gradients of the input, if it requires one, and of the output; may answer with another gradient of the input.
pub type BackwardHook =
    Arc<dyn Fn(&dyn Module, Option<&Tensor>, &Tensor) -> Result<Option<Tensor>> + Send + Sync>;

struct Held<M> {
    module: M,
    before: Mutex<Vec<(u64, ForwardPreHook)>>,
    after: Mutex<Vec<(u64, ForwardHook)>>,
    backward: Mutex<Vec<(u64, BackwardHook)>>,
    last: Mutex<u64>,
}

/// A module around which functions are called: before it, behind it, and with its gradients. Names and states are those of the module in it, so one
/// stands in its place.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use mg_autograd::Tensor;
/// use mg_nn::{Hooked, Linear, Module, ReLU, sequential};
///
/// let first = Hooked::new(Linear::new(2, 3)?);
/// let net = sequential![first.clone(), ReLU, Linear::new(3, 1)?];
/// let seen = Arc::new(Mutex::new(vec![]));
/// let notes = seen.clone();
/// let number = first.register_forward_hook(Arc::new(move |_, input, output| {
///     notes.lock().unwrap().push((input.shape().to_vec(), output.shape().to_vec()));
///     Ok(None)
/// }));
/// let x = Tensor::from_slice(&[1.0f32, 2.0]).reshape(&[1, 2])?;
/// net.forward(&x)?;
/// assert_eq!(*seen.lock().unwrap(), [(vec![1, 2], vec![1, 3])]);
/// assert!(first.remove(number));
/// assert_eq!(net.named_parameters()[0].0, "0.weight");
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Hooked<M>(Arc<Held<M>>);

/// The same module, with the same hooks.
impl<M> Clone for Hooked<M> {
    fn clone(&self) -> Hooked<M> {
        Hooked(self.0.clone())
    }
}

/// What is in it now; hooks may come and go meanwhile.
fn now<T: Clone>(hooks: &Mutex<Vec<T>>) -> Vec<T> {
    locked(hooks).clone()
}

impl<M: Module + 'static> Hooked<M> {
    /// Without hooks.
    pub fn new(module: M) -> Hooked<M> {
        let (before, after, backward) = (Mutex::default(), Mutex::default(), Mutex::default());
        Hooked(Arc::new(Held { module, before, after, backward, last: Mutex::new(0) }))
    }

    /// The module.
    #[must_use]
    pub fn module(&self) -> &M {
        &self.0.module
    }

    fn add<T>(&self, to: &Mutex<Vec<(u64, T)>>, hook: T) -> u64 {
        let mut last = locked(&self.0.last);
        *last += 1;
        locked(to).push((*last, hook));
        *last
    }

    /// Calls a function before the module; what it answers with is the input. The answer is a number to [`Hooked::remove`] it by.
    pub fn register_forward_pre_hook(&self, hook: ForwardPreHook) -> u64 {
        self.add(&self.0.before, hook)
    }

    /// Calls a function behind the module; what it answers with is the output.
    pub fn register_forward_hook(&self, hook: ForwardHook) -> u64 {
        self.add(&self.0.after, hook)
    }

    /// Calls a function when the gradient of the input is computed, or that of the output where the input requires none; what it answers with is the
    /// gradient of the input.
    pub fn register_full_backward_hook(&self, hook: BackwardHook) -> u64 {
        self.add(&self.0.backward, hook)
    }

    /// Takes a hook away. Whether it was there.
    pub fn remove(&self, number: u64) -> bool {
        fn without<T>(hooks: &Mutex<Vec<(u64, T)>>, number: u64) -> bool {
            let mut hooks = locked(hooks);
            let n = hooks.len();
            let left = hooks.extract_if(.., |(of, _)| *of == number).collect::<Vec<_>>();
            let is_there = hooks.len() < n;
            // Dropped when no lock is held.
            drop(hooks);
            drop(left);
            is_there
        }
        without(&self.0.before, number) || without(&self.0.after, number) || without(&self.0.backward, number)
    }

    /// Has hooks be told of the gradients of an output, and of the input behind them.
    fn watched(&self, input: Option<&Tensor>, output: &Tensor) -> Result<()> {
        let given: Arc<Mutex<Option<Tensor>>> = Arc::default();
        let (held, note, is_followed) = (self.0.clone(), given.clone(), input.is_some());
        output.register_hook(Arc::new(move |gradient: &Tensor| {
            if is_followed {
                *locked(&note) = Some(gradient.clone());
                return Ok(None);
            }
            for (_, hook) in now(&held.backward) {
                hook(&held.module, None, gradient)?;
            }
            Ok(None)
        }))?;
        let (Some(input), held) = (input, self.0.clone()) else { return Ok(()) };
        input.register_hook(Arc::new(move |gradient: &Tensor| {
            let of = locked(&given).take();
            let Some(of) = of else { return Ok(None) };
            let mut gradient = gradient.clone();
            for (_, hook) in now(&held.backward) {
                gradient = hook(&held.module, Some(&gradient), &of)?.unwrap_or(gradient);
            }
            Ok(Some(gradient))
        }))?;
        Ok(())
    }
}

impl<M: Module + 'static> Module for Hooked<M> {
    fn forward(&self, input: &Tensor) -> Result<Tensor> {
        let mut input = input.clone();
        for (_, hook) in now(&self.0.before) {
            input = hook(&self.0.module, &input)?.unwrap_or(input);
        }
        let is_watched = mg_autograd::is_grad_enabled() && !now(&self.0.backward).is_empty();
        let is_tracked = is_watched && input.requires_grad();
        if is_tracked {
            // Another tensor, whose gradient is what comes by way of this module.
            input = input.view_as(&input)?;
        }
        let mut output = self.0.module.forward(&input)?;
        for (_, hook) in now(&self.0.after) {
            output = hook(&self.0.module, &input, &output)?.unwrap_or(output);
        }
        if is_watched && output.requires_grad() {
            output = output.view_as(&output)?;
            self.watched(is_tracked.then_some(&input), &output)?;
        }
        Ok(output)
    }

    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        self.0.module.visit(visitor);
    }

    fn describe(&self) -> String {
        self.0.module.describe()
    }

    fn is_chain(&self) -> bool {
        false
    }
}
