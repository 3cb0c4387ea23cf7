"""Tensors from nothing, and random numbers: of these the shapes and dtypes, and what does not depend on chance."""


def drawn(call: str) -> str:
    """Samples of a call that draws: the sizes of what it makes, and its sum times 0 in its dtype."""
    return f"(lambda r: (list(r.shape), r * 0))({call})"


SAMPLES = {
    "new_zeros": ["x.new_zeros(2, 3)", "x.new_zeros((2, 3))", "x.new_zeros(4, dtype=L.int64)", "i.new_zeros([])"],
    "new_ones": ["x.new_ones(2, 3)", "x.new_ones((2, 0))", "t.new_ones(3)"],
    "new_empty": ["list(x.new_empty(2, 3).shape)"],
    "new_full": ["x.new_full((2, 2), 3)", "x.new_full((2,), 1.5, dtype=L.float32)", "i.new_full((2,), 7)"],
    "scalar_tensor": [{"call": "L.scalar_tensor(3)", "dtypes": False}, "L.scalar_tensor(2.5, dtype=L.float64)"],
    "logspace": ["L.logspace(-1, 2, 4, dtype=L.float64)", "L.logspace(0, 3, 5, base=2.0, dtype=L.float64)", {"call": "L.logspace(0, 1, 3)", "rtol": 1e-6}, "L.logspace(1, 2, 1)", "L.logspace(1.2, 3.9, 4, base=2.5, dtype=L.int64)", "L.logspace(1, 2, 0)"],
    "range": ["L.range(1, 4)", "L.range(0, 1, 0.25, dtype=L.float64)", "L.range(4, 1, -1.5)"],
    "randperm": [drawn("L.randperm(7)"), "L.randperm(0)", drawn("L.randperm(5, dtype=L.int32)")],
    "rand": [drawn("L.rand(2, 3, dtype=x.dtype)"), drawn("L.rand((2, 3))"), drawn("L.rand(size=(4,))"), "L.rand(0, 3)", "L.rand(5).floor()"],
    "randn": [drawn("L.randn(2, 3, dtype=x.dtype)"), drawn("L.randn([2, 3])"), "L.randn(0)"],
    "randint_like": [drawn("L.randint_like(x, 5)"), "L.randint_like(x, 3, 4)", "L.randint_like(i, 2, 3, dtype=L.float32)"],
    "normal": [
        drawn("L.normal(x.detach(), p.detach())"),
        drawn("L.normal(2.0, 3.0, size=(2, 3))"),
        drawn("L.normal(x.detach(), 0.5)"),
        drawn("L.normal(mean=1.0, std=p.detach())"),
        "L.normal(x.detach(), 0.0)",
        {"call": "L.normal(x.detach(), -1.0)", "error": True},
    ],
    "bernoulli": [
        drawn("L.bernoulli(u.detach())"),
        "L.bernoulli(L.ones(3, 2))",
        "x.detach().bernoulli(0.0)",
        "x.detach().clone().bernoulli_(1)",
        "i.clone().bernoulli_(0.0)",
        "x.detach().clone().bernoulli_(L.zeros(4))",
        {"call": "x.bernoulli(1.5)", "error": True},
    ],
    "multinomial": [
        drawn("L.multinomial(u.detach()[0], 2)"),
        drawn("u.detach().multinomial(6, replacement=True)"),
        drawn("u.detach().multinomial(4)"),
        "L.multinomial(L.tensor([0.0, 0.0, 2.0]), 3, replacement=True)",
        "L.multinomial(L.tensor([[0.0, 1.0], [3.0, 0.0]]), 1)",
        {"call": "L.multinomial(u, 5)", "error": True},
    ],
}
INTENDED = {"randint_like:bool": "integers are drawn, and converted"}
