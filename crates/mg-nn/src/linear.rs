//! Products with a matrix, and rows of one: [`Linear`], [`Bilinear`], [`Embedding`], [`EmbeddingBag`].

use mg_autograd::Tensor;
use mg_device::{DType, Error, ErrorKind, Result};

use crate::current::{current, current_of};
use crate::module::{Module, no_forward, told};
use crate::options::{ByName, layer_options};
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

layer_options! {
    /// How a [`Linear`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    LinearOptions {
        /// A number is added to each output: yes.
        bias: bool = true,
    }
}

impl Linear {
    /// With a bias, in f32. Weight and bias are drawn uniformly from ±1/√`in_features`, as PyTorch does.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(in_features: usize, out_features: usize) -> Result<Linear> {
        Linear::with_options(in_features, out_features, LinearOptions::default())
    }

    /// With options.
    ///
    /// ```
    /// use mg_nn::{Linear, LinearOptions};
    ///
    /// let plain = Linear::with_options(3, 2, LinearOptions { bias: false, ..Default::default() })?;
    /// assert!(plain.bias.is_none());
    /// # Ok::<(), mg_device::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; as [`Linear::new`].
    #[track_caller]
    pub fn with_options(in_features: usize, out_features: usize, options: LinearOptions) -> Result<Linear> {
        let LinearOptions { bias, dtype } = options;
        let bound = init::default_bound(in_features);
        let weight = init::uniform_parameter(&[out_features, in_features], bound, dtype)?;
        let bias = if bias { Some(init::uniform_parameter(&[out_features], bound, dtype)?) } else { None };
        Ok(Linear { weight, bias })
    }
}

impl Module for Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (current(&self.weight)?, current_of(&self.bias)?);
        told(self, x.try_linear(&weight, bias.as_deref()))
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
    padding_idx: Option<i64>,
    max_norm: Option<f64>,
    norm_type: f64,
    scale_grad_by_freq: bool,
}

layer_options! {
    /// How an [`Embedding`] is made, with PyTorch's defaults.
    #[derive(Clone, Copy, Debug, PartialEq)]
    EmbeddingOptions {
        /// The row of this number is zeros, and stays what it is: no gradient reaches it. Negative numbers count from the end. None: no row.
        padding_idx: Option<i64> = None,
        /// Rows that are looked up are scaled to be no longer, in the table. None: they stay.
        max_norm: Option<f64> = None,
        /// By which norm they are as long as that: 2.
        norm_type: f64 = 2.0,
        /// A row's gradient is divided by how often the row is looked up: no.
        scale_grad_by_freq: bool = false,
    }
}

impl Embedding {
    /// Drawn from the normal distribution of mean 0 and variance 1, in f32.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(num_embeddings: usize, embedding_dim: usize) -> Result<Embedding> {
        Embedding::with_options(num_embeddings, embedding_dim, EmbeddingOptions::default())
    }

    /// With options.
    ///
    /// # Errors
    ///
    /// A dtype that is not floating point; [`ErrorKind::Index`] for a row that is not there; as [`Embedding::new`].
    #[track_caller]
    pub fn with_options(
        num_embeddings: usize,
        embedding_dim: usize,
        options: EmbeddingOptions,
    ) -> Result<Embedding> {
        let weight = init::parameter(Tensor::randn(&[num_embeddings, embedding_dim], options.dtype)?)?;
        let EmbeddingOptions { padding_idx, max_norm, norm_type, scale_grad_by_freq, dtype: _ } = options;
        let mut layer = Embedding { weight, padding_idx: None, max_norm, norm_type, scale_grad_by_freq };
        let Some(row) = padding_idx else { return Ok(layer) };
        let at = if row < 0 { row + num_embeddings as i64 } else { row };
        if !(0..num_embeddings as i64).contains(&at) {
            let kind = ErrorKind::Index { index: row, axis: 0, size: num_embeddings };
            return Err(Error::new("Embedding", kind));
        }
        init::constant_(&layer.weight.select(0, at as isize)?, 0.0)?;
        layer.padding_idx = Some(at);
        Ok(layer)
    }
}

impl Module for Embedding {
    /// An index outside the table is found here where it is known already, on the host; else when the value is computed.
    fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        let table = current(&self.weight)?;
        let found = || {
            if let Some(max_norm) = self.max_norm {
                table.embedding_renorm_(indices, max_norm, self.norm_type)?;
            }
            match self.scale_grad_by_freq {
                true => indices.try_embedding(&table.scale_grad_by_freq(indices)?, self.padding_idx),
                false => indices.try_embedding(&table, self.padding_idx),
            }
        };
        told(self, found())
    }
    fields!(weight);

    fn describe(&self) -> String {
        let shape = self.weight.shape();
        let padding = self.padding_idx.map_or(String::new(), |row| format!(", padding_idx={row}"));
        let longest = self.max_norm.map_or(String::new(), |most| format!(", max_norm={most:?}"));
        let norm =
            if self.norm_type == 2.0 { String::new() } else { format!(", norm_type={:?}", self.norm_type) };
        let scaled = if self.scale_grad_by_freq { ", scale_grad_by_freq=True" } else { "" };
        format!("Embedding({}, {}{padding}{longest}{norm}{scaled})", shape[0], shape[1])
    }
}

/// The options of a layer of this file by name, with their defaults.
pub(crate) fn defaults(layer: &str) -> Option<ByName> {
    Some(match layer {
        "Linear" | "LazyLinear" => LinearOptions::default().by_name(),
        "Embedding" => EmbeddingOptions::default().by_name(),
        _ => return None,
    })
}

