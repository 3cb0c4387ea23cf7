"""The work that is measured, once, for every framework: names, sizes, what one call does, and how much it computes and moves.

A case has a `kind`, which each framework's module implements once, and the parameters of that kind. Inputs come from
`data.uniform(seed, ...)`, with the seeds 1, 2, 3 in the order in which a case names its inputs, so that all frameworks
work on the same numbers and their results can be compared.
"""

from typing import Any, NamedTuple


class Case(NamedTuple):
    name: str
    kind: str
    work: str
    parameters: dict[str, Any] = {}
    flops: float = 0  # arithmetic of one call, where that is what bounds it
    bytes: float = 0  # bytes that one call has to read and write at least, where that is what bounds it


SIZES = {"1e4": 10**4, "1e6": 10**6, "2e6": 2 * 10**6, "2p24": 2**24}
F32 = 4
ROWS, COLUMNS = 2048, 1024  # softmax, layer_norm, gelu
TALL, WIDE = 4096, 1024  # sums over an axis, the transposed copy
WIDTHS = (784, 512, 256, 10)  # the MLP
MNIST_IMAGES = 60_000

# The range of uniform inputs for each elementwise operation: where it has values worth computing.
UNARY_RANGES = {
    "copy": (-1.0, 1.0),
    "relu": (-1.0, 1.0),
    "exp": (-4.0, 4.0),
    "tanh": (-4.0, 4.0),
    "sigmoid": (-4.0, 4.0),
    "pow25": (0.01, 4.0),
    "log": (0.01, 4.0),
}


def _unary(op: str, size: str) -> Case:
    n, (low, high) = SIZES[size], UNARY_RANGES[op]
    text = {"copy": "a new tensor with the values of x", "pow25": "x ** 2.5"}.get(op, f"{op}(x)")
    return Case(f"{op}_{size}", "unary", f"{text}, {n} elements", {"op": op, "n": n, "low": low, "high": high}, 0, 2 * F32 * n)


def _binary(op: str, size: str) -> Case:
    n, sign = SIZES[size], {"add": "+", "mul": "*"}[op]
    return Case(f"{op}_{size}", "binary", f"a {sign} b, {n} elements", {"op": op, "n": n}, 0, 3 * F32 * n)


def _sum(size: str) -> Case:
    return Case(f"sum_{size}", "sum", f"x.sum(), {SIZES[size]} elements", {"n": SIZES[size]}, 0, F32 * SIZES[size])


def _chain(size: str) -> Case:
    n = SIZES[size]
    work = f"((a*b+a).relu()**2).sum() with both gradients, {n} elements"
    return Case(f"chain_{size}", "chain", work, {"n": n}, 0, 4 * F32 * n)


def _matmul(n: int) -> Case:
    return Case(f"matmul_{n}", "matmul", f"a @ b, {n} by {n}", {"n": n}, 2 * n**3)


def _row(op: str, backward: bool) -> Case:
    elements = ROWS * COLUMNS
    what = {
        "softmax": "softmax over the last axis",
        "layernorm": "layer_norm over the last axis with gamma and beta, eps 1e-5",
        "gelu": "gelu (exact, by erf)",
    }[op]
    if backward:
        what += ", forward and backward of a given gradient: " + ("dx, dgamma, dbeta" if op == "layernorm" else "dx")
    arrays = 3 if backward else 2
    parameters = {"op": op, "backward": backward, "shape": (ROWS, COLUMNS)}
    return Case(
        f"{op}_{'fb' if backward else 'fwd'}", "row", f"{what}, {ROWS} by {COLUMNS}", parameters, 0, arrays * F32 * elements
    )


def mlp_flops(batch: int) -> int:
    """Forward, weight gradients and input gradients of every layer; the first layer's input gradient is not needed."""
    layers = list(zip(WIDTHS, WIDTHS[1:]))
    return 2 * batch * (3 * sum(i * o for i, o in layers) - WIDTHS[0] * WIDTHS[1])


