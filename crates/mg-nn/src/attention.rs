//! Attention with several heads, and the layers of transformers: Vaswani et al., "Attention is all you need", 2017.

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::{current, current_of};
use crate::dropout::Dropout;
use crate::linear::{Linear, LinearOptions};
use crate::module::{Mode, Module, Visitor, told};
use crate::norm::LayerNorm;
use crate::options::{ByName, layer_options};
use crate::{fields, init};

/// What is attended to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attend<'a> {
    /// `[length, keys]` or one for each head of each sample, `[n · heads, length, keys]`: true (or −∞, of floats that are added to scores) is not seen.
    pub mask: Option<&'a Tensor>,
    /// `[n, keys]`: true is not seen.
    pub padding: Option<&'a Tensor>,
    /// Nothing sees what comes after it.
    pub is_causal: bool,
}

layer_options! {
    /// How attention of several heads is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    MultiheadAttentionOptions {
        /// The probability that a weight of attention is dropped in training: 0.
        dropout: f64 = 0.0,
        /// Inputs are `[n, length, embed_dim]` rather than `[length, n, embed_dim]`: no.
        batch_first: bool = false,
    }
}

/// The options of attention by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    (layer == "MultiheadAttention").then(|| MultiheadAttentionOptions::default().by_name())
}

/// Attention of several heads, each with its part of the features.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{Attend, MultiheadAttention};
///
/// let attention = MultiheadAttention::new(16, 4)?.batch_first();
/// let x = Tensor::from_vec(vec![0.5f32; 2 * 5 * 16], &[2, 5, 16])?;
/// let causal = Attend { is_causal: true, ..Attend::default() };
/// assert_eq!(*attention.run(&x, &x, &x, causal)?.shape(), [2, 5, 16]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct MultiheadAttention {
    /// `[3 · embed_dim, embed_dim]`: of queries, keys and values.
    pub in_proj_weight: Tensor,
    /// `[3 · embed_dim]`.
    pub in_proj_bias: Tensor,
    /// What follows the heads.
    pub out_proj: Linear,
    num_heads: usize,
    dropout: f64,
    batch_first: bool,
    mode: Mode,
}

impl MultiheadAttention {
    /// With biases, in f32, and inputs `[length, n, embed_dim]`.
    ///
    /// # Errors
    ///
    /// Features that do not part among the heads; memory.
    #[track_caller]
    pub fn new(embed_dim: usize, num_heads: usize) -> Result<MultiheadAttention> {
        MultiheadAttention::with_options(embed_dim, num_heads, MultiheadAttentionOptions::default())
    }

