"""Tables whose rows keep below a length."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ModeError
from gradtool.engine.eager.mode import no_grad
from gradtool.paddle._arguments import tensor
from gradtool.paddle._images import FLOATS


def embedding_renorm_(x: Any, weight: Any, max_norm: float, norm_type: float = 2.0) -> Any:
    """Shorten the rows of *weight* that *x* looks up to a length of *max_norm*, in place; dynamic mode only.

    Args:
        x: which rows, whole numbers.
        norm_type: which norm their length is.

    Returns:
        *weight*.

    Raises:
        ModeError: static mode is on.
    """
    tensor(x, "x", "embedding_renorm_", ("uint8", "int8", "int16", "int32", "int64"))
    tensor(weight, "weight", "embedding_renorm_", FLOATS)
    if state.in_static_mode():
        raise ModeError(
            "embedding_renorm_() changes values, and static mode is on.", hint="call paddle.disable_static() before it"
        )
    with no_grad():
        rows = paddle.unique(x)
        picked = paddle.index_select(weight, rows)
        lengths = paddle.norm(picked, p=norm_type, axis=1, keepdim=True)
        factors = paddle.where(lengths > max_norm, max_norm / (lengths + 1e-7), paddle.ones_like(lengths))
        weight.set_value(paddle.scatter(weight.detach(), rows, picked * factors))
    return weight
