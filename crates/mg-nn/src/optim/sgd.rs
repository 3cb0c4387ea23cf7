//! Stochastic gradient descent.

use mg_autograd::{Tensor, no_grad};
use mg_device::{Error, ErrorKind, Result};
use mg_graph::{LiveScalar, Node};

use super::{
    Optimizer, Recorded, at_least_0, check_parameters, follow, load_slots, save_slots, settled, zeros_like,
};
use crate::state::State;

/// Options of [`SGD`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SGDOptions {
    /// The learning rate: 0.001.
    pub lr: f64,
    /// How much of the last step goes on: 0, none.
    pub momentum: f64,
    /// How much less of a new gradient than all enters the momentum: 0.
    pub dampening: f64,
    /// `λ` in `g + λp`: 0.
    pub weight_decay: f64,
    /// Nesterov's momentum, which looks a step ahead.
    pub nesterov: bool,
    /// Up the gradient rather than down.
    pub maximize: bool,
}

impl Default for SGDOptions {
    fn default() -> SGDOptions {
        SGDOptions {
            lr: 1e-3,
            momentum: 0.0,
            dampening: 0.0,
            weight_decay: 0.0,
            nesterov: false,
            maximize: false,
        }
    }
}

/// Stochastic gradient descent: `p − lr · g`, with momentum after Sutskever et al., "On the importance of initialization
/// and momentum in deep learning", 2013, in PyTorch's form.
pub struct SGD {
    parameters: Vec<Tensor>,
    options: SGDOptions,
    lr: LiveScalar,
    initial_lr: Option<f64>,
    recorded: Recorded,
    momentum: Vec<Option<Tensor>>,
}

impl SGD {
    /// Plain, with this learning rate.
    ///
    /// # Errors
    ///
    /// As [`SGD::with_options`].
    #[track_caller]
    pub fn new(parameters: Vec<Tensor>, lr: f64) -> Result<SGD> {
        SGD::with_options(parameters, SGDOptions { lr, ..SGDOptions::default() })
    }

    /// With these options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for options below 0 or not finite, Nesterov's momentum without momentum or with dampening, no
    /// parameters, one twice, and what is no floating-point leaf.
    #[track_caller]
    pub fn with_options(parameters: Vec<Tensor>, options: SGDOptions) -> Result<SGD> {
        check_parameters("SGD", &parameters)?;
        check_options(&options)?;
        let momentum = vec![None; parameters.len()];
        let lr = LiveScalar::new(options.lr);
        Ok(SGD { parameters, options, lr, initial_lr: None, recorded: Recorded::default(), momentum })
    }

    /// The options, with the learning rate that it has now.
    #[must_use]
    pub fn options(&self) -> SGDOptions {
        SGDOptions { lr: self.lr.get(), ..self.options }
    }

    /// Changes the options for steps to come.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for options that [`SGD::with_options`] does not take, and for another than the learning rate while
    /// `jit` holds a step of this optimiser.
    #[track_caller]
    pub fn set_options(&mut self, options: SGDOptions) -> Result<()> {
        check_options(&options)?;
        self.recorded.check("SGD", SGDOptions { lr: options.lr, ..self.options } == options)?;
        self.lr.set(options.lr);
        self.options = options;
        Ok(())
    }

    /// Whether `jit` holds a step of this optimiser.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.recorded.is_recorded()
    }
}

#[track_caller]
fn check_options(options: &SGDOptions) -> Result<()> {
    at_least_0("SGD", "a learning rate", options.lr)?;
    at_least_0("SGD", "a momentum", options.momentum)?;
    at_least_0("SGD", "a weight decay", options.weight_decay)?;
    if options.nesterov && (options.momentum == 0.0 || options.dampening != 0.0) {
        let text = "Nesterov's momentum takes a momentum above 0 and no dampening".into();
        return Err(Error::new("SGD", ErrorKind::Value(text)));
    }
    Ok(())
}

impl SGD {
    /// Writes the parameters, and tells the momenta that are `written`; others than those that `had` one begin theirs.
    fn change(&mut self, had: &[bool], written: &mut [Option<Node>]) -> Result<()> {
        let SGDOptions { momentum, dampening, weight_decay, nesterov, maximize, .. } = self.options;
        let mut wanted = Vec::with_capacity(3 * self.parameters.len());
        // All that needs memory before anything is written: where there is none, no parameter has made a step.
        for (p, buffer) in self.parameters.iter().zip(&mut self.momentum) {
            match buffer {
                _ if momentum == 0.0 || p.grad().is_none() => {}
                Some(held) => follow(held, p)?,
                None => *buffer = Some(zeros_like(p)?),
            }
        }
        for (i, (p, held)) in self.parameters.iter().zip(&self.momentum).enumerate() {
            let Some(grad) = p.grad() else { continue };
            let mut g = grad.clone();
            if maximize {
                g = g.try_neg()?;
            }
            if weight_decay != 0.0 {
                g = g.try_add(p.try_mul(weight_decay)?)?;
            }
            if let Some(held) = held.as_ref().filter(|_| momentum != 0.0) {
                // Written through, not replaced: `jit` follows what is written to.
                held.assign(if had[i] {
                    settled(held.try_mul(momentum)?.try_add(g.try_mul(1.0 - dampening)?)?)?
                } else {
                    g.snapshot()
                })?;
                written[i] = Some(held.node());
                g = if nesterov { g.try_add(held.try_mul(momentum)?)? } else { held.clone() };
                wanted.push(held.clone());
            }
            p.assign(p.try_sub(g.try_mul(&self.lr)?)?)?;
            wanted.extend([p.clone(), grad]);
        }
        Tensor::realize_all(&wanted)
    }
}

impl Optimizer for SGD {
    fn step(&mut self) -> Result<()> {
        let _guard = no_grad();
        self.recorded.note();
        let had: Vec<bool> = self.momentum.iter().map(Option::is_some).collect();
        let mut written = vec![None; had.len()];
        let made = self.change(&had, &mut written);
        if made.is_err() {
            // What was to be remembered and could not be computed is not: the next step is the first.
            for ((buffer, had), written) in self.momentum.iter_mut().zip(had).zip(written) {
                let is_made = |node: Node| matches!(node.value(), Some(Ok(_)));
                if !had && !written.is_some_and(is_made) {
                    *buffer = None;
                }
            }
        }
        made
    }

    fn parameters(&self) -> &[Tensor] {
        &self.parameters
    }

    fn lr(&self) -> f64 {
        self.lr.get()
    }

    fn set_lr(&mut self, lr: f64) -> Result<()> {
        at_least_0("SGD", "a learning rate", lr)?;
        self.lr.set(lr);
        Ok(())
    }

    fn initial_lr(&mut self) -> f64 {
        *self.initial_lr.get_or_insert(self.lr.get())
    }

    fn state(&self) -> State {
        save_slots(&["momentum_buffer"], self.momentum.iter().map(|buffer| (vec![buffer.as_ref()], None)))
    }

    fn load_state(&mut self, state: &State) -> Result<()> {
        let slots = load_slots("SGD", &["momentum_buffer"], &[], &self.parameters, state)?;
        let _guard = no_grad();
        for (held, (mut tensors, _)) in self.momentum.iter_mut().zip(slots) {
            match (&*held, tensors.pop().flatten()) {
                // Written through, as by a step.
                (Some(held), Some(loaded)) => held.assign(loaded)?,
                (_, loaded) => *held = loaded,
            }
        }
        Ok(())
    }
}
