//! Special functions that are composed of rows.

use super::elementwise::{and, binary, floats, joined, unary};
use super::with_slopes_of;
use crate::ops::Operand;
use crate::tensor::Tensor;
use crate::tensor::memory::untracked;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::library::{Pair, PairKind};
use mg_kernels::{Algebra, BesselOrder, Row, Rules, bessel_series};
use mg_macros::operations;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Σ 1/(q + k)ˢ over k ≥ 0, of q > 0, by Euler's and Maclaurin's formula (DLMF 25.11.5) after ten terms.
fn right_of_zero(s: &Node, q: &Node) -> Node {
    let one = q.lit(1.0);
    let power = |base: &Node, exponent: &Node| Node::apply(Row::Pow, &[base, exponent]);
    let minus = s.neg();
    let terms = (0..10).map(|k| power(&q.add(&q.lit(f64::from(k))), &minus));
    let Some(sum) = terms.reduce(|a, b| a.add(&b)) else { return q.clone() };
    let a = q.add(&q.lit(10.0));
    let last = power(&a, &minus);
    // Not `a` times `last`, which is 0 where this is not yet.
    let integral = power(&a, &one.sub(s)).div(&s.sub(&one));
    let mut sum = sum.add(&integral).add(&last.scale(0.5));
    // B₂ⱼ/(2j)!.
    let numbers = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30240.0,
        -1.0 / 1209600.0,
        1.0 / 47900160.0,
        -691.0 / 1307674368000.0,
        1.0 / 74724249600.0,
        -3617.0 / 10670622842880000.0,
    ];
    let square = one.div(&a.map(Row::Square));
    let mut factor = last.mul(s).div(&a);
    for (j, &number) in numbers.iter().enumerate() {
        sum = sum.add(&factor.scale(number));
        let (first, second) = (2.0 * j as f64 + 1.0, 2.0 * j as f64 + 2.0);
        let rise = s.add(&s.lit(first)).mul(&s.add(&s.lit(second)));
        factor = factor.mul(&rise).mul(&square);
    }
    sum
}

/// Σ 1/(q + k)ˢ over k ≥ 0, for s > 1; no number below. Left of zero, for whole s, the terms left of it are those of 1 − q, seen from
/// there.
fn hurwitz(s: &Node, q: &Node) -> Node {
    let (zero, one) = (q.lit(0.0), q.lit(1.0));
    // At a pole and outside the domain other numbers stand in, so that nothing is 0 · ∞.
    let pole = and(&Node::apply(Row::Le, &[q, &zero]), &q.eq(&q.map(Row::Floor)));
    let inside = one.lt(s);
    // Of an infinite exponent the first term right of zero is all.
    let is_endless = s.eq(&s.lit(f64::INFINITY));
    let order = and(&inside, &s.lt(&s.lit(f64::INFINITY))).choose(s, &s.lit(2.0));
    let base = pole.choose(&one, q);
    let is_left = base.lt(&zero);
    // How far right of the pole before it, and how far left of the one behind it: each as it is, since of the other the digits would be
    // lost where it is next to a pole.
    let before = base.map(Row::Floor);
    let part = is_left.choose(&base.sub(&before), &base);
    let right = right_of_zero(&order, &part);
    let other = |distance: &Node| right_of_zero(&order, &is_left.choose(distance, &one));
    let between = other(&before.add(&one).sub(&base)).sub(&other(&one.sub(&base)));
    let half = order.scale(0.5);
    let is_even = half.eq(&half.map(Row::Floor));
    let is_whole = order.eq(&order.map(Row::Floor));
    let signed = is_even.choose(&between, &between.neg());
    // A factor, so that there is no slope either where there is no number.
    let none_unless = |holds: &Node| holds.choose(&one, &q.lit(f64::NAN));
    let left = signed.mul(&none_unless(&is_whole));
    let sum = is_left.choose(&right.add(&left), &right);
    // Elsewhere of 1, so that its slope is no 0 · ∞.
    let first = Node::apply(Row::Pow, &[&is_endless.choose(&part, &one), &s.neg()]);
    // None of more than 1, as PyTorch and Cephes have it.
    let first = one.lt(&part).choose(&q.lit(f64::NAN), &first);
    let sum = is_endless.choose(&first, &sum);
    // Of the first term at infinity Cephes has no ratio to the next ones.
    let is_near = Node::apply(Row::Ne, &[q, &q.lit(f64::INFINITY)]);
    let sum = sum.mul(&none_unless(&is_near));
    let sum = inside.choose(&sum, &q.lit(f64::NAN));
    // At 1 the sum is infinite wherever it begins, and its slope is that of −ψ.
    let mut at_one = q.lit(f64::INFINITY);
    if q.is_tracked() && mg_graph::is_tracking() {
        // Elsewhere of 1, so that its slope is no 0 · ∞.
        let least = s.eq(&one).choose(&base, &one).map(Row::Digamma).neg();
        at_one = with_slopes_of(&at_one, &least);
    }
    let sum = s.eq(&one).choose(&at_one, &sum);
    // At a pole the slopes are those of 1/x at 0, and at −∞ those of e⁻ˣ; elsewhere both are of other numbers, so that nothing is 0 · ∞.
    let is_steep = and(&pole, &Node::apply(Row::Le, &[&one, s]));
    let is_finite = q.lit(f64::NEG_INFINITY).lt(q);
    let distance = and(&is_steep, &is_finite).choose(&q.sub(&untracked(q)), &one);
    let end = is_finite.choose(&zero, &is_steep.choose(q, &zero)).neg().map(Row::Exp);
    let infinite = is_finite.choose(&one.div(&distance), &end);
    is_steep.choose(&infinite, &sum)
}

