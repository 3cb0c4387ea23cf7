"""micrograd's demonstration: a perceptron of scalar values learns to tell two interleaved half moons apart.

    python examples/moons.py [seed] [picture.png]

Prints loss and accuracy as they come and writes the decision boundary as a picture.
"""

from __future__ import annotations

import math
import random
import struct
import sys
import time
import zlib

from micrograd_rs import MLP, Value

POINTS = 100
NOISE = 0.1
STEPS = 100
# What the picture shows: x from −1.7 to 2.7, y from −1.3 to 1.8.
LEFT, RIGHT, BOTTOM, TOP = -1.7, 2.7, -1.3, 1.8


def moons(n: int, noise: float, seed: int) -> tuple[list[list[float]], list[int]]:
    """Two half circles with normal noise, as scikit-learn's `make_moons` has them; classes are −1 and 1."""
    chance = random.Random(seed)
    points, classes = [], []
    for i in range(n):
        angle = math.pi * (i % (n // 2)) / (n // 2 - 1)
        x, y = math.cos(angle), math.sin(angle)
        if i >= n // 2:
            x, y = 1 - x, 0.5 - y
        points.append([x + chance.gauss(0, noise), y + chance.gauss(0, noise)])
        classes.append(1 if i >= n // 2 else -1)
    return points, classes


def evaluate(model: MLP, points: list[list[float]], classes: list[int]) -> tuple[Value, float]:
    """The loss, and the share of points on the right side: a maximum margin, max(0, 1 − class · score), on average, and a
    little of the parameters' squares to keep them small.
    """
    scores = [model(point) for point in points]
    margin = sum((1 - c * score).relu() for c, score in zip(classes, scores)) / len(points)
    squares = sum(p * p for p in model.parameters())
    right = sum((score > 0) == (c > 0) for c, score in zip(classes, scores))
    return margin + 1e-4 * squares, right / len(points)


def picture(model: MLP, points: list[list[float]], classes: list[int], path: str) -> None:
    """Writes the plane in the colours of the two classes, with the boundary between them and the points."""
    width, height, cell = 880, 620, 4
    columns, rows = width // cell, height // cell
    blue, orange, white, dark = (58, 110, 165), (226, 132, 56), (255, 255, 255), (40, 42, 48)

    def mix(a, b, share):
        return tuple(p + (q - p) * share for p, q in zip(a, b))

    def score(column, row):
        x = LEFT + (RIGHT - LEFT) * (column + 0.5) / columns
        y = TOP - (TOP - BOTTOM) * (row + 0.5) / rows
        return model([x, y]).data

    grid = [[score(c, r) for c in range(columns)] for r in range(rows)]
    image = []
    for r, line in enumerate(grid):
        pixels = []
        for c, s in enumerate(line):
            # How sure the model is, in five steps of colour; dark where the class changes from one cell to the next.
            sure = math.ceil(min(abs(s), 2) * 2.5) / 5
            colour = mix(white, orange if s > 0 else blue, 0.12 + 0.5 * sure)
            near = [line[min(c + 1, columns - 1)], grid[min(r + 1, rows - 1)][c]]
            if any((other > 0) != (s > 0) for other in near):
                colour = dark
            pixels += [colour] * cell
        image += [list(pixels) for _ in range(cell)]

    for (x, y), c in zip(points, classes):
        px, py = (x - LEFT) / (RIGHT - LEFT) * width, (TOP - y) / (TOP - BOTTOM) * height
        fill = mix(orange if c > 0 else blue, dark, 0.25)
        for row in range(max(int(py) - 9, 0), min(int(py) + 10, height)):
            for column in range(max(int(px) - 9, 0), min(int(px) + 10, width)):
                distance = math.hypot(column + 0.5 - px, row + 0.5 - py)
                ring = mix(image[row][column], white, min(max(8 - distance, 0), 1))
                image[row][column] = mix(ring, fill, min(max(6.2 - distance, 0), 1))

    # A PNG: signature, header, compressed lines (each behind the number of its filter, 0 for none), end.
    raw = b"".join(b"\0" + bytes(round(v) for pixel in line for v in pixel) for line in image)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def main() -> None:
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1337
    path = sys.argv[2] if len(sys.argv) > 2 else "moons.png"
    points, classes = moons(POINTS, NOISE, seed)
    model = MLP(2, [16, 16, 1], seed=seed)
    print(f"\n  two moons · {POINTS} points · MLP(2, [16, 16, 1]) · {len(model.parameters())} parameters\n")
    print("  step      loss   accuracy       time")

    total = 0.0
    for k in range(STEPS):
        start = time.perf_counter()
        loss, accuracy = evaluate(model, points, classes)
        model.zero_grad()
        loss.backward()
        rate = 1.0 - 0.9 * k / STEPS
        for p in model.parameters():
            p.data -= rate * p.grad
        seconds = time.perf_counter() - start
        total += seconds
        if k % 5 == 0 or k + 1 == STEPS:
            print(f"  {k:4}  {loss:8.4f}   {accuracy:7.1%}  {seconds * 1e3:7.3f} ms")

    loss, accuracy = evaluate(model, points, classes)
    print(f"\n  after {STEPS} steps: loss {loss:.4f}, accuracy {accuracy:.0%}")
    print(f"  {total / STEPS * 1e3:.3f} ms a step: forward, loss, backward, update\n")
    picture(model, points, classes, path)
    print(f"  the decision boundary is in {path}\n")


if __name__ == "__main__":
    main()
