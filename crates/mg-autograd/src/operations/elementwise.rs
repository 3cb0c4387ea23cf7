//! Elementwise operations that are composed of rows.

use super::{float, set_aside, wide, with_slopes_of};
use crate::ops::{self, Operand};
use crate::parts::without_slope;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Float, Result, Shape};
use mg_graph::{Node, form, same_device};
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;
use std::f64::consts::{LN_2, PI};

/// A function of floats; integers become the default float.
pub(super) fn unary(t: &Tensor, f: impl FnOnce(&Node) -> Node) -> Result<Tensor> {
    let x = float(t);
    Ok(Tensor::from_node(f(&wide(&x)).cast(x.dtype())))
}

/// A function of two operands in the dtype in which they meet; integers become the default float.
pub(super) fn binary(
    op: &'static str,
    a: &Tensor,
    b: Operand,
    f: impl FnOnce(&Node, &Node) -> Node,
) -> Result<Tensor> {
    let ([a, b], dtype) = floats(op, [Operand::from(a), b])?;
    Ok(Tensor::from_node(f(&a, &b).cast(dtype)))
}

/// Operands as floats that are wide enough, and the dtype in which they meet.
pub(super) fn floats<const N: usize>(op: &'static str, operands: [Operand; N]) -> Result<([Node; N], DType)> {
    let dtype = DType::met(op, operands.iter().map(Operand::kind))?;
    // A number becomes a float at once, and not one of the integers first, which it may not fit.
    let dtype = if dtype.is_float() { dtype } else { DType::default_float() };
    Ok((joined_as(op, operands, dtype)?.map(|node| wide(&node)), dtype))
}

/// Operands in the dtype in which they meet. The first is a tensor.
pub(super) fn joined<const N: usize>(op: &'static str, operands: [Operand; N]) -> Result<([Node; N], DType)> {
    let dtype = DType::met(op, operands.iter().map(Operand::kind))?;
    Ok((joined_as(op, operands, dtype)?, dtype))
}

/// Operands in a dtype, on one device, whose shapes broadcast.
fn joined_as<const N: usize>(op: &'static str, operands: [Operand; N], dtype: DType) -> Result<[Node; N]> {
    let device = operands.iter().find_map(|o| match o {
        Operand::Tensor(t) => Some(t.device()),
        Operand::Float(_) | Operand::Int(_) | Operand::Bool(_) | Operand::Live(_) => None,
    });
    let device = device.unwrap_or_else(crate::default_device);
    let nodes = operands.map(|operand| operand.on(dtype, device));
    let mut shape = Shape::scalar();
    for node in &nodes {
        let Some(joint) = Shape::broadcast(&shape, node.shape()) else {
            let text = format!("shapes {shape} and {} cannot be broadcast together", node.shape());
            return Err(Error::new(op, ErrorKind::Shape(text)));
        };
        shape = joint;
    }
    same_device(op, &nodes)?;
    Ok(nodes)
}

/// Both truth values.
pub(super) fn and(a: &Node, b: &Node) -> Node {
    Node::apply(Row::And, &[a, b])
}

/// Either truth value.
pub(super) fn or(a: &Node, b: &Node) -> Node {
    Node::apply(Row::Or, &[a, b])
}

fn le(a: &Node, b: &Node) -> Node {
    Node::apply(Row::Le, &[a, b])
}

/// The larger or smaller one, whose gradient equal ones share.
fn extreme(row: Row, a: &Node, b: &Node) -> Node {
    match (a.dtype(), row == Row::Maximum) {
        (DType::Bool, true) => or(a, b),
        (DType::Bool, false) => and(a, b),
        (_, _) => Node::apply(row, &[a, b]),
    }
}

fn is_nan(a: &Node) -> Node {
    Node::apply(Row::Ne, &[a, a])
}

/// Elements as floats of a dtype that has an infinity, and is computed with, to be asked what they are.
fn with_infinity(t: &Tensor) -> Node {
    if t.dtype().is_narrow() { t.node().cast(DType::F32) } else { float(t) }
}

fn infinity(like: &Node) -> Node {
    like.lit(f64::INFINITY)
}

/// `x log y`, and 0 where `x` is 0 and `y` a number; `log` is that of y or of 1 + y, which is 0 where y is `least`.
fn x_log_y(x: &Node, y: &Node, row: Row, least: f64, neutral: f64) -> Node {
    let outside = or(&le(y, &y.lit(least)), &y.eq(&infinity(y)));
    let zero = x.eq(&x.lit(0.0));
    let nothing = and(&zero, &outside);
    let safe = nothing.choose(&y.lit(neutral), y);
    let product = x.mul(&safe.map(row));
    // Zero times a logarithm is not -0, whatever its sign; its slope by x is the logarithm.
    let product = zero.choose(&x.lit(0.0).sub(&product.neg()), &product);
    nothing.choose(&x.lit(0.0), &product)
}