def _mlp(optimizer: str, batch: int) -> Case:
    shape = "-".join(map(str, WIDTHS))
    rule = {"sgd": "SGD lr 0.01", "adam": "Adam lr 0.001"}[optimizer]
    work = f"one training step of an MLP {shape}, ReLU, cross entropy, {rule}, batch {batch}; the loss is computed too"
    parameters = {"optimizer": optimizer, "batch": batch}
    return Case(f"mlp_{optimizer}_{batch}", "mlp", work, parameters, mlp_flops(batch))


CASES = {
    case.name: case
    for case in [
        *(_unary("copy", size) for size in ("2e6", "2p24")),
        *(_binary("add", size) for size in ("2e6", "2p24")),
        _binary("mul", "2e6"),
        *(_unary(op, "2e6") for op in ("relu", "exp", "tanh", "pow25", "log", "sigmoid")),
        *(_sum(size) for size in ("2e6", "2p24")),
        *(_chain(size) for size in ("1e4", "1e6", "2p24")),
        Case("small_add_16", "binary", "a + b, 16 elements", {"op": "add", "n": 16}),
        Case("small_chain_16", "small_chain", "(a*b).relu().sum() with both gradients, 16 elements", {"n": 16}),
        *(_matmul(n) for n in (64, 128, 256, 512, 1024, 2048)),
        *(_row(op, backward) for op in ("softmax", "layernorm", "gelu") for backward in (False, True)),
        *(_mlp(optimizer, batch) for optimizer in ("sgd", "adam") for batch in (32, 128, 1024)),
        *(
            Case(f"sum_axis{axis}", "sum_axis", f"x.sum({axis}), {TALL} by {WIDE}", {"axis": axis, "shape": (TALL, WIDE)}, 0, F32 * TALL * WIDE)
            for axis in (0, 1)
        ),
        Case(
            "transpose_copy", "transpose_copy", f"x.T as a contiguous tensor, {TALL} by {WIDE}", {"shape": (TALL, WIDE)}, 0, 2 * F32 * TALL * WIDE
        ),
        Case(
            "mnist_epoch",
            "mnist_epoch",
            f"one epoch of MNIST on that MLP, Adam lr 0.001, batch 128 by a random permutation (the last has 96)",
            {"batch": 128},
            mlp_flops(MNIST_IMAGES),
        ),
    ]
}

# What Python's own users feel: the cost of a call, of a number, of data on its way in and out. All in Python, ours too.
PYTHON_CASES = {
    case.name: case
    for case in [
        Case("start", "start", "Python starts, imports the framework and ends, in a process of its own"),
        Case("add_10", "binary", "a + b, 10 elements, computed", {"op": "add", "n": 10}),
        Case("sumsq_10", "sum_of_squares", "(x*x).sum() with the gradient, 10 elements", {"n": 10}),
        Case("index", "index", "t[3], 10 elements", {"n": 10}),
        Case("from_list_1e6", "from_list", "a list of a million floats to f32", {"n": 10**6}),
        Case("from_numpy_1e6", "from_numpy", "a copy of a NumPy array of a million f32", {"n": 10**6}, 0, 2 * F32 * 10**6),
        Case("to_numpy_1e6", "to_numpy", "a NumPy array on the memory of a million f32", {"n": 10**6}),
        Case("value_add", "value_add", "v + w of two scalars that need gradients, 1000 times", {"times": 1000}),
        Case("value_chain_900", "value_chain", "v = v + 1.0 in a loop, then backward, 900 nodes", {"n": 900}),
        Case("value_chain_1e6", "value_chain", "v = v + 1.0 in a loop, then backward, a million nodes", {"n": 10**6}),
        Case(
            "moons_step",
            "moons_step",
            "a step of micrograd's demonstration: 100 points, 337 parameters, scalar by scalar",
            {"points": 100},
        ),
    ]
}
