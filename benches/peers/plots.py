"""Draws speed against size from what compare.py measured: SVG files, by Python alone.

    python3 plots.py docs/measured/gpu-nvidia-h200.json docs/measured

Each picture is named after the measurement and the curve: gpu-nvidia-h200-chain.svg.
"""

import json
import math
import pathlib
import sys
from html import escape
from typing import Any, NamedTuple

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 175, 44, 52  # margins; the legend is in the right one
# Ours and the peers: a name for people, a colour that stays apart from the others for the colour-blind (Okabe and Ito), dashes.
SIDES = {
    "ours": ("ours, CUDA", "#D55E00", ""),
    "ours-jit": ("ours, CUDA, jit", "#D55E00", "6 4"),
    "ours-cpu": ("ours, CPU", "#E69F00", ""),
    "torch": ("PyTorch", "#0072B2", ""),
    "torch-compile": ("torch.compile", "#0072B2", "6 4"),
    "torch-graph": ("PyTorch, CUDA graph", "#0072B2", "2 3"),
    "jax": ("JAX jit", "#009E73", ""),
}


class Picture(NamedTuple):
    """A curve's cases and what is drawn of them."""

    name: str
    title: str
    prefix: str  # of the cases' names, up to the size
    sections: tuple[str, ...]
    x: str
    y: str
    rate: bool  # arithmetic or bytes a second, not the time


PICTURES = [
    Picture("add", "a + b", "add_", ("sizes", "memory"), "elements", "time of a call", False),
    Picture("chain", "((a*b+a).relu()**2).sum() with both gradients", "chain_", ("sizes", "memory"), "elements", "time of a call", False),
    Picture("step", "a training step of an MLP 784-512-256-10, SGD, tf32", "mlp_sgd_tf32_", ("steps",), "batch", "time of a step", False),
    Picture("matmul-f32", "products of n by n matrices, f32", "matmul_f32_", ("arithmetic",), "n", "FLOP a second", True),
    Picture("matmul-bf16", "products of n by n matrices, bf16", "matmul_bf16_", ("arithmetic",), "n", "FLOP a second", True),
]

PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}


def size_of(text: str) -> float | None:
    """The number that a case's name ends in: "2p28", "1e6", "512"."""
    try:
        return 2.0 ** int(text[2:]) if text.startswith("2p") else float(text)
    except ValueError:
        return None


def curves(document: dict[str, Any], picture: Picture) -> dict[str, list[tuple[float, float]]]:
    """Size and value of every side that was measured at two sizes or more."""
    found: dict[str, list[tuple[float, float]]] = {}
    for case in document["cases"]:
        name = case["case"]
        size = size_of(name.removeprefix(picture.prefix)) if name.startswith(picture.prefix) else None
        if size is None or case["section"] not in picture.sections:
            continue
        for side, measured in case["sides"].items():
            if measured.get("median"):
                value = case["flops"] / measured["median"] if picture.rate else measured["median"]
                found.setdefault(side, []).append((size, value))
    return {side: sorted(found[side]) for side in SIDES if len(found.get(side, [])) > 1}


def si(value: float) -> str:
    """A power of ten with its prefix: 1e-5 is 10 µ."""
    exponent = math.floor(math.log10(value) + 1e-9)
    prefix = exponent // 3 * 3
    return f"{value / 10.0**prefix:.0f} {PREFIXES.get(prefix, f'e{prefix}')}".strip()


class Axis(NamedTuple):
    """A logarithmic axis over whole decades, from `low` to `high` in pixels."""

    first: int
    last: int
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float], low: float, high: float) -> "Axis":
        first, last = math.floor(math.log10(min(values)) + 1e-9), math.ceil(math.log10(max(values)) - 1e-9)
        return cls(first, max(last, first + 1), low, high)

    def at(self, value: float) -> float:
        return self.low + (math.log10(value) - self.first) / (self.last - self.first) * (self.high - self.low)

    def decades(self) -> list[float]:
        return [10.0**exponent for exponent in range(self.first, self.last + 1)]


def draw(picture: Picture, lines: dict[str, list[tuple[float, float]]], source: str) -> str:
    points = [point for line in lines.values() for point in line]
    x = Axis.of([p[0] for p in points], LEFT, WIDTH - RIGHT)
    y = Axis.of([p[1] for p in points], HEIGHT - BOTTOM, TOP)
    unit = "" if picture.rate else "s"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="14" font-weight="bold">{escape(picture.title)}</text>',
        f'<text x="{LEFT}" y="36" fill="#777">{escape(source)}</text>',
    ]
    for value in x.decades():
        out.append(f'<path d="M{x.at(value):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#e5e5e5"/>')
        out.append(f'<text x="{x.at(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{si(value)}</text>')
    for value in y.decades():
        out.append(f'<path d="M{LEFT} {y.at(value):.1f}H{WIDTH - RIGHT}" stroke="#e5e5e5"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y.at(value) + 4:.1f}" text-anchor="end">{si(value)}{unit}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{picture.x}</text>')
    out.append(f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{picture.y}</text>')
    for index, (side, line) in enumerate(lines.items()):
        name, colour, dashes = SIDES[side]
        style = f'stroke="{colour}" stroke-width="2" fill="none"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
        path = "L".join(f"{x.at(size):.1f} {y.at(value):.1f}" for size, value in line)
        out.append(f'<path d="M{path}" {style}/>')
        out += [f'<circle cx="{x.at(size):.1f}" cy="{y.at(value):.1f}" r="3" fill="{colour}"/>' for size, value in line]
        row = TOP + 10 + 20 * index
        out.append(f'<path d="M{WIDTH - RIGHT + 10} {row}h24" {style}/>')
        out.append(f'<text x="{WIDTH - RIGHT + 40}" y="{row + 4}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__)
        return 2
    measured, folder = map(pathlib.Path, arguments)
    document = json.loads(measured.read_text())
    card = (document["machine"].get("gpu") or {}).get("name", "no GPU")
    source = f"{card}, {document['date'][:10]}, commit {document['source'].get('commit', 'unknown')}; both axes logarithmic"
    for picture in PICTURES:
        lines = curves(document, picture)
        if not lines:
            print(f"{picture.name}: not measured")
            continue
        path = folder / f"{measured.stem}-{picture.name}.svg"
        path.write_text(draw(picture, lines, source))
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
