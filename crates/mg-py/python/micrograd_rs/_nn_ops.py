"""Operations that `nn.functional` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    "affine_grid",
    "alpha_dropout",
    "alpha_dropout_",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout1d_",
    "dropout2d",
    "dropout2d_",
    "dropout3d",
    "dropout3d_",
    "dropout_",
    "elu",
    "elu_",
    "feature_alpha_dropout",
    "feature_alpha_dropout_",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardsigmoid_",
    "hardswish",
    "hardswish_",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mish_",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu6",
    "relu6_",
    "rms_norm",
    "rotary_embedding",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "silu",
    "silu_",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softplus_",
    "softshrink",
    "softsign",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "unfold",
]

adaptive_avg_pool1d = _rs._nn_adaptive_avg_pool1d
adaptive_avg_pool2d = _rs._nn_adaptive_avg_pool2d
adaptive_avg_pool3d = _rs._nn_adaptive_avg_pool3d
adaptive_max_pool1d = _rs._nn_adaptive_max_pool1d
adaptive_max_pool2d = _rs._nn_adaptive_max_pool2d
adaptive_max_pool3d = _rs._nn_adaptive_max_pool3d
affine_grid = _rs._nn_affine_grid
alpha_dropout = _rs._nn_alpha_dropout
alpha_dropout_ = _rs._nn_alpha_dropout_
avg_pool1d = _rs._nn_avg_pool1d
avg_pool2d = _rs._nn_avg_pool2d
avg_pool3d = _rs._nn_avg_pool3d
batch_norm = _rs._nn_batch_norm
bilinear = _rs._nn_bilinear
binary_cross_entropy = _rs._nn_binary_cross_entropy
binary_cross_entropy_with_logits = _rs._nn_binary_cross_entropy_with_logits
celu = _rs._nn_celu
celu_ = _rs._nn_celu_
channel_shuffle = _rs._nn_channel_shuffle
conv1d = _rs._nn_conv1d
conv2d = _rs._nn_conv2d
conv3d = _rs._nn_conv3d
conv_transpose1d = _rs._nn_conv_transpose1d
conv_transpose2d = _rs._nn_conv_transpose2d
conv_transpose3d = _rs._nn_conv_transpose3d
cosine_embedding_loss = _rs._nn_cosine_embedding_loss
cosine_similarity = _rs._nn_cosine_similarity
cross_entropy = _rs._nn_cross_entropy
ctc_loss = _rs._nn_ctc_loss
dropout = _rs._nn_dropout
dropout1d = _rs._nn_dropout1d
dropout1d_ = _rs._nn_dropout1d_
dropout2d = _rs._nn_dropout2d
dropout2d_ = _rs._nn_dropout2d_
dropout3d = _rs._nn_dropout3d
dropout3d_ = _rs._nn_dropout3d_
dropout_ = _rs._nn_dropout_
elu = _rs._nn_elu
elu_ = _rs._nn_elu_
embedding = _rs._nn_embedding
embedding_bag = _rs._nn_embedding_bag
feature_alpha_dropout = _rs._nn_feature_alpha_dropout
feature_alpha_dropout_ = _rs._nn_feature_alpha_dropout_
fold = _rs._nn_fold
fractional_max_pool2d = _rs._nn_fractional_max_pool2d
fractional_max_pool3d = _rs._nn_fractional_max_pool3d
gaussian_nll_loss = _rs._nn_gaussian_nll_loss
gelu = _rs._nn_gelu
glu = _rs._nn_glu
grid_sample = _rs._nn_grid_sample
group_norm = _rs._nn_group_norm
gumbel_softmax = _rs._nn_gumbel_softmax
hardshrink = _rs._nn_hardshrink
hardsigmoid = _rs._nn_hardsigmoid
hardsigmoid_ = _rs._nn_hardsigmoid_
hardswish = _rs._nn_hardswish
hardswish_ = _rs._nn_hardswish_
hardtanh = _rs._nn_hardtanh
hardtanh_ = _rs._nn_hardtanh_
hinge_embedding_loss = _rs._nn_hinge_embedding_loss
huber_loss = _rs._nn_huber_loss
instance_norm = _rs._nn_instance_norm
interpolate = _rs._nn_interpolate
kl_div = _rs._nn_kl_div
l1_loss = _rs._nn_l1_loss
layer_norm = _rs._nn_layer_norm
leaky_relu = _rs._nn_leaky_relu
leaky_relu_ = _rs._nn_leaky_relu_
linear = _rs._nn_linear
linear_cross_entropy = _rs._nn_linear_cross_entropy
local_response_norm = _rs._nn_local_response_norm
log_softmax = _rs._nn_log_softmax
logsigmoid = _rs._nn_logsigmoid
lp_pool1d = _rs._nn_lp_pool1d
lp_pool2d = _rs._nn_lp_pool2d
lp_pool3d = _rs._nn_lp_pool3d
margin_ranking_loss = _rs._nn_margin_ranking_loss
max_pool1d = _rs._nn_max_pool1d
max_pool1d_with_indices = _rs._nn_max_pool1d_with_indices
max_pool2d = _rs._nn_max_pool2d
max_pool2d_with_indices = _rs._nn_max_pool2d_with_indices
max_pool3d = _rs._nn_max_pool3d
max_pool3d_with_indices = _rs._nn_max_pool3d_with_indices
max_unpool1d = _rs._nn_max_unpool1d
max_unpool2d = _rs._nn_max_unpool2d
max_unpool3d = _rs._nn_max_unpool3d
mish = _rs._nn_mish
mish_ = _rs._nn_mish_
mse_loss = _rs._nn_mse_loss
multi_head_attention_forward = _rs._nn_multi_head_attention_forward
multi_margin_loss = _rs._nn_multi_margin_loss
multilabel_margin_loss = _rs._nn_multilabel_margin_loss
multilabel_soft_margin_loss = _rs._nn_multilabel_soft_margin_loss
nll_loss = _rs._nn_nll_loss
normalize = _rs._nn_normalize
one_hot = _rs._nn_one_hot
pad = _rs._nn_pad
pairwise_distance = _rs._nn_pairwise_distance
pdist = _rs._nn_pdist
pixel_shuffle = _rs._nn_pixel_shuffle
pixel_unshuffle = _rs._nn_pixel_unshuffle
poisson_nll_loss = _rs._nn_poisson_nll_loss
prelu = _rs._nn_prelu
relu6 = _rs._nn_relu6
relu6_ = _rs._nn_relu6_
rms_norm = _rs._nn_rms_norm
rotary_embedding = _rs._nn_rotary_embedding
rrelu = _rs._nn_rrelu
rrelu_ = _rs._nn_rrelu_
scaled_dot_product_attention = _rs._nn_scaled_dot_product_attention
selu = _rs._nn_selu
selu_ = _rs._nn_selu_
silu = _rs._nn_silu
silu_ = _rs._nn_silu_
smooth_l1_loss = _rs._nn_smooth_l1_loss
soft_margin_loss = _rs._nn_soft_margin_loss
softmax = _rs._nn_softmax
softmin = _rs._nn_softmin
softplus = _rs._nn_softplus
softplus_ = _rs._nn_softplus_
softshrink = _rs._nn_softshrink
softsign = _rs._nn_softsign
tanhshrink = _rs._nn_tanhshrink
threshold = _rs._nn_threshold
threshold_ = _rs._nn_threshold_
triplet_margin_loss = _rs._nn_triplet_margin_loss
unfold = _rs._nn_unfold
varlen_attn = _rs._nn_varlen_attn
