//! What people build with it: modules, losses, optimisers, data and checkpoints.
//!
//! A [`Module`](trait@Module) is a part of a network: layers with parameters ([`Linear`], [`Conv2d`], [`LayerNorm`], [`LSTM`], …), functions between
//! them ([`ReLU`], [`MaxPool2d`], [`Dropout`], …), [`Sequential`]s of these, and structs of your own. [`init`] says what parameters are at
//! first, a loss ([`CrossEntropyLoss`], …) how far outputs are from what they should be, an [`optim::Optimizer`] makes that
//! less. [`State`] is what a model is at a moment, and [`checkpoint`] the file that holds it. [`data`] is what to train on;
//! [`npz`] and [`pt`] are NumPy's files and PyTorch's, [`utils`] what is done to parameters and sequences, and [`scalar`] is micrograd's perceptron.
//!
//! ```
//! use mg_autograd::Tensor;
//! use mg_nn::optim::{Adam, Optimizer};
//! use mg_nn::{Linear, MSELoss, Module, Tanh, sequential};
//!
//! mg_autograd::manual_seed(1);
//! let x = Tensor::from_vec(vec![0.0f32, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], &[4, 2])?;
//! let xor = Tensor::from_vec(vec![0.0f32, 1.0, 1.0, 0.0], &[4, 1])?;
//! let model = sequential![Linear::new(2, 8)?, Tanh, Linear::new(8, 1)?];
//! let mut adam = Adam::new(model.parameters(), 0.05)?;
//! for _ in 0..200 {
//!     let loss = MSELoss::default().forward(&model.forward(&x)?, &xor)?;
//!     adam.zero_grad();
//!     loss.backward()?;
//!     adam.step()?;
//! }
//! let answers = model.forward(&x)?.to_vec::<f32>()?;
//! assert!(answers.iter().zip([0.0, 1.0, 1.0, 0.0]).all(|(a, y)| (a - y).abs() < 0.1));
//! # Ok::<(), mg_device::Error>(())
//! ```

mod activation;
mod adaptive;
pub mod amp;
mod archive;
mod attention;
mod cells;
pub mod checkpoint;
mod container;
mod convolution;
mod current;
pub mod data;
mod decoder;
mod dropout;
mod hooks;
mod image;
pub mod init;
mod lazy;
mod linear;
mod loss;
pub mod metrics;
mod module;
mod norm;
pub mod npz;
pub mod onnx;
pub mod optim;
mod options;
mod pickle;
pub mod plot;
mod pooling;
pub mod pt;
mod recurrent;
mod rotary;
pub mod scalar;
mod state;
mod summary;
pub mod utils;
pub mod watch;

pub use activation::{
    CELU, ELU, Flatten, GELU, GLU, Hardshrink, Hardsigmoid, Hardswish, Hardtanh, Identity, Lambda, LeakyReLU,
    LogSigmoid, LogSoftmax, Mish, PReLU, RReLU, ReLU, ReLU6, SELU, SiLU, Sigmoid, Softmax, Softmax2d,
    Softmin, Softplus, Softshrink, Softsign, Tanh, Tanhshrink, Threshold,
};
pub use adaptive::{AdaptiveLogSoftmaxOptions, AdaptiveLogSoftmaxWithLoss};
pub use attention::{
    Attend, MultiheadAttention, MultiheadAttentionOptions, TransformerEncoder, TransformerEncoderLayer,
};
pub use cells::{CellOptions, GRUCell, LSTMCell, RNNCell};
pub use container::Sequential;
pub use convolution::{
    Conv1d, Conv2d, Conv3d, ConvOptions, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
    ConvTransposeOptions,
};
pub use decoder::{Transformer, TransformerDecoder, TransformerDecoderLayer, TransformerOptions};
pub use dropout::{AlphaDropout, Dropout, Dropout1d, Dropout2d, Dropout3d, FeatureAlphaDropout};
pub use hooks::{BackwardHook, ForwardHook, ForwardPreHook, Hooked};
pub use image::{ChannelShuffle, Fold, Pad, PixelShuffle, PixelUnshuffle, Unflatten, Unfold, Upsample};
pub use lazy::{
    LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyConv1d, LazyConv2d, LazyConv3d,
    LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d, LazyInstanceNorm1d, LazyInstanceNorm2d,
    LazyInstanceNorm3d, LazyLinear,
};
pub use linear::{
    BagMode, Bilinear, CosineSimilarity, Embedding, EmbeddingBag, EmbeddingOptions, Linear, LinearOptions,
    PairwiseDistance,
};
pub use loss::{
    BCELoss, BCEWithLogitsLoss, CTCLoss, CosineEmbeddingLoss, CrossEntropyLoss, Distance, GaussianNLLLoss,
    HingeEmbeddingLoss, HuberLoss, KLDivLoss, L1Loss, MSELoss, MarginRankingLoss, MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss, MultiMarginLoss, NLLLoss, PoissonNLLLoss, Reduction, SmoothL1Loss,
    SoftMarginLoss, TripletMarginLoss, TripletMarginWithDistanceLoss,
};
/// Makes a module of a struct: see [`Module`](trait@Module).
pub use mg_macros::Module;
pub use module::{Mode, Module, Register, RegisterBuffer, Visitor, no_forward, told};
pub use norm::{
    BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, GroupNormOptions, InstanceNorm1d, InstanceNorm2d,
    InstanceNorm3d, LayerNorm, LayerNormOptions, LocalResponseNorm, NormOptions, RMSNorm, RMSNormOptions,
};
pub use options::layer_defaults;
pub use pooling::{
    AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d,
    AdaptiveMaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, FractionalMaxPool2d, FractionalMaxPool3d,
    FractionalSize, LPPool1d, LPPool2d, LPPool3d, MaxPool1d, MaxPool2d, MaxPool3d, MaxUnpool1d, MaxUnpool2d,
    MaxUnpool3d,
};
pub use recurrent::{GRU, LSTM, RNN, RecurrentOptions};
pub use rotary::RotaryPositionalEmbeddings;
pub use state::{IncompatibleKeys, State};
pub use summary::{Row, Summary, summary};

// What a derived module names.
#[doc(hidden)]
pub use mg_autograd::Tensor;
#[doc(hidden)]
pub use mg_device::Result;