    /// With a probability of dropping, the order of the axes, and a dtype.
    ///
    /// ```
    /// use mg_autograd::Tensor;
    /// use mg_device::DType;
    /// use mg_nn::{Module, MultiheadAttention, MultiheadAttentionOptions};
    ///
    /// let options = MultiheadAttentionOptions { batch_first: true, dtype: DType::F64, ..Default::default() };
    /// let attention = MultiheadAttention::with_options(8, 2, options)?;
    /// let x = Tensor::zeros(&[2, 5, 8], DType::F64)?;
    /// assert_eq!(*attention.forward(&x)?.shape(), [2, 5, 8]);
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1]; a dtype that is not floating point; as [`MultiheadAttention::new`].
    #[track_caller]
    pub fn with_options(
        embed_dim: usize,
        num_heads: usize,
        options: MultiheadAttentionOptions,
    ) -> Result<MultiheadAttention> {
        let MultiheadAttentionOptions { dropout, batch_first, dtype } = options;
        Dropout::new(dropout)?;
        if num_heads == 0 || !embed_dim.is_multiple_of(num_heads) {
            let text = format!("{embed_dim} features do not part among {num_heads} heads");
            return Err(Error::new("MultiheadAttention", ErrorKind::Value(text)));
        }
        // Glorot's, of three matrices as one: PyTorch's.
        let bound = (6.0 / (4 * embed_dim).max(1) as f64).sqrt();
        let out_proj = Linear::with_options(embed_dim, embed_dim, LinearOptions { bias: true, dtype })?;
        out_proj.bias.iter().try_for_each(|bias| init::constant_(bias, 0.0))?;
        Ok(MultiheadAttention {
            in_proj_weight: init::uniform_parameter(&[3 * embed_dim, embed_dim], bound, dtype)?,
            in_proj_bias: init::constant_parameter(&[3 * embed_dim], 0.0, dtype)?,
            out_proj,
            num_heads,
            dropout,
            batch_first,
            mode: Mode::default(),
        })
    }

    /// For inputs `[n, length, embed_dim]`.
    #[must_use]
    pub fn batch_first(self) -> MultiheadAttention {
        MultiheadAttention { batch_first: true, ..self }
    }

    /// With the probability that a weight of attention is dropped in training.
    ///
    /// # Errors
    ///
    /// A probability outside [0, 1].
    #[track_caller]
    pub fn dropout(self, p: f64) -> Result<MultiheadAttention> {
        Dropout::new(p)?;
        Ok(MultiheadAttention { dropout: p, ..self })
    }

    /// What queries find among values, by keys.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit.
    #[track_caller]
    pub fn run(&self, query: &Tensor, key: &Tensor, value: &Tensor, attend: Attend) -> Result<Tensor> {
        let turned = |x: &Tensor| {
            if self.batch_first && x.shape().rank() == 3 { x.transpose(0, 1) } else { Ok(x.clone()) }
        };
        let embed_dim = self.out_proj.weight.shape()[0];
        let length = query.shape().get(if self.batch_first { 1 } else { 0 }).copied().unwrap_or(0);
        let keys = key.shape().get(if self.batch_first { 1 } else { 0 }).copied().unwrap_or(0);
        let above = match (attend.is_causal, attend.mask) {
            (true, None) => {
                let ones = mg_autograd::with_default_device(query.device(), || {
                    Tensor::ones(&[length, keys], DType::Bool)
                })??;
                Some(ones.triu(1)?)
            }
            _ => None,
        };
        let made = Tensor::try_multi_head_attention_forward(
            &turned(query)?,
            &turned(key)?,
            &turned(value)?,
            embed_dim,
            self.num_heads,
            Some(current(&self.in_proj_weight)?.as_ref()),
            Some(current(&self.in_proj_bias)?.as_ref()),
            None,
            None,
            false,
            self.dropout,
            current(&self.out_proj.weight)?.as_ref(),
            current_of(&self.out_proj.bias)?.as_deref(),
            self.mode.is_training(),
            attend.padding,
            false,
            attend.mask.or(above.as_ref()),
            false,
            None,
            None,
            None,
            None,
            None,
            true,
            attend.is_causal,
        );
        turned(&told(self, made)?.0)
    }
}

impl Module for MultiheadAttention {
    /// Of a sequence to itself.
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.run(x, x, x, Attend::default())
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.param("in_proj_weight", &self.in_proj_weight);
        visitor.param("in_proj_bias", &self.in_proj_bias);
        visitor.child("out_proj", &self.out_proj);
        visitor.mode(&self.mode);
    }
}

/// Attention of a sequence to itself, then two linear layers with a rectifier between, each beside what it was given and normalised.
pub struct TransformerEncoderLayer {
    /// Attention to itself.
    pub self_attn: MultiheadAttention,
    /// To the hidden features.
    pub linear1: Linear,
    /// And back.
    pub linear2: Linear,
    /// Of attention.
    pub norm1: LayerNorm,
    /// Of the linear layers.
    pub norm2: LayerNorm,
    drops: [Dropout; 3],
    norm_first: bool,
    gelu: bool,
}

