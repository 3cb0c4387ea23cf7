"""Mixed precision: regions, and the scaler of gradients."""

from __future__ import annotations

import pickle
import warnings

import micrograd_rs as mg
import pytest
from conftest import leaf as leaf_of
from micrograd_rs import nn

X = [[1.0, 2.0], [3.0, -4.0]]


def leaf():
    return mg.tensor([[0.5, 0.25], [1.0, -1.0]]).requires_grad_(True)


@pytest.mark.parametrize("dtype", [mg.bfloat16, mg.float16])
def test_products_run_in_the_lower_dtype(device, dtype):
    kind = str(device).split(":")[0]
    w = mg.tensor([[0.5, 0.25], [1.0, -1.0]], device=device).requires_grad_(True)
    x = mg.tensor(X, device=device)
    with mg.autocast(kind, dtype=dtype):
        y = x @ w
        assert y.dtype == dtype
        assert (y + x).dtype == mg.float32  # promoted, on no list
        assert nn.functional.mse_loss(y, x).dtype == mg.float32
        assert (x.double() @ w.double()).dtype == mg.float64
        with mg.autocast(kind, enabled=False):
            assert (x @ w).dtype == mg.float32
        assert (x @ w).dtype == dtype
    assert (x @ w).dtype == mg.float32
    y.sum().backward()
    assert w.grad.dtype == mg.float32
    assert w.grad.tolist() == [[4.0, 4.0], [-2.0, -2.0]]


def test_the_other_device_is_left_alone():
    x = mg.tensor(X)
    mg.set_autocast_enabled("cuda", True)
    try:
        assert (x @ x).dtype == mg.float32
    finally:
        mg.set_autocast_enabled("cuda", False)


def test_as_a_decorator():
    @mg.autocast("cpu", dtype=mg.bfloat16)
    def product(a, b):
        """Words."""
        assert mg.is_autocast_enabled("cpu")
        return a @ b

    assert product.__doc__ == "Words."
    assert product(mg.tensor(X), mg.tensor(X)).dtype == mg.bfloat16
    assert not mg.is_autocast_enabled("cpu")


def test_what_is_switched_on():
    assert mg.get_autocast_dtype("cpu") == mg.bfloat16
    assert mg.get_autocast_dtype("cuda") == mg.float16
    assert mg.is_autocast_cache_enabled()
    with mg.autocast("cpu", dtype=mg.float16, cache_enabled=False):
        assert mg.get_autocast_dtype("cpu") == mg.float16
        assert not mg.is_autocast_cache_enabled()
        assert mg.is_autocast_enabled("cpu") and not mg.is_autocast_enabled("cuda")
    assert mg.get_autocast_dtype("cpu") == mg.bfloat16
    assert mg.is_autocast_cache_enabled()
    with pytest.raises(KeyError), mg.autocast("cpu"):
        raise KeyError
    assert not mg.is_autocast_enabled("cpu")


def test_bad_arguments():
    with pytest.raises(RuntimeError, match="tpu"):
        mg.autocast("tpu")
    with pytest.raises(ValueError, match="device_type"):
        mg.autocast(3)
    with pytest.warns(UserWarning, match="float16 and bfloat16"):
        region = mg.autocast("cpu", dtype=mg.float32)
    with region:
        assert (mg.tensor(X) @ mg.tensor(X)).dtype == mg.float32


def test_in_place_keeps_the_dtype():
    x = mg.zeros(2, 2)
    with mg.autocast("cpu"):
        x.addmm_(mg.tensor(X), mg.tensor(X))
    assert x.dtype == mg.float32
    assert x.tolist() == (mg.tensor(X) @ mg.tensor(X)).tolist()


def test_a_parameter_is_converted_once_and_anew_when_it_changes():
    w = leaf()
    with mg.autocast("cpu"):
        first = mg.tensor(X) @ w
        with mg.no_grad():
            w.mul_(2.0)
        second = mg.tensor(X) @ w
    assert second.tolist() == (first * 2).tolist()
    second.sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0], [-2.0, -2.0]]


def test_a_first_use_without_gradient_takes_none_from_the_second():
    w = leaf()
    with mg.autocast("cpu"):
        with mg.no_grad():
            assert not (mg.tensor(X) @ w).requires_grad
        (mg.tensor(X) @ w).sum().backward()
    assert w.grad is not None


def test_jit_records_each_region_by_itself():
    w = leaf()
    step = mg.jit(lambda x: x @ w)
    x = mg.tensor(X)
    for _ in range(4):
        assert step(x).dtype == mg.float32
        with mg.autocast("cpu", dtype=mg.bfloat16):
            assert step(x).dtype == mg.bfloat16
        with mg.autocast("cpu", dtype=mg.float16):
            assert step(x).dtype == mg.float16


