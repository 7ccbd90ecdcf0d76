"""Names that a line assigns to: ``mask`` of ``mask = paddle.triu(…)``."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache

from .source import Location, file_and_line

_MAKERS = frozenset(
    (
        *("arange", "assign", "clone", "create_parameter", "data", "empty", "eye", "full", "gaussian", "linspace"),
        *("normal", "ones", "parameter", "rand", "randint", "randn", "randperm", "standard_normal", "tensor"),
        *("to_tensor", "uniform", "zeros"),
    )
)
"""The last names of what makes a tensor of plain values."""


def target(location: Location) -> str:
    """The single target of the assignment on the innermost line of *location*; empty if none can be read from it."""
    statement = _statement(location)
    first = None if statement is None else _targets(statement)[0]
    return "" if first is None or isinstance(first, (ast.Tuple, ast.List)) else ast.unparse(first)


def targets(location: Location) -> tuple[str, ...]:
    """As :func:`target`; of ``x, y = randn(…), randn(…)`` both, in order."""
    statement = _statement(location)
    first = None if statement is None else _targets(statement)[0]
    if not isinstance(first, ast.Tuple) or not isinstance(getattr(statement, "value", None), ast.Tuple):
        name = target(location)
        return (name,) if name else ()
    return tuple(map(ast.unparse, first.elts))


def value_target(location: Location) -> str:
    """As :func:`target`, of a tensor made of plain values: what the line assigns must be that tensor itself."""
    statement = _statement(location)
    value = None if statement is None else statement.value
    if not isinstance(value, ast.Call):
        return ""
    function = value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return target(location) if name.lower().removesuffix("_like") in _MAKERS else ""


def _statement(location: Location) -> ast.Assign | ast.AnnAssign | None:
    place = file_and_line(location)
    return None if place is None else _parse(linecache.getline(*place).strip())


def _targets(statement: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


@lru_cache(4096)
def _parse(line: str) -> ast.Assign | ast.AnnAssign | None:
    try:
        statements = ast.parse(line).body
    except (SyntaxError, ValueError):
        return None
    first = statements[0] if statements else None
    return first if isinstance(first, (ast.Assign, ast.AnnAssign)) else None
