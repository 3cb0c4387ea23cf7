//! Activation functions.

use super::elementwise::unary;
use super::{axis_mask, float, float_as, set_aside, wide, with_noise};
use crate::creation::{drawn_in, uniform};
use crate::generator::Generator;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Result, normalize_axis};
use mg_graph::Node;
use mg_kernels::{Algebra, ReduceKind, Row, Rules};
use mg_macros::operations;

/// A node as it is, but for truth values, which have no order to be bounded in.
fn ordered(op: &'static str, t: &Tensor) -> Result<Node> {
    if t.dtype().is_bool() {
        return Err(Error::new(op, ErrorKind::DType("takes numbers, got truth values".into())));
    }
    Ok(t.node())
}

/// `x` where it is positive and `f(x)` where it is negative; `f`, whose slope at 0 is `slope`, is not asked about the rest. At 0 the
/// curve is straight, as in PyTorch: the second derivative is 0 there.
fn above_zero(x: &Node, slope: f64, f: impl FnOnce(&Node) -> Node) -> Node {
    let zero = x.lit(0.0);
    let negative = x.lt(&zero);
    let straight =
        if slope == 1.0 { x.clone() } else { Node::apply(Row::Le, &[x, &zero]).choose(&x.scale(slope), x) };
    negative.choose(&f(&negative.choose(x, &zero)), &straight)
}

/// eˣ − 1 for `x` up to 0, whose gradient is that of eˣ: of what is 1 more than the result nothing is left where `x` is far below 0.
fn power_less_one(x: &Node) -> Node {
    if !(x.is_tracked() && mg_graph::is_tracking()) {
        return x.map(Row::Expm1);
    }
    let (power, value) = set_aside(|| (x.map(Row::Exp), x.map(Row::Expm1)));
    x.map(Row::Exp).sub(&power).add(&value)
}

/// `x` between two numbers, whose gradient is 0 at and beyond them; NaN stays.
fn between(x: &Node, low: f64, high: f64) -> Node {
    let (low, high) = (x.lit(low), x.lit(high));
    let beyond = Node::apply(Row::Le, &[&high, x]);
    Node::apply(Row::Le, &[x, &low]).choose(&low, &beyond.choose(&high, x))
}

/// The axis of a softmax whose axis nobody names: PyTorch's choice.
fn implicit(t: &Tensor) -> isize {
    isize::from(!matches!(t.rank(), 0 | 1 | 3))
}

#[operations(ACTIVATIONS)]
impl Tensor {
    /// Gaussian error linear unit, `x Φ(x)` (Hendrycks and Gimpel, 2016): by the error function or, with
    /// `approximate = "tanh"`, `½x (1 + tanh(√(2/π)(x + 0.044715x³)))`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Another word than `"none"` and `"tanh"`.
    #[surface(method, nn)]
    pub fn gelu(&self, #[default("none")] approximate: &str) -> Result<Tensor> {
        let own = float(self);
        let x = wide(&own);
        let y = match approximate {
            "none" => x.map(Row::Gelu),
            "tanh" => {
                let cube = x.map(Row::Square).mul(&x);
                let inner = x.add(&cube.scale(0.044715)).scale((2.0 / std::f64::consts::PI).sqrt());
                x.mul(&inner.map(Row::Tanh).scale(0.5).add(&x.lit(0.5)))
            }
            other => {
                let text = format!("approximate is \"none\" or \"tanh\", got {other:?}");
                return Err(Error::new("gelu", ErrorKind::Value(text)));
            }
        };
        Ok(Tensor::from_node(y.cast(own.dtype())))
    }

    /// Sigmoid linear unit, `x σ(x)`. Integers become the default float.
    #[surface(method, nn, in_place)]
    pub fn silu(&self) -> Result<Tensor> {
        unary(self, |x| x.mul(&x.map(Row::Sigmoid)))
    }

    /// `x`, or `negative_slope · x` where `x` is not positive. Integers become the default float.
    #[surface(method, nn, in_place)]
    pub fn leaky_relu(&self, #[default(0.01)] negative_slope: f64) -> Result<Tensor> {
        let x = float(self);
        Ok(Tensor::from_node(x.lit(0.0).lt(&x).choose(&x, &x.scale(negative_slope))))
    }

