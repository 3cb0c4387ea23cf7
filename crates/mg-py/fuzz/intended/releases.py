"""Wherein releases of PyTorch differ: asked of the one that is installed."""

from __future__ import annotations

import re


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
