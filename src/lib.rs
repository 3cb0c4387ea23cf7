#![doc = include_str!("front.md")]

// Tensors, and what they are made of.
#[doc(inline)]
pub use mg_autograd::{
    Generator, Operand, Ranked, Tensor, default_device, kernel, manual_seed, scalar, set_default_device,
};
#[doc(inline)]
pub use mg_device::{Buffer, DType, Device, Element, F8E4M3, F8E5M2, Layout, MemoryStats, Shape, bf16, f16};

// What fails, and how.
#[doc(inline)]
pub use mg_device::{Error, ErrorKind, Result};

// Gradients.
#[doc(inline)]
pub use mg_autograd::{
    Backward, NoGrad, check, checkpoint, enable_grad, func, function, grad, gradcheck, gradgradcheck,
    is_grad_enabled, no_grad, set_detect_anomaly,
};

// How it runs: mixed precision, steps that are replayed, the precision of products.
#[doc(inline)]
pub use mg_autograd::{Jit, autocast, jit};
#[doc(inline)]
pub use mg_graph::{
    LiveScalar, get_float32_matmul_precision, is_eager, on_replay, set_eager, set_float32_matmul_precision,
};

// What runs, and how long it takes.
#[doc(inline)]
pub use mg_autograd::explain;
#[doc(inline)]
pub use mg_graph::{
    Explanation, LaunchInfo, PlanStats, TimedLaunch, chrome_trace, clear_plans, plan_stats, profile_start,
    profile_stop,
};

// Layers, losses, optimisers, data and checkpoints.
#[doc(inline)]
pub use mg_nn as nn;

/// What most programs need: `use micrograd_rs::prelude::*;`
pub mod prelude {
    pub use mg_autograd::{Backward, Tensor, explain, grad, jit, manual_seed, no_grad, set_default_device};
    pub use mg_device::{DType, Device, Error, Result};
    pub use mg_nn::optim::{self, Adam, AdamW, Optimizer, SGD};
    pub use mg_nn::{
        BCEWithLogitsLoss, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, ConvOptions, CrossEntropyLoss, Dropout,
        Embedding, Flatten, GELU, GRU, LSTM, Lambda, LayerNorm, LeakyReLU, Linear, LinearOptions, LogSoftmax,
        MSELoss, MaxPool2d, Module, MultiheadAttention, NLLLoss, RMSNorm, ReLU, Reduction, Sequential, SiLU,
        Sigmoid, Softmax, Softplus, State, Tanh, TransformerEncoderLayer, Visitor, fields, sequential,
    };
}

/// The first page of the repository, whose examples are run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The page on kernels of one's own, whose examples are run.
#[cfg(doctest)]
#[doc = include_str!("../docs/kernels.md")]
pub struct Kernels;

#[cfg(doctest)]
mod guide;
