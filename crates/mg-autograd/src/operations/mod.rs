//! Operations that are composed of others, by family. Each is declared once: see [`crate::surface`].

mod activation;
mod convolution;
mod creation;
mod einsum;
mod indexing;
mod linear_algebra;
mod movement;
mod reduction;
mod scan;
mod window;

pub(crate) use activation::ACTIVATIONS;
pub(crate) use convolution::CONVOLUTIONS;
pub use convolution::Padding;
pub(crate) use creation::CREATION;
pub(crate) use indexing::INDEXING;
pub(crate) use linear_algebra::LINEAR_ALGEBRA;
pub(crate) use movement::{MOVEMENT, PLAIN_MOVEMENT, bounds};
pub(crate) use reduction::REDUCTIONS;
pub(crate) use scan::SCANS;
pub(crate) use window::WINDOWS;

use crate::tensor::Tensor;
use mg_device::{DType, Result, normalize_axis};
use mg_graph::Node;

/// A float node: integers become the default float.
pub(crate) fn float(t: &Tensor) -> Node {
    let node = t.node();
    let dtype = if node.dtype().is_float() { node.dtype() } else { DType::default_float() };
    node.cast(dtype)
}

/// An axis, from the end where it is negative. A tensor without axes is taken to have one.
pub(crate) fn axis_of(dim: isize, rank: usize) -> Result<usize> {
    normalize_axis(dim, rank.max(1))
}

/// Signed sizes, as views take them.
pub(crate) fn signed(sizes: &[usize]) -> Vec<isize> {
    sizes.iter().map(|&n| n as isize).collect()
}
