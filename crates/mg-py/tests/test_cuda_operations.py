"""Operations on tensors on a CUDA device stay there, and so do their gradients."""

from __future__ import annotations

import micrograd_rs as mg
import pytest
from conftest import close, needs_cuda
from micrograd_rs import nn

pytestmark = needs_cuda


def test_numbers_and_indices():
    t = mg.tensor([1.0, 2.0, 3.0], device="cuda")
    assert (2**t).tolist() == [2, 4, 8] and (1 - t).tolist() == [0, -1, -2] and (t > 1).tolist() == [False, True, True]
    assert t[[0, 2]].tolist() == [1, 3] and t[mg.tensor([-1])].tolist() == [3] and t[t > 1].tolist() == [2, 3]
    t[t > 2] = 9
    t[mg.tensor([0])] = 7.0
    t[1] = 8
    assert t.tolist() == [7, 8, 9] and mg.one_hot(mg.tensor([1], device="cuda"), 2).tolist() == [[0, 1]]
    with pytest.raises(IndexError):
        (t[mg.tensor([3], device="cuda") + 2]).tolist()


F = nn.functional

OPERATIONS = {
    "arithmetic": lambda x, y, i: (x + y) * 2 - 1 / (y.abs() + 1) + (3 - x) / 7 + 2**x - (-x) + abs(y),
    "powers": lambda x, y, i: x.abs() ** 0.5 + x**2 + x.square() + (x.abs() + 1).rsqrt() + (x.abs() + 1).reciprocal(),
    "functions": lambda x, y, i: x.exp() + (x.abs() + 1).log() + x.tanh() + x.sigmoid() + x.sin() + x.cos() + x.erf() + x.sign(),
    "activations": lambda x, y, i: x.relu() + x.gelu() + x.silu() + x.softplus() + x.leaky_relu(0.1) + x.clamp(-1, 0.5),
    "comparisons": lambda x, y, i: ((x > y) & (x < 1)) | (x == 0) | ~(y >= 0) ^ (x != y),
    "choices": lambda x, y, i: mg.where(x > 0, x, y) + mg.where(x > 0, 1.0, y) + x.masked_fill(x > 0, 3.0) + x.maximum(y).minimum(0.5),
    "reductions": lambda x, y, i: mg.stack([x.sum(), x.mean(), x.amax(), x.amin(), x.var(), x.std(), x.prod(), x.logsumexp(), x.norm()]),
    "axes": lambda x, y, i: mg.cat([x.sum(0), x.mean(0), x.amax(0), x.var(0), x.argmax(0).float(), x.min(0)[0], x.max(0)[1].float()]),
    "any and all": lambda x, y, i: mg.stack([(x > 0).any(), (x > 9).any(), (x < 9).all(), x.isfinite().all(), x.isnan().any()]),
    "softmax": lambda x, y, i: x.softmax(1) + x.log_softmax(0),
    "layer_norm": lambda x, y, i: F.layer_norm(x, (4,), mg.ones_like(x[0]), mg.zeros_like(x[0])),
    "products": lambda x, y, i: x @ y.t() + x.mm(y.t()) + x[0].dot(y[0]) + x.matmul(y.t()),
    "views": lambda x, y, i: x.t().reshape(2, 6)[:, ::2].flip(0).permute(1, 0).unsqueeze(0).expand(2, 3, 2).contiguous(),
    "joins": lambda x, y, i: mg.cat([x, y, x[:1]], 0).repeat(2, 1).narrow(0, 3, 5),
    "splits": lambda x, y, i: mg.cat([*x.split(2, 1), *x.chunk(2, 1), *(t[:, None] for t in x.unbind(1))], 1),
    "indices": lambda x, y, i: mg.cat([x[i], x.index_select(0, i), x[[0, 2]], x[i, 1:2].expand(3, 4), x[:, [1, 0, 3, 3]]]),
    "masks": lambda x, y, i: mg.cat([x[x > 0], x.masked_select(x < 0), x.nonzero().flatten().float()]),
    "gather": lambda x, y, i: x.gather(1, i[:, None]) + x.scatter_add(1, i[:, None].expand(3, 4), y),
    "embedding": lambda x, y, i: F.embedding(i, x),
    "one_hot": lambda x, y, i: mg.one_hot(i, 5),
    "losses": lambda x, y, i: F.cross_entropy(x, i) + F.mse_loss(x, y) + F.nll_loss(x.log_softmax(1), i),
    "bce": lambda x, y, i: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "linear": lambda x, y, i: F.linear(x, y, y[:, 0]),
    "dropout": lambda x, y, i: F.dropout(x, 0.5, True) + x.dropout(0.25),
    "casts": lambda x, y, i: x.half().float() + x.bfloat16().float() + x.double().float() + x.long().float() + x.bool().float(),
    "likes": lambda x, y, i: mg.zeros_like(x) + mg.ones_like(x) + mg.full_like(x, 2.0) + mg.rand_like(x) + mg.randn_like(x),
    "numbers of integers": lambda x, y, i: (i + 1) * 2 - i / 2 + i**2 + (i == 1) + (1 - i),
}


def written(x, y, i):
    x = x.clone()
    x[0] = 1
    x[:, 1] = y[:, 1]
    x[i, 2] += 5
    x[x > 3] = 0
    x += y
    x.mul_(2).add_(1).clamp(-3, 3)
    x[1].fill_(7).sub_(y[1])
    nn.init.uniform_(x[:1])
    nn.init.normal_(x[1:2], 1.0, 0.5)
    nn.init.constant_(x[2:3, :2], 4.0)
    return x.copy_(x.cpu())


@pytest.mark.parametrize("f", [*OPERATIONS.values(), written], ids=[*OPERATIONS, "written"])
def test_operations_stay_on_the_device_of_their_tensors(f):
    """The default device is the host: nothing that an operation makes by itself may be made there."""
    assert mg.get_default_device() == "cpu"
    x, y = mg.tensor([[0.5, -1, 2, 0], [1, -2, 0.25, 3], [-0.5, 1, 1, -1]]), mg.randn(3, 4)
    i = mg.tensor([2, 0, 2])
    mg.manual_seed(4)
    host = f(x, y, i)
    mg.manual_seed(4)
    there = f(x.cuda(), y.cuda(), i.cuda())
    assert there.is_cuda and there.dtype == host.dtype and there.shape == host.shape
    close(there, host)


@pytest.mark.parametrize("name", [n for n in OPERATIONS if n not in ("comparisons", "any and all", "masks", "one_hot", "numbers of integers")])
def test_gradients_stay_on_the_device_of_their_tensors(name):
    def gradients(device):
        mg.manual_seed(4)
        x = mg.tensor([[0.5, -1, 2, 0.125], [1, -2, 0.25, 3], [-0.5, 1.5, 0.75, -1]]).to(device).requires_grad_()
        y = mg.randn(3, 4).to(device).requires_grad_()
        out = OPERATIONS[name](x, y, mg.tensor([2, 0, 2]).to(device))
        if out.requires_grad:
            (out**2).sum().backward()
        return x.grad, y.grad

    for host, there in zip(gradients("cpu"), gradients("cuda")):
        assert (host is None) == (there is None)
        if host is not None:
            assert there.is_cuda
            close(there, host, rtol=1e-4, atol=1e-5)
