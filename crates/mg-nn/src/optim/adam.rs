//! Adam, and Adam with decoupled weight decay.

use mg_autograd::{Tensor, no_grad};
use mg_device::Result;
use mg_graph::{LiveScalar, Node, on_failed_replay, on_replay};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{
    Optimizer, Recorded, at_least_0, check_parameters, checked, follow, load_slots, save_slots, settled,
    zeros_like,
};
use crate::state::State;

/// Options of [`Adam`] and [`AdamW`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamOptions {
    /// The learning rate: 0.001.
    pub lr: f64,
    /// How much of the running means of gradients and of their squares goes on each step: 0.9 and 0.999.
    pub betas: (f64, f64),
    /// What is added to the root of the mean square: 10⁻⁸.
    pub eps: f64,
    /// `λ`: 0 for [`Adam`], which adds `λp` to the gradient; 0.01 for [`AdamW`], which takes `lr · λp` off the parameter.
    pub weight_decay: f64,
    /// The largest mean square so far in place of the last one: Reddi et al., "On the convergence of Adam and beyond", 2018.
    pub amsgrad: bool,
    /// Up the gradient rather than down.
    pub maximize: bool,
}

impl Default for AdamOptions {
    fn default() -> AdamOptions {
        AdamOptions {
            lr: 1e-3,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 0.0,
            amsgrad: false,
            maximize: false,
        }
    }
}

/// What is remembered of a parameter once it has had a gradient.
struct Moments {
    mean: Tensor,
    square: Tensor,
    /// With `amsgrad` only.
    largest: Option<Tensor>,
    clock: Arc<Clock>,
}

/// The steps of a parameter, and what follows from their number. All of it is the host's; replays read it anew.
struct Clock {
    steps: AtomicU64,
    lr: LiveScalar,
    /// `lr · √c₂ / c₁` with the corrections `c = 1 − βⁿ`.
    rate: LiveScalar,
    /// `eps · √c₂`.
    scaled_eps: LiveScalar,
}

impl Clock {
    fn new(steps: u64, lr: &LiveScalar) -> Arc<Clock> {
        Arc::new(Clock {
            steps: steps.into(),
            lr: lr.clone(),
            rate: LiveScalar::new(0.0),
            scaled_eps: LiveScalar::new(0.0),
        })
    }

    /// The next step.
    fn advance(&self, betas: (f64, f64), eps: f64) {
        let n = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        let correction = |beta: f64| 1.0 - beta.powf(n as f64);
        let root = correction(betas.1).sqrt();
        self.rate.set(self.lr.get() * root / correction(betas.0));
        self.scaled_eps.set(eps * root);
    }

