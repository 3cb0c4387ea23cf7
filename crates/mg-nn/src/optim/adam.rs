//! Adam and what came of it: AdamW, Adamax, NAdam, RAdam.

use mg_autograd::Tensor;
use mg_device::Result;

use super::number::Number;
use super::options::options;
use super::rule::{Rule, Shared, Step, common};
use super::{ByRule, at_least_0, checked, settled};

options! {
    /// Options of [`Adam`], with PyTorch's defaults.
    AdamOptions {
        /// The learning rate: 0.001.
        lr: f64 = 1e-3,
        /// How much of the running means of gradients and of their squares goes on each step: 0.9 and 0.999.
        betas: (f64, f64) = (0.9, 0.999),
        /// What is added to the root of the mean square: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// The largest mean square so far in place of the last one: Reddi et al., "On the convergence of Adam and beyond", 2018.
        amsgrad: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
        /// Whether `lr · λp` is taken off the parameter, as [`AdamW`] does.
        decoupled_weight_decay: bool = false,
    }
}

options! {
    /// Options of [`AdamW`], with PyTorch's defaults: [`AdamOptions`] with a weight decay of 0.01, which takes `lr · λp` off
    /// the parameter.
    AdamWOptions {
        /// The learning rate: 0.001.
        lr: f64 = 1e-3,
        /// How much of the running means of gradients and of their squares goes on each step: 0.9 and 0.999.
        betas: (f64, f64) = (0.9, 0.999),
        /// What is added to the root of the mean square: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `p − lr · λp`: 0.01.
        weight_decay: f64 = 1e-2,
        /// The largest mean square so far in place of the last one.
        amsgrad: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`Adamax`], with PyTorch's defaults.
    AdamaxOptions {
        /// The learning rate: 0.002.
        lr: f64 = 2e-3,
        /// How much of the running mean of gradients and of their largest goes on each step: 0.9 and 0.999.
        betas: (f64, f64) = (0.9, 0.999),
        /// What is added to a gradient's magnitude: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`NAdam`], with PyTorch's defaults.
    NAdamOptions {
        /// The learning rate: 0.002.
        lr: f64 = 2e-3,
        /// How much of the running means of gradients and of their squares goes on each step: 0.9 and 0.999.
        betas: (f64, f64) = (0.9, 0.999),
        /// What is added to the root of the mean square: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// `ψ`, by which the momentum grows with the steps: 0.004.
        momentum_decay: f64 = 4e-3,
        /// Whether `lr · λp` is taken off the parameter in place of adding `λp` to the gradient.
        decoupled_weight_decay: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`RAdam`], with PyTorch's defaults.
    RAdamOptions {
        /// The learning rate: 0.001.
        lr: f64 = 1e-3,
        /// How much of the running means of gradients and of their squares goes on each step: 0.9 and 0.999.
        betas: (f64, f64) = (0.9, 0.999),
        /// What is added to the root of the mean square: 10⁻⁸.
        eps: f64 = 1e-8,
        /// `λ` in `g + λp`: 0.
        weight_decay: f64 = 0.0,
        /// Whether `lr · λp` is taken off the parameter in place of adding `λp` to the gradient.
        decoupled_weight_decay: bool = false,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

/// Adam: Kingma and Ba, "Adam: a method for stochastic optimization", 2015, in PyTorch's form, with `eps` outside the root.
pub type Adam = ByRule<AdamOptions>;

/// Adam with decoupled weight decay: Loshchilov and Hutter, "Decoupled weight decay regularization", 2019.
pub type AdamW = ByRule<AdamWOptions>;

/// Adam by the largest gradient instead of the mean square: Kingma and Ba, 2015, section 7.1.
pub type Adamax = ByRule<AdamaxOptions>;

/// Adam with Nesterov's momentum: Dozat, "Incorporating Nesterov momentum into Adam", 2016.
pub type NAdam = ByRule<NAdamOptions>;

/// Adam whose steps are rectified while the mean square is of few gradients: Liu et al., "On the variance of the adaptive
/// learning rate and beyond", 2020.
pub type RAdam = ByRule<RAdamOptions>;

impl From<AdamWOptions> for AdamOptions {
    fn from(w: AdamWOptions) -> AdamOptions {
        let AdamWOptions { lr, betas, eps, weight_decay, amsgrad, maximize } = w;
        AdamOptions { lr, betas, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay: true }
    }
}

#[track_caller]
fn check(op: &'static str, betas: (f64, f64), eps: f64, weight_decay: f64) -> Result<()> {
    at_least_0(op, "an eps", eps)?;
    at_least_0(op, "a weight decay", weight_decay)?;
    for beta in [betas.0, betas.1] {
        checked(op, "betas", "in [0, 1)", beta, (0.0..1.0).contains(&beta))?;
    }
    Ok(())
}

/// What the rules share: learning rate, `1 − lr · λ`, and the betas with what they leave.
fn shared(lr: f64, betas: (f64, f64), weight_decay: f64) -> Shared {
    [lr, 1.0 - lr * weight_decay, 1.0 - betas.0, betas.1, 1.0 - betas.1, 0.0]
}

/// `1 − βⁿ`.
fn correction<N: Number>(beta: &N, steps: &N) -> N {
    beta.lit(1.0).minus(&beta.to_the(steps))
}

/// A step's numbers beside which nothing is counted.
fn own<N: Number>(own: [N; 4], kept: &[N; 2]) -> ([N; 4], [N; 2]) {
    (own, kept.clone())
}

/// The gradient and the parameter with weight decay in the one or the other.
fn decay(step: &Step<'_>, weight_decay: f64, is_decoupled: bool) -> Result<(Tensor, Tensor)> {
    if is_decoupled && weight_decay != 0.0 {
        return Ok((step.grad.clone(), step.p.try_mul(&step.shared[1])?));
    }
    Ok((step.decayed(weight_decay)?, step.p.clone()))
}

/// Has the running mean of the gradients go on.
fn mean<'a>(step: &'a Step<'_>, g: &Tensor) -> Result<&'a Tensor> {
    let mean = step.held(0);
    mean.assign(settled(g.try_sub(mean)?.try_mul(&step.shared[2])?.try_add(mean)?)?)?;
    Ok(mean)
}

/// Has the running mean of their squares go on.
fn square<'a>(step: &'a Step<'_>, g: &Tensor) -> Result<&'a Tensor> {
    let square = step.held(1);
    let [_, _, _, beta2, rest2, _] = step.shared;
    square.assign(square.try_mul(beta2)?.try_add(g.try_square()?.try_mul(rest2)?)?)?;
    Ok(square)
}

/// What rules with betas say alike.
macro_rules! with_betas {
    ($Options:ident) => {
        common!($Options);

        fn shared(&self) -> Shared {
            shared(self.lr, self.betas, self.weight_decay)
        }

        /// Schedules change the betas too.
        fn is_heeded(&self, new: &$Options) -> bool {
            $Options { betas: new.betas, ..*self } == *new
        }
    };
}

impl Rule for AdamOptions {
    const NAME: &'static str = "Adam";
    const MEMORY: &'static [&'static str] = &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"];

    with_betas!(AdamOptions);

    fn live(&self) -> [f64; 5] {
        [self.lr, self.betas.0, self.betas.1, self.eps, 0.0]
    }

    fn check(&self) -> Result<()> {
        check("Adam", self.betas, self.eps, self.weight_decay)
    }

    fn remembers(&self, i: usize, _: &Tensor) -> bool {
        i < 2 || self.amsgrad
    }

    /// `lr · √c₂ / c₁` with the corrections `c = 1 − βⁿ`, and `eps · √c₂`.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, beta1, beta2, eps, _], zero) = (live, steps.lit(0.0));
        let root = correction(beta2, steps).root();
        let rate = lr.times(&root).over(&correction(beta1, steps));
        own([rate, eps.times(&root), zero.clone(), zero], kept)
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [rate, scaled_eps, ..] = step.own;
        let (g, value) = decay(step, self.weight_decay, self.decoupled_weight_decay)?;
        let (mean, mut square) = (mean(step, &g)?, square(step, &g)?);
        if self.amsgrad {
            let largest = step.held(2);
            largest.assign(largest.try_maximum(square)?)?;
            square = largest;
        }
        // m̂/(√v̂ + eps) with both corrections drawn into scalars: an operation less for every element.
        value.try_sub(mean.try_mul(rate)?.try_div(square.try_sqrt()?.try_add(scaled_eps)?)?)
    }
}

impl Rule for AdamWOptions {
    const NAME: &'static str = "AdamW";
    const MEMORY: &'static [&'static str] = AdamOptions::MEMORY;

    with_betas!(AdamWOptions);

    fn live(&self) -> [f64; 5] {
        AdamOptions::from(*self).live()
    }

    fn check(&self) -> Result<()> {
        check("AdamW", self.betas, self.eps, self.weight_decay)
    }

    fn remembers(&self, i: usize, p: &Tensor) -> bool {
        AdamOptions::from(*self).remembers(i, p)
    }

    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        AdamOptions::advance(live, steps, kept)
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        AdamOptions::from(*self).update(step)
    }
}

