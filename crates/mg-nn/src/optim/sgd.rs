//! Stochastic gradient descent.

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use super::options::options;
use super::rule::{Rule, Shared, Step, common};
use super::{ByRule, at_least_0, settled};

options! {
    /// Options of [`SGD`], with PyTorch's defaults.
    SGDOptions {
        /// The learning rate: 0.001.
        lr: f64 = 1e-3,
        /// How much of the last step goes on: 0, none.
        momentum: f64 = 0.0,
        /// How much less of a new gradient than all enters the momentum: 0.
        dampening: f64 = 0.0,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Nesterov's momentum, which looks a step ahead.
        nesterov: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

/// Stochastic gradient descent: `p − lr · g`, with momentum after Sutskever et al., "On the importance of initialization
/// and momentum in deep learning", 2013, in PyTorch's form.
pub type SGD = ByRule<SGDOptions>;

impl Rule for SGDOptions {
    const NAME: &'static str = "SGD";
    const MEMORY: &'static [&'static str] = &["momentum_buffer"];
    const COUNTS: bool = false;

    fn check(&self) -> Result<()> {
        at_least_0("SGD", "a momentum", self.momentum)?;
        at_least_0("SGD", "a weight decay", self.weight_decay)?;
        if self.nesterov && (self.momentum == 0.0 || self.dampening != 0.0) {
            let text = "Nesterov's momentum takes a momentum above 0 and no dampening".into();
            return Err(Error::new("SGD", ErrorKind::Value(text)));
        }
        Ok(())
    }

    common!(SGDOptions);

    fn shared(&self) -> Shared {
        [self.lr, self.momentum, 0.0, 0.0, 0.0, 0.0]
    }

    /// Schedules change the momentum too; without any, a recorded step has no place for it.
    fn is_heeded(&self, new: &SGDOptions) -> bool {
        let has = |options: &SGDOptions| options.momentum != 0.0;
        has(self) == has(new) && SGDOptions { momentum: new.momentum, ..*self } == *new
    }

    fn remembers(&self, _: usize, _: &Tensor) -> bool {
        self.momentum != 0.0
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [lr, momentum, ..] = step.shared;
        let mut g = step.decayed(self.weight_decay)?;
        if self.momentum != 0.0 {
            let held = step.held(0);
            held.assign(if step.is_new(0) {
                g.snapshot()
            } else {
                settled(held.try_mul(momentum)?.try_add(g.try_mul(1.0 - self.dampening)?)?)?
            })?;
            g = if self.nesterov { g.try_add(held.try_mul(momentum)?)? } else { held.clone() };
        }
        step.p.try_sub(g.try_mul(lr)?)
    }
}
