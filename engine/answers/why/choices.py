"""Lists of parameters as the user's text makes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...core.source import Location
from . import function_text

_BY_NAME = frozenset(("named_parameters", "named_sublayers", "named_modules", "named_children"))
"""Methods that give parts of a model with their names."""

_STEPS = 4
"""Statements from the call back to where a list is made."""


def is_by_name(location: Location) -> bool:
    """Return whether what the call at *location* is given is chosen from parameters with their names.

    ``[p for name, p in net.named_parameters() if name.startswith("head.")]`` is, here or where the list is made.
    """
    return any(_asks_for_names(statement) for statement in _origins(location))


def _origins(location: Location) -> Iterator[ast.stmt]:
    """Yield the statement at *location*, then those that give the names that it reads, and so on."""
    whole = function_text.body(location[0][0]) if location else None
    first = None if whole is None else function_text.statement(whole, location[0][1])
    if whole is None or first is None:
        return
    inside = [*function_text.statements(whole)]
    todo, seen = [_find_choice(first)], set[ast.stmt]()
    for _ in range(_STEPS):
        yield from todo
        seen.update(todo)
        wanted = {name for s in todo for name in _reads(s)}
        todo = [s for s in inside if s not in seen and not wanted.isdisjoint(_names(s))]


def _find_choice(statement: ast.stmt) -> ast.stmt:
    """Return what is given as the parameters, where it has a name: names may choose what decays, in another argument.

    Else the whole statement.
    """
    keywords = (n for n in _parts(statement) if isinstance(n, ast.keyword) and n.arg in ("parameters", "params"))
    chosen = next(keywords, None)
    return statement if chosen is None else ast.Expr(chosen.value)


def _asks_for_names(statement: ast.stmt) -> bool:
    """Return whether a statement goes over names and leaves some of them out."""
    nodes = [*_parts(statement)]
    asks = any(isinstance(n, ast.Attribute) and n.attr in _BY_NAME for n in nodes)
    if isinstance(statement, ast.For):
        return asks and any(isinstance(n, ast.If) for s in statement.body for n in ast.walk(s))
    return asks and any(isinstance(n, ast.comprehension) and n.ifs for n in nodes)


def _parts(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield a statement and its expressions, without the statements inside of it."""
    todo: list[ast.AST] = [statement]
    for node in todo:
        yield node
        todo += [n for n in ast.iter_child_nodes(node) if not isinstance(n, (ast.stmt, ast.excepthandler))]


def _reads(statement: ast.stmt) -> set[str]:
    """Return the names that a statement reads, without those that a comprehension of its own gives."""
    names = {name for node in _parts(statement) if isinstance(node, ast.expr) for name in function_text.read(node)}
    given = [n.target for n in _parts(statement) if isinstance(n, ast.comprehension)]
    return names - {n.id for target in given for n in ast.walk(target) if isinstance(n, ast.Name)}


def _names(statement: ast.stmt) -> set[str]:
    """Return the names that a statement gives, or whose list it adds to."""
    if isinstance(statement, ast.For):
        return {n.id for n in ast.walk(statement.target) if isinstance(n, ast.Name)}
    return function_text.find_names(statement)
