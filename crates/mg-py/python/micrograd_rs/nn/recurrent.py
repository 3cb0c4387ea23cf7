"""Recurrent layers and their cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from .. import _micrograd_rs as _rs
from .. import _ops as _f
from .._micrograd_rs import ArgumentError, Device, Tensor, dtype, empty, zeros
from .._names import no_tensor
from ._sizes import check_sizes
from .init import uniform_
from .module import Module
from .parameter import Parameter
from .utils.rnn import PackedSequence

#: Who asks for more is mistaken, and would wait for long.
_MOST_LAYERS = 1 << 16
_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")


def _what(value: Any) -> str:
    """What an error says of what came in the place of states."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"  # pyright: ignore[reportUnknownArgumentType]
    return no_tensor(value)


def _states_of(layer: Module, given: Any, shapes: Sequence[tuple[int, ...]], of: str) -> list[Tensor]:
    """The states that a layer was given: `(h, c)` where there are two shapes, else `h`. Errors say which ones are `of` the input."""

    def takes() -> str:
        wanted = [str(list(shape)) for shape in shapes]
        states = f"the states (h, c) of shapes {' and '.join(wanted)}" if len(wanted) == 2 else f"one state h of shape {wanted[0]}"
        return f"{type(layer).__name__} takes {states} {of}"

    states: list[Any] = [given]
    if len(shapes) == 2:
        if isinstance(given, Tensor) or not hasattr(given, "__iter__"):
            raise TypeError(f"{takes()}, got {_what(given)}")
        states = list(given)
        if len(states) != 2:
            raise ArgumentError(f"{takes()}, got {len(states)} of them")
    for state in states:
        if not isinstance(state, Tensor):
            raise TypeError(f"{takes()}, got {_what(state)}")
    if any(tuple(state.shape) != shape for state, shape in zip(states, shapes)):
        raise ArgumentError(f"{takes()}, got {' and '.join(str(list(state.shape)) for state in states)}")
    return states


class RNNBase(Module):
    """What recurrent layers share: weights `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`, …, with `_reverse` behind those of the other
    direction, and the walk over layers, directions and packed sequences. It has no `forward` of its own.

    >>> sorted(name for name, _ in mg.nn.RNN(3, 5).named_parameters())
    ['bias_hh_l0', 'bias_ih_l0', 'weight_hh_l0', 'weight_ih_l0']

    Arguments:
        mode: "LSTM", "GRU", "RNN_TANH" or "RNN_RELU"
        input_size: how many features each step of a sequence has
        hidden_size: how many numbers a state has, for each layer and direction
        num_layers: how many layers there are; each takes the outputs of the one before as its sequence
        bias: whether there are `bias_ih` and `bias_hh`; without them nothing is added
        batch_first: whether inputs and outputs are `[batch, steps, …]` rather than `[steps, batch, …]`; states are not touched by it
        dropout: the probability with which, in training, each input of the layers after the first becomes 0; of no effect with one layer
        bidirectional: whether each layer has a second half that reads the sequence from its end; outputs are of twice the size then, and there are
            two states for each layer
        proj_size: of an LSTM, the size to which the hidden state is projected; 0: it is not

    Errors: ValueError for sizes that are not positive, a `dropout` outside [0, 1], and a `proj_size` that is not below `hidden_size` or not an LSTM's;
    TypeError for sizes that are no integers.
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
        """Draws all weights anew, uniformly from ±1/√`hidden_size`."""
        bound = self.hidden_size**-0.5
        for weight in self.parameters():
            uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Tensor]]:
        """The weights, in a list for each layer and direction: `weight_ih`, `weight_hh`, and `bias_ih`, `bias_hh` and `weight_hr` where there are any."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Nothing: weights are read where they lie."""

    def _run(self, input: Any, hx: Any) -> tuple[Any, tuple[Tensor, ...]]:
        """The outputs and the states at the end."""
        weights = [weight for names in self.all_weights for weight in names]
        rest = self.bias, self.num_layers, self.dropout, self.training, self.bidirectional
        sizes = [self.proj_size or self.hidden_size] + ([self.hidden_size] if self.mode == "LSTM" else [])
        count = self.num_layers * (1 + self.bidirectional)
        name = type(self).__name__
        if isinstance(input, PackedSequence):
            counts: list[int] = input.batch_sizes.tolist()
            self._check_features(input.data)
            of = f"for {counts[0]} packed sequences"
            states = self._states(hx, [(count, counts[0], size) for size in sizes], input.data, of)
            if hx is not None and input.sorted_indices is not None:
                states = [state.index_select(1, input.sorted_indices) for state in states]
            rows, *ends = _f.packed_rnn(input.data, counts, self.mode, states, weights, *rest)
            if input.unsorted_indices is not None:
                ends = [end.index_select(1, input.unsorted_indices) for end in ends]
            packed = PackedSequence(rows, input.batch_sizes, input.sorted_indices, input.unsorted_indices)
            return packed, tuple(ends)
        if not isinstance(input, Tensor):
            raise TypeError(f"{name} takes a tensor or a PackedSequence, got {no_tensor(input)}")
        if input.dim() not in (2, 3):
            raise ArgumentError(f"{name} takes 2 or 3 axes, got shape {tuple(input.shape)}")
        self._check_features(input)
        alone = input.dim() == 2
        batch_axis = 0 if self.batch_first else 1
        if alone:
            states = self._states(hx, [(count, size) for size in sizes], input, "for one sequence without a batch")
            input, states = input.unsqueeze(batch_axis), [state.unsqueeze(1) for state in states]
        else:
            n = input.shape[batch_axis]
            states = self._states(hx, [(count, n, size) for size in sizes], input, f"for a batch of {n}")
        first = states if self.mode == "LSTM" else states[0]
        call: Callable[..., Any] = getattr(_rs, self.mode.lower())
        output, *ends = call(input, first, weights, *rest, self.batch_first)
        if alone:
            output, ends = output.squeeze(batch_axis), [end.squeeze(1) for end in ends]
        return output, tuple(ends)

    def _check_features(self, input: Tensor) -> None:
        if input.shape[-1] != self.input_size:
            raise ArgumentError(f"{type(self).__name__} takes […, {self.input_size}], got {list(input.shape)}")

    def _states(self, hx: Any, shapes: Sequence[tuple[int, ...]], like: Tensor, of: str) -> list[Tensor]:
        if hx is None:
            return [zeros(shape, dtype=like.dtype, device=like.device) for shape in shapes]
        return _states_of(self, hx, shapes, of)

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


class _OfOneState(RNNBase):
    """What has one state."""

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """The outputs of the last layer and the states at the end. The outputs are its states at all steps, `[steps, batch, directions · hidden_size]`;
        the states are those of all layers, `[num_layers · directions, batch, hidden_size]`. `directions` is 2 with `bidirectional`, otherwise 1. With
        `batch_first` the input and the outputs are `[batch, steps, …]`; states have the batch in axis 1 all the same.

        Arguments:
            input: `[steps, batch, input_size]` of the weights' dtype, `[steps, input_size]` for one sequence without a batch, or a `PackedSequence`:
                then the outputs are one, too
            hx: the states at the beginning, `[num_layers · directions, batch, hidden_size]` of the input's dtype, and `[num_layers · directions,
                hidden_size]` for one sequence without a batch; None: zeros

        Errors: ArgumentError for another number of axes or features, and for states of another shape; TypeError for what is no tensor, a pair of
        states among it; DTypeError for another dtype than that of the weights.

        >>> gru = mg.nn.GRU(3, 5, batch_first=True)
        >>> output, h = gru(mg.randn(4, 7, 3))
        >>> output, h = gru(mg.randn(4, 2, 3), h)
        >>> output.shape, h.shape
        ((4, 2, 5), (1, 4, 5))
        """
        output, states = self._run(input, hx)
        return output, states[0]


class RNN(_OfOneState):
    """An Elman network: at each step `h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu in the place of tanh.

    >>> import micrograd_rs as mg
    >>> from micrograd_rs import nn
    >>> output, h = nn.RNN(3, 5, num_layers=2)(mg.randn(7, 4, 3))
    >>> output.shape, h.shape
    ((7, 4, 5), (2, 4, 5))

    Shapes: `[steps, batch, input_size]` gives outputs `[steps, batch, directions · hidden_size]` and states `[num_layers · directions, batch,
    hidden_size]`, where `directions` is 2 with `bidirectional`, otherwise 1; `forward` says what else there may be. Weights of the first layer are
    `weight_ih_l0`, `[hidden_size, input_size]`, and `weight_hh_l0`, `[hidden_size, hidden_size]`.

    Arguments:
        nonlinearity: "tanh" or "relu"

    Errors: ValueError for another `nonlinearity`, sizes that are not positive, and a `dropout` outside [0, 1].
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


class GRU(_OfOneState):
    """Gated recurrent units (Cho et al., 2014): at each step `r = σ(W_ir x + b_ir + W_hr h + b_hr)`, `z = σ(W_iz x + b_iz + W_hz h + b_hz)`,
    `n = tanh(W_in x + b_in + r (W_hn h + b_hn))`, and the next state `(1 − z) n + z h`.

    >>> output, h = mg.nn.GRU(3, 5, num_layers=2, bidirectional=True)(mg.randn(7, 4, 3))
    >>> output.shape, h.shape
    ((7, 4, 10), (4, 4, 5))

    Shapes: `[steps, batch, input_size]` gives outputs `[steps, batch, directions · hidden_size]` and states `[num_layers · directions, batch,
    hidden_size]`, where `directions` is 2 with `bidirectional`, otherwise 1; `forward` says what else there may be. Weights of the first layer are
    `weight_ih_l0`, `[3 · hidden_size, input_size]`, and `weight_hh_l0`, `[3 · hidden_size, hidden_size]`: the rows of r, z and n.

    Errors: ValueError for sizes that are not positive, and a `dropout` outside [0, 1].
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


class LSTM(RNNBase):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997), with two states, `(h, c)`: at each step `i`, `f` and `o` are `σ(W_i· x + b_i· + W_h· h
    + b_h·)` with weights of their own, `g` is that with tanh in the place of σ, the next `c` is `f c + i g` and the next `h` is `o tanh(c)`. With
    `proj_size` the next `h` is `W_hr` times that (Sak et al., 2014).

    >>> import micrograd_rs as mg
    >>> output, (h, c) = mg.nn.LSTM(3, 5, num_layers=2, batch_first=True)(mg.randn(4, 7, 3))
    >>> output.shape, h.shape, c.shape
    ((4, 7, 5), (2, 4, 5), (2, 4, 5))

    Shapes: `[steps, batch, input_size]` gives outputs `[steps, batch, directions · size]`, states `h` `[num_layers · directions, batch, size]` and
    `c` `[num_layers · directions, batch, hidden_size]`, where `directions` is 2 with `bidirectional`, otherwise 1, and `size` is `proj_size` where it
    is not 0, otherwise `hidden_size`; `forward` says what else there may be. Weights of the first layer are `weight_ih_l0`, `[4 · hidden_size,
    input_size]`, and `weight_hh_l0`, `[4 · hidden_size, size]`: the rows of i, f, g and o.
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
        """The outputs of the last layer and the states `(h, c)` at the end. The outputs are its hidden states at all steps, `[steps, batch, directions ·
        size]`; the states are those of all layers, `h` `[num_layers · directions, batch, size]` and `c` `[num_layers · directions, batch,
        hidden_size]`. `directions` is 2 with `bidirectional`, otherwise 1; `size` is `proj_size` where it is not 0, otherwise `hidden_size`. With
        `batch_first` the input and the outputs are `[batch, steps, …]`; states have the batch in axis 1 all the same.

        Arguments:
            input: `[steps, batch, input_size]` of the weights' dtype, `[steps, input_size]` for one sequence without a batch, or a `PackedSequence`:
                then the outputs are one, too
            hx: the states `(h, c)` at the beginning, in the shapes of those at the end and of the input's dtype; for one sequence without a batch
                they have no axis of it; None: zeros

        Errors: ArgumentError for another number of axes or features, and for states of another shape or number; TypeError for what is no tensor, and
        for `h` without `c`; DTypeError for another dtype than that of the weights.

        >>> lstm = mg.nn.LSTM(3, 5, batch_first=True)
        >>> output, (h, c) = lstm(mg.randn(4, 7, 3))
        >>> output, (h, c) = lstm(mg.randn(4, 2, 3), (h, c))
        >>> output.shape, h.shape, c.shape
        ((4, 2, 5), (1, 4, 5), (1, 4, 5))

        One sequence without a batch has states without one:

        >>> output, (h, c) = lstm(mg.randn(7, 3), (mg.zeros(1, 5), mg.zeros(1, 5)))
        >>> output.shape, h.shape
        ((7, 5), (1, 5))
        """
        output, (h, c) = self._run(input, hx)
        return output, (h, c)


class RNNCellBase(Module):
    """What cells share: `weight_ih`, `weight_hh`, `bias_ih`, `bias_hh`. It has no `forward` of its own.

    >>> [tuple(p.shape) for p in mg.nn.LSTMCell(3, 5).parameters()]
    [(20, 3), (20, 5), (20,), (20,)]

    Arguments:
        input_size: how many features an input has
        hidden_size: how many numbers a state has
        bias: whether there are `bias_ih` and `bias_hh`; without them nothing is added
        num_chunks: how many times `hidden_size` rows the weights have: 1 for `RNNCell`, 3 for `GRUCell`, 4 for `LSTMCell`

    Errors: ArgumentError for negative sizes, TypeError for sizes that are no integers.
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
        """Draws all weights anew, uniformly from ±1/√`hidden_size`."""
        bound = self.hidden_size**-0.5 if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            uniform_(weight, -bound, bound)

    def _weights(self) -> tuple[Any, ...]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _states(self, input: Tensor, hx: Any, count: int) -> list[Tensor]:
        """So many states, zeros where there are none."""
        if not isinstance(input, Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{type(self).__name__} takes a tensor, got {no_tensor(input)}")
        if input.dim() not in (1, 2) or input.shape[-1] != self.input_size:
            raise ArgumentError(
                f"{type(self).__name__} takes [batch, {self.input_size}], or [{self.input_size}] without a batch, got {list(input.shape)}"
            )
        shape = (*input.shape[:-1], self.hidden_size)
        if hx is None:
            return [zeros(shape, dtype=input.dtype, device=input.device) for _ in range(count)]
        return _states_of(self, hx, [shape] * count, f"for an input {list(input.shape)}")

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class _CellOfOneState(RNNCellBase):
    """A cell that has one state."""

    def _step(self, *tensors: Any) -> Tensor:
        """The next state, of an input, the state before, and the weights."""
        raise NotImplementedError

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state, `[batch, hidden_size]`, or `[hidden_size]` where the input has no batch.

        Arguments:
            input: `[batch, input_size]`, or `[input_size]`, of the weights' dtype
            hx: the state before, `[batch, hidden_size]`, or `[hidden_size]` where the input has no batch, of the input's dtype; None: zeros

        Errors: ArgumentError for another number of axes or features, and for a state of another shape; TypeError for what is no tensor; DTypeError for
        another dtype than that of the weights.

        >>> cell = mg.nn.GRUCell(3, 5)
        >>> h = cell(mg.randn(4, 3))
        >>> cell(mg.randn(4, 3), h).shape
        (4, 5)
        """
        return self._step(input, *self._states(input, hx, 1), *self._weights())


class RNNCell(_CellOfOneState):
    """One step of `RNN`: `tanh(W_ih x + b_ih + W_hh h + b_hh)`, or with relu in the place of tanh.

    >>> cell, h = mg.nn.RNNCell(3, 5), None
    >>> for x in mg.randn(7, 4, 3):
    ...     h = cell(x, h)
    >>> h.shape
    (4, 5)

    Shapes: an input `[batch, input_size]` and a state `[batch, hidden_size]` give the next state, `[batch, hidden_size]`; all three may be without
    the batch.

    Arguments:
        nonlinearity: "tanh" or "relu"

    Errors: ValueError for another `nonlinearity`, ArgumentError for negative sizes, TypeError for sizes that are no integers.
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

    def _step(self, *tensors: Any) -> Tensor:
        step = _f.rnn_tanh_cell if self.nonlinearity == "tanh" else _f.rnn_relu_cell
        return step(*tensors)

    def extra_repr(self) -> str:
        other = "" if self.nonlinearity == "tanh" else f", nonlinearity={self.nonlinearity}"
        return super().extra_repr() + other


class GRUCell(_CellOfOneState):
    """One step of `GRU`, whose formula says what becomes of an input and a state.

    >>> cell, h = mg.nn.GRUCell(3, 5), None
    >>> for x in mg.randn(7, 4, 3):
    ...     h = cell(x, h)
    >>> h.shape
    (4, 5)

    Shapes: an input `[batch, input_size]` and a state `[batch, hidden_size]` give the next state, `[batch, hidden_size]`; all three may be without
    the batch.
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

    def _step(self, *tensors: Any) -> Tensor:
        return _f.gru_cell(*tensors)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`, whose formula says what becomes of an input and the states `(h, c)`.

    >>> h, c = mg.nn.LSTMCell(3, 5)(mg.ones(4, 3))
    >>> h.shape, c.shape
    ((4, 5), (4, 5))

    Shapes: an input `[batch, input_size]` and two states `[batch, hidden_size]` give the next two, `[batch, hidden_size]` each; all may be without
    the batch.
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
        """The next states `(h, c)`, `[batch, hidden_size]` each, or `[hidden_size]` where the input has no batch.

        Arguments:
            input: `[batch, input_size]`, or `[input_size]`, of the weights' dtype
            hx: the states before, `(h, c)`, `[batch, hidden_size]` each, or `[hidden_size]` where the input has no batch, of the input's dtype; None:
                zeros

        Errors: ArgumentError for another number of axes or features, and for states of another shape or number; TypeError for what is no tensor, and
        for `h` without `c`; DTypeError for another dtype than that of the weights.

        >>> cell = mg.nn.LSTMCell(3, 5)
        >>> h, c = cell(mg.randn(4, 3))
        >>> h, c = cell(mg.randn(4, 3), (h, c))
        >>> h.shape, c.shape
        ((4, 5), (4, 5))
        """
        h, c = _f.lstm_cell(input, self._states(input, hx, 2), *self._weights())
        return h, c