    /// `x`, or `alpha (exp(x / alpha) − 1)` where `x` is not positive (Barron, 2017). Integers become the default float.
    ///
    /// # Errors
    ///
    /// An `alpha` of 0.
    #[surface(function, nn, in_place)]
    pub fn celu(&self, #[default(1.0)] alpha: f64) -> Result<Tensor> {
        if alpha == 0.0 {
            return Err(Error::new("celu", ErrorKind::Value("alpha cannot be 0".into())));
        }
        let below = |x: &Node| power_less_one(&x.scale(1.0 / alpha)).scale(alpha);
        unary(self, |x| above_zero(x, 1.0, below))
    }

    /// `x`, or `alpha (eˣ − 1)` where `x` is not positive (Clevert, Unterthiner and Hochreiter, 2015). Integers become the default float.
    #[surface(nn, in_place)]
    pub fn elu(&self, #[default(1.0)] alpha: f64) -> Result<Tensor> {
        unary(self, |x| above_zero(x, alpha, |x| power_less_one(x).scale(alpha)))
    }

    /// `elu` with the scales that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017). Integers become the default float.
    #[surface(function, nn, in_place)]
    pub fn selu(&self) -> Result<Tensor> {
        const ALPHA: f64 = 1.673_263_242_354_377_2;
        const SCALE: f64 = 1.050_700_987_355_480_5;
        unary(self, |x| above_zero(x, ALPHA, |x| power_less_one(x).scale(ALPHA)).scale(SCALE))
    }

    /// `log(1 + exp(beta · x)) / beta`, without overflow, and `x` where `beta · x` is above `threshold`. From a threshold of 20
    /// on that changes nothing that f32 could tell, and what is more exact is computed. Integers become the default float.
    #[surface(method, function, nn, in_place)]
    pub fn softplus(&self, #[default(1.0)] beta: f64, #[default(20.0)] threshold: f64) -> Result<Tensor> {
        unary(self, |x| {
            let steep = x.scale(beta);
            let soft = steep.map(Row::Softplus);
            let soft = soft.div(&soft.lit(beta));
            if threshold >= 20.0 { soft } else { steep.lit(threshold).lt(&steep).choose(x, &soft) }
        })
    }

    /// `x`, no smaller than `min_val` and no larger than `max_val`; the gradient is 0 at the bounds. Integers stay.
    ///
    /// # Errors
    ///
    /// Truth values; a `max_val` below 0 for unsigned integers; a `min_val` above `max_val`.
    #[surface(nn, in_place, integers)]
    pub fn hardtanh(&self, #[default(-1.0)] min_val: f64, #[default(1.0)] max_val: f64) -> Result<Tensor> {
        let x = ordered("hardtanh", self)?;
        let fail = |text: String| Err(Error::new("hardtanh", ErrorKind::Value(text)));
        if min_val > max_val {
            return fail(format!("takes a min_val that is not above max_val, got {min_val} and {max_val}"));
        }
        // Unsigned numbers are not below 0 anyway.
        let unsigned = x.dtype().int_range().is_some_and(|(least, _)| least == 0);
        if unsigned && max_val < 0.0 {
            return fail(format!("{} are not below 0: takes no max_val of {max_val}", x.dtype()));
        }
        let min_val = if unsigned { min_val.max(0.0) } else { min_val };
        Ok(Tensor::from_node(between(&x, min_val, max_val)))
    }

    /// `x`, no smaller than 0 and no larger than 6; the gradient is 0 at the bounds. Integers stay.
    ///
    /// # Errors
    ///
    /// Truth values.
    #[surface(nn, in_place, integers)]
    pub fn relu6(&self) -> Result<Tensor> {
        Ok(Tensor::from_node(between(&ordered("relu6", self)?, 0.0, 6.0)))
    }

    /// `log σ(x)`, without overflow. Integers become the default float.
    #[surface(nn)]
    pub fn logsigmoid(&self) -> Result<Tensor> {
        Ok(Tensor::from_node(float(self).neg().map(Row::Softplus).neg()))
    }

