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
    goal: float = 0  # seconds that one call may take, where that was set
    section: str = ""  # which table of a report it is in



def elements(size: str) -> int:
    """"2p24" is 2**24, "1e6" a million."""
    if size.startswith("2p"):
        return 2 ** int(size[2:])
    digit, power = size.split("e")
    return int(digit) * 10 ** int(power)


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
    n, (low, high) = elements(size), UNARY_RANGES[op]
    text = {"copy": "a new tensor with the values of x", "pow25": "x ** 2.5"}.get(op, f"{op}(x)")
    return Case(f"{op}_{size}", "unary", f"{text}, {n} elements", {"op": op, "n": n, "low": low, "high": high}, 0, 2 * F32 * n)


def _binary(op: str, size: str) -> Case:
    n, sign = elements(size), {"add": "+", "mul": "*"}[op]
    return Case(f"{op}_{size}", "binary", f"a {sign} b, {n} elements", {"op": op, "n": n}, 0, 3 * F32 * n)


def _sum(size: str) -> Case:
    n = elements(size)
    return Case(f"sum_{size}", "sum", f"x.sum(), {n} elements", {"n": n}, 0, F32 * n)


def _chain(size: str) -> Case:
    n = elements(size)
    work = f"((a*b+a).relu()**2).sum() with both gradients, {n} elements"
    return Case(f"chain_{size}", "chain", work, {"n": n}, 0, 4 * F32 * n)


def _chain_forward(size: str) -> Case:
    n = elements(size)
    return Case(f"chain_fwd_{size}", "chain_forward", f"((a*b+a).relu()**2).sum(), {n} elements", {"n": n}, 0, 2 * F32 * n)


def _matmul(n: int, precision: str = "") -> Case:
    if not precision:
        return Case(f"matmul_{n}", "matmul", f"a @ b, {n} by {n}", {"n": n}, 2 * n**3)
    work = f"a @ b, {n} by {n}, {precision}"
    return Case(f"matmul_{precision}_{n}", "matmul", work, {"n": n, "precision": precision}, 2 * n**3)


def _row(op: str, backward: bool, shape: tuple[int, int] = (ROWS, COLUMNS), keep: bool = False, suffix: str = "") -> Case:
    rows, columns = shape
    what = {
        "softmax": "softmax over the last axis",
        "layernorm": "layer_norm over the last axis with gamma and beta, eps 1e-5",
        "gelu": "gelu (exact, by erf)",
    }[op]
    if backward:
        what += ", forward and backward of a given gradient: " + ("dx, dgamma, dbeta" if op == "layernorm" else "dx")
        what += " and y" if keep else ""
    arrays = 2 + backward + keep
    parameters = {"op": op, "backward": backward, "shape": shape, **({"keep": True} if keep else {})}
    name = f"{op}_{'fby' if keep else 'fb' if backward else 'fwd'}{suffix}"
    return Case(name, "row", f"{what}, {rows} by {columns}", parameters, 0, arrays * F32 * rows * columns)


def _sum_axis(axis: int, shape: tuple[int, int] = (TALL, WIDE), suffix: str = "") -> Case:
    rows, columns = shape
    work = f"x.sum({axis}), {rows} by {columns}"
    return Case(f"sum_axis{axis}{suffix}", "sum_axis", work, {"axis": axis, "shape": shape}, 0, F32 * rows * columns)


def _transpose_copy(shape: tuple[int, int] = (TALL, WIDE), suffix: str = "") -> Case:
    rows, columns = shape
    work = f"x.T as a contiguous tensor, {rows} by {columns}"
    return Case(f"transpose_copy{suffix}", "transpose_copy", work, {"shape": shape}, 0, 2 * F32 * rows * columns)


def mlp_flops(batch: int) -> int:
    """Forward, weight gradients and input gradients of every layer; the first layer's input gradient is not needed."""
    layers = list(zip(WIDTHS, WIDTHS[1:]))
    return 2 * batch * (3 * sum(i * o for i, o in layers) - WIDTHS[0] * WIDTHS[1])


def _mlp(optimizer: str, batch: int, precision: str = "") -> Case:
    shape = "-".join(map(str, WIDTHS))
    rule = {"sgd": "SGD lr 0.01", "adam": "Adam lr 0.001"}[optimizer]
    work = f"one training step of an MLP {shape}, ReLU, cross entropy, {rule}, batch {batch}; the loss is computed too"
    parameters = {"optimizer": optimizer, "batch": batch}
    if not precision:
        return Case(f"mlp_{optimizer}_{batch}", "mlp", work, parameters, mlp_flops(batch))
    parameters["precision"] = precision
    return Case(f"mlp_{optimizer}_{precision}_{batch}", "mlp", f"{work}; products in {precision}", parameters, mlp_flops(batch))