    /// A step that was not made.
    fn go_back(&self) {
        self.steps.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Parameters as they are to be after a step, by their numbers; none for what was not written.
type Changes = Vec<Option<Node>>;

#[track_caller]
fn check_options(name: &'static str, options: &AdamOptions) -> Result<()> {
    at_least_0(name, "a learning rate", options.lr)?;
    at_least_0(name, "an eps", options.eps)?;
    at_least_0(name, "a weight decay", options.weight_decay)?;
    for beta in [options.betas.0, options.betas.1] {
        checked(name, "betas", "in [0, 1)", beta, (0.0..1.0).contains(&beta))?;
    }
    Ok(())
}

/// The update that [`Adam`] and [`AdamW`] share.
struct Core {
    name: &'static str,
    parameters: Vec<Tensor>,
    options: AdamOptions,
    lr: LiveScalar,
    initial_lr: Option<f64>,
    /// `1 − lr · λ`.
    decay: LiveScalar,
    /// Weight decay acts on the parameter itself.
    is_decoupled: bool,
    recorded: Recorded,
    moments: Vec<Option<Moments>>,
}

const NAMES: [&str; 3] = ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"];

impl Core {
    #[track_caller]
    fn new(
        name: &'static str,
        parameters: Vec<Tensor>,
        options: AdamOptions,
        decoupled: bool,
    ) -> Result<Core> {
        check_parameters(name, &parameters)?;
        check_options(name, &options)?;
        let moments = parameters.iter().map(|_| None).collect();
        let mut core = Core {
            name,
            parameters,
            options,
            lr: LiveScalar::new(options.lr),
            initial_lr: None,
            decay: LiveScalar::new(1.0),
            is_decoupled: decoupled,
            recorded: Recorded::default(),
            moments,
        };
        core.set_lr(options.lr)?;
        Ok(core)
    }

    #[track_caller]
    fn set_options(&mut self, options: AdamOptions) -> Result<()> {
        check_options(self.name, &options)?;
        self.recorded.check(self.name, AdamOptions { lr: options.lr, ..self.options } == options)?;
        self.options = options;
        self.set_lr(options.lr)
    }

    fn step(&mut self) -> Result<()> {
        let _guard = no_grad();
        self.recorded.note();
        let had: Vec<bool> = self.moments.iter().map(Option::is_some).collect();
        let mut changes: Changes = vec![None; had.len()];
        let made = self.change(&mut changes);
        if made.is_err() {
            // What was not written has had no step; what does not depend on the failure has.
            for ((slot, had), change) in self.moments.iter_mut().zip(had).zip(changes) {
                let is_made = change.as_ref().is_some_and(|node| matches!(node.value(), Some(Ok(_))));
                match slot {
                    _ if is_made => {}
                    Some(moments) if had && change.is_some() => moments.clock.go_back(),
                    Some(_) if had => {}
                    Some(_) | None => *slot = None,
                }
            }
        }
        made
    }

    fn change(&mut self, changes: &mut [Option<Node>]) -> Result<()> {
        let AdamOptions { betas, eps, weight_decay, amsgrad, maximize, .. } = self.options;
        let (beta1, beta2) = betas;
        let mut wanted = Vec::with_capacity(5 * self.parameters.len());
        // All that needs memory before anything is written: where there is none, no parameter has made a step.
        for (p, slot) in self.parameters.iter().zip(&mut self.moments) {
            if p.grad().is_none() {
                continue;
            }
            let moments = match slot {
                Some(moments) => moments,
                None => slot.insert(Moments {
                    mean: zeros_like(p)?,
                    square: zeros_like(p)?,
                    largest: None,
                    clock: Clock::new(0, &self.lr),
                }),
            };
            if amsgrad && moments.largest.is_none() {
                moments.largest = Some(zeros_like(p)?);
            }
            let Moments { mean, square, largest, .. } = moments;
            for remembered in [mean, square].into_iter().chain(largest) {
                follow(remembered, p)?;
            }
        }
        for (i, (p, slot)) in self.parameters.iter().zip(&mut self.moments).enumerate() {
            let (Some(grad), Some(Moments { mean, square, largest, clock })) = (p.grad(), slot) else {
                continue;
            };
            let largest = largest.as_ref().filter(|_| amsgrad);
            let mut g = grad.clone();
            if maximize {
                g = g.try_neg()?;
            }
            let mut value = p.clone();
            if weight_decay != 0.0 {
                if self.is_decoupled {
                    value = p.try_mul(&self.decay)?;
                } else {
                    g = g.try_add(p.try_mul(weight_decay)?)?;
                }
            }
            // Written through, not replaced: `jit` follows what is written to.
            mean.assign(settled(g.try_sub(&*mean)?.try_mul(1.0 - beta1)?.try_add(&*mean)?)?)?;
            square.assign(square.try_mul(beta2)?.try_add(g.try_square()?.try_mul(1.0 - beta2)?)?)?;
            if let Some(largest) = largest {
                largest.assign(largest.try_maximum(&*square)?)?;
            }
            clock.advance(betas, eps);
            let (again, back) = (clock.clone(), clock.clone());
            on_replay(move || again.advance(betas, eps));
            on_failed_replay(move || back.go_back());
            let root = largest.unwrap_or(square).try_sqrt()?;
            // m̂/(√v̂ + eps) with both corrections drawn into scalars: an operation less for every element.
            let change = mean.try_mul(&clock.rate)?.try_div(root.try_add(&clock.scaled_eps)?)?;
            p.assign(value.try_sub(change)?)?;
            changes[i] = Some(p.node());
            wanted.extend([p.clone(), grad, mean.clone(), square.clone()]);
            wanted.extend(largest.cloned());
        }
        Tensor::realize_all(&wanted)
    }

    #[track_caller]
    fn set_lr(&mut self, lr: f64) -> Result<()> {
        at_least_0(self.name, "a learning rate", lr)?;
        self.lr.set(lr);
        self.decay.set(1.0 - lr * self.options.weight_decay);
        Ok(())
    }

    fn state(&self) -> State {
        let slots = self.moments.iter().map(|slot| match slot {
            Some(m) => {
                let steps = Tensor::scalar(m.clock.steps.load(Ordering::Relaxed) as i64);
                (vec![Some(&m.mean), Some(&m.square), m.largest.as_ref()], Some(steps))
            }
            None => (vec![], None),
        });
        save_slots(&NAMES, slots)
    }

    #[track_caller]
    fn load_state(&mut self, state: &State) -> Result<()> {
        let used = if self.options.amsgrad { &NAMES[..] } else { &NAMES[..2] };
        let slots = load_slots(self.name, &NAMES, used, &self.parameters, state)?;
        let _guard = no_grad();
        for (slot, (tensors, steps)) in self.moments.iter_mut().zip(slots) {
            let mut tensors = tensors.into_iter();
            let (Some(Some(mean)), Some(Some(square))) = (tensors.next(), tensors.next()) else {
                *slot = None;
                continue;
            };
            let largest = tensors.next().flatten();
            match slot {
                // Written through, as by a step.
                Some(known) => {
                    known.mean.assign(mean)?;
                    known.square.assign(square)?;
                    match (&known.largest, largest) {
                        (Some(known), Some(largest)) => known.assign(largest)?,
                        (_, largest) => known.largest = largest,
                    }
                    known.clock.steps.store(steps, Ordering::Relaxed);
                }
                None => {
                    let clock = Clock::new(steps, &self.lr);
                    *slot = Some(Moments { mean, square, largest, clock });
                }
            }
        }
        Ok(())
    }
}

macro_rules! optimizer {
    ($(#[doc = $doc:literal])+ $Name:ident $name:literal $decoupled:literal $decay:literal) => {
        $(#[doc = $doc])+
        pub struct $Name(Core);

        impl $Name {
            /// With this learning rate and the default of every other option.
            ///
            /// # Errors
            ///
            /// As `with_options`.
            #[track_caller]
            pub fn new(parameters: Vec<Tensor>, lr: f64) -> Result<$Name> {
                let options = AdamOptions { lr, weight_decay: $decay, ..AdamOptions::default() };
                $Name::with_options(parameters, options)
            }

            /// With these options.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) for betas outside [0, 1), other options below 0 or not
            /// finite, no parameters, one twice, and what is no floating-point leaf.
            #[track_caller]
            pub fn with_options(parameters: Vec<Tensor>, options: AdamOptions) -> Result<$Name> {
                Ok($Name(Core::new($name, parameters, options, $decoupled)?))
            }

            /// The options, with the learning rate that it has now.
            #[must_use]
            pub fn options(&self) -> AdamOptions {
                AdamOptions { lr: self.0.lr.get(), ..self.0.options }
            }

            /// Changes the options for steps to come.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) for options that `with_options` does not take, and for another
            /// than the learning rate while `jit` holds a step of this optimiser.
            #[track_caller]
            pub fn set_options(&mut self, options: AdamOptions) -> Result<()> {
                self.0.set_options(options)
            }

            /// Whether `jit` holds a step of this optimiser.
            #[must_use]
            pub fn is_recorded(&self) -> bool {
                self.0.recorded.is_recorded()
            }
        }

        impl Optimizer for $Name {
            fn step(&mut self) -> Result<()> {
                self.0.step()
            }
            fn parameters(&self) -> &[Tensor] {
                &self.0.parameters
            }
            fn lr(&self) -> f64 {
                self.0.lr.get()
            }
            fn set_lr(&mut self, lr: f64) -> Result<()> {
                self.0.set_lr(lr)
            }
            fn initial_lr(&mut self) -> f64 {
                *self.0.initial_lr.get_or_insert(self.0.lr.get())
            }
            fn state(&self) -> State {
                self.0.state()
            }
            fn load_state(&mut self, state: &State) -> Result<()> {
                self.0.load_state(state)
            }
        }
    };
}
optimizer! {
    /// Adam: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, in PyTorch's form, with `eps` outside the root.
    Adam "Adam" false 0.0
}
optimizer! {
    /// Adam with decoupled weight decay: Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.
    AdamW "AdamW" true 0.01
}
