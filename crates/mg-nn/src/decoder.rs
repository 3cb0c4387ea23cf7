//! The other half of a transformer, and both together: Vaswani et al., "Attention is all you need", 2017.

use mg_autograd::Tensor;
use mg_device::Result;

use crate::attention::{Attend, MultiheadAttention, TransformerEncoder, TransformerEncoderLayer, beside};
use crate::dropout::Dropout;
use crate::linear::Linear;
use crate::module::{Module, Visitor, no_forward};
use crate::norm::LayerNorm;
use crate::optim::{self, options};
use crate::options::ByName;
use crate::{fields, init};

/// Attention of a sequence to itself, then to a memory, then two linear layers with a rectifier between, each beside what it was given and normalised.
pub struct TransformerDecoderLayer {
    /// Attention to itself.
    pub self_attn: MultiheadAttention,
    /// Attention to the memory.
    pub multihead_attn: MultiheadAttention,
    /// To the hidden features.
    pub linear1: Linear,
    /// And back.
    pub linear2: Linear,
    /// Of attention to itself.
    pub norm1: LayerNorm,
    /// Of attention to the memory.
    pub norm2: LayerNorm,
    /// Of the linear layers.
    pub norm3: LayerNorm,
    drops: [Dropout; 4],
    norm_first: bool,
}

impl TransformerDecoderLayer {
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
    ) -> Result<TransformerDecoderLayer> {
        let attention = || MultiheadAttention::new(d_model, num_heads)?.batch_first().dropout(dropout);
        let drop = || Dropout::new(dropout);
        Ok(TransformerDecoderLayer {
            self_attn: attention()?,
            multihead_attn: attention()?,
            linear1: Linear::new(d_model, dim_feedforward)?,
            linear2: Linear::new(dim_feedforward, d_model)?,
            norm1: LayerNorm::new(&[d_model])?,
            norm2: LayerNorm::new(&[d_model])?,
            norm3: LayerNorm::new(&[d_model])?,
            drops: [drop()?, drop()?, drop()?, drop()?],
            norm_first: false,
        })
    }

    /// Normalised before each part, not after it.
    #[must_use]
    pub fn norm_first(self) -> TransformerDecoderLayer {
        TransformerDecoderLayer { norm_first: true, ..self }
    }

    /// Of a target `[n, length, d_model]` and a memory `[n, keys, d_model]`, each with what is not to be seen of it.
    ///
    /// # Errors
    ///
    /// Other shapes.
    #[track_caller]
    pub fn run(&self, target: &Tensor, memory: &Tensor, own: Attend, other: Attend) -> Result<Tensor> {
        let [within, after_own, after_other, after_linear] = &self.drops;
        let to_itself = |x: &Tensor| after_own.forward(&self.self_attn.run(x, x, x, own)?);
        let to_memory = |x: &Tensor| after_other.forward(&self.multihead_attn.run(x, memory, memory, other)?);
        let linear = |x: &Tensor| {
            let hidden = within.forward(&self.linear1.forward(x)?.try_relu()?)?;
            after_linear.forward(&self.linear2.forward(&hidden)?)
        };
        let x = beside(target, &self.norm1, self.norm_first, to_itself)?;
        let x = beside(&x, &self.norm2, self.norm_first, to_memory)?;
        beside(&x, &self.norm3, self.norm_first, linear)
    }
}

impl Module for TransformerDecoderLayer {
    fn forward(&self, _: &Tensor) -> Result<Tensor> {
        no_forward("TransformerDecoderLayer")
    }
    fn visit<'a>(&'a self, visitor: &mut Visitor<'a>) {
        visitor.child("self_attn", &self.self_attn);
        visitor.child("multihead_attn", &self.multihead_attn);
        visitor.child("linear1", &self.linear1);
        visitor.child("linear2", &self.linear2);
        visitor.child("norm1", &self.norm1);
        visitor.child("norm2", &self.norm2);
        visitor.child("norm3", &self.norm3);
        for (name, drop) in ["dropout", "dropout1", "dropout2", "dropout3"].into_iter().zip(&self.drops) {
            visitor.child(name, drop);
        }
    }
}

/// Layers one after the other on one memory, and a norm behind them if there is one.
pub struct TransformerDecoder {
    /// In order.
    pub layers: Vec<TransformerDecoderLayer>,
    /// Behind the last.
    pub norm: Option<LayerNorm>,
}

