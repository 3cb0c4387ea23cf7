"""The Python array API standard, where it differs from PyTorch; and the standard's own suite, data-apis/array-api-tests, where there is a
checkout of it (with its submodule):

    pip install hypothesis ndindex pytest-json-report
    git clone --recurse-submodules https://github.com/data-apis/array-api-tests
    ARRAY_API_TESTS=array-api-tests pytest crates/mg-py/tests/test_array_api.py
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import micrograd_rs as mg
import pytest

xp = mg.array_api

X = [[3.0, 1.0], [2.0, 5.0]]


@pytest.fixture
def x(device):
    return mg.tensor(X, device=device)


def test_arrays_name_it(x):
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2024.12") is xp
    assert xp.__array_api_version__ == "2024.12"
    with pytest.raises(ValueError, match="2030"):
        x.__array_namespace__(api_version="2030.12")
    assert x.to_device(x.device).tolist() == X
    with pytest.raises(ValueError, match="stream"):
        x.to_device(x.device, stream=1)


def test_names_of_the_standard_are_there():
    names = """
        abs acos acosh add all any arange argmax argmin asarray asin asinh astype atan atan2 atanh bitwise_and bitwise_invert
        bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor broadcast_arrays broadcast_to can_cast ceil clip concat conj copysign
        cos cosh count_nonzero cumulative_prod cumulative_sum diff divide e empty empty_like equal exp expand_dims expm1 eye finfo flip
        floor floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag inf isdtype isfinite isinf isnan less
        less_equal linalg linspace log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul matrix_transpose
        max maximum mean meshgrid min minimum moveaxis multiply nan negative newaxis nextafter nonzero not_equal ones ones_like permute_dims
        pi positive pow prod real reciprocal remainder repeat reshape result_type roll round searchsorted sign signbit sin sinh sort
        argsort sqrt square squeeze stack std subtract sum take take_along_axis tan tanh tensordot tile tril triu trunc unique_all
        unique_counts unique_inverse unique_values unstack var vecdot where zeros zeros_like bool uint8 int32 int64 float32 float64
    """
    assert not [name for name in names.split() if not hasattr(xp, name)]


def test_reductions(x):
    assert xp.sum(x, axis=1).tolist() == [4.0, 7.0]
    assert xp.sum(x, axis=(0, 1), keepdims=True).tolist() == [[11.0]]
    assert xp.max(x).item() == 5.0 and xp.min(x, axis=0).tolist() == [2.0, 1.0]
    assert xp.prod(x, axis=(0, 1)).item() == 30.0
    assert xp.var(x, axis=0, correction=1).tolist() == [0.5, 8.0]
    assert xp.std(x, axis=0).tolist() == [0.5, 2.0]
    assert math.isnan(xp.std(mg.tensor(float("nan"))).item())
    assert xp.argmax(x).item() == 3 and xp.argmax(x, keepdims=True).tolist() == [[3]]
    assert xp.count_nonzero(x > 2, axis=1).tolist() == [1, 1]
    assert xp.all(x > 0, axis=(0, 1)).item() and not xp.any(x < 0).item()
    assert xp.sum(x > 1).dtype == mg.int64
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0.0, 3.0, 4.0], [0.0, 2.0, 7.0]]
    assert xp.diff(x, axis=1, prepend=xp.zeros((2, 1), device=x.device)).tolist() == [[3.0, -2.0], [2.0, 3.0]]
    with pytest.raises(ValueError, match="axis"):
        xp.cumulative_sum(x)


def test_movement(x):
    assert xp.concat([x, x], axis=None).shape == (8,)
    assert xp.expand_dims(x, 2).shape == (2, 2, 1)
    assert xp.squeeze(x[:1], 0).tolist() == X[0]
    with pytest.raises(ValueError, match="size 1"):
        xp.squeeze(x, 0)
    assert xp.take(x, mg.tensor([1, 0], device=x.device), axis=1).tolist() == [[1.0, 3.0], [5.0, 2.0]]
    assert xp.take_along_axis(x, mg.tensor([[-1], [0]], device=x.device)).tolist() == [[1.0], [2.0]]
    assert xp.repeat(x, 2, axis=0).shape == (4, 2)
    assert [t.tolist() for t in xp.unstack(x, axis=1)] == [[3.0, 2.0], [1.0, 5.0]]
    assert xp.where(x > 2, x, 0).tolist() == [[3.0, 0.0], [0.0, 5.0]]
    assert xp.eye(2, 3, k=1).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0.0, 0.25, 0.5, 0.75]
    assert xp.arange(5.0, 1.0).dtype == mg.float32 and xp.arange(3, 0, -1).tolist() == [3, 2, 1]
    assert xp.astype(x, mg.float64, copy=False).dtype == mg.float64 and xp.astype(x, x.dtype, copy=False) is x


def test_dtypes():
    assert xp.isdtype(mg.int32, "signed integer") and xp.isdtype(mg.float32, ("integral", "real floating"))
    assert not xp.isdtype(mg.bool, "numeric")
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(mg.bool, "logical")
    assert xp.result_type(mg.float32, mg.float64, 1) == mg.float64
    for args in [(mg.int32, mg.float32), (mg.int32, 1.5), (mg.bool, 1), (mg.float32, 1j)]:
        with pytest.raises(TypeError):
            xp.result_type(*args)
    assert xp.can_cast(mg.int32, mg.int64) and not xp.can_cast(mg.int64, mg.int32) and not xp.can_cast(mg.int32, mg.float64)
    assert xp.finfo(mg.float32).bits == 32 and xp.iinfo(mg.tensor([1])).max == 2**63 - 1 and xp.finfo(mg.float64).dtype == mg.float64
    info = xp.__array_namespace_info__()
    assert "cpu" in [str(device) for device in info.devices()] and info.default_device() in info.devices()
    assert info.default_dtypes()["indexing"] == mg.int64 and "float64" in info.dtypes(kind="real floating")


def test_linear_algebra(x):
    assert xp.linalg.trace(x).item() == 8.0 and xp.linalg.trace(x, offset=1).item() == 1.0
    assert xp.vecdot(x, x).tolist() == [10.0, 29.0]
    with pytest.raises(ValueError, match="elements"):
        xp.vecdot(x, x[:, :1])
    assert xp.linalg.solve(x, x).flatten().tolist() == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-6)
    assert xp.linalg.matrix_rank(xp.stack([x, x * 0]), rtol=mg.tensor([0.1, 0.1], device=x.device)).tolist() == [2, 0]
    near = xp.linalg.pinv(x, rtol=mg.tensor(1e-6, device=x.device)) @ x
    assert near.flatten().tolist() == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-5)


def test_gradients_flow(x):
    y = x.clone().requires_grad_()
    xp.sum(xp.square(xp.concat([y, y], axis=0)), axis=(0, 1)).backward()
    assert y.grad.tolist() == [[12.0, 4.0], [8.0, 20.0]]


def exceptions():
    """What may fail of the suite, as patterns, and whether it always does."""
    lines = (Path(__file__).parent / "array_api_exceptions.txt").read_text().splitlines()
    for line in lines:
        if line and not line.startswith("#"):
            sometimes, test = line.startswith("? "), line.removeprefix("? ")
            yield test, re.compile(re.escape(test).replace(r"\*", ".*")), sometimes


def test_exceptions_are_listed_once():
    tests = [test for test, _, _ in exceptions()]
    assert tests and all(test.startswith("array_api_tests/") for test in tests) and len(tests) == len(set(tests))


def test_suite_of_the_standard():
    """Nothing but what is listed fails, and all that is listed as failing does."""
    suite = os.environ.get("ARRAY_API_TESTS")
    if not suite:
        pytest.skip("skipped: ARRAY_API_TESTS names no checkout of data-apis/array-api-tests")
    for module in ("hypothesis", "ndindex", "pytest_jsonreport"):
        pytest.importorskip(module)
    settings = {"MODULE": "micrograd_rs.array_api", "VERSION": "2024.12", "SKIP_DTYPES": "complex64,complex128"}
    paths = [str(Path(mg.__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {
        **{name: value for name, value in os.environ.items() if name != "ARRAY_API_TESTS"},
        **{f"ARRAY_API_TESTS_{name}": value for name, value in settings.items()},
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "COLUMNS": "1000",
    }
    options = "-q --color=no --tb=no -rfE -p no:cacheprovider -o addopts= --max-examples=20 --derandomize --disable-deadline"
    command = [sys.executable, "-W", "ignore", "-m", "pytest", *options.split(), "--disable-extension", "fft", "--", "array_api_tests"]
    run = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True, timeout=900)
    lines = run.stdout.splitlines()
    assert re.search(r"[1-9]\d\d passed", lines[-1]), run.stdout[-2000:] + run.stderr[-2000:]
    failed = [line.split(" ", 1)[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    assert not [test for test in failed if not any(pattern.match(test) for _, pattern, _ in exceptions())]
    assert not [test for test, pattern, sometimes in exceptions() if not sometimes and not any(map(pattern.match, failed))]
    print(lines[-1])


def test_as_many_axes_are_told_of_as_there_may_be():
    most = xp.__array_namespace_info__().capabilities()["max dimensions"]
    assert xp.zeros((1,) * most).ndim == most
    with pytest.raises(ValueError):
        xp.zeros((1,) * (most + 1))
