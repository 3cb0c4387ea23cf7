"""Metrics against their formulas in NumPy, and scikit-learn's where it is installed."""

from __future__ import annotations

import math

import micrograd_rs as mg
import pytest
from micrograd_rs import metrics

np = pytest.importorskip("numpy")


def batches(classes, n=97, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, classes)).astype("float32").round(1)  # with equal ones
    labels = rng.integers(0, classes, n)
    return scores, labels


def fed(metric, *arrays, device="cpu", size=20):
    for at in range(0, len(arrays[0]), size):
        metric.update(*(mg.tensor(a[at : at + size], device=device) for a in arrays))
    return metric.compute()


def test_accuracy(device):
    scores, labels = batches(5)
    wanted = (scores.argmax(1) == labels).mean()
    assert fed(metrics.Accuracy(), scores, labels, device=device).item() == pytest.approx(wanted)
    assert fed(metrics.Accuracy(), scores.argmax(1), labels, device=device).item() == pytest.approx(wanted)
    for k in (2, 3, 5, 9):
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        wanted = (order == labels[:, None]).any(1).mean()
        assert fed(metrics.TopKAccuracy(k), scores, labels, device=device).item() == pytest.approx(wanted)
    chance = 1 / (1 + np.exp(-scores[:, 0]))
    assert fed(metrics.Accuracy(), chance, labels % 2, device=device).item() == pytest.approx(
        ((chance > 0.5) == labels % 2).mean()
    )
    pixels = np.random.default_rng(2).standard_normal((4, 3, 5, 6)).astype("float32")
    wanted = np.random.default_rng(3).integers(0, 3, (4, 5, 6))
    assert fed(metrics.Accuracy(), pixels, wanted, device=device).item() == pytest.approx(
        (pixels.argmax(1) == wanted).mean()
    )


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_confusion_matrix(device, normalize):
    scores, labels = batches(4)
    labels[labels == 2] = 1
    counts = np.zeros((4, 4), "int64")
    np.add.at(counts, (labels, scores.argmax(1)), 1)
    under = {None: 1, "true": counts.sum(1, keepdims=True), "pred": counts.sum(0), "all": counts.sum()}[normalize]
    got = fed(metrics.ConfusionMatrix(4, normalize), scores, labels, device=device)
    assert got.dtype == (mg.int64 if normalize is None else mg.float32)
    assert np.allclose(got.cpu().numpy(), counts / np.maximum(under, 1))


def shares(scores, labels, classes):
    predicted = scores.argmax(1)
    right = np.array([((predicted == c) & (labels == c)).sum() for c in range(classes)])
    said = np.array([(predicted == c).sum() for c in range(classes)])
    there = np.array([(labels == c).sum() for c in range(classes)])
    return right, said, there


@pytest.mark.parametrize("average", ["micro", "macro", "weighted", None])
def test_precision_recall_and_f1(device, average):
    scores, labels = batches(4)
    labels[labels == 2] = 1
    right, said, there = shares(scores, labels, 4)
    precision, recall = right / np.maximum(said, 1), right / np.maximum(there, 1)
    f1 = 2 * right / np.maximum(said + there, 1)
    for kind, each in [(metrics.Precision, precision), (metrics.Recall, recall), (metrics.F1Score, f1)]:
        wanted = {
            None: each,
            "macro": each.mean(),
            "weighted": (each * there).sum() / there.sum(),
            "micro": right.sum() / len(labels),
        }[average]
        assert np.allclose(fed(kind(4, average), scores, labels, device=device).cpu().numpy(), wanted)


def test_as_scikit_learn_has_it():
    sk = pytest.importorskip("sklearn.metrics", reason="compares with scikit-learn")
    scores, labels = batches(4)
    predicted = scores.argmax(1)
    for average in ("micro", "macro", "weighted", None):
        for ours, theirs in [
            (metrics.Precision, sk.precision_score),
            (metrics.Recall, sk.recall_score),
            (metrics.F1Score, sk.f1_score),
        ]:
            wanted = theirs(labels, predicted, average=average, zero_division=0)
            assert np.allclose(fed(ours(4, average), scores, labels).numpy(), wanted)
    assert np.allclose(
        fed(metrics.ConfusionMatrix(4, "true"), scores, labels).numpy(),
        sk.confusion_matrix(labels, predicted, normalize="true"),
    )
    binary = labels % 2
    assert fed(metrics.AUROC(), scores[:, 0], binary).item() == pytest.approx(sk.roc_auc_score(binary, scores[:, 0]))
    assert fed(metrics.F1Score(2, "binary"), scores[:, :2], binary).item() == pytest.approx(
        sk.f1_score(binary, scores[:, :2].argmax(1))
    )
    assert fed(metrics.R2Score(), scores[:, 0], scores[:, 1]).item() == pytest.approx(
        sk.r2_score(scores[:, 1], scores[:, 0]), rel=1e-5
    )


