"""Operations that `special` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "digamma_",
    "entr",
    "erf",
    "erf_",
    "erfc",
    "erfc_",
    "erfcx",
    "erfinv",
    "erfinv_",
    "exp2",
    "exp2_",
    "expit",
    "expm1",
    "expm1_",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0_",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log1p_",
    "log_ndtr",
    "logit",
    "logit_",
    "logsumexp",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "round_",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "sinc_",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "xlogy_",
    "zeta",
]

bessel_j0 = _rs._special_bessel_j0
bessel_j1 = _rs._special_bessel_j1
bessel_y0 = _rs._special_bessel_y0
bessel_y1 = _rs._special_bessel_y1
chebyshev_polynomial_t = _rs._special_chebyshev_polynomial_t
chebyshev_polynomial_u = _rs._special_chebyshev_polynomial_u
chebyshev_polynomial_v = _rs._special_chebyshev_polynomial_v
chebyshev_polynomial_w = _rs._special_chebyshev_polynomial_w
digamma = _rs._special_digamma
digamma_ = _rs._special_digamma_
entr = _rs._special_entr
erf = _rs._special_erf
erf_ = _rs._special_erf_
erfc = _rs._special_erfc
erfc_ = _rs._special_erfc_
erfcx = _rs._special_erfcx
erfinv = _rs._special_erfinv
erfinv_ = _rs._special_erfinv_
exp2 = _rs._special_exp2
exp2_ = _rs._special_exp2_
expit = _rs._special_expit
expm1 = _rs._special_expm1
expm1_ = _rs._special_expm1_
gammainc = _rs._special_gammainc
gammaincc = _rs._special_gammaincc
gammaln = _rs._special_gammaln
hermite_polynomial_h = _rs._special_hermite_polynomial_h
hermite_polynomial_he = _rs._special_hermite_polynomial_he
i0 = _rs._special_i0
i0_ = _rs._special_i0_
i0e = _rs._special_i0e
i1 = _rs._special_i1
i1e = _rs._special_i1e
laguerre_polynomial_l = _rs._special_laguerre_polynomial_l
legendre_polynomial_p = _rs._special_legendre_polynomial_p
log1p = _rs._special_log1p
log1p_ = _rs._special_log1p_
log_ndtr = _rs._special_log_ndtr
logit = _rs._special_logit
logit_ = _rs._special_logit_
logsumexp = _rs._special_logsumexp
modified_bessel_k0 = _rs._special_modified_bessel_k0
modified_bessel_k1 = _rs._special_modified_bessel_k1
multigammaln = _rs._special_multigammaln
ndtr = _rs._special_ndtr
ndtri = _rs._special_ndtri
polygamma = _rs._special_polygamma
psi = _rs._special_psi
round = _rs._special_round
round_ = _rs._special_round_
scaled_modified_bessel_k0 = _rs._special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _rs._special_scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t = _rs._special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = _rs._special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = _rs._special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = _rs._special_shifted_chebyshev_polynomial_w
sinc = _rs._special_sinc
sinc_ = _rs._special_sinc_
spherical_bessel_j0 = _rs._special_spherical_bessel_j0
xlog1py = _rs._special_xlog1py
xlogy = _rs._special_xlogy
xlogy_ = _rs._special_xlogy_
zeta = _rs._special_zeta