/// Of the larger one and the magnitude of the difference, which is 0 where both are the same infinity.
fn log_add(a: &Node, b: &Node, rest: impl FnOnce(&Node) -> Node) -> Node {
    // Chosen, not found by `Maximum` and `Abs`, whose slopes do not change where both are the same, as the result's do.
    let below = a.lt(b);
    let (large, small) = (below.choose(b, a), below.choose(a, b));
    let endless = and(&a.eq(b), &a.map(Row::Abs).eq(&infinity(a)));
    let larger = endless.choose(&Node::apply(Row::Maximum, &[a, b]), &large);
    larger.add(&rest(&endless.choose(&a.lit(0.0), &small.sub(&large))))
}

fn takes_floats(op: &'static str, dtype: DType) -> Result<()> {
    match dtype.is_float() {
        true => Ok(()),
        false => Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {dtype}")))),
    }
}

/// A power of two for numbers beyond one, another for those below one (exponents of the bound and the power each), else 1.
fn apart(most: &Node, [above, below]: [(i32, i32); 2]) -> Node {
    let power = |n: i32| most.lit(f64::powi(2.0, n));
    let small = most.lt(&power(below.0)).choose(&power(below.1), &most.lit(1.0));
    power(above.0).lt(most).choose(&power(above.1), &small)
}

#[operations(ELEMENTWISE)]
impl Tensor {
    /// `self > other`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, alias = "greater", integers, compares, keeps_zero)]
    pub fn gt(&self, other: Operand) -> Result<Tensor> {
        ops::apply_reflected(Row::Lt, other, self)
    }

    /// `self ≥ other`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, alias = "greater_equal", integers, compares, keeps_zero)]
    pub fn ge(&self, other: Operand) -> Result<Tensor> {
        ops::apply_reflected(Row::Le, other, self)
    }

    /// `other − alpha · self`.
    ///
    /// # Errors
    ///
    /// Truth values; an `alpha` that is a float where the result is not, or a tensor with axes or a gradient; shapes that do not broadcast.
    #[surface(function, keywords_from = "alpha", integers)]
    pub fn rsub(&self, other: Operand, #[default(Operand::Int(1))] alpha: Operand) -> Result<Tensor> {
        if !matches!(other, Operand::Tensor(_)) {
            form("rsub.RsubBackward1");
        }
        other.beside(self).sub_scaled(self, alpha)
    }

    /// The remainder of `self / other` with the sign of `other`, as Python's `%`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices, truth values. An integer divided by zero: what is not known yet is found when the
    /// value is computed.
    #[surface(method, function, in_place, integers, divides)]
    pub fn remainder(&self, other: Operand) -> Result<Tensor> {
        ops::remainder(self, other)
    }

    /// `⌊self / other⌋`, as Python's `//`.
    ///
    /// # Errors
    ///
    /// As `remainder`.
    #[surface(method, function, in_place, integers, divides, manners(TwoNumbers))]
    pub fn floor_divide(&self, other: Operand) -> Result<Tensor> {
        ops::floor_divide("floor_divide", self, other)
    }

    /// `self` to a power: a tensor or a number. The exponents 2, 3, 1, 0.5, −1 and 0 take shorter ways, as in PyTorch.
    /// Integers to the power of integers are integers.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices; a negative whole number as the exponent of an integer tensor (in a
    /// tensor of exponents it gives 0, but for the bases 1 and −1); truth values on both sides.
    #[surface(method, function, in_place, integers)]
    pub fn pow(&self, exponent: Operand) -> Result<Tensor> {
        if matches!(exponent, Operand::Tensor(_)) {
            form("pow.PowBackward1");
        }
        ops::power(self, exponent)
    }

    /// `self` to a power, in f64.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, doubles)]
    pub fn float_power(&self, exponent: Operand) -> Result<Tensor> {
        let exponent = match exponent {
            Operand::Tensor(t) => Operand::Tensor(t.to_dtype(DType::F64)),
            Operand::Int(n) => Operand::Float(n as f64),
            Operand::Bool(b) => Operand::Float(b.into()),
            number @ (Operand::Float(_) | Operand::Live(_)) => number,
        };
        ops::power(&self.to_dtype(DType::F64), exponent)
    }

