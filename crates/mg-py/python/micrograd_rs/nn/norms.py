"""Normalisation, and what it keeps of what it has seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .. import functional as F
from .._micrograd_rs import Device, Tensor, _needs_values, dtype, ones, tensor, zeros
from ..autograd import no_grad
from ._sizes import check_sizes
from .module import Module, Parameter, is_another


@no_grad()
def _reset(weight: Tensor | None, bias: Tensor | None) -> None:
    """Ones and zeros, as at first."""
    if weight is not None:
        weight.fill_(1)
    if bias is not None:
        bias.fill_(0)


@no_grad()
def _count(batches: Tensor) -> None:
    batches.add_(1)


class _NormBase(Module):
    """Normalisation by channel, with running statistics or without.

    Arguments:
        num_features: how many channels the input has
        eps: what is added to the variance, so that nothing is divided by 0
        momentum: how far the running mean and variance go towards those of each batch, from 0 to 1; None: they are the mean of all batches so far
        affine: whether there are a trained `weight` and `bias`, a number for each channel
        track_running_stats: whether there are a running mean and variance, buffers that training updates and `eval()` uses; without them it is
            normalised by what the input itself has, in training and after
        bias: whether there is a `bias`, with `affine`

    Errors: ArgumentError for a negative `num_features`, TypeError for one that is no integer.
    """

    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None
    # The numbers of axes that inputs have, the last of them with a batch.
    axes: ClassVar[tuple[int, ...]]
    # Since the second there is `num_batches_tracked`.
    _version = 2

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_sizes(self, num_features=num_features)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        self.register_parameter("weight", Parameter(ones(shape, device=device, dtype=dtype)) if affine else None)
        offset = Parameter(zeros(shape, device=device, dtype=dtype)) if affine and bias else None
        self.register_parameter("bias", offset)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(shape, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("running_var", ones(shape, device=device, dtype=dtype) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, device=device) if tracked else None)
        if is_another(self, _NormBase, "reset_parameters", "reset_running_stats"):
            self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forgets what was seen: the running mean becomes 0, the running variance 1 and the count of batches 0."""
        with no_grad():
            for kept, value in ((self.running_mean, 0), (self.running_var, 1), (self.num_batches_tracked, 0)):
                if kept is not None:
                    kept.fill_(value)

    def reset_parameters(self) -> None:
        """Forgets what was seen and what was learned: statistics are as `reset_running_stats` leaves them, weights 1 and biases 0."""
        self.reset_running_stats()
        _reset(self.weight, self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if not hasattr(type(self), "axes"):
            raise NotImplementedError(f"{type(self).__name__} does not say what axes inputs have: write its _check_input_dim()")
        if input.dim() not in self.axes:
            counts = " or ".join(str(n) for n in self.axes)
            raise ValueError(f"{type(self).__name__} takes {counts} axes, got shape {tuple(input.shape)}")

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Mapping[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = f"{prefix}num_batches_tracked"
        if local_metadata.get("version", 1) < 2 and self.track_running_stats and key not in state_dict:
            # Files of PyTorch before 0.4.1.
            state_dict[key] = self.num_batches_tracked if self.num_batches_tracked is not None else tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    """Batch normalisation of inputs with any axes that `_check_input_dim` lets by."""

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, in its shape, and of the dtype that input and parameters promote to. In training this updates the running mean and
        variance.

        Arguments:
            input: `[n, num_features, …]` with as many axes as the class's docstring says; integers count as floats

        Errors: ValueError for another number of axes; ArgumentError for another number of channels, and in training for a single number in each
        channel, which has no variance.
        """
        self._check_input_dim(input)
        momentum = self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            _count(self.num_batches_tracked)
            if momentum is None:
                # The mean of all that was seen.
                _needs_values()
                momentum = 1.0 / float(self.num_batches_tracked.item())
        follows = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if follows else None,
            self.running_var if follows else None,
            self.weight,
            self.bias,
            self.training or (self.running_mean is None and self.running_var is None),
            0.0 if momentum is None else momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """`(x − mean) / √(variance + eps) · weight + bias`, with a mean and a variance for each channel (Ioffe and Szegedy, 2015). In training they are
    those of the batch, over samples and places, and the running ones follow by `momentum`: `running ← (1 − momentum) · running + momentum · batch`.
    After `eval()` they are the running ones. The variance of the batch is divided by the count; the one that the running variance follows is divided
    by one less.

    >>> import micrograd_rs as mg
    >>> norm = mg.nn.BatchNorm1d(2)
    >>> norm(mg.tensor([[1.0, 0.0], [3.0, 4.0]])).round().tolist(), norm.running_mean.tolist()
    ([[-1.0, -1.0], [1.0, 1.0]], [0.20000000298023224, 0.20000000298023224])

    Shapes: `[n, num_features]` or `[n, num_features, length]` gives the same; `weight`, `bias`, `running_mean` and `running_var` are `[num_features]`.
    """

    axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`BatchNorm1d`, whose docstring has the formula, of images.

    >>> mg.nn.BatchNorm2d(3)(mg.randn(4, 3, 8, 8)).mean((0, 2, 3)).abs() < 1e-5
    tensor([True, True, True])

    Shapes: `[n, num_features, height, width]` gives the same; `weight`, `bias`, `running_mean` and `running_var` are `[num_features]`.
    """

    axes = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm1d`, whose docstring has the formula, of volumes.

    >>> mg.nn.BatchNorm3d(3)(mg.randn(4, 3, 2, 8, 8)).shape
    (4, 3, 2, 8, 8)

    Shapes: `[n, num_features, depth, height, width]` gives the same; `weight`, `bias`, `running_mean` and `running_var` are `[num_features]`.
    """

    axes = (5,)


class _InstanceNorm(_NormBase):
    """Instance normalisation.

    Arguments:
        momentum: how far the running mean and variance go towards those of each batch, from 0 to 1; None: they stay as they are
        track_running_stats: whether there are a running mean and variance, buffers that training updates and `eval()` uses; without them it is
            normalised by what the input itself has, in training and after
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _get_no_batch_dim(self) -> int:
        """How many axes an input without a batch has."""
        return self.axes[0]

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, in its shape, and of the dtype that input and parameters promote to. With `track_running_stats`, training updates the
        running mean and variance.

        Arguments:
            input: `[n, num_features, …]` with as many axes as the class's docstring says, or that without `n`; integers count as floats

        Errors: ValueError for another number of axes; ArgumentError, with `affine`, for another number of channels, and for a single number in each
        channel, which has no variance, unless it is normalised by the running ones.
        """
        self._check_input_dim(input)
        alone = input.dim() == self._get_no_batch_dim()
        output = F.instance_norm(
            input.unsqueeze(0) if alone else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return output.squeeze(0) if alone else output


class InstanceNorm1d(_InstanceNorm):
    """`(x − mean) / √(variance + eps) · weight + bias`, with a mean and a variance for each channel of each sample (Ulyanov et al., 2016). The variance
    is divided by the count. By itself it has no `weight`, no `bias` and no running statistics.

    >>> mg.nn.InstanceNorm1d(2)(mg.tensor([[[1.0, 3.0], [10.0, 30.0]]]))
    tensor([[[-1.0000,  1.0000],
             [-1.0000,  1.0000]]])

    Shapes: `[n, num_features, length]` or `[num_features, length]` gives the same.
    """

    axes = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`InstanceNorm1d`, whose docstring has the formula, of images.

    >>> mg.nn.InstanceNorm2d(3)(mg.randn(4, 3, 8, 8)).shape
    (4, 3, 8, 8)

    Shapes: `[n, num_features, height, width]` or `[num_features, height, width]` gives the same.
    """

    axes = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm1d`, whose docstring has the formula, of volumes.

    >>> mg.nn.InstanceNorm3d(3)(mg.randn(4, 3, 2, 8, 8)).shape
    (4, 3, 2, 8, 8)

    Shapes: `[n, num_features, depth, height, width]` or `[num_features, depth, height, width]` gives the same.
    """

    axes = (4, 5)


class GroupNorm(Module):
    """`(x − mean) / √(variance + eps) · weight + bias`, with a mean and a variance for each group of channels of each sample, over all places (Wu and
    He, 2018). The variance is divided by the count. With one group it is normalised over the whole sample, with as many groups as channels it is
    `InstanceNorm1d`.

    >>> mg.nn.GroupNorm(2, 4)(mg.tensor([[[1.0], [3.0], [10.0], [30.0]]])).flatten().detach()
    tensor([-1.0000,  1.0000, -1.0000,  1.0000])

    Shapes: `[n, num_channels, …]` gives the same; `weight` and `bias` are `[num_channels]`, ones and zeros at first.

    Arguments:
        num_groups: how many groups of neighbouring channels there are, at least 1
        num_channels: how many channels the input has
        eps: what is added to the variance, so that nothing is divided by 0
        affine: whether there are a trained `weight` and `bias`, a number for each channel
        bias: whether there is a `bias`, with `affine`

    Errors: ValueError for channels that do not part into `num_groups` and for negative sizes, TypeError for sizes that are no integers.
    """

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_sizes(self, num_groups=num_groups, num_channels=num_channels)
        if num_groups < 1 or num_channels % num_groups:
            raise ValueError(f"{type(self).__name__}: {num_channels} channels do not part into {num_groups} groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        shape = (num_channels,)
        self.register_parameter("weight", Parameter(ones(shape, device=device, dtype=dtype)) if affine else None)
        offset = Parameter(zeros(shape, device=device, dtype=dtype)) if affine and bias else None
        self.register_parameter("bias", offset)
        if is_another(self, GroupNorm, "reset_parameters"):
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Makes the weight ones and the bias zeros, as at first."""
        _reset(self.weight, self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, in its shape, and of the dtype that input and parameters promote to.

        Arguments:
            input: `[n, num_channels, …]`, of two axes or more; integers count as floats

        Errors: ArgumentError for a single axis, and for another number of channels.
        """
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine = f"affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, {affine}"


class RMSNorm(Module):
    """`x / √(mean of x² + eps) · weight`, with the mean taken over the last axes of each sample (Zhang and Sennrich, 2019).

    >>> mg.nn.RMSNorm(2)(mg.tensor([[3.0, 4.0]])).detach()
    tensor([[0.8485, 1.1314]])

    Shapes: `[…, *normalized_shape]` gives the same; `weight` is of `normalized_shape`, ones at first.

    Arguments:
        normalized_shape: the sizes of the last axes, over which the mean is taken; a number where it is one axis
        eps: what is added to the mean square, so that nothing is divided by 0; None: the distance from 1 to the next number of the dtype,
            `finfo(dtype).eps`
        elementwise_affine: whether there is a `weight`

    Errors: ArgumentError for negative sizes, TypeError for sizes that are no integers.
    """

    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: int | list[int] | tuple[int, ...],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        check_sizes(self, normalized_shape=self.normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(ones(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        if is_another(self, RMSNorm, "reset_parameters"):
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Makes the weight ones, as at first."""
        _reset(self.weight, None)

    def forward(self, x: Tensor) -> Tensor:
        """The normalised input, in its shape, and of the dtype that input and weight promote to.

        Arguments:
            x: `[…, *normalized_shape]`; integers count as floats

        Errors: ArgumentError where the last axes are others.
        """
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """`x / (k + alpha · m) ** beta`, where `m` is the mean of squares over `size` neighbouring channels at the same place (Krizhevsky et al., 2012);
    beyond the first and the last channel there are zeros.

    >>> mg.nn.LocalResponseNorm(size=2, alpha=1.0)(mg.ones(1, 3, 1)).flatten()
    tensor([0.7378, 0.5946, 0.5946])

    Shapes: `[n, channels, …]` gives the same.

    Arguments:
        size: how many neighbouring channels the mean is taken over, at least 1
        alpha: what the mean of squares is multiplied by
        beta: the power
        k: what is added before the power

    Errors: in a call, ArgumentError for fewer than three axes, and for a `size` below 1.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input, in its shape; of integers the result is of the default dtype.

        Arguments:
            input: `[n, channels, …]`, of three axes or more

        Errors: ArgumentError for fewer axes, and for a `size` below 1.
        """
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes: there is one here, so it is `BatchNorm1d`, whose docstring has the formula, of any number of axes from two
    to five.

    >>> mg.nn.SyncBatchNorm(3)(mg.randn(4, 3, 8, 8)).shape
    (4, 3, 8, 8)

    Shapes: `[n, num_features, …]` gives the same; `weight`, `bias`, `running_mean` and `running_var` are `[num_features]`.

    Arguments:
        process_group: of no effect
    """

    axes = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module with each batch normalisation in it made one of this class, on the same parameters and statistics. What is changed is the module
        itself, unless it is a batch normalisation.

        Arguments:
            module: a module, with modules in it or without
            process_group: of no effect

        >>> net = mg.nn.Sequential(mg.nn.Conv2d(3, 8, 3), mg.nn.BatchNorm2d(8))
        >>> type(mg.nn.SyncBatchNorm.convert_sync_batchnorm(net)[1]).__name__
        'SyncBatchNorm'
        """
        new = module
        if isinstance(module, _BatchNorm) and not isinstance(module, SyncBatchNorm):
            options = (module.eps, module.momentum, False, False)
            new = cls(module.num_features, *options, process_group)
            new.affine, new.track_running_stats = module.affine, module.track_running_stats
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked"):
                setattr(new, name, getattr(module, name))
            new.train(module.training)
        for name, child in module.named_children():
            new.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return new
