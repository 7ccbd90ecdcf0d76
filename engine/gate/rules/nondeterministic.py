"""GT302: Gradients that differ between two runs with the same seed."""

from __future__ import annotations

from collections.abc import Iterator

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    first, second = evidence.sizes.story.parameters, {x.name: x for x in evidence.sizes_again.story.parameters}
    differing = [x for x in first if x.name not in second or x.gradient != second[x.name].gradient]
    if differing:
        line, again = differing[0], second.get(differing[0].name)
        norms = [x.gradient.norm for x in (line, again) if x is not None and x.gradient is not None]
        told = f": norm {norms[0]:.9g}, then {norms[1]:.9g}" if len(norms) == 2 else ", or is in one of them only"
        message = f"the gradient of {line.name} differs between two runs with one seed{told}"
        yield Hit(line.name, message, line.loc, tuple(x.name for x in differing[1:]))


RULE = Rule(
    code="GT302",
    name="not-repeatable",
    summary="Gradients that differ between two runs with the same seed.",
    why=(
        "What cannot be repeated cannot be compared. Causes are clocks, the order of sets, and random numbers that no "
        "seed reaches. Off unless it is selected, since it runs the model once more."
    ),
    severity=Severity.WARNING,
    look=_look,
    always=False,
    wrong="""\
import os

import paddle

noise = int.from_bytes(os.urandom(4), "little") / 2**32
w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
loss = (w * noise).sum()
loss.backward()
""",
    right="""\
import random

import paddle

noise = random.random()  # is seeded while a model is loaded
w = paddle.create_parameter([4], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
loss = (w * noise).sum()
loss.backward()
""",
)