def test_jit_of_a_step_within_a_region_follows_the_parameters():
    def run(wrap):
        w = leaf()
        sgd = mg.optim.SGD([w], lr=0.01)

        def step(x):
            sgd.zero_grad()
            with mg.autocast("cpu"):
                loss = nn.functional.mse_loss(x @ w, x)
            loss.backward()
            sgd.step()
            return loss

        step = wrap(step)
        losses = []
        with mg.autocast("cpu", dtype=mg.float16):
            for i in range(6):
                losses.append(step(mg.tensor(X) * (1 + i)).item())
        return losses, w.tolist()

    assert run(mg.jit) == run(lambda f: f)


def test_checkpoint_runs_again_as_it_ran():
    from micrograd_rs.utils.checkpoint import checkpoint

    w, seen = leaf(), []

    def part(x):
        y = x @ w
        seen.append(y.dtype)
        return y.float()

    with mg.autocast("cpu"):
        out = checkpoint(part, mg.tensor(X).requires_grad_(True), use_reentrant=False)
    out.sum().backward()
    assert seen == [mg.bfloat16, mg.bfloat16]


def test_a_region_of_mixed_precision_has_several_backwards():
    w, x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), mg.tensor([[1.0, 1.0]])
    with mg.autocast("cpu", dtype=mg.bfloat16):
        for _ in range(3):
            (x @ w).sum().backward()
    assert w.grad.tolist() == [[3, 3], [3, 3]]


def test_functions_that_are_written_by_hand():
    seen = []

    class Product(mg.autograd.Function):
        @staticmethod
        @mg.amp.custom_fwd(device_type="cpu", cast_inputs=mg.float32)
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            seen.append((a.dtype, mg.is_autocast_enabled("cpu")))
            return a @ b

        @staticmethod
        @mg.amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            a, b = ctx.saved_tensors
            seen.append(mg.is_autocast_enabled("cpu"))
            return grad @ b.t(), a.t() @ grad

    w = leaf()
    with mg.autocast("cpu"):
        y = Product.apply(mg.tensor(X).bfloat16(), w)
    assert y.dtype == mg.float32
    y.sum().backward()
    assert seen == [(mg.float32, False), False]
    assert w.grad.tolist() == [[4.0, 4.0], [-2.0, -2.0]]


OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("Adam", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "amsgrad": True}),
    ("NAdam", {"lr": 0.01}),
    ("RAdam", {"lr": 0.01}),
    ("Adamax", {"lr": 0.01}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1}),
    ("ASGD", {"lr": 0.1}),
    ("Adafactor", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9}),
    ("Rprop", {"lr": 0.01}),
    ("Adadelta", {}),
]


def train(L, name, options, bad, *, jit=False, clip=False, steps=10):
    weights = [[0.1 * (i - 3) + 0.07 * j for j in range(3)] for i in range(4)]
    w, b = L.tensor(weights).requires_grad_(True), L.zeros(3).requires_grad_(True)
    optimizer = getattr(L.optim, name)([w, b], **options)
    scaler = L.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=3)

    def step(x):
        optimizer.zero_grad()
        loss = ((x @ w + b) ** 2).mean()
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            L.nn.utils.clip_grad_norm_([w, b], 0.5)
        scaler.step(optimizer)
        scaler.update()
        return loss

    if jit:
        step = mg.jit(step)
    scales = []
    for i in range(steps):
        rows = [[((i * 7 + r * 5 + c * 3) % 11) / 11 - 0.4 for c in range(4)] for r in range(5)]
        if i in bad:
            rows[0][0] = float("inf")
        step(L.tensor(rows))
        scales.append(scaler.get_scale())
    if jit:
        assert step.reason is None
    state = optimizer.state_dict()["state"].get(0, {})
    counted = {k: float(state[k]) for k in ("step", "mu_product", "eta", "mu") if k in state}
    return w.detach().flatten().tolist() + b.detach().tolist(), scales, counted


@pytest.mark.parametrize("bad", [(), (0,), (2, 3, 7)])
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_steps_are_left_out_as_pytorch_leaves_them_out(name, options, bad):
    torch = pytest.importorskip("torch", reason="compares with PyTorch")
    for clip in (False, True):
        wanted = train(torch, name, options, bad, clip=clip)
        for jit in (False, True):
            got = train(mg, name, options, bad, jit=jit, clip=clip)
            assert got[0] == pytest.approx(wanted[0], abs=3e-6)
            assert got[1] == wanted[1]
            assert got[2] == pytest.approx(wanted[2], rel=1e-6)


