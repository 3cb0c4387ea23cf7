//! What tensors would take to compute.

use crate::tensor::Tensor;
use mg_device::Result;
use mg_graph::{Explanation, Node};

/// The launches that computing some tensors together would take; none where their values are known. Nothing is computed.
///
/// # Errors
///
/// An earlier failure of something that the tensors depend on.
///
/// ```
/// use mg_autograd::{Tensor, explain};
///
/// let x = Tensor::from_slice(&[1.0f32, -2.0]).requires_grad_(true)?;
/// let loss = x.relu().powf(2.0).sum();
/// loss.backward()?;
/// // The loss and its gradient are one pass.
/// assert_eq!(explain(&[&loss, &x.grad().unwrap()])?.launches.len(), 1);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub fn explain(tensors: &[&Tensor]) -> Result<Explanation> {
    let nodes: Vec<Node> = tensors.iter().map(|t| t.node()).collect();
    mg_graph::explain(&nodes.iter().collect::<Vec<_>>())
}

impl Tensor {
    /// The launches that computing it would take; those of several tensors together are [`explain`]'s.
    ///
    /// # Errors
    ///
    /// An earlier failure of something that it depends on.
    pub fn explain(&self) -> Result<Explanation> {
        explain(&[self])
    }
}
