"""Recurrent layers and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import _micrograd_rs as _rs
from .. import _ops as _f
from .._micrograd_rs import Device, Tensor, dtype, empty, zeros
from ._sizes import check_sizes
from .init import uniform_
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

#: Who asks for more is mistaken, and would wait for long.
_MOST_LAYERS = 1 << 16
_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


class RNNBase(Module):
    """What recurrent layers share: weights `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, …, with
    `_reverse` behind those of the other direction, and the walk over layers, directions and packed sequences.

    Arguments:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"
        input_size: how many features an input has
        hidden_size: how many a state has
        num_layers: how many layers there are, each on the one before
        bias: whether something is added
        batch_first: whether the batch is the first axis
        dropout: the probability with which the inputs of layers after the first are left out in training
        bidirectional: whether each layer goes backwards too
        proj_size: of an LSTM, the size to which its state is projected

    >>> sorted(name for name, _ in mg.nn.RNN(3, 5).named_parameters())
    ['bias_hh_l0', 'bias_ih_l0', 'weight_hh_l0', 'weight_ih_l0']
    """

    _gates: ClassVar[dict[str, int]] = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if mode not in self._gates:
            raise ValueError(f"a mode is one of {', '.join(self._gates)}, got {mode!r}")
        check_sizes(self, input_size=input_size, hidden_size=hidden_size, num_layers=num_layers, proj_size=proj_size)
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(f"{type(self).__name__}: takes hidden_size and num_layers above 0, got {hidden_size} and {num_layers}")
        if not 0 <= dropout <= 1:
            raise ValueError(f"takes a dropout in [0, 1], got {dropout}")
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError(f"takes a proj_size of at least 0 and below hidden_size, got {proj_size}")
        if proj_size and mode != "LSTM":
            raise ValueError("proj_size is for LSTM only")
        self.mode = mode
        if num_layers > _MOST_LAYERS:
            raise ValueError(f"takes {_MOST_LAYERS} layers at most, got {num_layers}")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        outward, gates = proj_size or hidden_size, self._gates[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            features = input_size if layer == 0 else outward * (1 + bidirectional)
            shapes = [(gates, features), (gates, outward), (gates,), (gates,), (outward, hidden_size)]
            for suffix in ("", "_reverse") if bidirectional else ("",):
                names: list[str] = []
                for part, shape in zip(_PARTS, shapes):
                    if (part.startswith("bias") and not bias) or (part == "weight_hr" and not proj_size):
                        continue
                    names.append(f"{part}_l{layer}{suffix}")
                    self.register_parameter(names[-1], Parameter(empty(shape, device=device, dtype=dtype)))
                self._all_weights.append(names)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all weights uniformly from ±1/√`hidden_size`."""
        bound = self.hidden_size**-0.5
        for weight in self.parameters():
            uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: weights are read where they lie."""

    def _run(self, input: Any, hx: tuple[Tensor, ...] | None) -> tuple[Any, tuple[Tensor, ...]]:
        """The outputs and the states at the end."""
        weights = [weight for names in self.all_weights for weight in names]
        rest = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        sizes = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        count = self.num_layers * (1 + self.bidirectional)
        if isinstance(input, PackedSequence):
            counts: list[int] = input.batch_sizes.tolist()
            states = self._states(hx, [(count, counts[0], size) for size in sizes], input.data)
            if hx is not None and input.sorted_indices is not None:
                states = [state.index_select(1, input.sorted_indices) for state in states]
            rows, *ends = _f.packed_rnn(input.data, counts, self.mode, states, weights, *rest)
            if input.unsorted_indices is not None:
                ends = [end.index_select(1, input.unsorted_indices) for end in ends]
            packed = PackedSequence(rows, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return packed, tuple(ends)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__} takes 2 or 3 axes, got shape {tuple(input.shape)}")
        alone = input.dim() == 2
        batch_axis = 0 if self.batch_first else 1
        if alone:
            input = input.unsqueeze(batch_axis)
        if input.shape[-1] != self.input_size:
            raise ValueError(f"{self._get_name().lower()}: takes […, {self.input_size}], got {list(input.shape)}")
        shapes = [(count, input.shape[batch_axis], size) for size in sizes]
        if hx is not None and alone:
            hx = tuple(state.unsqueeze(1) if state.dim() == 2 else state for state in hx)
        states = self._states(hx, shapes, input)
        first = states if self.mode == "LSTM" else states[0]
        call: Callable[..., Any] = getattr(_rs, self.mode.lower())
        output, *ends = call(input, first, weights, *rest, self.batch_first)
        if alone:
            output, ends = output.squeeze(batch_axis), [end.squeeze(1) for end in ends]
        return output, tuple(ends)

    def _states(self, hx: tuple[Tensor, ...] | None, shapes: Sequence[tuple[int, ...]], like: Tensor) -> list[Tensor]:
        if hx is None:
            return [zeros(shape, dtype=like.dtype, device=like.device) for shape in shapes]
        for state, shape in zip(hx, shapes):
            if tuple(state.shape) != shape:
                raise ValueError(f"takes a state {list(shape)}, got {list(state.shape)}")
        return list(hx)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if not self.bias:
            text += f", bias={self.bias}"
        if self.batch_first:
            text += f", batch_first={self.batch_first}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        if self.bidirectional:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    """An Elman network, `h = tanh(W x + b + U h + c)` or with relu, over `[steps, batch, input_size]` (`[batch,
    steps, input_size]` with `batch_first`), one sequence without its axis, or packed ones. Answers with the last
    layer's outputs at all steps and all layers' states `[num_layers · directions, batch, hidden_size]` at the
    end.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> output, h = nn.RNN(3, 5, num_layers=2)(mg.randn(7, 4, 3))
    >>> output.shape, h.shape
    ((7, 4, 5), (2, 4, 5))

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        num_layers: how many layers there are, each on the one before
        nonlinearity: "tanh" or "relu"
        bias: whether something is added
        batch_first: whether the batch is the first axis
        dropout: the probability with which the inputs of layers after the first are left out in training
        bidirectional: whether each layer goes backwards too
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'a nonlinearity is "tanh" or "relu", got {nonlinearity!r}')
        self.nonlinearity = nonlinearity
        mode = f"RNN_{nonlinearity.upper()}"
        sizes = input_size, hidden_size, num_layers
        super().__init__(mode, *sizes, bias, batch_first, dropout, bidirectional, 0, device, dtype)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """The last layer's states at all steps, `[steps, batch, directions · hidden_size]`, and all layers' at the end, `[num_layers · directions,
        batch, hidden_size]`. With `batch_first` the batch is the first axis of the input and of the first answer, and the second one of states all the same.

        Arguments:
            input: `[steps, batch, input_size]`, `[steps, input_size]` for a single sequence, or a `PackedSequence`, for which the first answer is one
            hx: the states at the beginning, `[num_layers · directions, batch, hidden_size]`, without the batch for a single sequence; zeros, if it is None

        Errors: ValueError for another number of axes or features, and for states of another shape.

        >>> rnn = mg.nn.RNN(3, 5, batch_first=True)
        >>> output, h = rnn(mg.randn(4, 7, 3))
        >>> output, h = rnn(mg.randn(4, 2, 3), h)
        >>> output.shape, h.shape
        ((4, 2, 5), (1, 4, 5))
        """
        output, states = self._run(input, None if hx is None else (hx,))
        return output, states[0]


class GRU(RNNBase):
    """Gated recurrent units (Cho et al., 2014), as `RNN`.

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        num_layers: how many layers there are, each on the one before
        bias: whether something is added
        batch_first: whether the batch is the first axis
        dropout: the probability with which the inputs of layers after the first are left out in training
        bidirectional: whether each layer goes backwards too

    >>> output, h = mg.nn.GRU(3, 5, num_layers=2, bidirectional=True)(mg.randn(7, 4, 3))
    >>> output.shape, h.shape
    ((7, 4, 10), (4, 4, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        sizes = input_size, hidden_size, num_layers
        super().__init__("GRU", *sizes, bias, batch_first, dropout, bidirectional, 0, device, dtype)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """The last layer's states at all steps, `[steps, batch, directions · hidden_size]`, and all layers' at the end, `[num_layers · directions,
        batch, hidden_size]`. With `batch_first` the batch is the first axis of the input and of the first answer, and the second one of states all the same.

        Arguments:
            input: `[steps, batch, input_size]`, `[steps, input_size]` for a single sequence, or a `PackedSequence`, for which the first answer is one
            hx: the states at the beginning, `[num_layers · directions, batch, hidden_size]`, without the batch for a single sequence; zeros, if it is None

        Errors: ValueError for another number of axes or features, and for states of another shape.

        >>> gru = mg.nn.GRU(3, 5, batch_first=True)
        >>> output, h = gru(mg.randn(4, 7, 3))
        >>> output, h = gru(mg.randn(4, 2, 3), h)
        >>> output.shape, h.shape
        ((4, 2, 5), (1, 4, 5))
        """
        output, states = self._run(input, None if hx is None else (hx,))
        return output, states[0]


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), as `RNN`, with two states, `(h, c)`. With
    `proj_size` the hidden state is projected to that size (Sak et al., 2014).

    >>> import micrograd_rs as mg
    >>> output, (h, c) = mg.nn.LSTM(3, 5, num_layers=2, batch_first=True)(mg.randn(4, 7, 3))
    >>> output.shape, h.shape, c.shape
    ((4, 7, 5), (2, 4, 5), (2, 4, 5))

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        num_layers: how many layers there are, each on the one before
        bias: whether something is added
        batch_first: whether the batch is the first axis
        dropout: the probability with which the inputs of layers after the first are left out in training
        bidirectional: whether each layer goes backwards too
        proj_size: the size to which the hidden state is projected, if it is not 0
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        sizes = input_size, hidden_size, num_layers
        super().__init__("LSTM", *sizes, bias, batch_first, dropout, bidirectional, proj_size, device, dtype)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        """The last layer's hidden states at all steps, `[steps, batch, directions · hidden_size]`, and `(h, c)`, all layers' at the end,
        `[num_layers · directions, batch, hidden_size]` each. With `batch_first` the batch is the first axis of the input and of the first answer, and the
        second one of states all the same. With `proj_size`, that is the last size of hidden states, and `c` keeps `hidden_size`.

        Arguments:
            input: `[steps, batch, input_size]`, `[steps, input_size]` for a single sequence, or a `PackedSequence`, for which the first answer is one
            hx: the states `(h, c)` at the beginning, shaped as those at the end, without the batch for a single sequence; zeros, if it is None

        Errors: ValueError for another number of axes or features, and for states of another shape.

        >>> lstm = mg.nn.LSTM(3, 5, batch_first=True)
        >>> output, (h, c) = lstm(mg.randn(4, 7, 3))
        >>> output, (h, c) = lstm(mg.randn(4, 2, 3), (h, c))
        >>> output.shape, h.shape, c.shape
        ((4, 2, 5), (1, 4, 5), (1, 4, 5))
        """
        output, (h, c) = self._run(input, None if hx is None else tuple(hx))
        return output, (h, c)


class RNNCellBase(Module):
    """What cells share: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`.

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        bias: whether something is added
        num_chunks: how many parts the weights have

    >>> [tuple(p.shape) for p in mg.nn.LSTMCell(3, 5).parameters()]
    [(20, 3), (20, 5), (20,), (20,)]
    """

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        check_sizes(self, input_size=input_size, hidden_size=hidden_size)
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size

        def made(*shape: int) -> Any:
            return Parameter(empty(shape, device=device, dtype=dtype))

        self.weight_ih = made(gates, input_size)
        self.weight_hh = made(gates, hidden_size)
        self.register_parameter("bias_ih", made(gates) if bias else None)
        self.register_parameter("bias_hh", made(gates) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all weights uniformly from ±1/√`hidden_size`."""
        bound = self.hidden_size**-0.5 if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            uniform_(weight, -bound, bound)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _zeros(self, input: Tensor) -> Tensor:
        return zeros(*input.shape[:-1], self.hidden_size, dtype=input.dtype, device=input.device)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """One step of `RNN`: the next state of `[batch, input_size]` and a state `[batch, hidden_size]` (zeros where
    there is none).

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        bias: whether something is added
        nonlinearity: "tanh" or "relu"

    Errors: ValueError for another number of features, or another nonlinearity.

    >>> cell, h = mg.nn.RNNCell(3, 5), None
    >>> for x in mg.randn(7, 4, 3):
    ...     h = cell(x, h)
    >>> h.shape
    (4, 5)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'a nonlinearity is "tanh" or "relu", got {nonlinearity!r}')
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state, `[batch, hidden_size]`.

        Arguments:
            input: `[batch, input_size]`, or `[input_size]`
            hx: the state before, `[batch, hidden_size]`, or `[hidden_size]`; zeros, if it is None
        """
        step = _f.rnn_tanh_cell if self.nonlinearity == "tanh" else _f.rnn_relu_cell
        return step(input, self._zeros(input) if hx is None else hx, *self._weights())

    def extra_repr(self) -> str:
        other = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        return super().extra_repr() + other


