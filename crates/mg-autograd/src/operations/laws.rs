//! Random numbers whose law is another in each element.

use super::creation::{drawn_by, uniform_of};
use super::set_aside;
use crate::checks::valid;
use crate::creation::{drawn_in, normal};
use crate::generator::Generator;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Valid};
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;
use std::f64::consts::SQRT_2;

/// Proposals of which the first that is accepted is taken; that none is has a probability below 1e−10.
const PROPOSALS: usize = 8;

fn floats(op: &'static str, t: &Tensor) -> Result<()> {
    match t.dtype().float().is_some() {
        true => Ok(()),
        false => Err(Error::new(op, ErrorKind::DType(format!("takes floats, got {}", t.dtype())))),
    }
}

fn powered(base: &Node, exponent: &Node) -> Node {
    Node::apply(Row::Pow, &[base, exponent])
}

/// How a number of the gamma distribution moves with its shape while its quantile stays: `−(∂P/∂α) / density`, in f64. (Figurnov, Mohamed and
/// Mnih, 2018.) `P` is differentiated over a step so small beside the distribution's width that it errs by some 1e−8 of it.
fn drift(alpha: &Node, x: &Node) -> Result<Node> {
    let (alpha, x) = (alpha.cast(DType::F64), x.cast(DType::F64));
    let h = alpha.scale(1e-4).div(&alpha.add(&alpha.lit(1.0)).map(Row::Sqrt));
    let at = |a: Node| -> Result<Node> {
        Ok(Tensor::from_node(a).try_igamma(Tensor::from_node(x.clone()))?.node())
    };
    let slope = at(alpha.add(&h))?.sub(&at(alpha.sub(&h))?).div(&h.scale(2.0));
    let lgamma = Tensor::from_node(alpha.clone()).try_lgamma()?.node();
    let density = alpha.sub(&alpha.lit(1.0)).mul(&x.map(Row::Log)).sub(&x).sub(&lgamma).map(Row::Exp);
    let moved = slope.neg().div(&density);
    // Where the number is 0, or as far out as numbers go, it does not move.
    Ok(moved.map(Row::Abs).lt(&moved.lit(f64::INFINITY)).choose(&moved, &moved.lit(0.0)))
}

#[operations(LAWS)]
impl Tensor {
    /// Random numbers of the gamma distribution with the shape parameters that the tensor holds, and scale 1. Gradients flow to the
    /// parameters, as the quantile that was drawn moves. (Marsaglia and Tsang, 2000.)
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats.
    #[surface(function, keywords_from = "generator")]
    pub fn standard_gamma(&self, #[default(None)] generator: Option<&Generator>) -> Result<Tensor> {
        floats("standard_gamma", self)?;
        let own = self.dtype();
        let dtype = drawn_in(own);
        let drawn = set_aside(|| -> Result<Node> {
            let alpha = self.node().cast(dtype);
            let lit = |v: f64| alpha.lit(v);
            // Below 1: a number of the next shape, times a power of a uniform one.
            let small = alpha.lt(&lit(1.0));
            let raised = small.choose(&alpha.add(&lit(1.0)), &alpha);
            let d = raised.sub(&lit(1.0 / 3.0));
            let c = d.scale(9.0).map(Row::Sqrt);
            let mut taken: Option<Node> = None;
            for _ in 0..PROPOSALS {
                let z = normal(&self.shape(), dtype, self.device(), generator)?;
                let u = uniform_of(self, generator)?;
                let side = z.div(&c).add(&lit(1.0));
                let v = side.mul(&side).mul(&side);
                let there = lit(0.0).lt(&v);
                let v = there.choose(&v, &lit(1.0));
                let bound = z.mul(&z).scale(0.5).add(&d.mul(&lit(1.0).sub(&v).add(&v.map(Row::Log))));
                let accepted = Node::apply(Row::And, &[&there, &u.map(Row::Log).lt(&bound)]);
                let value = d.mul(&v);
                // A NaN stands for nothing yet.
                taken = Some(match taken {
                    None => accepted.choose(&value, &lit(f64::NAN)),
                    Some(before) => {
                        let next = accepted.choose(&value, &lit(f64::NAN));
                        before.eq(&before).choose(&before, &next)
                    }
                });
            }
            let Some(taken) = taken else { unreachable!("there are proposals") };
            // The mean, should none have been accepted.
            let taken = taken.eq(&taken).choose(&taken, &raised);
            let u = lit(1.0).sub(&uniform_of(self, generator)?);
            let power = powered(&u, &lit(1.0).div(&small.choose(&alpha, &lit(1.0))));
            let value = small.choose(&taken.mul(&power), &taken);
            // A parameter that is none has no numbers; 0 stands for 0.
            let value = lit(0.0).lt(&alpha).choose(&value, &lit(f64::NAN));
            Ok(alpha.eq(&lit(0.0)).choose(&lit(0.0), &value))
        })?;
        if !self.requires_grad() {
            return Ok(Tensor::from_node(drawn.cast(own)));
        }
        // Drawn once: what is made of it later must not draw again.
        let drawn = Tensor::from_node(drawn).detach().node();
        let alpha = self.node();
        let moved = set_aside(|| drift(&alpha, &drawn))?;
        let still = self.detach().node();
        let by = alpha.cast(DType::F64).sub(&still.cast(DType::F64)).mul(&moved).cast(drawn.dtype());
        Ok(Tensor::from_node(drawn.add(&by).cast(own)))
    }

