"""``fluid.metrics``: measures gathered over batches of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.paddle import _lazy

__all__ = [
    "Accuracy",
    "Auc",
    "ChunkEvaluator",
    "CompositeMetric",
    "EditDistance",
    "MetricBase",
    "Precision",
    "Recall",
    "WeightedAverage",
]

Array = np.ndarray[Any, Any]


class NothingGathered(UsageError):
    """A measure that is asked for before anything was gathered (Paddle raises ValueError)."""


def _array(value: Any, what: str, where: str) -> Array:
    if not isinstance(value, np.ndarray):
        raise ArgumentTypeError(
            f"The '{what}' of {where} must be a numpy.ndarray, but received {type(value).__name__}."
        )
    return value


class MetricBase:
    """A measure: :meth:`update` gathers a batch, :meth:`eval` gives the measure, :meth:`reset` forgets.

    Args:
        name: what it is called; its class by default.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = type(self).__name__ if name is None else str(name)

    def __str__(self) -> str:
        return self._name

    def reset(self) -> None:
        """Set every number that was gathered to zero, and lists to empty ones."""
        for name, value in self.__dict__.items():
            if name.startswith("_"):
                continue
            if isinstance(value, (bool, int, float)):
                setattr(self, name, type(value)(0))
            elif isinstance(value, (np.ndarray, np.generic)):
                setattr(self, name, np.zeros_like(value))
            else:
                setattr(self, name, None)

    def get_config(self) -> dict[str, Any]:
        """The name and what was gathered."""
        return {"name": self._name, "states": {n: v for n, v in self.__dict__.items() if not n.startswith("_")}}

    def update(self, *args: Any) -> Any:
        """Gather a batch; subclasses say what it is."""
        raise ArgumentTypeError(f"{type(self).__name__} does not define update()")

    def eval(self) -> Any:
        """The measure of what was gathered; subclasses say what it is."""
        raise ArgumentTypeError(f"{type(self).__name__} does not define eval()")


