"""The table of operators: name in ATen -> a function that emits operators of gradtool.

A row is a function of a :class:`..node.Pt2Node` with the decorator :func:`row`. It gives what the node makes: a
variable, a tuple of them, or a size. Names are without the overload (``aten.add`` for ``aten.add.Tensor``), unless
overloads differ in what they mean; operators that write into their operand (``aten.add_``) need no row of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Row = Callable[[Any], Any]
Back = Callable[[Any, Any, Any], Any]
"""Of a node, what its operand was and what lies in the view now: the operand with that in its place."""

TABLE: dict[str, Row] = {}
VIEWS: dict[str, Back | None] = {}
"""Operators that give views of ``self``, and how what is written through them gets back."""


def row(*names: str) -> Callable[[Row], Row]:
    """Have the function below emit the operators *names*."""

    def register(function: Row) -> Row:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return register


def view(*names: str, back: Back | None = None) -> Callable[[Row], Row]:
    """The same for operators whose results look at the elements of ``self``."""

    def register(function: Row) -> Row:
        VIEWS.update(dict.fromkeys(names, back))
        return row(*names)(function)

    return register


def lookup(name: str, overload: str) -> Row | None:
    """The row of an operator; None where there is none."""
    return TABLE.get(f"{name}.{overload}") or TABLE.get(name)
