"""GT207: A gradient of float16 near the ends of its range: about to overflow, or lost to underflow."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...answers.stats import Line
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, Thresholds

_HALF = np.finfo(np.float16)


def _look(evidence: Evidence, options: Thresholds) -> Iterator[Hit]:
    halves = [x for _, x in evidence.parameters if x.gradient is not None and x.dtype == "float16"]
    # Below a loss scale gradients of parameters are often wide, and what flows to them is not.
    flowing = [x for x in evidence.sizes.story.operators if x.dtype == "float16" and x.scale != 1.0 and x.gradient]
    if not halves and flowing and all(_underflow(x, options.options_for(x.name)) for x in flowing):
        line = min(flowing, key=lambda x: x.gradient.largest if x.gradient is not None else math.inf)
        yield Hit(line.name, f"in every float16 operator: {_underflow(line, options.options_for(line.name))}", line.loc)
    for said in (_overflow, _underflow):
        hits = [
            (line, message) for line in halves if (message := said(line, options.options_for(line.name))) is not None
        ]
        if hits:
            line, message = hits[0]
            others = dict.fromkeys(x.name for x, _ in hits if x.name != line.name)
            yield Hit(line.name, message, line.loc, tuple(others), numbers=_numbers(line))


def _numbers(line: Line) -> dict[str, float]:
    """Return the sizes of a gradient."""
    assert line.gradient is not None
    return {"largest": line.gradient.largest, "norm": line.gradient.norm, "scale": line.scale}


def _overflow(line: Line, options: Options) -> str | None:
    assert line.gradient is not None
    if line.scale != 1.0:
        return None  # a scaler skips a step that overflows, and makes its scale smaller
    room = float(_HALF.max) / line.gradient.largest if line.gradient.largest else math.inf
    if line.gradient.nonfinite or room >= options["room"]:
        return None
    return f"the gradient of {line.name} reaches {line.gradient.largest:.3g}; float16 ends at {_HALF.max:.3g}"


def _underflow(line: Line, options: Options) -> str | None:
    """Return the message where so many elements have lost digits that the type holds fewer of them, or none at all."""
    assert line.gradient is not None
    least = math.floor(math.log10(float(_HALF.tiny)))
    small = sum(count for decade, count in line.gradient.decades.items() if decade < least)
    sized = sum(line.gradient.decades.values())
    if not sized or small < options["part"] * sized:
        return None
    return (
        f"{small} of {sized} elements of the gradient of {line.name} that are not zero are below {_HALF.tiny:.2g}, "
        f"where float16 loses digits{_scale_clause(line)}"
    )


def _scale_clause(line: Line) -> str:
    """Return the clause about the scale that a scaler multiplied the loss by."""
    if line.scale == 1.0:
        return ""
    return f", although the loss is scaled by {line.scale:g}: begin with a larger init_loss_scaling"


RULE = Rule(
    code="GT207",
    name="dtype-headroom",
    summary="A gradient of float16 near the ends of its range: about to overflow, or lost to underflow.",
    why=(
        "float16 ends at 65504 and loses digits below 6e-5. One larger batch turns the first into infinities, and the "
        "second become zeros while the loss still falls. A loss scale moves gradients between the two."
    ),
    severity=Severity.WARNING,
    look=_look,
    by_parameter=True,
    options={
        "room": (4.0, "a gradient is too large where so many times its largest element do not fit"),
        "part": (0.5, "and too small where that part of its elements is below the normal numbers"),
    },
    wrong="""\
import paddle

w = paddle.create_parameter([4], "float16", default_initializer=paddle.nn.initializer.Constant(1.0))
loss = (w * 1e-5).mean()  # each element gets 2.5e-6, and nothing scales the loss
loss.backward()
""",
    right="""\
import paddle

w = paddle.create_parameter([4], "float16", default_initializer=paddle.nn.initializer.Constant(1.0))
loss = (w * 1e-5).mean()
(loss * 1024).backward()  # and the optimizer's scaler divides by it
""",
)