    /// Values no smaller than `min` and no larger than `max` (numbers or tensors), where given (`max`, if it is below
    /// `min`); NaN stays. The gradient passes between bounds that are numbers, and is 0 at them; a tensor's equal elements
    /// share it.
    ///
    /// # Errors
    ///
    /// No bound; truth values; a number as bound that every value of an integer dtype is beyond; shapes that do not
    /// broadcast, unlike devices.
    #[surface(method, function, in_place, alias = "clip", integers)]
    pub fn clamp(
        &self,
        #[default(None)] min: Option<Operand>,
        #[default(None)] max: Option<Operand>,
    ) -> Result<Tensor> {
        if [&min, &max].into_iter().flatten().all(|bound| matches!(bound, Operand::Tensor(_))) {
            form("clamp.ClampBackward0");
        }
        ops::clamped(self, min, max)
    }

    /// Values no smaller than `min`, as `clamp`.
    ///
    /// # Errors
    ///
    /// As `clamp`.
    #[surface(method, function, in_place, integers)]
    pub fn clamp_min(&self, min: Operand) -> Result<Tensor> {
        ops::clamped(self, Some(min), None)
    }

    /// Values no larger than `max`, as `clamp`.
    ///
    /// # Errors
    ///
    /// As `clamp`.
    #[surface(method, function, in_place, integers)]
    pub fn clamp_max(&self, max: Operand) -> Result<Tensor> {
        ops::clamped(self, None, Some(max))
    }

    /// What is left of the number without its whole part; its sign stays.
    ///
    /// # Errors
    ///
    /// Integers and truth values.
    #[surface(method, function, in_place)]
    pub fn frac(&self) -> Result<Tensor> {
        takes_floats("frac", self.dtype())?;
        self.try_sub(self.try_trunc()?)
    }

    /// The bits of integers turned over; of truth values, `logical_not`.
    ///
    /// # Errors
    ///
    /// Floats.
    #[surface(method, function, in_place, integers)]
    pub fn bitwise_not(&self) -> Result<Tensor> {
        match self.dtype() {
            DType::Bool => self.try_logical_not(),
            // −1 − x is what the bits of an integer are turned over.
            d if d.is_int() => self.try_neg()?.try_sub(1i64),
            d => {
                let text = format!("takes truth values and integers, got {d}");
                Err(Error::new("bitwise_not", ErrorKind::DType(text)))
            }
        }
    }

    /// Whether elements are no numbers.
    #[surface(integers, keeps_zero)]
    pub fn isnan(&self) -> Result<Tensor> {
        self.try_ne(self)
    }

    /// Whether elements are infinite.
    #[surface(integers, keeps_zero)]
    pub fn isinf(&self) -> Result<Tensor> {
        let x = with_infinity(self);
        Ok(Tensor::from_node(x.map(Row::Abs).eq(&infinity(&x))))
    }

    /// Whether elements are neither infinite nor no numbers.
    #[surface(integers, keeps_zero)]
    pub fn isfinite(&self) -> Result<Tensor> {
        // Integers are, also those that no f16 holds.
        let x = if self.dtype().is_float() { with_infinity(self) } else { self.node().cast(DType::F64) };
        Ok(Tensor::from_node(x.map(Row::Abs).lt(&infinity(&x))))
    }

    /// Whether elements are +∞.
    #[surface(integers)]
    pub fn isposinf(&self) -> Result<Tensor> {
        let x = with_infinity(self);
        Ok(Tensor::from_node(x.eq(&infinity(&x))))
    }

    /// Whether elements are −∞.
    #[surface(integers)]
    pub fn isneginf(&self) -> Result<Tensor> {
        let x = with_infinity(self);
        Ok(Tensor::from_node(x.eq(&x.lit(f64::NEG_INFINITY))))
    }

    /// True for every element: all numbers here are real.
    #[surface(integers)]
    pub fn isreal(&self) -> Result<Tensor> {
        Ok(self.detach().ones_like().to_dtype(DType::Bool))
    }

    /// Whether the sign is minus, also that of a zero and of NaN.
    #[surface(integers)]
    pub fn signbit(&self) -> Result<Tensor> {
        let x = with_infinity(self);
        let one = x.lit(1.0);
        Ok(Tensor::from_node(Node::apply(Row::Copysign, &[&one, &x]).lt(&x.lit(0.0))))
    }

    /// The angle of a number to the positive axis: 0, or π of what is negative; NaN of NaN. Integers become the default float.
    pub fn angle(&self) -> Result<Tensor> {
        let x = float(self);
        let angle = untracked(&x).lt(&x.lit(0.0)).choose(&x.lit(std::f64::consts::PI), &x.lit(0.0));
        let own = untracked(&x);
        Ok(Tensor::from_node(without_slope(&own.eq(&own).choose(&angle, &own), &x)))
    }

    /// The number of its CUDA device; −1 on the host.
    pub fn get_device(&self) -> Result<i64> {
        let device = self.device();
        let name = device.to_string();
        let number = name.split_once(':').and_then(|(_, number)| number.parse().ok());
        Ok(if device.is_cuda() { number.unwrap_or(0) } else { -1 })
    }