/// [`hurwitz`], with slopes by q also where s < 1: there the sum is no number, and its slope is −s · ζ(s + 1, q) all the same, as
/// PyTorch has it.
fn zeta(s: &Node, q: &Node) -> Node {
    let sum = hurwitz(s, q);
    if !(q.is_tracked() && mg_graph::is_tracking()) {
        return sum;
    }
    let (one, none) = (q.lit(1.0), q.lit(f64::NAN));
    let (s, from) = (untracked(s), untracked(q));
    let next = s.add(&one);
    let slope = s.mul(&hurwitz(&next, &from)).neg();
    let bend = s.mul(&next).mul(&hurwitz(&next.add(&one), &from));
    let distance = q.lit(f64::NEG_INFINITY).lt(q).choose(&q.sub(&from), &q.lit(0.0));
    // Where it falls without end, as 1/x at 0.
    let is_below = s.lt(&one);
    let is_steep = and(&is_below, &slope.map(Row::Abs).eq(&slope.lit(f64::INFINITY)));
    let is_even_there =
        and(&is_below, &Node::apply(Row::Ne, &[&slope.map(Row::Abs), &slope.lit(f64::INFINITY)]));
    let finite = |slope: &Node| is_even_there.choose(slope, &one);
    let near = finite(&slope).add(&finite(&bend.scale(0.5)).mul(&distance)).mul(&distance);
    let far = one.div(&is_steep.choose(&distance, &one));
    is_below.choose(&none.add(&is_steep.choose(&far, &near)), &sum)
}

/// `near` of numbers of which the magnitude is at most 1, `far` of others; either sees nothing of the other's.
fn near_zero(x: &Node, near: impl FnOnce(&Node) -> Node, far: impl FnOnce(&Node) -> Node) -> Node {
    let (zero, one) = (x.lit(0.0), x.lit(1.0));
    let is_near = Node::apply(Row::Le, &[&x.map(Row::Abs), &one]);
    is_near.choose(&near(&is_near.choose(x, &zero)), &far(&is_near.choose(&one, x)))
}

/// The distribution function of the normal distribution.
fn normal(x: &Node) -> Node {
    x.scale(-FRAC_1_SQRT_2).map(Row::Erfc).scale(0.5)
}

/// The derivative of order n of `digamma`.
fn derivative(n: i64, x: &Node) -> Node {
    if n == 0 {
        return x.map(Row::Digamma);
    }
    // Of more than 170 it is beyond the largest number.
    let factorial: f64 = (1..=n.min(171)).map(|k| k as f64).product();
    let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
    // It falls to 0, of every order.
    let at_end = x.eq(&x.lit(f64::INFINITY));
    let inside = hurwitz(&x.lit(n as f64 + 1.0), &at_end.choose(&x.lit(1.0), x));
    let slope = at_end.choose(&x.lit(0.0), &inside.scale(sign * factorial));
    match n {
        // As PyTorch has it; of higher orders −∞ is a pole.
        1 => x.eq(&x.lit(f64::NEG_INFINITY)).choose(&x.lit(f64::NAN), &slope),
        _ => slope,
    }
}

/// The logarithm of the multivariate gamma function of dimension p.
fn multivariate(op: &'static str, t: &Tensor, p: i64) -> Result<Tensor> {
    // Each dimension is a term of its own.
    const MOST: i64 = 1 << 10;
    if !(1..=MOST).contains(&p) {
        return Err(Error::new(op, ErrorKind::Value(format!("takes a dimension from 1 to {MOST}, got {p}"))));
    }
    if t.dtype() == DType::Bool {
        return Err(Error::new(op, ErrorKind::DType("takes numbers, got truth values".into())));
    }
    unary(t, |x| {
        let constant = x.lit((p * (p - 1)) as f64 * 0.25 * PI.ln());
        (0..p).fold(constant, |sum, j| sum.add(&x.sub(&x.lit(0.5 * j as f64)).map(Row::Lgamma)))
    })
}

