//! Optimisers that take parameters as matrices: Adafactor, Muon.

use mg_autograd::Tensor;
use mg_device::{DType, Result, Shape};

use super::number::Number;
use super::options::{OptionType, OptionValue, options};
use super::rule::{Rule, Shared, Step, common};
use super::{ByRule, at_least_0, checked, zeros_like};

options! {
    /// Options of [`Adafactor`], with PyTorch's defaults.
    AdafactorOptions {
        /// The learning rate at most: 0.01.
        lr: f64 = 1e-2,
        /// The exponent of the steps that says how much of a new gradient enters the means: −0.8.
        beta2_decay: f64 = -0.8,
        /// What a mean square is at least (without a number, the dtype's epsilon), and what a parameter's scale is: 0.001.
        eps: (Option<f64>, f64) = (None, 1e-3),
        /// The largest root of a step's mean square: 1.
        d: f64 = 1.0,
        /// `λ` in `p − lr · λp`: 0.
        weight_decay: f64 = 0.0,
        /// Up the gradient rather than down.
        maximize: bool = false,
    }
}

options! {
    /// Options of [`Muon`], with PyTorch's defaults.
    MuonOptions {
        /// The learning rate: 0.001.
        lr: f64 = 1e-3,
        /// `λ` in `p − lr · λp`: 0.1.
        weight_decay: f64 = 0.1,
        /// How much of the momentum goes on: 0.95.
        momentum: f64 = 0.95,
        /// Nesterov's momentum, which looks a step ahead.
        nesterov: bool = true,
        /// The coefficients of Newton and Schulz's polynomial.
        ns_coefficients: (f64, f64, f64) = (3.4445, -4.7750, 2.0315),
        /// What a gradient's norm is at least: 10⁻⁷.
        eps: f64 = 1e-7,
        /// How often the polynomial is applied: 5.
        ns_steps: u64 = 5,
        /// How the learning rate follows a matrix's shape.
        adjust_lr_fn: Option<AdjustLr> = None,
    }
}

/// How [`Muon`]'s learning rate follows the shape of a matrix of `a` rows and `b` columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdjustLr {
    /// Times `√max(1, a/b)`, as Jordan has it; where nothing is said, too.
    Original,
    /// Times `0.2 · √max(a, b)`, so that steps are as large as [`AdamW`](super::AdamW)'s.
    MatchRmsAdamw,
    /// Times `√(a/b)`, as Bernstein has it.
    SpectralUnclamped,
}

const WORDS: [(&str, AdjustLr); 3] = [
    ("original", AdjustLr::Original),
    ("match_rms_adamw", AdjustLr::MatchRmsAdamw),
    ("spectral_unclamped", AdjustLr::SpectralUnclamped),
];

impl OptionType for AdjustLr {
    const TAKES: &'static str = "'original', 'match_rms_adamw' or 'spectral_unclamped'";
    fn value(&self) -> OptionValue {
        let word = WORDS.iter().find(|(_, which)| which == self).map_or("", |(word, _)| word);
        OptionValue::Text(word.to_string())
    }
    fn of(value: &OptionValue) -> Option<AdjustLr> {
        let OptionValue::Text(text) = value else { return None };
        WORDS.iter().find(|(word, _)| word == text).map(|&(_, which)| which)
    }
}

/// Mean squares of rows and columns in place of one for each element: Shazeer and Stern, "Adafactor: adaptive learning rates
/// with sublinear memory cost", 2018, in PyTorch's form.
pub type Adafactor = ByRule<AdafactorOptions>;

/// A momentum whose singular values are made 1: Jordan et al., "Muon: an optimizer for hidden layers in neural networks",
/// 2024, in PyTorch's form. For matrices; other parameters are for another optimiser.
pub type Muon = ByRule<MuonOptions>;

/// The root of the mean square.
fn rms(t: &Tensor) -> Result<Tensor> {
    t.try_square()?.mean().try_sqrt()
}

impl Rule for AdafactorOptions {
    const NAME: &'static str = "Adafactor";
    const MEMORY: &'static [&'static str] = &["row_var", "col_var", "variance"];

    fn check(&self) -> Result<()> {
        let decay = self.beta2_decay;
        checked("Adafactor", "a beta2_decay", "of at most 0", decay, decay <= 0.0)?;
        at_least_0("Adafactor", "an eps", self.eps.0.unwrap_or(0.0))?;
        at_least_0("Adafactor", "an eps", self.eps.1)?;
        checked("Adafactor", "a d", "of at least 1", self.d, self.d >= 1.0 && self.d.is_finite())?;
        at_least_0("Adafactor", "a weight decay", self.weight_decay)
    }

    common!(AdafactorOptions);

    fn shared(&self) -> Shared {
        [self.lr, 1.0 - self.lr * self.weight_decay, 0.0, 0.0, 0.0, 0.0]
    }

    fn remembers(&self, i: usize, p: &Tensor) -> bool {
        (i == 2) == (p.rank() < 2)
    }

    fn initial(&self, i: usize, p: &Tensor) -> Result<Tensor> {
        Ok(match self.reduced(i, p) {
            Some(axis) => zeros_like(&p.try_mean_dim(&[axis], true)?),
            None => zeros_like(p),
        })
    }

    fn shape(&self, i: usize, p: &Tensor) -> Result<Shape> {
        match self.reduced(i, p) {
            Some(axis) => Ok(p.try_mean_dim(&[axis], true)?.shape()),
            None => Ok(p.shape()),
        }
    }

    fn live(&self) -> [f64; 5] {
        [self.lr, self.beta2_decay, 0.0, 0.0, 0.0]
    }

    /// How much of a new gradient enters the means, and the learning rate of a parameter whose scale is 1.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let ([lr, decay, ..], zero) = (live, steps.lit(0.0));
        let rate = lr.at_most(&steps.lit(1.0).over(&steps.root()));
        ([steps.to_the(decay), rate, zero.clone(), zero], kept.clone())
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let (p, g) = (step.p, &step.grad);
        let [enters, rate, ..] = step.own;
        let tiny = self.eps.0.unwrap_or(p.dtype().epsilon());
        let squares = g.try_square()?;
        let goes_on =
            |held: &Tensor, new: &Tensor| held.assign(new.try_sub(held)?.try_mul(enters)?.try_add(held)?);
        let estimate = if p.rank() < 2 {
            let variance = step.held(2);
            goes_on(variance, &squares)?;
            variance.clone()
        } else {
            let (rows, columns) = (step.held(0), step.held(1));
            goes_on(rows, &squares.try_mean_dim(&[-1], true)?)?;
            goes_on(columns, &squares.try_mean_dim(&[-2], true)?)?;
            rows.try_mul(columns)?.try_div(rows.try_mean_dim(&[-2], true)?.try_maximum(tiny)?)?
        };
        let change = g.try_div(estimate.try_maximum(tiny * tiny)?.try_sqrt()?)?;
        let clipped = rms(&change)?.try_div(self.d)?.try_maximum(1.0)?;
        let scale = rms(p)?.try_maximum(self.eps.1)?.try_mul(rate)?.try_div(clipped)?;
        let value = if self.weight_decay == 0.0 { p.clone() } else { p.try_mul(&step.shared[1])? };
        value.try_sub(change.try_mul(scale)?)
    }
}

