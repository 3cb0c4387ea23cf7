//! Losses: how far outputs are from what they should be.

use mg_autograd::{Operand, Tensor};
use mg_device::{Error, ErrorKind, Result};
use std::fmt::{Debug, Formatter};
use std::sync::Arc;

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

/// Losses as structs of what they are told, PyTorch's defaults unless a field says otherwise.
macro_rules! losses {
    ($(
        $(#[doc = $doc:literal])+
        $Name:ident { $($(#[doc = $of:literal])* $field:ident: $T:ty = $default:expr),* $(,)? } ($own:ident, $($x:ident),+) $name:ident $answer:expr;
    )*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        pub struct $Name {
            /// What becomes of the single losses: their mean.
            pub reduction: Reduction,
            $($(#[doc = $of])* pub $field: $T,)*
        }

        impl Default for $Name {
            fn default() -> $Name {
                $Name { reduction: Reduction::Mean, $($field: $default),* }
            }
        }

        impl $Name {
            /// The loss of these tensors.
            ///
            /// # Errors
            ///
            /// Shapes, dtypes and devices that do not go together.
            #[track_caller]
            pub fn forward(&self, $($x: &Tensor),+) -> Result<Tensor> {
                let ($own, $name) = (self, self.reduction.name());
                $answer
            }
        }
    )*};
}

losses! {
    /// The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]` (or `[classes]`, `[n, classes, …]`).
    NLLLoss {
        /// A weight for each class, `[classes]`.
        weight: Option<Tensor> = None,
        /// The label of samples that do not count: −100 where none is named.
        ignore_index: Option<i64> = None,
    } (own, log_probabilities, labels) name
        log_probabilities.try_nll_loss(labels, own.weight.as_ref(), own.ignore_index.unwrap_or(IGNORED), name);
    /// Squared differences of an output and a target.
    MSELoss {} (own, output, target) name { let _ = own; output.try_mse_loss(target, name, None) };
    /// Magnitudes of differences of an output and a target.
    L1Loss {} (own, output, target) name { let _ = own; output.try_l1_loss(target, name, None) };
    /// Differences `d` below `beta` as `½d²/beta`, others as `d − ½beta`: Girshick, 2015.
    SmoothL1Loss {
        /// Where a difference is no longer small: 1.
        beta: f64 = 1.0,
    } (own, output, target) name output.try_smooth_l1_loss(target, name, own.beta);
    /// Differences `d` below `delta` as `½d²`, others as `delta (d − ½delta)`: Huber, 1964.
    HuberLoss {
        /// Where a difference is no longer small: 1.
        delta: f64 = 1.0,
    } (own, output, target) name output.try_huber_loss(target, name, own.delta, None);
    /// The cross entropy of probabilities and targets of the same shape: `−y log p − (1 − y) log(1 − p)`.
    BCELoss {
        /// Weights that broadcast to the shape.
        weight: Option<Tensor> = None,
    } (own, probabilities, target) name probabilities.try_binary_cross_entropy(target, own.weight.as_ref(), name);
    /// The cross entropy of logits and probabilities of the same shape: `−y log σ(x) − (1 − y) log(1 − σ(x))`.
    BCEWithLogitsLoss {
        /// Weights that broadcast to the shape.
        weight: Option<Tensor> = None,
        /// Weights of the targets that are 1, broadcast to the shape.
        pos_weight: Option<Tensor> = None,
    } (own, logits, target) name
        logits.try_binary_cross_entropy_with_logits(target, own.weight.as_ref(), name, own.pos_weight.as_ref());
    /// The divergence of Kullback and Leibler of a target from log probabilities: `y (log y − x)`.
    KLDivLoss {
        /// The target is log probabilities, too: no.
        log_target: bool = false,
        /// The sum over the number of samples, whatever `reduction` says (PyTorch's `reduction="batchmean"`, the mathematical mean): no.
        batch_mean: bool = false,
    } (own, log_probabilities, target) name
        log_probabilities.try_kl_div(target, if own.batch_mean { "batchmean" } else { name }, own.log_target);
    /// The negative log likelihood of counts under Poisson distributions.
    PoissonNLLLoss {
        /// The input is the logarithm of the mean: yes.
        log_input: bool = true,
        /// With Stirling's approximation of what does not depend on the input: no.
        full: bool = false,
        /// What keeps the logarithm of a mean from being infinite: 1e−8.
        eps: f64 = 1e-8,
    } (own, input, target) name input.try_poisson_nll_loss(target, own.log_input, own.full, own.eps, name);
    /// The negative log likelihood of targets under normal distributions with these means and variances.
    GaussianNLLLoss {
        /// With the constant that does not depend on the input: no.
        full: bool = false,
        /// The smallest variance: 1e−6.
        eps: f64 = 1e-6,
    } (own, mean, target, variance) name mean.try_gaussian_nll_loss(target, variance, own.full, own.eps, name);
    /// `x` where the target is 1, and what `x` is below `margin` where it is −1.
    HingeEmbeddingLoss {
        /// How much is enough: 1.
        margin: f64 = 1.0,
    } (own, input, target) name input.try_hinge_embedding_loss(target, own.margin, name);
    /// How much is missing for `target · (first − second)` to be `margin`.
    MarginRankingLoss {
        /// How much is enough: 0.
        margin: f64 = 0.0,
    } (own, first, second, target) name Tensor::try_margin_ranking_loss(first, second, target, own.margin, name);
    /// `1 − cos` where the target is 1, and what the cosine is above `margin` where it is −1.
    CosineEmbeddingLoss {
        /// How much is little enough: 0.
        margin: f64 = 0.0,
    } (own, first, second, target) name Tensor::try_cosine_embedding_loss(first, second, target, own.margin, name);
    /// How much is missing for the negative to be `margin` farther from the anchor than the positive: Balntas et al., 2016.
    TripletMarginLoss {
        /// How much is enough: 1.
        margin: f64 = 1.0,
        /// Of the norm: 2.
        p: f64 = 2.0,
        /// What is added to differences: 1e−6.
        eps: f64 = 1e-6,
        /// The negative's distance is that from the positive where that is smaller: no.
        swap: bool = false,
    } (own, anchor, positive, negative) name
        Tensor::try_triplet_margin_loss(anchor, positive, negative, own.margin, own.p, own.eps, own.swap, name);
    /// `log(1 + e^(−y x))` of targets that are 1 or −1.
    SoftMarginLoss {} (own, input, target) name { let _ = own; input.try_soft_margin_loss(target, name) };
    /// How much is missing for the label's score to be `margin` above the others, to the power of `p`.
    MultiMarginLoss {
        /// 1 or 2: 1.
        p: i64 = 1,
        /// How much is enough: 1.
        margin: f64 = 1.0,
        /// A weight for each class, `[classes]`.
        weight: Option<Tensor> = None,
    } (own, input, labels) name input.try_multi_margin_loss(labels, own.p, own.margin, own.weight.as_ref(), name);
    /// As [`MultiMarginLoss`], of samples with several labels, behind which −1 stands.
    MultiLabelMarginLoss {} (own, input, labels) name { let _ = own; input.try_multilabel_margin_loss(labels, name) };
    /// The mean over classes of the cross entropy of logits and targets that are 0 or 1, `[n, classes]`.
    MultiLabelSoftMarginLoss {
        /// A weight for each class, `[classes]`.
        weight: Option<Tensor> = None,
    } (own, input, target) name input.try_multilabel_soft_margin_loss(target, own.weight.as_ref(), name);
    /// The negative log likelihood of sequences of labels `[n, length]` under log probabilities `[time, n, classes]`, over all alignments: Graves et
    /// al., "Connectionist temporal classification", 2006. Lengths are integers `[n]`.
    CTCLoss {
        /// The class that stands for no label: 0.
        blank: i64 = 0,
        /// What has no alignment counts as 0: no.
        zero_infinity: bool = false,
    } (own, log_probabilities, targets, input_lengths, target_lengths) name
        log_probabilities.try_ctc_loss(targets, input_lengths, target_lengths, own.blank, name, own.zero_infinity);
}

/// A distance of rows, for a [`TripletMarginWithDistanceLoss`]: a number for each pair.
pub type Distance = dyn Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync;

/// [`TripletMarginLoss`] with a distance of one's own.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::TripletMarginWithDistanceLoss;
///
/// let l1 = |a: &Tensor, b: &Tensor| Ok((a - b).abs().sum_dim(&[-1], false));
/// let rows = |values: [f32; 2]| Tensor::from_vec(values.to_vec(), &[1, 2]);
/// let loss = TripletMarginWithDistanceLoss::new(l1);
/// let loss = loss.forward(&rows([0.0, 0.0])?, &rows([1.0, 1.0])?, &rows([2.0, 0.5])?)?;
/// assert_eq!(loss.item::<f32>()?, 0.5);
/// # Ok::<(), mg_device::Error>(())
/// ```
#[derive(Clone)]
pub struct TripletMarginWithDistanceLoss {
    /// What becomes of the single losses: their mean.
    pub reduction: Reduction,
    /// How much is enough, above 0: 1.
    pub margin: f64,
    /// The negative's distance is that from the positive where that is smaller: no.
    pub swap: bool,
    /// [`Tensor::pairwise_distance`] where there is none.
    pub distance: Option<Arc<Distance>>,
}

impl Default for TripletMarginWithDistanceLoss {
    fn default() -> TripletMarginWithDistanceLoss {
        TripletMarginWithDistanceLoss { reduction: Reduction::Mean, margin: 1.0, swap: false, distance: None }
    }
}

impl TripletMarginWithDistanceLoss {
    /// Of a distance: a number for each pair of rows.
    pub fn new(
        distance: impl Fn(&Tensor, &Tensor) -> Result<Tensor> + Send + Sync + 'static,
    ) -> TripletMarginWithDistanceLoss {
        TripletMarginWithDistanceLoss { distance: Some(Arc::new(distance)), ..Default::default() }
    }

    fn distance(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        match &self.distance {
            Some(distance) => distance(a, b),
            None => Tensor::try_pairwise_distance(a, b, 2.0, 1e-6, false),
        }
    }

    /// The loss of these tensors.
    ///
    /// # Errors
    ///
    /// A margin that is not above 0; those of the distance; distances whose shapes do not go together.
    #[track_caller]
    pub fn forward(&self, anchor: &Tensor, positive: &Tensor, negative: &Tensor) -> Result<Tensor> {
        let margin = self.margin;
        if margin.is_nan() || margin <= 0.0 {
            let text = format!("takes a margin above 0, got {margin}");
            return Err(Error::new("TripletMarginWithDistanceLoss", ErrorKind::Value(text)));
        }
        let (near, mut far) = (self.distance(anchor, positive)?, self.distance(anchor, negative)?);
        if self.swap {
            far = far.try_minimum(&self.distance(positive, negative)?)?;
        }
        let excess = near.try_add(margin)?.try_sub(&far)?;
        // Not `clamp`, whose gradient is 0 at the bound.
        let loss = excess.masked_fill(&excess.try_lt(0.0)?, Operand::Float(0.0))?;
        match self.reduction {
            Reduction::Mean => loss.try_mean(),
            Reduction::Sum => loss.try_sum(),
            Reduction::None => Ok(loss),
        }
    }
}

impl Debug for TripletMarginWithDistanceLoss {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let mut of = f.debug_struct("TripletMarginWithDistanceLoss");
        of.field("reduction", &self.reduction).field("margin", &self.margin);
        of.field("swap", &self.swap).finish_non_exhaustive()
    }
}
