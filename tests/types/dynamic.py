"""What a call gives in dynamic mode: the types of its results and of the gradients, or a refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.types.calls import FIRST, OPERANDS, SECOND, SHORT, array, names_in

REFUSED = "-"


def outcome(paddle: Any, text: str, types: tuple[str, ...]) -> str:
    """``f4`` or ``f4,i8``; after ``>`` the types of the gradients; ``-`` for what is refused.

    A gradient is asked for each operand of floating-point or complex numbers, in order; 0 stands for none.
    """
    names = names_in(text)
    operands = {}
    for name in names:
        values, dtype = array(name, types)
        operands[name] = paddle.to_tensor(values).astype(dtype)
    inputs = [operands[n] for n in names if OPERANDS[n][1] in (FIRST, SECOND) and carries(operands[n])]
    for tensor in inputs:
        tensor.stop_gradient = False
    scope = {"paddle": paddle, "F": paddle.nn.functional, "first": types[0] if types else "", **operands}
    try:
        outs = flat(eval(text, scope))
    except Exception:
        return REFUSED
    results = ",".join(short(v) for v in outs)
    roots = [v for v in outs if hasattr(v, "stop_gradient") and not v.stop_gradient and carries(v)]
    if not roots or not inputs:
        return results
    try:
        gradients = paddle.grad(roots, inputs, allow_unused=True)
    except Exception:
        return f"{results}>{REFUSED}"
    return joined(results, gradients, short)


def joined(results: str, gradients: Sequence[Any], name: Callable[[Any], str]) -> str:
    """*results* with the types of the gradients, if there are any."""
    if all(g is None for g in gradients):
        return results
    return f"{results}>{','.join('0' if g is None else name(g) for g in gradients)}"


def flat(value: Any) -> list[Any]:
    return [e for v in value for e in flat(v)] if isinstance(value, (list, tuple)) else [value]


def name_of(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2].lower()


def carries(tensor: Any) -> bool:
    return name_of(tensor.dtype).startswith(("float", "bfloat", "complex"))


def short(value: Any) -> str:
    return SHORT[name_of(value.dtype)] if hasattr(value, "dtype") else type(value).__name__
