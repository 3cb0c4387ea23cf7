"""Metrics: what is told of predictions over many batches, added up on the device.

`update(predictions, targets)` adds a batch and reads nothing on the host; `compute()` answers with a tensor; `reset()` begins anew; to
call a metric adds a batch and answers with the metric of that batch alone.

>>> import micrograd_rs as mg
>>> accuracy = mg.metrics.Accuracy()
>>> accuracy.update(mg.tensor([[0.1, 0.9], [0.8, 0.2]]), mg.tensor([1, 1]))
>>> accuracy.compute().item()
0.5
"""

from __future__ import annotations

from re import search
from typing import Any

from ._micrograd_rs import ArgumentError, Tensor, _Metric, as_tensor
from ._names import Lazy as _Lazy

__all__ = [
    "AUROC",
    "Accuracy",
    "ConfusionMatrix",
    "F1Score",
    "Mean",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Metric",
    "Perplexity",
    "Precision",
    "R2Score",
    "Recall",
    "TopKAccuracy",
]

__getattr__ = _Lazy(__name__)


class Metric:
    """What is told of predictions over many batches; see the module.

    >>> metric = mg.metrics.MeanSquaredError()
    >>> for batch in (1.0, 3.0):
    ...     metric.update(mg.tensor([batch]), mg.tensor([0.0]))
    >>> metric.compute().item()
    5.0
    >>> metric.reset()
    >>> metric.compute().item()
    nan

    Arguments:
        number: the one option of a class that is a number, such as how many classes there are
        word: the one option that is a word, such as how classes are averaged
        kind: the engine's name for it; None: the class's
    """

    def __init__(self, number: int = 0, word: str = "", kind: str | None = None) -> None:
        self._options = (kind or type(self).__name__, number, word)
        self._core = _Metric(*self._options)

    def update(self, preds: Any, target: Any = None) -> None:
        """Adds a batch. Nothing is read on the host.

        Arguments:
            preds: the predictions: a tensor, or what `as_tensor` makes one of (numbers, lists, arrays); each class says of which shape
            target: what they should be, likewise, on the device of `preds`; None for a metric that takes no targets

        Errors: ArgumentError for shapes that the metric does not take.

        See `metrics.Metric`.
        """
        self._add(self._core, preds, target)

    def _add(self, core: _Metric, preds: Any, target: Any) -> None:
        preds = preds if isinstance(preds, Tensor) else as_tensor(preds)
        target = target if target is None or isinstance(target, Tensor) else as_tensor(target, device=preds.device)
        core.update(preds, target)

    def compute(self) -> Tensor:
        """The metric of all batches so far. Where there was none, it is no number.

        See `metrics.Metric`.
        """
        return self._core.compute()

    def reset(self) -> None:
        """Begins anew.

        See `metrics.Metric`.
        """
        self._core.reset()

    def __call__(self, preds: Any, target: Any = None) -> Tensor:
        self.update(preds, target)
        alone = _Metric(*self._options)
        self._add(alone, preds, target)
        return alone.compute()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce__(self) -> Any:
        raise TypeError("a metric is not pickled: keep what compute() answers with")


class _OfClasses(Metric):
    """What counts labels from 0 to `num_classes − 1`."""

    def _add(self, core: _Metric, preds: Any, target: Any) -> None:
        classes = self._options[1]
        name, shape = type(self).__name__, tuple(getattr(preds, "shape", ()))
        if len(shape) > 1 and len(shape) == len(tuple(getattr(target, "shape", ()))) + 1 and shape[1] > classes:
            raise ArgumentError(f"{name}({classes}): takes scores [n, {classes}, …] of {classes} classes, got {list(shape)}: num_classes is {shape[1]}?")
        try:
            super()._add(core, preds, target)
        except IndexError as error:
            raise _beyond(name, classes, error) from None

    def compute(self) -> Tensor:
        try:
            return super().compute()
        except IndexError as error:
            raise _beyond(type(self).__name__, self._options[1], error) from None


def _beyond(name: str, classes: int, error: IndexError) -> IndexError:
    found = search(r"index (-?\d+) is out of range", str(error))
    got = f", got {found[1]}" if found else ""
    return IndexError(f"{name}({classes}): takes labels and predictions from 0 to {classes - 1}{got}: num_classes is how many classes there are")


class Accuracy(Metric):
    """How many predictions are right. Of scores `[n, classes, …]` and labels `[n, …]`, a prediction is right where the label is among the `top_k`
    largest scores (the first of equal ones are the larger); of probabilities in the labels' shape, where they are above ½ as the label says; of
    labels, where they are equal.

    >>> accuracy = mg.metrics.Accuracy()
    >>> accuracy.update(mg.tensor([[0.1, 0.9], [0.8, 0.2]]), mg.tensor([1, 1]))
    >>> accuracy.compute().item()
    0.5

    Arguments:
        top_k: among how many of the largest scores the label has to be, at least 1
    """

    def __init__(self, top_k: int = 1) -> None:
        super().__init__(top_k, kind="Accuracy")


class TopKAccuracy(Accuracy):
    """`Accuracy` among the `k` largest scores.

    >>> accuracy = mg.metrics.TopKAccuracy(k=2)
    >>> accuracy.update(mg.tensor([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]), mg.tensor([1, 2]))
    >>> accuracy.compute().item()
    0.5

    Arguments:
        k: among how many of the largest scores the label has to be, at least 1
    """

    def __init__(self, k: int = 5) -> None:
        super().__init__(k)


