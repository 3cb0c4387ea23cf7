"""Special functions."""

SAMPLES = {
    "erfc": ["L.erfc(x)", "L.special.erfc(s)", "x.clone().erfc_()"],
    "erfinv": ["L.erfinv(o)", "L.special.erfinv(s)"],
    "lgamma": ["L.lgamma(p)", "L.lgamma(x)", "L.lgamma(s)", "p.clone().lgamma_()"],
    "digamma": ["L.digamma(p)", "L.digamma(x)", "L.digamma(s)"],
    "gammaln": ["L.special.gammaln(p)", "L.special.gammaln(x)"],
    "psi": ["L.special.psi(p)"],
    "expit": ["L.special.expit(x)"],
    "entr": ["L.special.entr(p)", {"call": "L.special.entr(s)", "order": 0}],
    "erfcx": ["L.special.erfcx(x)", "L.special.erfcx(s)", "L.special.erfcx(x * 8)"],
    "ndtr": ["L.special.ndtr(x)", "L.special.ndtr(s)", "L.special.ndtr(x * 5)"],
    "log_ndtr": ["L.special.log_ndtr(x)", "L.special.log_ndtr(s)", "L.special.log_ndtr(x * 20)"],
    "ndtri": ["L.special.ndtri(u)", "L.special.ndtri(s)", "L.special.ndtri(u * 1e-30)"],
    "i0": ["L.i0(x)", "L.special.i0(x * 5)", "L.i0(s[3:7])", "x.clone().i0_()"],
    "i0e": ["L.special.i0e(x)", "L.special.i0e(x * 20)", "L.special.i0e(s[3:])"],
    "i1": ["L.special.i1(x)", "L.special.i1(x * 5)"],
    "i1e": ["L.special.i1e(x)", "L.special.i1e(x * 20)", "L.special.i1e(s[3:])"],
    "zeta": [
        {"call": "L.special.zeta(p.detach() + 1.5, q)", "order": 2},
        {"call": "L.special.zeta(L.tensor(2.0), x.detach())", "order": 0},
        {"call": "L.special.zeta(s2, q[0, 0].detach())", "order": 0},
    ],
    "polygamma": [
        "L.polygamma(1, p)",
        "L.special.polygamma(2, p)",
        "L.polygamma(0, p)",
        "L.polygamma(4, q)",
        {"call": "L.polygamma(-1, p)", "error": True},
    ],
    "mvlgamma": ["L.mvlgamma(p + 2, 3)", "(p + 1).mvlgamma(2)", {"call": "L.mvlgamma(p, 0)", "error": True}],
    "multigammaln": ["L.special.multigammaln(p + 2, 3)"],
}
