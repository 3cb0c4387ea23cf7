"""Operations that `special` has. Written by tools/stubs.py."""

from __future__ import annotations

from . import _micrograd_rs as _rs

__all__ = [
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
    "i0",
    "i0_",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log1p_",
    "log_ndtr",
    "logit",
    "logit_",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "round_",
    "sinc",
    "sinc_",
    "xlog1py",
    "xlogy",
    "xlogy_",
    "zeta",
]

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
i0 = _rs._special_i0
i0_ = _rs._special_i0_
i0e = _rs._special_i0e
i1 = _rs._special_i1
i1e = _rs._special_i1e
log1p = _rs._special_log1p
log1p_ = _rs._special_log1p_
log_ndtr = _rs._special_log_ndtr
logit = _rs._special_logit
logit_ = _rs._special_logit_
logsumexp = _rs._special_logsumexp
multigammaln = _rs._special_multigammaln
ndtr = _rs._special_ndtr
ndtri = _rs._special_ndtri
polygamma = _rs._special_polygamma
psi = _rs._special_psi
round = _rs._special_round
round_ = _rs._special_round_
sinc = _rs._special_sinc
sinc_ = _rs._special_sinc_
xlog1py = _rs._special_xlog1py
xlogy = _rs._special_xlogy
xlogy_ = _rs._special_xlogy_
zeta = _rs._special_zeta