impl Rule for AdamaxOptions {
    const NAME: &'static str = "Adamax";
    const MEMORY: &'static [&'static str] = &["exp_avg", "exp_inf"];

    with_betas!(AdamaxOptions);

    fn live(&self) -> [f64; 5] {
        [self.lr, self.betas.0, 0.0, 0.0, 0.0]
    }

    fn check(&self) -> Result<()> {
        check("Adamax", self.betas, self.eps, self.weight_decay)
    }

    /// `lr / c₁`.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, beta1, ..], zero) = (live, steps.lit(0.0));
        own([lr.over(&correction(beta1, steps)), zero.clone(), zero.clone(), zero], kept)
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let g = step.decayed(self.weight_decay)?;
        let (mean, largest) = (mean(step, &g)?, step.held(1));
        let magnitude = g.try_abs()?.try_add(self.eps)?;
        largest.assign(largest.try_mul(&step.shared[3])?.try_maximum(magnitude)?)?;
        step.p.try_sub(mean.try_mul(&step.own[0])?.try_div(largest)?)
    }
}

impl Rule for NAdamOptions {
    const NAME: &'static str = "NAdam";
    const MEMORY: &'static [&'static str] = &["exp_avg", "exp_avg_sq"];
    const KEPT: &'static [&'static str] = &["mu_product"];

    with_betas!(NAdamOptions);

    fn live(&self) -> [f64; 5] {
        [self.lr, self.betas.0, self.betas.1, self.eps, self.momentum_decay]
    }

    fn check(&self) -> Result<()> {
        at_least_0("NAdam", "a momentum decay", self.momentum_decay)?;
        check("NAdam", self.betas, self.eps, self.weight_decay)
    }

    fn kept(&self) -> [f64; 2] {
        [1.0, 0.0]
    }

    /// What the gradient and the mean are multiplied by, and `eps`, each with `√c₂` drawn in.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, beta1, beta2, eps, decay], lit) = (live, |value| steps.lit(value));
        let one = lit(1.0);
        let mu = |n: &N| beta1.times(&one.minus(&lit(0.5).times(&lit(0.96).to_the(&n.times(decay)))));
        let (now, next) = (mu(steps), mu(&steps.plus(&one)));
        let product = kept[0].times(&now).rounded();
        let root = correction(beta2, steps).root();
        let of_grad = lr.times(&one.minus(&now)).over(&one.minus(&product));
        let of_mean = lr.times(&next).over(&one.minus(&product.times(&next)));
        let own = [of_grad.times(&root), of_mean.times(&root), eps.times(&root), lit(0.0)];
        (own, [product, kept[1].clone()])
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [of_grad, of_mean, scaled_eps, _] = step.own;
        let (g, value) = decay(step, self.weight_decay, self.decoupled_weight_decay)?;
        let (mean, square) = (mean(step, &g)?, square(step, &g)?);
        let ahead = g.try_mul(of_grad)?.try_add(mean.try_mul(of_mean)?)?;
        value.try_sub(ahead.try_div(square.try_sqrt()?.try_add(scaled_eps)?)?)
    }
}

