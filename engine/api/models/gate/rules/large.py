"""GT203: A gradient that is far too large."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.answers.stats import LARGEST, LARGEST_RATIO

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule



def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for line in evidence.sizes.story.parameters:
        g = line.gradient
        if g is None or g.nonfinite:
            continue
        if g.norm > options["norm"]:
            yield Hit(line.name, f"the gradient of {line.name} has norm {g.norm:.3g}, above {options['norm']:g}", line.loc)
        elif line.ratio is not None and line.ratio > options["ratio"]:
            yield Hit(line.name, f"the gradient of {line.name} has {line.ratio:.3g} times the norm of the parameter", line.loc)


RULE = Rule(
    code="GT203",
    name="large-gradient",
    summary='A gradient that is far too large.',
    why=(
        'One step of it throws the parameter away; a loss scale that was not taken off, a sum where a mean was meant, inputs of the wrong unit.'
    ),
    severity=Severity.WARNING,
    look=_look,
    options={
        "norm": (LARGEST, "a gradient of a larger norm is too large"),
        "ratio": (LARGEST_RATIO, "so is one that has so many times the norm of its parameter"),
    },
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
scaled = (net(paddle.rand([8, 4])) - 1).square().mean() * 65536.0  # and never unscaled
scaled.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
loss = (net(paddle.rand([8, 4])) - 1).square().mean()
loss.backward()
""",
)
