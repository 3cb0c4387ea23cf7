//! What is composed of rows and reductions, in numerically safe form. The scheduler makes one pass of each.

use crate::caller::public;
use crate::creation::with_default_device;
use crate::ops::or_panic;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use std::panic::Location;

/// The axes as a mask; no axes means all.
fn mask(node: &Node, axes: &[isize]) -> Result<u8> {
    let rank = node.shape().rank();
    if axes.is_empty() {
        return Ok(((1u16 << rank) - 1) as u8);
    }
    let mut mask = 0u8;
    for &axis in axes {
        let axis = normalize_axis(axis, rank)?;
        if mask >> axis & 1 == 1 {
            return Err(Error::new(
                "axis",
                ErrorKind::Value(format!("axis {axis} is named twice in {axes:?}")),
            ));
        }
        mask |= 1 << axis;
    }
    Ok(mask)
}

fn axis_mask(node: &Node, axis: isize) -> Result<u8> {
    Ok(1 << normalize_axis(axis, node.shape().rank().max(1))?)
}

/// A float node: integers become f32.
fn float(t: &Tensor) -> Node {
    let node = t.node();
    let dtype = if node.dtype().is_float() { node.dtype() } else { DType::F32 };
    node.cast(dtype)
}

/// How many elements each result of a reduction is of.
fn count(shape: &Shape, mask: u8) -> usize {
    (0..shape.rank()).filter(|&d| mask >> d & 1 == 1).map(|d| shape[d]).product()
}

