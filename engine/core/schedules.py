"""Schedules of learning rates, as frameworks define them."""

from __future__ import annotations

from typing import Any

_LENGTHS = ("T_max", "total_steps", "total_iters", "decay_steps", "warmup_steps")
"""Attributes of schedules that say after how many steps they have run once."""

_PLACES = ("milestones", "boundaries")
"""Attributes that hold the steps at which a rate changes."""


def find_length(schedule: Any) -> int | None:
    """Return after how many of its steps a schedule has run once; None where it does not say that.

    >>> class Cosine:
    ...     T_max = 50
    >>> find_length(Cosine())
    50
    """
    for name in _LENGTHS:
        length = getattr(schedule, name, None)
        if isinstance(length, int):
            return length
    for name in _PLACES:
        places = list(getattr(schedule, name, None) or ())
        if places and all(isinstance(place, int) for place in places):
            return int(max(places))
    for function in getattr(schedule, "lr_lambdas", None) or ():
        # Transformers' schedules are functions with their numbers bound.
        steps = getattr(function, "keywords", {}).get("num_training_steps")
        if isinstance(steps, int):
            return steps
    return None
