"""Activation functions."""

SAMPLES = {
    "gelu": ["F.gelu(x)", 'F.gelu(x, approximate="tanh")', "F.gelu(z)", "F.gelu(e)"],
    "silu": ["F.silu(x)", "F.silu(h)", "F.silu(x.clone(), inplace=True)"],
    "leaky_relu": ["F.leaky_relu(x)", "F.leaky_relu(x, 0.3)", "F.leaky_relu(s, negative_slope=0.1)", "F.leaky_relu_(x.clone(), 0.2)"],
    "celu": ["F.celu(x)", "F.celu(x, alpha=0.5)", "L.celu(h)", "L.celu_(x.clone())"],
    "logaddexp": ["L.logaddexp(x, y)", "x.logaddexp(c)", "L.logaddexp(x, z)"],
}
