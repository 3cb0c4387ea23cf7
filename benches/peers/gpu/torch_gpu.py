"""The work of examples/gpu by PyTorch, on the same machine in the same run: many calls, one synchronisation, the best of
five. Prints one line a measurement, in the example's words."""

import time

import torch
import torch.nn.functional as F


def timed(n, f):
    for _ in range(3):
        f()
    torch.cuda.synchronize()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            f()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - start) / n)
    return best * 1e6


def elementwise():
    n = 1 << 28
    x, y = (torch.rand(n, device="cuda") for _ in range(2))
    size = n * 4
    for name, bytes_moved, f in [
        ("add", 3 * size, lambda: x + y),
        ("mul", 3 * size, lambda: x * y),
        ("relu", 2 * size, lambda: x.relu()),
        ("exp", 2 * size, lambda: x.exp()),
        ("pow(2.5)", 2 * size, lambda: x.pow(2.5)),
        ("sum", size, lambda: x.sum()),
        ("max", size, lambda: x.max()),
    ]:
        t = timed(20, f)
        print(f"{name} 2^28: {t:.1f} us, {bytes_moved / t / 1e6:.2f} TB/s")


def chains():
    for n in [16, 1000, 1_000_000, 1 << 24, 1 << 27]:
        a, b = (torch.rand(n, device="cuda", requires_grad=True) for _ in range(2))
        x, y = a.detach(), b.detach()
        reps = 20 if n > 1 << 22 else 200
        add = timed(reps, lambda: x + y)
        forward = timed(reps, lambda: ((x * y + x).relu() ** 2).sum())

        def both():
            a.grad = b.grad = None
            ((a * b + a).relu() ** 2).sum().backward()

        print(f"n = {n}: add {add:.2f} us, chain forward {forward:.2f} us, forward and backward {timed(reps, both):.2f} us")


def rows():
    m, n = 16384, 4096
    x = torch.rand(m, n, device="cuda", requires_grad=True)
    g = torch.rand(m, n, device="cuda")
    w, b = (torch.ones(n, device="cuda", requires_grad=True) for _ in range(2))
    for name, f in [
        ("softmax", lambda: F.softmax(x, -1)),
        ("layer_norm", lambda: F.layer_norm(x, (n,), w, b)),
        ("gelu", lambda: F.gelu(x)),
    ]:
        with torch.no_grad():
            forward = timed(20, f)

        def both():
            x.grad = w.grad = b.grad = None
            f().backward(g)

        print(f"{name} {m}x{n}: forward {forward:.1f} us, with backward {timed(20, both):.1f} us")
    with torch.no_grad():
        print(f"sum over axis 0 {m}x{n}: forward {timed(20, lambda: x.sum(0)):.1f} us")
        print(f"sum over axis 1 {m}x{n}: forward {timed(20, lambda: x.sum(1)):.1f} us")
        print(f"transposed copy {m}x{n}: {timed(20, lambda: x.t().contiguous()):.1f} us")


def products():
    for dtype, precision in [
        (torch.float32, "highest"),
        (torch.float32, "high"),
        (torch.bfloat16, "high"),
        (torch.float16, "high"),
    ]:
        torch.set_float32_matmul_precision(precision)
        line = f"matmul {str(dtype)[6:]} {precision}:"
        for n in [512, 1024, 2048, 4096, 8192]:
            a, b = (torch.randn(n, n, device="cuda", dtype=dtype) for _ in range(2))
            t = timed(5 if n > 4096 else 20, lambda: a @ b)
            line += f" {n}: {2 * n**3 / t / 1e6:.1f}"
        print(line, "TFLOP/s")
    torch.set_float32_matmul_precision("highest")


def steps():
    for precision in ["highest", "high"]:
        torch.set_float32_matmul_precision(precision)
        for batch in [128, 1024, 8192]:
            model = torch.nn.Sequential(
                torch.nn.Linear(784, 512),
                torch.nn.ReLU(),
                torch.nn.Linear(512, 256),
                torch.nn.ReLU(),
                torch.nn.Linear(256, 10),
            ).cuda()
            sgd = torch.optim.SGD(model.parameters(), 0.01)
            x = torch.rand(batch, 784, device="cuda")
            y = torch.arange(batch, device="cuda") % 10

            def step():
                loss = F.cross_entropy(model(x), y)
                sgd.zero_grad()
                loss.backward()
                sgd.step()

            eager = timed(100, step)
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    step()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            sgd.zero_grad(set_to_none=True)
            with torch.cuda.graph(graph):
                step()
            print(f"MLP step {precision} batch {batch}: {eager:.1f} us, CUDA graph {timed(100, graph.replay):.1f} us")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}")
    elementwise()
    chains()
    rows()
    products()
    steps()
