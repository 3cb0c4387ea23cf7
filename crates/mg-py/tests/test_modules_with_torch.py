"""Modules beside PyTorch's, where that is installed: state_dicts both ways, answers and gradients of all parameters in both modes."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from micrograd_rs import nn
from surface.inputs import flat, make
from surface.modules import CASES
from surface.run import gradients, value
from test_surface import near

torch = pytest.importorskip("torch")

# Their parameters are drawn by the two libraries' own generators before the state is copied, and the rest is as it is made.
CALLED = [pytest.param(made, called, id=f"{made} of {called}") for made, called in CASES if called is not None]


def both(made):
    theirs = eval(made, {**make(torch, torch.nn.functional), "nn": torch.nn}).double()  # noqa: S307
    ours = eval(made, {**make(mg, mg.nn.functional), "nn": nn}).double()  # noqa: S307
    return theirs, ours


def told(L, module, called):
    names = make(L, L.nn.functional)
    parts = [part for part in flat(eval(f"module({called})", {**names, "nn": L.nn, "module": module})) if part is not None]  # noqa: S307
    own = dict(module.named_parameters())
    by = gradients(L, parts, list(own.values()), 7, create_graph=False) if own else None
    found = {name: [] if g is None else value(g)["values"] for name, g in zip(own, by or [None] * len(own))}
    return [value(part) for part in parts], found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("made", "called"), CALLED)
def test_states_answers_and_gradients(made, called):
    theirs, ours = both(made)
    ours.load_state_dict(theirs.state_dict())
    for training in (True, False):
        theirs.train(training)
        ours.train(training)
        (wanted, wanted_by), (got, got_by) = told(torch, theirs, called), told(mg, ours, called)
        for a, b in zip(got, wanted, strict=True):
            if "values" in b:
                near(a["values"], b["values"], 1e-9, made)
        assert list(got_by) == list(wanted_by)
        for name, g in wanted_by.items():
            found = got_by[name]
            near(found or [0.0] * len(g), g or [0.0] * len(found), 1e-8, f"{made}: {name}")
    # And back: what was seen and drawn here goes there.
    again = eval(made, {**make(mg, mg.nn.functional), "nn": nn}).double()  # noqa: S307
    state = {name: torch.tensor(t.tolist(), dtype=theirs.state_dict()[name].dtype) for name, t in again.state_dict().items()}
    theirs.load_state_dict(state)
    assert list(state) == list(theirs.state_dict())


@pytest.mark.filterwarnings("ignore")
def test_initial_distributions():
    """Means, deviations and bounds of what is drawn are those of PyTorch, whatever is made."""
    for made in (
        "nn.Linear(400, 300)",
        "nn.Bilinear(20, 30, 40)",
        "nn.Embedding(200, 100)",
        "nn.LSTM(50, 60, 2, bidirectional=True, proj_size=20)",
        "nn.GRU(50, 60)",
        "nn.RNNCell(100, 90)",
        "nn.MultiheadAttention(64, 4)",
        "nn.MultiheadAttention(64, 4, kdim=70, vdim=80, add_bias_kv=True)",
        "nn.TransformerEncoderLayer(64, 4, 128)",
        "nn.Transformer(32, 4, 1, 1, 64)",
    ):
        theirs, ours = both(made)
        for (name, a), (other, b) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
            assert name == other and tuple(a.shape) == tuple(b.shape)
            n = b.numel()
            b = b.detach()
            spread = max(b.std(correction=0).item(), 1e-12)
            # Five standard errors; the largest of uniform numbers is close to the bound.
            assert a.std(correction=0).item() == pytest.approx(spread, rel=5 / n**0.5 + 1e-6, abs=1e-9), f"{made}: {name}"
            assert a.mean().item() == pytest.approx(b.mean().item(), abs=7 * spread / n**0.5 + 1e-9), f"{made}: {name}"
            if "Embedding" not in made and "bias_k" not in name and "bias_v" not in name:
                assert a.abs().max().item() == pytest.approx(b.abs().max().item(), rel=0.3, abs=1e-9), f"{made}: {name}"


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("enforce_sorted", [False, True])
def test_packed_sequences(batch_first, enforce_sorted):
    data = [[[float(100 * b + 10 * t + f) for f in range(2)] for t in range(4)] for b in range(3)]
    lengths = [4, 3, 1] if enforce_sorted else [1, 4, 2]
    found = []
    for L in (mg, torch):
        x = L.tensor(data)
        x = x if batch_first else x.transpose(0, 1)
        rnn = L.nn.utils.rnn
        packed = rnn.pack_padded_sequence(x, lengths, batch_first, enforce_sorted)
        padded, sizes = rnn.pad_packed_sequence(packed, batch_first, -1.0, total_length=5)
        parts = [t[:n] for t, n in zip(L.tensor(data), lengths)]
        answers = [*packed, padded, sizes, rnn.pad_sequence(parts, batch_first, 7.0), rnn.pad_sequence(parts, batch_first, padding_side="left")]
        answers += [*rnn.unpack_sequence(packed), *rnn.pack_sequence(parts, enforce_sorted)]
        answers += rnn.unpad_sequence(x, L.tensor(lengths), batch_first)
        found.append([None if a is None else a.tolist() for a in answers])
    assert found[0] == found[1]


def test_clipping():
    for norm_type in (2.0, 1.0, float("inf"), 3):
        theirs, ours = both("nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))")
        ours.load_state_dict(theirs.state_dict())
        norms = []
        for L, net in ((mg, ours), (torch, theirs)):
            (net(L.ones(5, 4, dtype=L.float64)).square().sum() * 10).backward()
            norms.append(L.nn.utils.clip_grad_norm_(net.parameters(), 0.5, norm_type).item())
        assert norms[0] == pytest.approx(norms[1])
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            near(a.grad.flatten().tolist(), b.grad.flatten().tolist(), 1e-9, "clipped")
        for L, net in ((mg, ours), (torch, theirs)):
            L.nn.utils.clip_grad_value_(net.parameters(), 0.05)
            assert max(p.grad.abs().max().item() for p in net.parameters()) <= 0.05
        for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
            near(a.grad.flatten().tolist(), b.grad.flatten().tolist(), 1e-9, "bounded")
