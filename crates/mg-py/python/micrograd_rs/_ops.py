"""Operations as functions: the methods of tensors, under their names. Written by tools/stubs.py."""

from __future__ import annotations

from ._micrograd_rs import Tensor

__all__ = [
    "abs",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_to",
    "ceil",
    "chunk",
    "clamp",
    "clip",
    "clone",
    "cos",
    "div",
    "dot",
    "eq",
    "erf",
    "exp",
    "flatten",
    "flip",
    "floor",
    "floor_divide",
    "fmod",
    "frac",
    "gather",
    "ge",
    "gt",
    "index_select",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "log",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsumexp",
    "lt",
    "masked_fill",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mm",
    "movedim",
    "mul",
    "narrow",
    "ne",
    "neg",
    "nonzero",
    "norm",
    "numel",
    "permute",
    "pow",
    "prod",
    "ravel",
    "reciprocal",
    "relu",
    "remainder",
    "reshape",
    "round",
    "rsqrt",
    "scatter_add",
    "select",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "std",
    "sub",
    "sum",
    "swapaxes",
    "t",
    "tanh",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "unbind",
    "unsqueeze",
    "var",
]

abs = Tensor.abs
add = Tensor.add
all = Tensor.all
amax = Tensor.amax
amin = Tensor.amin
any = Tensor.any
argmax = Tensor.argmax
argmin = Tensor.argmin
bitwise_and = Tensor.bitwise_and
bitwise_left_shift = Tensor.bitwise_left_shift
bitwise_not = Tensor.bitwise_not
bitwise_or = Tensor.bitwise_or
bitwise_right_shift = Tensor.bitwise_right_shift
bitwise_xor = Tensor.bitwise_xor
broadcast_to = Tensor.broadcast_to
ceil = Tensor.ceil
chunk = Tensor.chunk
clamp = Tensor.clamp
clip = Tensor.clip
clone = Tensor.clone
cos = Tensor.cos
div = Tensor.div
dot = Tensor.dot
eq = Tensor.eq
erf = Tensor.erf
exp = Tensor.exp
flatten = Tensor.flatten
flip = Tensor.flip
floor = Tensor.floor
floor_divide = Tensor.floor_divide
fmod = Tensor.fmod
frac = Tensor.frac
gather = Tensor.gather
ge = Tensor.ge
gt = Tensor.gt
index_select = Tensor.index_select
isfinite = Tensor.isfinite
isinf = Tensor.isinf
isnan = Tensor.isnan
le = Tensor.le
log = Tensor.log
log_softmax = Tensor.log_softmax
logical_and = Tensor.logical_and
logical_not = Tensor.logical_not
logical_or = Tensor.logical_or
logical_xor = Tensor.logical_xor
logsumexp = Tensor.logsumexp
lt = Tensor.lt
masked_fill = Tensor.masked_fill
masked_select = Tensor.masked_select
matmul = Tensor.matmul
max = Tensor.max
maximum = Tensor.maximum
mean = Tensor.mean
min = Tensor.min
minimum = Tensor.minimum
mm = Tensor.mm
movedim = Tensor.movedim
mul = Tensor.mul
narrow = Tensor.narrow
ne = Tensor.ne
neg = Tensor.neg
nonzero = Tensor.nonzero
norm = Tensor.norm
numel = Tensor.numel
permute = Tensor.permute
pow = Tensor.pow
prod = Tensor.prod
ravel = Tensor.ravel
reciprocal = Tensor.reciprocal
relu = Tensor.relu
remainder = Tensor.remainder
reshape = Tensor.reshape
round = Tensor.round
rsqrt = Tensor.rsqrt
scatter_add = Tensor.scatter_add
select = Tensor.select
sigmoid = Tensor.sigmoid
sign = Tensor.sign
sin = Tensor.sin
softmax = Tensor.softmax
softplus = Tensor.softplus
split = Tensor.split
sqrt = Tensor.sqrt
square = Tensor.square
squeeze = Tensor.squeeze
std = Tensor.std
sub = Tensor.sub
sum = Tensor.sum
swapaxes = Tensor.swapaxes
t = Tensor.t
tanh = Tensor.tanh
transpose = Tensor.transpose
tril = Tensor.tril
triu = Tensor.triu
trunc = Tensor.trunc
unbind = Tensor.unbind
unsqueeze = Tensor.unsqueeze
var = Tensor.var