    /// `x`, or `weight · x` where `x` is not positive; `weight` is one number, or one for each position along axis 1 (He et al.,
    /// 2015). Integers become the default float.
    ///
    /// # Errors
    ///
    /// A weight of more than one axis, or of another size than axis 1; unlike dtypes.
    #[surface(method, function, nn, not_in_kernels)]
    pub fn prelu(&self, weight: &Tensor) -> Result<Tensor> {
        let (x, w) = (float(self), weight.node());
        if x.dtype() != w.dtype() {
            let text = format!("takes a weight of {}, got {}", x.dtype(), w.dtype());
            return Err(Error::new("prelu", ErrorKind::DType(text)));
        }
        let (rank, n) = (x.shape().rank(), w.shape().numel());
        let channels = if rank > 1 { x.shape()[1] } else { 1 };
        if w.shape().rank() > 1 || n != 1 && n != channels {
            let text = format!("takes one weight or {channels}, got shape {} for {}", w.shape(), x.shape());
            return Err(Error::new("prelu", ErrorKind::Shape(text)));
        }
        let along = (0..rank).fold(*x.shape(), |s, d| s.with(d, if d == 1 { n } else { 1 }));
        let w = w.reshape(along)?;
        Ok(Tensor::from_node(x.lit(0.0).lt(&x).choose(&x, &w.mul(&x))))
    }

    /// `x tanh(softplus(x))` (Misra, 2019). Integers become the default float.
    #[surface(nn, in_place)]
    pub fn mish(&self) -> Result<Tensor> {
        unary(self, |x| {
            // With e = eˣ the tangent is (e² + 2e)/(e² + 2e + 2), which rounds to 1 before e² overflows.
            let e = Node::apply(Row::Minimum, &[x, &x.lit(20.0)]).map(Row::Exp);
            let part = e.mul(&e.add(&e.lit(2.0)));
            x.mul(&part.div(&part.add(&part.lit(2.0))))
        })
    }

    /// `x / (1 + |x|)`. Integers become the default float.
    #[surface(nn)]
    pub fn softsign(&self) -> Result<Tensor> {
        let x = float(self);
        Ok(Tensor::from_node(x.div(&x.map(Row::Abs).add(&x.lit(1.0)))))
    }

    /// `x` times a sixth of `x + 3`, that no smaller than 0 and no larger than 6 (Howard et al., 2019). Integers become the default float.
    #[surface(nn, in_place)]
    pub fn hardswish(&self) -> Result<Tensor> {
        unary(self, |x| {
            let (low, high) =
                (Node::apply(Row::Le, &[x, &x.lit(-3.0)]), Node::apply(Row::Le, &[&x.lit(3.0), x]));
            let inner = x.mul(&x.add(&x.lit(3.0)).div(&x.lit(6.0)));
            // Where it is 0, −∞ makes NaN, as in PyTorch; the gradient there is 0.
            low.choose(&set_aside(|| x.mul(&x.lit(0.0))), &high.choose(x, &inner))
        })
    }

    /// A sixth of `x + 3`, that no smaller than 0 and no larger than 6. Integers become the default float.
    #[surface(nn, in_place)]
    pub fn hardsigmoid(&self) -> Result<Tensor> {
        unary(self, |x| {
            let (six, moved) = (x.lit(6.0), x.add(&x.lit(3.0)));
            let value = between(&moved, 0.0, 6.0);
            // NaN stays, but not its slope, as in PyTorch.
            let is_number = moved.eq(&moved);
            is_number.choose(&value, &untracked(&moved)).div(&six)
        })
    }

    /// `x`, or 0 where `|x|` is not above `lambd`; NaN stays. Integers become the default float.
    #[surface(method, function, nn)]
    pub fn hardshrink(&self, #[default(0.5)] lambd: f64) -> Result<Tensor> {
        let x = float(self);
        let small = Node::apply(Row::Le, &[&x.map(Row::Abs), &x.lit(lambd)]);
        Ok(Tensor::from_node(small.choose(&x.lit(0.0), &x)))
    }

