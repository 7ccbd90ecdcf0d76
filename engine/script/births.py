"""Births of parameters and tensors: the line, and the name there.

For what nobody holds any more, or where no name leads: ``scorer = nn.Linear(5, 4)`` in a function ``build`` makes
``build.scorer.weight``.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Collection, Iterable, Iterator
from itertools import count

from ..core import source
from ..core.source import Location

SOME = "[…]"
"""Stands in a path for the place in a list that a loop filled."""


def path_of(loc: Location, inside: str | None) -> str:
    """Return the target of the statement at *loc*; empty if it has none.

    Args:
        inside: the way from the outermost layer that was made to the tensor, if it stands in one.
    """
    place = source.file_and_line(loc)
    if place is None:
        return inside or ""
    owner, target = _owner(loc), _file(place[0]).target(place[1])
    first, _, rest = target.partition(".")
    if first in ("self", "cls") and rest:
        owner, target = owner.rpartition(".")[0] or owner, rest
        if inside and target in _beginnings(inside):
            target = ""  # the layer knows the name already
    if not target and not inside:
        return ""
    return ".".join(step for step in (owner, target, inside or "") if step)


def local_of(loc: Location) -> str:
    """Return the target of the statement at *loc*, as the function around it calls it; empty if it has none."""
    place = source.file_and_line(loc)
    target = "" if place is None else _file(place[0]).target(place[1])
    return target if target.isidentifier() else ""


def free(path: str, taken: Collection[str]) -> str:
    """*path*, or that with a number, so that it is not among the *taken* ones."""
    if SOME not in path:
        numbered = (f"{path}#{n}" for n in count(2))
        return path if path not in taken else next(p for p in numbered if p not in taken)
    return next(p for p in (path.replace(SOME, f"[{n}]", 1) for n in count()) if p not in taken)


def _owner(loc: Location) -> str:
    """The function around a location, a method with its class; empty for the module."""
    steps = loc[0][0].co_qualname.split(".<locals>.")
    named = [step for step in steps if not step.startswith("<")]
    return named[-1] if named else ""


def _beginnings(path: str) -> set[str]:
    """Every way that *path* begins or goes on with: ``b`` and ``b.weight`` of ``a.b.weight``."""
    steps = path.split(".")
    return {".".join(steps[i:j]) for i in range(len(steps)) for j in range(i + 1, len(steps))}


def _target(statements: Iterable[ast.stmt], line: int) -> str:
    """Return the target that the innermost statement around a line assigns or appends to; empty if there is none."""
    inner = [s for s in statements if s.lineno <= line <= (s.end_lineno or s.lineno)]
    if not inner:
        return ""
    statement = max(inner, key=lambda s: s.lineno)
    value: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        target, value = ast.unparse(statement.targets[0]), statement.value
    elif isinstance(statement, ast.AnnAssign):
        target, value = ast.unparse(statement.target), statement.value
    elif isinstance(statement, ast.Expr) and (call := _find_append(statement.value)) is not None:
        return f"{ast.unparse(call.value)}{SOME}"
    else:
        return ""
    return "" if "," in target else target + "".join(_steps(value, line))


def _find_append(value: ast.expr) -> ast.Attribute | None:
    """``blocks.append`` of ``blocks.append(…)``."""
    function = value.func if isinstance(value, ast.Call) else None
    adds = isinstance(function, ast.Attribute) and function.attr in ("append", "add", "appendleft")
    return function if adds and isinstance(function, ast.Attribute) else None


def _steps(value: ast.expr | None, line: int) -> Iterator[str]:
    """The way from what is assigned to what *line* makes, through displays of lists, tuples and dicts."""
    while value is not None:
        if isinstance(value, (ast.ListComp, ast.GeneratorExp)):
            yield SOME
            value = value.elt
        elif isinstance(value, ast.DictComp):
            yield SOME
            value = value.value
        elif isinstance(value, ast.Dict):
            entries = [(f"[{ast.unparse(k)}]", v) for k, v in zip(value.keys, value.values, strict=True) if k]
            step, value = _only(entries, line)
            yield step
        elif isinstance(value, (ast.List, ast.Tuple)):
            step, value = _only([(f"[{i}]", v) for i, v in enumerate(value.elts)], line)
            yield step
        else:
            return


def _only(entries: list[tuple[str, ast.expr]], line: int) -> tuple[str, ast.expr | None]:
    """The entry of a display that *line* makes, with the step to it; of several on one line none is known."""
    there = [(step, v) for step, v in entries if v.lineno <= line <= (v.end_lineno or v.lineno)]
    there = [(step, v) for step, v in there if not isinstance(v, ast.Constant)]
    return there[0] if len(there) == 1 else (SOME, None)


class _File:
    """The statements of a source file, and what was asked about its lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.targets: dict[int, str] = {}
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.Module([], [])
        self.statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]

    def target(self, line: int) -> str:
        """Return the target of the statement on *line*."""
        if line not in self.targets:
            self.targets[line] = _target(self.statements, line)
        return self.targets[line]


_files: dict[str, _File] = {}


def _file(name: str) -> _File:
    lines = linecache.getlines(name)
    known = _files.get(name)
    if known is None or known.lines is not lines:
        known = _files[name] = _File(lines)
    return known
