//! Layers with parameters: [`Linear`], [`Embedding`], [`LayerNorm`].

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::module::Module;
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
        x.try_linear(&self.weight, self.bias.as_ref())
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
        indices.try_embedding(&self.weight, None)
    }
    fields!(weight);

    fn describe(&self) -> String {
        let shape = self.weight.shape();
        format!("Embedding({}, {})", shape[0], shape[1])
    }
}

/// Normalises over the last axes to mean 0 and variance 1, then scales and shifts: Ba, Kiros and Hinton, "Layer
/// normalization", 2016.
pub struct LayerNorm {
    /// Of the shape normalised over; 1 at first.
    pub weight: Option<Tensor>,
    /// Of the shape normalised over; 0 at first.
    pub bias: Option<Tensor>,
    normalized_shape: Vec<usize>,
    eps: f64,
}

impl LayerNorm {
    /// Over axes of these sizes, with weight and bias in f32 and 10⁻⁵ added to the variance.
    ///
    /// # Errors
    ///
    /// No axes or more than 8; memory.
    #[track_caller]
    pub fn new(normalized_shape: &[usize]) -> Result<LayerNorm> {
        LayerNorm::with_options(normalized_shape, 1e-5, true, DType::F32)
    }

    /// With what is added to the variance, with weight and bias (in a floating-point dtype) or without.
    ///
    /// # Errors
    ///
    /// `eps` below 0 or NaN, a dtype that is not floating point; as [`LayerNorm::new`].
    #[track_caller]
    pub fn with_options(
        normalized_shape: &[usize],
        eps: f64,
        affine: bool,
        dtype: DType,
    ) -> Result<LayerNorm> {
        let fail = |kind| Err(Error::new("LayerNorm", kind));
        if normalized_shape.is_empty() {
            return fail(ErrorKind::Shape("takes the sizes of at least one axis".into()));
        }
        if eps.is_nan() || eps < 0.0 {
            return fail(ErrorKind::Value(format!("takes an eps of at least 0, got {eps}")));
        }
        let part = |value| {
            if affine { init::constant_parameter(normalized_shape, value, dtype).map(Some) } else { Ok(None) }
        };
        Ok(LayerNorm {
            weight: part(1.0)?,
            bias: part(0.0)?,
            normalized_shape: normalized_shape.to_vec(),
            eps,
        })
    }
}

impl Module for LayerNorm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.try_layer_norm(&self.normalized_shape, self.weight.as_ref(), self.bias.as_ref(), self.eps)
    }
    fields!(weight, bias);

    fn describe(&self) -> String {
        let affine = self.weight.is_some();
        format!("LayerNorm({:?}, eps={:e}, elementwise_affine={affine})", self.normalized_shape, self.eps)
    }
}
