"""Lines of the functions around a line: who called it, and who let go of what it returned.

Locations have to be whole stacks (``source.full_stacks``); of a single line nothing is known of its callers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import Any

from ...core import source
from ...core.source import NOWHERE, Location
from . import function_text


def caller(inner: Location, around: Location) -> Location:
    """The line that called the function of *inner*, in the function that was running at *around*, too.

    Nowhere if *inner* stands in that function itself.
    """
    running = {code for code, _ in around}
    at = next((i for i, (code, _) in enumerate(inner) if code in running), 0)
    return inner[at:] if at else NOWHERE


def let_go(made: Location) -> Location:
    """The line that let go of a result made at *made*: the first one outwards whose function does not return it."""
    for i, (code, line) in enumerate(made):
        if not (function_text.is_expression(code) or _returns(code, line)):
            return made[i:]
    return made


def find_fill(made: Location, container: str) -> Location:
    """Return the line that makes a container such as ``net.blocks``, in a function that led to *made*; *made* without.

    Args:
        made: where something in the container was made.
    """
    for i, (code, _) in enumerate(made):
        function = function_text.body(code)
        lines = () if function is None else _assignments(function, container.rpartition(".")[2])
        if lines:
            return ((code, lines[0]), *made[i + 1 :])
    return made


def find_attribute(kind: type, name: str) -> Location:
    """Return the line of ``__init__`` of a class that gives its objects an attribute; nowhere without one."""
    code = getattr(getattr(kind, "__init__", None), "__code__", None)
    function = None if code is None else function_text.body(code)
    lines = () if function is None else _assignments(function, name)
    return ((code, lines[0]),) if lines and code is not None else NOWHERE


def _assignments(function: function_text.Body, name: str) -> list[int]:
    """Return the lines of a function that give something the name ``self.NAME``."""
    given = [s for s in function_text.statements(function) if isinstance(s, (ast.Assign, ast.AnnAssign))]
    return [s.lineno for s in given if any(n.endswith(f".{name}") for n in function_text.find_names(s))]


def result(code: CodeType) -> Location:
    """Return the line where a function returns its result; where it begins, if it does so on several lines."""
    function = function_text.body(code)
    if function is None or isinstance(function, ast.Module):
        return ((code, code.co_firstlineno),)
    returns = [s.lineno for s in function_text.statements(function) if isinstance(s, ast.Return)]
    return ((code, returns[0] if len(returns) == 1 else function.lineno),)


def hook_place(hook: Callable[..., Any]) -> Location:
    """Return where a hook on a gradient returns; of one of another framework, where its recorder saw that."""
    recorded, code = getattr(hook, "stands_at", None), getattr(hook, "__code__", None)
    if recorded is not None:
        return source.locate(recorded)
    return NOWHERE if code is None else result(code)


def _returns(code: CodeType, line: int) -> bool:
    """Return whether the function returns what its statement at *line* makes."""
    function = function_text.body(code)
    statement = None if function is None else function_text.statement(function, line)
    if function is None or statement is None:
        return False
    return isinstance(statement, ast.Return) or not function_text.find_names(statement).isdisjoint(
        function_text.find_returned(function)
    )
