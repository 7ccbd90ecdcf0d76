"""Metrics: values as Paddle 3.3.1 gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.metric import Accuracy, Auc, Metric, Precision, Recall

pytestmark = pytest.mark.usefixtures("dynamic")

GUESSES = [[0.1, 0.7, 0.2], [0.5, 0.2, 0.3], [0.2, 0.3, 0.5], [0.4, 0.5, 0.1]]
LABELS = {
    "vector": [1, 2, 2, 0],
    "column": [[1], [2], [2], [0]],
    "one-hot": [[0, 1, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]],
}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_accuracy(label: Any) -> None:
    metric = Accuracy()
    correct = metric.compute(paddle.to_tensor(GUESSES), paddle.to_tensor(label))
    assert correct.tolist() == [[1], [0], [1], [0]]
    assert correct.dtype == paddle.float32
    assert metric.update(correct) == metric.accumulate() == 0.5
    assert metric.name() == ["acc"]
    metric.reset()
    assert metric.accumulate() == 0


def test_accuracy_among_several() -> None:
    metric = Accuracy((1, 2), name="hits")
    correct = metric.compute(paddle.to_tensor(GUESSES), paddle.to_tensor(LABELS["column"]))
    assert correct.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert metric.update(correct) == [0.5, 1]
    metric.update(correct.numpy()[:1])
    assert metric.accumulate() == [0.6, 1]
    assert (metric.total, metric.count) == ([3, 5], [5, 5])
    assert metric.name() == ["hits_top1", "hits_top2"]
    assert Accuracy((9,)).compute(paddle.to_tensor(GUESSES), paddle.to_tensor([1, 2, 2, 0])).shape == [4, 3]


def test_accuracy_in_a_program() -> None:
    paddle.enable_static()
    x, y = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1], "int64")
    correct, share = Accuracy().compute(x, y), paddle.metric.accuracy(x, y, k=2)
    feed = {"x": np.array(GUESSES, "float32"), "y": np.array(LABELS["column"])}
    values = paddle.static.Executor().run(feed=feed, fetch_list=[correct, share])
    assert [v.tolist() for v in values] == [[[1], [0], [1], [0]], 1.0]


def test_the_function() -> None:
    share = paddle.metric.accuracy(paddle.to_tensor(GUESSES), paddle.to_tensor(LABELS["column"]))
    assert share.item() == 0.5


def test_precision_and_recall() -> None:
    guesses = np.array([[0.1], [0.7], [0.8], [0.9], [0.2], [0.2], [0.3], [0.5], [0.8], [0.6]])
    truth = np.array([[0], [1], [1], [1], [1], [0], [0], [0], [0], [0]])
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(guesses, truth)
    assert (precision.accumulate(), precision.tp, precision.fp) == (0.5, 3, 3)
    assert (recall.accumulate(), recall.tp, recall.fn) == (0.75, 3, 1)
    assert (precision.name(), recall.name()) == ("precision", "recall")


def test_a_half_is_a_guess_of_precision_and_none_of_recall() -> None:
    precision, recall = Precision(), Recall()
    for metric in (precision, recall):
        metric.update(paddle.to_tensor([0.5, 0.9]), paddle.to_tensor([1, 1]))
        assert metric.accumulate() == {precision: 1.0, recall: 0.5}[metric]
        metric.reset()
        assert metric.accumulate() == 0


@pytest.mark.parametrize(("steps", "area"), [(4095, 0.830220713073005), (7, 0.8191850594227504)])
def test_area(steps: int, area: float) -> None:
    draws = np.random.RandomState(0)
    guesses = draws.rand(50)
    truth = (draws.rand(50) < guesses).astype("int64")
    metric = Auc(num_thresholds=steps)
    metric.update(np.stack([1 - guesses, guesses], 1)[:20], truth[:20].reshape(-1, 1))
    metric.update(paddle.to_tensor(np.stack([1 - guesses, guesses], 1)[20:]), paddle.to_tensor(truth[20:]))
    assert metric.accumulate() == pytest.approx(area, abs=1e-15)


def test_area_without_a_class_or_an_order() -> None:
    metric = Auc()
    assert metric.accumulate() == 0
    metric.update(np.array([[0.5, 0.5]]), np.array([[1]]))
    assert metric.accumulate() == 0
    metric.update(np.array([[0.5, 0.5]] * 3), np.array([[1], [0], [0]]))
    assert metric.accumulate() == 0.5


def test_what_metrics_refuse() -> None:
    with pytest.raises(ValueError, match="'preds' must be a numpy ndarray or Tensor"):
        Precision().update([0.1], np.array([1]))
    with pytest.raises(ValueError, match="'labels' must be a numpy ndarray or Tensor"):
        Recall().update(np.array([0.1]), [1])
    with pytest.raises(ValueError, match="from 0 to 1"):
        Auc().update(np.array([[0.5, 1.5]]), np.array([1]))
    with pytest.raises(TypeError, match="abstract"):
        Metric()  # type: ignore[abstract]
