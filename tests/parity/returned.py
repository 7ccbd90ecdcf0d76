"""What a recorded script returned, compared with what it returns on gradtool."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.eager.tensor import Tensor

from . import replay


def differences(ours: Any, recorded: Any, path: str = "") -> list[str]:
    """Where *ours* differs from the record: in structure, values, or the class of an error."""
    if isinstance(recorded, dict) and "data" in recorded:
        if not isinstance(ours, (Tensor, np.ndarray)):
            return [f"{path}: {ours!r} is no tensor"]
        why = replay.close(np.asarray(ours), replay.array(recorded))
        return [] if why is None else [f"{path}: {why}"]
    if isinstance(recorded, dict):
        if set(ours) != set(recorded):
            return [f"{path}: {sorted(ours)} instead of {sorted(recorded)}"]
        return [d for key, value in recorded.items() for d in differences(ours[key], value, f"{path}/{key}")]
    if isinstance(recorded, list):
        if len(ours) != len(recorded):
            return [f"{path}: {ours} instead of {recorded}"]
        pairs = zip(ours, recorded, strict=True)
        return [d for i, (a, b) in enumerate(pairs) for d in differences(a, b, f"{path}/{i}")]
    if isinstance(recorded, str) and isinstance(ours, str):
        # Names of an exception's class and its bases: the recorded class is among ours.
        return [] if recorded.split()[0] in ours.split() else [f"{path}: {ours!r} instead of {recorded!r}"]
    if isinstance(recorded, float):
        near = isinstance(ours, float) and math.isclose(ours, recorded, rel_tol=1e-4, abs_tol=1e-6)
        return [] if near else [f"{path}: {ours} instead of {recorded}"]
    return [] if ours == recorded and type(ours) is type(recorded) else [f"{path}: {ours!r} instead of {recorded!r}"]