macro_rules! reductions {
    ($($(#[doc = $doc:literal])+ $all:ident $some:ident $kind:ident;)*) => {
        impl Tensor {
            $(
                $(#[doc = $doc])+
                /// Of all elements.
                ///
                /// # Panics
                ///
                /// max and min of no elements.
                #[track_caller]
                pub fn $all(&self) -> Tensor {
                    or_panic(self.$some(&[], false))
                }

                $(#[doc = $doc])+
                /// Over some axes (all, if none is named).
                ///
                /// # Errors
                ///
                /// An axis out of range or named twice; max and min of no elements.
                #[track_caller]
                pub fn $some(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
                    let node = self.node();
                    public(stringify!($all), || {
                        let mask = mask(&node, axes)?;
                        Ok(Tensor::from_node(node.reduce(ReduceKind::$kind, mask, keepdim)?))
                    })
                }
            )*
        }
    };
}
reductions! {
    /// The sum. Floats are added in f32 or f64 blocks and those in f64; integers become i64.
    sum sum_dim Sum;
    /// The product.
    prod prod_dim Prod;
    /// The largest element; NaN if any is. Equal ones share the gradient.
    max max_dim Max;
    /// The smallest element; NaN if any is. Equal ones share the gradient.
    min min_dim Min;
}

impl Tensor {
    /// The index of the first largest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmax(&self, axis: Option<isize>) -> Result<Tensor> {
        public("argmax", || self.arg(ReduceKind::ArgMax, axis))
    }

    /// The index of the first smallest element along an axis (of the flattened tensor, without one), i64.
    ///
    /// # Errors
    ///
    /// An axis out of range, no elements.
    #[track_caller]
    pub fn argmin(&self, axis: Option<isize>) -> Result<Tensor> {
        public("argmin", || self.arg(ReduceKind::ArgMin, axis))
    }

    fn arg(&self, kind: ReduceKind, axis: Option<isize>) -> Result<Tensor> {
        let node = self.node();
        let mask = match axis {
            Some(axis) => axis_mask(&node, axis)?,
            None => mask(&node, &[])?,
        };
        Ok(Tensor::from_node(node.reduce(kind, mask, false)?))
    }

    /// The mean of all elements; of integers, in f32.
    ///
    /// # Panics
    ///
    /// Never, but the mean of nothing is NaN.
    #[track_caller]
    pub fn mean(&self) -> Tensor {
        or_panic(self.mean_dim(&[], false))
    }

    /// The mean over some axes (all, if none is named); of integers, in f32.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn mean_dim(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        public("mean", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            Ok(Tensor::from_node(mean(&node, mask, keepdim)?))
        })
    }

    /// The variance of all elements with Bessel's correction.
    #[track_caller]
    pub fn var(&self) -> Tensor {
        or_panic(self.var_dim(&[], 1, false))
    }

    /// The variance over some axes (all, if none is named): squares of deviations from the mean over count − `correction`.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice.
    #[track_caller]
    pub fn var_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        public("var", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            Ok(Tensor::from_node(variance(&node, mask, correction, keepdim)?))
        })
    }

    /// The square root of [`Tensor::var_dim`]; its gradient is 0 where nothing varies.
    ///
    /// # Errors
    ///
    /// As [`Tensor::var_dim`].
    #[track_caller]
    pub fn std_dim(&self, axes: &[isize], correction: usize, keepdim: bool) -> Result<Tensor> {
        public("std", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            let variance = variance(&node, mask, correction, keepdim)?;
            // What does not vary has the gradient 0, not 0 · ∞.
            let (zero, one) = (variance.lit(0.0), variance.lit(1.0));
            let is_flat = variance.eq(&zero);
            let root = is_flat.choose(&one, &variance).map(Row::Sqrt);
            Ok(Tensor::from_node(is_flat.choose(&zero, &root)))
        })
    }

    /// `log Σ eˣ` over some axes, without overflow.
    ///
    /// # Errors
    ///
    /// An axis out of range or named twice, no elements.
    #[track_caller]
    pub fn logsumexp(&self, axes: &[isize], keepdim: bool) -> Result<Tensor> {
        public("logsumexp", || {
            let node = float(self);
            let mask = mask(&node, axes)?;
            let (max, sum) = shifted_exp_sum(&node, mask)?;
            let result = sum.map(Row::Log).add(&max);
            let shape = *result.shape();
            let kept: Vec<usize> =
                (0..shape.rank()).filter(|&d| keepdim || mask >> d & 1 == 0).map(|d| shape[d]).collect();
            Ok(Tensor::from_node(result.reshape(Shape::of(&kept))?))
        })
    }

    /// `eˣ / Σ eˣ` along an axis.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn softmax(&self, axis: isize) -> Result<Tensor> {
        public("softmax", || {
            let node = float(self);
            let mask = axis_mask(&node, axis)?;
            if node.shape().numel() == 0 {
                return Ok(Tensor::from_node(node));
            }
            let e = node.sub(&largest(&node, mask)?).map(Row::Exp);
            // One division a row: its rounding costs at most one ulp, a division an element would cost a third of the time.
            let scale = node.lit(1.0).div(&e.reduce(ReduceKind::Sum, mask, true)?);
            Ok(Tensor::from_node(e.mul(&scale)))
        })
    }

    /// `log softmax` along an axis, without overflow.
    ///
    /// # Errors
    ///
    /// An axis out of range.
    #[track_caller]
    pub fn log_softmax(&self, axis: isize) -> Result<Tensor> {
        public("log_softmax", || {
            let node = float(self);
            let mask = axis_mask(&node, axis)?;
            if node.shape().numel() == 0 {
                return Ok(Tensor::from_node(node));
            }
            let shifted = node.sub(&largest(&node, mask)?);
            let sum = shifted.map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
            Ok(Tensor::from_node(shifted.sub(&sum.map(Row::Log))))
        })
    }

    /// Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016), by the error function.
    #[track_caller]
    pub fn gelu(&self) -> Tensor {
        let _at = mg_graph::at(Location::caller());
        let x = float(self);
        let phi = x.scale(std::f64::consts::FRAC_1_SQRT_2).map(Row::Erf).scale(0.5).add(&x.lit(0.5));
        Tensor::from_node(x.mul(&phi))
    }

    /// Gaussian error linear unit in its tanh form, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Tensor {
        let _at = mg_graph::at(Location::caller());
        let x = float(self);
        let cube = x.map(Row::Square).mul(&x);
        let inner = x.add(&cube.scale(0.044715)).scale((2.0 / std::f64::consts::PI).sqrt());
        let half = inner.map(Row::Tanh).scale(0.5).add(&x.lit(0.5));
        Tensor::from_node(x.mul(&half))
    }

    /// `x σ(x)`.
    #[track_caller]
    pub fn silu(&self) -> Tensor {
        let _at = mg_graph::at(Location::caller());
        let x = float(self);
        Tensor::from_node(x.mul(&x.map(Row::Sigmoid)))
    }

    /// `x`, or `slope · x` where negative.
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Tensor {
        let _at = mg_graph::at(Location::caller());
        let x = float(self);
        Tensor::from_node(x.lt(&x.lit(0.0)).choose(&x.scale(slope), &x))
    }

    /// Normalised over the last axes (as many as `weight` has), then scaled and shifted (Ba, Kiros, Hinton, 2016).
    ///
    /// # Errors
    ///
    /// Weight or bias of another shape than the last axes.
    #[track_caller]
    pub fn layer_norm(
        &self,
        normalized: &[usize],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        public("layer_norm", || {
            let x = float(self);
            let rank = x.shape().rank();
            if normalized.is_empty() || !x.shape().ends_with(normalized) {
                let text =
                    format!("normalises over {normalized:?}, which are not the last sizes of {}", x.shape());
                return Err(Error::new("layer_norm", ErrorKind::Shape(text)));
            }
            let mask = (rank - normalized.len()..rank).fold(0u8, |m, d| m | 1 << d);
            let centred = x.sub(&mean(&x, mask, true)?);
            let variance = mean(&centred.map(Row::Square), mask, true)?;
            let scale = x.lit(1.0).div(&variance.add(&x.lit(eps)).map(Row::Sqrt));
            let mut y = centred.mul(&scale);
            for (name, t, row) in [("weight", weight, Row::Mul), ("bias", bias, Row::Add)] {
                if let Some(t) = t {
                    let t = t.node();
                    if **t.shape() != *normalized {
                        let text = format!("{name} of shape {} for {normalized:?}", t.shape());
                        return Err(Error::new("layer_norm", ErrorKind::Shape(text)));
                    }
                    y = Node::map(row, &[&y, &t.cast(x.dtype())])?;
                }
            }
            Ok(Tensor::from_node(y))
        })
    }

    /// The mean cross entropy of logits `[n, classes]` and labels `[n]` (integers).
    ///
    /// # Errors
    ///
    /// Shapes that do not fit, labels that are not integers. A label out of range is found when the value is computed.
    #[track_caller]
    pub fn cross_entropy(&self, labels: &Tensor) -> Result<Tensor> {
        public("cross_entropy", || Ok(self.cross_entropy_each(labels)?.mean()))
    }

    /// The cross entropy of each row; see [`Tensor::cross_entropy`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::cross_entropy`].
    #[track_caller]
    pub fn cross_entropy_each(&self, labels: &Tensor) -> Result<Tensor> {
        public("cross_entropy", || {
            let (x, labels) = (float(self), labels.node());
            let fits =
                x.shape().rank() == 2 && labels.shape().rank() == 1 && x.shape()[0] == labels.shape()[0];
            if !fits {
                let text = format!(
                    "takes logits [n, classes] and labels [n], got {} and {}",
                    x.shape(),
                    labels.shape()
                );
                return Err(Error::new("cross_entropy", ErrorKind::Shape(text)));
            }
            if !labels.dtype().is_int() {
                let text = format!("takes integer labels, got {}", labels.dtype());
                return Err(Error::new("cross_entropy", ErrorKind::DType(text)));
            }
            let (n, classes) = (x.shape()[0], x.shape()[1]);
            if classes == 0 {
                return Err(Error::new(
                    "cross_entropy",
                    ErrorKind::Shape(format!("no classes in shape {}", x.shape())),
                ));
            }
            let labels = labels.guard(1, classes).cast(DType::I64).reshape(Shape::of(&[n, 1]))?;
            let here = Node::apply(Row::Eq, &[&Node::ramp(Shape::of(&[1, classes]), x.device()), &labels]);
            let shifted = x.sub(&largest(&x, 2)?);
            let sum = shifted.map(Row::Exp).reduce(ReduceKind::Sum, 2, true)?;
            let picked = here.choose(&shifted, &x.lit(0.0)).reduce(ReduceKind::Sum, 2, true)?;
            Ok(Tensor::from_node(sum.map(Row::Log).sub(&picked).reshape(Shape::of(&[n]))?))
        })
    }

    /// The mean of squared differences.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[track_caller]
    pub fn mse_loss(&self, target: &Tensor) -> Result<Tensor> {
        public("mse_loss", || Ok(self.try_sub(target)?.square().mean()))
    }

    /// The matrix product, as NumPy's `@`: vectors are taken as a row on the left and a column on the right, batches
    /// broadcast.
    ///
    /// # Errors
    ///
    /// Scalars, inner sizes that differ, batches that do not broadcast, unlike devices.
    #[track_caller]
    pub fn try_matmul(&self, other: &Tensor) -> Result<Tensor> {
        public("matmul", || {
            let (mut a, mut b) = (self.node(), other.node());
            let fail = |text: String| Error::new("matmul", ErrorKind::Shape(text));
            let (ra, rb) = (a.shape().rank(), b.shape().rank());
            if ra == 0 || rb == 0 {
                return Err(fail(format!(
                    "takes at least one axis on each side, got {} and {}",
                    a.shape(),
                    b.shape()
                )));
            }
            let (inner_a, inner_b) = (a.shape()[ra - 1], b.shape()[rb.max(2) - 2]);
            if inner_a != inner_b {
                return Err(fail(format!(
                    "shapes {} and {} do not fit: {inner_a} is not {inner_b}",
                    a.shape(),
                    b.shape()
                )));
            }
            let dtype = DType::promote(a.dtype(), b.dtype());
            (a, b) = (a.cast(dtype), b.cast(dtype));
            if ra == 1 && rb == 1 && matches!(dtype, DType::F32 | DType::F64) {
                // A sum's parts are added in pairs; a product of matrices adds along its inner axis one after the other,
                // which over millions of terms loses digits.
                let products = Tensor::from_node(a).try_mul(Tensor::from_node(b))?;
                return products.sum_dim(&[0], false);
            }
            if ra == 1 {
                a = a.reshape(Shape::of(&[1, inner_a]))?;
            }
            if rb == 1 {
                b = b.reshape(Shape::of(&[inner_b, 1]))?;
            }
            let mut out = a.matmul(&b)?;
            let mut shape = *out.shape();
            if rb == 1 {
                shape = shape.remove(shape.rank() - 1);
            }
            if ra == 1 {
                shape = shape.remove(shape.rank() - 1 - (rb != 1) as usize);
            }
            out = out.reshape(shape)?;
            Ok(Tensor::from_node(out))
        })
    }

    /// As [`Tensor::try_matmul`].
    ///
    /// # Panics
    ///
    /// Where that answers with an error.
    #[track_caller]
    pub fn matmul(&self, other: &Tensor) -> Tensor {
        or_panic(self.try_matmul(other))
    }

    /// Zeros with probability `p`, and the survivors scaled by 1/(1 − p) (Srivastava et al., 2014).
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1).
    #[track_caller]
    pub fn dropout(&self, p: f64) -> Result<Tensor> {
        public("dropout", || {
            if !(0.0..1.0).contains(&p) {
                let text = format!("takes a probability in [0, 1), got {p}");
                return Err(Error::new("dropout", ErrorKind::Value(text)));
            }
            let x = float(self);
            let random = with_default_device(self.device(), || Tensor::rand(x.shape(), DType::F32))??;
            let keep = random.ge(p).node();
            Ok(Tensor::from_node(keep.choose(&x.scale(1.0 / (1.0 - p)), &x.lit(0.0))))
        })
    }
}

