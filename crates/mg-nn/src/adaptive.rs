//! Losses of very many classes.

use mg_autograd::Tensor;
use mg_device::{Error, ErrorKind, Result};

use crate::container::Sequential;
use crate::fields;
use crate::linear::{Linear, LinearOptions};
use crate::module::{Module, no_forward, told};
use crate::options::{ByName, layer_options};

/// The logarithms of classes' probabilities, and the loss, where classes are sorted by how often they come: Grave et al., "Efficient softmax
/// approximation for GPUs", 2017.
///
/// The classes before the first cutoff are in the head. Each later group, up to the next, is one class of the head and has a tail of its own,
/// whose inputs are `div_value` times smaller from group to group.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_device::DType;
/// use mg_nn::AdaptiveLogSoftmaxWithLoss;
///
/// let layer = AdaptiveLogSoftmaxWithLoss::new(8, 20, &[4, 10])?;
/// let (output, loss) = layer.run(&Tensor::randn(&[3, 8], DType::F32)?, &Tensor::from_slice(&[0i64, 5, 19]))?;
/// assert_eq!((output.shape().dims(), loss.rank()), (&[3][..], 0));
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct AdaptiveLogSoftmaxWithLoss {
    /// Scores of the head's classes, those of groups behind the others.
    pub head: Linear,
    /// Scores of each group's classes.
    pub tail: Vec<Sequential>,
    /// Where groups begin, and behind them the number of classes.
    cutoffs: Vec<usize>,
}

layer_options! {
    /// How an [`AdaptiveLogSoftmaxWithLoss`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    AdaptiveLogSoftmaxOptions {
        /// How many times smaller inputs are from group to group: 4.
        div_value: f64 = 4.0,
        /// The head adds a number to each score: no.
        head_bias: bool = false,
    }
}

/// The options of this module's layer by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    (layer == NAME).then(|| AdaptiveLogSoftmaxOptions::default().by_name())
}

const NAME: &str = "AdaptiveLogSoftmaxWithLoss";

fn refused<T>(kind: ErrorKind) -> Result<T> {
    Err(Error::new(NAME, kind))
}

impl AdaptiveLogSoftmaxWithLoss {
    /// With PyTorch's defaults, in f32.
    ///
    /// # Errors
    ///
    /// Cutoffs that do not ascend from 1 to below the number of classes, or none; memory.
    #[track_caller]
    pub fn new(
        in_features: usize,
        n_classes: usize,
        cutoffs: &[usize],
    ) -> Result<AdaptiveLogSoftmaxWithLoss> {
        let options = AdaptiveLogSoftmaxOptions::default();
        AdaptiveLogSoftmaxWithLoss::with_options(in_features, n_classes, cutoffs, options)
    }

    /// With options.
    ///
    /// # Errors
    ///
    /// A `div_value` that is no positive number, a dtype that is not floating point; as [`AdaptiveLogSoftmaxWithLoss::new`].
    #[track_caller]
    pub fn with_options(
        in_features: usize,
        n_classes: usize,
        cutoffs: &[usize],
        options: AdaptiveLogSoftmaxOptions,
    ) -> Result<AdaptiveLogSoftmaxWithLoss> {
        let AdaptiveLogSoftmaxOptions { div_value, head_bias, dtype } = options;
        let all: Vec<usize> = cutoffs.iter().copied().chain([n_classes]).collect();
        if cutoffs.is_empty() || all[0] == 0 || all.windows(2).any(|pair| pair[0] >= pair[1]) {
            let text = format!(
                "takes cutoffs that ascend, from 1 to below the number of classes, got {cutoffs:?} of {n_classes} classes"
            );
            return refused(ErrorKind::Value(text));
        }
        if !(div_value > 0.0 && div_value.is_finite()) {
            return refused(ErrorKind::Value(format!("takes a positive div_value, got {div_value}")));
        }
        let plain = LinearOptions { bias: false, dtype };
        let of_head = LinearOptions { bias: head_bias, dtype };
        let head = Linear::with_options(in_features, cutoffs[0] + cutoffs.len(), of_head)?;
        let tails = all.windows(2).zip(1..).map(|(pair, group)| {
            let hidden = (in_features as f64 / div_value.powi(group)) as usize;
            let mut tail = Sequential::new();
            tail.push(Linear::with_options(in_features, hidden, plain)?);
            tail.push(Linear::with_options(hidden, pair[1] - pair[0], plain)?);
            Ok(tail)
        });
        let tail = tails.collect::<Result<Vec<Sequential>>>()?;
        Ok(AdaptiveLogSoftmaxWithLoss { head, tail, cutoffs: all })
    }

