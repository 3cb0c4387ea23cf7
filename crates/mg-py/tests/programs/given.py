"""What a program is given so that it computes the same in every library: numbers, and weights to start from."""

import math
import random

from pathlib import Path


def normals(seed, *shape, scale=1.0):
    """Numbers as if drawn from a normal distribution, as a nested list."""
    draw = random.Random(seed)

    def level(sizes):
        return scale * draw.gauss(0.0, 1.0) if not sizes else [level(sizes[1:]) for _ in range(sizes[0])]

    return level(shape)


def integers(seed, high, *shape):
    """Whole numbers below a bound, as a nested list."""
    draw = random.Random(seed)

    def level(sizes):
        return draw.randrange(high) if not sizes else [level(sizes[1:]) for _ in range(sizes[0])]

    return level(shape)


def start(torch, module, seed=0):
    """Gives a module weights that do not depend on anybody's generator: matrices by their inputs, scales near one, offsets near zero."""
    draw = random.Random(seed)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            shape = tuple(parameter.shape)
            inputs = max(1, math.prod(shape[1:]))
            bound = math.sqrt(1.5 / inputs) if len(shape) > 1 else 0.1
            middle = 1.0 if len(shape) == 1 and name.endswith("weight") else 0.0
            values = [middle + draw.uniform(-bound, bound) for _ in range(parameter.numel())]
            parameter.copy_(torch.tensor(values, dtype=parameter.dtype).reshape(shape))
    return module


TEXT = Path(__file__).with_name("text.txt").read_text()
