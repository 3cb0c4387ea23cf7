"""Tables of vectors."""

from __future__ import annotations

from typing import Any, Self

from .. import functional as F
from .._micrograd_rs import Device, Tensor, _embedding_parameters, dtype, empty
from ..autograd import no_grad
from ._sizes import check_sizes
from .init import normal_
from .module import Module, is_another
from .parameter import Parameter


class _Table(Module):
    """A table `[n, size]`, and what becomes of it when it is used."""

    weight: Tensor
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
        weight: Tensor | None,
        freeze: bool,
        device: Device | str | None,
        dtype: dtype | str | None,
    ) -> None:
        check_sizes(self, num_embeddings=num_embeddings, embedding_dim=embedding_dim)
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(f"padding_idx {padding_idx} is not among {num_embeddings} rows")
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if weight is not None:
            if tuple(weight.shape) != (num_embeddings, embedding_dim):
                raise ValueError(f"takes a table [{num_embeddings}, {embedding_dim}], got {weight.shape}")
            self.weight = Parameter(weight, requires_grad=not freeze)
            return
        if is_another(self, _Table, "reset_parameters"):
            self.weight = Parameter(empty((num_embeddings, embedding_dim), device=device, dtype=dtype), requires_grad=not freeze)
            self.reset_parameters()
            return
        table = _embedding_parameters(num_embeddings, embedding_dim, dtype)
        if device is not None:
            table.data = table.detach().to(device)
        self.weight = table
        if freeze:
            table.requires_grad_(False)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0

    def reset_parameters(self) -> None:
        """Draws the table anew."""
        normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        text += "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return text + self._lengths()

    def _lengths(self) -> str:
        text = "" if self.max_norm is None else f", max_norm={self.max_norm}"
        text += "" if self.norm_type == 2 else f", norm_type={self.norm_type}"
        return text + (f", scale_grad_by_freq={self.scale_grad_by_freq}" if self.scale_grad_by_freq else "")


class Embedding(_Table):
    """A table of `num_embeddings` vectors of `embedding_dim`, looked up by integers of any shape; drawn from the normal distribution.

    >>> import micrograd_rs as mg
    >>> table = mg.nn.Embedding(10, 4, padding_idx=0)
    >>> table(mg.tensor([[1, 2, 0]])).shape, table(mg.tensor(0)).tolist()
    ((1, 3, 4), [0.0, 0.0, 0.0, 0.0])

    The row `padding_idx` is 0 at first and gets no gradient. With `max_norm`, rows that are looked up are scaled
    to be no longer (by the norm `norm_type`), in the table. With `scale_grad_by_freq` a row's gradient is divided
    by how often it is looked up. Gradients are dense, with `sparse` too.

    IndexError for an integer that is no row, TypeError for floats.

    Arguments:
        num_embeddings: how many rows the table has
        embedding_dim: how many numbers a row has
        padding_idx: the row that gets no gradient, and is zeros at first
        max_norm: what rows that are read are made no longer than
        norm_type: of which norm that is
        scale_grad_by_freq: whether a row's gradient is divided by how often it was read
        sparse: of no effect: gradients are dense
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            _freeze,
            device,
            dtype,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """With a table `[n, size]` that is there; it is not trained if `freeze`."""
        rows, size = _sizes(embeddings)
        return cls(
            rows,
            size,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            embeddings,
            freeze,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The rows at indices of any shape, `[…, embedding_dim]`."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class EmbeddingBag(_Table):
    """Sums, means or largest elements of rows of a table, drawn from the normal distribution; see `embedding_bag`.

    The row `padding_idx` is 0 at first, does not count and gets no gradient. The rest is as with `Embedding`.

    Arguments:
        num_embeddings: how many rows the table has
        embedding_dim: how long they are
        max_norm, norm_type: rows that are read and whose `norm_type`-norm is above `max_norm` are scaled down to it
        scale_grad_by_freq: whether a row's gradient is divided by how often the row is read
        mode: "sum", "mean" or "max"
        sparse: of no effect: gradients are dense
        include_last_offset: whether the last offset is the end
        padding_idx: the row that does not count

    >>> bag = mg.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bag(mg.tensor([1, 2, 4, 5, 4]), mg.tensor([0, 2])).shape
    (2, 3)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if mode not in ("sum", "mean", "max"):
            raise ValueError(f'a mode is "sum", "mean" or "max", got {mode!r}')
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            False,
            device,
            dtype,
        )
        self.mode = mode
        self.include_last_offset = include_last_offset

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """With a table `[n, size]` that is there; it is not trained if `freeze`."""
        rows, size = _sizes(embeddings)
        bag = cls(
            rows,
            size,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        bag.weight.requires_grad_(not freeze)
        return bag

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """A vector for each bag, `[bags, embedding_dim]`.

        Arguments:
            input: integer indices of rows: `[bags, size]`, or `[all]`, one bag after the other
            offsets: where each bag begins in an `input` of one axis, `[bags]`
            per_sample_weights: what rows are multiplied by, in the shape of `input`, with the mode "sum"
        """
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
            padding_idx=self.padding_idx,
        )

    def extra_repr(self) -> str:
        text = f"{self.num_embeddings}, {self.embedding_dim}{self._lengths()}, mode={self.mode!r}"
        return text + ("" if self.padding_idx is None else f", padding_idx={self.padding_idx}")


def _sizes(embeddings: Any) -> tuple[int, int]:
    if embeddings.dim() != 2:
        raise ValueError(f"takes a table [n, size], got {embeddings.shape}")
    rows, size = embeddings.shape
    return rows, size
