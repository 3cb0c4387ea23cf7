"""What random programs have found since `test_found.py`, each as small as it got. Wanted is what PyTorch answers."""

import math

import micrograd_rs as L
import pytest

F = L.nn.functional


def jitted(step):
    """The step as it is, and one that is replayed."""
    return [step, L.jit(step)]


# A number beside integers that it does not fit, where floats come of both.


# Rows that hold infinity.


# Names of arguments.


def test_functions_that_are_methods_too_take_their_tensor_by_name():
    x = L.tensor([[1.0, 4.0], [3.0, 2.0]])
    assert L.max(input=x).item() == 4.0 and L.min(input=x).item() == 1.0
    assert L.max(input=x, dim=1).values.tolist() == [4.0, 3.0] and L.max(x, 0).indices.tolist() == [1, 0]
    assert L.min(input=x, other=L.full((2, 2), 2.0)).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert L.numel(input=x) == 4 and L.nonzero(input=x).shape == (4, 2) and L.is_floating_point(input=x)
    with pytest.raises(TypeError):
        L.max(x, input=x)


# Histories.


# Steps.


# Numbers that integers do not hold.


@pytest.mark.parametrize(("start", "end"), [(1.0, 0.0), (0.0, -1.0), (0.0, -0.5), (3.0, 0.0)])
@pytest.mark.parametrize("steps", [2, 3, 7])
def test_the_ends_of_a_line_have_the_sign_that_they_were_given(start, end, steps):
    line = L.linspace(start, end, steps)
    assert (line[0].item(), line[-1].item()) == (start, end)
    assert not line.tolist() or all(math.copysign(1.0, v) == 1.0 for v in line.tolist() if v == 0.0)


def test_classes_below_zero_are_an_error_and_positions_below_zero_count_from_the_end():
    for labels in ([-1], [2, -1], [[-3]]):
        with pytest.raises(RuntimeError, match="non-negative"):
            F.one_hot(L.tensor(labels))
    assert F.one_hot(L.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert L.zeros(3).index_fill(0, L.tensor([0, -1]), 5).tolist() == [5, 0, 5]
    assert L.zeros(2, 3).index_fill(1, L.tensor([-2]), 5).tolist() == [[0, 5, 0]] * 2
    with pytest.raises(IndexError):
        L.zeros(3).index_fill(0, L.tensor([-4]), 5)
    fill = L.jit(lambda x, at: x.index_fill(0, at, 5.0))
    for at in ([0], [-1], [1], [-2], [2]):
        wanted = [0.0] * 3
        wanted[at[0]] = 5.0
        assert fill(L.zeros(3), L.tensor(at)).tolist() == wanted


def test_truth_values_without_axes_as_indices():
    x = L.tensor([1.0, 2.0, 3.0], requires_grad=True)
    put = x.index_put((L.tensor(True),), L.tensor(5.0), accumulate=True)
    assert put.tolist() == [6, 7, 8]
    assert x.index_put((L.tensor(False),), L.tensor(5.0)).tolist() == [1, 2, 3]
    put.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    for dtype in (L.bfloat16, L.int16):
        t = L.tensor(1).to(dtype)
        assert t.index_put((L.tensor(True),), L.tensor(4).to(dtype)).item() == 4


@pytest.mark.parametrize("rate", [-1.0, math.nan])
def test_there_are_no_counts_of_negative_rates(rate):
    with pytest.raises(RuntimeError, match="poisson: takes rates that are not negative"):
        L.poisson(L.tensor([1.0, rate]))
    assert L.poisson(L.tensor([0.0, -0.0])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("index", "axis", "size"), [((0, 3), 1, 3), ((0, 0, 9), 2, 4), ((1, slice(None), 9), 2, 4), ((..., -5), 2, 4)]
)
def test_an_index_out_of_range_is_told_of_with_the_axis_of_the_tensor(index, axis, size):
    x = L.zeros(2, 3, 4)
    for do in (lambda: x[index], lambda: x.__setitem__(index, 1.0)):
        with pytest.raises(IndexError, match=f"axis {axis} of size {size}"):
            do()


def test_tensors_of_one_element_in_sequences_are_numbers():
    assert L.tensor([L.tensor([1]), L.tensor([2])]).tolist() == [1, 2]
    assert L.tensor([L.ones(1, 1), 2.0]).tolist() == [1.0, 2.0]
    assert L.tensor([[L.tensor(1)], [L.tensor([2])]]).tolist() == [[1], [2]]
    assert L.as_tensor((L.tensor([True]), L.tensor([2]))).tolist() == [1, 2]
    assert L.tensor([L.ones(2), L.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert L.tensor(L.ones(1)).shape == (1,)
