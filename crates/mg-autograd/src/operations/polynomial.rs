//! Orthogonal polynomials, by the recurrences that lead from two of them to the next (Abramowitz and Stegun, "Handbook of mathematical
//! functions", chapter 22).

use super::elementwise::floats;
use crate::ops::Operand;
use crate::tensor::Tensor;
use mg_device::{DType, Error, ErrorKind, Result, Shape};
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};
use mg_macros::operations;

/// The largest degree: recurrences are as long as that.
const MOST: i64 = 10_000;

fn checked(op: &'static str, degree: i64) -> Result<i64> {
    match degree > MOST {
        true => {
            let text = format!("polynomials are evaluated up to degree {MOST}, got {degree}");
            Err(Error::new(op, ErrorKind::Value(text)))
        }
        false => Ok(degree),
    }
}

/// A degree without its fraction; below 0 of what is no number.
fn whole(n: f64) -> i64 {
    if n.is_finite() { n as i64 } else { -1 }
}

/// The polynomials of degrees `n` at `at(x)`: 1, `first(x)`, and what `step(k, x, pₖ, pₖ₋₁)` makes of two of them.
fn evaluated(
    op: &'static str,
    x: &Tensor,
    n: Operand,
    at: impl Fn(&Node) -> Node,
    first: impl Fn(&Node) -> Node,
    step: impl Fn(f64, &Node, &Node, &Node) -> Node,
) -> Result<Tensor> {
    let degree = match &n {
        Operand::Float(n) => Some(whole(*n)),
        Operand::Int(n) => Some(*n),
        Operand::Bool(n) => Some(i64::from(*n)),
        Operand::Tensor(_) | Operand::Live(_) => None,
    };
    let ([x, n], dtype) = floats(op, [x.into(), n])?;
    let shape = Shape::broadcast(x.shape(), n.shape()).unwrap_or(*x.shape());
    let x = at(&x).expand(shape)?;
    let all = |number: f64| x.lit(number).expand(shape);
    // Of degrees in a tensor the largest says how far, so that their values are read.
    let (degrees, most) = match degree {
        Some(degree) => (None, checked(op, degree)?),
        None => {
            let is_finite = Node::apply(Row::Lt, &[&n.map(Row::Abs), &n.lit(f64::INFINITY)]);
            let degrees = is_finite.choose(&n.map(Row::Trunc), &n.lit(-1.0)).expand(shape)?;
            degrees.set_tracked(false);
            (Some(degrees.clone()), checked(op, largest(degrees)?)?)
        }
    };
    let (mut below, mut here) = (all(1.0)?, first(&x));
    let mut found = match &degrees {
        None if most < 0 => all(0.0)?,
        None if most == 0 => below.clone(),
        None => here.clone(),
        Some(degrees) => {
            let one = degrees.eq(&degrees.lit(1.0)).choose(&here, &all(0.0)?);
            degrees.eq(&degrees.lit(0.0)).choose(&below, &one)
        }
    };
    for k in 1..most {
        let next = step(k as f64, &x, &here, &below);
        below = std::mem::replace(&mut here, next);
        found = match &degrees {
            Some(degrees) => degrees.eq(&degrees.lit((k + 1) as f64)).choose(&here, &found),
            None => here.clone(),
        };
    }
    Ok(Tensor::from_node(found.cast(dtype)))
}

/// The largest of some degrees; -1 where there are none.
fn largest(degrees: Node) -> Result<i64> {
    if degrees.shape().numel() == 0 {
        return Ok(-1);
    }
    mg_graph::needs_values();
    let degrees = Tensor::from_node(degrees).to_dtype(DType::F64);
    Ok(whole(degrees.try_max()?.item::<f64>()?))
}

/// Where shifted polynomials are evaluated.
fn shifted(x: &Node) -> Node {
    x.scale(2.0).sub(&x.lit(1.0))
}

/// Chebyshev's recurrence.
fn twice(_: f64, x: &Node, here: &Node, below: &Node) -> Node {
    x.scale(2.0).mul(here).sub(below)
}

