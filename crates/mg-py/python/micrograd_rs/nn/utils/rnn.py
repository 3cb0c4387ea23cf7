"""Sequences of several lengths: padded, and packed.

>>> from micrograd_rs import tensor
>>> from micrograd_rs.nn.utils.rnn import pack_sequence, pad_packed_sequence
>>> packed = pack_sequence([tensor([1.0, 2.0, 3.0]), tensor([4.0])])
>>> packed.data.tolist(), packed.batch_sizes.tolist()
([1.0, 4.0, 2.0, 3.0], [2, 1, 1])
>>> padded, lengths = pad_packed_sequence(packed, batch_first=True)
>>> padded.tolist(), lengths.tolist()
([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]], [3, 1])
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ..._micrograd_rs import ArgumentError, Tensor, arange, full, tensor, zeros_like
from ..._names import Lazy as _Lazy
from ..._ops import cat

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

__getattr__ = _Lazy(__name__)


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences of several lengths without padding.

    >>> packed = mg.nn.utils.rnn.pack_sequence([mg.tensor([1, 2, 3]), mg.tensor([10, 20])])
    >>> packed.data, packed.batch_sizes
    (tensor([ 1, 10,  2, 20,  3]), tensor([2, 2, 1]))

    Arguments:
        data: the steps, `[all steps, …]`: first all sequences' first ones, then the second ones of those that have one, and so on, the longest
            sequence first
        batch_sizes: how many sequences there are at each step, int64 `[longest]`
        sorted_indices: which sequence stands where, int64 `[sequences]`; None: they are in their order
        unsorted_indices: where each sequence stands; None: it follows from `sorted_indices`

    Errors: ValueError without `batch_sizes`.
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Tensor,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:
            raise ArgumentError("PackedSequence: takes batch_sizes: how many sequences there are at each step")
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The sequences on another device, or in another dtype.

        Arguments:
            args: what `Tensor.to` takes: a device, a dtype, both, or a tensor whose device and dtype are taken
            kwargs: the same by name
        """
        data = self.data.to(*args, **kwargs)
        indices = [None if i is None else i.to(data.device) for i in self[2:]]
        return PackedSequence(data, self.batch_sizes, *indices)

    def cpu(self) -> PackedSequence:
        """As `to("cpu")`."""
        return self.to("cpu")

    def cuda(self) -> PackedSequence:
        """As `to("cuda")`."""
        return self.to("cuda")

    def double(self) -> PackedSequence:
        """As `to("float64")`."""
        return self.to("float64")

    def float(self) -> PackedSequence:
        """As `to("float32")`."""
        return self.to("float32")

    def half(self) -> PackedSequence:
        """As `to("float16")`."""
        return self.to("float16")

    def byte(self) -> PackedSequence:
        """As `to("uint8")`."""
        return self.to("uint8")

    def char(self) -> PackedSequence:
        """As `to("int8")`."""
        return self.to("int8")

    def short(self) -> PackedSequence:
        """As `to("int16")`."""
        return self.to("int16")

    def int(self) -> PackedSequence:
        """As `to("int32")`."""
        return self.to("int32")

    def long(self) -> PackedSequence:
        """As `to("int64")`."""
        return self.to("int64")

    def pin_memory(self) -> PackedSequence:
        """The sequence with its data in page-locked memory (`Tensor.pin_memory`); the sequence itself where that is its data itself."""
        data = self.data.pin_memory()
        return self if data is self.data else PackedSequence(data, self.batch_sizes, *self[2:])

    def is_pinned(self) -> bool:
        """Whether its data is in page-locked memory."""
        return self.data.is_pinned()

    @property
    def is_cuda(self) -> bool:
        """Whether the rows lie on a CUDA device."""
        return self.data.device.type == "cuda"


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one.

    Arguments:
        permutation: the numbers from 0 to `n − 1` in some order, int64 `[n]`; of None it is None

    >>> mg.nn.utils.rnn.invert_permutation(mg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = arange(permutation.shape[0], device=permutation.device)
    return zeros_like(permutation).scatter(0, permutation, places)


def _whole(lengths: Any) -> list[int]:
    found = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    return [int(n) for n in found]


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Iterable[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs sequences that are padded.

    Arguments:
        input: the sequences, `[steps, batch, …]`, or `[batch, steps, …]` with `batch_first`
        lengths: how long each sequence is, from 1 to `steps`: integers `[batch]`
        batch_first: whether the batch is the first axis
        enforce_sorted: whether it is an error that a longer sequence comes after a shorter one; otherwise they are sorted here

    Errors: ArgumentError for another number of lengths than sequences, for lengths that are not from 1 to `steps`, and, with `enforce_sorted`, for
    lengths that rise.

    >>> x = mg.tensor([[1, 2, 0], [3, 4, 5]])
    >>> mg.nn.utils.rnn.pack_padded_sequence(x, [2, 3], batch_first=True, enforce_sorted=False).data
    tensor([3, 1, 4, 2, 5])
    """
    sizes = _whole(lengths)
    if batch_first:
        input = input.transpose(0, 1)
    steps, batch = input.shape[:2]
    if len(sizes) != batch:
        raise ArgumentError(f"pack_padded_sequence: takes {batch} lengths, one of each sequence, got {len(sizes)}")
    if any(not 0 < n <= steps for n in sizes):
        raise ArgumentError(f"pack_padded_sequence: takes lengths above 0 and up to {steps}, got {sizes}")
    order = None
    if enforce_sorted:
        if any(a < b for a, b in zip(sizes, sizes[1:])):
            raise ArgumentError(f"pack_padded_sequence: takes lengths in descending order, got {sizes}; pass enforce_sorted=False for others")
    else:
        places = sorted(range(batch), key=lambda i: -sizes[i])
        sizes = [sizes[i] for i in places]
        order = tensor(places, device=input.device)
        input = input.index_select(1, order)
    counts = [sum(n > step for n in sizes) for step in range(sizes[0])]
    return PackedSequence(_taken(input, counts), tensor(counts), order)


def _taken(input: Tensor, counts: list[int]) -> Tensor:
    """The first so many of each step's rows."""
    batch = input.shape[1]
    rows = input.flatten(0, 1)
    if all(n == batch for n in counts):
        # In memory of its own, as where rows are left out.
        return rows[: len(counts) * batch].clone()
    places = [step * batch + i for step, n in enumerate(counts) for i in range(n)]
    return rows.index_select(0, tensor(places, device=input.device))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Packed sequences as `[steps, batch, …]` (`[batch, steps, …]` with `batch_first`), padded to the longest or
    to `total_length`, and their lengths.

    Arguments:
        sequence: the packed sequences
        batch_first: whether the batch is the first axis
        padding_value: what they are padded with
        total_length: how long they become

    >>> packed = mg.nn.utils.rnn.pack_sequence([mg.tensor([1, 2, 3]), mg.tensor([10, 20])])
    >>> mg.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[ 1,  2,  3],
            [10, 20,  0]]), tensor([3, 2]))
    """
    counts: list[int] = sequence.batch_sizes.tolist()
    data, batch = sequence.data, counts[0]
    steps = len(counts)
    if total_length is not None:
        if total_length < steps:
            raise ArgumentError(f"pad_packed_sequence: takes a total_length of at least {steps}, got {total_length}")
        steps = total_length
    places: list[int] = []
    row = 0
    for n in [*counts, *[0] * (steps - len(counts))]:
        # The row behind the last is the padding.
        places += [*range(row, row + n), *[data.shape[0]] * (batch - n)]
        row += n
    rest = tuple(data.shape[1:])
    padding = full((1, *rest), padding_value, dtype=data.dtype, device=data.device)
    found = cat([data, padding]).index_select(0, tensor(places, device=data.device))
    padded = found.reshape(steps, batch, *rest)
    lengths = tensor([sum(n > i for n in counts) for i in range(batch)])
    order = sequence.unsorted_indices
    if order is not None:
        padded = padded.index_select(1, order)
        lengths = lengths[order.to(lengths.device)]
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Sequences `[length, …]` as `[longest, batch, …]` (`[batch, longest, …]` with `batch_first`), padded on the
    "right" or on the "left".

    Arguments:
        sequences: the sequences
        batch_first: whether the batch is the first axis
        padding_value: what they are padded with
        padding_side: "right" or "left"

    >>> mg.nn.utils.rnn.pad_sequence([mg.tensor([1, 2, 3]), mg.tensor([10])], batch_first=True, padding_value=-1)
    tensor([[ 1,  2,  3],
            [10, -1, -1]])
    """
    if padding_side not in ("right", "left"):
        raise ArgumentError(f'pad_sequence: a padding_side is "right" or "left", got {padding_side!r}')
    parts = list(sequences)
    if not parts:
        raise ArgumentError("pad_sequence: takes at least one sequence, got none")
    longest = max(part.shape[0] for part in parts)
    rest = tuple(parts[0].shape[1:])
    padded: list[Tensor] = []
    for part in parts:
        if tuple(part.shape[1:]) != rest:
            raise ArgumentError(f"pad_sequence: sequences differ in more than length: {parts[0].shape} and {part.shape}")
        missing = longest - part.shape[0]
        if missing:
            padding = full((missing, *rest), padding_value, dtype=part.dtype, device=part.device)
            part = cat([part, padding] if padding_side == "right" else [padding, part])
        padded.append(part.unsqueeze(0 if batch_first else 1))
    return cat(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Iterable[int], batch_first: bool = False
) -> list[Tensor]:
    """The sequences without padding: the reverse of `pad_sequence`.

    Arguments:
        padded_sequences: the padded sequences
        lengths: how long each is
        batch_first: whether the batch is the first axis

    >>> mg.nn.utils.rnn.unpad_sequence(mg.tensor([[1, 2, 3], [10, 0, 0]]), [3, 1], batch_first=True)
    [tensor([1, 2, 3]), tensor([10])]
    """
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [one[:n] for one, n in zip(batch.unbind(0), _whole(lengths))]


def pack_sequence(sequences: Iterable[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences `[length, …]`.

    Arguments:
        sequences: the sequences
        enforce_sorted: whether it is an error that a longer one comes after a shorter one

    >>> mg.nn.utils.rnn.pack_sequence([mg.tensor([1, 2, 3]), mg.tensor([10, 20])]).data
    tensor([ 1, 10,  2, 20,  3])
    """
    parts = list(sequences)
    lengths = [part.shape[0] for part in parts]
    return pack_padded_sequence(pad_sequence(parts), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences: the reverse of `pack_sequence`.

    Arguments:
        packed_sequences: the packed sequences

    >>> packed = mg.nn.utils.rnn.pack_sequence([mg.tensor([1, 2, 3]), mg.tensor([10, 20])])
    >>> mg.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2, 3]), tensor([10, 20])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
