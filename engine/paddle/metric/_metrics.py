"""``paddle.metric.Metric`` and the metrics that there are."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _logic, _search
from gradtool.paddle._creation import cast
from gradtool.paddle._manipulation import reshape
from gradtool.paddle.static._metrics import accuracy as share

Array = np.ndarray[Any, Any]


class Metric(metaclass=abc.ABCMeta):
    """A measure that is gathered over batches.

    ``compute`` may be a part of the model and works on tensors; ``update`` takes what it gives as arrays.
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget what was gathered."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Gather a batch."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The measure of everything since the last reset."""

    @abc.abstractmethod
    def name(self) -> Any:
        """Return its name."""

    def compute(self, *args: Any) -> Any:
        """Return the arguments of ``update``, from the outputs of the model and the labels: they themselves."""
        return args


class Accuracy(Metric):
    """The share of samples whose label is among the classes with the largest values.

    Args:
        topk: among how many; a share for each of them.
        name: ``"acc"`` when None.

    >>> from gradtool import paddle
    >>> metric = paddle.metric.Accuracy()
    >>> correct = metric.compute(paddle.to_tensor([[0.1, 0.9], [0.8, 0.2]]), paddle.to_tensor([[1], [1]]))
    >>> float(metric.update(correct)), float(metric.accumulate())
    (0.5, 0.5)
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.topk = topk
        self.maxk = max(topk)
        stem = name or "acc"
        self._name = [stem] if self.maxk == 1 else [f"{stem}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """For each sample, 1 at the place of the right class among the largest, 0 elsewhere.

        Args:
            pred: ``[..., classes]``.
            label: the class of each sample, ``[...]`` or ``[..., 1]``, or its one-hot form.
        """
        largest = _search.argsort(pred, descending=True)[..., : self.maxk]
        if len(label.shape) == 1 or (len(label.shape) == 2 and label.shape[-1] == 1):
            label = reshape(label, (-1, 1))
        elif label.shape[-1] != 1:
            label = _search.argmax(label, axis=-1, keepdim=True)
        return cast(_logic.equal(largest, cast(label, "int64")), "float32")

    def update(self, correct: Any, *args: Any) -> Any:
        """Gather what ``compute`` gave; returns the share in this batch (a list of shares, for several *topk*)."""
        correct = _array(correct)
        samples = int(np.prod(correct.shape[:-1]))
        shares = []
        for i, k in enumerate(self.topk):
            right = float(correct[..., :k].sum())
            self.total[i] += right
            self.count[i] += samples
            shares.append(right / samples)
        return shares[0] if len(shares) == 1 else shares

    def reset(self) -> None:
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The share in all batches (a list, for several *topk*); 0 where there was none."""
        shares = [total / count if count else 0.0 for total, count in zip(self.total, self.count, strict=True)]
        return shares[0] if len(shares) == 1 else shares

    def name(self) -> list[str]:
        return self._name


class _Counts(Metric):
    """Right and wrong guesses of two classes."""

    def __init__(self, name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def name(self) -> str:
        return self._name


class Precision(_Counts):
    """Of the samples that are predicted to be of class 1, the share that is."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def update(self, preds: Any, labels: Any) -> None:
        """Gather a batch.

        Args:
            preds: the probability of class 1; 0.5 counts as a prediction of it.
            labels: 0 or 1.

        Raises:
            UsageError: neither arrays nor tensors (a ValueError).
        """
        guesses, truth = _pair(preds, labels)
        positive = np.floor(guesses.ravel() + 0.5).astype("int32") == 1
        right = truth.ravel() == 1
        self.tp += int((positive & right).sum())
        self.fp += int((positive & ~right).sum())

    def reset(self) -> None:
        self.tp = 0
        self.fp = 0

    def accumulate(self) -> float:
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0


class Recall(_Counts):
    """Of the samples that are of class 1, the share that is predicted to be."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name, *args, **kwargs)

    def update(self, preds: Any, labels: Any) -> None:
        """Gather a batch.

        Args:
            preds: the probability of class 1; 0.5 counts as a prediction of class 0, as in Paddle.
            labels: 0 or 1.

        Raises:
            UsageError: neither arrays nor tensors (a ValueError).
        """
        guesses, truth = _pair(preds, labels)
        positive = np.rint(guesses.ravel()).astype("int32") == 1
        right = truth.ravel() == 1
        self.tp += int((positive & right).sum())
        self.fn += int((~positive & right).sum())

    def reset(self) -> None:
        self.tp = 0
        self.fn = 0

    def accumulate(self) -> float:
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0


class Auc(Metric):
    """The area under the curve of true over false positives, from counts in equal steps of the probability.

    Args:
        curve: accepted for compatibility; Paddle's area is that of ``"ROC"`` as well.
        num_thresholds: how many steps.
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Gather a batch.

        Args:
            preds: ``[samples, 2]``, the probabilities of both classes.
            labels: ``[samples, 1]`` or ``[samples]``, 0 or 1.

        Raises:
            UsageError: neither arrays nor tensors, or a probability outside of 0 to 1 (a ValueError).
        """
        guesses, truth = _pair(preds, labels)
        steps = (guesses[:, 1] * self._num_thresholds).astype("int64")
        if steps.size and not 0 <= steps.min() <= steps.max() <= self._num_thresholds:
            raise UsageError("The 'preds' of Auc must be probabilities, from 0 to 1.")
        right = truth.ravel().astype(bool)
        self._stat_pos += np.bincount(steps[right], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(steps[~right], minlength=self._num_thresholds + 1)

    def accumulate(self) -> float:
        """The area; 0 where a class has no sample."""
        positives, negatives = (np.cumsum(counts[::-1]) for counts in (self._stat_pos, self._stat_neg))
        if not positives[-1] or not negatives[-1]:
            return 0.0
        heights = positives + np.concatenate([[0], positives[:-1]])
        area = (heights * np.diff(negatives, prepend=0)).sum() / 2
        return float(area / positives[-1] / negatives[-1])

    def reset(self) -> None:
        self._stat_pos = np.zeros(self._num_thresholds + 1, "int64")
        self._stat_neg = np.zeros(self._num_thresholds + 1, "int64")

    def name(self) -> str:
        return self._name


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> AnyTensor:
    """The share of rows whose label is among the *k* classes with the largest values.

    Args:
        input: ``[rows, classes]``.
        label: ``[rows, 1]``, whole numbers.
        correct, total: to write the number of such rows and of all rows to.
    """
    return share(input, label, k, correct, total)


def _pair(preds: Any, labels: Any) -> tuple[Array, Array]:
    """Both as arrays."""
    for value, what in ((preds, "preds"), (labels, "labels")):
        if not isinstance(value, (np.ndarray, Tensor)):
            raise UsageError(f"The '{what}' must be a numpy ndarray or Tensor.")
    return _array(preds), _array(labels)


def _array(value: Any) -> Array:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)
