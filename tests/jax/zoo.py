"""The zoo's models on JAX beside NumPy: what every operator of forward and backward gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.answers import backend_replay, magnitudes
from gradtool.engine.answers.events import Adapter, OpEvent
from gradtool.engine.core import watch
from gradtool.engine.kernels import choice
from gradtool.paddle import _alias
from tests.zoo.measured import measured

NEAR = {"float64": 2e-8, "complex128": 2e-8, "float32": 1e-3}
"""How far a result may be from NumPy's, by its type, as a part of the largest number in it."""

NOISE = {"float64": 1e-14, "complex128": 1e-14, "float32": 1e-6}
"""Sums that cancel are as small as rounding errors: what counts is that part of the largest number of the run."""


@dataclass
class Compared:
    """One model.

    Attributes:
        operators: how many there were, forward and backward.
        computed: how many of them JAX computed.
        furthest: how far a result was from NumPy's, as a part of what it may be.
        differences: what differs, in words.
        own: where the user's own Python stood between them.
    """

    name: str
    operators: int = 0
    computed: int = 0
    furthest: float = 0.0
    differences: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


def compared(name: str) -> Compared:
    """Compute a model of the zoo once, and on JAX what was recorded of it."""
    here: list[OpEvent] = []
    there: list[OpEvent] = []
    outcome = Compared(name)
    with (
        _alias.active(),
        choice.use_backend("jax"),
        watch.watch(Adapter(_operators(here))),
        backend_replay.hear(_operators(there)) as telling,
    ):
        measured(name, paddle)
        telling.finish()
    assert isinstance(telling, backend_replay.Retelling)
    outcome.operators, outcome.computed, outcome.own = len(here), telling.computed, [*telling.own]
    for a, b in zip(here, there, strict=True):
        assert (a.type, a.part, a.loc) == (b.type, b.part, b.loc)
    pairs = [*_pairs(here, there)]
    largest = max((_size(a) for _, a, _ in pairs), default=0.0)
    for event, a, b in pairs:
        apart = _apart(a, b, largest)
        outcome.furthest = max(outcome.furthest, apart)
        if not apart <= 1:
            outcome.differences.append(f"{event.type} ({event.part}): {apart:.3g} times what it may be apart")
    return outcome


def _operators(events: list[OpEvent]) -> Any:
    """A listener that takes down operators, with copies of what they gave: it may be added to in place."""

    def hear(event: Any) -> None:
        if isinstance(event, OpEvent):
            for v in event.outputs:
                v.array = np.array(magnitudes.plain(v.array))
            events.append(event)

    return hear


def _pairs(here: list[OpEvent], there: list[OpEvent]) -> Iterator[tuple[OpEvent, Any, Any]]:
    for a, b in zip(here, there, strict=True):
        for x, y in zip(a.outputs, b.outputs, strict=True):
            yield a, x.array, y.array


def _size(a: Any) -> float:
    finite = np.abs(a[np.isfinite(a)]) if a.dtype.kind in "fc" else np.zeros(1)
    return float(finite.max(initial=0.0))


def _apart(a: Any, b: Any, largest: float) -> float:
    """How far *b* is from *a*, as a part of what it may be; infinitely far where they are of another form."""
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return np.inf
    if a.dtype.kind not in "fc":
        return 0.0 if np.array_equal(a, b) else np.inf
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    size = max(_size(a) * NEAR[a.dtype.name], largest * NOISE[a.dtype.name])
    distance = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    return distance / size if size else 0.0 if distance == 0 else np.inf
