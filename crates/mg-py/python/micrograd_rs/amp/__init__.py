"""Mixed precision: `autocast` chooses the dtype of each operation, `GradScaler` keeps small gradients of float16 from vanishing.

>>> import micrograd_rs as mg
>>> net = mg.nn.Linear(4, 1)
>>> sgd = mg.optim.SGD(net.parameters(), lr=0.1)
>>> scaler = mg.amp.GradScaler("cpu")
>>> for _ in range(3):
...     sgd.zero_grad()
...     with mg.autocast("cpu", dtype=mg.float16):
...         loss = mg.nn.functional.mse_loss(net(mg.ones(8, 4)), mg.ones(8, 1))
...     scaler.scale(loss).backward()
...     scaler.step(sgd)
...     scaler.update()

The lists are PyTorch's for each type of device. On both, in the lower dtype: products of matrices and what is called by their names
(`matmul`, `mm`, `bmm`, `addmm`, `addbmm`, `baddbmm`, `linear`, `chain_matmul`, `linalg.multi_dot`, `linalg.vecdot`), convolutions
and their transposes, `scaled_dot_product_attention`, `prelu`, recurrent layers and cells; on CUDA devices `mv`, `addmv`, `addr`
and `einsum` besides.

In float32 on both: losses (but the plain `binary_cross_entropy`, which is refused on CUDA devices: take
`binary_cross_entropy_with_logits`) and `prod`. On CUDA devices besides: `acos`, `asin`, `cosh`, `exp`, `expm1`, `log`, `log10`,
`log1p`, `log2`, `pow`, `reciprocal`, `rsqrt`, `sinh`, `tan`, `erfinv`, `sum`, `cumsum`, `cumprod`, `softmax`, `log_softmax`, `logsumexp`,
`softplus`, norms, `cosine_similarity`, `pdist`, `layer_norm`, `group_norm`, `rms_norm`, `interpolate`. On the CPU besides: `quantile`,
`trace`, factorisations, solutions of linear systems, pooling in three axes, `grid_sample`.

In the widest dtype of their operands: `cat`, `stack`, `index_copy` on the CPU; `addcdiv`, `addcmul`, `atan2`, `bilinear`, `cross`, `dot`,
`grid_sample`, `index_put`, `scatter_add`, `tensordot` on CUDA devices. What is not named runs in the dtypes that it is given.
"""

from __future__ import annotations

from .._names import Lazy as _Lazy
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import autocast_mode, grad_scaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler", "is_autocast_available"]

__getattr__ = _Lazy(__name__, ("autocast_mode", "grad_scaler"))
