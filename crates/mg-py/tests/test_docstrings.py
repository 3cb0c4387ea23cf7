"""What docstrings of operations say: every argument has words, every mistake its exception, and signatures are those of calls."""

from __future__ import annotations

import importlib.util
import inspect
import re
from pathlib import Path

import micrograd_rs as mg
import pytest

CRATE = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("docstrings", CRATE / "tools" / "docstrings.py")
tool = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tool)

# Where operations are: functions and methods whose docstrings list all that they take.
OF_OPERATIONS = ["", "nn.functional", "linalg", "special", "signal.windows", "Tensor"]
# What takes its arguments as they come, or whose docstring is another's.
AS_THEY_COME = {"gru", "lstm", "rnn_relu", "rnn_tanh", "Tensor.new"}


def test_listed_arguments_have_words_and_errors_their_exceptions():
    """No docstring lists an argument by its type alone, or a mistake without the exception that comes of it."""
    seen = 0
    for room in [*tool.ROOMS, *tool.CLASSES]:
        for name, value in tool.inside(room).items():
            seen += len(tool.sections(value)[0])
            assert not tool.speechless(value), f"{room}.{name}: {tool.speechless(value)}"
    assert seen > 5000, seen


def test_operations_list_all_that_they_take():
    """A function's docstring lists each of its parameters, `input` too, and speaks of none that it has not."""
    seen = 0
    for room in OF_OPERATIONS:
        for name, value in tool.inside(room).items():
            if isinstance(value, type) or not callable(value) or AS_THEY_COME & {name, f"{room}.{name}"}:
                continue
            seen += 1
            assert not tool.unlisted(value), f"{room}.{name}: {tool.unlisted(value)}"
            code = re.findall(r"`([^`]+)`", inspect.getdoc(value))
            assert room == "Tensor" or not any(re.search(r"(?<![\w.])self(?![a-z_])", each) for each in code), f"{room}.{name}"
    assert seen > 1500, seen


@pytest.mark.parametrize("name, wanted", [
    ("meshgrid", "(*tensors, indexing='ij')"),
    ("broadcast_tensors", "(*tensors)"),
    ("block_diag", "(*tensors)"),
    ("chain_matmul", "(*matrices)"),
    ("einsum", "(equation, *operands)"),
    ("rand", "(*size, generator=None, dtype=None, device=None, requires_grad=False)"),
    ("reshape", "(input, *shape)"),
    ("permute", "(input, *dims)"),
    # As a function it takes one list, as PyTorch's does.
    ("flip", "(input, dims)"),
    ("Tensor.flip", "(self, /, *dims)"),
    ("max", "(input, dim=None, keepdim=False, *, axis=None, keepdims=None, out=None, other=None)"),
    ("Tensor.reshape", "(self, /, *shape)"),
    ("Tensor.view", "(self, /, *shape)"),
    ("Tensor.permute", "(self, /, *dims)"),
    ("Tensor.expand", "(self, /, *size)"),
    ("Tensor.repeat", "(self, /, *repeats)"),
    ("Tensor.new_zeros", "(self, /, *size, dtype=None, device=None, requires_grad=False)"),
])  # fmt: skip
def test_signatures_are_those_of_calls(name, wanted):
    """What may be given one after the other is written so; by its name it is a list all the same."""
    *room, last = name.split(".")
    assert str(inspect.signature(getattr(mg.Tensor if room else mg, last))) == wanted


def test_lists_by_name():
    x = mg.arange(6).reshape(2, 3)
    assert x.reshape(shape=(3, 2)).shape == mg.reshape(x, shape=(3, 2)).shape == x.reshape(3, 2).shape == (3, 2)
    assert x.permute(dims=(1, 0)).shape == mg.permute(input=x, dims=(1, 0)).shape == (3, 2)
    assert x.repeat(repeats=(2, 1)).shape == (4, 3) and x.new_zeros(size=(2,)).shape == (2,)
    assert [t.shape for t in mg.meshgrid(tensors=[x[0], x[1]], indexing="xy")] == [(3, 3), (3, 3)]
    assert mg.max(input=x).item() == mg.max(x, other=mg.zeros(3, dtype=mg.int64)).amax().item() == 5
    assert mg.min(x, dim=1).indices.tolist() == mg.min(x, axis=1).indices.tolist() == [0, 0]
    assert mg.numel(input=x) == 6 and not mg.is_floating_point(input=x) and mg.nonzero(input=x).shape == (5, 2)


def test_what_a_docstring_says_nothing_of_is_found():
    def bare(input, way, *rest):
        """Does it.

        Arguments:
            input (tensor): any
                shape
            way (int, default 1)
            *rest: others

        Errors: A way out of range; what is
        no tensor.
        """

    def told(input, way, *rest):
        """Does it.

        Arguments:
            input, way: any (of them)
            rest (ints): others

        Errors: ValueError for a way out of range.
        """

    assert tool.sections(bare)[0] == {"input": "any shape", "way": "", "rest": "others"}
    assert tool.speechless(bare) == ["way", "A way out of range; what is no tensor."] and tool.speechless(told) == []
    told.__doc__ = told.__doc__.replace("input, ", "")
    assert tool.unlisted(bare) == [] and tool.unlisted(told) == ["input"]
