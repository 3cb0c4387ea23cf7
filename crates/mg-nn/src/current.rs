//! What a layer's parameter is at the moment: itself, or what a [`Parametrized`](crate::utils::parametrize::Parametrized) module around the layer computes it as.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

/// How many parameters are computed: none, as a rule, and nobody is asked further.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Which ones, by what tells tensors apart.
static COMPUTED: Mutex<Option<HashSet<usize>>> = Mutex::new(None);

fn computed() -> MutexGuard<'static, Option<HashSet<usize>>> {
    COMPUTED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A parameter in whose place another tensor is computed.
pub(crate) struct Replaced(pub(crate) Tensor);

impl Replaced {
    pub(crate) fn new(parameter: Tensor) -> Replaced {
        computed().get_or_insert_default().insert(parameter.id());
        COUNT.fetch_add(1, Ordering::Release);
        Replaced(parameter)
    }
}

impl Drop for Replaced {
    fn drop(&mut self) {
        if let Some(all) = &mut *computed() {
            all.remove(&self.0.id());
        }
        COUNT.fetch_sub(1, Ordering::Release);
    }
}

/// What stands in a parameter's place during a call.
struct Substitute {
    parameter: usize,
    value: Tensor,
    is_asked_for: bool,
}

thread_local! {
    static SUBSTITUTES: RefCell<Vec<Substitute>> = const { RefCell::new(vec![]) };
}

/// Calls `f` with a value in a parameter's place; and whether anybody asked for it.
pub(crate) fn with_value<R>(parameter: &Replaced, value: Tensor, f: impl FnOnce() -> R) -> (R, bool) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            // Not under the borrow: what goes with the value may be somebody's who asks here.
            drop(SUBSTITUTES.with_borrow_mut(Vec::pop));
        }
    }
    let parameter = parameter.0.id();
    SUBSTITUTES.with_borrow_mut(|all| all.push(Substitute { parameter, value, is_asked_for: false }));
    let _leave = Leave;
    let made = f();
    let is_asked_for = SUBSTITUTES.with_borrow(|all| all.last().is_some_and(|last| last.is_asked_for));
    (made, is_asked_for)
}

/// What a parameter is at the moment: itself or, where it is computed ([`register_parametrization`](crate::utils::parametrize::register_parametrization)), what the module
/// around it computes for this call. All layers of this crate read theirs so; a module of your own whose tensors are to be parametrized does too.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::{DType, Result};
/// use mg_nn::Module;
/// use mg_nn::utils::parametrize::current;
/// use mg_nn::utils::parametrizations::weight_norm;
///
/// #[derive(Module)]
/// #[module(crate = mg_nn)]
/// struct Scale {
///     scale: Tensor,
/// }
///
/// impl Scale {
///     fn forward(&self, x: &Tensor) -> Result<Tensor> {
///         x.try_mul(current(&self.scale)?.as_ref())
///     }
/// }
///
/// let scale = Tensor::ones(&[2], DType::F32)?.requires_grad_(true)?;
/// let layer = weight_norm(Scale { scale }, "scale", None)?;
/// assert_eq!(layer.forward(&Tensor::from_slice(&[3.0f32, 4.0]))?.to_vec::<f32>()?, [3.0, 4.0]);
/// # Ok::<(), mg_device::Error>(())
/// ```
///
/// # Errors
///
/// A parameter that is computed for each call, outside of one.
#[track_caller]
pub fn current(parameter: &Tensor) -> Result<Cow<'_, Tensor>> {
    if COUNT.load(Ordering::Acquire) == 0 {
        return Ok(Cow::Borrowed(parameter));
    }
    let id = parameter.id();
    let found = SUBSTITUTES.with_borrow_mut(|all| {
        let found = all.iter_mut().rev().find(|s| s.parameter == id)?;
        found.is_asked_for = true;
        Some(found.value.clone())
    });
    if let Some(value) = found {
        return Ok(Cow::Owned(value));
    }
    if computed().as_ref().is_some_and(|all| all.contains(&id)) {
        let text =
            "a parameter that is computed for each call of a module is read outside of one: call that module";
        return Err(Error::new("parametrize", ErrorKind::Value(text.into())));
    }
    Ok(Cow::Borrowed(parameter))
}

/// As [`current`], of what there may be.
#[track_caller]
pub(crate) fn current_of(parameter: &Option<Tensor>) -> Result<Option<Cow<'_, Tensor>>> {
    parameter.as_ref().map(current).transpose()
}
