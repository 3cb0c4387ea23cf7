"""`load_url`, by the name that `hub.load_state_dict_from_url` had.

>>> import micrograd_rs as mg
>>> mg.utils.model_zoo.load_url("https://example.org/net-5c106cde.pth", model_dir="weights")
Traceback (most recent call last):
    ...
RuntimeError: hub.load_state_dict_from_url: https://example.org/net-5c106cde.pth is not fetched from the network: download it to weights..., or load() the file
"""

from __future__ import annotations

from .._names import Lazy as _Lazy
from ..hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]

__getattr__ = _Lazy(__name__)
