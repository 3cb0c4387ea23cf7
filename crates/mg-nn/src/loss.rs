//! Losses: how far outputs are from what they should be.

use mg_autograd::Tensor;
use mg_device::Result;

/// What becomes of the losses of the single samples or elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Nothing: all of them.
    None,
}

impl Reduction {
    /// As the losses of tensors call it.
    fn name(self) -> &'static str {
        match self {
            Reduction::Mean => "mean",
            Reduction::Sum => "sum",
            Reduction::None => "none",
        }
    }
}

macro_rules! losses {
    ($($(#[doc = $doc:literal])+ $Name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $Name {
            /// What becomes of the single losses.
            pub reduction: Reduction,
        }
    )*};
}
/// The cross entropy of logits `[classes]`, `[n, classes]` or `[n, classes, …]`, in nats. The target is integer labels in
/// the logits' shape without the classes, or probabilities in the logits' shape.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::CrossEntropyLoss;
///
/// let logits = Tensor::from_vec(vec![2.0f32, 1.0, 0.1], &[1, 3])?;
/// let loss = CrossEntropyLoss::default().forward(&logits, &Tensor::from_slice(&[0i64]))?;
/// assert!((loss.item::<f32>()? - 0.417030).abs() < 1e-6);
///
/// let loss = CrossEntropyLoss { ignore_index: Some(-1), ..CrossEntropyLoss::default() };
/// let logits = Tensor::from_vec(vec![2.0f32, 1.0, 0.1, 7.0, 8.0, 9.0], &[2, 3])?;
/// let loss = loss.forward(&logits, &Tensor::from_slice(&[0i64, -1]))?;
/// assert!((loss.item::<f32>()? - 0.417030).abs() < 1e-6);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct CrossEntropyLoss {
    /// What becomes of the single losses. Their mean is weighted, as the losses are.
    pub reduction: Reduction,
    /// A weight for each class, `[classes]`.
    pub weight: Option<Tensor>,
    /// The label of samples that do not count: −100 where none is named.
    pub ignore_index: Option<i64>,
    /// The part of each target that is spread evenly over all classes.
    pub label_smoothing: f64,
}

losses! {
    /// The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]` (or `[classes]`, `[n, classes, …]`).
    NLLLoss;
    /// Squared differences.
    MSELoss;
    /// The cross entropy of logits and probabilities of the same shape: `−y log σ(x) − (1 − y) log(1 − σ(x))`.
    BCEWithLogitsLoss;
}

/// The label that does not count where none is named.
const IGNORED: i64 = -100;

impl CrossEntropyLoss {
    /// The loss of logits for labels or probabilities.
    ///
    /// # Errors
    ///
    /// As [`Tensor::try_cross_entropy`].
    #[track_caller]
    pub fn forward(&self, logits: &Tensor, target: &Tensor) -> Result<Tensor> {
        logits.try_cross_entropy(
            target,
            self.weight.as_ref(),
            self.ignore_index.unwrap_or(IGNORED),
            self.reduction.name(),
            self.label_smoothing,
        )
    }
}

impl NLLLoss {
    /// The loss of log probabilities for labels.
    ///
    /// # Errors
    ///
    /// As [`Tensor::try_nll_loss`].
    #[track_caller]
    pub fn forward(&self, log_probabilities: &Tensor, labels: &Tensor) -> Result<Tensor> {
        log_probabilities.try_nll_loss(labels, None, IGNORED, self.reduction.name())
    }
}

impl MSELoss {
    /// The loss of outputs for targets, whose shapes broadcast.
    ///
    /// # Errors
    ///
    /// As [`Tensor::try_mse_loss`].
    #[track_caller]
    pub fn forward(&self, output: &Tensor, target: &Tensor) -> Result<Tensor> {
        output.try_mse_loss(target, self.reduction.name(), None)
    }
}

impl BCEWithLogitsLoss {
    /// The loss of logits for probabilities.
    ///
    /// # Errors
    ///
    /// As [`Tensor::try_binary_cross_entropy_with_logits`].
    #[track_caller]
    pub fn forward(&self, logits: &Tensor, target: &Tensor) -> Result<Tensor> {
        logits.try_binary_cross_entropy_with_logits(target, None, self.reduction.name(), None)
    }
}