impl TransformerEncoderLayer {
    /// For inputs `[n, length, d_model]`, normalised after each part; `dropout` is the probability that an element is dropped in training.
    ///
    /// # Errors
    ///
    /// Features that do not part among the heads; a probability outside [0, 1]; memory.
    #[track_caller]
    pub fn new(
        d_model: usize,
        num_heads: usize,
        dim_feedforward: usize,
        dropout: f64,
    ) -> Result<TransformerEncoderLayer> {
        Ok(TransformerEncoderLayer {
            self_attn: MultiheadAttention::new(d_model, num_heads)?.batch_first().dropout(dropout)?,
            linear1: Linear::new(d_model, dim_feedforward)?,
            linear2: Linear::new(dim_feedforward, d_model)?,
            norm1: LayerNorm::new(&[d_model])?,
            norm2: LayerNorm::new(&[d_model])?,
            drops: [Dropout::new(dropout)?, Dropout::new(dropout)?, Dropout::new(dropout)?],
            norm_first: false,
            gelu: false,
        })
    }

    /// Normalised before each part, not after it.
    #[must_use]
    pub fn norm_first(self) -> TransformerEncoderLayer {
        TransformerEncoderLayer { norm_first: true, ..self }
    }

    /// With the Gaussian error linear unit between the linear layers, not the rectifier.
    #[must_use]
    pub fn gelu(self) -> TransformerEncoderLayer {
        TransformerEncoderLayer { gelu: true, ..self }
    }

    /// With what is not to be seen.
    ///
    /// # Errors
    ///
    /// An input that is not `[n, length, d_model]`.
    #[track_caller]
    pub fn run(&self, x: &Tensor, attend: Attend) -> Result<Tensor> {
        let [within, after_attention, after_linear] = &self.drops;
        let attention = |x: &Tensor| after_attention.forward(&self.self_attn.run(x, x, x, attend)?);
        let linear = |x: &Tensor| {
            let hidden = self.linear1.forward(x)?;
            let hidden =
                within.forward(&if self.gelu { hidden.try_gelu("none") } else { hidden.try_relu() }?)?;
            after_linear.forward(&self.linear2.forward(&hidden)?)
        };
        let x = beside(x, &self.norm1, self.norm_first, attention)?;
        beside(&x, &self.norm2, self.norm_first, linear)
    }
}

/// What a part of a transformer's layer makes of `x`, beside `x` itself: of `x` normalised, or else the sum is.
#[track_caller]
pub(crate) fn beside(
    x: &Tensor,
    norm: &LayerNorm,
    norm_first: bool,
    part: impl Fn(&Tensor) -> Result<Tensor>,
) -> Result<Tensor> {
    match norm_first {
        true => x.try_add(part(&norm.forward(x)?)?),
        false => norm.forward(&x.try_add(part(x)?)?),
    }
}

impl Module for TransformerEncoderLayer {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.run(x, Attend::default())
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.child("self_attn", &self.self_attn);
        visitor.child("linear1", &self.linear1);
        visitor.child("linear2", &self.linear2);
        visitor.child("norm1", &self.norm1);
        visitor.child("norm2", &self.norm2);
        for (name, drop) in ["dropout", "dropout1", "dropout2"].into_iter().zip(&self.drops) {
            visitor.child(name, drop);
        }
    }
}

/// Layers one after the other, and a norm behind them if there is one.
pub struct TransformerEncoder {
    /// In order.
    pub layers: Vec<TransformerEncoderLayer>,
    /// Behind the last.
    pub norm: Option<LayerNorm>,
}

impl TransformerEncoder {
    /// With what is not to be seen by any layer.
    ///
    /// # Errors
    ///
    /// As [`TransformerEncoderLayer::run`].
    #[track_caller]
    pub fn run(&self, x: &Tensor, attend: Attend) -> Result<Tensor> {
        let mut x = x.clone();
        for layer in &self.layers {
            x = layer.run(&x, attend)?;
        }
        self.norm.as_ref().map_or(Ok(x.clone()), |norm| norm.forward(&x))
    }
}

impl Module for TransformerEncoder {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.run(x, Attend::default())
    }
    fields!(layers, norm);
}
