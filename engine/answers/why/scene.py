"""An operator at the moment in which it gives a zero gradient, and what its values are asked for that."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...core.records import dataclass
from ...core.rows import RowArray

NORMS = frozenset(("layer_norm", "batch_norm", "instance_norm", "group_norm"))
"""Operators that subtract a mean and divide by a deviation."""


@dataclass(frozen=True, slots=True)
class ZeroScene:
    """An operator at the moment of the zero.

    Attributes:
        inputs, outputs: slot -> array, as far as the gradient rule reads it.
        slot: the input slot whose gradient is zero.
        operands: for each flat input, its slot.
        strongest: the largest element of the gradient that arrives.
        given: whether the operator gave a gradient at all.
        readers: the types of the operators that read its result.
        reach: the least and the greatest element of its first input, where they are known beside *inputs*.
    """

    type: str
    attrs: Mapping[str, Any]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    slot: str
    operands: tuple[str, ...]
    strongest: float
    given: bool
    readers: frozenset[str] = frozenset()
    reach: tuple[float, float] | None = None


def first_of(arrays: Mapping[str, Any], *slots: str) -> Any:
    """The first of *slots* that has an array, or None."""
    for slot in slots:
        a = arrays.get(slot)
        if a is not None and not isinstance(a, (list, tuple, RowArray)):
            return a
    return None


def normalises_one(scene: ZeroScene) -> bool:
    """Return whether an operator takes mean and variance of a single element each time."""
    x = first_of(scene.inputs, "X")
    if x is None or scene.type not in NORMS or not x.size:
        return False
    if scene.type == "layer_norm":
        return bool(math.prod(x.shape[int(scene.attrs["begin_norm_axis"]) :]) == 1)
    channels = x.shape[-1 if scene.attrs.get("data_layout") == "NHWC" else 1]
    if scene.type == "batch_norm":
        return bool(x.size == channels) and not scene.attrs.get("is_test") and not scene.attrs.get("use_global_stats")
    groups = int(scene.attrs["groups"]) if scene.type == "group_norm" else channels
    return bool(x.size == x.shape[0] * groups)
