//! Losses: how far outputs are from what they should be.

use mg_autograd::{CrossEntropy, Tensor};
use mg_device::{DType, Error, ErrorKind, Result};

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
    fn apply(self, each: Tensor) -> Tensor {
        match self {
            Reduction::Mean => each.mean(),
            Reduction::Sum => each.sum(),
            Reduction::None => each,
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
    /// The label of samples that do not count.
    pub ignore_index: Option<i64>,
    /// The part of each target that is spread evenly over all classes.
    pub label_smoothing: f64,
}

losses! {
    /// The negative log likelihood of integer labels `[n]` under log probabilities `[n, classes]`.
    NLLLoss;
    /// Squared differences.
    MSELoss;
    /// The cross entropy of logits and probabilities of the same shape: `−y log σ(x) − (1 − y) log(1 − σ(x))`.
    BCEWithLogitsLoss;
}

impl CrossEntropyLoss {
    /// The loss of logits for labels or probabilities.
    ///
    /// # Errors
    ///
    /// As [`Tensor::cross_entropy_with`].
    #[track_caller]
    pub fn forward(&self, logits: &Tensor, target: &Tensor) -> Result<Tensor> {
        let options = CrossEntropy {
            weight: self.weight.as_ref(),
            ignore_index: self.ignore_index,
            label_smoothing: self.label_smoothing,
        };
        let terms = logits.cross_entropy_with(target, &options)?;
        match self.reduction {
            Reduction::Mean => terms.mean(),
            Reduction::Sum | Reduction::None => Ok(self.reduction.apply(terms.each)),
        }
    }
}

impl NLLLoss {
    /// The loss of log probabilities `[n, classes]` for labels `[n]`.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, labels that are not integers. A label out of range is found when the value is computed.
    #[track_caller]
    pub fn forward(&self, log_probabilities: &Tensor, labels: &Tensor) -> Result<Tensor> {
        let (x, n) = (log_probabilities.shape(), labels.shape());
        if x.rank() != 2 || n.rank() != 1 || x[0] != n[0] {
            let text = format!("takes log probabilities [n, classes] and labels [n], got {x} and {n}");
            return Err(Error::new("NLLLoss", ErrorKind::Shape(text)));
        }
        if !labels.dtype().is_int() {
            let text = format!("takes integer labels, got {}", labels.dtype());
            return Err(Error::new("NLLLoss", ErrorKind::DType(text)));
        }
        labels.check_indices("NLLLoss", 0, 1, x[1])?;
        let index = labels.to_dtype(DType::I64).unsqueeze(1)?;
        Ok(self.reduction.apply(log_probabilities.gather(1, &index)?.squeeze(Some(&[1]))?.try_neg()?))
    }
}

impl MSELoss {
    /// The loss of outputs for targets, whose shapes broadcast.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn forward(&self, output: &Tensor, target: &Tensor) -> Result<Tensor> {
        Ok(self.reduction.apply(output.try_sub(target)?.try_square()?))
    }
}

impl BCEWithLogitsLoss {
    /// The loss of logits for probabilities.
    ///
    /// # Errors
    ///
    /// Shapes that differ, unlike devices.
    #[track_caller]
    pub fn forward(&self, logits: &Tensor, target: &Tensor) -> Result<Tensor> {
        if logits.shape() != target.shape() {
            let text = format!("takes one shape, got {} and {}", logits.shape(), target.shape());
            return Err(Error::new("BCEWithLogitsLoss", ErrorKind::Shape(text)));
        }
        // max(x, 0) − x y + log(1 + e^−|x|). `maximum`, unlike `relu`, has the slope ½ at 0, where |x| has none.
        let linear = logits.try_maximum(0.0)?.try_sub(logits.try_mul(target)?)?;
        Ok(self.reduction.apply(linear.try_add(logits.try_abs()?.try_neg()?.try_softplus()?)?))
    }
}
