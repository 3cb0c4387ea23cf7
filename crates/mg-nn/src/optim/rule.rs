//! What an optimiser is declared by: its options, what it remembers of a parameter, and what a step makes of it.

use mg_autograd::{Operand, Tensor};
use mg_device::{Result, Shape};

use super::number::Number;
use super::options::Options;
use super::zeros_like;

/// Numbers that all parameters of a group share and that recorded steps read anew. The first is the learning rate.
pub type Shared = [f64; 6];

/// How many steps a parameter had, and what else is counted with them on the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Count {
    /// The steps.
    pub steps: u64,
    /// Numbers under the names of [`Rule::KEPT`]. As in PyTorch's files they are rounded to f32, so that a run that
    /// is resumed goes on with the same ones.
    pub kept: [f64; 2],
}

/// What rules say alike of options that have an `lr` and a `maximize`.
macro_rules! common {
    ($Options:ident) => {
        fn lr(&self) -> f64 {
            self.lr
        }

        fn with_lr(self, lr: f64) -> $Options {
            $Options { lr, ..self }
        }

        fn maximizes(&self) -> bool {
            self.maximize
        }
    };
}
pub(super) use common;

/// An optimiser of one kind, declared by its options.
///
/// What a recorded step reads of the options is either a constant of the recording or one of the live numbers that
/// [`Rule::shared`] and [`Rule::advance`] answer with.
pub trait Rule: Options {
    /// PyTorch's name.
    const NAME: &'static str;
    /// What is remembered of a parameter, under PyTorch's names.
    const MEMORY: &'static [&'static str];
    /// Whether steps are counted.
    const COUNTS: bool = true;
    /// The names of [`Count::kept`].
    const KEPT: &'static [&'static str] = &[];
    /// Whether something is remembered before the first step.
    const IS_EAGER: bool = false;

    /// Whether the options fit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`](mg_device::ErrorKind::Value) where they do not.
    fn check(&self) -> Result<()>;

    /// What is wrong with a parameter, for rules that do not take every one.
    fn mistake(&self, parameter: &Tensor) -> Option<String> {
        let _ = parameter;
        None
    }

    /// The learning rate.
    fn lr(&self) -> f64;

    /// The options with another learning rate.
    #[must_use]
    fn with_lr(self, lr: f64) -> Self;

    /// Whether a step goes up the gradient.
    fn maximizes(&self) -> bool;

    /// The numbers that recorded steps read anew; the first is the learning rate.
    fn shared(&self) -> Shared {
        [self.lr(), 0.0, 0.0, 0.0, 0.0, 0.0]
    }

    /// Whether steps that were recorded with these options are right with `new` ones of the same learning rate.
    fn is_heeded(&self, new: &Self) -> bool {
        self == new
    }

    /// Whether the `i`-th of [`Rule::MEMORY`] is remembered of a parameter.
    fn remembers(&self, i: usize, parameter: &Tensor) -> bool {
        let _ = (i, parameter);
        true
    }

    /// What is remembered before the first step, in memory of its own once it is computed.
    ///
    /// # Errors
    ///
    /// None for parameters that the rule takes.
    fn initial(&self, i: usize, parameter: &Tensor) -> Result<Tensor> {
        let _ = i;
        Ok(zeros_like(parameter))
    }

    /// The shape of what is remembered.
    ///
    /// # Errors
    ///
    /// None for parameters that the rule takes.
    fn shape(&self, i: usize, parameter: &Tensor) -> Result<Shape> {
        let _ = i;
        Ok(parameter.shape())
    }

    /// The counted numbers before the first step.
    fn kept(&self) -> [f64; 2] {
        [0.0; 2]
    }

    /// What [`Rule::advance`] reads of the options.
    fn live(&self) -> [f64; 5] {
        [0.0; 5]
    }

    /// The numbers of a step that has just been counted, and what is counted with the steps from then on.
    fn advance<N: Number>(live: &[N; 5], steps: &N, kept: &[N; 2]) -> ([N; 4], [N; 2]) {
        let _ = live;
        (std::array::from_fn(|_| steps.lit(0.0)), kept.clone())
    }

    /// Writes what is remembered through and answers with what the parameter becomes.
    ///
    /// # Errors
    ///
    /// Operations' that do not fit.
    fn update(&self, step: &Step<'_>) -> Result<Tensor>;
}

/// One parameter in one step.
pub struct Step<'a> {
    /// The parameter.
    pub p: &'a Tensor,
    /// Its gradient, turned round where the step goes up.
    pub grad: Tensor,
    /// What is remembered: [`Step::held`].
    pub(super) memory: &'a [Option<Tensor>],
    /// Which of it has only just begun.
    pub(super) begun: &'a [bool],
    /// [`Rule::shared`].
    pub shared: &'a [Operand; 6],
    /// [`Rule::advance`]'s.
    pub own: &'a [Operand; 4],
}

impl Step<'_> {
    /// The `i`-th of [`Rule::MEMORY`], for those that [`Rule::remembers`].
    pub fn held(&self, i: usize) -> &Tensor {
        // What a rule asks for and does not remember is a mistake in the rule; nothing is remembered of it then.
        self.memory[i].as_ref().unwrap_or(self.p)
    }

    /// Whether the `i`-th of [`Rule::MEMORY`] has only just begun.
    pub fn is_new(&self, i: usize) -> bool {
        self.begun[i]
    }

    /// The gradient with `λp` added, where there is a `λ`.
    pub fn decayed(&self, weight_decay: f64) -> Result<Tensor> {
        if weight_decay == 0.0 {
            return Ok(self.grad.clone());
        }
        self.grad.try_add(self.p.try_mul(weight_decay)?)
    }
}
