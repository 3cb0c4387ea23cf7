//! What is left out at random.

use super::{float, noise, wide};
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::{Algebra, Rules};
use mg_macros::operations;

/// What is left out together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Single elements.
    Element,
    /// All of a channel: what lies behind the first two axes.
    Channel,
}

/// Checks a probability.
pub(super) fn check(op: &'static str, p: f64) -> Result<()> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(Error::new(op, ErrorKind::Value(format!("takes a probability in [0, 1], got {p}"))))
}

/// Whether elements stay.
fn kept(x: &Node, p: f64, unit: Unit) -> Result<Node> {
    let shape = match unit {
        Unit::Element => *x.shape(),
        Unit::Channel => (2..x.shape().rank()).fold(*x.shape(), |s, d| s.with(d, 1)),
    };
    // One draw in f32 whatever the dtype, so that it is the same elements.
    let random = noise(x, shape, DType::F32)?;
    Ok(Node::apply(mg_kernels::Row::Le, &[&random.lit(p), &random]))
}

/// Zeros where elements do not stay, and the rest scaled by 1/(1 − p). What is dropped is multiplied with 0, as in PyTorch: an infinity or NaN is told of.
fn weighed(x: &Node, p: f64, stays: &Node) -> Node {
    match p {
        1.0 => x.scale(0.0),
        p => x.mul(&stays.choose(&x.factor(1.0 / (1.0 - p)), &x.factor(0.0))),
    }
}

/// Zeros with probability `p`, and the rest scaled by 1/(1 − p).
fn drop(op: &'static str, t: &Tensor, p: f64, training: bool, unit: Unit) -> Result<Tensor> {
    check(op, p)?;
    if !training || p == 0.0 {
        return Ok(t.clone());
    }
    if p == 1.0 && !t.dtype().is_float() {
        return Ok(t.zeros_like());
    }
    if !t.dtype().is_float() {
        return Err(Error::new(
            op,
            ErrorKind::DType(format!("scales what stays: takes floats, got {}", t.dtype())),
        ));
    }
    if unit == Unit::Channel && draws(t, p, training) {
        at_least_two(op, t.shape())?;
    }
    let x = t.node();
    Ok(Tensor::from_node(weighed(&x, p, &kept(&x, p, unit)?)))
}

/// What keeps the mean and variance that `selu` makes: instead of 0 what is left out is the least value of `selu`.
fn drop_alpha(op: &'static str, t: &Tensor, p: f64, training: bool, unit: Unit) -> Result<Tensor> {
    check(op, p)?;
    if !training || p == 0.0 {
        return Ok(t.clone());
    }
    if unit == Unit::Channel && draws(t, p, training) {
        at_least_two(op, t.shape())?;
    }
    const ALPHA: f64 = 1.758_099_340_847_376_6;
    let x = float(t);
    if p == 1.0 {
        return Ok(Tensor::from_node(x.scale(0.0)));
    }
    let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
    let w = wide(&x);
    let stays = w.scale(scale).add(&w.lit(ALPHA * scale * p));
    let dropped = w.lit(ALPHA * scale * (p - 1.0));
    Ok(Tensor::from_node(kept(&x, p, unit)?.choose(&stays, &dropped).cast(x.dtype())))
}

/// Dropout of channels, for inputs of `with_batch` axes, or one fewer where there is no batch.
fn channels(op: &'static str, t: &Tensor, p: f64, training: bool, with_batch: usize) -> Result<Tensor> {
    check(op, p)?;
    if t.rank() != with_batch && draws(t, p, training) {
        return drop(op, &t.unsqueeze(0)?, p, training, Unit::Channel)?.squeeze(Some(&[0]));
    }
    drop(op, t, p, training, Unit::Channel)
}

/// Whether it is left to chance what stays.
fn draws(t: &Tensor, p: f64, training: bool) -> bool {
    training && p != 0.0 && p != 1.0 && t.numel() != 0
}

fn at_least_two(op: &'static str, shape: Shape) -> Result<()> {
    if shape.rank() >= 2 {
        return Ok(());
    }
    Err(Error::new(op, ErrorKind::Shape(format!("takes a batch and channels, got shape {shape}"))))
}

#[operations(DROPOUTS)]
impl Tensor {
    /// In training, zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014); else the tensor
    /// itself. Each element is multiplied with 0 or the scale: an infinity that is left out is NaN.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; integers, where some are left out.
    #[surface(method, nn, in_place)]
    pub fn dropout(&self, #[default(0.5)] p: f64, #[default(true)] training: bool) -> Result<Tensor> {
        drop("dropout", self, p, training, Unit::Element)
    }

    /// `dropout` of whole channels: of all behind the first two axes together.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; fewer than two axes, where something is left out.
    #[surface(function, in_place)]
    pub fn feature_dropout(&self, #[default(0.5)] p: f64, #[default(true)] training: bool) -> Result<Tensor> {
        drop("feature_dropout", self, p, training, Unit::Channel)
    }

    /// `dropout` of whole channels of `[n, channels, length]` or `[channels, length]`.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; another number of axes.
    #[surface(nn, in_place)]
    pub fn dropout1d(&self, #[default(0.5)] p: f64, #[default(true)] training: bool) -> Result<Tensor> {
        if !matches!(self.rank(), 2 | 3) {
            let text = format!("takes two or three axes, got shape {}", self.shape());
            return Err(Error::new("dropout1d", ErrorKind::Shape(text)));
        }
        channels("dropout1d", self, p, training, 3)
    }

    /// `dropout` of whole channels of `[n, channels, height, width]`: of all behind the first two axes together.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; fewer than two axes, where something is left out.
    #[surface(nn, in_place)]
    pub fn dropout2d(&self, #[default(0.5)] p: f64, #[default(true)] training: bool) -> Result<Tensor> {
        drop("dropout2d", self, p, training, Unit::Channel)
    }

    /// `dropout` of whole channels of `[n, channels, depth, height, width]`, or of that without a batch.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; fewer than two axes, where something is left out.
    #[surface(nn, in_place)]
    pub fn dropout3d(&self, #[default(0.5)] p: f64, #[default(true)] training: bool) -> Result<Tensor> {
        channels("dropout3d", self, p, training, 5)
    }

    /// In training, the least value of `selu` with probability `p`, shifted and scaled so that mean 0 and variance 1 stay (Klambauer
    /// et al., 2017); else the tensor itself. Integers become the default float.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1].
    #[surface(function, nn, in_place)]
    pub fn alpha_dropout(&self, #[default(0.5)] p: f64, #[default(false)] training: bool) -> Result<Tensor> {
        drop_alpha("alpha_dropout", self, p, training, Unit::Element)
    }

    /// `alpha_dropout` of whole channels: of all behind the first two axes together.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; fewer than two axes, where something is left out.
    #[surface(function, nn, in_place)]
    pub fn feature_alpha_dropout(
        &self,
        #[default(0.5)] p: f64,
        #[default(false)] training: bool,
    ) -> Result<Tensor> {
        drop_alpha("feature_alpha_dropout", self, p, training, Unit::Channel)
    }
}