/// A function of two numbers, of operands of one shape.
fn pairwise(kind: PairKind, a: &Node, b: &Node) -> Result<Node> {
    let shape = Shape::broadcast(a.shape(), b.shape()).unwrap_or(*a.shape());
    Node::library(Pair { kind }.into(), &[&a.expand(shape)?, &b.expand(shape)?])
}

/// The incomplete gamma functions, of half types in f32.
fn incomplete(op: &'static str, a: &Tensor, x: Operand, kind: PairKind) -> Result<Tensor> {
    let ([a, x], dtype) = floats(op, [a.into(), x])?;
    Ok(Tensor::from_node(pairwise(kind, &a, &x)?.cast(dtype)))
}

/// Integers, wide, and the dtype in which they meet.
fn whole(op: &'static str, a: &Tensor, b: Operand) -> Result<([Node; 2], DType)> {
    let (nodes, dtype) = joined(op, [a.into(), b])?;
    if !dtype.is_int() {
        return Err(Error::new(op, ErrorKind::DType(format!("takes integers, got {dtype}"))));
    }
    Ok((nodes.map(|n| n.cast(DType::I64)), dtype))
}

#[operations(SPECIAL)]
impl Tensor {
    /// The greatest common divisor of integers, which is not negative; that of 0 and 0 is 0.
    ///
    /// # Errors
    ///
    /// What is no integer, shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, integers)]
    pub fn gcd(&self, other: Operand) -> Result<Tensor> {
        let ([a, b], dtype) = whole("gcd", self, other)?;
        Ok(Tensor::from_node(pairwise(PairKind::Gcd, &a, &b)?.cast(dtype)))
    }

    /// The least common multiple of integers, which is not negative; 0 where one of them is.
    ///
    /// # Errors
    ///
    /// What is no integer, shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place, integers)]
    pub fn lcm(&self, other: Operand) -> Result<Tensor> {
        let ([a, b], dtype) = whole("lcm", self, other)?;
        let divisor = pairwise(PairKind::Gcd, &a, &b)?;
        let divisor = divisor.eq(&divisor.lit(0.0)).choose(&divisor.lit(1.0), &divisor);
        let [a, b, divisor] = [a, b, divisor].map(Tensor::from_node);
        let multiple = a.try_floor_divide(divisor)?.try_mul(b)?.try_abs()?;
        Ok(Tensor::from_node(multiple.node().cast(dtype)))
    }

