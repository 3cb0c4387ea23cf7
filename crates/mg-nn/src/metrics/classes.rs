//! Metrics of classes.

use mg_autograd::{Tensor, no_grad};
use mg_device::{DType, Error, ErrorKind, Result};

use super::{Metric, Sums, count, misfit, ratio, wanted};

fn refused<T>(op: &'static str, text: String) -> Result<T> {
    Err(Error::new(op, ErrorKind::Value(text)))
}

/// The predicted labels: of scores `[n, classes, …]` the largest's, of probabilities in the targets' shape whether
/// they are above ½, and labels as they are.
fn labels(op: &'static str, input: &Tensor, target: &Tensor) -> Result<Tensor> {
    let (shape, wanted) = (input.shape(), target.shape());
    if target.dtype().is_float() {
        let text = format!("takes labels as targets, got {}", target.dtype());
        return Err(Error::new(op, ErrorKind::DType(text)));
    }
    if shape == wanted {
        return match input.dtype().is_float() {
            true => Ok(input.try_gt(0.5)?.to_dtype(DType::I64)),
            false => Ok(input.to_dtype(DType::I64)),
        };
    }
    if shape.rank() == wanted.rank() + 1 && shape.rank() > 1 && shape.remove(1) == wanted {
        return input.try_argmax(Some(1), false);
    }
    misfit(op, format!("scores [n, classes, …] and labels [n, …], or equal shapes, got {shape} and {wanted}"))
}

/// How many predictions are right.
///
/// Of scores `[n, classes, …]` and labels `[n, …]`, a prediction is right where the label is among the `top_k`
/// largest scores (the first of equal ones are the larger); of probabilities in the labels' shape, where they are
/// above ½ as the label says; of labels, where they are equal.
#[derive(Debug)]
pub struct Accuracy {
    top_k: i64,
    sums: Sums,
}

impl Accuracy {
    /// Among so many scores.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for less than one.
    pub fn new(top_k: i64) -> Result<Accuracy> {
        if top_k < 1 {
            return refused("Accuracy", format!("takes a top_k of at least 1, got {top_k}"));
        }
        Ok(Accuracy { top_k, sums: Sums::default() })
    }
}

impl Metric for Accuracy {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let target = wanted("Accuracy", target)?;
        let right = if self.top_k == 1 {
            labels("Accuracy", input, target)?.try_eq(target)?
        } else {
            if input.rank() != target.rank() + 1
                || input.rank() < 2
                || input.shape().remove(1) != target.shape()
            {
                let (a, b) = (input.shape(), target.shape());
                return misfit(
                    "Accuracy",
                    format!("scores [n, classes, …] and labels [n, …], got {a} and {b}"),
                );
            }
            // What comes before the label: larger scores, and equal ones of smaller labels.
            let at = target.to_dtype(DType::I64).unsqueeze(1)?;
            let own = input.gather(1, &at)?;
            let classes = input.shape()[1];
            let mut line = vec![1; input.rank()];
            line[1] = classes as isize;
            let numbers = Tensor::arange(classes).to(input.device())?.reshape(&line)?;
            let before = input
                .try_gt(&own)?
                .try_logical_or(input.try_eq(&own)?.try_logical_and(numbers.try_lt(&at)?)?)?;
            before.to_dtype(DType::I64).try_sum_dim(&[1], false)?.try_lt(self.top_k)?
        };
        let n = count(right.numel(), right.device())?;
        self.sums.add(&[right.to_dtype(DType::I64).sum(), n])
    }

    fn compute(&self) -> Result<Tensor> {
        let [right, all] = self.sums.all();
        ratio(&right, &all)
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// What the counts of a confusion matrix are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalize {
    /// Nothing: they are counts.
    None,
    /// The number of each label.
    True,
    /// The number of each prediction.
    Pred,
    /// The number of all.
    All,
}

impl Normalize {
    /// By scikit-learn's word.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for another word.
    pub fn named(word: &str) -> Result<Normalize> {
        match word {
            "" | "none" => Ok(Normalize::None),
            "true" => Ok(Normalize::True),
            "pred" => Ok(Normalize::Pred),
            "all" => Ok(Normalize::All),
            other => refused(
                "ConfusionMatrix",
                format!("takes \"true\", \"pred\", \"all\" or none, got {other:?}"),
            ),
        }
    }
}

/// How often each label (a row) was predicted as each (a column): `[classes, classes]`, i64, or f32 where it is
/// divided.
#[derive(Debug)]
pub struct ConfusionMatrix {
    classes: usize,
    normalize: Normalize,
    sums: Sums,
}

impl ConfusionMatrix {
    /// Of so many classes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for less than two.
    pub fn new(classes: i64, normalize: Normalize) -> Result<ConfusionMatrix> {
        match usize::try_from(classes) {
            Ok(classes) if classes > 1 => Ok(ConfusionMatrix { classes, normalize, sums: Sums::default() }),
            Ok(_) | Err(_) => refused("ConfusionMatrix", format!("takes at least 2 classes, got {classes}")),
        }
    }

    fn counts(&self) -> Result<Tensor> {
        match self.sums.held.first() {
            Some(counts) => Ok(counts.clone()),
            None => Tensor::zeros(&[self.classes, self.classes], DType::I64),
        }
    }
}

