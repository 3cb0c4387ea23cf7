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
    """A table `[n, size]`, and what becomes of it when it is used.

    Arguments:
        num_embeddings: how many rows the table has: indices are from 0 to `num_embeddings − 1`
        embedding_dim: how many numbers a row has
        max_norm: the largest norm that a row may have: rows that are looked up and have a larger one are scaled down to it, in the table itself;
            None: any
        norm_type: the order of the norm that `max_norm` is of
        scale_grad_by_freq: whether a row's gradient is divided by how often the row was looked up in the batch
        sparse: of no effect: gradients are dense

    Errors: ValueError for a `padding_idx` that is no row and for negative sizes, TypeError for sizes that are no integers.
    """

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
        """Draws the table anew from the standard normal distribution; the row `padding_idx` becomes 0."""
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
    """A table of trained vectors, looked up by integers; drawn from the standard normal distribution.

    >>> import micrograd_rs as mg
    >>> table = mg.nn.Embedding(10, 4, padding_idx=0)
    >>> table(mg.tensor([[1, 2, 0]])).shape, table(mg.tensor(0)).tolist()
    ((1, 3, 4), [0.0, 0.0, 0.0, 0.0])

    Shapes: integers `[…]` give `[…, embedding_dim]`; `weight` is `[num_embeddings, embedding_dim]`.

    Arguments:
        padding_idx: the row that is 0 at first and gets no gradient, for what only fills up a batch; a negative one counts from the end
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
        """A layer with a table that is there.

        Arguments:
            embeddings: the table, floats `[num_embeddings, embedding_dim]`, whose memory the layer's `weight` shares
            freeze: whether the table stays as it is: its `weight` requires no gradient then
            padding_idx: the row that gets no gradient; it is not made 0
            max_norm, norm_type, scale_grad_by_freq, sparse: as the class has them

        Errors: ValueError for another number of axes than two.

        >>> table = mg.nn.Embedding.from_pretrained(mg.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(mg.tensor([1, 0])), table.weight.requires_grad
        (tensor([[3., 4.],
                [1., 2.]]), False)
        """
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
        """The rows at the indices, `[…, embedding_dim]`, of the table's dtype.

        Arguments:
            input: integers of any shape and integer dtype, from 0 to `num_embeddings − 1`

        Errors: DTypeError for floats and truth values; IndexError for a negative index and one that is too large.
        """
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq
        )


class EmbeddingBag(_Table):
    """Sums, means or largest elements of rows of a table, without the rows one by one in memory. The table is drawn from the standard normal distribution.

    >>> bag = mg.nn.EmbeddingBag(10, 3, mode="sum")
    >>> bag(mg.tensor([1, 2, 4, 5, 4]), mg.tensor([0, 2])).shape
    (2, 3)

    Shapes: integers `[bags, size]`, or `[all]` with offsets `[bags]`, give `[bags, embedding_dim]`; `weight` is `[num_embeddings, embedding_dim]`.

    Arguments:
        mode: what becomes of a bag's rows: their "sum", their "mean", or the largest of them in each column, "max"; of an empty bag it is 0
        include_last_offset: whether `offsets` ends with the number of all indices, so that there is one more offset than bags
        padding_idx: the row that is 0 at first, does not count in a bag and gets no gradient; a negative one counts from the end

    Errors: ValueError for another `mode`, for a `padding_idx` that is no row and for negative sizes; TypeError for sizes that are no integers.
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
        """A layer with a table that is there.

        Arguments:
            embeddings: the table, floats `[num_embeddings, embedding_dim]`, whose memory the layer's `weight` shares
            freeze: whether the table stays as it is: its `weight` requires no gradient then
            padding_idx: the row that does not count; it is not made 0
            max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset: as the class has them

        Errors: ValueError for another number of axes than two.

        >>> bag = mg.nn.EmbeddingBag.from_pretrained(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
        >>> bag(mg.tensor([[0, 1], [1, 1]]))
        tensor([[4., 6.],
                [6., 8.]])
        """
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
            input: integer indices of rows: `[bags, size]`, or `[all]`, one bag after the other, with `offsets`
            offsets: where each bag begins in an `input` of one axis: integers `[bags]` that begin with 0 and do not fall; None for an `input` of two
                axes
            per_sample_weights: what each row is multiplied by before it is added, floats in the shape of `input`, with the mode "sum" alone; None: 1

        Errors: ArgumentError for an `input` of one axis without `offsets` or of two with them, for offsets that do not begin with 0, fall or are too
        large, and for weights of another shape or mode; DTypeError for an `input` of floats; IndexError, when the result is computed, for an index
        that is no row.

        >>> bag = mg.nn.EmbeddingBag.from_pretrained(mg.tensor([[1.0, 2.0], [3.0, 4.0]]), mode="sum")
        >>> bag(mg.tensor([0, 1, 1]), offsets=mg.tensor([0, 1]), per_sample_weights=mg.tensor([10.0, 1.0, 1.0]))
        tensor([[10., 20.],
                [ 6.,  8.]])
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