impl AdafactorOptions {
    /// The axis that is one mean of what is remembered.
    fn reduced(&self, i: usize, p: &Tensor) -> Option<isize> {
        match i {
            0 if p.rank() > 1 => Some(-1),
            1 if p.rank() > 1 => Some(-2),
            _ => None,
        }
    }
}

impl Rule for MuonOptions {
    const NAME: &'static str = "Muon";
    const MEMORY: &'static [&'static str] = &["momentum_buffer"];
    const COUNTS: bool = false;

    fn check(&self) -> Result<()> {
        at_least_0("Muon", "a weight decay", self.weight_decay)?;
        at_least_0("Muon", "a momentum", self.momentum)?;
        at_least_0("Muon", "an eps", self.eps)?;
        let steps = self.ns_steps as f64;
        checked("Muon", "a number of steps of Newton and Schulz", "below 100", steps, steps < 100.0)
    }

    fn mistake(&self, p: &Tensor) -> Option<String> {
        (p.rank() != 2).then(|| format!("has shape {}; it takes matrices, of two axes", p.shape()))
    }

    fn lr(&self) -> f64 {
        self.lr
    }

    fn with_lr(self, lr: f64) -> MuonOptions {
        MuonOptions { lr, ..self }
    }

    fn maximizes(&self) -> bool {
        false
    }

    fn shared(&self) -> Shared {
        [self.lr, 1.0 - self.lr * self.weight_decay, self.momentum, 1.0 - self.momentum, 0.0, 0.0]
    }

    fn is_heeded(&self, new: &MuonOptions) -> bool {
        MuonOptions { momentum: new.momentum, ..*self } == *new
    }

    fn update(&self, step: &Step<'_>) -> Result<Tensor> {
        let [lr, decay, momentum, rest, ..] = step.shared;
        let (p, g, held) = (step.p, &step.grad, step.held(0));
        held.assign(g.try_sub(held)?.try_mul(rest)?.try_add(held)?)?;
        let ahead =
            if self.nesterov { held.try_sub(g)?.try_mul(momentum)?.try_add(g)? } else { held.clone() };
        let change = self.orthogonal(&ahead)?;
        let (a, b) = (p.size(0)? as f64, p.size(1)? as f64);
        let by_shape = match self.adjust_lr_fn {
            None | Some(AdjustLr::Original) => (a / b.max(1.0)).max(1.0).sqrt(),
            Some(AdjustLr::MatchRmsAdamw) => 0.2 * a.max(b).sqrt(),
            Some(AdjustLr::SpectralUnclamped) => (a / b.max(1.0)).sqrt(),
        };
        p.try_mul(decay)?.try_sub(change.try_mul(by_shape)?.try_mul(lr)?)
    }
}

impl MuonOptions {
    /// A matrix of the same directions whose singular values are all near 1, by Newton and Schulz's iteration. On devices
    /// whose products of bf16 are faster than those of f32, in bf16, as PyTorch's everywhere.
    fn orthogonal(&self, matrix: &Tensor) -> Result<Tensor> {
        let is_half = !matrix.device().is_cpu();
        let dtype = if is_half { DType::BF16 } else { DType::F32 };
        let is_tall = matrix.size(0)? > matrix.size(1)?;
        let turned = |t: &Tensor| if is_tall { t.transpose(0, 1) } else { Ok(t.clone()) };
        let mut x = turned(&matrix.to_dtype(dtype))?;
        x = x.try_div(x.try_norm(2.0, &[], false)?.try_maximum(self.eps)?)?;
        let (a, b, c) = self.ns_coefficients;
        for _ in 0..self.ns_steps {
            let gram = x.try_matmul(&x.transpose(0, 1)?)?;
            let by = gram.try_mul(b)?.try_add(gram.try_matmul(&gram)?.try_mul(c)?)?;
            x = x.try_mul(a)?.try_add(by.try_matmul(&x)?)?;
        }
        Ok(turned(&x)?.to_dtype(matrix.dtype()))
    }
}
