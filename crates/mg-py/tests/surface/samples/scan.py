"""Running sums and their like."""

# PyTorch has no linear recurrence: the same by its own operations.


def recurrence(n: int) -> str:
    terms, y = [], "0"
    for i in range(n):
        y = f"(x[:, {i}] + y[:, {i}] * {y})"
        terms.append(y)
    return f"L.stack([{', '.join(terms)}], 1)"


SAMPLES = {
    "cumsum": [
        "L.cumsum(x, 0)",
        "x.cumsum(dim=1)",
        "h.cumsum(1)",
        "L.cumsum(x, -1, dtype=L.float32)",
        "z.cumsum(0)",
        "e.cumsum(0)",
        "s.cumsum(0)",
        "i.cumsum(1)",
        "t.cumsum(0)",
        "x.clone().cumsum_(1)",
        "x.t().cumsum(1)",
        "h.transpose(0, 2)[:, 1:].cumsum(0)",
        "L.zeros(2, 3, 0).cumsum(1)",
        "L.zeros(2, 0, 3).cumsum(1)",
        {"call": "x.cumsum(2)", "error": True},
    ],
    "cumprod": [
        "L.cumprod(x, 0)",
        "x.cumprod(1)",
        "(x * t).cumprod(1)",
        "(h * (h > 0)).cumprod(2)",
        "i.cumprod(1)",
        "z.cumprod(-1)",
        "h.cumprod(1)",
        "x.clone().cumprod_(0)",
    ],
    "logcumsumexp": ["L.logcumsumexp(x, 1)", "h.logcumsumexp(0)", "(x * 300).logcumsumexp(0)", "z.logcumsumexp(0)", "L.logcumsumexp(h, 2)"],
    "cummax": ["L.cummax(x, 1)", "h.cummax(1)[0]", "s.cummax(0)", "s2.cummax(0)", "j.cummax(0)", "z.cummax(0)", "x.cummax(0).values", "x.cummax(0).indices"],
    "cummin": ["L.cummin(x, 1)", "h.cummin(0)[0]", "s.cummin(0)", "s2.cummin(0)", "j.cummin(1)", "z.cummin(0)"],
    "recurrence": [{"call": "x.recurrence(y, 1)", "torch": recurrence(4), "dtypes": False}],
}
