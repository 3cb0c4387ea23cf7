"""Random numbers whose law is another in each element: their shapes and dtypes, and what does not depend on chance."""

from .creation import drawn

SAMPLES = {
    "standard_gamma": [
        {"call": drawn("L.standard_gamma(p.detach())"), "torch": drawn("L._standard_gamma(p.detach())")},
        {"call": "L.standard_gamma(p.detach() * 0)", "torch": "p.detach() * 0"},
        {"call": "(L.standard_gamma(p) > 0)", "torch": "(L._standard_gamma(p) > 0)"},
        {"call": "L.standard_gamma(i)", "torch": "L._standard_gamma(i)", "error": True, "dtypes": False},
    ],
    "poisson": [
        drawn("L.poisson(p.detach())"),
        "L.poisson(x.detach() * 0)",
        "(L.poisson(p.detach() * 1e4) > 0)",
        {"call": "L.poisson(i)", "torch": "L._standard_gamma(i)", "error": True, "dtypes": False},
    ],
}
