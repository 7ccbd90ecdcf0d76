"""From samples to a batch: stacked arrays, in the containers that the samples came in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.core.state import in_static_mode
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._creation import to_tensor
from gradtool.paddle._manipulation import stack

from ._errors import StreamError


def default_collate_fn(batch: Sequence[Any]) -> Any:
    """Samples of one form as a batch: arrays, tensors and numbers are stacked, field by field.

    Raises:
        ArgumentTypeError: a sample holds something else (a TypeError).
        StreamError: samples have different numbers of fields (a RuntimeError).
    """
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(sample, Tensor):
        return stack(list(batch), axis=0)
    if isinstance(sample, (Number, np.generic)):
        return np.array(batch)
    if isinstance(sample, (str, bytes)):
        return batch
    if isinstance(sample, Mapping):
        return {key: default_collate_fn([s[key] for s in batch]) for key in sample}
    if isinstance(sample, Sequence):
        if any(len(s) != len(sample) for s in batch):
            raise StreamError("fields number not same among samples in a batch")
        return [default_collate_fn(fields) for fields in zip(*batch, strict=True)]
    raise ArgumentTypeError(
        f"a batch can only contain tensor, numpy.ndarray, dict, list and number, but got {type(sample)}"
    )


def default_convert_fn(batch: Any) -> Any:
    """A single sample as it is, its tuples as lists."""
    return mapped(batch, lambda value: value)


def delivered(batch: Any) -> Any:
    """Return the batch as a loader delivers it: arrays have become tensors, which no gradient passes; in static mode,
    tensors arrays.
    """
    return mapped(batch, _as_array if in_static_mode() else _as_tensor)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return to_tensor(value)
    if isinstance(value, Tensor) and not value.stop_gradient:
        return value.detach()
    return value


def _as_array(value: Any) -> Any:
    return np.asarray(value.array) if isinstance(value, Tensor) else value


def mapped(batch: Any, function: Callable[[Any], Any]) -> Any:
    """*function* of each value in nested dicts, lists and tuples; tuples become lists."""
    if isinstance(batch, Mapping):
        return {key: mapped(value, function) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return [mapped(value, function) for value in batch]
    return function(batch)
