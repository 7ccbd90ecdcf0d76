"""The table of operators: name and version of ONNX -> a function that emits operators of gradtool.

A row is a function of a :class:`..node.OnnxNode` with the decorator :func:`row`. It gives what the node makes: one
variable, or a tuple of them, None for an output that nobody asked for. It is also called in dynamic mode, with
tensors, where all that a node reads is constant: so constants are folded without a second table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = Callable[[Any], Any]

TABLE: dict[str, list[tuple[int, Row]]] = {}
"""Operator -> its rows, each with the first version of the operator set that it holds for; the newest first."""

NEVER_FOLDED: set[str] = set()
"""Operators whose results are not those of their operands alone: they draw random numbers, or hold graphs."""


FIXED: dict[str, tuple[int, ...]] = {}
"""Operator -> operands that training does not change, whatever they are: scales of quantized numbers, running means."""


def row(*names: str, since: int = 1, folds: bool = True, fixed: tuple[int, ...] = ()) -> Callable[[Row], Row]:
    """Have the function below emit the operators *names*, from version *since* of the operator set on.

    Args:
        folds: it may be called with constants; not so where it draws random numbers or emits graphs.
        fixed: places of operands that training does not change.
    """

    def register(function: Row) -> Row:
        for name in names:
            TABLE.setdefault(name, []).append((since, function))
            TABLE[name].sort(key=lambda entry: -entry[0])
            if not folds:
                NEVER_FOLDED.add(name)
            if fixed:
                FIXED[name] = fixed
        return function

    return register


def lookup(name: str, opset: int) -> Row | None:
    """The row of an operator in a version of the operator set; None where there is none."""
    for since, function in TABLE.get(name, ()):
        if since <= opset:
            return function
    return None