/// The mean over the axes of a mask.
fn mean(node: &Node, mask: u8, keepdim: bool) -> Result<Node> {
    let sum = node.reduce(ReduceKind::Sum, mask, keepdim)?;
    let n = count(node.shape(), mask);
    Ok(if n == 0 { sum.scale(f64::NAN) } else { sum.scale(1.0 / n as f64) })
}

/// The variance over the axes of a mask, in two passes.
fn variance(node: &Node, mask: u8, correction: usize, keepdim: bool) -> Result<Node> {
    let centred = node.sub(&mean(node, mask, true)?);
    let sum = centred.map(Row::Square).reduce(ReduceKind::Sum, mask, keepdim)?;
    let n = count(node.shape(), mask).saturating_sub(correction);
    Ok(if n == 0 { sum.scale(f64::NAN) } else { sum.scale(1.0 / n as f64) })
}

/// The largest along the axes of a mask, without a gradient of its own: shifting by it changes no value. Where it is
/// infinite, the difference to it is NaN, and with it the softmax, as everywhere.
fn largest(node: &Node, mask: u8) -> Result<Node> {
    let was = mg_graph::set_tracking(false);
    let largest = node.reduce(ReduceKind::Max, mask, true);
    mg_graph::set_tracking(was);
    largest
}

/// As [`largest`], and finite: the logarithm of a sum that is 0 or ∞ is what it is, not ∞ − ∞.
fn peak(node: &Node, mask: u8) -> Result<Node> {
    let max = largest(node, mask)?;
    let finite = max.map(Row::Abs).lt(&max.lit(f64::INFINITY));
    Ok(finite.choose(&max, &max.lit(0.0)))
}

fn shifted_exp_sum(node: &Node, mask: u8) -> Result<(Node, Node)> {
    let max = peak(node, mask)?;
    let sum = node.sub(&max).map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
    Ok((max, sum))
}