    /// The tensor itself: its numbers are real.
    #[surface(function, integers)]
    pub fn real(&self) -> Result<Tensor> {
        Ok(self.clone())
    }

    /// The tensor itself: the conjugate of a real number is that number.
    #[surface(integers)]
    pub fn conj(&self) -> Result<Tensor> {
        Ok(self.clone())
    }

    /// The tensor itself: the conjugate of a real number is that number.
    #[surface(method, function, in_place, integers)]
    pub fn conj_physical(&self) -> Result<Tensor> {
        Ok(self.clone())
    }

    /// The tensor itself: nothing of it is left to be conjugated.
    #[surface(integers)]
    pub fn resolve_conj(&self) -> Result<Tensor> {
        Ok(self.clone())
    }

    /// The tensor itself: nothing of it is left to be negated.
    #[surface(integers)]
    pub fn resolve_neg(&self) -> Result<Tensor> {
        Ok(self.clone())
    }

    /// The tensor itself.
    ///
    /// # Errors
    ///
    /// Truth values.
    #[surface(integers, keeps_zero)]
    pub fn positive(&self) -> Result<Tensor> {
        match self.dtype() {
            DType::Bool => {
                let text = "truth values have no sign; convert to an integer first";
                Err(Error::new("positive", ErrorKind::DType(text.into())))
            }
            _ => Ok(self.clone()),
        }
    }

    /// `1 / x`. Integers become the default float.
    #[surface(method, function, in_place)]
    pub fn reciprocal(&self) -> Result<Tensor> {
        unary(self, |x| x.lit(1.0).div(x))
    }

    /// `1 / √x`. Integers become the default float.
    #[surface(method, function, in_place)]
    pub fn rsqrt(&self) -> Result<Tensor> {
        unary(self, |x| x.lit(1.0).div(&x.map(Row::Sqrt)))
    }

    /// `sin(πx) / πx`, and 1 at 0. Integers become the default float.
    #[surface(method, function, special, in_place)]
    pub fn sinc(&self) -> Result<Tensor> {
        unary(self, |x| {
            let (zero, one) = (x.lit(0.0), x.lit(1.0));
            let ratio = |x: &Node| {
                let angle = x.scale(PI);
                angle.map(Row::Sin).div(&angle)
            };
            let is_zero = x.eq(&zero);
            let value = |x: &Node| is_zero.choose(&one, &ratio(&is_zero.choose(&one, x)));
            if !(x.is_tracked() && mg_graph::is_tracking()) {
                return value(x);
            }
            // Where the angle is at most ½ slopes are those of the power series in the square, which keep their digits; as many terms as f64 and two
            // derivatives take.
            let is_near = Node::apply(Row::Le, &[&x.map(Row::Abs), &x.lit(0.5 / PI)]);
            let square = is_near.choose(x, &zero).scale(PI).map(Row::Square);
            let term = |k: i32| f64::powi(-1.0, k) / (1..=2 * k + 1).map(f64::from).product::<f64>();
            let series = (0..8).rev().fold(x.lit(term(8)), |sum, k| sum.mul(&square).add(&x.lit(term(k))));
            is_near.choose(&with_slopes_of(&value(&untracked(x)), &series), &ratio(&is_near.choose(&one, x)))
        })
    }

    /// Degrees as radians. Integers become the default float.
    #[surface(method, function, in_place)]
    pub fn deg2rad(&self) -> Result<Tensor> {
        unary(self, |x| x.scale(PI / 180.0))
    }

    /// Radians as degrees. Integers become the default float.
    #[surface(method, function, in_place)]
    pub fn rad2deg(&self) -> Result<Tensor> {
        unary(self, |x| x.scale(180.0 / PI))
    }

    /// `log(x / (1 − x))`, after `x` was brought to between `eps` and `1 − eps`, if that is given. Integers become the default float.
    #[surface(method, function, special, in_place)]
    pub fn logit(&self, #[default(None)] eps: Option<f64>) -> Result<Tensor> {
        let own = float(self);
        unary(self, |x| {
            let x = match eps {
                None => x.clone(),
                Some(eps) => {
                    let (low, high) = (own.lit(eps), own.lit(1.0 - eps));
                    // The bounds of halves are halves, as in PyTorch.
                    let high = if own.dtype().is_half() { high.lit(1.0).sub(&low) } else { high };
                    let (low, high) = (wide(&low), wide(&high));
                    // The lower bound goes first where they cross, as in PyTorch.
                    x.lt(&low).choose(&low, &high.lt(x).choose(&high, x))
                }
            };
            // The slope 1 / (x (1 − x)) is infinite at both ends and no number outside, as the value is; slopes of that are 0 there, as in PyTorch.
            let (zero, one) = (x.lit(0.0), x.lit(1.0));
            let outside = or(&x.lt(&zero), &one.lt(&x));
            // −0 is 0, whose slope is that of what lies right of it.
            let x = x.eq(&zero).choose(&x.add(&one).sub(&one), &x);
            let inside = x.map(Row::Log).sub(&x.neg().map(Row::Log1p));
            outside.choose(&x, &inside).mul(&outside.choose(&x.lit(f64::NAN), &one))
        })
    }