def test_a_step_that_is_left_out_changes_nothing():
    w = leaf()
    adam = mg.optim.Adam([w], lr=0.1)
    scaler = mg.amp.GradScaler("cpu", init_scale=4.0)
    scaler.scale(w.sum()).backward()
    scaler.step(adam)
    scaler.update()
    before, state = w.tolist(), {k: v.tolist() for k, v in adam.state[w].items()}
    w.grad = mg.full((2, 2), float("nan"))
    scaler.step(adam)
    scaler.update()
    assert w.tolist() == before
    assert {k: v.tolist() for k, v in adam.state[w].items()} == state
    assert scaler.get_scale() == 2.0


def test_parameters_without_gradient_are_counted_by_themselves():
    a, b = leaf(), leaf()
    adam = mg.optim.Adam([a, b], lr=0.1)
    scaler = mg.amp.GradScaler("cpu", init_scale=4.0)
    for i in range(5):
        adam.zero_grad()
        loss = a.sum() + (b.sum() if i % 2 == 0 else 0.0)
        scaler.scale(loss * (float("inf") if i == 2 else 1.0)).backward()
        scaler.step(adam)
        scaler.update()
    steps = [float(adam.state[p]["step"]) for p in (a, b)]
    assert steps == [4.0, 2.0]


def test_an_optimizer_in_python():
    class Plain(mg.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})
            self.steps = 0

        def step(self, closure=None):
            self.steps += 1

    w = leaf()
    plain, scaler = Plain([w]), mg.amp.GradScaler("cpu")
    for factor in (1.0, float("inf")):
        w.grad = None
        scaler.scale(w.sum() * factor).backward()
        scaler.step(plain)
        scaler.update()
    assert plain.steps == 1


def test_the_order_of_calls():
    w = leaf()
    sgd, scaler = mg.optim.SGD([w], lr=0.1), mg.amp.GradScaler("cpu")
    with pytest.raises(RuntimeError, match="scale"):
        scaler.step(sgd)
    loss = scaler.scale(w.sum())
    with pytest.raises(RuntimeError, match="no gradients"):
        scaler.unscale_(sgd)
    loss.backward()
    with pytest.raises(RuntimeError, match="before a step"):
        scaler.update()
    scaler.unscale_(sgd)
    with pytest.raises(RuntimeError, match="already"):
        scaler.unscale_(sgd)
    scaler.step(sgd)
    with pytest.raises(RuntimeError, match="already"):
        scaler.step(sgd)
    with pytest.raises(RuntimeError, match="after step"):
        scaler.unscale_(sgd)
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(scaler)
    scaler.update()
    half = mg.ones(2, dtype=mg.float16).requires_grad_(True)
    other = mg.optim.SGD([half], lr=0.1)
    scaler.scale(half.sum()).backward()
    with pytest.raises(TypeError, match="float16"):
        scaler.step(other)
    with pytest.raises(ValueError, match="growth_factor"):
        mg.amp.GradScaler("cpu", growth_factor=1.0)


def test_scalers_know_optimisers_not_their_addresses():
    scaler = mg.amp.GradScaler("cpu", init_scale=2.0)
    for _ in range(50):
        # Each may come to be where the last one was.
        w = leaf_of([1.0])
        sgd = mg.optim.SGD([w], lr=0.25)
        scaler.scale(w.sum()).backward()
        scaler.step(sgd)
        assert w.tolist() == [0.75]
        del sgd
        scaler.update()
    scaler.scale(leaf_of([1.0]).sum())
    with pytest.raises(RuntimeError, match="before a step"):
        scaler.update()


def test_its_state():
    w = leaf()
    sgd, scaler = mg.optim.SGD([w], lr=0.1), mg.amp.GradScaler("cpu", init_scale=8.0, growth_interval=5)
    for _ in range(3):
        scaler.scale(w.sum()).backward()
        scaler.step(sgd)
        scaler.update()
    state = scaler.state_dict()
    assert state == {
        "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 5, "_growth_tracker": 3,
    }  # fmt: skip
    other = mg.amp.GradScaler("cpu")
    other.load_state_dict(state)
    assert other.state_dict() == state == pickle.loads(pickle.dumps(scaler)).state_dict()
    other.scale(w.sum())
    other.update(32.0)
    assert other.get_scale() == 32.0
    other.load_state_dict(state)
    assert other.state_dict() == state


def test_switched_off_it_does_nothing():
    w = leaf()
    sgd, scaler = mg.optim.SGD([w], lr=0.1), mg.amp.GradScaler("cpu", enabled=False)
    loss = w.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(sgd)
    scaler.step(sgd)
    scaler.update()
    assert scaler.state_dict() == {} and scaler.get_scale() == 1.0 and not scaler.is_enabled()
    assert mg.allclose(w, leaf() - 0.1)


def test_the_older_names():
    from micrograd_rs.cuda.amp import GradScaler, autocast, custom_bwd, custom_fwd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(GradScaler(), mg.amp.GradScaler)
        assert isinstance(autocast(), mg.amp.autocast)
    assert callable(custom_fwd(cast_inputs=mg.float32)) and callable(custom_bwd())