impl Rule for RAdamOptions {
    const NAME: &'static str = "RAdam";
    const MEMORY: &'static [&'static str] = &["exp_avg", "exp_avg_sq"];

    with_betas!(RAdamOptions);

    fn live(&self) -> [f64; 5] {
        [self.lr, self.betas.0, self.betas.1, 0.0, 0.0]
    }

    fn check(&self) -> Result<()> {
        check("RAdam", self.betas, self.eps, self.weight_decay)
    }

    /// What the mean is multiplied by over the root of the mean square, and what by itself: one of them is 0.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, beta1, beta2, ..], n, lit) = (live, steps, |value| steps.lit(value));
        let c2 = correction(beta2, n);
        let rate = lr.over(&correction(beta1, n));
        let (one, two, four, zero) = (lit(1.0), lit(2.0), lit(4.0), lit(0.0));
        let longest = two.over(&one.minus(beta2)).minus(&one);
        let length = longest.minus(&two.times(n).times(&beta2.to_the(n)).over(&c2));
        let over = length.minus(&four).times(&length.minus(&two)).times(&longest);
        let under = longest.minus(&four).times(&longest.minus(&two)).times(&length);
        let rectified = rate.times(&over.over(&under).root()).times(&c2.root());
        let chosen = |then, or| length.choose_above(5.0, then, or);
        own([chosen(&rectified, &zero), chosen(&zero, &rate), zero.clone(), zero.clone()], kept)
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [rectified, plain, ..] = step.own;
        let (g, value) = decay(step, self.weight_decay, self.decoupled_weight_decay)?;
        let (mean, square) = (mean(step, &g)?, square(step, &g)?);
        // The root may be 0 where `eps` is, and 0/0 would be no number while what is over it is not even wanted.
        let root = square.try_sqrt()?.try_add(self.eps.max(1e-30))?;
        value.try_sub(mean.try_mul(rectified)?.try_div(root)?.try_add(mean.try_mul(plain)?)?)
    }
}
