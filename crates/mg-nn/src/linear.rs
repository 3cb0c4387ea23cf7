//! Products with a matrix, and rows of one: [`Linear`], [`Embedding`].

use mg_autograd::Tensor;
use mg_device::{DType, Result};

use crate::module::{Module, told};
use crate::{fields, init};

/// `x Wᵀ + b` on the last axis.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{Linear, Module};
///
/// let layer = Linear::new(3, 2)?;
/// let x = Tensor::from_vec(vec![1.0f32; 12], &[4, 3])?;
/// assert_eq!(*layer.forward(&x)?.shape(), [4, 2]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Linear {
    /// `[out_features, in_features]`.
    pub weight: Tensor,
    /// `[out_features]`.
    pub bias: Option<Tensor>,
}

impl Linear {
    /// With a bias, in f32. Weight and bias are drawn uniformly from ±1/√`in_features`, as PyTorch does.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(in_features: usize, out_features: usize) -> Result<Linear> {
        Linear::with_options(in_features, out_features, true, DType::F32)
    }

    /// With a bias or without, in a floating-point dtype.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`Linear::new`].
    #[track_caller]
    pub fn with_options(in_features: usize, out_features: usize, bias: bool, dtype: DType) -> Result<Linear> {
        let bound = init::default_bound(in_features);
        let weight = init::uniform_parameter(&[out_features, in_features], bound, dtype)?;
        let bias = if bias { Some(init::uniform_parameter(&[out_features], bound, dtype)?) } else { None };
        Ok(Linear { weight, bias })
    }
}

impl Module for Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        told(self, x.try_linear(&self.weight, self.bias.as_ref()))
    }
    fields!(weight, bias);

    fn describe(&self) -> String {
        let (shape, bias) = (self.weight.shape(), self.bias.is_some());
        format!("Linear(in_features={}, out_features={}, bias={bias})", shape[1], shape[0])
    }
}

/// A table of vectors, looked up by integers of any shape: `[…]` becomes `[…, embedding_dim]`.
pub struct Embedding {
    /// `[num_embeddings, embedding_dim]`.
    pub weight: Tensor,
}

impl Embedding {
    /// Drawn from the normal distribution of mean 0 and variance 1, in f32.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(num_embeddings: usize, embedding_dim: usize) -> Result<Embedding> {
        Embedding::with_options(num_embeddings, embedding_dim, DType::F32)
    }

    /// As [`Embedding::new`], in a floating-point dtype.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`Embedding::new`].
    #[track_caller]
    pub fn with_options(num_embeddings: usize, embedding_dim: usize, dtype: DType) -> Result<Embedding> {
        let weight = Tensor::randn(&[num_embeddings, embedding_dim], dtype)?;
        Ok(Embedding { weight: init::parameter(weight)? })
    }
}

impl Module for Embedding {
    /// An index outside the table is found here where it is known already, on the host; else when the value is computed.
    fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        told(self, indices.try_embedding(&self.weight, None))
    }
    fields!(weight);

    fn describe(&self) -> String {
        let shape = self.weight.shape();
        format!("Embedding({}, {})", shape[0], shape[1])
    }
}