    /// The logarithm of each target's probability, of the target's shape, and the loss: the mean of its negative. Of an input
    /// `[batch, in_features]` the target is integers `[batch]`, of `[in_features]` one without axes.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; a target that is no class.
    #[track_caller]
    pub fn run(&self, input: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor)> {
        told(self, self.answers(input, target))
    }

    fn answers(&self, input: &Tensor, target: &Tensor) -> Result<(Tensor, Tensor)> {
        let (of, to) = (input.shape(), target.shape());
        let fits = to.rank() < 2 && of.rank() == to.rank() + 1 && (to.rank() == 0 || of[0] == to[0]);
        if !fits {
            let text = format!(
                "takes an input [batch, in_features] with a target [batch], or [in_features] with [], got shapes {of} and {to}"
            );
            return refused(ErrorKind::Shape(text));
        }
        if to.rank() == 0 {
            let (output, loss) = self.answers(&input.unsqueeze(0)?, &target.unsqueeze(0)?)?;
            return Ok((output.squeeze(Some(&[0]))?, loss));
        }
        let target = target.to_dtype(mg_device::DType::I64);
        let labels = target.to_vec::<i64>()?;
        let (shortlist, classes) = (self.cutoffs[0], self.cutoffs[self.tail.len()]);
        if let Some(&label) = labels.iter().find(|&&label| label < 0 || label >= classes as i64) {
            let text = format!("takes targets of at least 0 and below {classes}, got {label}");
            return refused(ErrorKind::Value(text));
        }
        // Whom a tail is asked for: those whose target lies in its group, which is a class of the head.
        let mut place = labels.clone();
        let mut output = Tensor::zeros(&to, input.dtype())?.to(input.device())?;
        for (group, tail) in self.tail.iter().enumerate() {
            let (low, high) = (self.cutoffs[group] as i64, self.cutoffs[group + 1] as i64);
            let rows: Vec<usize> =
                (0..labels.len()).filter(|&row| (low..high).contains(&labels[row])).collect();
            if rows.is_empty() {
                continue;
            }
            rows.iter().for_each(|&row| place[row] = (shortlist + group) as i64);
            let within: Vec<i64> = rows.iter().map(|&row| labels[row] - low).collect();
            let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
            let rows = Tensor::from_slice(&rows).to(input.device())?;
            let scores = tail.forward(&input.index_select(0, &rows)?)?;
            let found = picked(&scores, &within)?.to_dtype(output.dtype());
            output = output.index_copy(0, &rows, &found)?;
        }
        let output = output.try_add(picked(&self.head.forward(input)?, &place)?)?;
        let loss = output.try_neg()?.try_mean()?;
        Ok((output, loss))
    }

    /// The logarithms of all classes' probabilities, `[batch, classes]`, of an input `[batch, in_features]`.
    ///
    /// # Errors
    ///
    /// Another shape.
    #[track_caller]
    pub fn log_prob(&self, input: &Tensor) -> Result<Tensor> {
        told(self, self.all(input))
    }

    fn all(&self, input: &Tensor) -> Result<Tensor> {
        let heads = self.head.forward(input)?.try_log_softmax(Some(1), None)?;
        let mut parts = vec![heads.narrow(1, 0, self.cutoffs[0])?];
        for (group, tail) in self.tail.iter().enumerate() {
            let within = tail.forward(input)?.try_log_softmax(Some(1), None)?;
            parts.push(within.try_add(heads.narrow(1, (self.cutoffs[0] + group) as isize, 1)?)?);
        }
        Tensor::cat(&parts.iter().collect::<Vec<_>>(), 1)
    }

    /// The likeliest class of each row of an input `[batch, in_features]`: i64 `[batch]`.
    ///
    /// # Errors
    ///
    /// Another shape.
    #[track_caller]
    pub fn predict(&self, input: &Tensor) -> Result<Tensor> {
        told(self, self.all(input)?.try_argmax(Some(1), false))
    }
}

/// Of each row of scores, the logarithm of the softmax at a place.
fn picked(scores: &Tensor, at: &[i64]) -> Result<Tensor> {
    let at = Tensor::from_slice(at).to(scores.device())?.unsqueeze(1)?;
    scores.try_log_softmax(Some(1), None)?.gather(1, &at)?.squeeze(Some(&[1]))
}

impl Module for AdaptiveLogSoftmaxWithLoss {
    fn forward(&self, _: &Tensor) -> Result<Tensor> {
        no_forward(NAME)
    }
    fields!(head, tail);
}
