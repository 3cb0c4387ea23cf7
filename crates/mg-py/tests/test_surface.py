"""Declared operations against what PyTorch answered: values, shapes, dtypes, gradients of first and second order."""

from __future__ import annotations

import json
import math
from pathlib import Path

import micrograd_rs as mg
import pytest
from micrograd_rs._micrograd_rs import _operations
from surface import samples
from surface.run import dtypes, evaluate

@pytest.fixture(autouse=True)
def made_there(device):
    """What a sample makes by itself is made where its operands are."""
    before = mg.get_default_device()
    mg.set_default_device(device)
    yield
    mg.set_default_device(before)


RECORDED = Path(__file__).parent / "surface" / "recorded"
FAMILIES = samples.families()
# What differs, with the reason.
INTENDED = {
    name: reason for family in FAMILIES for name, reason in getattr(samples.module(family), "INTENDED", {}).items()
}


def recorded(family):
    lines = (RECORDED / f"{family}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def calls(family):
    return [pytest.param(entry, id=entry["call"]) for entry in recorded(family)]


def near(got, wanted, rtol, what):
    assert len(got) == len(wanted), f"{what}: {got} is not {wanted}"
    for a, b in zip(got, wanted):
        if isinstance(b, float) and math.isnan(b):
            assert math.isnan(a), f"{what}: {got} is not {wanted}"
        elif isinstance(b, float) and math.isinf(b):
            assert a == b, f"{what}: {got} is not {wanted}"
        else:
            assert a == pytest.approx(b, rel=rtol, abs=max(rtol * 1e-2, 1e-9)), f"{what}: {got} is not {wanted}"


@pytest.mark.parametrize("family", FAMILIES)
def test_samples_are_recorded(family):
    wanted = [(name, s["call"]) for name, all_of in samples.of(family).items() for s in all_of]
    assert [(entry["name"], entry["call"]) for entry in recorded(family)] == wanted, "run `python -m surface.record`"


def test_every_operation_has_samples():
    known = {name for family in FAMILIES for name in samples.of(family)}
    rows = {name for name, _, _ in mg._micrograd_rs._rows()}
    # PyTorch has packed attention on CUDA devices only, and answers are recorded without one: `test_attention` compares it with sequences one by one. Rotary
    # positions are not among PyTorch's functions of networks: `test_rotary` compares them with its operator of ONNX.
    declared = {o["name"] for o in _operations() if o["places"]} - {"varlen_attn", "rotary_embedding"}
    assert declared - rows <= known, f"without samples: {sorted(declared - rows - known)}"


@pytest.mark.parametrize("entry", [entry for family in FAMILIES for entry in calls(family)])
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_answers_are_pytorchs(device, entry):
    F = mg.nn.functional
    if entry["error"]:
        with pytest.raises((ValueError, TypeError, RuntimeError, IndexError)):
            evaluate(mg, F, entry["call"], entry["order"], device)
        return
    got = evaluate(mg, F, entry["call"], entry["order"], device)
    assert len(got["answer"]) == len(entry["answer"]), entry["call"]
    for a, b in zip(got["answer"], entry["answer"]):
        if "number" in b:
            assert a.get("number", a.get("values", [None])[0]) == pytest.approx(b["number"]), entry["call"]
            continue
        assert (a["shape"], a["dtype"]) == (b["shape"], b["dtype"]), entry["call"]
        near(a["values"], b["values"], entry["rtol"], entry["call"])
    for order, (a, b) in enumerate(zip(got["gradients"], entry["gradients"])):
        # A gradient that is zero everywhere may be absent.
        assert set(a) == set(b), f"{entry['call']}: gradients of order {order + 1} by {sorted(a)}, not {sorted(b)}"
        for name in b:
            near(a[name], b[name], entry["rtol"] * 10, f"{entry['call']}: gradient of order {order + 1} by {name}")
    for missing in entry["gradients"][len(got["gradients"]) :]:
        assert not missing, f"{entry['call']}: no gradient of order {len(got['gradients']) + 1}"


@pytest.mark.parametrize("entry", [entry for family in FAMILIES for entry in calls(family) if entry.values[0].get("dtypes")])
def test_dtypes_are_pytorchs(device, entry):
    got = dtypes(mg, mg.nn.functional, entry["call"], device)
    wanted = entry["dtypes"]
    for dtype, answer in wanted.items():
        # What PyTorch has no kernel for is not a promise that there is none.
        if answer == "error" or f"{entry['name']}:{dtype}" in INTENDED:
            continue
        assert got[dtype] == answer, f"{entry['call']} of {dtype}"
