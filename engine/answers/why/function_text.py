"""The user's functions as text: their statements, what these give names to, and what they read."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType

Body = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


@lru_cache(maxsize=256)
def body(code: CodeType) -> Body | None:
    """The definition that *code* was made of, or its module; None where its text is not there any more."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError):
        return None
    if code.co_name == "<module>":
        return tree
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    return None


def is_expression(code: CodeType) -> bool:
    """Return whether it is a comprehension or a lambda, whose results go to the function around it."""
    return code.co_name.startswith("<") and code.co_name != "<module>"


def statements(whole: Body) -> Iterator[ast.stmt]:
    """The statements of a function that are not in functions of its own."""
    todo: list[ast.AST] = [*whole.body]
    for node in todo:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (ast.stmt, ast.excepthandler, ast.match_case)):
            todo += ast.iter_child_nodes(node)


def statement(whole: Body, line: int) -> ast.stmt | None:
    """The innermost statement at *line*."""
    around = [s for s in statements(whole) if s.lineno <= line <= (s.end_lineno or s.lineno)]
    return max(around, key=lambda s: s.lineno, default=None)


@lru_cache(maxsize=256)
def find_returned(whole: Body) -> frozenset[str]:
    """The names in what a function returns, and in the lists, tuples and dicts that have these names."""
    inside = [*statements(whole)]
    names = {name for s in inside if isinstance(s, ast.Return) and s.value for name in read(s.value)}
    holders = [s for s in inside if isinstance(s, ast.Assign) and isinstance(s.value, (ast.List, ast.Tuple, ast.Dict))]
    for holder in reversed(holders):
        if not find_names(holder).isdisjoint(names):
            names.update(read(holder.value))
    return frozenset(names)


def read(expression: ast.AST) -> set[str]:
    """The names and dotted names (``self.state``) that are read in it."""
    names = set()
    for node in ast.walk(expression):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            names.add(_dotted_name(node))
    return names - {""}


def find_names(statement: ast.stmt) -> set[str]:
    """The names and dotted names that a statement gives to what it makes, or to the list that it adds that to."""
    targets: Iterable[ast.expr] = ()
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        targets = (statement.target,)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        # outputs.append(x): the list is what is returned.
        method = statement.value.func
        targets = (method.value,) if isinstance(method, ast.Attribute) else ()
    names: set[str] = set()
    todo = [*targets]
    for target in todo:
        if isinstance(target, (ast.Name, ast.Attribute)):
            names.add(_dotted_name(target))
        elif isinstance(target, (ast.Tuple, ast.List)):
            todo += target.elts
        elif isinstance(target, (ast.Starred, ast.Subscript)):
            todo.append(target.value)
    return names - {""}


def _dotted_name(node: ast.expr) -> str:
    """``self.state``; empty where it does not begin with a name."""
    steps: list[str] = []
    while isinstance(node, ast.Attribute):
        steps.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(steps)]) if isinstance(node, ast.Name) else ""
