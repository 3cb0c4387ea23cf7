//! Rates by what gradients were before: RMSprop, Adagrad, Adadelta.

use mg_autograd::Tensor;
use mg_device::Result;

use super::number::Number;
use super::options::options;
use super::rule::{Rule, Step, common};
use super::{ByRule, at_least_0, checked, settled, zeros_like};

options! {
    /// Options of [`RMSprop`], with PyTorch's defaults.
    RMSpropOptions {
        /// The learning rate: 0.01.
        lr: f64 = 1e-2,
        /// How much of the running mean of squares goes on each step: 0.99.
        alpha: f64 = 0.99,
        /// What is added to the root of the mean square: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// How much of the last step goes on: 0, none.
        momentum: f64 = 0.0,
        /// The variance in place of the mean square: Graves, "Generating sequences with recurrent neural networks", 2013.
        centered: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`Adagrad`], with PyTorch's defaults.
    AdagradOptions {
        /// The learning rate: 0.01.
        lr: f64 = 1e-2,
        /// By how much of itself the learning rate falls with the steps, in `lr / (1 + (n − 1) · decay)`: 0.
        lr_decay: f64 = 0.0,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Where the sums of squares begin: 0.
        initial_accumulator_value: f64 = 0.0,
        /// What is added to the root of the sum: 10⁻¹⁰.
        eps: f64 = 1e-10,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`Adadelta`], with PyTorch's defaults.
    AdadeltaOptions {
        /// What its steps are multiplied by: 1.
        lr: f64 = 1.0,
        /// How much of the running means of squares goes on each step: 0.9.
        rho: f64 = 0.9,
        /// What is added to the mean squares: 10⁻⁶.
        eps: f64 = 1e-6,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

/// The gradient over the root of the running mean of its squares: Tieleman and Hinton, lecture 6.5 of "Neural networks for
/// machine learning", 2012.
pub type RMSprop = ByRule<RMSpropOptions>;

/// The gradient over the root of the sum of its squares: Duchi et al., "Adaptive subgradient methods for online learning and
/// stochastic optimization", 2011.
pub type Adagrad = ByRule<AdagradOptions>;

/// Steps in the parameters' own unit: Zeiler, "ADADELTA: an adaptive learning rate method", 2012.
pub type Adadelta = ByRule<AdadeltaOptions>;

/// Has a running mean of squares go on.
fn squared(held: &Tensor, g: &Tensor, rho: f64) -> Result<()> {
    held.assign(held.try_mul(rho)?.try_add(g.try_square()?.try_mul(1.0 - rho)?)?)
}

impl Rule for RMSpropOptions {
    const NAME: &'static str = "RMSprop";
    const MEMORY: &'static [&'static str] = &["square_avg", "momentum_buffer", "grad_avg"];

    common!(RMSpropOptions);

    fn check(&self) -> Result<()> {
        at_least_0("RMSprop", "an alpha", self.alpha)?;
        at_least_0("RMSprop", "an eps", self.eps)?;
        at_least_0("RMSprop", "a weight decay", self.weight_decay)?;
        at_least_0("RMSprop", "a momentum", self.momentum)
    }

    fn remembers(&self, i: usize, _: &Tensor) -> bool {
        match i {
            1 => self.momentum > 0.0,
            2 => self.centered,
            _ => true,
        }
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let g = step.decayed(self.weight_decay)?;
        let square = step.held(0);
        squared(square, &g, self.alpha)?;
        let mut spread = square.clone();
        if self.centered {
            let mean = step.held(2);
            mean.assign(settled(g.try_sub(mean)?.try_mul(1.0 - self.alpha)?.try_add(mean)?)?)?;
            spread = square.try_sub(mean.try_square()?)?;
        }
        let mut change = g.try_div(spread.try_sqrt()?.try_add(self.eps)?)?;
        if self.momentum > 0.0 {
            let held = step.held(1);
            held.assign(settled(held.try_mul(self.momentum)?.try_add(change)?)?)?;
            change = held.clone();
        }
        step.p.try_sub(change.try_mul(&step.shared[0])?)
    }
}

impl Rule for AdagradOptions {
    const NAME: &'static str = "Adagrad";
    const MEMORY: &'static [&'static str] = &["sum"];
    const IS_EAGER: bool = true;

    common!(AdagradOptions);

    fn check(&self) -> Result<()> {
        at_least_0("Adagrad", "a decay of the learning rate", self.lr_decay)?;
        at_least_0("Adagrad", "a weight decay", self.weight_decay)?;
        at_least_0("Adagrad", "an initial value", self.initial_accumulator_value)?;
        at_least_0("Adagrad", "an eps", self.eps)
    }

    fn initial(&self, _: usize, p: &Tensor) -> Result<Tensor> {
        super::full_like(p, self.initial_accumulator_value)
    }

    fn live(&self) -> [f64; 5] {
        [self.lr, self.lr_decay, 0.0, 0.0, 0.0]
    }

    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, decay, ..], zero, one) = (live, steps.lit(0.0), steps.lit(1.0));
        let rate = lr.over(&one.plus(&steps.minus(&one).times(decay)));
        ([rate, zero.clone(), zero.clone(), zero], kept.clone())
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let g = step.decayed(self.weight_decay)?;
        let sum = step.held(0);
        sum.assign(sum.try_add(g.try_square()?)?)?;
        step.p.try_sub(g.try_mul(&step.own[0])?.try_div(sum.try_sqrt()?.try_add(self.eps)?)?)
    }
}

impl Rule for AdadeltaOptions {
    const NAME: &'static str = "Adadelta";
    const MEMORY: &'static [&'static str] = &["square_avg", "acc_delta"];

    common!(AdadeltaOptions);

    fn check(&self) -> Result<()> {
        checked("Adadelta", "a rho", "in [0, 1]", self.rho, (0.0..=1.0).contains(&self.rho))?;
        at_least_0("Adadelta", "an eps", self.eps)?;
        at_least_0("Adadelta", "a weight decay", self.weight_decay)
    }

    fn initial(&self, _: usize, p: &Tensor) -> Result<Tensor> {
        Ok(zeros_like(p))
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let g = step.decayed(self.weight_decay)?;
        let (square, moved) = (step.held(0), step.held(1));
        squared(square, &g, self.rho)?;
        let root = |t: &Tensor| t.try_add(self.eps)?.try_sqrt();
        let change = root(moved)?.try_div(root(square)?)?.try_mul(&g)?;
        squared(moved, &change, self.rho)?;
        step.p.try_sub(change.try_mul(&step.shared[0])?)
    }
}
