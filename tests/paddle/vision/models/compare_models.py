"""Compare every network of ``paddle.vision.models`` with what was recorded from Paddle: ``record_models.py`` says what.

Run as ``python -m tests.paddle.vision.models.compare_models [WORD]``, for names with the word; minutes for all.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradtool import paddle

from . import record_models

RECORDED: dict[str, Any] = json.loads(record_models.OUT.read_text(encoding="utf-8"))


def keys(expression: str) -> Iterator[str]:
    """What differs in keys, shapes and names of the parameters."""
    rows = record_models.parameters(paddle, expression)
    if [len(rows), record_models.digest(rows)] != RECORDED["keys"][expression]:
        yield f"{expression}: {len(rows)} parameters, with other keys, shapes or names than in Paddle"


def values(expression: str) -> Iterator[str]:
    """What differs in outputs and gradients."""
    expected = RECORDED["values"][expression]
    outputs, gradients = record_models.computed(paddle, expression)
    for output, (shape, value) in zip(outputs, expected["outputs"], strict=True):
        if [*output.shape] != shape or not _near(record_models.projected(output), value, output):
            yield f"{expression}: an output is {record_models.projected(output)} {output.shape}, not {value} {shape}"
    without = [key for key in record_models.built(paddle, expression).state_dict() if key not in gradients]
    if record_models.digest(without) != expected["without"]:
        yield f"{expression}: other entries have no gradient than in Paddle; here these: {', '.join(without)}"
    for (key, gradient), value in zip(gradients.items(), expected["gradients"], strict=True):
        if not _near(record_models.projected(gradient), value, gradient):
            yield f"{expression}: the gradient of {key} is {record_models.projected(gradient)}, not {value}"


def _near(ours: float, paddles: float, of: Any) -> bool:
    return abs(ours - paddles) <= 1e-5 * float(np.linalg.norm(of)) + 1e-12


if __name__ == "__main__":
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    differences = 0
    for kind in (keys, values):
        for expression in RECORDED[kind.__name__]:
            if word in expression:
                print(kind.__name__, expression, flush=True)
                for difference in kind(expression):
                    differences += 1
                    print("  ", difference)
    print(differences, "differences")
    sys.exit(bool(differences))