class ConfusionMatrix(_OfClasses):
    """How often each label (a row) was predicted as each (a column): `[num_classes, num_classes]` of int64, or of float32 where it is divided. It takes
    what `Accuracy` takes.

    >>> matrix = mg.metrics.ConfusionMatrix(2)
    >>> matrix.update(mg.tensor([0, 1, 1]), mg.tensor([0, 0, 1]))
    >>> matrix.compute()
    tensor([[1, 1],
            [0, 1]])

    Arguments:
        num_classes: how many classes there are: labels are from 0 to `num_classes − 1`
        normalize: what counts are divided by: the number of each label, "true", of each prediction, "pred", or of all, "all"; None: nothing
    """

    def __init__(self, num_classes: int, normalize: str | None = None) -> None:
        super().__init__(num_classes, normalize or "")


class Precision(_OfClasses):
    """The part of a class's predictions that are right; 0 for a class that is never predicted, as scikit-learn has it. It takes what `Accuracy` takes.

    >>> precision = mg.metrics.Precision(2, average=None)
    >>> precision.update(mg.tensor([0, 1, 1]), mg.tensor([0, 0, 1]))
    >>> precision.compute()
    tensor([1.0000, 0.5000])

    Arguments:
        num_classes: how many classes there are: labels are from 0 to `num_classes − 1`
        average: how classes become one number: "micro" for all predictions as one, "macro" for the mean over classes, "weighted" for the mean
            weighted by the number of labels, "binary" for class 1 alone; None: a number for each class
    """

    def __init__(self, num_classes: int, average: str | None = "macro") -> None:
        super().__init__(num_classes, average or "")


class Recall(_OfClasses):
    """The part of a class's labels that were predicted; 0 for a class without labels, as scikit-learn has it. It takes what `Accuracy` takes.

    >>> recall = mg.metrics.Recall(2, average=None)
    >>> recall.update(mg.tensor([0, 1, 1]), mg.tensor([0, 0, 1]))
    >>> recall.compute()
    tensor([0.5000, 1.0000])

    Arguments:
        num_classes: how many classes there are: labels are from 0 to `num_classes − 1`
        average: how classes become one number, as `Precision` has it; None: a number for each class
    """

    def __init__(self, num_classes: int, average: str | None = "macro") -> None:
        super().__init__(num_classes, average or "")


class F1Score(_OfClasses):
    """The harmonic mean of `Precision` and `Recall`. It takes what `Accuracy` takes.

    >>> f1 = mg.metrics.F1Score(2, average=None)
    >>> f1.update(mg.tensor([0, 1, 1]), mg.tensor([0, 0, 1]))
    >>> f1.compute()
    tensor([0.6667, 0.6667])

    Arguments:
        num_classes: how many classes there are: labels are from 0 to `num_classes − 1`
        average: how classes become one number, as `Precision` has it; None: a number for each class
    """

    def __init__(self, num_classes: int, average: str | None = "macro") -> None:
        super().__init__(num_classes, average or "")


class AUROC(Metric):
    """The area under the receiver operating characteristic: how often a score of label 1 is above one of label 0, equal ones counting half.
    Scores and labels have one shape. Exact: the scores are kept, on the device.

    >>> auroc = mg.metrics.AUROC()
    >>> auroc.update(mg.tensor([0.1, 0.4, 0.35, 0.8]), mg.tensor([0, 0, 1, 1]))
    >>> auroc.compute().item()
    0.75
    """

    def __init__(self) -> None:
        super().__init__(kind="AUROC")


class Mean(Metric):
    """The mean of numbers, of losses say. The second argument of `update` is their weights, or the weight of all of them.

    >>> mean = Mean()
    >>> for loss in (4.0, 2.0):
    ...     mean.update(loss)
    >>> mean.compute().item()
    3.0
    """

    def __init__(self) -> None:
        super().__init__(kind="Mean")


class MeanSquaredError(Metric):
    """The mean of squared differences of predictions and targets.

    >>> error = mg.metrics.MeanSquaredError()
    >>> error.update(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    >>> error.compute().item()
    2.0
    """

    def __init__(self) -> None:
        super().__init__(kind="MeanSquaredError")


class MeanAbsoluteError(Metric):
    """The mean of how far predictions are from targets.

    >>> error = mg.metrics.MeanAbsoluteError()
    >>> error.update(mg.tensor([1.0, 2.0]), mg.tensor([1.0, 4.0]))
    >>> error.compute().item()
    1.0
    """

    def __init__(self) -> None:
        super().__init__(kind="MeanAbsoluteError")


class R2Score(Metric):
    """The part of the targets' variance that predictions account for.

    >>> score = mg.metrics.R2Score()
    >>> score.update(mg.tensor([1.0, 2.0, 3.0]), mg.tensor([1.0, 2.0, 4.0]))
    >>> round(score.compute().item(), 4)
    0.7857
    """

    def __init__(self) -> None:
        super().__init__(kind="R2Score")


class Perplexity(Metric):
    """The exponential of the mean cross entropy of scores `[n, classes, …]` (before the softmax) and labels `[n, …]`.

    >>> perplexity = mg.metrics.Perplexity()
    >>> perplexity.update(mg.zeros(2, 4), mg.tensor([0, 3]))
    >>> round(perplexity.compute().item(), 4)
    4.0

    Arguments:
        ignore_index: the label that does not count
    """

    def __init__(self, ignore_index: int = -100) -> None:
        super().__init__(ignore_index)