    /// `x` moved towards 0 by `lambd`, and 0 where that would pass it; NaN stays. Integers become the default float.
    ///
    /// # Errors
    ///
    /// A `lambd` below 0.
    #[surface(nn)]
    pub fn softshrink(&self, #[default(0.5)] lambd: f64) -> Result<Tensor> {
        if lambd.is_nan() || lambd < 0.0 {
            let text = format!("takes a lambd of at least 0, got {lambd}");
            return Err(Error::new("softshrink", ErrorKind::Value(text)));
        }
        let x = float(self);
        let small = Node::apply(Row::Le, &[&x.map(Row::Abs), &x.lit(lambd)]);
        // A zero keeps its sign.
        let zero = untracked(&x).scale(0.0);
        Ok(Tensor::from_node(small.choose(&zero, &x.sub(&x.map(Row::Sign).scale(lambd)))))
    }

    /// `x − tanh(x)`. Integers become the default float.
    #[surface(nn)]
    pub fn tanhshrink(&self) -> Result<Tensor> {
        let x = float(self);
        Ok(Tensor::from_node(x.sub(&x.map(Row::Tanh))))
    }

    /// `x` where it is above `threshold`, else `value`; NaN stays. Integers stay.
    ///
    /// # Errors
    ///
    /// Truth values.
    #[surface(function, nn, in_place, integers)]
    pub fn threshold(&self, threshold: f64, value: f64) -> Result<Tensor> {
        let x = ordered("threshold", self)?;
        let below = Node::apply(Row::Le, &[&x, &x.lit(threshold)]);
        Ok(Tensor::from_node(below.choose(&x.lit(value), &x)))
    }

    /// The first half along an axis, times the sigmoid of the second (Dauphin et al., 2017). Integers become the default float.
    ///
    /// # Errors
    ///
    /// No axes; an axis of odd size.
    #[surface(nn)]
    pub fn glu(&self, #[default(-1)] dim: isize) -> Result<Tensor> {
        let x = float(self);
        let fail = |text: String| Err(Error::new("glu", ErrorKind::Shape(text)));
        if x.shape().rank() == 0 {
            return fail("takes at least one axis, got a scalar".into());
        }
        let axis = normalize_axis(dim, x.shape().rank())?;
        let n = x.shape()[axis];
        if n % 2 == 1 {
            return fail(format!("halves axis {axis} of {}, whose size {n} is odd", x.shape()));
        }
        let (a, b) = (x.slice(axis, 0, 1, n / 2)?, x.slice(axis, n / 2, 1, n / 2)?);
        Ok(Tensor::from_node(a.mul(&b.map(Row::Sigmoid))))
    }

    /// `eˣ / Σ eˣ` along an axis, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is taken, or axis 0 of
    /// tensors of no, one or three axes.
    ///
    /// # Errors
    ///
    /// An axis out of range, a `dtype` of integers.
    #[surface(method, function, nn, manners(Ignores("_stacklevel")))]
    pub fn softmax(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let own = float_as("softmax", self, dtype)?;
        let mask = axis_mask(&own, dim.unwrap_or(implicit(self)))?;
        if own.shape().numel() == 0 {
            return Ok(Tensor::from_node(own));
        }
        let node = wide(&own);
        let e = node.sub(&crate::parts::largest(&node, mask)?).map(Row::Exp);
        // One division a row: its rounding costs at most one ulp, a division an element would cost a third of the time.
        let scale = node.lit(1.0).div(&e.reduce(ReduceKind::Sum, mask, true)?);
        Ok(Tensor::from_node(e.mul(&scale).cast(own.dtype())))
    }

    /// `log softmax` along an axis, without overflow, after conversion to `dtype`. Integers become the default float. Without `dim`, axis 1 is
    /// taken, or axis 0 of tensors of no, one or three axes.
    ///
    /// # Errors
    ///
    /// An axis out of range, a `dtype` of integers.
    #[surface(method, function, nn, manners(Ignores("_stacklevel")))]
    pub fn log_softmax(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        let own = float_as("log_softmax", self, dtype)?;
        let mask = axis_mask(&own, dim.unwrap_or(implicit(self)))?;
        if own.shape().numel() == 0 {
            return Ok(Tensor::from_node(own));
        }
        let node = wide(&own);
        let shifted = node.sub(&crate::parts::largest(&node, mask)?);
        let sum = shifted.map(Row::Exp).reduce(ReduceKind::Sum, mask, true)?;
        Ok(Tensor::from_node(shifted.sub(&sum.map(Row::Log)).cast(own.dtype())))
    }

