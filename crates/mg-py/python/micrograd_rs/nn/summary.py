"""What a model consists of and costs, as a table.

>>> from micrograd_rs import nn
>>> net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
>>> table = nn.summary(net, (32, 784))
>>> table.total_params, table.rows[1].output_shape
(101770, (32, 128))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._micrograd_rs import Device, Tensor, dtype, explain, randn, realize
from ..autograd import no_grad
from ._hooks import RemovableHandle
from .module import Module
from .parameter import is_lazy

__all__ = ["Row", "Summary", "summary"]


class Row(NamedTuple):
    """A module of the model, with all inside it."""

    name: str
    kind: str
    depth: int
    input_shape: Any
    output_shape: Any
    params: int
    trainable: int
    flops: int
    bytes: int


class Summary:
    """A table of a model's modules. `print` shows it; `rows` has its lines, the model itself first."""

    def __init__(self, rows: list[Row], total: int, trainable: int, state: int) -> None:
        self.rows = rows
        self.total_params = total
        self.trainable_params = trainable
        self.param_bytes = state
        self.flops = rows[0].flops if rows else 0
        self.output_bytes = rows[0].bytes if rows else 0

    def __str__(self) -> str:
        head = ("module", "input", "output", "parameters", "FLOPs", "bytes")
        lines: list[tuple[str, ...]] = [head]
        for row in self.rows:
            label = f"{'  ' * row.depth}{row.name}: {row.kind}" if row.name else row.kind
            sizes = (_count(row.params) if row.params else "–", _scaled(row.flops), _scaled(row.bytes))
            lines.append((label, _shown(row.input_shape), _shown(row.output_shape), *sizes))
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]

        def laid(line: tuple[str, ...]) -> str:
            cells = [text.ljust(w) if i < 3 else text.rjust(w) for i, (text, w) in enumerate(zip(line, widths))]
            return "  ".join(cells).rstrip()

        rule = "─" * (sum(widths) + 2 * (len(widths) - 1))
        fixed = self.total_params - self.trainable_params
        end = [
            f"parameters: {_count(self.total_params)}, of which trained: {_count(self.trainable_params)}, fixed: {_count(fixed)}",
            f"their bytes: {_scaled(self.param_bytes)}, bytes read and written: {_scaled(self.output_bytes)}, FLOPs: {_scaled(self.flops)}",
        ]
        return "\n".join([laid(head), rule, *map(laid, lines[1:]), rule, *end])

    __repr__ = __str__


def _count(n: int) -> str:
    return f"{n:,}"


def _scaled(n: int) -> str:
    """A number with three digits and a prefix."""
    size = float(n)
    for prefix in ("", "k", "M", "G", "T", "P"):
        if size < 1000 or prefix == "P":
            return f"{int(size)}" if prefix == "" else f"{size:.3g} {prefix}"
        size /= 1000
    return str(n)


def _shown(shape: Any) -> str:
    if shape is None:
        return "–"
    parts: Any = shape
    if type(shape) is list:
        return ", ".join(_shown(part) for part in parts)
    return "[" + ", ".join(map(str, shape)) + "]"


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, str):
        return []
    if hasattr(value, "values") and hasattr(value, "keys"):
        value = list(value.values())
    parts: list[Any] = list(value) if hasattr(value, "__iter__") else []
    return [t for part in parts for t in _tensors(part)]


def _shapes(value: Any) -> Any:
    found = [tuple(t.shape) for t in _tensors(value)]
    return None if not found else found[0] if len(found) == 1 else found


class _Meter:
    """Adds up what is computed: what waits is explained, and then done."""

    def __init__(self) -> None:
        self.flops = 0
        self.bytes = 0

    def read(self, value: Any) -> tuple[int, int]:
        tensors = _tensors(value)
        if tensors:
            for launch in explain(*tensors).launches:
                each = 1
                for n in launch["shape"]:
                    each *= n
                words = [word for word in launch["operations"] if word != "copy" and not word.startswith("to_")]
                self.flops += each * len(words) if launch["flops"] is None else launch["flops"]
                self.bytes += launch["bytes_read"] + launch["bytes_written"]
            realize(tensors)
        return self.flops, self.bytes


