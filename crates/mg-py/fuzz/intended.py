"""Differences from the reference that are meant to be, each with its reason."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from .compare import Difference
    from .program import Program
    from .run import Raised


def outcome(line: str, wanted: Raised | None, got: Raised | None, reference: str) -> str | None:
    """Why one of the two raises and the other does not."""
    differentiates = any(word in line for word in ("backward(", "G(", "f("))
    if reference == "numpy" and wanted is None and differentiates and SAVED.search(str(got)):
        return "Our own reference carries slopes forward and saves nothing, so nothing that was saved can be overwritten."
    for reason, meets in OUTCOMES:
        if meets(line, str(wanted or ""), str(got or "")):
            return reason
    return None


def kinds(line: str, wanted: Raised, got: Raised) -> str | None:
    """Why the two raise errors of different kinds."""
    for reason, meets in KINDS:
        if meets(line, wanted.kind, got.kind, str(wanted), str(got)):
            return reason
    return None


def difference(program: Program, found: Difference, reference: str) -> str | None:
    """Why the two answer differently."""
    for reason, meets in DIFFERENCES:
        if meets(program, found, reference):
            return reason
    return None


def pairs(found: Difference) -> list[tuple[float, float]]:
    """The numbers of a tensor that differ: what there is, and what was wanted. None where it is not numbers that differ."""
    told = re.fullmatch(r"(.*) \w+\[[\d, ]*\], want (.*) \w+\[[\d, ]*\]", found.detail)
    if found.what not in ("value", "grad's value") or told is None:
        return []
    got, wanted = (flat(eval(text, {"nan": math.nan, "inf": math.inf})) for text in told.groups())
    # As `compare.TOLERANCE` has it.
    limit = 1e-1 if " bfloat16[" in found.detail else 2e-2 if " float16[" in found.detail else 1e-3
    return [(a, b) for a, b in zip(got, wanted) if not close(a, b, limit)]


def close(a: float, b: float, limit: float = 1e-3) -> bool:
    return a == b or (a != a and b != b) or (math.isfinite(b) and abs(a - b) <= limit * max(1.0, abs(b)))


def flat(value: Any) -> list[Any]:
    return [x for item in value for x in flat(item)] if isinstance(value, list) else [value]


def differentiated(program: Program) -> bool:
    return re.search(r"backward\(|G\(", str(program)) is not None


def out_of_range(text: str) -> bool:
    """Whether an error tells of an index that is out of range, and is right."""
    told = re.search(r"index (-?\d+) is out of range for axis \d+ of size (\d+)", text)
    return told is not None and not -int(told[2]) <= int(told[1]) < int(told[2])


UNWRITTEN = re.compile(
    r"(?i)not implemented|floating point|not supported (for|on)|types is not supported|only supports? |does not support|expected .*floating|dimensions of float, double|not yet|without overflow|unsupported input type"
)
UNLIKE = re.compile(r"Integral inputs not supported|expected .*(same|scalar type|dtype)|same dtype|Found dtype|must have the same")

#: How an error tells that a value saved for a gradient was written to.
SAVED = re.compile(r"saved for|overwritten|changed in place|modified by")

def _flat() -> re.Pattern[str]:
    """What has a gradient, and none in the PyTorch that is installed: its releases differ."""
    names = ["(modified|spherical)_bessel", "_polynomial_", "airy_ai"]
    try:
        import torch
    except ImportError:
        return re.compile("|".join(names))
    if not torch.special.bessel_j0(torch.ones((), requires_grad=True)).requires_grad:
        names.append(r"\bbessel_[jy][01]")
    return re.compile("|".join(names))


FLAT = _flat()


def _goes_to_one() -> bool:
    """Whether the gradient of `fmin` at equal numbers goes to one of them in the PyTorch that is installed: its releases differ."""
    try:
        import torch
    except ImportError:
        return False
    x = torch.ones((), requires_grad=True)
    torch.fmin(x, torch.ones(())).backward()
    return float(x.grad) != 0.5


GOES_TO_ONE = _goes_to_one()


def refused(told: str, after: str = "") -> Callable[[str, str, str], bool]:
    """Whether we alone refuse a line with this text, beneath a mark of `compare.told`."""
    return lambda line, wanted, got: not wanted and after in line and re.search(told, got) is not None


OUTCOMES = [
    (
        "PyTorch takes them for constants, which may become leaves, and leaves are not written to.",
        lambda line, wanted, got: "# after what PyTorch has no gradient of" in line and not got and "a leaf Variable" in wanted,
    ),
    (
        "A leaf that was made a constant is one: what has a history may be written to it.",
        lambda line, wanted, got: not got and "leaf variable has been moved into the graph interior" in wanted,
    ),
    (
        "A value that a graph has saved and that was written to through `data` is refused; PyTorch goes on with the new one in silence.",
        refused("changed in place since", "# after a write to data"),
    ),
    (
        "A tensor whose data was set to its own is the leaf that it was; PyTorch forgets whose its views are.",
        refused(r"a leaf that requires a gradient cannot be changed while gradients are recorded", "# after a write to data"),
    ),
    (
        "Images of no pixels are made in no mode of interpolation; PyTorch makes them by areas of one axis alone.",
        lambda line, wanted, got: not wanted and "interpolate(" in line and re.search(r"cannot become one of sizes \[.*\b0\b", got) is not None,
    ),
    (
        "Polynomials of millions of degrees are refused, and not waited for.",
        refused("polynomials are evaluated up to degree"),
    ),
    (
        "Whether a gradient has a history, where it is the same whatever it is the gradient at, is the engine's own.",
        refused("only leaves can be made constants", "# after create_graph"),
    ),
    (
        "Bessel's functions and orthogonal polynomials have gradients: what they answer with is no leaf, and is written to as such.",
        refused(
            "only leaves can be|a leaf that requires a gradient (is|cannot be) changed|let go|changed in place|is read-only",
            "# after what PyTorch has no gradient of",
        ),
    ),
    (
        "There is no median of no integers; PyTorch answers with the least that there is.",
        lambda line, wanted, got: not wanted and re.search(r"median: integers of shape .* have none", got) is not None,
    ),
    (
        "A bound that no number of the dtype meets is a mistake.",
        lambda line, wanted, got: not wanted and re.search(r"the bound -?\d+ is beyond every", got) is not None,
    ),
    (
        "What an operation saves for its gradient is its own business; what leads to that is let go, where PyTorch may have saved nothing.",
        refused("let go"),
    ),
    (
        "A recorded step does not read values: a mask decides a shape by its values.",
        lambda line, wanted, got: not wanted and "the host reads a value inside the step" in got,
    ),
    (
        "Which values an operation saves for its gradient is the reference's own business: it may refuse where nothing is lost.",
        lambda line, wanted, got: not got
        and ("modified by an inplace operation" in wanted or "backward through the graph a second time" in wanted),
    ),
    (
        "Parts of one operation (split, unbind) are views as any other; the reference does not let them be written to.",
        lambda line, wanted, got: "function that returns multiple views" in wanted,
    ),
    (
        "A view that was made while nothing was recorded is a view as any other.",
        lambda line, wanted, got: "view was created in no_grad mode" in wanted,
    ),
    (
        "What is written and what it is written from may be the same memory.",
        lambda line, wanted, got: "some elements of the input tensor and the written-to tensor refer" in wanted,
    ),
    (
        "What is written at indices is converted, as elsewhere.",
        lambda line, wanted, got: "Index put requires the source and destination dtypes match" in wanted,
    ),
    (
        "An index that is out of range is an error also where nothing is taken with it.",
        lambda line, wanted, got: not wanted and out_of_range(got),
    ),
    (
        "A broadcast view, whose elements share places, is not written to; the reference fills and copies into some.",
        lambda line, wanted, got: not wanted and "broadcast view" in got and "cannot be written" in got
        and re.search(r"\w_\(|\] = |= f\(", line) is not None,
    ),
    (
        "What an assignment to elements that share places leaves is not told; whether it is refused is a matter of taste.",
        lambda line, wanted, got: "its elements share places" in wanted,
    ),
    (
        "A slice may go backwards; the reference has none.",
        lambda line, wanted, got: "step must be greater than zero" in wanted,
    ),
    (
        "The reference has not written this for the dtype on the CPU.",
        lambda line, wanted, got: UNWRITTEN.search(wanted) is not None,
    ),
    (
        "Integers and truth values meet floats of loss functions and products by promotion; the reference wants equal dtypes.",
        lambda line, wanted, got: UNLIKE.search(wanted) is not None,
    ),
]

OUTCOMES += [
    (
        "A view that has become a leaf, or was given other data, is a tensor of its own; PyTorch goes on calling it a view.",
        lambda line, wanted, got: "Can't detach views in-place" in wanted and not got,
    ),
    (
        "Truth values have no product of matrices; the reference has one where nothing is multiplied.",
        lambda line, wanted, got: not wanted and re.search(r"\b\w+: does not take bool and bool|truth values have no sums of products", got) is not None,
    ),
    (
        "A leaf that requires a gradient is not overwritten while gradients are recorded, by logical operations either; PyTorch forgets "
        "to look.",
        lambda line, wanted, got: not wanted
        and re.search(r"\.logical_(and|or|xor|not)_\(", line) is not None
        and "a leaf that requires a gradient cannot be changed while gradients are recorded: wrap the change in no_grad()" in got,
    ),
    (
        "Running sums and products of truth values are integers; PyTorch has none but of a single element or none, which stay what "
        "they are in place.",
        lambda line, wanted, got: not wanted
        and re.search(r"\.cum(sum|prod)_\(", line) is not None
        and "a result of i64 cannot be written into a tensor of bool" in got,
    ),
    (
        "A number divided by a tensor is a quotient, rounded once, whose gradient reads both; the reference multiplies the "
        "reciprocal, and reads that.",
        lambda line, wanted, got: not wanted and "div needs for its gradient a value" in got,
    ),
    (
        "A gradient that is the same whatever it is the gradient at has no history, and so is nothing that a gradient can be asked "
        "for.",
        lambda line, wanted, got: not wanted
        and re.search(r"grad: input \d+ does not require a gradient", got) is not None
        and (re.search(r"G\(.*\bg\d+", line) is not None or "# after create_graph" in line),
    ),
    (
        "A gradient that is the same whatever it is the gradient at has no history, and so depends on nothing.",
        lambda line, wanted, got: not wanted
        and "does not depend on anything that requires a gradient" in got
        and re.search(r"backward\(|G\(", line) is not None
        and "# after create_graph" in line,
    ),
    (
        "A view whose memory was written to is what it was to those who differentiate, so a gradient leads to it and may need what "
        "was written over; in the reference it is a new result of the whole, and nothing leads there.",
        lambda line, wanted, got: not wanted and "G(" in line and "allow_unused" in line and SAVED.search(got) is not None,
    ),
]

OUTCOMES += [
    (
        "Truth values are the numbers 0 and 1 to functions of networks and distances; the reference subtracts, which it has not written for them.",
        lambda line, wanted, got: not got
        and re.search(r"(Subtraction|Negation), the `-` operator, (with|on) .*bool tensor", wanted) is not None
        and re.search(r"\b(F\.\w+|\w+_loss|dist|cdist|diff|G|backward)\(", line) is not None,
    ),
    (
        "An axis that is not there is a mistake, also where nothing is joined; so are channels.",
        lambda line, wanted, got: not wanted
        and re.search(r"(cat|concat\w*): axis -?\d+ is out of range|batch_norm: takes at least 2 axes", got) is not None,
    ),
    (
        "A gradient of zeros is a tensor as any other, also in place.",
        lambda line, wanted, got: not got and "ZeroTensors are immutable" in wanted,
    ),
    (
        "Losses of integers are floats.",
        lambda line, wanted, got: not got
        and re.search(r"result type \w+ can't be cast", wanted) is not None
        and re.search(r"\bF\.\w+_loss\(", line) is not None,
    ),
    (
        "Targets of losses have gradients as well.",
        lambda line, wanted, got: not got and "is not differentiable with respect to argument 'target'" in wanted,
    ),
    (
        "A power in f64 is rounded to what the tensor is of, as other results in place.",
        lambda line, wanted, got: not got and "the base given to float_power_ has dtype" in wanted,
    ),
    (
        "A negative number of repetitions is a mistake, also of nothing.",
        lambda line, wanted, got: not wanted
        and "sizes cannot be negative" in got
        and re.search(r"\b(tile|repeat)\(", line) is not None,
    ),
    (
        "What is not known yet to lie outside of [0, 1] is told of by whoever first reads the loss.",
        lambda line, wanted, got: not got and re.search("all elements of (input|target) should be between", wanted) is not None,
    ),
    (
        "What a gradient is computed by is the engine's own: it may depend on a result on the way or not, and then is None.",
        lambda line, wanted, got: not wanted
        and re.search("must be a tensor, not NoneType|'None' is not an instance of 'Tensor'", got) is not None
        and re.search(r"\bg\d+", line) is not None
        and "# after create_graph" in line,
    ),
    (
        "What was written through another view has a history, and is no leaf; PyTorch finds that out only when it is asked for it.",
        lambda line, wanted, got: not wanted
        and "only leaves can be made constants in place" in got
        and re.search(r"\] [-+*]?= [^\n]*\n[^\n]*requires_grad_\(False\)", line) is not None,
    ),
    (
        "A result that is turned in place keeps its history, turned, whether something is recorded or not; PyTorch keeps one that does not fit.",
        lambda line, wanted, got: not got and "invalid gradient" in wanted,
    ),
    (
        "Truth values are not searched, also none of them.",
        lambda line, wanted, got: not wanted and "searchsorted: takes numbers, got bool" in got,
    ),
    (
        "A zero that is not known yet to stand on the diagonal is told of by whoever first reads the inverse.",
        lambda line, wanted, got: not got and "cholesky_inverse(" in line and "is singular" in wanted,
    ),
]

KINDS = [
    (
        "A dtype that does not fit is a TypeError; the reference calls most mistakes RuntimeError.",
        lambda line, wanted, got, was, now: wanted == "value" and got == "type",
    ),
    (
        "An index that is out of range is an IndexError; so is an axis that is not there.",
        lambda line, wanted, got, was, now: wanted == "value" and got == "index",
    ),
    (
        "An argument of a wrong type that is found by its value.",
        lambda line, wanted, got, was, now: wanted == "type" and got == "value",
    ),
    (
        "The reference calls shapes that do not go together an IndexError where it was indexing.",
        lambda line, wanted, got, was, now: wanted == "index" and got in ("value", "type"),
    ),
]

KINDS += [
    (
        "A number that cannot be divided by is a wrong argument.",
        lambda line, wanted, got, was, now: wanted == "ZeroDivisionError" and got == "value",
    ),
]

#: Where the conversion of a float that does not fit ends here.
ENDS = (0, *(end for bits in (8, 16, 32, 64) for end in (2**bits - 1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)))))

DIFFERENCES = [
    (
        "An index that only computing shows to be out of range is told of by whoever first reads what depends on it, once.",
        lambda program, found, reference: found.what == "unreadable" and out_of_range(found.detail),
    ),
    (
        "What a graph has saved of a tensor may be what it was, also where an array on the tensor's memory was written to since;"
        " PyTorch reads what is there now.",
        lambda program, found, reference: ("grad" in found.what or " = G(" in str(program))
        and re.search(r"^\s*a\d+(\[.*\] =| \+=) ", str(program), re.MULTILINE) is not None
        and ".numpy()" in str(program),
    ),
    (
        "Floats that do not fit an integer become the nearest that does, and NaN 0; what PyTorch makes of them depends on the "
        "processor.",
        lambda program, found, reference: re.search(r"u?int\d+\[", found.detail) is not None
        and len(pairs(found)) > 0
        and all(got in ENDS for got, _ in pairs(found)),
    ),
    (
        "A gradient that is zero by its making (of `sign`, of what was overwritten) is zero below, however steep that is.",
        lambda program, found, reference: differentiated(program)
        and len(pairs(found)) > 0
        and all(got == 0 and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "Our own reference carries slopes forward: zero times infinity is met in another order.",
        lambda program, found, reference: reference == "numpy"
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) or math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "A view whose memory was written to while nothing was recorded is what it was to those who differentiate: its numbers "
        "changed, and nothing else (docs/state.md). In PyTorch it is a new result of the whole.",
        lambda program, found, reference: found.what == "number"
        and found.detail == "a tensor, want None"
        and re.search(r"no_grad|\.data|detach\(", str(program)) is not None,
    ),
    (
        "What a gradient is computed by is the engine's own: it may depend on a result on the way or not.",
        lambda program, found, reference: "create_graph" in str(program)
        and found.what in ("number", "type")
        and re.fullmatch("a tensor, want None|NoneType, want a tensor", found.detail) is not None,
    ),
    (
        "A gradient that is zero, or the same, whatever it is the gradient at (of what was overwritten, of no elements) has no "
        "history of its own.",
        lambda program, found, reference: "create_graph" in str(program)
        and found.what == "requires_grad"
        and found.detail.startswith("False, want True"),
    ),
    (
        "PyTorch gives up the history of a gradient without elements, where it is of a view that was written to.",
        lambda program, found, reference: "create_graph" in str(program)
        and found.what == "requires_grad"
        and found.detail.startswith("True, want False")
        and re.search(r"no_grad|\.data|detach\(", str(program)) is not None,
    ),
    (
        "What was saved of a tensor is what it was, also where `data` was replaced; PyTorch reads what it is now.",
        lambda program, found, reference: ("grad" in found.what or found.what == "value" and differentiated(program))
        and re.search(r"\.data = ", str(program)) is not None,
    ),
    (
        "Targets beyond 0 and 1 are beyond the meaning of entropies: 1 - 2 is 255 in PyTorch where they are bytes, and infinite ones "
        "give NaN.",
        lambda program, found, reference: "multilabel_soft_margin_loss(" in str(program)
        and (
            ("uint8" in str(program) and ("value" in found.what or found.what == "sharing"))
            or (len(pairs(found)) > 0 and all(math.isinf(got) and wanted != wanted for got, wanted in pairs(found)))
        ),
    ),
    (
        "There is nothing between a single point and itself, whatever it is; PyTorch takes half of it away twice.",
        lambda program, found, reference: re.search(r"\btrapz|trapezoid\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all((got == 0 or math.isinf(got)) and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "A pole is a pole: the slope of digamma at -2 is infinite, and 0 times that is no number. PyTorch's sine of -2 pi is not quite 0.",
        lambda program, found, reference: re.search(r"(di|poly|l)gamma|gammaln|\bpsi\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and abs(wanted) > 1e10 or math.isnan(got) and (wanted == 0 or math.isinf(wanted)) for got, wanted in pairs(found)),
    ),
    (
        "x log y is 0 where x is 0, whatever y is, and so is its slope by y; PyTorch divides 0 by 0 there. Where nothing flows it takes "
        "0 log y for 0, of negative y too.",
        lambda program, found, reference: re.search(r"kl_div|xlogy|xlog1py|\bentr\(", str(program)) is not None
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(got != got or wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "At both infinities the Gaussian error unit is its limit, as is its slope; PyTorch has no numbers there.",
        lambda program, found, reference: "gelu(" in str(program)
        and len(pairs(found)) > 0
        and all(got == got and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "Softmaxes and norms of integers are of floats, also of none of them.",
        lambda program, found, reference: found.what == "dtype"
        and re.fullmatch(r"float\d+, want (u?int\d+|bool)", found.detail) is not None
        and re.search(r"soft(max|min)\(|(group|layer|batch|instance)_norm\(", str(program)) is not None,
    ),
    (
        "What holds all of uint64 and a signed integer is float64, as NumPy has it; PyTorch meets them nowhere else.",
        lambda program, found, reference: found.detail == "float64, want float32" and "uint64" in str(program),
    ),
    (
        "Outside of its domain, where zeta is no number, it has no slope.",
        lambda program, found, reference: "zeta(" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) for _, wanted in pairs(found)),
    ),
    (
        "A byte's negative is negative, and its square does not begin again at 255; PyTorch's gradient of an angle does.",
        lambda program, found, reference: "uint" in str(program)
        and re.search(r"a(rc)?tan2_?\(", str(program)) is not None
        and differentiated(program)
        and "value" in found.what,
    ),
    (
        "Attention to no number is no number; PyTorch's blocks answer a row of such with zeros.",
        lambda program, found, reference: "scaled_dot_product_attention(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and wanted == 0 for got, wanted in pairs(found)),
    ),
    (
        "A gradient of zeros is there, also that of a count; PyTorch says None.",
        lambda program, found, reference: found.what in ("grad", "number")
        and found.detail.endswith("want None")
        and re.search(r"norm\(.*\b0\b|slogdet\(", str(program)) is not None,
    ),
    (
        "Infinity times 0 is met in another order: a loss by logits is infinite or no number where logits are infinite.",
        lambda program, found, reference: "with_logits(" in str(program)
        and len(pairs(found)) > 0
        and all(not math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "What was overwritten has no part in a gradient, however steep it was there; PyTorch multiplies 0 with NaN.",
        lambda program, found, reference: differentiated(program)
        and re.search(r"\] [-+*]?= |fill_\(|zero_\(|copy_\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got == got and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "Zeta of an exponent that is no number is no number, also at its pole.",
        lambda program, found, reference: "zeta(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Incomplete gamma functions of what is no number are no numbers; PyTorch looks first at whether the other one is 0 or infinite.",
        lambda program, found, reference: re.search(r"igammac?_?\(|gammaincc?\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "Between infinity and itself there is infinity; PyTorch's quantile subtracts it from itself.",
        # So it is in place of its reciprocal, which is 0.
        lambda program, found, reference: "quantile(" in str(program)
        and len(pairs(found)) > 0
        and all((math.isinf(got) or got == 0) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "A loss by what is no number is no number; PyTorch adds what is above 0, and so leaves that out.",
        lambda program, found, reference: "multi_margin_loss(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "The slope at what is no number is no number; PyTorch's comparisons take it for one beyond 3.",
        lambda program, found, reference: "hardswish(" in str(program)
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Logarithms of sums of exponentials do not overflow on the way, and half types are computed in float32: 1e-8 is not 0.",
        lambda program, found, reference: ("float16" in found.detail or "soft_margin_loss(" in str(program))
        and re.search(r"soft_margin_loss\(|cosine_similarity\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) for _, wanted in pairs(found)),
    ),
    (
        "The exponential of a matrix of half types is that of its numbers; PyTorch's comes of memory that nobody wrote.",
        lambda program, found, reference: "matrix_exp(" in str(program) and "float16" in found.detail and "value" in found.what,
    ),
    (
        "Losses of integers are of floats: a byte times a byte is not taken modulo 256.",
        lambda program, found, reference: "poisson_nll_loss(" in str(program) and "uint8" in str(program) and "value" in found.what,
    ),
    (
        "Only a triangle is read, so the other one has no slope; PyTorch's gradient reads both.",
        lambda program, found, reference: re.search(r"cholesky_(inverse|solve)\(", str(program)) is not None
        and differentiated(program)
        and "value" in found.what,
    ),
    (
        "Infinity times 0 is met in another order where equations are solved with what is infinite, or divide by 0.",
        lambda program, found, reference: re.search(r"cholesky_(inverse|solve)\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) or math.isinf(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Where no pivot is left there is no volume, whatever lies beside it; PyTorch multiplies 0 with what is no number. What is infinite "
        "is eliminated in another order.",
        lambda program, found, reference: re.search(r"\b(slog|log)?det\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(not math.isfinite(wanted) or (math.isnan(got) and wanted == 0) for got, wanted in pairs(found)),
    ),
    (
        "The condition of what is no number is no number; PyTorch takes the matrix for a singular one.",
        lambda program, found, reference: "cond(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The normal distribution's tail below -5.5 is small, and not 0 as PyTorch's is.",
        lambda program, found, reference: re.search(r"\bndtr\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got != got and wanted == 0 or math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The gradient of the mean of no elements is 0 / 0, also where it is asked how it changes.",
        lambda program, found, reference: "create_graph" in str(program)
        and re.search(r"_loss\(", str(program)) is not None
        and re.search(r"L\.(zeros|ones)\(.*\b0\b", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got != got and wanted == 0 for got, wanted in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "The logarithms of an entropy are bounded at -100, also in the slope by its targets.",
        lambda program, found, reference: "binary_cross_entropy(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isinf(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
    (
        "The mean of infinities is infinite; PyTorch's running mean subtracts it from itself.",
        lambda program, found, reference: re.search(r"(var|std)_mean\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Which sign a sum of zeros has is left to the order of adding.",
        lambda program, found, reference: "scaled_dot_product_attention(" in str(program)
        and len(pairs(found)) > 0
        and all(math.isinf(got) and got == -wanted for got, wanted in pairs(found)),
    ),
    (
        "A reflection of what is not finite is no number; what it leaves of the rest is left to the order of work.",
        lambda program, found, reference: re.search(r"householder_product\(|\bqr\(|geqrf\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) or not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Small integers are added beneath a curve without beginning again at the largest.",
        lambda program, found, reference: re.search(r"trapz|trapezoid", str(program)) is not None
        and re.search(r"u?int(8|16)|byte|char|short", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "There is nothing beneath a curve of one sample; PyTorch subtracts it from itself, which is no number where it is none.",
        lambda program, found, reference: re.search(r"trapz|trapezoid", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) for _, wanted in pairs(found)),
    ),
    (
        "Sums of unsigned integers are unsigned, as the array API has it; PyTorch's are int64.",
        lambda program, found, reference: found.what == "dtype" and found.detail == "uint64, want int64" and "uint" in str(program),
    ),
]

OUTCOMES += [
    (
        "A group of one value has a mean, which is that; torch.group_norm answers, F.group_norm refuses.",
        lambda line, wanted, got: not got and "group_norm(" in line and "Expected more than 1 value per channel" in wanted,
    ),
    (
        "Incomplete gamma functions have a gradient by their second operand only; PyTorch says so only where it walks.",
        lambda line, wanted, got: not wanted and "there is no gradient by the first operand" in got,
    ),
    (
        "Of no channels there is nothing to pool, and nothing is wrong with that.",
        lambda line, wanted, got: not got
        and re.search(r"optional 0 dim batch size for input|non-zero size for non-batch dimensions", wanted) is not None,
    ),
    (
        "Products of Kronecker take what lies in any order.",
        lambda line, wanted, got: not got and "kron(" in line and "view size is not compatible" in wanted,
    ),
    (
        "Factorisations are of float32 and float64, also where there is nothing to factorise.",
        lambda line, wanted, got: not wanted and re.search(r"TypeError: \w+: takes f32 and f64, got", got) is not None,
    ),
    (
        "Of no elements there are no norms along an axis to tell; PyTorch does not find the shape.",
        lambda line, wanted, got: not got and "norm_except_dim(" in line and "cannot reshape tensor of 0 elements" in wanted,
    ),
    (
        "Of matrices that hold what is not finite there are no singular values nor eigenvalues; PyTorch says so of NaN, and of infinity "
        "where LAPACK does not answer with NaN.",
        lambda line, wanted, got: not wanted and "the input matrix contained non-finite values" in got,
    ),
    (
        "Integers have no means of windows, also where no window is asked for.",
        lambda line, wanted, got: not wanted and re.search(r"adaptive_avg_pool\dd: takes floats, got", got) is not None,
    ),
    (
        "A plane without elements has no mean; PyTorch answers with NaN.",
        lambda line, wanted, got: not wanted and re.search(r"adaptive_avg_pool\dd: takes planes with elements", got) is not None,
    ),
    (
        "A tensor has at most 16 axes (docs/decisions).",
        lambda line, wanted, got: not wanted and "axes are too many: a tensor has at most 16" in got,
    ),
]

DIFFERENCES += [
    (
        "A power of two is multiplied with in steps that do not overflow; PyTorch's is one of float32 where the exponent is an integer, and infinite sooner.",
        lambda program, found, reference: "ldexp" in str(program)
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The largest of numbers of which one is no number is no number, as in max; PyTorch's bags compare, and pass it over unless it is first.",
        lambda program, found, reference: re.search(r"embedding_bag\(.*'max'", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
]

OUTCOMES += [
    (
        "A triangle of a factorisation has a gradient, also where the other factor was not asked for.",
        lambda line, wanted, got: not got and "The derivative of linalg.qr depends on Q" in wanted,
    ),
    (
        "What is written into integers has no gradient, and nothing of it is recorded; PyTorch's `slice_scatter` and its like refuse that, "
        "and its `copy_` and assignments do not.",
        lambda line, wanted, got: not got and re.search(r"Autograd not support dtype: (Byte|Char|Short|Int|Long|Bool)", wanted) is not None,
    ),
]

DIFFERENCES += [
    (
        "Of infinity the derivatives of digamma are 0, of every order; PyTorch's beyond the first are no numbers.",
        lambda program, found, reference: re.search(r"polygamma_?\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got == 0 and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "Half types are computed in float32: a number a little above -1 is not the pole.",
        lambda program, found, reference: "float16" in found.detail
        and re.search(r"mvlgamma|multigammaln", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
]

OUTCOMES += [
    (
        "A number that is not known yet to be 0 is told of by whoever first reads the quotient: nobody reads what a function lets go.",
        lambda line, wanted, got: not got and "ZeroDivisionError" in wanted and " = f(" in line and "def f(" in line,
    ),
]

DIFFERENCES += [
    (
        "The slope at what is no number is no number; PyTorch's passes it over in running sums of exponentials.",
        lambda program, found, reference: "logcumsumexp" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
    (
        "A gradient that is zero, or the same, whatever it is the gradient at may have a history all the same, of zeros.",
        lambda program, found, reference: "create_graph" in str(program)
        and found.what == "requires_grad"
        and found.detail.startswith("True, want False")
        and re.fullmatch(r"g\d+", found.where) is not None,
    ),
    (
        "Of what is scattered without what was there, the gradient is all of what is scattered; PyTorch shares it with what was there, where that is as large.",
        lambda program, found, reference: re.search(r"scatter_reduce.*include_self=False", str(program)) is not None
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(got == 2 * wanted for got, wanted in pairs(found)),
    ),
    (
        "The same, where what is scattered is what was there: the share comes on top of another gradient.",
        lambda program, found, reference: re.search(r"(\w+)\.scatter_reduce\(.*\b\1, .*include_self=False", str(program)) is not None
        and "grad" in found.what + str(program)
        and len(pairs(found)) > 0
        and all(got >= wanted for got, wanted in pairs(found)),
    ),
    (
        "What is below 0 becomes 0 where it is converted to integers without a sign; PyTorch leaves it to the machine.",
        lambda program, found, reference: "uint64" in str(program)
        and found.what == "value"
        and any(got == 0 and wanted >= 2.0**63 for got, wanted in pairs(found))
        and all(got == wanted or (got == 0 and wanted >= 2.0**63) for got, wanted in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "Which of several equal numbers is the k-th, and has the gradient, is left to the order in which they are looked at.",
        lambda program, found, reference: "kthvalue(" in str(program)
        and found.what in ("value", "grad's value")
        and differentiated(program)
        and found.wanted is not None
        and sorted(flat(found.wanted)) == sorted(flat(found.got)),
    ),
    (
        "Which sign a zero in an inverse has is left to the order of adding.",
        lambda program, found, reference: re.search(r"cholesky_inverse\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isinf(got) and got == -wanted for got, wanted in pairs(found)),
    ),
    (
        "The norm of no elements has a history, of zeros; PyTorch answers with a constant.",
        lambda program, found, reference: "norm(" in str(program)
        and found.what == "requires_grad"
        and found.detail.startswith("True, want False")
        and re.search(r"L\.(zeros|ones|empty)\(.*\b0\b", str(program)) is not None,
    ),
    (
        "What was written to memory has a history for all who see it, whichever of them is made a constant later; PyTorch finds that out only when it "
        "is asked for it.",
        lambda program, found, reference: found.what == "requires_grad"
        and found.detail.startswith("True, want False")
        and "detach_()" in str(program),
    ),
    (
        "A byte with its sign turned is no byte: PyTorch's rule for the slope of zeta makes 56 of -200.",
        lambda program, found, reference: "zeta(" in str(program) and "uint8" in str(program) and len(pairs(found)) > 0,
    ),
    (
        "A distance of 0 has no slope, of any order; PyTorch's second one is 0 times infinity.",
        lambda program, found, reference: re.search(r"\b(dist|norm|vector_norm|cdist|pdist)\(", str(program)) is not None
        and "create_graph=True" in str(program)
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The root of a matrix has no slope where that of an eigenvalue has none: which numbers are infinite there and which are none follows from the "
        "order of products.",
        lambda program, found, reference: "matrix_sqrth(" in str(program)
        and "grad" in found.what
        and len(pairs(found)) > 0
        and not any(math.isfinite(got) or math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "A view that was made before its base became a leaf is a constant; PyTorch says that it requires a gradient, and gives it none.",
        lambda program, found, reference: found.what == "requires_grad"
        and found.detail.startswith("False, want True")
        and re.search(r"^\s+\w+\.requires_grad_\(", str(program), re.MULTILINE) is not None,
    ),
    (
        "Singular vectors are told but for their signs.",
        lambda program, found, reference: "svd(" in str(program)
        and len(pairs(found)) > 0
        and all(close(got, -wanted) for got, wanted in pairs(found)),
    ),
    (
        "Functions of networks are of floats: a byte and one more are 256, and not 0.",
        lambda program, found, reference: "softsign(" in str(program)
        and re.search(r"u?int8|byte|char", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isfinite(got) and not math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "What is left of a matrix that has no factor of Cholesky's beyond the pivot that shows it is told by nobody.",
        lambda program, found, reference: re.search(rf"\b{found.where.split('[')[0]} = .*cholesky_ex\(", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "Functions of Bessel's are composed: an infinite gradient meets a part that was not chosen, whose slope is 0. PyTorch has a rule of its own.",
        lambda program, found, reference: "bessel_" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(got) and math.isinf(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The gradient of a leaf that was turned in place has its shape; PyTorch's has the one that it had when a graph first met it.",
        lambda program, found, reference: found.what == "grad's shape"
        and re.search(rf"\b{found.where}\.(un)?squeeze_\(|\b{found.where}\.(t|transpose|swapaxes|swapdims)_\(", str(program)) is not None,
    ),
    (
        "A view that was made a leaf stays one when it is written to unrecorded; PyTorch makes the views of it anew from the tensor that it is a view of.",
        lambda program, found, reference: found.what == "grad"
        and found.detail.endswith("want None")
        and f"{found.where}.requires_grad_(" in str(program)
        and re.search(rf"\b{found.where} = \w+(\.(narrow|view|t|transpose|select|unsqueeze|squeeze|expand|permute)\(|\[)", str(program)) is not None,
    ),
    (
        "Zeta of a large exponent is 0; PyTorch's terms overflow, and 0 times infinity is no number.",
        lambda program, found, reference: "zeta(" in str(program)
        and len(pairs(found)) > 0
        and all(got == 0 and math.isnan(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The coordinate that is infinitely far is the farthest, and has the slope 1; PyTorch subtracts the distance from it. What is no number is "
        "far too; PyTorch's `cdist` passes it over.",
        lambda program, found, reference: re.search(r"[cp]dist\(.*inf", str(program)) is not None
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) and abs(got) <= 1 or math.isnan(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
]

OUTCOMES += [
    (
        "The inner product saves what it multiplies; PyTorch copies rows of one element.",
        lambda line, wanted, got: not wanted
        and "# after an inner product" in line
        and "mul needs for its gradient a value" in got
        and "changed in place since" in got,
    ),
    (
        "Attention saves its query. So do PyTorch's kernels for four axes, and refuse it as well; what computes others saves a scaled copy.",
        lambda line, wanted, got: not wanted and "attention needs for its gradient a value" in got and "changed in place since" in got,
    ),
    (
        "Softmaxes of integers are of floats, also of none of them; before 2.15 PyTorch leaves those without elements what they are, into which no "
        "float can be written.",
        lambda line, wanted, got: not got and "# of a softmax" in line and "can't be cast to the desired output type" in wanted,
    ),
]

OUTCOMES += [
    (
        "A walk that failed has let nothing go: it can be asked for again. PyTorch's has let go what it came by.",
        lambda line, wanted, got: not got and "# after a walk that failed" in line and "Trying to backward through the graph a second time" in wanted,
    ),
]

OUTCOMES += [
    (
        "What was cut off from its history since is what it was to graphs that were made before; PyTorch cannot use what it has saved of it.",
        lambda line, wanted, got: not got and "saved tensor that has been detached in-place" in wanted,
    ),
]


def is_result_on_the_way(line: str, got: str) -> bool:
    """Whether a gradient is said not to depend on a result (and no leaf) on the way to it."""
    told = re.search(r"do not depend on input (\d+)", got)
    asked = re.search(r"G\(([^\[\]]*\bg\d+[^\[\]]*), \[([\w, ]+)\]", line)
    if told is None or asked is None or "# after create_graph" not in line:
        return False
    names = asked[2].split(", ")
    return int(told[1]) < len(names) and names[int(told[1])].startswith("t")


OUTCOMES += [
    (
        "What a gradient is computed by is the engine's own: it may depend on a result on the way or not.",
        lambda line, wanted, got: not wanted and is_result_on_the_way(line, got),
    ),
]

DIFFERENCES += [
    (
        "`hardswish` of the largest numbers is the number; PyTorch multiplies by 6 before it divides.",
        lambda program, found, reference: "hardswish" in str(program)
        and bool(pairs(found))
        and all(math.isinf(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "The smallest and the largest of all elements share their gradient among those that are NaN, as min and max do; PyTorch's amin and amax answer with NaN.",
        lambda program, found, reference: re.search(r"\b(amin|amax|aminmax)\(", str(program)) is not None
        and bool(pairs(found))
        and all(math.isnan(wanted) for _, wanted in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "Bessel's functions and orthogonal polynomials have gradients; PyTorch's have none under these names.",
        lambda program, found, reference: FLAT.search(str(program)) is not None
        and (
            found.what in ("requires_grad", "is_leaf", "grad", "grad's value", "grad's requires_grad")
            or found.what in ("value", "number") and differentiated(program)
            # An array of what requires a gradient is a copy.
            or found.what.startswith("array") and "requires_grad" in str(program)
        ),
    ),
    (
        "Equal numbers share the gradient of fmin and fmax, as PyTorch's do since 2.15; before, one of them has it.",
        lambda program, found, reference: GOES_TO_ONE
        and re.search(r"\bfm(in|ax)\(", str(program)) is not None
        and differentiated(program)
        and bool(pairs(found)),
    ),
    (
        "The loss of counts is computed in floats, of small integers too; PyTorch's product of them begins again at the least.",
        lambda program, found, reference: "poisson_nll_loss(" in str(program)
        and re.search(r"u?int(8|16)|byte|char|short", str(program)) is not None
        and len(pairs(found)) > 0,
    ),
    (
        "Products of unlike dtypes are of the dtype in which they meet, also of no elements; PyTorch multiplies such only then.",
        lambda program, found, reference: found.what == "dtype" and "matmul(" in str(program) and re.search(r"\b0\b", str(program)) is not None,
    ),
    (
        "A polynomial of what is no number is no number; PyTorch's recurrence stops at one before it has written its answer.",
        lambda program, found, reference: "_polynomial_" in str(program)
        and bool(pairs(found))
        and all(math.isnan(got) for got, _ in pairs(found)),
    ),
]

DIFFERENCES += [
    (
        "The polygamma functions are 0 at infinity and infinite at their poles; PyTorch's are no numbers and large ones there.",
        lambda program, found, reference: "polygamma" in str(program)
        and len(pairs(found)) > 0
        and not any(math.isfinite(got) and math.isfinite(wanted) for got, wanted in pairs(found)),
    ),
    (
        "The angle of two zeros is told by their signs, which are left to the order of work where they are results.",
        lambda program, found, reference: re.search(r"\b(arc)?a?tan2_?\(", str(program)) is not None
        and "-0.0" in str(program)
        and any(0 in pair for pair in pairs(found)),
    ),
    (
        "A mean of no numbers has no slope; PyTorch multiplies an infinite share by 0.",
        lambda program, found, reference: "nanmean" in str(program)
        and differentiated(program)
        and len(pairs(found)) > 0
        and all(math.isnan(wanted) and math.isfinite(got) for got, wanted in pairs(found)),
    ),
]

OUTCOMES += [
    (
        "A matrix whose last pivot is nothing is singular; where products are rounded otherwise something is left of it.",
        lambda line, wanted, got: not wanted and re.search(r"(solve|inv|matrix_power)\(", line) is not None and "input matrix is singular" in got,
    ),
]

DIFFERENCES += [
    (
        "Of matrices that hold what is no number the factors that are numbers are told by nobody.",
        lambda program, found, reference: re.search(r"\bqr\(", str(program)) is not None and "nan" in found.detail and len(pairs(found)) > 0,
    ),
    (
        "A leaf that was turned while nothing was recorded has a gradient of its shape; PyTorch's has that of the leaf as it was first used.",
        lambda program, found, reference: found.what == "shape"
        and re.search(r"no_grad\(\): .*(squeeze|transpose|swapaxes|swapdims|\bt)_\(", str(program)) is not None,
    ),
]