    /// The softmax of `−x`; see `softmax`.
    ///
    /// # Errors
    ///
    /// An axis out of range, a `dtype` of integers.
    #[surface(nn, manners(Ignores("_stacklevel")))]
    pub fn softmin(
        &self,
        #[default(None)] dim: Option<isize>,
        #[default(None)] dtype: Option<DType>,
    ) -> Result<Tensor> {
        Tensor::from_node(float_as("softmin", self, dtype)?.neg())
            .try_softmax(dim.or(Some(implicit(self))), None)
    }

    /// A sample of a categorical distribution with the log probabilities `logits`, softened: the softmax of what they are with
    /// Gumbel noise, divided by `tau` (Jang, Gu and Poole, 2016; Maddison, Mnih and Teh, 2016). With `hard`, zeros and a one, with the
    /// gradient of the softened sample. Integers become the default float.
    ///
    /// # Errors
    ///
    /// An axis out of range; with `hard`, an axis of size 0.
    #[surface(nn, manners(Truth("hard")))]
    pub fn gumbel_softmax(
        logits: &Tensor,
        #[default(1.0)] tau: f64,
        #[default(false)] hard: bool,
        #[default(-1)] dim: isize,
    ) -> Result<Tensor> {
        let x = float(logits);
        let mask = axis_mask(&x, dim)?;
        let uniform = with_noise(&x)?;
        // What is drawn is in [0, 1) by steps that f32 can tell: the logarithm of its distance to 1 is finite, and kept off 0.
        let waiting = uniform.lit(1.0).sub(&uniform).map(Row::Log).neg();
        let waiting = Node::apply(Row::Maximum, &[&waiting, &waiting.lit(f64::powi(2.0, -25))]);
        let gumbel = waiting.map(Row::Log).neg().cast(x.dtype());
        let noisy = x.add(&gumbel);
        let soft = Tensor::from_node(noisy.div(&noisy.lit(tau))).try_softmax(Some(dim), None)?;
        if !hard || soft.rank() == 0 {
            return Ok(soft);
        }
        let soft = soft.node();
        let rank = soft.shape().rank();
        let along = (0..rank).fold(*soft.shape(), |s, d| if mask >> d & 1 == 1 { s } else { s.with(d, 1) });
        let apart = set_aside(|| -> Result<Node> {
            let which = soft.reduce(ReduceKind::ArgMax, mask, true)?;
            let hot = Node::apply(Row::Eq, &[&Node::ramp(along, soft.device()), &which]);
            Ok(hot.cast(soft.dtype()).sub(&soft))
        })?;
        Ok(Tensor::from_node(apart.add(&soft)))
    }

    /// `x`, or `x` times a slope where `x` is not positive: in training one for each element, drawn uniformly from [lower, upper),
    /// else their mean (Xu et al., 2015). Integers become the default float.
    ///
    /// # Errors
    ///
    /// A `lower` above `upper`.
    #[surface(
        function,
        nn,
        in_place,
        not_in_kernels,
        keywords_from = "generator",
        manners(Last("generator"))
    )]
    pub fn rrelu(
        &self,
        #[default(0.125)] lower: f64,
        #[default(0.3333333333333333)] upper: f64,
        #[default(false)] training: bool,
        #[default(None)] generator: Option<&Generator>,
    ) -> Result<Tensor> {
        if lower.is_nan() || upper.is_nan() || lower > upper {
            let text = format!("takes a lower that is not above upper, got {lower} and {upper}");
            return Err(Error::new("rrelu", ErrorKind::Value(text)));
        }
        let x = float(self);
        let below = if training {
            let uniform = uniform(x.shape(), drawn_in(x.dtype()), x.device(), generator)?;
            x.mul(&uniform.scale(upper - lower).add(&uniform.lit(lower)).cast(x.dtype()))
        } else {
            x.scale((lower + upper) / 2.0)
        };
        Ok(Tensor::from_node(x.lit(0.0).lt(&x).choose(&x, &below)))
    }
}
