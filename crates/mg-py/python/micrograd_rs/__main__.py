"""`python -m micrograd_rs`: the version, the devices, and whether what runs here computes rightly."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable

import micrograd_rs as mg
from micrograd_rs import nn, optim


def _product(device: mg.Device) -> bool:
    a = mg.arange(64 * 48, dtype=mg.float64, device=device).reshape(64, 48) % 7
    b = mg.arange(48 * 32, dtype=mg.float64, device=device).reshape(48, 32) % 5
    return mg.equal(a @ b, (a.unsqueeze(2) * b).sum(1)) and mg.equal((a.float() @ b.float()).double(), a @ b)


def _gradient(device: mg.Device) -> bool:
    x = mg.linspace(-2, 2, 1001, device=device, dtype=mg.float64).requires_grad_()
    (x.tanh() * x.exp()).sum().backward()
    y = x.detach()
    wanted = y.exp() * (y.tanh() + 1 - y.tanh() ** 2)
    return x.grad is not None and mg.allclose(x.grad, wanted, rtol=1e-12)


def _training(device: mg.Device) -> bool:
    x = mg.linspace(-1, 1, 64, device=device).unsqueeze(1)
    y = 2 * x - 1
    net = nn.Linear(1, 1, device=device)
    adam = optim.Adam(net.parameters(), lr=0.1)

    @mg.jit
    def step(x: mg.Tensor, y: mg.Tensor) -> mg.Tensor:
        loss: mg.Tensor = nn.MSELoss()(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    losses = [step(x, y) for _ in range(200)]
    return float(losses[-1]) < 1e-3


CHECKS: dict[str, Callable[[mg.Device], bool]] = {
    "products": _product,
    "gradients": _gradient,
    "a training that is replayed": _training,
}


def main() -> int:
    """Prints what there is, and answers with 1 where a check fails."""
    print(f"micrograd_rs {mg.__version__}, Python {platform.python_version()}, {platform.platform()}")
    devices = [mg.Device("cpu")]
    print(f"cpu: {mg.get_num_threads()} threads")
    if mg.cuda.is_available():
        for i in range(mg.cuda.device_count()):
            name, (major, minor) = mg.cuda.get_device_name(i), mg.cuda.get_device_capability(i)
            memory = mg.cuda.get_device_properties(i).total_memory / 2**30
            print(f"cuda:{i}: {name}, compute capability {major}.{minor}, {memory:.1f} GiB")
            devices.append(mg.Device(f"cuda:{i}"))
    else:
        try:
            mg.zeros(1, device="cuda")
        except RuntimeError as why:
            print(f"no GPU: {str(why).removeprefix('device: ')}")
    wrong = 0
    for device in devices:
        for name, check in CHECKS.items():
            try:
                said = "ok" if check(device) else "WRONG"
            except Exception as error:
                said = f"FAILED: {error}"
            wrong += said != "ok"
            print(f"{device}: {name}: {said}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