impl TransformerDecoder {
    /// As [`TransformerDecoderLayer::run`], layer by layer.
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn run(&self, target: &Tensor, memory: &Tensor, own: Attend, other: Attend) -> Result<Tensor> {
        let mut x = target.clone();
        for layer in &self.layers {
            x = layer.run(&x, memory, own, other)?;
        }
        self.norm.as_ref().map_or(Ok(x.clone()), |norm| norm.forward(&x))
    }
}

impl Module for TransformerDecoder {
    fn forward(&self, _: &Tensor) -> Result<Tensor> {
        no_forward("TransformerDecoder")
    }
    fields!(layers, norm);
}

options! {
    /// How a [`Transformer`] is made, with PyTorch's defaults.
    TransformerOptions {
        /// Features: 512.
        d_model: usize = 512,
        /// Heads of attention: 8.
        num_heads: usize = 8,
        /// Layers of the encoder: 6.
        num_encoder_layers: usize = 6,
        /// Layers of the decoder: 6.
        num_decoder_layers: usize = 6,
        /// Hidden features of the linear layers: 2048.
        dim_feedforward: usize = 2048,
        /// The probability that an element is dropped in training: 0.1.
        dropout: f64 = 0.1,
        /// Normalised before each part, not after it: no.
        norm_first: bool = false,
    }
}

/// The options of a transformer by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    (layer == "Transformer").then(|| optim::by_name(&TransformerOptions::default()))
}

/// An encoder, and a decoder on what it answers, with a norm behind each. Inputs are `[n, length, d_model]`.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{Attend, Transformer, TransformerOptions};
///
/// let options = TransformerOptions { d_model: 16, num_heads: 2, num_encoder_layers: 1, num_decoder_layers: 1, dim_feedforward: 32, ..Default::default() };
/// let model = Transformer::new(options)?;
/// let (source, target) = (Tensor::from_vec(vec![0.5f32; 2 * 7 * 16], &[2, 7, 16])?, Tensor::from_vec(vec![0.1f32; 2 * 5 * 16], &[2, 5, 16])?);
/// let causal = Attend { is_causal: true, ..Attend::default() };
/// assert_eq!(*model.run(&source, &target, Attend::default(), causal, Attend::default())?.shape(), [2, 5, 16]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct Transformer {
    /// Of the source.
    pub encoder: TransformerEncoder,
    /// Of the target.
    pub decoder: TransformerDecoder,
}

impl Transformer {
    /// In f32; matrices are drawn as Glorot's, uniformly.
    ///
    /// # Errors
    ///
    /// Features that do not part among the heads; a probability outside [0, 1]; memory.
    #[track_caller]
    pub fn new(options: TransformerOptions) -> Result<Transformer> {
        let TransformerOptions { d_model, num_heads, dim_feedforward, dropout, norm_first, .. } = options;
        let mut encoder = TransformerEncoder { layers: vec![], norm: Some(LayerNorm::new(&[d_model])?) };
        for _ in 0..options.num_encoder_layers {
            let layer = TransformerEncoderLayer::new(d_model, num_heads, dim_feedforward, dropout)?;
            encoder.layers.push(if norm_first { layer.norm_first() } else { layer });
        }
        let mut decoder = TransformerDecoder { layers: vec![], norm: Some(LayerNorm::new(&[d_model])?) };
        for _ in 0..options.num_decoder_layers {
            let layer = TransformerDecoderLayer::new(d_model, num_heads, dim_feedforward, dropout)?;
            decoder.layers.push(if norm_first { layer.norm_first() } else { layer });
        }
        let model = Transformer { encoder, decoder };
        for parameter in model.parameters().iter().filter(|p| p.rank() > 1) {
            init::xavier_uniform_(parameter, 1.0, None)?;
        }
        Ok(model)
    }

    /// What the decoder makes of a target `[n, length, d_model]` and of what the encoder makes of a source `[n, keys, d_model]`; `memory` says what
    /// of the latter is not to be seen.
    ///
    /// # Errors
    ///
    /// Other shapes.
    #[track_caller]
    pub fn run(
        &self,
        source: &Tensor,
        target: &Tensor,
        of_source: Attend,
        of_target: Attend,
        memory: Attend,
    ) -> Result<Tensor> {
        self.decoder.run(target, &self.encoder.run(source, of_source)?, of_target, memory)
    }
}

impl Module for Transformer {
    fn forward(&self, _: &Tensor) -> Result<Tensor> {
        no_forward("Transformer")
    }
    fields!(encoder, decoder);
}