    /// The regularised lower incomplete gamma function `P(a, x) = ∫₀ˣ tᵃ⁻¹ e⁻ᵗ dt / Γ(a)`, with the tensor as `a`, for `a` and `x` that are not
    /// negative. Integers become the default float; half types are computed in f32. By series and continued fractions, with a gradient by `x` alone.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn igamma(&self, other: Operand) -> Result<Tensor> {
        incomplete("igamma", self, other, PairKind::Lower)
    }

    /// The regularised upper incomplete gamma function `Q(a, x) = 1 − P(a, x)`: see `igamma`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(method, function, in_place)]
    pub fn igammac(&self, other: Operand) -> Result<Tensor> {
        incomplete("igammac", self, other, PairKind::Upper)
    }

    /// `igamma`, by the name of `special`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn gammainc(&self, other: Operand) -> Result<Tensor> {
        incomplete("gammainc", self, other, PairKind::Lower)
    }

    /// `igammac`, by the name of `special`.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn gammaincc(&self, other: Operand) -> Result<Tensor> {
        incomplete("gammaincc", self, other, PairKind::Upper)
    }

    /// The logarithm of the magnitude of the gamma function. Integers become the default float.
    #[surface(special)]
    pub fn gammaln(&self) -> Result<Tensor> {
        self.try_lgamma()
    }

    /// The derivative of the logarithm of the gamma function. Integers become the default float.
    #[surface(special)]
    pub fn psi(&self) -> Result<Tensor> {
        self.try_digamma()
    }

    /// `1 / (1 + e⁻ˣ)`. Integers become the default float.
    #[surface(special)]
    pub fn expit(&self) -> Result<Tensor> {
        self.try_sigmoid()
    }

    /// The distribution function of the normal distribution. Integers become the default float.
    #[surface(special)]
    pub fn ndtr(&self) -> Result<Tensor> {
        unary(self, normal)
    }

    /// The logarithm of the distribution function of the normal distribution, far into its tail. Integers become the default float.
    #[surface(special)]
    pub fn log_ndtr(&self) -> Result<Tensor> {
        unary(self, |x| {
            // With t = x/√2: ln(½ erfcx(−t)) − t² below 0, ln(1 − ½ erfcx(t)·e^(−t²)) from there on.
            // (Beyond 30 there is nothing left of it in f64, nor of its slope, and an infinite one would be multiplied with 0.)
            let t = x.scale(FRAC_1_SQRT_2);
            let t = Node::apply(Row::Minimum, &[&t, &t.lit(30.0)]);
            let below = t.lt(&t.lit(0.0));
            let half = below.choose(&t.neg(), &t).map(Row::Erfcx).scale(0.5);
            let square = t.map(Row::Square);
            let part = below.choose(&half.sub(&half.lit(1.0)), &half.mul(&square.neg().map(Row::Exp)).neg());
            // Where that would round to −1, the logarithm is nothing beside the square.
            let distances = if x.dtype().is_half() { 0.5 } else { 4.0 };
            let last = distances * x.dtype().epsilon();
            let least = part.lit(last - 1.0);
            let part = Node::apply(Row::Maximum, &[&part, &least]);
            part.map(Row::Log1p).sub(&below.choose(&square, &square.lit(0.0)))
        })
    }

    /// The modified Bessel function of the first kind and order 0. Integers become the default float.
    #[surface(method, function, special, in_place)]
    pub fn i0(&self) -> Result<Tensor> {
        unary(self, |x| {
            // Beyond all numbers so is the slope, and not what two infinities leave. Of an infinite number there is no value: PyTorch has it as ∞ times 0.
            let (zero, infinite) = (x.lit(0.0), x.lit(f64::INFINITY));
            let growth = |x: &Node| x.map(Row::Abs).map(Row::Exp);
            let value = |x: &Node| {
                let is_beyond = and(&growth(x).eq(&infinite), &x.map(Row::Abs).lt(&infinite));
                let inside = x.map(Row::I0e).mul(&growth(&is_beyond.choose(&zero, x)));
                is_beyond.choose(&growth(&is_beyond.choose(x, &zero)), &inside)
            };
            if !(x.is_tracked() && mg_graph::is_tracking()) {
                return value(x);
            }
            // Near 0 slopes are those of the series, which keep their digits.
            let own = value(&untracked(x));
            near_zero(x, |x| with_slopes_of(&own, &bessel_series(x, BesselOrder::Zero)), value)
        })
    }

    /// The modified Bessel function of the first kind and order 1. Integers become the default float.
    #[surface(special)]
    pub fn i1(&self) -> Result<Tensor> {
        unary(self, |x| {
            let series = |x: &Node| x.mul(&bessel_series(x, BesselOrder::One));
            near_zero(x, series, |x| x.map(Row::I1e).mul(&x.map(Row::Abs).map(Row::Exp)))
        })
    }

    /// Hurwitz's zeta function, Σ 1/(q + k)ˣ over k ≥ 0, for x > 1. ∞ at whole numbers q that are not positive. Integers become
    /// the default float.
    ///
    /// # Errors
    ///
    /// Shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn zeta(&self, other: Operand) -> Result<Tensor> {
        binary("zeta", self, other, zeta)
    }

    /// The derivative of order n of `digamma`. Integers become the default float.
    ///
    /// # Errors
    ///
    /// A negative order.
    #[surface(function, special)]
    pub fn polygamma(n: i64, input: &Tensor) -> Result<Tensor> {
        if n < 0 {
            let text = format!("takes an order that is not negative, got {n}");
            return Err(Error::new("polygamma", ErrorKind::Value(text)));
        }
        let ([x], dtype) = floats("polygamma", [input.into()])?;
        Ok(Tensor::from_node(derivative(n, &x).cast(dtype)))
    }

    /// The derivative of order n of `digamma`.
    ///
    /// # Errors
    ///
    /// A negative order; a tensor that is not of floats.
    #[surface(in_place_only, name = "polygamma")]
    pub fn polygamma_of(&self, n: i64) -> Result<Tensor> {
        Tensor::try_polygamma(n, self)
    }

    /// The logarithm of the multivariate gamma function of dimension p. Integers become the default float.
    ///
    /// # Errors
    ///
    /// A dimension below 1 or above 1024; truth values.
    #[surface(method, function, in_place)]
    pub fn mvlgamma(&self, p: i64) -> Result<Tensor> {
        multivariate("mvlgamma", self, p)
    }

    /// The logarithm of the multivariate gamma function of dimension p. Integers become the default float.
    ///
    /// # Errors
    ///
    /// A dimension below 1 or above 1024; truth values.
    #[surface(special)]
    pub fn multigammaln(&self, p: i64) -> Result<Tensor> {
        multivariate("multigammaln", self, p)
    }
}
