"""What stands in the expressions: tensors that are the same in both libraries."""

from __future__ import annotations

import random


def numbers(seed: int, count: int, low: float, high: float) -> list[float]:
    rng = random.Random(seed)
    return [round(rng.uniform(low, high), 4) for _ in range(count)]


def nested(flat: list, shape: tuple[int, ...]):
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def filled(seed: int, shape: tuple[int, ...], low: float, high: float):
    count = 1
    for size in shape:
        count *= size
    return nested(numbers(seed, count, low, high), shape)


def whole(seed: int, shape: tuple[int, ...], low: int, high: int):
    count = 1
    for size in shape:
        count *= size
    rng = random.Random(seed)
    return nested([rng.randint(low, high) for _ in range(count)], shape)


# Floats, of which gradients are taken: name to data.
FLOATS = {
    "x": filled(1, (3, 4), -3, 3),
    "y": filled(2, (3, 4), -3, 3),
    "p": filled(3, (3, 4), 0.2, 4),  # positive
    "q": filled(4, (3, 4), 0.2, 4),
    "u": filled(5, (3, 4), 0.05, 0.95),  # probabilities
    "o": filled(6, (3, 4), -0.95, 0.95),  # between -1 and 1
    "v": filled(7, (4,), -3, 3),
    "w": filled(8, (4,), -3, 3),
    "c": filled(9, (3, 1), -3, 3),  # a column, to be broadcast
    "z": filled(10, (), -3, 3),  # no axes
    "h": filled(11, (2, 3, 4), -3, 3),
    "k": filled(12, (2, 3, 4), -3, 3),
    "m": filled(13, (4, 4), -2, 2),  # square
    "n": filled(14, (4, 3), -3, 3),
    "b3": filled(15, (2, 4, 3), -3, 3),  # a batch of matrices that `h` can be multiplied with
    "r4": filled(16, (2, 3, 4, 5), -3, 3),
}
# Numbers that are special; no gradients are taken of them.
PLAIN = {
    "s": [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1.0, -2.5, 1e30],
    "s2": [1.0, float("inf"), 2.0, float("nan"), 0.0, -1.0, 3.0, float("-inf")],
}
INTEGERS = {
    "i": whole(20, (3, 4), -6, 6),
    "j": whole(21, (3, 4), 1, 7),
    "i0": whole(22, (), 1, 5),
    "l": whole(23, (3,), 0, 3),  # labels of the rows of x
    "at": whole(24, (3, 4), 0, 2),  # indices into an axis of 3
    "at1": whole(25, (5,), 0, 2),
}
TRUTHS = {
    "t": [[True, False, True, True], [False, False, True, False], [True, True, False, True]],
    "f": [True, False, False, True],
}


def make(L, F, dtype: str = "float64", device: str = "cpu", grad: bool = True) -> dict:
    """The names that expressions know: `L` is the library, `F` its `nn.functional`."""
    names = {"L": L, "F": F, "inf": float("inf"), "nan": float("nan")}
    kind = getattr(L, dtype)
    for name, data in FLOATS.items():
        tensor = L.tensor(data, dtype=kind, device=device)
        names[name] = tensor.requires_grad_() if grad and kind.is_floating_point else tensor
    for name, data in PLAIN.items():
        names[name] = L.tensor(data, dtype=kind if kind.is_floating_point else L.float64, device=device)
    for name, data in INTEGERS.items():
        names[name] = L.tensor(data, dtype=L.int64, device=device)
    for name, data in TRUTHS.items():
        names[name] = L.tensor(data, dtype=L.bool, device=device)
    names["e"] = L.zeros(0, 4, dtype=kind, device=device)  # no rows
    return names


def flat(answer) -> list:
    """The tensors and numbers of an answer, in order."""
    if isinstance(answer, (list, tuple)):
        return [part for item in answer for part in flat(item)]
    if isinstance(answer, dict):
        return [part for key in sorted(answer) for part in flat(answer[key])]
    return [answer]


def weights(count: int, seed: int = 99) -> list[float]:
    """What answers are weighed with before they are differentiated: nothing that hides a mistake."""
    return numbers(seed, count, 0.5, 1.5)
