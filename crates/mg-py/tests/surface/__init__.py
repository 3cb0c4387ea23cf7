"""Declared operations beside PyTorch: samples of calls, and what PyTorch answered to them.

`samples/` has, by family, the calls of each operation as expressions. `record.py` runs them with PyTorch and writes its answers, its
first and second gradients and its result dtypes to `recorded/`. `test_surface.py` holds ours against that, on every device, so that no
PyTorch is needed to test.
"""