class GRUCell(RNNCellBase):
    """One step of `GRU`, as `RNNCell`.

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        bias: whether something is added

    Errors: ValueError for another number of features.

    >>> cell, h = mg.nn.GRUCell(3, 5), None
    >>> for x in mg.randn(7, 4, 3):
    ...     h = cell(x, h)
    >>> h.shape
    (4, 5)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state, `[batch, hidden_size]`.

        Arguments:
            input: `[batch, input_size]`, or `[input_size]`
            hx: the state before, `[batch, hidden_size]`, or `[hidden_size]`; zeros, if it is None
        """
        return _f.gru_cell(input, self._zeros(input) if hx is None else hx, *self._weights())


class LSTMCell(RNNCellBase):
    """One step of `LSTM`, as `RNNCell`: the next `(h, c)`.

    Arguments:
        input_size: how many features an input has
        hidden_size: how many a state has
        bias: whether something is added

    >>> h, c = mg.nn.LSTMCell(3, 5)(mg.ones(4, 3))
    >>> h.shape, c.shape
    ((4, 5), (4, 5))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: dtype | str | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The next states `(h, c)`, `[batch, hidden_size]` each.

        Arguments:
            input: `[batch, input_size]`, or `[input_size]`
            hx: the states before, `(h, c)`, `[batch, hidden_size]` or `[hidden_size]` each; zeros, if it is None
        """
        if hx is None:
            hx = self._zeros(input), self._zeros(input)
        h, c = _f.lstm_cell(input, list(hx), *self._weights())
        return h, c
