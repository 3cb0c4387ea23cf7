"""Uses of the package that type checkers must accept, and some that they must not."""

from __future__ import annotations

from typing import assert_type

import micrograd_rs as mg
from micrograd_rs import MLP, Tensor, Value, nn, optim
from micrograd_rs import functional as F
from micrograd_rs.autograd import grad


class Net(nn.Module):
    def __init__(self) -> None:
        self.hidden = nn.Linear(2, 8)
        self.out = nn.Linear(8, 1)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.out(self.hidden(x).tanh())
        return y


def tensors() -> None:
    x = Tensor([[1.0, 2], [3, 4]], requires_grad=True)
    assert_type(x + 1, Tensor)
    assert_type(2 * x, Tensor)
    assert_type(x @ x.t(), Tensor)
    assert_type(x[0, ::-1], Tensor)
    assert_type(x.grad, Tensor | None)
    assert_type(x.sum(dim=(0, 1), keepdim=True), Tensor)
    assert_type(F.softmax(x, dim=-1), Tensor)
    assert_type(mg.zeros(2, 3, dtype="f64"), Tensor)
    assert_type(mg.zeros((2, 3), dtype=mg.float32), Tensor)
    assert_type(mg.exp(x), Tensor)
    assert_type(len(x), int)
    x[0] = 5
    x[x > 2] = mg.tensor(0.0)
    (dx,) = grad(x.sum(), x)
    assert dx is not None
    values, indices = x.max(dim=0)
    print(values, indices, x.shape[0], float(x.mean()), x.numpy())


def training() -> None:
    net = Net()
    adam = optim.Adam(net.parameters(), lr=0.01, betas=(0.9, 0.99))
    schedule = optim.lr_scheduler.StepLR(adam, 3)

    @mg.jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        loss = F.mse_loss(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        return loss

    print(step(mg.randn(4, 2), mg.zeros(4, 1)))
    schedule.step()
    with mg.no_grad():
        print(net.state_dict())
    mg.save_safetensors(net.state_dict(), "net.safetensors")
    assert_type(mg.load_safetensors("net.safetensors"), dict[str, Tensor])


@mg.no_grad()
def decorated(x: int) -> str:
    return str(x)


assert_type(decorated(1), str)


def scalars() -> None:
    a = Value(2.0)
    b = 3 * a**2 + 1
    assert_type(b, Value)
    assert_type(b.data, float)
    a.grad = 0.0
    b.backward()
    net = MLP(2, [16, 1])
    assert_type(net.parameters(), list[Value])
    for p in net.parameters():
        p.data -= 0.1 * p.grad


def functions_around_operations() -> None:
    table = mg.zeros(3, 2)
    assert_type(F.embedding(mg.tensor([0, 2]), table, max_norm=1.0), Tensor)
    assert_type(F.embedding_bag(mg.tensor([[0, 2]]), table, scale_grad_by_freq=True), Tensor)
    assert_type(F.gumbel_softmax(table, eps=1e-10), Tensor)


def mistakes() -> None:
    Tensor([1.0]) + "x"  # type: ignore[operator]  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]
    mg.zeros("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue]
    Value("x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    mg.Tensor([1.0]).nonsense  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnusedExpression]
