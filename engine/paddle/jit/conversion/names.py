"""Names that statements bind, jumps out of them, and other facts of syntax trees that the rewriting needs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""What has names of its own: what stands inside is not the function's."""

LOOPS = (ast.For, ast.While, ast.AsyncFor)

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

CHANGING = frozenset(
    (
        *("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"),
        *("update", "setdefault", "popitem", "add", "discard"),
    )
)
"""Methods of Python's containers that change them."""


def within(nodes: Iterable[ast.AST], *closed: type) -> Iterator[ast.AST]:
    """Every node of a function's own statements in order of the text, without what stands inside other functions.

    Args:
        closed: further kinds of nodes that are not looked into.
    """
    todo = list(nodes)[::-1]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (*SCOPES, *closed)):
            todo.extend(list(ast.iter_child_nodes(node))[::-1])


def bound(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that statements bind, sorted; those of comprehensions are their own."""
    names: set[str] = set()
    inner: set[str] = set()
    for node in within(nodes):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
            names.update([node.name] if node.name else [])
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, _COMPREHENSIONS):
            targets = (g.target for g in node.generators)
            inner.update(n.id for n in within(targets) if isinstance(n, ast.Name))
    # A name of a comprehension that a statement binds as well is both; where only one binds it, it is that one's.
    return sorted(names - (inner - _by_statements(nodes)))


def _by_statements(nodes: Iterable[ast.AST]) -> set[str]:
    """Names bound outside of comprehensions, or by ``:=`` inside of them."""
    names = set()
    for node in within(nodes, *_COMPREHENSIONS):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
    names.update(n.target.id for n in within(nodes) if isinstance(n, ast.NamedExpr))
    return names


def members(nodes: Iterable[ast.AST]) -> list[str]:
    """The attributes that statements assign to, as ``self.state``: of plain names only, sorted."""
    texts = set()
    for node in within(nodes):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _is_path(node.value):
            texts.add(ast.unparse(node))
    return sorted(texts)


def changed(nodes: Iterable[ast.AST]) -> list[str]:
    """The names and attributes whose containers statements may change: ``out.append(x)``, ``table[k] = x``; sorted."""
    texts = set()
    for node in within(nodes):
        place = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            place = node.func.value
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            place = node.value
        while isinstance(place, ast.Subscript):
            place = place.value
        if place is not None and _is_path(place):
            texts.add(ast.unparse(place))
    return sorted(texts)


def _is_path(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def has(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Return whether a node of these kinds is among a function's own."""
    return any(isinstance(n, kinds) for n in within(nodes))


def jumps(nodes: Iterable[ast.AST], *kinds: type) -> bool:
    """Return whether statements leave the loop around them by ``break`` or ``continue``."""
    return any(isinstance(n, kinds) for n in _of_this_loop(nodes))


def _of_this_loop(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes that belong to the loop around *nodes*: of loops inside, only their ``else``."""
    todo = list(nodes)[::-1]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, LOOPS):
            todo.extend(node.orelse[::-1])
        elif not isinstance(node, SCOPES):
            todo.extend(list(ast.iter_child_nodes(node))[::-1])


def ends(statements: list[ast.stmt]) -> bool:
    """Return whether a statement after *statements* is never reached from them."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(last, ast.With):
        return False  # a context may swallow what was raised
    return isinstance(last, ast.If) and ends(last.body) and ends(last.orelse)
