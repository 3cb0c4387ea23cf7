"""Writes what follows from the op table: the extension's stubs and the operations as functions.

    python tools/stubs.py           writes them
    python tools/stubs.py --check   says whether they are as they would be written

The built package must be importable: what has a row in the op table is asked of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from micrograd_rs import _micrograd_rs as rs

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "python" / "micrograd_rs"

REDUCTIONS = {
    "sum": ("The sum of all elements, or over some axes. Integers become i64.", True, True),
    "mean": ("The mean of all elements, or over some axes; of integers, in f32.", True, True),
    "prod": ("The product of all elements, or over some axes.", False, True),
    "amax": ("The largest element, or the largest over some axes.", False, True),
    "amin": ("The smallest element, or the smallest over some axes.", False, True),
    "argmax": ("The index of the first largest element along an axis, or of the flattened tensor.", False, False),
    "argmin": ("The index of the first smallest element along an axis, or of the flattened tensor.", False, False),
    "logsumexp": ("`log Σ eˣ` over some axes, without overflow.", False, True),
    "any": ("Whether any element is not zero, of all or over some axes.", False, True),
    "all": ("Whether no element is zero, of all or over some axes.", False, True),
}

FILLED = {
    "zeros": "Zeros, f32 unless asked otherwise.",
    "ones": "Ones, f32 unless asked otherwise.",
    "empty": "As `zeros`: there is no memory that nobody wrote.",
    "rand": "Uniform random numbers in [0, 1).",
    "randn": "Normal random numbers of mean 0 and variance 1.",
}

# Methods that PyTorch has as functions too, beside the op table's rows and the reductions.
FUNCTIONS = """
    add bitwise_not broadcast_to chunk clamp clip clone dot flatten flip floor_divide frac gather ge gt index_select isfinite
    isinf isnan log_softmax masked_fill masked_select matmul max min mm movedim narrow nonzero norm numel permute pow ravel
    reciprocal remainder reshape rsqrt scatter_add select softmax split squeeze std sub swapaxes t transpose tril triu unbind
    unsqueeze var
""".split()


def doc(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines()]
    return f'        """{" ".join(lines)}"""'


def rows() -> str:
    out = []
    for name, arity, text in rs._rows():
        other = ", other: _Operand" if arity == 2 else ""
        out += [f"    def {name}(self{other}) -> Tensor:", doc(text)]
    return "\n".join(out)


def reductions() -> str:
    out = []
    for name, (text, dtype, several) in REDUCTIONS.items():
        dims = "_Dims" if several else "_int"
        out += [
            f"    def {name}(",
            "        self,",
            f"        dim: {dims} | None = None,",
            "        keepdim: _bool = False,",
            "        *,",
            *(["        dtype: _DType | None = None,"] if dtype else []),
            f"        axis: {dims} | None = None,",
            "        keepdims: _bool | None = None,",
            "    ) -> Tensor:",
            doc(text),
        ]
    return "\n".join(out)


def filled() -> str:
    out = []
    keywords = [
        "    dtype: _DType | None = None,",
        "    device: _Device | None = None,",
        "    requires_grad: _bool = False,",
        ") -> Tensor:",
    ]
    for name, text in FILLED.items():
        out += ["@overload", f"def {name}(", "    shape: Sequence[_int],", "    /,", "    *,", *keywords[:3]]
        out += [") -> Tensor: ...", "@overload", f"def {name}(", "    *shape: _int,"]
        out += ["    size: _Sizes | None = None,", *keywords, f'    """{text}"""', ""]
        out += [f"def {name}_like(", "    input: Tensor,", "    *,", *keywords]
        out += [f'    """As `{name}`, in the shape and dtype of another tensor."""', ""]
    return "\n".join(out).rstrip()


def stubs() -> str:
    text = (HERE / "_micrograd_rs.pyi.in").read_text()
    text = text.replace("    # <rows>", rows()).replace("    # <reductions>", reductions())
    return text.replace("# <filled>", filled())


def functions() -> str:
    names = sorted({*(name for name, _, _ in rs._rows()), *REDUCTIONS, *FUNCTIONS})
    lines = [
        '"""Operations as functions: the methods of tensors, under their names. Written by tools/stubs.py."""',
        "",
        "from __future__ import annotations",
        "",
        "from ._micrograd_rs import Tensor",
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in names),
        "]",
        "",
        *(f"{name} = Tensor.{name}" for name in names),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    files = {PACKAGE / "_micrograd_rs.pyi": stubs(), PACKAGE / "_ops.py": functions()}
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.name} is not what tools/stubs.py writes", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path])
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