impl Metric for ConfusionMatrix {
    fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
        let _guard = no_grad();
        let target = wanted("ConfusionMatrix", target)?;
        let predicted = labels("ConfusionMatrix", input, target)?.flatten(0, -1)?;
        let n = self.classes;
        let square = Tensor::zeros(&[n, n], DType::I64)?.to(target.device())?;
        let ones = Tensor::full(&[predicted.numel()], 1.0, DType::I64)?.to(target.device())?;
        // A label that is out of its range must not count as another one of the range, nor one below 0 from the end: `index_select` refuses both.
        let known = Tensor::arange(n).to(target.device())?;
        let label = |labels: &Tensor| known.index_select(0, labels);
        let index = [label(&target.to_dtype(DType::I64).flatten(0, -1)?)?, label(&predicted)?];
        let counts = square.index_put(&index, &ones, true)?;
        self.sums.add(&[counts])
    }

    fn compute(&self) -> Result<Tensor> {
        let _guard = no_grad();
        let counts = self.counts()?;
        let total = match self.normalize {
            Normalize::None => return Ok(counts.snapshot()),
            Normalize::True => counts.try_sum_dim(&[1], true)?,
            Normalize::Pred => counts.try_sum_dim(&[0], true)?,
            Normalize::All => counts.sum(),
        };
        // Of a label that there was none of, zeros, as scikit-learn has it.
        ratio(&counts, &total.try_maximum(1i64)?)
    }

    fn reset(&mut self) -> Result<()> {
        self.sums.reset()
    }
}

/// How metrics of each class become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// Not at all: one for each class.
    None,
    /// Of all predictions together.
    Micro,
    /// The mean of the classes'.
    Macro,
    /// The mean, weighed by how often each label is there.
    Weighted,
    /// That of class 1 of two.
    Binary,
}

impl Average {
    /// By scikit-learn's word.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for another word.
    pub fn named(word: &str) -> Result<Average> {
        match word {
            "" | "none" => Ok(Average::None),
            "micro" => Ok(Average::Micro),
            "macro" => Ok(Average::Macro),
            "weighted" => Ok(Average::Weighted),
            "binary" => Ok(Average::Binary),
            other => {
                let text = format!(
                    "takes \"micro\", \"macro\", \"weighted\", \"binary\" or none as average, got {other:?}"
                );
                refused("average", text)
            }
        }
    }
}

/// Which share of what.
#[derive(Clone, Copy, Debug)]
enum Share {
    Precision,
    Recall,
    F1,
}

#[derive(Debug)]
struct Shares {
    matrix: ConfusionMatrix,
    average: Average,
    share: Share,
}

impl Shares {
    fn new(classes: i64, average: Average, share: Share) -> Result<Shares> {
        if average == Average::Binary && classes != 2 {
            return refused("average", format!("\"binary\" is for 2 classes, got {classes}"));
        }
        Ok(Shares { matrix: ConfusionMatrix::new(classes, Normalize::None)?, average, share })
    }

    fn compute(&self) -> Result<Tensor> {
        let _guard = no_grad();
        let counts = self.matrix.counts()?.to_dtype(DType::F64);
        let right = counts.diagonal(0, 0, 1)?;
        let (labels, predicted) = (counts.try_sum_dim(&[1], false)?, counts.try_sum_dim(&[0], false)?);
        // Nothing of nothing is 0, as scikit-learn has it.
        let share = |over: &Tensor, under: &Tensor| over.try_div(under.try_maximum(1.0)?);
        let of = |right: &Tensor, labels: &Tensor, predicted: &Tensor| match self.share {
            Share::Precision => share(right, predicted),
            Share::Recall => share(right, labels),
            Share::F1 => share(&right.try_mul(2.0)?, &labels.try_add(predicted)?),
        };
        let each = || of(&right, &labels, &predicted);
        let answer = match self.average {
            Average::None => each()?,
            Average::Binary => each()?.select(0, 1)?,
            Average::Micro => of(&right.sum(), &labels.sum(), &predicted.sum())?,
            Average::Weighted => share(&each()?.try_mul(&labels)?.sum(), &labels.sum())?,
            // Of the classes that are there, as labels or as predictions.
            Average::Macro => {
                let there = labels.try_add(&predicted)?.try_gt(0.0)?.to_dtype(DType::F64).sum();
                share(&each()?.sum(), &there)?
            }
        };
        Ok(answer.to_dtype(DType::F32))
    }
}

macro_rules! shares {
    ($([$($doc:literal)+] $Name:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub struct $Name(Shares);

        impl $Name {
            /// Of so many classes.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::Value`] for less than two, and for a binary average of more.
            pub fn new(classes: i64, average: Average) -> Result<$Name> {
                Ok($Name(Shares::new(classes, average, shares!(@ $Name))?))
            }
        }

        impl Metric for $Name {
            fn update(&mut self, input: &Tensor, target: Option<&Tensor>) -> Result<()> {
                self.0.matrix.update(input, target)
            }

            fn compute(&self) -> Result<Tensor> {
                self.0.compute()
            }

            fn reset(&mut self) -> Result<()> {
                self.0.matrix.reset()
            }
        }
    )*};
    (@ Precision) => { Share::Precision };
    (@ Recall) => { Share::Recall };
    (@ F1Score) => { Share::F1 };
}
shares! {
    ["The part of a class's predictions that are right. It takes what [`Accuracy`] takes."] Precision;
    ["The part of a class's labels that were predicted. It takes what [`Accuracy`] takes."] Recall;
    ["The harmonic mean of [`Precision`] and [`Recall`]. It takes what [`Accuracy`] takes."] F1Score;
}
