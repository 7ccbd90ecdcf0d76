"""What a call gives: type, shape, ``stop_gradient`` and numbers of each result, of Paddle or of gradtool."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.paddle_values.operands import names_in, values

DIGITS = 5


def outcome(paddle: Any, text: str) -> dict[str, Any]:
    """The results of the call *text*, with operands of real numbers that are differentiated; or why it is refused."""
    operands = {}
    for name in names_in(text):
        operands[name] = paddle.to_tensor(values(name))
        operands[name].stop_gradient = values(name).dtype.kind not in "fc"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return {"results": told(eval(text, {"paddle": paddle, "np": np, **operands}))}
    except Exception as error:
        return {"refused": type(error).__name__}


def told(value: Any) -> Any:
    """A result, or a list of them, as JSON holds it."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(told, value)]
    if not hasattr(value, "stop_gradient"):
        return repr(value)
    array = np.asarray(value.numpy())
    numbers = array.reshape(-1)
    if array.dtype.kind == "c":
        numbers = np.stack([numbers.real, numbers.imag], -1).reshape(-1)
    stop = "stop" if value.stop_gradient else "goes"
    return {"is": f"{array.dtype.name} {list(array.shape)} {stop}", "numbers": [short(n) for n in numbers.tolist()]}


def short(number: Any) -> Any:
    """A number to a few digits, whole where it is; NaN and infinity as text."""
    if not isinstance(number, float):
        return int(number)
    if not np.isfinite(number):
        return str(number)
    rounded = float(f"{number:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded
