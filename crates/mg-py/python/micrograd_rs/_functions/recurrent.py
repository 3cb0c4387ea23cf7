"""Recurrent networks, over one tensor or over packed sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _micrograd_rs as _rs
from .. import _ops
from .._micrograd_rs import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _packed(
    mode: str,
    data: Tensor,
    batch_sizes: object,
    hx: Tensor | Sequence[Tensor],
    params: Sequence[Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> Any:
    """A recurrent network over packed sequences, as `nn.utils.rnn.pack_padded_sequence` makes them."""
    if not isinstance(batch_sizes, Tensor) or batch_sizes.dtype != _rs.int64 or batch_sizes.dim() != 1:
        raise TypeError(f"{mode.lower()}: takes batch_sizes as a tensor of int64 in one axis, got {batch_sizes!r}")
    states = [hx] if isinstance(hx, Tensor) else list(hx)
    rest = has_biases, num_layers, dropout, train, bidirectional
    return tuple(_ops.packed_rnn(data, batch_sizes.tolist(), mode, states, params, *rest))


def _recurrent(mode: str, even: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """A recurrent network as PyTorch calls it: over one tensor, or over packed sequences, where the second argument says how many there are at
    each step. States are floats, and those of `lstm` a list.
    """
    sizes = args[1] if len(args) > 1 else None
    is_packed = isinstance(sizes, Tensor) and (mode == "LSTM" or not sizes.is_floating_point())
    if is_packed or "batch_sizes" in named or "data" in named:
        return _packed(mode, *args, **named)
    return even(*args, **named)


def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An Elman network of tanh. A call is `rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `rnn_tanh(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[size, features]` and `[size, size]` and, with `has_biases`, two biases `[size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.RNN(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.rnn_tanh(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("RNN_TANH", _rs.rnn_tanh, args, kwargs)
    return answer


def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """An Elman network of `max(x, 0)`. A call is `rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `rnn_relu(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[size, features]` and `[size, size]` and, with `has_biases`, two biases `[size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.RNN(3, 2, nonlinearity="relu"), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.rnn_relu(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("RNN_RELU", _rs.rnn_relu, args, kwargs)
    return answer


def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Gated recurrent units (Cho et al., 2014). A call is `gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over
    packed sequences `gru(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[3 size, features]` and `[3 size, size]` and, with `has_biases`, two biases `[3 size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.GRU(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.gru(x, h, list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor] = _recurrent("GRU", _rs.gru, args, kwargs)
    return answer


def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); `hx` is a list of two states. A call is
    `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or over packed sequences `lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`, where rows `data` are as
    `nn.utils.rnn.pack_padded_sequence` lays them, and answers with rows.

    Arguments:
        input: the sequences, `[steps, batch, features]` (or `[batch, steps, features]` with `batch_first`)
        data, batch_sizes: of packed sequences the rows, `[rows, features]`, and how many sequences there are at each step, int64
        hx: the states at the beginning, `[h, c]`, a list of two, each `[layers · directions, batch, size]`
        params: a list: of each layer and each direction the weights `[4 size, features]` and `[4 size, size]` and, with `has_biases`, two biases `[4 size]`
        has_biases: whether `params` has biases
        num_layers: how many layers there are
        dropout: the probability with which the input of a layer after the first is left out, while `train`
        train: whether anything is left out
        bidirectional: whether each layer goes backwards, too: then there are two directions, else one
        batch_first: whether the batch is the first axis of `input` and of the outputs, and not the second

    Errors: ValueError for shapes that do not fit, for no steps, and for tensors on different devices; TypeError for different dtypes, and for
    `batch_sizes` that are not int64 in one axis.

    >>> layer, x, h = mg.nn.LSTM(3, 2), mg.ones(4, 1, 3), mg.zeros(1, 1, 2)
    >>> answer = mg.lstm(x, [h, h], list(layer.parameters()), True, 1, 0.0, False, False, False)
    >>> [part.shape for part in answer]
    [(4, 1, 2), (1, 1, 2), (1, 1, 2)]
    """
    answer: tuple[Tensor, Tensor, Tensor] = _recurrent("LSTM", _rs.lstm, args, kwargs)
    return answer
