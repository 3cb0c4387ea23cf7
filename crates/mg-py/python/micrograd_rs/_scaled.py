"""Products of floats of eight bits as `nn.functional` has them: how operands were scaled is said beside the scales."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import TypeVar, cast

from ._micrograd_rs import Tensor, _scaled_mm, bfloat16, dtype

__all__ = ["ScalingType", "SwizzleType", "scaled_mm"]


class ScalingType(IntEnum):
    """How many numbers of a matrix share a scale: all (`TensorWise`), those of a row (`RowWise`), or of a block, which `scaled_mm` does not take.

    >>> mg.nn.functional.ScalingType.RowWise.value
    1
    """

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(IntEnum):
    """How scales of blocks lie in memory; other scales lie as they are, `NO_SWIZZLE`.

    >>> mg.nn.functional.SwizzleType.NO_SWIZZLE.value
    0
    """

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1
    SWIZZLE_32_8 = 2


_T = TypeVar("_T")


def _alone(given: _T | Sequence[_T], what: str) -> _T:
    """What may stand in a list, too: of scales of one level there is one."""
    if isinstance(given, (list, tuple)):
        several = cast("Sequence[_T]", given)
        if len(several) != 1:
            raise ValueError(f"scaled_mm: takes one {what} of each operand, got {len(several)}")
        return several[0]
    return cast("_T", given)


def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Tensor | list[Tensor],
    scale_recipe_a: ScalingType | list[ScalingType],
    scale_b: Tensor | list[Tensor],
    scale_recipe_b: ScalingType | list[ScalingType],
    swizzle_a: SwizzleType | list[SwizzleType] | None = None,
    swizzle_b: SwizzleType | list[SwizzleType] | None = None,
    bias: Tensor | None = None,
    output_dtype: dtype | None = bfloat16,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """`(mat_a · scale_a) @ (mat_b · scale_b) + bias`, of matrices of floats of eight bits, added up in float32 and rounded once.

    Arguments:
        mat_a: a matrix of float8_e4m3fn or float8_e5m2, `[m, k]`
        mat_b: another one, `[k, n]`
        scale_a: what `mat_a` was divided by: one number in a float32 tensor, or one for each row, `[m, 1]`
        scale_recipe_a: which of these it is: TensorWise or RowWise
        scale_b: the same of `mat_b`, for each column: `[1, n]`
        scale_recipe_b: as `scale_recipe_a`, which it has to be
        swizzle_a: how the scales lie: as they are, NO_SWIZZLE
        swizzle_b: the same of `scale_b`
        bias: what is added to each row, `[n]`
        output_dtype: float32, float16, bfloat16 or one of eight bits; None is that of `mat_a`
        contraction_dim: which axes are multiplied and added up: the last and the first, `(1, 0)`, which an empty one says too
        use_fast_accum: whether sums may have fewer bits than float32 has where that is faster: on GPUs of compute capability 9.0

    Errors: ArgumentError for shapes that do not fit; DTypeError for other dtypes; ValueError for scales of blocks.

    >>> F = mg.nn.functional
    >>> one, each = mg.tensor(1.0), F.ScalingType.TensorWise
    >>> a = mg.eye(2).to(mg.float8_e4m3fn)
    >>> F.scaled_mm(a, a, mg.tensor(3.0), each, one, each)
    tensor([[3., 0.],
            [0., 3.]], dtype=micrograd_rs.bfloat16)
    """
    recipes = [ScalingType(_alone(recipe, "recipe")) for recipe in (scale_recipe_a, scale_recipe_b)]
    taken = (ScalingType.TensorWise, ScalingType.RowWise)
    if recipes[0] != recipes[1] or recipes[0] not in taken:
        names = " and ".join(recipe.name for recipe in recipes)
        raise ValueError(f"scaled_mm: takes TensorWise scales of both operands, or RowWise ones of both, got {names}")
    for swizzle in (swizzle_a, swizzle_b):
        if swizzle and SwizzleType(_alone(swizzle, "swizzle")) != SwizzleType.NO_SWIZZLE:
            raise ValueError("scaled_mm: scales lie as they are, NO_SWIZZLE")
    if tuple(axis % 2 for axis in contraction_dim) not in ((), (1, 0)):
        raise ValueError(f"scaled_mm: multiplies along the axes (1, 0), got {tuple(contraction_dim)}")
    scales = _alone(scale_a, "scale"), _alone(scale_b, "scale")
    if recipes[0] == ScalingType.TensorWise and any(scale.numel() != 1 for scale in scales):
        sizes = " and ".join(str(tuple(scale.shape)) for scale in scales)
        raise ValueError(f"scaled_mm: TensorWise scales are one number each, got shapes {sizes}")
    return _scaled_mm(mat_a, mat_b, *scales, bias, None, output_dtype, use_fast_accum)