/// Bags of rows of a table, each as one vector: `[bags, embedding_dim]`.
///
/// ```
/// use mg_autograd::Tensor;
/// use mg_nn::{BagMode, EmbeddingBag};
///
/// let bags = EmbeddingBag::new(10, 3, BagMode::Sum)?;
/// let rows = Tensor::from_slice(&[1i64, 2, 4, 5, 4]);
/// let starts = Tensor::from_slice(&[0i64, 2]);
/// assert_eq!(*bags.run(&rows, Some(&starts), None)?.shape(), [2, 3]);
/// # Ok::<(), mg_device::Error>(())
/// ```
pub struct EmbeddingBag {
    /// `[num_embeddings, embedding_dim]`.
    pub weight: Tensor,
    mode: BagMode,
}

/// How the rows of a bag become one vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BagMode {
    /// Their mean.
    #[default]
    Mean,
    /// Their sum.
    Sum,
    /// Element by element the largest.
    Max,
}

impl BagMode {
    fn name(self) -> &'static str {
        match self {
            BagMode::Mean => "mean",
            BagMode::Sum => "sum",
            BagMode::Max => "max",
        }
    }
}

impl EmbeddingBag {
    /// Drawn from the normal distribution of mean 0 and variance 1, in f32.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(num_embeddings: usize, embedding_dim: usize, mode: BagMode) -> Result<EmbeddingBag> {
        let Embedding { weight, .. } = Embedding::new(num_embeddings, embedding_dim)?;
        Ok(EmbeddingBag { weight, mode })
    }

    /// The vectors of bags: of each line of `indices` `[bags, length]`, or of `indices` `[n]` from each of `offsets` to the next. `weights`
    /// in the indices' shape are multiplied by, of sums alone.
    ///
    /// # Errors
    ///
    /// Shapes that do not fit; an index outside the table.
    #[track_caller]
    pub fn run(
        &self,
        indices: &Tensor,
        offsets: Option<&Tensor>,
        weights: Option<&Tensor>,
    ) -> Result<Tensor> {
        let weight = current(&self.weight)?;
        told(self, indices.try_embedding_bag(&weight, offsets, self.mode.name(), weights, false, None))
    }
}

impl Module for EmbeddingBag {
    /// Of each line of `[bags, length]`.
    fn forward(&self, indices: &Tensor) -> Result<Tensor> {
        self.run(indices, None, None)
    }
    fields!(weight);

    fn describe(&self) -> String {
        let shape = self.weight.shape();
        format!("EmbeddingBag({}, {}, mode='{}')", shape[0], shape[1], self.mode.name())
    }
}

/// `x Aᵢ y + bᵢ` on the last axes of two inputs, for each output.
pub struct Bilinear {
    /// `[out_features, in1_features, in2_features]`.
    pub weight: Tensor,
    /// `[out_features]`.
    pub bias: Option<Tensor>,
}

impl Bilinear {
    /// With a bias or without, in f32, drawn uniformly from ±1/√`in1_features`.
    ///
    /// # Errors
    ///
    /// Sizes that overflow; memory.
    #[track_caller]
    pub fn new(
        in1_features: usize,
        in2_features: usize,
        out_features: usize,
        bias: bool,
    ) -> Result<Bilinear> {
        let bound = init::default_bound(in1_features);
        let drawn = |shape: &[usize]| init::uniform_parameter(shape, bound, DType::F32);
        let weight = drawn(&[out_features, in1_features, in2_features])?;
        Ok(Bilinear { weight, bias: if bias { Some(drawn(&[out_features])?) } else { None } })
    }

    /// Of `[…, in1_features]` and `[…, in2_features]`.
    ///
    /// # Errors
    ///
    /// Other sizes.
    #[track_caller]
    pub fn run(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (current(&self.weight)?, current_of(&self.bias)?);
        told(self, Tensor::try_bilinear(first, second, &weight, bias.as_deref()))
    }
}

impl Module for Bilinear {
    fn forward(&self, _: &Tensor) -> Result<Tensor> {
        no_forward("Bilinear")
    }
    fields!(weight, bias);

    fn describe(&self) -> String {
        let (shape, bias) = (self.weight.shape(), self.bias.is_some());
        format!(
            "Bilinear(in1_features={}, in2_features={}, out_features={}, bias={bias})",
            shape[1], shape[2], shape[0]
        )
    }
}

/// The cosine of the angle between vectors along an axis.
#[derive(Clone, Copy, Debug)]
pub struct CosineSimilarity {
    /// The axis: 1.
    pub dim: isize,
    /// The smallest length: 1e−8.
    pub eps: f64,
}

impl Default for CosineSimilarity {
    fn default() -> CosineSimilarity {
        CosineSimilarity { dim: 1, eps: 1e-8 }
    }
}

impl CosineSimilarity {
    /// Of tensors whose shapes broadcast.
    ///
    /// # Errors
    ///
    /// Shapes that do not; an axis that is not there.
    #[track_caller]
    pub fn run(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
        Tensor::try_cosine_similarity(first, second, self.dim, self.eps)
    }
}

/// The norm of differences along the last axis.
#[derive(Clone, Copy, Debug)]
pub struct PairwiseDistance {
    /// Of the norm: 2.
    pub p: f64,
    /// What is added to differences: 1e−6.
    pub eps: f64,
    /// The axis stays, of size 1: no.
    pub keepdim: bool,
}

impl Default for PairwiseDistance {
    fn default() -> PairwiseDistance {
        PairwiseDistance { p: 2.0, eps: 1e-6, keepdim: false }
    }
}

impl PairwiseDistance {
    /// Of tensors whose shapes broadcast.
    ///
    /// # Errors
    ///
    /// Shapes that do not.
    #[track_caller]
    pub fn run(&self, first: &Tensor, second: &Tensor) -> Result<Tensor> {
        Tensor::try_pairwise_distance(first, second, self.p, self.eps, self.keepdim)
    }
}
