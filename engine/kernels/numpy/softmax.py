"""Softmax, its logarithm, the cross entropy computed with it, and their gradients: what the definitions say.

Later passes write where the earlier ones wrote. Going over some rows at a time was tried and gains nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..backend import Kernel, override
from .blocks import combine_rows
from .extremes import LARGEST, reduce_axis
from .general import definition, rule_of

ARRAYS = np.ndarray, np.generic
"""And nothing that stands for one."""

_add: Any = np.add.reduce
_max: Any = np.maximum.reduce


def register() -> None:
    """Offer the kernels."""
    for op_type, of, gradient in (("softmax", _shares, _pull_shares), ("log_softmax", _logs, _pull_logs)):
        override(op_type, "numpy")(partial(_forward, op_type, of))
        override(f"{op_type}_grad", "numpy")(partial(_backward, op_type, gradient))
    override("softmax_with_cross_entropy", "numpy")(_cross_entropy)
    override("softmax_with_cross_entropy_grad", "numpy")(_cross_entropy_grad)


# -- softmax ----------------------------------------------------------------------------------------------------------


def _forward(op_type: str, of: Callable[..., Any], attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general, here = definition(op_type, attrs), combine_rows(of, attrs["axis"])
    return lambda x: here(x) if x.ndim and x.size and x.dtype.kind == "f" else general(x)


def _backward(op_type: str, of: Callable[..., Any], attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general, here = rule_of(op_type, attrs), combine_rows(of, attrs["axis"])
    if general is None:
        return None
    whole = general
    return lambda out, dout: here(out, dout) if out.ndim and out.dtype.kind == "f" else whole(out, dout)


def _shares(x: Any, axis: int) -> Any:
    grown = x - reduce_axis(LARGEST, x, axis, True)
    np.exp(grown, out=grown)
    grown /= _add(grown, axis, None, None, True)
    return grown


def _pull_shares(out: Any, dout: Any, axis: int) -> Any:
    part = dout * out
    np.subtract(dout, _add(part, axis, None, None, True), out=part)
    part *= out
    return part


def _logs(x: Any, axis: int) -> Any:
    logs = x - reduce_axis(LARGEST, x, axis, True)
    logs -= np.log(_add(np.exp(logs), axis, None, None, True))
    return logs


def _pull_logs(out: Any, dout: Any, axis: int) -> Any:
    part = np.exp(out)
    part *= _add(dout, axis, None, None, True)
    return np.subtract(dout, part, out=part)


# -- cross entropy ----------------------------------------------------------------------------------------------------


def _picks_classes(attrs: Mapping[str, Any]) -> bool:
    """Return whether labels are classes along the last dimension, and none that could be a class is to be ignored."""
    return bool(attrs["axis"] == -1 and attrs["use_softmax"] and not attrs["soft_label"] and attrs["ignore_index"] < 0)


def _classes(scores: Any, label: Any) -> Any:
    """The labels laid flat, one for each row of *scores*; None where they are not, or some is no class."""
    if scores.dtype.kind != "f" or scores.ndim != label.ndim or label.dtype.kind != "i" or not scores.size:
        return None
    flat = label.reshape(-1)
    if flat.size * scores.shape[-1] != scores.size:
        return None
    if not isinstance(label, ARRAYS):
        return flat  # what stands for one: who computes with it sees to its values
    # As numbers without a sign, negative ones are the largest.
    return flat if _max(flat.astype(np.uint64), None) < scores.shape[-1] else None


def _cross_entropy(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    if not _picks_classes(attrs):
        return None
    general = definition("softmax_with_cross_entropy", attrs)
    logs_of = combine_rows(_logs, -1)

    def loss(logits: Any, label: Any) -> Any:
        classes = _classes(logits, label)
        if classes is None:
            return general(logits, label)
        logs = logs_of(logits)
        picked = logs.reshape((classes.size, -1))[np.arange(classes.size), classes]
        return np.exp(logs), np.negative(picked, out=picked).reshape(label.shape)

    return loss


def _cross_entropy_grad(attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    general = rule_of("softmax_with_cross_entropy", attrs)
    if general is None or not _picks_classes(attrs):
        return general
    whole = general

    def gradient(label: Any, softmax: Any, dloss: Any, dsoftmax: Any) -> Any:
        classes = _classes(softmax, label) if dsoftmax is None else None
        if classes is None:
            return whole(label, softmax, dloss, dsoftmax)
        difference = softmax.reshape((classes.size, -1)).copy()
        difference[np.arange(classes.size), classes] -= 1
        difference *= dloss.reshape((-1, 1))
        return difference.reshape(softmax.shape)

    return gradient
