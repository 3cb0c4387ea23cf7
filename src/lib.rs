#![doc = include_str!("../README.md")]

pub use mg_autograd::{
    Backward, Generator, Jit, NoGrad, Operand, Ranked, Tensor, autocast, check, checkpoint, default_device,
    enable_grad, func, function, grad, gradcheck, gradgradcheck, is_grad_enabled, jit, kernel, manual_seed,
    no_grad, scalar, set_default_device, set_detect_anomaly,
};
pub use mg_device::{
    Buffer, DType, Device, Element, Error, ErrorKind, Layout, MemoryStats, Result, Shape, bf16, f16,
};
pub use mg_graph::{
    Explanation, LaunchInfo, LiveScalar, PlanStats, TimedLaunch, chrome_trace, clear_plans, explain,
    get_float32_matmul_precision, is_eager, on_replay, plan_stats, profile_start, profile_stop, set_eager,
    set_float32_matmul_precision,
};
pub use mg_nn as nn;

/// What most programs need: `use micrograd_rs::prelude::*;`
pub mod prelude {
    pub use mg_autograd::{Backward, Tensor, grad, jit, manual_seed, no_grad, set_default_device};
    pub use mg_device::{DType, Device, Error, Result};
    pub use mg_graph::explain;
    pub use mg_nn::optim::{self, Adam, AdamW, Optimizer, SGD};
    pub use mg_nn::{
        BCEWithLogitsLoss, BatchNorm1d, BatchNorm2d, Conv1d, Conv2d, ConvOptions, CrossEntropyLoss, Dropout,
        Embedding, Flatten, GELU, GRU, LSTM, Lambda, LayerNorm, LeakyReLU, Linear, LogSoftmax, MSELoss,
        MaxPool2d, Module, MultiheadAttention, NLLLoss, RMSNorm, ReLU, Reduction, Sequential, SiLU, Sigmoid,
        Softmax, Softplus, State, Tanh, TransformerEncoderLayer, Visitor, fields, sequential,
    };
}

/// The page on kernels of one's own, whose examples are run.
#[cfg(doctest)]
#[doc = include_str!("../docs/kernels.md")]
pub struct Kernels;

#[cfg(doctest)]
mod guide;