def summary(
    model: Module,
    *inputs: Any,
    input_size: Any = None,
    device: Device | str | None = None,
    dtype: dtype | str | None = None,
    depth: int | None = None,
    **kwargs: Any,
) -> Summary:
    """Calls a model, in the mode for use, and tells of each module inside it: the shapes that it takes and gives,
    parameters, floating-point operations and the bytes that it reads and writes, with those of the modules inside
    it. An input is a tensor or a shape, which is filled with random numbers; `depth` is how deep modules are told
    of. A module that is called several times has what all calls cost.

    Arguments:
        model: the model
        inputs: tensors, or shapes
        input_size: a shape, by name
        device: where inputs are made
        dtype: of what dtype they are
        depth: how deep modules are told of; all, if it is not given
        kwargs: what the model is called with besides

    >>> found = mg.nn.summary(mg.nn.Sequential(mg.nn.Linear(3, 8), mg.nn.ReLU()), (5, 3))
    >>> found.total_params, found.flops
    (32, 280)
    """
    sizes = [input_size] if input_size is not None else []
    given = [*inputs, *sizes]
    args = [randn(*arg, device=device, dtype=dtype) if _is_shape(arg) else arg for arg in given]
    meter = _Meter()
    places = {id(module): place for place, module in model.named_modules()}
    names: dict[int, tuple[str, int]] = {}
    calls: dict[int, tuple[Module, Any, Any, int, int]] = {}
    # The modules that are being called, and what was counted when they began.
    begun: list[tuple[Module, int, int]] = []

    def before(module: Module, args: Any, kwargs: Any) -> None:
        counted = meter.read((args, kwargs))
        place = places[id(module)]
        if begun and id(module) not in names:
            # Its name where it is called from.
            place = place.removeprefix(places[id(begun[-1][0])] + ".")
        names.setdefault(id(module), (place, len(begun)))
        begun.append((module, *counted))
        # In the order in which they are begun.
        calls.setdefault(id(module), (module, _shapes((args, kwargs)), None, 0, 0))

    def after(module: Module, args: Any, kwargs: Any, output: Any) -> None:
        flops, moved = meter.read(output)
        _, flops0, moved0 = begun.pop()
        _, shape, _, f, b = calls[id(module)]
        calls[id(module)] = module, shape, _shapes(output), f + flops - flops0, b + moved - moved0

    modes = [(module, module.training) for module in model.modules()]
    handles: list[RemovableHandle] = []
    for module in model.modules():
        handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        handles.append(module.register_forward_hook(after, with_kwargs=True))
    try:
        model.eval()
        with no_grad():
            _called(model, args, kwargs)
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes:
            object.__setattr__(module, "training", mode)
    rows: list[Row] = []
    for module, taken, made, flops, moved in calls.values():
        name, level = names[id(module)]
        if depth is not None and level > depth:
            continue
        own = [p for p in module.parameters() if not is_lazy(p)]
        params = sum(p.numel() for p in own)
        trained = sum(p.numel() for p in own if p.requires_grad)
        kind = type(module).__name__
        rows.append(Row(name, kind, level, taken, made, params, trained, flops, moved))
    every = [p for p in model.parameters() if not is_lazy(p)]
    state = sum(t.numel() * t.element_size() for t in (*every, *model.buffers()))
    total = sum(p.numel() for p in every)
    return Summary(rows, total, sum(p.numel() for p in every if p.requires_grad), state)


def _called(model: Module, args: list[Any], kwargs: dict[str, Any]) -> None:
    try:
        model(*args, **kwargs)
    except TypeError as error:
        if args or kwargs:
            raise
        raise TypeError(f"nn.summary: calls the model and was given no input: nn.summary(model, (32, 784)) takes shapes or tensors ({error})") from error


def _is_shape(arg: Any) -> bool:
    return type(arg) in (tuple, list) and all(type(n) is int for n in arg)
