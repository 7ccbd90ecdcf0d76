"""The syntax tree of a function, and a function of a syntax tree that stands on the same lines."""

from __future__ import annotations

import ast
import functools
import linecache
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

Definition = ast.FunctionDef | ast.Lambda


class Found(NamedTuple):
    """A function in its file.

    Attributes:
        node: its definition.
        owner: the class around it, whose private names it may use; None outside of classes.
    """

    node: Definition
    owner: str | None


def found(function: types.FunctionType) -> Found | None:
    """The definition of *function*; None where its text cannot be read."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        return None
    candidates = _definitions("".join(lines)).get(code.co_firstlineno, [])
    for candidate in candidates:
        if _is_of(candidate.node, code):
            return candidate
    return None


@functools.lru_cache(maxsize=64)
def _definitions(text: str) -> dict[int, list[Found]]:
    """The functions of a file by the line that their code objects name: of the first decorator, if there is one."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    by_line: dict[int, list[Found]] = {}
    for node, owner in _owned(tree):
        decorators = getattr(node, "decorator_list", ())
        line = min([node.lineno, *(d.lineno for d in decorators)])
        by_line.setdefault(line, []).append(Found(node, owner))
    return by_line


def _owned(tree: ast.AST) -> Iterator[tuple[Definition, str | None]]:
    todo: list[tuple[ast.AST, str | None]] = [(tree, None)]
    while todo:
        node, owner = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield node, owner
        inner = node.name if isinstance(node, ast.ClassDef) else owner
        todo.extend((child, inner) for child in ast.iter_child_nodes(node))


def _is_of(node: Definition, code: types.CodeType) -> bool:
    """Return whether *code* is that of *node*: several functions may stand on one line."""
    if isinstance(node, ast.FunctionDef):
        return node.name == code.co_name
    if code.co_name != "<lambda>":
        return False
    body = node.body
    begin, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places: Any = [(p[0], p[2], p[1], p[3]) for p in code.co_positions() if None not in p and p[3]]
    spots = [((a, b), (c, d)) for a, b, c, d in places]
    names = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
    own = list(code.co_varnames[: code.co_argcount])
    return names == own and all(begin <= first and last <= end for first, last in spots)


def compiled(function: types.FunctionType, definition: ast.FunctionDef, name: str) -> types.CodeType:
    """The code of *function* with another body, which stands in the same file.

    Args:
        definition: what to compile; its nodes have places, without decorators, defaults and annotations.
        name: of one more variable that the body reads from around the function.
    """
    code = function.__code__
    arguments = [ast.arg(free) for free in (*code.co_freevars, name)]
    factory = ast.FunctionDef(
        f"{PREFIX}factory",
        ast.arguments([], arguments, None, [], [], None, []),
        [definition, ast.Return(ast.Name(definition.name, ast.Load()))],
        [],
        None,
    )
    if sys.version_info >= (3, 12):
        factory.type_params = []
    ast.copy_location(factory, definition)
    tree = ast.fix_missing_locations(ast.Module([factory], []))
    module = compile(tree, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    inner = _inside(_inside(module))
    return _called(inner, code.co_name, code.co_qualname)


def like(function: types.FunctionType, code: types.CodeType, **cells: Any) -> types.FunctionType:
    """A function of *code* with the globals, closure and defaults of *function*.

    Args:
        cells: what further variables from around the function hold.
    """
    around = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    around.update((name, types.CellType(value)) for name, value in cells.items())
    closure = tuple(around[name] for name in code.co_freevars)
    other = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    other.__kwdefaults__ = function.__kwdefaults__
    other.__qualname__ = function.__qualname__
    other.__module__ = function.__module__
    return other


PREFIX = "__jit_"
"""What the names that the rewriting makes begin with."""

MARK = "__jit_"
"""The parameter that tells lambdas of the rewriting from those of the user."""

_FUTURE = 0x1FE0000
"""The flags of a code object that say which ``__future__`` it was compiled with."""


def _inside(code: types.CodeType) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType))


def _called(code: types.CodeType, name: str, qualified: str) -> types.CodeType:
    """*code*, and all parts that the rewriting made of it, under the name of the function that the user wrote."""
    parts = tuple(
        _called(c, name, qualified) if isinstance(c, types.CodeType) and _is_ours(c) else c for c in code.co_consts
    )
    return code.replace(co_consts=parts, co_name=name, co_qualname=qualified)


def _is_ours(code: types.CodeType) -> bool:
    return code.co_name.startswith(PREFIX) or (code.co_name == "<lambda>" and MARK in code.co_varnames)
