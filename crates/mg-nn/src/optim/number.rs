//! Numbers of a step, on the host and on a device.

use mg_device::DType;
use mg_graph::Node;
use mg_kernels::{Algebra, Row, Rules};

/// What follows from how many steps there were is written once: for numbers of the host, and, where only the device
/// knows how many steps were left out, for tensors of f64 without axes.
pub trait Number: Clone {
    /// A constant.
    #[must_use]
    fn lit(&self, value: f64) -> Self;
    /// The sum.
    #[must_use]
    fn plus(&self, other: &Self) -> Self;
    /// The difference.
    #[must_use]
    fn minus(&self, other: &Self) -> Self;
    /// The product.
    #[must_use]
    fn times(&self, other: &Self) -> Self;
    /// The quotient.
    #[must_use]
    fn over(&self, other: &Self) -> Self;
    /// The power.
    #[must_use]
    fn to_the(&self, exponent: &Self) -> Self;
    /// The square root.
    #[must_use]
    fn root(&self) -> Self;
    /// The smaller.
    #[must_use]
    fn at_most(&self, other: &Self) -> Self;
    /// The larger.
    #[must_use]
    fn at_least(&self, other: &Self) -> Self;
    /// As f32 holds it.
    #[must_use]
    fn rounded(&self) -> Self;
    /// `then` where it is greater than `bound`, else `or`.
    #[must_use]
    fn choose_above(&self, bound: f64, then: &Self, or: &Self) -> Self;
}

impl Number for f64 {
    fn lit(&self, value: f64) -> f64 {
        value
    }

    fn plus(&self, other: &f64) -> f64 {
        self + other
    }

    fn minus(&self, other: &f64) -> f64 {
        self - other
    }

    fn times(&self, other: &f64) -> f64 {
        self * other
    }

    fn over(&self, other: &f64) -> f64 {
        self / other
    }

    fn to_the(&self, exponent: &f64) -> f64 {
        self.powf(*exponent)
    }

    fn root(&self) -> f64 {
        self.sqrt()
    }

    fn at_most(&self, other: &f64) -> f64 {
        self.min(*other)
    }

    fn at_least(&self, other: &f64) -> f64 {
        self.max(*other)
    }

    fn rounded(&self) -> f64 {
        f64::from(*self as f32)
    }

    fn choose_above(&self, bound: f64, then: &f64, or: &f64) -> f64 {
        if *self > bound { *then } else { *or }
    }
}

impl Number for Node {
    fn lit(&self, value: f64) -> Node {
        Algebra::lit(self, value)
    }

    fn plus(&self, other: &Node) -> Node {
        self.add(other)
    }

    fn minus(&self, other: &Node) -> Node {
        self.sub(other)
    }

    fn times(&self, other: &Node) -> Node {
        self.mul(other)
    }

    fn over(&self, other: &Node) -> Node {
        self.div(other)
    }

    fn to_the(&self, exponent: &Node) -> Node {
        Node::apply(Row::Pow, &[self, exponent])
    }

    fn root(&self) -> Node {
        Rules::map(self, Row::Sqrt)
    }

    fn at_most(&self, other: &Node) -> Node {
        Node::apply(Row::Minimum, &[self, other])
    }

    fn at_least(&self, other: &Node) -> Node {
        Node::apply(Row::Maximum, &[self, other])
    }

    fn rounded(&self) -> Node {
        self.cast(DType::F32).cast(DType::F64)
    }

    fn choose_above(&self, bound: f64, then: &Node, or: &Node) -> Node {
        Algebra::lit(self, bound).lt(self).choose(then, or)
    }
}