    /// Random numbers of Poisson's distribution with the rates that the tensor holds, in its dtype. Gradients of the rates are zeros.
    /// The quantile of a uniform number, looked for about its expansion (Cornish and Fisher, 1938) by the incomplete gamma function.
    ///
    /// # Errors
    ///
    /// A tensor that is not of floats; rates that are negative, or NaN.
    #[surface(function, keywords_from = "generator")]
    pub fn poisson(&self, #[default(None)] generator: Option<&Generator>) -> Result<Tensor> {
        floats("poisson", self)?;
        let drawn = set_aside(|| {
            let rate = valid("poisson", &self.detach().node(), Valid::Rate)?.cast(DType::F64);
            let lit = |v: f64| rate.lit(v);
            let u = uniform_of(&Tensor::from_node(rate.clone()), generator)?;
            let z = u.scale(2.0).sub(&lit(1.0)).map(Row::Erfinv).scale(SQRT_2);
            let z = Node::apply(Row::Minimum, &[&Node::apply(Row::Maximum, &[&z, &lit(-9.0)]), &lit(9.0)]);
            let middle = rate.add(&rate.map(Row::Sqrt).mul(&z));
            let middle = middle.add(&z.mul(&z).sub(&lit(1.0)).scale(1.0 / 6.0)).map(Row::Floor);
            // The quantile is at most 8 away: of 17 numbers five looks leave one.
            let bound = |by: f64| Node::apply(Row::Maximum, &[&middle.add(&lit(by)), &lit(0.0)]);
            let (mut low, mut high) = (bound(-8.0), bound(8.0));
            for _ in 0..5 {
                let half = low.add(&high).scale(0.5).map(Row::Floor);
                let next = half.add(&lit(1.0));
                let (count, rate) = (Tensor::from_node(next.clone()), Tensor::from_node(rate.clone()));
                let below = count.try_igammac(&rate)?.node().lt(&u);
                (low, high) = (below.choose(&next, &low), below.choose(&high, &half));
            }
            let count = lit(0.0).lt(&rate).choose(&low, &lit(f64::NAN));
            let count = rate.eq(&lit(0.0)).choose(&lit(0.0), &count);
            Ok(Tensor::from_node(count.cast(self.dtype())))
        })?;
        drawn_by(drawn, self)
    }
}
