"""Which calls are meant to be refused and which are not, and by errors of which kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .readings import out_of_range

if TYPE_CHECKING:
    from collections.abc import Callable

UNWRITTEN = re.compile(
    r"(?i)not implemented|floating point|not supported (for|on)|types is not supported|only supports? |does not support|expected .*floating|dimensions of float, double|not yet|without overflow|unsupported input type"
)
UNLIKE = re.compile(r"Integral inputs not supported|expected .*(same|scalar type|dtype)|same dtype|Found dtype|must have the same")

#: How an error tells that a value saved for a gradient was written to.
SAVED = re.compile(r"saved for|overwritten|changed in place|modified by")


def refused(told: str, after: str = "") -> Callable[[str, str, str], bool]:
    """Whether we alone refuse a line with this text, beneath a mark of `compare.told`."""
    return lambda line, wanted, got: not wanted and after in line and re.search(told, got) is not None


def is_result_on_the_way(line: str, got: str) -> bool:
    """Whether a gradient is said not to depend on a result (and no leaf) on the way to it."""
    told = re.search(r"do not depend on input (\d+)", got)
    asked = re.search(r"G\(([^\[\]]*\bg\d+[^\[\]]*), \[([\w, ]+)\]", line)
    if told is None or asked is None or "# after create_graph" not in line:
        return False
    names = asked[2].split(", ")
    return int(told[1]) < len(names) and names[int(told[1])].startswith("t")


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
        and "a result of int64 cannot be written into a tensor of bool" in got,
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
        lambda line, wanted, got: not wanted and re.search(r"TypeError: \w+: takes float32 and float64, got", got) is not None,
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
    (
        "A triangle of a factorisation has a gradient, also where the other factor was not asked for.",
        lambda line, wanted, got: not got and "The derivative of linalg.qr depends on Q" in wanted,
    ),
    (
        "What is written into integers has no gradient, and nothing of it is recorded; PyTorch's `slice_scatter` and its like refuse that, "
        "and its `copy_` and assignments do not.",
        lambda line, wanted, got: not got and re.search(r"Autograd not support dtype: (Byte|Char|Short|Int|Long|Bool)", wanted) is not None,
    ),
    (
        "A number that is not known yet to be 0 is told of by whoever first reads the quotient: nobody reads what a function lets go.",
        lambda line, wanted, got: not got and "ZeroDivisionError" in wanted and " = f(" in line and "def f(" in line,
    ),
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
    (
        "A walk that failed has let nothing go: it can be asked for again. PyTorch's has let go what it came by.",
        lambda line, wanted, got: not got and "# after a walk that failed" in line and "Trying to backward through the graph a second time" in wanted,
    ),
    (
        "What was cut off from its history since is what it was to graphs that were made before; PyTorch cannot use what it has saved of it.",
        lambda line, wanted, got: not got and "saved tensor that has been detached in-place" in wanted,
    ),
    (
        "What a gradient is computed by is the engine's own: it may depend on a result on the way or not.",
        lambda line, wanted, got: not wanted and is_result_on_the_way(line, got),
    ),
    (
        "A matrix whose last pivot is nothing is singular; where products are rounded otherwise something is left of it.",
        lambda line, wanted, got: not wanted and re.search(r"(solve|inv|matrix_power)\(", line) is not None and "input matrix is singular" in got,
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
    (
        "A number that cannot be divided by is a wrong argument.",
        lambda line, wanted, got, was, now: wanted == "ZeroDivisionError" and got == "value",
    ),
]
