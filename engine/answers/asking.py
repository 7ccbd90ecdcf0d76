"""The questions as functions of Python: the same answers as the command line's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import UsageError
from .nan import Hunt, NanStory
from .running import any_model


def find_nan(
    model: Any,
    feed: Mapping[str, Any] | None = None,
    *,
    order: int = 1,
    big: float | None = None,
    subnormal: bool = False,
    steps: int = 1,
) -> NanStory:
    """Search a run of *model*, forward and backward, for the place where NaN or infinity is born.

    Args:
        model: a function that computes a loss in dynamic mode and returns it (or runs backward itself), called
            *steps* times; a loss Tensor, of which the backward pass alone can be watched; or the loss Variable of a
            static program, which gets a backward part if it has none and is run once.
        feed: what to feed to a static program.
        order: 2 searches the gradients of the gradients, too.
        big: finite numbers beyond it count as overflow.
        subnormal: whether numbers too small for full precision count.

    Returns:
        The story: ``clean``, ``births`` (the first one is the one to look at), what was absorbed or intended, how many
        operators carried it on, and how much was checked. No ``.grad`` changes, unless the function runs backward.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).
        LossError: nothing was recorded for the loss.

    >>> import gradtool as paddle
    >>> x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    >>> story = paddle.find_nan(lambda: paddle.sqrt(x).sum())
    >>> story.births[0].type, story.births[0].cause
    ('sqrt_grad', '0.5·dout/out with out = 0 in 1 of 2 elements')
    """
    if steps < 1:
        raise UsageError(f"steps must be at least 1, but is {steps}.")
    hunt = Hunt(big, subnormal)
    any_model(model, hunt, feed, order, steps)
    return hunt.story()