class CompositeMetric(MetricBase):
    """Several measures of the same predictions and labels."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self._metrics: list[MetricBase] = []

    def add_metric(self, metric: MetricBase) -> None:
        """Gather *metric* as well; raises :class:`ArgumentTypeError` for what is none."""
        if not isinstance(metric, MetricBase):
            raise ArgumentTypeError(f"SubMetric should be inherit from MetricBase, but is {type(metric).__name__}.")
        self._metrics.append(metric)

    def reset(self) -> None:
        for metric in self._metrics:
            metric.reset()

    def update(self, preds: Any, labels: Any) -> None:
        for metric in self._metrics:
            metric.update(preds, labels)

    def eval(self) -> list[Any]:
        return [metric.eval() for metric in self._metrics]


class Precision(MetricBase):
    """Of the samples that are taken for positive, the share that is; predictions from 0.5 on count as positive."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = 0
        self.fp = 0

    def update(self, preds: Array, labels: Array) -> None:
        """Gather predictions ``[batch, 1]`` and labels of 0 and 1."""
        positive = np.rint(_array(preds, "preds", "Precision")).astype("int32").reshape(-1) == 1
        right = _array(labels, "labels", "Precision").reshape(-1) == 1
        self.tp += int((positive & right).sum())
        self.fp += int((positive & ~right).sum())

    def eval(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(MetricBase):
    """Of the samples that are positive, the share that is taken for it; predictions from 0.5 on count as positive."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = 0
        self.fn = 0

    def update(self, preds: Array, labels: Array) -> None:
        """Gather predictions ``[batch, 1]`` and labels of 0 and 1."""
        positive = np.rint(_array(preds, "preds", "Recall")).astype("int32").reshape(-1) == 1
        right = _array(labels, "labels", "Recall").reshape(-1) == 1
        self.tp += int((positive & right).sum())
        self.fn += int((~positive & right).sum())

    def eval(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Accuracy(MetricBase):
    """The mean of values, each with a weight: accuracies of batches with their sizes."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.value: Any = 0.0
        self.weight = 0.0

    def update(self, value: Any, weight: float) -> None:
        """Gather a number, or an array of one, and its weight; raises :class:`UsageError` for one below 0."""
        if not isinstance(value, (bool, int, float, np.ndarray, np.generic)):
            raise ArgumentTypeError("The 'value' must be a number(int, float) or a numpy ndarray.")
        if not isinstance(weight, (bool, int, float, np.generic)):
            raise ArgumentTypeError("The 'weight' must be a number(int, float).")
        if weight < 0:
            raise UsageError("The 'weight' can not be negative")
        batch: Any = value
        self.value = self.value + batch * weight
        self.weight += float(weight)

    def eval(self) -> Any:
        if self.weight == 0:
            raise NothingGathered("There is no data in Accuracy Metrics. Please check layers.accuracy output.")
        return self.value / self.weight


class WeightedAverage(MetricBase):
    """``fluid.average.WeightedAverage``: the mean of values with weights; ``add`` gathers one."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any) -> None:
        """Gather a number or an array, and its weight."""
        self.numerator = value * weight if self.numerator is None else self.numerator + value * weight
        self.denominator = weight if self.denominator is None else self.denominator + weight

    def eval(self) -> Any:
        if self.denominator is None or np.all(np.asarray(self.denominator) == 0):
            raise NothingGathered("There is no data to be averaged in WeightedAverage.")
        return self.numerator / self.denominator


class ChunkEvaluator(MetricBase):
    """Precision, recall and F1 of chunks, from their numbers in each batch."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.num_infer_chunks = 0
        self.num_label_chunks = 0
        self.num_correct_chunks = 0

    def update(self, num_infer_chunks: Any, num_label_chunks: Any, num_correct_chunks: Any) -> None:
        """Gather three numbers, or arrays of one."""
        self.num_infer_chunks += int(np.asarray(num_infer_chunks).reshape(-1)[0])
        self.num_label_chunks += int(np.asarray(num_label_chunks).reshape(-1)[0])
        self.num_correct_chunks += int(np.asarray(num_correct_chunks).reshape(-1)[0])

    def eval(self) -> tuple[float, float, float]:
        precision = self.num_correct_chunks / self.num_infer_chunks if self.num_infer_chunks else 0.0
        recall = self.num_correct_chunks / self.num_label_chunks if self.num_label_chunks else 0.0
        f1 = 2 * precision * recall / (precision + recall) if self.num_correct_chunks else 0.0
        return precision, recall, f1


class EditDistance(MetricBase):
    """The mean distance of sequences from what they should be, and the share of those that are not the same."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.total_distance = 0.0
        self.seq_num = 0
        self.instance_error = 0

    def update(self, distances: Array, seq_num: Any) -> None:
        """Gather the distances of a batch ``[batch, 1]`` and how many sequences it has."""
        distances = _array(distances, "distances", "EditDistance")
        count = int(np.asarray(seq_num).reshape(-1)[0])
        self.seq_num += count
        self.instance_error += count - int((distances == 0).sum())
        self.total_distance += float(distances.sum())

    def eval(self) -> tuple[float, float]:
        if self.seq_num == 0:
            raise NothingGathered("There is no data in EditDistance Metric. Please check layers.edit_distance output.")
        return self.total_distance / self.seq_num, self.instance_error / float(self.seq_num)


class Auc(MetricBase):
    """The area under a curve, of predictions counted in steps of ``1 / num_thresholds``.

    Args:
        curve: ``"ROC"``.
    """

    def __init__(self, name: str | None = None, curve: str = "ROC", num_thresholds: int = 4095) -> None:
        super().__init__(name)
        from gradtool.paddle.metric import Auc as Area

        self._area = Area(curve, num_thresholds)

    def reset(self) -> None:
        self._area.reset()

    def update(self, preds: Array, labels: Array) -> None:
        """Gather the shares of both classes ``[batch, 2]`` and labels of 0 and 1."""
        self._area.update(_array(preds, "predictions", "Auc"), _array(labels, "labels", "Auc"))

    def eval(self) -> Any:
        return self._area.accumulate()


__getattr__ = _lazy.refuse(__name__, globals())