#[operations(POLYNOMIALS)]
impl Tensor {
    /// Chebyshev's polynomials of the first kind,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn chebyshev_polynomial_t(&self, n: Operand) -> Result<Tensor> {
        evaluated("chebyshev_polynomial_t", self, n, Node::clone, |x| x.clone(), twice)
    }

    /// Chebyshev's polynomials of the first kind at `2x − 1`,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn shifted_chebyshev_polynomial_t(&self, n: Operand) -> Result<Tensor> {
        evaluated("shifted_chebyshev_polynomial_t", self, n, shifted, |x| x.clone(), twice)
    }

    /// Chebyshev's polynomials of the second kind,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn chebyshev_polynomial_u(&self, n: Operand) -> Result<Tensor> {
        evaluated("chebyshev_polynomial_u", self, n, Node::clone, |x| x.scale(2.0), twice)
    }

    /// Chebyshev's polynomials of the second kind at `2x − 1`,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn shifted_chebyshev_polynomial_u(&self, n: Operand) -> Result<Tensor> {
        evaluated("shifted_chebyshev_polynomial_u", self, n, shifted, |x| x.scale(2.0), twice)
    }

    /// Chebyshev's polynomials of the third kind,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn chebyshev_polynomial_v(&self, n: Operand) -> Result<Tensor> {
        evaluated("chebyshev_polynomial_v", self, n, Node::clone, |x| x.scale(2.0).sub(&x.lit(1.0)), twice)
    }

    /// Chebyshev's polynomials of the third kind at `2x − 1`,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn shifted_chebyshev_polynomial_v(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "shifted_chebyshev_polynomial_v",
            self,
            n,
            shifted,
            |x| x.scale(2.0).sub(&x.lit(1.0)),
            twice,
        )
    }

    /// Chebyshev's polynomials of the fourth kind,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn chebyshev_polynomial_w(&self, n: Operand) -> Result<Tensor> {
        evaluated("chebyshev_polynomial_w", self, n, Node::clone, |x| x.scale(2.0).add(&x.lit(1.0)), twice)
    }

    /// Chebyshev's polynomials of the fourth kind at `2x − 1`,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn shifted_chebyshev_polynomial_w(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "shifted_chebyshev_polynomial_w",
            self,
            n,
            shifted,
            |x| x.scale(2.0).add(&x.lit(1.0)),
            twice,
        )
    }

    /// Hermite's polynomials of physics,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn hermite_polynomial_h(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "hermite_polynomial_h",
            self,
            n,
            Node::clone,
            |x| x.scale(2.0),
            |k, x, here, below| x.scale(2.0).mul(here).sub(&below.scale(2.0 * k)),
        )
    }

    /// Hermite's polynomials of probability,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn hermite_polynomial_he(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "hermite_polynomial_he",
            self,
            n,
            Node::clone,
            |x| x.clone(),
            |k, x, here, below| x.mul(here).sub(&below.scale(k)),
        )
    }

    /// Laguerre's polynomials,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn laguerre_polynomial_l(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "laguerre_polynomial_l",
            self,
            n,
            Node::clone,
            |x| x.lit(1.0).sub(x),
            |k, x, here, below| {
                let next = x.lit(2.0 * k + 1.0).sub(x).mul(here).sub(&below.scale(k));
                next.div(&x.lit(k + 1.0))
            },
        )
    }

    /// Legendre's polynomials,
    /// of a degree `n`: a number, or degrees in a tensor that broadcasts, without their fractions. 0 of degrees below 0 and of those that are no
    /// number. Integers become the default float; half types are computed in f32. Gradients flow to the tensor.
    ///
    /// # Errors
    ///
    /// Degrees beyond 10,000, shapes that do not broadcast, unlike devices.
    #[surface(special)]
    pub fn legendre_polynomial_p(&self, n: Operand) -> Result<Tensor> {
        evaluated(
            "legendre_polynomial_p",
            self,
            n,
            Node::clone,
            |x| x.clone(),
            |k, x, here, below| {
                let next = x.scale(2.0 * k + 1.0).mul(here).sub(&below.scale(k));
                next.div(&x.lit(k + 1.0))
            },
        )
    }
}
