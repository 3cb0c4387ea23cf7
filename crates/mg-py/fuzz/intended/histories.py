"""What graphs, leaves and views are meant to be, and what gradients lead to."""

from __future__ import annotations

import math
import re

from .readings import differentiated, out_of_range, pairs
from .releases import FLAT

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
        "A gradient of zeros is there, also that of a count; PyTorch says None.",
        lambda program, found, reference: found.what in ("grad", "number")
        and found.detail.endswith("want None")
        and re.search(r"norm\(.*\b0\b|slogdet\(", str(program)) is not None,
    ),
    (
        "What was overwritten has no part in a gradient, however steep it was there; PyTorch multiplies 0 with NaN.",
        lambda program, found, reference: differentiated(program)
        and re.search(r"\] [-+*]?= |fill_\(|zero_\(|copy_\(", str(program)) is not None
        and len(pairs(found)) > 0
        and all(got == got and wanted != wanted for got, wanted in pairs(found)),
    ),
    (
        "A gradient that is zero, or the same, whatever it is the gradient at may have a history all the same, of zeros.",
        lambda program, found, reference: "create_graph" in str(program)
        and found.what == "requires_grad"
        and found.detail.startswith("True, want False")
        and re.fullmatch(r"g\d+", found.where) is not None,
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
        "A view that was made before its base became a leaf is a constant; PyTorch says that it requires a gradient, and gives it none.",
        lambda program, found, reference: found.what == "requires_grad"
        and found.detail.startswith("False, want True")
        and re.search(r"^\s+\w+\.requires_grad_\(", str(program), re.MULTILINE) is not None,
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
        "A leaf that was turned while nothing was recorded has a gradient of its shape; PyTorch's has that of the leaf as it was first used.",
        lambda program, found, reference: found.what == "shape"
        and re.search(r"no_grad\(\): .*(squeeze|transpose|swapaxes|swapdims|\bt)_\(", str(program)) is not None,
    ),
]
