//! Operations that are composed of others, by family. Each is declared once: see [`crate::surface`].

mod activation;
mod convolution;
mod scan;

pub(crate) use activation::ACTIVATIONS;
pub(crate) use convolution::CONVOLUTIONS;
pub use convolution::Padding;
pub(crate) use scan::SCANS;

use crate::tensor::Tensor;
use mg_device::DType;
use mg_graph::Node;

/// A float node: integers become f32.
pub(crate) fn float(t: &Tensor) -> Node {
    let node = t.node();
    let dtype = if node.dtype().is_float() { node.dtype() } else { DType::F32 };
    node.cast(dtype)
}