def test_area_under_the_curve(device):
    scores, labels = batches(2)
    one, zero = scores[labels == 1, 0], scores[labels == 0, 0]
    above = (one[:, None] > zero).mean() + 0.5 * (one[:, None] == zero).mean()
    assert fed(metrics.AUROC(), scores[:, 0], labels, device=device).item() == pytest.approx(above)


def test_numbers(device):
    a, b = (np.random.default_rng(i).standard_normal(50).astype("float32") for i in (1, 2))
    weights = np.random.default_rng(3).random(50).astype("float32")
    assert fed(metrics.Mean(), a, device=device).item() == pytest.approx(a.mean(), rel=1e-5)
    assert fed(metrics.Mean(), a, weights, device=device).item() == pytest.approx(np.average(a, weights=weights), rel=1e-5)
    assert fed(metrics.MeanSquaredError(), a, b, device=device).item() == pytest.approx(((a - b) ** 2).mean(), rel=1e-5)
    assert fed(metrics.MeanAbsoluteError(), a, b, device=device).item() == pytest.approx(abs(a - b).mean(), rel=1e-5)
    wanted = 1 - ((b - a) ** 2).sum() / ((b - b.mean()) ** 2).sum()
    assert fed(metrics.R2Score(), a, b, device=device).item() == pytest.approx(wanted, rel=1e-5)


def test_perplexity(device):
    scores, labels = batches(6)
    labels[::7] = -100
    kept = labels != -100
    logp = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    wanted = math.exp(-logp[kept, labels[kept]].mean())
    assert fed(metrics.Perplexity(), scores, labels, device=device).item() == pytest.approx(wanted, rel=1e-5)


def test_calls_reset_and_nothing():
    accuracy = metrics.Accuracy()
    assert math.isnan(accuracy.compute().item())
    assert accuracy(mg.tensor([1, 0]), mg.tensor([1, 1])).item() == 0.5
    assert accuracy(mg.tensor([1, 1]), mg.tensor([1, 1])).item() == 1.0
    assert accuracy.compute().item() == 0.75
    accuracy.reset()
    assert math.isnan(accuracy.compute().item())
    accuracy.update(mg.tensor([1]), mg.tensor([1]))
    assert accuracy.compute().item() == 1.0


def test_it_reads_nothing_under_jit():
    accuracy, mean = metrics.Accuracy(), metrics.Mean()

    @mg.jit
    def step(scores, labels):
        accuracy.update(scores, labels)
        mean.update(scores)

    for i in range(5):
        step(mg.tensor([[0.0, 1.0], [1.0, 0.0]]) + i, mg.tensor([1, 1]))
    assert step.reason is None
    assert accuracy.compute().item() == 0.5
    assert mean.compute().item() == 2.5


def test_bad_input():
    with pytest.raises(ValueError, match="top_k"):
        metrics.Accuracy(0)
    with pytest.raises(ValueError, match="classes"):
        metrics.ConfusionMatrix(1)
    with pytest.raises(ValueError, match="average"):
        metrics.F1Score(3, "median")
    with pytest.raises(ValueError, match="binary"):
        metrics.F1Score(3, "binary")
    with pytest.raises(ValueError, match="targets"):
        metrics.Accuracy().update(mg.zeros(3))
    with pytest.raises(ValueError, match="shapes"):
        metrics.Accuracy().update(mg.zeros(3, 2), mg.zeros(4, dtype=mg.int64))
    with pytest.raises(TypeError, match="labels"):
        metrics.Accuracy().update(mg.zeros(3, 2), mg.zeros(3))
    matrix = metrics.ConfusionMatrix(3)
    with pytest.raises(IndexError):
        matrix.update(mg.tensor([0, 1]), mg.tensor([0, 3]))
    matrix.update(mg.tensor([0, 1]), mg.tensor([0, 2]))
    assert matrix.compute().sum().item() == 2
