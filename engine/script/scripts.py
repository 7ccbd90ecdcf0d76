"""Recognition of scripts: what they do stands behind ``if __name__ == "__main__"``, and they may take arguments.

Of a model file the guarded part stays quiet: what is asked about has been computed when the module has run. A file
that leaves nothing to be asked about is a script, and its guarded part runs as well, as under ``python train.py``. A
file that goes on behind its guard is a script from the start: its statements run in their own order.
"""

from __future__ import annotations

import ast
from typing import Final, NamedTuple

ENTRIES = ("build", "model")
"""Functions that are called by themselves."""


class ScriptParts(NamedTuple):
    """A script, taken apart.

    Attributes:
        module: the file without its guards.
        guarded: what stands behind them.
        calls: names of functions that the file calls itself: an entry among them that cannot be called is a helper.
        trains: whether it calls ``backward`` outside of its entries: one that it calls itself is a helper then, such as
            a ``build()`` that makes the model.
        goes_on: whether it computes something behind its guard. Its parts cannot be run one after the other then: it
            runs whole, in its own order, as a script.
    """

    module: ast.Module
    guarded: ast.Module
    calls: frozenset[str]
    trains: bool
    goes_on: bool

    @property
    def helpers(self) -> frozenset[str]:
        """Functions that are not called by themselves, whatever they are called."""
        return self.calls if self.trains else frozenset()


def parts(text: bytes) -> ScriptParts | None:
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
    outside = (node for statement in tree.body if not _is_an_entry(statement) for node in ast.walk(statement))
    trains = any(isinstance(node, ast.Attribute) and node.attr == "backward" for node in outside)
    module, guarded = ast.Module(others, tree.type_ignores), ast.Module(guards, tree.type_ignores)
    behind = tree.body[tree.body.index(guards[0]) :]
    goes_on = any(not isinstance(statement, _DEFINITIONS) and statement not in guards for statement in behind)
    return ScriptParts(module, guarded, frozenset(calls), trains, goes_on)


_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
"""Statements whose place before or after a guard makes no difference."""


def _is_an_entry(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name in ENTRIES


def _is_guard(statement: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, whichever way round."""
    if not isinstance(statement, ast.If) or not isinstance(statement.test, ast.Compare):
        return False
    sides = (statement.test.left, *statement.test.comparators)
    named = any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)
    return named and any(isinstance(side, ast.Constant) and side.value == "__main__" for side in sides)
