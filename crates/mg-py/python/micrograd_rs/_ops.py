"""Operations as functions: those that are declared, and methods of tensors. Written by tools/stubs.py."""

from __future__ import annotations

from ._micrograd_rs import (
    Tensor,
    abs,
    abs_,
    absolute,
    absolute_,
    bitwise_and,
    bitwise_and_,
    bitwise_left_shift,
    bitwise_left_shift_,
    bitwise_or,
    bitwise_or_,
    bitwise_right_shift,
    bitwise_right_shift_,
    bitwise_xor,
    bitwise_xor_,
    ceil,
    ceil_,
    celu,
    celu_,
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cos,
    cos_,
    cummax,
    cummin,
    cumprod,
    cumprod_,
    cumsum,
    cumsum_,
    cumulative_prod,
    cumulative_prod_,
    cumulative_sum,
    cumulative_sum_,
    div,
    div_,
    divide,
    divide_,
    eq,
    eq_,
    erf,
    erf_,
    exp,
    exp_,
    fix,
    fix_,
    floor,
    floor_,
    fmod,
    fmod_,
    le,
    le_,
    less,
    less_,
    less_equal,
    less_equal_,
    log,
    log_,
    logaddexp,
    logcumsumexp,
    logical_and,
    logical_and_,
    logical_not,
    logical_not_,
    logical_or,
    logical_or_,
    logical_xor,
    logical_xor_,
    lt,
    lt_,
    maximum,
    maximum_,
    minimum,
    minimum_,
    mul,
    mul_,
    multiply,
    multiply_,
    ne,
    ne_,
    neg,
    neg_,
    negative,
    negative_,
    not_equal,
    not_equal_,
    recurrence,
    relu,
    relu_,
    round,
    round_,
    sigmoid,
    sigmoid_,
    sign,
    sign_,
    sin,
    sin_,
    softplus,
    softplus_,
    sqrt,
    sqrt_,
    square,
    square_,
    tanh,
    tanh_,
    true_divide,
    true_divide_,
    trunc,
    trunc_,
)

__all__ = [
    "abs",
    "abs_",
    "absolute",
    "absolute_",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "bitwise_and",
    "bitwise_and_",
    "bitwise_left_shift",
    "bitwise_left_shift_",
    "bitwise_not",
    "bitwise_or",
    "bitwise_or_",
    "bitwise_right_shift",
    "bitwise_right_shift_",
    "bitwise_xor",
    "bitwise_xor_",
    "broadcast_to",
    "ceil",
    "ceil_",
    "celu",
    "celu_",
    "chunk",
    "clamp",
    "clip",
    "clone",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cos",
    "cos_",
    "cummax",
    "cummin",
    "cumprod",
    "cumprod_",
    "cumsum",
    "cumsum_",
    "cumulative_prod",
    "cumulative_prod_",
    "cumulative_sum",
    "cumulative_sum_",
    "div",
    "div_",
    "divide",
    "divide_",
    "dot",
    "eq",
    "eq_",
    "erf",
    "erf_",
    "exp",
    "exp_",
    "fix",
    "fix_",
    "flatten",
    "flip",
    "floor",
    "floor_",
    "floor_divide",
    "fmod",
    "fmod_",
    "frac",
    "gather",
    "ge",
    "gt",
    "index_select",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "le_",
    "less",
    "less_",
    "less_equal",
    "less_equal_",
    "log",
    "log_",
    "log_softmax",
    "logaddexp",
    "logcumsumexp",
    "logical_and",
    "logical_and_",
    "logical_not",
    "logical_not_",
    "logical_or",
    "logical_or_",
    "logical_xor",
    "logical_xor_",
    "logsumexp",
    "lt",
    "lt_",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "maximum_",
    "mean",
    "min",
    "minimum",
    "minimum_",
    "mm",
    "movedim",
    "mul",
    "mul_",
    "multiply",
    "multiply_",
    "narrow",
    "ne",
    "ne_",
    "neg",
    "neg_",
    "negative",
    "negative_",
    "nonzero",
    "norm",
    "not_equal",
    "not_equal_",
    "numel",
    "permute",
    "pow",
    "prod",
    "ravel",
    "reciprocal",
    "recurrence",
    "relu",
    "relu_",
    "remainder",
    "reshape",
    "round",
    "round_",
    "rsqrt",
    "scatter_add",
    "select",
    "sigmoid",
    "sigmoid_",
    "sign",
    "sign_",
    "sin",
    "sin_",
    "softmax",
    "softplus",
    "softplus_",
    "split",
    "sqrt",
    "sqrt_",
    "square",
    "square_",
    "squeeze",
    "std",
    "sub",
    "sum",
    "swapaxes",
    "t",
    "tanh",
    "tanh_",
    "transpose",
    "tril",
    "triu",
    "true_divide",
    "true_divide_",
    "trunc",
    "trunc_",
    "unbind",
    "unsqueeze",
    "var",
]

add = Tensor.add
all = Tensor.all
amax = Tensor.amax
amin = Tensor.amin
any = Tensor.any
argmax = Tensor.argmax
argmin = Tensor.argmin
bitwise_not = Tensor.bitwise_not
broadcast_to = Tensor.broadcast_to
chunk = Tensor.chunk
clamp = Tensor.clamp
clip = Tensor.clip
clone = Tensor.clone
dot = Tensor.dot
flatten = Tensor.flatten
flip = Tensor.flip
floor_divide = Tensor.floor_divide
frac = Tensor.frac
gather = Tensor.gather
ge = Tensor.ge
gt = Tensor.gt
index_select = Tensor.index_select
isfinite = Tensor.isfinite
isinf = Tensor.isinf
isnan = Tensor.isnan
log_softmax = Tensor.log_softmax
logsumexp = Tensor.logsumexp
masked_fill = Tensor.masked_fill
masked_select = Tensor.masked_select
matmul = Tensor.matmul
max = Tensor.max
mean = Tensor.mean
min = Tensor.min
mm = Tensor.mm
movedim = Tensor.movedim
narrow = Tensor.narrow
nonzero = Tensor.nonzero
norm = Tensor.norm
numel = Tensor.numel
permute = Tensor.permute
pow = Tensor.pow
prod = Tensor.prod
ravel = Tensor.ravel
reciprocal = Tensor.reciprocal
remainder = Tensor.remainder
reshape = Tensor.reshape
rsqrt = Tensor.rsqrt
scatter_add = Tensor.scatter_add
select = Tensor.select
softmax = Tensor.softmax
split = Tensor.split
squeeze = Tensor.squeeze
std = Tensor.std
sub = Tensor.sub
sum = Tensor.sum
swapaxes = Tensor.swapaxes
t = Tensor.t
transpose = Tensor.transpose
tril = Tensor.tril
triu = Tensor.triu
unbind = Tensor.unbind
unsqueeze = Tensor.unsqueeze
var = Tensor.var