    /// NaN and infinities replaced by numbers: `nan`, and the largest and the least number of the dtype unless others are
    /// given. Integers stay.
    #[surface(method, function, in_place, integers)]
    pub fn nan_to_num(
        &self,
        #[default(Some(0.0))] nan: Option<f64>,
        #[default(None)] posinf: Option<f64>,
        #[default(None)] neginf: Option<f64>,
    ) -> Result<Tensor> {
        let x = self.node();
        if x.dtype().is_narrow() {
            return Err(x.dtype().not_computed("nan_to_num"));
        }
        let largest = match x.dtype().float() {
            Some(Float::F64) => f64::MAX,
            Some(Float::F32) => f64::from(f32::MAX),
            Some(Float::F16) => 65504.0,
            Some(Float::BF16) => 3.389_531_389_251_535_5e38,
            None => return Ok(Tensor::from_node(x.alias())),
        };
        let (high, low) = (posinf.unwrap_or(largest), neginf.unwrap_or(-largest));
        let y = is_nan(&x).choose(&x.lit(nan.unwrap_or(0.0)), &x);
        let y = x.eq(&infinity(&x)).choose(&x.lit(high), &y);
        Ok(Tensor::from_node(x.eq(&x.lit(f64::NEG_INFINITY)).choose(&x.lit(low), &y)))
    }

