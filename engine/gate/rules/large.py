"""GT203: A gradient that is far too large."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.stats import LARGEST, LARGEST_RATIO, Line
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, Thresholds, worst


def _look(evidence: Evidence, options: Thresholds) -> Iterator[Hit]:
    yield from worst(
        evidence, lambda line: _size(line, options.options_for(line.name), evidence.rescalings.get(line.name, 1.0))
    )


def _size(line: Line, options: Options, rescaled: float) -> tuple[float, str] | None:
    """Return how many times too large a gradient is, and the message; None if it is not.

    Args:
        rescaled: what the script multiplies it by before the update.
    """
    norm, ratio = line.size * rescaled, line.times * rescaled
    if norm > options["norm"]:
        return norm / options["norm"], f"the gradient of {line.name} has norm {norm:.3g}, above {options['norm']:g}"
    if ratio > options["ratio"]:
        return ratio / options["ratio"], f"the gradient of {line.name} has {ratio:.3g} times the norm of the parameter"
    return None


RULE = Rule(
    code="GT203",
    name="large-gradient",
    summary="A gradient that is far too large.",
    why=(
        "One step of it throws the parameter away. Causes are a loss scale that was not taken off, a sum in place of a "
        "mean, or inputs in the wrong unit. What a GradScaler multiplies and divides is judged without its scale."
    ),
    severity=Severity.WARNING,
    look=_look,
    by_parameter=True,
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
