"""Random events and their densities, as `torch.distributions` has them: batches of distributions whose parameters are tensors.

>>> import micrograd_rs as mg
>>> from micrograd_rs.distributions import Categorical, Normal, kl_divergence
>>> Normal(mg.zeros(3), mg.ones(3)).sample((2,)).shape
(2, 3)
>>> policy = Categorical(logits=mg.zeros(4))
>>> round(policy.entropy().item(), 4)
1.3863
>>> round(kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).item(), 4)
0.5

Densities, divergences and entropies are compositions of the engine's operations, so gradients flow through them, and they fuse.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .._names import Lazy as _Lazy
from .._words import share_words as _share_words
from . import constraint_registry, constraints, kl, transforms
from .composed import (
    Independent,
    LogisticNormal,
    LogNormal,
    MixtureSameFamily,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)
from .constraint_registry import biject_to, transform_to
from .continuous import (
    Beta,
    Cauchy,
    Chi2,
    Exponential,
    Gamma,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    Normal,
    StudentT,
    Uniform,
    Weibull,
)
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from .distribution import Distribution, ExponentialFamily
from .kl import kl_divergence, register_kl
from .matrices import LKJCholesky, LowRankMultivariateNormal, Wishart
from .multivariate import Dirichlet, MultivariateNormal
from .tails import ContinuousBernoulli, FisherSnedecor, GeneralizedPareto, InverseGamma, Kumaraswamy, Pareto, VonMises
from .transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)

__all__ = [
    "AbsTransform",
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "CatTransform",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "ContinuousBernoulli",
    "CorrCholeskyTransform",
    "CumulativeDistributionTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "IndependentTransform",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "LowerCholeskyTransform",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "PositiveDefiniteTransform",
    "PowerTransform",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "ReshapeTransform",
    "SigmoidTransform",
    "SoftmaxTransform",
    "SoftplusTransform",
    "StackTransform",
    "StickBreakingTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "constraint_registry",
    "constraints",
    "identity_transform",
    "kl",
    "kl_divergence",
    "register_kl",
    "transform_to",
    "transforms",
    "utils",
]

if TYPE_CHECKING:
    from . import utils


class _Part(ModuleType):
    """One of PyTorch's modules: it has what the package has."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules[__name__], name)


# `from micrograd_rs.distributions.normal import Normal` finds it.
for _part in (
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "continuous_bernoulli", "dirichlet", "exp_family", "exponential",
    "fishersnedecor", "gamma", "generalized_pareto", "geometric", "gumbel", "half_cauchy", "half_normal", "independent", "inverse_gamma",
    "kumaraswamy", "laplace", "lkj_cholesky", "log_normal", "logistic_normal", "lowrank_multivariate_normal", "mixture_same_family",
    "multinomial", "multivariate_normal", "negative_binomial", "normal", "one_hot_categorical", "pareto", "poisson", "relaxed_bernoulli",
    "relaxed_categorical", "studentT", "transformed_distribution", "uniform", "von_mises", "weibull", "wishart",
):  # fmt: skip
    sys.modules[f"{__name__}.{_part}"] = globals()[_part] = _Part(f"{__name__}.{_part}", f"What `distributions` has, as `torch.distributions.{_part}` does.")

_share_words(
    [kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, Distribution)],
    """
    Arguments:
        validate_args: whether parameters and values are checked; None: as `set_default_validate_args` said, which is that they are where it was not called

    Errors: ValueError for parameters that are outside of what they may be, and for shapes that do not broadcast.
    """,
)
_share_words(
    [kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, Transform)],
    """
    Arguments:
        cache_size: 1 where the last pair is remembered, so that the inverse of what was just computed is what it was computed of; else 0

    Errors: ValueError for another `cache_size`.
    """,
)

__getattr__ = _Lazy(__name__, ("utils",))