    /// `self + weight · (end − self)`, from the nearer end; the weight is a number or a tensor.
    ///
    /// # Errors
    ///
    /// Integers; shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn lerp(&self, end: &Tensor, weight: Operand) -> Result<Tensor> {
        takes_floats("lerp", self.dtype())?;
        let ([a, b, w], dtype) = match weight {
            Operand::Tensor(_) => {
                form("lerp.LerpBackward1");
                floats("lerp", [self.into(), end.into(), weight])?
            }
            Operand::Float(_) | Operand::Int(_) | Operand::Bool(_) | Operand::Live(_) => {
                let ([a, b], dtype) = floats("lerp", [self.into(), end.into()])?;
                // Not rounded to a half type before.
                let w = weight.on(a.dtype(), a.device());
                ([a, b, w], dtype)
            }
        };
        let (apart, one) = (b.sub(&a), w.lit(1.0));
        let near = a.add(&w.mul(&apart));
        let far = b.sub(&apart.mul(&one.sub(&w)));
        Ok(Tensor::from_node(w.map(Row::Abs).lt(&w.lit(0.5)).choose(&near, &far).cast(dtype)))
    }

    /// `self + value · tensor1 · tensor2`.
    ///
    /// # Errors
    ///
    /// A `value` that is a float where the tensors are of integers; shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, keywords_from = "value", integers, manners(FactorFirst))]
    pub fn addcmul(
        &self,
        tensor1: &Tensor,
        tensor2: &Tensor,
        #[default(Operand::Int(1))] value: Operand,
    ) -> Result<Tensor> {
        let ([x, a, b], dtype) = joined("addcmul", [self.into(), tensor1.into(), tensor2.into()])?;
        if matches!(value, Operand::Float(_) | Operand::Live(_)) && !dtype.is_float() {
            let text = "takes an integer as value where the tensors are of integers, got a float";
            return Err(Error::new("addcmul", ErrorKind::DType(text.into())));
        }
        if dtype.is_bool() {
            let text = "truth values are not added up; convert to an integer first";
            return Err(Error::new("addcmul", ErrorKind::DType(text.into())));
        }
        let (x, a, b) = (wide(&x), wide(&a), wide(&b));
        let product = match value {
            Operand::Int(1) => a.mul(&b),
            value => value.on(a.dtype(), a.device()).mul(&a).mul(&b),
        };
        Ok(Tensor::from_node(x.add(&product).cast(dtype)))
    }

    /// `self + value · tensor1 / tensor2`.
    ///
    /// # Errors
    ///
    /// Integers; shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, keywords_from = "value", manners(FactorFirst))]
    pub fn addcdiv(
        &self,
        tensor1: &Tensor,
        tensor2: &Tensor,
        #[default(Operand::Int(1))] value: Operand,
    ) -> Result<Tensor> {
        if !tensor1.dtype().is_float() && !tensor2.dtype().is_float() {
            let text = "integers are not divided here; convert to a float first";
            return Err(Error::new("addcdiv", ErrorKind::DType(text.into())));
        }
        let ([x, a, b], dtype) = floats("addcdiv", [self.into(), tensor1.into(), tensor2.into()])?;
        let quotient = match value {
            Operand::Int(1) => a.div(&b),
            value => value.on(a.dtype(), a.device()).mul(&a).div(&b),
        };
        Ok(Tensor::from_node(x.add(&quotient).cast(dtype)))
    }

    /// `self · log other`, and 0 where `self` is 0 and `other` a number. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, special, in_place)]
    pub fn xlogy(&self, other: Operand) -> Result<Tensor> {
        binary("xlogy", self, other, |x, y| x_log_y(x, y, Row::Log, 0.0, 1.0))
    }

    /// `self · log(1 + other)`, and 0 where `self` is 0 and `other` a number. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn xlog1py(&self, other: Operand) -> Result<Tensor> {
        binary("xlog1py", self, other, |x, y| x_log_y(x, y, Row::Log1p, -1.0, 0.0))
    }

    /// `ln(exp(x) + exp(y))` without overflow. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    pub fn logaddexp(&self, other: Operand) -> Result<Tensor> {
        binary("logaddexp", self, other, |a, b| log_add(a, b, |apart| apart.map(Row::Softplus)))
    }

    /// `log₂(2ˣ + 2ʸ)` without overflow. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    pub fn logaddexp2(&self, other: Operand) -> Result<Tensor> {
        let rest = |apart: &Node| apart.map(Row::Exp2).map(Row::Log1p).scale(1.0 / LN_2);
        binary("logaddexp2", self, other, |a, b| log_add(a, b, rest))
    }

    /// 0 where `self` is negative or NaN, `values` where it is 0, 1 where it is positive.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices or dtypes.
    #[surface(method, function, in_place, integers)]
    pub fn heaviside(&self, values: &Tensor) -> Result<Tensor> {
        if self.dtype() != values.dtype() {
            let text = format!("takes two tensors of one dtype, got {} and {}", self.dtype(), values.dtype());
            return Err(Error::new("heaviside", ErrorKind::DType(text)));
        }
        let ([x, values], dtype) = joined("heaviside", [self.into(), values.into()])?;
        if dtype.is_bool() {
            return Ok(Tensor::from_node(or(&x, &values)));
        }
        let (zero, one) = (x.lit(0.0), x.lit(1.0));
        let step = zero.lt(&x).choose(&one, &zero);
        let found = x.eq(&zero).choose(&values, &step);
        Ok(Tensor::from_node(without_slope(&found, &x.expand(*found.shape())?)))
    }

    /// The larger one; where one is NaN, the other.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(integers)]
    pub fn fmax(&self, other: Operand) -> Result<Tensor> {
        let ([a, b], _) = joined("fmax", [self.into(), other])?;
        Ok(Tensor::from_node(is_nan(&b).choose(&a, &is_nan(&a).choose(&b, &extreme(Row::Maximum, &a, &b)))))
    }

    /// The smaller one; where one is NaN, the other.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(integers)]
    pub fn fmin(&self, other: Operand) -> Result<Tensor> {
        let ([a, b], _) = joined("fmin", [self.into(), other])?;
        Ok(Tensor::from_node(is_nan(&b).choose(&a, &is_nan(&a).choose(&b, &extreme(Row::Minimum, &a, &b)))))
    }

    /// `√(self² + other²)` without overflow. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn hypot(&self, other: Operand) -> Result<Tensor> {
        binary("hypot", self, other, |a, b| {
            // A power of two, by which nothing is rounded; what it is does not change the result.
            let (scale, endless) = set_aside(|| {
                let (a, b) = (a.map(Row::Abs), b.map(Row::Abs));
                let most = or(&le(&b, &a), &is_nan(&b)).choose(&a, &b);
                let endless = most.eq(&infinity(&most));
                let dtype = most.dtype();
                // In f32 and f64 nothing overflows, and what underflows does not count, where most numbers are not scaled at all.
                let scale = if dtype == DType::F32 {
                    apart(&most, [(60, 66), (-60, -88)])
                } else if dtype == DType::F64 {
                    apart(&most, [(500, 530), (-500, -600)])
                } else {
                    let plain = and(&most.lit(0.0).lt(&most), &most.lt(&infinity(&most)));
                    plain.choose(&most, &most.lit(1.0)).map(Row::Log2).map(Row::Floor).map(Row::Exp2)
                };
                (scale, endless)
            });
            let squares = a.div(&scale).map(Row::Square).add(&b.div(&scale).map(Row::Square));
            endless.choose(&infinity(a), &squares.map(Row::Sqrt).mul(&scale))
        })
    }

    /// The next number of the dtype after `self` towards `other`.
    ///
    /// # Errors
    ///
    /// Integers; shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn nextafter(&self, other: Operand) -> Result<Tensor> {
        let ([a, b], dtype) = joined("nextafter", [self.into(), other])?;
        // The bits after the point, and the exponent of the least number that has all of them.
        let (bits, least): (f64, f64) = match dtype.float() {
            Some(Float::F32 | Float::F64) => {
                return Ok(Tensor::from_node(Node::map(Row::NextAfter, &[&a, &b])?));
            }
            Some(Float::F16) => (10.0, -14.0),
            Some(Float::BF16) => (7.0, -126.0),
            None => {
                return Err(Error::new("nextafter", ErrorKind::DType(format!("takes floats, got {dtype}"))));
            }
        };
        // In f32, which holds all of theirs and what lies between.
        let (x, y) = (a.cast(DType::F32), b.cast(DType::F32));
        let size = x.map(Row::Abs);
        let plain = size.lt(&infinity(&size));
        let large = plain.choose(&size, &size.lit(1.0));
        let large = large.lt(&x.lit(least.exp2())).choose(&x.lit(least.exp2()), &large);
        let exponent = large.map(Row::Log2).map(Row::Floor);
        // Towards zero a power of two has the numbers of the exponent below beside it.
        let inwards = size.eq(&exponent.map(Row::Exp2)).choose(&exponent.sub(&x.lit(1.0)), &exponent);
        let inwards = inwards.lt(&x.lit(least)).choose(&x.lit(least), &inwards);
        let up = x.lt(&y);
        let outwards = up.choose(&x.lit(0.0).sub(&x), &x).lt(&x.lit(0.0));
        let outwards = or(&outwards, &x.eq(&x.lit(0.0)));
        let step = outwards.choose(&exponent, &inwards).sub(&x.lit(bits)).map(Row::Exp2);
        let next = up.choose(&x.add(&step), &x.sub(&step));
        // Infinity's neighbour is the largest number.
        let largest = x.lit((2.0 - (-bits).exp2()) * (1.0 - least).exp2());
        let next = plain.choose(&next, &x.lt(&x.lit(0.0)).choose(&x.lit(0.0).sub(&largest), &largest));
        let next = x.eq(&y).choose(&y, &next);
        Ok(Tensor::from_node(or(&is_nan(&x), &is_nan(&y)).choose(&x.lit(f64::NAN), &next).cast(dtype)))
    }

    /// `self · 2^other`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn ldexp(&self, other: Operand) -> Result<Tensor> {
        // A power of 2 is a float already: two dtypes of integers do not meet.
        let of_integers = |t: &Tensor| !self.dtype().is_float() && !t.dtype().is_float();
        let own = match &other {
            Operand::Tensor(other) if of_integers(other) => self.to_dtype(DType::default_float()),
            Operand::Tensor(_)
            | Operand::Float(_)
            | Operand::Int(_)
            | Operand::Bool(_)
            | Operand::Live(_) => self.clone(),
        };
        binary("ldexp", &own, other, |x, n| {
            // Powers that the format holds: one where it has as much, else up to two more before it. Those that make less leave so many digits
            // that what they round is nothing in the end.
            let (least, most, less) =
                if x.dtype() == DType::F64 { (-1022.0, 1023.0, -969.0) } else { (-126.0, 127.0, -102.0) };
            let own = untracked(n);
            let bounded = Node::apply(Row::Maximum, &[&own, &own.lit(2.0 * less + least)]);
            let bounded = Node::apply(Row::Minimum, &[&bounded, &own.lit(3.0 * most)]);
            let beyond = |n: &Node| {
                let (least, most) = (n.lit(least), n.lit(most));
                n.lt(&least).choose(&n.lit(less), &most.lt(n).choose(&most, &n.lit(0.0)))
            };
            let first = beyond(&bounded);
            let second = beyond(&bounded.sub(&first));
            let n = bounded.eq(&own).choose(n, &bounded);
            let rest = n.sub(&first).sub(&second).map(Row::Exp2);
            // What the exponent's gradient reads is kept, whatever is written to `x` then.
            let x = if n.is_tracked() && mg_graph::is_tracking() { x.copy() } else { x.clone() };
            x.mul(&first.map(Row::Exp2)).mul(&second.map(Row::Exp2)).mul(&rest)
        })
    }

    /// Numbers as a fraction from ½ to 1 (with their sign) times a power of two: the fractions and the exponents (i32). Zeros
    /// and what is not finite are their own fractions.
    ///
    /// # Errors
    ///
    /// Integers and truth values.
    #[surface(method, function, answers("mantissa", "exponent"))]
    pub fn frexp(&self) -> Result<(Tensor, Tensor)> {
        takes_floats("frexp", self.dtype())?;
        let own = self.node();
        let x = wide(&own);
        let (exponent, first, second) = set_aside(|| {
            let a = x.map(Row::Abs);
            let plain = and(&a.lit(0.0).lt(&a), &a.lt(&infinity(&a)));
            let guess = plain.choose(&a, &a.lit(0.5)).map(Row::Log2).map(Row::Floor);
            // In two steps, each of which the format holds.
            let halves = |e: &Node| {
                let first = e.scale(0.5).map(Row::Floor);
                let second = e.sub(&first);
                (first.neg().map(Row::Exp2), second.neg().map(Row::Exp2))
            };
            let (first, second) = halves(&guess);
            // From 1 to 2, but where the logarithm was rounded up or down to a whole number.
            let part = a.mul(&first).mul(&second);
            let one = a.lit(1.0);
            let up = le(&a.lit(2.0), &part).choose(&a.lit(2.0), &one);
            let up = part.lt(&one).choose(&a.lit(0.0), &up);
            let exponent = plain.choose(&guess.add(&up), &a.lit(0.0));
            let (first, second) = halves(&exponent);
            (exponent, first, second)
        });
        let mantissa = x.mul(&first).mul(&second).cast(own.dtype());
        Ok((Tensor::from_node(mantissa), Tensor::from_node(exponent.cast(DType::I32))))
    }

    /// The cube root. Integers become the default float.
    pub fn cbrt(&self) -> Result<Tensor> {
        unary(self, |x| {
            let a = x.map(Row::Abs);
            let plain = and(&a.lit(0.0).lt(&a), &a.lt(&infinity(&a)));
            let safe = plain.choose(&a, &a.lit(1.0));
            let root = Node::apply(Row::Pow, &[&safe, &safe.lit(1.0 / 3.0)]);
            // A step of Newton's method: the exponent is not quite a third.
            let off = root.sub(&safe.div(&root).div(&root)).scale(1.0 / 3.0);
            let root = root.sub(&off);
            plain.choose(&root.mul(&x.map(Row::Sign)), x)
        })
    }

    /// Whether elements are within `atol + rtol · |other|` of each other; equal infinities are, and NaN where `equal_nan`
    /// says so.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices or dtypes; a negative tolerance.
    #[surface(integers)]
    pub fn isclose(
        &self,
        other: &Tensor,
        #[default(1e-5)] rtol: f64,
        #[default(1e-8)] atol: f64,
        #[default(false)] equal_nan: bool,
    ) -> Result<Tensor> {
        if self.dtype() != other.dtype() {
            let text = format!("takes two tensors of one dtype, got {} and {}", self.dtype(), other.dtype());
            return Err(Error::new("isclose", ErrorKind::DType(text)));
        }
        if self.dtype().is_narrow() {
            return Err(self.dtype().not_computed("isclose"));
        }
        if rtol < 0.0 || atol < 0.0 {
            let text = format!("takes tolerances that are not negative, got rtol {rtol} and atol {atol}");
            return Err(Error::new("isclose", ErrorKind::Value(text)));
        }
        let ([a, b], dtype) = joined("isclose", [self.into(), other.into()])?;
        let mut close = a.eq(&b);
        if dtype.is_float() || rtol > 0.0 || atol > 0.0 {
            let (x, y) = match dtype.is_float() {
                true => (wide(&a), wide(&b)),
                false => (a.cast(DType::F64), b.cast(DType::F64)),
            };
            let bound = y.map(Row::Abs).scale(rtol).add(&y.lit(atol));
            let apart = x.sub(&y).map(Row::Abs);
            // An infinite distance is never small.
            close = or(&close, &and(&apart.lt(&infinity(&apart)), &le(&apart, &bound)));
        }
        if equal_nan {
            close = or(&close, &and(&is_nan(&a), &is_nan(&b)));
        }
        Ok(Tensor::from_node(close))
    }

    /// Whether all elements are within `atol + rtol · |other|` of each other. Waits for the value.
    ///
    /// # Errors
    ///
    /// As `isclose`; those of the computation.
    pub fn allclose(
        &self,
        other: &Tensor,
        #[default(1e-5)] rtol: f64,
        #[default(1e-8)] atol: f64,
        #[default(false)] equal_nan: bool,
    ) -> Result<bool> {
        none(&self.try_isclose(other, rtol, atol, equal_nan)?.try_logical_not()?)
    }

    /// Whether two tensors have the same shape and the same elements. Waits for the value.
    ///
    /// # Errors
    ///
    /// Unlike devices; those of the computation.
    pub fn equal(&self, other: &Tensor) -> Result<bool> {
        if self.shape() != other.shape() {
            return Ok(false);
        }
        none(&self.try_ne(other)?)
    }
}

/// Whether no element is true.
fn none(t: &Tensor) -> Result<bool> {
    Ok(!t.try_any(&[], false)?.item::<bool>()?)
}
