"""Functions with gradients of their own: autograd.Function in several styles, hooks on tensors, gradcheck."""

import torch
from torch.autograd import Function, gradcheck

from given import normals


class LegendrePolynomial3(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return 0.5 * (5 * input**3 - 3 * input)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * input**2 - 1)


class BinaryActivation(torch.autograd.Function):
    """Straight through."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x.abs() > 1] = 0
        return grad_input


class LinearFunction(Function):
    @staticmethod
    def forward(input, weight, bias):
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, bias = inputs
        ctx.save_for_backward(input, weight, bias)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.mm(weight)
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


class GradientReversal(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.alpha, None


def main():
    x = torch.linspace(-3.14, 3.14, 50)
    y = torch.sin(x)
    a, b, c, d = (torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3))
    losses = []
    for _ in range(5):
        y_pred = a + b * LegendrePolynomial3.apply(c + d * x)
        loss = (y_pred - y).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= 5e-6 * p.grad
                p.grad = None
        losses.append(loss.item())
    linear = LinearFunction.apply
    args = (torch.tensor(normals(1, 4, 3), dtype=torch.double, requires_grad=True), torch.tensor(normals(2, 2, 3), dtype=torch.double, requires_grad=True), None)
    assert gradcheck(linear, args, eps=1e-6, atol=1e-4)
    w = torch.tensor(normals(3, 5, 4), requires_grad=True)
    seen = []
    h = BinaryActivation.apply(torch.tensor(normals(4, 6, 4)) @ w.t())
    h.register_hook(lambda g: seen.append(g.norm().item()))
    h.retain_grad()
    out = GradientReversal.apply(h, 0.5)
    out.pow(2).mean().add(out.sum()).backward()
    losses += [w.grad.sum().item(), h.grad.abs().sum().item(), *seen]
    z = torch.tensor([1.0, 2.0], requires_grad=True)
    handle = z.register_hook(lambda g: g * 2)
    (z**2).sum().backward()
    handle.remove()
    (z**2).sum().backward()
    return losses + z.grad.tolist()