SMALL = [
    Case("small_add_16", "binary", "a + b, 16 elements", {"op": "add", "n": 16}),
    Case("small_chain_16", "small_chain", "(a*b).relu().sum() with both gradients, 16 elements", {"n": 16}),
]

CASES = {
    case.name: case
    for case in [
        *(_unary("copy", size) for size in ("2e6", "2p24")),
        *(_binary("add", size) for size in ("2e6", "2p24")),
        _binary("mul", "2e6"),
        *(_unary(op, "2e6") for op in ("relu", "exp", "tanh", "pow25", "log", "sigmoid")),
        *(_sum(size) for size in ("2e6", "2p24")),
        *(_chain(size) for size in ("1e4", "1e6", "2p24")),
        *SMALL,
        *(_matmul(n) for n in (64, 128, 256, 512, 1024, 2048)),
        *(_row(op, backward) for op in ("softmax", "layernorm", "gelu") for backward in (False, True)),
        *(_mlp(optimizer, batch) for optimizer in ("sgd", "adam") for batch in (32, 128, 1024)),
        *(_sum_axis(axis) for axis in (0, 1)),
        _transpose_copy(),
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

# Sizes of the curves: speed against size.
CURVE = ("1e3", "1e4", "1e5", "1e6", "1e7", "2p26", "2p28")
LARGE = (16384, 4096)  # 2**26 elements


def _gpu_cases() -> dict[str, Case]:
    """The cases of a GPU. Their goals are those that were set before anything was measured."""
    large = [_unary("copy", "2p29"), _binary("add", "2p28"), _binary("mul", "2p28"), *(_unary(op, "2p28") for op in ("relu", "exp", "pow25"))]
    memory = [
        *large,
        _sum("2p28"),
        _binary("add", "1e6"),
        _chain_forward("2p27"),
        *(_chain(size) for size in ("1e6", "2p24", "2p27")),
        *(
            _row(op, backward, LARGE, keep, "_2p26")
            for op in ("softmax", "layernorm", "gelu")
            for backward, keep in ((False, False), (True, False), (True, True))
        ),
        *(_sum_axis(axis, LARGE, "_2p26") for axis in (0, 1)),
        _transpose_copy(LARGE, "_2p26"),
    ]
    precisions, products = ("f32", "tf32", "bf16", "f16"), (512, 1024, 2048, 4096, 8192)
    arithmetic = [_matmul(n, precision) for precision in precisions for n in products]
    steps = [
        _mlp(optimizer, batch, precision)
        for optimizer in ("sgd", "adam")
        for precision in ("f32", "tf32")
        for batch in (128, 1024, 8192)
    ]
    sizes = [*(_binary("add", size) for size in CURVE), *(_chain(size) for size in CURVE)]
    sections = {"memory": memory, "small": SMALL, "steps": steps, "arithmetic": arithmetic, "sizes": sizes}
    found: dict[str, Case] = {}
    for section, cases in sections.items():
        for case in cases:
            found.setdefault(case.name, case._replace(section=section, goal=_goal(case)))
    return found


# Microseconds, or terabytes a second of the bytes that have to move.
GOAL_MICROSECONDS = {
    "add_1e6": 5,
    "chain_fwd_2p27": 242,
    "chain_1e6": 20,
    "chain_2p24": 72,
    "chain_2p27": 515,
    "softmax_fwd_2p26": 135,
    "softmax_fb_2p26": 205,
    "softmax_fby_2p26": 270,
    "layernorm_fwd_2p26": 135,
    "layernorm_fb_2p26": 225,
    "layernorm_fby_2p26": 290,
    "gelu_fwd_2p26": 130,
    "gelu_fb_2p26": 200,
    "gelu_fby_2p26": 265,
    "sum_axis0_2p26": 66,
    "sum_axis1_2p26": 66,
    "transpose_copy_2p26": 135,
    "mlp_sgd_f32_128": 50,
    "mlp_sgd_f32_1024": 120,
    "mlp_sgd_f32_8192": 500,
    "mlp_sgd_tf32_128": 40,
    "mlp_sgd_tf32_1024": 60,
    "mlp_sgd_tf32_8192": 165,
    "mlp_adam_f32_128": 60,
    "mlp_adam_tf32_128": 50,
    "small_add_16": 4,
    "small_chain_16": 12,
}
GOAL_TERABYTES = {"add_2p28": 4.35, "mul_2p28": 4.35, "relu_2p28": 4.3, "exp_2p28": 4.3, "pow25_2p28": 3.9, "sum_2p28": 4.4}


def _goal(case: Case) -> float:
    """Seconds, or 0."""
    if case.name in GOAL_TERABYTES:
        return case.bytes / (GOAL_TERABYTES[case.name] * 1e12)
    return GOAL_MICROSECONDS.get(case.name, 0) * 1e-6


GPU_CASES = _gpu_cases()
CURVES = {kind: [f"{kind}_{size}" for size in CURVE] for kind in ("add", "chain")}
