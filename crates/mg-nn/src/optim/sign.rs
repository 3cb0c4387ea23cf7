//! Steps by gradients' signs, and averages: Rprop, Lion, ASGD.

use mg_autograd::Tensor;
use mg_device::Result;

use super::number::Number;
use super::options::options;
use super::rule::{Rule, Shared, Step, common};
use super::{ByRule, at_least_0, checked, full_like, settled, zeros_like};

options! {
    /// Options of [`Rprop`], with PyTorch's defaults.
    RpropOptions {
        /// The size of the first step: 0.01.
        lr: f64 = 1e-2,
        /// What a step's size is multiplied by where the gradient's sign changed and where it did not: 0.5 and 1.2.
        etas: (f64, f64) = (0.5, 1.2),
        /// The smallest and the largest step: 10⁻⁶ and 50.
        step_sizes: (f64, f64) = (1e-6, 50.0),
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`Lion`], with the defaults of the article.
    LionOptions {
        /// The learning rate: 0.0001.
        lr: f64 = 1e-4,
        /// How much of the momentum is in the step, and how much of it goes on: 0.9 and 0.99.
        betas: (f64, f64) = (0.9, 0.99),
        /// `λ` in `p − lr · λp`: 0.
        weight_decay: f64 = 0.0,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`ASGD`], with PyTorch's defaults.
    ASGDOptions {
        /// The learning rate: 0.01.
        lr: f64 = 1e-2,
        /// How the learning rate falls, in `lr / (1 + λ · lr · n)^α`: 0.0001.
        lambd: f64 = 1e-4,
        /// `α` there: 0.75.
        alpha: f64 = 0.75,
        /// The step where averaging begins: a million.
        t0: f64 = 1e6,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

/// Steps whose sizes follow the gradients' signs alone: Riedmiller and Braun, "A direct adaptive method for faster
/// backpropagation learning", 1993. For gradients of all samples at once.
pub type Rprop = ByRule<RpropOptions>;

/// The sign of a momentum: Chen et al., "Symbolic discovery of optimization algorithms", 2023.
pub type Lion = ByRule<LionOptions>;

/// Stochastic gradient descent that averages: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging",
/// 1992. The averages are in its state, under `ax`.
pub type ASGD = ByRule<ASGDOptions>;

impl Rule for RpropOptions {
    const NAME: &'static str = "Rprop";
    const MEMORY: &'static [&'static str] = &["prev", "step_size"];

    common!(RpropOptions);

    fn check(&self) -> Result<()> {
        let (less, more) = self.etas;
        checked("Rprop", "a first eta", "in (0, 1)", less, less > 0.0 && less < 1.0)?;
        checked("Rprop", "a second eta", "above 1", more, more > 1.0 && more.is_finite())?;
        at_least_0("Rprop", "a smallest step", self.step_sizes.0)?;
        at_least_0("Rprop", "a largest step", self.step_sizes.1)
    }

    fn initial(&self, i: usize, p: &Tensor) -> Result<Tensor> {
        if i == 0 { Ok(zeros_like(p)) } else { full_like(p, self.lr) }
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let (prev, size) = (step.held(0), step.held(1));
        let turn = step.grad.try_mul(prev)?;
        let (is_same, is_turned) = (turn.try_gt(0.0)?, turn.try_lt(0.0)?);
        let other = Tensor::where_(
            &is_turned,
            self.etas.0,
            Tensor::where_(&is_same, self.etas.1, full_like(&turn, 1.0)?)?,
        )?;
        let (smallest, largest) = self.step_sizes;
        size.assign(size.try_mul(other)?.try_maximum(smallest)?.try_minimum(largest)?)?;
        // Where the sign changed there is no step, and none is compared with in the next one.
        let g = Tensor::where_(&is_turned, 0.0, &step.grad)?;
        prev.assign(&g)?;
        step.p.try_sub(g.try_sign()?.try_mul(size)?)
    }
}

impl Rule for LionOptions {
    const NAME: &'static str = "Lion";
    const MEMORY: &'static [&'static str] = &["exp_avg"];
    const COUNTS: bool = false;

    common!(LionOptions);

    fn check(&self) -> Result<()> {
        at_least_0("Lion", "a weight decay", self.weight_decay)?;
        for beta in [self.betas.0, self.betas.1] {
            checked("Lion", "betas", "in [0, 1)", beta, (0.0..1.0).contains(&beta))?;
        }
        Ok(())
    }

    fn shared(&self) -> Shared {
        let (ahead, kept) = self.betas;
        [self.lr, 1.0 - self.lr * self.weight_decay, 1.0 - ahead, 1.0 - kept, 0.0, 0.0]
    }

    fn is_heeded(&self, new: &LionOptions) -> bool {
        LionOptions { betas: new.betas, ..*self } == *new
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [lr, decay, ahead, kept, ..] = step.shared;
        let (g, mean) = (&step.grad, step.held(0));
        let towards = |rest| g.try_sub(mean)?.try_mul(rest)?.try_add(mean);
        let sign = towards(ahead)?.try_sign()?;
        mean.assign(settled(towards(kept)?)?)?;
        let value = if self.weight_decay == 0.0 { step.p.clone() } else { step.p.try_mul(decay)? };
        value.try_sub(sign.try_mul(lr)?)
    }
}

impl Rule for ASGDOptions {
    const NAME: &'static str = "ASGD";
    const MEMORY: &'static [&'static str] = &["ax"];
    const KEPT: &'static [&'static str] = &["eta", "mu"];

    common!(ASGDOptions);

    fn check(&self) -> Result<()> {
        at_least_0("ASGD", "a lambd", self.lambd)?;
        at_least_0("ASGD", "an alpha", self.alpha)?;
        at_least_0("ASGD", "a weight decay", self.weight_decay)
    }

    fn kept(&self) -> [f64; 2] {
        [f64::from(self.lr as f32), 1.0]
    }

    fn live(&self) -> [f64; 5] {
        [self.lr, self.lambd, self.alpha, self.t0, 0.0]
    }

    /// The rate, `1 − λ · rate` and the part of the parameter in the average, as the step before left them.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, lambd, alpha, t0, _], [eta, mu], one) = (live, kept, steps.lit(1.0));
        let next = lr.over(&one.plus(&lambd.times(lr).times(steps)).to_the(alpha));
        let part = one.over(&steps.minus(t0).at_least(&one));
        let own = [eta.clone(), one.minus(&lambd.times(eta)), mu.clone(), steps.lit(0.0)];
        (own, [next.rounded(), part.rounded()])
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [eta, decay, mu, _] = step.own;
        let g = step.decayed(self.weight_decay)?;
        let value = step.p.try_mul(decay)?.try_sub(g.try_mul(eta)?)?;
        let average = step.held(0);
        average.assign(value.try_sub(average)?.try_mul(mu)?.try_add(average)?)?;
        Ok(value)
    }
}
