"""Which files are scripts: what they do stands behind ``if __name__ == "__main__"``, and they may take arguments.

Of a model file the guarded part stays quiet: what is asked about has been computed when the module has run. A file
that leaves nothing to be asked about is a script, and its guarded part runs as well, as under ``python train.py``.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

ENTRIES = ("build", "model")
"""Functions that are called by themselves."""


class Parts(NamedTuple):
    """A script, taken apart.

    Attributes:
        module: the file without its guards.
        guarded: what stands behind them.
        calls: names of functions that the file calls itself: an entry among them is a helper.
    """

    module: ast.Module
    guarded: ast.Module
    calls: frozenset[str]


def parts(text: bytes) -> Parts | None:
    """The parts of a file; None where there is no guard.

    What is no Python has none: whoever runs it says what is wrong.
    """
    if b"__main__" not in text:
        return None
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    guards = [statement for statement in tree.body if _is_guard(statement)]
    if not guards:
        return None
    others = [statement for statement in tree.body if statement not in guards]
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    return Parts(ast.Module(others, tree.type_ignores), ast.Module(guards, tree.type_ignores), frozenset(calls))


def _is_guard(statement: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, whichever way round."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = (statement.test.left, *statement.test.comparators)
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
